"""In which language documents are written: as the workspace demands, else as the person who types reads."""

from __future__ import annotations

from loopwright.stages.context import Context
from loopwright.wording.catalogue import Catalogue, catalogue_of
from loopwright.wording.language import language_of


def documents_of(context: Context) -> Catalogue:
    """What our own documents are written with."""
    wanted = context.settings.values.workspace
    setting = wanted.language if wanted.document_language == "any" else wanted.document_language
    return catalogue_of(language_of(setting, context.environment))


def demand_of(context: Context) -> str:
    """What an agent that writes documents is told; nothing where any language will do."""
    match context.settings.values.workspace.document_language:
        case "en":
            return f"\n\n{context.prompts().part('write_english')}"
        case "zh":
            return f"\n\n{context.prompts().part('write_chinese')}"
        case _:
            return ""
