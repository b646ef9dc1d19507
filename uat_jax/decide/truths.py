"""Functions of truth values as functions of real numbers: u > 0 for every truth value.

f(m, x) is g(m, x) for all truth values m and all x exactly if f(u > 0, x) is g(u > 0, x) for all real u and all x: the
signs of real numbers are all truth values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from uat_jax.arithmetic.inlining import inlined
from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.integers import Integers


@dataclass(frozen=True)
class Truths:
    """Two programs, and what their inputs range over."""

    left: ClosedJaxpr
    right: ClosedJaxpr
    domains: Domains

    @property
    def places(self) -> list[int]:
        """Which inputs are truth values, false or true."""
        avals = self.left.in_avals
        both = lambda of: isinstance(of, Integers) and (of.low, of.high) == (0, 1)
        return [i for i in range(len(avals)) if avals[i].dtype == np.bool_ and both(self.domains[i])]

    def programs(self) -> tuple[ClosedJaxpr, ClosedJaxpr]:
        """Both programs, of real numbers in the place of these inputs."""
        return self._program(self.left), self._program(self.right)

    def real_domains(self) -> Domains:
        """What the inputs of these programs range over."""
        places = self.places
        return Domains(tuple(REALS if i in places else self.domains[i] for i in range(len(self.left.in_avals))))

    def _program(self, program: ClosedJaxpr) -> ClosedJaxpr:
        places = self.places
        specs = [
            jax.ShapeDtypeStruct(aval.shape, np.float32 if i in places else aval.dtype)
            for i, aval in enumerate(program.in_avals)
        ]

        def of_reals(*inputs: Any) -> Sequence[Any]:
            return jaxpr_as_fun(program)(*(x > 0 if i in places else x for i, x in enumerate(inputs)))

        with jax.enable_x64(True):  # the types are the equations' own
            return inlined(jax.make_jaxpr(of_reals)(*specs))

    def located(self, found: Counterexample) -> Counterexample:
        """A counterexample to the equality of these programs as one of the given programs."""
        inputs = list(found.inputs)
        for i in self.places:
            signs = np.asarray(np.asarray(inputs[i].values, float) > 0).astype(int).tolist()
            inputs[i] = Input(inputs[i].name, signs, "bool")
        return dataclasses.replace(found, inputs=tuple(inputs))
