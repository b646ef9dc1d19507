"""Products of two roots: (b √v)(c √w) = bc·√v√w, of which a later product with √v takes √v away again.

L Lᵀ = A has a root in every column of L, so derivatives of L have entries r·√v/√w, and what is made of them has none.
Such a number is a multiple of one letter ℓℓ′ that knows both of its factors.
"""

from __future__ import annotations

import math

import numpy as np

from uat_jax.numbers.prime_fields.number import Letter, Number, Quadratic, from_quadratic
from uat_jax.numbers.prime_fields.residues import Draw, Residues, vanishes

MOST_ENTRIES = 1 << 10
"""In larger arrays products of different letters are not followed."""


def one(draw: Draw, shape: tuple[int, ...]) -> Letter:
    """√1 in every entry."""
    unit = draw.fraction(1, shape)
    return Letter(unit, unit, unit, True)


def factors(draw: Draw, letter: Letter) -> tuple[Letter, Letter]:
    """The two letters, one of which may be √1, whose product a letter is."""
    return letter.of or (letter, one(draw, letter.value.shape))


def chosen(draw: Draw, mask: np.ndarray, x: Letter, y: Letter) -> Letter:
    """Entry by entry x where the mask holds, else y; both are roots."""
    assert x.square is not None
    assert y.square is not None
    of = None
    if x.of is not None or y.of is not None:
        (a, b), (c, d) = factors(draw, x), factors(draw, y)
        of = chosen(draw, mask, a, c), chosen(draw, mask, b, d)
    where = lambda a, b: draw.where(mask, a, b)
    value, inverse, square = where(x.value, y.value), where(x.inverse, y.inverse), where(x.square, y.square)
    return Letter(value, inverse, square, x.nonnegative and y.nonnegative, of)


def product(draw: Draw, x: Letter, y: Letter) -> Letter:
    """ℓℓ′, (ℓℓ′)² = ℓ²ℓ′²."""
    assert x.square is not None
    assert y.square is not None
    value, inverse = draw.multiply(x.value, y.value), draw.multiply(x.inverse, y.inverse)
    return Letter(value, inverse, draw.multiply(x.square, y.square), x.nonnegative and y.nonnegative, (x, y))


def multiplied(draw: Draw, a: Quadratic, b: Quadratic) -> Number | None:
    """The product of two arrays whose entries are multiples of letters, if at most two letters are left in each.

    None if an entry is a sum a + bℓ, or more letters are left.
    """
    shape = a.coefficient.shape
    if not 0 < math.prod(shape) <= MOST_ENTRIES:
        return None
    given = [known for q in (a, b) if (known := _as_multiple(draw, q, shape)) is not None]
    if len(given) < 2:
        return None
    letters = [letter for _, of, _ in given for letter in of]
    coefficient = draw.multiply(given[0][0], given[1][0])
    alive = [rooted & ~vanishes(coefficient) & _is_root(draw, letter) for _, of, rooted in given for letter in of]
    for i, j in ((0, 2), (0, 3), (1, 2), (1, 3)):
        square = letters[i].square
        assert square is not None
        both = alive[i] & alive[j] & vanishes(draw.subtract(letters[i].value, letters[j].value))
        if both.any():
            coefficient = draw.where(both, draw.multiply(coefficient, square), coefficient)
            alive[i], alive[j] = alive[i] & ~both, alive[j] & ~both
    if np.any(np.sum(alive, axis=0) > 2):
        return None
    plain = ~np.any(alive, axis=0)
    if plain.all():
        return Number(coefficient)
    first, _ = _taken(draw, letters, alive)
    second, more = _taken(draw, letters, alive)
    letter = product(draw, first, second) if more.any() else first
    if not plain.any():
        return from_quadratic(draw, None, coefficient, letter)
    nothing = draw.fraction(0, shape)
    constant, multiple = draw.where(plain, coefficient, nothing), draw.where(plain, nothing, coefficient)
    return from_quadratic(draw, constant, multiple, letter)


def _taken(draw: Draw, letters: list[Letter], alive: list[np.ndarray]) -> tuple[Letter, np.ndarray]:
    """In every entry the first letter that is alive there, which no longer is, or √1; and where there was one."""
    found, taken = one(draw, letters[0].value.shape), np.zeros(letters[0].value.shape, bool)
    for k, letter in enumerate(letters):
        here = alive[k] & ~taken
        found = chosen(draw, here, letter, found) if here.any() else found
        taken, alive[k] = taken | here, alive[k] & ~here
    return found, taken


def _as_multiple(
    draw: Draw, q: Quadratic, shape: tuple[int, ...]
) -> tuple[Residues, tuple[Letter, Letter], np.ndarray] | None:
    """Coefficients, the letters of which the entries are multiples, and where they are; None if one is a sum."""
    if q.letter.square is None or q.coefficient.shape != shape or q.letter.value.shape != shape:
        return None
    of = factors(draw, q.letter)
    if q.constant is None:
        return q.coefficient, of, np.ones(shape, bool)
    plain = vanishes(q.coefficient)
    if not np.all(plain | vanishes(q.constant)):
        return None
    return draw.where(plain, q.constant, q.coefficient), of, ~plain


def _is_root(draw: Draw, letter: Letter) -> np.ndarray:
    """Where a letter is not √1."""
    return ~vanishes(draw.subtract(letter.value, draw.fraction(1, letter.value.shape)))
