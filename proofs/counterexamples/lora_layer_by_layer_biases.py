r"""Refuted: the adapters of layer j leave the later biases b'_{k,2} alone (lora.layer-by-layer.biases).

Printed in DUAT §4.4; v2 §4.4; v1 §4.4:

\text{LoRA essentially fine-tunes the DUAT parameters layer by layer}

Read as: the parameters are those of the closed form, and only those of term j change with layer j.

Right is lora.original. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

b_1 = np.array([[1]])
ΔC_1 = np.array([[1]])
B_2 = np.array([[1]])
B_1 = ΔB_1 = x_0 = A_1 = c_1 = C_1 = b_2 = np.zeros((1, 1), int)

# network
W_hat_1_2 = B_1 + ΔB_1
b_hat_1_2 = b_1
s_1 = relu(W_hat_1_2 @ x_0 + b_hat_1_2)
W_hat_1_1 = A_1
b_hat_1_3 = c_1
W_hat_1_3_at_1 = C_1 + ΔC_1
W_hat_2_2 = B_2 @ W_hat_1_1
b_hat_2_2 = B_2 @ b_hat_1_3 + b_2 + B_2 @ W_hat_1_3_at_1 @ s_1
left = b_hat_2_2

# printed
W_hat_1_2 = B_1
b_hat_1_2 = b_1
s_1 = relu(W_hat_1_2 @ x_0 + b_hat_1_2)
W_hat_1_1 = A_1
b_hat_1_3 = c_1
W_hat_1_3_at_1 = C_1
W_hat_2_2 = B_2 @ W_hat_1_1
b_hat_2_2 = B_2 @ b_hat_1_3 + b_2 + B_2 @ W_hat_1_3_at_1 @ s_1
right = b_hat_2_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
