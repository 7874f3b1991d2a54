"""P3: for how many completed tasks a program could tell within 30 days whether they were right or wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from loopwright.analysis.board import Board, BoardTask, Signal, read_board
from loopwright.analysis.changes import changes_of, is_test
from loopwright.analysis.history import DAY, Progress, Window, moment_text, read_past
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.model import (
    BoardFindings,
    Input,
    Killed,
    Malformed,
    NotEnoughData,
    Parts,
    Passed,
    Verdict,
)
from loopwright.analysis.outcomes import LandingOutcome, Outcomes
from loopwright.analysis.preregistered import NUMBERS, Experiment
from loopwright.analysis.signals import Names
from loopwright.analysis.task_files import Completion, read_task_files
from loopwright.kernel.git_history import History


def analyse_export(file: InputFile, since: int | None = None, until: int | None = None) -> Parts:
    """Analyse a board's export. Its data ends at its newest date, unless `until` is given."""
    board = read_board(file)
    as_of = board.newest if until is None else until
    inside = tuple(task for task in board.tasks if (since or 0) <= task.completed <= as_of)
    parameters = {} if since is None else {"since": moment_text(since)}
    inputs = (Input(kind="board", name=file.path.name, sha256=file.sha256),)
    return _parts(replace(board, tasks=inside), as_of, inputs, parameters)


def analyse_task_files(
    history: History, window: Window, as_of: int, globs: tuple[str, ...], on_progress: Progress | None = None
) -> Parts:
    """Analyse the task files of a repository, with reverts, fixes and tests as signals."""
    past = read_past(history, window, on_progress)
    completions, seen = read_task_files(history, past.tips, globs) if past.tips else ([], 0)
    changes = changes_of(past.commits, past.tips[0] if past.tips else "")
    judge = _Judge(Names(changes), Outcomes(changes, as_of))
    inside = [task for task in completions if task.completed <= as_of and (window.since or 0) <= task.completed]
    board = Board(
        tasks=tuple(BoardTask("", task.completed, tuple(judge.signals_of(task))) for task in inside),
        seen=seen,
        undated_signals=0,
        duplicates=0,
        malformed=Malformed(),
        newest=as_of,
    )
    inputs = (Input(kind="git", name=" ".join(past.tips), sha256=past.digest),)
    return _parts(board, as_of, inputs, {"revision": window.revision, "task_files": " ".join(globs)}, past.notes)


def verdict_on(decided: int, with_signal: int) -> Verdict:
    """Answer the pre-registered question for the tasks that are old enough."""
    if decided < NUMBERS.least_records:
        return NotEnoughData(
            f"not enough data: {decided} tasks were completed at least {NUMBERS.outcome_days} days ago, "
            f"{NUMBERS.least_records} are needed"
        )
    share = with_signal / decided
    within = f"a right or wrong signal within {NUMBERS.outcome_days} days"
    sentence = f"{with_signal} of {decided} completed tasks ({share:.1%}) have {within}"
    if share < NUMBERS.detectable_share:
        return Killed(f"{sentence}: under {NUMBERS.detectable_share:.0%}")
    return Passed(f"{sentence}: not under {NUMBERS.detectable_share:.0%}")


def signals_in_time(task: BoardTask) -> list[Signal]:
    """The signals that count: up to 30 days after completion; a signal for right may come a day earlier."""
    last = task.completed + NUMBERS.outcome_days * DAY
    early = task.completed - NUMBERS.landing_days_before * DAY
    return [signal for signal in task.signals if (early if signal.is_right else task.completed) <= signal.at <= last]


def _parts(
    board: Board, as_of: int, inputs: tuple[Input, ...], parameters: dict[str, str], notes: tuple[str, ...] = ()
) -> Parts:
    # Leave out recent tasks with their signals: counting only recent tasks with a signal would favour the board.
    old = [task for task in board.tasks if task.completed + NUMBERS.outcome_days * DAY <= as_of]
    signalled = [signals for task in old if (signals := signals_in_time(task))]
    wrong = sum(any(not signal.is_right for signal in signals) for signals in signalled)
    decided = len(old)
    return Parts(
        question=Experiment.BOARD_HISTORY,
        verdict=verdict_on(decided, len(signalled)),
        findings=BoardFindings(
            tasks=board.seen,
            completed=len(board.tasks),
            decided=decided,
            with_signal=len(signalled),
            right=len(signalled) - wrong,
            wrong=wrong,
            signal_share=len(signalled) / decided if decided >= NUMBERS.least_records else None,
            too_young=len(board.tasks) - decided,
            signals=dict(sorted(Counter(name for signals in signalled for name in _names(signals)).items())),
            undated_signals=board.undated_signals,
            duplicates=board.duplicates,
            malformed=board.malformed,
        ),
        inputs=inputs,
        parameters={"as_of": moment_text(as_of), **parameters},
        notes=notes,
    )


def _names(signals: Iterable[Signal]) -> set[str]:
    return {signal.name for signal in signals}


class _Judge:
    """Finds signals about a completed task in the change that completed it."""

    def __init__(self, names: Names, outcomes: Outcomes) -> None:
        self._names = names
        self._outcomes = outcomes

    def signals_of(self, completion: Completion) -> Iterable[Signal]:
        for at in completion.reopened:
            yield Signal("reopened", False, at)
        change = self._names.by_id(completion.commit)
        if change is None:
            return
        if any(is_test(file) for file in change.files):
            yield Signal("a test landed with it", True, completion.completed)
        match self._outcomes.of_change(change, change.files):
            case LandingOutcome(right=False):
                yield Signal("reverted or fixed", False, completion.completed)
            case _:
                pass
