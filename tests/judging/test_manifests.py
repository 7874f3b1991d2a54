"""Which changes of a manifest steer no test."""

from __future__ import annotations

import pytest

from loopwright.judging.manifests import same_without_free_parts

CASES = [
    ("package.json", '{"scripts": {"test": "x"}}', '{"scripts": {"test": "x"}, "dependencies": {"a": "1"}}', True),
    ("package.json", '{"scripts": {"test": "x"}}', '{"scripts": {"test": "true"}}', False),
    ("package.json", '{"name": "a"}', '{"name": "a", "bin": {"a": "cli.js"}}', True),
    ("package.json", '{"name": "a"}', '{"name": "a", "bin": {"runner": "cli.js"}}', False),
    ("package.json", '{"name": "a", "bin": "a.js"}', '{"name": "a", "bin": {"a": "a.js", "b": "b.js"}}', True),
    ("package.json", '{"bin": {"a": "a.js"}}', '{"bin": {"a": "b.js"}}', False),
    ("package.json", '{"name": "a"}', '{"name": "a", "main": "a.js"}', False),
    ("package.json", '{"name": "a", "exports": "./a.js"}', '{"name": "chai", "exports": "./a.js"}', False),
    ("package.json", '{"main": "a.js"}', '{"main": "b.js"}', False),
    ("package.json", "{}", '{"browser": {"./tests/a.js": "./src/a.js"}}', False),
    ("package.json", "{}", '{"exports": {"./a": "./a.js"}}', False),
    ("package.json", '{"exports": "./a.js"}', '{"exports": {".": "./a.js", "./b": "./b.js"}}', True),
    ("package.json", '{"exports": "./a.js"}', '{"exports": {".": "./b.js"}}', False),
    ("package.json", '{"exports": {"./*": "./t/*"}}', '{"exports": {"./*": "./t/*", "./a": "./b.js"}}', False),
    ("package.json", '{"exports": {"./t/*": "./t/*"}}', '{"exports": {"./t/*": "./t/*", "./*": "./s/*"}}', True),
    ("package.json", '{"exports": {"./t/": "./t/"}}', '{"exports": {"./t/": "./t/", "./t/a": "./b.js"}}', False),
    (
        "package.json",
        '{"exports": {".": {"import": "./a.js", "default": "./b.js"}}}',
        '{"exports": {".": {"default": "./b.js", "import": "./a.js"}}}',
        False,
    ),
    ("Cargo.toml", "[[bin]]\nname='a'\npath='a.rs'\n", "[[bin]]\nname='a'\npath='b.rs'\n", False),
    ("Cargo.toml", "", "[[bin]]\nname='a'\npath='a.rs'\n[features]\nrunner=[]\n", True),
    ("Cargo.toml", "[features]\na=[]\n", "[features]\na=[]\ndefault=['a']\n", False),
    ("package.json", '{"name": "a"}', '{"name": "a", "type": "module"}', False),
    ("package.json", '{"name": "a"}', '{"name": "a", "mocha": {"require": "x"}}', False),
    ("requirements.txt", "a==1\n", "a==2\nb[x]>=1 ; python_version > '3'\n# why\n", True),
    ("requirements-dev.txt", "a\n", "a\n-e ./evil\n", False),
    ("requirements.txt", "a\n", "a @ https://example.org/a.zip\n", False),
    ("requirements.txt", "a\n", "--index-url x\na\n", False),
    ("requirements.txt", "a\n", "a\n-esrc\n", False),
    ("requirements.txt", "a\n", "a\n-rother.txt\n", False),
    ("requirements.txt", "a\n", "a\n--pre\n", False),
    ("requirements.txt", "a\n", "a\n.\n", False),
    ("requirements.txt", "a\n", "a\nevil.zip\n", False),
    ("requirements.txt", "a\n", "a\nevil.zi\\\np\n", False),
    ("requirements.txt", "a\n", "a\npytest-9-py3-none-any.whl\n", False),
    ("requirements.txt", "a\n", "a==1 ; python_version > '3' --config-settings x\n", False),
    ("requirements.txt", "a\n", "a==1 --global-option=x\n", False),
    ("requirements.txt", "a\n", "a==1.0,!=2 \\\n    --hash=sha256:0af --hash=sha256:1\nb (>=1) # why\n", True),
    ("go.mod", "module a\nrequire b/c v1\n", "module a\nrequire (\n b/c v2\n d/e v1 // indirect\n)\n", True),
    ("go.mod", "module a\n", "module a\nreplace b/c => ./c\n", False),
    ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\nversion='2'\n[dependencies]\nb='1'\n", True),
    ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\nbuild='x.rs'\n", False),
    ("setup.cfg", "[metadata]\nname=a\n", "[metadata]\nname=a\nversion=2\n[options]\ninstall_requires=b\n", True),
    ("setup.cfg", "[metadata]\nname=a\n", "[metadata]\nname=a\n[tool:pytest]\naddopts=-q\n", False),
    ("Makefile", "a", "b", False),
    ("pyproject.toml", "[project]\nname='a'\n", "[project]\nname='a'\ndependencies=['b[x]>=1']\n", True),
    ("pyproject.toml", "[project]\nname='a'\n", "[project]\nname='a'\ndependencies=['pytest @ file:src/b']\n", False),
    # The first dependency, also the other way round (below).
    ("pyproject.toml", "[project]\ndependencies=[]\n", "[project]\ndependencies=['b']\n", True),
    ("pyproject.toml", "[project.optional-dependencies]\n", "[project.optional-dependencies]\na=['b']\n", True),
    ("pyproject.toml", "[dependency-groups]\ndev=[]\n", "[dependency-groups]\ndev=['b']\n", True),
    ("pyproject.toml", "[tool.poetry.group]\n", "[tool.poetry.group.dev.dependencies]\nb='1'\n", True),
    ("pyproject.toml", "[project]\ndependencies=[]\n", "[project]\ndependencies=['b @ file:c']\n", False),
    ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "1"}}', True),
    ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "file:a"}}', False),
    ("package.json", '{"scripts": {}}', '{"scripts": {"test": "true"}}', False),
    ("Cargo.toml", "[dependencies]\n", "[dependencies]\nb='1'\n", True),
    ("setup.cfg", "[options]\ninstall_requires=\n", "[options]\ninstall_requires=b\n", True),
    ("pyproject.toml", "", "[dependency-groups]\ndev=['a==1', {include-group='x'}]\n", True),
    ("pyproject.toml", "", "[dependency-groups]\ndev=['pytest @ git+https://example.org/a']\n", False),
    ("pyproject.toml", "", "[tool.poetry.dependencies]\na={version='1', extras=['b']}\n", True),
    ("pyproject.toml", "", "[tool.poetry.group.dev.dependencies]\npytest={path='src/a'}\n", False),
    ("pyproject.toml", "", "[tool.uv.sources]\npytest={path='src/a'}\n", False),
    ("pyproject.toml", "", "[project.scripts]\na='a:main'\n", True),
    ("pyproject.toml", "", "[project.scripts]\nrunner='a:main'\n", False),
    ("pyproject.toml", "[project.scripts]\na='a:main'\n", "[project.scripts]\na='b:main'\n", False),
    ("pyproject.toml", "[project.scripts]\na='a:main'\n", "[project.scripts]\na='a:main'\nb='b:main'\n", True),
    ("pyproject.toml", "", "[project.entry-points.x]\nrunner='a'\n", True),
    ("pyproject.toml", "[project.entry-points.x]\na='a'\n", "[project.entry-points.x]\na='b'\n", False),
    ("pyproject.toml", "[project.entry-points.x]\na='a'\n", "[project.entry-points.x]\na='a'\nb='b'\n", True),
    ("pyproject.toml", "", "[project.entry-points.pytest11]\na='a'\n", False),
    ("package.json", "{}", '{"devDependencies": {"mocha": "file:src/a"}}', False),
    ("package.json", "{}", '{"devDependencies": {"mocha": "npm:other@1"}}', False),
    ("package.json", "{}", '{"devDependencies": {"mocha": "evil.tgz"}}', False),
    ("package.json", "{}", '{"devDependencies": {"mocha": "1.0.0-evil.tar.gz"}}', False),
    ("package.json", "{}", '{"devDependencies": {"mocha": ".."}}', False),
    ("package.json", "{}", '{"devDependencies": {"a": "^1.2 || >=3 <4", "b": "latest", "c": "*", "d": ""}}', True),
    ("package.json", '{"dependencies": {"a": "user/a"}}', '{"dependencies": {"a": "user/a", "b": "^2"}}', True),
    ("Cargo.toml", "", "[dev-dependencies]\nproptest={path='a'}\n", False),
    ("Cargo.toml", "", "[dependencies]\na={version='1', package='b'}\n", False),
    ("Cargo.toml", "", "[dependencies]\na={version='1', unknown='b'}\n", False),
    ("Cargo.toml", "", "[dependencies]\na={version='1', features=['b/c'], default-features=false}\n", True),
    ("pyproject.toml", "", "[tool.poetry.dependencies]\na=[{version='1', python='<3'}, {version='2'}]\n", True),
    ("pyproject.toml", "", "[tool.poetry.dependencies]\na=[{version='1'}, {url='x'}]\n", False),
    ("pyproject.toml", "", "[tool.pdm.dev-dependencies]\ndev=['-e src']\n", False),
    ("setup.cfg", "[a]\n", "[a]\n[options.entry_points]\nconsole_scripts =\n    b = b:main\n", True),
    ("setup.cfg", "[a]\n", "[a]\n[options.entry_points]\nconsole_scripts =\n    runner = b:main\n", False),
    ("setup.cfg", "[options.entry_points]\nx =\n  a = a\n", "[options.entry_points]\nx =\n  a = b\n", False),
    ("setup.cfg", "[a]\n", "[a]\n[options]\ninstall_requires =\n    b @ file:src/b\n", False),
]


@pytest.mark.parametrize(("name", "before", "after", "same"), CASES)
def test_only_parts_that_steer_no_test_are_free(name, before, after, same):
    assert same_without_free_parts(f"sub/{name}", lambda: (before.encode(), after.encode()), _is_command) is same


def _is_command(name: str) -> bool:
    return name == "runner"


@pytest.mark.parametrize(("name", "before", "after"), [row[:3] for row in CASES if "depend" in row[1] and row[3]])
def test_the_last_dependency_may_go_too(name, before, after):
    def read():
        return after.encode(), before.encode()

    assert same_without_free_parts(name, read, lambda command: command == "runner")


def test_a_manifest_that_is_no_text_is_not_free():
    assert not same_without_free_parts("package.json", lambda: (b"{}", b"\xff"), _is_command)
    assert not same_without_free_parts("package.json", lambda: (b"[]", b"[1]"), _is_command)
