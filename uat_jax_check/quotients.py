"""Decides equations between numbers with divisors, exponentials, sines: both sides as quotients of polynomials.

exp(Σ c m) = Π exp(m)^c for monomials m, whose exponentials are letters of their own, as values of erfc are; so it is
with exp(ix), and i is the root of −1.  Where no divisor is 0, a / b = c / d if a d and b c are one polynomial.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from uat_jax_check import terms as l
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.terms import ONE, ZERO, Poly, Symbols, number, scalar_text

FUNCTIONS = ("exp", "erfc", "cos", "sin")
IMAGINARY = Poly([(frozenset([(("root", -1), Fraction(1, 2))]), Fraction(1))])
"""i, whose square is −1."""
HALF = number(Fraction(1, 2))
Quotient = tuple[Poly, Poly]


class Quotients:
    """Numbers of a file as numerator and denominator; ``divisors`` collects what is divided by."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.divisors: dict[str, None] = {}

    def __call__(self, s: Any) -> Quotient:
        """The quotient that an expression is."""
        if not isinstance(s, tuple) or s[0] in ("/", "at"):
            return self.symbols.scalar(s, {}), ONE
        head, *parts = s
        if head in FUNCTIONS:
            usable(len(parts) == 1, f"{head} has other operands")
            return self.function(head, parts[0])
        usable(head in ("+", "*", "^") and len(parts) > 1, f"a number has the head {head[:20]!r}")
        if head == "^":
            usable(len(parts) == 2, "a power has other parts")
            return self.power(*parts)
        top, below = self(parts[0])
        for part in parts[1:]:
            u, v = self(part)
            crossed = l.added(l.product(top, v), l.product(u, below)) if head == "+" else l.product(top, u)
            top, below = (l.added(top, u), below) if head == "+" and v == below else (crossed, l.product(below, v))
        return top, below

    def power(self, base: Any, e: Any) -> Quotient:
        """A whole power; of a negative one the base is a divisor.  Roots of numbers as they are elsewhere."""
        if type(e) is not int:
            return self.symbols.scalar(("^", base, e), {}), ONE
        usable(abs(e) <= 32, "an exponent is large")
        top, below = self(base)
        if e < 0:
            if not top:
                raise Refused("a divisor is 0")
            if not self.positive(top):
                self.divisors[f"{scalar_text(base)} ≠ 0"] = None
            top, below = below, top
        found = ONE, ONE
        for _ in range(abs(e)):
            found = l.product(found[0], top), l.product(found[1], below)
        return found

    def positive(self, p: Poly) -> bool:
        """Whether a polynomial is above 0: all its terms are, made of positive numbers and exponentials."""
        above = lambda a: (
            a[0] == "exp" or (a[0] == "root" and a[1] > 0) or self.symbols.kinds.get(a[1]) in ("size", "positive")
        )
        return all(c > 0 and all(above(a) for a, _ in m) for m, c in p)

    def function(self, head: str, argument: Any) -> Quotient:
        """exp and erfc of a polynomial; exp of a sum is a product."""
        top, below = self(argument)
        if below.value is None:
            raise NotDecided(f"{head} of a quotient")
        u = number(1 / below.constant) * top
        if any(a[0] == "cis" or a == ("root", -1) for m, _ in u for a, _ in m):
            raise NotDecided(f"{head} of a number that is not seen to be real")
        if head == "erfc":
            return l.symbol(("erfc", u)), ONE
        if any(c.denominator > 64 or abs(c) > 64 for _, c in u):
            raise NotDecided("an exponential of a large multiple")
        if head == "exp":
            return _product("exp", u)
        (p, q), sign = _product("cis", u), number(1 if head == "cos" else -1)
        factor = HALF if head == "cos" else ZERO - HALF * IMAGINARY
        return factor * (p * p + sign * q * q), p * q  # (e^{iu} ± e^{−iu}) / 2, or 2i


def _product(head: str, u: Poly) -> Quotient:
    """Π a(m)^c for u = Σ c m: the powers with positive exponents, and those with negative ones."""
    powers = [((head, m), c) for m, c in u]
    up, down = (frozenset((a, s * c) for a, c in powers if s * c > 0) for s in (1, -1))
    return Poly([(up, Fraction(1))]), Poly([(down, Fraction(1))])


def read(s: Any) -> Any:
    """A number with exponentials, its lists as tuples."""
    if isinstance(s, list) and s and s[0] in ("+", "*", "^", *FUNCTIONS):
        return (s[0], *map(read, s[1:]))
    return l.scalar(s)


def numbers(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """Two numbers are equal for all values of the symbols at which no divisor is 0.

    Raises:
        Refused: they are not one quotient of polynomials, or written alike.
    """
    left, right = read(data["left"]), read(data["right"])
    said = f"{scalar_text(left)} = {scalar_text(right)}"
    if left == right:
        raise Refused(f"both sides are written alike, {said[:80]}: nothing is claimed")
    value = Quotients(symbols)
    (top, below), (u, v) = value(left), value(right)
    if not below or not v:
        raise Refused("a divisor is 0")
    if l.product(top, v) - l.product(u, below) != ZERO:
        raise NotDecided(f"{said[:200]} is no equation of quotients of polynomials")
    return [said, *symbols.said(), *(f"  assumed: {divisor}" for divisor in value.divisors)]
