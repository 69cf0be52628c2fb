"""What `check` promises to machines."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.builder_check.check import Answer
from prefixwise.analyzers.builder_check.prompts import Until
from prefixwise.core.envelope import DocumentKind


class Place(msgspec.Struct, frozen=True):
    """Where a prompt parts from the unperturbed one; texts are excerpts.

    `field` is a JSON pointer into what the builder returned, empty for a bare text; `char_offset` counts code points
    inside that field, None where it is no text; `kept_tokens` are those before the first differing one.
    """

    field: str
    kind: str
    role: str
    char_offset: int | None
    kept_tokens: int
    text_before: str
    unperturbed_text: str
    moved_text: str


class VariantOutcome(msgspec.Struct, frozen=True):
    """One variant of a knob; `problem` says why the builder did not run in it."""

    variant: str
    verdict: Answer
    place: Place | None
    problem: str


class KnobOutcome(msgspec.Struct, frozen=True):
    """One knob; `why` says why it was not tested."""

    knob: str
    verdict: Answer
    why: str
    variants: tuple[VariantOutcome, ...]


class CheckValues(msgspec.Struct, frozen=True):
    """The values of a check.

    `unperturbed` are the runs with nothing changed, compared with the first one; what moves there is random.
    `stable_tokens` of the `tokens` up to `until` never moved. `variables` are the environment variables that the
    builder read, `replaced_variables` those of them whose value was replaced since they look like secrets.
    """

    builder: str
    verdict: Answer
    until: Until
    whole_prompt: bool
    stable_tokens: int
    tokens: int
    tokenizer: str
    unperturbed: KnobOutcome
    knobs: tuple[KnobOutcome, ...]
    held_random: bool
    runs: int
    python: str
    variables: tuple[str, ...]
    replaced_variables: tuple[str, ...]
    refused_addresses: tuple[str, ...]
    programs: tuple[str, ...]


CHECK = DocumentKind("prefixwise/check", 1, "what moves the prompt that a builder returns", CheckValues)
