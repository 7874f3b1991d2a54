"""The page of all prompts: each text with its placeholders and the fields of its answer."""

from __future__ import annotations

from loopwright.agents.prompts.names import SHAPES, Shape
from loopwright.verbs.prompts import answer_schema

_INTRO = """# Prompts

This table lists every text that Loopwright gives to agents, by the name that `loopwright prompts` takes. Your own text
must contain the placeholders under *needs*, and may contain those under *may*. `loopwright prompts show NAME --schema`
prints the JSON Schema of an answer. See [prompts](../prompts.md).

| name | role | needs | may | the answer's fields |
|---|---|---|---|---|
"""


def page(head: str) -> str:
    """The page."""
    return f"{head}{_INTRO}" + "".join(f"{_row(name, shape)}\n" for name, shape in SHAPES.items())


def _row(name: str, shape: Shape) -> str:
    role = shape.role.value if shape.role is not None else "part"
    cells = (name, role, _listed(shape.needs, "$"), _listed(shape.may, "$"), _answer(name))
    return f"| {' | '.join(cells)} |"


def _listed(names: tuple[str, ...], mark: str = "") -> str:
    return ", ".join(f"`{mark}{name}`" for name in names)


def _answer(name: str) -> str:
    schema = answer_schema(name)
    if schema is None:
        return ""
    return _listed(tuple(schema["properties"])) if "properties" in schema else "any text"
