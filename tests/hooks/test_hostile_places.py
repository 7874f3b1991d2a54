"""The hook with hostile repositories, settings and timing: none fools it, blinds it or redirects its writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopwright.kernel import git as kernel_git
from loopwright.reflection.capture import quick_git

REPORT = {"confidence": 0.5, "most_likely_wrong": None, "known_not_in_diff": "x"}


def write_report(project, **fields):
    return project.write(".loopwright/reflection-input.json", json.dumps({**REPORT, **fields}))


def old(project, *names):
    """Files that were written before the index, so that git trusts their times."""
    for name in names:
        os.utime(project.root / name, (1_600_000_000, 1_600_000_000))


@pytest.mark.parametrize("name", ["evil", "a=b", 'quo"te', "dot.ted", "spa ce"])
def test_no_filter_runs_whatever_its_name(project, hook, tmp_path, name):
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    project.write("a.txt", "one\n")
    (project.root / ".git" / "info" / "attributes").write_text("*.txt filter=" + name.replace(" ", "") + "\n")
    project.commit("x")
    project.git("config", f"filter.{name}.clean", str(trap))
    project.git("config", f"filter.{name}.process", str(trap))
    project.write("a.txt", "two\n")
    assert hook.only().files_changed == ["a.txt"]
    assert not (tmp_path / "sprung").exists()


def test_a_required_filter_does_not_blind_it(project, hook):
    """As git-lfs sets itself up."""
    (project.root.parent / ".gitconfig").write_text(
        '[filter "lfs"]\n\tclean = no-such-lfs\n\tprocess = no-such-lfs\n\trequired = true\n'
    )
    project.write(".gitattributes", "*.bin filter=lfs\n")
    project.write("big.txt", "1\n" * 300)
    project.write("m.bin", "x\n")
    project.git(
        "-c", "filter.lfs.required=false", "-c", "filter.lfs.process=", "-c", "filter.lfs.clean=cat", "add", "-A"
    )
    project.git("commit", "-q", "-m", "x")
    project.write("m.bin", "y\n")
    project.write("big.txt", "2\n" * 400)
    record = hook.only()
    assert record.files_changed == ["big.txt", "m.bin"]
    assert record.risk.needs_review


def hidden_flag(project):
    project.write("login.py", "x\n")
    project.commit("x")
    project.git("update-index", "--assume-unchanged", "login.py")
    project.write("login.py", "y\n" * 500)


def skipped(project):
    project.write("login.py", "x\n")
    project.commit("x")
    project.git("update-index", "--skip-worktree", "login.py")
    project.write("login.py", "y\n" * 500)


def no_diff_attribute(project):
    project.write("a.txt", "x\n")
    project.commit("x")
    (project.root / ".git" / "info" / "attributes").write_text("* -diff\n")
    project.write("a.txt", "y\n" * 1000)


def large_untracked(project):
    project.write("x.py", "line\n" * 600_000)


def many_untracked(project):
    for number in range(700):
        project.write(f"new/{number}.py", "x = 1\n")


def untracked_link(project):
    (project.root / "notes").symlink_to("/etc/passwd")


def inside_a_submodule(project):
    inner = project.root.parent / "inner"
    subprocess.run(["git", "init", "-q", inner], check=True)
    as_tester = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(["git", *as_tester, "commit", "-q", "--allow-empty", "-m", "x"], cwd=inner, check=True)
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    project.commit("a submodule")
    project.write("sub/login.py", "x\n")


def renamed(project):
    project.write("auth.py", "x\n" * 50)
    project.commit("x")
    project.git("mv", "auth.py", "other.py")


def mode_only(project):
    project.write("deploy.sh", "x\n")
    project.commit("x")
    (project.root / "deploy.sh").chmod(0o755)


@pytest.mark.parametrize(
    "change",
    [hidden_flag, skipped, no_diff_attribute, large_untracked, many_untracked, untracked_link, inside_a_submodule,
     renamed, mode_only],
)  # fmt: skip
def test_the_hook_and_risk_read_the_same_change(project, hook, change):
    change(project)
    by_hook = hook.only()
    by_risk = project.run("risk", "--json").json()
    assert (by_hook.risk.needs_review, by_hook.risk.score, by_hook.risk.surface) == (
        by_risk["needs_review"], by_risk["score"], by_risk["surface"]
    )  # fmt: skip
    assert by_hook.risk.needs_review


def test_a_repository_that_points_git_elsewhere_asks_for_review(project, hook, tmp_path):
    project.write("login.py", "x\n")
    project.commit("x")
    subprocess.run(["cp", "-r", project.root, tmp_path / "clean"], check=True)
    project.git("config", "core.worktree", str(tmp_path / "clean"))
    project.write("login.py", "y\n" * 500)
    record = hook.only()
    assert record.risk.needs_review
    assert record.provenance.degraded


@pytest.mark.needs("root")
def test_a_repository_that_git_refuses_asks_for_review(project, hook):
    subprocess.run(["chown", "-R", "12345", project.root], check=True)
    record = hook.only()
    assert record.files_changed == []
    assert record.provenance.degraded
    assert record.risk.needs_review
    assert "not fully known" in record.risk.reason
    assert record.task_ref.endswith("@main"), "the branch is known all the same"


def test_a_git_that_never_ends_asks_for_review(project, hook, tmp_path):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntouch {tmp_path}/reached\nexec sleep 100\n")
    slow.chmod(0o755)
    child = subprocess.Popen(
        hook.command, stdin=subprocess.PIPE, env=hook.environment(PATH=f"{slow.parent}:{os.environ['PATH']}"),
        cwd=project.root,
    )  # fmt: skip
    child.stdin.write(hook.payload())
    child.stdin.close()
    while not (tmp_path / "reached").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 0
    (record,) = hook.records()
    assert record.risk.needs_review


def test_a_session_that_began_before_the_first_commit_keeps_its_commits(project, hook):
    subprocess.run(["rm", "-rf", project.root / ".git"], check=True)
    subprocess.run(["git", "init", "-q", "-b", "main", project.root], check=True)
    hook.fire(verb="session-start")
    project.write("login.py", "x\n")
    project.commit("the first")
    assert "login.py" in hook.only().files_changed


@pytest.mark.parametrize(
    "payload",
    [b'{"session_id":' + b"[" * 60_000, b'{"cwd": "\\u0000/x"}', b'{"session_id": "\\ud800"}', b"\x00" * 1000],
    ids=["deep", "nul", "half a character", "zeros"],
)
def test_hostile_payloads(project, hook, payload):
    assert hook.only(payload).files_changed == []


def test_standard_input_may_be_closed(project, hook):
    line = " ".join(hook.command) + " <&-"
    done = subprocess.run(["sh", "-c", line], env=hook.environment(), cwd=project.root, check=False)
    assert done.returncode == 0
    (record,) = hook.records()
    assert record.session_id == "unknown"
    (path,) = (project.own / "reflections").glob("*.reflection.json")
    assert path.name.startswith("unknown-")


def test_ended_while_it_waits_for_the_payload_it_leaves_a_record(project, hook):
    child = subprocess.Popen(hook.command, stdin=subprocess.PIPE, env=hook.environment(), cwd=project.root)
    try:
        while not _catches_term(child.pid):
            assert child.poll() is None
        child.send_signal(signal.SIGTERM)
        assert child.wait() == 0
    finally:
        child.stdin.close()
    (record,) = hook.records()
    assert record.provenance.degraded


def _catches_term(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        caught = next(line for line in lines if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) & (1 << (signal.SIGTERM - 1)))


@pytest.mark.parametrize("key", ["dir", "input"])
@pytest.mark.parametrize("value", ["\\u0000", "/tmp/outside", "../outside", "link/inside"])
def test_a_file_of_a_repository_does_not_choose_where_we_write(project, hook, tmp_path, key, value):
    (project.root / "link").symlink_to(tmp_path)
    before = sorted(tmp_path.iterdir())
    project.write(".loopwright/config.toml", f'[reflection]\n{key} = "{value}"\n')
    record = hook.only()
    assert record.provenance.degraded
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("place", ["own", "reflections", "merged"])
def test_no_link_of_a_repository_is_followed(project, hook, tmp_path, place):
    outside = tmp_path / "outside"
    outside.mkdir()
    write_report(project)
    if place == "own":
        (project.root / ".loopwright").rename(tmp_path / "moved")
        (project.root / ".loopwright").symlink_to(outside)
    else:
        folder = project.own / "reflections"
        (folder if place == "reflections" else folder / ".merged").parent.mkdir(parents=True, exist_ok=True)
        (folder if place == "reflections" else folder / ".merged").symlink_to(outside)
    subprocess.run(hook.command, input=hook.payload(), env=hook.environment(), cwd=project.root, check=True)
    assert list(outside.iterdir()) == []


def test_a_folder_that_is_gone_is_no_reason_to_leave_nothing(project, hook, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd {gone} && rmdir {gone} && {' '.join(hook.command)} < /dev/null"
    env = hook.environment(REFLECTION_DIR=str(tmp_path / "kept"))
    subprocess.run(["sh", "-c", line], env=env, check=True)
    assert len(hook.records(tmp_path / "kept")) == 1


@pytest.mark.needs("strace")
def test_without_hard_links_it_works_all_the_same(project, hook):
    write_report(project)
    argv = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=link,linkat:error=EPERM", *hook.command)
    subprocess.run(argv, input=hook.payload(), env=hook.environment(), cwd=project.root, check=True)
    (record,) = hook.records()
    assert record.confidence == 0.5


@pytest.mark.parametrize(
    "config",
    [
        "[risk]\nthreshold = 7\n",
        "[risk]\nthreshold = nan\n",
        "not toml [risk",
        "[risk]\nruleset = 'unknown'\n",
        "[[risk.rules]]\nsurface = 'moon'\n",
    ],
)
def test_invalid_settings_are_ignored_and_degrade_the_record(project, hook, config):
    write_report(project)
    project.write(".loopwright/config.toml", config)
    project.write("login.py", "x\n")
    record = hook.only()
    assert record.risk.needs_review
    assert record.provenance.degraded


@pytest.mark.parametrize(
    "config", ["risk = { threshold = 0.05 }\n", "[ risk ]\nthreshold = 0.05\n", "risk.threshold = 0.05\n"]
)
def test_settings_in_every_toml_syntax_apply(project, hook, config):
    project.write(".loopwright/config.toml", config)
    project.write("README.md", "x\n")
    assert hook.only().risk.needs_review


def test_a_report_is_merged_once_also_when_the_records_are_gone(project, hook):
    write_report(project)
    assert hook.only().confidence == 0.5
    for path in (project.own / "reflections").glob("*.json"):
        path.unlink()
    assert hook.only().confidence is None


def test_a_report_whose_hook_died_is_merged_by_exactly_one_of_many(project, hook):
    path = write_report(project)
    marks = project.own / "reflections" / ".merged"
    marks.mkdir(parents=True)
    from loopwright.reflection.capture.folder import sha256

    (marks / sha256(path.read_bytes())).write_text("never-written.reflection.json\n")
    threads = [
        threading.Thread(target=subprocess.run, args=(hook.command,), kwargs={
            "input": hook.payload(f"session-{number}"), "env": hook.environment(), "cwd": project.root, "check": True,
        })
        for number in range(8)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = hook.records()
    assert len(records) == 8
    assert sum(record.confidence is not None for record in records) == 1


def test_a_stale_lock_is_taken_over_by_exactly_one_of_many(project, hook):
    folder = project.own / "reflections"
    folder.mkdir(parents=True)
    gone = subprocess.Popen(["true"])
    gone.wait()
    (folder / "s1.lock").write_text(f"{gone.pid}\n")
    children = [
        subprocess.Popen(hook.command, stdin=subprocess.PIPE, env=hook.environment(), cwd=project.root)
        for _ in range(8)
    ]
    for child in children:
        child.stdin.write(hook.payload())
        child.stdin.close()
    assert [child.wait() for child in children] == [0] * 8
    attempts = [record.provenance.reflection_attempt for record in hook.records()]
    assert sorted(attempts) == list(range(1, len(attempts) + 1)), "one after the other, never two at once"
    assert not list(folder.glob("*.lock*"))


SECRET = "sk-live-0123456789abcdef"


@pytest.mark.parametrize("text", [SECRET, "\\u0073k-live-0123456789abcdef", "c2stbGl2ZS0wMTIzNDU2Nzg5YWJjZGVm"])
def test_a_secret_in_any_spelling_is_not_in_the_record(project, hook, text):
    project.write(
        ".loopwright/reflection-input.json",
        f'{{"confidence": 1, "most_likely_wrong": null, "known_not_in_diff": "used {text} here"}}',
    )
    record = hook.only(API_KEY=SECRET, REFLECTION_TASK_REF=f"task with {SECRET}")
    assert record.known_not_in_diff == "used [secret] here"
    assert record.task_ref == "task with [secret]"


def test_no_leftovers_next_to_the_records(project, hook, tmp_path):
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    hook.fire(TMPDIR=str(scratch))
    assert list(scratch.iterdir()) == []
    assert sorted(path.suffix for path in (project.own / "reflections").iterdir()) == [".json"]


def test_what_killed_hooks_left_is_cleared_away_by_doctor(project, hook):
    hook.fire()
    folder = project.own / "reflections"
    gone = subprocess.Popen(["true"])
    gone.wait()
    (folder / "dead.lock").write_text(f"{gone.pid}\n")
    (folder / f".x.reflection.json.{gone.pid}.tmp").write_text("half")
    (folder / f".y.reflection.json.{os.getpid()}.tmp").write_text("of a living one")
    assert project.run("doctor", "--fix").exit_code == 0
    assert {path.name for path in folder.iterdir() if path.suffix != ".json"} == {
        f".y.reflection.json.{os.getpid()}.tmp"
    }


REPORTS = st.binary(max_size=80) | st.floats().map(lambda value: json.dumps({"confidence": value}).encode())


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    session=st.text(max_size=80),
    left=st.binary(max_size=80) | st.builds(lambda c: json.dumps({"confidence": c}).encode(), st.floats()),
)
def test_in_a_real_repository_any_session_and_report_leave_one_more_record(make_project, hook_for, session, left):
    project = make_project()
    hook = hook_for(project)
    project.write("login.py", "x\n")
    project.write(".loopwright/reflection-input.json", "")
    (project.own / "reflection-input.json").write_bytes(left)
    record = hook.only(json.dumps({"session_id": session, "cwd": str(project.root)}).encode("utf-8", "replace"))
    assert record.files_changed == ["login.py"]
    assert record.risk.needs_review


def test_the_hook_and_the_kernel_carry_over_the_same_settings():
    assert quick_git.CARRIED == kernel_git._CARRIED_SETTINGS
