"""Every prompt by its name: its role and its placeholders. A text without a required placeholder would not work."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from loopwright.agents.port import Role

PromptLanguage = Literal["en", "zh"]
LANGUAGES: tuple[PromptLanguage, ...] = get_args(PromptLanguage)
_PART = "part_"


class Shape(msgspec.Struct, frozen=True):
    """The role of a text, its required placeholders, and its optional ones. A part has no role of its own."""

    role: Role | None
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()

    @property
    def known(self) -> frozenset[str]:
        """All placeholders."""
        return frozenset((*self.needs, *self.may))


def part_name(name: str) -> str:
    """The name of a part among all texts."""
    return f"{_PART}{name}"


_PROMPTS = {
    "clarifier": Shape(Role.CLARIFIER, ("idea", "spec", "sections"), ("press",)),
    "planner": Shape(Role.PLANNER, ("title", "description")),
    "planner_change": Shape(Role.PLANNER, ("spec", "domains", "blocker"), ("domain",)),
    "architect_plan": Shape(Role.ARCHITECT, ("plan",)),
    "architect_build": Shape(Role.ARCHITECT, ("patch",), ("manifest",)),
    "critic_plan": Shape(Role.CRITIC, ("plan",), ("architect",)),
    "builder": Shape(Role.BUILDER, ("task", "blocker"), ("task_id", "title", "description", "test_command")),
    "builder_slice": Shape(Role.BUILDER, ("task", "checks", "blocker"), ("criteria", "judges", "manifest")),
    "builder_deslop": Shape(Role.BUILDER, ("patch",)),
    "builder_before": Shape(Role.BUILDER, ("work",)),
    "builder_after": Shape(Role.BUILDER, ("work",), ("files",)),
    "builder_adversarial": Shape(Role.BUILDER, ("work",), ("files",)),
    "debugger": Shape(Role.DEBUGGER, ("failing",), ("history",)),
    "reviewer_change": Shape(Role.REVIEWER, ("patch", "spec"), ("manifest", "risk")),
    "smell_reviewer_change": Shape(Role.SMELL_REVIEWER, ("patch",)),
    "replanner": Shape(Role.REPLANNER, ("blocker", "plan"), ("needs", "needs_reason", "web", "evidence")),
}
_PARTS: dict[str, tuple[str, ...]] = {
    "decisions": (),
    "decided": ("lines",),
    "decided_one": ("id", "question", "answer"),
    "known_tasks": ("known",),
    "most_tasks": ("most",),
    "resumed": (),
    "by_hand": ("folder",),
    "schema": ("schema",),
    "nonce": ("nonce",),
    "repair": ("problem",),
    "again": ("problem",),
    "last_failure": ("message",),
    "left_out": ("files",),
    "left_out_failing": ("failing",),
    "no_test_command": (),
    "tests_fail": (),
    "quick": (),
    "hidden_checks": ("count",),
    "every_check": (),
    "a_person": (),
    "no_judges": (),
    "no_files": (),
    "gate": ("commands",),
    "gate_more": ("commands", "count"),
    "idea_in_spec": (),
    "press": (),
    "judge_answers": ("items",),
    "taken_over": ("tool",),
    "sent_back": (),
    "review_found": ("findings",),
    "opinions": ("architect", "critic"),
    "person_says": ("remark",),
    "riskiest": ("surface",),
    "web": (),
    "no_web": (),
    "evidence": (),
    "write_english": (),
    "write_chinese": (),
}
SHAPES = {**_PROMPTS, **{part_name(name): Shape(None, needs) for name, needs in _PARTS.items()}}
