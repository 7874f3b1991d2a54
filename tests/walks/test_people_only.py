"""Only a person decides: every command, every option and every tool of an agent is listed here, or refuses.

A new command that decides nothing gets a place in `FREE`. Any other new command must refuse inside an agent.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil

import click
import pytest

from loopwright import mcp_server
from loopwright.cli.main import loopwright
from loopwright.mcp_server.workspace import offer_of
from loopwright.stages.person import AGENT_MARK
from loopwright.testing.project import Project
from loopwright.wiring.build import build_context

# Commands that decide nothing about work, and why.
FREE = {
    "they only read": (
        "status, next, verify, risk, explain, settings, specs list, specs show, context list, context show, "
        "prompts list, prompts show, loop list, loop show, loop watch, loop logs, loop diff, reflect list, "
        "reflect show, reflect export, completion, mcp, analyze git-history, analyze board-history, "
        "analyze calibration, analyze all, analyze gate, selftest"
    ),
    "they make claims or evidence, and every gate stays as it is": (
        "clarify, plan, build, review, run, rerun, specs verify, import, context add, context remove, loop new, "
        "loop start, loop turn, loop retry, loop task add, loop task generate, loop task import, loop task order"
    ),
    "they stop work": "loop pause, loop stop",
    "they keep the workspace in order": "init, doctor, gc, loop check, install, uninstall",
}
# Options of free commands that change only how they work. Any other option must refuse inside an agent.
HARMLESS = {
    "--json", "--project-root", "--sandbox-root", "--agent", "--reviewer", "--max-iterations", "--idea",
    "--profile", "--deliberate", "--no-deslop", "--detach", "--target", "--rationale", "--as", "--finished",
    "--dry-run", "--plan", "--mode", "--jobs", "--isolation", "--keep", "--replan-with", "--max-retries",
    "--watch", "--description", "--task", "--tag", "--priority", "--failure-file", "--wait", "--done", "--give-up",
    "--answer", "--report", "--revision", "--tool", "--before", "--count", "--layout", "--fix", "--scope",
    "--project", "--user", "--what", "--usd", "--tokens", "--wall", "--turns", "--retries", "--iterations",
    "--task-usd", "--task-tokens", "--task-wall", "--task-turns", "--task-iterations", "--task-retries",
}  # fmt: skip
DECIDING = {
    ("loop retry", "--max-iterations"), *(
        ("loop task add", f"--{name}") for name in ("usd", "tokens", "wall", "turns", "iterations", "retries")
    ),
}  # fmt: skip
VALUES = {
    "slug": "greet", "item": "A-1", "what": "VS-1", "origin": "clarify", "--from": "clarify", "--to": "plan",
    "task": "T-1", "name": "reviewer_change", "decision": "D-1", "--direct": "hello.py", "action": "develop",
    "--from-review": ".loopwright/workflows/greet/spec.md", "mode": "auto",
}  # fmt: skip
READERS = set(FREE["they only read"].split(", "))
NAMED = {name for names in FREE.values() for name in names.split(", ")}


def leaves(command, path=()):
    """Every command of the command line, by its full name."""
    context = click.Context(command)
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name in command.list_commands(context):
        yield from leaves(command.get_command(context, name), (*path, name))


COMMANDS = dict(leaves(loopwright))


def value(parameter, name):
    if name in VALUES:
        return VALUES[name]
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return str(next(iter(kind.choices)))
    return "1" if isinstance(kind, click.types.IntParamType | click.types.FloatParamType) else "x"


def line(name, loop_id, *extra):
    """A complete command line, with some option."""
    words = name.split()
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Argument):
            words.append(loop_id if parameter.name == "loop" else value(parameter, parameter.name))
        elif parameter.required or parameter.opts[0] in extra:
            is_flag = getattr(parameter, "is_flag", False)
            words += [parameter.opts[0]] if is_flag else [parameter.opts[0], value(parameter, parameter.opts[0])]
    return words


def option_cases():
    for name in sorted(NAMED - READERS):
        for parameter in COMMANDS[name].params:
            option = parameter.opts[0]
            if isinstance(parameter, click.Option) and ((name, option) in DECIDING or option not in HARMLESS):
                yield name, option


def test_the_table_names_commands_that_exist():
    assert COMMANDS.keys() >= NAMED
    assert sum(len(names.split(", ")) for names in FREE.values()) == len(NAMED), "each has one reason"
    options = {option for command in COMMANDS.values() for parameter in command.params for option in parameter.opts}
    assert options >= HARMLESS


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("people"), {"hello.py": "x = 1\n"})
    assert project.run("clarify", "greet", "--idea", "an idea").exit_code == 0
    made = project.run("loop", "new", "a goal", "--task", "one", "--agent", "bash", "--json").json()
    return project, made["loop_id"]


@pytest.mark.parametrize(
    ("name", "option"), [*((name, "") for name in sorted(COMMANDS.keys() - NAMED)), *option_cases()]
)
def test_what_decides_refuses_inside_an_agent(place, name, option):
    project, loop_id = place
    done = project.run(*line(name, loop_id, option), env={AGENT_MARK: "scripted:builder"}, stdin=b"an answer\n")
    assert (done.exit_code, "is for people only" in done.stderr) == (1, True), done.stdout + done.stderr


def test_no_tool_of_an_agent_decides(place):
    project, _ = place
    tools = offer_of(build_context(project.root, environment=project.environment)).tools
    assert not {tool.name.replace("_", " ") for tool in tools} & (COMMANDS.keys() - NAMED)
    for module in pkgutil.iter_modules(mcp_server.__path__, "loopwright.mcp_server."):
        source = inspect.getsource(importlib.import_module(module.name))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("loopwright.verbs", "loopwright.stages")
            ):
                there = importlib.import_module(node.module)
                for alias in node.names:
                    function = getattr(there, alias.name)
                    decides = inspect.isfunction(function) and "require_person" in inspect.getsource(function)
                    assert not decides, f"{module.name} imports {alias.name}"
