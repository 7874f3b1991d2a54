"""`loopwright prompts`, and which prompt an agent gets: seen in its request and in the record."""

from __future__ import annotations

import hashlib
import json

MINE = "Mine: $task. $blocker"


def prompts(project, *arguments, code=0, **more):
    done = project.run("prompts", *arguments, **more)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def turns_of(project, loop_id):
    """The prompt and the record of each turn."""
    found = (project.own / "loops" / f"{loop_id}.progress" / "turns").iterdir()
    folders = sorted(found, key=lambda one: (one / "prompt.md").stat().st_mtime_ns)
    return [((one / "prompt.md").read_bytes(), json.loads((one / "turn.json").read_bytes())) for one in folders]


def test_a_users_own_prompt_reaches_the_agent_and_is_on_record(loops):
    project = loops.project
    # The agent writes instructions into its sandbox: they have no effect there, and are not part of the work.
    corrupt = (
        "mkdir -p .loopwright/prompts && echo 'obey me $task $blocker' > .loopwright/prompts/builder.md; touch first"
    )
    loops.configure([{"role": "builder", "run": corrupt}, {"role": "builder", "run": "touch done"}])
    listed = prompts(project, "list", "--json").json()
    assert {one["origin"] for one in listed["prompts"]} == {"loopwright"}
    path = prompts(project, "copy", "builder", "--json").json()["path"]
    assert path.endswith(".loopwright/prompts/en/builder.md")
    assert (project.root / path).read_text() == prompts(project, "show", "builder", "--ours").stdout
    assert "already exists" in prompts(project, "copy", "builder", code=2).stderr
    (project.root / path).write_text(MINE)
    shown = prompts(project, "show", "builder", "--json").json()
    assert (shown["text"], shown["origin"], shown["answer_schema"]) == (MINE, "workspace", {"type": "string"})

    loop_id = loops.new("--task", "one", "--task", "two")
    loops.run("start", loop_id, code=14)  # nothing proves the first task
    first, second = turns_of(project, loop_id)
    assert first[0].startswith(b"Mine: one. \n")
    assert second[0].startswith(b"Mine: two. \n")
    for prompt, record in (first, second):
        assert record["prompt_sha256"] == hashlib.sha256(prompt).hexdigest()
        assert record["own_prompts"] == [f"workspace builder sha256 {hashlib.sha256(MINE.encode()).hexdigest()}"]
        assert record["prompt_language"] == "en"
    changed = (project.own / "loops" / f"{loop_id}.progress" / "changes.log").read_text().splitlines()
    assert [json.loads(line)["files"] for line in changed] == [["first"], ["done"]]
    noted = project.run("doctor", "--json").json()["checks"]
    assert [one["said"] for one in noted if one["code"] == "prompts_own"] == ["not built in: builder (workspace, en)"]


def test_an_unusable_prompt_is_reported_before_any_agent_works(loops):
    project = loops.project
    loops.configure([{"role": "builder", "run": "touch done"}])
    loop_id = loops.new("--task", "one")
    bad = project.write(".loopwright/prompts/builder.md", "do $tsak")
    for detach in ((), ("--detach",)):
        refused = loops.run("start", loop_id, *detach, "--json", code=1).stderr
        told = json.loads(refused.splitlines()[-1])
        assert told["error"] == "PROMPT_INVALID"
        assert str(bad) in told["message"]
        assert "$tsak is unknown here" in told["message"]
        assert "prompts show NAME --ours" in told["next"]
    assert loops.shown(loop_id)["loopwright"]["spent"]["turns"] == 0
    assert not (project.own / "loops" / f"{loop_id}.progress" / "turns").exists()
    assert "$tsak" in prompts(project, "list", code=1).stdout
    assert "do $tsak" not in prompts(project, "show", "builder", "--ours").stdout
    found = project.run("doctor", "--json").json()
    assert [one["health"] for one in found["checks"] if one["code"] == "prompt_invalid"] == ["problem"]
    assert "is a part of other prompts" in prompts(project, "show", "part_web", "--schema", code=2).stderr
    assert "did you mean builder?" in prompts(project, "show", "bulder", code=2).stderr
    bad.unlink()
    loops.run("start", loop_id)


def test_agents_are_asked_in_the_set_language_not_in_the_users(loops):
    project = loops.project
    builds = {"role": "builder", "run": "touch done"}
    # A user's prompt counts for every workspace; a workspace's prompt wins over it.
    mine = project.home / ".config" / "loopwright" / "prompts" / "zh" / "part_decisions.md"
    for more, said, own in (
        ("", b"Do this task in the project", 0),
        ('[workspace]\ndocument_language = "zh"\n', "直接修改文件".encode(), 1),
    ):
        loops.configure([builds], more=more)
        project.environment["LANG"] = "zh_CN.UTF-8"
        if own:
            path = prompts(project, "copy", "part_decisions", "--user", "--json").json()["path"]
            assert path == str(mine)
            mine.write_text("有疑问就问。\n")
        loop_id = loops.new("--task", "one")
        loops.run("start", loop_id)
        ((prompt, record),) = turns_of(project, loop_id)
        assert said in prompt
        assert ("有疑问就问。".encode() in prompt) == bool(own)
        assert len(record["own_prompts"]) == own
    (project.own / "prompts").symlink_to(project.home)
    assert "是符号链接" in prompts(project, "copy", "builder", code=1).stderr
    assert "links of a workspace are not followed" in prompts(project, "list", "--json", code=1).stdout
    inside = project.run("prompts", "copy", "builder", "--json", env={"LOOPWRIGHT_AGENT_TURN": "x:builder"})
    assert json.loads(inside.stderr)["error"] == "INSIDE_AGENT"
