"""Indices that run over a sorted row: what is the same for the terms of a range in any order is that of the row itself.

{u(σ(k)) : k < n} = {u(i) : i < n}     for the order σ of some numbers
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from uat_jax.numbers.indexed.polynomial import ONE, Kind, Letter, Polynomial, fresh, made, of, replaced


def unsorted(value: Polynomial, over: Sequence[Letter]) -> tuple[Polynomial, tuple[Letter, ...]] | None:
    """Terms and their indices with i in the place of k, where k stands in nothing but places of a sorted row.

    k is written as the rank of i: the place of that rank is i, and the number there is the one at i.
    """
    for variable in over:
        orders = [a for a in value.within if a.kind in (Kind.PLACE, Kind.RANKED) and variable in a.free]
        for letter in sorted(orders, key=lambda a: (a.kind is Kind.RANKED, a.key)):
            bound, body, place = letter.arguments
            count = math.prod((b.length for b in bound), start=ONE)
            forwards = place == of(variable)
            if count != variable.length or variable in body.free or not forwards and place != count - 1 - of(variable):
                continue
            new = [fresh(b.length) for b in bound]
            rank = of(made(Kind.RANK, bound, body, tuple(map(of, new))))
            found = replaced(value, {variable: rank if forwards else count - 1 - rank})
            if not any(a.kind is Kind.RANK for a in found.within):
                return found, (*(v for v in over if v is not variable), *new)
    return None
