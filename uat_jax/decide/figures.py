"""The figures of evidence: what a method found, as one small record for each kind of finding.

A record is written to a certificate as the JSON object of its fields, and is read back from the fields alone; anything
else in a file is refused.  Like that object it can be read by names: ``figures["log2_error"]``.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from uat_jax.decide.float_comparison import FloatComparison
from uat_jax.decide.prime_fields import Round
from uat_jax.decide.sampling import Seen
from uat_jax.interpret.recognition import ConstantReading


@dataclass(frozen=True)
class Figures(Mapping[str, Any]):
    """No figures; the base of all records.  Fields that are None by default are left out of a file where they are."""

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps."""
        fields = [f for f in dataclasses.fields(self) if getattr(self, f.name) is not None or f.default is not None]
        return {_written_name(f): _data(getattr(self, f.name)) for f in fields}

    def __getitem__(self, name: str) -> Any:
        return self.as_data()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_data())

    def __len__(self) -> int:
        return len(self.as_data())


# Equations and programs


@dataclass(frozen=True)
class Equation(Figures):
    """One step of a proof; where: the definitions that were unfolded in it."""

    name: str
    equation: str
    latex: str
    where: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Proof(Figures):
    """The equations that hold, the one that does not, and the program that they derive, where there are such."""

    steps: tuple[Equation, ...]
    fails: str | None = None
    program: str | None = None
    program_latex: str | None = None


@dataclass(frozen=True)
class Written(Figures):
    """The executed program."""

    program: str
    program_latex: str


@dataclass(frozen=True)
class WrongWord(Written):
    """The executed program, the first word of its normal form that is wrong, the right one, and where it stands."""

    wrong_word: str
    right_word: str
    where: str


@dataclass(frozen=True)
class Depths(Figures):
    """At which depths two forms are equal, and what is wrong at the first at which they are not."""

    exact_depths: tuple[int, ...]
    first_failure: int | None
    wrong_word: str | None = None
    right_word: str | None = None
    where: str | None = None
    program: str | None = None
    program_latex: str | None = None
    exact_depths_with_identity_skip: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Equations(Figures):
    """Equations between expressions, by name."""

    equations: Mapping[str, str]


# Prime fields and balls


@dataclass(frozen=True)
class Fields(Figures):
    """What all evidence from prime fields states: log₂ of the chance of error, whether by a theorem, in what limbs."""

    log2_error: float
    theorem: bool
    limbs: Mapping[str, str]


@dataclass(frozen=True)
class FieldsAtSizes(Fields):
    """A confirmation at some sizes; digits to which exact values agree, at so many points."""

    sizes: Mapping[str, int]
    digits: int | None = None
    points: int | None = None


@dataclass(frozen=True)
class FieldsOfSteps(Fields):
    """The confirmation of the steps of a proof, each as a line; the error is the largest of theirs."""

    confirmed: tuple[str, ...]


@dataclass(frozen=True)
class FieldsOfFunctions(Fields):
    """A comparison of two functions, with all that its chance of error is computed from."""

    derivation: str
    condition: str
    readings: int
    laws: tuple[str, ...]
    constants: tuple[ConstantReading, ...]
    rounds: tuple[Round, ...]
    sample: Seen
    almost_everywhere: bool
    parting: str = ""
    """Where the programs part, if they are not equal as formal expressions."""


@dataclass(frozen=True)
class PieceOfLoops:
    """One comparison in a proof about loops: of what, and log₂ of its chance of error, as for `FieldsOfFunctions`.

    rounds: none where both sides are the same program.
    """

    what: str
    log2_error: float
    readings: int
    rounds: tuple[Round, ...]


@dataclass(frozen=True)
class PieceFigures:
    """One pair of programs between cuts, and how often it occurs; log₂ of its chance of error, and what that rests on.

    left, right: the source lines of both sides, from and to.  equations: how many both have.
    """

    left: str
    right: str
    equations: tuple[int, int]
    count: int
    seconds: float
    digests: tuple[str, str]
    log2_error: float
    readings: int
    laws: tuple[str, ...]
    rounds: tuple[Round, ...]


@dataclass(frozen=True)
class FieldsOfLoops(Fields):
    """A proof by induction over the steps of loops; relations, tests: how many were tried, whatever came of it."""

    derivation: str
    condition: str
    constants: tuple[ConstantReading, ...]
    pieces: tuple[PieceOfLoops, ...]
    relations: int
    tests: int


@dataclass(frozen=True)
class PieceInNormalForm:
    """One pair of programs between cuts that are too wide to be evaluated and have one normal form.

    As `PieceFigures`; divisors, lengths, reason: as `InNormalForm`.
    """

    left: str
    right: str
    equations: tuple[int, int]
    count: int
    seconds: float
    digests: tuple[str, str]
    divisors: tuple[str, ...]
    lengths: tuple[int, ...]
    reason: str


ARRAY_BY_ARRAY = "array by array"
"""How programs are compared that can hardly be cut."""


@dataclass(frozen=True)
class PiecesInNormalForm(Figures):
    """A proof in pieces, each of which has one normal form, or is one program on both sides.

    `way` is explained at `FieldsOfPieces`.
    """

    wide: tuple[PieceInNormalForm, ...]
    way: str | None = None


@dataclass(frozen=True)
class FieldsOfPieces(Fields):
    """A comparison of two functions in pieces; tests: how many comparisons were made, equal or not.

    wide: the pieces that are too wide to be evaluated.  way: `ARRAY_BY_ARRAY` if the pieces lie between single arrays
    of both programs, None if each piece begins where the one before it ends.
    """

    derivation: str
    condition: str
    constants: tuple[ConstantReading, ...]
    pieces: tuple[PieceFigures, ...]
    tests: int
    sample: Seen
    wide: tuple[PieceInNormalForm, ...] | None = None
    way: str | None = None


@dataclass(frozen=True)
class Agreed(Figures):
    """Exact values that agree to so many digits at so many points, with some constants read as other numbers."""

    points: int
    digits: int
    constants: tuple[ConstantReading, ...]


@dataclass(frozen=True)
class Skipped(Figures):
    """Sizes that were not looked at, each with the reason."""

    skipped: tuple[str, ...]


@dataclass(frozen=True)
class AllSizes(Figures):
    """A proof for all sizes: divisors that were cancelled and may vanish, though on a set of measure zero at most; and
    comparisons of sizes, each of which was looked at in both cases."""

    divisors: tuple[str, ...]
    cases: tuple[str, ...]


@dataclass(frozen=True)
class CutOff(Figures):
    """Equality at all sizes by Theorem A; order: k + d, at most; sizes: those at which the functions were compared."""

    order: int
    sizes: tuple[str, ...]


@dataclass(frozen=True)
class InNormalForm(Figures):
    """A proof that two wide programs have one normal form.

    divisors: those that were cancelled and may vanish, though on a set of measure zero at most.  lengths: those in
    whose place any others may stand, axes of one length being one dimension.  reason: why the programs were not
    evaluated.
    """

    divisors: tuple[str, ...]
    lengths: tuple[int, ...]
    reason: str
    seconds: float


# Counterexamples


@dataclass(frozen=True)
class Refuted(Figures):
    """Beside a counterexample to the equality of two functions: what prime fields said, and where the programs part."""

    fields: str
    parting: str = ""


@dataclass(frozen=True)
class Parted(Figures):
    """Of two functions that are not shown to be equal in pieces: where the programs part."""

    parting: str


@dataclass(frozen=True)
class EqualElsewhere:
    """That two functions are equal almost everywhere: log₂ of the chance of error, and whether by a theorem."""

    log2_error: float
    theorem: bool


@dataclass(frozen=True)
class RefutedAtTies(Figures):
    """Beside a counterexample at which compared numbers are equal: everywhere else the functions are the same."""

    fields: str
    almost_everywhere: EqualElsewhere


@dataclass(frozen=True)
class SmallerShapes:
    """How many shapes are smaller than that of a counterexample, and at how many of them both sides are equal."""

    tried: int
    equal: int


@dataclass(frozen=True)
class Searched(Figures):
    """Beside a counterexample to a formula: whether a smaller one can be."""

    smaller_shapes: SmallerShapes


@dataclass(frozen=True)
class RestsOn(Figures):
    """Beside a counterexample: what had to be proved first."""

    rests_on: tuple[str, ...]


@dataclass(frozen=True)
class Misfit(Figures):
    """Which product or assignment is not defined, and at how many small sizes it is."""

    reason: str
    fits: str


# Inequalities


@dataclass(frozen=True)
class Term(Figures):
    """λ p ≥ 0 or λ p > 0: the multiplier λ, the number p, which of both it `is_`, and why."""

    multiplier: str
    times: str
    is_: str
    because: str


@dataclass(frozen=True)
class Contradiction(Figures):
    """Terms with the sum 0, in a case of the signs."""

    signs: tuple[str, ...]
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Deduced(Figures):
    """An inequality, its hypotheses, a point at which these hold, and the contradiction in every case."""

    claim: str
    hypotheses: tuple[str, ...]
    hypotheses_hold_at: Mapping[str, str] | None = None
    cases: tuple[Contradiction, ...] | None = None
    with_one_term: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Boxes(Figures):
    """A bound over a box, cut into so many boxes that are enclosed at a precision of so many bits."""

    box: tuple[str, ...]
    bound: str
    precision: int
    boxes: int


@dataclass(frozen=True)
class Measured(Figures):
    """A number beside its bound."""

    actual: str
    bound: str


# Counts and ranks


@dataclass(frozen=True)
class Counted(Figures):
    """A number that is claimed, and the shapes of the arrays on which it was counted."""

    claimed: str
    counted_at: tuple[Mapping[str, int], ...]


@dataclass(frozen=True)
class Found(Figures):
    """The number that was found instead."""

    found: str


@dataclass(frozen=True)
class Count(Figures):
    """How many there are."""

    count: int


@dataclass(frozen=True)
class Enumerated(Figures):
    """How many cases were looked at one by one."""

    cases: int


@dataclass(frozen=True)
class SolvedFormulas(Figures):
    """How many entries a solver compared, and which solver it was."""

    formulas: int
    solver: str


@dataclass(frozen=True)
class Factored(Figures):
    """A matrix written so that a bound of its rank shows."""

    factored: str
    claimed: str


@dataclass(frozen=True)
class Ranks(Figures):
    """The ranks of drawn matrices of whole numbers."""

    seed: int
    shape: tuple[int, int]
    ranks: tuple[int, ...]
    claimed: int


@dataclass(frozen=True)
class Rank(Figures):
    """The rank of one matrix of whole numbers."""

    rank: int
    claimed: int


@dataclass(frozen=True)
class Minor(Figures):
    """The rows and columns of a minor, and its determinant."""

    claimed: int
    rows: tuple[int, ...] | None = None
    columns: tuple[int, ...] | None = None
    determinant: str | None = None


@dataclass(frozen=True)
class Series(Figures):
    """The coefficients of a power series, and what was checked of them."""

    coefficient: str
    checks: tuple[str, ...]


# Floats


@dataclass(frozen=True)
class FloatFigures(FloatComparison, Figures):
    """A comparison of floats; how its inputs were drawn, and in words what was compared."""

    reference: str
    comparison: str
    aggregation: str
    inputs: str


@dataclass(frozen=True)
class Predictions(Figures):
    """How many images are read alike by both forms, how many there are, and how many are read correctly."""

    same: int
    images: int
    correct: int
    dtype: str


KINDS: tuple[type[Figures], ...] = (
    Figures, Proof, Written, WrongWord, Depths, Equations, Fields, FieldsAtSizes, FieldsOfSteps, FieldsOfFunctions,
    FieldsOfPieces, FieldsOfLoops, Agreed, Skipped, AllSizes, InNormalForm,
    PiecesInNormalForm, CutOff, Refuted, RefutedAtTies, Parted, Searched, RestsOn, Misfit,
    Deduced, Boxes,
    Measured, Counted, Found, Count, Enumerated, SolvedFormulas, Factored, Ranks, Rank, Minor, Series, FloatFigures,
    Predictions,
)  # fmt: skip
"""What the figures of evidence may be; no two of them can have the same fields."""


def from_data(data: Any) -> Figures:
    """The record that `as_data` wrote.  Raises TypeError or ValueError if it is none of `KINDS`."""
    if not isinstance(data, Mapping):
        raise TypeError("figures are no object")
    kind = next((kind for kind in KINDS if _fits(kind, set(data))), None)
    if kind is None:
        raise ValueError(f"no figures have the fields {', '.join(map(str, data))}")
    return typed(kind, data)


def _fits(kind: Any, names: set[str]) -> bool:
    return required(kind) <= names <= {_written_name(f) for f in dataclasses.fields(kind)}


def required(kind: Any) -> set[str]:
    """The names of the fields that data of a record must have."""
    return {_written_name(f) for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING}


def _written_name(field: dataclasses.Field) -> str:
    """Its name in a file: words that Python keeps for itself have a line behind them here."""
    return field.name.removesuffix("_")


def _data(value: Any) -> Any:
    if isinstance(value, Figures):
        return value.as_data()
    if dataclasses.is_dataclass(value):
        return {f.name: _data(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: _data(part) for name, part in value.items()}
    return list(map(_data, value)) if isinstance(value, list | tuple) else value


def typed(kind: object, data: Any) -> Any:
    """JSON as a value of the type `kind`: a dataclass, tuple, mapping, number, text or truth, or None where it may be.

    Raises:
        TypeError, ValueError: it is no such value.
    """
    of, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return data
    if of in (types.UnionType, Union):  # of a type and None
        return None if data is None else typed(parts[0], data)
    if dataclasses.is_dataclass(kind):
        return _record(kind, data)
    if of is tuple:
        return _tuple(parts, data)
    if of in (dict, Mapping):
        return {name: typed(parts[1], part) for name, part in _of_type(Mapping, data).items()}
    if kind is float and type(data) in (int, float):
        return float(data)
    if kind is float and isinstance(data, str) and data in UNBOUNDED:
        return UNBOUNDED[data]
    if type(data) is not kind:
        raise TypeError(f"{data!r} among the figures is {WORDS[kind]}")
    return data


UNBOUNDED = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
"""How a file writes numbers that JSON has not."""

WORDS = {int: "not whole numbers", float: "no number", str: "no text", bool: "no truth value"}
"""What is said of data that are not of a type."""


def _of_type(kind: Any, data: Any) -> Any:
    if not isinstance(data, kind):
        raise TypeError(f"{data!r} stands among the figures in the place of something else")
    return data


def _tuple(parts: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    entries = _of_type((list, tuple), data)
    kinds = (parts[0],) * len(entries) if parts[-1] is Ellipsis else parts
    return tuple(typed(kind, entry) for kind, entry in zip(kinds, entries, strict=True))


def _record(kind: Any, data: Any) -> Any:
    if not isinstance(data, Mapping) or not _fits(kind, set(data)):
        raise TypeError(f"{data!r} among the figures has not the fields of {kind.__name__}")
    hints = _hints(kind)
    fields = [f for f in dataclasses.fields(kind) if _written_name(f) in data]
    return kind(**{f.name: typed(hints[f.name], data[_written_name(f)]) for f in fields})


_hints = cache(get_type_hints)
