"""One turn of an agent: its program's environment, its record, its outcome, its cost and its session."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from tests.runner.conftest import KEY

from loopwright.agents.needs import Needs
from loopwright.agents.port import Allowance, Answer, NoAnswer, Reason, Role, Usage
from loopwright.agents.prompts.book import Book, UserPrompt
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Stopped
from loopwright.runner import turn as module
from loopwright.runner.meter import TurnCost
from loopwright.runner.request import Environment
from loopwright.runner.turn import BY_HAND, TurnRequest, TurnResult, TurnStopped, take_turn
from loopwright.sandbox import place
from loopwright.workspace.settings_model import AgentSettings

DONE = Answer("done", 1.0, tokens=5, cost_usd=0.25, session="s-1", stop_reason="end", denials=("rm",), files=("f",))


class Plain:
    """An agent without abilities: runs `script` and gives `answer`."""

    name = "plain"

    def __init__(self, script="true", answer=DONE):
        self.script, self.answer, self.turn, self.ran = script, answer, None, None

    def take(self, turn, start):
        self.turn = turn
        if self.script is not None:
            self.ran = start(("bash", "-c", self.script), env={"OWN": "1", "MAILBOX": "x"}, timeout_s=60.0)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class ByHand(Plain):
    patience_s = 5.0


class Resuming(Plain):
    """Knows the session "known", and has a home."""

    def __init__(self, program, **more):
        super().__init__(**more)
        self.asked = []
        self.needs = Needs(program=program, oldest=(1,), install="install it", login="log in", variables=("GIVEN",))

    def knows(self, home, folder, session):
        self.asked.append((home, folder, session))
        return session == "known"


class Metered(Plain):
    def used(self, mailbox, *, is_over):
        return Usage(usd=0.5, tokens=7, session="s-metered", problems=("one line is damaged",))


@pytest.fixture
def program(tmp_path):
    """A program on PATH that reports its version."""
    path = tmp_path / "bin" / "prog"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\necho prog 1.2.3\n")
    path.chmod(0o755)
    return "prog"


@pytest.fixture
def asked(turn_sandbox, tmp_path):
    """A request for a turn; keyword arguments change it."""
    caller = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "GIVEN": "given", "OTHER": "other"}

    def make(agent, name="t-1", **changes):
        record = tmp_path / "records" / name
        record.mkdir(parents=True)
        sandbox = replace(turn_sandbox, environment=Environment(caller, ("PATH",)))
        request = TurnRequest(
            agent=agent, settings=AgentSettings(), turn_sandbox=sandbox, role=Role.BUILDER, prompt="the prompt",
            record=record, timeout_s=60.0,
        )  # fmt: skip
        return replace(request, **changes)

    return make


@pytest.fixture
def take(cancellation):
    """Take a turn; returns its answer and its booked result."""

    def take(request):
        booked = []
        answer = take_turn(request, cancellation, booked.append)
        (result,) = booked
        return answer, result

    return take


def record_of(request):
    return json.loads((request.record / "turn.json").read_text())


def variables(request):
    """The environment that the agent's script printed."""
    lines = (request.record / "program-1.log").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_a_turn_with_an_answer_leaves_its_record_and_cost(asked, take):
    request = asked(Plain(f"echo {KEY}; sleep 0.01"), allowance=Allowance(usd=2.0))
    answer, result = take(request)
    assert answer == DONE
    cost = TurnCost(turn="t-1", agent="plain", role="builder", usd=0.25, tokens=5, worked_s=result.cost.worked_s)
    assert result == TurnResult(DONE, cost, Usage(), "s-1", None, ())
    assert 0 < result.cost.worked_s == round(request.agent.ran.duration_s, 3)
    assert record_of(request) == {
        "agent": "plain", "role": "builder", "program": "", "version": "", "isolation": "none", "network": "open",
        "refused": [], "budget": {"usd": 2.0, "tokens": None, "wall_s": 60.0}, "context": "", "resumed": None,
        "session": "s-1", "failure": None, "stop_reason": "end", "denials": ["rm"], "files": ["f"], "outside": [],
        "tokens": 5, "usd": 0.25, "price": "reported", "prompt_sha256": sha256(b"the prompt"),
        "prompt_language": "en", "own_prompts": [],
    }  # fmt: skip
    assert (request.record / "prompt.md").read_text() == "the prompt"
    assert (request.record / "answer.yaml").read_text() == "done"
    assert not (request.record / "failure.txt").exists()
    assert KEY not in (request.record / "program-1.log").read_text()


def test_secrets_of_prompt_and_answer_are_not_stored(asked, take):
    own = UserPrompt("zz", None, "user", Path("p"), "text"), UserPrompt("aa", None, "workspace", Path("q"), "other")
    book = Book(language="zh", own={prompt.name: prompt for prompt in own})
    request = asked(Plain(answer=Answer(f"use {KEY}", 1.0, session=KEY)), prompt=f"say {KEY}", book=book)
    answer, result = take(request)
    assert (answer.session, result.session) == (None, None)
    kept = {path.name: path.read_text() for path in request.record.iterdir()}
    assert not any(KEY in text for text in kept.values())
    record = record_of(request)
    assert record["prompt_sha256"] == sha256(kept["prompt.md"].encode())
    assert record["prompt_language"] == "zh"
    assert record["own_prompts"] == [
        f"workspace aa sha256 {sha256(b'other')}", f"user zz sha256 {sha256(b'text')}",
    ]  # fmt: skip
    assert (record["usd"], record["price"], record["tokens"]) == (None, "unknown", None)


def test_a_turn_without_an_answer_leaves_its_reason(asked, take):
    failed = NoAnswer(Reason.CRASHED, f"no {KEY}", session="s-2", denials=("x",), stop_reason="error")
    request = asked(Metered(answer=failed))
    answer, result = take(request)
    assert answer == failed
    assert (result.cost.usd, result.cost.tokens, result.session, result.over) == (0.5, 7, "s-2", None)
    said = (request.record / "failure.txt").read_text()
    assert said.startswith("crashed: no ")
    assert KEY not in said
    record = record_of(request)
    assert (record["failure"], record["session"], record["usd"], record["tokens"]) == ("crashed", "s-2", 0.5, 7)
    assert (record["denials"], record["stop_reason"], record["price"]) == (["x"], "error", "metered")
    assert not (request.record / "answer.yaml").exists()
    assert result.notes() == ("one line is damaged",)


def test_the_session_of_the_meter_counts_if_the_agent_names_none(asked, take):
    request = asked(Metered(answer=NoAnswer(Reason.CRASHED, "x")))
    _, result = take(request)
    assert (result.session, record_of(request)["session"]) == ("s-metered", "s-metered")
    request = asked(Metered(answer=Answer("x", 1.0)), "t-2")
    _, result = take(request)
    record = record_of(request)
    assert (result.session, record["session"]) == ("s-metered", None)
    assert (record["usd"], record["tokens"], record["price"]) == (0.5, 7, "metered")


def test_a_reported_cost_is_priced_by_the_agent(asked, take):
    request = asked(Metered(answer=Answer("x", 1.0, cost_usd=0.75, cost_source="computed")))
    _, result = take(request)
    assert (record_of(request)["price"], record_of(request)["usd"], result.cost.is_computed) == ("computed", 0.75, True)


def test_an_agent_that_can_not_work_takes_no_turn(asked, take):
    agent = Resuming("no-such-program")
    request = asked(agent)
    answer, result = take(request)
    assert answer.reason is Reason.AGENT_MISSING
    assert agent.turn is None
    record = record_of(request)
    assert (record["failure"], record["agent"], record["role"]) == ("agent_missing", "plain", "builder")
    assert record["prompt_sha256"] == sha256(b"the prompt")
    assert (record["isolation"], result.cost.worked_s) == ("", 0.0)


def test_an_agent_that_is_not_logged_in_is_told_how_to_log_in(asked, take, program):
    answer, _ = take(asked(Resuming(program, answer=NoAnswer(Reason.NOT_LOGGED_IN, "no login"))))
    assert answer.detail == "no login; log in"
    answer = module._with_way_on(Plain(), NoAnswer(Reason.NOT_LOGGED_IN, "no login"))
    assert answer.detail == "no login"
    answer = module._with_way_on(Resuming(program), NoAnswer(Reason.CRASHED, "x"))
    assert answer.detail == "x"


def test_a_program_gets_the_variables_of_its_turn(asked, take, turn_sandbox):
    mailbox = turn_sandbox.mailbox
    (mailbox / "context").mkdir()
    (mailbox / "context" / "build-context.jsonl").write_text("")
    request = asked(
        Plain("env"), settings=AgentSettings(env=["GIVEN"]), allowance=Allowance(usd=2.5, tokens=1e6, wall_s=30.0)
    )
    take(request)
    assert request.agent.turn.context == mailbox / "context" / "build-context.jsonl"
    assert record_of(request)["context"] == "context/build-context.jsonl"
    given = variables(request)
    expected = {
        "LOOPWRIGHT_AGENT_TURN": "plain:builder", "LOOPWRIGHT_MAILBOX": str(mailbox),
        "LOOPWRIGHT_CONTEXT": str(mailbox / "context" / "build-context.jsonl"),
        "LOOPWRIGHT_TURN_USD": "2.5", "LOOPWRIGHT_TURN_TOKENS": "1000000", "LOOPWRIGHT_TURN_WALL_S": "30",
        "REFLECTION_INPUT": str(mailbox / "reflection-input.json"), "REFLECTION_DIR": str(mailbox / "reflections"),
        "OWN": "1", "MAILBOX": "x", "GIVEN": "given",
    }  # fmt: skip
    assert {name: given.get(name) for name in expected} == expected
    for name in ("OTHER", "REFLECTION_MODE", "LOOPWRIGHT_DECISIONS", "LOOPWRIGHT_GATE", "HTTPS_PROXY"):
        assert name not in given


def test_a_program_gets_the_variables_that_only_some_turns_have(asked, take, turn_sandbox):
    mailbox = turn_sandbox.mailbox
    request = asked(Plain("env"), may_ask_people=True)
    caller = {**request.turn_sandbox.environment.caller, "REFLECTION_MODE": "strict"}
    sandbox = replace(request.turn_sandbox, environment=Environment(caller, ("PATH",)))
    gate = module.gate_file(mailbox)
    gate.write_text("")
    take(replace(request, turn_sandbox=sandbox))
    given = variables(request)
    assert given["REFLECTION_MODE"] == "strict"
    assert given["LOOPWRIGHT_DECISIONS"] == str(mailbox / "decisions")
    assert given["LOOPWRIGHT_GATE"] == str(gate)
    assert "LOOPWRIGHT_CONTEXT" not in given
    assert "LOOPWRIGHT_TURN_USD" not in given
    assert given["LOOPWRIGHT_TURN_WALL_S"] == "60", "the time limit of the program"


def test_the_agent_is_told_what_its_turn_is(asked, take, turn_sandbox):
    request = asked(
        Plain(), role=Role.CRITIC, may_use_web=False, number=4, schema={"type": "object"}, is_question=True,
        session="s-0", allowance=Allowance(usd=1.0, wall_s=20.0), timeout_s=30.0,
    )  # fmt: skip
    take(request)
    turn = request.agent.turn
    assert (turn.role, turn.prompt, turn.mailbox, turn.timeout_s) == (
        Role.CRITIC, "the prompt", turn_sandbox.mailbox, 30.0,
    )  # fmt: skip
    assert (turn.may_use_web, turn.folder, turn.number) == (False, turn_sandbox.sandbox.place.repo, 4)
    assert (turn.home, turn.program, turn.context, turn.is_question) == (None, None, None, True)
    assert turn.budget == Allowance(usd=1.0, wall_s=20.0)
    assert turn.schema == {"type": "object"}
    assert '"object"' in turn.schema_text
    assert (turn.session, turn.is_confined) == ("s-0", False)
    assert record_of(request)["resumed"] == "s-0"


def test_without_a_schema_no_words_about_one(asked, take):
    request = asked(Plain())
    take(request)
    assert (request.agent.turn.schema, request.agent.turn.schema_text) == (None, "")
    assert request.agent.turn.may_use_web is True


@pytest.mark.parametrize(
    ("session", "is_question", "resumed", "begins"),
    [
        ("known", False, "known", False),
        ("known", True, "known", True),
        ("unknown", False, None, True),
        (None, False, None, True),
    ],
)
def test_a_session_that_the_program_knows_is_resumed(asked, take, program, session, is_question, resumed, begins):
    request = asked(Resuming(program), session=session, is_question=is_question)
    take(request)
    agent = request.agent
    assert agent.turn.session == resumed
    assert (agent.turn.prompt == "the prompt") == begins
    assert agent.turn.prompt.endswith("the prompt")
    if not begins:
        assert agent.turn.prompt == f"{request.book.part('resumed')}\n\nthe prompt"
    home, folder = agent.turn.home, request.turn_sandbox.sandbox.place.repo
    assert agent.asked == ([] if session is None else [(home, folder, session)])
    record = record_of(request)
    assert (record["resumed"], record["version"], Path(record["program"]).name) == (resumed, "1.2.3", "prog")
    assert record["prompt_sha256"] == sha256(agent.turn.prompt.encode())
    assert agent.turn.program.name == "prog"
    assert home.is_dir()


def test_a_person_works_outside_of_our_isolation(asked, take, turn_sandbox):
    request = asked(ByHand(None), settings=AgentSettings(network="never"))
    assert (request.is_by_hand, replace(request, agent=Plain()).is_by_hand) == (True, False)
    take(request)
    repo = turn_sandbox.sandbox.place.repo
    assert request.agent.turn.prompt == f"{request.book.part('by_hand', folder=str(repo))}\n\nthe prompt"
    record = record_of(request)
    assert (record["isolation"], record["network"]) == (BY_HAND, "open")
    folder = turn_sandbox.sandbox.place.folder
    assert place.is_unfinished(folder)
    assert place.unfinished(folder.parent, turn_sandbox.sandbox.view.project) is not None
    assert (folder / place._KEPT).read_text() == "the work"
    assert (folder / place._SHARED).exists()


@pytest.mark.parametrize(
    ("answer", "changes", "is_kept"),
    [
        (NoAnswer(Reason.REFUSED, "no"), {}, False),
        (NoAnswer(Reason.HUNG, "no"), {}, True),
        (DONE, {"is_question": True}, False),
        (DONE, {"role": Role.REVIEWER}, False),
    ],
)
def test_the_work_of_a_person_is_kept_until_it_is_given_up(asked, take, turn_sandbox, answer, changes, is_kept):
    take(asked(ByHand(None, answer), **changes))
    assert place.is_unfinished(turn_sandbox.sandbox.place.folder) == is_kept


def test_only_a_person_shares_the_sandbox(asked, take, turn_sandbox):
    folder = turn_sandbox.sandbox.place.folder
    (folder / place._KEPT).write_text("x")
    take(asked(Plain(answer=NoAnswer(Reason.REFUSED, "no"))))
    assert not (folder / place._SHARED).exists()
    assert place.is_unfinished(folder)


def test_files_outside_the_sandbox_are_recorded(asked, take, turn_sandbox):
    project = turn_sandbox.sandbox.view.project
    project.mkdir()
    request = asked(Plain(f"touch {project}/planted"))
    _, result = take(request)
    assert result.outside == ("planted",)
    assert record_of(request)["outside"] == ["planted"]
    assert result.notes() == ("your checkout changed during a turn without confinement: planted",)


@pytest.mark.parametrize(("is_question", "session"), [(False, "s-metered"), (True, None)])
def test_a_turn_that_is_stopped_is_recorded_and_booked(asked, cancellation, is_question, session):
    request = asked(Metered("true", Stopped("SIGINT")), is_question=is_question)
    booked = []
    with pytest.raises(TurnStopped, match="SIGINT") as caught:
        take_turn(request, cancellation, booked.append)
    assert caught.value.session == session
    (result,) = booked
    assert (result.answer, result.session, result.used.usd, result.cost.usd) == (None, "s-metered", 0.5, 0.5)
    record = record_of(request)
    assert (record["failure"], record["session"], record["usd"], record["price"]) == (
        "stopped", "s-metered", 0.5, "metered",
    )  # fmt: skip
    assert record["isolation"] == "none"


def test_an_answer_that_comes_after_a_stop_does_not_count(asked, cancellation):
    class Stopping(Plain):
        def take(self, turn, start):
            cancellation.request("SIGTERM")
            return DONE

    request, booked = asked(Stopping()), []
    with pytest.raises(TurnStopped) as caught:
        take_turn(request, cancellation, booked.append)
    assert caught.value.session == "s-1"
    assert (booked[0].answer, record_of(request)["failure"]) == (None, "stopped")


def test_an_error_of_an_adapter_is_recorded_and_raised(asked, cancellation):
    request, booked = asked(Plain("true", ValueError("a bug"))), []
    with pytest.raises(ValueError, match="a bug"):
        take_turn(request, cancellation, booked.append)
    record = record_of(request)
    assert (record["failure"], record["usd"], record["price"]) == ("broken_off", None, "unknown")
    assert len(booked) == 1


def test_a_record_that_can_not_be_written_does_not_hide_the_error(asked, cancellation):
    request = asked(Plain("true", ValueError("a bug")))
    (request.record / "turn.json").mkdir()
    with pytest.raises(ValueError, match="a bug"):
        take_turn(request, cancellation)


def test_a_turn_may_use_its_time_once_over_all_its_programs(asked, take):
    class Twice(Plain):
        def take(self, turn, start):
            self.ran = [start(("bash", "-c", "sleep 600"), env={}, timeout_s=60.0) for _ in range(2)]
            return DONE

    request = asked(Twice(), allowance=Allowance(wall_s=0.2))
    answer, result = take(request)
    assert [ran.timed_out for ran in request.agent.ran] == [True, True]
    assert answer.reason is Reason.BUDGET_USED
    assert (result.over, result.cost.worked_s >= 0.2) == ("wall_s", True)
    assert {path.name for path in request.record.glob("*.log")} == {"program-1.log", "program-2.log"}
    assert record_of(request)["failure"] == "budget_used"


def test_the_first_limit_of_time_is_the_programs_own(asked, take):
    class Slow(Plain):
        def take(self, turn, start):
            self.ran = start(("bash", "-c", "sleep 600"), env={}, timeout_s=0.1)
            return NoAnswer(Reason.HUNG, "slow")

    request = asked(Slow(), allowance=Allowance(wall_s=60.0))
    answer, result = take(request)
    assert (request.agent.ran.timed_out, answer.reason, result.over) == (True, Reason.HUNG, None)


def test_lines_of_a_program_go_through_its_reader(asked, take):
    class Reading(Plain):
        def take(self, turn, start):
            start(("bash", "-c", "echo one"), env={}, timeout_s=60.0, on_line=lambda line: f"<{line.decode()}>")
            return DONE

    request = asked(Reading())
    take(request)
    assert (request.record / "program-1.log").read_text() == "<one>\n"


def test_refused_addresses_are_recorded_once_and_logged(asked, take, monkeypatch):
    refused = iter([("evil.example:443", f"{KEY}.example:443"), (), ("evil.example:443", "other.example:80")])
    given = []

    @contextmanager
    def forwarding(way, mailbox, argv, env, caller):
        given.append((way, mailbox, caller))
        yield argv, env, SimpleNamespace(refused=next(refused))

    class Thrice(Plain):
        def take(self, turn, start):
            for _ in range(3):
                start(("true",), env={}, timeout_s=60.0)
            return DONE

    monkeypatch.setattr(module, "forwarded", forwarding)
    request = asked(Thrice(), settings=AgentSettings(network="never"))
    take(request)
    record = record_of(request)
    assert (record["refused"][0], record["refused"][2:]) == ("evil.example:443", ["other.example:80"])
    assert record["network"] == "closed"
    first, second, third = ((request.record / f"program-{number}.log").read_text() for number in (1, 2, 3))
    said = "loopwright: the network proxy refused: evil.example:443, "
    assert first.startswith(said)
    assert first.endswith(".example:443; to allow an address, add it to agents.plain.hosts\n")
    assert KEY not in first
    assert second == ""
    assert third.startswith(f"{said}other.example:80;")
    mailbox, caller = request.turn_sandbox.mailbox, request.turn_sandbox.environment.caller
    assert {way.description for way, _, _ in given} == {"closed"}
    assert [(path, variables) for _, path, variables in given] == [(mailbox, caller)] * 3


def test_refreshed_tokens_are_masked_while_a_program_runs(asked, take, monkeypatch):
    learned, looked_with = [], []

    @contextmanager
    def watching(meter, cancellation, at_each_look):
        looked_with.append(at_each_look.__name__)
        yield cancellation

    monkeypatch.setattr(module.Admission, "learn", lambda _: learned.append(1))
    take(asked(Plain("echo one"), "t-1"))
    assert len(learned) >= 3, "before output is kept, at its end, and after the turn"
    monkeypatch.undo()
    monkeypatch.setattr(module.Meter, "watching", watching)
    take(asked(Plain(), "t-2"))
    assert looked_with == ["learn"]
