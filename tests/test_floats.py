"""Two programs for one function agree within the derived tolerance, and wrong programs do not."""

import dataclasses
import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

from uat_jax.decide.floats import compare, compare_on
from uat_jax.errors import FloatRangeError, InputError, ShapeError

SEED = 7
DTYPES = ("float64", "float32", "bfloat16", "float16")
OTHERS = ("float64", "float16")
ACTIVATIONS = {
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "logistic": jax.nn.sigmoid,
    "erf": jax.lax.erf,
}


def residual(sigma):
    """x_j = A_j x_{j-1} + c_j + C_j σ(B_j x_{j-1} + b_j)."""

    def network(arguments):
        x = arguments["x"]
        for A, B, C, b, c in arguments["layers"]:
            x = A @ x + c + C @ sigma(B @ x + b)
        return x

    return network


def closed_form(sigma, mistake=None):
    """x_L = P x_0 + q + Σ_k W_k s_k of claims.md, Theorem 1, with one mistake if wanted."""

    def network(arguments):
        x, layers = arguments["x"], arguments["layers"]
        A, B, C, b, c = layers[0]
        if mistake == "coefficient":
            corner = jnp.arange(C.size).reshape(C.shape) == 0
            C = jnp.where(corner, C * C.dtype.type(1.01), C)
        product, shift, weights, states = A, c, [C], [sigma(B @ x + b)]
        for A, B, C, b, c in layers[1:]:
            nested = sum_of_products(weights, states)
            bias = b + B @ shift + B @ nested
            states.append(sigma((B @ product) @ x + bias))
            product, shift = A @ product, A @ shift + c
            if not (mistake == "old version" and len(states) == 3):
                weights = [A @ weight for weight in weights]
            weights.append(C.T if mistake == "transposed" else C)
        if mistake == "dropped":
            weights, states = weights[1:], states[1:]
        return product @ x + shift + sum_of_products(weights, states)

    return network


def sum_of_products(weights, states):
    terms = [weight @ state for weight, state in zip(weights, states, strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def draw_network(depth, width, dtype):
    """One trial: every matrix N(0, 1/width), every bias N(0, 0.09), from one stream of normal numbers."""
    matrix, vector = width * width, width
    sizes = [matrix, matrix, matrix, vector, vector]

    def draw(key):
        numbers = jax.random.normal(key, (width + depth * sum(sizes),), dtype)
        half, small = (jnp.asarray(v, dtype) for v in (width**-0.5, 0.3))
        layers, start = [], width
        for _ in range(depth):
            parts = []
            for size in sizes:
                part = numbers[start : start + size]
                parts.append(part.reshape(width, width) * half if size == matrix else part * small)
                start += size
            layers.append(tuple(parts))
        return {"x": numbers[:width], "layers": layers}

    return draw


def attention(arguments):
    """softmax(x W_Q W_Kᵀ xᵀ / √d) x W_V W_O."""
    x, (query, key, value, output) = arguments["x"], arguments["weights"]
    scores = (x @ query) @ (x @ key).T / jnp.asarray(np.sqrt(query.shape[1]), x.dtype)
    return (jax.nn.softmax(scores, axis=-1) @ (x @ value) @ output).reshape(-1)


def attention_matrix(mistake=None):
    """(H ⊗ (W_V W_O)ᵀ) vec(x), claims.md Theorem 3 for one head."""

    def network(arguments):
        x, (query, key, value, output) = arguments["x"], arguments["weights"]
        scale = jnp.asarray(query.shape[1] ** -0.5, x.dtype)
        scores = (x @ (query @ key.T) @ x.T) * scale
        heads = jnp.exp(scores) / jnp.exp(scores).sum(axis=-1, keepdims=True)
        merged = value @ output
        return jnp.kron(heads, merged if mistake == "transposed" else merged.T) @ x.reshape(-1)

    return network


def draw_attention(tokens, features, dtype):
    def draw(key):
        rows = jax.random.normal(key, (4 * features + tokens, features), dtype)
        weights = rows[tokens:].reshape(4, features, features) * jnp.asarray(features**-0.5, dtype)
        return {"x": rows[:tokens], "weights": list(weights)}

    return draw


def compared(f, g, draw, dtype, trials=16, **options):
    print("seed", SEED)
    return compare(f, g, draw, dtype=dtype, trials=trials, seed=SEED, **options)


# --- true pairs agree ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", one_in(4, DTYPES))
@pytest.mark.parametrize("depth, sigma", one_in(3, [(3, "gelu"), (1, "relu"), (4, "tanh")]))
def test_closed_form_agrees(depth, sigma, dtype):
    sigma = ACTIVATIONS[sigma]
    result = compared(residual(sigma), closed_form(sigma), draw_network(depth, 8, dtype), dtype)
    assert result.agrees and result.f.exceedances == result.g.exceedances == 0
    assert result.f.worst_ulp > 0 and result.g.tightest is not None and result.g.tightest >= 1


@pytest.mark.parametrize(
    "dtype", ["float32", *(pytest.param(d, marks=pytest.mark.campaign) for d in (*OTHERS, "bfloat16"))]
)
def test_attention_agrees_with_its_kronecker_matrix(dtype):
    result = compared(attention, attention_matrix(), draw_attention(4, 6, dtype), dtype)
    assert result.agrees
    # In 16 bits a transposed matrix is as plain as in 64.
    assert not compared(attention, attention_matrix("transposed"), draw_attention(4, 6, dtype), dtype).agrees


@pytest.mark.campaign
def test_tolerance_is_tight_for_a_deep_network():
    result = compared(residual(jnp.tanh), closed_form(jnp.tanh), draw_network(6, 64, "float32"), "float32", trials=64)
    assert result.agrees
    for side in (result.f, result.g):
        assert side.tightest is not None and side.median is not None
        assert 1 <= side.tightest <= side.median <= 100


# --- wrong pairs are caught ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "dtype"), one_in(6, list(itertools.product(["dropped", "transposed", "old version"], DTYPES)))
)
def test_mistakes_are_caught(mistake, dtype):
    wrong = closed_form(jnp.tanh, mistake)
    result = compared(residual(jnp.tanh), wrong, draw_network(3, 8, dtype), dtype)
    assert not result.agrees and result.g.exceedances > 0 and result.f.exceedances == 0


@pytest.mark.parametrize("dtype", one_in(2, ["float32", "float64"]))
def test_one_percent_of_one_coefficient_is_caught(dtype):
    wrong = closed_form(jnp.tanh, "coefficient")
    result = compared(residual(jnp.tanh), wrong, draw_network(3, 8, dtype), dtype)
    assert not result.agrees
    assert result.smallest_visible is not None and result.smallest_visible < 0.01


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_smallest_visible_error_separates_seen_from_unseen(dtype):
    """Twice the smallest visible error, in the most visible coefficient, is seen; a hundredth is not."""
    f = lambda arguments: arguments["w"] * arguments["x"]
    arguments = {"w": np.array([[1.5, 1.25]], dtype), "x": np.array([[0.7, 0.3]], dtype)}
    visible = compare_on(f, f, arguments, dtype=dtype).smallest_visible
    assert visible is not None
    seen = []
    for times in (2, 0.01):
        factor = 1 + times * visible
        g = lambda a, factor=factor: a["w"] * jnp.asarray([factor, 1.0], a["w"].dtype) * a["x"]
        seen.append(not compare_on(f, g, arguments, dtype=dtype).agrees)
    assert seen == [True, False]


# --- the record ------------------------------------------------------------------------------------


def test_result_is_json_and_its_worst_trial_can_be_drawn_again():
    draw = draw_network(1, 3, "float32")
    result = compared(residual(jnp.tanh), closed_form(jnp.tanh), draw, "float32", trials=5)
    record = json.loads(json.dumps(dataclasses.asdict(result), allow_nan=False))
    assert record["trials"] == 5 and record["effective_precision"]["float32 highest"]["accumulate"] == 2.0**-24
    worst = result.f if result.f.worst_ulp >= result.g.worst_ulp else result.g
    again = draw(jax.random.fold_in(jax.random.key(SEED), worst.worst_trial))
    np.testing.assert_array_equal(record["worst_input"]["['x']"], np.asarray(again["x"]).tolist())
    other = draw(jax.random.fold_in(jax.random.key(SEED), worst.worst_trial + 1))
    assert record["worst_input"]["['x']"] != np.asarray(other["x"]).tolist()


def test_given_arguments_with_shared_weights():
    random = np.random.default_rng(SEED)
    arguments = {"w": random.normal(size=(4, 4)), "x": random.normal(size=(9, 4))}
    arguments = {name: array.astype(np.float32) for name, array in arguments.items()}
    f = lambda a: a["w"] @ (a["w"] @ a["x"])
    g = lambda a: (a["w"] @ a["w"]) @ a["x"]
    result = compare_on(f, g, arguments, {"w": None, "x": 0}, dtype="float32")
    assert result.agrees and result.trials == 9
    wrong = lambda a: (a["w"] @ a["w"].T) @ a["x"]
    assert not compare_on(f, wrong, arguments, {"w": None, "x": 0}, dtype="float32").agrees


def test_truth_can_be_another_function():
    f = lambda x: x * x
    wrong = lambda x: x * x + x
    draw = lambda key: jax.random.normal(key, (3,), jnp.float32)
    assert compared(f, f, draw, "float32", reference=f).agrees
    assert not compared(f, f, draw, "float32", reference=wrong).agrees


# --- bad input -------------------------------------------------------------------------------------

DOUBLE = lambda x: x * x.dtype.type(2)
NORMAL = lambda key: jax.random.normal(key, (3,), jnp.float32)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dtype": "int8"}, "got dtype 'int8'"),
        ({"precision": "best"}, "matmul precision 'best'"),
        ({"trials": 0}, "got 0 trials"),
        ({"samples": 0}, "got 0 samples"),
        ({"samples": 3}, "3 samples say too little"),
        ({"seed": -1}, "got seed -1"),
        ({"failure_probability": 1.0}, "failure probability 1.0"),
        ({"device": "abacus"}, "device 'abacus'"),
        ({"draw": lambda key: jax.random.normal(key, (3,), jnp.bfloat16)}, "dtype bfloat16, wanted float32"),
        ({"draw": lambda key: jnp.zeros((0,), jnp.float32)}, "empty argument"),
        ({"draw": lambda key: jnp.full((2,), jnp.nan, jnp.float32)}, "NaN or infinity"),
        ({"draw": lambda key: jnp.full((2,), -jnp.inf, jnp.float32)}, "NaN or infinity"),
        ({"draw": lambda key: []}, "no array"),
        ({"g": lambda x: (x, x)}, "returns 2 arrays"),
        ({"g": lambda x: x > 0}, "floating-point array"),
        ({"g": lambda x: x.astype(jnp.bfloat16)}, "want one dtype"),
    ],
)
def test_bad_input(options, message):
    arguments = {
        "f": DOUBLE,
        "g": DOUBLE,
        "draw": NORMAL,
        "dtype": "float32",
        "trials": 4,
        "seed": SEED,
    } | options
    with pytest.raises(InputError, match=message):
        compare(arguments.pop("f"), arguments.pop("g"), arguments.pop("draw"), **arguments)


def test_shapes_that_differ():
    with pytest.raises(ShapeError, match=r"float32\[3\].*float32\[2\]"):
        compared(DOUBLE, lambda x: x[:2], NORMAL, "float32")
    with pytest.raises(ShapeError, match="leading axes"):
        compare_on(lambda a: a[0] + a[1], lambda a: a[1] + a[0], [np.ones((3, 2)), np.ones((4, 2))], dtype="float64")
    with pytest.raises(InputError, match="axes 1"):
        compare_on(DOUBLE, DOUBLE, np.ones((3, 2)), 1, dtype="float64")


def test_float16_overflow():
    draw = lambda key: 300 + jax.random.uniform(key, (3,), jnp.float16)
    square = lambda x: x * x
    with pytest.raises(FloatRangeError, match="trial 0 gives inf in float16"):
        compared(square, square, draw, "float16")
    half = lambda x: x * (x / 2)
    twice = lambda x: (x / 2) * x
    assert compared(half, twice, draw, "float16").agrees


# --- the campaign ----------------------------------------------------------------------------------


def campaign_rows():
    """(name, depth, f, g, draw by dtype)."""
    for name, sigma in ACTIVATIONS.items():
        for depth in (1, 3, 6):
            yield (
                name,
                depth,
                residual(sigma),
                closed_form(sigma),
                lambda dtype, L=depth: draw_network(L, 8, dtype),
            )
    yield "softmax", 1, attention, attention_matrix(), lambda dtype: draw_attention(4, 6, dtype)


@pytest.mark.campaign
def test_ten_thousand_trials_of_true_pairs_without_one_exceedance():
    trials, total, exceedances = 133, 0, 0
    print(f"\nseed {SEED}")
    print("| dtype | σ | L | trials | exceedances | tolerance/error | worst ULP | smallest visible |")
    print("|---|---|---|---|---|---|---|---|")
    for dtype in DTYPES:
        for name, depth, f, g, draw in campaign_rows():
            result = compare(f, g, draw(dtype), dtype=dtype, trials=trials, seed=SEED)
            sides = (result.f, result.g)
            beyond = sum(side.exceedances for side in sides)
            total, exceedances = total + trials, exceedances + beyond
            medians = ", ".join(f"{side.median or 0:.0f}" for side in sides)
            tightest = min(side.tightest or np.inf for side in sides)
            worst = ", ".join(f"{side.worst_ulp:.1f}" for side in sides)
            print(
                f"| {dtype} | {name} | {depth} | {trials} | {beyond} | {medians} "
                f"(min {tightest:.1f}) | {worst} | {result.smallest_visible:.1e} |",
                flush=True,
            )
    assert total >= 10_000 and exceedances == 0


def test_trials_that_take_different_branches():
    """Their noise is followed one by one; together no branch is that of all."""
    branches = lambda x: jax.lax.cond(x[0] > 0, lambda x: jnp.tanh(x) * x[1], lambda x: x * x[2], x)
    written = lambda x: jax.lax.cond(x[0] <= 0, lambda x: x[2] * x, lambda x: x[1] * jnp.tanh(x), x)
    wrong = lambda x: jax.lax.cond(x[0] > 0, lambda x: jnp.tanh(x) * x[1], lambda x: x * x[1], x)
    inputs = np.random.default_rng(SEED).normal(size=(8, 3)).astype(np.float32)
    assert 0 < np.sum(inputs[:, 0] > 0) < 8
    assert compare_on(branches, written, inputs, 0, dtype="float32").agrees
    assert not compare_on(branches, wrong, inputs, 0, dtype="float32").agrees
