"""Every agent shows every item that is asked of it, or it is said why not: no gap in the table of the docs."""

from __future__ import annotations

import importlib
import sys

from tests.real_agents.agent_kit import AGENTS, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
matrix = importlib.import_module("agents_matrix")
sys.path.remove(str(ROOT / "scripts"))


def test_each_agent_shows_each_item():
    shown = matrix.shown()
    wanted = {(agent, item) for agent in AGENTS for item in matrix.ITEMS}
    assert sorted(wanted - set(shown)) == sorted(matrix.NOT_SHOWN), "what no test shows is said, and nothing else"
    assert sorted(set(shown) - wanted) == [], "marks that are in no row of the table"
    assert {shown[agent, "lies"] for agent in ("claude", "codex")} == {10}
