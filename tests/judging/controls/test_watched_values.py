"""Which values of a test are watched, and when an expectation counts as moved."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.watched_values import moved_parts, read_record, watch

HEAD = "import pytest\nfrom app import hello\nfrom app.hello import TABLE, greet\n\nEXPECTED = ['a']\n\n\n"


def watched(body, head="def test_a(self, fixture):\n"):
    source = HEAD + head + "".join(f"    {line}\n" for line in body.splitlines())
    return watch(
        source.encode(),
        frozenset({"test_a"}),
        lambda _path: lambda module, _name, level: module.startswith("app") and not level,
        frozenset({"data.json"}),
        name="_record",
    )


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("assert greet('Ann') == TABLE['Ann']", ["TABLE['Ann']"]),
        ("assert greet('Ann') == TABLE.get('Ann')", ["TABLE.get('Ann')"]),
        ("for name, text in TABLE.items():\n    assert greet(name) == text", ["text"]),
        ("with open('app/data.json') as data:\n    text = data.read()\nassert text == greet('Ann')", ["text"]),
        ("got = greet('Ann')\nassert abs(got - 1) < hello.LIMIT", ["hello.LIMIT"]),
        ("self.assertAlmostEqual(greet(1), 2, places=hello.PLACES)", ["hello.PLACES"]),
        ("assert greet(1) == pytest.approx(2, rel=hello.REL)", ["pytest.approx(2, rel=hello.REL)", "hello.REL"]),
        ("assert greet('Ann') in greet.__doc__", ["greet.__doc__"]),
        ("with pytest.raises(ValueError, match=hello.TEXT):\n    greet('')", ["hello.TEXT"]),
        ("assert hello.fill(EXPECTED) == EXPECTED", ["EXPECTED"]),
        # Inputs, constants that are under test themselves, results, and values that no call is compared with.
        ("assert greet(hello.NAME) == 'a'", []),
        ("assert hello.LIMIT == 30", []),
        ("assert fixture.total == greet(1).total", []),
        ("items = [2, 1]\nhello.sort(items)\nassert items == [1, 2]", []),
        ("items = [2, 1]\nassert (hello.sort(items), items) == (None, [1, 2])", []),
        ("out = []\nassert hello.fill(out) == out", []),
        ("assert TABLE[greet(1)] == 'a'", []),
        ("assert greet('Ann') == 'hello Ann'", []),
    ],
)
def test_values_are_watched_that_no_call_of_the_product_gives(body, parts):
    made = watched(body)
    assert ([part.text for part in made.parts.values()] if made is not None else []) == parts


def test_parameters_of_a_test_are_watched():
    made = watched(
        "assert greet(name) == text", "@pytest.mark.parametrize('name, text', TABLE.items())\ndef test_a(name, text):\n"
    )
    assert [part.text for part in made.parts.values()] == ["text"]


FIXTURES = "@pytest.fixture\ndef {0}():\n    {1}\n\n\n"
CLASS = "class Tests({0}):\n    def setUp(self):\n        self.expected = {1}\n\n    def test_a(self):\n"
UTIL = {
    "tests/util.py": (
        "import json\nfrom app import hello\nfrom app.hello import TABLE\n\nWANTED = TABLE['Ann']\n"
        "CLIENT = Client(hello.app)\n\n\ndef expected():\n    return json.load(open('app/data.json'))['Ann']\n\n\n"
        "def asked():\n    return hello.greet('Ann')\n\n\nclass Case(TestCase):\n    def setUp(self):\n"
        "        self.expected = TABLE['Ann']\n"
    ),
    "tests/conftest.py": FIXTURES.format("expected", "from app.hello import TABLE\n    yield TABLE['Ann']"),
}
FROM_UTIL = "from tests.util import CLIENT, WANTED, Case, asked, expected\n\n\ndef test_a():\n"


@pytest.mark.parametrize(
    ("head", "expected", "parts"),
    [
        ("def expected(key):\n    found = TABLE[key]\n    return found\n\n\ndef test_a():\n", "expected('Ann')", 1),
        (FROM_UTIL, "expected()", 1),
        (FROM_UTIL, "WANTED", 1),
        ("from tests import util\n\n\ndef test_a():\n", "util.expected()", 1),
        ("from tests import util\n\n\ndef test_a():\n", "util.WANTED", 1),
        ("def test_a(expected):\n", "expected", 1),
        (FIXTURES.format("mine", "return TABLE['Ann']") + "def test_a(mine):\n", "mine", 1),
        (FIXTURES.format("mine", "return TABLE['Ann']") + "def test_a(mine):\n", "mine.strip()", 1),
        (CLASS.format("TestCase", "hello.GREETING + ' Ann'"), "self.expected", 1),
        (CLASS.format("TestCase", "{'Ann': hello.GREETING}"), "self.expected['Ann']", 1),
        ("from tests.util import Case\n\n\nclass Tests(Case):\n    def test_a(self):\n", "self.expected", 1),
        ("def test_a():\n    check('Ann')\n\n\ndef check(name):\n", "TABLE[name]", 1),
        # What a call of the product gives, or may give, and values that no product has.
        ("def expected():\n    return hello.other('Ann')\n\n\ndef test_a():\n", "expected()", 0),
        ("def expected():\n    hello.fill(TABLE)\n    return TABLE\n\n\ndef test_a():\n", "expected()", 0),
        ("def expected(key):\n    return TABLE[key]\n\n\ndef test_a():\n", "expected(greet('a'))", 0),
        (FROM_UTIL, "asked()", 0),
        (FROM_UTIL, "CLIENT.get('/')", 0),
        (FIXTURES.format("mine", "return run('app/hello.py')") + "def test_a(mine):\n", "mine", 0),
        (FIXTURES.format("mine", "return Client(hello.app)") + "def test_a(mine):\n", "mine.get('/')", 0),
        (FIXTURES.format("mine", "return 'hello'") + "def test_a(mine):\n", "mine", 0),
        ("def test_a(unknown):\n", "unknown", 0),
        (CLASS.format("TestCase", "hello.greet('Bob')"), "self.expected", 0),
        (CLASS.format("TestCase", "TABLE['Ann']") + "        self.expected = greet('Bob')\n", "self.expected", 0),
        ("def expected():\n    return expected() or 'a'\n\n\ndef test_a():\n", "expected()", 0),
    ],
)
def test_an_expected_value_is_followed_through_helpers_set_ups_and_fixtures(head, expected, parts):
    indented = "        " if "class Tests" in head else "    "
    source = f"{HEAD}{head}{indented}assert greet('Ann') == {expected}\n"
    made = watch(
        source.encode(),
        frozenset({"test_a"}),
        lambda _path: lambda module, _name, level: module.startswith("app") and not level,
        frozenset({"data.json", "hello.py"}),
        name="_record",
        path="tests/test_it.py",
        read=lambda path: UTIL[path].encode() if path in UTIL else None,
    )
    assert len(made.parts if made is not None else ()) == parts


@pytest.mark.parametrize(
    ("base", "work", "is_moved"),
    [
        ("begin 1|value 1 a", "begin 1|value 1 b|end 1", True),
        ("begin 1|value 1 a", "begin 1|value 1 b|end 1|begin 1|value 1 a|end 1", False),
        ("begin 1|value 1 a|end 1", "begin 1|value 1 b|end 1", False),
        ("begin 1|value 1 ?", "begin 1|value 1 b|end 1", False),
        ("begin 1|value 1 overwritten", "begin 1|value 1 as written|end 1", False),
        ("begin 1|value 1 a", "", False),
    ],
    ids=["moved", "longer", "held before", "no plain data", "no longer overwritten", "not recorded"],
)
def test_an_expectation_moved_if_it_failed_with_another_value(base, work, is_moved):
    made = watched("assert greet('Ann') == TABLE['Ann']")

    def recorded(text):
        rows = (line.split(" ", 2) for line in text.split("|") if line)
        return read_record("".join("\t".join(["1", *row, ""][:4]) + "\n" for row in rows))

    assert bool(moved_parts(made.parts, [recorded(base)], recorded(work))) is is_moved


def test_an_unstable_value_did_not_move():
    made = watched("assert greet('Ann') == TABLE['Ann']")
    runs = [read_record(f"1\tbegin\t1\t\n1\tvalue\t1\t{value}\n") for value in "abc"]
    assert moved_parts(made.parts, runs[:1], runs[2])
    assert not moved_parts(made.parts, runs[:2], runs[2])
