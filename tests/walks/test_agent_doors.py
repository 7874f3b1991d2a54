"""Which logins an agent gets, by the real command line: only its own login, and no copy is kept."""

from __future__ import annotations

import json
import os

import pytest

OLD, NEW, OTHERS = "old-login-of-a-play-2026", "new-login-of-a-play-2026", "login-of-another-one-2026"
# Stand-ins for the programs; each refreshes its login during its work, and prints it.
CLAUDE = f"""#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (a play)"; exit; fi
cat > /dev/null
said() {{ printf '{{"type": "assistant", "message": {{"content": [{{"type": "text", "text": "%s"}}]}}}}\\n' "$1"; }}
file=$CLAUDE_CONFIG_DIR/.credentials.json
said "I have $(tr -d '{{}}" ' < "$file")"
sed -i s/{OLD}/{NEW}/ "$file"
said "now it is {NEW}, and was {OLD}"
echo "as an error: {NEW}" >&2
echo hi > made.txt
printf '{{"type": "result", "subtype": "success", "is_error": false, "result": "{NEW} is the answer"}}\\n'
"""
OPENCODE = f"""#!/bin/sh
if [ "$1" = --version ]; then echo "1.18.33"; exit; fi
cat > /dev/null
file=$XDG_DATA_HOME/opencode/auth.json
said() {{ printf '{{"type": "text", "sessionID": "ses_1", "part": {{"text": "%s"}}}}\\n' "$1"; }}
said "has $(tr -d '{{}}" ' < "$file") and $(tr -d '{{}}" \\n' < "$XDG_CONFIG_HOME/opencode/opencode.json")"
sed -i s/{OLD}/{NEW}/ "$file"
said "now it is {NEW}"
echo hi > made.txt
printf '{{"type": "step_finish", "sessionID": "ses_1", "part": {{"reason": "stop"}}}}\\n'
"""
PLAYS = {"claude": CLAUDE, "opencode": OPENCODE}


def play(project, tmp_path, agent):
    program = tmp_path / "bin" / agent
    program.parent.mkdir(exist_ok=True)
    program.write_text(PLAYS[agent])
    program.chmod(0o755)
    project.environment["PATH"] = f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"


def write(project, path, document):
    file = project.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))
    file.chmod(0o600)
    return file


def build(project, agent):
    project.environment["LOOPWRIGHT_LOOP_TEST_COMMAND"] = "test -f made.txt"
    project.environment["LOOPWRIGHT_PROJECT_SOURCE"] = "made.txt"
    made = project.run("loop", "new", "a file", "--task", "make it", "--agent", agent, "--json").json()
    done = project.run("loop", "start", made["loop_id"])
    assert done.exit_code == 0, done.stderr
    return made["loop_id"], done


def doctor_on(project, agent):
    checks = project.run("doctor", "--json").json()["checks"]
    return next(one["said"] for one in checks if one["what"] == f"agent {agent}")


def test_a_login_that_is_refreshed_while_its_turn_runs_is_kept_nowhere(project, tmp_path):
    play(project, tmp_path, "claude")
    own = write(project, ".claude/.credentials.json", {"oauth": {"accessToken": OLD}})
    loop_id, done = build(project, "claude")
    assert json.loads(own.read_text()) == {"oauth": {"accessToken": NEW}}
    shown = project.run("loop", "logs", loop_id, "--agent").stdout
    assert "now it is [REDACTED:environment-value:" in shown
    assert "as an error: [REDACTED:environment-value:" in shown
    kept = project.everything_kept() + (done.stdout + done.stderr + shown).encode()
    assert OLD.encode() not in kept
    assert NEW.encode() not in kept


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-5", None])
def test_opencode_is_lent_the_login_of_its_model_s_provider_and_doctor_says_so(project, tmp_path, model):
    play(project, tmp_path, "opencode")
    logins = {"openai": {"type": "api", "key": OTHERS}, "anthropic": {"type": "oauth", "access": OLD}, "odd": {"n": 1}}
    own = write(project, ".local/share/opencode/auth.json", logins)
    providers = {"anthropic": {"options": {"apiKey": "written-out-2026"}}, "mine": {"options": {"apiKey": OTHERS}}}
    write(project, ".config/opencode/opencode.json", {"provider": providers})
    if model is not None:
        project.write(".loopwright/config.toml", f'[agents.opencode]\nmodel = "{model}"\n')
    said = doctor_on(project, "opencode")
    loop_id, _ = build(project, "opencode")
    shown = project.run("loop", "logs", loop_id, "--agent").stdout
    assert "anthropic:type:oauth,access:[REDACTED" in shown
    assert "odd" not in shown
    if model is not None:
        assert "opencode/auth.json (of anthropic), api.anthropic.com:443" in said
        assert "api.openai.com" not in said
        assert "openai" not in shown
        assert "mine" not in shown
    else:
        assert "opencode/auth.json (of openai, anthropic; set agents.opencode.model to pass only one)" in said
        assert "openai:type:api" in shown
    assert json.loads(own.read_text()) == {**logins, "anthropic": {"type": "oauth", "access": NEW}}
    kept = project.everything_kept()
    assert not any(text.encode() in kept for text in (OLD, NEW, OTHERS, "written-out-2026"))


def test_an_open_network_without_an_address_is_reported_with_its_fix(project, tmp_path):
    play(project, tmp_path, "opencode")
    project.environment["MINE"] = "not-a-key"
    mine = {"npm": "@of-somebody/else", "options": {"apiKey": "{env:MINE}"}}
    write(project, ".config/opencode/opencode.json", {"model": "mine/m", "provider": {"mine": mine}})
    open_so = "open: the model's address is unknown; set agents.opencode.hosts to allow only that address"
    assert f"its sandbox gets: MINE, network {open_so}" in doctor_on(project, "opencode")
    build(project, "opencode")
    assert [json.loads(path.read_bytes())["network"] for path in project.own.rglob("turn.json")] == [open_so]
    project.write(".loopwright/config.toml", '[agents.opencode]\nhosts = ["mine.example"]\n')
    assert "its sandbox gets: MINE, mine.example:443" in doctor_on(project, "opencode")
    for network, said in (("always", "open"), ("never", "closed"), ("research", "open for research")):
        project.write(".loopwright/config.toml", f'[agents.opencode]\nnetwork = "{network}"\n')
        assert f"its sandbox gets: MINE, network {said} by agents.opencode.network" in doctor_on(project, "opencode")


def test_a_long_text_in_a_lent_login_switches_no_budget_off_and_is_not_brought_back(project, tmp_path, monkeypatch):
    fill = (
        'head -c 150000 /dev/urandom | od -An -v -tx1 | tr -d \' \\n\' | sed \'s/.*/{"oauth": {"accessToken": "&"}}/\''
    )
    usage = '{"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 900000, "output_tokens": 9}}}'
    head = CLAUDE.partition("said()")[0]
    body = f"file=$CLAUDE_CONFIG_DIR/.credentials.json\n{fill} > \"$file\"\necho '{usage}'\nexec sleep 30\n"
    monkeypatch.setitem(PLAYS, "claude", head + body)
    play(project, tmp_path, "claude")
    own = write(project, ".claude/.credentials.json", {"oauth": {"accessToken": OLD}})
    # The caller's own may be long, too.
    project.environment |= {f"LONG_{number}_TOKEN": f"{number}abcdef" * 15_000 for number in range(4)}
    wanted = ("loop", "new", "a file", "--task", "make it", "--agent", "claude", "--tokens", "500000", "--json")
    loop_id = project.run(*wanted).json()["loop_id"]
    project.run("loop", "start", loop_id)
    (turn,) = (json.loads(path.read_bytes()) for path in project.own.rglob("turn.json"))
    assert (turn["failure"], turn["tokens"]) == ("budget_used", 900009)
    assert json.loads(own.read_text()) == {"oauth": {"accessToken": OLD}}
    assert project.run("loop", "show", loop_id).exit_code == 0
