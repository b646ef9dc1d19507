"""v1 App. B.2 (row attention.v1-concat): Concat(Ĥ_1 V_1, …, Ĥ_h V_h), where H_i V_i is meant.

One token, one head of two features: Ĥ_1 has two columns, V_1 one row.
"""

import numpy as np

N, d = 1, 2
hat, values = np.zeros((N, d)), np.zeros((N, d))
print(f"hat {hat.shape}, V_1 {values.shape}")
if hat.shape[1] == values.shape[0]:
    raise SystemExit("no counterexample: the product is defined")
