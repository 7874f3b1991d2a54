"""How long a loop waits at a limit whose end is not reported."""

from __future__ import annotations

import pytest

from loopwright.loop.actions.failing import wait_s


@pytest.mark.parametrize(
    ("held_before", "waits"), [(0, 300), (1, 600), (2, 1200), (3, 2400), (4, 3600), (5, 3600), (10**9, 3600)]
)
def test_each_wait_is_twice_the_last_and_there_is_a_longest(held_before, waits):
    assert wait_s(held_before, 300, 3600) == waits


def test_a_first_wait_that_is_longer_than_the_longest_is_cut():
    assert wait_s(0, 300, 60) == 60
