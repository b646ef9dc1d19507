"""Values of a program that is rewritten: a number, and where it is infinite, undefined or 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.masks.signs import ANY, NOT_NEGATIVE, POSITIVE, is_finite, sign_of
from uat_jax.decide.masks.truths import Known, Truth, holds_in, rows_of
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind, is_keys
from uat_jax.interpret.recognition import LOWEST
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.structure import STRUCTURAL, moved
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.typing import Array, Atom

MOST_ENTRIES = 1 << 20
"""What truth values of larger arrays are made of is not followed."""


PLACES = ("infinite", "undefined", "ignored")
"""What is known of the entries of a value, truth values each."""


@dataclass(frozen=True, eq=False)
class Value:
    """A value of the given program, as values of the program that is written.

    array: the number where it is one; any number elsewhere.  infinite: where it is infinite; above: whether it is ∞
    there, and not -∞.  undefined: where it is NaN because infinities of two signs met; it need not be infinite nor a
    number there.  ignored: where nothing is said of it.  finite, sign, zero: whether `array` is a real number, what is
    known of its sign, and where it is 0, for all inputs at which nothing is ignored and it is not undefined.
    positive_elsewhere: whether it is positive where it is not known to be 0.
    known: of truth values, what they are made of.  cast_of: the truth values of which a number is a cast.
    """

    array: Any
    infinite: Truth | None = None
    above: bool = False
    undefined: Truth | None = None
    ignored: Truth | None = None
    finite: bool = False
    sign: int = ANY
    zero: Truth | None = None
    positive_elsewhere: bool = False
    known: Known | None = None
    cast_of: Truth | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is the value of the given program."""
        return self.infinite is None and self.undefined is None and self.ignored is None

    @property
    def truth(self) -> Truth:
        """A truth value."""
        return Truth(self.array, self.known)


@dataclass
class Rewriting:
    """How programs of the same inputs are followed, and what was met in them.

    ignoring: whether what one program selects as 0 in rows that are masked whole may be anything, if the other one has
    NaN there.  met: booleans by the equations that made them, so that one computation is one array.
    kept: the arrays by which these are found, which their keys name.  bases: how many arrays of truth values were met.
    rewritten: whether an equation was that of an infinity.
    """

    ignoring: bool = False
    met: dict[Any, Value] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    bases: int = 0
    rewritten: bool = False

    # truth values

    def base(self, array: Any) -> Known | None:
        """An array of truth values of which nothing is known."""
        shape = np.shape(array)
        if int(np.prod(shape)) > MOST_ENTRIES:
            return None
        self.bases += 1
        return Known(self.bases, np.arange(int(np.prod(shape))).reshape(shape))

    def both(self, x: Truth | None, y: Truth | None) -> Truth | None:
        """Where both hold; None is nowhere."""
        if x is None or y is None:
            return None
        if x.known is not None and y.known is not None:
            if x.known.excludes(y.known):
                return None
            if x.known.implies(y.known):
                return x
            if y.known.implies(x.known):
                return y
        if x.constant is not None and y.constant is not None:
            return self.somewhere(Truth(x.constant & y.constant))
        for one, other in ((x, y), (y, x)):
            if one.constant is not None and one.constant.all():
                return other
        return Truth(lax.bitwise_and(x.array, y.array))

    def either(self, *truths: Truth | None) -> Truth | None:
        """Where one holds; None is nowhere."""
        found = [t for t in truths if t is not None]
        if not found:
            return None
        first, *others = found
        for other in others:
            if first.known is not None and other.known is not None:
                if first.known.implies(other.known):
                    first = other
                    continue
                if other.known.implies(first.known):
                    continue
            if first.constant is not None and other.constant is not None:
                first = Truth(first.constant | other.constant)
            else:
                first = Truth(lax.bitwise_or(first.array, other.array))
        return self.somewhere(first)

    def negation(self, x: Truth) -> Truth:
        """Where it does not hold."""
        array = ~x.constant if x.constant is not None else lax.bitwise_not(x.array)
        known = x.known
        if known is not None:
            single = known.rows is None and not known.not_all
            known = replace(known, negated=not known.negated) if single else replace(known, not_all=not known.not_all)
        return Truth(array, known)

    def somewhere(self, x: Truth) -> Truth | None:
        """It, or None if it is known to hold nowhere."""
        return None if x.constant is not None and not x.constant.any() else x

    def along(self, x: Truth | None, equation: JaxprEqn, every: bool) -> Truth | None:
        """Of rows along the axes of a reduction: where all entries are so, or where one is."""
        if x is None:
            return None
        axes = tuple(equation.params["axes"])
        if x.constant is not None:
            return self.somewhere(Truth((np.all if every else np.any)(x.constant, axis=axes), rows_of(x, axes, every)))
        reduce = lax.reduce_and if every else lax.reduce_or
        return Truth(reduce(x.array, axes), rows_of(x, axes, every))

    def moved(self, x: Truth | None, equation: JaxprEqn) -> Truth | None:
        """Truth values that an equation moves together with its operand."""
        if x is None:
            return None
        move = lambda a: moved(equation, [a])
        known = None
        if x.known is not None and len(equation.invars) == 1:
            entries = move(x.known.entries)
            known = replace(x.known, entries=entries[0]) if entries is not None and len(entries) == 1 else None
        if x.constant is not None and (found := move(x.constant)) is not None:
            return self.somewhere(Truth(found[0], known))
        return Truth(bound(equation, [x.array], equation.params)[0], known)

    # numbers

    def select(self, which: Truth, first: Array, second: Array) -> Array:
        """The second array where it holds, and the first one elsewhere."""
        if which.constant is not None and which.constant.all():
            return second
        return lax.select_n(which.array, first, second)

    def constant(self, atom: Atom, array: Any) -> Value:
        """A literal or a constant; an infinity of one sign is told apart from the numbers beside it."""
        if is_keys(array):
            return Value(array)
        array = np.asarray(array, dtype_of(atom))
        if not is_number(atom):
            return Value(array, known=self.base(array) if dtype_of(atom) == np.bool_ else None)
        infinite, masks = np.isinf(array), np.isfinite(array) & (array <= LOWEST)
        signs = set(np.sign(array[infinite]).tolist())
        if len(signs) > 1 or np.isnan(array).any() or masks.any():  # what stands for -∞ decides nothing
            return Value(array)
        numbers = np.where(infinite, np.zeros((), array.dtype), array)
        sign = POSITIVE if np.all(numbers > 0) else NOT_NEGATIVE if np.all(numbers >= 0) else ANY
        truth = Truth(infinite, self.base(infinite)) if infinite.any() else None
        cast = Truth(numbers != 0) if truth is None and np.all((numbers == 0) | (numbers == 1)) else None
        return Value(numbers, truth, signs == {1.0}, finite=True, sign=sign, cast_of=cast)

    def entrywise(self, equation: JaxprEqn, operands: Sequence[Value]) -> Value:
        """A function of numbers entry by entry, which is NaN where one of them is."""
        (found,) = self.plain(equation, [unmarked(x) for x in operands])
        return replace(found, **self.marks(operands, lambda t: self.spread(t, np.shape(found.array))))

    def marks(self, operands: Sequence[Value], move: Callable[[Truth | None], Truth | None]) -> dict[str, Any]:
        """Where a result is undefined, or ignored, if it is where one of its operands is."""
        return {name: self.either(*(move(getattr(x, name)) for x in operands)) for name in ("undefined", "ignored")}

    def plain(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of an equation of numbers and truth values that are those of the given program."""
        arrays = [x.array for x in operands]
        if (same := self._simpler(equation, operands)) is not None:
            return [same]
        if not any(map(is_number, (*equation.invars, *equation.outvars))) and all(
            Truth(a).constant is not None for a in arrays
        ):
            return [Value(x, known=self._found(equation, operands, x)) for x in bind(equation, arrays)]
        key = self._key(equation, arrays)
        if key is not None and key in self.met:
            return [self.met[key]]
        results = bound(equation, arrays, equation.params)
        finite, sign, zero = is_finite(equation, operands), sign_of(equation, operands), self._zero(equation, operands)
        values = [
            Value(
                x,
                finite=finite and is_number(v),
                sign=sign if is_number(v) else ANY,
                zero=zero,
                positive_elsewhere=zero is not None and _keeps_support(equation, operands),
                known=self._found(equation, operands, x),
                cast_of=self._cast_of(equation, operands),
            )
            for x, v in zip(results, equation.outvars, strict=True)
        ]
        if key is not None:
            self.met[key] = values[0]
            self.kept.append(arrays)  # as long as a key names them
        return values

    def _simpler(self, equation: JaxprEqn, operands: Sequence[Value]) -> Value | None:
        """The result of a decision that signs make, of |x| for x ≥ 0, and of a selection that is decided."""
        name, shape = equation.primitive.name, shape_of(equation.outvars[0])
        if len(equation.outvars) == 1 and name in STRUCTURAL | COMPARISONS.keys() and len(operands) <= 2:
            constants = [x.truth.constant for x in operands]
            decided = all(c is not None for c in constants) and any(map(is_number, equation.invars))
            if decided and all(x.finite or not is_number(v) for x, v in zip(operands, equation.invars, strict=True)):
                return self._of_constants(equation, constants)
        if _is_cast(equation) and (truths := operands[0].truth.constant) is not None:
            return self.constant(equation.outvars[0], truths.astype(dtype_of(equation.outvars[0])))
        if name == "is_finite" and operands[0].finite:
            return Value(np.ones(shape, bool))
        if name == "abs" and operands[0].sign >= NOT_NEGATIVE:
            return operands[0]
        if name in ("ne", "eq", "gt") and operands[0].cast_of is not None and is_zero(operands[1]):
            truth = operands[0].cast_of
            truth = self.negation(truth) if name == "eq" else truth
            return Value(truth.array, known=truth.known) if np.shape(truth.array) == shape else None
        if name == "mul":
            for x, y in (operands, operands[::-1]):  # x·0 = 0
                chosen = self.spread(y.cast_of, shape)
                if chosen is not None and x.finite and np.shape(x.array) == shape and y.is_plain:
                    return self.chosen(chosen, Value(np.zeros(shape, x.array.dtype)), x)
        if name == "lt" and operands[0].sign >= NOT_NEGATIVE and is_zero(operands[1]):  # nor is NaN below 0
            return Value(np.zeros(shape, bool))
        if name == "select_n" and (which := operands[0].truth.constant) is not None and which.dtype == bool:
            chosen = operands[1] if not which.any() else operands[2] if which.all() else None
            return chosen if chosen is None or np.shape(chosen.array) == shape else None
        return None

    def _cast_of(self, equation: JaxprEqn, operands: Sequence[Value]) -> Truth | None:
        """The truth values of which a result is a cast."""
        if _is_cast(equation):
            return operands[0].truth
        moves = equation.primitive.name in STRUCTURAL and len(operands) == len(equation.outvars) == 1
        return self.moved(operands[0].cast_of, equation) if moves else None

    def _of_constants(self, equation: JaxprEqn, constants: Sequence[Any]) -> Value | None:
        """A comparison of constants, or what is moved of one; None for what no rule moves."""
        if equation.primitive.name in COMPARISONS:
            x, y = constants
            found = np.broadcast_to(
                np.asarray(COMPARISONS[equation.primitive.name](x, y)), shape_of(equation.outvars[0])
            )
            return Value(found, known=self.base(found))
        if len(constants) > 1 or (arrays := moved(equation, constants)) is None:
            return None
        return self.constant(equation.outvars[0], arrays[0])

    def _zero(self, equation: JaxprEqn, operands: Sequence[Value]) -> Truth | None:
        """Where a product, a quotient or what is moved is 0 because an operand is."""
        name, shape = equation.primitive.name, shape_of(equation.outvars[0])
        if name in STRUCTURAL and len(operands) == 1 and len(equation.outvars) == 1:
            return self.moved(operands[0].zero, equation)
        if name == "mul":
            return self.either(
                *(self.spread(x.zero, shape) for x, y in (operands, operands[::-1]) if x.zero is not None and y.finite)
            )
        nonzero = name == "div" and operands[1].finite and operands[1].sign == POSITIVE
        return self.spread(operands[0].zero, shape) if nonzero or name in ("copy", "stop_gradient") else None

    def chosen(self, which: Truth, no: Value, yes: Value) -> Value:
        """The second number where a truth value holds, and 0 elsewhere, where the second may be 0 anyway."""
        fails = self.negation(which)
        zero, is_zero = yes.zero, yes.zero is not None and holds_in(fails, yes.zero)
        if is_zero and yes.infinite is None and (self.ignoring or yes.is_plain) and yes.finite:
            undefined = self.both(which, yes.undefined)
            return replace(yes, undefined=undefined, ignored=self.either(yes.ignored, self.both(fails, yes.undefined)))
        marks: dict[str, Any] = {name: self.both(which, getattr(yes, name)) for name in ("undefined", "ignored")}
        array = self.select(which, no.array, yes.array)
        sign, zero = min(yes.sign, NOT_NEGATIVE), self.either(fails, self.both(which, zero))
        positive = yes.positive_elsewhere or yes.sign == POSITIVE
        return Value(array, finite=yes.finite, sign=sign, zero=zero, positive_elsewhere=positive, **marks)

    def _key(self, equation: JaxprEqn, arrays: Sequence[Array]) -> Any:
        """By what a computation of truth values is found again."""
        alone = len(equation.outvars) == 1
        if not alone or equation.primitive.name not in FOUND_AGAIN or dtype_of(equation.outvars[0]) != np.bool_:
            return None
        of = lambda a: (a.shape, str(a.dtype), a.tobytes()) if Truth(a).constant is not None else id(a)
        return equation.primitive.name, str(equation.params), tuple(map(of, arrays))

    def _found(self, equation: JaxprEqn, operands: Sequence[Value], array: Any) -> Known | None:
        """What is known of truth values that an equation makes."""
        name, (x, *others) = equation.primitive.name, operands or [Value(array)]
        if np.dtype(array.dtype) != np.bool_:
            return None
        if x.known is not None:
            if name == "not":
                return self.negation(Truth(np.zeros((), bool), x.known)).known
            if name in STRUCTURAL and not others:
                truth = self.moved(Truth(np.ones(np.shape(x.array), bool), x.known), equation)
                return None if truth is None else truth.known
            if name == "reduce_and":
                return rows_of(x.truth, tuple(equation.params["axes"]), True)
            if name in ("copy", "convert_element_type"):
                return x.known
        return self.base(array)

    def spread(self, x: Truth | None, shape: tuple[int, ...]) -> Truth | None:
        """Truth values in the shape of a result, along whose axes they may be repeated."""
        if x is None or np.shape(x.array) == shape:
            return x
        known = None if x.known is None else replace(x.known, entries=np.broadcast_to(x.known.entries, shape))
        if x.constant is not None:
            return Truth(np.broadcast_to(x.constant, shape), known)
        axes = range(len(shape) - np.ndim(x.array), len(shape))
        return Truth(lax.broadcast_in_dim(x.array, shape, axes), known)

    def moved_values(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """What is moved, with its marks."""
        if len(operands) == 1:
            (x,) = operands
            arrays = bound(equation, [x.array], equation.params)
            if len(arrays) == 1:
                places: dict[str, Any] = {n: self.moved(getattr(x, n), equation) for n in (*PLACES, "zero")}
                return [replace(x, array=arrays[0], known=None, cast_of=None, **places)]
        if equation.primitive.name != "concatenate":
            raise refused(equation)
        if len({x.above for x in operands if x.infinite is not None}) > 1:
            raise refused(equation)
        array = bound(equation, [x.array for x in operands], equation.params)[0]
        places = {name: self._joined(operands, name, equation.params["dimension"]) for name in PLACES}
        above = any(x.above for x in operands if x.infinite is not None)
        return [Value(array, above=above, finite=all(x.finite for x in operands), **places)]

    def _joined(self, operands: Sequence[Value], name: str, axis: int) -> Truth | None:
        """Where the parts of a concatenation are infinite, undefined or ignored."""
        of = [getattr(x, name) for x in operands]
        if not any(of):
            return None
        nowhere = [np.zeros(np.shape(x.array), bool) for x in operands]
        parts = [none if t is None else t.array for t, none in zip(of, nowhere, strict=True)]
        constant = all(Truth(p).constant is not None for p in parts)
        return Truth((np.concatenate if constant else lax.concatenate)(parts, axis))


def is_zero(x: Value) -> bool:
    """Whether a number is the constant 0."""
    number = x.truth.constant
    return number is not None and x.is_plain and not number.any()


def refused(equation: JaxprEqn) -> UnsupportedError:
    """The error of an equation for which there is no rule."""
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    return UnsupportedError(f"{named} takes an infinity behind a mask, for which it has no rule")


def unmarked(x: Value) -> Value:
    """The array as a number of its own; what is marked is looked at by who asks for this."""
    return replace(x, infinite=None, undefined=None, ignored=None)


def _keeps_support(equation: JaxprEqn, operands: Sequence[Value]) -> bool:
    """Whether what is moved, or multiplied or divided by a positive number, is positive where an operand is not 0."""
    if equation.primitive.name in ("mul", "div"):
        return operands[0].positive_elsewhere and operands[1].sign == POSITIVE and operands[1].zero is None
    return operands[0].positive_elsewhere


def _is_cast(equation: JaxprEqn) -> bool:
    """Whether an equation makes numbers of truth values."""
    name = equation.primitive.name
    return (
        name == "convert_element_type" and dtype_of(equation.invars[0]) == np.bool_ and is_number(equation.outvars[0])
    )


def must_be_finite(equation: JaxprEqn, *values: Value) -> None:
    """Refuse numbers that may be undefined or infinite for some inputs, beside an infinity that is followed."""
    if not all(x.finite for x in values):
        raise refused(equation)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less, "ne": np.not_equal,
}  # fmt: skip
"""What a comparison says of two constants, or of two infinities and numbers by their order: -1, 0 and 1."""

FOUND_AGAIN = COMPARISONS.keys() | STRUCTURAL | {"and", "convert_element_type", "is_finite", "not", "or", "reduce_and"}
"""Of truth values of these the same computation is one array; their parameters say all that they do."""

OF_ZEROS = frozenset(["log", "reduce_sum"])
"""What follows where numbers are 0 that are positive elsewhere."""
