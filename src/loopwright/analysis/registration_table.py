"""The table of `loopwright explain preregistered`, from the data that the experiments use."""

from __future__ import annotations

from loopwright.analysis.preregistered import (
    COLUMNS,
    HEURISTICS,
    MEANINGS,
    NUMBERS,
    SURFACE_WEIGHTS,
    TASK_FILES,
    surface_fragments,
)


def preregistered_rows() -> list[dict[str, str]]:
    """A row for each number, surface and pattern."""
    numbers = [
        {"name": name, "value": f"{getattr(NUMBERS, name):g}", "meaning": MEANINGS[name]}
        for name in NUMBERS.__struct_fields__
    ]
    patterns = [
        {"name": name, "value": "heuristic", "meaning": f"`{value}`" if isinstance(value, str) else ", ".join(value)}
        for group in (HEURISTICS, TASK_FILES, COLUMNS)
        for name in group.__struct_fields__
        for value in (getattr(group, name),)
    ]
    fragments = surface_fragments()
    surfaces = [
        {
            "name": f"surface {name}",
            "value": f"{weight:g}",
            "meaning": ", ".join(fragments.get(name, ["anything else"])),
        }
        for name, weight in SURFACE_WEIGHTS.items()
    ]
    return [*numbers, *surfaces, *patterns]
