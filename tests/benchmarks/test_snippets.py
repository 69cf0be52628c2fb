"""The small modules that build prompts, graded."""

from benchmarks.children import command_under_test
from benchmarks.snippets.__main__ import FAULTS, Score, modules, ours


def test_each_fault_is_found_and_no_mended_or_good_module_accused():
    assert ours(command_under_test(None)) == Score((), ())


def test_every_faulty_module_has_a_twin_without_its_fault():
    names = [path.stem for path in modules("bad")]
    assert names == [path.stem for path in modules("twins")] == sorted(FAULTS)
    assert len(modules("good")) == 10


def test_one_miss_is_forgiven_and_no_false_alarm():
    assert Score(("a",), ()).reached
    assert not Score(("a", "b"), ()).reached
    assert not Score((), ("good/a",)).reached
