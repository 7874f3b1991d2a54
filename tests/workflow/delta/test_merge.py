"""Merging: other requirements keep their bytes, a repetition changes nothing, a conflict merges nothing."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.workflow.delta.merge import base_of, conflicts_between, merged
from loopwright.workflow.delta.model import (
    Conflict,
    Conflicts,
    Deed,
    Delta,
    Merged,
    Operation,
    Removed,
    Renamed,
)
from loopwright.workflow.delta.read import read_delta, read_living

SPEC = """\
# Doors

## Purpose
What doors do for the people in front of them and behind them.

## Requirements
### Requirement: Open
It SHALL open.


#### Scenario: Push
- **WHEN** pushed
### Requirement: Close
It SHALL close.

#### Scenario: Pull
- **WHEN** pulled



### Requirement: Lock
It MUST lock.
#### Scenario: Turn
- **WHEN** turned

## Notes

- kept   \t
"""


def made(name, text="It SHALL do so.", *scenarios):
    examples = "".join(f"\n\n#### Scenario: {one}\n- **THEN** so" for one in scenarios or ("Works",))
    return read_delta(f"## ADDED Requirements\n\n### Requirement: {name}\n{text}{examples}\n".encode(), "d").added[0]


def spec_of(text=SPEC):
    return read_living(text.encode())


def merge(spec, delta, *, change_id="chg-a", base=None):
    return merged(spec, delta, change_id=change_id, base=base_of(spec) if base is None else base)


def conflicts(result):
    assert isinstance(result, Conflicts), result
    return [(one.requirement, one.message) for one in result.conflicts]


ALL = Delta(
    "doors",
    added=(made("Ring"), made("Knock")),
    modified=(made("Shut", "It MUST shut.", "Pull", "Slam"),),
    removed=(Removed("Open"),),
    renamed=(Renamed("Close", "Shut"),),
)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_all_four_operations_at_once(ends):
    result = merge(spec_of(SPEC.replace("\n", ends)), ALL)
    expected = SPEC[: SPEC.index("### Requirement: Open")] + (
        "### Requirement: Shut\nIt MUST shut.\n\n#### Scenario: Pull\n- **THEN** so\n\n"
        "#### Scenario: Slam\n- **THEN** so\n\n\n\n"
        "### Requirement: Lock\nIt MUST lock.\n#### Scenario: Turn\n- **WHEN** turned\n\n"
        "### Requirement: Ring\nIt SHALL do so.\n\n#### Scenario: Works\n- **THEN** so\n\n"
        "### Requirement: Knock\nIt SHALL do so.\n\n#### Scenario: Works\n- **THEN** so\n\n"
        "## Notes\n\n- kept   \t\n\n"
        "## Archived Changes\n\n- chg-a | RENAMED FROM | Close\n- chg-a | RENAMED TO | Shut\n- chg-a | REMOVED | Open\n"
        "- chg-a | MODIFIED | Shut\n- chg-a | ADDED | Ring\n- chg-a | ADDED | Knock\n"
    )
    assert result.data.decode() == expected.replace("\n", ends)
    assert [one.name for one in result.spec.requirements] == ["Shut", "Lock", "Ring", "Knock"]


def test_the_next_change_extends_the_history():
    first = merge(spec_of(), Delta("doors", added=(made("Ring"),)))
    second = merge(first.spec, Delta("doors", removed=(Removed("Ring"),)), change_id="chg-b")
    assert second.data.decode() == SPEC + "\n## Archived Changes\n\n- chg-a | ADDED | Ring\n- chg-b | REMOVED | Ring\n"
    assert second.spec.history == (Deed("chg-a", Operation.ADDED, "Ring"), Deed("chg-b", Operation.REMOVED, "Ring"))
    again = merge(second.spec, Delta("doors", added=(made("Ring"),)))
    assert again.data == second.data, "what chg-b took out does not come back"


def test_a_new_domain_begins_with_its_purpose():
    purpose = "What doors do for the people in front of them and behind them."
    result = merge(None, Delta("a/doors", added=(made("Ring"),), purpose=purpose))
    assert result.data.decode() == (
        f"# a/doors Specification\n\n## Purpose\n\n{purpose}\n\n## Requirements\n\n"
        "### Requirement: Ring\nIt SHALL do so.\n\n#### Scenario: Works\n- **THEN** so\n\n"
        "## Archived Changes\n\n- chg-a | ADDED | Ring\n"
    )
    assert result.spec.remarks == ()


@pytest.mark.parametrize("text", [SPEC[: SPEC.index("## Requirements")], SPEC[: SPEC.index("### Requirement: Open")]])
def test_a_spec_without_requirements_gets_its_first(text):
    result = merge(spec_of(text.rstrip()), Delta("doors", added=(made("Ring"),)))
    assert result.data.decode().startswith(text.rstrip())
    assert [one.name for one in result.spec.requirements] == ["Ring"]


ALTERED = spec_of(SPEC.replace("It SHALL close.", "It SHALL close twice."))
MISSING = spec_of(SPEC.replace("Requirement: Close", "Requirement: Shut"))


@pytest.mark.parametrize(
    ("spec", "delta", "expected"),
    [
        (ALTERED, Delta("d", modified=(made("Close"),)), [("Close", "was changed after the change was planned")]),
        (ALTERED, Delta("d", removed=(Removed("Close"),)), [("Close", "was changed after the change was planned")]),
        (
            ALTERED,
            Delta("d", renamed=(Renamed("Close", "X"),)),
            [("Close", "was changed after the change was planned")],
        ),
        (MISSING, Delta("d", modified=(made("Close"),)), [("Close", "is missing")]),
        (MISSING, Delta("d", removed=(Removed("Close"),)), [("Close", "is missing")]),
        (MISSING, Delta("d", renamed=(Renamed("Close", "Shut"),)), [("Close", "is missing")]),
        (MISSING, Delta("d", added=(made("Shut"),)), [("Shut", "already exists")]),
        (MISSING, Delta("d", added=(made("SHUT"),)), [("SHUT", "already exists as 'Shut'")]),
        (MISSING, Delta("d", removed=(Removed("Shut"),)), [("Shut", "did not exist when the change was planned")]),
        (
            MISSING,
            Delta("d", renamed=(Renamed("Open", "shut"),)),
            [("shut", "'Open' can't get this name: 'Shut' already exists")],
        ),
        (
            spec_of(),
            Delta("d", removed=(Removed("close"),)),
            [("close", "is missing, but 'Close' exists: names must match exactly")],
        ),
        (None, Delta("d", removed=(Removed("Close"),)), [("Close", "the domain has no spec yet")]),
        (
            spec_of(),
            Delta("d", modified=(made("Close", "It SHALL.", "Other"),)),
            [("Close", "MODIFIED replaces the whole requirement, and would drop its scenarios 'Pull'")],
        ),
        (
            spec_of(),
            Delta("d", removed=tuple(map(Removed, ("Open", "Close", "Lock")))),
            [("", "the change removes the last requirement of this spec; a person must delete the spec")],
        ),
        (
            spec_of(SPEC.replace("- **WHEN** turned\n", "")),
            Delta("d", removed=(Removed("Open"),)),
            [
                (
                    "",
                    "the merged spec is invalid: 'Requirement: Lock' has no `#### Scenario:` with steps",
                )
            ],
        ),
    ],
)
def test_a_conflict_names_the_requirement_and_what_happened(spec, delta, expected):
    assert conflicts(merge(spec, delta, base=base_of(spec_of()))) == expected


def test_every_conflict_is_named_at_once_with_the_earlier_change():
    planned = spec_of()
    other = Delta(
        "doors", removed=(Removed("Open"),), modified=(made("Close", "It SHALL.", "Pull"),), added=(made("Ring"),)
    )
    now = merge(planned, other, change_id="chg-b").spec
    ours = Delta(
        "doors",
        removed=(Removed("Open"),),
        modified=(made("Close", "It SHALL.", "Pull"),),
        added=(made("Ring"), made("New")),
    )
    result = merge(now, ours, base=base_of(planned))
    assert conflicts(result) == [
        ("Open", "is missing (chg-b: REMOVED)"),
        ("Close", "was changed after the change was planned (chg-b: MODIFIED)"),
        ("Ring", "already exists (chg-b: ADDED)"),
    ]
    assert {one.domain for one in result.conflicts} == {"doors"}


def test_openspecs_changes_to_blank_lines_are_no_conflict():
    moved = SPEC.replace("\n\n\n\n", "\n\n").replace("It SHALL open.\n\n\n", "It SHALL open.\n\n").replace("\n", "\r\n")
    assert base_of(spec_of(moved)) == base_of(spec_of())


def test_a_blank_line_inside_a_code_fence_is_content():
    fenced = SPEC.replace("It SHALL close.", "It SHALL close.\n```\na\n\nb\n```")
    assert base_of(spec_of(fenced)) != base_of(spec_of(fenced.replace("a\n\nb", "a\n\n\nb")))


def test_one_change_is_not_merged_twice_with_different_contents():
    first = merge(spec_of(), Delta("doors", added=(made("Ring"),)))
    result = merge(first.spec, Delta("doors", added=(made("Knock"),)))
    assert conflicts(result) == [("", "chg-a was merged before, with other requirements")]


def test_a_delta_that_would_be_read_back_differently_is_not_merged():
    forged = msgspec.structs.replace(made("Ring"), source=made("Ring").source + "\n```")
    assert conflicts(merge(spec_of(), Delta("doors", added=(forged,)))) == [
        ("", "the merged spec can't be read: this code fence is never closed: it hides the rest of the file")
    ]
    two = msgspec.structs.replace(made("Ring"), source=made("Ring").source + "\n" + made("Bell").source)
    assert conflicts(merge(spec_of(), Delta("doors", added=(two,)))) == [("Ring", "can't be read back as written")]
    assert isinstance(merge(spec_of(), Delta("doors", added=(made("Ring"),)), change_id="a | b\n"), Conflicts)


def test_two_active_changes_that_touch_one_requirement_are_found():
    found = conflicts_between({
        "chg-a": [Delta("x", modified=(made("Open"),)), Delta("y", added=(made("New"),))],
        "chg-b": [Delta("x", renamed=(Renamed("Close", "Shut"),)), Delta("y", added=(made("new"),))],
        "chg-c": [Delta("x", removed=(Removed("Open"),)), Delta("z", added=(made("New"),))],
    })  # fmt: skip
    assert found == (
        Conflict("x", "Open", "chg-a: MODIFIED; chg-c: REMOVED"),
        Conflict("y", "New", "chg-a: ADDED; chg-b: ADDED"),
    )
    assert conflicts_between({"chg-a": [ALL]}) == ()


NAMES = st.sampled_from(["Open", "Close", "Lock", "Ring", "Knock", "open", "Shut"])
TEXTS = st.sampled_from(["It SHALL.", "It MUST\n\n```\n### Requirement: x\n```", "It SHALL.\n\n\n\nMore."])
BLOCKS = st.builds(lambda name, text: made(name, text, "Push", "Pull", "Turn"), NAMES, TEXTS)
DELTAS = st.builds(
    Delta,
    st.just("d"),
    added=st.lists(BLOCKS, max_size=2).map(tuple),
    modified=st.lists(BLOCKS, max_size=2).map(tuple),
    removed=st.lists(st.builds(Removed, NAMES), max_size=2).map(tuple),
    renamed=st.lists(st.builds(Renamed, NAMES, NAMES), max_size=2).map(tuple),
)
SPECS = st.sampled_from(
    [SPEC, SPEC.replace("\n", "\r\n"), "\ufeff" + SPEC, SPEC.rstrip(), SPEC.partition("## Notes")[0].rstrip()]
)


@given(text=SPECS, deltas=st.lists(DELTAS, min_size=1, max_size=4))
def test_merging_again_changes_no_byte_and_other_requirements_keep_their_bytes(text, deltas):
    spec = spec_of(text)
    for number, delta in enumerate(deltas):
        result = merge(spec, delta, change_id=f"chg-{number}")
        if isinstance(result, Conflicts):
            assert result.conflicts
            continue
        assert merge(result.spec, delta, change_id=f"chg-{number}", base={}).data == result.data
        named = {deed.requirement for deed in result.spec.history if deed.change_id == f"chg-{number}"}
        kept = [one for one in spec.requirements if one.name not in named]
        now = {one.name: one.source for one in result.spec.requirements}
        for one in kept[:-1]:  # after the last requirement a blank line may be missing
            assert now[one.name] == one.source
        assert all(now[one.name].startswith(one.source) for one in kept[-1:])
        assert result.spec.head == spec.head
        assert result.data.decode().endswith("\n")
        assert spec.tail.rstrip() in result.spec.tail
        spec = result.spec


@given(delta=DELTAS)
def test_a_merge_accepts_every_delta_that_the_reader_accepts(delta):
    """A delta from a file and the same delta from its parts give the same merge."""
    text = "".join(f"## {kind} Requirements\n\n{body}\n" for kind, body in (
        ("ADDED", "\n\n".join(one.source for one in delta.added)),
        ("MODIFIED", "\n\n".join(one.source for one in delta.modified)),
        ("REMOVED", "\n".join(f"- ### Requirement: {one.name}" for one in delta.removed)),
        ("RENAMED", "\n".join(f"FROM: ### Requirement: {r.old}\nTO: ### Requirement: {r.new}" for r in delta.renamed)),
    ))  # fmt: skip
    read = read_delta(text.encode(), "d")
    if isinstance(read, Delta):
        one, other = merge(spec_of(), read), merge(spec_of(), delta)
        assert isinstance(one, Merged) == isinstance(other, Merged)
        assert not isinstance(one, Merged) or not isinstance(other, Merged) or one.data == other.data
