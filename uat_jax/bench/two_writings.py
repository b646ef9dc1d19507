"""One network in two writings: their float forward passes, one random point of prime fields, and a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.bench.case import Experiment, Program, WrongAnswerError
from uat_jax.decide.effort import ERROR
from uat_jax.decide.identity import identity
from uat_jax.decide.prime_fields import PROBE, PrimeFields
from uat_jax.typing import PyTree

Writing = Callable[..., jax.Array]


def experiment(
    left: Writing,
    right: Writing,
    arguments: Sequence[PyTree],
    *,
    name: str,
    exact: np.ndarray,
    allowed: float,
    bias: np.ndarray,
    twins: Sequence[Writing] = (),
) -> Experiment:
    """Both writings in floats (the baseline, of that name), one draw, and a certificate.

    Either float answer may be `allowed` off `exact`; one that lacks the `bias` is refused, a residue off by one as
    well, and no certificate. Raises `WrongAnswerError` if a draw takes one of the wrong twins for the left writing.
    """
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), tuple(arguments))
    traced = lambda writing: jax.make_jaxpr(writing)(*shapes)
    pair = traced(left), traced(right)
    for twin in twins:
        if np.array_equal(*draw(pair[0], traced(twin))):
            raise WrongAnswerError(f"{name}: the wrong twin {twin.__name__!r} was accepted")

    def check(program: str, answer: PyTree) -> None:
        if isinstance(answer, bool):
            if not answer:
                raise WrongAnswerError(f"{program}: the writings were not found to be equal")
            return
        x, y = (np.asarray(side) for side in answer)
        if x.dtype == np.int64:
            off, most = float(np.any(x != y)), 0.0
        else:
            off, most = max(float(np.abs(np.asarray(side, np.float64) - exact).max()) for side in (x, y)), allowed
        if not off <= most:
            raise WrongAnswerError(f"{program}: the writings are {off:.3g} off, wanted at most {most:.3g}")

    def wrong(answer: PyTree) -> PyTree:
        if isinstance(answer, bool):
            return not answer
        x, y = (np.asarray(side) for side in answer)
        return x, y - (1 if y.dtype == np.int64 else bias)

    programs = {
        name: Program(lambda *values: (left(*values), right(*values)), tuple(arguments)),
        "draw": Program(draw, pair, compiled=False),
        "certify": Program(certify, pair, compiled=False),
    }
    return Experiment(programs, check, wrong)


def draw(left: ClosedJaxpr, right: ClosedJaxpr) -> tuple[np.ndarray, np.ndarray]:
    """The residues of both outputs at one random point, (copies, …), in the first reading of their functions."""
    fields = PrimeFields(left, right)
    drawn = fields.draw((PROBE,) * (fields.depth.plain + 1), 0, fields.laws - {"exponential form"})
    (x,), (y,) = drawn.left, drawn.right
    return x.residues.levels[0], y.residues.levels[0]


def certify(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    """Whether they are found to be equal but for that chance."""
    return identity(left, right).within(ERROR)
