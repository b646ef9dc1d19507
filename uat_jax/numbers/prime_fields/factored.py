"""What does not depend on how `lu` exchanges rows, read off the order p that it makes, P A = L U, for every p at once.

    b[p]  →  L⁻¹ P b  →  U⁻¹ L⁻¹ P b = A⁻¹ b         U⁻ᵀ b  →  L⁻ᵀ U⁻ᵀ b = P A⁻ᵀ b  →  A⁻ᵀ b by the inverse of p

A value on the way is known as a `Symbol`; what is no symbol is followed for each way to exchange rows (`exchanges.py`).
docs/soundness.md §8.4 has the proofs.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind, is_array
from uat_jax.interpret.linear_algebra import LARGEST, eliminated, triangular_solve
from uat_jax.interpret.structure import STRUCTURAL, moves, positions
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.number import Number

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields, Value

MOST_ORDERS = 24
"""So many orders of rows are tried."""

OF_INTEGERS = frozenset("add clamp convert_element_type eq ge gt le lt max min mul ne rem sub".split())
"""Operations entry by entry that places are made with."""


@dataclass(eq=False)
class Factorised:
    """Square matrices A, of shape (..., n, n), that `lu` factorises.

    steps: places of expressions on the way to determinants, with their values; None as long as nobody asked for them.
    orders: makes the order of rows for each way to exchange them, by the number of the way.
    """

    matrices: Number
    dtype: np.dtype
    steps: dict[int, Any] | None = None
    orders: Callable[[], Mapping[tuple[int, ...], np.ndarray]] | None = None

    @property
    def rows(self) -> int:
        """n."""
        return self.matrices.shape[-1]

    @property
    def order_of(self) -> np.ndarray:
        """The number of the row of all matrices, laid end to end, that each entry is in: shape (..., n, 1)."""
        *batch, n, _ = self.matrices.shape
        return np.arange(math.prod(batch) * n).reshape(*batch, n, 1)


@dataclass(frozen=True, eq=False)
class Packed:
    """Entries `source` of L below the diagonal and U, in one array; -1 is the constant that stands there instead."""

    of: Factorised
    source: np.ndarray
    constant: np.ndarray


@dataclass(frozen=True, eq=False)
class Steps:
    """The exchanges themselves, whose only use here is to make the order."""

    of: Factorised


@dataclass(frozen=True, eq=False)
class ByOrder:
    """Whole numbers and booleans, each a function of one number v of the order, or of none.

    values: for each v.  letter: which number of the order of rows it is, all matrices laid end to end, or -1.  inverse:
    whether it is one of the inverse order.
    """

    of: Factorised
    letter: np.ndarray
    values: np.ndarray
    inverse: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """Entries of a number, flattened, each at a place that is a function of one number of the order."""

    of: Factorised
    letter: np.ndarray
    values: np.ndarray
    number: Number


@dataclass(frozen=True, eq=False)
class Half:
    """Entries `source` of L⁻¹ P B, or if `transposed` of U⁻ᵀ B."""

    of: Factorised
    number: Number
    source: np.ndarray
    transposed: bool


Symbol = Packed | Steps | ByOrder | Rows | Half


def symbols(x: Number, dtype: np.dtype) -> tuple[Packed, Steps, ByOrder] | None:
    """What `lu` returns of square matrices of real numbers: the factors, the exchanges, and the order of rows.

    None where a matrix may be undefined for inputs of positive measure, or is what it is under a condition only.
    """
    if len(x.shape) < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] > LARGEST or dtype.kind != "f":
        return None
    if x.special is not None or x.infinite is not None or x.facts is None or x.facts.hollow or x.facts.guarded:
        return None
    if x.facts.defined is Defined.PARTLY:
        return None
    of = Factorised(x, dtype)
    source = np.arange(math.prod(x.shape)).reshape(x.shape)
    return Packed(of, source, np.zeros(x.shape)), Steps(of), _order(of)


def _order(of: Factorised) -> ByOrder:
    """p."""
    letter = of.order_of[..., 0]
    numbers = np.arange(of.rows, dtype=np.int32).reshape(-1, *(1,) * letter.ndim)
    return ByOrder(of, letter, np.broadcast_to(numbers, (of.rows, *letter.shape)))


def as_order(of: Factorised, cases: Mapping[tuple[int, ...], Any]) -> ByOrder | None:
    """The order of rows, if whole numbers are that for each way to exchange them."""
    if of.orders is None or not all(is_array(x) and x.dtype.kind in "iu" for x in cases.values()):
        return None
    orders = of.orders()
    same_keys = cases.keys() == orders.keys()
    return _order(of) if same_keys and all(np.array_equal(x, orders[key]) for key, x in cases.items()) else None


def followed(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Symbol | Number | np.ndarray] | None:
    """The results of an equation some of whose operands are symbols, or None where it is not known what they are."""
    name = equation.primitive.name
    if name == "triangular_solve":
        found = _solved(fields, equation, *operands)
    elif name == "gather" and isinstance(operands[1], ByOrder):
        found = _taken(fields, equation, *operands)
    elif name == "lu_pivots_to_permutation" and isinstance(operands[0], Steps):
        found = _order(operands[0].of) if shape_of(equation.outvars[0])[-1] == operands[0].of.rows else None
    elif name == "dot_general" and isinstance(operands[0], ByOrder):
        found = _permuted(equation, *operands)
    elif name == "sort":
        return _inverted(equation, operands)
    elif name in OF_INTEGERS and all(isinstance(x, ByOrder) or is_array(x) for x in operands):
        found = _entrywise(equation, operands)
    elif name == "add" and isinstance(operands[0], Packed):
        found = _with_ones(fields, *operands)
    elif name in STRUCTURAL or name == "copy":
        return _moved(fields, equation, operands)
    else:
        found = None
    return None if found is None else [found]


# --- entries in new places --------------------------------------------------------------------------------------------


def _moved(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Any] | None:
    """The results of an equation that moves entries of one kind of symbol, and of constants."""
    if equation.primitive.name == "copy":
        return list(operands)
    given = moves(equation)
    if not all(given_ or is_array(x) for x, given_ in zip(operands, given, strict=True)):
        return None
    supplied = [x for x, given_ in zip(operands, given, strict=True) if given_]
    kinds = {type(x) for x in supplied if isinstance(x, Symbol)}
    if len(kinds) != 1 or len({id(x.of) for x in supplied if isinstance(x, Symbol)}) != 1:
        return None
    try:
        sources = positions(equation, operands, given)
    except UnsupportedError:
        return None
    (kind,) = kinds
    made = {Packed: _packed_moved, ByOrder: _places_moved, Rows: _rows_moved, Half: _half_moved}.get(kind)
    if made is None:
        return None
    found = [made(fields, supplied, source) for source in sources]
    return None if any(x is None for x in found) else found


def _laid_end_to_end(arrays: Sequence[np.ndarray], source: np.ndarray) -> np.ndarray:
    """Entries of arrays whose last axes are flattened together; axes before them, of `values`, stay."""
    return np.concatenate(arrays, axis=-1)[..., source]


def _packed_moved(fields: Fields, supplied: Sequence[Any], source: np.ndarray) -> Packed | None:
    known = [_as_packed(fields, x) for x in supplied]
    if any(x is None for x in known):
        return None
    of = next(x.of for x in supplied if isinstance(x, Packed))
    sources, constants = zip(*(x for x in known if x is not None), strict=True)
    return Packed(of, _laid_end_to_end(sources, source), _laid_end_to_end(constants, source))


def _as_packed(fields: Fields, x: Value) -> tuple[np.ndarray, np.ndarray] | None:
    if isinstance(x, Packed):
        return x.source.ravel(), x.constant.ravel()
    constant = _whole_constant(fields, x)
    return None if constant is None else (np.full(constant.size, -1), constant.ravel())


def _whole_constant(fields: Fields, x: Value) -> np.ndarray | None:
    """A constant array of whole numbers, or None."""
    known = x.known if isinstance(x, Number) else np.asarray(x) if is_array(x) else None
    if known is None or isinstance(x, Number) and x.special is not None:
        return None
    known = np.broadcast_to(known, np.shape(x) if is_array(x) else x.shape)
    return known if np.isin(known, (0, 1)).all() else None


def _places_moved(fields: Fields, supplied: Sequence[Any], source: np.ndarray) -> ByOrder | None:
    first = next(x for x in supplied if isinstance(x, ByOrder))
    if not all(is_array(x) or x.inverse == first.inverse for x in supplied):
        return None
    n = first.of.rows
    letters = [np.full(np.size(x), -1) if is_array(x) else x.letter.ravel() for x in supplied]
    values = [
        np.broadcast_to(np.ravel(x), (n, np.size(x))) if is_array(x) else x.values.reshape(n, -1) for x in supplied
    ]
    return ByOrder(first.of, _laid_end_to_end(letters, source), _laid_end_to_end(values, source), first.inverse)


def _rows_moved(fields: Fields, supplied: Sequence[Any], source: np.ndarray) -> Rows | None:
    if len(supplied) > 1:
        return None
    (x,) = supplied
    return Rows(x.of, x.letter.ravel()[source], x.values.reshape(x.of.rows, -1)[:, source], x.number)


def _half_moved(fields: Fields, supplied: Sequence[Any], source: np.ndarray) -> Half | None:
    if len(supplied) > 1:
        return None
    (x,) = supplied
    return Half(x.of, x.number, x.source.ravel()[source], x.transposed)


# --- places -----------------------------------------------------------------------------------------------------------


def _entrywise(equation: JaxprEqn, operands: Sequence[Any]) -> ByOrder | np.ndarray | None:
    """An operation on integers, for every value that a number of the order can have."""
    known = [x for x in operands if isinstance(x, ByOrder)]
    first, shape = known[0], shape_of(equation.outvars[0])
    if any(x.of is not first.of or x.inverse != first.inverse for x in known):
        return None
    letters = [np.broadcast_to(x.letter, shape) for x in known]
    letter = np.maximum.reduce(letters)
    if any(((x >= 0) & (x != letter)).any() for x in letters):
        return None
    each = [
        np.asarray(bind(equation, [x.values[v] if isinstance(x, ByOrder) else x for x in operands])[0])
        for v in range(first.of.rows)
    ]
    if all(np.array_equal(each[0], other) for other in each):
        return each[0]
    return ByOrder(first.of, letter, np.stack(each), first.inverse)


def _inverted(equation: JaxprEqn, operands: Sequence[Any]) -> list[Any] | None:
    """The order of the order, argsort p, which is its inverse: 0, 1, 2, … sorted along with p."""
    if len(operands) != 2 or equation.params["num_keys"] != 1:
        return None
    order, along = operands
    axis = equation.params["dimension"]
    if not isinstance(order, ByOrder) or order.inverse or not is_array(along):
        return None
    last = lambda x: np.moveaxis(x, axis, -1)
    n, letter, along = order.of.rows, last(order.letter), last(np.asarray(along))
    if letter.shape[-1] != n:
        return None
    counted = np.broadcast_to(np.arange(n), letter.shape)
    whole = (letter % n == counted).all() and (letter >= 0).all()
    if not whole or (letter // n != letter[..., :1] // n).any() or (along != counted).any():
        return None
    if any((order.values[v] != v).any() for v in range(n)):
        return None
    back = np.moveaxis(np.asarray(along), -1, axis)
    return [back.astype(dtype_of(equation.outvars[0])), replace(order, inverse=True)]


def _taken(fields: Fields, equation: JaxprEqn, x: Value, index: ByOrder) -> Rows | Number | None:
    """Entries at places that are functions of the order: b[p], or (P x)[p⁻¹] = x."""
    letter = index.letter.max(axis=-1)
    if ((index.letter >= 0) & (index.letter != letter[..., None])).any():
        return None
    shape, windows = shape_of(equation.outvars[0]), tuple(equation.params["dimension_numbers"].offset_dims)
    letter = np.broadcast_to(np.expand_dims(letter, windows), shape)
    try:
        each = [positions(equation, [None, index.values[v]], (True, False))[0] for v in range(index.of.rows)]
    except UnsupportedError:
        return None
    values = np.stack(each)
    if isinstance(x, Number) and not index.inverse:
        return Rows(index.of, letter, values, x)
    if isinstance(x, Rows) and x.of is index.of and index.inverse:
        return _in_order(fields, x, letter, values)
    return None


def _permuted(equation: JaxprEqn, matrix: ByOrder, x: Value) -> Rows | None:
    """A product with a matrix of which each row has one 1, at a place that is a function of the order: Pᵀ b is b[p]."""
    ((on_left, on_right), (left_batch, _)) = equation.params["dimension_numbers"]
    if not isinstance(x, Number) or matrix.inverse or left_batch or tuple(on_right) != (0,) or matrix.letter.ndim != 2:
        return None
    if x.special is not None or x.infinite is not None or len(on_left) != 1:
        return None
    letter, values = (np.moveaxis(a, on_left[0] - 2, -1) for a in (matrix.letter, matrix.values))
    places = values.argmax(axis=-1)
    if (letter != letter[:, :1]).any() or (values != (np.arange(values.shape[-1]) == places[..., None])).any():
        return None
    shape = shape_of(equation.outvars[0])
    first = np.expand_dims(letter[:, 0], tuple(range(1, len(shape))))
    return Rows(matrix.of, np.broadcast_to(first, shape), _counted(x.shape)[places], x)


def _in_order(fields: Fields, x: Rows, letter: np.ndarray, values: np.ndarray) -> Number | None:
    """Entries of rows at places that are functions of the inverse order: where p⁻¹ is v at i, p is i at v."""
    n = x.of.rows
    if (letter < 0).any():
        return None
    v = np.arange(n).reshape(-1, *(1,) * letter.ndim)
    if (x.letter.ravel()[values] != letter // n * n + v).any():
        return None
    source = x.values.reshape(n, -1)[letter % n, values]
    return gathered(fields.functions, [x.number], source[0]) if (source == source[0]).all() else None


# --- systems of equations ---------------------------------------------------------------------------------------------


def _with_ones(fields: Fields, x: Packed, y: Value) -> Packed | None:
    """A part of the factors, and 0, plus constants where there is 0: the triangle of L gets its diagonal."""
    constant = _whole_constant(fields, y)
    if constant is None or constant.shape != x.source.shape or ((x.source >= 0) & (constant != 0)).any():
        return None
    return Packed(x.of, x.source, x.constant + constant)


def is_step(equation: JaxprEqn, a: Any, b: Any) -> bool:
    """Whether a factor is solved with, and what is on the other side is of a kind that goes with it."""
    kind = _factor(equation, a)
    return kind is not None and isinstance(b, _STEPS[kind][0])


def _solved(fields: Fields, equation: JaxprEqn, a: Any, b: Value) -> Symbol | Number | None:
    """One of the four steps that solve with L, U and their transposes."""
    kind = _factor(equation, a)
    if kind is None or not isinstance(b, _STEPS[kind][0]):
        return None
    if equation.params["left_side"]:
        return _STEPS[kind][1](fields, a.of, b)
    found = _STEPS[kind][1](fields, a.of, _transposed(b))
    return None if found is None else _transposed(found)


def _factor(equation: JaxprEqn, a: Any) -> str | None:
    """Which factor, "L", "U", "Lᵀ" or "Uᵀ", a system has on its left side, if it is one."""
    if not isinstance(a, Packed) or a.source.shape != a.of.matrices.shape:
        return None
    given = equation.params
    swapped = given["transpose_a"] is given["left_side"]
    return _kind(a, given["lower"] is not swapped, given["unit_diagonal"], swapped)


def _kind(a: Packed, lower: bool, ones: bool, swapped: bool) -> str | None:
    """Which factor, "L", "U", "Lᵀ" or "Uᵀ", is the triangle of A, or of Aᵀ if swapped, that is read."""
    turn = (lambda x: x.swapaxes(-1, -2)) if swapped else (lambda x: x)
    source, constant = turn(a.source), turn(a.constant)
    own = np.arange(a.source.size).reshape(a.source.shape)
    n = a.of.rows
    triangle, diagonal = np.tri(n, k=-1, dtype=bool), np.eye(n, dtype=bool)
    triangle = triangle if lower else triangle.T
    ones = ones or bool(((source < 0) & (constant == 1))[..., diagonal].all())
    if not ones and (source != own)[..., diagonal].any():
        return None
    for transposed, entries in ((False, own), (True, own.swapaxes(-1, -2))):
        if (source == entries)[..., triangle].all() and ones == (lower is not transposed):
            return ("L" if ones else "U") + ("ᵀ" if transposed else "")
    return None


def _transposed(x: Value) -> Any:
    """Symbols and numbers with their last two axes exchanged."""
    swap = lambda a: a.swapaxes(-1, -2)
    if isinstance(x, Number):
        return x.moved(swap)
    if isinstance(x, Rows):
        return replace(x, letter=swap(x.letter), values=swap(x.values))
    return replace(x, source=swap(x.source)) if isinstance(x, Half) else None


def _forward(fields: Fields, of: Factorised, b: Any) -> Half | None:
    """L⁻¹ P B."""
    if b.of is not of or b.letter.shape[:-1] != of.matrices.shape[:-1]:
        return None
    rows = b.values[..., :1, :]
    if (b.letter != of.order_of).any() or (b.values != rows).any():
        return None
    source = np.moveaxis(rows[..., 0, :], 0, -2)
    return Half(of, gathered(fields.functions, [b.number], source), _counted(source.shape), False)


def _backward(fields: Fields, of: Factorised, b: Any) -> Number | None:
    """A⁻¹ B."""
    b = _of_half(fields, of, b, transposed=False)
    return None if b is None else solution(fields, of, b, transposed=False)


def _first_of_transposed(fields: Fields, of: Factorised, b: Any) -> Half | None:
    """U⁻ᵀ B."""
    return Half(of, b, _counted(b.shape), True)


def _second_of_transposed(fields: Fields, of: Factorised, b: Any) -> Rows | None:
    """L⁻ᵀ U⁻ᵀ B = P A⁻ᵀ B."""
    b = _of_half(fields, of, b, transposed=True)
    x = None if b is None else solution(fields, of, b, transposed=True)
    if x is None:
        return None
    places = _counted(x.shape)
    letter = np.broadcast_to(of.order_of, x.shape)
    values = np.stack([np.broadcast_to(places[..., v : v + 1, :], x.shape) for v in range(of.rows)])
    return Rows(of, letter, values, x)


_STEPS: dict[str, tuple[type, Callable[..., Any]]] = {
    "L": (Rows, _forward),
    "U": (Half, _backward),
    "Uᵀ": (Number, _first_of_transposed),
    "Lᵀ": (Half, _second_of_transposed),
}
"""The factor of a system → what has to be on its right side, and what solves it."""


def _counted(shape: Sequence[int]) -> np.ndarray:
    return np.arange(math.prod(shape)).reshape(shape)


def _of_half(fields: Fields, of: Factorised, b: Any, *, transposed: bool) -> Number | None:
    """What the first step was made of, with the columns that the second one has: every row is where it was."""
    if b.of is not of or b.transposed is not transposed or len(b.source.shape) != len(b.number.shape):
        return None
    columns = b.number.shape[-1]
    if b.source.shape[:-1] != of.matrices.shape[:-1] or (b.source // columns != of.order_of).any():
        return None
    if (b.source % columns != (b.source % columns)[..., :1, :]).any():
        return None
    return gathered(fields.functions, [b.number], b.source)


def solution(fields: Fields, of: Factorised, b: Number, *, transposed: bool) -> Number | None:
    """A⁻¹ B or A⁻ᵀ B by elimination along an order of rows in which all divisors are zero on null sets only."""
    a = of.matrices
    notes = set(fields.draw.notes)
    for order in itertools.islice(itertools.permutations(range(of.rows)), MOST_ORDERS):
        x = _along(fields, _elimination(a.shape, b.shape, of.dtype, order, transposed), a, b)
        if x is not None and x.special is None and x.infinite is None and x.facts is not None and not x.facts.hollow:
            break
        fields.draw.notes = set(notes)
    else:
        return None
    assert x.facts is not None
    if x.almost is not None:
        return None
    if x.facts.defined is Defined.ALWAYS:
        return x
    return Number(x.residues, quadratic=x.quadratic, scale=x.scale, facts=_of_any_order(x.facts))


def _along(fields: Fields, program: ClosedJaxpr, a: Number, b: Number) -> Number | None:
    """The solution along one order of rows, or None where it is refused."""
    try:
        return fields.lift(*fields.inner(program, [a, b]))
    except UnsupportedError:
        return None


def _of_any_order(facts: Facts) -> Facts:
    """What is known of A⁻¹ B where A is invertible, of what is known where no divisor of one order is 0."""
    if facts.nature is Nature.PIECEWISE:
        return facts.unsigned()
    return replace(facts.unsigned(), thin=facts.thin)


@functools.lru_cache(maxsize=256)
def _elimination(
    a: Sequence[int], b: Sequence[int], dtype: np.dtype, order: Sequence[int], transposed: bool
) -> ClosedJaxpr:
    """The program that solves A X = B, or Aᵀ X = B, after the rows of A are put into an order."""
    rows = np.array(order)
    step = lambda lower, ones: {
        "left_side": True,
        "lower": lower,
        "transpose_a": transposed,
        "conjugate_a": False,
        "unit_diagonal": ones,
    }

    def program(a: jax.Array, b: jax.Array) -> jax.Array:
        factors = eliminated(a[..., rows, :])
        if not transposed:
            return triangular_solve(
                step(False, False), factors, triangular_solve(step(True, True), factors, b[..., rows, :])
            )
        x = triangular_solve(step(True, True), factors, triangular_solve(step(False, False), factors, b))
        return x[..., np.argsort(rows), :]

    with jax.enable_x64(True):
        return jax.make_jaxpr(program)(jax.ShapeDtypeStruct(a, dtype), jax.ShapeDtypeStruct(b, dtype))
