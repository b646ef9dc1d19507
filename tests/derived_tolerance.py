"""How far two programs for one formula may be apart in float64: derived from the program, entry by entry."""

import jax
import numpy as np

from uat_jax.numbers.floats.matmul_precision import DotPrecisions
from uat_jax.numbers.floats.rounding import standard_deviation, tolerance_factor

SAMPLES, FAILURE = 32, 1e-9


def tolerance(function, model, tokens):
    """2 t σ̂ for every entry of function(model, tokens): both sides stay within t σ̂ but with probability 10⁻⁹."""
    leaves, tree = jax.tree.flatten(model)
    jaxpr = jax.make_jaxpr(lambda leaves, tokens: function(jax.tree.unflatten(tree, leaves), tokens))(leaves, tokens)
    dots, random = DotPrecisions(jax.devices()[0], "highest"), np.random.default_rng(0)
    values = [np.asarray(array) for array in (*leaves, tokens)]
    deviation = standard_deviation(jaxpr, values, random, samples=SAMPLES, dot_precision=dots)
    return 2 * tolerance_factor(SAMPLES, 2 * deviation.size, FAILURE) * deviation
