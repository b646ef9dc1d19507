"""One named equation of a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from uat_jax.symbolic import language as m
from uat_jax.symbolic.normal_form import Definitions, Normaliser


@dataclass(frozen=True)
class Step:
    """``left = right`` once the letters of ``where`` are unfolded; it can be checked alone."""

    name: str
    left: m.Expression
    right: m.Expression
    where: Definitions | Mapping[m.Letter, m.Expression] = field(default_factory=dict)

    def holds(self) -> bool:
        """Decide the equation by normal forms."""
        return Normaliser(self.where).equal(self.left, self.right)

    def latex(self) -> str:
        """The equation as LaTeX."""
        return f"{m.latex(self.left)} = {m.latex(self.right)}"

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"
