"""`loopwright init`: make a project a workspace, with settings that fit it and a first plan. `settings` lists them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from loopwright.errors import WrongUsage
from loopwright.judging.project_files import ProjectFiles
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import create_exclusively, read_regular_file, shown, write_durably
from loopwright.sandbox import place
from loopwright.sandbox.model import SandboxView
from loopwright.stages.context import Context
from loopwright.verbs.project_files import project_files
from loopwright.workspace.detect import Detected, detect
from loopwright.workspace.layout import record_choice
from loopwright.workspace.names import config_text
from loopwright.workspace.settings import ShownSetting


class Initialised(msgspec.Struct, frozen=True):
    """What was detected and written. Files in `kept` existed before and are unchanged."""

    root: Path
    detected: Detected
    files: ProjectFiles
    written: tuple[Path, ...]
    kept: tuple[Path, ...]


def reachable_session(context: Context) -> tuple[str, ...]:
    """What of the person's session an agent could reach on this machine; empty if the isolation holds."""
    owned = place.claim(context.sandbox_root(), context.project, "init")
    try:
        return context.confine(SandboxView(owned.place, context.project, context.sandbox_root()))[1].reachable
    finally:
        owned.close(keep=False)


def init(context: Context, *, allows_weak: bool = False) -> Initialised:
    """Write the files that do not exist yet. `allows_weak` stores that the person accepts weak isolation."""
    if context.project == context.layout.home:
        raise WrongUsage(
            f"{shown(context.project)} is your home folder, not a project",
            hint="change to the folder of a project first",
        )
    detected = detect(context.project)
    files = project_files(context, (detected.test_command, ""))
    written: list[Path] = []
    kept: list[Path] = []
    for path, text in (
        (context.layout.config, _config(context, detected, files, allows_weak=allows_weak)),
        (context.layout.plan, _plan(detected, stamp(context.clock()))),
    ):
        is_ours = path == context.layout.config and _is_first_config(context)
        if is_ours:
            write_durably(path, text.encode())
        (written if is_ours or create_exclusively(path, text.encode()) else kept).append(path)
    record_choice(context.layout)
    return Initialised(context.project, detected, files, tuple(written), tuple(kept))


def has_own_settings(context: Context) -> bool:
    """Whether the workspace has settings that `init` leaves unchanged."""
    return context.layout.config.exists() and not _is_first_config(context)


def _is_first_config(context: Context) -> bool:
    """Whether another command wrote the config, and no person changed it: it only names the layout."""
    try:
        data = read_regular_file(context.layout.config, most=1 << 10)
    except OSError:
        return False
    return data == config_text(context.layout.flavour).encode()


def _config(context: Context, detected: Detected, files: ProjectFiles, *, allows_weak: bool) -> str:
    provide = ", ".join(f'"{folder}"' for folder in detected.provide)
    setup = ", ".join(f'"{command}"' for command in detected.setup)
    source = ", ".join(json.dumps(pattern, ensure_ascii=False) for pattern in files.source)
    return (
        "# Settings of this workspace. `loopwright settings` shows every value and its origin;\n"
        "# `loopwright explain settings` lists every key.\n\n"
        f'[workspace]\nlayout = "{context.layout.flavour}"\n\n'
        "[sandbox]\n"
        "# Folders that steps need and that are not in git: mounted read-only.\n"
        f"provide = [{provide}]\n"
        "# Commands that run once in each new sandbox.\n"
        f"setup = [{setup}]\n"
        "# Whether agents may work although they could reach your session, while you watch in a terminal.\n"
        f"allow_weak = {str(allows_weak).lower()}\n\n"
        "[project]\n"
        "# Source files: the work may change them. Tests and documents are found by the usual names.\n"
        f"source = [{source}]\n"
        "# The command that tests the project: it decides whether the work is right.\n"
        f'test_command = "{detected.test_command}"\n'
    )


def _plan(detected: Detected, now: str) -> str:
    command = detected.test_command or "git --version"
    quoted = command.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"envelope: {{command: init, status: OK, timestamp: {now}}}\n"
        "# A plan: steps that run in a sandbox. Exit codes decide whether a step passed. Run it: `loopwright run`.\n"
        "new_plan:\n"
        '  unified_goal: "the project\'s own tests pass"\n'
        "  steps:\n"
        "    - id: P-1\n"
        '      action: "run the tests"\n'
        f'      commands: ["{quoted}"]\n'
        "      # timeout_s: 600\n"
        "      # depends_on: []\n"
        "      # network: true        # needed only with strict isolation\n"
        "      # env: [CI]            # names of environment variables to pass on\n"
        "      # verification:\n"
        '      #   - "a sentence: recorded, but never counts as verified"\n'
        "      #   - {file_exists: dist/app.js}\n"
        "      #   - {stdout_contains: passed}\n"
    )


def settings(context: Context) -> list[ShownSetting]:
    """All settings, in the order of the reference."""
    return list(context.settings.listed())
