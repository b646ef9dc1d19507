"""One expression after the other in JAX: `TABLE` maps every head of the language to what it means there.

Each subexpression is computed once.  A head that is not in the table raises `UnsupportedError` with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.lowering.arrays import Array
from uat_jax.lowering.hoisting import Lines
from uat_jax.symbolic import language as m


class Meaning(Protocol):
    """What the opaque heads stand for."""

    @property
    def activation(self) -> Callable[[Array], Array]:
        """σ, elementwise."""
        ...

    @property
    def precision(self) -> str:
        """The precision of every matrix product."""
        ...

    @property
    def functions(self) -> Mapping[str, Callable[[Array], Array]]:
        """The dynamic parameters A(x), by the name of A."""
        ...


@dataclass
class Evaluation:
    """Values by expression, in one dtype, and what it takes to compute more of them."""

    meaning: Meaning
    values: dict[Any, Array]
    dimensions: Mapping[Any, int]

    def __post_init__(self) -> None:
        if self.values:
            _ = self.dtype  # raises here, not where arrays of different dtypes first meet

    def run(self, lines: Lines) -> None:
        """Compute the lines in order."""
        for letter, expression in lines.items():
            self.values[letter] = self(expression)

    def __call__(self, e: m.Expression) -> Array:
        """The value of an expression.  Raises `UnsupportedError` if the table has no row for its head."""
        if e not in self.values:
            if type(e) not in TABLE:
                raise UnsupportedError(f"the lowering table has no row for the head {type(e).__name__} in {e}")
            self.values[e] = TABLE[type(e)](self, e)
        return self.values[e]

    @cached_property
    def dtype(self) -> np.dtype | None:
        """The one dtype of all values.  Raises `InputError` if they have several, or one of whole numbers."""
        dtypes = {v.dtype for v in self.values.values()}
        if len(dtypes) != 1:
            raise InputError(f"arrays of different dtypes: {', '.join(sorted(map(str, dtypes)))}; wanted a single one")
        (dtype,) = dtypes
        if not jnp.issubdtype(dtype, jnp.inexact):
            raise InputError(f"arrays of dtype {dtype}; wanted floats")
        return dtype

    def size(self, size: Any) -> int:
        """A symbolic dimension as a number.

        Raises `InputError` if one of its symbols is not known, `ShapeError` if it is no whole number.
        """
        number = sympy.sympify(sympy.sympify(size).xreplace(self.dimensions))
        if number.free_symbols:
            raise InputError(f"the dimension {size} is not known; give it in `dimensions`")
        if not number.is_Integer:
            raise ShapeError(f"the dimension {size} is {number}; wanted a whole number")
        return int(number)

    def scalar(self, c: sympy.Expr) -> Array:
        """A SymPy scalar in the working dtype; dimensions are put in, roots and quotients are computed there."""
        match c:
            case sympy.Integer():
                return jnp.asarray(int(c), self.dtype)
            case sympy.Rational():
                return jnp.asarray(int(c.p), self.dtype) / jnp.asarray(int(c.q), self.dtype)
            case sympy.Symbol() | sympy.Indexed():
                return jnp.asarray(self.size(c), self.dtype)
            case sympy.Mul():
                return _fold(jnp.multiply, map(self.scalar, c.args))
            case sympy.Add():
                return _fold(jnp.add, map(self.scalar, c.args))
            case sympy.Pow(args=(base, sympy.Integer() as n)):
                power = _fold(jnp.multiply, [self.scalar(base)] * abs(int(n)))
                return power if n > 0 else 1 / power
            case sympy.Pow(args=(base, sympy.Rational(q=2) as n)):
                root = jnp.sqrt(self.scalar(base ** abs(n.p)))
                return root if n > 0 else 1 / root
        raise UnsupportedError(f"the lowering table has no row for the scalar {c} ({type(c).__name__})")

    def multiply(self, left: Array, right: Array) -> Array:
        """One matrix product at the stated precision."""
        return jnp.matmul(left, right, precision=self.meaning.precision)


def _fold(operation: Callable[[Array, Array], Array], values: Iterable[Array]) -> Array:
    first, *rest = values
    for value in rest:
        first = operation(first, value)
    return first


def _product(run: Evaluation, e: m.Product) -> Array:
    left, *rest = e.operands  # read from the right: every tail of a product is itself shared
    return run.multiply(run(left), run(m.Product(*rest)))


def _selection(run: Evaluation, e: m.Selection) -> Array:
    rows, columns = map(run.size, e.shape)
    index = run.size(e.args[0])
    if not 0 < index * columns <= rows:
        raise ShapeError(f"slice {index} of {columns} columns lies outside of {rows}; wanted one inside")
    return jnp.eye(rows, columns, k=-columns * (index - 1), dtype=run.dtype)


def _range_sum(run: Evaluation, e: m.RangeSum) -> Array:
    lower, upper = map(run.size, e.bounds)
    terms = [run(e.at(k)) for k in range(lower, upper + 1)]
    return _fold(jnp.add, terms) if terms else run(m.Zero(*e.shape))


def _dependent(run: Evaluation, e: m.Dependent) -> Array:
    name, shape = str(e.letter), tuple(map(run.size, e.shape))
    if name not in run.meaning.functions:
        raise InputError(f"no function for {name} in {e}; give it in `functions`")
    value = run.meaning.functions[name](run(e.arg))
    if value.shape != shape:
        raise ShapeError(f"the function {name} returned the shape {value.shape}; wanted {shape}")
    return value


TABLE: dict[type, Callable[[Evaluation, Any], Array]] = {
    m.Identity: lambda run, e: jnp.eye(run.size(e.shape[0]), dtype=run.dtype),
    m.Zero: lambda run, e: jnp.zeros(tuple(map(run.size, e.shape)), run.dtype),
    m.Ones: lambda run, e: jnp.ones(tuple(map(run.size, e.shape)), run.dtype),
    m.Selection: _selection,
    m.Addition: lambda run, e: _fold(jnp.add, map(run, e.operands)),
    m.Scaled: lambda run, e: run.scalar(e.coefficient) * run(e.arg),
    m.Product: _product,
    m.Transposed: lambda run, e: run(e.arg).T,
    m.Kronecker: lambda run, e: jnp.kron(*map(run, e.operands)),
    m.Vectorised: lambda run, e: run(e.arg).reshape(-1, 1),
    m.Matricised: lambda run, e: run(e.arg).reshape(tuple(map(run.size, e.shape))),
    m.Activation: lambda run, e: run.meaning.activation(run(e.arg)),
    m.RowSoftmax: lambda run, e: jax.nn.softmax(run(e.arg), axis=-1),
    m.Hadamard: lambda run, e: run(e.operands[0]) * run(e.operands[1]),
    m.Diagonal: lambda run, e: jnp.diag(run(e.arg)[:, 0]),
    m.Dependent: _dependent,
    m.RangeSum: _range_sum,
}
"""Head of the language → what it means in JAX.  `Letter` needs no row: its value is given or computed by a line."""
