"""Which language a person reads: what is set, else what the locale says, by gettext's own order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh"]
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
# Our Chinese is simplified; who reads traditional characters gets English rather than a guess.
_CHINESE = frozenset({"zh", "zh_cn", "zh_sg", "zh_hans"})


def language_of(setting: str, environment: Mapping[str, str]) -> Language:
    """The language of `auto`, `en` or `zh`."""
    if setting == "zh":
        return "zh"
    return _of_locale(environment) if setting == "auto" else "en"


def _of_locale(environment: Mapping[str, str]) -> Language:
    locale = next((found for name in _LOCALE if (found := environment.get(name, ""))), "")
    if _plain(locale) in {"c", "posix"}:
        return "en"  # gettext's rule: LANGUAGE counts only where there is a language at all
    for name in (*environment.get("LANGUAGE", "").split(":"), locale):
        plain = _plain(name)
        if plain in _CHINESE or plain.startswith("zh_hans_"):
            return "zh"
        if plain.partition("_")[0] == "en":
            return "en"
    return "en"


def _plain(locale: str) -> str:
    """`zh_CN.UTF-8@pinyin` as `zh_cn`."""
    return locale.partition(".")[0].partition("@")[0].replace("-", "_").casefold()
