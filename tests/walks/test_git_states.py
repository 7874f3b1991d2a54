"""Repositories in every usual state, and hostile repositories: a run works and `.git` stays unchanged."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import stat
import subprocess

import pytest

MAKE = {"id": "A", "commands": ["echo new > made.txt"]}
AS_TESTER = "git -c user.name=t -c user.email=t@localhost"


def bytes_of(folder):
    """Every name, kind, mode and content below a folder, without loopwright's own files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[path] = (mode, str(path.readlink()))
        elif ".loopwright" not in path.parts:
            found[path] = (mode, hashlib.sha256(path.read_bytes()).digest() if stat.S_ISREG(mode) else b"")
    return found


def at(project, folder):
    """The same user, in another folder."""
    other = copy.copy(project)
    other.root = folder
    return other


def log_of(project, name="A-1", run="r"):
    return (project.own / "runs" / run / "logs" / f"{name}.log").read_bytes()


def ran(project, *arguments, env=None):
    """A green run of the plan, under the name `r`; its evidence."""
    done = project.run("run", *arguments, env=env)
    assert done.exit_code == 0, done.stdout + done.stderr
    return project.evidence("r")


def history(project, *contents):
    return [project.write("f", f"{text}\n") and project.commit(str(text)) for text in contents]


def rebasing(project):
    history(project, "base")
    project.git("checkout", "-q", "-b", "other")
    history(project, "theirs")
    project.git("checkout", "-q", "main")
    history(project, "ours")
    with contextlib.suppress(AssertionError):  # it stops at the conflict
        project.git("rebase", "-q", "other")
    assert (project.root / ".git" / "rebase-merge").is_dir()


def bisecting(project):
    first, *_ = history(project, *range(5))
    project.git("bisect", "start", "HEAD", first)


def detached(project):
    history(project, 1, 2)
    project.git("checkout", "-q", "--detach", "HEAD~1")


def locked(project):
    (project.root / ".git" / "index.lock").touch()


def strangely_named(project):
    for name in (b"line\nbreak", b"caf\xe9", b"tab\there", b'quote"s', b"-rf", b" space "):
        (project.root / os.fsdecode(name)).write_text("content\n")
    project.commit("names")


def with_submodule(project):
    library = at(project, project.home / "library")
    library.root.mkdir()
    library.write("inner.txt", "inner\n")
    library.git("init", "-q")
    library.commit("inner")
    project.git("submodule", "--quiet", "add", str(library.root), "sub")
    project.commit("submodule")


def with_empty_submodule(project):
    with_submodule(project)
    project.git("submodule", "--quiet", "deinit", "-f", "sub")


def split_index(project):
    project.git("update-index", "--split-index")
    history(project, 1, 2)
    assert list((project.root / ".git").glob("sharedindex.*"))


def sparse_index(project):
    project.write("in/a", "1\n")
    project.write("out/deep/b", "2\n")
    project.commit("folders")
    project.git("sparse-checkout", "init", "--cone", "--sparse-index")
    project.git("sparse-checkout", "set", "in")
    assert not (project.root / "out").exists()


def broken_index(project):
    (project.root / ".git" / "index").write_bytes(b"DIRC nonsense")


def missing_object(project):
    os.utime(project.root / "README", (1, 1))
    project.git("update-index", "--refresh")
    blob = project.git("rev-parse", "HEAD:README").strip()
    (project.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


STATES = [
    (rebasing, "copy"), (bisecting, "worktree"), (detached, "worktree"), (locked, "worktree"),
    (strangely_named, "worktree"), (with_submodule, "copy"), (with_empty_submodule, "worktree"),
    (split_index, "worktree"), (sparse_index, "worktree"), (broken_index, "copy"), (missing_object, "copy"),
]  # fmt: skip


@pytest.mark.parametrize("chosen", ["auto", "copy"])
@pytest.mark.parametrize(("state", "picked"), STATES, ids=[state.__name__ for state, _ in STATES])
def test_a_run_works_and_leaves_git_byte_identical(project, state, picked, chosen):
    state(project)
    project.plan({"id": "A", "commands": ["ls -b", "echo new > made.txt", "[ ! -e sub ] || ls sub"]}, run_id="r")
    before = bytes_of(project.root)
    evidence = ran(project, "--mode", chosen)
    assert evidence["sandbox"]["mode"] == (picked if chosen == "auto" else "copy")
    assert evidence["changed_files"] == ["made.txt"]
    if state in (strangely_named, rebasing, detached):
        assert log_of(project) == subprocess.check_output(["ls", "-b"], cwd=project.root)
    if state is with_submodule:
        assert log_of(project, "A-3") == b"inner.txt\n"
    if state is with_empty_submodule and chosen == "auto":
        assert any("sub" in note and "empty" in note for note in evidence["sandbox"]["notes"])
    verified = project.run("verify")
    assert verified.exit_code == 0, verified.stdout
    assert bytes_of(project.root) == before


def test_without_a_repository_the_project_is_copied(make_project):
    project = make_project(commit=False)
    project.plan(MAKE, run_id="r")
    evidence = ran(project)
    assert evidence["sandbox"]["mode"] == "copy"
    assert evidence["base"]["commit"] is None
    assert "not in a git repository" in " ".join(evidence["sandbox"]["notes"])
    assert project.run("rerun", "r").exit_code == 0


def test_without_a_commit_the_project_is_copied(make_project):
    project = make_project(commit=False)
    project.git("init", "-q")
    project.plan(MAKE, run_id="r")
    before = bytes_of(project.root)
    evidence = ran(project)
    assert evidence["sandbox"]["mode"] == "copy"
    assert "no commit" in " ".join(evidence["sandbox"]["notes"])
    assert bytes_of(project.root) == before
    project.git("apply", str(project.own / "runs/r/changes.patch"))


@pytest.mark.parametrize(
    ("dirty", "command", "content"),
    [
        ("echo dirt >> README", "cat README", "a project\ndirt\n"),
        ("echo dirt > new; mkdir -p d; echo deep > d/new", "cat new d/new", "dirt\ndeep\n"),
        ("echo dirt > README; git add README", "cat README", "dirt\n"),
        ("echo one > README; git add README; echo two > README", "cat README", "two\n"),
        ("echo dirt > new; git add -N new", "cat new", "dirt\n"),
        ("rm README", "ls", ""),
        ("git rm -q --cached README", "cat README", "a project\n"),
        ("chmod +x README", "stat -c %a README", "755\n"),
        ("rm README; ln -s nowhere README", "readlink README", "nowhere\n"),
    ],
    ids=["tracked", "untracked", "staged", "staged-then-changed", "intended", "deleted", "unstaged", "mode", "type"],
)
def test_a_dirty_tree_is_copied_with_its_dirt_and_can_be_rerun_when_the_dirt_is_gone(project, dirty, command, content):
    subprocess.run(["bash", "-ec", f"umask 022; {dirty}"], cwd=project.root, env=project.environment, check=True)
    project.plan({"id": "A", "commands": [command, "echo x > made.txt"]}, run_id="r")
    before = bytes_of(project.root)
    evidence = ran(project)
    assert evidence["sandbox"]["mode"] == "copy"
    assert log_of(project).decode() == content
    assert evidence["changed_files"] == ["made.txt"]
    assert "base.patch" in evidence["files"]
    assert bytes_of(project.root) == before

    project.git("reset", "-q", "--hard")
    project.git("clean", "-q", "-f", "-d", "-e", ".loopwright")
    again = project.run("rerun", "r")
    assert again.exit_code == 0, again.stderr
    assert log_of(project, run="r-rerun").decode() == content


def test_files_that_git_ignores_do_not_make_a_tree_dirty(make_project):
    project = make_project({"a": "1\n", ".gitignore": "*.log\nbuild/\n"})
    project.write("debug.log", "x")
    project.write("build/out", "x")
    project.plan({"id": "A", "commands": ["ls"]}, run_id="r")
    assert ran(project)["sandbox"]["mode"] == "worktree"
    assert log_of(project) == b"a\n"


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("mode", ["worktree", "copy"])
def test_a_change_to_a_file_that_git_is_told_to_skip_is_in_the_patch(make_project, mode, bit):
    project = make_project({"a": "1\n", "b": "1\n"})
    project.git("update-index", bit, "a")
    project.plan({"id": "A", "commands": ["echo 2 > a; echo 2 > b"]}, run_id="r")
    assert sorted(ran(project, "--mode", mode)["changed_files"]) == ["a", "b"]


def test_a_nested_repository_that_is_not_a_submodule_is_not_silently_empty(project):
    inner = at(project, project.root / "inner")
    inner.write("f", "inside\n")
    inner.git("init", "-q")
    inner.commit("inner")
    project.commit("a link without .gitmodules")
    project.plan({"id": "A", "commands": ["cat inner/f"]}, run_id="r")
    ran(project)
    assert log_of(project) == b"inside\n"


def test_a_bare_repository_as_project_is_copied(make_project):
    project = make_project(commit=False)
    project.git("init", "-q", "--bare", ".")
    project.plan({"id": "A", "commands": ["cat HEAD", "echo x > made.txt"]}, run_id="r")
    before = bytes_of(project.root)
    assert ran(project)["sandbox"]["mode"] == "copy"
    assert log_of(project) == b"ref: refs/heads/main\n"
    assert bytes_of(project.root) == before


def test_a_folder_of_a_repository_is_copied_and_its_patch_applies_there(make_project):
    top = make_project({"top": "t\n", "sub/a": "1\n"})
    project = at(top, top.root / "sub")
    project.plan({"id": "A", "commands": ["ls", "echo 2 > a"]}, run_id="r")
    before = bytes_of(top.root)
    assert ran(project)["sandbox"]["mode"] == "copy"
    assert log_of(project) == b"a\n"
    assert bytes_of(top.root) == before
    top.git("apply", "--directory=sub", str(project.own / "runs/r/changes.patch"))
    assert (project.root / "a").read_text() == "2\n"
    project.git("checkout", "-q", "--", "a")
    assert project.run("rerun", "r").exit_code == 0


def test_a_linked_worktree_is_a_project_like_any_other_with_its_own_ignore_rules(project):
    project.git("worktree", "add", "-q", "../linked")
    (project.root / ".git/info/exclude").write_text("junk\n")
    linked = at(project, project.root.parent / "linked")
    linked.write("junk", "x")
    linked.plan(MAKE, run_id="r")
    before = bytes_of(project.root)
    assert ran(linked)["sandbox"]["mode"] == "worktree"
    assert linked.run("rerun", "r").exit_code == 0
    assert bytes_of(project.root) == before


@pytest.mark.parametrize("mode", ["worktree", "copy"])
def test_a_repository_with_sha256_names_works_as_a_whole(make_project, mode):
    project = make_project({"a": "1\n", "b": "1\n"}, commit=False)
    project.git("init", "-q", "--object-format=sha256")
    project.commit("start")
    project.plan({"id": "A", "commands": ["echo 2 > a"]}, run_id="r")
    evidence = ran(project, "--mode", mode)
    assert len(evidence["base"]["commit"]) == 64
    assert evidence["changed_files"] == ["a"]
    assert [project.run(verb, "r").exit_code for verb in ("verify", "rerun")] == [0, 0]
    project.git("apply", "--index", str(project.own / "runs/r/changes.patch"))
    assert project.git("write-tree").strip() == evidence["result_tree"]


PROGRAMS = {
    "core.fsmonitor": "fsmonitor", "core.sshCommand": "ssh", "core.pager": "pager", "core.editor": "editor",
    "diff.external": "external", "diff.bad.textconv": "textconv",
    "filter.bad.clean": "clean", "filter.bad.smudge": "smudge", "alias.hostile": "!alias",
}  # fmt: skip
HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit")


@pytest.fixture
def hostile(make_project):
    """A project whose git settings start programs; each program leaves a name in `canaries` when it runs."""
    project = make_project({"a.txt": "1\n", ".gitattributes": "*.txt filter=bad diff=bad\n"})
    project.canaries = project.home.parent / "canaries"
    (project.home.parent / "hooks").mkdir()
    project.canaries.mkdir()

    def arm(scope):
        for name in (*PROGRAMS.values(), *HOOKS):
            program = project.home.parent / "hooks" / name.strip("!")
            program.write_text(f"#!/bin/sh\ntouch {project.canaries}/{program.name}\nexec cat\n")
            program.chmod(0o755)
        for key, name in PROGRAMS.items():
            value = str(project.home.parent / "hooks" / name.strip("!"))
            project.git("config", scope, key, f"!{value}" if name.startswith("!") else value)
        project.git("config", scope, "filter.bad.required", "true")
        if scope == "--global":
            project.git("config", scope, "core.hooksPath", str(project.home.parent / "hooks"))
        else:
            for name in HOOKS:
                (project.root / ".git/hooks").mkdir(exist_ok=True)
                (project.root / ".git/hooks" / name).symlink_to(project.home.parent / "hooks" / name)

    project.arm = arm
    return project


@pytest.mark.parametrize("mode", ["worktree", "copy"])
@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_no_program_that_git_config_names_is_ever_started_by_us(hostile, scope, mode):
    hostile.plan({"id": "A", "commands": ["cat a.txt", "echo 2 > a.txt; echo 3 > b.txt"]}, run_id="r")
    hostile.arm(scope)
    assert ran(hostile, "--mode", mode)["changed_files"] == ["a.txt", "b.txt"]
    assert hostile.run("verify").exit_code == 0
    assert hostile.run("rerun", "r").exit_code == 0
    assert os.listdir(hostile.canaries) == []

    # The traps are live: the user's own git walks into them.
    hostile.write("a.txt", "4\n")
    for command in ("status", "diff", "log -p", "add a.txt", "checkout -q -f -b x HEAD", "hostile"):
        with contextlib.suppress(AssertionError):
            hostile.git(*command.split())
    expected = {"fsmonitor", "external", "textconv", "clean", "smudge", "alias", *HOOKS[:3]}
    assert expected <= set(os.listdir(hostile.canaries))


def test_nothing_that_the_environment_tells_git_is_obeyed(hostile):
    hostile.plan(MAKE, run_id="r")
    hostile.arm("--global")
    program = str(hostile.home.parent / "hooks" / "fsmonitor")
    told = {
        "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere", "GIT_INDEX_FILE": "/nowhere", "GIT_EXTERNAL_DIFF": program,
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": program,
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={program}'", "GIT_OBJECT_DIRECTORY": "/nowhere",
        "GIT_PAGER": program, "GIT_TRACE": str(hostile.canaries / "trace"), "GIT_SSH_COMMAND": program,
    }  # fmt: skip
    evidence = ran(hostile, "--mode", "worktree", env=told)
    assert (evidence["sandbox"]["mode"], evidence["changed_files"]) == ("worktree", ["made.txt"])
    assert os.listdir(hostile.canaries) == []


def test_a_bare_repository_hidden_in_the_tree_is_only_files(hostile):
    evil = at(hostile, hostile.root / "docs")
    hostile.git("init", "-q", "--bare", "docs")
    evil.git("config", "core.bare", "false")
    evil.git("config", "core.worktree", str(evil.root))
    evil.git("config", "core.fsmonitor", f"touch {hostile.canaries}/bare")
    hostile.commit("looks harmless")
    for project in (hostile, evil):
        project.plan({"id": "A", "commands": ["echo new > made.txt; ls"]}, run_id="r")
        assert ran(project)["changed_files"] == ["made.txt"]
        assert project.run("verify").exit_code == 0
    assert os.listdir(hostile.canaries) == []


@pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
def test_changes_of_a_step_to_its_repository_stay_in_the_sandbox(project, isolation):
    canary = project.home.parent / "canary"
    commands = [
        f"git config core.fsmonitor 'touch {canary}; :'; git config core.hooksPath hooks; mkdir -p .git/hooks hooks",
        f"printf '#!/bin/sh\\ntouch {canary}' | tee hooks/post-checkout > .git/hooks/pre-commit",
        f"chmod +x hooks/* .git/hooks/*; echo new > made.txt; git add -A; {AS_TESTER} commit -qm mine; git tag evil",
        "git branch evil; git update-ref refs/heads/main HEAD; git log --oneline | wc -l; git gc -q",
    ]
    project.plan({"id": "A", "commands": commands}, run_id="r")
    before = bytes_of(project.root)
    evidence = ran(project, "--isolation", isolation)
    assert sorted(evidence["changed_files"]) == ["hooks/post-checkout", "made.txt"]
    assert log_of(project, "A-4").split()[0] == b"2"
    assert bytes_of(project.root) == before
    canary.unlink(missing_ok=True)
    project.git("status")
    project.git("checkout", "-q", "-b", "mine")
    assert not canary.exists()
    assert project.git("branch", "--list", "evil") == ""


@pytest.mark.parametrize("mode", ["worktree", "copy"])
def test_the_files_of_a_repository_that_a_step_makes_are_in_the_patch(project, mode):
    make = f"git init -q inner/deep && cd inner/deep && echo x > f && git add f && {AS_TESTER} commit -qm x"
    project.plan({"id": "A", "commands": [make, "git clone -q inner/deep other"]}, run_id="r")
    evidence = ran(project, "--mode", mode)
    assert sorted(evidence["changed_files"]) == ["inner/deep/f", "other/f"]
    assert any("inner/deep/.git" in line for line in evidence["sandbox"]["left_out"])
    project.git("apply", "--index", str(project.own / "runs/r/changes.patch"))
    assert project.git("write-tree").strip() == evidence["result_tree"]


def test_a_project_in_a_folder_of_bytes_that_are_no_text(make_project):
    project = make_project()
    odd = project.root.parent / os.fsdecode(b"p\xff\x1b[31m")
    project.root.rename(odd)
    project.root = odd
    project.plan({"id": "A", "commands": ["true"]}, run_id="r")
    for command in (("run", "--json"), ("verify", "--json"), ("settings", "--json"), ("doctor", "--json")):
        done = project.run(*command)
        assert done.exit_code == 0, done.stderr
        for line in done.stdout.splitlines() if command[0] == "run" else (done.stdout,):
            json.loads(line)
    plain = project.run("run")
    assert plain.exit_code == 0
    assert "\x1b[31m" not in plain.stdout
