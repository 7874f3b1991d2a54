"""Copy mode: which files are copied, where the sandbox may be, and copies without git or bash."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import stat
import subprocess
import sys

import pytest

from loopwright.kernel import process

MAKE = {"id": "A", "commands": ["echo new > made.txt"]}
# Root reads everything; a root without these two capabilities is like any other owner of a file.
_LIKE_ANY_OWNER = (
    "import ctypes, os, sys; libc = ctypes.CDLL(None); [libc.prctl(24, right, 0, 0, 0) for right in (1, 2)];"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
_PEAK = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(code)"
)


def bytes_of(folder):
    """Every file and link below a folder, but for git's and loopwright's own."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) or {".git", ".loopwright"} & set(path.relative_to(folder).parts):
            continue
        content = os.readlink(os.fsencode(path)) if stat.S_ISLNK(mode) else path.read_bytes()  # noqa: PTH115 -- as it is
        found[path.relative_to(folder)] = (stat.S_IFMT(mode), mode & 0o100, hashlib.sha256(content).hexdigest())
    return found


def log_of(project, name="A-1"):
    return (project.own / "runs" / "r" / "logs" / f"{name}.log").read_text()


def ran(project, *arguments, env=None):
    """A green run of the plan in copy mode; its evidence."""
    done = project.run("run", "--mode", "copy", *arguments, env=env)
    assert done.exit_code == 0, done.stdout + done.stderr
    evidence = project.evidence("r")
    assert evidence["sandbox"]["mode"] == "copy"
    return evidence


def small_path(project, *shells):
    """A PATH with the programs of a small machine: no git, and no shell but these."""
    folder = project.home / "tools" / "bin"
    folder.mkdir(parents=True)
    for name in ("cat", "chmod", "head", "ln", "ls", "mkdir", "mv", "printf", "rm", "seq", "touch", "tr", *shells):
        (folder / name).symlink_to(shutil.which(name))
    return {"PATH": str(folder)}


def refused(done, code="SANDBOX_CREATE_FAILED"):
    assert done.exit_code == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(f"{code}: ")
    assert done.stderr.rstrip().splitlines()[-1].startswith("  → ")
    return done.stderr


NEVER = [
    ".claude/state/x", ".claude/sandbox/x", ".claude/private/secrets/x", "node_modules/x", "a/node_modules/x", "venv/x",
    ".venv/x", "venvsfrida_env/x", "__pycache__/x", "a/__pycache__/x", ".pytest_cache/x", "analyzedata/outputs/x",
    "analyzedata/scratch/x", "db.i64", "db.idb", "lib.dll", "a/tool.exe", "tool.pdb", ".env", ".env.local", "a/.envrc",
    ".loopwright/x", "a/.git/x", "mine.secret", "a/mine.secret", "top/x", "hidden/x", "a/hidden/x", "any/where/deep/x",
    "deep/x",
]  # fmt: skip
ALWAYS = [
    "node_modules.txt", "a/top/x", "environment", "a/analyzedata/outputs/x", "tool.exe.txt", ".claude/settings.json",
    "venvs/x", "hidden.txt", ".gitignore",
]  # fmt: skip


def test_excluded_files_are_not_in_the_sandbox_and_all_others_are(make_project):
    project = make_project(dict.fromkeys((*NEVER, *ALWAYS), "x"), commit=False)
    project.write(".loopwright/config.toml", '[sandbox]\nexclude = ["*.secret", "/top", "hidden/", "**/deep/"]\n')
    project.plan({"id": "A", "commands": ["find . -type f | cut -c3- | LC_ALL=C sort"]}, run_id="r")
    ran(project)
    assert log_of(project).split() == sorted(ALWAYS)


def test_links_are_kept_to_the_letter_and_never_followed(project):
    targets = {
        "passwd": "/etc/passwd", "dangling": "nowhere/at/all", "absolute": str(project.root / "README"), "loop": "loop",
        "up": "../../..", "dot": "./README", "double": "a//b", "slash": "folder/", "itself": ".", "ping": "pong",
        "pong": "ping", "root": "/",
    }  # fmt: skip
    (project.root / "folder").mkdir()
    for name, target in targets.items():
        os.symlink(target, project.root / name)  # noqa: PTH211 -- pathlib tidies the text
    project.plan({"id": "A", "commands": ["find . -type l -printf '%f %l\\n'", "find . | wc -l"]}, run_id="r")
    evidence = ran(project)
    assert dict(line.split(" ", 1) for line in log_of(project).splitlines()) == targets
    assert int(log_of(project, "A-2")) == len(targets) + 3
    assert evidence["changed_files"] == []


def test_fifos_and_sockets_are_left_out_and_named(project):
    os.mkfifo(project.root / "pipe\nline")
    listener = socket.socket(socket.AF_UNIX)
    before = os.getcwd()  # noqa: PTH109 -- a socket's path is short, so it is bound from inside
    os.chdir(project.root)
    listener.bind("sock")
    os.chdir(before)
    project.plan({"id": "A", "commands": ["ls"]}, run_id="r")
    evidence = ran(project)
    listener.close()
    assert log_of(project) == "README\n"
    notes = " ".join(evidence["sandbox"]["notes"])
    assert "pipe\\nline (fifo)" in notes
    assert "sock (socket)" in notes


def test_a_sparse_file_stays_sparse(project):
    # Git maps files below 512 MB into memory to compare them, which fills the holes of a file on tmpfs.
    with (project.root / "big").open("wb") as stream:
        stream.truncate(520 << 20)
        stream.seek(128 << 20)
        stream.write(b"island")
    command = "stat -c '%s %b' big; tail -c +134217729 big | head -c 6"
    project.plan({"id": "A", "commands": [command, "echo new > made.txt"]}, run_id="r")
    evidence = ran(project)
    size, blocks, island = log_of(project).split()
    assert (int(size), island) == (520 << 20, "island")
    assert int(blocks) * 512 < 1 << 20
    assert evidence["changed_files"] == ["made.txt"]


def test_without_git_a_large_file_is_not_loaded_into_memory(project):
    (project.root / "big").touch()
    os.truncate(project.root / "big", 600 << 20)
    project.plan(MAKE, run_id="r")
    command = (sys.executable, "-c", _PEAK, *project.command("run"))
    done = process.capture(command, cwd=project.root, env={**project.environment, **small_path(project, "bash")})
    assert done.exit_code == 0, done.stderr
    assert project.evidence("r")["changed_files"] == ["made.txt"]
    assert int(done.stdout) < 300


@pytest.mark.parametrize("name", ["locked.txt", "locked"])
def test_unreadable_files_are_named_with_the_next_command(project, name):
    if name == "locked":
        (project.root / name).mkdir(mode=0)
    else:
        project.write(name, "x").chmod(0)
    project.plan(MAKE, run_id="r")
    command = (sys.executable, "-c", _LIKE_ANY_OWNER, *project.command("run", "--mode", "copy"))
    done = process.capture(command, cwd=project.root, env=project.environment)
    (project.root / name).chmod(0o700)
    assert done.exit_code == 1
    said = done.stderr.decode()
    assert said.startswith("SANDBOX_CREATE_FAILED: ")
    assert name in said
    assert "Permission denied" in said
    assert "  → make" in said
    assert list(project.sandboxes.iterdir()) == []


def test_modes_and_times_of_files_and_folders_are_kept(project):
    for number, mode in enumerate((0o400, 0o444, 0o600, 0o644, 0o700, 0o755)):
        path = project.write(f"f{number}", "x")
        path.chmod(mode)
        os.utime(path, ns=(1_000_000_000, 1_500_000_000_123_456_789 + number))
    for number, mode in enumerate((0o555, 0o700, 0o775)):
        inner = project.write(f"folder{number}/inner/file", "x").parent
        for folder in (inner, inner.parent):
            folder.chmod(mode)
            os.utime(folder, ns=(1_000_000_000, 1_400_000_000_123_456_789 + number))
    stat = "stat -c '%n %a %.9Y' f* folder*/inner"
    project.plan({"id": "A", "commands": [stat]}, run_id="r")
    ran(project)
    here = subprocess.check_output(stat, shell=True, cwd=project.root, text=True)
    assert log_of(project) == here


def test_paths_of_two_thousand_characters_are_no_problem(project):
    deep = "/".join(["d" * 40] * 48)
    project.write(f"{deep}/end", "x\n")
    project.plan({"id": "A", "commands": [f"cat {deep}/end; echo y > {deep}/end"]}, run_id="r")
    assert ran(project)["changed_files"] == [f"{deep}/end"]


@pytest.mark.parametrize(("levels", "length"), [(30, 200), (1500, 1)])
def test_folders_deeper_than_a_path_can_say_end_in_a_typed_error_or_a_copy(project, levels, length):
    make = f"import os\nfor _ in range({levels}): os.mkdir('d' * {length}); os.chdir('d' * {length})\nopen('end', 'w')"
    subprocess.run([sys.executable, "-c", make], cwd=project.root, check=True)
    try:
        project.plan(MAKE, run_id="r")
        done = project.run("run", "--mode", "copy")
        assert "Traceback" not in done.stderr
        assert done.exit_code == 0 or done.stderr.startswith("SANDBOX_CREATE_FAILED: "), done.stderr
        assert list(project.sandboxes.iterdir()) == []
    finally:
        subprocess.run(["rm", "-rf", str(project.root), str(project.sandboxes)], check=False)


def test_a_step_that_digs_deeper_than_a_path_can_say_leaves_no_sandbox(project):
    dig = "import os; [(os.mkdir('d'), os.chdir('d')) for _ in range(1500)]"
    project.plan({"id": "A", "commands": [f'python3 -c "{dig}"', "echo x > a"]}, run_id="r")
    done = project.run("run")
    left = list(project.sandboxes.iterdir())
    subprocess.run(["rm", "-rf", *map(str, left)], check=False)
    assert "Traceback" not in done.stderr
    assert left == []
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("inside", [".", "sub", "sub/new/deep", "link-to-sub"])
def test_a_sandbox_root_inside_the_project_is_refused_and_nothing_is_lost(make_project, inside):
    project = make_project({"a": "1\n", "sub/folder/b": "2\n"})
    (project.root / "link-to-sub").symlink_to("sub")
    project.plan(MAKE, run_id="r")
    before = bytes_of(project.root)
    said = refused(project.run("run", "--sandbox-root", inside))
    assert "inside the project" in said
    assert bytes_of(project.root) == before
    assert project.git("status", "--porcelain", "--", "a", "sub") == ""


def a_link(root, real):
    root.symlink_to(real)


def a_link_to_itself(root, real):
    root.symlink_to(root.name)


def writable_by_all(root, real):
    real.rename(root)
    root.chmod(0o777)


def a_file(root, real):
    root.write_text("precious")


def of_another_user(root, real):
    real.rename(root)
    os.chown(root, 12345, 12345)


@pytest.mark.parametrize(
    "kind",
    [a_link, a_link_to_itself, writable_by_all, a_file, pytest.param(of_another_user, marks=pytest.mark.needs("root"))],
)
def test_a_sandbox_root_with_other_files_is_refused_and_left_unchanged(project, kind):
    real, root = project.home / "real", project.home / "root"
    (real / "photos").mkdir(parents=True)
    (real / "photos" / "cat.jpg").write_text("cat")
    kind(root, real)
    before = bytes_of(project.home)
    project.plan(MAKE, run_id="r")
    assert str(root) in refused(project.run("run", "--sandbox-root", str(root)))
    assert bytes_of(project.home) == before


@pytest.mark.parametrize("verb", [["run"], ["doctor", "--fix"], ["gc"]])
def test_other_folders_in_a_sandbox_root_are_never_removed(project, verb):
    (project.sandboxes / "photos").mkdir(parents=True)
    project.sandboxes.chmod(0o755)
    (project.sandboxes / "photos" / "cat.jpg").write_text("cat")
    (project.sandboxes / "letter.txt").write_text("dear")
    before = bytes_of(project.sandboxes)
    project.plan(MAKE, run_id="r")
    assert project.run(*verb).exit_code == 0
    assert bytes_of(project.sandboxes) == before


CHANGES = {
    "text": "echo 2 >> text; echo new > new",
    "binary": "printf 'a\\0b' > bin; printf 'x\\0y\\377' > new.bin; rm old.bin",
    "late-nul": "{ head -c 20000 /dev/zero | tr '\\0' a; printf '\\0'; } > text",
    "mode": "chmod +x text; chmod -x tool",
    "mode-and-text": "chmod +x text; echo more >> text",
    "links": "ln -s text new-link; rm link; ln -s elsewhere link; rm dot; ln -s .//text dot",
    "deleted": "rm text empty; rm -r folder",
    "renamed": "mv text moved; mv folder/inner inner",
    "no-newline": "printf 'no end' > text; printf 'end\\n' > noeol",
    "empty": ": > text; : > new-empty",
    "file-to-link": "rm text; ln -s tool text",
    "link-to-file": "rm link; echo plain > link",
    "file-to-folder": "rm text; mkdir text; echo x > text/inside",
    "folder-to-file": "rm -r folder; echo x > folder",
    "names": "touch 'a b'; mkdir ' d '; echo x > ' d / e'; echo x > \"$(printf 'q\"u\\\\o\\tt\\ne')\"; echo é > é",
    "bytes": "echo x > \"$(printf 'caf\\351')\"; printf 'a\\r\\nb\\rc\\f\\v\\034\\302\\205d' > text",
    "many": "seq 1 20000 > numbers",
}


@pytest.mark.parametrize("commands", CHANGES.values(), ids=CHANGES)
def test_without_git_the_patch_can_be_applied_by_git(make_project, commands):
    """Done by git and done by hand: the same commands in a second checkout give the same files."""
    files = {
        "text": "1\n2\n3\n",
        "tool": "#!/bin/sh\n",
        "folder/inner": "i\n",
        "noeol": "end",
        "empty": "",
        "numbers": "",
    }
    project, twin = make_project(files), make_project(files)
    for place in (project.root, twin.root):
        (place / "tool").chmod(0o755)
        (place / "bin").write_bytes(b"\0\1\2" * 100)
        (place / "old.bin").write_bytes(bytes(range(256)))
        (place / "link").symlink_to("text")
        os.symlink("./text", place / "dot")  # noqa: PTH211 -- pathlib tidies the text
    project.commit("all kinds")
    project.plan({"id": "A", "commands": [commands]}, run_id="r")
    evidence = ran(project, env=small_path(project, "bash"))
    assert evidence["base"]["commit"] is None

    project.git("apply", "--index", str(project.own / "runs/r/changes.patch"))
    subprocess.run(["bash", "-ec", f"umask 022; {commands}"], cwd=twin.root, check=True, env=project.environment)
    assert bytes_of(project.root) == bytes_of(twin.root)


def test_without_git_a_run_can_be_verified_and_rerun(project):
    path = small_path(project, "bash")
    project.plan(MAKE, run_id="r")
    assert "git is not installed" in " ".join(ran(project, "--mode", "auto", env=path)["sandbox"]["notes"])
    assert project.run("verify", env=path).exit_code == 0
    again = project.run("rerun", "r", env=path)
    assert again.exit_code == 0, again.stderr


@pytest.mark.parametrize(("shells", "used"), [(("bash", "sh"), "bash"), (("sh",), "sh")])
def test_bash_runs_the_commands_or_else_sh(project, shells, used):
    project.plan({"id": "A", "commands": ["echo $0"]}, run_id="r")
    ran(project, env=small_path(project, *shells))
    assert log_of(project).strip() == used


def test_without_any_shell_the_missing_tool_is_named(project):
    project.plan(MAKE, run_id="r")
    said = refused(project.run("run", env=small_path(project)), "TOOL_MISSING")
    assert "neither bash nor sh" in said
    assert project.latest()["envelope"]["error_code"] == "TOOL_MISSING"
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize(("repository", "reason"), [(False, "not in a git repository"), (True, "no commit")])
def test_a_required_worktree_that_is_impossible_gives_the_reason(make_project, repository, reason):
    project = make_project(commit=False)
    if repository:
        project.git("init", "-q")
    project.plan(MAKE, run_id="r")
    assert reason in refused(project.run("run", "--mode", "worktree"))


@pytest.mark.needs("root")
def test_a_repository_of_another_user_is_copied(project):
    project.plan(MAKE, run_id="r")
    for path in (project.root, *project.root.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    ran(project, "--mode", "auto")
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize(
    ("command", "left_out"),
    [("mkdir .GIT; echo x > .GIT/x", ".GIT"), ("echo x > 'git~1'", "git~1"), ("mkfifo pipe", "pipe")],
)
def test_files_that_git_cannot_store_are_named_and_the_rest_is_in_the_patch(project, command, left_out):
    project.plan({"id": "A", "commands": [command, "echo x > a"]}, run_id="r")
    evidence = ran(project)
    assert "a" in evidence["changed_files"]
    assert left_out in " ".join([*evidence["sandbox"]["left_out"], *evidence["changed_files"]])
