"""Warning signs in JavaScript and TypeScript source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.syntax.javascript_source import (
    FUNCTIONS,
    JavaScriptSource,
    arguments,
    field,
    parse_javascript,
    unwrapped,
    within,
)
from loopwright.judging.warning_signs.javascript_names import MODULE, JavaScriptNames
from loopwright.judging.warning_signs.model import (
    Sign,
    alters_runtime,
    ends_process,
    framework,
    judge_variables,
    named_framework,
    not_examined,
    reads_callers,
    reads_program,
    runs_data,
    signs_in_text,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_FRAMEWORKS = re.compile(r"(?:node:test(?:/.*)?|mocha|jest|@jest/.*|vitest(?:/.*)?|chai|tape|tap|ava|uvu|jasmine)")
_KILLS = re.compile(r"process\.(?:exit|abort|_?kill|_?reallyExit|dlopen|_?(?:linkedB|b)inding)")
_EVENTS = re.compile(r"exit|beforeExit|uncaughtException(?:Monitor)?|unhandledRejection")
_REMOVES = re.compile(rf"(?:{MODULE})?(?:node:)?fs\.(?:rm|rmdir|unlink|close)(?:Sync)?")
# What a program closes at its end, and what belongs to the process.
_CLOSES = frozenset(
    {"close", "closeSync", "end", "destroy", "disconnect", "dispose", "kill", "quit", "release", "stop", "terminate"}
)
_OF_PROCESS = re.compile(r"(?:process|console|globalThis|global|Reflect|Object)\b.*|(?:.*\.)?std(?:out|err|in)")
_WRITES = frozenset({"assignment_expression", "augmented_assignment_expression", "new_expression", "throw_statement"})
_RUNS = re.compile(
    rf"eval|Function|(?:{MODULE})?vm\.(?:run\w+|Script|compileFunction|SourceTextModule)|.*\.constructor\.constructor"
)
_RUNTIME = re.compile(
    r"process\.(?:emit|removeAllListeners|rawListeners|_events|setUncaughtExceptionCaptureCallback)"
    r"|require\.(?:cache|extensions)|module\.(?:parent|children)|Error\.prepareStackTrace|Symbol\.(?:toPrimitive|hasInstance)"
    rf"|{MODULE}module\.(?:Module\.)?(?:_\w+|prototype|register\w*|syncBuiltinESMExports|wrap)"
)
_READS = re.compile(r"process\.execArgv|require\.main\.(?:filename|id|paths?|children|exports)")
_CALLERS = re.compile(rf"{MODULE}util\.getCallSites?")
_OPENS = re.compile(r"(?:.*\.)?(?:readFile|open|createReadStream|readlink|copyFile)(?:Sync|AsBlob)?")
# What every program shares: a change of it changes the test runner, too.
_SHARED = re.compile(
    r"(?:Object|Array|String|Number|Boolean|Function|JSON|Math|Promise|Reflect|Symbol|Error|AssertionError|Map|Set|Date"
    rf"|RegExp|Proxy|queueMicrotask|{MODULE}(?:assert|module|vm|chai|expect|should)\b.*|assert|chai|expect)(?:\..*)?"
)
# Of these, what assertions use, and the functions of test files.
_TESTED = re.compile(
    rf"(?:Object|Reflect|AssertionError|(?:{MODULE})?(?:node:)?(?:assert|chai|expect|should|test|mocha|vitest|@jest/.*))"
    r"(?:[./].*)?|\w+\.prototype(?:\..*)?"
)
_SETS = re.compile(r"(?:Object|Reflect)\.(?:defineProperty|defineProperties|assign|set|setPrototypeOf)")
_TEST_GLOBALS = frozenset(
    {"describe", "it", "test", "expect", "jest", "vi", "beforeEach", "afterEach", "mocha", "suite"}
)
# The function and the mark by which an object decides whether it is what a test expects.
_MATCHER = "asymmetricMatch"
_MATCHER_TYPE = "jest.asymmetricMatcher"
# Questions that tests ask plain values.
_ASKED = {
    "Array": frozenset({"every", "some", "includes", "indexOf", "find", "findIndex", "filter", "length", "at"}),
    "String": frozenset({"includes", "startsWith", "endsWith", "match", "indexOf", "search", "length"}),
    "Set": frozenset({"has", "size"}),
    "Map": frozenset({"has", "size"}),
    "RegExp": frozenset({"test", "exec"}),
}
_GLOBAL_OBJECTS = frozenset({"globalThis", "global", "window"})
_MAIN = re.compile(r"require\.main|import\.meta\.(?:main|url|filename)|process\.argv\[1\]")


def signs_in_javascript(path: str, source: bytes, *, is_test: bool = False) -> Iterator[Sign]:
    """All signs of a file; of a new test only those that it changes a test framework."""
    parsed = parse_javascript(path, source)
    if parsed is None:
        yield not_examined(source)
        return
    finder = _Finder(parsed)
    is_program = source.startswith(b"#!")
    for node in within(parsed.root):
        found = finder.changed_frameworks(node) if is_test else finder.signs_at(node, is_program=is_program)
        yield from found


class _Finder:
    """Finds signs in one source."""

    def __init__(self, source: JavaScriptSource) -> None:
        self._source = source
        self._names = JavaScriptNames(source)
        self._methods = self._own_methods()
        self._of_program: frozenset[str] = frozenset()
        self._of_program = self._program_files()

    def signs_at(self, node: Node, *, is_program: bool) -> Iterator[Sign]:
        """The signs of one node."""
        line = node.start_point[0] + 1
        match node.type:
            case "string" | "template_string":
                yield from self._signs_at_text(node, line)
            case "binary_expression" if (text := self._names.constant(node)) is not None:
                yield from signs_in_text(text, line)
            case "call_expression" | "new_expression":
                yield from self._signs_at_call(node, line)
            case "member_expression" | "subscript_expression":
                yield from self._signs_at_member(node, line, is_program=is_program)
            case "assignment_expression":
                yield from self._signs_of_change(field(node, "left"), node, line)
            case "variable_declarator" | "import_specifier":
                yield from self._signs_of_alias(node, line)
            case "method_definition" | "pair" if self._text(node, "name", "key") == _MATCHER:
                yield alters_runtime(_MATCHER, line, self._source.text(node))
            case "class_declaration" | "class":
                yield from self._signs_of_class(node, line)
            case "unary_expression" if self._text(node, "operator") == "typeof":
                if self._text(node, "argument") in _TEST_GLOBALS:
                    yield reads_program(self._source.text(node), line)
            case _:
                return

    def _text(self, node: Node, *fields: str) -> str:
        return next((self._source.text(found) for name in fields if (found := field(node, name)) is not None), "")

    def _signs_at_text(self, node: Node, line: int) -> Iterator[Sign]:
        text = self._names.constant(node) or self._source.text(node)[1:-1]
        parent = node.parent
        is_module = parent is not None and (
            parent.type in {"import_statement", "export_statement"}
            or (
                parent.parent is not None
                and self._text(parent.parent, "function") in {"require", "import", "require.resolve"}
            )
        )
        if text == _MATCHER_TYPE:
            yield alters_runtime(text, line, text)
        elif not is_module:
            yield from signs_in_text(text, line)
        elif _FRAMEWORKS.fullmatch(text):
            yield named_framework(text, line)

    def _signs_of_class(self, node: Node, line: int) -> Iterator[Sign]:
        """A plain value that answers questions of a test by rules of its own."""
        heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
        bases = [part for part in within(heritage) if part.type == "identifier"] if heritage is not None else []
        plain = next((name for base in bases if (name := self._names.origin(base)) in _ASKED), "")
        body = field(node, "body")
        for part in body.named_children if body is not None and plain else ():
            if self._text(part, "name", "property") in _ASKED[plain]:
                name = f"{plain}.{self._text(part, 'name', 'property')}"
                yield alters_runtime(name, line, self._source.text(part))

    def _signs_of_alias(self, node: Node, line: int) -> Iterator[Sign]:
        """`const { exit } = process`: the name alone does not show what it is."""
        names = [
            child for child in within(node) if child.type in {"identifier", "shorthand_property_identifier_pattern"}
        ]
        for child in names:
            origin = self._names.origin_of_text(self._source.text(child))
            if origin != self._source.text(child) and _KILLS.fullmatch(origin):
                yield ends_process(origin, line, self._source.text(node))
                return
            if origin != self._source.text(child) and _RUNS.fullmatch(origin):
                yield runs_data(origin, line, self._source.text(node))
                return

    def _signs_at_call(self, node: Node, line: int) -> Iterator[Sign]:
        called = field(node, "function") or field(node, "constructor")
        name = "import" if called is not None and called.type == "import" else self._names.origin(called)
        found, code = arguments(node), self._source.text(node)
        first = self._names.constant(found[0]) if found else None
        if name in {"require", "import"} and found and first is None:
            yield runs_data(name, line, code)
        elif name in {"require", "import"} and first is not None and _FRAMEWORKS.fullmatch(first):
            if unwrapped(found[0]).type == "binary_expression":
                yield framework(first, line)
        elif _RUNS.fullmatch(name) or self._makes_function(called) or (name in {"setTimeout", "setInterval"} and first):
            yield runs_data(name or "constructor", line, code)
        elif name.startswith("process.") and name.rpartition(".")[2] in {
            "on",
            "once",
            "addListener",
            "prependListener",
        }:
            if first is None or (_EVENTS.fullmatch(first) and not self._only_cleans_up(first, found)):
                yield alters_runtime(f"process.on({first or '?'})", line, code)
        elif _SETS.fullmatch(name) and found:
            yield from self._signs_of_change(found[0], node, line)
        elif name == "Reflect.construct" and found and self._names.origin(found[0]) == "Function":
            yield runs_data(name, line, code)
        elif name.rpartition(".")[2].startswith("readdir") and first in {".", "./"}:
            yield reads_program(name, line)
        elif _KILLS.fullmatch(self._names.origin(node)):
            yield ends_process(self._names.origin(node), line, code)
        else:
            yield from self._signs_of_callers(node, name, line)

    def _signs_of_callers(self, node: Node, name: str, line: int) -> Iterator[Sign]:
        """Calls that find the code that called this code, or the program that runs."""
        found = arguments(node)
        if _OPENS.fullmatch(name) and found and self._is_program_file(found[0]) and not self._is_in_main(node):
            yield reads_program("the file in process.argv", line)
        elif _CALLERS.fullmatch(name) or (name == "Error.captureStackTrace" and found and found[0].type != "this"):
            yield reads_callers(name, line)

    def _is_program_file(self, node: Node) -> bool:
        """Whether a value has the program's own file in it, or all arguments. The other arguments are free."""
        for part in within(node):
            is_arguments = self._names.origin(part) == "process.argv"
            if part.type == "identifier" and self._source.text(part) in self._of_program and not is_arguments:
                return True
            if is_arguments and part.parent is not None:
                index = field(part.parent, "index")
                first = self._source.text(index) if index is not None else self._first_of_slice(part.parent)
                return not first.isdecimal() or int(first) < 2
        return False

    def _first_of_slice(self, member: Node) -> str:
        """`2` for `process.argv.slice(2)`, which leaves the program's own file out."""
        is_call = self._text(member, "property") == "slice" and member.parent is not None
        found = arguments(member.parent) if is_call and member.parent is not None else []
        return self._source.text(found[0]) if found else ""

    def _program_files(self) -> frozenset[str]:
        """The variables with the program's own file."""
        found: set[str] = set()
        for node in within(self._source.root):
            names = {"variable_declarator": ("name", "value"), "for_in_statement": ("left", "right")}.get(node.type)
            name, value = (field(node, part) for part in names) if names is not None else (None, None)
            if name is not None and value is not None and self._is_program_file(value):
                found.add(self._source.text(name))
        return frozenset(found)

    def _only_cleans_up(self, event: str, found: list[Node]) -> bool:
        """`process.on("exit", () => fs.rmSync(folder))`: all that runs at the end is in sight, and removes files."""
        handler = unwrapped(found[1]) if event in {"exit", "beforeExit"} and len(found) > 1 else None
        body = field(handler, "body") if handler is not None and handler.type in FUNCTIONS else None
        parts = list(within(body)) if body is not None else []
        calls = [field(part, "function") for part in parts if part.type == "call_expression"]
        return (
            bool(calls)
            and all(_REMOVES.fullmatch(self._names.origin(called)) or self._closes(called) for called in calls)
            and not any(part.type in _WRITES or part.type in FUNCTIONS for part in parts)
        )

    def _closes(self, called: Node | None) -> bool:
        """`db.close()`: the end of a connection, by a method that this file does not define."""
        if called is None or called.type != "member_expression" or called.parent is None:
            return False
        method, owner = self._text(called, "property"), field(called, "object")
        is_plain = not arguments(called.parent) and method in _CLOSES and method not in self._methods
        return (
            is_plain
            and owner is not None
            and not _OF_PROCESS.fullmatch(self._names.origin(owner) or self._source.text(owner))
        )

    def _own_methods(self) -> frozenset[str]:
        """The names of methods and properties that the file gives to its objects."""
        return frozenset(
            self._text(node, "name", "key", "property")
            for node in within(self._source.root)
            if node.type in {"method_definition", "pair", "field_definition", "public_field_definition"}
        ) | frozenset(
            self._text(left, "property")
            for node in within(self._source.root)
            if node.type == "assignment_expression" and (left := field(node, "left")) is not None
        )

    def _makes_function(self, called: Node | None) -> bool:
        """`(function () {}).constructor(code)`, and the same for an array's method."""
        if called is None or called.type != "member_expression" or self._text(called, "property") != "constructor":
            return False
        owner = field(called, "object")
        inner = unwrapped(owner) if owner is not None else None
        return inner is not None and (inner.type in FUNCTIONS or self._text(inner, "property") == "constructor")

    def _signs_at_member(self, node: Node, line: int, *, is_program: bool) -> Iterator[Sign]:
        name, owner = self._names.origin(node), self._names.origin(field(node, "object"))
        if _KILLS.fullmatch(name) and not (is_program or self._is_in_main(node)):
            parent = node.parent if node.parent is not None else node
            # An exit that means failure deceives no judge.
            if name == "process.exit" and re.fullmatch(r"[1-9]\d*", self._text(parent, "arguments").strip("() ")):
                return
            yield ends_process(name, line, self._source.text(parent))
        elif owner == "process" and not name:
            yield runs_data("process[…]", line, self._source.text(node))
        elif owner == "process.env":
            yield from judge_variables(name.removeprefix("process.env."), line)
            if name == "process.env.NODE_ENV" and self._is_compared_with_test(node):
                yield reads_program("NODE_ENV is 'test'", line)
        elif _RUNTIME.fullmatch(name):
            yield alters_runtime(name, line, name)
        elif _READS.fullmatch(name) or self._names_test(node, name) or self._reads_stack(node):
            yield reads_program(self._source.text(node), line)

    def _is_compared_with_test(self, node: Node) -> bool:
        around = node.parent
        return (
            around is not None
            and around.type == "binary_expression"
            and "test" in {self._names.constant(part) for part in around.named_children}
        )

    def _names_test(self, node: Node, name: str) -> bool:
        return name in _TEST_GLOBALS and self._text(node, "object") in _GLOBAL_OBJECTS

    def _reads_stack(self, node: Node) -> bool:
        """`new Error().stack` tells who called; the stack of an error that was caught is for a log."""
        owner = field(node, "object") if self._text(node, "property") == "stack" else None
        made = unwrapped(owner) if owner is not None else None
        if made is None or made.type not in {"new_expression", "call_expression"}:
            return False
        return self._names.origin(field(made, "constructor") or field(made, "function")).endswith("Error")

    def _signs_of_change(self, target: Node | None, change: Node, line: int) -> Iterator[Sign]:
        """The change of something that the test runner uses, too."""
        name = self._names.origin(target)
        is_own = target is not None and change.type == "assignment_expression" and target.type == "identifier"
        if name and _SHARED.fullmatch(name) and not is_own:
            yield alters_runtime(name, line, self._source.text(change))

    def changed_frameworks(self, node: Node) -> Iterator[Sign]:
        """The writes of a new test that reach other tests: they can let these pass."""
        left, right = field(node, "left"), field(node, "right")
        if node.type == "call_expression" and _SETS.fullmatch(self._names.origin(field(node, "function"))):
            left = next(iter(arguments(node)), None)
        elif node.type != "assignment_expression" or left is None or left.type == "identifier":
            return
        name = self._names.origin(left)
        # `globalThis.expect = chai.expect` brings a framework; it changes none.
        is_brought = name in _TEST_GLOBALS and self._names.origin(right).startswith(MODULE)
        if (_TESTED.fullmatch(name) or name in _TEST_GLOBALS) and not is_brought:
            yield alters_runtime(name, node.start_point[0] + 1, self._source.text(node))

    def _is_in_main(self, node: Node) -> bool:
        current: Node | None = node
        while current is not None:
            if current.type in FUNCTIONS and self._name(current) in {"main", "cli"}:
                return True
            if current.type == "if_statement" and _MAIN.search(self._text(current, "condition")):
                return True
            current = current.parent
        return False

    def _name(self, function: Node) -> str:
        parent = function.parent
        named = parent if parent is not None and parent.type == "variable_declarator" else function
        return self._text(named, "name")
