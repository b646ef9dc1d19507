"""What `certify` accepts as inputs and functions, and the line it answers with otherwise."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import hijax, io_callback

import uat_jax as uj
from uat_jax.decide.equivalence import Question
from uat_jax.decide.specification import Specification, parse, same_outputs, sizes_text, traced
from uat_jax.errors import InputError, UnsupportedError

VECTOR = jax.ShapeDtypeStruct((3,), jnp.float32)
NAN = np.array([1, np.nan], np.float32)


def symbolic(text: str, **scope):
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(text, **scope), jnp.float32)


def common_sizes(left, right, specification):
    """The sizes at which both functions can be traced, and why the others are skipped."""
    pairs, skipped = Question(left, right, specification).pairs()
    return tuple(pair.sizes for pair in pairs), skipped


def program(function, *specs):
    return traced(function, Specification(specs).at({}))


UNUSABLE_INPUTS = {
    "neither": ((3.0,), r"input \[0\] is a float; pass an array or a jax.ShapeDtypeStruct"),
    "empty": ((jax.ShapeDtypeStruct((0, 2), jnp.float32),), r"input \[0\] has shape \(0, 2\); every dimension must be"),
    "float8": ((jax.ShapeDtypeStruct((2,), jnp.float8_e4m3fn),), "has dtype float8_e4m3fn; use float16, bfloat16"),
    "no float": ((np.arange(3),), "got no input that is a variable; pass at least one array"),
    "nothing": ((), "got no input that is a variable; pass at least one array"),
    "two scopes": ((symbolic("b"), symbolic("b")), "several scopes; make them all with one scope="),
}


@pytest.mark.parametrize("name", UNUSABLE_INPUTS)
def test_unusable_inputs_get_one_line(name):
    specs, message = UNUSABLE_INPUTS[name]
    with pytest.raises(InputError, match=message) as error:
        Specification(specs)
    assert "\n" not in str(error.value)


def test_variables_and_fixed_values():
    ids = np.array([2, 0])
    specification = Specification(({"ids": ids, "w": np.full((3, 2), np.nan, np.float32)}, VECTOR))
    assert list(map(str, specification.assumptions)) == ["integer input [0]['ids'] is fixed to the given values"]
    assert specification.symbols == () and specification.sizes_to_try() == ({},)
    traced_program, outputs = traced(lambda p, x: p["w"][p["ids"]] * x[0], specification.at({}))
    assert [v.aval.str_short() for v in traced_program.jaxpr.invars] == ["float32[3,2]", "float32[3]"]
    assert (outputs.shape, outputs.dtype) == ((2, 2), jnp.float32)
    assert not Specification((VECTOR,)).assumptions


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_64_bit_types_are_on_exactly_for_float64(dtype):
    traced_program, _ = program(lambda x: x + jnp.zeros((), x.dtype), jax.ShapeDtypeStruct((2,), jnp.dtype(dtype)))
    assert str(traced_program.out_avals[0].dtype) == dtype


UNUSABLE_FUNCTIONS = {
    "branch": (
        lambda x: x if x[0] > 0 else -x,
        r"JAX cannot trace <lambda>: TracerBoolConversionError: .* at test_spec",
    ),
    "shape": (
        lambda x: x.reshape(4),
        r"JAX cannot trace <lambda>: TypeError: cannot reshape .* at test_specifications",
    ),
    "arguments": (lambda: 1.0, r"JAX cannot trace <lambda>: TypeError: .*takes 0 positional arguments"),
    "not an array": (lambda x: "x", r"JAX cannot trace <lambda>: TypeError"),
    "nan": (lambda x: x[:2] + NAN, r"<lambda> captures an array with NaN, float32\[2\]; give it finite values"),
    "nan in jit": (lambda x: jax.jit(lambda y: y[:2] * NAN)(x), r"captures an array with NaN, float32\[2\]"),
    "empty": (lambda x: {"a": x[:0]}, r"<lambda> returns the empty float32\[0\] at output \['a'\]; return arrays with"),
    "nothing": (lambda x: None, "<lambda> returns no array; return at least one"),
}


@pytest.mark.parametrize("name", UNUSABLE_FUNCTIONS)
def test_unusable_functions_get_one_line(name):
    function, message = UNUSABLE_FUNCTIONS[name]
    with pytest.raises(InputError, match=message) as error:
        program(function, VECTOR)
    assert "\n" not in str(error.value)


def effect(x):
    return io_callback(lambda y: y, VECTOR, x)


def printing(x):
    jax.debug.print("{}", x)
    return x


@pytest.mark.parametrize(("function", "primitive"), [(effect, "io_callback"), (printing, "debug_")])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint])
def test_host_callbacks_are_unsupported_wherever_they_stand(function, primitive, wrap):
    with pytest.raises(UnsupportedError, match=f"calls back to the host with '{primitive}"):
        program(wrap(function), VECTOR)
    program(wrap(lambda x: x), VECTOR)


HIDDEN: Any = getattr(hijax, "HiPrim", None) or hijax.VJPHiPrimitive  # its name before JAX 0.12


def hidden(x):
    """An operation that JAX opens only when it compiles; its definition calls back to the host."""

    class Hidden(HIDDEN):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

        def expand(self, y):
            return effect(y)

    return Hidden(jax.typeof(x))(x)


def test_a_host_callback_in_a_hidden_definition_is_unsupported():
    with pytest.raises(UnsupportedError, match="calls back to the host with 'io_callback"):
        program(hidden, VECTOR)


def test_an_error_of_ours_passes_through():
    def refuse(x):
        raise InputError("say this")

    with pytest.raises(InputError) as error:
        program(refuse, VECTOR)
    assert str(error.value) == "say this"


def test_infinite_constants_are_no_error():
    program(lambda x: x + np.array([0, -np.inf, 0], np.float32), VECTOR)


MISMATCHES = {
    "shape": (
        lambda x: {"a": x},
        lambda x: {"a": x[:2]},
        r"first .* float32\[3\] at output \['a'\], the second float32\[2\]",
    ),
    "dtype": (
        lambda x: x,
        lambda x: x.astype(jnp.float16),
        r"first function returns float32\[3\], the second float16\[3\]",
    ),
    "missing": (lambda x: {"a": x, "b": x}, lambda x: {"a": x}, r"only one has output \['b'\]"),
    "bare": (lambda x: x, lambda x: {"a": x}, "only one has output without a container"),
    "container": (lambda x: (x,), lambda x: [x], r"different trees: PyTreeDef\(\(\*,\)\) and PyTreeDef\(\[\*\]\)"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_outputs_that_differ_in_kind(name):
    left, right, message = MISMATCHES[name]
    (_, a), (_, b) = program(left, VECTOR), program(right, VECTOR)
    with pytest.raises(InputError, match=message):
        same_outputs(a, b)
    same_outputs(a, program(left, VECTOR)[1])


def test_sizes_follow_the_rule():
    specification = Specification((symbolic("n+1, 2*h, b"),))
    assert specification.symbols == ("b", "h", "n")
    assert specification.sizes_to_try() == (
        {"b": 1, "h": 1, "n": 1},
        {"b": 2, "h": 3, "n": 4},
        {"b": 5, "h": 4, "n": 3},
        {"b": 5, "h": 6, "n": 7},
        {"b": 10, "h": 9, "n": 8},
    )
    assert [sizes["n"] for sizes in Specification((symbolic("n"),)).sizes_to_try()] == [1, 2, 3, 5, 8]
    assert specification.at({"b": 2, "h": 3, "n": 4})[0].shape == (5, 6, 2)
    smaller = list(specification.smaller_sizes({"b": 1, "h": 2, "n": 2}))
    assert [sizes_text(s) for s in smaller] == [
        "b = 1, h = 1, n = 1",
        "b = 1, h = 1, n = 2",
        "b = 1, h = 2, n = 1",
        "b = 1, h = 2, n = 2",
    ]


def test_constraints_are_respected():
    specification = Specification((symbolic("h, n", constraints=["h >= 2", "n <= h"]),))
    assert specification.at({"h": 3, "n": 2})[0].shape == (3, 2)
    with pytest.raises(InputError, match="constraint h ?>= ?2; choose sizes that fit$"):
        specification.at({"h": 1, "n": 1})
    with pytest.raises(InputError, match="constraint n ?<= ?h"):
        specification.at({"h": 2, "n": 3})
    accepted, skipped = common_sizes(jnp.sin, jnp.sin, specification)
    assert [tuple(sizes.values()) for sizes in accepted] == [(2, 1), (3, 3), (5, 3), (6, 6), (10, 8)]
    assert not skipped


FITTING = {
    "h*d == n": [(1, 1, 1), (2, 3, 6), (5, 4, 20), (5, 6, 30), (10, 9, 90)],
    "mod(n, 4) == 0": [(1, 1, 4), (2, 3, 16), (5, 4, 12), (5, 6, 28), (10, 9, 32)],
    "n >= 7": [(1, 1, 7), (2, 3, 10), (5, 4, 9), (5, 6, 13), (10, 9, 14)],
    "d <= h": [(1, 1, 1), (2, 3, 4), (5, 5, 3), (5, 6, 7), (10, 10, 8)],
}


@pytest.mark.parametrize("constraint", FITTING)
def test_sizes_fit_the_constraints(constraint):
    specification = Specification((symbolic("d, h, n", constraints=[constraint]),))
    assert [tuple(sizes[name] for name in "dhn") for sizes in specification.sizes_to_try()] == FITTING[constraint]


def test_constraints_that_contradict_each_other():
    x = symbolic("n", constraints=["n >= 5", "n <= 3"])
    with pytest.raises(InputError, match="^no sizes fit: the constraints n >= 5, n <= 3 contradict each other$"):
        uj.certify(jnp.sin, lambda y: jnp.sin(y * 1), x)


def test_a_dimension_that_becomes_zero_is_an_error():
    with pytest.raises(InputError, match=r"input \[0\] has shape \(0,\)"):
        Specification((symbolic("n-1", constraints=["n >= 1"]),)).at({"n": 1})


def test_sizes_at_which_tracing_fails_are_skipped_with_the_reason():
    halves = lambda x: x.reshape(2, -1).sum(axis=0)
    accepted, skipped = common_sizes(halves, halves, Specification((symbolic("n"),)))
    assert accepted == ({"n": 2}, {"n": 8})
    assert len(skipped) == 3 and all("JAX cannot trace" in text and "reshape" in text for text in skipped)
    sevenths = lambda x: x.reshape(7, -1).sum(axis=0)
    with pytest.raises(InputError, match=r"no sizes fit \(n = 1: .*; write dimensions as they must be, such as 4\*k"):
        common_sizes(sevenths, sevenths, Specification((symbolic("n"),)))
    assert len(common_sizes(sevenths, sevenths, Specification((symbolic("7*n"),)))[0]) == 5


def test_outputs_are_compared_at_every_size():
    with pytest.raises(InputError, match="return the same shape"):
        common_sizes(lambda x: x, lambda x: x[:1], Specification((symbolic("n"),)))
    with pytest.raises(InputError, match="JAX cannot trace"):
        common_sizes(lambda x: x.reshape(7), lambda x: x, Specification((VECTOR,)))


def test_texts_of_the_command_line():
    matrix, shared, scalar = parse("f32[4,8]", "bf16[b,2*h]", "f64[]")
    assert (matrix.shape, matrix.dtype) == ((4, 8), jnp.float32)
    assert (scalar.shape, scalar.dtype) == ((), np.float64)
    assert shared.dtype == jnp.bfloat16
    assert parse("c64[2]", "complex128[]")[0].dtype == np.complex64
    assert Specification(parse("f32[b,h]", " f16[ h+1 ] ")).at({"b": 2, "h": 3})[1].shape == (4,)


@pytest.mark.parametrize("text", ["f32", "i3[2]", "c32[2]", "f32[2", "f32[a b]", "f32[...]", "f32[2**a]", ""])
def test_unreadable_texts(text):
    with pytest.raises(InputError, match=r"got .* for an input.*; write|got .* for an input; write") as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_complex_numbers_have_no_domain():
    with pytest.raises(InputError, match="got x > 0 for an input of complex64; only floats have a domain"):
        parse("c64[2] > 0")


@pytest.mark.parametrize("text", ["f32[0]", "f32[-1,2]"])
def test_texts_with_empty_shapes(text):
    with pytest.raises(InputError, match="every dimension must be at least 1"):
        Specification(parse(text))
