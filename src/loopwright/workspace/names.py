"""Loopwright's path names as plain text: the part of `Layout` that is cheap enough for the hook.

Uses little of the standard library. All other code uses `Layout`.
"""

from __future__ import annotations

import os

OWN_FOLDER = ".loopwright"
CONFIG = f"{OWN_FOLDER}/config.toml"
UNIFIED = "unified"
INTEROP = "interop"
THINKING = ".claude/state/thinking"
REFLECTLOOP = ".claude/state/reflectloop"
INTEROP_LATCH = ".claude/latch.lock"
INTEROP_LOOPS = ".loop"
INTEROP_REFLECTIONS = ".mosaic"
OPENSPEC = "openspec"
PROMPTS = "prompts"
# The name of a change whose documents are in the folder of its workflow.
IN_WORKFLOW = "."
# Workspaces of other tools, which `import` takes over.
FOREIGN = {"loopx": ".loopx", "ccw": ".workflow", "openspec": OPENSPEC}
STATE_FOLDERS = (OWN_FOLDER, ".claude/state", INTEROP_LOOPS, INTEROP_REFLECTIONS)
_TRACES = (
    f"{THINKING}/plan.latest.yaml",
    f"{THINKING}/blocker.latest.yaml",
    f"{REFLECTLOOP}/reflectloop.latest.yaml",
    f"{REFLECTLOOP}/runs",
    INTEROP_LOOPS,
)
OWN_RULES = (
    "# Made by loopwright: state that belongs to this machine, not to the project.\n"
    "*.latest.yaml\nlatch.lock\nlocks/\nturns/\nruns/\nruns.journal.ndjson*\n"
    "reflections/\nreflection-input.json\nanalysis/\nloops/\nworkflows/*/objects/\nworkflows/*/hidden/\n"
)


def project_above(start: str, home: str) -> str:
    """The project of a folder: the nearest workspace, else the top of its git repository, else the folder itself.

    The search ends at the top of the repository: a workspace above it belongs to another project. A home folder is
    never the project of a folder below it, even if it is a workspace or a repository of dotfiles.
    """
    folder = start
    while True:
        is_project = os.path.isdir(os.path.join(folder, OWN_FOLDER)) or _is_repository(folder)
        if is_project and (folder == start or folder != home):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def _is_repository(folder: str) -> bool:
    return _has_git(folder) or (_is_bare(folder) and not _has_git(os.path.dirname(folder)))


def _has_git(folder: str) -> bool:
    place = os.path.join(folder, ".git")
    # A worktree and a submodule have a file. An empty folder with that name is not a repository.
    return os.path.isfile(place) or os.path.lexists(os.path.join(place, "HEAD"))


def _is_bare(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects"))


def flavour_of(root: str, home: str) -> str:
    """The layout of a workspace without a config: interop if other tools' files exist and `.loopwright` does not."""
    if os.path.lexists(os.path.join(root, OWN_FOLDER)):
        return UNIFIED
    traces = [*(os.path.join(root, trace) for trace in _TRACES), os.path.join(home, INTEROP_LATCH)]
    return INTEROP if any(os.path.exists(trace) for trace in traces) else UNIFIED


def reflection_home(flavour: str) -> str:
    """The folder, below the root, that holds `reflections/` and `reflection-input.json`."""
    return INTEROP_REFLECTIONS if flavour == INTEROP else OWN_FOLDER


def config_text(flavour: str) -> str:
    """The config that the first write to a workspace records."""
    return f'[workspace]\nlayout = "{flavour}"\n'


def make_own_folder(root: str, flavour: str) -> bool:
    """Create the folder with config and ignore rules; False if the folder exists."""
    own = os.path.join(root, OWN_FOLDER)
    if os.path.lexists(own):
        return False
    temporary = f"{own}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
    config = os.path.basename(CONFIG)
    files = {config: config_text(flavour), ".gitignore": OWN_RULES}
    os.makedirs(temporary)
    try:
        for name, text in files.items():
            with open(os.path.join(temporary, name), "xb") as stream:
                stream.write(text.encode())
        # The ignore rules can be written again after a power cut. The chosen layout can't, so it is synced.
        for path in (os.path.join(temporary, config), temporary):
            _sync(path)
        os.rename(temporary, own)
    except OSError:
        for name in files:
            if os.path.lexists(os.path.join(temporary, name)):
                os.unlink(os.path.join(temporary, name))
        os.rmdir(temporary)
        if not os.path.lexists(own):
            raise
        return False  # another process was faster
    return True


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
