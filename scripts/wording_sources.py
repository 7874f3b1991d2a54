"""Finds every message that a person may read: in the source's strings, the blockers' table and click's commands.

A message is an f-string or a literal with words; `{slug}` marks a fact that the source fills in. Other strings
(prompts for agents, patterns, names of fields) are left out by package or definition, each with a reason.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import click
from not_messages import NOT_MESSAGES

from loopwright.cli.lazy import LazyCommands
from loopwright.cli.main import loopwright
from loopwright.wording.templates import is_template, translate_page
from loopwright.workflow.blockers import Family

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "loopwright"
# Packages whose strings are not messages for people. Never a single file: code that moves into the file would lose its
# messages without notice.
PACKAGES_LEFT_OUT = {
    "testing/": "the test kit is for developers",
    "redaction/providers/": "rules for secrets: product names, shown by `explain secrets` in English",
    "judging/defined_tests/": "normalized code of tests: it is compared, never shown",
    "judging/lock_files/": "patterns, and parts that are not understood: these are never shown",
    "mcp_server/": "text for agents; its --help pages are read with the others",
}
# Definitions whose strings are not messages for people, by file.
DEFINITIONS_LEFT_OUT = {
    "redaction/seed_rules.py": ("as in redaction/providers", "SEED_RULES"),
    "reflection/default_rules.py": (
        "risk rules are data with ids, shown by `explain risk` in English",
        (
            "CODE _RIGHTS _AUTH _MONEY _DATA _INFRA _BUILD _UI _TEST _DOCS _STEERING _SECRETS _PLAY _NATURE _PAGE"
            " _INERT _DECOR DEFAULT"
        ),
    ),
    "reflection/rule_sets.py": ("the same", "CLASSIC"),
    "analysis/preregistered.py": (
        "pre-registered texts must not change in any language",
        "CatchingGate MEANINGS Heuristics TaskFiles KILL REASONS",
    ),
    "analysis/plots.py": ("figures are for papers", "draw _heading _calibration _reliability _areas"),
    "analysis/markdown.py": (
        "reports on experiments are quoted in English",
        """
        NOT_ENOUGH malformed_lines _SCORES calibration_lines _series _lift _interval _TITLES kill_line _verdict
        _history _gates _failures _board _footer
        """,
    ),
    "workflow/blockers.py": ("messages come from its table", "Family"),
    "cli/main.py": (
        "messages come from the --help pages; a report of a bug must not need the catalogue",
        "COMMANDS _report_plainly",
    ),
    "wording/catalogue.py": ("a mark in the catalogue", "BY_TEMPLATE"),
    "sandbox/landlock_launcher.py": ("runs without a catalogue", "main"),
    "sandbox/copy_worker.py": ("the same", "copy_file"),
    "sandbox/probe.py": ("programs in other languages", "_ATTEMPTS _ATTEMPT_ALONE"),
    "judging/controls/watched_values.py": ("code", "_load_recorder"),
    "judging/controls/javascript_probes.py": ("code", "JavaScriptProbes"),
    "judging/controls/go_probes.py": ("code", "GoProbes"),
    "workspace/names.py": ("content of files", "OWN_RULES config_text"),
    "workspace/detect.py": ("commands of test runners", "_setup _test_command _npm_test"),
    "kernel/git_index.py": ("never shown", "_rewrite"),
    "verbs/agent_reports.py": ("text for agents", "note_progress request_decision _checked_text _loop_of"),
    "stages/agent_context.py": ("the same", "context_rows read_row"),
    "stages/trying.py": ("the same", "try_checks"),
    "install/part_files.py": ("edits texts for agents", "skill_text"),
    "runner/network/model_proxy.py": (
        "text for programs and for the records of turns",
        "refuse _read _route first_bytes _MORE ModelProxy",
    ),
    "runner/network/request.py": (
        "the same",
        "PlainRequest read_request _tunnel _address read_server_name _read_hello _length_of _extensions _Fields",
    ),
}
_BY_TEMPLATE = " (by template)"
# Click's own texts: on a --help page, and in usage errors. Some differ between its versions.
HEADINGS = ("Usage:", "Options", "Commands", "default: ", "required")
CLICK = (
    "No such option: {name}", "No such option {name}.", "No such command {name}.",
    "No such option {name}. Did you mean {other}?", "No such option {name}. (Did you mean one of: {others}?)",
    "No such option: {name} Did you mean {other}?", "No such option: {name} (Possible options: {others})",
    "Missing argument {name}.", "Missing option {name}.", "Missing parameter: {name}", "Missing command.",
    "Invalid value: {message}", "Invalid value for {name}: {message}", "Got unexpected extra argument ({names})",
    "Got unexpected extra arguments ({names})", "Option {name} requires an argument.",
    "Option {name} does not take a value.", "{value} is not one of {choices}.", "{value} is not a valid integer.",
    "{value} is not in the range {range}.", "{value} is not a valid {kind}.",
    "No such command {name}. Did you mean {other}?", "No such command {name}. (Did you mean one of: {others}?)",
    "{what} {path} does not exist.", "{what} {path} is a directory.", "{what} {path} is a file.",
)  # fmt: skip
# Words that are filled into messages as facts, and names that are keys in the source.
WORDS = (
    "missing", "empty", "none", "incomplete", "unreadable", "nothing", "unknown", "passed", "failed",
    "declared", "skipped", "cancelled", "not_run", "File",
    "US dollars", "tokens", "open questions", "the agent's own estimate", "the review sent the spec back",
    "answers that the agent has not judged",
    "Directory",
)  # fmt: skip
# Functions whose strings are not messages: patterns, keys, prompts, formats that are parsed.
_NO_MESSAGES_IN = {
    "compile", "getLogger", "encode", "option", "setting_option", "argument", "command", "command_with_examples",
    "group", "version_option", "Literal", "require_person",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z][a-z']+")
_COMMAND = re.compile(r"^[^`]*(?:\bloopwright [a-z]+|\bgit (?:diff|init)\b)")
_DATA = re.compile(
    r"^(?:--format|new_plan|raise |if __name__|envelope|# Settings|dict\[)|\t\w+ = |^\| step|^- A-1|ref: refs"
)
_CODE = re.compile(r"`[^`]*`|\{[^}]*\}|--[a-z-]+")


@cache
def sentences() -> dict[str, list[str]]:
    """Every template with its places in the source, in the order of the source."""
    places_by_template: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(tuple(PACKAGES_LEFT_OUT)):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            _, left_out = DEFINITIONS_LEFT_OUT.get(name, ("", ""))
            tree.body = [node for node in tree.body if not _defined(node) & set(left_out.split())]
            for template, is_named in _of_module(tree):
                if template not in NOT_MESSAGES:
                    place = f"{name}{_BY_TEMPLATE}" if is_named else name
                    places_by_template.setdefault(template, []).append(place)
    for kind, templates in (("click", CLICK), ("words", WORDS), (f"click{_BY_TEMPLATE}", HEADINGS)):
        for template in templates:
            places_by_template.setdefault(template, []).append(kind)
    for name, text in _of_help():
        places_by_template.setdefault(text, []).append(f"{name}{_BY_TEMPLATE}")
    for family in Family:
        for template in (family.message, family.next):
            if is_prose(template):
                places_by_template.setdefault(template, []).append(f"workflow/blockers.py ({family.code})")
    return places_by_template


def stale_exclusions() -> list[str]:
    """Left-out packages and definitions that the source does not have: the code moved, and so may its messages."""
    stale = [package for package in PACKAGES_LEFT_OUT if not (SOURCE / package).is_dir()]
    for name, (_, left_out) in DEFINITIONS_LEFT_OUT.items():
        path = SOURCE / name
        tree = ast.parse(path.read_text(encoding="utf-8") if path.exists() else "")
        defined = set[str]().union(*map(_defined, tree.body))
        stale += [f"{name}: {definition}" for definition in left_out.split() if definition not in defined]
    return stale


def _defined(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {_name(target) for target in targets}
        case ast.AnnAssign(target=target):
            return {_name(target)}
        case _:
            return set()


def is_by_template(places: list[str]) -> bool:
    """Whether the message is always looked up by template, never by text."""
    return all(place.endswith(_BY_TEMPLATE) for place in places)


def _of_help() -> Iterator[tuple[str, str]]:
    """The --help texts of every command, as click passes them to its formatter."""
    context = click.Context(loopwright, info_name="loopwright")
    waiting: list[tuple[click.Command, click.Context]] = [(loopwright, context)]
    for command, inner in waiting:
        where = f"--help of {inner.command_path}"
        texts = [
            command.help,
            command.short_help,
            command.epilog,
            *(getattr(parameter, "help", None) for parameter in command.get_params(inner)),
        ]
        for text in filter(None, texts):
            yield from ((where, piece) for piece in _pieces(text) if _WORD.search(piece) and not _COMMAND.search(piece))
        if isinstance(command, LazyCommands):
            yield from ((where, text) for _, text in command.table.values())
        if isinstance(command, click.Group):
            for name in command.list_commands(inner):
                below = command.get_command(inner, name)
                assert below is not None
                waiting.append((below, click.Context(below, parent=inner, info_name=name)))


def _pieces(page: str) -> list[str]:
    pieces: list[str] = []

    def take(piece: str) -> str:
        pieces.append(piece)
        return piece

    translate_page(inspect.cleandoc(page).partition("\f")[0], take)
    return pieces


def is_prose(text: str) -> bool:
    """Whether the text has words for a person: at least two that are not part of a command."""
    bare = _CODE.sub(" ", text)
    if bare.strip().startswith("loopwright ") and " or " not in bare and "; " not in bare:
        return False
    words = _WORD.findall(bare)
    least = 1 if "{" in text else 2
    if "://" in text or _DATA.search(text) or all(word[0].isupper() for word in words):
        return False
    return len(words) >= least and " " in text.strip()


def _of_module(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Each template, and whether the source looks it up by template."""
    inside = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr) and not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if _is_message(node, inside):
            above = inside.get(node)
            if isinstance(above, ast.Call) and _name(above.func) == "message" and above.args[:1] == [node]:
                yield str(node.value), True
                continue
            # Indentation is not part of a message. A single leading space is, because it continues another message.
            templates = (text.lstrip(" ") if text.startswith("  ") else text for text in _templates(node))
            yield from ((template, False) for template in templates if is_prose(template))


def _is_message(node: ast.AST, inside: dict[ast.AST, ast.AST]) -> bool:
    """Whether the string is a message for a person, judged by its place in the source."""
    above = inside.get(node)
    if isinstance(above, ast.Expr | ast.JoinedStr | ast.FormattedValue | ast.Subscript | ast.Compare | ast.MatchValue):
        return isinstance(above, ast.FormattedValue)
    if isinstance(above, ast.Dict) and node in above.keys:
        return False
    while above is not None:
        if isinstance(above, ast.Call) and _name(above.func) in _NO_MESSAGES_IN:
            return False
        if isinstance(above, ast.Assign) and any(_is_left_out(_name(target)) for target in above.targets):
            return False
        if isinstance(above, ast.FunctionDef) and node in above.decorator_list:
            return False
        above = inside.get(above)
    return True


_NOT_NAMED = {"_EPILOG", "_REPAIR", "_PROMPT", "__all__", "COMMANDS"}


def _templates(node: ast.expr) -> Iterator[str]:
    """The string as a template; a choice between two literals gives two templates."""
    if isinstance(node, ast.Constant):
        text = str(node.value)  # names in braces are filled in elsewhere; other braces are literal
        yield text if is_template(text) else text.replace("{", "{{").replace("}", "}}")
        return
    assert isinstance(node, ast.JoinedStr)
    taken: dict[str, int] = {}
    parts: list[list[str]] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append([str(part.value).replace("{", "{{").replace("}", "}}")])
        elif isinstance(part, ast.FormattedValue):
            literal = _choices(part.value)
            parts.append(literal or [f"{{{_unique(_fact(part.value), taken)}}}"])
    yield from ("".join(chosen) for chosen in product(*parts))


def _choices(value: ast.expr) -> list[str] | None:
    if isinstance(value, ast.IfExp):
        branches = [value.body, value.orelse]
        if all(isinstance(branch, ast.Constant) and isinstance(branch.value, str) for branch in branches):
            return [str(branch.value) for branch in branches if isinstance(branch, ast.Constant)]
    return None


def _fact(value: ast.expr) -> str:
    """A name for a fact: the name of the variable, the attribute or the function."""
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower() or "fact"
        case ast.Call(func=ast.Name(id="len"), args=[counted]):
            return f"{_fact(counted)}_count"
        case ast.Call(func=ast.Attribute(attr="join"), args=[items]):
            return "items" if isinstance(items, ast.GeneratorExp | ast.ListComp) else _fact(items)
        case ast.Call(args=[only]) if not isinstance(only, ast.Constant):
            return _fact(only)
        case ast.Call(func=ast.Attribute(value=owner)):
            return _fact(owner)
        case ast.Call(func=called):
            return _fact(called)
        case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
            return _fact(inner)
        case ast.BoolOp(values=[first, *_]) | ast.BinOp(left=first) | ast.IfExp(body=first):
            return _fact(first)
        case _:
            return "fact"


def _unique(name: str, taken: dict[str, int]) -> str:
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}_{taken[name]}"


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_left_out(name: str) -> bool:
    """Whether the constant's strings are read elsewhere, as --help pages or by agents."""
    return name in _NOT_NAMED or name.endswith("_EXAMPLES")
