"""The agent's self-report, and a record without secrets of the environment. Pure.

Valid fields of a self-report are kept; other fields become null. Secrets are removed from any text field, because an
agent may quote its environment. Provider formats are not searched: that would take a hundred times as long as the hook.
"""

from __future__ import annotations

import json
import sys

from loopwright.reflection.rule_set import SURFACES, Frozen

# `typing` would cost the hook more than its own work does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


FIELDS = ("confidence", "most_likely_wrong", "known_not_in_diff")
MOST_BYTES = 1 << 20


class SelfReport(Frozen):
    """The three fields, and whether the report was complete and valid."""

    confidence: float | None = None
    most_likely_wrong: dict[str, str] | None = None
    known_not_in_diff: str | None = None
    is_complete: bool = False


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


_HIDDEN = "[secret]"
_LEAST = 8
_HINTS = ("KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "DSN", "URL", "URI", "COOKIE", "HOOK", "PAT", "PW")
_HARMLESS = ("PWD", "OLDPWD", "SSH_AUTH_SOCK", "PATH", "XAUTHORITY")


def without_secrets(record: Any, environment: Mapping[str, str]) -> Any:
    """The record with the value of every secret-looking variable hidden, in any encoding."""
    # Load the exact rules only if a variable may be secret, because they take longer than everything else.
    suspects = {name: value for name, value in environment.items() if len(value) >= _LEAST and _may_be_secret(name)}
    if not suspects:
        return record
    __import__("loopwright.redaction.environment_values")
    known = sys.modules["loopwright.redaction.environment_values"]
    values = known.secret_values(suspects).values()
    forms = {form.decode("utf-8", "surrogateescape") for value in values for form in known.printed_forms(value)}
    ordered = sorted(forms, key=len, reverse=True)
    return _hidden(record, ordered) if ordered else record


def _may_be_secret(name: str) -> bool:
    upper = name.upper()
    return upper not in _HARMLESS and any(hint in upper for hint in _HINTS)


def _hidden(value: Any, forms: list[str]) -> Any:
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, _HIDDEN)
        return value
    if isinstance(value, list):
        return [_hidden(item, forms) for item in value]
    if isinstance(value, dict):
        return {name: _hidden(item, forms) for name, item in value.items()}
    return value
