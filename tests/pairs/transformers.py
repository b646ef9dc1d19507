"""Whole blocks and small Transformers, each written in two ways.

A block's parameters are a dictionary; x is (t, m). Token ids are constants of the functions.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .attention import arrays, attention, causal_attention, einsum, logits, lower, matmul, truncated
from .mistakes import dropped, returns_zero, rolled, scaled, swapped, transposed, with_argument
from .pair import Pair

EPSILON = 1e-5

# Norms and gates.


def layer_norm(x, gamma, beta, *, ddof=0, outside=False):
    """γ (x − mean) / √(variance + ε) + β."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - ddof)
    root = jnp.sqrt(variance) + EPSILON if outside else jnp.sqrt(variance + EPSILON)
    return centred / root * gamma[None] + beta[None]


def moment_norm(x, gamma, beta):
    """The same with variance E[x²] − E[x]² and a reciprocal root."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    return (x - mean) * lax.rsqrt(variance + EPSILON) * gamma[None] + beta[None]


def rms(x, *, outside=False):
    """√(E[x²] + ε)."""
    square = (x**2).mean(axis=-1, keepdims=True)
    return jnp.sqrt(square) + EPSILON if outside else jnp.sqrt(square + EPSILON)


def rms_norm(x, gamma, *, outside=False):
    return x / rms(x, outside=outside) * gamma[None]


def gelu(x):
    return jax.nn.gelu(x, approximate=True)


def exact_gelu(x):
    return jax.nn.gelu(x, approximate=False)


def root_2_over_pi(x):
    """√(2/π) in the dtype of x, as in jax.nn.gelu."""
    return np.sqrt(2 / np.pi).astype(x.dtype)


def gelu_by_logistic(x, *, cubic=0.044715, factor=2.0):
    """x σ(2u) for x (1 + tanh u)/2, u = √(2/π)(x + 0.044715 x³)."""
    u = root_2_over_pi(x) * (x + cubic * (x * x * x))
    return x * jax.nn.sigmoid(factor * u)


def gelu_by_tanh(x, *, cubic=0.044715):
    u = root_2_over_pi(x) * (x + cubic * (x * x * x))
    return 0.5 * x * (1 + jnp.tanh(u))


def gelu_by_erf(x, *, factor=0.5):
    """x (1 + erf(x/√2))/2."""
    return factor * x * (1 + lax.erf(x / math.sqrt(2)))


def swish_by_tanh(x, *, inner=0.5):
    """x (1 + tanh(x/2))/2."""
    return x * (1 + jnp.tanh(inner * x)) / 2


# The GPT-2 block: x + attention(norm x), then + MLP(norm ·); two heads.


def affine(x, w, b):
    return matmul(x, w) + b[None]


def self_attention(p, x, *, offset=0):
    """Both heads at once, from the fused matrix p['qkv'] (m, 3m)."""
    t, m = x.shape
    q, k, v = affine(x, p["qkv"], p["qkv_bias"]).reshape(t, 3, 2, m // 2).transpose(1, 2, 0, 3)
    s = einsum("htd,hsd->hts", q, k) / math.sqrt(m // 2)
    a = jax.nn.softmax(jnp.where(lower(t, offset)[None], s, -jnp.inf), axis=-1)
    return affine(einsum("hts,hsd->thd", a, v).reshape(t, m), p["out"], p["out_bias"])


def head_sum(p, x, *, second=1):
    """One head after the other, rows truncated at the token, Σ_h head_h Wo_h."""
    m = x.shape[-1]
    d = m // 2

    def head(h):
        cut = lambda part: slice(part * m + h * d, part * m + (h + 1) * d)
        q, k, v = (affine(x, p["qkv"][:, cut(part)], p["qkv_bias"][cut(part)]) for part in range(3))
        return matmul(truncated(q, k, v), p["out"][h * d : (h + 1) * d])

    return head(0) + head(second) + p["out_bias"][None]


def mlp(p, x, *, activation=gelu):
    return affine(activation(affine(x, p["up"], p["up_bias"])), p["down"], p["down_bias"])


def gpt2_block(p, x, *, norm=layer_norm, activation=gelu, mix=self_attention):
    x = x + mix(p, norm(x, p["gamma1"], p["beta1"]))
    return x + mlp(p, norm(x, p["gamma2"], p["beta2"]), activation=activation)


def gpt2_by_head(p, x, *, second=1):
    """The same, head by head, with other norms and another gelu."""
    mix = partial(head_sum, second=second)
    return gpt2_block(p, x, norm=moment_norm, activation=gelu_by_logistic, mix=mix)


def post_norm_block(p, x, *, norm=layer_norm, mix=self_attention):
    x = norm(x + mix(p, x), p["gamma1"], p["beta1"])
    return norm(x + mlp(p, x), p["gamma2"], p["beta2"])


def post_norm_by_head(p, x):
    return post_norm_block(p, x, norm=moment_norm, mix=head_sum)


def norms_folded(p, x, *, shift=1.0):
    """γ and β of the norms moved into the matrices behind them: diag(γ) W and b + β W."""

    def folded(w, b, gamma, beta):
        return gamma[:, None] * w, b + shift * matmul(beta, w)

    qkv, qkv_bias = folded(p["qkv"], p["qkv_bias"], p["gamma1"], p["beta1"])
    up, up_bias = folded(p["up"], p["up_bias"], p["gamma2"], p["beta2"])
    bare = lambda x, gamma, beta: layer_norm(x, jnp.ones_like(gamma), jnp.zeros_like(beta))
    return gpt2_block({**p, "qkv": qkv, "qkv_bias": qkv_bias, "up": up, "up_bias": up_bias}, x, norm=bare)


def layer_scaled(p, x, scale1, scale2):
    """LayerScale (Touvron et al. 2021): each branch times a vector (m,)."""
    x = x + self_attention(p, layer_norm(x, p["gamma1"], p["beta1"])) * scale1[None]
    return x + mlp(p, layer_norm(x, p["gamma2"], p["beta2"])) * scale2[None]


def layer_scale_folded(p, x, scale1, scale2, *, biases=True):
    """The vectors folded into the columns of the output matrices and their biases."""
    scaled_biases = {"out_bias": p["out_bias"] * scale1, "down_bias": p["down_bias"] * scale2} if biases else {}
    p = {**p, "out": p["out"] * scale1[None], "down": p["down"] * scale2[None], **scaled_biases}
    return gpt2_block(p, x)


def contributions(p, x, *, counted=(1.0, 1.0)):
    """The output as the input plus what each branch wrote into the residual stream."""
    first = self_attention(p, layer_norm(x, p["gamma1"], p["beta1"]))
    second = mlp(p, layer_norm(first + x, p["gamma2"], p["beta2"]))
    return counted[1] * second + (x + counted[0] * first)


def without_residual(p, x):
    return gpt2_block(p, x) - x


def batched(p, x):
    """The block on (b, t, m), vmapped over the batch."""
    return jax.vmap(partial(gpt2_block, p))(x)


def batch_in_einsum(p, x, *, batch_axis=0):
    """The same with the batch as an axis of every contraction."""
    b, t, m = x.shape
    flat = lambda f, y, *w: f(y.reshape(b * t, -1), *w).reshape(b, t, -1)
    y = flat(affine, flat(layer_norm, x, p["gamma1"], p["beta1"]), p["qkv"], p["qkv_bias"])
    q, k, v = (part.reshape(b, t, 2, m // 2) for part in jnp.split(y, 3, axis=-1))
    s = jnp.where(lower(t)[None, None], einsum("bthd,bshd->bhts", q, k) / math.sqrt(m // 2), -jnp.inf)
    mixed = einsum("bhts,bshd->bthd", jax.nn.softmax(s, axis=-1), jnp.roll(v, batch_axis, axis=0))
    x = x + flat(affine, mixed, p["out"], p["out_bias"])
    return x + flat(partial(mlp, p), flat(layer_norm, x, p["gamma2"], p["beta2"]))


def tokens_reordered(p, x, *, back=(1, 4, 0, 2, 3)):
    """Without a mask a block does not see the order of the tokens."""
    order = np.array([2, 0, 3, 4, 1])
    return unmasked_block(p, x[order])[np.array(back)]


def unmasked_block(p, x):
    return gpt2_block(p, x, mix=partial(self_attention, offset=len(x)))


def remat_gradient(p, x, *, block=unmasked_block):
    """∂/∂x Σ block(x)² with the block recomputed in the backward pass."""
    return jax.grad(lambda y: (jax.checkpoint(partial(block, p))(y) ** 2).sum())(x)


def plain_gradient(p, x, *, block=unmasked_block, factor=1.0):
    return jax.grad(lambda y: factor * (block(p, y) ** 2).sum())(x)


def attention_gradient_stopped(p, x):
    stopped = lambda p, y: lax.stop_gradient(self_attention(p, y, offset=len(x)))
    return plain_gradient(p, x, block=partial(gpt2_block, mix=stopped))


# Stacks.


def layer(p, i):
    """Layer i of parameters stacked along their first axis."""
    return jax.tree.map(lambda w: w[i], p)


def scanned(p, x, *, reverse=False):
    return lax.scan(lambda y, one: (gpt2_block(one, y), None), x, p, reverse=reverse)[0]


def unrolled(p, x, *, layers=(0, 1)):
    for i in layers:
        x = gpt2_by_head(layer(p, i), x)
    return x


def repeated(p, x, *, times=3):
    """One block, its weights shared by all layers, in a loop."""
    return lax.fori_loop(0, times, lambda _, y: post_norm_block(p, y), x)


def written_out(p, x):
    return post_norm_block(p, post_norm_block(p, post_norm_block(p, x)))


def decoder(p, x):
    """Two layers over the whole sequence."""
    return gpt2_block(layer(p, 1), gpt2_block(layer(p, 0), x))


def decoder_with_cache(p, x, *, caches=(0, 1), seen_after=1):
    """Token by token through both layers; each layer keeps its keys and values."""
    t, m = x.shape
    stores = [jnp.zeros((t, 2 * m), x.dtype) for _ in range(2)]
    rows = []
    for step in range(t):
        row = x[step : step + 1]
        for i, cache in enumerate(caches):
            row, stores[cache] = _cached_block(layer(p, i), row, stores[cache], step, seen_after)
        rows.append(row)
    return jnp.concatenate(rows, axis=0)


def _cached_block(p, row, store, step, seen_after):
    """One token through one block: (row, the cache with its key and value written)."""
    t, m = store.shape[0], row.shape[-1]
    fused = affine(layer_norm(row, p["gamma1"], p["beta1"]), p["qkv"], p["qkv_bias"])
    store = lax.dynamic_update_slice(store, fused[:, m:], (step, 0))
    keys, values = jnp.split(store, 2, axis=-1)
    seen = (np.arange(t) < step + seen_after)[None]
    heads = []
    for h in (slice(0, m // 2), slice(m // 2, m)):
        s = jnp.where(seen, logits(fused[:, :m][:, h], keys[:, h]), -jnp.inf)
        heads.append(matmul(jax.nn.softmax(s, axis=-1), values[:, h]))
    row = row + affine(jnp.concatenate(heads, axis=-1), p["out"], p["out_bias"])
    return row + mlp(p, layer_norm(row, p["gamma2"], p["beta2"])), store


# Parallel and gated blocks.


def parallel_block(p, x):
    """GPT-J: attention and MLP read the same norm."""
    y = layer_norm(x, p["gamma1"], p["beta1"])
    return x + self_attention(p, y) + mlp(p, y)


def parallel_fused(p, x, *, shared=True):
    """One matrix in, one matrix out: [qkv | up] and [out; down]."""
    t, m = x.shape
    y = layer_norm(x, p["gamma1"], p["beta1"])
    wide = affine(y, jnp.concatenate([p["qkv"], p["up"]], axis=1), jnp.concatenate([p["qkv_bias"], p["up_bias"]]))
    halves = [slice(0, m // 2), slice(m // 2, m)]
    q, k, v = (wide[:, i * m : (i + 1) * m] for i in range(3))
    mixed = [causal_attention(q[:, h], k[:, h], v[:, h]) for h in halves]
    hidden = jnp.concatenate([*mixed, gelu(wide[:, 3 * m :])], axis=-1)
    bias = p["out_bias"] + p["down_bias"] if shared else p["out_bias"]
    return x + affine(hidden, jnp.concatenate([p["out"], p["down"]], axis=0), bias)


def llama_block(p, x, *, outside=False, offset=0):
    """RMSNorm, grouped-query attention (two heads, one key head), SwiGLU, no biases."""
    y = rms_norm(x, p["gamma1"], outside=outside)
    q, k, v = (matmul(y, p[name]) for name in ("query", "key", "value"))
    heads = [causal_attention(q[:, :4], k, v, offset=offset), causal_attention(q[:, 4:], k, v, offset=offset)]
    x = x + matmul(jnp.concatenate(heads, axis=-1), p["out"])
    y = rms_norm(x, p["gamma2"], outside=outside)
    return x + matmul(jax.nn.silu(matmul(y, p["gate"])) * matmul(y, p["up"]), p["down"])


def llama_fused(p, x, *, activation=swish_by_tanh, order=("gate", "up")):
    """γ folded into the matrices, which are fused, and the division by the root mean square behind them."""
    fold = lambda gamma, *names: p[gamma][:, None] * jnp.concatenate([p[name] for name in names], axis=1)
    q, k, v = jnp.split(matmul(x, fold("gamma1", "query", "key", "value")) / rms(x), [8, 12], axis=-1)
    rows = truncated(q[:, :4], k, v), truncated(q[:, 4:], k, v)
    x = x + sum(matmul(head, p["out"][4 * h : 4 * h + 4]) for h, head in enumerate(rows))
    gate, up = jnp.split(matmul(x, fold("gamma2", *order)) / rms(x), 2, axis=-1)
    return x + matmul(activation(gate) * up, p["down"])


def normalised_queries(x, wq, wk, wv, gamma_q, gamma_k):
    """QK-norm: queries and keys through RMSNorm with their own γ."""
    return attention(rms_norm(matmul(x, wq), gamma_q), rms_norm(matmul(x, wk), gamma_k), matmul(x, wv))


def norm_on_query(x, wq, wk, wv, gamma_q, gamma_k):
    """Both γ on the query alone: only their product counts."""
    one = jnp.ones_like(gamma_k)
    return attention(rms_norm(matmul(x, wq), gamma_q * gamma_k), rms_norm(matmul(x, wk), one), matmul(x, wv))


def norm_of_product(x, w, b, gamma):
    """LayerNorm(x W + b) without β."""
    return layer_norm(affine(x, w, b), gamma, jnp.zeros_like(gamma))


def centred_weights(x, w, b, gamma, *, axis=1, bias=True):
    """RMSNorm(x W' + b') with the mean taken out of the rows of W and out of b: LayerNorm without its subtraction."""
    centre = lambda z, a: z - z.mean(axis=a, keepdims=True)
    return rms_norm(affine(x, centre(w, axis), centre(b, 0) if bias else b), gamma)


# Mixtures of experts and wide layers.


def experts_by_einsum(x, router, up, down, *, axis=-1):
    """Σ_e g_e(x) tanh(x U_e) D_e with g = softmax(x R); U (e, m, f), D (e, f, m)."""
    gates = jax.nn.softmax(matmul(x, router), axis=axis)
    hidden = jnp.tanh(einsum("tm,emf->tef", x, up))
    return einsum("te,tef,efm->tm", gates, hidden, down)


def experts_by_loop(x, router, up, down, *, normal=lambda z: z / z.sum(axis=-1, keepdims=True)):
    gates = normal(jnp.exp(matmul(x, router)))
    outputs = [gates[:, e : e + 1] * matmul(jnp.tanh(matmul(x, up[e])), down[e]) for e in range(len(up))]
    return sum(outputs[1:], outputs[0])


def experts_as_one_layer(x, router, up, down, *, tiled=False):
    """All experts side by side as one hidden layer, whose features are multiplied by their expert's gate."""
    e, m, f = up.shape
    gates = jax.nn.softmax(matmul(x, router), axis=-1)
    spread = jnp.tile(gates, (1, f)) if tiled else jnp.repeat(gates, f, axis=-1)
    hidden = jnp.tanh(matmul(x, up.transpose(1, 0, 2).reshape(m, e * f)))
    return matmul(spread * hidden, down.reshape(e * f, m))


def wide_mlp(x, up, up_bias, down, down_bias):
    return affine(gelu(affine(x, up, up_bias)), down, down_bias)


def split_mlp(x, up, up_bias, down, down_bias, *, bias_each=False, crossed=False):
    """The hidden features on two devices, their outputs summed (Megatron)."""
    shards = [slice(0, 3), slice(3, 6)]
    local = lambda a, b: matmul(gelu(affine(x, up[:, a], up_bias[a])), down[b])
    partials = [local(a, b) for a, b in zip(shards, reversed(shards) if crossed else shards, strict=True)]
    return partials[0] + partials[1] + (2.0 if bias_each else 1.0) * down_bias[None]


def mixer(x, tokens, channels):
    """MLP-Mixer: tanh over tokens by T (t, t), then over channels by C (m, m), each with its residual."""
    x = x + jnp.tanh(matmul(x.T, tokens)).T
    return x + jnp.tanh(matmul(x, channels))


def mixer_by_einsum(x, tokens, channels, *, of="sm,st->tm"):
    x = x + jnp.tanh(einsum(of, x, tokens))
    return x + jnp.tanh(einsum("tm,mn->tn", x, channels))


# Embedding, unembedding, loss.

IDS = np.array([3, 0, 6, 3, 1], np.int32)
TARGETS = np.array([0, 6, 3, 1, 5], np.int32)


def embedded(table, positions, *, ids=IDS):
    """Rows of the table (v, m) plus positions (t, m)."""
    return table[ids] + positions


def embedded_by_one_hot(table, positions):
    return matmul(jax.nn.one_hot(IDS, len(table), dtype=table.dtype), table) + positions


def language_model(p, table, positions, *, unembed=None):
    """ids → embedding → block → table as unembedding."""
    x = gpt2_block(p, embedded(table, positions))
    return matmul(x, (table if unembed is None else unembed(table)).T)


def language_model_by_pairs(p, table, positions, *, by_head=gpt2_by_head):
    x = by_head(p, embedded_by_one_hot(table, positions))
    return jax.vmap(lambda row: (table * row[None]).sum(axis=-1))(x)


def cross_entropy(z, *, targets=TARGETS, axis=-1):
    """mean(−log_softmax(z)[target]) for logits z (t, v)."""
    log_p = jax.nn.log_softmax(z, axis=axis)
    return -(jax.nn.one_hot(targets, z.shape[-1], dtype=z.dtype) * log_p).sum() / len(targets)


def cross_entropy_by_difference(z, *, divide=True):
    """mean(log Σ exp z − z[target])."""
    losses = jnp.log(jnp.exp(z).sum(axis=-1)) - z[np.arange(len(TARGETS), dtype=np.int32), TARGETS]
    return losses.mean() if divide else losses.sum()


def patches_by_convolution(image, kernel, bias):
    """ViT: image (y, x, c), kernel (p, p, c, m), stride p -> (patches, m)."""
    out = lax.conv_general_dilated(
        image[None], kernel, kernel.shape[:2], "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest"
    )
    return out.reshape(-1, kernel.shape[-1]) + bias[None]


def patches_by_reshape(image, kernel, bias, *, axes=(0, 2, 1, 3, 4)):
    p, _, c, m = kernel.shape
    grid = image.reshape(image.shape[0] // p, p, image.shape[1] // p, p, c)
    return affine(grid.transpose(axes).reshape(-1, p * p * c), kernel.reshape(p * p * c, m), bias)


def struct(**shapes):
    """A dictionary of float32 arrays."""
    return dict(zip(shapes, arrays(*shapes.values()), strict=True))


GPT2_SHAPES = {
    "gamma1": (8,),
    "beta1": (8,),
    "qkv": (8, 24),
    "qkv_bias": (24,),
    "out": (8, 8),
    "out_bias": (8,),
    "gamma2": (8,),
    "beta2": (8,),
    "up": (8, 6),
    "up_bias": (6,),
    "down": (6, 8),
    "down_bias": (8,),
}
GPT2 = struct(**GPT2_SHAPES)
STACK = struct(**{name: (2, *shape) for name, shape in GPT2_SHAPES.items()})
LLAMA = struct(
    gamma1=(6,),
    query=(6, 8),
    key=(6, 4),
    value=(6, 4),
    out=(8, 6),
    gamma2=(6,),
    gate=(6, 7),
    up=(6, 7),
    down=(7, 6),
)
(X,) = arrays((5, 8))
EXPERTS = arrays((5, 6), (6, 3), (3, 6, 4), (3, 4, 6))


PAIRS: tuple[Pair, ...] = (
    Pair(
        "GPT-2 block: fused against head by head",
        gpt2_block,
        gpt2_by_head,
        (GPT2, X),
        {
            "ε outside the root": partial(gpt2_block, norm=partial(layer_norm, outside=True)),
            "n − 1 for n": partial(gpt2_block, norm=partial(layer_norm, ddof=1)),
            "exact gelu for tanh": partial(gpt2_block, activation=exact_gelu),
            "first head twice": partial(gpt2_by_head, second=0),
            "mask off by one": partial(gpt2_block, mix=partial(self_attention, offset=1)),
            "bias of the output dropped": dropped(gpt2_by_head, 0, "out_bias"),
        },
    ),
    Pair(
        "post-norm block: fused against head by head",
        post_norm_block,
        post_norm_by_head,
        (GPT2, X),
        {
            "pre-norm": gpt2_block,
            "ε outside the root": partial(post_norm_block, norm=partial(layer_norm, outside=True)),
            "norms exchanged": lambda p, x: post_norm_block({**p, "gamma1": p["gamma2"], "gamma2": p["gamma1"]}, x),
        },
    ),
    Pair(
        "GPT-2 block: γ and β folded into the matrices",
        gpt2_block,
        norms_folded,
        (GPT2, X),
        {
            "β dropped": partial(norms_folded, shift=0.0),
            "β without its sign": partial(norms_folded, shift=-1.0),
            "γ not folded": lambda p, x: norms_folded({**p, "gamma1": jnp.ones_like(p["gamma1"])}, x),
            "γ scaled": scaled(norms_folded, 1.0625, 0, "gamma2"),
        },
    ),
    Pair(
        "GPT-2 block: LayerScale folded into the output matrices",
        layer_scaled,
        layer_scale_folded,
        (GPT2, X, *arrays((8,), (8,))),
        {
            "biases not scaled": partial(layer_scale_folded, biases=False),
            "vectors exchanged": swapped(layer_scale_folded, 2, 3),
            "scale on the rows": lambda p, x, a, b: gpt2_block({**p, "out": p["out"] * a[:, None]}, x),
        },
    ),
    Pair(
        "GPT-2 block: residual stream as a sum of contributions",
        gpt2_block,
        contributions,
        (GPT2, X),
        {
            "attention counted twice": partial(contributions, counted=(2.0, 1.0)),
            "MLP left out": partial(contributions, counted=(1.0, 0.0)),
            "no residual": without_residual,
        },
    ),
    Pair(
        "GPT-2 block: vmapped against batched",
        batched,
        batch_in_einsum,
        (GPT2, *arrays((3, 5, 8))),
        {
            "values of the next sequence": partial(batch_in_einsum, batch_axis=1),
            "batch reversed": with_argument(batch_in_einsum, lambda x: x[::-1], 1),
            "head order of the output": rolled(batch_in_einsum, 0, 0, "out"),
        },
    ),
    Pair(
        "GPT-2 block without mask: tokens reordered",
        unmasked_block,
        tokens_reordered,
        (GPT2, X),
        {
            "not ordered back": partial(tokens_reordered, back=(0, 1, 2, 3, 4)),
            "ordered by the same permutation again": partial(tokens_reordered, back=(2, 0, 3, 4, 1)),
            "causal mask": gpt2_block,
        },
    ),
    Pair(
        "GPT-2 block: gradient with and without recomputation",
        remat_gradient,
        plain_gradient,
        (GPT2, X),
        {
            "gradient of attention stopped": attention_gradient_stopped,
            "half the loss": partial(plain_gradient, factor=0.5),
            "gradient without residual": partial(plain_gradient, block=lambda p, x: unmasked_block(p, x) - x),
        },
    ),
    Pair(
        "two layers: scan against head by head, unrolled",
        scanned,
        unrolled,
        (STACK, X),
        {
            "layers in reverse": partial(scanned, reverse=True),
            "first layer twice": partial(unrolled, layers=(0, 0)),
            "one layer only": partial(unrolled, layers=(0,)),
        },
    ),
    Pair(
        "shared weights: fori_loop against written out",
        repeated,
        written_out,
        (GPT2, X),
        {
            "one layer less": partial(repeated, times=2),
            "one layer more": partial(repeated, times=4),
            "output matrix transposed": transposed(written_out, 0, "out"),
        },
    ),
    Pair(
        "two layers: decoding with caches",
        decoder,
        decoder_with_cache,
        (STACK, X),
        {
            "both layers share one cache": partial(decoder_with_cache, caches=(0, 0)),
            "empty cache entry seen": partial(decoder_with_cache, seen_after=2),
            "layers exchanged": lambda p, x: decoder(jax.tree.map(lambda w: w[::-1], p), x),
        },
    ),
    Pair(
        "parallel block: fused matrices",
        parallel_block,
        parallel_fused,
        (GPT2, X),
        {
            "bias of the MLP forgotten": partial(parallel_fused, shared=False),
            "sequential block": gpt2_block,
            "β dropped": dropped(parallel_fused, 0, "beta1"),
        },
    ),
    Pair(
        "Llama block: γ folded, matrices fused, division moved",
        llama_block,
        llama_fused,
        (LLAMA, *arrays((5, 6))),
        {
            "ε outside the root": partial(llama_block, outside=True),
            "γ forgotten": with_argument(llama_fused, jnp.ones_like, 0, "gamma1"),
            "gate and up exchanged": partial(llama_fused, order=("up", "gate")),
            "gelu for silu": partial(llama_fused, activation=gelu),
            "mask off by one": partial(llama_block, offset=1),
        },
    ),
    Pair(
        "normalised queries and keys: both γ on the query",
        normalised_queries,
        norm_on_query,
        arrays((5, 3), (3, 4), (3, 4), (3, 6), (4,), (4,)),
        {
            "γ of the key forgotten": with_argument(norm_on_query, jnp.ones_like, 5),
            "sum of the γ for their product": lambda x, wq, wk, wv, g, h: norm_on_query(
                x, wq, wk, wv, g + h, jnp.ones_like(h)
            ),
            "γ reversed": with_argument(norm_on_query, lambda g: g[::-1], 4),
        },
    ),
    Pair(
        "LayerNorm: centred weights and RMSNorm",
        norm_of_product,
        centred_weights,
        arrays((5, 3), (3, 6), (6,), (6,)),
        {
            "columns centred": partial(centred_weights, axis=0),
            "bias not centred": partial(centred_weights, bias=False),
            "nothing centred": lambda x, w, b, gamma: rms_norm(affine(x, w, b), gamma),
        },
    ),
    Pair(
        "gelu: tanh against the logistic function",
        jax.nn.gelu,
        gelu_by_logistic,
        arrays((5, 3)),
        {
            "exact gelu": exact_gelu,
            "factor two forgotten": partial(gelu_by_logistic, factor=1.0),
            "a digit of 0.044715 lost": partial(gelu_by_logistic, cubic=0.04471),
        },
        "σ(x) = (1 + tanh(x/2))/2",
    ),
    Pair(
        "gelu: jax.nn against its formula with tanh",
        gelu,
        gelu_by_tanh,
        arrays((5, 3)),
        {
            "no cubic term": partial(gelu_by_tanh, cubic=0.0),
            "silu": jax.nn.silu,
            "a returned zero": returns_zero(gelu_by_tanh),
        },
    ),
    Pair(
        "gelu: erfc against erf",
        exact_gelu,
        gelu_by_erf,
        arrays((5, 3)),
        {
            "half forgotten": partial(gelu_by_erf, factor=1.0),
            "approximate gelu": gelu,
            "erf of x": lambda x: 0.5 * x * (1 + lax.erf(x)),
        },
        "erfc = 1 − erf; √2 is read from its float32 and float64 roundings",
    ),
    Pair(
        "silu: jax.nn against tanh",
        jax.nn.silu,
        swish_by_tanh,
        arrays((5, 3)),
        {
            "tanh x": partial(swish_by_tanh, inner=1.0),
            "sigmoid without x": jax.nn.sigmoid,
            "sign": lambda x: x * jax.nn.sigmoid(-x),
        },
        "σ(x) = (1 + tanh(x/2))/2",
    ),
    Pair(
        "mixture of experts: einsum against a loop",
        experts_by_einsum,
        experts_by_loop,
        EXPERTS,
        {
            "softmax over the tokens": partial(experts_by_einsum, axis=0),
            "gates not normalised": partial(experts_by_loop, normal=lambda z: z),
            "gates of the next expert": rolled(experts_by_loop, 1, 1),
            "down-projections exchanged": rolled(experts_by_loop, 0, 3),
        },
    ),
    Pair(
        "mixture of experts: one wide hidden layer",
        experts_by_einsum,
        experts_as_one_layer,
        EXPERTS,
        {
            "gates tiled for repeated": partial(experts_as_one_layer, tiled=True),
            "up-projections exchanged": rolled(experts_as_one_layer, 0, 2),
            "gates forgotten": lambda x, r, u, d: einsum("tef,efm->tm", jnp.tanh(einsum("tm,emf->tef", x, u)), d),
        },
    ),
    Pair(
        "MLP: hidden features on two devices",
        wide_mlp,
        split_mlp,
        arrays((5, 4), (4, 6), (6,), (6, 3), (3,)),
        {
            "bias added on both": partial(split_mlp, bias_each=True),
            "shards crossed": partial(split_mlp, crossed=True),
            "first bias dropped": dropped(split_mlp, 2),
        },
    ),
    Pair(
        "MLP-Mixer: transposes against einsum",
        mixer,
        mixer_by_einsum,
        arrays((5, 3), (5, 5), (3, 3)),
        {
            "token matrix transposed": partial(mixer_by_einsum, of="sm,ts->tm"),
            "channel matrix transposed": transposed(mixer_by_einsum, 2),
            "no residual": lambda x, a, b: mixer(x, a, b) - x,
        },
    ),
    Pair(
        "embedding: indexing against one-hot",
        embedded,
        embedded_by_one_hot,
        arrays((7, 4), (5, 4)),
        {
            "ids off by one": partial(embedded, ids=np.roll(IDS, 1)),
            "positions dropped": dropped(embedded_by_one_hot, 1),
            "one id wrong": partial(embedded, ids=np.array([3, 0, 5, 3, 1], np.int32)),
        },
    ),
    Pair(
        "language model: tied table, indexing against one-hot",
        language_model,
        language_model_by_pairs,
        (GPT2, *arrays((7, 8), (5, 8))),
        {
            "unembedding reversed": partial(language_model, unembed=lambda e: e[::-1]),
            "mask off by one": partial(
                language_model_by_pairs, by_head=partial(gpt2_block, mix=partial(self_attention, offset=1))
            ),
            "positions dropped": dropped(language_model_by_pairs, 2),
        },
    ),
    Pair(
        "cross entropy: log_softmax against logsumexp",
        cross_entropy,
        cross_entropy_by_difference,
        arrays((5, 7)),
        {
            "sum for mean": partial(cross_entropy_by_difference, divide=False),
            "targets off by one": partial(cross_entropy, targets=np.roll(TARGETS, 1)),
            "softmax over the tokens": partial(cross_entropy, axis=0),
        },
    ),
    Pair(
        "patch embedding: convolution against reshape",
        patches_by_convolution,
        patches_by_reshape,
        arrays((4, 6, 3), (2, 2, 3, 5), (5,)),
        {
            "patches not cut out": partial(patches_by_reshape, axes=(0, 1, 2, 3, 4)),
            "patch transposed": partial(patches_by_reshape, axes=(0, 2, 3, 1, 4)),
            "bias dropped": dropped(patches_by_reshape, 2),
        },
    ),
)
