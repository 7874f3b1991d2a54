"""What the tests with the real agents show, per item: counted from the `shows` marks of the tests.

Also a pytest plugin: it runs in the process that collects the tests, and writes the marks to a file. As a program it
compares the counts with the last test run, so that the table claims only what passed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_OUT = "AGENTS_MATRIX"
# Written by tests/conftest.py at the end of the tests.
PASSED = ROOT / ".cache" / "shown.json"
# What the tests show for each agent, as in the table.
ITEMS = {
    "file": "a turn writes a file with a tool call, and ends",
    "structured answer": "an answer has the required shape",
    "session": "a session is resumed, and paid for once",
    "cost": "usage is counted and priced",
    "confinement": "the program reaches its model, and nothing else of the user",
    "401": "status 401 is `not_logged_in`",
    "429": "status 429 is `rate_limited`, with the end of the limit",
    "500": "status 500 is `crashed`",
    "cut": "a cut connection is `crashed`",
    "hang": "a model that does not answer is `hung`",
    "pause": "a turn continues after a pause cut it off",
    "kill": "a turn continues after `kill -9`",
    "skills": "the program finds and reads skills and instructions from `install`",
    "hook": "hooks from `install` run, with the real payload of the program",
    "gate": "the stop gate keeps the program working once in a build, then lets it stop",
    "MCP tool": "the program calls tools of the Loopwright MCP server",
    "whole build": "the program plans and builds the sample project",
    "lies": "the program tells lies of the [bench](../lies.md), and none passes",
}
_NO_HOOKS = "has no hooks"
# Items without tests, and the reason. Lies test the gates, which do not depend on the agent.
NOT_SHOWN = {
    ("opencode", "hook"): _NO_HOOKS,
    ("opencode", "gate"): _NO_HOOKS,
    ("gemini", "lies"): "not played",
    ("opencode", "lies"): "not played",
}


def shown() -> dict[tuple[str, str], int]:
    """How many tests show each item of each agent."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "marks.json"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "agents_matrix", "tests/real_agents"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), _OUT: str(out), "NO_SKIPS": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"tests/real_agents can't be collected:\n{done.stdout}{done.stderr}")
        marks: list[list[str]] = json.loads(out.read_bytes())
    return dict(Counter((agent, item) for agent, item in marks))


def pytest_collection_finish(session: Any) -> None:
    """Write the agent and the items of each marked test."""
    marks = [
        (test.callspec.params["agent"], item)
        for test in session.items
        for mark in test.iter_markers("shows")
        for item in mark.args
    ]
    Path(os.environ[_OUT]).write_text(json.dumps(marks), encoding="utf-8")


def table(agents: tuple[str, ...], counted: Mapping[tuple[str, str], int]) -> list[str]:
    """The table as Markdown: the number of tests, or the reason why there is none."""
    lines = ["| | " + " | ".join(f"`{agent}`" for agent in agents) + " |", "|---" * (len(agents) + 1) + "|"]
    for item, text in ITEMS.items():
        cells = [str(counted.get((agent, item), NOT_SHOWN.get((agent, item), "**none**"))) for agent in agents]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return lines


def not_passed(counted: Mapping[tuple[str, str], int], passed: Path) -> list[str]:
    """The items of the table for which not all tests passed in the last run."""
    try:
        shown_items: list[list[str]] = json.loads(passed.read_bytes())
    except OSError:
        return ["no test run is recorded; run: make test-agents"]
    held = Counter((agent, item) for agent, item in shown_items)
    return [
        f"{agent}: {ITEMS.get(item, item)}: {held[agent, item]} of {number} tests passed"
        for (agent, item), number in sorted(counted.items())
        if held[agent, item] != number
    ]


if __name__ == "__main__":
    problems = not_passed(shown(), PASSED)
    print("\n".join(problems) or "agents: all counted tests passed")
    sys.exit(1 if problems else 0)
