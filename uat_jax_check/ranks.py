"""Decides ranks: bounds by the factors of a term, numbers that are reached by whole matrices, and minors in balls.

rank(X Y) ≤ rank X, rank Y    rank(X + Y) ≤ rank X + rank Y    rank(X ⊗ Y) ≤ rank X · rank Y    rank X ≤ rows, columns
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat

from uat_jax_check import arrays, exhibits, pairs
from uat_jax_check import terms as l
from uat_jax_check.balls import Balls
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.equations import Side, definitions, equal, names
from uat_jax_check.evaluation import PRIME, Evaluation, Matrix, Point, Unfit
from uat_jax_check.letters import apart, inside, place, put
from uat_jax_check.shapes import fitting, letters_fit, whole_sizes
from uat_jax_check.supports import summed
from uat_jax_check.terms import ONE, Poly, Symbols, scalar_text, symbol, text

MOST = 256
"""So many bounds of one term are looked at."""
PRECISIONS = (256, 1024, 4096)


# --- bounds for all sizes --------------------------------------------------------------------------------------------


def bounds(t: tuple, symbols: Symbols, env: Mapping[str, Poly]) -> set[Poly]:
    """Upper bounds of the rank of a term."""
    head, *parts = t
    of = lambda x: bounds(x, symbols, env)
    found = set(fitting(t, symbols, env))
    match head:
        case "@":
            found |= set().union(*map(of, parts))
        case "+":
            found |= _combined(map(of, parts), lambda a, b: a + b)
        case "kron":
            found |= _combined(map(of, parts), lambda a, b: a * b)
        case "." | "T":
            found |= of(parts[-1])
        case "sum":
            body, index, lower, upper = parts
            atom = ("b", -7, (index, len(env)))
            first = symbols.scalar(lower, env)
            n = symbols.number_of_terms(first, symbols.scalar(upper, env))
            terms = bounds(body, symbols, {**env, index: first - ONE + symbol(atom)})
            found |= {total(p, atom, n) for p in terms}
    usable(len(found) <= MOST, "a term has hundreds of bounds")
    return found


def _combined(sets: Iterable[set[Poly]], join: Callable[[Poly, Poly], Poly]) -> set[Poly]:
    first, *others = sets
    for other in others:
        usable(len(first) * len(other) <= MOST, "a term has hundreds of bounds")
        first = {join(a, b) for a, b in itertools.product(first, other)}
    return first


def total(p: Poly, atom: Any, n: Poly) -> Poly:
    """Σ p over an index from 1 to n; a monomial with a member of a family D_k in it is a sum that is not worked out."""
    plain, found = {}, Poly()
    for m, c in p:
        if any(atom in inside(a) and a != atom for a, _ in m):
            one = put(Poly([(m, Fraction(1))]), {atom: symbol(("b", -8, "Σ"))})
            found = found + Poly([(frozenset([(("Σ", one, n), Fraction(1))]), c)])
        else:
            plain[m] = c
    return found + summed(Poly(plain.items()), atom, ONE, n)


def _read(s: Any) -> Any:
    """A bound: a number, or Σ of one."""
    if isinstance(s, list) and len(s) == 5 and s[0] == "sum":
        return ("sum", l.scalar(s[1]), l.name(s[2]), l.scalar(s[3]), l.scalar(s[4]))
    return l.scalar(s)


def _claimed(s: Any, symbols: Symbols) -> Poly:
    if not isinstance(s, tuple) or s[0] != "sum":
        return symbols.scalar(s, {})
    _, body, index, lower, upper = s
    usable(index not in symbols.kinds, f"the index {index} is a symbol as well")
    atom = ("b", -7, (index, 0))
    first = symbols.scalar(lower, {})
    n = symbols.number_of_terms(first, symbols.scalar(upper, {}))
    return total(symbols.scalar(body, {index: first - ONE + symbol(atom)}), atom, n)


def rank_bound(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """The rank of a matrix is at most a number, for all sizes and letters: it is written so that its factors show it.

    Raises:
        Refused: what is written is another matrix.
        NotDecided: it does not show the bound.
    """
    matrix, written, bound = l.term(data["matrix"]), l.term(data["written"]), _read(data["bound"])
    where = definitions(data["definitions"], symbols)
    fitting(matrix, symbols)
    assumed: list[str] = []
    if l.numbered(matrix) != l.numbered(written) or where:
        assumed = equal(Side(matrix, where), Side(written, where), symbols)
    else:
        letters_fit([matrix], symbols)
    claimed, shown = _claimed(bound, symbols), bounds(written, symbols, {})
    weaker = lambda p: not any(a[0] == "Σ" for m, _ in claimed - p for a, _ in m) and symbols.nonnegative(claimed - p)
    if claimed not in shown and not any(map(weaker, shown)):
        raise NotDecided(f"{text(written)[:200]} does not show a rank of at most {scalar_text(bound)}")
    letters = dict.fromkeys(text(x, shapes=True) for t in (matrix, written) for x in l.letters(t))
    lines = [f"rank({text(matrix)}) ≤ {scalar_text(bound)}, as it is {text(written)}", *(f"  where {d}" for d in where)]
    return [*lines, *symbols.said(), f"  with {', '.join(letters)}", *(f"  assumed: {a}" for a in assumed)]


# --- numbers that are reached ----------------------------------------------------------------------------------------


class Given(Evaluation):
    """A term at whole matrices that stand in the file, modulo the prime."""

    def __init__(self, symbols: Symbols, letters: Mapping[tuple, Matrix]) -> None:
        super().__init__(Point(symbols), ())
        self.given = letters

    def letter(self, t: tuple, env: Mapping[str, int]) -> Matrix:
        """The matrix of the file that is the letter."""
        key, shape = self.key(t, env)
        if key not in self.given:
            raise Refused(f"{text(t)} has no value in the file")
        found = self.given[key]
        if (len(found), len(found[0])) != shape:
            raise Refused(f"{text(t)} has another shape than its value in the file")
        return found


RATIONAL = {"L", "I", "0", "1", "E", "+", "@", ".", "T", "kron", "vec", "unvec", "had", "diag", "sum"}


def rank_reached(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """At the whole matrices of the file a term has at least a rank: modulo a prime elimination finds so many pivots.

    Raises:
        Refused: it finds fewer, or a letter has no value.
    """
    matrix, wanted = l.term(data["matrix"]), data["rank"]
    usable(type(wanted) is int and wanted >= 1, "the rank is no number")
    usable(isinstance(data["letters"], list), "the letters are no list")
    if not l.heads(matrix) <= RATIONAL:
        raise NotDecided("a rank of a matrix with functions in it")
    sizes, rest = whole_sizes(data["at"], symbols)
    fixed, values, places = l.replaced(matrix, sizes), {}, []
    if free_numbers(fixed, frozenset()) or any(kind != "number" for kind in rest.kinds.values()):
        raise NotDecided("a number, or a size, that has no value in the file")
    for entry in data["letters"]:
        usable(isinstance(entry, dict) and entry.keys() == {"letter", "is"}, "a letter has other fields")
        letter = l.term(entry["letter"])
        usable(letter[0] == "L", "something else than a letter has a value")
        key = Given(rest, {}).key(letter, {})[0]
        low, high = ([rest.scalar(s, {}) for s in part] for part in letter[4:6])
        where = place(letter[1], low, high, {})
        usable(all(apart(where, other, rest) for other in places), "a letter has two values")
        places.append(where)
        values[key] = [[x % PRIME for x in row] for row in whole(entry["is"])]
    try:
        entries = Given(rest, values)(fixed, {})
    except Unfit as error:
        raise Refused(f"the matrix is not defined: {error}") from None
    found = pivots(entries)
    if found < wanted:
        raise Refused(f"elimination finds {found} pivots, wanted {wanted}")
    shown = ", ".join(f"{n} = {v}" for n, v in sizes.items())
    given = [f"  {text(l.term(e['letter']))} = {e['is']}" for e in data["letters"]]
    return [f"rank({text(matrix)}) ≥ {wanted} for these letters{f' at {shown}' if shown else ''}", *given]


def free_numbers(t: tuple, indices: frozenset[str]) -> bool:
    """Whether a symbol that has no value stands in a term, outside the indices of letters."""
    inner = indices | {t[2]} if t[0] == "sum" else indices
    held = [s for kind, s in l.parts_of(t) if kind == "s"]
    return bool(names(("I", ("+", 0, 0, *held))) - inner) or any(
        free_numbers(part, inner) for kind, part in l.parts_of(t) if kind == "t"
    )


def whole(data: Any) -> Matrix:
    """A matrix of whole numbers."""
    usable(isinstance(data, list) and data and all(isinstance(row, list) and row for row in data), "it is no matrix")
    usable(all(len(row) == len(data[0]) and all(type(x) is int for x in row) for row in data), "it is no whole matrix")
    return data


def pivots(matrix: Matrix) -> int:
    """How many pivots elimination modulo the prime finds: not more than the rank over the rationals."""
    rest, found = [list(row) for row in matrix], 0
    usable(len(rest) * len(rest[0]) * min(len(rest), len(rest[0])) < 2**24, "elimination takes millions of steps")
    for column in range(len(rest[0])):
        row = next((r for r in range(found, len(rest)) if rest[r][column]), None)
        if row is None:
            continue
        rest[found], rest[row] = rest[row], rest[found]
        inverse = pow(rest[found][column], -1, PRIME)
        for r in range(found + 1, len(rest)):
            factor = rest[r][column] * inverse % PRIME
            if factor:
                rest[r] = [(x - factor * y) % PRIME for x, y in zip(rest[r], rest[found], strict=True)]
        found += 1
    return found


# --- minors of programs ----------------------------------------------------------------------------------------------


def minor(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """The result of a program at an input, a matrix, has at least a rank: the minor of the file is not 0, in balls.

    Raises:
        NotDecided: the ball of the determinant holds 0.
    """
    usable(not symbols.kinds, "a program has no symbols")
    program, points, shown = exhibits.at_inputs(data["program"], data["inputs"])
    rows, columns = (_places(data[k]) for k in ("rows", "columns"))
    usable(len(rows) == len(columns) > 0, "the minor is not square")
    values = [determinant(program, points, rows, columns, reader) for reader in (pairs.written, pairs.Meant())]
    return [
        f"the result of a program at {shown} has at least the rank {len(rows)}: the minor of the rows {rows} and the "
        f"columns {columns}, counted from 0, is {values[0].str(10)}",
        *exhibits.made_of(program),
    ]


def _places(data: Any) -> list[int]:
    usable(isinstance(data, list) and all(type(i) is int and i >= 0 for i in data), "places are no list of numbers")
    usable(len(set(data)) == len(data) <= 64, "a place stands twice, or there are many")
    return data


def determinant(program: Any, points: Any, rows: Any, columns: Any, reader: Any) -> arb:
    """A minor of the one output of a program, which is surely not 0."""
    for bits in PRECISIONS:
        with pairs.precision.workprec(bits):
            try:
                outputs = pairs.Machine(Balls(), program, reader).run(points)
            except pairs.Undecided:
                continue
            usable(len(outputs) == 1 and len(outputs[0].shape) == 2, "the program does not return one matrix")
            shape = outputs[0].shape
            usable(max(rows) < shape[0] and max(columns) < shape[1], "the minor is not in the matrix")
            entry = lambda i, j, of=outputs[0], shape=shape: of.entries[arrays.flat([i, j], arrays.strides(shape))]
            entries = [[entry(i, j) for j in columns] for i in rows]
            if any(v is pairs.UNDEFINED or type(v) is float for v in outputs[0].entries):
                raise Refused("the matrix has an entry that is undefined, or infinite")
            lifted = [[Balls().lift(Fraction(v) if type(v) is int else v) for v in row] for row in entries]
            found = arb_mat(lifted).det()
            if found.is_finite() and not found.contains(0):
                return found
    raise NotDecided("whether the minor is 0")
