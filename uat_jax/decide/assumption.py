"""What a finding presupposes, as data; the line that a person reads is made from it and never read back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from uat_jax.decide.domain import parse_domain
from uat_jax.interpret.recognition import ConstantReading

MOST_WRITTEN = 32
"""So many readings of constants are assumptions of their own; the figures of the evidence hold all of them."""


class AssumptionKind(StrEnum):
    """What may be presupposed.  `TEXTS` says which fields each kind has, and how it reads."""

    # of the question
    FIXED_INPUT = "fixed input"
    STATIC_INPUT = "static input"
    INITIAL_CARRY = "initial carry"
    DOMAIN = "domain"
    INTEGERS = "integers"
    FAMILY = "family"
    READ_AS = "read as"
    COMPLEX_NUMBERS = "complex numbers"
    KERNELS = "kernels"
    OUTSIDE_FUNCTION = "outside function"
    NO_ERROR = "no error"
    ONLY_AT_SIZES = "only at sizes"
    LARGEST_SIZE = "largest size"
    SYMBOLIC_SIZES = "symbolic sizes"
    # of a comparison in prime fields, or of exact values
    CONSTANT = "constant"
    MORE_CONSTANTS = "more constants"
    DEEP_EXPONENTIALS = "deep exponentials"
    ENTRIES_LEFT_OUT = "entries left out"
    WHERE_DEFINED = "where defined"
    REAL_NUMBERS = "real numbers"
    RANDOM_PRIMES = "random primes"
    RANDOM_EXPONENTS = "random exponents"
    CONSTANT_FUNCTIONS = "constant functions"
    UNDEFINED_ENTRIES = "undefined entries"
    ONE_SIDED_ENTRIES = "entries undefined on one side"
    MASKED_INFINITIES = "masked infinities"
    INFINITIES_MEET = "infinities meet"
    NO_SAMPLE = "no sample"
    # of a comparison of integers
    EXACT_INTEGERS = "exact integers"
    SOLVER = "solver"
    # of a proof
    HYPOTHESIS = "hypothesis"
    COUNTED_TERMS = "counted terms"
    ELEMENTWISE = "elementwise"
    SOFTMAX_ROWS = "softmax rows"
    ABSENT_BIAS = "absent bias"
    # of a comparison of floats
    INDEPENDENT_ROUNDING = "independent rounding"
    ORDER_OF_DATA = "order of data"


def _only_at_sizes(*, symbols: Sequence[str], sizes: Sequence[str]) -> str:
    names, tried = ", ".join(symbols), "; ".join(sizes)
    return f"shown at these sizes of the symbolic dimensions {names}, and at no others: {tried}"


FAMILY_TEXTS = {
    "key": "any random key",
    "orthogonal": "a matrix with orthonormal columns, or rows if it has more columns",
    "simplex": "at least 0 in every entry, with sum 1 along the last axis",
    "sorted": "in ascending order along the last axis",
    "symmetric": "a symmetric matrix",
}
"""What an input is that ranges over a set of arrays (`parametrized.FAMILIES`)."""


READ_OFF = ", the places of the array that it chooses from"
"""Where the range of an input of integers comes from if the user gave none."""


TEXTS: Mapping[AssumptionKind, Callable[..., str]] = {
    AssumptionKind.FIXED_INPUT: lambda *, position, name: f"integer input {name} is fixed to the given values",
    AssumptionKind.STATIC_INPUT: lambda *, name, value: f"input {name}, which is no array, is fixed to {value}",
    AssumptionKind.INITIAL_CARRY: lambda *, position: f"array {position} of the initial carry has the given values",
    AssumptionKind.DOMAIN: lambda *, position, name, domain: parse_domain(domain).written(name),
    AssumptionKind.INTEGERS: lambda *, position, name, low, high, read_off: (
        f"{name} is any integer from {low} to {high}" + READ_OFF * read_off
    ),
    AssumptionKind.FAMILY: lambda *, position, name, family: f"{name} is {FAMILY_TEXTS[family]}",
    AssumptionKind.READ_AS: lambda *, written, function: f"{written} is read as the function {function}",
    AssumptionKind.COMPLEX_NUMBERS: lambda: (
        "complex numbers are pairs of real ones; zero has no sign, also on branch cuts"
    ),
    AssumptionKind.KERNELS: lambda: (
        "a Pallas kernel computes what JAX's interpreter of kernels does: its blocks one after the other, at places "
        "within its arrays"
    ),
    AssumptionKind.OUTSIDE_FUNCTION: lambda *, function: (
        f"{function}, which is outside of JAX, is a function of its operands: equal ones give equal results"
    ),
    AssumptionKind.NO_ERROR: lambda *, side, where: (
        f"inputs for which the {side} function raises an error {where} are left out"
    ),
    AssumptionKind.ONLY_AT_SIZES: _only_at_sizes,
    AssumptionKind.LARGEST_SIZE: lambda *, largest: (
        f"no axis is longer than {largest}: beyond that, integers that count places may wrap"
    ),
    AssumptionKind.SYMBOLIC_SIZES: lambda: (
        "at every size the functions are what they are at a symbolic one: no branch of Python depends on the number"
    ),
    AssumptionKind.CONSTANT: lambda **reading: ConstantReading(**reading).text,
    AssumptionKind.MORE_CONSTANTS: lambda *, count: f"{count} more constants are read in the same way",
    AssumptionKind.DEEP_EXPONENTIALS: lambda *, levels: (
        f"exponentials nested more than {levels} deep are unknown functions"
    ),
    AssumptionKind.ENTRIES_LEFT_OUT: lambda: "entries that divide by zero are left out",
    AssumptionKind.WHERE_DEFINED: lambda: "both are compared where they are defined",
    AssumptionKind.REAL_NUMBERS: lambda: "sums, products and casts are those of real numbers",
    AssumptionKind.RANDOM_PRIMES: lambda: (
        "the difference of the functions does not vanish modulo the random primes by its constants alone"
    ),
    AssumptionKind.RANDOM_EXPONENTS: lambda *, condition: (
        f"exponents behave like independent random numbers ({condition})"
    ),
    AssumptionKind.CONSTANT_FUNCTIONS: lambda: "both functions are constant: nothing about the inputs was compared",
    AssumptionKind.UNDEFINED_ENTRIES: lambda *, count: (
        f"{count} output entries that are NaN or infinite on both sides are left out"
    ),
    AssumptionKind.ONE_SIDED_ENTRIES: lambda *, count: (
        f"nothing is compared at {count} output entries that are NaN for all real inputs on one side alone"
    ),
    AssumptionKind.INFINITIES_MEET: lambda *, side: (
        f"the {side} function is NaN where infinities of two signs meet, such as in rows that are masked whole: "
        "nothing is compared there"
    ),
    AssumptionKind.MASKED_INFINITIES: lambda: (
        "numbers that are infinite behind a mask are equal if they are infinite at the same places, and equal elsewhere"
    ),
    AssumptionKind.NO_SAMPLE: lambda *, reason: f"no look at float64 values: {reason}",
    AssumptionKind.EXACT_INTEGERS: lambda: "the device computes integers and booleans as XLA defines them",
    AssumptionKind.SOLVER: lambda: (
        "the solver z3 is right where it says that a formula over bit vectors has no solution"
    ),
    AssumptionKind.HYPOTHESIS: lambda *, statement: statement,
    AssumptionKind.COUNTED_TERMS: lambda *, terms: f"the number is a combination of {', '.join(terms)}",
    AssumptionKind.ELEMENTWISE: lambda: "the activation is applied to every element",
    AssumptionKind.SOFTMAX_ROWS: lambda: (
        "a softmax, whatever its scores, masks and positions, has rows that add up to 1"
    ),
    AssumptionKind.ABSENT_BIAS: lambda: "a bias that the model has not is a bias of zero",
    AssumptionKind.INDEPENDENT_ROUNDING: lambda: (
        "rounding errors are independent with mean zero and within their bounds, to first order"
    ),
    AssumptionKind.ORDER_OF_DATA: lambda: "sums are accumulated in an order that does not depend on the data",
}
"""Kind → the line about it, from its fields."""


@dataclass(frozen=True)
class Assumption:
    """One thing that a finding presupposes.

    kind: what it is.  about: the fields of that kind, as JSON holds them (lists, not tuples).  at: the sizes of
    symbolic dimensions where alone it is presupposed, as text; none if it is everywhere.

    Raises:
        TypeError: `about` has not the fields of its kind.
    """

    kind: AssumptionKind
    about: Mapping[str, Any] = field(default_factory=dict)
    at: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.text  # noqa: B018 - checks the fields

    @property
    def text(self) -> str:
        """The line that a person reads."""
        line = TEXTS[self.kind](**self.about)
        return f"{line} (at {'; '.join(self.at)})" if self.at else line

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash((self.kind, self.text))

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps."""
        return {"kind": self.kind, "about": dict(self.about), "at": list(self.at), "text": self.text}


def from_data(data: Any) -> Assumption:
    """The assumption that `as_data` wrote.  Raises ValueError, TypeError or KeyError if it is none of ours."""
    found = Assumption(AssumptionKind(data["kind"]), data["about"], tuple(data["at"]))
    if found.as_data() != data or not found.text.isprintable():
        raise ValueError(f"the assumption {data['text']!r} is not what its kind and fields say")
    return found


def of_constants(constants: Sequence[ConstantReading]) -> tuple[Assumption, ...]:
    """The readings of constants, the first `MOST_WRITTEN` and how many more there are."""
    more = len(constants) - MOST_WRITTEN
    first = [Assumption(AssumptionKind.CONSTANT, dataclasses.asdict(c)) for c in constants[:MOST_WRITTEN]]
    rest = [Assumption(AssumptionKind.MORE_CONSTANTS, {"count": more})] if more > 0 else []
    return (*first, *rest)


def of_hypotheses(statements: Sequence[str]) -> tuple[Assumption, ...]:
    """The hypotheses of a proof, each once."""
    kind = AssumptionKind.HYPOTHESIS
    return tuple(Assumption(kind, {"statement": statement}) for statement in dict.fromkeys(statements))
