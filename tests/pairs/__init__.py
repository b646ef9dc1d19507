"""The table of true pairs, one file per subject, each pair with the plausible mistakes beside it.

`PAIRS` is the whole table. A test that goes through it shows, pair by pair, that two ways of writing one real
function are certified and that every mistake is refuted.
"""

from . import algebra, attention, cells, gradients, laws, layers, modules, transformers
from .pair import Pair

PAIRS: tuple[Pair, ...] = (
    *layers.PAIRS,
    *algebra.PAIRS,
    *cells.PAIRS,
    *gradients.PAIRS,
    *laws.PAIRS,
    *attention.PAIRS,
    *transformers.PAIRS,
    *modules.PAIRS,
)
