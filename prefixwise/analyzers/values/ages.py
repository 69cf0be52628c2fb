"""Times said relative to now: `just now`, `2 minutes ago`, `vor 3 Stunden`, `5m ago`."""

from __future__ import annotations

import re

from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_REACH = 40
_COUNT = r"(?:\d{1,6}(?:[.,]\d)?|an?|one|two|three|a few|few|several|a couple of|less than an?|half an)"
_UNIT = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|mos?|years?|yrs?)"
_SHORT = r"\d{1,6}\s?(?:s|m|h|d|w|mo|y)"
_N = r"(?:\d{1,6}|einer?|einem|une?|unos|una|um|uma|een|en|ett)"
_PHRASES = (
    rf"(?:about |around |over |almost |~)?{_COUNT}\s{_UNIT}(?:,?\s(?:and\s)?{_COUNT}\s{_UNIT})?\s(?:ago|earlier|old)",
    rf"(?:{_SHORT}\s?){{1,3}}\s?(?:ago|earlier|old)",
    rf"in (?:about )?(?:{_COUNT}\s{_UNIT}|{_SHORT})(?!\w)",
    r"just now|right now|(?:a few |some )?moments? ago|moments ago|earlier today|last (?:night|week|month|year)",
    r"the day before yesterday|yesterday|today|tomorrow",
    rf"(?:vor|in) (?:etwa |rund )?{_N} (?:Sekunden?|Sek\.?|Minuten?|Min\.?|Stunden?|Std\.?)",
    rf"(?:vor|in) (?:etwa |rund )?{_N} (?:Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)",
    r"gerade eben|soeben|vorgestern|gestern|heute",
    rf"il y a (?:environ )?{_N} (?:secondes?|minutes?|min|heures?|jours?|semaines?|mois|ans?)",
    r"à l['’]instant|avant-hier|hier|aujourd['’]hui",
    rf"(?:hace|há) (?:unos |cerca de )?{_N} (?:segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?|anos?)",
    r"ahora mismo|agora mesmo|anteayer|ayer|ontem|hoy|hoje",
    rf"(?:circa )?{_N} (?:second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]) fa",
    r"proprio ora|ieri|oggi",
    rf"(?:ongeveer )?{_N} (?:seconden?|minu(?:ut|ten)|uur|uren|dag(?:en)?|we(?:ek|ken)|maand(?:en)?|jaar) geleden",
    r"zojuist|zonet|gisteren|vandaag",
    rf"för {_N} (?:sekund(?:er)?|minut(?:er)?|timm(?:e|ar)|dag(?:ar)?|veck(?:a|or)|månad(?:er)?|år) sedan",
    rf"for {_N} (?:sekund(?:er)?|minutt?(?:er)?|time[r]?|dage?r?|uger?|måneder?|år) siden",
    r"nyss|igår|idag",
    r"\d{1,6}\s?(?:秒|分钟|分鐘|分|小时|小時|時間|天|日|周|週間|个月|か月|ヶ月|年)前|刚刚|剛剛|たった今|昨天|昨日",
    r"\d{1,6}\s?(?:초|분|시간|일|주|개월|달|년)\s?전|방금|어제",
    r"\d{1,6}\s(?:секунд[уы]?|минут[уы]?|час(?:а|ов)?|дн(?:я|ей)|день|недел[юиь]|месяц(?:а|ев)?)\sназад",
    r"только что|вчера|przed chwilą|wczoraj",
    r"\d{1,6}\s(?:sekund[ęy]?|minut[ęy]?|godzin[ęy]?|dni|dzień|tygodni[ea]?|miesi[ąę]c[ey]?)\stemu",
    r"\d{1,6}\s(?:saniye|dakika|saat|gün|hafta|ay|yıl)\sönce|az önce|dün",
    r"(?:قبل|منذ)\s(?:\d{1,6}\s)?(?:ثانية|ثوان|دقيقة|دقيقتين|دقائق|ساعة|ساعتين|ساعات|يوم|يومين|أيام|أسبوع|شهر)|الآن|أمس",
)
AGE = r"(?i:(?<![\w-])(?:" + "|".join(_PHRASES) + r")(?!\w))"
"""A pattern for any of them."""
_AGE = re.compile(AGE)
_ONE_OF = (
    "ago|earlier|old|in |now|yesterday|today|tomorrow|last|vor|eben|gestern|heute|il y a|instant|hier|aujourd|hace|há|"
    "ahora|agora|ayer|ontem|hoy|hoje| fa|proprio|ieri|oggi|geleden|zojuist|zonet|gisteren|vandaag|sedan|siden|nyss|"
    "igår|idag|前|刚|剛|たった|昨|전|방금|어제|назад|только|вчера|temu|chwil|wczoraj|önce|dün|قبل|منذ|الآن|أمس"
)
_HINTS = tuple(_ONE_OF.split("|"))
"""Every phrase holds one of these: looking for them costs a fraction of the pattern."""


def relative_time(value: str) -> str | None:
    """Return the relative time that a short value holds, None where it holds none."""
    window = value[: 4 * _REACH]
    match = _AGE.search(window) if _may_hold(window) else None
    return match[0] if match else None


def age(place: Quoted) -> Candidate | None:
    """Return the reading of a difference as a time relative to now."""
    if not place.swapped:
        return None
    first = _phrase_at(place.old.line, place.old.part, place.old.end)
    second = _phrase_at(place.new.line, place.new.part, place.new.end)
    if not first or not second or first == second:
        return None
    return Candidate(SpanKind.RELATIVE_TIME, Confidence.LIKELY, ("says how long ago something was, counted from now",))


def _may_hold(window: str) -> bool:
    low = window.lower()
    return any(hint in low for hint in _HINTS)


def _phrase_at(line: str, start: int, end: int) -> str | None:
    """Return the relative time that holds the characters `start` to `end` of a line."""
    low = max(0, start - _REACH)
    window = line[low : end + _REACH]
    if not _may_hold(window):
        return None
    for match in _AGE.finditer(window):
        if match.start() <= start - low <= match.end() and not window[match.end() : end - low].strip(" .,;:)]"):
            return match[0]
    return None
