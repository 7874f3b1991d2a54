"""What holds a loop besides its budget: a question for a person, a rate limit, a blocker; each with its exit code."""

from __future__ import annotations

import json

import pytest

from loopwright.loop import events as e

DONE = "echo done > done"
WORKS = {"role": "builder", "run": DONE}


def asking(name, **request):
    text = json.dumps(request)
    return f"printf '%s' '{text}' > \"$LOOPWRIGHT_DECISIONS/{name}.json\"; "


ASKS = {"role": "builder", "run": asking("one", question="which database?", options=["sqlite", "postgres"]), "usd": 1}


@pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
def test_a_question_holds_the_loop_and_the_next_turn_of_that_action_has_the_answer(loops, isolation):
    loops.configure([ASKS, {**WORKS, "expect": "which database?\n  Answer: use sqlite"}])
    loops.project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("decision", "decision_required_D-1")]
    shown = loops.run("show", loop_id).stdout
    assert "held by decision: D-1: which database? (sqlite / postgres)" in shown
    assert "D-1 which database? : not answered yet" in shown
    (listed,) = loops.run("list", "--json").json()["loops"]
    assert [hold["code"] for hold in listed["loopwright"]["holds"]] == ["decision_required_D-1"]
    assert f"loop answer {loop_id} D-1" in loops.project.run("status").stdout
    assert "loop answer" in loops.run("resume", loop_id, code=1).stderr
    assert "loop resume" in loops.run("answer", loop_id, "D-1", "use sqlite").stdout
    assert loops.shown(loop_id)["status"] == "running"
    loops.run("resume", loop_id)
    document = loops.shown(loop_id)
    assert document["status"] == "completed"
    assert document["current_iteration"] == 2, "the same action, resumed"
    (decision,) = document["loopwright"]["decisions"]
    assert (decision["answer"], decision["options"]) == ("use sqlite", ["sqlite", "postgres"])
    assert loops.spent(loop_id)["usd"] == 1, "the turn that asked is paid for"


def test_every_question_needs_an_answer_and_a_second_answer_is_refused(loops):
    both = asking("a", question="which database?") + asking("b", id="D-9", question="which port?")
    loops.configure([{"role": "builder", "run": both}, WORKS])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    assert loops.run("answer", loop_id, "D-7", "x", code=1).stderr.startswith("LOOP_REFUSED: ")
    assert "cannot be empty" in loops.run("answer", loop_id, "D-1", " ", code=1).stderr
    loops.run("answer", loop_id, "D-1", "sqlite")
    assert loops.holds(loop_id) == [("decision", "decision_required_D-9")]
    assert "already answered" in loops.run("answer", loop_id, "D-1", "postgres", code=1).stderr
    loops.run("pause", loop_id)
    assert loops.run("answer", loop_id, "D-9", "8080", "--json").json()["status"] == "paused", "another holder holds it"
    assert loops.holds(loop_id) == [("operator", "paused")]
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.parametrize("again", [{"question": "which  database?"}, {"id": "D-1", "question": "in other words?"}])
def test_a_decided_question_is_not_asked_again(loops, again):
    loops.configure([ASKS, {"role": "builder", "run": asking("again", **again)}, WORKS])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    loops.run("answer", loop_id, "D-1", "sqlite")
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    assert len(loops.events(loop_id, e.DecisionAsked)) == 1
    assert any("the agent asked what is already decided" in message for message in loops.errors(loop_id))
    assert loops.spent(loop_id)["retries"] == 1, "a turn that asks what it was told has failed"


def test_invalid_requests_are_named_and_hold_nothing(loops):
    bad = (
        'cd $LOOPWRIGHT_DECISIONS; echo x > a.json; echo \'{"question": " "}\' > b.json; mkfifo c.json; '
        'ln -s /etc/passwd d.json; head -c 100000 /dev/zero > e.json; echo \'{"question": "q", "id": "../x"}\' > f.json'
    )
    loops.configure([{"role": "builder", "run": f"({bad}); {DONE}"}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id)
    named = [message for message in loops.errors(loop_id) if message.startswith("the decision request")]
    assert len(named) == 6
    assert loops.shown(loop_id)["loopwright"].get("decisions") is None


def test_a_secret_in_a_questions_id_reaches_no_file(loops):
    from loopwright.redaction.examples import expand

    token = expand("ghp_<alnum:36>", 7)
    write = f'printf \'{{"question": "which?", "id": "%s%s"}}\' ghp_ {token[4:]} > $LOOPWRIGHT_DECISIONS/a.json'
    loops.configure([{"role": "builder", "run": write}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("decision", "decision_required_D-1")]
    kept = b"".join(path.read_bytes() for path in (loops.project.own / "loops").rglob("*") if path.is_file())
    assert token.encode() not in kept


@pytest.mark.parametrize("by", ["script", "answer"])
def test_a_secret_that_an_agent_calls_its_session_reaches_no_file(loops, by):
    """Neither in the usage file nor in its answer: the loop waits for a person, and keeps a session to resume."""
    key = "pXq7Lm2Zt9Rb4Kc8Vn1"
    loops.project.environment["FAKE_API_KEY"] = key
    told = (
        asking("one", question="which?") + f'printf \'{{"session": "%s%s"}}\' {key[:5]} {key[5:]} >> $LOOPWRIGHT_USAGE'
    )
    loops.configure([{"role": "builder", "run": told, **({"session": key} if by == "answer" else {})}])
    turns = loops.project.root / ".loopwright" / "turns.yaml"
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("decision", "decision_required_D-1")]
    kept = [path for path in loops.project.own.rglob("*") if path.is_file() and path != turns]
    assert [path for path in kept if key.encode() in path.read_bytes()] == []


def test_a_secret_that_a_dead_worker_s_agent_called_its_session_reaches_no_file(loops, wait_until):
    """The next worker reads the mailbox of the dead worker."""
    key = "pXq7Lm2Zt9Rb4Kc8Vn1"
    loops.project.environment["FAKE_API_KEY"] = key
    mark = loops.project.root / "reached"
    says = f'printf \'{{"session": "%s%s"}}\\n\' {key[:5]} {key[5:]} >> $LOOPWRIGHT_USAGE; touch {mark}; sleep 1000'
    loops.configure([{"role": "builder", "run": f"if test -e {mark}; then {DONE}; else {says}; fi"}])
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as child:
        wait_until(mark.exists)
        child.kill()
        child.wait()
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    kept = [path for path in loops.project.own.rglob("*") if path.is_file()]
    assert [path for path in kept if key.encode() in path.read_bytes()] == []


def test_a_long_pause_ends_the_turn_and_keeps_the_agents_session(loops, wait_until):
    mark = loops.project.root / "reached"
    run = f'if [ "$LOOPWRIGHT_SESSION" = s-7 ]; then {DONE}; else touch {mark}; sleep 1000; fi'
    loops.configure([{"role": "builder", "session": "s-7", "run": run}], loop={"freeze_s": 0})
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as child:
        wait_until(mark.exists)
        loops.run("pause", loop_id)
        assert child.wait() == 0
    assert loops.shown(loop_id)["skill_state"]["current_action"] == "paused"
    assert [event.session for event in loops.events(loop_id, e.ActionPaused)] == ["s-7"]
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.parametrize("command", ["task edit LOOP T-1 --usd 99", "task add LOOP more --turns 9"])
def test_an_agent_can_not_give_itself_more(loops, command):
    loops.configure([])
    loop_id = loops.new("--task", "one")
    loops.project.environment["LOOPWRIGHT_AGENT_TURN"] = "mine:builder"
    refused = loops.run(*command.replace("LOOP", loop_id).split(), code=1)
    assert refused.stderr.startswith("INSIDE_AGENT: ")


def test_an_agent_can_not_answer_itself(loops):
    call = " ".join(loops.project.command("loop", "answer", "LOOP", "D-1", "yes", "--project-root"))
    out = loops.project.root / "said"
    loops.configure([ASKS, {"role": "builder", "run": f"{call} {loops.project.root} > {out} 2>&1; {DONE}"}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    loops.run("answer", loop_id, "D-1", "yes")
    loops.run("resume", loop_id)
    assert out.read_text().startswith("INSIDE_AGENT: ")


LIMITED = {"role": "builder", "fail": "rate_limited", "reset_in_s": 2}


def test_at_a_rate_limit_the_worker_waits_for_the_end_and_resumes_the_action(loops):
    loops.configure([LIMITED, WORKS])
    loop_id = loops.new("--task", "one")
    done = loops.run("start", loop_id)
    assert "held by quota: the agent scripted: rate_limited: as written (until 2" in done.stdout
    document = loops.shown(loop_id)
    assert (document["status"], document["current_iteration"]) == ("completed", 2)
    (placed,) = loops.events(loop_id, e.HoldPlaced)
    (lifted,) = loops.events(loop_id, e.HoldLifted)
    assert (placed.hold.holder, lifted.holder) == ("quota", "quota")
    assert placed.hold.until > placed.hold.since
    assert loops.spent(loop_id)["wall_s"] < 2, "no clock runs during a hold"


def test_a_limit_with_an_end_in_the_past_is_handled_like_a_limit_without_an_end(loops):
    over = {**LIMITED, "reset_in_s": -3600}
    loops.configure([over, over, WORKS])
    loops.project.environment["LOOPWRIGHT_AGENTS_QUOTA_WAIT_S"] = "1"
    loop_id = loops.new("--task", "one")
    assert "the end of the limit is unknown, so the agent is asked again later" in loops.run("start", loop_id).stdout
    placed = loops.events(loop_id, e.HoldPlaced)
    assert len(placed) == 2
    assert all(one.hold.until > one.hold.since for one in placed)


ENDLESS = {"role": "builder", "fail": "rate_limited", "reset_in_s": 100000}


def test_a_waiting_worker_can_be_watched_stopped_and_told_to_retry_at_once(loops, wait_until):
    loops.configure([ENDLESS, ENDLESS, WORKS], loop={"freeze_s": 0})
    loop_id = loops.new("--task", "one")
    detached = json.loads(loops.run("start", loop_id, "--detach", "--json").stdout)
    assert detached["pid"]
    wait_until(lambda: loops.holds(loop_id) == [("quota", "rate_limited")])
    assert "(until 2" in loops.run("show", loop_id).stdout
    loops.run("resume", loop_id)
    wait_until(lambda: len(loops.events(loop_id, e.HoldPlaced)) == 2)
    assert loops.run("list", "--json").json()["loops"][0]["has_worker"], "a long wait is no long pause"
    loops.run("stop", loop_id)
    wait_until(lambda: not loops.run("list", "--json").json()["loops"][0]["has_worker"])
    assert loops.shown(loop_id)["failure_reason"].startswith("stopped by ")


@pytest.mark.parametrize(("signal", "code"), [("terminate", 143), ("kill", -9)])
def test_after_a_waiting_worker_died_the_next_worker_continues_the_wait(loops, wait_until, signal, code):
    loops.configure([ENDLESS, WORKS])
    loop_id = loops.new("--task", "one")
    for _ in range(2):
        with loops.started(loop_id) as child:
            wait_until(lambda: loops.holds(loop_id) == [("quota", "rate_limited")])
            wait_until(lambda: loops.run("list", "--json").json()["loops"][0]["has_worker"])
            getattr(child, signal)()
            assert child.wait() == code
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.parametrize("told", [{}, {"reset_in_s": 60}])
def test_without_the_wait_setting_a_rate_limit_is_held_for_a_person(loops, told):
    loops.configure([{"role": "builder", "fail": "rate_limited", **told}, WORKS])
    loops.project.environment["LOOPWRIGHT_AGENTS_QUOTA"] = "stop"
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("quota", "rate_limited")]
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["current_iteration"] == 2


def turn_records(loops):
    return [json.loads(one.read_text()) for one in sorted(loops.project.own.rglob("turn.json"))]


def test_an_agents_own_limit_is_not_our_budget(loops):
    loops.configure([{"role": "builder", "fail": "budget_used"}, WORKS])
    loop_id = loops.new("--task", "one")
    held = loops.run("start", loop_id, code=11).stdout
    assert (
        f"the limit is the agent's own: raise it, as in `agents.NAME.args`, then `loopwright loop resume {loop_id}`"
        in (held + loops.run("show", loop_id).stdout)
    )
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


def test_the_use_of_a_turn_without_an_answer_is_on_record(loops):
    used = json.dumps({"usd": 0.5, "tokens": 7}) + "\n"
    loops.configure([{"role": "builder", "fail": "crashed", "usage": used}])
    loops.run("start", loops.new("--task", "one"), code=11)
    (record,) = turn_records(loops)
    assert (record["failure"], record["tokens"], record["usd"], record["price"]) == ("crashed", 7, 0.5, "metered")


def test_a_stop_is_a_failure_and_a_pause_is_not(loops, wait_until):
    mark = loops.project.root / "reached"
    used = json.dumps({"tokens": 7, "session": "s1"}) + "\n"
    writes = {"role": "builder", "run": f"touch {mark}; sleep 1000", "usage": used}
    loops.configure([writes] * 2, loop={"freeze_s": 0})
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as child:
        wait_until(mark.exists)
        loops.run("pause", loop_id)
        assert child.wait() == 0
    assert loops.holds(loop_id) == [("operator", "paused")]
    assert [(one["failure"], one["tokens"], one["session"]) for one in turn_records(loops)] == [("stopped", 7, "s1")]
    assert turn_records(loops)[0]["network"], "what it was given is known of it, too"
    mark.unlink()
    loops.run("resume", loop_id, "--no-start")
    with loops.started(loop_id) as child:
        wait_until(mark.exists)
        loops.run("stop", loop_id)
        assert child.wait() == 12


def test_out_of_iterations_is_a_failure_with_its_own_code(loops):
    loops.configure([WORKS])
    loop_id = loops.new("--task", "one", "--max-iterations", "1")
    loops.run("start", loop_id, code=12)
    assert loops.shown(loop_id)["loopwright"]["failure_code"] == "iterations_used"


@pytest.mark.parametrize("fail", ["agent_missing", "agent_too_old", "not_logged_in"])
def test_an_unavailable_agent_is_a_blocker(loops, fail):
    loops.configure([{"role": "builder", "fail": fail}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("blocker", fail)]


CAUSE = {"description": "d", "testable_condition": "echo no", "evidence_criteria": {"confirm": "yes", "reject": "no"}}
NO_CAUSE = {"role": "debugger", "answer": json.dumps({"hypotheses": [CAUSE]})}
FOUND = {**CAUSE, "testable_condition": "echo yes"}
A_CAUSE = {"role": "debugger", "answer": json.dumps({"hypotheses": [FOUND]})}
IDLE = {"role": "builder", "run": "true"}


def test_the_breaker_is_half_open_on_resume(loops):
    """A loop without progress is held; each further iteration without progress holds it again."""
    loops.configure([IDLE, *[NO_CAUSE] * 9])
    loop_id = loops.new("--task", "one", "--max-iterations", "30")
    loops.run("start", loop_id, code=11)
    for _ in range(2):
        assert loops.holds(loop_id) == [("blocker", "no_progress")]
        before = loops.shown(loop_id)["current_iteration"]
        loops.run("resume", loop_id, code=11)
        assert loops.shown(loop_id)["current_iteration"] == before + 1


def test_an_iteration_with_progress_closes_the_breaker(loops):
    loops.configure([IDLE, *[NO_CAUSE] * 4, A_CAUSE, IDLE, *[NO_CAUSE] * 9])
    loop_id = loops.new("--task", "one", "--max-iterations", "30")
    loops.run("start", loop_id, code=11)
    before = loops.shown(loop_id)["current_iteration"]
    loops.run("resume", loop_id, code=11)
    assert loops.holds(loop_id) == [("blocker", "no_progress")]
    # A new cause is progress, and so is the absence of a cause; only three iterations without a change hold the loop.
    assert loops.shown(loop_id)["current_iteration"] == before + 7


def test_fixes_that_change_nothing_are_no_progress_however_many_kinds_of_action_they_go_through(loops):
    cause = {
        "description": "it is not there", "testable_condition": "echo MISSING",
        "evidence_criteria": {"confirm": "MISSING", "reject": "there"}, "fix": "make it",
    }  # fmt: skip
    asked = {"role": "debugger", "answer": json.dumps({"hypotheses": [cause]})}
    loops.configure([{"role": "builder", "run": "true"}, asked] * 9)
    loop_id = loops.new("--task", "make it", "--max-iterations", "30")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("blocker", "no_progress")]
    assert loops.shown(loop_id)["current_iteration"] < 9


def test_a_round_that_changes_the_work_is_progress_also_when_the_same_test_fails_for_the_same_cause(loops):
    cause = {**FOUND, "fix": "one more"}
    asked = {"role": "debugger", "answer": json.dumps({"hypotheses": [cause]})}
    adds = {"role": "builder", "run": "echo x >> lines; test $(wc -l < lines) -lt 5 || echo 1 > done"}
    loops.configure([adds, asked] * 9)
    loop_id = loops.new("--task", "five lines", "--max-iterations", "30")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["current_iteration"] == 14, "five rounds, each of which changed the tree"
