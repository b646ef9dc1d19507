"""The statements of the ledger for an independent solver: matrices of small fixed sizes with unknown real entries.

`python tests/solver.py CLAIM …` decides every equation and every pair of programs of each claim with z3, and prints one
line each: what z3 says of left ≠ right, and of left ≠ −right.

    entry of a letter          an unknown real number
    σ(X)                       an unknown function of one number, entry by entry
    softmax(X), A(x)           an unknown function of all numbers of the row, of the matrix

"unsat": no numbers and no functions make the sides differ.  z3 brings both sides to sums of products itself.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy
import z3
from statements import recorded

from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.errors import UnsupportedError
from uat_jax.ledger.ledger import find
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program

LAYERS = 2
"""The number that stands for the index of a generic layer."""

MILLISECONDS = 20_000
"""The time for one question; finding numbers for a changed statement, of which one is enough, gets a tenth."""

Entries = list[list[Any]]
Definitions = Callable[[m.Letter, Mapping[Any, Any]], m.Expression | None]


@dataclass
class Translation:
    """Expressions as matrices of z3 terms.

    Every dimension gets the next of the sizes 1, 2, 1, 2, …, but features and heads get 2: heads divide features.
    """

    definitions: Definitions
    sizes: dict[Any, int]
    memo: dict[m.Expression, Entries] = field(default_factory=dict)

    def size(self, dimension: Any) -> int:
        """A symbolic dimension as a number."""
        dimension = sympy.sympify(dimension)
        for symbol in sorted(_symbols(dimension), key=str):
            self.sizes.setdefault(symbol, 2 if str(symbol)[0] in "Mh" else 1 + len(self.sizes) % 2)
        return int(sympy.sympify(dimension.xreplace(self.sizes)))

    def shape(self, e: m.Expression) -> tuple[int, int]:
        """(rows, columns)."""
        return self.size(e.shape[0]), self.size(e.shape[1])

    def __call__(self, e: m.Expression) -> Entries:
        if e not in self.memo:
            self.memo[e] = [[z3.simplify(x, som=True) for x in row] for row in self._entries(e)]
        return self.memo[e]

    def _entries(self, e: m.Expression) -> Entries:
        match e:
            case m.Letter():
                defined = self.definitions(e, {})
                return self(defined) if defined is not None else self._unknown(e)
            case m.Identity() | m.Zero() | m.Ones() | m.Selection():
                return self._constant(e)
            case m.Addition():
                return _entrywise(lambda *x: sum(x[1:], x[0]), *map(self, e.operands))
            case m.Hadamard():
                return _entrywise(lambda x, y: x * y, *map(self, e.operands))
            case m.Scaled():
                factor = self._scalar(e.coefficient)
                return _entrywise(lambda x: factor * x, self(e.arg))
            case m.Product():
                first, *rest = e.operands
                return _product(self(first), self(m.Product(*rest)))
            case m.Transposed():
                return [list(row) for row in zip(*self(e.arg), strict=True)]
            case m.Kronecker():
                left, right = map(self, e.operands)
                return [[a * b for a in row for b in other] for row in left for other in right]
            case m.Vectorised():
                return [[x] for row in self(e.arg) for x in row]
            case m.Matricised():
                rows, columns = self.shape(e)
                flat = [x for row in self(e.arg) for x in row]
                return [flat[i * columns : (i + 1) * columns] for i in range(rows)]
            case m.Diagonal():
                column = [row[0] for row in self(e.arg)]
                return [[x if i == j else z3.RealVal(0) for j in range(len(column))] for i, x in enumerate(column)]
            case m.Activation():
                sigma = z3.Function("σ", z3.RealSort(), z3.RealSort())
                return _entrywise(lambda x: sigma(z3.simplify(x, som=True)), self(e.arg))
            case m.RowSoftmax():
                return [_applied(f"softmax {len(row)}", row, (1, len(row)))[0] for row in self(e.arg)]
            case m.Dependent():
                flat = [x for row in self(e.arg) for x in row]
                return _applied(f"{e.letter} of {len(flat)}", flat, self.shape(e))
            case m.RangeSum():
                lower, upper = map(self.size, e.bounds)
                return self(m.Addition(m.Zero(*e.shape), *(e.at(k) for k in range(lower, upper + 1))))
        raise UnsupportedError(f"no translation of {type(e).__name__}")

    def _unknown(self, letter: m.Letter) -> Entries:
        rows, columns = self.shape(letter)
        return [[z3.Real(f"{letter}[{i},{j}]") for j in range(columns)] for i in range(rows)]

    def _constant(self, e: m.Expression) -> Entries:
        rows, columns = self.shape(e)
        offset = columns * (self.size(e.args[0]) - 1) if isinstance(e, m.Selection) else 0
        one = {m.Zero: lambda i, j: 0, m.Ones: lambda i, j: 1}.get(type(e), lambda i, j: int(i == j + offset))
        return [[z3.RealVal(one(i, j)) for j in range(columns)] for i in range(rows)]

    def _scalar(self, c: Any) -> Any:
        c = sympy.sympify(c)
        for symbol in _symbols(c):
            self.size(symbol)
        value = sympy.sympify(c.xreplace(self.sizes))
        return z3.Q(value.p, value.q) if value.is_Rational else z3.Real(str(value))


def _symbols(size: Any) -> set[Any]:
    """D_j as a whole, and the symbols outside of such."""
    indexed = size.atoms(sympy.Indexed)
    return indexed | (size.free_symbols - {s for i in indexed for s in i.free_symbols} - indexed)


def _entrywise(function: Callable[..., Any], *matrices: Entries) -> Entries:
    return [[function(*x) for x in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def _product(left: Entries, right: Entries) -> Entries:
    columns = list(zip(*right, strict=True))
    return [[z3.Sum([a * b for a, b in zip(row, column, strict=True)]) for column in columns] for row in left]


def _applied(name: str, arguments: list[Any], shape: tuple[int, int]) -> Entries:
    sorts = [z3.RealSort()] * (len(arguments) + 1)
    rows, columns = shape
    return [[z3.Function(f"{name} [{i},{j}]", *sorts)(*arguments) for j in range(columns)] for i in range(rows)]


# --- a generic layer as layer number LAYERS -------------------------------------------------------------------------


@dataclass(frozen=True)
class Unrolled:
    """A statement about a generic layer i, its last term split off, at i = LAYERS."""

    definitions: Definitions

    @cached_property
    def index(self) -> sympy.Symbol:
        return sympy.Symbol("i", integer=True, positive=True)

    def __call__(self, e: m.Expression, ranges: Mapping[Any, Any] | None = None) -> m.Expression:
        return self._unfold(e, dict(ranges or {})).renamed({self.index: sympy.Integer(LAYERS)})

    def _unfold(self, e: m.Expression, ranges: dict[Any, Any]) -> m.Expression:
        if isinstance(e, m.Letter):
            defined = self.definitions(e, ranges)
            return e if defined is None else self._unfold(defined, ranges)
        if isinstance(e, m.Dependent):  # its letter is a name
            return m.Dependent(e.letter, self._unfold(e.arg, ranges))
        if isinstance(e, m.RangeSum):
            lower, upper = e.bounds
            if upper == self.index + 1:
                return self._unfold(m.RangeSum(e.body, e.index, lower, self.index) + e.at(upper), ranges)
            body = self._unfold(e.body, {**ranges, e.index: upper})
            return m.RangeSum(body, e.index, lower, upper)
        return e.rebuilt(lambda operand: self._unfold(operand, ranges))


# --- deciding -------------------------------------------------------------------------------------------------------


def verdict(left: m.Expression, right: m.Expression, definitions: Definitions) -> tuple[str, str]:
    """What z3 says of left ≠ right, and of left ≠ −right (which must not be unsat)."""
    unroll = Unrolled(definitions)
    read = Translation(lambda letter, ranges: None, {})
    sides = [read(unroll(side)) for side in (left, right)]
    return _check(sides[0], sides[1]), _check(sides[0], _entrywise(lambda x: -x, sides[1]), MILLISECONDS // 10)


def _check(left: Entries, right: Entries, milliseconds: int = MILLISECONDS) -> str:
    solver = z3.Solver()
    solver.set("timeout", milliseconds)
    pairs = zip((x for row in left for x in row), (x for row in right for x in row), strict=True)
    solver.add(z3.Or([z3.simplify(x - y, som=True) != 0 for x, y in pairs]))
    return str(solver.check())


def of_program(program: Program) -> tuple[m.Expression, Definitions]:
    """The result and the lines of a program."""
    return program.result, lambda letter, ranges: program.lines.get(letter)


def main(names: list[str]) -> None:
    """Decide the claims named."""
    for name in names:
        with recorded() as statements:
            decide(find(name), Settings(dtypes=(), depth=1))
        for step in statements.steps:
            where = step.where if callable(step.where) else lambda letter, ranges, w=step.where: w.get(letter)
            print(name, *verdict(step.left, step.right, where), step.name, sep="\t", flush=True)
        for network, printed, _ in statements.pairs[:3]:
            sides = [Unrolled(definitions)(result) for result, definitions in map(of_program, (network, printed))]
            print(name, *verdict(sides[0], sides[1], lambda letter, ranges: None), "programs", sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
