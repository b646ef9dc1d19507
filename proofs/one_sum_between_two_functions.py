# %% [markdown]
# # One sum between two functions
#
# DUAT's Fig. 2 compares a sum with fixed parameters, UAT, to one with dynamic parameters, DUAT.  On data of two
# kinds, it says, a fixed sum "often results in fitting only the densest regions of the data distribution", and a
# dynamic one fits both (§2.3).  What a fit does depends on how errors are measured, and on what the input tells.
#
# Let p(x) and q(x) be the densities of the two kinds, and a(x) and b(x) their values.  g(x) is fitted to both.

# %%
from fractions import Fraction

from argument import Argument, run

from uat_jax.decide.inequalities import proved_inequality
from uat_jax.ledger.beyond import two_functions as two

# %% [markdown]
# ## Squared errors: the weighted mean
#
# p (g − a)² + q (g − b)² is (p + q)(g − mean)² and a rest without g, where mean = (p a + q b)/(p + q).  So in any
# family of functions, UAT sums of N terms or others, the least squares fit is the member nearest to the mean.


# %%
def squares(a: Argument) -> None:
    """Not the densest kind, but the mean of both."""
    a.section("Squared errors: the weighted mean")
    a.decide(two.completed_square(), two.one_function_more())
    a.reject("with the weight p instead of p + q", two.completed_square(two.p))
    dense, sparse = Fraction(3, 4), Fraction(1, 4)
    error = lambda g: two.squared(dense, sparse, 1, 0, g)
    mean = two.mean(dense, sparse, 1, 0)
    a.check(f"p = 3/4, q = 1/4, a = 1, b = 0: the mean is {mean}", mean == Fraction(3, 4))
    a.check(f"refuted — the fit is a: the error there is {error(1)}, at the mean {error(mean)}", error(mean) < error(1))


# %% [markdown]
# ## Absolute errors: the majority
#
# p |g − a| + q |g − b| is least at a where p > q, and only there.  In this measure a fit goes through the denser
# kind, at each x by itself: where the other kind is denser, through that.


# %%
def majority(a: Argument) -> None:
    """The denser kind, from the triangle inequality."""
    a.section("Absolute errors: the majority")
    a.decide(two.triangle(), *two.majority())
    p, q = two.q + two.LEAD, two.q
    for where, error in (("at b", p * two.w), ("in the middle", (p + q) * two.w / 2)):
        claim = error <= p * two.u + q * two.v
        wrong = proved_inequality(claim, [two.w <= two.u + two.v], what=f"where p ≥ q: the error {where} is least")
        a.reject(f"the error is least {where}", wrong)


# %% [markdown]
# ## One input, two values
#
# A sum with dynamic parameters is a function of its input too.  At one x it has one value, and cannot fit two: its
# error is at least the rest above.


# %%
def same_input(a: Argument) -> None:
    """Dynamic or not."""
    a.section("One input, two values")
    a.decide(two.completed_square(), two.one_value())
    claim = (two.q + two.LEAD) * two.u + two.q * two.v >= 2 * two.q * two.w
    twice = "absolute error at least 2 q |a − b|"
    a.reject(twice, proved_inequality(claim, [two.w <= two.u + two.v], what=twice))


# %% [markdown]
# ## An input that tells the kinds apart
#
# With the kind t as an input, coefficients α_j + t (β_j − α_j) make one sum of both.  A fixed sum can do that as
# well, with more terms (`uat.one-function.selected` in foundations.py): the papers' figure shows a difference in
# form, not in what can be fitted.


# %%
def dynamic(a: Argument) -> None:
    """Both functions, exactly."""
    a.section("An input that tells the kinds apart")
    for step in two.dynamic_sum():
        a.prove(step)
    first, second = two.dynamic_sum()
    a.refute(two.Step("t = 0: the second function", first.left, second.right, first.where))
    a.say("demonstrations/fits_between_two_functions.py fits all of these to drawn data, and draws them.")


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("One sum between two functions")
    squares(a)
    majority(a)
    same_input(a)
    dynamic(a)
    a.section("Verdict")
    a.say(
        "PROVED at every x: least squares fits the density-weighted mean of two functions, least absolute "
        "error that of the denser data; no function of x alone fits both, and a dynamic sum does if an input "
        "tells them apart. REFUTED: least squares fits the densest data. ∎"
    )


if __name__ == "__main__":
    run(main)
