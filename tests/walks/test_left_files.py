"""One program of a command can leave files for the next: those that steer the next program need a person."""

from __future__ import annotations

import pytest

FILES = {
    ".gitignore": ".loopwright/\n__pycache__/\n",
    "app/calc.py": "def zero():\n    return 0\n\n\ndef double(n):\n    return n\n",
    "tests/first.py": "import sys; sys.path.insert(0, '.'); from app.calc import zero; assert zero() == 0\n",
    "tests/second.py": "import sys; sys.path.insert(0, '.'); from app.calc import double; from wanted import FOUR\n"
    "assert double(2) == FOUR\n",
    "tests/wanted.py": "FOUR = 4\n",
}
SECOND = "python3 tests/first.py && python3 tests/second.py"
# Bytecode of the same time and size as its source.
BYTECODE = """\
import importlib.util, os, pathlib, py_compile

def zero():
    for module in pathlib.Path(__file__).parent.parent.glob('*/wan?ed.py'):
        other = pathlib.Path(__file__).with_name('other.txt')
        other.write_text('FOUR = 2\\n')
        os.utime(other, ns=(module.stat().st_mtime_ns,) * 2)
        place = pathlib.Path(importlib.util.cache_from_source(str(module)))
        if place.parent.is_file():
            place.parent.unlink()
        py_compile.compile(str(other), str(place))
    return 0

def double(n):
    return n
"""
HONEST = """\
import pathlib

def zero():
    for name in ('log.txt', 'built.py', 'local.json'):
        pathlib.Path(name).write_text('')
    return 0

def double(n):
    return n + n
"""


@pytest.mark.parametrize(
    ("command", "work", "left"),
    [
        (SECOND, BYTECODE, "tests/__pycache__"),
        # The base leaves and removes the first files, too, and no program loads the others by itself.
        (f"rm -rf tests/__pycache__; touch conftest.py; {SECOND}", HONEST, None),
    ],
    ids=["bytecode of what the test expects", "honest"],
)
def test_files_that_steer_the_next_program_of_a_command_are_flagged(loops, command, work, left):
    loops.configure([{"role": "builder", "run": f"cat > app/calc.py <<'END'\n{work}END\n"}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", command).replace('"**"', '"app/**"'))
    for name, text in FILES.items():
        loops.project.write(name, text)
    loops.project.commit("a check in two programs")
    loop_id = loops.new("--task", "double doubles")
    loops.run("start", loop_id, code=14 if left else 0)
    if left is not None:
        (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
        assert (hold["code"], left in hold["message"]) == ("flagged", True)
