"""Which files the work may change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.judging.deciding_scripts import deciding_scripts, import_roots
from loopwright.judging.ignore_files import comparable_rules
from loopwright.judging.project_files import DOCS, TESTS
from loopwright.judging.scope import BaseFacts, FileChange, FilePart, TreeEntry, WorkScope

PYPROJECT = b'[project]\nname = "a"\nversion = "1"\n[tool.pytest.ini_options]\naddopts = "-q"\n'
BASE = {
    "src/app/__init__.py": b"",
    "src/app/core.py": b"",
    "src/app/tests.py": b"",
    "tests/test_core.py": b"from app import core\n",
    "tests/data/golden.txt": b"",
    "Makefile": b"test:\n\tpytest\n",
    "pyproject.toml": PYPROJECT,
    "uv.lock": b"",
    "README.md": b"",
    "scripts/check.sh": b"",
    "flat.py": b"",
    "src/app/known.toml": b"",
    "src/app/known.tmpl9": b"",
    "src/bunfig.toml": b"",
    "src/mocha.opts": b"",
    "src/Directory.Build.props": b"",
    "src/testng.xml": b"",
    "src/main/resources/logback-test.xml": b"",
    "src/xunit.runner.json": b"",
    "src/snapshots/a.snap": b"",
    "src/snapshots/page.html": b"",
    "src/snapshots/source.go": b"",
    "src/__mocks__/fs.js": b"",
    "src/app/rules.mk": b"",
}
SCOPE = WorkScope(source=("src/**", "flat.py"), tests=TESTS, docs=DOCS, protect=("src/app/vendored/**",))


def part(path, after=b"new", *, scope=SCOPE, mode="100644", also=()):
    """The part of a project to which a change of one file belongs. `also` are other changes: path and new mode."""
    blobs = {"new": after}

    def entry(name, data):
        blobs[name] = data or b""
        return None if data is None else TreeEntry(mode, name)

    before = entry("old", BASE.get(path))
    change = FileChange(path, before if before is None else TreeEntry("100644", "old"), entry("new", after))
    tree = BaseFacts(
        read=lambda blob: blobs[blob],
        has_file=BASE.__contains__,
        has_folder=lambda folder: any(name.startswith(f"{folder}/") for name in BASE),
        is_installed={"requests"}.__contains__,
        is_judge_module={"expected", "test_core"}.__contains__,
        is_product_module={"app", "flat", "space.core"}.__contains__,
        is_command=lambda name: False,
        has_kind={".py", ".txt", ".xml"}.__contains__,
        ignored=lambda path, rules, others: frozenset(rules.decode().split()).intersection({"core.py", "flat.py"}),
    )
    known = TreeEntry("100644", "old")
    others = [
        FileChange(name, known if name in BASE else None, None if other is None else TreeEntry(other, "new"))
        for name, other in dict(also).items()
    ]
    return scope.part(change, tree, scope.changed_paths((change, *others), tree))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app/core.py", FilePart.WORK),
        ("src/app/new.py", FilePart.WORK),
        ("src/app/data/new.json", FilePart.WORK),
        ("flat.py", FilePart.WORK),
        ("other_flat.py", FilePart.PROTECTED),
        ("src/app/tests.py", FilePart.PROTECTED),
        ("src/app/vendored/x.py", FilePart.PROTECTED),
        ("tests/test_core.py", FilePart.PROTECTED),
        ("tests/data/golden.txt", FilePart.PROTECTED),
        ("tests/test_new.py", FilePart.NEW_TEST),
        ("tests/data/new.txt", FilePart.NEW_TEST),
        ("src/app/new_test.py", FilePart.NEW_TEST),
        ("tests/conftest.py", FilePart.PROTECTED),
        ("src/app/conftest.py", FilePart.PROTECTED),
        ("tests/pytest.toml", FilePart.PROTECTED),
        ("src/evil.dist-info/entry_points.txt", FilePart.PROTECTED),
        ("src/x.pth", FilePart.PROTECTED),
        ("src/.env", FilePart.PROTECTED),
        ("src/app/.hidden/x.py", FilePart.PROTECTED),
        ("src/app/core.so", FilePart.PROTECTED),
        ("src/app/AGENTS.md", FilePart.PROTECTED),
        ("src/app/page.html", FilePart.WORK),
        ("src/app/data.xml", FilePart.WORK),
        ("src/app/steers.unknown", FilePart.PROTECTED),
        ("src/app/Steersfile", FilePart.PROTECTED),
        ("src/app/new.toml", FilePart.PROTECTED),
        ("src/app/known.toml", FilePart.PROTECTED),
        ("src/app/known.tmpl9", FilePart.WORK),
        ("src/bunfig.toml", FilePart.PROTECTED),
        ("src/mocha.opts", FilePart.PROTECTED),
        ("src/Directory.Build.props", FilePart.PROTECTED),
        ("src/testng.xml", FilePart.PROTECTED),
        ("src/main/resources/logback-test.xml", FilePart.PROTECTED),
        ("src/xunit.runner.json", FilePart.PROTECTED),
        ("src/snapshots/a.snap", FilePart.PROTECTED),
        ("src/snapshots/page.html", FilePart.PROTECTED),
        ("src/snapshots/source.go", FilePart.WORK),
        ("src/setupTests.js", FilePart.PROTECTED),
        ("src/__mocks__/axios.js", FilePart.PROTECTED),
        ("src/__mocks__/fs.js", FilePart.PROTECTED),
        ("src/app/rules.mk", FilePart.PROTECTED),
        ("src/app/program", FilePart.PROTECTED),
        ("src/any.config.ts", FilePart.PROTECTED),
        ("tests/data/new.unknown", FilePart.NEW_TEST),
        ("tests/new.toml", FilePart.PROTECTED),
        ("tests/Steersfile", FilePart.PROTECTED),
        ("CHANGES", FilePart.FREE),
        ("site/guide.md", FilePart.FREE),
        ("src/sitecustomize.py", FilePart.PROTECTED),
        ("Makefile", FilePart.PROTECTED),
        ("GNUmakefile", FilePart.PROTECTED),
        ("scripts/check.sh", FilePart.PROTECTED),
        ("pytest.ini", FilePart.PROTECTED),
        ("README.md", FilePart.FREE),
        ("docs/guide.md", FilePart.FREE),
        ("docs/conf.py", FilePart.PROTECTED),
        (".gitignore", FilePart.FREE),
        (".gitattributes", FilePart.PROTECTED),
        (".loopwright/config.toml", FilePart.PROTECTED),
    ],
)
def test_a_file_is_work_free_or_protected(path, expected):
    assert part(path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/json.py", FilePart.PROTECTED),
        ("src/requests.py", FilePart.PROTECTED),
        ("src/requests/__init__.py", FilePart.PROTECTED),
        ("src/requests/data.py", FilePart.WORK),
        ("src/app/json.py", FilePart.WORK),
        ("src/app/unittest/__init__.py", FilePart.WORK),
        ("tests/unittest.py", FilePart.PROTECTED),
        ("src/other.py", FilePart.WORK),
        ("src/expected.py", FilePart.PROTECTED),
        ("src/app/expected.py", FilePart.WORK),
        ("tests/unit/test_core.py", FilePart.NEW_TEST),
    ],
)
def test_a_module_that_shadows_an_importable_module_is_protected(path, expected):
    assert part(path) is expected


@pytest.mark.parametrize(
    ("path", "after", "also", "expected"),
    [
        ("tests/flat.py", b"", {}, FilePart.PROTECTED),
        ("tests/unit/flat.py", b"", {}, FilePart.PROTECTED),
        ("tests/app.py", b"", {}, FilePart.PROTECTED),
        ("tests/app/__init__.py", b"x = 1", {}, FilePart.PROTECTED),
        ("tests/space/core.py", b"", {}, FilePart.PROTECTED),
        # A folder for tests of the product, with its name.
        ("tests/app/__init__.py", b"# tests\n", {}, FilePart.NEW_TEST),
        ("tests/app/test_core.py", b"", {"tests/app/__init__.py": "100644"}, FilePart.NEW_TEST),
        ("tests/app/helper.py", b"", {}, FilePart.NEW_TEST),
        ("tests/app/helper.py", b"", {"tests/app/__init__.py": "100644"}, FilePart.PROTECTED),
        ("tests/app/in/__init__.py", b"x = 1", {"tests/app/__init__.py": "100644"}, FilePart.NEW_TEST),
        ("tests/unit/flat.py", b"", {"tests/unit/__init__.py": "100644"}, FilePart.NEW_TEST),
        ("tests/core.py", b"", {}, FilePart.NEW_TEST),
        ("tests/test_flat.py", b"", {}, FilePart.NEW_TEST),
        ("tests/flat.txt", b"", {}, FilePart.NEW_TEST),
    ],
)
def test_a_new_test_file_that_hides_the_product_is_protected(path, after, also, expected):
    assert part(path, after, also=also) is expected


def test_a_package_of_tests_from_which_python_imports_can_hide_the_product():
    package = {"tests/new/__init__.py": "100644"}
    assert part("tests/new/flat.py", b"", also=package) is FilePart.NEW_TEST
    scope = replace(SCOPE, import_roots=frozenset({"tests/new"}))
    assert part("tests/new/flat.py", b"", scope=scope, also=package) is FilePart.PROTECTED


def test_a_document_is_one_unless_a_plan_names_it_exactly():
    change = FileChange("README.md", None, TreeEntry("100644", "0"))
    scope = WorkScope(source=("src/**",), docs=DOCS)
    assert scope.is_doc(change)
    assert not replace(scope, planned=("README.md",)).is_doc(change)
    assert not scope.is_doc(replace(change, path="src/a.py"))


FILE, LINK, GONE = "100644", "120000", None


@pytest.mark.parametrize(
    ("path", "also", "expected"),
    [
        ("src/app/new/types.py", {"src/app/new/__init__.py": FILE}, FilePart.WORK),
        ("src/new/types.py", {"src/new/__init__.py": FILE}, FilePart.WORK),
        ("src/new/in/types.py", {"src/new/__init__.py": FILE, "src/new/in/__init__.py": FILE}, FilePart.WORK),
        ("src/new/types.py", {}, FilePart.PROTECTED),
        # Only an `__init__.py` that enters the verification tree makes a package.
        ("src/new/types.py", {"src/new/__init__.py": LINK}, FilePart.PROTECTED),
        ("src/json/types.py", {"src/json/__init__.py": FILE}, FilePart.PROTECTED),
        # A folder of the base may be a folder from which Python imports, whatever is added to it.
        ("src/json.py", {"src/__init__.py": FILE}, FilePart.PROTECTED),
        ("tests/json.py", {"tests/__init__.py": FILE}, FilePart.PROTECTED),
        # pytest imports from the folder of a test that is in no package.
        ("src/app/json.py", {"src/app/__init__.py": GONE}, FilePart.PROTECTED),
        ("src/app/json.py", {"src/app/__init__.py": FILE}, FilePart.WORK),
    ],
)
def test_a_module_inside_a_package_shadows_nothing(path, also, expected):
    assert part(path, also=also) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app/json.py", FilePart.PROTECTED),
        ("src/app/requests/__init__.py", FilePart.PROTECTED),
        # The script would import it in place of the module at the top of the project.
        ("src/app/flat.py", FilePart.PROTECTED),
        ("src/app/other.py", FilePart.WORK),
        ("src/app/inner/json.py", FilePart.PROTECTED),
    ],
)
def test_the_folder_of_a_script_is_an_import_root_although_it_is_a_package(path, expected):
    assert part(path, scope=replace(SCOPE, import_roots=frozenset({"src/app"}))) is expected


@pytest.mark.parametrize(
    ("command", "cwd", "roots"),
    [
        ("python pkg/check.py", "", {"", "pkg"}),
        ("python pkg/check.py | grep ok > out/log.txt", "", {"", "pkg"}),
        ("cd pkg && python check.py", "", {"pkg"}),
        ("python -m unittest", "./pkg", {"pkg"}),
        ("python -m unittest discover -v -s tests", "pkg", {"pkg", "pkg/tests"}),
        ("python -m unittest discover tests", "", {"", "tests"}),
        ("python -m unittest discover -s tests -t .", "", {""}),
        ("python run", "", {"", "run"}),
        ('PYTHONPATH="src/app:$PYTHONPATH" python -m pytest', "", {"", "src/app"}),
        ("python ../other/check.py; python /tmp/check.py", "", {""}),
    ],
)
def test_python_looks_for_modules_in_the_folder_of_its_script_and_of_the_command(command, cwd, roots):
    assert import_roots(command, cwd, frozenset({"run/__main__.py"})) == roots


def test_a_script_that_decides_is_protected_unless_a_plan_names_it_exactly():
    scope = WorkScope(source=("flat.py",), tests=TESTS, docs=DOCS, scripts=frozenset({"flat.py"}))
    assert part("flat.py", scope=scope) is FilePart.PROTECTED
    assert part("flat.py", scope=replace(scope, planned=("flat.py",))) is FilePart.WORK


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("python3 check.py", ["check.py"]),
        ("python3 -W error ./tools/check.py --fast && sh verify.sh", ["error", "verify.sh"]),
        ("cd web && timeout 60 node check.mjs; ./run", ["web/check.mjs", "web/run"]),
        ("python3 hello.py Ann | grep -q 'hello Ann'", []),
        ('test "$(python3 hello.py Ann)" = "hello Ann"', []),
        ("python3 -m pytest -q tests", []),
        ("python3 -c 'import hello'", []),
        ("sh ../outside.sh; sh /bin/x.sh; sh $X", []),
        ("echo 1 | python3 check.py || exit 1", ["check.py"]),
        ("python3 -m doctest -v README.md docs/use.rst hello.py", ["README.md", "docs/use.rst"]),
        ("node --test tests/a.test.js", []),
        ("node --test checks/a.js", ["checks/a.js"]),
        ("node tests/a.test.js", ["tests/a.test.js"]),
    ],
)
def test_a_script_decides_if_its_exit_code_does(command, scripts):
    assert sorted(deciding_scripts(command, tests=("tests/**",))) == scripts


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        (b"a\nb\n", b"a\n# more\nc/\n\nb\n*.d\n", (b"a\nb\n", b"a\nc/\nb\n*.d\n")),
        (b"\xef\xbb\xbfa\r\n", b"a\nb", (b"a\n", b"a\nb\n")),
        (None, b"a\n", (b"", b"a\n")),
        (b"a\n", None, (b"a\n", b"")),
        (b"a\n", b"a\n!b\n", (b"a\n", b"a\n!b\n")),
        (b"a\n!b\n", b"a\n", None),
        (b"a\n!b\n", None, None),
        (b"a\n", b"a\nsrc/{b,c}.py\n", None),
        (b"{a}\n", b"{a}\nb\n", (b"{a}\n", b"{a}\nb\n")),
    ],
)
def test_ignore_files_are_compared_only_if_git_can_tell_what_they_hide(before, after, rules):
    assert comparable_rules("x/.gitignore", before, after) == rules


def test_rules_for_docker_are_read_as_docker_reads_them():
    assert comparable_rules(".dockerignore", None, b"./app/x.py/\n!./b\n") == (b"", b"app/x.py\n!b\n")


def test_without_its_own_file_npm_reads_the_one_for_git():
    assert comparable_rules(".npmignore", b"a\n", None) is None


@pytest.mark.parametrize("name", [".gitignore", "src/.gitignore", ".dockerignore"])
def test_an_ignore_file_that_hides_a_file_of_the_project_is_protected(name):
    assert part(name, b"build/\n") is FilePart.FREE
    assert part(name, b"core.py\n") is FilePart.PROTECTED


def test_deleting_a_file_needs_the_same_right_as_changing_it():
    assert part("src/app/core.py", None) is FilePart.WORK
    assert part("tests/test_core.py", None) is FilePart.PROTECTED


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_links_and_repositories_are_protected(mode):
    assert part("src/app/new.py", mode=mode) is FilePart.PROTECTED


def test_a_plan_replaces_the_source_and_can_name_a_protected_file_only_exactly():
    names = ("src/app/core.py", "conftest.py", "tests/*")
    planned = WorkScope(source=("src/**",), tests=TESTS, docs=DOCS, planned=names)
    assert part("src/app/core.py", scope=planned) is FilePart.WORK
    assert part("src/app/new.py", scope=planned) is FilePart.PROTECTED
    assert part("conftest.py", scope=planned) is FilePart.WORK
    assert part("tests/conftest.py", scope=planned) is FilePart.PROTECTED
    assert part("tests/test_core.py", scope=planned) is FilePart.PROTECTED


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (PYPROJECT.replace(b'"1"', b'"2"'), FilePart.FREE),
        (PYPROJECT.replace(b"[tool", b'dependencies = ["x"]\n[tool'), FilePart.FREE),
        (PYPROJECT + b'[project.scripts]\na = "app:main"\n', FilePart.FREE),
        (PYPROJECT + b'[project.entry-points.pytest11]\na = "app"\n', FilePart.PROTECTED),
        (PYPROJECT.replace(b"-q", b"-q -k nothing"), FilePart.PROTECTED),
        (PYPROJECT + b"[tool.unknown]\na = 1\n", FilePart.PROTECTED),
        (b"not toml [", FilePart.PROTECTED),
        (None, FilePart.PROTECTED),
    ],
)
def test_only_free_parts_of_a_manifest_may_change(after, expected):
    assert part("pyproject.toml", after) is expected


def test_a_lock_file_is_free_next_to_its_manifest_only():
    lock = b"version = 1\nrequires-python = '>=3.11'\n"
    assert part("uv.lock", lock) is FilePart.PROTECTED
    assert part("uv.lock", lock, also={"pyproject.toml": "100644"}) is FilePart.FREE
    assert part("uv.lock", b"unknown = 1\n", also={"pyproject.toml": "100644"}) is FilePart.PROTECTED
