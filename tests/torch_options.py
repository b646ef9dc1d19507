# pyright: reportMissingImports=false
"""Operations of PyTorch with the values of their options, as functions of tensors.

Each is run by PyTorch and by the reader on the same numbers; what is not read is refused, by the text that is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as nn

ATEN = torch.ops.aten


@dataclass(frozen=True)
class Case:
    """A function, its inputs, and what is said if it is refused, "" if it is not."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    refused: str = ""


def case(name: str, function: Callable, *inputs: torch.Tensor, refused: str = "") -> Case:
    return Case(name, function, inputs, refused)


def reals(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape) + sum(shape)))


def whole(*shape: int, low: int = -5, high: int = 6) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(sum(shape) + high))


X, Y = reals(3, 4), reals(4, 3).T.contiguous()
I, J = whole(3, 4), whole(3, 4, low=1, high=4) * torch.tensor([1, -1, 1, -1])
A, B = I > 0, J > 1
UNREAD = "which is not read"


def sums() -> Iterator[Case]:
    for name in ("add", "sub"):
        function = getattr(torch, name)
        yield case(f"{name}, alpha = -2.5", partial(function, alpha=-2.5), X, Y)
        yield case(f"{name} of whole numbers, alpha = 2", partial(function, alpha=2), I, J)
        yield case(f"{name} of a number, alpha = 3", lambda x, f=function: f(x, 2, alpha=3), X)
    yield case("rsub, alpha = 3", partial(torch.rsub, alpha=3), X, Y)
    yield case("add of booleans", torch.add, A, B)
    yield case("mul of booleans", torch.mul, A, B)
    yield case("booleans and a number", lambda a: a + 2, A)
    yield case("whole numbers and 2.5", lambda i: i + 2.5, I)
    yield case("bytes that wrap", lambda i: i * 100, torch.tensor([1, 2, -3], dtype=torch.int8))
    yield case("a scalar of a wider type", lambda x, y: x + y, X, torch.tensor(2.5, dtype=torch.float64))
    for mode in (None, "floor", "trunc"):
        divide = partial(torch.div, rounding_mode=mode)
        yield case(f"div, rounding_mode = {mode}", divide, X, Y)
        yield case(f"div of whole numbers, rounding_mode = {mode}", divide, I, J)
        yield case(f"div by -2.5, rounding_mode = {mode}", lambda x, d=divide: d(x, -2.5), X)
        yield case(f"div of whole numbers by -2, rounding_mode = {mode}", lambda i, d=divide: d(i, -2), I)
    for name in ("fmod", "remainder", "floor_divide"):
        yield case(name, getattr(torch, name), X, Y)
        yield case(f"{name} of whole numbers", getattr(torch, name), I, J)
    for exponent in (2, 3, 0, -1, -2, 2.0):
        yield case(f"the power {exponent}", lambda x, e=exponent: x**e, X)
    yield case("the power 0.5", lambda x: x**0.5, X.abs())
    yield case("a number to a power", lambda x: 2.0**x, X)
    yield case("a power of tensors", torch.pow, X.abs(), Y)
    yield case("a negative base and whole exponents", torch.pow, X, J)
    yield case("whole numbers to negative powers", torch.pow, J, -J.abs(), refused="that may be negative")


def functions() -> Iterator[Case]:
    ties = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 0.0])
    for name in "abs ceil floor round sign trunc erf expm1 relu reciprocal".split():
        yield case(name, getattr(torch, name), ties[:5])
    yield case("round, decimals = 1", partial(torch.round, decimals=1), X, refused=UNREAD)
    for approximate in ("none", "tanh"):
        yield case(f"gelu, approximate = {approximate}", partial(nn.gelu, approximate=approximate), X)
    for slope in (0.3, -0.3):
        yield case(f"leaky_relu, slope = {slope}", lambda x, s=slope: nn.leaky_relu(x, s), X)
    yield case("elu, alpha = 2", lambda x: nn.elu(x, 2.0), X)
    yield case("elu, all scales", lambda x: ATEN.elu(x, 1.5, 2.0, 0.5), X)
    yield case("celu, alpha = 0.5", lambda x: nn.celu(x, 0.5), X)
    yield case("softplus, beta = 2", partial(nn.softplus, beta=2.0), 20 * X)
    yield case("softplus, threshold = 2", partial(nn.softplus, threshold=2.0), 20 * X)
    yield case("clamp", lambda x: x.clamp(-0.5, 0.5), X)
    yield case("clamp with ends the wrong way round", lambda x: x.clamp(0.5, -0.5), X)
    yield case("clamp of one end", lambda x: x.clamp(max=0.2), X)
    yield case("clamp of whole numbers between real ones", lambda i: i.clamp(-0.5, 1.5), I)
    yield case("hardtanh", lambda x: nn.hardtanh(x, -2.0, 0.1), X)
    for train, refused in ((False, ""), (True, "random in training mode")):
        yield case(f"dropout, training = {train}", partial(nn.dropout, training=train), X, refused=refused)
        yield case(
            f"native_dropout, train = {train}",
            lambda x, t=train: ATEN.native_dropout(x, 0.5, t)[0],
            X,
            refused="native_dropout",
        )
    yield case("dropout, p = 0", partial(nn.dropout, p=0.0, training=True), X)
    yield case("detach", lambda x: x.detach() * x, X)


def products() -> Iterator[Case]:
    three = reals(3, 3)
    yield case("addmm, beta and alpha", partial(torch.addmm, beta=0.5, alpha=-2.0), three, X, reals(4, 3))
    yield case("addmm, beta = 0", partial(torch.addmm, beta=0), three, X, reals(4, 3))
    yield case(
        "baddbmm, beta and alpha",
        partial(torch.baddbmm, beta=2, alpha=3),
        reals(2, 3, 3),
        reals(2, 3, 4),
        reals(2, 4, 3),
    )
    yield case("addcmul, value", partial(torch.addcmul, value=2.5), X, Y, X)
    image, kernel = reals(2, 4, 7, 6), reals(6, 2, 3, 3)
    yield case("convolution, all options", lambda x, k: nn.conv2d(x, k, None, (2, 1), (1, 2), (1, 2), 2), image, kernel)
    yield case("convolution, a bias", lambda x, k, b: nn.conv2d(x, k, b, groups=2), image, kernel, reals(6))
    yield case("convolution, padding = same", lambda x, k: nn.conv2d(x, k, padding="same"), image, reals(6, 4, 2, 4))
    yield case(
        "convolution, one axis",
        lambda x, k: nn.conv1d(x, k, stride=2, padding=1, dilation=2),
        reals(2, 3, 9),
        reals(4, 3, 3),
    )
    yield case(
        "convolution, transposed", nn.conv_transpose2d, reals(1, 2, 4, 4), reals(2, 3, 3, 3), refused="transposed"
    )
    yield case(
        "convolution, one stride for two axes",
        lambda x, k: ATEN.convolution(x, k, None, [2], [1], [1], False, [0], 2),
        image,
        kernel,
        refused="in a way that is not read",
    )
    q, k, v = reals(2, 4, 5, 8), reals(2, 4, 6, 8), reals(2, 4, 8, 6).mT.contiguous()
    hidden = whole(5, 6) > -2
    hidden[2] = False
    attend = nn.scaled_dot_product_attention
    yield case("attention", attend, q, k, v)
    yield case("attention, is_causal", partial(attend, is_causal=True), q, k, v)
    yield case("attention, scale", partial(attend, scale=0.3), q, k, v)
    yield case("attention, enable_gqa", partial(attend, enable_gqa=True), q, k[:, :2], v[:, :2])
    yield case("attention, dropout_p", partial(attend, dropout_p=0.3), q, k, v, refused="random in training mode")
    yield case("attention, a mask", attend, q, k, v, reals(5, 6))
    yield case("attention, a row without keys", attend, q, k, v, hidden)
    yield case("attention, a row of -inf", attend, q, k, v, torch.where(hidden, 0.0, -torch.inf))


def reductions() -> Iterator[Case]:
    for name in "sum mean amax amin any all".split():
        function = getattr(torch, name)
        yield case(f"{name}, all axes", function, X)
        yield case(f"{name}, keepdim", lambda x, f=function: f(x, -1, keepdim=True), X)
        yield case(f"{name}, two axes", lambda x, f=function: f(x, (0, 1)), X)
        refused = "of which PyTorch makes" if name in ("any", "all") else ""
        yield case(f"{name}, axes = ()", lambda x, f=function: f(x, ()), X, refused=refused)
    yield case("sum of whole numbers", torch.sum, I)
    yield case("sum of booleans", torch.sum, A)
    for name in ("sum", "mean", "prod", "cumsum", "softmax", "log_softmax"):
        function = getattr(torch, name)
        yield case(f"{name}, dtype", lambda x, f=function: f(x, 1, dtype=torch.float64), X)
    yield case("softmax.int, dtype in its place", lambda x: ATEN.softmax.int(x, 1, torch.float64), X)
    ties = torch.tensor([[1.0, 2.0, 2.0], [3.0, 3.0, 1.0]])
    yield case("max, ties", lambda x: tuple(torch.max(x, 1)), ties)
    yield case("argmax, keepdim", lambda x: torch.argmax(x, 1, keepdim=True), X)
    yield case("argmax of everything", torch.argmax, X)
    for correction in (0, 1, 2, 0.5):
        yield case(f"var, correction = {correction}", lambda x, c=correction: torch.var(x, 1, correction=c), X)
    yield case("var, by itself", lambda x: ATEN.var.correction(x, [1]), X)
    yield case("sort, descending", lambda x: tuple(torch.sort(x, 0, descending=True)), X)
    yield case("sort, stable", partial(torch.sort, stable=True), X, refused=UNREAD)


def norms() -> Iterator[Case]:
    image, mean, variance = reals(2, 4, 6, 6), reals(4), reals(4).abs()
    yield case("layer_norm, eps", lambda x: nn.layer_norm(x, (3, 4), eps=1e-2), X)
    yield case("rms_norm, by itself", lambda x: nn.rms_norm(x, (4,)), 1e-4 * X)
    yield case("rms_norm, eps", lambda x: nn.rms_norm(x, (3, 4), eps=0.1), X)
    yield case("group_norm, eps", lambda x, w, b: nn.group_norm(x, 2, w, b, 1e-2), image, mean, variance)
    yield case(
        "batch_norm", lambda x, m, v: nn.batch_norm(x, m, v, None, None, False, 0.3, 1e-2), image, mean, variance
    )
    yield case(
        "batch_norm, training",
        lambda x, m, v: nn.batch_norm(x, m, v, training=True),
        image,
        mean,
        variance,
        refused="changes its buffer",
    )
    yield case("max_pool2d, all options", lambda x: nn.max_pool2d(x, (2, 3), (1, 2), (1, 0), 2), image)
    yield case("max_pool2d, ceil_mode", lambda x: nn.max_pool2d(x, 4, 3, ceil_mode=True), image, refused="ceil_mode")
    yield case(
        "max_pool2d, return_indices",
        lambda x: nn.max_pool2d(x, 2, return_indices=True),
        image,
        refused="a result of an operation",
    )
    yield case(
        "max_pool2d, the places alone",
        lambda x: nn.max_pool2d(x, 2, return_indices=True)[1],
        image,
        refused="a result of an operation",
    )
    yield case(
        "max_pool2d of whole numbers",
        lambda x: nn.max_pool2d(x, 2),
        whole(1, 1, 4, 4),
        refused="in a way that is not read",
    )
    yield case("avg_pool2d, padding", lambda x: nn.avg_pool2d(x, 3, 2, 1), image)
    yield case(
        "avg_pool2d, count_include_pad",
        lambda x: nn.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        image,
        refused="without its padding",
    )
    yield case("avg_pool2d, divisor_override", lambda x: nn.avg_pool2d(x, 2, divisor_override=3), image)
    yield case("adaptive_avg_pool2d", lambda x: nn.adaptive_avg_pool2d(x, (3, 2)), image)
    yield case(
        "adaptive_avg_pool2d, sizes that do not divide",
        lambda x: nn.adaptive_avg_pool2d(x, (4, 5)),
        image,
        refused="do not divide",
    )
    for corners in (True, False):
        resize = partial(nn.interpolate, size=(9, 4), mode="bicubic", align_corners=corners)
        yield case(f"interpolate, align_corners = {corners}", resize, image)


def places() -> Iterator[Case]:
    at = whole(2, 4, low=0, high=3)
    yield case("embedding, padding_idx", lambda w, i: nn.embedding(i, w, padding_idx=1), X, at)
    yield case(
        "embedding, max_norm", lambda w, i: nn.embedding(i, w, max_norm=1.0), X, at, refused="changes its buffer"
    )
    yield case("gather", lambda x, i: torch.gather(x, 1, i), X, whole(3, 2, low=0, high=4))
    yield case("gather of fewer rows", lambda x, i: torch.gather(x, 0, i), X, whole(2, 3, low=0, high=3))
    yield case("index, negative places", lambda x, i: x[i], X, whole(5, low=-3, high=3))
    yield case(
        "index, places apart",
        lambda x, i, j: x[:, i, :, j],
        reals(2, 3, 4, 5),
        whole(2, low=0, high=3),
        whole(2, low=0, high=5),
    )
    yield case(
        "index, places together",
        lambda x, i, j: x[:, i, j],
        reals(2, 3, 4, 5),
        whole(2, 1, low=0, high=3),
        whole(3, low=0, high=4),
    )
    yield case("index by a mask", lambda x: x[x > 0], X, refused=UNREAD)
    yield case("masked_fill", lambda x, a: x.masked_fill(a, -torch.inf), X, A)
    yield case("where of two types", lambda x, i: torch.where(x > 0, x, i), X, I)
    yield case("pad, negative", lambda x: nn.pad(x, (-1, 2, 1, -1), value=3.0), X)
    for mode in ("reflect", "replicate"):
        yield case(f"pad, mode = {mode}", lambda x, m=mode: nn.pad(x[None], (1, 2), mode=m), X)
    yield case("roll of two axes", lambda x: torch.roll(x, (1, -1), (0, 1)), X)
    yield case("slices", lambda x: (x[:, 1::2], x[:, -3:-1], x[:, 2:100], x[:, 3:1]), X)
    yield case("split", lambda x: tuple(torch.split(x, 3, 1)), X)
    yield case("arange", lambda x: torch.arange(5, 1, -1) * x, X)
    yield case("full, by itself", lambda x: torch.full((2,), 3), X)
    yield case("full_like, dtype", lambda x: torch.full_like(x, 2, dtype=torch.int32), X)
    yield case("to whole numbers", lambda x: x.to(torch.int32), 3 * X)
    yield case("to bytes that wrap", lambda i: i.to(torch.int8), 100 * I)
    yield case("random numbers", torch.rand_like, X, refused=UNREAD)


def in_place(x: torch.Tensor) -> torch.Tensor:
    """Changes a copy in three ways."""
    x = x.clone()
    x.add_(1)
    x[0] = 0.0
    x[:, 1] *= 2
    return x


def outputs() -> Iterator[Case]:
    yield case("changes in place", in_place, X)
    yield case("changes of an input", lambda x: x.add_(1) * 1, X.clone(), refused="changes its buffer")
    yield case("a number among the outputs", lambda x: (2 * x, 5), X, refused="returns 5, which is no tensor")
    yield case("nothing among the outputs", lambda x: (2 * x, None), X)
    yield case("an output twice", lambda x: (x, x), X)
    yield case("an input that is not used", lambda x, y: x, X, Y)
    yield case("the value of a tensor", lambda x: x * x.sum().item(), X, refused=UNREAD)


CASES = (*sums(), *functions(), *products(), *reductions(), *norms(), *places(), *outputs())
"""All of them."""
