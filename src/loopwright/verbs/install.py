"""`loopwright install` and `uninstall`: our hook in an agent's settings, beside what is there, and out again."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from loopwright.agents.harness import Scope
from loopwright.agents.registration import only_ours, with_ours, without_ours
from loopwright.agents.settings_text import Document, NotUnderstood, parse, render
from loopwright.kernel.files import shown, storage, write_durably
from loopwright.verbs.agent_settings import HOOK, SettingsFile, harness_of, not_understood, read_settings
from loopwright.verbs.context import Context
from loopwright.verbs.install_receipt import Receipt, drop_receipt, keep_receipt, receipt_of

_OF_THIS_MACHINE = (
    "the command names this machine's Python, and a project's settings are usually committed: with --user it is "
    "registered for all of your projects, and in none of them"
)


class Installed(msgspec.Struct, frozen=True):
    """What was, or would be, done to one settings file; of its content only what is ours."""

    agent: str
    path: Path
    diff: str
    is_changed: bool
    notes: tuple[str, ...] = ()


def install(context: Context, agent: str, scope: Scope, *, dry_run: bool) -> Installed:
    """Register the hook; once, however often it is called."""
    harness = harness_of(agent)
    found = read_settings(context, harness, scope)
    after = _edited(found, lambda document: with_ours(document, harness, sys.executable, str(HOOK)))
    if not dry_run and after is not None and after != found.text:
        _keep_receipt(found, after)
        _write(found.target, after)
    notes = (harness.caveat, _OF_THIS_MACHINE if scope is Scope.PROJECT else "")
    return _report(agent, found, after, tuple(filter(None, notes)))


def uninstall(context: Context, agent: str, scope: Scope, *, dry_run: bool) -> Installed:
    """Take the hook out again; a file that nobody else touched since is as it was before, to the byte."""
    found = read_settings(context, harness_of(agent), scope)
    receipt = receipt_of(found.target)
    after = _before_us(found, receipt)
    if not dry_run:
        if after is None and found.text is not None:
            _remove(found.target, with_folder=receipt is not None and receipt.made_folder)
        elif after is not None and after != found.text:
            _write(found.target, after)
        drop_receipt(found.target)
    return _report(agent, found, after)


def _before_us(found: SettingsFile, receipt: Receipt | None) -> str | None:
    """The text without ours; None where there was no file before us and nobody else has put anything into it."""
    if receipt is not None and receipt.is_of(found.text):
        return receipt.before
    after = _edited(found, without_ours)
    made_by_us = receipt is not None and receipt.before is None
    return None if made_by_us and after != found.text and not parse(after) else after


def _edited(found: SettingsFile, edit: Callable[[Document], Document]) -> str | None:
    """The file's text after the edit; the same text where the edit changes nothing."""
    document = found.document()
    try:
        changed = edit(document)
    except NotUnderstood as problem:
        raise not_understood(found.path, problem) from problem
    return found.text if changed == document else render(changed, found.text)


def _keep_receipt(found: SettingsFile, after: str) -> None:
    # Registered already, by another interpreter say: what counts is how it was before the first time.
    earlier = receipt_of(found.target)
    made_folder = not found.target.parent.exists() or (earlier is not None and earlier.made_folder)
    keep_receipt(found.target, _before_us(found, earlier), after, made_folder=made_folder)


def _report(agent: str, found: SettingsFile, after: str | None, notes: tuple[str, ...] = ()) -> Installed:
    # Around our lines are the user's, with the keys and addresses that settings hold: those are not shown.
    name = shown(found.path)
    lines = difflib.unified_diff(_ours_in(found.text), _ours_in(after), name, name, n=2)
    return Installed(agent, found.path, "".join(lines), found.text != after, notes)


def _ours_in(text: str | None) -> list[str]:
    try:
        return only_ours(parse(text)).splitlines(keepends=True)
    except NotUnderstood:  # what a receipt of an earlier version gave back
        return []


def _write(target: Path, text: str) -> None:
    with storage(target):
        mode = target.stat().st_mode & 0o777 if target.exists() else None
    write_durably(target, text.encode(), mode=mode)


def _remove(target: Path, *, with_folder: bool) -> None:
    with storage(target):
        target.unlink()
        if with_folder and not any(target.parent.iterdir()):
            target.parent.rmdir()
