"""A JSON object whose writer we do not know: a field that is missing, or is something else, says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_LONGEST_CLAIM = 200


class Fields:
    """Fields by name; the first of several names that says something counts."""

    def __init__(self, document: object = None) -> None:
        self._document: dict[str, Any] = document if isinstance(document, dict) else {}

    def inner(self, name: str) -> Fields:
        """The object in a field."""
        return Fields(self._document.get(name))

    def text(self, *names: str) -> str:
        """A text, or a number as one."""
        for name in names:
            found = self._document.get(name)
            if isinstance(found, str) and found.strip():
                return _plain(found.strip())
            if isinstance(found, int | float) and not isinstance(found, bool):
                return str(found)
        return ""

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts; one text is a list of one, an object is its values under their keys."""
        for name in names:
            if found := tuple(_texts(self._document.get(name))):
                return found
        return ()

    def objects(self, name: str) -> tuple[Fields, ...]:
        """A list of objects."""
        found = self._document.get(name)
        return tuple(Fields(one) for one in found if isinstance(one, dict)) if isinstance(found, list) else ()

    def is_true(self, name: str) -> bool:
        """Whether a field says yes."""
        return self._document.get(name) is True

    def claims(self, *names: str) -> dict[str, str]:
        """What these fields say, short enough to be shown; an object's fields are claims of their own."""
        found: dict[str, str] = {}
        for name in names:
            value = self._document.get(name)
            if isinstance(value, dict):
                inner = Fields(value)
                found |= {f"{name}.{key}": said for key in value if (said := inner._claim(str(key)))}
            elif said := self._claim(name):
                found[name] = said
        return {_plain(name)[:_LONGEST_CLAIM]: said[:_LONGEST_CLAIM] for name, said in found.items()}

    def _claim(self, name: str) -> str:
        value = self._document.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.inner(name).text("status") or self.text(name)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = [f"{key}: {one}" for key, one in value.items() if isinstance(one, str) and one.strip()]
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and one.strip():
            yield _plain(one.strip())
        elif isinstance(one, dict) and (said := Fields(one).text("text", "title", "description", "path")):
            yield said


def _plain(text: str) -> str:
    """Half a character, which JSON can spell, is no text that a file can hold."""
    return text.encode("utf-8", "backslashreplace").decode()
