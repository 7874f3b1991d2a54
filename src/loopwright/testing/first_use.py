"""Builds what every command builds on its first use, so that forks of a warm interpreter share it.

Only values that our code and the installed packages decide alone. A value that depends on a folder, a variable, a
process or the machine is never built here: a fork would keep it, and a new process would not.
"""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.judging.left_files import steers
from loopwright.judging.project_files import DOCS, find_project_files
from loopwright.judging.scope import BaseFacts, FileChange, TreeEntry, WorkScope
from loopwright.redaction.build import build_redactor
from loopwright.wiring.agents import known_agents
from loopwright.workflow.seal import Judges
from loopwright.workspace.settings import load_settings
from loopwright.workspace.settings_model import SecretsSettings

_NOWHERE = Path(os.devnull) / "nowhere"


def build_shared_values() -> None:
    """Compile the shipped rules for secrets and paths, read the types of all records, and list agents of packages."""
    build_redactor(SecretsSettings(), {})
    settings = load_settings(user_file=Path(os.devnull), workspace_file=Path(os.devnull), environment={}, flags={})
    # Lists what it needs before it opens the first agent.
    next(known_agents(settings, _NOWHERE, {}))
    for _ in settings.listed():
        pass
    _read_types_of_records()
    _compile_path_patterns()


def _read_types_of_records() -> None:
    """What the decoder needs to know of each record. It keeps that at the class."""
    for record in _below(msgspec.Struct):
        # Some are never read from a file, and have fields that the decoder refuses.
        with suppress(TypeError, NameError):
            msgspec.json.Decoder(record, dec_hook=lambda _, value: value)


def _below(record: type) -> Iterator[type]:
    subclasses: list[type] = record.__subclasses__()
    for subclass in subclasses:
        yield subclass
        yield from _below(subclass)


def _compile_path_patterns() -> None:
    """Ask about one file what every judgement asks about each file: that compiles the shipped patterns."""
    path, file = "hello/hello.py", TreeEntry("100644", "")
    find_project_files([path])
    steers(path, frozenset(), lambda _: False)
    Judges(()).steers(path)
    base = BaseFacts(
        read=lambda _: b"", has_file=lambda _: True, has_folder=lambda _: True, is_installed=lambda _: False,
        is_judge_module=lambda _: False, is_product_module=lambda _: False, is_command=lambda _: False,
        has_kind=lambda _: True, ignored=lambda *_: frozenset(),
    )  # fmt: skip
    WorkScope(docs=DOCS).part(FileChange(path, file, file), base)
    list(tokenize.generate_tokens(iter(["x\n", ""]).__next__))
