"""What a loop does next, when a person has to choose, and what counts as progress. Pure."""

from __future__ import annotations

from loopwright.kernel.digest import digest_of
from loopwright.loop.model import Action, Held, Hold, Holder, Loop, ProgressMark, Running, Task, TaskKind, Validation

CHOICE_REQUIRED = "choice_required"


def next_action(loop: Loop) -> Action:
    """The next action, by the state alone."""
    if not loop.is_initialised:
        return Action.INIT
    if loop.pending:
        return Action.DEVELOP
    if not loop.is_validated:
        return Action.VALIDATE
    return Action.COMPLETE if loop.validation.holds else Action.DEBUG


def legal_actions(loop: Loop) -> tuple[Action, ...]:
    """The actions that a person may choose now. The rules' own choice is first, if it is among them."""
    if not loop.is_initialised:
        return (Action.INIT,)
    validation = loop.validation
    can = {
        Action.DEVELOP: bool(loop.pending),
        Action.VALIDATE: True,
        Action.DEBUG: bool(validation.results) and not validation.passed,
        Action.COMPLETE: loop.is_validated and validation.holds and all_done(loop),
    }
    own = next_action(loop)
    return tuple(sorted((action for action, may in can.items() if may), key=lambda action: action is not own))


def awaits_choice(loop: Loop) -> bool:
    """Whether a person has to choose the next action, and nothing else holds the loop."""
    if loop.mode != "interactive" or loop.under_way is not None:
        return False
    return isinstance(loop.phase, Running) or is_held_for_choice(loop)


def is_held_for_choice(loop: Loop) -> bool:
    """Whether only a missing choice holds the loop."""
    return isinstance(loop.phase, Held) and all(hold.code == CHOICE_REQUIRED for hold in loop.phase.holds)


def choice_hold(loop: Loop) -> Hold:
    """The hold for a missing choice."""
    first, *others = legal_actions(loop)
    message = f"choose what is next: {first} (the rules' own choice)" + "".join(f", {action}" for action in others)
    return Hold(holder=Holder.DECISION, code=CHOICE_REQUIRED, message=message, since=loop.updated_at)


def all_done(loop: Loop) -> bool:
    """Whether no task is left, and none failed."""
    return not loop.pending and not failed_tasks(loop)


def failed_tasks(loop: Loop) -> list[str]:
    """The ids of failed tasks. A failed fix does not count: the loop asks only once the tests pass."""
    return [task.id for task in loop.tasks if task.status == "failed" and task.kind is not TaskKind.FIX]


def tasks_to_prove(loop: Loop) -> tuple[str, ...]:
    """The finished tasks that write. A fix serves other tasks, and counts only if there are none."""
    written = [task for task in loop.tasks if task.mode == "write" and task.status == "completed"]
    own = [task for task in written if task.kind is not TaskKind.FIX]
    return tuple(task.id for task in own or written if task.id not in loop.done_by_people)


def unproven_tasks(loop: Loop) -> frozenset[str]:
    """The tasks that a hold for proof is about."""
    proven = {proof.task_id for proof in loop.validation.proofs if proof.is_proven and not loop.validation.unfixed}
    return frozenset(tasks_to_prove(loop)) - proven


# Fixes and reviews serve other tasks: finishing one without a change is no progress.
_SERVING = (TaskKind.FIX, TaskKind.LOOK)


def mark_of(
    loop: Loop,
    *,
    tree: str | None = None,
    validation: Validation | None = None,
    cause: str | None = None,
    done: Task | None = None,
    error: str | None = None,
) -> ProgressMark:
    """The progress after an iteration. Arguments that are given are new; the rest is taken from the loop.

    Evidence is the result of the tests, the known cause and the finished tasks.
    """
    now = validation or loop.validation
    completed = (*(task for task in loop.tasks if task.status == "completed"), *((done,) if done is not None else ()))
    finished = sorted({task.id for task in completed if task.kind not in _SERVING})
    results = [[result.test_name, result.suite, result.status] for result in now.results]
    known = cause if cause is not None else _cause(loop)
    return ProgressMark(
        tree=tree if tree is not None else (loop.tree.tree if loop.tree is not None else ""),
        failing=now.failed_tests,
        evidence=digest_of([now.passed, results, known, finished, error or ""]),
    )


def _cause(loop: Loop) -> str:
    return next(
        (hypothesis.description for hypothesis in loop.debug.hypotheses if hypothesis.status == "confirmed"), ""
    )
