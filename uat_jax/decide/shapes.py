"""Formulas whose shapes do not fit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.figures import Misfit
from uat_jax.decide.statements import of_misfit
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError, ShapeError
from uat_jax.symbolic import language as m

LARGEST = 3
"""Sizes from 1 to 3 are tried: two dimensions that should be equal differ there, or never do."""


def refute_shape(build: Callable[..., m.Expression], symbols: tuple[str, ...], *, what: str) -> Evidence:
    """REFUTED if ``build`` (sizes → the printed formula) raises `ShapeError` for symbolic sizes, with the smallest
    sizes that do not fit; UNKNOWN if the formula fits.

    ``symbols`` names the dimensions in the order in which ``build`` takes them.  They are free: a formula with slices
    of M/h features takes h and M/h, so that both are whole.
    """
    named = tuple(map(m.dimension, symbols))
    reason = _misfit(build, named)
    if reason is None:
        return Evidence(Method.SHAPES, f"{what}: the shapes fit", Verdict.UNKNOWN)
    ordered = sorted(product(range(1, LARGEST + 1), repeat=len(symbols)), key=lambda sizes: (sum(sizes), sizes))
    misfits = {sizes: text for sizes in ordered if (text := _misfit(build, sizes)) is not None}
    if not misfits:
        return Evidence(Method.SHAPES, f"{what}: {reason}, but no sizes up to {LARGEST} show it", Verdict.UNKNOWN)
    smallest, error = next(iter(misfits.items()))
    text, said = str(error), of_misfit(reason.of, dict(zip(named, smallest, strict=True)))
    dimensions = dict(zip(symbols, smallest, strict=True))
    shown = ", ".join(f"{name} = {size}" for name, size in dimensions.items())
    example = Counterexample((), "a formula", text, (what, text), sizes=dimensions)
    fits = sum(1 for sizes in ordered if sizes not in misfits)
    figures = Misfit(str(reason), f"{fits} of {len(ordered)} sizes up to {LARGEST}")
    finding = f"{what}: with {shown}, {text}"
    return Evidence(Method.SHAPES, finding, Verdict.REFUTED, figures, example=example, statements=said)


def settle_shape(build: Callable[..., m.Expression], symbols: tuple[str, ...], *, what: str) -> Evidence:
    """PROVED if the formula fits for symbolic sizes, that is for all of them; else what `refute_shape` finds."""
    if _misfit(build, tuple(map(m.dimension, symbols))) is None:
        return Evidence(Method.SHAPES, f"{what}: the shapes fit", Verdict.PROVED)
    return refute_shape(build, symbols, what=what)


def _misfit(build: Callable[..., m.Expression], sizes: tuple) -> ShapeError | None:
    try:
        build(*sizes)
    except ShapeError as error:
        return error
    except (ZeroDivisionError, InputError):  # no formula at such sizes
        return None
    return None
