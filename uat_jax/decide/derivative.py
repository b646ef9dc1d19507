"""The derivatives of two functions as functions: inputs and cotangents to the cotangents of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from uat_jax.decide.specification import Specification, as_written, is_variable, is_whole, name_of, same_outputs
from uat_jax.errors import InputError
from uat_jax.typing import PyTree


def pulled_back(
    left: Callable, right: Callable, specification: Specification
) -> tuple[Callable, Callable, Specification]:
    """(left', right', specification') with f'(*arguments, cotangents) = (f(*arguments), cotangents of the inputs).

    The cotangents of the outputs are inputs like any other.

    Each function is traced once.

    Raises:
        OutputsError: the functions return different trees, shapes or dtypes.
        InputError: a dimension is symbolic, so that the shapes of the outputs are not known beforehand.
    """
    if specification.symbols:
        raise InputError('wrt="grad" needs concrete dimensions; certify jax.grad of both functions instead')
    (first, outputs), (second, others) = (
        as_written(f, specification.arguments, to_differentiate=True) for f in (left, right)
    )
    same_outputs(outputs, others)
    if any(map(is_whole, jax.tree.leaves(outputs))):
        raise InputError('wrt="grad" needs real outputs; certify jax.grad of both functions, or leave integers out')
    cotangents = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), outputs)
    arguments = Specification((*specification.arguments, cotangents))
    tree = jax.tree.structure(outputs)
    return _pulled_back(name_of(left), first, tree), _pulled_back(name_of(right), second, tree), arguments


def _pulled_back(name: str, program: ClosedJaxpr, tree: PyTree) -> Callable:
    """The derivative of a function that was traced already, so that it is not called again."""

    def derivative(*arguments: Any) -> Any:
        *values, cotangents = arguments
        variables = [leaf for leaf in jax.tree.leaves(tuple(values)) if is_variable(leaf)]
        outputs, pull = jax.vjp(jaxpr_as_fun(program), *variables)
        return jax.tree.unflatten(tree, outputs), pull(jax.tree.leaves(cotangents))

    derivative.__name__ = f"derivative of {name}"
    return derivative
