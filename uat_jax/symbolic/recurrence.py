"""One layer applied to x_{j-1} = P x_0 + q + u and collected into the same form: the update rules are read off.

The letters of the closed form (Theorem 1), x_j = Ŵ_{j,1} x_0 + b̂_{j,3} + Σ_{k≤j} Ŵ_{k,3}^{(j)} s_k with
s_k = σ(Ŵ_{k,2} x_0 + b̂_{k,2}), are made here; nothing here knows what they will be equal to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import sympy

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.words import Atom, Coefficient, Letters, NormalForm, Opaque, Record, Word


@dataclass(frozen=True)
class ClosedForm:
    """The letters of the closed form of some `Layers`."""

    layers: Layers

    def W1(self, j: m.ScalarLike) -> m.Expression:
        """Ŵ_{j,1}, D_j × D_0 (the identity for j = 0)."""
        D = self.layers.widths
        return m.Identity(D(0)) if j == 0 else m.Letter("Ŵ", D(j), D(0), (j, 1))

    def b3(self, j: m.ScalarLike) -> m.Expression:
        """b̂_{j,3}, a column of length D_j (zero for j = 0)."""
        D = self.layers.widths
        return m.Zero(D(0), 1) if j == 0 else m.Letter("b̂", D(j), 1, (j, 3))

    def W2(self, j: m.ScalarLike) -> m.Letter:
        """Ŵ_{j,2}, F_j × D_0."""
        return m.Letter("Ŵ", self.layers.hidden_widths(j), self.layers.widths(0), (j, 2))

    def b2(self, j: m.ScalarLike) -> m.Letter:
        """b̂_{j,2}, a column of length F_j."""
        return m.Letter("b̂", self.layers.hidden_widths(j), 1, (j, 2))

    def W3(self, k: m.ScalarLike, version: m.ScalarLike) -> m.Letter:
        """Ŵ_{k,3}^{(version)}, D_version × F_k: the factor of s_k in the network of the first `version` layers."""
        return m.Letter("Ŵ", self.layers.widths(version), self.layers.hidden_widths(k), (k, 3), (version,))

    def factors(self, version: int) -> tuple[m.Letter, ...]:
        """Ŵ_{1,3}^{(version)}, …, Ŵ_{version,3}^{(version)}: the factors of all activations of so many layers."""
        return _factors(self, version)

    def s(self, k: m.ScalarLike) -> m.Letter:
        """s_k, a column of length F_k."""
        return m.Letter("s", self.layers.hidden_widths(k), 1, (k,))

    def activations(self, depth: int) -> tuple[m.Letter, ...]:
        """s_1, …, s_depth."""
        return _activations(self, depth)

    def u(self, j: m.ScalarLike) -> m.Letter:
        """u_j = Σ_{k≤j} Ŵ_{k,3}^{(j)} s_k, kept opaque (the papers' UAT_j^R)."""
        return m.Letter("u", self.layers.widths(j), 1, (j,))

    def term(self, k: m.ScalarLike, version: m.ScalarLike) -> m.Expression:
        """Ŵ_{k,3}^{(version)} s_k."""
        return self.W3(k, version) @ self.s(k)

    def sum(self, j: m.ScalarLike) -> m.Expression:
        """Σ_{k=1}^{j} Ŵ_{k,3}^{(j)} s_k for a number or a symbol j."""
        if isinstance(j, int):
            terms = [W3 @ s for W3, s in zip(self.factors(j), self.activations(j), strict=True)]
            return m.Addition(*terms) if terms else m.Zero(self.layers.widths(0), 1)
        k = sympy.Symbol("k", integer=True, positive=True)
        return m.RangeSum(self.term(k, j), k, 1, j)

    def affine(self, j: m.ScalarLike) -> m.Expression:
        """Ŵ_{j,1} x_0 + b̂_{j,3}."""
        return self.W1(j) @ self.layers.x(0) + self.b3(j)

    def x(self, j: m.ScalarLike) -> m.Expression:
        """Ŵ_{j,1} x_0 + b̂_{j,3} + Σ_{k≤j} Ŵ_{k,3}^{(j)} s_k."""
        return m.Addition(self.W1(j) @ self.layers.x(0), self.b3(j), self.sum(j))

    def activation(self, j: m.ScalarLike) -> m.Expression:
        """σ(Ŵ_{j,2} x_0 + b̂_{j,2})."""
        return m.Activation(self.W2(j) @ self.layers.x(0) + self.b2(j))


@lru_cache(maxsize=1024)
def _factors(of: ClosedForm, version: int) -> tuple[m.Letter, ...]:
    return tuple(of.W3(k, version) for k in range(1, version + 1))


@lru_cache(maxsize=1024)
def _activations(of: ClosedForm, depth: int) -> tuple[m.Letter, ...]:
    return tuple(of.s(k) for k in range(1, depth + 1))


@dataclass(frozen=True)
class Recurrence:
    """What one layer makes of P, q and u, as collected.

    ``W1`` and ``b3``: the new factor of x_0 and the new constant;  ``W2``: the factor of x_0 inside σ;
    ``b2_constant`` and ``b2_u``: the rest inside σ, without u and with it;
    ``carry``: what multiplies u outside σ;  ``W3``: what multiplies the new σ.
    Those with ``u`` are None in the first layer, where u = 0.
    """

    W1: m.Expression
    b3: m.Expression
    W2: m.Expression
    b2_constant: m.Expression
    b2_u: m.Expression | None
    carry: m.Expression | None
    W3: m.Expression


def recurrence(closed: ClosedForm, j: m.ScalarLike) -> Recurrence:
    """Apply layer j (a number or a symbol) to Ŵ_{j-1,1} x_0 + b̂_{j-1,3} + u_{j-1} and collect."""
    layers, x_0, u = closed.layers, closed.layers.x(0), closed.u(j - 1)
    first = j == 1
    normalise = Normaliser()
    x = x_0 if first else m.Addition(closed.W1(j - 1) @ x_0, closed.b3(j - 1), u)
    outer = _by_last_letter(normalise.letters, normalise(layers.apply(j, x)), (x_0, u))
    (sigma,) = (key for key in outer if isinstance(key, Opaque))
    inner = _by_last_letter(normalise.letters, sigma.argument, (x_0, u))
    size_outer, size_inner = layers.widths(j), layers.hidden_widths(j)
    read = lambda words, rows, columns: factored(normalise.letters, words, rows, columns)
    return Recurrence(
        W1=read(outer[x_0], size_outer, layers.widths(0)),
        b3=read(outer[None], size_outer, 1),
        W2=read(inner[x_0], size_inner, layers.widths(0)),
        b2_constant=read(inner[None], size_inner, 1),
        b2_u=None if first else read(inner[u], size_inner, layers.widths(j - 1)),
        carry=None if first else read(outer[u], size_outer, layers.widths(j - 1)),
        W3=read(outer[sigma], size_outer, size_inner),
    )


Words = list[tuple[Word, Coefficient]]
End = m.Expression | Record | None


def _by_last_letter(n: Letters, form: NormalForm, ends: tuple[m.Letter, ...]) -> Mapping[End, Words]:
    """The words sorted by what they act on: one of ``ends``, a σ, or nothing (None: a constant); ends are cut off."""
    classes: dict[End, Words] = defaultdict(list)
    for (ranges, word), coefficient in form.terms.items():
        if ranges:
            raise UnsupportedError("only explicit sums can be collected")
        last = n.records(word)[-1]
        end = last.expression if isinstance(last, Atom) and last.expression in ends else last
        if end in ends or isinstance(end, Opaque):
            classes[end].append((word[:-1], coefficient))
        else:
            classes[None].append((word, coefficient))
    return classes


def factored(n: Letters, words: Iterable[tuple[Word, Coefficient]], rows: m.Scalar, columns: m.Scalar) -> m.Expression:
    """Σ c·word with common first letters taken out, so that B X + B Y is written B (X + Y)."""
    groups: dict[Word, Words] = defaultdict(list)
    for word, coefficient in words:
        groups[word[:1]].append((word[1:], coefficient))
    terms: list[m.Expression] = []
    for head, tails in groups.items():
        terms.append(_factor(n, head, tails, rows, columns))
    return m.Addition(*terms) if terms else m.Zero(rows, columns)


def _factor(n: Letters, head: Word, tails: Words, rows: m.Scalar, columns: m.Scalar) -> m.Expression:
    if len(tails) > 1 and head:
        left = n.expression(head)
        assert left is not None
        return left @ factored(n, tails, left.shape[1], columns)
    (tail, coefficient) = tails[0]
    body = n.expression(head + tail) or m.Identity(rows)
    return body if coefficient == 1 else m.Scaled(coefficient, body)
