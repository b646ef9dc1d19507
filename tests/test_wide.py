"""Pairs that are too wide to be evaluated are proved by one normal form, and wrong twins are not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import uat_jax as uj
from uat_jax.decide import pieces_evidence, wide
from uat_jax.decide.effort import Effort, deadline
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.verdict import Method
from uat_jax.decide.wide import wide_proof, width_of
from uat_jax.interpret import contraction
from uat_jax.interpret.work import multiplications
from uat_jax.numbers.prime_fields import prime_field

WIDE, TOKENS = 8192, 16_384
EPSILON = np.float32(2.0**-10)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def product(a, b):
    return jnp.matmul(a, b, precision="highest")


def attention(q, k, v):
    return product(jax.nn.softmax(product(q, k.T), axis=-1), v)


def attention_by_exponentials(q, k, v, axis=1):
    e = jnp.exp(product(q, k.T))
    return product(e, v) / e.sum(axis, keepdims=True).reshape(-1, 1)


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + EPSILON)


def layer_norm_by_moments(x, count=WIDE):
    m, square = x.sum(-1, keepdims=True) / np.float32(count), (x * x).sum(-1, keepdims=True) / np.float32(count)
    return (x - m) / jnp.sqrt(square - m * m + EPSILON)


def by_heads(x, w, order=(1, 0)):
    """Σ over heads of the product of a head's columns and its rows."""
    heads, rows = x.reshape(len(x), 64, 128), w.reshape(64, 128, -1)
    return jnp.einsum("nhd,hdm->nm", heads, rows[::-1][::-1] if order == (1, 0) else rows[::-1], precision="highest")


SQUARE = (f32(WIDE, WIDE),) * 3

# name: (left, right, a wrong twin of right, inputs, the lengths for which any others may stand)
PAIRS = {
    "associativity": (
        lambda a, b, c: product(product(a, b), c),
        lambda a, b, c: product(a, product(b, c)),
        lambda a, b, c: product(a, product(c, b)),
        SQUARE,
        (WIDE,),
    ),
    "attention": (
        attention,
        attention_by_exponentials,
        lambda q, k, v: attention_by_exponentials(q, k, v, axis=0),
        (f32(TOKENS, 64),) * 3,
        (TOKENS, 64),
    ),
    "a norm by moments": (
        layer_norm,
        layer_norm_by_moments,
        lambda x: layer_norm_by_moments(x, WIDE - 1),
        (f32(4 * WIDE, WIDE),),
        (4 * WIDE,),
    ),
    "heads": (product, by_heads, lambda x, w: by_heads(x, w, (0, 1)), (f32(WIDE, WIDE), f32(WIDE, WIDE)), ()),
    "the last row": (
        lambda x, w: product(x, w)[-1],
        lambda x, w: product(x[WIDE - 1 :], w)[0],
        lambda x, w: product(x[WIDE - 2 :], w)[0],
        (f32(WIDE, WIDE), f32(WIDE, WIDE)),
        (WIDE,),
    ),
    "a domain": (
        lambda a, b: jnp.sqrt(product(a, b) * product(a, b)),
        product,
        lambda a, b: -product(a, b),
        (uj.nonnegative(f32(WIDE, WIDE)), uj.nonnegative(f32(WIDE, WIDE))),
        (WIDE,),
    ),
}


@pytest.fixture
def undrawn(monkeypatch):
    """Nothing is evaluated in prime fields."""
    monkeypatch.setattr(PrimeFields, "draw", lambda *arguments: pytest.fail("drawn"))


@pytest.mark.parametrize("name", PAIRS)
def test_a_wide_pair_is_proved_without_being_evaluated(name, undrawn):
    left, right, _, specs, lengths = PAIRS[name]
    (evidence,) = uj.certify(left, right, *specs).evidence
    assert evidence.method is Method.INDEXED_NORMAL_FORM and evidence.verdict is uj.Verdict.PROVED
    assert evidence.figures["lengths"] == list(lengths), evidence.finding
    assert "prime fields need" in evidence.figures["reason"]


@pytest.mark.parametrize("name", PAIRS)
def test_its_wrong_twin_is_not(name):
    left, _, wrong, specs, _ = PAIRS[name]
    assert _proof(left, wrong, specs) is None


def _proof(left, right, specs):
    question = uj.decide.equivalence.Question(left, right, uj.decide.specification.Specification(tuple(specs)))
    (pair,), _ = question.pairs()
    programs, effort = (pair.left, pair.right), Effort(deadline=deadline(60.0))
    return wide_proof(programs, width_of(programs, effort), effort, pair.domains)


def test_the_time_is_kept_where_nothing_is_proved():
    """What cannot be evaluated in time is not begun, and large products are interrupted."""
    left, _, wrong, specs, _ = PAIRS["associativity"]
    (evidence,) = uj.certify(left, wrong, *specs, budget=2.0).evidence
    assert evidence.verdict is uj.Verdict.UNKNOWN and evidence.method is Method.BUDGET
    assert "2^41 multiplications" in evidence.finding and "allow more seconds" in evidence.finding


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_large_products_ask_for_the_time(dtype, monkeypatch):
    monkeypatch.setattr(contraction, "AT_ONCE", 100)
    a, b = (np.arange(120).reshape(shape).astype(dtype) for shape in ((2, 10, 6), (2, 6, 10)))
    asked = []
    numbers = ((2,), (1,)), ((0,), (0,))
    found = contraction.dot_general(a, b, numbers, (2, 10, 10), lambda: asked.append(None))
    assert np.array_equal(found, a @ b) and len(asked) == 20


def test_large_products_in_fields_ask_for_the_time(monkeypatch):
    monkeypatch.setattr(prime_field, "BLOCK", 10)
    monkeypatch.setattr(prime_field, "SMALL", 10)
    field, asked = prime_field.PrimeField(1_000_003), []
    a, b = np.arange(120).reshape(1, 10, 12), np.arange(120).reshape(1, 12, 10)
    assert np.array_equal(field.matmul(a, b, lambda: asked.append(None)), (a @ b) % 1_000_003) and asked


LONG = 1 << 20

# What a rule for all lengths may get wrong at a number: pairs that differ, with a true twin each.
ATTACKS = {
    "an integer that wraps": (
        lambda x: product(x, x.T)[0] + (jnp.arange(LONG) * np.int32(4096)).astype(jnp.float32),
        lambda x: product(x, x.T)[0] + jnp.arange(LONG).astype(jnp.float32) * np.float32(4096),
        lambda x: product(x, x.T)[0] + (jnp.arange(LONG) * np.int32(1024)).astype(jnp.float32),
        lambda x: product(x, x.T)[0] + jnp.arange(LONG).astype(jnp.float32) * np.float32(1024),
        (f32(LONG, 8),),
    ),
    "two axes of one length": (
        lambda a, b: product(a, b).sum(0),
        lambda a, b: product(a, b).sum(1),
        lambda a, b: product(a, b).sum(0),
        lambda a, b: product(a.sum(0)[None], b)[0],
        (f32(WIDE, WIDE),) * 2,
    ),
    "a window that is one too short": (
        lambda a: product(a, a)[: WIDE - 1].sum(),
        lambda a: product(a, a).sum(),
        lambda a: product(a, a)[:WIDE].sum(),
        lambda a: product(a, a).sum(),
        (f32(WIDE, WIDE),),
    ),
    "a mask past the end": (
        lambda a: product(a, a) * (jnp.arange(WIDE)[None] < WIDE - 1).astype(jnp.float32),
        product_with_itself := lambda a: product(a, a),
        lambda a: product(a, a) * (jnp.arange(WIDE)[None] < WIDE).astype(jnp.float32),
        product_with_itself,
        (f32(WIDE, WIDE),),
    ),
    "a count in the place of a length": (
        lambda a: product(a, a).sum() / np.float32(WIDE + 1),
        lambda a: product(a, a).sum(0).mean(),
        lambda a: product(a, a).sum() / np.float32(WIDE),
        lambda a: product(a, a).sum(0).mean(),
        (f32(WIDE, WIDE),),
    ),
}


BILLIONS = 1 << 31


def counted(true, length, dtype: type[np.integer] = np.int32):
    """x times how many places of an axis have a property."""
    return lambda x: x * jnp.sum(true(lax.iota(dtype, length)).astype(x.dtype))


def times(number):
    return lambda x: x * np.asarray(number, x.dtype)


def among_many(function):
    """The function times a sum of so many ones that nobody evaluates it."""
    return lambda x: function(x) * jnp.sum(jnp.ones(1 << 33, x.dtype))


NARROW = lambda whole: whole.astype(np.int32)
DOUBLES = (jax.ShapeDtypeStruct((3,), np.float64),)

# Places of an axis of more entries than 32 bits count, and numbers of 64 bits that are cast to 32.
ATTACKS |= {
    "places that wrap": (
        counted(lambda i: i >= 0, 2 * BILLIONS),
        times(2 * BILLIONS),
        counted(lambda i: i >= 0, BILLIONS),
        times(BILLIONS),
        (f32(3),),
    ),
    "places that wrap after one another": (
        counted(lambda i: i[1:] > i[:-1], 2 * BILLIONS),
        times(2 * BILLIONS - 1),
        counted(lambda i: i[1:] > i[:-1], BILLIONS),
        times(BILLIONS - 1),
        DOUBLES,
    ),
    "places that are cast": (
        counted(lambda i: NARROW(i) >= 0, 2 * BILLIONS, np.int64),
        times(2 * BILLIONS),
        counted(lambda i: NARROW(i) >= 0, BILLIONS - 1, np.int64),
        times(BILLIONS - 1),
        DOUBLES,
    ),
    "a number that is cast": (
        among_many(lambda x: x * (NARROW(jnp.full(3, BILLIONS + 5)) > 0).astype(x.dtype)),
        among_many(lambda x: x),
        among_many(lambda x: x * (NARROW(jnp.full(3, BILLIONS - 5)) > 0).astype(x.dtype)),
        among_many(lambda x: x),
        DOUBLES,
    ),
    "an index that is cast": (
        counted(lambda i: NARROW(i[BILLIONS:]) < 0, 2 * BILLIONS - 7, np.int64),
        times(0),
        counted(lambda i: NARROW(i[: BILLIONS - 7]) < 0, BILLIONS, np.int64),
        times(0),
        DOUBLES,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_holds_at_other_lengths_is_not_proved_at_these(name):
    left, wrong, true, twin, specs = ATTACKS[name]
    assert _proof(left, wrong, specs) is None
    assert _proof(true, twin, specs) is not None


def test_functions_that_are_nowhere_defined_are_not_proved():
    def twice(sign):
        log = lambda a: jnp.log(sign * (product(a, a) ** 2 + 1))
        return _proof(lambda a: log(a) * 2, lambda a: log(a) + log(a), (f32(WIDE, WIDE),))

    assert twice(np.float32(-1)) is None
    assert twice(np.float32(1)) is not None


def test_small_pairs_are_evaluated():
    left, right, *_ = PAIRS["associativity"]
    assert uj.certify(left, right, *(f32(3, 3),) * 3).evidence[0].method is Method.PRIME_FIELDS


def test_multiplications():
    program = jax.make_jaxpr(lambda a, b: product(a, b) + a)(f32(3, 5), f32(5, 5))
    assert multiplications(program) == 3 * 5 * 5 + 3 * 5
    body = lambda c, x: (product(c, x), None)
    powers = jax.make_jaxpr(lambda c, x: jax.lax.scan(body, c, x)[0])(f32(2, 2), f32(7, 2, 2))
    assert multiplications(powers) == 7 * 8 + 4


def test_a_wide_certificate_can_be_decided_again(tmp_path):
    left, right, _, specs, _ = PAIRS["associativity"]
    path = uj.certify(left, right, *specs).save(tmp_path / "c.json")
    assert uj.recheck(path).passes


# --- pieces -----------------------------------------------------------------------------------------------------------

SIDE = 24


def with_tail(matrices, tail):
    """A wide part, and a product of entries that has no normal form."""
    return lambda a, b, v: tail(layer_norm(matrices(a, b, v)))


def by_prod(h):
    """A Bessel function has no normal form for all lengths: what it is applied to has to be decided apart from it."""
    return jnp.stack([jnp.prod(jax.scipy.special.i0e(h[:4])), h.sum()])


def by_factors(h):
    t = jax.scipy.special.i0e(h[:4])
    return jnp.stack([t[0] * t[1] * t[2] * t[3], h.sum()])


@pytest.fixture
def narrow(monkeypatch):
    """Few entries are many."""
    monkeypatch.setattr(pieces_evidence, "MANY_ENTRIES", 100)
    monkeypatch.setattr(wide, "MANY_ENTRIES", SIDE**2)


def test_a_wide_piece_is_proved_and_listed(narrow):
    left = with_tail(lambda a, b, v: product(product(a, b), v), by_prod)
    right = with_tail(lambda a, b, v: product(a, product(b, v)), by_factors)
    wrong = with_tail(lambda a, b, v: product(b, product(a, v)), by_factors)
    specs = f32(SIDE, SIDE), f32(SIDE, SIDE), f32(SIDE)
    found = uj.certify(left, right, *specs)
    (evidence,) = found.evidence
    (piece,) = evidence.figures["wide"]
    assert found.verdict is uj.Verdict.CERTIFIED and "too wide to be evaluated" in evidence.finding
    assert "test_wide.py" in piece["left"] and "entries" in piece["reason"] and piece["count"] == 1
    assert not uj.certify(left, wrong, *specs).passes
