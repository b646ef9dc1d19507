"""What a claim decides, caught on its way into the methods: equations, pairs of programs, counts, ranks, …"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from uat_jax.decide import counts, dependence, inequalities, normal_forms, programs, ranks
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

METHODS: tuple[Callable[..., Any], ...] = (
    counts.counted,
    ranks.bounded,
    ranks.attained,
    dependence.dynamic,
    inequalities.proved_inequality,
    inequalities.enclosed,
)
"""Methods that are told what to find: their calls are caught wherever a claim has imported them."""


@dataclass(frozen=True)
class Call:
    """A call of one of the `METHODS`."""

    method: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass
class Statements:
    """``steps``: equations that were decided; ``pairs``: (network, printed, further letters to unfold); ``calls``."""

    steps: list[Step] = field(default_factory=list)
    pairs: list[tuple[Program, Program, Any]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


@contextmanager
def recorded(methods: tuple[Callable[..., Any], ...] = METHODS) -> Iterator[Statements]:
    """The statements decided while the context is open; they are decided all the same."""
    found = Statements()
    decide, difference = normal_forms.decide, programs.difference

    def deciding(step):
        found.steps.append(step)
        return decide(step)

    def differing(network, printed, also=None):
        found.pairs.append((network, printed, also))
        return difference(network, printed, also)

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(normal_forms, "decide", deciding))
        stack.enter_context(mock.patch.object(programs, "difference", differing))
        for module, name, method in list(_imported(methods)):
            stack.enter_context(mock.patch.object(module, name, _catching(method, found.calls)))
        yield found


def _imported(methods: tuple[Callable[..., Any], ...]) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Every module of the package that knows one of the methods, by which name, and which method."""
    wanted = {id(method): method for method in methods}
    for name, module in list(sys.modules.items()):
        if name.startswith("uat_jax."):
            yield from (
                (module, known, wanted[id(value)]) for known, value in vars(module).items() if id(value) in wanted
            )


def _catching(method: Callable[..., Any], calls: list[Call]) -> Callable[..., Any]:
    def call(*arguments, **keywords):
        calls.append(Call(method, arguments, keywords))
        return method(*arguments, **keywords)

    return call
