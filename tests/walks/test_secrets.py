"""Secrets never reach a file or a screen, whatever way they come."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from loopwright.redaction.examples import expand

TOKEN = expand("ghp_<alnum:36>", 7)
MINE = "s3cr'et va/lue+with=odd&chars"


def everything(project, done):
    return project.everything_kept() + done.stdout.encode() + done.stderr.encode()


def assert_leak(project, done, *values):
    assert done.exit_code == 99, done.stderr
    assert "SECRET_LEAK" in done.stderr
    assert project.latest()["envelope"]["error_code"] == "SECRET_LEAK"
    kept = everything(project, done)
    for value in values:
        assert value.encode() not in kept
    assert "Traceback" not in done.stderr


def test_a_secret_in_the_output_stops_the_run_and_is_kept_nowhere(project):
    project.write("token.txt", TOKEN)
    project.commit("a file that no rule reads before it is printed")
    project.plan(
        {"id": "L", "commands": ["echo before; cat token.txt; echo; echo after; sleep 60"]},
        {"id": "M", "commands": ["touch never"], "depends_on": ["L"]},
        run_id="l",
    )
    done = project.run("run")
    assert_leak(project, done, TOKEN)
    evidence = project.evidence("l")
    assert [step["outcome"] for step in evidence["steps"]] == ["cancelled", "skipped"]
    (finding,) = evidence["findings"]
    assert finding["rule"] == "github-personal-token"
    assert finding["source"] == "logs/L-1.log"
    assert finding["line"] == 2
    assert len(finding["fingerprint"]) == 12
    log = (project.own / "runs" / "l" / "logs" / "L-1.log").read_text()
    assert log.startswith("before\n[REDACTED:github-personal-token:")
    assert (project.own / "latch.lock").exists()


def test_a_secret_in_the_plan_stops_before_anything_runs_and_the_copy_is_not_written(project):
    project.plan({"id": "L", "commands": [f"curl -H 'Authorization: token {TOKEN}' host.example"]}, run_id="l")
    done = project.run("run")
    plan = (project.own / "plan.latest.yaml").read_bytes()
    (project.own / "plan.latest.yaml").unlink()
    assert_leak(project, done, TOKEN)
    assert TOKEN.encode() in plan
    runs = list((project.own / "runs").iterdir())
    assert len(runs) == 1
    assert {path.name for path in runs[0].iterdir()} == {"evidence.json", "logs"}
    assert list((runs[0] / "logs").iterdir()) == []


def test_a_secret_in_the_change_is_a_leak_and_the_patch_is_not_written(project):
    halves = TOKEN[:20], TOKEN[20:]
    project.plan({"id": "L", "commands": [f"printf '%s%s\\n' {halves[0]} {halves[1]} > config.py"]}, run_id="l")
    done = project.run("run")
    assert_leak(project, done, TOKEN)
    assert not (project.own / "runs" / "l" / "changes.patch").exists()
    assert "changes.patch" in done.stderr


def test_a_secret_in_the_name_of_a_changed_file_is_a_leak(project):
    halves = TOKEN[:20], TOKEN[20:]
    project.plan({"id": "L", "commands": [f'echo x > backup_{halves[0]}""{halves[1]}.txt']}, run_id="l")
    assert_leak(project, project.run("run"), TOKEN)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--plan", f"{TOKEN}.yaml"),
        ("status", TOKEN),
        ("loop", "show", TOKEN, "--json"),
        ("loop", f"use {TOKEN}"),
        ("explain", MINE),
    ],
    ids=["plan", "workflow", "loop", "command", "own value"],
)
def test_a_message_that_quotes_an_argument_hides_a_secret_in_it(project, arguments):
    done = project.run(*arguments, env={"SERVICE_TOKEN": MINE})
    assert done.exit_code not in (0, 99)
    assert "[REDACTED:" in done.stderr
    kept = everything(project, done)
    assert TOKEN.encode() not in kept
    assert MINE.encode() not in kept


def test_a_secret_in_a_binary_file_of_the_change_is_found_too(project):
    halves = TOKEN[:20], TOKEN[20:]
    project.plan({"id": "L", "commands": [f"printf '\\0\\0%s%s\\0' {halves[0]} {halves[1]} > data.bin"]}, run_id="l")
    assert_leak(project, project.run("run"), TOKEN)


FORMS = {
    "plain": MINE,
    "base64": base64.b64encode(MINE.encode()).decode(),
    "base64 with a newline": base64.b64encode(MINE.encode() + b"\n").decode(),
    "base64 in the middle": base64.b64encode(b"user:" + MINE.encode() + b"@host").decode(),
    "base64url": base64.urlsafe_b64encode(MINE.encode()).decode(),
    "url": urllib.parse.quote(MINE, safe=""),
    "url in lower case": urllib.parse.quote(MINE, safe="").lower(),
    "form": urllib.parse.quote_plus(MINE),
    "json": json.dumps(MINE)[1:-1],
    "json in json": json.dumps(json.dumps(MINE))[1:-1],
    "yaml in single quotes": MINE.replace("'", "''"),
    "python in single quotes": MINE.replace("'", "\\'"),
    "hex": MINE.encode().hex(),
    "terminal colours inside": MINE[:9] + "\x1b[31m" + MINE[9:],
    "control characters inside": MINE[:9] + "\x07" + MINE[9:],
}


@pytest.mark.parametrize("form", FORMS)
def test_the_callers_own_secrets_are_found_in_the_forms_that_tools_print_them(project, form):
    (project.root / "out.bin").write_bytes(b"x " + FORMS[form].encode() + b" y\n")
    project.commit("output to be")
    project.plan({"id": "L", "commands": ["cat out.bin"]}, run_id="l")
    done = project.run("run", env={"SERVICE_TOKEN": MINE})
    assert_leak(project, done, MINE)
    assert project.evidence("l")["findings"][0]["rule"] == "environment-value"


KEY = [expand("MIIEowIBAAKCAQEA<base64:48>", 1), *(expand("<base64:64>", seed) for seed in range(2, 8))]
HEX, UUID = expand("<hex:32>", 3), "<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>"
ENCODED = base64.b64encode("\n".join(["-----BEGIN RSA PRIVATE KEY-----", *KEY]).encode()).decode()
AZURE = expand("<alnum:76>AZDO<alnum:4>", 9)
TEAMS = expand(f"https://acme.webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/<hex:32>/", 5) + expand(
    UUID, 4
)
# A text, and the part of it that must be hidden.
KINDS = {
    "key in quoted lines": ("".join(f'    "{line}\\n" +\n' for line in KEY), KEY[3]),
    "key in base64": (ENCODED, ENCODED[90:]),
    "32 hexadecimal digits": (f'API_KEY = "{HEX}"', HEX),
    "flag": (f"publish --api-key {HEX} now", HEX),
    "word in a URL": ("postgresql://user:secret@host/db", "secret"),
    "at sign in a URL": ("postgres://me:p@ss!word9@host/db", "ss!word9"),
    "query of a URL": ("jdbc:postgresql://host/db?user=me&password=kqvtz9nwxe", "kqvtz9nwxe"),
    "socket in a URL": ("mongodb://me:D1ffer%40ntw0rd@%2Ftmp%2Fmongodb.sock", "ntw0rd"),
    "short password": ("POSTGRES_PASSWORD: kq8vtz3n1w", "kq8vtz3n1w"),
    "key with signs": ("SECRET_KEY = 'x7$k#9@w!q2&z^8*(v_m3+p-5=t)l1%r6'", "(v_m3+p"),
    "Azure DevOps": (AZURE, AZURE[:40]),
    "Teams": (TEAMS, expand(UUID, 4)),
}  # fmt: skip


def test_secrets_of_every_kind_are_hidden(project):
    """One run masks all kinds, because a run for each would take long; a kind that is not hidden is named."""
    rules = ["private-key-body", "private-key-base64", "secret-assignment", "postgres-url-password",
             "connection-url-query-password", "mongodb-url-password", "password-assignment",
             "quoted-secret-assignment", "azure-devops-token", "microsoft-teams-webhook"]  # fmt: skip
    masked = "".join(f'{rule} = "mask"\n' for rule in rules)
    project.write(".loopwright/config.toml", f"[secrets.rules]\n{masked}")
    project.write("out.txt", "".join(f"{kind}\n{text}\nafter {kind}\n" for kind, (text, _) in KINDS.items()))
    project.commit("output to be")
    project.plan({"id": "L", "commands": ["cat out.txt"]}, run_id="l")
    done = project.run("run")
    assert done.exit_code == 0, done.stderr
    log = (project.own / "runs" / "l" / "logs" / "L-1.log").read_text()
    for kind, (_, hidden) in KINDS.items():
        shown, end, _ = log.partition(f"{kind}\n")[2].partition(f"\nafter {kind}\n")
        assert end, kind
        assert "[REDACTED" in shown, kind
        assert hidden not in shown, kind


def test_utf_16_output_is_seen_through(project):
    (project.root / "out.bin").write_bytes(TOKEN.encode("utf-16-le") + b"\n\0")
    project.commit("output to be")
    project.plan({"id": "L", "commands": ["cat out.bin"]}, run_id="l")
    assert project.run("run").exit_code == 99
    assert TOKEN.encode("utf-16-le") not in project.everything_kept()


@pytest.mark.parametrize("at", [1, 4, 17, 39])
def test_a_secret_in_two_writes_is_found(project, at):
    project.plan(
        {"id": "L", "commands": [f"printf 'x=%s' {TOKEN[:at]}; sleep 0.2; printf '%s\\n' {TOKEN[at:]}"]}, run_id="l"
    )
    assert_leak(project, project.run("run"), TOKEN)


def test_a_private_key_block_is_hidden_whole(project):
    body = [expand("<base64:64>", seed) for seed in range(6)]
    kind = "RSA PRIVATE KEY"
    project.write("key.txt", "\n".join([f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----", "tail"]))
    project.commit("a key")
    project.write(".loopwright/config.toml", '[secrets.rules]\nprivate-key-rsa = "mask"\n')
    project.plan({"id": "L", "commands": ["cat key.txt"]}, run_id="l")
    done = project.run("run")
    assert done.exit_code == 0, done.stderr
    log = (project.own / "runs" / "l" / "logs" / "L-1.log").read_text()
    assert not any(line in log for line in body)
    assert log.endswith("tail")
    assert project.latest()["relaxed_rules"] == {"private-key-rsa": "mask"}


def test_mask_hides_and_continues_and_off_does_nothing_and_both_are_on_record(project):
    project.write("token.txt", TOKEN + "\n")
    project.commit("a token")
    project.plan({"id": "L", "commands": ["cat token.txt", "touch done"]}, run_id="l")
    project.write(".loopwright/config.toml", '[secrets.rules]\ngithub-personal-token = "mask"\n')
    assert project.run("run").exit_code == 0
    assert TOKEN.encode() not in project.everything_kept()
    assert project.latest()["findings"][0]["action"] == "mask"

    project.write(".loopwright/config.toml", '[secrets.rules]\ngithub-personal-token = "off"\n')
    assert project.run("run").exit_code == 0
    assert project.latest()["relaxed_rules"] == {"github-personal-token": "off"}
    assert TOKEN in (project.own / "runs" / "l-2" / "logs" / "L-1.log").read_text()


@pytest.mark.parametrize(("reason", "code"), [("TEST_VECTOR", 0), ("DOCS_EXAMPLE", 0), ("FIXTURE", 0), ("BECAUSE", 99)])
def test_a_pragma_with_a_known_reason_exempts_its_line_of_the_plan(project, reason, code):
    plan = project.plan({"id": "L", "commands": [f"test -n {TOKEN}"]}, run_id="l")
    plan.write_text(plan.read_text().replace(TOKEN, f"{TOKEN} # pragma: allowlist-secret why={reason}"))
    assert project.run("run").exit_code == code


def test_output_can_not_exempt_itself(project):
    halves = TOKEN[:20], TOKEN[20:]
    line = f"printf '%s%s # pragma: allowlist-secret why=TEST_VECTOR\\n' {halves[0]} {halves[1]}"
    project.plan({"id": "L", "commands": [line]}, run_id="l")
    assert_leak(project, project.run("run"), TOKEN)


def test_a_value_that_a_tracked_file_exempts_may_be_printed(project):
    project.write("vectors.txt", f"{TOKEN} pragma: allowlist-secret why=TEST_VECTOR\n")
    project.commit("a test vector")
    project.plan({"id": "L", "commands": ["cut -d' ' -f1 vectors.txt"]}, run_id="l")
    assert project.run("run").exit_code == 0


def test_a_fingerprint_in_config_exempts_its_value(project):
    project.write("token.txt", TOKEN + "\n")
    project.commit("a token")
    project.plan({"id": "L", "commands": ["cat token.txt"]}, run_id="l")
    assert project.run("run").exit_code == 99
    found = project.latest()["findings"][0]["fingerprint"]
    assert project.run("unlatch").exit_code == 0
    project.write(".loopwright/config.toml", f'[secrets]\nallow = ["{found}"]\n')
    assert project.run("run").exit_code == 0


def test_a_rule_of_the_project_works_like_a_shipped_rule(project):
    project.write(
        ".loopwright/config.toml",
        '[[secrets.extra_rules]]\nid = "acme-key"\nkeyword = "acme_"\npattern = "\\\\bacme_[0-9]{8}\\\\b"\n',
    )
    project.plan({"id": "L", "commands": ["echo acme_$((12345677 + 1))"]}, run_id="l")
    done = project.run("run")
    assert_leak(project, done, "acme_12345678")


def test_ordinary_text_is_not_a_secret(project):
    lines = ["task-management-tool", "risk-floor-2026", "flask-application: ok", "x = " + "=" * 80_000, "a" * 40]
    project.write("out.txt", "\n".join(lines) + "\n")
    project.commit("text")
    project.plan({"id": "L", "commands": ["cat out.txt"]}, run_id="l")
    assert project.run("run").exit_code == 0


@pytest.mark.parametrize("declared", ["codex", "opencode", "env", "written for codex", "written for opencode"])
def test_an_agents_login_is_a_secret_under_any_variable_name(project, declared):
    """The program's settings or ours name the variable; passed folders, words, models and addresses are not secrets."""
    home = project.root.parent / "home of a user"
    # Variables that our settings pass are secrets only if they look like keys.
    mine = "Gw4Kq9" * 4 if declared == "env" else MINE
    # A name as from `mktemp -d`. The project's own folder changes its name each time, so it would prove nothing.
    place = "/tmp/tmp.OqEaEFDF2a/work"
    environment = {"HOME": str(home), "MY_GATEWAY": mine, "MY_PLACE": place, "MY_WORD": "production"}
    environment |= {"MY_MODEL": "claude-sonnet-4-5-20250929", "MY_URL": "https://gateway.example/v1/2026/Models"}
    project.environment.update(environment)
    project.write(".loopwright/config.toml", '[agents.codex]\nenv = ["MY_PLACE", "MY_WORD", "MY_MODEL", "MY_URL"]\n')
    match declared:
        case "codex":
            provider = '[model_providers.own]\nbase_url = "http://127.0.0.1:9/v1"\nenv_key = "MY_GATEWAY"\n'
            project.write(f"{home}/.codex/config.toml", f'model_provider = "own"\n{provider}')
        case "opencode":
            options = {"apiKey": "{env:MY_GATEWAY}", "baseURL": "http://127.0.0.1:9/v1"}
            document = {"model": "own/m", "provider": {"own": {"options": options}}}
            project.write(f"{home}/.config/opencode/opencode.json", json.dumps(document))
        case "written for codex":
            mine = "Kq9-of-my-gateway"
            provider = f'[model_providers.other]\nhttp_headers = {{ Authorization = "Bearer {mine}" }}\n'
            project.write(f"{home}/.codex/config.toml", f'model_provider = "own"\n{provider}')
        case "written for opencode":
            mine = "Kq9-of-my-gateway"
            document = {"model": "own/m", "provider": {"own": {"options": {"apiKey": mine}}}}
            project.write(f"{home}/.config/opencode/opencode.json", json.dumps(document))
        case _:
            project.write(
                ".loopwright/config.toml",
                '[agents.any]\nkind = "command"\ncommand = "x"\nenv = ["MY_GATEWAY", "MY_WORD"]\n',
            )
    project.plan({"id": "A", "commands": [f"echo {place} production claude-sonnet-4-5-20250929 $MY_URL"]})
    assert project.run("run").exit_code == 0
    project.write("printed.txt", mine)
    project.commit("a file that no rule reads before it is printed")
    project.plan({"id": "A", "commands": ["cat printed.txt"]})
    assert_leak(project, project.run("run"), mine)
