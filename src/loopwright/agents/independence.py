"""Whether two names of agents are two opinions: who works behind them decides, not what they are called. Pure.

The same program with the same model is the same reviewer, whatever else its settings say. Of programs that we do not
know everything that they are given counts. Names of a model that mean the same one are not known to do so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from posixpath import normpath

import msgspec

from loopwright.agents.model_choice import chosen_model, hides_model
from loopwright.workspace.settings_model import AgentSettings

_WITH_A_MODEL = frozenset({"claude", "codex", "gemini", "opencode"})


class Doer(msgspec.Struct, frozen=True):
    """Who works behind a name. An empty model is the one that its program chooses."""

    kind: str
    model: str = ""
    # The shell command, the written turns, or all that an agent of another package is given.
    given: tuple[str, ...] = ()
    # Whether what its program is given may name another model, where we do not see it.
    hides_model: bool = False

    def may_be(self, other: Doer) -> bool:
        """Whether the two can't be told apart: a model that nobody can read may be any."""
        return self == other or (self.kind == other.kind and (self.hides_model or other.hides_model))

    @property
    def has_model(self) -> bool:
        """Whether another model makes it another one."""
        return self.kind in _WITH_A_MODEL

    def __str__(self) -> str:
        if self.hides_model:
            return f"{self.kind} with a model that its arguments do not show"
        if self.has_model:
            return f"{self.kind} with the model {self.model}" if self.model else f"{self.kind} with its usual model"
        return " ".join((self.kind, *filter(None, (self.model, *self.given))))


def doer_of(name: str, named: Mapping[str, AgentSettings], model: str = "") -> Doer:
    """Who works behind this name; `model` is the one that the opened agent says that it asks."""
    kind, colon, rest = name.partition(":")
    own = AgentSettings(kind=kind, command=rest, turns=rest) if colon else named.get(name, AgentSettings())
    match own.kind or name:
        case "command":
            return Doer("command", given=(own.command.strip(),))
        case "interactive":
            # Who sits there is not known but by name.
            return Doer("interactive", given=(name,))
        case "scripted":
            return Doer("scripted", given=(normpath(own.turns) if own.turns else "",))
        case adapter if adapter in _WITH_A_MODEL:
            return Doer(adapter, model or chosen_model(own), hides_model=hides_model(adapter, own.args))
        case adapter:
            return Doer(adapter, model or chosen_model(own), (*own.args, own.command, own.turns, *own.env))


def same_as(reviewer: str, builders: Iterable[str], who: Callable[[str], Doer]) -> str | None:
    """The builder that this reviewer is, under that name or another; None where it is somebody else."""
    listed = tuple(builders)
    if reviewer in listed:
        return reviewer
    own = who(reviewer)
    return next((name for name in listed if who(name).may_be(own)), None)
