"""SymPy program → two jitted JAX functions: what does not depend on the input is merged once, the rest evaluated.

merge(weights)          → every matrix, product and sum that is independent of the argument, by name
evaluate(hatted, x_0)   → the program's result for one argument (vmap it for a batch)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.lowering.arrays import Array, Arrays, dimensions, given, matrices
from uat_jax.lowering.evaluation import Evaluation
from uat_jax.lowering.hoisting import Lines, inputs, split
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program


@dataclass(frozen=True)
class Lowered:
    """A program as JAX functions of arrays named like its letters, ``str(letter)``.

    ``argument`` is the letter that stays a variable (x_0); ``activation`` the elementwise σ;
    ``precision`` the matmul precision; ``dimensions`` those that no weight shows (such as the number of tokens);
    ``functions`` what the dynamic parameters A(x) stand for, by the name of A: each takes the matrix x.
    Columns may be given as vectors; a column result is returned as a vector.
    """

    program: Program
    argument: m.Letter
    activation: Callable[[Array], Array]
    precision: str = "highest"
    dimensions: Mapping[Any, int] = field(default_factory=dict)
    functions: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)

    @cached_property
    def merge(self) -> Callable[[Arrays], dict[str, Array]]:
        """weights → hatted parameters: all that `evaluate` needs and that is independent of the argument."""
        return jax.jit(self._merge)

    @cached_property
    def evaluate(self) -> Callable[[Arrays, Array], Array]:
        """(hatted parameters, x_0) → the program's result."""
        return jax.jit(self._evaluate)

    def __call__(self, weights: Arrays, argument: Array) -> Array:
        """evaluate(merge(weights), argument)."""
        return self.evaluate(self.merge(weights), argument)

    def traced(self, weights: Arrays, argument: Array) -> Array:
        """What a call returns, without a jit of its own: equations for whoever traces it anyway."""
        return self._evaluate(self._merge(weights), argument)

    def _merge(self, weights: Arrays) -> dict[str, Array]:
        static, _ = self._split
        run = self._evaluation(given([l for l in self.program.inputs if l != self.argument], weights))
        run.run(static)
        return {str(l): run.values[l] for l in self._needed}

    def _evaluate(self, hatted: Arrays, argument: Array) -> Array:
        _, dynamic = self._split
        run = self._evaluation(given(self._needed, hatted) | {self.argument: jnp.asarray(argument)})
        run.run(dynamic)
        result = run.values[self.program.result]
        return result[:, 0] if self.program.result.shape[1] == 1 else result

    def _evaluation(self, arrays: dict[m.Letter, Array]) -> Evaluation:
        values = matrices(arrays)
        shapes = {letter: array.shape for letter, array in values.items()}
        return Evaluation(self, values, dimensions(shapes, self.dimensions))

    @cached_property
    def _split(self) -> tuple[Lines, Lines]:
        return split(self.program, self.argument)

    @cached_property
    def _needed(self) -> tuple[m.Letter, ...]:
        """What the lines that depend on the argument use besides it, and the result if it is no such line."""
        _, dynamic = self._split
        used = dict.fromkeys((*inputs(dynamic), self.program.result))
        return tuple(l for l in used if l not in dynamic and l != self.argument)
