"""One question to an agent: names of records, numbers, sessions, the second request, takeovers and the bill."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from loopwright.agents.failover import FailoverOrder, Unanswered
from loopwright.agents.port import Allowance, Answer, NoAnswer, Reason, Remedy, Role, Usage
from loopwright.agents.prompts.book import Book
from loopwright.agents.structured import NONEMPTY_TEXT, AgentRequest
from loopwright.errors import AgentFailed
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.redaction.build import build_redactor
from loopwright.runner import ask_agent as module
from loopwright.runner.ask_agent import AgentReply, AskingContext, ask_agent
from loopwright.runner.meter import TurnCost
from loopwright.runner.turn import TurnResult
from loopwright.sandbox.model import Confinement
from loopwright.workspace.settings_model import AgentSettings, SecretsSettings

BOOK = Book(language="zh")
KEY = "pXq7Lm2Zt9Rb4Kc8Vn1"
EMPTY, LIMITED = Answer("", 0.0, session="s-1"), NoAnswer(Reason.RATE_LIMITED, f"the key {KEY} is at its limit")
DONE = Answer("done", 0.0, session="s-2")


class Named(str):
    """A sandbox by its name, with isolation that no attempt defeated."""

    __slots__ = ()

    sandbox = SimpleNamespace(
        confinement=Confinement(
            requested="auto", used="test", writes_confined=True, home_hidden=True, network="open", processes="none"
        )
    )


class Asker:
    """Keeps what it is told; takes from `allowances` before each turn."""

    def __init__(self, folder, order=(), allowances=()):
        self.record = folder / "work-1"
        self._order, self._allowances = order, list(allowances)
        self.takeovers, self.booked, self.ended = [], [], []

    def allowance(self):
        return self._allowances.pop(0) if self._allowances else Allowance()

    def sandbox(self, agent):
        return nullcontext(Named(f"of {agent.name}"))

    @contextmanager
    def turn(self, called, turn):
        yield lambda result: self.booked.append((called, turn.turn_sandbox, result.cost.turn))
        self.ended.append(called)

    def order(self):
        return FailoverOrder(self._order, tuple(self.takeovers), "work", "2026-01-01T00:00:00Z")

    def hand_over(self, takeover):
        self.takeovers.append(takeover)


@pytest.fixture
def ask(monkeypatch):
    """Ask agents whose turns are written down; the turn requests are in `ask.turns`."""
    turns = []

    def of(asker, answers, missing=(), **request):
        def take(asked, cancellation, book):
            turns.append(asked)
            of.cancellations.append(cancellation)
            answer = answers[asked.agent.name].pop(0)
            is_answer = isinstance(answer, Answer | NoAnswer)
            cost = TurnCost(turn=asked.record.name, agent=asked.agent.name, role=asked.role.value)
            session = answer.session if is_answer else None
            book(TurnResult(answer if is_answer else None, cost, Usage(), session, None, ()))
            if not is_answer:
                raise answer
            return answer

        def open_agent(name):
            if name in missing:
                raise AgentFailed("agent_missing", f"no {name}", hint="install it")
            return SimpleNamespace(name=name)

        monkeypatch.setattr(module, "take_turn", take)
        redactor = build_redactor(SecretsSettings(), {"FAKE_API_KEY": KEY})
        context = AskingContext(
            open_agent, lambda _: AgentSettings(timeout_s=7), lambda: datetime(2026, 1, 1, tzinfo=UTC), Cancellation(),
            BOOK, redactor,
        )  # fmt: skip
        try:
            usual = {"agent": "a", "role": Role.BUILDER, "prompt": "p", "form": NONEMPTY_TEXT}
            asked = AgentRequest(**{**usual, **request})
            return ask_agent(context, asked, asker)
        finally:
            context.cancellation.close()

    of.turns, of.cancellations = turns, []
    return of


def test_the_second_request_and_each_agent_have_records_of_their_own(ask, tmp_path):
    asker = Asker(tmp_path, order=("a", "b"))
    (tmp_path / "work-1").mkdir()
    outcome = ask(asker, {"a": [EMPTY, LIMITED], "b": [EMPTY, DONE]}, number=3, session="s-0")
    assert outcome == AgentReply(DONE, "b", "s-2")
    names = ["work-1-2", "work-1-repair", "work-1-2-2", "work-1-2-repair"]
    assert [turn.record.name for turn in ask.turns] == names, "a record that exists is never written again"
    assert asker.booked == [(name[0], f"of {name[0]}", record) for name, record in zip("aabb", names, strict=True)]
    assert [turn.number for turn in ask.turns] == [3, 4, 5, 6]
    assert {(turn.session, turn.timeout_s) for turn in ask.turns} == {("s-0", 7)}, "work begins again each time"
    (takeover,) = asker.takeovers
    assert (takeover.agent, takeover.by, takeover.code, takeover.action_id) == ("a", "b", "rate_limited", "work")
    assert KEY not in takeover.message


def test_a_question_goes_on_in_the_session_of_the_turn_before(ask, tmp_path):
    outcome = ask(Asker(tmp_path), {"a": [EMPTY, EMPTY]}, session="s-0", is_question=True)
    assert [(turn.session, turn.is_question) for turn in ask.turns] == [("s-0", True), ("s-1", True)]
    assert isinstance(outcome, Unanswered)
    assert (outcome.failure.reason, outcome.session) == (Reason.INVALID_ANSWER, "s-1")
    assert [turn.number for turn in ask.turns] == [None, None]


def test_an_agent_that_can_t_be_opened_is_taken_over_from_without_a_turn(ask, tmp_path):
    asker = Asker(tmp_path, order=("a", "b"))
    assert ask(asker, {"b": [DONE]}, missing="a") == AgentReply(DONE, "b", "s-2")
    (takeover,) = asker.takeovers
    assert (takeover.code, takeover.message) == ("agent_missing", "no a; install it")
    nobody = ask(Asker(tmp_path), {}, missing="a")
    assert isinstance(nobody, Unanswered)
    assert (nobody.remedy, nobody.record) == (Remedy.SET_UP, None)


def test_without_an_allowance_no_turn_is_taken(ask, tmp_path):
    used_up = NoAnswer(Reason.BUDGET_USED, "no turn is left")
    asker = Asker(tmp_path, order=("a", "b"), allowances=[Allowance(usd=1.0), used_up])
    outcome = ask(asker, {"a": [EMPTY]})
    assert isinstance(outcome, Unanswered)
    assert (outcome.failure, outcome.remedy, outcome.record) == (used_up, Remedy.BUDGET, tmp_path / "work-1")
    assert [turn.allowance for turn in ask.turns] == [Allowance(usd=1.0)]


def test_a_turn_that_is_stopped_is_booked_and_ends_the_question(ask, tmp_path):
    asker = Asker(tmp_path, order=("a", "b"))
    with pytest.raises(Stopped):
        ask(asker, {"a": [Stopped("by a person")]})
    assert (asker.booked, asker.ended) == ([("a", "of a", "work-1")], [])


def test_a_turn_gets_everything_of_its_request(ask, tmp_path):
    form = replace(NONEMPTY_TEXT, schema={"type": "object"})
    ask(Asker(tmp_path), {"a": [EMPTY, DONE]}, form=form, role=Role.CRITIC, may_use_web=False, may_ask_people=True)
    for turn in ask.turns:
        assert (turn.agent.name, turn.settings, turn.turn_sandbox) == ("a", AgentSettings(timeout_s=7), "of a")
        assert (turn.role, turn.may_use_web, turn.may_ask_people, turn.is_question) == (Role.CRITIC, False, True, False)
        assert (turn.schema, turn.book) == ({"type": "object"}, BOOK)
    assert ask.turns[0].prompt == "p"
    assert ask.turns[1].prompt == f"p\n\n{form.repair(BOOK, 'the answer is empty')}"


def test_a_stop_reaches_the_turn(ask, tmp_path):
    ask(Asker(tmp_path), {"a": [DONE]})
    (cancellation,) = ask.cancellations
    assert isinstance(cancellation, Cancellation)


def test_a_takeover_has_its_time_and_role(ask, tmp_path):
    asker = Asker(tmp_path, order=("a", "b"))
    ask(asker, {"a": [LIMITED], "b": [DONE]}, role=Role.CRITIC)
    assert (asker.takeovers[0].at, asker.takeovers[0].role) == ("2026-01-01T00:00:00Z", "critic")


def test_an_agent_that_gave_no_name_for_its_session_keeps_that_of_the_turn_before(ask, tmp_path):
    silent = Answer("", 0.0)
    outcome = ask(Asker(tmp_path), {"a": [silent, silent]}, session="s-0", is_question=True)
    assert [turn.session for turn in ask.turns] == ["s-0", "s-0"]
    assert outcome.session == "s-0"
