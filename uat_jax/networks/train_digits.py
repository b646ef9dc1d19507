"""Train the two networks of `uat_jax.networks.digits` and write their data files.

    python -m uat_jax.networks.train_digits --out uat_jax/networks/data

It needs optax and scikit-learn, ``pip install 'uat_jax[train]'``. Every random choice is seeded: the split of
the images, the first weights, the order of the batches.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InputError, UatJaxError
from uat_jax.networks import digits
from uat_jax.networks.activations import activation
from uat_jax.networks.network import Network, kind_named
from uat_jax.networks.residual import initialise_residual
from uat_jax.networks.transformer import initialise_transformer
from uat_jax.networks.weights_file import save_arrays, save_network

IMAGES = 1797
TRAINED_ON = 1437
SEED = 0
BATCH = 64
ACTIVATION = "gelu"
EPOCHS: dict[digits.DigitKind, int] = {"residual": 60, "transformer": 300}
WARM_UP = 5
"""Epochs in which the learning rate rises; it then falls as a cosine."""
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 0.05
LARGEST_GRADIENT = 1.0
NOISE = 0.15
"""Standard deviation of the noise added to the pixels, anew in each step: the images are few."""
SELF_ATTENTION = 4.0
"""The Transformer starts with W_Q = W_K, this much larger than drawn: a token then attends to itself above
all. No residual goes around the attention, so otherwise the tokens would be averaged away at the start."""


def split(seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the 1437 images to train on and of the 360 held out: a seeded permutation in two."""
    order = np.random.default_rng(seed).permutation(IMAGES)
    return order[:TRAINED_ON], order[TRAINED_ON:]


def load_images() -> tuple[np.ndarray, np.ndarray]:
    """All images, (1797, 8, 8) uint8 from 0 to 16, and their labels, (1797,) uint8."""
    data = _needed("sklearn.datasets").load_digits()
    return data.images.astype(np.uint8), data.target.astype(np.uint8)


def initial_layers(kind: digits.DigitKind, seed: int = SEED) -> Any:
    """The random layers from which training starts."""
    key = jax.random.key(seed)
    if kind == "residual":
        return initialise_residual(key, widths=(64, 48, 40, 10), hidden=(40, 36, 32))
    layers = initialise_transformer(key, features=(16, 16, 16, 16), heads=2, hidden=(40, 36, 32))
    queries = [layer.query * SELF_ATTENTION for layer in layers]
    return tuple(layer._replace(query=q, key=q) for layer, q in zip(layers, queries, strict=True))


def train(kind: digits.DigitKind, images: np.ndarray, labels: np.ndarray, seed: int = SEED) -> Network:
    """The network trained on `images`, (batch, 8, 8) in [0, 1]: cross-entropy, AdamW, noisy pixels."""
    optax = _needed("optax")
    x, y = jnp.asarray(images), jnp.asarray(labels, jnp.int32)
    steps = len(images) // BATCH
    optimiser, loss = _optimiser(optax, steps, EPOCHS[kind] * steps), _loss(optax, kind)

    def step(state, batch):
        (layers, moments), (rows, key) = state, batch
        noisy = x[rows] + NOISE * jax.random.normal(key, (BATCH, digits.PIXELS, digits.PIXELS))
        updates, moments = optimiser.update(jax.grad(loss)(layers, noisy, y[rows]), moments, layers)
        return (optax.apply_updates(layers, updates), moments), None

    @jax.jit
    def epoch(state, key):
        rows = jax.random.permutation(jax.random.fold_in(key, 0), len(images))[: steps * BATCH]
        keys = jax.random.split(jax.random.fold_in(key, 1), steps)
        return jax.lax.scan(step, state, (rows.reshape(steps, BATCH), keys))[0]

    layers = initial_layers(kind, seed)
    state = (layers, optimiser.init(layers))
    for number in range(EPOCHS[kind]):
        state = epoch(state, jax.random.fold_in(jax.random.key(seed + 1), number))
    return Network(kind, ACTIVATION, jax.tree.map(np.asarray, state[0]))


def _optimiser(optax: ModuleType, steps_per_epoch: int, steps: int) -> Any:
    rate = optax.warmup_cosine_decay_schedule(0.0, LEARNING_RATE, WARM_UP * steps_per_epoch, steps)
    decay = optax.adamw(rate, weight_decay=WEIGHT_DECAY)
    return optax.chain(optax.clip_by_global_norm(LARGEST_GRADIENT), decay)


def _loss(optax: ModuleType, kind: digits.DigitKind) -> Callable[..., jax.Array]:
    function, sigma = kind_named(kind).function, activation(ACTIVATION)

    def loss(layers, images, labels):
        outputs = jax.vmap(lambda x: function(layers, x, sigma))(digits.inputs(kind, images))
        scores = digits.scores(kind, outputs)
        return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()

    return loss


def correct(network: Network, images: np.ndarray, labels: np.ndarray) -> int:
    """How many of `images` the network reads as their labels say."""
    outputs = jax.vmap(network.apply)(digits.inputs(network.kind, images))
    return int(np.sum(np.asarray(digits.predictions(network.kind, outputs)) == labels))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train both networks and write the three data files; 0, or 2 after one line about unusable input."""
    parser = argparse.ArgumentParser(prog="python -m uat_jax.networks.train_digits", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the three files (default: .)")
    out = parser.parse_args(arguments).out
    try:
        _write_all(out)
    except UatJaxError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _write_all(out: Path) -> None:
    if not out.is_dir():
        raise InputError(f"got --out {out}, wanted a folder; make it first")
    images, labels = load_images()
    trained_on, held_out = split()
    networks = [train(kind, digits.scaled(images[trained_on]), labels[trained_on]) for kind in EPOCHS]
    for network in networks:
        right = correct(network, digits.scaled(images[held_out]), labels[held_out])
        print(f"{network.kind}: {right} of {len(held_out)} held-out digits read correctly")
        save_network(out / f"digits_{network.kind}.npz", network)
    save_arrays(out / "digits_held_out.npz", {"images": images[held_out], "labels": labels[held_out]})


def _needed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"got no {module}, wanted it for training; run pip install 'uat_jax[train]'") from None


if __name__ == "__main__":
    sys.exit(main())
