"""What the hook needs of settings, variables and layout, read without the settings module.

A file that can't be read counts as none, and the record says that it is degraded: a hook never fails.
"""

from __future__ import annotations

import os
import sys

from loopwright.reflection.capture.folder import read_bounded
from loopwright.reflection.default_rules import DEFAULT
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from loopwright.reflection.rule_set import RuleSet

_SECTIONS = (b"[risk", b"[[risk", b"[reflection", b"risk.", b"reflection.", b"interop")
_MOST_BYTES = 1 << 20
_THRESHOLD = 0.5


def _plain(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule of a TOML file as `ProjectRule` takes it."""
    return {**rule, "words": frozenset(rule.get("words", ())), "paths": tuple(rule.get("paths", ()))}


class Wanted:
    """Where a workspace is, which layout it has, and what its files say of `reflection` and `risk`."""

    __slots__ = ("flavour", "is_sound", "reflection", "risk", "root")

    def __init__(self, root: str, home: str, environment: Mapping[str, str]) -> None:
        self.root = root
        self.is_sound = True
        self.reflection: dict[str, Any] = {}
        self.risk: dict[str, Any] = {}
        config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        theirs = self._read(os.path.join(config, "loopwright", "config.toml"))
        layout = self._read(os.path.join(root, names.CONFIG)) or theirs
        self.flavour = layout if layout in (names.UNIFIED, names.INTEROP) else names.flavour_of(root, home)
        for section, found in (("REFLECTION", self.reflection), ("RISK", self.risk)):
            for key in ("DIR", "INPUT", "RULESET", "THRESHOLD"):
                value = environment.get(f"LOOPWRIGHT_{section}_{key}")
                if value:
                    found[key.lower()] = value

    def folder(self, environment: Mapping[str, str]) -> str | None:
        """The folder that somebody chose; None for the layout's own."""
        chosen = environment.get("REFLECTION_DIR") or self.reflection.get("dir")
        return os.path.join(self.root, os.path.expanduser(chosen)) if isinstance(chosen, str) and chosen else None

    @property
    def own_folder(self) -> str:
        """The layout's own."""
        return os.path.join(self.root, names.reflection_home(self.flavour), "reflections")

    def report(self, environment: Mapping[str, str]) -> tuple[str, bool]:
        """The self-report's path, and whether a person chose it: only then a link is followed."""
        chosen = environment.get("REFLECTION_INPUT") or self.reflection.get("input")
        if isinstance(chosen, str) and chosen:
            return os.path.join(self.root, os.path.expanduser(chosen)), True
        return os.path.join(self.root, names.reflection_home(self.flavour), "reflection-input.json"), False

    def floor(self) -> tuple[float, RuleSet, bool]:
        """Threshold and rules as the settings say; the shipped ones, and False, where they say nothing that holds."""
        if not self.risk:
            return _THRESHOLD, DEFAULT, True
        try:
            # Loaded only for a project that says something: the classic rules and its own cost time to read.
            __import__("loopwright.reflection.rule_sets")
            __import__("loopwright.reflection.project_rules")
            own = sys.modules["loopwright.reflection.project_rules"]
            shipped = sys.modules["loopwright.reflection.rule_sets"].RULE_SETS[self.risk.get("ruleset", "default")]
            rules = [own.ProjectRule(**_plain(rule)) for rule in self.risk.get("rules", ())]
            return float(self.risk.get("threshold", _THRESHOLD)), own.with_project_rules(shipped, rules), True
        except (ValueError, TypeError, KeyError, AttributeError):
            return _THRESHOLD, DEFAULT, False

    def _read(self, path: str) -> str | None:
        """Take one file in; returns the layout that it names."""
        data = read_bounded(path, _MOST_BYTES, follow=True)
        if data is None:
            self.is_sound = self.is_sound and not os.path.lexists(path)
            return None
        if not any(section in data for section in _SECTIONS):
            return names.UNIFIED if b"layout" in data else None
        # Loaded only for a file that has something to say: parsing TOML costs half of what git does.
        toml = __import__("tomllib")
        try:
            document = toml.loads(data.decode())
        except ValueError:
            self.is_sound = False
            return None
        for section, found in (("reflection", self.reflection), ("risk", self.risk)):
            if isinstance(document.get(section), dict):
                found.update(document[section])
        workspace = document.get("workspace")
        layout = workspace.get("layout") if isinstance(workspace, dict) else None
        return layout if isinstance(layout, str) else None
