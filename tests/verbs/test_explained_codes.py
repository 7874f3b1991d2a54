"""Every code that the program or a page of docs names is explained in plain words, with what to do."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import loopwright
from loopwright import errors
from loopwright.agents.port import Reason
from loopwright.verbs.explain import explain
from loopwright.workflow.blockers import Family

SOURCE = Path(loopwright.__file__).parent
DOCS = SOURCE.parents[1] / "docs"
# Calls that name a code: at which place, or by which name.
CALLS = {
    "LoopRefused": 0, "WorkflowRefused": 0, "see_status": 1, "refused": 0, "_refused": 1, "_blocked": 1, "_stopped": 0,
    "AgentFailed": 0, "blocked": 0, "Blocker": 0, "_held_by_blocker": 1, "refusal": 0, "Doubt": "code", "Hold": "code",
    "Failed": "code", "LoopFailed": "code", "symptom": 0, "_problem_or_fixed": 0, "InstallFinding": "code",
}  # fmt: skip
# Pages whose tables name codes.
PAGES = ("judging.md", "loops.md", "workflow.md", "agents/failures.md")


@cache
def trees():
    # A fault in a spec delta is named with its line, not by its code.
    files = (path for path in SOURCE.rglob("*.py") if path.parent.name != "delta")
    return [ast.parse(path.read_text("utf-8")) for path in files]


@cache
def constants():
    return dict(pair for tree in trees() for node in ast.walk(tree) for pair in assigned_in(node))


def assigned_in(node):
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
            yield name, text
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            yield from (
                (name.id, value.value) for name, value in zip(names, values, strict=False) if named(name, value)
            )


def named(name, value):
    return isinstance(name, ast.Name) and isinstance(value, ast.Constant)


def named_in(node):
    """The codes that an argument can be; a fact in an f-string is a suffix."""
    match node:
        case ast.Constant(value=str(code)):
            yield code
        case ast.Name(id=name) if name.isupper():
            yield constants()[name]
        case ast.IfExp(body=body, orelse=other):
            yield from (*named_in(body), *named_in(other))
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]):
            yield start + "".join(part.value if isinstance(part, ast.Constant) else "build" for part in node.values[1:])


def codes_of_the_source():
    for tree in trees():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            at = CALLS.get(name)
            if isinstance(at, int):
                yield from named_in(call.args[at]) if len(call.args) > at else ()
            elif at is not None:
                yield from (code for word in call.keywords if word.arg == at for code in named_in(word.value))


def codes_of_the_docs():
    for page in PAGES:
        for row in (line for line in (DOCS / page).read_text("utf-8").splitlines() if line.startswith("| `")):
            for code in re.findall(r"`([a-z]+(?:_[a-z]+)+(?:_(?:<\w+>|…))?)`", row.split("|")[1]):
                yield re.sub(r"<\w+>|…", "x", code)


def all_codes():
    leaves = (kind for kind in vars(errors).values() if isinstance(kind, type) and not kind.__subclasses__())
    return {
        *codes_of_the_source(), *codes_of_the_docs(), *Reason, *(f"execution_{reason}" for reason in Reason),
        *(f"{family.code}VS-1" if family.code.endswith("_") else family.code for family in Family),
        *(family.code.rstrip("_") for family in Family), *(kind.code for kind in leaves if hasattr(kind, "code")),
        "budget_usd", "unproven", "flagged", "changed_test_tests/test_a.py", "vacuous_check_VS-1-C1",
    }  # fmt: skip


def test_every_code_is_explained_in_plain_words():
    codes = all_codes()
    assert {"illegal_move", "review_by_person", "no_progress", "workflow_busy", "tests_broken_x"} <= codes
    found = {code: explain(code) for code in codes}
    assert [code for code, rows in found.items() if not rows] == []
    unclear = [
        row for rows in found.values() for row in rows if not all(row.values()) or set("{}") & set(str(row)[1:-1])
    ]
    assert unclear == []


def test_a_code_that_means_two_things_has_two_rows():
    assert [row["code"] for row in explain("nothing_changed")] == ["nothing_changed"] * 2
    assert [row["code"] for row in explain("execution_crashed")] == ["execution_…", "crashed"]
    assert [row["code"] for row in explain("execution_record_missing")] == ["execution_record_…"]
    assert [row["code"] for row in explain("spec_requirement_broken")] == ["spec_requirement_broken"]
