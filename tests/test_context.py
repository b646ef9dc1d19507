"""The rows on density, context and convolution (D3, E8, E10–E12, E14, E15), and the networks behind them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax.decide.decision import decide
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.errors import ShapeError
from uat_jax.ledger.attention import context, convolution, density
from uat_jax.ledger.attention import matrix as attention
from uat_jax.networks.convolution import convolve_features, convolve_tokens
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import TOKENS as N

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED
ROWS = (*density.CLAIMS, *context.CLAIMS, *convolution.CLAIMS)
BY_ID = {claim.id: claim for claim in ROWS}

# Typed in from the ledger of claims, independently of the package.
LEDGER = {
    "density.linear": T, "density.linear-zeros": F,
    "density.one-head": T, "density.stacked-dense": F, "density.stacked": T,
    "density.criterion": T, "density.nonzero-suffices": F, "density.encoder": T, "density.full-width": T,
    "density.decoder-dense": F, "density.decoder": T, "density.correlated": T, "density.numbers": T,
    "context.encoder": T, "context.encoder.derivatives": T, "context.decoder-subsequent": F,
    "context.decoder.derivatives": T, "context.decoder": T, "context.covariance": F,
    "convolution.features": T, "convolution.tokens": T,
    "convolution.features.seen": T, "convolution.residual-network": T,
    "convolution.features.density": T, "convolution.tokens.density": T,
    "convolution.one-layer": T, "convolution.stack-fragmented": F, "convolution.stack": T,
}  # fmt: skip


def test_exactly_these_rows():
    assert list(BY_ID) == list(LEDGER)


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    certificate = decide(BY_ID[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name]
    assert certificate.passes
    if LEDGER[name] == F:
        assert certificate.counterexample is not None


@pytest.mark.parametrize("name", [name for name, verdict in LEDGER.items() if verdict == F])
def test_corrections_are_proved(name):
    corrections = {**BY_ID, **{claim.id: claim for claim in attention.CLAIMS}}
    assert corrections[BY_ID[name].correction].expects == T


@pytest.mark.parametrize("claim", ROWS, ids=lambda claim: claim.id)
def test_rows_are_readable(claim):
    assert len(claim.title) < 80 and claim.printed.count("{") == claim.printed.count("}")


# --- wrong variants of what is not decided by a shared method ------------------------------------------------------


def test_with_a_zero_in_the_matrix_its_factors_may_have_zeros(monkeypatch):
    """Each of the three steps with one entry less known than it needs is not proved."""

    def less(claim, known, **named):
        *others, last = known
        return proved_inequality(claim, [*others, last.gts + 1 >= last.lts], **named)

    monkeypatch.setattr(density, "proved_inequality", less)
    assert all(found.verdict is not Verdict.PROVED for found in density.only_if_all())


REARRANGEMENTS = {
    "none": lambda W, N: W,
    "blocks not moved": lambda W, N: W.reshape(N**2, -1),
    "axes swapped": lambda W, N: density.rearranged(W.T, N),
    "columns first": lambda W, N: density.rearranged(W, N)[::-1],
}


@pytest.mark.parametrize("name", REARRANGEMENTS)
def test_a_wrong_rearrangement_fails(name):
    assert density.rearrangement_of_one_head(REARRANGEMENTS[name]).verdict is Verdict.UNKNOWN


PLACES = {
    "not moved": lambda row, column: (row, column),
    "tokens swapped": lambda row, column: ((column[0], row[0]), (row[1], column[1])),
    "features swapped": lambda row, column: ((row[0], column[0]), (column[1], row[1])),
    "crossed": lambda row, column: ((row[0], column[1]), (row[1], column[0])),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_wrong_place_is_not_proved(name):
    assert density.rearranged_entries(PLACES[name]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("later", [m.Ones, lambda rows, columns: m.Letter("mask", rows, columns)])
def test_tokens_that_the_mask_leaves_are_not_hidden(later):
    assert combine(context.hidden_tokens(later)) is Verdict.UNKNOWN


@pytest.mark.parametrize("visible", [jnp.triu, lambda ones: ones, lambda ones: jnp.tril(ones, 1)])
def test_another_mask_is_not_the_causal_one(visible):
    assert context.causal_without_queries(visible).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("pattern", [m.Ones(N, N), m.Identity(N), m.Letter("H", N, N)])
def test_without_queries_patterns_are_uniform(pattern):
    assert combine(context.without_queries(pattern)) is not T


@pytest.mark.parametrize("reach", [lambda a, r: a + 2 * r, lambda a, r: a, lambda a, r: a + r + 1, lambda a, r: a - r])
def test_reaches_add_up_to_nothing_else(reach):
    assert combine(convolution.reaches_add(reach)) is not T


def test_another_slice_is_not_hidden_from_itself():
    assert attention.other_slice_hidden(2).verdict is not Verdict.CERTIFIED


MATRICES = {
    "the kernel backwards": lambda kernel, x: convolution.features_matrix(kernel[:, :, ::-1], x.shape[1]),
    "K_k transposed": lambda kernel, x: convolution.features_matrix(kernel.transpose(1, 0, 2), x.shape[1]),
    "a tap missing": lambda kernel, x: convolution.features_matrix(kernel.at[:, :, 0].set(0.0), x.shape[1]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_a_wrong_convolution_matrix_is_not_confirmed(name):
    plain = lambda kernel, x: convolve_features(kernel, x).reshape(-1)
    wrong = lambda kernel, x: jnp.matmul(MATRICES[name](kernel, x), x.reshape(-1), precision="highest")
    assert confirm_functions(plain, wrong, ((2, 2, 3), (2, 4)), what=name).verdict is Verdict.UNKNOWN


# --- convolution against its sum -----------------------------------------------------------------------------------


def _sum_over_features(kernel, x):
    tokens, taps = kernel.shape[0], kernel.shape[2]
    r, M, y = taps // 2, x.shape[1], np.zeros((tokens, x.shape[1]))
    for n, feature, k in np.ndindex(tokens, M, taps):
        if 0 <= feature + k - r < M:
            y[n, feature] += kernel[n, :, k] @ x[:, feature + k - r]
    return y


def _sum_over_tokens(kernel, x):
    taps, _, features = kernel.shape
    r, N, y = taps // 2, len(x), np.zeros((len(x), features))
    for n, k in np.ndindex(N, taps):
        if 0 <= n + k - r < N:
            y[n] += x[n + k - r] @ kernel[k]
    return y


@pytest.mark.parametrize("taps", [1, 3, 5])
def test_convolution_is_its_sum(taps):
    random = np.random.default_rng(taps)  # whole numbers: float32 sums them exactly
    draw = lambda *sizes: random.integers(-4, 5, sizes).astype(np.float32)
    kernel, x = draw(3, 2, taps), draw(2, 4)
    assert np.array_equal(convolve_features(jnp.asarray(kernel), jnp.asarray(x)), _sum_over_features(kernel, x))
    kernel, x = draw(taps, 2, 3), draw(4, 2)
    assert np.array_equal(convolve_tokens(jnp.asarray(kernel), jnp.asarray(x)), _sum_over_tokens(kernel, x))


@pytest.mark.parametrize(
    ("kernel", "x", "message"),
    [
        ((2, 2, 2), (2, 4), "2 taps, wanted an odd number"),
        ((2, 3, 3), (2, 4), r"shape \(2, 4\) for x"),
        ((2, 3), (3, 4), r"shape \(2, 3\) for kernel"),
    ],
)
def test_convolution_checks_shapes(kernel, x, message):
    with pytest.raises(ShapeError, match=message):
        convolve_features(jnp.zeros(kernel), jnp.zeros(x))


def test_convolution_takes_batches():
    kernel, x = jnp.ones((3, 2, 2)), jnp.arange(16.0).reshape(2, 4, 2)
    batch = jax.vmap(lambda z: convolve_tokens(kernel, z))(x)
    assert np.array_equal(batch[1], convolve_tokens(kernel, x[1]))
