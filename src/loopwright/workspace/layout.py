"""Every path of a workspace, in both layouts. Nobody else joins path names of ours."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.kernel.files import create_exclusively
from loopwright.kernel.ids import is_identifier
from loopwright.workspace import names


class Flavour(StrEnum):
    """Which of the two arrangements on disk."""

    UNIFIED = names.UNIFIED
    INTEROP = names.INTEROP


class Layout(msgspec.Struct, frozen=True):
    """The paths of one workspace."""

    root: Path
    flavour: Flavour
    home: Path

    @property
    def own(self) -> Path:
        """Our own folder, in both layouts."""
        return self.root / names.OWN_FOLDER

    @property
    def config(self) -> Path:
        """The workspace's settings."""
        return self.root / names.CONFIG

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
        return self._pick(self.own / "latch.lock", self.home / names.INTEROP_LATCH)

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
        return self.root / names.reflection_home(self.flavour) / "reflections"

    @property
    def reflection_input(self) -> Path:
        """Where an agent leaves its self-report."""
        return self.root / names.reflection_home(self.flavour) / "reflection-input.json"

    @property
    def analysis(self) -> Path:
        """Recorded results of experiments, one file each."""
        return self.own / "analysis"

    @property
    def analysis_journal(self) -> Path:
        """The chain of recorded results."""
        return self.analysis / "journal.ndjson"

    @property
    def loops(self) -> Path:
        """Loop state files."""
        return self._pick(self.own / "loops", self.root / names.INTEROP_LOOPS)

    def loop(self, loop_id: str) -> LoopPaths:
        """The files of one loop."""
        return LoopPaths(self.loops, loop_id)

    def loop_ids(self) -> list[str]:
        """Every loop that has a state file or a log."""
        folder = self.loops
        found = os.listdir(folder) if folder.is_dir() else []
        ends = (".events.ndjson", ".json")
        ids = {name.removesuffix(end) for name in found for end in ends if name.endswith(end)}
        return sorted(name for name in ids if is_identifier(name) and not name.startswith("."))

    def loop_worker(self, loop_id: str) -> Path:
        """The lock that a loop's worker holds as long as it lives."""
        return self.lock(f"loop-worker-{loop_id}")

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
        return names.STATE_FOLDERS

    @property
    def _thinking(self) -> Path:
        return self.root / names.THINKING

    @property
    def _reflectloop(self) -> Path:
        return self.root / names.REFLECTLOOP

    def _pick(self, unified: Path, interop: Path) -> Path:
        return interop if self.flavour is Flavour.INTEROP else unified


class LoopPaths(msgspec.Struct, frozen=True):
    """Where a loop's files are: what others read, and our own log and head."""

    folder: Path
    loop_id: str

    @property
    def state(self) -> Path:
        """The state file that all parties read."""
        return self.folder / f"{self.loop_id}.json"

    @property
    def events(self) -> Path:
        """Every change, appended: the truth."""
        return self.folder / f"{self.loop_id}.events.ndjson"

    @property
    def tasks(self) -> Path:
        """The task list, one JSON a line."""
        return self.folder / f"{self.loop_id}.tasks.jsonl"

    @property
    def head(self) -> Path:
        """How far the log is and what it comes to, so that nobody has to read it from its start."""
        return self.folder / f".{self.loop_id}.head.json"

    @property
    def progress(self) -> Path:
        """Pages for people, and the work itself."""
        return self.folder / f"{self.loop_id}.progress"


def user_config() -> Path:
    """The user's own settings, for every workspace."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else user_home() / ".config") / "loopwright" / "config.toml"


def user_receipt(settings_file: Path) -> Path:
    """How an agent's settings file was before we registered in it: kept with the user, not in the project."""
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else user_home() / ".local" / "state"
    return state / "loopwright" / "installed" / f"{sha256(os.fsencode(settings_file))[:16]}.json"


def user_home() -> Path:
    """The home folder as the environment names it."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111 -- does not raise where there is no home


def find_root(start: Path) -> Path:
    """The nearest folder upwards that is a workspace; else the start itself."""
    start = start.resolve()
    return Path(names.workspace_above(str(start), str(user_home())) or start)


def detect_flavour(root: Path, home: Path) -> Flavour:
    """The layout of a workspace that has no config."""
    return Flavour(names.flavour_of(str(root), str(home)))


def record_choice(layout: Layout) -> bool:
    """Write down which layout was chosen, once; git is told to leave our state alone."""
    # The choice first: a folder of ours without it would mean the other layout.
    is_new = create_exclusively(layout.config, names.config_text(layout.flavour).encode())
    create_exclusively(layout.own / ".gitignore", names.OWN_RULES.encode())
    return is_new
