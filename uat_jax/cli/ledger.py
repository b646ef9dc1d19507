"""The commands about the papers: ``uat-jax prove | claims | show | derive | report``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from uat_jax.cli.hosts import add_hosts, hosts_of
from uat_jax.cli.options import add_device, add_jobs, console
from uat_jax.decide.certificate import Certificate, check_writable, environment, write_atomically
from uat_jax.decide.decision import decide
from uat_jax.decide.hosts import check_alike, process_count, process_index, supervised
from uat_jax.decide.settings import DTYPES, Settings
from uat_jax.decide.verdict import Verdict
from uat_jax.devices import on_device
from uat_jax.errors import InputError
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.layers.closed_form import check_own_network
from uat_jax.ledger.layers.exposition import KINDS, check_depth, exposition, kind_of_page, legend_alone
from uat_jax.ledger.ledger import CHAPTERS, claims, find, named, records, script_of, select
from uat_jax.ledger.parallel import decide_all
from uat_jax.ledger.source import PAPERS
from uat_jax.report import errata, note, page_html, page_latex, tex
from uat_jax.report.page_text import lines, show_page
from uat_jax.report.statement import latex, show_record, show_statement
from uat_jax.report.table import show_claims, show_records, show_verdicts


def add_prove(parser: ArgumentParser) -> None:
    """The options of ``uat-jax prove``."""
    parser.add_argument(
        "claims", nargs="*", metavar="CLAIM", help="an id, or its first words: updates, diamond.property-1"
    )
    parser.add_argument(
        "--depth", type=int, default=Settings.depth, help="layers of evaluated networks (default %(default)s)"
    )
    parser.add_argument(
        "--dtype", action="append", metavar="DTYPE", help=f"repeatable; default all of {', '.join(DTYPES)}"
    )
    add_device(parser)
    parser.add_argument("--precision", default=Settings.precision, help="matmul precision: default, high or highest")
    parser.add_argument(
        "--trials", type=int, default=Settings.trials, help="random networks per dtype (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=Settings.seed, help="random seed (default %(default)s)")
    parser.add_argument(
        "--weights", metavar="FILE.npz", help="take the float evidence on this network (docs/weights.md)"
    )
    parser.add_argument("--inputs", metavar="FILE.npz", help="and on these inputs")
    add_jobs(parser)
    parser.add_argument("--keep", metavar="DIR", help="keep finished trials there, and take them from there")
    add_hosts(parser)
    parser.add_argument("--out", metavar="DIR", help="write one certificate per claim into this folder")
    parser.add_argument("--json", metavar="FILE", help="write all certificates into this file")
    parser.set_defaults(run=_prove)


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
    jobs = options.jobs if process_count() == 1 else 1
    kept = bool(options.out or options.json)
    found = _decide_all([find(name) for name in names], settings, jobs, statements=kept)
    if process_index() == 0:
        chapters = [(chapter.title, [found[c.id] for c in chapter.claims if c.id in found]) for chapter in CHAPTERS]
        _write(found, options)  # before it is shown: what is printed may have a reader who leaves, such as head
        show_verdicts(console(), chapters, time.perf_counter() - start)
    return 0 if all(certificate.passes for certificate in found.values()) else 1


def _decide_all(
    wanted: Sequence[Claim], settings: Settings, jobs: int | None, *, statements: bool = True
) -> dict[str, Certificate]:
    """id → certificate, in the order asked for, with progress on the terminal; ``statements`` as for `decide_all`."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True, disable=process_index() > 0)
    task = bar.add_task("starting", total=len(wanted))

    def show(done: int, now: Sequence[str]) -> None:
        bar.start()  # not before: it has a thread, and with one a process cannot be forked
        bar.update(task, completed=done, description=", ".join(now))

    try:
        with on_device(settings.device):
            return decide_all(wanted, settings, jobs=jobs, progress=show, statements=statements)
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


def add_claims(parser: ArgumentParser) -> None:
    """The options of ``uat-jax claims``."""
    parser.add_argument("--paper", help=f"one of {', '.join(PAPERS)}")
    parser.add_argument("--section", metavar="S", help='such as 3.3, B.2 or "Fig. 2"')
    parser.add_argument("--equation", metavar="N", help="the printed number")
    parser.add_argument("--kind", help=f"one of {', '.join(Kind)}")
    parser.add_argument("--verdict", help="the verdict that the ledger expects: PROVED, REFUTED …")
    parser.set_defaults(run=_claims)


FILTERS = ("paper", "section", "equation", "kind", "verdict")


def _claims(options: argparse.Namespace) -> int:
    asked = {name: getattr(options, name) for name in FILTERS if getattr(options, name) is not None}
    chosen = select(**asked)
    if not chosen:
        raise InputError(f"no claim fits {' and '.join(f'{k} {v}' for k, v in asked.items())}; ask for less")
    show_claims(console(), CHAPTERS, chosen)
    if not asked:
        show_records(console(), records())
    return 0


def add_show(parser: ArgumentParser) -> None:
    """The options of ``uat-jax show``."""
    parser.add_argument("claim")
    parser.add_argument(
        "--depth", type=int, default=Settings.depth, help="layers of the derivation (default %(default)s)"
    )
    parser.add_argument("--latex", action="store_true", help="as a LaTeX document")
    add_device(parser)
    parser.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> int:
    record = next((r for r in records() if r.id == options.claim), None)
    if record is not None:
        show_record(console(), record)
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
        show_statement(console(), certificate, script_of(claim), page, edit)
    return 0


def add_derive(parser: ArgumentParser) -> None:
    """The options of ``uat-jax derive``."""
    parser.add_argument("kind", metavar="KIND", help=f"one of {', '.join(KINDS)}")
    parser.add_argument("--depth", type=int, default=Settings.depth, help="layers (default %(default)s)")
    parser.add_argument("--latex", action="store_true", help="as a LaTeX document")
    parser.add_argument("--out", metavar="FILE", help="write it into this file")
    parser.add_argument(
        "--legend", nargs="*", metavar="SYMBOL", help="print only what these symbols mean, or all of them"
    )
    parser.set_defaults(run=_derive)


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
        show_page(console(), page)
    return 0 if page.holds else 1


def add_report(parser: ArgumentParser) -> None:
    """The options of ``uat-jax report``."""
    parser.add_argument("folder", metavar="DIR", help="a new folder, or an empty one")
    parser.add_argument("--overwrite", action="store_true", help="write over the report that is there")
    add_jobs(parser)
    add_device(parser)
    parser.set_defaults(run=_report)


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
