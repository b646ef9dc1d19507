"""Programs in which no infinity stands behind a mask any more: a number and where it is infinite, followed one by one.

    where(m, a, -∞)                   the number a, which is -∞ where m is false
    exp(where(m, a, -∞))              where(m, exp(a), 0)
    max(where(m, a, -∞)) along axes   max(where(m, a, min a)), which is -∞ where m is false for the whole row
    (-∞) - (-∞)                       any number, and a mark: the given program has NaN there

So the softmax of masked scores becomes a program of real numbers.  Both programs are rewritten alike, and their results
are compared wherever neither has NaN.  docs/soundness.md §10.6 proves that this is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.arithmetic.concrete import bind, is_array, is_keys
from uat_jax.arithmetic.inlining import inlined
from uat_jax.arithmetic.interpreter import programs_within
from uat_jax.arithmetic.retracing import bound, followed, retraced
from uat_jax.arithmetic.structure import STRUCTURAL, moved
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.errors import UnsupportedError

LAW = "infinities behind masks"

MOST_ENTRIES = 1 << 22
"""What truth values of larger arrays are made of is not followed."""

ANY, NOT_NEGATIVE, POSITIVE = 0, 1, 2
"""What is known of the sign of a number."""


PLACES = ("infinite", "undefined", "ignored")
"""What is known of the entries of a value, truth values each."""


@dataclass(frozen=True, eq=False)
class Known:
    """What truth values are made of: each is an entry of one array of truth values, or says that all of a row hold.

    base: of which array.  entries: of the shape of the truth values, which entry of it, or which row.  rows: from the
    entries of that array to their rows, -1 for those in none; None if single entries are meant.  negated: whether the
    entries have to be false.  not_all: whether the truth value is that this does not hold.
    """

    base: int
    entries: np.ndarray
    rows: np.ndarray | None = None
    negated: bool = False
    not_all: bool = False

    def implies(self, other: Known) -> bool:
        """Whether, at every entry, the other holds where this does."""
        alike = (self.base, self.negated) == (other.base, other.negated)
        return alike and not self.not_all and not other.not_all and self._has(other)

    def excludes(self, other: Known) -> bool:
        """Whether at no entry both hold."""
        if self.not_all != other.not_all:
            one, whole = (self, other) if self.not_all else (other, self)
            return whole.implies(replace(one, not_all=False))
        if self.base != other.base or self.negated == other.negated or self.not_all:
            return False
        return self._has(other) or other._has(self)

    def _has(self, other: Known) -> bool:
        """Whether, at every entry, what the other is made of is among what this is made of."""
        if self.entries.shape != other.entries.shape:
            return False
        if other.rows is None:
            mine = other.entries if self.rows is None else self.rows[other.entries]
            return np.array_equal(self.entries, mine)
        same_rows = self.rows is not None and np.array_equal(self.rows, other.rows)
        return same_rows and np.array_equal(self.entries, other.entries)


@dataclass(frozen=True, eq=False)
class Truth:
    """An array of truth values, and what they are known to be made of."""

    array: Any
    known: Known | None = None

    @property
    def constant(self) -> np.ndarray | None:
        """The truth values, if they are the same for all inputs."""
        if not is_array(self.array) or isinstance(self.array, jax.core.Tracer) or is_keys(self.array):
            return None
        return np.asarray(self.array)


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
    """One program that is followed.

    ignoring: whether 0 may be written as what is 0 wherever it is defined, and ignored where it is not.
    met: booleans by the equations that made them, so that one computation is one array.
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
        if (only := x if y.constant is not None and y.constant.all() else y) is not None and _is_all(x, y):
            return only
        return Truth(lax.bitwise_and(*map(_array, (x, y))))

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
                first = Truth(lax.bitwise_or(*map(_array, (first, other))))
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
            return self.somewhere(Truth((np.all if every else np.any)(x.constant, axis=axes), _rows(x, axes, every)))
        reduce = lax.reduce_and if every else lax.reduce_or
        return Truth(reduce(x.array, axes), _rows(x, axes, every))

    def moved(self, x: Truth | None, equation: JaxprEqn, place: int = 0) -> Truth | None:
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

    def select(self, which: Truth, first: Any, second: Any) -> Any:
        """The second array where it holds, and the first one elsewhere."""
        if which.constant is not None and which.constant.all():
            return second
        return lax.select_n(_array(which), first, second)

    def constant(self, atom: Any, array: Any) -> Value:
        """A literal or a constant; an infinity of one sign is told apart from the numbers beside it."""
        if is_keys(array):
            return Value(array)
        array = np.asarray(array, dtype_of(atom))
        if not is_number(atom):
            return Value(array, known=self.base(array) if dtype_of(atom) == np.bool_ else None)
        infinite = np.isinf(array)
        signs = set(np.sign(array[infinite]).tolist())
        if len(signs) > 1 or np.isnan(array).any():
            return Value(array)
        numbers = np.where(infinite, np.zeros((), array.dtype), array)
        sign = POSITIVE if np.all(numbers > 0) else NOT_NEGATIVE if np.all(numbers >= 0) else ANY
        truth = Truth(infinite, self.base(infinite)) if infinite.any() else None
        cast = Truth(numbers != 0) if truth is None and np.all((numbers == 0) | (numbers == 1)) else None
        return Value(numbers, truth, signs == {1.0}, finite=True, sign=sign, cast_of=cast)

    def applied(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of an equation."""
        name = equation.primitive.name
        zeros = name in OF_ZEROS and operands[0].positive_elsewhere
        if all(x.is_plain for x in operands) and not zeros:
            return self._plain(equation, operands)
        self.rewritten = True
        if name in STRUCTURAL and name != "select_n":
            return self._moved(equation, operands)
        if name in RULES:
            return [RULES[name](self, equation, *operands)]
        whole = name == "integer_pow" and equation.params["y"] > 0
        if any(x.infinite is not None for x in operands) or not whole and name not in KEEPS_NAN:
            raise _refused(equation)
        return [self.entrywise(equation, operands)]

    def entrywise(self, equation: JaxprEqn, operands: Sequence[Value]) -> Value:
        """A function of numbers entry by entry, which is NaN where one of them is."""
        (found,) = self._plain(equation, [_unmarked(x) for x in operands])
        return replace(found, **self.marks(operands, lambda t: self.spread(t, np.shape(found.array))))

    def marks(self, operands: Sequence[Value], move: Callable[[Truth | None], Truth | None]) -> dict[str, Truth | None]:
        """Where a result is undefined, or ignored, if it is where one of its operands is."""
        return {name: self.either(*(move(getattr(x, name)) for x in operands)) for name in ("undefined", "ignored")}

    def _plain(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
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
        finite, sign, zero = _is_finite(equation, operands), _sign(equation, operands), self._zero(equation, operands)
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
            if all(c is not None for c in constants) and any(map(is_number, equation.invars)):
                return self._of_constants(equation, constants)
        if _is_cast(equation) and (truths := operands[0].truth.constant) is not None:
            return self.constant(equation.outvars[0], truths.astype(dtype_of(equation.outvars[0])))
        if name == "is_finite" and operands[0].finite:
            return Value(np.ones(shape, bool))
        if name == "abs" and operands[0].sign >= NOT_NEGATIVE:
            return operands[0]
        if name in ("ne", "eq", "gt") and operands[0].cast_of is not None and _is_zero(operands[1]):
            truth = operands[0].cast_of
            truth = self.negation(truth) if name == "eq" else truth
            return Value(truth.array, known=truth.known) if np.shape(truth.array) == shape else None
        if name == "mul":
            for x, y in (operands, operands[::-1]):  # x·0 = 0
                chosen = self.spread(y.cast_of, shape)
                if chosen is not None and x.finite and np.shape(x.array) == shape and y.is_plain:
                    return self._chosen(chosen, Value(np.zeros(shape, x.array.dtype)), x)
        if name == "lt" and operands[0].sign >= NOT_NEGATIVE and _is_zero(operands[1]):  # nor is NaN below 0
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
            found = np.broadcast_to(np.asarray(NUMPY[equation.primitive.name](x, y)), shape_of(equation.outvars[0]))
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

    def _chosen(self, which: Truth, no: Value, yes: Value) -> Value:
        """The second number where a truth value holds, and 0 elsewhere, where the second may be 0 anyway."""
        fails = self.negation(which)
        zero, is_zero = yes.zero, yes.zero is not None and _holds_in(fails, yes.zero)
        if is_zero and yes.infinite is None and (self.ignoring or yes.is_plain) and yes.finite:
            undefined = self.both(which, yes.undefined)
            return replace(yes, undefined=undefined, ignored=self.either(yes.ignored, self.both(fails, yes.undefined)))
        marks = {name: self.both(which, getattr(yes, name)) for name in ("undefined", "ignored")}
        array = self.select(which, no.array, yes.array)
        sign, zero = min(yes.sign, NOT_NEGATIVE), self.either(fails, self.both(which, zero))
        positive = yes.positive_elsewhere or yes.sign == POSITIVE
        return Value(array, finite=yes.finite, sign=sign, zero=zero, positive_elsewhere=positive, **marks)

    def _key(self, equation: JaxprEqn, arrays: Sequence[Any]) -> Any:
        """By what a computation of truth values is found again."""
        if equation.primitive.name not in FOUND_AGAIN or dtype_of(equation.outvars[0]) != np.bool_:
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
                return _rows(x.truth, tuple(equation.params["axes"]), True)
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

    def _moved(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """What is moved, with its marks."""
        if len(operands) == 1:
            (x,) = operands
            arrays = bound(equation, [x.array], equation.params)
            if len(arrays) == 1:
                moved_ = {name: self.moved(getattr(x, name), equation) for name in (*PLACES, "zero")}
                return [replace(x, array=arrays[0], known=None, cast_of=None, **moved_)]
        if equation.primitive.name != "concatenate":
            raise _refused(equation)
        if len({x.above for x in operands if x.infinite is not None}) > 1:
            raise _refused(equation)
        array = bound(equation, [x.array for x in operands], equation.params)[0]
        marks = {}
        for name in PLACES:
            of = [getattr(x, name) for x in operands]
            parts = [
                np.zeros(np.shape(x.array), bool) if t is None else t.array for x, t in zip(operands, of, strict=True)
            ]
            constant = all(Truth(p).constant is not None for p in parts)
            together = np.concatenate if constant else lax.concatenate
            joined = (
                None if not any(t is not None for t in of) else Truth(together(parts, equation.params["dimension"]))
            )
            marks[name] = joined
        above = any(x.above for x in operands if x.infinite is not None)
        return [Value(array, above=above, finite=all(x.finite for x in operands), **marks)]


def _is_zero(x: Value) -> bool:
    """Whether a number is the constant 0."""
    number = x.truth.constant
    return number is not None and x.is_plain and not number.any()


def _array(x: Truth) -> Any:
    return x.array


def _is_all(x: Truth, y: Truth) -> bool:
    """Whether one of two truth values holds everywhere."""
    return any(t.constant is not None and bool(t.constant.all()) for t in (x, y))


def _rows(x: Truth, axes: Sequence[int], every: bool) -> Known | None:
    """That all truth values of rows along some axes hold; None if rows have some of their entries in common alone."""
    known = x.known
    if known is None:
        return None
    first = known.entries
    for axis in sorted(axes, reverse=True):
        first = np.take(first, [0], axis) if first.shape[axis] else first
    if (known.entries == first).all() and known.entries.size:  # the same truth value
        return replace(known, entries=first.reshape([n for a, n in enumerate(first.shape) if a not in axes]))
    if not every or known.not_all or known.rows is not None:
        return None
    kept = [a for a in range(known.entries.ndim) if a not in axes]
    shape = [known.entries.shape[a] for a in kept]
    rows = known.entries.transpose([*kept, *axes]).reshape(int(np.prod(shape)), -1)
    if not rows.size:
        return None
    different, which = np.unique(np.sort(rows, axis=1), axis=0, return_inverse=True)
    of = np.full(int(rows.max()) + 1, -1)
    for k, row in enumerate(different):
        if (of[row] >= 0).any():
            return None
        of[row] = k
    return replace(known, entries=which.reshape(shape), rows=of)


def _refused(equation: JaxprEqn) -> UnsupportedError:
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    return UnsupportedError(f"{named} takes an infinity behind a mask, for which it has no rule")


def _unmarked(x: Value) -> Value:
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


def _finite(equation: JaxprEqn, *values: Value) -> None:
    """Refuse numbers that may be undefined or infinite for some inputs, beside an infinity that is followed."""
    if not all(x.finite for x in values):
        raise _refused(equation)


# --- rules: what becomes of infinities and NaN -----------------------------------------------------------------------


def _sum(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """∞ + a = ∞, ∞ - ∞ is undefined."""
    (array,) = bound(equation, [x.array, y.array], equation.params)
    shape = np.shape(array)
    marks = r.marks((x, y), lambda t: r.spread(t, shape))
    p, q = (r.spread(v.infinite, shape) for v in (x, y))
    for of, other in ((p, y), (q, x)):
        if of is not None and not other.finite:
            raise _refused(equation)
    above = [x.above, y.above != (equation.primitive.name == "sub")]
    if p is None or q is None:
        return Value(array, p or q, above[q is not None], finite=x.finite and y.finite, **marks)
    if above[0] == above[1]:
        return Value(array, r.either(p, q), above[0], finite=x.finite and y.finite, **marks)
    clash = r.both(p, q)
    inside = _inside(clash, p, q)  # elsewhere one of them alone is infinite
    if inside is None:
        raise _refused(equation)
    marks["undefined"] = r.either(marks["undefined"], clash)
    return Value(array, (p, q)[1 - inside], above[1 - inside], finite=x.finite and y.finite, **marks)


def _inside(clash: Truth | None, p: Truth, q: Truth) -> int | None:
    """Which of two truth values holds only where the other one does, 0 or 1; None if that is not seen."""
    for k, one in enumerate((p, q)):
        other = (p, q)[1 - k]
        if clash is one or one.known is not None and other.known is not None and one.known.implies(other.known):
            return k
        if one.constant is not None and other.constant is not None and np.all(~one.constant | other.constant):
            return k
    return None


def _negated(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    (array,) = bound(equation, [x.array], equation.params)
    return replace(x, array=array, above=not x.above, sign=ANY, cast_of=None)


def _multiple(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """A multiple of an infinity by a number of known sign; what is undefined stays so."""
    if x.infinite is None and y.infinite is None:
        return r.entrywise(equation, (x, y))
    (array,) = bound(equation, [x.array, y.array], equation.params)
    marks = r.marks((x, y), lambda t: r.spread(t, np.shape(array)))
    infinite, factor = (x, y) if y.infinite is None else (y, x)
    if equation.primitive.name == "div" and infinite is y:
        raise _refused(equation)
    number = Truth(factor.array).constant
    negative = number is not None and bool(np.all(number < 0))
    if factor.infinite is not None or not factor.finite or not (negative or factor.sign == POSITIVE):
        raise _refused(equation)
    where = r.spread(infinite.infinite, np.shape(array))
    return Value(array, where, infinite.above != negative, finite=x.finite and y.finite, **marks)


def _exponential(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """e^(-∞) = 0."""
    return _with_limit(r, equation, x, 0.0 if not x.above else None)


def _logistic(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """1/(1 + e^(-x)) is 0 at -∞ and 1 at ∞."""
    return _with_limit(r, equation, x, float(x.above))


def _tanh(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """It is -1 at -∞ and 1 at ∞."""
    return _with_limit(r, equation, x, 1.0 if x.above else -1.0)


def _with_limit(r: Rewriting, equation: JaxprEqn, x: Value, limit: float | None) -> Value:
    """A function that is defined for all numbers, with its limit where its operand is infinite; None: an infinity."""
    (plain,) = r._plain(equation, [_unmarked(x)])
    marks = {"undefined": x.undefined, "ignored": x.ignored}
    if x.infinite is None or limit is None:
        return replace(plain, infinite=x.infinite, above=x.above, **marks)
    limits = np.full(np.shape(plain.array), limit, plain.array.dtype)
    sign = min(plain.sign, NOT_NEGATIVE) if limit >= 0 else ANY
    where, zero = x.infinite, x.infinite if limit == 0 else None
    if x.undefined is not None and x.undefined.constant is not None and where.constant is not None:
        where = Truth(where.constant & ~x.undefined.constant)  # no 0/0 in rows of which nothing is said
    array = r.select(where, plain.array, limits)
    positive = zero is not None and plain.sign == POSITIVE
    return replace(plain, array=array, sign=sign, zero=zero, positive_elsewhere=positive, **marks)


def _largest(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """The largest of a row in which -∞ may stand, which is -∞ if nothing else does; or the smallest, and ∞."""
    name = equation.primitive.name
    axes = tuple(equation.params["axes"])
    marks = r.marks((x,), lambda t: r.along(t, equation, False))
    if x.infinite is None:
        return replace(r._plain(equation, [_unmarked(x)])[0], **marks)
    if x.above != (name == "reduce_min") or not all(np.shape(x.array)[axis] for axis in axes):
        raise _refused(equation)
    _finite(equation, x)
    least = (lax.reduce_max if x.above else lax.reduce_min)(x.array, axes)
    kept = [a for a in range(np.ndim(x.array)) if a not in axes]
    spread = lax.broadcast_in_dim(least, np.shape(x.array), kept)
    (array,) = bound(equation, [r.select(x.infinite, x.array, spread)], equation.params)
    return Value(array, r.along(x.infinite, equation, True), x.above, finite=True, sign=x.sign, **marks)


def _larger(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """The larger of two numbers of which one may be -∞; or the smaller, and ∞."""
    upper = equation.primitive.name == "min"
    if x.infinite is None and y.infinite is None:
        return r.entrywise(equation, (x, y))
    if any(v.infinite is not None and v.above != upper for v in (x, y)):
        raise _refused(equation)
    (array,) = bound(equation, [x.array, y.array], equation.params)
    shape = np.shape(array)
    marks = r.marks((x, y), lambda t: r.spread(t, shape))
    for one, other in ((x, y), (y, x)):  # max(-∞, a) = a
        if one.infinite is not None and one.infinite.constant is not None and one.infinite.constant.all():
            infinite = r.spread(other.infinite, shape)
            return Value(_in_shape(other.array, shape), infinite, upper, finite=other.finite, sign=other.sign, **marks)
    for one, other in ((x, y), (y, x)):
        where = r.spread(one.infinite, np.shape(array))
        if where is not None:
            array = r.select(where, array, _in_shape(other.array, np.shape(array)))
    both = r.both(*(r.spread(v.infinite, np.shape(array)) for v in (x, y)))
    return Value(array, both, upper, finite=x.finite and y.finite, sign=min(x.sign, y.sign), **marks)


def _in_shape(array: Any, shape: tuple[int, ...]) -> Any:
    """An array that is repeated along the axes of a shape."""
    if np.shape(array) == shape:
        return array
    return lax.broadcast_in_dim(array, shape, range(len(shape) - np.ndim(array), len(shape)))


def _total(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """A sum is 0 where all terms are, and positive elsewhere if they are so."""
    if x.infinite is not None:
        return _sum_with_infinities(r, equation, x)
    marks = r.marks((x,), lambda t: r.along(t, equation, False))
    (plain,) = r._plain(equation, [_unmarked(x)])
    if not x.positive_elsewhere or x.zero is None:
        return replace(plain, **marks)
    if _is_covered(x, tuple(equation.params["axes"])):
        return replace(plain, sign=POSITIVE, **marks)
    return replace(plain, zero=r.along(x.zero, equation, True), positive_elsewhere=True, **marks)


def _logarithm(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """log 0 = -∞, where a number is 0 for all inputs that is positive elsewhere."""
    if x.infinite is not None and not x.above:
        raise _refused(equation)
    if not x.positive_elsewhere or x.zero is None or x.zero.constant is None or not x.finite or x.infinite is not None:
        return replace(r.entrywise(equation, [x]), infinite=x.infinite, above=x.above)
    ones = np.ones(np.shape(x.array), x.array.dtype)
    (array,) = bound(equation, [r.select(x.zero, x.array, ones)], equation.params)
    return Value(array, x.zero, undefined=x.undefined, ignored=x.ignored, finite=True)


def _sum_with_infinities(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """A sum is infinite where a term is."""
    marks = r.marks((x,), lambda t: r.along(t, equation, False))
    assert x.infinite is not None
    numbers = r.select(x.infinite, x.array, np.zeros(np.shape(x.array), x.array.dtype))
    _finite(equation, x)
    (array,) = bound(equation, [numbers], equation.params)
    return Value(array, r.along(x.infinite, equation, False), x.above, finite=True, **marks)


def _is_covered(x: Value, axes: tuple[int, ...]) -> bool:
    """Whether a number that is positive where it is not known to be 0 is undefined or ignored in all rows of zeros."""
    assert x.zero is not None
    rows = _rows(x.zero, axes, True)
    for mark in (x.undefined, x.ignored):
        if rows is None or mark is None or mark.known is None:
            continue
        entries = np.moveaxis(mark.known.entries, axes, range(len(axes)))
        entries = entries.reshape(-1, *entries.shape[len(axes) :])
        if (entries == entries[:1]).all() and rows.implies(replace(mark.known, entries=entries[0])):
            return True
    return False


def _selection(r: Rewriting, equation: JaxprEqn, which: Value, *cases: Value) -> Value:
    """The case that is chosen, and what is known of it."""
    if len(cases) != 2 or dtype_of(equation.invars[0]) != np.bool_:
        raise _refused(equation)
    (no, yes), shape = cases, shape_of(equation.outvars[0])
    if len({v.above for v in cases if v.infinite is not None}) > 1:
        raise _refused(equation)
    holds = which.truth
    if np.shape(which.array) != shape:
        holds = r.spread(holds, shape) or holds
    fails = r.negation(holds)
    if yes.infinite is None and _is_zero(no):
        return r._chosen(holds, no, yes)
    if no.infinite is None and _is_zero(yes):
        return r._chosen(fails, yes, no)
    chosen = lambda a, b: r.either(r.both(fails, a), r.both(holds, b))
    places = {name: chosen(getattr(no, name), getattr(yes, name)) for name in PLACES}
    whole = [v.infinite is not None and v.infinite.constant is not None and v.infinite.constant.all() for v in cases]
    if any(whole):
        array, finite = (yes.array, yes.finite) if whole[0] else (no.array, no.finite)
    else:
        (array,) = bound(equation, [which.array, no.array, yes.array], equation.params)
        finite = no.finite and yes.finite
    above = any(v.above for v in cases if v.infinite is not None)
    return Value(array, above=above, finite=finite, sign=min(v.sign for v in cases), **places)


def _is_finite_number(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    if x.ignored is not None:
        raise _refused(equation)
    found: Truth | None = Truth(np.ones(np.shape(x.array), bool))
    for mark in (x.infinite, x.undefined):
        found = found if mark is None else r.both(found, r.negation(mark))
    if not x.finite:
        (numbers,) = bound(equation, [x.array], equation.params)
        found = r.both(found, Truth(numbers))
    if found is None:
        return Value(np.zeros(shape_of(equation.outvars[0]), bool))
    return Value(found.array, known=found.known)


def _comparison(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """A comparison in which an infinity is larger, or smaller, than all numbers."""
    if any(mark is not None for v in (x, y) for mark in (v.undefined, v.ignored)):
        raise _refused(equation)
    _finite(equation, x, y)
    ordered = COMPARISONS[equation.primitive.name]
    (array,) = bound(equation, [x.array, y.array], equation.params)
    shape = np.shape(array)
    code = lambda v: (1 if v.above else -1) if v.infinite is not None else 0
    full = lambda truth: np.full(shape, truth, bool)
    for one, codes in ((x, (code(x), 0)), (y, (0, code(y)))):
        if one.infinite is not None:
            where = r.spread(one.infinite, shape) or Truth(full(False))
            array = r.select(where, array, full(ordered(*codes)))
    both = r.both(*(r.spread(v.infinite, np.shape(array)) for v in (x, y)))
    if both is not None:
        array = r.select(both, array, full(ordered(code(x), code(y))))
    return Value(array, known=r.base(array))


COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b, "lt": lambda a, b: a < b, "ne": lambda a, b: a != b,
}  # fmt: skip
"""From the order of two operands, each -1, 0 or 1, to what a comparison says of them."""


def _same(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    if not is_number(equation.outvars[0]):
        raise _refused(equation)
    (array,) = bound(equation, [x.array], equation.params)
    return replace(x, array=array)


def _product_of_arrays(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """A product of arrays has NaN where a factor of one of its terms has."""
    if x.infinite is not None or y.infinite is not None:
        raise _refused(equation)
    (plain,) = r._plain(equation, [_unmarked(v) for v in (x, y)])
    parameters = {**equation.params, "preferred_element_type": np.dtype(np.float32), "precision": None}

    def spread(mark: Truth | None, place: int) -> Truth | None:
        """Where a term has a marked factor."""
        if mark is None:
            return None
        operands: list[Any] = [np.ones(np.shape(v.array), np.float32) for v in (x, y)]
        if mark.constant is not None:
            operands[place] = mark.constant.astype(np.float32)
            with jax.ensure_compile_time_eval():
                return Truth(np.asarray(lax.dot_general_p.bind(*operands, **parameters)) > 0)
        operands[place] = lax.convert_element_type(mark.array, np.float32)
        (counts,) = bound(equation, operands, parameters)
        known = _alike_in_rows(mark.known, equation, place)
        return Truth(lax.gt(counts, np.zeros(np.shape(plain.array), np.float32)), known)

    marks = {
        name: r.either(*(spread(getattr(v, name), place) for place, v in enumerate((x, y))))
        for name in ("undefined", "ignored")
    }
    return replace(plain, **marks)


def _alike_in_rows(known: Known | None, equation: JaxprEqn, place: int) -> Known | None:
    """What truth values are made of that a product of arrays sums, if they are one and the same along what it sums."""
    ((contract, batch), rank) = (
        [axes[place] for axes in equation.params["dimension_numbers"]],
        len(shape_of(equation.outvars[0])),
    )
    if known is None:
        return None
    entries = np.moveaxis(known.entries, [*batch, *contract], range(len(batch) + len(contract)))
    for _ in contract:
        if not entries.shape[len(batch)] or not (entries == np.take(entries, [0], len(batch))).all():
            return None
        entries = np.take(entries, 0, len(batch))
    free = entries.ndim - len(batch)  # batch axes, then the free ones of the left operand, then of the right one
    others = rank - len(batch) - free
    shape = list(entries.shape)
    new = shape[: len(batch)] + ([1] * others if place else []) + shape[len(batch) :] + ([] if place else [1] * others)
    return replace(known, entries=np.broadcast_to(entries.reshape(new), shape_of(equation.outvars[0])))


RULES: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(("add", "add_any", "sub"), _sum),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(("convert_element_type", "copy", "stop_gradient"), _same),
    **dict.fromkeys(("reduce_max", "reduce_min"), _largest),
    **dict.fromkeys(("max", "min"), _larger),
    **dict.fromkeys(("mul", "div"), _multiple),
    "dot_general": _product_of_arrays,
    "exp": _exponential,
    "is_finite": _is_finite_number,
    "log": _logarithm,
    "logistic": _logistic,
    "neg": _negated,
    "reduce_sum": _total,
    "select_n": _selection,
    "tanh": _tanh,
}  # fmt: skip
"""What becomes of numbers that are infinite or undefined at marked places; anything else refuses infinities."""

FOUND_AGAIN = COMPARISONS.keys() | STRUCTURAL | {"and", "convert_element_type", "is_finite", "not", "or", "reduce_and"}
"""Of truth values of these the same computation is one array; their parameters say all that they do."""

OF_ZEROS = frozenset(["log", "reduce_sum"])
"""What follows where numbers are 0 that are positive elsewhere."""

NUMPY = {
    "eq": np.equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less, "ne": np.not_equal,
}  # fmt: skip
"""Comparisons of constants."""

KEEPS_NAN = frozenset(
    "abs acos acosh asin asinh atan atanh cbrt cos cosh erf erf_inv erfc exp2 expm1 log log1p rsqrt sin sinh sqrt "
    "square tan".split()
)
"""Functions of one number, and of that alone, that are NaN where it is."""

ALWAYS_DEFINED = frozenset(
    "abs add add_any asinh atan bessel_i0e bessel_i1e broadcast_in_dim cbrt ceil concatenate convert_element_type copy "
    "cos cosh dot_general erf erfc exp exp2 expand_dims expm1 floor logistic max min mul neg reduce_max reduce_min "
    "reduce_sum reshape rev round select_n sign sin sinh slice square squeeze stop_gradient sub tanh transpose".split()
)
"""Functions that are real numbers for all real operands."""


def _is_finite(equation: JaxprEqn, operands: Sequence[Value]) -> bool:
    """Whether the results are real numbers for all inputs."""
    name = equation.primitive.name
    numbers = [x for x, v in zip(operands, equation.invars, strict=True) if is_number(v)]
    if not all(x.finite for x in numbers):
        return False
    if name == "reduce_max" or name == "reduce_min":
        return all(shape_of(equation.invars[0])[axis] for axis in equation.params["axes"])
    if name in ALWAYS_DEFINED or name == "integer_pow" and equation.params["y"] >= 0:
        return True
    if name == "div":
        number = Truth(operands[1].array).constant
        return operands[1].sign == POSITIVE or number is not None and bool(np.all(number != 0))
    if name in ("log", "rsqrt"):
        return operands[0].sign == POSITIVE
    return name in ("sqrt", "log1p") and operands[0].sign >= NOT_NEGATIVE


def _sign(equation: JaxprEqn, operands: Sequence[Value]) -> int:
    """What is known of the sign of a result."""
    name, signs = equation.primitive.name, [x.sign for x in operands]
    if name in ("exp", "exp2", "logistic", "erfc"):
        return POSITIVE
    if name in ("abs", "square") or name == "integer_pow" and equation.params["y"] % 2 == 0:
        return max(signs[0], NOT_NEGATIVE) if name != "integer_pow" or equation.params["y"] > 0 else ANY
    if name == "mul" and operands[0].array is operands[1].array:
        return max(signs[0], NOT_NEGATIVE)
    if name in ("add", "add_any"):
        return max(signs) if min(signs) >= NOT_NEGATIVE else ANY
    if name in ("mul", "div"):
        return min(signs)
    if name == "max":
        return max(signs)
    if name == "reduce_sum":
        empty = not all(shape_of(equation.invars[0])[axis] for axis in equation.params["axes"])
        return min(signs[0], NOT_NEGATIVE) if empty else signs[0]
    if name == "select_n":
        return min(signs[1:])
    if name in ("rsqrt", "sign", "sqrt", "reduce_max", "reduce_min", "copy", "stop_gradient") or name in STRUCTURAL - {
        "gather",
        "pad",
    }:
        return min(signs)
    if name == "convert_element_type":
        of_truths = dtype_of(equation.invars[0]) == np.bool_
        return NOT_NEGATIVE if of_truths else signs[0] if is_number(equation.invars[0]) else ANY
    return ANY


# --- pairs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WithoutInfinities:
    """Two programs without infinities behind masks, of real numbers.

    undefined: a program of the same inputs, of which each output is 1 where one of the given programs has NaN, and 0
    elsewhere.  one_side, both_sides: how many entries of outputs are undefined for all inputs on one side alone, and on
    both, with nothing to compare.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    undefined: ClosedJaxpr
    one_side: int
    both_sides: int


@dataclass(frozen=True)
class _Output:
    """What both programs make of one output.

    infinite: whether it may be infinite on some side.  left_out: where it is undefined for all inputs on some side;
    None if nowhere.  counts: how many entries are so on one side alone, and on both.
    """

    infinite: bool
    left_out: np.ndarray | None
    counts: tuple[int, int]


def has_infinity(*programs: ClosedJaxpr) -> bool:
    """Whether a constant of one of the programs, or of a function that it calls, is infinite."""
    return any(_has_infinity(p) for program in programs for p in programs_within(program))


def _has_infinity(program: ClosedJaxpr | Jaxpr) -> bool:
    literals = (a.val for e in program.eqns for a in e.invars if hasattr(a, "val"))
    arrays = (np.asarray(a) for a in (*getattr(program, "consts", ()), *literals) if is_array(a) or np.isscalar(a))
    return any(a.dtype.kind == "f" and np.isinf(a).any() for a in arrays)


def without_infinities(left: ClosedJaxpr, right: ClosedJaxpr, *, ignoring: bool = False) -> WithoutInfinities | None:
    """Two programs whose equality says that the given ones are equal wherever both are defined; None if they are these.

    Args:
        left, right: programs of the same inputs and outputs.
        ignoring: whether what one program selects as 0 in rows that are masked whole may be anything, if the other one
            has NaN there.

    Raises:
        UnsupportedError: an infinity is used in a way for which there is no rule here.
    """
    if not has_infinity(left, right):
        return None
    programs = inlined(left), inlined(right)
    outputs = _outputs(programs, ignoring)
    if outputs is None:
        return None
    first, second = (_rewritten(p, ignoring, outputs) for p in programs)
    one, both = (sum(o.counts[k] for o in outputs) for k in (0, 1))
    return WithoutInfinities(first, second, _undefined(programs, ignoring, outputs), one, both)


def _outputs(programs: Sequence[ClosedJaxpr], ignoring: bool) -> list[_Output] | None:
    """What both programs make of their outputs; None if no infinity stands behind a mask in them."""
    found: list[_Output] = []
    rewriting = Rewriting(ignoring)

    def function(*inputs: Any) -> list[Any]:
        sides = _both(rewriting, programs, inputs)
        for x, y, atom in zip(*sides, programs[0].jaxpr.outvars, strict=True):
            found.append(_output(rewriting, x, y, atom))
        return []

    retraced(programs[0], function)
    return found if rewriting.rewritten else None


def _output(rewriting: Rewriting, x: Value, y: Value, atom: Any) -> _Output:
    """What both programs make of one output."""
    if not is_number(atom) and not (x.is_plain and y.is_plain):
        raise UnsupportedError("an output that is no number depends on an infinity")
    if x.infinite is not None and y.infinite is not None and x.above != y.above:
        raise UnsupportedError("an output is infinite with different signs")
    for one, other in ((x, y), (y, x)):
        if one.ignored is not None and not any(_holds_in(one.ignored, v.undefined) for v in (other, one)):
            raise UnsupportedError("an output is left out where both functions may be defined")
    nowhere = np.zeros(shape_of(atom), bool)
    a, b = (nowhere if v.undefined is None or v.undefined.constant is None else v.undefined.constant for v in (x, y))
    either = a | b
    counts = int((a ^ b).sum()), int((a & b).sum())
    return _Output(x.infinite is not None or y.infinite is not None, either if either.any() else None, counts)


def _holds_in(x: Truth, y: Truth | None) -> bool:
    """Whether the second truth value is seen to hold wherever the first one does."""
    if y is None:
        return False
    if x.constant is not None and y.constant is not None:
        return bool(np.all(~x.constant | y.constant))
    return x.known is not None and y.known is not None and x.known.implies(y.known)


def _rewritten(program: ClosedJaxpr, ignoring: bool, outputs: Sequence[_Output]) -> ClosedJaxpr:
    """The program; of an output that may be infinite where it is so, as 0 and 1, and its number elsewhere."""

    def function(*inputs: Any) -> list[Any]:
        rewriting, results = Rewriting(ignoring), []
        (values,) = _both(rewriting, [program], inputs)
        for v, atom, output in zip(values, program.jaxpr.outvars, outputs, strict=True):
            arrays, zeros = [v.array], np.zeros(shape_of(atom), dtype_of(atom))
            if output.infinite:
                where = v.infinite or Truth(np.zeros(shape_of(atom), bool))
                number = v.array if v.infinite is None else rewriting.select(where, v.array, zeros)
                arrays = [number, lax.convert_element_type(where.array, dtype_of(atom))]
            if output.left_out is not None:
                arrays = [lax.select_n(output.left_out, a, zeros) for a in arrays]
            results += arrays
        return results

    return retraced(program, function)


def _undefined(programs: Sequence[ClosedJaxpr], ignoring: bool, outputs: Sequence[_Output]) -> ClosedJaxpr:
    """A program that says where one of two programs has NaN, for each output of those without infinities."""

    def function(*inputs: Any) -> list[Any]:
        rewriting, results = Rewriting(ignoring), []
        sides = _both(rewriting, programs, inputs)
        for x, y, atom, output in zip(*sides, programs[0].jaxpr.outvars, outputs, strict=True):
            where = rewriting.either(x.undefined, y.undefined) or Truth(np.zeros(shape_of(atom), bool))
            results += [lax.convert_element_type(where.array, np.float32)] * (1 + output.infinite)
        return results

    return retraced(programs[0], function)


def _both(rewriting: Rewriting, programs: Sequence[ClosedJaxpr], inputs: Sequence[Any]) -> list[list[Value]]:
    """The outputs of programs of the same inputs, in which one computation of truth values is one array."""
    given = []
    for x, v in zip(inputs, programs[0].jaxpr.invars, strict=True):
        known = rewriting.base(x) if dtype_of(v) == np.bool_ else None
        given.append(Value(x, finite=is_number(v), known=known))
    return [followed(p, given, rewriting.constant, rewriting.applied) for p in programs]
