# %% [markdown]
# # The Jacobian of the closed form
#
# How does x_L move when x_0 moves?  Through each layer a change goes straight, by A_j, or through σ, by
# K_j = C_j diag(σ′(z_j)) B̄_j, where z_j is what σ is applied to.  So
#
#     ∂x_L/∂x_0 = (A_L + K_L) ⋯ (A_1 + K_1) = a sum over 2^L paths.
#
# The rules are those of differentiation: of sums, of products, and the chain rule for a σ that acts element by
# element.

# %%
import jax.numpy as jnp
import numpy as np
from argument import Argument, run

from uat_jax.decide.functions import evaluated
from uat_jax.ledger.beyond import jacobian
from uat_jax.networks import ResidualLayer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.step import Step

# %% [markdown]
# ## One layer
#
# A layer of Eq. 20 or Eq. 30, differentiated: dx is what its input moves by.


# %%
def one_layer(a: Argument) -> None:
    """dx_j = (A_j + K_j) dx_{j−1}."""
    a.section("One layer")
    for kind in KINDS:
        a.prove(jacobian.one_layer(kind))
    a.refute(_straight_alone())


def _straight_alone() -> Step:
    layers, i = Layers("residual"), INDEX
    dx = m.Letter("dx", layers.widths(i - 1), 1, (i - 1,))
    return Step("A_j alone", jacobian.one_layer("residual").left, layers.A(i) @ dx)


# %% [markdown]
# ## Every depth
#
# If dx_i = G_i dx_0, then dx_{i+1} = (A_{i+1} + K_{i+1}) G_i dx_0: the product, for every number of layers.


# %%
def every_depth(a: Argument) -> None:
    """The induction, and `jax.jacobian` at three layers with all weights as variables."""
    a.section("Every depth")
    for kind in KINDS:
        for step in jacobian.one_layer_more(kind):
            a.prove(step)
    a.say("The same from JAX, with σ = tanh and tanh′ = 1 − tanh², decided in prime fields at L = 3:")
    for kind in KINDS:
        a.decide(jacobian.confirmed(kind))
    a.reject("the Transformer's product is that of a residual network", _swapped())


def _swapped():
    return jacobian.confirmed("transformer", jacobian.product_of_factors("residual"))


# %% [markdown]
# ## The paths
#
# n paths through i layers become 2 n through i + 1: each goes on straight or through σ.  As the normal form of the
# product is a sum of words, its words are the paths, and no two of them are equal.


# %%
def paths(a: Argument) -> None:
    """2^L, derived and counted."""
    a.section("The paths")
    for kind in KINDS:
        a.prove(jacobian.one_branching(kind))
    found = [jacobian.expanded({jacobian.L: depth}) for depth in range(1, 7)]
    a.check(f"words of the product of 1…6 factors: {found}", found == [2**depth for depth in range(1, 7)])
    a.check("n_0 = 1 and n_{L+1} = 2 n_L: n_L = 2^L", jacobian.number_of_paths() == 2**jacobian.L)


# %% [markdown]
# ## In numbers
#
# Where no change comes through: with relu and negative arguments every K_j is zero, and only the straight path is
# left. With tanh near 0 all 2^L paths count.


# %%
def in_numbers(a: Argument) -> None:
    """The share of the straight path in a small network."""
    a.section("In numbers")
    random = np.random.default_rng(0)
    draw = lambda *shape: jnp.asarray(random.integers(-8, 9, shape) / 16)
    layers = tuple(ResidualLayer(draw(2, 2), draw(3, 2), draw(2, 3), draw(3), draw(2)) for _ in range(3))
    of_weights = jacobian.product_of_factors("residual")
    product = evaluated(lambda x: of_weights(layers, x), np.array([0.5, -0.25]))
    straight = np.linalg.multi_dot([np.asarray(layer.A) for layer in reversed(layers)])
    a.show(f"the product      {np.array2string(product.ravel(), precision=6)}")
    a.show(f"A_3 A_2 A_1      {np.array2string(straight.ravel(), precision=6)}")
    a.check("the other seven paths make a difference", bool(np.abs(product - straight).max() > 1e-3))


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("The Jacobian of the closed form")
    one_layer(a)
    every_depth(a)
    paths(a)
    in_numbers(a)
    a.section("Verdict")
    a.say(
        "PROVED for every L, every shape and every differentiable σ that acts element by element: the "
        "Jacobian of L layers with fixed parameters is the product of A_j + C_j diag(σ′(z_j)) B̄_j, a sum "
        "over 2^L paths. ∎"
    )


if __name__ == "__main__":
    run(main)
