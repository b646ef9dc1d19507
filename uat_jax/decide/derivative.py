"""The derivatives of two functions as functions: inputs and cotangents to the cotangents of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from uat_jax.decide.specification import Specification, is_variable, traced
from uat_jax.errors import InputError


def pulled_back(
    left: Callable, right: Callable, specification: Specification
) -> tuple[Callable, Callable, Specification]:
    """(left', right', specification') with f'(*arguments, cotangents) = (f(*arguments), cotangents of the inputs).

    The cotangents of the outputs are inputs like any other.

    Raises:
        InputError: a dimension is symbolic, so that the shapes of the outputs are not known beforehand.
    """
    if specification.symbols:
        raise InputError('wrt="grad" needs concrete dimensions; certify jax.grad of both functions instead')
    _, outputs = traced(left, specification.arguments)
    cotangents = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), outputs)
    arguments = Specification((*specification.arguments, cotangents))
    return _pulled_back(left), _pulled_back(right), arguments


def _pulled_back(function: Callable) -> Callable:
    def derivative(*arguments: Any) -> Any:
        *values, cotangents = arguments
        leaves, tree = jax.tree.flatten(tuple(values))
        variables = [leaf for leaf in leaves if is_variable(leaf)]

        def of_variables(*floats: Any) -> Any:
            remaining = iter(floats)
            return function(*jax.tree.unflatten(tree, [next(remaining) if is_variable(x) else x for x in leaves]))

        outputs, pull = jax.vjp(of_variables, *variables)
        return outputs, pull(cotangents)

    derivative.__name__ = f"derivative of {getattr(function, '__name__', 'function')}"
    return derivative
