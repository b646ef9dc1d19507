"""What `certify` takes for models of many layers in two writings, in ratio to plain work on the same machine.

python benchmarks/certify_models.py                    # every row
python benchmarks/certify_models.py "12 x 64"          # some of them

Each row runs in a process of its own, whose largest memory is given.  Processor time is given in *loops*, of which each
is a Python loop of 10⁷ additions at the top level of a module, in the same process, and in *passes*, of which each is
one compiled float32 forward pass of both sides.  The verdict is compared with the expected one before the time counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decoder_writings import Size, by_parts, decoder, fused

from uat_jax.bench.additions import additions

PASSES = 5
PLANTED = 2.0**-20
"""Relative error of one weight of one layer."""


@dataclass(frozen=True)
class Row:
    """Two models that are compared.

    rewritten: the layers that the second model has in the other writing; None for all of them.  planted: the layer in
    which one weight is wrong, or None.
    """

    size: Size
    rewritten: tuple[int, ...] | None = None
    planted: int | None = None

    @property
    def name(self) -> str:
        """Layers x width, and what is special."""
        special = "" if self.rewritten is None else ", one rewritten" if self.size.layers > 1 else ", alone"
        return f"{self.size.layers} x {self.size.width}{special}{'' if self.planted is None else ', one wrong weight'}"

    @property
    def expected(self) -> str:
        """The verdict."""
        return "CERTIFIED" if self.planted is None else "REFUTED"

    def sides(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Both models as functions of the weights and the input."""
        count, heads = self.size.layers, self.size.heads
        changed = range(count) if self.rewritten is None else self.rewritten
        right = decoder([by_parts if i in changed else fused for i in range(count)], heads)

        def wrong(weights: Any, x: Any) -> Any:
            moved = [dict(w) for w in weights]
            moved[self.planted or 0]["up"] = moved[self.planted or 0]["up"].at[1, 2].mul(1 + PLANTED)
            return right(moved, x)

        return decoder([fused] * count, heads), right if self.planted is None else wrong


ROWS = [
    Row(Size(12, 64, 4)),
    Row(Size(24, 64, 4)),
    Row(Size(12, 256, 4)),
    Row(Size(12, 768, 12)),
    Row(Size(1, 768, 12)),
    Row(Size(1, 64, 4), (0,)),
    Row(Size(100, 64, 4), (50,)),
    Row(Size(1, 256, 4), (0,)),
    Row(Size(100, 256, 4), (50,)),
    Row(Size(4, 64, 4), planted=2),
]


def measured(row: Row) -> dict[str, Any]:
    """The verdict, the processor and wall time, the memory and the two units, in this process."""
    import jax
    import jax.numpy as jnp

    import uat_jax

    left, right = row.sides()
    weights, x = row.size.specs
    start, cpu = time.perf_counter(), time.process_time()
    found = uat_jax.certify(left, right, weights, x)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # before arrays of the units exist
    if str(found.verdict) != row.expected:
        raise SystemExit(f"{row.name}: {found.verdict}, wanted {row.expected}: {found}")
    start = time.process_time()
    additions()
    loop = time.process_time() - start
    arrays = jax.tree.map(lambda spec: jnp.full(spec.shape, 0.01, spec.dtype), (weights, x))
    compiled = [jax.jit(f).lower(*arrays).compile() for f in (left, right)]
    jax.block_until_ready([f(*arrays) for f in compiled])
    start = time.process_time()
    for _ in range(PASSES):
        jax.block_until_ready([f(*arrays) for f in compiled])
    forward = (time.process_time() - start) / PASSES
    (evidence, *_) = [e for e in found.evidence if str(e.verdict) == row.expected]
    return {
        "name": row.name,
        "verdict": str(found.verdict),
        "theorem": bool(getattr(evidence.figures, "theorem", False)),
        "seconds": wall,
        "loops": cpu / loop,
        "passes": cpu / forward,
        "gibibytes": memory / 2**30,
        "finding": evidence.finding,
    }


def described(figures: dict[str, Any]) -> str:
    """One line of the table."""
    kind = "a theorem" if figures["theorem"] else ""
    return (
        f"{figures['name']:28} {figures['verdict']:9} {kind:9} {figures['loops']:7.1f} loops {figures['passes']:9.0f} "
        f"passes {figures['seconds']:7.1f} s {figures['gibibytes']:5.2f} GiB"
    )


def main() -> None:
    """Measures every row in a process of its own, and prints a table."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(description="What certify takes for models of many layers in two writings.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of: {'; '.join(names)} (default: all)")
    parser.add_argument("--json", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.json is not None:
        (row,) = (row for row in ROWS if row.name == options.json)
        print(json.dumps(measured(row)))
        return
    if unknown := sorted(set(options.rows) - set(names)):
        parser.error(f"no row is called '{unknown[0]}'; the rows are: {'; '.join(names)}")
    for name in options.rows or names:
        command = [sys.executable, str(Path(__file__)), "--json", name]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        print(described(json.loads(run.stdout)), flush=True)


if __name__ == "__main__":
    main()
