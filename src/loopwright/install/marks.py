"""Our texts in agents' files, marked with a digest, so that a user's change is recognized. Pure.

A whole file of ours ends with a mark; a block in a shared file is between two marks. The digest ignores the kind of
line ends, because a checkout may convert them.
"""

from __future__ import annotations

import re

import msgspec

from loopwright.install.model import InstallState, NotEditable
from loopwright.kernel.digest import sha256

_LENGTH = 16
_FILE_MARK = re.compile(r"\n<!-- loopwright sha256:([0-9a-f]{16}) -->(?:\n|\Z)")


class Marks(msgspec.Struct, frozen=True):
    """The first and the last line of a block, as comments of one file format."""

    before: str
    after: str = ""

    def begin(self, agents: tuple[str, ...], digest: str) -> str:
        """The first line: which agents need the block, and the digest of what we wrote."""
        return f"{self.before}loopwright:begin {','.join(agents)} sha256:{digest}{self.after}"

    @property
    def end(self) -> str:
        """The last line."""
        return f"{self.before}loopwright:end{self.after}"

    def match_begin(self, line: str) -> re.Match[str] | None:
        """The line as a first line: agents and digest are its groups."""
        head, tail = re.escape(f"{self.before}loopwright:begin"), re.escape(self.after)
        return re.compile(rf"{head} ([a-z,]+) sha256:([0-9a-f]{{16}}){tail}").fullmatch(line.strip())

    def is_end(self, line: str) -> bool:
        """Whether this is a last line."""
        return line.strip() == self.end

    def without_marks(self, text: str) -> str:
        """The text without any line of marks."""
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not self.is_end(line) and self.match_begin(line) is None)

    def only_marks(self, text: str) -> str:
        """Nothing but the lines of marks."""
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if self.is_end(line) or self.match_begin(line) is not None)


MARKDOWN = Marks("<!-- ", " -->")
TOML = Marks("# ")


class Block(msgspec.Struct, frozen=True):
    """A block as it was found: the text around it, the agents that need it, and its own text."""

    head: str
    tail: str
    agents: tuple[str, ...]
    digest: str
    text: str

    @property
    def is_as_written(self) -> bool:
        """Whether the text did not change since we wrote it."""
        return digest_of(self.text) == self.digest

    def shown(self, marks: Marks) -> str:
        """The block with its marks."""
        return f"{marks.begin(self.agents, self.digest)}\n{self.text}{marks.end}\n"


class OwnFileEditor:
    """A whole file of ours, with its mark."""

    owns_file = True

    def __init__(self, our_text: str) -> None:
        self._our_text = our_text

    def state(self, text: str | None) -> InstallState:
        """By the mark at its end."""
        if text is None:
            return InstallState.ABSENT
        plain = _plain(text)
        if plain == self._our_text:
            return InstallState.CURRENT
        mark = next(reversed(list(_FILE_MARK.finditer(plain))), None)
        if mark is None:
            return InstallState.FOREIGN
        is_as_written = mark.end() == len(plain) and digest_of(plain[: mark.start()]) == mark[1]
        return InstallState.OUTDATED if is_as_written else InstallState.CHANGED

    def add(self, text: str | None) -> str | None:
        """Our text; line ends that a checkout converted stay."""
        return text if self.state(text) is InstallState.CURRENT else self._our_text

    def remove(self, text: str | None) -> str | None:
        """No file."""
        del text
        return None

    def strip(self, text: str) -> str:
        """The text itself: the file is removed as a whole."""
        return text

    def is_blank(self, text: str) -> bool:
        """Whether the text is empty."""
        return not text

    def shown(self, text: str | None) -> str:
        """All of it."""
        return text or ""


class BlockEditor:
    """A marked block in a Markdown file of the user; agents that read the same file share one block."""

    owns_file = False

    def __init__(self, agent: str, our_text: str) -> None:
        self._agent = agent
        self._our_text = our_text

    def state(self, text: str | None) -> InstallState:
        """The state of the block. A block for other agents only counts as absent, unless the user changed it."""
        block = find_block(text, MARKDOWN)
        if block is None:
            return InstallState.ABSENT
        if not block.is_as_written:
            return InstallState.CHANGED
        if self._agent not in block.agents:
            return InstallState.ABSENT
        return InstallState.CURRENT if _plain(block.text) == self._our_text else InstallState.OUTDATED

    def add(self, text: str | None) -> str | None:
        """The text with the block, for this agent as well."""
        return with_block(text, MARKDOWN, self._agent, self._our_text)

    def remove(self, text: str | None) -> str | None:
        """The text without the block, unless other agents need it."""
        return without_block(text, MARKDOWN, self._agent)

    def strip(self, text: str) -> str:
        """The text without the block, for any agents."""
        block = find_block(text, MARKDOWN)
        if block is None or not block.is_as_written:
            return text
        for agent in block.agents:
            text = without_block(text, MARKDOWN, agent) or ""
        return text

    def is_blank(self, text: str) -> bool:
        """Whether the text is empty."""
        return not text.strip()

    def shown(self, text: str | None) -> str:
        """The block with its marks."""
        block = find_block(text, MARKDOWN)
        return "" if block is None else block.shown(MARKDOWN)


def digest_of(text: str) -> str:
    """A short digest, the same for both kinds of line ends."""
    return sha256(_plain(text).encode())[:_LENGTH]


def with_mark(text: str) -> str:
    """The text of a whole file of ours with its mark."""
    body = text.rstrip("\n") + "\n"
    return f"{body}\n<!-- loopwright sha256:{digest_of(body)} -->\n"


def find_block(text: str | None, marks: Marks) -> Block | None:
    """Our block; `NotEditable` if the marks are not exactly one pair."""
    lines = (text or "").splitlines(keepends=True)
    begins = [(number, match) for number, line in enumerate(lines) if (match := marks.match_begin(line))]
    ends = [number for number, line in enumerate(lines) if marks.is_end(line)]
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0][0]:
        raise NotEditable(
            f"expected one pair of our marks ({marks.before}loopwright:begin …{marks.after} and {marks.end})"
        )
    start, begin = begins[0]
    return Block(
        head="".join(lines[:start]),
        tail="".join(lines[ends[0] + 1 :]),
        agents=tuple(begin[1].split(",")),
        digest=begin[2],
        text="".join(lines[start + 1 : ends[0]]),
    )


def with_block(text: str | None, marks: Marks, agent: str, our_text: str) -> str:
    """The text with our block for this agent as well: in its old place, or at the end."""
    block = find_block(text, marks)
    agents = tuple(sorted({agent, *(block.agents if block is not None else ())}))
    if block is not None and agents == block.agents and _plain(block.text) == our_text:
        return text or ""
    return _assembled(text, marks, agents, our_text, block)


def without_block(text: str | None, marks: Marks, agent: str) -> str | None:
    """The text without our block; the block stays while other agents need it."""
    block = find_block(text, marks)
    if block is None or agent not in block.agents:
        return text
    others = tuple(name for name in block.agents if name != agent)
    if others:
        return _assembled(text, marks, others, _plain(block.text), block)
    head = block.head
    # The empty line that we put before the block.
    for line_end in ("\r\n", "\n"):
        if head.endswith(line_end * 2):
            return head.removesuffix(line_end) + block.tail
    if head.strip() and not block.tail:
        return head.removesuffix("\n").removesuffix("\r")
    return head + block.tail


def _assembled(text: str | None, marks: Marks, agents: tuple[str, ...], our_text: str, block: Block | None) -> str:
    line_end = "\r\n" if "\r\n" in (text or "") else "\n"
    inner = f"{marks.begin(agents, digest_of(our_text))}\n{our_text}{marks.end}\n".replace("\n", line_end)
    if block is not None:
        return block.head + inner + block.tail
    # An empty line before the block, or only a line end if the text has none: a removal can tell the two apart.
    head = text or ""
    needs_line_end = head.strip() or (head and not head.endswith("\n"))
    return head + (line_end if needs_line_end else "") + inner


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
