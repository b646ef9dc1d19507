"""True statements about counts, ranks, numbers and programs, and forgeries of each: what is false, or ill-formed.

A forgery is what a true statement becomes by changes at some places; `LATER` and `OUTSIDE` of `forged_statements` make
what holds at small sizes only.
"""

import copy
from typing import Any

from forged_statements import LATER, OUTSIDE, Data, defined, letter, plus, product, times, total, transposed

NAN, HUGE = float("nan"), 10**99
SIZES = {"n": "size", "k": "size", "h": "size", "d": "size", "L": "size", "i": "size", "t": "count"}
Changes = dict[tuple, Any]
GONE = object()
"""A field that is left out."""


def tally(head: str, of: Any, **patterns: str) -> list[Any]:
    """What is counted in a term."""
    return [head, of, patterns]


def changed(statement: Data, changes: Changes) -> Data:
    """The statement with something else at some places."""
    statement = copy.deepcopy(statement)
    for path, new in changes.items():
        of: Any = statement
        for key in path[:-1]:
            of = of[key]
        if new is GONE:
            del of[path[-1]]
        else:
            of[path[-1]] = new
    return statement


def at(data: Any, path: tuple) -> Any:
    """What is at a place."""
    for key in path:
        data = data[key]
    return data


def power(base: Any, exponent: Any) -> list[Any]:
    """A power."""
    return ["^", base, exponent]


# --- counts ----------------------------------------------------------------------------------------------------------

H, V, O = letter("H", "n", "n", "i"), letter("V", "d", "k", "i"), letter("O", "k", "k")
SLICE = ["E", "i", times("h", "d"), "d"]
HEADS = {**SIZES, "i": "size"}
MATRIX = total(["kron", H, transposed(product(SLICE, V))], "i", "h")
"""Σ_i H_i ⊗ (E_i V_i)ᵀ, without zeros."""
DIAGONALS = plus(
    ["kron", letter("K", "k", "k", 0), letter("S", plus("L", "t"), plus("L", "t"), 0)],
    total(["kron", letter("K", "k", "k", "i"), letter("S", plus("L", "t"), plus("L", "t"), "i")], "i", "L"),
)
"""K_0 ⊗ S_0 + Σ_{i ≤ L} K_i ⊗ S_i, with the i-th diagonals S_i of L + t places."""
NO_I = {n: kind for n, kind in SIZES.items() if n != "i"}


def count(of: Any, claimed: Any, **symbols: str) -> Data:
    """A count is a formula."""
    return {"kind": "count", "count": of, "is": claimed, "symbols": {**NO_I, **symbols}}


NN = times("n", "n")
COUNT = count(tally("nonzeros", MATRIX, H="triangular"), times(["/", 1, 2], "n", plus("n", 1), "h", "d", "k"))
A, B, X, Y = (letter(name, "n", "n") for name in "ABXY")
TRUE_COUNTS = {
    "triangular heads": COUNT,
    "slices on both sides": count(
        tally("nonzeros", total(product(SLICE, letter("W", "d", "d", "i"), transposed(SLICE)), "i", "h")),
        times("h", "d", "d"),
    ),
    "diagonals": count(
        tally("nonzeros", DIAGONALS, S="diagonal"),
        times("k", "k", plus("L", "t", times("L", plus("L", "t")), times(["/", -1, 2], "L", plus("L", 1)))),
    ),
    "a share": count(
        times(tally("nonzeros", ["kron", A, ["I", "k"]]), power(tally("entries", ["kron", A, ["I", "k"]]), -1)),
        power("k", -1),
    ),
    "σ": count(
        tally("sigmas", total(["sigma", product(A, letter("u", "n", 1, "i"))], "i", plus("h", -1))), plus("h", -1)
    ),
    "multiplications": count(tally("multiplications", product(A, letter("B", "n", "k"))), times("n", "n", "k")),
    "letters once": count(tally("stored", plus(product(A, B), A)), times(2, NN)),
    "letters with an index": count(tally("stored", total(letter("W", "n", "k", "i"), "i", "h")), times("n", "k", "h")),
    "terms": count(tally("terms", plus(A, total(B, "i", "h"))), plus(1, "h")),
    "a sum of sums": count(
        ["sum", plus(tally("terms", A), "i"), "i", 1, "L"], plus("L", times(["/", 1, 2], "L", plus("L", 1)))
    ),
    "rows": count(tally("rows", ["vec", letter("B", "n", "k")]), times("n", "k")),
}
OF_SLICES = ["E", 1, times("h", "d"), "d"]
FALSE_COUNTS = {
    "another number": count(tally("nonzeros", A), times("n", plus("n", 1))),
    "equal up to n = 4": count(tally("nonzeros", A), times("n", LATER)),
    "equal up to n = 4, of rows": count(tally("rows", A), LATER),
    "equal up to n = 5": count(tally("terms", total(A, "i", plus("n", 1))), OUTSIDE),
    "the half of a triangle": changed(COUNT, {("is", 1): ["/", 1, 3]}),
    "no mask": changed(COUNT, {("count", 2): {}}),
    "a mask of another letter": changed(COUNT, {("count", 2): {"V": "triangular"}}),
    "one head more": changed(COUNT, {("is", 4): plus("h", 1)}),
    "a swapped size": changed(COUNT, {("is", 5): "k"}),
    "slices that are all one": count(
        tally("nonzeros", total(product(OF_SLICES, letter("W", "d", "d", "i")), "i", "h")), times("h", "d", "d")
    ),
    "slices that meet": count(
        tally("nonzeros", plus(product(OF_SLICES, X), product(["E", "n", times("h", "d"), "d"], Y))), times(2, "d", "d")
    ),
    "terms that meet": count(tally("nonzeros", plus(A, ["I", "n"])), plus(NN, "n")),
    "the same twice": count(tally("nonzeros", plus(["I", "n"], ["I", "n"])), times(2, "n")),
    "what cancels": count(tally("nonzeros", plus(A, [".", -1, A])), NN),
    "columns taken from a sum of slices": count(
        tally(
            "nonzeros",
            product(
                total(product(letter("W", "n", "d", "i"), transposed(SLICE)), "i", "h"),
                letter("Z", times("h", "d"), "k"),
            ),
        ),
        times("h", "n", "k"),
    ),
    "a diagonal that goes over the end": count(
        tally("nonzeros", letter("S", "n", "n", "k"), S="diagonal"), plus("n", times(-1, "k"))
    ),
    "a diagonal that is a fraction": count(
        tally(
            "nonzeros", plus(letter("S", plus("n", 1), plus("n", 1), ["/", 1, 2]), ["I", plus("n", 1)]), S="diagonal"
        ),
        plus(times(2, "n"), ["/", 3, 2]),
    ),
    "a slice of another width": count(
        tally(
            "nonzeros",
            plus(
                product(OF_SLICES, letter("W", "d", "k")),
                product(["E", 2, times("h", "d"), "d"], letter("U", "d", "k")),
            ),
        ),
        times(2, "d", "k"),
    ),
    "a product through nothing": count(
        tally("nonzeros", product(letter("P", "n", plus("n", -1)), letter("Q", plus("n", -1), "n"))), NN
    ),
    "a sum of no terms": count(tally("nonzeros", total(A, "i", plus("h", -1))), NN),
    "σ without zeros": count(tally("nonzeros", ["sigma", A]), NN),
    "a letter stored twice": count(tally("stored", plus(A, A)), times(2, NN)),
    "a letter under two names of its index": count(
        tally("stored", plus(letter("W", "n", "n", 1), letter("W", "n", "n", plus(0, 1)))), times(2, NN)
    ),
    "letters that may be one": count(
        tally("stored", plus(letter("W", "n", "n", 1), letter("W", "n", "n", "k"))), times(2, NN)
    ),
    "letters that are one in every term": count(
        tally("stored", total(letter("W", "n", "n", times(0, "i")), "i", "h")), times("h", NN)
    ),
    "letters of two sums that meet at another index": count(
        tally(
            "stored",
            plus(
                total(letter("W", "n", "n", plus("i", 1)), "i", "h"),
                total(letter("W", "n", "n", plus("i", 2)), "i", "h"),
            ),
        ),
        times(2, "h", NN),
    ),
    "letters of one sum that meet at another index": count(
        tally("stored", total(plus(letter("W", "n", "n", "i"), letter("W", "n", "n", plus("i", 1))), "i", "h")),
        times(2, "h", NN),
    ),
    "shifted letters of one sum that meet at another index": count(
        tally(
            "stored", total(plus(letter("W", "n", "n", plus("i", 1)), letter("W", "n", "n", plus("i", 2))), "i", "h")
        ),
        times(2, "h", NN),
    ),
    "letters of two sums": count(
        tally("stored", plus(total(letter("W", "n", "n", "i"), "i", 2), total(letter("W", "n", "n", "i"), "i", "h"))),
        times(plus("h", 2), NN),
    ),
    "a letter that squares reach twice": count(
        tally("stored", total(letter("W", "n", "n", times("i", plus("i", -3))), "i", "h")), times("h", NN)
    ),
    "a product with 0": count(tally("products", product(["0", "n", "n"], A)), 1),
    "products with a column that are none": count(tally("vector products", product(A, B)), 1),
    "multiplications in another order": count(
        tally("multiplications", product(A, B, letter("x", "n", 1))), plus(times(NN, "n"), NN)
    ),
    "a sum of powers": count(["sum", times(power(2, "i"), tally("terms", A)), "i", 1, "L"], times("L", power(2, "L"))),
    "a sum of powers, twice": count(
        ["sum", times(power(2, "i"), tally("terms", A)), "i", 1, times(2, "L")],
        times(2, ["sum", power(2, "i"), "i", 1, "L"]),
    ),
    "a sum from behind its end": count(["sum", tally("terms", A), "i", 3, "L"], plus("L", -2)),
    "nothing counted": count(times("n", "n"), power("n", 2)),
    "a count on both sides": count(tally("rows", A), tally("rows", A)),
    "shapes that do not fit": count(tally("entries", product(A, letter("B", "k", "n"))), NN),
    "a letter of two shapes": count(tally("terms", plus(A, product(letter("A", "n", "k"), letter("C", "k", "n")))), 2),
    "a pattern that is none": count(tally("nonzeros", A, A="dense"), NN),
    "NaN": count(tally("rows", A), NAN),
    "a huge power": count(tally("rows", A), power("n", HUGE)),
    "a tower of powers": count(tally("rows", A), power(power(power(9, 30), 30), 30)),
    "an undeclared size": count(tally("rows", letter("A", "m", "m")), "m"),
    "a half exponent": count(tally("rows", A), power("n", ["/", 1, 2])),
    "a negative base": count(times(tally("rows", A), power(-2, "L")), times("n", power(-2, "L"))),
}

# --- counts that are other ones --------------------------------------------------------------------------------------

OTHER = {
    "kind": "other count",
    "count": tally("nonzeros", ["kron", A, ["I", "k"]]),
    "is": times(NN, "k", "k"),
    "at": {"n": 1, "k": 2},
    "symbols": {"n": "size", "k": "size"},
}
FALSE_OTHERS = {
    "equal there": changed(OTHER, {("at", "k"): 1}),
    "what it is": changed(OTHER, {("is",): times(NN, "k")}),
    "written otherwise": changed(OTHER, {("is",): times(power("n", 2), "k")}),
    "at 0": changed(OTHER, {("at", "k"): 0}),
    "at a negative size": changed(OTHER, {("at", "n"): -1}),
    "at a fraction": changed(OTHER, {("at", "n"): 0.5}),
    "at NaN": changed(OTHER, {("at", "n"): NAN}),
    "at a huge size": changed(OTHER, {("at", "n"): HUGE}),
    "at true": changed(OTHER, {("at", "k"): True}),
    "no sizes": changed(OTHER, {("at",): {}}),
    "sizes of others": changed(OTHER, {("at",): {"n": 1, "k": 2, "m": 1}}),
    "sizes that are a list": changed(OTHER, {("at",): [1, 2]}),
    "a share of nothing": changed(OTHER, {("is",): power(plus("k", -2), -1)}),
    "a count on both sides": changed(OTHER, {("is",): tally("nonzeros", ["kron", A, ["I", "k"]])}),
    "nothing counted": changed(OTHER, {("count",): times("n", "k")}),
    "a negative coefficient": changed(OTHER, {("count", 1): plus(A, [".", -1, A])}),
    "shapes that do not fit": changed(OTHER, {("count", 1): plus(A, ["I", "k"])}),
    "a field more": {**OTHER, "left": A},
}

# --- recurrences -----------------------------------------------------------------------------------------------------

ONE_MORE = plus(total(letter("G", "n", "n", "p"), "p", "f"), total(letter("K", "n", "n", "p"), "p", "f"), A)
RECURRENCE = {
    "kind": "recurrence",
    "index": "t",
    "before": "f",
    "first": 0,
    "value": 0,
    "next": tally("terms", ONE_MORE),
    "closed": plus(power(2, "t"), -1),
    "symbols": {"n": "size", "t": "count", "f": "count"},
}
FALSE_RECURRENCES = {
    "another base": changed(RECURRENCE, {("closed", 1, 1): 3}),
    "one too many": changed(RECURRENCE, {("closed", 2): 0}),
    "another first value": changed(RECURRENCE, {("value",): 1}),
    "from 1 on": changed(RECURRENCE, {("first",): 1, ("symbols", "t"): "size"}),
    "from 1 on, as a count": changed(RECURRENCE, {("first",): 1}),
    "from −1 on": changed(RECURRENCE, {("first",): -1}),
    "from true on": changed(RECURRENCE, {("first",): True}),
    "one term more": changed(RECURRENCE, {("next",): plus(RECURRENCE["next"], 1)}),
    "one term less": changed(RECURRENCE, {("next", 1): ONE_MORE[:-1]}),
    "a shifted exponent": changed(RECURRENCE, {("closed", 1, 2): plus("t", 1)}),
    "a swapped size": changed(RECURRENCE, {("closed", 1, 2): "n"}),
    "right at 0 and 1 only": changed(RECURRENCE, {("closed",): "t"}),
    "right up to 4": changed(
        RECURRENCE, {("closed",): plus(power(2, "t"), -1, times(*(plus("t", -r) for r in range(5))))}
    ),
    "itself": changed(RECURRENCE, {("closed",): "f"}),
    "itself in the first value": changed(RECURRENCE, {("value",): "f"}),
    "the index in the first value": changed(RECURRENCE, {("value",): "t"}),
    "the index as the number before": changed(RECURRENCE, {("before",): "t"}),
    "a number that is no count": changed(RECURRENCE, {("symbols", "f"): "number"}),
    "an index that is no count": changed(RECURRENCE, {("symbols", "t"): "number"}),
    "a count in the formula": changed(RECURRENCE, {("closed",): tally("terms", ONE_MORE)}),
    "a size that may be 0": changed(RECURRENCE, {("symbols", "f"): "size"}),
    "NaN": changed(RECURRENCE, {("value",): NAN}),
    "a huge exponent": changed(RECURRENCE, {("closed", 1): power(2, HUGE)}),
    "an index twice": changed(RECURRENCE, {("next", 1): total(letter("G", "n", "n", "t"), "t", "f")}),
    "letters of two shapes": changed(
        RECURRENCE, {("next", 1): plus(A, product(letter("A", "n", "f"), letter("Z", "f", "n")))}
    ),
}

# --- costs -----------------------------------------------------------------------------------------------------------


def s_(j: Any) -> list[Any]:
    """s_j."""
    return letter("s", "n", 1, j)


def r_(j: Any) -> list[Any]:
    """r_j."""
    return letter("r", "n", 1, j)


def W(*low: Any) -> list[Any]:
    """Weights."""
    return letter("W", "n", "n", *low)


AFTER = plus("i", 1)
ARGUMENT = plus(
    product(W(AFTER), letter("x", "n", 1)), total(product(letter("U", "n", "n", "p", AFTER), s_("p")), "p", "i")
)
TREE = {
    "kind": "cost",
    "counted": "sigmas",
    "index": "i",
    "depth": "L",
    "first": [defined(s_(1), ["sigma", product(W(1), letter("x", "n", 1))])],
    "next": [defined(s_(AFTER), ["sigma", ARGUMENT])],
    "output": plus(letter("b", "n", 1), total(product(letter("C", "n", "n", "p"), s_("p")), "p", "L")),
    "shared": False,
    "partial": plus(power(2, "i"), -1),
    "closed": plus(power(2, "L"), -1),
    "symbols": {"n": "size", "i": "size", "L": "size"},
}
SHARED = changed(TREE, {("shared",): True, ("partial",): "i", ("closed",): "L"})
VECTORS = changed(
    SHARED,
    {
        ("counted",): "vector products",
        ("partial",): times(["/", 1, 2], "i", plus("i", 1)),
        ("closed",): plus("L", times(["/", 1, 2], "L", plus("L", 1))),
    },
)
NESTED = changed(TREE, {("counted",): "nesting", ("partial",): "i", ("closed",): "L"})
TRUE_COSTS = {"a tree": TREE, "everything once": SHARED, "products": VECTORS, "σ inside each other": NESTED}
FALSE_COSTS = {
    "a tree that is shared": changed(TREE, {("shared",): True}),
    "everything once that is a tree": changed(SHARED, {("shared",): False}),
    "one σ more": changed(TREE, {("closed",): power(2, "L")}),
    "another partial": changed(TREE, {("partial",): power(2, "i")}),
    "right up to L = 4": changed(
        TREE, {("closed",): plus(power(2, "L"), -1, times(*(plus("L", -r) for r in (1, 2, 3, 4))))}
    ),
    "a partial that is right up to 4": changed(
        SHARED, {("partial",): plus("i", times(*(plus("i", -r) for r in (1, 2, 3, 4))))}
    ),
    "a first layer without σ": changed(TREE, {("first", 0, "is"): product(W(1), letter("x", "n", 1))}),
    "a layer without σ": changed(TREE, {("next", 0, "is"): ARGUMENT}),
    "a layer by itself": changed(TREE, {("next", 0, "is", 1, 2, 4): AFTER}),
    "a layer by itself, in a circle": changed(
        SHARED,
        {
            ("first",): [defined(s_(1), ["sigma", r_(1)]), defined(r_(1), ["sigma", s_(1)])],
            ("next",): [defined(s_(AFTER), ["sigma", r_(AFTER)]), defined(r_(AFTER), ["sigma", s_(AFTER)])],
            ("partial",): times(2, "i"),
            ("closed",): times(2, "L"),
        },
    ),
    "a circle in the first layer": changed(
        SHARED,
        {
            ("first",): [defined(s_(1), ["sigma", r_(1)]), defined(r_(1), ["sigma", s_(1)])],
            ("next",): [defined(s_(AFTER), ["sigma", r_("i")]), defined(r_(AFTER), ["sigma", s_("i")])],
            ("partial",): times(2, "i"),
            ("closed",): times(2, "L"),
        },
    ),
    "a layer by a later one": changed(TREE, {("next", 0, "is", 1, 2, 1, 2): s_(plus("p", 2))}),
    "a sum from 2 on": changed(TREE, {("next", 0, "is", 1, 2, 3): 2}),
    "a sum that stops before": changed(TREE, {("next", 0, "is", 1, 2, 4): plus("i", -1)}),
    "an output of one layer more": changed(TREE, {("output", 2, 4): plus("L", 1)}),
    "an output of the last letter alone": changed(TREE, {("output", 2): product(A, s_("L"))}),
    "a letter twice in a term": changed(TREE, {("next", 0, "is", 1, 2, 1): plus(s_("p"), s_("p"))}),
    "a letter of another index": changed(TREE, {("next", 0, "is", 1, 2, 1, 2): s_(plus("i", 1, times(-1, "p")))}),
    "two letters in a layer that is computed again": changed(
        TREE, {("next",): [*TREE["next"], defined(letter("r", "n", 1, AFTER), s_("i"))]}
    ),
    "a letter defined twice": changed(SHARED, {("next",): [*TREE["next"], *TREE["next"]]}),
    "a letter of no layer": changed(
        SHARED, {("next",): [*TREE["next"], defined(letter("r", "n", 1), ["sigma", s_("i")])]}
    ),
    "a layer too few": changed(SHARED, {("next",): []}),
    "no first layer": changed(SHARED, {("first",): []}),
    "the depth in a layer": changed(SHARED, {("next", 0, "is", 1, 1, 1, 4): ["L"]}),
    "the index in the first layer": changed(SHARED, {("first", 0, "is", 1, 1, 4): ["i"]}),
    "the index in the formula": changed(SHARED, {("closed",): "i"}),
    "the depth in the partial": changed(SHARED, {("partial",): "L"}),
    "another shape": changed(SHARED, {("next", 0, "is"): ["sigma", letter("v", 1, 1)]}),
    "another kind of product": changed(VECTORS, {("counted",): "multiplications"}),
    "what is not counted": changed(SHARED, {("counted",): "flops"}),
    "a function that is a letter": changed(SHARED, {("next", 0, "is"): ["f", letter("g", "n", 1), s_("i")]}),
    "σ inside each other that are shared": changed(NESTED, {("shared",): True}),
    "one σ less inside each other": changed(NESTED, {("closed",): plus("L", -1)}),
    "σ around σ": changed(NESTED, {("next", 0, "is", 1, 2, 1): ["sigma", s_("p")]}),
    "shared as a number": changed(SHARED, {("shared",): 1}),
    "NaN": changed(SHARED, {("closed",): NAN}),
}

# --- shapes ----------------------------------------------------------------------------------------------------------

MISFIT = {
    "kind": "misfit",
    "formula": plus(letter("A", "n", "k"), [".", -1, letter("B", "k", "n")]),
    "at": {"n": 1, "k": 2},
    "symbols": {"n": "size", "k": "size"},
}
FALSE_MISFITS = {
    "shapes that fit there": changed(MISFIT, {("at", "k"): 1}),
    "shapes that always fit": changed(MISFIT, {("formula", 2, 2): letter("B", "n", "k")}),
    "one letter in two shapes": changed(MISFIT, {("formula", 2, 2): letter("A", "k", "n")}),
    "one letter in two shapes, with an index": changed(
        MISFIT, {("formula",): product(letter("A", "n", "k", 1), letter("A", "n", "n", plus(0, 1)))}
    ),
    "no row": changed(MISFIT, {("formula", 1): letter("A", plus("n", -1), "k")}),
    "half a row": changed(MISFIT, {("formula", 1): letter("A", times(["/", 1, 2], "n"), "k")}),
    "at 0": changed(MISFIT, {("at", "n"): 0}),
    "at a negative size": changed(MISFIT, {("at", "n"): -2}),
    "at NaN": changed(MISFIT, {("at", "n"): NAN}),
    "at a huge size": changed(MISFIT, {("at", "n"): HUGE}),
    "at a fraction": changed(MISFIT, {("at", "n"): 1.5}),
    "a size without a value": changed(MISFIT, {("at", "n"): GONE}),
    "a value without a size": changed(MISFIT, {("at", "m"): 1}),
    "a letter alone": changed(MISFIT, {("formula",): letter("A", "n", "k")}),
    "an unknown head": changed(MISFIT, {("formula", 0): "minus"}),
    "a shape by the index of a sum": changed(MISFIT, {("formula",): total(letter("A", "p", "k", "p"), "p", "n")}),
    "sizes that are a list": changed(MISFIT, {("at",): [1, 2]}),
}

# --- ranks -----------------------------------------------------------------------------------------------------------

P, Q = letter("P", "n", "d"), letter("Q", "d", "n")
BOUND = {
    "kind": "rank bound",
    "matrix": product(plus(X, P, P), Q),
    "written": plus(product(X, Q), [".", 2, product(P, Q)]),
    "definitions": [],
    "bound": times(2, "d"),
    "symbols": SIZES,
}
BOUND = changed(
    BOUND, {("matrix",): product(plus(letter("Z", "n", "d"), P, P), Q), ("written", 1, 1): letter("Z", "n", "d")}
)
TENSOR = {
    **BOUND,
    "matrix": ["kron", ["I", "n"], product(P, Q)],
    "written": ["kron", ["I", "n"], product(P, Q)],
    "bound": times("n", "d"),
}
SUMS = {
    **TENSOR,
    "matrix": total(product(letter("P", "n", "d", "p"), letter("Q", "d", "n", "p")), "p", "h"),
    "written": total(product(letter("P", "n", "d", "p"), letter("Q", "d", "n", "p")), "p", "h"),
    "bound": times("h", "d"),
}
TRUE_BOUNDS = {
    "two products": BOUND,
    "a tensor": TENSOR,
    "a sum": SUMS,
    "weaker": changed(SUMS, {("bound",): plus(times("h", "d"), "n")}),
}
FALSE_BOUNDS = {
    "off by one": changed(BOUND, {("bound",): plus(times(2, "d"), -1)}),
    "a rank of one product": changed(BOUND, {("bound",): "d"}),
    "0": changed(BOUND, {("bound",): 0}),
    "equal up to 4": changed(
        TENSOR, {("bound",): times(plus("n", times(-1, *(plus("n", -r) for r in (1, 2, 3, 4)))), "d")}
    ),
    "another matrix": changed(BOUND, {("written", 2, 1): 3}),
    "another letter": changed(BOUND, {("written", 1, 1): letter("Y", "n", "d")}),
    "a term dropped": changed(BOUND, {("written",): product(letter("Z", "n", "d"), Q)}),
    "ranks of a tensor added": changed(TENSOR, {("bound",): plus("n", "d")}),
    "a sum of fewer terms": changed(SUMS, {("bound",): times(plus("h", -1), "d")}),
    "a sum that may have no terms": changed(
        SUMS, {("matrix", 4): plus("h", -2), ("written", 4): plus("h", -2), ("bound",): times(plus("h", -2), "d")}
    ),
    "a swapped size": changed(TENSOR, {("bound",): times("k", "d")}),
    "σ of a product": changed(
        TENSOR, {("matrix",): ["sigma", product(P, Q)], ("written",): ["sigma", product(P, Q)], ("bound",): "d"}
    ),
    "entries of a product": changed(
        TENSOR, {("matrix",): ["had", product(P, Q), A], ("written",): ["had", product(P, Q), A], ("bound",): "d"}
    ),
    "a diagonal": changed(
        TENSOR, {("matrix",): ["diag", letter("x", "n", 1)], ("written",): ["diag", letter("x", "n", 1)], ("bound",): 1}
    ),
    "a definition in a circle": changed(
        BOUND, {("definitions",): [defined(letter("Z", "n", "d"), plus(P, letter("Z", "n", "d")))]}
    ),
    "a definition that nothing uses": changed(TENSOR, {("definitions",): [defined(letter("Z", "n", "d"), P)]}),
    "shapes that do not fit": changed(TENSOR, {("matrix",): product(P, P), ("written",): product(P, P)}),
    "letters of two shapes": changed(
        TENSOR, {("matrix",): product(P, letter("P", "d", "n")), ("written",): product(P, letter("P", "d", "n"))}
    ),
    "NaN": changed(TENSOR, {("bound",): NAN}),
    "a bound with a free index": changed(SUMS, {("bound",): times("p", "d")}),
}

TWO, THREE = letter("P", 3, 2), letter("Q", 2, 3)
REACHED = {
    "kind": "rank reached",
    "matrix": product(TWO, THREE),
    "at": {},
    "rank": 2,
    "symbols": {},
    "letters": [{"letter": TWO, "is": [[1, 0], [0, 1], [1, 1]]}, {"letter": THREE, "is": [[1, 2, 3], [0, 1, 4]]}],
}
FALSE_REACHED = {
    "off by one": changed(REACHED, {("rank",): 3}),
    "a rank above the size": changed(REACHED, {("rank",): 4}),
    "dependent rows": changed(REACHED, {("letters", 1, "is"): [[1, 2, 3], [2, 4, 6]]}),
    "zeros": changed(REACHED, {("letters", 0, "is"): [[0, 0]] * 3}),
    "a letter without a value": changed(REACHED, {("letters",): REACHED["letters"][:1]}),
    "a letter with two values": changed(REACHED, {("letters",): [*REACHED["letters"], REACHED["letters"][0]]}),
    "another shape": changed(REACHED, {("letters", 0, "is"): [[1, 0, 1], [0, 1, 1]]}),
    "a ragged matrix": changed(REACHED, {("letters", 0, "is"): [[1, 0], [0, 1], [1]]}),
    "no rows": changed(REACHED, {("letters", 0, "is"): []}),
    "a fraction": changed(REACHED, {("letters", 0, "is", 0, 0): 0.5}),
    "NaN": changed(REACHED, {("letters", 0, "is", 0, 0): NAN}),
    "true": changed(REACHED, {("letters", 0, "is", 0, 0): True}),
    "text": changed(REACHED, {("letters", 0, "is", 0, 0): "1"}),
    "a rank of 0": changed(REACHED, {("rank",): 0}),
    "a rank that is true": changed(REACHED, {("rank",): True}),
    "a function": changed(REACHED, {("matrix",): ["sigma", product(TWO, THREE)]}),
    "a number without a value": changed(
        REACHED,
        {("matrix",): plus(product(TWO, THREE), [".", "a", ["I", 3]]), ("symbols",): {"a": "number"}, ("rank",): 3},
    ),
    "a letter that is drawn": changed(
        REACHED, {("matrix",): plus(product(TWO, THREE), letter("R", 3, 3)), ("rank",): 3}
    ),
    "a slice that does not exist": changed(REACHED, {("matrix",): product(["E", 3, 6, 3], TWO, THREE)}),
    "a size without a value": changed(
        REACHED, {("matrix",): ["kron", ["I", "n"], product(TWO, THREE)], ("symbols",): {"n": "size"}}
    ),
}

# --- numbers and relations -------------------------------------------------------------------------------------------

REAL = {"x": "number", "y": "number", "a": "positive", "b": "positive"}
E_X, E_MINUS = ["exp", "x"], ["exp", times(-1, "x")]
TANH = times(plus(E_X, times(-1, E_MINUS)), power(plus(E_X, E_MINUS), -1))
LOGISTIC = power(plus(1, ["exp", times(-2, "x")]), -1)
NUMBERS = {"kind": "numbers", "left": TANH, "right": plus(times(2, LOGISTIC), -1), "symbols": REAL}
TRUE_NUMBERS = {
    "tanh by logistic": NUMBERS,
    "a mean": {
        **NUMBERS,
        "left": times(plus(times("a", "x"), times("b", "x")), power(plus("a", "b"), -1)),
        "right": "x",
    },
    "a product of exponentials": {**NUMBERS, "left": times(E_X, ["exp", "y"]), "right": ["exp", plus("x", "y")]},
    "an addition theorem": {
        **NUMBERS,
        "left": plus(times(["cos", "x"], ["cos", "y"]), times(["sin", "x"], ["sin", "y"])),
        "right": ["cos", plus("x", times(-1, "y"))],
    },
    "a double angle": {**NUMBERS, "left": ["sin", times(2, "x")], "right": times(2, ["sin", "x"], ["cos", "x"])},
    "erfc as it is": {**NUMBERS, "left": plus(["erfc", "x"], ["erfc", "x"]), "right": times(2, ["erfc", "x"])},
}
FALSE_NUMBERS = {
    "another factor": changed(NUMBERS, {("right", 1, 1): 3}),
    "another sign": changed(NUMBERS, {("right", 2): 1}),
    "another exponent": changed(NUMBERS, {("right", 1, 2, 1, 2, 1, 1): -1}),
    "both sides alike": changed(NUMBERS, {("right",): TANH}),
    "a sum of exponentials": {**NUMBERS, "left": plus(E_X, ["exp", "y"]), "right": ["exp", plus("x", "y")]},
    "e^(x²) = (e^x)²": {**NUMBERS, "left": ["exp", times("x", "x")], "right": times(E_X, E_X)},
    "e^0 = 0": {**NUMBERS, "left": ["exp", 0], "right": 0},
    "erfc is even": {**NUMBERS, "left": ["erfc", "x"], "right": ["erfc", times(-1, "x")]},
    "erfc as exp": {**NUMBERS, "left": ["erfc", "x"], "right": E_X},
    "division by 0": {**NUMBERS, "left": times("x", power(plus("y", times(-1, "y")), -1)), "right": "x"},
    "0/0": {**NUMBERS, "left": times(0, power(0, -1)), "right": 1},
    "an addition theorem with another sign": {
        **NUMBERS,
        "left": plus(times(["cos", "x"], ["cos", "y"]), times(["sin", "x"], ["sin", "y"])),
        "right": ["cos", plus("x", "y")],
    },
    "cos² + sin² = 2": {
        **NUMBERS,
        "left": plus(power(["cos", "x"], 2), power(["sin", "x"], 2)),
        "right": 2,
    },
    "sin is even": {**NUMBERS, "left": ["sin", "x"], "right": ["sin", times(-1, "x")]},
    "the exponential of a sine": {**NUMBERS, "left": ["exp", ["sin", "x"]], "right": 1},
    "√(x²) = x": {**NUMBERS, "left": power(times("x", "x"), ["/", 1, 2]), "right": "x"},
    "√a √b = √(a + b)": {
        **NUMBERS,
        "left": times(power("a", ["/", 1, 2]), power("b", ["/", 1, 2])),
        "right": power(plus("a", "b"), ["/", 1, 2]),
    },
    "equal at 1, 2, 3": {**NUMBERS, "left": times(plus("x", -1), plus("x", -2), plus("x", -3)), "right": 0},
    "another symbol": {**NUMBERS, "left": plus("x", "x"), "right": times(2, "y")},
    "a head that is none": {**NUMBERS, "left": ["sinh", "x"], "right": "x"},
    "exp of two": {**NUMBERS, "left": ["exp", "x", "y"], "right": "x"},
    "NaN": {**NUMBERS, "left": "x", "right": NAN},
    "a huge power": {**NUMBERS, "left": power("x", HUGE), "right": 0},
    "a tower": {**NUMBERS, "left": power(power(power(plus("x", "y"), 32), 32), 32), "right": 0},
    "an exponential of a huge multiple": {**NUMBERS, "left": ["exp", times(HUGE, "x")], "right": 0},
    "an undeclared symbol": {**NUMBERS, "left": plus("z", "z"), "right": times(2, "z")},
}

CONSEQUENCE = {
    "kind": "no consequence",
    "claim": ["<=", ["abs", "x"], "a"],
    "hypotheses": [["<=", ["abs", plus("x", "y")], "a"]],
    "at": {"x": 2, "y": -2, "a": 1},
    "symbols": {"x": "number", "y": "number", "a": "positive"},
}
FALSE_CONSEQUENCES = {
    "a claim that holds there": changed(CONSEQUENCE, {("at", "x"): 1, ("at", "y"): 0}),
    "a claim that holds at the edge": changed(CONSEQUENCE, {("at",): {"x": 1, "y": -1, "a": 1}}),
    "a hypothesis that fails": changed(CONSEQUENCE, {("at", "y"): 2}),
    "a strict hypothesis at its edge": changed(
        CONSEQUENCE, {("hypotheses", 0, 0): "<", ("at",): {"x": 2, "y": -1, "a": 1}}
    ),
    "a positive number that is 0": changed(CONSEQUENCE, {("at",): {"x": 2, "y": -2, "a": 0}}),
    "a positive number below 0": changed(CONSEQUENCE, {("at", "a"): -1}),
    "a whole number that is half": changed(
        CONSEQUENCE, {("symbols", "x"): "integer", ("at",): {"x": ["/", 3, 2], "y": ["/", -3, 2], "a": 1}}
    ),
    "a size that is 0": changed(CONSEQUENCE, {("symbols", "a"): "size", ("at",): {"x": 2, "y": -2, "a": 0}}),
    "an equation that holds": changed(CONSEQUENCE, {("claim",): ["=", plus("x", "y"), 0]}),
    "no value": changed(CONSEQUENCE, {("at", "y"): GONE}),
    "a value of none": changed(CONSEQUENCE, {("at", "z"): 1}),
    "a value that is a symbol": changed(CONSEQUENCE, {("at", "y"): "x"}),
    "a value that is a root": changed(CONSEQUENCE, {("at", "x"): power(2, ["/", 1, 2])}),
    "NaN": changed(CONSEQUENCE, {("at", "x"): NAN}),
    "a float": changed(CONSEQUENCE, {("at", "x"): 2.0}),
    "a relation that is none": changed(CONSEQUENCE, {("claim", 0): "!="}),
    "a root in a hypothesis": changed(CONSEQUENCE, {("hypotheses", 0, 1): power("x", ["/", 1, 2])}),
    "a huge value": changed(CONSEQUENCE, {("at", "x"): 10**200}),
}

# --- programs --------------------------------------------------------------------------------------------------------


def jaxpr(inputs: list[Any], equations: list[Any], outputs: list[Any]) -> dict[str, Any]:
    """A program of one jaxpr."""
    return {"jaxprs": [{"constants": [], "inputs": inputs, "equations": equations, "outputs": outputs}]}


NUMBER, SQUARE = ["float32", []], ["float32", [2, 2]]
ITSELF, ROOT = jaxpr([NUMBER], [], [0]), jaxpr([NUMBER], [["sqrt", {"accuracy": None}, [0], [["float32", []]]]], [1])
UNEQUAL = {
    "kind": "unequal",
    "left": ITSELF,
    "right": jaxpr([NUMBER], [["neg", {}, [0], [NUMBER]]], [1]),
    "inputs": [1.0],
    "entry": [],
    "symbols": {},
}
FALSE_UNEQUAL = {
    "equal at 0": changed(UNEQUAL, {("inputs",): [0.0]}),
    "the same program": changed(UNEQUAL, {("right",): ITSELF}),
    "undefined on one side": changed(UNEQUAL, {("right",): ROOT, ("inputs",): [-1.0]}),
    "equal at 1": changed(UNEQUAL, {("right",): ROOT}),
    "an input too few": changed(UNEQUAL, {("inputs",): []}),
    "an input too many": changed(UNEQUAL, {("inputs",): [1.0, 1.0]}),
    "an input that is no float": changed(UNEQUAL, {("inputs",): ["1"]}),
    "an input that is no float32": changed(UNEQUAL, {("inputs",): [0.1]}),
    "NaN": changed(UNEQUAL, {("inputs",): [NAN]}),
    "an input of another shape": changed(UNEQUAL, {("inputs",): [[1.0]]}),
    "no entry": changed(UNEQUAL, {("entry",): [0]}),
    "an entry that is text": changed(UNEQUAL, {("entry",): "0"}),
    "an unknown primitive": changed(
        UNEQUAL,
        {("left", "jaxprs", 0, "equations"): [["bessel", {}, [0], [NUMBER]]], ("left", "jaxprs", 0, "outputs"): [1]},
    ),
    "an unknown parameter": changed(UNEQUAL, {("right", "jaxprs", 0, "equations", 0, 1): {"fast": True}}),
    "inputs of another type": changed(UNEQUAL, {("right", "jaxprs", 0, "inputs"): [["float64", []]]}),
    "an output that is none": changed(UNEQUAL, {("left", "jaxprs", 0, "outputs"): [7]}),
    "no jaxpr": changed(UNEQUAL, {("left", "jaxprs"): []}),
    "symbols": changed(UNEQUAL, {("symbols",): {"n": "size"}}),
}

GREATER = changed(UNEQUAL, {("kind",): "greater"})
FALSE_GREATER = {
    **{name: changed(forged, {("kind",): "greater"}) for name, forged in FALSE_UNEQUAL.items()},
    "smaller": changed(GREATER, {("inputs",): [-1.0]}),
    "the other way": changed(GREATER, {("left",): UNEQUAL["right"], ("right",): ITSELF}),
}

MINOR = {
    "kind": "minor",
    "program": jaxpr([SQUARE], [], [0]),
    "inputs": [[[1.0, 2.0], [3.0, 4.0]]],
    "rows": [0, 1],
    "columns": [0, 1],
    "symbols": {},
}
FALSE_MINORS = {
    "a minor that is 0": changed(MINOR, {("inputs",): [[[1.0, 2.0], [2.0, 4.0]]]}),
    "a row twice": changed(MINOR, {("rows",): [0, 0]}),
    "a column twice": changed(MINOR, {("columns",): [1, 1]}),
    "no square": changed(MINOR, {("rows",): [0]}),
    "nothing": changed(MINOR, {("rows",): [], ("columns",): []}),
    "a row that is none": changed(MINOR, {("rows",): [0, 2]}),
    "a negative row": changed(MINOR, {("rows",): [0, -1]}),
    "a row that is text": changed(MINOR, {("rows",): [0, "1"]}),
    "a row that is true": changed(MINOR, {("rows",): [0, True]}),
    "no matrix": changed(
        MINOR, {("program",): jaxpr([NUMBER], [], [0]), ("inputs",): [1.0], ("rows",): [0], ("columns",): [0]}
    ),
    "two results": changed(MINOR, {("program",): jaxpr([SQUARE], [], [0, 0])}),
    "NaN": changed(MINOR, {("inputs", 0, 0, 0): NAN}),
    "an infinite entry": changed(MINOR, {("inputs", 0, 0, 0): float("inf")}),
    "no float": changed(MINOR, {("inputs", 0, 0, 0): "1"}),
    "an input of another shape": changed(MINOR, {("inputs",): [[[1.0, 2.0]]]}),
    "an unknown primitive": changed(MINOR, {("program", "jaxprs", 0, "equations"): [["solve", {}, [0], [SQUARE]]]}),
    "symbols": changed(MINOR, {("symbols",): {"n": "size"}}),
    "huge places": changed(MINOR, {("rows",): [0, HUGE]}),
}

# --- a second reading: sums, sizes, zeros, layers, examples ----------------------------------------------------------


def tower(base: Any, exponent: int, times_: int) -> Any:
    """A power of a power of a power."""
    for _ in range(times_):
        base = power(base, exponent)
    return base


HALF_L, LESS = times(["/", 1, 2], "L"), plus("i", -1)
FROM_0 = plus(times(["/", 1, 2], "L", plus("L", 1)), times(-1, "L"), -1)
"""Σ_{i=0}^{L} (i − 1), where the sum up to i − 1 has no term for i = 0, and not less."""
BACKWARDS = product(["E", plus("h", 1, times(-1, "i")), times("h", "d"), "d"], letter("U", "d", "d", "i"))
FALSE_COUNTS |= {
    "an index from 0": count(tally("terms", ["sum", total(A, "j", LESS), "i", 0, "L"]), FROM_0),
    "an index from 0, of numbers": count(
        plus(tally("rows", A), ["sum", ["sum", 1, "j", 1, LESS], "i", 0, "L"]), plus("n", FROM_0)
    ),
    "an index from −3": count(tally("terms", ["sum", total(A, "j", LESS), "i", -3, "L"]), plus(FROM_0, -9)),
    "an index from 0 in a base": count(
        plus(tally("rows", A), ["sum", times(power("i", "n"), 0), "i", 0, "L"]), plus("n", 0)
    ),
    "half as many terms": count(tally("terms", total(A, "i", HALF_L)), HALF_L),
    "half as many numbers": count(plus(tally("rows", A), ["sum", 1, "i", 1, HALF_L]), plus("n", HALF_L)),
    "half as many σ": count(tally("sigmas", total(["sigma", A], "i", HALF_L)), HALF_L),
    "terms from a third on": count(tally("terms", ["sum", A, "i", ["/", 1, 3], "L"]), plus("L", ["/", 2, 3])),
    "σ times 0": count(tally("sigmas", product(["0", "n", "n"], ["sigma", A])), 0),
    "σ inside each other times 0": count(tally("nesting", product(["0", "n", "n"], ["sigma", A])), 0),
    "a product that is multiplied with 0": count(
        tally("products", product(["0", "n", "n"], plus(product(A, A), A))), 0
    ),
    "a product with the transpose of 0": count(tally("products", product(A, ["T", ["0", "n", "n"]])), 1),
    "a product with twice 0": count(tally("products", product(A, [".", 2, ["0", "n", "n"]])), 1),
    "a product with no times A": count(tally("products", product(A, [".", 0, A])), 1),
    "a product with a sum of zeros": count(tally("products", product(A, total(["0", "n", "n"], "i", "h"))), 1),
    "no rows": count(tally("entries", letter("A", plus("n", -3), plus("n", -3))), power(plus("n", -3), 2)),
    "half a column": count(tally("entries", letter("A", times(["/", 1, 2], "n"), 1)), times(["/", 1, 2], "n")),
    "a root of rows": count(tally("rows", letter("A", power("n", ["/", 1, 2]), 1)), power("n", ["/", 1, 2])),
    "rows that are a number": count(tally("rows", letter("A", "x", 1)), "x", x="number"),
    "fewer than no rows": count(tally("rows", letter("A", -3, 1)), -3),
    "columns of a sum from behind its end": count(
        tally("columns", ["sum", letter("A", "n", "n", "i"), "i", 5, 2]), "n"
    ),
    "a bound that is not declared": count(tally("rows", ["sum", letter("A", "n", "n", "i"), "i", 1, "z"]), "n"),
    "a bound that is a fraction": count(tally("rows", ["sum", letter("A", "n", "n", "i"), "i", 1, ["/", 5, 2]]), "n"),
    "a slice that does not exist": count(tally("entries", ["E", 5, 2, 2]), 4),
    "slices from both ends": count(
        tally(
            "nonzeros", plus(total(product(SLICE, letter("W", "d", "d", "i")), "i", "h"), total(BACKWARDS, "i", "h"))
        ),
        times(2, "h", "d", "d"),
    ),
    "a triangle and its transpose": count(
        tally("nonzeros", plus(letter("T", "n", "n"), ["T", letter("T", "n", "n")]), T="triangular"),
        times("n", plus("n", 1)),
    ),
    "members of a family that may be one": count(
        tally("stored", plus(letter("W", "n", "n", ["at", "D", 1]), letter("W", "n", "n", ["at", "D", 2]))),
        times(2, NN),
        D="size",
    ),
    "letters stored at i and at −i": count(
        tally("stored", total(plus(letter("W", "n", "n", "i"), letter("W", "n", "n", times(-1, "i"))), "i", "h")),
        times(2, "h", NN),
    ),
    "a label that may be a number": count(
        tally("stored", plus(letter("W", "n", "n", "Q"), letter("W", "n", "n", "K"))),
        times(2, NN),
        Q="number",
        K="integer",
    ),
    "a bound of a high degree": count(
        tally("terms", total(A, "i", times(*(power(x, 8) for x in "nkhdL")))), times(*(power(x, 8) for x in "nkhd"))
    ),
    "a tower of divisors": count(tally("rows", A), times("n", tower(9, -32, 6))),
    "a tower of rows": count(tally("rows", letter("A", tower("n", 32, 8), 1)), "n"),
    "thousands of letters": count(
        tally("stored", plus(*(letter("A", "n", "n", i) for i in range(600)))), times(600, NN)
    ),
}
FALSE_RECURRENCES |= {
    "half of a term": changed(
        RECURRENCE, {("value",): ["/", 1, 2], ("next",): tally("terms", total(A, "p", "f")), ("closed",): ["/", 1, 2]}
    ),
    "fewer than none": changed(
        RECURRENCE, {("value",): -5, ("next",): plus(tally("terms", A), "f"), ("closed",): plus("t", -5)}
    ),
}
AGAIN = total(product(letter("U", "n", "n", "q"), s_("p")), "q", "n")
"""s_p is computed again in each of the n terms."""
R_ = letter("r", "n", 1, AFTER)
FALSE_COSTS |= {
    "the first letter by itself": changed(SHARED, {("first", 0, "is"): ["sigma", product(W(1), s_(1))]}),
    "a letter by itself": changed(SHARED, {("next", 0, "is"): ["sigma", product(W(AFTER), s_(AFTER))]}),
    "two letters in a circle": changed(
        SHARED,
        {
            ("first",): [
                defined(s_(1), ["sigma", letter("r", "n", 1, 1)]),
                defined(letter("r", "n", 1, 1), ["sigma", s_(1)]),
            ],
            ("next",): [defined(s_(AFTER), ["sigma", R_]), defined(R_, ["sigma", s_(AFTER)])],
            ("partial",): times(2, "i"),
            ("closed",): times(2, "L"),
        },
    ),
    "a letter in a sum inside": changed(
        TREE, {("next", 0, "is"): ["sigma", plus(product(W(AFTER), letter("x", "n", 1)), total(AGAIN, "p", "i"))]}
    ),
    "a letter in a sum inside the output": changed(TREE, {("output",): total(AGAIN, "p", "L")}),
    "another shape in every layer": changed(
        SHARED,
        {
            ("counted",): "multiplications",
            ("first",): [defined(letter("s", "k", 1, 1), product(letter("M", "k", "n"), letter("x", "n", 1)))],
            ("next",): [defined(s_(AFTER), ["sigma", product(letter("W", "n", "k", AFTER), letter("s", "k", 1, "i"))])],
            ("output",): letter("s", "k", 1, "L"),
            ("partial",): times("k", "n", "i"),
            ("closed",): times("k", "n", "L"),
            ("symbols", "k"): "size",
        },
    ),
    "half a layer": changed(
        SHARED,
        {
            ("first",): [defined(letter("s", "n", 1, 1, 1), ["sigma", letter("x", "n", 1)])],
            ("next",): [
                defined(letter("s", "n", 1, "p", AFTER), ["sigma", letter("x", "n", 1)], "p", times(["/", 1, 2], "i"))
            ],
            ("output",): letter("b", "n", 1),
            ("partial",): plus(1, times(["/", 1, 4], "i", plus("i", -1))),
            ("closed",): plus(1, times(["/", 1, 4], "L", plus("L", -1))),
        },
    ),
    "half of the letters before": changed(
        VECTORS,
        {
            ("next", 0, "is", 1, 2, 4): times(["/", 1, 2], plus("i", 1)),
            ("partial",): plus("i", times(["/", 1, 4], plus("i", -1), plus("i", 2))),
            ("closed",): plus("L", times(["/", 1, 4], plus("L", -1), plus("L", 2)), "L"),
        },
    ),
    "products with a letter that is 0": changed(
        VECTORS,
        {
            ("first", 0, "is"): ["0", "n", 1],
            ("partial",): times(["/", 1, 2], "i", plus("i", 1), 1, 1),
            ("closed",): plus("L", times(["/", 1, 2], "L", plus("L", 1)), -1),
        },
    ),
    "a first letter of layer 2": changed(SHARED, {("first", 0, "letter"): s_(2)}),
    "a letter of layer 2i": changed(SHARED, {("next", 0, "letter"): s_(times(2, "i"))}),
}
FALSE_MISFITS |= {
    "a size that is any number": changed(
        MISFIT, {("formula",): plus(["I", "a"], ["I", 2]), ("at",): {}, ("symbols",): {"a": "number"}}
    ),
    "zeros of any number of rows": changed(
        MISFIT, {("formula",): product(letter("A", 2, 2), ["0", "a", 3]), ("at",): {}, ("symbols",): {"a": "integer"}}
    ),
    "unvec to any number of rows": changed(
        MISFIT, {("formula",): ["unvec", letter("A", 4, 1), "a", 2], ("at",): {}, ("symbols",): {"a": "positive"}}
    ),
    "an identity of no rows": changed(MISFIT, {("formula",): plus(["I", plus("n", -1)], ["I", 2])}),
    "a sum of no terms": changed(MISFIT, {("formula",): ["sum", MISFIT["formula"], "p", 1, 0]}),
    "a bound that is not declared": changed(MISFIT, {("formula",): ["sum", MISFIT["formula"], "p", 1, "z"]}),
}
OUTER = product(letter("P", "n", 1, "q"), letter("Q", 1, "n", "q"))
FALSE_BOUNDS |= {
    name: {**TENSOR, "matrix": matrix, "written": matrix, "bound": bound}
    for name, matrix, bound in (
        ("an index from 0", ["sum", total(OUTER, "q", plus("p", -1)), "p", 0, "L"], FROM_0),
        ("half as many terms", total(OUTER, "q", HALF_L), HALF_L),
        ("fewer than no rows", letter("A", plus("n", -3), "k"), plus("n", -3)),
        ("a slice that does not exist", ["E", 5, 2, 2], 2),
        ("one term less", total(OUTER, "q", plus("h", -1)), plus("h", -2)),
        ("a column of numbers", ["unvec", letter("x", NN, 1), "n", "n"], 1),
    )
}
ROOT_2 = power(2, ["/", 1, 2])
ONE_OF = [".", -1, letter("A", 1, 1, 2)]


def reached(matrix: Any, **values: Any) -> Data:
    """That a matrix has at least rank 1."""
    return {**REACHED, "matrix": matrix, "letters": [], "rank": 1, **values}


FALSE_REACHED |= {
    "one letter written in two ways": reached(
        plus(letter("A", 1, 1, times(ROOT_2, ROOT_2)), ONE_OF),
        letters=[{"letter": letter("A", 1, 1, times(ROOT_2, ROOT_2)), "is": [[1]]}, {"letter": ONE_OF[2], "is": [[2]]}],
    ),
    "letters that may be one": reached(
        plus(letter("A", 1, 1, "i"), ONE_OF),
        symbols={"i": "size"},
        letters=[{"letter": letter("A", 1, 1, "i"), "is": [[1]]}, {"letter": ONE_OF[2], "is": [[2]]}],
    ),
    "a member of a family": reached([".", plus(["at", "D", 1], -99), ["I", 1]], symbols={"D": "size"}),
    "rows that a family counts": reached(["I", ["at", "D", 1]], symbols={"D": "size"}, rank=2),
    "√4 is −2": reached(plus([".", power(4, ["/", 1, 2]), ["I", 1]], [".", -2, ["I", 1]])),
    "√8 and 2√2": reached(plus([".", power(8, ["/", 1, 2]), ["I", 1]], [".", times(-2, ROOT_2), ["I", 1]])),
    "1/0": reached([".", power(0, -1), ["I", 1]]),
    "millions of entries": reached(product(["I", 4000], ["I", 4000])),
    "millions of entries, of ones": reached(["1", 3000, 3000]),
}
FALSE_NUMBERS |= {
    "a tower of divisors": {**NUMBERS, "left": times("x", tower(9, -32, 6)), "right": "x"},
    "0^n": {
        **NUMBERS,
        "left": power(plus("x", times(-1, "x")), "n"),
        "right": 0,
        "symbols": {"x": "number", "n": "size"},
    },
    "√(t²) of a count": {
        **NUMBERS,
        "left": power(times("t", "t"), ["/", 1, 2]),
        "right": "t",
        "symbols": {"t": "count"},
    },
    "(2^n)^n = 2^(2n)": {
        **NUMBERS,
        "left": power(power(2, "n"), "n"),
        "right": power(2, plus("n", "n")),
        "symbols": {"n": "size"},
    },
    "(n + k)^n by terms": {
        **NUMBERS,
        "left": power(plus("n", "k"), "n"),
        "right": plus(power("n", "n"), power("k", "n")),
        "symbols": {"n": "size", "k": "size"},
    },
    "0/0 in disguise": {
        **NUMBERS,
        "left": times(*(power(plus(power(["cos", "x"], 2), power(["sin", "x"], 2), -1), e) for e in (1, -1))),
        "right": 1,
    },
    "cos is odd": {**NUMBERS, "left": ["cos", times(-1, "x")], "right": times(-1, ["cos", "x"])},
    "cos + sin = 1": {**NUMBERS, "left": plus(["cos", "x"], ["sin", "x"]), "right": 1},
    "sin(x + y) with another sign": {
        **NUMBERS,
        "left": ["sin", plus("x", "y")],
        "right": plus(times(["sin", "x"], ["cos", "y"]), times(-1, ["cos", "x"], ["sin", "y"])),
    },
}
FALSE_CONSEQUENCES |= {
    "a tower at the point": changed(CONSEQUENCE, {("claim",): ["<=", tower("x", 8, 9), "a"], ("hypotheses",): []}),
    "nearly √2": changed(
        CONSEQUENCE, {("hypotheses",): [["=", power("x", 2), 2]], ("at", "x"): ["/", 141421356, 100000000]}
    ),
}
FALSE_MINORS |= {
    "an entry elsewhere that is undefined": changed(
        MINOR,
        {
            ("program",): jaxpr([SQUARE], [["div", {}, [0, 0], [SQUARE]]], [1]),
            ("inputs",): [[[1.0, 0.0], [0.0, 1.0]]],
            ("rows",): [0],
            ("columns",): [0],
        },
    ),
    "an exponential of rank 1": changed(
        MINOR,
        {
            ("program",): jaxpr([SQUARE], [["exp", {"accuracy": None}, [0], [SQUARE]]], [1]),
            ("inputs",): [[[1.0, 2.0], [2.0, 3.0]]],
        },
    ),
}

TRUE_COUNTS |= {
    "an index from 0": count(tally("terms", ["sum", total(A, "j", "i"), "i", 0, "L"]), times(HALF_L, plus("L", 1))),
    "an index from −1": count(
        plus(tally("rows", A), ["sum", "i", "i", -1, "L"]), plus("n", times(HALF_L, plus("L", 1)), -1)
    ),
}
TRUE: dict[str, dict[str, Data]] = {
    "count": TRUE_COUNTS,
    "other count": {"a count": OTHER},
    "recurrence": {"terms": RECURRENCE},
    "cost": TRUE_COSTS,
    "misfit": {"a sum": MISFIT},
    "rank bound": TRUE_BOUNDS,
    "rank reached": {"a product": REACHED},
    "numbers": TRUE_NUMBERS,
    "no consequence": {"a number": CONSEQUENCE},
    "unequal": {"a sign": UNEQUAL},
    "greater": {"a sign": GREATER},
    "minor": {"of two": MINOR},
}
FORGED: dict[str, dict[str, Data]] = {
    "count": FALSE_COUNTS,
    "other count": FALSE_OTHERS,
    "recurrence": FALSE_RECURRENCES,
    "cost": FALSE_COSTS,
    "misfit": FALSE_MISFITS,
    "rank bound": FALSE_BOUNDS,
    "rank reached": FALSE_REACHED,
    "numbers": FALSE_NUMBERS,
    "no consequence": FALSE_CONSEQUENCES,
    "unequal": FALSE_UNEQUAL,
    "greater": FALSE_GREATER,
    "minor": FALSE_MINORS,
}
