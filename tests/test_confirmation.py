"""The confirmation of a chain of equations says no more than that of its weakest equation."""

from dataclasses import replace

import jax
import pytest

import uat_jax as uj
from uat_jax.decide import confirmation
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import derive
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


@pytest.mark.parametrize("heads", [None, 2])
def test_another_sigma_is_put_into_a_traced_program(heads):
    """log Γ replaced by the logistic function is what tracing with the logistic function gives, and nothing else."""
    written = 0
    for step in derive("transformer", depth=2, heads=heads).steps:
        programs = confirmation.sides(step)
        assert programs is not None
        sizes, traced = confirmation._lowered(*programs)
        letters = tuple(dict.fromkeys((*programs[0].inputs, *programs[1].inputs)))
        wanted, other = (
            confirmation.programs_at(*programs, letters, sizes, sigma) for sigma in (jax.lax.logistic, jax.lax.tanh)
        )
        found = [str(confirmation.with_logistic(side)) for side in traced]
        assert found == list(map(str, wanted))
        written += "logistic" in found[0]
        assert ("logistic" in found[0]) == (found[0] != str(other[0]))
    assert written >= 2
