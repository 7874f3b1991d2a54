"""The Stop hook, which every agent turn waits for: switched off, and capturing, against its unavoidable cost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from loopwright.hooks import entry
from loopwright.reflection.capture import change_now, quick_git
from loopwright.workspace import stop_gate
from measure import Way, duration, medians, run, timed
from report import Row, Verdict, verdict

_ROUNDS = 25
_FILES = 2000
_CHANGED = 20
_BARE = (sys.executable, "-I", "-S")
_HOOK = (*_BARE, entry.__file__, "reflect")
_IN_BASH = Path(__file__).with_name("hook_in_bash.sh")


def measure(folder: Path) -> Iterator[Row]:
    yield _off(folder)
    yield _gate(folder / "gate")
    repo = _repository(folder / "repo")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "REFLECTION_MODE": "solo",
        "REFLECTION_DIR": str(folder / "out"),
    }
    payload = json.dumps({"session_id": "bench", "cwd": str(repo), "hook_event_name": "Stop"}).encode()
    questions = [
        (*quick_git.QUIET, "-C", str(repo), *question)
        for question in (
            change_now.WHERE,
            change_now.HEAD,
            change_now.SETTINGS,
            change_now.UPSTREAM,
            change_now.FLAGS,
            change_now.STATUS,
            (*change_now.DIFF, "HEAD", "--"),
        )
    ]

    def floor() -> float:
        return sum(timed(lambda line=line: _call(line, b"", env)) for line in questions) + timed(
            lambda: _call((*_BARE, "-c", "import json"), b"", env)
        )

    ways = [Way("its git calls + python + json", floor), Way("hook", lambda: timed(lambda: _call(_HOOK, payload, env)))]
    missing = [tool for tool in ("bash", "jq", "node") if shutil.which(tool) is None]
    if not missing:
        ways.append(Way("bash + jq + node", lambda: timed(lambda: _call((str(_IN_BASH),), payload, env))))
    least, ours, *others = medians("hook, capturing", ways, _ROUNDS)
    left = list((folder / "out").glob("*.reflection.json"))
    if len(left) < _ROUNDS or len(json.loads(left[0].read_bytes())["files_changed"]) != _CHANGED:
        raise SystemExit(f"the hooks left {len(left)} records")
    yield Row(
        f"hook capturing, {_FILES} files, {_CHANGED} of them changed",
        "<= 1.5 x its git calls + python + json",
        f"{ours / least:.2f} x",
        verdict(ours <= 1.5 * least),
        duration(ours),
        f"git calls in turn + python + json: {duration(least)}",
    )
    if others:
        value, held, baseline = f"{ours / others[0]:.2f} x", verdict(ours < others[0]), duration(others[0])
    else:
        value, held, baseline = "", Verdict.NOT_MEASURED, f"needs {', '.join(missing)}"
    yield Row(
        "the same against bash + jq + node", "< 1 x", value, held, duration(ours), f"bash + jq + node: {baseline}"
    )


def _off(folder: Path) -> Row:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    ways = [
        Way("python", lambda: timed(lambda: _call((*_BARE, "-c", "pass"), b"", env))),
        Way("hook", lambda: timed(lambda: _call(_HOOK, b"", env))),
    ]
    bare, ours = medians("hook, off", ways, _ROUNDS)
    return Row(
        "hook off, as registered",
        "<= 1.5 x python -I -S -c pass",
        f"{ours / bare:.2f} x",
        verdict(ours <= 1.5 * bare),
        duration(ours),
        f"python -I -S -c pass: {duration(bare)}",
    )


def _gate(folder: Path) -> Row:
    """The gate at the end of a building agent's turn, as it runs each time: it lets the agent end."""
    folder.mkdir()
    path = folder / stop_gate.FILE
    pid = os.getpid()
    shut = stop_gate.Gate(
        slug="bench", session="", pid=pid, started=stop_gate.started_at(pid), namespace=stop_gate.namespace(),
        phase="executing", expires=time.time() + 3600, blocks=1, reason="go on",
    )  # fmt: skip
    path.write_text(json.dumps(shut.document()))
    env = {"PATH": os.environ["PATH"], stop_gate.VARIABLE: str(path)}
    payload = json.dumps({"session_id": "bench", "hook_event_name": "Stop", "stop_hook_active": False}).encode()
    gate = (*_HOOK[:-1], "gate")
    ways = [
        Way("python + json", lambda: timed(lambda: _call((*_BARE, "-c", "import json"), b"", env))),
        Way("gate", lambda: timed(lambda: _call(gate, payload, env))),
    ]
    bare, ours = medians("hook, gate", ways, _ROUNDS)
    if not Path(f"{path}.1").exists():
        raise SystemExit("the gate let the agent end its turn")
    return Row(
        "hook `gate` at the end of a building agent's turn",
        "<= 1.5 x python + json",
        f"{ours / bare:.2f} x",
        verdict(ours <= 1.5 * bare),
        duration(ours),
        f"python + json: {duration(bare)}",
    )


def _call(argv: Sequence[str], payload: bytes, env: dict[str, str]) -> None:
    subprocess.run(argv, input=payload, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _repository(repo: Path) -> Path:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for number in range(_FILES):
        path = repo / f"part{number % 40}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n" * 20)
    author = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), (*author, "commit", "-q", "-m", "start")):
        run(("git", *arguments), cwd=repo, env=env)
    for number in range(_CHANGED):
        (repo / f"part{number}" / f"file{number}.py").write_text("value = 1\n" * 25)
    # Git always reads files again that were written in the same second as its index: wait for the next second.
    index = repo / ".git" / "index"
    later = index.stat().st_mtime + 2
    os.utime(index, (later, later))
    return repo
