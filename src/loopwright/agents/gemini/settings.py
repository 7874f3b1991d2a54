"""The settings of Gemini CLI's private home: quiet defaults, and the few settings of the user that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from loopwright.agents.stream_lines import parsed
from loopwright.kernel.files import read_regular_file

_FILE = ".gemini/settings.json"
_MOST_BYTES = 1 << 20
# Its default is ten tries: an overloaded model would take minutes to fail.
_TRIES = 4
_WEB = ("google_web_search", "web_fetch")
# Not available: a turn has no person to ask.
_NEVER = ("ask_user", "save_memory")


class GeminiUserSettings(msgspec.Struct, frozen=True):
    """The settings from the user's file."""

    login: str
    model: str = ""
    tries: int = _TRIES
    context_files: tuple[str, ...] = ()

    def document(self, *, may_use_web: bool) -> dict[str, Any]:
        """The settings for a private home: no update, no telemetry, no questions, and every folder is trusted."""
        return {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": self.tries},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "ide": {"enabled": False},
            "security": {"auth": {"selectedType": self.login}, "folderTrust": {"enabled": False}},
            "tools": {"exclude": list(_NEVER)} if may_use_web else {"exclude": [*_NEVER, *_WEB]},
            **({"model": {"name": self.model}} if self.model else {}),
            **({"context": {"fileName": list(self.context_files)}} if self.context_files else {}),
        }


def read_user_settings(environment: Mapping[str, str]) -> GeminiUserSettings:
    """From the user's own `settings.json` and environment; an unreadable file counts as missing."""
    home = environment.get("GEMINI_CLI_HOME") or environment.get("HOME")
    document: Mapping[str, Any] = {}
    if home:
        try:
            document = parsed(read_regular_file(Path(home) / _FILE, most=_MOST_BYTES)) or {}
        except OSError:
            document = {}
    auth, general, model = _at(document, "security", "auth"), _at(document, "general"), _at(document, "model")
    login, tries, name = auth.get("selectedType"), general.get("maxAttempts"), model.get("name")
    files = _at(document, "context").get("fileName")
    listed = [files] if isinstance(files, str) else files if isinstance(files, list) else []
    return GeminiUserSettings(
        login if isinstance(login, str) and login else _usual_login(environment, home),
        name if isinstance(name, str) else "",
        tries if isinstance(tries, int) and not isinstance(tries, bool) and tries > 0 else _TRIES,
        tuple(one for one in listed if isinstance(one, str)),
    )


def _usual_login(environment: Mapping[str, str], home: str | None) -> str:
    """The program's own choice where the user made none."""
    if environment.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return "vertex-ai"
    has_login = home is not None and (Path(home) / ".gemini" / "oauth_creds.json").is_file()
    return "oauth-personal" if has_login and not environment.get("GEMINI_API_KEY") else "gemini-api-key"


def _at(document: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
