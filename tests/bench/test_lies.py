"""The bench of lies: a false "done" is stopped by a gate that names the truth, and honest work is not stopped.

`make test` plays a few of them, `make test-lies` a sample. `make bench-lies` plays all, and records the results that
the page shows.
"""

from __future__ import annotations

import pytest
from tests.bench.lie_bench import cases, judges, page, paths, product, results

SAMPLE = {case.name: case for case in (*product.sample(), *product.sample_twins())}
# A lie of each module of scenes, and what no gate can catch.
ALONE = [lie for number, lie in enumerate(cases.LIES) if lie.exception or number % 16 == 0]
RECORDED = results.load()
# With this step the few have several judges, and all paths.
_FEW = 5


def rows(names):
    """Each name as a row; `make test` plays a few of them."""
    return [
        name if number % _FEW == 0 else pytest.param(name, marks=pytest.mark.lies) for number, name in enumerate(names)
    ]


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    """Shared by all workers: each scene is prepared once."""
    folder = tmp_path_factory.getbasetemp().parent / "lies"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.parametrize("name", rows(SAMPLE))
def test_a_lie_is_stopped_as_recorded_and_its_honest_twin_is_not(name, templates):
    case = SAMPLE[name]
    if case.judge.missing:
        pytest.skip(f"no {case.judge.missing} on this machine")
    result = results.play(case, templates)
    assert results.problem(case, result) is None
    assert result == RECORDED[name], "run make bench-lies if this is meant"


@pytest.mark.lies
@pytest.mark.parametrize("lie", ALONE, ids=lambda lie: lie.name)
def test_a_lie_with_a_scene_of_its_own_is_stopped_unless_no_gate_can(lie, templates):
    alone = results.Alone(lie)
    assert results.problem(alone, results.play(alone, templates)) is None


@pytest.mark.lies
@pytest.mark.parametrize("work", cases.WORK[1::6], ids=lambda work: work.name)
def test_honest_work_needs_one_more_command_at_most(work, templates):
    counted = results.Counted(work, "build")
    if missing := results.missing_tool_of(counted):
        pytest.skip(f"no {missing} on this machine")
    result = results.play(counted, templates)
    assert results.problem(counted, result) is None
    assert result["extra"] == RECORDED[counted.name]["extra"]


@pytest.mark.lies
@pytest.mark.parametrize("told", product.sample()[::9], ids=lambda told: told.name)
def test_the_exit_code_alone_would_be_deceived(told):
    if told.judge.missing:
        pytest.skip(f"no {told.judge.missing} on this machine")
    assert (product.exit_code(told) == 0) is told.operator.deceives(told.judge)
    assert product.exit_code(told.honest) == 0


def test_every_combination_is_played_or_left_out_with_a_reason():
    played = {(told.operator.name, told.judge.name, told.way) for told in product.pairs()}
    skipped = {(operator.name, judge.name, way) for operator, judge, way, reason in product.left_out() if reason}
    assert not played & skipped
    assert len(played) + len(skipped) == len(product.OPERATORS) * len(judges.JUDGES) * len(paths.PATHS)
    assert len(played) >= 300
    names = {*judges.BY_NAME, *paths.PATHS}
    for operator in product.OPERATORS:
        assert {*operator.left_out} <= names
        assert not {*operator.left_out} & {*operator.scripts}, f"{operator.name} is both left out and written"
        assert all(operator.script(judge) for judge in judges.JUDGES if judge.name not in operator.left_out)


def test_the_sample_has_each_operator_judge_and_path():
    sample = product.sample()
    assert {told.operator.name for told in sample} == {operator.name for operator in product.OPERATORS}
    assert {told.judge.name for told in sample} == {*judges.BY_NAME}
    assert {told.way for told in sample} == {*paths.PATHS}
    assert {case.twin for case in product.sample_twins()} == {operator.twin for operator in product.OPERATORS}
    assert sample == product.sample()


def test_the_page_says_what_was_recorded_and_every_record_is_right():
    every = results.all_cases()
    assert RECORDED.keys() == every.keys(), "run make bench-lies"
    assert [said for name, case in every.items() if (said := results.problem(case, RECORDED[name]))] == []
    assert page.PAGE.read_text(encoding="utf-8") == page.page(RECORDED)
