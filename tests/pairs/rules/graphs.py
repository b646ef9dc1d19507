"""Substitutions of graphs of layers, of the kinds that TASO finds and checks."""

import jax.numpy as jnp
from jax import lax, nn

from ..pair import einsum, f32, matmul
from ..row import row

X, A, B, C = f32(3, 4), f32(4, 2), f32(4, 2), f32(2, 3)
IMAGE, K3, K1 = f32(1, 4, 4, 2), f32(3, 3, 2, 2), f32(1, 1, 2, 2)


def conv(x, k, stride=1, padding="SAME", groups=1, dilation=1):
    numbers = ("NHWC", "HWIO", "NHWC")
    options = {"rhs_dilation": (dilation,) * 2, "feature_group_count": groups, "precision": "highest"}
    return lax.conv_general_dilated(x, k, (stride,) * 2, padding, dimension_numbers=numbers, **options)


def enlarged(k):
    """A kernel of 1 by 1 in the middle of one of 3 by 3."""
    return jnp.pad(k, ((1, 1), (1, 1), (0, 0), (0, 0)))


def mean_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4.0


def max_pool(x, size=2):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, 1, 1, 1), "VALID")


def split(x, axis=-1):
    return jnp.split(x, 2, axis)


ROWS = (
    row(
        "matmul is associative",
        lambda x, a, c: matmul(matmul(x, a), c),
        lambda x, a, c: matmul(x, matmul(a, c)),
        (X, A, C),
        {
            "doubled": lambda x, a, c: 2 * matmul(x, matmul(a, c)),
            "reversed": lambda x, a, c: matmul(x, matmul(a, c))[::-1],
        },
    ),
    row(
        "matmul distributes",
        lambda x, a, b: matmul(x, a) + matmul(x, b),
        lambda x, a, b: matmul(x, a + b),
        (X, A, B),
        {"difference": lambda x, a, b: matmul(x, a - b), "product": lambda x, a, b: matmul(x, a * b)},
    ),
    row(
        "a scalar moves through a matmul",
        lambda x, a, s: s * matmul(x, a),
        lambda x, a, s: matmul(s * x, a),
        (X, A, f32()),
        {"both": lambda x, a, s: matmul(s * x, s * a), "none": lambda x, a, s: matmul(x, a)},
    ),
    row(
        "two matmuls with one input",
        lambda x, a, b: (matmul(x, a), matmul(x, b)),
        lambda x, a, b: tuple(split(matmul(x, jnp.concatenate([a, b], 1)))),
        (X, A, B),
        {
            "exchanged": lambda x, a, b: tuple(split(matmul(x, jnp.concatenate([b, a], 1)))),
            "interleaved": lambda x, a, b: (lambda y: (y[:, ::2], y[:, 1::2]))(matmul(x, jnp.concatenate([a, b], 1))),
        },
    ),
    row(
        "two matmuls with one matrix",
        lambda x, y, a: (matmul(x, a), matmul(y, a)),
        lambda x, y, a: tuple(split(matmul(jnp.concatenate([x, y]), a), 0)),
        (X, X, A),
        {
            "exchanged": lambda x, y, a: tuple(split(matmul(jnp.concatenate([y, x]), a), 0)),
            "doubled": lambda x, y, a: (matmul(x, a), 2 * matmul(y, a)),
        },
    ),
    row(
        "relu of a concatenation",
        lambda x, y: nn.relu(jnp.concatenate([x, y], 1)),
        lambda x, y: jnp.concatenate([nn.relu(x), nn.relu(y)], 1),
        (X, X),
        {
            "exchanged": lambda x, y: jnp.concatenate([nn.relu(y), nn.relu(x)], 1),
            "one": lambda x, y: jnp.concatenate([nn.relu(x), y], 1),
        },
    ),
    row("relu of a relu", lambda x: nn.relu(nn.relu(x)), nn.relu, (X,), {"absolute": jnp.abs, "none": lambda x: x}),
    row(
        "relu of a transpose",
        lambda x: nn.relu(x.T),
        lambda x: nn.relu(x).T,
        (X,),
        {"none": lambda x: x.T, "minus": lambda x: nn.relu(-x).T},
    ),
    row(
        "a relu moved behind a mean is another function",
        lambda x: nn.relu(x).mean(1),
        lambda x: jnp.maximum(x, 0.0).sum(1) / 4.0,
        (X,),
        {"behind": lambda x: nn.relu(x.mean(1)), "sum": lambda x: nn.relu(x).sum(1)},
    ),
    row(
        "conv is linear in its input",
        lambda x, y, k: conv(x, k) + conv(y, k),
        lambda x, y, k: conv(x + y, k),
        (IMAGE, IMAGE, K3),
        {"difference": lambda x, y, k: conv(x - y, k), "doubled": lambda x, y, k: 2 * conv(x + y, k)},
    ),
    row(
        "conv is linear in its kernel",
        lambda x, k, l: conv(x, k) + conv(x, l),
        lambda x, k, l: conv(x, k + l),
        (IMAGE, K3, K3),
        {"difference": lambda x, k, l: conv(x, k - l), "product": lambda x, k, l: conv(x, k * l)},
    ),
    row(
        "a scalar moves through a conv",
        lambda x, k, s: conv(s * x, k),
        lambda x, k, s: s * conv(x, k),
        (IMAGE, K3, f32()),
        {"squared": lambda x, k, s: s * s * conv(x, k), "none": lambda x, k, s: conv(x, k)},
    ),
    row(
        "two convs with one input",
        lambda x, k, l: jnp.concatenate([conv(x, k), conv(x, l)], -1),
        lambda x, k, l: conv(x, jnp.concatenate([k, l], -1)),
        (IMAGE, K3, K3),
        {
            "exchanged": lambda x, k, l: conv(x, jnp.concatenate([l, k], -1)),
            "one twice": lambda x, k, l: conv(x, jnp.concatenate([k, k], -1)) + 0 * conv(x, l).sum(),
        },
    ),
    row(
        "conv of a concatenation of channels",
        lambda x, y, k, l: conv(jnp.concatenate([x, y], -1), jnp.concatenate([k, l], 2)),
        lambda x, y, k, l: conv(x, k) + conv(y, l),
        (IMAGE, IMAGE, K3, K3),
        {
            "exchanged": lambda x, y, k, l: conv(x, l) + conv(y, k),
            "difference": lambda x, y, k, l: conv(x, k) - conv(y, l),
        },
    ),
    row(
        "a kernel is enlarged by zeros",
        lambda x, k: conv(x, k),
        lambda x, k: conv(x, enlarged(k)),
        (IMAGE, K1),
        {
            "in the corner": lambda x, k: conv(x, jnp.pad(k, ((0, 2), (0, 2), (0, 0), (0, 0)))),
            "doubled": lambda x, k: 2 * conv(x, enlarged(k)),
        },
    ),
    row(
        "two convs of different kernels become one",
        lambda x, k, l: conv(x, k) + conv(x, l),
        lambda x, k, l: conv(x, k + enlarged(l)),
        (IMAGE, K3, K1),
        {
            "in the corner": lambda x, k, l: conv(x, k + jnp.pad(l, ((2, 0), (2, 0), (0, 0), (0, 0)))),
            "difference": lambda x, k, l: conv(x, k - enlarged(l)),
        },
    ),
    row(
        "a conv of one pixel is a matmul",
        lambda x, k: conv(x, k),
        lambda x, k: matmul(x.reshape(16, 2), k[0, 0]).reshape(1, 4, 4, 2),
        (IMAGE, K1),
        {
            "transposed": lambda x, k: matmul(x.reshape(16, 2), k[0, 0].T).reshape(1, 4, 4, 2),
            "doubled": lambda x, k: 2 * conv(x, k),
        },
    ),
    row(
        "two convs of one pixel",
        lambda x, k, l: conv(conv(x, k), l),
        lambda x, k, l: conv(x, einsum("abij,abjk->abik", k, l)),
        (IMAGE, K1, K1),
        {"order": lambda x, k, l: conv(conv(x, l), k), "sum": lambda x, k, l: conv(x, k + l)},
    ),
    row(
        "convs valid at the border compose",
        lambda x, k, l: conv(conv(x, k, padding="VALID"), l),
        lambda x, k, l: conv(x, einsum("hwij,jk->hwik", k, l[0, 0]), padding="VALID"),
        (IMAGE, K3, K1),
        {
            "the other side": lambda x, k, l: conv(x, einsum("ij,hwjk->hwik", l[0, 0], k), padding="VALID"),
            "doubled": lambda x, k, l: 2 * conv(conv(x, k, padding="VALID"), l),
        },
    ),
    row(
        "a conv with groups is block diagonal",
        lambda x, k: conv(x, k, groups=2),
        lambda x, k: conv(x, k * jnp.eye(2)),
        (IMAGE, f32(3, 3, 1, 2)),
        {
            "channels exchanged": lambda x, k: conv(x[..., ::-1], k, groups=2),
            "dense": lambda x, k: conv(x, jnp.repeat(k, 2, 2)),
        },
    ),
    row(
        "a strided conv is a slice of a dense one",
        lambda x, k: conv(x, k, 2, "VALID"),
        lambda x, k: conv(x, k, 1, "VALID")[:, ::2, ::2],
        (f32(1, 5, 5, 2), K3),
        {
            "the other phase": lambda x, k: conv(jnp.roll(x, 1, 1), k, 2, "VALID"),
            "doubled": lambda x, k: 2 * conv(x, k, 2, "VALID"),
        },
    ),
    row(
        "a dilated conv is one with an enlarged kernel",
        lambda x, k: conv(x, k, 1, "VALID", dilation=2),
        lambda x, k: conv(
            x, lax.pad(k, jnp.zeros((), k.dtype), [(0, 0, 1), (0, 0, 1), (0, 0, 0), (0, 0, 0)]), 1, "VALID"
        ),
        (f32(1, 4, 4, 2), f32(2, 2, 2, 2)),
        {
            "not dilated": lambda x, k: conv(x, k, 1, "VALID")[:, :2, :2],
            "reversed": lambda x, k: conv(x, k[::-1], 1, "VALID", dilation=2),
        },
    ),
    row(
        "mean pooling is a conv",
        mean_pool,
        lambda x: conv(x, jnp.full((2, 2, 1, 2), 0.25), 2, "VALID", 2),
        (IMAGE,),
        {"sum": lambda x: 4 * mean_pool(x), "corner": lambda x: x[:, ::2, ::2]},
    ),
    row(
        "mean pooling commutes with a conv of one pixel",
        lambda x, k: mean_pool(conv(x, k)),
        lambda x, k: conv(mean_pool(x), k),
        (IMAGE, K1),
        {
            "doubled": lambda x, k: 2 * conv(mean_pool(x), k),
            "transposed": lambda x, k: conv(mean_pool(x), k.transpose(0, 1, 3, 2)),
        },
    ),
    row(
        "max pooling commutes with relu",
        lambda x: max_pool(nn.relu(x)),
        lambda x: nn.relu(max_pool(x)),
        (f32(1, 3, 3, 1),),
        {"no relu": max_pool, "mean": lambda x: nn.relu(max_pool(-x))},
    ),
    row(
        "max pooling twice",
        lambda x: max_pool(max_pool(x)),
        lambda x: max_pool(x, 3),
        (f32(1, 3, 3, 1),),
        {"one corner": lambda x: max_pool(x)[:, :1, :1], "minimum": lambda x: -max_pool(-x, 3)},
    ),
    row(
        "batch normalisation folded into a conv",
        lambda x, k, g, b: conv(x, k) * g + b,
        lambda x, k, g, b: conv(x, k * g) + b,
        (IMAGE, K3, f32(2), f32(2)),
        {
            "the bias scaled as well": lambda x, k, g, b: (conv(x, k) + b) * g,
            "input channels": lambda x, k, g, b: conv(x, k * g[:, None]) + b,
        },
    ),
    row(
        "a bias before a matmul",
        lambda x, b, a: matmul(x + b, a),
        lambda x, b, a: matmul(x, a) + matmul(b, a),
        (X, f32(4), A),
        {
            "not multiplied": lambda x, b, a: matmul(x, a) + b[:2],
            "twice": lambda x, b, a: matmul(x, a) + 2 * matmul(b, a),
        },
    ),
    row(
        "concatenation of splits",
        lambda x: jnp.concatenate(split(x), 1),
        lambda x: x,
        (X,),
        {"exchanged": lambda x: jnp.concatenate(split(x)[::-1], 1), "doubled": lambda x: 2 * x},
    ),
    row(
        "a split of a sum",
        lambda x, y: split(x + y)[0],
        lambda x, y: split(x)[0] + split(y)[0],
        (X, X),
        {"the other": lambda x, y: split(x)[1] + split(y)[0], "product": lambda x, y: split(x)[0] * split(y)[0]},
    ),
    row(
        "transposes of a product with its transpose",
        lambda x: matmul(x, x.T),
        lambda x: matmul(x, x.T).T,
        (X,),
        {"doubled": lambda x: 2 * matmul(x, x.T), "reversed": lambda x: matmul(x, x.T)[::-1]},
    ),
    row(
        "softmax of a shifted array",
        lambda x, c: nn.softmax(x + c),
        lambda x, c: nn.softmax(x) + 0.0 * c,
        (X, f32()),
        {"scaled": lambda x, c: nn.softmax(x * c), "over rows": lambda x, c: nn.softmax(x, 0) + 0 * c},
    ),
    row(
        "the scale of attention on the queries",
        lambda q, k: nn.softmax(0.5 * matmul(q, k.T)),
        lambda q, k: nn.softmax(matmul(0.5 * q, k.T)),
        (X, X),
        {
            "on both": lambda q, k: nn.softmax(matmul(0.5 * q, 0.5 * k.T)),
            "none": lambda q, k: nn.softmax(matmul(q, k.T)),
        },
    ),
    row(
        "an enlarged pair of matmuls",
        lambda x, a, b: matmul(x, a) * nn.sigmoid(matmul(x, b)),
        lambda x, a, b: (lambda y: y[:, :2] * nn.sigmoid(y[:, 2:]))(matmul(x, jnp.concatenate([a, b], 1))),
        (X, A, B),
        {
            "exchanged": lambda x, a, b: (lambda y: y[:, 2:] * nn.sigmoid(y[:, :2]))(
                matmul(x, jnp.concatenate([a, b], 1))
            ),
            "no gate": lambda x, a, b: matmul(x, a) * matmul(x, b),
        },
    ),
)
