"""What is known of numbers before laws are used: constants in balls, signs, neutral elements, roots of all terms.

Each row: two functions that are equal, one that is not, and a pair that would be equal if the side condition held.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.interpret.primitives import TABLE
from uat_jax.numbers.prime_fields.fact_rules import NEGATIVE, POSITIVE
from uat_jax.numbers.prime_fields.facts import of_constant

V = jax.ShapeDtypeStruct((3,), jnp.float32)
P = uj.positive(V)
EQUAL = (Verdict.PROVED, Verdict.CERTIFIED)
ONE = np.int32(1)


@dataclass(frozen=True)
class Case:
    """left = right for the specs; twin is another function; beyond: two functions that differ for other inputs only."""

    name: str
    left: Callable
    right: Callable
    twin: Callable
    specs: tuple = (V,)
    beyond: tuple[Callable, Callable, tuple] | None = None

    def __str__(self) -> str:
        return self.name


def adam(decay, count=ONE):
    """The second moment with its bias corrected, and the step that it makes."""
    corrected = lambda v: v / (1 - np.float32(decay) ** count)
    return lambda g, v: g / (jnp.sqrt(corrected(v)) + np.float32(1e-8))


def unit(v):
    return v / jnp.linalg.norm(v)


CASES = [
    Case("a divisor of constants", adam(0.999), lambda g, v: g / (jnp.sqrt(1000 * v) + np.float32(1e-8)),
         lambda g, v: g / (jnp.sqrt(999 * v) + np.float32(1e-8)), (V, P)),
    Case("a constant below 0", lambda x: jnp.where(jnp.isnan(x / (1 - np.float32(3) ** ONE)), 1, -2 * x),
         lambda x: -2 * x, lambda x: 2 * x),
    Case("nothing added", lambda p, u: jnp.where(u == 0, 1, p / (u + 0)), lambda p, u: jnp.where(u != 0, p / u, 1),
         lambda p, u: jnp.where(u > 0, p / u, 1), (V, V)),
    Case("the sign of a difference", lambda s: jnp.sqrt((jnp.exp(s) - jnp.expm1(-s)) ** 2),
         lambda s: jnp.exp(s) - jnp.exp(-s) + 1, lambda s: jnp.exp(s) + jnp.exp(-s) + 1, (P,)),
    Case("products of negative numbers", lambda s: jnp.abs(jnp.expm1(-s) * jnp.tanh(-s)),
         lambda s: jnp.expm1(-s) * jnp.tanh(-s), lambda s: -jnp.expm1(-s) * jnp.tanh(-s), (P,),
         (lambda s: jnp.abs(jnp.expm1(-s) * s), lambda s: -jnp.expm1(-s) * s, (V,))),
    Case("a reflection", lambda x, v: x - 2 * unit(v) * (x @ unit(v)), lambda x, v: x - 2 * v * (v @ x) / (v @ v),
         lambda x, v: x - v * (v @ x) / (v @ v), (V, V),
         (lambda x, v: x / jnp.abs(v) @ (v / jnp.abs(v)), lambda x, v: (x @ v) / (v @ v), (V, V))),
    Case("a sum of multiples of a root", lambda v: jnp.sum(unit(v)) ** 2, lambda v: jnp.sum(v) ** 2 / (v @ v),
         lambda v: jnp.sum(v) ** 2 / jnp.sqrt(v @ v)),
    Case("a number that is not negative", lambda x: jnp.where(jnp.linalg.norm(x) <= 0, 0, jnp.linalg.norm(x)),
         jnp.linalg.norm, lambda x: jnp.where(jnp.linalg.norm(x) <= 0, 1, jnp.linalg.norm(x)), (V,),
         (lambda x: jnp.where(jnp.sum(x) <= 0, 0, jnp.sum(x)), jnp.sum, (V,))),
    Case("digamma", lambda x: lax.digamma(x + 1), lambda x: lax.digamma(x) + 1 / x, lambda x: lax.digamma(x) - 1 / x,
         (P,)),
    Case("the derivative of digamma", jax.vmap(jax.grad(lax.digamma)), lambda x: lax.polygamma(jnp.ones_like(x), x),
         lambda x: lax.polygamma(2 * jnp.ones_like(x), x), (P,)),
    Case("incomplete gamma functions", lambda x: lax.igamma(x, 2 * x), lambda x: 1 - lax.igammac(x, 2 * x),
         lambda x: lax.igammac(x, 2 * x), (P,)),
    Case("a softplus of its inverse", lambda s: jax.nn.softplus(jnp.log(-jnp.expm1(-s)) + s), lambda s: 1 * s,
         lambda s: jax.nn.softplus(s), (P,),
         (lambda s: jax.nn.softplus(jnp.log(jnp.abs(jnp.expm1(-s))) + s), lambda s: 1 * s, (V,))),
    Case("an exponent above 0", lambda s: jnp.abs(3 * jnp.exp(s) - 2), lambda s: 3 * jnp.exp(s) - 2,
         lambda s: 2 - 3 * jnp.exp(s), (P,), (lambda s: jnp.abs(jnp.exp(s) - 2), lambda s: jnp.exp(s) - 2, (P,))),
    Case("a product of exponents below 0", lambda r, s: jnp.log(1 - jnp.exp(-r * s)),
         lambda r, s: jnp.log(jnp.exp(r * s) - 1) - r * s, lambda r, s: jnp.log(jnp.exp(r * s) - 1) + r * s, (P, P)),
    Case("two mixed densities", lambda a, b: jnp.logaddexp(a + jnp.log(0.25), b + jnp.log1p(-0.25)),
         lambda a, b: jnp.log((jnp.exp(a) + 3 * jnp.exp(b)) / 4),
         lambda a, b: jnp.log((3 * jnp.exp(a) + jnp.exp(b)) / 4),
         (V, V)),
    Case("zeta", lambda x: lax.zeta(x + 2, x) * 2, lambda x: lax.zeta(2 + x, x) + lax.zeta(x + 2, x),
         lambda x: 2 * lax.zeta(x + 3, x), (P,)),
    Case("even and odd Bessel functions", lambda x: lax.bessel_i0e(-x) - lax.bessel_i1e(-x),
         lambda x: lax.bessel_i0e(x) + lax.bessel_i1e(x), lambda x: lax.bessel_i0e(x) - lax.bessel_i1e(x)),
    Case("incomplete beta function", lambda x: lax.betainc(x, 2 * x, x / (1 + x)) * 2,
         lambda x: 2 * lax.betainc(x, x + x, 1 - 1 / (1 + x)), lambda x: 2 * lax.betainc(2 * x, x, x / (1 + x)), (P,)),
]  # fmt: skip

every_case = pytest.mark.parametrize("case", CASES, ids=str)


@every_case
def test_equal_functions_are_certified(case):
    found = uj.certify(case.left, case.right, *case.specs)
    assert found.verdict in EQUAL, found.evidence


@every_case
def test_the_twin_is_refuted(case):
    assert uj.certify(case.left, case.twin, *case.specs).verdict is Verdict.REFUTED


@pytest.mark.parametrize("case", [case for case in CASES if case.beyond], ids=str)
def test_beyond_the_condition_nothing_is_certified(case):
    left, right, specs = case.beyond
    assert uj.certify(left, right, *specs).verdict not in EQUAL


def test_what_has_a_sign_is_in_the_table_of_primitives():
    assert POSITIVE.keys() | NEGATIVE.keys() <= TABLE.keys()


NUMBERS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
FUNCTIONS = {
    1: "abs asinh cbrt erf exp expm1 log1p neg sinh square tanh".split(),
    2: "add div max min mul sub".split(),
}


@pytest.mark.parametrize("count, name", [(count, name) for count, names in FUNCTIONS.items() for name in names])
def test_the_rules_of_signs_say_what_numbers_have(count, name):
    """And say nothing else: each rule is given all numbers, and all pairs of them."""
    operands = [x.ravel() for x in np.meshgrid(*[NUMBERS] * count)]
    (equation,) = jax.make_jaxpr(getattr(lax, name))(*[np.float32(0)] * count).eqns
    known = list(map(of_constant, operands))
    with np.errstate(all="ignore"):
        values = np.asarray(getattr(lax, name)(*(np.float32(x) for x in operands)))
    defined = np.isfinite(values)
    for table, holds in ((POSITIVE, values > 0), (NEGATIVE, values < 0)):
        # What is not negative as a whole is known of arrays: each entry is an array of its own.
        said = [
            table.get(name, lambda *given: False)(equation, [x[i] for x in operands], [_entry(f, i) for f in known])
            for i in range(values.size)
        ]
        assert not np.any(np.array(said, bool).ravel() & defined & ~holds)
        assert name not in table or np.any(said)


def _entry(facts, i):
    return facts.moved(lambda a: a[:, i])


@pytest.mark.parametrize("power", [-3, -2, -1, 1, 2, 3])
def test_the_signs_of_powers(power):
    (equation,) = jax.make_jaxpr(lambda x: lax.integer_pow(x, power))(np.float32(0)).eqns
    known = of_constant(NUMBERS)
    values = np.array([x**power if x else 0.0 for x in NUMBERS])
    assert list(POSITIVE["integer_pow"](equation, [NUMBERS], [known])) == list(values > 0)
    assert list(NEGATIVE["integer_pow"](equation, [NUMBERS], [known])) == list(values < 0)
