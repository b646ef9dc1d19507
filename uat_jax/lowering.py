"""SymPy program → two jitted JAX functions: what does not depend on the input is merged once, the rest evaluated.

    merge(weights)          → every matrix, product and sum that is independent of the argument, by name
    evaluate(hatted, x_0)   → the program's result for one argument (vmap it for a batch)

Each subexpression is computed once.  `TABLE` maps every head of the language to the JAX function it means;
a head that is not in it raises `UnsupportedError` with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program, letters_of

Array = jax.Array
Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Lowered:
    """A program as JAX functions of arrays named like its letters, ``str(letter)``.

    ``argument`` is the letter that stays a variable (x_0); ``activation`` the elementwise σ;
    ``precision`` the matmul precision; ``dimensions`` those that no weight shows (such as the number of tokens);
    ``functions`` what the dynamic parameters A(x) stand for, by the name of A: each takes the matrix x.
    Columns may be given as vectors; a column result is returned as a vector.
    """

    program: Program
    argument: m.Letter
    activation: Callable[[Array], Array]
    precision: str = "highest"
    dimensions: Mapping[Any, int] = field(default_factory=dict)
    functions: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)

    @cached_property
    def merge(self) -> Callable[[Arrays], dict[str, Array]]:
        """weights → hatted parameters: all that `evaluate` needs and that is independent of the argument."""
        return jax.jit(self._merge)

    @cached_property
    def evaluate(self) -> Callable[[Arrays, Array], Array]:
        """(hatted parameters, x_0) → the program's result."""
        return jax.jit(self._evaluate)

    def __call__(self, weights: Arrays, argument: Array) -> Array:
        """evaluate(merge(weights), argument)."""
        return self.evaluate(self.merge(weights), argument)

    def _merge(self, weights: Arrays) -> dict[str, Array]:
        static, _ = self._split
        values = _given([l for l in self.program.inputs if l != self.argument], weights)
        evaluation = _Evaluation(self, values, _dimensions(values, self.dimensions))
        evaluation.run(static)
        return {str(l): evaluation.values[l] for l in self._needed}

    def _evaluate(self, hatted: Arrays, argument: Array) -> Array:
        _, dynamic = self._split
        values = _given(self._needed, hatted) | {self.argument: jnp.asarray(argument)}
        evaluation = _Evaluation(self, values, _dimensions(values, self.dimensions))
        evaluation.run(dynamic)
        result = evaluation.values[self.program.result]
        return result[:, 0] if self.program.result.shape[1] == 1 else result

    @cached_property
    def _split(self) -> tuple[Lines, Lines]:
        return split(self.program, self.argument)

    @cached_property
    def _needed(self) -> tuple[m.Letter, ...]:
        """What the lines that depend on the argument use besides it, and the result if it is no such line."""
        _, dynamic = self._split
        used = dict.fromkeys((*_inputs(dynamic), self.program.result))
        return tuple(l for l in used if l not in dynamic and l != self.argument)


def _given(letters: Sequence[m.Letter], arrays: Arrays) -> dict[m.Letter, Array]:
    """The arrays of the letters.  Raises `InputError` for a missing array and for two letters of one name."""
    names = list(map(str, letters))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two different letters are both written {twice}; wanted a name of its own for each")
    missing = [str(l) for l in letters if str(l) not in arrays]
    if missing:
        raise InputError(f"no array for {', '.join(missing)}; wanted one for each of {', '.join(map(str, letters))}")
    return {l: jnp.asarray(arrays[str(l)]) for l in letters}


Lines = dict[m.Letter, m.Expression]


def _inputs(lines: Lines) -> tuple[m.Letter, ...]:
    used = (l for e in lines.values() for l in letters_of(e) if l not in lines)
    return tuple(dict.fromkeys(used))


def split(program: Program, argument: m.Letter) -> tuple[Lines, Lines]:
    """The lines that do not depend on the argument, and those that do.

    The largest parts of a dependent line that do not depend on the argument become lines of the first kind,
    named by their own text.
    """
    dependent = {argument}
    static: Lines = {}
    dynamic: Lines = {}
    for letter, expression in program.items():
        if any(l in dependent for l in letters_of(expression)):
            dependent.add(letter)
            dynamic[letter] = _hoist(expression, dependent, static)
        else:
            static[letter] = expression
    return static, dynamic


def _hoist(e: m.Expression, dependent: set[m.Letter], static: Lines) -> m.Expression:
    if isinstance(e, m.Letter):
        return e
    if not any(l in dependent for l in letters_of(e)):
        return _named(e, static)
    if isinstance(e, m.RangeSum):
        return e  # below the sum sign a part may depend on the sum's index
    free = lambda p: not any(l in dependent for l in letters_of(p))
    hoist = lambda part: _hoist(part, dependent, static)
    match e:
        case m.Product():
            return m.Product(*map(hoist, _gathered(e.operands, free)))
        case m.Addition():
            return m.Addition(*map(hoist, _sorted_sum(e.operands, free)))
    return e.rebuilt(hoist)


def _named(e: m.Expression, static: Lines) -> m.Expression:
    """A letter for a part that does not depend on the argument (constants and letters stay as they are)."""
    if isinstance(e, m.Letter) or not any(True for _ in letters_of(e)):
        return e
    texts = {str(letter): expression for letter, expression in static.items()}
    names = (m.Letter(str(e), *e.shape, (), (n,) if n else ()) for n in count())
    name = next(name for name in names if texts.get(str(name), e) == e)  # unvec(x) may be two different things
    static[name] = e
    return name


def _gathered(factors: Sequence[m.Expression], free: Callable[[m.Expression], bool]) -> list[m.Expression]:
    """Neighbours that do not depend on the argument as one factor: X E W → X (E W)."""
    runs: list[list[m.Expression]] = []
    for factor in factors:
        if runs and free(factor) and free(runs[-1][-1]):
            runs[-1].append(factor)
        else:
            runs.append([factor])
    return [m.Product(*run) for run in runs]


def _sorted_sum(terms: Sequence[m.Expression], free: Callable[[m.Expression], bool]) -> list[m.Expression]:
    """Terms that do not depend on the argument as one term, first."""
    static, rest = [t for t in terms if free(t)], [t for t in terms if not free(t)]
    return [m.Addition(*static), *rest] if static else rest


# --- dimensions ----------------------------------------------------------------------------------------------------


def _dimensions(values: dict[m.Letter, Array], given: Mapping[Any, int]) -> dict[Any, int]:
    """Solve the letters' symbolic shapes against the arrays' shapes; arrays become two-dimensional in place.

    Raises `ShapeError` naming the array, its shape and the shape its letter has.
    """
    for letter, array in values.items():
        if array.ndim == 1 and letter.shape[1] == 1:
            values[letter] = array[:, None]
        elif array.ndim != 2:
            raise ShapeError(f"the array {letter} has shape {array.shape}; wanted {_written(letter)}")
    pairs = [(size, n, l) for l, a in values.items() for size, n in zip(l.shape, a.shape, strict=True)]
    known: dict[Any, int] = dict(given)
    progress = True
    while progress:
        progress = False
        for size, number, _ in pairs:
            unknown = [s for s in _symbols(size) if s not in known]
            if len(unknown) == 1:
                known[unknown[0]] = _solve(size, number, unknown[0], known)
                progress = True
    for size, _, letter in pairs:
        wanted = [size.xreplace(known) for size in letter.shape]
        if wanted != list(values[letter].shape):
            rows, columns = wanted
            raise ShapeError(
                f"the array {letter} has shape {values[letter].shape}; wanted {_written(letter)} = ({rows}, {columns})"
            )
    return known


def _written(letter: m.Letter) -> str:
    return f"({letter.shape[0]}, {letter.shape[1]})"


def _symbols(size: Any) -> list[Any]:
    indexed = sorted(size.atoms(sympy.Indexed), key=str)
    inside = {s for i in indexed for s in i.free_symbols}
    return indexed + sorted((s for s in size.free_symbols - inside), key=str)


def _solve(size: Any, number: int, symbol: Any, known: dict[Any, int]) -> Any:
    placeholder = sympy.Symbol("unknown")
    equation = size.xreplace(known).xreplace({symbol: placeholder}) - number
    return sympy.solve(equation, placeholder)[0]


# --- evaluation ----------------------------------------------------------------------------------------------------


@dataclass
class _Evaluation:
    lowered: Lowered
    values: dict[Any, Array]
    dimensions: dict[Any, int]

    def __post_init__(self) -> None:
        if self.values:
            _ = self.dtype  # raises here, not where arrays of different dtypes first meet

    def run(self, lines: Lines) -> None:
        for letter, expression in lines.items():
            self.values[letter] = self(expression)

    def __call__(self, e: m.Expression) -> Array:
        if e not in self.values:
            if type(e) not in TABLE:
                raise UnsupportedError(f"the lowering table has no row for the head {type(e).__name__} in {e}")
            self.values[e] = TABLE[type(e)](self, e)
        return self.values[e]

    @cached_property
    def dtype(self) -> Any:
        dtypes = {v.dtype for v in self.values.values()}
        if len(dtypes) != 1:
            raise InputError(f"arrays of different dtypes: {', '.join(sorted(map(str, dtypes)))}; wanted a single one")
        return dtypes.pop()

    def size(self, size: Any) -> int:
        """A symbolic dimension as a number."""
        number = sympy.sympify(sympy.sympify(size).xreplace(self.dimensions))
        if not number.is_Integer:
            raise InputError(f"the dimension {size} is not known; give it in `dimensions`")
        return int(number)

    def scalar(self, c: Any) -> Array:
        """A SymPy scalar in the working dtype; dimensions are put in, roots and quotients are computed there."""
        match c:
            case sympy.Integer():
                return jnp.asarray(int(c), self.dtype)
            case sympy.Rational():
                return jnp.asarray(int(c.p), self.dtype) / jnp.asarray(int(c.q), self.dtype)
            case sympy.Symbol() | sympy.Indexed():
                return jnp.asarray(self.size(c), self.dtype)
            case sympy.Mul():
                return _fold(jnp.multiply, map(self.scalar, c.args))
            case sympy.Add():
                return _fold(jnp.add, map(self.scalar, c.args))
            case sympy.Pow(args=(base, sympy.Integer() as n)):
                power = _fold(jnp.multiply, [self.scalar(base)] * abs(int(n)))
                return power if n > 0 else 1 / power
            case sympy.Pow(args=(base, sympy.Rational(q=2) as n)):
                root = jnp.sqrt(self.scalar(base ** abs(n.p)))
                return root if n > 0 else 1 / root
        raise UnsupportedError(f"the lowering table has no row for the scalar {c} ({type(c).__name__})")

    def multiply(self, left: Array, right: Array) -> Array:
        """One matrix product at the stated precision."""
        return jnp.matmul(left, right, precision=self.lowered.precision)


def _fold(operation: Callable[[Array, Array], Array], values: Iterable[Array]) -> Array:
    first, *rest = values
    for value in rest:
        first = operation(first, value)
    return first


def _product(run: _Evaluation, e: m.Product) -> Array:
    left, *rest = e.operands  # read from the right: every tail of a product is itself shared
    return run.multiply(run(left), run(m.Product(*rest)))


def _selection(run: _Evaluation, e: m.Selection) -> Array:
    rows, columns = map(run.size, e.shape)
    index = run.size(e.args[0])
    if not 0 < index * columns <= rows:
        raise ShapeError(f"slice {index} of {columns} columns lies outside of {rows}; wanted one inside")
    return jnp.eye(rows, columns, k=-columns * (index - 1), dtype=run.dtype)


def _range_sum(run: _Evaluation, e: m.RangeSum) -> Array:
    lower, upper = map(run.size, e.bounds)
    terms = [run(e.at(k)) for k in range(lower, upper + 1)]
    return _fold(jnp.add, terms) if terms else run(m.Zero(*e.shape))


def _dependent(run: _Evaluation, e: m.Dependent) -> Array:
    name, shape = str(e.letter), tuple(map(run.size, e.shape))
    if name not in run.lowered.functions:
        raise InputError(f"no function for {name} in {e}; give it in `functions`")
    value = run.lowered.functions[name](run(e.arg))
    if value.shape != shape:
        raise ShapeError(f"the function {name} returned the shape {value.shape}; wanted {shape}")
    return value


TABLE: dict[type, Callable[[_Evaluation, Any], Array]] = {
    m.Identity: lambda run, e: jnp.eye(run.size(e.shape[0]), dtype=run.dtype),
    m.Zero: lambda run, e: jnp.zeros(tuple(map(run.size, e.shape)), run.dtype),
    m.Ones: lambda run, e: jnp.ones(tuple(map(run.size, e.shape)), run.dtype),
    m.Selection: _selection,
    m.Addition: lambda run, e: _fold(jnp.add, map(run, e.operands)),
    m.Scaled: lambda run, e: run.scalar(e.coefficient) * run(e.arg),
    m.Product: _product,
    m.Transposed: lambda run, e: run(e.arg).T,
    m.Kronecker: lambda run, e: jnp.kron(*map(run, e.operands)),
    m.Vectorised: lambda run, e: run(e.arg).reshape(-1, 1),
    m.Matricised: lambda run, e: run(e.arg).reshape(tuple(map(run.size, e.shape))),
    m.Activation: lambda run, e: run.lowered.activation(run(e.arg)),
    m.RowSoftmax: lambda run, e: jax.nn.softmax(run(e.arg), axis=-1),
    m.Hadamard: lambda run, e: run(e.operands[0]) * run(e.operands[1]),
    m.Diagonal: lambda run, e: jnp.diag(run(e.arg)[:, 0]),
    m.Dependent: _dependent,
    m.RangeSum: _range_sum,
}
"""Head of the language → what it means in JAX.  `Letter` needs no row: its value is given or computed by a line."""
