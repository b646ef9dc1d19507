"""Statements of a proof as data: what a certificate holds for a checker that shares no code with this package.

A statement is an equation, an induction over layers, that a parameter is static, an inequality with its multipliers, or
a program that depends on its input, in the language of docs/statement.schema.json.  Where the language has no words for
something there is no statement, and a checker says that it does not decide the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import jax
import sympy
from jax.extend.core import ClosedJaxpr
from sympy.core.symbol import Str

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.jaxpr_file import encode
from uat_jax.interpret.tracing import trace
from uat_jax.symbolic import language as m
from uat_jax.symbolic.inequality import Deduction
from uat_jax.symbolic.normal_form import Definitions, Normaliser
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Definition, Induction, Step
from uat_jax.typing import Function

if TYPE_CHECKING:
    from uat_jax.symbolic.relations import Relation

Data = dict[str, Any]
Statements = tuple[Data, ...]


class _Untold(UnsupportedError):
    """The language has no words for something."""


_WRITTEN: ContextVar[bool] = ContextVar("written", default=True)


@contextmanager
def left_out() -> Iterator[None]:
    """No statements are written: of evidence that is shown and kept by nobody.  Nothing else about it changes."""
    token = _WRITTEN.set(False)
    try:
        yield
    finally:
        _WRITTEN.reset(token)


def _of(statement: Callable[[], Data]) -> Statements:
    """The statement, or none where the language has no words for it or none is written."""
    if not _WRITTEN.get():
        return ()
    try:
        return (statement(),)
    except UnsupportedError:
        return ()


def of_steps(steps: Iterable[Step]) -> Statements:
    """One statement for each equation of a proof; none at all if one of them cannot be said.

    An equation whose sides are written alike says nothing, and is left out.
    """
    found = [_of(lambda step=step: _step(step)) for step in steps if step.left != step.right]
    return tuple(s for one in found for s in one) if all(found) else ()


def of_programs(left: Program, right: Program) -> Statements:
    """That two programs have one result: an equation whose sides have lines of their own."""
    results = [program.lines[program.result] for program in (left, right)]
    return of_lines(results[0], left.lines, results[1], right.lines)


def of_lines(
    left: m.Expression, left_lines: Definitions | Mapping, right: m.Expression, right_lines: Definitions | Mapping
) -> Statements:
    """That two expressions are equal, the letters of each being defined by its own lines."""

    def statement() -> Data:
        names = _Names()
        sides = [_met(lines, (side,)) for side, lines in ((left, left_lines), (right, right_lines))]
        own = [names.definitions(side) for side in sides]
        body = {"left": names.term(left), "right": names.term(right), "definitions": []}
        return {
            "kind": "equation",
            **body,
            "left_definitions": own[0],
            "right_definitions": own[1],
            "symbols": names.kinds(),
        }

    return _of(statement)


def of_refuted(left: Program, right: Program) -> Statements:
    """That two programs do not have one result for all sizes, letters and σ."""
    return tuple({**statement, "kind": "no identity"} for statement in of_programs(left, right))


def of_static(
    parameter: m.Expression, inputs: Sequence[m.Letter], where: Mapping[m.Letter, m.Expression]
) -> Statements:
    """That a parameter has one value at any two inputs."""

    def statement() -> Data:
        names = _Names()
        body = {
            "parameter": names.term(parameter),
            "inputs": [names.term(x) for x in inputs],
            "definitions": names.definitions(_met(where, (parameter,))),
        }
        return {"kind": "static", **body, "symbols": names.kinds()}

    return _of(statement)


def of_inequality(
    claim: Relation, hypotheses: Sequence[Relation], found: Deduction, point: Mapping[Any, Any]
) -> Statements:
    """That an inequality follows from others, with the multipliers of every case."""

    def statement() -> Data:
        names = _Names()
        back = lambda e: _restored(sympy.sympify(e), found.meaning)
        pair = lambda a, b: [names.scalar(back(a)), names.scalar(back(b))]
        cases = [
            {
                "denial": case.denial,
                "signs": [pair(*choice) for choice in case.choices],
                "terms": [pair(sympy.Rational(str(factor)), fact.value.as_expr()) for factor, fact in case.terms],
            }
            for case in found.cases
        ]
        body = {"claim": names.relation(claim), "hypotheses": list(map(names.relation, hypotheses))}
        hold_at = {names.symbol(s): names.scalar(value) for s, value in point.items()}
        return {"kind": "inequality", **body, "hold_at": hold_at, "cases": cases, "symbols": names.kinds()}

    return _of(statement)


def of_program(function: Function, inputs: Sequence[Any], entry: Sequence[int]) -> Statements:
    """That a function of one array has two values, in one entry, at two inputs: the program itself, as data."""

    def statement() -> Data:
        with jax.enable_x64(True):
            program = encode(trace(function, inputs[0]))
        points = [x.tolist() for x in inputs]
        return {
            "kind": "dynamic",
            "program": {"jaxprs": program["jaxprs"]},
            "inputs": points,
            "entry": list(entry),
            "symbols": {},
        }

    return _of(statement)


# --- counts and shapes -----------------------------------------------------------------------------------------------


class Tally(sympy.Expr):
    """What is counted in an expression, as a number in which sizes may stand: ``Tally("entries", W)``.

    Args:
        head: what is counted, one of those that docs/statement.schema.json lists.
        expression: that in which it is counted.
        patterns: name of a letter → where it is zero, "triangular" or "diagonal"; for the head "nonzeros".
    """

    is_commutative = True

    def __new__(cls, head: Any, expression: m.Expression, patterns: Any = ()) -> Tally:
        """The number, of which SymPy knows nothing but that it is one; SymPy rebuilds it from its own arguments."""
        zeros = patterns if isinstance(patterns, sympy.Tuple) else _pairs(patterns or {})
        return super().__new__(cls, head if isinstance(head, Str) else Str(head), expression, zeros)


def _pairs(patterns: Mapping[str, str]) -> sympy.Tuple:
    return sympy.Tuple(*(sympy.Tuple(Str(name), Str(pattern)) for name, pattern in sorted(patterns.items())))


def density_of(expression: m.Expression, patterns: Mapping[str, str] | None = None) -> Any:
    """The share of entries that are not zero."""
    return Tally("nonzeros", expression, patterns) / Tally("entries", expression)


def of_count(
    claimed: Any, count: Any, *, given: Iterable[Relation] = (), at: Mapping[Any, int] | None = None
) -> Statements:
    """That a count is a formula in the sizes; with ``at``, that it is another number at these sizes.

    ``given``: relations n ≤ m and n = … between sizes under which it is claimed: m is written n + t, and n as it is.
    """

    def statement() -> Data:
        names, known = _Names(), _sizes(given)
        put = lambda e: sympy.sympify(e).xreplace(known)
        body = {"count": names.scalar(put(count)), "is": names.scalar(put(claimed))}
        if at is None:
            return {"kind": "count", **body, "symbols": names.kinds()}
        sizes = {names.given[symbol]: value for symbol, value in at.items() if names.given.get(symbol) in names.free}
        return {"kind": "other count", **body, "at": sizes, "symbols": names.kinds()}

    return _of(statement)


def _sizes(given: Iterable[Relation]) -> dict[sympy.Symbol, sympy.Expr]:
    """What stands in the place of sizes between which relations are given."""
    found: dict[Any, Any] = {}
    for n, relation in enumerate(given):
        match relation:
            case sympy.Eq(args=(sympy.Symbol() as size, value)):
                found[size] = value
            case sympy.LessThan(args=(least, sympy.Symbol() as size)):
                found[size] = least + sympy.Symbol(f"t_{n}", integer=True, nonnegative=True)
            case _:
                raise _Untold(f"the relation {relation} between sizes")
    return found


def of_recurrence(index: Any, before: sympy.Symbol, *, first: int, value: Any, after: Any, closed: Any) -> Statements:
    """That f(first) = value and f(index + 1) = after, in which ``before`` stands for f(index), make f = closed."""

    def statement() -> Data:
        names = _Names()
        body = {"index": names.symbol(index), "before": names.symbol(before), "first": first}
        parts = {"value": value, "next": after, "closed": closed}
        return {
            "kind": "recurrence",
            **body,
            **{name: names.scalar(sympy.sympify(part)) for name, part in parts.items()},
            "symbols": names.kinds(),
        }

    return _of(statement)


Lines = Mapping[Any, m.Expression]


def of_cost(
    counted: str,
    index: Any,
    depth: sympy.Symbol,
    first: Lines,
    later: Any,
    output: m.Expression,
    *,
    shared: bool,
    **said: Any,
) -> Statements:
    """The statement of a certificate about the cost of computing all layers and the output.

    Args:
        counted: what is counted, such as multiplications.
        index, depth: the symbols of a layer and of the number of layers.
        first: the letters of layer 1, each with its term.
        later: the letters of layer index + 1, as `first` or as `Definition`s.
        output: what is computed of them in the end.
        shared: whether a letter that several terms hold is computed once.
        **said: `partial`, what the layers up to the index cost together, and `closed`, what everything costs.
    """

    def statement() -> Data:
        names = _Names()
        lines = lambda of: [Definition(l, e, ()) for l, e in of.items()] if isinstance(of, Mapping) else of
        body = {"counted": counted, "index": names.symbol(index), "depth": names.symbol(depth)}
        layers = {"first": names.definitions(lines(first)), "next": names.definitions(lines(later))}
        numbers = {name: names.scalar(sympy.sympify(said[name])) for name in ("partial", "closed")}
        rest = {"output": names.term(output), "shared": shared, **numbers}
        return {"kind": "cost", **body, **layers, **rest, "symbols": names.kinds()}

    return _of(statement)


def of_numbers(pairs: Iterable[tuple[Any, Any]]) -> Statements:
    """That two numbers are equal, pair by pair; none if a pair cannot be said, or is one number as SymPy writes it."""

    def statement(left: Any, right: Any) -> Data:
        names = _Names()
        if left == right:
            raise _Untold(f"{left} = {left}, which says nothing")
        return {"kind": "numbers", "left": names.scalar(left), "right": names.scalar(right), "symbols": names.kinds()}

    found = [_of(lambda pair=pair: statement(*map(sympy.sympify, pair))) for pair in pairs]
    return tuple(s for one in found for s in one) if all(found) else ()


def of_no_consequence(claim: Relation, hypotheses: Iterable[Relation], point: Mapping[Any, Any]) -> Statements:
    """That an inequality does not follow from others: a point at which these hold, and it does not."""

    def statement() -> Data:
        names = _Names()
        body = {"claim": names.relation(claim), "hypotheses": list(map(names.relation, hypotheses))}
        at = {names.symbol(s): names.scalar(value) for s, value in point.items()}
        return {"kind": "no consequence", **body, "at": at, "symbols": names.kinds()}

    return _of(statement)


def of_unequal(
    programs: Sequence[Any], inputs: Iterable[Any], entry: Sequence[int], kind: str = "unequal"
) -> Statements:
    """That two programs, traced, have two values in one entry at one input, or that of the first is "greater"."""

    def statement() -> Data:
        left, right = ({"jaxprs": encode(program)["jaxprs"]} for program in programs)
        points = [x.tolist() for x in inputs]
        body = {"left": left, "right": right, "inputs": points, "entry": list(entry)}
        return {"kind": kind, **body, "symbols": {}}

    return _of(statement)


def of_rank_bound(step: Step, bound: sympy.Expr) -> Statements:
    """That the rank of ``step.left`` is at most a number, as the factors of ``step.right`` show."""

    def statement() -> Data:
        names = _Names()
        body = {"matrix": names.term(step.left), "written": names.term(step.right)}
        met = names.definitions(step.definitions)
        return {
            "kind": "rank bound",
            **body,
            "definitions": met,
            "bound": names.scalar(bound),
            "symbols": names.kinds(),
        }

    return _of(statement)


def of_rank_reached(matrix: m.Expression, letters: Mapping[m.Letter, Any], rank: int) -> Statements:
    """That a matrix of given sizes has at least a rank, at whole matrices in the place of its letters."""

    def statement() -> Data:
        names = _Names()
        body = {"matrix": names.term(matrix), "at": {}}
        values = [{"letter": names.term(letter), "is": array.tolist()} for letter, array in letters.items()]
        return {"kind": "rank reached", **body, "letters": values, "rank": rank, "symbols": names.kinds()}

    return _of(statement)


def of_minor(program: ClosedJaxpr, inputs: Iterable[Any], rows: Sequence[int], columns: Sequence[int]) -> Statements:
    """That a minor of the result of a program, traced, is not 0 at an input."""

    def statement() -> Data:
        body = {"program": {"jaxprs": encode(program)["jaxprs"]}, "inputs": [x.tolist() for x in inputs]}
        return {"kind": "minor", **body, "rows": list(rows), "columns": list(columns), "symbols": {}}

    return _of(statement)


def of_misfit(operation: tuple[Any, ...], sizes: Mapping[sympy.Symbol, int]) -> Statements:
    """That the shapes of two operands do not fit at some sizes; ``operation`` is that of a `ShapeError`."""

    def statement() -> Data:
        if not operation:
            raise _Untold("an operation that is none of the language")
        names, (head, *operands) = _Names(), operation
        formula = [head, *map(names.term, operands)]
        at = {names.symbol(s): value for s, value in sizes.items() if names.given.get(s) in names.free}
        return {"kind": "misfit", "formula": formula, "at": at, "symbols": names.kinds()}

    return _of(statement)


def _restored(e: Any, meaning: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """The expression with |u|, max and min in their places, inner ones too."""
    while any(symbol in meaning for symbol in e.free_symbols):
        e = e.xreplace(dict(meaning))
    return e


def _step(step: Step) -> Data:
    names = _Names()
    if step.induction is not None:
        return _induction(step.induction, names)
    body = {
        "definitions": names.definitions(step.definitions),
        "left": names.term(step.left),
        "right": names.term(step.right),
    }
    own: Data = {"left_definitions": [], "right_definitions": []}
    return {"kind": "equation", **body, **own, "symbols": names.kinds()}


def _induction(of: Induction, names: _Names) -> Data:
    base, step = of.sides(1), of.sides(of.index + 1)
    body = {
        "index": names.symbol(of.index),
        "layer_index": names.symbol(of.layer_index),
        "input": names.term(of.input),
        "start": names.term(of.start),
        "layer": names.term(of.layer),
        "closed": names.term(of.closed),
        "first": names.definitions(_met(of.first, base)),
        "next": names.definitions(_met(of.next, step)),
    }
    return {"kind": "induction", **body, "symbols": names.kinds()}


def _met(where: Definitions | Mapping[m.Letter, m.Expression], sides: Iterable[m.Expression]) -> tuple[Definition, ...]:
    """The definitions that are met when the sides are unfolded."""
    normalise = Normaliser(where)
    for side in sides:
        normalise(side)
    return tuple(Definition(l, e, ranges) for (l, ranges), e in normalise.unfolded.items())


class _Names:
    """The names of one statement: symbols of one name and different assumptions get different names."""

    def __init__(self) -> None:
        self.given: dict[Hashable, str] = {}
        self.free: dict[str, str] = {}
        self.bound: set[Any] = set()
        self.shapes: dict[Any, list[Any]] = {}
        self.plain: dict[str, str] = {}
        self.letters: dict[m.Letter, list[Any]] = {}

    def kinds(self) -> dict[str, str]:
        """Every free symbol with what it may be."""
        return dict(sorted(self.free.items()))

    def symbol(self, symbol: Any) -> str:
        """The name of a symbol; it is declared if no sum binds it."""
        if symbol not in self.given:
            name, taken = _plain(symbol.name), set(self.given.values())
            while name in taken:
                name += "′"
            self.given[symbol] = name
        if symbol not in self.bound:
            self.free[self.given[symbol]] = _kind(symbol)
        return self.given[symbol]

    def scalar(self, value: Any) -> Any:
        """A size, a number or an index."""
        e = sympy.sympify(value)
        if e.is_Integer:
            return int(e)
        if e.is_Rational:
            return ["/", int(e.p), int(e.q)]
        if e.is_Symbol:
            return self.symbol(e)
        if isinstance(e, Tally):
            head, expression, zeros = cast(Any, e.args)
            return [head.name, self.term(expression), {self.name(n.name): p.name for n, p in zeros}]
        if isinstance(e, sympy.Indexed):
            family = str(e.base)
            if family in self.given.values():
                raise _Untold(f"{family} names a symbol as well as a family of sizes")
            self.free[family] = "size"
            return ["at", family, *map(self.scalar, e.indices)]
        if isinstance(e, sympy.Sum) and len(e.limits) == 1:
            index, *bounds = e.limits[0]
            inner = sympy.Dummy(index.name, integer=True, positive=True)
            self.bound.add(inner)
            return [
                "sum",
                self.scalar(e.function.xreplace({index: inner})),
                self.symbol(inner),
                *map(self.scalar, bounds),
            ]
        if isinstance(e, sympy.exp) or e is sympy.E:
            return ["exp", self.scalar(e.args[0] if e.args else 1)]
        heads = {
            sympy.erfc: "erfc",
            sympy.cos: "cos",
            sympy.sin: "sin",
            sympy.Add: "+",
            sympy.Mul: "*",
            sympy.Pow: "^",
            sympy.Abs: "abs",
            sympy.Max: "max",
            sympy.Min: "min",
        }
        if e.func not in heads:
            raise _Untold(f"a number such as {e}")
        return [heads[e.func], *map(self.scalar, e.args)]

    def relation(self, relation: Relation) -> list[Any]:
        """An inequality, or an equation, between numbers."""
        of: Any = sympy.sympify(relation)
        marks: dict[str, str] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "="}
        mark = marks.get(getattr(of, "rel_op", ""))
        if mark is None:
            raise _Untold(f"the relation {of}")
        return [mark, self.scalar(of.lhs), self.scalar(of.rhs)]

    def indices(self, values: Iterable[sympy.Expr]) -> list[Any]:
        """Subscripts, or superscripts."""
        return list(map(self.scalar, values))

    def term(self, e: m.Expression) -> list[Any]:
        """A matrix."""
        match e:
            case m.Letter():
                return self._letter(e)
            case m.Identity():
                return ["I", self.scalar(e.shape[0])]
            case m.Selection():
                return ["E", self.scalar(e.index), *self.size(e)]
            case m.Scaled():
                return [".", self.scalar(e.coefficient), self.term(e.arg)]
            case m.Matricised():
                return ["unvec", self.term(e.arg), *self.size(e)]
            case m.Dependent():
                return ["f", self._function(e.letter), self.term(e.arg)]
            case m.RangeSum():
                return self._sum(e)
        if type(e) in _CONSTANTS:
            return [_CONSTANTS[type(e)], *self.size(e)]
        if type(e) not in _HEADS:
            raise _Untold(f"the head {type(e).__name__}")
        return [_HEADS[type(e)], *map(self.term, e.operands)]

    def size(self, e: m.Expression) -> list[Any]:
        """How many rows and columns a matrix has."""
        return [self.scalar(s) for s in e.shape]

    def name(self, name: str) -> str:
        """The name of a letter: letters of two names have two."""
        plain = _plain(name)
        while self.plain.setdefault(plain, name) != name:
            plain += "′"
        return plain

    def _function(self, e: m.Letter) -> list[Any]:
        """The letter that names a function: with a value of another shape it is another function."""
        size, places = list(map(self.scalar, e.shape)), [self.indices(e.subscripts), self.indices(e.superscripts)]
        return ["L", self.name(e.name), *size, *places]

    def _letter(self, e: m.Letter) -> list[Any]:
        """A letter under a name of its own; it is written once, however often it stands in the statement."""
        if e not in self.letters:
            self.letters[e] = self._new_letter(e)
        return self.letters[e]

    def _new_letter(self, e: m.Letter) -> list[Any]:
        """A letter that has not been met; its shape has to be one for all values of the indices of sums."""
        free = lambda parts: set().union(*(getattr(p, "free_symbols", set()) for p in parts))
        if (free(e.shape) - free((*e.subscripts, *e.superscripts))) & self.bound:
            raise _Untold(f"the letter {e}, whose shape depends on the index of a sum")
        name, size, places = self.name(e.name), self.size(e), [self.indices(e.subscripts), self.indices(e.superscripts)]
        while name in _RESERVED or self.shapes.setdefault((name, repr(places)), size) != size:
            name += "′"  # a checker has one shape for letters that are written alike
        return ["L", name, *size, *places]

    def _sum(self, e: m.RangeSum) -> list[Any]:
        bounds = [self.scalar(bound) for bound in e.bounds]
        index = sympy.Dummy(e.index.name, integer=True, positive=True)
        self.bound.add(index)
        return ["sum", self.term(e.at(index)), self.symbol(index), *bounds]

    def definitions(self, found: Iterable[Definition]) -> list[Data]:
        """Definitions; one whose letter has the index of a sum is a rule for all its values."""
        written: dict[str, Data] = {}
        for definition in found:
            own = [(i, upper) for i, upper in definition.ranges if i in definition.letter.free_symbols]
            if len(own) > 1:
                raise _Untold("a rule with two indices")
            rule: Data = {}
            letter, expression = definition.letter, definition.expression
            for i, upper in own:
                index = next((b for b in self.bound if b.name == f"{i.name}°"), None)
                if index is None:
                    index = sympy.Dummy(f"{i.name}°", integer=True, positive=True)
                    self.bound.add(index)
                letter, expression = letter.renamed({i: index}), expression.renamed({i: index})
                rule = {"for": [self.symbol(index), self.scalar(upper)]}
            entry = {"letter": self.term(letter), "is": self.term(expression), **rule}
            written.setdefault(repr(entry["letter"]), entry)
        return list(written.values())


_HEADS: dict[Any, str] = {
    m.Addition: "+",
    m.Product: "@",
    m.Transposed: "T",
    m.Kronecker: "kron",
    m.Vectorised: "vec",
    m.Hadamard: "had",
    m.Diagonal: "diag",
    m.Activation: "sigma",
    m.RowSoftmax: "softmax",
}


def _plain(name: str) -> str:
    """A name without the signs of the language; what is between two ‖ can be any text."""
    if name[0] == name[-1] == "‖" and name.count("‖") == 2:
        return name
    return "".join("′" if c in _SIGNS else c for c in name.translate(_ALIKE))


_ALIKE = str.maketrans({"\N{COMBINING RING ABOVE}": "°", "ϑ": "θ"})
"""Signs in whose place a checker, which takes no two that look alike, reads others."""
_SIGNS = "' ()[]{},;:=^+*/|·⊗⊙ᵀΣ‖≤≥<>"
_RESERVED = {"I", "E", "σ"}
"""Letters that mean something in the language."""
_CONSTANTS: dict[Any, str] = {m.Zero: "0", m.Ones: "1"}


def _kind(symbol: sympy.Symbol) -> str:
    """What a symbol may be: a size is a whole number from 1 on, a count one from 0 on."""
    if symbol.is_integer:
        return "size" if symbol.is_positive else "count" if symbol.is_nonnegative else "integer"
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "number"
