"""The page of the Python API: every public function and type of `loopwright.verbs`, from the code itself."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from loopwright import verbs
from loopwright.wiring import build as wiring

_INTRO = """# Python reference

These functions and types are the public Python API. The [guide](../python-api.md) shows how to use them.
"""
_LONGEST = 96


def page(head: str) -> str:
    """The page."""
    parts = [head, _INTRO, _section(wiring, ("build_context",))]
    names = sorted(module.name for module in pkgutil.walk_packages(verbs.__path__, f"{verbs.__name__}."))
    modules = (importlib.import_module(name) for name in names)
    parts += [_section(module, public) for module in modules if (public := tuple(_public(module)))]
    return "".join(parts)


def _public(module: ModuleType) -> Iterator[str]:
    """The names of the API: those of `__all__`, else what the module itself defines."""
    declared = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        is_own = declared is None and not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        if ((declared is not None and name in declared) or is_own) and (
            inspect.isfunction(value) or inspect.isclass(value)
        ):
            yield name


def _section(module: ModuleType, names: tuple[str, ...]) -> str:
    about = (inspect.getdoc(module) or "").partition("\n\n")[0].replace("\n", " ")
    values = sorted(((name, getattr(module, name)) for name in names), key=lambda pair: inspect.isclass(pair[1]))
    return f"\n## {module.__name__}\n\n{about}\n" + "".join(_entry(name, value) for name, value in values)


def _entry(name: str, value: Any) -> str:
    return f"\n```python\n{_signature(name, value)}\n```\n\n{inspect.getdoc(value) or ''}\n"


def _signature(name: str, value: Any) -> str:
    signature = inspect.signature(value)
    kind = "class" if inspect.isclass(value) else "def"
    parameters = [_parameter(one) for one in signature.parameters.values()]
    keyword_only = next(
        (n for n, one in enumerate(signature.parameters.values()) if one.kind is one.KEYWORD_ONLY), None
    )
    if keyword_only is not None:
        parameters.insert(keyword_only, "*")
    result = "" if inspect.isclass(value) else f" -> {_type(signature.return_annotation)}"
    line = f"{kind} {name}({', '.join(parameters)}){result}"
    if len(line) <= _LONGEST:
        return line
    rows = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{kind} {name}(\n{rows}){result}"


def _parameter(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {_type(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    default = parameter.default
    return f"{text} = {default.__name__ if inspect.isfunction(default) else _short(default)}"


def _short(default: Any) -> str:
    """The default value as a reader would write it."""
    shown = repr(default).replace("mappingproxy({})", "{}").replace("'", '"')
    return shown if len(shown) <= 30 and " at 0x" not in shown else "…"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
