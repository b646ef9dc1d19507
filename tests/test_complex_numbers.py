"""Complex numbers as pairs of real ones: every primitive's parts are JAX's values, and pairs are rightly decided."""

import functools
import math
import random
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.extend.core import ClosedJaxpr
from pairs.complex_numbers import ROWS
from pairs.questions import PASSING, answer, questions

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.errors import OutputsError
from uat_jax.interpret.closed_form import arc_cosine, arc_tangent, cosine, multiplied, rational, sine
from uat_jax.interpret.integer_ranges import of_array
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.recognition import meanings
from uat_jax.numbers.complex.complex_rules import RULES
from uat_jax.numbers.complex.real_parts import has_complex, in_real_parts
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.residues import Draw
from uat_jax.numbers.prime_fields.tower import draw_levels, draw_primes

BUDGET = 20
"""Seconds for each question: far more than any takes."""

# --- parts against JAX ------------------------------------------------------------------------------------------------

SPECIAL = [0, 1, -1, 2, -2.5, 1j, -1j, 0.5j, 1 + 1j, -1 + 1j, -1 - 1j, 3 - 4j, 2.0**-10 * (1 + 1j), -4, 0.25]
"""On both axes, on the cut of roots and logarithms with a zero above it, and in every quadrant."""

OF_ONE = {
    name: getattr(lax, name)
    for name in "abs conj cos cosh exp exp2 expm1 imag log log1p logistic neg real rsqrt sign sin sinh sqrt square tan "
    "tanh".split()
} | {
    "integer_pow 3": lambda z: lax.integer_pow(z, 3),
    "integer_pow -2": lambda z: lax.integer_pow(z, -2),
    "integer_pow 0": lambda z: lax.integer_pow(z, 0),
    "pow 1/2": lambda z: z ** np.complex128(0.5),
    "pow -1/2": lambda z: z ** np.complex128(-0.5),
    "pow 1/3": lambda z: z ** np.complex128(0.3),
    "cumsum": lambda z: lax.cumsum(z, 0, reverse=True),
    "cumprod": lambda z: lax.cumprod(z / 4, 0),
    "cumprod reversed": lambda z: lax.cumprod(z / 4, 0, reverse=True),
    "reduce_sum": lambda z: lax.reduce_sum(z.reshape(3, 5), (1,)),
    "reduce_prod": lambda z: lax.reduce_prod(z[4:].reshape(1, 11), (1,)),
    "reduce_window_sum": lambda z: lax.reduce_window(z, np.complex128(0), lax.add, (3,), (1,), "VALID"),
    "select_n": lambda z: lax.select_n(z.real > 0, z, 2j * z),
    "concatenate": lambda z: jnp.concatenate([z, np.array([1j, 2])]),
    "pad": lambda z: lax.pad(z, np.complex128(1j), [(1, 2, 0)]),
    "gather": lambda z: z[np.array([3, 1, 1])],
    "dynamic_slice": lambda z: lax.dynamic_slice(z, (2,), (3,)),
    "dynamic_update_slice": lambda z: lax.dynamic_update_slice(z, 1j * z[:2], (3,)),
    "scatter": lambda z: z.at[1].set(1j),
    "scatter-add": lambda z: z.at[np.array([1, 1])].add(1j * z[:2]),
    "rev, transpose, reshape": lambda z: lax.rev(z.reshape(3, 5).T, (0,)),
    "to real": lambda z: lax.convert_element_type(lax.real(z), np.complex128) * 1j,
    "to complex64": lambda z: lax.complex(*map(jnp.round, (z.real, z.imag))).astype(np.complex64).astype(np.complex128),
    "to booleans": lambda z: z.astype(bool).astype(np.float64),
    "scan": lambda z: lax.scan(lambda c, x: (c * 1j + x, c.real), 0j * z[0], z),
    "while": lambda z: lax.fori_loop(0, 3, lambda i, w: w * z / 4 + 1j, z),
    "cond": lambda z: lax.cond(z[3].real > 0, lambda w: w * 1j, lambda w: -w, z),
    "custom_jvp": lambda z: jnp.sinc(z / 4),
    "polynomial": lambda z: jnp.polyval(np.array([2j, 0.5, 3 - 1j]), z),
    "real in a scan": lambda z: lax.scan(lambda c, x: (c + jnp.abs(x * 1j), None), 0.0, z)[0],
}
OF_TWO = {
    **{name: getattr(lax, name) for name in ("add", "sub", "mul", "div")},
    "eq": lambda z, w: lax.eq(z, w).astype(np.float64),
    "ne": lambda z, w: lax.ne(z, w).astype(np.float64),
    "complex": lambda z, w: lax.complex(z.real, w.imag),
    "dot_general": lambda z, w: jnp.matmul(z.reshape(3, 5), w.reshape(5, 3), precision="highest"),
    "conv_general_dilated": lambda z, w: jnp.convolve(z, w[:4], precision="highest"),
    "real times complex": lambda z, w: z.real * w,
    "by a real number": lambda z, w: z / (w.real + 5),
    "by an imaginary number": lambda z, w: z / (1j * (w.real + 5)),
    "associative_scan": lambda z, w: lax.associative_scan(
        lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (z / 4, w), axis=0
    ),
}
AT = np.array(SPECIAL, np.complex128)


def points(count):
    """Special values, and random ones; a second operand has them in another order."""
    random_ones = np.random.default_rng(3).standard_normal((count, len(SPECIAL), 2)) @ np.array([1, 1j])
    return [[np.roll(AT, 4 * i) for i in range(count)], list(random_ones)]


def parts(arrays):
    """The real and the imaginary part of each complex array, one after the other."""
    leaves = [np.asarray(a) for a in jax.tree.leaves(arrays)]
    return [part for a in leaves for part in ((np.real(a), np.imag(a)) if np.iscomplexobj(a) else (a,))]


@functools.cache
def values_in_jax(table):
    """What JAX computes of all functions of a table, compiled as one program."""
    functions, operands = TABLES[table]
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        together = jax.jit(lambda at: {name: functions[name](*at[name]) for name in functions})
        return [together({name: at(name)[i] for name in functions}) for i, at in enumerate([operands] * 2)]


def agree(table, name):
    """The program of parts has no complex number, and JAX's values wherever these are finite."""
    functions, operands = TABLES[table]
    for at, wanted in zip(operands(name), values_in_jax(table), strict=True):
        with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
            program = in_real_parts(jax.make_jaxpr(functions[name])(*at))
        assert not has_complex(program)
        found = [np.asarray(x)[0] for x in interpret(program, Doubles(), [x[None] for x in parts(at)])]
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(wanted[name])]
        scales = [np.abs(leaf[np.isfinite(leaf)]).max(initial=1) for leaf in leaves for _ in parts(leaf)]
        for x, y, scale in zip(found, parts(leaves), scales, strict=True):
            assert np.shape(x) == y.shape
            # Sixty-four roundings of the largest entry: the longest of these functions has a few dozen.
            finite = np.isfinite(y)
            np.testing.assert_allclose(np.asarray(x)[finite], y[finite], 0, 64 * 2.0**-52 * scale)


@pytest.mark.parametrize("name", OF_ONE)
def test_the_parts_of_a_function_are_those_of_its_values(name):
    agree("of one", name)


@pytest.mark.parametrize("name", OF_TWO)
def test_the_parts_of_a_function_of_two_are_those_of_its_values(name):
    agree("of two", name)


def test_every_rule_is_compared_with_jax():
    compared = {equation for f, n in [*((f, 1) for f in OF_ONE.values()), *((f, 2) for f in OF_TWO.values())]
                for equation in primitives_of(f, n)}  # fmt: skip
    later = {
        "fft",
        "add_any",
        "outside_function",
        "polynomial",
        "reduce_precision",
        "scatter-sub",
        "split",
        "squeeze",
        "stack",
        "tile",
        "unstack",
    }
    assert set(RULES) - compared <= later | {"expand_dims"}


def primitives_of(function, count):
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        return names(jax.make_jaxpr(function)(*points(count)[0]))


def names(program):
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    inner = [p for e in jaxpr.eqns for p in jax.tree.leaves(list(e.params.values())) if hasattr(p, "eqns")]
    return {e.primitive.name for e in jaxpr.eqns}.union(*map(names, inner))


TRANSFORMS = {
    **{f"fft of {n}": (lambda z: jnp.fft.fft(z), (n,)) for n in (1, 2, 3, 4, 5, 7, 8, 12)},
    **{f"ifft of {n}": (lambda z: jnp.fft.ifft(z), (n,)) for n in (1, 2, 5, 6)},
    **{f"rfft of {n}": (lambda z: jnp.fft.rfft(z.real), (n,)) for n in (1, 2, 5, 6)},
    **{f"irfft to {n}": (lambda z, n=n: jnp.fft.irfft(z, n), (n // 2 + 1,)) for n in (1, 2, 5, 6)},
    **{f"hfft to {n}": (lambda z, n=n: jnp.fft.hfft(z, n), (n // 2 + 1,)) for n in (4, 5)},
    "ihfft": (lambda z: jnp.fft.ihfft(z.real), (6,)),
    "fft2": (lambda z: jnp.fft.fft2(z), (2, 3, 4)),
    "ifftn": (lambda z: jnp.fft.ifftn(z), (2, 3, 4)),
    "rfftn": (lambda z: jnp.fft.rfftn(z.real), (2, 3, 5)),
    "irfftn": (lambda z: jnp.fft.irfftn(z, (2, 3, 6)), (2, 3, 4)),
    "along the first axis": (lambda z: jnp.fft.fft(z, axis=0), (5, 2)),
    "orthonormal": (lambda z: jnp.fft.fft(z, norm="ortho"), (6,)),
    "forward": (lambda z: jnp.fft.ifft(z, norm="forward"), (6,)),
    "padded": (lambda z: jnp.fft.fft(z, 7), (5,)),
    "of a long row": (lambda z: jnp.fft.fft(z), (360,)),
    "of a long real row": (lambda z: jnp.fft.irfft(z, 270), (136,)),
    "of a long prime": (lambda z: jnp.fft.ifft(z), (67,)),
    "transposed": (lambda z: jax.vjp(jnp.fft.rfft, z.real)[1](jnp.fft.rfft(z.imag))[0], (6,)),
}


def rows(name):
    """Two random arrays of the shape that a transform takes."""
    shape = TRANSFORMS[name][1]
    return [[np.random.default_rng(seed).standard_normal((*shape, 2)) @ np.array([1, 1j])] for seed in (5, 6)]


TABLES = {
    "of one": (OF_ONE, lambda name: points(1)),
    "of two": (OF_TWO, lambda name: points(2)),
    "transforms": ({name: function for name, (function, _) in TRANSFORMS.items()}, rows),
}
"""The functions of a table by name, and from a name to two lists of operands."""


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_those_of_jax(name):
    agree("transforms", name)


# --- exact cosines ----------------------------------------------------------------------------------------------------


def known(found: Any) -> Any:
    """What is found, which is not None."""
    assert found is not None
    return found


PI = known(arc_cosine(rational(-1)))
TURNS = [Fraction(k, d) for d in range(1, 13) for k in range(-d, 2 * d + 1)]


def test_cosines_and_sines_of_fractions_of_a_turn_are_what_they_are():
    for turn in TURNS:
        angle = known(multiplied(PI, rational(turn)))
        assert known(cosine(angle)).approximation == pytest.approx(math.cos(math.pi * turn), abs=1e-15)
        assert known(sine(angle)).approximation == pytest.approx(math.sin(math.pi * turn), abs=1e-15)
    assert arc_tangent(rational(1)) == multiplied(PI, rational(Fraction(1, 4)))
    assert cosine(rational(1)) is None
    assert arc_cosine(rational(Fraction(1, 3))) is None


@pytest.mark.parametrize("depth", [0, 1])
def test_cosines_modulo_primes_obey_the_laws_of_cosines(depth):
    """cos 2a = 2 cos²a - 1, sums over all turns are 0, and the roots of 2, 3, 5 and 7 are sums of cosines."""
    order = 840
    primes = draw_primes(depth, random.Random(1), order=order)
    assert all(p % order == 1 for p in primes)
    draw = Draw(draw_levels(primes, (3,) * len(primes), np.random.default_rng(1)), (1,), order=order)
    cos = lambda k, n: known(draw.cosine(Fraction(2 * k, n)))  # cos(2πk/n)
    total = lambda terms: [sum(c * x.levels[i] for c, x in terms) % p for i, p in enumerate(primes)]
    zero = lambda terms: all(not np.any(level) for level in total(terms))
    one = draw.fraction(1)
    for n in (5, 7, 15, 56):
        assert zero([(1, cos(2, n)), (-2, draw.power(cos(1, n), 2)), (1, one)])
        assert zero([(1, cos(k, n)) for k in range(n)])
        assert not zero([(1, cos(2, n)), (-2, draw.power(cos(1, n), 2)), (2, one)])
    assert zero([(2, cos(1, 8)), (-1, draw.root(2))])
    assert zero([(2, cos(1, 12)), (-1, draw.root(3))])
    assert zero([(4, cos(1, 5)), (1, one), (-1, draw.root(5))])
    sine = lambda k: cos(7 - 4 * k, 28)  # cos(π/2 - 2πk/7)
    assert zero([(2, sine(1)), (2, sine(2)), (2, sine(4)), (-1, draw.root(7))])
    assert draw.cosine(Fraction(1, 11)) is None


# --- pairs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", one_in(9, questions(ROWS)), ids=lambda question: question.name)
def test_pairs_of_complex_functions_are_decided_as_they_are(question):
    found = answer(question, BUDGET)
    assert found.right, f"{found.verdict}: {found.message}"


def test_the_table_is_large_and_every_row_has_a_twin():
    assert len(ROWS) >= 60
    assert all(row.wrong for row in ROWS)
    assert len({row.name for row in ROWS}) == len(ROWS)


def complex64(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.complex64)


def test_a_witness_is_a_complex_array_again():
    found = uj.certify(lambda p: (p["z"] * 1j, p["z"]), lambda p: (p["z"] * 2j, p["z"]), {"z": complex64(2)})
    assert found.verdict is Verdict.REFUTED
    example = known(found.counterexample)
    assert len(example.inputs) == 2
    program = example.program.replace("jax.config.update", "print")
    assert "jax.lax.complex(" in program
    written = program.replace("left = ...", "left = lambda p: (p['z'] * 1j, p['z'])")
    exec(written.replace("right = ...", "right = lambda p: (p['z'] * 2j, p['z'])"), {})  # fails if both are equal


def test_a_certificate_says_how_complex_numbers_are_read(tmp_path):
    found = uj.certify(lambda z: jnp.abs(z) ** 2, lambda z: (z * jnp.conj(z)).real, complex64(3))
    assert found.verdict is Verdict.CERTIFIED
    assert AssumptionKind.COMPLEX_NUMBERS in [a.kind for a in found.assumptions]
    assert "complex numbers" in known(found.rounding).reason
    found.save(tmp_path / "found.json")
    assert uj.recheck(tmp_path / "found.json").verdict is Verdict.CERTIFIED


def test_constants_are_read_in_their_own_dtype():
    """complex64(0.1) in double precision is another number than 0.1."""
    z = jax.ShapeDtypeStruct((3,), jnp.complex128)
    narrow, wide = np.complex64(0.1 + 0.2j).astype(np.complex128), np.complex128(0.1 + 0.2j)
    assert not uj.certify(lambda z: z * narrow, lambda z: z * wide, z).passes
    assert uj.certify(lambda z: z * wide * np.complex128(10), lambda z: z * np.complex128(1 + 2j), z).passes


@pytest.mark.parametrize("n", [4, 7, 8])
def test_tables_of_transforms_are_read_as_such(n):
    table = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n).astype(np.complex64)
    z, product = jax.ShapeDtypeStruct((n,), np.complex64), lambda z, table: jnp.matmul(table, z, precision="highest")
    assert uj.certify(lambda z: product(z, table), jnp.fft.fft, z).verdict is Verdict.CERTIFIED
    wrong = table.copy()
    wrong[1, 2] *= 1 + 2.0**-20
    assert uj.certify(lambda z: product(z, wrong), jnp.fft.fft, z).verdict is Verdict.REFUTED
    assert uj.certify(lambda z: product(z, table.conj()), jnp.fft.fft, z).verdict is Verdict.REFUTED


def test_a_table_is_read_entry_by_entry_to_half_a_unit_in_the_last_place():
    """NumPy rounds angles, so that entries in float64 may be many units away: then they are what is written."""
    places = np.arange(8)
    exact = np.cos(2 * np.pi * (np.outer(places, places) % 8) / 8)
    moved = exact + np.where(np.abs(exact) > 0.1, 2.0**-50, 0.0)
    x = jax.ShapeDtypeStruct((8,), jnp.float64)
    product = lambda table: lambda x: jnp.matmul(table, x, precision="highest")
    assert not uj.certify(product(moved), product(exact), x).passes


def test_the_range_of_a_table_holds_what_its_entries_are_read_as():
    for n in (4, 8, 64, 256):
        angles = 2 * np.pi * np.outer(np.arange(n), np.arange(n)) / n
        cosines, sines = np.cos(angles), -np.sin(angles)
        for part in (cosines, sines, np.abs(cosines), 3 * np.abs(sines)):
            low, high, found = *of_array(part), meanings(part, np.dtype(np.float64))
            assert (found is None) == (n >= 64)
            read = [] if found is None else [float(known(m.form).approximation) for m in found.distinct]
            assert all(low <= number <= high for number in read)


def test_a_small_number_is_no_zero_of_a_table():
    small = np.float32(6.123234e-17)
    x = jax.ShapeDtypeStruct((3,), jnp.float32)
    assert not uj.certify(lambda x: x * small * np.float32(1e17), lambda x: 0 * x, x).passes
    assert not uj.certify(
        lambda x: x * np.array([small, 1, 3], np.float32), lambda x: x * np.array([0, 1, 3], np.float32), x
    ).passes


def test_what_has_no_rule_is_unknown_and_the_message_names_it():
    for function, reason in (
        (jnp.sort, "sort of complex numbers"),
        (lambda z: z**z, "pow of complex numbers with an exponent that is no real constant"),
    ):
        with jax.numpy_dtype_promotion("standard"):
            assert uj.certify(function, function, complex64(3)).verdict is Verdict.PROVED
            found = uj.certify(function, lambda z, f=function: f(z + z) / 2, complex64(3))
        assert found.verdict is Verdict.UNKNOWN
        assert any(reason in e.finding for e in found.evidence)
    long = in_real_parts(jax.make_jaxpr(jnp.fft.fft)(jax.ShapeDtypeStruct((5000,), jnp.complex64)))
    assert "fft of more than 4096 entries" in names(long)


def test_real_and_complex_results_are_two_things():
    """Also where the imaginary part is 0: the modulus is real."""
    with pytest.raises(OutputsError, match=r"returns float32\[3\], the second complex64\[3\]"):
        uj.certify(jnp.abs, lambda z: jnp.abs(z).astype(z.dtype), complex64(3))


def test_symbolic_dimensions_are_refused_in_one_line():
    (n,) = jax.export.symbolic_shape("n")
    z = jax.ShapeDtypeStruct((n,), jnp.complex64)
    assert uj.certify(lambda z: z * 1j, lambda z: 1j * z, z).verdict is Verdict.AGREES
    sizes = [{"n": 2}, {"n": 3}]
    assert uj.certify(lambda z: z * z, lambda z: z**2, z, sizes=sizes).verdict in PASSING
