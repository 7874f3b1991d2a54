"""Compares the rules of ignore files: linters and packagers skip what these files match. Pure."""

from __future__ import annotations

from collections import Counter
from posixpath import normpath

IGNORE_FILES = ("**/.gitignore", "**/.dockerignore", "**/.npmignore")
_OF_DOCKER = ".dockerignore"
_OF_NPM = ".npmignore"


def comparable_rules(path: str, before: bytes | None, after: bytes | None) -> tuple[bytes, bytes] | None:
    """The rules of both sides in git's spelling; None if git's matching can't tell whether the change hides files.

    Without a rule that begins with `!`, a rule of another file may hide. Without its own file, npm reads `.gitignore`.
    Some tools expand braces, and git does not.
    """
    old, new = Counter(_rules(path, before)), Counter(_rules(path, after))
    shown_no_longer = any(rule.startswith(b"!") for rule in old - new)
    if shown_no_longer or any(b"{" in rule for rule in new - old) or (after is None and path.endswith(_OF_NPM)):
        return None
    return b"".join(_rules(path, before)), b"".join(_rules(path, after))


def _rules(path: str, content: bytes | None) -> list[bytes]:
    """The lines that are rules, each with its end. Some tools skip a byte order mark."""
    lines = (line.rstrip(b"\r") for line in (content or b"").removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    rules = [line for line in lines if line.strip() and not line.startswith(b"#")]
    return [(_cleaned(rule) if path.endswith(_OF_DOCKER) else rule) + b"\n" for rule in rules]


def _cleaned(rule: bytes) -> bytes:
    """A rule as Docker reads it: `./a/b/` is the file or folder `a/b`."""
    sign, name = (b"!", rule[1:]) if rule.startswith(b"!") else (b"", rule)
    return sign + normpath(name.strip().decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
