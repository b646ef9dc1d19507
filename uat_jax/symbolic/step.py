"""One named equation of a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import sympy

from uat_jax.errors import ShapeError
from uat_jax.symbolic import language as m
from uat_jax.symbolic import slices
from uat_jax.symbolic.normal_form import Definitions, Normaliser
from uat_jax.symbolic.printing import scalar_text


@dataclass(frozen=True)
class Definition:
    """What a letter stood for where it was unfolded; ``ranges`` are the sums around it, index → upper bound."""

    letter: m.Letter
    expression: m.Expression
    ranges: tuple[tuple[sympy.Symbol, m.Scalar], ...]

    def hypotheses(self) -> tuple[str, ...]:
        """The slices that have to exist in it."""
        return slices.hypotheses(self.expression, tuple((index, 1, upper) for index, upper in self.ranges))

    def __str__(self) -> str:
        own = [(i, upper) for i, upper in self.ranges if i in self.letter.free_symbols]
        scope = ", ".join(f"{scalar_text(i)} = 1 … {scalar_text(upper)}" for i, upper in own)
        return f"{self.letter} = {self.expression}" + (f"  for {scope}" if scope else "")


@dataclass(frozen=True)
class Induction:
    """x_L = T(L) for every L ≥ 1, where x_0 is ``start`` and x_j is ``layer`` at x_{j−1}; `sides`: base and step.

    Attributes:
        index: i, the number of layers in ``closed``, which is T(i).
        layer_index: j, the number of the layer in ``layer`` and ``input``.
        input: the letter that stands for x_{j−1} in ``layer``.
        start, layer, closed: expressions.
        first: what the letters of T(1) stand for.
        next: what those of T(i+1) stand for, in letters of T(i).
    """

    index: sympy.Symbol
    layer_index: sympy.Symbol
    input: m.Letter
    start: m.Expression
    layer: m.Expression
    closed: m.Expression
    first: Mapping[m.Letter, m.Expression]
    next: Definitions

    def sides(self, count: sympy.Expr | int) -> tuple[m.Expression, m.Expression]:
        """Layer number ``count`` on what is before it, and T(count).

        Raises `ShapeError` if what is before it has another shape than the input of the layer.
        """
        before = self.start if count == 1 else self.closed
        at = {self.layer_index: count}
        x = self.input.renamed(at)
        if not m.same_shape(x, before):
            raise ShapeError(f"got {before} ({m.shape_text(before)}) for {x} ({m.shape_text(x)}), the input of a layer")
        layer = m.replace_letters(self.layer.renamed(at), lambda l, _: before if l == x else None)
        return layer, self.closed.renamed({self.index: count})


@dataclass(frozen=True)
class Step:
    """``left = right`` once the letters of ``where`` are unfolded; it can be checked alone.

    ``induction``: what is proved for every number of layers, if this is the step of an induction.
    """

    name: str
    left: m.Expression
    right: m.Expression
    where: Definitions | Mapping[m.Letter, m.Expression] = field(default_factory=dict)
    induction: Induction | None = field(default=None, compare=False)

    def holds(self) -> bool:
        """Decide the equation by normal forms."""
        return Normaliser(self.where).equal(self.left, self.right)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions that the equation needs: those of ``where`` that are met when it is unfolded."""
        if not callable(self.where) and not self.where:
            return ()
        normalise = Normaliser(self.where)
        for side in (self.left, self.right):
            normalise(side)
        return tuple(Definition(l, e, ranges) for (l, ranges), e in normalise.unfolded.items())

    def hypotheses(self) -> tuple[str, ...]:
        """What the equation takes for granted: that the slices in it and in its definitions exist."""
        sides = [slices.hypotheses(side) for side in (self.left, self.right)]
        return tuple(dict.fromkeys(sum((*sides, *(d.hypotheses() for d in self.definitions)), ())))

    def latex(self) -> str:
        """The equation as LaTeX."""
        return f"{m.latex(self.left)} = {m.latex(self.right)}"

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"
