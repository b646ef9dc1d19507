"""Makes tests/model_fixtures/heads.npz: direct contributions by head, from hooks in Hugging Face `transformers`.

    venv/bin/python tests/make_head_fixtures.py

in the environment of make_model_fixtures.py, whose models it reads. No test runs it: the file is committed. For each
family and each of its two texts, in float64, ``<family>`` holds what the parts of the network add to the logit of
the most probable word at the last token, (2, 1 + L h + L): the embeddings, every head of every layer, every
feed-forward network with its bias; ``<family>_bias`` what the biases b_O of the attentions and β of the final norm add,
(2,); and ``<family>_logit`` the logit itself, (2,).

A hook in front of the attention's last projection sees all heads side by side; the slice of a head times its rows of
W_O is what the head writes. A hook of the final norm gives the scale that is frozen.
"""

# pyright: reportMissingImports=false
# It runs where torch and transformers are, which no test needs.

import sys

import numpy as np
import torch
from make_model_fixtures import HERE, Wide, from_fixture

# Family: (blocks, last projection of the attention, its W_O as in × out, feed-forward, final norm, embeddings).
PARTS = {
    "gpt2": (
        lambda m: m.transformer.h,
        lambda block: block.attn.c_proj,
        lambda linear: linear.weight,
        lambda block: block.mlp,
        lambda m: m.transformer.ln_f,
        lambda m, t: m.transformer.wte(t) + m.transformer.wpe(torch.arange(t.shape[1]))[None],
    ),
    "llama": (
        lambda m: m.model.layers,
        lambda block: block.self_attn.o_proj,
        lambda linear: linear.weight.T,
        lambda block: block.mlp,
        lambda m: m.model.norm,
        lambda m, t: m.model.embed_tokens(t),
    ),
}


def main():
    saved = {}
    for family in PARTS:
        found = [of_text(family, tokens) for tokens in np.load(HERE / family / "expected.npz")["tokens"]]
        saved |= {family + name: np.stack([text[name] for text in found]) for name in found[0]}
        wanted = np.load(HERE / family / "expected.npz")["output"][:, -1].max(-1)
        off = np.abs(saved[family + "_logit"] - wanted).max()
        added = saved[family].sum(-1) + saved[family + "_bias"] - wanted
        print(f"{family}: logits {off:.2g} from expected.npz, their parts {np.abs(added).max():.2g}")
    np.savez_compressed(HERE / "heads.npz", **saved)


def of_text(family, tokens):
    blocks, projection, w_o, feed_forward, final, embed = PARTS[family]
    module = sys.modules[type(from_fixture(family)).__module__]
    setattr(module, "torch", Wide())  # noqa: B010
    narrow, torch.Tensor.float = torch.Tensor.float, torch.Tensor.double
    model = from_fixture(family).double().eval()
    seen = {}
    keep = lambda name: lambda module, given, result=None: seen.update({name: given[0] if result is None else result})
    for j, block in enumerate(blocks(model)):
        projection(block).register_forward_pre_hook(keep(("heads", j)))
        feed_forward(block).register_forward_hook(keep(("feed-forward", j)))
    final(model).register_forward_pre_hook(keep("state"))
    text = torch.from_numpy(tokens)[None].long()
    with torch.no_grad():
        logits = model(text).logits[0, -1]
        embedded = embed(model, text)
    torch.Tensor.float = narrow
    setattr(module, "torch", torch)  # noqa: B010
    word, norm, state = int(logits.argmax()), final(model), seen["state"][0, -1]
    centred = hasattr(norm, "bias")
    epsilon = norm.eps if centred else norm.variance_epsilon
    deviation = state - state.mean() if centred else state
    scale = 1 / (deviation.square().mean() + epsilon).sqrt()

    def to_logit(x):
        x = x - x.mean() if centred else x
        return float((norm.weight * x * scale) @ model.lm_head.weight[word])

    parts, bias = [to_logit(embedded[0, -1])], float(norm.bias @ model.lm_head.weight[word]) if centred else 0.0
    h = model.config.num_attention_heads
    for j, block in enumerate(blocks(model)):
        heads = seen["heads", j][0, -1].reshape(h, -1)
        rows = w_o(projection(block)).reshape(h, heads.shape[1], -1)
        parts += [to_logit(heads[i] @ rows[i]) for i in range(h)] + [to_logit(seen["feed-forward", j][0, -1])]
        if projection(block).bias is not None:
            bias += to_logit(projection(block).bias)
    return {"": np.array(parts), "_bias": np.array(bias), "_logit": np.array(float(logits[word]))}


if __name__ == "__main__":
    with torch.no_grad():
        main()
