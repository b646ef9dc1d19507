"""Two functions at assignments of sizes, each traced once at each of them, however often the programs are asked for."""

from __future__ import annotations

from collections.abc import Callable

from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.canonical_form import same_program
from uat_jax.decide.one_device import on_one_device
from uat_jax.decide.specification import Sizes, Specification, same_outputs, traced
from uat_jax.errors import UatJaxError, UnsupportedError

Sides = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both programs."""


class Traces:
    """Sizes of the symbolic dimensions → both programs there.

    A function may be slow to trace, and may count its calls: what was found at some sizes is kept, an error as well.
    """

    def __init__(self, left: Callable, right: Callable, specification: Specification):
        self.functions, self.specification = (left, right), specification
        self._known: dict[tuple[tuple[str, int], ...], Sides | UatJaxError] = {}

    def __call__(self, sizes: Sizes) -> Sides:
        """Both programs with the symbolic dimensions evaluated.

        Raises:
            OutputsError: they return different trees, shapes or dtypes.
            InputError, UnsupportedError: the sizes do not fit, a function cannot be traced (`specification.traced`), or
                devices communicate in a way that is not followed (`one_device`).
        """
        key = tuple(sorted(sizes.items()))
        if key not in self._known:
            try:
                self._known[key] = self._traced(sizes)
            except UatJaxError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, UatJaxError):
            raise found
        return found

    def _traced(self, sizes: Sizes) -> Sides:
        arguments = self.specification.at(sizes)
        (left, left_outputs), (right, right_outputs) = (traced(f, arguments) for f in self.functions)
        same_outputs(left_outputs, right_outputs)
        try:
            return on_one_device(left, right)
        except UnsupportedError:
            if same_program(left, right):  # whatever it communicates
                return left, right
            raise
