"""OpenSpec itself, as the tests' judge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[3] / ".cache" / "agents" / "node_modules"
QUIET = {"OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1", "OPENSPEC_NO_UPDATE_CHECK": "1", "CI": "1", "NO_COLOR": "1"}


def _need_openspec():
    if shutil.which("node") is None or not (CACHE / ".bin" / "openspec").exists():
        pytest.skip("needs openspec (scripts/agents installs it)")


@pytest.fixture
def oracle(tmp_path):
    """Asks OpenSpec's own functions about many inputs in one process."""
    _need_openspec()

    def ask(cases):
        questions = tmp_path / "questions.json"
        questions.write_text(json.dumps(cases))
        script = Path(__file__).with_name("oracle.mjs")
        done = subprocess.run(
            ["node", str(script), str(CACHE / "@fission-ai" / "openspec"), str(questions)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


class OpenSpecProject:
    """A project with an `openspec/` folder, and its CLI."""

    def __init__(self, root, home):
        self.root = root
        self._environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **QUIET}
        (root / "openspec" / "specs").mkdir(parents=True)

    def spec(self, domain):
        return self.root / "openspec" / "specs" / domain / "spec.md"

    def write_spec(self, domain, data):
        self.spec(domain).parent.mkdir(parents=True, exist_ok=True)
        self.spec(domain).write_bytes(data)

    def write_change(self, change_id, deltas):
        folder = self.root / "openspec" / "changes" / change_id
        for domain, data in deltas.items():
            (folder / "specs" / domain).mkdir(parents=True)
            (folder / "specs" / domain / "spec.md").write_bytes(data)
        (folder / "proposal.md").write_text(
            "## Why\nPeople who use this every day need it, and have said so more than once.\n\n"
            "## What Changes\n- what the deltas say\n"
        )
        (folder / "tasks.md").write_text("## 1. Work\n\n- [x] 1.1 Done\n")

    def openspec(self, *argv):
        return subprocess.run(
            [str(CACHE / ".bin" / "openspec"), *argv], cwd=self.root, env=self._environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def asked(self, *argv):
        done = self.openspec(*argv, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def openspec_project(tmp_path):
    _need_openspec()
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return OpenSpecProject(tmp_path / "project", tmp_path / "home")
