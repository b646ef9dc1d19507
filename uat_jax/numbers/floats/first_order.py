"""How far rounding may carry a program from its exact value: a bound to first order, derived and not observed.

Let a_k be the amplitude that `local_error` gives the k-th rounding of a program at one input, b_k the larger bound that
holds for any order of a sum (`local_error.largest`; b_k = a_k elsewhere), and J_ik the derivative of output i by the
result that is rounded.  To first order the error of output i is Σ_k J_ik ε_k, and it is at most

    Σ_k |J_ik| b_k                       however the roundings fall,
    √(2 ln(2/p)) · √(Σ_k (J_ik a_k)²)    with probability 1 - p, if they are independent with mean zero (Hoeffding).

The smaller of the two is the bound.  J_ik a_k is the change of output i when rounding k alone is disturbed by a_k: one
float64 evaluation of the program for each k, all of them in one walk.  Where there are more than `MOST` roundings, the
second bound is taken with the sampled σ̂ of `rounding` instead.
"""

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.floats.doubles import in_copies
from uat_jax.numbers.floats.emulated import followed
from uat_jax.numbers.floats.local_error import DotPrecision, amplitude, largest
from uat_jax.numbers.floats.matmul_precision import unit_roundoff
from uat_jax.numbers.floats.rounding import SMALLEST_NOISE, Noisy, tolerance_factor

MOST = 1024
"""More roundings than this are not disturbed one by one."""

GROUP = 512
"""So many roundings are disturbed in one walk."""

SAMPLES = 64
"""How many samples of the noise are taken where the roundings are too many to be followed one by one."""


def rounding_bound(
    program: ClosedJaxpr,
    inputs: Sequence[np.ndarray],
    *,
    dot_precision: DotPrecision,
    probability: float,
    deadline: Deadline | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(values, bounds) of all outputs end to end: the float64 values, and how far each may be off in the own dtypes.

    `inputs` are the program's, exact floats.  `probability` is that of any entry being further off; entries that are
    not finite have the bound NaN.

    Raises:
        UnsupportedError: a primitive that float64 arithmetic cannot follow, or whose rounding has no bound.
        BudgetError: the deadline is over.
    """
    scale = max(1.0, SMALLEST_NOISE / min(unit_roundoff(aval.dtype) for aval in program.out_avals))
    counting = _Single(0, 0, scale, dot_precision)
    values = _outputs(program, counting, inputs, deadline)[0]
    share = probability / max(1, values.size)
    if counting.met > MOST:
        noisy = Noisy(SAMPLES, [np.random.default_rng(0)], scale, dot_precision)
        changes = _changes(_outputs(program, noisy, inputs, deadline)) / scale
        deviation = np.sqrt(np.mean(changes**2, axis=0))
        return values, tolerance_factor(SAMPLES, values.size, probability) * deviation
    worst, squares = np.zeros_like(values), np.zeros_like(values)
    for start in range(0, counting.met, GROUP):
        single = _Single(start, min(GROUP, counting.met - start), scale, dot_precision)
        changes = np.abs(_changes(_outputs(program, single, inputs, deadline))) / scale
        worst += np.sum(changes * single.growth[:, None], axis=0)
        squares += np.sum(changes**2, axis=0)
    return values, np.minimum(worst, math.sqrt(2 * math.log(2 / share)) * np.sqrt(squares))


def _changes(outputs: np.ndarray) -> np.ndarray:
    """How far the disturbed copies are from the first, which is not; infinities give NaN."""
    with np.errstate(invalid="ignore"):
        return outputs[1:] - outputs[:1]


def _outputs(program: ClosedJaxpr, noisy: Noisy, inputs: Sequence[np.ndarray], deadline: Deadline | None) -> np.ndarray:
    """All outputs end to end in every copy: (copies, entries)."""
    noisy.deadline = deadline
    outputs = followed(program, noisy, [noisy.argument(x) for x in inputs])
    copies = 1 + noisy.samples
    flat = [np.broadcast_to(x, (copies, *x.shape[1:])).reshape(copies, -1) for x in outputs]
    return np.concatenate(flat, axis=1)


class _Single(Noisy):
    """Float64 evaluation in 1 + `samples` copies: in copy 1 + k rounding number `start` + k alone is disturbed.

    Roundings that make no error are not counted.  met: how many there were.  growth: b_k / a_k of those disturbed.
    """

    def __init__(self, start: int, samples: int, scale: float, dot_precision: DotPrecision):
        super().__init__(samples, [np.random.default_rng(0)], scale, dot_precision)
        self.start, self.met, self.growth = start, 0, np.ones(samples)

    def rounded(
        self, equation: JaxprEqn, operands: Sequence[np.ndarray], result: np.ndarray, without: np.ndarray
    ) -> np.ndarray:
        exact, value = [self.exact(x) for x in in_copies(equation, operands)], self.exact(result)
        error = amplitude(equation, exact, value, self.dot_precision)
        bound = largest(equation, exact, value, self.dot_precision)
        assert error is not None and bound is not None
        return self.disturbed(result, error, bound)

    def noisy(self, value: np.ndarray, error: np.ndarray, without: np.ndarray) -> np.ndarray:
        return self.disturbed(value, error, error)

    def disturbed(self, value: np.ndarray, error: np.ndarray, bound: np.ndarray) -> np.ndarray:
        """The value, in each copy with the error of one entry at most."""
        places = np.flatnonzero(error)
        copies = np.arange(self.met, self.met + places.size) - self.start
        self.met += places.size
        mine = (copies >= 0) & (copies < self.samples)
        places, copies = places[mine], copies[mine]
        if not places.size:
            return value
        result = np.repeat(value, 1 + self.samples, axis=0) if len(value) == 1 else value.copy()
        result.reshape(1 + self.samples, -1)[1 + copies, places] += self.scale * error.ravel()[places]
        self.growth[copies] = np.maximum(1.0, bound.ravel()[places] / error.ravel()[places])
        return result


def spacing(scale: float, dtype: np.dtype) -> float:
    """The distance of neighbouring floats of a dtype at a number: one unit in the last place (ULP)."""
    limits = jnp.finfo(dtype)
    return float(np.ldexp(float(limits.eps), int(np.frexp(max(scale, float(limits.smallest_normal)))[1]) - 1))
