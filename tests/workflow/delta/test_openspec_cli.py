"""The real `openspec` CLI on the same files: it accepts our files, and its archive equals our merge."""

from __future__ import annotations

import pytest

from loopwright.workflow.delta.grammar import canonical
from loopwright.workflow.delta.merge import base_of, merged
from loopwright.workflow.delta.model import (
    Conflicts,
    Merged,
    UnreadableDelta,
)
from loopwright.workflow.delta.read import read_delta, read_living

HEAD = (
    "# {0} Specification\n\n## Purpose\nWhat {0} is for, in words enough for the strict check to be quiet.\n\n"
    "## Requirements\n\n"
)
STEPS = "- **GIVEN** a\n- **WHEN** b\n- **THEN** c\n\n"
BLOCK = "### Requirement: {0}\nThe system SHALL {0}.\n\n#### Scenario: {0} works\n" + STEPS
FENCED = (
    "### Requirement: Fenced\nIt MUST keep samples.\n\n```md\n## ADDED Requirements\n### Requirement: Fake\n\n\n"
    "#### Scenario: Fake\n```\n\n#### Scenario: Kept\n- **THEN** ~~~ and ``` stay\n  ~~~\n  # no heading\n  ~~~\n"
)
LIVING = (
    HEAD.format("doors") + BLOCK.format("open") + BLOCK.format("close") + BLOCK.format("lock") + "## Notes\n\nkept\n"
)
WITH_FENCE = LIVING.replace("## Notes", FENCED + "\n## Notes")
PURPOSE = "## Purpose\nA bell tells the people inside that a person waits outside.\n\n"
ADDED = "## ADDED Requirements\n\n"
RING, KNOCK = BLOCK.format("ring"), BLOCK.format("knock")
MODIFIED = "## MODIFIED Requirements\n\n"
CLOSE = BLOCK.format("close").replace("SHALL close", "MUST close softly") + "#### Scenario: again\n- **THEN** d\n"
SHUT = CLOSE.replace("Requirement: close", "Requirement: shut")
REMOVED = "## REMOVED Requirements\n\n"
RENAMED = "## RENAMED Requirements\n\n- FROM: `### Requirement: close`\n- TO: `### Requirement: shut`\n"

MERGES = {
    "new": (None, ADDED + RING + KNOCK),
    "new-with-purpose": (None, PURPOSE + ADDED + RING),
    "area/nested/deep": (LIVING, ADDED + RING),
    "adds": (LIVING, ADDED + RING + KNOCK),
    "adds-twice": (LIVING, ADDED + RING + "## Added requirements\n" + KNOCK),
    "modifies": (LIVING, MODIFIED + CLOSE),
    "removes": (LIVING, REMOVED + "### Requirement: open\n**Reason**: unused\n**Migration**: none\n"),
    "removes-by-bullet": (LIVING, REMOVED + "- `### Requirement: open`\n* ### Requirement: lock\n"),
    "renames": (LIVING, RENAMED),
    "renames-in-a-chain": (LIVING, RENAMED + "- FROM: `### Requirement: shut`\n- TO: `### Requirement: slam`\n"),
    "changes-case": (LIVING, RENAMED.replace("shut", "Close")),
    "all": (LIVING, ADDED + RING + MODIFIED + SHUT + REMOVED + "### Requirement: open\n" + RENAMED),
    "reuses-a-name": (LIVING, RENAMED + ADDED + BLOCK.format("close")),
    "fences": (WITH_FENCE, ADDED + FENCED.replace("Fenced", "Also") + RING),
    "fence-modified": (WITH_FENCE, MODIFIED + FENCED.replace("MUST", "SHALL")),
    "unicode": (LIVING.replace("open", "开"), MODIFIED + BLOCK.format("开") + "更多\n" + ADDED + BLOCK.format("∑ 🚪")),
    "crlf": (LIVING.replace("\n", "\r\n"), (MODIFIED + CLOSE + ADDED + RING).replace("\n", "\r\n")),
    "crlf-delta": (LIVING, (MODIFIED + CLOSE + RENAMED.replace("close", "lock")).replace("\n", "\r\n")),
    "bom": ("\ufeff" + LIVING, "\ufeff" + ADDED + RING),
    "no-last-newline": (LIVING.partition("## Notes")[0].rstrip(), (ADDED + RING).rstrip()),
    "closed": (LIVING.replace(": close\n", ": close ##\n"), MODIFIED + CLOSE.replace(": close\n", ": close ###\n")),
    "no-space": (LIVING, ADDED + RING + REMOVED + "###Requirement: open\n"),
    "preamble": (LIVING.replace("Requirements\n", "Requirements\n\nNote.\n"), REMOVED + "- ### Requirement: open\n"),
    "no-section": (HEAD.format("x").partition("## Requirements")[0], ADDED + RING),
    "blank-runs": (LIVING.replace("\n\n####", "\n\n\n\n####"), MODIFIED + CLOSE.replace("\n\n", "\n\n\n")),
    "metadata": (LIVING, ADDED + RING.replace("The system", "**ID**: R-1\nThe system")),
}  # fmt: skip

REFUSALS = {
    "modifies-nothing": (LIVING, MODIFIED + RING),
    "modifies-in-a-new-domain": (None, MODIFIED + RING),
    "renames-nothing": (LIVING, RENAMED.replace("close", "ring")),
    "renames-onto-another": (LIVING, RENAMED.replace("shut", "lock")),
    "renames-onto-a-like-name": (LIVING, RENAMED.replace("shut", "LOCK")),
    "adds-what-is-there": (LIVING, ADDED + BLOCK.format("open").replace("SHALL", "MUST")),
    "adds-a-like-name": (LIVING, ADDED + BLOCK.format("Open")),
    "removes-a-like-name": (LIVING, REMOVED + "- ### Requirement: Open\n"),
    "drops-a-scenario": (LIVING, MODIFIED + BLOCK.format("close").replace("close works", "other")),
    "removes-all": (LIVING, REMOVED + "".join(f"- ### Requirement: {name}\n" for name in ("open", "close", "lock"))),
    "contradicts": (LIVING, MODIFIED + CLOSE + REMOVED + "- ### Requirement: close\n"),
    "modifies-the-old-name": (LIVING, MODIFIED + CLOSE + RENAMED),
    "half-a-rename": (LIVING, RENAMED.rpartition("- TO")[0] + ADDED + RING),
    "no-scenario": (LIVING, ADDED + "### Requirement: ring\nIt SHALL.\n"),
    "no-sections": (LIVING, RING),
    "broken-spec": (LIVING + "### Requirement: outside\n", ADDED + RING),
    "divider": (LIVING, ADDED + RING + "### Divider\n\ntext\n"),
}  # fmt: skip


def ours(living, delta, domain, change_id):
    change = read_delta(delta.encode(), domain)
    spec = None if living is None else read_living(living.encode())
    if isinstance(change, UnreadableDelta) or isinstance(spec, UnreadableDelta):
        return change
    return merged(spec, change, change_id=change_id, base=base_of(spec))


def write_all(project, change_id, cases):
    for domain, (living, _) in cases.items():
        if living is not None:
            project.write_spec(domain, living.encode())
    project.write_change(change_id, {domain: delta.encode() for domain, (_, delta) in cases.items()})


def test_openspec_archive_equals_our_merge(openspec_project):
    write_all(openspec_project, "chg-all", MERGES)
    done = openspec_project.openspec("archive", "chg-all", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    for domain, (living, delta) in MERGES.items():
        result = ours(living, delta, domain, "chg-all")
        assert isinstance(result, Merged), (domain, result)
        theirs = read_living(openspec_project.spec(domain).read_bytes())
        assert [(one.name, canonical(one)) for one in result.spec.requirements] == [
            (one.name, canonical(one)) for one in theirs.requirements
        ], domain
        assert result.spec.newline == theirs.newline, domain
        assert living is None or result.spec.head.startswith(read_living(living.encode()).head), domain


def test_our_merge_passes_strict_validation_and_is_shown_like_openspecs_merge(openspec_project):
    write_all(openspec_project, "chg-all", MERGES)
    assert openspec_project.openspec("archive", "chg-all", "--yes").returncode == 0
    shown = {domain: openspec_project.asked("show", domain, "--type", "spec") for domain in ("all", "fences", "crlf")}
    for domain, (living, delta) in MERGES.items():
        openspec_project.write_spec(domain, ours(living, delta, domain, "chg-all").data)
    report = openspec_project.asked("validate", "--specs", "--strict", "--no-interactive")
    assert {item["id"]: item["issues"] for item in report["items"]} == {domain: [] for domain in MERGES}
    for domain, theirs in shown.items():
        assert openspec_project.asked("show", domain, "--type", "spec") == theirs, "the history is not shown"
    listed = openspec_project.asked("list", "--specs")["specs"]
    merges = {domain: ours(living, delta, domain, "chg-all") for domain, (living, delta) in MERGES.items()}
    assert {one["id"]: one["requirementCount"] for one in listed} == {
        domain: len(result.spec.requirements) for domain, result in merges.items()
    }


@pytest.mark.parametrize("case", REFUSALS)
def test_we_refuse_what_openspec_archive_refuses(openspec_project, case):
    living, delta = REFUSALS[case]
    write_all(openspec_project, "chg-no", {"doors": REFUSALS[case]})
    done = openspec_project.openspec("archive", "chg-no", "--yes")
    assert done.returncode == 1, done.stdout + done.stderr
    result = ours(living, delta, "doors", "chg-no")
    spec = None if living is None else read_living(living.encode())
    assert isinstance(result, Conflicts | UnreadableDelta) or isinstance(spec, UnreadableDelta)


def test_our_history_survives_openspec_archive(openspec_project):
    """A project may archive our change, then another change with `openspec archive`: our change is still known."""
    first = ours(LIVING, ADDED + RING, "doors", "chg-ours")
    openspec_project.write_spec("doors", first.data)
    openspec_project.write_change("chg-theirs", {"doors": (MODIFIED + CLOSE + ADDED + KNOCK).encode()})
    assert openspec_project.openspec("archive", "chg-theirs", "--yes").returncode == 0
    spec = read_living(openspec_project.spec("doors").read_bytes())
    assert spec.history == first.spec.history
    assert [one.name for one in spec.requirements] == ["open", "close", "lock", "ring", "knock"]
    again = merged(spec, read_delta((ADDED + RING).encode(), "doors"), change_id="chg-ours", base={})
    assert again.data == openspec_project.spec("doors").read_bytes()
