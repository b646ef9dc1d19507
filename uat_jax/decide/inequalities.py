"""Bounds: deduced from other inequalities with exact multipliers, or enclosed in balls over a box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import jax
import sympy
from flint import arb, fmpq

from uat_jax.decide.counterexample import Counterexample, named
from uat_jax.decide.exhibits import held
from uat_jax.decide.figures import Boxes, Contradiction, Deduced, Measured, Term
from uat_jax.decide.statements import of_inequality, of_no_consequence, of_unequal
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import DisagreementError, InputError
from uat_jax.interpret.closed_form import precision
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import enclosure
from uat_jax.symbolic.inequality import Case, deduce, satisfied
from uat_jax.symbolic.relations import Relation, text_of

PRECISION = 128
BOXES = 20_000


def proved_inequality(claim: Relation, hypotheses: Iterable[Relation], *, what: str, subject: str = "") -> Evidence:
    """Whether the claim follows from the hypotheses for all real values of the symbols (`symbolic.inequality`).

    PROVED with the multipliers of every case, multiplied out again here; REFUTED with an exact point at which every
    hypothesis holds and the claim does not; else UNKNOWN.  PROVED takes a point at which all hypotheses hold as well:
    from hypotheses that contradict each other anything would follow.
    """
    hypotheses = tuple(hypotheses)
    found = deduce(claim, hypotheses)
    figures = Deduced(text_of(claim), tuple(map(text_of, hypotheses)))
    if found.point is not None:
        example = _example(claim, found.point)
        shown = ", ".join(f"{name} = {value}" for name, value in example.values.items())
        finding = f"{what}: fails at {shown}: {example.left} against {example.right}"
        said = of_no_consequence(claim, hypotheses, found.point)
        return Evidence(
            Method.INEQUALITY, finding, Verdict.REFUTED, figures, subject=subject, example=example, statements=said
        )
    if not found.cases:
        return Evidence(Method.INEQUALITY, f"{what}: not decided", Verdict.UNKNOWN, figures, subject=subject)
    possible = satisfied(claim, hypotheses)
    if possible.point is None:
        reason = "contradict each other" if possible.cases else "are not known to hold anywhere"
        return Evidence(
            Method.INEQUALITY, f"{what}: the hypotheses {reason}", Verdict.UNKNOWN, figures, subject=subject
        )
    if possible.point:
        holds_at = {text_of(s): str(value) for s, value in possible.point.items()}
        figures = replace(figures, hypotheses_hold_at=holds_at)
    if not all(case.contradicts() for case in found.cases):
        raise DisagreementError(f"{what}: the multipliers do not multiply out, please report this")
    count = len(found.cases)
    finding = f"{what}: follows, by exact multipliers in {count} case{'s' if count > 1 else ''}"
    figures = replace(figures, cases=tuple(map(_written, found.cases)))
    said = of_inequality(claim, hypotheses, found, possible.point)
    return Evidence(Method.INEQUALITY, finding, Verdict.PROVED, figures, subject=subject, statements=said)


def _written(case: Case) -> Contradiction:
    """One contradiction: Σ multiplier · (value ≥ 0) with sum zero."""
    terms = (
        Term(str(factor), text_of(fact.value.as_expr()), "> 0" if fact.strict else "≥ 0", fact.name)
        for factor, fact in case.terms
    )
    return Contradiction(tuple(case.signs), tuple(terms))


def _example(claim: Relation, point: Any) -> Counterexample:
    claim = sympy.sympify(claim)  # type: ignore[assignment]
    sides = (claim.lhs, claim.rhs) if isinstance(claim, sympy.Rel) else ()
    left, right = (side.subs(point) for side in sides) if sides else (claim, sympy.true)
    inputs = {text_of(symbol): _number(value) for symbol, value in point.items()}
    names = "left side", "right side"
    return Counterexample(named(inputs), _number(left), _number(right), (str(left), str(right)), names)


def _number(value: Any) -> int | str:
    """Whole numbers as they are, fractions as text."""
    return int(value) if value.is_Integer else str(value)


# --- balls -----------------------------------------------------------------------------------------------------------


def enclosed(
    function: Callable[..., arb],
    box: Sequence[tuple[Any, Any]],
    *,
    above: Any = None,
    below: Any = None,
    what: str,
    boxes: int = BOXES,
    subject: str = "",
) -> Evidence:
    """Whether above < function(*point) < below all over a box; give one of the bounds or both.

    ``box`` is one pair (least, greatest) of exact numbers per argument; ``function`` gets one ball per argument and
    returns a ball, and must enclose every value on them.  Boxes are halved along their longest side until each is
    decided.  PROVED with the number of boxes; REFUTED with an exact point where a bound is violated; UNKNOWN if
    ``boxes`` do not suffice, as they cannot where a bound is attained or a value is not finite.

    Raises `InputError` for an empty box, for bounds that are no exact numbers, without a bound, and if the function
    returns something else than a ball.
    """
    try:
        sides = [(_fraction(low), _fraction(high)) for low, high in box]
        low, high = (None if bound is None else _fraction(bound) for bound in (above, below))
    except (TypeError, ValueError, OverflowError):
        sides, low, high = [], None, None
    if not sides or any(a > b for a, b in sides) or (low is None and high is None):
        raise InputError(
            f"got box {box}, above {above}, below {below}; wanted exact numbers, least ≤ greatest, and a bound"
        )
    shown = " and ".join(filter(None, (f"> {low}" if low is not None else "", f"< {high}" if high is not None else "")))
    with precision(PRECISION):
        count, undecided, outside = _subdivided(function, sides, low, high, boxes)
    figures = Boxes(tuple(f"[{a}, {b}]" for a, b in sides), shown, PRECISION, count)
    if outside is not None:
        at = {f"argument {k}": str(value) for k, value in enumerate(outside["point"], 1)}
        values = outside["value"], shown
        example = Counterexample(named(at), *values, exact=values, names=("value", "bound"))
        finding = f"{what}: not {shown} at {', '.join(at.values())}, where it is {outside['value']}"
        return Evidence(Method.BALLS, finding, Verdict.REFUTED, figures, subject=subject, example=example)
    if undecided:
        return Evidence(
            Method.BALLS, f"{what}: not decided with {count} boxes", Verdict.UNKNOWN, figures, subject=subject
        )
    return Evidence(Method.BALLS, f"{what}: {shown} on each of {count} boxes", Verdict.PROVED, figures, subject=subject)


def _fraction(number: Any) -> Fraction:
    """A whole number or a fraction; ValueError for anything else, such as a float, which is rounded."""
    if isinstance(number, bool) or not isinstance(number, Rational | str):
        raise ValueError(number)
    return Fraction(number)


Box = list[tuple[Fraction, Fraction]]
Bound = Fraction | None


def _subdivided(
    function: Callable[..., arb], box: Box, low: Bound, high: Bound, limit: int
) -> tuple[int, bool, dict[str, Any] | None]:
    """The number of boxes looked at, whether some are undecided, and a point outside the bounds if there is one."""
    todo, count = [box], 0
    while todo and count < limit:
        sides, count = todo.pop(), count + 1
        if _inside(_value(function, (_ball(a).union(_ball(b)) for a, b in sides)), low, high):
            continue
        middle = [(a + b) / 2 for a, b in sides]
        value = _value(function, map(_ball, middle))
        if _outside(value, low, high):
            return count, False, {"point": middle, "value": str(value)}
        todo += _halves(sides)
    return count, bool(todo), None


def _value(function: Callable[..., arb], arguments: Iterable[arb]) -> arb:
    value = function(*arguments)
    if not isinstance(value, arb):
        raise InputError(f"got {value!r} from the function; wanted a ball (flint.arb), for numbers enclose nothing")
    return value


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def _inside(value: arb, low: Bound, high: Bound) -> bool:
    return value.is_finite() and (low is None or value > _ball(low)) and (high is None or value < _ball(high))


def _outside(value: arb, low: Bound, high: Bound) -> bool:
    too_low, too_high = low is not None and value <= _ball(low), high is not None and value >= _ball(high)
    return value.is_finite() and (too_low or too_high)


def _halves(sides: Box) -> tuple[Box, Box]:
    """Two boxes, cut across the longest side."""
    k = max(range(len(sides)), key=lambda i: sides[i][1] - sides[i][0])
    low, high = sides[k]
    middle = (low + high) / 2
    return [*sides[:k], (low, middle), *sides[k + 1 :]], [*sides[:k], (middle, high), *sides[k + 1 :]]


def measured(
    actual: Callable[..., Any], bound: Callable[..., Any], inputs: Mapping[str, Any], *, what: str, subject: str = ""
) -> Evidence:
    """Whether actual(**inputs) ≤ bound(**inputs), two JAX functions with one number each, in ball arithmetic.

    AGREES if so (one input proves nothing), REFUTED if actual is greater, UNKNOWN if the balls overlap.  ``inputs`` are
    pytrees of numbers or arrays that float64 holds exactly (`InputError` otherwise).
    """
    arrays = {name: jax.tree.map(lambda x, n=name: held(n, x), value) for name, value in inputs.items()}
    values = [enclosure(lambda a, f=f: f(**a), arrays).item() for f in (actual, bound)]
    shown = [value.str(12, radius=False) for value in values]
    figures = Measured(shown[0], shown[1])
    if values[0] <= values[1]:
        finding = f"{what}: {shown[0]} is at most {shown[1]}"
        return Evidence(Method.BALLS, finding, Verdict.AGREES, figures, subject=subject)
    if not values[0] > values[1]:
        finding = f"{what}: {shown[0]} and {shown[1]} not told apart"
        return Evidence(Method.BALLS, finding, Verdict.UNKNOWN, figures, subject=subject)
    plain = jax.tree.map(lambda x: x.tolist(), arrays)
    exact = shown[0], shown[1]
    example = Counterexample(named(plain), *exact, exact=exact, names=("actual", "bound"))
    finding = f"{what}: {shown[0]} exceeds {shown[1]}"
    traces = [trace(lambda a, f=f: f(**a), arrays) for f in (actual, bound)]
    said = of_unequal(traces, jax.tree.leaves(arrays), (), "greater")
    return Evidence(Method.BALLS, finding, Verdict.REFUTED, figures, subject=subject, example=example, statements=said)
