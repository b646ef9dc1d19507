"""A symbolic proof confirmed by other methods: both sides lowered to JAX, compared in prime fields, float64 and balls.

The weights and the argument are the inputs, and the symbolic dimensions get small different sizes.  In prime fields σ
becomes a function without any symmetry (log Γ, which they take for an unknown function); in float64 and balls it is the
logistic function, which is defined everywhere.  Where one method proves what another finds different, the run stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.agreement import agreement
from uat_jax.decide.effort import ERROR
from uat_jax.decide.figures import Fields, FieldsAtSizes, FieldsOfSteps
from uat_jax.decide.identity import fields_of, identity
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.prime_fields import FieldComparison
from uat_jax.decide.sampling import sample
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import DisagreementError, InputError, ShapeError, UatJaxError, UnsupportedError
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.normal_form import Definitions
from uat_jax.symbolic.program import Program, distinct_letters
from uat_jax.symbolic.step import Step

POINTS, DIGITS = 1, 30

Activation = Callable[[jax.Array], jax.Array]

Sizes = dict[Any, int]


def proved(steps: Iterable[Step], *, method: Method, what: str) -> Iterator[Evidence]:
    """The proof of a chain of equations, and its confirmation where there is one.

    Raises `DisagreementError` if the steps are proved, and another method finds a difference; `ShapeError` or
    `InputError` for definitions that cannot be (`check_definitions`).
    """
    steps = tuple(steps)
    for step in steps:
        check_definitions(step.where)
    proof = prove(steps, method=method, what=what)
    yield proof
    confirmed = confirm_steps(steps, what=f"of {len(steps)} steps")
    if confirmed is not None:
        yield agreeing(proof, confirmed)


def check_definitions(where: Definitions | Mapping[m.Letter, m.Expression]) -> None:
    """Raise `ShapeError` if a letter and what it stands for have two shapes, `InputError` if they go round in a circle.

    Only a finite list can be looked through; a rule that defines letters has to be right by itself.
    """
    if not isinstance(where, Mapping):
        return
    for letter, expression in where.items():
        if not m.same_shape(letter, expression):
            shapes = f"{m.shape_text(letter)} and {m.shape_text(expression)}"
            raise ShapeError(f"the letter {letter} and its definition {expression} have the shapes {shapes}")
    waiting = {letter: set(distinct_letters(expression)) & where.keys() for letter, expression in where.items()}
    while ready := [letter for letter, needed in waiting.items() if not needed & waiting.keys()]:
        for letter in ready:
            del waiting[letter]
    if waiting:
        raise InputError(f"the definition of {next(iter(waiting))} contains that letter again")


def agreeing(proof: Evidence, confirmed: Evidence) -> Evidence:
    """The confirmation of a proof.  Raises `DisagreementError` if it finds a difference where the proof finds none."""
    if proof.verdict is Verdict.PROVED and confirmed.verdict is not Verdict.CERTIFIED:
        sides = f"{proof.method}: {proof.finding}; {confirmed.method}: {confirmed.finding}"
        raise DisagreementError(f"two methods contradict each other, please report this: {sides}")
    return confirmed


def confirm(left: Program, right: Program, *, what: str) -> Evidence:
    """CERTIFIED if prime fields find both programs equal and their values agree, UNKNOWN if they find them different.

    That is about the sizes in its figures, and says nothing of others.
    Raises `DisagreementError` if prime fields find them equal and their values in float64 or balls are apart,
    `ShapeError` if their results have two shapes.
    """
    check_results(left, right)
    sizes, found, apart = _confirmed(_Pair(left, right))
    shown = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
    named = {str(symbol): size for symbol, size in sizes.items()}
    figures = FieldsAtSizes(*fields_of(found), sizes=named)
    at = f" at {shown}" if shown else ""
    if not found.within(ERROR):
        return Evidence(Method.PRIME_FIELDS, f"{what}: different{at}", Verdict.UNKNOWN, figures)
    if apart:
        raise DisagreementError(f"{what}{at}: equal in prime fields, but {apart}; please report this")
    finding = (
        f"{what}: equal{at}, except with probability 2^{found.log2_error:.0f}; "
        f"float64 and balls agree ({DIGITS} digits at {POINTS} random inputs)"
    )
    return Evidence(Method.PRIME_FIELDS, finding, Verdict.CERTIFIED, replace(figures, digits=DIGITS, points=POINTS))


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two programs; a pair of the same lines in the same order is the same pair."""

    left: Program
    right: Program

    @cached_property
    def lines(self) -> tuple[Any, ...]:
        """What both consist of."""
        return *(tuple(side.items()) for side in (self.left, self.right)), self.left.result, self.right.result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pair) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)


@lru_cache(maxsize=1 << 10)  # rows share equations
def _confirmed(pair: _Pair) -> tuple[Sizes, FieldComparison, str]:
    """The sizes, what prime fields find at them, and what speaks against it if they find both programs equal."""
    sizes, traced = _lowered(pair.left, pair.right)
    found = identity(*traced, thoroughly=False)
    return sizes, found, _apart(*map(with_logistic, traced)) if found.within(ERROR) else ""


def check_results(left: Program, right: Program) -> None:
    """Raise `ShapeError` unless the results of both programs have one shape."""
    if not m.same_shape(left.result, right.result):
        shapes = f"{m.shape_text(left.result)} and {m.shape_text(right.result)}"
        raise ShapeError(f"the results have the shapes {shapes}; wanted one shape")


def equal_at(left: Program, right: Program, sizes: Sizes) -> bool:
    """Whether prime fields find both programs equal at given sizes; True where they do not fit at such sizes."""
    letters = tuple(dict.fromkeys((*left.inputs, *right.inputs)))
    try:
        sides = programs_at(left, right, letters, sizes, jax.lax.lgamma)
    except (UatJaxError, TypeError, ValueError):
        return True
    return identity(*sides, thoroughly=False).within(ERROR)


def _apart(left: ClosedJaxpr, right: ClosedJaxpr) -> str:
    """How values of two programs differ in float64 or in balls; "" if they agree in both."""
    seen = sample(left, right, seed=0).seen
    if seen.apart or seen.mismatched or seen.reason:
        return seen.reason or "values in float64 are apart"
    found = agreement(left, right, points=POINTS, digits=DIGITS)
    return "" if found.agrees else f"in balls {found.reason}"


def confirm_steps(steps: Iterable[Step], *, what: str) -> Evidence | None:
    """CERTIFIED if prime fields find both sides of every equation of a chain equal, UNKNOWN with the first they do not.

    None if none of the equations can be lowered, such as sums over a symbolic range.
    """
    found = []
    for step in steps:
        programs = sides(step)
        if programs is not None:
            try:
                found.append(confirm(*programs, what=step.name))
            except DisagreementError:
                raise
            except UatJaxError:
                continue
    if not found:
        return None
    wrong = next((f for f in found if f.verdict is not Verdict.CERTIFIED), None)
    if wrong is not None:
        return wrong
    fields = [f.figures for f in found if isinstance(f.figures, Fields)]
    worst = max(of.log2_error for of in fields)
    finding = f"{what}: {len(found)} equations at small sizes, each equal except with probability 2^{worst:.0f}"
    theorem, confirmed = all(of.theorem for of in fields), tuple(f.finding for f in found)
    figures = FieldsOfSteps(worst, theorem, fields[0].limbs, confirmed)
    return Evidence(Method.PRIME_FIELDS, finding, Verdict.CERTIFIED, figures)


def sides(step: Step) -> tuple[Program, Program] | None:
    """Both sides of an equation as programs over its letters; None where the definitions are no finite list."""
    if not isinstance(step.where, Mapping):
        return None
    left, right = (_program(side, step.where, name) for side, name in ((step.left, "left"), (step.right, "right")))
    return None if left is None or right is None else (left, right)


def _program(side: m.Expression, where: Mapping[m.Letter, m.Expression], name: str) -> Program | None:
    result = m.Letter(f"{name} side", *side.shape)
    used, todo = set(), list(distinct_letters(side))
    while todo:
        letter = todo.pop()
        if letter in where and letter not in used:
            used.add(letter)
            todo += distinct_letters(where[letter])
    try:
        return Program({**{letter: where[letter] for letter in where if letter in used}, result: side}, result)
    except UatJaxError:
        return None


Sides = tuple[ClosedJaxpr, ClosedJaxpr]


def with_logistic(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with the logistic function in the place of log Γ: only σ is log Γ in what is lowered from letters.

    Both have one argument and one value of its shape and dtype, so that no other equation changes; a program without
    log Γ is returned as it is.
    """
    equations = program.jaxpr.eqns
    changed = [_logistic(equation) for equation in equations]
    if all(new is old for new, old in zip(changed, equations, strict=True)):
        return program
    return program.replace(jaxpr=program.jaxpr.replace(eqns=changed))


def _logistic(equation: JaxprEqn) -> JaxprEqn:
    if equation.primitive.name == "lgamma":
        return equation.replace(primitive=jax.lax.logistic_p, params=_logistic_parameters())
    parts = {name: part for name, part in equation.params.items() if isinstance(part, ClosedJaxpr)}
    changed = {name: new for name, part in parts.items() if (new := with_logistic(part)) is not part}
    return equation.replace(params={**equation.params, **changed}) if changed else equation


@cache
def _logistic_parameters() -> dict[str, Any]:
    """What JAX itself gives that primitive."""
    (equation,) = jax.make_jaxpr(jax.lax.logistic)(jnp.float32(0)).eqns
    return equation.params


def _lowered(left: Program, right: Program) -> tuple[Sizes, Sides]:
    """The first sizes that fit, and both programs as jaxprs of the same letters there, with log Γ for σ."""
    letters = tuple(dict.fromkeys((*left.inputs, *right.inputs)))
    if not letters:
        raise UnsupportedError("neither side has an input; there is nothing to evaluate them at")
    symbols = sorted({s for program in (left, right) for e in program.values() for s in _dimensions(e)}, key=str)
    count = len(symbols)
    reason = ""
    for numbers in (range(2, 2 + count), [2 + 2 * (k % 2) for k in range(count)], [2] * count):
        sizes = dict(zip(symbols, numbers, strict=True))
        if not slices_exist((left, right), sizes):
            reason = f"a slice is beyond the last at {sizes}"
            continue
        try:
            traced = programs_at(left, right, letters, sizes, jax.lax.lgamma)
        except (ShapeError, TypeError, ValueError) as error:
            reason = str(error)
        except UatJaxError as error:  # such as a head without a row: no sizes are of help
            reason = str(error)
            break
        else:
            return sizes, traced
    raise UnsupportedError(f"no sizes at which both sides can be lowered: {reason}")


def written_apart(letters: Iterable[m.Letter]) -> bool:
    """Whether no two letters are printed alike, such as A_1 and a letter of the name "A_1"."""
    names = list(map(str, letters))
    return len(set(names)) == len(names)


def slices_exist(programs: Iterable[Program], sizes: Sizes) -> bool:
    """Whether every E_i with a given i is the i-th of so many slices: at h = 1 there is no E_2."""
    picked = {E for program in programs for e in program.values() for E in _selections(e)}
    at = {symbol: sympy.Integer(size) for symbol, size in sizes.items()}
    beyond = (E.args[0] * E.shape[1] - E.shape[0] for E in picked)
    return not any(sympy.sympify(excess).xreplace(at).is_positive for excess in beyond)


@lru_cache(maxsize=1 << 16)
def _dimensions(e: m.Expression) -> frozenset[Any]:
    """The symbols in the shapes of an expression and its parts, those of constants such as I_N included."""
    return frozenset().union(*(size.free_symbols for size in e.shape), *map(_dimensions, e.operands))


@lru_cache(maxsize=1 << 16)
def _selections(e: m.Expression) -> frozenset[m.Selection]:
    """The slices that an expression picks."""
    return frozenset(e.atoms(m.Selection))


def programs_at(
    left: Program, right: Program, letters: Sequence[m.Letter], sizes: Sizes, activation: Activation
) -> Sides:
    """Both programs at given sizes as jaxprs of the matrices of the letters, in this order.

    Raises:
        UnsupportedError: two letters are written alike.
        ValueError: a dimension is no whole number there.
    """
    if not written_apart(letters):
        raise UnsupportedError("two letters are written alike, and arrays are found by what is written")
    specs = [jax.ShapeDtypeStruct(tuple(_whole(s, sizes) for s in l.shape), jnp.float32) for l in letters]
    of = lambda program: jax.make_jaxpr(lambda *matrices: _value(program, letters, matrices, sizes, activation))(*specs)
    return of(left), of(right)


def _whole(dimension: Any, sizes: Sizes) -> int:
    """Its size; ValueError if that is no whole number, as M/h may be."""
    size = sympy.sympify(sympy.sympify(dimension).xreplace(sizes))
    if not size.is_Integer:
        raise ValueError(f"{dimension} is {size}")
    return int(size)


def _value(
    program: Program, letters: Sequence[m.Letter], matrices: Sequence[jax.Array], sizes: Sizes, activation: Activation
) -> jax.Array:
    """The program's result; it may use fewer letters than there are matrices."""
    argument, *_ = letters
    lowered = Lowered(program, argument, activation, dimensions=sizes)
    arrays = dict(zip(letters, matrices, strict=True))
    weights = {str(letter): arrays[letter] for letter in program.inputs if letter != argument}
    return lowered.traced(weights, arrays[argument])
