# %% [markdown]
# # A Transformer is one sum with input-dependent parameters
#
# The general term of a Transformer is printed as (DUAT, App. B.3, Eq. 30)
#
#     x_{i+1} = W_{i+1,1} x_i + W_{i+1,3} σ[W_{i+1,2} (W_{i+1,1} x_i) + b_{i+1,2}] + b_{i+1,3},
#
# with W_{i+1,1} the matrix that attention is (Eq. 10), and the claim is Eq. 11/33,
#
#     x_L = Ŵ_{L,1} x_0 + b̂_{L,3} + Σ_{j≤L} Ŵ_{j,3} σ(Ŵ_{j,2} x_0 + b̂_{j,2}).
#
# Attention's matrix depends on what it is applied to.  So the layers' parameters are taken as
# *functions of the layer's input*, A_j(x_{j−1}) and so on, about which nothing is assumed; the theorem
# is proved for those, and only then is attention put in.  That order is the whole proof.

# %%
import jax
import jax.numpy as jnp
import numpy as np
import sympy
from argument import Argument, difference, parting, run

import uat_jax as uj
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.ledger.layers.dependence import TABLE, WORDS, cell, moves
from uat_jax.lowering import Lowered, split
from uat_jax.networks import TransformerLayer, attention_weights, initialise_transformer, transformer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import closed_form, plain_network
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import Attention, Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

LAYERS = Layers("transformer")
DYNAMIC = Layers("transformer", dynamic=True)
CLOSED = ClosedForm(LAYERS)
σ = m.Activation
j = sympy.Symbol("j", integer=True, positive=True)

# %% [markdown]
# ## The printed statement
#
# Eq. 30 in its two lines, and Eq. 31, where W_{i+1,2} W_{i+1,1} is renamed W_{i+1,2}.  Eq. 31 prints
# W_{i,3} in front of σ; that is an index slip for W_{i+1,3}, and with W_{i,3} the equation is false.


# %%
def printed_statement(a: Argument) -> None:
    """Eq. 30 and Eq. 31 against attention followed by the feed-forward part."""
    a.section("The printed statement")
    i, k = INDEX, INDEX + 1
    x = LAYERS.x(i)
    A, B, C, b, c = LAYERS.parameters(k)
    block = LAYERS.apply(k, x)
    a.say("Eq. 30, the block y + (C σ(B y + b) + c) with y = A x, for every i at once:")
    a.prove(Step("Eq. 30, first line", block, A @ x + C @ σ(B @ (A @ x) + b) + c))
    a.prove(Step("Eq. 30, second line", block, A @ x + C @ σ((B @ A) @ x + b) + c))
    square = Layers("transformer", widths=lambda j: m.dimension("D"), hidden_widths=lambda j: m.dimension("F"))
    A, B, C, b, c = square.parameters(k)
    eq_31 = lambda C: (A @ square.x(i) + c) + C @ σ((B @ A) @ square.x(i) + b)
    a.refute(Step("Eq. 31 with W_{i,3} as printed", square.apply(k, square.x(i)), eq_31(square.C(i))))
    a.prove(Step("Eq. 31 with W_{i+1,3}", square.apply(k, square.x(i)), eq_31(C)))


# %% [markdown]
# ## A block is matrix times vector
#
# X is the N × M matrix of tokens, vec(X) its rows one after the other.  Theorem 3 makes attention a
# matrix and Eq. 6 makes the feed-forward part two; together the whole block, for any number of heads,
# tokens and features, and for every layer, is Eq. 30 on vec(X) with
#
#     A_j = Σ_i H_i(X) ⊗ (E_i W_Vi W_Oi)ᵀ,  B_j = I ⊗ V_1ᵀ,  C_j = I ⊗ V_2ᵀ,  b_j = 1 ⊗ v_1,  c_j = 1 ⊗ v_2.


# %%
def matrix_vector_form(a: Argument) -> None:
    """Block j on tokens is layer j on vec(X)."""
    a.section("A block is matrix times vector (Theorem 3 and Eq. 6)")
    of = Attention(m.dimension("h"))
    X = m.Letter("X", of.tokens, of.features(j - 1))
    parameters = of.matrix_vector_parameters(j, X)
    a.say("Block j applied to the tokens X, for symbolic h, N, M and j, with")
    a.show("\n".join(f"{letter} = {value}" for letter, value in parameters.items()))
    a.prove(Step("block", m.Vectorised(of.apply(j, X)), of.layers.apply(j, m.Vectorised(X)), parameters))
    a.say("A_j holds X inside its softmax: it is a function A_j(x_{j-1}), not a constant.")


# %% [markdown]
# ## Theorem 1 for parameters that are functions
#
# A_j(x_{j−1}), B_j(x_{j−1}), … are opaque letters keyed by the normal form of their argument.  Along
# one trajectory they are just matrices, so collection gives the same rules as for fixed ones; the
# induction says so with the arguments in place.


# %%
def theorem_1(a: Argument) -> None:
    """The closed form for every L and arbitrary A_j(x_{j-1}), …"""
    a.section("Theorem 1 for A_j(x_{j-1}), every depth at once")
    rules = recurrence(CLOSED, INDEX + 1)
    steps = closed_form_induction(DYNAMIC, rules)
    for step in steps:
        a.check(step.name, step.holds())
    a.say("The base case, with the arguments in place:")
    a.show(steps[0])
    found = uj.derive("transformer", depth=3, heads=2)
    fact = f"L = {found.depth}, attention with 2 heads written out: network and closed form have one normal form"
    a.check(fact, found.holds())


# %% [markdown]
# ## A wrong twin: attention frozen at the input
#
# If A_j were evaluated at x_0 instead of x_{j−1}, the first layer would still be right and the second
# would not.


# %%
def frozen(depth: int) -> Program:
    """The closed form with every parameter taken at x_0."""
    right = closed_form(LAYERS, depth)
    own = {p: m.Dependent(p, LAYERS.x(0)) for k in range(1, depth + 1) for p in LAYERS.parameters(k)}
    return Program({**own, **right.lines}, right.result)


def wrong_twin(a: Argument) -> None:
    """Frozen attention: exact for one layer, refuted for two."""
    a.section("A wrong twin: every A_j taken at x_0")
    a.check("one layer: still right", difference(plain_network(DYNAMIC, 1), frozen(1)) is None)
    found = difference(plain_network(DYNAMIC, 2), frozen(2))
    a.check("refuted — two layers", found is not None)
    assert found is not None
    a.show(parting(found))


# %% [markdown]
# ## Which parameters move with the input
#
# A parameter p is static if p(x) = p(x̃) for any two inputs, an equation; it is dynamic if two inputs give
# it two values, which ball arithmetic must separate.  The papers list W_{j,1}, W_{j,2} and the W_{j,3}
# with 1 < j < i+1 as dynamic; W_{1,3} is missing there.  b_{j,3} is static as long as every token gets the
# same bias, because the rows of a softmax sum to one.


# %%
def what_moves(a: Argument) -> None:
    """The table of static and dynamic parameters of three layers."""
    a.section("Which parameters move with the input (L = 3)")
    for network, row in TABLE.items():
        a.say(f"In {WORDS[network]}:")
        for parameter, words in row.items():
            found = [combine(cell(network, parameter, number)) for number in (1, 2, 3)]
            shown = ", ".join(f"{word} at j = {number}" for number, word in enumerate(words, 1))
            a.check(f"{parameter}: {shown}", set(found) == {Verdict.PROVED})
    a.say("Two inputs, each the other with its tokens exchanged, show that W_{1,3} belongs on the list:")
    a.show(moves("transformer", "W3", 1).finding)


# %% [markdown]
# ## Both forms in JAX
#
# Three blocks of softmax attention, no two widths alike.  The query weights are large whole numbers, so
# that scores lie thousands apart and each row of softmax is exactly one 1 and zeros: which token is
# attended to still depends on the input.  Then every value is a whole number, float64 does not round
# below 2^53, and the two forms must agree in every bit.  The bound runs through the layers in the
# maximum norm (rows of H_i sum to one).

# %%
FEATURES, HIDDEN, HEADS, TOKENS = (4, 8, 6, 2), (3, 5, 7), 2, 3
SHARPNESS, SEED = 8192, 103


def whole_number_network() -> tuple[tuple[TransformerLayer, ...], jax.Array]:
    """Blocks and tokens of entries −2 … 2, in float64; queries times ``SHARPNESS``."""
    random = np.random.default_rng(SEED)
    draw = lambda *shape: jnp.asarray(random.integers(-2, 3, shape), jnp.float64)
    layers = []
    for M, after, F in zip(FEATURES, FEATURES[1:], HIDDEN, strict=False):
        h, d = HEADS, M // HEADS
        heads = SHARPNESS * draw(h, d, d), draw(h, d, d), draw(h, d, d), draw(h, d, after)
        layers.append(TransformerLayer(*heads, draw(after, F), draw(F), draw(F, after), draw(after)))
    return tuple(layers), draw(TOKENS, FEATURES[0])


def largest_value(layers: tuple[TransformerLayer, ...], x: jax.Array) -> float:
    """A bound on every value and partial sum of either form: ‖A‖ x + ‖c‖ + ‖C‖ (‖B‖ ‖A‖ x + ‖b‖) by layer."""
    norm = lambda W: float(jnp.max(jnp.sum(jnp.abs(W), axis=0)))  # of x ↦ x W, in the maximum norm
    largest = lambda v: float(jnp.max(jnp.abs(v)))
    bound = largest(x)
    for layer in layers:
        y = sum(norm(V) * norm(O) for V, O in zip(layer.value, layer.output, strict=True)) * bound
        s = norm(layer.hidden) * y + largest(layer.hidden_bias)
        bound = y + largest(layer.project_bias) + norm(layer.project) * s
    return bound


def letters(layers: tuple[TransformerLayer, ...]) -> dict[str, jax.Array]:
    """The weights under the names of the derivation's letters."""
    named: dict[str, jax.Array] = {}
    for k, layer in enumerate(layers, 1):
        for name, stack in zip("QKVO", layer[:4], strict=True):
            named |= {f"W_{{{name},{i}}}^({k})": weight for i, weight in enumerate(stack, 1)}
        names = (f"V_{{{k},1}}", f"v_{{{k},1}}", f"V_{{{k},2}}", f"v_{{{k},2}}")
        named |= dict(zip(names, layer[4:], strict=True))
    return named


def lowered(program: Program, of: Attention) -> Lowered:
    """The program in JAX, for ``TOKENS`` tokens and σ = relu."""
    return Lowered(program, of.layers.x(0), jax.nn.relu, dimensions={of.tokens: TOKENS})


def in_jax(a: Argument) -> None:
    """Both forms with softmax attention, equal bit by bit."""
    L = len(HIDDEN)
    found = uj.derive("transformer", depth=L, heads=HEADS)
    a.section(f"Both forms in JAX, L = {L}")
    a.say(
        f"N = {TOKENS} tokens, {HEADS} heads, M_0 … M_L = {FEATURES}, hidden {HIDDEN}; entries −2 … 2 drawn "
        f"with seed {SEED}, queries times {SHARPNESS}, σ = relu:"
    )
    assert found.attention is not None
    with jax.enable_x64(True):
        layers, x = whole_number_network()
        trajectory = [x, *(transformer(layers[:k], x, jax.nn.relu) for k in range(1, L + 1))]
        patterns = [attention_weights(layer, x) for layer, x in zip(layers, trajectory, strict=False)]
        closed = np.asarray(lowered(found.parameters, found.attention)(letters(layers), x.reshape(-1)))
        largest = largest_value(layers, x)
    plain = np.asarray(trajectory[-1]).reshape(-1)
    for k, H in enumerate(patterns, 1):
        a.show(f"H_1, H_2 of layer {k} attend to tokens {_attended(np.asarray(H))}")
    a.check("every H_i is zeros and ones", all(set(np.unique(H)) <= {0.0, 1.0} for H in patterns))
    a.check(f"no value exceeds {largest:.2g} < 2^53, so float64 does not round", largest < 2**53)
    a.show(f"network     vec(X_{L}) = {_whole(plain)}")
    a.show(f"closed form vec(X_{L}) = {_whole(closed)}")
    a.check("equal in every bit", np.array_equal(plain, closed))


def _attended(patterns: np.ndarray) -> str:
    return " and ".join(str(tuple((np.argmax(H, axis=1) + 1).tolist())) for H in patterns)


def _whole(values: np.ndarray) -> str:
    return " ".join(str(int(value)) for value in values)


# %% [markdown]
# ## What is dynamic
#
# The closed form's parameters are computed for two inputs of one network with normal weights, and each
# is asked whether it moved.  DUAT §3.3 names W_{j,1} and W_{j,2} for every j and W_{j,3} for 1 < j <
# L+1; the table shows that W_{1,3} moves too and that W_{L,3} does not.  b̂_{j,3} is computed from
# dynamic matrices and yet does not move: all tokens share one bias, and H_i 1 = 1 because every row of
# a softmax sums to one.

# %%
ROUNDING = 2.0**-40
"""An entry is reached by fewer than 2^8 operations on numbers below 2^4 (asserted), each off by ≤ 2^-52."""
MOVEMENT = 2.0**-20
"""What moves, moves by more than this; nothing may fall between the two."""


def what_is_dynamic(a: Argument) -> None:
    """Each hatted parameter, for two inputs."""
    a.section("What is dynamic")
    _shared_bias(a)
    found = uj.derive("transformer", depth=3, heads=HEADS)
    assert found.attention is not None
    L, closed = found.depth, found.closed
    _, dynamic_lines = split(found.parameters, found.layers.x(0))
    rows = {
        "W_{j,1}": [closed.W1(k) for k in range(1, L + 1)],
        "W_{j,2}": [closed.W2(k) for k in range(1, L + 1)],
        "W_{j,3}": [closed.W3(k, L) for k in range(1, L + 1)],
        "b_{j,2}": [closed.b2(k) for k in range(1, L + 1)],
        "b_{j,3}": [closed.b3(k) for k in range(1, L + 1)],
    }
    moved = _movements(found.parameters, found.attention, [letter for row in rows.values() for letter in row])  # type: ignore[misc]
    a.say(f"Largest change of each final parameter between two inputs, L = {L}, normal weights, float64:")
    a.show("final      " + "".join(f"{f'j = {k}':>16}" for k in range(1, L + 1)))
    for name, row in rows.items():
        cells = (f"{moved[letter]:.0e} {_word(moved[letter]):>7}" for letter in row)  # type: ignore[index]
        print(" " * 8 + f"{name:11}" + "".join(f"{cell:>16}" for cell in cells))
    says = {name: [moved[letter] > MOVEMENT for letter in row] for name, row in rows.items()}  # type: ignore[index]
    a.check("W_{j,1} and W_{j,2} are dynamic for every j", all(says["W_{j,1}"] + says["W_{j,2}"]))
    a.check(
        "W_{j,3} is dynamic for every j < L, W_{1,3} included",
        says["W_{j,3}"] == [k < L for k in range(1, L + 1)],
    )
    a.check("b_{j,2} is dynamic for every j > 1", says["b_{j,2}"] == [k > 1 for k in range(1, L + 1)])
    computed = [letter in dynamic_lines for letter in rows["b_{j,3}"]]
    a.check(
        "b_{j,3} is computed from the input for j > 1 and still does not move, as (H_i 1 = 1) says",
        not any(says["b_{j,3}"]) and computed == [k > 1 for k in range(1, L + 1)],
    )


def _shared_bias(a: Argument) -> None:
    """A_j (1 ⊗ v) depends on the input only through H_i 1, which is 1."""
    of = Attention(2)
    X, v = m.Letter("X", of.tokens, of.features(0)), m.Letter("v", of.features(0), 1)
    one, heads = m.Ones(of.tokens, 1), (1, 2)
    shared = (m.Kronecker(of.pattern(1, i, X) @ one, of.value_output(1, i).T @ v) for i in heads)
    left, right = of.matrix(1, X) @ m.Kronecker(one, v), m.Addition(*shared)
    fact = "a bias shared by all tokens meets attention as H_i 1 only, and each row of a softmax sums to one"
    a.check(fact, Step(fact, left, right).holds())
    a.show("A_1(X) (1 ⊗ v) = Σ_i (H_i(X) 1) ⊗ (E_i W_Vi W_Oi)ᵀ v = 1 ⊗ Σ_i (E_i W_Vi W_Oi)ᵀ v")


def _movements(program: Program, of: Attention, wanted: list[m.Letter]) -> dict[m.Letter, float]:
    """Largest change of each wanted letter's entries between two inputs."""
    with jax.enable_x64(True), jax.disable_jit():
        key = jax.random.key(SEED)
        layers = initialise_transformer(key, features=FEATURES, heads=HEADS, hidden=HIDDEN, dtype=jnp.float64)
        inputs = jax.random.normal(jax.random.fold_in(key, 0), (2, TOKENS * FEATURES[0]), jnp.float64)
        weights, moved = letters(layers), {}
        for letter in wanted:
            evaluate = lowered(Program(program.lines, letter), of)
            first, second = (np.asarray(evaluate(weights, x)) for x in inputs)
            assert np.max(np.abs([first, second])) < 2**4
            moved[letter] = float(np.max(np.abs(first - second)))
    return moved


def _word(change: float) -> str:
    assert not ROUNDING <= change <= MOVEMENT, f"a change of {change} is neither rounding nor movement"
    return "dynamic" if change > MOVEMENT else "static"


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("A Transformer is one sum with input-dependent parameters")
    printed_statement(a)
    matrix_vector_form(a)
    theorem_1(a)
    wrong_twin(a)
    what_moves(a)
    in_jax(a)
    what_is_dynamic(a)
    a.section("Verdict")
    a.say(
        "PROVED for every depth, every number of heads, tokens and features and every σ: L Transformer "
        "blocks are one UAT sum whose parameters depend on the input. ∎"
    )


if __name__ == "__main__":
    run(main)
