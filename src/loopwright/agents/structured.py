"""What an agent is asked for: the schema it gets, how its answer is read, and one request for a better answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Answer, NoAnswer, Reason, Role, Turn
from loopwright.agents.prompts.book import Book

_T = TypeVar("_T")
# Masks the secrets in a text.
Clean = Callable[[str], str]
_ENGLISH = Book()


class NotAnswered(ValueError):
    """The answer is not what was asked for."""


def schema_of(kind: type[Any]) -> Mapping[str, Any]:
    """The JSON Schema of answers of this kind; an object at its top, as every agent's program wants it."""
    made = msgspec.json.schema(kind)
    top = made.pop("$ref", None)
    if top is None:
        return made
    name = top.rpartition("/")[2]
    definitions = dict(made["$defs"])
    whole = definitions.pop(name)
    return {**whole, "$defs": definitions} if definitions else whole


def said_in_words(schema: Mapping[str, Any], book: Book) -> str:
    """What asks for a shape in a prompt."""
    return book.part("schema", schema=json.dumps(schema, ensure_ascii=False))


def in_words(turn: Turn) -> Turn:
    """The turn of an agent whose program has no means of its own to ask for a shape."""
    if turn.schema is None:
        return turn
    return replace(turn, prompt=f"{turn.prompt}\n\n{turn.schema_in_words or said_in_words(turn.schema, _ENGLISH)}\n")


def strict_form(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The same with every field required and none beside them, as some providers want it; None where that can't be.

    Whatever fits it fits the schema, too: a field with a default is given, where it could have been left out.
    """
    try:
        return {str(key): value for key, value in _strict(schema).items()}
    except NotAnswered:
        return None


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "properties" not in node and node.get("type") == "object":
        raise NotAnswered("an object of any keys has no strict form")
    plain = {key: value for key, value in node.items() if key not in ("default", "title", "description")}
    strict = {key: _strict(value) for key, value in plain.items() if key not in ("properties", "$defs")}
    for group in ("properties", "$defs"):
        if group in plain:
            strict[group] = {name: _strict(value) for name, value in plain[group].items()}
    if "properties" in plain:
        strict |= {"required": list(plain["properties"]), "additionalProperties": False}
    return strict


def read_answer(text: str, kind: type[_T]) -> _T:
    """The answer as this kind; a fence around the JSON, and what is said before and after that, is passed over."""
    body = text.strip()
    if not body.startswith(("{", "[")) and "```" in body:
        body = body.partition("```")[2].partition("\n")[2].rpartition("```")[0]
    try:
        document: Any = json.loads(body)
        return msgspec.convert(document, kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as problem:
        raise NotAnswered(f"the answer is not the JSON that was asked for: {problem}") from problem


class AnswerForm(msgspec.Struct, Generic[_T], frozen=True):
    """What counts as an answer. `read` raises `NotAnswered` for an answer that can't be used.

    `repair` gives the text that asks for a better one, from the problem with the first.
    """

    read: Callable[[Answer, Clean], _T]
    repair: Callable[[Book, str], str]
    # The JSON Schema of the answer; None for text.
    schema: Mapping[str, Any] | None = None


class AgentRequest(msgspec.Struct, Generic[_T], frozen=True, kw_only=True):
    """A question to an agent."""

    # The agent's name, as in the settings or spelled out (`command:…`).
    agent: str
    role: Role
    prompt: str
    form: AnswerForm[_T]
    # How many turns in this role were taken before for the same work; None if they are not counted.
    number: int | None = None
    # The session to continue, if any.
    session: str | None = None
    may_use_web: bool = True
    # Whether the agent may leave questions for a person.
    may_ask_people: bool = False
    # Whether only an answer is wanted, and no work: then each turn continues the session of the turn before.
    is_question: bool = False


def json_form(kind: type[_T], problem_of: Callable[[_T], str | None] = lambda _: None) -> AnswerForm[_T]:
    """JSON of this kind, without secrets. `problem_of` says what is wrong with a reply, if anything."""

    def read(answer: Answer, clean: Clean) -> _T:
        reply = read_answer(clean(answer.text), kind)
        if problem := problem_of(reply):
            raise NotAnswered(problem)
        return reply

    return AnswerForm(read, lambda book, problem: book.part("repair", problem=problem), schema_of(kind))


def _read_text(answer: Answer, clean: Clean) -> Answer:
    del clean
    return answer


def _read_nonempty_text(answer: Answer, clean: Clean) -> Answer:
    del clean
    if not answer.text.strip():
        raise NotAnswered("the answer is empty")
    return answer


def _ask_again(book: Book, problem: str) -> str:
    return book.part("again", problem=problem)


ANY_TEXT = AnswerForm(_read_text, _ask_again)
NONEMPTY_TEXT = AnswerForm(_read_nonempty_text, _ask_again)


def ask_twice(
    take: Callable[[str], Answer | NoAnswer], prompt: str, form: AnswerForm[_T], clean: Clean, book: Book = _ENGLISH
) -> _T | NoAnswer:
    """One answer of this form, asked for twice at most. `take` takes a turn with the prompt it is given."""
    problem, asked = "", prompt
    for _ in range(2):
        answer = take(asked)
        if isinstance(answer, NoAnswer):
            if answer.reason is not Reason.INVALID_ANSWER:
                return answer
            problem = clean(answer.detail)
        else:
            try:
                return form.read(answer, clean)
            except NotAnswered as unusable:
                problem = str(unusable)
        asked = f"{prompt}\n\n{form.repair(book, problem)}"
    return NoAnswer(Reason.INVALID_ANSWER, f"no usable answer, even after a second request: {problem}")
