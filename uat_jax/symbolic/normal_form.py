"""The normal form: a sum of words over dimension-typed letters, and the decision "equal or not".

    expression  =  Σ  coefficient · Σ_{ranges} word,        word = letter · letter · …

The algebra is the free noncommutative one.  Every nonlinear function is itself a letter, keyed by the normal form
of its argument and interned, so that a nested closed form of depth L stays at O(L²) words instead of 2^L.

Rules, each an identity of real matrices (docs/soundness.md proves them):

    (X Y)ᵀ = Yᵀ Xᵀ,  Xᵀᵀ = X,  (X ⊗ Y)ᵀ = Xᵀ ⊗ Yᵀ,  σ(X)ᵀ = σ(Xᵀ)       transposes are pushed to letters,  1ᵀ = 1
    (X ⊗ Y)(Z ⊗ W) = XZ ⊗ YW,  I ⊗ I = I                                mixed product, when the shapes fit
    (X ⊗ Y) vec(Z) = vec(X Z Yᵀ),  u ⊗ v = vec(u vᵀ) for columns        row-major vec absorbs Kronecker products
    σ(vec(Z)) = vec(σ(Z)),  unvec(vec(Z)) = Z,  vec(unvec(z)) = z       vec(z) = unvec(z) = z for columns
    diag(vec(X)) vec(Y) = vec(X ⊙ Y),  (X ⊙ Y)ᵀ = Xᵀ ⊙ Yᵀ               vec absorbs diagonal matrices too
    x ⊙ y = diag(x) y for columns,  diag(x)ᵀ = diag(x),  diag(x) 1 = x,  diag(1) = I
    softmax(X) 1 = 1,  softmax(X + Y 1) = softmax(X)                    its rows sum to 1; a shift of a row is lost
    E_iᵀ E_i = I                                                        the columns of E_i are unit vectors
    Σ_{k=1}^{n+1} X_k = Σ_{k=1}^{n} X_k + X_{n+1},  Y Σ_k X_k = Σ_k Y X_k,  Σ_{k=1}^{n} X = n X

Sums and products distribute; ⊗, ⊙, diag, vec and unvec are linear.  What joins two letters also joins their
transposes in reverse order, for rows and for ones.  softmax(X) 1 = 1 needs a column, E_iᵀ E_i = I a slice inside.

Equal normal forms prove equality for every shape and every σ.  The rules are not complete: unequal forms name the
words that differ, and a numeric counterexample must confirm them before anything is called refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import sympy

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.words import (
    Atom,
    Coefficient,
    Column,
    Letters,
    NormalForm,
    Opaque,
    Term,
    Word,
    added,
    binder,
    collect,
    exact,
)

Definitions = Callable[[m.Letter, m.Ranges], "m.Expression | None"]


@cache
def _scoped(index: sympy.Symbol, depth: int) -> sympy.Symbol:
    # The name of a sum's index while its body is normalised: no definition can mean it or bring it in.
    return sympy.Dummy(index.name, integer=True, positive=True)


def _fitting(letter: m.Letter, definition: m.Expression) -> m.Expression:
    """The definition of a letter.  Raises `ShapeError` if it has another shape than the letter."""
    if not m.same_shape(letter, definition):
        shapes = m.shape_text(letter), m.shape_text(definition)
        raise ShapeError(f"{letter} is {shapes[0]}, but what it stands for, {definition}, is {shapes[1]}")
    return definition


class Normaliser:
    """Brings expressions to normal form; equality is decided between forms that share one table of letters.

    ``definitions(letter, ranges)`` may give the expression a letter stands for (``ranges`` maps the sum indices in
    scope to their upper bounds); the letter is then unfolded.  A mapping letter → expression will do as well.
    ``letters`` is the table of another normaliser, to compare sides with different definitions.
    ``unfolded`` remembers what was unfolded: (letter, the sums in scope) → its definition.
    """

    def __init__(
        self,
        definitions: Definitions | Mapping[m.Letter, m.Expression] | None = None,
        letters: Letters | None = None,
    ) -> None:
        mapping = definitions if isinstance(definitions, Mapping) else {}
        self._define: Definitions = (lambda l, _: mapping.get(l)) if not callable(definitions) else definitions
        self.letters = letters or Letters()
        self.unfolded: dict[tuple[m.Letter, tuple], m.Expression] = {}
        self._memo: dict[m.Expression | tuple[m.Expression, tuple[tuple[m.Scalar, m.Scalar], ...]], NormalForm] = {}
        self._ranges: dict[m.Scalar, m.Scalar] = {}
        self._open: list[m.Letter] = []

    def __call__(self, expression: m.Expression) -> NormalForm:
        """The normal form.  Raises `UnsupportedError` for a head without a rule and for definitions that never end,
        `InputError` for a definition that leads back to its own letter.
        """
        if type(expression) is m.Product:  # its factors are remembered; it seldom stands in two places itself
            return self._product(expression)
        key = (expression, tuple(self._ranges.items())) if self._ranges else expression
        form = self._memo.get(key)
        if form is None:
            try:
                form = self._memo[key] = self._normalise(expression)
            except RecursionError:
                raise UnsupportedError(
                    "the expression, or its definitions, are nested too deeply, or never end"
                ) from None
        return form

    def equal(self, left: m.Expression, right: m.Expression) -> bool:
        """Whether both sides have the same shape and the same normal form."""
        return m.same_shape(left, right) and self(left) == self(right)

    # --- one case per head -------------------------------------------------------------------------------------

    def _normalise(self, e: m.Expression) -> NormalForm:
        match e:
            case m.Letter():
                defined = self._define(e, self._ranges)
                return self.letters.single(Atom(e)) if defined is None else self._unfold(e, _fitting(e, defined))
            case m.Product():
                return self._product(e)
            case m.Identity():
                return NormalForm(e.shape, {((), ""): 1})
            case m.Zero():
                return NormalForm(e.shape, {})
            case m.Ones() | m.Selection():
                return self.letters.single(Atom(e))
            case m.Addition():
                return added(e.shape, list(map(self, e.operands)))
            case m.Scaled():
                factor = exact(e.coefficient)
                return collect(e.shape, ((t, factor * c) for t, c in self(e.arg).terms.items()))
            case m.Transposed():
                inner = self(e.arg)
                return self.letters.map_words(e.shape, inner, lambda w: self.letters.transpose(w))
            case m.Kronecker():
                left, right = (operand.shape for operand in e.operands)
                return self._bilinear(e, lambda x, y: self.letters.pair(x, y, left, right))
            case m.Vectorised():
                return self.letters.map_words(e.shape, self(e.arg), lambda w: self.letters.vec(w, e.arg.shape))
            case m.Matricised():
                return self.letters.map_words(e.shape, self(e.arg), lambda w: self.letters.unvec(w, e.shape))
            case m.Activation():
                return self._activation(self(e.arg))
            case m.RowSoftmax():
                return self.letters.single(Opaque(m.RowSoftmax, self.letters.without_row_shifts(self(e.arg))))
            case m.Hadamard():
                return self._bilinear(e, lambda x, y: self.letters.hadamard(x, y, e.shape))
            case m.Diagonal():
                return self.letters.map_words(e.shape, self(e.arg), lambda w: self.letters.diagonal(w, e.shape[0]))
            case m.Dependent():
                return self.letters.single(Opaque(e.letter, self(e.arg)))
            case m.RangeSum():
                return self._sum(e)
        raise UnsupportedError(f"the normal form has no rule for the head {type(e).__name__} in {e}")

    def _product(self, e: m.Product) -> NormalForm:
        *factors, last = e.operands
        result = self(last)
        for factor in reversed(factors):
            result = self.letters.multiply(self(factor), result)
        return result

    def _unfold(self, letter: m.Letter, definition: m.Expression) -> NormalForm:
        if letter in self._open:
            raise InputError(f"the definition of {letter} leads back to {letter}; define letters by earlier ones")
        self.unfolded[letter, tuple(self._ranges.items()) if self._ranges else ()] = definition
        self._open.append(letter)
        form = self._normalise(definition)  # it is remembered as the form of the letter
        self._open.pop()
        return form

    def _activation(self, argument: NormalForm) -> NormalForm:
        heads = [self.letters.table[word] if len(word) == 1 else None for _, word in argument.terms]
        shapes = {head.shape for head in heads if isinstance(head, Column)}
        if len(shapes) == 1 and all(isinstance(head, Column) for head in heads):
            (shape,) = shapes  # σ(vec(Z)) = vec(σ(Z))
            matrix = self.letters.map_words(shape, argument, lambda w: self.letters.unvec(w, shape))
            return self.letters.single(Column(self.letters.intern(Opaque(m.Activation, matrix)), shape))
        return self.letters.single(Opaque(m.Activation, argument))

    def _bilinear(self, e: m.Expression, join: Callable[[Word, Word], Word]) -> NormalForm:
        left, right = map(self, e.operands)
        return self.letters.join_words(e.shape, left, right, join)

    # --- finite sums -------------------------------------------------------------------------------------------

    def _sum(self, e: m.RangeSum) -> NormalForm:
        """Σ_{k=1}^{n+c}: c terms are split off so that n has no integer part; n = 0 is the empty sum.

        That is right where the sum has no fewer than 0 terms, which has to be seen from the symbols in its bounds.
        """
        lower, upper = e.bounds
        if not lower.is_Integer:
            raise UnsupportedError(f"sums start at an integer; got Σ from {lower} in {e}")
        constant, symbolic = sympy.expand(upper).as_coeff_Add()
        if not constant.is_Integer:
            raise UnsupportedError(f"sums end at a whole number more or less than a symbol; got Σ to {upper} in {e}")
        if symbolic != 0 and not (symbolic.is_nonnegative and (symbolic + constant - lower + 1).is_nonnegative):
            raise UnsupportedError(f"got Σ from {lower} to {upper} in {e}; wanted bounds at least 0 terms apart")
        if symbolic == 0:
            terms, sign = range(int(lower), int(constant) + 1), 1
            rest: list[tuple[Term, Coefficient]] = []
        else:
            terms = range(1, int(constant) + 1) if constant > 0 else range(int(constant) + 1, 1)
            sign = 1 if constant > 0 else -1
            rest = self._open_sum(e, symbolic)
            rest += [(t, -c) for k in range(1, int(lower)) for t, c in self(e.at(k)).terms.items()]
            rest += [(t, c) for k in range(int(lower), 1) for t, c in self(e.at(k)).terms.items()]
        split = ((t, sign * c) for k in terms for t, c in self(e.at(symbolic + k)).terms.items())
        return collect(e.shape, [*rest, *split])

    def _open_sum(self, e: m.RangeSum, upper: m.Scalar) -> list[tuple[Term, Coefficient]]:
        outer = dict(self._ranges)
        index = _scoped(e.index, len(outer))
        self._ranges[index] = upper
        body = self(e.at(index))
        self._ranges = outer
        return [self._bind(term, c, index, upper) for term, c in body.terms.items()]

    def _bind(
        self, term: Term, coefficient: Coefficient, index: sympy.Symbol, upper: m.Scalar
    ) -> tuple[Term, Coefficient]:
        ranges, word = term
        free = set().union(*(self.letters.free_symbols(i) for i in word), *(r.free_symbols for r in ranges))
        if index in getattr(coefficient, "free_symbols", ()):
            raise UnsupportedError(f"a coefficient may not depend on the sum index {index}; got {coefficient}")
        if index not in free:
            return term, coefficient * upper  # Σ_{k=1}^{n} X = n X
        name = {index: binder(self.letters.height(word) + len(ranges) + 1)}
        bounds = (*(m.replaced(r, name) for r in ranges), upper)
        return self.letters.ordered(bounds, self.letters.reindex(word, name)), coefficient
