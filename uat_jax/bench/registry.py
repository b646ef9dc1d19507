"""The cases by name: every file of `uat_jax.bench.cases` holds one or several in ``CASES``."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping, Sequence

from uat_jax.bench import cases
from uat_jax.bench.case import Case
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
