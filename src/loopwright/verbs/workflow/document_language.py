"""In which language documents are written: as the workspace demands, else as the person who types reads."""

from __future__ import annotations

from loopwright.verbs.context import Context
from loopwright.wording.catalogue import Catalogue, catalogue_of
from loopwright.wording.language import language_of

_DEMANDS = {
    "en": "Write every text in English.",
    "zh": (
        "Write every text in simplified Chinese. Keys, ids, names of sections, headings of deltas, GIVEN, WHEN, THEN, "
        "SHALL and MUST stay as they are."
    ),
}


def documents_of(context: Context) -> Catalogue:
    """What our own documents are written with."""
    wanted = context.settings.values.workspace
    setting = wanted.language if wanted.document_language == "any" else wanted.document_language
    return catalogue_of(language_of(setting, context.environment))


def demand_of(context: Context) -> str:
    """What an agent that writes documents is told; nothing where any language will do."""
    demand = _DEMANDS.get(context.settings.values.workspace.document_language)
    return f"\n\n{demand}" if demand is not None else ""
