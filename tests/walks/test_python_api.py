"""The examples of docs/python-api.md, run as a user's program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from loopwright.testing import sample

_PAGE = Path(__file__).parents[2] / "docs" / "python-api.md"
_TURNS = [{"role": "planner", "answer": json.dumps(sample.REPLY)}, {"role": "builder", "run": sample.BUILT}]
_SETTINGS = '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n'


@pytest.fixture
def prepared(project):
    for name, text in sample.FILES.items():
        project.write(name, text)
    project.commit("a greeting")
    project.write("../SPEC.md", sample.SPEC)
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": _TURNS}))
    project.write(".loopwright/config.toml", _SETTINGS)
    return project


def test_the_examples_of_the_page_run_from_top_to_bottom(prepared):
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", _PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE))
    prepared.write("../program.py", program)

    done = subprocess.run(
        [sys.executable, "-P", str(prepared.root.parent / "program.py")],
        cwd=prepared.root, env=prepared.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith(" OK")
    assert "Completed" in lines
    assert "approve" in lines
    assert lines[-2] == "Failed"
    assert "no-such-workflow" in lines[-1]
    assert "hello {name}" in (prepared.root / "hello.py").read_text()
