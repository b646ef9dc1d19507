"""Float64 arithmetic: the jaxpr of any dtype evaluated in float64, for many copies at once, its casts left out.

A number of shape s is a NumPy array of shape (copies, *s), or (1, *s) where all copies are alike. So one walk over
the jaxpr evaluates the program at many perturbed inputs, or with many draws of rounding noise, and nothing is compiled.
A comparison gives a boolean per copy.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import JaxprEqn
from scipy import special

from uat_jax.arithmetic.contraction import dot_general
from uat_jax.arithmetic.interpreter import Arithmetic, Value, positions
from uat_jax.arithmetic.tracing import is_number, shape_of


def _entrywise(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda doubles, equation, *operands: function(*_aligned(operands))


def _aligned(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Scalars get the axes of the other operands behind their copies."""
    rank = max(x.ndim for x in operands)
    return [x.reshape(len(x), *(1,) * (rank - 1)) if x.ndim == 1 else x for x in operands]


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        return function(x, axis=tuple(axis + 1 for axis in equation.params["axes"]))

    return reduce


def _dot_general(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """dot_general with the copies as one more batch axis."""
    copies = max(len(x), len(y))
    (contract_x, contract_y), (batch_x, batch_y) = equation.params["dimension_numbers"]
    along = lambda axes: tuple(axis + 1 for axis in axes)
    numbers = (along(contract_x), along(contract_y)), ((0, *along(batch_x)), (0, *along(batch_y)))
    x, y = (np.broadcast_to(z, (copies, *z.shape[1:])) for z in (x, y))
    return dot_general(x, y, numbers, (copies, *shape_of(equation.outvars[0])))


def _convert(doubles: "Doubles", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    return x if is_number(equation.outvars[0]) else x.astype(equation.params["new_dtype"])


_RULES: dict[str, Callable[..., Any]] = {
    "abs": _entrywise(np.abs),
    "add": _entrywise(np.add),
    "add_any": _entrywise(np.add),
    "clamp": _entrywise(lambda low, x, high: np.clip(x, low, high)),
    "convert_element_type": _convert,
    "cos": _entrywise(np.cos),
    "div": _entrywise(np.divide),
    "dot_general": _dot_general,
    "eq": _entrywise(np.equal),
    "erf": _entrywise(special.erf),
    "erfc": _entrywise(special.erfc),
    "exp": _entrywise(np.exp),
    "exp2": _entrywise(np.exp2),
    "expm1": _entrywise(np.expm1),
    "ge": _entrywise(np.greater_equal),
    "gt": _entrywise(np.greater),
    "integer_pow": lambda doubles, equation, x: x ** float(equation.params["y"]),
    "le": _entrywise(np.less_equal),
    "log": _entrywise(np.log),
    "log1p": _entrywise(np.log1p),
    "logistic": _entrywise(special.expit),
    "lt": _entrywise(np.less),
    "max": _entrywise(np.maximum),
    "min": _entrywise(np.minimum),
    "mul": _entrywise(np.multiply),
    "ne": _entrywise(np.not_equal),
    "neg": _entrywise(np.negative),
    "pow": lambda doubles, equation, x, y: np.power(
        *_aligned([x, np.asarray(y, np.float64).reshape(-1, *y.shape[1:])])
    ),
    "reduce_max": _reduced(np.max),
    "reduce_min": _reduced(np.min),
    "reduce_precision": lambda doubles, equation, x: x,
    "reduce_sum": _reduced(np.sum),
    "rsqrt": _entrywise(lambda x: 1 / np.sqrt(x)),
    "sign": _entrywise(np.sign),
    "sin": _entrywise(np.sin),
    "sqrt": _entrywise(np.sqrt),
    "square": _entrywise(np.square),
    "sub": _entrywise(np.subtract),
    "tanh": _entrywise(np.tanh),
}


class Doubles(Arithmetic):
    """Numbers are float64 NumPy arrays whose leading axis counts copies."""

    name = "float64 arithmetic"
    rules = _RULES

    def number(self, array: Any) -> np.ndarray:
        """A float array of any dtype as float64, exactly, alike in all copies."""
        return np.asarray(array).astype(np.float64)[None]

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation, without NumPy's warnings: infinity and NaN are values like any other."""
        with np.errstate(all="ignore"):
            return super().evaluate(equation, operands)

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Entries taken from where `positions` says they come from, in every copy."""
        if equation.primitive.name == "select_n" and _per_copy(operands[0], equation.invars[0]):
            return [np.where(operands[0], operands[2], operands[1])]
        numbers = [x for x, atom in zip(operands, equation.invars, strict=True) if is_number(atom)]
        copies = max(len(x) for x in numbers)
        flat = [np.broadcast_to(x, (copies, *x.shape[1:])).reshape(copies, -1) for x in numbers]
        entries = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
        return [entries[:, source] for source in positions(equation, operands)]

    def plain(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """A boolean per copy turned into a number keeps its copies."""
        per_copy = [_per_copy(x, atom) for x, atom in zip(operands, equation.invars, strict=True)]
        if any(per_copy) and equation.primitive.name == "convert_element_type" and is_number(equation.outvars[0]):
            return [np.asarray(operands[0], np.float64)]
        return super().plain(equation, operands)

    def stack(self, values: Sequence[Value]) -> np.ndarray:
        """Values along a new axis behind the copies."""
        copies = max(len(x) for x in values)
        return np.stack([np.broadcast_to(x, (copies, *x.shape[1:])) for x in values], axis=1)

    def entry(self, value: Value, index: int) -> Value:
        """value[index] in every copy."""
        return value[:, index] if getattr(value, "dtype", None) == np.float64 else value[index]


def _per_copy(value: Any, atom: Any) -> bool:
    return np.ndim(value) == len(shape_of(atom)) + 1
