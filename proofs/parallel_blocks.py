# %% [markdown]
# # Parallel and sequential blocks
#
# A sequential block feeds its feed-forward part with what attention gives, a parallel one (GPT-J, PaLM) with the
# block's own input.  With A for attention and its skip at this x, the outputs are
#
#     sequential   A x + c + C σ(B A x + b)          parallel   A x + c + C σ(B x + b).

# %%
from argument import Argument, run

from uat_jax.decide.figures import Measured
from uat_jax.decide.inequalities import measured, proved_inequality
from uat_jax.ledger.beyond import parallel_blocks as blocks
from uat_jax.symbolic.step import Step

# %% [markdown]
# ## The exact difference
#
# Everything but the two σ-terms cancels.


# %%
def exact(a: Argument) -> None:
    """C [σ(B A x + b) − σ(B x + b)], for every shape and every σ."""
    a.section("The exact difference")
    a.prove(blocks.exact_difference())
    a.prove(blocks.without_attention())
    a.refute(Step("both are one for every A", blocks.sequential(), blocks.parallel()))


# %% [markdown]
# ## Its bound
#
# Inside σ the two differ by B (A − I) x.  A σ with |σ(s) − σ(t)| ≤ λ |s − t| makes at most λ times that of it,
# entry by entry, and C at most ‖C‖ times that.


# %%
def bound(a: Argument) -> None:
    """λ ‖C‖ ‖B‖ ‖A − I‖ ‖x‖."""
    a.section("Its bound")
    step, claimed, laws = blocks.bound()
    a.prove(step)
    a.decide(proved_inequality(claimed, laws, what="the norm of the difference"))
    a.reject("without the law of λ", proved_inequality(claimed, laws[:1] + laws[2:], what="the norm of the difference"))
    a.say("It is reached with all sizes 1, relu and C = B = x = 1, b = 0, A ≥ 0:")
    for factor in (0, 1, 2, 5):
        a.check(f"A = {factor}", blocks.attained(factor).verdict == "PROVED")
    a.reject("it is reached at A = −1 too", blocks.attained(-1))


# %% [markdown]
# ## In numbers
#
# Random blocks with σ = tanh: the difference is a small part of the bound, which is made of norms.


# %%
def in_numbers(a: Argument) -> None:
    """Difference and bound, in ball arithmetic."""
    a.section("In numbers")
    for seed in range(43, 47):
        found = measured(blocks.actual_difference, blocks.claimed_bound, blocks.numbers(seed), what=f"seed {seed}")
        assert isinstance(found.figures, Measured)
        share = float(found.figures.actual) / float(found.figures.bound)
        a.check(f"{found.finding}, {share:.1%} of it", found.verdict == "AGREES")


# %% [markdown]
# ## Several blocks
#
# Over several layers the difference of one block is the δ_k of `several_layers_changed.py`, whose bound adds them up.


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Parallel and sequential blocks")
    exact(a)
    bound(a)
    in_numbers(a)
    a.section("Verdict")
    a.say(
        "PROVED for every shape: a sequential block gives C [σ(B A x + b) − σ(B x + b)] more than a parallel "
        "one, for every σ, and at most λ ‖C‖ ‖B‖ ‖A − I‖ ‖x‖, which is reached. ∎"
    )


if __name__ == "__main__":
    run(main)
