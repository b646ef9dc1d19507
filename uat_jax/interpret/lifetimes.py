"""How long values are kept in a walk over a jaxpr: up to their last use, so that large models fit into memory."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal, Var

from uat_jax.interpret.operation import Operation
from uat_jax.interpret.tracing import dtype_of


@functools.lru_cache(maxsize=1024)
def last_uses(jaxpr: Jaxpr) -> tuple[tuple[Var, ...], ...]:
    """For each equation of a jaxpr, the variables that nothing after it reads: some of its operands and results."""
    needed = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
    unread: list[tuple[Var, ...]] = []
    for equation in reversed(jaxpr.eqns):
        atoms = [atom for atom in (*equation.invars, *equation.outvars) if not isinstance(atom, Literal)]
        unread.append(tuple(dict.fromkeys(atom for atom in atoms if atom not in needed)))
        needed.update(atoms)
    return tuple(reversed(unread))


class Written:
    """A number that stands in an equation, as an array of its dtype, and what is equal for the same bits only."""

    def __init__(self, literal: Literal):
        self.literal = literal
        self.array = np.asarray(literal.val, dtype_of(literal))
        self.bits = self.array.dtype, self.array.tobytes()


Line = tuple[JaxprEqn, tuple[Var | Written, ...], tuple[Var, ...]]
"""An equation, its operands with those that are written in it as `Written`, and what nothing after it reads."""


@functools.lru_cache(maxsize=1024)
def lines(jaxpr: Jaxpr) -> tuple[Line, ...]:
    """The equations of a jaxpr, made ready for many walks over them."""
    ready: Callable[[Var | Literal], Var | Written] = lambda atom: Written(atom) if isinstance(atom, Literal) else atom
    operands = (tuple(map(ready, equation.invars)) for equation in jaxpr.eqns)
    return tuple(zip(jaxpr.eqns, operands, last_uses(jaxpr), strict=True))


V = TypeVar("V")
Numbered = tuple[int, V]
"""A value with the number that stands for it: equal numbers mean equal values."""


@dataclass(frozen=True, slots=True)
class Fading(Generic[V]):
    """The results of an equation, as long as something else keeps them."""

    numbers: tuple[int, ...]
    values: tuple[Callable[[], V | None], ...]

    def results(self) -> list[Numbered[V]] | None:
        """The results; None if one is gone."""
        values = [value() for value in self.values]
        kept = [(number, value) for number, value in zip(self.numbers, values, strict=True) if value is not None]
        return kept if len(kept) == len(values) else None

    def again(self, results: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """The results that were computed again, under their old numbers."""
        return [(number, value) for number, (_, value) in zip(self.numbers, results, strict=True)]


class Results(Generic[V]):
    """What equations gave in a walk, by a key that is equal for equations that compute the same thing."""

    def __init__(self) -> None:
        self._known: dict[Hashable, list[Numbered[V]] | Fading[V]] = {}

    def __getitem__(self, key: Hashable) -> list[Numbered[V]] | None:
        """The results; None where the equation has not been evaluated, or a large result is gone."""
        found = self._known.get(key)
        return found.results() if isinstance(found, Fading) else found

    def keep(self, key: Hashable, operation: Operation, results: list[Numbered[V]]) -> list[Numbered[V]]:
        """The results, from now on known; large ones only as long as a later equation needs them."""
        known = self._known.get(key)
        if isinstance(known, Fading):
            results = known.again(results)
        if operation.is_large:
            numbers, values = zip(*results, strict=True)
            self._known[key] = Fading(numbers, tuple(map(_reference, values)))
        else:
            self._known[key] = results
        return results


def _reference(value: V) -> Callable[[], V | None]:
    """A weak reference; a value that has none, such as a tuple, is kept."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value
