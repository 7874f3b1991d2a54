"""`loopwright install` and `uninstall`: our hook next to hooks of other tools, and its removal without a trace."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from loopwright.agents.harness import HARNESSES

HOOKS = {agent: harness.hooks for agent, harness in HARNESSES.items() if harness.hooks is not None}
AGENTS = sorted(HOOKS)
OTHERS = {
    "model": "opus",
    "hooks": {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}],
        "AfterAgent": [{"hooks": [{"type": "command", "command": "say done", "timeout": 5}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
    },
    "permissions": {"allow": ["Bash(make:*)"]},
}


@pytest.fixture
def home(project, tmp_path):
    folder = tmp_path / "a home"
    folder.mkdir()
    project.environment["HOME"] = str(folder)
    return folder


def settings_file(project, home, agent, scope):
    return (project.root if scope == "project" else home) / HARNESSES[agent].folder / HOOKS[agent].file


def everything(*folders):
    return {
        path: path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if ".git" not in path.parts
    }


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_install_changes_nothing_and_uninstall_leaves_nothing(project, home, agent, scope):
    before = everything(project.root, home)
    for expected in (True, False):
        done = project.run("install", "--agent", agent, f"--{scope}", "--json")
        assert done.exit_code == 0, done.stderr
        assert done.json()["changed"] is expected
    document = json.loads(settings_file(project, home, agent, scope).read_text())
    commands = [entry["command"] for group in document["hooks"][HOOKS[agent].stop_event] for entry in group["hooks"]]
    assert [shlex.split(command)[4:] for command in commands] == [["reflect"], ["gate"]]
    for command in commands:
        words = shlex.split(command)
        assert words[1:3] == ["-I", "-S"]
        assert words[3].endswith("loopwright/hooks/entry.py")
    assert project.run("uninstall", "--agent", agent, f"--{scope}").exit_code == 0
    left = {path: data for path, data in everything(project.root, home).items() if path not in before}
    assert {path for path, data in left.items() if data is not None} == set()
    assert not any(path.name in (HARNESSES[agent].folder, ".loopwright") for path in left)


def test_foreign_content_keeps_its_bytes_and_is_restored_without_a_receipt(project, home):
    text = '{\r\n  "permissions": {"allow": ["Bash(ls)","Read"]},\r\n  "n": 1e3, "e": "\\u00e9"\r\n}'
    settings, page = project.root / ".claude" / "settings.json", project.root / "CLAUDE.md"
    settings.parent.mkdir()
    settings.write_bytes(text.encode())
    page.write_bytes(b"# Mine")
    assert project.run("install", "--agent", "claude").exit_code == 0
    written = settings.read_bytes().decode()
    assert written.startswith(text.removesuffix("\r\n}"))
    assert "\n" not in written.replace("\r\n", "")
    assert set(json.loads(written)["hooks"]) == {"Stop", "SessionStart"}
    shutil.rmtree(home)
    home.mkdir()
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert settings.read_bytes().decode() == text
    assert page.read_bytes() == b"# Mine"


def test_a_user_installation_is_written_to_the_agents_own_settings(project, home, tmp_path):
    for agent, variable, folder in (
        ("gemini", "GEMINI_CLI_HOME", ".gemini"),
        ("opencode", "XDG_CONFIG_HOME", "opencode"),
    ):
        chosen = tmp_path / agent
        project.environment[variable] = str(chosen)
        assert project.run("install", "--agent", agent, "--user").exit_code == 0
        assert (chosen / folder / "skills").is_dir()
        assert not (home / f".{agent}").exists()
        assert not (home / ".config" / agent).exists()
        assert project.run("uninstall", "--agent", agent, "--user").exit_code == 0
        assert not (chosen / folder).exists()


FORMS = [
    json.dumps(OTHERS, indent=2) + "\n",
    json.dumps(OTHERS, indent=4),
    json.dumps(OTHERS, indent="\t") + "\n",
    json.dumps(OTHERS),
    '{\n  "hooks": {}\n}\n',
    '{ "env" : {"ü" : "\\u00fc"}\n,"hooks":{"Stop":[ ]}}',
    "{}",
    "",
]


@pytest.mark.parametrize("text", FORMS, ids=range(len(FORMS)))
@pytest.mark.parametrize("agent", AGENTS)
def test_other_hooks_stay_and_uninstalling_restores_every_byte(project, home, agent, text):
    path = settings_file(project, home, agent, "project")
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o600)
    assert project.run("install", "--agent", agent).exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    document = json.loads(path.read_text())
    theirs = json.loads(text or "{}")
    for event, groups in theirs.get("hooks", {}).items():
        assert document["hooks"][event][: len(groups)] == groups
    assert {key: value for key, value in document.items() if key not in ("hooks", "mcpServers")} == {
        key: value for key, value in theirs.items() if key != "hooks"
    }
    assert project.run("uninstall", "--agent", agent).exit_code == 0
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o600


def test_changes_of_the_user_survive_uninstall(project, home):
    path = settings_file(project, home, "claude", "project")
    assert project.run("install", "--agent", "claude").exit_code == 0
    document = json.loads(path.read_text())
    document["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine"})
    document["hooks"]["Notification"] = [{"hooks": [{"type": "command", "command": "ping"}]}]
    path.write_text(json.dumps(document))
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    left = json.loads(path.read_text())
    assert left["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "mine"}]}]
    assert "Notification" in left["hooks"]
    assert "SessionStart" not in left["hooks"]
    assert "entry.py" not in path.read_text()


def test_another_interpreter_takes_the_place_of_the_first(project, home):
    path = settings_file(project, home, "claude", "project")
    assert project.run("install", "--agent", "claude").exit_code == 0
    ours = path.read_text()
    mine = ours.replace('"type": "command",', '"timeout": 7, "type": "command",', 1)
    path.write_text(mine.replace(project.command()[0], "/gone/python3"))
    doctor = project.run("doctor")
    assert doctor.exit_code == 1
    assert "/gone/python3" in doctor.stdout
    done = project.run("install", "--agent", "claude")
    assert (done.exit_code, path.read_text()) == (0, mine), "what a person added to our entry stays"
    assert re.search(r'^-.*/gone/python3.*\n(?:^-.*\n)*^\+.*"command"', done.stdout, re.MULTILINE)
    assert "/gone/python3" not in path.read_text()
    assert path.read_text().count("entry.py") == 3
    assert project.run("doctor").exit_code == 0
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert "entry.py" not in (path.read_text() if path.exists() else "")


def test_a_dry_run_shows_the_change_and_writes_nothing(project, home):
    before = everything(project.root, home)
    done = project.run("install", "--agent", "codex", "--dry-run")
    assert done.exit_code == 0
    assert '+    "Stop": [' in done.stdout
    assert "codex runs hooks only when you trust them" in done.stdout
    assert everything(project.root, home) == before


@pytest.mark.parametrize(
    "text",
    [
        "not json", '{"a": 1, // a comment\n}', "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', b"\xff\xfe",
        '{"a": 1e400}', '{"a": 1, "a": 2}', '{"a": "\\ud800"}', '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"a": "' + "x" * (8 << 20) + '"}',
    ],
    ids=range(11),
)  # fmt: skip
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_an_invalid_settings_file_is_named_and_left_alone(project, home, text, verb):
    path = settings_file(project, home, "claude", "project")
    path.parent.mkdir()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = project.run(verb, "--agent", "claude")
    if verb == "install" or "Stop" not in str(text):
        assert done.exit_code == 1
        assert done.stderr.startswith("SETTINGS_INVALID: ")
        assert ".claude/settings.json" in done.stderr
    assert path.read_bytes() == (text if isinstance(text, bytes) else text.encode())


def test_a_link_into_dotfiles_stays_a_link(project, home, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    path = settings_file(project, home, "claude", "user")
    path.parent.mkdir()
    path.symlink_to(real)
    assert project.run("install", "--agent", "claude", "--user").exit_code == 0
    assert path.is_symlink()
    assert "entry.py" in real.read_text()
    assert project.run("uninstall", "--agent", "claude", "--user").exit_code == 0
    assert (path.is_symlink(), real.read_text()) == (True, "{}\n")


def test_the_registered_command_works_as_a_harness_would_run_it(project, home):
    assert project.run("install", "--agent", "gemini").exit_code == 0
    document = json.loads(settings_file(project, home, "gemini", "project").read_text())
    line = document["hooks"]["AfterAgent"][0]["hooks"][0]["command"]
    payload = json.dumps({"session_id": "g", "cwd": str(project.root)})
    env = {**project.environment, "REFLECTION_MODE": "solo"}
    subprocess.run(["sh", "-c", line], input=payload, env=env, cwd=project.root, check=True, text=True)
    listed = project.run("reflect", "list", "--json").json()["reflections"]
    assert [one["reflection"]["session_id"] for one in listed] == ["g"]
    assert "hook of gemini (project): registered, and works" in project.run("doctor").stdout


def test_a_hook_that_is_registered_for_only_one_event_is_a_problem(project, home):
    assert project.run("install", "--agent", "claude").exit_code == 0
    path = settings_file(project, home, "claude", "project")
    document = json.loads(path.read_text())
    del document["hooks"]["SessionStart"]
    path.write_text(json.dumps(document))
    done = project.run("doctor")
    assert done.exit_code == 1
    assert "not called at SessionStart" in done.stdout
    assert "loopwright install --agent claude --project" in done.stdout


HOOK_NAME = "loopwright/hooks/entry.py"


def write_settings(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def hooks_of(*commands):
    return {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]} for command in commands]}}


def commands_at(path, event="Stop"):
    groups = json.loads(path.read_text())["hooks"][event]
    return [entry["command"] for group in groups for entry in group["hooks"]]


def symptom(done, what):
    (one,) = [check for check in done.json()["checks"] if check["what"] == what]
    return one


def test_doctor_runs_nothing_that_a_cloned_repository_brings(project, home, tmp_path):
    """The entry only mentions our hook, or has the form of our command with another program."""
    trap = tmp_path / HOOK_NAME
    trap.parent.mkdir(parents=True)
    trap.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n")
    tool = tmp_path / "python3"
    tool.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    tool.chmod(0o755)
    start = f"{sys.executable} -I -S {trap} session-start"
    for command in (
        f"sh -c 'touch {tmp_path}/sprung # {HOOK_NAME}'",
        f"{sys.executable} -I -S {trap} reflect",
        f"{tool} -I -S {trap} reflect",
    ):
        document = hooks_of(command, f"{sys.executable} -I -S {trap} gate")
        document["hooks"]["SessionStart"] = [{"hooks": [{"type": "command", "command": start}]}]
        write_settings(settings_file(project, home, "claude", "project"), document)
        done = project.run("doctor", "--json")
        assert not (tmp_path / "sprung").exists(), command
        said = symptom(done, "hook of claude (project)")
        if not command.startswith("sh "):
            assert said["health"] == "note"
            assert said["said"].startswith("registered by another installation; not tried")


def test_commands_that_only_mention_our_hook_are_left_alone(project, home):
    path = settings_file(project, home, "claude", "project")
    theirs = [f"cp /x/{HOOK_NAME} /backup", f"timeout 5 {sys.executable} -I -S /x/{HOOK_NAME} reflect"]
    write_settings(path, hooks_of(*theirs))
    assert project.run("install", "--agent", "claude").exit_code == 0
    assert commands_at(path)[:2] == theirs
    assert len(commands_at(path)) == 4
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert commands_at(path) == theirs


def test_a_console_script_by_hand_is_replaced_and_uninstall_removes_both(project, home):
    path = settings_file(project, home, "claude", "project")
    write_settings(path, {"model": "opus", **hooks_of("loopwright-hook reflect")})
    said = symptom(project.run("doctor", "--json"), "hook of claude (project)")["said"]
    assert said == "not called at Stop (gate), SessionStart (session-start)"
    assert project.run("install", "--agent", "claude").exit_code == 0
    assert [HOOK_NAME in command for command in commands_at(path)] == [True, True]
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert json.loads(path.read_text()) == {"model": "opus"}


def test_called_twice_is_a_problem(project, home):
    path = settings_file(project, home, "claude", "project")
    assert project.run("install", "--agent", "claude").exit_code == 0
    document = json.loads(path.read_text())
    document["hooks"]["Stop"] += hooks_of("loopwright-hook reflect")["hooks"]["Stop"]
    path.write_text(json.dumps(document))
    done = project.run("doctor", "--json")
    assert (done.exit_code, symptom(done, "hook of claude (project)")["said"]) == (
        1,
        "called more than once at Stop (reflect)",
    )


@pytest.mark.parametrize("installs", [1, 2])
def test_our_file_is_removed_even_if_a_tool_reformatted_it(project, home, installs):
    path = settings_file(project, home, "claude", "project")
    for number in range(installs):
        assert project.run("install", "--agent", "claude").exit_code == 0
        text = path.read_text() if number else path.read_text().replace(sys.executable, "/gone/python3")
        path.write_text(json.dumps(json.loads(text), indent=7))
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert not path.parent.exists()


def test_an_empty_file_from_before_stays(project, home):
    path = settings_file(project, home, "claude", "project")
    write_settings(path, {})
    assert project.run("install", "--agent", "claude").exit_code == 0
    path.write_text(json.dumps(json.loads(path.read_text()), indent=7))
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert json.loads(path.read_text()) == {}


@pytest.mark.parametrize("reformatted", [False, True])
def test_a_broken_link_stays_and_our_file_at_its_target_goes(project, home, tmp_path, reformatted):
    real = tmp_path / "dotfiles" / "settings.json"
    path = settings_file(project, home, "claude", "user")
    path.parent.mkdir()
    path.symlink_to(real)
    assert project.run("install", "--agent", "claude", "--user").exit_code == 0
    assert HOOK_NAME in real.read_text()
    if reformatted:
        real.write_text(json.dumps(json.loads(real.read_text())))
    assert project.run("uninstall", "--agent", "claude", "--user").exit_code == 0
    assert path.is_symlink()
    assert not real.parent.exists()


def test_links_in_a_circle_are_named(project, home):
    path = settings_file(project, home, "claude", "user")
    path.parent.mkdir()
    path.symlink_to(path)
    assert project.run("install", "--agent", "claude", "--user").stderr.startswith("SETTINGS_INVALID: ")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_user_can_read_kept_settings(project, home, umask):
    write_settings(settings_file(project, home, "claude", "user"), {"env": {"A": "b"}})
    state = home / ".local" / "state" / "loopwright"
    (state / "installed").mkdir(parents=True)
    (state / "installed").chmod(0o755)
    before = os.umask(umask)
    try:
        # Unreadable byte code must not be left for later tests.
        arguments = ("install", "--agent", "claude", "--user", "--what", "hooks")
        done = project.run(*arguments, env={"PYTHONDONTWRITEBYTECODE": "1"})
    finally:
        os.umask(before)
    assert done.exit_code == 0, done.stderr
    (receipt,) = (state / "installed").iterdir()
    assert (receipt.stat().st_mode & 0o777, receipt.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("hooks", [hooks_of("curl -u me:a-private-word"), {}], ids=["hooks", "none"])
def test_nothing_of_the_users_own_settings_is_shown(project, home, hooks, indent):
    path = settings_file(project, home, "claude", "project")
    path.parent.mkdir()
    theirs = {"env": {"THING": "a-private-word"}, **hooks, "apiKeyHelper": "a-private-word"}
    path.write_text(json.dumps(theirs, indent=indent))
    for verb in ("install", "uninstall"):
        for options in (["--dry-run"], ["--dry-run", "--json"], ["--json"]):
            done = project.run(verb, "--agent", "claude", *options)
            assert done.exit_code == 0
            assert "a-private-word" not in done.stdout + done.stderr
            assert HOOK_NAME in done.stdout


@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_special_files_are_reported_and_never_block(project, home, kind):
    path = settings_file(project, home, "claude", "project")
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    for verb in ("install", "uninstall"):
        done = project.run(verb, "--agent", "claude")
        assert done.stderr.startswith("SETTINGS_INVALID: ")
        assert f"a {kind}, not a file" in done.stderr
    assert symptom(project.run("doctor", "--json"), "hook of claude (project)")["health"] == "problem"


def test_doctor_says_that_codex_must_trust_the_hook(project, home):
    assert project.run("install", "--agent", "codex").exit_code == 0
    done = project.run("doctor", "--json")
    found = symptom(done, "hook of codex (project)")
    assert (done.exit_code, found["health"]) == (0, "note")
    assert "codex runs hooks only when you trust them" in found["remedy"]


@pytest.mark.parametrize("where", ["project", "user", "local"])
def test_hooks_that_are_switched_off_are_a_problem(project, home, where):
    path = settings_file(project, home, "claude", "user" if where == "user" else "project")
    path = path.with_name("settings.local.json") if where == "local" else path
    write_settings(path, {"disableAllHooks": True})
    assert project.run("install", "--agent", "claude").exit_code == 0
    done = project.run("doctor", "--json")
    found = symptom(done, "hook of claude (project)")
    assert (done.exit_code, found["health"]) == (1, "problem")
    assert "hooks are switched off" in found["said"]
    assert str(path) in found["said"]


def test_the_projects_word_counts_more_than_the_users(project, home):
    write_settings(settings_file(project, home, "claude", "user"), {"disableAllHooks": True})
    write_settings(settings_file(project, home, "claude", "project"), {"disableAllHooks": False})
    assert project.run("install", "--agent", "claude").exit_code == 0
    assert symptom(project.run("doctor", "--json"), "hook of claude (project)")["said"] == "registered, and works"


def test_below_the_top_of_a_repository_the_top_is_the_project(project, home):
    project.write("src/a.py", "x\n")
    path = settings_file(project, home, "claude", "project")
    assert project.run("install", "--agent", "claude", cwd=project.root / "src").exit_code == 0
    assert path.is_file()
    assert not (project.root / "src" / ".claude").exists()
    assert project.run("uninstall", "--agent", "claude", cwd=project.root / "src").exit_code == 0
    assert not path.exists()
    (project.root / "src" / ".loopwright").mkdir()
    assert project.run("install", "--agent", "claude", cwd=project.root / "src").exit_code == 0
    assert (project.root / "src" / ".claude" / "settings.json").is_file(), "a workspace is nearer"


def test_a_home_repository_is_not_the_project_of_its_subfolders(project):
    project.environment["HOME"] = str(project.root)
    project.write("work/a.py", "x\n")
    assert project.run("install", "--agent", "claude", cwd=project.root / "work").exit_code == 0
    assert (project.root / "work" / ".claude" / "settings.json").is_file()


def test_a_note_says_that_the_command_is_this_machines_own(project, home):
    assert "with --user" in project.run("install", "--agent", "claude", "--dry-run").stdout
    assert project.run("install", "--agent", "claude", "--user", "--dry-run", "--json").json()["notes"] == []
    assert project.run("uninstall", "--agent", "codex", "--json").json()["notes"] == []
    for noted in (1, 0):
        assert len(project.run("install", "--agent", "claude", "--json").json()["notes"]) == noted
