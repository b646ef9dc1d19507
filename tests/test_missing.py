"""What an undecided comparison says: the primitive or law that is missing, the line, and what the user can do."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from messages import lacking

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.decide.fields_evidence import _named
from uat_jax.decide.missing import MISSING, SLOW, advised, missing, takes_long
from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.primitives import TABLE

V = jax.ShapeDtypeStruct((3,), jnp.float32)
P = uj.positive(V)
A = jax.ShapeDtypeStruct((2, 2), jnp.float32)
KEY = jax.eval_shape(lambda: jax.random.key(0))
LONG = jax.ShapeDtypeStruct((9,), jnp.float32)

PAIRS = [
    ("rounding", lambda x: jnp.floor(2 * x), lambda x: jnp.floor(x + 0.5) + jnp.floor(x), (V,),
     "'floor' at test_missing.py:N: no law says it of rounding; compare what is rounded"),
    ("order", lambda x: jnp.sort(x * jnp.abs(x)), lambda x: jnp.sort(x) * jnp.abs(jnp.sort(x)), (LONG,),
     "'sort' near test_missing.py:N: no law says it of sorted numbers and places; compare"),
    ("inverse functions", lambda x: jnp.arctan(x) + jnp.arctan(1 / x), lambda x: np.float32(np.pi / 2) + 0 * x, (P,),
     "'atan' at test_missing.py:N: of trigonometric functions"),
    ("special functions", lambda x: lax.lgamma(2 * x) - 2 * np.float32(np.log(2)) * x,
     lambda x: lax.lgamma(x) + lax.lgamma(x + 0.5) - np.float32(np.log(4 * np.pi) / 2), (P,),
     "'lgamma' at test_missing.py:N: of special functions symmetries"),
    ("unknown functions", lambda x: lax.igamma_grad_a(x, x) + lax.igamma_grad_a(x, 2 * x),
     lambda x: 2 * lax.igamma_grad_a(x, 3 * x / 2), (P,),
     "'igamma_grad_a' at test_missing.py:N: no rule"),
    ("decisions", lambda x: jnp.max(jnp.outer(x, x)), lambda x: jnp.maximum(jnp.max(x) ** 2, jnp.min(x) ** 2), (LONG,),
     "test_missing.py:N: the cases of these decisions do not all show it; give the inputs a domain"),
    ("logarithms", lambda x, c: jnp.log((1 - c * c) / (1 + c * c - 2 * c * jnp.cos(x))),
     lambda x, c: jnp.log(1 - c * c) - jnp.log(1 + c * c - 2 * c * jnp.cos(x)), (V, uj.interval(V, 0.125, 0.875)),
     "'log' at test_missing.py:N: a logarithm is taken apart where its factors are known to be positive; give"),
    ("an infinity that the input chooses", lambda x: jnp.exp(jnp.sort(jnp.where(x > 0, -x, -jnp.inf))),
     lambda x: jnp.sort(jnp.exp(jnp.where(x > 0, -x, -jnp.inf))), (LONG,),
     "'sort' takes an infinity or NaN that depends on the input; select a large finite number"),
    ("factors of matrices", lambda a: jnp.linalg.svd(a @ a.T, compute_uv=False).sum(), lambda a: (a * a).sum(), (A,),
     "of factors of matrices their defining equations are known"),
    ("words of a key", lambda k: jax.random.key_data(k)[0] & 1, lambda k: jax.random.key_data(k)[0] % 2, (KEY,),
     "'random_unwrap' at test_missing.py:N: the words of a random key and the bits drawn from it"),
    ("bits drawn from a key", lambda k: jax.random.bits(k, (2,)), lambda k: jax.random.bits(k, (2,)) ^ 0, (KEY,),
     "'random_bits' at test_missing.py:N: the words of a random key and the bits drawn from it"),
]  # fmt: skip


@pytest.mark.parametrize("left, right, specs, text", [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS])
def test_what_is_missing_is_named_with_its_line_and_what_to_do(left, right, specs, text):
    found = uj.certify(left, right, *specs, budget=20)
    assert found.verdict in (Verdict.AGREES, Verdict.UNKNOWN)
    message = found.evidence[-1].finding
    assert text in re.sub(r"(test_missing\.py):\d+", r"\1:N", message)
    assert not lacking(message)


def slow(x):
    for _ in range(30):
        x = jnp.maximum(jnp.sin(x), jnp.roll(x, 1) * x)
    return x


def slow_again(x):
    for _ in range(30):
        x = jnp.maximum(jnp.roll(x, 1) * x, jnp.sin(x))
    return x


def test_where_the_time_is_up_it_is_said_what_takes_long():
    found = uj.certify(slow, slow_again, LONG, budget=0.05)
    assert found.verdict is Verdict.UNKNOWN
    message = found.evidence[-1].finding
    assert "what takes long is 'max' at test_missing.py" in message and not lacking(message)


def program(function, *shapes):
    return jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes))


def test_a_program_without_any_decision_is_long():
    text = takes_long((program(lambda x: jnp.exp(x) * x, (3,)),) * 2)
    assert text.startswith("what takes long is the number of operations, 4, the last of them 'mul' at test_missing.py")
    assert not lacking(text)


def test_what_the_programs_do_not_share_goes_before_the_rest():
    """Both sort, and one of them takes a logarithm besides."""
    left, right = program(lambda x: jnp.log(jnp.sort(x)), (3,)), program(jnp.sort, (3,))
    inner = [e for e in left.jaxpr.eqns if e.primitive.name == "log"]
    assert missing((left, right), (inner, ())).startswith("'log' at test_missing.py")
    assert missing((left, right)).startswith("'sort'")


def test_sums_and_products_alone_point_at_constants():
    both = (program(lambda x: x * x + x, (3,)),) * 2
    text = missing(both, (tuple(both[0].jaxpr.eqns), ()))
    assert text.startswith("'mul' at test_missing.py") and "a constant is read differently" in text
    assert not lacking(text)


def test_a_constant_mask_is_no_decision_and_one_of_the_inputs_is():
    masked = lambda mask: lambda x: jnp.where(mask(x), x * x, 0.0).sum()
    constant = (program(masked(lambda x: jnp.tril(jnp.ones((3, 3), bool))), (3, 3)),) * 2
    assert "number of operations" in takes_long(constant)
    assert takes_long((program(masked(lambda x: x > 0), (3, 3)),) * 2).startswith("what takes long is 'gt'")


@pytest.mark.parametrize("refusal", ["something may be undefined", "'log' may be undefined", "'log' may be; mask it"])
def test_a_refusal_without_a_place_or_advice_is_completed(refusal):
    both = (program(lambda x: jnp.log(x) + 1, (3,)),) * 2
    text = advised(refusal, both)
    assert text.startswith(refusal) and not lacking(text)
    assert advised(text, both) == text


def test_what_has_no_line_at_all_stands_in_code_of_jax(monkeypatch):
    """A function of JAX that is compared as it is."""
    monkeypatch.setattr("uat_jax.decide.missing.source_line", lambda equation: "")
    text = missing((program(jnp.linalg.det, (4, 4)),) * 2)
    assert "'lu' at a line that is not known" in text and not lacking(text)


def test_a_line_that_jax_wrote_is_near_the_one_that_called_it():
    both = (jax.make_jaxpr(jax.grad(lambda x: jax.nn.softplus(x).sum()))(np.ones(3, np.float32)),) * 2
    assert not lacking(missing(both))


def test_a_decision_that_jax_wrote_is_near_the_line_that_called_it():
    """As where two functions are equal but for ties: the maximum of jax.nn.standardize has no line of its own."""
    program = jax.make_jaxpr(lambda x: 2 * jax.nn.standardize(x))(np.ones(3, np.float32))
    decisions = [e for e in flat(program.jaxpr) if e.primitive.name == "max"]
    assert decisions and all(re.fullmatch(r"'max' near test_missing.py:\d+", _named([program], [e])) for e in decisions)


def flat(jaxpr):
    """All equations, also of programs within."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in inner_programs(equation):
            yield from flat(getattr(inner, "jaxpr", inner))


@pytest.mark.parametrize("table", [MISSING, SLOW], ids=["missing", "slow"])
def test_every_kind_is_one_of_known_primitives(table):
    kinds = [name for names in table for name in names.split()]
    assert set(kinds) <= set(TABLE) and len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("message, what", [
    ("different as formal expressions; compare the operands", "no primitive"),
    ("'log' differs; compare the operands", "no line"),
    ("'log' at a.py:3 differs", "nothing to do"),
    ("'blog' at a.py:3 differs; compare the operands", "no primitive"),
])  # fmt: skip
def test_what_a_message_lacks_is_noticed(message, what):
    assert what in lacking(message)
