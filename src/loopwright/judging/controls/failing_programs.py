"""Programs that do the same and exit with 1: a test that still passes does not look at their exit code. Pure.

The program itself runs in a process of its own. There it may load the product, which can't change the exit code then.
"""

from __future__ import annotations

import posixpath
import re

from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.syntax.python_source import parse_python

_PYTHON = b"""\
if __name__ == "__main__":
    import os, subprocess, sys
    copy = os.path.join(os.path.dirname(os.path.abspath(__file__)), COPY)
    subprocess.run([sys.executable, copy, *sys.argv[1:]])
    sys.exit(1)
import os
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), COPY), "rb") as copy:
    exec(compile(copy.read(), __file__, "exec", dont_inherit=True))
"""
_INLINE = b"""\
import subprocess, sys
subprocess.run([sys.executable, "-c", CODE, *sys.argv[1:]])
sys.exit(1)
"""
_COMMON = b"""\
if (require.main === module) {
  const copy = require('node:path').join(__dirname, COPY);
  const words = [...process.execArgv, copy, ...process.argv.slice(2)];
  require('node:child_process').spawnSync(process.execPath, words, { stdio: 'inherit' });
  process.exit(1);
}
"""
_MODULE = b"""\
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
const copy = fileURLToPath(new URL(COPY, import.meta.url));
spawnSync(process.execPath, [...process.execArgv, copy, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(1);
"""
_IS_MODULE = re.compile(rb"^\s*(?:import\b(?!\s*\()|export\b)", re.MULTILINE)
_EXPORTS = re.compile(rb"^\s*export\b", re.MULTILINE)
_TESTS = re.compile(rb"^\s*(?:async\s+)?def\s+test", re.MULTILINE)


def failing_program(path: str, source: bytes, salt: str) -> dict[str, bytes]:
    """The files with which a program exits with 1; empty if that is not known. Code that imports it sees no change."""
    folder, name = posixpath.split(path)
    stem, suffix = posixpath.splitext(name)
    copy = f".{stem}-{salt}{suffix}"
    place = posixpath.join(folder, copy)
    if suffix == ".py":
        if _TESTS.search(source):
            # A runner imports it.
            return {path: b"raise RuntimeError\n"}
        return {path: _filled(_PYTHON, b"COPY", copy), place: source}
    if suffix not in SUFFIXES or _EXPORTS.search(source):
        return {}
    if suffix.startswith(".m") or _IS_MODULE.search(source):
        return {path: _filled(_MODULE, b"COPY", copy), place: source}
    return {path: _filled(_COMMON, b"COPY", copy) + source, place: source}


def failing_code(code: str) -> str | None:
    """Python code that runs this code and exits with 1; None if the code can't be parsed."""
    return _filled(_INLINE, b"CODE", code).decode() if parse_python(code.encode()) is not None else None


def _filled(program: bytes, name: bytes, text: str) -> bytes:
    return program.replace(name, repr(text).encode())
