"""What of a program its inputs reach: branches that no input takes, and what no output needs, are left out.

    where((x == 0) | (x == 1), f(x), g(x))   →   g(x)          for 1/8 ≤ x ≤ 7/8
    where(isfinite(x), f(x), g(x))           →   f(x)          for real x

A comparison is decided by the ranges of what it compares, where that is a real number for all inputs: a comparison with
NaN is false.  docs/soundness.md §10.8 proves that the program is the same function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.decide.domain import Domains
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import is_keys, made_on_host
from uat_jax.interpret.integer_ranges import Range, limits, of_array, ranges, signs_between
from uat_jax.interpret.interpreter import called, programs_within
from uat_jax.interpret.recognition import LOWEST
from uat_jax.interpret.retracing import bound, followed, retraced
from uat_jax.interpret.structure import STRUCTURAL, positions
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.prime_fields.fact_rules import TOTAL
from uat_jax.numbers.prime_fields.formula import DECIDED, REARRANGING
from uat_jax.typing import Atom

MOST_EQUATIONS = 2000
"""Programs of more equations stay as they are, but for what no output needs."""

KEEPING = REARRANGING | {"not", "reduce_and", "reduce_or"}
"""Of a boolean that is the same at all places these make one as well."""

MOST_ENTRIES = 1 << 12
"""Which entries of larger arrays are infinite is not looked at."""

DECIDING = frozenset(DECIDED) - {"sign"} | {"is_finite"}
"""Primitives that are decided."""


def without_unreached(program: ClosedJaxpr, domains: Domains) -> ClosedJaxpr:
    """The program without the branches that no input of the domains takes, and without what no output needs.

    A program of which nothing is left that depends on an input stays as it is.

    Example:
        >>> import jax
        >>> from uat_jax.decide.domain import Interval
        >>> program = jax.make_jaxpr(lambda x: jax.lax.select(x > 0, x, jax.lax.sin(x)))(1.0)
        >>> [e.primitive.name for e in without_unreached(program, Domains((Interval(1.0, 2.0),))).jaxpr.eqns]
        []
    """
    given = program
    names = [e.primitive.name for inner in programs_within(program) for e in inner.eqns]
    if len(names) <= MOST_EQUATIONS and not DECIDING.isdisjoint(names):
        decisions = _Decisions(program, domains)
        reached = retraced(program, decisions.results)
        program = reached if decisions.made else program
    needed, read = needed_of(program.jaxpr)
    if read.isdisjoint(program.jaxpr.invars):
        return given
    if len(needed) == len(program.jaxpr.eqns):
        return program
    return ClosedJaxpr(program.jaxpr.replace(eqns=needed), program.consts)


def needed_of(jaxpr: Jaxpr) -> tuple[list[JaxprEqn], set[Any]]:
    """The equations that have an effect, or on which an output depends, and the variables that these and it read."""
    needed: list[JaxprEqn] = []
    read = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or not read.isdisjoint(equation.outvars):
            needed.append(equation)
            read.update(atom for atom in equation.invars if not isinstance(atom, Literal))
    return needed[::-1], read


@dataclass(frozen=True, eq=False)
class _Value:
    """A traced value, or a concrete boolean that was decided.

    range: where it lies wherever it is defined.  defined: whether it is a real number for all inputs; positive: whether
    it is above 0 then.  constant: the float that all entries of a constant are.
    """

    array: Any
    range: Range
    defined: bool
    positive: bool = False
    constant: float | None = None
    whole: np.ndarray | None = None
    infinite: np.ndarray | None = None

    @property
    def truth(self) -> bool | None:
        """The boolean that all its entries are for all inputs, if they were decided."""
        array = self.array
        if not isinstance(array, np.ndarray) or array.dtype != np.bool_ or not array.size:
            return None
        return bool(array.flat[0]) if np.all(array == array.flat[0]) else None

    @property
    def above_zero(self) -> bool:
        """Whether it is positive wherever it is defined."""
        return self.positive or self.range.low > 0

    @property
    def not_zero(self) -> bool:
        """Whether it is never 0."""
        return self.above_zero or self.range.high < 0


class _Decisions:
    """One walk over a program; made: how often something was decided in it."""

    def __init__(self, program: ClosedJaxpr, domains: Domains):
        self.program, self.domains = program, domains
        self.made = 0

    def results(self, *arguments: Any) -> list[Any]:
        """What the program returns, comparisons being decided where the domains say how."""
        inputs = []
        for i, (variable, x) in enumerate(zip(self.program.jaxpr.invars, arguments, strict=True)):
            real, domain = is_number(variable), self.domains[i]
            inputs.append(
                _Value(x, domain.range if real else limits(dtype_of(variable)), real, real and domain.positive)
            )
        return [value.array for value in followed(self.program, inputs, _constant, self._applied)]

    def _applied(self, equation: JaxprEqn, operands: list[_Value]) -> list[_Value]:
        function = called(equation)
        if function is not None:
            return followed(function, operands, _constant, self._applied)
        if (outcome := _outcome(equation, operands)) is not None:
            self.made += 1
            return [_truth(equation, outcome)]
        if (same := _operand(equation, operands)) is not None:
            self.made += 1
            return [same]
        arrays = bound(equation, [o.array for o in operands], equation.params)
        found = _ranges(equation, [o.range for o in operands])
        infinite, whole = _infinite(equation, operands), _whole(equation, operands)
        defined = _is_defined(equation, operands) or infinite is not None and not infinite.any()
        positive = defined and _is_positive(equation, operands)
        return [
            _Value(x, r, defined, positive, whole=whole, infinite=infinite) for x, r in zip(arrays, found, strict=True)
        ]


def _constant(atom: Atom, array: Any) -> _Value:
    """A constant; a boolean that stands in an equation is decided."""
    if not is_number(atom):
        is_truth = dtype_of(atom) == np.bool_ and not np.ndim(array)
        whole = np.asarray(array) if not is_keys(array) and dtype_of(atom).kind in "iub" else None
        return _Value(np.asarray(array, bool) if is_truth else array, limits(dtype_of(atom)), False, whole=whole)
    values = np.asarray(array, dtype_of(atom))
    found, one = of_array(values), values.size > 0 and bool(np.all(values == values.flat[0]))
    constant = float(values.flat[0]) if one else None
    finite = bool(np.all(np.isfinite(values)) and np.all(values.astype(np.float64) > LOWEST))  # a mask may stand for -∞
    return _Value(array if np.ndim(array) else values, found, finite, finite and found.low > 0, constant)


def _truth(equation: JaxprEqn, outcome: bool) -> _Value:
    array = np.full(shape_of(equation.outvars[0]), outcome)
    return _Value(array, Range(int(outcome), int(outcome)), False)


def _outcome(equation: JaxprEqn, operands: Sequence[_Value]) -> bool | None:
    """What a decision about numbers, or what is made of decided booleans alone, is for all inputs."""
    name, known = equation.primitive.name, [o.truth for o in operands]
    if name in KEEPING and known[0] is not None:
        return known[0] if name != "not" else not known[0]
    if name in ("and", "or") and (name == "or") in known:
        return name == "or"
    if name not in DECIDING or not all(map(is_number, equation.invars)):
        return None
    if name == "is_finite":
        return True if operands[0].defined else None
    outcomes = {DECIDED[name](sign) for sign in _signs(*operands)}
    return outcomes.pop() if len(outcomes) == 1 else None


def _signs(x: _Value, y: _Value) -> frozenset[int]:
    """The signs that x − y can have; all of them where one of them may be NaN."""
    for one, other, way in ((x, y, 1), (y, x, -1)):
        if one.defined and other.constant is not None and math.isinf(other.constant):
            return frozenset([way if other.constant < 0 else -way])
        if one.defined and one.positive and other.defined and other.range.high <= 0:
            return frozenset([way])
    if not (x.defined and y.defined):
        return frozenset([-1, 0, 1])
    return frozenset([0]) if x is y else signs_between(x.range, y.range)


def _operand(equation: JaxprEqn, operands: Sequence[_Value]) -> _Value | None:
    """The operand that a selection, a connective of booleans, or an extreme is, for all inputs."""
    name, known = equation.primitive.name, [o.truth for o in operands]
    if name == "select_n" and known[0] is not None and len(operands) == 3:
        return operands[1 + known[0]]
    if name in ("and", "or") and (name == "and") in known:
        return operands[1 - known.index(name == "and")]
    for x, other in (operands, operands[::-1]) if name in NEUTRAL else ():
        if other.constant == NEUTRAL[name]:
            return x
    return None


NEUTRAL = {"max": -math.inf, "min": math.inf}
"""The constant that leaves the other operand of an extreme as it is, NaN too."""


def _whole(equation: JaxprEqn, operands: Sequence[_Value]) -> np.ndarray | None:
    """The integers or booleans that an equation makes of such, if no input has a part in it."""
    if any(o.whole is None for o in operands) or len(equation.outvars) != 1:
        return None
    if math.prod(shape_of(equation.outvars[0])) > MOST_ENTRIES:
        return None
    found = made_on_host(equation, [o.whole for o in operands])
    return None if found is None else found[0]


def _infinite(equation: JaxprEqn, operands: Sequence[_Value]) -> np.ndarray | None:
    """The signs of the infinities among the entries of a result, as far as they are known; of others None."""
    rule = INFINITE.get(equation.primitive.name)
    numbers = operands[1:] if equation.primitive.name == "select_n" else operands
    if rule is None or all(o.defined for o in numbers) or not is_number(equation.outvars[0]):
        return None
    if math.prod(shape_of(equation.outvars[0])) > MOST_ENTRIES:
        return None
    shapes = [shape_of(atom) for atom in equation.invars][-len(numbers) :]
    signs = [_signs_of_infinities(o, shape) for o, shape in zip(numbers, shapes, strict=True)]
    return None if any(s is None for s in signs) else rule(equation, operands, *signs)


def _signs_of_infinities(x: _Value, shape: tuple[int, ...]) -> np.ndarray | None:
    if x.infinite is not None or math.prod(shape) > MOST_ENTRIES:
        return x.infinite
    if x.constant is not None and math.isinf(x.constant):
        return np.full(shape, 1 if x.constant > 0 else -1, np.int8)
    return np.zeros(shape, np.int8) if x.defined else None


def _selected(equation: JaxprEqn, operands: Sequence[_Value], *cases: np.ndarray) -> np.ndarray | None:
    """Of a selection by booleans that depend on no input."""
    which = operands[0].whole
    return None if which is None or len(cases) != 2 else np.where(which, cases[1], cases[0])


def _rearranged(equation: JaxprEqn, operands: Sequence[_Value], x: np.ndarray) -> np.ndarray | None:
    (source,) = positions(equation, [x])
    return x.ravel()[source]


def _shifted(sign: int) -> Callable[..., np.ndarray | None]:
    """±∞ plus or minus a real number stays what it is."""

    def rule(equation: JaxprEqn, operands: Sequence[_Value], x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
        return None if np.any((x != 0) & (y != 0)) else np.asarray(x + sign * y)

    return rule


def _extreme(reduce: Callable[..., Any]) -> Callable[..., np.ndarray | None]:
    """The largest or smallest of real numbers and infinities of the other sign, unless there are none."""

    def rule(equation: JaxprEqn, operands: Sequence[_Value], x: np.ndarray) -> np.ndarray | None:
        axes = tuple(equation.params["axes"])
        if not x.size:
            return None
        return np.asarray(reduce(x, axis=axes))

    return rule


INFINITE: Mapping[str, Callable[..., np.ndarray | None]] = {
    **dict.fromkeys("broadcast_in_dim expand_dims reshape rev slice squeeze transpose".split(), _rearranged),
    "add": _shifted(1),
    "add_any": _shifted(1),
    "reduce_max": _extreme(np.max),
    "reduce_min": _extreme(np.min),
    "select_n": _selected,
    "sub": _shifted(-1),
}
"""Which infinities results have: the maximum of a row of which a mask keeps one entry is a number."""


def _ranges(equation: JaxprEqn, operands: Sequence[Range]) -> list[Range]:
    try:
        return ranges(equation, operands)
    except UnsupportedError:
        return [limits(dtype_of(v)) for v in equation.outvars]


def _is_defined(equation: JaxprEqn, operands: Sequence[_Value]) -> bool:
    """Whether a result is a real number for all inputs, as far as it is shown."""
    name = equation.primitive.name
    given = slice(1, None) if name == "select_n" else slice(None)
    if name == "convert_element_type" and not is_number(equation.invars[0]):
        return is_number(equation.outvars[0])
    if not operands or not all(o.defined for o in operands[given]):
        return False
    if not all(map(is_number, (*equation.invars[given], *equation.outvars))):
        return False
    if name.startswith("reduce_m") and not math.prod(shape_of(equation.invars[0])):
        return False
    x = operands[-1]
    match name:
        case "div":
            return x.not_zero
        case "integer_pow":
            return equation.params["y"] >= 0 or x.not_zero
        case "log" | "rsqrt":
            return x.above_zero
        case "log1p":
            return x.positive or x.range.low > -1
        case "pow":
            return operands[0].above_zero
        case "sqrt":
            return x.positive or x.range.low >= 0
    return name in TOTAL or name in STRUCTURAL


def _is_positive(equation: JaxprEqn, operands: Sequence[_Value]) -> bool:
    """Whether a result that is a real number for all inputs is above 0."""
    name = equation.primitive.name
    if name in STRUCTURAL or name == "reduce_sum" and math.prod(shape_of(equation.invars[0])):
        return all(o.above_zero for o in (operands[1:] if name == "select_n" else operands))
    rule = POSITIVE.get(name)
    return rule is not None and rule(*operands)


def _first(x: _Value, *others: _Value) -> bool:
    return x.above_zero


def _all(*operands: _Value) -> bool:
    return all(o.above_zero for o in operands)


def _sum(x: _Value, y: _Value) -> bool:
    return all(o.above_zero or o.range.low >= 0 for o in (x, y)) and (x.above_zero or y.above_zero)


POSITIVE: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys("cosh erfc exp exp2 logistic".split(), lambda x: True),
    **dict.fromkeys("cbrt convert_element_type expm1 integer_pow log1p pow reduce_max reduce_min".split(), _first),
    **dict.fromkeys("rsqrt sinh sqrt square tanh".split(), _first),
    **dict.fromkeys("div min mul".split(), _all),
    **dict.fromkeys("abs square".split(), lambda x: x.not_zero),
    "add": _sum,
    "add_any": _sum,
    "max": lambda x, y: x.above_zero or y.above_zero,
    "sub": lambda x, y: x.above_zero and y.range.high <= 0,
}
"""When results are above 0."""
