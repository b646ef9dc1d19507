"""All papers §4.2 (row context.decoder-subsequent): every output of a decoder depends on every token.

Two tokens of one feature, a causal mask, every weight 1: the first output is the first token, whatever follows.
"""

import numpy as np


def causal_attention(x: np.ndarray) -> np.ndarray:
    """Σ_{m ≤ n} softmax(x_n x_m) x_m for each n."""
    weights = np.tril(np.exp(np.outer(x, x)))
    return weights / weights.sum(axis=1, keepdims=True) @ x


outputs = {last: causal_attention(np.array([1.0, last])) for last in (0.0, 1.0, -5.0)}
for last, output in outputs.items():
    print(f"x = (1, {last:g}): output {output.round(6).tolist()}")
first, second = (np.array([output[n] for output in outputs.values()]) for n in (0, 1))
if np.ptp(first) > 0 or np.ptp(second) == 0:
    raise SystemExit("no counterexample: the first output changes with the second token")
