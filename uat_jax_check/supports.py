"""How many entries of a matrix are not zero for almost all letters, for all sizes; and at random ones, by counting.

Only terms with positive coefficients are counted: their entries are polynomials in the entries of the letters, without
a negative coefficient, so nothing cancels, and an entry that is not zero somewhere is zero almost nowhere.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from uat_jax_check import terms as l
from uat_jax_check.document import NotDecided, Refused
from uat_jax_check.evaluation import TRIES, Evaluation, Matrix, Point, Unfit
from uat_jax_check.letters import inside, put
from uat_jax_check.shapes import Shape, fitting
from uat_jax_check.terms import ONE, ZERO, Poly, Symbols, number, symbol, text

PATTERNS = {"triangular": "zero above the diagonal", "diagonal": "zero outside the diagonal of its first index"}
HALF = number(Fraction(1, 2))
POINTS = 3
MOST_PIECES = 128
Block = tuple[Poly, Poly] | None
"""The rows, or columns, of slice i of width d; None for all of them."""


@dataclass(frozen=True)
class Factor:
    """Where a matrix may be not zero.

    ``kind``: "box" (in a block of rows and a block of columns), "diagonal" (k places right of the diagonal, ``at``),
    "half" (on one side of the diagonal, itself included), "slice" (E_i, ``rows`` says which) or "turned" (E_iᵀ).
    """

    kind: str
    shape: Shape
    rows: Block = None
    columns: Block = None
    at: Poly = ZERO

    @property
    def full(self) -> bool:
        """Whether no entry is known to be zero."""
        return self.kind == "box" and self.rows is None and self.columns is None

    @property
    def places(self) -> dict[str, tuple[Poly, Poly]]:
        """Numbers that all entries share: two factors in which one of them differs, at one width, are disjoint."""
        found = {"diagonal": (self.at, ZERO)} if self.kind == "diagonal" else {}
        rows, columns = (self.rows, self.columns) if self.kind in ("box", "slice", "turned") else (None, None)
        return found | {name: b for name, b in (("rows", rows), ("columns", columns)) if b is not None}

    @property
    def transposed(self) -> "Factor":
        """The same of the transpose."""
        kind = {"slice": "turned", "turned": "slice"}.get(self.kind, self.kind)
        return Factor(kind, (self.shape[1], self.shape[0]), self.columns, self.rows, ZERO - self.at)


@dataclass(frozen=True)
class Piece:
    """A Kronecker product of factors, for all values of the indices of sums around it: (atom, number of values)."""

    factors: tuple[Factor, ...]
    sums: tuple[tuple[Any, Poly], ...] = ()


class Supports:
    """The entries of terms that may be not zero, as disjoint pieces; ``patterns`` says which letters have zeros."""

    def __init__(self, symbols: Symbols, patterns: Mapping[str, str]) -> None:
        self.symbols, self.patterns = symbols, patterns
        self.ranges: dict[Any, Poly] = {}
        self.fresh = itertools.count()

    def least(self, p: Poly) -> Poly:
        """A number at most p: indices of sums, in which p is linear, at the end of their range where p is smaller."""
        for atom, upper in self.ranges.items():
            slope = ZERO
            for m, c in p:
                powers = dict(m)
                if any(atom in inside(a) for a in powers if a != atom) or powers.get(atom, 1) != 1:
                    raise NotDecided("a number that is not linear in the index of a sum")
                if atom in powers:
                    slope = slope + Poly([(m - {(atom, Fraction(1))}, c)])
            if slope and not self.symbols.nonnegative(slope):
                if not self.symbols.nonnegative(ZERO - slope):
                    raise NotDecided("a number that may grow or shrink with the index of a sum")
                p = put(p, {atom: upper})
        return p

    def sure(self, p: Poly) -> bool:
        """Whether a number is not negative, for all values of the indices."""
        return self.symbols.nonnegative(self.least(p))

    def __call__(self, t: tuple, env: Mapping[str, Poly]) -> list[Piece]:
        """The pieces of a term.

        Raises:
            NotDecided: supports that may overlap, a product without a rule, a head that is not counted.
        """
        head, *parts = t
        of = lambda x: self(x, env)
        one = lambda kind, **more: [Piece((Factor(kind, fitting(t, self.symbols, env), **more),))]
        match head:
            case "L":
                return self.letter(t, env)
            case "1":
                return one("box")
            case "softmax":
                self.symbols.divisors.add("entries of softmax are positive")
                return one("box")
            case "0":
                return []
            case "I":
                return one("diagonal")
            case "E":
                i, rows, width = (self.symbols.scalar(s, env) for s in parts)
                self.need(self.symbols.whole(i) and self.sure(i - ONE), t)
                self.need(self.sure(width - ONE) and self.sure(rows - i * width), t)
                return one("slice", rows=(i, width))
            case "." if self.positive(self.symbols.scalar(parts[0], env)):
                return of(parts[1])
            case "T":
                return [Piece(tuple(f.transposed for f in p.factors), p.sums) for p in of(parts[0])]
            case "kron":
                pairs = list(itertools.islice(itertools.product(*map(of, parts)), MOST_PIECES + 1))
                self.need(len(pairs) <= MOST_PIECES, t)
                return [Piece((*a.factors, *b.factors), (*a.sums, *b.sums)) for a, b in pairs]
            case "@":
                *others, found = map(of, parts)
                for other in reversed(others):
                    found = self.product(other, found, t)
                return found
            case "+":
                return self.union([p for part in parts for p in of(part)], fitting(t, self.symbols, env), t)
            case "sum":
                return self.total(t, env)
        raise self.unknown(t)

    def unknown(self, t: tuple) -> NotDecided:
        """That a term is not counted."""
        return NotDecided(f"the entries of {text(t)[:100]} that are not zero are not counted")

    def need(self, condition: bool, t: tuple) -> None:
        """Give up unless a condition is seen to hold."""
        if not condition:
            raise self.unknown(t)

    def positive(self, c: Poly) -> bool:
        """Whether a coefficient is above 0: one monomial of sizes."""
        return len(c) == 1 and all(k > 0 and all(self.symbols.least(a) == 1 for a, _ in m) for m, k in c)

    def letter(self, t: tuple, env: Mapping[str, Poly]) -> list[Piece]:
        """A letter without zeros, or with those of its pattern."""
        shape = fitting(t, self.symbols, env)
        pattern = self.patterns.get(t[1])
        if pattern is None:
            return [Piece((Factor("box", shape),))]
        self.need(shape[0] == shape[1], t)
        if pattern == "triangular":
            return [Piece((Factor("half", shape),))]
        self.need(len(t[4]) > 0, t)
        k = self.symbols.scalar(t[4][0], env)
        self.need(self.symbols.whole(k) and self.sure(shape[0] - k) and self.sure(shape[0] + k), t)
        return [Piece((Factor("diagonal", shape, at=k),))]

    # --- products ------------------------------------------------------------------------------------------------

    def product(self, xs: Sequence[Piece], ys: Sequence[Piece], t: tuple) -> list[Piece]:
        """The pieces of a product of two matrices, one of at most one piece each."""
        if not xs or not ys:
            return []
        self.need(len(xs) == len(ys) == 1, t)
        (x,), (y,) = xs, ys
        inner = [(a.shape[1], b.shape[0]) for a, b in zip(x.factors, y.factors, strict=False)]
        if len(x.factors) != len(y.factors) or any(a != b for a, b in inner):
            x, y = self.flat(x, t), self.flat(y, t)
        pairs = zip(x.factors, y.factors, strict=True)
        found = Piece(tuple(self.times(a, b, t) for a, b in pairs), (*x.sums, *y.sums))
        kept = tuple((a, n) for a, n in found.sums if uses(replace(found, sums=()), a))
        self.need(all(self.separates(found, a) for a, _ in kept), t)
        return [Piece(found.factors, kept)]

    def flat(self, p: Piece, t: tuple) -> Piece:
        """One factor without zeros in the place of several."""
        self.need(all(f.full for f in p.factors), t)
        rows, columns = ONE, ONE
        for f in p.factors:
            rows, columns = rows * f.shape[0], columns * f.shape[1]
        return Piece((Factor("box", (rows, columns)),), p.sums)

    def times(self, a: Factor, b: Factor, t: tuple) -> Factor:
        """I X = X = X I; E_i X and X E_iᵀ lie in slices, E_iᵀ X and X E_i take them; boxes that meet make a box."""
        shape = a.shape[0], b.shape[1]
        is_identity = lambda f: f.kind == "diagonal" and not f.at
        if is_identity(a) or is_identity(b):
            return b if is_identity(a) else a
        self.need(self.sure(a.shape[1] - ONE), t)
        if a.kind == "slice" and b.kind == "box" and b.rows is None:
            return Factor("box", shape, a.rows, b.columns)
        if b.kind == "turned" and a.kind == "box" and a.columns is None:
            return Factor("box", shape, a.rows, b.columns)
        if a.kind == "turned" and b.kind == "box" and b.rows in (None, a.columns):
            return Factor("box", shape, None, b.columns)
        if b.kind == "slice" and a.kind == "box" and a.columns in (None, b.rows):
            return Factor("box", shape, a.rows, None)
        self.need(a.kind == b.kind == "box", t)
        self.need(a.columns is None or b.rows is None or a.columns == b.rows, t)
        return Factor("box", shape, a.rows, b.columns)

    # --- sums ----------------------------------------------------------------------------------------------------

    def union(self, pieces: list[Piece], shape: Shape, t: tuple) -> list[Piece]:
        """Disjoint pieces together; a piece without zeros is all of them."""
        whole = next((p for p in pieces if not p.sums and all(f.full for f in p.factors)), None)
        if whole is not None:
            return [whole]
        self.need(len(pieces) <= MOST_PIECES, t)
        self.need(all(self.disjoint(a, b) for a, b in itertools.combinations(pieces, 2)), t)
        return pieces

    def disjoint(self, a: Piece, b: Piece) -> bool:
        """Whether two pieces have no entry in common, whatever the indices of their own sums are."""
        if [f.shape for f in a.factors] != [f.shape for f in b.factors]:
            return False
        ranges = dict(self.ranges)
        self.ranges |= dict(a.sums) | dict(b.sums)
        gaps = [
            f.places[name][0] - g.places[name][0]
            for f, g in zip(a.factors, b.factors, strict=True)
            for name in f.places.keys() & g.places.keys()
            if f.places[name][1] == g.places[name][1]
        ]
        found = any(self.sure(gap - ONE) or self.sure(ZERO - gap - ONE) for gap in gaps)
        self.ranges = ranges
        return found

    def total(self, t: tuple, env: Mapping[str, Poly]) -> list[Piece]:
        """Σ_{k=1}^{n}: pieces at different values of the index are disjoint if a place is the index and a constant."""
        _, body, index, lower, upper = t
        first, n = self.symbols.scalar(lower, env), self.symbols.scalar(upper, env)
        self.need(first == ONE and self.sure(n - ONE), t)
        fitting(t, self.symbols, env)
        atom = ("b", -4, next(self.fresh))
        self.ranges[atom] = n
        pieces = self(body, {**env, index: symbol(atom)})
        if any(uses(p, atom) for p in pieces):
            self.need(all(self.separates(p, atom) for p in pieces), t)
            self.need(len(pieces) == 1, t)
            pieces = [Piece(p.factors, (*p.sums, (atom, n))) for p in pieces]
        del self.ranges[atom]
        return pieces

    def separates(self, p: Piece, atom: Any) -> bool:
        """Whether a place is ± the index, and nothing else that an index of a sum stands in."""
        values = [(value, width) for f in p.factors for value, width in f.places.values()]
        alone = lambda q: not any(a[0] == "b" for m, _ in q for top, _ in m for a in inside(top))
        gaps = [v - s * symbol(atom) for v, w in values if alone(w) for s in (ONE, number(-1))]
        return any(map(alone, gaps))

    # --- numbers -------------------------------------------------------------------------------------------------

    def number(self, pieces: Sequence[Piece]) -> Poly:
        """How many entries the pieces have."""
        total = ZERO
        for p in pieces:
            count = ONE
            for f in p.factors:
                count = count * self.of_factor(f, dict(p.sums))
            for atom, n in p.sums:
                count = summed(count, atom, ONE, n)
            total = total + count
        return total

    def of_factor(self, f: Factor, sums: Mapping[Any, Poly]) -> Poly:
        """How many entries a factor has."""
        rows, columns = f.shape
        match f.kind:
            case "box":
                return (f.rows[1] if f.rows else rows) * (f.columns[1] if f.columns else columns)
            case "half":
                return HALF * rows * (rows + ONE)
            case "slice" | "turned":
                return columns if f.kind == "slice" else rows
        self.ranges |= sums
        sign = ONE if self.sure(f.at) else number(-1)
        if not self.sure(sign * f.at):
            raise NotDecided("a diagonal that may lie on either side")
        for atom in sums:
            del self.ranges[atom]
        return rows - sign * f.at


def uses(p: Piece, atom: Any) -> bool:
    """Whether an atom stands in a piece."""
    numbers = [q for f in p.factors for b in (f.shape, f.rows, f.columns, (f.at,)) if b is not None for q in b]
    return any(atom in inside(a) for q in (*numbers, *(n for _, n in p.sums)) for m, _ in q for a, _ in m)


def summed(p: Poly, atom: Any, lower: Poly, upper: Poly) -> Poly:
    """Σ p for the index from ``lower`` to ``upper`` ≥ ``lower`` − 1; p is a polynomial of degree 3 in it at most."""
    before = lower - ONE
    total = ZERO
    for m, c in p:
        powers = dict(m)
        e = powers.pop(atom, Fraction(0))
        if any(atom in inside(a) for a in powers) or e not in (0, 1, 2, 3):
            raise NotDecided("a sum of numbers that are no small polynomial in its index")
        rest = Poly([(frozenset(powers.items()), c)])
        total = total + rest * (_POWERS[int(e)](upper) - _POWERS[int(e)](before))
    return total


_POWERS = (
    lambda n: n,
    lambda n: HALF * n * (n + ONE),
    lambda n: number(Fraction(1, 6)) * n * (n + ONE) * (n + n + ONE),
    lambda n: HALF * HALF * n * n * (n + ONE) * (n + ONE),
)
"""Σ_{k=1}^{n} k^e for e = 0, 1, 2, 3, also for n = 0."""


# --- by counting -----------------------------------------------------------------------------------------------------


class Drawn(Evaluation):
    """Random matrices with the zeros of their patterns."""

    def __init__(self, point: Point, patterns: Mapping[str, str]) -> None:
        super().__init__(point, ())
        self.patterns = patterns

    def letter(self, t: tuple, env: Mapping[str, int]) -> Matrix:
        """A random matrix; zero where its pattern says so."""
        found = super().letter(t, env)
        pattern = self.patterns.get(t[1])
        if pattern is None:
            return found
        place = self.point.whole(t[4][0], env) if pattern == "diagonal" else 0
        keep = (lambda r, c: c <= r) if pattern == "triangular" else (lambda r, c: c - r == place)
        return [[x if keep(r, c) else 0 for c, x in enumerate(row)] for r, row in enumerate(found)]


def counted(t: tuple, patterns: Mapping[str, str], sizes: Mapping[str, int], symbols: Symbols) -> int:
    """How many entries are not zero at the sizes, of random matrices.  Raises `Unfit` where a size is none."""
    fixed = l.replaced(t, sizes)
    return sum(x != 0 for row in Drawn(Point(symbols), patterns)(fixed, {}) for x in row)


def nonzeros(t: tuple, patterns: Mapping[str, str], symbols: Symbols) -> Poly:
    """The number of entries that are not zero for almost all letters, as a polynomial in the sizes.

    Raises:
        Refused: counting at random sizes finds another number.
    """
    supports = Supports(symbols, patterns)
    fitting(t, symbols)
    found = supports.number(supports(t, {}))
    done = 0
    for tried in range(TRIES):
        point = Point(symbols, least=2 - tried % 2)
        sizes = {n: int(point.symbol(n)) for n, kind in symbols.kinds.items() if l.KINDS[kind] is not None}
        try:
            seen = counted(t, patterns, sizes, symbols)
        except Unfit:
            continue
        if put(found, {("s", name): number(value) for name, value in sizes.items()}) != number(seen):
            raise Refused(f"the entries of {text(t)[:100]} that are not zero are not as many as its pieces say")
        done += 1
        if done == POINTS:
            return found
    raise NotDecided(f"no sizes at which the entries of {text(t)[:100]} can be counted")
