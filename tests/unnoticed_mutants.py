"""Mutants of the claim modules that nobody notices, and why: what they change states nothing.

By file and function; an empty function is the module itself.  A mutant that is not listed here is one too many.
"""

from collections.abc import Mapping
from typing import Any

ARRAYS = "arrays that a derived number is counted on: others have the same pattern of zeros, or the same count"
DRAWN = "numbers that are drawn: a rank, a rounding or a sign is shown by others as well"
FLOATS = "evidence in floats, which is not taken where rows are decided symbolically"
COUNTED_ONLY = (
    "what is computed, not how often: that every order of evaluation computes the network is "
    "test_complexity.test_all_orders_of_evaluation_compute_the_network"
)
WRITTEN_OUT = "how many terms of a sum a second opinion writes out"
SHAPES_KEPT = "`keepdims` or an axis of an array of one row: the same numbers in another shape"
TESTS_ONLY = "an argument that only tests give, to put something wrong in the place of what is proved"

UNNOTICED: dict[tuple[str, str], str] = {
    ("attention/context.py", "_layer"): ARRAYS,
    ("attention/convolution.py", "tokens_seen"): ARRAYS,
    ("attention/density.py", "_patterns"): ARRAYS,
    ("attention/density.py", "_weights"): ARRAYS,
    ("attention/density.py", "_wide"): ARRAYS,
    ("attention/density.py", "_linear"): ARRAYS,
    ("attention/density.py", "_one_head"): ARRAYS,
    ("attention/density.py", "measured"): ARRAYS,
    (
        "attention/density.py",
        "_nonzero_suffices",
    ): "the patterns H_i = 1 of one token: an axis more or less is the same array",
    ("attention/density.py", "rearranged_entries"): TESTS_ONLY,
    ("attention/density.py", "only_if_all"): TESTS_ONLY,
    ("attention/matrix.py", "_mha"): FLOATS,
    ("attention/matrix.py", "_own_pattern"): SHAPES_KEPT,
    ("attention/matrix.py", "_mha_in_floats"): FLOATS,
    ("attention/matrix.py", "matrix"): FLOATS,
    ("attention/matrix.py", "plain"): FLOATS,
    ("complexity/evaluation.py", "_attention_chain"): ARRAYS,
    ("complexity/evaluators.py", "hatted"): COUNTED_ONLY,
    ("complexity/evaluators.py", "_argument"): COUNTED_ONLY,
    ("complexity/evaluators.py", "_sum"): COUNTED_ONLY,
    ("complexity/evaluators.py", "two_streams"): COUNTED_ONLY,
    ("complexity/paths.py", "path"): "`strict` of a zip of equal lengths",
    ("complexity/paths.py", "kronecker_matrix"): DRAWN,
    ("complexity/paths.py", "_rows"): DRAWN,
    ("complexity/paths.py", ""): DRAWN,
    ("foundations/approximation.py", "monotone_term"): "`strict` of a zip of equal lengths",
    ("foundations/expressive_power.py", "switch"): TESTS_ONLY,
    ("foundations/uat_sums.py", "<lambda>"): WRITTEN_OUT,
    ("layers/closed_form.py", "evidence"): FLOATS,
    ("layers/closed_form.py", ""): FLOATS,
    ("layers/dynamic_parameters.py", "_layer_norm"): SHAPES_KEPT,
    ("layers/dynamic_parameters.py", "_passed_on"): SHAPES_KEPT,
    ("layers/serial.py", "one_by_one"): "`strict` of a zip of equal lengths",
    ("layers/serial.py", ""): "the width at which a scan is certified",
}
"""(file, function) → the reason."""


def reason(record: Mapping[str, Any]) -> str:
    """Why nobody notices the mutant of a record of the campaign; empty if that is not known."""
    return UNNOTICED.get((record["file"], record["scope"][0]), "")
