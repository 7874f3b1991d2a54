"""The form of a plan file, for its JSON Schema. Only `parse` reads and checks plans."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class FileText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that a file must contain."""

    path: str
    text: str


class CheckForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of these keys; `parse` refuses more than one."""

    command: str | None = None
    file_exists: str | None = None
    file_contains: FileText | None = None
    stdout_contains: str | None = None
    exit_code: Annotated[int, Meta(ge=0, le=255)] | None = None


class StepForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step."""

    id: str
    action: str | None = None
    commands: list[str] | None = None
    cwd: str | None = None
    verification: list[str | CheckForm] | None = None
    depends_on: list[str] | None = None
    timeout_s: Annotated[float, Meta(gt=0)] | None = None
    env: list[str] | None = None
    network: bool | None = None


class BodyForm(msgspec.Struct, frozen=True):
    """The content of `new_plan`."""

    steps: list[StepForm]
    unified_goal: str = ""
    run_id: str | None = None


class PlanForm(msgspec.Struct, frozen=True):
    """A plan file."""

    new_plan: BodyForm
