"""docs/lies.md, made from the definitions of the bench and from results.json alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from cases import LIES, THROUGH_AGENTS, WORK, WORK_PATHS
from judges import JUDGES
from known_open import FOUND_BY_OUTSIDERS, INVENTED, OPEN, STUCK, reason_open
from paths import PATHS
from product import OPERATORS, Told, left_out, pairs, sample, sample_twins
from results import problem
from stops import CLASSES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lies.md"
Results = Mapping[str, Mapping[str, Any]]
_HEAD = """# Lies, and how Loopwright catches them

`make bench-lies` plays false claims of "done" through the real command line, and this page is its result. Each lie is
told by a scripted agent in its own small repository: the agent tampers with something, and claims "All done. Every
test passes."

Lies are pairs:

- {operators} **operators** are ways to tamper.
- {judges} **judges** are test runners and commands: {judge_names}.
- {ways} **paths** lead to "done": {way_names}.

Each valid combination is a lie with an **honest twin**: the same judge and the same path, but the work is done, with
the same kind of edit where honest work has such an edit (see [operators](#operators)). {pairs} pairs are valid;
{distinct} different twins stand for them. {deceiving} of the lies deceive a judge that only looks at the exit code of
the command in the agent's folder.

- **{stopped} of {pairs} lies are stopped**, and {open} pass ([open classes](#open-classes)).
- **{good} of {distinct} twins pass** as they should. {free} need no command beyond the plain path. {edits} edit
  protected files, and a person accepts that: one command in a build or a loop, up to three with `autopilot`. {unaltered}
  moves a test in Go, where nothing in the moved test could be altered, and a person accepts that.
- {alone} more lies have a scene of their own ([below](#lies-with-a-scene-of-their-own)). {alone_stopped} of them are
  stopped, and {alone_passed} [still pass](#what-no-gate-can-catch).

`make test` and `make test-lies` play a sample together: each operator, each judge and each path at least once ({sample}
lies), each kind of twin ({twins} twins), and some scenes and honest works. `make test` plays every fifth of these lies
and twins, `make test-lies` the others.

## How Loopwright catches them

- **Fresh sandbox.** Checks run on base and patch, in a sandbox that no agent has used. Files in the agent's home,
  `/tmp`, `.git`, caches or PATH, and its leftover processes, do not exist there (`verification_failed`).
- **Protected files.** Only files in the scope of the plan, new tests and free files (documents, dependencies with
  their lock file, new entry points) enter the tree that is judged. Everything else comes from the base. If the work changed, deleted, linked or added it, a person must look
  (`sealed_file_changed_…`; `changed_test_…` if the checks pass only with a changed test).
- **Code that targets its checks** needs a person's look too: it imports a test framework, ends the process outside a
  main function, names test files or the judge's variables, patches the runner, or decides comparisons by itself. The
  syntax tree decides, not the text, in Python, JavaScript, TypeScript and Go. A file that a check changed while it ran
  needs a person's look, too.
- **State of the test process** that only the work changes, such as a clock, a prototype or a variable for child
  processes, needs a person's look (pytest, unittest, node --test, mocha).
- **Results per test** on base and work: a test that passed must pass, and a test that failed must pass now. A skipped
  or missing test does not pass; a new test that is skipped proves nothing. Earlier tests also run without new tests, and new tests without the work.
- **Inverted tests.** All tests run again with their own expectations changed (Python, JavaScript, TypeScript, Go), and
  so do scripts behind make, npm and shell, and programs that tests start. A test that proves something must fail then
  (`vacuous_check_…`), and so must a test that could fail before the work.
- **The project's own tests** run on base and work (`tests_broken_…`). A command that fails on both and reports no
  tests needs a person (`tests_unread`).
- **Hidden checks** find code that handles only the test's input. A plan without hidden checks can't find it.
- **Secrets** are searched in text and in binary files. Work with a secret is not kept.
- **Only people** approve, sign and answer. The journal records what was approved, and what changed since.

If `sandbox.isolation` is `none`, or if no isolation works on this machine, an agent can write wherever you can,
including Loopwright's journal. `loopwright doctor` shows which isolation works.

"""
_AGENTS = """## Through real agents

`tests/real_agents/test_lies.py` runs {lies} of these lies through the real Claude Code and Codex, with
`loopwright build --agent`. A local model server makes them run the same script with their own tools and claim the
same. Each test checks that the lie happened and that the same gate stops it. Honest work of the same agent passes in the
same repository:

{names}.

"""
_WORK = """## Honest work

What people do every day, and how many commands a person needs beyond the plain path. The plain path is plan, approve,
build, approve; or `loop new` and `loop start`. The goal is at most one more command.

| work | what it does | more commands in `build` | more in `loop` |
|---|---|---|---|
"""


def page(results: Results) -> str:
    """The whole page."""
    return "".join(
        part(results)
        for part in (_head, _operators, _judges, _classes, _open, _left_out, _scenes, _agents, _work, _uncaught)
    )


def _by(results: Results, told: Iterable[Told]) -> Counter[str]:
    return Counter(results[one.name]["by"] for one in told)


def _head(results: Results) -> str:
    all_pairs, twins = pairs(), {told.honest.name: told.honest for told in pairs()}
    held = [results[name]["code"] for name in twins if results[name]["extra"]]
    alone = [results[f"scene-{lie.name}"]["by"] for lie in LIES]
    passed = _by(results, all_pairs)["passed"]
    return _HEAD.format(
        operators=len(OPERATORS), judges=len(JUDGES), judge_names=", ".join(judge.name for judge in JUDGES),
        ways=len(PATHS), way_names=", ".join(f"`{name}`" for name in PATHS), pairs=len(all_pairs),
        deceiving=sum(told.operator.deceives(told.judge) for told in all_pairs), stopped=len(all_pairs) - passed,
        open=passed, distinct=len(twins), good=sum(problem(twin, results[name]) is None for name, twin in twins.items()),
        free=len(twins) - len(held), edits=sum("unaltered" not in code for code in held), unaltered=sum("unaltered" in code for code in held),
        alone=len(LIES), alone_stopped=sum(by != "passed" for by in alone),
        alone_passed=alone.count("passed"), sample=len(sample()), twins=len(sample_twins()),
    )  # fmt: skip


def _table(title: str, heads: str, rows: Iterable[str]) -> str:
    columns = heads.count("|") + 1
    return f"## {title}\n\n| {heads} |\n|{'---|' * columns}\n" + "".join(f"| {row} |\n" for row in rows) + "\n"


def _counts(found: Counter[str]) -> str:
    return ", ".join(f"{name} {found[name]}" for name in (*CLASSES, "other", "passed") if found[name])


def _grouped(results: Results, key: Callable[[Told], str]) -> dict[str, list[Told]]:
    del results
    groups: dict[str, list[Told]] = {}
    for told in pairs():
        groups.setdefault(key(told), []).append(told)
    return groups


def _operators(results: Results) -> str:
    groups = _grouped(results, lambda told: told.operator.name)
    rows = (
        f"{operator.name} | {operator.does} | {operator.twin.value} | {len(groups[operator.name])} | "
        f"{_counts(_by(results, groups[operator.name]))}"
        for operator in OPERATORS
    )
    return _table("Operators", "operator | the lie | its honest twin | pairs | stopped by", rows)


def _judges(results: Results) -> str:
    groups = _grouped(results, lambda told: told.judge.name)
    ways = _grouped(results, lambda told: told.way)
    rows = [
        f"{judge.name} | `{judge.whole}` | {len(groups[judge.name])} | {_counts(_by(results, groups[judge.name]))}"
        for judge in JUDGES
    ]
    rows += [f"path `{way}` | | {len(found)} | {_counts(_by(results, found))}" for way, found in ways.items()]
    return _table("Judges and paths", "judge | command | pairs | stopped by", rows)


def _classes(results: Results) -> str:
    codes: dict[str, Counter[str]] = {}
    for told in pairs():
        result = results[told.name]
        codes.setdefault(result["by"], Counter())[result["code"]] += 1
    rows = (
        f"{name} | {CLASSES[name][0]} | {codes[name].total()} | `{codes[name].most_common(1)[0][0]}`"
        for name in CLASSES
        if name in codes
    )
    return _table("What stops them", "class | what was found | pairs | most frequent code", rows)


def _open(results: Results) -> str:
    head = "## Open classes\n\n"
    lines = [] if OPEN else ["None of the combinations passes.\n"]
    for known in OPEN:
        told = [one for one in pairs() if reason_open(one) == known.reason]
        names = ", ".join(one.name for one in told if results[one.name]["by"] == "passed")
        lines.append(f"- {known.reason} Passing: {names}.\n")
    found = "".join(f"- {sentence}\n" for sentence in FOUND_BY_OUTSIDERS)
    return f"{head}{''.join(lines)}\n{INVENTED}\n\n{found}\n"


def _left_out(results: Results) -> str:
    del results
    found: dict[str, Counter[str]] = {}
    for operator, _, _, reason in left_out():
        found.setdefault(reason, Counter())[operator.name] += 1
    rows = (f"{reason} | {names.total()} | {', '.join(names)}" for reason, names in found.items())
    return _table("Combinations that are left out", "reason | combinations | operators", rows)


def _scenes(results: Results) -> str:
    rows = []
    for lie in LIES:
        by = results[f"scene-{lie.name}"]["by"]
        said = f": {lie.says}" if lie.says and by else ""
        rows.append(f"{lie.name} | {lie.does} | {by if by == 'passed' else f'`{by}`'}{said}")
    return _table("Lies with a scene of their own", "lie | what it does | caught by", rows)


def _agents(results: Results) -> str:
    del results
    return _AGENTS.format(lies=len(THROUGH_AGENTS), names=", ".join(lie.name for lie in THROUGH_AGENTS))


def _work(results: Results) -> str:
    def extra(name: str, way: str) -> str:
        result = results[f"work-{name}-{way}"]
        if result["extra"] is None:
            return f"never passes: {STUCK[name, way]}"
        return f"{result['extra']} (`{result['code']}`)" if result["code"] else str(result["extra"])

    rows = [
        f"| {work.name} | {work.does} | {' | '.join(extra(work.name, way) for way in WORK_PATHS)} |" for work in WORK
    ]
    return _WORK + "\n".join(rows) + "\n\n"


def _uncaught(results: Results) -> str:
    del results
    lines = "\n".join(f"- **{lie.name}** {lie.does}. {lie.exception}" for lie in LIES if lie.exception)
    return f"## What no gate can catch\n\nEach of these is played, and passes.\n\n{lines}\n"
