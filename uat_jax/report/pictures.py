"""Pictures of a decomposition, .png or .svg by the name of the file.  They need matplotlib, the extra ``[plot]``.

Lines and bars have the colours of Okabe and Ito, and markers or hatches beside them; maps have cividis, which grows
lighter throughout.  Both stay readable in grey print and for colour-blind readers.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uat_jax.errors import InputError

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
MARKERS, STYLES = "osD^vP*X", ("-", "--", ":", "-.")
MAP = "cividis"
SUFFIXES = (".png", ".svg")
DPI = 160
MOST_NUMBERS = 260
"""Cells of a map in which numbers can still be read."""


def check_pictures() -> None:
    """Raise `InputError` unless matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("pictures need matplotlib; pip install 'uat_jax[plot]'") from None


def picture_of_terms(path: Path, title: str, names: Sequence[str], lengths: Sequence[float]) -> Path:
    """The length of each term of x_L as a bar; the paths of input and biases are hatched."""
    figure, axes = new_figure(1.5 + 0.55 * len(names), 3.4, title)
    hatches = ["//", "..", *[""] * (len(names) - 2)]
    colours = [*OKABE_ITO[1:3], *[OKABE_ITO[0]] * (len(names) - 2)]
    bars = axes.bar(range(len(names)), lengths, color=colours, hatch=hatches, edgecolor="black", linewidth=0.6)
    axes.bar_label(bars, fmt="%.3g", fontsize=7)
    _ticks(axes, "x", names)
    axes.set_ylabel("length of the term in $x_L$")
    return save(figure, path)


def picture_of_tokens(
    path: Path, title: str, names: Sequence[str], tokens: Sequence[str], contributions: np.ndarray
) -> Path:
    """Contribution to the output of each term (downwards) at each token (across): a map."""
    figure, axes = new_figure(2.4 + 0.42 * len(tokens), 1.8 + 0.3 * len(names), title)
    _map(figure, axes, contributions, "contribution", symmetric=True)
    _ticks(axes, "x", tokens)
    _ticks(axes, "y", names)
    return save(figure, path)


def picture_of_similarity(path: Path, title: str, names: Sequence[str], contributions: np.ndarray) -> Path:
    """Contribution to the cosine of each pair of terms, the first text downwards, the second across: a map."""
    side = 1.8 + 0.5 * len(names)
    figure, axes = new_figure(side + 1.2, side, title)
    _map(figure, axes, contributions, "contribution to the cosine", symmetric=True)
    _ticks(axes, "x", names)
    _ticks(axes, "y", names)
    axes.set_ylabel("first text")
    axes.set_xlabel("second text")
    return save(figure, path)


def picture_of_parameters(path: Path, title: str, names: Sequence[str], changes: np.ndarray) -> Path:
    """How much each parameter (across) of each layer (downwards) changes with the input: 0 is static."""
    figure, axes = new_figure(2.8 + 0.6 * len(names), 1.6 + 0.32 * len(changes), title)
    _map(figure, axes, changes, "relative change with the input", symmetric=False)
    _ticks(axes, "x", names, upright=True)
    _ticks(axes, "y", [f"layer {j}" for j in range(1, len(changes) + 1)])
    return save(figure, path)


def picture_of_errors(path: Path, title: str, errors: Mapping[str, Sequence[float]]) -> Path:
    """The error of each form in ULP against the depth: lines."""
    figure, axes = new_figure(5.2, 3.4, title)
    for i, (form, values) in enumerate(errors.items()):
        style = {"color": OKABE_ITO[i], "marker": MARKERS[i], "linestyle": STYLES[i % len(STYLES)]}
        axes.plot(range(1, len(values) + 1), values, label=form, **style)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("depth $j$ of $x_j$")
    axes.set_ylabel("largest error in ULP")
    axes.legend(frameon=False)
    return save(figure, path)


def new_figure(width: float, height: float, title: str) -> tuple[Any, Any]:
    """A figure of inches at most as wide as a screen, without pyplot, whose figures would pile up."""
    check_pictures()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(width, 40), min(height, 20)), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title if len(title) <= 60 else f"{title[:59]}…", fontsize=9, parse_math=False)
    return figure, axes


def _map(figure: Any, axes: Any, values: np.ndarray, label: str, *, symmetric: bool) -> None:
    """Cells of cividis with their numbers, where these can be read; symmetric: zero is the middle of the colours.

    In symmetric maps less than half a percent of the largest entry is written as 0.
    """
    largest = float(np.max(np.abs(values))) or 1.0
    image = axes.imshow(values, cmap=MAP, vmin=-largest if symmetric else 0, vmax=largest, aspect="auto")
    figure.colorbar(image, ax=axes, label=label)
    if values.size > MOST_NUMBERS:
        return
    middle = 0 if symmetric else largest / 2
    for (row, column), value in np.ndenumerate(values):
        number = f"{value:.2g}" if not symmetric or abs(value) >= largest / 200 else "0"
        colour = "black" if value > middle else "white"
        axes.text(column, row, number, ha="center", va="center", fontsize=6, color=colour)


def _ticks(axes: Any, axis: str, labels: Sequence[str], *, upright: bool = False) -> None:
    """A name at every cell, none of them read as a formula."""
    turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if axis == "x" and not upright else {}
    set_ticks = axes.set_xticks if axis == "x" else axes.set_yticks
    set_ticks(range(len(labels)), labels, fontsize=8, parse_math=False, **turned)


def save(figure: Any, path: Path) -> Path:
    """Write a picture and return its path; equal pictures give equal files, without date and random names.

    Raises `InputError` for a suffix that is none of `SUFFIXES`, and for a folder that cannot be written.
    """
    import matplotlib

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"got the picture {path.name}, wanted a name that ends in {' or '.join(SUFFIXES)}")
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "uat_jax", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a word in a script that no font here has: a box
        try:
            figure.savefig(path, dpi=DPI, metadata=metadata)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}; choose a folder that can be written") from None
    return path
