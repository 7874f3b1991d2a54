"""How long a loop waits at a limit whose end is not reported."""

from __future__ import annotations

import pytest

from loopwright.loop.actions.failing import wait_s


@pytest.mark.parametrize(
    ("held_before", "waits"), [(0, 300), (1, 600), (2, 1200), (3, 2400), (4, 3600), (5, 3600), (10**9, 3600)]
)
def test_each_wait_doubles_up_to_the_maximum(held_before, waits):
    assert wait_s(held_before, 300, 3600) == waits


def test_a_first_wait_above_the_maximum_is_shortened():
    assert wait_s(0, 300, 60) == 60
