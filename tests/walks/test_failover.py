"""At a rate limit the next agent in the user's order takes over; agent, reason and end are on record."""

from __future__ import annotations

import json

import yaml
from tests.walks.workflow_kit import BUILT, ok, plan, planner, prepare, status

from loopwright.loop import events as e

LIMITED = {"role": "builder", "fail": "rate_limited", "reset_in_s": 100000}
SOON = {"role": "builder", "fail": "rate_limited", "reset_in_s": 2}
OVER = {**LIMITED, "reset_in_s": -3600}
UNTOLD = {"role": "builder", "fail": "rate_limited"}
WORKS = {"role": "builder", "run": "echo done > done"}
NEVER = {"role": "builder", "fail": "refused"}


def with_agents(loops, order=("first", "second"), failover=True, **agents):
    """Agents by name, each with its written turns; a turn's number is counted for the loop, not for each agent."""
    loops.configure()
    tables = "".join(f'[agents.{name}]\nkind = "scripted"\nturns = ".loopwright/{name}.yaml"\n' for name in agents)
    tables += '[agents.gone]\nkind = "command"\ncommand = "no-such-program-anywhere"\n'
    loops.project.write(
        ".loopwright/config.toml",
        f'[project]\nsource = ["**"]\ntest_command = "test -e done"\n'
        f'[agents]\ndefault = "first"\norder = {json.dumps(list(order))}\n'
        f"failover = {str(failover).lower()}\n{tables}",
    )
    for name, turns in agents.items():
        loops.project.write(f".loopwright/{name}.yaml", yaml.safe_dump({"turns": list(turns)}))
    return loops.new("--task", "one")


def changes(loops, loop_id):
    return [(one.takeover.agent, one.takeover.by, one.takeover.code) for one in loops.events(loop_id, e.AgentChanged)]


def test_the_next_agent_takes_the_action_over_in_a_clean_sandbox_and_is_asked_first_while_the_limit_lasts(loops):
    half = {"role": "builder", "run": "echo half > half; exit 1"}
    limited = {**LIMITED, "session": "of-the-first"}
    second = [NEVER, {**WORKS, "run": 'test -z "$LOOPWRIGHT_SESSION" && test ! -e half && echo x > x'}, WORKS]
    loop_id = with_agents(loops, first=[limited, half, half], second=second)
    loops.run("task", "add", loop_id, "two")
    loops.run("start", loop_id, code=14)
    document = loops.shown(loop_id)
    assert loops.holds(loop_id) == [("proof", "unproven")], "nothing proves the first task"
    assert changes(loops, loop_id) == [("first", "second", "rate_limited")], "the second task asks it at once"
    assert [one.hold.holder for one in loops.events(loop_id, e.HoldPlaced)] == ["proof"], "the loop does not wait"
    asked = [one.turn.agent for one in loops.events(loop_id, e.TurnBegun)]
    assert asked == ["first", "second", "second"]
    own = document["loopwright"]
    (takeover,) = own["takeovers"]
    assert (takeover["role"], takeover["until"] > takeover["at"]) == ("builder", True)
    assert own["builders"] == ["first", "second"]
    shown = loops.run("show", loop_id).stdout
    assert "first could not continue (rate_limited until 2" in shown
    assert "second took over as builder" in shown
    assert "second took over" in loops.run("logs", loop_id).stdout


def test_if_all_agents_are_at_their_limit_the_loop_waits_for_the_earliest_return(loops):
    loop_id = with_agents(loops, first=[SOON, NEVER, WORKS], second=[NEVER, LIMITED, NEVER])
    done = loops.run("start", loop_id)
    assert "no other agent can take over" in done.stdout
    (placed,) = loops.events(loop_id, e.HoldPlaced)
    (lifted,) = loops.events(loop_id, e.HoldLifted)
    assert (placed.hold.holder, lifted.holder) == ("quota", "quota")
    (change,) = loops.events(loop_id, e.AgentChanged)
    assert placed.hold.until == change.takeover.until, "the first is back long before the second"
    assert [one.turn.agent for one in loops.events(loop_id, e.TurnBegun)] == ["first", "second", "first"]
    assert loops.shown(loop_id)["status"] == "completed"


def test_an_agent_with_a_limit_in_the_past_is_replaced_once_and_the_next_agent_is_asked(loops):
    loop_id = with_agents(loops, first=[OVER] * 5, second=[NEVER, WORKS])
    loops.run("start", loop_id)
    assert changes(loops, loop_id) == [("first", "second", "rate_limited")]
    assert [one.turn.agent for one in loops.events(loop_id, e.TurnBegun)] == ["first", "second"]
    assert loops.shown(loop_id)["loopwright"]["takeovers"][0].get("until") is None


def test_very_short_limits_are_waited_for_and_never_handed_over_in_a_circle(loops):
    soon = {**SOON, "reset_in_s": 0.01}
    loop_id = with_agents(loops, first=[soon, NEVER, soon, NEVER, WORKS], second=[NEVER, soon, NEVER, soon, WORKS])
    # On a busy machine the limit is over before it is read. Then no end is known, and these waits apply.
    loops.project.environment |= {"LOOPWRIGHT_AGENTS_QUOTA_WAIT_S": "1", "LOOPWRIGHT_AGENTS_QUOTA_LONGEST_S": "2"}
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    placed = loops.events(loop_id, e.HoldPlaced)
    assert placed, "the loop waits"
    assert all(one.hold.until > one.hold.since for one in placed)
    assert len(changes(loops, loop_id)) <= 4, "each once before a wait"


def test_an_unusable_successor_is_skipped_and_no_agent_is_asked_in_circles(loops):
    loop_id = with_agents(
        loops, ("first", "second", "third", "gone"), first=[UNTOLD, NEVER, NEVER, NEVER, WORKS],
        second=[NEVER, {"role": "builder", "fail": "not_logged_in"}], third=[NEVER, NEVER, UNTOLD],
    )  # fmt: skip
    loops.project.environment |= {"LOOPWRIGHT_AGENTS_QUOTA": "stop", "LOOPWRIGHT_SANDBOX_ISOLATION": "auto"}
    loops.run("start", loop_id, code=11)
    assert changes(loops, loop_id) == [
        ("first", "second", "rate_limited"),
        ("second", "third", "not_logged_in"),
        ("third", "gone", "rate_limited"),
    ]
    assert loops.holds(loop_id) == [("quota", "agent_missing")]
    assert "no-such-program-anywhere' was not found" in loops.run("show", loop_id).stdout
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed", "who resumes it has the first one tried again"


def test_no_agent_takes_over_if_that_is_not_allowed(loops):
    loop_id = with_agents(loops, failover=False, first=[LIMITED, WORKS], second=[NEVER, WORKS])
    loops.project.environment["LOOPWRIGHT_AGENTS_QUOTA"] = "stop"
    loops.run("start", loop_id, code=11)
    assert changes(loops, loop_id) == []
    assert loops.holds(loop_id)[0][0] == "quota"


def test_a_crashed_agent_is_replaced_and_if_all_crash_a_person_must_look(loops):
    crashed, hung = ({"role": "builder", "fail": fail} for fail in ("crashed", "hung"))
    loop_id = with_agents(loops, first=[crashed, NEVER, WORKS], second=[NEVER, hung])
    done = loops.run("start", loop_id, code=11)
    assert changes(loops, loop_id) == [("first", "second", "crashed")]
    assert loops.holds(loop_id) == [("blocker", "hung")]
    assert "no other agent can take over" in done.stdout
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed", "who resumes it has the first one tried again"


def test_the_planner_of_tasks_is_replaced_too(loops):
    tasks = json.dumps({"tasks": [{"description": "write it"}]})
    first = [{"role": "planner", "fail": "not_logged_in"}]
    second = [{"role": "planner", "answer": "x"}, {"role": "planner", "answer": tasks}]
    loop_id = with_agents(loops, first=first, second=second)
    loops.run("task", "generate", loop_id)
    assert changes(loops, loop_id) == [("first", "second", "not_logged_in")]
    assert [one.task.description for one in loops.events(loop_id, e.TaskAdded)] == ["one", "write it"]


def test_an_unknown_agent_in_the_order_is_refused_at_the_start(loops):
    loop_id = with_agents(loops, ("first", "frist"), first=[WORKS])
    for command in (("start", loop_id), ("task", "generate", loop_id)):
        refused = loops.run(*command, code=1)
        assert "agents.order names an unknown agent: there is no agent 'frist'" in refused.stderr
    assert loops.events(loop_id, e.TurnBegun) == []
    assert "there is no agent 'frist'" in loops.project.run("doctor").stdout


SETTINGS = (
    '[agents]\norder = ["scripted", "other"]\nfailover = true\n[risk]\nthreshold = 0.0\n'
    '[agents.other]\nkind = "scripted"\nturns = ".loopwright/other.yaml"\n'
)


def test_planners_and_reviewers_are_replaced_too_and_never_by_the_builder(project):
    told = {"fail": "rate_limited", "reset_in_s": 100000}
    # The interactive agent can't plan, so it is skipped.
    by_hand = SETTINGS.replace('"scripted", ', '"scripted", "interactive", ')
    prepare(project, [{"role": "planner", **told}, {"role": "builder", "run": BUILT}], settings=by_hand)
    review = {"role": "reviewer", "answer": json.dumps({"verdict": "approve", "summary": "fine"})}
    smell = {"role": "smell reviewer", "answer": json.dumps({"verdict": "pass", "summary": "fine"})}
    third = {"turns": [*[review] * 3, smell]}
    limited = {"turns": [{"role": "planner", "fail": "crashed"}, planner(), *[{"role": "reviewer", **told}] * 2]}
    project.write(".loopwright/other.yaml", yaml.safe_dump(limited))
    done = plan(project)
    assert "scripted could not continue (rate_limited until 2" in done.stdout
    assert "other took over as planner" in done.stdout
    (takeover,) = status(project)["takeovers"]
    assert (takeover["agent"], takeover["by"], takeover["role"]) == ("scripted", "other", "planner")
    assert "other took over as planner" in ok(project, "status", "greet").stdout
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    # The limit of the plan's turn applies to the account, so it would also stop the builder.
    settings = (project.own / "config.toml").read_text()
    project.write(".loopwright/config.toml", settings.replace("failover = true", "failover = false"))
    ok(project, "build", "greet", "--agent", "scripted")
    project.write(".loopwright/config.toml", settings)
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    refused = project.run("review", "greet", "--reviewer", "other")
    assert (refused.exit_code, "rate_limited until 2" in refused.stderr) == (1, True)
    assert "nothing is lost: run the same command again after 2" in refused.stderr
    assert status(project)["stage"] == "review", "there was no review, and nothing is sent back"
    project.write(".loopwright/third.yaml", yaml.safe_dump(third))
    # The twin is the builder under another name.
    more = settings.replace('"other"]', '"other", "twin", "third"]')
    table = '[agents.third]\nkind = "scripted"\nturns = ".loopwright/third.yaml"\n'
    own = next(line for line in settings.splitlines() if line.startswith("turns = ") and "other" not in line)
    table += f'[agents.twin]\nkind = "scripted"\n{own}\n'
    project.write(".loopwright/config.toml", more + table)
    done = ok(project, "review", "greet", "--reviewer", "other")
    report = (project.own / "workflows" / "greet" / "review-report.md").read_text()
    assert "reviewer: third" in report


def test_the_clarifying_agent_is_replaced_too_and_the_takeover_is_reported(project):
    prepare(project, [{"role": "clarifier", "fail": "rate_limited"}], settings=SETTINGS)
    asks = {"role": "clarifier", "answer": json.dumps({"question": "For whom?"})}
    project.write(".loopwright/other.yaml", yaml.safe_dump({"turns": [asks, asks]}))
    done = ok(project, "clarify", "greet", "--idea", "greet by name", "--agent", "scripted")
    assert "For whom?" in done.stdout
    assert "scripted could not continue (rate_limited): other took over as clarifier" in done.stdout


def test_a_planner_with_a_limit_in_the_past_is_asked_once(project):
    over = {"role": "planner", "fail": "rate_limited", "reset_in_s": -3600}
    prepare(project, [over] * 4, settings=SETTINGS)
    project.write(".loopwright/other.yaml", yaml.safe_dump({"turns": [over] * 4}))
    done = project.run("plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "scripted")
    assert done.exit_code == 1
    assert "rate_limited, and the end of the limit is unknown" in done.stderr
    assert [one["agent"] for one in status(project)["takeovers"]] == ["scripted"]


def test_a_limit_of_the_agent_differs_from_our_budget(project):
    prepare(project, [{"role": "planner", "fail": "budget_used"}])
    spec = str(project.root.parent / "SPEC.md")
    done = project.run("plan", "greet", "--direct", spec, "--agent", "scripted")
    assert "raise the limit of the agent, for example in `agents.NAME.args`, then run the same" in done.stderr


def test_an_agent_that_built_any_part_cant_review_it(project):
    prepare(project, [planner(), LIMITED], settings=SETTINGS)
    review = {"role": "reviewer", "answer": json.dumps({"verdict": "approve", "summary": "fine"})}
    other = {"turns": [NEVER, {"role": "builder", "run": BUILT}, review]}
    project.write(".loopwright/other.yaml", yaml.safe_dump(other))
    project.at("built")
    (takeover,) = status(project)["takeovers"]
    assert (takeover["agent"], takeover["by"]) == ("scripted", "other")
    assert "scripted could not continue" in ok(project, "status", "greet").stdout
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    project.run("review", "greet", "--reviewer", "other")
    report = (project.own / "workflows" / "greet" / "review-report.md").read_text()
    assert "other built the work and cannot review it" in report
