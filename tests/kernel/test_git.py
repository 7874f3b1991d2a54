"""Git, hardened: what is asked of the user's repository, and the one branch that is written into it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from loopwright.errors import GitFailed, ToolMissing
from loopwright.kernel import git, git_history, git_index, process


@pytest.fixture(autouse=True)
def _every_call_is_hardened(monkeypatch):
    def capture(argv, *rest, real=git._capture):
        assert argv[: 1 + len(git._HARDENED)] == ("git", *git._HARDENED)
        return real(argv, *rest)

    monkeypatch.setattr(git, "_capture", capture)


@pytest.fixture
def repository(project):
    return git.discover(project.root)


def head(project, name="HEAD"):
    return project.git("rev-parse", name).strip()


def test_a_repository_is_found_from_a_folder_inside_it(project):
    folder = project.root / "a" / "b"
    folder.mkdir(parents=True)
    found = git.discover(folder)
    assert (found.top, found.git_dir) == (project.root, project.root / ".git")
    assert found.exclude == project.root / ".git/info/exclude"
    assert found.object_stores == (project.root / ".git/objects",)
    assert found.object_format == "sha1"
    assert found.head == git.GitHead(head(project), head(project, "HEAD^{tree}"))


def test_a_repository_without_a_commit_has_no_head_and_a_plain_folder_no_repository(tmp_path, make_project):
    assert git.discover(tmp_path) is None
    empty = make_project(commit=False)
    empty.git("init", "--quiet")
    assert git.discover(empty.root).head is None


def test_git_can_be_missing(monkeypatch):
    git.require_installed("unused")
    monkeypatch.setattr(shutil, "which", {}.get)
    with pytest.raises(ToolMissing, match="git is needed") as missing:
        git.require_installed("git is needed")
    assert missing.value.hint == "install git"


def test_a_git_that_hangs_is_an_error(monkeypatch, tmp_path):
    def hang(*_, **__):
        raise TimeoutError("git did not end within 3600 s")

    monkeypatch.setattr(process, "capture", hang)
    with pytest.raises(GitFailed, match="git did not end within 3600 s"):
        git.discover(tmp_path)


def test_what_is_known_of_a_repository_is_read_once_but_its_head(project):
    assert git.is_installed()
    repositories = git.Repositories()
    first = repositories.known(project.root)
    project.git("config", "core.autocrlf", "input")
    project.write("a", "a")
    second = project.commit("second")
    assert repositories.known(project.root) is first
    found = repositories.discover(project.root)
    assert (found.head.commit, found.settings) == (second, first.settings)
    assert repositories.known(project.root) is found


def test_a_path_with_a_line_break_is_refused(project):
    moved = project.root.with_name("line\nbreak")
    project.root.rename(moved)
    with pytest.raises(GitFailed) as refused:
        git.discover(moved)
    assert (
        refused.value.message
        == f"the path of the repository at {project.root.parent}/line\\nbreak contains a line break"
    )
    assert "rename that folder" in refused.value.hint


def test_only_settings_about_files_are_carried_over(project, monkeypatch):
    monkeypatch.setenv("HOME", str(project.home))
    xdg = project.home / "xdg"
    (xdg / "git").mkdir(parents=True)
    (xdg / "git" / "config").write_text("[core]\n\teol = lf\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(xdg))
    project.git("config", "core.autocrlf", "input")
    project.git("config", "core.sshCommand", "evil")
    settings = git.discover(project.root).settings
    assert settings["core.autocrlf"] == "input"
    assert settings["core.eol"] == "lf", "the settings of the user count"
    assert settings["core.excludesfile"] == f"{xdg}/git/ignore"
    assert "core.sshcommand" not in settings
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert git.discover(project.root).settings["core.excludesfile"] == f"{project.home}/.config/git/ignore"
    project.git("config", "core.excludesfile", "/line\nbreak")
    assert git.discover(project.root).settings["core.excludesfile"] == "/line\nbreak"
    project.git("config", "core.excludesfile", "~/mine")
    assert git.discover(project.root).settings["core.excludesfile"] == f"{project.home}/mine"


def test_git_gets_a_bare_environment(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"relative{os.pathsep}{os.environ['PATH']}")
    private = git.make_private(tmp_path / "place" / "git", tmp_path)
    env = private.env()
    assert env.pop(process.MARK_VARIABLE).startswith(f"{tmp_path}/place:")
    assert env == {
        "PATH": os.environ["PATH"].partition(os.pathsep)[2],
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }


@pytest.mark.parametrize(
    ("revision", "name"),
    [
        ("HEAD", "HEAD"),
        ("HEAD~1", "HEAD~1"),
        (":/two words", "HEAD"),
        ("HEAD^{tree}", None),
        ("HEAD~1..HEAD", None),
        ("nowhere", None),
        ("", None),
        ("--all", None),
        ("^HEAD", None),
        ("HEAD\0", None),
    ],
)
def test_a_revision_names_a_commit_or_nothing(project, revision, name):
    project.write("a", "a")
    project.commit("two words")
    assert git.resolve_commit(project.root, revision) == (name and head(project, name))


@pytest.mark.parametrize("revision", ["--all", "-h", "^HEAD", "HEAD\0"])
def test_git_never_gets_a_revision_that_it_could_read_as_an_option(tmp_path, monkeypatch, revision):
    monkeypatch.setattr(git, "query", lambda *arguments, cwd: pytest.fail(f"git was asked: {arguments}"))
    assert git.resolve_commit(tmp_path, revision) is None


def test_a_common_ancestor_is_found_or_there_is_none(project):
    first = head(project)
    project.write("a", "a")
    second = project.commit("second")
    project.git("checkout", "--quiet", "--orphan", "other")
    other = project.commit("other")
    assert git.merge_base(project.root, first, second) == first
    assert git.merge_base(project.root, first, other) is None


def test_a_branch_is_published_once_and_dropped_only_at_its_commit(project, repository, tmp_path):
    first = head(project)
    private = git.make_private(tmp_path / "git", tmp_path, object_stores=repository.object_stores, head=first)
    commit = private.run(
        "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "work", config=("user.name=a", "user.email=a@b")
    ).decode().strip()  # fmt: skip
    assert git.branch_commit(repository, "work") is None
    private.run("update-ref", "refs/tags/tag", commit)
    git.publish_branch(repository, private, commit, "work")
    git.publish_branch(repository, private, commit, "work")
    assert project.git("tag") == ""
    assert not (project.root / ".git" / "FETCH_HEAD").exists()
    project.git("branch", "ahead", project.git("commit-tree", "HEAD^{tree}", "-m", "other").strip())
    with pytest.raises(GitFailed, match=r"git fetch failed: ! \[rejected\].*\(non-fast-forward\)"):
        git.publish_branch(repository, private, commit, "ahead")
    assert git.branch_commit(repository, "work") == head(project, "work") == commit
    project.git("branch", "taken", first)
    with pytest.raises(GitFailed, match="git fetch failed"):
        git.publish_branch(repository, private, f"{commit}^{{tree}}", "taken")
    assert (git.is_in_head(repository, first), git.is_in_head(repository, commit)) == (True, False)
    assert not git.drop_branch(repository, "work", first)
    assert git.drop_branch(repository, "work", commit)
    assert git.branch_commit(repository, "work") is None


def test_object_stores_are_followed_without_circles(tmp_path):
    for name in ("one", "two", "three", "four", "one/# a comment"):
        (tmp_path / name / "info").mkdir(parents=True)
    (tmp_path / "one/info/alternates").write_text(f"# a comment\n\n../two\n{tmp_path}/gone\n../four\n")
    (tmp_path / "two/info/alternates").write_text(f"{tmp_path}/three\n{tmp_path}/one\n")
    assert git.object_stores(tmp_path / "one") == [tmp_path / name for name in ("one", "two", "four", "three")]


def test_object_stores_are_followed_for_a_while(tmp_path):
    for number in range(22):
        (tmp_path / str(number) / "info").mkdir(parents=True)
        (tmp_path / str(number) / "info" / "alternates").write_text(f"../{number + 1}\n")
    assert git.object_stores(tmp_path / "0") == [tmp_path / str(number) for number in range(20)]


@pytest.mark.parametrize(
    ("options", "head", "config", "alternates"),
    [
        ({}, "ref: refs/heads/main\n", "[core]\n\trepositoryformatversion = 0\n{core}", ""),
        (
            {
                "object_stores": (Path("/a"), Path("/b")),
                "object_format": "sha256",
                "settings": {"core.eol": 'a\\b"c\nd', "core.symlinks": "false"},
                "head": "abc",
            },
            "abc\n",
            (
                "[core]\n\trepositoryformatversion = 1\n{core}"
                '\teol = "a\\\\b\\"c\\nd"\n\tsymlinks = "false"\n[extensions]\n\tobjectformat = sha256\n'
            ),
            "/a\n/b\n",
        ),
    ],
)
def test_a_private_repository_consists_of_a_few_files(tmp_path, options, head, config, alternates):
    made = git.make_private(tmp_path / "git", tmp_path / "tree", **options)
    assert made == git.PrivateRepository(tmp_path / "git", tmp_path / "tree")
    parts = {str(path.relative_to(made.git_dir)): path for path in made.git_dir.rglob("*")}
    assert {name: path.read_text() for name, path in parts.items() if path.is_file()} == {
        "HEAD": head,
        "config": config.format(core="\tbare = false\n\tlogallrefupdates = false\n"),
        "objects/info/alternates": alternates,
    }
    folders = {"objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", "info"}
    assert {name for name, path in parts.items() if path.is_dir()} == folders


@pytest.mark.parametrize(
    ("arguments", "stderr", "message"),
    [
        (("-c", "fetch", "x"), b"first\nfatal: last\n", "git fetch failed: fatal: last"),
        (("--version",), b"", "git git failed: exit 7"),
        (("log",), b"x" * 400, "git log failed: " + "x" * 300),
        (("log",), b"\xff", "git log failed: \\xff"),
    ],
)
def test_a_failure_has_the_verb_and_the_last_line_of_git(arguments, stderr, message):
    assert git.git_failure(arguments, process.Captured(7, b"", stderr)).message == message


def test_shallow_and_bare_repositories_are_told_apart(project, repository, tmp_path):
    assert not git.is_shallow(repository)
    (project.root / ".git" / "shallow").touch()
    assert git.is_shallow(repository)
    assert git.is_bare(project.root / ".git")
    assert not git.is_bare(project.root)
    for part, is_bare in (("refs", False), ("objects", False), ("HEAD", True)):
        (tmp_path / "made" / part).mkdir(parents=True) if part != "HEAD" else (tmp_path / "made" / part).touch()
        assert git.is_bare(tmp_path / "made") == is_bare
    assert git.version()[0].isdigit()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"DIRC\0\0\0\2 secrets/ ", True),
        (b"DIRC\0\0\0\3 secrets/ ", True),
        (b"DIRC\0\0\0\2 other ", False),
        (b"DIRC\0\0\0\3 other ", False),
        (b"DIRC\0\0\0\2 link\0", True),
        (b"DIRC\0\0\0\2 sdir\0", True),
        (b"DIRC\0\0\0\4 other ", True),
        (b"NONE\0\0\0\2 other ", True),
        (None, True),
    ],
)
def test_an_index_without_a_name_is_known_without_git(tmp_path, data, found):
    index = tmp_path / "index"
    if data is not None:
        index.write_bytes(data)
    assert git_index.may_contain(index, b"nothing", b"secrets/") == found


def test_an_index_of_another_version_is_refused(tmp_path):
    index = tmp_path / "index"
    index.write_bytes(b"DIRC" + (4).to_bytes(4) + bytes(40))
    with pytest.raises(ValueError, match="index version 4"):
        git_index.move(index, Path("/"), lambda _: True, "sha1")


def times_of(repository, folder):
    """The modification times in an index, in nanoseconds, by path."""
    lines = repository.run("ls-files", "--debug").decode().splitlines()
    names = [line for line in lines if not line.startswith("  ")]
    times = [line.split()[1].split(":") for line in lines if line.startswith("  mtime")]
    return {name: int(s) * 10**9 + int(ns) for name, (s, ns) in zip(names, times, strict=True)}


@pytest.fixture
def copied(project, tmp_path):
    """A private repository whose index was made for the project, with a copy of the project as its work tree."""
    for name in ("a.txt", "sub/b.txt", "skipped.txt"):
        project.write(name, f"{name}\n")
    project.commit("files")
    found = git.discover(project.root)
    copy = tmp_path / "copy"
    shutil.copytree(project.root, copy, ignore=shutil.ignore_patterns(".git"))
    private = git.make_private(tmp_path / "git", copy, object_stores=found.object_stores)
    private.run("read-tree", found.head.commit)
    with_times = git.PrivateRepository(private.git_dir, project.root)
    with_times.run("update-index", "--refresh")
    return private


def test_an_index_is_moved_to_a_copy_of_its_work_tree(copied, project):
    index, tree = copied.git_dir / "index", copied.run("write-tree")
    copied.run("update-index", "--assume-unchanged", "skipped.txt")
    (copied.work_tree / "sub" / "b.txt").write_text("longer than before\n")
    git_index.move(index, copied.work_tree, lambda path: path != b"README", "sha1")
    found = times_of(copied, copied.work_tree)
    assert found == {
        "README": 0,
        "a.txt": (copied.work_tree / "a.txt").stat().st_mtime_ns,
        "skipped.txt": 0,
        "sub/b.txt": 0,
    }
    assert copied.run("write-tree") == tree
    assert copied.run("diff-files", "--name-only") == b"README\nskipped.txt\nsub/b.txt\n"
    copied.run("update-index", "-q", "--refresh")
    assert copied.run("diff-files", "--name-only") == b"sub/b.txt\n"


def test_files_that_did_not_change_since_the_index_was_written_are_trusted(copied):
    index = copied.git_dir / "index"
    old = index.stat().st_mtime_ns - 10 * 10**9
    git_index.move(index, copied.work_tree, lambda _: True, "sha1")
    os.utime(copied.work_tree / "a.txt", ns=(old, old))
    before = index.stat().st_mtime_ns
    git_index.trust_unchanged_files(index, copied.work_tree, "sha1")
    found = times_of(copied, copied.work_tree)
    assert found["a.txt"] == 0, "its time differs"
    assert index.stat().st_mtime_ns >= before + 2 * 10**9
    copied.run("update-index", "-q", "--refresh")
    later = index.stat().st_mtime_ns + 10**9
    os.utime(index, ns=(later, later))
    git_index.trust_unchanged_files(index, copied.work_tree, "sha1")
    assert times_of(copied, copied.work_tree) == {
        name: (copied.work_tree / name).stat().st_mtime_ns for name in ("README", "a.txt", "skipped.txt", "sub/b.txt")
    }


def test_a_private_repository_can_have_an_index_elsewhere(repository, tmp_path):
    private = git.make_private(tmp_path / "git", tmp_path, object_stores=repository.object_stores)
    elsewhere = git.PrivateRepository(private.git_dir, tmp_path, index=tmp_path / "index")
    elsewhere.run("read-tree", repository.head.tree)
    assert (tmp_path / "index").is_file()
    assert not (private.git_dir / "index").exists()
    assert (private.succeeds("cat-file", "-e", "HEAD"), private.succeeds("cat-file", "-e", repository.head.tree)) == (
        False, True,
    )  # fmt: skip
    assert private.succeeds("hash-object", "--stdin-paths", stdin=f"{tmp_path / 'index'}\n".encode())
    assert not private.succeeds("hash-object", "--stdin-paths", stdin=b"missing\n")
    assert private.succeeds("hash-object", "--stdin-paths"), "no input by default"
    assert private.run("hash-object", "--stdin-paths") == b""
    with pytest.raises(GitFailed, match="git cat-file failed"):
        private.run("cat-file", "-e", "HEAD^{tree}")


@pytest.mark.parametrize("kind", ["plain", "bare", "shallow", "inside"])
def test_the_history_of_every_kind_of_clone_is_read(project, tmp_path, kind):
    first = head(project)
    project.write("sub/a", "a")
    second = project.commit("second")
    clone = tmp_path / "clone"
    options = {"bare": ("--bare",), "shallow": ("--depth=1",)}.get(kind, ())
    project.git("clone", "--quiet", *options, f"file://{project.root}", str(clone))
    history = git_history.open_history(clone / "sub" if kind == "inside" else clone, tmp_path)
    assert history.is_shallow == (kind == "shallow")
    assert not history.is_partial
    assert history.run("rev-list", second).decode().split() == [second, *([] if kind == "shallow" else [first])]
    assert history.resolve("HEAD") == (second,)
    assert history.resolve("HEAD~1..HEAD") == (() if kind == "shallow" else (second, f"^{first}"))
    assert history.resolve("nowhere") == history.resolve("config") == (), "no revision, and the name of a file"
    printed = bytearray()
    history.stream("rev-list", "--count", second, on_output=printed.extend)
    assert printed == (b"1\n" if kind == "shallow" else b"2\n")
    with pytest.raises(GitFailed, match="git rev-list failed: fatal: bad revision"):
        history.stream("rev-list", "nowhere", "--", on_output=printed.extend)


def test_a_history_with_longer_digests_is_read_and_a_partial_clone_is_known(make_project, tmp_path):
    project = make_project(commit=False)
    project.git("init", "--quiet", "--object-format=sha256")
    commit = project.commit("first")
    (project.root / ".git/objects/pack").mkdir(exist_ok=True)
    (project.root / ".git/objects/pack/one.promisor").touch()
    history = git_history.open_history(project.root, tmp_path)
    assert history.run("rev-list", commit).decode() == f"{commit}\n"
    assert history.is_partial


def test_a_project_that_looks_like_a_bare_repository_has_its_own_history(project, tmp_path):
    (project.root / "HEAD").touch()
    for name in ("objects", "refs"):
        (project.root / name).mkdir()
    assert git_history.open_history(project.root, tmp_path).git_dir == project.root / ".git"


def test_a_folder_without_a_history_is_refused(project, tmp_path):
    with pytest.raises(GitFailed, match=f"^{project.home} is not in a git repository") as refused:
        git_history.open_history(project.home, tmp_path)
    assert "git init" in refused.value.hint
    project.root.rename(project.root.with_name("line\nbreak"))
    with pytest.raises(GitFailed, match=r"/line\\nbreak contains a line break"):
        git_history.open_history(project.root.with_name("line\nbreak"), tmp_path)


def test_a_repository_of_another_user_is_refused_until_it_is_trusted(project, repository, tmp_path, monkeypatch):
    bare = git._bare_environment
    monkeypatch.setattr(git, "_bare_environment", lambda: bare() | {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    for ask in (git.discover, lambda folder: git_history.open_history(folder, tmp_path)):
        with pytest.raises(GitFailed) as refused:
            ask(project.root)
        assert refused.value.message == f"git refuses {project.root}: the folder belongs to another user"
        assert refused.value.hint.endswith(f" git config --global --add safe.directory {project.root}")
    name = project.git("branch", "--show-current").strip()
    assert git.branch_commit(repository, name) == head(project), "a repository that was found before is trusted"
    monkeypatch.setenv("HOME", str(project.home))
    (project.home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {project.root}\n")
    assert git.discover(project.root).head.commit == head(project)
