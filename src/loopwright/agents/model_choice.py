"""Which model an agent's settings name: by their own field, or by an argument for its program. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loopwright.workspace.settings_model import AgentSettings

_FLAGS = ("--model", "-m")
# As Codex takes any of its settings.
_SETTING_FLAGS = ("--config", "-c")
_SETTING = "model="


def chosen_model(settings: AgentSettings) -> str:
    """The model that is asked for; empty where the program chooses."""
    return model_in(settings.args) or settings.model


def model_in(args: Sequence[str]) -> str:
    """The model that is named among the arguments; the last one wins, as in the programs."""
    found = ""
    for flag, value in pairwise((*args, "")):
        name, equals, joined = flag.partition("=")
        if equals and name in _FLAGS:
            found = joined
        elif flag in _FLAGS:
            found = value
        elif flag in _SETTING_FLAGS and value.startswith(_SETTING):
            found = value.removeprefix(_SETTING).strip("\"'")
    return found
