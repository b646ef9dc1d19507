"""A step and a closed form of its carry as programs: what a claim about a scan of every length is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.domain import REALS, Interval, domain_of
from uat_jax.decide.loops.walk import Value
from uat_jax.decide.specification import hypothesis, parse, states_variable
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.interpret.jaxpr_values import encode_array
from uat_jax.typing import PyTree

STEPS = "t"
"""The name of the number of steps."""


def is_free(leaf: PyTree) -> bool:
    """Whether a leaf of the initial carry stands for any real numbers, not for the values of an array."""
    return not isinstance(leaf, np.ndarray | np.generic | jax.Array)


def hypotheses(inputs: Sequence[str], initial: Sequence[Any]) -> list[Assumption]:
    """What a claim takes as given: values of the initial carry and of whole numbers, and domains of other inputs.

    inputs: the types of the initial carry, of the rows and of the parameters, as a certificate states them.
    """
    found = [Assumption(AssumptionKind.INITIAL_CARRY, {"position": i}) for i, x in enumerate(initial) if not is_free(x)]
    for place, text in enumerate(inputs):
        name = f"input {place}"
        if not states_variable(text):
            found.append(Assumption(AssumptionKind.FIXED_INPUT, {"position": place, "name": name}))
        elif (domain := domain_of(parse(text)[0])) != REALS:
            found.append(hypothesis(place, name, domain))
    return found


@dataclass(frozen=True)
class ScanPrograms:
    """A step and a closed form, and what their inputs are.

    step: (carry, row, parameters) → carry.  closed_form: (initial carry, t rows, parameters) → carry, for a symbolic t.
    initial: for each array of the carry its first values, or a spec for any real numbers.  row: the specs of the arrays
    of one row.  parameters: those of the variables that stay the same in all steps.
    """

    step: ClosedJaxpr
    closed_form: ClosedJaxpr
    initial: Sequence[Any]
    row: Sequence[Any]
    parameters: Sequence[Any]

    @cached_property
    def leaves(self) -> list[Any]:
        """The specs of the variables: of the initial carry, of a row, and of the parameters."""
        return [*filter(is_free, self.initial), *self.row, *self.parameters]

    @cached_property
    def types(self) -> list[jax.ShapeDtypeStruct]:
        """The types of the variables."""
        return [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in self.leaves]

    @cached_property
    def domains(self) -> tuple[Interval, ...]:
        """What the variables range over."""
        return tuple(domain_of(leaf) for leaf in self.leaves)

    def arguments(self, values: Sequence[Value]) -> tuple[list[Value], list[Value], list[Value]]:
        """The initial carry, a row, and the parameters, of the values of the variables."""
        given = iter(values)
        initial = [next(given) if is_free(leaf) else np.asarray(leaf) for leaf in self.initial]
        return initial, [next(given) for _ in self.row], list(given)

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps: both programs, their digests and the initial carry, or why they cannot be kept."""
        try:
            programs = {"step": encode(self.step), "closed_form": encode(self.closed_form)}
            fixed = lambda leaf: encode_array(leaf, ShapedArray(leaf.shape, np.dtype(leaf.dtype)))
            initial = [None if is_free(leaf) else fixed(leaf) for leaf in self.initial]
        except UnsupportedError as error:
            return {"missing": str(error)}
        digests = {f"{name}_digest": digest(program) for name, program in programs.items()}
        return {"initial": initial, **programs, **digests}
