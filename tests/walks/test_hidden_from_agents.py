"""Nothing that Loopwright serves to agents has the names, the command or the tests of a hidden check."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from tests.walks.mcp_talk import talking
from tests.walks.workflow_kit import BUILT, CHECK, ONLY_HELLO, SLICE, ok, planner, prepare

SECRET = re.compile(r"VS-1-ZOE|zoes_tests|test_zoe|Zoë")
HIDDEN = {"id": "VS-1-ZOE", "command": "python3 -m unittest -q zoes_tests", "hidden": True}
TESTS = """import unittest
import hello


class Tests(unittest.TestCase):
    def test_zoe(self):
        self.assertEqual(hello.greet('Zoë'), 'hello Zoë')
"""
KNOWS_ANN = "printf 'def greet(name):\\n    return \"hello Ann\"\\n' > hello.py"
# What the mailbox has becomes part of the work, which the test can read.
LOOKS = '{ grep -rhE "VS-1-ZOE|zoes_tests|test_zoe" "$LOOPWRIGHT_MAILBOX"; true; } > found.txt'


@pytest.fixture
def build(project):
    """A build with a hidden check, and the work of its builder."""

    def make(work):
        builder = {"role": "builder", "run": f"{work}; {LOOKS}"}
        checks = [{"id": "V", "command": CHECK}, HIDDEN]
        prepare(
            project, [planner(slices=[{**SLICE, "checks": checks}]), builder, builder],
            settings='[project]\nsource = ["hello.py", "found.txt"]\n[loop]\nno_progress = 1\n',
        )  # fmt: skip
        project.write(".loopwright/workflows/greet/hidden/zoes_tests.py", TESTS)
        project.at("approved")
        project.run("build", "greet", "--agent", "scripted")

    return make


def found_by_builder(project):
    patch = next((project.own / "loops").glob("*.progress/**/*.patch")).read_text()
    assert "found.txt" in patch
    return SECRET.findall(patch)


def all_that_mcp_says(project):
    """Every tool that reads and every resource of the server, as one text."""
    with talking(project) as talk:
        said = [talk.call("status"), talk.call("status", slug="greet"), talk.call("next")]
        rows = talk.call("context", slug="greet")["rows"]
        said += [rows, *(talk.call("context", slug="greet", path=row["path"]) for row in rows if row["exists"])]
        runs = [one["uri"] for one in talk.ask("resources/list")["result"]["resources"]]
        assert len(runs) > 2
        said += [talk.read(uri) for uri in runs]
        summaries = (talk.ask("resources/read", {"uri": uri.replace("evidence", "summary")}) for uri in runs)
        said += [*summaries, talk.call("run_checks", slug="greet")]
    return [json.dumps(one, ensure_ascii=False) for one in said]


@pytest.mark.parametrize("work", [BUILT, KNOWS_ANN])
def test_an_agent_never_reads_what_a_hidden_check_is_called(project, build, work):
    build(work)
    assert found_by_builder(project) == []
    said = all_that_mcp_says(project)
    leaks = [
        (match.group(), text[max(0, match.start() - 60) :][:140]) for text in said if (match := SECRET.search(text))
    ]
    assert leaks == []
    assert any("hidden check 1" in text for text in said), "it may know that there is one"
    seen = [json.loads(json.loads(text)) for text in said if '\\"steps\\"' in text]
    assert any(step["id"] == "V" and step["commands"] for run in seen for step in run["steps"]), "other steps stay"
    others = [step for run in seen for step in run["steps"] if step["id"] not in ("V", "tests")]
    assert others
    assert all(not step["commands"] and not step.get("tests") for step in others)
    # People see everything.
    runs = [path.name for path in (project.own / "runs").iterdir()]
    assert any("VS-1-ZOE" in (project.own / "runs" / name / "evidence.json").read_text() for name in runs)
    if work == KNOWS_ANN:
        assert "VS-1-ZOE" in ok(project, "status", "greet").stdout


def test_a_reviewer_never_reads_what_a_hidden_check_is_called(project):
    looks = '! grep -rqE "VS-1-ZOE|zoes_tests|test_zoe" "$LOOPWRIGHT_MAILBOX"'
    answer = '{"verdict": "approve", "summary": "ok", "findings": []}'
    checks = [{"id": "V", "command": CHECK}, HIDDEN]
    prepare(
        project, [planner(slices=[{**SLICE, "checks": checks}]), {"role": "builder", "run": BUILT}],
        settings=f'{ONLY_HELLO}[agents.second]\nkind = "scripted"\nturns = ".loopwright/second.yaml"\n',
    )  # fmt: skip
    smells = {"role": "smell reviewer", "answer": '{"verdict": "pass"}'}
    turns = [{"role": "reviewer", "run": looks, "answer": answer}] * 2 + [smells]
    project.write(".loopwright/second.yaml", yaml.safe_dump({"turns": turns}))
    project.write(".loopwright/workflows/greet/hidden/zoes_tests.py", TESTS)
    project.at("built")
    assert "VS-1-ZOE" in (project.own / "workflows" / "greet" / "execution-record.md").read_text()
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet", "--reviewer", "second")
    assert project.ask("status", "greet")["review"]["verdict"] == "approve"
