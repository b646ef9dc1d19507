"""A program that was read: a JAX function that knows its inputs and what it was read from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

from uat_jax.typing import PyTree


class Program:
    """A JAX function that was read from a file, an artifact or a module of another framework.

    It is called, traced and differentiated like any JAX function.  `certify(f, program)` needs no specs if the source
    says what the inputs are.

    Attributes:
        specs: the inputs, a tuple of pytrees of `jax.ShapeDtypeStruct`; dimensions may be symbolic.  Empty where the
            source leaves sizes open without naming them.
        readings: what the source writes out or names, and the function that it is read as, such as
            {"what JAX writes out for erfc": "erfc"}.  Each of them is an assumption of a certificate.
        weights: the values of the parameters by name, if the source holds them.
        source: the Python expression that reads it again, for scripts; "" if there is none.
    """

    def __init__(
        self,
        function: Callable,
        specs: tuple[PyTree, ...],
        *,
        name: str,
        source: str = "",
        readings: Mapping[str, str] | None = None,
        weights: Mapping[str, PyTree] | None = None,
        parameters: Sequence[str] = (),
    ):
        self.function, self.specs, self.source = function, specs, source
        self.readings, self.weights = dict(readings or {}), dict(weights or {})
        self.__module__, self.__name__, self.__qualname__ = name, "main", "main"
        if parameters:
            kind = inspect.Parameter.POSITIONAL_ONLY
            self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in parameters])

    def __call__(self, *arguments: PyTree) -> PyTree:
        """The outputs, in the tree that the source names, or a tuple of them where there are several."""
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"<program {self.__module__}>"
