"""Relations guessed from values of both loops at random points, by linear algebra.

Every sample is a row: what both loops carry after a few steps from a random input.  An array is a combination of others
if it is one in all samples.  The values are residues modulo one prime, which neither round nor overflow; and floats,
which know how comparisons come out, of which only multiples are looked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import flint
import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.loops.relation import ONE, TIME, ByArrays, ByEntries, Relation, Term
from uat_jax.decide.prime_fields import PROBE, PrimeFields
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.number import Number

if TYPE_CHECKING:
    from uat_jax.interpret.deadline import Deadline

MANY, FEW = 24, 4
"""Random points, where arrays have few entries together, and where they have many."""

ROWS = 160
"""So many equations are looked at for each guess of arrays."""

ENTRIES = 96
"""Up to so many entries are related one by one as sums of each other; more of them only as multiples."""

HEIGHT = 1 << 23
"""Numerators and denominators of coefficients are at most this: numbers of every dtype of 32 bits."""


CLOSE, SIMPLE = 1e-9, 1 << 10
"""Floats this close, beside the largest of a column, are taken for equal; the largest denominator of their ratio."""


@dataclass(frozen=True)
class Samples:
    """Values of shape (samples, *shape): of arrays, of the time, of scalars and of known arrays.

    prime: the one modulo which they are residues; 0 for floats.
    """

    prime: int
    arrays: tuple[np.ndarray, ...]
    time: np.ndarray
    scalars: tuple[np.ndarray, ...]
    known: tuple[np.ndarray, ...]


def points_for(types: Sequence[jax.ShapeDtypeStruct]) -> int:
    """The number of random points that show how arrays are related: every entry gives an equation at each of them."""
    return MANY if sizes(types) <= ENTRIES else FEW


def residues(
    program: ClosedJaxpr, points: int, seed: int, deadline: Deadline, domains: Any
) -> tuple[int, list[np.ndarray]]:
    """A prime, and the outputs of a program at random points modulo it: arrays of shape (points, *shape).

    Raises:
        UnsupportedError: prime fields cannot follow the program, or an output is infinite or undefined.
    """
    fields = PrimeFields(program, program, seed, deadline=deadline, domains=domains)
    laws = fields.laws - {"exponential form", "cases that meet"}
    depth = fields.depth.plain + 1
    drawn = fields.draw((points, *(PROBE,) * min(depth, 3)), 0, laws)
    found = []
    for number in drawn.left:
        if not finite(number):
            raise UnsupportedError("a value is infinite, or divides by zero")
        level = (number.almost or number).residues.levels[0]  # where no compared numbers are equal
        found.append(np.broadcast_to(level, (points, *level.shape[1:])))
    return drawn.draw.levels[0].field.prime, found


def floats(program: ClosedJaxpr, points: int, seed: int, deadline: Deadline, domains: Any) -> list[np.ndarray]:
    """The outputs of a program at random points in float64: arrays of shape (points, *shape).

    Raises:
        UnsupportedError: float64 cannot follow the program, or an output is infinite or undefined.
    """
    random = np.random.default_rng((seed, 78))
    inputs = program.jaxpr.invars
    normal = [random.standard_normal((points, *shape_of(v))) for v in inputs]
    arithmetic = Doubles()
    arithmetic.deadline = deadline
    inputs_at = domains.folded(normal, [dtype_of(v) for v in inputs])
    found = [np.asarray(output, np.float64) for output in interpret(program, arithmetic, inputs_at)]
    if not all(np.isfinite(x).all() for x in found):
        raise UnsupportedError("a value is infinite, or divides by zero")
    return [np.broadcast_to(x, (points, *x.shape[1:])) for x in found]


def finite(number: Number) -> bool:
    """Whether every entry is a finite number."""
    return number.special is None and number.infinite is None


def guesses(samples: Samples, types: Sequence[jax.ShapeDtypeStruct], first: int) -> list[Relation]:
    """Relations that hold in all samples, those with the fewest letters first.

    `first` of the arrays belong to the left loop.
    """
    count = len(types)
    if not count:
        return [ByArrays((), (), {})]
    orders = [list(range(count)), [*range(first, count), *range(first)]]
    found: list[Relation] = [_by_arrays(samples, tuple(types), order) for order in orders]
    if samples.prime:
        found.append(_by_entries(samples, tuple(types)))
    distinct: list[Relation] = []
    for relation in found:
        if relation not in distinct:
            distinct.append(relation)
    return sorted(distinct, key=lambda relation: sizes(relation.letter_types))


def _by_arrays(samples: Samples, types: tuple[jax.ShapeDtypeStruct, ...], order: Sequence[int]) -> ByArrays:
    random = np.random.default_rng(5)
    letters: list[int] = []
    terms: dict[int, tuple[Term, ...]] = {}
    for place in order:
        shape = types[place].shape
        rows = _chosen_rows(samples.arrays[place], random)
        columns, names = _columns(samples, types, letters, shape, rows)
        solution = solve(columns, rows(samples.arrays[place]), samples.prime)
        if solution is None:
            letters.append(place)
        else:
            terms[place] = tuple(Term(c, *name) for c, name in zip(solution, names, strict=True) if c)
    return ByArrays(types, tuple(letters), terms)


def _chosen_rows(array: np.ndarray, random: np.random.Generator) -> Any:
    """A choice of equations among samples times entries."""
    size = array.size
    places = np.arange(size) if size <= ROWS else np.sort(random.choice(size, ROWS, replace=False))
    return lambda x: np.broadcast_to(x, array.shape).reshape(-1)[places]


def _columns(samples: Samples, types: Any, letters: Sequence[int], shape: Any, rows: Any) -> tuple[list, list]:
    """Values that an array of a shape may be a combination of, the plainest first, and their names."""
    prime = samples.prime
    wide = lambda scalar: scalar.reshape(-1, *(1,) * len(shape))
    product = lambda scalar, array: _product(wide(scalar), array, prime)
    same = [i for i, place in enumerate(letters) if types[place].shape == shape]
    arrays = {i: samples.arrays[letters[i]] for i in same}
    found: list[tuple[Any, tuple[Any, Any]]] = [(rows(wide(np.ones_like(samples.time))), (ONE, None))]
    found += [(rows(arrays[i]), (ONE, i)) for i in same]
    found += [(rows(x), (ONE, ("known", i))) for i, x in enumerate(samples.known) if x.shape[1:] == shape]
    found.append((rows(wide(samples.time)), (TIME, None)))
    found += [(rows(product(samples.time, arrays[i])), (TIME, i)) for i in same]
    for k, scalar in enumerate(samples.scalars):
        found.append((rows(wide(scalar)), (k, None)))
        found += [(rows(product(scalar, arrays[i])), (k, i)) for i in same]
    return [values for values, _ in found], [name for _, name in found]


def _product(x: np.ndarray, y: np.ndarray, prime: int) -> np.ndarray:
    return x.astype(object) * y.astype(object) % prime if prime else x * y


def solve(columns: Sequence[np.ndarray], target: np.ndarray, prime: int) -> list[Fraction] | None:
    """Rational coefficients with Σ coefficient·column = target modulo a prime, for the first such columns; or None."""
    if not prime:
        return _multiple(columns, target)
    rows = [[int(column[i]) for column in columns] + [int(target[i])] for i in range(len(target))]
    reduced, rank = flint.nmod_mat([[value % prime for value in row] for row in rows], prime).rref()
    found = [Fraction(0)] * len(columns)
    for row in range(rank):
        lead = next(c for c in range(len(columns) + 1) if int(reduced[row, c]))
        if lead == len(columns):
            return None
        coefficient = rational(int(reduced[row, len(columns)]), prime)
        if coefficient is None:
            return None
        found[lead] = coefficient
    return found


def _multiple(columns: Sequence[np.ndarray], target: np.ndarray) -> list[Fraction] | None:
    """The first column of floats that a target is a simple multiple of."""
    largest = np.abs(target).max(initial=0.0)
    found = [Fraction(0)] * len(columns)
    if largest == 0:
        return found
    for place, column in enumerate(columns):
        at = int(np.abs(column).argmax())
        if column[at] == 0:
            continue
        ratio = Fraction(target[at] / column[at]).limit_denominator(SIMPLE)
        if ratio and np.all(np.abs(float(ratio) * column - target) <= CLOSE * largest):
            found[place] = ratio
            return found
    return None


def rational(residue: int, prime: int) -> Fraction | None:
    """The fraction of small height that has a residue, or None."""
    r, s, t, u = prime, residue % prime, 0, 1
    while s > HEIGHT:
        quotient = r // s
        r, s, t, u = s, r - quotient * s, u, t - quotient * u
    return None if u == 0 or abs(u) > HEIGHT else Fraction(s, u)


def _by_entries(samples: Samples, types: tuple[jax.ShapeDtypeStruct, ...]) -> ByEntries:
    flat = np.concatenate([x.reshape(len(x), -1) for x in samples.arrays], axis=1)
    summed = flat.shape[1] <= ENTRIES and flat.shape[1] < len(flat)
    return (_sums if summed else _multiples)(samples, types, flat)


def _sums(samples: Samples, types: Any, flat: np.ndarray) -> ByEntries:
    """Every entry as a sum of earlier ones, of 1 and of the time: one elimination for all."""
    prime, count = samples.prime, flat.shape[1]
    known = np.stack([np.ones_like(samples.time), samples.time], axis=1)
    matrix = flint.nmod_mat([[int(v) % prime for v in row] for row in np.concatenate([known, flat], axis=1)], prime)
    reduced, rank = matrix.rref()
    leads = [next(c for c in range(count + 2) if int(reduced[row, c])) for row in range(rank)]
    letters = [lead - 2 for lead in leads if lead >= 2]
    behind = {0: len(letters), 1: len(letters) + 1} | {letter + 2: i for i, letter in enumerate(letters)}
    terms: list[tuple[tuple[Fraction, int], ...]] = []
    free: list[int] = []
    for entry in range(count):
        if entry in letters:
            terms.append(((Fraction(1), behind[entry + 2]),))
            continue
        pairs = [(rational(int(reduced[row, entry + 2]), prime), behind[leads[row]]) for row in range(rank)]
        if any(c is None for c, _ in pairs):
            free.append(entry)  # the coefficients are no small fractions
            terms.append(((Fraction(1), len(letters) + 2 + len(free) - 1),))
        else:
            terms.append(tuple((c, place) for c, place in pairs if c))
    return _renumbered(types, letters, free, terms)


def _renumbered(types: Any, letters: list[int], free: list[int], terms: list) -> ByEntries:
    """The letters of an elimination, followed by entries that are free all the same, and then 1 and the time."""
    first = len(letters)
    place = lambda i: i if i < first else i + len(free) if i < first + 2 else i - 2
    moved = tuple(tuple((c, place(i)) for c, i in row) for row in terms)
    return ByEntries(types, (*letters, *free), moved)


def _multiples(samples: Samples, types: Any, flat: np.ndarray) -> ByEntries:
    """Every entry as a rational multiple of an earlier one, or 0."""
    prime = samples.prime
    letters: list[int] = []
    known: dict[bytes, tuple[int, int]] = {}
    terms: list[tuple[tuple[Fraction, int], ...]] = []
    for entry in range(flat.shape[1]):
        column = [int(v) % prime for v in flat[:, entry]]
        lead = next((v for v in column if v), None)
        if lead is None:
            terms.append(())
            continue
        inverse = pow(lead, -1, prime)
        line = np.array([v * inverse % prime for v in column], np.int64).tobytes()
        place, other = known.get(line, (-1, 0))
        ratio = rational(lead * pow(other, -1, prime) % prime, prime) if place >= 0 else None
        if ratio is None:
            known.setdefault(line, (len(letters), lead))
            terms.append(((Fraction(1), len(letters)),))
            letters.append(entry)
        else:
            terms.append(((ratio, place),))
    return ByEntries(types, tuple(letters), tuple(terms))


def sizes(types: Sequence[jax.ShapeDtypeStruct]) -> int:
    """How many entries arrays have together."""
    return sum(math.prod(t.shape) for t in types)
