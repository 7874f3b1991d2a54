"""Who requests changes: a rule, a reviewer or a person."""

from __future__ import annotations

import pytest

from loopwright.stages.reviewing.record import Judgment, _requesters
from loopwright.stages.reviewing.reviewers import ReviewerAnswer
from loopwright.workflow.reviewing import CodeReview, Objection, SmellReview, concluded
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import OWN_CHECKS

RULE = Objection(Stage.BUILD, "the evidence of r-1 does not match")
APPROVES, OBJECTS = CodeReview(verdict="approve"), CodeReview(verdict="request-changes", summary="louder")


@pytest.mark.parametrize(
    ("objections", "code", "is_by_person", "smell", "expected"),
    [
        ([RULE], None, False, None, [OWN_CHECKS]),
        # A person who approves does not request the changes that a rule requests.
        ([RULE], APPROVES, True, None, [OWN_CHECKS]),
        ([RULE], OBJECTS, True, None, [OWN_CHECKS, "ben"]),
        ([], OBJECTS, True, None, ["ben"]),
        ([], OBJECTS, False, None, ["the reviewer ben"]),
        ([], APPROVES, False, SmellReview(verdict="block"), ["the architecture reviewer eve"]),
        ([], APPROVES, False, None, []),
    ],
)
def test_requested_changes_name_who_objects(objections, code, is_by_person, smell, expected):
    judgment = Judgment(
        by="ben", notes=(), code=ReviewerAnswer(code, by="ben"), smell=ReviewerAnswer(smell, by="eve"),
        is_by_person=is_by_person,
    )  # fmt: skip
    assert list(_requesters(judgment, concluded(objections, code, smell, ()))) == expected
