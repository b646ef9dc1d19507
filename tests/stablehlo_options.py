"""Operations of StableHLO with every value of their attributes, as programs of one operation.

Each is run by XLA and by the reader on the same numbers; what is not read is refused, by the text that is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

DTYPES = {
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"{sign}i{bits}": f"{sign and 'u'}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bf16": "bfloat16",
    "i1": "bool",
}


def spec(kind: str) -> jax.ShapeDtypeStruct:
    """Of a type such as 2x3xf32."""
    *sizes, element = kind.split("x")
    return jax.ShapeDtypeStruct(tuple(map(int, sizes)), jnp.dtype(DTYPES[element]))


@dataclass(frozen=True)
class Case:
    """A program, the types of its inputs and outputs, its inputs, what is said if it is refused, "" if it is not."""

    name: str
    body: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    given: tuple[Any, ...] = ()
    refused: str = ""

    @property
    def text(self) -> str:
        """The module."""
        arguments = ", ".join(f"%a{i}: tensor<{kind}>" for i, kind in enumerate(self.inputs))
        results = ", ".join(f"tensor<{kind}>" for kind in self.outputs)
        names = ", ".join(["%r"] if len(self.outputs) == 1 else [f"%r#{i}" for i in range(len(self.outputs))])
        return f"func.func public @main({arguments}) -> ({results}) {{\n{self.body}\nreturn {names} : {results}\n}}"

    @property
    def arrays(self) -> list[np.ndarray]:
        """The inputs, small numbers unless they are given."""
        random = np.random.default_rng(0)
        drawn = lambda of: random.integers(0 if of.dtype.kind in "bu" else -6, 2 if of.dtype == bool else 7, of.shape)
        made = lambda of: 2 * random.standard_normal(of.shape) if jnp.issubdtype(of.dtype, jnp.floating) else drawn(of)
        specs = list(map(spec, self.inputs))
        values = self.given or tuple(map(made, specs))
        return [np.asarray(value).astype(of.dtype) for value, of in zip(values, specs, strict=True)]


def case(name: str, body: str, inputs: str, outputs: str, *given: Any, refused: str = "") -> Case:
    return Case(name, body, tuple(inputs.split()), tuple(outputs.split()), given, refused)


def tensors(*kinds: str) -> str:
    return ", ".join(f"tensor<{kind}>" for kind in kinds)


def element(kind: str) -> str:
    return kind.split("x")[-1]


# --- entry by entry -------------------------------------------------------------------------------------------------

ONE = """abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate
round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"""
TWO = "add subtract multiply divide remainder maximum minimum and or xor shift_left"
SHIFTS = "shift_right_arithmetic shift_right_logical"
SIGNED, SMALL = [-7, 7, -100, 31], [2, -2, 9, 1]
CASTS = (
    ("f32", "i32", [-1.7, 1.7, 0.5, -2.5]),
    ("f32", "i1", [-1.7, 0.0, 0.5, -0.0]),
    ("i32", "i1", [0, 1, -1, 256]),
    ("i32", "i8", [127, 128, -129, 256]),
    ("i32", "ui8", [127, -1, -129, 256]),
    ("i64", "i32", [2**33 + 1, -(2**33), 5, 2**31]),
    ("ui32", "f32", [2**31, 1, 2, 3]),
    ("i8", "ui32", [-1, 1, -128, 127]),
    ("f32", "bf16", [1.2345, 300.7, 1e-6, -7.77]),
)


def entries() -> Iterator[Case]:
    for name in ONE.split():
        yield case(name, f"%r = stablehlo.{name} %a0 : tensor<6xf32>", "6xf32", "6xf32", [0, -0.5, 0.5, 1.5, 2.5, -2.5])
    for kind in ("4xi32", "4xi8", "4xui8"):
        given = (SIGNED, SMALL) if kind != "4xui8" else ([7, 100, 255, 31], [2, 3, 9, 1])
        for name in f"{TWO} {SHIFTS}".split():
            yield case(
                f"{name} of {kind}", f"%r = stablehlo.{name} %a0, %a1 : tensor<{kind}>", f"{kind} {kind}", kind, *given
            )
    for name in "add multiply maximum minimum and or xor".split():
        yield case(
            f"{name} of booleans",
            f"%r = stablehlo.{name} %a0, %a1 : tensor<4xi1>",
            "4xi1 4xi1",
            "4xi1",
            [1, 0, 1, 0],
            [1, 1, 0, 0],
        )
    for kind, refused in (("4xf32", ""), ("4xi32", "in a way that JAX does not have")):
        yield case(
            f"power of {kind}",
            f"%r = stablehlo.power %a0, %a1 : tensor<{kind}>",
            f"{kind} {kind}",
            kind,
            [2, -3, 4, 2],
            [-1, 3, 0, 2],
            refused=refused,
        )
    for low, high, values in CASTS:
        one, two = f"4x{low}", f"4x{high}"
        yield case(
            f"convert {low} to {high}",
            f"%r = stablehlo.convert %a0 : ({tensors(one)}) -> {tensors(two)}",
            one,
            two,
            values,
        )
    for format in ("e5m10", "e8m7", "e4m3", "e3m1"):
        yield case(
            f"reduce_precision {format}",
            f"%r = stablehlo.reduce_precision %a0, format = {format} : tensor<4xf32>",
            "4xf32",
            "4xf32",
            [1.2345, 300.7, 1e-6, -7.77],
        )
    for direction in "EQ NE LT LE GT GE".split():
        for how, kind, given in (
            ("FLOAT", "3xf32", ([1, np.nan, -0.0], [1, 1, 0])),
            ("TOTALORDER", "3xf32", ([1, np.nan, -0.0], [1, 1, 0])),
            ("SIGNED", "3xi32", ([-1, 2, 3], [1, 2, -3])),
            ("UNSIGNED", "3xui32", ([1, 2**31, 3], [1, 2, 2**32 - 1])),
            ("UNSIGNED", "3xi1", ([0, 1, 1], [0, 0, 1])),
        ):
            body = f"%r = stablehlo.compare {direction}, %a0, %a1, {how} : ({tensors(kind, kind)}) -> tensor<3xi1>"
            yield case(f"compare {direction} {how} {kind}", body, f"{kind} {kind}", "3xi1", *given)
    body = "%r = stablehlo.clamp %a0, %a1, %a2 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"
    yield case("clamp between ends that are the wrong way round", body, "f32 4xf32 f32", "4xf32", 1, [-3, 0, 2, 5], -1)


# --- products -------------------------------------------------------------------------------------------------------


def product(name: str, how: str, inputs: str, output: str, *given: Any, refused: str = "") -> Case:
    body = f"%r = stablehlo.dot_general %a0, %a1, {how} : ({tensors(*inputs.split())}) -> {tensors(output)}"
    return case(name, body, inputs, output, *given, refused=refused)


def convolution(
    name: str, axes: str, window: str, groups: tuple[int, int], inputs: str, output: str, refused: str = ""
) -> Case:
    counts = f"feature_group_count = {groups[0]} : i64, batch_group_count = {groups[1]} : i64"
    how = f"dim_numbers = {axes}, window = {{{window}}} {{{counts}}}"
    body = f"%r = stablehlo.convolution(%a0, %a1) {how} : ({tensors(*inputs.split())}) -> {tensors(output)}"
    return case(f"convolution: {name}", body, inputs, output, refused=refused)


def products() -> Iterator[Case]:
    full = [np.full((4, 3), 100), np.full((3, 5), 100)]
    yield product(
        "dot with a batch",
        "batching_dims = [1] x [0], contracting_dims = [2] x [1]",
        "4x2x3xf32 2x3x5xf32",
        "2x4x5xf32",
    )
    yield product("dot over two axes", "contracting_dims = [0, 1] x [1, 0]", "4x3xf32 3x4xf32", "f32")
    yield product("dot of bytes as numbers", "contracting_dims = [1] x [0]", "4x3xi8 3x5xi8", "4x5xi32", *full)
    yield product("dot of bytes as bytes", "contracting_dims = [1] x [0]", "4x3xi8 3x5xi8", "4x5xi8", *full)
    last, x, kernel = "[b, 0, f]x[0, i, o]->[b, 0, f]", "2x6x3xf32", "3x3x2xf32"
    yield convolution(
        "strides and padding",
        "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]",
        "stride = [2, 1], pad = [[1, 0], [2, 1]]",
        (1, 1),
        "2x3x6x5xf32 4x3x3x2xf32",
        "2x4x3x7xf32",
    )
    yield convolution(
        "axes in other places",
        "[b, 0, 1, f]x[0, 1, i, o]->[f, b, 1, 0]",
        "",
        (1, 1),
        "2x6x5x3xf32 3x2x3x4xf32",
        "4x2x4x4xf32",
    )
    yield convolution(
        "groups and a dilated kernel", last, "rhs_dilate = [2]", (2, 1), "2x6x4xf32 3x2x6xf32", "2x2x6xf32"
    )
    yield convolution("groups of the batch", last, "", (1, 2), "4x6x3xf32 2x3x6xf32", "2x5x6xf32")
    yield convolution(
        "a dilated input", last, "pad = [[1, 1]], lhs_dilate = [2]", (1, 1), "2x4x3xf32 3x3x2xf32", "2x7x2xf32"
    )
    yield convolution("negative padding", last, "pad = [[-1, 0]]", (1, 1), f"{x} {kernel}", "2x3x2xf32")
    yield convolution("a window that is not reversed", last, "reverse = [false]", (1, 1), f"{x} {kernel}", "2x4x2xf32")
    yield convolution(
        "a reversed window", last, "reverse = [true]", (1, 1), f"{x} {kernel}", "2x4x2xf32", "with a reversed window"
    )
    near_one = 3 * np.eye(3) + np.arange(9).reshape(3, 3) / 5
    for side, lower, unit in np.ndindex(2, 2, 2):
        for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
            flags = ", ".join(
                f"{key} = {str(bool(on)).lower()}"
                for key, on in (("left_side", side), ("lower", lower), ("unit_diagonal", unit))
            )
            how = f"<{{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}>"
            t = "tensor<3x3xf32>"
            body = f'%r = "stablehlo.triangular_solve"(%a0, %a1) {how} : ({t}, {t}) -> {t}'
            yield case(
                f"triangular_solve {flags}, {transpose}", body, "3x3xf32 3x3xf32", "3x3xf32", near_one, near_one.T + 1
            )
    for lower, refused in (("true", ""), ("false", "of an upper triangle")):
        yield case(
            f"cholesky, lower = {lower}",
            f"%r = stablehlo.cholesky %a0, lower = {lower} : tensor<3x3xf32>",
            "3x3xf32",
            "3x3xf32",
            near_one @ near_one.T,
            refused=refused,
        )
    yield case(
        "cholesky as it is by itself",
        '%r = "stablehlo.cholesky"(%a0) : (tensor<3x3xf32>) -> tensor<3x3xf32>',
        "3x3xf32",
        "3x3xf32",
        near_one @ near_one.T,
        refused="of an upper triangle",
    )


# --- reductions -----------------------------------------------------------------------------------------------------

LOW, HIGH = "0xFF800000", "0x7F800000"
BEGINNINGS = {
    "f32": f"add 0.0, add 1.5, multiply 1.0, multiply 2.0, maximum {LOW}, maximum 0.5, minimum {HIGH}, minimum 0.0",
    "i32": "add 0, and -1, and 6, or 0, xor 0, maximum -2147483648, maximum 0, minimum 2147483647",
    "i1": "add false, multiply true, and true, and false, or false, xor false, maximum false",
}
"""Type → what is applied, and from which number."""


def applied(name: str, kind: str) -> str:
    """A region that applies an operation; "first" and "second" return one of the numbers."""
    arguments = f"^bb0(%x: tensor<{kind}>, %y: tensor<{kind}>):"
    if name in ("first", "second"):
        return f"{arguments}\nstablehlo.return %{'xy'[name == 'second']} : tensor<{kind}>"
    return f"{arguments}\n%z = stablehlo.{name} %x, %y : tensor<{kind}>\nstablehlo.return %z : tensor<{kind}>"


def reduced(name: str, begin: str, kind: str) -> Case:
    body = f"""%c = stablehlo.constant dense<{begin}> : tensor<{kind}>
        %r = "stablehlo.reduce"(%a0, %c) <{{dimensions = array<i64: 0, 2>}}> ({{
        {applied(name, kind)}
        }}) : (tensor<3x4x2x{kind}>, tensor<{kind}>) -> tensor<4x{kind}>"""
    return case(f"reduce: {name} of {kind} from {begin}", body, f"3x4x2x{kind}", f"4x{kind}")


def largest(name: str, which: str, kind: str, begin: tuple[str, int], axis: int, rows: Any) -> Case:
    """What JAX writes for argmax and argmin, with places along an axis, and other beginnings."""
    how = "FLOAT" if kind == "f32" else "SIGNED"
    t, i, b = f"tensor<{kind}>", "tensor<i32>", "tensor<i1>"
    body = f"""%i = stablehlo.iota dim = {axis} : tensor<3x3xi32>
        %c = stablehlo.constant dense<{begin[0]}> : {t}
        %d = stablehlo.constant dense<{begin[1]}> : {i}
        %r:2 = "stablehlo.reduce"(%a0, %i, %c, %d) <{{dimensions = array<i64: 1>}}> ({{
        ^bb0(%x: {t}, %k: {i}, %y: {t}, %l: {i}):
        %0 = stablehlo.compare {which}, %x, %y, {how} : ({t}, {t}) -> {b}
        %1 = stablehlo.compare NE, %x, %x, {how} : ({t}, {t}) -> {b}
        %2 = stablehlo.or %0, %1 : {b}
        %3 = stablehlo.compare EQ, %x, %y, {how} : ({t}, {t}) -> {b}
        %4 = stablehlo.compare LT, %k, %l, SIGNED : ({i}, {i}) -> {b}
        %5 = stablehlo.and %3, %4 : {b}
        %6 = stablehlo.or %2, %5 : {b}
        %7 = stablehlo.select %2, %x, %y : {b}, {t}
        %8 = stablehlo.select %6, %k, %l : {b}, {i}
        stablehlo.return %7, %8 : {t}, {i}
        }}) : (tensor<3x3x{kind}>, tensor<3x3xi32>, {t}, {i}) -> (tensor<3x{kind}>, tensor<3xi32>)"""
    return case(f"largest and its place: {name}", body, f"3x3x{kind}", f"3x{kind} 3xi32", rows)


def window(name: str, apply: str, begin: str, input: str, output: str, how: str, refused: str = "") -> Case:
    kind = element(input)
    body = f"""%c = stablehlo.constant dense<{begin}> : tensor<{kind}>
        %r = "stablehlo.reduce_window"(%a0, %c) <{{{how}}}> ({{
        {applied(apply, kind)}
        }}) : ({tensors(input, kind)}) -> {tensors(output)}"""
    return case(f"window: {name}", body, input, output, refused=refused)


def ordered(name: str, compare: str, how: str, kinds: Sequence[str], *given: Any, refused: str = "") -> Case:
    arguments = ", ".join(f"%x{i}: tensor<{element(k)}>, %y{i}: tensor<{element(k)}>" for i, k in enumerate(kinds))
    operands, results = ", ".join(f"%a{i}" for i in range(len(kinds))), "%r" if len(kinds) == 1 else f"%r:{len(kinds)}"
    body = f"""{results} = "stablehlo.sort"({operands}) <{{{how}}}> ({{
        ^bb0({arguments}):
        %z = stablehlo.compare {compare} -> tensor<i1>
        stablehlo.return %z : tensor<i1>
        }}) : ({tensors(*kinds)}) -> ({tensors(*kinds)})"""
    return case(f"sort: {name}", body, " ".join(kinds), " ".join(kinds), *given, refused=refused)


def pair(direction: str, kind: str = "f32", how: str = "FLOAT", place: int = 0) -> str:
    return f"{direction}, %x{place}, %y{place}, {how} : ({tensors(kind, kind)})"


def reductions() -> Iterator[Case]:
    for kind, beginnings in BEGINNINGS.items():
        for name, begin in map(str.split, beginnings.split(", ")):
            yield reduced(name, begin, kind)
    rows, low = [[1, 3, 3], [2, 2, 1], [-5, -5, -5]], [[-(2**31)] * 3, [1, 2, 2], [-(2**31), 0, 0]]
    yield largest("of floats", "GT", "f32", (LOW, 0), 1, rows)
    yield largest("the smallest", "LT", "f32", (HIGH, 0), 1, rows)
    yield largest("places along the other axis", "GT", "f32", (LOW, 0), 0, rows)
    yield largest("from 2.5", "GT", "f32", ("2.5", 0), 1, rows)
    yield largest("from the place −7", "GT", "i32", ("-2147483648", -7), 1, low)
    yield largest("from the place −7, of −∞", "GT", "f32", (LOW, -7), 1, [[-np.inf] * 3, [1, 2, 2], [0, 0, 0]])
    yield largest("from the place 7", "GT", "i32", ("-2147483648", 7), 1, low)
    strides = "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>"
    plain = f"{strides}, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>"
    for name, begin in (("add", "0.0"), ("multiply", "1.0"), ("maximum", LOW), ("minimum", HIGH)):
        yield window(name, name, begin, "4x6xf32", "2x5xf32", plain)
    yield window(
        "a beginning of its own", "add", "1.0", "4x6xf32", "2x5xf32", plain, "with a body or a beginning of its own"
    )
    yield window(
        "dilated",
        "add",
        "0.0",
        "4x6xf32",
        "2x4xf32",
        "window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 2, 2>",
    )
    yield window(
        "of a dilated array",
        "add",
        "0.0",
        "4x6xf32",
        "6x10xf32",
        "window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 2, 2>",
    )
    for pads in ([5, 0], [0, 5], [4, 1]):
        yield window(
            f"all before or after a place, {pads}",
            "add",
            "0.0",
            "6xf32",
            "6xf32",
            f"window_dimensions = array<i64: 6>, padding = dense<[{pads}]> : tensor<1x2xi64>",
        )
    yield window(
        "all before a place, with more rows",
        "add",
        "0.0",
        "2x6xf32",
        "4x6xf32",
        "window_dimensions = array<i64: 1, 6>, padding = dense<[[1, 1], [5, 0]]> : tensor<2x2xi64>",
    )
    yield window(
        "sums of booleans",
        "add",
        "false",
        "6xi1",
        "5xi1",
        "window_dimensions = array<i64: 2>",
        "in a way that JAX does not have",
    )
    ties = [1, 2, 1, 2, 3, 1], [0, 1, 2, 3, 4, 5]
    stable = "dimension = 0 : i64, is_stable = true"
    yield ordered("along an axis", pair("LT"), "dimension = 1 : i64, is_stable = true", ["3x4xf32"])
    yield ordered("by itself along the last axis", pair("LT"), "", ["3x4xf32"])
    yield ordered("along an axis counted from the end", pair("LT"), "dimension = -2 : i64", ["3x4xf32"])
    yield ordered("descending, in total order", pair("GT", how="TOTALORDER"), stable, ["6xf32"])
    yield ordered("descending with ties", pair("GT"), stable, ["6xf32", "6xf32"], *ties)
    yield ordered("by the second array", pair("GT", place=1), stable, ["6xf32", "6xf32"], *ties[::-1])
    yield ordered(
        "whole numbers, descending", pair("GT", "i32", "SIGNED"), stable, ["4xi32"], [-(2**31), 2**31 - 1, 0, 5]
    )
    yield ordered(
        "numbers without sign, descending", pair("GT", "ui32", "UNSIGNED"), stable, ["4xui32"], [0, 2**32 - 1, 7, 5]
    )
    yield ordered("by ≤", pair("LE"), stable, ["6xf32"], refused="by a comparison of its own")


# --- places ---------------------------------------------------------------------------------------------------------


def gathered(name: str, axes: str, sizes: str, inputs: str, output: str, places: Any, more: str = "") -> Case:
    how = f"dimension_numbers = #stablehlo.gather<{axes}>, slice_sizes = array<i64: {sizes}>{more}"
    body = f'%r = "stablehlo.gather"(%a0, %a1) <{{{how}}}> : ({tensors(*inputs.split())}) -> {tensors(output)}'
    array = np.arange(np.prod(spec(inputs.split()[0]).shape)).reshape(spec(inputs.split()[0]).shape)
    return case(f"gather: {name}", body, inputs, output, array, places)


def scattered(name: str, axes: str, apply: str, inputs: str, places: Any, more: str = "", refused: str = "") -> Case:
    kinds = inputs.split()
    how = f"scatter_dimension_numbers = #stablehlo.scatter<{axes}>{more}"
    body = f"""%r = "stablehlo.scatter"(%a0, %a1, %a2) <{{{how}}}> ({{
        {applied(apply, element(kinds[0]))}
        }}) : ({tensors(*kinds)}) -> {tensors(kinds[0])}"""
    arrays = [np.arange(np.prod(spec(kind).shape)).reshape(spec(kind).shape) % 5 for kind in kinds]
    return case(f"scatter: {name}", body, inputs, kinds[0], arrays[0], places, arrays[2] - 2, refused=refused)


def drawn(*shape: int) -> np.ndarray:
    """Places, some of them outside."""
    return np.random.default_rng(1).integers(-2, 7, shape)


def batched(sign: str, at: int, dimension: int) -> str:
    """Axes of a gather or a scatter that share axis 0 of the array with an axis of the indices."""
    if sign == "gather":
        shared = f"operand_batching_dims = [0], start_indices_batching_dims = [{at}], start_index_map = [1]"
        return f"offset_dims = [2], collapsed_slice_dims = [1], {shared}, index_vector_dim = {dimension}"
    shared = f"input_batching_dims = [0], scatter_indices_batching_dims = [{at}], scatter_dims_to_operand_dims = [1]"
    return f"update_window_dims = [2], inserted_window_dims = [1], {shared}, index_vector_dim = {dimension}"


INDICES = {2: ("3x3x1xi32", (3, 3, 1)), 1: ("3x1x3xi32", (3, 1, 3)), 0: ("1x3x3xi32", (1, 3, 3))}
"""Where the vectors of indices are → the type of an array of 3 × 3 of them, and its shape."""


def places() -> Iterator[Case]:
    rows = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = {}"
    yield gathered("rows", rows.format(1), "1, 3", "4x3xf32 5x1xi32", "5x3xf32", drawn(5, 1))
    yield gathered(
        "rows, the indices along the first axis", rows.format(0), "1, 3", "4x3xf32 1x5xi32", "5x3xf32", drawn(1, 5)
    )
    yield gathered(
        "rows, sorted",
        rows.format(1),
        "1, 3",
        "4x3xf32 5x1xi32",
        "5x3xf32",
        np.sort(drawn(5, 1), 0),
        ", indices_are_sorted = true",
    )
    yield gathered(
        "places without sign", rows.format(1), "1, 3", "4x3xf32 4x1xui8", "4x3xf32", [[255], [0], [2], [200]]
    )
    yield gathered(
        "columns first",
        "offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1",
        "1, 3",
        "4x3xf32 5x1xi32",
        "3x5xf32",
        drawn(5, 1),
    )
    yield gathered(
        "axes the other way round",
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 1",
        "1, 2",
        "4x3xf32 5x2xi32",
        "5x2xf32",
        drawn(5, 2),
    )
    yield gathered(
        "vectors in the middle",
        "offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1",
        "1, 2",
        "4x3xf32 5x2x6xi32",
        "5x6x2xf32",
        drawn(5, 2, 6),
    )
    for dimension, (kind, shape) in INDICES.items():
        for at in {0, 1, 2} - {dimension}:
            where = f"axis {at} shared, the vectors along {dimension}"
            yield gathered(
                where, batched("gather", at, dimension), "1, 1, 2", f"3x4x2xf32 {kind}", "3x3x2xf32", drawn(*shape)
            )
            yield scattered(
                where, batched("scatter", at, dimension), "add", f"3x4x2xf32 {kind} 3x3x2xf32", drawn(*shape)
            )
    rows = (
        "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    )
    for name in "second add multiply maximum minimum".split():
        yield scattered(name, rows, name, "6x3xf32 4x1xi32 4x3xf32", [[1], [-1], [9], [4]])
    own = "or with a body of its own"
    yield scattered("subtract", rows, "subtract", "6x3xf32 4x1xi32 4x3xf32", [[1], [0], [5], [4]], refused=own)
    yield scattered("first", rows, "first", "6x3xf32 4x1xi32 4x3xf32", [[1], [0], [5], [4]], refused=own)
    yield scattered("places twice", rows, "add", "6x3xf32 4x1xi32 4x3xf32", [[1], [1], [5], [1]])
    yield scattered(
        "different places", rows, "add", "6x3xf32 4x1xi32 4x3xf32", [[1], [0], [5], [4]], ", unique_indices = true"
    )
    yield scattered(
        "sums of booleans",
        rows,
        "add",
        "6x3xi1 4x1xi32 4x3xi1",
        [[1], [1], [5], [1]],
        refused="in a way that JAX does not have",
    )
    block = "update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0"
    yield scattered("a block that sticks out", block, "add", "6x4xf32 2xi32 2x3xf32", [5, 0])
    how = "low = [1, -1], high = [-1, 2], interior = [1, 2]"
    body = f"%r = stablehlo.pad %a0, %a1, {how} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x8xf32>"
    yield case("pad with negative and interior padding", body, "2x3xf32 f32", "3x8xf32")
    for largest, refused in (("true", ""), ("false", "with largest = false")):
        how = f'{{call_target_name = "mhlo.topk", mhlo.attributes = {{k = 2 : i64, largest = {largest}}}}}'
        body = f'%r:2 = "stablehlo.custom_call"(%a0) {how} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi32>)'
        yield case(f"top-k, largest = {largest}", body, "5xf32", "2xf32 2xi32", refused=refused)


# --- control and constants ------------------------------------------------------------------------------------------

CONSTANTS = (
    ("3xi1", "[true, false, true]"), ("9xi1", "[true, false, true, true, true, false, false, true, false]"),
    ("3xi8", "[-1, 2, -128]"), ("3xui8", "[255, 2, 128]"), ("3xi64", "[-1, 9007199254740993, 3]"),
    ("3xui64", "[18446744073709551615, 0, 1]"), ("3xui64", "18446744073709551615"), ("3xi64", "-9007199254740993"),
    ("3xf32", "[0x7FC00000, 0xFF800000, -0.0]"), ("3xf16", "[0.1, 0x7C00, -2.5]"), ("3xbf16", "[0.1, 0x7F80, -2.5]"),
    ("3xf16", "-0.1"), ("3xbf16", "0xFF80"), ("3xi16", "-32768"), ("2x2xf32", "[[1.0, 2.0], [3.0, 4.0]]"),
    ("0xf32", "[]"), ("3xf32", '"0x0000803F000000C000004040"'),
)  # fmt: skip


def control() -> Iterator[Case]:
    branch = "{{ %{0} = stablehlo.{1} %a0, %a0 : tensor<f32>\n stablehlo.return %{0} : tensor<f32> }}"
    branches = ", ".join(branch.format(*of) for of in zip("xyz", ("add", "multiply", "subtract"), strict=True))
    ends = "%l = stablehlo.constant dense<0> : tensor<i32>\n%h = stablehlo.constant dense<{}> : tensor<i32>"
    clamped = f"{ends}\n%i = stablehlo.clamp %l, %a1, %h : tensor<i32>"
    for number in (-1, 0, 2, 7):
        for name, made in (
            ("", "%i = stablehlo.not %a1 : tensor<i32>"),
            ("to 2", clamped.format(2)),
            ("to 3", clamped.format(3)),
        ):
            given = ~number if not name else number
            yield case(
                f"case {number} {name}".strip(),
                f'{made}\n%r = "stablehlo.case"(%i) ({branches}) : (tensor<i32>) -> tensor<f32>',
                "f32 i32",
                "f32",
                3.0,
                given,
            )
    bits = "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)"
    for algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"):
        yield case(
            f"random bits by {algorithm}",
            f"%s, %r = stablehlo.rng_bit_generator %a0, algorithm = {algorithm} : {bits}",
            "2xui64",
            "4xui32",
        )
    for kind, value in CONSTANTS:
        yield case(
            f"constant {value} : {kind}", f"%r = stablehlo.constant dense<{value}> : tensor<{kind}>", "f32", kind
        )


CASES = (*entries(), *products(), *reductions(), *places(), *control())
"""All of them."""
