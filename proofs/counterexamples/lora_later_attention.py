"""DUAT §4.4, Eq. 18 (row lora.later-attention): LoRA on the feed-forward part leaves W'_{i+1,1} as it is.

In a Transformer W_{2,1} is attention at x_1, and x_1 moves with the delta of layer 1.  Two
tokens (1, 0) of one feature, one head, all weights 1 but W_2 = 0; ΔW_2 = 1 doubles x_1.
"""

import math


def pattern(tokens: list[float]) -> list[list[float]]:
    """softmax(x_n x_m), row by row."""
    rows = [[math.exp(n * m) for m in tokens] for n in tokens]
    return [[entry / sum(row) for entry in row] for row in rows]


def mix(tokens: list[float]) -> list[float]:
    """H(x) x."""
    return [sum(h * x for h, x in zip(row, tokens, strict=True)) for row in pattern(tokens)]


after_attention = mix([1.0, 0.0])
before = pattern(after_attention)  # W_2 = 0: x_1 = y_1
tuned = pattern([y + max(y, 0.0) for y in after_attention])  # ΔW_2 = 1: x_1 = y_1 + relu(y_1)
print(f"H of layer 2: not tuned {before[0][0]:.12f}, tuned {tuned[0][0]:.12f}")
if abs(tuned[0][0] - before[0][0]) < 2**-40:
    raise SystemExit("not refuted: the values are equal")
