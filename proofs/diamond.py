# %% [markdown]
# # The diamond product, and the brackets it needs
#
# The UAT papers define a product of a matrix W (m × n) and a column x of m elements (v1 §3.2, Eq. 4):
# element i of W ⋄ x is column i of W times x, element by element, summed.  v1 says that W ⋄ x = x ⋄ W, and that
# ⋄ is neither associative nor distributive.  Appendix A derives two properties from it,
#
#     W_1 ⋄ [x ⋄ W_2] = W_2ᵀ ⋄ W_1 ⋄ x        (v1 Eq. 13, v2 Eq. 1)
#     [W_1 ⋄ x] ⋄ W_2 = W_1ᵀ ⋄ W_2 ⋄ x        (v1 Eq. 14, v2 Eq. 2)
#
# whose right-hand sides have no brackets, although ⋄ is not associative.  Both are true if the chain is
# read from the left, and false if it is read from the right; v1 has one line more, false either way.

# %%
import numpy as np
import sympy
from argument import Argument, run

from uat_jax.ledger.matrix_vector.diamond import Association, chain, diamond
from uat_jax.ledger.matrix_vector.diamond_properties import PROPERTY_1, PROPERTY_2, SQUARE, ChainLine, Line, Property
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

W, V = (m.Letter(name, m.dimension("m"), m.dimension("n")) for name in "WV")
x, y = (m.Letter(name, m.dimension("m"), 1) for name in "xy")
e_i = m.Selection(sympy.Symbol("i", integer=True, positive=True), m.dimension("n"), 1)

# %% [markdown]
# ## Eq. 4 is Wᵀx
#
# Element i of a column is e_iᵀ times it, and column i of W is W e_i; so the definition says
# e_iᵀ (W ⋄ x) = (W e_i)ᵀ x, and Wᵀx does just that.  It has n elements, not m as is printed ("y ∈ R^{(m,1)}").
# v1 misprints the first row: its second term is w_31 x_2 where w_{2,1} x_2 must stand.


# %%
def definition(a: Argument) -> None:
    """W ⋄ x = Wᵀx has n elements; the first row of Eq. 4 as printed by v1 is wrong."""
    a.section("Eq. 4 is Wᵀx")
    a.prove(Step("element i is column i of W times x", e_i.T @ diamond(W, x), (W @ e_i).T @ x))
    a.show(f"W ⋄ x is {m.shape_text(diamond(W, x))}, where W is {m.shape_text(W)} and x is {m.shape_text(x)}")
    column, ones = np.array([1, 10, 100]), np.array([1, 1, 1])
    printed = column[0] * ones[0] + column[2] * ones[1] + column[2] * ones[2]
    a.show(f"W = (1, 10, 100)ᵀ, x = (1, 1, 1):  W ⋄ x = {column @ ones}, v1's first row gives {printed}")
    a.check("refuted — v1's first row", bool(printed != column @ ones))


# %% [markdown]
# ## Which laws hold
#
# *Commuting.*  If x ⋄ W is another name for the same sums, W ⋄ x = x ⋄ W holds by definition.  If ⋄ is
# extended to all matrices by A ⋄ B = AᵀB, as a chain of three needs, then x ⋄ W = xᵀW is the row
# (W ⋄ x)ᵀ, and a column is not a row.
#
# *Associativity* fails, as v1 says (v2 deleted the sentence): (A ⋄ B) ⋄ C = BᵀAC, A ⋄ (B ⋄ C) = AᵀBᵀC.
#
# *Distributivity* holds, which v1 denies: ⋄ is linear in both operands.


# %%
def laws(a: Argument) -> None:
    """x ⋄ W is (W ⋄ x)ᵀ; not associative; linear in both operands."""
    a.section("Which laws hold")
    a.prove(Step("x ⋄ W is the transpose of W ⋄ x", diamond(x, W), diamond(W, x).T))
    A, B, C = (m.Letter(name, *(m.dimension("n"),) * 2) for name in "ABC")  # type: ignore[arg-type]
    left, right = (chain(association, A, B, C) for association in Association)
    a.refute(Step("(A ⋄ B) ⋄ C = A ⋄ (B ⋄ C)", left, right))
    corner = np.array([[0, 1], [0, 0]])
    a.show(f"A = {corner.tolist()}, B = C = I:  (A ⋄ B) ⋄ C = {corner.tolist()}, A ⋄ (B ⋄ C) = {corner.T.tolist()}")
    a.check("refuted — the smallest example", not np.array_equal(corner, corner.T))
    a.prove(Step("distributive on the right", diamond(W, x + y), diamond(W, x) + diamond(W, y)))
    a.prove(Step("distributive on the left", diamond(W + V, x), diamond(W, x) + diamond(V, x)))


# %% [markdown]
# ## The derivations, line by line
#
# In both derivations the lines with brackets have one reading, and all are equal.  The others are chains of three.
# v1 prints two of them, v2 the last only.


# %%
def derivation(a: Argument, of: Property) -> None:
    """Every line against the first one, under both associations."""
    a.section(f"Property {of.number}: {_plain(of.start)} = {_plain(of.last)}")
    start = of.start.build(of.shapes)
    a.say("Lines with brackets, for all shapes:")
    for number, line in enumerate(of.bracketed, 2):
        a.prove(Step(f"line {number}, {_plain(line)}", start, line.build(of.shapes)))
    for line, versions in ((of.deleted, "v1 only"), (of.last, "v1 and v2")):
        for association in Association:
            _chain(a, of, line, association, versions)


def _chain(a: Argument, of: Property, line: ChainLine, association: Association, versions: str) -> None:
    true = line is of.last and association is Association.LEFT
    operands = of.shapes if true else SQUARE
    start, value = of.start.build(operands), chain(association, *line.operands(operands))
    step = Step(f"{_plain(line)} ({versions}), read from the {association}", start, value)
    (a.prove if true else a.refute)(step)


def _plain(line: Line | ChainLine) -> str:
    """The line's LaTeX as text."""
    signs = {r"\mathbf{W}_1": "W_1", r"\mathbf{W}_2": "W_2", r"\mathbf{x}": "x", r"\diamond": " ⋄ ", "^T": "ᵀ"}
    text = line.latex
    for latex, sign in signs.items():
        text = text.replace(latex, sign)
    return text


# %% [markdown]
# ## One example against the three false chains of property 1
#
# W_1 = [[1, 1], [0, 1]], W_2 = [[1, 0], [1, 1]] and x = (1, 0): every wrong chain has another value than
# the left-hand side.


# %%
def example(a: Argument) -> None:
    """Whole numbers for the derivation of property 1."""
    a.section("One example")
    W1, W2, column = np.array([[1, 1], [0, 1]]), np.array([[1, 0], [1, 1]]), np.array([1, 0])
    table = {
        "W_1 ⋄ [x ⋄ W_2]": W1.T @ W2.T @ column,
        "(W_2ᵀ ⋄ W_1) ⋄ x": (W2 @ W1).T @ column,
        "W_2ᵀ ⋄ (W_1 ⋄ x)": W2 @ W1.T @ column,
        "(W_2 ⋄ W_1) ⋄ x": (W2.T @ W1).T @ column,
        "W_2 ⋄ (W_1 ⋄ x)": W2.T @ W1.T @ column,
    }
    values = {name: tuple(map(int, value)) for name, value in table.items()}
    a.show("\n".join(f"{name:18} = {value}" for name, value in values.items()))
    first, left, *wrong = values.values()
    a.check("read from the left, v2's chain has the value of the left-hand side", first == left)
    a.check("the other three have not", all(value != first for value in wrong))


# %% [markdown]
# ## W_12
#
# v1 opens Appendix A with "… = W_12", W_12 = W_1ᵀW_2ᵀ: a column equated with a matrix.  Its own line 4 and v2 have
# W_12 x.


# %%
def w12(a: Argument) -> None:
    """W_12 x for W_12."""
    a.section("W_12")
    o = PROPERTY_1.shapes
    W12 = m.Letter("W", o.W1.shape[1], o.W2.shape[0], (12,))
    start = PROPERTY_1.start.build(o)
    a.prove(Step("W_12 x", start, W12 @ o.x, {W12: o.W1.T @ o.W2.T}))
    misfit = not all(map(m.same_dimension, start.shape, W12.shape))
    shapes = f"{m.shape_text(start)} and {m.shape_text(W12)}"
    a.check(f"refuted — W_12 without x: shapes {shapes}", misfit)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("The diamond product, and the brackets it needs")
    definition(a)
    laws(a)
    derivation(a, PROPERTY_1)
    derivation(a, PROPERTY_2)
    example(a)
    w12(a)
    a.section("Verdict")
    a.say(
        "PROVED for all shapes: W ⋄ x = Wᵀx, ⋄ is linear in both operands, and both properties with the chain read "
        "from the left.  REFUTED: v1's first row of Eq. 4, the shape of y, the missing distributivity, both properties "
        "read from the right, v1's line 7 of Eq. 13 and line 6 of Eq. 14 read either way, and W_12 without x.  No one "
        "reading makes v1's derivations true; v2's are true read from the left.  ∎"
    )


if __name__ == "__main__":
    run(main)
