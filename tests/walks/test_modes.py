"""Which mode a sandbox gets, and what the evidence says about it."""

from __future__ import annotations

SHOW = {"id": "A", "commands": ["cat README"]}


def test_worktree_that_is_asked_for_is_head_also_when_the_project_is_dirty_and_says_so(project):
    project.write("README", "not committed\n")
    project.plan(SHOW, run_id="w")
    assert project.run("run", "--mode", "worktree").exit_code == 0
    assert (project.own / "runs/w/logs/A-1.log").read_text() == "a project\n"
    assert "uncommitted changes: README" in " ".join(project.evidence("w")["sandbox"]["notes"])
    assert project.run("rerun", "w").exit_code == 0


def test_worktree_that_is_asked_for_and_can_not_be_is_an_error(make_project):
    project = make_project(commit=False)
    project.plan(SHOW)
    done = project.run("run", "--mode", "worktree")
    assert done.exit_code == 1
    assert "SANDBOX_CREATE_FAILED" in done.stderr
    assert "worktree: the project is not in a git repository" in done.stderr


def test_files_that_pass_through_git_filters_are_copied_because_head_holds_stand_ins(make_project):
    project = make_project({".gitattributes": "*.big filter=lfs\n", "x.big": "stand-in\n"})
    # The user's git calls the checkout clean: its filter makes the stand-in of the real content.
    project.git("config", "filter.lfs.clean", "echo stand-in")
    project.write("x.big", "the real content\n")
    project.git("add", "x.big")
    assert project.git("status", "--porcelain").strip() == ""
    project.plan({"id": "A", "commands": ["cat x.big"]}, run_id="f")
    assert project.run("run").exit_code == 0
    assert project.evidence("f")["sandbox"]["mode"] == "copy"
    assert (project.own / "runs/f/logs/A-1.log").read_text() == "the real content\n"


def test_secrets_folders_enter_a_sandbox_in_neither_mode_and_do_not_count_as_deleted(make_project):
    project = make_project({"README": "x\n", ".claude/private/secrets/key": "top secret\n"})
    for mode in ("worktree", "copy"):
        project.plan({"id": "A", "commands": ["ls -R .claude || true", "echo y > y"]}, run_id=mode)
        assert project.run("run", "--mode", mode).exit_code == 0
        evidence = project.evidence(mode)
        assert evidence["changed_files"] == ["y"]
        assert "key" not in (project.own / "runs" / mode / "logs/A-1.log").read_text()
    assert project.run("verify").exit_code == 0
    assert project.run("rerun", "worktree").exit_code == 0


def test_caches_that_tools_make_are_no_change_and_do_not_make_the_project_dirty(project):
    project.write("__pycache__/x.pyc", "x")
    project.write("node_modules/lib/index.js", "x")
    project.plan(
        {"id": "A", "commands": ["mkdir -p a/__pycache__ && echo x > a/__pycache__/y.pyc", "echo z > z"]}, run_id="c"
    )
    assert project.run("run").exit_code == 0
    evidence = project.evidence("c")
    assert (evidence["sandbox"]["mode"], evidence["changed_files"]) == ("worktree", ["z"])


def test_files_that_are_never_copied_are_not_in_the_change_either(make_project):
    project = make_project({"README": "x\n", "tool.exe": "tracked\n"})
    project.write("README", "dirty\n")
    project.write(".env", "A=1\n")
    project.plan({"id": "A", "commands": ["echo new > tool.exe; echo B=2 > .env; echo y > y"]}, run_id="c")
    assert project.run("run").exit_code == 0
    assert project.evidence("c")["changed_files"] == ["y"]
    project.git("apply", str(project.own / "runs/c/changes.patch"))
