# %% [markdown]
# # What the papers build on
#
# Cybenko's theorem (v1, v2 §2; DUAT §2.1, Eq. 1, 2) says that the sums
#
#     G(x) = Σ_{j=1}^N α_j σ(W_jᵀ x + θ_j),      σ continuous, σ → 1 at +∞ and σ → 0 at −∞,
#
# are dense in C(I_n): for every continuous f on the cube and every ε > 0 there is a G with
# |G(x) − f(x)| < ε for all x in I_n.  It is cited, not proved, here as there.  What is decided here is
# what the papers take from it: outputs in R^m, other σ, an affine term beside the sum; that it can fit
# "only one function"; that Transformers therefore approximate everything; and what being a DUAT function,
# a sum whose parameters depend on x (DUAT Eq. 4), says.

# %%
from collections.abc import Iterable
from itertools import permutations

import numpy as np
import sympy
from argument import Argument, run
from sympy import Rational

from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.foundations import approximation as foundations
from uat_jax.ledger.foundations import duat_definition, expressive_power, transformer_density, uat_sums, vector_output
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

HALF = Rational(1, 2)
SHOWN = (Verdict.PROVED, Verdict.CERTIFIED)
ROWS = {row.id: row for row in (*foundations.CLAIMS, *duat_definition.CLAIMS)}


def facts(a: Argument, found: Evidence | Iterable[Evidence]) -> None:
    """Facts, each decided when the argument gets to it."""
    for evidence in (found,) if isinstance(found, Evidence) else found:
        a.check(evidence.finding, evidence.verdict in SHOWN)


def refute(a: Argument, name: str) -> None:
    """A row of the ledger that must come out refuted, with what it says instead of what is printed."""
    row = ROWS[name]
    found = [evidence for evidence in decide(row, Settings(dtypes=())).evidence if evidence.example]
    a.check(f"refuted — {row.title}", bool(found) and all(e.verdict is Verdict.REFUTED for e in found))
    a.show("\n".join(evidence.finding for evidence in found))


# %% [markdown]
# ## "For all x"
#
# DUAT's Eq. 2 has lost its "for all x in I_n".  Without it one constant term will do, chosen for the x at
# hand.  With it, one term will not: if σ is monotone, so is G, and f(x) = 4x(1−x) is 0, 1, 0 at 0, 1/2, 1.
# With an error e < 1/2 an increasing G would have 1 − e ≤ G(1/2) ≤ G(1) ≤ e.


# %%
def quantifier(a: Argument) -> None:
    """Eq. 2 with and without its quantifier."""
    a.section("“For all x”")
    facts(a, foundations.pointwise_term())
    facts(a, foundations.monotone_term(HALF))
    refute(a, "uat.density.no-quantifier")


# %% [markdown]
# ## The cube, and any box
#
# On the box of all x = a + D u with u in the cube, a sum in u is one in x: with E = D⁻¹, u = E(x − a).


# %%
def box(a: Argument) -> None:
    """Affine changes of the variable keep the form."""
    a.section("The cube, and any box")
    n = m.dimension("n")
    x, w, theta = m.Letter("x", n, 1), m.Letter("W", n, 1), m.Letter("θ", 1, 1)
    E, corner = m.Letter("E", n, n), m.Letter("a", n, 1)
    left = m.Activation(w.T @ E @ (x - corner) + theta)
    right = m.Activation((E.T @ w).T @ x + (theta - w.T @ E @ corner))
    a.prove(Step("a term in u is a term in x", left, right))


# %% [markdown]
# ## Borel functions
#
# Hornik, Stinchcombe and White's theorem on Borel functions is one in measure.  In the sup norm it fails
# for the simplest of them, the step that is 0 up to 1/2 and 1 beyond: whatever G(1/2) is, it is within
# the error of both one-sided limits.


# %%
def borel(a: Argument) -> None:
    """The step is out of reach."""
    a.section("Borel functions, uniformly")
    facts(a, foundations.step_bound(HALF))
    refute(a, "uat.borel-uniform")


# %% [markdown]
# ## Outputs in R^m
#
# v1 makes α_j a "diagonal vector", v2 and DUAT a matrix.  With diagonal α_j each output is a scalar sum of
# its own, and dense because those are.  A matrix is the sum of its columns, and column c acts like the
# diagonal matrix diag(α e_c) on s_c 1: so both versions have the same functions, v1's with m times as many
# terms.


# %%
def vector_valued(a: Argument) -> None:
    """Diagonal and full coefficients."""
    a.section("Outputs in R^m")
    facts(a, vector_output.diagonal_entry(vector_output.k))
    facts(a, vector_output.matrix_entry(lambda l, c: l, lambda l, c: c))


# %% [markdown]
# ## relu, gelu and silu
#
# The theorem asks for σ → 1.  The σ of Transformers grow: σ(t) ≥ t/2 for t ≥ 0.  But all three have
#
#     σ(t) − σ(−t) = t   and   σ(t) → 0 as t → −∞,
#
# so that ρ(t) = σ(t) − σ(t−1) = 1 + σ(−t) − σ(1−t) tends to 1, and to 0 on the other side.  The theorem
# holds for ρ, and each term with ρ is two terms with σ.  The papers' conclusion stands, for a reason they
# do not give; for every σ that is no polynomial it is a theorem of Leshno, Lin, Pinkus and Schocken.


# %%
def activations(a: Argument) -> None:
    """Not sigmoidal, and yet dense."""
    a.section("relu, gelu and silu")
    facts(a, uat_sums.unbounded(HALF))
    refute(a, "uat.sigmoidal")
    facts(a, uat_sums.differences())
    z, one, alpha = (m.Letter(name, 1, 1) for name in ("z", "1", "α"))
    rho = m.Activation(z) - m.Activation(z - one)
    a.prove(Step("one term with ρ is two with σ", alpha @ rho, alpha @ m.Activation(z) - alpha @ m.Activation(z - one)))


# %% [markdown]
# ## The affine term
#
# "A single term does not alter the nature of UAT" (DUAT App. B.2), of W x + b beside the sum.  It does not
# for density, as W = 0, b = 0 is allowed.  With relu, gelu and silu it is itself a sum of terms, again by
# σ(t) − σ(−t) = t.  With bounded σ it is not: |G| ≤ S = Σ|α_j|, and x is S + 1 somewhere.


# %%
def affine_term(a: Argument) -> None:
    """W x + b as terms of the sum."""
    a.section("The affine term")
    W, x = m.Letter("W", m.dimension("m"), m.dimension("n")), m.Letter("x", m.dimension("n"), 1)
    s, t = m.Letter("s", *x.shape), m.Letter("t", *x.shape)
    a.prove(Step("W x = W σ(x) − W σ(−x), where x = s − t with s = σ(x), t = σ(−x)", W @ x, W @ s - W @ t, {x: s - t}))
    a.say("W x + b is therefore Wσ(x) − Wσ(−x) + bσ(1) − bσ(−1) for relu, gelu and silu, for all x.")
    facts(a, uat_sums.bounded_sum(1))
    refute(a, "uat.affine-term.bounded")


# %% [markdown]
# ## One function only?
#
# "A fatal flaw: it can only fit one function" (DUAT §2.3) — meant is: one dependence on a text x, where a
# prompt t asks for several.  But t is an input as well.  Two terms with fixed parameters and the ramp
# σ(u) = min(max(u, 0), 1), which is continuous and sigmoidal, are enough to see it:
#
#     G(x, t) = σ(x − t) + σ(t − x),    G(x, 0) = x,    G(x, 1) = 1 − x.
#
# In general: given K sums, subtract M(1 − t_k) in the k-th one's arguments, M being at least every
# argument on the cube.  At t = e_k the k-th sum is left as it is, and every other term is σ(≤ 0) = 0.


# %%
def several_functions(a: Argument) -> None:
    """A prompt selects the function."""
    a.section("One function only?")
    facts(a, expressive_power.on_both_sides(lambda x: x, lambda x: 1 - x))
    refute(a, "uat.one-function")
    facts(a, expressive_power.switch(lambda M: M))
    facts(a, expressive_power.largest_argument(lambda w, theta: expressive_power.RELU(w) + theta))


# %% [markdown]
# ## Similar inputs
#
# "Identical or similar outputs" (§4.1) for similar inputs: not for a steep term.  However near the inputs,
# one logistic term has outputs tanh 1 = 0.76 apart.  That each *given* network is continuous is true of
# Transformers as well.


# %%
def similar_inputs(a: Argument) -> None:
    """A steep term."""
    a.section("Similar inputs")
    facts(a, expressive_power.steep_term(Rational(3, 4)))
    refute(a, "uat.similar-inputs")


# %% [markdown]
# ## "Any Borel measurable function"
#
# Having the form of the sum says nothing about density, since a Transformer's widths, depth and parameters
# are tied together.  First: without positional encodings T(ΠX) = Π T(X) for every permutation Π of the
# tokens.  The normal form knows nothing of permutations, so the remainders with ΠᵀΠ − I and 1 − Π1 are
# written out; they vanish.  softmax(ΠSΠᵀ) = Π softmax(S) Πᵀ, since a token sees the others through sums over
# all tokens, the same whichever of two neighbours comes first; and every permutation is made of exchanges of
# neighbours.  Equal tokens then have equal outputs c, and f(x) = (2x_1, x_2, …) asks for 2 and 1 where both
# tokens are 1.


# %%
def permuted_tokens(a: Argument) -> None:
    """Equivariance, and a function that has it not."""
    a.section("“Any Borel measurable function”: permuted tokens")
    for step in transformer_density.equivariance():
        a.prove(step)
    orders = [order for tokens in range(1, 5) for order in permutations(range(tokens))]
    a.check(f"ΠᵀΠ = I and Π1 = 1 for all {len(orders)} permutations of up to 4 tokens", all(map(_vanish, orders)))
    a.say("What a token q sees of the tokens P, a, b, R and P, b, a, R; σ stands for exp of the scores over √M:")
    for step in transformer_density.neighbours_exchanged():
        a.prove(step)
    facts(a, transformer_density.equal_tokens())
    facts(a, transformer_density.network_equivariance())
    facts(a, transformer_density.near_two(2, 1, HALF, what="one number c misses 2 or 1 by at least 1/2"))
    refute(a, "uat.any-function.permutations")


def _vanish(order: tuple[int, ...]) -> bool:
    """Whether ΠᵀΠ − I and 1 − Π1 are zero, where Π has the rows of I in this order."""
    eye, one = np.eye(len(order), dtype=int), np.ones(len(order), dtype=int)
    P = eye[list(order)]
    return np.array_equal(P.T @ P, eye) and np.array_equal(P @ one, one)


# %% [markdown]
# ## A given size
#
# Second: one hidden unit, G(x) = a x + c + w σ(v x + b) with logistic σ, against sin 5πx, which alternates
# at five points.  An error below 1 at each would make the four mean slopes d_1, …, d_4 of G between them
# −, +, −, +.  But σ' rises and then falls, so G' or −G' does, and of three neighbouring mean slopes of such
# a function the middle one is not the smallest: d_3 ≥ min(d_2, d_4) (or, for −G', d_2 ≤ max(d_1, d_3)).
# 0 has the error 1: the unit is of no use at all.


# %%
def one_unit(a: Argument) -> None:
    """Alternation at five points."""
    a.section("“Any Borel measurable function”: a given size")
    facts(a, transformer_density.unimodal())
    facts(a, transformer_density.middle_slope())
    facts(a, transformer_density.alternation(1))
    refute(a, "uat.any-function.one-unit")


# %% [markdown]
# ## What DUAT says
#
# DUAT's Eq. 4 lets W and b be functions of the input.  Any functions: then every f is a DUAT function, by
# the bias alone, and so is every A(x) x with a dynamic matrix.  The split into W and b is arbitrary too.
# And the Transformer's α_1 = A_2(x_1) C_1 depends on the input, which Eq. 4 does not provide for.
# What has content is Theorem 1, which says *which* functions of the input the parameters are.


# %%
def dynamic_parameters(a: Argument) -> None:
    """Vacuous, not unique, and too narrow."""
    a.section("What DUAT says (Eq. 4)")
    facts(a, duat_definition.one_logistic_term(lambda f: sympy.log(f / (1 - f))))
    facts(a, duat_definition.two_relu_terms())
    a.prove(duat_definition.any_matrix())
    a.say("(r = 1/‖x‖², so that r xᵀx − 1 = 0)")
    a.prove(duat_definition.gauge())
    facts(a, duat_definition.dynamic_coefficient())
    refute(a, "duat.eq-4")


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("What the papers build on")
    for part in (quantifier, box, borel, vector_valued, activations, affine_term):
        part(a)
    for part in (several_functions, similar_inputs, permuted_tokens, one_unit, dynamic_parameters):
        part(a)
    a.section("Verdict")
    a.say(
        "PROVED: the form survives boxes, outputs in R^m, an affine term, and relu, gelu and silu, for which the cited "
        "hypothesis itself fails. REFUTED: that a fixed sum fits one function only, that it answers similar inputs "
        "similarly, that Transformers approximate every function because of their form, and that Eq. 4 covers them. ∎"
    )


if __name__ == "__main__":
    run(main)
