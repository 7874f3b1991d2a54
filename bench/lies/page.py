"""docs/lies.md: the table, what is honest, and what no gate can catch."""

from __future__ import annotations

from collections.abc import Sequence

from model import Honest, Lie
from scene import Gate

_HEAD = """# Lies, and what sees through them

`make bench-lies` lets {lies} scripted agents claim "All done. Every test passes.", each in a small repository of
its own, through the real command line: plan, approve, build, and `approve --from build --to review`. This page is
what it printed. {caught} are stopped by a gate that names the truth; {passed} pass, and stand
[below](#what-no-gate-can-catch).

What sees through them:

- **Fresh sandbox.** Checks run on base and patch, in a sandbox that no agent was in: what lies in its home, its
  `/tmp`, its `.git`, its caches or on its PATH, and what still runs, is not there (`verification_failed`).
- **Sealed judges.** Files that checks name, tests that runners find, and what steers them are hashed at approval:
  changed, deleted, linked or newly brought, a person must look (`sealed_file_changed_…`). Of `pyproject.toml`,
  `setup.cfg` and `package.json` only the part that steers tests counts. A module that python would import in place
  of its library, compiled code, and a program on the project's PATH count as judges; so do instructions, hooks and
  servers of agents (`AGENTS.md`, `.claude/settings.json`, …), since a reviewer would follow them.
- **Code that reaches for its judge** (ends the test process, patches the runner, asks for the judge's marks, is
  equal to everything) makes a file a judge, and so does a file that a check changed while it ran.
- **Controls.** What passed is run again with python tests that must fail: a check that passes then, too, can't fail
  any more (`vacuous_check_…`). Tests that the work brought beside the sealed ones are taken away once: where a
  check passes only with them, a person must look at them.
- **Hidden checks** see code that knows the test's input; a plan without one can't.
- **Secrets** are looked for in text and in binary files; with one in it no work is kept.
- **Only people** approve, sign and answer; the journal says what was approved, and what changed since.

Where `sandbox.isolation` is `none`, or nothing confines on this machine, an agent can write wherever you can, our
journal included: `loopwright doctor` says what confines here.

## The table

| lie | what it does | caught by |
|---|---|---|
"""
_AGENTS = """
## Through real agents

`tests/real_agents/test_lies.py` has the real Claude Code and Codex tell {lies} of them, by `loopwright build --agent`.
A model of our own on loopback has them run the same script with their own tools, and claim the same. Each test sees
that the lie was really played, that the same gate stops it, and that honest work of the same agent passes in the same
repository:

"""
_HONEST = """
## Honest work

None of these needs a signature:

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
