"""Kernels of Pallas whose results depend on memory that nobody has written, and kernels that write theirs in time."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as plgpu
from test_kernels import softmax, spec

import uat_jax as uj
from uat_jax.decide.expansion import expanded
from uat_jax.decide.kernels import is_kernel, kernel
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.tracing import dtype_of, shape_of

FOUR = spec(4)
DTYPES = tuple(map(jnp.dtype, "bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32".split()))
HALF = pl.BlockSpec((2,), lambda i: (i,))
WHOLE = pl.BlockSpec((4,), lambda i: (0,))
PAIRS_OF_ROWS = {"grid": (3,), "in_specs": [pl.BlockSpec((2, 2), lambda i: (i, 0))]}
"""Two rows of five in every step, so that the last block has one row that nobody has written."""


def call(body, out: Any = FOUR, **parameters):
    return pl.pallas_call(body, out_shape=out, **parameters)


def first(body):
    """Run in the first step alone."""
    pl.when(pl.program_id(0) == 0)(body)


# --- whatever it is, and wherever it lies -----------------------------------------------------------------------------


def nothing(*references):
    """A kernel that writes nothing."""


def copied(*references):
    """Every memory of the second half into the output of its number."""
    half = len(references) // 2
    for out, memory in zip(references[:half], references[half:], strict=True):
        out[...] = memory[...]


def outputs(sizes=(4,)):
    return tuple(jax.ShapeDtypeStruct(sizes, dtype) for dtype in DTYPES)


def never_written():
    return call(nothing, outputs())()


def of_its_own(memory, sizes):
    return call(copied, outputs(sizes), scratch_shapes=[memory(sizes, dtype) for dtype in DTYPES])()


def for_a_while():
    """Memory that the kernel asks for, and that has as many dtypes."""

    def body(*out):
        pl.run_scoped(functools.partial(copied, *out), *(pltpu.VMEM((4,), dtype) for dtype in DTYPES))

    return call(body, outputs())()


def beyond_the_last_entry():
    """The last block has two entries, and its array only one of them."""

    def body(*references):
        half = len(references) // 2
        for array, out in zip(references[:half], references[half:], strict=True):
            out[...] = array[1:]

    out = pl.BlockSpec((1,), lambda i: (i,))
    run = call(body, outputs((2,)), grid=(2,), in_specs=[HALF] * len(DTYPES), out_specs=[out] * len(DTYPES))
    return run(*(jnp.ones(3, dtype) for dtype in DTYPES))


MEMORY = {
    "outputs": (never_written, 4),
    "vectors": (functools.partial(of_its_own, pltpu.VMEM, (4,)), 4),
    "scalars": (functools.partial(of_its_own, pltpu.SMEM, ()), 1),
    "for a while": (for_a_while, 4),
    "beyond the last entry": (beyond_the_last_entry, 1),
}
"""Name → a kernel that gives the caller memory of every dtype which nobody has written, and how many entries."""


@pytest.mark.parametrize("name", MEMORY)
def test_memory_that_nobody_has_written_is_found_whatever_its_dtype(name):
    """A version of JAX that fills memory with something else fails here."""
    function, entries = MEMORY[name]
    (equation,) = filter(is_kernel, jax.make_jaxpr(function)().eqns)
    _, doubts = kernel(equation, [jnp.zeros(shape_of(v), dtype_of(v)) for v in equation.invars])
    assert [doubt.entries.sum() if doubt else 0 for doubt in doubts] == [entries] * len(DTYPES)


# --- kernels that read before they write, or write a part -------------------------------------------------------------


def cleaned(o, x):
    return jnp.where(jnp.isnan(o), x, o)


def zeros_of(o, x):
    return jnp.nan_to_num(o) * 0 + x


def compared(o, x):
    return jnp.where(o == o, o, x)


def largest(o, x):
    return jnp.maximum(o, x)


def in_place(rule, dtype=jnp.float32):
    """Every step computes with what the output has been before."""

    def body(x, o):
        o[...] = rule(o[...], x[...].astype(dtype))

    run = call(body, jax.ShapeDtypeStruct((4,), dtype), grid=(2,), in_specs=[WHOLE], out_specs=WHOLE)
    return lambda x: run(x).astype(jnp.float32)


def first_half(x_ref, o_ref):
    """The second half is not written."""
    o_ref[:2] = x_ref[:2]


halves = call(first_half)


def rows(mask):
    """The sum of five rows, the sixth of which is masked in some way."""

    def body(x, o):
        @first
        def _():
            o[...] = jnp.zeros_like(o)

        row = 2 * pl.program_id(0) + lax.broadcasted_iota(jnp.int32, (2, 2), 0)
        o[...] += mask(row < 5, x[...]).sum(0)

    return call(body, spec(2), out_specs=pl.BlockSpec((2,), lambda i: (0,)), **PAIRS_OF_ROWS)


def attention(start):
    """Attention over two blocks of keys, whose running sums start in some step."""

    def body(q, k, v, o, largest, total, result):
        @pl.when(pl.program_id(0) == start)
        def _():
            largest[...] = jnp.full_like(largest, -jnp.inf)
            total[...], result[...] = jnp.zeros_like(total), jnp.zeros_like(result)

        scores = jnp.dot(q[...], k[...].T, precision="highest")
        new = jnp.maximum(largest[...], scores.max(-1))
        safe = jnp.where(new == -jnp.inf, 0, new)
        weights, old = jnp.exp(scores - safe[:, None]), jnp.exp(largest[...] - safe)
        largest[...], total[...] = new, total[...] * old + weights.sum(-1)
        result[...] = result[...] * old[:, None] + jnp.dot(weights, v[...], precision="highest")

        @pl.when(pl.program_id(0) == 1)
        def _():
            o[...] = result[...] / total[...][:, None]

    block, all_of_it = pl.BlockSpec((2, 3), lambda i: (i, 0)), pl.BlockSpec((2, 3), lambda i: (0, 0))
    memory = [pltpu.VMEM(shape, jnp.float32) for shape in ((2,), (2,), (2, 3))]
    specs = {"in_specs": [all_of_it, block, block], "out_specs": all_of_it, "scratch_shapes": memory}
    return call(body, spec(2, 3), grid=(2,), **specs)


def placed(places):
    """Blocks of x at places that are known."""
    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(2,),
        in_specs=[pl.BlockSpec((2,), lambda i, to: (i,))],
        out_specs=pl.BlockSpec((2,), lambda i, to: (to[i],)),
    )

    def body(to, x, o):
        o[...] = x[...]

    return lambda x: pl.pallas_call(body, out_shape=FOUR, grid_spec=grid)(np.array(places, np.int32), x)


def under_a_mask(**other):
    def body(x, o):
        o[...] = plgpu.load(x.at[...], mask=jnp.arange(4) < 2, **other)

    return call(body)


def when_positive(x_ref, o_ref, start=None):
    """Written where an input says so."""
    o_ref[...] = o_ref[...] * 0 if start is None else jnp.full_like(o_ref, start)

    @pl.when(x_ref[0] > 0)
    def _():
        o_ref[...] = x_ref[...]


def as_often_as_memory_says(x_ref, o_ref, count_ref):
    o_ref[...] = lax.while_loop(lambda c: c[0] < count_ref[0], lambda c: (c[0] + 1, c[1] * 1), (0, x_ref[...]))[1]


def into(function):
    """A kernel that writes a function of all of its inputs."""

    def body(*references):
        references[-1][...] = function(*(x[...] for x in references[:-1]))

    return body


def block_after_the_last(x):
    after = pl.BlockSpec((2,), lambda i: (i + 2,))
    return call(into(lambda x: x), spec(2), grid=(1,), in_specs=[after], out_specs=HALF)(x)


def through_a_copy(steps):
    """Copied into memory of the kernel's own, and read there before or after the copy is waited for, or never."""

    def body(x_ref, o_ref, memory, done):
        copy = pltpu.make_async_copy(x_ref, memory, done)
        do = {"start": copy.start, "wait": copy.wait, "read": lambda: o_ref.__setitem__(..., memory[...])}
        for step in steps.split():
            do[step]()

    memory = [pltpu.VMEM((4,), jnp.float32), pltpu.SemaphoreType.DMA]
    return call(body, in_specs=[pl.BlockSpec(memory_space=pl.ANY)], scratch_shapes=memory)


READ = r"the kernel at \w+.py:\d+ reads memory at \w+.py:\d+ that it has not written before, on which {} of the"
LEFT = r"the kernel at \w+.py:\d+ has written nothing in {} of the"
SMEM = [pltpu.SMEM((1,), jnp.int32)]

NOT_WRITTEN = {
    "NaN replaced": (in_place(cleaned), (FOUR,), READ.format(4)),
    "times zero": (in_place(zeros_of), (FOUR,), READ.format(4)),
    "compared with itself": (in_place(compared), (FOUR,), READ.format(4)),
    "largest whole number": (in_place(largest, jnp.int32), (FOUR,), READ.format(4)),
    "any": (in_place(jnp.logical_or, jnp.bool_), (FOUR,), READ.format(4)),
    "half": (halves, (FOUR,), LEFT.format(2) + r" 4 entries of its result, \[2\] first"),
    "half, then NaN replaced": (lambda x: cleaned(halves(x), x), (FOUR,), LEFT.format(2)),
    "half into another kernel": (lambda x: call(into(cleaned))(halves(x), x), (FOUR,), LEFT.format(2)),
    "half in a loop": (lambda x: lax.fori_loop(0, 2, lambda _, y: cleaned(halves(y), y), x), (FOUR,), LEFT.format(2)),
    "half of each": (lambda x: cleaned(jax.vmap(halves)(x), x), (spec(3, 4),), LEFT.format(6)),
    "rows without a mask": (rows(lambda mask, x: cleaned(x, 0)), (spec(5, 2),), READ.format(2)),
    "rows times their mask": (rows(lambda mask, x: x * mask.astype(x.dtype)), (spec(5, 2),), READ.format(2)),
    "attention that never starts": (attention(2), (spec(2, 3), spec(4, 3), spec(4, 3)), READ.format(6)),
    "blocks at one place": (placed([1, 1]), (FOUR,), LEFT.format(2)),
    "when an input is positive": (lambda x: jnp.nan_to_num(call(when_positive)(x)), (FOUR,), READ.format(4)),
    "as often as memory says": (call(as_often_as_memory_says, scratch_shapes=SMEM), (FOUR,), READ.format(4)),
    "a block that is not there": (block_after_the_last, (FOUR,), LEFT.format(2)),
    "an empty array": (call(into(lambda x: x + lax.empty((4,), jnp.float32))), (FOUR,), "'empty' at"),
    "under a mask": (under_a_mask(), (FOUR,), r"reads under a mask at \w+.py:\d+ and does not say what is read"),
    "a copy read too early": (through_a_copy("start read wait"), (FOUR,), r"copies memory that may be used"),
    "a copy that is not waited for": (through_a_copy("start read"), (FOUR,), r"wait for each copy"),
}  # fmt: skip
"""Name → a function that depends on memory which nobody has written, its inputs, and what is said of it."""


@pytest.mark.parametrize("name", NOT_WRITTEN)
def test_what_depends_on_memory_that_nobody_has_written_is_refused(name):
    function, specs, text = NOT_WRITTEN[name]
    with pytest.raises(UnsupportedError, match=text) as error:
        expanded(jax.make_jaxpr(function)(*specs))
    assert "\n" not in str(error.value)


def through_eight_bits(x, o):
    """Memory for a while, which is written wholly."""

    def body(memory):
        memory[...] = (x[...] > 0).astype(jnp.int8)
        o[...] = memory[...].astype(jnp.float32)

    pl.run_scoped(body, pltpu.VMEM((4,), jnp.int8))


WRITTEN = {
    "in place, from zero": (in_place(lambda o, x: jnp.where(pl.program_id(0) == 0, 0, o) + x), (FOUR,)),
    "half of a half": (lambda x: halves(x)[:2], (FOUR,)),
    "half selected": (lambda x: jnp.where(jnp.arange(4) < 2, halves(x), x), (FOUR,)),
    "blocks at places": (placed([1, 0]), (FOUR,)),
    "when an input is positive": (call(functools.partial(when_positive, start=7.0)), (FOUR,)),
    "under a mask": (under_a_mask(other=0.0), (FOUR,)),
    "for a while": (call(through_eight_bits), (FOUR,)),
    "a copy": (through_a_copy("start wait read"), (FOUR,)),
    "in the memory of an input": (call(first_half, input_output_aliases={0: 0}), (FOUR,)),
}  # fmt: skip
"""Name → a function that does not depend on such memory, and its inputs."""


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_in_time_is_followed(name):
    function, specs = WRITTEN[name]
    program = jax.make_jaxpr(function)(*specs)
    assert expanded(program).out_avals == program.out_avals


# --- the whole question -----------------------------------------------------------------------------------------------


def rounded(x, largest=100):
    """x in eight bits, in blocks of which the last is not full."""

    def body(x_ref, o_ref):
        o_ref[...] = jnp.round(jnp.clip(x_ref[...], -100, largest)).astype(jnp.int8)

    out = jax.ShapeDtypeStruct((5,), jnp.int8)
    return call(body, out, grid=(3,), in_specs=[HALF], out_specs=HALF)(x).astype(jnp.float32)


CERTIFIED = {
    "rows under their mask": (rows(lambda mask, x: jnp.where(mask, x, 0)), lambda x: x.sum(0), (spec(5, 2),)),
    "eight bits": (rounded, lambda x: jnp.round(jnp.clip(x, -100, 100)), (spec(5),)),
    "attention": (
        attention(0),
        lambda q, k, v: jnp.dot(jax.nn.softmax(jnp.dot(q, k.T, precision="highest"), -1), v, precision="highest"),
        (spec(2, 3), spec(4, 3), spec(4, 3)),
    ),
}


@pytest.mark.parametrize("name", CERTIFIED)
def test_kernels_that_write_their_memory_are_certified(name):
    found = uj.certify(*CERTIFIED[name][:2], *CERTIFIED[name][2])
    assert found.verdict is uj.Verdict.CERTIFIED, found.evidence[0].finding


def test_a_wrong_twin_is_refuted():
    reference = CERTIFIED["eight bits"][1]
    assert uj.certify(functools.partial(rounded, largest=99), reference, spec(5)).verdict is uj.Verdict.REFUTED


def softmax_of_twice(x):
    return softmax(2 * x)


def test_the_script_of_a_counterexample_runs_kernels_on_any_device(capsys):
    found = uj.certify(softmax_of_twice, softmax, spec(4, 5)).counterexample
    assert found
    precision, no_mode = jax.config.values["jax_default_matmul_precision"], None
    try:
        exec(found.program, {})
    finally:  # the script is a program of its own, which may configure JAX
        pltpu.set_tpu_interpret_mode(no_mode)  # pyright: ignore[reportArgumentType]
        jax.config.update("jax_default_matmul_precision", precision)
    left, right, _ = map(float, capsys.readouterr().out.split())
    assert (left, right) == pytest.approx((found.left, found.right), rel=1e-5)
