"""`loopwright install`: skills, instruction blocks and the MCP server for all four agents; the user's text stays."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from loopwright.install.marks import MARKDOWN, find_block, with_block, with_mark
from loopwright.install.part_files import instructions as our_block

AGENTS = ("claude", "codex", "gemini", "opencode")
# Instructions, MCP servers and skills: in a project, and below a home.
PLACES = {
    ("claude", "project"): ("CLAUDE.md", ".mcp.json", ".claude/skills"),
    ("codex", "project"): ("AGENTS.md", ".codex/config.toml", ".codex/skills"),
    ("gemini", "project"): ("GEMINI.md", ".gemini/settings.json", ".gemini/skills"),
    ("opencode", "project"): ("AGENTS.md", "opencode.json", ".opencode/skills"),
    ("claude", "user"): (".claude/CLAUDE.md", ".claude.json", ".claude/skills"),
    ("codex", "user"): (".codex/AGENTS.md", ".codex/config.toml", ".codex/skills"),
    ("gemini", "user"): (".gemini/GEMINI.md", ".gemini/settings.json", ".gemini/skills"),
    ("opencode", "user"): (
        ".config/opencode/AGENTS.md", ".config/opencode/opencode.json", ".config/opencode/skills",
    ),
}  # fmt: skip
ARGUMENTS = ["-P", "-m", "loopwright", "mcp"]
MINE_JSON = '{\n    "mcpServers": {"mine": {"command": "x"}}, "theme": "dark"}'
MINE_TOML = '# my own\nmodel = "x"   # the best\n\n[mcp_servers.mine]\ncommand = "y"\n'


@pytest.fixture
def home(project, tmp_path):
    folder = tmp_path / "a home"
    folder.mkdir()
    project.environment["HOME"] = str(folder)
    return folder


def places(project, home, agent, scope):
    top = project.root if scope == "project" else home
    return tuple(top / name for name in PLACES[agent, scope])


def everything(*folders):
    return {
        path: path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if ".git" not in path.parts
    }


def install(project, agent, *arguments, verb="install"):
    done = project.run(verb, "--agent", agent, *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return done.json()


def states(record, what):
    return {item["state"] for item in record["items"] if item["what"] == what}


def symptoms(project, *words):
    found = project.run("doctor", "--json").json()["checks"]
    return [one for one in found if all(word in one["what"] for word in words)]


def server_in(path):
    if path.suffix == ".toml":
        server = tomllib.loads(path.read_text())["mcp_servers"]["loopwright"]
        return [server["command"], *server["args"]]
    document = json.loads(path.read_text())
    server = (document.get("mcp") or document["mcpServers"])["loopwright"]
    return server["command"] if isinstance(server["command"], list) else [server["command"], *server["args"]]


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("agent", AGENTS)
def test_all_parts_are_added_to_existing_content_and_removed_to_the_byte(project, home, agent, scope):
    instructions, servers, skills = places(project, home, agent, scope)
    for path, text in ((instructions, "# Mine\r\n\r\nBe kind."), (skills / "mine" / "SKILL.md", "mine\n")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    servers.parent.mkdir(parents=True, exist_ok=True)
    servers.write_text(MINE_TOML if servers.suffix == ".toml" else MINE_JSON)
    before = everything(project.root, home)
    assert install(project, agent, "--scope", scope, "--dry-run")["would_change"] is True
    assert everything(project.root, home) == before

    assert install(project, agent, "--scope", scope)["changed"] is True
    assert server_in(servers) == [sys.executable, *ARGUMENTS]
    assert instructions.read_bytes().startswith(b"# Mine\r\n\r\nBe kind.\r\n")
    assert b"never run them" in instructions.read_bytes()
    names = sorted(path.name for path in skills.iterdir())
    assert names == sorted(["mine", *(f"loopwright-{name}" for name in (
        "archive", "autopilot", "build", "clarify", "debug", "plan", "review", "tdd", "verify"
    ))])  # fmt: skip
    again = install(project, agent, "--scope", scope)
    assert (again["changed"], {item["state"] for item in again["items"]}) == (False, {"current"})
    found = symptoms(project, f"of {agent} ({scope})")
    assert {one["health"] for one in found} <= {"ok", "note" if agent == "codex" else "ok"}
    assert sum(one["code"] == "installed_current" for one in found) == 3

    install(project, agent, "--scope", scope, verb="uninstall")
    left = {path: data for path, data in everything(project.root, home).items() if data is not None}
    assert left == {path: data for path, data in before.items() if data is not None}
    assert symptoms(project, f"of {agent} ({scope})") == []


@pytest.mark.parametrize("agent", AGENTS)
def test_uninstalling_from_a_fresh_repository_leaves_no_file_and_no_folder(project, home, agent):
    before = everything(project.root)
    install(project, agent)
    install(project, agent, verb="uninstall")
    assert everything(project.root) == before


def test_changes_of_the_user_are_reported_and_never_touched(project, home):
    install(project, "claude")
    instructions, servers, skills = places(project, home, "claude", "project")
    skill = skills / "loopwright-build" / "SKILL.md"
    skill.write_text(skill.read_text().replace("# Build", "# My way to build"))
    instructions.write_text(instructions.read_text().replace("never run them", "run them on Fridays"))
    document = json.loads(servers.read_text())
    document["mcpServers"]["loopwright"]["env"] = {"A": "a-private-word"}
    servers.write_text(json.dumps(document))
    mine = {path: path.read_bytes() for path in (skill, instructions, servers)}

    done = project.run("install", "--agent", "claude")
    assert done.exit_code == 0
    assert done.stdout.count("left as it is; to install ours, move it away and install again") == 3
    record = install(project, "claude")
    assert (record["changed"], sum(item["left"] is not None for item in record["items"])) == (False, 3)
    for name in ("skills", "instructions", "MCP server"):
        (one,) = symptoms(project, f"{name} of claude (project)")
        assert (one["code"], one["health"]) == ("installed_changed", "note")
        assert "`loopwright install --agent claude --scope project" in one["remedy"]
    gone = project.run("uninstall", "--agent", "claude")
    assert "a-private-word" not in done.stdout + gone.stdout
    assert gone.stdout.count("left as it is; remove it yourself") == 3
    assert {path: path.read_bytes() for path in mine} == mine
    assert not (skills / "loopwright-plan").exists()
    skill.unlink()
    assert states(install(project, "claude", "--what", "skills"), "skills") == {"absent"}
    assert "# Build" in skill.read_text()


def test_content_of_another_version_is_renewed(project, home):
    instructions, servers, skills = places(project, home, "claude", "project")
    skill = skills / "loopwright-build" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(with_mark("an old skill"))
    instructions.write_text(with_block("mine\n", MARKDOWN, "claude", "an old block\n") + "mine, too\n")
    servers.write_text(
        '{"mcpServers": {"loopwright": {"command": "/gone/python3", "args": ' + json.dumps(ARGUMENTS) + "}}}"
    )
    assert {one["code"] for one in symptoms(project, "of claude (project)")} == {"installed_outdated"}
    record = install(project, "claude")
    assert record["changed"] is True
    assert "an old skill" not in skill.read_text()
    assert "an old block" not in instructions.read_text()
    assert instructions.read_text().startswith("mine\n")
    assert instructions.read_text().endswith("mine, too\n")
    assert server_in(servers)[0] == sys.executable
    install(project, "claude", verb="uninstall")
    assert instructions.read_text() == "mine\nmine, too\n"
    assert not servers.exists()


@pytest.mark.parametrize("agent", AGENTS)
def test_foreign_content_stays(project, home, agent):
    _, servers, skills = places(project, home, agent, "project")
    skill = skills / "loopwright-build" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("my own skill\n")
    form = {"codex": '[mcp_servers.loopwright]\ncommand = "mine"\n',
            "opencode": '{"mcp": {"loopwright": {"type": "local", "command": ["mine"]}}}'}  # fmt: skip
    servers.parent.mkdir(exist_ok=True)
    servers.write_text(form.get(agent, '{"mcpServers": {"loopwright": {"command": "mine", "args": []}}}'))
    theirs = servers.read_text()
    record = install(project, agent, "--what", "mcp,skills")
    assert states(record, "mcp") == {"foreign"}
    assert "foreign" in states(record, "skills")
    assert (servers.read_text(), skill.read_text()) == (theirs, "my own skill\n")
    assert {one["code"] for one in symptoms(project, f"MCP server of {agent} (project)")} == {"installed_foreign"}
    install(project, agent, verb="uninstall")
    assert (servers.read_text(), skill.read_text()) == (theirs, "my own skill\n")


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("codex", ".codex/config.toml", "model = \n"),
        ("codex", ".codex/config.toml", 'mcp_servers = {mine = {command = "x"}}\n'),
        ("gemini", ".gemini/settings.json", '{"theme": "dark", // mine\n}'),
        ("gemini", ".gemini/settings.json", '{"mcpServers": []}'),
        ("opencode", "opencode.json", '{"mcp": {}, "mcp": {}}'),
        ("claude", ".mcp.json", "not json"),
        ("claude", "CLAUDE.md", "<!-- loopwright:begin claude sha256:0123456789abcdef -->\nno end\n"),
    ],
)
def test_an_invalid_file_stops_the_installation_before_anything_is_written(project, home, agent, name, text):
    project.write(name, text)
    before = everything(project.root)
    done = project.run("install", "--agent", agent)
    assert done.stderr.startswith("SETTINGS_INVALID: "), done.stderr
    assert name in done.stderr
    assert "nothing was changed" in done.stderr
    assert everything(project.root) == before
    # The hint is a command that is taken.
    assert f"`loopwright install --agent {agent} --dry-run`" in done.stderr
    # Files without our parts may be invalid; an inline table is only a place that we can't add to.
    said = {one["health"] for one in symptoms(project, f"of {agent} (project)")}
    assert said == (set() if text.startswith("mcp_servers = {") else {"problem" if "loopwright" in text else "note"})


def test_settings_without_our_content_are_not_checked(project, home):
    """Gemini and opencode take comments; what we can't write into is a problem once we are in it."""
    assert "`loopwright install --agent claude` registers it" in project.run("doctor").stdout
    commented = '// mine\n{"theme": "dark"}\n'
    for name in (".gemini/settings.json", ".config/opencode/opencode.json"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(commented)
    done = project.run("doctor", "--json")
    assert (done.exit_code, done.json()["ok"]) == (0, True)
    found = symptoms(project, "gemini (user)") + symptoms(project, "opencode (user)")
    assert {one["health"] for one in found} == {"note"}
    (home / ".gemini/settings.json").unlink()
    install(project, "gemini", "--user", "--what", "hooks")
    (home / ".gemini/settings.json").write_text(commented)
    assert project.run("doctor").exit_code == 1


def test_codex_and_opencode_share_one_block(project, home):
    project.write("AGENTS.md", "mine\n")
    for agent in ("codex", "opencode"):
        install(project, agent, "--what", "instructions")
    text = (project.root / "AGENTS.md").read_text()
    assert text.count("## Loopwright") == 1
    install(project, "codex", verb="uninstall")
    assert "## Loopwright" in (project.root / "AGENTS.md").read_text()
    install(project, "opencode", verb="uninstall")
    assert (project.root / "AGENTS.md").read_text() == "mine\n"


def test_parts_of_one_file_are_installed_and_removed_separately(project, home):
    path = project.root / ".gemini" / "settings.json"
    mine = '{"theme":   "dark"}'
    project.write(".gemini/settings.json", mine)
    install(project, "gemini", "--what", "hooks")
    assert "mcpServers" not in json.loads(path.read_text())
    install(project, "gemini", "--what", "mcp")
    install(project, "gemini", "--what", "hooks", verb="uninstall")
    assert set(json.loads(path.read_text())) == {"theme", "mcpServers"}
    install(project, "gemini", "--what", "mcp", verb="uninstall")
    assert path.read_text() == mine
    for what, said in (("hooks,skils", "'skils'"), (" , ", "names no part")):
        done = project.run("install", "--agent", "gemini", "--what", what)
        assert (done.exit_code, said in done.stderr) == (2, True)


def test_a_file_of_a_part_that_was_not_requested_may_be_invalid(project, home):
    mine = '{"mcpServers": []}'
    project.write(".gemini/settings.json", mine)
    for verb in ("install", "uninstall"):
        assert install(project, "gemini", "--what", "hooks", verb=verb)["changed"] is True
    assert (project.root / ".gemini" / "settings.json").read_text() == mine


def test_a_person_reads_a_list_of_changes(project, home):
    first = project.run("install", "--agent", "claude", "--dry-run").stdout
    assert "+## Loopwright" in first
    assert '+    "loopwright": {' in first
    assert first.count("(skills)") == 9
    assert "would be installed: " in first
    done = project.run("install", "--agent", "opencode")
    assert "opencode has no hooks" in done.stdout
    assert project.run("install", "--agent", "opencode").stdout.startswith("opencode: nothing to change")


def test_links_into_dotfiles_are_followed_and_stay(project, home, tmp_path):
    real = tmp_path / "dotfiles" / "CLAUDE.md"
    real.parent.mkdir()
    real.write_text("mine\n")
    link = home / ".claude" / "CLAUDE.md"
    link.parent.mkdir()
    link.symlink_to(real)
    install(project, "claude", "--user")
    assert "## Loopwright" in real.read_text()
    install(project, "claude", "--user", verb="uninstall")
    assert (link.is_symlink(), real.read_text()) == (True, "mine\n")


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_of_ours_is_left_even_without_a_receipt(project, home, agent):
    """A clone on another machine, a project that was moved: there are no receipts for it."""
    instructions, servers, skills = places(project, home, agent, "project")
    before = everything(project.root)
    install(project, agent)
    shutil.rmtree(home / ".local")
    install(project, agent, verb="uninstall")
    assert everything(project.root) == before

    install(project, agent)
    (skills / "mine").mkdir()
    instructions.write_text("mine\n\n" + instructions.read_text())
    shutil.rmtree(home / ".local")
    install(project, agent, verb="uninstall")
    assert (instructions.read_text(), [path.name for path in skills.iterdir()]) == ("mine\n", ["mine"])
    assert not servers.exists()


@pytest.mark.parametrize("order", [("hooks", "skills"), ("skills", "hooks")])
@pytest.mark.parametrize("scope", ["project", "user"])
def test_removing_parts_one_by_one_leaves_no_folder(project, home, order, scope):
    before = everything(project.root, home)
    for verb in ("install", "uninstall"):
        for what in order:
            install(project, "claude", "--scope", scope, "--what", what, verb=verb)
    left = {path for path in everything(project.root, home) if ".local" not in path.parts}
    assert left == set(before)


def test_additions_of_opencode_do_not_keep_our_file(project, home):
    servers = project.root / "opencode.json"
    install(project, "opencode", "--what", "mcp")
    ours = json.loads(servers.read_text())
    assert ours["$schema"] == "https://opencode.ai/config.json"
    servers.write_text(json.dumps(ours))
    install(project, "opencode", verb="uninstall")
    assert not servers.exists()
    mine = '{"$schema": "https://opencode.ai/config.json"}'
    servers.write_text(mine)
    for verb in ("install", "uninstall"):
        (item,) = install(project, "opencode", "--what", "mcp", verb=verb)["items"]
        # It stays, but for a comma.
        assert (item["diff"].count('+  "$schema"'), item["diff"].count('-  "$schema"')) == (1, 1)
    assert servers.read_text() == mine


def test_two_installs_wait_for_each_other(project, home, wait_until):
    """codex and opencode read one AGENTS.md: the second must see what the first has written."""
    project.run("doctor")
    folder = os.open(project.root, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    second = subprocess.Popen(
        project.command("install", "--agent", "codex", "--what", "instructions"),
        cwd=project.root, env=project.environment, stdout=subprocess.PIPE,
    )  # fmt: skip
    waits = re.compile(rf"-> FLOCK .* {second.pid} .*:{os.fstat(folder).st_ino} ")
    wait_until(lambda: waits.search(Path("/proc/locks").read_text()) or second.poll() is not None)
    assert second.poll() is None
    project.write("AGENTS.md", with_block(None, MARKDOWN, "opencode", our_block()))
    os.close(folder)
    second.communicate()
    assert find_block((project.root / "AGENTS.md").read_text(), MARKDOWN).agents == ("codex", "opencode")
