"""What commands ask of the machine stays within its limits; `build` has limits of its own in `make bench`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
counts = importlib.import_module("counts")
sys.path.pop(0)


def test_plan_and_approve_open_a_workflow_seldom_and_wait_for_the_disk_seldom(tmp_path):
    project = counts.sample_project(tmp_path)
    for command in counts.COMMANDS[:2]:
        found = counts.counts_of(project, command.arguments)
        assert {what: found[what] for what, most in command.limits.items() if found.get(what, 0) > most} == {}
        assert found["workflow opens"] >= 1, "something was counted"
        assert found["fsyncs"] >= 1
