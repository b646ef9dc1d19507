"""Pictures of a decomposition, .png, .svg or .pdf by the name of the file.  They need matplotlib, the extra ``[plot]``.

Lines and bars have the colours of Okabe and Ito, and markers or hatches beside them; maps have cividis, which grows
lighter throughout.  Both stay readable in grey print and for colour-blind readers.  Maps of signed numbers are white at
zero and go to blue and vermilion, with the sums of their rows and columns; the sign of a number is written in its cell.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uat_jax.errors import InputError
from uat_jax.report.words import as_read

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
MARKERS, STYLES = "osD^vP*X", ("-", "--", ":", "-.")
MAP = "cividis"
SIGNED = ("#0072B2", "#FFFFFF", "#D55E00")
"""Below zero, zero, above."""
ACROSS = 24
"""Tokens that stand beside each other, readable on a screen; more of them are folded into rows, as text is."""
SUFFIXES = (".png", ".svg", ".pdf")
METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "Producer": None}}
"""What a file would say of its own making: nothing, so that equal pictures are equal files."""
DPI, MOST_POINTS = 160, 65_000
"""Points of an inch, fewer where a side would have more than matplotlib can draw, which are 2¹⁶."""
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
    """Contribution to the output of each term (downwards) at each token (across): a map, folded where it is long."""
    top = _largest(contributions)
    largest = np.full((len(names), 1), top)
    return _folded(path, title, names, tokens, contributions, "contribution", largest=largest, top=top, summed=True)


def picture_of_text(
    path: Path, title: str, tokens: Sequence[str], contributions: np.ndarray, depths: Sequence[str]
) -> Path:
    """Contribution of each token (across) as the state of each depth (downwards): a map, folded where it is long.

    Its rows add up to the output but for biases; its columns are the same token at different depths, of which there is
    no sum.  Each depth has a scale of its own, beside its name: that of the embedding may be a thousandth of the last.
    """
    largest = np.array([[_largest(row)] for row in contributions])
    names = [f"{depth}, ±{size:.2g}" for depth, (size,) in zip(depths, largest, strict=True)]
    label = "contribution over the largest of its depth"
    return _folded(path, title, names, tokens, contributions, label, largest=largest, top=1.0, summed=False)


def _folded(
    path: Path,
    title: str,
    names: Sequence[str],
    tokens: Sequence[str],
    numbers: np.ndarray,
    label: str,
    *,
    largest: np.ndarray,
    top: float,
    summed: bool,
) -> Path:
    """Maps of some tokens below each other, of one scale; the last one has the sums of the rows.

    largest: of each row, (rows, 1).  top: what the scale of the colours has for it.
    """
    rows, tokens = [*names, "sum"] if summed else [*names], [as_read(token) for token in tokens]
    parts = [slice(start, start + ACROSS) for start in range(0, len(tokens), ACROSS)]
    width, height = 3.6 + 0.42 * min(len(tokens) + 1, ACROSS), (1.1 + 0.3 * len(rows)) * len(parts)
    figure, panels = new_figure(width, 0.6 + height, title, len(parts))
    sums, scale = numbers.sum(axis=1), np.vstack([largest, largest[:1]])
    for axes, part in zip(np.atleast_1d(panels), parts, strict=True):  # type: ignore[arg-type]
        last, shown, words = part is parts[-1], numbers[:, part], list(tokens[part])
        if last:
            shown, words = np.column_stack([shown, sums]), [*words, "sum"]
        if summed:
            shown = np.vstack([shown, shown.sum(axis=0)])
        sides = (len(names) if summed else None, len(words) - 1 if last else None)
        image = _signed(axes, shown, scale[: len(shown)], sides, numbers.size <= MOST_NUMBERS, top)
        axes.set_xlim(-0.5, min(len(tokens) + 1, ACROSS + 1) - 0.5)
        _ticks(axes, "x", words)
        _ticks(axes, "y", rows)
    below: Any = {"location": "bottom", "shrink": 0.5, "aspect": 40, "pad": 0.005} if len(parts) > 1 else {"aspect": 30}
    figure.colorbar(image, ax=panels, label=label, **below)
    return save(figure, path)


def picture_of_contributions(path: Path, title: str, names: Sequence[str], contributions: np.ndarray) -> Path:
    """What each term adds to the output as a bar to the right or to the left, and their sum."""
    figure, axes = new_figure(6.4, 1.4 + 0.28 * (len(names) + 1), title)
    values = [*contributions, float(np.sum(contributions))]
    colours = [SIGNED[2] if x > 0 else SIGNED[0] for x in values[:-1]] + ["#666666"]
    bars = axes.barh(range(len(values)), values, color=colours, edgecolor="black", linewidth=0.6)
    axes.bar_label(bars, fmt="%+.3g", fontsize=7, padding=2)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.margins(x=0.15)
    axes.invert_yaxis()
    _ticks(axes, "y", [*names, "sum"])
    axes.set_xlabel("contribution")
    return save(figure, path)


def picture_of_map(
    path: Path, title: str, rows: Sequence[str], columns: Sequence[str], numbers: np.ndarray, label: str
) -> Path:
    """Signed numbers with the sums of rows and columns, which have no colour; NaN is an empty cell."""
    figure, axes = new_figure(2.8 + 0.5 * (len(columns) + 1), 1.8 + 0.3 * (len(rows) + 1), title)
    _summed_map(figure, axes, rows, columns, numbers, label)
    return save(figure, path)


def picture_of_similarity(path: Path, title: str, names: Sequence[str], contributions: np.ndarray) -> Path:
    """Contribution to the cosine of each pair of terms, the first text downwards, the second across: a map."""
    side = 2.3 + 0.5 * len(names)
    figure, axes = new_figure(side + 1.2, side, title)
    _summed_map(figure, axes, names, names, contributions, "contribution to the cosine")
    axes.set_ylabel("first text")
    axes.set_xlabel("second text")
    return save(figure, path)


def picture_of_parameters(path: Path, title: str, names: Sequence[str], changes: np.ndarray) -> Path:
    """How much each parameter (across) of each layer (downwards) changes with the input: 0 is static."""
    figure, axes = new_figure(2.8 + 0.6 * len(names), 1.6 + 0.32 * len(changes), title)
    _map(figure, axes, changes, "relative change with the input")
    _ticks(axes, "x", names, upright=True)
    _ticks(axes, "y", [f"layer {j}" for j in range(1, len(changes) + 1)])
    return save(figure, path)


def picture_of_errors(path: Path, title: str, errors: Mapping[str, Sequence[float]]) -> Path:
    """The error of each form in ULP against the depth: lines."""
    figure, axes = new_figure(5.2, 3.4, title)
    for i, (form, values) in enumerate(errors.items()):
        style = {"color": OKABE_ITO[i], "marker": MARKERS[i], "linestyle": STYLES[i % len(STYLES)]}
        axes.plot(range(1, len(values) + 1), values, label=form, **style)  # type: ignore[arg-type]
    axes.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    axes.set_ylim(bottom=0)
    axes.set_xlabel("depth $j$ of $x_j$")
    axes.set_ylabel("largest error in ULP")
    axes.legend(frameon=False)
    return save(figure, path)


def new_figure(width: float, height: float, title: str, panels: int = 1) -> tuple[Figure, Axes]:
    """A figure of inches at most as wide as a screen, its whole title in as many lines as that takes, and its axes.

    Without pyplot, whose figures would pile up.
    """
    check_pictures()
    from matplotlib.figure import Figure

    width = min(width, 40)
    lines = textwrap.wrap(title, max(24, int(width * 11)), drop_whitespace=True)
    figure = Figure(figsize=(width, height + 0.16 * max(len(lines) - 1, 0)), layout="constrained")
    axes = figure.subplots(panels, 1)
    np.atleast_1d(axes)[0].set_title("\n".join(lines), fontsize=9, parse_math=False)
    return figure, axes


def _largest(numbers: np.ndarray) -> float:
    return float(np.nanmax(np.abs(numbers))) or 1.0


def _summed_map(
    figure: Figure, axes: Axes, rows: Sequence[str], columns: Sequence[str], numbers: np.ndarray, label: str
) -> None:
    """The numbers, their sums at the right and below, and the scale."""
    right = np.column_stack([numbers, np.nansum(numbers, axis=1)])
    whole = np.vstack([right, np.nansum(right, axis=0)])
    top, sides = _largest(numbers), (len(rows), len(columns))
    image = _signed(axes, whole, np.full((len(whole), 1), top), sides, numbers.size <= MOST_NUMBERS, top)
    figure.colorbar(image, ax=axes, label=label)
    _ticks(axes, "x", [*columns, "sum"])
    _ticks(axes, "y", [*rows, "sum"])


def _signed(
    axes: Axes,
    values: np.ndarray,
    largest: np.ndarray,
    sums: tuple[int | None, int | None],
    written: bool,
    top: float,
) -> Any:
    """Cells white at zero, coloured up to ±largest; the row and the column of sums are grey, their numbers written.

    largest: of each row, (rows, 1).  top: what the scale of the colours has for it.  Less than half a percent of the
    largest entry is written as 0.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("signed", SIGNED).with_extremes(bad="#EEEEEE")
    row, column = sums
    is_sum = np.zeros(values.shape, bool)
    if row is not None:
        is_sum[row] = True
    if column is not None:
        is_sum[:, column] = True
    inside = np.ma.masked_where(is_sum | np.isnan(values), values / largest * top)
    image = axes.imshow(inside, cmap=colours, vmin=-top, vmax=top, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        if np.isnan(value) or not (written or is_sum[i, j]):
            continue
        share = value / largest[i, 0]
        number = f"{value:.2g}" if is_sum[i, j] or abs(share) >= 1 / 200 else "0"
        red, green, blue, _ = (0.93,) * 3 + (1,) if is_sum[i, j] else colours(0.5 + share / 2)
        dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.55
        axes.text(
            j, i, number, ha="center", va="center", fontsize=6 if written else 5, color="white" if dark else "black"
        )
    return image


def _map(figure: Figure, axes: Axes, values: np.ndarray, label: str) -> None:
    """Cells of cividis from 0 on with their numbers, where these can be read."""
    largest = float(np.max(np.abs(values))) or 1.0
    image = axes.imshow(values, cmap=MAP, vmin=0, vmax=largest, aspect="auto")
    figure.colorbar(image, ax=axes, label=label)
    if values.size > MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(values):
        colour = "black" if value > largest / 2 else "white"
        axes.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize=6, color=colour)


def _ticks(axes: Axes, axis: str, labels: Sequence[str], *, upright: bool = False) -> None:
    """A name at every cell, none of them read as a formula."""
    turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if axis == "x" and not upright else {}
    set_ticks = axes.set_xticks if axis == "x" else axes.set_yticks
    set_ticks(range(len(labels)), labels, fontsize=8, parse_math=False, **turned)


def save(figure: Figure, path: Path) -> Path:
    """Write a picture and return its path; equal pictures give equal files, without date and random names.

    Raises `InputError` for a suffix that is none of `SUFFIXES`, and for a folder that cannot be written.
    """
    import matplotlib

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"got the picture {path.name}, wanted a name that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        )
    metadata = METADATA[path.suffix]
    with matplotlib.rc_context({"svg.hashsalt": "uat_jax", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a word in a script that no font here has: a box
        try:
            figure.savefig(path, dpi=min(DPI, MOST_POINTS / max(figure.get_size_inches())), metadata=metadata)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}; choose a folder that can be written") from None
    return path
