"""Lets an agent take one turn in a sandbox, and keeps prompt, logs and answer, redacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.agents.mailbox import FOLDER, MAILBOX, REFLECTIONS, SELF_REPORT, VARIABLE, manifest_in
from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import (
    AGENT_MARK,
    Agent,
    Allowance,
    Answer,
    CanResume,
    LineReader,
    NoAnswer,
    Ran,
    Reason,
    Role,
    Starter,
    Turn,
    Usage,
    WorksOutside,
)
from loopwright.agents.prompts.book import Book
from loopwright.agents.structured import schema_request
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.admission import Admission, admitted, forwarded, way_out
from loopwright.runner.meter import Meter, TurnCost, session_named
from loopwright.runner.outside import OutsideSnapshot, outside_notes
from loopwright.runner.turn_sandbox import TurnSandbox, run_in_turn_sandbox
from loopwright.sandbox import place
from loopwright.workspace import stop_gate
from loopwright.workspace.layout import gate_file
from loopwright.workspace.settings_model import AgentSettings

# The variable with the path of the manifest in the mailbox, if there is a manifest.
CONTEXT = "LOOPWRIGHT_CONTEXT"
# The prefix of variables with the turn's remaining budget; the name of the limit follows. Seconds are always set.
_LEFT = "LOOPWRIGHT_TURN_"
RECORD = "turn.json"
# The isolation of a turn that a person takes by hand.
BY_HAND = "none: done by hand, outside of any isolation of ours"


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one turn: agent, role, prompt and sandbox. `record` is a new folder for this turn alone."""

    agent: Agent
    settings: AgentSettings
    turn_sandbox: TurnSandbox
    role: Role
    prompt: str
    record: Path
    timeout_s: float
    may_use_web: bool = True
    session: str | None = None
    number: int | None = None
    allowance: Allowance = Allowance()
    # Whether to read the questions that the agent leaves for a person.
    may_ask_people: bool = False
    # The JSON Schema of the answer; None for a text answer.
    schema: Mapping[str, Any] | None = None
    # The secret that the answer must contain, if the answer is a verdict.
    nonce: str = ""
    # The prompt texts, for parts that the runner adds.
    book: Book = Book()
    # Whether the agent must only answer: it writes nothing, and the work of the turn before still exists.
    is_question: bool = False

    @property
    def is_by_hand(self) -> bool:
        """Whether a person works in place of a program."""
        return isinstance(self.agent, WorksOutside)


class TurnRecord(msgspec.Struct, frozen=True):
    """The record of a turn: what it was given, and its outcome. Prompt and logs are next to it."""

    agent: str
    role: str
    program: str = ""
    version: str = ""
    isolation: str = ""
    # "open" (and why, if it could be closed), "closed", or the only reachable addresses; and refused addresses.
    network: str = ""
    refused: tuple[str, ...] = ()
    # The budget, and the manifest of files to read in the mailbox.
    budget: Allowance = Allowance()
    context: str = ""
    resumed: str | None = None
    session: str | None = None
    # Why there is no answer; "stopped" if a person ended the turn.
    failure: str | None = None
    stop_reason: str = ""
    denials: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    # Files that were written outside the sandbox, as far as visible. They are not part of the work and not kept.
    outside: tuple[str, ...] = ()
    tokens: int | None = None
    usd: float | None = None
    # The source of the cost. "metered" is the usage that was read during a turn without an answer.
    price: str = "unknown"
    # The prompt: the digest of prompt.md, its language, and the user's own texts in it, each with its digest.
    prompt_sha256: str = ""
    prompt_language: str = ""
    own_prompts: tuple[str, ...] = ()

    def without_answer(self, failure: str, used: Usage, session: str | None) -> TurnRecord:
        """The record of a turn without an answer, with its usage."""
        price = "unknown" if used.usd is None else "metered"
        return replace(self, failure=failure, session=session, tokens=used.tokens, usd=used.usd, price=price)

    def with_outcome(self, answer: Answer | NoAnswer, meter: Meter, cost: TurnCost) -> TurnRecord:
        """The record with the turn's outcome."""
        if isinstance(answer, NoAnswer):
            failed = self.without_answer(answer.reason.value, meter.used, answer.session or meter.session)
            return replace(failed, denials=answer.denials, stop_reason=answer.stop_reason)
        return replace(
            self,
            session=answer.session,
            stop_reason=answer.stop_reason,
            denials=answer.denials,
            files=answer.files,
            tokens=cost.tokens,
            usd=cost.usd,
            price="metered" if answer.cost_usd is None and cost.usd is not None else answer.priced_by,
        )


class TurnResult(msgspec.Struct, frozen=True):
    """How a turn ended, and what it cost. There is no answer if the turn was stopped."""

    answer: Answer | NoAnswer | None
    cost: TurnCost
    used: Usage
    # The agent's name for its session, even if the turn was stopped.
    session: str | None
    # The limit that ended the turn, if any.
    over: str | None
    # Files that were written outside the sandbox, as far as visible.
    outside: tuple[str, ...]
    # Why the isolation is weak, if the person accepted that.
    weakness: str = ""

    def notes(self) -> tuple[str, ...]:
        """What a person should know about the turn, in addition to its answer."""
        weak = (self.weakness,) if self.weakness else ()
        return (*self.used.problems, *outside_notes(self.outside), *weak)


class TurnStopped(Stopped):
    """A turn was stopped. The next turn may continue its session."""

    def __init__(self, why: str, session: str | None) -> None:
        super().__init__(why)
        self.session = session


def take_turn(
    asked: TurnRequest, cancellation: Cancellation, book: Callable[[TurnResult], None] = lambda _: None
) -> Answer | NoAnswer:
    """Take one turn. `book` gets its result once, however the turn ends. `TurnStopped` if a stop was requested."""
    sandbox = asked.turn_sandbox
    meter = Meter(asked.agent, sandbox.mailbox, asked.record, asked.allowance, sandbox.redactor)
    answer: Answer | NoAnswer | None = None
    try:
        answer = _recorded(asked, cancellation, meter)
    except Stopped as stop:
        # A question does not continue the work, so the work does not continue its session.
        raise TurnStopped(str(stop), None if asked.is_question else meter.session) from stop
    finally:
        cost = _cost(asked, meter, answer)
        confinement = sandbox.sandbox.confinement
        weakness = confinement.why if confinement.reachable and confinement.is_accepted else ""
        book(TurnResult(answer, cost, meter.used, meter.session, meter.over, meter.outside, weakness))
    return answer


def _cost(asked: TurnRequest, meter: Meter, answer: Answer | NoAnswer | None) -> TurnCost:
    worked_s = round(max(0.0, meter.worked_s), 3)
    cost = TurnCost(turn=asked.record.name, agent=asked.agent.name, role=asked.role.value, worked_s=worked_s)
    return cost.with_usage(meter.used, answer if isinstance(answer, Answer) else None)


def _recorded(asked: TurnRequest, cancellation: Cancellation, meter: Meter) -> Answer | NoAnswer:
    """Take the turn, with its record in the folder of the request."""
    agent, turn_sandbox = asked.agent, asked.turn_sandbox
    clean = turn_sandbox.redactor.clean
    record = replace(TurnRecord(agent.name, asked.role.value), **_written_down(asked, asked.prompt))
    try:
        with admitted(agent, turn_sandbox, asked.settings) as admission:
            if isinstance(admission, NoAnswer):
                answer: Answer | NoAnswer = admission
            else:
                turn = _turn(asked, admission, meter)
                words = _written_down(asked, turn.prompt)
                outside = OutsideSnapshot(turn_sandbox.sandbox, is_confined=not isinstance(agent, WorksOutside))
                start = _Starter(admission, asked, turn.context, cancellation, meter)
                try:
                    answer = _with_way_on(agent, _taken(agent, turn, start, turn_sandbox))
                    answer = replace(answer, session=session_named(answer.session, turn_sandbox.redactor))
                    meter.session = answer.session
                finally:
                    admission.learn()
                    meter.read_to_the_end()
                    meter.session = meter.session or meter.used.session
                    meter.outside = outside.written()
                    record = replace(start.record(turn), **words, outside=meter.outside)
        cancellation.raise_if_requested()
    except BaseException as problem:
        # Recorded even if a person ended the turn.
        failure = "stopped" if isinstance(problem, Stopped) else "broken_off"
        ended = record.without_answer(failure, meter.used, meter.session)
        with suppress(OSError):
            (asked.record / RECORD).write_bytes(clean(codec.to_json(ended)).data)
        raise
    answer = meter.settle(answer)
    if isinstance(answer, NoAnswer):
        (asked.record / "failure.txt").write_bytes(clean(f"{answer.reason}: {answer.detail}\n").data)
    else:
        (asked.record / "answer.yaml").write_bytes(clean(answer.text).data)
    record = record.with_outcome(answer, meter, _cost(asked, meter, answer))
    (asked.record / RECORD).write_bytes(clean(codec.to_json(record)).data)
    return answer


def _written_down(asked: TurnRequest, prompt: str) -> dict[str, Any]:
    """Store the prompt next to the record. Returns the record's fields about the prompt."""
    data = asked.turn_sandbox.redactor.clean(prompt).data
    (asked.record / "prompt.md").write_bytes(data)
    own = sorted(asked.book.own.values(), key=lambda text: text.name)
    return {
        "prompt_sha256": sha256(data),
        "prompt_language": asked.book.language,
        "own_prompts": tuple(f"{text.origin} {text.name} sha256 {text.sha256}" for text in own),
    }


def _turn(asked: TurnRequest, admission: Admission, meter: Meter) -> Turn:
    sandbox, session = admission.turn_sandbox.sandbox, asked.session
    agent, prompt = asked.agent, asked.prompt
    if isinstance(agent, WorksOutside):
        # The person who takes the turn is usually in the checkout, not in the sandbox.
        prompt = f"{asked.book.part('by_hand', folder=str(sandbox.place.repo))}\n\n{prompt}"
    if isinstance(agent, CanResume):
        home = admission.home
        if session is not None and home is not None and agent.knows(home, sandbox.inside, session):
            # The session was interrupted, and the files of its last turn are gone.
            prompt = prompt if asked.is_question else f"{asked.book.part('resumed')}\n\n{prompt}"
        else:
            session = None
    return Turn(
        role=asked.role,
        prompt=prompt,
        mailbox=admission.turn_sandbox.mailbox,
        timeout_s=asked.timeout_s,
        may_use_web=asked.may_use_web,
        folder=sandbox.place.repo,
        folder_inside=sandbox.inside,
        budget=replace(asked.allowance, wall_s=meter.seconds_for(asked.timeout_s)),
        context=manifest_in(admission.turn_sandbox.mailbox),
        home=admission.home,
        program=admission.program.path if admission.program is not None else None,
        schema=asked.schema,
        schema_text=schema_request(asked.schema, asked.book, asked.nonce) if asked.schema is not None else "",
        nonce=asked.nonce,
        session=session,
        number=asked.number,
        is_question=asked.is_question,
        is_confined=sandbox.confinement.used != "none",
    )


def _taken(agent: Agent, turn: Turn, start: Starter, turn_sandbox: TurnSandbox) -> Answer | NoAnswer:
    """Take the turn. A sandbox with a person's work stays until that work is kept, or the person gives it up."""
    folder = turn_sandbox.sandbox.place.folder
    if isinstance(agent, WorksOutside):
        place.share(folder)
        if turn.may_write:
            place.keep_unfinished(folder, turn_sandbox.work)
    answer = agent.take(turn, start)
    if isinstance(agent, WorksOutside) and isinstance(answer, NoAnswer) and answer.reason is Reason.REFUSED:
        place.stop_keeping(folder)
    return answer


def _with_way_on(agent: Agent, answer: Answer | NoAnswer) -> Answer | NoAnswer:
    """The answer; for an agent that is not logged in, with the way to log in."""
    if isinstance(answer, NoAnswer) and answer.reason is Reason.NOT_LOGGED_IN and isinstance(agent, HasNeeds):
        return replace(answer, detail=f"{answer.detail}; {agent.needs.login}")
    return answer


def _left(allowance: Allowance) -> dict[str, str]:
    """Variables with the remaining budget, for programs that can respect it."""
    amounts = {name: getattr(allowance, name) for name in allowance.__struct_fields__}
    return {f"{_LEFT}{name.upper()}": f"{amount:.12g}" for name, amount in amounts.items() if amount is not None}


class _Starter:
    """Starts an adapter's program in the turn's sandbox. Its output is kept, redacted."""

    def __init__(
        self, admission: Admission, asked: TurnRequest, context: Path | None, cancellation: Cancellation, meter: Meter
    ) -> None:
        self._agent = asked.agent.name
        self._is_by_hand = isinstance(asked.agent, WorksOutside)
        self._asked = asked
        self._context = context
        self._admission = admission
        self._way = way_out(self._agent, admission, asked.settings, may_use_web=asked.may_use_web)
        self._cancellation = cancellation
        self._meter = meter
        self._started = 0
        self._refused: tuple[str, ...] = ()

    def __call__(
        self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float, on_line: LineReader | None = None
    ) -> Ran:
        """Run the program to its end."""
        self._started += 1
        turn_sandbox, caller = self._admission.turn_sandbox, self._admission.turn_sandbox.environment.caller
        log = self._asked.record / f"program-{self._started}.log"
        gate = gate_file(turn_sandbox.mailbox)
        given_s = self._meter.seconds_for(timeout_s)
        # Every process of an agent has this mark. Commands that only a person may run refuse if it is set.
        own = {
            AGENT_MARK: f"{self._agent}:{self._asked.role}",
            MAILBOX: str(turn_sandbox.mailbox),
            **({CONTEXT: str(self._context)} if self._context is not None else {}),
            **_left(replace(self._asked.allowance, wall_s=given_s)),
            # Hooks leave reflections in the mailbox, because files of the sandbox are deleted with it.
            "REFLECTION_INPUT": str(turn_sandbox.mailbox / SELF_REPORT),
            "REFLECTION_DIR": str(turn_sandbox.mailbox / REFLECTIONS),
            **({"REFLECTION_MODE": mode} if (mode := caller.get("REFLECTION_MODE")) else {}),
            **({VARIABLE: str(turn_sandbox.mailbox / FOLDER)} if self._asked.may_ask_people else {}),
            **({stop_gate.VARIABLE: str(gate)} if gate.exists() else {}),
        }
        env = {**turn_sandbox.environment.for_step(self._admission.variables), **env, **own}
        with (
            self._meter.watching(self._cancellation, self._admission.learn) as cancellation,
            forwarded(self._way, turn_sandbox.mailbox, argv, env, caller) as (command, inner, proxy),
        ):
            ran = run_in_turn_sandbox(
                turn_sandbox, command, env=inner, log=log, network=self._way.network, timeout_s=given_s,
                cancellation=cancellation, on_line=on_line, before_kept=self._admission.learn,
            )  # fmt: skip
        if proxy is not None and proxy.refused:
            self._refused = tuple(dict.fromkeys((*self._refused, *proxy.refused)))
            named = ", ".join(proxy.refused)
            line = f"the network proxy refused: {named}; to allow an address, add it to agents.{self._agent}.hosts"
            with log.open("ab") as stream:
                stream.write(turn_sandbox.redactor.clean(f"loopwright: {line}\n").data)
        self._meter.note(ran, wanted_s=timeout_s, given_s=given_s)
        return ran

    def record(self, turn: Turn) -> TurnRecord:
        """The record at the start of the turn."""
        program = self._admission.program
        return TurnRecord(
            self._agent,
            turn.role.value,
            program=str(program.path) if program is not None else "",
            version=program.shown_version if program is not None else "",
            isolation=BY_HAND if self._is_by_hand else self._admission.turn_sandbox.sandbox.confinement.used,
            network="open" if self._is_by_hand else self._way.description,
            refused=self._refused,
            budget=turn.budget,
            context=str(turn.context.relative_to(turn.mailbox)) if turn.context is not None else "",
            resumed=turn.session or None,
        )
