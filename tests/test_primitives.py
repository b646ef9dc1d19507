"""The one table of primitives: complete, held against every table of rules, and what stands in no row is refused."""

import itertools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from uat_jax import certify
from uat_jax.decide import tie_points
from uat_jax.decide.prime_fields import ROOTS
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition.sourced_rules import MOVING
from uat_jax.errors import UatJaxError, UnsupportedError
from uat_jax.interpret import outside_function
from uat_jax.interpret.definitions import DEFINITIONS
from uat_jax.interpret.integer_ranges import RULES as RANGES
from uat_jax.interpret.interpreter import BODY, IDENTITY, LOOPS, STRUCTURAL, interpret
from uat_jax.interpret.jaxpr_extents import CONTROL
from uat_jax.interpret.primitives import TABLE, admit
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import Balls
from uat_jax.numbers.floats import local_error
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields import exponential_depth
from uat_jax.numbers.prime_fields.fact_rules import DECISIONS, OF_POSITIVE, POSITIVE, THIN, TOTAL
from uat_jax.numbers.prime_fields.fields import Fields
from uat_jax.numbers.prime_fields.formula import DECIDED, ENTRYWISE

S = jax.ShapeDtypeStruct((), np.float32)
V = jax.ShapeDtypeStruct((3,), np.float32)
WALKED = {*BODY, *LOOPS, "call_hi_primitive", "custom_linear_solve"}
SYSTEMS = [("fields", Fields.rules), ("doubles", Doubles.rules), ("balls", Balls.rules)]


def real(x):
    """A float32."""
    return x.astype(np.float32)


def one(x):
    """1 everywhere."""
    return jnp.ones_like(x)


# --- the table against the tables of rules ----------------------------------------------------------------------------


def expected(name, rules):
    """What a row must say of a number system with these rules."""
    if name in WALKED:
        return {"walked"}
    if name in rules:
        return {"rule"}
    if name in STRUCTURAL:
        return {"moved"}
    if name in IDENTITY:
        return {"same"}
    return {"parts"} if name in DEFINITIONS else {"jax", "none"}


@pytest.mark.parametrize(("system", "rules"), SYSTEMS, ids=[name for name, _ in SYSTEMS])
def test_every_cell_is_true(system, rules):
    """A rule without a row, a row without its rule, and a row that says something else are seen."""
    assert set(rules) <= set(TABLE)
    for name, row in TABLE.items():
        assert getattr(row, system) in expected(name, rules), name
        if getattr(row, system) == "jax":
            assert "f" not in row.kinds and system != "fields", f"{name}: JAX does not compute with these numbers"


def test_every_table_of_primitives_is_covered():
    tables = (DEFINITIONS, STRUCTURAL, IDENTITY, WALKED, MOVING, RANGES, POSITIVE, THIN, DECIDED, local_error.ROUNDOFFS)
    names = (
        exponential_depth.ALWAYS,
        exponential_depth.WRITTEN,
        local_error.BOUNDED,
        TOTAL,
        DECISIONS,
        OF_POSITIVE,
        ENTRYWISE,
        tie_points.COMPARISONS,
        tie_points.ROUNDING,
        ROOTS,
        CONTROL,
    )
    for table in (*tables, *names):
        assert set(table) <= {*TABLE, outside_function.NAME}, set(table) - set(TABLE)


LAPACK = {"eigh", "lu", "svd"}
"""What float64 follows by a rule although no bound of its rounding is known; it is refused where one is asked for."""


def test_every_rounding_is_stated():
    """A primitive rounds exactly if local_error bounds it; whatever float64 follows by a rule is exact or rounds."""
    named = {*local_error.ROUNDOFFS, "convert_element_type", "dot_general", "integer_pow", "reduce_sum"}
    assert {name for name, row in TABLE.items() if row.rounding == "rounds"} == named
    for name, row in TABLE.items():
        if row.rounding in ("exact", "rounds"):
            assert row.doubles in ("rule", "moved", "same", "jax"), name
        elif (
            row.doubles == "rule" and name not in LAPACK
        ):  # float64 looks for inputs; a bound is refused, see the next test
            assert name in UNKNOWN_ROUNDING, f"{name} has a rule in float64 and no rounding"


UNKNOWN_ROUNDING = frozenset(
    "bessel_i0e bessel_i1e digamma igamma igammac polygamma regularized_incomplete_beta zeta".split()
)
"""Functions whose errors on a device nobody has bounded."""


@pytest.mark.parametrize("name", sorted(UNKNOWN_ROUNDING))
def test_a_function_of_unknown_rounding_has_no_bound(name):
    function, operands = getattr(lax, "betainc" if name == "regularized_incomplete_beta" else name), TABLE[name]
    count = {"zeta": 2, "polygamma": 2, "igamma": 2, "igammac": 2, "regularized_incomplete_beta": 3}.get(name, 1)
    equation = trace(function, *[np.float32(0.5)] * count).eqns[-1]
    assert operands.rounding == "none" and equation.primitive.name == name
    with pytest.raises(UnsupportedError, match=f"the rounding of '{name}'"):
        local_error.rounds(equation)


def test_a_primitive_of_unknown_rounding_is_not_exact():
    """No row means refused."""
    (equation,) = trace(lambda x: lax.nextafter(x, x), np.float32(0)).eqns
    with pytest.raises(UnsupportedError, match="the rounding of 'nextafter'"):
        local_error.rounds(equation)


UNBOUNDED_INTEGERS = {"random_clone", "random_fold_in", "random_seed", "random_split", "random_wrap", "scatter-mul"}
"""Keys, and products of unknown length, which are refused for integers."""


def test_every_primitive_of_integers_has_a_range():
    integers = {name for name, row in TABLE.items() if {*row.kinds} & {*"ibk"} and name not in WALKED}
    assert integers - set(RANGES) == UNBOUNDED_INTEGERS | {"sharding_constraint"}


# --- parameters and dtypes --------------------------------------------------------------------------------------------

VECTOR, PLACES = np.arange(4, dtype=np.float32), np.array([0, 2], np.int32)
PARAMETERS = {
    "argmax": lambda x: lax.argmax(x, 0, np.int32),
    "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, (2, 4), (1,)),
    "concatenate": lambda x: lax.concatenate([x, x], 0),
    "conv_general_dilated": lambda x: lax.conv(x[None, None], x[None, None], (1,), "VALID"),
    "convert_element_type": lambda x: lax.convert_element_type(x, np.int32),
    "cumsum": lambda x: lax.cumsum(x, reverse=True),
    "dot_general": lambda x: lax.dot(x, x),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (np.int32(1),), (2,)),
    "exp": lax.exp,
    "gather": lambda x: x.at[PLACES].get(mode="fill", fill_value=7.0),
    "integer_pow": lambda x: lax.integer_pow(x, 3),
    "mul": lambda x: lax.mul(x, x),
    "pad": lambda x: lax.pad(x, np.float32(0), ((1, 1, 0),)),
    "reduce_max": lambda x: lax.reduce_max(x, (0,)),
    "reduce_precision": lambda x: lax.reduce_precision(x, 8, 23),
    "reduce_sum": lambda x: lax.reduce_sum(x, (0,)),
    "reduce_window_sum": lambda x: lax.reduce_window(x, np.float32(0), lax.add, (2,), (1,), "VALID"),
    "reshape": lambda x: lax.reshape(x, (2, 2)),
    "rev": lambda x: lax.rev(x, (0,)),
    "round": lax.round,
    "scatter": lambda x: x.at[PLACES].set(x[:2]),
    "scatter-add": lambda x: x.at[PLACES].add(x[:2]),
    "scatter-max": lambda x: x.at[PLACES].max(x[:2]),
    "scatter-min": lambda x: x.at[PLACES].min(x[:2]),
    "scatter-mul": lambda x: x.at[PLACES].multiply(x[:2]),
    "slice": lambda x: lax.slice(x, (1,), (3,)),
    "sort": lambda x: lax.sort(x),
    "squeeze": lambda x: lax.squeeze(x[None], (0,)),
    "tanh": lax.tanh,
    "top_k": lambda x: lax.top_k(x, 2),
    "transpose": lambda x: lax.transpose(x[None], (1, 0)),
}
"""A program that makes each primitive of many parameters."""


def equation_of(name, function, *arguments):
    """The first equation of this primitive that a function makes, calls written out."""
    todo = [trace(function, *arguments).jaxpr]
    for jaxpr in todo:
        for equation in jaxpr.eqns:
            if equation.primitive.name == name:
                return equation
            todo += [e.jaxpr for e in jax.tree.leaves(list(equation.params.values())) if hasattr(e, "jaxpr")]
    raise AssertionError(f"no {name}")


def changed(equation, **parameters):
    """The equation with other parameters."""
    return equation.replace(params={**equation.params, **parameters})


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_known_and_no_other(name):
    equation = equation_of(name, PARAMETERS[name], VECTOR)
    admit(equation)
    with pytest.raises(UnsupportedError, match=f"'{name}'.* has the parameter 'novel', which is not followed"):
        admit(changed(equation, novel=3))


OTHER_VALUES = [
    ("argmax", lambda x: lax.argmax(x, 0, np.int32), {"axes": (0, 1)}),
    ("dot_general", lambda x: lax.dot(x, x), {"preferred_element_type": np.dtype(np.int32)}),
    ("convert_element_type", lambda x: lax.convert_element_type(x, np.int32), {"new_dtype": np.dtype(np.complex64)}),
    ("convert_element_type", lambda x: lax.convert_element_type(x, np.int32), {"new_dtype": jnp.int4}),
    ("exp", lax.exp, {"accuracy": "lax"}),
    ("exp", lax.exp, {"accuracy": lax.Tolerance(atol=1, rtol=1, ulps=1000)}),
    ("integer_pow", lambda x: lax.integer_pow(x, 3), {"y": 0.5}),
    ("mul", lambda x: lax.mul(x, x), {"out_dtype": np.dtype(np.float16)}),
    ("reduce_precision", lambda x: lax.reduce_precision(x, 8, 23), {"mantissa_bits": 7}),
    ("reduce_precision", lambda x: lax.reduce_precision(x, 8, 23), {"exponent_bits": 5}),
    ("round", lax.round, {"rounding_method": 7}),
    ("sort", lambda x: lax.sort((x, -x)), {"is_stable": False}),
    ("sort", lambda x: lax.sort((x, -x)), {"num_keys": 0}),
]
"""(primitive, a program of it, values of its parameters that mean something else)."""


def name_of(row) -> str:
    """Primitive, parameter and the type of its value, which is the same in every process."""
    ((parameter, value),) = row[2].items()
    return f"{row[0]} {parameter}={value if isinstance(value, (int, float, str)) else type(value).__name__}"


@pytest.mark.parametrize("row", OTHER_VALUES, ids=name_of)
def test_values_that_change_the_meaning_are_refused(row):
    name, function, parameters = row
    equation = equation_of(name, function, VECTOR)
    admit(equation)
    with pytest.raises(UnsupportedError, match=f"'{name}'.* has {next(iter(parameters))}=.*, which is not followed"):
        admit(changed(equation, **parameters))


def test_an_unstable_sort_of_keys_alone_is_the_sort():
    admit(equation_of("sort", lambda x: lax.sort(x, is_stable=False), VECTOR))


def test_a_dtype_without_a_theory_is_refused():
    with pytest.raises(UnsupportedError, match="'add'.* has an operand of int4, which is not followed"):
        admit(equation_of("add", lambda x: lax.add(x, x), VECTOR.astype(jnp.int4)))


# --- scatters that compute --------------------------------------------------------------------------------------------

UPDATES = [
    ("sin", lambda x: x.at[0].apply(jnp.sin), lambda x: x.at[0].set(jnp.sin(x[0])), lambda x: x.at[0].apply(jnp.cos)),
    ("doubled", lambda x: x.at[0].apply(lambda v: 2 * v), lambda x: x.at[0].multiply(2.0), lambda x: x.at[0].set(0.0)),
    (
        "several",
        lambda x: x.at[np.array([0, 2])].apply(lambda v: v * v + 1),
        lambda x: jnp.stack([x[0] ** 2 + 1, x[1], x[2] ** 2 + 1]),
        lambda x: x.at[np.array([0, 1])].apply(lambda v: v * v + 1),
    ),
    (
        "slice",
        lambda x: x.at[1:].apply(jnp.exp),
        lambda x: jnp.concatenate([x[:1], jnp.exp(x[1:])]),
        lambda x: x.at[1:].apply(lambda v: jnp.exp(-v)),
    ),
    (
        "choice",
        lambda x: x.at[1].apply(lambda v: jnp.where(v > 0, v, -v)),
        lambda x: x.at[1].set(jnp.abs(x[1])),
        lambda x: x.at[1].apply(lambda v: -v),
    ),
    ("identity", lambda x: x.at[0].apply(lambda v: v), lambda x: x, lambda x: x.at[0].set(0.0)),
]
"""(name, left, right, another function)."""


@pytest.mark.parametrize("row", UPDATES, ids=lambda row: row[0])
def test_functions_applied_to_entries_are_applied(row):
    _, left, right, other = row
    assert certify(left, right, V).verdict is Verdict.CERTIFIED
    assert certify(left, other, V).verdict is Verdict.REFUTED


def test_scatters_whose_update_is_not_theirs_are_refused():
    """scatter-add with the update of scatter-mul, and with one that swaps nothing but computes more."""
    add = equation_of("scatter-add", PARAMETERS["scatter-add"], VECTOR)
    for name in ("scatter-mul", "scatter-max"):
        update = equation_of(name, PARAMETERS[name], VECTOR).params["update_jaxpr"]
        with pytest.raises(UnsupportedError, match="'scatter-add'.* has update_jaxpr="):
            admit(changed(add, update_jaxpr=update))
    admit(changed(add, update_jaxpr=None))


# --- complex numbers --------------------------------------------------------------------------------------------------

I = np.complex64(1j)


def cast(x):
    """A complex number."""
    return lax.convert_element_type(x, np.complex64)


COMPLEX = [
    ("imaginary factors", lambda x: jnp.abs(cast(x) * I), lambda x: jnp.abs(cast(x) * (2 * I)), S),
    ("imaginary parts", lambda x: jnp.abs(cast(x) + I * cast(x)), lambda x: jnp.abs(x), S),
    ("complex quotients", lambda x: jnp.abs(1 / (1 + I * cast(x))), lambda x: jnp.abs(1 / (1 + 2 * I * cast(x))), S),
    ("complex exponentials", lambda x: jnp.exp(I * cast(x)).real, jnp.sin, S),
    ("complex constants", lambda x: (cast(x) * (2 + I)).real, lambda x: 3 * x, S),
    ("arrays of constants", lambda x: (cast(x) * np.array([1, 1j, 2], np.complex64)).real, lambda x: x, V),
    ("Fourier transforms", lambda x: jnp.abs(jnp.fft.fft(x)), lambda x: jnp.abs(x), V),
    ("real Fourier transforms", lambda x: jnp.fft.irfft(jnp.fft.rfft(x), 3), lambda x: 2 * x, V),
    ("complex from parts", lambda x: lax.real(lax.complex(x, 2 * x)), lambda x: 2 * x, S),
    ("casts", lambda x: lax.real(cast(x)), lambda x: 2 * x, S),
]
"""(name, left, right, *specs)."""


@pytest.mark.parametrize("row", COMPLEX, ids=lambda row: row[0])
def test_the_imaginary_part_of_complex_numbers_counts(row):
    _, left, right, *specs = row
    assert certify(left, right, *specs).verdict is Verdict.REFUTED
    assert certify(left, left, *specs).verdict is Verdict.PROVED


@pytest.mark.parametrize("row", COMPLEX, ids=lambda row: row[0])
def test_a_walk_refuses_complex_numbers_in_one_line(row):
    """Programs are of real and imaginary parts before they are walked over; one that is not is refused."""
    _, left, _, *specs = row
    with pytest.raises(UnsupportedError, match="is complex; complex numbers are not followed: compute with real parts"):
        exponential_depth.profile(trace(left, *specs))


REAL = [
    ("constants with a real result", lambda x: x * np.float32(np.abs(3 + 4j)), lambda x: 5 * x, S),
    ("the real part of a constant", lambda x: x * np.float32((2 + 1j).real), lambda x: 2 * x, S),
]


@pytest.mark.parametrize("row", REAL, ids=lambda row: row[0])
def test_complex_numbers_outside_the_program_do_no_harm(row):
    _, left, right, *specs = row
    assert certify(left, right, *specs).verdict is Verdict.CERTIFIED


# --- every primitive at special values --------------------------------------------------------------------------------

FEW = [0.0, 1.0, -1.0, 2.0, -2.5, np.inf, -np.inf, np.nan]
MANY = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2.0, -3.0, 1e-300, 1e300, -1e300, 700.0, 1e16,
        4503599627370497.5, 0.49999999999999994, -(2.0**31), 2.0**31, 2.0**63, np.inf, -np.inf, np.nan]  # fmt: skip
ONE = """abs acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erf_inv erfc exp exp2 expm1 floor is_finite lgamma
log log1p logistic neg rsqrt sign sin sinh sqrt square tan tanh""".split()
TWO = "add atan2 div eq ge gt le lt max min mul ne pow rem sub".split()
ROWS = "reduce_max reduce_min reduce_prod reduce_sum".split()
PREFIXES = "cumlogsumexp cummax cummin cumprod cumsum".split()
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_]
AT = {
    **{name: (getattr(lax, name), 1) for name in ONE},
    **{name: (getattr(lax, name), 2) for name in TWO},
    **{name: (lambda *x, name=name: getattr(lax, name)(jnp.stack(x), (0,)), 3) for name in ROWS},
    **{name: (lambda *x, name=name: getattr(lax, name)(jnp.stack(x), 0), 3) for name in PREFIXES},
    **{f"cast to {np.dtype(d)}": (lambda x, d=d: lax.convert_element_type(x, d), 1) for d in INTEGERS},
    **{f"power {y}": (lambda x, y=y: lax.integer_pow(x, y), 1) for y in (-3, -2, -1, 0, 1, 2, 3)},
    "argmax": (lambda *x: lax.argmax(jnp.stack(x), 0, np.int32), 3),
    "argmin": (lambda *x: lax.argmin(jnp.stack(x), 0, np.int32), 3),
    "argsort": (lambda *x: lax.sort((jnp.stack(x), lax.broadcasted_iota(np.int32, (3, *x[0].shape), 0)), 0)[1], 3),
    "clamp": (lambda low, x, high: lax.clamp(low, x, high), 3),
    "round away": (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), 1),
    "round to even": (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), 1),
    "select": (lambda x, y: lax.select_n(x > y, x, y), 2),
    "sort": (lambda *x: lax.sort(jnp.stack(x), 0), 3),
    "top": (lambda *x: lax.top_k(jnp.stack(x, -1), 2)[0], 3),
    "top places": (lambda *x: lax.top_k(jnp.stack(x, -1), 2)[1], 3),
    "pooled max": (lambda *x: lax.reduce_window(jnp.stack(x), -np.inf, lax.max, (3, 1), (1, 1), "VALID"), 3),
    "pooled min": (lambda *x: lax.reduce_window(jnp.stack(x), np.inf, lax.min, (3, 1), (1, 1), "VALID"), 3),
    "scattered max": (lambda x, y: jnp.stack([x, y]).at[np.array([0, 0])].max(jnp.stack([y, x])), 2),
}
"""A function of so many operands for each primitive."""

CLOSE = 1e-12
"""float64's functions differ by a few units in the last place, 2⁻⁵², from XLA's; 10⁻¹² is 4,500 of them."""


def at_special_values(count):
    """All combinations of special values, one array for each operand."""
    return [
        np.array(column) for column in zip(*itertools.product(FEW if count == 3 else MANY, repeat=count), strict=True)
    ]


def of_jax(name, arguments):
    """What JAX computes.

    Without optimisation, as the suite compiles, nothing is fused to multiply-add, and XLA's lgamma is 9·10⁻¹⁶ instead
    of 0 at 2, and −∞ at −∞: it is compiled as users do.
    """
    options = {"xla_backend_optimization_level": 3} if name == "lgamma" else None
    return np.asarray(jax.jit(AT[name][0], compiler_options=options)(*arguments))


def alike(found, wanted):
    """Where two results are the same number, infinity, NaN or integer; floats up to CLOSE, or flushed to zero."""
    if found.dtype != np.float64:
        return found == wanted
    near = np.abs(found - wanted) <= CLOSE * np.minimum(np.abs(found), np.abs(wanted))
    flushed = np.maximum(np.abs(found), np.abs(wanted)) < np.finfo(np.float64).smallest_normal
    return (found == wanted) | (np.isnan(found) & np.isnan(wanted)) | near | flushed


@pytest.mark.parametrize("name", AT)
def test_float64_is_jax_at_special_values(name):
    function, count = AT[name]
    arguments = at_special_values(count)
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = of_jax(name, arguments)
        found = np.asarray(interpret(trace(function, *arguments), Doubles(), [x[None] for x in arguments])[0])
        assert np.all(alike(found.reshape(wanted.shape), wanted))


UNSIGNED_ZERO = {"atan2", "div", "power -1", "power -3", "rsqrt", "top places"}
"""Functions that tell 0 from -0, which balls do not."""


@pytest.mark.parametrize("name", AT)
def test_balls_hold_jax_at_special_values(name):
    """The enclosure holds JAX's value, or nothing is said: NaN and what balls do not settle decide nothing."""
    function, count = AT[name]
    columns = at_special_values(count)
    told = 0
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = of_jax(name, columns)
        closed = trace(function, *(np.zeros(1) for _ in columns))
        for place in range(len(columns[0])):
            point = [column[place] for column in columns]
            if np.isnan(point).any() or name in UNSIGNED_ZERO and 0.0 in point:
                continue
            value = wanted.take([place], axis=0 if name.startswith("top") else -1)
            try:
                found = interpret(closed, Balls(), [Balls().number([x]) for x in point])[0]  # type: ignore[arg-type]
            except UatJaxError:
                continue
            told += sum(held(ball, x) for ball, x in zip(found.ravel(), value.ravel(), strict=True))
    assert told > len(columns[0]) // 8


def held(ball, value):
    """Whether a ball says something; it must hold the value, up to CLOSE."""
    if not hasattr(ball, "mid"):
        assert ball == value
        return True
    if ball.is_nan() or not ball.is_exact() and not ball.is_finite():
        return False
    if not ball.is_finite():
        assert float(ball) == value
        return True
    assert abs(float(ball.mid()) - value) <= CLOSE * abs(value) + float(ball.rad()) or overflows(ball, value)
    return True


def overflows(ball, value):
    """Whether the exact number lies beyond float64, or so near to zero that devices flush it."""
    beyond = np.isinf(value) and abs(ball) > np.finfo(np.float64).max
    return beyond or abs(value) == 0 and abs(ball) < np.finfo(np.float64).smallest_normal


LOGICAL = [lax.bitwise_and, lax.bitwise_or, lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: np.dtype(dtype).name)
def test_integers_of_every_copy_are_those_of_jax(dtype):
    """Integers that differ from copy to copy, extremes of the dtype among them, and their casts."""
    edges = [False, True] if dtype == np.bool_ else [0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max, 100]
    left, right = (np.array(c, dtype) for c in zip(*itertools.product(edges, repeat=2), strict=True))
    casts = [lambda x, y, d=d: lax.convert_element_type(x, d) for d in INTEGERS]
    choice = lambda x, y: lax.select_n(x != y, x, y)
    with jax.enable_x64(True):
        for function in (*LOGICAL, choice, lambda x, y: lax.bitwise_not(x), *casts):
            closed = jax.make_jaxpr(function)(left[0], right[0])
            found = interpret(closed, Doubles(), [left, right])[0]
            wanted = np.asarray(function(left, right))
            assert found.dtype == wanted.dtype and np.array_equal(found, wanted), closed
