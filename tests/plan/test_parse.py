"""Reading a plan."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.errors import InvalidPlan
from loopwright.plan.model import CommandPasses, Declared, ExitCodeIs, FileContains, FileExists, StdoutContains
from loopwright.plan.parse import parse_plan


def test_everything_in_a_plan_is_read():
    plan = parse_plan(
        b"""
envelope: {command: x, status: OK}
new_plan:
  unified_goal: "a goal"
  run_id: demo-001
  more: [kept, ignored]
  steps:
    - id: 1.10
      action: no
      commands: [0777, "a b"]
      cwd: sub/dir
      timeout_s: 2.5
      env: [CI]
      network: true
      verification:
        - a sentence
        - {command: c}
        - {file_exists: f}
        - {file_contains: {path: p, text: t}}
        - {stdout_contains: s}
        - {exit_code: 3}
    - {id: b, depends_on: ["1.10"]}
""",
        "p",
    )
    first = plan.steps[0]
    assert (first.id, first.action, first.commands) == ("1.10", "no", ("0777", "a b"))
    assert (first.cwd, first.timeout_s, first.env, first.network) == ("sub/dir", 2.5, ("CI",), True)
    assert first.verification == (
        Declared("a sentence"), CommandPasses("c"), FileExists("f"), FileContains("p", "t"), StdoutContains("s"),
        ExitCodeIs(3),
    )  # fmt: skip
    assert first.expected_exit == 3
    assert plan.steps[1].depends_on == ("1.10",)
    assert (plan.goal, plan.run_id) == ("a goal", "demo-001")


def test_every_problem_is_named_at_once_with_its_line():
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(
            b"new_plan:\n  steps:\n    - id: a b\n      comands: [x]\n    - id: c\n      commands: [y]\n"
            b"      network: yes\n      depends_on: [d]\n      timeout_s: -1\n",
            "plan.yaml",
        )
    message = caught.value.message
    assert "plan.yaml:3: the id 'a b'" in message
    assert "plan.yaml:4: unknown key 'comands' in a step; did you mean 'commands'?" in message
    assert "plan.yaml:5: 'c' depends on 'd'" in message
    assert "plan.yaml:7: network must be true or false, not 'yes'" in message
    assert "plan.yaml:9: timeout_s" in message


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_whatever_the_bytes_are_it_is_a_plan_or_an_invalid_plan(data):
    with contextlib.suppress(InvalidPlan):
        parse_plan(b"new_plan: " + data, "p")
