"""Prompts: complete in both languages, filled in by every caller; a user's own prompts are checked before use."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Template

import jsonschema
import pytest

from loopwright.agents.port import Role
from loopwright.agents.prompts.book import (
    Book,
    PromptFolder,
    effective_prompts,
    find_user_prompts,
    problem_with,
    shipped,
)
from loopwright.agents.prompts.names import LANGUAGES, SHAPES, Shape, part_name
from loopwright.verbs.prompts import answer_schema, chosen_language
from loopwright.workspace.settings_model import AgentsSettings, Values, WorkspaceSettings

SOURCE = Path(__file__).resolve().parents[2] / "src" / "loopwright"
PROMPTS = [name for name, shape in SHAPES.items() if shape.role is not None]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_every_text_with_the_same_placeholders(language):
    texts = shipped(language)
    assert texts.keys() == SHAPES.keys()
    assert {name: frozenset(Template(text).get_identifiers()) for name, text in texts.items()} == {
        name: shape.known for name, shape in SHAPES.items()
    }
    assert {name: problem_with(text, SHAPES[name]) for name, text in texts.items()} == dict.fromkeys(SHAPES)
    chinese = [name for name, text in texts.items() if any("一" <= letter <= "鿿" for letter in text)]
    assert chinese == ([] if language == "en" else list(texts))


def test_every_role_has_a_prompt_and_every_answer_has_a_schema():
    assert {SHAPES[name].role for name in PROMPTS} == set(Role)
    for name, shape in SHAPES.items():
        schema = answer_schema(name)
        assert (schema is not None) == (shape.role is not None), name
        if schema is not None:
            jsonschema.Draft202012Validator.check_schema(schema)
            # The prompt names every field of the schema.
            asked = [key for language in LANGUAGES for key in schema.get("properties", ())]
            assert [key for key in asked if not all(key in shipped(one)[name] for one in LANGUAGES)] == [], name


def calls():
    """Each call of `.prompt("…")` or `.part("…")` in the source: its place, its text, and the given fields."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("click"))):
                    continue  # a person is asked
                case ast.Call(func=ast.Attribute(attr="prompt" | "part" as kind), args=[ast.Constant(str(name))]):
                    whole = part_name(name) if kind == "part" else name
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", whole, {one.arg for one in node.keywords}


def test_every_caller_fills_all_placeholders_and_every_text_has_a_caller():
    found = list(calls())
    wrong = [where for where, name, given in found if name not in SHAPES or SHAPES[name].known != given]
    assert wrong == []
    assert {name for _, name, _ in found} == set(SHAPES)
    with pytest.raises(TypeError, match="planner takes"):
        Book().prompt("planner", title="t")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("do $task, $blocker", None),
        ("do ${task}$blocker for $$5, see $judges", None),
        ("do $task", "$blocker is missing"),
        ("do $tsak$blocker", "$tsak is unknown here (known: $blocker, $judges, $task); $task is missing"),
        ("$task\n$blocker costs $5", "line 2 has a $ without a name: write $$ for a dollar sign"),
        (" \n", "it is empty; $task is missing; $blocker is missing"),
    ],
)
def test_a_text_with_unknown_or_missing_placeholders_is_refused(text, wrong):
    assert problem_with(text, Shape(Role.BUILDER, ("task", "blocker"), ("judges",))) == wrong


def test_a_workspace_prompt_wins_over_a_user_prompt_and_a_language_over_both(tmp_path):
    ours, theirs = tmp_path / "workspace", tmp_path / "user"
    for path in (ours / "planner.md", ours / "zh" / "planner.md", theirs / "planner.md", theirs / "critic_plan.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{path.relative_to(tmp_path)} $title $description $plan".replace(*_other(path.stem)))
    own, unusable = find_user_prompts((PromptFolder(ours, "workspace"), PromptFolder(theirs, "user")))
    assert unusable == ()
    held = {language: Book(language, effective_prompts(own, language)) for language in LANGUAGES}
    assert held["en"].text("planner").text.startswith("workspace/planner.md")
    assert held["zh"].text("planner").text.startswith("workspace/zh/planner.md")
    assert held["zh"].text("critic_plan").origin == "user"
    assert held["en"].text("builder").origin == "loopwright"
    own_only = effective_prompts(find_user_prompts((PromptFolder(theirs, "user"),))[0], "en")
    assert Book("en", own_only).prompt("planner", title="T", description="D").endswith("T D ")


def _other(name):
    return ("$plan", "") if name == "planner" else ("$title $description", "")


def test_unknown_files_are_reported_and_links_of_a_workspace_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the key $title $description")
    folder = tmp_path / "prompts"
    (folder / "fr").mkdir(parents=True)
    (folder / "plannr.md").write_text("x")
    (folder / "planner.md").symlink_to(secret)
    (folder / "critic_plan.md").write_bytes(b"\xff")
    (folder / "debugger.md").write_text("$failing" + " " * (64 << 10))
    (folder / "zh").symlink_to(tmp_path)
    own, unusable = find_user_prompts((PromptFolder(folder, "workspace"),))
    assert own == ()
    assert {one.path.name: one.why for one in unusable} == {
        "fr": "only folders for languages are allowed here: en, zh",
        "plannr.md": "no prompt has this name; did you mean planner.md?",
        "planner.md": "a link, and links of a workspace are not followed",
        "critic_plan.md": "it is not UTF-8",
        "debugger.md": "larger than 64 KiB",
        "zh": "a link, and links of a workspace are not followed",
    }
    (folder / "zh").unlink()
    # Links in the user's own folder are followed.
    own, _ = find_user_prompts((PromptFolder(folder, "user"),))
    assert [one.text for one in own if one.name == "planner"] == ["the key $title $description"]


@pytest.mark.parametrize(
    ("agents", "document", "chosen"),
    [("auto", "any", "en"), ("auto", "en", "en"), ("auto", "zh", "zh"), ("en", "zh", "en"), ("zh", "any", "zh")],
)
def test_agents_are_asked_in_the_chosen_language(agents, document, chosen):
    values = Values(agents=AgentsSettings(language=agents), workspace=WorkspaceSettings(document_language=document))
    assert chosen_language(values) == chosen
