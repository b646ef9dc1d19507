# %% [markdown]
# # Causal masks and context
#
# The papers explain what language models do with context by one sentence (all versions, §4.2): the matrix
# W_HVO is "dense (almost devoid of zero elements)", so each element of the output "encapsulates
# comprehensive information from both preceding and subsequent contexts".  This is so for encoders, for
# almost all weights.  The models that the papers are about are decoders.

# %%
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from argument import Argument, run

from uat_jax.decide.functions import evaluated
from uat_jax.decide.ranks import rank
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.ledger.attention import context, convolution, density
from uat_jax.networks import TransformerLayer
from uat_jax.networks.heads import masked_attention
from uat_jax.networks.masks import causal_mask
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import COUNT, HEAD, TOKENS, WIDTH, Heads
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.support import density as share
from uat_jax.symbolic.support import lower_triangular, shift

OF, N, M = Heads(), TOKENS, m.dimension("M")

# %% [markdown]
# ## Counting without numbers
#
# A matrix expression shows how many of its entries can be other than zero: X ⊗ Y has as many as X times as
# many as Y, I_n has n, and E_i puts the blocks of different heads into different columns, so that their
# numbers add up.  What is counted below is a polynomial in N, d and h, or a quotient of two.


# %%
def densities(a: Argument) -> None:
    """Linear, one head, all heads, and W_HVO without a mask."""
    a.section("Counting without numbers")
    rows = (
        ("W ⊗ I_M, a Linear layer", density.LINEAR, 1 / M),
        ("H_i ⊗ W_Viᵀ, one head", density.ONE_HEAD, sympy.Integer(1)),
        ("W_HV, all heads before W_O", OF.values_matrix(), 1 / COUNT),
        ("W_HVO without a mask", OF.matrix(), sympy.Integer(1)),
    )
    for name, expression, claimed in rows:
        a.check(f"{name}: density {claimed}", sympy.expand(share(expression) - claimed) == 0)
    a.say(
        "v1 calls the first number the sparsity; as a share of zeros it would be 1 − 1/M.  Density 1 for W_HVO "
        "means: its entries are polynomials in the weights, none of them the zero polynomial, so almost no weights "
        "make one of them zero."
    )


# %% [markdown]
# ## Non-zero weights are not enough
#
# An entry of W_HVO is one entry of H_i times one of W_Vi W_Oi.  So it is dense exactly if none of these
# has a zero — and a product of matrices without zeros may have one.


# %%
def criterion(a: Argument) -> None:
    """A column of H ⊗ Yᵀ, and the smallest product with a zero."""
    a.section("Non-zero weights are not enough")
    p, q = m.Letter("p", N, 1), m.Letter("q", WIDTH, 1)
    H, Y = OF.pattern(HEAD), m.Letter("Y", WIDTH, OF.features, (HEAD,))
    columns = m.Kronecker(H, Y.T) @ m.Kronecker(p, q), m.Kronecker(H @ p, Y.T @ q)
    a.prove(Step("a column of H_i ⊗ Y_iᵀ is a column of H_i times one of Y_iᵀ", *columns))
    V, O = sympy.Matrix([[1, 1], [1, 1]]), sympy.Matrix([[1, 1], [-1, 1]])
    a.show(f"W_V = {V.tolist()}, W_O = {O.tolist()}, N = 1:  W_HVO = {(V * O).T.tolist()}")
    a.check("refuted — no weight is zero, and half of W_HVO is", (V * O).tolist() == [[0, 2], [0, 2]])


# %% [markdown]
# ## Decoders
#
# With a causal mask H_i is zero above its diagonal.  Of the N² blocks of W_HVO, N(N + 1)/2 remain.  But
# W_HVO is not the derivative, and the later tokens might come in through H_i.  They do not: output n is a
# quotient of two sums over all tokens, P up to n and R after it, and in both the mask puts zeros before R.


# %%
def decoders(a: Argument) -> None:
    """(N + 1)/(2N), and independence of later tokens."""
    a.section("Decoders")
    causal = share(OF.matrix(), {"H": lower_triangular})
    a.check("W_HVO of a decoder has density (N + 1)/(2N)", sympy.expand(causal - (N + 1) / (2 * N)) == 0)
    a.show(",  ".join(f"N = {n}: {Fraction(n + 1, 2 * n)}" for n in (1, 2, 4, 1024)))
    a.show("row n of Ĥ_i is (e_P V_P + (e_R ∘ 0) V_R) / (e_P 1 + (e_R ∘ 0) 1), with e = exp(q_n kᵀ/√M)")
    a.check("both sums are the same for any two continuations R", combine(context.hidden_tokens()) is Verdict.PROVED)
    a.check("without the mask they differ", combine(context.hidden_tokens(m.Ones)) is Verdict.UNKNOWN)


# %% [markdown]
# ## The derivatives of a network
#
# The same on a plain network of three tokens and two heads, with random weights: which derivatives of
# output n with respect to token n' are not zero, H_i(x) differentiated as well.


# %%
def derivatives(a: Argument) -> None:
    """The Jacobian, block by block."""
    a.section("The derivatives of a network")
    random, tokens = np.random.default_rng(0), 3
    draw = lambda *sizes: random.uniform(0.5, 1.5, sizes)
    blocks = [draw(2, 2, 2) for _ in range(3)]
    layer = TransformerLayer(*blocks, draw(2, 2, 4), draw(4, 1), draw(1), draw(1, 4), draw(4))  # type: ignore[arg-type]
    x = random.normal(size=(tokens, 4))
    for name, mask in (("without a mask", None), ("with a causal mask", causal_mask(tokens))):
        attend = lambda z, mask=mask: masked_attention(jax.tree.map(jnp.asarray, layer), z, mask)
        jacobian = evaluated(jax.jacfwd(attend), x)
        nonzero = (jacobian != 0).all(axis=(1, 3))
        a.show(f"{name}:\n" + "\n".join("  " + " ".join("1" if entry else "0" for entry in row) for row in nonzero))
        wanted = np.ones((tokens, tokens)) if mask is None else np.tril(np.ones((tokens, tokens)))
        a.check(
            f"{name}, blocks are {'full' if mask is None else 'zero'} above the diagonal", (nonzero == wanted).all()
        )
        a.check("a block is zero as a whole or nowhere", ((jacobian != 0).any(axis=(1, 3)) == nonzero).all())


# %% [markdown]
# ## Correlated
#
# "Internal elements are highly correlated" has an exact form: with entry (n, m), (n', m') moved to
# (n, n'), (m, m'), W_HVO is Σ_i vec(H_i) vec(Y_iᵀ)ᵀ, Y_i = E_i W_Vi W_Oi: a matrix of rank at most h.


# %%
def correlated(a: Argument) -> None:
    """The rearrangement of one head, and the rank of two."""
    a.section("Correlated")
    found = density.rearrangement_of_one_head(density.rearranged)
    a.check(found.finding, found.verdict is Verdict.PROVED)
    matrix, *_ = density.random_rearranged(np.random.default_rng(0))
    a.check(f"two heads: a {matrix.shape[0]} × {matrix.shape[1]} matrix of rank 2", rank(matrix) == 2)


# %% [markdown]
# ## Convolution
#
# A convolution is a matrix as well: Σ_k K_k ⊗ S_k if it slides along the features, as the papers draw it,
# Σ_k S_k ⊗ W_kᵀ if it slides along the tokens, S_k being the shift by k places.  One layer sees 2r + 1
# tokens; L layers see 2rL + 1, so that "fragmented" is a matter of depth.


# %%
def convolutions(a: Argument) -> None:
    """Both matrices, their density, and the reach of a stack."""
    a.section("Convolution")
    axes = (("features", convolution.along_features, M), ("tokens", convolution.along_tokens, N))
    r = convolution.r
    for axis, sides, length in axes:
        a.prove(convolution.equation(f"along the {axis}", sides, convolution.over_taps))
        claimed = ((2 * r + 1) * length - r * (r + 1)) / length**2
        counted = share(sides(convolution.over_taps)[1], {"S": shift}, [r <= length])
        a.check(
            f"density Σ_k ({length} − |k|)/{length}² = {claimed} for r ≤ {length}",
            sympy.simplify(counted - claimed) == 0,
        )
    seen = {(reach, layers): convolution.tokens_seen(reach, layers, 13) for reach in (1, 2) for layers in (1, 2)}
    a.show(",  ".join(f"r = {reach}, L = {layers}: {count} tokens" for (reach, layers), count in seen.items()))
    a.check("2rL + 1 each time", all(count == 2 * reach * layers + 1 for (reach, layers), count in seen.items()))


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Causal masks and context")
    densities(a)
    criterion(a)
    decoders(a)
    derivatives(a)
    correlated(a)
    convolutions(a)
    a.section("Verdict")
    a.say(
        "PROVED for encoders and almost all weights: W_HVO is dense, every output depends on every token.  REFUTED for "
        "decoders: the density is (N + 1)/(2N), and no output depends on a later token.  REFUTED: that non-zero "
        "weights suffice; that a stack of convolutions is as short-sighted as one. ∎"
    )


if __name__ == "__main__":
    run(main)
