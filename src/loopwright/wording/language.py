"""Chooses the language of messages: the setting first, then the locale in gettext's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh"]
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
# The catalogue is simplified Chinese. Locales with traditional characters get English.
_CHINESE = frozenset({"zh", "zh_cn", "zh_sg", "zh_hans"})


def language_of(setting: str, environment: Mapping[str, str]) -> Language:
    """The language for a setting of `auto`, `en` or `zh`."""
    if setting == "zh":
        return "zh"
    return _of_locale(environment) if setting == "auto" else "en"


def _of_locale(environment: Mapping[str, str]) -> Language:
    locale = next((value for name in _LOCALE if (value := environment.get(name, ""))), "")
    if _normalized(locale) in {"c", "posix"}:
        return "en"  # gettext ignores LANGUAGE when the locale is C
    for name in (*environment.get("LANGUAGE", "").split(":"), locale):
        normalized = _normalized(name)
        if normalized in _CHINESE or normalized.startswith("zh_hans_"):
            return "zh"
        if normalized.partition("_")[0] == "en":
            return "en"
    return "en"


def _normalized(locale: str) -> str:
    """`zh_CN.UTF-8@pinyin` as `zh_cn`."""
    return locale.partition(".")[0].partition("@")[0].replace("-", "_").casefold()
