"""A stored program is the program: it evaluates to the same bits, and a file that was tampered with is refused."""

import copy
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from flint import ctx
from jax import ShapeDtypeStruct, lax

from uat_jax.errors import InputError, UatJaxError, UnsupportedError
from uat_jax.interpret.concrete import bind
from uat_jax.interpret.interpreter import Arithmetic, interpret
from uat_jax.interpret.jaxpr_file import decode, digest, encode
from uat_jax.interpret.jaxpr_values import PRIMITIVES, primitives
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import Balls
from uat_jax.numbers.floats.doubles import Doubles

SEED = 20263
STEP = np.float32(2**-20)
WEIGHTS = np.random.default_rng(SEED).normal(size=(6, 6)).astype(np.float32)


def spec(*shape, dtype="float32"):
    return ShapeDtypeStruct(shape, jnp.dtype(dtype))


def matmul(x, y):
    return jnp.matmul(x, y, precision="highest")


# --- programs -------------------------------------------------------------------------------------

x = spec(4, 6)


def mlp(x, w: np.ndarray = WEIGHTS):
    return matmul(jax.nn.relu(matmul(x, w) + 0.25), w)


def attention(x):
    logits = jnp.where(jnp.tril(jnp.ones((4, 4), bool)), matmul(x, x.T), -jnp.inf)
    return matmul(jax.nn.softmax(logits / jnp.sqrt(np.float32(6)), axis=-1), x)


def recurrent(x):
    cell = lambda state, row: (jnp.tanh(state + row), state * row)
    return lax.scan(cell, x[0], x, reverse=True)


def convolution(image, kernel):
    return lax.conv_general_dilated(image, kernel, (1, 2), "SAME", precision="highest")


def scattered(x):
    rows = jnp.array([0, 2, 2])
    return x.at[rows].add(x[rows] * 0.5).at[0].set(x[1]).at[jnp.array([1])].max(0.125)


def gathered_with_fill(x):
    return x.at[jnp.array([0, 9])].get(mode="fill", fill_value=0.5)


def sorted_rows(x):
    values, places = lax.top_k(x, 3)
    return jnp.sort(x, axis=0), jnp.argsort(x), values, places, jnp.argmax(x, axis=1)


def activations(x):
    return jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False) + jax.nn.silu(x) + jax.nn.softplus(x) + jax.nn.elu(x)


def noisy(x):
    key = jax.random.fold_in(jax.random.key(7), 3)
    old = jax.random.PRNGKey(5)
    keep = jax.random.bernoulli(jax.random.split(key)[0], 0.5, x.shape)
    return jnp.where(keep, x, 0.0) + jax.random.normal(key, x.shape) + jax.random.uniform(old, x.shape)


KEYS = jax.random.split(jax.random.key(11), 2)


@jax.custom_vjp
def custom(x):
    return jnp.sin(x)


custom.defvjp(lambda x: (jnp.sin(x), x), lambda x, dy: (jnp.cos(x) * dy,))

PROGRAMS = {
    "a mlp with captured weights": (mlp, x),
    "attention with a mask": (attention, x),
    "attention, pulled back": (lambda x, dy: jax.vjp(attention, x)[1](dy)[0], x, x),
    "scan": (recurrent, x),
    "scan, pulled back": (lambda x: jax.vjp(lambda x: recurrent(x)[1], x)[1](x)[0], x),
    "fori_loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: c * x[i], x[0]), x),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0), (0, x)), x),
    "cond": (lambda x: lax.cond(x.shape[0] > 3, jnp.sin, jnp.cos, x), x),
    "switch": (lambda x: lax.switch(jnp.int32(2), [jnp.sin, jnp.cos, jnp.exp], x), x),
    "convolution": (convolution, spec(1, 2, 5, 5), spec(3, 2, 3, 3)),
    "convolution, pulled back": (
        lambda a, b: jax.vjp(convolution, a, b)[1](convolution(a, b)),
        spec(1, 2, 5, 5),
        spec(3, 2, 3, 3),
    ),
    "scatter and gather": (scattered, x),
    "gather with a fill value": (gathered_with_fill, x),
    "sort and top_k": (sorted_rows, x),
    "cumulative": (lambda x: jnp.cumsum(x, 0) + jnp.cumprod(x, 1) + lax.cummax(x) + lax.cumlogsumexp(x), x),
    "activations": (activations, x),
    "custom_vjp": (custom, x),
    "remat, pulled back": (jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x))), x),
    "random bits of fixed keys": (noisy, x),
    "captured keys": (lambda x: x + jax.random.uniform(KEYS[1], x.shape), x),
    "keys of another generator": (lambda x: x + jax.random.uniform(jax.random.key(3, impl="rbg"), x.shape), x),
    "bfloat16": (lambda x: matmul(x, x.T) * jnp.bfloat16(0.1), spec(4, 6, dtype="bfloat16")),
    "float64": (lambda x: matmul(x, x.T) * 0.1 + jnp.arange(4.0)[None], spec(4, 6, dtype="float64")),
    "integers": (lambda x: jnp.where(jnp.arange(6) % 2 == 0, x, -x) // 3, spec(6, dtype="int32")),
    "empty arrays": (lambda x: jnp.concatenate([x, jnp.zeros((0, 6), jnp.float32)]), x),
    "a reduction of its own": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b * 2.0, (0,)), x),
    "windows": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), "SAME"), x),
    "several precisions": (lambda x: lax.dot(x, x.T, precision=("highest", "default")), x),
    "outputs that are inputs and literals": (lambda x: (x, 1.5, lax.stop_gradient(x)), x),
}


@functools.cache
def programs():
    return {name: trace(function, *specs) for name, (function, *specs) in PROGRAMS.items()}


def through_a_file(closed_jaxpr):
    return decode(json.loads(json.dumps(encode(closed_jaxpr), allow_nan=False)))


# --- the program read back is the program ---------------------------------------------------------


class OneByOne(Arithmetic):
    """JAX's own floats, one equation after the other: nothing is fused, so equal programs give equal bits."""

    name = "JAX, one equation at a time"
    rules = {}

    def number(self, array):
        return np.asarray(array)

    def constant(self, array, dtype):
        return np.asarray(array, dtype)

    def supports(self, equation, operands):
        return True

    def evaluate(self, equation, operands):
        return bind(equation, operands)

    def rearrange(self, equation, operands):
        raise NotImplementedError

    def stack(self, values):
        return np.stack(values)


def arguments(closed_jaxpr, arithmetic):
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    draw = lambda aval: (3 * rng.normal(size=aval.shape)).astype(aval.dtype)
    number = lambda array: arithmetic.number(array) if jnp.issubdtype(array.dtype, jnp.floating) else array
    return [number(draw(aval)) for aval in closed_jaxpr.in_avals]


def bits(value):
    """Everything that can be told of a value, for comparison."""
    array = np.asarray(value)
    if array.dtype == object:
        return array.shape, [(str(ball.mid().man_exp()), str(ball.rad().man_exp())) for ball in array.ravel()]
    return str(array.dtype), array.shape, array.tobytes()


def outcome(closed_jaxpr, arithmetic):
    """The outputs in an arithmetic, or the kind of error where the arithmetic has no rule for the program."""
    try:
        with ctx.workprec(128):
            outputs = interpret(closed_jaxpr, arithmetic, arguments(closed_jaxpr, arithmetic))
            return [bits(output) for output in outputs]
    except UatJaxError as error:
        return type(error)


@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
@pytest.mark.parametrize("arithmetic", [OneByOne(), Doubles(), Balls()], ids=lambda a: type(a).__name__)
def test_a_program_read_back_has_the_same_bits(name, arithmetic):
    original = programs()[name]
    expected = outcome(original, arithmetic)
    found = outcome(through_a_file(original), arithmetic)
    # An arithmetic that fails at an equation which nothing uses does not meet it in the file.
    assert found == expected or isinstance(expected, type) and not isinstance(arithmetic, OneByOne)


def test_the_comparison_of_bits_sees_one_changed_weight():
    changed = trace(lambda x: mlp(x, WEIGHTS + STEP), x)
    for arithmetic in (OneByOne(), Doubles(), Balls()):
        assert outcome(programs()["a mlp with captured weights"], arithmetic) != outcome(changed, arithmetic)


def test_layers_of_libraries_are_stored():
    linen = pytest.importorskip("flax.linen", reason="flax is a test extra")
    layer = linen.MultiHeadDotProductAttention(num_heads=2)
    parameters = jax.eval_shape(layer.init, jax.random.key(0), jnp.zeros((1, 4, 6)), jnp.zeros((1, 4, 6)))
    program = trace(layer.apply, parameters, spec(1, 4, 6), spec(1, 4, 6))
    assert outcome(through_a_file(program), Doubles()) == outcome(program, Doubles())
    equinox = pytest.importorskip("equinox", reason="equinox is a test extra")
    norm = equinox.nn.MLP(6, 3, 5, 2, key=jax.random.key(1))
    program = trace(norm, spec(6))
    assert outcome(through_a_file(program), Doubles()) == outcome(program, Doubles())


def test_every_named_primitive_exists():
    assert set(primitives()) >= PRIMITIVES - {"mulhi", "one_minus_square", "scatter-sub", "stack", "unstack", "tile"}


# --- the digest -----------------------------------------------------------------------------------


def digests():
    return {name: digest(encode(program)) for name, program in programs().items()}


def test_the_digest_is_the_same_in_another_process():
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": f"{tests.parent}:{tests}", "PYTHONHASHSEED": "1"}
    code = "import json, test_jaxpr_file; print(json.dumps(test_jaxpr_file.digests()))"
    there = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(there.stdout.splitlines()[-1]) == digests()


def test_the_digest_survives_the_file():
    for program in programs().values():
        assert digest(encode(through_a_file(program))) == digest(encode(program))


def nested(x):
    return jax.jit(lambda y: jnp.exp(y) - x[:1])(x)


SAME = {
    "traced again": (lambda x: x * 2.0 - x[:1], lambda x: x * 2.0 - x[:1]),
    "dead code": (lambda x: x * 2.0, lambda x: (jnp.sin(x), x * 2.0)[1]),
    "dead constant": (lambda x: x * 2.0, lambda x: (matmul(x, WEIGHTS), x * 2.0)[1]),
    "a copy": (lambda x: x * 2.0, lambda x: lax.stop_gradient(x) * 2.0),
    "names of functions": (nested, lambda x: jax.jit(lambda other: jnp.exp(other) - x[:1])(x)),
    "checkpointed or jitted": (nested, lambda x: jax.checkpoint(lambda y: jnp.exp(y) - x[:1])(x)),
}
DIFFERENT = {
    "one weight": (mlp, lambda x: mlp(x, WEIGHTS + np.eye(6, 6).astype(np.float32) * STEP)),
    "one literal": (lambda x: x * 2.0, lambda x: x * (2.0 + STEP)),
    "the sign of zero": (lambda x: x + np.float32(0.0), lambda x: x + np.float32(-0.0)),
    "operand order": (lambda x: x - x[:1], lambda x: x[:1] - x),
    "an axis": (lambda x: jnp.sum(x[:4, :4], axis=0), lambda x: jnp.sum(x[:4, :4], axis=1)),
    "a precision": (lambda x: matmul(x, x.T), lambda x: jnp.matmul(x, x.T, precision="default")),
    "the order of outputs": (lambda x: (jnp.sin(x), jnp.cos(x)), lambda x: (jnp.cos(x), jnp.sin(x))[::1]),
    "a length": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2.0, x),
        lambda x: lax.fori_loop(0, 4, lambda i, c: c * 2.0, x),
    ),
    "a nested literal": (lambda x: jax.jit(lambda y: y + 1.0)(x), lambda x: jax.jit(lambda y: y + 1.5)(x)),
    "a key": (
        lambda x: jax.random.normal(jax.random.key(1), x.shape),
        lambda x: jax.random.normal(jax.random.key(2), x.shape),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_does_not_change_the_value_does_not_change_the_digest(name):
    f, g = SAME[name]
    assert digest(encode(trace(f, x))) == digest(encode(trace(g, x)))


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_changes_the_value_changes_the_digest(name):
    f, g = DIFFERENT[name]
    assert digest(encode(trace(f, x))) != digest(encode(trace(g, x)))


# --- what cannot be stored ------------------------------------------------------------------------


def test_a_call_back_to_python_cannot_be_stored():
    calls = lambda x: jax.pure_callback(np.sin, x, x)
    with pytest.raises(UnsupportedError, match=r"'pure_callback' at test_jaxpr_file.py:\d+ cannot be written"):
        encode(trace(calls, x))


def test_printing_is_not_dead_code():
    def printing(x):
        jax.debug.print("{}", x[0, 0])
        return x

    with pytest.raises(UnsupportedError, match="cannot be written into a certificate"):
        encode(trace(printing, x))


def test_complex_numbers_cannot_be_stored():
    with pytest.raises(UnsupportedError, match="complex64"):
        encode(trace(lambda x: jnp.real(x * np.complex64(1j)), spec(2, dtype="complex64")))


def test_a_loop_of_too_many_steps_cannot_be_stored():
    with pytest.raises(UnsupportedError, match="which no certificate holds"):
        encode(trace(lambda x: lax.fori_loop(0, 2**20, lambda i, c: jnp.sin(c), x), x))


# --- hostile and damaged files --------------------------------------------------------------------


@functools.cache
def sample():
    """A program with every kind of content: a constant, a call, a scan, a record, an enumeration, a literal."""

    def program(x):
        rows = x[jnp.array([0, 2])]
        _, states = lax.scan(lambda c, row: (c + row, c), rows[0], rows)
        return jax.nn.relu(matmul(states, WEIGHTS)) + 1.5

    data = json.loads(json.dumps(encode(trace(program, x))))
    decode(data)  # whole, it is accepted
    return data


def equation(data, name):
    return next(e for jaxpr in data["jaxprs"] for e in jaxpr["equations"] if e[0] == name)


def changed(path):
    """The change of one place of the file: path[:-1] leads to it, path[-1] is what it becomes."""
    *steps, last, value = path

    def change(data):
        place = data
        for step in steps:
            place = equation(data, step[1:]) if isinstance(step, str) and step.startswith("=") else place[step]
        place[last] = value
        return data

    return change


def calls_doubled(levels):
    """Jaxprs that each call the one before twice: a short file, 2^levels equations."""
    kind = ["float32", []]
    call = lambda index, atom: ["closed_call", {"call_jaxpr": {"closed_jaxpr": index}}, [atom], [kind]]
    body = lambda equations: {"constants": [], "inputs": [kind], "equations": equations, "outputs": [len(equations)]}
    jaxprs = [body([["sin", {"accuracy": None}, [0], [kind]]])]
    jaxprs += [body([call(index, 0), call(index, 1)]) for index in range(levels)]
    return {"jaxprs": jaxprs, "lines": [[""] * len(jaxpr["equations"]) for jaxpr in jaxprs]}


def calls_in_a_row(levels):
    data = calls_doubled(levels)
    for jaxpr, lines in zip(data["jaxprs"][1:], data["lines"][1:], strict=True):
        jaxpr.update(equations=jaxpr["equations"][:1], outputs=[1])
        del lines[1:]
    return data


def program_of(name, parameters, operand, results):
    jaxpr = {"constants": [], "inputs": [operand], "equations": [[name, parameters, [0], results]], "outputs": [0]}
    return {"jaxprs": [jaxpr], "lines": [[""]]}


def reductions_doubled(levels):
    """Like `calls_doubled`, with functions given to reductions."""
    number, pair = ["float32", []], ["float32", [2]]
    zero = ["float32", [], "AAAAAA=="]
    stretch = ["broadcast_in_dim", {"broadcast_dimensions": [], "shape": [2], "sharding": None}, [0], [pair]]
    add = lambda x, y: ["add", {}, [x, y], [number]]
    body = lambda equations: {"constants": [], "inputs": [number] * 2, "equations": equations, "outputs": [2]}
    jaxprs = [body([add(0, 1)])]
    for index in range(levels):
        parameters = {"computation": None, "dimensions": [0], "jaxpr": {"closed_jaxpr": index}}
        reduction = ["reduce", parameters, [2, zero], [number]]
        jaxprs.append({**body([stretch, reduction, reduction, add(3, 4)]), "outputs": [5]})
    return {"jaxprs": jaxprs, "lines": [[""] * len(jaxpr["equations"]) for jaxpr in jaxprs]}


def lists(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


HUGE = 10**400
HOSTILE = {
    "null": lambda data: None,
    "a list": lambda data: [data],
    "a text": lambda data: "data",
    "no lines": lambda data: {"jaxprs": data["jaxprs"]},
    "no jaxprs": lambda data: {"jaxprs": [], "lines": []},
    "another field": lambda data: {**data, "code": "import os"},
    "jaxprs of a wrong type": changed(["jaxprs", 0, 7]),
    "jaxprs as a mapping": changed(["jaxprs", {}]),
    "a missing field": changed(["jaxprs", 0, {"inputs": []}]),
    "inputs of a wrong type": changed(["jaxprs", 0, "inputs", None]),
    "equations of a wrong type": changed(["jaxprs", 0, "equations", 3]),
    "lines too few": changed(["lines", -1, []]),
    "a line with control characters": changed(["lines", -1, 0, "\x1b[2J"]),
    "a line of 10,000 characters": changed(["lines", -1, 0, "a" * 10_000]),
    "an equation of a wrong length": changed(["jaxprs", -1, "equations", 0, ["sin"]]),
    "an equation that is a number": changed(["jaxprs", -1, "equations", 0, 5]),
    "custom_call": changed(["=add", 0, "custom_call"]),
    "pure_callback": changed(["=add", 0, "pure_callback"]),
    "io_callback": changed(["=add", 0, "io_callback"]),
    "an attribute": changed(["=add", 0, "__class__"]),
    "a primitive that is a number": changed(["=add", 0, 12]),
    "a primitive with another arity": changed(["=add", 0, "sin"]),
    "an undefined variable": changed(["=add", 2, 0, 10_000]),
    "a negative variable": changed(["=add", 2, 0, -1]),
    "a variable that is its own result": lambda data: changed(["=dot_general", 2, 0, 10**9])(data),
    "a variable that is true": changed(["=add", 2, 0, True]),
    "a variable that is a fraction": changed(["=add", 2, 0, 0.5]),
    "a variable that is NaN": changed(["=add", 2, 0, float("nan")]),
    "a huge variable": changed(["=add", 2, 0, HUGE]),
    "an undefined output": changed(["jaxprs", -1, "outputs", 0, 10_000]),
    "a jaxpr that calls itself": changed(["=closed_call", 1, "call_jaxpr", "closed_jaxpr", 10**6]),
    "a call of a negative place": changed(["=closed_call", 1, "call_jaxpr", "closed_jaxpr", -1]),
    "a call of a text": changed(["=closed_call", 1, "call_jaxpr", "closed_jaxpr", "0"]),
    "a call of another function": changed(["=closed_call", 1, "call_jaxpr", "closed_jaxpr", 0]),
    "a call with too few operands": changed(["=closed_call", 2, []]),
    "a call with too many results": changed(["=closed_call", 3, [["float32", [2, 6]]] * 2]),
    "a closed call of an open jaxpr": changed(["=closed_call", 1, "call_jaxpr", {"jaxpr": 0}]),
    "a call of nothing": changed(["=closed_call", 1, {}]),
    "a huge shape": changed(["jaxprs", -1, "inputs", 0, ["float32", [2**40]]]),
    "a shape with a huge product": changed(["jaxprs", -1, "inputs", 0, ["float32", [2**20, 2**20]]]),
    "a shape beyond 64 bits": changed(["jaxprs", -1, "inputs", 0, ["float32", [HUGE]]]),
    "a negative size": changed(["jaxprs", -1, "inputs", 0, ["float32", [-4, 6]]]),
    "a size that is true": changed(["jaxprs", -1, "inputs", 0, ["float32", [True, 6]]]),
    "a size that is infinite": changed(["jaxprs", -1, "inputs", 0, ["float32", [float("inf")]]]),
    "a thousand axes": changed(["jaxprs", -1, "inputs", 0, ["float32", [1] * 1000]]),
    "another shape": changed(["jaxprs", -1, "inputs", 0, ["float32", [4, 5]]]),
    "another dtype": changed(["jaxprs", -1, "inputs", 0, ["float16", [4, 6]]]),
    "an unknown dtype": changed(["jaxprs", -1, "inputs", 0, ["float31", [4, 6]]]),
    "a dtype of objects": changed(["jaxprs", -1, "inputs", 0, ["object", [4, 6]]]),
    "a dtype with fields": changed(["jaxprs", -1, "inputs", 0, ["f4,f4", [4, 6]]]),
    "a dtype that is a list": changed(["jaxprs", -1, "inputs", 0, [["f4"], [4, 6]]]),
    "a result of another shape": changed(["=add", 3, 0, 1, [6, 2]]),
    "entries too short": changed(["jaxprs", -1, "constants", 0, 2, "AAAA"]),
    "entries too long": changed(["jaxprs", -1, "constants", 0, 2, "AAAA" * 1000]),
    "entries missing": changed(["jaxprs", -1, "constants", 0, 2, ""]),
    "entries that are not base64": changed(["jaxprs", -1, "constants", 0, 2, "a$b="]),
    "entries that are not ASCII": changed(["jaxprs", -1, "constants", 0, 2, "é" * 8]),
    "entries that are numbers": changed(["jaxprs", -1, "constants", 0, 2, [1.0] * 36]),
    "a boolean that is 2": changed(["jaxprs", -1, "constants", 0, ["bool", [], "Ag=="]]),
    "a literal of another shape": changed(["=add", 2, 1, ["float32", [3, 1], "AADAPw=="]]),
    "a literal of another dtype": changed(["=add", 2, 1, ["int32", [], "AADAPw=="]]),
    "a literal that unfolds": changed(["=add", 2, 1, ["float32", [2**30], "AADAPw=="]]),
    "a parameter too many": changed(["=dot_general", 1, "surprise", 1]),
    "parameters as a list": changed(["=add", 1, []]),
    "a parameter that is a text": changed(["=dot_general", 1, "precision", "highest"]),
    "a parameter that is NaN": changed(["=scan", 1, "length", float("nan")]),
    "a parameter of an unknown kind": changed(["=dot_general", 1, "precision", {"eval": "1"}]),
    "an enumeration's attribute": changed(["=dot_general", 1, "precision", {"Precision": "__class__"}]),
    "an enumeration of a list": changed(["=dot_general", 1, "precision", {"Precision": ["HIGHEST"]}]),
    "a dimension out of range": changed(["=dot_general", 1, "dimension_numbers", [[[7], [0]], [[], []]]]),
    "a record with a field too few": changed(["=gather", 1, "dimension_numbers", {"GatherDimensionNumbers": {}}]),
    "a record that is a list": changed(["=gather", 1, "dimension_numbers", {"GatherDimensionNumbers": []}]),
    "a scan of another length": changed(["=scan", 1, "length", 3]),
    "a scan of negative length": changed(["=scan", 1, "length", -2]),
    "a scan of a huge length": changed(["=scan", 1, "length", 2**62]),
    "a scan over true": changed(["=scan", 1, "length", True]),
    "a parameter 10,000 deep": lambda data: changed(["=dot_general", 1, "dimension_numbers", lists(10_000)])(data),
    "a shape 10,000 deep": lambda data: changed(["jaxprs", -1, "inputs", 0, lists(10_000)])(data),
    "a program 10,000 deep": lambda data: lists(10_000),
    "calls doubled 60 times": lambda data: calls_doubled(60),
    "calls doubled 5,000 times": lambda data: calls_doubled(5_000),
    "reductions doubled 18 times": lambda data: reductions_doubled(18),
    "an array cut into its entries": lambda data: program_of(
        "unstack", {"axis": 0}, ["float32", [2**26]], [["float32", []]]
    ),
    "calls 5,000 deep": lambda data: calls_in_a_row(5_000),
}


SLOW = {"calls doubled 60 times"}
"""Read up to the limit, as those that are doubled 5,000 times: a campaign."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.campaign) if name in SLOW else name for name in HOSTILE]
)
def test_a_damaged_file_is_refused_in_one_line(name, monkeypatch):
    data = HOSTILE[name](copy.deepcopy(sample()))
    monkeypatch.setattr(jax.extend.core.Primitive, "bind", None)  # reading binds nothing, so it runs nothing
    with pytest.raises(InputError, match="^the program in the certificate is damaged: ") as caught:
        decode(data)
    message = str(caught.value)
    assert "\n" not in message and message.isprintable() and len(message) < 500


WITHIN = {"doubled": calls_doubled(10), "deep": calls_in_a_row(60), "one reduction": reductions_doubled(1)}


@pytest.mark.parametrize("data", WITHIN.values(), ids=WITHIN)
def test_calls_within_the_limits_are_read(data):
    assert len(decode(data).out_avals) == 1


def test_a_scan_of_another_carry_is_refused():
    data = copy.deepcopy(sample())
    equation(data, "scan")[2].reverse()
    with pytest.raises(InputError, match="JAX rejects it"):
        decode(data)


def test_tokens_that_json_has_not_are_refused():
    text = json.dumps(copy.deepcopy(sample())).replace('"length": 2', '"length": Infinity')
    with pytest.raises(InputError, match="damaged"):
        decode(json.loads(text))
