"""Infinities behind masks: what is rewritten is what a device computes, true pairs pass, and wrong ones never."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax

import uat_jax as uj
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.masks.programs import without_infinities
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.floats.doubles import Doubles

PASSES = (Verdict.PROVED, Verdict.CERTIFIED)
INF = jnp.inf


def spec(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def masked(s, m):
    return jnp.where(m, s, -INF)


def softmax(s, m):
    return jax.nn.softmax(masked(s, m))


def softmax_where(s, m):
    return jax.nn.softmax(s, where=m)


def softmax_by_hand(s, m):
    e = jnp.where(m, jnp.exp(s - jnp.max(s, -1, keepdims=True)), 0.0)
    return e / e.sum(-1, keepdims=True)


def softmax_of_sum(s, m):
    return jax.nn.softmax(s + jnp.where(m, 0.0, -INF))


def log_sum(s, m):
    return jax.nn.logsumexp(masked(s, m), axis=-1)


def log_sum_weighted(s, m):
    return jax.nn.logsumexp(s, axis=-1, b=m.astype(s.dtype))


def largest(s, m):
    return jnp.max(masked(s, m), axis=-1)


def softmax_of_columns(s, m):
    return jax.nn.softmax(masked(s, m), axis=0)


def largest_initial(s, m):
    return jnp.max(s, axis=-1, where=m, initial=-INF)


def smallest(s, m):
    return jnp.min(jnp.where(m, s, INF), axis=-1)


def opposite(s, m):
    return -jnp.max(masked(-s, m), axis=-1)


# --- what is written is what a device computes -----------------------------------------------------------------------

FUNCTIONS = {
    "softmax": softmax,
    "softmax where": softmax_where,
    "softmax of a sum": softmax_of_sum,
    "log-sum": log_sum,
    "weighted log-sum": log_sum_weighted,
    "largest": largest,
    "smallest": smallest,
    "scores": masked,
    "both signs apart": lambda s, m: masked(s, m) + masked(2 * s, ~m),
    "logistic": lambda s, m: jax.nn.sigmoid(masked(s, m)),
    "tanh of the other one": lambda s, m: jnp.tanh(jnp.where(m, INF, s)),
    "multiples": lambda s, m: -2.0 * masked(s, m) / 3.0,
    "larger of two": lambda s, m: jnp.maximum(masked(s, m), s - 1.0),
    "larger of two masked": lambda s, m: jnp.maximum(masked(s, m), masked(s * s, ~m)),
    "comparisons": lambda s, m: jnp.where(masked(s, m) > 0.5, s, jnp.where(masked(s, m) == -INF, 2.0, 3.0)),
    "finite or not": lambda s, m: jnp.where(jnp.isfinite(masked(s, m)), s, 7.0),
    "sum": lambda s, m: masked(s, m).sum(-1),
    "product with a matrix": lambda s, m: softmax(s, m) @ jnp.ones((4, 2)),
    "two layers": lambda s, m: softmax(s + softmax(s, m), m),
    "norm in between": lambda s, m: softmax(jnp.tanh(softmax(s, m)) / jnp.sqrt(1.0 + jnp.sum(s * s)), m),
    "one selected": lambda s, m: jnp.where(s > 0, softmax(s, m), 1.0),
    "magnitude of a negated sum": lambda s, m: jnp.abs(jnp.sum(-softmax(s, m), -1)),
    "magnitude of a negated part": lambda s, m: jnp.abs(jnp.sum((-softmax(s, m))[:, :2], -1)) + s.sum(-1),
    "magnitude of a negated sum of all": lambda s, m: jnp.abs(jnp.sum(-softmax(s, m))),
    "magnitude of a negated multiple": lambda s, m: jnp.abs(jnp.sum(-softmax(s, m) * jnp.exp(s), -1)),
    "magnitude of a negated row": lambda s, m: jnp.abs(jnp.sum(-softmax(s, m)[:1], -1)),
    "largest beside NaN that is not chosen": lambda s, m: jnp.max(masked(softmax_of_columns(s, m), m), -1),
    "smallest beside NaN that is not chosen": lambda s, m: jnp.min(jnp.where(m, softmax_of_columns(s, m), INF), -1),
    "largest of all beside NaN that is not chosen": lambda s, m: jnp.max(masked(softmax_of_columns(s, m), m)),
    "softmax of NaN that is not chosen": lambda s, m: softmax(softmax_of_columns(s, m), m),
    "largest where another mask chooses": lambda s, m: jnp.max(jnp.where(~m, -INF, -softmax_of_columns(s, m)), -1),
    "halves": lambda s, m: sum(jnp.exp(masked(*h)) for h in zip(jnp.split(s, 2, 1), jnp.split(m, 2, 1), strict=True)),
    "halves, again": lambda s, m: masked(s[:, :2], jnp.split(m, 2, 1)[1]) + masked(s[:, 2:], jnp.split(m, 2, 1)[1]),
}


@pytest.mark.parametrize("name", one_in(2, FUNCTIONS))
def test_a_rewritten_program_is_the_program(name):
    """Masks of rows: all, none, some; equal scores too."""
    rng = np.random.default_rng(5)
    program = trace(FUNCTIONS[name], spec(3, 4), spec(3, 4, dtype=bool))
    found = without_infinities(program, program)
    assert found is not None
    for _ in range(20):
        s = rng.integers(-2, 3, (3, 4)).astype(np.float64)
        m = rng.random((3, 4)) < rng.choice([0.0, 0.5, 1.0], (3, 1))
        expected = np.asarray(FUNCTIONS[name](jnp.asarray(s, jnp.float32), jnp.asarray(m)), np.float64)
        value, *infinite = (np.asarray(x)[0] for x in interpret(found.left, Doubles(), [s[None], m[None]]))
        undefined = np.asarray(interpret(found.undefined, Doubles(), [s[None], m[None]])[0])[0] > 0
        assert np.array_equal(np.isnan(expected), undefined), (s, m)
        where = infinite[0] > 0 if infinite else np.zeros(value.shape, bool)
        assert np.isinf(expected[where & ~undefined]).all()
        number = ~where & ~undefined
        # float32 against float64: sums of 4 numbers below 10, a dozen operations of 2^-24 each
        np.testing.assert_allclose(value[number], expected[number], rtol=1e-5, atol=1e-5)


# --- pairs -----------------------------------------------------------------------------------------------------------

TRUE = {
    "sum": (softmax, softmax_of_sum),
    "where": (softmax, softmax_where),
    "by hand": (softmax, softmax_by_hand),
    "log-sum": (log_sum, log_sum_weighted),
    "largest": (largest, largest_initial),
    "smallest": (smallest, opposite),
    "exponentials": (lambda s, m: jnp.exp(masked(s, m)), lambda s, m: m.astype(s.dtype) * jnp.exp(s)),
    "entropy": (
        lambda s, m: s[0] - log_sum(s, m),
        lambda s, m: s[0] - log_sum_weighted(s, m),
    ),
}
WRONG = {
    "sum": lambda s, m: jax.nn.softmax(s + jnp.where(m, 0.0, -1.0)),
    "where": lambda s, m: jax.nn.softmax(s, where=~m),
    "by hand": lambda s, m: softmax_by_hand(s, m.at[0].set(True)),
    "log-sum": lambda s, m: jax.nn.logsumexp(s, axis=-1, b=1.0 + m.astype(s.dtype)),
    "largest": lambda s, m: jnp.max(s, axis=-1, where=m, initial=0.0),
    "smallest": lambda s, m: jnp.max(masked(-s, m), axis=-1),
    "exponentials": lambda s, m: jnp.exp(m.astype(s.dtype) * s),
    "entropy": lambda s, m: s[1] - log_sum_weighted(s, m),
}


@pytest.mark.parametrize("entries", one_in(2, [3, 14]))  # all masks side by side, and truth values as signs
@pytest.mark.parametrize("name", TRUE)
def test_true_pairs_pass_and_their_twins_do_not(name, entries):
    specs = spec(entries), spec(entries, dtype=bool)
    found = uj.certify(*TRUE[name], *specs)
    assert found.verdict in PASSES, found
    assert uj.certify(TRUE[name][0], WRONG[name], *specs).verdict is Verdict.REFUTED


def attention(q, k, v, m):
    return jax.nn.softmax(jnp.where(m[None], jnp.matmul(q, k.T, precision="highest") / 2.0, -INF)) @ v


def attention_of_sum(q, k, v, m):
    scores = jnp.einsum("qd,kd->qk", 0.5 * q, k, precision="highest")
    return jnp.einsum("qk,kd->qd", jax.nn.softmax(scores + jnp.where(m, 0.0, -INF)[None]), v, precision="highest")


@pytest.mark.parametrize("tokens", [3, 14])
def test_attention_with_a_padding_mask(tokens):
    specs = spec(2, 4), spec(tokens, 4), spec(tokens, 4), spec(tokens, dtype=bool)
    found = uj.certify(attention, attention_of_sum, *specs)
    assert found.verdict in PASSES, found
    late = lambda q, k, v, m: attention_of_sum(q, k, v, jnp.roll(m, 1))
    assert uj.certify(attention, late, *specs).verdict is Verdict.REFUTED


def test_entries_that_are_nan_on_one_side_for_all_reals_are_counted():
    found = uj.certify(softmax, softmax_where, spec(3), spec(3, dtype=bool))
    (told,) = [a for a in found.assumptions if a.kind is AssumptionKind.ONE_SIDED_ENTRIES]
    assert told.about == {"count": 3}  # the mask of falsehoods alone


@pytest.mark.parametrize("entries", [3, 14])
def test_a_side_that_is_nan_for_some_masks_is_named(entries):
    found = uj.certify(softmax, softmax_by_hand, spec(entries), spec(entries, dtype=bool))
    told = [a.about["side"] for a in found.assumptions if a.kind is AssumptionKind.INFINITIES_MEET]
    assert told == ["left"]  # the right one divides by zero there


# --- hostile pairs: a NaN or an infinity that is caught is a number ---------------------------------------------------

CAUGHT = {
    "NaN as 0, in a sum": (
        lambda s, m: jnp.where(jnp.isnan(softmax(s, m)), 0.0, 1.0).sum(),
        lambda s, m: 0.0 * s.sum() + float(s.shape[0]),
    ),
    "a largest of nothing": (
        lambda s, m: jnp.where(jnp.isfinite(largest(s, m)), s.sum(), 0.0),
        lambda s, m: s.sum(),
    ),
    "a largest of nothing, compared": (lambda s, m: jnp.where(largest(s, m) > -1e30, 1.0, 0.0) * s, lambda s, m: s),
    "tanh of -∞": (lambda s, m: jnp.tanh(largest(s, m)) * s, lambda s, m: jnp.tanh(jnp.max(s)) * s),
    "e^-∞ and a sum": (
        lambda s, m: jnp.exp(largest(s, m)) + s,
        lambda s, m: jnp.exp(jnp.max(m.astype(s.dtype) * s)) + s,
    ),
    "log of nothing, undone": (lambda s, m: jnp.exp(log_sum(s, m)) + s, lambda s, m: jnp.exp(s).sum() + s),
    "another mask": (softmax, lambda s, m: softmax_where(s, m[::-1])),
    "a selected NaN": (
        lambda s, m: jnp.where(m[0], softmax(s, m), s),
        lambda s, m: jnp.where(m[1], softmax(s, m), s),
    ),
    "0 for NaN elsewhere": (
        lambda s, m: jnp.where(s > 0, softmax(s, m), 0.0),
        lambda s, m: jnp.where(s > 0, softmax_where(s, m), jnp.where(m.any(), 0.0, 1.0)),
    ),
    "two masks": (
        lambda s, m: softmax(s, m) + softmax_where(s, ~m),
        lambda s, m: softmax_where(s, m) + jnp.where(m.all(), 1.0, softmax_where(s, ~m)),
    ),
    "scores": (masked, lambda s, m: s),
    "a negated sum": (lambda s, m: jnp.abs(jnp.sum(-softmax(s, m))) * s, lambda s, m: jnp.sum(-softmax(s, m)) * s),
    "ties": (
        lambda s, m: jnp.where(masked(s, m) >= largest(s, m), 1.0, 0.0) * s,
        lambda s, m: jnp.where(s >= s.max(), s, 0.0),
    ),
}


@pytest.mark.parametrize("entries", [2, pytest.param(14, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("name", CAUGHT)
def test_what_is_caught_is_not_left_out(name, entries):
    found = uj.certify(*CAUGHT[name], spec(entries), spec(entries, dtype=bool))
    assert found.verdict not in PASSES, found


# --- what has no rule is refused --------------------------------------------------------------------------------------

REFUSED = {
    "an infinity times what may be 0": lambda s, m: masked(s, m) * s,
    "an infinity beside what may be infinite": lambda s, m: masked(s, m) + 1.0 / s,
    "infinities of two signs in one place": lambda s, m: masked(s, m) - masked(s, s > 0),
    "a sort": lambda s, m: jnp.sort(masked(s, m)),
    "a remainder": lambda s, m: masked(s, m) % 2.0,
    "a part beside another part": lambda s, m: jnp.max(masked(s[:2], m[:2])) - masked(s[3], m[3]),
    "a loop": lambda s, m: lax.fori_loop(0, 3, lambda i, x: x + s, masked(s, m)),
    "a maximum with what may be NaN": lambda s, m: jnp.max(jnp.where(m, jnp.log(s), -INF)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    program = trace(REFUSED[name], spec(4), spec(4, dtype=bool))
    with pytest.raises(UnsupportedError, match="for which it has no rule"):
        without_infinities(program, program)


def test_programs_without_infinities_stay_as_they_are():
    program = trace(lambda s, m: jnp.where(m, s, 0.0), spec(4), spec(4, dtype=bool))
    assert without_infinities(program, program) is None
