"""Inputs that range over a set of which unrestricted numbers are the parameters, such as all symmetric matrices.

A set is the image of a function p: two functions f and g are equal on it exactly if f ∘ p and g ∘ p are equal for all
parameters.  So p is put in front of both, and nothing else needs to know of the set.  A set of several sheets, such as
the orthogonal matrices with determinant 1 and those with -1, is the image of several functions: f and g are evaluated
on all of them.  docs/soundness.md §10.8 proves that these functions reach all of their set and nothing else.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from uat_jax.decide.assumption import FAMILY_TEXTS, Assumption, AssumptionKind
from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import Interval, Restricted, is_concrete
from uat_jax.decide.in_floats import input_names
from uat_jax.decide.members import off
from uat_jax.decide.specification import Specification, is_key, is_variable, traced
from uat_jax.errors import DomainError, InputError
from uat_jax.typing import PyTree

Shape = tuple[Any, ...]
Parameters = Mapping[str, Any]


class Family(NamedTuple):
    """A set of arrays.

    parameters: from a shape to the shape of each parameter and what its entries range over, if not over all real
    numbers.  sheets: the functions from a shape and parameters to arrays.  fits: whether there are arrays of a shape
    in the set, if not of every shape with an axis.
    """

    parameters: Callable[[Shape], Mapping[str, tuple[Shape, Interval | None]]]
    sheets: tuple[Callable[[Shape, Parameters], jax.Array], ...]
    fits: Callable[[Shape], bool] = lambda shape: len(shape) >= 1
    wanted: str = "at least one axis"


def _on_simplex(shape: Shape, parameters: Parameters) -> jax.Array:
    """w_i = u_i Π_{j<i} (1 − u_j), the last one what is left: a stick of length 1 that is broken again and again."""
    u = parameters["shares"]
    left = jnp.cumprod(1 - u[..., :-1], axis=-1)
    before = jnp.concatenate([jnp.ones_like(u[..., :1]), left], axis=-1)
    return before * jnp.concatenate([u[..., :-1], jnp.ones_like(u[..., :1])], axis=-1)


def _symmetric(shape: Shape, parameters: Parameters) -> jax.Array:
    """The entries above the diagonal and on it, and their reflection below."""
    entries = parameters["entries"]
    row, column = (lax.broadcasted_iota(jnp.int32, entries.shape, entries.ndim - k) for k in (2, 1))
    return jnp.where(row <= column, entries, jnp.swapaxes(entries, -1, -2))


def _ascending(shape: Shape, parameters: Parameters) -> jax.Array:
    """The entries in ascending order."""
    return jnp.sort(parameters["entries"], axis=-1)


def _orthogonal(first: int) -> Callable[[Shape, Parameters], jax.Array]:
    """The sheet of H(v_1) ⋯ H(v_(k−1)) diag(first, 1, …, 1), H(v) = 1 − 2vvᵀ/vᵀv a reflection: its columns or rows."""

    def sheet(shape: Shape, parameters: Parameters) -> jax.Array:
        mirrors, size = parameters["mirrors"], max(shape[-2:])
        diagonal = jnp.asarray([first] + [1] * (size - 1), mirrors.dtype)
        found = jnp.broadcast_to(jnp.diag(diagonal), (*shape[:-2], size, size))
        for i in range(size - 1):
            v = mirrors[..., i, :]
            along = jnp.matmul(v[..., None, :], found, precision="highest")
            found = found - 2 * v[..., :, None] * along / jnp.sum(v * v, axis=-1)[..., None, None]
        return found[..., : shape[-2], : shape[-1]]

    return sheet


def _key(shape: Shape, parameters: Parameters) -> jax.Array:
    """The keys made of the whole parts of numbers, of which those that 32 bits do not hold are cut to the nearest."""
    return jax.random.wrap_key_data(lax.convert_element_type(parameters["words"], jnp.uint32), impl=GENERATOR)


def _mirrors(shape: Shape) -> Mapping[str, tuple[Shape, Interval | None]]:
    size = max(shape[-2:])
    return {"mirrors": ((*shape[:-2], max(1, size - 1), size), None)}


def _is_square(shape: Shape) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]


def _is_matrix(shape: Shape) -> bool:
    return len(shape) >= 2 and not any(jax.export.is_symbolic_dim(d) for d in shape)


GENERATOR = "threefry2x32"
"""JAX's own generator of random numbers, whose keys are two words."""

UNIT = Interval(0.0, 1.0)

FAMILIES: Mapping[str, Family] = {
    "simplex": Family(
        lambda shape: {"shares": (shape, UNIT)},
        (_on_simplex,),
    ),
    "symmetric": Family(
        lambda shape: {"entries": (shape, None)},
        (_symmetric,),
        _is_square,
        "square matrices in the last two axes",
    ),
    "sorted": Family(
        lambda shape: {"entries": (shape, None)},
        (_ascending,),
    ),
    "key": Family(
        lambda shape: {"words": ((*shape, 2), None)},
        (_key,),
    ),
    "orthogonal": Family(
        _mirrors,
        (_orthogonal(1), _orthogonal(-1)),
        _is_matrix,
        "two axes of known length",
    ),
}
"""From the name of a set to its parameters; `assumption.FAMILY_TEXTS` says in words what it is."""


@dataclass(frozen=True)
class Parametrized:
    """The spec of an input that ranges over one of `FAMILIES`: a leaf where a `jax.ShapeDtypeStruct` may stand."""

    shape: Shape
    dtype: DTypeLike
    family: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The specs of the parameters."""
        made = {}
        for name, (shape, domain) in FAMILIES[self.family].parameters(self.shape).items():
            dtype = jnp.float32 if is_key(self.dtype) else self.dtype
            plain = jax.ShapeDtypeStruct(shape, dtype)
            made[name] = plain if domain is None else Restricted(shape, dtype, domain)
        return made

    def points(self, parameters: Parameters) -> list[jax.Array]:
        """The array of some parameters on every sheet."""
        return [sheet(self.shape, parameters) for sheet in FAMILIES[self.family].sheets]


def simplex(spec: PyTree) -> Parametrized:
    """The input of a function with entries of at least 0 that sum to 1 along the last axis, such as probabilities.

    `spec` is a `jax.ShapeDtypeStruct`, or an array of floats in the set, of which only shape and dtype count.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Raises:
        DomainError: the input is not one of floats; no array of this shape lies in the set; an array is given that
            does not, by more than its rounding.

    Example:
        >>> import jax, jax.numpy as jnp, uat_jax as uj
        >>> w = uj.simplex(jax.ShapeDtypeStruct((4,), jnp.float32))
        >>> bool(uj.certify(lambda w, x: jnp.sum(w * (x - 1)), lambda w, x: jnp.sum(w * x) - 1, w, w).passes)
        True
    """
    return _of_family(spec, "simplex")


def symmetric(spec: PyTree) -> Parametrized:
    """The input of a function that is a symmetric matrix in its last two axes; see `simplex`.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Example:
        >>> a = uj.symmetric(jax.ShapeDtypeStruct((3, 3), jnp.float32))
        >>> bool(uj.certify(lambda a: a.T, lambda a: 1 * a, a))
        True
    """
    return _of_family(spec, "symmetric")


def ascending(spec: PyTree) -> Parametrized:
    """The input of a function whose entries do not decrease along the last axis; see `simplex`.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Example:
        >>> x = uj.sorted(jax.ShapeDtypeStruct((4,), jnp.float32))
        >>> bool(uj.certify(lambda x: x.max(), lambda x: x[-1], x))
        True
    """
    return _of_family(spec, "sorted")


def orthogonal(spec: PyTree) -> Parametrized:
    """The input of a function that is a matrix with orthonormal columns, or rows if these are fewer; see `simplex`.

    A square one has either determinant, 1 and -1.

    Returns:
        The spec, for `certify` and whatever else takes specs.

    Example:
        >>> q = uj.orthogonal(jax.ShapeDtypeStruct((3, 3), jnp.float32))
        >>> bool(uj.certify(lambda q: q.T @ q, lambda q: jnp.eye(3) + 0 * q, q))
        True
    """
    return _of_family(spec, "orthogonal")


def _of_family(spec: PyTree, name: str) -> Parametrized:
    if not (hasattr(spec, "shape") and hasattr(spec, "dtype")):
        got = type(spec).__name__
        raise DomainError(f"got a {got} for an input with a domain; pass a jax.ShapeDtypeStruct, one for each leaf")
    if isinstance(spec, Parametrized | Restricted):
        raise DomainError(f"got {name} of an input that has a domain already; give it one domain")
    if not jnp.issubdtype(spec.dtype, jnp.floating):
        raise DomainError(f"got {name} for an input of {spec.dtype}; only floats have a domain")
    family = FAMILIES[name]
    if not family.fits(tuple(spec.shape)):
        raise DomainError(f"got {name} for an input of shape {tuple(spec.shape)}; wanted {family.wanted}")
    if is_concrete(spec):
        _check_member(spec, name)
    return Parametrized(tuple(spec.shape), spec.dtype, name)


def _check_member(array: Any, name: str) -> None:
    """Only its shape and dtype count, but an array outside of the set is a mistake."""
    found = off(np.asarray(array, np.float64), name, array.dtype)
    if found:
        raise DomainError(
            f"the array given for an input that is {FAMILY_TEXTS[name]} {found}; "
            "give an array inside, or a jax.ShapeDtypeStruct, since only its shape and dtype count"
        )


class OnParameters:
    """A function of parameters: they give the arrays at which the function itself is evaluated.

    Args:
        function: the function of the arrays.
        specs: its arguments, pytrees with `Parametrized` leaves.
    """

    def __init__(self, function: Callable, specs: tuple[PyTree, ...]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.leaves, self.tree = jax.tree.flatten(specs)

    def __call__(self, *arguments: Any) -> Any:
        """The function at the arrays of the parameters; a list of its results, if these are on several sheets."""
        results = [self.function(*arrays) for arrays in self.arrays(arguments)]
        return results if len(results) > 1 else results[0]

    def arrays(self, arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The arguments of the function itself, for every choice of sheets."""
        given = zip(self.leaves, self.tree.flatten_up_to(arguments), strict=True)
        sheets = [s.points(x) if isinstance(s, Parametrized) else [x] for s, x in given]
        return [jax.tree.unflatten(self.tree, leaves) for leaves in itertools.product(*sheets)]

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The specs of the arguments with the parameters in the place of the arrays."""
        return jax.tree.unflatten(self.tree, [s.parameters if isinstance(s, Parametrized) else s for s in self.leaves])

    def hypotheses(self) -> list[Assumption]:
        """What the inputs are."""
        arguments = jax.tree.unflatten(self.tree, self.leaves)
        names = input_names(self.function, Specification(arguments))
        variables = [(i, s) for i, s in enumerate(self.leaves) if is_variable(s)]
        named = [(i, name, s) for (i, s), name in zip(variables, names, strict=True) if isinstance(s, Parametrized)]
        about = [{"position": i, "name": name, "family": s.family} for i, name, s in named]
        return [Assumption(AssumptionKind.FAMILY, of) for of in about]


def on_parameters(
    left: Callable, right: Callable, specs: tuple[PyTree, ...]
) -> tuple[Callable, Callable, tuple[Any, ...]]:
    """Two functions and their inputs; parameters stand for the inputs that range over one of `FAMILIES`.

    Raises:
        InputError: a random key without a value is of another generator than JAX's own.
    """
    specs = jax.tree.map(_any_key, specs)
    if not any(isinstance(leaf, Parametrized) for leaf in jax.tree.leaves(specs)):
        return left, right, specs
    first, second = OnParameters(left, specs), OnParameters(right, specs)
    return first, second, first.parameters


def _any_key(leaf: PyTree) -> Any:
    """A random key without a value as one that ranges over all keys; any other leaf as it is."""
    if not is_key(getattr(leaf, "dtype", None)) or not is_variable(leaf):
        return leaf
    own = jax.eval_shape(lambda: jax.random.key(0, impl=GENERATOR)).dtype
    if leaf.dtype != own:
        raise InputError(f"got an input {leaf.dtype} without a value; wanted {own}, or pass a key, whose bits count")
    return Parametrized(tuple(leaf.shape), leaf.dtype, "key")


def located(example: Counterexample, function: OnParameters, arguments: tuple[Any, ...]) -> Counterexample:
    """A counterexample at parameters, as one at the arrays that they give in float64, rounded to the inputs' dtypes.

    `arguments` are the specs of the parameters.
    """
    leaves, tree = jax.tree.flatten(arguments)
    floats = iter(example.arrays)
    wide = lambda array: array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array
    filled = [wide(next(floats)) if is_variable(s) else s for s in leaves]
    with jax.enable_x64(True):
        sheets = function.arrays(jax.tree.unflatten(tree, filled))
    shapes = [(s, np.shape(x)) for s, x in zip(function.leaves, jax.tree.leaves(sheets[0]), strict=True)]
    specs = [jax.ShapeDtypeStruct(shape, s.dtype) if is_variable(s) else s for s, shape in shapes]
    program, _ = traced(function.function, jax.tree.unflatten(function.tree, specs))
    sheet, output = divmod(example.output, len(program.out_avals))
    pairs = zip(function.leaves, jax.tree.leaves(sheets[sheet]), strict=True)
    inputs = [_input(s, x) for s, x in pairs if is_variable(s)]
    return replace(example, inputs=tuple(inputs), output=output)


def _input(leaf: PyTree, array: Any) -> Input:
    """An input of a counterexample; of a random key its words."""
    if is_key(leaf.dtype):
        return Input("", np.asarray(jax.random.key_data(array)).tolist(), "uint32")
    return Input("", np.asarray(array).tolist(), str(np.dtype(leaf.dtype)))
