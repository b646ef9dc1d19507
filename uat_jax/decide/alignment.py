"""Both programs of a certificate side by side: which of their operations compute the same values, and where they part.

The programs are those that the certificate holds, with their loops unrolled.  Two operations are alike if they are the
same operation of the same values, or if their values agree at one random point of prime fields.  That is a guess for
people to look at: no verdict rests on it.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import jax
import numpy as np
from jax.extend.core import JaxprEqn, Literal, Var

from uat_jax.byte_sizes import parse_bytes
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.effort import MEMORY
from uat_jax.decide.figures import FieldsOfFunctions
from uat_jax.decide.integers import Integers, ends, held
from uat_jax.decide.prime_fields import ATTEMPTS, DEEPEST, PrimeFields
from uat_jax.decide.recheck import hostile, stated_inputs
from uat_jax.errors import BudgetError, UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.flat_program import FlatProgram, flattened_together, program_of
from uat_jax.interpret.interpreter import Numbered, Walk
from uat_jax.interpret.jaxpr_file import decode
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.fields import Fields
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import ZeroDivisorError
from uat_jax.typing import Atom, Parameters

SECONDS, EQUATIONS = 30.0, 100_000
"""What looking for equal values may take: beyond that, only what is written in the same way is alike."""

MOST_OPERATIONS = 10_000
"""Programs of more operations are not put side by side."""

BYTES = 64
"""What the value of an entry takes for each level of the tower, in two copies and with what is made on the way.

Where all values do not fit into the memory that is allowed, only what is written in the same way is alike.
"""

FEW = 4
"""So many entries of a value are written out."""

LONG = 40
"""Settings of an operation that are longer than this are left out."""

SAY_NOTHING = frozenset(["preferred_element_type", "precision", "algorithm", "out_sharding", "sharding"])
"""Settings that say how a device is to compute the value, and not which value."""


class Alike(StrEnum):
    """What is known of the value of an operation."""

    EQUAL = "equal"
    """The operation beside it has the same value."""
    REARRANGED = "rearranged"
    """The operation beside it has the same entries, in other places or in another shape."""
    ELSEWHERE = "elsewhere"
    """An operation of the other program, which does not stand beside it, has the same entries."""
    OWN = "own"
    """The other program never computes it."""
    PARTED = "parted"
    """The other program never computes it, nor anything that both compute from it: it leads to a different output."""
    UNKNOWN = "unknown"
    """It was not compared: prime fields cannot follow it, or there was no time."""


@dataclass(frozen=True)
class Computed:
    """One operation of a program, for people.

    number: its place in its program, from 1.  text: the operation with its operands.  type: of its results.
    line: file:line of the user's code, or ''.  alike: what is known of its value.  other: the number of an operation of
    the other program with the same entries, or None.  value: what it is at the counterexample, or ''.
    """

    number: int
    text: str
    type: str
    line: str
    alike: Alike
    other: int | None = None
    value: str = ""


Row = tuple[Computed | None, Computed | None]
"""An operation of the left program and one of the right; None where one stands alone."""


@dataclass(frozen=True)
class Alignment:
    """Two programs side by side.

    rows: all operations of both, in order.  outputs: what each returns.  reason: why there are no rows, or why values
    were not compared, or ''.
    """

    rows: tuple[Row, ...]
    outputs: tuple[str, str] = ("", "")
    reason: str = ""

    @property
    def parted(self) -> Row:
        """The first operation of each program that leads to a different output.

        None of programs that are equal, and where a program returns what the other one goes on from.
        """
        left, right = (
            next((o for row in self.rows if (o := row[side]) and o.alike is Alike.PARTED), None) for side in range(2)
        )
        return left, right


def aligned(certificate: Certificate) -> Alignment:
    """The programs of a certificate of two functions side by side, at the sizes of its counterexample or its largest.

    Args:
        certificate: of two functions; it may come from a file that is not trusted.

    Returns:
        Both programs; without rows, and with a reason, if the certificate holds none or they are too long.

    Example:
        aligned(uj.certify(f, g, spec)).rows
    """
    try:
        with hostile():
            data = stored(certificate)
            if "missing" in data:
                return Alignment((), reason=str(data["missing"]))
            return _Pair(certificate, data).alignment()
    except (UatJaxError, MemoryError, RecursionError) as error:
        return Alignment((), reason=str(error) or type(error).__name__)


def stored(certificate: Certificate) -> Mapping[str, Any]:
    """The programs at the sizes of the counterexample, or at the last ones; why there are none, as `missing`."""
    programs, found = certificate.claim.get("programs"), certificate.counterexample
    if certificate.claim.get("id") != "equivalence" or not programs:
        return {"missing": "the certificate holds no programs of two functions"}
    return next((p for p in programs if found is not None and p["sizes"] == dict(found.sizes)), programs[-1])


@dataclass
class _Values:
    """What values are at a random point: two variables of equal `entries` have the same in some order, and of equal
    `arrays` in the same places.  A variable whose value is not known is equal to itself alone.
    """

    entries: dict[Any, int] = field(default_factory=dict)
    arrays: dict[Any, int] = field(default_factory=dict)

    def keep(self, variable: Var, value: Any) -> None:
        """Keep the value of a variable, if it is a number or an array."""
        words = _words(value)
        if words is not None:
            shape = shape_of(variable)
            self.entries[variable] = hash((words.size, int(words.sum(dtype=np.uint64))))
            self.arrays[variable] = hash((shape, words.tobytes()))

    def of(self, equation: JaxprEqn, known: Mapping[Any, int]) -> Any:
        """The key of the first result of an equation."""
        return known.get(equation.outvars[0], equation.outvars[0])


class _Pair:
    """The programs of a certificate, and what they take."""

    def __init__(self, certificate: Certificate, data: Mapping[str, Any]):
        self.certificate = certificate
        self.end = Deadline(time.monotonic() + SECONDS, EQUATIONS, memory=parse_bytes(MEMORY))
        left, right = flattened_together([decode(data["left"]), decode(data["right"])], self.end)
        self.programs, self.inputs = (left, right), left.inputs
        self.domains = stated_inputs(certificate.claim).domains
        example = certificate.counterexample
        given = example.inputs if example and len(example.inputs) == len(self.inputs) else ()
        self.arrays = example.arrays if example and given else None
        names = [of.name.replace("input ", "x") for of in given] or _names(len(self.inputs))
        self.names = dict(zip(self.inputs, names, strict=True))

    def alignment(self) -> Alignment:
        """Both programs side by side."""
        longest = max(len(p.equations) for p in self.programs)
        if longest > MOST_OPERATIONS:
            return Alignment((), reason=f"a program has {longest} operations; {MOST_OPERATIONS} are shown at most")
        values, reason = self.values()
        at_example = self.at_counterexample()
        sides = [self.operations(side, values, at_example) for side in range(2)]
        outputs = [", ".join(self.written(side, atom) for atom in p.outputs) for side, p in enumerate(self.programs)]
        return Alignment(tuple(self.rows(sides[0], sides[1], values)), (outputs[0], outputs[1]), reason)

    # Values

    @property
    def entries(self) -> int:
        """How many entries both programs compute."""
        return sum(math.prod(shape_of(v)) for p in self.programs for e in p.equations for v in e.outvars)

    def values(self) -> tuple[_Values, str]:
        """The values at a random point of prime fields, and why they were not compared, or ''."""
        for attempt in range(ATTEMPTS):
            found = _Values()
            try:
                self.at_random(attempt, found)
                return found, ""
            except ZeroDivisorError:
                continue
            except BudgetError:
                return found, "values were compared as far as the time allowed"
            except UatJaxError as error:
                return _Values(), f"values were not compared: {error}"
        return _Values(), "values were not compared: a divisor vanishes at every random point"

    def at_random(self, attempt: int, found: _Values) -> None:
        """Find the values at one random point.

        Raises:
            ZeroDivisorError: a divisor vanishes there.
            BudgetError: the time is up; what was found by then is kept.
        """
        left, right = (program_of(p.constants, p.inputs, p.outputs, p.equations) for p in self.programs)
        fields = PrimeFields(left, right, self.certificate.settings["seed"], deadline=self.end, domains=self.domains)
        laws, seed = self.laws(fields), (fields.seed, 31, attempt)
        depth = fields.depth.written if "exponential form" in laws else fields.depth.plain
        positive = any(not isinstance(d, Integers) and d.positive for d in self.domains.of)
        depth = min(DEEPEST, depth + positive)
        self.end.hold(BYTES * self.entries * (depth + 1), "the values of both programs")
        functions = fields.functions((2,) * (depth + 1), seed, laws)
        arithmetic = Fields(functions, fields.meeting, self.end, selects=fields.selects)
        random = np.random.default_rng(seed)
        given = [
            fields.input(functions, i, shape_of(v)) if is_number(v) else _integers(random, self.domains[i], v)
            for i, v in enumerate(self.inputs)
        ]
        self.walk(arithmetic, given, found.keep)

    def laws(self, fields: PrimeFields) -> frozenset[str]:
        """The laws under which the certificate was decided, or those under which values are looked at first.

        These take constants for what they stand for: 8^-½ and 1/√8 are no difference that refutes.
        """
        figures = [e.figures for e in self.certificate.evidence]
        decided = next((frozenset(f.laws) for f in figures if isinstance(f, FieldsOfFunctions)), None)
        if decided:
            return fields.laws & decided
        return fields.laws_of_fingerprints(frozenset(), exponential_form=False) | fields.laws & {"constants as meant"}

    def at_counterexample(self) -> dict[Var, str]:
        """What values are at the counterexample, in float64, as far as that can be followed."""
        found: dict[Var, str] = {}
        if self.arrays is None:
            return found
        arithmetic = Doubles()
        arithmetic.deadline = Deadline(time.monotonic() + SECONDS, EQUATIONS, memory=self.end.memory)

        def keep(variable: Var, value: Any) -> None:
            found[variable] = _shown(np.asarray(value)[0] if is_number(variable) else np.asarray(value))

        pairs = zip(self.arrays, self.inputs, strict=True)
        with contextlib.suppress(UatJaxError):  # such as that the time is up: what was reached is shown
            self.walk(arithmetic, [arithmetic.number(x) if is_number(v) else x for x, v in pairs], keep)
        return found

    def walk(self, arithmetic: Any, given: Sequence[Any], keep: Callable[[Var, Any], None]) -> None:
        """Evaluate both programs, what they share once; what cannot be followed has no value."""
        walk = Walk(arithmetic)
        with jax.enable_x64(True), np.errstate(all="ignore"):
            values = {v: walk.argument(v, x) for v, x in zip(self.inputs, given, strict=True)}
            for program in self.programs:
                for equation in program.equations:
                    if equation.outvars[0] not in values:
                        results = _results(walk, program, equation, values)
                        values.update(zip(equation.outvars, results, strict=False))
                        for variable, (_, value) in zip(equation.outvars, results, strict=False):
                            keep(variable, value)

    # Operations

    def operations(self, side: int, values: _Values, at_example: Mapping[Var, str]) -> list[Computed]:
        """The operations of one program, and what is known of their values."""
        program, other = self.programs[side], self.programs[1 - side]
        there = {values.of(e, values.entries): place for place, e in reversed([*enumerate(other.equations)])}
        matches = [there.get(values.of(e, values.entries)) for e in program.equations]
        # Where only the places of entries differ, no entries do.
        parted = self.parted(side, values, values.entries) or self.parted(side, values, values.arrays)

        def alike(place: int, equation: JaxprEqn) -> Alike:
            if place in parted:
                return Alike.PARTED
            if matches[place] is not None:
                return Alike.ELSEWHERE
            return Alike.OWN if equation.outvars[0] in values.entries else Alike.UNKNOWN

        return [
            Computed(
                place + 1,
                self.operation(side, equation),
                ", ".join(map(_type, equation.outvars)),
                str(equation.source_info.name_stack),
                alike(place, equation),
                None if (match := matches[place]) is None else match + 1,
                at_example.get(equation.outvars[0], ""),
            )
            for place, equation in enumerate(program.equations)
        ]

    def parted(self, side: int, values: _Values, known: Mapping[Any, int]) -> set[int]:
        """The places of operations of one program that lead to a different output, and to no value that both have."""
        program = self.programs[side]
        there = {values.of(e, known) for e in self.programs[1 - side].equations}
        both = [v for e in program.equations if values.of(e, known) in there for v in e.outvars]
        leads_to_both = set(program.cone(both, ()))
        found = set(program.cone(self.different(side, values), both)) - leads_to_both
        return {place for place in found if program.equations[place].outvars[0] in values.entries}

    def different(self, side: int, values: _Values) -> list[Var]:
        """The outputs of one program that are not those of the other, unless the certificate says that they are."""
        if self.certificate.passes:
            return []
        own, others = self.programs[side].outputs, self.programs[1 - side].outputs
        same = lambda a, b: values.arrays.get(a, a) == values.arrays.get(b, b)
        return [a for a, b in zip(own, others, strict=True) if not isinstance(a, Literal) and not _same(a, b, same)]

    def rows(self, left: Sequence[Computed], right: Sequence[Computed], values: _Values) -> Iterator[Row]:
        """The operations beside each other: equal arrays in one row, and between these equal entries."""
        for alone, other, equal in _beside(left, right, [self.keys(side, values, values.arrays) for side in range(2)]):
            if equal:
                yield _alike(alone[0], other[0], Alike.EQUAL)
                continue
            keys = [self.keys(side, values, values.entries, ops) for side, ops in enumerate((alone, other))]
            for one, another, rearranged in _beside(alone, other, keys):
                if rearranged:
                    yield _alike(one[0], another[0], Alike.REARRANGED)
                else:
                    yield from itertools.zip_longest(one, another)

    def keys(
        self, side: int, values: _Values, known: Mapping[Any, int], among: Sequence[Computed] | None = None
    ) -> list[Any]:
        """What is equal for operations of equal values, of all operations of a program or of some."""
        equations = self.programs[side].equations
        chosen = equations if among is None else [equations[o.number - 1] for o in among]
        return [values.of(e, known) for e in chosen]

    def operation(self, side: int, equation: JaxprEqn) -> str:
        """An operation with its operands, and the settings that decide its value."""
        operands = [self.written(side, atom) for atom in equation.invars]
        return " ".join([equation.primitive.name, *operands, *_settings(equation.params)])

    def written(self, side: int, atom: Atom) -> str:
        """An operand: an input by its name, a number, or the operation that computes it."""
        program = self.programs[side]
        if isinstance(atom, Literal):
            return _shown(np.asarray(atom.val))
        if atom in self.names:
            return self.names[atom]
        if atom in program.constants:
            array = np.asarray(program.constants[atom])
            return _shown(array) if array.size == 1 else f"constant:{_type(atom)}"
        place = program.producer[atom]
        results = program.equations[place].outvars
        return f"%{place + 1}" + (f".{results.index(atom)}" if len(results) > 1 else "")


def _beside(
    left: Sequence[Computed], right: Sequence[Computed], keys: Sequence[Sequence[Any]]
) -> Iterator[tuple[Sequence[Computed], Sequence[Computed], bool]]:
    """Pairs of operations with equal keys, as many as their order allows, and what stands between them."""
    i = j = 0
    for block in difflib.SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks():
        if i < block.a or j < block.b:
            yield left[i : block.a], right[j : block.b], False
        for place in range(block.size):
            yield [left[block.a + place]], [right[block.b + place]], True
        i, j = block.a + block.size, block.b + block.size


def _alike(left: Computed, right: Computed, alike: Alike) -> Row:
    """Two operations in one row; one that leads to a different output remains marked."""
    kept = lambda o: o.alike if o.alike is Alike.PARTED else alike
    return replace(left, alike=kept(left), other=right.number), replace(right, alike=kept(right), other=left.number)


def _names(count: int) -> list[str]:
    """The names of inputs that have none in the certificate."""
    return ["x"] if count == 1 else [f"x{i}" for i in range(count)]


def _results(walk: Walk, program: FlatProgram, equation: JaxprEqn, values: dict[Any, Numbered]) -> list[Numbered]:
    """The results of an equation, or none if it cannot be followed.  Raises `ZeroDivisorError` and `BudgetError`."""
    operands = []
    for atom in equation.invars:
        if not isinstance(atom, Literal) and atom not in values and atom in program.constants:
            values[atom] = walk.constant(atom, program.constants[atom])
        if not isinstance(atom, Literal) and atom not in values:
            return []
        operands.append(walk.literal(atom) if isinstance(atom, Literal) else values[atom])
    try:
        return walk.equation(equation, operands)
    except ZeroDivisorError:
        raise
    except UatJaxError:
        if walk.arithmetic.deadline is not None:
            walk.arithmetic.deadline.check()
        return []


def _integers(random: np.random.Generator, domain: Any, variable: Var) -> np.ndarray:
    """Random integers of the range of an input."""
    dtype = dtype_of(variable)
    low, high = (domain.low, domain.high) if isinstance(domain, Integers) else ends(dtype)
    return held(random.integers(low, min(high, 2**62), shape_of(variable), endpoint=True), dtype)


def _words(value: Any) -> np.ndarray | None:
    """A 64-bit word for each entry of a value, in a row; None of what is no array of numbers."""
    if isinstance(value, Number):
        words = np.zeros(value.residues.levels[0].shape[1:], np.uint64)
        for copy in value.residues.levels[0].astype(np.uint64):
            words = _mixed(words, copy)
        special = value.special if value.special is not None else np.zeros((), np.int8)
        return _mixed(words, special.astype(np.uint64)).ravel()
    if isinstance(value, np.ndarray | np.generic | jax.Array) and np.asarray(value).dtype.kind in "biu":
        return _mixed(np.zeros(np.shape(value), np.uint64), np.asarray(value).astype(np.uint64)).ravel()
    return None


def _mixed(words: np.ndarray, more: np.ndarray) -> np.ndarray:
    words = np.multiply(words ^ more, np.uint64(0x9E3779B97F4A7C15))
    return words ^ (words >> np.uint64(31))


def _same(a: Any, b: Any, of_variables: Callable[[Any, Any], bool]) -> bool:
    """Whether two outputs are the same: variables, or a number that is written."""
    if isinstance(a, Literal) or isinstance(b, Literal):
        return isinstance(a, Literal) and isinstance(b, Literal) and np.array_equal(a.val, b.val, equal_nan=True)
    return of_variables(a, b)


def _type(atom: Atom) -> str:
    """Such as f32[4,8]."""
    return atom.aval.str_short(short_dtypes=True)


def _settings(parameters: Parameters) -> Iterator[str]:
    """The parameters of an operation that are short, but for those that say nothing."""
    for name, value in sorted(parameters.items()):
        text = str(value).replace(" ", "")
        if name not in SAY_NOTHING and value not in (None, False, ()) and len(text) <= LONG and "\n" not in text:
            yield f"{name}={text}"


def _shown(array: np.ndarray) -> str:
    """A value in a few signs: its entries, or its shape with the first of them."""
    number = lambda x: f"{float(x):.6g}" if array.dtype.kind not in "biu" else str(x)
    first = ", ".join(number(x) for x in array.ravel()[:FEW])
    return first if array.size == 1 else f"[{first}{', …' if array.size > FEW else ''}]"
