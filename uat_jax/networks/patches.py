"""Images as tokens (Dosovitskiy et al. 2021): the pixels of each patch, row by row, behind a row of zeros.

With W the patch embedding and p the positions, x_0 = X W + p; what the first token starts from, and the bias of W, are
part of p.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.typing import ArrayLike

from uat_jax.errors import InputError


class Image(NamedTuple):
    """Which images a model takes."""

    channels: int
    """c."""
    side: int
    """Height and width in pixels."""
    patch: int
    """Height and width of a patch, p."""

    @property
    def tokens(self) -> int:
        """One for each patch, and the first one."""
        return 1 + (self.side // self.patch) ** 2

    @property
    def pixels(self) -> int:
        """Numbers of a patch, c p p."""
        return self.channels * self.patch**2

    @property
    def shape(self) -> tuple[int, int, int]:
        """(c, height, width)."""
        return self.channels, self.side, self.side

    def rows(self, image: ArrayLike, dtype: Any) -> Any:
        """The image (c, H, W) as (1 + n, c p p), or what has this shape already as it is.

        Raises:
            InputError: an array of another shape, or that is not of floats.
        """
        array = jnp.asarray(image)
        if not jnp.issubdtype(array.dtype, jnp.floating) or array.shape not in (self.shape, (self.tokens, self.pixels)):
            got = f"{array.dtype} of shape {array.shape}"
            raise InputError(f"got {got}, wanted an image: floats {self.shape}, prepared as the model was trained")
        array = array.astype(dtype)
        if array.ndim == 2:
            return array
        c, p, n = self.channels, self.patch, self.side // self.patch
        patches = array.reshape(c, n, p, n, p).transpose(1, 3, 0, 2, 4).reshape(n * n, self.pixels)
        return jnp.concatenate([jnp.zeros((1, self.pixels), dtype), patches])
