"""Which law is missing where prime fields call functions different that may be equal, in words a user can act on."""

from __future__ import annotations

from collections.abc import Iterable

from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.definitions import DEFINITIONS
from uat_jax.arithmetic.field_rules import RULES
from uat_jax.arithmetic.interpreter import BODY, IDENTITY, LOOPS, programs_within
from uat_jax.arithmetic.outside_function import NAME, outside_functions
from uat_jax.arithmetic.structure import STRUCTURAL
from uat_jax.arithmetic.tracing import is_number

FOLLOWED = RULES.keys() | DEFINITIONS.keys() | STRUCTURAL | IDENTITY | BODY.keys() | LOOPS.keys()
"""Primitives of which prime fields know more than that equal operands give equal results."""

MISSING = {
    "ceil floor rem round": (
        "no law says it of rounding; compare what is rounded, or leave the rounding out on both sides"
    ),
    "argmax argmin sort top_k": "no law says it of sorted numbers and places; compare what is sorted",
    "abs clamp eq ge gt le lt max min ne reduce_max reduce_min select_n sign": (
        "the cases of these decisions do not all show it; a domain (uj.positive, uj.interval) leaves fewer of them"
    ),
    "log log1p": (
        "a logarithm is taken apart where its factors are known to be positive: give the inputs a domain, such as "
        "uj.positive, or write the factors as sums of exponentials or squares"
    ),
    "cbrt": "of roots of degree 3 powers of one root are known; a product of several is not taken apart",
    "pow rsqrt sqrt": (
        "a root or power is taken apart where its factors are known not to be negative: give the inputs a domain, such "
        "as uj.nonnegative"
    ),
    "acos acosh asin asinh atan atan2 atanh cos sin tan": (
        "of trigonometric functions and their inverses sin, cos and tan of sums of angles are known, and atan2 where "
        "the sign of a coordinate is: give it a domain, such as uj.positive"
    ),
    "bessel_i0e bessel_i1e digamma erf erf_inv igamma lgamma polygamma regularized_incomplete_beta zeta": (
        "of special functions symmetries and the recurrences of lgamma and digamma for positive numbers are known"
    ),
}
"""Primitives → what is said where they occur; the first that do are meant."""


def missing(programs: Iterable[ClosedJaxpr], parting: str) -> str:
    """What may be missing in a comparison of programs that part at some operations, which `parting` names in quotes.

    Kinds of primitives at which the programs part go before those that occur anywhere in them.
    """
    programs = list(programs)
    equations = [e for program in programs for inner in programs_within(program) for e in inner.eqns]
    names = {e.primitive.name for e in equations if any(map(is_number, e.invars))}
    outside = [name for program in programs for name in outside_functions(program)]
    unknown = [*dict.fromkeys(outside), *sorted(names - FOLLOWED - {NAME})]
    if unknown:
        return f"{_quoted(unknown)}: no rule; all that is known is that equal operands give equal results"
    named = {name for name in names if f"'{name}'" in parting}
    for some in (named, names):
        for kinds, text in MISSING.items():
            found = sorted(some & set(kinds.split()))
            if found:
                return f"{_quoted(found)}: {text}"
    return "both consist of sums, products and exponentials only: if they are equal, a constant is read differently"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
