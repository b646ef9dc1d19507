"""Every number system computes what JAX computes, and every rounding stays within its amplitude."""

import itertools
from fractions import Fraction

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from excerpt import one_in
from flint import arb, ctx
from jax import lax

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.interpret.interpreter import STRUCTURAL, interpret
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import Balls, UndecidedError, enclose, exact
from uat_jax.numbers.floats import matmul_precision as matmul
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.floats.local_error import amplitude, underflow
from uat_jax.numbers.floats.rounding import standard_deviation, standard_deviations, tolerance_factor

SEED = 20240
DTYPES = ("float16", "bfloat16", "float32", "float64")
FULL_DOT = lambda equation: matmul.MatmulPrecision(0.0, matmul.unit_roundoff(jnp.dtype("float64")))


def normal(*shape):
    print("seed", SEED)
    return np.random.default_rng(SEED).normal(size=shape)


def to_floats(balls):
    return np.asarray(np.frompyfunc(lambda x: float(x.mid()), 1, 1)(balls), np.float64)


# --- each primitive against JAX in float64 --------------------------------------------------------

ROUNDING = {
    "add": lambda x, y: x + y,
    "cos": lambda x, y: jnp.cos(x),
    "div": lambda x, y: x / y,
    "dot_general": lambda x, y: lax.dot(x, y.T, precision="highest"),
    "erf": lambda x, y: lax.erf(x),
    "erfc": lambda x, y: lax.erfc(x),
    "exp": lambda x, y: jnp.exp(x),
    "exp2": lambda x, y: lax.exp2(x),
    "expm1": lambda x, y: lax.expm1(x),
    "integer_pow": lambda x, y: lax.integer_pow(x, 3),
    "log": lambda x, y: lax.log(y),
    "log1p": lambda x, y: lax.log1p(y),
    "logistic": lambda x, y: lax.logistic(x),
    "mul": lambda x, y: x * y,
    "pow": lambda x, y: lax.pow(y, x),
    "reduce_sum": lambda x, y: jnp.sum(x, axis=(0, 1)),
    "rsqrt": lambda x, y: lax.rsqrt(y),
    "sin": lambda x, y: jnp.sin(x),
    "sqrt": lambda x, y: lax.sqrt(y),
    "square": lambda x, y: lax.square(x),
    "sub": lambda x, y: x - y,
    "tanh": lambda x, y: jnp.tanh(x),
}


@pytest.mark.parametrize("name", ROUNDING)
def test_primitive_stays_within_its_amplitude_of_the_exact_value(name):
    x, y = normal(5, 7), np.abs(normal(5, 7)) + 0.1
    function = ROUNDING[name]
    with jax.enable_x64(True):
        x, y = jnp.asarray(x), jnp.asarray(y)
        used = trace(function, x, y).jaxpr
        assert name in [equation.primitive.name for equation in used.eqns]
        equation = used.eqns[-1]
        inputs = [{used.invars[0]: x, used.invars[1]: y}.get(v) for v in equation.invars]
        inputs = [y.T if value is None else value for value in inputs]
        values = np.asarray(function(x, y))
        truth = exact(function, (x, y))
        (error,) = np.asarray(amplitude(equation, [value[None] for value in inputs], to_floats(truth)[None], FULL_DOT))
        (doubles,) = interpret(trace(function, x, y), Doubles(), [Doubles().number(x), Doubles().number(y)])
    # A random-order dot or sum is bounded in probability only: 12 amplitudes stand for certainty (2 e^-72).
    bound = error * (12 if name in ("dot_general", "reduce_sum") else 1)

    def within(candidate):
        distance = np.frompyfunc(lambda v, e: float(abs(arb(v) - e).upper()), 2, 1)(candidate, truth)
        return (np.asarray(distance, np.float64) <= bound).all()

    assert within(values)
    assert within(doubles[0])
    # The largest k is log1p's, 1005: an error of 1e-12 is 9000 u.
    assert not within(values * (1 + 1e-12))


EXACT = {
    "abs": lambda x, y, i: jnp.abs(x),
    "broadcast": lambda x, y, i: jnp.broadcast_to(x, (2, *x.shape)),
    "clip": lambda x, y, i: lax.clamp(x.dtype.type(-0.5), x, x.dtype.type(0.5)),
    "compare": lambda x, y, i: jnp.where((x > y) | (x <= -y), x, y),
    "concatenate": lambda x, y, i: jnp.concatenate([x, y], axis=1),
    "dynamic_slice": lambda x, y, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 2)),
    "tile": lambda x, y, i: jnp.tile(x, (2, 3)),
    "dynamic_update": lambda x, y, i: lax.dynamic_update_slice(x, y[:1, :1], (i[0], i[1])),
    "gather": lambda x, y, i: x[i],
    "max": lambda x, y, i: jnp.maximum(x, y),
    "min": lambda x, y, i: jnp.minimum(x, y),
    "neg": lambda x, y, i: -x,
    "pad": lambda x, y, i: lax.pad(x, x.dtype.type(2), [(1, 0, 1), (0, 2, 0)]),
    "reduce_max": lambda x, y, i: jnp.max(x, axis=(0, 1)),
    "reduce_min": lambda x, y, i: jnp.min(x, axis=1),
    "relu": lambda x, y, i: jax.nn.relu(x),
    "reshape": lambda x, y, i: x.reshape(-1),
    "rev": lambda x, y, i: x[::-1],
    "sign": lambda x, y, i: jnp.sign(x),
    "split": lambda x, y, i: jnp.split(x, 2, axis=0)[1],
    "squeeze": lambda x, y, i: x[:1].squeeze(0),
    "stack": lambda x, y, i: jnp.stack([x, y], axis=1),
    "unstack": lambda x, y, i: list(x)[1] + 0 * list(y)[0],
    "stop_gradient": lambda x, y, i: lax.stop_gradient(x),
    "strided": lambda x, y, i: x[::2, 1::3],
    "transpose": lambda x, y, i: x.T,
    "tril": lambda x, y, i: jnp.tril(x),
}


def evaluations(function, dtype, *arguments):
    """JAX's, balls' and float64's value of a function."""
    closed = trace(function, *arguments)
    leaves = [np.asarray(a) for a in arguments]
    numbers = [jnp.issubdtype(a.dtype, jnp.floating) for a in leaves]
    lift = lambda arithmetic: [arithmetic.number(a) if n else a for a, n in zip(leaves, numbers, strict=True)]
    balls = enclose(closed, lift(Balls()))[0]
    (doubles,) = interpret(closed, Doubles(), lift(Doubles()))
    return (
        np.asarray(function(*arguments)).astype(np.float64),
        to_floats(balls),
        np.asarray(doubles[0], np.float64),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_exact_and_structural_primitives_agree_to_the_bit(name, dtype):
    with jax.enable_x64(dtype == "float64"):
        x, y = (jnp.asarray(a, dtype) for a in normal(2, 4, 6))
        values, balls, doubles = evaluations(EXACT[name], dtype, x, y, jnp.array([1, 2]))
    assert values.shape == balls.shape == doubles.shape
    assert (values == balls).all() and (values == doubles).all()
    assert not (values + 1 == balls).any()


def test_structural_list_is_exercised():
    with jax.enable_x64(True):
        x, y = normal(2, 4, 6)
        jaxprs = [str(trace(f, x, y, np.array([1, 2]))) for f in EXACT.values()]
    unused = {name for name in STRUCTURAL if not any(name in text for text in jaxprs)}
    # Which of them a version of JAX writes differs: 0.10 slices where 0.11 unstacks.
    assert unused <= {"expand_dims", "dynamic_update_slice", "tile", "unstack"}


DIMENSIONS = [
    ((4, 3), (3, 5), (((1,), (0,)), ((), ()))),
    ((3, 4), (5, 3), (((0,), (1,)), ((), ()))),
    ((2, 4, 3), (2, 3, 5), (((2,), (1,)), ((0,), (0,)))),
    ((3, 2, 4, 6), (6, 3, 4, 2), (((2, 3), (2, 0)), ((1, 0), (3, 1)))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((2, 3), (4,), (((), ()), ((), ()))),
]


@pytest.mark.parametrize("left, right, dimensions", DIMENSIONS)
def test_dot_general_of_any_axes(left, right, dimensions):
    random = np.random.default_rng(SEED)
    # Small integers: every product and sum is exact in float32.
    x, y = (jnp.asarray(random.integers(-9, 9, shape), jnp.float32) for shape in (left, right))
    dot = lambda x, y: lax.dot_general(x, y, dimensions, precision="highest")
    values, balls, doubles = evaluations(dot, "float32", x, y)
    assert (values == balls).all() and (values == doubles).all()
    swapped = lambda x, y: lax.dot_general(-x, y, dimensions, precision="highest")
    assert (evaluations(swapped, "float32", x, y)[1] != balls).any()


def test_masked_softmax_is_exact():
    logits = jnp.array([[0.5, 1.0, -jnp.inf], [-jnp.inf, 2.0, -jnp.inf]])
    mask = jnp.isfinite(logits)
    softmax = lambda x: jax.nn.softmax(jnp.where(mask, x, -jnp.inf), axis=-1)
    value = exact(softmax, (jnp.where(mask, logits, 7.0),))
    assert value[0, 2] == 0 and value[1, 0] == 0 and value[1, 1] == 1
    with ctx.workprec(128):
        assert value[0].sum().contains(1) and not (value[0].sum() + arb(2) ** -60).contains(1)


def test_precision_is_raised_until_the_value_is_narrow_and_then_restored():
    with jax.enable_x64(True):
        tiny = jnp.asarray(2.0**-300)
        before = ctx.prec
        value = exact(lambda x: (1 + x) - 1, (tiny,))
    assert ctx.prec == before
    assert value[()] == arb(2) ** -300


def test_float64_arguments_without_64_bit_mode():
    x = normal(3, 3)
    value = exact(lambda x: jnp.tril(x)[jnp.array([0, 2])] * 3, (x,))
    with ctx.workprec(128):
        assert value[1, 0] == arb(x[2, 0]) * 3 and value[0, 1] == 0
        assert value[1, 0] != arb(float(np.float32(x[2, 0]))) * 3


def test_undecided_comparison():
    tie = lambda x: jnp.where(jnp.sin(x) ** 2 + jnp.cos(x) ** 2 > 1, x, -x)
    before = ctx.prec
    with pytest.raises(UndecidedError, match="8192 bits.*not decided"):
        exact(tie, (jnp.float32(0.3),))
    assert ctx.prec == before
    assert exact(lambda x: jnp.where(x > 0, x, 2 * x), (jnp.float32(0.0),))[()] == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_arguments_that_are_not_finite(bad):
    with pytest.raises(InputError, match="NaN or infinity"):
        exact(jnp.exp, (jnp.float32(bad),))


# --- the interpreter ------------------------------------------------------------------------------


@jax.custom_jvp
def _with_jvp(x):
    return jnp.maximum(x, 0) * 2


_with_jvp.defjvp(lambda primals, tangents: (_with_jvp(*primals), tangents[0]))


@jax.custom_vjp
def _with_vjp(x):
    return x - 1


_with_vjp.defvjp(lambda x: (_with_vjp(x), None), lambda _, cotangent: (cotangent,))

CALLS = {
    "jit": jax.jit(lambda x: x + 3),
    "custom_jvp": _with_jvp,
    "custom_vjp": _with_vjp,
    "remat": jax.checkpoint(lambda x: x * x),
    "scan": lambda x: lax.scan(lambda carry, row: (carry + row, carry), x[0], x)[1],
    "reversed scan": lambda x: lax.scan(lambda carry, row: (carry + row, carry), x[0], x, reverse=True)[1],
    "cond": lambda x: lax.cond(jnp.array(True), lambda y: -y, lambda y: y, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_entered(name):
    x = jnp.arange(6, dtype=jnp.float32).reshape(3, 2)
    values, balls, doubles = evaluations(CALLS[name], "float32", x)
    assert (values == balls).all() and (values == doubles).all()
    assert (values != np.asarray(x)).any()


def test_unsupported_primitive_names_itself_the_arithmetic_and_the_line():
    def steps(x):
        return lax.nextafter(x, x)

    with pytest.raises(UnsupportedError, match=r"ball arithmetic .* 'nextafter' at test_arithmetic.py:\d+"):
        exact(steps, (jnp.ones(3),))


def test_branch_that_depends_on_the_input():
    f = lambda x: lax.cond(x[0] > 0, lambda y: y, lambda y: -y, x)
    closed = trace(f, jnp.ones(2))
    with pytest.raises(UnsupportedError, match="depends on the input"):
        interpret(closed, Doubles(), [np.array([[1.0, 2.0], [-1.0, 2.0]])])
    (branch,) = interpret(closed, Doubles(), [np.array([[-1.0, 2.0]])])
    assert branch.tolist() == [[1.0, -2.0]]


@pytest.mark.parametrize("name", [*ROUNDING, *EXACT])
def test_copies_are_evaluated_as_if_each_were_alone(name):
    """Copies differ in what they compare, reduce and multiply; a single one must not see the others."""
    function = ROUNDING.get(name) or (lambda x, y: EXACT[name](x, y, np.array([1, 2], np.int32)))
    x, y = normal(3, 4, 6), np.abs(normal(3, 4, 6)) + 0.1
    with jax.enable_x64(True):
        closed = trace(function, x[0], y[0])
        (together,) = interpret(closed, Doubles(), [x, y])
        alone = [interpret(closed, Doubles(), [x[i : i + 1], y[i : i + 1]])[0][0] for i in range(3)]
    # BLAS may add the terms of a product in another order for another batch: 6 terms, each 2^-53.
    np.testing.assert_allclose(together, alone, rtol=1e-14, atol=1e-14)


def test_number_of_arguments():
    with pytest.raises(ShapeError, match="got 1 arguments for a jaxpr of 2"):
        interpret(trace(jnp.add, jnp.ones(2), jnp.ones(2)), Balls(), [Balls().number(np.ones(2))])


def test_equal_equations_are_evaluated_once():
    class Counting(Balls):
        count = 0

        def evaluate(self, equation, operands):
            Counting.count += equation.primitive.name == "exp"
            return super().evaluate(equation, operands)

    inner = jax.jit(jnp.exp)
    f = lambda x, y: inner(x) + inner(x) + jnp.exp(x) + inner(y)
    x, y = (Balls().number(np.asarray(v)) for v in (1.0, 1.0))
    interpret(trace(f, jnp.float32(1), jnp.float32(1)), Counting(), [x, y])
    assert Counting.count == 2


# --- rounding -------------------------------------------------------------------------------------

FUNCTIONS = {
    "acos": (lax.acos, -1.0),
    "acosh": (lax.acosh, 1.0),
    "asin": (lax.asin, -1.0),
    "asinh": (lax.asinh, -np.inf),
    "atan": (lax.atan, -np.inf),
    "atan2": (lambda x: lax.atan2(x, x.dtype.type(0.75)), -np.inf),
    "atanh": (lax.atanh, -1.0),
    "cbrt": (lax.cbrt, -np.inf),
    "cos": (lax.cos, -np.inf),
    "cosh": (lax.cosh, -np.inf),
    "div": (lambda x: x / x.dtype.type(3), -np.inf),
    "erf": (lax.erf, -np.inf),
    "erf_inv": (lax.erf_inv, -1.0),
    "erfc": (lax.erfc, -np.inf),
    "exp": (lax.exp, -np.inf),
    "exp2": (lax.exp2, -np.inf),
    "expm1": (lax.expm1, -np.inf),
    "integer_pow": (lambda x: lax.integer_pow(x, -3), -np.inf),
    "lgamma": (lax.lgamma, 0.0),
    "log": (lax.log, 0.0),
    "log1p": (lax.log1p, -1.0),
    "logistic": (lax.logistic, -np.inf),
    "pow": (lambda x: lax.pow(x, x.dtype.type(1.75)), 0.0),
    "rsqrt": (lax.rsqrt, 0.0),
    "sin": (lax.sin, -np.inf),
    "sinh": (lax.sinh, -np.inf),
    "sqrt": (lax.sqrt, 0.0),
    "square": (lax.square, -np.inf),
    "tan": (lax.tan, -np.inf),
    "tanh": (lax.tanh, -np.inf),
}


def table_inputs(dtype, above):
    """All finite 16-bit floats; of wider ones samples of bit patterns, of [-20, 20] and near 1."""
    dtype = jnp.dtype(dtype)
    random = np.random.default_rng(SEED)
    if dtype.itemsize == 2:
        values = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    else:
        bits = {4: np.uint32, 8: np.uint64}[dtype.itemsize]
        patterns = random.integers(0, np.iinfo(bits).max, 4000, dtype=bits).view(dtype)
        dense = [random.uniform(-20, 20, 8000), random.normal(size=8000), 1 + 0.1 * random.normal(size=4000)]
        values = np.concatenate([patterns, *(part.astype(dtype) for part in dense)])
    with np.errstate(invalid="ignore"):
        wide = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    # Devices flush subnormal inputs to zero, and their quotients overflow.
    return values[(np.abs(wide) >= float(jnp.finfo(dtype).smallest_normal)) & (wide > above)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", one_in(12, FUNCTIONS))
def test_roundoff_table_holds_on_this_backend(name, dtype):
    function, above = FUNCTIONS[name]
    with jax.enable_x64(dtype == "float64"):
        x = table_inputs(dtype, above)[::4]
        closed = trace(function, x)
        values = np.asarray(jax.jit(function)(x)).astype(np.float64)
    truth = _at_1200_bits(closed, x)
    finite = np.isfinite(values)
    x, values, truth = x[finite], values[finite], truth[finite]
    with jax.enable_x64(True), np.errstate(over="ignore"):
        wide = jnp.asarray(x.astype(np.float64))
        result = np.array([float(t) for t in truth])
        (bound,) = np.asarray(amplitude(closed.jaxpr.eqns[-1], [wide[None]], result[None], FULL_DOT))
    error = np.array([float(abs(arb(v) - t).upper()) for v, t in zip(values, truth, strict=True)])
    assert finite.sum() > 1000
    excess = error - bound * (1 + 1e-12)
    worst = excess.argmax()
    assert (excess <= 0).all(), f"at {x[worst]}: {values[worst]} for {truth[worst]}"
    # The table is not idle: a hundredth of it is exceeded. float64's log1p lost its digits in the XLA of JAX 0.10 only.
    assert (error > bound / 100).any() or (name, dtype) == ("log1p", "float64")


def _at_1200_bits(closed, x):
    """Bits enough to reduce the largest float64 modulo 2π."""
    with ctx.workprec(1200):
        return interpret(closed, Balls(), [Balls().number(x)])[0]


@pytest.mark.parametrize("dtype", one_in(2, DTYPES))
@pytest.mark.parametrize("terms, mean", [(3, 0.0), (64, 0.0), (1000, 0.0), (1000, 1.0)])
def test_accumulation_error_has_at_most_the_modelled_variance(terms, mean, dtype):
    rows = 400
    random = np.random.default_rng(SEED)
    with jax.enable_x64(dtype == "float64"):
        x, y = (jnp.asarray(mean + random.normal(size=(rows, terms)), dtype) for _ in range(2))
        dot = lambda x, y: lax.dot_general(x, y, (((1,), (1,)), ((0,), (0,))), precision="highest")
        values = np.asarray(jax.jit(dot)(x, y)).astype(np.float64)
        closed = trace(dot, x, y)
        measured = matmul.matmul_precision(jnp.dtype(dtype), "highest", jax.devices()[0])
    truth = enclose(closed, [Balls().number(x), Balls().number(y)], bits=80)[0]
    error = np.array([float(arb(v) - t) for v, t in zip(values, truth, strict=True)])

    with jax.enable_x64(True):
        operands = [np.asarray(a).astype(np.float64)[None] for a in (x, y)]
        (bound,) = np.asarray(amplitude(closed.jaxpr.eqns[0], operands, to_floats(truth)[None], lambda _: measured))
    mean_square = np.mean((error / np.asarray(bound)) ** 2)
    # 400 squares of mean at most 1 and of variance at most 2: a mean above 1 + 6 √(2/400) = 1.43 has
    # probability below 1e-8.
    assert mean_square < 1.43
    assert mean_square * 64**2 > 1.43  # errors 64 times as large would be seen


def test_accumulation_variance_is_the_average_over_all_orders():
    terms = [Fraction(n) for n in (3, -1, 4, 1, -5)]
    orders = list(itertools.permutations(terms))
    average = sum(sum(sum(order[: j + 1]) ** 2 for j in range(5)) for order in orders) / len(orders)
    formula = matmul.accumulation_variance(5, sum(terms), sum(t**2 for t in terms))
    assert formula == average
    assert matmul.accumulation_variance(6, sum(terms), sum(t**2 for t in terms)) != average


def test_trees_of_additions_have_no_larger_partial_sums():
    """Σ j(n-j) and Σ j² over the nodes of any tree of n leaves are at most those of the chain."""
    for n in (2, 5, 8, 33):
        for weight in (lambda j, n=n: j * (n - j), lambda j: j * j):
            best = [0, 0]
            for j in range(2, n + 1):
                best.append(weight(j) + max(best[k] + best[j - k] for k in range(1, j // 2 + 1)))
            # n Q more is what rounding the products adds, in units of Q/(n (n-1)).
            assert best[n] <= sum(weight(j) for j in range(1, n + 1)) + n * (n - 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_standard_deviation_of_a_formula(dtype):
    """fl(fl(a b) + c) errs by u|ab| and u|ab + c|: σ² = u² ((ab)² + (ab + c)²)."""
    a, b, c = 1.5, 0.75, -0.5
    with jax.enable_x64(dtype == "float64"):
        arguments = [np.asarray(v, jnp.dtype(dtype)) for v in (a, b, c)]
        closed = trace(lambda a, b, c: a * b + c, *arguments)
    random = np.random.default_rng(SEED)
    measured = standard_deviation(closed, arguments, random, samples=4000, dot_precision=FULL_DOT)
    u = matmul.unit_roundoff(jnp.dtype(dtype))
    expected = np.hypot(u * a * b, u * (a * b + c)) + 2 * underflow(jnp.dtype(dtype))
    # The squares take two values, (x ± y)²; relative deviation of their mean: 2xy/(x² + y²) / √4000 < 1.6 %.
    assert abs(float(measured) / expected - 1) < 6 * 0.016
    assert abs(float(measured) / (2 * expected) - 1) > 6 * 0.016


def test_runs_of_one_walk_have_the_noise_that_each_has_alone():
    """Also where a product is exact in one run only, and where an array is shared by all runs."""
    masks = np.array([[0, 1, -1], [0.3, 1, 0], [1, 1, 1], [2, 0.1, 7]], np.float32)
    x, w = normal(4, 3).astype(np.float32), normal(3, 3).astype(np.float32)
    closed = trace(lambda mask, x, w: jnp.tanh((mask * x) @ w * 3.1).sum() + x[0] * x[1] + w[0], masks[0], x[0], w)
    randoms = lambda: [np.random.default_rng([SEED, run]) for run in range(4)]
    options = {"samples": 16, "dot_precision": FULL_DOT}
    together = standard_deviations(closed, [masks, x, w], {0, 1}, randoms(), **options)
    alone = [standard_deviation(closed, [m, v, w], r, **options) for m, v, r in zip(masks, x, randoms(), strict=True)]
    # The same draws: only the order of sums in float64 differs, 2^-53 beside noise of 2^-24 or more.
    assert np.allclose(together, alone, rtol=1e-6, atol=0)
    assert not np.allclose(together, alone[::-1], rtol=1e-6, atol=0)


def test_rounded_constants_have_errors_and_short_ones_have_none():
    def deviation(function):
        closed = trace(function, jnp.float32(1.0))
        random = np.random.default_rng(SEED)
        return float(standard_deviation(closed, [np.float32(1)], random, samples=8, dot_precision=FULL_DOT))

    short = lambda x: jnp.maximum(x, 3.0)
    rounded = lambda x: jnp.maximum(x, 3.1)
    assert deviation(short) == 0
    # ±2u · 3.1 and nothing else.
    assert abs(deviation(rounded) / (2 * 2.0**-24 * float(np.float32(3.1))) - 1) < 1e-12


@pytest.mark.parametrize("samples", [32, 64, 256])
def test_tolerance_factor_is_above_the_exact_quantiles(samples):
    statements, failure = 1000, 1e-6
    p = failure / (2 * statements)
    quantile = mpmath.findroot(
        lambda q: mpmath.gammainc(samples / 2, 0, q / 2, regularized=True) / p - 1,
        (samples / 100, samples),
        solver="bisect",
        verify=False,
    )
    needed = float(mpmath.sqrt(2 * mpmath.log(2 / p)) * mpmath.sqrt(samples / quantile))
    factor = tolerance_factor(samples, statements, failure)
    assert needed <= factor < 1.6 * needed


def test_too_few_samples():
    with pytest.raises(InputError, match="use 2[0-9]"):
        tolerance_factor(4, 100, 1e-9)


# --- the device's matmul --------------------------------------------------------------------------


def fake_device(truncate, accumulate_dtype):
    """Dot products with operands kept to some bits and sums rounded to a dtype, in sequence."""

    def dots(x, y):
        x, y = (truncate(a.astype(np.float64)) for a in (x, y))
        total = np.zeros(x.shape[0])
        for term in (x * y).T:
            total = (total + term).astype(accumulate_dtype).astype(np.float64)
        return total, np.diag(total), total[:, None]

    return dots


def keep(bits):
    def truncate(a):
        mantissa, exponent = np.frexp(a)
        return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent)

    return truncate


@pytest.mark.parametrize("bits, expected", [(53, 0.0), (11, 2.0**-11), (8, 2.0**-8)])
def test_operand_probe(bits, expected):
    assert matmul._operand(fake_device(keep(bits), np.float32), np.dtype("float32")) == expected


@pytest.mark.parametrize(
    "storage, accumulator, expected",
    [
        ("bfloat16", "float32", 2.0**-24),
        ("bfloat16", "bfloat16", 2.0**-8),
        ("float16", "float32", 2.0**-24),
        ("float16", "float16", 2.0**-11),
        ("float32", "float32", 2.0**-24),
    ],
)
def test_accumulation_probe(storage, accumulator, expected):
    dots = fake_device(keep(53), jnp.dtype(accumulator))
    assert matmul._accumulate(dots, jnp.dtype(storage), 2.0**-24) == expected


def test_probe_inside_a_trace():
    device = jax.devices()[0]
    outside = matmul.matmul_precision(np.dtype("float32"), "highest", device)
    matmul.matmul_precision.cache_clear()
    inside = []
    jax.jit(lambda x: inside.append(matmul.matmul_precision(np.dtype("float32"), "highest", device)) or x)(1.0)
    assert inside == [outside]


def test_products_with_zeros_and_ones_do_not_round():
    """I ⊗ W moves the entries of W; W ⊗ W multiplies them."""

    def deviation(left):
        closed = trace(lambda w: jnp.kron(left(w), w), jnp.asarray(normal(2, 2), jnp.float32))
        random = np.random.default_rng(SEED)
        w = normal(2, 2).astype(np.float32)
        return standard_deviation(closed, [w], random, samples=16, dot_precision=FULL_DOT)

    assert (deviation(lambda w: jnp.eye(3, dtype=w.dtype)) == 0).all()
    assert (deviation(lambda w: w) > 0).all()
    assert (deviation(lambda w: 3 * jnp.eye(2, dtype=w.dtype)) > 0).any()
