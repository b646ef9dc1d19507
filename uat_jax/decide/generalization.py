"""Symbolic dimensions in the place of sizes: which axes are one dimension is read off the sizes that are equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from uat_jax.decide.domain import with_shape
from uat_jax.decide.specification import is_variable


def generalizations(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Arguments with symbolic dimensions for their sizes above 1, the most general ones first.

    Axes of the same size are the same dimension.  First all sizes become symbolic, then all but one of them, then one
    alone: a reshape or a fixed array can need a size as it is.
    """
    leaves = [leaf for leaf in jax.tree.leaves(arguments) if is_variable(leaf)]
    sizes = tuple(dict.fromkeys(size for leaf in leaves for size in leaf.shape if size > 1))
    but_one = [tuple(s for s in sizes if s != kept) for kept in sizes]
    for chosen in dict.fromkeys([sizes, *but_one, *((size,) for size in sizes)]):
        if chosen:
            names = ", ".join(f"n{size}" for size in chosen)
            symbols = dict(zip(chosen, jax.export.symbolic_shape(names), strict=True))
            general = lambda leaf, symbols=symbols: with_shape(leaf, tuple(symbols.get(d, d) for d in leaf.shape))
            yield jax.tree.map(general, arguments)
