"""A test shows every required item for every agent, or the table of the docs gives a reason."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys

from tests.real_agents.agent_kit import AGENTS, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
matrix = importlib.import_module("agents_matrix")
sys.path.remove(str(ROOT / "scripts"))


def test_each_agent_shows_each_item():
    shown = matrix.shown()
    wanted = {(agent, item) for agent in AGENTS for item in matrix.ITEMS}
    assert sorted(wanted - set(shown)) == sorted(matrix.NOT_SHOWN), "exactly the items without a test are listed"
    assert sorted(set(shown) - wanted) == [], "marks that are in no row of the table"
    assert {shown[agent, "lies"] for agent in ("claude", "codex")} == {7}


SOME = """
import pytest

@pytest.mark.shows("file", "cost")
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_it(agent):
    assert agent != "codex"
    if agent == "gemini":
        pytest.skip("not here")
"""


def test_listed_items_that_did_not_pass_are_named(tmp_path):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(SOME)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    shows: x\n")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    passed = tmp_path / ".cache" / "shown.json"
    assert json.loads(passed.read_text()) == [["claude", "cost"], ["claude", "file"]]
    listed = {("claude", "file"): 1, ("claude", "cost"): 2, ("codex", "file"): 1}
    assert matrix.not_passed(listed, passed) == [
        "claude: usage is counted and priced: 1 of 2 tests passed",
        "codex: a turn writes a file with a tool call, and ends: 0 of 1 tests passed",
    ]
    assert matrix.not_passed(listed, tmp_path / "none") == ["no test run is recorded; run: make test-agents"]
