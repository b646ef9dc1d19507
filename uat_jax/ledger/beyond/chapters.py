"""The chapters beyond the papers, and the scripts in proofs/ that argue them."""

from uat_jax.ledger.beyond import (
    changes,
    jacobian,
    parallel_blocks,
    rank_collapse,
    recurrent,
    separation,
    two_functions,
    uniqueness,
    wrong_readings,
)
from uat_jax.ledger.chapter import Chapter

CHAPTERS = (
    Chapter("UAT and DUAT in Fig. 2", "one_sum_between_two_functions.py", two_functions.CLAIMS),
    Chapter("Beyond the papers: depth separates", "depth_separates.py", separation.CLAIMS),
    Chapter("Beyond the papers: wrong at every depth", "wrong_at_every_depth.py", wrong_readings.CLAIMS),
    Chapter("Beyond the papers: uniqueness", "uniqueness.py", uniqueness.CLAIMS),
    Chapter("Beyond the papers: the Jacobian", "jacobian.py", jacobian.CLAIMS),
    Chapter("Beyond the papers: recurrent networks", "recurrent_networks.py", recurrent.CLAIMS),
    Chapter("Beyond the papers: several layers changed", "several_layers_changed.py", changes.CLAIMS),
    Chapter("Beyond the papers: tokens merge", "tokens_merge.py", rank_collapse.CLAIMS),
    Chapter("Beyond the papers: parallel blocks", "parallel_blocks.py", parallel_blocks.CLAIMS),
)
