"""`loopwright risk` on real repositories, in every state that people and agents leave them in."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import shutil
import stat
import subprocess

import pytest

FEW = "x = 1\n" * 3
MANY = "x = 1\n" * 150


@pytest.fixture
def repo(make_project):
    return make_project({"src/main.py": "a = 1\n", "src/auth.py": "b = 1\n", "README.md": "hello\n", "run.sh": "x\n"})


def at(project, folder):
    other = copy.copy(project)
    other.root = folder
    return other


def judged(project, *arguments, needs_review=None, **options):
    done = project.run("risk", "--json", *arguments, **options)
    record = json.loads(done.stdout) if done.stdout else None
    assert record is not None, done.stderr
    assert done.exit_code == (10 if record["needs_review"] else 0), done.stderr
    if needs_review is not None:
        assert record["needs_review"] is needs_review, record["reason"]
    return record


def bytes_of(folder):
    return {path: (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")}


def test_a_clean_tree_needs_no_review_and_git_is_left_alone(repo):
    before = bytes_of(repo.root)
    record = judged(repo, needs_review=False)
    assert (record["score"], record["surface"], record["files_changed"]) == (0.0, "none", [])
    assert bytes_of(repo.root) == before


@pytest.mark.parametrize(
    ("name", "text", "surface", "needs_review", "insertions"),
    [
        ("src/main.py", "a = 2\n", "none", False, 1),
        ("src/main.py", MANY, "none", True, 150),
        ("src/auth.py", "b = 2\n", "auth", True, 1),
        ("README.md", "hello!\n", "docs", False, 1),
        ("src/new.py", FEW, "none", False, 3),
        ("src/new.py", MANY, "none", True, 150),
        ("deep/er/session.py", "no newline at the end", "auth", True, 1),
        ("package.json", "{}\n", "build", True, 1),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_the_work_tree_the_index_and_untracked_files_count(repo, name, text, surface, needs_review, insertions, staged):
    repo.write(name, text)
    if staged:
        repo.git("add", "-A")
    record = judged(repo, needs_review=needs_review)
    assert (record["files_changed"], record["surface"]) == ([name], surface)
    assert record["insertions"] == insertions


def test_a_change_that_was_staged_and_taken_back_in_the_work_tree_still_counts(repo):
    repo.write("src/auth.py", "b = 2\n")
    repo.git("add", "-A")
    repo.write("src/auth.py", "b = 1\n")
    assert judged(repo, needs_review=True)["files_changed"] == ["src/auth.py"]


def test_staged_means_the_content_of_the_next_commit(repo):
    repo.write("src/auth.py", "b = 2\n")
    repo.write("src/main.py", "a = 2\n")
    repo.write("new_login.py", "x\n")
    repo.git("add", "src/main.py")
    assert judged(repo, "--staged", needs_review=False)["files_changed"] == ["src/main.py"]
    hook = repo.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    command = " ".join(repo.command("risk", "--staged", "--json"))
    hook.write_text(f"#!/bin/sh\n{command} > '{repo.home}/said'\ntrue\n")
    hook.chmod(0o755)
    repo.git("-c", f"core.hooksPath={hook.parent}", "commit", "-q", "-m", "x", "src/auth.py")
    assert json.loads((repo.home / "said").read_text())["files_changed"] == ["src/auth.py"]


@pytest.mark.parametrize("lines", [40, 240])
def test_replacing_most_of_a_small_project_needs_review(repo, lines):
    repo.write("src/main.py", "".join(f"line_{number} = {number}\n" for number in range(lines)))
    repo.commit("more")
    repo.write("src/main.py", "gone = True\n")
    emptied = [{"path": "src/main.py", "removed": lines, "before": lines}]
    assert judged(repo, needs_review=True)["emptied"] == emptied
    assert f"most lines are removed from src/main.py: {lines} of {lines}" in repo.run("risk").stdout
    repo.git("add", "-A")
    repo.write("src/main.py", "".join(f"line_{number} = {number}\n" for number in range(lines)))
    assert judged(repo, "--staged", needs_review=True)["emptied"] == emptied
    assert judged(repo, needs_review=False)["emptied"] == []


def test_base_means_all_changes_since_the_branch_point(repo):
    repo.git("checkout", "-q", "-b", "feature")
    repo.write("src/one.py", FEW)
    repo.commit("one")
    repo.write("src/auth.py", "b = 2\n")
    repo.commit("two")
    repo.git("checkout", "-q", "main")
    repo.write("theirs.sql", "x\n")
    main = repo.commit("theirs")
    repo.git("checkout", "-q", "feature")
    repo.write("src/uncommitted.py", "x\n")
    repo.git("tag", "-a", "v1", "-m", "x", "main")
    for base in ("main", main, "main~0", main[:10], ":/theirs", "v1", "@{-1}"):
        record = judged(repo, "--base", base, needs_review=True)
        assert record["files_changed"] == ["src/auth.py", "src/one.py", "src/uncommitted.py"]
        assert (record["insertions"], record["deletions"]) == (5, 1)
    assert judged(repo, "--base", "main", "--staged")["files_changed"] == ["src/auth.py", "src/one.py"]
    assert judged(repo, "--base", "HEAD")["files_changed"] == ["src/uncommitted.py"]
    assert f"git diff {record['compared'].split('with ')[1][:12]}" in repo.run("risk", "--base", "main").stdout


@pytest.mark.parametrize(
    "base", ["nope", "-x", "--git-dir", "--all", "--output=/tmp/x", "HEAD:README.md", "a..b", "", "v1^{tree}"]
)
def test_an_unknown_revision_is_named_and_never_an_option(repo, base):
    done = repo.run("risk", f"--base={base}")
    assert done.exit_code == 1
    assert "UNKNOWN_REVISION" in done.stderr
    assert f"'{base}'" in done.stderr
    assert "git fetch" in done.stderr


def test_unrelated_histories_are_an_error_and_a_shallow_clone_gets_the_fix(repo):
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("another start")
    done = repo.run("risk", "--base", "main")
    assert done.exit_code == 1
    assert "no commit in common" in done.stderr
    repo.git("checkout", "-q", "main")
    repo.write("x", "1\n")
    repo.commit("x")
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.write("y", "1\n")
    repo.commit("y")
    clone = at(repo, repo.home / "clone")
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.root}", clone.root], check=True
    )
    done = clone.run("risk", "--base", "origin/main")
    assert done.exit_code == 1
    assert "shallow" in done.stderr
    assert "--unshallow" in done.stderr


def test_no_commit_yet_means_that_everything_is_new(make_project):
    project = make_project({"src/auth.py": "x\n", "a.txt": MANY}, commit=False)
    project.git("init", "-q")
    project.git("add", "a.txt")
    record = judged(project, needs_review=True)
    assert record["files_changed"] == ["a.txt", "src/auth.py"]
    assert record["insertions"] == 151
    assert judged(project, "--staged")["files_changed"] == ["a.txt"]
    assert "UNKNOWN_REVISION" in project.run("risk", "--base", "HEAD").stderr


def test_without_git_or_a_repository_or_a_work_tree_the_error_names_the_fix(make_project):
    plain = make_project(commit=False)
    done = plain.run("risk")
    assert done.exit_code == 1
    assert "GIT_FAILED" in done.stderr
    assert "not in a git repository" in done.stderr
    assert "--files -" in done.stderr
    bare = make_project(commit=False)
    bare.git("init", "-q", "--bare", ".")
    assert "bare repository" in bare.run("risk").stderr
    empty = plain.home / "empty"
    empty.mkdir()
    done = plain.run("risk", env={"PATH": str(empty)})
    assert (done.exit_code, "TOOL_MISSING" in done.stderr) == (1, True)


def test_a_merge_with_conflicts_is_judged_in_its_current_state(repo):
    repo.git("checkout", "-q", "-b", "other")
    repo.write("src/auth.py", "theirs\n")
    repo.commit("theirs")
    repo.git("checkout", "-q", "main")
    repo.write("src/auth.py", "ours\n")
    repo.commit("ours")
    with contextlib.suppress(AssertionError):  # it stops at the conflict
        repo.git("merge", "-q", "other")
    record = judged(repo, needs_review=True)
    assert record["files_changed"] == ["src/auth.py"]
    assert any("in conflict" in note for note in record["notes"])


def test_names_of_any_bytes_are_kept_and_shown(repo):
    names = [b"line\nbreak", b"caf\xe9", b"tab\there", b'quo"te', b"-rf", b" space ", b"auth\xff.py", b"esc\x1b[31m"]
    for name in names:
        (repo.root / os.fsdecode(name)).write_text("x\n")
    for staged in (False, True):
        if staged:
            repo.git("add", "-A")
        record = judged(repo, needs_review=True)
        assert len(record["files_changed"]) == len(names)
        assert "caf\\xe9" in record["files_changed"]
        assert "line\\nbreak" in record["files_changed"]
        assert record["surface"] == "auth"
        assert record["insertions"] == len(names)
    done = repo.run("risk")
    assert "\x1b[31m" not in done.stdout
    sarif = repo.run("risk", "--sarif").json()
    assert {location["physicalLocation"]["artifactLocation"]["uri"] for result in sarif["runs"][0]["results"]
            for location in result["locations"]} == {"auth%FF.py"}  # fmt: skip


def test_a_rename_is_both_names(repo):
    repo.git("mv", "src/auth.py", "src/plain.py")
    record = judged(repo, needs_review=True)
    assert record["files_changed"] == ["src/auth.py", "src/plain.py"]
    assert (record["insertions"], record["deletions"]) == (1, 1)


def test_a_deleted_file_counts(repo):
    (repo.root / "src/auth.py").unlink()
    assert judged(repo, needs_review=True)["files_changed"] == ["src/auth.py"]


def test_a_mode_change_counts_and_is_reported(repo):
    (repo.root / "run.sh").chmod(0o755)
    record = judged(repo, needs_review=False)
    assert record["files_changed"] == ["run.sh"]
    assert record["kinds"] == {"run.sh": "mode"}


@pytest.mark.parametrize("stage", [False, True])
@pytest.mark.parametrize("name", ["run.sh", "new"])
def test_a_symbolic_link_needs_review(repo, name, stage):
    (repo.root / name).unlink(missing_ok=True)
    (repo.root / name).symlink_to("/etc/hostname")
    if stage:
        repo.git("add", "-A")
    record = judged(repo, needs_review=True)
    assert record["kinds"] == {name: "symlink"}
    assert record["surface"] == "build"
    assert record["insertions"] == 1


def with_submodule(repo):
    library = at(repo, repo.home / "library")
    library.write("inner.py", "inner\n")
    library.git("init", "-q")
    library.commit("inner")
    repo.git("submodule", "--quiet", "add", str(library.root), "sub")
    repo.commit("submodule")
    return at(repo, repo.root / "sub")


def test_a_moved_submodule_and_its_uncommitted_files_count(repo):
    inner = with_submodule(repo)
    assert judged(repo)["files_changed"] == []
    inner.write("session.py", "x\n" * 5)
    record = judged(repo, needs_review=True)
    assert (record["files_changed"], record["insertions"], record["surface"]) == (["sub/session.py"], 5, "auth")
    inner.commit("more")
    record = judged(repo, needs_review=True)
    assert (record["files_changed"], record["kinds"]) == (["sub"], {"sub": "submodule"})
    repo.git("submodule", "--quiet", "deinit", "-f", "sub")
    assert judged(repo)["files_changed"] == []


def test_a_submodule_that_leads_back_to_us_ends(repo):
    with_submodule(repo)
    shutil.rmtree(repo.root / "sub")
    (repo.root / "sub").symlink_to(".")
    assert judged(repo)["files_changed"] == ["sub"]


def test_a_repository_inside_is_named_and_not_looked_into(repo):
    inner = at(repo, repo.root / "inner")
    inner.write("f", "x\n")
    inner.git("init", "-q")
    inner.commit("inner")
    record = judged(repo, needs_review=True)
    assert (record["files_changed"], record["surface"]) == (["inner/"], "build")
    assert any("inner/ is a separate repository" in note for note in record["notes"])


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_is_told_to_skip_are_checked(repo, bit):
    repo.git("update-index", bit, "src/auth.py")
    assert judged(repo)["files_changed"] == []
    repo.write("src/auth.py", "b = 2\n")
    assert repo.git("status", "--porcelain") == ""
    assert judged(repo, needs_review=True)["files_changed"] == ["src/auth.py"]


def test_attributes_of_the_change_do_not_hide_its_size(repo):
    repo.write(".gitattributes", "*.py -diff\n*.py binary\n")
    repo.commit("attributes")
    repo.write("src/main.py", MANY)
    assert judged(repo, needs_review=True)["insertions"] == 150


def test_a_binary_file_has_no_lines(repo):
    (repo.root / "new.bin").write_bytes(b"\0\n" * 500)
    (repo.root / "src/main.py").write_bytes(b"\0\n" * 500)
    assert judged(repo, needs_review=False)["insertions"] == 0


def test_programs_of_the_repository_are_never_run(repo):
    mark = repo.home / "ran"
    program = repo.home / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    program.chmod(0o755)
    repo.write(".gitattributes", "*.py diff=evil filter=evil\n")
    repo.commit("attributes")
    for name in ("core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
                 "filter.evil.process", "core.pager", "core.sshCommand", "core.editor"):  # fmt: skip
        repo.git("config", name, str(program))
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(program, hooks / name)
    repo.write("src/main.py", "a = 2\n")
    os.utime(repo.root / "src/auth.py", (1, 1))
    mark.unlink(missing_ok=True)
    for arguments in ((), ("--staged",), ("--base", "HEAD")):
        judged(repo, *arguments)
    assert not mark.exists()
    assert repo.git("status", "--porcelain") is not None
    assert mark.exists(), "the trap itself works"


def test_a_partial_clone_without_contents_counts_files_and_says_so(repo):
    first = repo.git("rev-parse", "HEAD").strip()
    repo.write("src/main.py", MANY)
    repo.commit("more")
    blob = repo.git("rev-parse", f"{first}:src/main.py").strip()
    loose = repo.root / ".git" / "objects" / blob[:2] / blob[2:]
    loose.chmod(stat.S_IRUSR | stat.S_IWUSR)
    loose.unlink()
    repo.write("src/auth.py", "b = 2\n")
    record = judged(repo, "--base", first, needs_review=True)
    assert record["files_changed"] == ["src/auth.py", "src/main.py"]
    assert record["insertions"] is None
    assert any("lines are not counted" in note for note in record["notes"])


def test_a_broken_index_is_reported_and_the_files_are_compared_with_head(repo):
    (repo.root / ".git" / "index").write_bytes(b"DIRC nonsense")
    repo.write("src/auth.py", "b = 2\n")
    record = judged(repo, needs_review=True)
    assert record["files_changed"] == ["src/auth.py"]
    assert any("index is unreadable" in note for note in record["notes"])


@pytest.mark.parametrize("kind", ["split", "sparse"])
def test_unusual_indexes_are_read(repo, kind):
    if kind == "split":
        repo.git("update-index", "--split-index")
        repo.write("z.py", "x\n")
        repo.commit("z")
    else:
        repo.write("in/a.py", "1\n")
        repo.write("out/deep/b.py", "2\n")
        repo.commit("folders")
        repo.git("sparse-checkout", "init", "--cone", "--sparse-index")
        repo.git("sparse-checkout", "set", "in")
        assert not (repo.root / "out").exists()
    assert judged(repo)["files_changed"] == []
    repo.write("in/login.py", "x\n")
    record = judged(repo, needs_review=True)
    assert (record["files_changed"], record["notes"]) == (["in/login.py"], [])


def test_a_linked_worktree_and_a_folder_below_the_top_are_the_same_repository(repo):
    repo.git("worktree", "add", "-q", "../linked", "-b", "linked")
    linked = at(repo, repo.root.parent / "linked")
    linked.write("src/auth.py", "b = 2\n")
    assert judged(linked, needs_review=True)["files_changed"] == ["src/auth.py"]
    assert judged(repo)["files_changed"] == []
    repo.write("src/auth.py", "b = 3\n")
    assert judged(repo, cwd=repo.root / "src")["files_changed"] == ["src/auth.py"]
    assert judged(repo, "--project-root", "src")["files_changed"] == ["src/auth.py"]


def test_our_own_state_is_no_change_but_settings_that_are_tracked_are(repo):
    assert repo.run("init").exit_code == 0
    for name in (".loopwright/runs/x/y", ".claude/state/x", ".loop/x", ".mosaic/reflections/x"):
        repo.write(name, "x\n")
    assert judged(repo)["files_changed"] == []
    repo.git("add", "-f", ".loopwright/config.toml")
    repo.git("commit", "-q", "-m", "settings")
    assert judged(repo)["files_changed"] == []
    repo.write(".loopwright/config.toml", "[risk]\nthreshold = 0.7\n")
    record = judged(repo, needs_review=True)
    assert (record["files_changed"], record["surface"]) == ([".loopwright/config.toml"], "infra")
    assert "review from 0.7" in record["reason"]


def test_state_folders_are_found_at_the_workspace(make_project):
    top = make_project({"a": "1\n", "tool/b": "1\n"})
    top.write("tool/.loopwright/runs/x", "x\n")
    top.write(".loopwright-not/x", "x\n")
    top.write("tool/c", "x\n")
    record = judged(top, cwd=top.root / "tool")
    assert record["files_changed"] == [".loopwright-not/x", "tool/c"]


def test_a_huge_change_is_judged_and_its_answer_stays_short(repo):
    for number in range(3000):
        (repo.root / f"generated-{number}.py").write_text("x\n")
    repo.write("zz/token.py", "x\n")
    done = repo.run("risk")
    assert done.exit_code == 10
    assert len(done.stdout.splitlines()) < 25
    assert "zz/token.py" in done.stdout
    assert "and 2995 more" in done.stdout
    record = judged(repo, needs_review=True)
    assert len(record["files_changed"]) == 3001
    assert len(record["reason"]) < 1000
    result = repo.run("risk", "--sarif").json()["runs"][0]["results"]
    assert [len(one["locations"]) for one in result] == [1]


@pytest.mark.parametrize(
    ("listed", "files"),
    [
        (b"src/auth.py\nREADME.md\n", ["README.md", "src/auth.py"]),
        (b"src/auth.py\0line\nbreak\0", ["line\\nbreak", "src/auth.py"]),
        (b'"caf\\303\\251.py"\nsrc/auth.py\r\n', ["café.py", "src/auth.py"]),
        (b"caf\xe9\nsrc\\auth\\x.cs", ["caf\\xe9", "src\\auth\\x.cs"]),
    ],
)
def test_paths_can_be_listed_and_need_no_repository(make_project, listed, files):
    plain = make_project(commit=False)
    record = judged(plain, "--files", "-", stdin=listed, needs_review=True)
    assert (record["files_changed"], record["surface"], record["insertions"]) == (files, "auth", None)
    (plain.root / "list").write_bytes(listed)
    assert judged(plain, "--files", "list")["files_changed"] == files
    assert judged(plain, "--files", "-", stdin=b"", needs_review=False)["files_changed"] == []


@pytest.mark.parametrize(
    "arguments",
    [("--json", "--sarif"), ("--files", "-", "--staged"), ("--files", "-", "--base", "HEAD"), ("--threshold", "2"),
     ("--ruleset", "mine"), ("--files", "is-not-there"), ("extra",)],
)  # fmt: skip
def test_wrong_usage_is_2(repo, arguments):
    done = repo.run("risk", *arguments)
    assert done.exit_code == 2
    assert "WRONG_USAGE" in done.stderr


def test_rule_sets_and_threshold_are_flags_and_settings(repo):
    repo.write("author.py", "x\n")
    assert judged(repo, "--ruleset", "classic", needs_review=True)["ruleset"] == "classic"
    record = judged(repo, needs_review=False)
    assert (record["ruleset"], record["ruleset_version"], record["threshold"]) == ("default", 5, 0.5)
    judged(repo, "--threshold", "0.01", needs_review=True)
    judged(repo, env={"LOOPWRIGHT_RISK_RULESET": "classic"}, needs_review=True)
    repo.write(".loopwright/config.toml", "[risk]\nruleset = 'classic'\nthreshold = 1.0\n")
    record = judged(repo, needs_review=True)
    assert (record["ruleset"], record["threshold"]) == ("classic", 1.0)


def test_a_project_has_its_own_rules_and_every_verdict_names_lowered_risks(repo):
    config = """
[[risk.rules]]
surface = "data"
words = ["invoice"]
paths = ["pay/**"]

[[risk.rules]]
surface = "build"
weight = 0.3
lower = true
because = "a bot renews them"
"""
    repo.write(".loopwright/config.toml", config)
    record = judged(repo, needs_review=False)
    assert record["lowered"] == ["this project lowers build from 0.6 to 0.3 (a bot renews them)"]
    assert record["lowered"][0] in record["reason"]
    assert record["lowered"][0] in repo.run("risk").stdout
    repo.write("package.json", "{}\n")
    assert judged(repo, needs_review=False)["surface"] == "build"
    repo.write("pay/x.py", "x\n")
    assert judged(repo, needs_review=True)["surface"] == "data"
    assert "this project" in repo.run("risk").stdout
    assert repo.run("settings", "--json").exit_code == 0


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("surface = 'authz'", "risk.rules"),
        ("surface = 'auth'\nwrods = ['x']", "wrods"),
        ("words = ['x']", "surface"),
        ("surface = 'auth'\nwords = 'x'", "risk.rules"),
        ("surface = 'auth'", "risk.rules[0]: needs words, paths or a weight"),
        ("surface = 'auth'\nweight = 0.1", "risk.rules[0].weight"),
        ("surface = 'auth'\npaths = ['(a+)+$[']", "risk.rules[0].paths"),
        ("surface = 'auth'\nwords = ['A b']", "risk.rules[0].words"),
    ],
)
def test_a_bad_rule_is_a_typed_error_that_names_the_key(repo, rule, said):
    repo.write(".loopwright/config.toml", f"[[risk.rules]]\n{rule}\n")
    done = repo.run("risk")
    assert done.exit_code == 1
    assert "SETTINGS_INVALID" in done.stderr
    assert said in done.stderr
    assert "config.toml" in done.stderr


@pytest.mark.parametrize("value", ["1.5", "-0.1", "nan", "'x'"])
def test_a_threshold_is_between_0_and_1(repo, value):
    repo.write(".loopwright/config.toml", f"[risk]\nthreshold = {value}\n")
    done = repo.run("risk")
    assert done.exit_code == 1
    assert "risk.threshold" in done.stderr
    assert repo.run("risk", "--threshold", "nan").exit_code == 1


def test_a_person_reads_the_verdict_its_reasons_and_the_next_command(repo):
    repo.write("src/auth.py", "b = 2\n")
    repo.write("src/main.py", "a = 2\n")
    done = repo.run("risk")
    assert done.exit_code == 10
    head = repo.git("rev-parse", "HEAD")[:12]
    assert done.stdout.splitlines() == [
        "review needed: score 1.00, threshold 0.5",
        "why: files on the surface auth changed (default rules v5)",
        '  auth  1.00  src/auth.py  (word "auth")',
        "  none  0.00  src/main.py",
        f"compared: working tree, staged and untracked files, with HEAD ({head})",
        "  → ask a reviewer who did not write the change; list every file: loopwright risk --json",
        f"  → git diff {head} -- src/auth.py",
    ]
    repo.git("checkout", "-q", "src/auth.py")
    done = repo.run("risk")
    assert done.exit_code == 0
    assert done.stdout.startswith("no review needed: score 0.03, threshold 0.5\n")
    assert "no file is on a known surface; +1 -1 lines give 0.03" in done.stdout
    repo.write("src/main.py", MANY)
    done = repo.run("risk")
    assert done.stdout.splitlines()[-1] == f"  → git diff {head}"


def test_an_error_is_json_if_json_was_requested(repo):
    done = repo.run("risk", "--json", "--base", "nope")
    assert done.exit_code == 1
    assert json.loads(done.stderr)["error"] == "UNKNOWN_REVISION"


LEVELS = ("none", "note", "warning", "error")


def test_sarif_follows_its_standard(repo):
    repo.write("src/auth.py", "b = 2\n")
    repo.write("package.json", "{}\n")
    repo.write("README.md", "x\n")
    repo.write("src/main.py", "a = 2\n")
    done = repo.run("risk", "--sarif")
    assert done.exit_code == 10
    log = done.json()
    assert (log["version"], log["$schema"].endswith("sarif-2.1.0.json")) == ("2.1.0", True)
    (run,) = log["runs"]
    assert set(run) <= {"tool", "columnKind", "originalUriBaseIds", "results", "properties"}
    driver = run["tool"]["driver"]
    assert (driver["name"], bool(driver["version"])) == ("loopwright", True)
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"]) == 8
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
    found = {}
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        uris = [location["physicalLocation"]["artifactLocation"]["uri"] for location in result["locations"]]
        assert all(set(location["physicalLocation"]["artifactLocation"]) == {"uri", "uriBaseId"}
                   and location["physicalLocation"]["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
                   and location["physicalLocation"]["region"]["startLine"] >= 1
                   for location in result["locations"])  # fmt: skip
        found[result["ruleId"]] = (result["level"], uris)
    assert found == {
        "risk/auth": ("error", ["src/auth.py"]),
        "risk/build": ("warning", ["package.json"]),
        "risk/docs": ("note", ["README.md"]),
    }
    repo.git("stash", "-q", "-u")
    assert repo.run("risk", "--sarif").json()["runs"][0]["results"] == []
    repo.write("src/main.py", MANY)
    (size,) = repo.run("risk", "--sarif").json()["runs"][0]["results"]
    assert (size["ruleId"], size["level"]) == ("risk/size", "warning")


def test_explain_shows_both_tables(repo):
    rows = repo.run("explain", "risk", "--json").json()
    assert {row["rules"] for row in rows} == {"default rules v5", "classic rules v1"}
    words = " ".join(row["what"] for row in rows if row["surface"] == "auth")
    assert "oauth" in words
    assert any(row["how"] == "size" and "100" in row["what"] for row in rows)


def test_a_repository_that_points_git_elsewhere_is_refused(project, tmp_path):
    project.write("login.py", "x\n")
    project.commit("x")
    clean = tmp_path / "clean"
    clean.mkdir()
    (clean / "login.py").write_text("x\n")
    project.git("config", "core.worktree", str(clean))
    project.write("login.py", "y\n" * 500)
    done = project.run("risk")
    assert done.exit_code == 1
    assert done.stderr.startswith("GIT_FAILED: core.worktree points git to ")
