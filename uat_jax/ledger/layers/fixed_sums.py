"""Can a multi-layer network be a UAT sum whose parameters are all fixed?  It depends on σ and on the inputs (G2).

The network's own σ-terms have input-dependent biases (lemma-2.fixed-bias); here *any* fixed sum

    f(x) = a x + k + Σ_{j=1}^{N} α_j σ(w_j x + b_j)

may equal the network, with any number N of terms.  For σ(t) = t² none does, in one dimension already; for σ = relu one
does if x is a number, and none does for some network of two inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.equivalence import certify
from uat_jax.decide.exhibits import exhibit, exhibit_numbers
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit, one_case
from uat_jax.ledger.foundations.elementary import equations, resting_on
from uat_jax.ledger.source import duat, v2
from uat_jax.networks import ResidualLayer, residual_network
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, LAYER, by_layers, inductive
from uat_jax.symbolic.step import Induction, Step

# --- σ(t) = t² -------------------------------------------------------------------------------------------------------

x = sympy.Symbol("x")


def difference(f: Callable[[Any], Any], order: int) -> Any:
    """Δ^n f(0) = Σ_{k=0}^{n} (−1)^{n−k} C(n, k) f(k)."""
    return sum(((-1) ** (order - k) * comb(order, k) * f(k) for k in range(order + 1)), sympy.Integer(0))


def sum_terms(power: int) -> tuple[Any, Any]:
    """What a fixed sum consists of: terms α (w x + b)^p, and a x + k."""
    alpha, w, b, a, k = sympy.symbols("α w b a k")
    return alpha * (w * x + b) ** power, a * x + k


def difference_of(expression: Any, order: int) -> Any:
    """The difference, at x = 0, of a polynomial in x."""
    return sympy.expand(difference(lambda t: expression.subs(x, t), order))


def power_network(power: int) -> Any:
    """x_2 of two layers x_j = x_{j−1} + x_{j−1}^p of width one."""
    first = x + x**power
    return sympy.expand(first + first**power)


def _powers(power: int, settings: Settings) -> Iterator[Evidence]:
    """Whether the network with σ(t) = t^p is a fixed sum: those have no differences of order p + 1, whatever N is."""
    order, network = power + 1, power_network(power)
    zero = {f"difference {order} of {term} is 0": (difference_of(term, order), 0) for term in sum_terms(power)}
    fixed = equations(zero, what="every fixed sum", subject="fixed sums")
    yield fixed
    found = difference_of(network, order)
    if found:
        what = f"difference {order} on 0, 1, … with σ(t) = t^{power}: of x_2, and of every fixed sum"
        yield resting_on([fixed], exhibit_numbers(found, 0, at={"x": 0}, what=what, names=("network", "fixed sum")))
        return
    slope = network.coeff(x)
    yield equations({f"x_2 = {slope} x": (network, slope * x)}, what="the network is affine")


# --- σ = relu --------------------------------------------------------------------------------------------------------


def maximum_network(x: jax.Array, y: jax.Array) -> jax.Array:
    """max(0, x, y) as two layers with σ = relu: x_1 = y + relu(x − y), x_2 = relu(x_1)."""
    matrix = lambda *rows: jnp.asarray(rows, x.dtype)
    zero = matrix(0)
    first = ResidualLayer(matrix([0, 1]), matrix([1, -1]), matrix([1]), zero, zero)
    second = ResidualLayer(matrix([0]), matrix([1]), matrix([1]), zero, zero)
    return residual_network((first, second), jnp.stack([x, y]), jax.nn.relu)[0]


def relu(t: sympy.Expr) -> Any:
    """max(t, 0) of a SymPy expression."""
    return sympy.Max(t, 0)


_SCALE = sympy.Symbol("s", positive=True)
LAWS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "relu(t) − relu(−t) = t": lambda t: (relu(t) - relu(-t), t),
    "relu(s t) = s relu(t) for s > 0": lambda t: (relu(_SCALE * t), _SCALE * relu(t)),
}
"""Laws of relu: t → both sides."""


def law_of_relu(law: str, sides: Callable[[Any], tuple[Any, Any]]) -> Evidence:
    """Whether both sides are equal for every t > 0, every t < 0 and t = 0, on each of which relu is linear."""
    t = sympy.Symbol("t", positive=True)
    return equations({f"at {at}": sides(at) for at in (t, -t, sympy.Integer(0))}, what=law, subject="fixed sums")


def _two_inputs(settings: Settings) -> Iterator[Evidence]:
    """The odd part of a fixed relu sum is linear far from 0; that of max(0, x, y) is not additive.

    f(p) = a·p + k + Σ α_j relu(w_j·p + b_j) gives lim_{s→∞} (f(sp) − f(−sp))/s = 2 a·p + Σ α_j w_j·p, since
    |relu(z + b) − relu(z)| ≤ |b|: linear in p.  max(0, x, y) is positively homogeneous, so that for it the quotient is
    f(p) − f(−p) for every s.
    """
    sum_of_two = lambda g, p, q: (g(p + q), g(p) + g(q))
    v, p, q = m.Letter("v", 1, 2), m.Letter("p", 2, 1), m.Letter("q", 2, 1)
    linear = Step("g(p) = v p", *sum_of_two(lambda of: v @ of, p, q))
    for found in proved([linear], method=Method.NORMAL_FORM, what="g(p + q) = g(p) + g(q) for every linear g"):
        yield replace(found, subject="fixed sums")
    for law, sides in LAWS.items():
        yield law_of_relu(law, sides)
    number, maximum = jax.ShapeDtypeStruct((), jnp.float32), lambda x, y: jnp.maximum(0, jnp.maximum(x, y))
    yield from (
        replace(found, subject="network") for found in certify(maximum_network, maximum, number, number).evidence
    )
    odd = lambda p: maximum_network(*p) - maximum_network(*(-p))
    yield exhibit(
        lambda p, q: sum_of_two(odd, p, q)[0],
        lambda p, q: sum_of_two(odd, p, q)[1],
        {"p": [4, -1], "q": [-2, 3]},
        what="f = max(0, x, y), g(p) = f(p) − f(−p): g(p + q), and g(p) + g(q), equal if f is a fixed relu sum",
        names=("network", "fixed sum"),
    )


# --- σ = relu, one input ---------------------------------------------------------------------------------------------


def slopes() -> tuple[Step, ...]:
    """s_0 + Σ_{k=1}^{n} (s_k − s_{k−1}) = s_n for every n: the slope, on piece n, of the sum `fixed_relu_sum`.

    From piece to piece it grows by a jump, and it is s_0 on piece 0.
    """
    k = sympy.Symbol("k", integer=True, positive=True)
    s, y = (lambda index: m.Letter("s", 1, 1, (index,))), m.Letter("y", 1, 1)
    jumps = lambda upper: m.RangeSum(s(k) - s(k - 1), k, 1, upper)
    more = Step("one jump more", jumps(INDEX + 1), jumps(INDEX) + (s(INDEX + 1) - s(INDEX)))
    jump = m.Addition(y, s(LAYER), -s(LAYER - 1))
    return more, *inductive(Induction(INDEX, LAYER, y, s(0), jump, s(INDEX), {}, by_layers({})))


def fixed_relu_sum(f: Callable[[Fraction], Fraction], points: Sequence[Fraction]) -> Callable[[Fraction], Fraction]:
    """f(t_1) + s_0 (x − t_1) + Σ_k (s_k − s_{k−1}) relu(x − t_k), for f linear between its breaks t_1 < … < t_n.

    ``points`` are a number below all breaks, the breaks, and a number above them: s_k is the slope of f from one of
    them to the next.
    """
    _, *breaks, _ = points
    slope = [(f(b) - f(a)) / (b - a) for a, b in pairwise(points)]
    jumps = [(after - before, t) for (before, after), t in zip(pairwise(slope), breaks, strict=True)]
    start = f(breaks[0])
    return lambda x: (
        start + slope[0] * (x - breaks[0]) + sum((c * max(x - t, Fraction(0)) for c, t in jumps), Fraction())
    )


def hat(x: Fraction) -> Fraction:
    """x_2 of two relu layers of width one: x_1 = x − 3 relu(x), x_2 = −x_1 + 3 relu(2 x_1 + 1)."""
    zero = Fraction(0)
    first = x - 3 * max(x, zero)
    return -first + 3 * max(2 * first + 1, zero)


HAT_POINTS = tuple(map(Fraction, ("-1", "-1/2", "0", "1/4", "1")))
"""Where the argument of one of its relu changes sign, x = 0 and x_1 = −1/2, and a number on either side of these."""


def _one_input(settings: Settings) -> Iterator[Evidence]:
    """A relu network of one input is continuous and linear on pieces, and so is the sum with its slopes."""
    what = "the sum has slope s_n on piece n, for any number of pieces, and the value of the network at t_1"
    yield from proved(slopes(), method=Method.INDUCTION, what=what)
    found = fixed_relu_sum(hat, HAT_POINTS)
    points = (*HAT_POINTS, *((left + right) / 2 for left, right in pairwise(HAT_POINTS)))
    same, values = all(found(x) == hat(x) for x in points), ", ".join(f"{hat(x)} at {x}" for x in points)
    finding = f"−x_1 + 3 relu(2 x_1 + 1), x_1 = x − 3 relu(x): equal to its sum of 3 terms at {len(points)} points, so everywhere: {values}"
    yield Evidence(Method.EXACT_NUMBERS, finding, Verdict.AGREES if same else Verdict.UNKNOWN)


_PRINTED = r"\text{The multi-layer network of this form still corresponds to the mathematical form of UAT}"
_SOURCES = (v2("C.1"), duat("B.2"))
_READING = "UAT: some sum a x + k + Σ_{j=1}^{N} α_j σ(w_j x + b_j) with fixed parameters and any N equals the network"


def _claim(
    name: str, title: str, read: str, expects: Verdict, decide: Decide, *hypotheses: str, correction: str = ""
) -> Claim:
    return Claim(
        id=f"lemma-2.{name}",
        title=title,
        ledger="G2",
        kind=Kind.EXISTENCE,
        sources=_SOURCES,
        printed=_PRINTED,
        reading=f"{_READING}; {read}",
        hypotheses=(ELEMENTWISE, read, *hypotheses),
        expects=expects,
        correction=correction,
        otherwise=("DUAT",),
        decide=decide,
    )


CLAIMS = (
    _claim(
        "some-fixed-sum.square", "every network is some fixed UAT sum, σ(t) = t²", "every σ, so also σ(t) = t²",
        Verdict.REFUTED, OneEdit(2, 1, _powers), correction="lemma-2.dynamic-bias",
    ),
    _claim(
        "some-fixed-sum.relu", "every network of two inputs is some fixed UAT sum, σ = relu", "σ = relu, two inputs",
        Verdict.REFUTED, one_case({"two inputs": _two_inputs, "one input": _one_input}), correction="lemma-2.dynamic-bias",
    ),
    _claim(
        "some-fixed-sum.relu-one-input", "every relu network of one input is a fixed UAT sum", "σ = relu, one input",
        Verdict.PROVED, _one_input,
        "relu networks of one input are continuous and linear between finitely many breaks, as compositions of such functions",
    ),
)  # fmt: skip
