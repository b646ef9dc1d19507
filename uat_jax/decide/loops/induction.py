"""A scan against a closed form of its carry, for every number of steps: induction with the steps' number symbolic.

The closed form is made a program C of accumulators and of the number t of steps (`prefix.py`).  It is the carry after t
steps, for all t ≥ 1 and all inputs, if

    base    step(initial, x) = C(accumulators after the row x alone, 1)
    step    step(C(A, t), x) = C(accumulators A after one more row x, t + 1)    for all A, x and t ≥ 1

Both are ordinary comparisons of two small programs in which A, x and t are inputs (docs/soundness.md §18).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.certificate import Certificate, environment
from uat_jax.decide.domain import REALS, Domains, Interval, domain_of, with_shape
from uat_jax.decide.effort import ERROR, Effort, deadline
from uat_jax.decide.equivalence import Stored
from uat_jax.decide.loops.along import Along, Moving
from uat_jax.decide.loops.few_steps import FewSteps, Sides, after_few_steps, with_rows
from uat_jax.decide.loops.pieces import PieceError, Pieces, joint
from uat_jax.decide.loops.prefix import Prefix
from uat_jax.decide.loops.scan_programs import STEPS, ScanPrograms, hypotheses
from uat_jax.decide.loops.strict import all_strict
from uat_jax.decide.loops.walk import Value, Walk, without_dead
from uat_jax.decide.loops.walk import traced as retraced
from uat_jax.decide.loops.whole_numbers import LARGEST_SIZE
from uat_jax.decide.loops_evidence import evidence_of
from uat_jax.decide.prime_fields import PROBE, PrimeFields
from uat_jax.decide.specification import is_real, is_variable, is_whole, name_of, same_outputs, traced
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decide.watched_sizes import watched
from uat_jax.devices import numerics
from uat_jax.errors import BudgetError, InputError, MemoryLimitError, UnsupportedError
from uat_jax.numbers.prime_fields.facts import Defined
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import ZeroDivisorError
from uat_jax.typing import PyTree

KIND = "scan"
"""The id of the claim in a certificate of a scan and its closed form."""

Type = jax.ShapeDtypeStruct

POSITIVE = Interval(0.0, math.inf, open=True)


def prove_scan(
    step: Callable[..., Any],
    closed_form: Callable[..., Any],
    initial: Any,
    xs: Any,
    *parameters: Any,
    error: float = ERROR,
    seed: int = 0,
    budget: float | None = None,
) -> Certificate:
    """Decide whether a closed form is the carry of a scan, for every number of steps and all inputs, by induction.

    The claim is `jax.lax.scan(step, initial, xs)[0] == closed_form(initial, xs)` for xs of any length t ≥ 1, with the
    parameters behind the arguments of both functions.

    Args:
        step: step(carry, x, *parameters) -> (carry, output), as for `jax.lax.scan`; outputs are not looked at.
        closed_form: closed_form(initial, xs, *parameters) -> the carry after all rows of xs.  It is traced with a
            symbolic number of rows, and may use sums, maxima, minima, products and scans over them.
        initial: the carry before the first step, a pytree of arrays, whose values count, or of
            `jax.ShapeDtypeStruct`, for any real numbers.
        xs: a pytree of `jax.ShapeDtypeStruct` with one leading axis of steps; its size does not count.
        *parameters: pytrees of `jax.ShapeDtypeStruct` for what stays the same in all steps.  Leaves of xs and of the
            parameters may be `positive(spec)`, `nonnegative(spec)` or `interval(spec, low, high)`.
        error, seed, budget: as for `certify`.

    Returns:
        A certificate: PROVED, or CERTIFIED with the chance of error, for every t ≥ 1; REFUTED with an input at which
        the whole differs after a few steps; or UNKNOWN, and which of base and step is not shown.

    Raises:
        InputError, UnsupportedError: the functions or specs cannot be used; the message says what to do.

    Example:
        >>> step = lambda carry, x: (carry + x, None)
        >>> xs = jax.ShapeDtypeStruct((8,), jnp.float32)
        >>> bool(uj.prove_scan(step, lambda initial, xs: initial + xs.sum(), jnp.float32(0), xs))
        True
    """
    effort = Effort(error, seed, deadline(budget))
    sides = Sides(step, closed_form, initial, xs, parameters)
    programs = programs_of(sides)
    found = Induction(programs, sides).decided(effort)
    return certificate_of(claim_of(sides, programs), programs, found, effort)


def certificate_of(claim: Mapping[str, Any], programs: ScanPrograms, found: Evidence, effort: Effort) -> Certificate:
    """The certificate of what was found."""
    return Certificate(
        claim=dict(claim),
        expected=Verdict.CERTIFIED,
        verdict=found.verdict,
        passes=found.verdict in (Verdict.PROVED, Verdict.CERTIFIED),
        evidence=(found,),
        assumptions=(*hypotheses(claim["inputs"], programs.initial), *found.assumptions),
        settings={"error": effort.error, "seed": effort.seed},
        environment={**environment(), **numerics()},
    )


def claim_of(sides: Sides, programs: ScanPrograms) -> dict[str, Any]:
    """What a certificate keeps of the question."""

    def text(leaf: PyTree, *first: str) -> str:
        return f"{leaf.dtype}[{','.join([*first, *map(str, leaf.shape)])}]{domain_of(leaf).text}"

    return {
        "id": KIND,
        "left": f"scan of {name_of(sides.step)}",
        "right": name_of(sides.closed_form),
        "inputs": [
            *(text(leaf) for leaf in programs.initial),
            *(text(leaf, STEPS) for leaf in programs.row),
            *(text(leaf) for leaf in jax.tree.leaves(sides.parameters)),
        ],
        "symbols": [STEPS],
        "programs": Stored(programs.as_data),
    }


def programs_of(sides: Sides) -> ScanPrograms:
    """A step and a closed form as programs.

    Raises:
        InputError: a function that cannot be called, or is no step; a closed form of another tree; xs without rows.
    """
    _check(sides)
    row = jax.tree.map(lambda leaf: with_shape(leaf, tuple(leaf.shape[1:])), sides.xs)
    carry = jax.tree.map(lambda leaf: Type(leaf.shape, leaf.dtype), sides.initial)
    parameters = tuple(leaf for leaf in jax.tree.leaves(sides.parameters) if is_variable(leaf))
    step, closed_form = _step_program(sides, carry, row), _closed_program(sides, carry)
    initial, rows = (tuple(jax.tree.leaves(tree)) for tree in (sides.initial, row))
    return ScanPrograms(step, closed_form, initial, rows, parameters)


def _check(sides: Sides) -> None:
    for function, what in ((sides.step, "step"), (sides.closed_form, "closed form")):
        if not callable(function):
            raise InputError(f"got a {type(function).__name__} for the {what}; pass a function")
    leaves = jax.tree.leaves(sides.xs)
    if not leaves or not all(hasattr(leaf, "shape") and leaf.shape for leaf in leaves):
        raise InputError("got xs without an axis of steps; pass a jax.ShapeDtypeStruct such as f32[t, d] for each")
    if any(not hasattr(leaf, "dtype") or not is_real(leaf) for leaf in leaves):
        raise InputError("got xs of whole numbers; pass a jax.ShapeDtypeStruct of floats for each")
    if any(not hasattr(leaf, "dtype") for leaf in jax.tree.leaves(sides.initial)):
        raise InputError("got an initial carry that is no array; pass arrays or jax.ShapeDtypeStruct")
    fixed = [leaf for leaf in jax.tree.leaves((sides.initial, sides.parameters)) if hasattr(leaf, "shape")]
    shapes = [*(leaf.shape[1:] for leaf in leaves), *(leaf.shape for leaf in fixed)]
    symbolic = [str(size) for shape in shapes for size in shape if jax.export.is_symbolic_dim(size)]
    if symbolic:
        raise InputError(f"got the symbolic size {symbolic[0]}; only the number of steps is symbolic, give the others")
    if any(not jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(sides.initial)):
        raise InputError("got an initial carry of whole numbers; carry floats, and count the steps by those of xs")
    if any(map(is_whole, jax.tree.leaves(sides.parameters))):
        raise InputError("got parameters of whole numbers without values; pass arrays, whose values are then fixed")
    variables = [*leaves, *filter(is_variable, jax.tree.leaves(sides.parameters))]
    others = [leaf.dtype for leaf in variables if not jnp.issubdtype(leaf.dtype, jnp.floating)]
    if others:
        raise InputError(f"got {others[0]} among xs and parameters; pass floats, a complex number as its two parts")


def _step_program(sides: Sides, carry: Any, row: Any) -> ClosedJaxpr:
    def after(carry: jax.Array, x: jax.Array, *parameters: Any) -> jax.Array:
        found = sides.step(carry, x, *parameters)
        if not isinstance(found, tuple) or len(found) != 2:
            got = f"{name_of(sides.step)} is no step: it returns a {'tuple' if isinstance(found, tuple) else 'carry'}"
            raise InputError(f"{got} alone; return the pair (carry, output), as for jax.lax.scan")
        return found[0]

    after.__name__ = name_of(sides.step)
    program, outputs = traced(after, (carry, row, *sides.parameters))
    _same_tree(carry, name_of(sides.step), "is no step: its carry", outputs)
    return program


def _closed_program(sides: Sides, carry: Any) -> ClosedJaxpr:
    (steps,) = jax.export.symbolic_shape(STEPS)
    with watched(steps):
        found, outputs = traced(sides.closed_form, (carry, with_rows(sides.xs, steps), *sides.parameters))
    _same_tree(carry, name_of(sides.closed_form), "is no closed form of the carry: its result", outputs)
    return found


def _same_tree(carry: Any, name: str, what: str, outputs: Any) -> None:
    given = jax.tree.map(lambda leaf: Type(leaf.shape, leaf.dtype), outputs)
    try:
        same_outputs(carry, given)
    except InputError:
        shown = lambda tree: jax.tree.map(lambda leaf: f"{leaf.dtype}{list(leaf.shape)}", tree)
        raise InputError(f"{name} {what} is {shown(given)}; wanted that of initial, {shown(carry)}") from None


@dataclass
class Induction:
    """The proof for a scan and a closed form of its carry; `few`: both after a few steps."""

    programs: ScanPrograms
    few: FewSteps

    def decided(self, effort: Effort) -> Evidence:
        """The evidence about every number of steps."""
        try:
            return self._proved(effort)
        except BudgetError as error:
            return Evidence(Method.BUDGET, str(error), Verdict.UNKNOWN)
        except MemoryLimitError as error:
            return Evidence(Method.MEMORY, str(error), Verdict.UNKNOWN)
        except (PieceError, UnsupportedError, ZeroDivisorError) as error:
            return after_few_steps(self.few, effort, str(error))

    def _proved(self, effort: Effort) -> Evidence:
        exact = Effort(effort.error, effort.seed, effort.deadline, effort.laws)
        written = Pieces(exact)
        try:
            return self._by_induction(written, effort)
        except (PieceError, UnsupportedError):
            if not written.readable:
                raise
        return self._by_induction(Pieces(exact, meant=True, tested=written.tested), effort)

    def _by_induction(self, pieces: Pieces, effort: Effort) -> Evidence:
        """Base and step."""
        accumulators = self._accumulators
        of = self.programs
        known = len(of.types)
        types = [*of.types, *accumulators, Type((), np.float32)]
        signs = self._signs(pieces)
        domains = Domains((*of.domains, *signs, Interval(1.0)))

        def stepped(arguments: Sequence[Value], carry: Sequence[Value]) -> list[Value]:
            _, row, parameters = of.arguments(arguments[:known])
            return Walk().closed(of.step, [*carry, *row, *parameters])

        def split(arguments: Sequence[Value]) -> tuple[list[Value], Value]:
            return list(arguments[known:-1]), arguments[-1]

        def closed(*arguments: Value) -> list[Value]:
            return self._closed(arguments[:known], *split(arguments))[0]

        def after(*arguments: Value) -> list[Value]:
            return stepped(arguments, closed(*arguments))

        def predicted(*arguments: Value) -> list[Value]:
            given, count = split(arguments)
            _, walk = self._closed(arguments[:known], given, count)
            now = [x for accumulator in walk.accumulators for x in accumulator.after]
            return self._closed(arguments[:known], now, lax.add(count, np.float32(1)))[0]

        def started(*arguments: Value) -> list[Value]:
            return stepped(arguments, of.arguments(arguments)[0])

        def first(*arguments: Value) -> list[Value]:
            _, walk = self._closed(arguments, None, _no_steps())
            now = [x for accumulator in walk.accumulators for x in accumulator.first]
            return self._closed(arguments, now, lax.add(_no_steps(), np.float32(1)))[0]

        own = Domains(of.domains)
        pieces.equal("base: one step from the initial carry", [started, first], of.types, own)
        pieces.equal("step: one more step from the closed form", [after, predicted], types, domains)
        defined = pieces.total(lambda *a: [*started(*a), *first(*a)], of.types, own) and pieces.total(
            lambda *a: [*closed(*a), *after(*a), *predicted(*a)], types, domains
        )
        if not defined and not (all_strict(of.step) and all_strict(of.closed_form)):
            raise PieceError("the carry may be undefined for some inputs, and a decision could hide that")
        if not defined and not self.few.are_defined_somewhere(effort):
            raise PieceError("no input is found at which the scan and the closed form are defined")
        found = evidence_of(pieces, effort)
        assumed = [*found.assumptions, Assumption(AssumptionKind.SYMBOLIC_SIZES)]
        if self._bounded:
            assumed.append(Assumption(AssumptionKind.LARGEST_SIZE, {"largest": LARGEST_SIZE}))
        finding = f"for every number of steps from 1: {found.finding}"
        return dataclasses.replace(found, finding=finding, assumptions=tuple(assumed))

    def _closed(
        self, inputs: Sequence[Value], given: Sequence[Value] | None, count: Value
    ) -> tuple[list[Value], Prefix]:
        """The closed form of given accumulators after `count` rows, and the walk that found it."""
        initial, row, parameters = self.programs.arguments(inputs)
        walk = Prefix(given, count)
        rows = [Along(0, ((None, x),)) for x in row]
        found = walk.closed(self.programs.closed_form, [*initial, *rows, *parameters])
        if any(isinstance(value, Along) for value in found):
            raise UnsupportedError("the closed form returns one row for every step; wanted the carry after all of them")
        return [x.value if isinstance(x, Moving) else jnp.asarray(x) for x in found], walk

    @cached_property
    def _first_walk(self) -> tuple[list[Type], bool]:
        """The types of all accumulators, and whether whole numbers of very many steps may wrap around."""
        found: list[Prefix] = []

        def run(*arguments: Value) -> list[Value]:
            found.append(self._closed(arguments, None, _no_steps())[1])
            return []

        retraced(run, self.programs.types)
        (walk,) = found
        return [t for accumulator in walk.accumulators for t in accumulator.types], walk.bounded

    @property
    def _accumulators(self) -> list[Type]:
        return self._first_walk[0]

    @property
    def _bounded(self) -> bool:
        return self._first_walk[1]

    def _signs(self, pieces: Pieces) -> list[Interval]:
        """What accumulators range over: after one row or more a sum of positive rows is positive.

        Raises:
            UnsupportedError: a number that may be negative is raised to a power that depends on t.
        """
        of: list[bool] = []

        def run(*arguments: Value) -> list[Value]:
            _, walk = self._closed(arguments[:-1], None, arguments[-1])  # rows may depend on their numbers
            of[:] = [accumulator.reduces for accumulator in walk.accumulators for _ in accumulator.types]
            return [*(x for accumulator in walk.accumulators for x in accumulator.first), *walk.bases]

        program = without_dead(retraced(run, [*self.programs.types, Type((), np.float32)]))
        if not program.jaxpr.outvars:
            return []
        program, _, within = joint(program, program, domains=Domains((*self.programs.domains, Interval(0.0))))
        effort = pieces.effort
        fields = PrimeFields(program, program, effort.seed, effort.laws, effort.deadline, domains=within)
        drawn = fields.draw((PROBE,) * (fields.depth.plain + 1), 0, effort.laws - {"exponential form"})
        for base in drawn.left[len(of) :]:
            if _sign(base) != POSITIVE:
                raise UnsupportedError(
                    "the closed form raises a number to a power that depends on the number of steps, and that number "
                    "may be negative; pass uj.positive(spec) for it"
                )
        return [_sign(x) if reduces else REALS for x, reduces in zip(drawn.left, of, strict=False)]


def _no_steps() -> Value:
    """0 as a float of the trace, so that a walk from it is like any other."""
    return lax.convert_element_type(np.int32(0), np.float32)


def _sign(number: Number) -> Interval:
    """An interval that holds the number and all sums, products, maxima and minima of numbers of its sign."""
    if number.facts is not None and number.facts.positive.all() and number.facts.defined is Defined.ALWAYS:
        return POSITIVE
    return Interval(0.0) if number.nonnegative else REALS
