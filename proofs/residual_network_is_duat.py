# %% [markdown]
# # A residual network is one sum with nested biases
#
# The general term of a residual network is printed as (DUAT, App. B.2, Eq. 20)
#
#     x_i = (W_{i,1} x_{i−1} + b_{i,3}) + W_{i,3} σ(W_{i,2} x_{i−1} + b_{i,2})
#
# and the claim is that L such layers are one sum of the form of the universal approximation theorem,
#
#     x_L = Ŵ_{L,1} x_0 + b̂_{L,3} + Σ_{j≤L} Ŵ_{j,3} σ(Ŵ_{j,2} x_0 + b̂_{j,2}),
#
# in which b̂_{j,2} depends on the input through a shorter sum of the same form ("dynamic" UAT).  A
# layer's own parameters are A = W_{·,1}, B = W_{·,2}, C = W_{·,3}, b = b_{·,2}, c = b_{·,3}; what is
# derived wears a hat. Equality means: one normal form in the free algebra of matrices in which σ(·) is
# a letter keyed by its argument.  It therefore holds for every σ and for every choice of widths.

# %%
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from argument import Argument, run

import uat_jax as uj
from uat_jax.ledger.layers.fixed_sums import LAWS, difference, difference_of, law_of_relu, slopes, sum_terms
from uat_jax.ledger.layers.remainder import absent, original, overwritten, recursion
from uat_jax.ledger.layers.serial import monoid
from uat_jax.lowering import Lowered
from uat_jax.networks import ResidualLayer, residual_network
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

LAYERS = Layers("residual")
CLOSED = ClosedForm(LAYERS)
x_0, σ = LAYERS.x(0), m.Activation

# %% [markdown]
# ## The printed statement
#
# The layer is written once, for any index; one layer (Eq. 21) is already of the claimed form.


# %%
def printed_statement(a: Argument) -> None:
    """Eq. 20 and Eq. 21."""
    a.section("The printed statement, and one layer")
    a.say("Eq. 20, the layer, in the letters A = W_{·,1}, B = W_{·,2}, C = W_{·,3}, b = b_{·,2}, c = b_{·,3}:")
    a.show(f"{LAYERS.x(INDEX)} = {LAYERS.apply(INDEX, LAYERS.x(INDEX - 1))}")
    A, B, C, b, c = LAYERS.parameters(1)
    a.prove(Step("Eq. 21: one layer", LAYERS.apply(1, x_0), (A @ x_0 + c) + C @ σ(B @ x_0 + b)))


# %% [markdown]
# ## Two layers
#
# Eq. 22 puts the first layer into the second and multiplies out.  Every printed line must equal x_2; in
# the last one σ(B_1 x_0 + b_1) stands inside the second σ, next to b_2: that is the nested bias.


# %%
def two_layers(a: Argument) -> None:
    """Every line of Eq. 22 equals x_2."""
    a.section("Two layers")
    A1, B1, C1, b1, c1 = LAYERS.parameters(1)
    A2, B2, C2, b2, c2 = LAYERS.parameters(2)
    x, s = LAYERS.x(1), σ(B1 @ x_0 + b1)
    x_1 = (A1 @ x_0 + c1) + C1 @ s
    lines = (
        A2 @ x + C2 @ σ(B2 @ x + b2) + c2,
        (A2 @ x + c2) + C2 @ σ(B2 @ x + b2),
        (A2 @ x_1 + c2) + C2 @ σ(B2 @ x_1 + b2),
        (A2 @ (A1 @ x_0 + c1) + c2 + A2 @ C1 @ s) + C2 @ σ(B2 @ (A1 @ x_0 + c1) + b2 + B2 @ C1 @ s),
        (A2 @ A1 @ x_0 + A2 @ c1 + c2 + A2 @ C1 @ s) + C2 @ σ(B2 @ A1 @ x_0 + (B2 @ c1 + b2) + B2 @ C1 @ s),
    )
    network = {LAYERS.x(2): LAYERS.apply(2, x), x: LAYERS.apply(1, x_0)}
    for number, line in enumerate(lines, 1):
        a.prove(Step(f"Eq. 22, line {number}", LAYERS.x(2), line, network))


# %% [markdown]
# ## Collecting one more layer
#
# Suppose x_i = Ŵ_{i,1} x_0 + b̂_{i,3} + u_i with u_i the sum over the first i layers, kept opaque.
# Layer i+1 is applied and the result is *collected* into the same form: what multiplies x_0, what
# multiplies u_i, and the rest. The update rules are read off from there; none of them is typed in.


# %%
def collection(a: Argument) -> None:
    """The recurrences of the hatted parameters."""
    a.section("Collecting layer i+1")
    a.say("Layer i+1 applied to x_i = Ŵ_{i,1} x_0 + b̂_{i,3} + u_i, collected; read off:")
    i, j, rule = INDEX, INDEX + 1, recurrence(CLOSED, INDEX + 1)
    assert rule.b2_u is not None and rule.carry is not None
    a.show(f"{CLOSED.W1(j)} = {rule.W1}")
    a.show(f"{CLOSED.b3(j)} = {rule.b3}")
    a.show(f"{CLOSED.W2(j)} = {rule.W2}")
    a.show(f"{CLOSED.b2(j)} = {rule.b2_constant + rule.b2_u @ CLOSED.u(i)}")
    a.show(f"{CLOSED.u(j)} = {rule.carry @ CLOSED.u(i) + rule.W3 @ CLOSED.s(j)}")
    a.say("so every Ŵ_{k,3} with k ≤ i is multiplied by the factor of u_i, at every later layer again.")


# %% [markdown]
# ## Induction
#
# The base case is one layer.  The step takes the closed form of i layers, Σ sign and all, to that of
# i+1 layers; since i is a symbol, it is one equation for every depth.  The second round lets A_j, B_j,
# C_j, b_j, c_j be arbitrary functions of the layer's input: the theorem does not need them fixed.


# %%
def induction(a: Argument) -> None:
    """The closed form for every L, with fixed and with input-dependent parameters."""
    rules = recurrence(CLOSED, INDEX + 1)
    a.section("Induction: every depth at once")
    for step in closed_form_induction(LAYERS, rules):
        a.prove(step)
    dynamic = closed_form_induction(replace(LAYERS, dynamic=True), rules)
    fact = f"the same {len(dynamic)} equations when A_j, B_j, C_j, b_j, c_j are any functions of x_{{j-1}}"
    a.check(fact, all(step.holds() for step in dynamic))


# %% [markdown]
# ## The parameters of three layers
#
# For a given depth the rules give a straight-line program, of L²/2 lines; its normal form and that of
# the plain network are compared once more, as a whole.


# %%
def three_layers(a: Argument) -> None:
    """The derived parameters of L = 3."""
    found = uj.derive("residual", depth=3)
    a.section(f"L = {found.depth}: the derived parameters")
    a.show(found)
    a.check(f"each of the {len(found.steps)} steps of the derivation holds", all(s.holds() for s in found.steps))
    a.check("network and closed form have one normal form", found.holds())


# %% [markdown]
# ## A wrong twin
#
# A proof that accepts everything proves nothing.  Here b̂_{2,3} loses the bias c_2 of its layer;
# nothing else is changed, every shape still fits, and the difference must be found.


# %%
def wrong_program(depth: int) -> Program:
    """The closed form with c_2 forgotten."""
    right = uj.derive("residual", depth=depth).parameters
    return Program({**right.lines, CLOSED.b3(2): LAYERS.A(2) @ CLOSED.b3(1)}, right.result)  # type: ignore[dict-item]


def wrong_twin(a: Argument) -> None:
    """The same comparison refuses a closed form in which one letter is missing."""
    found = uj.derive("residual", depth=3)
    a.section("A wrong twin")
    wrong = replace(found, parameters=wrong_program(found.depth))
    a.show(f"{CLOSED.b3(2)} = {wrong.parameters[CLOSED.b3(2)]}")  # type: ignore[index]
    a.check("refuted: network and this closed form have different normal forms", not wrong.holds())
    (step,) = [s for s in wrong.steps if s.name.startswith("collect x_2")]
    a.refute(step)


# %% [markdown]
# ## UAT_i^R, and what is serial
#
# The papers write u_i as UAT_i^R.  Its recursion holds with layer i+1's own W_{i+1,1}; App. B.2 prints it
# right after W_{i+1,1} was overwritten by W_{i+1,1} W_{i,1}, and with that product it is false.  App.
# B.3 calls the computation serial because W_{3,1} needs W_{2,1}: it does not, since affine maps can be
# composed in any bracketing.  What is serial is the chain of σ-terms, each inside the next.


# %%
def remainder_and_scan(a: Argument) -> None:
    """The recursion of UAT_i^R in its readings, and the monoid of affine maps."""
    a.section("UAT_i^R, and what is serial")
    a.prove(replace(recursion("residual", original), name="UAT_{i+1}^R with the layer's own W_{i+1,1}"))
    a.refute(replace(recursion("residual", overwritten), name="UAT_{i+1}^R with W_{i+1,1}W_{i,1} in its place"))
    a.refute(replace(recursion("residual", absent), name="UAT_{i+1}^R = UAT_i^R + … (v2)"))
    a.say("Affine maps compose in any bracketing; with V = A_3 A_2, W_{3,1} = V A_1 does not need W_{2,1} = A_2 A_1:")
    for step in monoid():
        a.prove(step)


# %% [markdown]
# ## Could all biases be fixed?
#
# Lemma 2 of v2 says that the network is a UAT sum, and there parameters are fixed.  Its own σ-terms have
# biases that move; but might *some other* sum a x + k + Σ α_j σ(w_j x + b_j), of any length, be equal to
# it?  For σ(t) = t² no: such a sum is a polynomial of degree two, two layers make one of degree four.
# For σ = relu the answer depends on the number of inputs: one number, yes (a sum with the same slopes on
# every piece); two numbers, no, because far from 0 the odd part of a fixed sum is linear.


# %%
def fixed_parameters(a: Argument) -> None:
    """No fixed sum of any length for σ(t) = t² and for relu with two inputs; always one for relu with one input."""
    a.section("Could all biases be fixed?")
    a.check("third difference at 0 of α (w x + b)² is 0, for all α, w and b", difference_of(sum_terms(2)[0], 3) == 0)
    layer = lambda t: t + t**2
    third = sympy.expand(difference(lambda t: layer(layer(t)), 3))
    a.check(f"third difference at 0 of two layers x + x²: {third}, not 0", third != 0)
    for law, sides in LAWS.items():
        a.decide(law_of_relu(law, sides))
    g = lambda p, q: max(0, p, q) - max(0, -p, -q)
    fact = f"f = max(0, x, y): g = f(p) − f(−p) has g(1, 0) + g(0, 1) = {g(1, 0) + g(0, 1)} and g(1, 1) = {g(1, 1)}"
    a.check(fact, g(1, 0) + g(0, 1) != g(1, 1))
    a.say("One input, relu: a sum with the jumps of the slope as coefficients has the network's slope on every piece.")
    for step in slopes():
        a.prove(step)


# %% [markdown]
# ## Both forms in JAX
#
# Seven layers, no two widths alike.  With whole numbers and σ = relu every intermediate value is a
# whole number; as long as all of them stay below 2^53, float64 computes without any rounding, and two
# right answers agree in every bit.  The bound is not guessed: the same programs on the absolute values
# of all numbers dominate every intermediate value and every partial sum (relu is the identity there).

# %%
WIDTHS = (5, 3, 7, 4, 8, 2, 9, 6)
HIDDEN = (11, 16, 10, 15, 12, 14, 13)
SEED = 20


def whole_number_network() -> tuple[tuple[ResidualLayer, ...], jax.Array]:
    """Layers and an input of entries −1, 0, 1, in float64."""
    random = np.random.default_rng(SEED)
    draw = lambda *shape: jnp.asarray(random.integers(-1, 2, shape), jnp.float64)
    layers = tuple(
        ResidualLayer(draw(D, before), draw(F, before), draw(D, F), draw(F), draw(D))
        for before, D, F in zip(WIDTHS, WIDTHS[1:], HIDDEN, strict=False)
    )
    return layers, draw(WIDTHS[0])


def both_forms(layers: tuple[ResidualLayer, ...], x: jax.Array, program: Program) -> tuple[np.ndarray, np.ndarray]:
    """x_L of the plain network and of the program, both jitted."""
    named = {f"{name}_{j}": w for j, layer in enumerate(layers, 1) for name, w in layer._asdict().items()}
    plain = jax.jit(lambda layers, x: residual_network(layers, x, jax.nn.relu))
    closed = Lowered(program, x_0, jax.nn.relu)
    return np.asarray(plain(layers, x)), np.asarray(closed(named, x))


def in_jax(a: Argument) -> None:
    """Both forms at L = 7, equal bit by bit."""
    L = len(HIDDEN)
    program = uj.derive("residual", depth=L).parameters
    a.section(f"Both forms in JAX, L = {L}")
    a.say(f"D_0 … D_L = {WIDTHS}, F_1 … F_L = {HIDDEN}, entries −1, 0, 1 drawn with seed {SEED}, σ = relu:")
    with jax.enable_x64(True):
        layers, x = whole_number_network()
        bounds = both_forms(jax.tree.map(jnp.abs, layers), jnp.abs(x), program)
        plain, closed = both_forms(layers, x, program)
        _, wrong = both_forms(layers, x, wrong_program(L))
    largest = float(np.max(bounds))
    a.check(f"no value exceeds {largest:.2g} < 2^53, so float64 does not round", largest < 2**53)
    a.show(f"network     x_{L} = {_whole(plain)}")
    a.show(f"closed form x_{L} = {_whole(closed)}")
    a.check("equal in every bit", np.array_equal(plain, closed))
    a.show(f"wrong twin  x_{L} = {_whole(wrong)}")
    a.check("the wrong twin is refuted by these numbers as well", not np.array_equal(plain, wrong))


def _whole(values: np.ndarray) -> str:
    return " ".join(str(int(value)) for value in values)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("A residual network is one sum with nested biases")
    printed_statement(a)
    two_layers(a)
    collection(a)
    induction(a)
    three_layers(a)
    wrong_twin(a)
    remainder_and_scan(a)
    fixed_parameters(a)
    in_jax(a)
    a.section("Verdict")
    a.say("PROVED for every depth, every width and every σ: L residual layers are one UAT sum with nested biases. ∎")


if __name__ == "__main__":
    run(main)
