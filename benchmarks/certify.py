"""What does it cost to certify a whole GPT-2, and how does that grow with depth, width and length?

    python benchmarks/certify.py [--quick] [--json] [--only DEPTHxWIDTHxLENGTH ...] [--limit SECONDS]

Two writings of one GPT-2 in plain JAX that share nothing but the layout of their weights, which are inputs: all heads
at once with masked rows and `jax.nn.softmax`, against one head and one row at a time with unshifted exponentials.
Two wrong twins (value and output weights swapped in the last layer; one weight larger by 2⁻³⁰) must be found to be
different, and the pair itself to agree, before anything is timed: a draw is both writings at one random point in four
copies of every prime field; certifying is as many draws and copies as the chance of error asks for.  Every size has a
process of its own, so that its peak of memory is its own, with limits on time and memory; where they are met, the
draw is all there is.  Ratios are to one float32 forward pass of both writings, jitted, compiled and warm.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.certify.prime_fields import PROBE, PrimeFields

try:
    from benchmarks.machine import machine
except ImportError:  # started as a script
    from machine import machine

HEADS, VOCABULARY, EPSILON = 4, 32, 1e-5
ERROR = -128.0
"""log₂ of the chance of error that is asked for."""
RUNS, PASSES = 3, 20
LIMIT, MEMORY = 120.0, 10 << 30
"""Seconds and bytes of address space that one size may take."""

Weights = Mapping[str, Any]


@dataclass(frozen=True)
class Size:
    """Layers, features and tokens of a GPT-2."""

    depth: int
    width: int
    length: int

    def __str__(self) -> str:
        return f"{self.depth}x{self.width}x{self.length}"

    @classmethod
    def read(cls, text: str) -> Size:
        """DEPTHxWIDTHxLENGTH."""
        return cls(*map(int, text.split("x")))


SIZES = tuple(
    Size(*size)
    for size in (
        *((depth, width, 8) for width in (64, 256) for depth in (1, 2, 6, 12)),  # growth with depth and width
        (2, 128, 8),
        (2, 64, 16),  # growth with length
        (2, 64, 32),
    )
)
QUICK = (Size(1, 8, 3), Size(2, 8, 3))


# --- the two writings -----------------------------------------------------------------------------


def shapes(size: Size) -> Weights:
    """The weights' shapes; qkv holds W_q, W_k, W_v next to each other, each with the heads next to each other."""
    D, vector, norm = size.width, (size.width,), {"gamma": (size.width,), "beta": (size.width,)}
    block = {
        "norm1": norm,
        "qkv": {"w": (D, 3 * D), "b": (3 * D,)},
        "out": {"w": (D, D), "b": vector},
        "norm2": norm,
        "up": {"w": (D, 4 * D), "b": (4 * D,)},
        "down": {"w": (4 * D, D), "b": vector},
    }
    blocks = [block] * size.depth
    return {"tokens": (VOCABULARY, D), "places": (size.length, D), "blocks": blocks, "norm": norm}


def specification(size: Size) -> Weights:
    """The weights as inputs of the two writings."""
    leaf = lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    return jax.tree.map(leaf, shapes(size), is_leaf=lambda shape: isinstance(shape, tuple))


def text_of(size: Size) -> np.ndarray:
    """Token numbers, shape (length,)."""
    return (7 * np.arange(size.length) + 3) % VOCABULARY


def linear(p: Weights, x: jax.Array) -> jax.Array:
    """XW + b."""
    return jnp.matmul(x, p["w"], precision="highest") + p["b"][None]


def fused(weights: Weights, text: np.ndarray) -> jax.Array:
    """Logits, shape (length, vocabulary): all heads at once, masked rows, the softmax of `jax.nn`."""
    x = weights["tokens"][text] + weights["places"]
    for p in weights["blocks"]:
        x = x + _attention(p, _normalise(p["norm1"], x))
        x = x + linear(p["down"], jax.nn.gelu(linear(p["up"], _normalise(p["norm2"], x)), approximate=True))
    return jnp.matmul(_normalise(weights["norm"], x), weights["tokens"].T, precision="highest")


def _normalise(p: Weights, x: jax.Array) -> jax.Array:
    variance = jnp.var(x, axis=-1, keepdims=True)
    x = (x - jnp.mean(x, axis=-1, keepdims=True)) * jax.lax.rsqrt(variance + EPSILON)
    return x * p["gamma"][None] + p["beta"][None]


def _attention(p: Weights, x: jax.Array) -> jax.Array:
    length, width = x.shape
    q, k, v = linear(p["qkv"], x).reshape(length, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
    scores = jnp.einsum("hid,hjd->hij", q, k, precision="highest") / np.float32(np.sqrt(width // HEADS))
    past = np.tril(np.ones((1, length, length), bool))
    weights = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("hij,hjd->ihd", weights, v, precision="highest")
    return linear(p["out"], mixed.reshape(length, width))


def by_head(weights: Weights, text: np.ndarray) -> jax.Array:
    """The same logits: every head alone, every row as long as its past, exponentials as they are."""
    x = jnp.stack([weights["tokens"][token] for token in text]) + weights["places"]
    for p in weights["blocks"]:
        x = x + p["out"]["b"][None] + sum(_head(p, h, _centred(p["norm1"], x)) for h in range(HEADS))
        u = linear(p["up"], _centred(p["norm2"], x))
        x = x + linear(p["down"], u * (1 + jnp.tanh(np.float32(np.sqrt(2 / np.pi)) * (u + 0.044715 * u**3))) / 2)
    return jnp.einsum("id,vd->iv", _centred(weights["norm"], x), weights["tokens"], precision="highest")


def _centred(p: Weights, x: jax.Array) -> jax.Array:
    centred = x - (jnp.sum(x, axis=1) / x.shape[1])[:, None]
    deviation = jnp.sqrt(jnp.mean(centred * centred, axis=1) + EPSILON)
    return p["beta"][None] + p["gamma"][None] * centred / deviation[:, None]


def _head(p: Weights, h: int, x: jax.Array) -> jax.Array:
    length, width = x.shape
    d = width // HEADS
    part = lambda i: slice(i * width + h * d, i * width + (h + 1) * d)
    of = lambda i: linear({"w": p["qkv"]["w"][:, part(i)], "b": p["qkv"]["b"][part(i)]}, x)
    q, k, v = of(0) * np.float32(d**-0.5), of(1), of(2)
    rows = []
    for i in range(length):
        weights = jnp.exp(jnp.matmul(k[: i + 1], q[i], precision="highest"))
        rows.append(jnp.matmul(weights / jnp.sum(weights), v[: i + 1], precision="highest"))
    return jnp.matmul(jnp.stack(rows), p["out"]["w"][h * d : (h + 1) * d], precision="highest")


# --- wrong twins ----------------------------------------------------------------------------------


def swapped(weights: Weights, text: np.ndarray) -> jax.Array:
    """`by_head` with the value and output weights of the last layer swapped."""
    width = weights["places"].shape[1]
    *before, last = weights["blocks"]
    qkv, out = last["qkv"]["w"], last["out"]["w"]
    joined = jnp.concatenate([qkv[:, : 2 * width], out], axis=1)
    wrong = {**last, "qkv": {**last["qkv"], "w": joined}, "out": {**last["out"], "w": qkv[:, 2 * width :]}}
    return by_head({**weights, "blocks": [*before, wrong]}, text)


def shifted(weights: Weights, text: np.ndarray) -> jax.Array:
    """`by_head` with one weight of the first layer larger by 2⁻³⁰."""
    first, *rest = weights["blocks"]
    wrong = {**first, "up": {**first["up"], "w": first["up"]["w"].at[0, 0].add(2.0**-30)}}
    return by_head({**weights, "blocks": [wrong, *rest]}, text)


TWINS: Mapping[str, Callable] = {"swapped": swapped, "shifted": shifted}


# --- the question ---------------------------------------------------------------------------------


class WrongAnswerError(Exception):
    """A computation whose answer is wrong has no time."""


def traced(function: Callable, size: Size) -> ClosedJaxpr:
    """A writing as a function of its weights."""
    text = text_of(size)
    return jax.make_jaxpr(lambda weights: function(weights, text))(specification(size))


def draw(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    """Whether two programs agree at one random point, in the first reading of their functions."""
    fields = PrimeFields(left, right)
    copies = (PROBE,) * (fields.depth.plain + 1)
    return fields.draw(copies, 0, fields.laws - {"exponential form"}).where is None


def check(size: Size) -> None:
    """Raise `WrongAnswerError` unless the two writings agree and both twins differ."""
    left = traced(fused, size)
    if not draw(left, traced(by_head, size)):
        raise WrongAnswerError(f"{size}: the two writings were found to be different")
    for name, twin in TWINS.items():
        if draw(left, traced(twin, size)):
            raise WrongAnswerError(f"{size}: the wrong twin '{name}' was accepted")


def measure(size: Size, runs: int = RUNS) -> Iterator[dict[str, Any]]:
    """Check, then the row of one size: first without the certificate, then with it."""
    check(size)
    start = time.perf_counter()
    left, right = traced(fused, size), traced(by_head, size)
    row: dict[str, Any] = {"size": str(size), "equations": len(left.jaxpr.eqns) + len(right.jaxpr.eqns)}
    row["trace"] = time.perf_counter() - start
    row["forward"] = forward(size)
    row["draw"] = statistics.median(seconds(lambda: draw(left, right), runs))
    yield {**row, "peak": peak()}
    start = time.perf_counter()
    found = PrimeFields(left, right).compare(ERROR)
    row["certify"] = time.perf_counter() - start
    if not found.equal:
        raise WrongAnswerError(f"{size}: a timed run gave the wrong answer")
    yield {**row, "peak": peak(), "log2_error": found.log2_error, "condition": found.condition}


def forward(size: Size) -> float:
    """Seconds of one pass of both writings in float32, compiled and warm: the median."""
    generator, text = np.random.default_rng(0), text_of(size)
    weights = jax.tree.map(
        lambda leaf: jnp.asarray(0.1 * generator.normal(size=leaf.shape), jnp.float32), specification(size)
    )
    left, right = (jax.jit(lambda w, function=function: function(w, text)) for function in (fused, by_head))
    both = lambda: jax.block_until_ready((left(weights), right(weights)))
    both()
    return statistics.median(seconds(both, PASSES))


def seconds(work: Callable[[], Any], runs: int) -> list[float]:
    """Of every run."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return taken


def peak() -> float:
    """The largest resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# --- a process for every size ---------------------------------------------------------------------


def in_own_process(size: Size, limit: float) -> dict[str, Any]:
    """The last row that a fresh interpreter printed within the limit.

    Raises:
        WrongAnswerError: it printed none, or stopped for any other reason than time or memory.
    """
    command = [sys.executable, __file__, "--row", str(size)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit)
        printed, stopped = done.stdout, "memory" if b"MemoryError" in done.stderr else ""
        if done.returncode and not stopped:
            raise WrongAnswerError(done.stderr.decode().strip().rpartition("\n")[2])
    except subprocess.TimeoutExpired as error:
        printed, stopped = error.stdout or b"", "time"
    lines = printed.decode().splitlines()
    row = json.loads(lines[-1]) if lines else {"size": str(size)}
    return {**row, "stopped": stopped} if stopped else row


def print_rows(size: Size) -> None:
    """What the process of one size does."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for row in measure(size):
        print(json.dumps(row), flush=True)


# --- the report -----------------------------------------------------------------------------------


def show(row: Mapping[str, Any]) -> None:
    """One line of the table."""
    number = lambda name, digits: f"{row[name]:.{digits}f}" if name in row else "—"
    over = lambda name: f" ({row[name] / row['forward']:.0f})" if name in row else ""
    cells = [number("trace", 2), number("forward", 5), number("draw", 2) + over("draw")]
    cells += [number("certify", 2) + over("certify"), number("peak", 0), number("log2_error", 0)]
    print(f"{row['size']:>10}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, WIDTHS, strict=True)), end="   ")
    print(f"stopped: {row['stopped']}" if "stopped" in row else _kind(row), flush=True)


WIDTHS = (8, 10, 16, 16, 9, 8)


def _kind(row: Mapping[str, Any]) -> str:
    if row["log2_error"] > ERROR:
        return "bound not reached"
    return f"conditional: {row['condition']}" if row["condition"] else "theorem"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two small networks: does it work?")
    parser.add_argument("--json", action="store_true", help="print one line of JSON as well")
    parser.add_argument("--only", nargs="+", type=Size.read, metavar="DEPTHxWIDTHxLENGTH", help="these sizes alone")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one size")
    parser.add_argument("--row", type=Size.read, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.row is not None:
        return print_rows(options.row)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    heads = ("trace s", "forward s", "draw s (ratio)", "certify s (r.)", "peak MiB", "log2")
    print(f"\n{'LxDxT':>10}" + "".join(f"{head:>{w}}" for head, w in zip(heads, WIDTHS, strict=True)) + "   bound")
    rows = []
    for size in options.only or (QUICK if options.quick else SIZES):
        rows.append(in_own_process(size, options.limit))
        show(rows[-1])
    if options.json:
        print(json.dumps({"benchmark": "certify", **machine(), "rows": rows}, ensure_ascii=False))


if __name__ == "__main__":
    main()
