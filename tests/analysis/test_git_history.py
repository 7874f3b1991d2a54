from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.analysis.git_history import analyse_git_history, verdict_on
from loopwright.analysis.history import Window
from loopwright.analysis.messages import ChangeKind
from loopwright.analysis.model import Chance, Killed, NotEnoughData, Passed
from loopwright.analysis.outcomes import lines_changed
from loopwright.analysis.preregistered import CatchingGate
from loopwright.analysis.signals import BucketRule, LandedFailure


def failures(hidden, others):
    gates = [CatchingGate.REFLECTION] * hidden + [CatchingGate.REVIEW] * others
    return [
        LandedFailure(str(number), number, ChangeKind.FIX, None, gate, BucketRule.VISIBLE)
        for number, gate in enumerate(gates)
    ]


def by_chance(most):
    nothing = dict.fromkeys(map(str, CatchingGate), 0)
    return Chance(
        draws=19, by_files=nothing, expected={**nothing, CatchingGate.REFLECTION: most / 2}, most_reflection=most
    )


@pytest.mark.parametrize(
    ("hidden", "others", "verdict"),
    [(0, 0, NotEnoughData), (9, 0, NotEnoughData), (0, 10, Killed), (1, 19, Passed), (1, 20, Killed), (10, 0, Passed)],
)
def test_near_empty_is_under_five_percent_of_at_least_ten(hidden, others, verdict):
    assert isinstance(verdict_on(failures(hidden, others), by_chance(0)), verdict)


@pytest.mark.parametrize(
    ("named", "linked", "others", "most", "verdict"),
    [
        (0, 10, 10, 9, Passed),
        (0, 10, 10, 10, NotEnoughData),
        (1, 10, 9, 10, Passed),
        (1, 10, 10, 10, NotEnoughData),
        (0, 1, 30, 10, Killed),
    ],
)
def test_what_chance_explains_counts_for_nothing(named, linked, others, most, verdict):
    given = [replace(one, by_files=number < linked) for number, one in enumerate(failures(named + linked, others))]
    assert isinstance(verdict_on(given, by_chance(most)), verdict)


def test_findings_count_what_they_say(story, read):
    for number in range(12):
        story.commit(f"feat: {number}", {f"auth{number}.py": "1\n2\n3\n"}, day=number)
        story.commit(f"fix: {number}", {f"auth{number}.py": "1\n2\n4\n"}, day=number + 0.5)
        story.commit(f"feat: other {number}", {f"x{number}.py": "1\n", f"y{number}.py": "1\n"}, day=number + 0.6)
    parts = analyse_git_history(read(story.path).history, Window())
    found = parts.findings
    assert (found.commits, found.features, found.failures, found.fixes, found.reverts) == (36, 24, 12, 12, 0)
    assert found.tally == {"ci": 0, "human review": 12, "only self-reflection": 0}
    assert isinstance(parts.verdict, Killed)
    assert found.reflection_share == 0
    failed, others = found.failed_features, found.other_features
    assert (failed.changes, failed.median_lines, failed.median_files, failed.mean_surface_weight) == (12, 3, 1, 1)
    assert (others.changes, others.median_lines, others.median_files, others.mean_surface_weight) == (12, 2, 2, 0)
    newest = found.newest_failures[0]
    assert parts.titles[newest.id] == "fix: 11"
    assert newest.at.startswith("2023-11-26")


def test_few_are_not_enough_for_any_number(story, read):
    story.commit("feat: x", {"a": "1"})
    found = analyse_git_history(read(story.path).history, Window()).findings
    assert found.reflection_share is None
    assert found.other_features.median_lines is None


def test_lines_of_merges_are_those_that_they_brought_in(story, read):
    base = story.commit("start", {"a": "1\n"}, day=0)
    tip = story.commit("work", {"b": "1\n2\n"}, day=1, branch="topic", start=base)
    merge = story.commit("Merge branch 'topic'", day=2, merge=tip, files={"b": "1\n2\n"})
    assert lines_changed(read(story.path).history, [base, merge]) == {base: 1, merge: 2}


def test_lines_of_binary_files_submodules_and_odd_names(story, read):
    commit = story.commit("feat: x", {b"0\t0\tx": "1\n", b"\xff": "a\0b", "plain": "1\n2\n"}, day=0)
    empty = story.commit("nothing", day=1)
    assert lines_changed(read(story.path).history, [commit, empty]) == {commit: 3, empty: 0}
    assert lines_changed(read(story.path).history, []) == {}
