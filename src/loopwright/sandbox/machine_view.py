"""What an isolated process may see of the machine: programs, but no home folders and no credentials.

Home folders are hidden completely; only the tool folders on PATH, and the Python of a provided virtual environment,
are visible.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

# Root can read these without capabilities, and no build needs them.
_CREDENTIAL_FILES = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/krb5.keytab")
_SSH = Path("/etc/ssh")
_CREDENTIAL_FOLDERS = ("/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/var/lib/docker", "/var/spool/cron")
_LISTS_OF_KEYS = ("/proc/keys", "/proc/key-users")
_HOME_ROOTS = ("/root", "/home", "/Users")
# Name resolution reads these; the rest of /run holds sockets of privileged programs.
_RUN_KEPT = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
)
_SECRETS_IN_TOOLS = (".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml")
_SESSION_FOLDERS = ("XDG_RUNTIME_DIR", "TMUX_TMPDIR", "SCREENDIR", "TMPDIR")
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


def lists_of_keys() -> tuple[Path, ...]:
    """Files of the kernel with the names of the person's keys."""
    return tuple(Path(name) for name in _LISTS_OF_KEYS if Path(name).is_file())


def visible_in_run() -> tuple[Path, ...]:
    """The paths below /run that stay visible."""
    return tuple(Path(name) for name in _RUN_KEPT if Path(name).exists())


def session_folders(caller: Mapping[str, str]) -> tuple[Path, ...]:
    """Folders in which programs of the person's session create their sockets and temporary files."""
    named = (Path(value) for name in _SESSION_FOLDERS if (value := caller.get(name, "")))
    return tuple(path for path in named if path.is_absolute() and len(path.parts) > 1 and path.is_dir())


def local_sockets() -> tuple[Path, ...]:
    """Every local socket with a path that a process of this machine has opened, and that this user can find.

    A socket of another network namespace, such as a container engine's, is listed nowhere. It is known by its mount.
    """
    rows = [row for line in _lines("/proc/net/unix")[1:] if len(row := line.split(None, 7)) == 8]
    named = {Path(os.fsdecode(row[7])) for row in rows if row[7].startswith(b"/")}
    named |= _relative({row[6]: row[7] for row in rows if not row[7].startswith((b"/", b"@"))})
    named |= {Path(_unescaped(line.split()[4])) for line in _lines("/proc/self/mountinfo")}
    return tuple(sorted(path for path in named if _is_socket(path)))


def _lines(name: str) -> list[bytes]:
    try:
        return Path(name).read_bytes().splitlines()
    except OSError:
        return []


def _unescaped(name: bytes) -> str:
    return os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), name))


def _relative(names: Mapping[bytes, bytes]) -> set[Path]:
    """Where sockets are whose programs named them by a relative path. They are rare, and the search is slow."""
    found: set[Path] = set()
    for process in Path("/proc").glob("[0-9]*") if names else ():
        with suppress(OSError):
            links = [str(file.readlink()) for file in (process / "fd").iterdir()]
            own = {link.removeprefix("socket:[").removesuffix("]").encode() for link in links}
            folder = (process / "cwd").readlink()
            found |= {folder / os.fsdecode(names[number]) for number in own & names.keys()}
    return found


def _is_socket(path: Path) -> bool:
    try:
        return path.is_socket()
    except OSError:
        return False


def tool_folders(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Folders in the home with programs on PATH."""
    tools: dict[Path, None] = {}
    for entry in environment.get("PATH", "").split(os.pathsep):
        folder = Path(entry)
        for candidate in (folder, _real(folder)):
            for tool in _tools_of(home, candidate):
                tools[tool] = None
    return tuple(folder for folder in tools if folder.is_dir())


def interpreter_folders(home: Path, provided: Iterable[Path]) -> tuple[Path, ...]:
    """Folders in the home with the Python that a provided virtual environment links to."""
    found: dict[Path, None] = {}
    for environment in provided:
        python = environment / "bin" / "python"
        if not (environment / "pyvenv.cfg").is_file() or not python.exists():
            continue
        folder = _real(python).parent
        # Only the parts of a Python installation: another folder with a program of that name shows nothing.
        libraries = {file.parent for file in folder.parent.glob("lib/python3*/os.py")}
        if libraries and home in folder.parents:
            parts = folder.relative_to(home).parts
            known = parts[0] in _TOOLCHAINS or parts[0] in _SHARED_PARENTS
            shown = _tools_of(home, folder) if known else [folder, folder.parent / "lib"]
            found |= dict.fromkeys(shown)
    return tuple(folder for folder in found if folder.is_dir())


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
