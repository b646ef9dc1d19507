"""How many entries of a matrix expression can be different from zero, as a polynomial in its dimensions.

    nonzeros(W ⊗ I_M) = N² · M      nonzeros(Σ_i H_i ⊗ (E_i V_i F_iᵀ)ᵀ) = N² · M²/h

An entry is structurally non-zero if it is not zero when all letters are positive where they may be anything but zero.
Only positive coefficients are counted, so an entry is a polynomial with positive coefficients, or none: the count is an
upper bound for all letters, and attained by almost all, since such a polynomial vanishes almost nowhere.

A count is a polynomial only where the sizes allow it: the k-th diagonal has n − |k| entries for |k| ≤ n, and
E_i is a slice for i d ≤ M.  What cannot be seen from the symbols has to be given (``given=[r <= N]``), or the
entries are not counted.

A `Support` knows its number of entries and where it lies.  Two supports with different values of one coordinate (the
slice of rows, the slice of columns, the diagonal) are disjoint, and only the sizes of disjoint supports are added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import sympy

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.relations import Relation
from uat_jax.symbolic.slices import Scope, nonnegative

Step = str | m.Scalar | tuple[str, m.Scalar, m.Scalar]
Place = tuple[Step, ...]
"""A coordinate: a path into Kronecker factors, then "rows", "columns" (with width) or "diagonal".

A step of the path is "left" or "right" and the shape of the right factor, for blocks of another shape lie elsewhere."""


@dataclass(frozen=True)
class Support:
    """The structurally non-zero entries: how many, and the coordinates all of them share.

    ``least``: numbers that must not be negative for the count to be right, such as n − |k|.
    """

    count: m.Scalar
    places: Mapping[Place, m.Scalar] = field(default_factory=dict)
    least: tuple[m.Scalar, ...] = ()

    def disjoint(self, other: Support) -> bool:
        """Whether some coordinate of both is never the same."""
        common = self.places.keys() & other.places.keys()
        return any(sympy.sympify(self.places[p] - other.places[p]).is_zero is False for p in common)


Pattern = Callable[[m.Letter], Support]


def lower_triangular(letter: m.Letter) -> Support:
    """N(N+1)/2 entries: zero above the diagonal, as a causal mask makes H."""
    n = _square(letter)
    return Support(n * (n + 1) / 2)


def shift(letter: m.Letter) -> Support:
    """n − |k| entries, which takes |k| ≤ n: the k-th diagonal, k the letter's first subscript."""
    if not letter.subscripts:
        raise UnsupportedError(
            f"the non-zero entries of {letter} cannot be counted; wanted its diagonal as a subscript"
        )
    k = letter.subscripts[0]
    count = _square(letter) - sympy.Abs(k)
    place: Mapping[Place, m.Scalar] = {("diagonal",): k}
    return Support(sympy.Max(count, 0), place) if count.is_number else Support(count, place, (count,))


def _square(letter: m.Letter) -> m.Scalar:
    rows, columns = letter.shape
    if not m.same_dimension(rows, columns):
        raise UnsupportedError(f"the non-zero entries of {letter} cannot be counted; wanted a square matrix")
    return rows


def nonzeros(
    expression: m.Expression, patterns: Mapping[str, Pattern] | None = None, given: Iterable[Relation] = ()
) -> m.Scalar:
    """The number of structurally non-zero entries, a SymPy expression in the dimensions.

    ``patterns``: name of a letter → its support, such as {"H": lower_triangular}; other letters have no zeros, and
    neither has a softmax.  ``given``: relations between the sizes under which it is counted.  Raises
    `UnsupportedError` where supports may overlap, a product has no rule, or the sizes may not allow the count.
    """
    return sympy.expand(_Counting(patterns or {}, tuple(given))(expression).count)


def density(
    expression: m.Expression, patterns: Mapping[str, Pattern] | None = None, given: Iterable[Relation] = ()
) -> m.Scalar:
    """The share of structurally non-zero entries: nonzeros / (rows · columns)."""
    rows, columns = expression.shape
    return sympy.cancel(nonzeros(expression, patterns, given) / (rows * columns))


def _full(e: m.Expression) -> Support:
    return Support(e.shape[0] * e.shape[1])


def _is_full(e: m.Expression, support: Support) -> bool:
    return m.same_dimension(support.count, e.shape[0] * e.shape[1])


@dataclass(frozen=True)
class _Counting:
    patterns: Mapping[str, Pattern]
    given: tuple[Relation, ...]
    scope: Scope = ()

    def _sure(self, *least: m.Scalar) -> bool:
        """Whether none of the numbers is negative, whatever the sizes and the indices of the sums around."""
        return all(nonnegative(number, self.scope, self.given) for number in least)

    def __call__(self, e: m.Expression) -> Support:
        match e:
            case m.Letter():
                support = self.patterns[e.name](e) if e.name in self.patterns else _full(e)
                return support if self._sure(*support.least) else self._unknown(e)
            case m.Zero():
                return Support(sympy.Integer(0))
            case m.Dependent():
                return self(e.letter)
            case m.Ones() | m.RowSoftmax():
                return _full(e)
            case m.Identity():
                return Support(e.shape[0], {("diagonal",): sympy.Integer(0)})
            case m.Selection() if self._exists(e):
                return Support(e.shape[1], {("rows", e.shape[1]): e.args[0]})
            case m.Scaled():
                return self(e.arg) if e.coefficient.is_positive else self._unknown(e)
            case m.Vectorised() | m.Matricised():
                return Support(self(e.arg).count)
            case m.Transposed():
                inner = self(e.arg)
                return Support(inner.count, dict(map(_turned, inner.places.items())))
            case m.Kronecker():
                left, right = e.operands
                return _joined(self(left), self(right), right.shape)
            case m.Product():
                return self._product(*e.operands)
            case m.Addition():
                return self._addition(e)
            case m.RangeSum():
                return self._range_sum(e)
        return self._unknown(e)

    def _exists(self, selection: m.Selection) -> bool:
        """Whether E_i is one of the slices."""
        index, (rows, columns) = selection.index, selection.shape
        return self._sure(index - 1, rows - index * columns)

    def _unknown(self, e: m.Expression) -> Support:
        wanted = "wanted disjoint terms, full factors, positive coefficients, and sizes that are sure"
        raise UnsupportedError(f"the non-zero entries of {e} cannot be counted; {wanted}")

    # --- products ----------------------------------------------------------------------------------------------

    def _product(self, *factors: m.Expression) -> Support:
        """E_i X and X E_iᵀ place X, I X = X, (X ⊗ Y)(Z ⊗ W) = XZ ⊗ YW; matrices without zeros multiply to one."""
        first, last, e = factors[0], factors[-1], m.Product(*factors)
        match first, last:
            case _ if len(factors) == 1:
                return self(first)
            case m.Selection() as E, _ if self._exists(E):
                return _placed(self._product(*factors[1:]), ("rows", E.shape[1]), E.args[0])
            case _, m.Transposed(args=(m.Selection() as E,)) if self._exists(E):
                return _placed(self._product(*factors[:-1]), ("columns", E.shape[1]), E.args[0])
            case m.Identity(), _:
                return self._product(*factors[1:])
            case _, m.Identity():
                return self._product(*factors[:-1])
        if self._without_zeros(factors):
            return _full(e)
        if all(isinstance(f, m.Kronecker) for f in factors) and _pairs_fit(factors):
            left, right = (m.Product(*(f.operands[side] for f in factors)) for side in (0, 1))
            return _joined(self(left), self(right), right.shape)
        return self._unknown(e)

    def _without_zeros(self, factors: tuple[m.Expression, ...]) -> bool:
        """Factors without zeros that have entries; between them, and at the ends, E_i or E_iᵀ may pick some."""
        if not all(f.shape[1].is_positive or self._sure(f.shape[1] - 1) for f in factors[:-1]):
            return False  # P Q is zero where P has no columns
        picks = [_selection(factor) for factor in factors]
        apart = not any(a and b for a, b in zip(picks, picks[1:], strict=False))
        full = lambda f, pick: self._exists(pick) if pick else _is_full(f, self(f))
        return apart and all(map(full, factors, picks))

    # --- sums --------------------------------------------------------------------------------------------------

    def _addition(self, e: m.Addition) -> Support:
        terms = [self(term) for term in _terms(e)]
        if any(_is_full(e, term) for term in terms):
            return _full(e)
        pairs = ((a, b) for i, a in enumerate(terms) for b in terms[:i])
        if not all(a.disjoint(b) for a, b in pairs):
            return self._unknown(e)
        shared = {p: v for p, v in terms[0].places.items() if all(t.places.get(p) == v for t in terms)}
        return Support(sympy.Add(*(t.count for t in terms)), shared)

    def _range_sum(self, e: m.RangeSum) -> Support:
        """Terms at different values of the index are disjoint if a coordinate is an affine function of it."""
        lower, upper = e.bounds
        signs = {"positive": lower.is_positive, "nonnegative": lower.is_nonnegative}  # what the bounds say of it
        index = sympy.Dummy(e.index.name, integer=True, **{sign: True for sign, known in signs.items() if known})
        body = replace(self, scope=(*self.scope, (index, lower, upper)))(e.at(index))
        if not self._sure(upper - lower + 1):
            return self._unknown(e)
        if _is_full(e, body) and self._sure(upper - lower):
            return _full(e)
        if not any(_separates(place, value, index) for place, value in body.places.items()):
            return self._unknown(e)
        return Support(sympy.summation(body.count, (index, *e.bounds)), body.places)  # type: ignore[arg-type]


def _terms(e: m.Expression) -> Iterator[m.Expression]:
    """The terms of a sum of sums."""
    if not isinstance(e, m.Addition):
        yield e
        return
    for operand in e.operands:
        yield from _terms(operand)


def _separates(place: Place, value: m.Scalar, index: sympy.Dummy) -> bool:
    """value = ± index + what is the same for every term, in slices of one width."""
    if any(index in getattr(size, "free_symbols", ()) for size in _flat(place)):
        return False
    rest = [sympy.expand(value - sign * index) for sign in (1, -1)]
    return any(not r.atoms(sympy.Dummy) for r in rest)


def _turned(place: tuple[Place, m.Scalar]) -> tuple[Place, m.Scalar]:
    """The coordinate of the transpose."""
    path, value = place
    names = {"rows": "columns", "columns": "rows"}
    turned = (names.get(step, step) if isinstance(step, str) else _turned_step(step) for step in path)
    return tuple(turned), -value if path[-1] == "diagonal" else value


def _turned_step(step: Step) -> Step:
    """A step into a factor of the transpose; widths stay."""
    return (step[0], step[2], step[1]) if isinstance(step, tuple) else step


def _flat(place: Place) -> Iterator[str | m.Scalar]:
    for step in place:
        yield from step if isinstance(step, tuple) else (step,)


def _joined(left: Support, right: Support, shape: m.Shape) -> Support:
    """X ⊗ Y: each entry of X times each of Y, which has this shape."""
    sides = (("left", left), ("right", right))
    places = {((side, *shape), *p): v for side, s in sides for p, v in s.places.items()}
    return Support(left.count * right.count, places)


def _placed(inner: Support, place: Place, index: m.Scalar) -> Support:
    """A matrix put into slice ``index`` of a larger one; only the other side's coordinates remain."""
    other = {p: v for p, v in inner.places.items() if p[0] == ("columns" if place[0] == "rows" else "rows")}
    return Support(inner.count, {**other, place: index})


def _selection(factor: m.Expression) -> m.Selection | None:
    """The selection E_i, if the factor is E_i or E_iᵀ; else None."""
    inner = factor.arg if isinstance(factor, m.Transposed) else factor
    return inner if isinstance(inner, m.Selection) else None


def _pairs_fit(factors: tuple[m.Expression, ...]) -> bool:
    neighbours = zip(factors, factors[1:], strict=False)
    return all(
        m.same_dimension(a.operands[side].shape[1], b.operands[side].shape[0]) for a, b in neighbours for side in (0, 1)
    )
