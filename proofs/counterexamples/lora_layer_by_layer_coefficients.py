r"""Refuted: the delta of W'_{j,3} is ΔW_{j,3} (lora.layer-by-layer.coefficients).

Printed in DUAT §4.4; v2 §4.4; v1 §4.4:

\text{LoRA essentially fine-tunes the DUAT parameters layer by layer}

Read as: the parameters are those of the closed form, and term j changes by ΔW of layer j itself.

Right is lora.coefficient-delta. The smallest numbers that show it; σ is relu.
"""

import numpy as np

ΔC_1 = np.array([[1]])
x = np.array([[1]])
A_2 = C_1 = np.zeros((1, 1), int)

# network
left_side = A_2 @ (C_1 + ΔC_1) @ x
left = left_side

# printed
right_side = (A_2 @ C_1 + ΔC_1) @ x
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
