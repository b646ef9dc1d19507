"""A scan and a closed form of its carry after a few steps: an input at which they differ."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from uat_jax.decide.domain import Domains, domain_of, with_shape
from uat_jax.decide.effort import Effort
from uat_jax.decide.equivalence import certify
from uat_jax.decide.figures import Refuted
from uat_jax.decide.loops.scan_programs import STEPS, is_free
from uat_jax.decide.loops.strict import defined_somewhere
from uat_jax.decide.specification import is_variable, name_of, traced
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import UatJaxError

TRIED = (1, 2, 3, 5)
"""Numbers of steps at which a scan and a closed form are compared where the induction fails."""


def with_rows(xs: Any, steps: Any) -> Any:
    """The specs of xs with so many rows."""
    return jax.tree.map(lambda leaf: with_shape(leaf, (steps, *leaf.shape[1:])), xs)


class FewSteps(Protocol):
    """A scan and a closed form of its carry after a few steps."""

    def are_defined_somewhere(self, effort: Effort) -> bool:
        """Whether both have finite values at a random input, after each of a few steps."""
        ...

    def compared(self, steps: int, effort: Effort) -> Evidence:
        """What is found of both after so many steps.  Raises `UatJaxError`."""
        ...


@dataclass(frozen=True)
class Sides:
    """A step, a closed form, and the specs of both, as for `prove_scan`."""

    step: Callable
    closed_form: Callable
    initial: Any
    xs: Any
    parameters: tuple[Any, ...]

    def functions(self) -> tuple[Callable, Callable]:
        """The scan and the closed form, as functions of the free leaves of the initial carry, of xs and parameters."""

        def scanned(initial: Any, xs: Any, *parameters: Any) -> Any:
            return lax.scan(lambda carry, x: self.step(carry, x, *parameters), initial, xs)[0]

        return self._of_free_leaves(scanned), self._of_free_leaves(self.closed_form)

    def specs(self, steps: int) -> tuple[Any, ...]:
        """The specs of the arguments of both functions."""
        free = [leaf for leaf in jax.tree.leaves(self.initial) if is_free(leaf)]
        return free, with_rows(self.xs, steps), *self.parameters

    def are_defined_somewhere(self, effort: Effort) -> bool:
        """Whether the scan and the closed form have finite values at a random input, after each of a few steps."""
        for steps in TRIED:
            specs = self.specs(steps)
            domains = Domains(tuple(domain_of(leaf) for leaf in jax.tree.leaves(specs) if is_variable(leaf)))
            for function in self.functions():
                if not defined_somewhere(traced(function, specs)[0], effort.seed, domains):
                    return False
        return True

    def compared(self, steps: int, effort: Effort) -> Evidence:
        """What `certify` finds of both after so many steps."""
        left_over = effort.deadline.remaining
        budget = None if math.isinf(left_over) else max(left_over, 1e-3)
        left, right = self.functions()
        found = certify(left, right, *self.specs(steps), error=effort.error, seed=effort.seed, budget=budget)
        return found.evidence[0]

    def _of_free_leaves(self, function: Callable) -> Callable:
        leaves, tree = jax.tree.flatten(self.initial)

        def of(given: list[Any], xs: Any, *parameters: Any) -> Any:
            values = iter(given)
            filled = [next(values) if is_free(leaf) else jnp.asarray(leaf) for leaf in leaves]
            return function(jax.tree.unflatten(tree, filled), xs, *parameters)

        of.__name__ = name_of(function)
        return of


def after_few_steps(both: FewSteps, effort: Effort, reason: str) -> Evidence:
    """REFUTED with an input at which both differ after a few steps; else UNKNOWN with the reason."""
    equal = []
    for steps in TRIED:
        try:
            found = both.compared(steps, effort)
        except UatJaxError:
            break
        if found.example is not None:
            example = dataclasses.replace(found.example, sizes={STEPS: steps})
            finding = f"{reason}; where {STEPS} = {steps}: {found.finding}"
            return Evidence(Method.COUNTEREXAMPLE, finding, Verdict.REFUTED, Refuted(reason), example=example)
        if found.verdict in (Verdict.PROVED, Verdict.CERTIFIED):
            equal.append(str(steps))
    tried = f"; equal after {', '.join(equal)} steps" if equal else ""
    return Evidence(Method.INDUCTION, reason + tried, Verdict.UNKNOWN)
