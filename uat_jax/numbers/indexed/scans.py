"""Scans of any length: carries that are sums, products or maxima, and others.

c(t + 1) = c(t) + g(t) makes c(t) = c(0) + Σ_{s<t} g(s), c(t)·g(t) makes c(0)·∏_{s<t} g(s), and max(c(t), g(t)) makes
max(c(0), max_{s<t} g(s)).

The step is evaluated with carries that are new inputs.  Where g contains no carry, or only those that are known
already, the carry is known: by induction over t, for every t and every length.  Any other
carry is an array of its own, named by the normal forms of its first value and of the step, of all carries that it
depends on: two such arrays of one name have the same entries at every time, by the same induction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.stored_control import scan_parameters
from uat_jax.numbers.indexed.array import Array, array, entry_of_input
from uat_jax.numbers.indexed.bounds import split_affine
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.elementwise import plain, times
from uat_jax.numbers.indexed.functions import mask, maximum
from uat_jax.numbers.indexed.infinities import DIVIDING
from uat_jax.numbers.indexed.long_products import product
from uat_jax.numbers.indexed.maxima import greatest, is_finite
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    digest,
    fresh,
    index,
    made,
    of,
    replaced,
)
from uat_jax.numbers.indexed.predicates import at_least_zero, split_by_size
from uat_jax.numbers.indexed.steps import CONTROL, Evaluation, Steps, flattened
from uat_jax.numbers.indexed.sums import total
from uat_jax.numbers.indexed.workspace import workspace

UNKNOWN = "carry"
"""How the names of carries begin that are not known."""


def scanned(equation: JaxprEqn, operands: Sequence[Array]) -> list[Array]:
    """The last carries, and what every step returns.

    Raises:
        UnsupportedError: a carry that is needed is neither of them.
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
    _say_which_are_open(program, constants, start, carries, slices)
    _say_which_stay(program, constants, start, carries, slices)
    for _ in start:
        after, found = _step(program, [*constants, *carries, *slices]), 0
        for number, (first_value, carry) in enumerate(zip(start, list(carries), strict=True)):
            made_of = None if _is_known(carry) else _accumulated(first_value, carry, after[number], time)
            if made_of is not None:
                for x in made_of:
                    x.open = carry.open
                carries[number], last[number] = made_of
                found += 1
        if not found:
            break
    for number, (array_of, at_end) in _opaque(program, constants, start, carries, slices, time).items():
        carries[number], last[number] = array_of, at_end
    after = _step(program, [*constants, *carries, *slices])
    returned = [_in_time(x, time, length, parameters["reverse"]) for x in after[len(start) :]]
    return [*last, *returned]


def _say_which_are_open(
    program: Steps,
    constants: Sequence[Array],
    start: Sequence[Array],
    carries: Sequence[Array],
    slices: Sequence[Array],
) -> None:
    """Mark the carries that may be infinite for inputs of positive measure, at first or behind a step."""
    for carry, first_value in zip(carries, start, strict=True):
        carry.open = first_value.open
    names = {step.equation.primitive.name for step in program.steps}
    given = any(x.open for x in (*constants, *start, *slices))
    while given or names & (DIVIDING | CONTROL.keys()):
        after = _step(program, [*constants, *carries, *slices])
        new = [carry for carry, x in zip(carries, after, strict=False) if x.open and not carry.open]
        if not new:
            break
        for carry in new:
            carry.open = True


def _say_which_stay(
    program: Steps,
    constants: Sequence[Array],
    start: Sequence[Array],
    carries: Sequence[Array],
    slices: Sequence[Array],
) -> None:
    """Mark the carries as not defined that are not proved to be real numbers at all times.

    A step may look at the others alone, at whether they are finite or which is larger.  They are real numbers at first,
    and a step makes real numbers of them: the largest set of carries of which that is so, by induction over time.
    """
    of_floats = [n for n, carry in enumerate(carries) if carry.kind == "f"]
    for n in of_floats:
        carries[n].defined = _is_real(start[n])
    while any(carries[n].defined for n in of_floats):
        after = _step(program, [*constants, *carries, *slices])
        lost = [n for n in of_floats if carries[n].defined and not _is_real(after[n])]
        if not lost:
            break
        for n in lost:
            carries[n].defined = False


def _is_real(x: Array) -> bool:
    """Whether all entries are proved to be defined and finite."""
    return x.defined and isinstance(x.body, Polynomial) and is_finite(x.body)


def _opaque(
    program: Steps,
    constants: Sequence[Array],
    start: Sequence[Array],
    carries: Sequence[Array],
    slices: Sequence[Array],
    time: Letter,
) -> dict[int, tuple[Array, Array]]:
    """The carries that are no sums, in time and at the end, as arrays that are named by what makes them.

    A carry is left out if it is not made of finite real numbers.
    """
    open_ones = [n for n, carry in enumerate(carries) if not _is_known(carry) and carry.kind == "f"]
    given = [_letter(n, x) if n in open_ones else x for n, x in enumerate(carries)]
    after = _step(program, [*constants, *given, *slices])
    bodies = {n: body for n in open_ones if (body := _body(n, start[n], after[n], time)) is not None}
    found = {}
    for number in bodies:
        needed = _closure(number, bodies)
        if needed is not None:
            name = f"scan {digest(str(number), time.length.key, *(part for n in needed for part in bodies[n].key))}"
            found[number] = _in_scan(name, carries[number], time)
    return found


@dataclass(frozen=True)
class _Body:
    """What a carry is before the first step, and what a step makes of it."""

    number: int
    start: Polynomial
    lengths: tuple[Polynomial, ...]
    step: Polynomial

    @property
    def needs(self) -> set[int]:
        """The numbers of the carries that are read."""
        entries = (a for a in self.step.within if a.kind is Kind.ENTRY and a.name.startswith(_prefix()))
        return {int(a.name.removeprefix(_prefix())) for a in entries}

    @property
    def key(self) -> tuple[str, ...]:
        """What makes the carry, as texts."""
        return str(self.number), self.start.key, *(n.key for n in self.lengths), self.step.key


def _body(number: int, start: Array, after: Array, time: Letter) -> _Body | None:
    """The normal forms of a carry, or None if it has none or is not finite.

    None as well where it depends on indices or carries of a loop around the scan, which its name would hide.
    """
    workspace().bounded_sizes |= start.bounded or after.bounded
    first, step = start.body, after.body
    if not (isinstance(first, Polynomial) and isinstance(step, Polynomial)) or start.lengths != after.lengths:
        return None
    if not (is_finite(first) and is_finite(step)):
        return None
    hidden = (first.free | step.free) - {time, *start.variables, *after.variables}
    carries = {a.name for a in first.within | step.within if a.kind is Kind.ENTRY and a.name.startswith(UNKNOWN)}
    if hidden or not all(name.startswith(_prefix()) for name in carries):
        return None
    return _Body(number, first, start.lengths, replaced(step, {time: of(index("time", time.length))}))


def _closure(number: int, bodies: Mapping[int, _Body]) -> list[int] | None:
    """The carries that a carry depends on, itself among them; None if one of them has no normal form."""
    found, waiting = {number}, [number]
    while waiting:
        needs = bodies[waiting.pop()].needs
        if not needs <= bodies.keys():
            return None
        waiting += needs - found
        found |= needs
    return sorted(found)


def _prefix() -> str:
    """How the names of carries begin in the step of a scan inside so many others."""
    return f"{UNKNOWN} {workspace().depth}."


def _letter(number: int, carry: Array) -> Array:
    found = entry_of_input(f"{_prefix()}{number}", carry.lengths, carry.kind)
    found.defined, found.open = carry.defined, carry.open
    return found


def _in_scan(name: str, carry: Array, time: Letter) -> tuple[Array, Array]:
    """A carry at a time, and at the end."""
    lengths = (time.length + 1, *carry.lengths)
    entry = lambda moment: lambda indices: of(made(Kind.ENTRY, name, lengths, 0, (moment, *indices)))
    at = lambda moment: replace(array(carry.lengths, "f", entry(moment), 0, carry.defined), open=carry.open)
    return at(of(time)), at(time.length)


def _step(program: Steps, operands: Sequence[Array]) -> list[Array]:
    workspace().depth += 1
    try:
        return Evaluation(program, dict(zip(program.inputs, operands, strict=True))).outputs()
    finally:
        workspace().depth -= 1


def _row(x: Array, at: Polynomial) -> Array:
    """The slice of an array that a step is given."""
    place = ZERO if x.lengths[0] == ONE else at
    row = array(x.lengths[1:], x.kind, lambda indices: x.at((place, *indices)), x.sign, x.defined)
    return replace(row, open=x.open)


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


def _accumulated(start: Array, carry: Array, after: Array, time: Letter) -> tuple[Array, Array] | None:
    """A carry in time and at the end, if each step adds to it what is known, or multiplies or bounds it by that."""
    added = _added(carry, after)
    if added is not None:
        return _sums(start, added, time)
    for part, whole in ((_factor, _products), (_bound, _maxima)):
        found = _known_part(carry, after, part)
        if found is not None:
            return whole(start, found, time)
    return None


def _known_part(carry: Array, after: Array, part: Callable[[Letter, Polynomial], Polynomial]) -> Array | None:
    """What a step does to a carry; None if that is something else, or depends on carries that are not known."""
    if carry.kind != "f" or carry.lengths != after.lengths:
        return None

    def entry(indices: Sequence[Polynomial]) -> Polynomial:
        (letter,) = carry.at(indices).letters
        return part(letter, after.at(indices))

    found = array(carry.lengths, "f", entry, 0, after.defined)
    return found if _is_known(found) else None


def _factor(carry: Letter, after: Polynomial) -> Polynomial:
    """g where a step makes c·g of c."""
    slope, rest = split_affine(after, carry)
    if slope is None or rest:
        raise UnsupportedError("a step does more than multiply a carry")
    return slope


def _bound(carry: Letter, after: Polynomial) -> Polynomial:
    """g where a step makes max(c, g) of c."""
    for letter in after.letters:
        if letter.kind is Kind.FUNCTION and letter.name == "relu":
            for difference in (letter.arguments[1], -letter.arguments[1]):
                least = of(carry) - difference
                if carry not in least.within and maximum(of(carry), least) == after:
                    return least
    raise UnsupportedError("a step does more than bound a carry from below")


def _maxima(start: Array, bound: Array, time: Letter) -> tuple[Array, Array]:
    """max(start, max_{s<t} bound(s)) at the time t, and at the end."""
    earlier = fresh(time.length)
    at_earlier = lambda indices: replaced(bound.at(indices), {time: of(earlier)})

    def at_time(indices: Sequence[Polynomial]) -> Polynomial:
        before = at_least_zero(of(time) - of(earlier) - 1)
        return maximum(start.at(indices), greatest(before * at_earlier(indices) + (ONE - before) * mask(), [earlier]))

    def at_end(indices: Sequence[Polynomial]) -> Polynomial:
        if not time.length:
            return start.at(indices)
        split_by_size(time.length - 1)
        return maximum(start.at(indices), greatest(at_earlier(indices), [earlier]))

    defined = start.defined and bound.defined
    return array(start.lengths, "f", at_time, 0, defined), array(start.lengths, "f", at_end, 0, defined)


def _products(start: Array, factor: Array, time: Letter) -> tuple[Array, Array]:
    """start·∏_{s<t} factor(s) at the time t, and at the end."""
    earlier = fresh(time.length)
    at_earlier = lambda indices: replaced(plain(factor.at(indices)), {time: of(earlier)})

    def at_time(indices: Sequence[Polynomial]) -> Polynomial:
        before = at_least_zero(of(time) - of(earlier) - 1)
        return times(start.at(indices), product(before * at_earlier(indices) + (ONE - before), [earlier]))

    def at_end(indices: Sequence[Polynomial]) -> Polynomial:
        return times(start.at(indices), product(at_earlier(indices), [earlier]))

    defined = start.defined and factor.defined
    return array(start.lengths, "f", at_time, 0, defined), array(start.lengths, "f", at_end, 0, defined)


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
            raise UnsupportedError(
                "a scan whose carry is no sum, product or maximum of what is known is not followed at all sizes"
            )
        moment = length - 1 - indices[0] if reverse else indices[0]
        return replaced(x.at(indices[1:]), {time: moment})

    return replace(array((length, *x.lengths), x.kind, entry, x.sign, x.defined), open=x.open)


def _refused(x: Array) -> Array:
    error = UnsupportedError(
        "a scan whose carry is no sum, product or maximum of what is known is not followed at all sizes"
    )
    return Array(x.lengths, x.kind, (), error, 0, False)


CONTROL["scan"] = scanned
