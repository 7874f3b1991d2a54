"""What an agent is asked for: the schema it gets, how its answer is read, and one request for a better answer."""

from __future__ import annotations

import json
import secrets
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


class UnusableAnswer(ValueError):
    """The answer is not what was asked for."""


def schema_of(kind: type[Any]) -> Mapping[str, Any]:
    """The JSON Schema of answers of this kind, with an object at its top, as every agent's program demands."""
    made = msgspec.json.schema(kind)
    top = made.pop("$ref", None)
    if top is None:
        return made
    name = top.rpartition("/")[2]
    definitions = dict(made["$defs"])
    whole = definitions.pop(name)
    return {**whole, "$defs": definitions} if definitions else whole


def schema_request(schema: Mapping[str, Any], book: Book, nonce: str = "") -> str:
    """The part of a prompt that asks for an answer of this schema, with the nonce if there is one."""
    request = book.part("schema", schema=json.dumps(schema, ensure_ascii=False))
    return f"{request}\n{book.part('nonce', nonce=nonce)}" if nonce else request


def with_schema_in_prompt(turn: Turn) -> Turn:
    """The turn with its schema in the prompt, for an agent whose program has no option for a schema."""
    if turn.schema is None:
        return turn
    return replace(turn, prompt=f"{turn.prompt}\n\n{turn.schema_text or schema_request(turn.schema, _ENGLISH)}\n")


def strict_form(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema with every field required and no others allowed, as some providers demand; None if impossible.

    An answer that fits the strict form fits the schema as well.
    """
    try:
        return {str(key): value for key, value in _strict(schema).items()}
    except UnusableAnswer:
        return None


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "properties" not in node and node.get("type") == "object":
        raise UnusableAnswer("an object with arbitrary keys has no strict form")
    plain = {key: value for key, value in node.items() if key not in ("default", "title", "description")}
    strict = {key: _strict(value) for key, value in plain.items() if key not in ("properties", "$defs")}
    for group in ("properties", "$defs"):
        if group in plain:
            strict[group] = {name: _strict(value) for name, value in plain[group].items()}
    if "properties" in plain:
        strict |= {"required": list(plain["properties"]), "additionalProperties": False}
    return strict


def read_answer(text: str, kind: type[_T]) -> _T:
    """The answer as this kind. A code fence around the JSON, and text before and after the fence, is ignored."""
    body = text.strip()
    if not body.startswith(("{", "[")) and "```" in body:
        body = body.partition("```")[2].partition("\n")[2].rpartition("```")[0]
    try:
        document: Any = json.loads(body)
        return msgspec.convert(document, kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as problem:
        raise UnusableAnswer(f"the answer is not the requested JSON: {problem}") from problem


def require_verdict(answer: Answer, nonce: str) -> None:
    """Raise `UnusableAnswer` unless the agent itself gave this answer, and nothing else, to this question.

    Reviewed code can put a verdict into a text that a reviewer quotes. The code can't write the structured answer of
    the agent's protocol, and does not know the nonce, which is new for each turn and in no tree.
    """
    try:
        document = json.loads(answer.text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as problem:
        raise UnusableAnswer(f"the answer is not only the requested JSON: {problem}") from problem
    if answer.is_structured:
        return
    written = document.get("nonce") if isinstance(document, dict) else None
    if not isinstance(written, str) or not nonce or not secrets.compare_digest(written.encode(), nonce.encode()):
        raise UnusableAnswer("the JSON lacks the nonce of this question")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are unique: of two verdicts, none counts."""
    document = dict(pairs)
    if len(document) != len(pairs):
        raise UnusableAnswer("a key occurs twice")
    return document


class AnswerForm(msgspec.Struct, Generic[_T], frozen=True):
    """What counts as an answer. `read` raises `UnusableAnswer` for an unusable answer.

    `repair` makes the request for a better answer from the problem of the first answer.
    """

    read: Callable[[Answer, Clean], _T]
    repair: Callable[[Book, str], str]
    # The JSON Schema of the answer; None for text.
    schema: Mapping[str, Any] | None = None
    # Whether the answer can open a gate: then it counts only if `require_verdict` accepts it.
    is_verdict: bool = False


class AgentRequest(msgspec.Struct, Generic[_T], frozen=True, kw_only=True):
    """A question to an agent."""

    # The agent's name, as in the settings or spelled out (`command:…`).
    agent: str
    role: Role
    prompt: str
    form: AnswerForm[_T]
    # The number of earlier turns of the same work in this role; None if they are not counted.
    number: int | None = None
    # The session to continue, if any.
    session: str | None = None
    may_use_web: bool = True
    # Whether the agent may leave questions for a person.
    may_ask_people: bool = False
    # Whether the agent must only answer and not work. Then each turn continues the session of the turn before.
    is_question: bool = False


def json_form(kind: type[_T], problem_of: Callable[[_T], str | None] = lambda _: None) -> AnswerForm[_T]:
    """JSON of this kind, without secrets. `problem_of` names the problem of a reply, if there is one."""

    def read(answer: Answer, clean: Clean) -> _T:
        reply = read_answer(clean(answer.text), kind)
        if problem := problem_of(reply):
            raise UnusableAnswer(problem)
        return reply

    return AnswerForm(read, lambda book, problem: book.part("repair", problem=problem), schema_of(kind))


def verdict_form(kind: type[_T], problem_of: Callable[[_T], str | None] = lambda _: None) -> AnswerForm[_T]:
    """JSON of this kind that can open a gate."""
    return replace(json_form(kind, problem_of), is_verdict=True)


def _read_text(answer: Answer, clean: Clean) -> Answer:
    del clean
    return answer


def _read_nonempty_text(answer: Answer, clean: Clean) -> Answer:
    del clean
    if not answer.text.strip():
        raise UnusableAnswer("the answer is empty")
    return answer


def _ask_again(book: Book, problem: str) -> str:
    return book.part("again", problem=problem)


ANY_TEXT = AnswerForm(_read_text, _ask_again)
NONEMPTY_TEXT = AnswerForm(_read_nonempty_text, _ask_again)


def ask_twice(
    take: Callable[[str, str], Answer | NoAnswer],
    prompt: str,
    form: AnswerForm[_T],
    clean: Clean,
    book: Book = _ENGLISH,
) -> _T | NoAnswer:
    """One answer of this form, requested at most twice. `take` takes a turn with the given prompt and nonce."""
    problem, asked = "", prompt
    for _ in range(2):
        nonce = secrets.token_hex(16) if form.is_verdict else ""
        answer = take(asked, nonce)
        if isinstance(answer, NoAnswer):
            if answer.reason is not Reason.INVALID_ANSWER:
                return answer
            problem = clean(answer.detail)
        else:
            try:
                if form.is_verdict:
                    require_verdict(answer, nonce)
                return form.read(answer, clean)
            except UnusableAnswer as unusable:
                problem = str(unusable)
        asked = f"{prompt}\n\n{form.repair(book, problem)}"
    return NoAnswer(Reason.INVALID_ANSWER, f"no usable answer, even after a second request: {problem}")
