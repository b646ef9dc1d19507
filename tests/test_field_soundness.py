"""Pairs around the corners of the laws of prime fields: different ones are never certified, equal ones are.

Each different pair differs, at inputs of positive measure at which both are finite, for the reason in the comment.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from uat_jax.decide.domain import interval
from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict

F = jax.ShapeDtypeStruct((4,), jnp.float32)
HALF, TURN = (interval(F, -bound, bound) for bound in (3.0, 3.25))
MASK = np.array([True, False, True, True])
LAST = np.array([0, 0, 0, 30], np.float32)
FAR = np.float32(30)
"""Random normal numbers do not reach it: x + FAR is negative on a set of positive measure that no sample sees."""


def real(x):
    """Booleans and integers as floats."""
    return x.astype(jnp.float32)


def masked(x, value):
    """x with another value at one place."""
    return jnp.where(MASK, x, np.float32(value))


def relu(x):
    """max(x, 0)."""
    return jnp.maximum(x, np.float32(0))


def outer(function, x):
    """A function of each pair of entries of x."""
    return function(x[None], x[:, None])


def one(x):
    """1, written with x."""
    return 1 + 0 * x


def beside(x, y):
    """y next to a number so large that float64 samples see nothing of y."""
    return jnp.stack([1e9 * jnp.sum(x), y])


def sign_of_largest(x, largest):
    """sign(largest(x, -FAR) + FAR)²."""
    return jnp.sign(largest(jnp.concatenate([x, np.full(1, -FAR)])) + FAR) ** 2


WEIGHTS = np.linspace(0.3, 1.7, 16).astype(np.float32)


def rounding(x):
    """0, written so that float64 never gives exactly 0."""
    a, b = jnp.sum(x), jnp.outer(WEIGHTS, x)
    return jnp.sum((a + b) ** 2 - (a * a + 2 * a * b + b * b))


def sum_of_far_relus(x):
    """0 if all entries are below -FAR."""
    return sum(relu((k + 1) * x[i] + FAR) for i in range(4) for k in range(3))


CANCELLING = next(c for c in np.linspace(0.1, 3, 100).astype(np.float32) if np.exp(float(c)) * np.exp(-float(c)) > 1)


def rounded_constant():
    """0, and more than 0 in float64."""
    return jnp.exp(jnp.float32(CANCELLING)) * jnp.exp(-jnp.float32(CANCELLING)) - 1


def times(sign):
    """A factor that is `sign` at the masked place."""
    return np.where(MASK, 1, sign).astype(np.float32)


DIFFERENT = [
    # An infinity is not 0, whatever an unknown function makes of it.
    (
        "argmax over a mask",
        lambda x: real(jnp.argmax(masked(x + FAR, -np.inf))),
        lambda x: real(jnp.argmax(masked(x + FAR, 0))),
        F,
    ),
    (
        "arctan2 of infinity",
        lambda x: jnp.arctan2(x, jnp.full_like(x, np.inf)),
        lambda x: jnp.arctan2(x, jnp.zeros_like(x)),
        F,
    ),
    (
        "arctan2 of infinity, unseen",
        lambda x: beside(x, jnp.arctan2(x[0], np.float32(np.inf))),
        lambda x: beside(x, jnp.arctan2(x[0], np.float32(0))),
        F,
    ),
    (
        "floor of infinity",
        lambda x: jnp.exp(jnp.floor(masked(x, -np.inf))),
        lambda x: jnp.exp(jnp.floor(masked(x, 0))),
        F,
    ),
    ("erfc of infinity", lambda x: lax.erfc(masked(x, -np.inf)), lambda x: lax.erfc(masked(x, 0)), F),
    ("logistic of infinity", lambda x: jax.nn.sigmoid(masked(x, -np.inf)), lambda x: jax.nn.sigmoid(masked(x, 0)), F),
    ("sign of infinity", lambda x: jnp.sign(masked(x, -np.inf)), lambda x: jnp.sign(masked(x, 0)), F),
    # A maximum with ∞ is ∞.
    (
        "largest entry infinite",
        lambda x: jnp.exp(-jnp.max(masked(x, np.inf))),
        lambda x: jnp.exp(-jnp.max(masked(x, 0))),
        F,
    ),
    (
        "maximum with infinity",
        lambda x: jnp.exp(-jnp.maximum(masked(x, np.inf), x)),
        lambda x: jnp.exp(-jnp.maximum(masked(x, 0), x)),
        F,
    ),
    # log 0 is -∞, not log 1.
    (
        "exponential of log 0",
        lambda x: jnp.exp(jnp.log(masked(jnp.exp(x), 0))),
        lambda x: jnp.exp(jnp.log(masked(jnp.exp(x), 1))),
        F,
    ),
    # Masks of -1e30 that come out again are the finite numbers that they are.
    ("sum over a mask", lambda x: jnp.sum(masked(x, -1e30)), lambda x: jnp.sum(masked(2 * x, -2e30)), F),
    ("multiples of a mask", lambda x: (x - 1e30) * 1e-30, lambda x: (x - 2e30) * 1e-30, F),
    ("shifted masks", lambda x: x - 1e30, lambda x: x - 2e30, F),
    # Integers and booleans are 0 on sets of positive measure.
    ("place > 0", lambda x: real(jnp.argmax(x + LAST) > 0), lambda x: real(jnp.argmax(x + LAST) >= 0), F),
    ("sign of a place", lambda x: real(jnp.sign(jnp.argmax(x + LAST))) ** 2, lambda x: one(x[0]), F),
    ("boolean > boolean", lambda x: real((x > -FAR) > (x < FAR)), lambda x: real((x > -FAR) >= (x < FAR)), F),
    # Bits and quotients of integers are not products and quotients of numbers.
    ("and of bits", lambda x: real(jnp.argmax(x) & 1), lambda x: real(jnp.argmax(x)), F),
    ("or of bits", lambda x: real(jnp.argmax(x) | 1), lambda x: one(x[0]), F),
    ("not of bits", lambda x: real(~jnp.argmax(x)), lambda x: real(1 - jnp.argmax(x)), F),
    ("exclusive or of bits", lambda x: real(jnp.argmax(x) ^ 1), lambda x: real(1 - jnp.argmax(x)), F),
    ("integer quotient", lambda x: real(lax.div(jnp.argmax(x), np.int32(2))), lambda x: real(jnp.argmax(x)) / 2, F),
    # Casts saturate, wrap, and make 1 of every truth.
    ("place as a boolean", lambda x: real(jnp.argmax(x) != 0), lambda x: real(jnp.argmax(x)), F),
    (
        "cast to a boolean",
        lambda x: real(lax.convert_element_type(jnp.argmax(x), np.bool_)),
        lambda x: real(jnp.argmax(x)),
        F,
    ),
    ("signed and unsigned", lambda x: real((x + 10).astype(np.uint8)), lambda x: real((x + 10).astype(np.int32)), F),
    ("short integers", lambda x: real(x.astype(np.int8)), lambda x: real(x.astype(np.int32)), F),
    ("saturation is not odd", lambda x: real(x.astype(np.int32)), lambda x: -real((-x).astype(np.int32)), F),
    # x > 0 and x ≥ 0 differ where x vanishes on a set of positive measure, however far away.
    ("sign of a far relu", lambda x: jnp.sign(relu(x + FAR)) ** 2, one, F),
    ("sign of a far clip", lambda x: jnp.sign(jnp.clip(x, -40, 40) - 40) ** 2, one, F),
    ("sign of a far choice", lambda x: jnp.sign(jnp.where(x > -FAR, np.float32(1), np.float32(0))) ** 2, one, F),
    ("sign of a far maximum", lambda x: sign_of_largest(x, jnp.max), lambda x: one(x[0]), F),
    ("sign of a far sorted entry", lambda x: sign_of_largest(x, lambda a: jnp.sort(a)[-1]), lambda x: one(x[0]), F),
    ("far one-hot > 0", lambda x: real(real(jnp.argmax(x + LAST) == 3) > 0), lambda x: one(x[0]), F),
    (
        "sign of a far floor",
        lambda x: real(jnp.floor(x / FAR / 2 + 0.5) > 0),
        lambda x: real(jnp.floor(x / FAR / 2 + 0.5) >= 0),
        F,
    ),
    ("sign times a root", lambda x, y: jnp.sign(y * jnp.sqrt(relu(x + FAR))), lambda x, y: jnp.sign(y) + 0 * x, F, F),
    ("sign of a sum of far relus", lambda x: jnp.sign(sum_of_far_relus(x)) ** 2, lambda x: one(x[0]), F),
    # What is zero as a function has no sign, whatever float64 makes of it.
    ("sign of rounding", lambda x: jnp.sign(rounding(x)) ** 2, lambda x: one(x[0]), F),
    ("rounding > 0", lambda x: real(rounding(x) > 0), lambda x: real(rounding(x) >= 0), F),
    ("sign of relu and rounding", lambda x: jnp.sign(relu(x[0]) + rounding(x)) ** 2, lambda x: one(x[0]), F),
    ("constants but for rounding", lambda x: jnp.where(rounded_constant() > 0, x, -x), lambda x: x, F),
    # A product with an infinity is not followed: nothing is decided by it.
    (
        "argmax of an undefined product",
        lambda x: beside(x, real(jnp.argmax(masked(x, -np.inf) * times(-1)))),
        lambda x: beside(x, real(jnp.argmax(masked(x, -np.inf) * times(1)))),
        F,
    ),
    (
        "comparison of an undefined product",
        lambda x: jnp.concatenate([1e9 * x, real(masked(x, -np.inf) * times(-1) > 0)]),
        lambda x: jnp.concatenate([1e9 * x, masked(real(x > 0), 0)]),
        F,
    ),
    (
        "isnan of 1/0",
        lambda x: jnp.concatenate([1e9 * x, jnp.where(jnp.isnan(1 / (x - x)), x, -x)]),
        lambda x: jnp.concatenate([1e9 * x, x]),
        F,
    ),
    # The bits of unsigned numbers are others.
    ("bits of two types", lambda x: real(~(x > 0).astype(np.uint8)), lambda x: real(~(x > 0).astype(np.int32)), F),
    ("unsigned numbers wrap", lambda x: real(-((x > 0).astype(np.uint8))), lambda x: -real(x > 0), F),
    # Ties among the first keys of a sort are broken by the second.
    (
        "second key",
        lambda x, y: lax.sort((jnp.floor(x), y), num_keys=2)[1],
        lambda x, y: lax.sort((jnp.floor(x), y), num_keys=1)[1],
        F,
        F,
    ),
    (
        "another second key",
        lambda x, y: lax.sort((jnp.floor(x), y, x), num_keys=2)[2],
        lambda x, y: lax.sort((jnp.floor(x), y * y, x), num_keys=2)[2],
        F,
        F,
    ),
    # What looks at NaN makes a number of it.
    ("isnan", lambda x: jnp.where(jnp.isnan(jnp.sqrt(x)), np.float32(5), x), lambda x: x, F),
    ("isfinite", lambda x: jnp.where(jnp.isfinite(jnp.log(x)), np.float32(5), x), lambda x: 5 * one(x), F),
    ("comparison with NaN", lambda x: real(jnp.sqrt(x) >= 0), one, F),
    # What is undefined for x ≤ 0 is not a number there, whatever rounds it or takes a root of it.
    (
        "a rounded quotient by what vanishes on a half-line",
        lambda x: jnp.where(x > -1, jnp.floor(relu(x) / relu(x)), np.float32(5)),
        lambda x: jnp.where(x > -1, np.float32(1), np.float32(5)),
        F,
    ),
    (
        "a root of a quotient by what vanishes on a half-line",
        lambda x: jnp.where(x > -1, 2 + jnp.sqrt(relu(x) / relu(x)), np.float32(5)),
        lambda x: jnp.where(x > -1, np.float32(3), np.float32(5)),
        F,
    ),
    ("1 over a rounded 1 over relu", lambda x: 1 / jnp.floor(1 / relu(x)), lambda x: x, F),
    (
        "the largest of what vanishes on a half-line",
        lambda x: jnp.where(x > -1, jnp.max(relu(x)) / jnp.max(relu(x)), np.float32(3)),
        lambda x: jnp.where(x > -1, np.float32(1), np.float32(3)),
        F,
    ),
    # A choice of NaN or ∞ is a value like others; nothing follows from a comparison with NaN that fails.
    (
        "NaN by choice is not the number behind it",
        lambda x: (lambda y: jnp.where(jnp.isnan(y), np.float32(5), y))(jnp.where(x > 0, x, np.nan)),
        lambda x: x,
        F,
    ),
    (
        "not above 0, or NaN by choice",
        lambda x: (lambda y: jnp.where(~(y > 0), jnp.where(y <= 0, 1.0, 2.0), 3.0))(jnp.where(x > 0, x - 1, np.nan)),
        lambda x: jnp.where(x > 1, 3.0, 1.0),
        F,
    ),
    (
        "the larger of -∞ by choice and a number",
        lambda x: jnp.maximum(jnp.where(x > 0, x, -np.inf), np.float32(-3)),
        lambda x: jnp.maximum(x, np.float32(-3)),
        F,
    ),
    (
        "−∞ by choice is not ∞",
        lambda x: jnp.where(jnp.isposinf(jnp.where(x > 0, x, -np.inf)), np.float32(5), relu(x)),
        lambda x: jnp.where(x > 0, x, np.float32(5)),
        F,
    ),
    # x[None] and x[:, None] have the same entries in the same order, and stand differently beside each other.
    (
        "pairs of equal numbers",
        lambda x: real(jnp.sum(jnp.tril(outer(jnp.equal, x), -1))),
        lambda x: (real(jnp.sum(outer(jnp.equal, x))) - 4) ** 2 / 24,
        F,
    ),
    ("the larger of two", lambda x: outer(jnp.maximum, x), lambda x: outer(lambda a, b: a + 0 * b, x), F),
    (
        "a magnitude beside a condition on another axis",
        lambda x: outer(lambda a, b: jnp.where(a > 0, jnp.abs(b), 0), x),
        lambda x: outer(lambda a, b: jnp.where(a > 0, b, 0), x),
        F,
    ),
    (
        "cases that meet on another axis",
        lambda x: outer(lambda a, b: jnp.where(a > b, a, a), x),
        lambda x: outer(lambda a, b: jnp.where(a >= b, a, b), x),
        F,
    ),
    (
        "a product of two functions, exchanged",
        lambda x: outer(lambda a, b: jax.nn.softplus(a) * jnp.abs(b), x),
        lambda x: outer(lambda a, b: jax.nn.softplus(b) * jnp.abs(a), x),
        F,
    ),
    # Within a turn around 0, and no further, is an angle that of its cosine and sine.
    ("an angle beyond half a turn", lambda x: jnp.arctan2(jnp.sin(x), jnp.cos(x)), lambda x: x, TURN),
    ("a remainder at the end of a range", lambda x: jnp.fmod(x, np.float32(3.25)), lambda x: x, TURN),
    ("an angle of other cosines", lambda x: jnp.arctan2(jnp.sin(x), -jnp.cos(x)), lambda x: x, HALF),
    # Constants of the terms of a sum have to cancel.
    (
        "steps of two entries",
        lambda x: real(x[0] > 0) + jnp.sign(x[1]),
        lambda x: (jnp.sign(x[0]) + 1) / 2 + jnp.sign(x[1]),
        F,
    ),
    (
        "a constant too much",
        lambda x: jnp.sum(jnp.sign(x)) + np.float32(0.5),
        lambda x: jnp.sum(real(x > 0)) - jnp.sum(real(x < 0)),
        F,
    ),
    # Of equal entries the first is the first of the largest, and the last of those in descending order.
    (
        "places of the largest, turned round",
        lambda x: real(lax.top_k(x[:3], 3)[1]),
        lambda x: real(jnp.argsort(x[:3])[::-1]),
        F,
    ),
    (
        "one of the two largest",
        lambda x: real(jnp.any(lax.top_k(x, 2)[1] == 2)),
        lambda x: real(jnp.sum(x > x[2]) < 2),
        F,
    ),
    # A tie is an input like others.
    ("sign and comparison", lambda x: jnp.sign(x), lambda x: 2 * real(x > 0) - 1, F),
]
"""(name, left, right, *specs)."""

EQUAL = [
    (
        "a root and a rounded quotient of what vanishes on a half-line",
        lambda x: jnp.floor(jnp.sqrt(relu(x) / jnp.max(jnp.abs(x))) * 8),
        lambda x: jnp.floor(8 * jnp.sqrt(relu(x) / jnp.maximum(jnp.max(x), -jnp.min(x)))),
        F,
    ),
    (
        "mean without NaN by choice",
        lambda x: jnp.nanmean(jnp.where(x > 0, x, np.nan)),
        lambda x: jnp.sum(relu(x)) / real(jnp.sum(x > 0)),
        F,
    ),
    (
        "∞ by choice as a number",
        lambda x: jnp.nan_to_num(jnp.where(x > 1, x, np.inf), posinf=7.0),
        lambda x: jnp.where(x > 1, x, np.float32(7)),
        F,
    ),
    (
        "the larger of -∞ by choice and a number",
        lambda x: jnp.maximum(jnp.where(x > 0, x, -np.inf), np.float32(-3)),
        lambda x: jnp.where(x > 0, x, np.float32(-3)),
        F,
    ),
    (
        "an angle within a turn",
        lambda x: jnp.arctan2(jnp.sin(x), jnp.cos(x)),
        lambda x: jnp.fmod(x, np.float32(4)),
        HALF,
    ),
    (
        "a mean of decisions, term by term",
        lambda x: jnp.mean(real(x > 0) + 0.5 * real(x == 0)),
        lambda x: 0.5 + 0.5 * jnp.mean(jnp.sign(x)),
        F,
    ),
    (
        "one of the two largest",
        lambda x: real(jnp.any(lax.top_k(x, 2)[1] == 2)),
        lambda x: real(jnp.sum(x > x[2]) + jnp.sum(x[:2] == x[2]) < 2),
        F,
    ),
    (
        "ranks",
        lambda x: real(jnp.argsort(jnp.argsort(x[:3]))),
        lambda x: real((x[:3][None] < x[:3][:, None]).sum(1) + jnp.tril(outer(jnp.equal, x[:3]), -1).sum(1)),
        F,
    ),
    ("masks of two sizes", lambda x: jax.nn.softmax(masked(x, -np.inf)), lambda x: jax.nn.softmax(masked(x, -1e30)), F),
    (
        "argmax over two masks",
        lambda x: real(jnp.argmax(masked(x, -np.inf))),
        lambda x: real(jnp.argmax(masked(x, -1e30))),
        F,
    ),
    ("relu of a mask", lambda x: relu(masked(x, -np.inf)), lambda x: masked(relu(x), 0), F),
    (
        "minimum with infinity",
        lambda x: jnp.minimum(masked(x, np.inf), np.float32(1)),
        lambda x: masked(jnp.minimum(x, np.float32(1)), 1),
        F,
    ),
    ("least entry of a mask", lambda x: jnp.min(masked(x, np.inf)), lambda x: jnp.min(x[np.flatnonzero(MASK)]), F),
    ("magnitude of infinity", lambda x: jnp.abs(masked(x, -np.inf)), lambda x: jnp.abs(masked(x, np.inf)), F),
    (
        "second layer of relu",
        lambda x, b: relu(relu(x) + b),
        lambda x, b: jnp.where(relu(x) + b > 0, relu(x) + b, np.float32(0)),
        F,
        F,
    ),
    ("magnitude of a far relu", lambda x: jnp.abs(relu(x + FAR)), lambda x: relu(x + FAR), F),
    (
        "truncation within range is odd",
        lambda x: real(jnp.clip(x, -9, 9).astype(np.int32)),
        lambda x: -real((-jnp.clip(x, -9, 9)).astype(np.int32)),
        F,
    ),
    ("booleans as a product", lambda x: real((x > 0) & (x > 1)), lambda x: real(x > 0) * real(x > 1), F),
    ("number of booleans", lambda x: real(jnp.sum(x > 0)), lambda x: jnp.sum(real(x > 0)), F),
    (
        "constants in order",
        lambda x: real(jnp.argsort(jnp.full(4, 0.5, np.float32))) * x,
        lambda x: np.arange(4, dtype=np.float32) * x,
        F,
    ),
    ("nothing in order", lambda x: jnp.concatenate([jnp.sort(x[:0]), x]), lambda x: x, F),
    ("sum of no exponentials", lambda x: x + jnp.exp(jax.nn.logsumexp(x[:0])), lambda x: x, F),
    (
        "row masked whole",
        lambda x: jnp.nan_to_num(jax.nn.softmax(jnp.where(np.zeros(4, bool), x, -np.inf))) + x,
        lambda x: x,
        F,
    ),
    ("maximum of nothing", lambda x: jnp.max(x[:0], initial=0) + x, lambda x: x, F),
    (
        "guarded logarithm",
        lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, np.float32(1))), np.float32(0)),
        lambda x: jnp.log(jnp.where(x > 0, x, np.float32(1))) * real(x > 0),
        F,
    ),
]
"""(name, left, right, *specs)."""


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row[0])
def test_different_functions_are_never_certified(row):
    """Refuted, or not decided."""
    certificate = certify(*row[1:])
    assert certificate.verdict in (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.AGREES), certificate.evidence


@pytest.mark.parametrize("row", EQUAL, ids=lambda row: row[0])
def test_equal_functions_are_certified(row):
    """The same corners do not stop what is true."""
    certificate = certify(*row[1:])
    assert certificate.verdict is Verdict.CERTIFIED, certificate.evidence
