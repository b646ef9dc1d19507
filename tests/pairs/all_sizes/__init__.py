"""Functions of arrays with symbolic dimensions: pairs that are equal at all sizes, and pairs that are not.

`TRUE` are equal at all sizes; `FALSE` differ at some, be it a large one.
"""

from . import (
    along_axes,
    attention,
    different,
    extremes,
    gradients,
    layers,
    looking,
    mixed,
    models,
    orders,
    rules,
    scans,
)
from .row import Row

TRUE: tuple[Row, ...] = (
    *attention.TRUE,
    *layers.TRUE,
    *gradients.TRUE,
    *rules.TRUE,
    *models.TRUE,
    *scans.TRUE,
    *looking.TRUE,
    *extremes.TRUE,
    *along_axes.TRUE,
    *mixed.TRUE,
    *orders.TRUE,
)
FALSE: tuple[Row, ...] = (
    *different.FALSE,
    *scans.FALSE,
    *looking.FALSE,
    *extremes.FALSE,
    *along_axes.FALSE,
    *mixed.FALSE,
    *orders.FALSE,
)
