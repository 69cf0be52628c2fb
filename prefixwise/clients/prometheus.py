"""Pages of Prometheus metrics: fetched and read, as far as counters need it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping

import httpx
import msgspec

from prefixwise.core.errors import UserError

_SAMPLE = re.compile(r'([A-Za-z_:][\w:]*)(\{(?:[^"{}]|"(?:\\.|[^"\\])*")*\})?\s+(\S+)')
_TIMEOUT_S = 10.0
_LARGEST = 64 << 20


class Page(msgspec.Struct, frozen=True):
    """Samples by name, then by their labels as the page writes them."""

    samples: dict[str, dict[str, float]]

    def series(self, name: str) -> dict[str, float]:
        """Return the values of a name by labels; empty where there is none."""
        return self.samples.get(name, {})

    def total(self, name: str) -> float | None:
        """Return the sum over all labels (engines, tiers, ranks); None where there is no such name."""
        found = self.samples.get(name)
        return sum(found.values()) if found else None


def read_page(text: str) -> Page:
    """Read a page in the text format; what is no sample is passed over."""
    samples: dict[str, dict[str, float]] = {}
    for line in text.split("\n"):
        found = _SAMPLE.match(line.strip())
        if found is None:
            continue
        try:
            value = float(found[3])
        except ValueError:
            continue
        samples.setdefault(found[1], {})[found[2] or ""] = value
    return Page(samples)


def fetch_page(url: str, headers: Mapping[str, str], tls: ssl.SSLContext | None = None) -> Page:
    """Return the page at an address.

    Args:
        url: Its address.
        headers: Header fields to send.
        tls: Settings of TLS, None for the usual ones.

    Raises:
        UserError: There is none.
    """
    try:
        with httpx.Client(verify=tls or url.startswith("https:"), timeout=_TIMEOUT_S, trust_env=False) as client:
            answer = client.get(url, headers=dict(headers))
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise UserError(f"no metrics there: {problem or type(problem).__name__}", url, _ADVICE) from None
    if answer.status_code != 200 or len(answer.content) > _LARGEST:
        raise UserError(f"no metrics there: HTTP status {answer.status_code}", url, _ADVICE)
    page = read_page(answer.text)
    if not page.samples:
        raise UserError("no metrics there: the page has no sample", url, _ADVICE)
    return page


_ADVICE = "name a worker's own page, not a router's: --metrics http://worker:8000/metrics"
