"""Every path of a workspace, in both layouts. Nobody else joins path names of ours."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.kernel.files import create_exclusively

_OWN_FOLDER = ".loopwright"


class Flavour(StrEnum):
    """Which of the two arrangements on disk."""

    UNIFIED = "unified"
    INTEROP = "interop"


class Layout(msgspec.Struct, frozen=True):
    """The paths of one workspace."""

    root: Path
    flavour: Flavour
    home: Path

    @property
    def own(self) -> Path:
        """Our own folder, in both layouts."""
        return self.root / _OWN_FOLDER

    @property
    def config(self) -> Path:
        """The workspace's settings."""
        return self.own / "config.toml"

    @property
    def plan(self) -> Path:
        """The plan that `run` takes when it is given none."""
        return self._pick(self.own, self._thinking) / "plan.latest.yaml"

    @property
    def blocker(self) -> Path:
        """The card that a failed run leaves."""
        return self._pick(self.own, self._thinking) / "blocker.latest.yaml"

    @property
    def result(self) -> Path:
        """The last run's result."""
        if self.flavour is Flavour.INTEROP:
            return self._reflectloop / "reflectloop.latest.yaml"
        return self.own / "run.latest.yaml"

    @property
    def latch(self) -> Path:
        """While this is there no further run starts."""
        return self._pick(self.own, self.home / ".claude") / "latch.lock"

    @property
    def runs(self) -> Path:
        """One folder per run."""
        return self._pick(self.own, self._reflectloop) / "runs"

    @property
    def runs_journal(self) -> Path:
        """The chain of recorded runs."""
        return self.own / "runs.journal.ndjson"

    @property
    def reflections(self) -> Path:
        """Captured reflections."""
        return self._pick(self.own, self.root / ".mosaic") / "reflections"

    @property
    def reflection_input(self) -> Path:
        """Where an agent leaves its self-report."""
        return self._pick(self.own, self.root / ".mosaic") / "reflection-input.json"

    @property
    def loops(self) -> Path:
        """Loop state files."""
        return self._pick(self.own / "loops", self.root / ".loop")

    def turn(self, name: str) -> Path:
        """What was asked of an agent in one turn, and what it answered."""
        return self.own / "turns" / name

    def turns_of(self, run_id: str) -> list[Path]:
        """The turns that a run led to."""
        return sorted((self.own / "turns").glob(f"{run_id}-replan-*"))

    def lock(self, name: str) -> Path:
        """A kernel lock of this workspace."""
        return self.own / "locks" / f"{name}.lock"

    def state_folders(self) -> tuple[str, ...]:
        """Folders below the root whose content is ours and never part of a change."""
        return (_OWN_FOLDER, ".claude/state", ".loop", ".mosaic")

    @property
    def _thinking(self) -> Path:
        return self.root / ".claude" / "state" / "thinking"

    @property
    def _reflectloop(self) -> Path:
        return self.root / ".claude" / "state" / "reflectloop"

    def _pick(self, unified: Path, interop: Path) -> Path:
        return interop if self.flavour is Flavour.INTEROP else unified


def user_config() -> Path:
    """The user's own settings, for every workspace."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else user_home() / ".config") / "loopwright" / "config.toml"


def user_home() -> Path:
    """The home folder as the environment names it."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111 -- does not raise where there is no home


def find_root(start: Path) -> Path:
    """The nearest folder upwards that is a workspace; else the start itself."""
    start = start.resolve()
    home = user_home()
    for folder in (start, *start.parents):
        if (folder / _OWN_FOLDER).is_dir() and (folder == start or folder != home):
            return folder
    return start


def detect_flavour(root: Path, home: Path) -> Flavour:
    """The layout of a workspace that has no config: interop when the other tools' files are there and ours not."""
    if (root / _OWN_FOLDER).exists():
        return Flavour.UNIFIED
    interop = Layout(root, Flavour.INTEROP, home)
    traces = (interop.plan, interop.blocker, interop.result, interop.runs, interop.latch, interop.loops)
    return Flavour.INTEROP if any(trace.exists() for trace in traces) else Flavour.UNIFIED


def record_choice(layout: Layout) -> bool:
    """Write down which layout was chosen, once; git is told to leave our state alone."""
    # The choice first: a folder of ours without it would mean the other layout.
    text = f'[workspace]\nlayout = "{layout.flavour}"\n'
    is_new = create_exclusively(layout.config, text.encode())
    own_rules = "# Made by loopwright: state that belongs to this machine, not to the project.\n"
    ignored = "*.latest.yaml\nlatch.lock\nlocks/\nturns/\nruns/\nruns.journal.ndjson*\nreflections/\nloops/\n"
    create_exclusively(layout.own / ".gitignore", (own_rules + ignored).encode())
    return is_new
