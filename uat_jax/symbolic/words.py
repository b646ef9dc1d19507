"""Words of letters: the free noncommutative algebra in which normal forms live.

A `NormalForm` is a sum of words; a word is a string of letters; a letter is the character that stands for an interned
record (`Letters.records`) of a matrix letter, an opaque function of a normal form, a transpose, X ⊗ Y, vec(word) or
unvec(word).  `Letters` joins, transposes, vectorises and renumbers words, applying the rules that docs/soundness.md
proves.  Words are strings, not tuples, because Python hashes a string once and a tuple each time it is looked up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import count, groupby, permutations, product

import sympy

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m

Word = str
Letter = str  # a word of length one
Coefficient = int | Fraction | sympy.Expr
Ranges = tuple[m.Scalar, ...]
Term = tuple[Ranges, Word]  # the upper bounds of the sums in front, and the word

MOST_LETTERS = sys.maxunicode + 1
"""As many as there are characters."""

_expanded = cache(sympy.expand)


@dataclass(eq=False)  # not frozen: so many are made that it would take a tenth of a proof
class NormalForm:
    """A sum of words of one shape.  Two normal forms of one `Normaliser` are equal iff their ``key`` is."""

    shape: m.Shape
    terms: Mapping[Term, Coefficient]

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


Head = type[m.Activation] | type[m.RowSoftmax] | m.Letter


@dataclass(frozen=True)
class Opaque:
    """A function letter f(argument): ``head`` is Activation, RowSoftmax or the letter of a dynamic parameter."""

    head: Head
    argument: NormalForm


@dataclass(frozen=True)
class Flipped:
    """The transpose of a letter that cannot absorb it."""

    letter: Letter


@dataclass(frozen=True)
class Pair:
    """word ⊗ word, with the shapes of both."""

    left: Word
    right: Word
    left_shape: m.Shape
    right_shape: m.Shape


@dataclass(frozen=True)
class Column:
    """vec(word) of a matrix with that shape."""

    word: Word
    shape: m.Shape


@dataclass(frozen=True)
class Arranged:
    """unvec(word) with that shape, for a word that is not itself a vec."""

    word: Word
    shape: m.Shape


@dataclass(frozen=True)
class OnDiagonal:
    """diag(word) of a column with that many entries."""

    word: Word
    size: m.Scalar


@dataclass(frozen=True)
class Entrywise:
    """word ⊙ word of two matrices of that shape."""

    left: Word
    right: Word
    shape: m.Shape


Record = Atom | Opaque | Flipped | Pair | Column | Arranged | OnDiagonal | Entrywise


def exact(coefficient: Coefficient) -> Coefficient:
    """Python numbers where possible: they are a hundred times faster than SymPy's."""
    if type(coefficient) is int:
        return coefficient
    if isinstance(coefficient, sympy.Integer):
        return int(coefficient)
    if isinstance(coefficient, sympy.Rational):
        return Fraction(int(coefficient.p), int(coefficient.q))
    return coefficient


def _is_zero(coefficient: Coefficient) -> bool:
    return coefficient == 0 or (
        type(coefficient) is not int and isinstance(coefficient, sympy.Expr) and sympy.expand(coefficient) == 0
    )


def collect(shape: m.Shape, terms: Iterable[tuple[Term, Coefficient]]) -> NormalForm:
    """The sum of the terms, like words added up and zeros left out."""
    total: dict[Term, Coefficient] = {}
    for term, coefficient in terms:
        before = total.get(term)
        total[term] = coefficient if before is None else before + coefficient
    if set(map(type, total.values())) == {int}:  # as nearly always: whole numbers are exact already
        return NormalForm(shape, {t: c for t, c in total.items() if c} if 0 in total.values() else total)
    return NormalForm(shape, {t: exact(c) for t, c in total.items() if not _is_zero(c)})


def added(shape: m.Shape, forms: Sequence[NormalForm]) -> NormalForm:
    """The sum of normal forms of one shape; where no two of them share a word, nothing has to be added up."""
    total: dict[Term, Coefficient] = {}
    for form in forms:
        total.update(form.terms)
    if len(total) == sum(len(form.terms) for form in forms):
        return NormalForm(shape, total)
    return collect(shape, (item for form in forms for item in form.terms.items()))


@cache
def binder(height: int) -> sympy.Symbol:
    """The bound index κ_height: the number of sums at or inside its own, so inner names never meet outer ones.

    A dummy is equal to no symbol of an expression.
    """
    return sympy.Dummy(f"κ{height}", integer=True, positive=True)


class Letters:
    """The table of letters, with what is known of each, and the rules for joining words of them."""

    def __init__(self) -> None:
        self.table: dict[Letter, Record] = {}
        self.shapes: dict[Letter, m.Shape] = {}
        self.names: dict[Record, Letter] = {}
        self.transposes: dict[Letter, Letter] = {}
        self.heights: dict[Letter, int] = {}
        self.symbols: dict[Letter, frozenset] = {}
        self.merges: dict[Word, Word | None] = {}

    def records(self, word: Word) -> tuple[Record, ...]:
        """The letters of a word."""
        return tuple(self.table[letter] for letter in word)

    def intern(self, record: Record) -> Letter:
        """The letter of a record; equal records have equal letters.

        Raises `UnsupportedError` for more than `MOST_LETTERS`.
        """
        letter = self.names.get(record)
        if letter is None:
            if len(self.table) == MOST_LETTERS:
                raise UnsupportedError(f"got more than {MOST_LETTERS} different letters; wanted fewer")
            letter = self.names[record] = chr(len(self.table))
            self.table[letter] = record
            self.shapes[letter] = self._shape_of(record)
        return letter

    def _shape_of(self, record: Record) -> m.Shape:
        match record:
            case Atom(expression):
                return expression.shape
            case Opaque(head, argument):
                return head.shape if isinstance(head, m.Letter) else argument.shape
            case Flipped(letter):
                return self.shapes[letter][1], self.shapes[letter][0]
            case Pair(_, _, (a, b), (c, d)):
                return a * c, b * d
            case Column(_, (rows, columns)):
                return rows * columns, sympy.Integer(1)
            case Arranged(_, shape) | Entrywise(_, _, shape):
                return shape
            case OnDiagonal(_, size):
                return size, size

    def single(self, record: Record) -> NormalForm:
        """The form that is one letter."""
        letter = self.intern(record)
        return NormalForm(self.shapes[letter], {((), letter): 1})

    # --- joining words ------------------------------------------------------------------------------------------------

    def map_words(self, shape: m.Shape, form: NormalForm, rule: Callable[[Word], Word]) -> NormalForm:
        """The form with a rule applied to every word, its sums renumbered."""
        terms = form.terms.items()
        return collect(shape, (self._summed(r, rule(w), self.height(w), c) for (r, w), c in terms))

    def join_words(
        self, shape: m.Shape, left: NormalForm, right: NormalForm, join: Callable[[Word, Word], Word]
    ) -> NormalForm:
        """A product that distributes over sums on both sides: every word joined to every word."""
        pairs = product(left.terms.items(), right.terms.items())
        return collect(shape, (self._combine(s, t, c * d, join) for (s, c), (t, d) in pairs))

    def multiply(self, left: NormalForm, right: NormalForm) -> NormalForm:
        """The product: every word followed by every word, neighbours merged."""
        shape = left.shape[0], right.shape[1]
        if len(left.terms) == 1:
            (((sums, word), factor),) = left.terms.items()
            if factor == 1 and not sums and word and self._leaves_apart(word[-1], right):
                return NormalForm(shape, {((), word + behind): c for (_, behind), c in right.terms.items()})
        return self.join_words(shape, left, right, self.concatenate)

    def _leaves_apart(self, letter: Letter, form: NormalForm) -> bool:
        """Whether the letter merges with no word of the form behind it, and no sum stands in front of one."""
        for first in {word[:1] if not sums else None for sums, word in form.terms}:
            if first is None or (first and self._merge(letter + first) is not None):
                return False
        return True

    def _combine(
        self, s: Term, t: Term, coefficient: Coefficient, join: Callable[[Word, Word], Word]
    ) -> tuple[Term, Coefficient]:
        """Join two words; the sums in front of them get names that do not clash."""
        (s_ranges, s_word), (t_ranges, t_word) = s, t
        if not s_ranges and not t_ranges:
            return ((), join(s_word, t_word)), coefficient
        height = max(self.height(s_word), self.height(t_word))
        s_ranges, s_word = self._renumber(s, height)
        t_ranges, t_word = self._renumber(t, height + len(s_ranges))
        return self._summed(s_ranges + t_ranges, join(s_word, t_word), height, coefficient)

    def _summed(self, ranges: Ranges, word: Word, height: int, coefficient: Coefficient) -> tuple[Term, Coefficient]:
        """A word under sums over κ_{height+1}, κ_{height+2}, …: what a rule made of a word of that height.

        A rule may have lost sums inside letters, so that the indices need lower numbers, or an index:
        Σ_{k=1}^{n} X = n X.
        """
        if not ranges:
            return ((), word), coefficient
        used = self._symbols_of(ranges, word)
        lost = [i for i, n in enumerate(ranges, 1) if binder(height + i) not in used and not n.atoms(sympy.Dummy)]
        for i in lost:  # (a bound with an index of its own, a dummy, can be no coefficient)
            coefficient = coefficient * ranges[i - 1]
        kept = [i for i in range(1, len(ranges) + 1) if i not in lost]
        return self.ordered(*self._numbered(ranges, word, height, kept)), coefficient

    def _renumber(self, term: Term, height: int) -> Term:
        ranges, word = term
        start = self.height(word)
        names = {binder(start + i): binder(height + i) for i in range(1, len(ranges) + 1)}
        return tuple(m.replaced(r, names) for r in ranges), self.reindex(word, names)

    def concatenate(self, left: Word, right: Word) -> Word:
        """The product of two words, neighbours merged."""
        while left and right:
            merged = self._merge(left[-1] + right[0])
            if merged is None:
                break
            left, right = left[:-1], self.concatenate(merged, right[1:])  # both neighbours may merge with it next
        return left + right

    def _merge(self, neighbours: Word) -> Word | None:
        """What two neighbours are equal to by a rule, or by the transpose of one; None where none applies."""
        if neighbours not in self.merges:  # the same two meet again and again
            self.merges[neighbours] = self._merged(*neighbours)
        return self.merges[neighbours]

    def _merged(self, a: Letter, b: Letter) -> Word | None:
        merged = self._joined(a, b)
        row = self.shapes[a][0] == 1 and isinstance(self.table[b], Pair | OnDiagonal)
        if merged is None and (row or (self._is_ones(a) and isinstance(self.table[b], Flipped))):
            turned = self._joined(self._flip(b), self._flip(a))
            return None if turned is None else self.transpose(turned)
        return merged

    def _is_ones(self, letter: Letter) -> bool:
        record = self.table[letter]
        return isinstance(record, Atom) and isinstance(record.expression, m.Ones)

    def _joined(self, a: Letter, b: Letter) -> Word | None:
        """(X⊗Y)(Z⊗W) = XZ⊗YW, (X⊗Y) vec(Z) = vec(X Z Yᵀ), and what diagonals, ones and slices make of each other."""
        match self.table[a], self.table[b]:
            case Pair(x, y, (p, q), (r, s)), Pair(z, w, (t, u), (v, n)) if _fit(q, t) and _fit(s, v):
                return self.pair(self.concatenate(x, z), self.concatenate(y, w), (p, u), (r, n))
            case Pair(x, y, (p, q), (r, s)), Column(z, (t, u)) if _fit(q, t) and _fit(s, u):
                word = self.concatenate(self.concatenate(x, z), self.transpose(y))
                return self.vec(word, (p, r))
            case Opaque(m.RowSoftmax, argument), Atom(m.Ones() as ones) if argument.shape[1].is_positive:
                return self.intern(Atom(m.Ones(argument.shape[0], ones.shape[1])))
            case OnDiagonal(word, _), Atom(m.Ones() as ones) if ones.shape[1] == 1:  # diag(x) 1 = x
                return word
            case OnDiagonal(x, _), Column(right, shape) if len(x) == 1 and isinstance(left := self.table[x], Column):
                same = all(map(_fit, left.shape, shape))
                return self.vec(self.hadamard(left.word, right, shape), shape) if same else None
            case Flipped(selection), Atom(m.Selection()) if selection == b:  # E_iᵀ E_i = I
                return ""
        return None

    def without_row_shifts(self, argument: NormalForm) -> NormalForm:
        """The argument of a softmax without the words … 1: all columns of such a word are equal."""
        shift = lambda word: bool(word) and self._is_ones(word[-1])
        return NormalForm(argument.shape, {term: c for term, c in argument.terms.items() if not shift(term[1])})

    def diagonal(self, word: Word, size: m.Scalar) -> Word:
        """diag(word) of a column."""
        return "" if len(word) == 1 and self._is_ones(word) else self.intern(OnDiagonal(word, size))

    def hadamard(self, left: Word, right: Word, shape: m.Shape) -> Word:
        """word ⊙ word, for columns diag(word) word."""
        if shape[1] == 1:
            return self.concatenate(self.diagonal(left, shape[0]), right)
        if shape[0] == 1:
            return self.transpose(self.hadamard(self.transpose(left), self.transpose(right), m.turned(shape)))
        return self.intern(Entrywise(left, right, shape))

    def pair(self, left: Word, right: Word, left_shape: m.Shape, right_shape: m.Shape) -> Word:
        """word ⊗ word, or what it is equal to for identities, columns and rows."""
        if not left and not right:
            return ""
        if left_shape[1] == 1 and right_shape[1] == 1:
            word = self.concatenate(left, self.transpose(right))
            return self.vec(word, (left_shape[0], right_shape[0]))
        if left_shape[0] == 1 and right_shape[0] == 1:  # rows: the transpose of columns
            columns = self.transpose(left), self.transpose(right), m.turned(left_shape), m.turned(right_shape)
            return self.transpose(self.pair(*columns))
        return self.intern(Pair(left, right, left_shape, right_shape))

    def vec(self, word: Word, shape: m.Shape) -> Word:
        """vec(word)."""
        if shape[1] == 1:
            return word
        match self.records(word):
            case (Arranged(column, _),):
                return column
        return self.intern(Column(word, shape))

    def unvec(self, word: Word, shape: m.Shape) -> Word:
        """unvec(word)."""
        if shape[1] == 1:
            return word
        match self.records(word):
            case (Column(matrix, of),) if all(map(m.same_dimension, of, shape)):
                return matrix
        return self.intern(Arranged(word, shape))

    # --- transposes ---------------------------------------------------------------------------------------------------

    def transpose(self, word: Word) -> Word:
        """The transpose of a word: transposed letters in reverse order."""
        return "".join(map(self._flip, reversed(word)))

    def _flip(self, letter: Letter) -> Letter:
        if letter not in self.transposes:
            flipped = self._flipped(letter)
            self.transposes[letter], self.transposes[flipped] = flipped, letter
        return self.transposes[letter]

    def _flipped(self, letter: Letter) -> Letter:
        match self.table[letter]:
            case Flipped(inner):
                return inner
            case Opaque(m.Activation, argument):  # σ is elementwise
                turned = self.map_words(m.turned(argument.shape), argument, self.transpose)
                return self.intern(Opaque(m.Activation, turned))
            case Pair(left, right, a, b):
                flipped = Pair(self.transpose(left), self.transpose(right), m.turned(a), m.turned(b))
                return self.intern(flipped)
            case Atom(m.Ones() as ones):
                return self.intern(Atom(m.Ones(*m.turned(ones.shape))))
            case OnDiagonal():
                return letter
            case Entrywise(left, right, shape):
                return self.hadamard(self.transpose(left), self.transpose(right), m.turned(shape))
        return self.intern(Flipped(letter))

    # --- sums in front of words ---------------------------------------------------------------------------------------

    def ordered(self, ranges: Ranges, word: Word) -> Term:
        """Number the sums over κ_{height of the word + 1}, … by where their indices first occur in it (Fubini)."""
        if len(ranges) < 2:
            return ranges, word
        start, free = self.height(word), [self.free_symbols(i) for i in word]
        first = lambda i: next((n for n, symbols in enumerate(free) if binder(start + i) in symbols), len(word))
        groups = groupby(sorted(range(1, len(ranges) + 1), key=first), key=first)
        orders = product(*(list(permutations(together)) for _, together in groups))  # more than one in one letter
        numbered = (self._numbered(ranges, word, start, [i for group in order for i in group]) for order in orders)
        return min(numbered, key=lambda term: (term[1], str(term[0])))

    def _numbered(self, ranges: Ranges, word: Word, start: int, order: list[int]) -> Term:
        """The sums over κ_{start+i}, i in this order, renamed to begin just above the height of the word."""
        height = self.height(word)
        names = {binder(start + old): binder(height + new) for new, old in enumerate(order, 1)}
        names = {old: new for old, new in names.items() if old != new}
        return tuple(m.replaced(ranges[i - 1], names) for i in order), self.reindex(word, names)

    def reindex(self, word: Word, names: m.Names) -> Word:
        """Replace index symbols inside a word."""
        if not names:
            return word
        return "".join(self._reindex_letter(i, names) if self.free_symbols(i) & names.keys() else i for i in word)

    def _reindex_letter(self, letter: Letter, names: m.Names) -> Letter:
        shape_at = lambda shape: (m.replaced(shape[0], names), m.replaced(shape[1], names))
        match self.table[letter]:
            case Atom(expression):
                return self.intern(Atom(expression.renamed(names)))
            case Opaque(head, argument):
                head = head.renamed(names) if isinstance(head, m.Letter) else head
                return self.intern(Opaque(head, self._reindex_form(argument, names)))
            case Flipped(inner):
                return self._flip(self._reindex_letter(inner, names))
            case Pair(left, right, a, b):
                words = self.reindex(left, names), self.reindex(right, names)
                return self.intern(Pair(*words, shape_at(a), shape_at(b)))
            case Column(word, shape):
                return self.intern(Column(self.reindex(word, names), shape_at(shape)))
            case Arranged(word, shape):
                return self.intern(Arranged(self.reindex(word, names), shape_at(shape)))
            case OnDiagonal(word, size):
                return self.intern(OnDiagonal(self.reindex(word, names), m.replaced(size, names)))
            case Entrywise(left, right, shape):
                return self.intern(Entrywise(self.reindex(left, names), self.reindex(right, names), shape_at(shape)))

    def _reindex_form(self, form: NormalForm, names: m.Names) -> NormalForm:
        return collect(
            tuple(m.replaced(s, names) for s in form.shape),  # type: ignore[arg-type]
            (
                ((tuple(m.replaced(r, names) for r in ranges), self.reindex(word, names)), _renamed(c, names))
                for (ranges, word), c in form.terms.items()
            ),
        )

    def height(self, word: Word) -> int:
        """How many nested sums the arguments of a word's letters contain."""
        return max((self._letter_height(i) for i in word), default=0)

    def _letter_height(self, letter: Letter) -> int:
        if letter not in self.heights:
            self.heights[letter] = max(
                (len(r) + self.height(w) for r, w in self._inside(self.table[letter])), default=0
            )
        return self.heights[letter]

    def _inside(self, record: Record) -> list[Term]:
        match record:
            case Opaque(_, argument):
                return list(argument.terms)
            case Flipped(letter):
                return [((), letter)]
            case Pair(left, right) | Entrywise(left, right):
                return [((), left + right)]
            case Column(word, _) | Arranged(word, _) | OnDiagonal(word, _):
                return [((), word)]
        return []

    def _symbols_of(self, ranges: Ranges, word: Word) -> set:
        return set().union(*(r.free_symbols for r in ranges), *map(self.free_symbols, word))

    def free_symbols(self, letter: Letter) -> frozenset:
        """The index symbols that occur in a letter."""
        if letter not in self.symbols:
            record = self.table[letter]
            own = {s for size in self._own_scalars(record) for s in getattr(size, "free_symbols", ())}
            for ranges, word in self._inside(record):
                own |= self._symbols_of(ranges, word)
            self.symbols[letter] = frozenset(own)
        return self.symbols[letter]

    def _own_scalars(self, record: Record) -> list[sympy.Basic | Coefficient]:
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
            case Column(_, shape) | Arranged(_, shape) | Entrywise(_, _, shape):
                return [*shape]
            case OnDiagonal(_, size):
                return [size]
        return []

    # --- back to expressions ------------------------------------------------------------------------------------------

    def expression(self, word: Word, names: Mapping[Letter, m.Letter] | None = None) -> m.Expression | None:
        """The word as an expression (None for the empty word); ``names`` abbreviates letters."""
        factors = [self._letter_expression(i, names or {}) for i in word]
        return m.Product(*factors) if factors else None

    def _letter_expression(self, letter: Letter, names: Mapping[Letter, m.Letter]) -> m.Expression:
        if letter in names:
            return names[letter]
        whole = lambda word, size: self.expression(word, names) or m.Identity(size)
        match self.table[letter]:
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
            case OnDiagonal(word, size):
                return m.Diagonal(whole(word, size))
            case Entrywise(left, right, shape):
                return m.Hadamard(whole(left, shape[0]), whole(right, shape[0]))

    def term_expression(
        self, term: Term, coefficient: Coefficient, size: m.Scalar, names: Mapping[Letter, m.Letter] | None = None
    ):
        """One term, coefficient and sums included; ``size`` is the size of the identity an empty word stands for."""
        ranges, word = term
        body = self.expression(word, names) or m.Identity(size)
        sums = list(zip(map(binder, count(self.height(word) + 1)), ranges, strict=False))
        while sums:  # a sum stands inside those whose index is in its bound
            inner = next(s for s in sums if not any(s[0] in upper.free_symbols for _, upper in sums))
            sums.remove(inner)
            index = sympy.Symbol(inner[0].name, integer=True, positive=True)  # the dummy stays in here
            body = m.RangeSum(body.renamed({inner[0]: index}), index, 1, inner[1])
        return body if coefficient == 1 else m.Scaled(coefficient, body)

    def form_expression(self, form: NormalForm, names: Mapping[Letter, m.Letter] | None = None) -> m.Expression:
        """The whole form as an expression, one term after the other."""
        terms = [self.term_expression(t, c, form.shape[0], names) for t, c in form.terms.items()]
        return m.Addition(*terms) if terms else m.Zero(*form.shape)


def _renamed(coefficient: Coefficient, names: m.Names) -> Coefficient:
    return m.replaced(coefficient, names) if isinstance(coefficient, sympy.Expr) else coefficient


def _fit(a: m.Scalar, b: m.Scalar) -> bool:
    return m.same_dimension(a, b)
