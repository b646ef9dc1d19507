"""What an equation takes for granted is written down: the slices that have to exist, and the definitions it unfolds."""

import pytest
import sympy

from uat_jax.decide.normal_forms import prove
from uat_jax.decide.verdict import Method, Verdict
from uat_jax.errors import ShapeError
from uat_jax.symbolic import language as m
from uat_jax.symbolic import slices
from uat_jax.symbolic.heads import Heads
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

n, p, h, d = map(m.dimension, "nphd")
i, k = (sympy.Symbol(name, integer=True, positive=True) for name in "ik")
s = sympy.Symbol("s", integer=True)
E = lambda index, rows=h * d: m.Selection(index, rows, d)
over = lambda lower, upper: m.RangeSum(E(i) @ m.Letter("V", d, n, (i,)), i, lower, upper)

HYPOTHESES = {
    "the first of h": (E(1), ()),
    "the last of h": (E(h), ()),
    "the second of h": (E(2), ("2*d ≤ d*h",)),
    "any": (E(i), ("d*i ≤ d*h",)),
    "any whole number": (E(s), ("s ≥ 1", "d*s ≤ d*h")),
    "of n": (E(1, n), ("d ≤ n",)),
    "all of h": (over(1, h), ()),
    "from the second": (over(2, h), ()),
    "p of h": (over(1, p), ("d*i ≤ d*h",)),
    "inside a function": (m.Activation(m.Dependent(m.Letter("f", n, 1), E(1, n))), ("d ≤ n",)),
    "heads": (Heads().matrix(), ()),
}


@pytest.mark.parametrize(("expression", "wanted"), HYPOTHESES.values(), ids=HYPOTHESES)
def test_the_slices_that_have_to_exist(expression, wanted):
    assert slices.hypotheses(expression) == wanted
    found = prove([Step("X = X", expression, expression)], method=Method.NORMAL_FORM, what="X = X")
    assert found.verdict == Verdict.PROVED and tuple(map(str, found.assumptions)) == wanted


@pytest.mark.parametrize("expression", [over(0, h), over(1, h + 1)])
def test_a_sum_over_slices_that_are_not_there_is_refused(expression):
    assert slices.hypotheses(expression)
    with pytest.raises(ShapeError, match="there is no slice"):
        prove([Step("X = X", expression, expression)], method=Method.NORMAL_FORM, what="X = X")


def test_definitions_are_part_of_the_evidence():
    x, y, z = (m.Letter(name, n, 1) for name in "xyz")
    where = {y: m.Letter("A", n, n) @ x, z: E(1, n) @ m.Letter("w", d, 1)}
    figures = lambda left: prove([Step("", left, left, where)], method=Method.NORMAL_FORM, what="").figures["steps"][0]
    assert figures(y)["where"] == ["y = A x"]
    assert "where" not in figures(x), "what is not met is not needed"
    assumptions = prove([Step("", z, z, where)], method=Method.NORMAL_FORM, what="").assumptions
    assert list(map(str, assumptions)) == ["d ≤ n"]


def test_definitions_below_a_sum_say_for_which_index():
    found = prove(closed_form_induction(Layers("residual")), method=Method.INDUCTION, what="Theorem 1")
    last = found.figures["steps"][-1]["where"]
    assert any(text.endswith("for k = 1 … i") and "Ŵ_{k,3}" in text for text in last)
    assert any(text.startswith("Ŵ_{i+1,1} = ") for text in last)
