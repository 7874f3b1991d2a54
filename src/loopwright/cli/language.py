"""The language that this terminal is spoken to in: chosen once, by the workspace's settings or by the locale.

Only what people read goes through here; JSON is English in every language. English loads nothing.
"""

from __future__ import annotations

import os
import sys

from loopwright.wording.catalogue import ENGLISH, Catalogue, catalogue_of
from loopwright.wording.language import language_of
from loopwright.workspace.peek import language_setting

_SAMPLE = "循环"


class _Speech:
    """What was chosen; nothing until somebody says something."""

    def __init__(self) -> None:
        self.is_chosen = False
        self.catalogue = ENGLISH


_SPEECH = _Speech()


def speak(setting: str) -> None:
    """From here on in the language that the settings name; a terminal that can't show it gets English."""
    language = language_of(setting, os.environ)
    _SPEECH.catalogue = catalogue_of(language if _can_be_shown() else "en")
    _SPEECH.is_chosen = True


def spoken() -> Catalogue:
    """The catalogue of the language. Before any workspace is opened, the folder we are in tells."""
    if not _SPEECH.is_chosen:
        speak(language_setting(os.environ))
    return _SPEECH.catalogue


def told(text: str) -> str:
    """A sentence of ours as this person reads it."""
    return spoken().translate(text)


def words(template: str, /, **facts: object) -> str:
    """A line that is too short to be found again by its words: said by its template."""
    return spoken().words(template, **facts)


def _can_be_shown() -> bool:
    try:
        _SAMPLE.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
