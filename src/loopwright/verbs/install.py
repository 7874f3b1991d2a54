"""`loopwright install` and `uninstall`: our hook in an agent's settings, beside what is there, and out again."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.agents.harness import HARNESSES, Harness, Scope
from loopwright.agents.registration import Document, NotUnderstood, command_line, registered, with_ours, without_ours
from loopwright.errors import SettingsInvalid, UnknownAgent
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import shown, storage, write_durably
from loopwright.verbs.context import Context
from loopwright.workspace.layout import user_receipt

HOOK = Path(__file__).parent.parent / "hooks" / "entry.py"


class Installed(msgspec.Struct, frozen=True):
    """What was, or would be, done to one settings file."""

    agent: str
    path: Path
    diff: str
    is_changed: bool
    caveat: str


class _Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a file was before we came, so that it can be made so again to the byte."""

    path: str
    before: str | None
    after_sha256: str
    made_folder: bool


def install(context: Context, agent: str, scope: Scope, *, dry_run: bool) -> Installed:
    """Register the hook; once, however often it is called."""
    harness = harness_of(agent)
    path = _path(context, harness, scope)
    before = _text_of(path)
    after = _edited(path, before, lambda document: with_ours(document, harness, sys.executable, str(HOOK)))
    if not dry_run and after != before:
        write_durably(user_receipt(path), codec.to_json(_receipt_for(path, before, after)))
        _write(path, after or "")
    return _report(harness, path, before, after)


def uninstall(context: Context, agent: str, scope: Scope, *, dry_run: bool) -> Installed:
    """Take the hook out again; a file that nobody else touched since is as it was before, to the byte."""
    harness = harness_of(agent)
    path = _path(context, harness, scope)
    before, receipt = _text_of(path), _receipt(path)
    untouched = receipt is not None and before is not None and sha256(before.encode()) == receipt.after_sha256
    after = receipt.before if receipt is not None and untouched else _edited(path, before, without_ours)
    if not dry_run:
        if after is None and before is not None:
            _remove(path, with_folder=receipt is not None and receipt.made_folder)
        elif after != before:
            _write(path, after or "")
        _drop_receipt(path)
    return _report(harness, path, before, after)


def registration(context: Context, agent: str, scope: Scope) -> dict[str, str]:
    """Our commands in an agent's settings, by event."""
    harness = harness_of(agent)
    path = _path(context, harness, scope)
    return registered(_read(path, _text_of(path)), harness)


def expected_command(verb: str) -> str:
    """What a registration by this interpreter says."""
    return command_line(sys.executable, str(HOOK), verb)


def harness_of(agent: str) -> Harness:
    """The harness of this name."""
    if agent not in HARNESSES:
        raise UnknownAgent(
            f"there is no agent '{shown(agent)}' whose settings we know",
            hint=f"one of: {', '.join(HARNESSES)}",
        )
    return HARNESSES[agent]


def _edited(path: Path, before: str | None, edit: Callable[[Document], Document]) -> str | None:
    """The file's text after the edit; the same text where the edit changes nothing."""
    document = _read(path, before)
    try:
        changed = edit(document)
    except NotUnderstood as problem:
        raise SettingsInvalid(f"{shown(path)}: {problem}", hint="correct that file; nothing was changed") from problem
    return before if changed == document else _written(changed, before)


def _receipt_for(path: Path, before: str | None, after: str | None) -> _Receipt:
    earlier = _receipt(path)
    made_folder = not path.parent.exists()
    if earlier is not None and before is not None:
        # Registered already, by another interpreter say: what counts is how it was before the first time.
        is_ours = sha256(before.encode()) == earlier.after_sha256
        before = earlier.before if is_ours else _edited(path, before, without_ours)
        made_folder = earlier.made_folder
    return _Receipt(str(path), before, sha256((after or "").encode()), made_folder)


def _report(harness: Harness, path: Path, before: str | None, after: str | None) -> Installed:
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True), shown(path), shown(path), n=2
    )
    return Installed(harness.agent, path, "".join(lines), before != after, harness.caveat)


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsInvalid(f"{shown(path)} can't be read: {problem}", hint="correct that file") from problem


def _read(path: Path, text: str | None) -> Document:
    try:
        document = json.loads(text) if text is not None and text.strip() else {}
    except ValueError as problem:
        raise SettingsInvalid(
            f"{shown(path)} is not plain JSON: {problem}",
            hint="correct it (comments, too, would be lost), or write the hook into it by hand: `loopwright install "
            "--dry-run` in an empty folder shows what",
        ) from problem
    if not isinstance(document, dict):
        raise SettingsInvalid(f"{shown(path)} is not a JSON object", hint="correct that file; nothing was changed")
    return document


def _written(document: Document, before: str | None) -> str:
    """In the indentation that the file has."""
    indented = [line for line in (before or "").splitlines() if line[:1] in (" ", "\t")]
    first = indented[0] if indented else "  "
    indent = first[: len(first) - len(first.lstrip())]
    end = "\n" if before is None or before.endswith("\n") else ""
    return json.dumps(document, indent=indent, ensure_ascii=False) + end


def _write(path: Path, text: str) -> None:
    # Settings are often links into a folder of dotfiles: what they lead to is what changes.
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    write_durably(target, text.encode(), mode=mode)
    with storage(target):
        target.chmod(mode)


def _remove(path: Path, *, with_folder: bool) -> None:
    with storage(path):
        path.unlink()
        if with_folder and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _path(context: Context, harness: Harness, scope: Scope) -> Path:
    return harness.path(scope, context.project, context.environment, context.layout.home)


def _receipt(path: Path) -> _Receipt | None:
    try:
        receipt = codec.from_json(user_receipt(path).read_bytes(), _Receipt)
    except (OSError, codec.Undecodable):
        return None
    return receipt if receipt.path == str(path) else None


def _drop_receipt(path: Path) -> None:
    receipt = user_receipt(path)
    receipt.unlink(missing_ok=True)
    with suppress(OSError):  # others may be left in them
        receipt.parent.rmdir()
        receipt.parent.parent.rmdir()
