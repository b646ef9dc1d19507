"""Theorem A: equality at a few sizes is equality at all, where the difference is seen to be of the right form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import erf, erfc

import uat_jax as uj
from uat_jax.decide.all_sizes import symbolic_programs
from uat_jax.decide.specification import Specification
from uat_jax.decide.verdict import Method
from uat_jax.numbers.indexed import Open
from uat_jax.numbers.indexed.cut_off import order_of

N, M = jax.export.symbolic_shape("n, m")
TWO = np.float32(2)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


VECTOR, ROWS = (f32(N),), (f32(N, 3),)


def product(a, b):
    return jnp.matmul(a, b, precision="highest")


def count(x):
    return jnp.asarray(x.shape[0]).astype(jnp.float32)


def pairs(x):
    return x[:, None] - x[None]


def magnitude(x):
    return jnp.abs(x) * jnp.sign(x)


# name: (left, right, a wrong twin of right, inputs, k + d)
PAIRS = {
    "erfc": (
        lambda x: erfc(x).sum(),
        lambda x: count(x) - erf(x).sum(),
        lambda x: count(x) + erf(x).sum(),
        VECTOR,
        1,
    ),
    "signs": (lambda x: magnitude(x).sum(), jnp.sum, lambda x: jnp.abs(x).sum(), VECTOR, 1),
    "a square of a sum": (
        lambda x: erfc(x).sum() ** 2,
        lambda x: (count(x) - erf(x).sum()) ** 2,
        lambda x: count(x) ** 2 - erf(x).sum() ** 2,
        VECTOR,
        2,
    ),
    "sums over pairs": (
        lambda x: erfc(pairs(x)).sum(),
        lambda x: count(x) ** 2 - erf(pairs(x)).sum(),
        lambda x: count(x) ** 2 - 1 - erf(pairs(x)).sum(),
        VECTOR,
        2,
    ),
    "rows": (
        lambda x: (erfc(x.sum(1)) * x[:, 0]).sum(),
        lambda x: (x[:, 0] - erf(x.sum(1)) * x[:, 0]).sum(),
        lambda x: (x[:, 0] - erf(x.sum(1)) * x[:, 1]).sum(),
        ROWS,
        1,
    ),
    "sums of many rows": (
        lambda x: erfc(x).sum(0),
        lambda x: count(x) - erf(x).sum(0),
        lambda x: count(x) - erf(x).sum(0)[::-1],
        ROWS,
        1,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_few_sizes_show_all(name):
    left, right, _, specs, order = PAIRS[name]
    found = uj.certify(left, right, *specs)
    last = found.evidence[-1]
    assert found.verdict is uj.Verdict.CERTIFIED and last.method is Method.CUT_OFF and last.subject == "all sizes"
    assert last.figures["order"] == order and len(last.figures["sizes"]) == order + 1
    assert last.figures["sizes"] == [f"n = {n}" for n in range(1, order + 2)]
    assert "Theorem A" in last.finding
    assert all(e.method is not Method.INDEXED_NORMAL_FORM for e in found.evidence)  # nothing else decides it


@pytest.mark.parametrize("name", PAIRS)
def test_the_wrong_twin_does_not_pass(name):
    left, _, wrong, specs, _ = PAIRS[name]
    assert not uj.certify(left, wrong, *specs).passes


def symmetric(x):
    """4! e₄ of a softmax by Newton's identities: 0 for n ≤ 3."""
    q1, q2, q3, q4 = (jnp.sum(jax.nn.softmax(x) ** k) for k in (1, 2, 3, 4))
    return q1**4 - 6 * q1**2 * q2 + 3 * q2**2 + 8 * q1 * q3 - 6 * q4


def symmetric_polynomial(x):
    """4! e₄ of erfc(x), whose sums are no quotients: 0 for n ≤ 3, and of the form of Theorem A with k = 4."""
    p1, p2, p3, p4 = (jnp.sum(erfc(x) ** k) for k in (1, 2, 3, 4))
    return p1**4 - 6 * p1**2 * p2 + 3 * p2**2 + 8 * p1 * p3 - 6 * p4


def determinant(x):
    """det(XᵀX) with three columns: 0 for n ≤ 2."""
    (a, b, c), (d, e, f), (g, h, i) = product(erfc(x).T, erfc(x))
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


NOTHING = lambda x: (erfc(x) + erf(x) - 1).sum()

# What is equal at small sizes and not at all, or has not the form of the theorem: name -> (left, right, inputs).
TRAPS = {
    "symmetric functions of a softmax": (lambda x: symmetric(x) + NOTHING(x), jnp.zeros_like, VECTOR),
    "symmetric polynomials": (lambda x: symmetric_polynomial(x), NOTHING, VECTOR),
    "a determinant": (lambda x: determinant(x), NOTHING, ROWS),
    "a window": (lambda x: erfc(x)[:9].sum(), lambda x: count(x) - erf(x).sum(), VECTOR),
    "a mask": (
        lambda x: (erfc(x) * (jnp.arange(x.shape[0]) < 11).astype(jnp.float32)).sum(),
        lambda x: count(x) - erf(x).sum(),
        VECTOR,
    ),
    "a product of sizes": (
        lambda x: erfc(x).sum() + jnp.prod(count(x) - jnp.arange(1, 6).astype(jnp.float32)),
        lambda x: count(x) - erf(x).sum(),
        VECTOR,
    ),
    "a relu of the size": (
        lambda x: erfc(x).sum() + jax.nn.relu(count(x) - 12),
        lambda x: count(x) - erf(x).sum(),
        VECTOR,
    ),
    "weights by places": (
        lambda x: (erfc(x) * jnp.arange(x.shape[0]).astype(jnp.float32)).sum(),
        lambda x: ((1 - erf(x)) * jnp.arange(x.shape[0])[::-1].astype(jnp.float32)).sum(),
        VECTOR,
    ),
    "neighbours": (
        lambda x: (erfc(x)[1:] * x[:-1]).sum(),
        lambda x: ((1 - erf(x))[:-1] * x[1:]).sum(),
        VECTOR,
    ),
    "the first entry": (lambda x: erfc(x).sum() + x[0], lambda x: count(x) - erf(x).sum() + x[-1], VECTOR),
    "a loop over the sum": (
        lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c), None), erfc(x).sum(), None, length=9)[0],
        lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c), None), x.sum(), None, length=9)[0],
        VECTOR,
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name):
    left, right, specs = TRAPS[name]
    right = (lambda x: NOTHING(x) * x) if right is jnp.zeros_like else right
    left_of = (lambda x: left(x) * x) if name == "symmetric functions of a softmax" else left
    assert not uj.certify(left_of, right, *specs, budget=60.0).passes


def _order(left, right, specs):
    first, second, inputs = symbolic_programs(left, right, Specification(specs))
    return order_of(first, second, inputs, "n")


FORMS = {
    "a quotient of sums": (lambda x: erfc(x).sum() / (x * x + 1).sum(), VECTOR),
    "a function of a sum": (lambda x: jnp.tanh(erfc(x).sum()), VECTOR),
    "a sum under a function that is summed": (lambda x: jnp.tanh(x * erfc(x).sum()).sum(), VECTOR),
    "an output for each place": (erfc, VECTOR),
    "a root that may be undefined": (lambda x: jnp.sqrt(x).sum(), VECTOR),
    "a maximum over all places": (lambda x: erfc(x).max(), VECTOR),
    "two axes of symbolic length": (lambda x: erfc(x).sum(), (f32(N, N),)),
    "one place behind the other": (lambda x: jnp.cumsum(erfc(x)).sum(), VECTOR),
    "a root of the size": (lambda x: erfc(x).sum() * jnp.sqrt(count(x)), VECTOR),
    "a quotient by the size": (lambda x: erfc(x).sum() / count(x), VECTOR),
    "a loop over what is summed": (
        lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c), None), x.sum(), None, length=3)[0],
        VECTOR,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_are_refused(name):
    function, specs = FORMS[name]
    with pytest.raises(Open):
        _order(function, lambda x: 0 * function(x), specs)


def test_orders():
    assert _order(lambda x: erfc(x).sum() ** 3 * count(x), lambda x: x.sum(), VECTOR) == 4
    assert _order(symmetric_polynomial, lambda x: x.sum(), VECTOR) == 4
    assert _order(determinant, lambda x: x.sum(), ROWS) == 3


@pytest.mark.parametrize("name", ["signs", "sums over pairs"])
def test_such_a_certificate_is_decided_again(name, tmp_path):
    """That of the signs has the chance added that numbers meet by chance."""
    left, right, _, specs, _ = PAIRS[name]
    given = uj.certify(left, right, *specs)
    again = uj.recheck(given.save(tmp_path / "c.json"))
    assert again.evidence[-1] == given.evidence[-1] and again.verdict is given.verdict
