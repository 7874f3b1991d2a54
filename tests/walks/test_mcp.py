"""`loopwright mcp`: the verbs for agents, over raw lines; hostile lines end in errors, never in a crash."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.walks.mcp_talk import talking
from tests.walks.workflow_kit import BUILT, SLICE, blockers, built, finish, ok, planner, prepare

TOOLS = {"status", "next", "context", "progress", "request_decision", "self_report", "run_checks"}
OF_PEOPLE = ("approve", "reject", "sign", "answer", "unlatch", "archive", "undo", "loop_answer", "autopilot")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HELD = {"role": "builder", "fail": "not_logged_in"}


def held_build(project, *, slices=(SLICE,)):
    """A workflow whose build waits: its loop is held, and its manifest exists."""
    prepare(project, [planner(slices=list(slices)), HELD])
    project.at("approved")
    assert project.run("build", "greet", "--agent", "scripted").exit_code == 11


def test_the_tools_that_an_agent_has_and_has_not(project):
    with talking(project) as talk:
        tools = {tool["name"]: tool for tool in talk.ask("tools/list")["result"]["tools"]}
        assert set(tools) == TOOLS
        for tool in tools.values():
            assert tool["inputSchema"]["type"] == "object"
            assert tool["inputSchema"]["additionalProperties"] is False
            assert tool["description"]
        assert "opens no gate" in tools["run_checks"]["description"]
        for name in OF_PEOPLE:
            error = talk.ask("tools/call", {"name": name, "arguments": {}})["error"]
            assert (error["code"], error["data"]["error"]) == (-32602, "unknown_tool")
        assert talk.refused("status", slag="x")["error"] == "invalid_arguments"
        assert talk.refused("status", slug=7)["error"] == "invalid_arguments"
        assert talk.refused("self_report", confidence=2)["error"] == "invalid_arguments"
        assert talk.refused("status", slug="greet")["error"] == "workflow_not_initialized"
        assert talk.refused("progress", text="half")["error"] == "nothing_running"
        assert talk.refused("progress", text="half", loop="../../x")["error"] == "UNKNOWN_LOOP"
        assert talk.call("next") == {"workflows": [], "loops": []}
        assert talk.ask("prompts/list")["error"]["code"] == -32601
        assert talk.ask("ping")["result"] == {}
    listed = ok(project, "mcp", "--list", "--json").json()["tools"]
    assert {tool["name"] for tool in listed} == TOOLS
    assert "run_checks" in ok(project, "mcp", "--list").stdout


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25"), (None, "2025-11-25")],
)
def test_the_protocol_version_is_the_clients_if_supported_else_the_newest(project, asked, given):
    with talking(project) as talk:
        assert talk.ask("initialize", {"protocolVersion": asked})["result"]["protocolVersion"] == given


def test_bad_messages_cause_errors_and_the_server_continues(project):
    bad = [
        (b"not json\n", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"\n', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}\n', -32700),
        (b"[" * 100_000 + b"\n", -32700),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}\n', -32700),
        (b"[]\n", -32600),
        (b"7\n", -32600),
        (b'{"id":1,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}\n', -32600),
        (b'{"jsonrpc":"2.0","id":2,"method":"ping","x":"' + b"x" * (5 << 20) + b'"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":[]}}\n', -32602),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":["status"]}}\n', -32602),
        (b'{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":7}}\n', -32602),
        (b'{"jsonrpc":"2.0","id":4,"method":"resources/list","params":{"cursor":"-1"}}\n', -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"\\ud800"}\n', -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud800"}}\n', -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"\xff\xfe"}\n', -32700),
    ]
    with talking(project) as talk:
        for line, code in bad:
            talk.send(line)
            heard = talk.hear()
            assert heard["error"]["code"] == code, line[:60]
            # An error names the request's id if the id can be read, so the caller gets an answer.
            assert heard["id"] == (7 if b'"id":7' in line else heard["id"]), line[:60]
        for params in ("null", "{}"):
            talk.send(b'{"jsonrpc":"2.0","id":8,"method":"ping","params":' + params.encode() + b"}\n")
            assert talk.hear() == {"jsonrpc": "2.0", "id": 8, "result": {}}
        talk.send(
            b"\n \n",
            {"jsonrpc": "2.0", "method": "no/such/notice"},
            {"jsonrpc": "2.0", "id": 9, "result": {}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ["x"]}},
        )
        for uri in ("file:///etc/passwd", "loopwright://specs/../../x", "loopwright://runs/../x/evidence",
                    "loopwright://runs/%2e%2e/evidence", "loopwright://runs/a/../../b"):  # fmt: skip
            error = talk.ask("resources/read", {"uri": uri})["error"]
            assert (error["code"], error["data"]["error"]) == (-32002, "unknown_resource")
        for method, params in (("resources/read", {"uri": f"x://{TOKEN}"}), ("tools/call", {"name": TOKEN})):
            assert TOKEN not in json.dumps(talk.ask(method, params)), "what a client sent is masked as well"
        talk.process.stdin.close()
        assert talk.process.wait() == 0
        assert talk.process.stdout.read() == b""
        assert b"Traceback" not in talk.process.stderr.read()


def test_a_build_through_an_agents_eyes(project):
    held_build(project)
    with talking(project) as talk:
        assert talk.call("status")["stages"]["build"] == 1
        assert talk.call("status", slug="greet")["stage"] == "build"
        rows = talk.call("context", slug="greet")["rows"]
        path = next(row["path"] for row in rows if row["path"].endswith("prd-greet.md"))
        assert "greet" in talk.call("context", slug="greet", path=path)["text"]
        for other in ("hello.py", "../SPEC.md", ".loopwright/config.toml"):
            assert talk.refused("context", slug="greet", path=other)["error"] == "not_in_the_manifest"

        assert talk.call("progress", slug="greet", text=f"half of it; {TOKEN}")["counts_for"].startswith("nothing")
        loop_id = talk.call("progress", text="three quarters")["loop_id"]
        told = ok(project, "loop", "logs", loop_id).stdout
        assert "agent says: half of it" in told
        assert "agent says: three quarters" in told
        assert TOKEN not in told

        asked = talk.call("request_decision", slug="greet", question="formal or not?", options=["formal", "casual"])
        assert (asked["id"], asked["status"]) == ("D-1", "open")
        assert talk.call("request_decision", loop=loop_id, question="formal or  not?")["id"] == "D-1"
        assert "formal or not?" in blockers(project, "review")["decision_required_D-1"]["message"]
        ok(project, "answer", "greet", "D-1", "formal")
        again = talk.call("request_decision", slug="greet", question="formal or not?")
        assert again == {"id": "D-1", "status": "answered", "answer": "formal"}

        report = {"confidence": 0.4, "most_likely_wrong": "the name may be empty", "surface": "ui"}
        talk.call("self_report", **report, known_not_in_diff="nothing")
    record = ok(project, "reflect", "--json").json()["reflection"]
    assert (record["confidence"], record["most_likely_wrong"]["surface"]) == (0.4, "ui")


def test_below_the_top_of_a_repository_the_top_is_the_project(project):
    """As for `install`: agents' reports are read from that folder."""
    project.commit("begun")
    below = project.root / "src" / "deep"
    below.mkdir(parents=True)
    with talking(project, cwd=below) as talk:
        said = talk.call("self_report", confidence=0.5)
    assert Path(said["path"]).parent == project.root / ".loopwright"
    assert list(below.iterdir()) == []


def test_checks_are_run_by_the_tool_and_open_no_gate(project):
    hidden = {"id": "VS-1-H", "command": "test -e greeted", "hidden": True}
    held_build(project, slices=[{**SLICE, "checks": [*SLICE["checks"], hidden]}])
    before = blockers(project, "review")
    with talking(project) as talk:
        first = talk.call("run_checks", slug="greet")
        assert (first["passed"], first["hidden"], [one["exit_code"] for one in first["checks"]]) == (False, 1, [1])
        assert "AssertionError" in first["checks"][0]["said"]
        evidence = json.loads(talk.read(f"loopwright://runs/{first['run_id']}/evidence"))
        assert evidence["run_id"] == first["run_id"]
        assert first["run_id"] in {one["name"] for one in talk.ask("resources/list")["result"]["resources"]}
        project.write("hello.py", 'def greet(name):\n    return f"hello {name}"\n')
        assert talk.call("run_checks", slug="greet")["passed"] is True
    assert blockers(project, "review") == before


def test_a_call_that_is_taken_back_ends_at_once_and_is_not_answered(project, wait_until):
    script = "test ! -e $HOME/slow || { touch $HOME/began; sleep 100; }; exit 1"
    held_build(project, slices=[{**SLICE, "checks": [{"id": "VS-1-C1", "command": script, "timeout_s": 200}]}])
    (project.home / "slow").touch()
    began = project.home / "began"
    with talking(project) as talk:
        number = talk.begin("tools/call", {"name": "run_checks", "arguments": {"slug": "greet"}})
        wait_until(began.exists)
        assert talk.ask("ping")["result"] == {}, "while it works"
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        talk.send(cancelled)
        assert talk.call("next")["workflows"][0]["slug"] == "greet"

        began.unlink()
        talk.begin("tools/call", {"name": "run_checks", "arguments": {"slug": "greet"}})
        wait_until(began.exists)
        talk.process.stdin.close()
        assert talk.process.wait() == 0, "the client has gone"
    began.unlink()
    with talking(project) as talk:
        talk.begin("tools/call", {"name": "run_checks", "arguments": {"slug": "greet"}})
        wait_until(began.exists)
        talk.process.send_signal(signal.SIGTERM)
        assert talk.process.wait() == 143


def test_specs_are_resources(project):
    built(project, [{"role": "builder", "run": BUILT}])
    finish(project)
    ok(project, "archive", "greet")
    with talking(project) as talk:
        assert "loopwright://specs/greeting" in {
            one["uri"] for one in talk.ask("resources/list")["result"]["resources"]
        }
        assert "Greeting by name" in talk.read("loopwright://specs/greeting")
        templates = talk.ask("resources/templates/list")["result"]["resourceTemplates"]
        assert {one["name"] for one in templates} == {"spec", "evidence", "summary"}
