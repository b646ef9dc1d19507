"""``uat-jax bench``: what each form costs, what a proof costs, and how it grows.

Exit codes: 0 every case gave its figures, 1 a program gave a wrong answer or a case named could not run here,
2 unusable input.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
from rich.console import Console

from uat_jax.bench.ahead_of_time import compile_for
from uat_jax.bench.case import Case, UnavailableError, WrongAnswerError
from uat_jax.bench.environment import environment
from uat_jax.bench.foresight import check_memory, out_of_memory
from uat_jax.bench.growth import Growth, growths
from uat_jax.bench.measure import Row, measure
from uat_jax.bench.record import as_line
from uat_jax.bench.registry import chosen, entry_names, every_case, with_entries
from uat_jax.cli.options import console, working
from uat_jax.decide.certificate import check_writable, write_atomically
from uat_jax.devices import DEVICES, on_device
from uat_jax.errors import InputError, MemoryLimitError
from uat_jax.report.ahead_of_time import show_ahead_of_time
from uat_jax.report.benchmark import described, show_case, written
from uat_jax.report.benchmark_pictures import picture_of_growth, picture_of_roofline
from uat_jax.report.pictures import check_pictures

QUICK_ROUNDS = 1
JSON_NAME, ROOFLINE_NAME = "benchmarks.jsonl", "roofline.svg"


def add_bench(bench: Any) -> None:
    """The options of ``uat-jax bench``."""
    bench.add_argument("cases", nargs="*", metavar="CASE", help="default: all; --list names them")
    bench.add_argument(
        "--aot",
        metavar="TOPOLOGY",
        help="compile kernels (the CASEs are their names) for an accelerator that is not here",
    )
    effort = bench.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="tiny sizes: does it work?")
    effort.add_argument("--full", action="store_true", help="all sizes, for a report")
    bench.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an entry of all sizes: width=512, repeatable"
    )
    bench.add_argument("--list", action="store_true", help="name the cases and their questions")
    bench.add_argument("--device", help=f"one of {', '.join(DEVICES)}; default: JAX's own choice")
    bench.add_argument("--json", metavar="FILE", help="write one line of JSON per program and size")
    bench.add_argument("--out", metavar="DIR", help="write the lines of JSON, growth plots and a roofline there")
    bench.set_defaults(run=lambda options: _bench(options, console()))


def _bench(options: argparse.Namespace, console: Console) -> int:
    if options.list:
        cases = every_case()
        longest = max(map(len, cases))
        for name, case in cases.items():
            console.print(f"{name:{longest}}  {case.question}", highlight=False)
        return 0
    if options.aot:
        return _compile_ahead_of_time(options, console)
    cases = [with_entries(case, options.set) for case in chosen(options.cases)]
    files = [Path(options.json)] if options.json else []
    if options.out:
        check_pictures()
        files.append(Path(options.out) / JSON_NAME)
    for file in files:
        check_writable(file)
    effort = "quick" if options.quick else "full" if options.full else "standard"
    with on_device(options.device), _compiling_anew():
        for case in cases if options.set else ():
            for size in getattr(case, effort):
                check_memory(case, size, entry_names(options.set))
        return _run(console, cases, effort, bool(options.cases), files, options.out and Path(options.out))


def _compile_ahead_of_time(options: argparse.Namespace, console: Console) -> int:
    """The kernels compiled for a topology; the exit code is 1 if a compiler failed."""
    if options.set or options.device or options.out or options.quick or options.full:
        raise InputError("--aot goes with names of kernels and --json only")
    if options.json:
        check_writable(Path(options.json))
    with working(f"compiling for {options.aot}") as status:
        tell = lambda row: status.update(f"{options.aot}: {row.kernel} is done")
        rows = compile_for(options.aot, options.cases, progress=tell)
    show_ahead_of_time(console, rows)
    if options.json:
        write_atomically(
            Path(options.json), "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
        )
    return 1 if any(row.reason and not row.refused for row in rows) else 0


def _run(
    console: Console, cases: Sequence[Case], effort: str, named: bool, files: Sequence[Path], folder: Path | None
) -> int:
    """All cases one after the other, what is known written after each size; the exit code."""
    found = environment(effort)
    console.print(described(found), style="dim", highlight=False)
    rows: list[Row] = []
    failed = False

    def keep(more: Sequence[Row]) -> None:
        rows.extend(more)
        for file in files:
            write_atomically(file, "".join(as_line(row, found) for row in rows))

    for case in cases:
        own, wrong = _run_case(console, case, effort, keep)
        failed |= wrong or (named and not own)
    keep(())  # so that there is a file, even if no case gave a figure
    if folder:
        _draw(folder, cases, rows)
    return 1 if failed else 0


def _run_case(
    console: Console, case: Case, effort: str, keep: Callable[[Sequence[Row]], None]
) -> tuple[list[Row], bool]:
    """The rows of all sizes, kept as they come and printed; and whether an answer was wrong."""
    rows: list[Row] = []
    wrong, quick = False, effort == "quick"
    rounds = QUICK_ROUNDS if quick else case.rounds
    for size in getattr(case, effort):
        with working(f"{case.name}: {written(size)}"):
            try:
                with out_of_memory("it"):
                    found = measure(case, size, rounds=rounds, quick=quick)
                rows += found
                keep(found)
            except (UnavailableError, MemoryLimitError) as error:
                console.print(f"{case.name}, {written(size)}: not run: {error}", highlight=False)
            except WrongAnswerError as error:
                console.print(f"[bold red]{case.name}, {written(size)}: no time for a wrong answer:[/] {error}")
                wrong = True
    if rows:
        show_case(console, case, rows, list(growths(rows, case.axes)))
    return rows, wrong


@contextlib.contextmanager
def _compiling_anew() -> Iterator[None]:
    """Compile times are measured: nothing may come from an earlier run."""
    kept = jax.config.values["jax_enable_compilation_cache"]
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", kept)


def _draw(folder: Path, cases: Sequence[Case], rows: Sequence[Row]) -> None:
    """One growth plot for each case and axis, and the roofline of the programs that have shares."""
    for case in cases:
        found: list[Growth] = list(growths([row for row in rows if row.case == case.name], case.axes))
        for axis in dict.fromkeys(growth.axis for growth in found):
            along = [growth for growth in found if growth.axis == axis]
            picture_of_growth(folder / f"{case.name}-{axis}.svg", case, along)
    if any(row.share_of_products and row.share_of_copies for row in rows):
        picture_of_roofline(folder / ROOFLINE_NAME, rows)
