"""Pictures of a benchmark: growth on logarithmic axes, and the roofline of the device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from uat_jax.bench.case import Case
from uat_jax.bench.growth import Growth
from uat_jax.bench.measure import Row
from uat_jax.report.benchmark import written
from uat_jax.report.pictures import MARKERS, OKABE_ITO, STYLES, new_figure, save


def picture_of_growth(path: Path, case: Case, growths: Sequence[Growth]) -> Path:
    """Seconds against one axis of the sizes, both logarithmic; the exponents stand in the legend."""
    figure, axes = new_figure(5.6, 3.6, f"{case.name}: {case.question}")
    for i, growth in enumerate(growths):
        colour, marker, line = OKABE_ITO[i % 8], MARKERS[i % 8], STYLES[i // 8 % 4]
        where = f", {written(growth.fixed)}" if growth.fixed else ""
        label = f"{growth.program}{where} ~ {growth.axis}^{growth.exponent:.2f}"
        axes.loglog(growth.at, growth.seconds, color=colour, marker=marker, linestyle=line, label=label)
    axes.set_xlabel(growths[0].axis)
    axes.set_ylabel("seconds of one call")
    axes.legend(frameon=False, fontsize=6)
    return save(figure, path)


def picture_of_roofline(path: Path, rows: Sequence[Row]) -> Path:
    """Operations per byte against the rate, both relative to the device's own.

    Above the roof lies what finds its arguments in the caches, and a product that the device likes better than that of
    large square matrices. The rate is the share of the rate of matrix products. The intensity is relative to the ridge,
    the operations per byte of arguments and output at which products and copies would take equally long: share of
    products over share of copies.
    """
    figure, axes = new_figure(5.6, 4.0, "roofline: how far each program is from the limit of the device")
    largest = lambda row: sum(v for v in row.size.values() if isinstance(v, int | float))
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.share_of_products and row.share_of_copies:
            best[row.case, row.program] = max(best.get((row.case, row.program), row), row, key=largest)
    for i, ((case, program), row) in enumerate(best.items()):
        assert row.share_of_products and row.share_of_copies
        style = {"color": OKABE_ITO[i % 8], "marker": MARKERS[i // 8 % 8], "linestyle": "none"}
        axes.loglog(
            row.share_of_products / row.share_of_copies, row.share_of_products, label=f"{case}: {program}", **style
        )
    intensity = [10 ** (k / 8) for k in range(-24, 25)]
    axes.loglog(intensity, [min(1.0, x) for x in intensity], color="black", linewidth=1.2)
    axes.set_xlabel("operations per byte, relative to the ridge")
    axes.set_ylabel("share of the rate of matrix products")
    axes.set_ylim(bottom=10 ** math.floor(math.log10(min([1e-2, *(r.share_of_products or 1 for r in best.values())]))))
    if best:
        axes.legend(frameon=False, fontsize=5, loc="lower right")
    return save(figure, path)
