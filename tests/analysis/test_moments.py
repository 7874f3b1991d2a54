from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.analysis.history import moment_text, read_bound, read_moment

MOMENT = int(datetime(2024, 1, 2, 15, 4, 0, tzinfo=UTC).timestamp())
DAY = int(datetime(2024, 1, 2, tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("given_", "seconds"),
    [
        ("2024-01-02T15:04:00Z", MOMENT),
        ("2024-01-02T15:04:00.123Z", MOMENT),
        ("2024-01-02T17:04:00+02:00", MOMENT),
        ("2024-01-02T15:04:00.000+0000", MOMENT),
        ("2024-01-02 15:04:00 UTC", MOMENT),
        ("2024-01-02 15:04", MOMENT),
        ("2024/01/02 15:04", MOMENT),
        ("02/Jan/24 3:04 PM", MOMENT),
        ("Tue, 02 Jan 2024 15:04:00 +0000", MOMENT),
        ("2024-01-02", DAY),
        ("Jan 02, 2024", DAY),
        (MOMENT, MOMENT),
        (MOMENT * 1000, MOMENT),
        (str(MOMENT), MOMENT),
        ("01/02/2024", None),
        ("soon", None),
        ("", None),
        ("12", None),
        (5, None),
        (True, None),
        (None, None),
        ([], None),
        ("1066-01-01", None),
        (float("nan"), None),
        (1e300, None),
    ],
)
def test_moments_as_exports_write_them(given_, seconds):
    assert read_moment(given_) == seconds


@given(st.one_of(st.text(max_size=40), st.integers(), st.floats(), st.none(), st.booleans()))
def test_anything_is_a_moment_or_none(value):
    found = read_moment(value)
    assert found is None or isinstance(found, int)


@pytest.mark.parametrize(("text", "days"), [("90 days", 90), ("1 year", 365), ("2 weeks ago", 14), ("3months", 90)])
def test_spans_before_now(text, days):
    now = datetime(2024, 6, 1, tzinfo=UTC)
    assert read_bound(text, now) == int(now.timestamp()) - days * 86_400


def test_a_bound_may_be_a_date_and_is_never_guessed():
    now = datetime(2024, 6, 1, tzinfo=UTC)
    assert read_bound("2024-01-02", now) == DAY
    assert read_bound("99999 years", now) == 0
    assert read_bound("yesterday-ish", now) is None


def test_a_time_that_no_calendar_has_is_shown_as_it_is():
    assert moment_text(MOMENT) == "2024-01-02T15:04:00Z"
    assert moment_text(10**18) == f"{10**18} s after 1970"
