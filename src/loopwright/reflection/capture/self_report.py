"""The agent's self-report: valid fields are kept, other fields become null. Pure."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SURFACES = ("auth", "data", "infra", "build", "ui", "test", "docs", "none")
FIELDS = ("confidence", "most_likely_wrong", "known_not_in_diff")
MOST_BYTES = 1 << 20


class SelfReport:
    """The three fields, and whether the report was complete and valid."""

    __slots__ = ("confidence", "is_complete", "known_not_in_diff", "most_likely_wrong")

    def __init__(
        self,
        confidence: float | None = None,
        most_likely_wrong: dict[str, str] | None = None,
        known_not_in_diff: str | None = None,
        *,
        is_complete: bool = False,
    ) -> None:
        self.confidence = confidence
        self.most_likely_wrong = most_likely_wrong
        self.known_not_in_diff = known_not_in_diff
        self.is_complete = is_complete


def read_report(data: bytes) -> SelfReport:
    """The valid fields in these bytes. A missing, invalid or unknown field makes the report incomplete."""
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return SelfReport()
    if not isinstance(document, dict):
        return SelfReport()
    confidence, confidence_is_valid = _confidence(document.get("confidence"))
    wrong, wrong_is_valid = _most_likely_wrong(document.get("most_likely_wrong"))
    known, known_is_valid = _text(document.get("known_not_in_diff"))
    is_complete = confidence_is_valid and wrong_is_valid and known_is_valid and sorted(document) == sorted(FIELDS)
    return SelfReport(confidence, wrong, known, is_complete=is_complete)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _confidence(value: Any) -> tuple[float | None, bool]:
    if value is None:
        return None, True
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value), True
    return None, False


def _most_likely_wrong(value: Any) -> tuple[dict[str, str] | None, bool]:
    if value is None:
        return None, True
    if not isinstance(value, dict) or sorted(value) != ["description", "surface"]:
        return None, False
    description, is_valid = _text(value["description"])
    if not is_valid or description is None or value["surface"] not in SURFACES:
        return None, False
    return {"surface": value["surface"], "description": description}, True


def _text(value: Any) -> tuple[str | None, bool]:
    if value is None:
        return None, True
    if not isinstance(value, str):
        return None, False
    # JSON can express half a surrogate pair, which can't be written to a file.
    return value.encode("utf-8", "replace").decode(), True
