"""Low-rank updates beside every matrix of the blocks of a random model."""

import dataclasses

import jax
import numpy as np
from random_parameters import normal

from uat_jax.networks.adapted import Adapted, dense
from uat_jax.networks.block import Block
from uat_jax.networks.feed_forward_part import FeedForward
from uat_jax.networks.model import Model


def with_adapters(random: np.random.Generator, model: Model, *, rank: int = 1) -> Model:
    """The model with W + s L R in place of each W; W_Q, W_K, W_V share L over the heads, W_O shares R."""
    return dataclasses.replace(model, blocks=tuple(_adapted(random, block, rank) for block in model.blocks))


def _adapted(random: np.random.Generator, block: Block, rank: int) -> Block:
    def update(W: jax.Array, *, left: tuple[int, ...] = (), right: tuple[int, ...] = ()) -> Adapted:
        *_, rows, columns = W.shape
        return Adapted(W, normal(random, *left, rows, rank), normal(random, *right, rank, columns), normal(random))

    attention, part = block.attention, block.feed_forward
    assert attention is not None
    into = {name: getattr(attention, name) for name in ("query", "key", "value")}
    heads = {name: update(W, right=W.shape[:1]) for name, W in into.items()}
    heads["output"] = update(dense(attention.output), left=attention.output.shape[:1])
    names = ("hidden", "project") if isinstance(part, FeedForward) else ("gate", "up", "down")
    return block._replace(
        attention=attention._replace(**heads),
        feed_forward=part._replace(**{name: update(getattr(part, name)) for name in names}),
    )
