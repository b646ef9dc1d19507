# %% [markdown]
# # Recurrent networks: time is depth
#
# The papers write residual networks and Transformers as one sum with dynamic parameters.  A recurrent network is a
# residual network too: step t is layer t,
#
#     x_t = A_t x_{t−1} + c_t + C_t σ(B_t x_{t−1} + b_t),
#
# and the input u_t of the step enters by the parameters.  So Theorem 1 is its closed form, for every number of
# steps T:
#
#     x_T = A_T ⋯ A_1 x_0 + Σ_k A_T ⋯ A_{k+1} c_k + Σ_k A_T ⋯ A_{k+1} C_k s_k.

# %%

import jax
import jax.numpy as jnp
from argument import Argument, run

import uat_jax as uj
from uat_jax.decide.functions import confirm_functions
from uat_jax.ledger.beyond import recurrent
from uat_jax.ledger.beyond.carried_sum import carried_sum
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

# %% [markdown]
# ## One step is one layer
#
# Elman's network, GRU, linear attention with its state as a column, and state spaces.  Each equation holds for all
# sizes. What is written z_t(x_{t−1}) or g_t(u_t) is any function.


# %%
def one_step(a: Argument) -> None:
    """The four kinds, and a GRU without its gate, which is another network."""
    a.section("One step is one layer")
    a.prove(recurrent.elman().equation("Elman's network"))
    a.prove(recurrent.gru().equation("GRU"))
    a.prove(recurrent.linear_attention().equation("linear attention"))
    a.prove(recurrent.read_out())
    a.prove(recurrent.state_space().equation("state space"))
    gru = recurrent.gru()
    without = recurrent.Recurrence(
        gru.state, gru.step, {**gru.layer, "B": m.Letter("W", recurrent.D, recurrent.D)}, gru.hidden
    )
    a.refute(without.equation("GRU with B_t = W, without the gate r_t"))


# %% [markdown]
# ## Every number of steps
#
# Theorem 1 for parameters that depend on x_{t−1} in any way, and the sum that is left where C_t = 0: linear
# attention and state spaces have no σ, so that x_T is a sum over the steps.


# %%
def every_length(a: Argument) -> None:
    """The induction."""
    a.section("Every number of steps")
    for step in closed_form_induction(Layers("residual", dynamic=True)):
        a.prove(step)
    a.prove(carried_sum(recurrent.D, "A", "c"))
    a.refute(_forgotten())


def _forgotten() -> Step:
    """The carried sum without the new term."""
    right = carried_sum(recurrent.D, "A", "c")
    return Step("without the new term c_{i+1}", right.left.operands[0], right.right, right.where)


# %% [markdown]
# ## Plain scans
#
# The same networks as anyone writes them, `jax.lax.scan`, against their closed forms: for three steps, with all
# weights, inputs and states as variables, in prime fields; and for every number of steps by `uj.prove_scan`.


# %%
def scans(a: Argument) -> None:
    """Loops against closed forms, with twins that are wrong."""
    a.section("Plain scans")
    for name in recurrent.SCANS:
        a.decide(recurrent.scanned(name))
    for name in recurrent.FOR_EVERY_LENGTH:
        a.say(f"{name}:")
        a.decide(recurrent.for_every_length(name))
    plain, _, shapes = recurrent.SCANS["gru"]
    a.reject("GRU with z and 1 − z exchanged", confirm_functions(plain, _exchanged, shapes, what="gru"))
    step, _, inputs = recurrent.FOR_EVERY_LENGTH["state space"]
    a.reject("one channel of S4 without b", *uj.prove_scan(step, _without_b, *inputs).evidence)


def _exchanged(x, u, W, U, b, Z, R):
    return recurrent.closed_gru(x, u, W, U, b, -Z, R)  # 1 − logistic(s) = logistic(−s)


def _without_b(x, u, a, b):
    return recurrent.decaying_sum(x, u, a, jnp.ones_like(b))


# %% [markdown]
# ## What the sum says
#
# In a state space with positive decays below 1 the input u_k counts for x_T by A_T ⋯ A_{k+1}, so less the longer
# ago it was; in linear attention with G_t = I it counts the same for ever.


# %%
def forgetting(a: Argument) -> None:
    """The weights of four inputs in one channel."""
    a.section("What the sum says")
    weights = jax.grad(lambda u: recurrent.decaying_sum(jnp.float32(0), u, jnp.float32(0.5), jnp.float32(1)))(
        jnp.zeros(4, jnp.float32)
    )
    a.check(f"a = 1/2, b = 1: u_1, …, u_4 count {weights.tolist()}", weights.tolist() == [0.125, 0.25, 0.5, 1.0])


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Recurrent networks: time is depth")
    one_step(a)
    every_length(a)
    scans(a)
    forgetting(a)
    a.section("Verdict")
    a.say(
        "PROVED for every number of steps and all sizes: Elman's network, GRU, linear attention and state "
        "spaces (S4, Mamba) are residual networks with time as depth, and have the closed form of Theorem 1, "
        "with dynamic parameters. ∎"
    )


if __name__ == "__main__":
    run(main)
