from __future__ import annotations

import hashlib
import subprocess

import pytest

from loopwright.analysis.git_history import analyse_git_history
from loopwright.analysis.history import Window, _Reader
from loopwright.analysis.messages import ChangeKind
from loopwright.errors import GitFailed, WrongUsage

START, DAY = 1_700_000_000, 86_400


def listed(reading):
    return [(commit.message.title, commit.files) for commit in reading.past.commits]


def test_commits_come_newest_first_with_parents_time_message_and_files(story, read):
    first = story.commit("first\n\nbody\n", {"a": "1", "b c": "2"}, day=0)
    second = story.commit("second", {"a": None}, day=2)
    commits = read(story.path).past.commits
    assert [(one.id, one.parents, one.time, one.files) for one in commits] == [
        (second, (first,), START + 2 * DAY, (b"a",)),
        (first, (), START, (b"a", b"b c")),
    ]


def test_names_and_messages_of_any_bytes(story, read):
    names = [b"\xff\xfe", b"tab\there", "ünïcode".encode(), b"commit deadbeef", b" lead"]
    story.commit(b"caf\xe9 \xff\x01 \x1b[31m", dict.fromkeys(names, "x"), day=0)
    story.commit("", {}, day=1)
    commits = read(story.path).past.commits
    assert set(commits[1].files) == set(names)
    assert commits[1].message.title.startswith("caf�")
    assert commits[0].message.title == ""


def test_a_name_that_begins_with_a_line_break_is_that_name(story, read):
    (story.path / "\nodd").write_text("x")
    story.git("add", "-A")
    story.git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "feat: odd")
    assert listed(read(story.path)) == [("feat: odd", (b"\nodd",))]


def test_a_message_in_another_encoding_is_recoded(story, read):
    story.git("config", "i18n.commitEncoding", "ISO-8859-1")
    story.git(
        "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-F", "-",
        stdin="fix: Größe".encode("latin-1"),
    )  # fmt: skip
    assert listed(read(story.path))[0][0] == "fix: Größe"


def test_no_commits_is_not_an_error(story, read):
    past = read(story.path).past
    assert past.commits == ()
    assert past.digest == hashlib.sha256().hexdigest()
    assert "no commits" in past.notes[0]


def test_no_repository_is_an_error_that_says_so(tmp_path, read):
    (tmp_path / "plain").mkdir()
    with pytest.raises(GitFailed, match="not in a git repository"):
        read(tmp_path / "plain")


def test_a_bare_repository_and_a_linked_worktree(story, read, tmp_path):
    story.commit("feat: x", {"a": "1"})
    story.git("clone", "-q", "--bare", str(story.path), str(tmp_path / "bare"))
    story.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "main")
    assert listed(read(tmp_path / "bare")) == listed(read(tmp_path / "linked")) == [("feat: x", (b"a",))]


def test_sha256_repositories(make_story, read):
    story = make_story("--object-format=sha256")
    name = story.commit("feat: x", {"a": "1"})
    assert len(name) == 64
    assert read(story.path).past.commits[0].id == name


def test_a_shallow_clone_is_read_and_named(story, read, tmp_path):
    for day in range(5):
        story.commit(f"feat: {day}", {"a": str(day)}, day=day)
    story.git("clone", "-q", "--depth=2", f"file://{story.path}", str(tmp_path / "shallow"))
    past = read(tmp_path / "shallow").past
    assert [one.message.title for one in past.commits] == ["feat: 4", "feat: 3"]
    assert "shallow" in past.notes[0]


def partial_clone(story, target, kind):
    story.git("config", "uploadpack.allowFilter", "true")
    story.git(
        "clone", "-q", "--no-checkout", f"--filter={kind}", f"file://{story.path}", str(target), cwd=story.path.parent
    )
    return target


def packs(repository):
    return sorted(path.name for path in (repository / ".git" / "objects").rglob("*") if path.is_file())


def test_missing_blobs_are_neither_fetched_nor_a_failure(story, read, tmp_path):
    for day in range(3):
        story.commit("feat: x", {"a": f"{day}\n"}, day=2 * day)
        story.commit("fix: x", {"a": f"{day}.1\n"}, day=2 * day + 1)
    clone = partial_clone(story, tmp_path / "partial", "blob:none")
    before = packs(clone)
    reading = read(clone)
    assert reading.failures == read(story.path).failures
    assert len(reading.failures) == 3
    parts = analyse_git_history(reading.history, Window())
    assert parts.findings.failed_features.lines_known == 0
    assert "unknown" in parts.notes[-1]
    assert packs(clone) == before


def test_blobs_that_are_there_are_counted_where_others_are_missing(story, read, tmp_path):
    big = "x\n" * 4000
    story.commit("feat: small", {"a": "1\n"}, day=0)
    story.commit("feat: big", {"b": big}, day=1)
    clone = partial_clone(story, tmp_path / "partial", "blob:limit=1k")
    parts = analyse_git_history(read(clone).history, Window())
    assert parts.findings.other_features.looked_at == 2
    assert parts.findings.other_features.lines_known == 1


def test_missing_folder_listings_leave_the_messages(story, read, tmp_path):
    story.commit("feat: x", {"d/a": "1"}, day=0)
    story.commit('Revert "feat: x"\n\nThis reverts commit ' + story.git("rev-parse", "main"), {"d/a": None}, day=1)
    clone = partial_clone(story, tmp_path / "partial", "tree:0")
    reading = read(clone)
    assert "file names are unknown" in reading.past.notes[-1]
    assert [kind for kind, _, _ in reading.failures] == [ChangeKind.REVERT]


def test_a_repository_that_lost_a_commit_is_an_error(story, read):
    first = story.commit("feat: x", {"a": "1"})
    story.commit("feat: y", {"a": "2"}, day=1)
    packs_of_story = story.path / ".git/objects/pack"
    kept = [path.read_bytes() for path in packs_of_story.glob("*.pack")]
    for path in packs_of_story.iterdir():
        path.unlink()
    for data in kept:
        subprocess.run(["git", "unpack-objects", "-q"], cwd=story.path, input=data, check=False, capture_output=True)
    (story.path / ".git/objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(GitFailed):
        read(story.path)


def test_the_users_config_runs_nothing(story, read, tmp_path):
    story.commit("feat: x", {"a": "1\n"}, day=0)
    story.commit("fix: x", {"a": "2\n"}, day=1)
    evidence = tmp_path / "ran"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {evidence}\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.sshCommand", "diff.x.textconv", "gpg.program"):
        story.git("config", key, str(script))
    story.git("config", "log.showSignature", "true")
    (story.path / ".git/info/attributes").write_text("* diff=x\n")
    reading = read(story.path)
    analyse_git_history(reading.history, Window())
    assert len(reading.past.commits) == 2
    assert not evidence.exists()


def test_windows_of_time_and_ranges(story, read):
    commits = [story.commit(f"feat: {day}", {"a": str(day)}, day=day) for day in range(6)]
    story.git("tag", "v1", commits[1])

    def titles(**window):
        return [one.message.title for one in read(story.path, Window(**window)).past.commits]

    assert titles(revision="v1..HEAD") == ["feat: 5", "feat: 4", "feat: 3", "feat: 2"]
    assert titles(since=START + 4 * DAY) == ["feat: 5", "feat: 4"]
    assert titles(until=START + 1 * DAY) == ["feat: 1", "feat: 0"]
    for wrong in ("nonsense..HEAD", "--all", "--output=x"):
        with pytest.raises(WrongUsage):
            titles(revision=wrong)


def test_the_digest_is_that_of_the_input(story, read):
    story.commit("feat: x", {"a": "1"})
    one, again = read(story.path).past.digest, read(story.path).past.digest
    story.commit("feat: y", {"a": "2"}, day=1)
    assert one == again != read(story.path).past.digest


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_pieces_of_any_size_make_the_same_commits(size):
    names = b"".join(b"file-%d\0" % number for number in range(600))
    stream = (
        b"\0" + b"a" * 40 + b" 5 " + b"b" * 40 + b"\0.fix: x\n\0\nfile\0other\0"
        b"\0" + b"b" * 40 + b" x \0.\0"
        b"\0" + b"c" * 40 + b" 7 \0.wide\0\n" + names
    )
    reader = _Reader(None)
    for start in range(0, len(stream), size):
        reader.feed(stream[start : start + size])
    reader.finish()
    assert [(one.id[0], one.parents, one.time, one.files, one.is_wide) for one in reader.commits] == [
        ("a", ("b" * 40,), 5, (b"file", b"other"), False),
        ("b", (), 0, (), False),
        ("c", (), 7, (), True),
    ]
