"""The confirmation of a chain of equations says no more than that of its weakest equation."""

from dataclasses import replace

import pytest

import uat_jax as uj
from uat_jax.decide import confirmation
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

A, B = m.Letter("A", 2, 3), m.Letter("B", 2, 3)
RIGHT = [Step("first", A + B, B + A), Step("second", A - B, -(B - A))]


@pytest.mark.parametrize("conditional", [0, 1, 2])
def test_a_chain_is_a_theorem_only_if_every_equation_of_it_is(conditional, monkeypatch):
    """Of two equations, so many have an error bound under a condition."""
    whole = confirmation.confirm
    theorems = iter([True] * (2 - conditional) + [False] * conditional)

    def confirm_under(left, right, *, what):
        found = whole(left, right, what=what)
        return replace(found, figures=replace(found.figures, theorem=next(theorems)))

    monkeypatch.setattr(confirmation, "confirm", confirm_under)
    found = confirmation.confirm_steps(RIGHT, what="both")
    assert found is not None and found.verdict is uj.Verdict.CERTIFIED and "both: 2 equations" in found.finding
    assert found.figures["theorem"] is (conditional == 0)


def test_one_wrong_equation_is_enough():
    found = confirmation.confirm_steps([*RIGHT, Step("third", A, A + B)], what="all")
    assert found is not None and found.verdict is uj.Verdict.UNKNOWN and "third: different" in found.finding
