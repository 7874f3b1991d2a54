"""The form of a plan that is shown as a schema, and the reader that judges, know the same keys."""

from __future__ import annotations

import msgspec
import pytest
import yaml

from loopwright.errors import InvalidPlan
from loopwright.plan import document, parse

STEP = {"id": "a", "commands": ["true"], "verification": ["said", {"file_exists": "x"}], "timeout_s": 5, "cwd": None}


def test_both_know_the_same_keys():
    assert set(document.StepForm.__struct_fields__) == set(parse._STEP_KEYS)
    assert set(document.CheckForm.__struct_fields__) == set(parse._CHECK_KEYS)


@pytest.mark.parametrize(
    ("change", "is_fine"),
    [({}, True), ({"comands": []}, False), ({"verification": [{"exit_code": 300}]}, False), ({"id": None}, False)],
)
def test_both_say_the_same_of_a_step(change, is_fine):
    plan = {"new_plan": {"unified_goal": "g", "steps": [{**STEP, **change}]}}
    verdicts = []
    for judge, refusal in (
        (lambda: msgspec.convert(plan, document.PlanForm), msgspec.ValidationError),
        (lambda: parse.parse_plan(yaml.safe_dump(plan).encode(), "plan"), InvalidPlan),
    ):
        try:
            judge()
            verdicts.append(True)
        except refusal:
            verdicts.append(False)
    assert verdicts == [is_fine, is_fine]
