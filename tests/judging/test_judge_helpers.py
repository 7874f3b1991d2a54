"""Which modules judge the product because a judging script keeps its assertions there."""

from __future__ import annotations

import pytest

from loopwright.judging.judge_helpers import judge_helpers

CHECK = "import hello\nfrom asserts import same\n\nsame(hello.greet('Ann'), 'hello Ann')\n"
SAME = "def same(found, expected):\n    assert found == expected\n"
EXITS = "import sys\n\ndef same(found, expected):\n    if found != expected:\n        sys.exit(1)\n"
HELLO = "def greet(name):\n    assert isinstance(name, str)\n    return 'hi'\n"


@pytest.mark.parametrize(
    ("files", "helpers"),
    [
        ({}, {"asserts.py"}),
        ({"asserts.py": EXITS}, {"asserts.py"}),
        ({"check.py": CHECK.replace("from asserts import same", "import asserts as a").replace("same(", "a.same(")},
         {"asserts.py"}),
        ({"hello.py": f"from asserts import same\n{HELLO}"}, set()),
        ({"asserts.py": "def same(found, expected):\n    return found == expected\n"}, set()),
        ({"check.py": "import hello\n\nassert hello.greet('Ann') == 'hello Ann'\n"}, set()),
        ({"check.py": "import asserts\n\nasserts.same(1, 1)\n"}, set()),
        ({"check.py": "from elsewhere import same\nsame(f(), 1)\n"}, set()),
        ({"check.py": "not python ("}, set()),
    ],
)  # fmt: skip
def test_a_helper_asserts_for_a_script_and_the_product_does_not_import_it(files, helpers):
    files = {"check.py": CHECK, "asserts.py": SAME, "hello.py": HELLO, **files}
    assert judge_helpers({"check.py", "gone.py"}, frozenset(files), lambda path: files[path].encode()) == helpers
