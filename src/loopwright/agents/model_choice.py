"""Which model an agent's settings name, and whether two agents are independent reviewers of each other. Pure.

Two agents with the same program and the same model count as one reviewer, whatever their names are. For an unknown
program, all its settings count. Two names for the same model are not recognized as the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from posixpath import normpath

import msgspec

from loopwright.workspace.settings_model import AgentSettings

_FLAGS = ("--model", "-m")
# Codex accepts any setting with these flags.
_SETTING_FLAGS = ("--config", "-c")
# Options for a file or profile that may name a model. We do not read those.
_HIDING = {"claude": ("--settings",), "codex": ("--profile", "-p")}


def chosen_model(settings: AgentSettings) -> str:
    """The requested model; empty if the program chooses."""
    return model_in(settings.args) or settings.model.strip()


def model_in(args: Sequence[str]) -> str:
    """The model in the arguments. The last one wins, as in the programs."""
    model = ""
    for flag, value in _given(args, (*_FLAGS, *_SETTING_FLAGS)):
        if flag in _FLAGS:
            model = value
        elif (setting := _setting(value))[0] == "model":
            model = setting[1]
    return model


def hides_model(kind: str, args: Sequence[str]) -> bool:
    """Whether the arguments may name a model in a place that we do not read."""
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


_WITH_A_MODEL = frozenset({"claude", "codex", "gemini", "opencode"})


class AgentIdentity(msgspec.Struct, frozen=True):
    """What an agent name stands for. An empty model means that the program chooses."""

    kind: str
    model: str = ""
    # The shell command, the scripted turns, or all settings of an agent from another package.
    given: tuple[str, ...] = ()
    # Whether the arguments may name another model in a place that we do not read.
    hides_model: bool = False

    def may_be(self, other: AgentIdentity) -> bool:
        """Whether the two may be the same: an unknown model may be any model."""
        return self == other or (self.kind == other.kind and (self.hides_model or other.hides_model))

    @property
    def has_model(self) -> bool:
        """Whether a different model makes a different reviewer."""
        return self.kind in _WITH_A_MODEL

    def __str__(self) -> str:
        if self.hides_model:
            return f"{self.kind} with a model that its arguments hide"
        if self.has_model:
            return f"{self.kind} with the model {self.model}" if self.model else f"{self.kind} with its default model"
        return " ".join((self.kind, *filter(None, (self.model, *self.given))))


def identity_of(name: str, named: Mapping[str, AgentSettings], model: str = "") -> AgentIdentity:
    """What this name stands for; `model` is the model that the opened agent reports."""
    kind, colon, rest = name.partition(":")
    own = AgentSettings(kind=kind, command=rest, turns=rest) if colon else named.get(name, AgentSettings())
    match own.kind or name:
        case "command":
            return AgentIdentity("command", given=(own.command.strip(),))
        case "interactive":
            # A person is known by name only.
            return AgentIdentity("interactive", given=(name,))
        case "scripted":
            return AgentIdentity("scripted", given=(normpath(own.turns) if own.turns else "",))
        case adapter if adapter in _WITH_A_MODEL:
            return AgentIdentity(adapter, model or chosen_model(own), hides_model=hides_model(adapter, own.args))
        case adapter:
            return AgentIdentity(adapter, model or chosen_model(own), (*own.args, own.command, own.turns, *own.env))


def matching_builder(reviewer: str, builders: Iterable[str], identify: Callable[[str], AgentIdentity]) -> str | None:
    """The builder that is the same as this reviewer, under this name or another; None if there is none."""
    listed = tuple(builders)
    if reviewer in listed:
        return reviewer
    own = identify(reviewer)
    return next((name for name in listed if identify(name).may_be(own)), None)
