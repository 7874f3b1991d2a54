"""Changed functions raise in place of returning; others stay."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.raising import raise_in_changed, stop_at_entry

THROW = "(_ for _ in ()).throw(BaseException())"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): return 1\n", "def f(): raise BaseException( 1)\n"),
        ("def f():\n    return(1,\n    2)  # why\n", "def f():\n    raise BaseException((1,\n    2))  # why\n"),
        ("def f(): return\n", "def f(): raise BaseException()\n"),
        ("def f():\n    g()\n", "def f():\n    g(); raise BaseException()\n"),
        ("def f():\n\tif x:\n\t\tg()\n", "def f():\n\tif x:\n\t\tg()\n\traise BaseException()\n"),
        ("async def f():\n    return await g()\n", "async def f():\n    raise BaseException( await g())\n"),
        ("def f():\n    yield 1\n", f"def f():\n    yield ((1), {THROW}); raise BaseException()\n"),
        ("def f():\n    x = yield\n", f"def f():\n    x = yield {THROW}; raise BaseException()\n"),
        ("f = lambda x: x\n", f"f = lambda x: ((x), {THROW})\n"),
        ("class A:\n    @x\n    def f(s): return 1\n", "class A:\n    @x\n    def f(s): raise BaseException( 1)\n"),
    ],
)  # fmt: skip
def test_a_new_python_function_raises(before, after):
    raising = raise_in_changed("a.py", b"", before.encode())
    assert raising is not None
    assert raising.source.decode() == after
    compile(raising.source, "a.py", "exec")


@pytest.mark.parametrize(
    "source",
    [
        "def main():\n    g()\n    sys.exit(0)\n",
        "def f():\n    if x:\n        raise ValueError\n    else:\n        os._exit(1)\n",
        "def f():\n    while True:\n        g()\n",
        "@overload\ndef f(x: int) -> int: ...\n",
        "x = 1\n",
        "not python (",
    ],
)
def test_a_function_that_never_returns_stays(source):
    assert raise_in_changed("a.py", b"", source.encode()) is None


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "def f():\n    if x:\n        g()\n", "def f():\n    raise BaseException()\n    if x:\n        g()\n"),
        ("a.py", "def f(): return 1\n", "def f(): raise BaseException(); return 1\n"),
        ("a.py", "f = lambda x: x\n", f"f = lambda x: {THROW}\n"),
        ("a.js", "function f() { g() }", 'function f() {throw new Error("loopwright"); g() }'),
        ("a.js", "const f = x => g(x)", 'const f = x => { throw new Error("loopwright") }'),
    ],
)
def test_a_function_may_raise_before_it_does_anything(path, before, after):
    raising = raise_in_changed(path, b"", before.encode())
    assert raising is not None
    assert raising.at_entry.decode() == after


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "a.py",
            "def f():\n    raise NotImplementedError\n",
            "def f():\n    raise BaseException()\n    raise NotImplementedError\n",
        ),
        ("a.py", "def f(): pass\n", "def f(): raise BaseException(); pass\n"),
        ("a.js", "const f = x => g(x)", 'const f = x => { process.kill(process.pid, "SIGKILL") }'),
        (
            "a.ts",
            "function f(): never { throw 1 }",
            'function f(): never {process.kill(process.pid, "SIGKILL"); throw 1 }',
        ),
        ("a.go", "package a\n\nfunc (t T) F() {}\n", 'package a\n\nfunc (t T) F() { panic("loopwright"); }\n'),
        (
            "a.go",
            "package a\n\nvar f = func() { g() }\n",
            'package a\n\nvar f = func() { panic("loopwright");  g() }\n',
        ),
        ("a.go", "package a\n\nconst A = 1\n", None),
        ("a.py", "@overload\ndef f(x: int) -> int: ...\n", None),
        ("a.py", "X = 1\n", None),
        ("a.rb", "def f; end", None),
        ("a.js", "function (", None),
    ],
)
def test_a_function_may_end_its_test_at_once_also_if_it_never_returns(path, before, after):
    stopped = stop_at_entry(path, b"", before.encode())
    assert stopped == (after.encode() if after is not None else None)
    assert stop_at_entry(path, before.encode(), before.encode()) is None


def test_only_changed_python_functions_raise():
    before = (
        b'class A:\n    def same(self):\n        "Old."\n        return 1\n    def other(self):\n        return 1\n'
    )
    after = (
        b'class A:\n    def other(self):\n        return 2\n    def same(self):\n        "New."\n        return 1 # c\n'
    )
    raising = raise_in_changed("a.py", before, after)
    assert raising is not None
    assert raising.functions == ("A.other",)
    assert raising.source == after.replace(b"return 2", b"raise BaseException( 2)")
    assert raise_in_changed("a.py", after, after) is None


END = ';throw new Error("loopwright")'
VALUE = '(() => { throw new Error("loopwright") })()'


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("function f() { return 1 }", "function f() { throw [ 1] }", "f"),
        ("function f() { g() }", f"function f() {{ g() {END}}}", "f"),
        ("const f = (x) => x + 1", "const f = (x) => { throw [x + 1] }", "f"),
        ("exports.f = async x => ({ a: x })", "exports.f = async x => { throw [({ a: x })] }", "exports.f"),
        ("class A { get b() { return this.c } }", "class A { get b() { throw [ this.c] } }", "A.b"),
        ("function* f() { yield 1 }", f"function* f() {{ yield [1, {VALUE}] {END}}}", "f"),
        ("function f() { if (x) return; else return 2 }", f"function f() {{ if (x) {END[1:]}; else throw [ 2] }}", "f"),
    ],
)  # fmt: skip
def test_a_new_javascript_function_throws(before, after, name):
    raising = raise_in_changed("a.js", b"", before.encode())
    assert raising is not None
    assert (raising.source.decode(), raising.functions) == (after, (name,))
    typed = raise_in_changed("a.ts", b"", before.encode())
    assert typed == raising


def test_only_changed_javascript_functions_throw():
    before = b"function same() { return 1 }\nfunction other() { return 1 }\nfunction main() { process.exit(0) }"
    after = b"function other() { return 2 }\nfunction same() { /* c */ return 1 }\nfunction main() { process.exit(1) }"
    raising = raise_in_changed("a.js", before, after)
    assert raising is not None
    assert raising.functions == ("other",)


@pytest.mark.parametrize("source", [b"function (", b"\xff", b"(" * 100_000, b"x = 1"])
def test_an_unreadable_source_stays(source):
    assert [raise_in_changed(path, b"", source) for path in ("a.py", "a.js", "a.ts", "a.txt")] == [None] * 4
