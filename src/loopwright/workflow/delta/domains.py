"""Names of spec domains: a path below the folder of specs that no name can leave. Says why one is refused."""

from __future__ import annotations

import unicodedata

from loopwright.kernel.files import shown

LONGEST = 120
_LONGEST_PART_BYTES = 200
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# A folder called spec.md hides a spec; `specs` and `changes` are where OpenSpec looks for the name of a spec in a path.
_RESERVED = {"spec.md", "specs", "changes", "archive"}


def domain_problem(name: str) -> str | None:
    """Why this can't be a domain's name, in a sentence; None when it can."""
    if not name:
        return "a domain has a name"
    if len(name) > LONGEST:
        return f"the domain '{_safe(name[:40])}…' has {len(name)} characters; at most {LONGEST} are allowed"
    if name.startswith(("/", "\\")) or name[1:3] in (":/", ":\\"):
        return f"the domain '{_safe(name)}' is an absolute path; it is one below the folder of specs"
    if unicodedata.normalize("NFC", name) != name:
        return f"the domain '{_safe(name)}' is spelled with loose accents; spell it in NFC"
    for part in name.split("/"):
        problem = _part_problem(part)
        if problem is not None:
            return f"the domain '{_safe(name)}' {problem}"
    return None


def _safe(name: str) -> str:
    """A name as text that a terminal can hold, half a character with it."""
    return shown(name.encode("utf-8", "backslashreplace"))


def _part_problem(part: str) -> str | None:
    if not part:
        return "has an empty part between its slashes"
    if part in (".", ".."):
        return f"has the part '{part}', which leaves its folder"
    if not all(one.isalnum() or one in "-_." or unicodedata.category(one).startswith("M") for one in part):
        return f"has a character in '{_safe(part)}' that is no letter, digit, '-', '_' or '.'"
    if not part[0].isalnum() or part.endswith("."):
        return f"has the part '{_safe(part)}', which begins with no letter or digit, or ends with a dot"
    if part.lower() in _RESERVED or part.lower().split(".")[0] in _DEVICES:
        return f"has the part '{part}', a reserved name"
    if len(part.encode()) > _LONGEST_PART_BYTES:
        return f"has a part of more than {_LONGEST_PART_BYTES} bytes"
    return None
