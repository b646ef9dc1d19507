"""Random expressions whose sizes are different primes, so that a size or an index in the wrong place is seen.

A size is a product of primes, each of them a symbol, and wherever a size is cut in two (X ⊗ Y, unvec, (X ⊗ Y)(Z ⊗ W),
(X ⊗ Y) vec(Z), diag(vec X) vec Y) it is cut at random: both cuts multiply to the same size and mostly do not fit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from random_expressions import Evaluator, agree, places, put

from uat_jax.symbolic import language as m
from uat_jax.symbolic.normal_form import Normaliser

Size = tuple[sympy.Symbol, ...]
"""The prime factors of a size."""

a, b, c = map(m.dimension, "abc")
j, k, l = (sympy.Symbol(name, integer=True, positive=True) for name in "jkl")
NUMBERS = {a: 2, b: 3, c: 5, j: 3}
SHAPES: tuple[tuple[Size, Size], ...] = (
    *(((a,), (b,)), ((a, b), ()), ((a, b), (c,)), ((b, c), ()), ((a,), (b, c)), ((a, b, c), ())),
    *(((a, b), (a, b)), ((b,), (b,)), ((), (a, b))),
)


def whole(size: Size) -> Any:
    return sympy.Mul(*size)


@dataclass
class PrimeSizes:
    """Draws expressions of a shape; ``scope`` lists the indices of the sums around a place."""

    rng: np.random.Generator

    def draw(self, depth: int = 3) -> m.Expression:
        return self.expression(*self.pick(SHAPES), depth, ())

    def pick(self, options):
        return options[self.rng.integers(len(options))]

    def cut(self, size: Size) -> tuple[Size, Size]:
        """The factors of a size dealt to two sizes."""
        left = [bool(self.rng.integers(2)) for _ in size]
        deal = lambda side: tuple(f for f, is_left in zip(size, left, strict=True) if is_left == side)
        return deal(True), deal(False)

    def inner(self) -> Size:
        return self.pick([(a,), (b,), (c,), (a, b), (b, c)])

    def expression(self, rows: Size, columns: Size, depth: int, scope: tuple) -> m.Expression:
        if depth == 0:
            return self.letter(rows, columns, scope)
        makers = [
            self.sum,
            self.product,
            self.kronecker,
            self.mixed,
            self.unvec,
            self.opaque,
            self.range,
            self.transposed,
        ]
        if not columns:
            makers += [self.vec, self.applied, self.diagonal] * 2
        return self.pick(makers)(rows, columns, depth - 1, scope)

    def letter(self, rows, columns, scope):
        if rows == columns and self.rng.random() < 0.2:
            return m.Identity(whole(rows))
        index = self.pick([(), (1,), *((i,) for i in scope), *((i + 1,) for i in scope)])
        return m.Letter(self.pick("XY"), whole(rows), whole(columns), index)

    def sum(self, rows, columns, depth, scope):
        return self.expression(rows, columns, depth, scope) + self.expression(rows, columns, depth, scope)

    def product(self, rows, columns, depth, scope):
        inner = self.inner()
        return self.expression(rows, inner, depth, scope) @ self.expression(inner, columns, depth, scope)

    def kronecker(self, rows, columns, depth, scope):
        (r, s), (t, u) = self.cut(rows), self.cut(columns)
        return m.Kronecker(self.expression(r, t, depth, scope), self.expression(s, u, depth, scope))

    def mixed(self, rows, columns, depth, scope):
        """(X ⊗ Y)(Z ⊗ W), the inner size cut twice."""
        inner = self.pick([(a, b), (b, c)])
        return self.kronecker(rows, inner, depth, scope) @ self.kronecker(inner, columns, depth, scope)

    def unvec(self, rows, columns, depth, scope):
        """unvec(vec(X)), X of any shape with as many entries."""
        inside = self.expression(*self.cut((*rows, *columns)), depth, scope)
        return m.Matricised(m.Vectorised(inside), whole(rows), whole(columns))

    def opaque(self, rows, columns, depth, scope):
        head = self.pick([m.Activation, m.RowSoftmax, m.RowSoftmax])
        return head(self.expression(rows, columns, depth, scope))

    def range(self, rows, columns, depth, scope):
        index = next((i for i in (k, l) if i not in scope), None)
        if index is None:
            return self.letter(rows, columns, scope)
        body = self.expression(rows, columns, depth, (*scope, index))
        if index not in body.free_symbols:  # as coefficients of another sum, j is refused
            body = m.Letter("Z", whole(rows), whole(rows), (index,)) @ body
        return m.RangeSum(body, index, 1, j)

    def transposed(self, rows, columns, depth, scope):
        return m.Transposed(self.expression(columns, rows, depth, scope))

    def vec(self, rows, columns, depth, scope):
        return m.Vectorised(self.expression(*self.cut(rows), depth, scope))

    def applied(self, rows, columns, depth, scope):
        """(X ⊗ Y) vec(Z), the inner size cut twice."""
        inner = self.pick([(a, b), (b, c)])
        return self.kronecker(rows, inner, depth, scope) @ self.vec(inner, (), depth, scope)

    def diagonal(self, rows, columns, depth, scope):
        return m.Diagonal(self.vec(rows, (), depth, scope)) @ self.vec(rows, (), depth, scope)


# --- what is checked -----------------------------------------------------------------------------------------------


def keeps_its_value(e: m.Expression) -> bool:
    """Whether the normal form, written as an expression again, has the shape and the value of the expression."""
    normalise = Normaliser()
    written = normalise.letters.form_expression(normalise(e))
    return all(map(m.same_dimension, e.shape, written.shape)) and values_agree(e, written)


def values_agree(left: m.Expression, right: m.Expression) -> bool:
    at = Evaluator(NUMBERS)
    return agree(at(left), at(right))


def slips(e: m.Expression) -> list[m.Expression]:
    """The expression with one slip at its top: factors of ⊗ exchanged, a matrix read by columns, another index."""
    match e:
        case m.Kronecker(args=(x, y)) if x.shape != y.shape:  # type: ignore[attr-defined]
            return [m.Kronecker(y, x)]  # type: ignore[arg-type]
        case m.Vectorised(args=(x,)):
            return [m.Vectorised(x.T)]  # type: ignore[attr-defined]
        case m.Letter(subscripts=(index,)):
            return [m.Letter(e.name, *e.shape, (other,)) for other in (1, index + 1) if other != index]
        case m.RowSoftmax(args=(x,)):
            return [m.RowSoftmax(2 * x), m.Activation(x)]  # type: ignore[operator, arg-type]
        case m.RangeSum():
            return [m.RangeSum(e.body, e.index, 1, e.bounds[1] + 1), m.Scaled(j, e.at(1))]
    return []


def slipped(rng: np.random.Generator, e: m.Expression) -> m.Expression | None:
    """The expression with a slip at a random place; None where there is none to make."""
    found = [(path, wrong) for path, part in places(e) for wrong in slips(part)]
    return put(e, *found[rng.integers(len(found))]) if found else None


Check = Callable[[np.random.Generator], bool]


def sound(rng: np.random.Generator) -> bool:
    """One random expression, and one random statement made of it: nothing changes its value, nothing false is equal."""
    e = PrimeSizes(rng).draw()
    wrong = slipped(rng, e)
    return keeps_its_value(e) and (wrong is None or not Normaliser().equal(e, wrong) or values_agree(e, wrong))
