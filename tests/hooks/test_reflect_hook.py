"""The Stop hook as harnesses call it: a bare interpreter, a payload on standard input, rules 1 to 8 in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loopwright.hooks.entry
from loopwright.reflection.store import read_reflection
from loopwright.testing import warm

HOOK = Path(loopwright.hooks.entry.__file__)
WHOLE = {
    "confidence": 0.75,
    "most_likely_wrong": {"surface": "data", "description": "the migration is not reversible"},
    "known_not_in_diff": "tests were only run on Linux",
}


def command(verb="reflect", python=sys.executable):
    return [python, "-I", "-S", str(HOOK), verb]


def environment(project, **more):
    return {"PATH": os.environ["PATH"], "HOME": str(project.root.parent), "REFLECTION_MODE": "solo", **more}


def fire(project, payload=None, verb="reflect", **more):
    """Call the hook; it must exit with 0 and print nothing in any case. Return the existing sidecars."""
    if payload is None:
        payload = {"session_id": "s1", "cwd": str(project.root), "hook_event_name": "Stop"}
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    done = subprocess.run(
        command(verb), input=data, env=environment(project, **more), cwd=project.root, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return sidecars(project)


def sidecars(project, folder=None):
    folder = Path(folder) if folder else project.own / "reflections"
    found = sorted(folder.glob("*.reflection.json"), key=lambda path: path.stat().st_mtime_ns)
    assert not list(folder.glob(".*.tmp")), "nothing torn"
    return [read_reflection(path) for path in found]


def only(stored):
    (one,) = stored
    return one.reflection


def report(project, content=None):
    text = content if isinstance(content, str) else json.dumps(WHOLE if content is None else content)
    return project.write(".loopwright/reflection-input.json", text)


@pytest.mark.parametrize("mode", [None, "", "off", "on", "SOLO", "solo ", "\udcff"])
def test_off_it_reads_nothing_writes_nothing_and_imports_nothing(project, mode):
    before = sorted(project.root.rglob("*"))
    env = environment(project)
    del env["REFLECTION_MODE"]
    env |= {} if mode is None else {"REFLECTION_MODE": mode}
    read, write = os.pipe()  # without a writer, a reader would hang
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(HOOK), "reflect"],
        stdin=read, env=env, cwd=project.root, capture_output=True, check=False,
    )  # fmt: skip
    os.close(read)
    os.close(write)
    assert (done.returncode, done.stdout) == (0, b"")
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", "-c", "pass"], capture_output=True, env=env, check=True
    )
    assert imported(done.stderr) == imported(bare.stderr)
    assert sorted(project.root.rglob("*")) == before


def imported(said):
    return {line.rsplit(b"|", 1)[1].strip() for line in said.splitlines() if line.startswith(b"import time")}


@pytest.mark.parametrize("mode", ["solo", "orchestrated"])
def test_on_it_leaves_a_record_of_every_kind_of_change(project, mode):
    for name in ("kept", "edited", "staged", "gone", "renamed"):
        project.write(f"src/{name}.py", f"{name}\n")
    project.commit("a start")
    project.write("src/edited.py", "other\n")
    project.write("src/staged.py", "other\n")
    project.git("add", "src/staged.py")
    (project.root / "src/gone.py").unlink()
    project.git("mv", "src/renamed.py", "src/new_name.py")
    project.write("src/auth/untracked.py", "x\n")
    record = only(fire(project, REFLECTION_MODE=mode))
    wanted = [
        "src/auth/untracked.py",
        "src/edited.py",
        "src/gone.py",
        "src/new_name.py",
        "src/renamed.py",
        "src/staged.py",
    ]
    assert record.files_changed == wanted
    assert record.risk.surface == "auth"
    assert record.risk.needs_review
    assert record.schema == "reflection.v1"
    assert (record.task_ref, record.agent, record.session_id) == (f"{project.root.name}@main", "unknown", "s1")
    assert record.repo == project.root.name
    assert (record.confidence, record.most_likely_wrong, record.known_not_in_diff) == (None, None, None)
    made = record.provenance
    assert (made.source, made.reflection_attempt, made.degraded, made.reflection_mode) == ("stop-hook", 1, True, mode)


def test_the_environment_names_task_and_agent(project):
    record = only(fire(project, REFLECTION_TASK_REF="TASK-7", REFLECTION_AGENT="claude-code"))
    assert (record.task_ref, record.agent) == ("TASK-7", "claude-code")


def test_no_change_still_leaves_a_record_and_our_own_state_is_no_change(project):
    project.write(".loopwright/runs/x/log", "x")
    project.write(".claude/state/y", "y")
    record = only(fire(project))
    assert record.files_changed == []
    assert not record.risk.needs_review


def test_what_was_committed_since_the_session_began_counts(project):
    fire(project, verb="session-start")
    project.write("src/login.py", "x\n")
    project.commit("the agent commits its work")
    assert only(fire(project)).files_changed == ["src/login.py"]
    # The first start of a session stays its start, also when it is resumed.
    fire(project, verb="session-start")
    assert fire(project)[-1].reflection.files_changed == ["src/login.py"]


def test_a_base_that_is_given_wins_and_a_wrong_one_degrades_and_runs_nothing(project):
    report(project)
    first = project.commit("one")
    project.write("a.py", "x\n")
    project.commit("two")
    project.write("b.py", "x\n")
    record = fire(project, REFLECTION_BASE=first)[-1].reflection
    assert record.files_changed == ["a.py", "b.py"]
    assert not record.provenance.degraded
    for wrong in ("no-such-commit", f"--output={project.root}/made-by-an-option", "0" * 40):
        report(project, {**WHOLE, "known_not_in_diff": wrong})
        record = fire(project, REFLECTION_BASE=wrong)[-1].reflection
        assert record.files_changed == ["b.py"]
        assert record.provenance.degraded
    assert not (project.root / "made-by-an-option").exists()


def test_without_a_base_the_merge_base_with_the_upstream_counts(project, tmp_path):
    project.write("old.py", "x\n")
    project.commit("shared")
    subprocess.run(["git", "clone", "-q", "--bare", project.root, tmp_path / "origin"], check=True)
    project.git("remote", "add", "origin", str(tmp_path / "origin"))
    project.git("fetch", "-q", "origin")
    project.git("branch", "-q", "--set-upstream-to", "origin/main")
    project.write("mine.py", "x\n")
    project.commit("not pushed")
    assert only(fire(project)).files_changed == ["mine.py"]


def test_a_self_report_is_merged_once(project):
    report(project)
    first = only(fire(project))
    assert (first.confidence, first.known_not_in_diff) == (0.75, WHOLE["known_not_in_diff"])
    assert first.most_likely_wrong.surface == "data"
    assert not first.provenance.degraded
    assert first.risk.needs_review, "the agent's own report raises the floor"
    second = fire(project)[-1].reflection
    assert (second.confidence, second.most_likely_wrong, second.provenance.degraded) == (None, None, True)
    assert second.provenance.reflection_attempt == 2
    assert fire(project, {"session_id": "another", "cwd": str(project.root)})[-1].reflection.confidence is None
    report(project, {**WHOLE, "confidence": 0.1})
    assert fire(project)[-1].reflection.confidence == 0.1


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("not json", (None, None, None)),
        ("[]", (None, None, None)),
        ("", (None, None, None)),
        ('{"confidence": NaN}', (None, None, None)),
        ({**WHOLE, "confidence": 1.5}, (None, "data", WHOLE["known_not_in_diff"])),
        ({**WHOLE, "confidence": True}, (None, "data", WHOLE["known_not_in_diff"])),
        ({**WHOLE, "confidence": "0.5"}, (None, "data", WHOLE["known_not_in_diff"])),
        ({**WHOLE, "most_likely_wrong": {"surface": "?", "description": ""}}, (0.75, None, WHOLE["known_not_in_diff"])),
        ({**WHOLE, "known_not_in_diff": 7}, (0.75, "data", None)),
        ({**WHOLE, "more": 1}, (0.75, "data", WHOLE["known_not_in_diff"])),
        ({"confidence": 0.25}, (0.25, None, None)),
        ("[" * 100_000, (None, None, None)),
    ],
)  # fmt: skip
def test_the_valid_part_of_a_report_is_kept(project, content, kept):
    report(project, content)
    record = only(fire(project))
    wrong = record.most_likely_wrong.surface if record.most_likely_wrong else None
    assert (record.confidence, wrong, record.known_not_in_diff) == kept
    assert record.provenance.degraded


def test_explicit_nulls_are_a_whole_report(project):
    report(project, dict.fromkeys(WHOLE))
    assert not only(fire(project)).provenance.degraded


@pytest.mark.parametrize("kind", ["folder", "fifo", "gigabyte", "link", "dangling"])
def test_a_report_that_is_not_a_regular_file_degrades(project, kind, tmp_path):
    path = project.own / "reflection-input.json"
    path.parent.mkdir(exist_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "gigabyte":
        with path.open("wb") as stream:
            stream.truncate(1 << 30)
    else:
        outside = tmp_path / "outside.json"
        if kind == "link":
            outside.write_text(json.dumps(WHOLE))
        path.symlink_to(outside)
    record = only(fire(project))
    assert record.confidence is None
    assert record.provenance.degraded


def test_a_report_that_a_person_chose_may_be_anywhere(project, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps(WHOLE))
    (tmp_path / "link.json").symlink_to(tmp_path / "r.json")
    assert only(fire(project, REFLECTION_INPUT=str(tmp_path / "link.json"))).confidence == 0.75


def test_no_secret_of_the_environment_reaches_the_record(project):
    secret = "s3cr3t-value-that-nobody-may-see"
    report(project, {**WHOLE, "known_not_in_diff": f"I called it with {secret} and it worked"})
    record = only(fire(project, ANTHROPIC_API_KEY=secret))
    assert record.known_not_in_diff == "I called it with [secret] and it worked"
    assert secret.encode() not in b"".join(path.read_bytes() for path in (project.own / "reflections").glob("*.json"))


SESSIONS = [
    "../../x",
    "/etc/passwd",
    "",
    ".",
    "..",
    "a" * 10_000,
    "ünï",
    "a b\nc",
    "-rf",
    "\x00\x1b[31m",
    "con",
    "\ud800",
]


@pytest.mark.parametrize("session", SESSIONS)
def test_any_session_id_is_safe_in_a_path(project, session):
    before = {path for path in project.root.parent.rglob("*") if project.own not in path.parents}
    (one,) = fire(project, {"session_id": session, "cwd": str(project.root)})
    assert one.path.parent == project.own / "reflections"
    assert len(one.path.name) < 120
    assert not one.path.name.startswith((".", "-"))
    after = {path for path in project.root.parent.rglob("*") if project.own not in path.parents}
    assert after - before <= {project.own}


def test_two_sessions_that_look_alike_in_a_path_stay_apart(project):
    for session in ("a/b", "a-b", "a?b"):
        fire(project, {"session_id": session, "cwd": str(project.root)})
    attempts = [one.reflection.provenance.reflection_attempt for one in sidecars(project)]
    assert attempts == [1, 1, 1], "each is the first of its own"


@pytest.mark.parametrize(
    "payload",
    [b"", b"not json", b"[]", b"null", b'{"session_id": 7}', b'{"cwd": "/no/such/folder"}', b"\xff\xfe", b'"text"',
     b"{" * 100_000, b'{"cwd": "\\u0000"}'],
    ids=range(10),
)  # fmt: skip
def test_an_invalid_payload_still_leaves_a_record(project, payload):
    project.write("a.py", "x\n")
    record = only(fire(project, payload))
    assert record.session_id == "unknown"
    assert record.files_changed == ["a.py"]


def test_a_payload_of_100_mb_is_read_as_far_as_it_is_needed(project):
    payload = {"session_id": "big", "cwd": str(project.root), "last_assistant_message": "x" * 100_000_000}
    assert only(fire(project, payload)).session_id == "big"


def test_a_payload_that_never_ends_is_not_waited_for(project):
    child = subprocess.Popen(
        command(), stdin=subprocess.PIPE, env=environment(project), cwd=project.root, stdout=subprocess.PIPE
    )
    child.stdin.write(b'{"session_id": "whole", "cwd": "%s"}' % os.fsencode(project.root))
    child.stdin.flush()
    assert child.wait() == 0  # standard input is still open
    child.stdin.close()
    assert child.stdout.read() == b""
    child.stdout.close()
    assert only(sidecars(project)).session_id == "whole"


def test_a_payload_that_stops_in_the_middle_is_given_up(project):
    with subprocess.Popen(
        command(), stdin=subprocess.PIPE, env=environment(project), cwd=project.root, stdout=subprocess.DEVNULL
    ) as child:
        child.stdin.write(b'{"session_id": "half", "cwd": "%s", "last' % os.fsencode(project.root))
        child.stdin.flush()
        assert child.wait() == 0
    record = only(sidecars(project))
    assert (record.session_id, record.provenance.degraded) == ("half", True)


def test_while_another_hook_of_the_session_runs_nothing_is_done(project):
    folder = project.own / "reflections"
    folder.mkdir(parents=True)
    lock = folder / "s1.lock"
    lock.write_text(f"{os.getpid()}\n")
    assert fire(project) == []
    assert lock.read_text() == f"{os.getpid()}\n", "it is not ours to remove"
    assert len(fire(project, {"session_id": "s2", "cwd": str(project.root)})) == 1


@pytest.mark.parametrize("kind", ["dead process", "old", "link", "dangling link", "old and empty", "old folder"])
def test_a_stale_lock_is_taken_over_and_cleaned_up(project, kind, tmp_path):
    folder = project.own / "reflections"
    folder.mkdir(parents=True)
    lock = folder / "s1.lock"
    outside = tmp_path / "outside"
    if kind == "dead process":
        gone = subprocess.Popen(["true"])
        gone.wait()
        lock.write_text(f"{gone.pid}\n")
    elif "link" in kind:
        if kind == "link":
            outside.write_text(f"{os.getpid()}\n")
        lock.symlink_to(outside)
    elif kind == "old folder":
        lock.mkdir()
    else:
        lock.write_text("" if "empty" in kind else f"{os.getpid()}\n")
    if kind.startswith("old"):
        os.utime(lock, (time.time() - 3600,) * 2)
    assert len(fire(project)) == 1
    assert not os.path.lexists(lock)
    assert outside.exists() is (kind == "link")


def test_many_hooks_at_once_leave_whole_records_and_no_lock(project):
    report(project)
    payload = json.dumps({"session_id": "s1", "cwd": str(project.root)}).encode()
    other = json.dumps({"session_id": "s2", "cwd": str(project.root)}).encode()
    children = []
    for number in range(12):
        child = subprocess.Popen(command(), stdin=subprocess.PIPE, env=environment(project), cwd=project.root)
        child.stdin.write(other if number % 2 else payload)
        child.stdin.close()
        children.append(child)
    assert [child.wait() for child in children] == [0] * 12
    found = sidecars(project)
    assert {one.reflection.session_id for one in found} == {"s1", "s2"}
    assert sum(one.reflection.confidence is not None for one in found) == 1, "one report, one record"
    assert not list((project.own / "reflections").glob("*.lock*"))


@pytest.mark.parametrize("kind", ["missing", "nested", "relative", "file", "link", "dangling", "read-only"])
def test_the_folder_that_is_named_is_used_or_else_the_layouts_own(project, kind, tmp_path):
    named = tmp_path / "there" / "deeper" if kind == "nested" else tmp_path / "there"
    real = tmp_path / "real"
    if kind == "file":
        named.write_text("mine")
    elif kind == "link":
        real.mkdir()
        named.symlink_to(real)
    elif kind == "dangling":
        named.symlink_to(real)
    elif kind == "read-only":
        named = Path("/proc/self/fd/there")
    text = "out/of" if kind == "relative" else str(named)
    fire(project, REFLECTION_DIR=text)
    where = {"relative": project.root / "out/of", "link": real, "missing": named, "nested": named}.get(kind)
    (one,) = sidecars(project, where)
    if where is None:
        assert one.reflection.provenance.degraded
    if kind == "file":
        assert named.read_text() == "mine"


@pytest.mark.parametrize("state", ["no repository", "no commit", "bare", "broken", "detached", "no git"])
def test_every_state_of_git_leaves_a_record(make_project, state, tmp_path):
    project = make_project(commit=state not in ("no commit", "no repository"))
    more = {}
    if state == "no commit":
        subprocess.run(["git", "init", "-q", project.root], check=True)
    elif state == "bare":
        subprocess.run(["rm", "-rf", project.root], check=True)
        subprocess.run(["git", "init", "-q", "--bare", project.root], check=True)
    elif state == "broken":
        (project.root / ".git" / "HEAD").write_text("nonsense")
    elif state == "detached":
        project.git("checkout", "-q", "--detach")
    elif state == "no git":
        (tmp_path / "empty").mkdir()
        more["PATH"] = str(tmp_path / "empty")
    if state != "bare":
        project.write("new.py", "x\n")
    record = only(fire(project, **more))
    assert ("new.py" in record.files_changed) is (state in ("no commit", "detached"))
    assert record.task_ref.startswith(f"{project.root.name}@")


def test_a_repository_can_not_make_the_hook_run_its_programs(project, tmp_path):
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    project.write("a.txt", "one\n")
    project.write(".gitattributes", "*.txt filter=evil diff=evil\n")
    project.commit("attributes")
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv",
                 "diff.evil.command", "diff.external", "core.pager", "core.sshCommand"):  # fmt: skip
        project.git("config", name, str(trap))
    (project.root / "a.txt").write_text("two\n")
    assert only(fire(project)).files_changed == ["a.txt"]
    assert not (tmp_path / "sprung").exists()


def test_names_of_any_bytes_come_out_as_text(project):
    for name in (b"new\nline.py", b"byte\xff.py", b'quote".py', "ü.py".encode(), b" lead.py", b"tab\t.py"):
        Path(os.fsdecode(os.fsencode(project.root) + b"/" + name)).write_text("x\n")
    files = only(fire(project)).files_changed
    assert len(files) == 6
    assert "byte\\xff.py" in files
    assert "ü.py" in files


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_in_the_middle_leaves_a_degraded_record(project, tmp_path, number):
    """A git that never ends keeps the hook waiting until the signal arrives."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntouch {tmp_path}/reached\nexec sleep 100\n")
    slow.chmod(0o755)
    env = environment(project, PATH=f"{slow.parent}:{os.environ['PATH']}")
    child = subprocess.Popen(command(), stdin=subprocess.PIPE, env=env, cwd=project.root, stdout=subprocess.PIPE)
    child.stdin.write(json.dumps({"session_id": "s1", "cwd": str(project.root)}).encode())
    child.stdin.close()
    while not (tmp_path / "reached").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(number)
    assert child.wait() == 0
    assert child.stdout.read() == b""
    child.stdout.close()
    assert only(sidecars(project)).provenance.degraded
    assert not list((project.own / "reflections").glob("*.lock*"))


@pytest.mark.needs("root")
@pytest.mark.parametrize("options", ["ro", "size=64k"])
def test_a_disk_that_takes_nothing_is_no_error_and_leaves_nothing_torn(project, tmp_path, options):
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", small], check=True)
    try:
        if options != "ro":
            with pytest.raises(OSError, match="No space"):
                (small / "filler").write_bytes(b"x" * (1 << 20))
        assert only(fire(project, REFLECTION_DIR=str(small))).provenance.degraded, "in the layout's own folder"
        assert not list(small.glob("*.json"))
        assert not list(small.glob("*.lock*"))
        assert not list(small.glob(".*"))
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_link_in_place_of_the_layouts_folder_is_never_followed(project, tmp_path):
    """A repository that brings such a link would choose where we write."""
    project.own.mkdir(exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    (project.own / "reflections").symlink_to(tmp_path / "elsewhere")
    fire(project)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_interop_layout_is_found_and_the_choice_recorded(project):
    project.write(".claude/state/thinking/plan.latest.yaml", "x")
    fire(project)
    assert len(sidecars(project, project.root / ".mosaic" / "reflections")) == 1
    assert 'layout = "interop"' in (project.own / "config.toml").read_text()
    assert project.run("reflect", "list", "--json").json()["reflections"][0]["reflection"]["session_id"] == "s1"


def test_settings_of_the_workspace_apply_and_broken_ones_degrade(project):
    report(project)
    project.write(
        ".loopwright/config.toml", '[reflection]\ndir = "kept"\n[risk]\nruleset = "classic"\nthreshold = 0.95\n'
    )
    project.write("src/author.ts", "x\n")
    record = fire(project) or only(sidecars(project, project.root / "kept"))
    assert record.risk.reason.startswith("classic")
    assert record.risk.needs_review, "classic finds auth in author.ts"
    project.write(".loopwright/config.toml", "[risk]\nruleset = 'unknown'\n")
    report(project, {**WHOLE, "confidence": 1})
    assert only(fire(project)).provenance.degraded


def test_in_a_folder_below_the_top_the_workspace_and_the_repository_are_found(project):
    project.write("deep/er/a.py", "x\n")
    record = only(fire(project, {"session_id": "s1", "cwd": str(project.root / "deep" / "er")}))
    assert record.files_changed == ["deep/er/a.py"]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PAYLOADS = st.one_of(
    st.binary(max_size=200),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {"session_id": JSON, "cwd": st.none() | st.text(max_size=20)}, optional={"hook_event_name": JSON}
    ).map(lambda value: json.dumps(value).encode()),
    st.text(max_size=300).map(lambda session: json.dumps({"session_id": session}).encode("utf-8", "replace")),
)


@settings(
    max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(payload=PAYLOADS, self_report=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_payload_and_report_leave_a_valid_record(tmp_path_factory, payload, self_report):
    """A thousand of them, each in a process of its own: exit 0, no output, one valid sidecar, nothing else."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "report.json").write_bytes(self_report)
    env = {"PATH": "", "HOME": str(folder), "LANG": "C.UTF-8", "REFLECTION_MODE": "solo",
           "REFLECTION_DIR": str(folder / "out"), "REFLECTION_INPUT": str(folder / "report.json")}  # fmt: skip
    done = warm.run_warm(("reflect",), cwd=folder, env=env, stdin=payload, timeout_s=60, program=warm.HOOK)
    assert (done.exit_code, done.stdout, done.stderr) == (0, b"", b"")
    (name,) = (path for path in (folder / "out").iterdir() if path.name != ".merged")
    read_reflection(name)
