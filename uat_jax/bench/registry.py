"""The cases by name: every file of `uat_jax.bench.cases` holds one or several in ``CASES``."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from uat_jax.bench import cases
from uat_jax.bench.case import Case, Size
from uat_jax.decide.settings import DTYPES
from uat_jax.errors import InputError


@functools.cache
def every_case() -> Mapping[str, Case]:
    """Name → case, in alphabetical order."""
    modules = [importlib.import_module(f"{cases.__name__}.{m.name}") for m in pkgutil.iter_modules(cases.__path__)]
    found = [case for module in modules for case in module.CASES]
    return {case.name: case for case in sorted(found, key=lambda case: case.name)}


def chosen(names: Sequence[str]) -> list[Case]:
    """The cases of these names; all of them if there is no name.

    Raises:
        InputError: a name that no case has.
    """
    known = every_case()
    for name in names:
        if name not in known:
            raise InputError(f"there is no benchmark case {name!r}; choose among {', '.join(known)}")
    return [known[name] for name in names] or list(known.values())


def with_entries(case: Case, settings: Sequence[str]) -> Case:
    """The case with these entries ``NAME=VALUE`` in all of its sizes, read as what stands there now.

    Raises:
        InputError: a size has no such entry, or the value is of another kind.
    """
    return replace(
        case,
        quick=_changed(case, case.quick, settings),
        standard=_changed(case, case.standard, settings),
        full=_changed(case, case.full, settings),
    )


def entry_names(settings: Sequence[str]) -> list[str]:
    """The names of entries ``NAME=VALUE``."""
    return [setting.partition("=")[0] for setting in settings]


def _changed(case: Case, sizes: Sequence[Size], settings: Sequence[str]) -> list[Size]:
    changed: list[Size] = []
    for size in sizes:
        new = {**size, **dict(_entry(case, size, setting) for setting in settings)}
        changed += [] if new in changed else [new]
    return changed


def _entry(case: Case, size: Size, setting: str) -> tuple[str, Any]:
    name, _, text = setting.partition("=")
    if name not in size:
        known = ", ".join(f"{k}={v}" for k, v in size.items()) or "nothing"
        raise InputError(f"got --set {setting}, and what can be set in {case.name} is {known}")
    try:
        value = type(size[name])(text)
    except ValueError:
        raise InputError(f"got --set {setting}, wanted a value like {name}={size[name]}") from None
    words = DTYPES if name == "dtype" else case.words.get(name)
    if words and value not in words:
        raise InputError(f"got --set {setting}, wanted {name} to be one of {', '.join(words)}")
    if isinstance(value, int) and value < 1:
        raise InputError(f"got --set {setting}, wanted {name} to be at least 1")
    return name, value
