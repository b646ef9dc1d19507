# %% [markdown]
# # What may be pruned
#
# The papers explain pruning by one formula (DUAT §4.3, Eq. 13–16; v1 §4.3, Eq. 9–12; v2 §4.3, Eq. 12–15).
# A sum of N terms is within ε of f; its terms are cut into those of Λ_1, which stay, and those of Λ_2:
#
#     | Σ_{Λ_1} + Σ_{Λ_2} − f | < ε.                                                            (13, 14)
#
# "Since" the sum over Λ_2 tends to zero (v1: over Λ_1), they conclude
#
#     | |Σ_{Λ_1} − f| − |Σ_{Λ_2}| | < ε,                                                        (15)
#     |Σ_{Λ_1} − f| < ε + |Σ_{Λ_2}|,                                                            (16)
#
# and then that layers with small parameters can be removed.  Eq. 15 and 16 hold, and need no "since".
# The last step does not follow: what has to be small is what a layer *adds* to its input.

# %%
from fractions import Fraction

import numpy as np
import sympy
from argument import Argument, run
from sympy import Abs

from uat_jax.decide.inequalities import measured
from uat_jax.ledger.pruning.layer_removal import (
    REMOVED,
    actual_difference,
    claimed_bound,
    later_layer,
    random_network,
    removed_layer,
)
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.inequality import Deduction, deduce
from uat_jax.symbolic.layers import KINDS
from uat_jax.symbolic.step import Step

S_1, S_2, f = sympy.symbols("S_1 S_2 f", real=True)
epsilon, delta = sympy.Symbol("ε", positive=True), sympy.Symbol("δ", nonnegative=True)
CLOSE = Abs(S_1 + S_2 - f) < epsilon

# %% [markdown]
# ## How an inequality is decided
#
# |u| becomes a symbol t with t ≥ u and t ≥ −u, and where it matters one case t = u and one case t = −u.
# In each case the claim is denied, and inequalities p ≥ 0 or p > 0 are multiplied by numbers λ ≥ 0 so
# that Σ λ p vanishes identically: a sum of non-negative numbers, one of them positive, that is zero.
# Whoever doubts it multiplies it out.


# %%
def shown(found: Deduction) -> str:
    """The contradiction of every case: these inequalities, with these factors, add up to 0 > 0."""
    lines = []
    for case in found.cases:
        lines.append(f"if {' and '.join(case.signs)}:" if case.signs else "always:")
        lines += [f"  {factor} × [{fact.name}]" for factor, fact in case.terms]
    return "\n".join(lines)


def prove(a: Argument, fact: str, claim, hypotheses) -> Deduction:
    """An inequality that follows."""
    found = deduce(claim, hypotheses)
    a.check(fact, bool(found.cases) and all(case.contradicts() for case in found.cases))
    return found


def refute(a: Argument, fact: str, claim, hypotheses) -> None:
    """An inequality that does not follow, with a point at which it fails."""
    found = deduce(claim, hypotheses)
    a.check(f"refuted — {fact}", found.point is not None)
    assert found.point is not None
    a.show("at " + ", ".join(f"{symbol} = {value}" for symbol, value in found.point.items()))


# %% [markdown]
# ## Eq. 15 and 16
#
# Everything happens at one x, so the two sums and f(x) are three real numbers.


# %%
def two_sums(a: Argument) -> None:
    """Eq. 15 and 16 without a premise; what the premise is good for; which sum it is about."""
    a.section("Eq. 15 and 16: S_1 and S_2 are the sums over Λ_1 and Λ_2 at one x")
    prove(a, "Eq. 15, no premise on S_2", Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon, [CLOSE])
    found = prove(a, "Eq. 16, no premise on S_2", Abs(S_1 - f) < epsilon + Abs(S_2), [CLOSE])
    a.show(shown(found))
    refute(a, "Eq. 16 with ε/2 for ε", Abs(S_1 - f) < epsilon / 2 + Abs(S_2), [CLOSE])
    a.say("What a small S_2 adds is a useful bound:")
    error = Abs(S_1 - f) < epsilon + delta
    prove(a, "|S_2| ≤ δ (DUAT): the kept sum is within ε + δ of f", error, [CLOSE, Abs(S_2) <= delta])
    refute(a, "|S_1| ≤ δ (v1): the kept sum is within ε + δ of f", error, [CLOSE, Abs(S_1) <= delta])
    a.say("v1 calls the sum small that it keeps: S_1 = 0, S_2 = f = 5 satisfies its premise and has error 5.")


# %% [markdown]
# ## Sums up to N_1 and N_2
#
# v1 Eq. 12 and v2 Eq. 15 write Σ_{j=1}^{N_1} and Σ_{j=1}^{N_2}.  With one term in each index set both are
# the first term t_1, and the second is nowhere.


# %%
def prefix_sums(a: Argument) -> None:
    """Two terms are enough to refute it."""
    a.section("v1 Eq. 12, v2 Eq. 15: sums up to N_1 and N_2")
    t_1, t_2 = sympy.symbols("t_1 t_2", real=True)
    together = [Abs(t_1 + t_2 - f) < epsilon]
    refute(a, "|t_1 − f| < ε + |t_1|", Abs(t_1 - f) < epsilon + Abs(t_1), together)
    prove(a, "corrected, Λ_1 = {2}: |t_2 − f| < ε + |t_1|", Abs(t_2 - f) < epsilon + Abs(t_1), together)
    prove(a, "corrected, Λ_1 = {1}: |t_1 − f| < ε + |t_2|", Abs(t_1 - f) < epsilon + Abs(t_2), together)


# %% [markdown]
# ## Removing a layer
#
# In Eq. 20 and 30 a layer is x_k = A_k x + c_k + C_k σ(…), so small parameters make x_k small, whereas
# removing the layer gives x_{k−1}.  Small has to be what the layer adds, x_k − x_{k−1}; then the later
# layers j multiply it by at most ‖A_j‖ + λ ‖C_j‖ ‖B̄_j‖ each, λ being a Lipschitz constant of σ:
#
#     ‖x_L − x̃_L‖ ≤ Π_{j>k} (‖A_j‖ + λ ‖C_j‖ ‖B̄_j‖) · (‖A_k − I‖ ‖x_{k−1}‖ + ‖c_k‖ + ‖C_k s_k‖).


# %%
def zero_layer(a: Argument) -> None:
    """All parameters zero is not the identity."""
    a.section("A layer whose parameters are small")
    for kind in KINDS:
        layers = u.square_layers(kind)
        x, layer = layers.x(0), layers.apply(1, layers.x(0))
        zero = {p: m.Zero(*p.shape) for p in layers.parameters(1)}
        a.refute(Step(f"{kind}: all parameters zero, the layer returns its input", layer.renamed(zero), x))
        same = {layers.A(1): m.Identity(u.D), layers.C(1): m.Zero(u.D, u.F), layers.c(1): m.Zero(u.D, 1)}
        a.prove(Step(f"{kind}: it does with A = I, C = 0, c = 0", layer, x, same))


def bound(a: Argument) -> None:
    """What layer k adds, what a later layer makes of it, and the induction over the layers."""
    a.section("The bound, for every depth and every width")
    for kind in KINDS:
        for what, (steps, claimed, laws) in (("layer k", removed_layer(kind)), ("layer j > k", later_layer(kind))):
            for step in steps:
                a.prove(Step(f"{kind}, {what}: {step.name}", step.left, step.right, step.where))
            found = prove(a, f"{kind}, {what}: its norm", claimed, laws)
            a.show(shown(found) if kind == "transformer" else "")
    e_k, before, e_j, r, P = sympy.symbols("e_k e_{j-1} e_j r_j P_{j-1}", nonnegative=True)
    step = [e_j <= r * before, before <= P * e_k]
    prove(
        a, "induction: e_j ≤ r_j e_{j−1} and e_{j−1} ≤ P_{j−1} e_k give e_j ≤ r_j P_{j−1} e_k", e_j <= r * P * e_k, step
    )


def example(a: Argument) -> None:
    """Both sides on a random network, in balls."""
    a.section("One random network")
    layers, x = random_network()
    found = measured(actual_difference, claimed_bound, {"layers": layers, "x": x}, what="∞-norm")
    a.show(f"L = {len(layers)}, layer {REMOVED} removed: ‖x_L − x̃_L‖ = {found.figures['actual']}")
    a.show(f"                    the bound   = {found.figures['bound']}")
    a.check("the difference is at most the bound", found.verdict == "AGREES")


# %% [markdown]
# ## What else is not enough
#
# Small parameters *inside* σ leave α_j σ(0).  And the closed form of a deep network (Eq. 11) is not a sum
# of independent terms: its later biases b'_{j,2} contain the earlier terms (Eq. 12), so that a summand
# can be deleted only everywhere at once.


# %%
def other_readings(a: Argument) -> None:
    """10 σ(0) = 5; the deleted summand that stays in the bias."""
    a.section("What else is not enough")
    logistic_at_0 = Fraction(1, 2)
    a.check("refuted — W_j = 0, θ_j = 0, logistic σ: a term with α_j = 10 is 5, not 0", 10 * logistic_at_0 == 5)
    relu = lambda t: np.maximum(t, 0)
    (A, B_1, C_1, b_1), (B_2, C_2), x = (1, 0, 1, 1), (1, 1), 0
    s_1 = relu(B_1 * x + b_1)
    kept = A * x + C_2 * relu(B_2 * (A * x + C_1 * s_1))  # Eq. 11 for L = 2, first summand deleted, b'_{2,2} kept
    pruned = A * x + C_2 * relu(B_2 * A * x)  # the network with C_1 = 0
    a.show(f"L = 2, relu, b_1 = C_1 = B_2 = C_2 = 1, x_0 = 0: summand deleted {kept}, pruned network {pruned}")
    a.check("refuted — deleting the first summand of Eq. 11 is the network without it", kept != pruned)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("What may be pruned")
    two_sums(a)
    prefix_sums(a)
    zero_layer(a)
    bound(a)
    example(a)
    other_readings(a)
    a.section("Verdict")
    a.say(
        "PROVED: Eq. 15 and 16 at every x, without any premise, and the error bound ε + δ with DUAT's. "
        "REFUTED: v1's premise, the sums up to N_1 and N_2, and the removal of layers whose parameters are small. "
        "PROVED instead: a layer can be removed if it adds little to its input, with the bound above for every depth. ∎"
    )


if __name__ == "__main__":
    run(main)
