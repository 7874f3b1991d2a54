"""One step in a sandbox: its commands, its checks, its record, its events and its failure."""

from __future__ import annotations

import hashlib

import pytest
from msgspec.structs import replace
from tests.runner.conftest import KEY, STOPPING

from loopwright.kernel import process
from loopwright.kernel.process import Ended, Ending, Lockdown
from loopwright.plan.model import CommandPasses, Declared, ExitCodeIs, FileExists, StdoutContains, Step
from loopwright.runner import run_step as module
from loopwright.runner.checks import TextSearch
from loopwright.runner.events import (
    CheckJudged,
    CommandEnded,
    CommandStarted,
    Emitter,
    OutputSeen,
    SecretSeen,
    StepEnded,
    StepStarted,
)
from loopwright.runner.request import RunLimits
from loopwright.runner.run_step import run_step
from loopwright.sandbox.port import Launch
from loopwright.sandbox.unconfined import Unconfined


def step(*commands, **more):
    return Step("A", f"act with {KEY}", commands, **more)


def log(context, name):
    return (context.folder.path / "logs" / name).read_text()


def of_type(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_a_step_that_passes_is_recorded_with_its_commands_and_logs(context, events):
    (context.place.repo / "sub").mkdir()
    record = run_step(context, step("pwd; echo out", "true", cwd="sub", depends_on=("B",), network=True))
    folder = context.place.repo / "sub"
    assert (record.id, record.outcome, record.cwd.text, record.depends_on) == ("A", "passed", "sub", ["B"])
    assert (record.network, record.reason.text, record.checks) == (True, "", [])
    assert KEY not in record.action.text
    assert record.action.text.startswith("act with ")
    first, second = record.commands
    assert (first.command.text, first.exit_code, first.ending, first.log) == (
        "pwd; echo out", 0, "exited", "logs/A-1.log",
    )  # fmt: skip
    printed = f"{folder}\nout\n"
    assert log(context, "A-1.log") == printed
    assert (first.log_bytes, first.log_sha256) == (len(printed), hashlib.sha256(printed.encode()).hexdigest())
    assert (second.log, second.log_bytes) == ("logs/A-2.log", 0)
    assert 0 <= first.duration_s <= record.duration_s < 60
    assert first.duration_s == round(first.duration_s, 3)
    assert record.duration_s == round(record.duration_s, 3)
    assert (context.failures, context.findings) == ([], [])
    assert [type(event) for event in events if not isinstance(event, OutputSeen)] == [
        StepStarted, CommandStarted, CommandEnded, CommandStarted, CommandEnded, StepEnded,
    ]  # fmt: skip
    assert events[0] == StepStarted("A", record.action)
    assert of_type(events, CommandStarted)[1] == CommandStarted("A", 2, second.command, "logs/A-2.log")
    assert of_type(events, CommandEnded)[1] == CommandEnded("A", 2, 0, "exited", second.duration_s)
    assert events[-1] == StepEnded("A", "passed", record.duration_s, record.reason)


def test_a_failed_command_ends_the_step_with_the_end_of_its_output(context, events):
    record = run_step(context, step("seq 50; exit 3", "touch never", verification=(FileExists("never"),)))
    assert (record.outcome, record.reason.text) == ("failed", "command 1 exited with 3")
    assert [command.exit_code for command in record.commands] == [3]
    assert [(check.kind, check.outcome) for check in record.checks] == [("file_exists", "not_run")]
    assert not (context.place.repo / "never").exists()
    (failure,) = context.failures
    assert (failure.code, failure.step, failure.exit_code, failure.signal) == ("STEP_FAILED", "A", 3, None)
    assert failure.message.text == "step A failed: command 1 exited with 3"
    assert failure.command.text == "seq 50; exit 3"
    assert "loopwright unlatch" in failure.hint
    assert failure.log_tail.text.splitlines() == [str(number) for number in range(11, 51)]
    assert failure.log_end.text.splitlines() == [str(number) for number in range(1, 51)]
    assert events[-1] == StepEnded("A", "failed", record.duration_s, record.reason)


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        (("exit 3",), ""),
        (("true", "exit 3"), ""),
        (("exit 3", "exit 3"), "command 1 exited with 3"),
        (("true",), "command 1 exited with 0 instead of 3"),
        (("exit 1",), "command 1 exited with 1 instead of 3"),
    ],
)
def test_an_expected_exit_code_is_that_of_the_last_command(context, commands, reason):
    record = run_step(context, step(*commands, verification=(ExitCodeIs(3), CommandPasses("true"))))
    assert (record.outcome, record.reason.text) == ("failed" if reason else "passed", reason)
    outcomes = [check.outcome for check in record.checks]
    assert outcomes == (["not_run", "not_run"] if reason else ["passed", "passed"])


def test_checks_are_judged_in_order_and_the_first_failure_ends_them(context, events):
    items = (Declared("well"), StdoutContains("out"), FileExists("missing"), CommandPasses("touch never"))
    record = run_step(context, step("echo out; echo last", verification=items))
    assert [(check.kind, check.outcome) for check in record.checks] == [
        ("declared", "declared"), ("stdout_contains", "passed"), ("file_exists", "failed"), ("command", "not_run"),
    ]  # fmt: skip
    assert record.reason.text == "the check file_exists failed: missing does not exist"
    assert record.outcome == "failed"
    assert not (context.place.repo / "never").exists()
    assert [event.outcome for event in of_type(events, CheckJudged)] == [check.outcome for check in record.checks]
    assert of_type(events, CheckJudged)[2] == CheckJudged("A", "file_exists", "failed", record.checks[2].detail)
    (failure,) = context.failures
    assert failure.message.text == "step A failed: the check file_exists failed: missing does not exist"
    assert (failure.code, failure.step, failure.exit_code) == ("STEP_FAILED", "A", 0)
    assert failure.command.text == "echo out; echo last"
    assert failure.log_tail.text == "out\nlast\nmissing does not exist"
    assert failure.log_end.text == "out\nlast\n"
    assert "loopwright unlatch" in failure.hint


@pytest.mark.parametrize("line", ["  indented", "X"])
def test_the_output_before_a_failed_check_is_kept_as_it_is(context, line):
    run_step(context, step(f"echo; echo '{line}'", verification=(FileExists("missing"),)))
    assert context.failures[0].log_tail.text == f"{line}\nmissing does not exist"


def test_a_check_that_is_a_command_has_its_own_log_and_failure(context):
    items = (CommandPasses("exit 0"), CommandPasses(f"echo why; echo {KEY}; exit 2"))
    record = run_step(context, step("true", verification=items))
    assert [(check.kind, check.outcome) for check in record.checks] == [("command", "passed"), ("command", "failed")]
    assert [check.detail.text for check in record.checks] == ["exited with 0", "command 3 exited with 2"]
    assert KEY not in record.checks[1].expected.text
    assert record.checks[0].expected.text == "exit 0"
    assert record.reason.text == "the check command failed: command 3 exited with 2"
    assert [command.log for command in record.commands] == ["logs/A-1.log", "logs/A-2.log", "logs/A-3.log"]
    (failure,) = context.failures
    assert (failure.exit_code, failure.log_tail.text.splitlines()[0]) == (2, "why")


def test_an_exit_code_is_that_of_the_steps_own_commands(context):
    record = run_step(context, step("exit 3", verification=(CommandPasses("true"), ExitCodeIs(3))))
    assert [check.outcome for check in record.checks] == ["passed", "passed"]


def test_a_step_without_commands_is_judged_by_its_checks(context):
    record = run_step(context, step(verification=(FileExists("missing"),)))
    assert (record.outcome, record.commands) == ("failed", [])
    (failure,) = context.failures
    assert (failure.command, failure.exit_code) == (None, None)
    assert failure.log_tail.text == failure.log_end.text == "missing does not exist"


def test_only_standard_output_counts_and_texts_may_be_split_over_commands(context):
    record = run_step(context, step("printf ab", "printf c", verification=(StdoutContains("abc"),)))
    assert record.outcome == "passed"
    on_stderr = Step("B", "b", ("echo abc >&2",), verification=(StdoutContains("abc"),))
    assert run_step(context, on_stderr).outcome == "failed"


def test_a_folder_that_does_not_exist_fails_the_step(context):
    record = run_step(context, step("true", "true", cwd="gone"))
    assert (record.outcome, record.reason.text, record.commands) == ("failed", "the folder gone does not exist", [])
    (failure,) = context.failures
    assert failure.message.text == "step A failed: the folder gone does not exist"
    assert failure.log_tail.text == failure.log_end.text == "the folder gone does not exist"


def test_a_folder_that_leads_outside_is_an_escape(context):
    record = run_step(context, step(f"ln -s /tmp link-{KEY}", verification=(FileExists(f"link-{KEY}/x"),)))
    assert record.outcome == "failed"
    record = run_step(replace(context, failures=[]), Step("B", "b", ("true",), cwd=f"link-{KEY}"))
    assert (record.outcome, record.commands) == ("failed", [])
    context.failures.clear()
    run_step(context, Step("C", "c", ("true",), cwd=f"link-{KEY}"))
    (failure,) = context.failures
    assert (failure.code, failure.step) == ("SANDBOX_ESCAPE", "C")
    assert failure.message.text == record.reason.text
    assert failure.hint
    assert KEY not in failure.message.text


def test_a_command_gets_the_allowed_variables_and_those_of_the_step(context):
    run_step(context, step('echo "$GIVEN,$OTHER,$GIT_CEILING_DIRECTORIES"', env=("GIVEN",)))
    assert log(context, "A-1.log") == f"1,,{context.place.folder}\n"


class Recording(Unconfined):
    """Notes whether commands may use the network."""

    def __init__(self):
        self.network = []

    def launch(self, view, argv, *, cwd, env, network):
        self.network.append(network)
        return super().launch(view, argv, cwd=cwd, env=env, network=network)


@pytest.mark.parametrize(("is_open", "wanted"), [(True, False), (False, False), (False, True)])
def test_a_command_has_the_network_if_the_run_or_the_step_has(context, is_open, wanted):
    isolation = Recording()
    run_step(replace(context, isolation=isolation, network_open=is_open), step("true", network=wanted))
    assert isolation.network == [is_open or wanted]


@pytest.mark.parametrize(("own", "limit"), [(None, "0.2"), (0.1, "0.1")])
def test_a_command_that_does_not_end_in_time_fails_the_step(context, own, limit):
    timed = replace(context, limits=RunLimits(0.2, 1, 1 << 20))
    record = run_step(timed, step("sleep 600", "true", timeout_s=own))
    assert (record.outcome, record.reason.text) == ("failed", f"command 1 did not end within {limit} s")
    assert [command.ending for command in record.commands] == ["timed_out"]
    assert len(context.failures) == 1


class Clock:
    """Stands still until the test moves it."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


def test_the_time_of_a_step_is_for_all_its_commands_without_their_pauses(context, monkeypatch):
    clock, given, commands, freezers = Clock(), [], [], []

    def stream(command, *, timeout_s, freezer, **_):
        given.append(timeout_s)
        commands.append((command.family, command.wrapped))
        freezers.append(freezer)
        clock.now += 6.0
        return Ended(Ending.EXITED, 0, 6.12345, frozen_s=4.0 if len(given) == 1 else 0.0)

    launch = Launch(("bash",), context.place.repo, {}, wrapped=True, lockdown=Lockdown.KEYS)
    monkeypatch.setattr(context.isolation, "launch", lambda *_, **__: launch)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(process, "stream", stream)
    record = run_step(replace(context, limits=RunLimits(8.0, 1, 1 << 20)), step("a", "b", "c", timeout_s=10.0))
    assert (given, record.duration_s) == ([10.0, 8.0, 2.0], 14.0)
    assert [command.duration_s for command in record.commands] == [6.123] * 3
    assert commands == [(str(context.place.folder), True)] * 3
    assert freezers == [context.freezer] * 3
    given.clear()
    run_step(replace(context, limits=RunLimits(8.0, 1, 1 << 20)), Step("B", "b", ("a", "b", "c")))
    assert given == [8.0, 6.0, 0.0]


def test_a_stop_before_a_command_cancels_the_step(context, events):
    context.cancellation.request("enough")
    record = run_step(context, step("true", verification=(FileExists("x"),)))
    assert (record.outcome, record.commands, record.reason.text) == ("cancelled", [], "")
    assert [check.outcome for check in record.checks] == ["not_run"]
    assert context.failures == []


def stopping(context, events):
    """The context of a run that is stopped once a command prints something."""

    def listen(event):
        events.append(event)
        if isinstance(event, OutputSeen):
            context.cancellation.request("enough")

    return replace(context, emitter=Emitter(listen))


def test_a_stop_during_a_command_cancels_the_step(context, events):
    items = (CommandPasses("true"),)
    record = run_step(stopping(context, events), step("echo begun; sleep 600", "true", verification=items))
    assert (record.outcome, [command.ending for command in record.commands]) == ("cancelled", ["cancelled"])
    assert [check.outcome for check in record.checks] == ["not_run"]
    assert context.failures == []
    assert of_type(events, OutputSeen)[0].line.text == "begun"


def test_a_check_that_is_stopped_did_not_run(context, events):
    check = CommandPasses("echo begun; sleep 600")
    record = run_step(stopping(context, events), step("true", verification=(check,)))
    assert (record.outcome, record.checks[0].outcome, record.reason.text) == ("cancelled", "not_run", "")


def test_a_printed_secret_stops_the_run_and_is_in_no_log(context, events):
    record = run_step(context, step(f"echo before; echo {STOPPING}; sleep 600"))
    assert record.outcome == "cancelled"
    assert context.cancellation.reason == module.SECRET_REASON == "a secret was printed"
    (finding,) = context.findings
    assert (finding.source, finding.line, finding.action) == ("logs/A-1.log", 2, "stop")
    (seen,) = of_type(events, SecretSeen)
    assert seen.finding.text == finding.sentence()
    assert STOPPING not in log(context, "A-1.log")
    assert STOPPING not in record.commands[0].command.text


def test_after_a_secret_nothing_more_of_the_output_is_kept(context):
    kept, search = context.folder.open_log("A-1", 1 << 20), TextSearch("last")
    output = module._Output(context, "A", kept, (search,))
    output.take(f"before {STOPPING}\n".encode())
    output.take(b"after\n" * 10**5)
    output.take(b"last")
    output.finish()
    kept.close()
    assert log(context, "A-1.log").startswith("before ")
    assert "after" not in log(context, "A-1.log")
    assert search.found


def test_the_end_of_the_output_is_kept(context):
    kept = context.folder.open_log("A-1", 1 << 20)
    output = module._Output(context, "A", kept, ())
    output.take(b"without a line break")
    output.finish()
    kept.close()
    assert log(context, "A-1.log") == "without a line break"


def test_a_masked_value_is_reported_once_and_the_output_goes_on(context, events):
    record = run_step(context, step(f"echo {KEY}; echo next; echo {KEY} >&2"))
    assert (record.outcome, context.cancellation.reason) == ("passed", None)
    kept = log(context, "A-1.log")
    assert KEY not in kept
    assert "next" in kept
    assert len(of_type(events, SecretSeen)) == len(context.findings) == 2
    assert {finding.action for finding in context.findings} == {"mask"}


def test_each_finding_is_reported_once_however_many_chunks_follow(context, events):
    kept = context.folder.open_log("A-1", 1 << 20)
    output = module._Output(context, "A", kept, ())
    for chunk in (f"{KEY}\n", "x\n" * 10**5, f"{KEY}\n", "x\n" * 10**5):
        output.take(chunk.encode())
    output.finish()
    kept.close()
    assert [finding.line for finding in context.findings] == [1, 10**5 + 2]
    assert len(of_type(events, SecretSeen)) == 2


def test_the_last_line_is_shown_and_not_too_often(context, events, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    kept = context.folder.open_log("A-1", 1 << 20)
    output = module._Output(context, "A", kept, ())
    monkeypatch.setattr(module, "_SHOWN_EVERY_S", 0.5)
    block = "x\n" * 10**5
    for wait, chunk in ((0.0, "\n" * 10**5), (0.0, f"{block}one\n" * 2), (0.25, block), (0.25, f"{block}two\n" * 2)):
        clock.now += wait
        output.take(chunk.encode())
    kept.close()
    shown = of_type(events, OutputSeen)
    assert len(shown) == 2, "a blank line is not shown, and some time must pass"
    assert shown == [OutputSeen("A", event.line) for event in shown]
    assert {event.line.text for event in shown} <= {"x", "one", "two"}


def test_a_log_keeps_as_many_bytes_as_it_may(context):
    record = run_step(replace(context, limits=RunLimits(60.0, 1, 10)), step("echo 0123456789abcdef"))
    assert log(context, "A-1.log").startswith("0123456789\n[loopwright: 7 more bytes")
    assert record.commands[0].log_bytes == len(log(context, "A-1.log"))


def test_two_outputs_never_share_a_line(context):
    kept = context.folder.open_log("A-1", 1 << 20)
    first, second = (module._Output(context, "A", kept, ()) for _ in range(2))
    first.take(b"part")
    first.finish()
    second.take(b"error\n")
    second.finish()
    kept.close()
    assert log(context, "A-1.log") == "part\nerror\n"


def test_every_expected_exit_code_is_judged(context):
    record = run_step(context, step("exit 3", verification=(ExitCodeIs(0), ExitCodeIs(3))))
    assert [check.outcome for check in record.checks] == ["failed", "not_run"]


def test_a_check_does_not_run_after_a_stop(context):
    context.cancellation.request("enough")
    record = run_step(context, step(verification=(CommandPasses("true"),)))
    assert (record.outcome, record.checks[0].outcome) == ("cancelled", "not_run")
