"""`spec.md`: the intent of a change and its open questions. Section names are part of the contract."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents.page import NotAPage, Page, PageProblem, new_page, read_page

INTENT = "Intent"
OUTCOME = "Desired Outcome"
AMBIGUITIES = "Ambiguity List"
ANSWERS = "Clarified Answers"
IN_SCOPE = "In Scope"
NON_GOALS = "Non-Goals"
BOUNDARIES = "Decision Boundaries"
CONSTRAINTS = "Constraints"
SUCCESS = "Success Criteria"
ASSUMPTIONS = "Assumptions Exposed"
BROWNFIELD = "Brownfield Evidence vs Inference"
DOMAINS = "Target Spec Domains"
INPUTS = "Execution Inputs"
CRITERIA = "Testable Acceptance Criteria"
SECTIONS = (
    INTENT, OUTCOME, AMBIGUITIES, ANSWERS, IN_SCOPE, NON_GOALS, BOUNDARIES, CONSTRAINTS, SUCCESS, ASSUMPTIONS,
    BROWNFIELD, DOMAINS, INPUTS, CRITERIA,
)  # fmt: skip
# Loopwright writes these two; the author owns the others.
KEPT_BY_TOOL = (AMBIGUITIES, ANSWERS)
_ITEM_ID = r"A-\d{1,6}"
_ITEM = re.compile(rf"[-*] +({_ITEM_ID}) *\| *([A-Za-z-]+) *\| *(.*)")
_ANSWER = re.compile(rf"[-*] +({_ITEM_ID}): +(.*)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,4}[.)]) +(?:\[[ xX]\] +)?(.*)")
_HEADING = re.compile(r"(?m)^##? +")
_STATUSES = ("open", "answered")
_PLACEHOLDERS = frozenset({
    "tbd", "todo", "fixme", "?", "??", "???", "...", "…", "-", "n/a yet", "to be defined", "to be determined",
    "to be written", "to be clarified", "placeholder", "待定", "待补充", "待确认", "未定",
})  # fmt: skip


_PART = "spec.md: "


def parts_of_spec(parts: Mapping[str, str]) -> dict[str, str]:
    """Of the parts of approved contents those of the spec."""
    return {name: digest for name, digest in parts.items() if name.startswith(_PART)}


class AmbiguityItem(msgspec.Struct, frozen=True):
    """A question, open or answered."""

    id: str
    status: str
    question: str
    answer: str = ""


class Spec(msgspec.Struct, frozen=True):
    """The document and its questions."""

    page: Page
    items: tuple[AmbiguityItem, ...]

    @property
    def open_items(self) -> tuple[AmbiguityItem, ...]:
        """Questions without an answer."""
        return tuple(item for item in self.items if item.status == "open")

    def is_filled(self, name: str) -> bool:
        """Whether a section has content that is not a placeholder."""
        return not is_placeholder(self.page.text_of(name))

    @property
    def parts(self) -> dict[str, str]:
        """The digest of each section."""
        texts = {section.name: section.text for section in self.page.sections if section.text}
        return {f"{_PART}{name}": sha256(text.encode()) for name, text in texts.items()}

    @property
    def domains(self) -> tuple[str, ...]:
        """The spec domains: from the section, else from the frontmatter, else `general`."""
        named = (
            tuple(line.strip("`") for line in entries(self.page.text_of(DOMAINS))) if self.is_filled(DOMAINS) else ()
        )
        if not named:
            target = self.page.frontmatter.get("target_domains", [])
            named = tuple(target if isinstance(target, list) else [target])
        return tuple(dict.fromkeys(name for name in named if name)) or ("general",)

    def next_item_id(self) -> str:
        """An id that was never used."""
        return f"A-{max((int(item.id[2:]) for item in self.items), default=0) + 1}"

    def asking(self, question: str) -> Spec:
        """The spec with one more question."""
        return self._with((*self.items, AmbiguityItem(self.next_item_id(), "open", _one_line(question))))

    def answering(self, item_id: str, answer: str) -> Spec:
        """The spec with this question answered."""
        answered = (
            AmbiguityItem(item.id, "answered", item.question, _one_line(answer)) if item.id == item_id else item
            for item in self.items
        )
        return self._with(tuple(answered))

    def reopening(self, item_id: str) -> Spec:
        """The spec with this question reopened; the old answer stays until a new one replaces it."""
        return self._with(
            tuple(AmbiguityItem(i.id, "open", i.question, i.answer) if i.id == item_id else i for i in self.items)
        )

    def with_sections(self, bodies: dict[str, str]) -> Spec:
        """The spec with new texts in the author's sections."""
        page = self.page
        for name, body in bodies.items():
            if name in SECTIONS and name not in KEPT_BY_TOOL:
                page = page.with_section(name, as_body(body))
        return Spec(page, self.items)

    def render(self) -> bytes:
        """The file's bytes; `NotAPage` if `read_spec` would not accept them: too long, or no text."""
        data = self.page.render()
        read_spec(data)
        return data

    def _with(self, items: tuple[AmbiguityItem, ...]) -> Spec:
        listed = "\n".join(f"- {item.id} | {item.status} | {item.question}" for item in items)
        answers = "\n".join(f"- {item.id}: {item.answer}" for item in items if item.answer)
        page = self.page.with_section(AMBIGUITIES, listed or _hint(AMBIGUITIES))
        return Spec(page.with_section(ANSWERS, answers or _hint(ANSWERS)), items)


def new_spec(title: str, idea: str, slug: str, catalogue: Catalogue = ENGLISH) -> Spec:
    """A spec with nothing but the idea."""
    page = new_page(title, workflow=slug)
    for name in SECTIONS:
        page = page.with_section(name, as_body(idea) if name == INTENT and idea.strip() else _hint(name, catalogue))
    return Spec(page, ())


def as_body(text: str) -> str:
    """A text that stays in its section: headings are demoted and open fences closed."""
    body = _HEADING.sub("### ", text.strip())
    fences = [line.strip() for line in body.splitlines() if line.strip().startswith(("```", "~~~"))]
    return f"{body}\n{fences[-1][:3]}" if len(fences) % 2 else body


def read_spec(data: bytes) -> Spec:
    """The spec in these bytes; `NotAPage` names every problem with its line."""
    page = read_page(data)
    problems: list[PageProblem] = []
    answers = _answers(page)
    items: list[AmbiguityItem] = []
    section = page.section(AMBIGUITIES)
    for offset, line in enumerate(section.raw.split("\n") if section is not None else ()):
        at = (section.line if section is not None else 1) + offset
        match = _ITEM.fullmatch(line.strip())
        if match is None:
            if re.match(r"[-*] +A-", line.strip()):
                problems.append(
                    PageProblem(at, f"invalid item (expected `- A-1 | open | question`): {line.strip()[:80]}")
                )
            continue
        name, status, question = match[1], match[2].lower(), match[3].strip()
        if status not in _STATUSES:
            problems.append(PageProblem(at, f"{name} is '{status}'; allowed: {' or '.join(_STATUSES)}"))
        if any(item.id == name for item in items):
            problems.append(PageProblem(at, f"duplicate {name}"))
        items.append(AmbiguityItem(name, status, question, answers.get(name, "")))
    if problems:
        raise NotAPage(*problems)
    return Spec(page, tuple(items))


def is_item_id(name: str) -> bool:
    """Whether this is the id of a question of a spec."""
    return re.fullmatch(_ITEM_ID, name) is not None


def is_placeholder(text: str) -> bool:
    """Whether a text is empty or a placeholder."""
    lines = [re.sub(r"^(?:[-*+]|\d+[.)]) +", "", line.strip()) for line in text.splitlines() if line.strip()]
    return all(_is_nothing(line) for line in lines)


def entries(text: str) -> tuple[str, ...]:
    """The items of a list in a text, without markers; continuation lines belong to their item."""
    items: list[str] = []
    for line in text.splitlines():
        bullet = _BULLET.fullmatch(line.strip()) if not line.startswith((" " * 4, "\t")) else None
        if bullet is not None:
            items.append(bullet[1].strip())
        elif line.strip() and items:
            items[-1] = f"{items[-1]} {line.strip()}"
        elif line.strip():
            items.append(line.strip())
    return tuple(entry for entry in items if entry and not _is_nothing(entry))


def _is_nothing(line: str) -> bool:
    bare = line.strip().strip("*_`.").casefold()
    return (
        not bare or bare in _PLACEHOLDERS or line.strip() in _PLACEHOLDERS or re.fullmatch(r"<[^>]*>", bare) is not None
    )


def _answers(page: Page) -> dict[str, str]:
    matches = (_ANSWER.fullmatch(line.strip()) for line in page.text_of(ANSWERS).splitlines())
    return {match[1]: match[2].strip() for match in matches if match is not None}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _hint(name: str, catalogue: Catalogue = ENGLISH) -> str:
    return f"<!-- {catalogue.text(_HINTS[name])} -->"


_HINTS = {
    INTENT: "what you want, in one or two sentences",
    OUTCOME: "what changes, and for whom, when this is done",
    AMBIGUITIES: "- A-1 | open | a question",
    ANSWERS: "- A-1: the answer",
    IN_SCOPE: "what is in scope",
    NON_GOALS: "what is out of scope, although a reader might expect it",
    BOUNDARIES: "what the builder may decide, and what a person must decide",
    CONSTRAINTS: "what must not change, and what must not be used",
    SUCCESS: "how you can see that it succeeded",
    ASSUMPTIONS: "what you assume",
    BROWNFIELD: "what the code shows, and what is only inferred",
    DOMAINS: "- the specs that this changes",
    INPUTS: "files, data, access that the work needs",
    CRITERIA: "- one statement each, which a command can check",
}
