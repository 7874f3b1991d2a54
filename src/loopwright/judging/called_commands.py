"""Finds the commands behind a command: recipes of make, scripts of package.json, lines of shell scripts. Pure.

What a script in another language calls may be the product, so only shell scripts are followed.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from loopwright.judging.deciding_scripts import deciding_scripts
from loopwright.judging.syntax.shell_words import simple_commands
from loopwright.kernel.relative_folder import relative_folder

_NODE_PACKAGES = frozenset({"npm", "pnpm", "yarn", "bun"})
_MAKE = frozenset({"make", "gmake"})
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RULE = re.compile(r"([^\s:#=][^:#=]*):(?![:=])([^#;]*)(?:;(.*))?")
_VARIABLE = re.compile(r"(\w+)\s*[:?]?=\s*(.*)")
_USED = re.compile(r"\$[({](\w+)[)}]")
_SHELL_SCRIPTS = (".sh", ".bash")
_MOST_BYTES = 1 << 18
_DEEPEST = 5

Read = Callable[[str], bytes]
# The command and its working folder.
CommandIn = tuple[str, str]


def with_called(
    commands: Iterable[CommandIn], files: frozenset[str], read: Read, *, follows_scripts: bool = True
) -> Iterator[CommandIn]:
    """The commands, and the commands that they call through a file of the project."""
    ahead = [(command, relative_folder(cwd), 0) for command, cwd in commands]
    while ahead:
        command, cwd, depth = ahead.pop(0)
        yield command, cwd
        if depth < _DEEPEST:
            ahead += [(called, cwd, depth + 1) for called in _called(command, cwd, files, read, follows_scripts)]


def recipe_files(command: str, cwd: str, files: frozenset[str]) -> frozenset[str]:
    """The files from which make and npm take what this command runs."""
    programs = {(call.words[0].value or "").rpartition("/")[2] for call in simple_commands(command)}
    found = {_makefile(cwd, files)} if programs & _MAKE else set()
    found |= {posixpath.join(cwd, "package.json")} if programs & _NODE_PACKAGES else set()
    return frozenset(path for path in found if path is not None and path in files)


def _makefile(cwd: str, files: frozenset[str]) -> str | None:
    return next((path for known in _MAKEFILES if (path := posixpath.join(cwd, known)) in files), None)


def _called(command: str, cwd: str, files: frozenset[str], read: Read, follows_scripts: bool) -> Iterator[str]:
    for call in simple_commands(command):
        program, *arguments = [word.value or "$" for word in call.words]
        name = program.rpartition("/")[2]
        if name in _MAKE:
            targets = [word for word in arguments if not word.startswith("-") and "=" not in word]
            makefile = _makefile(cwd, files)
            yield from _recipes(_text(makefile, read), targets) if makefile is not None else ()
        elif name in _NODE_PACKAGES and arguments and (manifest := posixpath.join(cwd, "package.json")) in files:
            wanted = arguments[1:2] if arguments[0] in ("run", "run-script") else arguments[:1]
            yield from _package_scripts(_text(manifest, read), wanted)
    for script in deciding_scripts(command, cwd) if follows_scripts else ():
        if script in files and script.endswith(_SHELL_SCRIPTS):
            yield _text(script, read)


def _text(path: str, read: Read) -> str:
    data = read(path)
    return data.decode("utf-8", "replace") if len(data) <= _MOST_BYTES else ""


def _package_scripts(text: str, names: list[str]) -> Iterator[str]:
    try:
        scripts = json.loads(text)["scripts"]
    except (ValueError, KeyError, TypeError):
        return
    for name in (f"{prefix}{name}" for name in names for prefix in ("pre", "", "post")):
        script = scripts.get(name) if isinstance(scripts, dict) else None
        if isinstance(script, str):
            yield script


def _recipes(text: str, targets: list[str]) -> Iterator[str]:
    """The lines that make runs for these targets, else for the first one; variables of the file are filled in."""
    variables: dict[str, str] = {}
    rules: dict[str, tuple[list[str], list[str]]] = {}
    current: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for lines in current:
                lines.append(line.strip().lstrip("@-+"))
        elif (variable := _VARIABLE.fullmatch(line.strip())) is not None:
            variables[variable[1]] = variable[2]
        elif (rule := _RULE.fullmatch(line)) is not None:
            needs, inline = rule[2].split(), [rule[3]] if rule[3] else []
            made = [rules.setdefault(name, ([], [])) for name in rule[1].split()]
            for known, lines in made:
                known.extend(needs)
                lines.extend(inline)
            current = [lines for _, lines in made]
    ahead = targets or [name for name in rules if not name.startswith(".")][:1]
    done: set[str] = set()
    while ahead:
        name = ahead.pop(0)
        if name in done or name not in rules:
            continue
        done.add(name)
        needs, lines = rules[name]
        ahead = [*ahead, *needs]
        for recipe in lines:
            line = recipe.replace("$@", name).replace("$<", next(iter(needs), ""))
            yield _USED.sub(lambda used: variables.get(used[1], used[0]), line).replace("$$", "$")
