"""v1 App. B.2 (row attention.v1-hat): Ĥ_i [x_i W_Vi], where H_i [x_i W_Vi] is meant.

One token, one head of two features: Ĥ_i has two columns, x_i W_Vi one row.
"""

import numpy as np

N, d = 1, 2
hat, values = np.zeros((N, d)), np.zeros((N, d)) @ np.zeros((d, d))
print(f"hat {hat.shape}, x_i W_Vi {values.shape}")
if hat.shape[1] == values.shape[0]:
    raise SystemExit("no counterexample: the product is defined")
