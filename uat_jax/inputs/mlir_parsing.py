"""MLIR text and portable bytecode as a module of operations; text from outside is parsed in another process first.

MLIR's parsers are written for trusted input: ten thousand nested modules overflow the stack of the process.  So what
comes from a file is tried in a child process, whose crash is one line here.  This file is the child's program as well,
and therefore imports JAX alone.
"""

from __future__ import annotations

import atexit
import functools
import re
import subprocess
import sys
import threading
from typing import Any

import jax
from jax.extend.mlir import deserialize_portable_artifact, ir

BYTECODE = b"ML\xefR"
"""How portable bytecode begins."""

SECONDS = 60
"""The child is given up after so long."""


@functools.cache
def context() -> ir.Context:
    """A context that knows the dialects of JAX: `jax.extend.mlir` has no other way to one."""
    lowered: Any = jax.jit(lambda: 0).lower().compiler_ir("stablehlo")
    return lowered.context


def parsed(source: bytes) -> ir.Module:
    """The module that text or bytecode describes, verified.

    Raises:
        ValueError: it describes none; the text is the first line of what MLIR says.
    """
    said: list[str] = []
    handler: Any = context().attach_diagnostic_handler(lambda diagnostic: not said.append(diagnostic.message))
    try:
        if source.startswith(BYTECODE):
            return deserialize_portable_artifact(source, context())
        return ir.Module.parse(source.decode(), context=context())
    except (ir.MLIRError, RuntimeError, TypeError) as error:
        raise ValueError(_unknown(said) or _told(str(error))) from error
    finally:
        handler.detach()


UNKNOWN = re.compile(r"unregistered operation 'vhlo\.(\w+)'")
"""What MLIR says of an operation of a newer StableHLO."""


def _unknown(said: list[str]) -> str:
    """That an operation is newer than the StableHLO of this JAX, if it is; else nothing."""
    found = next((match for text in said if (match := UNKNOWN.search(text))), None)
    if found is None:
        return ""
    return (
        f"it uses {found[1]!r}, which is newer than the StableHLO of JAX {jax.__version__}; "
        "read it with the version of JAX that wrote it, or with a newer one"
    )


def _told(message: str) -> str:
    """The first line that says something: MLIR's own headline does not."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith("error:")), lines[0] if lines else "no message")
    return told.removeprefix("error:").strip().replace('"-":', "line ")


def parsed_carefully(source: bytes) -> ir.Module:
    """`parsed`, of a source that nobody vouches for: tried in a child process first.

    Raises:
        ValueError: as `parsed`; or the parser crashed, or took longer than `SECONDS`.
    """
    child = _child()
    assert child.stdin is not None and child.stdout is not None
    timer = threading.Timer(SECONDS, child.kill)
    timer.start()
    try:
        child.stdin.write(len(source).to_bytes(LENGTH) + source)
        child.stdin.flush()
        answer = child.stdout.readline().decode(errors="replace").strip()
    except OSError:  # it died while it was written to
        answer = ""
    finally:
        timer.cancel()
    if not answer:
        _child.cache_clear()
        _end(child)
        raise ValueError(f"MLIR's parser crashes on it, or takes more than {SECONDS} seconds")
    if answer != FINE:
        raise ValueError(answer)
    return parsed(source)


FINE = "fine"
"""The child's answer for a module; otherwise it says what is wrong."""

LENGTH = 8
"""So many bytes, before each source, say how long it is."""


@functools.cache
def _child() -> subprocess.Popen[bytes]:
    """The child process, which stays for the next source; it ends with this one."""
    child = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    atexit.register(_end, child)
    return child


def _end(child: subprocess.Popen[bytes]) -> None:
    atexit.unregister(_end)
    child.kill()
    child.communicate()


def _answer_parent() -> None:
    """The child's whole work."""
    read, write = sys.stdin.buffer.read, sys.stdout.buffer.write
    while length := read(LENGTH):
        try:
            parsed(read(int.from_bytes(length)))
            answer = FINE
        except ValueError as error:  # text that is no UTF-8 as well
            answer = " ".join(str(error).split())
        write(answer.encode() + b"\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _answer_parent()
