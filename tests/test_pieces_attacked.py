"""What a referee tried against proofs in pieces: each attack beside a true twin that must still be certified."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive

import uat_jax as uj
from uat_jax.decide import pieces
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.effort import Effort
from uat_jax.decide.explained import explained
from uat_jax.decide.identity import identity
from uat_jax.decide.pieces import compared
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import same_program
from uat_jax.numbers.prime_fields import affine
from uat_jax.numbers.prime_fields.affine import Affine, greatest_common_divisor

# Bounds of affine functions.

WHOLE, PARTS = (1, 3, 5, 2**10, 2**20 - 1, 2**20, 2**40), (1, 3, 7, 2**10, 2**20, 10**6, 10**20)


@dataclass(frozen=True)
class Exact:
    """The coefficients of two atoms, and the constant term."""

    coefficients: tuple[Fraction, Fraction]
    constant: Fraction

    def __add__(self, other: Exact) -> Exact:
        first, second = (a + b for a, b in zip(self.coefficients, other.coefficients, strict=True))
        return Exact((first, second), self.constant + other.constant)

    def __mul__(self, other: Exact) -> Exact:
        factor, rest = (self, other) if any(other.coefficients) else (other, self)
        first, second = (factor.constant * a for a in rest.coefficients)
        return Exact((first, second), factor.constant * rest.constant)

    def within(self, bound: Affine) -> bool:
        """Whether the bounds hold: whole multiples of the units, and not too many of them."""
        counts = [a / bound.unit for a in self.coefficients]
        units = [unit for unit, _ in bound.constants.multiples]
        most = sum((unit * n for unit, n in bound.constants.multiples), Fraction(0))
        whole = not self.constant or (self.constant / greatest_common_divisor(*units)).denominator == 1
        atoms = all(n.denominator == 1 for n in counts) and sum(map(abs, counts)) <= bound.width
        return atoms and whole and abs(self.constant) <= most


def _constant(value: Fraction) -> tuple[Exact, Affine | None]:
    return Exact((Fraction(0), Fraction(0)), value), affine.of_fractions([value])


def _atom(first: int, second: int) -> tuple[Exact, Affine | None]:
    return Exact((Fraction(first), Fraction(second)), Fraction(0)), affine.ATOM


@pytest.mark.parametrize("seed", range(2))
def test_bounds_of_affine_functions_hold(seed):
    """Sums, products and choices of random fractions and two atoms; every value is within what is said of it."""
    draw, checked = random.Random(seed), 0
    for _ in range(150):
        values = [_constant(Fraction(draw.choice(WHOLE), draw.choice(PARTS))) for _ in range(3)]
        values += [_atom(1, 0), _atom(0, 1)]
        for _ in range(10):
            (x, a), (y, b) = draw.choice(values), draw.choice(values)
            if a is None or b is None:
                continue
            made = {"+": [(x + y, a + b)], "|": [(x, a | b), (y, a | b)]}
            if not (a.width and b.width):
                made["*"] = [(x * y, a * b)]
            found = made[draw.choice(sorted(made))]
            values += found
            for exact, bound in found:
                checked += bound is not None
                assert bound is None or exact.within(bound), f"seed {seed}: {exact} is not within {bound}"
    assert checked > 500


# Whole programs.

ROW = jax.ShapeDtypeStruct((3,), np.float32)


def _steps(layers: int, x: jax.Array, swapped: bool = False) -> jax.Array:
    """Enough equations for a cut, in two orders of one sum."""
    for _ in range(layers):
        x = jnp.sin(jnp.cos(x) + x) if swapped else jnp.sin(x + jnp.cos(x))
    return x


def _scanned(x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda y, _: (_steps(2, y), None), x, None, length=27)[0]


def test_identical_pieces_are_proved(tmp_path):
    """A scan and its steps in a row have no pieces that need a test, and a certificate that can be decided again."""
    certificate = uj.certify(_scanned, lambda x: _steps(54, x), ROW)
    assert certificate.verdict == uj.Verdict.PROVED
    assert uj.recheck(uj.load(certificate.save(tmp_path / "c.json"))).verdict == uj.Verdict.PROVED
    programs = [jax.make_jaxpr(f)(ROW) for f in (_scanned, lambda x: _steps(54, x, swapped=True))]
    found = compared(programs[0], programs[1], Effort(), meant=False)
    assert found.equal and found.pieces


@pytest.mark.parametrize(("uses", "verdict"), [(False, uj.Verdict.UNKNOWN), (True, uj.Verdict.CERTIFIED)])
def test_large_constant_functions_say_nothing(uses, verdict):
    """As of small ones: two functions that do not look at their inputs are not compared."""
    of = lambda swapped: jax.jit(lambda x: _steps(51, x if uses else jnp.ones_like(x), swapped))
    assert uj.certify(of(False), of(True), ROW).verdict == verdict


@pytest.mark.parametrize("infinite", [0, 2])
def test_entries_that_are_infinite_are_told_of_large_programs(infinite, tmp_path):
    """A certificate in pieces says how many entries of the outputs are no numbers, as one of the whole does."""
    of = lambda swapped: lambda x: jnp.pad(_steps(51, x, swapped), (0, infinite), constant_values=-np.inf)
    certificate = uj.certify(of(False), of(True), ROW)
    told = [a for e in certificate.evidence for a in e.assumptions if a.kind is AssumptionKind.UNDEFINED_ENTRIES]
    assert certificate.verdict == uj.Verdict.CERTIFIED
    assert [a.about["count"] for a in told] == ([infinite] if infinite else [])
    assert uj.recheck(uj.load(certificate.save(tmp_path / "c.json"))).verdict == uj.Verdict.CERTIFIED


# Divisors that vanish on half-lines.

HALVES = {
    "relu": (lambda x: jnp.maximum(x + 10, np.float32(0)), jnp.arctan, 0),
    "a shifted relu": (lambda x: jnp.maximum(x + 10, np.float32(0)) + np.float32(1), jnp.arctan, 1),
    "tanh": (lambda x: jnp.maximum(x + 10, np.float32(0)), jnp.tanh, 0),
    "logistic": (lambda x: jnp.maximum(x + 10, np.float32(0)), jax.nn.sigmoid, 0),
    "a difference": (lambda x: (x + 10) + jnp.abs(x + 10), jnp.arctan, 0),
}
"""(what vanishes on a half-line, a function of infinities, what is subtracted before the quotient)."""


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("positive", [False, True])
def test_divisors_that_vanish_on_half_lines_are_not_letters(name, positive, monkeypatch):
    """1/(0 - u) and -1/u are infinities of two signs where u is 0; behind a cut u looks like any other number."""
    monkeypatch.setattr(pieces, "FEWEST", 1)
    number, function, shift = HALVES[name]

    def program(sign: int, x: jax.Array) -> jax.Array:
        u = number(_steps(2, x, swapped=sign > 0) * 4 + x) - np.float32(shift)
        u = jnp.exp(u) if positive else u
        opposite = -u if positive else 0 - u
        return _steps(2, function(1 / opposite if sign > 0 else -1 / u), swapped=sign > 0)

    programs = [jax.make_jaxpr(lambda x, sign=sign: program(sign, x))(ROW) for sign in (1, -1)]
    if positive:
        assert compared(programs[0], programs[1], Effort(), meant=False).equal
    else:
        with contextlib.suppress(UnsupportedError):
            assert not compared(programs[0], programs[1], Effort(), meant=False).equal


# What is sure of a repeated step.


OF_POSITIVE = {
    "log": (jnp.log, jnp.isnan),
    "sqrt": (jnp.sqrt, lambda y: y != y),
    "rsqrt": (jax.lax.rsqrt, lambda y: ~jnp.isfinite(y)),
    "power": (lambda y: y ** np.float32(0.3), lambda y: ~(y <= 2)),
    "root of a sum": (lambda y: jnp.log(jnp.sqrt(y) + y), lambda y: ~(y > -9)),
}
"""Functions that are undefined for some negative numbers, and what is true of NaN."""


def _layers(of: str, positive: bool, value: float, x: jax.Array, swapped: bool = False) -> jax.Array:
    """Layers that take a function of a positive number; all but the first of any number, unless they stay `positive`.

    What is undefined is caught at the end.  Every layer has at least 12 equations, so that it begins at a cut.
    """
    function, undefined = OF_POSITIVE[of]
    scaled = lambda y: _steps(3, y, swapped) * np.float32(2) + np.float32(1)
    y = jnp.exp(scaled(x))
    for _ in range(3):
        y = scaled(function(y))
        y = jnp.exp(y) if positive else y
    return _steps(6, jnp.where(undefined(y), np.float32(value), y), swapped)


@pytest.mark.parametrize(
    ("of", "positive"), [*((of, False) for of in OF_POSITIVE), ("log", True), ("sqrt", True), ("rsqrt", True)]
)
def test_what_is_sure_of_positive_letters_is_not_said_of_others(of, positive):
    """The layers are the same, and only those of positive numbers are never undefined."""
    programs = [jax.make_jaxpr(lambda x, v=v: _layers(of, positive, v, x, swapped=bool(v)))(ROW) for v in (0.0, 1.0)]
    if positive:
        assert compared(programs[0], programs[1], Effort(), meant=False).equal
    else:
        with contextlib.suppress(UnsupportedError):
            assert not compared(programs[0], programs[1], Effort(), meant=False).equal


# Differences that rounding of constants explains.

ROUNDED = np.float32(1 / (1 + np.exp(-1.0)))
"""A constant that is read as nothing else, but may stand for the number that `_meant` computes."""

LARGE = np.float32(2.0**17)


def _meant(x: jax.Array) -> jax.Array:
    return jax.nn.sigmoid(jnp.ones_like(x))


EXPLAINED = {
    "a number": (lambda c, x: c * x, 1.0),
    "many periods": (lambda c, x: jnp.sin(c * LARGE * x), 3e5),
    "a high power": (lambda c, x: (c * x) ** 4096, 1.0),
    "an exponential": (lambda c, x: jnp.exp(c * np.float32(2000) * x - np.float32(1400)), 1.0),
    "a distance": (lambda c, x: jnp.abs(c - _meant(x)) * LARGE * x, 1.0),
    "a step": (lambda c, x: jnp.tanh(LARGE * LARGE * (c - _meant(x))) * x, 1.0),
    "a square": (lambda c, x: (c - _meant(x)) ** 2 * LARGE * LARGE * x, 1.0),
    "a product": (lambda c, x: jnp.sin(c * LARGE) * jnp.cos(c * LARGE * x), 2e5),
}
"""(function of a constant and a number, the number at which it is looked at)."""


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_constants_explain_refutes_nothing(name):
    """Another value of the constant within its rounding makes both the same; a factor in front of it does not."""
    function, at = EXPLAINED[name]
    scalar, points = jax.ShapeDtypeStruct((), np.float32), [np.array(at)]
    left, right = (jax.make_jaxpr(lambda x, of=of: function(of(x), x))(scalar) for of in (lambda x: ROUNDED, _meant))
    assert explained(left, right, points)


@pytest.mark.parametrize("factor", [1.001, -1.0, 3.0])
def test_what_constants_do_not_explain(factor):
    scalar, points = jax.ShapeDtypeStruct((), np.float32), [np.array(0.75)]
    of = lambda factor: jax.make_jaxpr(lambda x: jnp.exp(x * ROUNDED) * np.float32(0.1) * np.float32(factor))(scalar)
    assert not explained(of(1.0), of(factor), points)
    assert explained(of(1.0), of(1.0 + 1e-7), points)


@pytest.mark.parametrize("scale", [2.0**18, 2.0**20])
def test_a_small_program_is_refuted_by_enclosures_alone(scale):
    """Both are x where the constant is the number that it may stand for, and only there."""
    needle = lambda x: x / (1 + ((ROUNDED - _meant(x)) * np.float32(scale)) ** 2)
    scalar = jax.ShapeDtypeStruct((), np.float32)
    assert uj.certify(needle, lambda x: x, scalar).verdict != uj.Verdict.REFUTED
    assert uj.certify(needle, lambda x: x + 1, scalar).verdict == uj.Verdict.REFUTED


# Parameters that Python takes for equal.

odd_one = Primitive("symmetric_product")  # a name that is taken for an unknown function
odd_one.def_abstract_eval(lambda x, *, parameter: x)


@dataclass(frozen=True)
class Record:
    """A parameter whose equality is that of its field."""

    field: Any


class Agreeable:
    """A parameter that says that it is equal to all of its kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Agreeable)

    def __hash__(self) -> int:
        return 0


ALIKE = [
    *[(1, 1.0), (1, True), (0.0, -0.0), ((2, 1), (2, 1.0)), (np.float32(0), np.float32(-0.0))],
    *[(Record(0.0), Record(-0.0)), (Record(1), Record(True)), (Record((1,)), Record((1.0,)))],
    *[(frozenset([1]), frozenset([True])), ((Record(frozenset([1])),), (Record(frozenset([1.0])),))],
]


@pytest.mark.parametrize(("one", "other"), ALIKE, ids=repr)
@pytest.mark.parametrize(
    "decide", [lambda *pair: identity(*pair), lambda one, other: compared(one, other, Effort(), meant=False)]
)
def test_parameters_that_python_takes_for_equal(decide, one, other):
    """A primitive that nothing is known of may do one thing for 1 and another one for 1.0."""
    apply = lambda parameter, x: odd_one.bind(jnp.sin(x), parameter=parameter)
    program = lambda p: jax.make_jaxpr(lambda x: (apply(one, x) - apply(p, x)) * x + x)(ROW)
    itself = jax.make_jaxpr(lambda x: x * 1 + (x - x))(ROW)
    assert decide(program(one), itself).equal
    assert not decide(program(other), itself).equal


@pytest.mark.parametrize(("one", "other"), ALIKE, ids=repr)
def test_programs_with_such_parameters_are_not_identical(one, other):
    """The first of two equations with parameters that Python takes for equal says nothing of the second."""
    program = lambda *parameters: jax.make_jaxpr(lambda x: sum(odd_one.bind(x, parameter=p) for p in parameters))(ROW)
    assert same_program(program(one, other), program(one, other))
    assert not same_program(program(one, one), program(one, other))
    assert not same_program(program(one), program(other))


def test_what_a_parameter_says_itself_is_not_believed():
    """Two objects are two parameters, whatever they say; one and the same object is not known to be one either."""
    kept = Agreeable()
    program = lambda p: jax.make_jaxpr(lambda x: odd_one.bind(x, parameter=kept) - odd_one.bind(x, parameter=p) + x)(
        ROW
    )
    itself = jax.make_jaxpr(lambda x: x * 1)(ROW)
    for parameter in (kept, Agreeable()):
        with contextlib.suppress(UnsupportedError):
            assert not identity(program(parameter), itself).equal


OF_ONE_ENTRY = {
    "cumsum": lambda x: jax.lax.cumsum(x),
    "cumprod": lambda x: jax.lax.cumprod(x),
    "cumsum of a product": lambda x: jax.lax.cumsum(x * np.float32(2)),
    "cumsum twice": lambda x: jax.lax.cumsum(jax.lax.cumprod(x), reverse=True),
    "cumsum of a cast": lambda x: jax.lax.cumsum(jnp.floor(x) + (x > 0).astype(np.float32)),
}
"""Primitives whose definition returns its operand."""


@pytest.mark.parametrize("name", OF_ONE_ENTRY)
def test_the_range_of_what_is_its_own_operand(name):
    """A range that is computed of itself would be looked for without end."""
    function, shape = OF_ONE_ENTRY[name], jax.ShapeDtypeStruct((1, 3), np.float32)
    program = lambda sign: jax.make_jaxpr(lambda x: jnp.maximum(function(x), np.float32(0)) - sign * x)(shape)
    swapped = jax.make_jaxpr(lambda x: jnp.maximum(np.float32(0), function(x)) - x)(shape)
    assert identity(program(np.float32(1)), swapped).equal
    assert not identity(program(np.float32(2)), swapped).equal


# Programs that are unlike others.

KEYS = jax.random.split(jax.random.key(0), 3)


def _noisy(keys: jax.Array, swapped: bool, x: jax.Array) -> jax.Array:
    """A scan over random keys."""
    return jax.lax.scan(lambda y, key: (_steps(2, y + jax.random.normal(key, (3,)), swapped), None), x, keys)[0]


def test_scans_over_random_keys_are_unrolled():
    programs = [
        jax.make_jaxpr(lambda x, k=k, s=s: _noisy(k, s, x))(ROW)
        for k, s in [(KEYS, False), (KEYS, True), (KEYS[::-1], True)]
    ]
    assert compared(programs[0], programs[1], Effort(), meant=False).equal
    assert not compared(programs[0], programs[2], Effort(), meant=False).equal


def test_a_certificate_without_a_look_at_floats_is_decided_again(tmp_path):
    """Why there was none names a line of the source, which is not in the file."""
    function = jax.scipy.special.i0e
    certificate = uj.certify(lambda x: 2 * function(x), lambda x: function(x) + function(x), ROW)
    assert uj.recheck(uj.load(certificate.save(tmp_path / "c.json"))).verdict == uj.Verdict.CERTIFIED
