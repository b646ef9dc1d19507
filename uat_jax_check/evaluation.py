"""What a term means: its entries at given sizes, modulo a prime, straight from the definition of every head.

Letters are random matrices, σ a random function, softmax a random function of a row that a shift does not change and
whose entries add up to 1, a letter of a function a random function of all entries.  Nothing here knows a rule of words.
"""

import hashlib
import math
import secrets
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from flint import fmpz

from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.terms import Symbols, text

PRIME = next(p for k in range(2**40) if fmpz(p := 840 * (2**117 + k) + 1).is_prime())
"""Modulo it 2, 3, 5 and 7 have square roots, as 840 divides p − 1."""
ROOTS = {n: int(fmpz(n).sqrtmod(PRIME)) for n in (2, 3, 5, 7)}
TRIES = 400
MOST_WORK = 2**22
"""So many entries are computed, and so many numbers multiplied in products of matrices, at one point."""
Matrix = list[list[int]]


def root(n: int) -> int:
    """The root of a whole number modulo the prime, so that √(a b) = √a √b."""
    found = 1
    for p, r in ROOTS.items():
        while n > 0 and n % p == 0:
            found, n = found * r % PRIME, n // p
    if n != 1:
        raise NotDecided("a root of a number with a large divisor")
    return found


class Unfit(Exception):
    """At these sizes a formula is not defined: a size is no whole number, or a slice does not exist."""


class Point:
    """Random sizes from ``least`` on, and random values, the same for all that is evaluated at it."""

    def __init__(self, symbols: Symbols, least: int = 1) -> None:
        self.symbols, self.key, self.least = symbols, secrets.token_bytes(32), least

    def random(self, *about: Any) -> int:
        """A random number that is a function of what it is about."""
        return int.from_bytes(hashlib.shake_256(self.key + repr(about).encode()).digest(32), "big") % PRIME

    def symbol(self, *about: Any) -> int:
        """The value of a symbol, or of a member of a family."""
        drawn, kind = self.random("symbol", *about), self.symbols.kinds[about[0]]
        return {"size": self.least + drawn % 4, "count": drawn % 4, "integer": drawn % 7 - 3}.get(kind, drawn)

    def scalar(self, s: Any, env: Mapping[str, int]) -> int | Fraction:
        """A number: whole ones and fractions as they are; roots and symbols that are numbers modulo the prime."""
        if isinstance(s, int):
            return s
        if isinstance(s, str):
            return env[s] if s in env else self.symbol(s)
        if s[0] == "at":
            return self.symbol(s[1], *(self.whole(i, env) for i in s[2:]))
        if s[0] == "/":
            return Fraction(s[1], s[2])
        values = [Fraction(self.scalar(p, env)) for p in s[1:]]
        total = values[0]
        if s[0] == "^":
            return self.power(total, values[1])
        for value in values[1:]:
            total = total + value if s[0] == "+" else total * value
        return total

    def power(self, base: Fraction, e: Fraction) -> Fraction:
        """A power with a whole exponent, or the root of a small positive number."""
        if e.denominator == 1:
            if base == 0 and e < 0:
                raise Unfit("a divisor is 0")
            digits = max(base.numerator.bit_length(), base.denominator.bit_length())
            usable(abs(e) * digits < 2**16, "a number has thousands of digits")
            return base ** int(e)
        if (2 * e).denominator != 1:
            raise NotDecided("a root that is no square root")
        return Fraction(pow(root(base.numerator) * pow(root(base.denominator), -1, PRIME), int(2 * e), PRIME))

    def residue(self, s: Any, env: Mapping[str, int]) -> int:
        """A number modulo the prime."""
        value = Fraction(self.scalar(s, env))
        return value.numerator * pow(value.denominator, -1, PRIME) % PRIME

    def whole(self, s: Any, env: Mapping[str, int]) -> int:
        """A size, an index or a bound."""
        value = Fraction(self.scalar(s, env))
        if value.denominator != 1:
            raise Unfit(f"{s} is {value}")
        return int(value)


class Evaluation:
    """Terms at a point, letters replaced by what they stand for; ``free`` are the letters that stand for nothing.

    Raises:
        Refused: a letter is defined twice, by itself, or with another shape.
    """

    def __init__(self, point: Point, definitions: Iterable[Any]) -> None:
        self.point, self.free, self.open = point, {}, set()
        self.defined: dict[Any, Any] = {}
        self.memo: dict[Any, Matrix] = {}
        self.work = 0
        for d in definitions:
            upper = 1 if d.index is None else point.whole(d.upper, {})
            for k in range(1, upper + 1):
                env = {} if d.index is None else {d.index: k}
                key = self.key(d.letter, env)[0]
                if key in self.defined:
                    raise Refused(f"{text(d.letter)} is defined twice")
                self.defined[key] = d, env

    def key(self, t: tuple, env: Mapping[str, int]) -> tuple[Any, tuple[int, int]]:
        """Name and indices of a letter, and its shape."""
        value = lambda s: Fraction(self.point.scalar(s, env))
        shape = self.size(t[2], env), self.size(t[3], env)
        return (t[1], tuple(map(value, t[4])), tuple(map(value, t[5]))), shape

    def size(self, s: Any, env: Mapping[str, int]) -> int:
        """Rows or columns."""
        n = self.point.whole(s, env)
        if n < 1:
            raise Unfit(f"{n} rows or columns")
        usable(n < 4096, "a matrix has thousands of rows")
        return n

    def take(self, *factors: int) -> None:
        """Count work, the product of some numbers."""
        self.work += math.prod(factors)
        usable(self.work < MOST_WORK, "a matrix takes millions of operations")

    def __call__(self, t: tuple, env: Mapping[str, int]) -> Matrix:
        """The matrix that a term is."""
        found = self.of_head(t, env)
        self.take(len(found) * len(found[0]) + 16)
        return found

    def of_head(self, t: tuple, env: Mapping[str, int]) -> Matrix:
        """The same, by its head."""
        head, parts = t[0], t[1:]
        of = lambda x: self(x, env)
        match head:
            case "L":
                return self.letter(t, env)
            case "I":
                n = self.size(parts[0], env)
                self.take(n, n)
                return [[int(i == j) for j in range(n)] for i in range(n)]
            case "0" | "1":
                rows, columns = (self.size(part, env) for part in parts)
                self.take(rows, columns)
                return [[int(head)] * columns for _ in range(rows)]
            case "E":
                i, rows, columns = self.point.whole(parts[0], env), self.size(parts[1], env), self.size(parts[2], env)
                if not 1 <= i * columns <= rows or i < 1:
                    raise Unfit("a slice does not exist")
                self.take(rows, columns)
                return [[int(r == (i - 1) * columns + c) for c in range(columns)] for r in range(rows)]
            case "+" | "had":
                total, *rest = map(of, parts)
                for m in rest:
                    join = (lambda x, y: x + y) if head == "+" else (lambda x, y: x * y)
                    rows = zip(total, m, strict=True)
                    total = [[join(x, y) % PRIME for x, y in zip(p, q, strict=True)] for p, q in rows]
                return total
            case ".":
                c = self.point.residue(parts[0], env)
                return [[c * x % PRIME for x in row] for row in of(parts[1])]
            case "@":
                *factors, total = map(of, parts)
                for factor in reversed(factors):
                    self.take(len(factor), len(total), len(total[0]))
                    total = product(factor, total)
                return total
            case "T":
                return transposed(of(parts[0]))
            case "kron":
                a, b = map(of, parts)
                usable(len(a) * len(b) * len(a[0]) * len(b[0]) <= 2**20, "a matrix has millions of entries")
                return [[x * y % PRIME for x in p for y in q] for p in a for q in b]
            case "vec":
                return [[x] for row in of(parts[0]) for x in row]
            case "unvec":
                rows, columns, column = self.size(parts[1], env), self.size(parts[2], env), of(parts[0])
                return [[x for (x,) in column[r * columns : (r + 1) * columns]] for r in range(rows)]
            case "diag":
                column = [x for (x,) in of(parts[0])]
                self.take(len(column), len(column))
                return [[x if i == j else 0 for j in range(len(column))] for i, x in enumerate(column)]
            case "sigma":
                return [[self.point.random("σ", x) for x in row] for row in of(parts[0])]
            case "softmax":
                return [self.softmax(row) for row in of(parts[0])]
            case "f":
                named, shape = self.key(parts[0], env)
                of_what = of(parts[1])
                return self.drawn(shape, "f", named, of_what)
        return self.total(parts, env)

    def drawn(self, shape: tuple[int, int], *about: Any) -> Matrix:
        """A random matrix that is a function of what it is about."""
        self.take(*shape)
        return [[self.point.random(*about, shape, i, j) for j in range(shape[1])] for i in range(shape[0])]

    def softmax(self, row: list[int]) -> list[int]:
        """Random numbers of a row up to a shift, of which the last makes the sum 1."""
        moved = [(x - row[0]) % PRIME for x in row]
        values = [self.point.random("softmax", moved, j) for j in range(len(row) - 1)]
        return [*values, (1 - sum(values)) % PRIME]

    def letter(self, t: tuple, env: Mapping[str, int]) -> Matrix:
        """The value of a letter: that of its definition, or a random one."""
        key, shape = self.key(t, env)
        if key not in self.defined:
            if self.free.setdefault(key, shape) != shape:
                raise Refused(f"the letter {text(t)} has two shapes")
            return self.drawn(shape, "letter", key)
        if key not in self.memo:
            if key in self.open:
                raise Refused(f"the definition of {text(t)} leads back to it")
            definition, inner = self.defined[key]
            self.open.add(key)
            self.memo[key] = self(definition.term, inner)
            self.open.remove(key)
        if (len(self.memo[key]), len(self.memo[key][0])) != shape:
            raise Refused(f"{text(t)} has another shape than what it stands for")
        return self.memo[key]

    def total(self, parts: Any, env: Mapping[str, int]) -> Matrix:
        """A sum, term by term."""
        body, index, lower, upper = parts
        first, last = self.point.whole(lower, env), self.point.whole(upper, env)
        usable(last - first < 4096, "a sum has thousands of terms")
        if last < first:  # zeros, of the shape that a term would have
            return [[0 for _ in row] for row in self(body, {**env, index: first})]
        total, *rest = [self(body, {**env, index: k}) for k in range(first, last + 1)]
        for m in rest:
            total = [[(x + y) % PRIME for x, y in zip(p, q, strict=True)] for p, q in zip(total, m, strict=True)]
        return total


def transposed(m: Matrix) -> Matrix:
    """Rows as columns."""
    return [list(row) for row in zip(*m, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    """The product of two matrices."""
    columns = transposed(b)
    return [[sum(x * y for x, y in zip(row, column, strict=True)) % PRIME for column in columns] for row in a]
