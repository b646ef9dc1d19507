"""Chapter H: low-rank adapters.

adapters.py     Eq. 17
closed_form.py  Eq. 18 under its readings
attention.py    adapters on attention
ranks.py        what stays of low rank
"""
