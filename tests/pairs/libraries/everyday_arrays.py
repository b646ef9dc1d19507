"""Pooling, special functions, matrices, masks, sorts and projections as users write them, in two ways."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.scipy import linalg as sla
from jax.scipy import special, stats

from uat_jax import interval, positive, symmetric

from ..pair import f32
from ..row import Row, row
from .library import library

optax = library("optax")
eqx = library("equinox")
fnn = library("flax.linen")
lx = library("lineax")

X = f32(4)
Y = f32(4)
P = positive(f32(4))
V = f32(3)
I = f32(1, 4, 4, 1)
A3 = f32(3, 3)
MASK = np.array([1, 1, 0, 1], np.float32)
SEG = np.array([0, 1, 0, 2])


def pair(name, left, right, specs, mistake, **options) -> Row:
    """A row with one mistake."""
    return row(name, left, right, specs, {"a mistake": mistake}, **options)


def iou(a, b):
    i = jnp.maximum(0, jnp.minimum(a[2], b[2]) - jnp.maximum(a[0], b[0])) * jnp.maximum(
        0, jnp.minimum(a[3], b[3]) - jnp.maximum(a[1], b[1])
    )
    return i / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - i)


def iou2(a, b):
    wh = nn.relu(jnp.minimum(a[2:], b[2:]) - jnp.maximum(a[:2], b[:2]))
    i = wh.prod()
    return i / (jnp.prod(a[2:] - a[:2]) + jnp.prod(b[2:] - b[:2]) - i)


def rot(q, v):
    w, x, y, z = q / jnp.linalg.norm(q)
    m = jnp.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return m @ v


ROWS = (
    pair(
        "avg pool flax",
        lambda x: fnn.avg_pool(x, (2, 2), (2, 2)),
        lambda x: x.reshape(1, 2, 2, 2, 2, 1).mean((2, 4)),
        (I,),
        lambda x: x.reshape(1, 2, 2, 2, 2, 1).mean((2, 3)),
    ),
    pair(
        "max pool overlap",
        lambda x: fnn.max_pool(x, (2, 2), (1, 1)),
        lambda x: jnp.maximum(jnp.maximum(x[:, :-1, :-1], x[:, 1:, :-1]), jnp.maximum(x[:, :-1, 1:], x[:, 1:, 1:])),
        (I,),
        lambda x: jnp.maximum(jnp.maximum(x[:, :-1, :-1], x[:, 1:, :-1]), jnp.maximum(x[:, :-1, 1:], x[:, :-1, 1:])),
    ),
    pair(
        "depthwise conv",
        lambda x, w: lax.conv_general_dilated(
            x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=2
        ),
        lambda x, w: jnp.stack([jnp.convolve(x[0, :, c], w[::-1, 0, c], "same") for c in range(2)], -1)[None],
        (f32(1, 4, 2), f32(3, 1, 2)),
        lambda x, w: jnp.stack([jnp.convolve(x[0, :, c], w[:, 0, c], "same") for c in range(2)], -1)[None],
    ),
    pair(
        "transposed conv",
        lambda x, w: lax.conv_transpose(x, w, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")),
        lambda x, w: sum(
            jnp.zeros((1, 7, 1)).at[:, 2 * i : 2 * i + 3].add(x[:, i : i + 1] * w[::-1, :, 0][None]) for i in range(3)
        ),
        (f32(1, 3, 1), f32(3, 1, 1)),
        lambda x, w: sum(
            jnp.zeros((1, 7, 1)).at[:, 2 * i : 2 * i + 3].add(x[:, i : i + 1] * w[:, :, 0][None]) for i in range(3)
        ),
    ),
    pair(
        "adaptive pool eqx",
        lambda x: eqx.nn.AdaptiveAvgPool1d(2)(x),
        lambda x: jnp.stack([x[:, :3].mean(1), x[:, 3:].mean(1)], 1) if x.shape[1] == 6 else x,
        (f32(2, 6),),
        lambda x: jnp.stack([x[:, :2].mean(1), x[:, 3:].mean(1)], 1),
    ),
    pair(
        "pixel shuffle",
        lambda x: x.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(4, 4),
        lambda x: jnp.concatenate([jnp.concatenate([x[i, j].reshape(2, 2) for j in range(2)], 1) for i in range(2)], 0),
        (f32(2, 2, 4),),
        lambda x: jnp.concatenate(
            [jnp.concatenate([x[i, j].reshape(2, 2).T for j in range(2)], 1) for i in range(2)], 0
        ),
    ),
    pair(
        "resize bilinear",
        lambda x: jax.image.resize(x, (8,), "linear"),
        lambda x: jnp.interp(jnp.arange(8) / 2 - 0.25, jnp.arange(4.0), x),
        (X,),
        lambda x: jnp.interp(jnp.arange(8) / 2, jnp.arange(4.0), x),
    ),
    pair("expit complement", lambda x: special.logit(special.expit(x)), lambda x: x, (X,), lambda x: -x),
    pair(
        "xlog1py",
        lambda a, b: special.xlog1py(a, b),
        lambda a, b: a * jnp.log1p(b),
        (P, P),
        lambda a, b: a * jnp.log(b),
    ),
    pair(
        "entr",
        lambda p: special.entr(p).sum(),
        lambda p: -(p * jnp.log2(p)).sum() * jnp.log(2.0),
        (P,),
        lambda p: -(p * jnp.log2(p)).sum(),
    ),
    pair(
        "rel_entr kl_div",
        lambda p, q: special.kl_div(p, q),
        lambda p, q: p * jnp.log(p / q) - p + q,
        (P, P),
        lambda p, q: p * jnp.log(p / q) - p,
    ),
    pair(
        "i0e",
        lambda x: special.i0e(x),
        lambda x: jnp.exp(-jnp.abs(x)) * special.i0(x),
        (X,),
        lambda x: jnp.exp(-x) * special.i0(x),
    ),
    pair(
        "factorial",
        lambda x: special.factorial(x),
        lambda x: jnp.exp(special.gammaln(x + 1)),
        (P,),
        lambda x: jnp.exp(special.gammaln(x)),
    ),
    pair(
        "multigammaln 2",
        lambda a: special.multigammaln(a, 2),
        lambda a: 0.5 * jnp.log(jnp.pi) + special.gammaln(a) + special.gammaln(a - 0.5),
        (interval(f32(3), 1.0, 4.0),),
        lambda a: 0.5 * jnp.log(jnp.pi) + special.gammaln(a) + special.gammaln(a + 0.5),
    ),
    pair(
        "bernoulli polygamma",
        lambda x: special.polygamma(1, x) - special.polygamma(1, x + 1),
        lambda x: 1 / x**2,
        (P,),
        lambda x: 1 / x,
    ),
    pair(
        "sinc",
        lambda x: jnp.sinc(x),
        lambda x: jnp.where(x == 0, 1.0, jnp.sin(jnp.pi * x) / jnp.where(x == 0, 1.0, jnp.pi * x)),
        (X,),
        lambda x: jnp.where(x == 0, 1.0, jnp.sin(x) / jnp.where(x == 0, 1.0, x)),
    ),
    pair(
        "logaddexp2",
        lambda a, b: jnp.logaddexp2(a, b),
        lambda a, b: jnp.log2(2**a + 2**b),
        (X, Y),
        lambda a, b: jnp.log(2**a + 2**b),
    ),
    pair(
        "softplus beta",
        lambda x: nn.softplus(3 * x) / 3,
        lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-3 * jnp.abs(x))) / 3,
        (X,),
        lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))) / 3,
    ),
    pair(
        "mahalanobis by cholesky",
        lambda x, a: (lambda L: jnp.sum(sla.solve_triangular(L, x, lower=True) ** 2))(
            jnp.linalg.cholesky(a @ a.T + jnp.eye(2))
        ),
        lambda x, a: x @ jnp.linalg.inv(a @ a.T + jnp.eye(2)) @ x,
        (f32(2), f32(2, 2)),
        lambda x, a: x @ (a @ a.T + jnp.eye(2)) @ x,
        gradient=True,
    ),
    pair(
        "slogdet 3",
        lambda a: jnp.linalg.slogdet(a)[1],
        lambda a: jnp.log(jnp.abs(a[0] @ jnp.cross(a[1], a[2]))),
        (A3,),
        lambda a: jnp.log(jnp.abs(a[0] @ jnp.cross(a[1], a[2]) + 1)),
    ),
    pair(
        "det 3",
        jnp.linalg.det,
        lambda a: a[0] @ jnp.cross(a[1], a[2]),
        (A3,),
        lambda a: a[1] @ jnp.cross(a[0], a[2]),
        gradient=True,
    ),
    pair(
        "ridge",
        lambda X_, y: jnp.linalg.solve(X_.T @ X_ + 0.1 * jnp.eye(2), X_.T @ y),
        lambda X_, y: X_.T @ jnp.linalg.solve(X_ @ X_.T + 0.1 * jnp.eye(3), y),
        (f32(3, 2), f32(3)),
        lambda X_, y: X_.T @ jnp.linalg.solve(X_ @ X_.T + 0.2 * jnp.eye(3), y),
    ),
    pair(
        "expm of a negative, the inverse",
        lambda x: sla.expm(-jnp.diag(x)),
        lambda x: jnp.linalg.inv(sla.expm(jnp.diag(x))),
        (interval(f32(2), -0.5, 0.5),),
        lambda x: jnp.diag(jnp.exp(x)),  # also of x itself expm is a quotient of polynomials, near exp
    ),
    pair(
        "gram schmidt",
        lambda a: jnp.abs(jnp.linalg.qr(a)[0][:, 0]),
        lambda a: jnp.abs(a[:, 0]) / jnp.linalg.norm(a[:, 0]),
        (f32(3, 2),),
        lambda a: jnp.abs(a[:, 1]) / jnp.linalg.norm(a[:, 1]),
    ),
    pair(
        "householder",
        lambda v: jnp.eye(3) - 2 * jnp.outer(v, v) / (v @ v),
        lambda v: jnp.linalg.inv(jnp.eye(3) - 2 * jnp.outer(v, v) / (v @ v)),
        (V,),
        lambda v: jnp.linalg.inv(jnp.eye(3) - jnp.outer(v, v) / (v @ v) / 2),
    ),
    pair(
        "kron solve",
        lambda a, b, x: jnp.kron(a, b) @ x.reshape(-1),
        lambda a, b, x: (a @ x @ b.T).reshape(-1),
        (f32(2, 2), f32(2, 2), f32(2, 2)),
        lambda a, b, x: (a.T @ x @ b).reshape(-1),
    ),
    pair(
        "eigh trace fn",
        lambda a: jnp.sum(jnp.linalg.eigvalsh((a + a.T) / 2) ** 2),
        lambda a: jnp.sum(((a + a.T) / 2) ** 2),
        (f32(2, 2),),
        lambda a: jnp.sum(a**2),
    ),
    pair(
        "nuclear norm 2",
        lambda a: jnp.linalg.norm(a, "nuc") ** 2,
        lambda a: jnp.sum(a * a) + 2 * jnp.abs(jnp.linalg.det(a)),
        (f32(2, 2),),
        lambda a: jnp.sum(a * a) + 2 * jnp.linalg.det(a),
    ),
    pair(
        "matrix power",
        lambda a: jnp.linalg.matrix_power(a, 5),
        lambda a: (lambda b: b @ b @ a)(a @ a),
        (f32(2, 2),),
        lambda a: (lambda b: b @ b)(a @ a),
    ),
    pair(
        "masked mean",
        lambda x: jnp.mean(x, where=MASK.astype(bool)),
        lambda x: (x * MASK).sum() / MASK.sum(),
        (X,),
        lambda x: (x * MASK).mean(),
    ),
    pair(
        "nanmean",
        lambda x: jnp.nanmean(jnp.where(x > 0, x, jnp.nan)),
        lambda x: jnp.sum(jnp.where(x > 0, x, 0)) / jnp.sum(x > 0),
        (X,),
        lambda x: jnp.sum(jnp.where(x > 0, x, 0)) / 4,
    ),
    pair(
        "nanvar weighted",
        lambda x, w: jnp.average((x - jnp.average(x, weights=w)) ** 2, weights=w),
        lambda x, w: (w * x * x).sum() / w.sum() - ((w * x).sum() / w.sum()) ** 2,
        (X, P),
        lambda x, w: (w * x * x).sum() / w.sum() - ((w * x).sum()) ** 2 / w.sum(),
    ),
    pair(
        "corrcoef",
        lambda x, y: jnp.corrcoef(x, y)[0, 1],
        lambda x, y: (
            ((x - x.mean()) * (y - y.mean())).sum()
            / jnp.sqrt(((x - x.mean()) ** 2).sum() * ((y - y.mean()) ** 2).sum())
        ),
        (X, Y),
        lambda x, y: ((x - x.mean()) * (y)).sum() / jnp.sqrt(((x - x.mean()) ** 2).sum() * ((y) ** 2).sum()),
    ),
    pair(
        "fake quant int8",
        lambda x: jnp.round(jnp.clip(x / 0.1, -128, 127)).astype(jnp.int8).astype(jnp.float32) * 0.1,
        lambda x: jnp.clip(jnp.round(x / 0.1), -128, 127) * 0.1,
        (X,),
        lambda x: jnp.clip(jnp.floor(x / 0.1), -128, 127) * 0.1,
    ),
    pair(
        "absmax quant",
        lambda x: jnp.round(x / jnp.max(jnp.abs(x)) * 127),
        lambda x: jnp.round(127 * x / jnp.maximum(jnp.max(x), -jnp.min(x))),
        (V,),
        lambda x: jnp.round(127 * x / jnp.max(x)),
    ),
    pair(
        "ternary",
        lambda x: jnp.where(jnp.abs(x) > 0.7 * jnp.mean(jnp.abs(x)), jnp.sign(x), 0.0),
        lambda x: (x > 0.7 * jnp.abs(x).sum() / 4) * 1.0 - (x < -0.7 * jnp.abs(x).sum() / 4) * 1.0,
        (X,),
        lambda x: (x > 0.7 * jnp.abs(x).sum() / 4) * 1.0 - (x < 0.7 * jnp.abs(x).sum() / 4) * 1.0,
    ),
    pair(
        "interp",
        lambda x: jnp.interp(x, jnp.array([0.0, 1.0, 3.0]), jnp.array([0.0, 2.0, 1.0])),
        lambda x: jnp.clip(2 * x, 0, 2) - jnp.clip((x - 1) / 2, 0, 1),
        (X,),
        lambda x: jnp.clip(2 * x, 0, 2) - jnp.clip((x - 1), 0, 1),
    ),
    pair(
        "cummax",
        lambda x: lax.cummax(x),
        lambda x: jnp.stack([jnp.max(x[: i + 1]) for i in range(4)]),
        (X,),
        lambda x: jnp.stack([jnp.max(x[i:]) for i in range(4)]),
    ),
    pair(
        "cumlogsumexp",
        lambda x: lax.cumlogsumexp(x),
        lambda x: jnp.log(jnp.cumsum(jnp.exp(x))),
        (X,),
        lambda x: jnp.cumsum(x),
    ),
    pair(
        "associative scan ema",
        lambda x: lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (jnp.full(4, 0.9), x))[1],
        lambda x: jnp.stack([sum(0.9 ** (i - j) * x[j] for j in range(i + 1)) for i in range(4)]),
        (X,),
        lambda x: jnp.stack([sum(0.9 ** (i - j + 1) * x[j] for j in range(i + 1)) for i in range(4)]),
    ),
    pair(
        "segment softmax",
        lambda x: (lambda e: e / jax.ops.segment_sum(e, SEG, 3)[SEG])(jnp.exp(x - jax.ops.segment_max(x, SEG, 3)[SEG])),
        lambda x: (
            jnp.exp(x)
            / jnp.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], jnp.float32).dot(jnp.exp(x))
        ),
        (X,),
        lambda x: nn.softmax(x),
    ),
    pair(
        "segment mean",
        lambda x: jax.ops.segment_sum(x, SEG, 3) / jax.ops.segment_sum(jnp.ones(4), SEG, 3),
        lambda x: jnp.stack([(x[0] + x[2]) / 2, x[1], x[3]]),
        (X,),
        lambda x: jnp.stack([(x[0] + x[1]) / 2, x[1], x[3]]),
    ),
    pair(
        "median of 3",
        lambda x: jnp.median(x),
        lambda x: jnp.maximum(jnp.minimum(x[0], x[1]), jnp.minimum(jnp.maximum(x[0], x[1]), x[2])),
        (V,),
        lambda x: jnp.minimum(jnp.minimum(x[0], x[1]), jnp.minimum(jnp.maximum(x[0], x[1]), x[2])),
    ),
    pair(
        "winsorize",
        lambda x: jnp.clip(x, jnp.sort(x)[1], jnp.sort(x)[2]).sum(),
        lambda x: 2 * (jnp.sort(x)[1] + jnp.sort(x)[2]),
        (X,),
        lambda x: 2 * (jnp.sort(x)[0] + jnp.sort(x)[2]),
    ),
    pair(
        "projection simplex",
        lambda x: optax.projections.projection_simplex(x),
        lambda x: jnp.stack([jnp.clip((x[0] - x[1] + 1) / 2, 0, 1), jnp.clip((x[1] - x[0] + 1) / 2, 0, 1)]),
        (f32(2),),
        lambda x: nn.softmax(x),
    ),
    pair(
        "projection l2 ball",
        lambda x: optax.projections.projection_l2_ball(x, 2.0),
        lambda x: jnp.where(x @ x <= 4, x, 2 * x / jnp.sqrt(x @ x)),
        (V,),
        lambda x: jnp.where(x @ x <= 4, x, x / jnp.sqrt(x @ x)),
    ),
    pair(
        "soft threshold",
        lambda x: jnp.sign(x) * nn.relu(jnp.abs(x) - 0.3),
        lambda x: x - jnp.clip(x, -0.3, 0.3),
        (X,),
        lambda x: x - jnp.clip(x, -0.3, 0.0),
    ),
    pair("iou", lambda a, b: iou(a, b), lambda a, b: iou2(a, b), (f32(4), f32(4)), lambda a, b: iou2(a, b[::-1])),
    pair(
        "wrap angle",
        lambda x: jnp.mod(x + jnp.pi, 2 * jnp.pi) - jnp.pi,
        lambda x: x - 2 * jnp.pi * jnp.floor((x + jnp.pi) / (2 * jnp.pi)),
        (X,),
        lambda x: x - 2 * jnp.pi * jnp.floor((x) / (2 * jnp.pi)),
    ),
    pair(
        "angle by atan2",
        lambda x: jnp.cos(jnp.arctan2(jnp.sin(x), jnp.cos(x)) - 0.3),
        lambda x: jnp.cos(x - 0.3),
        (X,),
        lambda x: jnp.cos(x + 0.3),
    ),
    pair(
        "wrap angle atan2",
        lambda x: jnp.arctan2(jnp.sin(x), jnp.cos(x)),
        lambda x: jnp.mod(x + jnp.pi, 2 * jnp.pi) - jnp.pi,
        (interval(f32(2), -3.0, 3.0),),
        lambda x: jnp.mod(x + jnp.pi, 2 * jnp.pi),
    ),
    pair(
        "great circle",
        lambda a, b: jnp.arccos(jnp.clip((a * b).sum() / jnp.sqrt((a * a).sum()) / jnp.sqrt((b * b).sum()), -1, 1)),
        lambda a, b: jnp.arccos((a * b).sum() / jnp.sqrt((a * a).sum() * (b * b).sum())),
        (V, V),
        lambda a, b: jnp.arccos(-(a * b).sum() / jnp.sqrt((a * a).sum() * (b * b).sum())),
    ),
    pair(
        "quaternion rotate",
        lambda q, v: rot(q, v),
        lambda q, v: (lambda t: v + q[0] * t + jnp.cross(q[1:], t))(2 * jnp.cross(q[1:], v) / (q @ q)),
        (f32(4), V),
        lambda q, v: (lambda t: v + q[0] * t + jnp.cross(q[1:], t))(2 * jnp.cross(q[1:], v)),
    ),
    pair(
        "gumbel top prob",
        lambda x: nn.softmax(x)[jnp.argmax(x)],
        lambda x: jnp.max(nn.softmax(x)),
        (X,),
        lambda x: jnp.min(nn.softmax(x)),
    ),
    pair(
        "logit temp",
        lambda x: nn.softmax(x / 0.5),
        lambda x: nn.softmax(x) ** 2 / jnp.sum(nn.softmax(x) ** 2),
        (X,),
        lambda x: nn.softmax(x) ** 0.5 / jnp.sum(nn.softmax(x) ** 0.5),
        gradient=True,
    ),
    pair(
        "focal int",
        lambda x: optax.sigmoid_focal_loss(x, jnp.ones(4), alpha=0.25, gamma=2.0),
        lambda x: 0.25 * nn.sigmoid(-x) ** 2 * nn.softplus(-x),
        (X,),
        lambda x: 0.25 * nn.sigmoid(x) ** 2 * nn.softplus(-x),
        gradient=True,
    ),
    pair(
        "gelu gradient",
        jax.grad(lambda x: nn.gelu(x, approximate=False).sum()),
        lambda x: stats.norm.cdf(x) + x * stats.norm.pdf(x),
        (X,),
        lambda x: stats.norm.cdf(x) - x * stats.norm.pdf(x),
    ),
    pair(
        "mish",
        lambda x: x * jnp.tanh(nn.softplus(x)),
        lambda x: (lambda e: x * (e * e + 2 * e) / (e * e + 2 * e + 2))(jnp.exp(x)),
        (X,),
        lambda x: (lambda e: x * (e * e + 2 * e) / (e * e + 2 * e + 1))(jnp.exp(x)),
        gradient=True,
    ),
    pair(
        "hard swish",
        nn.hard_swish,
        lambda x: x * jnp.clip(x / 6 + 0.5, 0, 1),
        (X,),
        lambda x: x * jnp.clip(x / 6, 0, 1),
    ),
    pair(
        "glu conv gate",
        lambda x: nn.glu(x),
        lambda x: x[:2] / (1 + jnp.exp(-x[2:])),
        (X,),
        lambda x: x[2:] / (1 + jnp.exp(-x[:2])),
    ),
    pair(
        "lstm cell hk",
        lambda i, f, g, o, c: nn.sigmoid(o) * jnp.tanh(nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)),
        lambda i, f, g, o, c: (lambda s: s(o) * (2 * s(2 * (s(f) * c + s(i) * (2 * s(2 * g) - 1))) - 1))(
            lambda x: 0.5 * (jnp.tanh(x / 2) + 1)
        ),
        (V,) * 5,
        lambda i, f, g, o, c: (lambda s: s(o) * (2 * s(2 * (s(f) * c + s(i) * (2 * s(g) - 1))) - 1))(
            lambda x: 0.5 * (jnp.tanh(x / 2) + 1)
        ),
    ),
    pair(
        "tridiagonal",
        lambda d, b: lx.linear_solve(lx.TridiagonalLinearOperator(d + 3, jnp.ones(2), jnp.ones(2)), b).value,
        lambda d, b: jnp.linalg.solve(jnp.diag(d + 3) + jnp.diag(jnp.ones(2), 1) + jnp.diag(jnp.ones(2), -1), b),
        (positive(f32(3)), V),
        lambda d, b: jnp.linalg.solve(jnp.diag(d + 3) + jnp.diag(jnp.ones(2), 1), b),
    ),
    pair(
        "trapezoid",
        lambda y: jnp.trapezoid(y, dx=0.5),
        lambda y: 0.5 * (y.sum() - (y[0] + y[-1]) / 2),
        (X,),
        lambda y: 0.5 * y.sum(),
    ),
    pair(
        "polyfit-val",
        lambda c, x: jnp.polyval(c, x),
        lambda c, x: c @ jnp.vander(x, 4).T,
        (X, X),
        lambda c, x: c[::-1] @ jnp.vander(x, 4).T,
    ),
    pair(
        "dft power",
        lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2,
        lambda x: jnp.stack([x.sum() ** 2, (x[0] - x[2]) ** 2 + (x[1] - x[3]) ** 2, (x[0] - x[1] + x[2] - x[3]) ** 2]),
        (X,),
        lambda x: jnp.stack([x.sum() ** 2, (x[0] - x[2]) ** 2 - (x[1] - x[3]) ** 2, (x[0] - x[1] + x[2] - x[3]) ** 2]),
    ),
    pair(
        "dct",
        lambda x: jax.scipy.fft.dct(x),
        lambda x: 2 * jnp.cos(jnp.pi * jnp.arange(4)[:, None] * (2 * jnp.arange(4) + 1) / 8) @ x,
        (X,),
        lambda x: jnp.cos(jnp.pi * jnp.arange(4)[:, None] * (2 * jnp.arange(4) + 1) / 8) @ x,
    ),
    pair(
        "pairwise dist gradient",
        jax.grad(lambda x: jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-6).sum()),
        lambda x: (
            2 * (x[:, None] - x[None]) / jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1, keepdims=True) + 1e-6)
        ).sum(1),
        (f32(3, 2),),
        lambda x: ((x[:, None] - x[None]) / jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1, keepdims=True) + 1e-6)).sum(
            1
        ),
    ),
    pair(
        "safe norm gradient",
        jax.grad(lambda x: jnp.where((x @ x) > 0, jnp.sqrt(jnp.where((x @ x) > 0, x @ x, 1.0)), 0.0)),
        lambda x: jnp.where((x @ x) > 0, x * lax.rsqrt(jnp.where((x @ x) > 0, x @ x, 1.0)), 0.0),
        (V,),
        lambda x: jnp.where((x @ x) > 0, x / jnp.where((x @ x) > 0, x @ x, 1.0), 0.0),
    ),
    pair(
        "kalman gain",
        lambda P_, h, s: P_ @ h / (h @ P_ @ h + s),
        lambda P_, h, s: jnp.linalg.solve(jnp.linalg.inv(P_) + jnp.outer(h, h) / s, h) / s,
        (symmetric(f32(2, 2)), f32(2), positive(f32())),
        lambda P_, h, s: jnp.linalg.solve(jnp.linalg.inv(P_) + jnp.outer(h, h), h) / s,
    ),
    pair(
        "sinkhorn log step",
        lambda L: jnp.exp(nn.log_softmax(nn.log_softmax(L, 1), 0)),
        lambda L: (lambda K: K / K.sum(0))(nn.softmax(L, 1)),
        (f32(2, 3),),
        lambda L: (lambda K: K / K.sum(0))(nn.softmax(L, 0)),
    ),
    pair(
        "crf forward 2",
        lambda t, e: special.logsumexp(special.logsumexp(e[0][:, None] + t, 0) + e[1]),
        lambda t, e: jnp.log(jnp.exp(e[0]) @ jnp.exp(t) @ jnp.exp(e[1])),
        (f32(2, 2), f32(2, 2)),
        lambda t, e: jnp.log(jnp.exp(e[0]) @ jnp.exp(t).T @ jnp.exp(e[1])),
        gradient=True,
    ),
)
