"""Elimination with exchanges of rows in prime fields: every way to exchange them is followed.

Which rows a device exchanges depends on magnitudes, which residues do not have.  So a factorisation is one value for
each way, and so is what is computed from it, until all ways give the same: x = U⁻¹ L⁻¹ P b is A⁻¹ b whatever P is.
A way whose pivot is 0 for all inputs is taken where the whole column is 0, and there a device does not divide: it is
left out if another number of the column is never 0, and the factors are refused if none is known to be so.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind, is_array
from uat_jax.interpret.definitions import defined
from uat_jax.interpret.linear_algebra import eliminated
from uat_jax.interpret.operation import operation_of
from uat_jax.interpret.scattering import SCATTERS
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.numbers.prime_fields import determinants, factored
from uat_jax.numbers.prime_fields.facts import Facts
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import same, vanishes

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields, Value

MOST_WAYS = 36
"""Of several factorisations together, no more ways to exchange rows are followed: 4 rows have 24."""

Way = Mapping[int, int]
"""For each factorisation, by the place of its expression, the number of a way to exchange its rows."""

Cases = Mapping[tuple[int, ...], Any]
"""A value for each combination of ways, or None where it is undefined."""

Evaluate = Callable[[Sequence[Any]], list[Any]]
"""The results of an equation for some operands."""


@dataclass(frozen=True, eq=False)
class Exchanged:
    """A value that depends on how rows are exchanged.

    counts: for each factorisation that it depends on how many ways there are.  followed: makes `cases`, which may take
    long.  expression: its place in the draw's table.  symbol: what it is in terms of the order of rows, if it is known.
    of: the matrices whose factors it is made of, if these are square and small.
    """

    counts: Mapping[int, int]
    followed: Callable[[], Cases]
    expression: int
    shape: tuple[int, ...]
    symbol: factored.Symbol | None = None
    of: factored.Factorised | None = None

    @functools.cached_property
    def cases(self) -> Cases:
        """The value for each combination of ways, in the order of `counts`, or None where it is undefined."""
        return self.followed()

    def on(self, way: Way) -> Value:
        """The value if rows are exchanged so; None if it is undefined then."""
        return self.cases[tuple(way[place] for place in self.counts)]

    @property
    def wherever_defined(self) -> Value | None:
        """The value where it is defined, if that is the same in all ways; else None."""
        first, *others = [case for case in self.cases.values() if case is not None]
        return first if all(case is first for case in others) else None


def factorised(fields: Fields, equation: JaxprEqn, x: Number) -> list[Any]:
    """The rule of `lu`: the factors, the exchanges and the order of rows, for each way to exchange them.

    Of a constant matrix the exchanges are decided.

    Raises:
        UnsupportedError: there are too many ways, or in each of them a pivot is 0 for all inputs.
    """
    *batch, m, n = x.shape
    if not math.prod(x.shape):
        rows = np.broadcast_to(np.arange(m, dtype=np.int32), (*batch, m))
        return [x, np.zeros((*batch, min(m, n)), np.int32), rows]
    if x.known is not None:
        _, exchanges, _ = fields.known.decided(equation, [x])
        return _along_all(fields, equation, x, [exchanges])[0]
    matrices, steps = math.prod(batch), min(m, n)
    count = math.prod(m - k for k in range(steps)) ** matrices
    if count == 1:
        return _along_all(fields, equation, x, _ways(equation, matrices, m, steps))[0]
    x = x.but(expression=fields.place(x))
    places = [
        fields.expressions.applied(equation, [fields.place(x)], i, shape_of(v)) for i, v in enumerate(equation.outvars)
    ]
    if fields.looking:
        raise UnsupportedError(f"'lu'{source_line(equation)} is not the factorisation that was looked at")
    found = functools.cache(lambda: _along_all(fields, equation, x, _ways(equation, matrices, m, steps)))
    column = lambda i: {(k,): _allowed(each[i]) for k, each in enumerate(found())}
    known = factored.symbols(x, dtype_of(equation.invars[0])) if "order of rows" in fields.functions.laws else None
    if known is None:
        found()
    results = [
        Exchanged(
            {places[0]: count}, functools.partial(column, i), place, shape_of(variable), symbol, symbol and symbol.of
        )
        for i, (place, variable, symbol) in enumerate(zip(places, equation.outvars, known or [None] * 3, strict=True))
    ]
    if known is not None:
        known[0].of.orders = lambda: {(k,): each[2] for k, each in enumerate(found())}  # type: ignore[assignment]
    fields.expressions.results[operation_of(equation), (fields.place(x),)] = results, False
    return results


def _along_all(fields: Fields, equation: JaxprEqn, x: Number, ways: Iterable[np.ndarray]) -> list[list[Value]]:
    """The results for each way to exchange rows; an error in place of factors that are not known.

    Raises:
        UnsupportedError: the factors are known for none.
    """
    found = [_along(fields, equation, x, way.reshape(*x.shape[:-2], min(x.shape[-2:]))) for way in ways]
    if not any(isinstance(factors, Number) for factors, *_ in found):
        raise _divides_by_nothing(equation)
    return found


def _allowed(result: Value) -> Value:
    """A result for one way to exchange rows.  Raises `UnsupportedError`: it is not known."""
    if isinstance(result, UnsupportedError):
        raise result
    return result


def _divides_by_nothing(equation: JaxprEqn) -> UnsupportedError:
    return UnsupportedError(
        f"'lu'{source_line(equation)} has a pivot that is 0 for all inputs, or may be for inputs of positive "
        "measure, and what a device makes of a column of zeros is not followed"
    )


def order(fields: Fields, equation: JaxprEqn, exchanges: Any) -> Value:
    """The rule of `lu_pivots_to_permutation` for integers that no factorisation gives.  Raises `UnsupportedError`."""
    raise UnsupportedError(
        f"'lu_pivots_to_permutation'{source_line(equation)} takes integers that depend on the input; take those of 'lu'"
    )


def _ways(equation: JaxprEqn, matrices: int, rows: int, steps: int) -> Iterator[np.ndarray]:
    """All ways to exchange, at each step k of each matrix, row k with one at or below it: arrays (matrices, steps)."""
    count = math.prod(rows - k for k in range(steps)) ** matrices
    if count > MOST_WAYS:
        raise UnsupportedError(
            f"'lu'{source_line(equation)} has {count} ways to exchange rows, and at most {MOST_WAYS} are followed; "
            "use smaller matrices"
        )
    one = list(itertools.product(*(range(k, rows) for k in range(steps))))
    return (np.array(way, np.int32).reshape(matrices, steps) for way in itertools.product(one, repeat=matrices))


def _along(fields: Fields, equation: JaxprEqn, x: Number, exchanges: np.ndarray) -> list[Any]:
    """The results if rows are exchanged so; no factors, None, if no device ever does.

    An error stands for factors that are not known, because a pivot may be 0 for inputs of positive measure: there a
    device divides by nothing, and the factors are other ones.
    """
    order = np.broadcast_to(np.arange(x.shape[-2], dtype=np.int32), (*x.shape[:-2], x.shape[-2])).copy()
    for index in np.ndindex(*x.shape[:-2]):
        for k, chosen in enumerate(exchanges[index]):
            order[(*index, [k, chosen])] = order[(*index, [chosen, k])]
    notes = set(fields.draw.notes)
    program = _elimination(x.shape, dtype_of(equation.invars[0]), order.tobytes())
    factors = fields.lift(*fields.inner(program, [x]))
    if factors.special is None and (factors.facts is None or not factors.facts.hollow):
        return [factors, exchanges, order]
    fields.draw.notes = notes
    never = factors.special is not None and _is_never_taken(fields, equation, x, order)
    return [None if never else _divides_by_nothing(equation), exchanges, order]


def _is_never_taken(fields: Fields, equation: JaxprEqn, x: Number, order: np.ndarray) -> bool:
    """Whether the first pivot that is 0 for all inputs stands, in some matrix, in a column with a number that never is.

    The largest number of a column is taken for the pivot, and that is not 0 then.
    """
    dtype = dtype_of(equation.invars[0])
    for k in range(min(x.shape[-2:])):
        program = _elimination(x.shape, dtype, order.tobytes(), k)
        column = fields.lift(*fields.inner(program, [x]))
        if column.special is not None or column.infinite is not None or column.facts is None or column.facts.guarded:
            return False
        zero = vanishes(column.residues)[..., 0]
        if zero.any():
            return bool((zero & (column.facts.positive | column.facts.negative).any(axis=-1)).any())
    return False


@functools.lru_cache(maxsize=256)
def _elimination(shape: tuple[int, ...], dtype: np.dtype, order: bytes, steps: int | None = None) -> ClosedJaxpr:
    """The program that eliminates without exchanges after the rows are put into an order.

    steps: after so many steps the column from which the next pivot is taken is returned, instead of all factors.
    """
    rows = np.frombuffer(order, np.int32).reshape(-1, shape[-2])
    matrices = np.arange(len(rows))[:, None]

    def program(a: jax.Array) -> jax.Array:
        found = eliminated(a.reshape(-1, *shape[-2:])[matrices, rows], steps).reshape(shape)
        return found if steps is None else found[..., steps:, steps]

    with jax.enable_x64(True):
        return jax.make_jaxpr(program)(jax.ShapeDtypeStruct(shape, dtype))


def followed(fields: Fields, equation: JaxprEqn, operands: Sequence[Any], evaluate: Evaluate) -> list[Value]:
    """The results of an equation, each of them one value where all ways to exchange rows give the same."""
    known = _in_terms_of_the_order(fields, equation, operands)
    if equation.primitive.name == "triangular_solve":
        evaluate = functools.partial(fields.inner, defined(equation, [None] * len(operands)))
    given, of = list(map(fields.place, operands)), _of_one_factorisation(operands)
    places = [fields.expressions.applied(equation, given, i, shape_of(v)) for i, v in enumerate(equation.outvars)]
    if known is None and of is not None:
        steps = _toward_determinants(fields, of)
        if all(place in steps for place in places):
            return [steps[place] for place in places]
    if known is None and (of is None or not fields.looking):
        operands = [_settled(operand) for operand in operands]
        if not any(isinstance(operand, Exchanged) for operand in operands):
            return evaluate(operands)
    counts: dict[int, int] = {}
    for operand in operands:
        counts.update(operand.counts if isinstance(operand, Exchanged) else {})
    cases = functools.cache(functools.partial(_each_way, fields, equation, operands, counts, _as_now(fields, evaluate)))
    results = []
    for i, (place, variable) in enumerate(zip(places, equation.outvars, strict=True)):
        each = Exchanged(counts, functools.partial(_column, cases, i), place, shape_of(variable), of=of)
        if known is None and of is not None and fields.looking:
            results.append(steps.setdefault(place, each))
        elif known is None:
            one = _one_of(each.cases)
            symbol = None if of is None else factored.as_order(of, each.cases)
            results.append(replace(each, symbol=symbol) if one is None else one)
        elif isinstance(known[i], factored.Symbol):
            results.append(replace(each, symbol=known[i]))
        else:
            results.append(known[i].but(expression=place) if isinstance(known[i], Number) else known[i])
    return results


def _of_one_factorisation(operands: Sequence[Any]) -> factored.Factorised | None:
    """The matrices whose factors the operands are made of, if they are the same for all that depend on exchanges."""
    found = [operand.of for operand in operands if isinstance(operand, Exchanged)]
    return found[0] if all(of is found[0] for of in found) else None


def _toward_determinants(fields: Fields, of: factored.Factorised) -> dict[int, Value]:
    """The steps from the factors to the determinants that JAX computes; the last ones are known without exchanges."""
    if of.steps is not None:
        return of.steps
    of.steps = {}
    if not 1 < of.rows <= determinants.MOST_ROWS or not fields.certain(of.matrices):
        return of.steps
    program, *others = determinants.programs_of_jax(of.matrices.shape, of.dtype)
    fields.looking = True
    try:
        made = fields.inner(program, [of.matrices])
    except UnsupportedError:
        return of.steps
    finally:
        fields.looking = False
    sign, log, value = map(fields.lift, determinants.written_out(fields, of.matrices, of.dtype))
    _replace(fields, of, made, [sign, log])
    for other in others:
        _replace(fields, of, fields.inner(other, [of.matrices]), [value])
    return of.steps


def _replace(fields: Fields, of: factored.Factorised, made: Sequence[Any], known: Sequence[Number]) -> None:
    """Take for what was made, wherever the same operations make it, what is known."""
    assert of.steps is not None
    found = dict(zip(map(id, made), known, strict=True))
    of.steps.update({place: found.get(id(x), x) for place, x in of.steps.items()})
    for key, (results, lawful) in fields.expressions.results.items():
        if any(id(x) in found for x in results):
            fields.expressions.results[key] = [found.get(id(x), x) for x in results], lawful


def is_step(equation: JaxprEqn, operands: Sequence[Any]) -> bool:
    """Whether an equation solves with a factor of what `lu` factorises, as one of two steps that make a solution."""
    given = [x.symbol if isinstance(x, Exchanged) else x for x in operands]
    return equation.primitive.name == "triangular_solve" and factored.is_step(equation, *given)


def is_placed(equation: JaxprEqn, operands: Sequence[Any]) -> bool:
    """Whether an equation writes whole numbers at places that depend on exchanges, as files do that make the order."""
    return equation.primitive.name in SCATTERS and all(isinstance(x, Exchanged) or is_array(x) for x in operands)


def _in_terms_of_the_order(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Any] | None:
    """What is known of the results whichever way rows are exchanged, if it is known of the operands."""
    given = [x.symbol if isinstance(x, Exchanged) else x for x in operands]
    return None if any(x is None for x in given) else factored.followed(fields, equation, given)


def _settled(operand: Value) -> Value:
    """An operand, or the one value that it is for all ways to exchange rows."""
    one = _one_of(operand.cases) if isinstance(operand, Exchanged) else None
    return operand if one is None else one


def _as_now(fields: Fields, evaluate: Evaluate) -> Evaluate:
    """The evaluation of an equation as it is at this place of the program, also if it is asked for later."""
    ranges = fields.operand_ranges

    def later(values: Sequence[Any]) -> list[Value]:
        kept, fields.operand_ranges = fields.operand_ranges, ranges
        try:
            return evaluate(values)
        finally:
            fields.operand_ranges = kept

    return later


def _column(cases: Callable[[], Sequence[Cases]], i: int) -> Cases:
    return cases()[i]


def _one_of(cases: Cases) -> Value | None:
    """The value that all cases are, if it is one and none is undefined."""
    first, *others = cases.values()
    return first if all(case is first for case in others) else None


def _each_way(
    fields: Fields,
    equation: JaxprEqn,
    operands: Sequence[Any],
    counts: Mapping[int, int],
    evaluate: Evaluate,
) -> list[Cases]:
    """Each result for each way to exchange rows, the same object where it is the same for all."""
    if (count := math.prod(counts.values())) > MOST_WAYS:
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} depends on how rows are exchanged, in {count} ways, "
            f"and at most {MOST_WAYS} are followed"
        )
    at = lambda way: [operand.on(way) if isinstance(operand, Exchanged) else operand for operand in operands]
    keys = list(itertools.product(*map(range, counts.values())))
    given = {key: at(dict(zip(counts, key, strict=True))) for key in keys}
    if equation.primitive.name == "select_n" and isinstance(operands[0], Exchanged):
        _refuse_choice(equation, list(given.values()))
    found: dict[tuple[int, ...], Sequence[Any]] = {}
    for values in given.values():
        if tuple(map(id, values)) not in found:
            undefined = any(value is None for value in values)
            whole = not undefined and equation.primitive.name in SCATTERS and all(map(is_array, values))
            made = (lambda given: bind(equation, given)) if whole else evaluate
            found[tuple(map(id, values))] = [None] * len(equation.outvars) if undefined else made(values)
    rows = {key: found[tuple(map(id, values))] for key, values in given.items()}
    places = list(map(fields.place, operands))
    results: list[Cases] = []
    for i, variable in enumerate(equation.outvars):
        cases = {key: row[i] for key, row in rows.items()}
        place = fields.expressions.applied(equation, places, i, shape_of(variable))
        defined = [case for case in cases.values() if case is not None]
        fields.draw.compared(math.prod(shape_of(variable)) * len(defined))
        one = _one(defined, place) if defined else None
        results.append(cases if one is None else {key: None if case is None else one for key, case in cases.items()})
    return results


def _refuse_choice(equation: JaxprEqn, given: Sequence[Sequence[Value]]) -> None:
    """Return if no way of exchanging rows, which may choose what is defined, is one where something else is not."""
    if any(values[0] is not None and any(value is None for value in values) for values in given):
        raise UnsupportedError(
            f"'select_n'{source_line(equation)} chooses by exchanges of rows from what they leave undefined"
        )


def _one(cases: Sequence[Any], place: int) -> Value | None:
    """What all cases are, or None: the same array, or the same function where all are defined."""
    first, *others = cases
    if all(map(is_array, cases)):
        return first if all(np.array_equal(first, other) for other in others) else None
    if not all(isinstance(case, Number) and case.special is None and case.infinite is None for case in cases):
        return None
    if any(case.almost is not None or case.facts is None or not same(first.residues, case.residues) for case in cases):
        return None
    return first.but(
        facts=_common(case.facts for case in cases),
        nonnegative=all(case.nonnegative for case in cases),
        expression=place,
    )


def _common(known: Any) -> Facts:
    """What is known of every case."""
    facts = list(known)
    return Facts(
        max(f.nature for f in facts),
        max(f.defined for f in facts),
        any(f.hollow for f in facts),
        np.logical_and.reduce([f.positive for f in facts]),
        np.logical_and.reduce([f.negative for f in facts]),
        np.logical_and.reduce([f.thin for f in facts]),
        any(f.guarded for f in facts),
    )
