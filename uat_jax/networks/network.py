"""A finished network: its kind, its activation's name and its checked layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.activations import activation
from uat_jax.networks.drawing import DTYPES, checked_dtype
from uat_jax.networks.residual import ResidualLayer, residual_network, residual_sizes
from uat_jax.networks.transformer import TransformerLayer, transformer, transformer_sizes
from uat_jax.typing import JsonObject


class Kind(NamedTuple):
    """What one kind of network is made of."""

    layer: type[ResidualLayer] | type[TransformerLayer]
    sizes: Callable[[Sequence[Any]], dict[str, int]]
    function: Callable[..., jax.Array]
    input_axes: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "residual": Kind(ResidualLayer, residual_sizes, residual_network, ("D_0",)),
    "transformer": Kind(TransformerLayer, transformer_sizes, transformer, ("N", "M_0")),
}


def kind_named(kind: str) -> Kind:
    """The entry of `KINDS` called `kind`, or `InputError`."""
    if kind not in KINDS:
        raise InputError(f"got kind {kind!r}, wanted one of {', '.join(KINDS)}")
    return KINDS[kind]


@dataclass(frozen=True, eq=False)
class Network:
    """A network whose arrays are known: right shapes, one floating dtype, every entry finite.

    Construction raises `ShapeError` for arrays that do not fit together and `InputError` for an unknown
    kind or activation, layers of another kind, and for unusable dtypes or numbers; each names the array.
    """

    kind: Literal["residual", "transformer"]
    activation: str
    layers: tuple[ResidualLayer, ...] | tuple[TransformerLayer, ...] = field(repr=False)

    def __post_init__(self) -> None:
        kind, _ = kind_named(self.kind), activation(self.activation)
        for number, layer in enumerate(self.layers, start=1):
            if not isinstance(layer, kind.layer):
                raise InputError(
                    f"got a {type(layer).__name__} as layer {number}, wanted a {kind.layer.__name__}: "
                    f"the kind is {self.kind}"
                )
        for name, array in self.arrays().items():
            if not isinstance(array, np.ndarray | jax.Array):
                raise InputError(f"got a {type(array).__name__} for {name}, wanted an array; convert it")
        kind.sizes(self.layers)
        for name, array in self.arrays().items():
            check_numbers(name, array, self.dtype)

    def arrays(self) -> JsonObject:
        """Name → array, ``layers.1.A`` and so on, layers counted from 1."""
        return {
            f"layers.{number}.{name}": array
            for number, layer in enumerate(self.layers, start=1)
            for name, array in layer._asdict().items()
        }

    @property
    def dtype(self) -> np.dtype:
        """The one dtype of all arrays, that of inputs and outputs too."""
        return np.dtype(self.layers[0][0].dtype)

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the axes by name: D_0, F_1, D_1, … or M_0, h_1, d_1, F_1, M_1, …"""
        return kind_named(self.kind).sizes(self.layers)

    def apply(self, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
        """The output for one input, (D_0,) → (D_L,) or (N, M_0) → (N, M_L); `jax.vmap` takes a batch.

        Raises `ShapeError` for another shape and `InputError` for another dtype than the network's, or if
        the network is float64 while x64 is off.
        """
        if x.dtype != checked_dtype(self.dtype):
            raise InputError(f"got x of dtype {x.dtype}, wanted {self.dtype}, the dtype of the network; cast x")
        return kind_named(self.kind).function(self.layers, x, activation(self.activation), precision=precision)


def check_numbers(name: str, array: Any, dtype: np.dtype) -> None:
    """Raise `InputError` unless `array` is of one of `DTYPES`, of dtype `dtype`, and finite everywhere."""
    if array.dtype.name not in DTYPES:
        raise InputError(f"got dtype {array.dtype} for {name}, wanted one of {', '.join(DTYPES)}; cast it")
    if array.dtype != dtype:
        raise InputError(f"got dtype {array.dtype} for {name}, wanted {dtype}, that of layers.1; cast it")
    values = np.asarray(array)  # in NumPy: it reads float64 whether x64 is on or off
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        index = tuple(bad[0].tolist())
        raise InputError(f"got {values[index]} at {name}{list(index)}, wanted finite numbers; replace it")
