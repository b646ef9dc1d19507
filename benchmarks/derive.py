"""How does deriving and proving the closed form grow with depth?

    python benchmarks/derive.py [--quick] [--json]

For each kind of network and depth L: the answer is checked first (the closed form must have the network's
normal form, a closed form with one letter missing must not), and only then are `uat_jax.derive` and
`Derivation.holds` timed, one after the other, several times.  (Letters are kept for the life of a process,
so these are warm times; cold_start.py has cold ones.)  SymPy's own noncommutative `expand` decides the same
identity in the same run, with σ as a function and with every σ(…) replaced by a symbol of its own, as far as
it gets in three seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import sympy

import uat_jax as uj
from uat_jax.symbolic.derivation import Derivation
from uat_jax.symbolic.program import Program

try:
    from benchmarks.machine import machine
except ImportError:  # started as a script
    from machine import machine

KINDS = ("residual", "transformer")
DEPTHS, QUICK_DEPTHS = (6, 12, 24, 48, 96), (2, 4)
RUNS, QUICK_RUNS, BASELINE_RUNS = 7, 2, 3
BASELINE_LIMIT = 3.0
"""Seconds after which a run of a baseline is stopped."""


class WrongAnswerError(Exception):
    """A computation whose answer is wrong has no time."""


@dataclass(frozen=True)
class Timing:
    """Seconds of several runs; ``spread`` is the distance between the quartiles."""

    median: float
    spread: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Timing:
        """The summary of at least two runs."""
        low, _, high = statistics.quantiles(seconds, n=4, method="inclusive")
        return cls(statistics.median(seconds), high - low)

    def __str__(self) -> str:
        return f"{self.median:.4f} ± {self.spread:.4f}"


# --- the question --------------------------------------------------------------------------------


def check(derivation: Derivation) -> None:
    """Raise `WrongAnswerError` unless the closed form is accepted and one with a bias missing is refused."""
    if not derivation.holds():
        raise WrongAnswerError(f"{derivation.kind}, L = {derivation.depth}: the closed form was not accepted")
    if without_bias(derivation).holds():
        raise WrongAnswerError(f"{derivation.kind}, L = {derivation.depth}: a wrong closed form was accepted")


def without_bias(derivation: Derivation) -> Derivation:
    """The derivation with c_j forgotten in b̂_{j,3} = A_j b̂_{j-1,3} + c_j of a middle layer; L ≥ 2."""
    closed, j = derivation.closed, derivation.depth // 2 + 1
    lines = {**derivation.parameters.lines, closed.b3(j): derivation.layers.A(j) @ closed.b3(j - 1)}
    return replace(derivation, parameters=Program(lines, derivation.parameters.result))  # type: ignore[arg-type]


def time_derivation(kind: str, depth: int, runs: int) -> dict[str, Any]:
    """Check, then time ``derive`` and ``holds``."""
    check(uj.derive(kind, depth=depth))
    deriving, proving = [], []
    for _ in range(runs):
        start = time.perf_counter()
        derivation = uj.derive(kind, depth=depth)
        derived = time.perf_counter()
        right = derivation.holds()
        deriving.append(derived - start)
        proving.append(time.perf_counter() - derived)
        if not right:
            raise WrongAnswerError(f"{kind}, L = {depth}: a timed run gave the wrong answer")
    total = [a + b for a, b in zip(deriving, proving, strict=True)]
    return {"derive": Timing.of(deriving), "holds": Timing.of(proving), "total": Timing.of(total)}


# --- SymPy alone ---------------------------------------------------------------------------------


class Sigma(sympy.Function):
    """σ as a noncommutative function."""

    is_commutative = False


class NamedSigmas(dict):
    """σ(argument) as a noncommutative symbol of its own, one for each expanded argument."""

    def __call__(self, argument: sympy.Expr) -> sympy.Expr:
        """The symbol for σ(argument)."""
        return self.setdefault(sympy.expand(argument), sympy.Symbol(f"s{len(self)}", commutative=False))


def expand_all(argument: sympy.Expr) -> sympy.Expr:
    """σ of the expanded argument, written out."""
    return Sigma(sympy.expand(argument))  # type: ignore[return-value]


BASELINES: dict[str, Callable[[], Callable[[Any], sympy.Expr]]] = {
    "SymPy expand": lambda: expand_all,
    "SymPy expand, named σ": NamedSigmas,
}


def by_expand(kind: str, depth: int, sigma: Callable[[Any], sympy.Expr], *, forget: int = 0) -> bool:
    """Whether SymPy's expand finds x_L = closed form; layer ``forget`` of the closed form lacks its b_j."""
    letter = lambda name, j: sympy.Symbol(f"{name}_{j}", commutative=False)
    x_0 = letter("x", 0)
    x, P, q, terms = x_0, sympy.Integer(1), sympy.Integer(0), []
    for j in range(1, depth + 1):
        A, B, C, b, c = (letter(name, j) for name in "ABCbc")
        inner = B if kind == "residual" else B * A
        x = sympy.expand(A * x + c + C * sigma(inner * x + b))
        u = sympy.Add(*(W * s for W, s in terms))
        s = sigma(inner * P * x_0 + inner * q + inner * u + (0 if j == forget else b))
        P, q, terms = A * P, A * q + c, [(A * W, s) for W, s in terms] + [(C, s)]
    return sympy.expand(x - (P * x_0 + q + sympy.Add(*(W * s for W, s in terms)))) == 0


def time_baseline(kind: str, depth: int, sigma: Callable[[], Callable[[Any], sympy.Expr]], runs: int) -> Timing:
    """Check, then time one baseline; SymPy's cache is cleared before each run.

    Raises `TimeoutError` as soon as one run takes longer than `BASELINE_LIMIT`.
    """
    decide = lambda forget=0: by_expand(kind, depth, sigma(), forget=forget)
    right, seconds = [], []
    with_limit(lambda: right.append(decide() and not decide(forget=depth // 2 + 1)), 2 * BASELINE_LIMIT)
    for _ in range(runs):
        sympy.core.cache.clear_cache()  # type: ignore[attr-defined]
        start = time.perf_counter()
        with_limit(lambda: right.append(decide()), BASELINE_LIMIT)
        seconds.append(time.perf_counter() - start)
    if not all(right):
        raise WrongAnswerError(f"SymPy's expand gives the wrong answer for {kind}, L = {depth}")
    return Timing.of(seconds)


def with_limit(work: Callable[[], object], seconds: float) -> None:
    """Do the work, or raise `TimeoutError` after so many seconds."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- the report ----------------------------------------------------------------------------------


def measure(kind: str, depths: Sequence[int], runs: int) -> list[dict[str, Any]]:
    """One row per depth; a baseline that was stopped is not asked for a greater depth."""
    rows, running = [], dict(BASELINES)
    for depth in depths:
        row: dict[str, Any] = {"kind": kind, "depth": depth, **time_derivation(kind, depth, runs)}
        for name, sigma in tuple(running.items()):
            try:
                row[name] = time_baseline(kind, depth, sigma, min(runs, BASELINE_RUNS))
            except TimeoutError:
                del running[name]
        rows.append(row)
    return rows


def exponent(rows: Sequence[dict[str, Any]]) -> float:
    """The slope of log(total) over log(L) at the last three depths (24 to 96), by least squares."""
    points = [(math.log(row["depth"]), math.log(row["total"].median)) for row in rows[-3:]]
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def show(rows: Sequence[dict[str, Any]]) -> None:
    """The rows of one kind as a table; ratios are to the total of the same row."""
    print(f"\n{rows[0]['kind']}: seconds, median ± distance between the quartiles")
    print(f"{'L':>4} {'derive':>17} {'holds':>17} {'total':>17}" + "".join(f"{name:>30}" for name in BASELINES))
    for row in rows:
        cells = "".join(f"{_ratio(row.get(name), row['total']):>30}" for name in BASELINES)
        print(f"{row['depth']:>4} {row['derive']!s:>17} {row['holds']!s:>17} {row['total']!s:>17}{cells}")
    if len(rows) > 2:
        print(f"growth: total ~ L^{exponent(rows):.2f} from L = {rows[-3]['depth']} to L = {rows[-1]['depth']}")


def _ratio(baseline: Timing | None, total: Timing) -> str:
    return "—" if baseline is None else f"{baseline.median:.4f} ({baseline.median / total.median:.0f} times)"


def as_json(rows: Sequence[dict[str, Any]]) -> str:
    """One line."""
    plain = [{k: asdict(v) if isinstance(v, Timing) else v for k, v in row.items()} for row in rows]
    return json.dumps({"benchmark": "derive", **machine(), "rows": plain}, ensure_ascii=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small depths, few runs: does it work?")
    parser.add_argument("--json", action="store_true", help="print one line of JSON as well")
    options = parser.parse_args(arguments)
    depths, runs = (QUICK_DEPTHS, QUICK_RUNS) if options.quick else (DEPTHS, RUNS)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    everything = []
    for kind in KINDS:
        rows = measure(kind, depths, runs)
        show(rows)
        everything += rows
    if options.json:
        print(as_json(everything))


if __name__ == "__main__":
    main()
