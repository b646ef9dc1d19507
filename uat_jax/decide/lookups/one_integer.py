"""Integers that are functions of one integer input alone: each is its table of values, and one more letter.

    i % 1000 = i - 1000 * (i // 1000)        (w & 15) = w % 16        clip(i, 0, 31)

Two such functions are the same if their tables are.  What a letter is may be told from what a function of it is, and
the other way round: a case keeps those values of an input only that fit all that is known of its functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jax.typing import DTypeLike

from uat_jax.decide.integers import WHOLE, ends, held
from uat_jax.decide.lookups.differences import LARGEST, ZERO, Differences
from uat_jax.decide.lookups.letters import Letters
from uat_jax.decide.whole_programs import check_primitive
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.typing import Atom

ENTRYWISE = frozenset(
    """abs add and clamp clz convert_element_type copy div eq ge gt integer_pow le lt max min mul ne neg not or
    population_count rem select_n shift_left shift_right_arithmetic shift_right_logical sign square sub xor""".split()
)
"""Primitives of which an entry of the result is computed of the entries at the same place."""

MOVING = frozenset("broadcast_in_dim concatenate copy expand_dims reshape rev slice squeeze stack transpose".split())

LONGEST, MOST = 2**18, 2**22
"""Longer tables are not made, nor more numbers for one equation."""

MOST_TABLES = 64
"""So many functions one equation makes at most."""

MOST_DERIVED = 192
"""More letters of functions are not made."""

MOST_RELATED, LARGEST_MULTIPLE = 12, 2**16
"""Of more functions of a letter no relations are looked for, nor larger multiples: their sums fit into 64 bits."""

MOST_ENTRIES = 2**16
"""Larger arrays are not followed."""


@dataclass(frozen=True)
class Functions:
    """An array of which each entry is a function of one letter: the number of the letter, and of the function.

    The letter 0 is that of constants.
    """

    letter: np.ndarray
    table: np.ndarray


@dataclass(frozen=True, eq=False)
class Derived:
    """Letters that are functions of letters: the number of a letter, and the table of the function of it.

    low: the integer that the first entry of a table belongs to, by letter.
    """

    low: Mapping[int, int]
    of: Mapping[int, tuple[int, np.ndarray]] = field(default_factory=dict)

    @property
    def ends(self) -> list[tuple[int, int]]:
        """The least and the largest value of each."""
        return [(int(table.min()), int(table.max())) for _, table in self.of.values()]

    def fitting(self, known: Differences) -> Differences | None:
        """With what follows for the letters from their functions, and the other way round; None if nothing fits."""
        again = True
        while again:
            again = False
            for base in dict.fromkeys(b for b, _ in self.of.values()):
                tables = {base: self._places(base), **{d: t for d, (b, t) in self.of.items() if b == base}}
                there = np.ones(len(tables[base]), bool)
                for letter, table in tables.items():
                    there &= (-known.most[ZERO, letter] <= table) & (table <= known.most[letter, ZERO])
                for i, j, c in known.unequal:
                    if j == ZERO and i in tables:
                        there &= tables[i] != c
                    if i == ZERO and j in tables:
                        there &= tables[j] != -c
                if not there.any():
                    return None
                for letter, table in tables.items():
                    after = known.with_most(letter, ZERO, int(table[there].max()))
                    after = None if after is None else after.with_most(ZERO, letter, -int(table[there].min()))
                    if after is None:
                        return None
                    again |= after is not known
                    known = after
        return known

    @cached_property
    def relations(self) -> dict[int, tuple[int, dict[int, int]]]:
        """Letters that are sums of multiples of others: the number that is added, and the multiples.

        No such letter stands in the sum of another one.
        """
        found: dict[int, tuple[int, dict[int, int]]] = {}
        for base in dict.fromkeys(b for b, _ in self.of.values()):
            tables = {base: self._places(base), **{d: t for d, (b, t) in self.of.items() if b == base}}
            if len(tables) > MOST_RELATED:
                continue
            for letter in list(tables):
                others = {d: t for d, t in tables.items() if d != letter}
                if (sum_ := _as_sum(tables[letter], others)) is not None:
                    found[letter] = sum_
                    del tables[letter]
        return found

    def _places(self, base: int) -> np.ndarray:
        count = len(next(table for b, table in self.of.values() if b == base))
        return self.low[base] + np.arange(count, dtype=np.int64)


def _as_sum(table: np.ndarray, others: Mapping[int, np.ndarray]) -> tuple[int, dict[int, int]] | None:
    """A table as a number and a sum of whole multiples of others, right at every place; None if none is found."""
    columns = np.stack([np.ones_like(table), *others.values()], axis=1)
    guess, *_ = np.linalg.lstsq(columns.astype(float), table.astype(float), rcond=None)
    whole = np.rint(guess).astype(np.int64)
    if np.abs(whole).max() > LARGEST_MULTIPLE or (columns @ whole != table).any():
        return None
    return int(whole[0]), {d: int(c) for d, c in zip(others, whole[1:], strict=True) if c}


@dataclass
class Tables:
    """All functions that were met, each an array of its values; those of constants have one."""

    arrays: list[np.ndarray] = field(default_factory=list)
    numbers: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def number(self, array: np.ndarray) -> int:
        """The number of a table."""
        array = np.ascontiguousarray(array, np.int64)
        key = (len(array), array.tobytes())
        if key not in self.numbers:
            self.numbers[key] = len(self.arrays)
            self.arrays.append(array)
        return self.numbers[key]

    def constant(self, values: np.ndarray) -> Functions | None:
        """Known integers."""
        values = np.asarray(values).astype(np.int64)
        distinct, inverse = np.unique(values, return_inverse=True)
        if values.size > MOST_ENTRIES or len(distinct) > MOST_ENTRIES:
            return None
        known = np.asarray([self.number(np.asarray([x])) for x in distinct], np.int64)
        return Functions(np.zeros(values.shape, np.int64), known[inverse].reshape(values.shape))


def derived_of(
    programs: Sequence[ClosedJaxpr], places: Mapping[int, Letters], ends_of: Mapping[int, tuple[int, int]]
) -> tuple[Derived, list[dict[Any, Letters]]]:
    """The letters that stand for functions of others, and by program the variables that are arrays of them.

    places: the letters of the inputs of integers.  ends_of: their ranges.
    """
    tables, low, identities = Tables(), {}, {}
    inputs: dict[int, Functions] = {}
    for i, letters in places.items():
        first, last = ends_of[i]
        if last - first >= LONGEST:
            continue
        identity = tables.number(np.arange(first, last + 1))
        identities[identity] = None
        low.update(dict.fromkeys(letters.plus.ravel().tolist(), first))
        inputs[i] = Functions(letters.plus.astype(np.int64), np.full(letters.shape, identity, np.int64))
    found = [_functions(program, inputs, tables) for program in programs]
    count = sum(letters.plus.size for letters in places.values())
    numbers: dict[tuple[int, int], int] = {}
    made: list[dict[Any, Letters]] = []
    for functions in found:
        letters = {v: _letters(f, dtype_of(v), tables, low, numbers, count) for v, f in functions.items()}
        made.append({v: x for v, x in letters.items() if x is not None})
    if len(numbers) > MOST_DERIVED:
        return Derived(low), [{} for _ in programs]
    of = {number: (letter, tables.arrays[table]) for (letter, table), number in numbers.items()}
    return Derived(low, of), made


def _letters(
    functions: Functions,
    dtype: DTypeLike,
    tables: Tables,
    low: Mapping[int, int],
    numbers: dict[tuple[int, int], int],
    count: int,
) -> Letters | None:
    """An array of functions as one of letters; None if one is too large."""
    pairs = list(zip(functions.letter.ravel().tolist(), functions.table.ravel().tolist(), strict=True))
    distinct = dict.fromkeys(pairs)
    arrays = {pair: tables.arrays[pair[1]] for pair in distinct}
    if any(np.abs(array).max() > LARGEST for array in arrays.values()):
        return None
    plus, offset = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    for n, pair in enumerate(pairs):
        array = arrays[pair]
        first = low.get(pair[0], 0)
        if (array == array[0]).all():
            offset[n] = array[0]
        elif (np.diff(array) == 1).all():
            plus[n], offset[n] = pair[0], array[0] - first
        else:
            plus[n] = numbers.setdefault(pair, count + 1 + len(numbers))
    shape = functions.letter.shape
    there = (plus != ZERO).reshape(shape)
    return Letters(
        plus.reshape(shape), np.zeros(shape, np.int64), offset.reshape(shape), there, np.ones(shape, bool), dtype
    )


def _functions(program: ClosedJaxpr, inputs: Mapping[int, Functions], tables: Tables) -> dict[Any, Functions]:
    """What of a program is a function of one integer in every entry; inputs and constants are left out."""
    known: dict[Any, Functions] = {program.jaxpr.invars[i]: functions for i, functions in inputs.items()}
    for v, array in zip(program.jaxpr.constvars, program.consts, strict=True):
        if str(dtype_of(v)) in WHOLE and (constant := tables.constant(np.asarray(array))) is not None:
            known[v] = constant
    computed: dict[Any, Functions] = {}

    def read(atom: Atom) -> Functions | None:
        if not isinstance(atom, Literal):
            return known.get(atom)
        return tables.constant(np.asarray(atom.val)) if str(dtype_of(atom)) in WHOLE else None

    for equation in program.eqns:
        operands = [read(v) for v in equation.invars]
        found = _applied(equation, operands, tables)
        if found is not None:
            known[equation.outvars[0]] = found
            if found.letter.any():
                computed[equation.outvars[0]] = found
    return computed


def _applied(equation: JaxprEqn, operands: Sequence[Functions | None], tables: Tables) -> Functions | None:
    out, name = equation.outvars[0], equation.primitive.name
    if len(equation.outvars) > 1 or str(dtype_of(out)) not in WHOLE or np.prod(shape_of(out)) > MOST_ENTRIES:
        return None
    if name == "iota":
        shape, d = shape_of(out), equation.params["dimension"]
        places = np.arange(shape[d]).reshape([n if k == d else 1 for k, n in enumerate(shape)])
        return tables.constant(np.broadcast_to(places, shape))
    if any(x is None for x in operands) or not operands:
        return None
    given: list[Functions] = [x for x in operands if x is not None]
    if name in MOVING:
        move = lambda arrays: np.asarray(bound(equation, [jax.numpy.asarray(x) for x in arrays], equation.params)[0])
        with jax.enable_x64(True):
            return Functions(move([x.letter for x in given]), move([x.table for x in given]))
    return _entrywise(equation, given, tables) if name in ENTRYWISE else None


def _entrywise(equation: JaxprEqn, operands: Sequence[Functions], tables: Tables) -> Functions | None:
    """An entrywise primitive, once for every tuple of functions that meet in an entry of one letter."""
    try:
        check_primitive(equation)
    except UnsupportedError:
        return None
    shape = shape_of(equation.outvars[0])
    letters = [np.broadcast_to(x.letter, shape) for x in operands]
    letter = np.maximum.reduce(letters)
    if any(((x != 0) & (x != letter)).any() for x in letters):
        return None
    met = np.stack([np.broadcast_to(x.table, shape).ravel() for x in operands], axis=1)
    distinct, inverse = np.unique(met, axis=0, return_inverse=True)
    columns = [[tables.arrays[t] for t in row] for row in distinct.tolist()]
    longest = max((len(x) for row in columns for x in row), default=0)
    if len(distinct) > MOST_TABLES or longest * len(distinct) > MOST:
        return None
    lengths = {max(map(len, row)) for row in columns}
    values = {n: [row for row in columns if max(map(len, row)) == n] for n in lengths}
    numbers: dict[int, int] = {}
    for n, rows in values.items():
        given = []
        for k, v in enumerate(equation.invars):
            there = np.stack([np.broadcast_to(row[k], n) for row in rows])
            given.append(held(there, dtype_of(v)))
        if equation.primitive.name in ("div", "rem") and _is_special(given[0], given[1]):
            return None
        with jax.enable_x64(True):
            found = bound(equation, [jax.numpy.asarray(x) for x in given], equation.params)[0]
        found = np.asarray(found)
        if found.dtype == np.uint64 and (found > np.uint64(LARGEST)).any():
            return None
        places = [i for i, row in enumerate(columns) if max(map(len, row)) == n]
        numbers.update(zip(places, (tables.number(x.astype(np.int64)) for x in found), strict=True))
    table = np.asarray([numbers[int(i)] for i in inverse.ravel()], np.int64).reshape(shape)
    return Functions(letter, table)


def _is_special(numerator: np.ndarray, divisor: np.ndarray) -> bool:
    """Whether a quotient by 0, or one that is too large, is among some."""
    least = ends(numerator.dtype)[0]
    return bool(
        (divisor == 0).any() or ((numerator == least) & (divisor == np.asarray(-1).astype(divisor.dtype))).any()
    )
