"""Mutants of the claim modules that nobody notices, and why: what they change states nothing.

A mutant that is not listed here is one too many, and so is an entry that is about no mutant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unnoticed:
    """One change of a function, or all changes of a kind in it, and why nobody notices."""

    function: str
    """Empty: the module itself."""
    change: str
    """`before → after`, or a kind such as `constant`; empty: every change."""
    reason: str
    line: str = ""
    """A piece of the line it stands in, where the function has the same change elsewhere."""

    def is_about(self, record: Mapping[str, Any]) -> bool:
        """Whether a record of the campaign is one of these."""
        changes = ("", record["kind"], f"{record['before']} → {record['after']}")
        return self.function == record["scope"][0] and self.change in changes and self.line in record["source"]


ARRAYS = "arrays that a derived number is counted on: others have the same pattern of zeros, or the same count"
DRAWN = "numbers that are drawn: a rank, a rounding or a sign is shown by others as well"
FLOATS = "evidence in floats, which is not taken where rows are decided symbolically"
COUNTED_ONLY = (
    "what is computed, not how often: that every order of evaluation computes the network is "
    "test_complexity.test_all_orders_of_evaluation_compute_the_network"
)
ANY_TOKENS = "how many tokens there are: the chain of softmaxes is as long for any number of them"
SHAPES_KEPT = "`keepdims` or an axis of an array of one row: the same numbers in another shape"
TESTS_ONLY = "an argument that only tests give, to put something wrong in the place of what is proved"

UNNOTICED: dict[str, tuple[Unnoticed, ...]] = {
    "attention/context.py": (Unnoticed("_layer", "", ARRAYS),),
    "attention/density.py": (
        Unnoticed("_patterns", "", ARRAYS),
        Unnoticed("_wide", "", ARRAYS),
        Unnoticed("_linear", "", ARRAYS),
        Unnoticed("_one_head", "", ARRAYS),
        Unnoticed("measured", "", ARRAYS),
        Unnoticed("_nonzero_suffices", "", "the patterns H_i = 1 of one token: an axis more or less is the same array"),
        Unnoticed("rearranged_entries", "", TESTS_ONLY),
        Unnoticed("only_if_all", "", TESTS_ONLY),
    ),
    "attention/matrix.py": (
        Unnoticed("_mha", "", FLOATS),
        Unnoticed("_own_pattern", "", SHAPES_KEPT),
        Unnoticed("_mha_in_floats", "", FLOATS),
        Unnoticed("matrix", "", FLOATS),
        Unnoticed("plain", "", FLOATS),
    ),
    "beyond/separation.py": (
        Unnoticed("breaks", "2 → 3", "a finer grid has the same breaks", "depth + 2"),
        Unnoticed("breaks", "2 → 1", "a grid twice as fine as the pieces has the same breaks", "depth + 2"),
        Unnoticed("breaks", "1 → 2", "a point behind the last, at which no bend is asked for", "range(steps + 1)"),
    ),
    "complexity/evaluation.py": (
        Unnoticed("_attention_chain", "2 → 3", ANY_TOKENS, '_array(2, 2)), "exp"'),
        Unnoticed("_attention_chain", "2 → 1", ANY_TOKENS, '_array(2, 2)), "exp"'),
    ),
    "complexity/evaluators.py": (
        Unnoticed("hatted", "", COUNTED_ONLY),
        Unnoticed("_argument", "", COUNTED_ONLY),
        Unnoticed("_sum", "", COUNTED_ONLY),
        Unnoticed("two_streams", "", COUNTED_ONLY),
    ),
    "complexity/paths.py": (
        Unnoticed("path", "", "`strict` of a zip of equal lengths"),
        Unnoticed("kronecker_matrix", "", DRAWN),
        Unnoticed("_rows", "", DRAWN),
        Unnoticed("", "", DRAWN),
    ),
    "foundations/approximation.py": (Unnoticed("monotone_term", "", "`strict` of a zip of equal lengths"),),
    "foundations/uat_sums.py": (
        Unnoticed("<lambda>", "b * odd(jnp.ones_like(b)) → b", "σ(1) − σ(−1) = 1, which odd_part proves: one function"),
    ),
    "layers/closed_form.py": (
        Unnoticed("evidence", "", FLOATS),
        Unnoticed("", "", FLOATS),
    ),
    "layers/dynamic_parameters.py": (
        Unnoticed("_layer_norm", "", SHAPES_KEPT),
        Unnoticed("_passed_on", "", SHAPES_KEPT),
    ),
    "layers/dependence.py": (
        Unnoticed(
            "_needed",
            "letter in lines and letter not in used → letter in lines",
            "a letter that is met again is looked at again, and adds nothing",
        ),
        Unnoticed("_table_claim", "1 → 2", "how the reading, which is prose, numbers the layers", "written = "),
    ),
    "layers/kernels.py": (
        Unnoticed("_zigzag", "depth - j // 2 → depth + j // 2", "j // 2 is 0 for the only odd j of two layers"),
        Unnoticed(
            "_zigzag", "2 → 3", "for the two layers that are looked at the widths are the same, 0, 2 and 1", "j // 2"
        ),
    ),
}
"""The file → what nobody notices in it."""


def reason(record: Mapping[str, Any]) -> str:
    """Why nobody notices the mutant of a record of the campaign; empty if that is not known."""
    return next((entry.reason for entry in UNNOTICED.get(record["file"], ()) if entry.is_about(record)), "")
