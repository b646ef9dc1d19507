# %% [markdown]
# # What LoRA does to the closed form
#
# LoRA adds a matrix of low rank to a frozen weight (DUAT Eq. 17):
#
#     h = W_0 x + ΔW x,   ΔW = U V with r columns in U.
#
# Put into the closed form it is printed as (DUAT Eq. 18)
#
#     x_{i+1} = (W'_{i+1,1} x_0 + b_{i+1,1})
#               + Σ_{j=1}^{i+1} (W'_{j,3} + ΔW_{j+1,3}) + σ((W'_{j,2} + ΔW_{j+1,2}) x_0 + b'_{j,2}),
#
# and it is said that LoRA fine-tunes these parameters layer by layer.  The plus before σ has no shape,
# ΔW_{i+2} belongs to no layer, and neither does b_{i+1,1}.  What is left after these repairs depends on
# which W' is meant.

# %%
import jax
import numpy as np
from argument import Argument, difference, parting, run

from uat_jax.decide.ranks import enclosed, rank
from uat_jax.errors import ShapeError
from uat_jax.ledger.lora.attention import TELESCOPED, telescope
from uat_jax.ledger.lora.padding import empty_tuned
from uat_jax.ledger.lora.ranks import MATRIX, matrix_rank_step, six_tokens
from uat_jax.ledger.lora.tuned import READINGS, TunedLayers, delta, recomputed, square_tuned, tuned_rules
from uat_jax.networks.lora import Adapter, lora_residual_layer, merge
from uat_jax.networks.residual import ResidualLayer, residual_layer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import KINDS
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step

N, M, G, r, D, F = map(m.dimension, "NMGrDF")

# %% [markdown]
# ## One weight
#
# The adapter can be applied beside the frozen weight, in two thin products, or be merged into it.


# %%
def one_weight(a: Argument) -> None:
    """Eq. 17, beside the weight, merged, and on tokens."""
    a.section("One weight")
    W, x, U, V = m.Letter("W", G, M, (0,)), m.Letter("x", M, 1), m.Letter("U", G, r), m.Letter("V", r, M)
    change = delta(m.Letter("W", G, M))
    a.prove(Step("beside and merged", W @ x + U @ (V @ x), (W + change) @ x, {change: U @ V}))
    on = lambda matrix: m.Kronecker(m.Identity(N), matrix.T)
    U, V = m.Letter("U", M, r), m.Letter("V", r, G)
    a.say(
        "On N tokens the matrix of the adapter is I_N ⊗ ΔWᵀ.  It goes through N·r columns, so its rank is N·r at most:"
    )
    a.prove(Step("the matrix of an adapter", on(U @ V), on(V) @ on(U)))
    draw = np.random.default_rng(0).integers
    matrix = np.kron(np.eye(3, dtype=int), (draw(-3, 4, (5, 2)) @ draw(-3, 4, (2, 4))).T)
    a.check("N·r is reached: N = 3, r = 2, rank 6", rank(matrix) == 6)


def a_layer(a: Argument) -> None:
    """The same in JAX, on whole numbers."""
    draw = np.random.default_rng(0).integers
    array = lambda *shape: draw(-2, 3, shape).astype(np.float32)
    layer = ResidualLayer(array(3, 3), array(4, 3), array(3, 4), array(4), array(3))  # type: ignore[arg-type]
    adapters = {"B": Adapter(array(4, 1), array(1, 3)), "C": Adapter(array(3, 1), array(1, 4))}  # type: ignore[arg-type]
    x = array(3)
    beside = lora_residual_layer(layer, adapters, x, jax.nn.relu)  # type: ignore[arg-type]
    merged = residual_layer(merge(layer, adapters), x, jax.nn.relu)  # type: ignore[arg-type]
    a.show(f"a layer of whole numbers: {np.asarray(beside)} beside, {np.asarray(merged)} merged")
    a.check("equal in every bit", np.array_equal(beside, merged))


# %% [markdown]
# ## Eq. 18 as printed


# %%
def as_printed(a: Argument) -> None:
    """The plus has no shape."""
    a.section("Eq. 18 as printed")
    W2, W3, b, x = m.Letter("W", F, D, (2,)), m.Letter("W", D, F, (3,)), m.Letter("b", F, 1, (2,)), m.Letter("x", D, 1)
    try:
        (W3 + delta(W3)) + m.Activation((W2 + delta(W2)) @ x + b)
    except ShapeError as error:
        a.show(error)
        a.check("refuted — the plus before σ: the second version of the UAT paper has a product there", True)
    else:
        a.check("refuted — the plus before σ", False)


# %% [markdown]
# ## Which W', which b'?
#
# With a product, the Δ of layer j and b_{i+1,3}, three readings remain.  In the first two the deltas are
# added to the parameters of the closed form that is already there, and its biases b'_{j,2} stay: to W'
# itself, or to W' after each delta has been multiplied by the same A_m as its weight.  Both forget that
# b'_{j,2} contains every earlier W_{k,3}.  What is wrong at some depth is wrong at every larger one: a layer with
# A = I, C = ΔC = 0 and c = 0 changes neither the network nor what is printed for it.


# %%
def readings(a: Argument) -> None:
    """How far each reading with old biases is exact, and why it fails from there on."""
    a.section("Deltas on the closed form, old biases")
    for name, read in (("final-values", "ΔW added to the final W'"), ("transported", "ΔW updated like W, then added")):
        for kind in KINDS:
            exact, wrong = [], None
            for depth in range(1, 6):
                found = difference(READINGS[name].program(kind, depth), plain_network(square_tuned(kind), depth))
                exact += [depth] if found is None else []
                wrong = wrong or found
            assert wrong is not None
            a.check(f"refuted — {read}, {kind} network: exact at L = {exact or 'none'} of 1…5", len(exact) <= 1)
            a.show(parting(wrong))
            for step in empty_tuned(kind, READINGS[name]):
                a.prove(step)


# %% [markdown]
# ## The layers' own weights
#
# W + ΔW is a weight like any other.  So Theorem 1 holds with B_j + ΔB_j and C_j + ΔC_j in place of B_j
# and C_j, for every depth, and all that has to be done is to compute every hatted parameter from those:
# Ŵ_{j,2}, W̃_j and b̂_{j,2}.


# %%
def own_weights(a: Argument) -> None:
    """The induction, with the tuned rules."""
    a.section("Deltas on the layers' own weights")
    for kind in KINDS:
        layers = TunedLayers(kind)
        for step in closed_form_induction(layers, tuned_rules(ClosedForm(layers))):
            a.prove(Step(f"{kind} network, {step.name}", step.left, step.right, step.where))
    pairs = ((plain_network(square_tuned(k), L), recomputed(k, range(L), L)) for k in KINDS for L in range(1, 6))
    a.check("written out for both networks at L = 1…5", all(difference(*pair) is None for pair in pairs))


# %% [markdown]
# ## Attention
#
# With adapters on attention A_j becomes A_j + ΔA_j, and the product of all of them changes by a telescoping sum.
#
# On V and O, ΔA is of low rank.  On Q and K it is not: the softmax stands in between.  All that is left is
# that the rows of H and of the tuned H̃ add up to 1, so that (H̃ − H) 1 = 0 and rank ΔA ≤ (N − 1) M.  A ΔQ
# of rank 1 reaches that.


# %%
def attention(a: Argument) -> None:
    """The telescoping sum; the rank of ΔA."""
    a.section("Adapters on attention")
    a.say(f"P_L = A_L…A_1 changes by {TELESCOPED}:")
    for step in telescope():
        a.prove(step)
    a.prove(matrix_rank_step())
    found = enclosed(40, MATRIX, six_tokens(), what="N = 6, M = 8, ΔQ of rank 1")
    a.check(f"rank ΔA ≥ 40 of 48: {found.finding}", found.verdict == "PROVED")


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("What LoRA does to the closed form")
    one_weight(a)
    a_layer(a)
    as_printed(a)
    readings(a)
    own_weights(a)
    attention(a)
    a.section("Verdict")
    a.say(
        "PROVED: Eq. 17; Eq. 18 with the deltas in the layers' own weights and every parameter computed anew, for "
        "every depth.  REFUTED: the plus, the index j+1, the bias b_{i+1,1}, and every reading that keeps the old "
        "b'_{j,2}: exact at one layer at most.  LoRA tunes the layers' own weights layer by layer, and not the "
        "parameters of the closed form: a delta in layer 1 moves the biases of all later terms. ∎"
    )


if __name__ == "__main__":
    run(main)
