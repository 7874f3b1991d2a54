"""Our texts in other people's files: marked, and with a digest, so that what a user changed is known as theirs. Pure.

A whole file of ours ends with a mark; a block in a file of others stands between two. The digest is of the text with
plain line ends: a checkout that turns them does not change it.
"""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from loopwright.agents.settings_text import NotUnderstood
from loopwright.kernel.digest import sha256

_LENGTH = 16
_FILE_MARK = re.compile(r"\n<!-- loopwright sha256:([0-9a-f]{16}) -->(?:\n|\Z)")


class State(StrEnum):
    """What of ours is there."""

    ABSENT = "absent"
    CURRENT = "current"
    OUTDATED = "outdated"
    CHANGED = "changed"
    FOREIGN = "foreign"


class Marks(msgspec.Struct, frozen=True):
    """How a block begins and ends in a kind of file."""

    before: str
    after: str = ""

    def begin(self, agents: tuple[str, ...], digest: str) -> str:
        """The first line: for whom it is there, and what it held when we wrote it."""
        return f"{self.before}loopwright:begin {','.join(agents)} sha256:{digest}{self.after}"

    @property
    def end(self) -> str:
        """The last line."""
        return f"{self.before}loopwright:end{self.after}"

    def pattern(self) -> re.Pattern[str]:
        """A first line."""
        head, tail = re.escape(f"{self.before}loopwright:begin"), re.escape(self.after)
        return re.compile(rf"{head} ([a-z,]+) sha256:([0-9a-f]{{16}}){tail}")


MARKDOWN = Marks("<!-- ", " -->")
TOML = Marks("# ")


class Block(msgspec.Struct, frozen=True):
    """A block as it was found: the lines around it, for whom it is there, and what it holds."""

    head: str
    tail: str
    agents: tuple[str, ...]
    digest: str
    text: str

    @property
    def is_as_written(self) -> bool:
        """Whether nobody touched it."""
        return digest_of(self.text) == self.digest


def digest_of(text: str) -> str:
    """Short, and the same for both kinds of line ends."""
    return sha256(_plain(text).encode())[:_LENGTH]


def with_mark(text: str) -> str:
    """A whole file of ours."""
    body = text.rstrip("\n") + "\n"
    return f"{body}\n<!-- loopwright sha256:{digest_of(body)} -->\n"


def state_of_file(found: str | None, ours: str) -> State:
    """A file where one of ours would be; `ours` has its mark."""
    if found is None:
        return State.ABSENT
    plain = _plain(found)
    if plain == ours:
        return State.CURRENT
    mark = next(reversed(list(_FILE_MARK.finditer(plain))), None)
    if mark is None:
        return State.FOREIGN
    is_as_written = mark.end() == len(plain) and digest_of(plain[: mark.start()]) == mark[1]
    return State.OUTDATED if is_as_written else State.CHANGED


def find_block(text: str | None, marks: Marks) -> Block | None:
    """Our block; `NotUnderstood` where marks are there that make none."""
    lines = (text or "").splitlines(keepends=True)
    begin = marks.pattern()
    begins = [number for number, line in enumerate(lines) if begin.fullmatch(line.strip())]
    ends = [number for number, line in enumerate(lines) if line.strip() == marks.end]
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise NotUnderstood(
            f"the marks of our block ({marks.before}loopwright:begin …{marks.after} and {marks.end}) are not one pair"
        )
    found = begin.fullmatch(lines[begins[0]].strip())
    assert found is not None  # noqa: S101 -- it matched above
    return Block(
        head="".join(lines[: begins[0]]),
        tail="".join(lines[ends[0] + 1 :]),
        agents=tuple(found[1].split(",")),
        digest=found[2],
        text="".join(lines[begins[0] + 1 : ends[0]]),
    )


def state_of_block(block: Block | None, ours: str) -> State:
    """A block of ours in a file."""
    if block is None:
        return State.ABSENT
    if not block.is_as_written:
        return State.CHANGED
    return State.CURRENT if _plain(block.text) == ours else State.OUTDATED


def with_block(text: str | None, marks: Marks, agent: str, ours: str) -> str:
    """The text with our block, for this agent, too: in its place, or at the end."""
    block = find_block(text, marks)
    agents = tuple(sorted({agent, *(block.agents if block is not None else ())}))
    if block is not None and agents == block.agents and _plain(block.text) == ours:
        return text or ""
    return _assembled(text, marks, agents, ours, block)


def without_block(text: str | None, marks: Marks, agent: str) -> str | None:
    """The text without it, or with it for the others that it is there for."""
    block = find_block(text, marks)
    if block is None or agent not in block.agents:
        return text
    others = tuple(name for name in block.agents if name != agent)
    if others:
        return _assembled(text, marks, others, _plain(block.text), block)
    head = block.head
    # The empty line that we put before it.
    for line_end in ("\r\n", "\n"):
        if head.endswith(line_end * 2):
            return head.removesuffix(line_end) + block.tail
    if head.strip() and not block.tail:
        return head.removesuffix("\n").removesuffix("\r")
    return head + block.tail


def _assembled(text: str | None, marks: Marks, agents: tuple[str, ...], ours: str, block: Block | None) -> str:
    line_end = "\r\n" if "\r\n" in (text or "") else "\n"
    inner = f"{marks.begin(agents, digest_of(ours))}\n{ours}{marks.end}\n".replace("\n", line_end)
    if block is not None:
        return block.head + inner + block.tail
    # An empty line before it; only a line end after a text that has none: whoever takes it out sees which it was.
    head = text or ""
    needs_one = head.strip() or (head and not head.endswith("\n"))
    return head + (line_end if needs_one else "") + inner


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
