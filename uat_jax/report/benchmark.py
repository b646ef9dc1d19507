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
PROGRAM = 32
"""The largest width of the first column."""
COLUMNS = (
    "program",
    "time",
    "ratio",
    "aim",
    "processor\n(ratio)",
    "rate\n(of products)",
    "trials",
    "memory",
    "trace +\ncompile",
    "bytes\n(of copies)",
)
"""The most important ones first: what does not fit on the screen is left out from the end."""
LEAST_COLUMNS = 3
WIDEST = 1000
"""Characters, more than any table has."""


def described(found: Mapping[str, Any]) -> str:
    """One line: device and versions."""
    device = f"{found['device']} × {found['devices']} ({found['platform']})"
    where = f"{device}, {found['processor']}, {found['cores']} cores, {found['date']}"
    versions = [f"{name} {found[name]}" for name in ("python", "jax", "uat_jax")]
    return ", ".join([where, *versions, f"commit {found['commit']}", f"{found['effort']} sizes"])


def show_case(console: Console, case: Case, rows: Sequence[Row], growths: Sequence[Growth]) -> None:
    """The question, one block of rows per size, and the exponents; a column that says nothing is left out."""
    console.print(f"\n[bold]{case.name}[/bold]  {case.question}", highlight=False)
    told = [i for i in range(len(COLUMNS)) if any(cells(row)[i] not in ("", NOTHING) for row in rows)]
    while len(told) > LEAST_COLUMNS and _natural_width(console, _table(rows, told)) > console.width:
        told.pop()
    console.print(_table(rows, told), highlight=False)
    for growth in growths:
        console.print(f"  {sentence(growth)}", highlight=False)


def _natural_width(console: Console, table: Table) -> int:
    """How many characters wide a table is if nothing shortens it."""
    return console.measure(table, options=console.options.update_width(WIDEST)).maximum


def _table(rows: Sequence[Row], told: Sequence[int]) -> Table:
    """These columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i in told:
        table.add_column(COLUMNS[i], justify="right" if i else "left", no_wrap=i > 0, max_width=None if i else PROGRAM)
    for size, block in groupby(rows, key=lambda row: row.size):
        table.add_row(f"[italic]{written(size)}[/italic]")
        for row in block:
            table.add_row(*(cells(row)[i] for i in told))
        table.add_section()
    return table


def cells(row: Row) -> tuple[str, ...]:
    """The row's columns; a dash where there is nothing to say."""
    compiled = None if row.trace is None or row.compile is None else duration(row.trace + row.compile)
    return (
        f"  {row.program}",
        spread(row) if row.rounds > 1 else duration(row.seconds),
        "1" if row.program == row.baseline else ratio(row),
        aim(row),
        processor(row),
        rate(row.operations, row.seconds, "GFLOP/s", row.share_of_products),
        NOTHING if row.trials is None else f"{number(row.trials / row.seconds)}/s",
        NOTHING if row.memory is None else size_of(row.memory),
        compiled or NOTHING,
        rate(row.bytes, row.seconds, "GB/s", row.share_of_copies),
    )


def rate(amount: float | None, seconds: float, unit: str, share: float | None) -> str:
    """In thousand millions a second, and as a share of what the device can do."""
    if amount is None:
        return NOTHING
    return f"{amount / seconds / 1e9:.3g} {unit}" + ("" if share is None else f" ({share:.0%})")


def ratio(row: Row) -> str:
    """Median and quartiles."""
    found = number(row.ratio)
    return f"{found} ({number(row.ratio_low)} … {number(row.ratio_high)})" if row.rounds > 1 else found


def processor(row: Row) -> str:
    """Seconds of the processor, and how often the baseline's."""
    if row.processor is None:
        return NOTHING
    if row.processor_ratio is None or row.program == row.baseline:
        return duration(row.processor)
    return f"{duration(row.processor)} ({number(row.processor_ratio)})"


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


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


def spread(row: Row) -> str:
    """Median and quartiles, in the unit of the median."""
    factor, unit = _unit(row.seconds)
    return f"{row.seconds * factor:.3g} ({row.low * factor:.3g} … {row.high * factor:.3g}) {unit}"


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    factor, unit = _unit(seconds)
    return f"{seconds * factor:.3g} {unit}"


def _unit(seconds: float) -> tuple[float, str]:
    return (1.0, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")


def size_of(memory: float) -> str:
    """Bytes in the largest unit of which there is one: KiB, MiB, GiB."""
    unit, name = next(((2**n, name) for n, name in ((30, "GiB"), (20, "MiB")) if memory >= 2**n), (2**10, "KiB"))
    return f"{memory / unit:.3g} {name}"
