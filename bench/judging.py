"""What judging one iteration of a loop costs, against the user's own test command on the same work.

The base is known from an earlier loop. All runs count: of the earlier tests, of new tests on both trees, and with
inverted expectations, where the contract needs them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from measure import Way, duration, medians, settled
from report import Row, verdict
from workspace import Workspace

_ROUNDS = 5
_TIMED = Path(__file__).with_name("timed_judging.py")
# A sandbox shows the machine's own Python, and not the one in a folder of a developer.
_COMMAND = "python3 -B -m unittest discover -t . -s tests"
_FILES, _TESTS, _EACH_S = 10, 6, 0.05
_MOST, _MORE_S = 1.3, 0.3
_PROVEN, _HELD = 0, 14
_SOURCE = "def plus(a, b):\n    return a + b\n\n\ndef double(n):\n    return 0\n"
_HEAD = "import time\nimport unittest\n\nfrom calc import double, plus\n\n\nclass Tests(unittest.TestCase):\n"
_TEST = """\
    def test_plus_{number}(self):
        time.sleep({each})
        self.assertEqual(plus({number}, 2), {number} + 2)
"""
_FAILING = f"{_HEAD}    def test_double(self):\n        self.assertEqual(double(2), 4)\n"
_FIX = "sed -i 's/return 0/return n + n/' calc.py"


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work: what its agent does, whether a test of the base fails for it, and how its loop ends."""

    name: str
    does: str
    has_failing_test: bool
    exit_code: int


_NEW_TEST = f"cat > tests/test_double.py <<'END'\n{_FAILING}END\n"
_KINDS = (
    Work("work that no test proves", "sed -i 's/a + b/b + a/' calc.py", has_failing_test=False, exit_code=_HELD),
    Work("a fix of a failing test", _FIX, has_failing_test=True, exit_code=_PROVEN),
    Work("a fix with a new test", f"{_FIX}\n{_NEW_TEST}", has_failing_test=False, exit_code=_PROVEN),
)


def measure(folder: Path) -> Iterator[Row]:
    """A row for each kind of work."""
    for number, work in enumerate(_KINDS):
        yield _judged(folder / str(number), work)


def _judged(folder: Path, work: Work) -> Row:
    workspace = _project(folder, work)
    report = folder / "seconds.json"
    parts: list[str] = []

    def judged() -> float:
        made = json.loads(workspace.run("loop", "new", "bench", "--task", "t", "--json"))
        argv = (sys.executable, "-P", str(_TIMED), str(report), "loop", "start", made["loop_id"])
        done = subprocess.run(argv, cwd=workspace.root, env=workspace.env, capture_output=True, check=False)
        if done.returncode != work.exit_code:
            raise SystemExit(f"{work.name} ended with {done.returncode}: {done.stdout.decode()}")
        seconds = json.loads(report.read_bytes())
        names = [(run.removeprefix(f"{made['loop_id']}-"), taken) for run, taken in seconds["runs"]]
        parts[:] = [f"{name} {duration(taken)}" for name, taken in names]
        rest = seconds["judging"] - sum(taken for _, taken in names)
        parts.append(f"ours {duration(rest)}")
        return float(seconds["judging"])

    ways = [Way("own command", _own_command(folder, workspace, work)), Way("judging", judged)]
    own, ours = medians(work.name, ways, _ROUNDS)
    return Row(
        f"judging {work.name}; base known",
        f"<= {_MOST} x own command + {_MORE_S * 1000:.0f} ms",
        f"{ours / own:.2f} x, +{(ours - _MOST * own) * 1000:.0f} ms",
        verdict(ours <= _MOST * own + _MORE_S),
        f"{duration(ours)}: {', '.join(parts)}",
        f"own command: {duration(own)}",
    )


def _own_command(folder: Path, workspace: Workspace, work: Work) -> Callable[[], float]:
    """The test command in a clone with the work, as a person would run it."""
    clone = folder / "clone"
    subprocess.run(("git", "clone", "-q", workspace.root, clone), env=workspace.env, check=True)
    subprocess.run(("bash", "-c", work.does), cwd=clone, env=workspace.env, check=True)

    def once() -> float:
        return settled(
            lambda: subprocess.run(
                ("bash", "-c", _COMMAND), cwd=clone, env=workspace.env, capture_output=True, check=True
            )
        )

    return once


def _project(folder: Path, work: Work) -> Workspace:
    workspace = Workspace(folder)
    root = workspace.root
    (root / "calc.py").write_text(_SOURCE, encoding="utf-8")
    (root / "tests").mkdir()
    for number in range(_FILES):
        tests = "\n".join(_TEST.format(number=test, each=_EACH_S) for test in range(_TESTS))
        (root / "tests" / f"test_{number}.py").write_text(f"{_HEAD}{tests}", encoding="utf-8")
    if work.has_failing_test:
        (root / "tests" / "test_double.py").write_text(_FAILING, encoding="utf-8")
    (root / "tests" / "__init__.py").touch()
    (root / ".gitignore").write_text(".loopwright/\n__pycache__/\n", encoding="utf-8")
    workspace.commit()
    own = root / ".loopwright"
    own.mkdir()
    turns = [{"role": "builder", "run": work.does}] * (_ROUNDS + 2)
    (own / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}), encoding="utf-8")
    (own / "config.toml").write_text(
        f'[project]\nsource = ["calc.py"]\ntests = ["tests/**"]\ntest_command = {json.dumps(_COMMAND)}\n'
        '[agents]\ndefault = "scripted"\n[agents.scripted]\nturns = ".loopwright/turns.yaml"\n',
        encoding="utf-8",
    )
    return workspace
