"""The table of a benchmark: what was asked, what each program took, its ratio to the baseline, and how it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from uat_jax.bench.case import Case
from uat_jax.bench.growth import Growth
from uat_jax.bench.measure import Row

NOTHING = "—"
COLUMNS = ("program", "time", "ratio", "aim", "trace + compile", "rate", "of products", "of copies", "memory")


def described(found: Mapping[str, Any]) -> str:
    """One line: device and versions."""
    where = f"{found['device']} ({found['platform']} × {found['devices']}, {found['machine']}, {found['cores']} cores)"
    versions = [f"{name} {found[name]}" for name in ("python", "jax", "uat_jax")]
    return ", ".join([where, *versions, f"commit {found['commit']}", f"{found['effort']} sizes"])


def show_case(console: Console, case: Case, rows: Sequence[Row], growths: Sequence[Growth]) -> None:
    """The question, one block of rows per size, and the exponents; a column that says nothing is left out."""
    console.print(f"\n[bold]{case.name}[/bold]  {case.question}", highlight=False)
    told = [i for i in range(len(COLUMNS)) if any(cells(row)[i] not in ("", NOTHING) for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i in told:
        table.add_column(COLUMNS[i], justify="left" if i == 0 else "right", no_wrap=i > 0, overflow="fold")
    for size, block in groupby(rows, key=lambda row: row.size):
        table.add_row(f"[italic]{written(size)}[/italic]")
        for row in block:
            table.add_row(*(cells(row)[i] for i in told))
        table.add_section()
    console.print(table, highlight=False)
    for growth in growths:
        console.print(f"  {sentence(growth)}", highlight=False)


def cells(row: Row) -> tuple[str, ...]:
    """The row's columns; a dash where there is nothing to say."""
    compiled = None if row.trace is None or row.compile is None else duration(row.trace + row.compile)
    rate = None if row.operations is None else f"{row.operations / row.seconds / 1e9:.3g} GFLOP/s"
    return (
        f"  {row.program}",
        spread(row.seconds, row.low, row.high),
        "1" if row.program == row.baseline else f"{row.ratio:.3g} ({row.ratio_low:.3g} … {row.ratio_high:.3g})",
        aim(row),
        compiled or NOTHING,
        rate or NOTHING,
        share(row.share_of_products),
        share(row.share_of_copies),
        NOTHING if row.memory is None else size_of(row.memory),
    )


def aim(row: Row) -> str:
    """What is aimed at, and whether it was reached."""
    aims = [f"≤ {row.limit:.3g}"] if row.limit is not None else []
    aims += [f"compile {row.compile_ratio:.2g} ≤ {row.compile_limit:.3g}"] if row.compile_limit is not None else []
    aims += [f"≥ {row.least_share:.0%} of products"] if row.least_share is not None else []
    return f"{', '.join(aims)} {'met' if row.met else 'MISSED'}" if aims else ""


def written(size: Mapping[str, Any]) -> str:
    """depth 6, width 64, float32."""
    return ", ".join(str(value) if name == "dtype" else f"{name} {value}" for name, value in size.items())


def sentence(growth: Growth) -> str:
    """How one program grows."""
    where = f" ({written(growth.fixed)})" if growth.fixed else ""
    first, last = growth.at[-3], growth.at[-1]
    return f"{growth.program}: time ~ {growth.axis}^{growth.exponent:.2f} from {first:g} to {last:g}{where}"


def spread(median: float, low: float, high: float) -> str:
    """Median and quartiles, in the unit of the median."""
    factor, unit = _unit(median)
    return f"{median * factor:.3g} ({low * factor:.3g} … {high * factor:.3g}) {unit}"


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    factor, unit = _unit(seconds)
    return f"{seconds * factor:.3g} {unit}"


def _unit(seconds: float) -> tuple[float, str]:
    return (1.0, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")


def share(part: float | None) -> str:
    """A share as per cent."""
    return NOTHING if part is None else f"{part:.0%}"


def size_of(memory: float) -> str:
    """Bytes in the largest unit of which there is one: KiB, MiB, GiB."""
    unit, name = next(((2**n, name) for n, name in ((30, "GiB"), (20, "MiB")) if memory >= 2**n), (2**10, "KiB"))
    return f"{memory / unit:.3g} {name}"
