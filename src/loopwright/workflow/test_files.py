"""Which files are the tests of a whole project, by the command that runs them; reads the scripts that it leads to."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from loopwright.kernel.files import read_regular_file
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.seal import Judges, is_script, judges_of, paths_in
from loopwright.workflow.slices import Slices


def find_test_files(root: Path, command: str, seal: tuple[str, ...] = ()) -> Judges:
    """Files that the command names, tests that it finds, and what steers it.

    A folder that it names counts only where it is one of tests: a command may look at the source, too.
    """
    named = (*seal, *(path for path in paths_in(command) if (root / path).is_file()))
    first = judges_of(Slices(()), named, (command,))
    scripts = [path for path in first.patterns if is_script(path) and (root / path).is_file()]
    texts = [read_regular_file(root / path, most=MOST_BYTES).decode("utf-8", "replace") for path in scripts]
    return replace(judges_of(Slices(()), named, (command, *texts)), commands=(command,))
