"""The cases that compare two writings in prime fields give no time if they differ, or if a wrong twin passes."""

import jax
import numpy as np
import pytest
from excerpt import one_in

from uat_jax.bench import gpt2
from uat_jax.bench.case import WrongAnswerError
from uat_jax.bench.cases import certification, prime_field

SMALL = {"depth": 1, "features": 4, "tokens": 2}
CASES = {"_layer_by_layer": (prime_field, prime_field.CASES[0]), "by_head": (gpt2, certification.CASES[0])}


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_writings_that_differ_get_no_time(name, monkeypatch):
    module, case = CASES[name]
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda weights, x: right(weights, x) * (1 + 2.0**-20))
    experiment = case.build(**{size: SMALL.get(size, n) for size, n in case.quick[0].items()})
    for program in ("draw", "certify"):
        way = experiment.programs[program]
        with pytest.raises(WrongAnswerError, match=program):
            experiment.check(program, way.function(*way.arguments))


def test_a_wrong_twin_that_is_accepted_gives_no_time(monkeypatch):
    (case,) = certification.CASES
    monkeypatch.setattr(gpt2, "TWINS", (*gpt2.TWINS, gpt2.by_head))
    with pytest.raises(WrongAnswerError, match="the wrong twin 'by_head' was accepted"):
        case.build(**SMALL)


@pytest.mark.parametrize("twin", gpt2.TWINS)
def test_the_twins_are_wrong_in_floats_too(twin):
    """One of them by 2⁻³⁰ in one weight: seen in float64 only."""
    weights, text = gpt2.draw(1, 8, 3), gpt2.text(3)
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: a.astype(np.float64), weights)
        right, wrong = (np.asarray(jax.jit(writing)(wide, text)) for writing in (gpt2.by_head, twin))
    # float64 rounds some hundred operations on numbers of size 1 by 2⁻⁵³ each; the weight enters with factors near 1/10
    assert 2.0**-44 < np.abs(right - wrong).max()
