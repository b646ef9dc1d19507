"""What an undecided comparison says to its user: which law is missing, where in the programs, and what to do about it.

A message has three parts: primitives in quotes, each with the line that it was written on; the law that is missing, or
what is refused; and what the user can do, which begins with a verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.interpret.definitions import DEFINITIONS
from uat_jax.interpret.interpreter import BODY, IDENTITY, LOOPS, inner_programs
from uat_jax.interpret.outside_function import NAME, OUTSIDE, outside_functions
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import is_number, source_line
from uat_jax.numbers.prime_fields.field_rules import RULES

FOLLOWED = RULES.keys() | DEFINITIONS.keys() | STRUCTURAL | IDENTITY | BODY.keys() | LOOPS.keys()
"""Primitives of which prime fields know more than that equal operands give equal results."""

DECISIONS = "abs clamp eq ge gt le lt max min ne reduce_max reduce_min select_n sign"
"""Primitives that part the inputs into cases."""

FACTORISATIONS = "cholesky eigh lu qr svd triangular_solve"
"""Primitives that take matrices apart."""

MISSING = {
    "ceil floor rem round": (
        "no law says it of rounding; compare what is rounded, or leave the rounding out on both sides"
    ),
    "argmax argmin sort top_k": "no law says it of sorted numbers and places; compare what is sorted",
    FACTORISATIONS: (
        "of factors of matrices their defining equations are known, and no more of eigenvalues and singular values; "
        "compare solutions or products instead of factors, or smaller matrices"
    ),
    DECISIONS: (
        "the cases of these decisions do not all show it; give the inputs a domain, such as uj.positive or "
        "uj.interval, which leaves fewer of them, or compare the functions before and after these lines"
    ),
    "log log1p": (
        "a logarithm is taken apart where its factors are known to be positive; give the inputs a domain, such as "
        "uj.positive, or write the factors as sums of exponentials or squares"
    ),
    "cbrt": (
        "of roots of degree 3 powers of one root are known, and a product of several is not taken apart; compare the "
        "third powers"
    ),
    "pow rsqrt sqrt": (
        "a root or power is taken apart where its factors are known not to be negative; give the inputs a domain, such "
        "as uj.nonnegative"
    ),
    "acos acosh asin asinh atan atan2 atanh cos sin tan": (
        "of trigonometric functions and their inverses sin, cos and tan of sums of angles are known, and atan2 where "
        "the sign of a coordinate is; give that coordinate a domain, such as uj.positive"
    ),
    "bessel_i0e bessel_i1e digamma erf erf_inv igamma lgamma polygamma regularized_incomplete_beta zeta": (
        "of special functions symmetries and the recurrences of lgamma and digamma for positive numbers are known; "
        "give their arguments a domain, such as uj.positive, or compare the arguments"
    ),
}
"""Primitives → what is said where they occur; the first that do are meant."""

BITS = frozenset(
    "and clz not or population_count rem shift_left shift_right_arithmetic shift_right_logical xor".split()
)
DRAWN = frozenset(["random_bits", "random_unwrap"])
OF_KEYS = (
    "the words of a random key and the bits drawn from it are unknown functions of the key, and no law says it of "
    "operations on bits; compare the keys, or what is drawn, before these operations"
)
"""What is said where programs look at bits of what `DRAWN` gives."""

OTHERWISE = (
    "sums, products and exponentials alone are taken apart completely, so a constant is read differently on both sides "
    "if they are equal; write it in the same way on both, such as 1/3 or jnp.sqrt(2.0)"
)
"""What is said of programs that consist of nothing else."""

SLOW = {
    FACTORISATIONS: (
        "rows can be exchanged in n! ways, and polynomials of all entries get long; use smaller matrices, or compare "
        "solutions instead of factors"
    ),
    DECISIONS: (
        "each decision may double the cases; give the inputs a domain, such as uj.interval, or compare smaller arrays"
    ),
    "scan while": "loops are unrolled; use fewer steps, or compare the bodies",
}
"""Primitives → why a comparison of them takes long, and what to do."""

OF_ITS_SIZE = "every entry is followed; use smaller arrays, or compare parts of the functions"
"""What is said of other programs that take long."""

MOST_NAMED = 3
"""Of more primitives of a kind only their number is said."""

NOWHERE = " at a line that is not known"
"""Said of an equation without a line of the user's: of JAX itself, of a file, of a derivative's rule."""

PLACE = re.compile(rf" (at|near) \S+:\d+|{NOWHERE}")
"""A line of a program, as `source_line` writes it."""


@dataclass(frozen=True)
class Lines:
    """Where the equations of programs stand: by what each is, its own line, or one near it."""

    known: Mapping[int, str]

    def of(self, equation: JaxprEqn) -> str:
        """' at file:line', or ' near file:line'."""
        return self.known.get(id(equation)) or source_line(equation) or NOWHERE

    def named(self, equation: JaxprEqn) -> str:
        """The primitive, or the function that is called, and its line."""
        name = equation.params["function"] if equation.primitive is OUTSIDE else equation.primitive.name
        return f"'{name}'{self.of(equation)}"


def lines_of(programs: Iterable[ClosedJaxpr | Jaxpr]) -> Lines:
    """The lines of all equations: of one that JAX wrote the line of the call around it, or the nearest one."""
    found: dict[int, str] = {}
    for program in programs:
        _add_lines(program, "", found)
    return Lines(found)


def _add_lines(program: ClosedJaxpr | Jaxpr, near: str, found: dict[int, str]) -> None:
    equations = getattr(program, "jaxpr", program).eqns
    lines = list(map(source_line, equations))
    near = near or next(filter(None, lines), "").replace(" at ", " near ")
    for equation, line in zip(equations, lines, strict=True):
        near = line.replace(" at ", " near ") or near
        found[id(equation)] = found.get(id(equation)) or line or near
        for inner in inner_programs(equation):
            _add_lines(inner, near, found)


def parting(programs: Sequence[ClosedJaxpr], apart: Sequence[Sequence[JaxprEqn]]) -> str:
    """Where each program first computes what the other one never does: an equation of which a line is known."""
    lines = lines_of(programs)
    first = [next((e for e in side if lines.of(e) != NOWHERE), side[0] if side else None) for side in apart]
    texts = [f"{side} {lines.named(e)}" for side, e in zip(("left", "right"), first, strict=False) if e is not None]
    return "; ".join(texts)


def missing(programs: Sequence[ClosedJaxpr], apart: Sequence[Sequence[JaxprEqn]] = ()) -> str:
    """What may be missing in a comparison of two programs.

    Args:
        programs: both of them.
        apart: equations of each that compute what the other one never does; they go before all others.
    """
    equations = [e for e in _equations(programs) if any(map(is_number, e.invars))]
    outside = [name for program in programs for name in outside_functions(program)]
    lines = lines_of(programs)
    unknown = [e for e in equations if e.primitive.name not in FOLLOWED | {NAME}]
    if outside or unknown:
        names = ", ".join([*(f"'{name}'" for name in dict.fromkeys(outside)), *_named(lines, unknown)])
        return (
            f"{names}: no rule; all that is known is that equal operands give equal results; compare the operands, or "
            "replace the function by one of the table in docs/primitives.md on both sides"
        )
    drawn = [e for e in _equations(programs) if e.primitive.name in DRAWN]
    if drawn and any(e.primitive.name in BITS for side in apart for e in side):
        return f"{', '.join(_named(lines, drawn))}: {OF_KEYS}"
    return _first(MISSING, lines, [*(list(side) for side in apart), equations]) or _otherwise(lines, apart, equations)


def takes_long(programs: Sequence[ClosedJaxpr]) -> str:
    """Why a comparison of two programs may not have ended in time, and what to do."""
    lines, equations = lines_of(programs), list(_equations(programs))
    found = _first(SLOW, lines, [equations])
    if found:
        return f"what takes long is {found}"
    last = "".join(f", the last of them {text}" for text in _named(lines, equations[-1:]))
    return f"what takes long is the number of operations, {len(equations)}{last}; {OF_ITS_SIZE}"


def advised(refusal: str, programs: Sequence[ClosedJaxpr]) -> str:
    """A refusal, with the place of the primitive that it names, and what to do, where it says neither."""
    text = refusal
    if not PLACE.search(text):
        lines, equations = lines_of(programs), list(_equations(programs))
        quoted = re.findall(r"'(\w[\w-]*)'", text)
        at = [e for e in equations if e.primitive.name in quoted] or equations[-1:]
        text += f" ({', '.join(_named(lines, at))})" if at else ""
    return text if ";" in text else f"{text}; compare what is computed before that line, or rewrite it on both sides"


def _equations(programs: Iterable[ClosedJaxpr | Jaxpr]) -> Iterable[JaxprEqn]:
    """The equations whose results depend on the inputs, those of functions that are called as well."""
    for program in programs:
        yield from _varying(program, [True] * len(getattr(program, "jaxpr", program).invars))


def _varying(program: ClosedJaxpr | Jaxpr, given: Sequence[bool]) -> Iterable[JaxprEqn]:
    """The equations that depend on the inputs that are marked; a selection by a constant mask is no decision."""
    jaxpr = getattr(program, "jaxpr", program)
    varying = {variable for variable, marked in zip(jaxpr.invars, given, strict=True) if marked}
    for equation in jaxpr.eqns:
        marks = [not isinstance(atom, Literal) and atom in varying for atom in equation.invars]
        if not any(marks):
            continue
        varying.update(equation.outvars)
        inner = inner_programs(equation)
        decides = equation.primitive.name != "select_n" or marks[0]
        if decides and (not inner or equation.primitive.name in LOOPS):
            yield equation
        for called in inner:
            inputs = getattr(called, "jaxpr", called).invars
            yield from _varying(called, marks if len(marks) == len(inputs) else [True] * len(inputs))


def _first(table: Mapping[str, str], lines: Lines, groups: Iterable[Sequence[JaxprEqn]]) -> str:
    """The first kind of a table that occurs among some equations, or else among the next ones."""
    kinds = {name: kind for kind in table for name in kind.split()}
    both = [list(group) for group in groups]
    for equations in ([e for group in both[:-1] for e in group], both[-1]):
        present = {kinds[e.primitive.name] for e in equations if e.primitive.name in kinds}
        for kind, text in table.items():
            if kind in present:
                names = _named(lines, [e for e in equations if kinds.get(e.primitive.name) == kind])
                return f"{', '.join(names)}: {text}"
    return ""


def _otherwise(lines: Lines, apart: Sequence[Sequence[JaxprEqn]], equations: Sequence[JaxprEqn]) -> str:
    some = next((side for side in apart if side), equations[-1:])
    return f"{', '.join(_named(lines, some[:1]))}: {OTHERWISE}" if some else OTHERWISE


def _named(lines: Lines, equations: Iterable[JaxprEqn]) -> list[str]:
    """Each primitive once, with its first line; of many the first, and how many there are."""
    first: dict[str, str] = {}
    for equation in equations:
        name = equation.primitive.name
        if first.get(name, NOWHERE) == NOWHERE:
            first[name] = lines.of(equation)
    texts = [f"'{name}'{line}" for name, line in first.items()]
    more = len(texts) - MOST_NAMED
    return texts if more <= 0 else [*texts[:MOST_NAMED], f"{more} more kinds"]
