"""Ranks: bounds by factorisation, for all shapes, and ranks of given matrices, without rounding.

    rank(X Y) ≤ the number of columns of X       rank(X + Y) ≤ rank X + rank Y       rank(X ⊗ Y) = rank X · rank Y

A bound is proved by writing the matrix so that these rules give it.  The rank of a matrix of whole numbers is that over
the rationals, computed exactly.  A matrix with transcendental entries (a softmax, say) has at least the rank of a minor
whose determinant lies in a ball without zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any

import jax
import numpy as np
import sympy
from flint import arb, fmpz_mat

from uat_jax.decide.confirmation import check_definitions, proved
from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.exhibits import are_apart, held
from uat_jax.decide.figures import Factored, Minor, Rank, Ranks
from uat_jax.decide.statements import of_minor, of_rank_bound, of_rank_reached
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import enclosure, exact
from uat_jax.numbers.balls.decisions import UndecidedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.slices import Scope, nonnegative
from uat_jax.symbolic.step import Step

DRAWS = 3
"""Random matrices drawn before an expected rank counts as not found."""

ROUNDING = 2.0**-40
"""A pivot below this part of the largest entry counts as rounding; what is chosen by it is confirmed in balls."""

Bounds = frozenset[Any]
Letters = Mapping[m.Letter, np.ndarray]
Build = Callable[[np.random.Generator], np.ndarray | tuple[np.ndarray, m.Expression, Letters]]
Function = Callable[..., jax.Array]
Inputs = Mapping[str, Any]


# --- bounds for all shapes -----------------------------------------------------------------------------------------


def bounds(expression: m.Expression, scope: Scope = ()) -> Bounds:
    """Upper bounds of the rank that the structure of an expression shows, as polynomials in its dimensions.

    ``scope``: the sums around it.  A sum that its bounds may give a negative number of terms is bounded by its shape.
    """
    inside = lambda operand: bounds(operand, scope)
    match expression:
        case m.Product():
            return _either(expression, *map(inside, expression.operands))
        case m.Addition():
            return _either(expression, _combined(sympy.Add, map(inside, expression.operands)))
        case m.Kronecker():
            return _either(expression, _combined(sympy.Mul, map(inside, expression.operands)))
        case m.Scaled() | m.Transposed():
            return inside(expression.arg)
        case m.RangeSum():
            lower, upper = expression.bounds
            if not nonnegative(upper - lower + 1, scope):
                return _either(expression)
            terms = bounds(expression.body, (*scope, (expression.index, lower, upper)))
            return _either(expression, frozenset(_summed(bound, expression.index, lower, upper) for bound in terms))
    return _either(expression)


def _summed(bound: Any, index: Any, lower: sympy.Expr, upper: sympy.Expr) -> Any:
    """The sum of the bounds of upper − lower + 1 terms, at least 0 of them."""
    if index in bound.free_symbols:
        total = sympy.Sum(bound, (index, lower, upper))
        return total if bound.has(sympy.Indexed) else total.doit()
    return (upper - lower + 1) * bound


def _either(expression: m.Expression, *sets: Bounds) -> Bounds:
    """The rank is at most the number of rows, the number of columns, and every bound of the sets."""
    return frozenset(map(sympy.expand, frozenset(expression.shape).union(*sets)))


def _combined(operation: Callable[..., Any], sets: Iterable[Bounds]) -> Bounds:
    """One bound of each operand, added or multiplied."""
    return frozenset(operation(*choice) for choice in product(*sets))


def bounded(step: Step, *, claimed: Any, what: str, subject: str = "") -> Iterator[Evidence]:
    """rank(``step.left``) ≤ ``claimed`` for all shapes: ``step.right`` is the same matrix, written so that it shows.

    PROVED if the equation holds and ``claimed`` is one of the `bounds` of its right-hand side; a bound that does not
    show, even a weaker one, is UNKNOWN.
    """
    check_definitions(step.where)
    alike = step.left == step.right  # the matrix shows it as it is written
    found = [] if alike else list(proved([step], method=Method.NORMAL_FORM, what=f"{what}: {step.name}"))
    found.append(_shown(step, sympy.sympify(claimed), what))
    yield from (replace(evidence, subject=subject) for evidence in found)


def _shown(step: Step, claimed: sympy.Expr, what: str) -> Evidence:
    factored = step.right
    figures = Factored(str(factored), str(claimed))
    if any(m.same_dimension(bound, claimed) for bound in bounds(factored)):
        said = of_rank_bound(step, claimed)
        return Evidence(Method.RANK, f"{what}: rank ≤ {claimed}", Verdict.PROVED, figures, statements=said)
    return Evidence(Method.RANK, f"{what}: {factored} does not show a rank ≤ {claimed}", Verdict.UNKNOWN, figures)


# --- matrices of whole numbers -------------------------------------------------------------------------------------


def rank(matrix: np.ndarray) -> int:
    """The rank over the rationals of a matrix of whole numbers.  Raises `InputError` for any other array."""
    return fmpz_mat(_whole(matrix)).rank()


def _whole(matrix: np.ndarray) -> list[list[int]]:
    """The entries as they are; nothing is rounded."""
    entries = np.asarray(matrix, dtype=object)
    if entries.ndim != 2 or not entries.size or not all(entry % 1 == 0 for entry in entries.ravel()):
        raise InputError(f"got an array of shape {entries.shape}; wanted a matrix of whole numbers, with an entry")
    return [[int(entry) for entry in row] for row in entries]


def drawn(random: np.random.Generator, *shape: int) -> np.ndarray:
    """An array of whole numbers from −3 to 3."""
    return random.integers(-3, 4, shape)


def low_rank(random: np.random.Generator, rows: int, columns: int, *, rank: int) -> np.ndarray:
    """A product of two such arrays: a matrix whose rank is at most ``rank``."""
    return drawn(random, rows, rank) @ drawn(random, rank, columns)


def attained(claimed: int, build: Build, *, what: str, seed: int = 0, subject: str = "") -> Evidence:
    """A matrix of whole numbers, ``build(generator)``, whose rank over the rationals is ``claimed``.

    ``build`` may return with it the expression that the matrix is, and the whole matrices that its letters are: what a
    checker evaluates again.  Raises `InputError` if that expression is another matrix.
    PROVED if it is; REFUTED if it is larger than claimed; UNKNOWN if it stays smaller in a few draws.
    """
    random, ranks = np.random.default_rng(seed), []
    for _ in range(DRAWS):
        built: Any = build(random)
        matrix, *made_of = built if isinstance(built, tuple) else (built,)
        if made_of and not np.array_equal(matrix, _value(*made_of)):
            raise InputError(f"{what}: got a matrix and an expression of another one; wanted both of the same matrix")
        ranks.append(rank(matrix))
        if ranks[-1] > claimed:
            return replace(refuted(claimed, matrix, what=what), subject=subject)
        if ranks[-1] == claimed:
            break
    rows, columns = matrix.shape
    figures = Ranks(seed, (rows, columns), tuple(ranks), int(claimed))
    verdict = Verdict.PROVED if ranks[-1] == claimed else Verdict.UNKNOWN
    finding = f"{what}: a {rows} × {columns} matrix of whole numbers has rank {max(ranks)}"
    said = of_rank_reached(made_of[0], made_of[1], int(claimed)) if made_of and verdict is Verdict.PROVED else ()
    return Evidence(Method.RANK, finding, verdict, figures, subject=subject, statements=said)


def _value(expression: m.Expression, letters: Letters) -> np.ndarray:
    """The matrix that an expression is, with whole matrices in the place of its letters; nothing is rounded."""
    operands = [_value(operand, letters) for operand in expression.operands]
    match expression:
        case m.Letter():
            return np.asarray(letters[expression], dtype=object)
        case m.Identity():
            return np.eye(int(expression.shape[0]), dtype=object)
        case m.Selection():
            rows, columns = map(int, expression.shape)
            return np.eye(rows, columns, k=-columns * (int(expression.index) - 1), dtype=object)
        case m.Addition():
            return reduce(np.add, operands)
        case m.Product():
            return reduce(np.dot, operands)
        case m.Kronecker():
            return reduce(np.kron, operands)
        case m.Scaled() if expression.coefficient.is_Integer:
            return int(expression.coefficient) * operands[0]
        case m.Transposed():
            return operands[0].T
        case m.Vectorised():
            return operands[0].reshape(-1, 1)
    raise InputError(f"got {type(expression).__name__} in {expression}; wanted a matrix of whole numbers")


def refuted(claimed: int, matrix: np.ndarray, *, what: str, subject: str = "") -> Evidence:
    """REFUTED if this matrix of whole numbers has a rank larger than ``claimed``, over the rationals; else UNKNOWN."""
    found = rank(matrix)
    rows, columns = matrix.shape
    finding = f"{what}: a {rows} × {columns} matrix of rank {found}, claimed {claimed}"
    if found <= claimed:
        return Evidence(Method.RANK, finding, Verdict.UNKNOWN, Rank(found, int(claimed)), subject=subject)
    example = _example({"matrix": matrix}, found, int(claimed), f"rank = {found}")
    return Evidence(Method.COUNTEREXAMPLE, finding, Verdict.REFUTED, subject=subject, example=example)


def _example(inputs: Mapping[str, Any], left: int, right: int, exact: str) -> Counterexample:
    """A counterexample: ``left`` is the rank, or a lower bound of it, and ``right`` what was claimed."""
    numbers = {name: np.asarray(value).tolist() for name, value in inputs.items()}
    return Counterexample(named(numbers), left, right, (exact, f"rank ≤ {right}"), names=("rank", "claimed"))


# --- matrices of real numbers --------------------------------------------------------------------------------------


def enclosed(claimed: int, function: Function, inputs: Inputs, *, what: str, subject: str = "") -> Evidence:
    """rank(function(**inputs)) ≥ ``claimed``: PROVED by a minor in ball arithmetic, UNKNOWN if none is seen.

    ``inputs`` are arrays of numbers; the function returns one matrix.  Raises `InputError` for a number that float64
    does not hold exactly, for what is no matrix, and for a claim below 1, which says nothing.
    """
    if claimed < 1:
        raise InputError(f"got a claimed rank of {claimed}; wanted at least 1")
    arrays = {name: held(name, value) for name, value in inputs.items()}
    balls = exact(lambda a: function(**a), (arrays,))
    if balls.ndim != 2:
        raise InputError(f"got an array of shape {balls.shape} from the function; wanted one matrix")
    rows, columns = pivots(np.vectorize(float, otypes=[float])(balls))
    if len(rows) < claimed:
        finding = f"{what}: elimination ends after {len(rows)} pivots, claimed {claimed}"
        return Evidence(Method.MINOR_IN_BALLS, finding, Verdict.UNKNOWN, Minor(int(claimed)), subject=subject)
    rows, columns = rows[:claimed], columns[:claimed]
    minor = lambda a: determinant(function(**a)[np.ix_(rows, columns)])
    try:
        value = enclosure(minor, arrays).item()
    except UndecidedError as error:  # as where the minor is zero, or an entry that is divided by
        finding = f"{what}: a minor of size {claimed} is not known: {error}"
        return Evidence(Method.MINOR_IN_BALLS, finding, Verdict.UNKNOWN, Minor(int(claimed)), subject=subject)
    verdict = Verdict.PROVED if are_apart(value, arb(0)) else Verdict.UNKNOWN
    figures = Minor(int(claimed), tuple(rows), tuple(columns), value.str(5))
    finding = f"{what}: a minor of size {claimed} is {value.str(5, radius=False)}"
    program = trace(lambda a: function(**a), arrays)
    said = of_minor(program, jax.tree.leaves(arrays), rows, columns) if verdict is Verdict.PROVED else ()
    return Evidence(Method.MINOR_IN_BALLS, finding, verdict, figures, subject=subject, statements=said)


def pivots(matrix: np.ndarray) -> tuple[list[int], list[int]]:
    """The rows and columns on which elimination with complete pivoting divides, until nothing but rounding is left."""
    rest, rows, columns = matrix.copy(), [], []
    for _ in range(min(matrix.shape)):
        i, j = (int(n) for n in np.unravel_index(np.argmax(np.abs(rest)), rest.shape))
        if abs(rest[i, j]) <= ROUNDING * np.abs(matrix).max():
            break
        rows.append(i)
        columns.append(j)
        rest = rest - np.outer(rest[:, j], rest[i]) / rest[i, j]
        rest[i], rest[:, j] = 0, 0
    return rows, columns


def determinant(matrix: jax.Array) -> jax.Array:
    """The product of the pivots of Gaussian elimination; the leading minors must not be zero."""
    if len(matrix) == 1:
        return matrix[0, 0]
    rest = matrix[1:, 1:] - matrix[1:, :1] * (matrix[:1, 1:] / matrix[0, 0])
    return matrix[0, 0] * determinant(rest)


def exceeded(claimed: int, function: Function, inputs: Inputs, *, what: str, subject: str = "") -> Evidence:
    """REFUTED if rank(function(**inputs)) > ``claimed``, by a minor in ball arithmetic; else UNKNOWN."""
    found = enclosed(claimed + 1, function, inputs, what=f"{what}: claimed rank ≤ {claimed}", subject=subject)
    if found.verdict is not Verdict.PROVED:
        return found
    assert isinstance(found.figures, Minor)
    reason = f"a minor of size {claimed + 1} has the determinant {found.figures.determinant}"
    example = _example(inputs, claimed + 1, claimed, reason)
    return replace(found, method=Method.COUNTEREXAMPLE, verdict=Verdict.REFUTED, example=example)
