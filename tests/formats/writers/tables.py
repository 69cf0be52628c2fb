"""Tables: CSV and Parquet with a request a row, and ShareGPT's conversations.

Nobody's standard, but for ShareGPT's keys (`conversations` of `from` and `value`; `human`, `gpt`, `system`,
`function_call` and `observation` as fine-tuning tools read them). A conversation has no times, tenants, usage or tools,
and a call without an answer is not in it; each of its answers is a request.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Workload
from formats.writers.plain import Files, prompt_text

OTHER_NAMES = {
    "timestamp": "when_asked", "tenant": "client", "session": "talk", "model": "engine", "messages": "said",
    "prompt": "said", "prompt_tokens": "n_in", "cached_tokens": "n_hit", "completion_tokens": "n_out",
}  # fmt: skip
"""Column names that nothing could guess, for tables whose columns the user names."""


def _row(exchange: Exchange, *, text: bool) -> dict[str, Any]:
    usage, answer = exchange.usage, exchange.answer
    said = prompt_text(exchange) if text else json.dumps(bodies.chat_messages(exchange), ensure_ascii=False)
    return {
        "timestamp": bodies.iso(exchange.start),
        "tenant": exchange.tenant,
        "session": exchange.session,
        "model": exchange.model,
        "prompt" if text else "messages": said,
        "response": answer and answer.text,
        "prompt_tokens": usage and usage.prompt,
        "cached_tokens": usage and usage.cached,
        "completion_tokens": usage and usage.output,
        "duration_ms": round((exchange.end - exchange.start) * 1000),
    }


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    return {OTHER_NAMES[name]: value for name, value in row.items() if name in OTHER_NAMES}


def _csv(rows: list[dict[str, Any]], name: str = "requests.csv", **style: Any) -> Files:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), **style)
    table.writeheader()
    table.writerows(rows)
    return [(name, text.getvalue().encode())]


def csv_messages(workload: Workload) -> Files:
    """CSV with the messages as JSON in a cell."""
    return _csv([_row(exchange, text=False) for exchange in workload.exchanges])


def csv_prompts(workload: Workload) -> Files:
    """CSV with the prompt as text in a cell: line breaks stand inside quotes."""
    return _csv([_row(exchange, text=True) for exchange in workload.exchanges])


def csv_other_names(workload: Workload) -> Files:
    """CSV with a semicolon and names of columns that the user has to tell."""
    rows = [_renamed(_row(exchange, text=False)) for exchange in workload.exchanges]
    return _csv(rows, delimiter=";", quoting=csv.QUOTE_ALL)


def parquet_messages(workload: Workload) -> Files:
    """Parquet: the time as a timestamp, the messages as JSON in a string, in two row groups."""
    rows = [_row(exchange, text=False) for exchange in workload.exchanges]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    table = pa.table(columns)
    stamps = pa.array([round(exchange.start * 1000) for exchange in workload.exchanges], pa.timestamp("ms", tz="UTC"))
    table = table.set_column(0, "timestamp", stamps)
    stream = io.BytesIO()
    pq.write_table(table, stream, row_group_size=max(1, len(rows) // 2))
    return [("requests.parquet", stream.getvalue())]


def parquet_nested(workload: Workload) -> Files:
    """Parquet whose messages are lists of structs, as a data frame of message lists is written."""
    rows = [_row(exchange, text=False) for exchange in workload.exchanges]
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    columns["messages"] = [bodies.chat_messages(exchange) for exchange in workload.exchanges]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return [("requests.parquet", stream.getvalue())]


# -- ShareGPT -----------------------------------------------------------------------------------------------------


def conversations(workload: Workload) -> Files:
    """ShareGPT: the chats' conversations, one after another; the agent's, which needs more than text, are not there."""
    found: list[Json] = []
    for exchanges in shared(workload):
        last = exchanges[-1]
        assert last.answer is not None
        turns = [{"from": "system", "value": last.system}]
        names = {"user": "human", "assistant": "gpt"}
        turns += [{"from": names[message.role], "value": message.text} for message in (*last.messages, last.answer)]
        found.append({"id": f"{last.session}_0", "conversations": turns})
    return [("sharegpt.json", json.dumps(found, ensure_ascii=False, indent=1).encode())]


def shared(workload: Workload) -> list[list[Exchange]]:
    """Return the requests that a conversation can hold, by conversation."""
    chats = [[e for e in exchanges if e.answer] for exchanges in workload.sessions().values() if not exchanges[0].tools]
    return [chat for chat in chats if chat]
