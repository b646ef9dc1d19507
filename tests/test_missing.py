"""What is said where two functions are equal and no law shows it: the kind of law that is missing, or the primitive."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.arithmetic.primitives import TABLE
from uat_jax.decide.missing import MISSING

V = jax.ShapeDtypeStruct((3,), jnp.float32)
P = uj.positive(V)
A = jax.ShapeDtypeStruct((2, 2), jnp.float32)
LONG = jax.ShapeDtypeStruct((9,), jnp.float32)

PAIRS = [
    ("rounding", lambda x: jnp.floor(2 * x), lambda x: jnp.floor(x + 0.5) + jnp.floor(x), (V,),
     "'floor': no law says it of rounding"),
    ("order", lambda x: jnp.sort(jnp.exp(x)), lambda x: jnp.exp(jnp.sort(x)), (LONG,),
     "no law says it of sorted numbers and places"),
    ("inverse functions", lambda x: jnp.arctan(x) + jnp.arctan(1 / x), lambda x: np.float32(np.pi / 2) + 0 * x, (P,),
     "'atan': of trigonometric functions"),
    ("special functions", lambda x: lax.lgamma(2 * x) - 2 * np.float32(np.log(2)) * x,
     lambda x: lax.lgamma(x) + lax.lgamma(x + 0.5) - np.float32(np.log(4 * np.pi) / 2), (P,),
     "'lgamma': of special functions symmetries"),
    ("unknown functions", lambda x: lax.igamma_grad_a(x, x) + lax.igamma_grad_a(x, 2 * x),
     lambda x: 2 * lax.igamma_grad_a(x, 3 * x / 2), (P,), "'igamma_grad_a': no rule"),
]  # fmt: skip


@pytest.mark.parametrize("left, right, specs, text", [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS])
def test_what_is_missing_is_named(left, right, specs, text):
    found = uj.certify(left, right, *specs)
    assert found.verdict in (Verdict.AGREES, Verdict.UNKNOWN)
    assert text in found.evidence[-1].finding


def test_every_kind_is_one_of_known_primitives():
    kinds = [name for names in MISSING for name in names.split()]
    assert set(kinds) <= set(TABLE) and len(set(kinds)) == len(kinds)
