"""A risk verdict as SARIF 2.1.0: a rule and a result per surface, and one for size where size decided."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from loopwright.reflection.classify import SurfaceHit
from loopwright.reflection.risk import RiskVerdict, named
from loopwright.verbs.risk import RiskReport
from loopwright.version import VERSION

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# Code scanning services take no more for one result.
_MOST_LOCATIONS = 1000
_MEANINGS = {
    "auth": "access control: logins, sessions, tokens, keys, secrets",
    "data": "stored data and money: schemas, migrations, queries, payments",
    "infra": "code that runs with other rights: deployment, CI, git hooks, settings of agents",
    "build": "inputs of the build: manifests, lock files, tool settings",
    "ui": "the user interface",
    "test": "tests and their data",
    "docs": "documentation",
}
_RULES = (*_MEANINGS, "size")


def sarif_of(report: RiskReport) -> dict[str, Any]:
    """The SARIF log of a report."""
    verdict = report.verdict
    surfaces = verdict.by_surface()
    results = [_result(verdict, surface, hits) for surface, hits in surfaces.items() if surface != "none"]
    if verdict.needs_review and verdict.base < verdict.threshold and verdict.hits:
        results.append(_size_result(verdict))
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "loopwright", "version": VERSION, "rules": _rules(verdict)}},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the top of the repository"}}},
                "results": results,
                "properties": {
                    "needsReview": verdict.needs_review,
                    "score": verdict.score,
                    "surface": verdict.surface,
                    "threshold": verdict.threshold,
                    "reason": verdict.reason,
                    "notes": list(report.notes),
                },
            }
        ],
    }


def _rules(verdict: RiskVerdict) -> list[dict[str, Any]]:
    weights = verdict.rules.weights
    described = [_rule(surface, _MEANINGS[surface], _level(weights[surface])) for surface in _RULES[:-1]]
    return [*described, _rule("size", "a change that needs review because of its size", "warning")]


def _rule(name: str, text: str, level: str) -> dict[str, Any]:
    return {
        "id": f"risk/{name}",
        "shortDescription": {"text": text},
        "fullDescription": {"text": f"{text}; `loopwright explain risk` lists the rules"},
        "help": {"text": "Ask a reviewer who did not write this change."},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["risk", "review"]},
    }


def _result(verdict: RiskVerdict, surface: str, hits: list[SurfaceHit]) -> dict[str, Any]:
    weight = hits[0].weight
    text = f"{surface} ({weight:g}): {named([hit.path for hit in hits])}, by {hits[0].why}"
    return _finding(surface, _level(weight), text, hits, verdict)


def _size_result(verdict: RiskVerdict) -> dict[str, Any]:
    return _finding("size", _level(verdict.score), verdict.reason, list(verdict.hits), verdict)


def _finding(rule: str, level: str, text: str, hits: list[SurfaceHit], verdict: RiskVerdict) -> dict[str, Any]:
    return {
        "ruleId": f"risk/{rule}",
        "ruleIndex": _RULES.index(rule),
        "level": level,
        "message": {"text": text},
        "locations": [_location(hit.path) for hit in hits[:_MOST_LOCATIONS]],
        "properties": {"score": verdict.score, "files": len(hits)},
    }


def _location(path: str) -> dict[str, Any]:
    uri = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 1},
        }
    }


def _level(weight: float) -> str:
    return "error" if weight >= 0.8 else "warning" if weight >= 0.5 else "note"
