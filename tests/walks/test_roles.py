"""`agents.roles`: which agent works in which role."""

from __future__ import annotations

import json
from typing import get_args

import yaml
from tests.walks.workflow_kit import BUILT, ok, planner, prepare, refusal, status

from loopwright.agents.port import Role
from loopwright.workspace.settings_model import RoleName

SETTINGS = """[autopilot]
may_approve = ["plan", "build", "review", "complete"]
[workflow]
profile = "full"
[risk]
threshold = 0.0
"""
APPROVES = json.dumps({"verdict": "approve", "notes": "fine"})
REVIEWS = json.dumps({"verdict": "approve", "summary": "fine"})
CLEAR = json.dumps({"verdict": "pass", "summary": "no smell"})
PLANS = {"role": "planner", "answer": json.dumps({"tasks": [{"description": "do it", "tool": "", "mode": "write"}]})}
TURNS = {
    "planner": [planner()],
    "architect": [{"role": "architect", "answer": APPROVES}] * 2,
    "critic": [{"role": "critic", "answer": APPROVES}],
    "builder": [{"role": "builder", "run": BUILT}, {"role": "builder", "run": "true"}],
    "reviewer": [{"role": "reviewer", "answer": REVIEWS}],
    "smell_reviewer": [{"role": "smell reviewer", "answer": CLEAR}],
}


def cast(project, **others):
    """One agent for each role, and one agent that can plan and build; `others` set more roles."""
    names = {f"the-{role}": turns for role, turns in TURNS.items()} | {"both": TURNS["planner"] + TURNS["builder"]}
    chosen = {role: f"the-{role}" for role in TURNS} | others
    lines = "".join(f"{role} = {json.dumps(name)}\n" for role, name in chosen.items())
    agents = "".join(f'[agents.{name}]\nkind = "scripted"\nturns = ".loopwright/{name}.yaml"\n' for name in names)
    prepare(project, settings=f"{SETTINGS}[agents.roles]\n{lines}{agents}")
    for name, turns in names.items():
        project.write(f".loopwright/{name}.yaml", yaml.safe_dump({"turns": turns}))
    ok(project, "plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "")


def asked(project):
    """Who took turns, in which role."""
    records = [json.loads(path.read_bytes()) for path in project.own.rglob("turn.json")]
    return {(record["role"], record["agent"]) for record in records}


def test_each_role_has_its_own_agent_all_the_way(project):
    """The command line names no agent, and there is no default."""
    cast(project)
    stopped = refusal(project, "autopilot", "greet")
    # No policy passes a risk above the floor, not even with a reviewer who approves.
    assert [one["code"] for one in stopped["blockers"]] == ["risk_above_floor"]
    ok(project, *stopped["next"].split()[1:])
    assert status(project)["stage"] == "done"
    assert asked(project) == {(role.replace("_", " "), f"the-{role}") for role in TURNS}


def test_an_agent_on_the_command_line_wins_over_its_role_and_other_roles_stay(project):
    """`--agent` plans and builds; the reviewer is still another agent."""
    cast(project, planner="the-critic", builder="the-critic")
    refusal(project, "autopilot", "greet", "--agent", "both")
    assert asked(project) == {
        (role.replace("_", " "), "both" if role in ("planner", "builder") else f"the-{role}") for role in TURNS
    }


def test_an_unknown_agent_in_the_roles_is_refused_at_the_start(project):
    cast(project, critic="nobdy")
    loop_id = ok(project, "loop", "new", "a goal", "--task", "one", "--agent", "both", "--json").json()["loop_id"]
    for command in (
        ("autopilot", "greet", "--agent", "both"),
        ("plan", "greet", "--agent", "both"),
        ("clarify", "other", "--idea", "another", "--agent", "both"),
        ("loop", "start", loop_id),
    ):
        refused = project.run(*command)
        assert refused.exit_code == 1, command
        assert "agents.roles names an unknown agent: there is no agent 'nobdy'" in refused.stderr
    assert asked(project) == set()
    assert project.ask("loop", "show", loop_id)["status"] == "created"
    assert not (project.own / "workflows" / "other").exists()


def test_an_empty_name_takes_a_role_back(project):
    """A workspace clears a role that the user's own file sets."""
    cast(project, architect="", critic="")
    refused = project.run("plan", "greet", "--agent", "the-planner")
    assert "no turns left for the role architect" in refused.stderr, "who plans is asked"


def test_a_named_reviewer_that_was_not_asked_has_not_reviewed(project):
    """Below the risk floor no review is needed: a role alone adds no reviewer."""
    cast(project)
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace("threshold = 0.0", "threshold = 1.0").replace('"full"', '"lean"'))
    ok(project, "autopilot", "greet")
    assert not any("reviewer" in role for role, _ in asked(project))
    report = (project.own / "workflows" / "greet" / "review-report.md").read_text()
    assert "the-reviewer" not in report
    assert "the-reviewer" not in ok(project, "status", "greet", "--json").stdout


def test_autopilot_without_a_planner_stops_at_once(project):
    prepare(project, settings='[agents.roles]\nbuilder = "scripted"\n')
    ok(project, "plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "")
    assert refusal(project, "autopilot", "greet")["error"] == "agent_missing"


def test_a_configured_reviewer_that_built_the_change_does_not_count(project):
    cast(project, reviewer="the-builder")
    stopped = refusal(project, "autopilot", "greet")
    assert stopped["error"] == "autopilot_review_failed"
    assert "needs a reviewer who did not build it" in json.dumps(status(project))


def test_a_configured_reviewer_that_equals_the_builder_does_not_count(project):
    cast(project, reviewer="twin")
    config = project.own / "config.toml"
    config.write_text(f'{config.read_text()}[agents.twin]\nkind = "scripted"\nturns = ".loopwright/the-builder.yaml"\n')
    assert refusal(project, "autopilot", "greet")["error"] == "autopilot_review_failed"
    assert "needs a reviewer who did not build it" in json.dumps(status(project))


def test_a_missing_smell_reviewer_is_fixed_in_its_setting(project):
    cast(project, smell_reviewer="gemini")
    project.environment |= {"PATH": "/usr/bin:/bin", "LOOPWRIGHT_SANDBOX_ISOLATION": "auto"}
    stopped = project.run("autopilot", "greet")
    assert stopped.exit_code == 1
    assert "another agent in agents.roles.smell_reviewer, then `loopwright review greet --reviewer the-reviewer`" in (
        stopped.stderr
    )


def test_an_unknown_role_is_named_with_the_nearest_role(project):
    prepare(project, settings='[agents.roles]\nreviewr = "scripted"\n')
    done = project.run("settings")
    assert done.exit_code == 1
    assert "[agents.roles] reviewr is unknown; did you mean 'reviewer'?" in done.stderr
    project.write(".loopwright/config.toml", "[agents.roles]\nreviewer = 7\n")
    assert "Expected `str`, got `int`" in project.run("settings").stderr


def test_a_debugger_and_a_planner_of_a_loop_are_asked_by_role(loops):
    cause = {
        "description": "it is missing",
        "testable_condition": "echo YES",
        "evidence_criteria": {"confirm": "YES", "reject": "NO"},
    }
    finds = {"role": "debugger", "answer": json.dumps({"hypotheses": [cause]})}
    loops.configure([{"role": "builder", "run": "true"}, {"role": "builder", "run": "echo done > done"}])
    config = loops.project.own / "config.toml"
    loops.project.write(".loopwright/helper.yaml", yaml.safe_dump({"turns": [PLANS, finds]}))
    config.write_text(
        f'{config.read_text()}\n[agents.roles]\nplanner = "helper"\ndebugger = "helper"\n'
        '[agents.helper]\nkind = "scripted"\nturns = ".loopwright/helper.yaml"\n'
    )
    loop_id = loops.new("--description", "all of it")
    loops.run("start", loop_id)
    assert asked(loops.project) == {("builder", "scripted"), ("debugger", "helper"), ("planner", "helper")}


def test_tasks_are_planned_by_role_even_before_an_agent_works(loops):
    """The planner does the work only if no builder is named."""
    loops.configure([PLANS, PLANS])
    config = loops.project.own / "config.toml"
    without = config.read_text().replace('default = "scripted"', "")
    config.write_text(f'{without}\n[agents.roles]\nplanner = "scripted"\n')
    loop_id = loops.new("--description", "all of it")
    loops.run("task", "generate", loop_id)
    config.write_text(f'{without}\n[agents.roles]\nplanner = "scripted"\nbuilder = "claude"\n')
    loops.run("task", "generate", loop_id)
    tasks = loops.run("show", loop_id).stdout
    assert "T-1 [scripted]" in tasks
    assert "T-2 [claude]" in tasks


def test_every_role_but_the_replanner_can_be_set():
    """A replanner is always named: `run --replan-with`."""
    assert {role.value.replace(" ", "_") for role in Role} - {"replanner"} == set(get_args(RoleName))
