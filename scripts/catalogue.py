"""The catalogue of each language: updated from the source, checked, and compiled for the package.

The .mo file is checked in next to the .po file: a checkout, a wheel and an editable install read the same file without
compiling. `make docs` writes both files, `make check` compares them.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from wording_sources import ROOT, is_by_template, sentences, stale_exclusions

from loopwright.wording.catalogue import BY_TEMPLATE, LOCALE, Catalogue
from loopwright.wording.templates import MessageTemplate, is_template

PO = Path(LOCALE) / "zh" / "LC_MESSAGES" / "loopwright.po"
MO = PO.with_suffix(".mo")
_NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # the same bytes on every day
_CONTEXT = BY_TEMPLATE[:-1]
_HEAD = """\
# What Loopwright says, in simplified Chinese. Written by `make docs`, which keeps translations; edit only msgstr.
#
# Words: agent 智能体, workflow 工作流, slice 切片, check 检查, gate 门禁, evidence 证据, approval 批准, blocker 阻碍,
# loop 循环, run 运行, sandbox 沙箱, sealed 封存, spec 规格, delta 增量, reviewer 评审者, base 基线, judge 判定文件,
# plan 计划, task 任务, latch 锁定, reflection 反思, self-report 自我报告, risk floor 风险下限, budget 预算,
# hold 暂停, worker 工作进程, turn 回合, journal 日志链, patch 补丁, domain 领域, requirement 需求, scope 范围,
# decision 决定, signature 签字.
# Commands, codes, paths, names of stages and sections are never translated.
"""


def files() -> dict[Path, bytes]:
    """The content that both files must have."""
    catalogue = _updated()
    return {PO: _text(catalogue), MO: _compiled(catalogue)}


def problems() -> list[str]:
    """All problems of the checked-in files."""
    catalogue = _updated()
    known = {str(message.id) for message in _checked_in() if message.id}
    messages = sentences()
    faults = [f"missing entry: {text!r} ({messages[text][0]})" for text in messages if text not in known]
    faults += [f"unused entry: {text!r}" for text in known if text not in messages]
    faults += [f"stale exclusion in scripts/wording_sources.py: {entry}" for entry in stale_exclusions()]
    for message in catalogue:
        if not message.id:
            continue
        english, other = str(message.id), str(message.string)
        if not other:
            faults.append(f"no translation for: {english!r}")
        elif _facts(english) != _facts(other):
            faults.append(f"other facts than {sorted(_facts(english))}: {other!r}")
    faults += _confused(catalogue) if not faults else []
    return [f"{PO.relative_to(ROOT)}: {fault}" for fault in faults]


def _confused(catalogue: Catalog) -> list[str]:
    """Messages that would be translated as another message: a template is found only by its text."""
    table = {str(message.id): str(message.string) for message in catalogue if message.id}
    messages = sentences()
    by_text = Catalogue({text: other for text, other in table.items() if not is_by_template(messages[text])})
    faults = []
    for english, places in messages.items():
        if not _facts(english) or is_by_template(places):
            continue
        facts = _samples(english)
        # A message that continues a sentence is found together with the text before it.
        before = "x" if english[0] in " ,;:(." else ""
        translation = by_text.translate(before + english.format(**facts)).rstrip("：: \n")
        if translation != (before + table[english].format(**facts)).rstrip("：: \n"):
            faults.append(f"{english!r} is mistaken for another message: {translation!r}")
    return faults


def _samples(template: str) -> dict[str, str]:
    """A sample fact for each name; a fact directly after another is the rest of a sentence."""
    names = list(dict.fromkeys(MessageTemplate(template).facts))
    return {name: f"(x{number})" if f"}}{{{name}}}" in template else f"x{number}" for number, name in enumerate(names)}


def _facts(template: str) -> set[str]:
    return set(MessageTemplate(template).facts) if is_template(template) else set()


def _checked_in() -> Catalog:
    return read_po(io.BytesIO(PO.read_bytes()), locale="zh", domain="loopwright") if PO.exists() else Catalog("zh")


def _updated() -> Catalog:
    """The source's messages with their existing translations."""
    before = _checked_in()
    catalogue = Catalog("zh", domain="loopwright", header_comment=_HEAD, project="loopwright", version="", fuzzy=False)
    catalogue.msgid_bugs_address = catalogue.last_translator = catalogue.language_team = ""
    catalogue.creation_date = catalogue.revision_date = _NO_DATE
    for text, places in sentences().items():
        known = before.get(text) or before.get(text, _CONTEXT)
        translation = str(known.string) if known is not None else ""
        context = _CONTEXT if is_by_template(places) else None
        catalogue.add(text, translation, auto_comments=sorted(set(places))[:3], context=context)
    return catalogue


def _text(catalogue: Catalog) -> bytes:
    made = io.BytesIO()
    write_po(made, catalogue, width=0, omit_header=False, sort_output=True, ignore_obsolete=True)
    return made.getvalue()


def _compiled(catalogue: Catalog) -> bytes:
    made = io.BytesIO()
    write_mo(made, catalogue)
    return made.getvalue()
