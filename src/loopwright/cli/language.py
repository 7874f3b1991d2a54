"""The language of messages in this terminal: chosen once, by the settings of the workspace or by the locale.

Only text for people is translated; JSON is always English. For English, no catalogue is loaded.
"""

from __future__ import annotations

import os
import sys

from loopwright.wording.catalogue import Catalogue, catalogue_of
from loopwright.wording.language import language_of
from loopwright.workspace.peek import language_setting

_SAMPLE = "循环"


# The chosen catalogue; empty until the first message.
_CHOSEN: list[Catalogue] = []


def set_language(setting: str) -> None:
    """Use the language of this setting from now on; a terminal that cannot show it gets English."""
    language = language_of(setting, os.environ)
    _CHOSEN[:] = [catalogue_of(language if _can_be_shown() else "en")]


def catalogue() -> Catalogue:
    """The catalogue of the chosen language. Before a workspace is opened, the current folder decides."""
    if not _CHOSEN:
        set_language(language_setting(os.environ))
    return _CHOSEN[0]


def translate(text: str) -> str:
    """A message in the language of the user. Its English text is looked up among the templates."""
    return catalogue().translate(text)


def message(template: str, /, **facts: object) -> str:
    """A message from a template, for texts that are too short for `translate` to find."""
    return catalogue().message(template, **facts)


def _can_be_shown() -> bool:
    try:
        _SAMPLE.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
