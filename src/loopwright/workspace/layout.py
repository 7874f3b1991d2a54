"""Every path of a workspace, in both layouts. Nobody else joins path names of ours."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.kernel.files import create_exclusively, create_restorably, is_blank
from loopwright.kernel.ids import is_identifier
from loopwright.workspace import names, stop_gate


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

    @property
    def workflows(self) -> Path:
        """One folder per workflow."""
        return self.own / "workflows"

    def workflow(self, slug: str, change_id: str = "") -> WorkflowPaths:
        """The files of one workflow; its change may have had a name before it was ours."""
        return WorkflowPaths(self, slug, change_id=change_id)

    def workflow_slugs(self) -> list[str]:
        """Every workflow that has a journal."""
        folder = self.workflows
        found = os.listdir(folder) if folder.is_dir() else []
        return sorted(name for name in found if is_identifier(name) and not name.startswith("."))

    @property
    def openspec(self) -> Path | None:
        """The project's OpenSpec folder, where it has one: specs and changes live there then."""
        folder = self.root / names.OPENSPEC
        return folder if folder.is_dir() else None

    @property
    def specs(self) -> Path:
        """The living specs, a folder per domain."""
        return (self.openspec or self.own) / "specs"

    def living_spec(self, domain: str) -> Path:
        """A domain's living spec."""
        return self.specs / domain / "spec.md"

    def spec_checks(self, domain: str) -> Path:
        """Which checks show a domain's requirements: ours, also where the specs themselves are OpenSpec's."""
        return self.own / "specs" / domain / "checks.json"

    @property
    def active_changes(self) -> Path:
        """One folder per change that is not in the specs yet; OpenSpec keeps its archive among them."""
        openspec = self.openspec
        return openspec / "changes" if openspec else self.own / "changes" / "active"

    def change(self, change_id: str) -> Path:
        """The folder of an active change."""
        return self.active_changes / change_id

    def archived_change(self, change_id: str, day: str) -> Path:
        """Where a change goes; OpenSpec puts the day before the name."""
        return self.archived_changes / (f"{day}-{change_id}" if self.openspec else change_id)

    @property
    def archived_changes(self) -> Path:
        """Where changes go whose delta is in the specs."""
        openspec = self.openspec
        return openspec / "changes" / "archive" if openspec else self.own / "changes" / "archive"

    @property
    def plans(self) -> Path:
        """The canonical plan and test spec of each workflow."""
        return self.own / "plans"

    @property
    def prompts(self) -> Path:
        """Texts for agents in the place of ours."""
        return self.own / names.PROMPTS

    @property
    def snapshots(self) -> Path:
        """What specs were like when a round of clarifying ended."""
        return self.own / "specs"

    @property
    def adr_candidates(self) -> Path:
        """Decisions that somebody may want to write down."""
        return self.own / "decisions" / "adr-candidates"

    @property
    def context_notes(self) -> Path:
        """Notes on the project's domains, for the manifests."""
        return self.own / "context"

    @property
    def developer_journals(self) -> Path:
        """A folder per developer."""
        return self.own / "journal"

    def imported(self, tool: str) -> Path:
        """What came from another tool, and whose place was taken by something else."""
        return self.own / "imported" / tool

    def foreign(self, tool: str) -> Path:
        """Where another tool keeps its workspace in this project."""
        return self.root / names.FOREIGN[tool]

    def developer_journal(self, developer: str) -> Path:
        """What one developer's finished reviews left."""
        return self.developer_journals / developer

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


class WorkflowPaths(msgspec.Struct, frozen=True):
    """Where a workflow's files are: its journal, what is derived from it, and the documents that people write."""

    layout: Layout
    slug: str
    # Where its change went, below the root; nothing as long as it is active.
    archived: str = ""
    # The change's name, where it had one before it was ours.
    change_id: str = ""

    @property
    def folder(self) -> Path:
        """All of them, but for plans, changes and specs."""
        return self.layout.workflows / self.slug

    @property
    def journal(self) -> Path:
        """Every change, appended: the truth."""
        return self.folder / "journal.ndjson"

    @property
    def state(self) -> Path:
        """How it stands, for agents and other tools."""
        return self.folder / "state.json"

    def object(self, sha256: str) -> Path:
        """The bytes of a document as they once were."""
        return self.folder / "objects" / sha256

    @property
    def change(self) -> Path:
        """The folder of its deltas."""
        if self.archived:
            return self.layout.root / self.archived
        return self.layout.change(self.change_id or f"chg-{self.slug}")

    def document(self, name: str) -> Path:
        """A document by its name: `change/…` and `plans/…` have their own places."""
        top, _, rest = name.partition("/")
        if top == "change" and rest:
            return self.change / rest
        return self.layout.plans / rest if top == "plans" and rest else self.folder / name


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


def gate_file(mailbox: Path) -> Path:
    """By what a build keeps an agent going: beside its sandbox, where the hook of its harness can read it."""
    return mailbox / stop_gate.FILE


def user_config() -> Path:
    """The user's own settings, for every workspace."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else user_home() / ".config") / "loopwright" / "config.toml"


def user_prompts() -> Path:
    """The user's own texts for agents, for every workspace."""
    return user_config().with_name(names.PROMPTS)


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
    rules, ours = layout.own / ".gitignore", names.OWN_RULES.encode()
    if not os.path.lexists(rules) or (rules.is_file() and is_blank(rules.read_bytes())):
        create_restorably(rules, ours)
    return is_new
