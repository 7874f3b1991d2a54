"""What a server offers: tools with typed arguments, and resources. Knows neither the protocol nor a workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from loopwright.agents.shown_file import ShownFile
from loopwright.kernel.process import Cancellation

_A = TypeVar("_A", bound="Arguments")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool. Unknown fields are refused, not ignored."""


class Tool(msgspec.Struct, Generic[_A], frozen=True):
    """A tool that an agent can call."""

    name: str
    takes: type[_A]
    does: Callable[[_A, Cancellation], dict[str, Any]]
    # For a model.
    description: str
    # Whether it only reads.
    is_reading: bool = False

    def schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema."""
        (_, parts) = msgspec.json.schema_components((self.takes,), ref_template="#/$defs/{name}")
        own = parts.pop(self.takes.__name__)
        own.pop("title", None)
        return {**own, **({"$defs": parts} if parts else {})}

    def call(self, arguments: dict[str, Any], cancellation: Cancellation) -> dict[str, Any]:
        """Run the tool; `msgspec.ValidationError` names an invalid argument."""
        return self.does(msgspec.convert(arguments, self.takes), cancellation)


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that an agent can read, or a family of them with a template as URI."""

    uri: str
    name: str
    description: str
    mime: str = "text/markdown"


class ResourceText(msgspec.Struct, frozen=True, kw_only=True):
    """A resource's content."""

    file: ShownFile
    mime: str = "text/markdown"


class Library(Protocol):
    """The resources."""

    def listed(self) -> list[Resource]:
        """All listed resources."""
        ...

    def templates(self) -> tuple[Resource, ...]:
        """The templates."""
        ...

    def read(self, uri: str) -> ResourceText | None:
        """The resource with this URI; None if there is none."""
        ...


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one server offers.

    `clean` masks the secrets in every text that leaves the server. `hide` is made for each answer of a tool, and masks
    what agents may not know.
    """

    tools: tuple[Tool[Any], ...]
    library: Library
    instructions: str
    clean: Callable[[str], str]
    hide: Callable[[], Callable[[str], str]]

    def tool(self, name: str) -> Tool[Any] | None:
        """The tool of this name."""
        return next((tool for tool in self.tools if tool.name == name), None)
