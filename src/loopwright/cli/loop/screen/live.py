"""The live view of a loop: reads the loop, draws it, and carries out the pressed keys."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

from msgspec.structs import replace

from loopwright.cli.loop.reporting import sentences
from loopwright.cli.loop.screen.frame import LoopView, ScreenState, frame
from loopwright.cli.loop.screen.keys import Keys
from loopwright.cli.loop.screen.surface import Surface
from loopwright.errors import LoopwrightError
from loopwright.kernel.cells import one_line
from loopwright.kernel.process import Cancellation
from loopwright.loop.choice import awaits_choice, legal_actions
from loopwright.loop.model import Action, Held, Loop
from loopwright.stages.context import Context
from loopwright.verbs.loop.background import start_detached
from loopwright.verbs.loop.control import choose, pause, resume, stop
from loopwright.verbs.loop.follow import LOOK_EVERY_S, LoopFollower, Seen

_LINES_KEPT = 2000
_SENTENCES_KEPT = 200


class LiveView:
    """One loop on the full terminal, until the `with` block ends. `drives`: this process drives the loop."""

    def __init__(self, context: Context, loop_id: str, cancellation: Cancellation, *, drives: bool = False) -> None:
        self._context = context
        self._loop_id = loop_id
        self._cancellation = cancellation
        self._follower = LoopFollower(context, loop_id)
        self._keys = Keys()
        self._surface = Surface(with_color=not os.environ.get("NO_COLOR"))
        self._open = ExitStack()
        self._guard = threading.Lock()
        self._screen = ScreenState(drives=drives)
        self._log: deque[str] = deque(maxlen=_LINES_KEPT)
        self._log_name, self._unfinished = "", ""
        self._happened: deque[str] = deque(maxlen=_SENTENCES_KEPT)
        self._yes: Callable[[], object] | None = None
        self._is_answered = threading.Event()
        self._asked_at = 0
        self._is_suspended = False
        self.has_left = False
        self.seen = self._look()

    def __enter__(self) -> LiveView:
        self._show()
        before = signal.signal(signal.SIGTSTP, self._suspend)
        self._open.callback(signal.signal, signal.SIGTSTP, before)
        return self

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    def _show(self) -> None:
        """Take over the terminal; the end of the block always restores it."""
        self._terminal = self._open.enter_context(ExitStack())
        self._terminal.enter_context(self._keys)
        self._terminal.enter_context(self._surface)
        self._change(has_keys=self._keys.is_open)

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._is_suspended = True

    def step(self) -> None:
        """Wait briefly for a key, then draw the current loop. On an error, restore the terminal first."""
        try:
            self._step()
        except BaseException:
            self._terminal.close()
            raise

    def _step(self) -> None:
        if self._is_suspended:
            self._is_suspended = False
            self._terminal.close()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._show()
        stop = [] if self._cancellation.reason else [self._cancellation.fileno()]
        ready, _, _ = select.select([*self._keys.handles(), *stop], [], [], LOOK_EVERY_S)
        if any(handle in ready for handle in self._keys.handles()):
            for key in self._keys.read():
                self._press(key)
        self.seen = self._look()
        self._draw()

    def ask(self, loop: Loop) -> None:
        """Let the person at the keyboard choose the next action. Returns after a choice, or when none will come."""
        if not self._keys.is_open:
            return
        self._asked_at = loop.revision
        self._is_answered.clear()
        self._change(choices=legal_actions(loop), picked=0)
        while self._cancellation.reason is None and not self._is_answered.wait(LOOK_EVERY_S):
            pass
        self._change(choices=())

    def _look(self) -> Seen:
        seen = self._follower.look()
        for line in seen.lines:
            self._happened += sentences(line)
        for printed in seen.printed:
            if printed.name != self._log_name:
                self._log_name = printed.name
                self._log.clear()
                self._change(scroll=0)
            self._log += printed.lines
            self._unfinished = printed.unfinished
            if self._screen.scroll:  # new lines must not move the lines that a person reads
                self._scroll(len(printed.lines))
        if self._screen.choices and seen.loop.revision >= self._asked_at:
            self._ask_again(seen.loop)
        return seen

    def _ask_again(self, loop: Loop) -> None:
        if not awaits_choice(loop):
            self._is_answered.set()
        elif legal_actions(loop) != self._screen.choices:
            self._change(choices=legal_actions(loop), picked=0)

    def _draw(self) -> None:
        size = self._surface.size
        log = (*self._log, *([self._unfinished] if self._unfinished else []))
        view = LoopView(self.seen, tuple(self._happened), self._log_name, log)
        with self._guard:
            screen = self._screen
        self._surface.show(frame(view, screen, *size), size)

    def _change(self, **fields: Any) -> None:
        with self._guard:
            self._screen = replace(self._screen, **fields)

    def _press(self, key: str) -> None:
        yes, self._yes = self._yes, None
        if self._screen.question or self._screen.notice:
            self._change(question="", notice="")
        if yes is not None:
            if key in ("y", "Y"):
                self._do(yes)
            return
        if self._screen.choices and self._press_in_menu(key):
            return
        match key:
            case "q":
                self._quit()
            case "p":
                self._do(lambda: pause(self._context, self._loop_id))
            case "r":
                self._do(self._resume)
            case "s":
                self._ask("stop the loop for good, with all its processes?", lambda: stop(self._context, self._loop_id))
            case "?":
                self._change(shows_help=not self._screen.shows_help)
            case "up" | "down" | "page up" | "page down" | "home" | "end":
                page = max(1, self._surface.size[1] // 2)
                steps = {"up": 1, "down": -1, "page up": page, "page down": -page}
                self._scroll(steps.get(key, len(self._log) if key == "home" else -len(self._log)))
            case _:
                pass

    def _press_in_menu(self, key: str) -> bool:
        choices, picked = self._screen.choices, self._screen.picked
        if key in ("up", "down"):
            self._change(picked=(picked + (1 if key == "down" else -1)) % len(choices))
        elif key == "enter":
            self._do(lambda: self._choose(choices[picked]))
        elif key.isdigit() and 1 <= int(key) <= len(choices):
            self._do(lambda: self._choose(choices[int(key) - 1]))
        elif key == "q":
            self._is_answered.set()
        else:
            return False
        return True

    def _choose(self, action: Action) -> None:
        choose(self._context, self._loop_id, action)
        self._is_answered.set()

    def _quit(self) -> None:
        if not self._screen.drives:
            self.has_left = True
        else:
            self._ask("interrupt the loop and quit?", lambda: self._cancellation.request("SIGINT"))

    def _resume(self) -> None:
        """Lift the hold; if no process drives the loop, offer to start one."""
        if isinstance(self.seen.loop.phase, Held) or not self._is_driven():
            after = resume(self._context, self._loop_id)
            if not isinstance(after.phase, Held) and not self._is_driven():
                question = "no process drives the loop; start one in the background?"
                self._ask(question, lambda: start_detached(self._context, self._loop_id))

    def _is_driven(self) -> bool:
        return self._screen.drives or self.seen.has_worker

    def _ask(self, question: str, yes: Callable[[], object]) -> None:
        self._yes = yes
        self._change(question=question)

    def _do(self, action: Callable[[], object]) -> None:
        """Carry out what a key asks for; show a refusal in the last row."""
        try:
            action()
        except LoopwrightError as problem:
            self._change(notice=one_line(f"{problem.message}; {problem.hint}"))

    def _scroll(self, lines: int) -> None:
        self._change(scroll=max(0, min(self._screen.scroll + lines, len(self._log) - 1)))
