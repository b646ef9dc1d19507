# %% [markdown]
# # What the closed form costs
#
# The closed form has nested biases: s_j = σ(Ŵ_{j,2} x_0 + b̂_{j,2}) and b̂_{j,2} contains s_1, …, s_{j−1}.
# Written out, as the papers print it, every s_k stands there again and again.  How much work that is can
# be counted: first from the formulas, as a recurrence; then in the traces of real programs.

# %%
from typing import Any

import numpy as np
import sympy
from argument import Argument, run

from uat_jax.decide.ranks import bounds, rank
from uat_jax.ledger.complexity import attention as operators
from uat_jax.ledger.complexity import evaluation as cost
from uat_jax.ledger.complexity import paths
from uat_jax.ledger.complexity.evaluators import applications, longest_chain, products
from uat_jax.ledger.complexity.generic_layer import LAYERS, activations_in
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS, Layers

L, N, M, h = cost.L, operators.N, operators.M, operators.h
DEPTHS, RANKED = range(1, 7), range(1, 5)

# %% [markdown]
# ## Four orders of evaluation
#
# A tree computes every s_k where it stands.  Memoised, every s_k is computed once.  Two streams carry
#
#     p_j = A_j p_{j−1} + c_j,   u_j = A_j u_{j−1} + C_j σ(B_j (p_{j−1} + u_{j−1}) + b_j)
#
# and need no hatted parameters.  The network itself carries x_j = p_j + u_j.  What one layer costs is read off the
# expressions of a generic layer i + 1, and added up over the layers.


# %%
def four_orders(a: Argument) -> None:
    """Activations and products, derived and counted."""
    a.section("Four orders of evaluation")
    counts = (
        ("tree", 2**L - 1, cost.tree_activations(), 5 * 2 ** (L - 1) - 2, cost.tree_products()),
        ("memoised", L, cost.memoised_activations(), L * (L + 5) / 2, cost.memoised_products()),
        ("two_streams", L, cost.two_stream_activations(), 4 * L - 1, cost.two_stream_products()),
        ("network", L, _network_activations(), 3 * L, cost.network_products()),
    )
    for name, activations, derived, vectors, derived_vectors in counts:
        same = all(sympy.simplify(x - y) == 0 for x, y in ((activations, derived), (vectors, derived_vectors)))
        a.check(f"{name}: {activations} activations and {vectors} matrix–vector products, derived", same)
        traces = [cost.trace(name, depth) for depth in DEPTHS]
        found = [(applications(t, "tanh"), products(t, with_vectors=True)) for t in traces]
        wanted = [(activations.subs(L, depth), vectors.subs(L, depth)) for depth in DEPTHS]
        a.check(f"{name}: counted in traces of 1…6 layers: {found}", found == wanted)
        a.check("the activations follow one another: a chain of length L in each trace", _chains(name) == list(DEPTHS))
    a.check("s_L has L activations nested in one another, derived", sympy.simplify(cost.longest_nesting() - L) == 0)


def _network_activations() -> Any:
    """Σ over the layers of the activations in x_{i+1}, written with x_i."""
    return sympy.summation(activations_in(LAYERS.apply(INDEX + 1, LAYERS.x(INDEX))), (cost.j, 1, L))


def _chains(name: str) -> list[int]:
    return [longest_chain(cost.trace(name, depth), "tanh") for depth in DEPTHS]


# %% [markdown]
# ## Two streams
#
# One layer more takes p_i + u_i to what the layer makes of it, whatever its parameters depend on.


# %%
def two_streams(a: Argument) -> None:
    """x_j = p_j + u_j, for every depth."""
    a.section("Two streams")
    for kind in KINDS:
        for dynamic in (False, True):
            a.say(f"A {kind} network with {'dynamic' if dynamic else 'fixed'} parameters:")
            for step in cost.two_stream_steps(Layers(kind, dynamic=dynamic)):
                a.prove(step)


# %% [markdown]
# ## Attention as one matrix
#
# W_HVO is NM × NM.  Applied by its factors, H_i (x_i W_Vi) W_Oi, it is never built.


# %%
def one_matrix(a: Argument) -> None:
    """Entries and multiply-adds."""
    a.section("Attention as one matrix")
    slices, full = h * operators.head_cost(M / h, M / h), h * operators.head_cost(M, M / h)
    a.show(f"one matrix: {operators.ENTRIES} entries, and as many multiply-adds")
    a.show(f"factors, heads on slices: {sympy.expand(slices)};  heads on all features: {sympy.expand(full)}")
    for shape in operators.SHAPES:
        found = operators.factored_cost(slices=True)(shape), operators.factored_cost(slices=False)(shape)
        a.check(f"counted at {shape}: {found}", found == (slices.xreplace(shape), full.xreplace(shape)))
    entries, less = (sympy.sympify(e).xreplace(operators.GPT3) for e in (operators.ENTRIES, operators.ENTRIES / full))
    a.check(f"GPT-3 (N = 2048, M = 12288): {entries} entries", entries == 633_318_697_598_976)
    a.check(f"its factors take {less} times less, about 945", less == sympy.Rational(12288, 13))


# %% [markdown]
# ## Attention over layers
#
# With a residual, P_L = Π_j (I + Σ_i H_{j,i} ⊗ V_{j,i}ᵀ) is a sum over paths: in each layer a head, or none.
# Its Kronecker rank, the least number of terms G ⊗ Uᵀ it can be written with, is the rank of the
# rearrangement Σ_p vec(G_p) vec(U_p)ᵀ.
#
# The rows of every G_p add up to 1, so that N(N−1) of its entries determine it, or N(N−1)/2 if it is causal.  Written
# through these entries, the rearrangement shows a rank of at most their number and one more.


# %%
def over_layers(a: Argument) -> None:
    """Paths, and the rank of the rearrangement."""
    a.section("Attention over layers")
    for step in paths.path_steps():
        a.prove(step)
    for step, free in ((paths.rearranged(), N * (N - 1)), (paths.rearranged_causal(), N * (N - 1) / 2)):
        a.prove(step)
        shown = any(m.same_dimension(bound, free + 1) for bound in bounds(step.right))
        a.check(f"{step.name}: a rank of at most {sympy.expand(free + 1)}", shown)
    for subject, ranks in {"any pattern": (3, 9, 13, 13), "causal": (3, 7, 7, 7)}.items():
        found, least = _ranks(causal=subject == "causal"), tuple(paths.least_bound(subject, depth) for depth in RANKED)
        a.check(f"{subject}, N = M = 4, h = 2, L = 1…4: ranks {found}", found == ranks)
        a.check("each is the smallest of the three bounds", found == least)


def _ranks(*, causal: bool) -> tuple[int, ...]:
    random = np.random.default_rng(0)
    return tuple(rank(paths.kronecker_matrix(random, depth, causal=causal)[0]) for depth in RANKED)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("What the closed form costs")
    four_orders(a)
    two_streams(a)
    one_matrix(a)
    over_layers(a)
    a.section("Verdict")
    a.say(
        "PROVED: 2^L − 1 activations as a tree, L with every s_k computed once; L(L+5)/2 matrix–vector products then, "
        "4L − 1 in two streams, 3L in the network.  Attention as one matrix costs N²M², its factors far less, and the "
        "product over layers does not keep them: its Kronecker rank is at most the smallest of (h+1)^L, N² − N + 1 "
        "and M², and reaches that. ∎"
    )


if __name__ == "__main__":
    run(main)
