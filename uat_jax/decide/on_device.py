"""Two programs run on a device, in their own dtypes: jitted or operation by operation, at the precision they state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

from uat_jax.decide.allowance import Allowance
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.devices import default_device
from uat_jax.errors import MemoryLimitError, UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import inner_programs
from uat_jax.numbers.prime_fields.footprint import of_doubles
from uat_jax.typing import Atom


class OnDevice:
    """Two programs of the same inputs and outputs, compiled when they are first run, on JAX's default device of now.

    `domains`: what their inputs range over.  `memory`: the bytes that may be held.  `allowance`: the time that is left.
    """

    def __init__(
        self,
        left: ClosedJaxpr,
        right: ClosedJaxpr,
        domains: Domains = EVERYWHERE,
        memory: float = math.inf,
        allowance: Allowance | None = None,
    ):
        self.programs, self.domains, self.memory = (left, right), domains, memory
        self.allowance = allowance or Allowance()
        self.device = default_device()
        self.inputs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in left.in_avals]
        self.outputs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in left.out_avals]

    @cached_property
    def _jitted(self) -> list[Any]:
        return [jax.jit(f) for f in self._functions]

    @cached_property
    def _functions(self) -> list[Any]:
        return [jaxpr_as_fun(program) for program in self.programs]

    @cached_property
    def too_large(self) -> str:
        """Why the programs are not run at two inputs at once: for want of memory, or of time; or ''."""
        if self.allowance.over:
            return "the time is up"
        try:
            Deadline(memory=self.memory).hold(of_doubles(self.programs, 2, self.memory), "a run in floats")
        except MemoryLimitError as error:
            return str(error)
        return ""

    @cached_property
    def ends(self) -> bool:
        """Whether no loop waits for a float to change: such a loop may run for ever, and nothing stops a device."""
        return not any(map(_waits, self.programs))

    def run(self, leaves: Sequence[np.ndarray], *, jitted: bool = True) -> list[np.ndarray]:
        """What both programs give for these inputs, all outputs end to end as float64.

        Not `jitted`, every operation is compiled alone, and XLA cannot rewrite √(x²) to |x|.

        Raises:
            UnsupportedError: JAX cannot run one of them here, or one of them may never end.
        """
        if not self.ends:
            raise UnsupportedError("a loop that waits for a float might never end on the device, and is not run")
        wide = any(x.dtype == np.float64 for x in self.inputs)
        values = [np.asarray(leaf, x.dtype) for leaf, x in zip(leaves, self.inputs, strict=True)]
        try:
            with jax.enable_x64(wide), jax.default_device(self.device):
                found = [f(*values) for f in (self._jitted if jitted else self._functions)]
                return [np.concatenate([np.asarray(y, np.float64).ravel() for y in outputs]) for outputs in found]
        except Exception as error:  # whatever the device says, such as that its memory is full
            raise UnsupportedError(f"the device cannot run the programs: {type(error).__name__}") from error


def _waits(program: Any) -> bool:
    """Whether a while loop in a program ends by anything but integers."""
    equations = getattr(program, "jaxpr", program).eqns
    return any(
        e.primitive.name == "while" and not _counts(e.params["cond_jaxpr"].jaxpr) or any(map(_waits, inner_programs(e)))
        for e in equations
    )


def _counts(condition: Any) -> bool:
    """Whether the condition of a loop computes with integers alone."""
    read = [atom for equation in condition.eqns for atom in equation.invars]
    made = {variable for equation in condition.eqns for variable in equation.outvars}
    return bool(condition.eqns) and all(jnp.issubdtype(x.aval.dtype, jnp.integer) for x in read if not _among(x, made))


def _among(atom: Atom, made: set[Any]) -> bool:
    return not isinstance(atom, Literal) and atom in made
