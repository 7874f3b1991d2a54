"""Attacks by a confined step, which must all fail."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading

import pytest

LEVELS = [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock"]


@pytest.fixture
def confined(project, request, tmp_path):
    """A project on a machine that has only the adapter under test."""
    name = request.param
    if name == "landlock":
        tools = tmp_path / "bin"
        tools.mkdir()
        for tool in ("bash", "sh", "git", "cat", "ls", "touch", "env", "sleep", "mkdir", "ln", "rm", "head", "grep"):
            (tools / tool).symlink_to(shutil.which(tool))
        project.environment["PATH"] = str(tools)
        probe = project.run("doctor", "--json").json()
        found = {check["what"]: check["said"] for check in probe["checks"]}
        if "landlock" not in found["isolation strict"]:
            pytest.skip("needs a kernel with Landlock")
    project.isolation = name
    return project


def attempt(project, *commands, level="strict", extra=None, env=None):
    project.plan({"id": "X", "commands": list(commands), **(extra or {})}, run_id="x")
    done = project.run("run", "--isolation", level, env=env)
    evidence = project.evidence(project.latest()["run_id"])
    assert evidence["isolation"]["used"] == project.isolation
    logs = sorted((project.own / "runs" / evidence["run_id"] / "logs").iterdir())
    if (project.own / "latch.lock").exists():
        project.run("unlatch")
    return done.exit_code, "".join(path.read_text(errors="replace") for path in logs)


@pytest.mark.parametrize("confined", LEVELS, indirect=True)
def test_writes_land_in_the_sandbox_and_nowhere_else(confined, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    targets = [
        outside / "x", confined.home / "x", confined.root / "x", confined.own / "x", confined.sandboxes / "x",
        confined.root / ".git" / "hooks" / "post-commit", confined.home / ".claude" / "settings.json",
    ]  # fmt: skip
    script = "; ".join(f"mkdir -p {target.parent}; echo evil > {target}" for target in targets)
    code, _ = attempt(confined, f"({script}) 2>/dev/null; echo good > inside; cat inside")
    assert code == 0
    # Under bubblewrap the project's path means the sandbox, so the file may be in the patch, but not in the project.
    assert not any(target.exists() for target in targets)


@pytest.mark.parametrize("confined", LEVELS, indirect=True)
def test_home_credentials_and_the_workspace_are_not_readable(confined):
    (confined.home / ".ssh").mkdir()
    (confined.home / ".ssh" / "id_ed25519").write_text("PRIVATE-THING\n")
    (confined.home / ".netrc").write_text("PRIVATE-THING\n")
    places = [confined.home / ".ssh/id_ed25519", confined.home / ".netrc", "/etc/shadow", "/root/.bashrc"]
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as shared_memory:
        places.append(shared_memory.name)
        code, said = attempt(confined, *[f"cat {place} && echo GOT-IT || true" for place in places])
    assert code == 0
    assert "PRIVATE-THING" not in said
    assert "GOT-IT" not in said


@pytest.mark.parametrize("confined", LEVELS, indirect=True)
def test_strict_closes_the_network_unless_the_step_opens_it_and_auto_leaves_it_open(confined):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept_all, args=(server,), daemon=True).start()
        port = server.getsockname()[1]
        call = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo REACHED || echo closed"
        assert "closed" in attempt(confined, call)[1]
        assert "REACHED" in attempt(confined, call, extra={"network": True})[1]
        assert "REACHED" in attempt(confined, call, level="auto")[1]


def accept_all(server):
    try:
        while True:
            server.accept()[0].close()
    except OSError:
        return


@pytest.mark.parametrize("confined", LEVELS, indirect=True)
def test_the_callers_secrets_are_not_in_any_environment_that_a_step_can_read(confined):
    code, said = attempt(
        confined,
        "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | grep -c 'a-long-value-[n]obody-knows' || true",
        env={"HARMLESS_NAME": "a-long-value-nobody-knows"},
    )
    assert code == 0
    assert said.strip() == "0"


@pytest.mark.parametrize("confined", LEVELS, indirect=True)
def test_git_works_in_the_sandbox_without_touching_the_users_repository(confined):
    before = confined.git("for-each-ref") + confined.git("config", "--list", "--local")
    code, said = attempt(
        confined,
        "git status --short && git log --format=%s && echo x > new && git add new",
        "git -c user.name=a -c user.email=a@b commit -qm inside && git branch mine",
        "git config core.fsmonitor /bin/false",
    )
    assert code == 0, said
    assert "start" in said
    assert confined.git("for-each-ref") + confined.git("config", "--list", "--local") == before
    assert confined.evidence(confined.latest()["run_id"])["changed_files"] == ["new"]


@pytest.mark.needs("bwrap")
def test_absolute_paths_of_the_project_mean_the_sandbox(project):
    project.write("data.txt", "old\n")
    project.commit("data")
    project.plan({"id": "A", "commands": [f"echo new > {project.root}/data.txt", "cat data.txt"]}, run_id="a")
    assert project.run("run").exit_code == 0
    assert (project.root / "data.txt").read_text() == "old\n"
    assert project.evidence("a")["changed_files"] == ["data.txt"]


@pytest.mark.needs("bwrap")
def test_a_step_can_not_see_or_signal_other_processes(project):
    project.isolation = "bubblewrap"
    code, said = attempt(project, "ls /proc | grep -c '^[0-9]'", "kill -9 -1; echo alive")
    assert code == 0 or "alive" not in said
    assert int(said.split()[0]) < 10


def test_strict_is_an_error_and_never_a_silent_downgrade_if_it_is_unavailable(project, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("sh"))
    (tools / "git").symlink_to(shutil.which("git"))
    project.plan({"id": "S", "commands": ["echo hi"]}, run_id="s")
    # Without bash the network can't be tried, so its being closed can't be claimed.
    done = project.run("run", "--isolation", "strict", env={"PATH": str(tools)})
    assert done.exit_code == 1
    assert "ISOLATION_UNAVAILABLE" in done.stderr
    assert "Traceback" not in done.stderr
    assert project.evidence("s")["steps"] == []


def test_isolation_none_is_recorded_in_the_evidence(project):
    project.plan({"id": "S", "commands": ["true"]}, run_id="s")
    assert project.run("run", "--isolation", "none").exit_code == 0
    record = project.evidence("s")["isolation"]
    assert record["used"] == "none"
    assert record["writes_confined"] is False


@pytest.mark.parametrize("cwd", ["..", "../..", "/etc", "/", "a/../../x", "link", "../repo-evil"])
def test_a_folder_outside_the_sandbox_is_an_escape(project, cwd):
    (project.root / "link").symlink_to("/etc")
    project.commit("a link")
    project.plan({"id": "E", "commands": ["pwd"], "cwd": cwd}, run_id="e")
    done = project.run("run")
    assert done.exit_code == 98
    assert "SANDBOX_ESCAPE" in done.stderr
    assert (project.own / "latch.lock").exists()


def test_a_link_that_an_earlier_command_planted_is_seen(project):
    project.plan(
        {"id": "A", "commands": ["mkdir sub"]},
        {"id": "B", "commands": ["rmdir ../sub; ln -s /etc ../sub", "pwd"], "cwd": "sub", "depends_on": ["A"]},
        run_id="e",
    )
    assert project.run("run").exit_code == 98


@pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
def test_provided_folders_exist_and_are_never_part_of_the_change(project, isolation):
    project.write(".gitignore", "deps/\n")
    project.commit("ignore")
    project.write("deps/lib.txt", "a library\n")
    project.write(".loopwright/config.toml", '[sandbox]\nprovide = ["deps"]\nsetup = ["echo ready > ready.tmp"]\n')
    project.plan({"id": "P", "commands": ["cat deps/lib.txt ready.tmp", "echo x > deps/new || true"]}, run_id="p")
    done = project.run("run", "--isolation", isolation)
    assert done.exit_code == 0, done.stderr
    evidence = project.evidence("p")
    assert evidence["sandbox"]["provided"] == ["deps"]
    assert not (project.root / "deps" / "new").exists()
    assert evidence["changed_files"] == ["ready.tmp"]
    assert evidence["steps"][0]["id"] == "+setup"


def test_a_provided_folder_that_is_missing_is_named(project):
    project.write(".loopwright/config.toml", '[sandbox]\nprovide = ["nope"]\n')
    project.plan({"id": "P", "commands": ["true"]})
    done = project.run("run")
    assert done.exit_code == 1
    assert "SANDBOX_CREATE_FAILED" in done.stderr
    assert "nope" in done.stderr


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("failures", [4, 1000])
def test_a_command_that_the_sandbox_could_not_start_has_not_failed(loops, tmp_path, failures):
    """bwrap hides the sockets of the machine; a socket that vanishes meanwhile ends bwrap before the command began."""
    count = tmp_path / "count"
    count.write_text("0")
    wrapper = tmp_path / "bin" / "bwrap"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f"#!/bin/sh\nreal={shutil.which('bwrap')}\nread number < {count}\n"
        f'case "$*" in *"test -e done") [ "$number" -lt {failures} ] && echo $((number + 1)) > {count} &&\n'
        'exec "$real" --ro-bind / / --ro-bind /dev/null /missing/socket "$@";; esac\nexec "$real" "$@"\n'
    )
    wrapper.chmod(0o755)
    loops.configure([{"role": "builder", "run": "touch done"}], isolation="auto")
    loops.project.environment["PATH"] = f"{wrapper.parent}:{loops.project.environment['PATH']}"
    loop_id = loops.new("--task", "work")
    done = loops.project.run("loop", "start", loop_id)
    assert int(count.read_text()) >= min(failures, 5)
    if failures == 4:
        assert done.exit_code == 0, done.stdout + done.stderr
    else:
        assert "could not start a command" in done.stdout + done.stderr
        assert "unproven" not in done.stdout
