# %% [markdown]
# # Scans and their closed forms, for every number of steps
#
# A loop over rows carries something from step to step; often a formula says what it carries after t steps.
# That the two agree at 4 and at 100 steps shows nothing about 101.  `uj.prove_scan` shows it for all t at once, by
# induction.  The formula C is written with what rows accumulate, such as a sum A = Σ_i r_i; then it is enough that
#
#     base    step(c₀, x) = C(accumulators after the row x alone, 1)
#     step    step(C(A, t), x) = C(accumulators A after one more row x, t + 1)   for all A, x and t ≥ 1
#
# Both are equalities of two small programs in which A, x and t are any real numbers.  Each closed form below has
# a twin with one mistake, which an input refutes.

# %%
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from argument import Argument, run

import uat_jax as uj

F = np.float32
ZERO, NOTHING = F(0), F(-np.inf)


def f32(*shape: int) -> jax.ShapeDtypeStruct:
    """Real numbers of a shape."""
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def compare(
    a: Argument, what: str, step: Callable, closed: Callable, wrong: Callable, mistake: str, *specs: Any
) -> None:
    """The closed form holds for every number of steps, and the one with a mistake does not."""
    proof = uj.prove_scan(step, closed, *specs)
    a.check(what, proof.passes)
    a.show(proof.evidence[0].finding)
    refuted = uj.prove_scan(step, wrong, *specs)
    a.check(f"refuted — {mistake}", refuted.verdict is uj.Verdict.REFUTED)
    found = refuted.counterexample
    assert found is not None
    a.show(f"where t = {found.sizes['t']}: {found.exact[0]} against {found.exact[1]}")


# %% [markdown]
# ## Running softmax
#
# Softmax attention of one query, one key at a time: the carry is the largest score m, the sum s of exp(score − m),
# and the weighted sum of values.  When m grows, both sums shrink by exp(old m − new m).  Flash attention is this.


# %%
def softmax_step(carry: Any, row: Any) -> Any:
    """One more score and value."""
    (top, total, mean), (score, value) = carry, row
    new = jnp.maximum(top, score)
    keep, weight = jnp.exp(top - new), jnp.exp(score - new)
    return (new, total * keep + weight, mean * keep + weight * value), None


def softmax(carry: Any, rows: Any) -> Any:
    """All at once."""
    score, value = rows
    weight = jnp.exp(score - score.max())
    return score.max(), weight.sum(), weight @ value


def softmax_not_shifted(carry: Any, rows: Any) -> Any:
    """The mistake: the maximum is not subtracted."""
    score, value = rows
    return score.max(), jnp.exp(score).sum(), jnp.exp(score) @ value


def running_softmax(a: Argument) -> None:
    """The running maximum and both sums."""
    a.section("Running softmax")
    specs = (NOTHING, ZERO, np.zeros(3, F)), (f32(4), f32(4, 3))
    compare(
        a, "maximum, sum and weighted sum", softmax_step, softmax, softmax_not_shifted, "without the maximum", *specs
    )


# %% [markdown]
# ## Welford's variance
#
# Count, mean and the sum of squared deviations from the mean, updated without the sum of squares, which would
# lose digits.


# %%
def welford_step(carry: Any, x: Any) -> Any:
    """One more number."""
    count, mean, squares = carry
    new = mean + (x - mean) / (count + 1)
    return (count + 1, new, squares + (x - mean) * (x - new)), None


def moments(carry: Any, x: Any) -> Any:
    """All at once."""
    return jnp.float32(x.shape[0]), x.mean(), jnp.square(x - x.mean()).sum()


def moments_divided(carry: Any, x: Any) -> Any:
    """The mistake: the sum is divided by the count."""
    return jnp.float32(x.shape[0]), x.mean(), x.var()


def welford(a: Argument) -> None:
    """Count, mean, and squared deviations."""
    a.section("Welford's variance")
    specs = (ZERO, ZERO, ZERO), f32(4)
    compare(a, "count, mean and squared deviations", welford_step, moments, moments_divided, "the variance", *specs)


# %% [markdown]
# ## Generalised advantages
#
# From the last step of an episode to the first: the advantage is δ + γλ times the advantage of the step after
# it, with δ = r + γ v′ − v.  So it is Σ_i (γλ)^(t−1−i) δ_i, where γ and λ are positive.


# %%
def advantage_step(carry: Any, row: Any, gamma: Any, decay: Any) -> Any:
    """One step towards the beginning of the episode."""
    reward, value, after = row
    return reward + gamma * after - value + gamma * decay * carry, None


def advantages(carry: Any, rows: Any, gamma: Any, decay: Any) -> Any:
    """All at once."""
    reward, value, after = rows
    t = reward.shape[0]
    power = (t - 1 - jnp.arange(t)).astype(F)
    return (gamma * decay) ** power @ (reward + gamma * after - value) + (gamma * decay) ** jnp.float32(t) * carry


def advantages_turned(carry: Any, rows: Any, gamma: Any, decay: Any) -> Any:
    """The mistake: the powers grow from the other end."""
    reward, value, after = rows
    t = reward.shape[0]
    power = jnp.arange(t).astype(F)
    return (gamma * decay) ** power @ (reward + gamma * after - value) + (gamma * decay) ** jnp.float32(t) * carry


def generalised_advantages(a: Argument) -> None:
    """Discounted sums of the differences δ."""
    a.section("Generalised advantages")
    specs = f32(), (f32(4), f32(4), f32(4)), uj.positive(f32()), uj.positive(f32())
    compare(a, "Σ (γλ)^(t−1−i) δ_i", advantage_step, advantages, advantages_turned, "(γλ)^i", *specs)


# %% [markdown]
# ## Linear attention
#
# Without the softmax, attention needs no look back: the state Σ_i φ(k_i) v_iᵀ and the sum of the φ(k_i) are
# enough, whatever the map φ is; here it is elu + 1.


# %%
def feature(key: Any) -> Any:
    """φ(k) = elu(k) + 1."""
    return jax.nn.elu(key) + 1


def attention_step(carry: Any, row: Any) -> Any:
    """One more key and value."""
    (state, normalizer), (key, value) = carry, row
    return (state + jnp.outer(feature(key), value), normalizer + feature(key)), None


def attention(carry: Any, rows: Any) -> Any:
    """All at once."""
    key, value = rows
    return carry[0] + feature(key).T @ value, carry[1] + feature(key).sum(0)


def attention_summed(carry: Any, rows: Any) -> Any:
    """The mistake: φ of the sum for the sum of the φ."""
    key, value = rows
    return carry[0] + feature(key).T @ value, carry[1] + feature(key.sum(0))


def linear_attention(a: Argument) -> None:
    """State and normalizer."""
    a.section("Linear attention")
    specs = (f32(2, 3), f32(2)), (f32(4, 2), f32(4, 3))
    compare(a, "state and normalizer", attention_step, attention, attention_summed, "φ of the sum of the keys", *specs)


# %% [markdown]
# ## A recurrent network
#
# tanh at every step leaves no formula without a loop.  But the loop may be written otherwise, as with one matrix
# that acts on state and row at once, or with the products of all rows taken before it.


# %%
def network_step(state: Any, x: Any, W: Any, U: Any) -> Any:
    """One step of the network."""
    return jnp.tanh(W @ x + U @ state), None


def network_projected(state: Any, rows: Any, W: Any, U: Any) -> Any:
    """The products with W before the loop."""
    return jax.lax.scan(lambda h, p: (jnp.tanh(U @ h + p), None), state, rows @ W.T)[0]


def network_joined(state: Any, rows: Any, W: Any, U: Any) -> Any:
    """One matrix for state and row together."""
    both = jnp.concatenate([U, W], axis=1)
    return jax.lax.scan(lambda h, x: (jnp.tanh(both @ jnp.concatenate([h, x])), None), state, rows)[0]


def network_swapped(state: Any, rows: Any, W: Any, U: Any) -> Any:
    """The mistake: the matrix of the state is transposed."""
    return network_projected(state, rows, W, U.T)


def recurrent_network(a: Argument) -> None:
    """Two other ways to write the loop."""
    a.section("A recurrent network")
    specs = f32(2), f32(4, 3), f32(2, 3), f32(2, 2)
    compare(a, "rows multiplied beforehand", network_step, network_projected, network_swapped, "Uᵀ for U", *specs)
    a.check("one matrix for state and row", uj.prove_scan(network_step, network_joined, *specs).passes)


# %%
def main() -> None:
    """All five."""
    a = Argument("Scans and their closed forms")
    running_softmax(a)
    welford(a)
    generalised_advantages(a)
    linear_attention(a)
    recurrent_network(a)
    a.say("")
    a.say("CERTIFIED for every number of steps from 1 and all real inputs; each mistake is refuted by an input.")


if __name__ == "__main__":
    run(main)
