"""Functions of integers and truth values as functions of real numbers: every one of them is a function of a real one.

    m = (u > 0)        i = clamp(low, int(u), high)

These functions of real numbers have all truth values, and all integers of a range, as their values.  So f(i, x) is
g(i, x) for all i and x exactly if f(i(u), x) is g(i(u), x) for all real u and all x.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.integers import Integers, all_of
from uat_jax.interpret.inlining import inlined


@dataclass(frozen=True)
class AsReals:
    """Which inputs of programs are read as functions of real numbers: truth values, or all integers as well."""

    domains: Domains
    dtypes: tuple[Any, ...]
    integers: bool = False

    def is_read(self, i: int) -> bool:
        """Whether an input is."""
        of, dtype = self.domains[i], self.dtypes[i]
        if not isinstance(of, Integers):
            return False
        return self.integers or dtype == np.bool_ and of == all_of(dtype)

    @property
    def places(self) -> list[int]:
        """Which inputs are."""
        return [i for i in range(len(self.dtypes)) if self.is_read(i)]

    @property
    def real_domains(self) -> Domains:
        """What the inputs range over then."""
        return Domains(tuple(REALS if self.is_read(i) else self.domains[i] for i in range(len(self.dtypes))))

    def program(self, program: ClosedJaxpr) -> ClosedJaxpr:
        """A program of these inputs as one of real numbers."""
        if not self.places:
            return program
        inputs, first = [], []
        for i, v in enumerate(program.jaxpr.invars):
            if not self.is_read(i):
                inputs.append(v)
                continue
            u = jax.ShapeDtypeStruct(v.aval.shape, np.float32)
            with jax.enable_x64(True):  # the types are the equations' own
                value = inlined(jax.make_jaxpr(lambda u, i=i: self._value(i, u))(u)).jaxpr
            inputs.append(value.invars[0])
            made = lambda x, v=v, value=value: v if x is value.outvars[0] else x
            first += [e.replace(outvars=list(map(made, e.outvars))) for e in value.eqns]
        jaxpr = program.jaxpr.replace(invars=inputs, eqns=[*first, *program.eqns])
        return ClosedJaxpr(jaxpr, program.consts)

    def _value(self, i: int, u: jax.Array) -> jax.Array:
        """The integer or truth value of a real number."""
        of, dtype = self.domains[i], self.dtypes[i]
        assert isinstance(of, Integers)
        if dtype == np.bool_:
            return u > 0 if of == all_of(dtype) else u * 0 > (0 if of.high == 0 else -1)
        x = lax.convert_element_type(u, dtype)
        if (of.low, of.high) == (all_of(dtype).low, all_of(dtype).high):
            return x
        return lax.clamp(np.asarray(of.low, dtype), x, np.asarray(of.high, dtype))

    def located(self, found: Counterexample) -> Counterexample:
        """A counterexample to the equality of such programs as one of the given programs, of truth values."""
        inputs = list(found.inputs)
        for i in self.places:
            signs = np.asarray(np.asarray(inputs[i].values, float) > 0).astype(int).tolist()
            inputs[i] = Input(inputs[i].name, signs, "bool")
        return dataclasses.replace(found, inputs=tuple(inputs))
