"""The normal form: a sum of words over dimension-typed letters, and the decision "equal or not".

    expression  =  Σ  coefficient · Σ_{ranges} word,        word = letter · letter · …

The algebra is the free noncommutative one.  Every nonlinear function is itself a letter, keyed by the normal form
of its argument and interned, so that a nested closed form of depth L stays at O(L²) words instead of 2^L.

Rules, each an identity of real matrices (docs/soundness.md proves them):

    (X Y)ᵀ = Yᵀ Xᵀ,  Xᵀᵀ = X,  (X ⊗ Y)ᵀ = Xᵀ ⊗ Yᵀ,  σ(X)ᵀ = σ(Xᵀ)       transposes are pushed to letters
    (X ⊗ Y)(Z ⊗ W) = XZ ⊗ YW                                            mixed product, when the shapes fit
    (X ⊗ Y) vec(Z) = vec(X Z Yᵀ),  u ⊗ v = vec(u vᵀ) for columns        row-major vec absorbs Kronecker products
    σ(vec(Z)) = vec(σ(Z)),  unvec(vec(Z)) = Z,  vec(unvec(z)) = z
    Σ_{k=1}^{n+1} X_k = Σ_{k=1}^{n} X_k + X_{n+1},  Y Σ_k X_k = Σ_k Y X_k

Equal normal forms prove equality for every shape and every σ.  Unequal ones name the words that differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import count, groupby, permutations, product
from typing import Any

import sympy

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m

Word = tuple[int, ...]
Term = tuple[tuple[Any, ...], Word]  # the upper bounds of the sums in front, and the word
Definitions = Callable[[m.Letter, Mapping[Any, Any]], "m.Expression | None"]


_expanded = cache(sympy.expand)


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A sum of words of one shape.  Two normal forms of one `Normaliser` are equal iff their ``key`` is."""

    shape: tuple[Any, Any]
    terms: Mapping[Term, Any]

    @cached_property
    def key(self) -> tuple:
        """The shape and the words with their coefficients, hashable: 0 and c I show their size nowhere else."""
        return (*map(_expanded, self.shape), frozenset(self.terms.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NormalForm) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


# --- letters -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Atom:
    """A letter or constant of the language."""

    expression: m.Expression


@dataclass(frozen=True)
class Opaque:
    """A function letter f(argument): ``head`` is Activation, RowSoftmax or the letter of a dynamic parameter."""

    head: Any
    argument: NormalForm


@dataclass(frozen=True)
class Flipped:
    """The transpose of a letter that cannot absorb it."""

    letter: int


@dataclass(frozen=True)
class Pair:
    """word ⊗ word, with the shapes of both."""

    left: Word
    right: Word
    left_shape: tuple[Any, Any]
    right_shape: tuple[Any, Any]


@dataclass(frozen=True)
class Column:
    """vec(word) of a matrix with that shape."""

    word: Word
    shape: tuple[Any, Any]


@dataclass(frozen=True)
class Arranged:
    """unvec(word) with that shape, for a word that is not itself a vec."""

    word: Word
    shape: tuple[Any, Any]


Record = Atom | Opaque | Flipped | Pair | Column | Arranged


def _exact(coefficient: Any) -> Any:
    """Python numbers where possible: they are a hundred times faster than SymPy's."""
    if type(coefficient) is int:
        return coefficient
    if isinstance(coefficient, sympy.Integer):
        return int(coefficient)
    if isinstance(coefficient, sympy.Rational):
        return Fraction(int(coefficient.p), int(coefficient.q))
    return coefficient


def _is_zero(coefficient: Any) -> bool:
    return coefficient == 0 or (
        type(coefficient) is not int and isinstance(coefficient, sympy.Expr) and sympy.expand(coefficient) == 0
    )


def _collect(shape: tuple[Any, Any], terms: Iterable[tuple[Term, Any]]) -> NormalForm:
    total: dict[Term, Any] = {}
    for term, coefficient in terms:
        total[term] = total[term] + coefficient if term in total else coefficient
    return NormalForm(shape, {t: _exact(c) for t, c in total.items() if not _is_zero(c)})


@cache
def _binder(height: int) -> sympy.Symbol:
    # A bound index is named by the number of sums at or inside its own: inner names never meet outer ones.
    # A dummy is equal to no symbol of an expression.
    return sympy.Dummy(f"κ{height}", integer=True, positive=True)


@cache
def _scoped(index: sympy.Symbol, depth: int) -> sympy.Symbol:
    # The name of a sum's index while its body is normalised: no definition can mean it or bring it in.
    return sympy.Dummy(index.name, integer=True, positive=True)


class Letters:
    """The interned letters of words, with what is known of each: shape, transpose, free indices."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.shapes: list[tuple[Any, Any]] = []
        self.ids: dict[Record, int] = {}
        self.transposes: dict[int, int] = {}
        self.heights: dict[int, int] = {}
        self.symbols: dict[int, frozenset] = {}


class Normaliser:
    """Brings expressions to normal form; equality is decided between forms that share one table of letters.

    ``definitions(letter, ranges)`` may give the expression a letter stands for (``ranges`` maps the sum indices in
    scope to their upper bounds); the letter is then unfolded.  A mapping letter → expression will do as well.
    ``letters`` is the table of another normaliser, to compare sides with different definitions.
    """

    def __init__(
        self,
        definitions: Definitions | Mapping[m.Letter, m.Expression] | None = None,
        letters: Letters | None = None,
    ) -> None:
        mapping = definitions if isinstance(definitions, Mapping) else {}
        self._define: Definitions = (lambda l, _: mapping.get(l)) if not callable(definitions) else definitions
        self.letters = letters or Letters()
        self._records, self._shapes, self._ids = self.letters.records, self.letters.shapes, self.letters.ids
        self._transposes, self._heights = self.letters.transposes, self.letters.heights
        self._symbols = self.letters.symbols
        self._memo: dict[Any, NormalForm] = {}
        self._ranges: dict[Any, Any] = {}

    def __call__(self, expression: m.Expression) -> NormalForm:
        """The normal form.  Raises `UnsupportedError` for a head without a rule."""
        key = (expression, tuple(self._ranges.items())) if self._ranges else expression
        if key not in self._memo:
            self._memo[key] = self._normalise(expression)
        return self._memo[key]

    def equal(self, left: m.Expression, right: m.Expression) -> bool:
        """Whether both sides have the same shape and the same normal form."""
        return all(map(m.same_dimension, left.shape, right.shape)) and self(left) == self(right)

    def records(self, word: Word) -> tuple[Record, ...]:
        """The letters of a word."""
        return tuple(self._records[i] for i in word)

    # --- interning ---------------------------------------------------------------------------------------------

    def _intern(self, record: Record) -> int:
        if record not in self._ids:
            self._ids[record] = len(self._records)
            self._records.append(record)
            self._shapes.append(self._shape_of(record))
        return self._ids[record]

    def _shape_of(self, record: Record) -> tuple[Any, Any]:
        match record:
            case Atom(expression):
                return expression.shape
            case Opaque(head, argument):
                return head.shape if isinstance(head, m.Letter) else argument.shape
            case Flipped(letter):
                return self._shapes[letter][1], self._shapes[letter][0]
            case Pair(_, _, (a, b), (c, d)):
                return a * c, b * d
            case Column(_, (rows, columns)):
                return rows * columns, sympy.Integer(1)
            case Arranged(_, shape):
                return shape

    def _single(self, record: Record) -> NormalForm:
        letter = self._intern(record)
        return NormalForm(self._shapes[letter], {((), (letter,)): 1})

    # --- one case per head -------------------------------------------------------------------------------------

    def _normalise(self, e: m.Expression) -> NormalForm:
        match e:
            case m.Letter():
                defined = self._define(e, self._ranges)
                return self._single(Atom(e)) if defined is None else self(defined)
            case m.Identity():
                return NormalForm(e.shape, {((), ()): 1})
            case m.Zero():
                return NormalForm(e.shape, {})
            case m.Ones() | m.Selection():
                return self._single(Atom(e))
            case m.Addition():
                return _collect(e.shape, (item for t in e.operands for item in self(t).terms.items()))
            case m.Scaled():
                factor = _exact(e.coefficient)
                return _collect(e.shape, ((t, factor * c) for t, c in self(e.arg).terms.items()))
            case m.Product():
                result = self(e.operands[-1])
                for factor in reversed(e.operands[:-1]):
                    result = self._multiply(self(factor), result)
                return result
            case m.Transposed():
                inner = self(e.arg)
                return self._map(e.shape, inner, lambda w: self._transpose(w))
            case m.Kronecker():
                return self._kronecker(e)
            case m.Vectorised():
                return self._map(e.shape, self(e.arg), lambda w: self._vec(w, e.arg.shape))
            case m.Matricised():
                return self._map(e.shape, self(e.arg), lambda w: self._unvec(w, e.shape))
            case m.Activation():
                return self._activation(self(e.arg))
            case m.RowSoftmax():
                return self._single(Opaque(m.RowSoftmax, self(e.arg)))
            case m.Dependent():
                return self._single(Opaque(e.letter, self(e.arg)))
            case m.RangeSum():
                return self._sum(e)
        raise UnsupportedError(f"the normal form has no rule for the head {type(e).__name__} in {e}")

    def _map(self, shape: Any, form: NormalForm, rule: Callable[[Word], Word]) -> NormalForm:
        return _collect(shape, ((self._ordered(ranges, rule(word)), c) for (ranges, word), c in form.terms.items()))

    def _activation(self, argument: NormalForm) -> NormalForm:
        heads = [self._records[word[0]] if len(word) == 1 else None for _, word in argument.terms]
        shapes = {head.shape for head in heads if isinstance(head, Column)}
        if len(shapes) == 1 and all(isinstance(head, Column) for head in heads):
            (shape,) = shapes  # σ(vec(Z)) = vec(σ(Z))
            matrix = self._map(shape, argument, lambda w: self._unvec(w, shape))
            return self._single(Column((self._intern(Opaque(m.Activation, matrix)),), shape))
        return self._single(Opaque(m.Activation, argument))

    # --- words -------------------------------------------------------------------------------------------------

    def _multiply(self, left: NormalForm, right: NormalForm) -> NormalForm:
        shape = (left.shape[0], right.shape[1])
        return _collect(
            shape,
            (
                (self._combine(s, t, self._concatenate), c * d)
                for s, c in left.terms.items()
                for t, d in right.terms.items()
            ),
        )

    def _combine(self, s: Term, t: Term, join: Callable[[Word, Word], Word]) -> Term:
        """Join two words; the sums in front of them get names that do not clash."""
        (s_ranges, s_word), (t_ranges, t_word) = s, t
        if not s_ranges and not t_ranges:
            return (), join(s_word, t_word)
        height = max(self._height(s_word), self._height(t_word))
        s_ranges, s_word = self._renumber(s, height)
        t_ranges, t_word = self._renumber(t, height + len(s_ranges))
        return self._ordered(s_ranges + t_ranges, join(s_word, t_word))

    def _renumber(self, term: Term, height: int) -> Term:
        ranges, word = term
        start = self._height(word)
        names = {_binder(start + i): _binder(height + i) for i in range(1, len(ranges) + 1)}
        return tuple(r.xreplace(names) for r in ranges), self._reindex(word, names)

    def _concatenate(self, left: Word, right: Word) -> Word:
        while left and right:
            merged = self._merge(left[-1], right[0])
            if merged is None:
                break
            left, right = left[:-1], merged + right[1:]
            if not merged:
                continue
            left, right = left + right[:1], right[1:]  # the merged letter may meet its left neighbour next
            if len(left) > 1 and (again := self._merge(left[-2], left[-1])) is not None:
                left = left[:-2] + again
        return left + right

    def _merge(self, a: int, b: int) -> Word | None:
        """(X⊗Y)(Z⊗W) = XZ⊗YW and (X⊗Y) vec(Z) = vec(X Z Yᵀ); None where neither applies."""
        match self._records[a], self._records[b]:
            case Pair(x, y, (p, q), (r, s)), Pair(z, w, (t, u), (v, n)) if _fit(q, t) and _fit(s, v):
                return self._pair(self._concatenate(x, z), self._concatenate(y, w), (p, u), (r, n))
            case Pair(x, y, (p, q), (r, s)), Column(z, (t, u)) if _fit(q, t) and _fit(s, u):
                word = self._concatenate(self._concatenate(x, z), self._transpose(y))
                return self._vec(word, (p, r))
            case Flipped(column), Pair() if isinstance(self._records[column], Column):
                merged = self._merge(self._flip(b), column)
                return None if merged is None else self._transpose(merged)
        return None

    def _pair(self, left: Word, right: Word, left_shape: Any, right_shape: Any) -> Word:
        if not left and not right:
            return ()
        if left_shape[1] == 1 and right_shape[1] == 1:
            word = self._concatenate(left, self._transpose(right))
            return self._vec(word, (left_shape[0], right_shape[0]))
        if left_shape[0] == 1 and right_shape[0] == 1:  # rows: the transpose of columns
            columns = self._transpose(left), self._transpose(right), left_shape[::-1], right_shape[::-1]
            return self._transpose(self._pair(*columns))
        return (self._intern(Pair(left, right, left_shape, right_shape)),)

    def _vec(self, word: Word, shape: tuple[Any, Any]) -> Word:
        if shape[1] == 1:
            return word
        match self.records(word):
            case (Arranged(column, _),):
                return column
        return (self._intern(Column(word, shape)),)

    def _unvec(self, word: Word, shape: tuple[Any, Any]) -> Word:
        if shape[1] == 1:
            return word
        match self.records(word):
            case (Column(matrix, of),) if all(map(m.same_dimension, of, shape)):
                return matrix
        return (self._intern(Arranged(word, shape)),)

    def _kronecker(self, e: m.Kronecker) -> NormalForm:
        left, right = map(self, e.operands)
        join = lambda x, y: self._pair(x, y, left.shape, right.shape)
        return _collect(
            e.shape,
            ((self._combine(s, t, join), c * d) for s, c in left.terms.items() for t, d in right.terms.items()),
        )

    def _transpose(self, word: Word) -> Word:
        return tuple(self._flip(letter) for letter in reversed(word))

    def _flip(self, letter: int) -> int:
        if letter not in self._transposes:
            flipped = self._flipped(letter)
            self._transposes[letter], self._transposes[flipped] = flipped, letter
        return self._transposes[letter]

    def _flipped(self, letter: int) -> int:
        match self._records[letter]:
            case Flipped(inner):
                return inner
            case Opaque(m.Activation, argument):  # σ is elementwise
                turned = self._map(argument.shape[::-1], argument, self._transpose)
                return self._intern(Opaque(m.Activation, turned))
            case Pair(left, right, a, b):
                flipped = Pair(self._transpose(left), self._transpose(right), a[::-1], b[::-1])
                return self._intern(flipped)
            case Atom(m.Ones() as ones):
                return self._intern(Atom(m.Ones(*ones.shape[::-1])))
        return self._intern(Flipped(letter))

    # --- finite sums -------------------------------------------------------------------------------------------

    def _sum(self, e: m.RangeSum) -> NormalForm:
        """Σ_{k=1}^{n+c}: c terms are split off so that n has no integer part; n = 0 is the empty sum."""
        lower, upper = e.bounds
        if not lower.is_Integer:
            raise UnsupportedError(f"sums start at an integer; got Σ from {lower} in {e}")
        constant, symbolic = upper.as_coeff_Add()
        if symbolic == 0:
            terms, sign = range(int(lower), int(constant) + 1), 1
            rest: list[tuple[Term, Any]] = []
        else:
            terms = range(1, int(constant) + 1) if constant > 0 else range(int(constant) + 1, 1)
            sign = 1 if constant > 0 else -1
            rest = self._open_sum(e, symbolic)
            rest += [(t, -c) for k in range(1, int(lower)) for t, c in self(e.at(k)).terms.items()]
            rest += [(t, c) for k in range(int(lower), 1) for t, c in self(e.at(k)).terms.items()]
        split = ((t, sign * c) for k in terms for t, c in self(e.at(symbolic + k)).terms.items())
        return _collect(e.shape, [*rest, *split])

    def _open_sum(self, e: m.RangeSum, upper: Any) -> list[tuple[Term, Any]]:
        outer = dict(self._ranges)
        index = _scoped(e.index, len(outer))
        self._ranges[index] = upper
        body = self(e.at(index))
        self._ranges = outer
        return [self._bind(term, c, index, upper) for term, c in body.terms.items()]

    def _bind(self, term: Term, coefficient: Any, index: Any, upper: Any) -> tuple[Term, Any]:
        ranges, word = term
        free = set().union(*(self._free(i) for i in word), *(r.free_symbols for r in ranges))
        if index in getattr(coefficient, "free_symbols", ()):
            raise UnsupportedError(f"a coefficient may not depend on the sum index {index}; got {coefficient}")
        if index not in free:
            return term, coefficient * upper  # Σ_{k=1}^{n} X = n X
        name = {index: _binder(self._height(word) + len(ranges) + 1)}
        bounds = (*(r.xreplace(name) for r in ranges), upper)
        return self._ordered(bounds, self._reindex(word, name)), coefficient

    def _ordered(self, ranges: tuple[Any, ...], word: Word) -> Term:
        """Number the sums in front of a word by where their indices first occur in it (Fubini)."""
        if len(ranges) < 2:
            return ranges, word
        start, free = self._height(word), [self._free(i) for i in word]
        first = lambda i: next((n for n, symbols in enumerate(free) if _binder(start + i) in symbols), len(word))
        groups = groupby(sorted(range(1, len(ranges) + 1), key=first), key=first)
        orders = product(*(list(permutations(together)) for _, together in groups))  # more than one in one letter
        numbered = (self._numbered(ranges, word, start, [i for group in order for i in group]) for order in orders)
        return min(numbered, key=lambda term: (term[1], str(term[0])))

    def _numbered(self, ranges: tuple[Any, ...], word: Word, start: int, order: list[int]) -> Term:
        names = {_binder(start + old): _binder(start + new) for new, old in enumerate(order, 1) if old != new}
        return tuple(ranges[i - 1].xreplace(names) for i in order), self._reindex(word, names)

    def _reindex(self, word: Word, names: Mapping[Any, Any]) -> Word:
        """Replace index symbols inside a word."""
        if not names:
            return word
        return tuple(self._reindex_letter(i, names) if self._free(i) & names.keys() else i for i in word)

    def _reindex_letter(self, letter: int, names: Mapping[Any, Any]) -> int:
        shape_at = lambda shape: tuple(s.xreplace(names) for s in shape)
        match self._records[letter]:
            case Atom(expression):
                return self._intern(Atom(expression.renamed(names)))
            case Opaque(head, argument):
                head = head.renamed(names) if isinstance(head, m.Letter) else head
                return self._intern(Opaque(head, self._reindex_form(argument, names)))
            case Flipped(inner):
                return self._flip(self._reindex_letter(inner, names))
            case Pair(left, right, a, b):
                words = self._reindex(left, names), self._reindex(right, names)
                return self._intern(Pair(*words, shape_at(a), shape_at(b)))
            case Column(word, shape):
                return self._intern(Column(self._reindex(word, names), shape_at(shape)))
            case Arranged(word, shape):
                return self._intern(Arranged(self._reindex(word, names), shape_at(shape)))

    def _reindex_form(self, form: NormalForm, names: Mapping[Any, Any]) -> NormalForm:
        return _collect(
            tuple(s.xreplace(names) for s in form.shape),  # type: ignore[arg-type]
            (
                ((tuple(r.xreplace(names) for r in ranges), self._reindex(word, names)), _renamed(c, names))
                for (ranges, word), c in form.terms.items()
            ),
        )

    def _height(self, word: Word) -> int:
        """How many nested sums the arguments of a word's letters contain."""
        return max((self._letter_height(i) for i in word), default=0)

    def _letter_height(self, letter: int) -> int:
        if letter not in self._heights:
            self._heights[letter] = max(
                (len(r) + self._height(w) for r, w in self._inside(self._records[letter])), default=0
            )
        return self._heights[letter]

    def _inside(self, record: Record) -> list[Term]:
        match record:
            case Opaque(_, argument):
                return list(argument.terms)
            case Flipped(letter):
                return [((), (letter,))]
            case Pair(left, right):
                return [((), left + right)]
            case Column(word, _) | Arranged(word, _):
                return [((), word)]
        return []

    def _free(self, letter: int) -> frozenset:
        """The index symbols that occur in a letter."""
        if letter not in self._symbols:
            record = self._records[letter]
            own = {s for size in self._own_scalars(record) for s in getattr(size, "free_symbols", ())}
            for ranges, word in self._inside(record):
                own = own.union(*(r.free_symbols for r in ranges), *(self._free(i) for i in word))
            self._symbols[letter] = frozenset(own)
        return self._symbols[letter]

    def _own_scalars(self, record: Record) -> list[Any]:
        """What can name an index outside the words of a letter: shapes, coefficients, the letter of a function."""
        match record:
            case Atom(expression):
                return [expression]
            case Opaque(head, argument):
                return [
                    *argument.shape,
                    *argument.terms.values(),
                    *([head] if isinstance(head, m.Letter) else []),
                ]
            case Pair(_, _, a, b):
                return [*a, *b]
            case Column(_, shape) | Arranged(_, shape):
                return [*shape]
        return []

    # --- back to expressions -----------------------------------------------------------------------------------

    def expression(self, word: Word, names: Mapping[int, m.Letter] | None = None) -> m.Expression | None:
        """The word as an expression (None for the empty word); ``names`` abbreviates letters."""
        factors = [self._letter_expression(i, names or {}) for i in word]
        return m.Product(*factors) if factors else None

    def _letter_expression(self, letter: int, names: Mapping[int, m.Letter]) -> m.Expression:
        if letter in names:
            return names[letter]
        whole = lambda word, size: self.expression(word, names) or m.Identity(size)
        match self._records[letter]:
            case Atom(expression):
                return expression
            case Opaque(head, argument):
                inner = self.form_expression(argument, names)
                return m.Dependent(head, inner) if isinstance(head, m.Letter) else head(inner)
            case Flipped(inner):
                return self._letter_expression(inner, names).T
            case Pair(left, right, a, b):
                return m.Kronecker(whole(left, a[0]), whole(right, b[0]))
            case Column(word, shape):
                return m.Vectorised(whole(word, shape[0]))
            case Arranged(word, shape):
                return m.Matricised(whole(word, shape[0] * shape[1]), *shape)

    def term_expression(self, term: Term, coefficient: Any, size: Any, names: Mapping[int, m.Letter] | None = None):
        """One term, coefficient and sums included; ``size`` is the size of the identity an empty word stands for."""
        ranges, word = term
        body = self.expression(word, names) or m.Identity(size)
        sums = list(zip(map(_binder, count(self._height(word) + 1)), ranges, strict=False))
        while sums:  # a sum stands inside those whose index is in its bound
            inner = next(s for s in sums if not any(s[0] in upper.free_symbols for _, upper in sums))
            sums.remove(inner)
            index = sympy.Symbol(inner[0].name, integer=True, positive=True)  # the dummy stays in here
            body = m.RangeSum(body.renamed({inner[0]: index}), index, 1, inner[1])
        return body if coefficient == 1 else m.Scaled(coefficient, body)

    def form_expression(self, form: NormalForm, names: Mapping[int, m.Letter] | None = None) -> m.Expression:
        """The whole form as an expression, one term after the other."""
        terms = [self.term_expression(t, c, form.shape[0], names) for t, c in form.terms.items()]
        return m.Addition(*terms) if terms else m.Zero(*form.shape)


def _renamed(coefficient: Any, names: Mapping[Any, Any]) -> Any:
    return coefficient.xreplace(names) if isinstance(coefficient, sympy.Basic) else coefficient


def _fit(a: Any, b: Any) -> bool:
    return m.same_dimension(a, b)
