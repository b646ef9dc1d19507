"""Functions of integers and real numbers as functions of the real numbers alone: all integers side by side.

f(i, x) is g(i, x) for all integers i of a range and all real x exactly if the functions x ↦ (f(1, x), f(2, x), …) and
x ↦ (g(1, x), g(2, x), …) are equal.  In these the integers are constants, and places, masks and casts are decided.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.integers import Integers, numbers
from uat_jax.decide.specification import with_numbers
from uat_jax.interpret.canonical_form import depending
from uat_jax.interpret.interpreter import programs_within
from uat_jax.numbers.prime_fields.random_keys import draws_one_by_one
from uat_jax.typing import Array

CONTROL = frozenset(["cond", "while"])
"""Primitives whose programs are followed where a number decides them, not where one of several does."""


@dataclass(frozen=True)
class SideBySide:
    """Two programs at several choices of their integers.

    chosen: an array (choices, *shape) for each integer input.  domains: of all inputs.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    domains: Domains
    chosen: tuple[np.ndarray, ...]

    @property
    def places(self) -> list[int]:
        """Which inputs are integers."""
        return [i for i in range(len(self.left.in_avals)) if isinstance(self.domains[i], Integers)]

    @property
    def others(self) -> list[int]:
        """Which inputs are real."""
        return [i for i in range(len(self.left.in_avals)) if i not in self.places]

    @property
    def alone(self) -> bool:
        """Whether no real input counts, so that the programs are given one more, which is added to their results."""
        counts = (any(depending(program, self.others)) for program in (self.left, self.right))
        return not (self.others and any(counts))

    def programs(self) -> tuple[ClosedJaxpr, ClosedJaxpr]:
        """Both programs as those of the real inputs alone, their results along a first axis of choices."""
        return self._program(self.left), self._program(self.right)

    def real_domains(self) -> Domains:
        """What the inputs of these programs range over."""
        return Domains((*(self.domains[i] for i in self.others), *((REALS,) if self.alone else ())))

    def _program(self, program: ClosedJaxpr) -> ClosedJaxpr:
        avals = [program.in_avals[i] for i in self.others]
        specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
        specs += [jax.ShapeDtypeStruct((), np.float32)] if self.alone else []
        wide = any(aval.dtype.itemsize == 8 for aval in (*program.in_avals, *program.out_avals))
        with jax.enable_x64(wide):
            function = jaxpr_as_fun(with_numbers(program))
            several = self._mapped if len(self.chosen[0]) > 1 and is_mapped(program) else self._stacked

            def of_reals(*reals: Any) -> list[jax.Array]:
                added = reals[-1] if self.alone else None
                found = several(function, reals[: len(self.others)])
                return [x if added is None else x + added.astype(x.dtype) for x in found]

            return jax.make_jaxpr(of_reals)(*specs)

    def _mapped(self, function: Any, reals: Sequence[jax.Array]) -> list[jax.Array]:
        axes = [0 if i in self.places else None for i in range(len(self.left.in_avals))]
        return jax.vmap(function, in_axes=axes)(*self._filled(self.chosen, reals))

    def _stacked(self, function: Any, reals: Sequence[Array]) -> list[Any]:
        each = [function(*self._filled([x[k] for x in self.chosen], reals)) for k in range(len(self.chosen[0]))]
        return [jax.numpy.stack(outputs) for outputs in zip(*each, strict=True)]

    def _filled(self, integers: Sequence[np.ndarray], reals: Sequence[Any]) -> list[Array]:
        given = {**dict(zip(self.places, integers, strict=True)), **dict(zip(self.others, reals, strict=True))}
        return [given[i] for i in range(len(given))]

    def located(self, found: Counterexample, names: Sequence[str]) -> Counterexample:
        """A counterexample to the equality of these programs as one of the programs with the integers."""
        choice, *entry = found.entry
        added = float(np.asarray(found.inputs[-1].values)) if self.alone else 0.0
        reals = iter(found.inputs)
        inputs = []
        for i, (name, aval) in enumerate(zip(names, self.left.in_avals, strict=True)):
            if i in self.places:
                array = self.chosen[self.places.index(i)][choice]
                inputs.append(Input(name, numbers(array), str(aval.dtype)))
            else:
                inputs.append(dataclasses.replace(next(reals), name=name))
        values = {} if added == 0 else {"left": found.left - added, "right": found.right - added}
        if added != 0:
            values["exact"] = (repr(values["left"]), repr(values["right"]))
        return dataclasses.replace(found, inputs=tuple(inputs), entry=tuple(entry), **values)


def is_mapped(program: ClosedJaxpr) -> bool:
    """Whether `jax.vmap` is used for several integers: no conditional, no loop of unknown length, all draws by rows.

    A generator other than threefry draws of many keys what it draws of the first one.
    """
    equations = [e for p in programs_within(program) for e in p.eqns]
    return not any(e.primitive.name in CONTROL for e in equations) and all(map(draws_one_by_one, equations))
