"""P2 on histories with and without a real effect: both are compared with what chance gives."""

from __future__ import annotations

import random

import pytest

from loopwright.analysis.changes import LandedChange
from loopwright.analysis.git_history import by_chance, verdict_on
from loopwright.analysis.messages import read_message
from loopwright.analysis.model import Killed, NotEnoughData, Passed
from loopwright.analysis.preregistered import CatchingGate
from loopwright.analysis.signals import find_failures

DAY = 86_400
START = 1_700_000_000


def landed(titles_and_files, *, hours=6):
    return [
        LandedChange(
            f"{n:040x}", n, START + n * hours * 3600, read_message(title), frozenset(files), (f"{n:040x}",), False
        )
        for n, (title, files) in enumerate(titles_and_files)
    ]


def noise(seed, commits=2000, *, words=0.0, tests=False):
    """Random titles on random files, as `bench/long_repository.py` makes them."""
    source = random.Random(seed)
    names = [f"src/m{number}.py".encode() for number in range(60)]
    names += [f"tests/t{number}.py".encode() for number in range(60)] if tests else []
    kinds = ("feat: ", "fix: ", "docs: ", "chore: ", "Add ", "refactor: ")

    def title(number):
        return f"{source.choice(kinds)}{'a race' if source.random() < words else 'change'} {number}"

    return landed((title(number), source.sample(names, source.randint(1, 5))) for number in range(commits))


def judged(changes):
    signals = find_failures(changes)
    chance = by_chance(changes, signals)
    return verdict_on(signals.failures, chance), signals, chance


@pytest.mark.parametrize(("words", "tests"), [(0.3, False), (0, True), (0.3, True)])
def test_noise_passes_once_in_twenty_times_at_most_but_for_luck(words, tests):
    histories = [judged(noise(seed, words=words, tests=tests)) for seed in range(30)]
    assert all(len(signals.failures) > 50 for _, signals, _ in histories)
    assert all(chance.by_files[CatchingGate.REFLECTION] > 5 for _, _, chance in histories)
    # Three of 30 happen in 19 of 20 runs; the seeds are fixed.
    assert sum(isinstance(verdict, Passed) for verdict, _, _ in histories) <= 3
    # There are as many as chance gives, over all of them.
    found = sum(chance.by_files[CatchingGate.REFLECTION] for _, _, chance in histories)
    assert found == pytest.approx(sum(chance.expected[CatchingGate.REFLECTION] for _, _, chance in histories), rel=0.1)


def test_a_shared_file_among_many_no_longer_fills_the_bucket():
    """What the review found: noise passed with 72 % in the last bucket."""
    verdict, signals, _ = judged(noise(0))
    assert isinstance(verdict, Killed)
    assert signals.loosely_linked > len(signals.failures)


def follow_ups(*, every_hours=400, named=False, hint="a race"):
    """Features, each fixed right afterwards; half of the fixes are about what a diff does not show."""
    said = []
    for number in range(20):
        file = f"src/m{number % 3}.py".encode()
        trailer = f"\n\nFixes: {len(said):040x}" if named else ""
        said += [(f"feat: {number}", [file]), (f"fix: {hint if number % 2 else 'it'}{trailer}", [file])]
    return landed(said, hours=every_hours / 2)


def test_fixes_that_follow_their_features_are_more_than_chance():
    verdict, signals, chance = judged(follow_ups())
    assert isinstance(verdict, Passed)
    assert len(signals.failures) == 20
    assert chance.by_files == {"ci": 0, "human review": 10, "only self-reflection": 10}
    assert chance.most_reflection < 10
    expected = chance.expected[CatchingGate.REFLECTION]
    assert f"chance alone gives {expected:.1f} of them ({expected / 20:.1%})" in verdict.sentence


def test_where_everything_is_always_being_worked_on_no_link_says_anything():
    """A feature and a fix of the same file every hour: each fix comes soon after a feature, whenever it comes."""
    verdict, signals, chance = judged(follow_ups(every_hours=2))
    assert len(signals.failures) == 20
    assert isinstance(verdict, NotEnoughData)
    assert f"up to {chance.most_reflection}" in verdict.sentence


def test_what_is_named_is_linked_by_no_chance():
    verdict, signals, chance = judged(follow_ups(every_hours=2, named=True))
    assert isinstance(verdict, Passed)
    assert not any(failure.by_files for failure in signals.failures)
    assert chance.expected == {"ci": 0, "human review": 0, "only self-reflection": 0}


def test_a_near_empty_bucket_is_killed_whatever_chance_gives():
    assert isinstance(judged(follow_ups(hint="it"))[0], Killed)


def test_the_same_history_gives_the_same_chance():
    changes = noise(1, words=0.3)
    assert by_chance(changes, find_failures(changes)) == by_chance(changes, find_failures(changes))


def test_few_changes_are_no_error():
    assert by_chance([], find_failures([])).expected[CatchingGate.REFLECTION] == 0
