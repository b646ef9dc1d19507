"""Chapter H: low-rank adapters.

adapters.py     Eq. 17
tuned.py        networks with adapters, and the readings of Eq. 18
padding.py      from one depth to all larger ones
closed_form.py  the rows on Eq. 18
attention.py    adapters on attention
ranks.py        what stays of low rank
"""
