"""Programs of a certificate, followed equation by equation in a number system: `Fields` or `Balls`.

A primitive, a parameter or a dtype that has no row here is not decided; nothing is guessed.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb
from flint import ctx as precision

from uat_jax_check import arrays as a
from uat_jax_check.arrays import Array
from uat_jax_check.balls import UNDEFINED
from uat_jax_check.document import NotDecided, Refused, usable

EQUATIONS = 2**18
WORK = 3 * 10**8
BITS = 2**14
POWER = 4096

IGNORED = frozenset(
    """
    accuracy precision preferred_element_type out_sharding sharding out_dtype weak_type dtype indices_are_sorted
    unique_indices update_consts is_stable num_keys dimensions_of_reshape
""".split()
)
"""Parameters that do not change the real value, or are looked at where they do."""

PARAMETERS = {
    name: frozenset(parameters.split())
    for names, parameters in {
        "abs add add_any and asinh atan asin acos acosh atanh cbrt clamp cos cosh digamma div eq erf erf_inv erfc exp "
        "exp2 expm1 ge gt is_finite le lgamma log log1p logistic lt max min mul ne neg not or pow rem rsqrt select_n "
        "sign sin sinh sqrt square sub tan tanh xor dynamic_update_slice": "",
        "broadcast_in_dim": "broadcast_dimensions shape",
        "closed_call": "call_jaxpr",
        "concatenate": "dimension",
        "cond": "branches",
        "convert_element_type": "new_dtype",
        "conv_general_dilated": "batch_group_count dimension_numbers feature_group_count lhs_dilation padding "
        "rhs_dilation window_strides",
        "cumsum cummax cummin cumprod": "axis reverse",
        "dot_general": "dimension_numbers",
        "dynamic_slice": "slice_sizes",
        "expand_dims reshape squeeze rev": "dimensions new_sizes",
        "gather": "dimension_numbers fill_value mode slice_sizes",
        "integer_pow": "y",
        "iota": "dimension shape",
        "pad": "padding_config",
        "argmax argmin": "axes index_dtype",
        "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or": "axes",
        "scan": "jaxpr length num_carry num_consts reverse",
        "scatter scatter-add scatter-mul scatter-min scatter-max scatter-sub": "dimension_numbers mode update_jaxpr",
        "slice": "limit_indices start_indices strides",
        "sort": "dimension",
        "split": "axis sizes",
        "stack unstack": "axis",
        "tile": "reps",
        "transpose": "permutation",
        "reduce_window_max "
        "reduce_window_min reduce_window_sum": "base_dilation padding window_dilation window_dimensions window_strides",
        "while": "body_jaxpr body_nconsts cond_jaxpr cond_nconsts",
        "reduce_precision": "exponent_bits mantissa_bits",
    }.items()
    for name in names.split()
}
"""Primitive -> the parameters that are looked at."""

ODD = {
    "erf": True,
    "asinh": True,
    "atan": True,
    "cbrt": True,
    "tan": False,
    "asin": False,
    "atanh": False,
    "erf_inv": False,
}
"""Odd functions of which no more is used, and whether they are defined everywhere."""
PLAIN = {"acos": False, "acosh": False, "lgamma": False, "digamma": False, "exp2": True}
"""Functions of which nothing is used but the name."""
COMPARISONS = {
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}
INFINITY = math.inf
WITH_TYPES = frozenset(["integer_pow", "convert_element_type", "reduce_precision"])
"""Operations on entries that look at a parameter or a dtype."""


class Irrational(NamedTuple):
    """sign·√radicand, or sign·√(radicand/π)."""

    sign: Fraction
    radicand: Fraction
    over_pi: bool

    def near(self) -> Fraction:
        """The number to 200 bits."""
        with precision.workprec(256):
            pi = Fraction(arb.pi().mid().str(70, radius=False))
        square = self.radicand / (pi if self.over_pi else 1)
        return self.sign * Fraction(math.isqrt(int(square * 2**400)), 2**200)

    def __str__(self) -> str:
        return f"{'-' if self.sign < 0 else ''}√({self.radicand}{'/π' if self.over_pi else ''})"


def special(value: Any) -> bool:
    """Whether an entry is inf, -inf or nan."""
    return type(value) is float


def known(value: Any) -> bool:
    """Whether an entry is a real number that is known."""
    return type(value) is Fraction


def content(parameter: Any) -> Any:
    """The only value of {kind: value}."""
    usable(isinstance(parameter, dict) and len(parameter) == 1, "a parameter is not {kind: value}")
    return next(iter(parameter.values()))


class Machine:
    """Evaluates a program in a number system.

    Args:
        numbers: `Fields` or `Balls`.
        program: the jaxprs of the file, the last one being the program.
        constant: what a float of a dtype stands for.
        first: the number before that of the first equation.
    """

    def __init__(self, numbers: Any, program: Any, constant: Callable[[Fraction, str], Any], first: int = 0) -> None:
        self.numbers, self.program, self.reader = numbers, program, constant
        self.first = self.equations = first
        self.work = 0
        self.decisions: dict[tuple[int, ...], list[Any]] = {}

    def inputs(self) -> list[tuple[str, a.Shape]]:
        """The types of the inputs."""
        return [a.read_type(t) for t in self.program[-1]["inputs"]]

    def run(self, arguments: Sequence[Array], number: int | None = None) -> list[Array]:
        """The outputs of the program, or of the jaxpr of a number, for arguments."""
        own = len(self.program) - 1 if number is None else number
        jaxpr = self.program[own]
        types = [a.read_type(t) for t in jaxpr["inputs"]]
        if types != [(x.dtype, x.shape) for x in arguments]:
            raise Refused("a program is given arguments of other types than its inputs")
        known = [a.read_array(c, self.constant) for c in jaxpr["constants"]] + list(arguments)

        def value(atom: Any) -> Array:
            if isinstance(atom, list):
                return a.read_array(atom, self.constant)
            usable(type(atom) is int and 0 <= atom < len(known), "a variable that is not defined")
            return known[atom]

        for equation in jaxpr["equations"]:
            usable(isinstance(equation, list) and len(equation) == 4, "an equation is not a list of four")
            name, parameters, operands, results = equation
            types = [a.read_type(t) for t in results]
            found = self.equation(name, parameters, [value(x) for x in operands], types, own)
            if [x.shape for x in found] != [shape for _, shape in types]:
                raise Refused(
                    f"{name} gives the shapes {[x.shape for x in found]}, and {[s for _, s in types]} are stated"
                )
            known += [Array(dtype, x.shape, x.entries) for x, (dtype, _) in zip(found, types, strict=True)]
        return [value(x) for x in jaxpr["outputs"]]

    def equation(self, name: Any, p: Any, xs: list[Array], types: Any, own: int) -> list[Array]:
        """The results of one equation."""
        usable(isinstance(name, str) and isinstance(p, dict), "an equation without a name or parameters")
        if name not in PARAMETERS:
            raise NotDecided(f"primitive {name[:60]!r}")
        strange = set(p) - PARAMETERS[name] - IGNORED
        if strange:
            raise NotDecided(f"parameter {min(strange)[:60]!r} of {name}")
        self.equations += 1
        self.work += getattr(getattr(self.numbers, "level", None), "copies", 1) * (
            8 + sum(math.prod(shape) for _, shape in types) + sum(len(x.entries) for x in xs)
        )
        usable(
            self.equations - self.first <= EQUATIONS and self.work <= WORK,
            "it takes more operations than the limits allow",
        )
        self.numbers.place = (self.equations, 0)
        for parameter in {"shape", "new_sizes"} & set(p):
            if p[parameter] != list(types[0][1]):
                raise Refused(f"{name} to another shape than is stated")
        if name in CONTROL:
            return CONTROL[name](self, p, xs, types, own)
        if name in STRUCTURE:
            found = STRUCTURE[name](self, p, xs, types)
            return found if isinstance(found, list) else [found]
        rule = getattr(self, "_" + name, None) or self.named(name)
        if name in WITH_TYPES:
            rule = functools.partial(rule, p=p, dtype=types[0][0], of=xs[0].dtype)
        return [self.each(rule, xs, types[0])]

    # Entry by entry

    def each(self, rule: Callable[..., Any], xs: list[Array], result: tuple[str, a.Shape]) -> Array:
        """A rule at every place; a single number, or one along an axis, stands at all of them."""
        dtype, shape = result
        if any(x.shape and len(x.shape) != len(shape) for x in xs):
            raise Refused("an operation on arrays of different shapes")
        spread = [x if x.shape == shape else a.broadcast(x, shape, range(len(x.shape))) for x in xs]
        columns = [x.entries for x in spread]
        entries = []
        for i, values in enumerate(zip(*columns, strict=True)):
            self.numbers.place = (self.equations, i)
            entries.append(self.bounded(rule(*values), dtype))
        return Array(dtype, shape, entries)

    def bounded(self, value: Any, dtype: str) -> Any:
        """An integer wraps to its width; a number that is known may not grow without end."""
        if type(value) is int:
            if dtype in a.FLOATS:
                return Fraction(value)
            bits, signed = a.INTEGERS[dtype]
            return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) if signed else value % 2**bits
        if known(value):
            usable(
                max(value.numerator.bit_length(), value.denominator.bit_length()) <= BITS,
                "a number has too many digits",
            )
        if dtype not in a.FLOATS and dtype != "bool":
            raise NotDecided("an integer that depends on the inputs")
        return value

    def undefined(self, what: str) -> Any:
        """A value that is none."""
        if self.numbers.exact:
            return UNDEFINED
        raise NotDecided(what)

    def decided(self, outcome: Any) -> Any:
        """A decision about known numbers, remembered: it must not depend on how constants are read."""
        self.decisions.setdefault(self.numbers.place, []).append(outcome)
        return outcome

    def constant(self, value: Fraction, dtype: str) -> Any:
        """What a float stands for: a fraction, an infinity, or an irrational number."""
        meaning = self.reader(value, dtype)
        if not isinstance(meaning, Irrational):
            return meaning
        radicand = meaning.radicand
        if meaning.over_pi:
            return self._mul(meaning.sign, self.root(self._div(radicand, self.numbers.pi()), inverse=False))
        return self._mul(meaning.sign, self.root(radicand, inverse=False))

    def finite(self, x: Any) -> bool:
        """Whether an entry is surely a real number."""
        return (
            known(x)
            or type(x) is int
            or not special(x)
            and (self.numbers.exact and x is not UNDEFINED or getattr(x, "total", False))
        )

    def total(self, values: Sequence[Any]) -> Any:
        """The sum of entries."""
        if values and all(type(v) is int for v in values):
            return sum(values)
        infinite = {v for v in values if special(v)}
        if infinite:
            if len(infinite) > 1:
                return self.undefined("a sum of opposite infinities")
            if not all(special(v) or self.finite(v) for v in values):
                return self.undefined("an infinity added to what may be undefined")
            return infinite.pop()
        rest = [v for v in values if not known(v)]
        constant = sum((v for v in values if known(v)), Fraction(0))
        if not rest:
            return constant
        return (
            rest[0] if len(rest) == 1 and not constant else self.numbers.sum([*rest, *([constant] if constant else [])])
        )

    def _add(self, x: Any, y: Any) -> Any:
        return self.total([x, y])

    _add_any = _add

    def _neg(self, x: Any) -> Any:
        return -x if type(x) is int or known(x) or special(x) else self.numbers.negative(x)

    def _sub(self, x: Any, y: Any) -> Any:
        return self.total([x, self._neg(y)])

    def _mul(self, x: Any, y: Any) -> Any:
        if type(x) is type(y) is int or known(x) and known(y):
            return x * y
        if special(x) or special(y):
            return self.infinite_product(x, y)
        for one, other in ((x, y), (y, x)):
            if known(one) and (one == 1 or one == 0 and self.finite(other)):
                return other if one else one
        return self.numbers.product(x, y)

    def infinite_product(self, x: Any, y: Any) -> Any:
        """A product of which one factor is infinite."""
        if any(special(v) and v != v for v in (x, y)):
            return math.nan
        signs = [self.side(v) for v in (x, y)]
        return signs[0] * signs[1] * INFINITY if all(signs) else self.undefined("0 times infinity")

    def side(self, x: Any) -> int:
        """The sign of an entry, which must be certain."""
        if known(x) or special(x):
            return (x > 0) - (x < 0)
        if self.numbers.exact and x is not UNDEFINED:
            return int(self.numbers.sign(x))
        if getattr(x, "sign", 0) == 2 and x.total:
            return 1
        raise NotDecided("an infinity times a number of unknown sign")

    def _div(self, x: Any, y: Any) -> Any:
        if type(x) is type(y) is int:
            if not y:
                raise NotDecided("an integer divided by 0")
            return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        if special(y):
            return Fraction(0) if self.finite(x) and y == y else self.undefined("a quotient of infinities")
        if special(x):
            return self.infinite_product(x, y)
        if known(y):
            return self._mul(x, 1 / y) if y else self.undefined("a division by 0")
        return self.numbers.quotient(x, y)

    def _rem(self, x: Any, y: Any) -> Any:
        if type(x) is type(y) is int and y:
            return abs(x) % abs(y) * (1 if x >= 0 else -1)
        raise NotDecided("a remainder of real numbers")

    def power(self, x: Any, n: int) -> Any:
        """x multiplied n times with itself."""
        usable(abs(n) <= POWER, "a power that is too high")
        if n < 0:
            return self._div(Fraction(1), self.power(x, -n))
        found = 1 if type(x) is int else Fraction(1)
        for bit in bin(n)[2:]:
            found = self.bounded(self._mul(found, found), "float64") if type(x) is not int else found * found
            if bit == "1":
                found = self._mul(found, x)
        return found

    def _integer_pow(self, x: Any, p: Any, dtype: str, of: str) -> Any:
        usable(type(p["y"]) is int, "an exponent that is no integer")
        if type(x) is int and p["y"] < 0:
            raise NotDecided("an integer to a negative power")
        return self.power(x, p["y"])

    def _square(self, x: Any) -> Any:
        return self.power(x, 2)

    def _pow(self, x: Any, y: Any) -> Any:
        if type(y) is int:
            y = Fraction(y)
        if known(y) and y.denominator == 1:
            return self.power(x, int(y))
        if not self.numbers.exact and not special(x) and not special(y):
            base, exponent = self.numbers.lift(x), self.numbers.lift(y)
            if not known(y) and base.sign == 2 and base.total and exponent.total:  # x^y = exp(y log x)
                return self.named("exp")(self._mul(y, self._log(x)))
        if known(y) and y.denominator == 2:
            root = self._sqrt(x) if y > 0 else self._rsqrt(x)
            return self.power(root, abs(int(2 * y)))
        if self.numbers.exact:
            return self.named("exp")(self._mul(y, self._log(x)))
        if known(y) and not special(x):
            return self.numbers.made_partial(self.numbers.random(f"power {y}", self.numbers.lift(x)))
        raise NotDecided("a power with an unknown exponent")

    def root(self, x: Any, inverse: bool) -> Any:
        """√x or 1/√x, exactly for squares of fractions."""
        if special(x):
            if x == INFINITY:
                return Fraction(0) if inverse else x
            return self.undefined("a root out of range")
        if known(x):
            if x < 0 or inverse and not x:
                return self.undefined("a root out of range")
            n, d = math.isqrt(x.numerator), math.isqrt(x.denominator)
            if (n * n, d * d) == (x.numerator, x.denominator):
                return Fraction(d, n) if inverse else Fraction(n, d)
        return self.numbers.rsqrt(x) if inverse else self.numbers.sqrt(x)

    def _sqrt(self, x: Any) -> Any:
        return self.root(x, inverse=False)

    def _rsqrt(self, x: Any) -> Any:
        return self.root(x, inverse=True)

    def _log(self, x: Any) -> Any:
        if special(x):
            return x if x == INFINITY else self.undefined("a logarithm out of range")
        if known(x) and x <= 0:
            return -INFINITY if not x else self.undefined("a logarithm out of range")
        return Fraction(0) if known(x) and x == 1 else self.numbers.log(self.numbers.lift(x))

    def _log1p(self, x: Any) -> Any:
        return self._log(self._add(Fraction(1), x))

    def _expm1(self, x: Any) -> Any:
        return self._sub(self.named("exp")(x), Fraction(1))

    def named(self, name: str) -> Callable[[Any], Any]:
        """A function of one number."""
        limits = {
            "exp": (Fraction(0), INFINITY),
            "logistic": (Fraction(0), Fraction(1)),
            "tanh": (Fraction(-1), Fraction(1)),
            "exp2": (Fraction(0), INFINITY),
            "erf": (Fraction(-1), Fraction(1)),
        }
        at_zero = {"exp": 1, "exp2": 1, "cos": 1, "cosh": 1, "erfc": 1, "logistic": Fraction(1, 2)} | dict.fromkeys(
            ("sin", "sinh", "tanh", "tan", "asin", "atan", "asinh", "atanh", "erf", "erf_inv", "cbrt"), 0
        )

        def function(x: Any) -> Any:
            if special(x):
                if name in limits and x == x:
                    return limits[name][x > 0]
                raise NotDecided(f"{name} of an infinity")
            if known(x) and not x and name in at_zero:
                return Fraction(at_zero[name])
            x, d = self.numbers.lift(x), self.numbers
            if d.exact:
                return d.function(name, x)
            if name in ("asinh", "atanh") and d.level.signs is not None:
                return d.inverse_hyperbolic(name, x)
            if name in ODD:
                found = d.odd(name, x)
                return found if ODD[name] else d.made_partial(found)
            if name in PLAIN:
                found = d.random(name, x)
                return found if PLAIN[name] else d.made_partial(found)
            if name == "erfc":
                return d.sum([Fraction(1), d.negative(d.odd("erf", x))])
            if name in ("sinh", "cosh"):
                return d.hyperbolic(x, 1 if name == "cosh" else -1)
            if name in ("sin", "cos"):
                return d.circular(x, name == "sin")
            return {"exp": d.exp, "logistic": d.logistic, "tanh": d.tanh}[name](x)

        return function

    def _sign(self, x: Any) -> Any:
        if type(x) is int:
            return (x > 0) - (x < 0)
        if known(x) or special(x) and x == x:
            return Fraction(self.decided((x > 0) - (x < 0)))
        return self.numbers.sign(self.numbers.lift(x))

    def _abs(self, x: Any) -> Any:
        return abs(x) if type(x) is int or known(x) or special(x) else self.numbers.magnitude(x)

    def largest(self, values: Sequence[Any]) -> Any:
        """The maximum of entries."""
        if not values:
            return -INFINITY
        if all(type(v) is int for v in values):
            return max(values)
        values = [Fraction(v) if type(v) is int else v for v in values]
        if any(special(v) and v != v for v in values):
            raise NotDecided("a maximum of NaN")
        if INFINITY in [v for v in values if special(v)]:
            if not all(special(v) or self.finite(v) for v in values):
                raise NotDecided("a maximum of what may be undefined")
            return INFINITY
        finite = [v for v in values if not special(v)]
        fractions = [v for v in finite if known(v)]
        rest = [v for v in finite if not known(v)]
        if not finite:
            return -INFINITY
        top = [max(fractions)] if fractions else []
        if len(set(fractions)) > 1:
            self.decided(next(i for i, v in enumerate(values) if known(v) and v == top[0]))
        return top[0] if not rest else self.numbers.largest([*rest, *top]) if len(rest) + len(top) > 1 else rest[0]

    def smallest(self, values: Sequence[Any]) -> Any:
        """The minimum of entries."""
        return self._neg(self.largest([self._neg(v) for v in values]))

    def _max(self, x: Any, y: Any) -> Any:
        return self.largest([x, y])

    def _min(self, x: Any, y: Any) -> Any:
        return self.smallest([x, y])

    def _clamp(self, low: Any, x: Any, high: Any) -> Any:
        return self.smallest([self.largest([x, low]), high])

    def compare(self, kind: str, x: Any, y: Any) -> Any:
        """A comparison, 0 or 1 if it is known."""
        if type(x) is type(y) is int:
            return int(COMPARISONS[kind](x, y))
        x, y = (Fraction(v) if type(v) is int else v for v in (x, y))
        if (known(x) or special(x)) and (known(y) or special(y)):
            return self.decided(int(COMPARISONS[kind](x, y)))
        if special(x) or special(y):
            if not all(special(v) and v == v or self.finite(v) for v in (x, y)):
                raise NotDecided("a comparison of what may be undefined")
            return int(COMPARISONS[kind](*(v if special(v) else Fraction(0) for v in (x, y))))
        return self.numbers.compare(kind, x, y)

    def _is_finite(self, x: Any) -> int:
        if special(x):
            return 0
        if not self.finite(x):
            raise NotDecided("whether a number is finite that may be undefined")
        return 1

    def logic(self, name: str, *values: Any) -> Any:
        """and, or, xor, not of integers bit by bit; of truth values that depend on the inputs as numbers."""
        if all(type(v) is int for v in values):
            x, y = (*values, 0)[:2]
            return {"and": x & y, "or": x | y, "xor": x ^ y, "not": ~x}[name]
        if name == "not":
            return self.numbers.negation(values[0])
        x, y = (Fraction(v) if type(v) is int else v for v in values)
        both = self._mul(x, y)
        if name == "and":
            return both
        return self._sub(self._add(x, y), both if name == "or" else self._mul(Fraction(2), both))

    def known_truth(self, x: Any) -> int:
        """A truth value that is known, or drawn as a case."""
        found = None if self.numbers.exact else self.numbers.decided(x)
        if found is None:
            raise NotDecided("an integer or an infinity that depends on the inputs")
        return found

    def _select_n(self, which: Any, *cases: Any) -> Any:
        if type(which) is int:
            usable(0 <= which < len(cases), "a case that is none")
            return cases[which]
        no, yes = (Fraction(v) if type(v) is int else v for v in cases)
        if no is yes or type(no) is type(yes) and known(no) and no == yes:
            return no
        if special(no) or special(yes):
            case = self.known_truth(which)
            return yes if case else no
        return self.numbers.chosen(which, no, yes)

    def _convert_element_type(self, x: Any, p: Any, dtype: str, of: str) -> Any:
        if dtype in a.FLOATS:
            return Fraction(x) if type(x) is int else x
        if type(x) is int:
            return int(x != 0) if dtype == "bool" else x
        if dtype == of == "bool":
            return x
        if dtype == "bool" and not special(x):
            return self.compare("ne", x, Fraction(0))
        if of == "bool":
            return self.known_truth(x)
        if not known(x):
            raise NotDecided("an integer that depends on the inputs")
        whole = self.decided(math.trunc(x))
        bits, signed = a.INTEGERS[dtype]
        if not -(2 ** (bits - 1)) * signed <= whole < 2 ** (bits - signed):
            raise NotDecided("a cast of a number that the integers do not have")
        return whole

    def _reduce_precision(self, x: Any, p: Any, dtype: str, of: str) -> Any:
        if p["exponent_bits"] < a.FLOATS[of][1] or p["mantissa_bits"] < a.FLOATS[of][2]:
            raise NotDecided("a rounding to fewer bits")
        return x

    # Sums of products

    def dot(self, xs: Sequence[Any], ys: Sequence[Any]) -> Any:
        """The sum of products of two lines of entries."""
        self.work += len(xs) * getattr(getattr(self.numbers, "level", None), "copies", 1)
        usable(self.work <= WORK, "it takes more operations than the limits allow")
        return self.total([self._mul(x, y) for x, y in zip(xs, ys, strict=True)]) if xs else Fraction(0)

    def products(self, x: Array, y: Array, contracted: Any, batch: Any, dtype: str) -> Array:
        """XLA's dot_general: axes are the batch, those of x that are left, those of y that are left."""
        if dtype == "bool":
            raise NotDecided("a product of arrays of booleans")
        (cx, cy), (bx, by) = contracted, batch
        size = lambda z, axes: [z.shape[i] for i in axes]
        if size(x, cx) != size(y, cy) or size(x, bx) != size(y, by):
            raise Refused("a product of arrays that do not fit")
        sides = []
        for z, c, b in ((x, cx, bx), (y, cy, by)):
            free = [i for i in range(len(z.shape)) if i not in c and i not in b]
            turned, length = a.transpose(z, [*b, *free, *c]), math.prod(size(z, c))
            rows = [turned.entries[i : i + length] for i in range(0, len(turned.entries), length)] if length else []
            sides.append((size(z, free), rows))
        (fx, rows_x), (fy, rows_y) = sides
        nx, ny, shape = math.prod(fx), math.prod(fy), (*size(x, bx), *fx, *fy)
        zero = 0 if dtype in a.INTEGERS else Fraction(0)
        if not math.prod(size(x, cx)):
            return Array(dtype, shape, [zero] * math.prod(shape))
        found = [
            self.bounded(self.dot(rows_x[b * nx + i], rows_y[b * ny + j]), dtype)
            for b in range(math.prod(size(x, bx)))
            for i in range(nx)
            for j in range(ny)
        ]
        return Array(dtype, shape, found)

    def dot_general(self, p: Any, xs: Any, types: Any) -> Array:
        """A product of two arrays."""
        contracted, batch = p["dimension_numbers"]
        return self.products(xs[0], xs[1], contracted, batch, types[0][0])

    def convolution(self, p: Any, xs: Any, types: Any) -> Array:
        """A convolution: windows of the one, multiplied with the other."""
        numbers, groups = content(p["dimension_numbers"]), p["feature_group_count"]
        if p["batch_group_count"] != 1:
            raise NotDecided("a convolution with groups of the batch")
        x, y = a.transpose(xs[0], numbers["lhs_spec"]), a.transpose(xs[1], numbers["rhs_spec"])
        (images, features, *space), (outputs, inputs, *window) = x.shape, y.shape
        if features != inputs * groups or outputs % groups:
            raise Refused("a convolution of arrays that do not fit")
        seen = a.windows(space, window, p["window_strides"], p["padding"], p["lhs_dilation"], p["rhs_dilation"])
        area, zero, entries = math.prod(space), Fraction(0) if types[0][0] in a.FLOATS else 0, []
        kernel = len(y.entries) // max(outputs, 1)
        for n in range(images):
            for o in range(outputs):
                first = n * features + o // (outputs // groups) * inputs
                own = y.entries[o * kernel : (o + 1) * kernel]
                for places in seen:
                    under = [
                        zero if i < 0 else x.entries[(first + c) * area + i] for c in range(inputs) for i in places
                    ]
                    entries.append(self.bounded(self.dot(under, own), types[0][0]))
        out, shape = numbers["out_spec"], types[0][1]
        usable(sorted(out) == list(range(len(shape))), "a convolution with a result that has no such axes")
        found = Array(types[0][0], tuple(shape[i] for i in out), entries)
        usable(len(entries) == math.prod(shape), "a convolution with a result of another size")
        return a.transpose(found, [list(out).index(i) for i in range(len(out))])

    # Reductions

    def reduced(self, x: Array, axes: Any, function: Callable[[list[Any]], Any]) -> Array:
        """What a function makes of the entries along some axes."""
        shape, rows = a.lines(x, axes)
        return Array(x.dtype, shape, [self.bounded(function(row), x.dtype) for row in self.placed(rows)])

    def placed(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, each at a place of its own: what is decided or exponentiated there is told apart by places."""
        for i, item in enumerate(items):
            self.numbers.place = (self.equations, i)
            yield item

    def multiplied(self, values: Sequence[Any], zero: Any = None) -> Any:
        """The product of entries."""
        found = values[0] if values else Fraction(1)
        for value in values[1:]:
            found = self._mul(found, value)
        return found

    def extreme_place(self, p: Any, xs: Any, types: Any, largest: bool) -> Array:
        """The first place of the maximum or minimum of known numbers."""
        (axis,) = p["axes"]
        shape, rows = a.lines(xs[0], [axis])
        if all(known(v) or type(v) is int for v in xs[0].entries):
            return Array(types[0][0], shape, [self.decided(r.index(max(r) if largest else min(r))) for r in rows])
        if any(special(v) for v in xs[0].entries) or self.numbers.exact:
            raise NotDecided("the place of a maximum that depends on the inputs")
        found = []
        for row in self.placed(rows):
            first = 0
            for i in range(1, len(row)):
                above = self.compare("gt" if largest else "lt", row[i], row[first])
                first = i if (above if type(above) is int else self.known_truth(above)) else first
            found.append(first)
        return Array(types[0][0], shape, found)

    def prefixes(self, p: Any, x: Array, step: Callable[[Any, Any], Any]) -> Array:
        """All sums, products, maxima of the first entries along an axis."""

        def line(row: list[Any]) -> list[Any]:
            row = row[::-1] if p["reverse"] else row
            found = row[:1]
            for value in row[1:]:
                found.append(self.bounded(step(found[-1], value), x.dtype))
            return found[::-1] if p["reverse"] else found

        return a.along(x, p["axis"], line, self.placed)

    def ordered(self, values: list[Any]) -> list[Any]:
        """A line in ascending order."""
        if all(type(v) is int for v in values):
            return sorted(values)
        if all(known(v) or special(v) and v == v for v in values):
            self.decided([sorted(range(len(values)), key=lambda i: values[i])])
            return sorted(values)
        if any(special(v) for v in values):
            raise NotDecided("an order with infinities")
        return self.numbers.ordered(values)

    def sort(self, p: Any, xs: Any, types: Any) -> Array:
        """Lines in ascending order."""
        if len(xs) != 1:
            raise NotDecided("a sort of several arrays")
        return a.along(xs[0], p["dimension"], self.ordered, self.placed)

    def window(self, p: Any, xs: Any, function: Callable[[list[Any]], Any]) -> Array:
        """What a function makes of the entries under a window."""
        seen = a.windows(
            xs[0].shape,
            p["window_dimensions"],
            p["window_strides"],
            p["padding"],
            p["base_dilation"],
            p["window_dilation"],
        )
        per_axis = [
            a.windows([n], [w], [s], [e], [b], [d])
            for n, w, s, e, b, d in zip(
                xs[0].shape,
                p["window_dimensions"],
                p["window_strides"],
                p["padding"],
                p["base_dilation"],
                p["window_dilation"],
                strict=True,
            )
        ]
        under = ([xs[0].entries[i] for i in w if i >= 0] for w in seen)
        entries = [self.bounded(function(row), xs[0].dtype) for row in self.placed(under)]
        return Array(xs[0].dtype, tuple(map(len, per_axis)), entries)

    # Places that are computed

    def starts(self, arrays: Sequence[Array], x: Array, sizes: Sequence[int]) -> list[int]:
        """Where a slice begins: moved so that it lies within the array."""
        if not all(a.is_integer(s) and s.shape == () for s in arrays):
            raise NotDecided("a place that depends on the inputs")
        return [min(max(s.entries[0], 0), n - z) for s, n, z in zip(arrays, x.shape, sizes, strict=True)]

    def dynamic_slice(self, p: Any, xs: Any, types: Any) -> Array:
        """A slice at a computed place."""
        sizes = p["slice_sizes"]
        start = self.starts(xs[1:], xs[0], sizes)
        return a.cut(xs[0], start, [s + z for s, z in zip(start, sizes, strict=True)], [1] * len(sizes))

    def dynamic_update_slice(self, p: Any, xs: Any, types: Any) -> Array:
        """A slice replaced at a computed place."""
        x, update = xs[:2]
        start, steps, entries = self.starts(xs[2:], x, update.shape), a.strides(x.shape), list(x.entries)
        if any(n > m for n, m in zip(update.shape, x.shape, strict=True)):
            raise Refused("an update that is longer than its array")
        for place, value in zip(update.grid(), update.entries, strict=True):
            entries[a.flat([i + s for i, s in zip(place, start, strict=True)], steps)] = value
        return Array(x.dtype, x.shape, entries)

    def gather(self, p: Any, xs: Any, types: Any) -> Array:
        """Entries at computed places."""
        x, index = xs
        if not a.is_integer(index):
            raise NotDecided("a place that depends on the inputs")
        n, mode = content(p["dimension_numbers"]), content(p["mode"])
        names = dict(
            offset=n["offset_dims"],
            collapsed=n["collapsed_slice_dims"],
            batching=n["operand_batching_dims"],
            index_batching=n["start_indices_batching_dims"],
            map=n["start_index_map"],
        )
        shape, source = a.gathered(x.shape, index, p["slice_sizes"], mode, names)
        if -1 in source and (mode != "FILL_OR_DROP" or p["fill_value"] is not None or x.dtype not in a.FLOATS):
            raise NotDecided("a gather beyond its array")
        return Array(x.dtype, shape, [math.nan if i < 0 else x.entries[i] for i in source])

    def scatter(self, p: Any, xs: Any, types: Any, step: Callable[[Any, Any], Any], own: int) -> Array:
        """Entries replaced, or added to, at computed places, in the order of the updates."""
        x, index, updates = xs
        if not a.is_integer(index):
            raise NotDecided("a place that depends on the inputs")
        n, mode = content(p["dimension_numbers"]), content(p["mode"])
        single = (*n["inserted_window_dims"], *n["operand_batching_dims"])
        long = iter(updates.shape[i] for i in n["update_window_dims"])
        sizes = [1 if i in single else next(long) for i in range(len(x.shape))]
        names = dict(
            offset=n["update_window_dims"],
            collapsed=n["inserted_window_dims"],
            map=n["scatter_dims_to_operand_dims"],
            batching=n["operand_batching_dims"],
            index_batching=n["scatter_indices_batching_dims"],
        )
        shape, target = a.gathered(x.shape, index, sizes, mode, names)
        if shape != updates.shape or -1 in target and mode == "PROMISE_IN_BOUNDS":
            raise Refused("a scatter of updates that do not fit")
        if p.get("update_jaxpr") is not None:
            step = self.updating(p, x.dtype, own)
        entries = list(x.entries)
        for i, value in self.placed(zip(target, updates.entries, strict=True)):
            if i >= 0:
                entries[i] = self.bounded(step(entries[i], value), x.dtype)
        return Array(x.dtype, x.shape, entries)

    def updating(self, p: Any, dtype: str, own: int) -> Callable[[Any, Any], Any]:
        """The function by which a scatter combines an entry with an update."""
        one = lambda value: Array(dtype, (), [value])
        return lambda old, new: self.run([one(old), one(new)], self.called(p["update_jaxpr"], own))[0].entries[0]

    # Calls and loops

    def called(self, parameter: Any, own: int) -> int:
        """The number of a jaxpr that is called, which stands before the one that calls it."""
        number = content(parameter)
        usable(type(number) is int and 0 <= number < own, "a call of a jaxpr that does not stand before")
        return number

    def scan(self, p: Any, xs: Any, types: Any, own: int) -> list[Array]:
        """A loop with a carry; the other operands are read, and the other results written, step by step."""
        constants, carries, length = p["num_consts"], p["num_carry"], p["length"]
        usable(all(type(n) is int and n >= 0 for n in (constants, carries, length)), "a scan without numbers")
        first, body = constants + carries, self.called(p["jaxpr"], own)
        carry, found = xs[constants:first], []
        if any(not x.shape or x.shape[0] != length for x in xs[first:]):
            raise Refused("a scan over arrays of other lengths")
        for t in range(length - 1, -1, -1) if p["reverse"] else range(length):
            row = [
                Array(x.dtype, x.shape[1:], x.entries[t * (w := math.prod(x.shape[1:])) : (t + 1) * w])
                for x in xs[first:]
            ]
            results = self.run([*xs[:constants], *carry, *row], body)
            carry, rest = results[:carries], results[carries:]
            found.append(rest)
        found = found[::-1] if p["reverse"] else found
        stacked = [
            Array(t[0], t[1], [v for step in found for v in step[i].entries]) for i, t in enumerate(types[carries:])
        ]
        if any(len(x.entries) != math.prod(x.shape) for x in stacked):
            raise Refused("a scan with results of other shapes")
        return [*carry, *stacked]

    def loop(self, p: Any, xs: Any, types: Any, own: int) -> list[Array]:
        """A loop whose condition depends on known numbers."""
        of_condition, of_body = p["cond_nconsts"], p["body_nconsts"]
        condition, body = self.called(p["cond_jaxpr"], own), self.called(p["body_jaxpr"], own)
        before, step, carry = xs[:of_condition], xs[of_condition : of_condition + of_body], xs[of_condition + of_body :]
        while True:
            (go_on,) = self.run([*before, *carry], condition)
            if not (go_on.entries[0] if a.is_integer(go_on) else self.known_truth(go_on.entries[0])):
                return carry
            carry = self.run([*step, *carry], body)

    def cond(self, p: Any, xs: Any, types: Any, own: int) -> list[Array]:
        """One of several functions by a known number."""
        if not a.is_integer(xs[0]):
            raise NotDecided("a branch that depends on the inputs")
        branches = p["branches"]
        return self.run(xs[1:], self.called(branches[min(max(xs[0].entries[0], 0), len(branches) - 1)], own))


def _reshape(m: Machine, p: Any, xs: Any, types: Any) -> Array:
    if p.get("new_sizes") is not None and p.get("dimensions") is not None:
        raise NotDecided("a reshape in another order")
    shape = types[0][1]
    if math.prod(shape) != len(xs[0].entries):
        raise Refused("a reshape to another number of entries")
    return Array(xs[0].dtype, shape, xs[0].entries)


def _iota(m: Machine, p: Any, xs: Any, types: Any) -> Array:
    kind = Fraction if types[0][0] in a.FLOATS else int
    return Array(types[0][0], types[0][1], [kind(place[p["dimension"]]) for place in a.places(types[0][1])])


def _split(m: Machine, p: Any, xs: Any, types: Any) -> list[Array]:
    found, first, shape = [], 0, xs[0].shape
    for size in p["sizes"]:
        start, stop = [0] * len(shape), list(shape)
        start[p["axis"]], stop[p["axis"]] = first, first + size
        found.append(a.cut(xs[0], start, stop, [1] * len(shape)))
        first += size
    if first != shape[p["axis"]]:
        raise Refused("a split into parts of other sizes")
    return found


def _unstack(m: Machine, p: Any, xs: Any, types: Any) -> list[Array]:
    axis, x = p["axis"], xs[0]
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    parts = _split(m, {"sizes": [1] * x.shape[axis], "axis": axis}, xs, types)
    return [Array(x.dtype, rest, part.entries) for part in parts]


def _stack(m: Machine, p: Any, xs: Any, types: Any) -> Array:
    axis = p["axis"]
    return a.concatenate([Array(x.dtype, (*x.shape[:axis], 1, *x.shape[axis:]), x.entries) for x in xs], axis)


def _tile(m: Machine, p: Any, xs: Any, types: Any) -> Array:
    x, steps = xs[0], a.strides(xs[0].shape)
    shape = [n * r for n, r in zip(x.shape, p["reps"], strict=True)]
    usable(math.prod(shape) <= a.ENTRIES, "a tiling of too many entries")
    return a.moved(
        [x], shape, (a.flat([i % n for i, n in zip(q, x.shape, strict=True)], steps) for q in a.places(shape))
    )


def _slice(m: Machine, p: Any, xs: Any, types: Any) -> Array:
    return a.cut(xs[0], p["start_indices"], p["limit_indices"], p["strides"] or [1] * len(xs[0].shape))


CONTROL: dict[str, Callable[..., list[Array]]] = {
    "closed_call": lambda m, p, xs, types, own: m.run(xs, m.called(p["call_jaxpr"], own)),
    "scan": Machine.scan,
    "while": Machine.loop,
    "cond": Machine.cond,
    **{
        name: (
            lambda m, p, xs, types, own, step=step: [
                m.scatter(p, xs, types, getattr(m, step) if step else lambda _, new: new, own)
            ]
        )
        for name, step in {
            "scatter": "",
            "scatter-add": "_add",
            "scatter-mul": "_mul",
            "scatter-min": "_min",
            "scatter-max": "_max",
            "scatter-sub": "_sub",
        }.items()
    },
}
STRUCTURE: dict[str, Callable[..., Array | list[Array]]] = {
    "dot_general": Machine.dot_general,
    "conv_general_dilated": Machine.convolution,
    "sort": Machine.sort,
    "gather": Machine.gather,
    "dynamic_slice": Machine.dynamic_slice,
    "dynamic_update_slice": Machine.dynamic_update_slice,
    "reshape": _reshape,
    "squeeze": lambda m, p, xs, types: _reshape(m, {}, xs, types),
    "expand_dims": lambda m, p, xs, types: _reshape(m, {}, xs, types),
    "iota": _iota,
    "split": _split,
    "stack": _stack,
    "unstack": _unstack,
    "tile": _tile,
    "slice": _slice,
    "transpose": lambda m, p, xs, types: a.transpose(xs[0], p["permutation"]),
    "broadcast_in_dim": lambda m, p, xs, types: a.broadcast(xs[0], types[0][1], p["broadcast_dimensions"]),
    "rev": lambda m, p, xs, types: a.reverse(xs[0], p["dimensions"]),
    "concatenate": lambda m, p, xs, types: a.concatenate(xs, p["dimension"]),
    "pad": lambda m, p, xs, types: a.pad(xs[0], xs[1], p["padding_config"]),
    "reduce_sum": lambda m, p, xs, types: m.reduced(xs[0], p["axes"], lambda r: m.total(r) if r else 0),
    "reduce_max": lambda m, p, xs, types: m.reduced(xs[0], p["axes"], m.largest),
    "reduce_min": lambda m, p, xs, types: m.reduced(xs[0], p["axes"], m.smallest),
    "reduce_prod": lambda m, p, xs, types: m.reduced(xs[0], p["axes"], m.multiplied),
    "reduce_and": lambda m, p, xs, types: m.reduced(xs[0], p["axes"], lambda r: _fold(m, "and", r)),
    "reduce_or": lambda m, p, xs, types: m.reduced(xs[0], p["axes"], lambda r: _fold(m, "or", r)),
    "argmax": lambda m, p, xs, types: m.extreme_place(p, xs, types, True),
    "argmin": lambda m, p, xs, types: m.extreme_place(p, xs, types, False),
    "cumsum": lambda m, p, xs, types: m.prefixes(p, xs[0], m._add),
    "cumprod": lambda m, p, xs, types: m.prefixes(p, xs[0], m._mul),
    "cummax": lambda m, p, xs, types: m.prefixes(p, xs[0], m._max),
    "cummin": lambda m, p, xs, types: m.prefixes(p, xs[0], m._min),
    "reduce_window_max": lambda m, p, xs, types: m.window(p, xs, m.largest),
    "reduce_window_min": lambda m, p, xs, types: m.window(p, xs, m.smallest),
    "reduce_window_sum": lambda m, p, xs, types: m.window(p, xs, lambda r: m.total(r) if r else 0),
}


def _fold(m: Machine, name: str, values: Sequence[Any]) -> Any:
    usable(values, "a reduction of nothing")
    found = values[0]
    for value in values[1:]:
        found = m.logic(name, found, value)
    return found


for _name in COMPARISONS:
    setattr(Machine, "_" + _name, lambda self, x, y, kind=_name: self.compare(kind, x, y))
for _name in ("and", "or", "xor", "not"):
    setattr(Machine, "_" + _name, lambda self, *values, kind=_name: self.logic(kind, *values))
