"""What an isolated process may see of the machine: programs, but no home folders and no credentials.

Home folders are hidden completely; only the tool folders on PATH are visible.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# Root can read these without capabilities, and no build needs them.
_CREDENTIAL_FILES = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/krb5.keytab")
_SSH = Path("/etc/ssh")
_CREDENTIAL_FOLDERS = ("/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/var/lib/docker", "/var/spool/cron")
_HOME_ROOTS = ("/root", "/home", "/Users")
# Name resolution reads these; the rest of /run holds sockets of privileged programs.
_RUN_KEPT = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
)
_SECRETS_IN_TOOLS = (".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml")
# Folders in a home that hold a whole toolchain, which programs on PATH need.
_TOOLCHAINS = frozenset({
    ".pyenv", ".cargo", ".rustup", ".nvm", ".asdf", ".rbenv", ".nodenv", ".goenv", ".jenv", ".sdkman", ".volta", ".bun",
    ".deno", ".juliaup", ".julia", ".ghcup", ".cabal", ".stack", ".opam", ".elan", ".swiftly", ".dotnet", "go",
})  # fmt: skip
# In these folders of a home only the named parts are tools; the rest may be anything.
_SHARED_PARENTS = {".local": ("bin", "lib", "share/uv", "share/pipx", "share/mise", "share/pnpm", "share/virtualenvs")}


def hidden_homes(home: Path) -> tuple[Path, ...]:
    """Every folder that contains home folders, and this user's home folder."""
    roots = [Path(root) for root in _HOME_ROOTS if Path(root).is_dir()]
    if home.is_dir() and str(home) != "/" and not any(root == home or root in home.parents for root in roots):
        roots.append(home)
    return tuple(roots)


def credential_files() -> tuple[Path, ...]:
    """Credential files to hide."""
    return tuple(Path(name) for name in _CREDENTIAL_FILES if Path(name).is_file())


def credential_folders() -> tuple[Path, ...]:
    """Credential folders to hide."""
    folders = [Path(name) for name in _CREDENTIAL_FOLDERS if Path(name).is_dir()]
    # Without host keys the ssh settings need no hiding.
    return tuple(folder for folder in folders if folder != _SSH or any(folder.glob("ssh_host_*_key")))


def visible_in_run() -> tuple[Path, ...]:
    """The paths below /run that stay visible."""
    return tuple(Path(name) for name in _RUN_KEPT if Path(name).exists())


def tool_folders(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Folders in the home with programs on PATH."""
    tools: dict[Path, None] = {}
    for entry in environment.get("PATH", "").split(os.pathsep):
        folder = Path(entry)
        for candidate in (folder, _real(folder)):
            for tool in _tools_of(home, candidate):
                tools[tool] = None
    return tuple(folder for folder in tools if folder.is_dir())


def secrets_in_tools(home: Path) -> tuple[Path, ...]:
    """Credential files inside tool folders."""
    return tuple(home / name for name in _SECRETS_IN_TOOLS if (home / name).is_file())


def _tools_of(home: Path, folder: Path) -> list[Path]:
    if not folder.is_absolute() or home not in folder.parents:
        return []
    parts = folder.relative_to(home).parts
    if parts[0] in _SHARED_PARENTS:
        return [home / parts[0] / name for name in _SHARED_PARENTS[parts[0]]]
    if parts[0] in _TOOLCHAINS:
        return [home / parts[0]]
    # Any other folder may hold credentials next to its programs: show only the folder on PATH.
    return [folder.parent if (folder.parent / "pyvenv.cfg").is_file() else folder]


def _real(folder: Path) -> Path:
    try:
        return folder.resolve()
    except OSError:
        return folder
