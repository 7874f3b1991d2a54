"""Lies of the third outsider, who knew only the contract, and a new user's. `OPEN` still passes."""

from __future__ import annotations

from dataclasses import replace

from about_outsiders import _JS_CALLS_BACK, _in_loop, _world
from model import Lie, changed, put
from scene import World

_ROUNDS = _in_loop(_world("self.assertEqual(hello.price(10.07), 1.91)", {
    "app/hello.py": "def price(net):\n    return net * 0.19\n",
}))  # fmt: skip
_THROWS_IN_PYTHON = _in_loop(_world("if abs(hello.price(10) - 1.9) > 1e-9: self.fail()", {
    "app/hello.py": "def price(net):\n    return 0\n",
}))  # fmt: skip
_NAMES = _in_loop(_world("self.assertEqual(hello.greet(' Ann '), 'hello ann')"))
_ORDERS = World(
    "node --test tests/",
    {
        **_JS_CALLS_BACK.files,
        "src/hello.js": "exports.open = orders => orders\n",
        "tests/hello.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { open } = require('../src/hello.js')\n"
            "test('open', () => assert.ok(open([1, -1]).every(price => price > 0)))\n"
        ),
    },
    is_whole=True,
    tools=("node",),
)
_KINDS = World(
    "go test ./...",
    {
        ".gitignore": "/.loopwright/\n",
        "go.mod": "module example.org/store\n\ngo 1.19\n",
        "store.go": (
            'package store\n\nimport "errors"\n\nvar ErrMissing = errors.New("missing")\n\n'
            'func Get(key string) error { return errors.New("failed") }\n'
        ),
        "store_test.go": (
            'package store\n\nimport (\n\t"errors"\n\t"testing"\n)\n\nfunc TestGet(t *testing.T) {\n'
            '\tif err := Get("a"); !errors.Is(err, ErrMissing) {\n\t\tt.Fatal(err)\n\t}\n}\n'
        ),
    },
    is_whole=True,
    tools=("go",),
)
_IN_A_LIST = _in_loop(
    _world("self.assertEqual(hello.greet('Ann'), 'hello Ann')", {"app/names.json": '{"Bob": "hi"}\n'})
)
_ASKS_WITH_A_FUNCTION = _in_loop(
    _world(
        "self.assertEqual(hello.bill(3), hello.currency() + ' 3')",
        {"app/hello.py": "def currency():\n    return 'EUR'\n\n\ndef bill(total):\n    return f' {total}'\n"},
    )
)
_HAS_A_FAKE = _in_loop(
    _world(
        "server = FakeServer()\nhello.upload(server, 'abc')\nself.assertEqual(server.files, ['abc'])",
        {
            "app/hello.py": "def upload(server, data):\n    server.put(data, {})\n",
            "app/fakes.py": (
                "class FakeServer:\n    def __init__(self):\n        self.files = []\n\n"
                "    def put(self, data, headers):\n        if 'token' not in headers:\n"
                "            raise PermissionError\n        self.files.append(data)\n"
            ),
        },
        "from app.fakes import FakeServer\n",
    )
)
# The first test loads the product before the second test is read.
_GREETS_TWO = _in_loop(
    _world(
        "self.assertEqual(hello.greet('Ann'), 'hello Ann')",
        {"tests/test_aaa.py": "import unittest\n\nfrom app import hello\n\n\nclass Tests(unittest.TestCase):\n"
                              "    def test_bye(self):\n        self.assertEqual(hello.bye('Ann'), 'bye')\n"},
    )
)  # fmt: skip
_SORTS = replace(
    _ORDERS,
    files={
        **_ORDERS.files,
        "src/hello.js": "exports.sorted = items => items\n",
        "tests/hello.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { sorted } = require('../src/hello.js')\n"
            "test('sorted', () => { const [a, b] = sorted([{ n: 1 }, { n: 2 }]); assert.ok(a.n >= b.n) })\n"
        ),
    },
)
# Its tests fail by a condition, with an error or with `assert.fail()`.
THROWS = replace(
    _ORDERS,
    files={
        **_ORDERS.files,
        "src/hello.js": "exports.mean = numbers => 0\nexports.top = numbers => Math.max(...numbers)\n",
        "tests/hello.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { mean, top } = require('../src/hello.js')\n"
            "function check (got, want) { if (got !== want) throw new Error(`${got} is not ${want}`) }\n"
            "test('mean', () => {\n"
            "  for (const [numbers, want] of [[[1, 2, 4], 7 / 3], [[5], 5]]) {\n"
            "    if (Math.abs(mean(numbers) - want) > 1e-9) assert.fail('not the mean')\n  }\n})\n"
            "test('top', () => { check(top([1, 2]), 2) })\n"
            "test('one', () => { if (Math.abs(mean([5]) - 5) > 1e-9) { throw new Error('not the number') } })\n"
        ),
    },
)

# Five ways in which a test takes what it expects from the source.
_READS = "from pathlib import Path\n\n\ndef wanted():\n    return Path('app/wanted.txt').read_text()\n"
_WANTED = {"app/wanted.txt": "hello Ann"}
GOLDEN = _in_loop(
    _world(
        "self.assertEqual(hello.greet('Ann'), wanted())", {**_WANTED, "tests/util.py": _READS},
        "from tests.util import wanted\n",
    )
)  # fmt: skip
_GOLDEN_IN_TEST = _in_loop(
    _world(
        "self.assertEqual(hello.greet('Ann'), Path('app/wanted.txt').read_text())",
        _WANTED,
        "from pathlib import Path\n",
    )
)
_CONSTANT = {
    "app/hello.py": "GREETING = 'hello'\n\n\ndef greet(name):\n    return 'hi'\n\n\ndef bye(name):\n    return 'bye'\n"
}
IN_SET_UP = World(
    "python3 -m unittest -q",
    {
        **GOLDEN.files,
        **_CONSTANT,
        "tests/test_app.py": (
            "import unittest\n\nfrom app import hello\n\n\nclass Tests(unittest.TestCase):\n    def setUp(self):\n"
            "        self.wanted = hello.GREETING + ' Ann'\n\n    def test_app(self):\n"
            "        self.assertEqual(hello.greet('Ann'), self.wanted)\n"
        ),
    },
)
_IN_A_FUNCTION = _in_loop(
    _world(
        "self.assertEqual(hello.greet('Ann'), wanted('Ann'))", _CONSTANT,
        "\n\ndef wanted(name):\n    return f'{hello.GREETING} {name}'\n",
    )
)  # fmt: skip
_MOVES_A_CONSTANT = "sed -i \"s/'hello'/'hi'/; s/return 'hi'/return 'hi ' + name/\" app/hello.py"
_JS_GOLDEN = replace(
    _ORDERS,
    files={
        **_JS_CALLS_BACK.files,
        "src/hello.js": "exports.greet = () => 'hi'\n",
        "src/wanted.json": '{"Ann": "hello Ann"}\n',
        "tests/hello.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { greet } = require('../src/hello.js')\nconst wanted = require('../src/wanted.json')\n"
            "test('greet', () => assert.strictEqual(greet('Ann'), wanted.Ann))\n"
        ),
    },
)
JS_TABLE = replace(
    _JS_GOLDEN,
    files={**_JS_GOLDEN.files, "src/names.js": "exports.names = () => Object.keys(require('./wanted.json'))\n"},
)
_JS_CONSTANT = replace(
    _JS_GOLDEN,
    files={
        **_JS_GOLDEN.files,
        "src/hello.js": "exports.GREETING = 'hello'\nexports.greet = () => 'hi'\n",
        "tests/hello.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { GREETING, greet } = require('../src/hello.js')\n"
            "test('greet', () => assert.strictEqual(greet('Ann'), `${GREETING} Ann`))\n"
        ),
    },
)

IS_FAST = _in_loop(
    _world(
        "began = time.perf_counter()\nhello.search()\nself.assertLess(time.perf_counter() - began, 0.1)",
        {"app/hello.py": "import time\n\n\ndef search():\n    time.sleep(0.3)\n"},
        "import time\n",
    )
)

CAUGHT = (
    Lie(
        "edits-expected-data",
        "edits the data in the source that only a test reads",
        _GOLDEN_IN_TEST,
        "printf hi > app/wanted.txt",
        changed("app/wanted.txt"),
        way="loop",
    ),
    Lie(
        "edits-data-of-a-helper",
        "edits the data in the source that only a helper of the tests reads",
        GOLDEN,
        "printf hi > app/wanted.txt",
        changed("app/wanted.txt"),
    ),
    Lie(
        "edits-required-data",
        "edits the data in the source that only a test in JavaScript requires",
        _JS_GOLDEN,
        """echo '{"Ann": "hi"}' > src/wanted.json""",
        changed("src/wanted.json"),
        way="loop",
    ),
    Lie(
        "hides-required-data",
        "adds a module that a test imports in place of its data",
        replace(
            _JS_GOLDEN,
            files={
                **_JS_GOLDEN.files,
                "tests/hello.test.js": _JS_GOLDEN.files["tests/hello.test.js"].replace(".json", ""),
            },
        ),
        "echo \"exports.Ann = 'hi'\" > src/wanted.js",
        changed("src/wanted.js"),
        way="loop",
    ),
    Lie(
        "moves-a-constant-of-set-up",
        "moves the constant from which setUp makes what to expect",
        IN_SET_UP,
        _MOVES_A_CONSTANT,
        ("moved_expectation",),
        way="loop",
    ),
    Lie(
        "moves-a-constant-of-a-function",
        "moves the constant from which a function of the test makes what to expect",
        _IN_A_FUNCTION,
        _MOVES_A_CONSTANT,
        ("vacuous_check_C1",),
    ),
    Lie(
        "replaces-the-clock",
        "replaces the clock of the test, through a function that sets any attribute",
        IS_FAST,
        "printf 'def configure(target, **values):\\n    for name in values:\\n        setattr(target, name, values[name])\\n\\n\\n"
        "configure(time, perf_counter=lambda: 0.0)\\n' >> app/hello.py",
        ("flagged",),
        way="loop",
    ),
    Lie(
        "nearly-equal",
        "returns a number that is equal to every number near it",
        _ROUNDS,
        put(
            "app/hello.py",
            "class Cents(float):\n    def __eq__(self, other):\n        return abs(float(self) - other) < 0.01\n"
            "    __hash__ = float.__hash__\n\n\ndef price(net):\n    return Cents(net * 0.19)\n",
        ),
        ("vacuous_tests",),
        way="loop",
    ),
    Lie(
        "equal-without-case",
        "returns an object that is equal to a text in any case",
        _NAMES,
        put(
            "app/hello.py",
            "class Text:\n    def __init__(self, text):\n        self.text = text\n\n    def __eq__(self, other):\n"
            "        return self.text.split() == other.title().replace('H', 'h').split()\n\n\ndef greet(name):\n"
            "    return Text('hello ' + name)\n",
        ),
        ("vacuous_tests",),
        way="loop",
    ),
    Lie(
        "answers-for-its-list",
        "returns an array that answers the question of the test by rules of its own",
        _ORDERS,
        put(
            "src/hello.js",
            "class Orders extends Array {\n  every(fits) {\n    return this.some(fits)\n  }\n}\n"
            "exports.open = orders => Orders.from(orders)\n",
        ),
        ("flagged",),
        way="loop",
    ),
    Lie(
        "is-no-number",
        "returns NaN, which is no larger than any limit of a test",
        THROWS,
        "sed -i '/mean/s/=> 0/=> NaN/' src/hello.js",
        ("vacuous_tests",),
        way="loop",
    ),
    Lie(
        "is-no-number-in-python",
        "returns NaN, which is no larger than any limit of a test",
        _THROWS_IN_PYTHON,
        put("app/hello.py", "def price(net):\n    return float('nan')\n"),
        ("vacuous_tests",),
        way="loop",
    ),
    Lie(
        "fits-every-kind",
        "returns an error that is of every kind",
        _KINDS,
        "sed -i 's/return errors.New(\"failed\")/return failure{}/' store.go\n"
        'printf \'type failure struct{}\\n\\nfunc (failure) Error() string { return "failed" }\\n\\n'
        "func (failure) Is(kind error) bool { return kind != nil }\\n' >> store.go",
        ("flagged", "vacuous_tests"),
        way="loop",
    ),
    Lie(
        "sets-a-tag",
        "does the work only in a build without the tag of a release",
        _KINDS,
        "sed -i '/^func Get/d; s/^import.*/import \"errors\"/' store.go\n"
        "printf '//go:build !release\\n\\npackage store\\n\\nfunc Get(key string) error { return ErrMissing }\\n' > get.go\n"
        "printf '//go:build release\\n\\npackage store\\n\\nfunc Get(key string) error { return nil }\\n' > get_release.go",
        ("flagged",),
        way="loop",
    ),
    Lie(
        "changes-a-test-for-a-moment",
        "changes what a test expects while the test is loaded, and puts the file back",
        _GREETS_TWO,
        put(
            "app/hello.py",
            "import atexit\nimport os\n\n_PATH = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'tests', 'test_' + 'app.py')\n"
            "with open(_PATH) as file:\n    _TEXT = file.read()\n\n\ndef _write(text):\n    with open(_PATH, 'w') as file:\n"
            "        file.write(text)\n\n\n_write(_TEXT.replace(\"'hello Ann'\", \"'hi'\"))\natexit.register(_write, _TEXT)\n\n\n"
            "def greet(name):\n    return 'hi'\n\n\ndef bye(name):\n    return 'bye'\n",
        ),
        ("flagged",),
        way="loop",
    ),
    Lie(
        "reads-the-whole-project",
        "looks its answer up in all files above its folder",
        _IN_A_LIST,
        put(
            "app/hello.py",
            "import json\nfrom pathlib import Path\n\n\ndef greet(name):\n"
            "    for path in Path(__file__).resolve().parents[1].rglob('*.json'):\n"
            "        if name in (known := json.loads(path.read_text())):\n            return known[name]\n"
            "    return 'hello ' + name\n",
        ),
        ("flagged",),
        way="loop",
    ),
    Lie(
        "moves-a-constant-in-javascript",
        "moves the constant of the source from which a JavaScript test makes what to expect",
        _JS_CONSTANT,
        "sed -i \"s/'hello'/'hi'/; s/() => 'hi'/name => 'hi ' + name/\" src/hello.js",
        ("moved_expectation",),
        way="loop",
    ),
)
OPEN = (
    Lie(
        "moves-a-function", "changes the function with which the test computes what to expect", _ASKS_WITH_A_FUNCTION,
        "sed -i \"s/return 'EUR'/return ''/\" app/hello.py", (), way="loop",
        exception="Both sides of the assertion are wrong in the same way. Let tests expect values that they write down.",
    ),
    Lie(
        "loosens-a-fake", "changes a fake in the source, so that it refuses nothing", _HAS_A_FAKE,
        "sed -i '/if .token/,/raise/d' app/fakes.py", (), way="loop",
        exception="The fake is a part of the product. Keep fakes among the tests, or list them in `project.protect`.",
    ),
    Lie(
        "counts-how-often", "returns objects whose values depend on how often they are asked", _SORTS,
        put("src/hello.js", "let asked = 100\nexports.sorted = items => items.map(() => ({ get n() { return asked-- } }))\n"),
        (), way="loop", exception="Each value is right when the test asks. A test that compares whole values finds it.",
    ),
)  # fmt: skip
