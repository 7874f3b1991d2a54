"""The support files bring their bytecode: no Python process of the tests compiles them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from loopwright.judging.runners.support_files import install_support

MODULE = "loopwright_session.py"


@pytest.fixture
def support(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    install_support(tmp_path / "new" / "support")
    return tmp_path / "new" / "support"


def imported(support):
    code = f"import {MODULE.removesuffix('.py')} as module; print(bool(module.open_session))"
    env = {"PYTHONPATH": str(support), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def test_each_file_for_python_has_bytecode_that_python_uses(support):
    compiled = {path.name.partition(".")[0] for path in (support / "__pycache__").iterdir()}
    assert compiled == {path.stem for path in support.glob("*.py")}
    source = support / MODULE
    before = source.stat()
    source.write_text("x" * before.st_size)
    os.utime(source, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert imported(support).stdout == "True\n"


def test_a_changed_file_is_compiled_again(support):
    source = support / MODULE
    source.write_text(f"{source.read_text()}\nopen_session = None\n")
    assert imported(support).stdout == "False\n"


def test_files_without_bytecode_work_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    install_support(tmp_path / "support")
    assert not list((tmp_path / "support" / "__pycache__").iterdir())
    assert imported(tmp_path / "support").stdout == "True\n"
