"""Which changes of a lock file need no person."""

from __future__ import annotations

import pytest
from tests.judging.lock_files import samples as s

from loopwright.judging.lock_files.compare import is_free_lock_file

MANIFESTS = ["pyproject.toml", "Pipfile", "package.json", "Cargo.toml", "go.mod", "Gemfile", "composer.json"]
SUB_MANIFESTS = tuple(f"sub/{name}" for name in MANIFESTS)
SAMPLES = {
    "uv.lock": s.UV, "poetry.lock": s.POETRY, "pdm.lock": s.PDM, "Pipfile.lock": s.PIPENV, "package-lock.json": s.NPM,
    "npm-shrinkwrap.json": s.NPM, "pnpm-lock.yaml": s.PNPM, "yarn.lock": s.YARN, "Cargo.lock": s.CARGO, "go.sum": s.GO,
    "Gemfile.lock": s.BUNDLER,
}  # fmt: skip
OLD_NODE = '    "node_modules/chalk": {'
POETRY_SOURCE = '[package.source]\ntype = "legacy"\nurl = "https://example.org/simple"\nreference = "x"\n'
EVIL_ARCHIVE = "tarball: 'https://example.org/chalk/-/chalk-4.1.0.tgz', "
CRATES = "registry+https://github.com/rust-lang/crates.io-index"
GEM_SECTION = "GEM\n  remote: https://rubygems.org/"


def is_free(name, before, after, *, changed=SUB_MANIFESTS):
    return is_free_lock_file(f"sub/{name}", frozenset(changed), lambda: (before.encode(), after.encode()))


def edited(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def test_a_lock_file_is_free_next_to_its_changed_manifest_only():
    for name, sample in SAMPLES.items():
        assert is_free(name, sample, sample), name
        assert not is_free(name, sample, sample, changed=MANIFESTS), name
    assert not is_free("composer.lock", "{}", "{}"), "its addresses prove nothing"
    assert not is_free("other.lock", "", "")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_new_lock_file_is_free_with_the_default_registry(name):
    assert is_free(name, "", SAMPLES[name].replace("  mine!\n", ""))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_deleted_or_damaged_lock_file_is_not_free(name):
    for damaged in (SAMPLES[name] + "\n= {", "\0", "[" * 100_000, "{" * 100_000):
        assert not is_free(name, SAMPLES[name], damaged)
    assert not is_free(name, SAMPLES[name], "")


# A sample, changes of its text, and whether the changed file is free.
CHANGES = [
    # A bump and a new package.
    ("uv.lock", [("8.1.6", "8.1.8"), (s.A, s.C), (s.B, "d" * 64)], True),
    ("uv.lock", [("[[package]]\nname = \"click\"", f"{s.UV_NEW}\n[[package]]\nname = \"click\"")], True),
    ("poetry.lock", [("8.1.6", "8.1.8"), (s.A, "d" * 64), (s.B, "e" * 64)], True),
    ("pdm.lock", [("8.1.6", "8.1.8"), (s.A, "d" * 64)], True),
    ("Pipfile.lock", [("8.1.6", "8.1.8"), (s.A, "d" * 64)], True),
    ("package-lock.json", [("4.1.0", "4.1.2"), (OLD_NODE, s.NPM_NEW + OLD_NODE)], True),
    ("package-lock.json", [("9.2.2", "10.0.0"), ("^9", "^10"), ("bin/mocha", "bin/mocha.js")], True),
    ("pnpm-lock.yaml", [("4.1.0", "4.1.2"), ("ansi-styles: 4.3.0", "a-cjs: ansi-styles@4.3.0")], True),
    ("yarn.lock", [("4.1.0", "4.1.2")], True),
    ("yarn.lock", [("\nchalk@4.1.0:", '\n"chalk-cjs@npm:chalk@^4.1.0", chalk@4.1.0:')], True),
    ("Cargo.lock", [("1.0.9", "1.0.10"), (s.A, s.B)], True),
    ("go.sum", [("v1.8.0", "v1.8.4"), ("A", "C")], True),
    ("Gemfile.lock", [("13.0.6", "13.1.0"), (s.A, s.B), ("0.1.0", "0.2.0")], True),
    # Another place.
    ("uv.lock", [('registry = "https://pypi.org/simple"', 'directory = "src/click"')], False),
    ("uv.lock", [('registry = "https://pypi.org/simple"', 'registry = "src/simple"')], False),
    ("uv.lock", [('registry = "https://pypi.org/simple"', 'registry = "https://example.org/simple"')], False),
    ("uv.lock", [('registry = "https://pypi.org/simple"', 'git = "https://github.com/x/click"')], False),
    ("uv.lock", [('virtual = "."', 'editable = "src"')], False),
    ("uv.lock", [("https://files.pythonhosted.org/packages/1a", "https://example.org")], False),
    ("uv.lock", [("https://files.pythonhosted.org/", "https://files.pythonhosted.org@example.org/")], False),
    ("uv.lock", [("https://files.pythonhosted.org/packages/1a", "https://files.pythonhosted.org.example.org")], False),
    ("uv.lock", [('sdist = { url = "https:', 'sdist = { path = "https:')], False),
    ("uv.lock", [('marker = "sys', 'unknown = "sys')], False),
    ("uv.lock", [("revision = 3", "revision = 3\n[manifest]\nmembers = ['a']")], False),
    ("poetry.lock", [("[metadata]", '[package.source]\ntype="git"\nurl="https://x.y/z"\n[metadata]')], False),
    ("poetry.lock", [("[metadata]", f"{POETRY_SOURCE}[metadata]")], False),
    ("poetry.lock", [("optional = false", "develop = true")], False),
    ("pdm.lock", [('groups = ["default"]\ndep', 'path = "./src"\ngroups = ["default"]\ndep')], False),
    ("pdm.lock", [('{file = "click', '{url = "https://example.org/click')], False),
    ("pdm.lock", [('"colorama; ', '"colorama @ file:src ; ')], False),
    ("Pipfile.lock", [("https://pypi.org/simple", "https://example.org/simple")], False),
    ("Pipfile.lock", [("true", "false")], False),
    ("Pipfile.lock", [('"index": "pypi"', '"path": "src"')], False),
    ("Pipfile.lock", [('"index": "pypi"', '"index": "unknown"')], False),
    ("package-lock.json", [("https://registry.npmjs.org/chalk/-/chalk-4.1.0.tgz", "file:src/chalk")], False),
    ("package-lock.json", [("https://registry.npmjs.org/chalk/", "https://example.org/chalk/")], False),
    ("package-lock.json", [("https://registry.npmjs.org/chalk/", "http://registry.npmjs.org/chalk/")], False),
    ("package-lock.json", [("https://registry.npmjs.org/chalk/", "https://registry.npmjs.org/evil/../chalk/")], False),
    ("package-lock.json", [('"license": "MIT"', '"link": true')], False),
    ("package-lock.json", [('"license": "MIT"', '"unknown": "src"')], False),
    ("package-lock.json", [('"chalk": "4.1.0"', '"chalk": "file:src/chalk"')], False),
    ("package-lock.json", [('"lockfileVersion": 3,', '"lockfileVersion": 3, "lockfileVersion": 3,')], False),
    ("package-lock.json", [(OLD_NODE, '    "packages/x": {"version": "1.0.0"},\n' + OLD_NODE)], False),
    ("package-lock.json", [('"1.0.0", "dep', '"1.0.0", "workspaces": ["x"], "dep')], False),
    ("pnpm-lock.yaml", [("resolution: {integrity", "resolution: {tarball: file:src.tgz, integrity")], False),
    ("pnpm-lock.yaml", [("resolution: {integrity", f"resolution: {{{EVIL_ARCHIVE}integrity")], False),
    ("pnpm-lock.yaml", [("        version: 4.1.0", "        version: link:src/chalk")], False),
    ("pnpm-lock.yaml", [("settings:", "overrides:\n  mocha: 1.0.0\n\nsettings:")], False),
    ("pnpm-lock.yaml", [("  .:\n", "  packages/x: {}\n\n  .:\n")], False),
    ("yarn.lock", [("https://registry.yarnpkg.com/chalk/", "https://example.org/chalk/")], False),
    ("yarn.lock", [("https://registry.yarnpkg.com/chalk/-/chalk-4.1.0.tgz", "file:./src/chalk")], False),
    ("yarn.lock", [("\nchalk@4.1.0:", '\n"chalk@file:src":')], False),
    ("Cargo.lock", [(CRATES, "git+https://github.com/x/itoa#1")], False),
    ("Cargo.lock", [("registry+https://github.com/rust-lang/", "registry+https://github.com/evil/")], False),
    ("Cargo.lock", [('source = "registry+https://github.com/rust-lang/crates.io-index"\n', "")], False),
    ("go.sum", [("v1.8.0 h1", "v1.9.0 h2")], False),
    ("Gemfile.lock", [("https://rubygems.org/", "https://example.org/")], False),
    ("Gemfile.lock", [(GEM_SECTION, f"GIT\n  remote: https://x.y/z\n  specs:\n    rspec (1)\n\n{GEM_SECTION}")], False),
    ("Gemfile.lock", [(GEM_SECTION, f"PATH\n  remote: src\n  specs:\n    rspec (1)\n\n{GEM_SECTION}")], False),
    ("Gemfile.lock", [("  rake (~> 13.0)", "  rake (~> 13.0)!")], False),
    # Another package under a known name.
    ("uv.lock", [("click-8.1.6-py3", "evil-8.1.6-py3")], False),
    ("uv.lock", [("/click-8.1.6.tar", "/click-evil-8.1.6.tar")], False),
    ("poetry.lock", [('"click-8.1.6.tar', '"evil-8.1.6.tar')], False),
    ("package-lock.json", [("/mocha/-/mocha-9.2.2", "/evil/-/evil-9.2.2")], False),
    ("package-lock.json", [("/mocha/-/mocha-9.2.2", "/evil/-/evil-9.2.2"), ('"dev": true', '"name": "evil"')], False),
    ("package-lock.json", [("/mocha/-/mocha-9.2.2", "/mocha/-/mocha-1.0.0")], False),
    ("pnpm-lock.yaml", [("        version: 4.1.0", "        version: evil@4.1.0")], False),
    ("pnpm-lock.yaml", [("ansi-styles: 4.3.0", "chalk: evil@4.3.0")], False),
    ("yarn.lock", [("mocha@^9.0.0", '"mocha@npm:evil@^9.0.0"'), ("/mocha/-/mocha-", "/evil/-/evil-")], False),
    ("yarn.lock", [("\nchalk@4.1.0:", '\n"mocha@npm:chalk@^4.1.0", chalk@4.1.0:')], False),
    # A command of another package.
    ("package-lock.json", [('"license": "MIT"', '"bin": {"mocha": "x.js"}')], False),
    ("package-lock.json", [('"bin/mocha"', '"../x.js"'), ("9.2.2", "9.3.0")], False),
    # Other content for the same version, or no hash.
    ("uv.lock", [(s.A, s.C), (s.B, "d" * 64)], False),
    ("uv.lock", [(s.B, "d" * 64)], True),
    ("uv.lock", [(f', hash = "sha256:{s.B}"', "")], False),
    ("poetry.lock", [(s.A, "d" * 64), (s.B, "e" * 64)], False),
    ("pdm.lock", [(f'{{file = "click-8.1.6.tar.gz", hash = "sha256:{s.A}"}},', "")], False),
    ("Pipfile.lock", [(f'"sha256:{s.A}"', ""), ("8.1.6", "8.1.8")], False),
    ("package-lock.json", [(s.SHA, s.OTHER_SHA)], False),
    ("package-lock.json", [(f', "integrity": "{s.SHA}"', "")], False),
    ("pnpm-lock.yaml", [(s.SHA, s.OTHER_SHA)], False),
    ("yarn.lock", [(f"  integrity {s.SHA}\n", ""), ("#" + "1" * 40, "")], False),
    ("Cargo.lock", [(s.A, s.B)], False),
    ("Cargo.lock", [(f'checksum = "{s.A}"\n', "")], False),
    ("go.sum", [("A", "C")], False),
    ("Gemfile.lock", [(s.A, s.B)], False),
    ("Gemfile.lock", [(f" sha256={s.A}", "")], False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "pairs", "expected"), CHANGES)
def test_only_what_is_understood_is_free(name, pairs, expected):
    before = SAMPLES[name]
    assert is_free(name, before, edited(before, *pairs)) is expected


LATER_YARN = [
    ([("4.1.0", "4.1.2"), (s.A, s.B)], True),
    ([('"chalk@npm:4.1.0":', '"chalk-cjs@npm:chalk@^4.0.0, chalk@npm:4.1.0":')], True),
    ([("2.3.2", "2.3.3")], True),
    ([('"chalk@npm:4.1.0"\n  dep', '"evil@npm:4.1.0"\n  dep')], False),
    ([('"chalk@npm:4.1.0"\n  dep', '"chalk@npm:4.1.0::__archiveUrl=https%3A%2F%2Fexample.org"\n  dep')], False),
    ([('"chalk@npm:4.1.0":', '"chalk@file:./src":')], False),
    ([('chalk: "npm:4.1.0"', 'chalk: "portal:./src"')], False),
    ([("builtin<compat/fsevents>", "./src/x.patch")], False),
    ([("workspace:.", "workspace:src")], False),
    ([(f"  checksum: 10c0/{s.A}\n", "")], False),
    ([(s.A, s.B)], False),
]


@pytest.mark.parametrize(("pairs", "expected"), LATER_YARN)
def test_later_versions_of_yarn(pairs, expected):
    assert is_free("yarn.lock", s.BERRY, edited(s.BERRY, *pairs)) is expected
    assert is_free("yarn.lock", "", s.BERRY)


def test_a_file_that_only_looks_like_a_later_version_of_yarn_is_not_free():
    assert not is_free("yarn.lock", s.BERRY, s.BERRY.replace("__metadata:", "__metadata:x:"))


def test_a_registry_of_the_base_is_known():
    for name, default in [("uv.lock", "https://pypi.org/simple"), ("package-lock.json", "https://registry.npmjs.org")]:
        private = SAMPLES[name].replace(default, "https://packages.example.org/simple")
        bumped = private.replace("8.1.6", "8.1.8").replace("4.1.0", "4.1.2")
        assert is_free(name, private, bumped)
        assert not is_free(name, "", private)


def test_a_package_stays_in_its_registry():
    private = SAMPLES["uv.lock"].replace("https://pypi.org/simple", "https://packages.example.org/simple")
    assert not is_free("uv.lock", private, SAMPLES["uv.lock"].replace("8.1.6", "8.1.8"))


def test_a_host_of_a_repository_is_no_registry():
    git = s.NPM.replace("https://registry.npmjs.org/chalk/-/chalk-4.1.0.tgz", "git+https://github.com/x/chalk.git#1")
    new = git.replace("https://registry.npmjs.org/mocha", "https://github.com/mocha")
    assert not is_free("package-lock.json", git, new)
    assert is_free("package-lock.json", git, git.replace("9.2.2", "9.3.0"))


def test_an_alias_in_a_new_lock_file_is_not_free():
    after = s.NPM.replace(OLD_NODE, s.NPM_NEW + OLD_NODE)
    assert not is_free("package-lock.json", "", after)


def test_older_formats():
    nested = f"""{{"lockfileVersion": 1, "requires": true, "dependencies": {{
      "chalk": {{"version": "4.1.0", "integrity": "{s.SHA}", "requires": {{"a": "^1"}}, "dependencies": {{
        "a": {{"version": "1.0.0", "integrity": "{s.SHA}"}}
      }}}},
      "w-cjs": {{"version": "npm:w@1.0.0", "integrity": "{s.SHA}"}}
    }}}}"""
    assert is_free("package-lock.json", nested, nested.replace("1.0.0", "1.0.1"))
    assert not is_free("package-lock.json", nested, nested.replace('"1.0.0"', '"file:src/a"'))
    assert not is_free("package-lock.json", nested, nested.replace("npm:w@1.0.0", "npm:evil@1.0.0"))

    listed = f"""package = [{{name = "a", version = "1.0"}}]
[metadata]
lock-version = "1.1"
[metadata.files]
a = [{{file = "a-1.0.tar.gz", hash = "sha256:{s.A}"}}]
"""
    bumped = listed.replace("1.0", "1.2").replace(s.A, s.B)
    assert is_free("poetry.lock", listed, bumped)
    assert not is_free("poetry.lock", listed, listed.replace("a-1.0.tar", "b-1.0.tar"))

    slashed = s.PNPM.replace("'9.0'", "'6.0'").replace("  chalk@4.1.0:\n    res", "  /chalk@4.1.0(b@1.0.0):\n    res")
    assert is_free("pnpm-lock.yaml", slashed, slashed.replace("4.1.0", "4.1.2"))
    assert not is_free("pnpm-lock.yaml", slashed, slashed.replace("'6.0'", "'5.4'"))
