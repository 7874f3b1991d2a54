"""The settings, variables and layout that the hook needs, read without the settings module.

A hook never fails: an unreadable file or an invalid value is ignored and makes the record degraded. Paths in a
workspace's own file must be inside the workspace, because the file may have come with a repository.
"""

from __future__ import annotations

import os
import sys

from loopwright.reflection.capture.folder import make_workspace_folder, read_bounded
from loopwright.reflection.default_rules import DEFAULT
from loopwright.reflection.rule_set import Frozen
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from loopwright.reflection.rule_set import RuleSet

_WORDS = (b"risk", b"reflection", b"interop")
_MOST_BYTES = 1 << 20
_THRESHOLD = 0.5


class Floor(Frozen):
    """The threshold and rules of the risk floor."""

    threshold: float = _THRESHOLD
    rules: RuleSet = DEFAULT


class CaptureSettings:
    """The folder and layout of a workspace, and its `reflection` and `risk` settings."""

    __slots__ = ("_environment", "_input", "_risk", "flavour", "floor", "folder", "is_sound", "root")

    def __init__(self, root: str, home: str, environment: Mapping[str, str]) -> None:
        self.root = root
        self.is_sound = True
        self.folder: str | None = None
        self._input: str | None = None
        self._environment = environment
        self._risk: dict[str, Any] = {}
        config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        user_layout = self._take(os.path.join(config, "loopwright", "config.toml"), is_trusted=True)
        layout = self._take(os.path.join(root, names.CONFIG), is_trusted=False) if root else None
        chosen = layout or user_layout
        self.flavour = chosen if chosen in (names.UNIFIED, names.INTEROP) else names.flavour_of(root, home)
        self._take_variables()
        self.floor = self._floor()

    @property
    def own_folder(self) -> str:
        """The layout's folder for reflections."""
        return os.path.join(self.root, names.reflection_home(self.flavour), "reflections")

    def make_folder(self, *, may_choose: bool = True) -> str:
        """Create the folder for reflections, and return it."""
        if may_choose and self.folder is not None:
            os.makedirs(self.folder, exist_ok=True)
            return self.folder
        if not self.root:
            raise OSError("there is no folder to write to")
        make_workspace_folder(self.root, self.flavour)
        return self.own_folder

    @property
    def report(self) -> str:
        """The path of the self-report."""
        return self._input or os.path.join(self.root, names.reflection_home(self.flavour), "reflection-input.json")

    @property
    def report_is_chosen(self) -> bool:
        """Whether a setting names the self-report; only then a link is followed."""
        return self._input is not None

    def _take(self, path: str, *, is_trusted: bool) -> str | None:
        """Read one settings file; return the layout it sets."""
        data = read_bounded(path, _MOST_BYTES, follow=True)
        if data is None:
            self.is_sound = self.is_sound and not os.path.lexists(path)
            return None
        if not any(word in data for word in _WORDS):
            return names.UNIFIED if b"layout" in data else None
        # Load the TOML parser only for a file with relevant settings: parsing takes half as long as git.
        toml = __import__("tomllib")
        try:
            document = toml.loads(data.decode())
        except ValueError:
            self.is_sound = False
            return None
        self._risk.update(_table(document, "risk"))
        reflection = _table(document, "reflection")
        self._choose(reflection.get("dir"), reflection.get("input"), is_trusted=is_trusted)
        layout = _table(document, "workspace").get("layout")
        return layout if isinstance(layout, str) else None

    def _take_variables(self) -> None:
        for key in ("ruleset", "threshold"):
            if value := self._environment.get(f"LOOPWRIGHT_RISK_{key.upper()}"):
                self._risk[key] = value
        for prefix in ("LOOPWRIGHT_REFLECTION_", "REFLECTION_"):
            chosen = (self._environment.get(f"{prefix}{key}") for key in ("DIR", "INPUT"))
            self._choose(*chosen, is_trusted=True)

    def _choose(self, folder: object, report: object, *, is_trusted: bool) -> None:
        if (path := self._path(folder, is_trusted=is_trusted)) is not None:
            self.folder = path
        if (path := self._path(report, is_trusted=is_trusted)) is not None:
            self._input = path

    def _path(self, value: object, *, is_trusted: bool) -> str | None:
        if value is None or value == "":
            return None
        if not isinstance(value, str) or "\0" in value:
            self.is_sound = False
            return None
        path = os.path.join(self.root or os.sep, os.path.expanduser(value))
        if is_trusted or os.path.realpath(path).startswith(os.path.realpath(self.root) + os.sep):
            return path
        self.is_sound = False
        return None

    def _floor(self) -> Floor:
        if not self._risk:
            return Floor()
        try:
            # Load these rules only if a setting needs them, because loading takes time.
            __import__("loopwright.reflection.rule_sets")
            __import__("loopwright.reflection.project_rules")
            own = sys.modules["loopwright.reflection.project_rules"]
            shipped = sys.modules["loopwright.reflection.rule_sets"].RULE_SETS[self._risk.get("ruleset", "default")]
            rules = [own.ProjectRule(**_plain(rule)) for rule in self._risk.get("rules", ())]
            threshold = float(self._risk.get("threshold", _THRESHOLD))
            if 0 <= threshold <= 1:
                return Floor(threshold, own.with_project_rules(shipped, rules))
        except (ValueError, TypeError, KeyError, AttributeError):
            pass
        self.is_sound = False
        return Floor()


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    table = document.get(name)
    return table if isinstance(table, dict) else {}


def _plain(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule from a TOML file as arguments for `ProjectRule`."""
    return {**rule, "words": frozenset(rule.get("words", ())), "paths": tuple(rule.get("paths", ()))}
