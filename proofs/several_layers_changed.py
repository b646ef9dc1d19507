# %% [markdown]
# # Several layers changed at once
#
# LoRA changes B_k and C_k of many layers; pruning removes layers.  `pruning.py` bounds what removing one layer
# does.  Here any number of layers is changed, x_j = f_j(x_{j−1}) before and x̃_j = f̃_j(x̃_{j−1}) after, and
#
#     ‖x̃_L − x_L‖ ≤ Σ_k ℓ_L ⋯ ℓ_{k+1} δ_k,
#
# where δ_k = ‖f̃_k(x_{k−1}) − f_k(x_{k−1})‖ and ℓ_j is a Lipschitz constant of the changed layer j.

# %%
from argument import Argument, run
from sympy import Rational

from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.verdict import Verdict
from uat_jax.ledger.beyond import changes, constants
from uat_jax.ledger.beyond.carried_sum import carried_sum
from uat_jax.ledger.pruning.layer_removal import later_layer, removed_layer
from uat_jax.symbolic.layers import KINDS

# %% [markdown]
# ## Every depth
#
# A difference e before a layer becomes f̃(x + e) − f(x) = [f̃(x + e) − f̃(x)] + [f̃(x) − f(x)]: at most ℓ e + δ.


# %%
def every_depth(a: Argument) -> None:
    """One layer, and the induction."""
    a.section("Every depth")
    argued(a, "one layer", changes.one_layer())
    a.prove(carried_sum(1, "ℓ", "δ"))
    a.decide(*changes.over_the_layers())


def argued(a: Argument, what: str, argument: changes.Argument) -> None:
    """Equations, then the inequality that the laws of norms make of them."""
    steps, claimed, laws = argument
    for step in steps:
        a.prove(step)
    a.decide(proved_inequality(claimed, laws, what=what))


# %% [markdown]
# ## What LoRA adds
#
# δ_k ≤ ‖ΔC_k‖ ‖s_k‖ + λ ‖C_k‖ ‖ΔB_k‖ ‖y_k‖, and ℓ_j = ‖A_j‖ + λ ‖C_j‖ ‖B̄_j‖ with the new C_j and B_j.


# %%
def lora(a: Argument) -> None:
    """δ_k and ℓ_j, for both kinds of network."""
    a.section("What LoRA adds")
    for kind in KINDS:
        argued(a, f"{kind} network, δ_k", changes.adapted_layer(kind))
        argued(a, f"{kind} network, ℓ_j", later_layer(kind))
    a.say("The bound is reached, however many layers are changed:")
    a.decide(changes.reached())
    a.reject("also with the other sign of δ_k", changes.reached(-1))


# %% [markdown]
# ## What removing a layer adds
#
# The changed layer is the identity: ℓ_k = 1, and δ_k ≤ ‖A_k − I‖ ‖x_{k−1}‖ + ‖c_k‖ + ‖C_k s_k‖.


# %%
def removal(a: Argument) -> None:
    """δ_k."""
    a.section("What removing a layer adds")
    for kind in KINDS:
        argued(a, f"{kind} network, δ_k", removed_layer(kind))


# %% [markdown]
# ## The constants
#
# λ is the largest slope of σ: 1 for relu and tanh, 1/4 for the logistic function.  Softmax moves in the 1-norm at
# most as far as its scores move in the ∞-norm.  So one head on tokens of norm at most R has ℓ = ‖V‖ (1 + 2 s ‖W‖
# R²), where W = W_Q W_Kᵀ, V = W_V W_O and s is the factor before the scores.


# %%
def lipschitz_constants(a: Argument) -> None:
    """Of σ, of softmax, and of attention on a ball."""
    a.section("The constants")
    a.decide(constants.relu())
    for name in constants.SMOOTH:
        a.decide(*constants.smooth(name))
    a.reject("tanh has λ = 3/4", next(constants.smooth("tanh", Rational(3, 4))))
    a.say("Softmax:")
    a.decide(constants.softmax_derivative(), *constants.positive_part())
    a.reject("T ≤ δ/3", list(constants.positive_part(Rational(1, 3)))[-1])
    a.say("One head:")
    argued(a, "how far a score moves", constants.score_difference())
    a.decide(*constants.token_difference(), constants.total_constant())
    a.reject("ℓ = ‖V‖ (1 + s ‖W‖ R²)", constants.total_constant(1))


# %% [markdown]
# ## In numbers
#
# Random networks of four layers with σ = tanh, two of which are changed, and one random head.  How far the output
# moves is never above the bound.  Norms of products are products of norms in the bound alone, so it is not reached.

# %%
SEEDS = range(47, 53)


def in_numbers(a: Argument) -> None:
    """Actual change and bound, in ball arithmetic."""
    a.section("In numbers")
    for name in changes.CHANGES:
        compared(a, f"{name}, layers 1 and 3 of 4", [changes.measured_change(name, seed) for seed in SEEDS])
    compared(a, "one head, four tokens", [constants.measured_attention(seed) for seed in SEEDS])


def compared(a: Argument, what: str, found: list) -> None:
    """One line: the shares of the bound that are reached."""
    shares = [float(of.figures["actual"]) / float(of.figures["bound"]) for of in found]
    below = all(of.verdict is Verdict.AGREES for of in found)
    a.check(f"{what}: the change is {min(shares):.1%} to {max(shares):.1%} of the bound", below)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Several layers changed at once")
    every_depth(a)
    lora(a)
    removal(a)
    lipschitz_constants(a)
    in_numbers(a)
    a.section("Verdict")
    a.say(
        "PROVED for every depth and any number of changed layers: the sum of ℓ_L ⋯ ℓ_{k+1} δ_k bounds how far"
        " the output moves, with the constants above for LoRA, removal, activations and attention.  It is "
        "reached by networks of width 1 with relu and no negative number; random networks stay well below it."
        " ∎"
    )


if __name__ == "__main__":
    run(main)
