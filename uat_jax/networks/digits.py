"""Two trained networks of the papers' form that read handwritten digits, and the images they have not seen.

- ``residual``: Eq. 20 on the 64 pixels of an image, widths 64, 48, 40, 10; the digit is the largest of the
  10 outputs.
- ``transformer``: Eq. 30 on 8 tokens, one per row of the image; the 16 features of a token are the 8 pixels
  of the row and a one-hot of its position; the digit is the largest of the first 10 features of the mean of
  x_L over the tokens.

Both were trained by `uat_jax.networks.train_digits`. The images are scikit-learn's ``load_digits``, the test
part of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository, 1998): 1797 images of 8 × 8 pixels, 0 to 16, shipped with scikit-learn under its BSD licence. 1437
of them were used for training; the other 360 come with this package.
"""

from importlib.resources import as_file, files
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import ShapeError
from uat_jax.networks.drawing import checked_dtype
from uat_jax.networks.network import Network, kind_named
from uat_jax.networks.weights_file import load_network

DIGITS = 10
PIXELS = 8
GREYS = 16

DigitKind = Literal["residual", "transformer"]


def trained(kind: DigitKind) -> Network:
    """The trained network of this kind, float32; `InputError` for an unknown kind."""
    kind_named(kind)
    with as_file(_data(f"digits_{kind}.npz")) as path:
        return load_network(path)


def held_out() -> tuple[np.ndarray, np.ndarray]:
    """The 360 images that training did not see, (360, 8, 8) float32 in [0, 1], and their labels, (360,)."""
    with _data("digits_held_out.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return scaled(arrays["images"]), arrays["labels"].astype(np.int32)


def scaled(images: np.ndarray) -> np.ndarray:
    """Grey levels 0, …, 16 as float32 in [0, 1]; exact, since 16 is a power of two."""
    return images.astype(np.float32) / np.float32(GREYS)


def inputs(kind: DigitKind, images: np.ndarray | jax.Array) -> jax.Array:
    """The inputs x_0 of `images`, (batch, 8, 8): (batch, 64) or (batch, 8, 16), in the dtype of the images.

    Raises `InputError` for an unknown kind or dtype and `ShapeError` for images of another shape.
    """
    kind_named(kind)
    dtype, shape = checked_dtype(images.dtype), images.shape
    if len(shape) != 3 or shape[1:] != (PIXELS, PIXELS):
        raise ShapeError(f"got images of shape {shape}, wanted (batch, {PIXELS}, {PIXELS}); reshape them")
    if kind == "residual":
        return jnp.reshape(images, (shape[0], PIXELS * PIXELS))
    position = jnp.broadcast_to(jnp.eye(PIXELS, dtype=dtype), shape)
    return jnp.concatenate([jnp.asarray(images), position], axis=2)


def predictions(kind: DigitKind, outputs: jax.Array) -> jax.Array:
    """The digit read from each output x_L: (batch, D_L) or (batch, N, M_L) → (batch,) integers."""
    return jnp.argmax(scores(kind, outputs), axis=1)


def scores(kind: DigitKind, outputs: jax.Array) -> jax.Array:
    """One number per digit, the largest wins: (batch, D_L) or (batch, N, M_L) → (batch, 10).

    Raises `InputError` for an unknown kind and `ShapeError` for outputs of another shape.
    """
    rank = 1 + len(kind_named(kind).input_axes)
    if outputs.ndim != rank or outputs.shape[-1] < DIGITS:
        raise ShapeError(
            f"got outputs of shape {outputs.shape}, wanted {rank} axes, the batch first and at least "
            f"{DIGITS} features last; give the outputs of the {kind} network"
        )
    means = outputs if kind == "residual" else jnp.mean(outputs, axis=1)
    return means[:, :DIGITS]


def _data(name: str):
    return files("uat_jax.networks") / "data" / name
