"""`loopwright doctor`: check this machine and this workspace; with `fix`, repair what can be repaired."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from loopwright.analysis.store import AnalysisStore
from loopwright.errors import DamagedFile, LoopwrightError
from loopwright.kernel import git
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.redaction.detector import ENGINE
from loopwright.runner.latch import read_latch
from loopwright.sandbox import place
from loopwright.sandbox.confine import choose
from loopwright.sandbox.model import SandboxView
from loopwright.stages.context import Context
from loopwright.stages.own_prompts import REMEDY, chosen_language
from loopwright.stages.recover import recover
from loopwright.stages.upkeep.agents import check_agents
from loopwright.stages.upkeep.needed import left_by_hand
from loopwright.stages.upkeep.places import check_places
from loopwright.stages.upkeep.symptom import FIX, Health, Symptom
from loopwright.stages.upkeep.workflows import check_workflows
from loopwright.verbs.install import check_installed
from loopwright.verbs.loop.check import check_loops
from loopwright.verbs.prompts import own_prompts
from loopwright.workspace.layout import Flavour, Layout

__all__ = ["Symptom", "doctor"]

_LEAST_FREE = 1 << 30


def doctor(context: Context, *, fix: bool) -> list[Symptom]:
    """All checks, in a fixed order."""
    return [*_machine(context), *_workspace(context, fix)]


def _machine(context: Context) -> Iterator[Symptom]:
    if git.is_installed():
        yield Symptom("git", "ok", git.version())
    else:
        yield Symptom("git", "note", "not installed: only copy mode works", "install git")
    try:
        shell = context.shell()
    except LoopwrightError as problem:
        yield Symptom("shell", "problem", problem.message, problem.hint)
    else:
        text = shell if shell == "bash" else f"{shell} (no bash: strict isolation cannot be proven)"
        yield Symptom("shell", "ok" if shell == "bash" else "note", text)
        yield from _isolation(context, shell)
    yield from check_agents(context)
    yield Symptom("secret matching", "ok" if ENGINE == "re2" else "note", ENGINE)
    try:
        root = context.sandbox_root()
        free = shutil.disk_usage(root).free
        health: Health = "ok" if free >= _LEAST_FREE else "note"
        yield Symptom("sandbox root", health, f"{shown(root)}, {free >> 20:,} MiB free", "`loopwright gc`")
    except LoopwrightError as problem:
        yield Symptom("sandbox root", "problem", problem.message, problem.hint)


def _isolation(context: Context, shell: str) -> Iterator[Symptom]:
    environment = context.step_environment().for_step(())
    try:
        owned = place.claim(context.sandbox_root(), context.project, "doctor")
    except LoopwrightError as problem:
        yield Symptom("isolation", "problem", problem.message, problem.hint)
        return
    try:
        view = SandboxView(owned.place, context.project, context.sandbox_root())
        for level in ("auto", "strict"):
            try:
                _, isolation = choose(level, context.isolations, view, shell, environment)
            except LoopwrightError as problem:
                yield Symptom(f"isolation {level}", "note", problem.message, problem.hint)
                continue
            health: Health = "ok" if isolation.used != "none" else "note"
            text = f"{isolation.used}; network {isolation.network}" + (f" ({isolation.why})" if isolation.why else "")
            yield Symptom(f"isolation {level}", health, text, "" if health == "ok" else "install bubblewrap")
    finally:
        owned.close(keep=False)


def _workspace(context: Context, fix: bool) -> Iterator[Symptom]:
    layout = context.layout
    yield Symptom("workspace", "ok", f"{shown(layout.root)}, layout {layout.flavour}")
    yield from _mixed_layouts(layout)
    for installed in check_installed(context):
        yield Symptom(installed.what, installed.health, installed.message, installed.remedy, installed.code)
    yield from _prompts(context)
    yield from _journal(context, fix)
    yield from _loops(context, fix)
    yield from check_workflows(context, fix=fix)
    yield from check_places(context)
    yield from _analyses(context, fix)
    latch = read_latch(layout.latch)
    if latch is not None:
        yield Symptom("latch", "note", f"latched by {latch.run_id}: {latch.reason}", "`loopwright unlatch`")
    root = context.configured_sandbox_root()
    left = place.leftovers(root, context.project)
    try:
        dead = [dead.run_id for dead in context.store.abandoned()]
    except DamagedFile:
        return
    for what, names in (
        ("sandboxes of dead runs", [folder.name for folder in left]),
        ("runs that died", dead),
    ):
        if names:
            listed = f"{len(names)}: {', '.join(names[:5])}"
            yield Symptom(what, "fixed" if fix else "problem", listed, "" if fix else FIX)
        else:
            yield Symptom(what, "ok", "none")
    for folder, loop_id in left_by_hand(context).items():
        # Not removed before its loop is done: this folder is the only copy of a person's work.
        text = f"{shown(folder)}: work by hand for {loop_id} that was not handed in"
        yield Symptom("work not handed in", "note", text, "copy what you need, then remove the folder")
    if orphans := place.orphans(root):
        text = f"{len(orphans)} in {shown(root)}: {', '.join(folder.name for folder in orphans[:5])}"
        yield Symptom("sandboxes without a project", "note", text, "remove the folders if you do not need them")
    if fix:
        recover(context)


def _prompts(context: Context) -> Iterator[Symptom]:
    """Lists prompts that are not built in: a user should see the prompts that a cloned repository brings."""
    own, unusable = own_prompts(context)
    language = chosen_language(context.settings.values)
    for prompt in unusable:
        yield Symptom("prompts", "problem", f"{shown(prompt.path)}: {prompt.why}", REMEDY, "prompt_invalid")
    if own:
        yield Symptom("prompts", "note", f"not built in: {', '.join(own)}", "`loopwright prompts list`", "prompts_own")
    elif not unusable:
        yield Symptom("prompts", "ok", f"built-in prompts, language {language}")


def _loops(context: Context, fix: bool) -> Iterator[Symptom]:
    for loop in check_loops(context, None, fix=fix):
        for problem in loop.problems:
            yield Symptom(f"loop {loop.loop_id}", "problem", problem, f"`loopwright loop check {loop.loop_id} --fix`")
        for repair in loop.repairs:
            yield Symptom(f"loop {loop.loop_id}", "fixed", repair)
        for note in loop.notes:
            yield Symptom(f"loop {loop.loop_id}", "note", note)


def _mixed_layouts(layout: Layout) -> Iterator[Symptom]:
    other = Flavour.INTEROP if layout.flavour is Flavour.UNIFIED else Flavour.UNIFIED
    elsewhere = Layout(layout.root, other, layout.home)
    strays = [path for path in (elsewhere.result, elsewhere.runs, elsewhere.plan) if path.exists()]
    if strays:
        text = f"files of the {other} layout exist, too: {', '.join(shown(path) for path in strays)}"
        yield Symptom("layout", "note", text, "Loopwright does not read them; move or remove them")


def _journal(context: Context, fix: bool) -> Iterator[Symptom]:
    try:
        count = len(context.store.recorded())
    except DamagedFile as problem:
        if not fix:
            yield Symptom("evidence chain", "problem", problem.message, FIX)
            return
        rescued = context.store.journal.rescue()
        recovered = recover(context)
        missing = context.store.record_missing(stamp(context.clock()))
        text = f"{problem.message}; intact entries: {rescued.kept}, runs added again: {len(recovered)}"
        text += f", runs without a folder: {len(missing)} ({', '.join(missing[:5])})" if missing else ""
        yield Symptom("evidence chain", "fixed", f"{text}; the damaged file is {shown(rescued.aside)}")
        return
    yield Symptom("evidence chain", "ok", f"runs recorded: {count}")


def _analyses(context: Context, fix: bool) -> Iterator[Symptom]:
    journal = AnalysisStore(context.layout).journal
    if not journal.path.exists():
        return
    try:
        yield Symptom("analysis chain", "ok", f"results recorded: {len(journal.entries())}")
    except DamagedFile as problem:
        if not fix:
            yield Symptom("analysis chain", "problem", problem.message, FIX)
            return
        rescued = journal.rescue()
        text = f"{problem.message}; intact entries: {rescued.kept}; the damaged file is {shown(rescued.aside)}"
        yield Symptom("analysis chain", "fixed", text)
