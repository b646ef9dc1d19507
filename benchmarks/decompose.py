"""What does the decomposition of a model cost, over its plain forward pass?

    python benchmarks/decompose.py [--quick] [--json] [--only NAME ...]

Random weights in the shapes of MiniLM (6 layers, 384 features, 128 tokens) and GPT-2 small (12 layers, 768 features,
1,024 tokens), then growth with length and with depth.  Float32, jitted, compiled and warm, all in turns in the same
process: the plain pass to x_L, the two streams, and all L + 2 terms.  Nothing is timed before its sum is right: at most
four times as far from a float64 pass as the float32 pass itself is; a sum without its bias path must fail.  Ratios are
medians over the turns.  Bytes are what XLA's memory analysis says (temporary, output and argument), and the peak of a
process that does nothing else.  At last an attention written out as W_HVO, where that still fits.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decomposition import terms, two_streams
from uat_jax.decomposition.operators import Mixing
from uat_jax.networks.block import Block, initialise_gpt_block
from uat_jax.networks.decoder import Embedding
from uat_jax.networks.model import Architecture, Model
from uat_jax.networks.norms import LayerNorm

try:
    from benchmarks.machine import machine
except ImportError:  # started as a script
    from machine import machine


@dataclass(frozen=True)
class Size:
    """A kind of block; L layers, M features, h heads, F hidden features, N tokens, V words."""

    kind: Literal["pre-norm", "post-norm"]
    L: int
    M: int
    h: int
    F: int
    N: int
    V: int = 64
    turns: int = 15


SIZES = {
    "minilm": Size("post-norm", 6, 384, 12, 1536, 128, 30522, turns=40),
    "gpt2": Size("pre-norm", 12, 768, 12, 3072, 1024, 50257, turns=7),
    **{f"length-{N}": Size("post-norm", 6, 384, 12, 1536, N) for N in (32, 128, 512)},
    **{f"depth-{L}": Size("post-norm", L, 384, 12, 1536, 128) for L in (3, 6, 12, 24)},
}
QUICK = {"quick-post-norm": Size("post-norm", 2, 8, 2, 16, 4), "quick-pre-norm": Size("pre-norm", 2, 8, 2, 16, 4)}

Split = Callable[[Model, jax.Array], jax.Array]
"""(model, tokens) → parts (S, N, M) that add up to x_L."""

SPLITS: Mapping[str, Split] = {
    "plain": lambda model, tokens: model.hidden(tokens)[None],
    "two streams": two_streams,
    "all terms": terms,
}
TARGETS: Mapping[str, Callable[[Size], float]] = {
    "two streams": lambda of: 1.35,
    "all terms": lambda of: 1.5 + of.L / 8,
}
"""How many times the forward pass a split may take."""
WORSE = 4
"""How many times as far from the float64 pass as the float32 pass a sum may be."""


class WrongAnswerError(Exception):
    """A computation whose answer is wrong has no time."""


# --- the models -----------------------------------------------------------------------------------


def model_of(size: Size) -> Model:
    """Random weights; norms with γ = 1, as before training, so that no layer drowns the others."""
    blocks = tuple(_block(jax.random.key(j), size) for j in range(size.L))
    generator, norm = np.random.default_rng(0), _norm(size)
    table = lambda rows: jnp.asarray(generator.standard_normal((rows, size.M), np.float32))
    causal, post = size.kind == "pre-norm", size.kind == "post-norm"
    architecture = Architecture("benchmark", size.kind, jax.nn.gelu, 1e-5, causal, size.N)
    embedding = Embedding(table(size.V), table(size.N))
    return Model(embedding, blocks, norm if post else None, norm if causal else None, None, architecture)


def _block(key: jax.Array, size: Size) -> Block:
    drawn = initialise_gpt_block(key, features=size.M, heads=size.h, hidden=size.F)
    return drawn._replace(norm_1=_norm(size), norm_2=_norm(size))


def _norm(size: Size) -> LayerNorm:
    return LayerNorm(jnp.ones(size.M, jnp.float32), jnp.full(size.M, 0.125, jnp.float32))


def tokens_of(size: Size) -> jax.Array:
    """N token numbers."""
    return jnp.asarray((7 * np.arange(size.N) + 3) % size.V, jnp.int32)


# --- the measurements -----------------------------------------------------------------------------


def exact_pass(model: Model, tokens: jax.Array) -> np.ndarray:
    """x_L in float64."""
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: jnp.asarray(np.asarray(a), jnp.float64), model)
        return np.asarray(jax.jit(lambda m, t: m.hidden(t))(wide, tokens))


def check(splits: Mapping[str, Callable], model: Model, tokens: jax.Array) -> dict[str, float]:
    """The largest error of each sum, over that of the forward pass.

    Raises:
        WrongAnswerError: a sum is too far off, or one without its bias path is not.
    """
    exact = exact_pass(model, tokens)
    error = lambda parts: float(np.max(np.abs(np.sum(np.asarray(parts, np.float64), axis=0) - exact)))
    parts = {name: split(model, tokens) for name, split in splits.items()}
    errors = {name: error(found) / error(parts["plain"]) for name, found in parts.items()}
    for name, times in errors.items():
        if not times <= WORSE:
            raise WrongAnswerError(f"{name}: the sum is {times:.3g} times as far off as the forward pass")
    if not error(np.delete(np.asarray(parts["all terms"]), 1, axis=0)) > WORSE * error(parts["plain"]):
        raise WrongAnswerError("a sum without its bias path was accepted")
    return errors


def measure(name: str, size: Size) -> dict[str, Any]:
    """The row of one size."""
    model, tokens = model_of(size), tokens_of(size)
    compiled = {key: jax.jit(split).lower(model, tokens).compile() for key, split in SPLITS.items()}
    errors = check(compiled, model, tokens)
    turns = [{key: seconds(run, model, tokens) for key, run in compiled.items()} for _ in range(size.turns)]
    row: dict[str, Any] = {"size": name, **vars(size)}
    for key, run in compiled.items():
        row[key] = {
            "seconds": statistics.median(turn[key] for turn in turns),
            "ratio": statistics.median(turn[key] / turn["plain"] for turn in turns),
            "least": min(turn[key] for turn in turns) / min(turn["plain"] for turn in turns),
            "error": errors[key],
            "bytes": analysed(run),
            "target": TARGETS[key](size) if key in TARGETS else 1.0,
        }
    return row


def seconds(run: Callable, *arguments: Any) -> float:
    """Of one run."""
    start = time.perf_counter()
    jax.block_until_ready(run(*arguments))
    return time.perf_counter() - start


def analysed(run: Any) -> dict[str, int]:
    """Temporary, output and argument bytes of a compiled function."""
    found = run.memory_analysis()
    return {kind: getattr(found, f"{kind}_size_in_bytes") for kind in ("temp", "output", "argument")}


def peak_alone(name: str, split: str) -> float:
    """The peak of resident memory of a process that runs one split once, in MiB."""
    command = [sys.executable, __file__, "--peak", name, split]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise WrongAnswerError(done.stderr.strip().rpartition("\n")[2])
    return float(done.stdout)


def print_peak(name: str, split: str) -> None:
    """What such a process does."""
    size = {**SIZES, **QUICK}[name]
    jax.block_until_ready(jax.jit(SPLITS[split])(model_of(size), tokens_of(size)))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


# --- attention written out ------------------------------------------------------------------------


def written_out(N: int, M: int, heads: int = 4, runs: int = 5) -> dict[str, Any]:
    """W_HVO as a matrix against its factors: seconds and bytes of both, once the two agree.

    float32 sums of N M products of numbers of variance 1/M: at most 10⁻³ apart, where a wrong sign gives about 1.
    """
    generator, d = np.random.default_rng(0), M // heads
    draw = lambda *shape: jnp.asarray(generator.standard_normal(shape) / np.sqrt(M), jnp.float32)
    mixing = Mixing(jax.nn.softmax(draw(heads, N, N)), draw(heads, M, d), draw(heads, d, M))
    x = draw(N, M) * np.float32(np.sqrt(M))
    matrix = lambda of, x: jnp.matmul(of.materialise(), x.reshape(-1), precision="highest").reshape(x.shape)
    both = {"factors": jax.jit(lambda of, x: of(x)), "matrix": jax.jit(matrix)}
    found = {name: np.asarray(run(mixing, x)) for name, run in both.items()}
    if not np.max(np.abs(found["factors"] - found["matrix"])) < 1e-3 < np.max(np.abs(found["factors"])):
        raise WrongAnswerError(f"W_HVO at N = {N}, M = {M}: matrix and factors differ")
    taken = {name: min(seconds(run, mixing, x) for _ in range(runs)) for name, run in both.items()}
    held = {"factors": 4 * (heads * N * N + 2 * M * M), "matrix": 4 * (N * M) ** 2}
    return {"N": N, "M": M, "seconds": taken, "bytes": held}


WRITTEN_OUT = ((8, 32), (16, 64), (32, 64), (32, 128), (64, 128))


# --- the report -----------------------------------------------------------------------------------


def show(row: Mapping[str, Any]) -> None:
    """Three lines of the table."""
    plain = row["plain"]
    for key in SPLITS:
        of = row[key]
        total = lambda cell: sum(cell["bytes"].values())
        cells = [f"{of['seconds'] * 1e3:.1f}", f"{of['ratio']:.2f}", f"{of['least']:.2f}", f"{of['target']:.2f}"]
        cells += [f"{of['error']:.1f}", f"{of['bytes']['temp'] / 2**20:.1f}", f"{total(of) / total(plain):.2f}"]
        cells.append(f"{of['peak'] / plain['peak']:.2f}" if "peak" in of else "—")
        print(f"{row['size']:>16} {key:>12}" + "".join(f"{cell:>9}" for cell in cells), flush=True)


HEADS = ("ms", "ratio", "least", "target", "error", "temp MiB", "bytes", "peak")


def growth(rows: Sequence[Mapping[str, Any]], by: str) -> None:
    """Powers by which the time grows from the first to the last of the rows that vary in one letter."""
    first, last = rows[0], rows[-1]
    power = lambda key: np.log(last[key]["seconds"] / first[key]["seconds"]) / np.log(last[by] / first[by])
    powers = ", ".join(f"{key} ~ {by}^{power(key):.2f}" for key in SPLITS)
    print(f"growth from {by} = {first[by]} to {last[by]}: {powers}")


def show_written_out(row: Mapping[str, Any]) -> None:
    """One line."""
    cost = lambda form: f"{row['bytes'][form] / 2**20:.2f} MiB and {row['seconds'][form] * 1e3:.2f} ms"
    print(f"W_HVO at N = {row['N']}, M = {row['M']}: {cost('matrix')}, in factors {cost('factors')}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two small models: does it work?")
    parser.add_argument("--json", action="store_true", help="print one line of JSON as well")
    parser.add_argument("--only", nargs="+", choices=SIZES, metavar="NAME", help="these sizes alone")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.peak:
        return print_peak(*options.peak)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"\n{'':>29}" + "".join(f"{head:>9}" for head in HEADS))
    chosen = QUICK if options.quick else {name: SIZES[name] for name in options.only or SIZES}
    rows = []
    for name, size in chosen.items():
        rows.append(measure(name, size))
        if name in ("minilm", "gpt2"):
            for split in SPLITS:
                rows[-1][split]["peak"] = peak_alone(name, split)
        show(rows[-1])
    for word, letter in (("length", "N"), ("depth", "L")):
        grown = [row for row in rows if row["size"].startswith(word)]
        if len(grown) > 1:
            growth(grown, letter)
    written = [written_out(*shape) for shape in (WRITTEN_OUT[:1] if options.quick else WRITTEN_OUT)]
    for row in written:
        show_written_out(row)
    if options.json:
        print(json.dumps({"benchmark": "decompose", **machine(), "rows": rows, "written_out": written}))


if __name__ == "__main__":
    main()
