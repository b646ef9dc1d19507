"""One-dimensional convolution of a matrix of tokens and features, along either axis, in plain JAX.

A kernel of 2r + 1 taps reaches r places to both sides; what lies outside the matrix counts as zero ("same" padding).
As in every deep-learning library it is a correlation: tap k multiplies what stands k − r places further on.
"""

import jax

from uat_jax.errors import ShapeError
from uat_jax.networks.shapes import bind_shape


def convolve_features(kernel: jax.Array, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """y_{n,m} = Σ_k Σ_n' K_{n,n',k} x_{n',m+k−r}: the kernel slides along the features, tokens are the channels.

    Kernel (N', N, 2r + 1), x (N, M) → (N', M). Raises `ShapeError` if they do not fit or the taps are even in number.
    """
    bind_shape("x", tuple(x.shape), ("N", "M"), _sizes(kernel, ("N'", "N", "taps")))
    return _slide(kernel, x, precision)


def convolve_tokens(kernel: jax.Array, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """y_{n,m} = Σ_k Σ_m' x_{n+k−r,m'} W_{k,m',m}: the kernel slides along the tokens, features are the channels.

    Kernel (2r + 1, M, M'), x (N, M) → (N, M'). Raises `ShapeError` if they do not fit or the taps are even in number.
    """
    bind_shape("x", tuple(x.shape), ("N", "M"), _sizes(kernel, ("taps", "M", "M'")))
    return _slide(kernel.transpose(2, 1, 0), x.T, precision).T


def _sizes(kernel: jax.Array, axes: tuple[str, ...]) -> dict[str, int]:
    """The sizes of the kernel's axes by name."""
    sizes: dict[str, int] = {}
    bind_shape("kernel", tuple(kernel.shape), axes, sizes)
    if sizes["taps"] % 2 == 0:
        raise ShapeError(f"got a kernel of {sizes['taps']} taps, wanted an odd number; add a tap of zeros")
    return sizes


def _slide(kernel: jax.Array, x: jax.Array, precision: jax.lax.PrecisionLike) -> jax.Array:
    """Channels first: kernel (out, in, taps), x (in, length) → (out, length)."""
    reach = kernel.shape[2] // 2
    slid = jax.lax.conv_general_dilated(
        x[None], kernel, (1,), [(reach, reach)], dimension_numbers=("NCH", "OIH", "NCH"), precision=precision
    )
    return slid[0]
