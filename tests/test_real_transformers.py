"""Chapter K: every block of a real Transformer is a layer of Theorem 1, and what is only nearly that layer is not."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
import sympy
from excerpt import one_in

from uat_jax.decide import dependence
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.real import attention as real_attention
from uat_jax.ledger.real import dependence as real_dependence
from uat_jax.ledger.real import ends as real_ends
from uat_jax.ledger.real import parts as real_parts
from uat_jax.ledger.real import transformers as real_transformers
from uat_jax.ledger.real.blocks import Case, plain
from uat_jax.ledger.real.ends import no_finite_sum
from uat_jax.ledger.real.networks import same
from uat_jax.ledger.real.parts import rotations_compose
from uat_jax.ledger.real.transformers import (
    GATED,
    GROUPED,
    GROUPS,
    LLAMA,
    MASKED,
    MIXTURE,
    PARALLEL,
    POST_NORM,
    PRE_NORM,
    RESIDUAL,
)
from uat_jax.networks.block import post_norm_block, residual_block
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks import block as symbolic
from uat_jax.symbolic.blocks.attention import MultiHead
from uat_jax.symbolic.blocks.block import Block, closed_form
from uat_jax.symbolic.blocks.feed_forward import FeedForward
from uat_jax.symbolic.blocks.sizes import FEATURES, on_features, plus, times

SYMBOLIC = Settings(dtypes=())
P, R, C = Verdict.PROVED, Verdict.REFUTED, Verdict.CERTIFIED
MODULES = (real_transformers, real_parts, real_dependence, real_attention, real_ends)
CLAIMS = {claim.id: claim for module in MODULES for claim in module.CLAIMS}

# Typed in from chapter K of the ledger of claims: id → (row, verdict).
LEDGER = {
    "real.residual-attention": ("K1", P),
    "real.pre-norm": ("K5", P),
    "real.post-norm": ("K6", P),
    "real.masks": ("K7", P),
    "real.alibi": ("K7", P),
    "real.gated": ("K8", P),
    "real.rope": ("K9", P),
    "real.grouped-queries": ("K10", P),
    "real.llama": ("K11", P),
    "real.parallel": ("K12", P),
    "real.mixture": ("K13", P),
    "real.attention-biases": ("K2", P),
    "real.key-bias": ("K2", P),
    "real.key-bias.rope": ("K2", R),
    "real.layer-norm": ("K3", P),
    "real.layer-norm.rank-one": ("K3", P),
    "real.layer-norm.linear": ("K3", R),
    "real.rms-norm": ("K4", P),
    "real.masks.triangular": ("K7", P),
    "real.gated.matrix": ("K8", P),
    "real.rope.relative": ("K9", P),
    "real.attention-biases.static": ("K2", P),
    "real.attention-biases.sink": ("K2", P),
    "real.pre-norm.static-bias": ("K5", P),
    "real.pre-norm.inner-bias": ("K5", P),
    "real.post-norm.output": ("K6", P),
    "real.gated.output": ("K8", P),
    "real.mixture.output": ("K13", P),
    "real.cross-attention": ("K16", P),
    "real.variants": ("K17", P),
    "real.cache": ("K17", C),
    "real.embedding": ("K14", P),
    "real.logits": ("K15", P),
    "real.softmax-output": ("K18", P),
}


@pytest.fixture(autouse=True)
def strict():
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


def test_the_chapter_has_exactly_these_rows():
    assert list(CLAIMS) == list(LEDGER)
    assert {row for row, _ in LEDGER.values()} == {f"K{n}" for n in range(1, 19)}
    assert [record.ledger for record in real_ends.RECORDS] == ["K18"]


@pytest.mark.parametrize("name", one_in(5, LEDGER))
def test_verdict(name):
    row, verdict = LEDGER[name]
    claim = CLAIMS[name]
    certificate = decide(claim, SYMBOLIC)
    assert certificate.verdict == verdict == claim.expects
    assert certificate.passes
    assert claim.ledger == row
    if claim.kind is Kind.ALL_DEPTHS and name != "real.masks.triangular":
        assert any(e.method == "prime fields" and e.verdict is C for e in certificate.evidence), "no network was asked"


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_rows_say_what_they_are_about(claim):
    assert claim.title and len(claim.title) < 90
    assert claim.printed.count("{") == claim.printed.count("}") > 0
    assert claim.sources
    if claim.expects is R:
        assert CLAIMS[claim.correction].expects is P


# --- what is only nearly the layer -----------------------------------------------------------------------------------


def _with(case: Case, **changed) -> Block:
    """The case's block with other parameters."""
    block = case.general
    return replace(block, **{name: make(block, block.parts) for name, make in changed.items()})


def _norm_2_at(X):
    """B of a pre-norm block with the second norm taken elsewhere."""
    return lambda b, p: times(p.feed_forward.inner, p.norm_2.matrix(X(p)), b.A)


WRONG = {
    "K1: no residual around attention (Eq. 30)": _with(RESIDUAL, A=lambda b, p: p.attention.matrix(p.tokens("Z", 1))),
    "K1: B without the factor A": _with(RESIDUAL, B=lambda b, p: p.feed_forward.inner),
    "K1: the biases of attention are left out of b": _with(RESIDUAL, b=lambda b, p: p.feed_forward.inner_bias),
    "K1: the biases of attention are left out of c": _with(RESIDUAL, c=lambda b, p: p.feed_forward.outer_bias(p.X)),
    "K5: attention looks at X, not at its norm": _with(
        PRE_NORM, A=lambda b, p: symbolic.EYE + times(p.attention.matrix(p.X), p.norm_1.matrix(p.X))
    ),
    "K5: no first norm": _with(PRE_NORM, A=lambda b, p: symbolic.EYE + p.attention.matrix(p.tokens("Z", 1))),
    "K5: the second norm is that of X": _with(PRE_NORM, B=_norm_2_at(lambda p: p.X)),
    "K5: the second norm is that of its output": _with(PRE_NORM, B=_norm_2_at(lambda p: p.tokens("Ȳ", 1))),
    "K5: β_1 is left out of c": _with(PRE_NORM, c=lambda b, p: plus(p.attention.shift, p.feed_forward.outer_bias(p.X))),
    "K5: β_1 is not moved through the values": _with(PRE_NORM, c=lambda b, p: b.c + p.norm_1.shift),
    "K6: W_{i,3} is static": _with(POST_NORM, C=lambda b, p: p.feed_forward.outer(p.X)),
    "K6: the last norm is that of X": _with(
        POST_NORM, C=lambda b, p: times(p.norm_2.matrix(p.X), p.feed_forward.outer(p.X))
    ),
    "K6: b_{i,3} without the last norm": _with(
        POST_NORM, c=lambda b, p: plus(p.feed_forward.outer_bias(p.X), p.norm_2.shift)
    ),
    "K6: B acts on X": _with(POST_NORM, B=lambda b, p: p.feed_forward.inner),
    "K8: W_{i,3} without the gate": _with(GATED, C=lambda b, p: on_features(p.feed_forward.letters[2])),
    "K8: the gate and the other factor exchanged": _with(
        GATED, B=lambda b, p: times(on_features(p.feed_forward.letters[0]), b.A)
    ),
    "K10: a key and value for each head": replace(GROUPED.general, A=RESIDUAL.general.A),
    "K11: attention without the norm": _with(LLAMA, A=lambda b, p: symbolic.EYE + p.attention.matrix(p.X)),
    "K12: B with the factor A (Eq. 31)": _with(PARALLEL, B=lambda b, p: times(b.B, b.A)),
    "K12: b with the biases of attention": _with(
        PARALLEL, b=lambda b, p: plus(b.b, times(p.feed_forward.inner, p.attention.shift))
    ),
    "K13: b_{i,3} is static": _with(MIXTURE, c=lambda b, p: p.attention.shift),
    "K13: each gate counts for all experts": _with(
        MIXTURE,
        C=lambda b, p: on_features(p.feed_forward.weights[1]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("block", WRONG.values(), ids=WRONG)
def test_what_is_only_nearly_the_layer_is_not(block):
    assert not block.step("wrong").holds()


CASES = {"K1": RESIDUAL, "K5": PRE_NORM, "K6": POST_NORM, "K7": MASKED, "K8": GATED, "K11": LLAMA, "K13": MIXTURE}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("letter", ["A", "B", "C", "b", "c"])
def test_every_parameter_matters(case, letter):
    """Twice a parameter is wrong, unless the parameter is zero."""
    block = case.general
    value = getattr(block, letter)
    assert block.step("right").holds()
    assert isinstance(value, m.Zero) or not replace(block, **{letter: m.Scaled(2, value)}).step("wrong").holds()


# --- networks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", [replace(PRE_NORM, network=post_norm_block), replace(POST_NORM, network=residual_block)]
)
def test_another_network_is_not_confirmed(case):
    found = replace(case, depth=1).confirmed(plain(2))
    assert found.verdict is Verdict.UNKNOWN and "different" in found.finding


def test_a_mask_that_the_network_lacks_is_not_confirmed():
    scores = MASKED.scores[0](3)
    assert MASKED.confirmed(replace(scores, network=plain(3).network)).verdict is Verdict.UNKNOWN


def test_the_closed_form_is_no_copy_of_the_network():
    """It is a program of the hatted parameters: x_2 = Ŵ_{2,1} x_0 + b̂_{2,3} + Ŵ_{1,3} s_1 + Ŵ_{2,3} s_2."""
    blocks = [PRE_NORM.build(PRE_NORM.parts(j, groups=1)) for j in (1, 2)]
    program = closed_form(blocks)
    assert str(program[program.result]) == "Ŵ_{2,1} x_0 + b̂_{2,3} + Ŵ_{1,3}^(2) s_1 + Ŵ_{2,3}^(2) s_2"
    assert sum(isinstance(e, m.Activation) for e in program.values()) == 2


def test_same_can_say_different():
    pair = (jnp.zeros(2),)
    assert same(lambda x: x * x, lambda x: x**2, pair, what="").verdict is C
    assert same(lambda x: x * x, lambda x: x**3, pair, what="").verdict is Verdict.UNKNOWN


# --- dependence ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "parameter"), [(RESIDUAL, "C"), (RESIDUAL, "c"), (PRE_NORM, "C"), (PRE_NORM, "c")])
def test_static_parameters_are_not_found_dynamic(case, parameter):
    found = dependence.dynamic(real_dependence.value(case, parameter), real_dependence.INPUTS, what=parameter)
    assert found.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("case", "parameter"),
    [(RESIDUAL, "A"), (RESIDUAL, "B"), (PRE_NORM, "b"), (POST_NORM, "C"), (GATED, "C"), (MIXTURE, "c")],
)
def test_dynamic_parameters_are_not_found_static(case, parameter):
    block = case.general
    found = [*dependence.static(getattr(block, parameter), block.parts.X, what="", where=block.lines)]
    assert P not in {e.verdict for e in found}


# --- arguments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("difference", [lambda n, k: n - k, lambda n, k: n + k, lambda n, k: k, lambda n, k: 2 * k - n])
def test_rotations_do_not_compose_otherwise(difference):
    assert rotations_compose(lambda n, k: k - n).verdict is P
    assert rotations_compose(difference).verdict is Verdict.UNKNOWN


A, B = sympy.symbols("a b", integer=True, nonnegative=True)
V = sympy.Symbol("v", integer=True, positive=True)
TRUE = (-1) ** (A + B) * sympy.binomial(A + B, A) / V ** (A + B + 1)


@pytest.mark.parametrize(
    "coefficient",
    {
        "no signs": TRUE * (-1) ** (A + B),
        "another power": TRUE * V,
        "no binomials": (-1) ** (A + B) / V ** (A + B + 1),
        "two words: the logistic function 1/(v + e^x)": (-1) ** A / V ** (A + 1) * sympy.KroneckerDelta(B, 0),
        "nothing": sympy.Integer(0),
    }.items(),
    ids=lambda item: item[0],
)
def test_other_series_prove_nothing(coefficient):
    assert no_finite_sum(TRUE, A, B, V, what="").verdict is P
    assert no_finite_sum(coefficient[1], A, B, V, what="").verdict is Verdict.UNKNOWN


def test_a_product_of_two_logistic_functions_is_no_softmax():
    """1/((1 + u)(1 + w)) has no zero coefficients either, but is another function."""
    assert no_finite_sum((-1) ** (A + B), A, B, sympy.Integer(1), what="").verdict is Verdict.UNKNOWN


# --- the language of blocks ------------------------------------------------------------------------------------------


def test_sums_and_products_leave_out_what_does_nothing():
    W, zero = m.Letter("W", FEATURES, FEATURES), m.Zero(FEATURES, FEATURES)
    assert plus(zero, W, zero) == W and plus(zero, zero) == zero
    assert times(m.Identity(FEATURES), W) == W and times(W, zero) == zero
    assert times(m.Identity(FEATURES), m.Identity(FEATURES)) == m.Identity(FEATURES)


def test_heads_of_a_group_share_keys_and_values():
    of = MultiHead(**GROUPS)
    assert of.weight("K", (1, 2)) == of.weight("K", (1, 3)) != of.weight("K", (2, 3))
    assert of.weight("Q", (1, 2)) != of.weight("Q", (1, 3))


def test_letters_of_layers_differ():
    first, second = (FeedForward((j,)).weights[0] for j in (1, 2))
    assert first != second
