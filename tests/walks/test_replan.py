"""The reflection loop: run, fail, ask an agent for a better plan, run again."""

from __future__ import annotations

import json
import socket
import textwrap

import pexpect
import pytest
import yaml

BAD = {"id": "P-1", "action": "try", "commands": ["test -e ready || { echo 'assert failed: expected 2'; exit 1; }"]}


def plan_text(*commands, keeps=BAD, **extra):
    """A plan with these commands, then the step that failed."""
    steps = [{"id": "N", "commands": ["touch ready", *commands]}, {**keeps, "depends_on": ["N"]}]
    return yaml.safe_dump({"new_plan": {"unified_goal": "better", "steps": steps, **extra}})


def turns(project, *answers):
    items = [{"role": "replanner", **answer} for answer in answers]
    return project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": items}))


def test_the_scripted_agent_replans_until_the_run_passes_and_every_attempt_is_kept(project):
    project.plan(BAD, run_id="first")
    turns(
        project, {"answer": plan_text("exit 4"), "expect": "needs: REPLAN"}, {"answer": plan_text("echo ok > ok.txt")}
    )
    done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml")
    assert done.exit_code == 0, done.stderr
    runs = list((project.own / "runs").iterdir())
    assert len(runs) == 3
    assert not (project.own / "latch.lock").exists()
    assert project.latest()["envelope"]["status"] == "OK"
    assert "echo ok" in (project.own / "plan.latest.yaml").read_text()
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize(
    ("failing", "change"),
    [
        ({"commands": ["exit 1"]}, {"commands": ["true"]}),
        ({"commands": ["true"], "verification": [{"file_exists": "out"}]}, {"verification": []}),
        ({"commands": ["exit 1"]}, {"verification": [{"exit_code": 1}]}),
    ],
    ids=["commands", "checks", "exit code"],
)
def test_a_new_plan_without_what_failed_ends_unproven_and_does_not_replace_the_plan(project, failing, change):
    step = {"id": "P-1", **failing}
    plan = project.plan(step, run_id="first")
    before = plan.read_bytes()
    turns(project, {"answer": yaml.safe_dump({"new_plan": {"unified_goal": "g", "steps": [{**step, **change}]}})})
    done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml")
    assert done.exit_code == 14, done.stderr
    assert "REPLAN_UNPROVEN" in done.stderr
    assert "or changes their commands or checks: P-1" in done.stderr
    assert project.latest()["envelope"]["error_code"] == "REPLAN_UNPROVEN"
    assert plan.read_bytes() == before
    command = done.stderr.rpartition("`loopwright run")[2].partition("`")[0].split()
    project.run("unlatch")
    assert project.run("run", *command).exit_code == 0, "a person accepts the new plan"


def test_a_step_that_could_not_run_is_kept_too(project):
    project.plan(BAD, {"id": "P-2", "commands": ["exit 1"], "depends_on": ["P-1"]})
    turns(project, {"answer": plan_text("true")})
    done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml")
    assert (done.exit_code, "or changes their commands or checks: P-2" in done.stderr) == (14, True)


def test_after_the_last_try_a_person_decides(project):
    project.plan(BAD)
    turns(project, {"answer": plan_text("exit 4")}, {"answer": plan_text("exit 5")}, {"answer": plan_text("true")})
    done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml", "--max-retries", "2")
    assert done.exit_code == 1
    assert "MAX_RETRIES" in done.stderr
    assert project.latest()["envelope"]["error_code"] == "MAX_RETRIES"
    assert project.latest("blocker")["exit_code"] == 5
    assert (project.own / "latch.lock").exists()


def test_the_same_plan_again_is_refused_and_counts_as_a_try(project):
    plan = project.plan(BAD)
    turns(project, {"answer": plan.read_text()}, {"answer": plan.read_text()})
    done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml")
    assert "MAX_RETRIES" in done.stderr
    assert len(list((project.own / "runs").iterdir())) == 1


def test_a_plan_file_of_the_callers_own_is_not_overwritten(project):
    mine = project.write("mine.yaml", yaml.safe_dump({"new_plan": {"unified_goal": "g", "steps": [BAD]}}))
    project.commit("my plan")
    turns(project, {"answer": plan_text("true")})
    before = mine.read_bytes()
    assert project.run("run", "--plan", "mine.yaml", "--replan-with", "scripted:.loopwright/turns.yaml").exit_code == 0
    assert mine.read_bytes() == before


def test_any_command_can_be_the_agent(project):
    script = textwrap.dedent("""\
        grep -q 'failed_step: P-1' "$LOOPWRIGHT_PROMPT" || exit 3
        test -f README || exit 4
        echo talking; echo talking >&2
        cat > "$LOOPWRIGHT_ANSWER" <<'END'
        PLAN
        END
        """).replace("PLAN", json.dumps(yaml.safe_load(plan_text("true"))))
    project.write("agent.sh", script)
    project.commit("an agent")
    project.write(".loopwright/config.toml", '[agents.mine]\nkind = "command"\ncommand = "sh agent.sh"\n')
    project.plan(BAD, run_id="first")
    done = project.run("run", "--replan-with", "mine")
    assert done.exit_code == 0, done.stderr
    turn = project.own / "turns" / "first-replan-1"
    assert (turn / "program-1.log").read_text() == "talking\ntalking\n"
    assert (turn / "prompt.md").exists()
    assert list(project.sandboxes.iterdir()) == []


def test_an_agent_that_can_not_answer_ends_the_loop_with_its_reason(project):
    cases = {
        "command:exit 7": "crashed",
        "command:no-such-program-here": "agent_missing",
    }
    for agent, reason in cases.items():
        project.plan(BAD)
        done = project.run("run", "--replan-with", agent)
        assert done.exit_code == 1
        assert "AGENT_FAILED" in done.stderr
        assert reason in done.stderr
        assert (project.own / "latch.lock").exists()
        assert project.run("unlatch").exit_code == 0


def test_an_invalid_answer_is_requested_again_without_a_try_and_each_turn_reports_its_cost(project):
    project.plan(BAD, run_id="first")
    invalid = {"fail": "invalid_answer", "usage": '{"usd": 0.25, "tokens": 1200}\n'}
    turns(project, invalid, {"answer": " "}, {"answer": "", "usd": 0.5}, {"answer": plan_text("true")})
    command = ("run", "--replan-with", "scripted:.loopwright/turns.yaml")
    done = project.run(*command)
    assert done.exit_code == 1
    assert "no plan: invalid_answer: no usable answer, even after a second request: the answer is empty" in done.stderr
    assert "first-replan-1-repair" in done.stderr
    assert "scripted: turn finished (invalid_answer): usd 0.2500, tokens 1,200" in done.stdout
    again = (project.own / "turns" / "first-replan-1-repair" / "prompt.md").read_text()
    assert "as written" in again
    turns(project, {"answer": "", "usd": 0.5}, {"answer": plan_text("true"), "tokens": 7})
    assert project.run("unlatch").exit_code == 0
    done = project.run(*command, "--json", "--max-retries", "1")
    assert done.exit_code == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    told = [one for one in events if one["type"] == "replanned"]
    assert [(one["usd"], one["tokens"], one["failure"]) for one in told] == [
        (0.5, None, "invalid_answer"), (None, 7, None),
    ]  # fmt: skip


def test_a_replanner_at_its_limit_names_the_reset_time_and_no_correction(project):
    for limit, words in (({}, "later, or with another agent"), ({"reset_in_s": 100000}, "after 2")):
        project.plan(BAD)
        turns(project, {"fail": "rate_limited", **limit})
        done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml")
        assert done.exit_code == 1
        assert words in done.stderr
        assert "`loopwright unlatch`, then run the same command again" in done.stderr
        assert "correct the agent" not in done.stderr
        assert project.run("unlatch").exit_code == 0


def test_an_agent_that_does_not_exist_is_named_before_anything_runs(project):
    project.plan({"id": "P-1", "commands": ["true"]})
    done = project.run("run", "--replan-with", "unknown")
    assert done.exit_code == 1
    assert "AGENT_FAILED: there is no agent 'unknown'" in done.stderr
    assert not (project.own / "runs").exists()
    assert not (project.own / "latch.lock").exists()


def test_exhausted_tries_are_reported_as_an_event_and_in_the_latch(project):
    project.plan(BAD, run_id="first")
    turns(project, {"answer": plan_text("false")})
    command = ("run", "--json", "--replan-with", "scripted:.loopwright/turns.yaml", "--max-retries", "1")
    done = project.run(*command)
    assert done.exit_code == 1
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["error_code"] for event in events if event["type"] == "gave.up"] == ["MAX_RETRIES"]
    assert "reason: 'MAX_RETRIES: " in (project.own / "latch.lock").read_text()


@pytest.mark.parametrize(
    ("log", "web"), [("assert 1 == 2", "denied"), ("No module named x", "allowed")], ids=["REPLAN", "RESEARCH"]
)
def test_the_agent_is_told_whether_it_may_use_the_web(project, log, web):
    project.plan({"id": "P-1", "commands": [f"echo '{log}'; exit 1"]}, run_id="first")
    agent = "command:echo $LOOPWRIGHT_WEB; grep -c 'Do not use the web' $LOOPWRIGHT_PROMPT; exit 1"
    project.run("run", "--replan-with", agent, "--max-retries", "1")
    said = (project.own / "turns" / "first-replan-1" / "program-1.log").read_text().split()
    assert said == [web, "1" if web == "denied" else "0"]


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(
    ("setting", "log", "reached"),
    [
        ("always", "assert", True),
        ("research", "assert", False),
        ("research", "not found", True),
        ("never", "not found", False),
    ],
)
def test_the_settings_decide_the_network_of_an_agent(project, setting, log, reached):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        agent = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo reached; exit 1"
        project.write(
            ".loopwright/config.toml",
            f'[agents.mine]\nkind = "command"\nnetwork = "{setting}"\ncommand = """{agent}"""\n',
        )
        project.plan({"id": "P-1", "commands": [f"echo '{log}'; exit 1"]}, run_id="first")
        project.run("run", "--replan-with", "mine", "--max-retries", "1")
    said = (project.own / "turns" / "first-replan-1" / "program-1.log").read_text()
    assert ("reached" in said) is reached


def test_an_agent_can_not_unlatch(project):
    project.plan(BAD, run_id="first")
    python = project.command("unlatch", "--project-root", str(project.root))
    call = " ".join(python)
    agent = f"command:env -u LOOPWRIGHT_AGENT_TURN {call} > said.txt 2>&1; cp said.txt $LOOPWRIGHT_ANSWER"
    # Without isolation an agent works only under the eyes of a person.
    argv = project.command("run", "--isolation", "none", "--replan-with", agent, "--max-retries", "1")
    child = pexpect.spawn(argv[0], list(argv[1:]), cwd=str(project.root), env=project.environment)
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 1
    answer = (project.own / "turns" / "first-replan-1" / "answer.yaml").read_text()
    assert "INSIDE_AGENT" in answer
    assert (project.own / "latch.lock").exists()


def test_a_secret_in_a_new_plan_stops_the_loop(project):
    from loopwright.redaction.examples import expand

    token = expand("ghp_<alnum:36>", 3)
    project.plan(BAD)
    agent = f"command:printf '%s' 'new_plan: {{steps: [{{id: N, commands: [echo {token}]}}]}}' > $LOOPWRIGHT_ANSWER"
    done = project.run("run", "--replan-with", agent)
    assert done.exit_code == 99
    assert token.encode() not in project.everything_kept()


def test_another_agent_takes_over_and_evidence_and_result_contain_the_cost_of_each_turn(project):
    project.plan(BAD, run_id="first")
    config = (
        'failover = true\norder = ["one", "two", "three"]\n'
        '[agents.one]\nkind = "scripted"\nturns = ".loopwright/one.yaml"\n'
        '[agents.two]\nkind = "command"\ncommand = "no-such-program-here"\n'
        '[agents.three]\nkind = "scripted"\nturns = ".loopwright/three.yaml"\n'
    )
    project.write(".loopwright/config.toml", f"[agents]\n{config}")

    def says(name, *answers):
        items = [{"role": "replanner", **answer} for answer in answers]
        project.write(f".loopwright/{name}.yaml", yaml.safe_dump({"turns": items}))

    says("one", {"fail": "rate_limited", "reset_in_s": 100000, "usage": '{"usd": 0.25, "tokens": 1200}\n'})
    says("three", {"answer": plan_text("exit 4"), "usd": 0.5}, {"answer": plan_text("echo ok > ok.txt"), "tokens": 7})
    done = project.run("run", "--replan-with", "one", "--json")
    assert done.exit_code == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    changed = [(one["agent"], one["by"], one["code"]) for one in events if one["type"] == "agent.changed"]
    # A limit lasts; a missing program is looked for again.
    assert changed == [("one", "two", "rate_limited")] + [("two", "three", "agent_missing")] * 2
    known = project.latest()["replanning"]
    assert [(one["turn"], one["agent"], one["failure"], one["usd"], one["tokens"]) for one in known] == [
        ("first-replan-1", "one", "rate_limited", 0.25, 1200),
        ("first-replan-1-2", "two", "agent_missing", None, None),
        ("first-replan-1-3", "three", None, 0.5, None),
        (known[3]["turn"], "two", "agent_missing", None, None),
        (known[4]["turn"], "three", None, None, 7),
    ]  # fmt: skip
    assert all((project.own / "turns" / one["turn"] / "turn.json").exists() for one in known)
    runs = {one.name: json.loads((one / "evidence.json").read_text()) for one in (project.own / "runs").iterdir()}
    last = project.latest()["run_id"]
    assert "replanning" not in runs["first"]
    assert runs[last]["replanning"] == known[3:]
    (between,) = (one for name, one in runs.items() if name not in ("first", last))
    assert between["replanning"] == known[:3]
    summary = (project.own / "runs" / last / "summary.md").read_text()
    assert f"three gave a plan: cost not reported, 7 tokens, 0.0 s; turns/{known[4]['turn']}" in summary
    assert project.run("verify").exit_code == 0
    text = (project.own / "runs" / last / "evidence.json").read_text()
    (project.own / "runs" / last / "evidence.json").write_text(text.replace('"tokens": 7', '"tokens": 1'))
    assert project.run("verify").exit_code == 13


def test_a_turn_without_a_plan_is_in_the_result(project):
    project.plan(BAD, run_id="first")
    turns(project, {"fail": "rate_limited", "usage": '{"usd": 0.25}\n'})
    done = project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml")
    assert done.exit_code == 1
    result = project.latest()
    assert [(one["failure"], one["usd"]) for one in result["replanning"]] == [("rate_limited", 0.25)]
    assert (result["run_id"], result["envelope"]["error_code"]) == ("first", "STEP_FAILED")


def test_an_agent_with_a_full_spelling_is_recorded_by_its_kind_and_a_limit_belongs_to_one_agent(project):
    project.plan(BAD, run_id="first")
    project.write(
        ".loopwright/config.toml",
        '[agents]\nfailover = true\norder = ["two"]\n'
        '[agents.two]\nkind = "scripted"\nturns = ".loopwright/turns.yaml"\n',
    )
    turns(project, {"fail": "crashed"})
    done = project.run("run", "--replan-with", "command:echo mine; exit 7", "--json")
    assert done.exit_code == 1
    (changed,) = [one for one in map(json.loads, done.stdout.splitlines()) if one["type"] == "agent.changed"]
    assert (changed["agent"], changed["by"]) == ("command", "two")
    assert changed["message"] == "command could not continue (crashed): two took over as replanner"
    assert "the agent two gave no plan: crashed" in done.stderr
    assert "echo mine" not in done.stdout + done.stderr
