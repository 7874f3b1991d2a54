"""Measures what a turn uses while it runs, ends a turn that exceeds its budget, and gives its cost. Ignores pauses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Agent, Allowance, Answer, NoAnswer, Ran, Reason, ReportsCost, Usage
from loopwright.agents.usage import is_session
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import replace_without_sync
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.redaction.redactor import Redactor

_N = TypeVar("_N", int, float)


class TurnCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a turn. None means that the agent did not report it."""

    # The folder of the turn's record.
    turn: str
    agent: str
    role: str
    usd: float | None = None
    tokens: int | None = None
    # How long the agent's programs worked, without pauses.
    worked_s: float = 0.0
    # Whether the dollars were computed from tokens and a price list.
    is_computed: bool = False
    # Whether the process that asked died during the turn.
    is_cut_off: bool = False

    def with_usage(self, used: Usage, answer: Answer | None) -> TurnCost:
        """The cost with the larger of two reports: at the end of the turn, and during the turn. Both may be partial.

        A total that the program reports for the whole turn wins over a cost that was computed during the turn.
        """
        usd = answer.cost_usd if answer is not None else None
        source = answer.cost_source if answer is not None else None
        is_final = source == "reported" and usd is not None
        return msgspec.structs.replace(
            self,
            usd=_larger(usd, None if is_final else used.usd),
            tokens=_larger(answer.tokens if answer is not None else None, used.tokens),
            is_computed=source == "computed",
        )


def _larger(*amounts: _N | None) -> _N | None:
    return max((amount for amount in amounts if amount is not None), default=None)


_LOOK_EVERY_S = 0.25
_OVER = "budget"
_UNWATCHED = "unwatched"
_MOST_BYTES = 1 << 16
# The last known usage, next to the turn's record: the next command finds it there after a crash.
LAST_LOOK = "usage.json"


def session_named(text: str | None, redactor: Redactor) -> str | None:
    """A session name from an agent; None if it is not a valid name or contains a secret.

    The agent is not trusted, and the name is written to files and command lines.
    """
    return text if text is not None and is_session(text) and redactor.clean(text).text == text else None


def used_at_last(reporter: ReportsCost | None, mailbox: Path, record: Path) -> Usage:
    """The usage of a turn whose process died: from its mailbox if that still exists, else the last known usage."""
    if reporter is not None and mailbox.is_dir():
        return reporter.used(mailbox, is_over=True)
    try:
        return codec.from_json((record / LAST_LOOK).read_bytes()[:_MOST_BYTES], Usage)
    except (OSError, codec.Undecodable):
        return Usage()


class Meter:
    """One turn's meter. `over` names the limit for which the turn was ended."""

    def __init__(self, agent: Agent, mailbox: Path, record: Path, allowance: Allowance, redactor: Redactor) -> None:
        self._reporter = agent if isinstance(agent, ReportsCost) else None
        self._mailbox = mailbox
        self._record = record
        self._allowance = allowance
        self._redactor = redactor
        self._worked_s = 0.0
        self._last_usage = Usage()
        self.used = Usage()
        # Files that the turn wrote outside the sandbox.
        self.outside: tuple[str, ...] = ()
        self.over: str | None = None
        # Why the turn can't be watched any more: an unwatched turn could use any amount.
        self.broken: str | None = None
        # The agent's name for the session of this turn, even of a stopped turn.
        self.session: str | None = None

    @property
    def worked_s(self) -> float:
        """How long the turn's programs worked. A turn that reached its time limit has used all of it."""
        return max(self._worked_s, self._allowance.wall_s or 0.0) if self.over == "wall_s" else self._worked_s

    def seconds_for(self, wanted_s: float) -> float:
        """The time limit of the next program."""
        wall_s = self._allowance.wall_s
        return wanted_s if wall_s is None else max(0.0, min(wanted_s, wall_s - self._worked_s))

    @contextmanager
    def watching(
        self, cancellation: Cancellation, at_each_look: Callable[[], None] = lambda: None
    ) -> Iterator[Cancellation]:
        """Watch a running program. The yielded stop request is also made when the program exceeds its budget."""
        with cancellation.nested() as inner:
            if self._reporter is None:
                yield inner
                return
            done = Cancellation()
            thread = threading.Thread(target=self._watch, args=(done, inner, at_each_look), name="meter", daemon=True)
            thread.start()
            try:
                yield inner
            finally:
                done.request("over")
                thread.join()
                done.close()

    def note(self, ran: Ran, *, wanted_s: float, given_s: float) -> None:
        """Note that a program ended."""
        self._worked_s += ran.duration_s
        if ran.timed_out and given_s < wanted_s:
            self.over = "wall_s"

    def read_to_the_end(self) -> None:
        """Read the final usage, after the turn's last program ended."""
        self._look(is_over=True)

    def settle(self, answer: Answer | NoAnswer) -> Answer | NoAnswer:
        """The result of the turn; a failure if the meter ended the turn.

        The program may have ended the turn for its own limit, before the meter saw that the limit was reached.
        """
        limit, used = self._allowance.usd, self.used.usd
        by_itself = isinstance(answer, NoAnswer) and answer.reason is Reason.BUDGET_USED
        if self.over is None and by_itself and limit is not None and used is not None and used >= limit:
            self.over = "usd"
        if self.over is not None:
            return NoAnswer(Reason.BUDGET_USED, f"the turn was ended: its budget is used up ({self.over})")
        if self.broken is not None:
            return NoAnswer(Reason.CRASHED, f"the turn was ended: its usage can't be read any more ({self.broken})")
        return answer

    def _watch(self, done: Cancellation, inner: Cancellation, at_each_look: Callable[[], None]) -> None:
        try:
            while not wait_for_request(done, _LOOK_EVERY_S):
                at_each_look()
                self._look(is_over=False)
                for name in ("usd", "tokens"):
                    limit, used = getattr(self._allowance, name), getattr(self.used, name)
                    if self.over is None and limit is not None and used is not None and used > limit:
                        self.over = name
                        inner.request(_OVER)
        except Exception as problem:  # noqa: BLE001 -- an unwatched turn must not continue, whatever the problem is
            # The exception's message may contain a secret.
            self.broken = type(problem).__name__
            inner.request(_UNWATCHED)

    def _look(self, *, is_over: bool) -> None:
        if self._reporter is None:
            return
        usage = self._reporter.used(self._mailbox, is_over=is_over)
        if usage != self._last_usage:
            self._last_usage = usage
            # The agent can rewrite its report; what it has used once is used.
            self.used = replace(
                usage,
                usd=_larger(self.used.usd, usage.usd),
                tokens=_larger(self.used.tokens, usage.tokens),
                session=session_named(usage.session, self._redactor),
            )
            # For the next command after a crash. A failed write must not end the watching.
            with suppress(StorageFailed):
                replace_without_sync(self._record / LAST_LOOK, codec.to_json(replace(self.used, problems=())))
