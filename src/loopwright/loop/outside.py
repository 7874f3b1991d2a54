"""The worker's fields as another tool may write them: checked, and taken into a loop. Pure.

Unknown fields are kept for the tool that wrote them. Fields that contradict each other are refused by name.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.judging.reports.model import TestResult
from loopwright.loop.model import (
    Action,
    Debugging,
    ErrorLine,
    Hypothesis,
    Loop,
    Mode,
    Task,
    UnderWay,
    Validation,
)
from loopwright.loop.projection import ACTION_NAMES, OWN_KEY, WORKED_ON

_T = TypeVar("_T")
_KNOWN_IN = {
    "develop": ("total", "completed", "current_task", "tasks", "last_progress_at"),
    "debug": (
        "active_bug", "hypotheses_count", "hypotheses", "confirmed_hypothesis", "iteration", "last_analysis_at",
    ),
    "validate": ("pass_rate", "coverage", "test_results", "passed", "failed_tests", "last_run_at"),
}  # fmt: skip
_BY_NAME = {name: action for action, name in ACTION_NAMES.items()}
OUTSIDE_ACTION = "outside"


class InvalidField(ValueError):
    """A field that is not valid; the message begins with its name."""


class _Develop(msgspec.Struct, frozen=True):
    tasks: list[dict[str, Any]] = []
    last_progress_at: str | None = None


class _Debug(msgspec.Struct, frozen=True):
    active_bug: str | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    confirmed_hypothesis: str | None = None
    iteration: int = 0
    last_analysis_at: str | None = None


class _Validate(msgspec.Struct, frozen=True):
    coverage: float | None = None
    test_results: tuple[TestResult, ...] = ()
    passed: bool = False
    last_run_at: str | None = None


class _Skill(msgspec.Struct, frozen=True):
    current_action: str | None = None
    last_action: str | None = None
    completed_actions: tuple[str, ...] = ()
    mode: Mode = "auto"
    develop: _Develop = _Develop()
    debug: _Debug = _Debug()
    validate: _Validate = _Validate()
    errors: tuple[ErrorLine, ...] = ()


def with_skill_state(loop: Loop, skill_state: dict[str, Any]) -> Loop:
    """The loop with these worker fields; `InvalidField` if they are not valid."""
    skill = _convert(skill_state, _Skill, "skill_state")
    return replace(
        loop,
        mode=skill.mode,
        tasks=tasks_of(skill.develop.tasks, "skill_state.develop.tasks"),
        last_progress_at=skill.develop.last_progress_at,
        debug=_debugging(skill.debug),
        # Another tool's test results open no gate: Loopwright runs the tests itself.
        validation=_validation(skill.validate, loop),
        is_validated=loop.is_validated and _validation(skill.validate, loop) == loop.validation,
        errors=skill.errors,
        last_action=_action(skill.last_action, "skill_state.last_action"),
        completed_actions=tuple(
            action for name in skill.completed_actions if (action := _action(name, "skill_state.completed_actions"))
        ),
        under_way=_running(skill.current_action, loop),
        is_initialised=loop.is_initialised or bool(skill.develop.tasks),
        skill_extra={key: value for key, value in skill_state.items() if key not in _Skill.__struct_fields__},
        section_extra=_section_extra(skill_state),
    )


def _section_extra(skill_state: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The unknown fields of each section."""
    unknown = {
        name: {key: value for key, value in skill_state.get(name, {}).items() if key not in known}
        for name, known in _KNOWN_IN.items()
    }
    return {name: extra for name, extra in unknown.items() if extra}


def tasks_of(lines: list[dict[str, Any]], field: str = "tasks") -> tuple[Task, ...]:
    """Tasks from the state file or the task list; their unknown fields are kept."""
    known, lines = set(Task.__struct_fields__) - {"extra"}, [_with_word_of_agent(line) for line in lines]
    tasks = tuple(
        _convert(
            {
                **{key: value for key, value in line.items() if key in known},
                "extra": {key: value for key, value in line.items() if key not in known},
            },
            Task,
            f"{field}[{number}]",
        )
        for number, line in enumerate(lines)
    )
    ids = [task.id for task in tasks]
    twice = next((name for name, number in Counter(ids).items() if number > 1), None)
    if twice is not None:
        raise InvalidField(f"{field}: the id {twice} occurs more than once")
    return tasks


def _with_word_of_agent(line: dict[str, Any]) -> dict[str, Any]:
    """The line with the status that the agent reported, if another tool left the projected status as it is."""
    own = line.get(OWN_KEY)
    at = own.get(WORKED_ON) if isinstance(own, dict) else None
    line = {key: value for key, value in line.items() if key != OWN_KEY}
    if line.get("status") == "in_progress" and isinstance(at, str):
        return {**line, "status": "completed", "completed_at": at}
    return line


def _debugging(debug: _Debug) -> Debugging:
    made = Debugging(
        active_bug=debug.active_bug,
        hypotheses=debug.hypotheses,
        iteration=debug.iteration,
        last_analysis_at=debug.last_analysis_at,
    )
    if debug.confirmed_hypothesis is not None and debug.confirmed_hypothesis != made.confirmed:
        raise InvalidField(f"skill_state.debug.confirmed_hypothesis: {debug.confirmed_hypothesis} is not confirmed")
    return made


def _validation(validate: _Validate, loop: Loop) -> Validation:
    coverage = validate.coverage or None
    ours = loop.validation
    written = (validate.test_results, validate.passed, validate.last_run_at, coverage)
    if written == (ours.results, ours.passed, ours.last_run_at, ours.coverage or None):
        return ours
    return Validation(
        results=validate.test_results, coverage=coverage, passed=validate.passed, last_run_at=validate.last_run_at
    )


def _running(current: str | None, loop: Loop) -> UnderWay | None:
    at = loop.under_way
    if current == "paused" or (at is not None and current == at.action):
        return at
    if current is None:
        return None
    try:
        action = Action(current)
    except ValueError as problem:
        raise InvalidField(f"skill_state.current_action: {current} is unknown") from problem
    return UnderWay(action=action, id=OUTSIDE_ACTION, started_at=loop.updated_at)


def _action(name: str | None, field: str) -> Action | None:
    if name is None:
        return None
    if name not in _BY_NAME:
        raise InvalidField(f"{field}: {name} is unknown")
    return _BY_NAME[name]


def _convert(value: object, kind: type[_T], field: str) -> _T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise InvalidField(f"{field}: {problem}") from problem
