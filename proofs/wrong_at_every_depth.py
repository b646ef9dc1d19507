# %% [markdown]
# # Wrong readings are wrong at every depth
#
# The papers print a list of parameter updates after Eq. 11 and Eq. 33, and a nested bias, Eq. 12 and Eq. 34.  Neither
# says which symbols are old and which new.  `printed_updates_fail_at_three_layers.py` tries the readings at L = 1 … 5
# and finds most of them wrong from L = 2 or L = 3 on.  Here that is shown for every L.
#
# The idea: put layers that do nothing behind a small network on which a reading fails.

# %%
from argument import Argument, run

from uat_jax.ledger.beyond import wrong_readings as wrong
from uat_jax.ledger.layers import nested_bias
from uat_jax.symbolic.layers import KINDS

# %% [markdown]
# ## Layers that do nothing
#
# A_j = I and B_j, C_j, b_j, c_j = 0.  The network's output stays what it is, for residual networks and Transformers.


# %%
def nothing(a: Argument) -> None:
    """The output stays."""
    a.section("Layers that do nothing")
    for kind in KINDS:
        a.prove(wrong.same_output(kind))


# %% [markdown]
# ## The list of updates
#
# The small networks have only one σ-term: C_1 = 1, b_1 = 1, and x_0, every other B_j, C_j, b_j and every c_j are
# zero. Then W_{j,2} and b_{j,3} of every layer, and W_{j,3} for j ≥ 2, are zero, and every rule of the list leaves
# them so, whichever values its other variables have: old, new or final.  What Eq. 33 computes is W_{1,3}
# σ(b_{1,2}).


# %%
def silence(a: Argument) -> None:
    """What is zero stays zero, under every rule and in every order."""
    a.section("The list of updates: what is zero stays zero")
    for step in wrong.nothing_arises():
        a.prove(step)
    a.prove(wrong.only_the_first_term())
    a.decide(wrong.left_alone())
    for name, reading in wrong.READINGS.items():
        a.check(f"{name}: how its list grows with L", wrong.grows(reading))


# %% [markdown]
# So W_{1,3} is settled by the rules of j = 1, executed once; only reading (d) applies them again, and there W_{1,3}
# is 0 by then and stays 0.  The numbers below are therefore the same for every larger L.  In reading (c′) the bias
# is wrong already at L = 2, shown by another network.


# %%
def orders(a: Argument) -> None:
    """Six wrong orders of execution."""
    a.section("The list of updates: six orders")
    for name, reading in wrong.READINGS.items():
        a.decide(*wrong.fails(name, reading, "residual"), *wrong.fails(name, reading, "transformer"))
    right = wrong.Reading(wrong.lists.corrected_boxes, 3, wrong.Network(A=(1, 1, 0), C=(1,), b=(1,)))
    a.reject("the corrected list (f) fails as well", next(wrong.fails("updates.corrected-boxes", right, "residual")))


# %% [markdown]
# ## Raw weights of a Transformer
#
# Without Eq. 30's factor A_j in W_{j,2} even the corrected list fails: W_{2,2} must be B_2 A_2 A_1.  A box of a layer
# that does nothing carries W_{j,1}, b_{j,3} and every W_{k,3} on as they are.


# %%
def raw_weights(a: Argument) -> None:
    """The seventh reading."""
    a.section("Raw weights of a Transformer")
    for step in wrong.raw_box():
        a.prove(step)
    a.decide(wrong.apart(wrong.raw_pair, wrong.RAW, 2, what="raw weights, transformer network"))


# %% [markdown]
# ## The nested bias
#
# With a layer that does nothing behind them, the hatted parameters of i + 1 layers are those of i layers.  So
# b̂_{j,2} and s_j are the same for j ≤ i in every reading, and the term of layer i + 1 is zero.


# %%
def biases(a: Argument) -> None:
    """Eleven wrong readings; the twelfth is right."""
    a.section("The nested bias")
    for kind in KINDS:
        for step in wrong.same_parameters(kind):
            a.prove(step)
    for reading, exact in wrong.WRONG.items():
        name = ", ".join(
            f"{what} {how}" for what, how in zip(("W_{j,2}", "b_{j−1,3}", "W_{k,3}"), reading, strict=True)
        )
        for kind in KINDS:
            pair = nested_bias.pair_of(kind, reading)
            a.decide(wrong.apart(pair, wrong.nested_network(reading), exact + 1, what=f"{name}; {kind} network"))
    right = ("original", "updated", "previous")
    pair = nested_bias.pair_of("residual", right)
    found = wrong.apart(pair, wrong.nested_network(("original", "updated", "own")), 3, what="the right reading")
    a.reject("the right reading, original, updated, previous, fails as well", found)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Wrong readings are wrong at every depth")
    nothing(a)
    silence(a)
    orders(a)
    raw_weights(a)
    biases(a)
    a.section("Verdict")
    a.say(
        "PROVED for every L: the seven wrong readings of the printed list and the eleven of the nested bias, "
        "each from the first depth on at which it fails. ∎"
    )


if __name__ == "__main__":
    run(main)
