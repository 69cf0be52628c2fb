"""Names of months and days of the week in some twenty languages, as prompts write them."""

from __future__ import annotations

# One line a language; a slash parts spellings of one name.
_MONTHS = """
january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep/sept oct nov dec
januar/jänner februar/feber märz/mär/mrz april mai juni juli august september oktober/okt november dezember/dez
janvier/janv février/févr/fév mars avril/avr mai juin juillet/juil août septembre octobre novembre décembre/déc
enero/ene febrero marzo abril/abr mayo junio julio agosto/ago septiembre/setiembre octubre noviembre diciembre/dic
janeiro fevereiro/fev março abril maio/mai junho julho agosto setembro/set outubro/out novembro dezembro
gennaio/gen febbraio marzo aprile maggio/mag giugno/giu luglio/lug agosto settembre ottobre/ott novembre dicembre
januari februari maart/mrt april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november december/des
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
января/янв февраля/фев марта апреля/апр мая июня июля августа/авг сентября/сен октября/окт ноября/ноя декабря/дек
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
ledna února března dubna května června července srpna září října listopadu prosince
január február március április május június július augusztus szeptember október november december
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
januari februari maret april mei juni juli agustus september oktober november desember
يناير فبراير مارس أبريل/ابريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר
"""
_DAYS = """
monday/mon tuesday/tue/tues wednesday/wed thursday/thu/thur/thurs friday/fri saturday/sat sunday/sun
montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miércoles jueves viernes sábado domingo
segunda-feira/segunda terça-feira/terça quarta-feira/quarta quinta-feira/quinta sexta-feira/sexta sábado domingo
lunedì martedì mercoledì giovedì venerdì sabato domenica
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
måndag tisdag onsdag torsdag fredag lördag söndag
mandag tirsdag onsdag torsdag fredag lørdag søndag
poniedziałek wtorek środa czwartek piątek sobota niedziela
понедельник вторник среда четверг пятница суббота воскресенье
pazartesi salı çarşamba perşembe cuma cumartesi pazar
понеділок вівторок середа четвер п'ятниця субота неділя
pondělí úterý středa čtvrtek pátek sobota neděle
hétfő kedd szerda csütörtök péntek szombat vasárnap
maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai
δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή
senin selasa rabu kamis jumat sabtu minggu
الاثنين/الإثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
"""


def _numbered(table: str, first: int) -> dict[str, int]:
    names: dict[str, int] = {}
    for line in table.split("\n"):
        for number, spellings in enumerate(line.split(), start=first):
            for name in spellings.split("/"):
                names.setdefault(name, number)
    return names


MONTHS: dict[str, int] = _numbered(_MONTHS, 1)
"""1 for January, by the name in lower case, without a dot."""

DAYS: dict[str, int] = _numbered(_DAYS, 0)
"""0 for Monday, by the name in lower case, without a dot."""

ALSO_WORDS = frozenset({"set", "out", "ago", "may", "mar", "mag", "gen", "mart", "mei", "mars", "march"})
"""Names of months that are words of their own: a number beside them is a date only with a year or a capital."""
