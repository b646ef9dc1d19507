"""The networks against per-token, per-head loops in NumPy, which carry a bound on their own rounding error.

The reference is computed in float64 from the very numbers the network gets. Beside each value it carries a
bound on the error of any evaluation of the same formula in arithmetic of unit roundoff u, whatever the order
of the sums (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, §3.1: γ_n = n u / (1 − n u)).
The network is such an evaluation, and so is the reference with u = 2⁻⁵³: they may differ by both bounds.
"""

import zlib
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_parameters import drawn, generator, normal
from scipy import special

from uat_jax.errors import InputError, ShapeError
from uat_jax.networks import (
    ACTIVATIONS,
    activation,
    attention,
    attention_weights,
    feed_forward,
    initialise_residual,
    initialise_transformer,
    residual_layer,
    residual_network,
    transformer,
)

DTYPES = ("float64", "float32", "bfloat16", "float16")
EXACT_ENOUGH = ("float64", "float32")

WIDTHS = [((4, 3, 2, 5), (6, 1, 3)), ((1, 1), (1,))]
# tokens, features, heads, hidden
TOKENS = [
    (2, (6, 3, 9), 3, (2, 7)),
    (3, (4, 4, 4), 2, (4, 4)),
    (1, (1, 1), 1, (1,)),
]


def _pairs(dtypes, often=("gelu",)):
    """Every dtype with every activation; those that are not run often are a campaign."""
    return [
        pytest.param(name, dtype, marks=() if name in often else pytest.mark.campaign)
        for name in ACTIVATIONS
        for dtype in dtypes
    ]


@pytest.fixture(autouse=True)
def strict():
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"), jax.enable_x64(False):
        yield


@pytest.fixture
def random(request):
    return generator(request.node.name)


@pytest.fixture
def key(request):
    seed = zlib.crc32(request.node.name.encode())
    print(f"seed {seed}")
    return jax.random.key(seed)


# --- arithmetic that carries its error bound -------------------------------------------------------------


@dataclass(frozen=True)
class Rounding:
    """u and the smallest normal number (below it a product may be flushed to zero) of a dtype."""

    u: float
    tiny: float

    @staticmethod
    def of(dtype) -> "Rounding":
        info = jnp.finfo(dtype)
        return Rounding(float(info.eps) / 2, float(info.smallest_normal))

    def gamma(self, n: int) -> float:
        return n * self.u / (1 - n * self.u)


@dataclass(frozen=True)
class Bounded:
    """A float64 array and a bound on the error that any evaluation of it has made so far."""

    value: np.ndarray
    error: np.ndarray

    @staticmethod
    def exact(array) -> "Bounded":
        value = np.asarray(array).astype(np.float64)
        return Bounded(value, np.zeros_like(value))

    def __getitem__(self, index) -> "Bounded":
        return Bounded(self.value[index], self.error[index])

    @property
    def size(self):
        return np.abs(self.value) + self.error


def join(parts: list[Bounded], how=np.stack) -> Bounded:
    return Bounded(how([p.value for p in parts]), how([p.error for p in parts]))


def add(a: Bounded, b: Bounded, r: Rounding) -> Bounded:
    return Bounded(a.value + b.value, a.error + b.error + r.u * (a.size + b.size))


def dot(a: Bounded, b: Bounded, r: Rounding) -> Bounded:
    """a · b along the last axis of a and the first of b: n products, n − 1 sums, one storing."""
    n = a.value.shape[-1]
    inherited = a.size @ b.size - np.abs(a.value) @ np.abs(b.value)
    return Bounded(a.value @ b.value, inherited + r.gamma(n + 1) * (a.size @ b.size) + n * r.tiny)


def divide(a: Bounded, number: float, r: Rounding) -> Bounded:
    """a / √M, where √M is rounded once and the quotient once: (1 + u)(1 + u)/(1 − u) − 1 ≤ γ_3."""
    return Bounded(a.value / number, a.error / number + r.gamma(3) * a.size / number + r.tiny)


def softmax(s: Bounded, r: Rounding) -> Bounded:
    """A shift of every s_m by at most e changes each weight by a factor within exp(±2e).

    e is the inherited error and the rounding of s_m − max s; exp is good to 8u on each side (asserted below),
    and exp(9u) ≥ 1 / (1 − 8u) for u ≤ 2⁻⁸; the sum and the quotient add γ_{n+1}.
    """
    e = s.error.max() + r.u * (np.ptp(s.value) + 2 * s.error.max())
    exponentials = np.exp(s.value - s.value.max())
    value = exponentials / exponentials.sum()
    relative = np.expm1(2 * e + 18 * r.u + r.gamma(len(value) + 1))
    return Bounded(value, value * relative + r.tiny)


NUMPY_ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "gelu-erf": lambda x: 0.5 * x * (1 + special.erf(x / np.sqrt(2))),
    "quick-gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
    "gelu-digits": lambda x: 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3))),
}
LARGEST_SLOPE = {
    "tanh": 1.0, "relu": 1.0, "gelu": 1.13, "silu": 1.1, "logistic": 0.25, "gelu-erf": 1.13, "quick-gelu": 1.1,
    "gelu-digits": 1.13,
}  # fmt: skip


def activation_error(x, r: Rounding):
    """What an activation may err by on exact input: 8u max(1, |x|); `test_activation_values` asserts it."""
    return 8 * r.u * np.maximum(1, np.abs(x)) + r.tiny


def activate(name: str, x: Bounded, r: Rounding) -> Bounded:
    return Bounded(NUMPY_ACTIVATIONS[name](x.value), LARGEST_SLOPE[name] * x.error + activation_error(x.size, r))


def distance(output, reference: Bounded) -> float:
    """The largest difference in units of what is allowed: at most 1 if the two agree.

    The bounds grow at least in proportion to u, so that of the reference is at most the 2⁻⁵³/u-th part.
    """
    share = 2.0**-53 / Rounding.of(output.dtype).u
    output = np.asarray(output).astype(np.float64)
    assert output.shape == reference.value.shape
    assert np.isfinite(output).all()
    return float(np.max(np.abs(output - reference.value) / ((1 + share) * reference.error)))


# --- the references: every neuron, token and head by itself ----------------------------------------------


def residual_reference(layers, x, name: str, r: Rounding, *, shortcut: bool = True) -> Bounded:
    x = Bounded.exact(x)
    for layer in layers:
        A, B, C, b, c = (Bounded.exact(array) for array in layer)
        s = [activate(name, add(dot(row, x, r), b[f], r), r) for f, row in enumerate(rows(B))]
        linear = [add(dot(row, x, r), c[m], r) for m, row in enumerate(rows(A))]
        curved = [dot(row, join(s), r) for row in rows(C)]
        x = join([add(p, q, r) if shortcut else q for p, q in zip(linear, curved, strict=True)])
    return x


def rows(matrix: Bounded) -> list[Bounded]:
    return [matrix[n] for n in range(len(matrix.value))]


def weights_reference(layer, x: Bounded, i: int, r: Rounding, scale: float) -> Bounded:
    """H_i, one row per token."""
    d = layer.query.shape[-1]
    W_Q, W_K = Bounded.exact(layer.query[i]), Bounded.exact(layer.key[i])
    queries = [dot(token[i * d : (i + 1) * d], W_Q, r) for token in rows(x)]
    keys = [dot(token[i * d : (i + 1) * d], W_K, r) for token in rows(x)]
    return join([softmax(join([divide(dot(q, k, r), scale, r) for k in keys]), r) for q in queries])


def attention_reference(layer, x: Bounded, r: Rounding, scale_by: str = "features") -> Bounded:
    heads, d, _ = layer.query.shape
    scale = float(np.sqrt({"features": x.value.shape[1], "width": d}[scale_by]))
    W_O = Bounded.exact(np.concatenate([np.asarray(block).astype(np.float64) for block in layer.output]))
    H = [weights_reference(layer, x, i, r, scale) for i in range(heads)]
    outputs = []
    for n in range(len(x.value)):
        concatenated = []
        for i in range(heads):
            W_V = Bounded.exact(layer.value[i])
            values = join([dot(token[i * d : (i + 1) * d], W_V, r) for token in rows(x)])
            concatenated.append(dot(H[i][n], values, r))
        outputs.append(dot(join(concatenated, np.concatenate), W_O, r))
    return join(outputs)


def feed_forward_reference(layer, y: Bounded, name: str, r: Rounding) -> Bounded:
    W_1, b_1, W_2, b_2 = (Bounded.exact(array) for array in layer[4:])
    inside = [add(dot(token, W_1, r), b_1, r) for token in rows(y)]
    return join([add(dot(activate(name, token, r), W_2, r), b_2, r) for token in inside])


def transformer_reference(
    layers, x, name: str, r: Rounding, *, scale_by: str = "features", around_attention: bool = False
) -> Bounded:
    x = Bounded.exact(x)
    for layer in layers:
        y = attention_reference(layer, x, r, scale_by)
        y = add(y, x, r) if around_attention else y
        x = add(y, feed_forward_reference(layer, y, name, r), r)
    return x


def half(array):
    """Half of the array, exact in every dtype, so that sums of a few products stay near 1."""
    return jax.device_put(np.asarray(array) * array.dtype.type(0.5))  # jnp.asarray compiles a copy of every shape


def residual_case(random, widths, hidden, dtype):
    layers = drawn(random, initialise_residual, widths, hidden, dtype)
    return jax.tree.map(half, layers), normal(random, widths[0], dtype=dtype)


def transformer_case(random, tokens, features, heads, hidden, dtype):
    layers = drawn(random, initialise_transformer, features=features, heads=heads, hidden=hidden, dtype=dtype)
    return jax.tree.map(half, layers), normal(random, tokens, features[0], dtype=dtype)


def jitted(network, layers, x, sigma):
    """One program to compile, in place of one for each operation and shape."""
    return jax.jit(network, static_argnums=2)(layers, x, sigma)


def x64(dtype):
    return jax.enable_x64(dtype == "float64")


# --- equality with the references ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_values(name, dtype):
    with x64(dtype):
        x = jnp.linspace(-12, 12, 2001).astype(dtype)
        out = activation(name)(x)
        exact = np.asarray(x).astype(np.float64)
        assert out.dtype == dtype
        allowed = activation_error(exact, Rounding.of(dtype))
        error = np.abs(np.asarray(out).astype(np.float64) - NUMPY_ACTIVATIONS[name](exact))
        assert np.all(error <= allowed)
        # the slope bound used above, by differences of the exact function over a fine grid
        fine = np.linspace(-12, 12, 100_001)
        slopes = np.abs(np.diff(NUMPY_ACTIVATIONS[name](fine)) / np.diff(fine))
        assert slopes.max() <= LARGEST_SLOPE[name] * (1 + 1e-9)  # 1e-9: cancellation, 2⁻⁵² · 12 / 2.4e-4


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_error(dtype):
    """exp(x) for x ≤ 0 errs by at most 8u relative to itself, or is below the normal numbers."""
    with x64(dtype):
        r, x = Rounding.of(dtype), jnp.linspace(-20, 0, 2001).astype(dtype)
        exact = np.exp(np.asarray(x).astype(np.float64))
        assert np.all(np.abs(np.asarray(jnp.exp(x)).astype(np.float64) - exact) <= 8 * r.u * exact + r.tiny)


@pytest.mark.parametrize(("name", "dtype"), _pairs(DTYPES))
@pytest.mark.parametrize(("widths", "hidden"), one_in(2, WIDTHS))
def test_residual_network(random, widths, hidden, name, dtype):
    with x64(dtype):
        layers, x = residual_case(random, widths, hidden, dtype)
        output = jitted(residual_network, layers, x, activation(name))
        assert output.dtype == dtype
        assert distance(output, residual_reference(layers, x, name, Rounding.of(dtype))) <= 1


@pytest.mark.parametrize(("name", "dtype"), _pairs(EXACT_ENOUGH))
@pytest.mark.parametrize(("tokens", "features", "heads", "hidden"), one_in(3, TOKENS))
def test_transformer(random, tokens, features, heads, hidden, name, dtype):
    with x64(dtype):
        layers, x = transformer_case(random, tokens, features, heads, hidden, dtype)
        output = jitted(transformer, layers, x, activation(name))
        assert output.dtype == dtype
        assert distance(output, transformer_reference(layers, x, name, Rounding.of(dtype))) <= 1


@pytest.mark.parametrize(("name", "dtype"), _pairs(("float16",)) + _pairs(DTYPES[:3], often=()))
@pytest.mark.parametrize(("tokens", "features", "heads", "hidden"), one_in(3, TOKENS))
def test_transformer_part_by_part(random, tokens, features, heads, hidden, name, dtype):
    """Each part on the very numbers the part before it gave: in half precision a bound through all of them
    would allow anything. The parts in a row are the network."""
    with x64(dtype):
        r = Rounding.of(dtype)
        layers, x = transformer_case(random, tokens, features, heads, hidden, dtype)
        output = transformer(layers, x, activation(name))
        for layer in layers:
            scale, exact = float(np.sqrt(x.shape[1])), Bounded.exact(x)
            H, y = attention_weights(layer, x), attention(layer, x)
            assert H.shape == (heads, tokens, tokens) and H.dtype == y.dtype == dtype
            assert distance(H, join([weights_reference(layer, exact, i, r, scale) for i in range(heads)])) <= 1
            assert distance(y, attention_reference(layer, exact, r)) <= 1
            ffn = feed_forward(layer, y, activation(name))
            assert distance(ffn, feed_forward_reference(layer, Bounded.exact(y), name, r)) <= 1
            x = y + ffn
        assert jnp.array_equal(x, output)


@pytest.mark.parametrize("dtype", ("bfloat16", "float16"))
def test_the_bounds_of_the_parts_see_errors_in_half_precision(random, dtype):
    r = Rounding.of(dtype)
    (layer,), x = transformer_case(random, 3, (4, 4), 2, (4,), dtype)
    exact, y = Bounded.exact(x), attention(layer, x)
    H = attention_weights(layer, x)
    transposed = layer._replace(key=jnp.swapaxes(layer.key, 1, 2))
    assert distance(H, join([weights_reference(transposed, exact, i, r, 2.0) for i in range(2)])) > 1
    assert distance(y, attention_reference(layer._replace(output=layer.output[::-1]), exact, r)) > 1
    biasless = layer._replace(hidden_bias=jnp.zeros_like(layer.hidden_bias))
    ffn = feed_forward(layer, y, jnp.tanh)
    assert distance(ffn, feed_forward_reference(biasless, Bounded.exact(y), "tanh", r)) > 1


@pytest.mark.parametrize("dtype", one_in(2, EXACT_ENOUGH))
def test_vmap_of_residual_network_equals_loop(random, dtype):
    """A batch may be summed in another order: each side is within the bound, so they are within twice it."""
    with x64(dtype):
        r = Rounding.of(dtype)
        layers, _ = residual_case(random, (4, 3, 2), (6, 5), dtype)
        batch = normal(random, 7, 4, dtype=dtype)
        outputs = jax.vmap(lambda x: residual_network(layers, x, jnp.tanh))(batch)
        for x, output in zip(batch, outputs, strict=True):
            assert distance(output, residual_reference(layers, x, "tanh", r)) <= 1
            assert distance(output, residual_reference(layers, x + 0.01, "tanh", r)) > 1


@pytest.mark.parametrize("dtype", one_in(2, EXACT_ENOUGH))
def test_vmap_of_transformer_equals_loop(random, dtype):
    """As for the residual network, compiled besides."""
    with x64(dtype):
        r = Rounding.of(dtype)
        layers, _ = transformer_case(random, 3, (4, 6), 2, (5,), dtype)
        batch = normal(random, 7, 3, 4, dtype=dtype)
        outputs = jax.jit(jax.vmap(lambda x: transformer(layers, x, jnp.tanh)))(batch)
        for x, output in zip(batch, outputs, strict=True):
            bound = transformer_reference(layers, x, "tanh", r)
            assert distance(output, bound) <= 1
            assert np.max(np.abs(output - transformer(layers, x, jnp.tanh)) / (2 * bound.error)) <= 1


def test_one_layer_is_the_network_of_one_layer(random):
    layers, x = residual_case(random, (3, 2), (4,), "float32")
    assert jnp.array_equal(residual_layer(layers[0], x, jnp.tanh), residual_network(layers, x, jnp.tanh))


# --- negative twins: a wrong network must be seen --------------------------------------------------------


def without(layer, *fields):
    return layer._replace(**{field: jnp.zeros_like(getattr(layer, field)) for field in fields})


WRONG_LAYERS = {
    "heads of W_O swapped": lambda layer: layer._replace(output=layer.output[::-1]),
    "heads of W_V swapped": lambda layer: layer._replace(value=layer.value[::-1]),
    "query and key of the heads swapped": lambda layer: layer._replace(query=layer.query[::-1], key=layer.key[::-1]),
    "key transposed": lambda layer: layer._replace(key=jnp.swapaxes(layer.key, 1, 2)),
    "query and key exchanged": lambda layer: layer._replace(query=layer.key, key=layer.query),
    "value transposed": lambda layer: layer._replace(value=jnp.swapaxes(layer.value, 1, 2)),
    "no hidden bias": lambda layer: without(layer, "hidden_bias"),
    "no project bias": lambda layer: without(layer, "project_bias"),
}


@pytest.mark.parametrize("dtype", EXACT_ENOUGH)
@pytest.mark.parametrize("wrong", WRONG_LAYERS)
def test_wrong_transformer_layers_differ(random, wrong, dtype):
    with x64(dtype):
        layers, x = transformer_case(random, 3, (4, 4), 2, (5,), dtype)
        twin = transformer_reference([WRONG_LAYERS[wrong](layers[0])], x, "tanh", Rounding.of(dtype))
        assert distance(jitted(transformer, layers, x, jnp.tanh), twin) > 1


@pytest.mark.parametrize("dtype", EXACT_ENOUGH)
@pytest.mark.parametrize("wrong", [{"scale_by": "width"}, {"around_attention": True}], ids=str)
def test_wrong_transformers_differ(random, wrong, dtype):
    with x64(dtype):
        layers, x = transformer_case(random, 3, (4, 4, 4), 2, (5, 3), dtype)
        twin = transformer_reference(layers, x, "tanh", Rounding.of(dtype), **wrong)
        assert distance(jitted(transformer, layers, x, jnp.tanh), twin) > 1


@pytest.mark.parametrize("dtype", EXACT_ENOUGH)
@pytest.mark.parametrize("lost", ["A", "B", "C", "b", "c"])
def test_residual_networks_that_lost_an_array_differ(random, lost, dtype):
    with x64(dtype):
        layers, x = residual_case(random, (3, 4, 2), (5, 6), dtype)
        twin = residual_reference([layers[0], without(layers[1], lost)], x, "tanh", Rounding.of(dtype))
        assert distance(jitted(residual_network, layers, x, jnp.tanh), twin) > 1


@pytest.mark.parametrize("dtype", EXACT_ENOUGH)
@pytest.mark.parametrize("name", ["relu", "silu", "logistic", "tanh"])
def test_other_activations_and_no_shortcut_differ(random, name, dtype):
    with x64(dtype):
        layers, x = residual_case(random, (3, 4, 2), (5, 6), dtype)
        output, r = jitted(residual_network, layers, x, activation("gelu")), Rounding.of(dtype)
        assert distance(output, residual_reference(layers, x, "gelu", r)) <= 1
        assert distance(output, residual_reference(layers, x, name, r)) > 1
        assert distance(output, residual_reference(layers, x, "gelu", r, shortcut=False)) > 1


# --- the trace, the keys, the draw -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_root_of_features_is_an_operation_of_the_trace(random, dtype):
    with x64(dtype):
        layers, x = transformer_case(random, 2, (3, 3), 1, (2,), dtype)
        traced = jax.make_jaxpr(lambda x: attention_weights(layers[0], x))(x)
        roots = [equation for equation in traced.jaxpr.eqns if equation.primitive.name == "sqrt"]
        assert [float(equation.invars[0].val) for equation in roots] == [3.0]  # pyright: ignore


@pytest.mark.parametrize("dtype", DTYPES)
def test_matmul_precision_is_stated_in_the_trace(random, dtype):
    with x64(dtype):
        layers, x = transformer_case(random, 2, (4, 4), 2, (3,), dtype)
        for stated in (jax.lax.Precision.HIGHEST, jax.lax.Precision.DEFAULT):
            run = lambda x, stated=stated: transformer(layers, x, jnp.tanh, precision=stated)
            products = [e for e in jax.make_jaxpr(run)(x).jaxpr.eqns if e.primitive.name == "dot_general"]
            assert len(products) == 8  # queries, keys, scores, values, heads, W_O, W_1, W_2
            assert all(e.params["precision"] in (stated, (stated, stated)) for e in products)


def test_layers_depend_on_key_and_number_alone(key):
    deep, shallow = initialise_residual(key, (3, 4, 3, 4), (5, 5, 5)), initialise_residual(key, (3, 4), (5,))
    other = initialise_residual(jax.random.fold_in(key, 9), (3, 4), (5,))
    assert all(map(jnp.array_equal, deep[0], shallow[0]))
    assert not any(map(jnp.array_equal, deep[0], deep[2]))
    assert not any(map(jnp.array_equal, shallow[0], other[0]))


def test_arrays_of_a_layer_are_independent_draws(key):
    (layer,) = initialise_transformer(key, features=(4, 4), heads=2, hidden=(4,))
    first = [float(array.ravel()[0] / jnp.std(array)) for array in layer]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("dtype", DTYPES)
def test_variances_of_the_draw(key, dtype):
    """Of n independent normals of variance v the mean square has standard deviation v √(2/n): allow 6.

    Rounding moves a square by (1 + 4u)² at most, and the draw itself is good to a few u: 16u on top.
    """
    with x64(dtype):
        (residual,) = initialise_residual(key, (60, 80), (90,), dtype)
        (token,) = initialise_transformer(key, features=(60, 80), heads=2, hidden=(90,), dtype=dtype)
        wanted = {"A": 1 / 60, "B": 1 / 60, "C": 1 / 90, "b": 1 / 4, "c": 1 / 4}
        wanted |= {"query": 1 / 30, "key": 1 / 30, "value": 1 / 30, "output": 1 / 60, "hidden": 1 / 80}
        wanted |= {"hidden_bias": 1 / 4, "project": 1 / 90, "project_bias": 1 / 4}
        for field, array in (residual._asdict() | token._asdict()).items():
            values, u = np.asarray(array).astype(np.float64), Rounding.of(dtype).u
            allowed = 6 * np.sqrt(2 / values.size) + 16 * u
            assert array.dtype == dtype
            assert abs(np.mean(values**2) / wanted[field] - 1) <= allowed, field
            if values.ndim > 1:
                assert abs(np.mean(values**2) / (2 * wanted[field]) - 1) > allowed, field


# --- unusable input: one line each -----------------------------------------------------------------------

LAYERS = drawn(generator("bad input"), initialise_residual, (3, 4, 2), (5, 6))
TOKEN_LAYERS = drawn(generator("bad input"), initialise_transformer, features=(4, 6), heads=2, hidden=(3,))
ONES = jnp.ones


def replaced(layers, number, **arrays):
    return [layer._replace(**arrays) if j == number else layer for j, layer in enumerate(layers, start=1)]


def network(layers, x=None):
    return lambda: residual_network(layers, ONES(3) if x is None else x, jnp.tanh)


def tokens(layers, x=None):
    return lambda: transformer(layers, ONES((5, 4)) if x is None else x, jnp.tanh)


def draw(**changes):
    wanted: dict = {"features": (4, 4), "heads": 2, "hidden": (3,)}
    return lambda: initialise_transformer(jax.random.key(0), **(wanted | changes))


def draw_residual(widths, hidden, dtype="float32"):
    return lambda: initialise_residual(jax.random.key(0), widths, hidden, dtype)


BAD = {
    "unknown activation": (
        lambda: activation("gelo"),
        InputError,
        "'gelo', wanted one of tanh, relu, .*'gelu'",
    ),
    "activation no string": (lambda: activation(3), InputError, "got activation 3"),  # pyright: ignore
    "no layers": (network([]), ShapeError, "0 layers"),
    "no token layers": (tokens([]), ShapeError, "0 layers"),
    "batch as input": (network(LAYERS, ONES((3, 3))), ShapeError, r"\(3, 3\) for x, wanted \(D_0 = 3\)"),
    "wrong width": (network(LAYERS, ONES(4)), ShapeError, r"\(4,\) for x"),
    "b broadcasts": (
        network(replaced(LAYERS, 1, b=ONES(1))),
        ShapeError,
        r"layers\.1\.b, wanted \(F_1 = 5\)",
    ),
    "c broadcasts": (
        network(replaced(LAYERS, 2, c=ONES(1))),
        ShapeError,
        r"layers\.2\.c, wanted \(D_2 = 2\)",
    ),
    "B of other width": (network(replaced(LAYERS, 2, B=ONES((6, 3)))), ShapeError, r"layers\.2\.B.*D_1 = 4"),
    "A empty": (
        network(replaced(LAYERS, 1, A=ONES((0, 3)))),
        ShapeError,
        r"layers\.1\.A, wanted no empty axis",
    ),
    "one token missing axis": (
        tokens(TOKEN_LAYERS, ONES(4)),
        ShapeError,
        r"\(4,\) for x, wanted \(N, M_0 = 4",
    ),
    "too many features": (tokens(TOKEN_LAYERS, ONES((5, 6))), ShapeError, r"\(5, 6\) for x"),
    "no tokens": (tokens(TOKEN_LAYERS, ONES((0, 4))), ShapeError, r"\(0, 4\) for x, wanted no empty axis"),
    "key not square": (tokens(replaced(TOKEN_LAYERS, 1, key=ONES((2, 2, 3)))), ShapeError, r"layers\.1\.key"),
    "query a number": (tokens(replaced(TOKEN_LAYERS, 1, query=ONES(()))), ShapeError, r"\(\) for layers\.1"),
    "layers that do not meet": (tokens(TOKEN_LAYERS * 2), ShapeError, r"2 heads of width 2.*M_1 = 6"),
    "attention alone": (lambda: attention(TOKEN_LAYERS[0], ONES((5, 8))), ShapeError, r"\(5, 8\) for x"),
    "weights alone": (
        lambda: attention_weights(TOKEN_LAYERS[0], ONES((5, 2))),
        ShapeError,
        r"\(5, 2\) for x",
    ),
    "heads do not divide": (draw(features=(4, 6), heads=4), InputError, "multiples of heads = 4"),
    "no heads": (draw(heads=0), InputError, r"heads = \[0\]"),
    "no hidden": (draw(hidden=()), InputError, r"hidden = \[\]"),
    "hidden of other length": (draw(hidden=(3, 3)), InputError, "2 features and 2 hidden widths.*give 1"),
    "integer dtype": (draw(dtype="int32"), InputError, "dtype int32, wanted one of float64"),
    "no dtype": (draw(dtype="float31"), InputError, "dtype float31, wanted one of float64"),
    "float64 without x64": (draw(dtype="float64"), InputError, "x64 is off"),
    "one width": (draw_residual((3,), ()), InputError, r"widths = \[3\], wanted at least 2"),
    "width of half a neuron": (draw_residual((3, 2.5), (3,)), InputError, r"widths = \[3, 2.5\]"),
    "negative width": (draw_residual((3, -2), (3,)), InputError, r"widths = \[3, -2\]"),
    "one hidden width too few": (draw_residual((3, 2, 2), (3,)), InputError, "3 widths and 1 hidden"),
}


@pytest.mark.parametrize("case", BAD)
def test_unusable_input_gets_one_line(case):
    call, kind, message = BAD[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", ["network", "tokens"])
def test_the_input_that_the_bad_ones_vary_is_good(case):
    assert {"network": network(LAYERS), "tokens": tokens(TOKEN_LAYERS)}[case]().shape in {(2,), (5, 6)}
