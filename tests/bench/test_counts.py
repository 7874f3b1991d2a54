"""What commands ask of the machine stays within its limits."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
counts = importlib.import_module("counts")
sys.path.pop(0)


def test_no_command_opens_its_records_or_starts_processes_more_often_than_its_limits_say(tmp_path):
    project = counts.sample_project(tmp_path)
    over, opened = {}, []
    for command in counts.COMMANDS:
        found = counts.counts_of(project, command.arguments)
        over |= {
            f"{command.name}: {what}": found[what] for what, most in command.limits.items() if found.get(what, 0) > most
        }
        opened.append(found["workflow opens"])
    assert over == {}
    assert all(count >= 1 for count in opened), "something was counted"
    assert {command.name for command in counts.COMMANDS} >= {"plan", "build"}
