"""Entries of numbers in new places, with all that is known about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.operation import LARGE
from uat_jax.numbers.balls.constants import ClosedForms, Enclosure, joined
from uat_jax.numbers.prime_fields.facts import Defined, Facts
from uat_jax.numbers.prime_fields.field_functions import FieldFunctions
from uat_jax.numbers.prime_fields.number import Infinite, Letter, Number, Parts, Quadratic
from uat_jax.numbers.prime_fields.residues import Draw, Residues
from uat_jax.numbers.prime_fields.root_products import factors, one

MOST_PARTS = 8
"""Of entries of more numbers it is forgotten from which numbers they are taken."""

MOST_ROOTS = 1 << 10
"""Of an array with more entries, gathered from several, it is forgotten that they are roots."""


def gathered(functions: FieldFunctions, numbers: Sequence[Number], source: np.ndarray) -> Number:
    """Entries `source` of the numbers, flattened and laid end to end."""
    if len(numbers) == 1:
        return numbers[0].moved(lambda a: a.reshape(len(a), -1)[:, source])
    sizes = np.cumsum([0, *(int(np.prod(n.shape)) for n in numbers)])
    for number, start, stop in zip(numbers, sizes, sizes[1:], strict=False):
        if source.size and start <= source.min() and source.max() < stop:  # nothing is taken from the others
            return gathered(functions, [number], source - start)
    take = lambda a: a[:, source]
    scale = numbers[0].scale if all(n.scale == numbers[0].scale for n in numbers) else Fraction(1)
    special = _joined([n.special for n in numbers], numbers, np.int8)
    known = None if any(n.known is None for n in numbers) else _joined([n.known for n in numbers], numbers, float)
    return Number(
        functions.draw.concatenate([n.residues for n in numbers]).moved(take),
        None if special is None or not special[source].any() else special[source],
        known=None if known is None else known[source],
        nonnegative=all(n.nonnegative for n in numbers),
        scale=scale,
        quadratic=_joined_quadratics(functions, numbers, source),
        largest_of=_members(functions, numbers, source),
        infinite=_infinities(functions, numbers, source),
        facts=_joined_facts(numbers, source),
        closed=_joined_forms(numbers, source),
        enclosure=_joined_enclosures(numbers, source),
        parts=_parts(numbers, source),
    )


def _parts(numbers: Sequence[Number], source: np.ndarray) -> Parts | None:
    """The numbers from which the entries are taken, if they are few and small."""
    if len(numbers) > MOST_PARTS or math.prod(source.shape) >= LARGE or any(map(_is_large, numbers)):
        return None
    return Parts(tuple(n.but(almost=None) for n in numbers), source)


def _is_large(number: Number) -> bool:
    return math.prod(number.shape) >= LARGE


def _infinities(functions: FieldFunctions, numbers: Sequence[Number], source: np.ndarray) -> Infinite | None:
    """Where entries gathered from several arrays are infinite for some inputs."""
    codes = {n.infinite.code for n in numbers if n.infinite is not None}
    if not codes:
        return None
    if len(codes) > 1 or any(n.special is not None for n in numbers):
        raise UnsupportedError("numbers that are infinite in several ways, depending on the input, are put together")
    nowhere = lambda n: functions.constant(0, n.shape)
    return Infinite(
        gathered(functions, [nowhere(n) if n.infinite is None else n.infinite.where for n in numbers], source),
        codes.pop(),
    )


def _members(
    functions: FieldFunctions, numbers: Sequence[Number], source: np.ndarray
) -> tuple[Residues, np.ndarray] | None:
    """The members of gathered maxima: the k-th row has the k-th member of every number that has so many.

    Returns the members along a new leading axis and where they are present; None if no number is a maximum.
    """
    if all(n.largest_of is None for n in numbers):
        return None
    sets = [functions.members(n) for n in numbers]
    count = max(members.shape[0] for members, _ in sets)
    rows, present = [], []
    for k in range(count):
        row = [_member(members, min(k, members.shape[0] - 1)) for members, _ in sets]
        rows.append(functions.draw.concatenate(row).moved(lambda a: a[:, source]))
        there = [_presence(*members, k).ravel() for members in sets]
        present.append(np.concatenate(there)[source])
    return functions.draw.stack(rows), np.stack(present)


def _joined_quadratics(functions: FieldFunctions, numbers: Sequence[Number], source: np.ndarray) -> Quadratic | None:
    """Roots next to each other, and next to numbers x = x + 0·ℓ without one, where ℓ is √1."""
    known = [n.quadratic for n in numbers if n.quadratic is not None]
    plain = all(n.special is None for n in numbers) and all(q.letter.square is not None for q in known)
    if (
        "roots in matrices" not in functions.laws
        or not known
        or not plain
        or sum(math.prod(n.shape) for n in numbers) > MOST_ROOTS
    ):
        return None
    draw = functions.draw
    parts = [_with_root(draw, n) for n in numbers]
    joined = lambda pieces: draw.concatenate(list(pieces)).moved(lambda a: a[:, source])
    constant, coefficient, value, inverse, square = map(joined, zip(*parts, strict=True))
    letter = Letter(value, inverse, square, all(q.letter.nonnegative for q in known))
    if any(q.letter.of is not None for q in known):
        letter = replace(letter, of=_joined_factors(draw, numbers, source))
    return Quadratic(constant, coefficient, letter)


def _joined_factors(draw: Draw, numbers: Sequence[Number], source: np.ndarray) -> tuple[Letter, Letter]:
    """The two roots whose product the letter of every entry is, √1 for those that are missing."""
    pairs = [
        factors(draw, one(draw, n.shape) if n.quadratic is None else _full(n.quadratic.letter, n)) for n in numbers
    ]
    joined = lambda pieces: draw.concatenate(list(pieces)).moved(lambda a: a[:, source])
    each = lambda of: Letter(
        joined(x.value for x in of), joined(x.inverse for x in of), joined(x.square for x in of), True
    )
    first, second = map(each, zip(*pairs, strict=True))
    return first, second


def _full(letter: Letter, n: Number) -> Letter:
    """A letter in the shape of its number."""
    return letter.moved(lambda a: np.broadcast_to(_as_rank(a, n), (len(a), *n.shape)))


def _with_root(draw: Draw, n: Number) -> tuple[Residues, Residues, Residues, Residues, Residues]:
    """(a, b, ℓ, ℓ/ℓ², ℓ²) of a number a + bℓ."""
    zero, one = (draw.fraction(value, n.shape) for value in (0, 1))
    if n.quadratic is None:
        return n.residues, zero, one, one, one
    q, letter = n.quadratic, n.quadratic.letter
    full = lambda part: Residues(
        tuple(np.broadcast_to(_as_rank(a, n), (len(a), *n.shape)) for a in part.levels), part.degree
    )
    assert letter.square is not None
    return q.constant or zero, full(q.coefficient), full(letter.value), full(letter.inverse), full(letter.square)


def _as_rank(level: np.ndarray, n: Number) -> np.ndarray:
    """One level of a part of a number, with as many axes as the number."""
    return level.reshape(len(level), *(1,) * (len(n.shape) + 1 - level.ndim), *level.shape[1:])


def _joined_forms(numbers: Sequence[Number], source: np.ndarray) -> ClosedForms | None:
    forms = [number.closed for number in numbers if number.closed is not None]
    return joined(forms).moved(lambda codes: codes[:, source]) if len(forms) == len(numbers) else None


def _joined_enclosures(numbers: Sequence[Number], source: np.ndarray) -> Enclosure | None:
    parts = [number.enclosure for number in numbers if number.enclosure is not None]
    if len(parts) < len(numbers):
        return None
    return Enclosure(lambda: np.concatenate([part.balls().ravel() for part in parts])[source], parts)


def _member(members: Residues, k: int) -> Residues:
    return Residues(tuple(a[:, k] for a in members.levels), members.degree.mixed())


def _presence(members: Residues, present: np.ndarray | None, k: int) -> np.ndarray:
    if k >= members.shape[0]:
        return np.zeros(members.shape[1:], bool)
    return np.ones(members.shape[1:], bool) if present is None else np.broadcast_to(present[k], members.shape[1:])


def _joined_facts(numbers: Sequence[Number], source: np.ndarray) -> Facts | None:
    """What is known of entries gathered from several arrays."""
    known = [n.facts for n in numbers if n.facts is not None]
    if len(known) < len(numbers):
        return None
    join = lambda arrays: np.concatenate([a.ravel() for a in arrays])[source]
    return Facts(
        max(f.nature for f in known),
        max(f.defined for f in known),
        any(f.hollow for f in known),
        join(f.positive for f in known),
        join(f.negative for f in known),
        join(f.thin for f in known),
        any(f.guarded for f in known),
        all(f.letters_only or f.defined is not Defined.PARTLY for f in known),
    )


def _joined(parts: Sequence[np.ndarray | None], numbers: Sequence[Number], dtype: Any) -> np.ndarray | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros(n.shape, dtype).ravel() if p is None else p.ravel() for p, n in zip(parts, numbers, strict=True)]
    )
