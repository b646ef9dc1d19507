"""Scans of any length whose carries are sums: c(t + 1) = c(t) + g(t) makes c(t) = c(0) + Σ_{s<t} g(s).

The step is evaluated with carries that are new inputs.  Where the new carry less the old one, g, contains no carry, or
only those that are known already, the carry is known: by induction over t, for every t and every length.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.stored_control import scan_parameters
from uat_jax.errors import UnsupportedError
from uat_jax.indexed.array import Array, array, entry_of_input
from uat_jax.indexed.dimension import dimension
from uat_jax.indexed.polynomial import ONE, ZERO, Kind, Letter, Polynomial, fresh, of, replaced
from uat_jax.indexed.predicates import at_least_zero
from uat_jax.indexed.steps import CONTROL, Evaluation, Steps, flattened
from uat_jax.indexed.sums import total
from uat_jax.indexed.workspace import workspace

UNKNOWN = "carry"
"""How the names of carries begin that are not known."""


def scanned(equation: JaxprEqn, operands: Sequence[Array]) -> list[Array]:
    """The last carries, and what every step returns.

    Raises:
        UnsupportedError: a carry that is needed is no sum.
    """
    parameters = scan_parameters(equation)
    body: ClosedJaxpr = parameters["jaxpr"]
    first, second = parameters["num_consts"], parameters["num_consts"] + parameters["num_carry"]
    constants, start, rows = operands[:first], operands[first:second], operands[second:]
    length = dimension(parameters["length"])
    time = fresh(length)
    at = length - 1 - of(time) if parameters["reverse"] else of(time)
    slices = [_row(x, at) for x in rows]
    program = flattened(body)
    carries, last = [_unknown(x) for x in start], [_refused(x) for x in start]
    for _ in start:
        after, found = _step(program, [*constants, *carries, *slices]), 0
        for number, (first_value, carry) in enumerate(zip(start, list(carries), strict=True)):
            added = None if _is_known(carry) else _added(carry, after[number])
            if added is not None:
                carries[number], last[number] = _sums(first_value, added, time)
                found += 1
        if not found:
            break
    after = _step(program, [*constants, *carries, *slices])
    returned = [_in_time(x, time, length, parameters["reverse"]) for x in after[len(start) :]]
    return [*last, *returned]


def _step(program: Steps, operands: Sequence[Array]) -> list[Array]:
    return Evaluation(program, dict(zip(program.inputs, operands, strict=True))).outputs()


def _row(x: Array, at: Polynomial) -> Array:
    """The slice of an array that a step is given."""
    place = ZERO if x.lengths[0] == ONE else at
    return array(x.lengths[1:], x.kind, lambda indices: x.at((place, *indices)), x.sign, x.defined)


def _unknown(start: Array) -> Array:
    return entry_of_input(f"{UNKNOWN} {next(workspace().numbers)}", start.lengths, start.kind)


def _is_known(x: Array) -> bool:
    """Whether no carry that is not known stands in an array."""
    if not isinstance(x.body, Polynomial):
        return False
    return not any(a.kind is Kind.ENTRY and a.name.startswith(UNKNOWN) for a in x.body.within)


def _added(carry: Array, after: Array) -> Array | None:
    """What a step adds to a carry; None if that depends on carries that are not known."""
    if carry.kind != "f":
        return None
    added = array(carry.lengths, "f", lambda indices: after.at(indices) - carry.at(indices), 0, after.defined)
    return added if _is_known(added) else None


def _sums(start: Array, added: Array, time: Letter) -> tuple[Array, Array]:
    """start + Σ_{s<t} added(s) at the time t, and at the end."""
    earlier = fresh(time.length)

    def at_time(indices: Sequence[Polynomial]) -> Polynomial:
        step = replaced(added.at(indices), {time: of(earlier)})
        return start.at(indices) + total(at_least_zero(of(time) - of(earlier) - 1) * step, [earlier])

    def at_end(indices: Sequence[Polynomial]) -> Polynomial:
        return start.at(indices) + total(replaced(added.at(indices), {time: of(earlier)}), [earlier])

    defined = start.defined and added.defined
    return array(start.lengths, "f", at_time, 0, defined), array(start.lengths, "f", at_end, 0, defined)


def _in_time(x: Array, time: Letter, length: Polynomial, reverse: bool) -> Array:
    """What all steps return, one behind the other; in a reverse scan the first step returns the last entry."""

    def entry(indices: Sequence[Polynomial]) -> Polynomial:
        if not _is_known(x):
            raise UnsupportedError("a scan whose carry is no sum is not followed at all sizes")
        moment = length - 1 - indices[0] if reverse else indices[0]
        return replaced(x.at(indices[1:]), {time: moment})

    return array((length, *x.lengths), x.kind, entry, x.sign, x.defined)


def _refused(x: Array) -> Array:
    error = UnsupportedError("a scan whose carry is no sum is not followed at all sizes")
    return Array(x.lengths, x.kind, (), error, 0, False)


CONTROL["scan"] = scanned
