"""What one turn uses, read while it runs, and the end of the turn that uses more than it may. Counts no pause."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from loopwright.agents.port import Agent, Allowance, Answer, NoAnswer, Ran, Reason, ReportsCost, Usage
from loopwright.agents.usage import is_session
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import replace_without_sync
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.redaction.redactor import Redactor

_LOOK_EVERY_S = 0.25
_OVER = "budget"
_UNWATCHED = "unwatched"
_MOST_BYTES = 1 << 16
# What a turn had used when we last looked, beside its record: whoever comes after a crash finds it there.
LAST_LOOK = "usage.json"


def session_named(text: str | None, redactor: Redactor) -> str | None:
    """A session as an agent names it; None for what can't be a name, or holds a secret.

    It gets into every file of the work, and on command lines, and whoever said it is not trusted.
    """
    return text if text is not None and is_session(text) and redactor.clean(text).text == text else None


def used_at_last(reporter: ReportsCost | None, mailbox: Path, record: Path) -> Usage:
    """What a turn used whose process died: from its mailbox if that still exists, else what was last seen of it."""
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
        self._found = Usage()
        self.used = Usage()
        # What the turn wrote where it should not have.
        self.outside: tuple[str, ...] = ()
        self.over: str | None = None
        # What kept us from watching: a turn that nobody watches may use any amount.
        self.broken: str | None = None
        # What the agent calls the session of this turn, also of one that was stopped.
        self.session: str | None = None

    @property
    def worked_s(self) -> float:
        """How long its programs worked; one that was ended for the time has used all that it had."""
        return max(self._worked_s, self._allowance.wall_s or 0.0) if self.over == "wall_s" else self._worked_s

    def seconds_for(self, wanted_s: float) -> float:
        """How long the next program may run."""
        wall_s = self._allowance.wall_s
        return wanted_s if wall_s is None else max(0.0, min(wanted_s, wall_s - self._worked_s))

    @contextmanager
    def watching(
        self, cancellation: Cancellation, at_each_look: Callable[[], None] = lambda: None
    ) -> Iterator[Cancellation]:
        """While a program runs: a request to stop that is also made when it has used too much."""
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
        """A program has run."""
        self._worked_s += ran.duration_s
        if ran.timed_out and given_s < wanted_s:
            self.over = "wall_s"

    def read_to_the_end(self) -> None:
        """The turn is over: nobody adds anything any more."""
        self._look(is_over=True)

    def settle(self, answer: Answer | NoAnswer) -> Answer | NoAnswer:
        """What the turn came to; nothing where it was ended here.

        Its own program may have ended it for the limit that it was told, before we saw that it is reached.
        """
        limit, used = self._allowance.usd, self.used.usd
        by_itself = isinstance(answer, NoAnswer) and answer.reason is Reason.BUDGET_USED
        if self.over is None and by_itself and limit is not None and used is not None and used >= limit:
            self.over = "usd"
        if self.over is not None:
            return NoAnswer(Reason.BUDGET_USED, f"the turn was ended: its budget of {self.over} is used")
        if self.broken is not None:
            return NoAnswer(Reason.CRASHED, f"the turn was ended: it could not be watched any more ({self.broken})")
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
        except Exception as problem:  # noqa: BLE001 -- a turn that nobody watches must not go on, whatever it was
            # Its words may hold what was to be hidden.
            self.broken = type(problem).__name__
            inner.request(_UNWATCHED)

    def _look(self, *, is_over: bool) -> None:
        if self._reporter is None:
            return
        found = self._reporter.used(self._mailbox, is_over=is_over)
        if found != self._found:
            self._found = found
            self.used = replace(found, session=session_named(found.session, self._redactor))
            # For whoever comes after a crash; that it can't be written must not end the watching.
            with suppress(StorageFailed):
                replace_without_sync(self._record / LAST_LOOK, codec.to_json(replace(self.used, problems=())))
