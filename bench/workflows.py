"""The cost of workflows: a list of many, and a transition."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from loopwright.kernel.clock import utc_now
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.documents.spec import new_spec
from loopwright.workflow.facts import Gates
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Transition
from loopwright.workflow.profiles import PROFILES
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Flavour, Layout
from measure import Way, duration, medians, run, say, settled, timed
from report import Row, verdict
from workspace import LOOPWRIGHT, Workspace

_ROUNDS = 5
_WORKFLOWS = 1000
_FSYNCS = 2


def measure(folder: Path) -> Iterator[Row]:
    yield _status(folder / "many")
    yield _transition(folder / "transition")


def _status(folder: Path) -> Row:
    workspace = Workspace(folder)
    layout = Layout(workspace.root, Flavour.UNIFIED, folder)
    store = WorkflowStore(layout, utc_now, Gates())
    say(f"  making {_WORKFLOWS} workflows")
    _begin(store, "w-0")
    first = layout.workflow("w-0")
    journal, state = first.journal.read_bytes(), first.state.read_bytes()
    for number in range(1, _WORKFLOWS):
        paths = layout.workflow(f"w-{number}")
        paths.folder.mkdir(parents=True)
        paths.journal.write_bytes(journal.replace(b'"w-0"', f'"w-{number}"'.encode()))
        paths.state.write_bytes(state.replace(b'"w-0"', f'"w-{number}"'.encode()))

    def loopwright(*arguments: str) -> float:
        return timed(lambda: run((LOOPWRIGHT, *arguments), cwd=workspace.root, env=workspace.env))

    found = json.loads(run((LOOPWRIGHT, "status", "--json"), cwd=workspace.root, env=workspace.env))
    assert found["stages"]["clarify"] == _WORKFLOWS, found["stages"]
    ways = [Way("--version", lambda: loopwright("--version")), Way("status", lambda: loopwright("status"))]
    bare, ours = medians("status", ways, _ROUNDS)
    return Row(
        f"`status` of {_WORKFLOWS} workflows",
        "<= 100 ms over --version",
        f"+{(ours - bare) * 1000:.0f} ms",
        verdict(ours - bare <= 0.100),
        duration(ours),
        f"--version: {duration(bare)}",
    )


def _transition(folder: Path) -> Row:
    """An approval and the next stage, in the library, compared with the same number of bare durable writes."""
    store = WorkflowStore(Layout(folder, Flavour.UNIFIED, folder), utc_now, Gates())
    numbers = iter(range(1000))
    line = b"x" * 1500 + b"\n"

    def bare() -> float:
        handle = os.open(folder / f"bare{next(numbers)}", os.O_WRONLY | os.O_CREAT, 0o666)

        def write() -> None:
            for _ in range(_FSYNCS):
                os.write(handle, line)
                os.fsync(handle)

        taken = settled(write)
        os.close(handle)
        return taken

    def ours() -> float:
        slug = f"t-{next(numbers)}"
        _begin(store, slug, given=True)
        os.sync()
        began = time.perf_counter()
        with store.changing(slug) as opened:
            standing = opened.standing()
            opened.apply(c.Approve(transition=Transition.CLARIFY_PLAN, standing=standing, by="bench"), "bench")
            opened.apply(c.Enter(transition=Transition.CLARIFY_PLAN, standing=standing), "bench")
        return time.perf_counter() - began

    folder.mkdir(parents=True, exist_ok=True)
    least, taken = medians("transition", [Way("fsyncs", bare), Way("ours", ours)], 9)
    return Row(
        "a transition: consent and entry",
        "<= 30 ms over its own fsyncs",
        f"+{(taken - least) * 1000:.1f} ms",
        verdict(taken - least <= 0.030),
        duration(taken),
        f"{_FSYNCS} fsyncs: {duration(least)}",
    )


def _begin(store: WorkflowStore, slug: str, *, given: bool = False) -> None:
    with store.beginning(c.Begin(slug=slug, idea="an idea", profile=PROFILES["standard"]), "bench"):
        pass
    with store.changing(slug) as opened:
        spec = new_spec("Bench", "an idea", slug)
        said = {section.name: f"- said of {section.name}" for section in spec.page.sections}
        opened.write({SPEC: (spec.with_sections(said) if given else spec).page.render()}, "bench")
        if given:
            opened.apply(e.SpecGiven(source="bench", by="bench"), "bench")
