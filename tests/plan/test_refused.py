"""Plans that can't be run: a row for each, with the line and the reason. The walk is in tests/walks."""

from __future__ import annotations

import pytest

from loopwright.errors import InvalidPlan
from loopwright.plan.parse import parse_plan

GOOD = "new_plan: {unified_goal: g, steps: [{id: A, commands: ['true']}]}\n"


def refused(content):
    """What is said of a plan that can't be run."""
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(content if isinstance(content, bytes) else content.encode(), "plan.yaml")
    return caught.value.message


def step(*lines):
    """A plan with one step; its first own line is line 3 of the file."""
    return "new_plan:\n  steps:\n  - " + "\n    ".join(lines) + "\n"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        pytest.param("new_plan:\n  steps: [\n", 3, "", id="a list that never ends"),
        pytest.param("a: b: c\n", 1, "not allowed", id="two colons"),
        pytest.param("new_plan:\n\tsteps: []\n", 2, "cannot start any token", id="a tab"),
        pytest.param("new_plan: {steps: []}\n'", 2, "", id="an open quote"),
        pytest.param("", 1, "empty", id="an empty file"),
        pytest.param("# only a comment\n", 1, "empty", id="only a comment"),
        pytest.param(b"new_plan:\n  unified_goal: caf\xe9\n", 2, "not UTF-8", id="latin-1"),
        pytest.param("new_plan: {}".encode("utf-16"), 1, "not UTF-8", id="utf-16"),
        pytest.param(b"new_plan:\n  a: \0\n", 1, "", id="a raw NUL"),
        pytest.param(GOOD + "---\n" + GOOD, 2, "more than one document", id="two documents"),
        pytest.param("new_plan: {a: 1,\n  a: 2}\n", 2, "duplicate key 'a' (first in line 1)", id="a key twice"),
        pytest.param(step("id: A", "commands: [x]", "id: B"), 5, "duplicate key 'id'", id="an id key twice"),
        pytest.param("a: &a [*a]\n", 1, "alias *a", id="an alias that contains itself"),
        pytest.param("a: *nothing\n", 1, "alias", id="an alias of nothing"),
        pytest.param("? [a]\n: b\n", 1, "key must be plain text", id="a list as key"),
        pytest.param("[" * 10_000, 1, "nested deeper", id="brackets 10,000 deep"),
        pytest.param("- " * 10_000, 1, "nested deeper", id="dashes 10,000 deep"),
        pytest.param("{a: " * 10_000, 1, "nested deeper", id="mappings 10,000 deep"),
        pytest.param("[" + "1," * 200_001 + "]", 1, "more than 200,000 values", id="too many values"),
        pytest.param("just words\n", 1, "must be a mapping", id="words"),
        pytest.param("- new_plan\n", 1, "must be a mapping", id="a list"),
        pytest.param("~\n", 1, "must be a mapping", id="nothing"),
        pytest.param("{}\n", 1, "'new_plan' is missing", id="an empty mapping"),
        pytest.param("other: 1\n", 1, "'new_plan' is missing", id="another document"),
        pytest.param("new_plan: words\n", 1, "new_plan must be a mapping", id="new_plan as words"),
        pytest.param("new_plan: {}\n", 1, "'steps' is missing", id="an empty new_plan"),
        pytest.param("new_plan:\n  unified_goal: g\n", 2, "'steps' is missing", id="no steps"),
        pytest.param("new_plan:\n  steps: A\n", 2, "steps must be a list", id="steps as text"),
        pytest.param("new_plan:\n  steps: []\n", 2, "no step has a command", id="no step"),
        pytest.param(step("id: A"), 3, "no step has a command", id="no command"),
        pytest.param(step("id: A", "commands: []"), 3, "no step has a command", id="an empty list of commands"),
        pytest.param("new_plan:\n  steps:\n  - {id: A, commands: [x]}\n  - {}\n", 4, "", id="an empty step"),
        pytest.param("new_plan:\n  steps:\n  - {id: A, commands: [x]}\n  - x\n", 4, "must be a mapping", id="a word"),
    ],
)  # fmt: skip
def test_what_is_not_a_plan_is_refused_with_its_line_and_reason(content, line, reason):
    said = refused(content)
    assert f"plan.yaml:{line}: " in said
    assert reason in said


# Each entry is one step on its own line, next to valid steps.
WRONG_FIELDS = [
    ("commands: [x]", "'id' is missing"),
    ("id: ~, commands: [x]", "id must be text"),
    ("id: [A], commands: [x]", "id must be text"),
    ("id: {a: b}, commands: [x]", "id must be text"),
    ("id: '', commands: [x]", "must be 1 to 64"),
    ("id: a/b, commands: [x]", "the id 'a/b' must be"),
    ("id: .., commands: [x]", "the id '..' must be"),
    ("id: 'a b', commands: [x]", "the id 'a b' must be"),
    ("id: é, commands: [x]", "the id 'é' must be"),
    ('id: "a\\nb", commands: [x]', "the id 'a\\nb' must be"),
    ('id: "\\e[31mred", commands: [x]', "must be 1 to 64"),
    ("id: " + "x" * 65 + ", commands: [x]", "must be 1 to 64"),
    ("id: ID, action: [x], commands: [x]", "action must be text"),
    ("id: ID, commands: x", "commands must be a list"),
    ("id: ID, commands: {a: x}", "commands must be a list"),
    ("id: ID, commands: [[x]]", "commands must be text"),
    ("id: ID, commands: [{a: x}]", "commands must be text"),
    ("id: ID, commands: [~]", "commands must be text"),
    ("id: ID, commands: ['  ']", "command is empty"),
    ('id: ID, commands: ["a\\0b"]', "NUL"),
    ("id: ID, cwd: [x]", "cwd must be text"),
    ("id: ID, depends_on: B", "depends_on must be a list"),
    ("id: ID, depends_on: [[B]]", "depends_on must be text"),
    ("id: ID, timeout_s: soon", "timeout_s must be more than 0"),
    ("id: ID, timeout_s: 0", "timeout_s must be more than 0"),
    ("id: ID, timeout_s: -1", "timeout_s must be more than 0"),
    ("id: ID, timeout_s: .inf", "timeout_s must be more than 0"),
    ("id: ID, timeout_s: 1e3", "timeout_s must be more than 0"),
    ("id: ID, timeout_s: 99999999", "timeout_s must be more than 0"),
    ("id: ID, timeout_s: [1]", "timeout_s must be"),
    ("id: ID, env: CI", "env must be a list"),
    ("id: ID, env: ['CI=1']", "only names are passed"),
    ("id: ID, env: [{CI: 1}]", "env must be text"),
    ("id: ID, network: maybe", "network must be true or false"),
    ("id: ID, network: [true]", "network must be"),
    ("id: ID, verification: words", "verification must be a list"),
    ("id: ID, verification: [[x]]", "a check is one of"),
    ("id: ID, verification: [{}]", "a check is one of"),
    ("id: ID, verification: [{command: a, exit_code: 1}]", "a check is one of"),
    ("id: ID, verification: [{command: [a]}]", "command must be text"),
    ("id: ID, verification: [{file_exists: }]", "file_exists must be text"),
    ("id: ID, verification: [{stdout_contains: {a: b}}]", "stdout_contains must be text"),
    ("id: ID, verification: [{file_exist: f}]", "did you mean 'file_exists'"),
    ("id: ID, verification: [{exit_code: 256}]", "from 0 to 255"),
    ("id: ID, verification: [{exit_code: -1}]", "from 0 to 255"),
    ("id: ID, verification: [{file_contains: f}]", "file_contains must be a mapping"),
    ("id: ID, verification: [{file_contains: {path: f}}]", "exactly path and text"),
    ("id: ID, comands: [y]", "unknown key 'comands' in a step; did you mean 'commands'?"),
    ("id: ID, timeout: 3", "unknown key 'timeout' in a step; did you mean 'timeout_s'?"),
    ("id: ID, zzzz: 3", "unknown key 'zzzz' in a step; known keys: id, action"),
]


@pytest.mark.parametrize("first", range(0, len(WRONG_FIELDS), 9))
def test_every_wrong_field_is_named_with_its_line(first):
    rows = WRONG_FIELDS[first : first + 9]
    lines = [f"  - {{{text.replace('ID', f'S{number}')}}}\n" for number, (text, _) in enumerate(rows)]
    said = refused("new_plan:\n  steps:\n" + "".join(lines) + "  - {id: right, commands: ['true']}\n").splitlines()
    for number, (text, reason) in enumerate(rows, start=3):
        assert any(line.startswith(f"  plan.yaml:{number}: ") and reason in line for line in said), (text, said)
    assert not any(f"plan.yaml:{len(rows) + 3}: " in line for line in said), "the step that is right"
    assert not any("\x1b[31mred" in line for line in said)


@pytest.mark.parametrize(
    ("command", "reason"), [('"a\\0b"', "NUL"), ("''", "command is empty"), ("'  '", "command is empty")]
)
def test_a_checks_command_is_read_as_strictly_as_a_steps_own(command, reason):
    said = refused(step("id: A", "commands: ['true']", f"verification: [{{command: {command}}}]"))
    assert "plan.yaml:5: " in said
    assert reason in said


@pytest.mark.parametrize(
    ("steps", "line", "reason"),
    [
        (["{id: A, commands: [x]}", "{id: A, commands: [y]}"], 4, "duplicate id 'A' (first in line 3)"),
        (["{id: build, commands: [x]}", "{id: B, commands: [x], depends_on: [biuld]}"], 4, "did you mean 'build'?"),
        (["{id: A, commands: [x], depends_on: [A]}"], 3, "A → A"),
        (["{id: A, commands: [x], depends_on: [B]}", "{id: B, depends_on: [A]}"], 3, "steps depend on each other: "),
        (["{id: A, commands: [x], depends_on: [B]}", "{id: B, depends_on: [C]}", "{id: C, depends_on: [A]}"], 3, " → "),
    ],
)  # fmt: skip
def test_steps_that_do_not_fit_together_are_named(steps, line, reason):
    said = refused("new_plan:\n  steps:\n" + "".join(f"  - {text}\n" for text in steps))
    assert f"plan.yaml:{line}: " in said
    assert reason in said


@pytest.mark.parametrize("fan", [9, 90])
def test_a_yaml_bomb_is_an_invalid_plan(fan):
    layers = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * fan)}]" for n in range(1, 12)]
    said = refused("\n".join([*layers, GOOD]))
    assert "aliases" in said
    assert len(said) < 2000
