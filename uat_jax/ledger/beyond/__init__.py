"""Beyond the papers: theorems about the closed form that no paper states, each with its hypotheses and a proof script.

separation.py       a: a network of L layers, and fixed relu sums, which need 2^L − 1 terms
wrong_readings.py   b: readings of the printed updates that are wrong, for every L
uniqueness.py       c: the coefficients of distinct σ-letters, over all σ
jacobian.py         d: ∂x_L/∂x_0 as a product, and as a sum over 2^L paths
recurrent.py        e: recurrent networks, time being depth
changes.py          f: several layers changed at once, by LoRA or by removal
constants.py        f: Lipschitz constants of activations, softmax and attention
rank_collapse.py    g: tokens of attention without skips merge
parallel_blocks.py  h: parallel against sequential blocks
two_functions.py    DUAT's Fig. 2: one sum fitted to two functions
carried_sum.py      Σ_k A_i ⋯ A_{k+1} c_k, for e and f
row.py              what all these rows have in common
chapters.py         the chapters, with their scripts
"""
