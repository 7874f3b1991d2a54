"""An agent's settings file as `install` and `doctor` find it. Changes nothing, and starts nothing of what it reads."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from loopwright.agents.harness import HARNESSES, Harness, Scope
from loopwright.agents.registration import command_line
from loopwright.agents.settings_text import Document, NotUnderstood, parse
from loopwright.errors import LoopwrightError, SettingsInvalid, UnknownAgent
from loopwright.kernel.files import read_plainly, shown
from loopwright.stages.context import Context
from loopwright.verbs.install_receipt import receipt_of

HOOK = Path(__file__).parent.parent / "hooks" / "entry.py"
_MOST = 8 << 20


class SettingsFile(msgspec.Struct, frozen=True):
    """A settings file: as it is called, what that leads to, and its text; None where there is none."""

    path: Path
    target: Path
    text: str | None

    def document(self, agent: str) -> Document:
        """What the text says, which is this agent's."""
        try:
            return parse(self.text)
        except NotUnderstood as problem:
            raise not_understood(self.path, problem, agent) from problem


def harness_of(agent: str) -> Harness:
    """The harness of this name."""
    if agent not in HARNESSES:
        raise UnknownAgent(
            f"there is no agent '{shown(agent)}' whose settings we know",
            hint=f"one of: {', '.join(HARNESSES)}",
        )
    return HARNESSES[agent]


def read_settings(context: Context, harness: Harness, scope: Scope) -> SettingsFile:
    """The file that holds this agent's hooks, or would."""
    return read_file(settings_path(context, harness, scope))


def settings_path(context: Context, harness: Harness, scope: Scope) -> Path:
    """Where that file is."""
    project = project_folder(context) if scope is Scope.PROJECT else context.project
    return harness.path(scope, project, context.environment, context.layout.home)


def switched_off(context: Context, harness: Harness) -> Path | None:
    """The file that turns all of this agent's hooks off; None when they are on."""
    if not harness.off_switch:
        return None
    for path in harness.layers(project_folder(context), context.environment, context.layout.home):
        try:
            setting = read_file(path).document(harness.agent).get(harness.off_switch)
        except LoopwrightError:  # said where that file is looked at for its hooks
            continue
        if isinstance(setting, bool):
            return path if setting else None
    return None


def expected_command(verb: str) -> str:
    """What a registration by this interpreter says."""
    return command_line(sys.executable, str(HOOK), verb)


def project_folder(context: Context) -> Path:
    """Where a project's settings are: in its workspace; without one at the top of its repository."""
    if context.layout.own.is_dir():
        return context.project
    repository = context.repository()
    # A home folder that is a repository (dotfiles) is not the project of everything below it.
    if repository is None or repository.top == context.layout.home.resolve():
        return context.project
    return repository.top


def not_understood(path: Path, problem: NotUnderstood, agent: str) -> SettingsInvalid:
    """The refusal that names the file and the cause."""
    return SettingsInvalid(
        f"{shown(path)}: {problem}",
        hint="nothing was changed; correct that file, or write our part into it by hand: `loopwright install "
        f"--agent {agent} --dry-run` in an empty folder shows what; --what leaves a part out",
    )


def holds_ours(path: Path) -> bool:
    """Whether we put anything into this file, it names us, or nobody can say: any other file is not our matter."""
    try:
        target = path.resolve()
        return receipt_of(target) is not None or b"loopwright" in read_plainly(target, most=_MOST)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return True


def read_file(path: Path) -> SettingsFile:
    """A text file of an agent's; what is none, or no UTF-8, is refused."""
    # Settings are often links into a folder of dotfiles: what they lead to is what is read, changed and removed.
    try:
        target = path.resolve()
        try:
            text = read_plainly(target, most=_MOST).decode("utf-8")
        except FileNotFoundError:
            text = None
    except (OSError, RuntimeError, UnicodeDecodeError) as problem:  # RuntimeError: links in a circle
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise SettingsInvalid(f"{shown(path)} can't be read: {reason}", hint="correct that file") from problem
    return SettingsFile(path, target, text)
