"""The reader: the contents of a delta and of a living spec, and each problem with its line."""

from __future__ import annotations

import pytest

from loopwright.workflow.delta.intake import MOST_BYTES
from loopwright.workflow.delta.model import Deed, Delta, LivingSpec, Operation, UnreadableDelta
from loopwright.workflow.delta.read import read_delta, read_living
from loopwright.workflow.delta.write import write_living

DELTA = """\
## Purpose
People sign in with what they have, and leave when they want to.

## ADDED Requirements

### Requirement: Sign in
**Priority**: high
The system SHALL let people in
who know the word.

```md
### Requirement: Not one
```

#### Scenario: The word is right
- **GIVEN** a person
- **WHEN** the word is said,
  aloud
- **THEN** the door opens
- **AND** a bell rings

#### Scenario: The word is wrong
- WHEN another word is said
- THEN nothing happens

## MODIFIED Requirements
### Requirement: Sign out ##
It MUST end the session.
#### Scenario: Out
- **THEN** gone

## REMOVED Requirements
### Requirement: Guess
**Reason**: not used
**Migration**: ask,
then wait
- `### Requirement: Shout`

## RENAMED Requirements
- FROM: `### Requirement: Old`
- TO: `### Requirement: New`
"""
SPEC = """\
# Doors Specification

## Purpose
What doors do for the people in front of them and behind them.

## Requirements

Words before the first.

### Requirement: Sign in
The system SHALL let people in.

#### Scenario: Right
- **WHEN** x
- **THEN** y


### Requirement: Sign out
It MUST end.
#### Scenario: Out
- **THEN** gone

## Notes
kept

## Archived Changes

- chg-a | ADDED | Sign in
- by hand
- chg-b | RENAMED FROM | a | b
"""


def good(text):
    delta = read_delta(text.encode() if isinstance(text, str) else text, "a/b")
    assert isinstance(delta, Delta), delta
    return delta


def problems(text, read=lambda data: read_delta(data, "d")):
    found = read(text.encode() if isinstance(text, str) else text)
    assert isinstance(found, UnreadableDelta), found
    return [(one.line, one.code) for one in found.problems]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_delta_is_read_completely(ends, bom):
    delta = good((bom + DELTA).replace("\n", ends))
    assert delta.domain == "a/b"
    assert delta.purpose == "People sign in with what they have, and leave when they want to."
    (added,) = delta.added
    assert (added.name, added.lines) == ("Sign in", (6, 24))
    assert added.text == "The system SHALL let people in\nwho know the word."
    assert [one.name for one in added.scenarios] == ["The word is right", "The word is wrong"]
    assert added.source.startswith("### Requirement: Sign in\n**Priority**: high\n")
    assert added.source.endswith("- THEN nothing happens")
    assert [one.name for one in delta.modified] == ["Sign out"]
    assert [(one.name, one.reason, one.migration, one.line) for one in delta.removed] == [
        ("Guess", "not used", "ask, then wait", 33),
        ("Shout", "", "", 37),
    ]
    assert [(one.old, one.new, one.line) for one in delta.renamed] == [("Old", "New", 40)]
    assert delta.remarks == ()


BLOCK = "### Requirement: {}\nIt SHALL.\n#### Scenario: s\n- x\n"
ADDED = "## ADDED Requirements\n" + BLOCK.format("A")
MODIFIED = "## modified requirements\n" + BLOCK.format("A")
REMOVED = "## REMOVED Requirements\n### Requirement: A\n"
RENAMED = "## RENAMED Requirements\nFROM: ### Requirement: A\nTO: ### Requirement: B\n"
FROM_ALONE = "## RENAMED Requirements\nFROM: ### Requirement: A\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, "empty")]),
        (" \n\n", [(1, "empty")]),
        (b"\xef\xbb\xbf", [(1, "empty")]),
        (b"## ADDED\n\0", [(2, "binary")]),
        (b"a\nb\n\xff\xfe", [(3, "not_utf8")]),
        (b"x" * (MOST_BYTES + 1), [(1, "too_large")]),
        ("text", [(1, "no_sections")]),
        ("\n## ADDED  Requirements\n", [(1, "no_sections")]),
        ("\n## ADDED Requirements\n### Other\n", [(2, "no_entries")]),
        ("## ADDED Requirements\n### Requirement: \nx MUST\n#### s\nx\n", [(2, "no_name")]),
        ("## ADDED Requirements\n### Requirement: A\n", [(2, "no_scenario"), (2, "no_text")]),
        ("## ADDED Requirements\n### Requirement: A\nIt MUST.\n#### Scenario: bare\n", [(2, "no_scenario")]),
        (ADDED.replace(": A", ": A\u2028"), [(2, "odd_heading")]),
        (ADDED.replace("### R", "###R"), [(2, "odd_heading")]),
        (ADDED + BLOCK.format("A"), [(6, "twice")]),
        (ADDED + ADDED, [(7, "twice")]),
        ("## REMOVED Requirements\n- ### Requirement: A\n* ### Requirement: A\n", [(3, "twice")]),
        (ADDED + "```\n", [(6, "fence_open")]),
        (ADDED + MODIFIED, [(7, "contradiction")]),
        (ADDED + REMOVED, [(7, "contradiction")]),
        (MODIFIED + REMOVED, [(2, "contradiction")]),
        (RENAMED + REMOVED.replace("A\n", " a\n"), [(2, "contradiction")]),
        (RENAMED + MODIFIED, [(5, "contradiction")]),
        (RENAMED + ADDED.replace(": A", ": B"), [(2, "contradiction")]),
        (FROM_ALONE, [(1, "no_entries"), (2, "unpaired")]),
        (FROM_ALONE.replace("FROM", "TO"), [(1, "no_entries"), (2, "unpaired")]),
        (FROM_ALONE + ADDED.replace(": A", ": B"), [(2, "unpaired")]),
    ],
)
def test_a_problem_in_a_delta_is_named_with_its_line(text, expected):
    assert problems(text) == expected


def test_every_problem_is_reported_at_once():
    text = "## ADDED Requirements\n### Requirement: A\n### Requirement: B\nIt MUST.\n"
    assert problems(text + FROM_ALONE) == [(2, "no_scenario"), (2, "no_text"), (3, "no_scenario"), (6, "unpaired")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### Requirement: Lost\n" + ADDED, [(1, "orphan")]),
        (ADDED + "## Notes\n### Requirement: Lost\n", [(7, "orphan")]),
        ("## ADDED Requirements\n### Requirement: A\nIt works.\n#### Scenario: s\n- x\n", [(2, "no_shall")]),
        ("## Purpose\nShort.\n" + ADDED, [(1, "purpose_brief")]),
        ("## Purpose\ntodo - later\n" + ADDED, [(1, "purpose_placeholder")]),
    ],
)
def test_a_problem_that_only_strict_mode_refuses_is_a_remark(text, expected):
    assert [(one.line, one.code) for one in good(text).remarks] == expected
    assert {one.level for one in good(text).remarks} == {"warning"}


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_living_spec_is_read_and_written_byte_for_byte(ends):
    data = ("\ufeff" + SPEC).replace("\n", ends).encode()
    spec = read_living(data)
    assert isinstance(spec, LivingSpec)
    assert (spec.title, spec.purpose) == (
        "Doors Specification", "What doors do for the people in front of them and behind them.",
    )  # fmt: skip
    assert [(one.name, one.lines) for one in spec.requirements] == [("Sign in", (10, 15)), ("Sign out", (18, 21))]
    assert spec.history == (
        Deed("chg-a", Operation.ADDED, "Sign in"), Deed("chg-b", Operation.RENAMED_FROM, "a | b"),
    )  # fmt: skip
    assert spec.remarks == ()
    assert write_living(spec) == data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, "empty")]),
        (b"\0", [(1, "binary")]),
        (SPEC + "## ADDED Requirements\n", [(31, "delta_section")]),
        (SPEC + "### Requirement: Late\n", [(31, "outside")]),
        (SPEC.replace("Sign out", "Sign in ###"), [(18, "twice")]),
        (SPEC + "~~~\n", [(31, "fence_open")]),
        ("### Requirement: A\n" + SPEC + "```\n", [(1, "outside"), (32, "fence_open")]),
    ],
)
def test_a_living_spec_that_cannot_be_merged_into_is_refused(text, expected):
    assert problems(text, read_living) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("words", [(1, "no_purpose"), (1, "no_requirements")]),
        ("## Purpose\n\n## Requirements\n", [(1, "no_purpose"), (3, "no_requirements")]),
        (SPEC.replace("It MUST end.\n", ""), [(18, "no_text")]),
        (SPEC.replace("MUST", "will"), [(18, "no_shall")]),
        (SPEC.replace("- **THEN** gone\n", ""), [(18, "no_scenario")]),
        (SPEC.replace("## Notes", "### Notes"), [(23, "no_scenario")]),
        (SPEC.replace("What doors", "TODO doors"), [(3, "purpose_placeholder")]),
    ],
)
def test_a_living_spec_that_fails_openspec_validate_has_remarks(text, expected):
    assert [(one.line, one.code) for one in read_living(text.encode()).remarks] == expected


@pytest.mark.parametrize(
    "line",
    [
        " " * 200_000,
        "\u2028" * 200_000,
        "#" * 200_000,
        "`" * 200_000,
        "- " * 100_000,
        "FROM: " + " " * 200_000,
        "*" * 200_000,
    ],
)
def test_a_maliciously_long_line_is_read_in_short_time(line):
    """Each of these lines takes hours with a backtracking pattern."""
    kinds = ("ADDED", "MODIFIED", "REMOVED", "RENAMED")
    text = "".join(f"## {kind} Requirements\n{line}\n### Requirement: {line}x\n#### {line}y #\n" for kind in kinds)
    assert isinstance(read_delta(text.encode(), "d"), UnreadableDelta)
    assert isinstance(
        read_living(f"# {line}\n## Purpose\nTBD{line}\n<!--{line}\n## Requirements\n{line}".encode()),
        LivingSpec | UnreadableDelta,
    )
