"""The ledger of claims: one file per chapter.

claim.py            what a claim is
ledger.py           all of them: `claims`, `find`, `prove`, `recheck`
closed_form.py      Theorem 1, on random networks, trained ones and the user's own
attention.py        Theorem 3 and Eq. 6
two_layers.py       Lemmas 1 and 2, Eq. 22 and 23
induction_steps.py  Eq. 26, 27, 30–32
update_lists.py     Theorem 2 and the readings of the printed list of updates
nested_bias.py      the readings of Eq. 12/34
kernels.py          Theorem 1 as two JAX functions
"""
