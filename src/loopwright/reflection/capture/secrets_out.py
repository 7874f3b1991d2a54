"""Takes secrets of the environment out of a record: an agent may quote what it was started with. Any text, any field.

Provider formats are not looked for here: their rules would cost a hundred times the hook's whole time.
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
    """The same record with every value of a secret-looking variable hidden, however it is encoded."""
    # The exact rules are loaded only when a variable might be one: names and forms cost more than all the rest.
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
        return [_hidden(one, forms) for one in value]
    if isinstance(value, dict):
        return {name: _hidden(one, forms) for name, one in value.items()}
    return value
