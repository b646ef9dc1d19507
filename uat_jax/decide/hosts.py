"""Several processes, on one host or on many, that share the trials of every comparison.

They are joined by `jax.distributed`; each runs the whole program, computes its share of the trials on its own devices,
and all of them gather all results. JAX ends a process without an exception when another one is lost: `supervised` runs
the work in a child, so that this too is an error of one line.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from uat_jax import errors
from uat_jax.errors import HostsError, InputError, UatJaxError

HEARTBEAT_SECONDS = 20
"""A process that has not been heard of for so long is lost."""

LONGEST_WAIT = 2**31 - 1
"""Seconds, in the 32 bits that JAX has for them."""

AGAIN = "start all of them again (trials that are kept in a folder are not computed again)"
IN_EVERY_PROCESS = "raised in every process"


@dataclass(frozen=True)
class Hosts:
    """One process of several.

    ``coordinator``: HOST:PORT of process 0, reachable from all; ``processes``: how many there are; ``process``: which
    one this is, from 0; ``wait``: seconds in which all of them must have started.  Any of the first three is None where
    JAX can find it out itself, as on a TPU pod or under SLURM.  Raises `InputError` for anything out of range.
    """

    coordinator: str | None
    processes: int | None
    process: int | None
    wait: int = 120

    def __post_init__(self) -> None:
        if self.coordinator is not None and not _is_address(self.coordinator):
            raise InputError(f"got coordinator {self.coordinator!r}; wanted HOST:PORT, such as 10.0.0.1:1234")
        if self.processes is not None and self.processes < 1:
            raise InputError(f"got {self.processes} processes; wanted at least 1")
        if self.process is not None and not 0 <= self.process < (self.processes or self.process + 1):
            raise InputError(f"got process {self.process}; wanted one from 0 to {(self.processes or 1) - 1}")
        if not 1 <= self.wait <= LONGEST_WAIT:
            raise InputError(f"got {self.wait} seconds to wait; wanted 1 to {LONGEST_WAIT}")

    def join(self) -> None:
        """Meet the other processes, before anything is computed."""
        try:
            jax.distributed.initialize(
                self.coordinator,
                self.processes,
                self.process,
                initialization_timeout=self.wait,
                heartbeat_timeout_seconds=HEARTBEAT_SECONDS,
                shutdown_timeout_seconds=self.wait,
            )
        except (RuntimeError, ValueError) as error:
            raise HostsError(f"cannot join the other processes: {_first_line(error)}") from error


def _is_address(text: str) -> bool:
    """HOST:PORT."""
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16


def process_index() -> int:
    """The number of this process among those that share the work; 0 if there is one only."""
    return jax.process_index() if jax.distributed.is_initialized() else 0


def process_count() -> int:
    """1 unless processes are joined."""
    return jax.process_count() if jax.distributed.is_initialized() else 1


def gather(text: str) -> list[str]:
    """The texts of all processes, in their order.  Raises `HostsError` if one of them is lost."""
    if process_count() == 1:
        return [text]
    data = np.frombuffer(text.encode(), np.uint8)
    try:
        with _without_stdout():
            lengths = multihost_utils.process_allgather(np.array(data.size, np.int32)).ravel()
            padded = np.pad(data, (0, int(lengths.max()) - data.size))
            rows = np.asarray(multihost_utils.process_allgather(padded)).reshape(len(lengths), -1)
    except (RuntimeError, ValueError) as error:
        raise HostsError(f"another process was lost ({_first_line(error)}); {AGAIN}") from error
    return [bytes(row[:length]).decode() for row, length in zip(rows, lengths, strict=True)]


def check_alike(stated: Mapping[str, Any]) -> None:
    """Raise `HostsError`, in every process, where one of them states something else; it names the first difference."""
    everyone = [json.loads(text) for text in gather(json.dumps(stated, sort_keys=True, default=str))]
    for process, other in enumerate(everyone):
        for name in sorted(everyone[0].keys() | other.keys()):
            first, here = everyone[0].get(name), other.get(name)
            if first != here:
                raise _everywhere(
                    HostsError(f"process 0 has {name} {first}, process {process} has {here}; start all alike")
                )


def shared(work: Callable[[], str]) -> list[str]:
    """The results of the work of all processes; an error of one of them is raised in all."""
    try:
        outcome = ["", work()]
    except UatJaxError as error:
        if process_count() == 1:
            raise
        outcome = [type(error).__name__, f"process {process_index()}: {error}"]
    everyone = [json.loads(text) for text in gather(json.dumps(outcome))]
    for kind, text in everyone:
        if kind:
            raise _everywhere(getattr(errors, kind)(text))
    return [text for _, text in everyone]


def _everywhere(error: UatJaxError) -> UatJaxError:
    """The error with a note that every process raises it, so that none ends before all of them have printed it."""
    error.add_note(IN_EVERY_PROCESS)
    return error


def supervised(work: Callable[..., int], hosts: Hosts, *arguments: Any) -> int:
    """The exit code of work(*arguments) in a child process that has joined the others.

    The child's own descriptors 1 and 2 are closed to what libraries write there; what Python prints gets through.
    Raises `HostsError` if the child is ended from outside, as JAX does where another process is lost.
    """
    child = get_context("spawn").Process(target=_joined, args=(work, hosts, *arguments))
    child.start()
    try:
        child.join()
    except KeyboardInterrupt:
        child.terminate()
        child.join()
        raise
    if child.exitcode == -signal.SIGABRT:
        raise HostsError(f"another process was lost, or did not start within {hosts.wait} seconds; {AGAIN}")
    if child.exitcode is None or child.exitcode < 0:
        raise HostsError(
            f"this process was ended by signal {-(child.exitcode or 0)}, perhaps for want of memory; {AGAIN}"
        )
    return child.exitcode


def _joined(work: Callable[..., int], hosts: Hosts, *arguments: Any) -> None:
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        stream = os.fdopen(os.dup(descriptor), "w", encoding="utf-8", buffering=1)
        setattr(sys, name, stream)
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    code, together = 1, False
    try:
        hosts.join()
        code, together = work(*arguments), True
    except UatJaxError as error:
        print(f"uat-jax: {error}", file=sys.stderr)
        code, together = 2, IN_EVERY_PROCESS in getattr(error, "__notes__", ())
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    if together:
        jax.distributed.shutdown()
    os._exit(code)  # not through JAX's own end, which waits for processes that may be lost


@contextlib.contextmanager
def _without_stdout() -> Iterator[None]:
    """Gloo reports its connections on descriptor 1, where tables and JSON go."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200]
