"""Decision requests: JSON files that an agent leaves in its mailbox when only a person can decide. Reads only.

`{"question": "…", "options"?: ["…"], "id"?: "D-1"}`; invalid requests are reported, and a flood is cut off.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.files import list_folder, read_head, shown
from loopwright.kernel.ids import is_identifier

FOLDER = "decisions"
VARIABLE = "LOOPWRIGHT_DECISIONS"
_MOST_FILES = 20
_MOST_BYTES = 64 << 10
_LONGEST_ID = 40


class DecisionRequest(msgspec.Struct, frozen=True):
    """One question."""

    question: str
    id: str | None = None
    options: tuple[str, ...] = ()


class Requests(msgspec.Struct, frozen=True):
    """What was found in a mailbox."""

    asked: tuple[DecisionRequest, ...] = ()
    problems: tuple[str, ...] = ()


def read_requests(mailbox: Path) -> Requests:
    """Every request in it, by the names of the files."""
    try:
        names = sorted(name for name in list_folder(mailbox / FOLDER) if name.endswith(".json"))
    except OSError:
        return Requests()
    asked: list[DecisionRequest] = []
    problems: list[str] = []
    for name in names[:_MOST_FILES]:
        try:
            asked.append(_request(mailbox / FOLDER / name))
        except (OSError, ValueError) as problem:
            problems.append(f"the decision request {shown(name)[:80]} is none: {problem}")
    if len(names) > _MOST_FILES:
        problems.append(f"of {len(names)} decision requests in one turn {_MOST_FILES} were read")
    return Requests(tuple(asked), tuple(problems))


def _request(path: Path) -> DecisionRequest:
    data, is_longer = read_head(path, _MOST_BYTES)
    if is_longer:
        raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
    request = codec.from_json(data, DecisionRequest)
    if not request.question.strip():
        raise ValueError("it has no question")
    if request.id is not None and not (is_identifier(request.id) and len(request.id) <= _LONGEST_ID):
        raise ValueError("its id is no name")
    return request
