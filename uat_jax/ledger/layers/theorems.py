"""Theorems 1 to 3, stated with their hypotheses and proved: every formula is one that was derived, every step checked."""

from __future__ import annotations

from collections.abc import Iterator

from uat_jax.ledger.layers.exposition import block, claimed, induction, over_heads, recurrence_table
from uat_jax.ledger.layers.legend import HEADS, J, of_attention, of_the_closed_form, table
from uat_jax.ledger.page import Display, Paragraph, Part, Section, formula
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS, Attention
from uat_jax.symbolic.step import Step


def theorem_1() -> Section:
    """The closed form of L layers, for residual networks and Transformers."""
    return Section("Theorem 1 (closed form; Eq. 11/33 with Eq. 12/34, corrected)", tuple(_theorem_1()), level=2)


def _theorem_1() -> Iterator[Part]:
    yield Paragraph(
        "σ is any function of one number, applied to every entry; the widths of the layers are any; the parameters "
        "A_j, B_j, C_j, b_j and c_j of layer j are fixed, or any functions of its input x_{j-1}.",
        "Hypotheses.",
    )
    yield Paragraph("Let the layers be, in a residual network (Eq. 20) and in a Transformer (Eq. 30),", "Statement.")
    for kind in KINDS:
        layer, closed = claimed(kind)
        yield Display(layer)
    yield Paragraph("Then for every L")
    yield Display(closed)
    yield Paragraph("with Ŵ_{0,1} = I, b̂_{0,3} = 0 and, from i layers to i+1,")
    yield recurrence_table()
    yield table(of_the_closed_form("transformer"))
    yield Paragraph("By induction over the layers; the formulas are those of the Transformer.", "Proof.")
    yield from induction("transformer")
    yield Paragraph("For a residual network the same steps hold with B_{i+1} for B_{i+1} A_{i+1}. ∎")


def theorem_2() -> Section:
    """The order in which the parameters may be overwritten."""
    return Section("Theorem 2 (updates in place)", tuple(_theorem_2()), level=2)


def _theorem_2() -> Iterator[Part]:
    yield Paragraph(
        "As for Theorem 1, and all layers have one width D and one hidden width F, as a variable that is overwritten has "
        "one shape. The variables W_{j,1}, W_{j,2}, W_{j,3}, b_{j,2}, b_{j,3} hold the layers' own parameters; in a "
        "Transformer W_{j,2} W_{j,1} has been put into W_{j,2} for every j (Eq. 30).",
        "Hypotheses.",
    )
    yield Paragraph("For j = 1, 2, …, L−1 assign, in this order, the third for every k ≤ j:", "Statement.")
    for rule in u.in_place_rules(J):
        yield Display(formula(rule.target, rule.value, relation="←"))
    yield Paragraph("Then the variables hold the parameters of Theorem 1 for L layers.")
    yield Paragraph(
        "By induction: after the pass of layer i the variables hold the hatted parameters of i layers, and those of layer "
        "i+1 its own. The pass reads W_{i+1,2} before it overwrites it, and W_{i+1,1} last. What it leaves is, for both "
        "kinds of network, what Theorem 1 says:",
        "Proof.",
    )
    steps = [s for kind in KINDS for s in u.update_induction(kind, u.in_place_rules(INDEX), in_place=True)]
    own = len(u.update_induction("transformer", u.in_place_rules(INDEX), in_place=True))
    for step in steps[-own:]:
        if not step.name.startswith("one layer"):
            yield Display(formula(step.left, step.right), step.name, step.holds())
    every = "all of them" if all(step.holds() for step in steps) else "not all of them"
    yield Paragraph(f"For both networks {len(steps)} such equations were checked, and {every} hold. ∎")


def theorem_3() -> Section:
    """Attention as a matrix on vec(X)."""
    return Section("Theorem 3 (attention in Kronecker form)", tuple(_theorem_3()), level=2)


def _theorem_3() -> Iterator[Part]:
    of = Attention(HEADS)
    X = m.Letter("X", of.tokens, of.features(INDEX), (INDEX,))
    j = INDEX + 1
    yield Paragraph(
        "h heads, each on M_i/h of the features, as the papers have them; any number N of tokens.", "Hypotheses."
    )
    yield Paragraph(
        "Multi-head attention on the column vec(X_i), row after row, is a matrix that depends on X_i:", "Statement."
    )
    step = Step(
        "vec(MHA(X_i))", m.Vectorised(over_heads(of.attend(j, X))), over_heads(of.matrix(j, X)) @ m.Vectorised(X)
    )
    yield Display(formula(step.left, step.right), "Theorem 3, by normal forms", step.holds())
    yield Paragraph("The whole block is the Transformer layer of Theorem 1 with")
    for equation in block():
        yield Display(equation)
    yield table(of_attention())
    P, Q = m.Letter("P", m.dimension("p"), of.tokens), m.Letter("Q", of.features(INDEX), m.dimension("q"))
    key = Step("the vec identity", m.Vectorised(P @ X @ Q), m.Kronecker(P, Q.T) @ m.Vectorised(X))
    yield Paragraph(
        "Entry (r, s) of P X Q is the sum over t and v of P_{rt} X_{tv} Q_{vs}, which is the entry of (P ⊗ Qᵀ) vec(X) at "
        "the place of (r, s):",
        "Proof.",
    )
    yield Display(formula(key.left, key.right), key.name, key.holds())
    yield Paragraph(
        "Head a is softmax(…) X_i times E_a W_{V,a} W_{O,a}, and Concat followed by W_O is the sum over heads. Each is of "
        "the form P X Q with P = softmax(…). ∎"
    )
