"""``uat-jax certify``: are two functions, or files that stand for functions, the same function?"""

from __future__ import annotations

import argparse
import fnmatch
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from uat_jax.cli.options import add_device, add_memory, console, working
from uat_jax.decide.certificate import check_writable, write_atomically
from uat_jax.decide.demands import HAZARDS, Demands, parse_tolerance
from uat_jax.decide.domain import positive
from uat_jax.decide.equivalence import certify
from uat_jax.decide.named_function import named_function, named_specs
from uat_jax.decide.specification import parse, parse_sizes
from uat_jax.devices import on_device
from uat_jax.errors import InputError
from uat_jax.inputs.functions import is_file, read_file, specs_of
from uat_jax.inputs.weights import leaves_of, nearest
from uat_jax.report.equivalence import show_equivalence, show_pieces
from uat_jax.typing import PyTree


def add_certify(parser: argparse.ArgumentParser) -> None:
    """The options of ``uat-jax certify``."""
    what = "a JAX function, or a file of StableHLO, of jax.export or of torch.export (.pt2)"
    parser.add_argument("left", metavar="MODULE:FUNCTION|FILE", help=what)
    parser.add_argument("right", metavar="MODULE:FUNCTION|FILE", help=what)
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="TYPE",
        help="repeatable: f32[4,8], bf16[b,2*h], c64[3], 'f32[n] > 0', 'f64[] in [0, 1]'",
    )
    parser.add_argument(
        "--specs",
        metavar="MODULE:FUNCTION",
        help="instead of --arg: a function that returns the arguments, trees of jax.ShapeDtypeStruct or arrays",
    )
    parser.add_argument(
        "--positive",
        action="append",
        default=[],
        metavar="PATTERN",
        help="repeatable: inputs of a file that are positive, such as '*running_var'",
    )
    parser.add_argument(
        "--sizes", action="append", default=[], metavar="SIZES", help="repeatable: n=4,m=3; the list is the claim"
    )
    parser.add_argument("--wrt", metavar="grad", help='"grad": the derivatives as well')
    parser.add_argument(
        "--generalize",
        action="store_true",
        help="look for a proof for all sizes first, in which axes of the same size are one dimension",
    )
    parser.add_argument(
        "--almost-everywhere", action="store_true", help="accept a difference on a set of measure zero, as at ties"
    )
    parser.add_argument(
        "--error", default="2^-128", metavar="P", help="largest chance of a wrong CERTIFIED (default %(default)s)"
    )
    parser.add_argument(
        "--rounding", metavar="N", help="ULP within which floats must lie; or relative=1e-4, absolute=1e-6"
    )
    parser.add_argument(
        "--hazards", default="warn", metavar="WHAT", help=f"one of {', '.join(HAZARDS)} (default %(default)s)"
    )
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="UNKNOWN after so many seconds")
    add_memory(parser)
    parser.add_argument("--seed", type=int, default=0, help="random seed (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the certificate into this file")
    parser.add_argument("--html", metavar="FILE", help="write a web page about it, with both programs side by side")
    parser.add_argument("--explain", action="store_true", help="show where large programs were cut into pieces")
    add_device(parser)
    parser.set_defaults(run=_certify)


def _certify(options: argparse.Namespace) -> int:
    for file in filter(None, (options.json, options.html)):
        check_writable(Path(file))
    if options.json and options.json == options.html:
        raise InputError(f"got {options.json} for --json and for --html; give each a file of its own")
    if options.specs and options.arg:
        raise InputError("got --specs and --arg; give the inputs in one of both ways")
    if options.generalize and options.sizes:
        raise InputError("got --generalize and --sizes; a proof for all sizes is looked for, or the list is the claim")
    specs = named_specs(options.specs) if options.specs else parse(*options.arg)
    sizes = parse_sizes(*options.sizes)
    demands = Demands(None if options.rounding is None else parse_tolerance(options.rounding), options.hazards)
    functions = [read_file(n) if is_file(n) else named_function(n) for n in (options.left, options.right)]
    if options.positive:
        specs = _positive(specs or specs_of(*functions), options.positive)
    start = time.perf_counter()
    with working("starting") as status, on_device(options.device):
        certificate = certify(
            *functions,
            *specs,
            error=_probability(options.error),
            seed=options.seed,
            budget=options.budget,
            wrt=options.wrt,
            almost_everywhere=options.almost_everywhere,
            generalize=options.generalize,
            sizes=sizes,
            memory=options.memory,
            progress=status.update,
        )
    complaints = demands.complaints(certificate) if certificate.passes else []
    seconds = time.perf_counter() - start
    if options.json:  # files first: what is printed may have a reader who leaves, such as head
        certificate.save(options.json)
    if options.html:
        write_atomically(Path(options.html), certificate.html())
    show_equivalence(console(), certificate, seconds, hazards=demands.hazards != "ignore", complaints=complaints)
    if options.explain:
        show_pieces(console(), certificate)
    return 0 if certificate.passes and not complaints else 1


def _positive(specs: tuple[PyTree, ...], patterns: Sequence[str]) -> tuple[Any, ...]:
    """The specs, of which those are positive whose names fit a pattern."""
    names = leaves_of(specs)
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise InputError(f"no input has a name like {pattern!r}{nearest(pattern, names)}")
    fits = [any(fnmatch.fnmatch(name, pattern) for pattern in patterns) for name in names]
    leaves, tree = jax.tree.flatten(specs)
    return jax.tree.unflatten(tree, [positive(leaf) if fit else leaf for leaf, fit in zip(leaves, fits, strict=True)])


def _probability(text: str) -> float:
    """2^-128, 1e-30 or 0.001."""
    base, power, exponent = text.partition("^")
    try:
        return float(base) ** float(exponent) if power else float(text)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"got {text!r} for a probability; write 2^-128 or 1e-30") from None
