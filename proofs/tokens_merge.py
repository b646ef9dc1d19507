# %% [markdown]
# # Attention without skips makes all tokens alike
#
# Every output of attention is a mean of tokens: the rows of H are not negative and add up to 1.  Means are nearer
# to each other than what they are means of.  How much nearer, Dobrushin's coefficient says:
#
#     τ(H) = max_{n,m} ½ Σ_k |H_nk − H_mk|,      osc(x) = max_{n,m} ‖x_n − x_m‖_∞.
#
# A Transformer in the papers' own form, Eq. 28 to 30, has no skip around attention.

# %%
import numpy as np
import sympy
from argument import Argument, run

from uat_jax.decide.functions import evaluated
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.verdict import Verdict
from uat_jax.ledger.beyond import rank_collapse as merging

# %% [markdown]
# ## One matrix
#
# Let d be the difference of rows n and m.  Its entries add up to 0, so that d = p − q with p, q ≥ 0 and
# Σ p = Σ q = T = ½ Σ |d| ≤ τ(H).  One feature of the tokens is numbers; subtract the lowest from all of them, which
# changes nothing.  Then 0 ≤ x_k ≤ w ≤ osc(x), and (H x)_n − (H x)_m = Σ_k (p_k − q_k) x_k ≤ T w.


# %%
def one_matrix(a: Argument) -> None:
    """osc(H x) ≤ τ(H) osc(x), for every number of tokens."""
    a.section("One matrix: osc(H x) ≤ τ(H) osc(x)")
    a.decide(merging.parts())
    a.prove(merging.shifted())
    a.decide(merging.between(), merging.apart())
    S, T, tau, w, osc = sympy.symbols("S T τ w osc", nonnegative=True)
    known = [S <= T * w, T <= tau, w <= osc]
    a.reject("half of that", proved_inequality(S <= tau * osc / 2, known, what="S ≤ τ osc / 2"))
    a.say("Two tokens, 0 and 1, reach it:")
    a.decide(merging.reached())


# %% [markdown]
# ## Products
#
# ½ Σ_j |(d G)_j| is ½ d (G s) with the signs s of d G.  The numbers (G s)_k differ by at most 2 τ(G), so by what was
# shown for one matrix this is at most ½ T · 2 τ(G).


# %%
def products(a: Argument) -> None:
    """τ(H G) ≤ τ(H) τ(G)."""
    a.section("Products: τ(H G) ≤ τ(H) τ(G)")
    a.prove(merging.exchanged())
    a.decide(*merging.signs(), merging.between(), merging.product())
    whole, S, T, w, tau_H, tau_G = sympy.symbols("τ(HG) S T w τ(H) τ(G)", nonnegative=True)
    known = [sympy.Eq(2 * whole, S), S <= T * w, T <= tau_H, w <= 2 * tau_G]
    half = "τ(H G) ≤ ½ τ(H) τ(G)"
    a.reject(half, proved_inequality(whole <= tau_H * tau_G / 2, known, what=half))
    random = np.random.default_rng(3)
    for _ in range(3):
        first, second = (random.dirichlet(np.ones(4), 4) for _ in "HG")
        tau = [float(evaluated(merging.dobrushin, of)) for of in (first @ second, first, second)]
        a.show(f"random, four tokens: τ(H G) = {tau[0]:.3f},  τ(H) τ(G) = {tau[1] * tau[2]:.3f}")


# %% [markdown]
# ## Softmax
#
# τ(H) < 1 as soon as no entry is 0: ½ Σ |a_k − b_k| ≤ 1 − N ε for two rows without an entry below ε.  If the scores
# of a row differ by at most r, every entry is at least exp(−r)/N, so that τ ≤ 1 − exp(−r).


# %%
def softmax(a: Argument) -> None:
    """τ ≤ 1 − exp(−r)."""
    a.section("Softmax: τ ≤ 1 − exp(−r)")
    a.decide(*merging.smallest_entries(), *merging.softmax_entries())
    a.reject("the whole 1-norm instead of half of it", next(merging.smallest_entries(1)))


# %% [markdown]
# ## Every depth
#
# A layer of attention alone is x_j = H_j x_{j−1} V_j, so osc(x_L) ≤ Π_j τ(H_j) ‖V_jᵀ‖ · osc(x_0).  H_j may depend
# on x_{j−1}.


# %%
def every_depth(a: Argument) -> None:
    """The product over layers, and networks in numbers."""
    a.section("Every depth")
    a.decide(*merging.mixed(), *merging.over_the_layers())
    S, d = sympy.symbols("S d_i", real=True)
    total, largest, term, weight = sympy.symbols("Σ|V_ij| max|d_i| |d_i·V_ij| |V_ij|", nonnegative=True)
    known = [abs(S) <= total * largest, abs(d) <= term, term <= weight * largest]
    claim = abs(S + d) <= (total + weight / 2) * largest
    a.reject("features count half", proved_inequality(claim, known, what="|S + d_i V_ij| with ½ |V_ij|"))
    for seed in (59, 60, 61):
        found = merging.measured_network(seed)
        a.check(found.finding, found.verdict is Verdict.AGREES)


# %% [markdown]
# ## With a skip
#
# x + H x does not bring tokens nearer: with H = I it doubles every difference.  Skips are what keeps tokens apart.


# %%
def skips(a: Argument) -> None:
    """Tokens x_n = n under five layers, with and without a skip."""
    a.section("With a skip")
    H = np.full((3, 3), 1 / 6) + np.eye(3) / 2
    osc = lambda x: float(evaluated(merging.spread, x))
    without, with_skip = np.arange(3.0)[:, None], np.arange(3.0)[:, None]
    for _ in range(5):
        without, with_skip = H @ without, with_skip + H @ with_skip
    a.show(f"osc after five layers: {osc(without):.4f} without, {osc(with_skip):.4f} with a skip; 2 before")
    a.check(
        "without a skip it is 2 τ(H)^5 at most", osc(without) <= 2 * float(evaluated(merging.dobrushin, H)) ** 5 + 1e-12
    )
    a.check("with a skip tokens are further apart than before", osc(with_skip) > 2)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Attention without skips makes all tokens alike")
    one_matrix(a)
    products(a)
    softmax(a)
    every_depth(a)
    skips(a)
    a.section("Verdict")
    a.say(
        "PROVED for every number of tokens and every depth: tokens of attention without skips merge at the rate "
        "Π_j τ(H_j) ‖V_jᵀ‖, with τ(H) ≤ 1 − exp(−r) for scores that differ by at most r in a row. ∎"
    )


if __name__ == "__main__":
    run(main)
