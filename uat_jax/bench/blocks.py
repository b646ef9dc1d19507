"""Both forms of a random residual network over blocks of trials that share its weights, as a comparison runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import numpy as np

from uat_jax.bench import residual
from uat_jax.bench.products import products
from uat_jax.decide.trial_figures import TwoPrograms
from uat_jax.decide.trials import Program, given_trials
from uat_jax.devices import default_device
from uat_jax.ledger.layers.kernels import Kernels
from uat_jax.networks import ResidualLayer


class Blocks(NamedTuple):
    """The plain network f and its closed form g, and one trial for each input."""

    two: TwoPrograms
    arguments: tuple[list[ResidualLayer], np.ndarray]
    """The layers, which all trials share, and one input a row, (n, D)."""
    exact: np.ndarray
    """(n, D), in float64."""
    last_bias: np.ndarray
    """c_L, (1, D)."""


def draw(depth: int, width: int, hidden: int, blocks: int, dtype: str, *, samples: int) -> Blocks:
    """Inputs and weights for so many full blocks of trials, on one device.

    `samples` is how many samples of the rounding noise are drawn: see `TwoPrograms`.
    """
    kernels = Kernels("residual", depth, "relu")
    weights = residual.draw(depth, width, hidden, 1, dtype).weights
    layers = [ResidualLayer(*layer) for layer in zip(*weights.values(), strict=True)]

    def two(inputs: np.ndarray) -> TwoPrograms:
        trials = replace(given_trials((layers, inputs), (None, 0), None), devices=[default_device()])
        return TwoPrograms(kernels.plain, kernels.closed, kernels.plain, trials, "highest", 0, samples)

    size = two(np.zeros((1, width), dtype)).block
    of = residual.draw(depth, width, hidden, size * blocks, dtype)
    inputs = np.asarray(of.inputs).T
    return Blocks(two(inputs), (layers, inputs), of.exact.T, of.last_bias.T)


def operations(two: TwoPrograms, program: Program) -> float:
    """The operations of one block on one device; what is merged is merged for each block."""
    rows, trials = two.trials.rows(np.arange(two.block)), two.trials
    traced = jax.make_jaxpr(trials.on_devices(program))(rows, trials.shared)
    return float(sum(product.operations for product in products(traced)))
