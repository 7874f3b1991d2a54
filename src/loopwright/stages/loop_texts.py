"""Checks the texts that people type into a loop: agents and other tools read the files that contain them."""

from __future__ import annotations

from loopwright.errors import SecretLeak, WrongUsage
from loopwright.stages.context import Context


def checked_text(context: Context, what: str, text: str) -> str:
    """The text as it may be stored; `SecretLeak` if it contains a secret."""
    try:
        data = text.encode()
    except UnicodeEncodeError as problem:
        raise WrongUsage(
            f"{what} is not UTF-8", hint="check the encoding of the terminal; nothing was written"
        ) from problem
    return checked_bytes(context, what, data).decode("utf-8", "replace")


def required_text(context: Context, what: str, text: str) -> str:
    """The same for a text that must not be empty."""
    if not text.strip():
        raise WrongUsage(f"{what} is empty", hint="write a text; nothing was stored")
    return checked_text(context, what, text)


def checked_bytes(context: Context, what: str, data: bytes) -> bytes:
    """The same for a file."""
    scanned = context.tools().redactor.scan(data, what, trusts_pragma=True)
    if scanned.must_stop:
        raise SecretLeak(
            f"the text contains a secret: {scanned.findings[0].sentence()}",
            hint="remove the secret, or refer to a variable that contains it; nothing was stored",
        )
    return scanned.clean.data
