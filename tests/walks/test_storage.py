"""Disks that are full, read-only or cut off in the middle of a write."""

from __future__ import annotations

import contextlib
import re
import subprocess

import pytest

from loopwright.testing.project import Project

STEP = {"id": "A", "action": "write", "commands": ["echo made > made.txt"]}


@contextlib.contextmanager
def mounted(folder, *options):
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    """Leave no block free."""
    with contextlib.suppress(OSError), (folder / "ballast").open("wb") as ballast:
        while True:
            ballast.write(b"x" * 4096)
            ballast.flush()
    with contextlib.suppress(OSError), (folder / "ballast2").open("wb") as ballast:
        while True:
            ballast.write(b"x")
            ballast.flush()


@pytest.mark.needs("root")
def test_a_full_disk_is_named_and_the_old_state_stays_whole(tmp_path):
    with mounted(tmp_path / "small", "-o", "size=4m") as disk:
        project = Project(disk)
        project.environment["LOOPWRIGHT_SANDBOX_ROOT"] = str(tmp_path / "sandboxes")
        project.plan(STEP, run_id="before")
        assert project.run("run").exit_code == 0
        latest = (project.own / "run.latest.yaml").read_bytes()
        fill(disk)

        done = project.run("run")

        assert done.exit_code == 1
        assert "STORAGE_FAILED" in done.stderr
        assert "No space left" in done.stderr
        assert "→" in done.stderr
        assert "Traceback" not in done.stderr
        assert (project.own / "run.latest.yaml").read_bytes() == latest
        (disk / "ballast").unlink()
        (disk / "ballast2").unlink()
        assert project.run("verify", "before").exit_code == 0
        again = project.run("run")
        assert again.exit_code == 0, again.stderr
        assert project.run("verify").exit_code == 0
        assert not list(project.own.rglob("*.tmp"))


@pytest.mark.needs("root")
def test_a_disk_that_fills_up_during_a_step_stops_the_run_and_leaves_no_process(tmp_path):
    with mounted(tmp_path / "small", "-o", "size=8m") as disk:
        project = Project(disk)
        project.environment["LOOPWRIGHT_SANDBOX_ROOT"] = str(tmp_path / "sandboxes")
        project.plan({"id": "A", "commands": ["yes 'a line of output that fills the disk' | head -c 64M; sleep 300"]})
        done = project.run("run")
        assert done.exit_code == 1
        assert "STORAGE_FAILED" in done.stderr
        assert "Traceback" not in done.stderr
        assert list((tmp_path / "sandboxes").iterdir()) == []


@pytest.mark.needs("root")
def test_a_sandbox_that_does_not_fit_says_so_for_both_modes(tmp_path):
    with mounted(tmp_path / "small", "-o", "size=1m") as disk:
        project = Project(tmp_path / "p", {f"f{n}": "x" * 100_000 for n in range(20)})
        project.plan(STEP)
        done = project.run("run", env={"LOOPWRIGHT_SANDBOX_ROOT": str(disk / "sandboxes")})
        assert done.exit_code == 1
        assert "SANDBOX_CREATE_FAILED" in done.stderr
        assert re.search(r"worktree: .*; copy: ", done.stderr)
        assert "Traceback" not in done.stderr
        assert list((disk / "sandboxes").iterdir()) == []


@pytest.mark.needs("root")
def test_a_read_only_project_is_named(tmp_path):
    with mounted(tmp_path / "small", "-o", "size=4m") as disk:
        project = Project(disk)
        project.environment["LOOPWRIGHT_SANDBOX_ROOT"] = str(tmp_path / "sandboxes")
        project.plan(STEP)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = project.run("run")
        assert done.exit_code == 1
        assert "STORAGE_FAILED" in done.stderr
        assert "read-only" in done.stderr.lower()
        assert "Traceback" not in done.stderr
        assert project.run("settings").exit_code == 0
        assert project.run("explain", "needs").exit_code == 0


@pytest.mark.faults
@pytest.mark.needs("strace")
def test_killed_at_any_system_call_that_writes_the_next_start_puts_things_in_order(project):
    """Kill -9 at the n-th fsync, rename, link, unlink or mkdir, for each n until the command ends."""
    project.plan(STEP, run_id="k")
    assert project.run("run").exit_code == 0
    killed = 0
    for call in ("fsync", "rename", "link", "mkdir", "unlink"):
        for number in (1, 2, 3, 5, 8, 13, 21):
            argv = [
                "strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                f"inject={call}:signal=SIGKILL:when={number}", *project.command("run", "--isolation", "none"),
            ]  # fmt: skip
            done = subprocess.run(argv, cwd=project.root, env=project.environment, capture_output=True, check=False)
            if done.returncode == 0:
                break
            killed += 1
    assert killed >= 12
    after = project.run("run")
    assert after.exit_code == 0, after.stderr
    verified = project.run("verify")
    assert verified.exit_code == 0, verified.stdout
    assert list(project.sandboxes.iterdir()) == []
    assert project.latest()["envelope"]["status"] == "OK"
    assert project.run("doctor").exit_code == 0
    assert not list(project.own.rglob(".*.tmp"))
