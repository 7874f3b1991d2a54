"""Names of domains, and the view of all of a change's domains."""

from __future__ import annotations

import pytest

from loopwright.workflow.delta.model import Delta, Removed, Renamed
from loopwright.workflow.delta.read import read_delta
from loopwright.workflow.delta.write import composed
from loopwright.workflow.package import LONGEST, domain_problem


@pytest.mark.parametrize("name", ["general", "a/b", "a/b/c-d_e.f", "2fa", "登录/会话", "é", "consoles", "x" * LONGEST])
def test_a_name_that_is_allowed(name):
    assert domain_problem(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "a domain needs a name"),
        ("..", "leaves its folder"),
        ("a/../b", "leaves its folder"),
        ("./a", "leaves its folder"),
        ("/etc", "absolute"),
        ("\\\\server", "absolute"),
        ("C:/x", "absolute"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("a\\b", "not a letter"),
        ("a b", "not a letter"),
        ("a\nb", "not a letter"),
        ("a\0b", "not a letter"),
        ("a\u202eb", "not a letter"),
        ("a\ud800", "not a letter"),
        ("a:b", "not a letter"),
        (".git", "must start with"),
        ("-rf", "must start with"),
        ("a.", "not end with a dot"),
        ("spec.md", "reserved"),
        ("a/specs", "reserved"),
        ("NUL", "reserved"),
        ("com1.txt", "reserved"),
        ("x" * 300, "300 characters"),
        ("登" * 100, "bytes"),
        ("e\u0301", "NFC"),
    ],
)
def test_a_name_that_is_refused_says_why(name, reason):
    problem = domain_problem(name)
    assert problem is not None
    assert reason in problem
    assert problem.isprintable(), "whatever the name holds, the sentence can be shown"


def test_all_domains_in_one_view():
    text = b"## ADDED Requirements\n\n### Requirement: Ring\nIt SHALL ring.\n\n#### Scenario: Works\n- **THEN** so\n"
    (ring,) = read_delta(text, "b").added
    deltas = [
        Delta("b", added=(ring,), removed=(Removed("Old", "unused", "none"),)),
        Delta("a/c", renamed=(Renamed("X", "Y"),), modified=(ring,), purpose="What it is for."),
    ]
    assert composed("chg-a", deltas).decode() == (
        "# Spec delta of chg-a\n\n"
        "| domain | added | modified | removed | renamed |\n|---|---|---|---|---|\n"
        "| a/c | 0 | 1 | 0 | 1 |\n| b | 1 | 0 | 1 | 0 |\n\n"
        f"## a/c\n\n**Purpose**: What it is for.\n\n**RENAMED**\n\n- X → Y\n\n**MODIFIED**\n\n{ring.source}\n\n"
        f"## b\n\n**REMOVED**\n\n- Old (unused) (none)\n\n**ADDED**\n\n{ring.source}\n"
    )
