"""Hides secrets in messages of failures, which quote what the caller typed. Imported when a failure is reported."""

from __future__ import annotations

import os
from functools import cache

from loopwright.redaction.build import build_redactor
from loopwright.redaction.redactor import Redactor
from loopwright.workspace.settings_model import SecretsSettings


@cache
def _redactor() -> Redactor:
    """By the shipped rules: a workspace's settings may be the reason of the failure."""
    return build_redactor(SecretsSettings(), os.environ)


def without_secrets(text: str) -> str:
    """The text with every secret masked."""
    return _redactor().clean(text).text
