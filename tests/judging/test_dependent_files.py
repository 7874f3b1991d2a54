"""Which files of a monorepo depend on changed files."""

from __future__ import annotations

import pytest

from loopwright.judging.dependent_files import dependent_files

FILES = {
    "lib/__init__.py": b"",
    "lib/words.py": b"",
    "app/main.py": b"from lib.words import bye\n",
    "web/index.js": b"import { page } from '../app/page.js'\n",
    "core/src/kernel/__init__.py": b"",
    "tools/run.py": b"import kernel\n",
    "ui/package.json": b'{"name": "@x/ui"}',
    "ui/button.js": b"",
    "shop/cart.ts": b"import { Button } from '@x/ui'\n",
    "docs/build.py": b"import os\n",
}
COMMANDS = tuple((f"{folder}/**",) for folder in ("lib", "app", "web", "core", "tools", "ui", "shop", "docs"))


@pytest.mark.parametrize(
    ("changed", "dependents"),
    [
        ("lib/words.py", ["app/main.py", "web/index.js"]),
        ("app/main.py", ["web/index.js"]),
        ("core/src/kernel/__init__.py", ["tools/run.py"]),
        ("ui/button.js", ["shop/cart.ts"]),
        ("docs/build.py", []),
        ("README.md", []),
    ],
)
def test_a_file_for_each_command_whose_files_import_what_changed(changed, dependents):
    def read_all(paths):
        return {path: FILES[path] for path in paths if path in FILES}

    assert sorted(dependent_files([changed], COMMANDS, frozenset(FILES), read_all)) == dependents
