"""Written deltas are read back equal; a delta that would not be is refused before it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.workflow.delta.grammar import plain_name
from loopwright.workflow.delta.model import Delta, Removed, Renamed, Scenario, ScenarioStep, UnreadableDelta
from loopwright.workflow.delta.read import read_delta, read_living
from loopwright.workflow.delta.write import new_living, requirement, unplaced, write_delta, write_living

WHEN = Scenario("works", "", (ScenarioStep("WHEN", "asked"), ScenarioStep("THEN", "told")))
CLEAN = [
    "Sign in",
    "Sign out",
    "登录必须快",
    "Use `git`",
    "C#",
    "A: b",
    "Naïve — ∑",
    "Scenario: x",
    "a | b",
    "*",
    "-",
    "é\x85",
]
NASTY = [
    "\n", "\n\n", "\r\n", "\t", " ", "#", "`", "~~~", "```", "### ", "\n## ADDED Requirements\n",
    "\n### Requirement: A\n", "\n#### Scenario: s\n", "SHALL", "**Reason**: ",
    "\u2028", "\u00a0", "<!--", "-->", "\n  - ", "\0", "x" * 50,
]  # fmt: skip
WORDS = st.lists(st.sampled_from(CLEAN + NASTY), max_size=6).map("".join)
NAMES = st.sampled_from(CLEAN) | WORDS
SENTENCES = st.sampled_from(CLEAN) | WORDS
STEPS = st.builds(ScenarioStep, st.sampled_from(["GIVEN", "WHEN", "THEN", "AND", "BUT"]), SENTENCES)
SCENARIOS = st.builds(Scenario, NAMES, SENTENCES, st.lists(STEPS, max_size=3).map(tuple))
REQUIREMENTS = st.lists(
    st.builds(requirement, NAMES, SENTENCES.map("It SHALL {}".format), st.lists(SCENARIOS, min_size=1, max_size=2)),
    max_size=4,
)


def made(requirements):
    """The requirements that the grammar allows, one for each name."""
    return tuple({one.name: one for one in requirements if not isinstance(one, UnreadableDelta)}.values())


@given(
    requirements=REQUIREMENTS,
    removed=st.lists(st.builds(Removed, NAMES, SENTENCES, SENTENCES), max_size=2),
    renamed=st.lists(st.builds(Renamed, NAMES, NAMES), max_size=2),
    purpose=SENTENCES,
)
def test_a_written_delta_is_read_back_or_refused(requirements, removed, renamed, purpose):
    several = made(requirements)
    delta = Delta("d", several[:2], several[2:], tuple(removed), tuple(renamed), purpose)
    data = write_delta(delta)
    if isinstance(data, UnreadableDelta):
        assert data.problems
        return
    read = read_delta(data, "d")
    assert unplaced(read) == unplaced(delta)
    assert write_delta(read) == data


@given(requirements=REQUIREMENTS)
def test_requirements_alone_are_never_refused(requirements):
    """Every result of `requirement` can be written, since `requirement` reads it back."""
    delta = Delta("d", added=(*made(requirements), requirement("Last", "It SHALL.", [WHEN])))
    assert unplaced(read_delta(write_delta(delta), "d")) == unplaced(delta)


@given(
    text=st.lists(st.sampled_from([*CLEAN, *NASTY, "## Purpose\nx\n", "\n## Requirements\n"]), min_size=3).map("".join)
)
def test_a_living_spec_is_written_back_unchanged(text):
    spec = read_living(text.encode())
    if isinstance(spec, UnreadableDelta):
        assert spec.problems
    else:
        assert write_living(spec) == text.encode()


@given(data=st.binary(max_size=200))
def test_no_bytes_cause_a_traceback(data):
    read_delta(data, "d")
    read_living(data)
    read_delta(b"## ADDED Requirements\n### Requirement: A\n" + data, "d")


def test_a_requirement_is_made_of_steps():
    one = requirement(
        "Ask", "It SHALL answer.", [Scenario("Works", "", (*WHEN.steps, ScenarioStep("AND", "over\ntwo lines")))]
    )
    assert one.source == (
        "### Requirement: Ask\nIt SHALL answer.\n\n"
        "#### Scenario: Works\n- **WHEN** asked\n- **THEN** told\n- **AND** over\n  two lines"
    )
    assert one.scenarios[0].steps[-1] == ScenarioStep("AND", "over\ntwo lines")


@pytest.mark.parametrize(
    ("name", "text", "scenarios"),
    [
        ("", "It SHALL.", [WHEN]),
        ("two\nlines", "It SHALL.", [WHEN]),
        ("closed ##", "It SHALL.", [WHEN]),
        ("A", "", [WHEN]),
        ("A", "It SHALL.\n## REMOVED Requirements", [WHEN]),
        ("A", "It SHALL.\n### Requirement: B\nIt SHALL.", [WHEN]),
        ("A", "It SHALL.\n```", [WHEN]),
        ("A", "It SHALL.", [Scenario("s", "text\n#### Scenario: t\ntext")]),
        ("A", "It SHALL.", [Scenario("s", "")]),
        ("A\0", "It SHALL.", [WHEN]),
        ("A\ud800", "It SHALL.", [WHEN]),
    ],
)
def test_text_outside_the_grammar_is_refused(name, text, scenarios):
    assert isinstance(requirement(name, text, scenarios), UnreadableDelta)


@pytest.mark.parametrize(
    "delta",
    [
        Delta("d"),
        Delta("d", removed=(Removed("A", "gone\n\n## ADDED Requirements"),)),
        Delta("d", removed=(Removed("A\n### Requirement: B"),)),
        Delta("d", removed=(Removed("A"), Removed("A"))),
        Delta("d", renamed=(Renamed("A", "B\n- FROM: ### Requirement: C"),)),
        Delta("d", removed=(Removed("A"),), purpose="One.\n## Two"),
        Delta("d", removed=(Removed("\ud800"),)),
    ],
)
def test_a_text_that_would_change_the_structure_is_refused(delta):
    assert isinstance(write_delta(delta), UnreadableDelta)


@pytest.mark.parametrize("purpose", ["", "TBD <!-- -->", "One.\n## Two", "One.\n# Two", "```\nopen"])
def test_a_purpose_that_would_break_the_file_is_replaced(purpose):
    spec = new_living("a/b", purpose)
    assert spec.purpose == "The behaviour of a/b that archived changes have settled, one requirement each."
    assert write_living(read_living(spec.head.encode())) == spec.head.encode()


def test_names_lose_only_what_closes_a_heading():
    assert [plain_name(text) for text in (" a ", "a #", "a ##\t", "C#", "a\u00a0#", "#", " #")] == [
        "a", "a", "a", "C#", "a\u00a0#", "#", "",
    ]  # fmt: skip
