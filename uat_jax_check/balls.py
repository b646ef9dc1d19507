"""Real numbers as balls: intervals that contain the exact value, by python-flint.  Known numbers stay fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from uat_jax_check.document import NotDecided

UNDEFINED = object()
"""What a division by zero, or a root or a logarithm out of range, gives; whatever is made of it is undefined too."""


class Undecided(Exception):
    """The balls are too wide for a decision; a higher precision may do."""


FUNCTIONS: dict[str, Callable[[arb], arb]] = {
    **{
        name: (lambda x, name=name: getattr(x, name)())
        for name in (
            *("exp", "tanh", "cos", "sin", "tan", "sinh", "cosh", "atan", "asinh", "erf", "erfc", "expm1"),
            *("asin", "acos", "atanh", "acosh", "digamma", "lgamma"),
        )
    },
    "logistic": lambda x: 1 / (1 + (-x).exp()),
    "cbrt": lambda x: x.root(3) if x >= 0 else -(-x).root(3),
    "erf_inv": lambda x: x.erfinv(),
    "exp2": lambda x: (x * arb(2).log()).exp(),
}


class Balls:
    """Exact real arithmetic at one input."""

    exact = True

    def __init__(self) -> None:
        self.place: tuple[int, ...] = ()

    def lift(self, value: Any) -> Any:
        """A known number as a ball."""
        return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value

    def pi(self) -> arb:
        """π."""
        return arb.pi()

    def sum(self, values: Sequence[Any]) -> Any:
        """The sum."""
        return UNDEFINED if any(v is UNDEFINED for v in values) else sum(map(self.lift, values), arb(0))

    def product(self, x: Any, y: Any) -> Any:
        """x·y."""
        return UNDEFINED if x is UNDEFINED or y is UNDEFINED else self.lift(x) * self.lift(y)

    def scaled(self, x: Any, factor: Fraction) -> Any:
        """A known multiple."""
        return self.product(x, factor)

    def negative(self, x: Any) -> Any:
        """-x."""
        return x if x is UNDEFINED else -x

    def inverse(self, x: Any) -> Any:
        """1/x, undefined at 0."""
        if x is UNDEFINED or x == 0:
            return UNDEFINED
        if x.contains(0):
            raise Undecided("whether a divisor is 0")
        return 1 / x

    def quotient(self, x: Any, y: Any) -> Any:
        """x/y."""
        return self.product(x, self.inverse(self.lift(y)))

    def function(self, name: str, x: Any) -> Any:
        """A function of one number by name."""
        if x is UNDEFINED:
            return x
        if name not in FUNCTIONS:
            raise NotDecided(f"{name} in balls")
        y = FUNCTIONS[name](x)
        if not y.is_finite():
            raise Undecided(f"whether {name} is defined")
        return y

    def above(self, x: Any, y: Any) -> bool:
        """Whether x > y."""
        if x > y:
            return True
        if x <= y:
            return False
        raise Undecided("which of two numbers is larger")

    def positive(self, x: Any, also_zero: bool = False) -> bool:
        """Whether a number is above 0, or not below."""
        return self.above(x, arb(0)) or also_zero and x == 0

    def sqrt(self, x: Any) -> Any:
        """√x."""
        x = self.lift(x)
        return x.sqrt() if x is not UNDEFINED and self.positive(x, also_zero=True) else UNDEFINED

    def rsqrt(self, x: Any) -> Any:
        """1/√x."""
        x = self.lift(x)
        return x.rsqrt() if x is not UNDEFINED and self.positive(x) else UNDEFINED

    def log(self, x: Any) -> Any:
        """log x."""
        return x.log() if x is not UNDEFINED and self.positive(x) else UNDEFINED

    def sign(self, x: Any) -> Any:
        """-1, 0 or 1."""
        if x is UNDEFINED:
            return x
        return Fraction(0) if x == 0 else Fraction(1 if self.positive(x) else -1)

    def magnitude(self, x: Any) -> Any:
        """|x|."""
        return x if x is UNDEFINED else abs(x)

    def compare(self, kind: str, x: Any, y: Any) -> int:
        """A comparison, which must be certain."""
        if x is UNDEFINED or y is UNDEFINED:
            raise NotDecided("a comparison of what is undefined")
        x, y = self.lift(x), self.lift(y)
        if kind in ("eq", "ne"):
            if x == y or x != y:
                return int((x == y) == (kind == "eq"))
            raise Undecided("whether two numbers are equal")
        if kind in ("lt", "le"):
            x, y, kind = y, x, {"lt": "gt", "le": "ge"}[kind]
        return int(self.above(x, y) if kind == "gt" else not self.above(y, x))

    def largest(self, values: Sequence[Any]) -> Any:
        """The maximum."""
        if any(v is UNDEFINED for v in values):
            return UNDEFINED
        found, *rest = map(self.lift, values)
        for value in rest:
            found = found.max(value)
        return found

    def ordered(self, values: Sequence[Any]) -> list[Any]:
        """The numbers in ascending order: the i-th is the least maximum of i + 1 of them, by exchanges."""
        if any(v is UNDEFINED for v in values):
            raise NotDecided("an order of what is undefined")
        found = [self.lift(v) for v in values]
        for last in range(len(found) - 1, 0, -1):
            for i in range(last):
                found[i], found[i + 1] = found[i].min(found[i + 1]), found[i].max(found[i + 1])
        return found
