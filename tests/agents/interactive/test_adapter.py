"""Work by hand as an agent: the contract, the moment of handing in, and traps in the mailbox."""

from __future__ import annotations

import os
import threading
import time

import pytest
from msgspec.structs import replace

from loopwright.agents.command.adapter import ShellAgent
from loopwright.agents.interactive.adapter import InteractiveAgent
from loopwright.agents.interactive.open_turn import GivenUp, TurnDone, opened_in, opened_since, submit
from loopwright.agents.port import USUAL_TURN_S, Answer, NoAnswer, Reason, Role, WorksOutside, seconds_for_a_turn
from loopwright.errors import StorageFailed
from loopwright.testing.contracts import AgentContract, start_plainly, turn_for

SCHEMA = {"type": "object"}


class HandedInAtOnce(InteractiveAgent):
    """The turn is handed in before the adapter starts to wait."""

    def __init__(self, what):
        super().__init__("interactive")
        self._what = what

    def take(self, turn, start):
        def quick(argv, **more):
            if self._what is not None:
                submit(turn.mailbox, self._what)
            return start(argv if self._what is not None else ("sh", "-c", "exit 3"), **more)

        return super().take(turn, quick)


class TestContract(AgentContract):
    def answering(self, tmp_path):
        return HandedInAtOnce(TurnDone("an answer"))

    def failing(self, tmp_path):
        return HandedInAtOnce(None)


@pytest.fixture
def mailbox(tmp_path):
    folder = tmp_path / "mailbox"
    folder.mkdir()
    return folder


def taken(turn):
    """Take the turn in another thread; returns a function that waits for its result."""
    came = []
    thread = threading.Thread(target=lambda: came.append(InteractiveAgent("me").take(turn, start_plainly)))
    thread.start()
    while opened_in(turn.mailbox) is None:
        time.sleep(0.01)

    def outcome():
        thread.join()
        return came[0]

    return outcome


def test_it_waits_for_an_answer_and_takes_only_the_first(mailbox):
    outcome = taken(replace(turn_for(mailbox, role=Role.BUILDER), schema=SCHEMA))
    found = opened_in(mailbox)
    assert (found.role, found.may_write, found.folder) == ("builder", True, str(mailbox.parent))
    assert (mailbox / "schema.json").is_file()
    assert found.schema == str(mailbox / "schema.json")
    assert opened_since(mailbox) <= time.time()
    assert submit(mailbox, TurnDone("it is done", ("a.py",)))
    assert not submit(mailbox, TurnDone("so is mine")), "the second answer is refused"
    answer = outcome()
    assert isinstance(answer, Answer)
    assert (answer.text, answer.files, answer.cost_usd) == ("it is done", ("a.py",), None)
    assert opened_in(mailbox) is None
    assert opened_since(mailbox) is None
    assert not list(mailbox.glob(".handed-in*"))


def test_a_turn_that_was_handed_in_is_closed_before_the_worker_reads_it(mailbox):
    InteractiveAgent("me").take(turn_for(mailbox), lambda argv, **_: start_plainly(("true",), env={}, timeout_s=5))
    (mailbox / "interactive-turn.json").write_text('{"role": "builder", "folder": "/x", "prompt": "/y"}')
    assert opened_in(mailbox) is not None
    assert submit(mailbox, GivenUp("no"))
    assert opened_in(mailbox) is None


def test_giving_up_counts_as_a_refusal(mailbox):
    outcome = taken(turn_for(mailbox))
    assert submit(mailbox, GivenUp("it can't be done"))
    answer = outcome()
    assert isinstance(answer, NoAnswer)
    assert (answer.reason, answer.detail) == (Reason.REFUSED, "it can't be done")


def test_a_turn_that_is_never_handed_in_ends_at_its_time_limit(mailbox):
    answer = InteractiveAgent("me").take(turn_for(mailbox, timeout_s=0.2), start_plainly)
    assert isinstance(answer, NoAnswer)
    assert answer.reason is Reason.HUNG
    assert opened_in(mailbox) is None


@pytest.mark.parametrize("data", [b"", b"{", b'{"type": "elsewhere"}', b'{"type": "given_up"}', b"[" * 100_000])
def test_any_other_file_is_not_an_answer(mailbox, data):
    def start(argv, **more):
        (mailbox / "handed-in.json").write_bytes(data)
        return start_plainly(argv, **more)

    answer = InteractiveAgent("me").take(turn_for(mailbox), start)
    assert isinstance(answer, NoAnswer)
    assert answer.reason is Reason.INVALID_ANSWER


def test_the_wake_up_follows_no_link_and_never_blocks(mailbox):
    victim = mailbox.parent / "victim"
    victim.write_text("mine")
    (mailbox / "bell").symlink_to(victim)
    with pytest.raises(StorageFailed, match="nothing was handed in"):
        submit(mailbox, TurnDone())
    assert victim.read_text() == "mine"
    assert not (mailbox / "handed-in.json").exists()
    (mailbox / "bell").unlink()
    os.mkfifo(mailbox / "bell")
    assert submit(mailbox, TurnDone())


def test_the_prompt_contains_paths_instead_of_variables(mailbox):
    prompt = "read $LOOPWRIGHT_MAILBOX/context/x, ask in $LOOPWRIGHT_DECISIONS"
    outcome = taken(turn_for(mailbox, prompt))
    assert (mailbox / "prompt.md").read_text() == f"read {mailbox}/context/x, ask in {mailbox / 'decisions'}"
    submit(mailbox, TurnDone())
    outcome()


def test_a_turn_by_hand_has_a_day_unless_the_settings_say_otherwise():
    agent = InteractiveAgent("me")
    assert isinstance(agent, WorksOutside)
    assert seconds_for_a_turn(agent, None) == 24 * 3600
    assert seconds_for_a_turn(agent, 60) == 60
    assert seconds_for_a_turn(ShellAgent(), None) == USUAL_TURN_S
