# pyright: reportMissingImports=false
"""Ten modules of PyTorch, their ports to plain JAX, and wrong ports of the kinds that people make.

A port is a function of the weights by PyTorch's names and of the inputs.  Every wrong port is the port with one thing
changed, which `how` names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import transformers
from jax import lax


@dataclass(frozen=True)
class Ported:
    """A module in eval mode, its inputs, its port, and the wrong ways that the port can be called with."""

    module: Callable[[], torch.nn.Module]
    inputs: tuple[Any, ...]
    port: Callable[..., Any]
    wrong: tuple[str, str, str]


def spec(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def number(x: float) -> np.float32:
    return np.float32(x)


def dense(w: dict[str, Any], name: str, x: Any, transposed: bool = True) -> Any:
    kernel = w[f"{name}.weight"]
    y = jnp.matmul(x, kernel.T if transposed else kernel, precision="highest")
    return y + jnp.broadcast_to(w[f"{name}.bias"], y.shape) if f"{name}.bias" in w else y


def normalized(w: dict[str, Any], name: str, x: Any, eps: float, ddof: int = 0) -> Any:
    mean = jnp.mean(x, -1, keepdims=True)
    y = (x - mean) / jnp.sqrt(jnp.var(x, -1, keepdims=True, ddof=ddof) + number(eps))
    row = lambda of: jnp.broadcast_to(w[f"{name}.{of}"], x.shape)
    return y * row("weight") + row("bias")


def attend(q: Any, k: Any, v: Any, scale: float | None = None, mask: Any = None) -> Any:
    """q, k, v: [heads, tokens, size]."""
    scores = jnp.einsum("hid,hjd->hij", q, k, precision="highest")
    scores = scores / jnp.sqrt(number(q.shape[-1])) if scale is None else scores * number(scale)
    if mask is not None:
        scores = jnp.where(jnp.broadcast_to(mask, scores.shape), scores, number(-np.inf))
    return jnp.einsum("hij,hjd->hid", jax.nn.softmax(scores, -1), v, precision="highest")


def in_heads(x: Any, heads: int) -> Any:
    return x.reshape(x.shape[0], heads, -1).transpose(1, 0, 2)


def from_heads(x: Any) -> Any:
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


# --- MLP ------------------------------------------------------------------------------------------------------------


def mlp(how: str, w: Any, x: Any) -> Any:
    hidden = dense(w, "0", x, transposed=how != "weight not transposed")
    hidden = jax.nn.silu(hidden) if how == "silu for relu" else jax.nn.relu(hidden)
    if how == "bias left out":
        return jnp.matmul(hidden, w["2.weight"].T, precision="highest")
    return dense(w, "2", hidden)


# --- convolutions ---------------------------------------------------------------------------------------------------


def conv(x: Any, kernel: Any, stride: int = 1, padding: int = 1) -> Any:
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), [(padding, padding)] * 2, precision=lax.Precision.HIGHEST
    )


def along_channels(v: Any, x: Any) -> Any:
    return jnp.broadcast_to(v[None, :, None, None], x.shape)


def batch_normed(w: Any, name: str, x: Any, eps: float, how: str = "") -> Any:
    mean, var, scale, shift = (
        along_channels(w[f"{name}.{of}"], x) for of in ("running_mean", "running_var", "weight", "bias")
    )
    if how == "statistics of the batch":
        axes = (0, 2, 3)
        mean, var = (along_channels(of(x, axes), x) for of in (jnp.mean, jnp.var))
    return (x - mean) / jnp.sqrt(var + number(eps)) * scale + shift


def pooled(x: Any, how: str) -> Any:
    if how == "average for maximum":
        return lax.reduce_window(x, number(0), lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / number(4)
    return lax.reduce_window(x, number(-np.inf), lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def cnn(how: str, w: Any, x: Any) -> Any:
    x = conv(x, w["0.weight"]) + along_channels(w["0.bias"], conv(x, w["0.weight"]))
    x = batch_normed(w, "1", x, 1e-3 if how == "eps" else 1e-5)
    x = pooled(jax.nn.relu(x), how)
    x = x.transpose(0, 2, 3, 1) if how == "flattened channels last" else x
    return dense(w, "5", x.reshape(x.shape[0], -1))


class ResNetBlock(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = (torch.nn.Conv2d(2, 2, 3, padding=1, bias=False) for _ in range(2))
        self.bn1, self.bn2 = torch.nn.BatchNorm2d(2), torch.nn.BatchNorm2d(2)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(x + self.bn2(self.conv2(y)))


def resnet(how: str, w: Any, x: Any) -> Any:
    y = jax.nn.relu(batch_normed(w, "bn1", conv(x, w["conv1.weight"]), 1e-5, how))
    y = batch_normed(w, "bn2", conv(y, w["conv2.weight"]), 1e-5)
    if how == "relu before the sum":
        return x + jax.nn.relu(y)
    return jax.nn.relu(y if how == "no shortcut" else x + y)


# --- recurrences ----------------------------------------------------------------------------------------------------


def gates(w: Any, x: Any, h: Any) -> tuple[Any, Any]:
    return (
        jnp.matmul(w["weight_ih_l0"], x, precision="highest") + w["bias_ih_l0"],
        jnp.matmul(w["weight_hh_l0"], h, precision="highest") + w["bias_hh_l0"],
    )


def lstm(how: str, w: Any, x: Any) -> Any:
    def step(carry, row):
        h, c = carry
        i, f, g, o = jnp.split(sum(gates(w, row, h)), 4)
        if how == "order of the gates":
            f, g = g, f
        g = jax.nn.sigmoid(g) if how == "sigmoid for tanh" else jnp.tanh(g)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * g
        h = jax.nn.sigmoid(o) * (c if how == "tanh of the cell left out" else jnp.tanh(c))
        return (h, c), h

    zero = jnp.zeros(2, jnp.float32)
    (h, c), rows = lax.scan(step, (zero, zero), x)
    return rows, h[None], c[None]


def gru(how: str, w: Any, x: Any) -> Any:
    def step(h, row):
        (ri, zi, ni), (rh, zh, nh) = (jnp.split(part, 3) for part in gates(w, row, h))
        r, z = jax.nn.sigmoid(ri + rh), jax.nn.sigmoid(zi + zh)
        if how == "order of the gates":
            r, z = z, r
        n = jnp.tanh(ni + r * nh)
        if how == "reset before the product":
            n = jnp.tanh(ni + jnp.split(gates(w, row, r * h)[1], 3)[2])
        h = z * n + (1 - z) * h if how == "update turned around" else (1 - z) * n + z * h
        return h, h

    h, rows = lax.scan(step, jnp.zeros(2, jnp.float32), x)
    return rows, h[None]


# --- attention ------------------------------------------------------------------------------------------------------


class SelfAttention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(4, 2)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


def packed_attention(how: str, w: Any, name: str, x: Any) -> Any:
    y = jnp.matmul(x, w[f"{name}.in_proj_weight"].T, precision="highest")
    y = y + jnp.broadcast_to(w[f"{name}.in_proj_bias"], y.shape)
    q, k, v = (in_heads(part, 2) for part in jnp.split(y, 3, -1))
    if how == "k and v exchanged":
        k, v = v, k
    scale = {"no 1/sqrt(d)": 1.0, "1/sqrt of the width": 0.5}.get(how)
    return dense(w, f"{name}.out_proj", from_heads(attend(q, k, v, scale)))


def multi_head(how: str, w: Any, x: Any) -> Any:
    return packed_attention(how, w, "attention", x)


def encoder_layer(how: str, w: Any, x: Any) -> Any:
    eps = 1e-6 if how == "eps" else 1e-5
    if how == "norm first":
        x = x + packed_attention(how, w, "self_attn", normalized(w, "norm1", x, eps))
        hidden = jax.nn.gelu(dense(w, "linear1", normalized(w, "norm2", x, eps)), approximate=False)
        return x + dense(w, "linear2", hidden)
    x = normalized(w, "norm1", x + packed_attention(how, w, "self_attn", x), eps)
    hidden = jax.nn.gelu(dense(w, "linear1", x), approximate=how == "gelu of tanh")
    return normalized(w, "norm2", x + dense(w, "linear2", hidden), eps)


# --- blocks of transformers -----------------------------------------------------------------------------------------


class FirstOutput(torch.nn.Module):
    """A block of the transformers library as a module of one tensor, without its batch axis."""

    def __init__(self, block: torch.nn.Module):
        super().__init__()
        self.block = block

    def forward(self, x):
        found = self.block(x[None])
        return (found[0] if isinstance(found, tuple) else found).reshape(x.shape)


def gpt2_block() -> torch.nn.Module:
    config = transformers.GPT2Config(n_embd=4, n_head=2, n_layer=1, n_positions=8, attn_implementation="eager")
    model = transformers.GPT2Model(config)

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.h = model.h

        def forward(self, x):
            n = x.shape[0]
            mask = torch.full((1, 1, n, n), torch.finfo(x.dtype).min).triu(1)
            found = self.h[0](x[None], attention_mask=mask)
            return (found[0] if isinstance(found, tuple) else found).reshape(x.shape)

    return Block()


def conv1d(w: Any, name: str, x: Any) -> Any:
    y = jnp.matmul(x, w[f"{name}.weight"], precision="highest")
    return y + jnp.broadcast_to(w[f"{name}.bias"], y.shape)


def gpt2(how: str, w: Any, x: Any) -> Any:
    y = normalized(w, "h.0.ln_1", x, 1e-5)
    q, k, v = (in_heads(part, 2) for part in jnp.split(conv1d(w, "h.0.attn.c_attn", y), 3, -1))
    mask = None if how == "no causal mask" else jnp.tril(jnp.ones((x.shape[0],) * 2, bool))
    x = x + conv1d(w, "h.0.attn.c_proj", from_heads(attend(q, k, v, 1.0 if how == "no 1/sqrt(d)" else None, mask)))
    hidden = conv1d(w, "h.0.mlp.c_fc", normalized(w, "h.0.ln_2", x, 1e-5))
    return x + conv1d(w, "h.0.mlp.c_proj", jax.nn.gelu(hidden, approximate=how != "gelu of erf"))


def bert_layer() -> torch.nn.Module:
    config = transformers.BertConfig(
        hidden_size=4, num_attention_heads=2, intermediate_size=8, num_hidden_layers=1, attn_implementation="eager"
    )
    return FirstOutput(transformers.models.bert.modeling_bert.BertLayer(config))


def bert(how: str, w: Any, x: Any) -> Any:
    eps = 1e-5 if how == "eps" else 1e-12
    own = "block.attention.self"
    q, k, v = (in_heads(dense(w, f"{own}.{name}", x), 2) for name in ("query", "key", "value"))
    mixed = dense(w, "block.attention.output.dense", from_heads(attend(q, k, v)))
    x = normalized(w, "block.attention.output.LayerNorm", x + mixed, eps, ddof=1 if how == "sample variance" else 0)
    hidden = jax.nn.gelu(dense(w, "block.intermediate.dense", x), approximate=how == "gelu of tanh")
    return normalized(w, "block.output.LayerNorm", x + dense(w, "block.output.dense", hidden), eps)


def llama_block() -> torch.nn.Module:
    config = transformers.LlamaConfig(
        hidden_size=8,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=8,
        num_hidden_layers=1,
        vocab_size=16,
        attn_implementation="eager",
    )
    model = transformers.LlamaModel(config)

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.rotary = model.layers[0], model.rotary_emb

        def forward(self, x):
            n = x.shape[0]
            mask = torch.full((1, 1, n, n), torch.finfo(x.dtype).min).triu(1)
            angles = self.rotary(x[None], torch.arange(n)[None])
            found = self.layer(x[None], attention_mask=mask, position_embeddings=angles)
            return (found[0] if isinstance(found, tuple) else found).reshape(x.shape)

    return Block()


def rms(w: Any, name: str, x: Any) -> Any:
    y = x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + number(1e-6))
    return y * jnp.broadcast_to(w[f"{name}.weight"], x.shape)


def rotated(x: Any, how: str) -> Any:
    """x: [heads, tokens, size]."""
    size = x.shape[-1]
    frequencies = number(10000.0) ** (-jnp.arange(0, size, 2, dtype=jnp.float32) / number(size))
    angles = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * frequencies[None]
    cos, sin = (jnp.broadcast_to(of(angles)[None], (*x.shape[:2], size // 2)) for of in (jnp.cos, jnp.sin))
    if how == "interleaved rotation":
        a, b = x[..., ::2], x[..., 1::2]
        return jnp.stack([a * cos - b * sin, b * cos + a * sin], -1).reshape(x.shape)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def llama(how: str, w: Any, x: Any) -> Any:
    y = rms(w, "layer.input_layernorm", x)
    q, k, v = (
        in_heads(dense(w, f"layer.self_attn.{name}_proj", y), heads) for name, heads in (("q", 2), ("k", 1), ("v", 1))
    )
    q, k = rotated(q, how), k if how == "keys not rotated" else rotated(k, how)
    k, v = (jnp.repeat(of, 2, 0) for of in (k, v))
    mixed = from_heads(attend(q, k, v, mask=jnp.tril(jnp.ones((x.shape[0],) * 2, bool))))
    x = x + dense(w, "layer.self_attn.o_proj", mixed)
    y = rms(w, "layer.post_attention_layernorm", x)
    gate, up = (dense(w, f"layer.mlp.{name}_proj", y) for name in ("gate", "up"))
    if how == "gate and up exchanged":
        gate, up = up, gate
    return x + dense(w, "layer.mlp.down_proj", jax.nn.silu(gate) * up)


PORTS: dict[str, Ported] = {
    "MLP": Ported(
        lambda: torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)),
        (spec(2, 3),),
        mlp,
        ("weight not transposed", "silu for relu", "bias left out"),
    ),
    "CNN with BatchNorm": Ported(
        lambda: torch.nn.Sequential(
            torch.nn.Conv2d(2, 3, 3, padding=1),
            torch.nn.BatchNorm2d(3),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(12, 2),
        ),
        (spec(1, 2, 4, 4),),
        cnn,
        ("eps", "average for maximum", "flattened channels last"),
    ),
    "ResNet block": Ported(
        ResNetBlock, (spec(1, 2, 4, 4),), resnet, ("statistics of the batch", "relu before the sum", "no shortcut")
    ),
    "LSTM": Ported(
        lambda: torch.nn.LSTM(3, 2),
        (spec(3, 3),),
        lstm,
        ("order of the gates", "sigmoid for tanh", "tanh of the cell left out"),
    ),
    "GRU": Ported(
        lambda: torch.nn.GRU(3, 2),
        (spec(3, 3),),
        gru,
        ("order of the gates", "reset before the product", "update turned around"),
    ),
    "MultiheadAttention": Ported(
        SelfAttention, (spec(3, 4),), multi_head, ("no 1/sqrt(d)", "1/sqrt of the width", "k and v exchanged")
    ),
    "TransformerEncoderLayer": Ported(
        lambda: torch.nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"),
        (spec(3, 4),),
        encoder_layer,
        ("gelu of tanh", "norm first", "eps"),
    ),
    "GPT-2 block": Ported(gpt2_block, (spec(3, 4),), gpt2, ("gelu of erf", "no causal mask", "no 1/sqrt(d)")),
    "BERT layer": Ported(bert_layer, (spec(3, 4),), bert, ("eps", "sample variance", "gelu of tanh")),
    "Llama block": Ported(
        llama_block, (spec(3, 8),), llama, ("interleaved rotation", "keys not rotated", "gate and up exchanged")
    ),
}
