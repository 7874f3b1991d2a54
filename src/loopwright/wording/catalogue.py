"""Reads a compiled gettext catalogue into a table. Python's own module does not expose its table."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Mapping
from functools import cache, lru_cache

from loopwright.wording.language import Language
from loopwright.wording.templates import MessageTemplate, is_template, words_of

_MAGIC = 0x950412DE
_LITTLE, _BIG = "<", ">"


class InvalidCatalogue(ValueError):
    """The file is not a compiled gettext catalogue."""


def read_mo(path: str) -> dict[str, str]:
    """A table from English to the other language, without the catalogue's header entry."""
    with open(path, "rb") as file:
        data = file.read()
    for order in (_LITTLE, _BIG):
        if len(data) >= 20 and struct.unpack_from(f"{order}I", data)[0] == _MAGIC:
            _, _, count, english, other = struct.unpack_from(f"{order}5I", data)
            pairs = (
                (_text(data, order, english + 8 * number), _text(data, order, other + 8 * number))
                for number in range(count)
            )
            return {message: translation for message, translation in pairs if message}
    raise InvalidCatalogue(path)


def _text(data: bytes, order: str, offset: int) -> str:
    length, start = struct.unpack_from(f"{order}2I", data, offset)
    return data[start : start + length].decode()


LOCALE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")
_COMPILED = "LC_MESSAGES/loopwright.mo"
_MARGINS = re.compile(r"([\s✗✓●·→–—■]*)(.*?)([\s:]*)", re.DOTALL)
# Punctuation that joins messages; each joined part is translated separately.
_JOINTS = (("; ", "；"), (". ", "。"), (": ", "："), (", ", "，"))
# The gettext context of messages that the source always looks up by template, never by text.
BY_TEMPLATE = "by template\x04"
_CONTINUATIONS = " ,;:(."
# A text that is longer, or has more joints, is not a message of Loopwright.
_LONGEST, _MOST_JOINTS = 2000, 30
_CACHE_SIZE = 2048


class Catalogue:
    """The messages of one language."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        messages = {text: translation for text, translation in table.items() if not text.startswith(BY_TEMPLATE)}
        # A message that begins or ends inside a sentence is found together with the rest of the sentence.
        self._known = {**messages, **_with_the_rest(messages)}
        templates = [MessageTemplate(text) for text in self._known if is_template(text)]
        # A longer template matches fewer texts by accident, so longer templates are tried first.
        templates.sort(key=lambda template: (-template.letters, -template.length))
        self._distinct: dict[str, list[tuple[int, MessageTemplate]]] = {}
        for number, template in enumerate(templates):
            if template.is_distinct:
                self._distinct.setdefault(template.key, []).append((number, template))
        self._short = [template for template in templates if not template.is_distinct]
        self._literal = {text: translation for text, translation in self._known.items() if not is_template(text)}
        self.translate = lru_cache(_CACHE_SIZE)(self._translate)
        self._translate_part = lru_cache(_CACHE_SIZE)(self._translate_uncached_part)

    def message(self, template: str, /, **facts: object) -> str:
        """A message in this language, looked up by template; in English if the translation is missing."""
        return self.text(template).format(**facts)

    def text(self, english_text: str) -> str:
        """The translation of a text without facts, such as a command's help."""
        translation = self._table.get(english_text)
        return self._table.get(f"{BY_TEMPLATE}{english_text}", english_text) if translation is None else translation

    def _translate(self, text: str) -> str:
        """An English message of Loopwright in this language; any other text unchanged."""
        if not self._table:
            return text
        if "\n" in text and self._translate_whole(text) is None:
            return "\n".join(self._translate(line) for line in text.split("\n"))
        match = _MARGINS.fullmatch(text)
        before, middle, after = match.groups() if match is not None else ("", text, "")
        if not middle:
            return text
        translation = self._translate_part(middle)
        if translation == middle:
            # No distinct message matches. A short message may match if it is the whole line.
            translation = self._translate_short(middle) or middle
        return f"{before}{translation}{after}"

    def _translate_uncached_part(self, text: str) -> str:
        """Translate a part of a message: a message, several joined messages, or text that stays unchanged."""
        if len(text) > _LONGEST:
            return text
        translation = self._translate_whole(text)
        if translation is not None:
            return translation
        for joint, other in _JOINTS:
            head, separator, tail = text.partition(joint)
            if not separator or text.count(joint) > _MOST_JOINTS:
                continue
            parts = (self._translate_part(head), self._translate_part(tail))
            if parts != (head, tail):
                return other.join(parts)
        return text

    def _translate_short(self, text: str) -> str | None:
        """Translate a message with few words. It matches if its facts are names or can be translated themselves."""
        for template in self._short:
            facts = template.facts_in(text)
            if facts is None:
                continue
            translated = {name: self._translate_part(fact) for name, fact in facts.items()}
            long = [name for name, fact in facts.items() if " " in fact and name not in template.after_colon]
            if not long or any(translated[name] != facts[name] for name in long):
                return self._known[template.text].format(**translated)
        return None

    def _translate_whole(self, text: str) -> str | None:
        """Translate the text if it is exactly one distinct message."""
        if text in self._literal:
            return self._literal[text]
        candidates = [entry for word in ("", *words_of(text)) for entry in self._distinct.get(word, ())]
        for _, template in sorted(candidates, key=lambda entry: entry[0]):
            facts = template.facts_in(text)
            if facts is not None:
                translated = {name: self._translate_part(fact) for name, fact in facts.items()}
                return self._known[template.text].format(**translated)
        return None


def _with_the_rest(table: Mapping[str, str]) -> dict[str, str]:
    completed = {}
    for text, translation in table.items():
        if text[0] in _CONTINUATIONS and MessageTemplate(text).is_distinct:
            completed[f"{{head}}{text}"] = f"{{head}}{translation}"
        elif text[-1] in " \n":
            completed[f"{text}{{rest}}"] = f"{translation}{{rest}}"
            completed[text.rstrip(": \n")] = translation.rstrip("：: \n")
    return completed


ENGLISH = Catalogue({})


def few(names: tuple[str, ...], count: int | None = None, *, most: int = 5, catalogue: Catalogue = ENGLISH) -> str:
    """The first of these names, and the number of the others; `count` is the number of all if these are only some."""
    more = (len(names) if count is None else count) - most
    return ", ".join(names[:most]) + (catalogue.message(" and {more} more", more=more) if more > 0 else "")


@cache
def catalogue_of(language: Language) -> Catalogue:
    """The language's catalogue; English needs no file."""
    return ENGLISH if language == "en" else Catalogue(read_mo(os.path.join(LOCALE, language, _COMPILED)))
