"""What contributes: the input, the biases, and in each layer its activation, its heads or its neurons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

By = Literal["layer", "head", "neuron", "token"]
"""How finely an output is shared out."""
INPUT, BIAS = "input", "bias"
"""The names of the first two sources."""


class Source(NamedTuple):
    """One source; layers, heads and neurons are counted from 1."""

    kind: Literal["input", "bias", "layer", "head", "attention", "feed-forward", "neuron"]
    layer: int | None = None
    """Its layer; None for input and biases."""
    number: int | None = None
    """Which head or neuron of the layer."""

    def __str__(self) -> str:
        if self.layer is None:
            return self.kind
        if self.kind == "layer":
            return f"layer {self.layer}"
        return f"layer {self.layer} {self.kind}" + ("" if self.number is None else f" {self.number}")


def ends() -> tuple[Source, Source]:
    """The input and the biases, the first two sources of every list."""
    return Source("input"), Source("bias")


def layer_sources(layers: int) -> tuple[Source, ...]:
    """input, bias, layer 1, …, layer L."""
    return (*ends(), *(Source("layer", j) for j in range(1, layers + 1)))


def head_sources(heads: Sequence[int]) -> tuple[Source, ...]:
    """input, bias, and for each layer its heads and its feed-forward network; `heads`: how many each layer has."""
    of = [(*_numbered("head", j, h), Source("feed-forward", j)) for j, h in enumerate(heads, 1)]
    return (*ends(), *(source for layer in of for source in layer))


def neuron_sources(neurons: Sequence[int], attends: Sequence[bool]) -> tuple[Source, ...]:
    """input, bias, and for each layer its attention, if it `attends`, and its neurons; how many is in `neurons`."""
    attention = [(Source("attention", j),) if has else () for j, has in enumerate(attends, 1)]
    of = [(*first, *_numbered("neuron", j, F)) for j, (first, F) in enumerate(zip(attention, neurons, strict=True), 1)]
    return (*ends(), *(source for layer in of for source in layer))


def _numbered(kind: Literal["head", "neuron"], layer: int, count: int) -> tuple[Source, ...]:
    return tuple(Source(kind, layer, number) for number in range(1, count + 1))
