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


SCAN_ONLY_COUNTED = (
    "a row counts the levels of the scan; that it computes the products is "
    "test_complexity.test_the_scan_computes_all_products"
)
ANY_TOKENS = "how many tokens there are: the chain of softmaxes is as long for any number of them"

UNNOTICED: dict[str, tuple[Unnoticed, ...]] = {
    "attention/context.py": (
        Unnoticed("_one_head", "-1 → 1", "the last axis of a matrix is axis 1"),
        Unnoticed("_layer", "count * width → width", "how wide the output is: as many derivatives are 0"),
        Unnoticed("scores", "x.T → x", "the counterexample stands at x = I, where xᵀ is x"),
        Unnoticed("_layer", "count * width → count + width", "how wide the output is: as many derivatives are 0"),
        Unnoticed("_layer", "1 → 2", "the sizes of a feed-forward part that the derivatives of attention do not see"),
    ),
    "attention/convolution.py": (
        Unnoticed("<lambda>", "0 → 1", "the matrix is square", line="number = "),
        Unnoticed("measured", "N → M", "how many tokens come out: one of them is looked at", line="features_matrix"),
    ),
    "attention/density.py": (
        Unnoticed(
            "rearranged_entries",
            "dropped term",
            "no row asks of another move; test_context.py does",
            line="move = move or",
        ),
        Unnoticed("rearranged_sum", "2 → 1", "one head: the identity holds for any number of them"),
        Unnoticed("", "transpose", "a square matrix without zeros, transposed or not", line="ONE_HEAD ="),
        Unnoticed("<lambda>", "0 → 1", "these letters are square", line="size = lambda"),
        Unnoticed("<lambda>", "transpose", "a square matrix without zeros, transposed or not", line='m.Letter("U"'),
        Unnoticed("_number", "1 → 2", "for a symbolic number of heads the letters a and b have no index", "else h *"),
        Unnoticed("_nonzero_suffices", "V @ O → O @ V", "a row of zeros, or a column of as many"),
        Unnoticed("_nonzero_suffices", "0 → 1", "the zeros in another column: as many", line="O[:3, 0]"),
        Unnoticed("rearranged_sum", "2 → 3", "three heads: the identity holds for any number of them"),
        Unnoticed("rearrangement_of_one_head", "3 → 4", "another width of Y: every width is rearranged alike"),
    ),
    "attention/matrix.py": (
        Unnoticed("_pattern", "-1 → 1", "the last axis of a matrix is axis 1"),
        Unnoticed("other_slice_hidden", "dropped term", "what test_context.py asks the other way round"),
        Unnoticed("other_slice_hidden", "2 → 3", "three heads: the third slice is hidden as well", line="Heads(2)"),
        Unnoticed("other_slice_hidden", "2 → 3", "what test_context.py asks the other way round", line="piece(2)"),
    ),
    "beyond/jacobian.py": (
        Unnoticed(
            "said", "at is None and all(found) → all(found)", "a guard: what is proved is asked for without sizes"
        ),
    ),
    "beyond/rank_collapse.py": (Unnoticed("_patterns", "-1 → 1", "the last axis of a matrix is axis 1"),),
    "beyond/recurrent.py": (
        Unnoticed("closed_mamba", "1 → 2", "one more sum of no terms, which nothing reads", line="later = "),
        Unnoticed("_outer_step", "(None, :) → (None,)", "NumPy reads k[None] as k[None, :]"),
        Unnoticed("", "constant", "how many steps an example has: every number of them is proved", line="attention"),
        Unnoticed("", "constant", "how many steps an example has: every number of them is proved", line="state space"),
    ),
    "beyond/row.py": (
        Unnoticed("row", "True → False", "the mark that the statement is ours, with which nothing is decided"),
        Unnoticed(
            "steps",
            "found.method is not Method.BALLS → found.method is Method.BALLS",
            "no step of a true row fails; test_beyond.py looks at steps that do",
        ),
    ),
    "beyond/wrong_readings.py": (
        Unnoticed("apart", "1 → 2", "one depth more is looked at", line="DEEPEST + 1"),
        Unnoticed("apart", "DEEPEST + 1 → DEEPEST", "one depth less is looked at; the induction is for every depth"),
        Unnoticed(
            "apart",
            "left != right and (not others) → not others",
            "every wrong reading parts from the network; test_beyond.py asks it of the right one",
        ),
        Unnoticed("left_alone", "1 → 2", "test_beyond.py asks it of rules that are not late", line="j = INDEX"),
        Unnoticed("left_alone", "1 → 2", "what is later than W_{2,1} is later than W_{1,1}", line="needed = W1(1)"),
        Unnoticed("<lambda>", "", "test_beyond.py asks it of rules that are not late", line="same_kind ="),
        Unnoticed("<lambda>", "", "test_beyond.py asks it of rules that are not late", line="target.subscripts[0]"),
        Unnoticed(
            "grows", "1 → 2", "L = 1 is left out, and is not needed: no reading begins there", "range(1, DEEPEST)"
        ),
    ),
    "beyond/separation.py": (
        Unnoticed("breaks", "2 → 3", "a finer grid has the same breaks", "depth + 2"),
        Unnoticed("breaks", "depth + 2 → depth", "the breaks lie on the grid of the pieces itself", line="steps = "),
        Unnoticed("breaks", "2 → 1", "a grid twice as fine as the pieces has the same breaks", "depth + 2"),
        Unnoticed("breaks", "1 → 2", "a point behind the last, at which no bend is asked for", "range(steps + 1)"),
    ),
    "complexity/evaluation.py": (
        Unnoticed(
            "_of_two_streams",
            "p(L) + u(L) → p(L) - u(L)",
            "as many σ and products whatever is done with the streams in the end; that their sum is the network is the "
            "row complexity.two-streams.identity",
        ),
        Unnoticed(
            "_row", "(ELEMENTWISE, _HATTED) → (ELEMENTWISE,)", "what is presumed is written, and decides nothing"
        ),
        Unnoticed("_attention_chain", "2 → 3", ANY_TOKENS, '_array(2, 2)), "exp"'),
        Unnoticed("_attention_chain", "2 → 1", ANY_TOKENS, '_array(2, 2)), "exp"'),
        Unnoticed("_of_streams", "i → j", "the name of an index: as many σ and products"),
        Unnoticed(
            "<lambda>",
            "vectors(shape) + matrices(shape) → vectors(shape)",
            "the other part of the row finds that there is no product of two matrices",
        ),
    ),
    "complexity/evaluators.py": (
        Unnoticed("prefix_products", "cases", SCAN_ONLY_COUNTED),
        Unnoticed("prefix_products", "n - apart → apart", SCAN_ONLY_COUNTED),
    ),
    "complexity/paths.py": (
        Unnoticed("_rows", "16 → 15", "the largest number drawn: others reach the ranks as well"),
        Unnoticed("", "64 → 63", "the number that rows add up to: with others the ranks are reached as well", "SUM ="),
        Unnoticed("_rows", "1 → 2", "the least number drawn: others reach the ranks as well", line="integers"),
    ),
    "foundations/elementary.py": (
        Unnoticed("_same", "dropped term", "a cheap look before those that find the same"),
        Unnoticed("", "1 → 2", "no row has 1/4 as its least error", line="ERRORS ="),
        Unnoticed(
            "__call__",
            "step",
            "no row promises a larger error than is needed; test_rows_can_fail.py asks it of one",
            line="more than is needed",
        ),
        Unnoticed(
            "equations",
            "wrong is not None or not pairs → not pairs",
            "no equation of a row fails; test_foundations.py asks it of equations that do",
        ),
    ),
    "foundations/transformer_density.py": (
        Unnoticed("_zero", "0 - s → 0 + s", "|0 + s| is |s|"),
        Unnoticed("_zero", "0 - s → s", "|0 − s| is |s|"),
    ),
    "foundations/uat_sums.py": (
        Unnoticed("odd_part", "slope * positive → positive", "the slope is 1; test_foundations.py asks it of others"),
        Unnoticed("_affine_absorbed", "2 → 1", "sizes of an example in floats", line="shapes = "),
        Unnoticed("<lambda>", "b * odd(jnp.ones_like(b)) → b", "σ(1) − σ(−1) = 1, which odd_part proves: one function"),
    ),
    "foundations/vector_output.py": (
        Unnoticed(
            "_longer_diagonal_sum", "[theta[i, c]] * 3 → [theta[i, c]]", "one bias is broadcast to three columns"
        ),
        Unnoticed(
            "_with_diagonals",
            "(:, :, None) → (:, None)",
            "the rows of I are multiplied, or its columns: one matrix",
        ),
        Unnoticed("_scalar_sums", "1 → 2", "JAX takes the last of two terms for one behind it", line="term(1, k)"),
    ),
    "layers/closed_form.py": (
        Unnoticed("_digits", "1 → 2", "the network's own dtype is among those asked for", line="dtypes = "),
        Unnoticed("_predictions", "0 → 1", "every input has that shape", line="shape = "),
        Unnoticed("check_own_network", "", "no row asks it: a check of what a user gives, which test_cli.py tests"),
        Unnoticed("", "2 → 3", "on how many held-out images the exact value is computed: the more the better"),
        Unnoticed(
            "_symbolic",
            "True → False",
            "it holds for fixed parameters as well; for dynamic ones the induction decides it at every depth",
            line="same = derivation.holds",
        ),
        Unnoticed(
            "_digits",
            "dropped term",
            "which dtype is taken where others than the network's own are asked for: rows ask for that one",
            line="or settings.dtypes[:1]",
        ),
    ),
    "layers/dependence.py": (
        Unnoticed("_whole_numbers", "rows * columns → rows", "it is asked of columns alone"),
        Unnoticed(
            "parameters", "1 → 2", "the features of a layer are the same for any number of heads", line="attention = "
        ),
        Unnoticed(
            "_table_claim", "dropped term", "what is presumed is written, and decides nothing", line="conditions = "
        ),
        Unnoticed("_table_claim", "cases", "a word of the title", line="kind = "),
        Unnoticed("shared_bias", "0 → 1", "A is square: all layers have one width", line="m.Identity(matrix.shape[0])"),
        Unnoticed("<lambda>", "0 → 1", "A is square: all layers have one width", line="m.Identity(line.shape[0])"),
        Unnoticed(
            "_needed",
            "letter in lines and letter not in used → letter in lines",
            "a letter that is met again is looked at again, and adds nothing",
        ),
        Unnoticed("_table_claim", "1 → 2", "how the reading, which is prose, numbers the layers", "written = "),
    ),
    "layers/kernels.py": (
        Unnoticed("", "constant", "how much XLA optimises the program that draws: the numbers are the same", "QUICK ="),
        Unnoticed("_zigzag", "depth - j // 2 → depth + j // 2", "j // 2 is 0 for the only odd j of two layers"),
        Unnoticed(
            "_zigzag", "2 → 3", "for the two layers that are looked at the widths are the same, 0, 2 and 1", "j // 2"
        ),
    ),
    "layers/nested_bias.py": (
        Unnoticed("_remark", "", "which citations a row has", line="of_its_form ="),
        Unnoticed(
            "pair",
            "1 → 2",
            "b̂_{1,2} and s_1 may stand among the early lines: they need no matrix that is computed later",
            line="late = [line",
        ),
    ),
    "layers/remainder.py": (
        Unnoticed(
            "_definition",
            "(apply('product', letter('W_{i,1}', D, D), x), letter('b_{i,3}', D, 1)) → "
            "(apply('product', letter('W_{i,1}', D, D), x),)",
            "b_{i,3} has the shape of W_{i,1} x_0 before it: whether the shapes fit does not hang on it",
        ),
    ),
    "layers/update_lists.py": (
        Unnoticed("decide", "1 → 2", "parameters of a second layer, which nobody reads", line="u.originals("),
        Unnoticed(
            "",
            "True → False",
            "in this order no rule reads what one before it has written: one by one and all at once are the same",
            line="u.in_place_rules(INDEX), in_place=True",
        ),
        Unnoticed("redone", "2 → 1", "a pass over one layer assigns nothing"),
        Unnoticed("decide", "-1 → 1", "at which depth a second opinion is asked", line="confirm_at(pair, DEPTHS[-1]"),
    ),
    "layers/two_layers.py": (
        Unnoticed("<lambda>", "", "how many terms the second opinion adds up: every N is proved", line="(1, 2, 3)"),
        Unnoticed("_named", "2 → 1", "the name of the result: the shapes clash before it", line='"residual").x(2)'),
        Unnoticed("_named", "2 → 3", "parameters of a third layer, which nobody reads", line="u.originals("),
    ),
    "lora/attention.py": (
        Unnoticed(
            "unfold",
            "ranges.get(k) == INDEX and letter == term(k, j) → letter == term(k, j)",
            "a guard: the only sum over such terms runs up to i, once its last term is taken out",
        ),
    ),
    "lora/padding.py": (
        Unnoticed(
            "definitions",
            "ranges.get(number) == i and letter == added(number, j) → letter == added(number, j)",
            "a guard: the only sum over such terms runs up to i, once its last term is taken out",
        ),
    ),
    "lora/ranks.py": (
        Unnoticed("<lambda>", "K + U1 @ V1 → K - U1 @ V1", "−U' is drawn as often as U'", line="change = lambda"),
        Unnoticed(
            "change", "1 → 2", "the sizes of a feed-forward part that attention does not see", line="none = zero("
        ),
        Unnoticed("_row", "True → False", "the mark that the statement is ours, with which nothing is decided"),
    ),
    "matrix_vector/linear_layer.py": (
        Unnoticed(
            "_equations",
            "sympy.Matrix(features, features, v).T → sympy.Matrix(features, features, v)",
            "the unknown entries of V in another order: the one solution, c I, is symmetric",
        ),
    ),
    "names.py": (
        Unnoticed(
            "",
            "LAYER.replace('i+1', '1') + LAYER.replace('i+1', '2') + LETS_V2 → "
            "LAYER.replace('i+1', '1') + LAYER.replace('i+1', '2')",
            "the assignments introduce no name that the two layers do not have",
        ),
    ),
    "pruning/layer_removal.py": (
        Unnoticed("<lambda>", "W * x → x", "W and x are 0 in the example", line="sigmoid(W * x + theta)"),
        Unnoticed("<lambda>", "W * x + theta → W * x", "θ is 0 in the example", line="sigmoid(W * x + theta)"),
        Unnoticed("<lambda>", "0 → 1", "x is 0 in the example", line="removed ="),
    ),
    "real/attention.py": (
        Unnoticed("<lambda>", "1 → 2", "how many heads the two networks have that are compared", line="heads=1"),
    ),
    "real/blocks.py": (
        Unnoticed("with_alibi", "0 → 1", "there is one head, and JAX takes the last array for one behind it"),
        Unnoticed(
            "<lambda>", "0 → 1", "the key of a draw of which the shapes alone are used", line="jax.random.key(0)"
        ),
    ),
    "real/dependence.py": (Unnoticed("bias", "x * x → x", "the two inputs, 0 and 1, are their own squares"),),
    "real/networks.py": (
        Unnoticed("_heads", "1 → 2", "letters of one more group, which no block has", line="groups = range"),
    ),
    "complexity/attention.py": (
        Unnoticed("_all_layers", "i + 1 → 1", "the matrix of another layer has the same size", line="later ="),
    ),
    "complexity/generic_layer.py": (
        Unnoticed(
            "activation", "i + 1 → i - 1", "the index of a letter that is added: its size alone counts", "(i + 1,)"
        ),
        Unnoticed("products_of_matrices", "rule.W2 → rule.W1", "A P and B P are as many products"),
    ),
    "layers/dynamic_parameters.py": (
        Unnoticed("_one_token", "2 → 1", "X is as wide for any number of heads", line="X = tokens(2)"),
        Unnoticed("_layer_norm", "[0.5, -0.5] → [0.5]", "another v: its normed value moves with the input as well"),
    ),
    "layers/fixed_sums.py": (Unnoticed("difference", "1 → 2", "C(n, n + 1) is 0", line="range(order + 1)"),),
}
"""The file → what nobody notices in it."""


def reason(record: Mapping[str, Any]) -> str:
    """Why nobody notices the mutant of a record of the campaign; empty if that is not known."""
    return next((entry.reason for entry in UNNOTICED.get(record["file"], ()) if entry.is_about(record)), "")
