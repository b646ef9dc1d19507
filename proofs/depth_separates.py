# %% [markdown]
# # Depth separates: 2^L − 1 fixed terms, or L dynamic ones
#
# The closed form of L layers is a sum of L terms σ(…), whose biases are smaller sums again (Theorem 1).  Could a
# sum with fixed parameters, the papers' UAT of Eq. 1, say the same with as few terms?  Not in general.  Here is a
# residual network of width 1, with relu, for which every such sum needs 2^L − 1 terms, and 2^L − 1 are enough.

# %%
from fractions import Fraction

import sympy
from argument import Argument, run

from uat_jax.ledger.beyond import separation

# %% [markdown]
# ## The network
#
# Every layer is Eq. 20 with A = 2, B = 1, C = −4, b = −½ and c = 0:
#
#     x_j = 2 x_{j−1} − 4 relu(x_{j−1} − ½),      which on [0, 1] is the tent: up to 1 at ½ and down again.


# %%
def network(a: Argument) -> None:
    """The first layers as numbers."""
    a.section("The network")
    a.say("At x_0 = 0, 1/8, 2/8, …, 1 the first three layers are")
    values = [Fraction(n, 8) for n in range(9)]
    for depth in (1, 2, 3):
        exact = (2, -4, Fraction(-1, 2))
        values = [separation.layer(x, lambda u: max(u, 0), exact) for x in values]
        a.show(f"x_{depth} = " + "  ".join(f"{value!s:>4}" for value in values))


# %% [markdown]
# ## The pieces
#
# Write y = 2^L x.  Wherever k ≤ y ≤ k + 1 for a whole number k, x_L is y − k if k is even, and k + 1 − y if k is
# odd. With no layer there is one piece, y = x.  One more layer cuts piece k into the pieces 2 k and 2 k + 1 of 2 y:
# each of the four cases is an equation between a maximum and a straight line on an interval, decided for all real y
# and k.


# %%
def pieces(a: Argument) -> None:
    """The formula for every L, by induction."""
    a.section("The pieces")
    a.decide(separation.first_piece(), *separation.next_pieces())
    wrong = (2, -3, -sympy.Rational(1, 2))
    for found in list(separation.next_pieces(wrong))[1:2]:
        a.reject("the same with C = −3", found)


# %% [markdown]
# ## The breaks
#
# A straight function g has g(y − h) − 2 g(y) + g(y + h) = 0.  Around every whole y = k between 0 and 2^L, x_L bends
# instead, by 2 h down or up.  So it has 2^L − 1 breaks: the recurrence n_{L+1} = 2 n_L + 1, and a count in the
# network itself, evaluated in fractions on a grid.


# %%
def breaks(a: Argument) -> None:
    """2^L − 1, derived and counted."""
    a.section("The breaks")
    a.decide(*separation.bends())
    a.reject("it bends by h only", next(iter(separation.bends(-1))))
    L = separation.L
    derived = separation.number_of_breaks()
    a.check(f"n_0 = 0 and n_{{L+1}} = 2 n_L + 1: n_L = {derived}", sympy.simplify(derived - 2**L + 1) == 0)
    counted = [separation.breaks({L: depth}) for depth in range(1, 7)]
    a.check(f"counted in networks of 1…6 layers: {counted}", counted == [2**depth - 1 for depth in range(1, 7)])


# %% [markdown]
# ## Fixed sums
#
# Let G(x) = w x + c + Σ_{j≤N} α_j relu(w_j x + θ_j) be x_L on [0, 1].  A term is straight near y = k, within h = ½,
# unless it breaks there; so one of the terms breaks within ½ of k, for each of the 2^L − 1 numbers k.  No term does
# so for two of them, as it breaks at one point only.  Hence N ≥ 2^L − 1.


# %%
def fixed_sums(a: Argument) -> None:
    """At least 2^L − 1 terms, and these are enough."""
    a.section("Fixed sums")
    a.decide(*separation.straight_term(), separation.far_apart(), separation.pigeons())
    a.reject(
        "a term is straight also where it breaks within h", next(iter(separation.straight_term(sympy.Rational(1, 2))))
    )
    a.say("And 2^L − 1 terms do: x_L = y + Σ_k (−1)^k 2 relu(y − k), one term per break.")
    a.decide(*separation.hinges())
    a.reject("with terms relu(y − k) instead of 2 relu(y − k)", list(separation.hinges(1))[1])


# %% [markdown]
# ## The dynamic sum
#
# Theorem 1 writes the same network with L terms: one layer more is one term more.


# %%
def dynamic_sum(a: Argument) -> None:
    """L terms."""
    a.section("The dynamic sum")
    found = [separation.terms({separation.L: depth}) for depth in range(1, 5)]
    a.check(f"terms of the closed form of 1…4 layers: {found}", found == [1, 2, 3, 4])
    a.check("n_0 = 0 and n_{L+1} = n_L + 1: n_L = L", separation.number_of_terms() == separation.L)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Depth separates: 2^L − 1 fixed terms, or L dynamic ones")
    network(a)
    pieces(a)
    breaks(a)
    fixed_sums(a)
    dynamic_sum(a)
    a.section("Verdict")
    a.say(
        "PROVED for every L: the tent network has 2^L − 1 breaks; a fixed relu sum that equals it has at "
        "least 2^L − 1 terms, and some has as many; the dynamic closed form has L. ∎"
    )


if __name__ == "__main__":
    run(main)
