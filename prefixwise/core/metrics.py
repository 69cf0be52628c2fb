"""Figures for Prometheus: families of labelled samples, and the text format in which its collectors read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec


class Sample(msgspec.Struct, frozen=True):
    """One value under its labels."""

    labels: dict[str, str]
    value: float


class Metric(msgspec.Struct, frozen=True):
    """A gauge: its name, what it says in a sentence, and its samples, no two with the same labels."""

    name: str
    help: str
    samples: tuple[Sample, ...]


def exposition(metrics: Sequence[Metric]) -> str:
    """Return a page in the text format 0.0.4, without those that have no sample.

    Labels are text of whoever is logged: what cannot be written as UTF-8 is written as an escape.
    """
    lines: list[str] = []
    for metric in metrics:
        if metric.samples:
            lines += [f"# HELP {metric.name} {_escaped(metric.help)}", f"# TYPE {metric.name} gauge"]
            lines += [f"{metric.name}{_labels(sample)} {_number(sample.value)}" for sample in metric.samples]
    return "\n".join(lines) + "\n"


def _labels(sample: Sample) -> str:
    parts = (f'{name}="{_quoted(value)}"' for name, value in sample.labels.items())
    return f"{{{','.join(parts)}}}" if sample.labels else ""


def _escaped(text: str) -> str:
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return plain.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _number(value: float) -> str:
    if math.isfinite(value):
        return str(round(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
