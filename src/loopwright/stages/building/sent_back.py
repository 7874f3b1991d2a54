"""The task of an agent whose work a person sends back, by what keeps the work from the review. Pure.

It names no check and no test: some of them may be hidden from agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.workflow.blockers import Blocker, Family

_PROTECTED = (Family.CHANGED_TEST, Family.SEALED_FILE_CHANGED)
_ASKS = {
    Family.VACUOUS_CHECK: "the checks pass whatever they expect: do the work itself, and add tests that can fail",
    Family.PROCESS_STATE_CHANGED: "the work changes state of the test process: leave that state as it was",
    Family.FLAGGED: "code of the work could deceive a check: write it without that",
    Family.NOTHING_CHANGED: "no file is different from before the work: do what the plan asks for",
}


def sent_back(blockers: Iterable[Blocker]) -> str:
    """What the agent has to change; empty if no blocker waits for the decision of a person."""
    asks = "; ".join(dict.fromkeys(_asks(tuple(blockers))))
    return f"A person sent the work back: {asks}" if asks else ""


def _asks(blockers: tuple[Blocker, ...]) -> Iterator[str]:
    for blocker in blockers:
        family = blocker.family
        path = blocker.code.removeprefix(family.code) if family is not None else ""
        if family in _PROTECTED:
            yield f"leave {path} as it was before the work, or do the work without what is doubtful in it"
        elif family is Family.UNPROVEN_REQUIREMENT:
            yield f"nothing proves {path}: add a test that fails without the work"
        elif family in _ASKS:
            yield _ASKS[family]
