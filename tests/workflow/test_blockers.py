"""A code belongs to one family, and a family has one code."""

from __future__ import annotations

import pytest

from loopwright.workflow.blockers import Blocker, Family, family_of


@pytest.mark.parametrize("family", Family)
def test_every_family_is_found_by_its_own_codes(family):
    suffix = "x" if family.code.endswith("_") else ""
    assert Blocker(f"{family.code}{suffix}", "why").family is family


@pytest.mark.parametrize(
    ("code", "family"),
    [
        ("spec_delta_empty", Family.SPEC_DELTA),
        ("spec_missing", Family.SPEC),
        ("architect_review_incomplete", Family.ARCHITECT_REVIEW_INCOMPLETE),
        ("architect_iterate", Family.ARCHITECT),
        ("verification_failed", Family.VERIFICATION),
        ("verification_steps_unresolved", Family.VERIFICATION_STEPS_UNRESOLVED),
        ("missing_change_artifacts", Family.MISSING_CHANGE_ARTIFACTS),
        ("missing_prd_too", None),
        ("from_a_later_version", None),
    ],
)
def test_the_longest_family_wins_and_an_unknown_code_has_no_family(code, family):
    assert family_of(code) is family
