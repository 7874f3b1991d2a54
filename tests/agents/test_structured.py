"""Schemas in the form that agents' programs accept, and one repair."""

from __future__ import annotations

import msgspec
import pytest

from loopwright.agents.port import Answer, NoAnswer, Reason, Usage
from loopwright.agents.structured import ANY_TEXT, NONEMPTY_TEXT, ask_twice, json_form, schema_of, strict_form
from loopwright.agents.usage import Tokens, add_usage, cost_of, price_of, read_usage, shipped_prices
from loopwright.loop.actions.debug import ProposedHypotheses
from loopwright.workspace.settings_model import Price


class Free(msgspec.Struct):
    anything: dict[str, str]


def test_a_strict_form_requires_every_field_and_no_other():
    whole = schema_of(ProposedHypotheses)
    assert whole["type"] == "object"
    strict = strict_form(whole)
    assert strict is not None
    one = strict["$defs"]["ProposedHypothesis"]
    assert set(one["required"]) == set(one["properties"]) >= {"fix", "likelihood"}
    assert one["additionalProperties"] is False
    assert "default" not in str(strict)
    assert strict_form(schema_of(Free)) is None, "unknown keys can't be required"


INVALID = NoAnswer(Reason.INVALID_ANSWER, "cut short")
CRASHED = NoAnswer(Reason.CRASHED, "exit 7")
JSON = '{"anything": {}}'


@pytest.mark.parametrize(
    ("form", "said", "asked", "came"),
    [
        (json_form(Free), [JSON], 1, Free({})),
        (json_form(Free), ["no", f"```json\n{JSON}\n```"], 2, Free({})),
        (json_form(Free), [INVALID, JSON], 2, Free({})),
        (json_form(Free), ["no", CRASHED], 2, Reason.CRASHED),
        (json_form(Free), [CRASHED], 1, Reason.CRASHED),
        (json_form(Free), ["no", "no", JSON], 2, Reason.INVALID_ANSWER),
        (json_form(Free, lambda reply: "not this one"), [JSON, JSON], 2, Reason.INVALID_ANSWER),
        (ANY_TEXT, [""], 1, ""),
        (ANY_TEXT, [INVALID, "text"], 2, "text"),
        (ANY_TEXT, [INVALID, INVALID], 2, Reason.INVALID_ANSWER),
        (NONEMPTY_TEXT, [" ", "text"], 2, "text"),
        (NONEMPTY_TEXT, [" ", INVALID], 2, Reason.INVALID_ANSWER),
    ],
)
def test_an_unusable_answer_is_requested_again_once(form, said, asked, came):
    prompts = []

    def take(prompt):
        prompts.append(prompt)
        answer = said[len(prompts) - 1]
        return Answer(answer, 0.0) if isinstance(answer, str) else answer

    reply = ask_twice(take, "p", form, str)
    match reply:
        case NoAnswer(reason):
            assert reason is came
        case Answer(text):
            assert text == came
        case _:
            assert reply == came
    assert len(prompts) == asked
    assert all(prompt.startswith("p\n\n") for prompt in prompts[1:])


def test_the_second_request_names_the_problem_without_its_secrets():
    prompts = []

    def take(prompt):
        prompts.append(prompt)
        return NoAnswer(Reason.INVALID_ANSWER, "it holds a key")

    reply = ask_twice(take, "p", json_form(Free), lambda text: text.replace("key", "***"))
    assert "it holds a ***" in prompts[1]
    assert "it holds a ***" in reply.detail


def test_a_price_comes_from_the_user_or_the_table_or_is_unknown():
    tokens = Tokens(input=1_000_000, cached=1_000_000, output=1_000_000)
    assert cost_of("gpt-5", tokens, {}) == pytest.approx(1.25 + 0.125 + 10)
    assert cost_of("gpt-5-2025-08-07", tokens, {}) == cost_of("gpt-5", tokens, {})
    assert cost_of("gpt-5", tokens, {"gpt-5": Price(input=1, output=2)}) == pytest.approx(4)
    assert price_of("gpt-5-pro", {}) is None
    assert cost_of("a-model", tokens, {}) is None


def test_usage_is_written_through_no_link_and_names_the_session(tmp_path):
    add_usage(tmp_path, Usage(usd=1.0, tokens=3))
    add_usage(tmp_path, Usage(session="s-1"))
    with (tmp_path / "usage.jsonl").open("a") as stream:
        stream.write('{"session": "--help"}\n')
    found = read_usage(tmp_path / "usage.jsonl", is_over=True)
    assert (found.usd, found.tokens, found.session) == (1.0, 3, "s-1")
    (tmp_path / "usage.jsonl").unlink()
    (tmp_path / "other").write_text("mine")
    (tmp_path / "usage.jsonl").symlink_to(tmp_path / "other")
    add_usage(tmp_path, Usage(tokens=3))
    assert (tmp_path / "other").read_text() == "mine"


@pytest.mark.parametrize("model", ["claude-opus-5-5", "gpt-6.1-sol", "gemini-3.1-pro-preview"])
def test_default_models_have_a_price_and_every_price_has_a_date_and_a_source(model):
    (listed,) = [one for one in shipped_prices() if model in one.models]
    assert listed.source.strip()
    assert listed.as_of.year >= 2026
    assert price_of(model, {}) is not None
