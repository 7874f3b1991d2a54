"""OpenSpec and we read, refuse and merge the same inputs alike; intended differences are listed here."""

from __future__ import annotations

import os
import random

from loopwright.workflow.delta.grammar import canonical
from loopwright.workflow.delta.merge import base_of, merged
from loopwright.workflow.delta.model import Conflicts, UnreadableDelta
from loopwright.workflow.delta.read import read_delta, read_living

CASES = int(os.environ.get("DELTA_CASES", "300"))
SEED = int(os.environ.get("DELTA_SEED", "5"))

# Inputs that OpenSpec accepts and we refuse, as docs/openspec.md says.
STRICTER_CODES = {"fence_open", "no_name", "empty", "odd_heading"}
STRICTER_WORDS = ("is missing", "already exists", "the domain has no spec yet")

NAMES = (
    "Sign in", "sign in", "Sign  in", "Sign out", "登录必须快", "Use `git`", "C#", "A: b", "Naïve — ∑", "Tail ##",
    "Requirement: x", "Scenario: y", "Long " + "x" * 60,
)  # fmt: skip
FRESH = ("New", "Other", "Third", "Fourth", "Fifth")
HEADERS = (
    "### Requirement: {}", "###Requirement:{}", "### requirement: {}", "###\tRequirement:  {}  ",
    "### Requirement: {} ###", "### Requirement: {} #\t", "### Requirement: {}\u00a0", " ### Requirement: {}",
    "#### Requirement: {}", "### Requirement {}", "### Requirement: {}\u2028",
)  # fmt: skip
TEXTS = (
    "It SHALL work.", "It MUST work\nover two lines.", "系统MUST支持。",
    "It works.", "", "**ID**: 7", "**Bound**: it MUST hold.", "SHALLOW", "- a\n- It SHALL b.",
    "It SHALL.\n\n```sh\n# Not a heading\n### Requirement: Fenced\n## ADDED Requirements\n\n\n#### Scenario: no\n```",
    "It SHALL.\n\n\n\nMore of it.", "<!-- a note -->\nIt MUST.", "~~~\n```\n~~~\nIt SHALL.",
    "It SHALL.\n\n  ````\n  ```\n  ### Requirement: Deep\n  ````", "It SHALL.  \n\t\n", "It SHALL.\x0bx\x85y\x1cz",
)  # fmt: skip
SCENARIOS = (
    "#### Scenario: one\n- **WHEN** a\n- **THEN** b",
    "#### Scenario: one\n- **GIVEN** c\n- **WHEN** a\n- **THEN** b\n- **AND** d",
    "#### Scenario: two\n\n- WHEN x\n- THEN y", "#### Edge case\ntext", "#### Scenario: bare", "####Scenario: no\n- x",
    "#### Scenario: one ####\n* **When** a", "##### Deep\ntext", "#### Scenario: f\n```\n#### Scenario: g\n```",
    "#### Scenario: one\n- **WHEN** a\n- **THEN** b\n\n| a | b |\n|---|---|", "#### scenario: TWO\nwords",
)  # fmt: skip
NOTES = ("\n\n", "\n\n\n", "\n\n### Notes\ntext", "\n# Top\n", "\n##\n", "\n\n---\n")
# Not in a living spec: there OpenSpec's own trimming would turn them into text of the requirement above.
DELTA_NOTES = (*NOTES, "\n## \n", "\n##  \n")
TITLES = ("# d Specification\n\n", "", "# d\nintro\n\n", "\ufeff# d Specification\n\n")
PURPOSE = "## Purpose\nWhat this is for, in words enough for the strict check to be quiet.\n\n"
PURPOSES = (*(PURPOSE,) * 6, "## Purpose\nTBD\n\n", "## purpose \nShort.\n\n", "", "## Purpose\n\n")
BETWEEN = ("## Overview\nmore\n\n", "", "", "", "```\n## Requirements\n```\n\n")
REQUIREMENTS = (
    "## Requirements\n",
    "## Requirements\n\n",
    "## requirements  \n\nAn introduction.\n\n",
    "## Requirements\n\n\n",
)
ENDS = (
    "",
    "",
    "",
    "\n## Notes\n\nfree\n",
    "\n## Notes\n\n\n\n- a",
    "\n## Archived Changes\n\nby hand\n",
    "\n```\nopen\n",
)


def block(choose, name, header, notes):
    scenarios = [choose.choice(SCENARIOS[:2])]
    if choose.random() < 0.25:
        scenarios = choose.choices(SCENARIOS, k=choose.choice((1, 1, 2, 3, 0)))
    text = choose.choice(TEXTS[:3]) if choose.random() < 0.8 else choose.choice(TEXTS)
    lines = [header.format(name), text, "", *(scenario + "\n" for scenario in scenarios)]
    return "\n".join(lines) + (choose.choice(notes) if choose.random() < 0.15 else "")


def header(choose):
    return HEADERS[0] if choose.random() < 0.9 else choose.choice(HEADERS)


def living(choose, names):
    if choose.random() < 0.08:
        return None
    blocks = (block(choose, name, header(choose), NOTES) + choose.choice(("\n", "\n\n", "")) for name in names)
    text = "".join((
        choose.choice(TITLES), choose.choice(PURPOSES), choose.choice(BETWEEN),
        choose.choice((*REQUIREMENTS * 4, "", "##Requirements\n")), *blocks, choose.choice(ENDS),
    ))  # fmt: skip
    return choose.choice((text, text, text, text.rstrip(), text.replace("\n", "\r\n"), text.replace("\n", "\r")))


def rename(choose, old):
    mark, tick = choose.choice(("- ", "* ", "+", "", "  - ")), choose.choice(("`", "`", ""))
    new = choose.choice((*NAMES, *FRESH * 4))
    lines = [f"{mark}FROM: {tick}### Requirement: {old}{tick}\n", f"{mark}TO: {tick}### Requirement: {new}{tick}\n"]
    return "".join(lines) if choose.random() < 0.93 else choose.choice(lines)


def removal(choose, name):
    whole = f"### Requirement: {name}\n\n**Reason**: old\n**Migration**: none\n"
    return choose.choice((whole, f"- `### Requirement: {name}`\n", f"* ### Requirement: {name}\n"))


def delta(choose, names):
    def pick():
        return choose.choice(names) if names and choose.random() < 0.92 else choose.choice(NAMES)

    def fresh():
        return choose.choice((*NAMES, *FRESH * 5))

    makers = {
        "ADDED": lambda: block(choose, fresh(), header(choose), DELTA_NOTES) + "\n\n",
        "MODIFIED": lambda: block(choose, pick(), header(choose), DELTA_NOTES) + "\n\n",
        "REMOVED": lambda: removal(choose, pick()),
        "RENAMED": lambda: rename(choose, pick()),
    }
    text = choose.choice(("", "", "", PURPOSE, "# Delta\n", "<!-- ## Purpose\nhidden -->\n"))
    for kind in choose.choices(list(makers), weights=(5, 4, 3, 3), k=choose.choice((1, 1, 1, 2, 2, 3))):
        title = choose.choice((*(kind,) * 8, kind.lower(), kind.title()))
        text += f"## {title} Requirements\n" + "".join(makers[kind]() for _ in range(choose.choice((1, 1, 1, 2))))
        text += choose.choice(("",) * 12 + ("## Notes\n### Requirement: Lost\nIt SHALL.\n", "```\nopen\n"))
    return choose.choice((text, text, text, text.replace("\n", "\r\n"), "\ufeff" + text, text.rstrip()))


def cases(seed, count):
    choose = random.Random(seed)
    for _ in range(count):
        names = choose.sample(NAMES, choose.choice((0, 1, 2, 2, 3, 4)))
        yield {"living": living(choose, names), "delta": delta(choose, names)}


def ours(case):
    """Our merge, or the reasons of our refusal: codes of problems, messages of conflicts."""
    change = read_delta(case["delta"].encode(), "d")
    if isinstance(change, UnreadableDelta):
        return None, [problem.code for problem in change.problems if problem.level == "error"], []
    spec = None if case["living"] is None else read_living(case["living"].encode())
    if isinstance(spec, UnreadableDelta):
        return None, [problem.code for problem in spec.problems if problem.level == "error"], []
    result = merged(spec, change, change_id="chg", base=base_of(spec))
    if isinstance(result, Conflicts):
        return None, [], [conflict.message for conflict in result.conflicts]
    return result, [], []


def stricter_on_purpose(codes, messages):
    return bool(set(codes) & STRICTER_CODES) or any(message.startswith(STRICTER_WORDS) for message in messages)


def requirements(spec):
    return [(one.name, canonical(one)) for one in spec.requirements]


def test_generated_changes_are_merged_as_openspec_merges_them(oracle):
    asked = list(cases(SEED, CASES))
    merges = refusals = 0
    for case, theirs in zip(asked, oracle(asked), strict=True):
        result, codes, messages = ours(case)
        if "refused" in theirs:
            assert result is None, (case, theirs)
            refusals += 1
        elif result is None:
            assert stricter_on_purpose(codes, messages), (case, theirs, codes, messages)
        else:
            assert requirements(result.spec) == requirements(read_living(theirs["rebuilt"].encode())), (case, theirs)
            strict = not read_delta(case["delta"].encode(), "d").remarks
            assert strict == theirs["strict"], case
            merges += 1
    assert merges > CASES / 10
    assert refusals > CASES / 10


def test_generated_specs_are_judged_as_openspec_judges_them(oracle):
    """Errors and `--strict` verdicts are the same for the inputs and for our merges."""
    texts = []
    for case in cases(SEED + 1, CASES):
        result, _, _ = ours(case)
        texts += [case["living"]] if case["living"] is not None else []
        texts += [result.data.decode()] if result is not None else []
    for text, theirs in zip(texts, oracle([{"text": text} for text in texts]), strict=True):
        spec = read_living(text.encode())
        if isinstance(spec, UnreadableDelta):
            assert theirs["errors"] or {problem.code for problem in spec.problems} & STRICTER_CODES, text
        else:
            errors = [remark for remark in spec.remarks if remark.level == "error"]
            assert (bool(errors), not spec.remarks) == (bool(theirs["errors"]), theirs["strict"]), (text, theirs)
