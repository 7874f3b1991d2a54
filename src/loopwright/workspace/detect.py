"""Detects from a project's files what it needs in a sandbox. `init` writes the result, and people can correct it."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec


class Detected(msgspec.Struct, frozen=True):
    """Folders to provide, setup commands, and the test command."""

    provide: tuple[str, ...]
    setup: tuple[str, ...]
    test_command: str


# Tests that unittest does not find: functions at the top of a module, and what pytest offers.
_NEEDS_PYTEST = re.compile(rb"^(?:async )?def test|^(?:import|from) pytest\b", re.MULTILINE)
_NOT_SEARCHED = frozenset(["node_modules", "venv", "env", "build", "dist", "site-packages"])
_MOST_TESTS, _MOST_READ = 200, 1 << 18
_PROVIDED = ("node_modules", ".venv", "venv", "vendor/bundle", ".tox")


def detect(project: Path) -> Detected:
    """Detect the settings from the project's top folder."""
    provide = tuple(name for name in _PROVIDED if (project / name).is_dir())
    return Detected(provide, _setup(project, provide), _test_command(project, provide))


def _setup(project: Path, provide: tuple[str, ...]) -> tuple[str, ...]:
    if (project / "package-lock.json").is_file() and "node_modules" not in provide:
        return ("npm ci",)
    if (project / "pnpm-lock.yaml").is_file() and "node_modules" not in provide:
        return ("pnpm install --frozen-lockfile",)
    return ()


def _test_command(project: Path, provide: tuple[str, ...]) -> str:
    script = _npm_test(project)
    if script:
        return script
    if _is_python(project):
        for venv in (".venv", "venv"):
            if venv in provide and (project / venv / "bin" / "pytest").exists():
                return f"{venv}/bin/python -m pytest -q"
        # Many systems have python3 and no python.
        python = "python" if shutil.which("python") else "python3"
        tests = _python_tests(project)
        if _uses_pytest(project) or any(map(_NEEDS_PYTEST.search, tests)):
            return f"{python} -m pytest -q"
        if tests:
            # unittest searches packages only.
            folder = next((name for name in ("tests", "test") if (project / name).is_dir()), "")
            is_package = not folder or (project / folder / "__init__.py").exists()
            return f"{python} -m unittest" + ("" if is_package else f" discover -s {folder}")
    by_file = {
        "Cargo.toml": "cargo test",
        "go.mod": "go test ./...",
        "pom.xml": "mvn -q test",
        "build.gradle": "gradle test",
        "Gemfile": "bundle exec rake test",
        "mix.exs": "mix test",
    }
    for name, command in by_file.items():
        if (project / name).is_file():
            return command
    return "make test" if _has_make_target(project, "test") else ""


def _npm_test(project: Path) -> str:
    try:
        package = json.loads((project / "package.json").read_text(encoding="utf-8"))
        script = package["scripts"]["test"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if not isinstance(script, str) or "no test specified" in script:
        return ""
    return "pnpm test" if (project / "pnpm-lock.yaml").exists() else "npm test"


def _is_python(project: Path) -> bool:
    return any((project / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"))


def _uses_pytest(project: Path) -> bool:
    for name in (
        "pyproject.toml",
        "setup.cfg",
        "requirements.txt",
        "requirements-dev.txt",
        "tox.ini",
        "pytest.ini",
    ):
        try:
            if "pytest" in (project / name).read_text(encoding="utf-8"):
                return True
        except (OSError, UnicodeDecodeError):
            continue
    return (project / "conftest.py").is_file() or (project / "tests" / "conftest.py").is_file()


def _python_tests(project: Path) -> list[bytes]:
    """The contents of the project's files of tests, by the names that the usual runners look for."""
    found: list[bytes] = []
    for folder, below, files in os.walk(project):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in _NOT_SEARCHED)
        for name in sorted(files):
            if name.endswith(".py") and (name.startswith("test") or name.endswith(("_test.py", "_tests.py"))):
                with suppress(OSError), (Path(folder) / name).open("rb") as source:
                    found.append(source.read(_MOST_READ))
            if len(found) == _MOST_TESTS:
                return found
    return found


def _has_make_target(project: Path, target: str) -> bool:
    try:
        lines = (project / "Makefile").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.startswith(f"{target}:") for line in lines)
