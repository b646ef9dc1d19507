"""What does a product of matrices modulo a 50-bit prime cost, against float64 and against FLINT?

    python benchmarks/field_matmul.py [--quick] [--json]

For each n the product of two random n × n matrices is first compared, entry by entry, with python-flint's `nmod_mat`,
and one with a wrong entry must be found to be different; then this package, NumPy's float64 product and FLINT are
timed in turns.  The first call of a size is timed apart, because large products are compiled.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from flint import nmod_mat

from uat_jax.arithmetic.prime_field import PrimeField

try:
    from benchmarks.machine import machine
except ImportError:  # started as a script
    from machine import machine

PRIME = (1 << 50) - 27
SIZES, QUICK_SIZES = (64, 128, 256, 512, 1024), (4, 16)
RUNS, QUICK_RUNS = 7, 2
BASELINE = "float64"


class WrongAnswerError(Exception):
    """A product that is wrong has no time."""


def check(product: np.ndarray, a: nmod_mat, b: nmod_mat) -> None:
    """Raise `WrongAnswerError` unless the product is FLINT's, and one with a wrong entry is not."""
    n = len(product)
    as_flint = lambda array: nmod_mat(n, n, array.ravel().tolist(), PRIME)
    right, wrong = a * b, product.copy()
    wrong[n // 2, -1] = (wrong[n // 2, -1] + 1) % PRIME
    if as_flint(product) != right:
        raise WrongAnswerError(f"n = {n}: the product is not FLINT's")
    if as_flint(wrong) == right:
        raise WrongAnswerError(f"n = {n}: a product with a wrong entry was accepted")


def measure(n: int, runs: int) -> dict[str, Any]:
    """Check, then seconds of every run of the three, which take turns."""
    generator = np.random.default_rng(n)
    a, b = (generator.integers(0, PRIME, (n, n)) for _ in range(2))
    x, y, u, v = (
        a.astype(np.float64),
        b.astype(np.float64),
        *(nmod_mat(n, n, m.ravel().tolist(), PRIME) for m in (a, b)),
    )
    field = PrimeField(PRIME)
    start = time.perf_counter()
    product = field.matmul(a, b)
    first = time.perf_counter() - start
    check(product, u, v)
    works: Mapping[str, Callable[[], Any]] = {
        BASELINE: lambda: np.matmul(x, y),
        "this package": lambda: field.matmul(a, b),
        "FLINT": lambda: u * v,
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return {"n": n, "first": first, "seconds": seconds}


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Milliseconds, median; ratios to float64 in the same row."""
    print(f"\n{'ms':>6}{'first':>10}{BASELINE:>12}{'this package':>26}{'FLINT':>26}")
    for row in rows:
        median = {name: 1e3 * statistics.median(values) for name, values in row["seconds"].items()}
        ratio = lambda name: f"{median[name]:.2f} ({median[name] / median[BASELINE]:.1f} times)"  # noqa: B023
        cells = f"{median[BASELINE]:12.2f}{ratio('this package'):>26}{ratio('FLINT'):>26}"
        print(f"{row['n']:>6}{1e3 * row['first']:>10.1f}{cells}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small matrices, few runs: does it work?")
    parser.add_argument("--json", action="store_true", help="print one line of JSON as well")
    options = parser.parse_args(arguments)
    sizes, runs = (QUICK_SIZES, QUICK_RUNS) if options.quick else (SIZES, RUNS)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    rows = [measure(n, runs) for n in sizes]
    show(rows)
    if options.json:
        print(json.dumps({"benchmark": "field_matmul", **machine(), "rows": rows}, ensure_ascii=False))


if __name__ == "__main__":
    main()
