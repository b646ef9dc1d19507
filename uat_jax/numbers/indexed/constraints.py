"""Constraints of symbolic dimensions: what they say of one size is put in its place.

n == h*d makes h·d of n; mod(n, 4) == 0 makes 4·n' of n; m >= n makes n + m' of m, with m' ≥ 0.  All sizes that fit the
constraint are of that form, so that what is proved for all values of the other sizes is proved for all that fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.workspace import Workspace, working

NEW = "_rest"
"""Behind the name of a size, the name of the number that takes its place."""


def constraints_of(scope: Any) -> list[str]:
    """The constraints of a scope of symbolic dimensions, as JAX prints them."""
    _, found, listed = str(scope).partition("with constraints:\n")
    return [line.strip() for line in listed.splitlines()] if found else []


def derived(constraints: Sequence[str]) -> dict[str, str]:
    """Size → what it is, for the constraints that say it; of other constraints nothing is used."""
    found: dict[str, str] = {}
    for constraint in constraints:
        for name, text in _readings(constraint):
            if name not in found and name not in _names(text, found):
                found[name] = text
                break
    return found


def lowest(found: Mapping[str, str]) -> dict[str, int]:
    """The smallest values of the new names: what is added to another size may be 0."""
    return {f"{name}{NEW}": 0 for name, text in found.items() if text.endswith(f"+ {name}{NEW}")}


def fitting(sizes: Mapping[str, int], found: Mapping[str, str]) -> dict[str, int]:
    """Sizes, of which as few as possible are changed, that are what the constraints say, as far as `found` tells."""
    added = lowest(found)
    fixed = {**sizes, **{f"{name}{NEW}": sizes[name] for name in found if name in sizes}, **added}
    for _ in found:  # what one is may depend on another
        for name, text in found.items():
            with working(Workspace(fixed=fixed)):
                least = int(dimension(text).number() or 0)
            fixed[name] = max(least, sizes.get(name, 0)) if f"{name}{NEW}" in added else least
    return {name: fixed[name] for name in sizes}


def _readings(constraint: str) -> list[tuple[str, str]]:
    """(size, what it is), in the ways in which a constraint can be read."""
    if remainder := re.fullmatch(r"mod\((\w+), ?(\d+)\) == 0", constraint):
        name, divisor = remainder.groups()
        return [(name, f"{divisor}*{name}{NEW}")]
    sides = re.fullmatch(r"(.+?) (==|>=|<=) (.+)", constraint)
    if sides is None:
        return []
    left, relation, right = sides.groups()
    if relation == "==":
        return [(a, b) for a, b in ((left, right), (right, left)) if a.isidentifier()]
    more, less = (left, right) if relation == ">=" else (right, left)
    return [(more, f"{less} + {more}{NEW}")] if more.isidentifier() and not less.isdecimal() else []


def _names(text: str, found: Mapping[str, str]) -> set[str]:
    """The sizes in a text, with those that they are made of."""
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    return names.union(*(_names(found[name], found) for name in names if name in found))
