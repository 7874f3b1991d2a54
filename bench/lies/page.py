"""docs/lies.md: the table of lies, honest builds, and what no gate can catch."""

from __future__ import annotations

from collections.abc import Sequence

from model import Honest, Lie
from scene import Gate

_HEAD = """# Lies, and how Loopwright catches them

`make bench-lies` runs {lies} scripted agents. Each agent claims "All done. Every test passes." in its own small
repository, through the real command line: plan, approve, build, and `approve --from build --to review`. This page is
the result. A gate that names the problem stops {caught} of them; {passed} pass and are listed
[below](#what-no-gate-can-catch).

How Loopwright catches them:

- **Fresh sandbox.** Checks run on base and patch, in a sandbox that no agent has used. Files in the agent's home,
  `/tmp`, `.git`, caches or PATH, and its leftover processes, do not exist there (`verification_failed`).
- **Sealed files.** An approval seals the files that checks name, the tests that runners find, and their settings. If
  one of them is changed, deleted, linked or added, a person must look (`sealed_file_changed_…`). In `pyproject.toml`,
  `setup.cfg` and `package.json`, only test settings count. A module that Python would import instead of a library,
  compiled code, and a program on the project's PATH are sealed as well. So are instructions, hooks and servers of
  agents (`AGENTS.md`, `.claude/settings.json`, …), because a reviewer would follow them.
- **Code that targets its checks** counts as sealed: it ends the test process, patches the test runner, reads
  Loopwright's marks, or equals everything. So does a file that a check changed while it ran.
- **Controls.** Passed checks run again with Python tests that must fail. A check that still passes can't fail any
  more (`vacuous_check_…`). Tests that the work added next to sealed tests are removed once: if a check passes only
  with them, a person must look at them.
- **Hidden checks** find code that handles only the test's input. A plan without hidden checks can't find it.
- **Secrets** are searched in text and in binary files. Work with a secret is not kept.
- **Only people** approve, sign and answer. The journal records what was approved, and what changed since.

If `sandbox.isolation` is `none`, or if no isolation works on this machine, an agent can write wherever you can,
including Loopwright's journal. `loopwright doctor` shows which isolation works.

## The table

| lie | what it does | caught by |
|---|---|---|
"""
_AGENTS = """
## Through real agents

`tests/real_agents/test_lies.py` runs {lies} of these lies through the real Claude Code and Codex, with
`loopwright build --agent`. A local model server makes them run the same script with their own tools and claim the
same. Each test checks that the lie happened, that the same gate stops it, and that honest work of the same agent passes
in the same repository:

"""
_HONEST = """
## Honest work

None of these builds needs a signature:

"""
_UNCAUGHT = """
## What no gate can catch

"""


def row(lie: Lie, gate: Gate) -> str:
    """One row of the table."""
    by = gate.caught(lie.caught_by)
    caught = "passed" if gate.passed else f"`{by}`" if by else f"by chance: {', '.join(gate.blockers)}"
    said = f": {lie.says}" if lie.says and by else ""
    return f"| {lie.name} | {lie.does} | {caught}{said} |"


def page(told: Sequence[tuple[Lie, Gate]], builds: Sequence[Honest]) -> str:
    """The whole page."""
    passed = sum(gate.passed for _, gate in told)
    head = _HEAD.format(lies=len(told), caught=len(told) - passed, passed=passed)
    rows = "\n".join(row(lie, gate) for lie, gate in told)
    honest = "\n".join(f"- {one.name}: {one.does}" for one in builds)
    uncaught = "\n".join(f"- **{lie.name}** {lie.does}. {lie.exception}" for lie, gate in told if gate.passed)
    played = [lie for lie, _ in told if lie.trace]
    agents = _AGENTS.format(lies=len(played)) + ", ".join(lie.name for lie in played) + "."
    return f"{head}{rows}\n{agents}\n{_HONEST}{honest}\n{_UNCAUGHT}{uncaught}\n"
