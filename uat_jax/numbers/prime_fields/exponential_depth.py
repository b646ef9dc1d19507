"""How deeply exponentials are nested in a jaxpr, which primitives it uses, and what those without a rule decide."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jax.typing import ArrayLike

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.closed_form import ClosedForm, E, Product
from uat_jax.interpret.concrete import is_plain
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.definitions import DEFINITIONS, is_defined
from uat_jax.interpret.interpreter import IDENTITY, STRUCTURAL, Arithmetic, interpret
from uat_jax.interpret.outside_function import OUTSIDE, named
from uat_jax.interpret.recognition import ConstantReading, meanings
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.prime_fields.field_rules import RULES
from uat_jax.typing import Array

ALWAYS = frozenset(["exp", "exp2", "expm1", "cumlogsumexp"])
"""Primitives that take an exponential."""

WRITTEN = frozenset(["tanh", "logistic", "cos", "sin", "cosh", "sinh", "tan"])
"""Primitives that take one when they are written with exponentials."""


FOLLOWED = frozenset({*RULES, *DEFINITIONS, *STRUCTURAL, *IDENTITY})
"""Primitives that prime fields have a rule, a definition or a rearrangement for."""

DECIDED_BY = {"and": False, "or": True}
"""What decides an operation on booleans alone, whatever the other operand is; of integers it is one of bits."""

DECIDES = frozenset(["select_and_scatter_add", "sign", "sort", "top_k"])
"""Followed primitives whose floats are defined where an operand is NaN, or whose law excepts the value 0."""

SELECTIONS = frozenset(["select_and_scatter_add", "select_n"])
"""Primitives that select entries, by their first operand, or have such ones in their definition."""

CARRY_NAN = frozenset(["fft"])
"""Primitives without a rule that are known to make NaN of NaN; of others nothing is known."""

UNDEFINED_STAYS = (FOLLOWED - DECIDES) | CARRY_NAN
"""Primitives whose floats are undefined where an operand that they depend on is."""


@dataclass(frozen=True)
class Depth:
    """The largest number of exponentials on a path to a value, without and with the `WRITTEN` ones.

    varies: whether the value depends on an input.  doubt: a primitive without a rule that it depends on, or '': such a
    value may be undefined anywhere.
    """

    plain: int = 0
    written: int = 0
    varies: bool = False
    doubt: str = ""

    def __or__(self, other: Depth) -> Depth:
        """The depth of two arrays together: of each number the larger, and each doubt if either has it."""
        return Depth(
            max(self.plain, other.plain),
            max(self.written, other.written),
            self.varies or other.varies,
            self.doubt or other.doubt,
        )


@dataclass(frozen=True)
class Taken:
    """An exponential that is taken of so many numbers.

    of: the depth of their array.  always: whether it is one when no `WRITTEN` ones are.
    """

    of: Depth
    always: bool
    entries: int


class ExponentialDepth(Arithmetic[Depth | np.ndarray]):
    """Numbers are depths.

    primitives: the names of what was applied to numbers.  deepest: of all values.  readings: constants that stand for
    other numbers than are written.  selects: whether numbers decide a selection.  taken: the exponentials.
    """

    name = "counting of exponentials"
    integers_may_wrap = (
        True  # those of constants are left to JAX; where they depend on inputs the prime fields refuse them
    )
    rules = {}
    takes_unknown = True
    follows_both = True

    def __init__(self) -> None:
        self.primitives: set[str] = set()
        self.deepest = Depth()
        self.readings: set[ConstantReading] = set()
        self.selects = False
        self.taken: list[Taken] = []

    def constant(self, array: Array, dtype: np.dtype) -> Depth:
        """A constant, whose readings are noted; one that stands for a power of e is an exponential."""
        found = meanings(np.asarray(array), dtype)
        self.readings |= found.readings if found is not None else set()
        if found is None or not any(_has_exponential(m.form) for m in found.distinct):
            return Depth()
        self.deepest = self.deepest | Depth(1, 1)
        return Depth(1, 1)

    def number(self, array: ArrayLike) -> Depth:
        """A constant."""
        return Depth()

    def involves(self, equation: JaxprEqn, operands: Sequence[Depth | np.ndarray]) -> bool:
        """Whether any operand is a depth, or JAX cannot evaluate the equation."""
        return equation.primitive is OUTSIDE or any(isinstance(operand, Depth) for operand in operands)

    def supports(self, equation: JaxprEqn, operands: Sequence[Depth | np.ndarray]) -> bool:
        """Every primitive has a depth."""
        return True

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Depth | np.ndarray]) -> list[Depth | np.ndarray]:
        """The depth of every result: that of the deepest operand, one more for an exponential."""
        name = equation.primitive.name
        if name in DECIDED_BY and dtype_of(equation.outvars[0]) == np.bool_:
            for operand in operands:
                if is_plain(operand, equation.outvars[0]) and np.all(operand == DECIDED_BY[name]):
                    return [np.asarray(operand)]
        self.primitives.add(name)
        self.selects |= name in SELECTIONS and isinstance(operands[0], Depth)
        deepest = functools.reduce(Depth.__or__, (o for o in operands if isinstance(o, Depth)), Depth())
        power = name == "pow" and isinstance(operands[1], Depth) and operands[1].varies
        plain, written = deepest.plain + (name in ALWAYS), deepest.written + (power or name in ALWAYS | WRITTEN)
        doubt = deepest.doubt or ("" if _is_followed(equation) else named(equation))
        if deepest.doubt and not (all(map(is_number, equation.outvars)) and name in UNDEFINED_STAYS):
            raise UnsupportedError(
                f"'{name}'{source_line(equation)} decides by the result of {doubt}, which has no rule and may be NaN; "
                "decide by what is known to be defined"
            )
        if power or name in ALWAYS | WRITTEN:
            entries = sum(math.prod(shape_of(variable)) for variable in equation.outvars)
            self.taken.append(Taken(deepest, name in ALWAYS, entries))
        whole = [equation.primitive is OUTSIDE and not is_number(v) for v in equation.outvars]  # which are never NaN
        results = [Depth(plain, written, deepest.varies, "" if w else doubt) for w in whole]
        self.deepest = functools.reduce(Depth.__or__, results, self.deepest)
        return [*results]

    def stack(self, values: Sequence[Depth | np.ndarray]) -> Depth:
        """The depth of an array of several values: the largest of theirs."""
        return functools.reduce(Depth.__or__, (value for value in values if isinstance(value, Depth)))

    def entry(self, value: Depth | np.ndarray, index: int) -> Depth | np.ndarray:
        """Every entry is as deep as the array."""
        return value if isinstance(value, Depth) else value[index]


def _is_followed(equation: JaxprEqn) -> bool:
    """Whether prime fields look into an equation; a large matrix is not written out."""
    name = equation.primitive.name
    return name in FOLLOWED and (name not in DEFINITIONS or name in RULES or is_defined(equation))


def _has_exponential(form: ClosedForm | None) -> bool:
    """Whether a number is a multiple of a power of e."""
    return isinstance(form, Product) and any(base == E for base, _ in form.powers)


@dataclass(frozen=True)
class Profile:
    """The deepest value of a jaxpr, the primitives applied to numbers, and whether an output depends on an input.

    readings: its constants that stand for other numbers than are written.  selects: whether numbers decide a selection.
    taken: its exponentials.
    """

    deepest: Depth
    primitives: frozenset[str]
    varies: bool
    readings: frozenset[ConstantReading]
    selects: bool
    taken: tuple[Taken, ...]


def profile(closed_jaxpr: ClosedJaxpr, deadline: Deadline | None = None) -> Profile:
    """What the prime fields need to know beforehand."""
    counting = ExponentialDepth()
    counting.deadline = deadline
    inputs = [Depth(varies=True)] * len(closed_jaxpr.jaxpr.invars)
    outputs = interpret(closed_jaxpr, counting, inputs)
    varies = any(isinstance(output, Depth) and output.varies for output in outputs)
    readings, primitives = frozenset(counting.readings), frozenset(counting.primitives)
    return Profile(counting.deepest, primitives, varies, readings, counting.selects, tuple(counting.taken))
