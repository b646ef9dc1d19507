"""The same layer in flax.linen, in equinox and in plain jax.numpy; parameters are arguments, never initialised.

flax and equinox are imported when a function is called: without them this file can be imported and `PAIRS` is empty.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .attention import arrays, causal_attention, lower, matmul
from .mistakes import dropped, nudged, returns_zero, rolled, scaled, swapped, transposed, with_argument
from .pair import Pair
from .transformers import EPSILON, GPT2, IDS, affine, exact_gelu, gelu, gpt2_block, layer_norm, rms_norm, struct

AVAILABLE = all(find_spec(library) is not None for library in ("flax", "equinox"))
"""Whether both libraries are installed; otherwise `PAIRS` is empty."""


def linen(make: Callable, parameters: Any, *inputs: Any, **options: Any) -> Any:
    """make(flax.linen), a module, applied with the given parameters."""
    from flax import linen as nn

    return make(nn).apply({"params": parameters}, *inputs, **options)


def equinox(make: Callable, *leaves: Any) -> Any:
    """The module make(equinox.nn, key) with its arrays, in the order of its fields, replaced by the leaves."""
    import equinox as eqx

    skeleton = eqx.filter_eval_shape(lambda: make(eqx.nn, jax.random.key(0)))
    is_array = lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct)
    shapes, static = eqx.partition(skeleton, is_array)
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(shapes), leaves), static)


# Dense layers: kernels (in, out) in flax, weights (out, in) in equinox.


def mlp_linen(x, up, up_bias, down, down_bias):
    network = lambda nn: nn.Sequential([nn.Dense(7), nn.gelu, nn.Dense(3)])
    parameters = {
        "layers_0": {"kernel": up, "bias": up_bias},
        "layers_2": {"kernel": down, "bias": down_bias},
    }
    return linen(network, parameters, x)


def mlp_equinox(x, up, up_bias, down, down_bias, *, activation=gelu):
    make = lambda nn, key: nn.MLP(4, 3, 7, 1, activation=activation, key=key)
    return jax.vmap(equinox(make, up.T, up_bias, down.T, down_bias))(x)


def mlp_plain(x, up, up_bias, down, down_bias, *, activation=gelu):
    return affine(activation(affine(x, up, up_bias)), down, down_bias)


# Norms: x (t, m), over m.


def in_its_own_precision(x):
    """flax's statistics and parameters in the precision of x, which may be float64."""
    return {"param_dtype": x.dtype, "force_float32_reductions": False}


def layer_norm_linen(x, gamma, beta, *, fast=False):
    make = lambda nn: nn.LayerNorm(epsilon=EPSILON, use_fast_variance=fast, **in_its_own_precision(x))
    return linen(make, {"scale": gamma, "bias": beta}, x)


def layer_norm_equinox(x, gamma, beta):
    make = lambda nn, key: nn.LayerNorm(x.shape[-1], eps=EPSILON)
    return jax.vmap(equinox(make, gamma, beta))(x)


def rms_norm_linen(x, gamma):
    make = lambda nn: nn.RMSNorm(epsilon=EPSILON, **in_its_own_precision(x))
    return linen(make, {"scale": gamma}, x)


def rms_norm_equinox(x, gamma):
    make = lambda nn, key: nn.RMSNorm(x.shape[-1], eps=EPSILON, use_bias=False)
    return jax.vmap(equinox(make, gamma))(x)


def group_norm_linen(x, gamma, beta):
    """x (t, m), three groups of two features, statistics over tokens and the group."""
    make = lambda nn: nn.GroupNorm(3, epsilon=EPSILON, use_fast_variance=False, **in_its_own_precision(x))
    return linen(make, {"scale": gamma, "bias": beta}, x[None])[0]


def group_norm_equinox(x, gamma, beta):
    """equinox wants the channels first."""
    make = lambda nn, key: nn.GroupNorm(3, x.shape[-1], eps=EPSILON)
    return equinox(make, gamma, beta)(x.T).T


def group_norm_plain(x, gamma, beta, *, groups=3, axes=(0, 2), ddof=0, neighbours=True):
    shape = (len(x), groups, -1) if neighbours else (len(x), -1, groups)
    y = x.reshape(shape) if neighbours else x.reshape(shape).transpose(0, 2, 1)
    centred = y - y.mean(axis=axes, keepdims=True)
    y = centred / jnp.sqrt(y.var(axis=axes, keepdims=True, ddof=ddof) + EPSILON)
    return (y if neighbours else y.transpose(0, 2, 1)).reshape(x.shape) * gamma[None] + beta[None]


# Convolution over tokens: x (t, c), kernel (3, c, m), bias (m,), zeros outside.


def conv_linen(x, kernel, bias):
    make = lambda nn: nn.Conv(kernel.shape[-1], kernel.shape[:1], padding="SAME")
    return linen(make, {"kernel": kernel, "bias": bias}, x)


def conv_equinox(x, kernel, bias):
    """equinox wants the channels first: weight (m, c, 3), bias (m, 1)."""
    make = lambda nn, key: nn.Conv1d(kernel.shape[1], kernel.shape[2], 3, padding=1, key=key)
    return equinox(make, kernel.transpose(2, 1, 0), bias[:, None])(x.T).T


def conv_plain(x, kernel, bias, *, direction=1, padding=(1, 1)):
    """Σ_k x[t + k − 1] K[k]: three matrix products of shifted rows."""
    padded = jnp.pad(x, (padding, (0, 0)))
    taps = [matmul(padded[k : k + len(x)], w) for k, w in enumerate(kernel[::direction])]
    return taps[0] + taps[1] + taps[2] + bias[None]


# Attention: p has the kernels of flax, query, key, value (m, h, d) and out (h, d, m), each with its bias.


def attention_linen(p, x, *, causal=True):
    make = lambda nn: nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8, out_features=x.shape[-1])
    return linen(make, p, x, mask=lower(len(x))[None] if causal else None)


def attention_equinox(p, x, *, causal=True, offset=0):
    m = x.shape[-1]
    biases = {f"use_{name}_bias": True for name in ("query", "key", "value", "output")}
    make = lambda nn, key: nn.MultiheadAttention(2, m, qk_size=4, vo_size=4, **biases, key=key)
    leaves = [a for name in ("query", "key", "value") for a in (p[name]["kernel"].reshape(m, 8).T, p[name]["bias"])]
    leaves = [a.ravel() if a.shape == (2, 4) else a for a in leaves]
    module = equinox(make, *leaves, p["out"]["kernel"].reshape(8, m).T, p["out"]["bias"])
    return module(x, x, x, mask=lower(len(x), offset) if causal else None)


def attention_plain(p, x, *, offset=0, heads=(0, 1)):
    project = lambda name, h: affine(x, p[name]["kernel"][:, h], p[name]["bias"][h])
    parts = []
    for h, into in enumerate(heads):
        mixed = causal_attention(*(project(name, h) for name in ("query", "key", "value")), offset=offset)
        parts.append(matmul(mixed, p["out"]["kernel"][into]))
    return parts[0] + parts[1] + p["out"]["bias"][None]


# The GPT-2 block, with the parameters of transformers.gpt2_block.


def heads_of(p: Any) -> dict[str, dict[str, Any]]:
    """The fused matrices of a GPT-2 block as flax keeps them."""
    m = p["qkv"].shape[0]
    kernels, biases = p["qkv"].reshape(m, 3, 2, -1), p["qkv_bias"].reshape(3, 2, -1)
    parts = {n: {"kernel": kernels[:, i], "bias": biases[i]} for i, n in enumerate(("query", "key", "value"))}
    return {**parts, "out": {"kernel": p["out"].reshape(2, -1, m), "bias": p["out_bias"]}}


def _block(p: Any, x: Any, norm: Callable, mix: Callable, mlp: Callable) -> Any:
    x = x + mix(heads_of(p), norm(x, p["gamma1"], p["beta1"]))
    return x + mlp(norm(x, p["gamma2"], p["beta2"]), p["up"], p["up_bias"], p["down"], p["down_bias"])


def _dense_linen(x, up, up_bias, down, down_bias):
    """Two Dense modules with flax's gelu between them."""
    from flax import linen as nn

    dense = lambda y, w, b: linen(lambda nn: nn.Dense(w.shape[-1]), {"kernel": w, "bias": b}, y)
    return dense(nn.gelu(dense(x, up, up_bias)), down, down_bias)


def _linear_equinox(x, up, up_bias, down, down_bias):
    """Two Linear modules with gelu between them."""
    make = lambda w: lambda nn, key: nn.Linear(*w.shape, key=key)
    linear = lambda y, w, b: jax.vmap(equinox(make(w), w.T, b))(y)
    return linear(gelu(linear(x, up, up_bias)), down, down_bias)


block_linen = partial(_block, norm=layer_norm_linen, mix=attention_linen, mlp=_dense_linen)
block_equinox = partial(_block, norm=layer_norm_equinox, mix=attention_equinox, mlp=_linear_equinox)


# Recurrent cells: p has flax's names, i· from the input, h· from the state.

GATES = ("i", "f", "g", "o")


def gru_linen(p, h, x):
    return linen(lambda nn: nn.GRUCell(h.shape[-1]), p, h, x)[0]


def gru_equinox(p, h, x, *, order="rzn"):
    make = lambda nn, key: nn.GRUCell(x.shape[-1], h.shape[-1], key=key)
    weight_ih = jnp.concatenate([p[f"i{gate}"]["kernel"].T for gate in order], axis=0)
    weight_hh = jnp.concatenate([p[f"h{gate}"]["kernel"].T for gate in order], axis=0)
    bias = jnp.concatenate([p[f"i{gate}"]["bias"] for gate in order])
    return equinox(make, weight_ih, weight_hh, bias, p["hn"]["bias"])(x, h)


def gru_plain(p, h, x, *, reset_first=False, keep=lambda z, n, h: (1 - z) * n + z * h):
    """n + z (h − n) with n = tanh(W x + b + r (U h + c)); Cho et al. 2014 apply r to h before U."""
    dense = lambda name, y: matmul(y, p[name]["kernel"]) + p[name].get("bias", jnp.zeros_like(h))
    r, z = (jax.nn.sigmoid(dense(f"i{gate}", x) + dense(f"h{gate}", h)) for gate in "rz")
    inner = dense("hn", r * h) if reset_first else r * dense("hn", h)
    return keep(z, jnp.tanh(dense("in", x) + inner), h)


def lstm_linen(p, c, h, x, *, cell="LSTMCell"):
    """(c, h) after one step."""
    return linen(lambda nn: getattr(nn, cell)(h.shape[-1]), p, (c, h), x)[0]


def lstm_equinox(p, c, h, x, *, order: Sequence[str] = GATES):
    make = lambda nn, key: nn.LSTMCell(x.shape[-1], h.shape[-1], key=key)
    weight_ih = jnp.concatenate([p[f"i{gate}"]["kernel"].T for gate in order], axis=0)
    weight_hh = jnp.concatenate([p[f"h{gate}"]["kernel"].T for gate in order], axis=0)
    bias = jnp.concatenate([p[f"h{gate}"]["bias"] for gate in order])
    new_h, new_c = equinox(make, weight_ih, weight_hh, bias)(x, (h, c))
    return new_c, new_h


def lstm_plain(p, c, h, x, *, squash=jnp.tanh, forget_bias=0.0):
    i, f, g, o = (
        matmul(x, p[f"i{gate}"]["kernel"]) + (matmul(h, p[f"h{gate}"]["kernel"]) + p[f"h{gate}"]["bias"])
        for gate in GATES
    )
    c = jax.nn.sigmoid(f + forget_bias) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return c, jax.nn.sigmoid(o) * squash(c)


# Embedding and tied unembedding.


def embed_linen(table, w):
    """The rows of the table at the constant ids, times w (m, m), read off against the table."""
    parameters = {"embedding": table}
    embed = lambda nn: nn.Embed(*table.shape)
    return linen(embed, parameters, matmul(linen(embed, parameters, IDS), w), method="attend")


def embed_plain(table, w, *, ids=IDS):
    one_hot = jnp.asarray(np.eye(len(table))[ids], table.dtype)
    return matmul(matmul(one_hot, matmul(table, w)), table.T)


ATTENTION = {
    **{name: struct(kernel=(6, 2, 4), bias=(2, 4)) for name in ("query", "key", "value")},
    "out": struct(kernel=(2, 4, 6), bias=(6,)),
}
GRU = {
    **{f"i{gate}": struct(kernel=(3, 4), bias=(4,)) for gate in "rzn"},
    **{f"h{gate}": struct(kernel=(4, 4)) for gate in "rz"},
    "hn": struct(kernel=(4, 4), bias=(4,)),
}
LSTM = {
    **{f"i{gate}": struct(kernel=(3, 4)) for gate in GATES},
    **{f"h{gate}": struct(kernel=(4, 4), bias=(4,)) for gate in GATES},
}
MLP = arrays((5, 4), (4, 7), (7,), (7, 3), (3,))
NORM = arrays((5, 6), (6,), (6,))
CONV = arrays((5, 6), (3, 6, 4), (4,))
STATE = arrays((4,), (3,))
FINITE_MASK = "the least finite float is read as −∞"
FAST_VARIANCE = "E[x²] − E[x]² is not negative"


PAIRS: tuple[Pair, ...] = (
    Pair(
        "MLP: flax against equinox",
        mlp_linen,
        mlp_equinox,
        MLP,
        {
            "exact gelu for tanh": partial(mlp_equinox, activation=exact_gelu),
            "last bias dropped": dropped(mlp_equinox, 4),
            "2⁻²⁰ on one bias": nudged(mlp_equinox, 4),
        },
    ),
    Pair(
        "MLP: flax against plain",
        mlp_linen,
        mlp_plain,
        MLP,
        {
            "relu for gelu": partial(mlp_plain, activation=jax.nn.relu),
            "first bias doubled": scaled(mlp_plain, 2.0, 2),
            "hidden features moved": rolled(mlp_plain, 0, 3),
        },
    ),
    Pair(
        "LayerNorm: flax against equinox",
        layer_norm_linen,
        layer_norm_equinox,
        NORM,
        {
            "γ and β exchanged": swapped(layer_norm_equinox, 1, 2),
            "β dropped": dropped(layer_norm_equinox, 2),
            "RMSNorm": lambda x, gamma, beta: rms_norm_equinox(x, gamma) + beta[None],
        },
        "a variance is not negative",
    ),
    Pair(
        "LayerNorm: flax against plain",
        layer_norm_linen,
        layer_norm,
        NORM,
        {
            "n − 1 for n": partial(layer_norm, ddof=1),
            "ε outside the root": partial(layer_norm, outside=True),
            "over the tokens": lambda x, gamma, beta: (
                layer_norm(x.T, jnp.ones_like(x[:, 0]), jnp.zeros_like(x[:, 0])).T * gamma[None] + beta[None]
            ),
        },
    ),
    Pair(
        "LayerNorm: flax's fast variance against equinox",
        partial(layer_norm_linen, fast=True),
        layer_norm_equinox,
        NORM,
        {
            "γ dropped": with_argument(layer_norm_equinox, jnp.ones_like, 1),
            "γ and β exchanged": swapped(layer_norm_equinox, 1, 2),
            "n − 1 for n": partial(layer_norm, ddof=1),
        },
        FAST_VARIANCE,
    ),
    Pair(
        "RMSNorm: flax against equinox",
        rms_norm_linen,
        rms_norm_equinox,
        arrays((5, 6), (6,)),
        {
            "LayerNorm": lambda x, gamma: layer_norm_equinox(x, gamma, jnp.zeros_like(gamma)),
            "1 + γ for γ": with_argument(rms_norm_equinox, lambda gamma: 1 + gamma, 1),
            "ε outside the root": partial(rms_norm, outside=True),
        },
    ),
    Pair(
        "GroupNorm: flax against equinox",
        group_norm_linen,
        group_norm_equinox,
        NORM,
        {
            "γ and β exchanged": swapped(group_norm_equinox, 1, 2),
            "LayerNorm": layer_norm_equinox,
            "one group": partial(group_norm_plain, groups=1),
        },
        "a variance is not negative",
    ),
    Pair(
        "GroupNorm: flax against plain",
        group_norm_linen,
        group_norm_plain,
        NORM,
        {
            "two groups": partial(group_norm_plain, groups=2),
            "tokens apart": partial(group_norm_plain, axes=(2,)),
            "n − 1 for n": partial(group_norm_plain, ddof=1),
            "groups of strided features": partial(group_norm_plain, neighbours=False),
        },
    ),
    Pair(
        "convolution: flax against equinox",
        conv_linen,
        conv_equinox,
        CONV,
        {
            "kernel reversed": with_argument(conv_equinox, lambda kernel: kernel[::-1], 1),
            "bias dropped": dropped(conv_equinox, 2),
            "channels moved": rolled(conv_equinox, 1, 0),
        },
    ),
    Pair(
        "convolution: flax against matrix products",
        conv_linen,
        conv_plain,
        CONV,
        {
            "kernel reversed": partial(conv_plain, direction=-1),
            "causal padding": partial(conv_plain, padding=(2, 0)),
            "a returned zero": returns_zero(conv_plain),
        },
    ),
    Pair(
        "attention: flax against equinox, no mask",
        partial(attention_linen, causal=False),
        partial(attention_equinox, causal=False),
        (ATTENTION, *arrays((5, 6))),
        {
            "causal": attention_equinox,
            "query bias dropped": dropped(partial(attention_equinox, causal=False), 0, "query", "bias"),
            "heads of the value exchanged": rolled(partial(attention_equinox, causal=False), 1, 0, "value", "kernel"),
        },
    ),
    Pair(
        "attention: flax against plain, causal",
        attention_linen,
        attention_plain,
        (ATTENTION, *arrays((5, 6))),
        {
            "mask off by one": partial(attention_plain, offset=1),
            "heads of the output exchanged": partial(attention_plain, heads=(1, 0)),
            "bias of the output dropped": dropped(attention_plain, 0, "out", "bias"),
        },
        FINITE_MASK,
    ),
    Pair(
        "attention: equinox against plain, causal",
        attention_equinox,
        attention_plain,
        (ATTENTION, *arrays((5, 6))),
        {
            "mask off by one": partial(attention_equinox, offset=1),
            "no mask": partial(attention_equinox, causal=False),
            "value bias dropped": dropped(attention_plain, 0, "value", "bias"),
        },
        FINITE_MASK,
    ),
    Pair(
        "GPT-2 block: flax against plain",
        block_linen,
        gpt2_block,
        (GPT2, *arrays((5, 8))),
        {
            "ε outside the root": partial(gpt2_block, norm=partial(layer_norm, outside=True)),
            "exact gelu for tanh": partial(gpt2_block, activation=exact_gelu),
            "output matrix transposed": transposed(gpt2_block, 0, "out"),
            "second β dropped": dropped(gpt2_block, 0, "beta2"),
        },
        FINITE_MASK,
    ),
    Pair(
        "GPT-2 block: equinox against plain",
        block_equinox,
        gpt2_block,
        (GPT2, *arrays((5, 8))),
        {
            "n − 1 for n": partial(gpt2_block, norm=partial(layer_norm, ddof=1)),
            "no mask": partial(block_equinox, mix=partial(attention_equinox, causal=False)),
            "bias of the attention dropped": dropped(gpt2_block, 0, "out_bias"),
        },
        FINITE_MASK + "; a variance is not negative",
    ),
    Pair(
        "GPT-2 block: flax against equinox",
        block_linen,
        block_equinox,
        (GPT2, *arrays((5, 8))),
        {
            "mask off by one": partial(block_equinox, mix=partial(attention_equinox, offset=1)),
            "γ of the first norm dropped": with_argument(block_equinox, jnp.ones_like, 0, "gamma1"),
            "down-projection's rows moved": rolled(block_equinox, 0, 0, "down"),
        },
        FINITE_MASK + "; a variance is not negative",
    ),
    Pair(
        "GRU cell: flax against equinox",
        gru_linen,
        gru_equinox,
        (GRU, *STATE),
        {
            "reset and update exchanged": partial(gru_equinox, order="zrn"),
            "inner bias dropped": dropped(gru_equinox, 0, "hn", "bias"),
            "state matrix transposed": transposed(gru_equinox, 0, "hz", "kernel"),
        },
    ),
    Pair(
        "GRU cell: flax against plain",
        gru_linen,
        gru_plain,
        (GRU, *STATE),
        {
            "reset before the matrix": partial(gru_plain, reset_first=True),
            "update gate inverted": partial(gru_plain, keep=lambda z, n, h: z * n + (1 - z) * h),
            "half an input bias": scaled(gru_plain, 0.5, 0, "in", "bias"),
        },
    ),
    Pair(
        "LSTM cell: flax against equinox",
        lstm_linen,
        lstm_equinox,
        (LSTM, *arrays((4,), (4,), (3,))),
        {
            "gates in another order": partial(lstm_equinox, order=("i", "g", "f", "o")),
            "state and output exchanged": swapped(lstm_equinox, 1, 2),
            "bias of the forget gate dropped": dropped(lstm_equinox, 0, "hf", "bias"),
        },
    ),
    Pair(
        "LSTM cell: flax's fused cell against plain",
        partial(lstm_linen, cell="OptimizedLSTMCell"),
        lstm_plain,
        (LSTM, *arrays((4,), (4,), (3,))),
        {
            "no tanh on the way out": partial(lstm_plain, squash=lambda c: c),
            "one added to the forget gate": partial(lstm_plain, forget_bias=1.0),
            "state matrix transposed": transposed(lstm_plain, 0, "hg", "kernel"),
        },
    ),
    Pair(
        "tied embedding: flax against one-hot",
        embed_linen,
        embed_plain,
        arrays((7, 4), (4, 4)),
        {
            "ids off by one": partial(embed_plain, ids=np.roll(IDS, 1)),
            "matrix transposed": transposed(embed_plain, 1),
            "2⁻²⁰ on one entry": nudged(embed_plain, 1),
        },
    ),
)
if not AVAILABLE:
    PAIRS = ()
