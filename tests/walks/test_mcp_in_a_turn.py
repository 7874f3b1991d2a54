"""`loopwright mcp` inside an agent's turn: the server uses the mailbox, and the worker reads the mailbox later."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.walks.mcp_talk import talking
from tests.walks.workflow_kit import blockers, ok, planner, prepare, status

# What an agent's own MCP client would do, in the sandbox, with nothing but Python.
CLIENT = r"""
import json, subprocess, sys
server = subprocess.Popen([sys.executable, "-P", "-m", "loopwright", "mcp"], stdin=-1, stdout=-1)
def ask(number, method, params):
    line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(line).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())
ask(0, "initialize", {"protocolVersion": "2025-11-25"})
for number, (name, arguments) in enumerate(json.load(open(sys.argv[1])), start=1):
    answer = ask(number, "tools/call", {"name": name, "arguments": arguments})
    said = answer["result"]["content"][0]["text"] if "result" in answer else json.dumps(answer["error"])
    print("SAID", name, said)
server.stdin.close()
server.wait()
"""
# Confined programs have their own /tmp, so they can't see an interpreter in the machine's /tmp.
CONFINED = [] if Path(sys.prefix).is_relative_to("/tmp") else [pytest.param("auto", marks=pytest.mark.needs("bwrap"))]
ISOLATIONS = ["none", *CONFINED]
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def turn(*calls, build=True):
    """A builder's turn that calls these tools, and then builds."""
    write = "printf 'def greet(name):\\n    return f\"hello {name}\"\\n' > hello.py\n" if build else ""
    return {
        "role": "builder",
        "run": f"cat > $TMPDIR/calls <<'E'\n{json.dumps(calls)}\nE\ncat > $TMPDIR/client.py <<'E'\n{CLIENT}\nE\n"
        f"{write}{sys.executable} $TMPDIR/client.py $TMPDIR/calls\n",
    }


def build(project, *turns, isolation, code=0):
    prepare(project, [planner(), *turns])
    project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
    if isolation == "auto":
        # The interpreter of these tests may be in the user's home, of which only tools are visible inside.
        project.environment["HOME"] = os.environ["HOME"]
    project.at("approved")
    done = project.run("build", "greet", "--agent", "scripted")
    assert done.exit_code == code, done.stdout + done.stderr
    (loop_id,) = [one["loop_id"] for one in ok(project, "loop", "list", "--json").json()["loops"]]
    return loop_id


def said(project, loop_id, name):
    """The answer of a tool, from the record of the turn."""
    logs = sorted((project.own / "loops" / f"{loop_id}.progress" / "turns").rglob("program-*.log"))
    lines = [line for log in logs for line in log.read_text().splitlines()]
    return [json.loads(line.removeprefix(f"SAID {name} ")) for line in lines if line.startswith(f"SAID {name} ")]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_builder_reads_previews_and_reports(project, isolation):
    calls = (
        ("status", {}),
        ("next", {}),
        ("context", {}),
        ("context", {"path": ".loopwright/plans/prd-greet.md"}),
        ("context", {"path": "hello.py"}),
        ("run_checks", {}),
        ("run_checks", {"id": "VS-9"}),
        ("progress", {"text": f"it greets; {TOKEN}"}),
        ("self_report", {"confidence": 0.8, "most_likely_wrong": "empty names", "surface": "ui"}),
        ("approve", {}),
    )
    loop_id = build(project, turn(*calls), isolation=isolation)
    (which,) = said(project, loop_id, "status")
    assert (which["workflow"], which["task_id"], which["loop_id"]) == ("greet", "VS-1", loop_id)
    assert [one["id"] for one in which["checks"]] == ["VS-1-C1"]
    assert which["budget"] == {"usd": None, "tokens": None, "wall_s": None}
    assert said(project, loop_id, "next")[0]["task_id"] == "VS-1"
    rows, prd, other = said(project, loop_id, "context")
    assert ".loopwright/plans/prd-greet.md" in {row["path"] for row in rows["rows"]}
    assert "greet" in prd["text"]
    assert other["error"] == "not_in_the_manifest"
    preview, unknown = said(project, loop_id, "run_checks")
    assert (preview["passed"], preview["counts_for"].startswith("nothing")) == (True, True)
    assert unknown["error"] == "no_checks"
    assert said(project, loop_id, "approve")[0]["data"]["error"] == "unknown_tool"
    told = ok(project, "loop", "logs", loop_id).stdout
    assert "builder says: it greets" in told
    (report,) = (project.own / "loops" / f"{loop_id}.progress" / "turns").rglob("self-report.json")
    assert json.loads(report.read_text())["confidence"] == 0.8
    (project.own / "turns.yaml").unlink()  # the script of the agent's turns
    assert TOKEN.encode() not in project.everything_kept()
    assert blockers(project, "review") == {}
    assert not (project.own / "reflection-input.json").exists()


def test_a_builder_asks_a_person_and_continues_with_the_answer(project):
    asks = turn(("request_decision", {"question": "formal or not?", "options": ["formal", "casual"]}), build=False)
    loop_id = build(project, asks, turn(), isolation="none", code=11)
    assert said(project, loop_id, "request_decision")[0]["status"] == "open"
    assert [one["question"] for one in status(project)["decisions"]] == ["formal or not?"]
    ok(project, "answer", "greet", "D-1", "formal")
    ok(project, "build", "greet", "--agent", "scripted")
    assert blockers(project, "review") == {}


def test_a_preview_with_forged_checks_counts_for_nothing(project):
    """An agent writes its own mailbox: what it writes there reaches only this agent."""
    forge = turn(("run_checks", {}), build=False)
    lie = '{"shown": [{"id": "VS-1-C1", "command": "true"}], "hidden": 0}'
    forge["run"] = f"echo '{lie}' > $LOOPWRIGHT_MAILBOX/checks.json\n{forge['run']}"
    loop_id = build(project, *[forge] * 4, isolation="none", code=11)
    assert said(project, loop_id, "run_checks")[0]["passed"] is True
    assert blockers(project, "review") != {}


@pytest.mark.parametrize("bad", [b"", b"{", b"[1]", b'{"loop_id": 7}', b"\xff", b"[" * 10_000])
def test_an_invalid_mailbox_counts_as_empty(project, tmp_path, bad):
    box = tmp_path / "box"
    (box / "context").mkdir(parents=True)
    for name in ("turn.json", "checks.json"):
        (box / name).write_bytes(bad)
    os.mkfifo(box / "progress.jsonl")
    with talking(project, env={"LOOPWRIGHT_MAILBOX": str(box)}) as talk:
        assert talk.call("status")["checks"] == []
        assert talk.refused("run_checks")["error"] == "no_checks"
        assert talk.refused("progress", text="half")["error"] == "STORAGE_FAILED"
        assert talk.refused("request_decision", question="what?")["error"] == "nobody_to_ask"
        (box / "context" / "build-context.jsonl").write_bytes(bad or b"{")
        assert talk.refused("context")["error"] == "context_manifest_invalid"
        error = talk.ask("resources/read", {"uri": "loopwright://context/../x"})["error"]
        assert error["code"] == -32002
