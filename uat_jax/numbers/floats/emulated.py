"""A program as its own dtypes compute it, in NumPy: float64 arithmetic, every result rounded to the dtype it has.

Nothing is compiled, and hundreds of inputs are evaluated in one walk.  A device may round a few last places otherwise;
what matters here is where values overflow, vanish, cancel or are not defined, which it does alike.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UatJaxError, UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import dtype_of, is_number
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.typing import Array

EDGES: Mapping[str, Callable[..., tuple[np.ndarray, Any]]] = {
    "acos": lambda parameters, x: (1 - x * x, np.abs(x) > 1),
    "acosh": lambda parameters, x: (x - 1, x < 1),
    "asin": lambda parameters, x: (1 - x * x, np.abs(x) > 1),
    "atanh": lambda parameters, x: (1 - x * x, np.abs(x) >= 1),
    "div": lambda parameters, x, y: (y, y == 0),
    "erf_inv": lambda parameters, x: (1 - x * x, np.abs(x) >= 1),
    "integer_pow": lambda parameters, x: (x, (x == 0) & (parameters["y"] < 0)),
    "log": lambda parameters, x: (x, x <= 0),
    "log1p": lambda parameters, x: (1 + x, x <= -1),
    "pow": lambda parameters, x, y: (x, (x < 0) | (x == 0) & (y < 0)),
    "rem": lambda parameters, x, y: (y, y == 0),
    "rsqrt": lambda parameters, x: (x, x <= 0),
    "sqrt": lambda parameters, x: (x, x < 0),
}
"""For each primitive that is not defined everywhere: a function of its operands whose zeros bound its domain, and where
it is not defined."""


class Emulated(Doubles):
    """Float64 numbers rounded to the dtypes of the variables, or left as they are (`rounded` is False).

    edges: for every equation of `EDGES` that was met, its function in every copy, (copies, entries).
    left_domain: in which copies an equation was not defined.
    """

    name = "float64 arithmetic"

    def __init__(self, copies: int, *, rounded: bool = True, deadline: Deadline | None = None):
        self.copies, self.rounded, self.deadline = copies, rounded, deadline
        self.edges: list[np.ndarray] = []
        self.left_domain = np.zeros(copies, bool)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of one equation, rounded; the edges of its domain are noted."""
        if equation.primitive.name in EDGES and is_number(equation.outvars[0]):
            self._note(equation, operands)
        results = super().evaluate(equation, operands)
        if not self.rounded:
            return results
        pairs = zip(results, equation.outvars, strict=True)
        return [as_held(x, dtype_of(variable)) if is_number(variable) else x for x, variable in pairs]

    def _note(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> None:
        with np.errstate(all="ignore"):
            edge, outside = EDGES[equation.primitive.name](equation.params, *operands)
        if len(edge) not in (1, self.copies):  # one copy of many whose indices differ
            return
        rows = edge.reshape(len(edge), -1)
        self.left_domain |= outside.reshape(len(outside), -1).any(axis=1)
        if len(rows) > 1:
            self.edges.append(rows)


def followed(program: ClosedJaxpr, arithmetic: Doubles, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a program in float64 arithmetic, or one of our own errors.

    Raises:
        UnsupportedError: the arithmetic cannot follow the program.
        BudgetError: its deadline is over.
    """
    try:
        return interpret(program, arithmetic, values)
    except (UatJaxError, MemoryError):
        raise
    except Exception as error:  # what JAX or NumPy say of dtypes without a theory, such as complex numbers
        raise UnsupportedError(f"{arithmetic.name} cannot follow the program: {type(error).__name__}") from error


def as_held(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Float64 numbers as a dtype holds them on a device: rounded, and zero below the smallest normal number.

    Only float16 keeps its subnormal numbers (`local_error.underflow`).
    """
    with np.errstate(all="ignore"):
        held = values if dtype == np.float64 else values.astype(dtype).astype(np.float64)
    if dtype == np.float16:
        return held
    return np.where(np.abs(held) < float(jnp.finfo(dtype).smallest_normal), np.copysign(0.0, held), held)


def arguments(points: np.ndarray, inputs: Sequence[Array | jax.ShapeDtypeStruct]) -> list[np.ndarray]:
    """(copies, entries) → one array (copies, *shape) for each input, of the entries end to end."""
    pieces = np.split(points, np.cumsum([x.size for x in inputs])[:-1], axis=1)
    return [piece.reshape(len(points), *x.shape) for piece, x in zip(pieces, inputs, strict=True)]
