"""Documents as people write them: every problem has its line, and unchanged parts keep their bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.workflow.clarity import OPEN_ITEMS_WEIGHT, SECTION_WEIGHTS, ambiguity
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage, new_page, read_page
from loopwright.workflow.documents.spec import is_placeholder, new_spec, read_spec

PAGE = b"""---
workflow: x
target_domains:
  - core/parse
---

# A title

before

## One

first

```
## not a heading
```

##  Two ##
second
"""


def problems(data):
    with pytest.raises(NotAPage) as caught:
        read_spec(data)
    return [(one.line, one.message) for one in caught.value.problems]


def test_a_page_is_read_in_parts_and_written_back_unchanged():
    page = read_page(PAGE)
    assert page.frontmatter == {"workflow": "x", "target_domains": ["core/parse"]}
    assert [(one.name, one.line) for one in page.sections] == [("One", 11), ("Two", 19)]
    assert "## not a heading" in page.text_of("one")
    assert page.render() == PAGE


def test_windows_line_ends_stay_consistent_in_a_changed_page():
    found = read_page(b"\xef\xbb\xbf" + PAGE.replace(b"\n", b"\r\n"))
    assert found.text_of("Two") == "second"
    changed = found.with_section("Two", "other").render()
    assert b"\r\n## Two\r\n\r\nother\r\n" in changed
    assert changed.count(b"\n") == changed.count(b"\r\n")


def test_a_changed_section_leaves_other_sections_unchanged():
    page = read_page(PAGE)
    changed = page.with_section("one", "new text").render()
    assert changed.startswith(PAGE[: PAGE.index(b"## One")])
    assert changed.endswith(PAGE[PAGE.index(b"##  Two") :])
    added = page.with_section("Three", "third").render()
    assert added == PAGE + b"\n## Three\n\nthird\n"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\0")), max_size=6))
def test_any_page_is_written_back_unchanged(parts):
    data = "\n".join(parts).encode()
    try:
        page = read_page(data)
    except NotAPage:
        return
    assert page.render() == (data.decode("utf-8-sig").rstrip("\n") + "\n").encode()


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"---\na: 1\n\n# x\n", 1, "does not end"),
        (b"---\na: [\n---\n", 3, "frontmatter"),
        (b"---\n- a\n---\n", 2, "not a list of keys"),
        (b"# x\n\n\xff\n", 3, "not UTF-8"),
        (b"# x\n\0", 2, "NUL"),
        (b"## A\n\n## a\n", 3, "duplicate"),
        (b"a" * (MOST_BYTES + 1), 1, "more than"),
        (b"## Ambiguity List\n\n- A-1 | maybe | what?\n", 3, "allowed: open or answered"),
        (b"## Ambiguity List\n\n- A-1 open what?\n", 3, "invalid item"),
        (b"## Ambiguity List\n- A-1 | open | a\n- A-1 | open | b\n", 3, "duplicate"),
    ],
)
def test_a_problem_is_named_with_its_line(data, line, words):
    found = problems(data)
    assert [at for at, message in found if words in message] == [line], found


def test_a_question_is_asked_answered_and_opened_again():
    spec = new_spec("T", "an idea", "x").asking("which\nport?").asking("who?")
    assert [item.id for item in spec.open_items] == ["A-1", "A-2"]
    spec = read_spec(spec.answering("A-1", "8787").page.render())
    assert [(item.id, item.status, item.question, item.answer) for item in spec.items] == [
        ("A-1", "answered", "which port?", "8787"),
        ("A-2", "open", "who?", ""),
    ]
    again = read_spec(spec.reopening("A-1").page.render())
    assert [item.id for item in again.open_items] == ["A-1", "A-2"]
    assert again.items[0].answer == "8787", "the old answer is not lost"


def test_an_agent_cannot_write_the_tools_own_sections():
    spec = new_spec("T", "", "x").asking("why?").answering("A-1", "because")
    written = spec.with_sections({s.ANSWERS: "- A-1: another", s.NON_GOALS: "- no GUI", "Strange": "x"})
    assert "because" in written.page.text_of(s.ANSWERS)
    assert written.is_filled(s.NON_GOALS)
    assert written.page.section("Strange") is None


@pytest.mark.parametrize("text", ["", "TBD", "- TODO", "…", "- tbd\n- ?", "<fill in>", "*待定*", "1. ..."])
def test_placeholders_count_as_empty(text):
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["none", "- a TODO list", "no GUI", "无"])
def test_a_short_answer_counts_as_an_answer(text):
    assert not is_placeholder(text)


def test_domains_come_from_the_section_else_the_frontmatter_else_general():
    spec = new_spec("T", "", "x")
    assert spec.domains == ("general",)
    page = spec.page.with_frontmatter(target_domains=["a", "b"])
    assert read_spec(page.render()).domains == ("a", "b")
    assert read_spec(page.with_section(s.DOMAINS, "- `core/parse`\n- cli").render()).domains == ("core/parse", "cli")


def test_the_ambiguity_score_is_computed_and_an_agent_can_only_raise_it():
    assert sum(SECTION_WEIGHTS.values()) + OPEN_ITEMS_WEIGHT == pytest.approx(1)
    empty = new_spec("T", "", "x")
    assert ambiguity(empty).value == pytest.approx(1 - OPEN_ITEMS_WEIGHT)
    full = empty.with_sections({name: f"- {name}" for name in SECTION_WEIGHTS})
    assert ambiguity(full).value == 0
    assert ambiguity(full, reported=0.3).value == pytest.approx(0.3)
    assert ambiguity(empty, reported=0.0).value == ambiguity(empty).value
    assert ambiguity(full, floor=1.0).value == 1
    asked = full.asking("q1").asking("q2").answering("A-1", "a")
    assert ambiguity(asked).value == pytest.approx(OPEN_ITEMS_WEIGHT / 2)
    assert ambiguity(asked, reported=7).value == 1
    assert ambiguity(asked, unjudged=("A-1",)).value == pytest.approx(OPEN_ITEMS_WEIGHT)
    same = empty.with_sections(dict.fromkeys(SECTION_WEIGHTS, "- said"))
    assert ambiguity(same).value == pytest.approx(ambiguity(empty).value - SECTION_WEIGHTS[s.INTENT]), "it counts once"


def test_a_new_page_has_its_frontmatter_first():
    assert new_page("T", workflow="x").render() == b"---\nworkflow: x\n---\n\n# T\n"
