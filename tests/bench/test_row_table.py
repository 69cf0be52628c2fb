"""Rows as a table for data frames."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.parquet as parquet
import pytest

from prefixwise.bench.replay.plan import ReplayPlan, ReplayRow
from prefixwise.bench.row_table import HEAD, check_table, write_table
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.plan import Plan, Row
from prefixwise.bench.ttft.schedule import Arm
from prefixwise.clients.failures import Failure
from prefixwise.core.errors import UserError


def test_a_column_a_field_and_absent_is_null(tmp_path: Path) -> None:
    plan = Plan(run="r", target="t", protocol="vllm", model="m", lengths=(128,))
    rows = [
        Row(length=128, item=0, arm=Arm.COLD, ttft=0.25, cached=0, label=Label.COLD_OK, opened=True),
        Row(length=128, item=1, arm=Arm.WARM, failure=Failure.CUT, label=Label.FAILED),
    ]
    write_table(tmp_path / "rows.parquet", plan, Row, rows)
    table = parquet.read_table(tmp_path / "rows.parquet", use_threads=False)
    assert table.column_names == [field.name for field in msgspec.structs.fields(Row)]
    assert table.column("ttft").to_pylist() == [0.25, None]
    assert table.column("cached").to_pylist() == [0, None]
    assert table.column("arm").to_pylist() == ["cold", "warm"]
    assert table.column("failure").to_pylist() == [None, "cut"]
    assert table.column("opened").to_pylist() == [True, False]
    assert msgspec.json.decode(table.schema.metadata[HEAD], type=Plan) == plan


def test_a_column_of_nothing_keeps_its_type(tmp_path: Path) -> None:
    """A data frame of a run without a single answer has the columns of any other."""
    plan = ReplayPlan(run="r", target="t", protocol="vllm", model="m", inputs=(), requests=1)
    write_table(tmp_path / "rows.parquet", plan, ReplayRow, [ReplayRow(number=0)])
    types = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / "rows.parquet")}
    assert (types["ttft"], types["cached"], types["failure"], types["opened"]) == ("double", "int64", "string", "bool")


def test_where_no_table_can_be_written_is_said_before_the_run(tmp_path: Path) -> None:
    check_table(None)
    check_table(tmp_path / "rows.parquet")
    for path in (tmp_path, tmp_path / "nowhere" / "rows.parquet"):
        with pytest.raises(UserError, match="no file can be written"):
            check_table(path)
