"""Chapter G, F2 and F3: networks of many layers.

closed_form.py         Theorem 1, on random networks, trained ones and the user's own
kernels.py             Theorem 1 as two JAX functions
two_layers.py          Lemmas 1 and 2, Eq. 20–23
lemma_1.py             Lemma 1 with diagonal coefficients
fixed_sums.py          whether a network is one UAT sum with fixed parameters
induction_steps.py     Eq. 26–32
remainder.py           the recursion of UAT^R
serial.py              what must be computed one after the other
update_lists.py        Theorem 2 and the readings of the printed list of updates
figure_2.py            the boxes of Fig. 2
nested_bias.py         the readings of Eq. 12/34
dependence.py          which parameters depend on the input
dynamic_parameters.py  what the papers say of that
"""
