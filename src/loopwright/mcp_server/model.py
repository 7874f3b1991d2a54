"""What a server offers: tools with typed arguments, and resources. Knows neither the protocol nor a workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from loopwright.kernel.process import Cancellation

_A = TypeVar("_A", bound="Arguments")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes; a field that it does not know is refused, not passed over."""


class Tool(msgspec.Struct, Generic[_A], frozen=True, kw_only=True):
    """One thing that an agent can ask for."""

    name: str
    description: str
    takes: type[_A]
    does: Callable[[_A, Cancellation], dict[str, Any]]
    # Whether it leaves everything as it is.
    is_reading: bool = False

    def schema(self) -> dict[str, Any]:
        """Its arguments as JSON Schema."""
        (_, parts) = msgspec.json.schema_components((self.takes,), ref_template="#/$defs/{name}")
        own = parts.pop(self.takes.__name__)
        own.pop("title", None)
        return {**own, **({"$defs": parts} if parts else {})}

    def call(self, arguments: dict[str, Any], cancellation: Cancellation) -> dict[str, Any]:
        """Do it; `msgspec.ValidationError` says which argument does not fit."""
        return self.does(msgspec.convert(arguments, self.takes), cancellation)


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be read."""

    uri: str
    name: str
    description: str
    mime: str = "text/markdown"


class ResourceTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A family of resources."""

    uri: str
    name: str
    description: str
    mime: str = "text/markdown"


class ResourceText(msgspec.Struct, frozen=True, kw_only=True):
    """A resource's content."""

    text: str
    mime: str = "text/markdown"


class Library(Protocol):
    """The resources."""

    def listed(self) -> list[Resource]:
        """All that have a name."""
        ...

    def templates(self) -> tuple[ResourceTemplate, ...]:
        """The families."""
        ...

    def read(self, uri: str) -> ResourceText | None:
        """One of them; None when there is none of this name."""
        ...


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one server offers. `clean` takes secrets out of every text that leaves it."""

    tools: tuple[Tool[Any], ...]
    library: Library
    instructions: str
    clean: Callable[[str], str]

    def tool(self, name: str) -> Tool[Any] | None:
        """The tool of this name."""
        return next((tool for tool in self.tools if tool.name == name), None)
