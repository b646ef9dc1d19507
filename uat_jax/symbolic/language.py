"""A matrix language whose symbolic dimensions are really checked.

SymPy's own ``MatrixSymbol`` lets ``W @ W`` with W of shape (m, n) through when m and n are symbols;
here every constructor compares dimensions and names both operands and both shapes when they differ.
Expressions are immutable SymPy trees: ``subs``, ``xreplace``, ``free_symbols`` and ``latex`` work on them.

    letters       A_j, b_{j,2}, x_0          `Letter`, made by a `Family`
    constants     I_n, 0_{m,n}, 1_{m,n}, E_i `Identity`, `Zero`, `Ones`, `Selection`
    algebra       X + Y, c X, X Y, Xᵀ        `Addition`, `Scaled`, `Product`, `Transposed`
    tensors       X ⊗ Y, vec(X), unvec(x)    `Kronecker`, `Vectorised`, `Matricised`
    elementwise   X ⊙ Y, diag(x)             `Hadamard`, `Diagonal`
    opaque        σ(X), softmax(X), A(x)     `Activation`, `RowSoftmax`, `Dependent`
    finite sums   Σ_{k=lower}^{upper} X_k    `RangeSum`

``X @ Y``, ``X + Y``, ``X - Y``, ``c * X`` and ``X.T`` build them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any, Self

import sympy
from sympy.core.basic import Basic
from sympy.core.symbol import Str
from sympy.printing.printer import Printer

from uat_jax.errors import InputError, ShapeError

Scalar = sympy.Expr
"""A size, a coefficient, an index or a bound."""
ScalarLike = sympy.Expr | int | Fraction
"""What a scalar is made of."""
Index = ScalarLike | str
"""What tells letters of one name apart."""
Shape = tuple[Scalar, Scalar]
"""(rows, columns)."""
Names = Mapping[Any, Basic | int]  # Any: symbols, sizes and letters; a mapping is invariant in its keys
"""What stands for indices and dimensions that are replaced."""
Ranges = Mapping[Scalar, Scalar]
"""The indices of the sums around a place, and their upper bounds."""


@cache
def dimension(name: str) -> sympy.Symbol:
    """A symbolic dimension: a positive integer."""
    return sympy.Symbol(name, integer=True, positive=True)


@cache
def indexed_dimension(name: str, index: ScalarLike) -> sympy.Indexed:
    """The dimension ``name[index]`` of a family of widths, such as D_j."""
    return sympy.Indexed(sympy.IndexedBase(name, integer=True, positive=True), index)  # type: ignore[return-value]


def same_dimension(a: ScalarLike, b: ScalarLike) -> bool:
    """Whether two dimensions are equal as polynomials in their symbols."""
    return a is b or _same_polynomial(a, b)


@cache
def _same_polynomial(a: ScalarLike, b: ScalarLike) -> bool:
    return a == b or sympy.expand(a - b) == 0


def same_shape(X: Expression, Y: Expression) -> bool:
    """Whether two matrices have as many rows and as many columns."""
    shape, other = X.shape, Y.shape
    return shape == other or all(map(same_dimension, shape, other))


def replaced(scalar: Scalar, names: Names) -> Scalar:
    """The scalar with symbols replaced."""
    return scalar.xreplace(names)  # type: ignore[return-value]


def turned(shape: Shape) -> Shape:
    """(columns, rows): the shape of the transpose."""
    return shape[1], shape[0]


_ATOMS = sympy.Rational, sympy.NumberSymbol, sympy.Symbol, sympy.Indexed, sympy.IndexedBase
_EXACT = (*_ATOMS, sympy.Add, sympy.Mul, sympy.Pow, sympy.Max, sympy.Min, sympy.Function)
"""What a size, a coefficient or a bound is made of."""


@lru_cache(maxsize=None, typed=True)  # 1.0 == 1, but it is a float
def exact_scalar(value: object) -> Scalar:
    """The number or formula as a SymPy expression, made of whole numbers, fractions, roots, π, e and symbols alone.

    Raises `InputError` for a float (it is rounded), an infinity, NaN, a truth value and anything else.
    """
    scalar = sympy.sympify(value)
    if not isinstance(scalar, sympy.Expr) or not all(map(_is_exact, sympy.preorder_traversal(scalar))):
        raise InputError(f"got {value} as a number; wanted an exact finite one, such as Rational(1, 2), n or sqrt(n)")
    return scalar


def _is_exact(part: Basic) -> bool:
    if not isinstance(part, sympy.Expr):  # the name of D_j
        return True
    return isinstance(part, _EXACT) and part.is_finite is not False and part.is_commutative is not False


@lru_cache(maxsize=None, typed=True)
def exact_size(value: object) -> Scalar:
    """A dimension: an exact scalar that can be a whole number from 0 on.  Raises `InputError` for any other."""
    size = exact_scalar(value)
    if size.is_negative or (size.is_number and not size.is_Integer):
        raise InputError(f"got {value} rows or columns; wanted a whole number that is not negative, or a symbol")
    return size


class Expression(Basic):
    """A real matrix with a symbolic shape; columns are matrices with one column."""

    args: tuple[Any, ...]  # Any: each head says by its properties what its arguments are

    @property
    def shape(self) -> Shape:
        """(rows, columns), each a SymPy integer expression."""
        raise AttributeError("every head defines its shape")

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The arguments that are matrices themselves."""
        return tuple(arg for arg in self.args if isinstance(arg, Expression))

    def rebuilt(self, change: Callable[[Expression], Expression]) -> Expression:
        """The expression with this head and every operand changed."""
        return self.func(*(change(arg) if isinstance(arg, Expression) else arg for arg in self.args))  # type: ignore[return-value]

    def renamed(self, names: Names) -> Self:
        """Indices and dimensions replaced."""
        return _renamed(self, tuple((old, new, type(new)) for old, new in names.items()))

    @property
    def T(self) -> Expression:
        """The transpose."""
        return self.arg if isinstance(self, Transposed) else Transposed(self)

    def __matmul__(self, other: Expression) -> Expression:
        return Product(self, other)

    def __add__(self, other: Expression) -> Expression:
        return Addition(self, other)

    def __sub__(self, other: Expression) -> Expression:
        return Addition(self, Scaled(-1, other))

    def __neg__(self) -> Expression:
        return Scaled(-1, self)

    def __rmul__(self, coefficient: ScalarLike) -> Expression:
        return Scaled(coefficient, self)

    def _latex(self, printer: Printer) -> str:
        return latex(self)

    def __str__(self) -> str:
        from uat_jax.symbolic.printing import text_of

        return text_of(self)  # as SymPy's printers do by way of `_sympystr`, in a fifth of the time

    def _sympystr(self, printer: Printer) -> str:
        return str(self)


def _described(expression: Expression) -> str:
    return f"{expression} ({shape_text(expression)})"


def shape_text(expression: Expression) -> str:
    """The shape as "rows × columns"."""
    from uat_jax.symbolic.printing import scalar_text

    return " × ".join(map(scalar_text, expression.shape))


@lru_cache(maxsize=1 << 14)  # the layers of one network are renamed again and again
def _renamed(expression: Expression, names: tuple[tuple[Basic, Basic | int, type], ...]):
    # The type stands among the names because 1.0 == 1.  Its kind stays: the cache does not know it.
    return expression.xreplace({old: new for old, new, _ in names})


class Letter(Expression):
    """An opaque matrix: a name, a shape, subscripts and, for versions of a parameter, superscripts.

    Two letters are the same only if all of these are.  Raises `InputError` for a float among them.
    """

    def __new__(
        cls,
        name: str | Str,
        rows: ScalarLike,
        columns: ScalarLike,
        subscripts: Iterable[Index] = (),
        superscripts: Iterable[Index] = (),
    ):
        subscripts = tuple(subscripts)
        return _letter(cls, name, rows, columns, len(subscripts), *subscripts, *superscripts)

    @property
    def operands(self) -> tuple[Expression, ...]:
        """None: what is in a letter are names and numbers."""
        return ()

    @property
    def name(self) -> str:
        """The bare name, without indices."""
        return self.args[0].name  # type: ignore[attr-defined]

    @cached_property
    def shape(self) -> Shape:
        """(rows, columns) as declared."""
        return self.args[1:3]  # type: ignore[return-value]

    @property
    def subscripts(self) -> tuple[Scalar, ...]:
        """The subscripts, integers or SymPy index expressions."""
        return tuple(self.args[3])  # type: ignore[arg-type]

    @property
    def superscripts(self) -> tuple[Scalar, ...]:
        """The version, if the letter has one."""
        return tuple(self.args[4])  # type: ignore[arg-type]


@lru_cache(maxsize=None, typed=True)  # 1.0 == 1, but it is a float
def _letter(
    cls: type, name: str | Str, rows: ScalarLike, columns: ScalarLike, subscripts: int, *indices: Index
) -> Letter:
    # Letters are made again and again: they are looked up by what they are made of; so many indices stand below.
    if any(isinstance(index, float | sympy.Float) for index in indices):
        raise InputError(f"got the indices {indices} of {name}; wanted whole numbers or symbols")
    return _one_letter(
        cls,
        name.name if isinstance(name, Str) else name,
        exact_size(rows),
        exact_size(columns),
        indices[:subscripts],
        indices[subscripts:],
    )


@cache
def _one_letter(cls: type, name: str, rows: Scalar, columns: Scalar, subscripts: tuple, superscripts: tuple) -> Letter:
    # One object for each letter keeps comparisons short.
    return Basic.__new__(cls, Str(name), rows, columns, sympy.Tuple(*subscripts), sympy.Tuple(*superscripts))


@dataclass(frozen=True)
class Family:
    """Letters A_j indexed by one or more subscripts; ``shape(*subscripts)`` gives (rows, columns)."""

    name: str
    shape: Callable[..., tuple[ScalarLike, ScalarLike]]

    def __getitem__(self, subscripts: ScalarLike | tuple[ScalarLike, ...]) -> Letter:
        subscripts = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        return Letter(self.name, *self.shape(*subscripts), subscripts)


class Identity(Expression):
    """I_n."""

    def __new__(cls, size: ScalarLike):
        return Basic.__new__(cls, exact_size(size))

    @property
    def shape(self) -> Shape:
        """(n, n)."""
        return self.args[0], self.args[0]


class _Constant(Expression):
    def __new__(cls, rows: ScalarLike, columns: ScalarLike):
        return Basic.__new__(cls, exact_size(rows), exact_size(columns))

    @property
    def shape(self) -> Shape:
        """(rows, columns)."""
        return self.args[0], self.args[1]


class Zero(_Constant):
    """The zero matrix."""


class Ones(_Constant):
    """The matrix of ones."""


class Selection(Expression):
    """E_i of shape (M, d): ``x @ E_i`` is the i-th slice of d consecutive columns of x; i counts from 1.

    Raises `ShapeError` where there is surely no such slice.  Where it is not sure that there is one, that is a
    hypothesis (`slices.hypotheses`).
    """

    def __new__(cls, index: ScalarLike, rows: ScalarLike, columns: ScalarLike):
        index, rows, columns = exact_scalar(index), exact_size(rows), exact_size(columns)
        if index.is_nonpositive or sympy.expand(rows - index * columns).is_negative:
            raise ShapeError(f"there is no slice {index} of {columns} columns among {rows}; they count from 1")
        return Basic.__new__(cls, index, rows, columns)

    @property
    def index(self) -> Scalar:
        """i."""
        return self.args[0]

    @property
    def shape(self) -> Shape:
        """(M, d)."""
        return self.args[1], self.args[2]


class _OfMatrices(Expression):
    """A head whose arguments all are matrices."""

    operands = Basic.args  # type: ignore[assignment]
    """The arguments."""


class Addition(_OfMatrices):
    """X_1 + X_2 + …; all shapes equal.  Raises `ShapeError` naming the first two operands that differ."""

    def __new__(cls, *terms: Expression):
        first, *others = terms
        shape = first.shape
        for term in others:
            if term.shape != shape and not same_shape(first, term):
                reason = f"cannot add {_described(first)} and {_described(term)}: the shapes differ"
                raise ShapeError(reason, ("+", first, term))
        return first if len(terms) == 1 else Basic.__new__(cls, *terms)

    @property
    def shape(self) -> Shape:
        """The common shape."""
        return self.operands[0].shape


class Product(_OfMatrices):
    """X_1 X_2 … X_n, read from the right when it is evaluated.

    Raises `ShapeError` naming the first two neighbours whose inner dimensions differ.
    """

    def __new__(cls, *factors: Expression):
        if Product in map(type, factors):
            factors = tuple(f for g in factors for f in (g.operands if isinstance(g, Product) else (g,)))
        for left, right in pairwise(factors):
            if not same_dimension(left.shape[1], right.shape[0]):
                raise ShapeError(
                    f"cannot multiply {_described(left)} by {_described(right)}: "
                    f"the inner dimensions of {shape_text(left)} and {shape_text(right)} differ",
                    ("@", left, right),
                )
        return factors[0] if len(factors) == 1 else Basic.__new__(cls, *factors)

    @property
    def shape(self) -> Shape:
        """(rows of the first factor, columns of the last)."""
        factors = self.operands
        return factors[0].shape[0], factors[-1].shape[1]


class Scaled(Expression):
    """c X with a commuting scalar c, any exact finite number or formula; `InputError` for another (a float, ∞)."""

    def __new__(cls, coefficient: ScalarLike, matrix: Expression):
        return Basic.__new__(cls, exact_scalar(coefficient), matrix)

    @property
    def coefficient(self) -> Scalar:
        """The scalar."""
        return self.args[0]

    @property
    def arg(self) -> Expression:
        """The matrix."""
        return self.args[1]  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """The shape of X."""
        return self.arg.shape


class _Unary(_OfMatrices):
    def __new__(cls, arg: Expression):
        return Basic.__new__(cls, arg)

    @property
    def arg(self) -> Expression:
        """The operand."""
        return self.args[0]  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """The operand's shape."""
        return self.arg.shape


class Transposed(_Unary):
    """Xᵀ."""

    @property
    def shape(self) -> Shape:
        """The operand's shape, reversed."""
        return self.arg.shape[1], self.arg.shape[0]


class Activation(_Unary):
    """σ(X), an opaque function applied to every element."""


class RowSoftmax(_Unary):
    """softmax(X), an opaque function of the rows of X (never assumed elementwise)."""


class Vectorised(_Unary):
    """vec(X), row-major: entry (n−1)M+m of the column is X_{n,m}."""

    @property
    def shape(self) -> Shape:
        """(rows · columns, 1)."""
        rows, columns = self.arg.shape
        return rows * columns, sympy.Integer(1)


class Matricised(Expression):
    """unvec(x), the inverse of row-major vec.  Raises `ShapeError` if x is not a column of that length."""

    def __new__(cls, column: Expression, rows: ScalarLike, columns: ScalarLike):
        rows, columns = exact_size(rows), exact_size(columns)
        if not (same_dimension(column.shape[0], rows * columns) and same_dimension(column.shape[1], 1)):
            raise ShapeError(f"cannot arrange {_described(column)} as a {rows} × {columns} matrix")
        return Basic.__new__(cls, column, rows, columns)

    @property
    def arg(self) -> Expression:
        """The column."""
        return self.args[0]  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """(rows, columns)."""
        return self.args[1], self.args[2]


class Kronecker(_OfMatrices):
    """X ⊗ Y: block (i, j) is X_{ij} Y."""

    def __new__(cls, left: Expression, right: Expression):
        return Basic.__new__(cls, left, right)

    @property
    def shape(self) -> Shape:
        """The products of the rows and of the columns."""
        (a, b), (c, d) = (operand.shape for operand in self.operands)
        return a * c, b * d


class Hadamard(_OfMatrices):
    """X ⊙ Y, entry by entry.  Raises `ShapeError` naming both if the shapes differ."""

    def __new__(cls, left: Expression, right: Expression):
        if not same_shape(left, right):
            raise ShapeError(
                f"cannot multiply {_described(left)} and {_described(right)} entry by entry: the shapes differ",
                ("had", left, right),
            )
        return Basic.__new__(cls, left, right)

    @property
    def shape(self) -> Shape:
        """The common shape."""
        return self.operands[0].shape


class Diagonal(_Unary):
    """diag(x), the square matrix with the column x on its diagonal.  Raises `ShapeError` if x is no column."""

    def __new__(cls, column: Expression):
        if not same_dimension(column.shape[1], 1):
            raise ShapeError(f"cannot put {_described(column)} on a diagonal: it is no column")
        return Basic.__new__(cls, column)

    @property
    def shape(self) -> Shape:
        """(n, n) for a column of length n."""
        return self.arg.shape[0], self.arg.shape[0]


class Dependent(Expression):
    """A dynamic parameter A(x): an opaque matrix-valued function of the matrix x.

    ``letter`` gives the function its name, indices and the shape of its value.
    """

    def __new__(cls, letter: Letter, arg: Expression):
        return Basic.__new__(cls, letter, arg)

    @property
    def letter(self) -> Letter:
        """Name, indices and shape of the function's value."""
        return self.args[0]  # type: ignore[return-value]

    @property
    def arg(self) -> Expression:
        """The argument."""
        return self.args[1]  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """The shape of the value."""
        return self.letter.shape


class RangeSum(Expression):
    """Σ_{index=lower}^{upper} body, with symbolic bounds: the sum over all whole numbers from lower to upper.

    Where the upper bound is below the lower there are none, and the sum is zero.
    The shape of the body may not depend on the index (`ShapeError`); an index is a symbol and a bound an exact
    number or formula (`InputError` otherwise).
    """

    def __new__(cls, body: Expression, index: sympy.Basic, lower: ScalarLike, upper: ScalarLike):
        lower, upper = exact_scalar(lower), exact_scalar(upper)
        if not isinstance(index, sympy.Symbol) or any(b.is_integer is False for b in (lower, upper)):
            raise InputError(f"cannot sum over {index} from {lower} to {upper}; wanted a symbol and whole numbers")
        if index in set().union(*(size.free_symbols for size in body.shape)):
            raise ShapeError(f"cannot sum {_described(body)} over {index}: its shape depends on {index}")
        return Basic.__new__(cls, body, index, lower, upper)

    @property
    def body(self) -> Expression:
        """The summand."""
        return self.args[0]  # type: ignore[return-value]

    @property
    def index(self) -> sympy.Symbol:
        """The bound index."""
        return self.args[1]

    @property
    def bounds(self) -> Shape:
        """(lower, upper)."""
        return self.args[2], self.args[3]

    @property
    def shape(self) -> Shape:
        """The body's shape."""
        return self.body.shape

    @property
    def free_symbols(self) -> set:  # type: ignore[override]
        """The symbols of the expression without the bound index."""
        return (self.body.free_symbols - {self.index}).union(*(bound.free_symbols for bound in self.bounds))

    def _xreplace(self, rule: Names) -> tuple[Basic, bool]:
        # The bound index is not replaced and captures nothing that is put in: where it might, it is renamed first.
        if self.index not in set().union(*(getattr(e, "free_symbols", ()) for pair in rule.items() for e in pair)):
            return super()._xreplace(rule)  # type: ignore[return-value]
        fresh = sympy.Dummy(self.index.name, integer=True, positive=True)
        return RangeSum(self.body.renamed({self.index: fresh}), fresh, *self.bounds)._xreplace(rule)[0], True

    def _eval_subs(self, old: Basic, new: Basic) -> Basic | None:
        return self.xreplace({old: new}) if self.index in old.free_symbols | new.free_symbols else None

    def at(self, value: ScalarLike) -> Expression:
        """The summand at one value of the index."""
        return self.body.renamed({self.index: sympy.sympify(value)})


def latex(expression: Expression) -> str:
    """The expression as LaTeX without delimiters."""
    from uat_jax.symbolic.printing import latex_of

    return latex_of(expression)


def replace_letters(
    expression: Expression, rule: Callable[[Letter, Ranges], Expression | None], ranges: Ranges | None = None
) -> Expression:
    """The expression with every letter for which ``rule(letter, sum indices in scope)`` gives one replaced by it.

    Sums between two integers are written out on the way.
    """
    ranges = ranges or {}
    inner = lambda e, scope=ranges: replace_letters(e, rule, scope)
    match expression:
        case Letter():
            replacement = rule(expression, ranges)
            return expression if replacement is None else replacement
        case Dependent():
            return Dependent(expression.letter, inner(expression.arg))
        case RangeSum():
            lower, upper = expression.bounds
            if lower.is_Integer and upper.is_Integer:
                terms = [inner(expression.at(k)) for k in range(int(lower), int(upper) + 1)]
                return Addition(*terms) if terms else Zero(*expression.shape)
            body = inner(expression.body, {**ranges, expression.index: upper})
            return RangeSum(body, expression.index, lower, upper)
    return expression.rebuilt(inner)
