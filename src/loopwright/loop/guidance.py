"""The next command for a person: for a hold, and for a loop in its state. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from loopwright.agents.port import Reason, Remedy, reasons_for
from loopwright.loop.choice import CHOICE_REQUIRED, legal_actions
from loopwright.loop.model import Completed, Created, Failed, Held, Hold, Holder, Loop, Running
from loopwright.loop.proof import NOTHING_CHANGED
from loopwright.wording.choices import Choice


def fails_as_it_is(loop: Loop) -> bool:
    """Whether the tests accept the work only without its protected changes."""
    whole = loop.validation.with_protected
    return whole is not None and not whole.passed and loop.validation.without_protected is not None


def broke_down(hold: Hold) -> bool:
    """Whether the agent's program broke down; its log tells why."""
    return hold.holder is Holder.BLOCKER and hold.reason in reasons_for(Remedy.INSPECT)


def is_own_limit(hold: Hold) -> bool:
    """Whether the limit is one of the agent's own program."""
    return hold.holder is Holder.BUDGET and hold.reason is Reason.BUDGET_USED


def lifted_by(hold: Hold, loop: Loop) -> str:
    """The next step after a hold, as a hint."""
    name = loop.loop_id
    match hold.holder:
        case Holder.OPERATOR:
            return f"`loopwright loop resume {name}` lifts it"
        case Holder.BUDGET if is_own_limit(hold):
            return (
                "the limit is the agent's own: raise it, as in `agents.NAME.args`, "
                f"then `loopwright loop resume {name}`"
            )
        case Holder.BUDGET:
            more = "`--tokens …`, `--wall …`, `--turns …`, `--retries …`, `--task-usd …`"
            return f"give it more: `loopwright loop resume {name} --usd …`, {more}"
        case Holder.BLOCKER if broke_down(hold):
            logs = f"`loopwright loop logs {name} --agent` shows what it printed"
            return f"{logs}; `loopwright loop resume {name}` continues"
        case Holder.BLOCKER:
            return f"look at it, then `loopwright loop resume {name}`"
        case Holder.PROOF:
            return "; ".join(choice.sentence for choice in _about_the_work(hold, loop))
        case Holder.QUOTA:
            when = (
                "a worker continues then by itself" if hold.until is not None else "when the agent is available again"
            )
            return f"{when}; `loopwright loop resume {name}` tries at once"
        case Holder.DECISION if hold.code == CHOICE_REQUIRED:
            return f"`loopwright loop choose {name} {legal_actions(loop)[0]}`, or start it in a terminal"
        case Holder.DECISION:
            asked = next((decision.id for decision in loop.open_decisions), "D-1")
            return f"answer it: `loopwright loop answer {name} {asked} …`"
        case _:
            assert_never(hold.holder)


def _about_the_work(hold: Hold, loop: Loop) -> Iterator[Choice]:
    """What a person can do about work that nothing proves: look, send it back, leave a part out, take it."""
    name = loop.loop_id
    back = Choice(f"loopwright loop resume {name}", "sends the work back; the agent learns why and continues")
    if hold.code == NOTHING_CHANGED:
        yield Choice(f"loopwright loop logs {name} --agent", "shows what the agent printed")
        yield back
        yield Choice(f"loopwright loop accept {name}", "completes the loop without a change, in your name")
        return
    yield Choice(f"loopwright loop diff {name}", "shows what the work changed")
    yield back
    if loop.validation.without_protected is not None:
        without = f"loopwright loop accept {name} --without-protected"
        yield Choice(without, "takes the work without its changes to protected files")
    if not fails_as_it_is(loop):
        yield Choice(f"loopwright loop accept {name}", "takes the work as it is, in your name")


def choices_of(loop: Loop) -> tuple[Choice, ...]:
    """What a person can do about work that nothing proves, in an honest order; empty if no work waits for that."""
    holds = (hold for hold in loop.holds if hold.holder is Holder.PROOF)
    return tuple(choice for hold in holds for choice in _about_the_work(hold, loop))


def _hints(hold: Hold, loop: Loop) -> tuple[str, ...]:
    """Each choice about the work has a line of its own."""
    if hold.holder is Holder.PROOF:
        return tuple(choice.sentence for choice in _about_the_work(hold, loop))
    return (lifted_by(hold, loop),)


def in_the_way(holds: tuple[Hold, ...]) -> tuple[Hold, ...]:
    """The hold to lift now. A choice comes last: it is possible only if nothing else holds the loop."""
    return tuple(hold for hold in holds if hold.code != CHOICE_REQUIRED) or holds


def way_on(loop: Loop, *, has_worker: bool) -> tuple[str, ...]:
    """The next commands, the most likely first; each is a command, or a sentence with commands."""
    name = loop.loop_id
    match loop.phase:
        case Created():
            return (f"loopwright loop start {name}",)
        case Running() if has_worker and loop.open_turn is not None and loop.open_turn.is_by_hand:
            return (f"loopwright loop turn {name}",)
        case Running() if has_worker:
            return (f"loopwright loop watch {name}",)
        case Running():
            return (f"loopwright loop resume {name}",)
        case Held(holds=holds):
            return tuple(hint for hold in in_the_way(holds) for hint in _hints(hold, loop))
        case Completed() if loop.validation.run_id:
            return (f"loopwright verify {loop.validation.run_id}",)
        case Completed():
            return ()
        case Failed(code="iterations_used"):
            return (f"loopwright loop retry {name} --max-iterations {2 * loop.max_iterations}",)
        case Failed():
            return (f"loopwright loop retry {name}",)
        case _:
            assert_never(loop.phase)
