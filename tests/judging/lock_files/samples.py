"""Small lock files as the tools write them (uv, Poetry, PDM, Pipenv, npm, pnpm, Yarn, Cargo, Go, Bundler)."""

from __future__ import annotations

A, B, C = "a" * 64, "b" * 64, "c" * 64
SHA = "sha512-" + "A" * 86 + "=="
OTHER_SHA = "sha512-" + "B" * 86 + "=="

UV = f"""version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "demo"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [{{ name = "click" }}]

[package.metadata]
requires-dist = [{{ name = "click", specifier = "==8.1.6" }}]

[[package]]
name = "click"
version = "8.1.6"
source = {{ registry = "https://pypi.org/simple" }}
dependencies = [{{ name = "colorama", marker = "sys_platform == 'win32'" }}]
sdist = {{ url = "https://files.pythonhosted.org/packages/72/click-8.1.6.tar.gz", hash = "sha256:{A}", size = 1 }}
wheels = [
    {{ url = "https://files.pythonhosted.org/packages/1a/click-8.1.6-py3-none-any.whl", hash = "sha256:{B}" }},
]
"""
UV_NEW = f"""
[[package]]
name = "typing-extensions"
version = "4.1"
source = {{ registry = "https://pypi.org/simple" }}
wheels = [
    {{ url = "https://files.pythonhosted.org/p/typing_extensions-4.1-py3-none-any.whl", hash = "sha256:{C}" }},
]
"""
POETRY = f"""[[package]]
name = "click"
version = "8.1.6"
description = "Composable command line interface toolkit"
optional = false
python-versions = ">=3.7"
groups = ["main"]
files = [
    {{file = "click-8.1.6-py3-none-any.whl", hash = "sha256:{A}"}},
    {{file = "click-8.1.6.tar.gz", hash = "sha256:{B}"}},
]

[package.dependencies]
colorama = {{version = "*", markers = "platform_system == \\"Windows\\""}}

[metadata]
lock-version = "2.1"
python-versions = ">=3.11"
content-hash = "{C}"
"""
PDM = f"""[metadata]
groups = ["default"]
strategy = ["inherit_metadata"]
lock_version = "4.5.0"
content_hash = "sha256:{C}"

[[metadata.targets]]
requires_python = ">=3.11"

[[package]]
name = "click"
version = "8.1.6"
requires_python = ">=3.7"
summary = "Composable command line interface toolkit"
groups = ["default"]
dependencies = ["colorama; platform_system == \\"Windows\\""]
files = [
    {{file = "click-8.1.6.tar.gz", hash = "sha256:{A}"}},
]
"""
PIPENV = f"""{{
    "_meta": {{
        "hash": {{"sha256": "{C}"}}, "pipfile-spec": 6, "requires": {{}},
        "sources": [{{"name": "pypi", "url": "https://pypi.org/simple", "verify_ssl": true}}]
    }},
    "default": {{
        "click": {{"hashes": ["sha256:{A}"], "index": "pypi", "markers": "os_name != 'x'", "version": "==8.1.6"}}
    }},
    "develop": {{}}
}}
"""
NPM = f"""{{
  "name": "demo", "version": "1.0.0", "lockfileVersion": 3, "requires": true,
  "packages": {{
    "": {{
      "name": "demo", "version": "1.0.0", "dependencies": {{"chalk": "4.1.0"}}, "devDependencies": {{"mocha": "^9.0.0"}}
    }},
    "node_modules/chalk": {{
      "version": "4.1.0", "resolved": "https://registry.npmjs.org/chalk/-/chalk-4.1.0.tgz", "integrity": "{SHA}",
      "license": "MIT", "engines": {{"node": ">=10"}}, "funding": {{"url": "https://github.com/chalk/chalk?sponsor=1"}}
    }},
    "node_modules/mocha": {{
      "version": "9.2.2", "resolved": "https://registry.npmjs.org/mocha/-/mocha-9.2.2.tgz", "integrity": "{SHA}",
      "dev": true, "bin": {{"mocha": "bin/mocha"}}
    }}
  }}
}}
"""
NPM_NEW = f"""    "node_modules/@types/node": {{
      "version": "18.0.0", "resolved": "https://registry.npmjs.org/@types/node/-/node-18.0.0.tgz", "integrity": "{SHA}"
    }},
    "node_modules/string-width-cjs": {{
      "name": "string-width", "version": "4.2.3",
      "resolved": "https://registry.npmjs.org/string-width/-/string-width-4.2.3.tgz", "integrity": "{SHA}"
    }},
"""
PNPM = f"""lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
      chalk:
        specifier: 4.1.0
        version: 4.1.0

packages:

  chalk@4.1.0:
    resolution: {{integrity: {SHA}}}
    engines: {{node: '>=10'}}

snapshots:

  chalk@4.1.0:
    dependencies:
      ansi-styles: 4.3.0
"""
YARN = f"""# yarn lockfile v1


chalk@4.1.0:
  version "4.1.0"
  resolved "https://registry.yarnpkg.com/chalk/-/chalk-4.1.0.tgz#{"1" * 40}"
  integrity {SHA}
  dependencies:
    ansi-styles "^4.1.0"

mocha@^9.0.0:
  version "9.2.2"
  resolved "https://registry.yarnpkg.com/mocha/-/mocha-9.2.2.tgz#{"2" * 40}"
  integrity {SHA}
"""
BERRY = f"""__metadata:
  version: 8
  cacheKey: 10c0

"chalk@npm:4.1.0":
  version: 4.1.0
  resolution: "chalk@npm:4.1.0"
  dependencies:
    ansi-styles: "npm:^4.1.0"
  checksum: 10c0/{A}
  languageName: node
  linkType: hard

"demo@workspace:.":
  version: 0.0.0-use.local
  resolution: "demo@workspace:."
  dependencies:
    chalk: "npm:4.1.0"
  languageName: unknown
  linkType: soft

"fsevents@patch:fsevents@npm%3A~2.3.2#optional!builtin<compat/fsevents>":
  version: 2.3.2
  resolution: "fsevents@patch:fsevents@npm%3A2.3.2#optional!builtin<compat/fsevents>::version=2.3.2&hash=df0bf1"
  conditions: os=darwin
  languageName: node
  linkType: hard
"""
CARGO = f"""version = 3

[[package]]
name = "demo"
version = "0.1.0"
dependencies = ["itoa"]

[[package]]
name = "itoa"
version = "1.0.9"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "{A}"
"""
GO = f"""github.com/x/y v1.8.0 h1:{"A" * 43}=
github.com/x/y v1.8.0/go.mod h1:{"B" * 43}=
"""
BUNDLER = f"""PATH
  remote: .
  specs:
    mine (0.1.0)
      rake (>= 12)

GEM
  remote: https://rubygems.org/
  specs:
    rake (13.0.6)

PLATFORMS
  ruby

DEPENDENCIES
  mine!
  rake (~> 13.0)

CHECKSUMS
  rake (13.0.6) sha256={A}

BUNDLED WITH
   2.5.9
"""
