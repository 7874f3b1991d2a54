"""Which model an agent's settings name: by their own field, or by an argument for its program. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from loopwright.workspace.settings_model import AgentSettings

_FLAGS = ("--model", "-m")
# As Codex takes any of its settings.
_SETTING_FLAGS = ("--config", "-c")
# What names a file or a table that may name a model, in which we do not look.
_HIDING = {"claude": ("--settings",), "codex": ("--profile", "-p")}


def chosen_model(settings: AgentSettings) -> str:
    """The model that is asked for; empty where the program chooses."""
    return model_in(settings.args) or settings.model.strip()


def model_in(args: Sequence[str]) -> str:
    """The model that is named among the arguments; the last one wins, as in the programs."""
    found = ""
    for flag, value in _given(args, (*_FLAGS, *_SETTING_FLAGS)):
        if flag in _FLAGS:
            found = value
        elif (setting := _setting(value))[0] == "model":
            found = setting[1]
    return found


def hides_model(kind: str, args: Sequence[str]) -> bool:
    """Whether the arguments of such a program may name a model where we do not see it."""
    if any(_given(args, _HIDING.get(kind, ()))):
        return True
    return kind == "codex" and any(_setting(value)[0] == "profile" for _, value in _given(args, _SETTING_FLAGS))


def _given(args: Sequence[str], flags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each of the flags with its value, in all spellings: `--f v`, `--f=v`, `-f v`, `-f=v`, `-fv`."""
    for arg, following in pairwise((*args, "")):
        for flag in flags:
            if arg == flag:
                yield flag, following
            elif arg.startswith(f"{flag}=" if flag.startswith("--") else flag):
                yield flag, arg.removeprefix(flag).removeprefix("=")


def _setting(text: str) -> tuple[str, str]:
    """A name and its value, as in `model = "gpt-5"`."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip().strip("\"'").strip()
