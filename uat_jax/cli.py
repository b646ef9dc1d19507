"""The command line: ``uat-jax prove | certify | decompose | bench | claims | show | derive | report | recheck``.

Exit codes: 0 every claim asked for has the verdict its ledger row expects (of `certify`: the functions are equal),
1 some do not, 2 unusable input.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from uat_jax.cli_bench import add_bench
from uat_jax.cli_decompose import add_decompose
from uat_jax.cli_hosts import add_hosts, hosts_of
from uat_jax.decide.certificate import Certificate, check_writable, environment, load, write_atomically
from uat_jax.decide.decision import decide
from uat_jax.decide.demands import HAZARDS, Demands, parse_tolerance
from uat_jax.decide.domain import positive
from uat_jax.decide.effort import MEMORY
from uat_jax.decide.equivalence import KIND, certify
from uat_jax.decide.hosts import check_alike, process_count, process_index, supervised
from uat_jax.decide.loops.induction import KIND as SCAN
from uat_jax.decide.named_function import named_function
from uat_jax.decide.recheck import rechecked
from uat_jax.decide.settings import DTYPES, Settings
from uat_jax.decide.specification import parse, parse_sizes
from uat_jax.decide.verdict import Verdict
from uat_jax.devices import DEVICES, on_device
from uat_jax.errors import InputError, MismatchError, UatJaxError
from uat_jax.inputs.functions import is_file, read_file, specs_of
from uat_jax.inputs.weights import leaves_of, nearest
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.layers.closed_form import check_own_network
from uat_jax.ledger.layers.exposition import KINDS, check_depth, exposition, kind_of_page, legend_alone
from uat_jax.ledger.ledger import CHAPTERS, claims, find, named, recheck, records, script_of, select
from uat_jax.ledger.parallel import decide_all
from uat_jax.ledger.source import PAPERS
from uat_jax.report import errata, note, page_html, page_latex, tex
from uat_jax.report.equivalence import show_equivalence, show_pieces
from uat_jax.report.page_text import lines, show_page
from uat_jax.report.statement import latex, show_record, show_statement
from uat_jax.report.table import show_claims, show_records, show_verdicts

OF_FUNCTIONS = (KIND, SCAN)
"""The ids of claims about functions that a user gave: two of them, or a scan and its closed form."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except UatJaxError as error:
        print(f"uat-jax: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("uat-jax: interrupted; nothing was written", file=sys.stderr)
        return 2


class _Parser(argparse.ArgumentParser):
    """One line per mistake, without the usage text."""

    def error(self, message: str) -> Any:
        self.exit(2, f"uat-jax: {message}; `{self.prog} --help` lists what is possible\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="uat-jax", description="Is it the same network? Decided, and said how it is known.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    _add_prove(commands)
    _add_certify(commands)
    add_decompose(commands, lambda: _console())
    add_bench(commands, lambda: _console())
    _add_claims(commands)
    show = commands.add_parser("show", help="print one claim step by step, each step checked")
    show.add_argument("claim")
    show.add_argument(
        "--depth", type=int, default=Settings.depth, help="layers of the derivation (default %(default)s)"
    )
    show.add_argument("--latex", action="store_true", help="as a LaTeX document")
    _add_device(show)
    show.set_defaults(run=_show)
    _add_derive(commands)
    report = commands.add_parser(
        "report", help="write a note on the papers (HTML, LaTeX, PDF), with a certificate for each line"
    )
    report.add_argument("folder", metavar="DIR", help="a new folder, or an empty one")
    report.add_argument("--overwrite", action="store_true", help="write over the report that is there")
    _add_jobs(report)
    _add_device(report)
    report.set_defaults(run=_report)
    again = commands.add_parser("recheck", help="decide certificates again, with fresh random numbers")
    again.add_argument("certificates", nargs="+", metavar="FILE")
    again.add_argument("--seed", type=int, help="random seed (default: the certificate's plus one)")
    again.add_argument("--budget", type=float, metavar="SECONDS", help="for each comparison of two functions")
    _add_memory(again)
    _add_device(again, "of a claim, that of its settings; of two functions, JAX's own choice")
    again.set_defaults(run=_recheck)
    return parser


def _add_prove(commands: Any) -> None:
    prove = commands.add_parser("prove", help="decide the whole ledger, or the claims named")
    prove.add_argument(
        "claims", nargs="*", metavar="CLAIM", help="an id, or its first words: updates, diamond.property-1"
    )
    prove.add_argument(
        "--depth", type=int, default=Settings.depth, help="layers of evaluated networks (default %(default)s)"
    )
    prove.add_argument(
        "--dtype", action="append", metavar="DTYPE", help=f"repeatable; default all of {', '.join(DTYPES)}"
    )
    _add_device(prove)
    prove.add_argument("--precision", default=Settings.precision, help="matmul precision: default, high or highest")
    prove.add_argument(
        "--trials", type=int, default=Settings.trials, help="random networks per dtype (default %(default)s)"
    )
    prove.add_argument("--seed", type=int, default=Settings.seed, help="random seed (default %(default)s)")
    prove.add_argument(
        "--weights", metavar="FILE.npz", help="take the float evidence on this network (docs/weights.md)"
    )
    prove.add_argument("--inputs", metavar="FILE.npz", help="and on these inputs")
    _add_jobs(prove)
    prove.add_argument("--keep", metavar="DIR", help="keep finished trials there, and take them from there")
    add_hosts(prove)
    prove.add_argument("--out", metavar="DIR", help="write one certificate per claim into this folder")
    prove.add_argument("--json", metavar="FILE", help="write all certificates into this file")
    prove.set_defaults(run=_prove)


def _add_derive(commands: Any) -> None:
    derivation = commands.add_parser(
        "derive", help="print the closed form of a network, layer by layer, and why it holds"
    )
    derivation.add_argument("kind", metavar="KIND", help=f"one of {', '.join(KINDS)}")
    derivation.add_argument("--depth", type=int, default=Settings.depth, help="layers (default %(default)s)")
    derivation.add_argument("--latex", action="store_true", help="as a LaTeX document")
    derivation.add_argument("--out", metavar="FILE", help="write it into this file")
    derivation.add_argument(
        "--legend", nargs="*", metavar="SYMBOL", help="print only what these symbols mean, or all of them"
    )
    derivation.set_defaults(run=_derive)


def _add_claims(commands: Any) -> None:
    listing = commands.add_parser("claims", help="list the ledger, or what fits all that is asked for")
    listing.add_argument("--paper", help=f"one of {', '.join(PAPERS)}")
    listing.add_argument("--section", metavar="S", help='such as 3.3, B.2 or "Fig. 2"')
    listing.add_argument("--equation", metavar="N", help="the printed number")
    listing.add_argument("--kind", help=f"one of {', '.join(Kind)}")
    listing.add_argument("--verdict", help="the verdict that the ledger expects: PROVED, REFUTED …")
    listing.set_defaults(run=_claims)


def _add_certify(commands: Any) -> None:
    two = commands.add_parser("certify", help="decide whether two JAX functions are the same function")
    what = "a JAX function, or a file of StableHLO, of jax.export or of torch.export (.pt2)"
    two.add_argument("left", metavar="MODULE:FUNCTION|FILE", help=what)
    two.add_argument("right", metavar="MODULE:FUNCTION|FILE", help=what)
    two.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="TYPE",
        help="repeatable: f32[4,8], bf16[b,2*h], c64[3], 'f32[n] > 0', 'f64[] in [0, 1]'",
    )
    two.add_argument(
        "--positive",
        action="append",
        default=[],
        metavar="PATTERN",
        help="repeatable: inputs of a file that are positive, such as '*running_var'",
    )
    two.add_argument(
        "--sizes", action="append", default=[], metavar="SIZES", help="repeatable: n=4,m=3; the list is the claim"
    )
    two.add_argument("--wrt", metavar="grad", help='"grad": the derivatives as well')
    two.add_argument(
        "--generalize",
        action="store_true",
        help="look for a proof for all sizes first, in which axes of the same size are one dimension",
    )
    two.add_argument(
        "--almost-everywhere", action="store_true", help="accept a difference on a set of measure zero, as at ties"
    )
    two.add_argument(
        "--error", default="2^-128", metavar="P", help="largest chance of a wrong CERTIFIED (default %(default)s)"
    )
    two.add_argument(
        "--rounding", metavar="N", help="ULP within which floats must lie; or relative=1e-4, absolute=1e-6"
    )
    two.add_argument(
        "--hazards", default="warn", metavar="WHAT", help=f"one of {', '.join(HAZARDS)} (default %(default)s)"
    )
    two.add_argument("--budget", type=float, metavar="SECONDS", help="UNKNOWN after so many seconds")
    _add_memory(two)
    two.add_argument("--seed", type=int, default=0, help="random seed (default %(default)s)")
    two.add_argument("--json", metavar="FILE", help="write the certificate into this file")
    two.add_argument("--html", metavar="FILE", help="write a web page about it, with both programs side by side")
    two.add_argument("--explain", action="store_true", help="show where large programs were cut into pieces")
    _add_device(two)
    two.set_defaults(run=_certify)


def _add_jobs(parser: Any) -> None:
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one per core); on accelerators one")


def _add_memory(parser: Any) -> None:
    parser.add_argument(
        "--memory", default=MEMORY, metavar="SIZE", help='what comparisons may hold, such as "4 GiB" (the default)'
    )


def _add_device(parser: Any, otherwise: str = "JAX's own choice") -> None:
    parser.add_argument("--device", help=f"one of {', '.join(DEVICES)} (default: {otherwise})")


def _certify(options: argparse.Namespace) -> int:
    for file in filter(None, (options.json, options.html)):
        check_writable(Path(file))
    specs, sizes = parse(*options.arg), parse_sizes(*options.sizes)
    demands = Demands(None if options.rounding is None else parse_tolerance(options.rounding), options.hazards)
    functions = [read_file(n) if is_file(n) else named_function(n) for n in (options.left, options.right)]
    if options.positive:
        specs = _positive(specs or specs_of(*functions), options.positive)
    start = time.perf_counter()
    console = Console(stderr=True)
    with console.status("starting") as status, on_device(options.device):
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
    show_equivalence(_console(), certificate, seconds, hazards=demands.hazards != "ignore", complaints=complaints)
    if options.explain:
        show_pieces(_console(), certificate)
    if options.json:
        certificate.save(options.json)
    if options.html:
        write_atomically(Path(options.html), certificate.html())
    return 0 if certificate.passes and not complaints else 1


def _positive(specs: tuple[Any, ...], patterns: Sequence[str]) -> tuple[Any, ...]:
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


def _prove(options: argparse.Namespace) -> int:
    hosts = hosts_of(options)
    settings = Settings(
        depth=options.depth,
        dtypes=tuple(options.dtype or DTYPES),
        trials=options.trials,
        seed=options.seed,
        device=options.device,
        precision=options.precision,
        weights=options.weights,
        inputs=options.inputs,
        keep=options.keep,
    )
    wanted = tuple(dict.fromkeys(c for name in options.claims for c in named(name))) or claims()
    check_own_network(settings, {claim.id.partition(".")[0] for claim in wanted})
    for folder in filter(None, (options.out, options.keep)):
        check_writable(Path(folder) / "certificate")
    if options.json:
        check_writable(Path(options.json))
    names = [claim.id for claim in wanted]
    if hosts is None:
        return _proved(options, settings, names)
    return supervised(_proved, hosts, options, settings, names)


def _proved(options: argparse.Namespace, settings: Settings, names: Sequence[str]) -> int:
    """In one process, or in one of several, the first of which shows and writes what is found."""
    check_alike({**settings.stated(), "claims": ", ".join(names), **environment()})
    start = time.perf_counter()
    found = _decide_all([find(name) for name in names], settings, options.jobs if process_count() == 1 else 1)
    if process_index() == 0:
        chapters = [(chapter.title, [found[c.id] for c in chapter.claims if c.id in found]) for chapter in CHAPTERS]
        show_verdicts(_console(), chapters, time.perf_counter() - start)
        _write(found, options)
    return 0 if all(certificate.passes for certificate in found.values()) else 1


def _decide_all(wanted: Sequence[Claim], settings: Settings, jobs: int | None) -> dict[str, Certificate]:
    """id → certificate, in the order asked for, with progress on the terminal."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True, disable=process_index() > 0)
    task = bar.add_task("starting", total=len(wanted))

    def show(done: int, now: Sequence[str]) -> None:
        bar.start()  # not before: it has a thread, and with one a process cannot be forked
        bar.update(task, completed=done, description=", ".join(now))

    try:
        with on_device(settings.device):
            return decide_all(wanted, settings, jobs=jobs, progress=show)
    finally:
        if bar.live.is_started:  # else it ends the line of a bar that nobody has seen
            bar.stop()


def _write(found: dict[str, Certificate], options: argparse.Namespace) -> None:
    if options.out:
        _write_certificates(found, Path(options.out))
    if options.json:
        everything = [json.loads(certificate.to_json()) for certificate in found.values()]
        write_atomically(Path(options.json), json.dumps(everything, indent=2, ensure_ascii=False) + "\n")


def _write_log(found: dict[str, Certificate], folder: Path) -> None:
    """What the checker, which shares no code with this package, says of everything that is proved.

    It runs in a process of its own, for it bounds the memory and the time of the process that it runs in.
    """
    files = [f"{name}.json" for name, certificate in sorted(found.items()) if certificate.verdict is Verdict.PROVED]
    command = [sys.executable, "-X", "utf8", "-m", "uat_jax_check", *files]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False).stdout
    heading = "# Written by uat-jax-check, which reads the certificates beside this file and nothing else.\n"
    write_atomically(folder / "checked.txt", heading + said)


def _write_certificates(found: dict[str, Certificate], folder: Path) -> None:
    for name, certificate in found.items():
        certificate.save(folder / f"{name}.json")


FILTERS = ("paper", "section", "equation", "kind", "verdict")


def _claims(options: argparse.Namespace) -> int:
    asked = {name: getattr(options, name) for name in FILTERS if getattr(options, name) is not None}
    chosen = select(**asked)
    if not chosen:
        raise InputError(f"no claim fits {' and '.join(f'{k} {v}' for k, v in asked.items())}; ask for less")
    show_claims(_console(), CHAPTERS, chosen)
    if not asked:
        show_records(_console(), records())
    return 0


def _show(options: argparse.Namespace) -> int:
    record = next((r for r in records() if r.id == options.claim), None)
    if record is not None:
        show_record(_console(), record)
        return 0
    claim, settings = find(options.claim), Settings(depth=options.depth, dtypes=(), device=options.device)
    kind = kind_of_page(claim.id)
    if kind:
        check_depth(kind, settings.depth, on_screen=True)
    certificate = decide(claim, settings)
    page = exposition(kind, settings.depth) if kind else None
    if options.latex:
        print(latex(certificate, page), end="")
    else:
        edit = claim.decide.edit if isinstance(claim.decide, OneEdit) else None
        show_statement(_console(), certificate, script_of(claim), page, edit)
    return 0


def _derive(options: argparse.Namespace) -> int:
    """The page of a closed form on the screen or in a file, or a legend alone."""
    check_depth(options.kind, options.depth, on_screen=options.out is None)
    if options.out:
        check_writable(Path(options.out))
    if options.legend is None:
        page = exposition(options.kind, options.depth)
    else:
        page = legend_alone(options.kind, options.legend)
    if options.out:
        text = page_latex.document(page) if options.latex else "\n".join(lines(page, 160)) + "\n"
        write_atomically(Path(options.out), text)
        print(f"{len(text.splitlines())} lines in {options.out}")
    elif options.latex:
        print(page_latex.document(page), end="")
    else:
        show_page(_console(), page)
    return 0 if page.holds else 1


def _report(options: argparse.Namespace) -> int:
    """The note as LaTeX, HTML and PDF, errata.md, and the certificates of all that they tell."""
    folder, settings = Path(options.folder), Settings(dtypes=(), device=options.device)
    with on_device(settings.device):
        _check_new(folder, options.overwrite)
    refuted = [claim for claim in claims() if claim.expects is Verdict.REFUTED]
    corrections = [find(claim.correction) for claim in refuted if claim.correction]
    wanted = tuple(dict.fromkeys((*refuted, *corrections, *map(find, note.THEOREMS))))
    found = _decide_all(wanted, settings, options.jobs)
    _write_certificates(found, folder / errata.FOLDER)
    _write_log(found, folder / errata.FOLDER)
    scripts = {claim.id: script_of(claim) for claim in claims()}
    write_atomically(folder / "errata.md", errata.errata(CHAPTERS, found, scripts))
    page = note.note(CHAPTERS, found, scripts)
    write_atomically(folder / "note.html", page_html.document(page))
    write_atomically(folder / "note.tex", page_latex.document(page))
    missing = tex.compiled(folder / "note.tex")
    printed = sum(not claim.ours for claim in refuted)
    print(f"{printed} errata in {folder / 'note.html'}, {len(found)} certificates in {folder / errata.FOLDER}")
    if missing:
        print(f"uat-jax: {missing}", file=sys.stderr)
    return 0 if all(certificate.passes for certificate in found.values()) else 1


def _check_new(folder: Path, overwrite: bool) -> None:
    """Raises `InputError` if the folder holds anything that is not to be overwritten, or cannot be written.

    A folder that exists and is empty, as `mktemp -d` makes one, is as good as a new one.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InputError(f"{folder} exists and is not empty; choose a new folder, or say --overwrite")
    check_writable(folder / "note.html")


def _recheck(options: argparse.Namespace) -> int:
    given = [load(path) for path in options.certificates]
    disagree = 0
    for path, certificate in zip(options.certificates, given, strict=True):
        try:
            found = recheck(
                certificate, seed=options.seed, device=options.device, budget=options.budget, memory=options.memory
            )
            extent = f"; {rechecked(found)}" if found.claim["id"] in OF_FUNCTIONS else ""
            print(f"{path}: {_subject(found)} {found.verdict}, as the certificate says{extent}")
        except MismatchError as error:
            disagree += 1
            print(f"{path}: {error}")
    return 1 if disagree else 0


def _subject(certificate: Certificate) -> str:
    claim = certificate.claim
    return f"{claim['left']} and {claim['right']}" if claim["id"] in OF_FUNCTIONS else claim["id"]


def _console() -> Console:
    """The terminal's width, or 160 columns where the output is not a terminal."""
    return Console() if sys.stdout.isatty() else Console(width=160)
