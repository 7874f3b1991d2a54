"""A loop whose log is missing or changed; and tests without a result."""

from __future__ import annotations

import json

MADE = "echo 1 > made"


def prepared(project, test_command="test -e made", more=""):
    project.write(".gitignore", f".loopwright/\n# {test_command}\n")
    project.commit("ignore")
    project.write(
        ".loopwright/config.toml",
        f'[project]\nsource = ["**"]\ntest_command = {json.dumps(test_command)}\n[sandbox]\nisolation = "none"\n{more}',
    )


def run(project, *arguments, code=0):
    done = project.run("loop", *arguments)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def new(project, *arguments):
    loop_id = run(project, "new", "goal", *arguments, "--json").json()["loop_id"]
    run(project, "task", "add", loop_id, MADE, "--tool", "bash")
    return loop_id


def shown(project, loop_id):
    return run(project, "show", loop_id, "--json").json()


def lose_the_log(project, loop_id):
    folder = project.own / "loops"
    (folder / f"{loop_id}.events.ndjson").unlink()
    (folder / f".{loop_id}.head.json").unlink()
    run(project, "check", loop_id, "--fix")


def test_a_loop_without_its_log_keeps_its_work_and_its_limits(project):
    prepared(project)
    loop_id = new(project, "--usd", "5", "--turns", "2", "--tag", "night", "--priority", "3")
    run(project, "start", loop_id)
    run(project, "retry", loop_id)
    before = shown(project, loop_id)["loopwright"]
    lose_the_log(project, loop_id)
    after = shown(project, loop_id)["loopwright"]
    for name in ("budget", "spent", "attempt", "tags", "priority"):
        assert after[name] == before[name], name
    run(project, "resume", loop_id)
    document = shown(project, loop_id)
    assert document["status"] == "completed", "the tests saw the work, and it passed"
    assert document["skill_state"]["develop"]["tasks"][0]["files_changed"] == ["made"]


def test_without_the_work_itself_its_tasks_are_done_again(project):
    prepared(project)
    loop_id = new(project)
    run(project, "start", loop_id)
    run(project, "retry", loop_id)
    for patch in (project.own / "loops" / f"{loop_id}.progress" / "work").glob("*.patch"):
        patch.unlink()
    lose_the_log(project, loop_id)
    document = shown(project, loop_id)
    assert [task["status"] for task in document["skill_state"]["develop"]["tasks"]] == ["pending"]
    run(project, "resume", loop_id)
    assert shown(project, loop_id)["status"] == "completed"


def test_a_changed_log_is_refused_and_the_loop_continues_from_the_last_known_state(project):
    prepared(project)
    loop_id = new(project)
    path = project.own / "loops" / f"{loop_id}.events.ndjson"
    whole = path.read_bytes()
    for damage in (b"\0" * len(whole), whole.replace(b'"bash"', b'"BASH"')):
        path.write_bytes(damage)
        refused = project.run("loop", "task", "add", loop_id, "more")
        assert (refused.exit_code, "DAMAGED_FILE" in refused.stderr) == (1, True)
        assert path.read_bytes() == damage, "nothing was appended behind the damage"
        path.write_bytes(whole)
    path.write_bytes(b"\0" * len(whole))
    run(project, "check", loop_id, "--fix")
    run(project, "start", loop_id)
    assert shown(project, loop_id)["status"] == "completed"


def test_a_set_up_that_fails_says_nothing_about_the_work(project):
    prepared(project)
    config = project.own / "config.toml"
    config.write_text(config.read_text() + 'setup = ["echo no-network; false"]\n')
    loop_id = new(project)
    run(project, "start", loop_id, code=11)
    (hold,) = shown(project, loop_id)["loopwright"]["holds"]
    assert (hold["holder"], hold["code"]) == ("blocker", "setup_failed")


def test_a_report_that_can_not_be_believed_fails_by_name(project):
    empty = '<testsuite name="s" tests="1" failures="1"><testcase name="t"/></testsuite>'
    skipped = '<testsuite name="s" tests="1"><testcase name="t"><skipped/></testcase></testsuite>'
    for number, (report, name) in enumerate(((empty, "the report"), (skipped, "all tests were skipped"))):
        project.write("report.xml", f"{report}<!-- {number} -->")
        prepared(project, "cp report.xml junit.xml")
        loop_id = new(project, "--max-iterations", "2")
        project.run("loop", "start", loop_id)
        found = shown(project, loop_id)["skill_state"]["validate"]
        assert found["passed"] is False
        assert name in found["failed_tests"], found


def test_more_iterations_are_given_on_the_way(project):
    prepared(project)
    loop_id = new(project, "--max-iterations", "1")
    run(project, "pause", loop_id, code=1)
    refused = project.run("loop", "pause", loop_id, "--json")
    assert json.loads(refused.stderr)["blocker"]
    run(project, "start", loop_id, code=12)
    run(project, "retry", loop_id, "--max-iterations", "5")
    run(project, "pause", loop_id)
    revision = str(shown(project, loop_id)["loopwright"]["revision"])
    run(project, "resume", loop_id, "--max-iterations", "9", "--revision", revision)
    assert (shown(project, loop_id)["status"], shown(project, loop_id)["max_iterations"]) == ("completed", 9)
