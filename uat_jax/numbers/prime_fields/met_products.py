"""Products of vectors that a draw has met, which cosines of angles are known by (docs/soundness.md §8.7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from uat_jax.numbers.prime_fields.residues import Residues

MOST = 8
"""So many are kept."""


@dataclass(frozen=True, eq=False)
class InnerProduct:
    """Of Σ aᵢbᵢ for several pairs of vectors the squares, and the products (Σ aᵢ²)(Σ bᵢ²).

    place: of Σ aᵢbᵢ, if the vectors may be undefined, as a/|a| is; then only the sums themselves are known as cosines.
    """

    square: Residues
    product: Residues
    place: int | None


class MetProducts:
    """The products that are met, in order; nothing is computed before a number is asked to be a cosine: few are."""

    def __init__(self) -> None:
        self._known: list[InnerProduct] = []
        self._waiting: list[Callable[[], InnerProduct | None]] = []

    def __bool__(self) -> bool:
        return bool(self._known or self._waiting)

    def meet(self, product: Callable[[], InnerProduct | None]) -> None:
        """Keep what computes a product; None if it is not to be used."""
        if len(self._known) < MOST:
            self._waiting.append(product)

    def found(self) -> list[InnerProduct]:
        """The first of them that can be used."""
        waiting, self._waiting = self._waiting, []
        for product in waiting:
            found = product() if len(self._known) < MOST else None
            if found is not None:
                self._known.append(found)
        return self._known
