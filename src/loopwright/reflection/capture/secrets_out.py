"""Removes secrets of the environment from a record, in any text field: an agent may quote its environment.

Does not search for provider formats: their rules would take a hundred times as long as the hook.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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
