"""Every path of a workspace, in both layouts. No other module joins Loopwright's path names."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.kernel.files import (
    create_exclusively,
    create_restorably,
    is_blank,
    remove_stale_temporaries,
    storage,
)
from loopwright.kernel.ids import is_identifier
from loopwright.workspace import names, stop_gate
from loopwright.workspace.names import make_own_folder


class Flavour(StrEnum):
    """The two layouts on disk."""

    UNIFIED = names.UNIFIED
    INTEROP = names.INTEROP


class Layout(msgspec.Struct, frozen=True):
    """The paths of one workspace."""

    root: Path
    flavour: Flavour
    home: Path

    @property
    def own(self) -> Path:
        """The `.loopwright` folder, in both layouts."""
        return self.root / names.OWN_FOLDER

    @property
    def config(self) -> Path:
        """The workspace's settings."""
        return self.root / names.CONFIG

    @property
    def plan(self) -> Path:
        """The default plan of `run`."""
        return self._pick(self.own, self._thinking) / "plan.latest.yaml"

    @property
    def blocker(self) -> Path:
        """The blocker that a failed run leaves."""
        return self._pick(self.own, self._thinking) / "blocker.latest.yaml"

    @property
    def result(self) -> Path:
        """The result of the last run."""
        if self.flavour is Flavour.INTEROP:
            return self._reflectloop / "reflectloop.latest.yaml"
        return self.own / "run.latest.yaml"

    @property
    def latch(self) -> Path:
        """While this file exists, no further run starts."""
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
        """The file in which an agent leaves its self-report."""
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
        file_names = os.listdir(folder) if folder.is_dir() else []
        ends = (".events.ndjson", ".json")
        ids = {name.removesuffix(end) for name in file_names for end in ends if name.endswith(end)}
        return sorted(name for name in ids if is_identifier(name) and not name.startswith("."))

    def loop_worker(self, loop_id: str) -> Path:
        """The lock that a loop's worker holds while it runs."""
        return self.lock(f"loop-worker-{loop_id}")

    @property
    def workflows(self) -> Path:
        """One folder per workflow."""
        return self.own / "workflows"

    def workflow(self, slug: str, change_id: str = "") -> WorkflowPaths:
        """The files of one workflow. An imported change keeps its earlier name as `change_id`."""
        return WorkflowPaths(self, slug, change_id=change_id)

    def workflow_slugs(self) -> list[str]:
        """Every workflow that has a journal."""
        folder = self.workflows
        folder_names = os.listdir(folder) if folder.is_dir() else []
        return sorted(name for name in folder_names if is_identifier(name) and not name.startswith("."))

    @property
    def openspec(self) -> Path | None:
        """The project's OpenSpec folder if it exists; specs and changes are stored there."""
        folder = self.root / names.OPENSPEC
        return folder if folder.is_dir() else None

    @property
    def specs(self) -> Path:
        """The living specs, one folder per domain."""
        return (self.openspec or self.own) / "specs"

    def living_spec(self, domain: str) -> Path:
        """A domain's living spec."""
        return self.specs / domain / "spec.md"

    def spec_checks(self, domain: str) -> Path:
        """Which checks verify a domain's requirements. Stored in `.loopwright` even if the specs are in OpenSpec."""
        return self.own / "specs" / domain / "checks.json"

    @property
    def active_changes(self) -> Path:
        """One folder per change that is not archived; OpenSpec keeps its archive in the same folder."""
        openspec = self.openspec
        return openspec / "changes" if openspec else self.own / "changes" / "active"

    def change(self, change_id: str) -> Path:
        """The folder of an active change."""
        return self.active_changes / change_id

    def archived_change(self, change_id: str, day: str) -> Path:
        """The folder of an archived change; OpenSpec puts the date before the name."""
        return self.archived_changes / (f"{day}-{change_id}" if self.openspec else change_id)

    @property
    def archived_changes(self) -> Path:
        """The changes whose deltas are merged into the specs."""
        openspec = self.openspec
        return openspec / "changes" / "archive" if openspec else self.own / "changes" / "archive"

    @property
    def plans(self) -> Path:
        """The canonical plan and test spec of each workflow."""
        return self.own / "plans"

    @property
    def prompts(self) -> Path:
        """Custom prompts that replace the built-in prompts."""
        return self.own / names.PROMPTS

    @property
    def snapshots(self) -> Path:
        """Copies of specs from the end of each clarifying round."""
        return self.own / "specs"

    @property
    def adr_candidates(self) -> Path:
        """Decisions that may deserve an architecture decision record."""
        return self.own / "decisions" / "adr-candidates"

    @property
    def context_notes(self) -> Path:
        """Notes on the project's domains, for the manifests."""
        return self.own / "context"

    @property
    def developer_journals(self) -> Path:
        """A folder per developer."""
        return self.own / "journal"

    def quick_page(self, slug: str) -> Path:
        """What `loopwright do` delivered, on one page."""
        return self.own / "done" / f"{slug}.md"

    def imported(self, tool: str) -> Path:
        """Files that were imported from another tool and replaced by others."""
        return self.own / "imported" / tool

    def foreign(self, tool: str) -> Path:
        """The folder of another tool's workspace in this project."""
        return self.root / names.FOREIGN[tool]

    def developer_journal(self, developer: str) -> Path:
        """The journal entries of one developer's finished reviews."""
        return self.developer_journals / developer

    def turn(self, name: str) -> Path:
        """The prompt and the answer of one agent turn."""
        return self.own / "turns" / name

    def turns_of(self, run_id: str) -> list[Path]:
        """The turns that a run started."""
        return sorted((self.own / "turns").glob(f"{run_id}-replan-*"))

    def lock(self, name: str) -> Path:
        """A kernel lock of this workspace."""
        return self.own / "locks" / f"{name}.lock"

    def state_folders(self) -> tuple[str, ...]:
        """Folders below the root with Loopwright's own state, which is never part of a change."""
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
    """A workflow's files: its journal, derived files, and the documents that people write."""

    layout: Layout
    slug: str
    # The archive folder of its change, below the root; empty while the change is active.
    archived: str = ""
    # The name of an imported change; empty for a change that Loopwright created; `.`: in the folder of the workflow.
    change_id: str = ""

    @property
    def folder(self) -> Path:
        """The folder of all its files except plans, changes and specs."""
        return self.layout.workflows / self.slug

    @property
    def journal(self) -> Path:
        """The append-only journal, which is the source of truth."""
        return self.folder / "journal.ndjson"

    @property
    def state(self) -> Path:
        """The derived state, for agents and other tools."""
        return self.folder / "state.json"

    def object(self, sha256: str) -> Path:
        """The bytes of an earlier version of a document."""
        return self.folder / "objects" / sha256

    @property
    def change(self) -> Path:
        """The folder of the workflow's change."""
        if self.archived:
            return self.layout.root / self.archived
        if self.change_id == names.IN_WORKFLOW:
            return self.folder / "change"
        return self.layout.change(self.change_id or f"chg-{self.slug}")

    def document(self, name: str) -> Path:
        """A document by its name; `change/…` and `plans/…` are in their own folders."""
        top, _, rest = name.partition("/")
        if top == "change" and rest:
            return self.change / rest
        return self.layout.plans / rest if top == "plans" and rest else self.folder / name


class LoopPaths(msgspec.Struct, frozen=True):
    """A loop's files: those that other tools read, and Loopwright's log and head."""

    folder: Path
    loop_id: str

    @property
    def state(self) -> Path:
        """The state file that all tools read."""
        return self.folder / f"{self.loop_id}.json"

    @property
    def events(self) -> Path:
        """The append-only event log, which is the source of truth."""
        return self.folder / f"{self.loop_id}.events.ndjson"

    @property
    def tasks(self) -> Path:
        """The task list, one JSON object per line."""
        return self.folder / f"{self.loop_id}.tasks.jsonl"

    @property
    def head(self) -> Path:
        """The log's position and resulting state, so that the log is not replayed from its start."""
        return self.folder / f".{self.loop_id}.head.json"

    @property
    def progress(self) -> Path:
        """Progress pages for people, and the work itself."""
        return self.folder / f"{self.loop_id}.progress"


def gate_file(mailbox: Path) -> Path:
    """The file by which a build tells an agent to continue. It is next to the sandbox, where the hook can read it."""
    return mailbox / stop_gate.FILE


def user_config() -> Path:
    """The user's own settings, for every workspace."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else user_home() / ".config") / "loopwright" / "config.toml"


def user_prompts() -> Path:
    """The user's own prompts, for every workspace."""
    return user_config().with_name(names.PROMPTS)


def user_receipt(settings_file: Path) -> Path:
    """An agent's settings file as it was before `install` changed it. Kept in the user's state folder."""
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else user_home() / ".local" / "state"
    return state / "loopwright" / "installed" / f"{sha256(os.fsencode(settings_file))[:16]}.json"


def user_home() -> Path:
    """The home folder that the environment names."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111 -- does not raise without a home folder


def find_root(start: Path) -> Path:
    """The project of a folder: its workspace, else the top of its git repository, else the folder itself."""
    return Path(names.project_above(str(start.resolve()), os.path.realpath(user_home())))


def detect_flavour(root: Path, home: Path) -> Flavour:
    """The layout of a workspace without a config."""
    return Flavour(names.flavour_of(str(root), str(home)))


def ensure_own_folder(layout: Layout) -> bool:
    """Before a write: create the `.loopwright` folder with the chosen layout if missing. Return whether it was."""
    with storage(layout.own):
        is_new = make_own_folder(str(layout.root), layout.flavour)
        if is_new:
            remove_stale_temporaries(layout.root)
    return is_new


def record_choice(layout: Layout) -> bool:
    """Record the chosen layout once, and make git ignore Loopwright's state."""
    if ensure_own_folder(layout):
        return True
    is_new = create_exclusively(layout.config, names.config_text(layout.flavour).encode())
    ignore_file = layout.own / ".gitignore"
    if not os.path.lexists(ignore_file) or (ignore_file.is_file() and is_blank(ignore_file.read_bytes())):
        create_restorably(ignore_file, names.OWN_RULES.encode())
    return is_new
