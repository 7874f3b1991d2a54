"""Which folders of a project are source, tests, or unknown."""

from __future__ import annotations

import json

import pytest

from loopwright.judging.deciding_scripts import named_paths
from loopwright.judging.folder_names import FolderKind, kind_of_folder
from loopwright.judging.globs import matches
from loopwright.judging.project_files import find_project_files


def found(contents, scripts=(), named=()):
    """What is found in a project with these files and contents."""
    files = {path: text.encode() for path, text in contents.items()}
    return find_project_files(
        files,
        frozenset(scripts),
        named=frozenset(named),
        read_all=lambda paths: {path: files[path] for path in paths},
    )


@pytest.mark.parametrize(
    ("paths", "source"),
    [
        (["src/a/x.py", "tests/test_x.py", "setup.py", "docs/conf.py"], ["src/**"]),
        (["pkg/__init__.py", "pkg/x.py", "scripts/x.py", "noxfile.py"], ["pkg/**"]),
        (["loose/x.py", "hello.py"], ["hello.py"]),
        (["hello.py", "test_hello.py", "Makefile"], ["hello.py"]),
        (["api/app/__init__.py", "api/app/x.py", "api/tool.py", "web/src/a.ts"], ["api/app/**", "web/**"]),
        (["index.js", "lib/a.js", "test/a.test.js", "package.json"], ["lib/**", "index.js"]),
        (["main.go", "main_test.go", "go.mod"], ["*.go"]),
        (
            [
                "api/pyproject.toml",
                "api/app/__init__.py",
                "api/run.py",
                "web/package.json",
                "web/src/a.ts",
                "web/ci/b.js",
            ],
            ["api/app/**", "web/src/**", "api/run.py"],
        ),
        (
            [f"packages/{name}/{file}" for name in "abc" for file in ("package.json", "src/x.ts", "build.config.js")],
            ["packages/*/src/**"],
        ),
        (["hello.py", "check.py", "check_all.py", "checkout.py"], ["checkout.py", "hello.py"]),
        ([".ci/x.py", "README.md"], []),
        (["total.sh", "test.sh", "check.sh"], ["total.sh"]),
        (["hello.py", "check.sh", "deploy.sh"], ["hello.py"]),
    ],
)
def test_source_is_found_by_the_names_of_files(paths, source):
    assert list(find_project_files(paths).source) == source


@pytest.mark.parametrize(
    ("paths", "source", "test"),
    [
        (["lib/App.pm", "t/basic.t", "t/lib/TestUtil.pm"], ["lib/**"], "t/lib/TestUtil.pm"),
        (
            ["Package.swift", "Sources/A/a.swift", "Tests/ATests/Helpers.swift"],
            ["Sources/**"],
            "Tests/ATests/New.swift",
        ),
        (["package.json", "src/a.js", "cypress/support/commands.js"], ["src/**"], "cypress/e2e/login.cy.js"),
        (["package.json", "src/a.js", "features/steps.js"], ["src/**"], "features/login.feature"),
        (["package.json", "src/a.js", "integration-tests/login.js"], ["src/**"], "integration-tests/data.json"),
        (["package.json", "src/a.js", "qa/run.js"], ["src/**"], "qa/cases.feature"),
        (["App/App.csproj", "App/Main.cs", "App.Tests/T.csproj", "App.Tests/Help.cs"], ["App/**"], "App.Tests/Help.cs"),
        (["packages/a/Gemfile", "packages/a/lib/a.rb", "packages/a/spec/help.rb"], ["packages/a/lib/**"], None),
        (["app/__init__.py", "app/a.py", "unit_tests/__init__.py", "unit_tests/suite.py"], ["app/**"], None),
        (["a/__init__.py", "a/x.py", "props/__init__.py", "props/test_x.py", "props/conftest.py"], ["a/**"], None),
        (["go.mod", "api/x.go", "hack/y.go", "doc/z.go", "e2e/w.go", "main.go"], ["api/**", "doc/**", "*.go"], None),
        (
            ["pom.xml", "src/main/java/A.java", "src/integrationTest/java/B.java"],
            ["src/**"],
            "src/integrationTest/x.xml",
        ),
        (["src/App/A.cs", "src/App.Tests/Help.cs", "src/AppTests/Help.swift"], ["src/**"], "src/App.Tests/Help.cs"),
        (["Gemfile", "config/routes.rb", "app/a.rb", "config/environments/test.rb"], ["app/**", "config/**"], None),
        (["src/features/login.ts", "src/integration/x.ts", "src/checks/y.ts"], ["src/**"], None),
    ],
)
def test_a_folder_of_tests_is_no_source_whatever_its_name(paths, source, test):
    files = find_project_files(paths)
    assert list(files.source) == source
    assert test is None or matches(test, files.tests)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Tests", FolderKind.TESTS),
        ("unitTests", FolderKind.TESTS),
        ("App.UnitTests", FolderKind.TESTS),
        ("e2e-web", FolderKind.TESTS),
        ("t", FolderKind.TESTS),
        ("QA", FolderKind.TESTS),
        ("acceptance", FolderKind.PERHAPS_TESTS),
        ("integration_suite", FolderKind.PERHAPS_TESTS),
        ("pytest_asyncio", FolderKind.UNKNOWN),
        ("latest", FolderKind.UNKNOWN),
        ("inspector", FolderKind.UNKNOWN),
        ("checkout", FolderKind.UNKNOWN),
        ("watchOS Example", FolderKind.OTHER),
        ("Sources", FolderKind.SOURCE),
    ],
)
def test_the_words_of_a_name_decide_in_any_spelling(name, kind):
    assert kind_of_folder(name) is kind


def test_a_folder_about_which_nothing_is_known_is_protected_and_listed():
    files = found({"src/a.js": "", "stuff/x.js": "", "stuff/lib/y.js": ""})
    assert (files.source, files.unknown) == (("src/**",), ("stuff",))


def test_code_in_unknown_folders_is_source_if_there_is_no_other():
    assert found({"stuff/x.js": "", "README.md": ""}).source == ("stuff/**",)
    assert found({"stuff/run.js": ""}, scripts=["stuff/run.js"]).source == ()


@pytest.mark.parametrize(
    ("manifest", "text", "source"),
    [
        ("package.json", json.dumps({"main": "./core/index.js", "bin": {"a": "bin/a.js"}}), ["core/**", "bin/a.js"]),
        ("package.json", json.dumps({"exports": {".": {"import": "./core/i.js"}}}), ["core/**"]),
        ("package.json", json.dumps({"files": ["core/**/*.js", "tests"]}), ["core/**"]),
        ("package.json", json.dumps({"scripts": {"start": "node core/i.js", "test": "node other/i.js"}}), ["core/**"]),
        ("Cargo.toml", '[[bin]]\nname = "a"\npath = "core/main.rs"\n', ["core/**"]),
        ("composer.json", json.dumps({"autoload": {"psr-4": {"A\\": "core/"}}}), ["core/**"]),
        ("pyproject.toml", '[project]\nname = "core"\n', ["core/**"]),
        ("pyproject.toml", '[tool.setuptools]\npackages = ["core"]\n', ["core/**"]),
        ("pyproject.toml", "not toml [", []),
        ("package.json", "[1", []),
        ("examples/package.json", json.dumps({"main": "../core/index.js"}), []),
    ],
)
def test_a_manifest_names_source(manifest, text, source):
    files = dict.fromkeys(
        ["lib/a.rb", "bin/a.js", "bin/b.js", "core/x.js", "core/x.py", "tests/t.js", "other/i.js"], ""
    )
    assert sorted(found({**files, manifest: text}).source) == sorted(["lib/**", *source])


@pytest.mark.parametrize(
    ("importing", "text"),
    [
        ("server.js", "const x = require('./core/x');"),
        ("src/a.ts", "import {\n  x,\n} from '../core/x'"),
        ("src/a.ts", "import x from '@/core/x'"),
        ("main.py", "from core.x import y"),
        ("main.py", "import core"),
        ("lib/a.rb", "require_relative '../core/x'"),
        ("src/main.c", '#include "core/x.h"'),
        ("src/A.php", "use core\\x;"),
    ],
)
def test_source_makes_source_of_what_it_imports(importing, text):
    others = {"core/x.js": "require('../deep/z')", "deep/z.js": "", "judged/y.js": "", "src/b.js": ""}
    files = found({importing: text, **others, "tests/t.js": "require('../judged/y')"})
    assert {"core/**", "deep/**"} <= set(files.source)
    assert files.unknown == ("judged",)


def test_a_folder_with_a_name_of_tests_is_source_only_if_source_imports_it():
    contents = {"src/a.js": "import '../features/login'", "features/login.js": "", "e2e/x.js": ""}
    files = found(contents)
    assert "features/**" in files.source
    assert not matches("features/login.js", files.tests)
    imports_tests = found({**contents, "src/a.js": "import '../e2e/x'"})
    assert "e2e/**" not in imports_tests.source


def test_a_folder_from_which_the_tests_run_belongs_to_the_tests():
    contents = {"src/a.js": "", "main.js": "require('./verdicts/run')", "verdicts/run.js": "", "suite/x.js": ""}
    files = found(contents, scripts=["verdicts/run.js"], named=named_paths("mocha --recursive suite/ && cd src"))
    assert set(files.source) == {"src/**", "main.js"}
    assert matches("verdicts/cases.json", files.tests)
    assert matches("suite/new.js", files.tests)
    assert files.unknown == ()
