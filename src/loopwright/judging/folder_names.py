"""What the name of a folder says about its files: product, tests, or other programs. Pure, and read by people.

The lists of source names are the only ones that let the work change files. A name that no list has says nothing.
"""

from __future__ import annotations

import re
from enum import StrEnum

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# In any spelling: `Tests`, `unit_tests`, `App.Tests`, `integration-test`, `e2eTests`.
_TEST_WORDS = frozenset(
    [
        "test", "tests", "testing", "testdata", "testsuite", "testsuites", "testcase", "testcases", "testkit",
        "testutil", "testutils", "testhelper", "testhelpers", "testsupport", "unittest", "unittests", "qa", "fixture",
        "fixtures", "golden", "goldens", "cypress", "playwright", "uat",
    ]
)  # fmt: skip
_TEST_NAMES = frozenset(["t", "xt", "e2e", "__tests__", "__mocks__", "__snapshots__"])
# Names of tests and of products. Source that imports such a folder decides.
_PERHAPS_TEST_WORDS = frozenset(
    [
        "spec", "specs", "check", "checks", "checker", "checkers", "verify", "verification", "feature", "features",
        "integration", "integrations", "acceptance", "functional", "regression", "conformance", "compliance", "smoke",
        "mock", "mocks", "stub", "stubs", "snapshot", "snapshots", "fuzz", "fuzzing", "bdd", "harness",
    ]
)  # fmt: skip
# Programs that run checks, build or deploy: their files may decide what a check says.
_OTHER_WORDS = frozenset(
    [
        "example", "examples", "sample", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks",
        "playground", "playgrounds",
    ]
)  # fmt: skip
_OTHER_NAMES = frozenset(
    [
        "docs", "doc", "scripts", "script", "tools", "tool", "bin", "ci", "build", "dist", "hack", "contrib", "vendor",
        "third_party", "node_modules", "venv", "env",
    ]
)  # fmt: skip
# Below a module of Go these are packages like others.
_GO_PACKAGES = frozenset(["doc", "env"])
_SOURCE = frozenset(["src", "lib", "app", "source", "sources", "pkg", "cmd", "internal", "include"])
# Folders in which the usual frameworks look for code, templates and files of a page.
_OF_FRAMEWORKS = frozenset(
    [
        "lua", "r", "priv", "libexec", "server", "client", "api", "backend", "frontend", "web", "pages", "components",
        "composables", "layouts", "routes", "controllers", "models", "views", "services", "middleware", "middlewares",
        "templates", "resources", "assets", "public", "static", "styles", "js", "css", "types",
    ]
)  # fmt: skip
_OF_SERVERS = frozenset(["config", "db", "database"])
# In a folder about which nothing is known, only these say enough: `support/lib` may belong to the tests.
_ANYWHERE = frozenset(["src", "app", "sources"])


class FolderKind(StrEnum):
    """What a name says."""

    TESTS = "tests"
    PERHAPS_TESTS = "perhaps_tests"
    OTHER = "other"
    SOURCE = "source"
    FRAMEWORK = "framework"
    SERVER = "server"
    UNKNOWN = "unknown"


def kind_of_folder(name: str, *, is_go: bool = False) -> FolderKind:
    """What the name of one folder says, whatever its spelling."""
    words = frozenset(word.lower() for word in _WORD.findall(name))
    lower = name.lower()
    if words & _TEST_WORDS or lower in _TEST_NAMES or "e2e" in lower:
        return FolderKind.TESTS
    if words & _PERHAPS_TEST_WORDS:
        return FolderKind.PERHAPS_TESTS
    if name.startswith(".") or words & _OTHER_WORDS or (lower in _OTHER_NAMES and not (is_go and name in _GO_PACKAGES)):
        return FolderKind.OTHER
    if lower in _SOURCE:
        return FolderKind.SOURCE
    if lower in _OF_SERVERS:
        return FolderKind.SERVER
    return FolderKind.FRAMEWORK if lower in _OF_FRAMEWORKS else FolderKind.UNKNOWN


def is_source_anywhere(name: str) -> bool:
    """Whether the name says "source" even below a folder about which nothing is known."""
    return name.lower() in _ANYWHERE
