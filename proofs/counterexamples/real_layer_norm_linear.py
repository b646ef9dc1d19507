"""Chapter K, LayerNorm (row real.layer-norm.linear): LayerNorm without its bias is linear.

One token of two features, γ = 1, β = 0, ε = 10⁻⁵: LN(2x) against 2 LN(x) at x = (0, 1).
"""

import numpy as np


def layer_norm(x: np.ndarray) -> np.ndarray:
    """(x − mean) / √(var + ε)."""
    centred = x - x.mean()
    return centred / np.sqrt((centred**2).mean() + 1e-5)


x = np.array([0.0, 1.0])
print(f"LN(2x): {layer_norm(2 * x).round(6).tolist()}\n2 LN(x): {(2 * layer_norm(x)).round(6).tolist()}")
if np.abs(layer_norm(2 * x) - 2 * layer_norm(x)).max() < 2.0**-20:
    raise SystemExit("no counterexample: it is linear here")
