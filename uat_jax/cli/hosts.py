"""The options of ``uat-jax prove`` on several processes or hosts."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser

from uat_jax.decide.hosts import Hosts
from uat_jax.errors import InputError

AUTOMATIC = "auto"


def add_hosts(parser: ArgumentParser) -> None:
    """The options."""
    group = parser.add_argument_group("several processes, each started with the same command but for --process")
    group.add_argument("--coordinator", metavar="HOST:PORT", help=f"of process 0; {AUTOMATIC}: of the cluster")
    group.add_argument("--processes", type=int, metavar="N", help="how many there are")
    group.add_argument("--process", type=int, metavar="I", help="which one this is, from 0")
    group.add_argument(
        "--wait", type=int, metavar="SECONDS", default=Hosts.wait, help="for all to start (default %(default)s)"
    )


def hosts_of(options: argparse.Namespace) -> Hosts | None:
    """None for one process.  Raises `InputError` for options that do not belong together."""
    given = (options.coordinator, options.processes, options.process)
    if given == (None, None, None):
        return None
    if options.coordinator == AUTOMATIC:
        return Hosts(None, options.processes, options.process, options.wait)
    if None in given:
        missing = [f"--{n}" for n in ("coordinator", "processes", "process") if getattr(options, n) is None]
        raise InputError(
            f"got no {' and no '.join(missing)}; several processes need --coordinator, --processes, --process"
        )
    return Hosts(*given, options.wait)
