"""The language of statements: sizes and numbers as polynomials, matrices as terms; how both are read and printed.

A number is an integer, ``["/", p, q]``, a name, ``["at", family, index, …]`` (D_j), ``["+", …]``, ``["*", …]`` or
``["^", base, exponent]``.  A matrix is ``[head, …]`` with the parts that `HEADS` lists.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from uat_jax_check.document import NotDecided, Refused, usable

HEADS = {
    "L": "nssii",  # a letter: name, rows, columns, subscripts, superscripts
    "I": "s", "0": "ss", "1": "ss", "E": "sss",  # I_n, zeros, ones, E_i of M rows and d columns
    "+": "t*", "@": "t*", ".": "st", "T": "t", "kron": "tt", "vec": "t", "unvec": "tss", "had": "tt", "diag": "t",
    "sigma": "t", "softmax": "t", "f": "tt",  # f: a letter that names the function, and its argument
    "sum": "tnss",  # body, index, lower and upper bound
}  # fmt: skip
"""The parts of every head: a term, a scalar, a name, indices (a list of scalars), or two terms or more."""

KINDS = {"size": 1, "count": 0, "integer": None, "number": None, "positive": None, "nonnegative": None}
"""What a symbol may be, and its least value if it is a whole number; positive and nonnegative are real numbers."""
SAID = {"size": "whole and ≥ 1", "count": "whole and ≥ 0", "integer": "whole", "positive": "real and > 0",
        "nonnegative": "real and ≥ 0", "number": "real numbers, and as indices labels that differ"}  # fmt: skip
"""How it is said what symbols are."""


class Poly(frozenset):
    """A sum of monomials: pairs of a monomial, which is a set of pairs (atom, exponent), and its coefficient."""

    def __add__(self, other: "Poly") -> "Poly":
        found = dict(self)
        for monomial, c in other:
            found[monomial] = found.get(monomial, 0) + c
        return Poly((m, c) for m, c in found.items() if c)

    def __mul__(self, other: "Poly") -> "Poly":
        found: dict[Any, Fraction] = {}
        for m, c in self:
            for n, d in other:
                powers = dict(m)
                for atom, e in n:
                    powers[atom] = powers.get(atom, 0) + e
                whole = {a: e // 1 for a, e in powers.items() if a[0] == "root"}  # √p √p = p
                key = frozenset((a, e - whole.get(a, 0)) for a, e in powers.items() if e - whole.get(a, 0))
                factor = math.prod(Fraction(a[1]) ** int(e) for a, e in whole.items())
                found[key] = found.get(key, 0) + c * d * factor
        return Poly((m, c) for m, c in found.items() if c)

    def __sub__(self, other: "Poly") -> "Poly":  # type: ignore[override]
        return self + number(-1) * other

    @property
    def constant(self) -> Fraction:
        """The coefficient of the empty monomial."""
        return dict(self).get(frozenset(), Fraction(0))

    @property
    def value(self) -> Fraction | None:
        """The number, if there is no symbol."""
        return self.constant if all(not m for m, _ in self) else None


def number(value: Any) -> Poly:
    """A constant."""
    return Poly([(frozenset(), Fraction(value))]) if value else Poly()


def symbol(atom: Any) -> Poly:
    """One symbol: ("s", name), ("at", family, indices) or ("b", level, place), the index of a sum."""
    return Poly([(frozenset([(atom, Fraction(1))]), Fraction(1))])


ZERO, ONE = number(0), number(1)


def added(p: Poly, q: Poly) -> Poly:
    """The sum of two numbers of a file, if it is not too long."""
    found = p + q
    usable(len(found) <= 2**12, "a number has thousands of terms")
    return found


def product(p: Poly, q: Poly) -> Poly:
    """The product of two numbers of a file, if it is not too long."""
    usable(len(p) * len(q) <= 2**12, "a number has thousands of terms")
    found = p * q
    usable(all(max(abs(c.numerator), c.denominator) < 2**4096 for _, c in found), "a number has thousands of digits")
    usable(all(abs(e) < 2**12 for m, _ in found for _, e in m), "an exponent is in the thousands")
    return found


def root(c: Fraction, times: int) -> Poly:
    """A power of the root of a positive fraction, whose prime divisors are below 100."""
    found = ONE
    for n, sign in ((c.numerator, 1), (c.denominator, -1)):
        for p in range(2, 100):
            while n % p == 0:
                n, found = n // p, found * Poly([(frozenset([(("root", p), Fraction(sign * times, 2))]), Fraction(1))])
        if n != 1:
            raise NotDecided("the root of a number with a large divisor")
    return ONE * found


class Symbols:
    """The symbols of a statement with their kinds, and what is known of them."""

    def __init__(self, kinds: Any) -> None:
        usable(isinstance(kinds, dict) and len(kinds) <= 256, "its symbols are no object, or hundreds")
        usable(all(k in KINDS for k in kinds.values()), f"a symbol is none of {', '.join(KINDS)}")
        self.kinds: Mapping[str, str] = {name(n): kind for n, kind in kinds.items()}
        usable(len(self.kinds) == len(kinds), "two symbols are written alike")
        self.divisors: set[str] = set()

    def said(self) -> list[str]:
        """What the symbols are, in a line; none if there are no symbols."""
        names = {kind: ", ".join(n for n, k in self.kinds.items() if k == kind) for kind in SAID}
        return [f"  for {'; '.join(f'{n} {SAID[kind]}' for kind, n in names.items() if n)}"] if self.kinds else []

    def scalar(self, s: Any, env: Mapping[str, Poly]) -> Poly:
        """A number of the file as a polynomial; ``env`` holds the indices of the sums around it."""
        if type(s) is int:
            return number(s)
        if isinstance(s, str):
            usable(s in env or s in self.kinds, f"the symbol {s[:40]!r} is not declared")
            return env[s] if s in env else symbol(("s", s))
        usable(isinstance(s, tuple) and s and isinstance(s[0], str), "a number is none of the language")
        head, *parts = s
        if head == "/":
            usable(len(parts) == 2 and all(type(p) is int for p in parts) and parts[1] > 0, "a fraction is none")
            return number(Fraction(*parts))
        if head == "at":
            family = parts[0] if len(parts) > 1 and isinstance(parts[0], str) else ""
            usable(self.kinds.get(family) in ("size", "count"), "a family of sizes is not declared")
            return symbol(("at", parts[0], tuple(self.scalar(p, env) for p in parts[1:])))
        usable(head in ("+", "*", "^") and len(parts) > 1, f"a number has the head {head[:20]!r}")
        values = [self.scalar(p, env) for p in parts]
        if head == "^":
            usable(len(values) == 2, "a power has other parts")
            return self.power(*values)
        total = values[0]
        for value in values[1:]:
            total = (added if head == "+" else product)(total, value)
        return total

    def power(self, base: Poly, of: Poly) -> Poly:
        """A power: whole ones from 0 on; of one monomial, if its symbols are positive, also others.

        With sizes in the exponent, of a number b from 1 on: b^(c + Σ a s) = b^c Π (b^s)^a for whole a > 0.
        """
        e = of.constant
        if of.value is None:
            return self.exponential(base, of)
        if e.denominator == 1 and 0 <= e <= 32:
            total = ONE
            for _ in range(int(e)):
                total = product(total, base)
            return total
        if len(base) == 1 and abs(e) <= 32:
            ((m, c),) = base
            digits = max(abs(c.numerator), c.denominator).bit_length()
            usable(digits * abs(e) < 2**13, "a number has thousands of digits")
            usable(all(abs(x * e) < 2**12 for _, x in m), "an exponent is in the thousands")
            positive = all(self.least(a) == 1 or self.kinds.get(a[1]) == "positive" for a, _ in m)
            if e < 0 and not positive:
                self.divisors |= {f"{a[1]} ≠ 0" for a, _ in m if self.least(a) != 1}
            if e.denominator == 1:
                return ONE * Poly([(frozenset((a, x * e) for a, x in m), c ** int(e))])
            if e.denominator == 2 and positive and c > 0:
                return ONE * Poly([(frozenset((a, x * e) for a, x in m), Fraction(1))]) * root(c, int(2 * e))
        raise NotDecided("a power of a sum, or of what may be 0 or negative")

    def exponential(self, base: Poly, e: Poly) -> Poly:
        """A power with sizes in its exponent."""
        if not base or not self.nonnegative(base - ONE):
            raise NotDecided("a power with a size in its exponent, of a number that may be below 1")
        found = self.power(base, number(e.constant))
        for m, a in e:
            if not m:
                continue
            ((atom, k), *others) = m
            if others or k != 1 or a.denominator != 1 or not 0 < a <= 8 or self.least(atom) is None:
                raise NotDecided("an exponent that is no sum of sizes")
            for _ in range(int(a)):
                found = product(found, symbol(("pow", base, atom)))
        return found

    def least(self, atom: Any) -> int | None:
        """The least value of a symbol, if it has one; indices of sums and powers of numbers from 1 on start at 1."""
        if atom[0] == "Σ":
            return None
        return 1 if atom[0] in ("b", "root", "pow") else KINDS[self.kinds[atom[1]]]

    def nonnegative(self, p: Poly) -> bool:
        """Whether a number is seen to be at least 0: with n = 1 + t for sizes it has no negative coefficient."""
        total = ZERO
        for m, c in p:
            term = number(c)
            if math.prod(e + 1 for _, e in m if e > 0) > 2**9:  # so many terms it would have
                return False
            for atom, e in m:
                least = self.least(atom)
                if least is None or e.denominator != 1 or not 0 <= e <= 8:
                    return False
                for _ in range(int(e)):
                    term = term * (symbol(atom) + number(least))
            total = total + term
        return all(c > 0 for _, c in total)

    def whole(self, p: Poly) -> bool:
        """Whether a number is seen to be whole; exponents of powers are not negative."""
        atoms = [(a, e) for m, _ in p for a, e in m]
        kinds = ("size", "count", "integer")
        of = lambda a: a[0] == "b" or (self.whole(a[1]) if a[0] == "pow" else self.kinds.get(a[1]) in kinds)
        return all(c.denominator == 1 for _, c in p) and all(e.denominator == 1 and e > 0 and of(a) for a, e in atoms)

    def number_of_terms(self, first: Poly, last: Poly) -> Poly:
        """How many terms a sum has; there may be none.

        Raises:
            NotDecided: a bound that is not seen to be whole, or a sum that may end more than one before it begins.
        """
        n = last - first + ONE
        if not (self.whole(first) and self.whole(last)):
            raise NotDecided("a sum whose bounds are not seen to be whole")
        if not self.nonnegative(n):
            raise NotDecided("a sum that may have fewer than no terms")
        return n


# --- terms -----------------------------------------------------------------------------------------------------------


def term(t: Any) -> tuple:
    """A matrix of the file, its parts as `HEADS` lists them; tuples, so that it can be a key.

    Raises:
        Unusable: an unknown head, or other parts.
    """
    usable(isinstance(t, list) and t and isinstance(t[0], str) and t[0] in HEADS, "a term has no head of the language")
    head, parts, spec = t[0], t[1:], HEADS[t[0]]
    if spec == "t*":
        usable(len(parts) > 1, f"{head} has fewer than two operands")
        spec = "t" * len(parts)
    usable(len(parts) == len(spec), f"{head} has {len(parts)} parts, wanted {len(spec)}")
    read = (head, *(PART[kind](part) for kind, part in zip(spec, parts, strict=True)))
    usable(head != "f" or read[1][0] == "L", "a function is named by something else than a letter")
    usable(head != "L" or read[1] not in RESERVED, "a letter has a name of the language")
    return read


RESERVED = {"I", "0", "1", "E", "vec", "unvec", "diag", "σ", "softmax"}


LETTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΦΨΩℓ′°²-−∓"
    "\N{COMBINING CIRCUMFLEX ACCENT}\N{COMBINING TILDE}\N{COMBINING MACRON}"
)
"""What names are made of: no two of these look the same, and none is invisible."""
SIGNS = frozenset(" ()[]{},;:=^+*/|·⊗⊙ᵀΣ≤≥<>")


def name(n: Any) -> str:
    """A name of visible letters that cannot be taken for others; between two ‖ it may hold signs of the language."""
    usable(isinstance(n, str) and 0 < len(n) <= 300, "a name is none")
    n = n.replace("'", "′")
    usable(unicodedata.normalize("NFC", n) == n, f"the name {ascii(n[:40])} has another way to be written")
    norm = len(n) > 2 and n[0] == n[-1] == "‖"
    allowed = LETTERS | SIGNS if norm else LETTERS
    usable(
        set(unicodedata.normalize("NFD", n.strip("‖") if norm else n)) <= allowed,
        f"the name {ascii(n[:40])} holds other signs",
    )
    usable(n[0].isalpha() or n[0] in "‖′", f"the name {ascii(n[:40])} begins with no letter")
    return n


def scalar(s: Any) -> Any:
    """A number of the file, its lists as tuples."""
    usable(type(s) is int or isinstance(s, (str, list)), "a number is none of the language")
    return name(s) if isinstance(s, str) else (s[0], *map(scalar, s[1:])) if isinstance(s, list) and s else s


def _indices(parts: Any) -> tuple:
    usable(isinstance(parts, list), "indices are no list")
    return tuple(map(scalar, parts))


PART = {"t": term, "n": name, "s": scalar, "i": _indices}


# --- print -----------------------------------------------------------------------------------------------------------


def scalar_text(s: Any) -> str:
    """A number as it is read."""
    if not isinstance(s, tuple):
        return str(s)
    head, *parts = s
    texts = [scalar_text(p) for p in parts]
    loose = {"*": ("+", "/"), "^": ("+", "/", "*", "^", "-")}.get(head, ())
    heads = [p[0] if isinstance(p, tuple) else str(p)[0] for p in parts]
    bracketed = [f"({t})" if h in loose else t for t, h in zip(texts, heads, strict=True)]
    if head == "at":
        return f"{texts[0]}[{','.join(texts[1:])}]"
    if head == "^":
        return f"{bracketed[0]}^({texts[1]})"
    if head == "abs":
        return f"|{texts[0]}|"
    if head == "sum":
        return f"Σ[{texts[1]}={texts[2]}…{texts[3]}]({texts[0]})"
    if head not in ("/", "+", "*"):
        return f"{head}({', '.join(texts)})"
    return {"/": "/", "+": " + ", "*": "·"}[head].join(bracketed if head == "*" else texts)


_OPERATORS = {"+": " + ", "@": " ", "kron": " ⊗ ", "had": " ⊙ "}
_FUNCTIONS = {"vec": "vec", "diag": "diag", "sigma": "σ", "softmax": "softmax"}


def text(t: tuple, shapes: bool = False) -> str:
    """A term in mathematics; every letter with its shape if asked."""
    head, *parts = t
    if head == "L":
        low, high = (",".join(map(scalar_text, p)) for p in parts[3:5])
        size = f":{scalar_text(parts[1])}×{scalar_text(parts[2])}" if shapes else ""
        return parts[0] + (f"_{{{low}}}" if low else "") + (f"^{{({high})}}" if high else "") + size
    if head in ("I", "0", "1", "E"):
        sizes = "×".join(map(scalar_text, parts[-2:]))
        return f"{head}_{{{sizes if head != 'E' else scalar_text(parts[0]) + ';' + sizes}}}"
    if head in _OPERATORS:
        return _OPERATORS[head].join(f"({text(p)})" if p[0] in _LOOSE[head] else text(p) for p in parts)
    if head in _FUNCTIONS:
        return f"{_FUNCTIONS[head]}({text(parts[0])})"
    if head == "T":
        return f"({text(parts[0])})ᵀ" if parts[0][0] != "L" else f"{text(parts[0])}ᵀ"
    if head == ".":
        return f"({scalar_text(parts[0])})·" + (f"({text(parts[1])})" if parts[1][0] in _SIDES else text(parts[1]))
    if head == "unvec":
        return f"unvec[{scalar_text(parts[1])}×{scalar_text(parts[2])}]({text(parts[0])})"
    if head == "f":
        return f"{text(parts[0])}[{text(parts[1])}]"
    return f"Σ[{parts[1]}={scalar_text(parts[2])}…{scalar_text(parts[3])}]({text(parts[0])})"


_SIDES = ("+", "@", "kron", "had", "sum")
_LOOSE = {"+": ("+", "sum"), "@": _SIDES, "kron": (*_SIDES, "."), "had": (*_SIDES, ".")}
"""What stands in brackets, for each operator: sums and products in their like too, so that all that differs is seen."""


def parts_of(t: tuple) -> Iterable[tuple[str, Any]]:
    """The parts of a term with their kinds: t, s, n or i."""
    spec = HEADS[t[0]]
    return zip("t" * len(t[1:]) if spec == "t*" else spec, t[1:], strict=True)


def numbered(t: tuple, depth: int = 0) -> tuple:
    """The term with the indices of sums named by how deep they lie: terms that differ in these names only are one."""
    if t[0] == "sum":
        t = ("sum", replaced(t[1], {t[2]: f"#{depth}"}), f"#{depth}", *t[3:])
        depth += 1
    return (t[0], *(numbered(part, depth) if kind == "t" else part for kind, part in parts_of(t)))


def letters(t: tuple) -> Iterable[tuple]:
    """The letters of a term, those that name functions included."""
    if t[0] == "L":
        yield t
    for kind, part in parts_of(t):
        if kind == "t":
            yield from letters(part)


def heads(t: tuple) -> set[str]:
    """The heads in a term."""
    return {t[0]}.union(*(heads(part) for kind, part in parts_of(t) if kind == "t"))


def replaced(t: Any, found: Mapping[Any, Any], kind: str = "t") -> Any:
    """The term with symbols or whole terms replaced; ``kind`` is the kind of part that it is.

    Raises:
        Refused: an index of a sum has the name of a symbol that is replaced.
    """
    if kind != "n" and t in found:
        return found[t]
    if kind == "i":
        return tuple(replaced(s, found, "s") for s in t)
    if kind == "s" and isinstance(t, tuple):
        first = 2 if t[0] == "at" else 1
        return (*t[:first], *(replaced(s, found, "s") for s in t[first:]))
    if kind != "t":
        return t
    if t[0] == "sum" and t[2] in found:
        raise Refused(f"the index {t[2]} of a sum is a symbol of the statement as well")
    return (t[0], *(replaced(part, found, k) for k, part in parts_of(t)))
