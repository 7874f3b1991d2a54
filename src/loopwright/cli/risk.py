"""`loopwright risk`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, BinaryIO

import click

from loopwright.cli.language import message, translate
from loopwright.cli.options import command_with_examples, context_of, echo, echo_json, in_workspace, put
from loopwright.cli.risk_sarif import sarif_of
from loopwright.errors import WrongUsage
from loopwright.exit_codes import ExitCode
from loopwright.kernel.files import shown
from loopwright.reflection.classify import SurfaceHit
from loopwright.reflection.risk import score_text
from loopwright.verbs.risk import RiskReport, RiskRequest, risk

_FILES_SHOWN = 5
_MOST_LISTED = 64 << 20


@command_with_examples("""
  loopwright risk                            working tree, staged and untracked files, against HEAD
  loopwright risk --base origin/main         everything since this branch left main, for CI
  loopwright risk --staged                   staged changes only, for a pre-commit hook
  git diff --name-only -z A B | loopwright risk --files -
  loopwright explain risk                    both rule sets

Exit codes: 0 no review needed, 10 review needed.
""")
@click.option("--base", metavar="REV", help="Compare with the merge base of HEAD and REV; includes uncommitted work.")
@click.option("--staged", is_flag=True, help="Staged changes only.")
@click.option("--files", "listed", type=click.File("rb"), help="File with changed paths, by NUL or line; - is stdin.")
@click.option("--ruleset", type=click.Choice(["classic", "default"]), help="Rule set.  [default: from settings]")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Lowest score that needs review.")
@click.option("--sarif", "as_sarif", is_flag=True, help="SARIF 2.1.0, for code scanning.")
@in_workspace
def command(
    base: str | None,
    staged: bool,
    listed: BinaryIO | None,
    ruleset: str | None,
    threshold: float | None,
    as_sarif: bool,
    project_root: Path,
    as_json: bool,
) -> int:
    """Show whether the current change needs independent review, judged by its files and its size.

    The result is a floor. Tests, the merge by a person and a reviewer's verdict count for more; what an agent says
    about its own work counts for less.
    """
    if as_json and as_sarif:
        raise WrongUsage("--json and --sarif exclude each other", hint="use --json or --sarif, not both")
    if listed is not None and (base is not None or staged):
        raise WrongUsage(
            "--files excludes --base and --staged: it lists the changed paths itself", hint="use only one of them"
        )
    context = context_of(project_root, {("risk", "ruleset"): ruleset, ("risk", "threshold"): threshold})
    report = risk(context, RiskRequest(project_root, base, staged, _bounded(listed)))
    if as_sarif:
        echo_json(sarif_of(report))
    elif as_json:
        echo_json(_record(report))
    else:
        _echo_report(report)
    return ExitCode.REVIEW_NEEDED if report.verdict.needs_review else 0


def _bounded(listed: BinaryIO | None) -> bytes | None:
    if listed is None:
        return None
    data = listed.read(_MOST_LISTED + 1)
    if len(data) > _MOST_LISTED:
        raise WrongUsage("the list of paths is longer than 64 MB", hint="pass paths, not contents")
    return data


def _record(report: RiskReport) -> dict[str, Any]:
    verdict, change = report.verdict, report.change
    return {
        **verdict.record(),
        "threshold": verdict.threshold,
        "ruleset": verdict.rules.name,
        "ruleset_version": verdict.rules.version,
        "lowered": list(verdict.rules.lowered),
        "compared": report.compared,
        "insertions": change.insertions,
        "deletions": change.deletions,
        "files_changed": change.shown_files(),
        "surfaces": [
            {
                "surface": surface,
                "weight": hits[0].weight,
                "files": [{"path": shown(hit.path), "why": hit.why} for hit in hits],
            }
            for surface, hits in verdict.by_surface().items()
        ],
        "kinds": {shown(path): kind for path, kind in sorted(change.kinds.items())},
        "emptied": [
            {"path": shown(file.path), "removed": file.removed, "before": file.before} for file in verdict.emptied
        ],
        "notes": list(report.notes),
    }


def _echo_report(report: RiskReport) -> None:
    verdict = report.verdict
    headline, colour = ("review needed", "red") if verdict.needs_review else ("no review needed", "green")
    score = verdict.shown_score()
    echo(f"{headline}: score {score}, threshold {verdict.threshold:g}", fg=colour, bold=True)
    put(message("why: {why} ({rules})", why=_why(report), rules=translate(verdict.rules.title)))
    for file in verdict.emptied[:_FILES_SHOWN]:
        put(message("most lines are removed from {path}: {removed} of {before}", path=shown(file.path),
                    removed=file.removed, before=file.before))  # fmt: skip
    for surface, hits in verdict.by_surface().items():
        _echo_surface(surface, hits)
    compared = message("compared: {compared}", compared=translate(report.compared))
    notes = (message("note: {note}", note=translate(note)) for note in report.notes)
    for line in (compared, *map(translate, verdict.rules.lowered), *notes):
        put(line)
    for line in _next(report):
        echo(f"  → {line}")


def _why(report: RiskReport) -> str:
    verdict, change = report.verdict, report.change
    if not verdict.hits:
        return message("nothing changed")
    lines = message("+{added} -{removed} lines", added=change.insertions or 0, removed=change.deletions or 0)
    base, score = score_text(verdict.base, verdict.threshold), verdict.shown_score()
    if verdict.surface == "none":
        return message("no file is on a known surface; {lines} give {score}", lines=lines, score=score)
    touched = message("files on the surface {surface} changed", surface=verdict.surface)
    if verdict.score <= verdict.base:
        return touched
    return touched + message("; {lines} raise the score from {base} to {score}", lines=lines, base=base, score=score)


def _echo_surface(surface: str, hits: list[SurfaceHit]) -> None:
    for number, hit in enumerate(hits[:_FILES_SHOWN]):
        head = f"{surface.ljust(5)} {hits[0].weight:.2f}" if number == 0 else ""
        why = f"  ({translate(hit.why)})" if surface != "none" else ""
        put(f"  {head.ljust(10)}  {shown(hit.path)}{why}")
    if len(hits) > _FILES_SHOWN:
        put(f"{'':14}{message('and {count} more', count=len(hits) - _FILES_SHOWN)}")


def _next(report: RiskReport) -> list[str]:
    """The next commands."""
    verdict = report.verdict
    if not verdict.needs_review:
        return ["tests and your own judgement still decide; see the rules: loopwright explain risk"]
    advice = ["ask a reviewer who did not write the change; list every file: loopwright risk --json"]
    if report.against is None:
        return advice
    new = set(report.change.untracked)
    leading = [hit.path for hit in verdict.hits if hit.surface == verdict.surface and hit.path not in new]
    # If the size decided, a few files would not show the reason.
    is_few = (
        verdict.base >= verdict.threshold
        and len(leading) <= _FILES_SHOWN
        and all(shown(path) == path for path in leading)
    )
    return [*advice, f"git diff {report.against[:12]}" + (f" -- {shlex.join(leading)}" if is_few and leading else "")]
