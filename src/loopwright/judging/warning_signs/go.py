"""Warning signs in Go source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.syntax.go_source import GoSource, parse_go, parts, within
from loopwright.judging.warning_signs.model import (
    Sign,
    alters_runtime,
    ends_process,
    framework,
    not_examined,
    reads_program,
    runs_data,
    signs_in_text,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_FRAMEWORKS = re.compile(
    r"testing(?:/.*)?|github\.com/(?:stretchr/testify|onsi/(?:ginkgo|gomega))(?:/.*)?|gotest\.tools(?:/.*)?"
    r"|gopkg\.in/check\..*|cmd/.*"
)
_KILLS = re.compile(
    r"os\.Exit|runtime\.Goexit|(?:syscall|golang\.org/x/sys/unix)\.(?:Exit|Kill|Exec|(?:Raw)?Syscall\w*)"
)
_RUNS = re.compile(r"plugin\.Open")
# Output goes through these, also that of the test runner.
_SHARED = re.compile(r"os\.(?:Stdout|Stderr|Args)")
# Variables of the library that a program sets for itself.
_OWN = frozenset({"flag.Usage", "os.Args"})
# A look at all flags finds those of a test program.
_FLAGS = re.compile(r"flag\.(?:VisitAll|Visit|Lookup|CommandLine)")
# What the test runner prints, and what `go test` reads.
_REPORT = re.compile(r"\s*(?:---|===) (?:PASS|FAIL|SKIP|RUN|PAUSE|CONT|NAME)\b.*|ok  ?\t.*|\x16.*", re.DOTALL)
# Flags and the name of a test program.
_TEST_PROGRAM = re.compile(
    r"-?-?test\.(?:v|run|timeout|paniconexit0|testlogfile|count|short|parallel)=?.*|\.test(?:\.exe)?"
)
# Names of the language that tests of the package use, too. `max`, `min` and `clear` are new, and often declared.
_PREDECLARED = re.compile(
    r"any|append|bool|byte|cap|close|comparable|complex(?:64|128)?|copy|delete|error|false|float(?:32|64)|imag|iota"
    r"|u?int(?:8|16|32|64)?|len|make|new|nil|panic|println?|real|recover|rune|string|true|uintptr"
)
_CONSTRAINT = re.compile(r"//go:build |// \+build ")
_TAG = re.compile(r"(!?)\s*\(?\s*([\w.]+)")
_PLATFORM = re.compile(
    r"aix|android|darwin|dragonfly|freebsd|hurd|illumos|ios|js|linux|nacl|netbsd|openbsd|plan9|solaris|wasip1|windows|zos"
    r"|386|amd64p?\d*|arm(?:be|64(?:be)?)?|loong64|mips\w*|ppc\w*|riscv(?:64)?|s390x?|sparc(?:64)?|wasm"
    r"|unix|cgo|gc|gccgo|race|msan|asan|purego|appengine|tinygo|ignore\w*|go1(?:\.\d+)*"
)
_CODE = frozenset(
    {"function_declaration", "method_declaration", "var_declaration", "const_declaration", "type_declaration"}
)
_DECLARED = frozenset({"function_declaration", "var_spec", "const_spec", "type_spec", "type_alias"})
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([0-7]{3})|(.))")
_SPECIAL = {"n": "\n", "t": "\t", "r": "\r"}
_TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal"})


def signs_in_go(source: bytes) -> Iterator[Sign]:
    """All signs of a file."""
    parsed = parse_go(source)
    if parsed is None:
        yield not_examined(source)
        return
    finder = _Finder(parsed)
    for node in within(parsed.root):
        yield from finder.signs_at(node, node.start_point[0] + 1)


class _Finder:
    """Finds signs in one source."""

    def __init__(self, source: GoSource) -> None:
        self._source = source
        specs = [node for node in within(source.root) if node.type == "import_spec"]
        self._imports = {self._local_name(spec): self._path(spec) for spec in specs}
        # Imports without a name of their own: each name of the package is one of the file.
        self._merged = [self._path(spec) for spec in specs if source.text(spec.child_by_field_name("name")) == "."]
        self._has_imports = bool(specs)
        package = next((node for node in parts(source.root) if node.type == "package_clause"), None)
        self._is_program = package is not None and source.text(package).split()[-1] == "main"

    def signs_at(self, node: Node, line: int) -> Iterator[Sign]:
        """The signs of one node."""
        match node.type:
            case kind if kind in _DECLARED and self._is_of_package(node):
                names = (self._source.text(name) for name in node.children_by_field_name("name"))
                yield from (alters_runtime(name, line, name) for name in names if _PREDECLARED.fullmatch(name))
            case "import_spec" if _FRAMEWORKS.fullmatch(self._path(node)):
                yield framework(self._path(node), line)
            case "selector_expression" | "identifier":
                yield from self._signs_at_name(node, line)
            case "assignment_statement":
                for target in parts(node.child_by_field_name("left")):
                    name = self._full_name(target)
                    if _SHARED.fullmatch(name) or (self._is_of_library(name) and not self._is_in_main(node)):
                        yield alters_runtime(name, line, self._source.text(node))
            case "method_declaration" if self._is_blind_kind(node):
                name = self._source.text(node.child_by_field_name("name"))
                yield alters_runtime(f"{name} does not look at the other error", line, self._source.text(node))
            case "binary_expression" if (text := self._text(node)) is not None:
                yield from self._signs_in(text, line)
            case kind if kind in _TEXTS and node.parent is not None and node.parent.type != "import_spec":
                yield from self._signs_in(self._text(node) or "", line)
            case "comment" if _CONSTRAINT.match(self._source.text(node)) and (needed := self._own_tag(node)):
                yield alters_runtime(needed, line, self._source.text(node))
            case "comment" if self._source.text(node).startswith("//go:linkname"):
                yield alters_runtime("go:linkname", line, self._source.text(node))
            case _:
                return

    def _signs_at_name(self, node: Node, line: int) -> Iterator[Sign]:
        name = self._full_name(node)
        if _KILLS.fullmatch(name) and not self._is_in_main(node) and not self._fails(node):
            yield ends_process(name, line, self._source.text(node.parent))
        elif _RUNS.fullmatch(name):
            yield runs_data(name, line, self._source.text(node.parent))
        elif _FLAGS.fullmatch(name) and not self._is_program:
            yield reads_program(name, line)

    def _own_tag(self, node: Node) -> str:
        """How a build needs the first tag that is neither a platform nor a version: a release may set other tags.

        A file that only imports does nothing in a build without its tag: by it `go mod` keeps tools.
        """
        text = self._source.text(node).removeprefix("//go:build").removeprefix("// +build")
        tags = [(sign, word) for sign, word in _TAG.findall(text) if not _PLATFORM.fullmatch(word)]
        has_code = any(part.type in _CODE for part in parts(self._source.root))
        if self._has_imports and not has_code and not any(sign for sign, _ in tags):
            return ""
        is_without, tag = tags[0] if tags else ("", "")
        if is_without:
            return f"built only without the tag {tag}"
        return f"built only with the tag {tag}" if tag else ""

    def _is_of_library(self, name: str) -> bool:
        """Whether a name is a variable of Go's library: tests of the package use the library, too."""
        package, _, own = name.rpartition(".")
        return own[:1].isupper() and package in self._imports.values() and "." not in package and name not in _OWN

    def _is_blind_kind(self, node: Node) -> bool:
        """Whether `Is` of an error answers without a comparison: then the error is of every kind."""
        given = [part for part in parts(node.child_by_field_name("parameters")) if part.type == "parameter_declaration"]
        if self._source.text(node.child_by_field_name("name")) != "Is" or len(given) != 1:
            return False
        body, other = node.child_by_field_name("body"), self._source.text(given[0].child_by_field_name("name"))
        for part in within(body) if body is not None else ():
            if part.type in {"type_assertion_expression", "type_switch_statement"}:
                return False
            if part.type == "call_expression" and other in map(self._source.text, within(part)):
                return False
            if part.type == "binary_expression":
                sides = {self._source.text(side) for side in parts(part)}
                if other in sides and "nil" not in sides:
                    return False
        return "return true" in self._source.text(body) or "!= nil" in self._source.text(body)

    def _signs_in(self, text: str, line: int) -> Iterator[Sign]:
        yield from signs_in_text(text, line)
        if _REPORT.fullmatch(text):
            yield alters_runtime(text.strip()[:40], line, text)
        elif _TEST_PROGRAM.fullmatch(text):
            yield reads_program(text, line)

    def _full_name(self, node: Node) -> str:
        """`os.Exit` for a name of an imported package, whatever the file calls the package."""
        if node.type == "identifier":
            is_part = node.parent is not None and node.parent.type == "selector_expression"
            name = self._source.text(node)
            return next((f"{path}.{name}" for path in self._merged if not is_part), name)
        operand, field = node.child_by_field_name("operand"), node.child_by_field_name("field")
        package = self._imports.get(self._source.text(operand))
        return f"{package}.{self._source.text(field)}" if package is not None else ""

    def _is_of_package(self, node: Node) -> bool:
        """Whether a declaration is one of the package, for all its files."""
        parent = node.parent
        while parent is not None and parent.type.endswith(("_declaration", "_spec_list")):
            parent = parent.parent
        return parent is not None and parent.type == "source_file"

    def _is_in_main(self, node: Node) -> bool:
        found: Node | None = node
        while found is not None and found.type not in {"function_declaration", "method_declaration"}:
            found = found.parent
        return self._is_program and found is not None and self._source.text(found.child_by_field_name("name")) == "main"

    def _fails(self, node: Node) -> bool:
        """Whether the process ends with a code that is never 0: a test can't pass by that."""
        call = node.parent
        if call is None or call.type != "call_expression" or self._full_name(node) == "runtime.Goexit":
            return False
        given = parts(call.child_by_field_name("arguments"))
        return (
            len(given) == 1 and given[0].type == "int_literal" and self._source.text(given[0]).strip("0_xXbBoO") != ""
        )

    def _local_name(self, spec: Node) -> str:
        name = self._source.text(spec.child_by_field_name("name"))
        return name or self._path(spec).rpartition("/")[2]

    def _path(self, spec: Node) -> str:
        return self._source.text(spec.child_by_field_name("path"))[1:-1]

    def _text(self, node: Node) -> str | None:
        """The value of a text, or of texts that are put together."""
        if node.type == "raw_string_literal":
            return self._source.text(node)[1:-1]
        if node.type == "interpreted_string_literal":
            return _ESCAPE.sub(_unescaped, self._source.text(node)[1:-1])
        if node.type == "binary_expression" and self._source.text(node.child_by_field_name("operator")) == "+":
            values = [self._text(part) for part in parts(node)]
            return "".join(value for value in values if value is not None) if None not in values else None
        return None


def _unescaped(found: re.Match[str]) -> str:
    if found[4] is not None:
        return _SPECIAL.get(found[4], found[4])
    return chr(int(found[3], 8)) if found[3] else chr(int(found[1] or found[2], 16))
