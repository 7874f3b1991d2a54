"""One language's words for our English sentences.

Whatever is stored, sent or printed for programs is English and stays so. A sentence is its own key: `told` finds the
template that an English sentence was made of and says it with the same facts, wherever the sentence has been meanwhile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache, lru_cache

from loopwright.wording.language import Language
from loopwright.wording.mo_file import read_mo
from loopwright.wording.templates import MessageTemplate, is_template, words_of

LOCALE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")
_COMPILED = "LC_MESSAGES/loopwright.mo"
_MARGINS = re.compile(r"([\s✗✓●·→–—■]*)(.*?)([\s:]*)", re.DOTALL)
# Sentences are joined by these; what stands between them is found one by one.
_JOINTS = (("; ", "；"), (". ", "。"), (": ", "："), (", ", "，"))
# gettext's context for what is only ever said by its template: nobody looks for it in a text.
BY_TEMPLATE = "by template\x04"
_AMID = " ,;:(."
# Whatever is longer, or goes on for longer, is not a sentence of ours.
_LONGEST, _MOST_JOINTS = 2000, 30
_REMEMBERED = 2048


class Catalogue:
    """A language, by its table of sentences."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        sentences = {text: said for text, said in table.items() if not text.startswith(BY_TEMPLATE)}
        # A piece that begins or ends amid a sentence is found with the rest of the sentence beside it.
        self._known = {**sentences, **_with_the_rest(sentences)}
        templates = [MessageTemplate(text) for text in self._known if is_template(text)]
        # The longer a template, the more it says about the text that fits: it goes first.
        templates.sort(key=lambda one: (-one.letters, -one.length))
        self._distinct: dict[str, list[tuple[int, MessageTemplate]]] = {}
        for number, one in enumerate(templates):
            if one.is_distinct:
                self._distinct.setdefault(one.key, []).append((number, one))
        self._short = [one for one in templates if not one.is_distinct]
        self._literal = {text: said for text, said in self._known.items() if not is_template(text)}
        self.told = lru_cache(_REMEMBERED)(self._told)
        self._piece = lru_cache(_REMEMBERED)(self._found_piece)

    def words(self, template: str, /, **facts: object) -> str:
        """A sentence in this language; in English where the catalogue lacks it."""
        return self.text(template).format(**facts)

    def text(self, english_text: str) -> str:
        """A text without facts, such as a command's help."""
        said = self._table.get(english_text)
        return self._table.get(f"{BY_TEMPLATE}{english_text}", english_text) if said is None else said

    def _told(self, text: str) -> str:
        """An English sentence of ours in this language; any other text as it is."""
        if not self._table:
            return text
        if "\n" in text and self._whole(text) is None:
            return "\n".join(self._told(line) for line in text.split("\n"))
        matched = _MARGINS.fullmatch(text)
        before, middle, after = matched.groups() if matched is not None else ("", text, "")
        if not middle:
            return text
        said = self._piece(middle)
        if said == middle:
            # Nothing that can only be ours: a short line of ours may still be it, when it is all that is said.
            said = self._short_one(middle) or middle
        return f"{before}{said}{after}"

    def _found_piece(self, text: str) -> str:
        """What stands in a sentence of ours: another one, several, or words that are not ours."""
        if len(text) > _LONGEST:
            return text
        said = self._whole(text)
        if said is not None:
            return said
        for joint, other in _JOINTS:
            head, found, tail = text.partition(joint)
            if not found or text.count(joint) > _MOST_JOINTS:
                continue
            pieces = (self._piece(head), self._piece(tail))
            if pieces != (head, tail):
                return other.join(pieces)
        return text

    def _short_one(self, text: str) -> str | None:
        """A sentence with few words of its own: it is ours if its facts are names, or sentences of ours themselves."""
        for one in self._short:
            facts = one.facts_in(text)
            if facts is None:
                continue
            said = {name: self._piece(fact) for name, fact in facts.items()}
            long = [name for name, fact in facts.items() if " " in fact and name not in one.announced]
            if not long or any(said[name] != facts[name] for name in long):
                return self._known[one.text].format(**said)
        return None

    def _whole(self, text: str) -> str | None:
        if text in self._literal:
            return self._literal[text]
        fitting = [found for word in ("", *words_of(text)) for found in self._distinct.get(word, ())]
        for _, one in sorted(fitting, key=lambda found: found[0]):
            facts = one.facts_in(text)
            if facts is not None:
                return self._known[one.text].format(**{name: self._piece(fact) for name, fact in facts.items()})
        return None


def _with_the_rest(table: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for text, said in table.items():
        if text[0] in _AMID and MessageTemplate(text).is_distinct:
            found[f"{{head}}{text}"] = f"{{head}}{said}"
        elif text[-1] in " \n":
            found[f"{text}{{rest}}"] = f"{said}{{rest}}"
            found[text.rstrip(": \n")] = said.rstrip("：: \n")
    return found


ENGLISH = Catalogue({})


@cache
def catalogue_of(language: Language) -> Catalogue:
    """The language's catalogue; English needs no file."""
    return ENGLISH if language == "en" else Catalogue(read_mo(os.path.join(LOCALE, language, _COMPILED)))
