"""How large an error in one coefficient must be before it shows."""

from collections.abc import Iterator, Sequence

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.interpret.interpreter import interpret
from uat_jax.numbers.floats.doubles import Doubles

STEP = 2.0**-20
"""Relative change of a coefficient in the difference quotient: its error is about 2^-40, the truncation, and 2^-33."""

GROUP_BYTES = 2**27
"""Of the perturbed copies of an array that are evaluated at a time."""

LARGEST_COUNT = 512
"""More coefficients than this are represented by so many of them, drawn at random."""


def visible_errors(
    program: ClosedJaxpr, leaves: Sequence[np.ndarray], tolerance: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """The relative error ε of single coefficients w at which |∂y_i/∂w · w| ε exceeds tolerance_i for some i.

    `leaves` are the program's inputs, `tolerance` a vector of one number per output entry. A coefficient is one entry
    of one floating leaf; where there are more than `LARGEST_COUNT`, that many are drawn. The result is a float64 vector
    over them: min_i tolerance_i / |∂y_i/∂w · w|, inf where w has no effect. First order, by central differences in
    float64.
    """
    sizes = [leaf.size if jnp.issubdtype(leaf.dtype, jnp.floating) else 0 for leaf in leaves]
    total = sum(sizes)
    chosen = np.arange(total) if total <= LARGEST_COUNT else random.choice(total, LARGEST_COUNT, replace=False)
    effects = np.zeros(len(chosen))
    for group in _groups(leaves, sizes, chosen):
        up, down = (_outputs(program, leaves, sizes, chosen[group], 1 + sign * STEP) for sign in (1, -1))
        changes = np.abs(up - down) / (2 * STEP) / np.maximum(tolerance, np.finfo(np.float64).tiny)
        effects[group] = np.max(changes, axis=1)
    with np.errstate(divide="ignore"):
        return 1 / effects


def conditioning(
    program: ClosedJaxpr, leaves: Sequence[np.ndarray], random: np.random.Generator, samples: int = 32
) -> np.ndarray:
    """√(Σ_j (∂y_i/∂w_j · w_j)²) for all outputs y_i end to end, w_j the entries of the floating leaves.

    So far does y_i move, times u, when all inputs are rounded to a unit roundoff u: no program that is given rounded
    inputs can be asked for more.  It is the root mean square over random signs of relative changes ±`STEP`.
    """
    doubles = Doubles()

    def outputs(signs: Sequence[np.ndarray], step: float) -> np.ndarray:
        values = [doubles.number(x) * (1 + step * s) for x, s in zip(leaves, signs, strict=True)]
        return _end_to_end(interpret(program, doubles, values), samples)

    signs = [random.choice([-1.0, 1.0], (samples, *leaf.shape)) for leaf in leaves]
    with np.errstate(invalid="ignore", over="ignore"):
        changes = (outputs(signs, STEP) - outputs(signs, -STEP)) / (2 * STEP)
        return np.sqrt(np.mean(changes**2, axis=0))


def _groups(leaves, sizes, chosen: np.ndarray) -> Iterator[np.ndarray]:
    """Positions in `chosen`: all at once where the copies of all leaves take `GROUP_BYTES`, else of one leaf each."""
    if 8 * len(chosen) * sum(sizes) <= GROUP_BYTES:
        yield np.arange(len(chosen))
        return
    start = 0
    for leaf, size in zip(leaves, sizes, strict=True):
        rows = np.flatnonzero((start <= chosen) & (chosen < start + size))
        most = max(1, GROUP_BYTES // (8 * leaf.size))
        yield from (rows[first : first + most] for first in range(0, len(rows), most))
        start += size


def _outputs(program: ClosedJaxpr, leaves, sizes, chosen: np.ndarray, factor: float) -> np.ndarray:
    """The outputs in float64, one row per coefficient that is multiplied by `factor`: (coefficients, entries)."""
    doubles, values, start = Doubles(), [], 0
    for leaf, size in zip(leaves, sizes, strict=True):
        rows = np.flatnonzero((start <= chosen) & (chosen < start + size))
        if len(rows):
            values.append(_perturbed(doubles, leaf, rows, chosen[rows] - start, len(chosen), factor))
        else:
            values.append(doubles.number(leaf) if size else leaf)
        start += size
    return _end_to_end(interpret(program, doubles, values), len(chosen))


def _end_to_end(outputs: Sequence[np.ndarray], copies: int) -> np.ndarray:
    """All outputs as one vector in every copy: (copies, entries)."""
    return np.concatenate([np.broadcast_to(x, (copies, *x.shape[1:])).reshape(copies, -1) for x in outputs], axis=1)


def _perturbed(doubles: Doubles, leaf, rows: np.ndarray, entries: np.ndarray, count: int, factor: float) -> np.ndarray:
    copies = np.repeat(doubles.number(leaf), count, axis=0)
    copies.reshape(count, -1)[rows, entries] *= factor
    return copies
