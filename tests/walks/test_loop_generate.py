"""`loopwright loop task generate`: an agent's tasks, all or none, paid for like any turn."""

from __future__ import annotations

import json

import pytest

from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn


def planned(*descriptions, **more):
    return {"role": "planner", "answer": json.dumps({"tasks": [{"description": one} for one in descriptions]}), **more}


def descriptions(loops, loop_id):
    path = loops.project.own / "loops" / f"{loop_id}.tasks.jsonl"
    return [json.loads(line)["description"] for line in path.read_text().splitlines()]


def test_tasks_come_from_the_description_and_the_existing_files(loops):
    again = planned("three", expect="- T-2 (pending): two")
    loops.configure([planned("one", "two", "left out", usd=0.5, expect="a plan of two"), again])
    loop_id = loops.new("--description", "a plan of two")
    done = loops.run("task", "generate", loop_id, "--count", "2")
    assert done.stdout.splitlines() == ["  T-1 [scripted] one", "  T-2 [scripted] two", "tasks added: 2"]
    found = loops.run("task", "generate", loop_id, "--json").json()
    assert (found["added"], [task["id"] for task in found["tasks"]]) == (True, ["T-3"])
    assert descriptions(loops, loop_id) == ["one", "two", "three"]
    assert (loops.spent(loop_id)["usd"], loops.spent(loop_id)["turns"]) == (0.5, 2)
    assert len(list(loops.project.own.glob("loops/*/turns/none-planner*/prompt.md"))) == 2
    assert list(loops.project.sandboxes.iterdir()) == []


def test_a_look_adds_nothing_and_is_paid_for(loops):
    loops.configure([planned("one", usd=0.5), planned("another")])
    loop_id = loops.new("--description", "d")
    assert "none added" in loops.run("task", "generate", loop_id, "--dry-run").stdout
    assert loops.run("task", "generate", loop_id, "--dry-run", "--json").json()["added"] is False
    assert descriptions(loops, loop_id) == []
    assert loops.spent(loop_id)["usd"] == 0.5


@pytest.mark.parametrize(
    ("turn", "said", "way_on"),
    [
        ({"role": "planner", "answer": "no json"}, "requested JSON", "--agent`; then repeat the command"),
        (
            {"role": "planner", "answer": '{"tasks": [{"description": "one"}, {"description": 7}]}'},
            "requested JSON",
            "",
        ),
        (planned(), "led to no task", ""),
        ({"role": "planner", "fail": "rate_limited"}, "rate_limited", "repeat the command later"),
        ({"role": "planner", "fail": "crashed"}, "crashed", "repeat the command, or use another agent"),
        (
            {"role": "planner", "fail": "not_logged_in"},
            "not_logged_in",
            "`loopwright doctor` shows what the agent needs",
        ),
        ({"role": "planner", "fail": "budget_used"}, "budget_used", "raise the limit of the agent"),
    ],
)
def test_an_invalid_list_of_tasks_adds_nothing(loops, turn, said, way_on):
    loops.configure([turn, turn])
    loop_id = loops.new("--description", "d")
    refused = loops.run("task", "generate", loop_id, code=1)
    assert refused.stderr.startswith("LOOP_REFUSED: ")
    assert said in refused.stderr
    assert way_on in refused.stderr
    assert descriptions(loops, loop_id) == []
    assert loops.spent(loop_id)["turns"] == (2 if said == "requested JSON" else 1), "it is asked for once more"
    assert loops.shown(loop_id)["status"] == "created"


def test_generating_tasks_stays_within_the_budget_before_and_during_the_turn(loops):
    uses = 'while :; do echo \'{"usd": 0.3}\' >> "$LOOPWRIGHT_USAGE"; sleep 0.02; done'
    loops.configure([{"role": "planner", "run": uses}, planned("one")])
    loop_id = loops.new("--description", "d", "--usd", "1")
    assert "the loop has used" in loops.run("task", "generate", loop_id, code=1).stderr
    spent = loops.spent(loop_id)["usd"]
    assert spent > 1
    refused = loops.run("task", "generate", loop_id, code=1).stderr
    assert "the loop has used" in refused
    assert loops.spent(loop_id)["usd"] == spent
    assert descriptions(loops, loop_id) == []
    assert f"raise the limit: `loopwright loop resume {loop_id} --no-start --usd …`" in refused
    loops.run("resume", loop_id, "--no-start", "--usd", "1000")
    assert loops.shown(loop_id)["status"] == "created"
    loops.run("task", "generate", loop_id)
    assert descriptions(loops, loop_id) == ["one"]


def test_not_while_a_worker_drives_the_loop(loops, wait_until):
    mark = loops.project.root / "reached"
    loops.configure([{"role": "builder", "run": f"touch {mark}; sleep 1000"}, planned("one")])
    loop_id = loops.new("--task", "t")
    with loops.started(loop_id):
        wait_until(mark.exists)
        refused = loops.run("task", "generate", loop_id, code=1)
        assert "is already driven by process" in refused.stderr


def test_another_agent_can_plan(loops):
    answer = json.dumps({"tasks": [{"description": "by mine", "tool": "bash", "mode": "analysis"}]})
    loops.configure(
        more=f"[agents.mine]\nkind = \"command\"\ncommand = '''echo '{answer}' > $LOOPWRIGHT_ANSWER'''",
        isolation="auto",
    )
    loop_id = loops.new("--description", "d")
    assert "T-1 [bash] by mine" in loops.run("task", "generate", loop_id, "--agent", "mine").stdout
    assert "neither a description" in loops.run("task", "generate", loops.new(), code=1).stderr


OBSTACLES = {
    "link": "ln -s {victim} $name",
    "pipe": "mkfifo $name",
    "folder": "mkdir -p $name/x; echo > $name/x/y",
}


@pytest.mark.parametrize("kind", OBSTACLES)
def test_obstacles_under_our_names_in_the_mailbox_are_replaced_by_the_repair(loops, kind):
    """In one sandbox, by a command that is asked again: we write through no link, and wait for no pipe."""
    victim = loops.project.root.parent / "victim"
    victim.write_text("mine")
    answer = json.dumps({"tasks": [{"description": "one"}]})
    names = "turn.json checks.json prompt.md usage.jsonl answer network context"
    script = (
        f"if test -e been; then echo '{answer}' > $LOOPWRIGHT_ANSWER; cp $LOOPWRIGHT_MAILBOX/turn.json told; "
        f"echo '{{\"tokens\": 7}}' >> $LOOPWRIGHT_USAGE; else echo > been; cd $LOOPWRIGHT_MAILBOX; "
        f"for name in {names}; do rm -rf $name; {OBSTACLES[kind].format(victim=victim)}; done; fi"
    )
    loops.configure(more=f'[agents.own]\nkind = "command"\ncommand = {json.dumps(script)}\n', isolation="auto")
    loop_id = loops.new("--description", "d")
    loops.run("task", "generate", loop_id, "--agent", "own")
    assert victim.read_text() == "mine"
    assert descriptions(loops, loop_id) == ["one"]
    assert loops.spent(loop_id)["tokens"] == 7


@pytest.mark.needs("bwrap")
def test_a_command_with_its_own_hosts_reaches_only_these_hosts(loops):
    """The command declares no needs, and reaches its hosts by our program, which it must see."""
    answer = json.dumps({"tasks": [{"description": "one"}]})
    with model_server(ModelTurn("x")) as model:
        port = model.url.rpartition(":")[2]
        asks = (
            'exec 3<>/dev/tcp/127.0.0.1/$0; printf "GET /v1/models HTTP/1.0\\r\\n\\r\\n" >&3; '
            "grep -q models <&3 && ! (exec 4<>/dev/tcp/127.0.0.1/9) 2>/dev/null "
            "&& exec 5<>/dev/tcp/127.0.0.1/3128 "
            '&& printf "CONNECT Evil.example:443 HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n" >&5 && grep -q 403 <&5'
        )
        script = f"bash -c '{asks}' {port} && echo '{answer}' > $LOOPWRIGHT_ANSWER"
        loops.configure(
            more=f'[agents.own]\nkind = "command"\ncommand = {json.dumps(script)}\nhosts = ["localhost:{port}"]\n'
        )
        loops.project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "strict"
        loop_id = loops.new("--description", "d")
        loops.run("task", "generate", loop_id, "--agent", "own")
    assert descriptions(loops, loop_id) == ["one"]
    (record,) = loops.project.own.glob("loops/*/turns/none-planner/turn.json")
    turn = json.loads(record.read_text())
    assert (turn["network"], turn["refused"]) == (f"only 127.0.0.1:{port}", ["evil.example:443"])
    log = (record.parent / "program-1.log").read_text()
    assert "the network proxy refused: evil.example:443; to allow an address, add it to agents.own.hosts\n" in log


def test_an_agent_is_not_told_to_ask_without_a_reader_and_its_cost_counts(loops):
    asks = (
        'mkdir -p $LOOPWRIGHT_MAILBOX/decisions; echo \'{"question": "which?"}\' > $LOOPWRIGHT_MAILBOX/decisions/a.json'
    )
    loops.configure([planned("one", run=f'test -z "$LOOPWRIGHT_DECISIONS" && {asks}', usd=1)])
    loop_id = loops.new("--description", "d")
    loops.run("task", "generate", loop_id)
    assert descriptions(loops, loop_id) == ["one"]
    (prompt,) = loops.project.own.glob("loops/*/turns/none-planner/prompt.md")
    assert "LOOPWRIGHT_DECISIONS" not in prompt.read_text()
    assert loops.shown(loop_id)["loopwright"].get("decisions") is None
