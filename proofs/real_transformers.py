# %% [markdown]
# # Real Transformers are layers with dynamic parameters
#
# The papers' layer (DUAT Eq. 30, 31) has no residual connection around attention, no bias in it, no norm, no mask, no
# gate.  Real Transformers have them all.  Each of their blocks, written on token matrices X (N × M), is still one layer
#
#     x_j = A x_{j-1} + c + C σ(B x_{j-1} + b),     x = vec(X) row by row,
#
# but A, B, C, b, c depend on x.  Theorem 1 holds for such layers, for every depth: along one trajectory they are just
# matrices.  What follows derives the parameters; T(W) = I_N ⊗ Wᵀ throughout.

# %%
import sympy
from argument import Argument, run

from uat_jax.ledger.real import ends as real_ends
from uat_jax.ledger.real import parts as real_parts
from uat_jax.ledger.real.blocks import Case
from uat_jax.ledger.real.transformers import (
    GATED,
    GROUPED,
    LLAMA,
    MIXTURE,
    PARALLEL,
    POST_NORM,
    PRE_NORM,
    RESIDUAL,
)
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import MultiHead
from uat_jax.symbolic.blocks.feed_forward import FeedForward
from uat_jax.symbolic.blocks.norms import LayerNorm, RMSNorm
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS, on_features
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

X = m.Letter("X", TOKENS, FEATURES)
x = m.Vectorised(X)

# %% [markdown]
# ## Two facts about functions
#
# Everything that is no matrix product is left opaque, but for two facts: σ acts on every entry, and the rows of a
# softmax sum to 1 and do not see what is added to all their entries.


# %%
def facts(a: Argument) -> None:
    """What is used of σ, of softmax and of products entry by entry."""
    a.section("What is used of σ, softmax and ⊙")
    S, u, one = m.Letter("S", TOKENS, TOKENS), m.Letter("u", TOKENS, 1), m.Ones(TOKENS, 1)
    a.prove(Step("the rows of a softmax sum to 1", m.RowSoftmax(S) @ one, one))
    a.prove(Step("and do not see a shift", m.RowSoftmax(S + u @ one.T), m.RowSoftmax(S)))
    a.refute(Step("its columns do not sum to 1", one.T @ m.RowSoftmax(S), one.T))
    Y = m.Letter("Y", TOKENS, FEATURES)
    a.prove(
        Step("⊙ is a diagonal matrix", m.Vectorised(m.Hadamard(X, Y)), m.Diagonal(m.Vectorised(X)) @ m.Vectorised(Y))
    )


# %% [markdown]
# ## Attention with biases
#
# Any scores S_i(X): masks, rotary positions, ALiBi, caps, norms of queries and keys all change H_i = softmax(S_i) and
# nothing else.  Since H_i 1 = 1, the biases of values and output come out as one column that does not depend on X.


# %%
def attention(a: Argument) -> None:
    """vec(MHA(X)) = M(X) x + a, for any number of heads and any scores."""
    a.section("Attention: any scores, any number of heads, biases")
    of = MultiHead()
    a.show(f"MHA(X) = {of.apply(X)}")
    a.prove(Step("vec(MHA(X)) = M(X) x + a", m.Vectorised(of.apply(X)), of.matrix(X) @ x + of.shift))
    a.say("The bias of the keys adds q_n · b_K to every entry of row n of the scores, so the softmax loses it:")
    with_bias, without = (real_parts.pattern_with(biases, X) for biases in (("Q", "K"), ("Q",)))
    a.prove(Step("b_K cancels", with_bias, without))
    a.refute(Step("b_Q does not", with_bias, real_parts.pattern_with(("K",), X)))
    a.say("With rotary positions it does not cancel: see counterexamples/real_key_bias_rope.py.")


# %% [markdown]
# ## Norms
#
# LayerNorm is not linear, but for each X it is a matrix: a number for each token times one fixed matrix of features.


# %%
def norms(a: Argument) -> None:
    """LayerNorm and RMSNorm as matrices that depend on their input."""
    a.section("Norms")
    for norm in (LayerNorm(), RMSNorm()):
        left, right = m.Vectorised(norm.apply(X)), norm.matrix(X) @ x
        a.prove(Step(type(norm).__name__, left, right + norm.shift if isinstance(norm, LayerNorm) else right))
    a.say("s and r are the reciprocal deviation and root mean square of each token, and opaque here.")


# %% [markdown]
# ## The blocks
#
# For each kind the block on token matrices is put next to A x + c + C σ(B x + b) with the parameters shown.  The
# intermediate token matrices, such as the norm's argument, are unfolded.

# %%
BLOCKS: dict[str, Case] = {
    "a residual connection around attention": RESIDUAL,
    "pre-norm (GPT-2)": PRE_NORM,
    "post-norm (the first Transformer)": POST_NORM,
    "gated feed-forward part": GATED,
    "grouped queries": GROUPED,
    "Llama: RMSNorm, grouped queries, gate": LLAMA,
    "parallel (GPT-J, PaLM)": PARALLEL,
    "mixture of experts": MIXTURE,
}


def blocks(a: Argument) -> None:
    """Every kind of block is a layer of Theorem 1."""
    a.section("The blocks")
    for name, case in BLOCKS.items():
        block = case.general
        for letter, line in block.lines.items():
            a.show(f"{letter} = {line}")
        a.prove(block.step(name))
        for letter, value in block.parameters.items():
            a.show(f"  {letter} = {value}")


# %% [markdown]
# ## What the papers' own rules would give
#
# Eq. 30 has A = M(X): no residual connection.  Eq. 31 multiplies B by A: in a parallel block that is wrong.  And DUAT's
# list of dynamic parameters leaves W_{L,3} of the last layer static: with a post-norm or a gate it is not.


# %%
def nearly(a: Argument) -> None:
    """The same steps with the papers' parameters fail."""
    a.section("With the papers' parameters instead")
    residual, parallel, post = RESIDUAL.general, PARALLEL.general, POST_NORM.general
    without_skip = {residual.layers.A(1): residual.parts.attention.matrix(X)}
    with_factor = {parallel.layers.B(1): parallel.B @ parallel.A}
    static = {post.layers.C(1): on_features(FeedForward((1,)).weights[1])}
    for name, block, changed in (
        ("A = M(X) (Eq. 30)", residual, without_skip),
        ("B = B A in a parallel block (Eq. 31)", parallel, with_factor),
        ("a static W_{L,3} with post-norm", post, static),
    ):
        step = block.step(name)
        a.refute(Step(name, step.left, step.right, {**step.where, **changed}))  # type: ignore[dict-item]


# %% [markdown]
# ## Every depth
#
# Layer i + 1 with parameters that are any functions of x_i, applied to the closed form of i layers, is the closed form
# of i + 1 layers.  This is the induction of Theorem 1; the blocks above are instances.


# %%
def every_depth(a: Argument) -> None:
    """The induction for dynamic parameters, and what stands before and after the blocks."""
    a.section("Every depth: layers with dynamic parameters")
    for step in closed_form_induction(Layers("residual", dynamic=True)):
        a.prove(step)
    a.say("Embeddings before, and the last norm with the unembedding after the blocks, keep the form:")
    for step in (*real_ends.embedding_steps(), *real_ends.logits_steps()):
        a.prove(step)


# %% [markdown]
# ## What does not fit
#
# The probabilities: a softmax over three or more words is no affine map plus C σ(B x + b) with fixed parameters, for
# any elementwise σ and any finite width.  With two words it is: σ = logistic.  (With parameters that depend on x
# everything has the form, so that nothing is said.)


# %%
def what_does_not_fit(a: Argument) -> None:
    """The series of 1/(v + e^x + e^y) has too many terms for a finite sum of functions of one variable."""
    a.section("A softmax over the vocabulary")
    a.say(
        "Let two logits be x and y, the others 0, v = V − 2 ≥ 1.  The first word's probability is 1/(v + e^x + e^y) = "
        "Σ c(a,b) e^{ax+by}.  A function of p x + q y is constant in the direction (q, −p): F differences in such "
        "directions make any sum of F of them zero.  They multiply e^{ax+by} by factors of which the k-th is zero only "
        "if q_k a = p_k b.  So c(a,b) would be zero wherever no q_k a = p_k b, and of the F + 1 points (1, 0), …, "
        "(1, F) each k rules out at most one."
    )
    i, j = sympy.symbols("a b", integer=True, nonnegative=True)
    v = sympy.Symbol("v", integer=True, positive=True)
    three = (-1) ** (i + j) * sympy.binomial(i + j, i) / v ** (i + j + 1)
    two = (-1) ** i / v ** (i + 1) * sympy.KroneckerDelta(j, 0)
    shown = lambda c, words: str(real_ends.no_finite_sum(c, i, j, v, what=words).verdict)
    a.check(f"three or more words: c(a,b) = {three}, and no c(1,b) is zero", shown(three, "three") == "PROVED")
    a.check("two words: c(1,b) is zero for b > 0, and nothing follows", shown(two, "two") == "UNKNOWN")


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Real Transformers are layers with dynamic parameters")
    for part in (facts, attention, norms, blocks, nearly, every_depth, what_does_not_fit):
        part(a)
    a.section("Verdict")
    a.say(
        "PROVED for all shapes, every number of heads and groups, any scores, every σ and every depth: each of these "
        "blocks is a layer of Theorem 1 with dynamic parameters, and a Transformer made of them has the closed form, "
        "up to the logits.  A softmax over the vocabulary has no such form with fixed parameters. ∎"
    )


if __name__ == "__main__":
    run(main)
