# %% [markdown]
# # Over all σ the coefficients of distinct letters are unique
#
# A closed form is a sum of letters s_k = σ(v_k), whose arguments v_k contain x and earlier letters.  Can the same
# function be written with other coefficients?  For one σ it can: relu(x) − relu(−x) = x.  If the two sums are to
# agree for every σ, then they have the same letters with the same coefficients.  The difference of the two sums is
# again such a sum,
#
#     E(σ, x) = w·x + c + Σ_k a_k s_k,    no two v_k one affine function of x and the letters before,
#
# so what has to be shown is: if E = 0 for all σ and x, then w, c and every a_k are zero.

# %%
from argument import Argument, run

from uat_jax.ledger.beyond import uniqueness

# %% [markdown]
# ## 1. A point at which all arguments differ
#
# Put numbers t_k for the letters.  v_k − v_m is an affine function of x and t, not zero everywhere.  There is a
# point at which none of finitely many such functions vanishes: starting from a point that avoids some of them, a
# small step along a direction in which the next one changes avoids that too.


# %%
def different_arguments(a: Argument) -> None:
    """One difference more."""
    a.section("1. A point at which all arguments differ")
    a.decide(*uniqueness.one_difference_more())
    a.reject("the step may be twice as long", next(iter(uniqueness.one_difference_more(2))))


# %% [markdown]
# ## 2. σ with given values there
#
# The arguments are then finitely many different numbers; in units of the smallest gap they are at least 1 apart.
# The bump max(0, 1 − |d|) is 1 at its own number and 0 at the others, so a sum of bumps has the value t_k at every
# v_k.  It is continuous and vanishes far out: added to a sigmoidal σ it leaves it sigmoidal.  Letter after letter,
# s_k = t_k.


# %%
def given_values(a: Argument) -> None:
    """Bumps, their sum, and nested letters."""
    a.section("2. σ with given values there")
    a.decide(*uniqueness.separated(), *uniqueness.interpolated())
    a.reject("bumps twice as wide do as well", list(uniqueness.separated(2))[1])
    a.prove(uniqueness.nested_letters())


# %% [markdown]
# ## 3. The coefficients vanish
#
# E is now w·x + c + Σ_k a_k t_k, for all t near the point.  Two of them, which differ by h in t_j, show that a_j h
# = 0.


# %%
def coefficients(a: Argument) -> None:
    """One coefficient after another, then the affine part."""
    a.section("3. The coefficients vanish")
    a.decide(*uniqueness.no_coefficient(), *uniqueness.no_affine_part())


# %% [markdown]
# ## What is left open
#
# The order of the terms, one letter written in several terms, and letters with the coefficient zero: these change the
# function for no σ.  By the above nothing else does.  For one σ there is more.


# %%
def open_choices(a: Argument) -> None:
    """The gauge, and relu."""
    a.section("What is left open")
    for step in uniqueness.gauge():
        a.prove(step)
    a.say("For relu alone, letters that differ are dependent:")
    a.decide(*uniqueness.one_activation())
    a.reject("relu(x) − relu(−x) = 2 x", next(iter(uniqueness.one_activation(2))))


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Over all σ the coefficients of distinct letters are unique")
    different_arguments(a)
    given_values(a)
    coefficients(a)
    open_choices(a)
    a.section("Verdict")
    a.say(
        "PROVED for any number of letters, nested in any way: over all continuous σ, sigmoidal ones too, the "
        "coefficients of distinct letters are unique, up to the order of terms, letters in several terms and "
        "letters that do not count. ∎"
    )


if __name__ == "__main__":
    run(main)
