"""The language of messages in this terminal: chosen once, by the settings of the workspace or by the locale.

Only text for people is translated; JSON is always English. For English, no catalogue is loaded.
"""

from __future__ import annotations

import os
import sys

from loopwright.wording.catalogue import ENGLISH, Catalogue, catalogue_of
from loopwright.wording.language import language_of
from loopwright.workspace.peek import language_setting

_SAMPLE = "循环"


class _Speech:
    """The chosen catalogue; the choice is made before the first message."""

    def __init__(self) -> None:
        self.is_chosen = False
        self.catalogue = ENGLISH


_SPEECH = _Speech()


def speak(setting: str) -> None:
    """Use the language of this setting from now on; a terminal that cannot show it gets English."""
    language = language_of(setting, os.environ)
    _SPEECH.catalogue = catalogue_of(language if _can_be_shown() else "en")
    _SPEECH.is_chosen = True


def spoken() -> Catalogue:
    """The catalogue of the chosen language. Before a workspace is opened, the current folder decides."""
    if not _SPEECH.is_chosen:
        speak(language_setting(os.environ))
    return _SPEECH.catalogue


def told(text: str) -> str:
    """A message in the language of the user. Its English text is looked up among the templates."""
    return spoken().translate(text)


def words(template: str, /, **facts: object) -> str:
    """A message from a template, for texts that are too short to be looked up by `told`."""
    return spoken().words(template, **facts)


def _can_be_shown() -> bool:
    try:
        _SAMPLE.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
