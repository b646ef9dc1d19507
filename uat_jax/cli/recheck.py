"""``uat-jax recheck``: certificates decided again, with fresh random numbers."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser

from uat_jax.cli.options import add_device, add_memory
from uat_jax.decide.certificate import Certificate, load
from uat_jax.decide.equivalence import KIND
from uat_jax.decide.loops.induction import KIND as SCAN
from uat_jax.decide.recheck import rechecked
from uat_jax.errors import MismatchError
from uat_jax.ledger.ledger import recheck

OF_FUNCTIONS = (KIND, SCAN)
"""The ids of claims about functions that a user gave: two of them, or a scan and its closed form."""


def add_recheck(parser: ArgumentParser) -> None:
    """The options of ``uat-jax recheck``."""
    parser.add_argument("certificates", nargs="+", metavar="FILE")
    parser.add_argument("--seed", type=int, help="random seed (default: the certificate's plus one)")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="for each certificate (default: 600)")
    add_memory(parser)
    add_device(parser, "of a claim, that of its settings; of two functions, JAX's own choice")
    parser.set_defaults(run=_recheck)


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
