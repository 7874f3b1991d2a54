"""The files of loops on disk. The log is the truth; every other file is derived from it and can be lost.

Changes are made under a kernel lock; readers need none. An edit of the state file by another tool is checked, and
taken in or set aside. It is never lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.errors import DamagedFile, LoopConflict, LoopRefused, StorageFailed, UnknownLoop
from loopwright.kernel import codec
from loopwright.kernel.clock import Clock, stamp
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import copy_aside, make_folder, overwrite, replace_without_sync, set_aside, shown
from loopwright.kernel.ids import is_identifier
from loopwright.kernel.locks import locked, locked_for_reading
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.loop.events import ErrorNoted, Event, LoopRestored
from loopwright.loop.log import VERSION, LogHead, decode_head, encode_head
from loopwright.loop.model import ErrorLine, Loop
from loopwright.loop.outside import InvalidField
from loopwright.loop.outside_edit import proposals_for
from loopwright.loop.projection import OWN_KEY, SCHEMA_VERSION, document_of, task_line
from loopwright.loop.rules import Refused, decide, evolve
from loopwright.workspace.layout import Layout, LoopPaths, ensure_own_folder

OUTSIDE = "outside"


class LoopStore:
    """All loops of a workspace."""

    def __init__(self, layout: Layout, clock: Clock) -> None:
        self._layout = layout
        self._clock = clock

    def ids(self) -> list[str]:
        """The ids of all loops with a state file or a log."""
        return self._layout.loop_ids()

    def paths(self, loop_id: str) -> LoopPaths:
        """The paths of one loop's files."""
        return self._layout.loop(loop_id)

    def create(self, created: e.LoopCreated, actor: str, *more: c.Proposal) -> Loop:
        """Create a loop, and apply the other proposals to it."""
        make_folder(self._layout.loops)
        loop_id = created.loop_id
        with locked(self._lock(loop_id)):
            paths = self.paths(loop_id)
            if paths.events.exists() or paths.state.exists():
                raise LoopRefused(
                    "exists", f"the loop {shown(loop_id)} already exists", hint="give the new one another id"
                )
            with OpenedLoop(paths, self._clock, None, 0, log.START) as opened:
                return opened.apply_all((created, *more), actor)

    def restore(self, loop: Loop, source: str, actor: str) -> None:
        """Begin a new log with what was saved of a loop whose log was lost. The caller has moved the old log away."""
        fresh = OpenedLoop(self.paths(loop.loop_id), self._clock, None, 0, log.START)
        with locked(self._lock(loop.loop_id)), fresh as opened:
            opened.append((LoopRestored(loop=loop, source=source),), actor)

    def remake(self, loop_id: str) -> None:
        """Write the derived files again. A task list that differs from the loop's is set aside."""
        with self.changing(loop_id) as opened:
            tasks = self.paths(loop_id).tasks
            if tasks.exists() and tasks.read_bytes() != _task_list(opened.loop):
                copy_aside(tasks)
            opened.project()

    def load(self, loop_id: str) -> Loop:
        """A loop as it is now; edits by other tools are taken in first."""
        try:
            loop = self._read(loop_id)
            if loop is None:
                # A change is being written: read what it leaves.
                with locked_for_reading(self._layout.lock(f"loop-{loop_id}")):
                    loop = self._read(loop_id)
            if loop is not None:
                return loop
            # A crash or another tool left something to repair.
            with self.changing(loop_id) as opened:
                return opened.loop
        except DamagedFile:
            raise
        except StorageFailed:
            # A read-only disk can still be read: the log contains everything.
            replayed = log.replay(self.paths(loop_id).events)
            if replayed.state is None or (replayed.damage is not None and not replayed.is_torn):
                raise
            return replayed.state

    def _read(self, loop_id: str) -> Loop | None:
        """The loop from its head, without the lock; None unless log and state file are as the head says.

        The log only grows. If it has the head's length afterwards, no change came in between.
        """
        if not is_identifier(loop_id):
            return None
        paths = self.paths(loop_id)
        head = read_head(paths)
        if head is None or not _is_as_written(paths.state, head.state_sha256):
            return None
        try:
            is_end = log.digest_of_last_line(paths.events) == head.last_line
            return head.loop if is_end and paths.events.stat().st_size == head.log_bytes else None
        except (OSError, DamagedFile):
            return None

    @contextmanager
    def changing(self, loop_id: str, *, revision: int | None = None) -> Iterator[OpenedLoop]:
        """Hold a loop's lock for the block; `LoopConflict` if the loop is not at the expected revision."""
        paths = self.paths(loop_id)
        if not is_identifier(loop_id) or not (paths.events.exists() or paths.state.exists()):
            known = ", ".join(self.ids()[-5:]) or "none"
            raise UnknownLoop(f"there is no loop '{shown(loop_id)}'", hint=f"the latest loops are: {known}")
        with locked(self._lock(loop_id)), _open(paths, self._clock) as opened:
            if revision is not None and opened.loop.revision != revision:
                raise LoopConflict(
                    f"the loop {loop_id} is at revision {opened.loop.revision}, not at {revision}: it was changed",
                    hint="read it again, then decide",
                )
            yield opened

    def _lock(self, loop_id: str) -> Path:
        """The path of the loop's lock. A loop of another tool may exist before the workspace does."""
        ensure_own_folder(self._layout)
        return self._layout.lock(f"loop-{loop_id}")


class OpenedLoop:
    """A loop under its lock. Every change is durable at once; the derived files are written when the block ends."""

    def __init__(self, paths: LoopPaths, clock: Clock, loop: Loop | None, log_bytes: int, last_line: str) -> None:
        self._paths = paths
        self._clock = clock
        self._loop = loop
        self._log_bytes = log_bytes
        self._last_line = last_line
        self._projected = loop
        self._log = log.LogWriter(paths.events)

    def __enter__(self) -> OpenedLoop:
        return self

    def __exit__(self, *problem: object) -> None:
        self._log.close()
        if self._loop is self._projected:
            return
        try:
            self.project()
        except DamagedFile:
            raise
        except StorageFailed as refusal:
            raise StorageFailed(
                f"{refusal.message}; the change itself is in the loop's log", hint=refusal.hint
            ) from refusal

    @property
    def loop(self) -> Loop:
        """The current state."""
        if self._loop is None:
            raise UnknownLoop("the loop was never created", hint="`loopwright loop new` creates one")
        return self._loop

    def apply(self, proposal: c.Proposal, actor: str) -> Loop:
        """Decide on a proposal and append its events; `LoopRefused` if the rules refuse it."""
        return self.apply_all((proposal,), actor)

    def apply_all(self, proposals: Iterable[c.Proposal], actor: str) -> Loop:
        """Apply all proposals as one line of the log, or none of them."""
        self.append(_decided(self._loop, proposals, self._now()), actor)
        return self.loop

    def append(self, events: tuple[Event, ...], actor: str) -> None:
        """Append the events as one line of the log; without events, nothing."""
        after, at = self._loop, self._now()
        for event in events:
            after = evolve(after, event, at)
        if after is None or not events:
            return
        line = log.Line(revision=after.revision, at=at, actor=actor, events=events, previous=self._last_line)
        write = self._log.begin if self._last_line == log.START else self._log.append
        self._log_bytes, self._last_line = write(line)
        self._loop = after

    def _now(self) -> str:
        """The current time, but never earlier than the last change: a clock can be set back."""
        return max(stamp(self._clock()), self._loop.updated_at if self._loop is not None else "")

    def project(self) -> None:
        """Write the derived files. A crash in between loses nothing: the log is longer than the head says."""
        loop, before = self.loop, self._projected
        data = codec.to_json(document_of(loop))
        replace_without_sync(self._paths.state, data)
        if before is None or before is loop or _task_list(before) != _task_list(loop):
            replace_without_sync(self._paths.tasks, _task_list(loop))
        head = LogHead(
            version=VERSION, log_bytes=self._log_bytes, last_line=self._last_line, state_sha256=sha256(data), loop=loop
        )
        # In place: its digest tells an incomplete head, and then the log is read.
        overwrite(self._paths.head, encode_head(head))
        self._projected = loop

    def adopt_external_edit(self) -> None:
        """Take in another tool's edit of the state file, or set it aside with an error that names the field."""
        try:
            document = codec.from_json(self._paths.state.read_bytes(), dict)
        except (OSError, codec.Undecodable):
            # Truncated, zeroed or flipped: damage, not an edit. The log contains everything.
            if self._paths.state.exists():
                set_aside(self._paths.state)
            self.project()
            return
        refuse_the_future(self._paths.state)
        try:
            self.apply_all(proposals_for(self.loop, document, OUTSIDE), OUTSIDE)
        except (InvalidField, LoopRefused) as problem:
            aside = copy_aside(self._paths.state)
            # The rules refuse only an edit of the life cycle.
            field = "status: " if isinstance(problem, LoopRefused) else ""
            why = f"an edit of the state file was refused: {field}{problem}; it is kept as {shown(aside.name)}"
            error = ErrorLine(action=OUTSIDE, message=why, timestamp=stamp(self._clock()))
            self.apply(e.ErrorNoted(error=error), OUTSIDE)
        self.project()


def _task_list(loop: Loop) -> bytes:
    return b"".join(codec.to_json_line(task_line(loop, task)) for task in loop.tasks)


def read_head(paths: LoopPaths) -> LogHead | None:
    """The head as it was last written; None if it is missing or damaged."""
    try:
        return decode_head(paths.head.read_bytes())
    except OSError:
        return None


def refuse_the_future(path: Path) -> None:
    """`DamagedFile` if a newer Loopwright wrote this state file: this version would lose its fields."""
    version = _own(path).get("schema")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise DamagedFile(
            f"{shown(path)} was written by a newer loopwright (schema {version}; this one knows {SCHEMA_VERSION})",
            hint="update loopwright; nothing was changed",
        )


def _open(paths: LoopPaths, clock: Clock) -> OpenedLoop:
    """Open a loop: compare head, log and state file, and repair what a crash left."""
    head = read_head(paths)
    size = paths.events.stat().st_size if paths.events.exists() else 0
    if head is not None and head.log_bytes == size:
        if log.digest_of_last_line(paths.events) != head.last_line:
            raise DamagedFile(
                f"the last line of {shown(paths.events)} is not what was written",
                hint=f"`loopwright loop check {paths.loop_id} --fix` continues from the last known state",
            )
        opened = OpenedLoop(paths, clock, head.loop, size, head.last_line)
        if not _is_as_written(paths.state, head.state_sha256):
            opened.adopt_external_edit()
        return opened
    if head is not None and 0 < size < head.log_bytes:
        # Each line is durable before the head names it, so no crash leaves this.
        raise DamagedFile(
            f"{shown(paths.events)} has {size} bytes, and had {head.log_bytes}: its end is lost",
            hint=f"`loopwright loop check {paths.loop_id} --fix` continues from the last known state",
        )
    return _reopen(paths, clock, head if size else None)


def _reopen(paths: LoopPaths, clock: Clock, head: LogHead | None) -> OpenedLoop:
    """Open a loop after a crash, or without a head: read the log from the last known point."""
    replayed = _replayed(paths, head)
    if replayed.is_torn:
        log.cut_torn_end(paths.events, replayed.sound_bytes)
    elif replayed.damage is not None:
        refuse_the_future(paths.state)
        raise DamagedFile(
            f"{shown(paths.events)} is damaged behind byte {replayed.sound_bytes}: {replayed.damage}",
            hint=f"`loopwright loop check {paths.loop_id} --fix` keeps the undamaged part",
        )
    if replayed.state is None:
        raise DamagedFile(
            f"the event log of {paths.loop_id} is missing or empty",
            hint=f"`loopwright loop check {paths.loop_id} --fix` rebuilds the loop from its other files",
        )
    opened = OpenedLoop(paths, clock, replayed.state, replayed.sound_bytes, replayed.last_line)
    if paths.state.exists() and not _is_our_projection(paths, head):
        opened.adopt_external_edit()
    else:
        opened.project()
    return opened


def _replayed(paths: LoopPaths, head: LogHead | None) -> log.Replayed:
    if head is not None:
        replayed = log.replay(paths.events, loop=head.loop, last_line=head.last_line, start=head.log_bytes)
        if replayed.damage is None or replayed.is_torn:
            return replayed
    # A head that does not match the log says nothing about it.
    return log.replay(paths.events)


def _is_our_projection(paths: LoopPaths, head: LogHead | None) -> bool:
    """Whether the state file is a projection of the log, of the last revision or of an earlier one after a crash."""
    if head is not None and _is_as_written(paths.state, head.state_sha256):
        return True
    revision = _own(paths.state).get("revision")
    then = log.replay(paths.events, until=revision).state if isinstance(revision, int) else None
    if then is None or _is_as_written(paths.state, sha256(codec.to_json(document_of(then)))):
        return then is not None
    return _edit_was_adopted(paths, then)


def _edit_was_adopted(paths: LoopPaths, then: Loop) -> bool:
    """Whether this is another tool's edit that was adopted before a crash: the last line of the log tells."""
    last = next(reversed([line for _, line in log.lines(paths.events)]))
    if last.actor != OUTSIDE:
        return False
    try:
        document = codec.from_json(paths.state.read_bytes(), dict)
        return _decided(then, proposals_for(then, document, OUTSIDE), last.at) == last.events
    except (InvalidField, LoopRefused):
        return isinstance(last.events[0], ErrorNoted) and _is_kept_aside(paths.state)
    except (OSError, codec.Undecodable):
        return False


def _is_kept_aside(path: Path) -> bool:
    data = path.read_bytes()
    return any(aside.read_bytes() == data for aside in path.parent.glob(f"{path.name}.damaged-*"))


def _decided(loop: Loop | None, proposals: Iterable[c.Proposal], at: str) -> tuple[Event, ...]:
    """The events of these proposals, one after the other; `LoopRefused` for the first that the rules refuse."""
    events: list[Event] = []
    for proposal in proposals:
        decision = decide(loop, proposal)
        if isinstance(decision, Refused):
            first = decision.blockers[0]
            message = "; ".join(blocker.message for blocker in decision.blockers)
            raise LoopRefused(first.code, message, hint=first.hint)
        for event in decision.events:
            loop = evolve(loop, event, at)
        events += decision.events
    return tuple(events)


def _is_as_written(path: Path, digest: str) -> bool:
    try:
        return sha256(path.read_bytes()) == digest
    except OSError:
        return False


def _own(path: Path) -> dict[str, object]:
    """Loopwright's own part of a state file; empty if the file can't be read."""
    try:
        own = codec.from_json(path.read_bytes(), dict).get(OWN_KEY)
    except (OSError, codec.Undecodable):
        return {}
    return own if isinstance(own, dict) else {}
