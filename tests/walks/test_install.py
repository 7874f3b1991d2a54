"""`loopwright install` and `uninstall`: our hook beside the hooks of others, and gone without a trace."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest

from loopwright.agents.harness import HARNESSES

AGENTS = sorted(HARNESSES)
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
    harness = HARNESSES[agent]
    return (project.root if scope == "project" else home) / harness.folder / harness.file


def everything(*folders):
    return {
        path: path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if ".git" not in path.parts
    }


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("agent", AGENTS)
def test_installed_twice_it_is_there_once_and_uninstalled_nothing_is_left(project, home, agent, scope):
    before = everything(project.root, home)
    for expected in (True, False):
        done = project.run("install", "--agent", agent, f"--{scope}", "--json")
        assert done.exit_code == 0, done.stderr
        assert done.json()["changed"] is expected
    document = json.loads(settings_file(project, home, agent, scope).read_text())
    harness = HARNESSES[agent]
    commands = [entry["command"] for group in document["hooks"][harness.stop_event] for entry in group["hooks"]]
    assert len(commands) == 1
    words = shlex.split(commands[0])
    assert words[1:3] == ["-I", "-S"]
    assert words[3].endswith("loopwright/hooks/entry.py")
    assert words[4:] == ["reflect"]
    assert project.run("uninstall", "--agent", agent, f"--{scope}").exit_code == 0
    left = {path: data for path, data in everything(project.root, home).items() if path not in before}
    assert {path for path, data in left.items() if data is not None} == set()
    assert not any(path.name in (harness.folder, ".loopwright") for path in left)


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
def test_what_others_have_stays_and_the_file_is_as_it_was_to_the_byte(project, home, agent, text):
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
    assert {key: value for key, value in document.items() if key != "hooks"} == {
        key: value for key, value in theirs.items() if key != "hooks"
    }
    assert project.run("uninstall", "--agent", agent).exit_code == 0
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_the_user_changed_meanwhile_survives_uninstall(project, home):
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
    old = path.read_text().replace(project.command()[0], "/gone/python3")
    path.write_text(old)
    doctor = project.run("doctor")
    assert doctor.exit_code == 1
    assert "/gone/python3" in doctor.stdout
    assert project.run("install", "--agent", "claude").exit_code == 0
    assert "/gone/python3" not in path.read_text()
    assert path.read_text().count("entry.py") == 2
    assert project.run("doctor").exit_code == 0
    assert project.run("uninstall", "--agent", "claude").exit_code == 0
    assert "entry.py" not in (path.read_text() if path.exists() else "")


def test_a_dry_run_shows_the_change_and_makes_none(project, home):
    before = everything(project.root, home)
    done = project.run("install", "--agent", "codex", "--dry-run")
    assert done.exit_code == 0
    assert '+    "Stop": [' in done.stdout
    assert "codex runs hooks only when you trust them" in done.stdout
    assert everything(project.root, home) == before


@pytest.mark.parametrize(
    "text",
    ["not json", '{"a": 1, // a comment\n}', "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', b"\xff\xfe"],
    ids=range(6),
)
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_what_can_not_be_understood_is_named_and_left_alone(project, home, text, verb):
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


def test_a_hook_that_is_registered_for_one_event_only_is_a_problem(project, home):
    assert project.run("install", "--agent", "claude").exit_code == 0
    path = settings_file(project, home, "claude", "project")
    document = json.loads(path.read_text())
    del document["hooks"]["SessionStart"]
    path.write_text(json.dumps(document))
    done = project.run("doctor")
    assert done.exit_code == 1
    assert "not called at SessionStart" in done.stdout
    assert "loopwright install --agent claude --project" in done.stdout
