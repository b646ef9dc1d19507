"""Float64 arithmetic: the jaxpr of any dtype evaluated in float64, for many copies at once, its casts left out.

A number of shape s is a NumPy array of shape (copies, *s), or (1, *s) where all copies are alike. So one walk over
the jaxpr evaluates the program at many perturbed inputs, or with many draws of rounding noise, and nothing is compiled.
A comparison gives a boolean per copy.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn
from jax.lax import RoundingMethod
from jax.typing import ArrayLike

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.contraction import dot_general
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import Arithmetic
from uat_jax.interpret.operation import operation_of
from uat_jax.interpret.structure import STRUCTURAL, moves, positions
from uat_jax.interpret.tracing import is_number, shape_of, source_line
from uat_jax.numbers.floats import pivoting
from uat_jax.typing import Atom, Function


def _entrywise(function: Callable[..., Any]) -> Function:
    return lambda doubles, equation, *operands: function(*_aligned(in_copies(equation, operands)))


def _special(name: str) -> Callable[..., np.ndarray]:
    """A function of SciPy, which is imported when a program has it."""
    return lambda *operands: getattr(importlib.import_module("scipy.special"), name)(*operands)


def in_copies(equation: JaxprEqn, operands: Sequence[Any]) -> list[np.ndarray]:
    """Plain arrays get an axis of one copy."""
    if operation_of(equation).of_numbers:
        return list(operands)
    return [
        x if is_number(atom) or _per_copy(x, atom) else np.asarray(x)[None]
        for x, atom in zip(operands, equation.invars, strict=True)
    ]


def _aligned(operands: list[np.ndarray]) -> list[np.ndarray]:
    """Scalars get the axes of the other operands behind their copies."""
    ranks = {x.ndim for x in operands}
    if len(ranks) == 1:
        return operands
    rank = max(ranks)
    return [x.reshape(len(x), *(1,) * (rank - 1)) if x.ndim == 1 else x for x in operands]


def _reduced(function: Callable[..., Any], initial: float) -> Function:
    def reduce(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        return function(x, axis=tuple(axis + 1 for axis in equation.params["axes"]), initial=initial)

    return reduce


def _dot_general(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, y = (np.asarray(operand, np.float64) for operand in in_copies(equation, (x, y)))  # one may be a mask
    return product(equation, x, y, (doubles.deadline or Deadline()).check)


def product(equation: JaxprEqn, x: np.ndarray, y: np.ndarray, check: Callable[[], None] = lambda: None) -> np.ndarray:
    """The dot_general of two arrays with copies, (copies, *shape): the copies are one more batch axis.

    Where only one side has copies, they are rows of one product.  ``check`` is called before each part of a large one.
    """
    copies, shape = max(len(x), len(y)), shape_of(equation.outvars[0])
    (contract_x, contract_y), (batch_x, batch_y) = equation.params["dimension_numbers"]
    along = lambda axes: tuple(axis + 1 for axis in axes)
    if len(x) == len(y):
        numbers = (along(contract_x), along(contract_y)), ((0, *along(batch_x)), (0, *along(batch_y)))
        return dot_general(x, y, numbers, (copies, *shape), check)
    if len(y) == 1:  # the axis of copies is the first free one of x
        place = len(batch_x)
        x, y, numbers = x, y[0], ((along(contract_x), contract_y), (along(batch_x), batch_y))
    else:
        place = x.ndim - 1 - len(contract_x)
        x, y, numbers = x[0], y, ((contract_x, along(contract_y)), (batch_x, along(batch_y)))
    return np.moveaxis(dot_general(x, y, numbers, (*shape[:place], copies, *shape[place:]), check), place, 0)


def _convert(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    """Between floating dtypes the identity; integers saturate, and NaN is 0, as on a device."""
    new = equation.params["new_dtype"]
    if is_number(equation.outvars[0]):
        return np.asarray(x, np.float64)
    if jnp.issubdtype(new, jnp.complexfloating):
        raise UnsupportedError(f"complex numbers{source_line(equation)} are not followed; compute with real parts")
    if new == np.bool_ or not is_number(equation.invars[0]):
        return x.astype(new)
    bounds, whole = jnp.iinfo(new), np.nan_to_num(np.trunc(x))
    above = whole >= bounds.max
    return np.where(above, bounds.max, np.maximum(np.where(above, 0, whole), bounds.min).astype(new))


def _round(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    """Halves to the even integer, or away from zero: adding 1/2 to the float below 1/2 would round up to 1."""
    if equation.params["rounding_method"] == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0.0)


def _largest(function: Callable[..., Any]) -> Function:
    def place(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        return function(x, axis=equation.params["axes"][0] + 1).astype(equation.params["index_dtype"])

    return place


def _select(which: np.ndarray, first: np.ndarray, *others: np.ndarray) -> np.ndarray:
    return np.where(which, others[0], first) if len(others) == 1 else np.choose(which, [first, *others])


def _sort(doubles: "Doubles", equation: JaxprEqn, *operands: np.ndarray) -> list[np.ndarray]:
    """Every operand in the order of the first `num_keys` of them along the dimension; stable."""
    axis, count = equation.params["dimension"] + 1, equation.params["num_keys"]
    operands = tuple(np.broadcast_arrays(*in_copies(equation, operands)))
    order = np.lexsort(operands[:count][::-1], axis=axis)
    return [np.take_along_axis(x, order, axis) for x in operands]


def _top_k(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """The k largest in descending order and their places: NaN before all numbers, 0 before -0, ties by place."""
    axis = equation.params.get("axis", x.ndim - 2) + 1
    order = np.lexsort((np.signbit(x), -x, ~np.isnan(x)), axis=axis)
    places = np.take(order, np.arange(equation.params["k"]), axis)
    return [np.take_along_axis(x, places, axis), places.astype(np.int32)]


def _lu(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """Both factors in one array, the exchanges, and the order of rows."""
    return pivoting.factors(x, lambda column: int(np.argmax(np.abs(column))))


def _eigh(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """Eigenvectors and ascending eigenvalues by LAPACK; NaN of what is not finite."""
    values, vectors = np.linalg.eigh(_finite_or_zero(x), "L" if equation.params["lower"] else "U")
    return [_nan_where_not_finite(x, vectors, 2), _nan_where_not_finite(x, values, 1)]


def _svd(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """Singular values, and U and Vᵀ if they are asked for, by LAPACK; NaN of what is not finite."""
    if not equation.params["compute_uv"]:
        return [_nan_where_not_finite(x, np.linalg.svd(_finite_or_zero(x), compute_uv=False), 1)]
    u, values, v = np.linalg.svd(_finite_or_zero(x), equation.params["full_matrices"])
    return [_nan_where_not_finite(x, part, rank) for part, rank in ((values, 1), (u, 2), (v, 2))]


def _finite_or_zero(x: np.ndarray) -> np.ndarray:
    return np.where(_all_finite(x, 2), x, 0.0)


def _nan_where_not_finite(x: np.ndarray, result: np.ndarray, rank: int) -> np.ndarray:
    return np.where(_all_finite(x, rank), result, np.nan)


def _all_finite(x: np.ndarray, rank: int) -> np.ndarray:
    """Whether each matrix is finite, with as many axes of length 1 behind."""
    return np.isfinite(x).all((-1, -2)).reshape(*x.shape[:-2], *(1,) * rank)


_RULES: dict[str, Callable[..., Any]] = {
    "abs": _entrywise(np.abs),
    "acos": _entrywise(np.arccos),
    "acosh": _entrywise(np.arccosh),
    "add": _entrywise(np.add),
    "add_any": _entrywise(np.add),
    "and": _entrywise(np.bitwise_and),
    "argmax": _largest(np.argmax),
    "argmin": _largest(np.argmin),
    "asin": _entrywise(np.arcsin),
    "asinh": _entrywise(np.arcsinh),
    "atan": _entrywise(np.arctan),
    "atan2": _entrywise(np.arctan2),
    "atanh": _entrywise(np.arctanh),
    "cbrt": _entrywise(np.cbrt),
    "ceil": _entrywise(np.ceil),
    "clamp": _entrywise(lambda low, x, high: np.clip(x, low, high)),
    "convert_element_type": _convert,
    "cos": _entrywise(np.cos),
    "cosh": _entrywise(np.cosh),
    "div": _entrywise(np.divide),
    "dot_general": _dot_general,
    "bessel_i0e": _entrywise(_special("i0e")),
    "bessel_i1e": _entrywise(_special("i1e")),
    "digamma": _entrywise(_special("psi")),
    "eigh": _eigh,
    "eq": _entrywise(np.equal),
    "erf": _entrywise(_special("erf")),
    "erf_inv": _entrywise(_special("erfinv")),
    "erfc": _entrywise(_special("erfc")),
    "exp": _entrywise(np.exp),
    "exp2": _entrywise(np.exp2),
    "expm1": _entrywise(np.expm1),
    "floor": _entrywise(np.floor),
    "ge": _entrywise(np.greater_equal),
    "gt": _entrywise(np.greater),
    "integer_pow": lambda doubles, equation, x: x ** float(equation.params["y"]),
    "igamma": _entrywise(_special("gammainc")),
    "igammac": _entrywise(_special("gammaincc")),
    "is_finite": _entrywise(np.isfinite),
    "le": _entrywise(np.less_equal),
    "lgamma": _entrywise(_special("gammaln")),
    "log": _entrywise(np.log),
    "log1p": _entrywise(np.log1p),
    "logistic": _entrywise(_special("expit")),
    "lt": _entrywise(np.less),
    "lu": _lu,
    "max": _entrywise(np.maximum),
    "min": _entrywise(np.minimum),
    "mul": _entrywise(np.multiply),
    "ne": _entrywise(np.not_equal),
    "neg": _entrywise(np.negative),
    "not": _entrywise(np.bitwise_not),
    "or": _entrywise(np.bitwise_or),
    "polygamma": _entrywise(_special("polygamma")),
    "pow": _entrywise(np.power),
    "reduce_max": _reduced(np.max, -np.inf),
    "reduce_min": _reduced(np.min, np.inf),
    "reduce_precision": lambda doubles, equation, x: x,
    "reduce_sum": _reduced(np.sum, 0.0),
    "regularized_incomplete_beta": _entrywise(_special("betainc")),
    "rem": _entrywise(np.fmod),
    "round": _round,
    "rsqrt": _entrywise(lambda x: 1 / np.sqrt(x)),
    "select_n": _entrywise(_select),
    "sign": _entrywise(np.sign),
    "sin": _entrywise(np.sin),
    "sinh": _entrywise(np.sinh),
    "sort": _sort,
    "sqrt": _entrywise(np.sqrt),
    "square": _entrywise(np.square),
    "sub": _entrywise(np.subtract),
    "svd": _svd,
    "tan": _entrywise(np.tan),
    "tanh": _entrywise(np.tanh),
    "zeta": _entrywise(_special("zeta")),
    "top_k": _top_k,
    "xor": _entrywise(np.bitwise_xor),
}


_TOGETHER = frozenset("and convert_element_type eq ge gt le lt ne not or select_n xor".split())
"""Primitives whose rules take integers and booleans per copy."""


class Doubles(Arithmetic[np.ndarray]):
    """Numbers are float64 NumPy arrays whose leading axis counts copies.

    So are integers and booleans that differ from copy to copy; those that do not are plain arrays.
    """

    name = "float64 arithmetic"
    rules = _RULES

    def number(self, array: ArrayLike) -> np.ndarray:
        """A float array of any dtype as float64, exactly, alike in all copies."""
        return np.asarray(array).astype(np.float64)[None]

    def involves(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> bool:
        """Also integers and booleans that differ from copy to copy."""
        return operation_of(equation).takes_numbers or any(map(_per_copy, operands, equation.invars))

    def supports(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> bool:
        """JAX can evaluate what has no floating operands, for one copy after the other."""
        return super().supports(equation, operands) or not any(map(is_number, equation.invars))

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of one equation, without NumPy's warnings: infinity and NaN are values like any other."""
        if operation_of(equation).of_numbers:
            with np.errstate(all="ignore"):
                return super().evaluate(equation, operands)
        if any(is_keys(variable.aval) for variable in equation.outvars) and any(
            map(_per_copy, operands, equation.invars)
        ):
            name = f"'{equation.primitive.name}'{source_line(equation)}"
            raise UnsupportedError(f"{name} makes a random key from an input; use a fixed key")
        if _needs_turns(equation, operands):
            return self._in_turns(equation, operands)
        with np.errstate(all="ignore"):
            results = super().evaluate(equation, operands)
        return [
            x[0] if _per_copy(x, variable) and len(x) == 1 else x
            for x, variable in zip(results, equation.outvars, strict=True)
        ]

    def _in_turns(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """One copy after the other, each with its own indices."""
        copies = max(len(x) for x in in_copies(equation, operands))
        rows = [self.evaluate(equation, [_copy(x, a, i) for x, a in zip(operands, equation.invars, strict=True)])
                for i in range(copies)]  # fmt: skip
        columns = zip(equation.outvars, zip(*rows, strict=True), strict=True)
        return [np.concatenate(column) if is_number(variable) else np.stack(column) for variable, column in columns]

    def rearrange(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Entries taken from where `positions` says they come from, in every copy."""
        entries = [x for x, moved in zip(in_copies(equation, operands), moves(equation), strict=True) if moved]
        copies = max(len(x) for x in entries)
        full = (x if len(x) == copies else np.broadcast_to(x, (copies, *x.shape[1:])) for x in entries)
        flat = [x.reshape(copies, -1) for x in full]
        together = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
        return [together[:, source] for source in positions(equation, operands)]

    def stack(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Values along a new axis behind the copies."""
        copies = max(len(x) for x in values)
        return np.stack([np.broadcast_to(x, (copies, *x.shape[1:])) for x in values], axis=1)

    def entry(self, value: np.ndarray, index: int) -> np.ndarray:
        """value[index] in every copy."""
        return value[:, index]


def _per_copy(value: Any, atom: Atom) -> bool:
    """Whether a value that is not floating-point differs from copy to copy."""
    return not is_number(atom) and np.ndim(value) == len(shape_of(atom)) + 1


def _copy(value: np.ndarray, atom: Atom, index: int) -> np.ndarray:
    """A number's, or an integer's, value in one copy, as a value of a walk over that copy alone."""
    if is_number(atom):
        return value[index : index + 1] if len(value) > 1 else value
    return value[min(index, len(value) - 1)] if _per_copy(value, atom) else value


def _needs_turns(equation: JaxprEqn, operands: Sequence[np.ndarray]) -> bool:
    """Whether indices differ from copy to copy, or JAX must compute with such integers."""
    if equation.primitive.name in _TOGETHER:
        return False
    per_copy = [_per_copy(x, atom) for x, atom in zip(operands, equation.invars, strict=True)]
    if equation.primitive.name in STRUCTURAL:
        return any(x and not moved for x, moved in zip(per_copy, moves(equation), strict=True))
    return any(per_copy) and equation.primitive.name != "sort"
