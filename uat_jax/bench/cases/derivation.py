"""How deriving and proving the closed form grows with depth, beside SymPy's own `expand` and a loop of additions.

Letters made by an earlier run are kept, as in any program; SymPy's cache is cleared before each of its runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy

from uat_jax.bench import additions
from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.symbolic.derivation import Derivation, derive
from uat_jax.symbolic.program import Program as Lines
from uat_jax.typing import JsonObject, PyTree

EXPAND_UNTIL = {"expand, σ written out": 12, "expand, each σ named": 24}
"""The depth until which SymPy is asked: the next takes minutes."""

LOOP_FROM = 96
"""From this depth on, deriving and proving stands beside a loop of additions."""


class Sigma(sympy.Function):
    """σ as a noncommutative function."""

    is_commutative = False


class NamedSigmas(dict):
    """σ(argument) as a noncommutative symbol of its own, one for each expanded argument."""

    def __call__(self, argument: sympy.Expr) -> sympy.Expr:
        """The symbol for σ(argument)."""
        return self.setdefault(sympy.expand(argument), sympy.Symbol(f"s{len(self)}", commutative=False))


SIGMAS: dict[str, Callable[[], Callable[[Any], Any]]] = {
    "expand, σ written out": lambda: lambda argument: Sigma(sympy.expand(argument)),
    "expand, each σ named": NamedSigmas,
}


def without_bias(derivation: Derivation) -> Derivation:
    """The derivation with c_j forgotten in b̂_{j,3} = A_j b̂_{j-1,3} + c_j of a middle layer; L ≥ 2."""
    closed, j = derivation.closed, derivation.depth // 2 + 1
    lines = {**derivation.parameters.lines, closed.b3(j): derivation.layers.A(j) @ closed.b3(j - 1)}
    return replace(derivation, parameters=Lines(lines, derivation.parameters.result))  # type: ignore[arg-type]


def by_expand(kind: str, depth: int, sigma: Callable[[PyTree], PyTree], forget: int = 0) -> bool:
    """Whether SymPy's expand finds x_L = closed form; layer ``forget`` of the closed form lacks its b_j."""
    letter = lambda name, j: sympy.Symbol(f"{name}_{j}", commutative=False)
    x_0 = letter("x", 0)
    x, P, q, terms = x_0, sympy.Integer(1), sympy.Integer(0), []
    for j in range(1, depth + 1):
        A, B, C, b, c = (letter(name, j) for name in "ABCbc")
        inner = B if kind == "residual" else B * A
        x = sympy.expand(A * x + c + C * sigma(inner * x + b))
        u = sympy.Add(*(W * s for W, s in terms))
        s = sigma(inner * P * x_0 + inner * q + inner * u + (0 if j == forget else b))
        P, q, terms = A * P, A * q + c, [(A * W, s) for W, s in terms] + [(C, s)]
    return sympy.expand(x - (P * x_0 + q + sympy.Add(*(W * s for W, s in terms)))) == 0


def _expanded(kind: str, depth: int, sigma: Callable[[], Callable[[PyTree], PyTree]]) -> bool:
    sympy.core.cache.clear_cache()  # type: ignore[attr-defined]
    return by_expand(kind, depth, sigma())


def _derived_and_proved(kind: str, depth: int) -> bool:
    return derive(kind, depth=depth).holds()


def build(kind: str, depth: int) -> Experiment:
    """Derive and prove (the baseline), derive alone, and SymPy as deep as it gets."""
    derivation = derive(kind, depth=depth)
    if without_bias(derivation).holds():
        raise WrongAnswerError(f"{kind}, L = {depth}: a closed form without one bias was accepted")
    programs = {
        "derive and prove": Program(_derived_and_proved, (kind, depth), compiled=False),
        "prove": Program(derivation.holds, (), compiled=False),
    }
    for name, sigma in SIGMAS.items():
        if depth <= EXPAND_UNTIL[name]:
            if by_expand(kind, depth, sigma(), forget=depth // 2 + 1):
                raise WrongAnswerError(f"{kind}, L = {depth}: SymPy accepts a closed form without one bias")
            programs[name] = Program(_expanded, (kind, depth, sigma), compiled=False)
    if depth >= LOOP_FROM:
        programs[additions.NAME] = Program(additions.additions, (), compiled=False)
    return Experiment(programs, _check, wrong=lambda accepted: not accepted)


def _check(name: str, accepted: bool) -> None:
    if not accepted:
        raise WrongAnswerError(f"{name}: the closed form was not accepted")


KINDS = ("residual", "transformer")


def _sizes(*depths: int) -> tuple[JsonObject, ...]:
    return tuple({"kind": kind, "depth": depth} for kind in KINDS for depth in depths)


CASES = (
    Case(
        name="derivation",
        question="How do deriving and proving the closed form grow with depth, and against SymPy's own expand?",
        build=build,
        quick=_sizes(2, 3, 4),
        standard=_sizes(6, 12, 24, 48, 96),
        full=_sizes(6, 12, 24, 48, 96, 192),
        axes=("depth",),
        rounds=3,
        compiled=False,
        words={"kind": KINDS},
    ),
)
