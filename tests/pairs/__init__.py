"""The table of true pairs, one file per subject, each pair with the plausible mistakes beside it.

`PAIRS` is the whole table. A test that goes through it shows, pair by pair, that two ways of writing one real
function are certified and that every mistake is refuted.
"""

from . import algebra, attention, cells, gradients, layers, libraries, rules, transformers
from .pair import Pair

PAIRS: tuple[Pair, ...] = (
    *layers.PAIRS,
    *algebra.PAIRS,
    *cells.PAIRS,
    *gradients.PAIRS,
    *rules.PAIRS,
    *attention.PAIRS,
    *transformers.PAIRS,
    *libraries.PAIRS,
)
