"""Every definition, rule and control structure agrees with JAX, and layers of libraries are walked whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax

from uat_jax.errors import UnsupportedError
from uat_jax.interpret import interpreter
from uat_jax.interpret.definitions import DEFINITIONS
from uat_jax.interpret.interpreter import called, interpret
from uat_jax.interpret.linear_algebra import LINEAR_ALGEBRA
from uat_jax.interpret.structure import in_copies, moved, positions
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import Balls, UndecidedError, exact
from uat_jax.numbers.floats.doubles import Doubles

SEED = 20261
TOLERANCE = 1e-11
"""Of the largest entry. At most 1000 roundings of 2^-53 each on either side, of partial results at most 40 times the
largest entry: 2 · 1000 · 40 · 2^-53 = 9e-12."""


class Defined(Doubles):
    """Float64 arithmetic without a rule for anything that has a definition."""

    name = "float64 arithmetic by definitions"
    rules = {name: rule for name, rule in Doubles.rules.items() if name not in DEFINITIONS}


def drawn(shape, dtype="float64"):
    print("seed", SEED)
    random = np.random.default_rng(SEED)
    with jax.enable_x64(dtype == "float64"):
        return np.asarray(jnp.asarray(random.uniform(0.3, 2.0, shape) * random.choice([-1, 1], shape), dtype))


def in_float64(function, arguments):
    """JAX's own value of the function at the same numbers in float64."""
    with jax.enable_x64(True):
        wide = [jnp.asarray(np.asarray(x).astype(np.float64)) for x in arguments]
        return np.asarray(jax.jit(function)(*wide))


def walked(function, arguments, arithmetic):
    (value,) = interpret(trace(function, *arguments), arithmetic, [arithmetic.number(x) for x in arguments])
    return value


def midpoints(balls):
    return np.asarray(np.frompyfunc(lambda x: float(x.mid()), 1, 1)(balls), np.float64)


def agree(got, wanted):
    return got.shape == wanted.shape and bool((np.abs(got - wanted) <= TOLERANCE * np.abs(wanted).max()).all())


def convolution(**options):
    options = {"window_strides": (1, 1), "padding": "VALID", "dimension_numbers": ("NHWC", "HWIO", "NHWC"), **options}
    return lambda x, kernel: lax.conv_general_dilated(x, kernel, precision="highest", **options)


def pool(operation, neutral, **options):
    options = {"window_dimensions": (2, 3), "window_strides": (2, 1), "padding": "SAME", **options}
    return lambda x: lax.reduce_window(x, neutral, operation, **options)


def indices(*entries):
    return jnp.array(entries, jnp.int32)


def bins(side, start=0):
    """x times the number of integers from start - 2 to start + 1 that lie before it."""
    edges = lambda x: jnp.arange(start - 2, start + 2, dtype=x.dtype)
    return lambda x: x * jnp.searchsorted(edges(x), x, side=side, method="compare_all").astype(x.dtype)


def pooled_gradient(size):
    return jax.grad(lambda x: (pool(lax.max, -np.inf, window_dimensions=(size, 2))(x) ** 2).sum())


IMAGE, KERNEL, MATRIX = (2, 8, 7, 4), (3, 2, 4, 6), (5, 6)
WINDOW = lax.GatherDimensionNumbers((1, 2), (), (0, 1))

# name: (primitive, function, a plausible mistake, shapes of the arguments)
CASES = {
    "acosh": ("acosh", lambda x: lax.acosh(1 + x * x), lambda x: lax.asinh(1 + x * x), MATRIX),
    "argmin": ("argmin", lambda x: x[jnp.argmin(x, 0), 0], lambda x: x[jnp.argmax(x, 0), 0], MATRIX),
    "asinh": ("asinh", lax.asinh, lax.sinh, MATRIX),
    "atanh": ("atanh", lambda x: lax.atanh(x / 3), lambda x: lax.tanh(x / 3), MATRIX),
    "clamp": ("clamp", lambda x: lax.clamp(x.dtype.type(-1), x, x.dtype.type(0.5)), lambda x: x, MATRIX),
    "conv": ("conv_general_dilated", convolution(), convolution(padding="SAME"), IMAGE, KERNEL),
    "conv 1d": (
        "conv_general_dilated",
        convolution(window_strides=(2,), padding="SAME", dimension_numbers=("NCW", "OIW", "NCW")),
        convolution(window_strides=(1,), padding="SAME", dimension_numbers=("NCW", "OIW", "NCW")),
        (2, 3, 9),
        (4, 3, 3),
    ),
    "conv batch groups": (
        "conv_general_dilated",
        convolution(batch_group_count=2),
        lambda x, kernel: convolution(batch_group_count=2)(x[::-1], kernel),
        IMAGE,
        KERNEL,
    ),
    "conv dilated": (
        "conv_general_dilated",
        convolution(rhs_dilation=(2, 1), lhs_dilation=(1, 2), padding=((1, 2), (0, -1))),
        convolution(rhs_dilation=(1, 1), lhs_dilation=(1, 2), padding=((0, 1), (0, -1))),
        IMAGE,
        KERNEL,
    ),
    "conv feature groups": (
        "conv_general_dilated",
        convolution(feature_group_count=2, dimension_numbers=("NHWC", "HWIO", "HWNC")),
        lambda x, kernel: convolution(feature_group_count=2, dimension_numbers=("NHWC", "HWIO", "HWNC"))(
            x[..., ::-1], kernel
        ),
        IMAGE,
        (3, 2, 2, 6),
    ),
    "conv strided": (
        "conv_general_dilated",
        convolution(window_strides=(2, 1), padding="SAME"),
        lambda x, kernel: convolution(window_strides=(2, 1), padding="SAME")(x, kernel[::-1]),
        IMAGE,
        KERNEL,
    ),
    "cosh": ("cosh", lax.cosh, lax.sinh, MATRIX),
    "cumlogsumexp": ("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1), lambda x: lax.cummax(x, 1), MATRIX),
    "cummax": ("cummax", lambda x: lax.cummax(x, 0), lambda x: lax.cummax(x, 0, reverse=True), MATRIX),
    "cummin": ("cummin", lambda x: lax.cummin(x, 1, reverse=True), lambda x: lax.cummax(x, 1, reverse=True), MATRIX),
    "cumprod": ("cumprod", lambda x: lax.cumprod(x, 1), lambda x: lax.cumprod(x, 0), MATRIX),
    "cumsum": ("cumsum", lambda x: lax.cumsum(x, 1), lambda x: lax.cumsum(x, 1, reverse=True), MATRIX),
    "cumsum reversed": ("cumsum", lambda x: lax.cumsum(x, 0, reverse=True), lambda x: lax.cumsum(x, 0), (3, 5, 2)),
    "cumsum of one": ("cumsum", lambda x: lax.cumsum(x, 0), lambda x: 2 * x, (1, 3)),
    "erfc": ("erfc", lax.erfc, lax.erf, MATRIX),
    "exp2": ("exp2", lax.exp2, lax.exp, MATRIX),
    "expm1": ("expm1", lax.expm1, lax.exp, MATRIX),
    "integer_pow": ("integer_pow", lambda x: lax.integer_pow(x, -5), lambda x: lax.integer_pow(x, 5), MATRIX),
    "log1p": ("log1p", lambda x: lax.log1p(x * x), lambda x: lax.log(x * x), MATRIX),
    "logistic": ("logistic", lax.logistic, lax.tanh, MATRIX),
    "min": ("min", lambda x: lax.min(x, -x), lambda x: lax.max(x, -x), MATRIX),
    "reduce_min": ("reduce_min", lambda x: jnp.min(x, (0, 2)), lambda x: jnp.max(x, (0, 2)), (2, 3, 4)),
    "reduce_prod": ("reduce_prod", lambda x: jnp.prod(x, (0, 2)), lambda x: jnp.sum(x, (0, 2)), (3, 2, 5)),
    "rem": ("rem", lambda x: lax.rem(x, 0 * x + 0.75), lambda x: jnp.mod(x, 0.75), MATRIX),
    "rsqrt": ("rsqrt", lambda x: lax.rsqrt(x * x), lambda x: lax.sqrt(x * x), MATRIX),
    "average pool": ("reduce_window_sum", pool(lax.add, 0.0), pool(lax.add, 0.0, padding="VALID"), MATRIX),
    "average pool, dilated": (
        "reduce_window_sum",
        pool(lax.add, 0.0, padding=((1, 0), (2, 2)), base_dilation=(2, 1), window_dilation=(1, 2)),
        pool(lax.add, 0.0, padding=((1, 0), (1, 1)), base_dilation=(2, 1), window_dilation=(1, 1)),
        MATRIX,
    ),
    "max pool": ("reduce_window_max", pool(lax.max, -np.inf), pool(lax.min, np.inf), MATRIX),
    "min pool": ("reduce_window_min", pool(lax.min, np.inf), pool(lax.max, -np.inf), MATRIX),
    "max pool's gradient": ("select_and_scatter_add", pooled_gradient(2), pooled_gradient(3), MATRIX),
    "scatter": (
        "scatter",
        lambda x: x.at[indices(3, 0)].set(x[1:3]),
        lambda x: x.at[indices(3, 0)].add(x[1:3]),
        MATRIX,
    ),
    "scatter-add": (
        "scatter-add",
        lambda x: x.at[indices(1, 1, 4, 9)].add(x[:4]),
        lambda x: x.at[indices(1, 1, 4, 9)].set(x[:4]),
        MATRIX,
    ),
    "scatter-add clipped": (
        "scatter-add",
        lambda x: x.at[indices(1, 9)].add(x[:2], mode="clip"),
        lambda x: x.at[indices(1, 9)].add(x[:2], mode="drop"),
        MATRIX,
    ),
    "scatter-add of windows": (
        "scatter-add",
        lambda x: jax.grad(lambda x: (x[1:4, indices(0, 0, 2)] ** 2).sum())(x),
        lambda x: jax.grad(lambda x: (x[1:4, indices(0, 2)] ** 2).sum())(x),
        MATRIX,
    ),
    "scatter-add, batched": (
        "scatter-add",
        jax.vmap(lambda x: x.at[indices(1, 1)].add(x[:2])),
        jax.vmap(lambda x: x.at[indices(1, 2)].add(x[:2])),
        MATRIX,
    ),
    "scatter-max": (
        "scatter-max",
        lambda x: x.at[:, indices(0, 0)].max(x[:, 2:4]),
        lambda x: x.at[:, indices(0, 0)].min(x[:, 2:4]),
        MATRIX,
    ),
    "reduce by a program": (
        "reduce",
        lambda x: lax.reduce(x, np.asarray(0, x.dtype), lambda a, b: b + a, (0,)),
        lambda x: lax.reduce(x, np.asarray(1, x.dtype), lambda a, b: b * a, (0,)),
        MATRIX,
    ),
    "reduce_window by a program": (
        "reduce_window",
        lambda x: lax.reduce_window(x, np.asarray(1, x.dtype), lambda a, b: a * b, (2, 1), (1, 1), "SAME"),
        lambda x: lax.reduce_window(x, np.asarray(0, x.dtype), lambda a, b: a + b, (2, 1), (1, 1), "SAME"),
        MATRIX,
    ),
    "scatter-min": (
        "scatter-min",
        lambda x: x.at[indices(0, 0)].min(x[2:4]),
        lambda x: x.at[indices(0, 0)].max(x[2:4]),
        MATRIX,
    ),
    "scatter-mul": (
        "scatter-mul",
        lambda x: x.at[indices(0, 0)].mul(x[2:4], unique_indices=False),
        lambda x: x.at[indices(0, 1)].mul(x[2:4], unique_indices=False),
        MATRIX,
    ),
    "sinh": ("sinh", lax.sinh, lax.cosh, MATRIX),
    "square": ("square", lax.square, lambda x: x, MATRIX),
    "total order": ("le_to", bins("right"), bins("left", 1), MATRIX),
    "total order, strict": ("lt_to", bins("left"), bins("left", 1), MATRIX),
    "tan": ("tan", lax.tan, lax.sin, MATRIX),
    "top_k": ("top_k", lambda x: lax.top_k(x, 2)[0], lambda x: lax.top_k(-x, 2)[0], MATRIX),
}  # fmt: skip


def written(jaxpr):
    """The jaxpr, and those it calls: some operations of JAX 0.12 do not print theirs."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    inner = filter(None, map(called, jaxpr.eqns))
    return "\n".join([str(jaxpr), *map(written, inner)])


@pytest.mark.parametrize("dtype", one_in(3, ["bfloat16", "float32", "float64"]))
@pytest.mark.parametrize("name", CASES)
def test_definition_agrees_with_jax(name, dtype):
    primitive, function, mistake, *shapes = CASES[name]
    arguments = [drawn(shape, dtype) for shape in shapes]
    assert f" {primitive}[" in (text := written(trace(function, *arguments))) or f" {primitive} " in text
    value = walked(function, arguments, Defined())[0]
    assert agree(value, in_float64(function, arguments))
    assert not agree(value, in_float64(mistake, arguments))


def test_every_definition_is_exercised():
    # JAX writes add_any, reduce_precision and scatter-sub in derivatives and casts alone, and one_minus_square in tanh
    # (from 0.11 on); jnp.log2 is log2 in 0.12 (test_primitives_document), and eq_to is an equality of whole orders.
    # Factorisations have tests of their own (test_linear_algebra).
    assert set(DEFINITIONS) - set(LINEAR_ALGEBRA) - {primitive for primitive, *_ in CASES.values()} == {
        "add_any",
        "eq_to",
        "log2",
        "reduce_precision",
        "scatter-sub",
        "one_minus_square",
    }


@pytest.mark.parametrize(
    "name", ["conv strided", "cummax", "cumsum", "max pool", "reduce_prod", "scatter-add", "top_k"]
)
def test_definitions_in_balls(name):
    _, function, mistake, *shapes = CASES[name]
    arguments = [drawn(shape) for shape in shapes]
    value = midpoints(exact(function, arguments))
    assert agree(value, in_float64(function, arguments))
    assert not agree(value, in_float64(mistake, arguments))


# --- rules of order and integers ------------------------------------------------------------------

HALVES = np.array([-2.5, -1.5, -0.5, -0.2, 0.0, 0.49999999999999994, 0.5, 1.5, 2.5, 3.0])
ORDER = {
    "argmax": (lambda x: x[jnp.argmax(x)] + jnp.argmax(x).astype(x.dtype), lambda x: x[jnp.argmin(x)]),
    "argsort": (lambda x: jnp.argsort(-x).astype(x.dtype), lambda x: jnp.argsort(x).astype(x.dtype)),
    "booleans": (
        lambda x: jnp.where(((x > 0) & jnp.isfinite(x)) | ~(x < 2), x, 3 * x),
        lambda x: jnp.where((x > 0) & ~(x < 2), x, 3 * x),
    ),
    "cast": (lambda x: x.astype(np.int32).astype(x.dtype), jnp.floor),
    "ceil": (jnp.ceil, jnp.floor),
    "floor": (jnp.floor, jnp.trunc),
    "lexicographic": (
        lambda x: lax.sort((jnp.sign(x), -x), num_keys=2)[1],
        lambda x: lax.sort((jnp.sign(x), -x), num_keys=1)[1],
    ),
    "one hot": (lambda x: jax.nn.one_hot(jnp.argmax(x), 10, dtype=x.dtype), lambda x: 0 * x),
    "round away": (
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    ),
    "round to even": (
        lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    ),
    "sign": (jnp.sign, jnp.abs),
    "sort": (lambda x: jnp.sort(x[::-1]), lambda x: x[::-1]),
    "sorted columns": (
        lambda x: jnp.sort(jnp.stack([x, -x]), axis=0)[0],
        lambda x: jnp.sort(jnp.stack([x, -x]), axis=0)[1],
    ),
}


@pytest.mark.parametrize("name", ORDER)
def test_orders_and_integers(name):
    function, mistake = ORDER[name]
    wanted = in_float64(function, [HALVES])
    balls = midpoints(exact(function, (HALVES,)))
    doubles = walked(function, [HALVES], Doubles())[0]
    # Nothing is rounded.
    assert (doubles == wanted).all() and (balls == wanted).all()
    assert (doubles != in_float64(mistake, [HALVES])).any()


@pytest.mark.parametrize("name", ORDER)
def test_orders_and_integers_of_every_copy(name):
    """Copies whose integers differ are evaluated as if each were alone."""
    copies = np.stack([HALVES, HALVES[::-1] + 0.25, np.roll(HALVES, 3)])
    function, _ = ORDER[name]
    with jax.enable_x64(True):
        (together,) = interpret(trace(function, HALVES), Doubles(), [copies])
    assert (together == np.stack([in_float64(function, [copy]) for copy in copies])).all()
    assert (together[0] != together[1]).any()


@pytest.mark.parametrize("function", [jnp.floor, jnp.round, jnp.sort])
def test_undecided_orders(function):
    """sin² + cos² = 1 is not seen by balls: neither its floor, nor its order beside 1."""
    tie = lambda x: function(jnp.stack([jnp.sin(x) ** 2 + jnp.cos(x) ** 2 + (function is jnp.round) / 2, 1 + 0 * x]))
    with pytest.raises(UndecidedError, match="not decided"):
        exact(tie, (jnp.float32(0.3),))


@pytest.mark.parametrize("name", ["atan2", "cbrt", "erf_inv", "lgamma", "pow"])
def test_functions_without_definitions(name):
    function = {"atan2": lambda x: lax.atan2(x, 0.5 + x), "pow": lambda x: x**1.7}.get(name) or getattr(lax, name)
    x = np.abs(drawn(MATRIX)) / 2.5
    balls = midpoints(exact(function, (x,)))
    assert agree(walked(function, [x], Doubles())[0], balls)
    assert not agree(walked(function, [x * 1.001], Doubles())[0], balls)


# --- control flow, random keys, indices -----------------------------------------------------------


def _while(x):
    return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 2, c[1] * 2), (jnp.int32(0), x))[1]


CONTROL = {
    "while": (_while, lambda x: 4 * x),
    "fori_loop": (lambda x: lax.fori_loop(0, jnp.int32(3), lambda i, y: y + x[i], x), lambda x: x),
    "integers scanned": (
        lambda x: x * lax.scan(lambda c, i: (c + i, c), jnp.int32(1), jnp.arange(5, dtype=np.int32))[1].astype(x.dtype),
        lambda x: x,
    ),
    "empty scan": (lambda x: lax.scan(lambda c, y: (c + y, c), x, x[:0])[0], lambda x: 2 * x),
    "keys": (lambda x: x * jax.random.normal(jax.random.key(3), x.shape, x.dtype), lambda x: x),
    "keys in jit": (jax.jit(lambda x: x + jax.random.uniform(jax.random.key(3), x.shape, x.dtype)), lambda x: x),
    "keys split": (
        lambda x: x * jax.random.uniform(jax.random.split(jax.random.key(1), 3)[1], x.shape, x.dtype),
        lambda x: x * jax.random.uniform(jax.random.split(jax.random.key(1), 3)[2], x.shape, x.dtype),
    ),
    "keys scanned": (
        lambda x: lax.scan(
            lambda c, key: (c + jax.random.uniform(key, (), x.dtype), key), x[0], jax.random.split(jax.random.key(1), 3)
        )[0],
        lambda x: x[0],
    ),
    "keys folded in": (
        lambda x: x[jax.random.permutation(jax.random.fold_in(jax.random.PRNGKey(0), 7), 5)],
        lambda x: x,
    ),
    "dropout": (
        lambda x: jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, x.shape), x / 0.5, 0),
        lambda x: 2 * x,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROL)
def test_control_flow_and_keys_are_concrete(name):
    function, mistake = CONTROL[name]
    x = drawn((5,))
    with jax.enable_x64(True):
        value = walked(function, [x], Doubles())[0]
    assert agree(value, in_float64(function, [x]))
    assert not agree(value, in_float64(mistake, [x]))


def test_loops_that_depend_on_the_input():
    f = lambda x: lax.while_loop(lambda y: y[0] < 9, lambda y: y * 2, x)
    closed = trace(f, np.ones(2, np.float32))
    copies = np.array([[1.0, 1.0], [8.0, 1.0]])
    with pytest.raises(UnsupportedError, match=r"at test_definitions.py:\d+ depends on the input; use jnp.where"):
        interpret(closed, Doubles(), [copies])
    (value,) = interpret(closed, Doubles(), [copies[:1]])
    assert value.tolist() == [[16.0, 16.0]]


def test_loops_without_end(monkeypatch):
    monkeypatch.setattr(interpreter.Arithmetic, "most_rounds", 10)
    f = lambda x: lax.while_loop(lambda c: c[0] < 11, lambda c: (c[0] + 1, c[1]), (0, x))[1]
    with pytest.raises(UnsupportedError, match=r"at test_definitions.py:\d+ runs more than 10 rounds"):
        walked(f, [np.ones(2, np.float32)], Doubles())
    monkeypatch.setattr(interpreter.Arithmetic, "most_rounds", 12)
    assert (walked(f, [np.ones(2, np.float32)], Doubles()) == 1).all()


def test_updates_that_land_twice():
    f = lambda x: x.at[indices(1, 1)].set(x[:2])
    with pytest.raises(UnsupportedError, match=r"'scatter' at test_definitions.py:\d+: .*unique"):
        walked(f, [np.ones(3, np.float32)], Doubles())


def test_indices_that_depend_on_the_input():
    f = lambda x: x.at[jnp.argmax(x)].add(1)
    closed = trace(f, np.ones(2, np.float32))
    with pytest.raises(UnsupportedError, match=r"'scatter-add' at test_definitions.py:\d+: an index depends"):
        interpret(closed, Doubles(), [np.array([[1.0, 2.0], [2.0, 1.0]])])
    assert interpret(closed, Doubles(), [np.array([[1.0, 2.0]])])[0].tolist() == [[1.0, 3.0]]


def test_a_missing_rule_inside_a_definition_is_reported_at_the_users_line():
    class Poor(Doubles):
        rules = {name: rule for name, rule in Doubles.rules.items() if name not in ("tan", "cos")}

    with pytest.raises(UnsupportedError, match=r"'cos', part of 'tan' at test_definitions.py:\d+"):
        walked(lambda x: lax.tan(x), [np.ones(2, np.float32)], Poor())


GATHERS = {
    "rows": lambda x: x[indices(4, 0, 9)],
    "columns": lambda x: x[:, indices(1, 1)],
    "pairs": lambda x: x[indices(0, 3), indices(5, 2)],
    "windows": lambda x: lax.gather(x, indices(0, 1, 3, 4).reshape(2, 2), WINDOW, (2, 2), mode="clip"),
    "clamped": lambda x: lax.gather(x, indices(4, 5, 3, 4).reshape(2, 2), WINDOW, (2, 2), mode="clip"),
    "outside": lambda x: lax.gather(
        x, indices(4, 5, 3, 4).reshape(2, 2), WINDOW, (2, 2), mode="fill", fill_value=np.int32(-1)
    ),
    "batched": jax.vmap(lambda x: x[indices(3, 1)]),
    "each its own": lambda x: jnp.take_along_axis(x, indices(3, 1, 0, 0, 2).reshape(5, 1), 1),
    "padded": lambda x: lax.pad(x, np.int32(-1), ((2, -1, 1), (-2, 3, 2))),
    "sliced": lambda x: lax.dynamic_slice(x, (jnp.int32(4), jnp.int32(1)), (2, 3)),
    "updated": lambda x: lax.dynamic_update_slice(x, x[:2, :3], (jnp.int32(4), jnp.int32(1))),
}


@pytest.mark.parametrize("name", GATHERS)
def test_structure_in_numpy_is_structure_in_jax(name):
    """The last equation of each, on integers, where JAX is the oracle."""
    x = np.arange(30, dtype=np.int32).reshape(5, 6)
    values = []

    class Recorded(Doubles):
        def plain(self, equation, operands):
            if (result := moved(equation, operands)) is not None:
                values.append((result[0], np.asarray(super().plain(equation, operands)[0])))
            return super().plain(equation, operands)

    interpret(trace(GATHERS[name], x), Recorded(), [x])
    assert values
    for got, wanted in values:
        wanted = np.where(wanted == np.iinfo(np.int32).min, -1, wanted)  # what jnp fills with
        assert got.shape == wanted.shape and (got == wanted).all()
    assert (values[-1][0] != values[-1][0].ravel()[::-1].reshape(values[-1][0].shape)).any()


MOVES = {
    "transposed": lambda x: lax.transpose(x, (2, 0, 1)),
    "reshaped": lambda x: lax.reshape(x, (6, 4)),
    "reshaped to nothing more": lambda x: lax.reshape(x, (24,)),
    "squeezed": lambda x: lax.squeeze(x[:, :1], (1,)),
    "expanded": lambda x: lax.expand_dims(x, (0, 2)),
    "spread": lambda x: lax.broadcast_in_dim(x, (5, 2, 3, 4), (1, 2, 3)),
    "spread along an axis of length 1": lambda x: lax.broadcast_in_dim(x[:, :1], (2, 7, 4), (0, 1, 2)),
    "a part": lambda x: lax.slice(x, (0, 1, 1), (2, 3, 4), (1, 1, 2)),
    "an empty part": lambda x: lax.slice(x, (0, 1, 1), (2, 1, 4)),
    "reversed, which has no move of copies": lambda x: lax.rev(x, (1,)),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("copies", [1, 3])
def test_moves_of_copies_are_those_of_positions(name, copies):
    program = trace(MOVES[name], np.zeros((2, 3, 4), np.float32))
    moves = 0
    for equation in program.eqns:
        shape = equation.invars[0].aval.shape
        x = np.random.default_rng(SEED).integers(0, 1 << 40, (copies, *shape))
        move, (source,) = in_copies(equation), positions(equation, [None])
        if move is None:
            continue
        moves += 1
        got, wanted = move(x), x.reshape(copies, -1)[:, source]
        assert got.shape == wanted.shape and np.array_equal(got, wanted)
        assert wanted.size < 2 or not np.array_equal(got, wanted[:, ..., ::-1]) or wanted.shape[-1] == 1  # the twin
    assert moves == 0 if "no move" in name else moves > 0


# --- functions and layers of libraries ------------------------------------------------------------

NN = {
    "celu": jax.nn.celu,
    "elu": jax.nn.elu,
    "gelu": jax.nn.gelu,
    "gelu exact": lambda x: jax.nn.gelu(x, approximate=False),
    "glu": lambda x: jax.nn.glu(x, axis=-1),
    "hard_tanh": jax.nn.hard_tanh,
    "hard_swish": jax.nn.hard_swish,
    "leaky_relu": jax.nn.leaky_relu,
    "log_sigmoid": jax.nn.log_sigmoid,
    "log_softmax": jax.nn.log_softmax,
    "logsumexp": lambda x: jax.nn.logsumexp(x, axis=0),
    "mish": jax.nn.mish,
    "relu6": jax.nn.relu6,
    "selu": jax.nn.selu,
    "silu": jax.nn.silu,
    "softmax": jax.nn.softmax,
    "softmax where": lambda x: jax.nn.softmax(x, where=np.tri(5, 6, 1, dtype=bool), axis=1),
    "softplus": jax.nn.softplus,
    "soft_sign": jax.nn.soft_sign,
    "squareplus": jax.nn.squareplus,
    "standardize": lambda x: jax.nn.standardize(x, axis=-1),
    "cross entropy": lambda x: (
        -jnp.sum(jax.nn.log_softmax(x) * jax.nn.one_hot(indices(0, 3, 1, 5, 2), 6, dtype=x.dtype))
    ),
    "gradient": jax.grad(lambda x: (jax.nn.softmax(jax.nn.gelu(x)) ** 2).sum()),
    "max gradient": jax.grad(lambda x: jnp.sum(jnp.max(x, 1) ** 2)),
    "embedding gradient": jax.grad(lambda x: (x[indices(1, 1, 4)] ** 2).sum()),
    "associative_scan": lambda x: lax.associative_scan(jnp.multiply, x),
    "norm": lambda x: x / jnp.linalg.norm(x, axis=1, keepdims=True),
    "var": lambda x: jnp.var(x, axis=1),
    "median": lambda x: jnp.median(x, axis=1),
    "einsum": lambda x: jnp.einsum("ij,kj->ik", x, x, precision="highest"),
    "cumulative": lambda x: jnp.cumsum(x, axis=1),
    "triu": lambda x: jnp.triu(x),
    "conv": lambda x: jnp.convolve(x[0], x[1, :3], precision="highest"),
    "bins": lambda x: jnp.searchsorted(jnp.sort(x[0]), x[1], method="compare_all").astype(x.dtype),
    "roll": lambda x: jnp.roll(x, 2, axis=1),
}


@pytest.mark.parametrize("name", one_in(3, NN))
def test_functions_of_jax_are_walked(name):
    assert_walked(NN[name], [drawn(MATRIX)])


def test_attention_of_jax_is_walked():
    """JAX computes the logits in float32 and masks them: the walk leaves the casts out."""
    query, key, value = (drawn((3, 1, 5, 2, 3))[i] for i in range(3))
    attend = lambda x: jax.nn.dot_product_attention(x, key, value, is_causal=True)
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        (got,) = interpret(trace(attend, query), Doubles(), [Doubles().number(query)])
    logits = np.einsum("btnh,bsnh->bnts", query, key) / np.sqrt(np.float32(3))
    weights = np.exp(np.where(np.tri(5, dtype=bool), logits, -np.inf))
    weights /= weights.sum(-1, keepdims=True)
    # The constant 1/√3 is rounded to float32: 2^-24 of logits below 6, hence 12 · 2^-24 = 7e-7 of the weights.
    wanted = np.einsum("bnts,bsnh->btnh", weights, value)
    assert np.abs(got[0] - wanted).max() < 7e-7 * np.abs(wanted).max()
    assert np.abs(got[0] - wanted[:, ::-1]).max() > 1e-2


def layer(build):
    """(function of (parameters, x), parameters) in float64, the parameters all redrawn: none stays 0 or 1.

    Vectors are positive: some are variances.
    """
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        function, parameters, x = build()
        leaves, tree = jax.tree.flatten(parameters)
        leaves = [np.abs(drawn(leaf.shape)) if leaf.ndim == 1 else drawn(leaf.shape) for leaf in leaves]
        return lambda x, *leaves: function(jax.tree.unflatten(tree, leaves), x), [x, *leaves]


def flax_layer(name):
    linen = pytest.importorskip("flax.linen", reason="flax is a test extra")
    wide = {"dtype": np.float64, "param_dtype": np.float64}
    sequence, image = drawn((2, 5, 6)), drawn((2, 6, 6, 3))
    module, x = {
        "Dense": (lambda: linen.Dense(4, **wide), sequence),
        "LayerNorm": (lambda: linen.LayerNorm(**wide), sequence),
        "RMSNorm": (lambda: linen.RMSNorm(**wide), sequence),
        "GroupNorm": (lambda: linen.GroupNorm(num_groups=3, **wide), image),
        "BatchNorm": (lambda: linen.BatchNorm(use_running_average=True, **wide), image),
        "Conv": (lambda: linen.Conv(4, (3, 3), strides=(2, 1), **wide), image),
        "ConvTranspose": (lambda: linen.ConvTranspose(4, (3, 3), strides=(2, 2), **wide), image),
        "Embed": (lambda: linen.Embed(6, 4, **wide), np.array([[1, 5, 0]], np.int32)),
        "attention": (lambda: linen.MultiHeadDotProductAttention(num_heads=2, **wide), sequence),
        "GRU": (lambda: linen.RNN(linen.GRUCell(4, **wide)), sequence),
        "LSTM": (lambda: linen.RNN(linen.OptimizedLSTMCell(4, **wide)), sequence),
    }[name]

    def build():
        built = module()
        return lambda parameters, x: built.apply(parameters, x), built.init(jax.random.key(0), jnp.asarray(x)), x

    return layer(build)


@pytest.mark.parametrize(
    "name",
    one_in(6, "Dense LayerNorm RMSNorm GroupNorm BatchNorm Conv ConvTranspose Embed attention GRU LSTM".split()),
)
def test_layers_of_flax_are_walked(name):
    assert_walked(*flax_layer(name))


@pytest.mark.parametrize("kind", ["avg_pool", "max_pool"])
def test_pools_of_flax_are_walked(kind):
    linen = pytest.importorskip("flax.linen", reason="flax is a test extra")
    pool = lambda x: getattr(linen, kind)(x, (2, 2), strides=(2, 2), padding="SAME")
    assert_walked(pool, [drawn((2, 5, 6, 3))])


def equinox_layer(name):
    equinox = pytest.importorskip("equinox", reason="equinox is a test extra")
    nn, key = equinox.nn, jax.random.key(0)
    vector, sequence, image = drawn((6,)), drawn((5, 6)), drawn((3, 6, 6))
    module, x = {
        "MLP": (lambda: nn.MLP(6, 4, 8, 2, key=key), vector),
        "LayerNorm": (lambda: nn.LayerNorm(6), vector),
        "RMSNorm": (lambda: nn.RMSNorm(6), vector),
        "Conv2d": (lambda: nn.Conv2d(3, 4, 3, stride=2, padding=1, key=key), image),
        "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, key=key), image),
        "AvgPool2d": (lambda: nn.AvgPool2d(2, 2), image),
        "MaxPool2d": (lambda: nn.MaxPool2d(3, 2), image),
        "GRUCell": (lambda: nn.GRUCell(6, 4, key=key), vector),
        "LSTMCell": (lambda: nn.LSTMCell(6, 4, key=key), vector),
        "attention": (lambda: nn.MultiheadAttention(2, 6, key=key), sequence),
    }[name]

    def build():
        parameters, rest = equinox.partition(module(), equinox.is_inexact_array)

        def call(parameters, x):
            built = equinox.combine(parameters, rest)
            if name == "attention":
                return built(x, x, x)
            if name == "LSTMCell":
                return built(x, (x[:4], x[2:]))[0]
            return built(x, x[:4]) if name == "GRUCell" else built(x)

        return call, parameters, x

    return layer(build)


@pytest.mark.parametrize(
    "name",
    one_in(5, "MLP LayerNorm RMSNorm Conv2d ConvTranspose2d AvgPool2d MaxPool2d GRUCell LSTMCell attention".split()),
)
def test_layers_of_equinox_are_walked(name):
    assert_walked(*equinox_layer(name))


def assert_walked(function, arguments):
    """The walk agrees with JAX in float64, and not with JAX at another input."""
    lift = lambda x: Doubles().number(x) if np.issubdtype(x.dtype, np.floating) else x
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):  # the libraries mix dtypes
        (value,) = interpret(trace(function, *arguments), Doubles(), [lift(x) for x in arguments])
        wanted = np.asarray(jax.jit(function)(*arguments))
        other = np.asarray(jax.jit(function)(np.flip(arguments[0]) // 2, *arguments[1:]))
    assert agree(value[0], wanted)
    assert not agree(value[0], other)


def test_balls_and_doubles_share_what_has_a_definition():
    """No arithmetic needs a rule that a definition gives; these two keep the ones that are faster or closer."""
    assert {"conv_general_dilated", "cumsum", "scatter-add"}.isdisjoint({*Balls.rules, *Doubles.rules})
