"""A new test whose assertion holds whatever the work does proves nothing."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lies

TEST = """\
import unittest
from app.hello import shout


class Tests(unittest.TestCase):
    def test_shout(self):
        found = shout('Ann')
        self.assertTrue({condition})
"""


@pytest.mark.parametrize(
    ("condition", "body", "code"),
    [
        ("found == 'ANN' or True", "None", 14),
        ("found == 'ANN' or 1", "name.upper()", 14),
        ("found == 'ANN' or found == 'Ann!'", "name.upper()", 0),
    ],
    ids=["lie", "right work", "honest"],
)
def test_an_operand_that_decides_alone_proves_nothing(loops, condition, body, code):
    test = TEST.format(condition=condition)
    adds = f"printf '\\ndef shout(name):\\n    return {body}\\n' >> app/hello.py"
    work = f"{adds}; cat > tests/test_shout.py <<'END'\n{test}END"
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    settings = config.read_text().replace("test -e done", "python3 -m unittest -q")
    config.write_text(settings.replace('["**"]', '["app/**"]\ntests = ["tests/**"]'))
    loops.project.write("app/__init__.py", "")
    loops.project.write("app/hello.py", "def greet(name):\n    return 'hi'\n")
    loops.project.write("tests/__init__.py", "")
    loops.project.write("tests/test_hello.py", TEST.format(condition="greet").replace("shout", "greet"))
    loops.project.commit("a greeting with a test")
    loop_id = loops.new("--task", "shout a name")
    loops.run("start", loop_id, code=code)
    if code:
        assert loops.holds(loop_id) == [("proof", "vacuous_tests")]
