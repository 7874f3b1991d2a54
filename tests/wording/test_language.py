"""Which language is chosen: the setting first, then the locale by gettext's order."""

from __future__ import annotations

import pytest

from loopwright.wording.language import language_of


@pytest.mark.parametrize(
    ("setting", "environment", "language"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {}, "en"),
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LANG": "zh"}, "zh"),
        ("auto", {"LANG": "zh_CN.GB18030"}, "zh"),
        ("auto", {"LANG": "zh_Hans_CN.UTF-8"}, "zh"),
        ("auto", {"LANG": "zh_TW.UTF-8"}, "en"),
        ("auto", {"LANG": "de_DE.UTF-8"}, "en"),
        ("auto", {"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LANGUAGE": "zh_CN:en", "LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LANGUAGE": "de:zh", "LANG": "de_DE.UTF-8"}, "zh"),
        ("auto", {"LANGUAGE": "en:zh", "LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LANGUAGE": "zh_CN", "LC_ALL": "C"}, "en"),
        ("auto", {"LANGUAGE": "zh_CN", "LANG": "C.UTF-8"}, "en"),
        ("auto", {"LANGUAGE": "zh_CN"}, "zh"),
    ],
)
def test_the_language(setting, environment, language):
    assert language_of(setting, environment) == language
