"""A language's catalogue: a template is found by the English text of a message, with its facts."""

from __future__ import annotations

import pytest

from loopwright.wording.catalogue import BY_TEMPLATE, ENGLISH, Catalogue, InvalidCatalogue, catalogue_of, read_mo

OTHER = Catalogue(
    {
        "{count} questions are open: {items}": "还有 {count} 个问题：{items}",
        "the spec delta is not whole: {why}": "增量不完整：{why}",
        "it says nothing": "它什么也没说",
        "{spec} can't be read: {problem}": "无法读取 {spec}：{problem}",
        "command {number} exited with {code}{wanted}": "命令 {number} 以 {code} 退出{wanted}",
        ", {expected} was expected": "，预期是 {expected}",
        "{file} is {state}": "{file} {state}",
        "missing": "缺失",
        "signed by {by} at {at}": "由 {by} 于 {at} 签字",
        "signed by {by} at {at} ({slice})": "由 {by} 于 {at} 签字（{slice}）",
        "steps wait for each other: ": "步骤互相等待：",
        "{{id, pattern}} is what a rule needs": "规则需要 {{id, pattern}}",
        f"{BY_TEMPLATE}the tests {{how}}": "测试{how}",
    }
)


@pytest.mark.parametrize(
    ("english", "other"),
    [
        ("2 questions are open: A-1, A-2", "还有 2 个问题：A-1, A-2"),
        ("  ✗ 2 questions are open: A-1  ", "  ✗ 还有 2 个问题：A-1  "),
        ("the spec delta is not whole: it says nothing", "增量不完整：它什么也没说"),
        ("a.md can't be read: the spec delta is not whole: it says nothing", "无法读取 a.md：增量不完整：它什么也没说"),
        ("it says nothing; it says nothing", "它什么也没说；它什么也没说"),
        ("VS-1: it says nothing", "VS-1：它什么也没说"),
        ("it says nothing\n  it says nothing", "它什么也没说\n  它什么也没说"),
        ("command 1 exited with 7, 0 was expected", "命令 1 以 7 退出，预期是 0"),
        ("command 1 exited with 7", "命令 1 以 7 退出"),
        ("plan.md is missing", "plan.md 缺失"),
        ("signed by ann at noon (VS-1)", "由 ann 于 noon 签字（VS-1）"),
        ("signed by ann at noon", "由 ann 于 noon 签字"),
        ("steps wait for each other: a, b", "步骤互相等待：a, b"),
        ("{id, pattern} is what a rule needs", "规则需要 {id, pattern}"),
        ("2 questions are open: {items}", "还有 2 个问题：{items}"),
    ],
)
def test_a_sentence_is_found_by_its_text(english, other):
    assert OTHER.translate(english) == other


@pytest.mark.parametrize(
    "text",
    ["", "  ", "loopwright plan greet", "questions are open", "今天 is fine, thank you", "the tests pass", "a\nb", "→"],
)
def test_other_text_stays_unchanged(text):
    assert OTHER.translate(text) == text


def test_a_short_message_matches_only_as_a_whole_line():
    # Inside a sentence, "the parser is slow" is a person's answer.
    assert OTHER.translate("2 questions are open: the parser is slow") == "还有 2 个问题：the parser is slow"


def test_a_text_of_any_length_is_read_through_in_no_time():
    zh = catalogue_of("zh")
    for text in ("; ".join(["a: b, c. d"] * 5000), ", ".join(["x y z"] * 30), "one; two: three, four. " * 25):
        assert zh.translate(text) == text


def test_a_template_is_filled_with_its_facts_and_falls_back_to_english():
    assert OTHER.message("{count} questions are open: {items}", count=2, items="A-1") == "还有 2 个问题：A-1"
    assert OTHER.message("the tests {how}", how="通过") == "测试通过"
    assert OTHER.message("{count} files", count=3) == "3 files"
    assert OTHER.text("no such text") == "no such text"


def test_english_messages_stay_unchanged():
    assert ENGLISH.translate("2 questions are open: A-1") == "2 questions are open: A-1"
    assert ENGLISH.message("{count} questions", count=2) == "2 questions"
    assert catalogue_of("en") is ENGLISH


def test_the_shipped_catalogue_translates():
    assert catalogue_of("zh").translate("plan->build is not approved yet") == "plan->build 还没有批准"


def test_a_file_that_gettext_did_not_compile_is_refused(tmp_path):
    (tmp_path / "x.mo").write_bytes(b"not a catalogue at all")
    with pytest.raises(InvalidCatalogue):
        read_mo(str(tmp_path / "x.mo"))
