"""Two functions at assignments of sizes, each traced once at each of them, however often the programs are asked for.

At the first sizes each is traced once more, to see that it is a function of its inputs (`repeatable`).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.kernels import holds_kernel
from uat_jax.decide.one_device import on_one_device
from uat_jax.decide.repeatable import first_change
from uat_jax.decide.specification import (
    Sizes,
    Specification,
    as_written,
    computes_in_64_bits,
    name_of,
    same_outputs,
)
from uat_jax.errors import InputError, UatJaxError, UnsupportedError
from uat_jax.interpret.canonical_form import same_program
from uat_jax.interpret.tracing import is_complex
from uat_jax.numbers.complex.real_parts import in_real_parts

Sides = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both programs."""


class Traces:
    """Sizes of the symbolic dimensions → both programs there.

    A function may be slow to trace, and may count its calls: what was found at some sizes is kept, an error as well.

    complex_numbers: whether a function computes with complex numbers, of which the programs have both parts.
    complex_outputs: whether it returns any.  kernels: whether a function runs a kernel of Pallas.
    wide: whether a function computes in 64 bits.
    """

    def __init__(self, left: Callable, right: Callable, specification: Specification):
        self.functions, self.specification = (left, right), specification
        self.complex_numbers = False
        self.complex_outputs = False
        self.kernels = False
        self.wide = False
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

    def check_repeated(self, others: Traces, sizes: Sizes) -> None:
        """Nothing, if two traces of the same functions are the same programs at some sizes, as far as is seen.

        Raises:
            InputError: a function is another program each time; says at which operation.
        """
        for function, once, again in zip(self.functions, self(sizes), others(sizes), strict=True):
            change = first_change(once, again)
            if change is not None:
                wanted = "make it a function of its inputs alone, and pass what is random or changes as an input"
                raise InputError(f"{name_of(function)} is another program each time it is traced: {change}; {wanted}")

    def _traced(self, sizes: Sizes) -> Sides:
        arguments = self.specification.at(sizes)
        (left, left_outputs), (right, right_outputs) = (as_written(f, arguments) for f in self.functions)
        same_outputs(left_outputs, right_outputs)
        self.kernels |= holds_kernel(left) or holds_kernel(right)
        self.wide |= computes_in_64_bits(left) or computes_in_64_bits(right)
        try:
            left, right = on_one_device(left, right)
        except UnsupportedError:
            if not same_program(left, right):  # which are one function whatever they communicate
                raise
        programs = in_real_parts(left), in_real_parts(right)
        self.complex_numbers |= programs[0] is not left or programs[1] is not right
        self.complex_outputs |= any(is_complex(leaf.dtype) for leaf in jax.tree.leaves(left_outputs))
        return programs
