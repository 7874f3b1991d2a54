"""What of the machine a confined process may see: programs yes, people's homes and credentials no.

An allow-list where it matters: homes are hidden whole, and only the tool folders on PATH come back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# Read by root without any capability, and of no use to a build.
_CREDENTIAL_FILES = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/krb5.keytab")
_SSH = Path("/etc/ssh")
_CREDENTIAL_FOLDERS = ("/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/var/lib/docker", "/var/spool/cron")
_HOME_ROOTS = ("/root", "/home", "/Users")
# Name services are told here where they are; the rest of /run holds sockets of privileged programs.
_RUN_KEPT = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
)
_SECRETS_IN_TOOLS = (".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml")
# Folders of a home that hold a whole toolchain, which programs on PATH need around them.
_TOOLCHAINS = frozenset({
    ".pyenv", ".cargo", ".rustup", ".nvm", ".asdf", ".rbenv", ".nodenv", ".goenv", ".jenv", ".sdkman", ".volta", ".bun",
    ".deno", ".juliaup", ".julia", ".ghcup", ".cabal", ".stack", ".opam", ".elan", ".swiftly", ".dotnet", "go",
})  # fmt: skip
# In these folders of a home only what is named is a tool; the rest may be anything.
_SHARED_PARENTS = {".local": ("bin", "lib", "share/uv", "share/pipx", "share/mise", "share/pnpm", "share/virtualenvs")}


def hidden_homes(home: Path) -> tuple[Path, ...]:
    """Every folder that holds homes, and this user's own wherever it is."""
    roots = [Path(root) for root in _HOME_ROOTS if Path(root).is_dir()]
    if home.is_dir() and str(home) != "/" and not any(root == home or root in home.parents for root in roots):
        roots.append(home)
    return tuple(roots)


def credential_files() -> tuple[Path, ...]:
    """Files that are covered."""
    return tuple(Path(name) for name in _CREDENTIAL_FILES if Path(name).is_file())


def credential_folders() -> tuple[Path, ...]:
    """Folders that are covered."""
    folders = [Path(name) for name in _CREDENTIAL_FOLDERS if Path(name).is_dir()]
    # Without host keys there is nothing to hide among the settings of ssh.
    return tuple(folder for folder in folders if folder != _SSH or any(folder.glob("ssh_host_*_key")))


def kept_of_run() -> tuple[Path, ...]:
    """What stays visible below /run."""
    return tuple(Path(name) for name in _RUN_KEPT if Path(name).exists())


def tool_folders(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Folders of the home that hold programs on PATH, and the interpreter that runs us."""
    wanted: dict[Path, None] = {}
    for entry in environment.get("PATH", "").split(os.pathsep):
        folder = Path(entry)
        for place in (folder, _real(folder)):
            for found in _tools_of(home, place):
                wanted[found] = None
    return tuple(folder for folder in wanted if folder.is_dir())


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
    # Anything else may hold credentials beside its programs: only the folder that PATH names.
    return [folder.parent if (folder.parent / "pyvenv.cfg").is_file() else folder]


def _real(folder: Path) -> Path:
    try:
        return folder.resolve()
    except OSError:
        return folder
