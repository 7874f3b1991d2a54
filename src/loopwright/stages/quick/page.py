"""The one page that `do` leaves in git: the idea, what proved it, and where it was delivered."""

from __future__ import annotations

from loopwright.kernel.files import make_folder, write_durably
from loopwright.stages.context import Context, documents_of, workflows_of
from loopwright.stages.status import WorkflowView
from loopwright.workflow.audit import proof_line


def write_page(context: Context, view: WorkflowView, sentence: str) -> None:
    """Write the page of delivered work."""
    workflow, catalogue = view.workflow, documents_of(context)
    verified, review = workflow.verification, workflow.review
    checks = workflows_of(context).snapshot(workflow.slug).facts.readable_slices.checks
    parts = {
        "Idea": [workflow.idea],
        "Checks": [f"- `{check.command}`" for check in checks],
        "Proof": [f"- {proof_line(line, catalogue)}" for line in view.requirements],
        "Tests": [f"- {catalogue.translate(view.rest_of_project)}"] if view.rest_of_project else [],
        "Files": [f"- {path}" for path in (verified.files if verified is not None else ())],
        "Review": [f"- {review.reviewer}: {review.verdict}"] if review is not None else [],
        "Evidence": [f"- {run}" for run in (verified.run_ids if verified is not None else ())],
        "Delivery": [f"- {catalogue.translate(sentence)}"],
    }
    body = "\n\n".join(f"## {name}\n\n" + "\n".join(lines) for name, lines in parts.items() if lines)
    page = context.layout.quick_page(workflow.slug)
    make_folder(page.parent)
    text = f"# {workflow.slug}\n\n{body}\n"
    write_durably(page, context.tools().redactor.clean(text.encode()).data)
