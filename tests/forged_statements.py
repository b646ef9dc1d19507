"""Statements that a forger would write: false, ill-formed, or true of small sizes only.  None may be checked.

Many of them are true wherever sizes are at most 4, or are so at most random points: `LATER` is n there, and larger
from n = 5 on, so that a checker that only evaluates at small sizes accepts them.
"""

from typing import Any

Data = dict[str, Any]
KINDS = {"n": "size", "k": "size", "m": "size", "i": "size", "j": "size", "a": "number", "b": "number", "t": "count"}


def letter(name: str, rows: Any, columns: Any, *low: Any, high: tuple = ()) -> list[Any]:
    """A letter of the language."""
    return ["L", name, rows, columns, list(low), list(high)]


def plus(*parts: Any) -> list[Any]:
    """A sum of numbers, or of matrices."""
    return ["+", *parts]


def times(*parts: Any) -> list[Any]:
    """A product of numbers."""
    return ["*", *parts]


def product(*parts: Any) -> list[Any]:
    """A product of matrices."""
    return ["@", *parts]


def defined(of: Any, term: Any, *span: Any) -> Data:
    """A definition; with an index and its upper bound for all values of the index."""
    return {"letter": of, "is": term, **({"for": list(span)} if span else {})}


def equation(left: Any, right: Any, *where: Data, on_left: Any = (), on_right: Any = (), **kinds: Any) -> Data:
    """left = right."""
    sides = {"left_definitions": list(on_left), "right_definitions": list(on_right)}
    body = {"left": left, "right": right, "definitions": list(where), "symbols": {**KINDS, **kinds}}
    return {"kind": "equation", **body, **sides}


def static(parameter: Any, *inputs: Any, where: tuple = ()) -> Data:
    """A parameter has one value at all inputs."""
    body = {"parameter": parameter, "inputs": list(inputs), "definitions": list(where), "symbols": KINDS}
    return {"kind": "static", **body}


def induction(layer: Any, start: Any, closed: Any, first: list[Data], later: list[Data], at: Any = None) -> Data:
    """net(0) = start, net(j) = layer of net(j − 1); net(i) = closed."""
    body = {"input": at or Y, "start": start, "layer": layer, "closed": closed, "first": first, "next": later}
    return {"kind": "induction", "index": "i", "layer_index": "j", **body, "symbols": KINDS}


def inequality(claim: Any, hypotheses: list[Any], point: Data, cases: list[Data], **kinds: str) -> Data:
    """A relation that follows from others."""
    body = {"claim": claim, "hypotheses": hypotheses, "hold_at": point, "cases": cases, "symbols": kinds}
    return {"kind": "inequality", **body}


def only(*terms: Any) -> list[Data]:
    """One case without signs."""
    return [{"denial": 0, "signs": [], "terms": [list(term) for term in terms]}]


ZERO_AT_1_TO_4 = times(*(plus("n", -r) for r in (1, 2, 3, 4)))
LATER = plus("n", ZERO_AT_1_TO_4)
"""n for n ≤ 4, and more than n for larger n."""
OUTSIDE = plus("n", 1, times(["/", -1, 24], ZERO_AT_1_TO_4))
"""n + 1 for n ≤ 4, and 5 for n = 5."""
A, B, C = (letter(name, "n", "n") for name in "ABC")
R, S = letter("R", "n", "k"), letter("S", "n", "k")
X, Y = letter("x", "n", 1), letter("y", "n", "n")
AFTER = plus("i", 1)


def U(*low: Any, high: tuple = ()) -> list[Any]:
    """Square matrices with indices."""
    return letter("U", "n", "n", *low, high=high)


def V(*low: Any) -> list[Any]:
    """Others."""
    return letter("V", "n", "n", *low)


def total(body: Any, index: str, upper: Any, lower: Any = 1) -> list[Any]:
    """A sum over an index."""
    return ["sum", body, index, lower, upper]


def transposed(of: Any) -> list[Any]:
    """A transpose."""
    return ["T", of]


ALGEBRA: dict[str, Data] = {
    "AB = BA": equation(product(A, B), product(B, A)),
    "(AB)ᵀ = AᵀBᵀ": equation(transposed(product(A, B)), product(transposed(A), transposed(B))),
    "Aᵀ = A": equation(transposed(A), A),
    "AAᵀ = I, without a hypothesis": equation(product(A, transposed(A)), ["I", "n"]),
    "A is diagonal, without a hypothesis": equation(A, ["diag", product(A, ["1", "n", 1])]),
    "AB = 0 where A = 0 on one side": equation(product(A, B), ["0", "n", "n"], on_right=(defined(A, ["0", "n", "n"]),)),
    "A² − B² = (A − B)(A + B)": equation(
        plus(product(A, A), [".", -1, product(B, B)]), product(plus(A, [".", -1, B]), plus(A, B))
    ),
    "(A + B)² = A² + 2AB + B²": equation(
        product(plus(A, B), plus(A, B)), plus(product(A, A), [".", 2, product(A, B)], product(B, B))
    ),
    "σ(Ax) = Aσ(x)": equation(["sigma", product(A, X)], product(A, ["sigma", X])),
    "σ(−x) = −σ(x)": equation(["sigma", [".", -1, X]], [".", -1, ["sigma", X]]),
    "σ(0) = 0": equation(["sigma", ["0", "n", 1]], ["0", "n", 1]),
    "σ(σ(x)) = σ(x)": equation(["sigma", ["sigma", X]], ["sigma", X]),
    "σ(A ⊙ B) = σ(A) ⊙ σ(B)": equation(["sigma", ["had", A, B]], ["had", ["sigma", A], ["sigma", B]]),
    "σ(A ⊗ B) = σ(A) ⊗ σ(B)": equation(["sigma", ["kron", A, B]], ["kron", ["sigma", A], ["sigma", B]]),
    "σ(diag x) = diag σ(x)": equation(["sigma", ["diag", X]], ["diag", ["sigma", X]]),
    "softmax(A) + softmax(B) = softmax(A + B)": equation(plus(["softmax", A], ["softmax", B]), ["softmax", plus(A, B)]),
    "softmax(2A) = softmax(A)": equation(["softmax", [".", 2, A]], ["softmax", A]),
    "softmax(Aᵀ) = softmax(A)ᵀ": equation(["softmax", transposed(A)], transposed(["softmax", A])),
    "softmax is shifted by a row": equation(
        ["softmax", plus(A, product(["1", "n", 1], transposed(X)))], ["softmax", A]
    ),
    "softmax is a function of entries": equation(["softmax", ["vec", R]], ["vec", ["softmax", R]]),
    "softmax is one function σ": equation(["softmax", A], ["sigma", A]),
    "vec(AXB) = (A ⊗ B) vec X": equation(["vec", product(A, C, B)], product(["kron", A, B], ["vec", C])),
    "vec(AXB) = (Bᵀ ⊗ A) vec X, of columns": equation(
        ["vec", product(A, C, B)], product(["kron", transposed(B), A], ["vec", C])
    ),
    "A ⊗ B = B ⊗ A": equation(["kron", A, B], ["kron", B, A]),
    "(A ⊗ B)ᵀ = Bᵀ ⊗ Aᵀ": equation(transposed(["kron", A, B]), ["kron", transposed(B), transposed(A)]),
    "x ⊗ y = y ⊗ x": equation(["kron", X, product(A, X)], ["kron", product(A, X), X]),
    "unvec to n×k is unvec to k×n": equation(
        ["unvec", ["vec", R], "n", "k"], transposed(["unvec", ["vec", R], "k", "n"])
    ),
    "diag(x + y) 1 = x": equation(product(["diag", plus(X, product(A, X))], ["1", "n", 1]), X),
    "A ⊙ B = AB": equation(["had", A, B], product(A, B)),
    "A ⊙ I = A": equation(["had", A, ["I", "n"]], A),
    "A ⊙ (BC) = (A ⊙ B)C": equation(["had", A, product(B, C)], product(["had", A, B], C)),
    "1 1 = 1": equation(product(["1", "n", "k"], ["1", "k", "n"]), ["1", "n", "n"]),
    "E₁ᵀE₂ = I": equation(product(transposed(["E", 1, times(2, "n"), "n"]), ["E", 2, times(2, "n"), "n"]), ["I", "n"]),
    "E₁E₁ᵀ = I": equation(
        product(["E", 1, times(2, "n"), "n"], transposed(["E", 1, times(2, "n"), "n"])), ["I", times(2, "n")]
    ),
    "a slice that is out of range": equation(
        product(transposed(["E", 3, times(2, "n"), "n"]), ["E", 3, times(2, "n"), "n"]), ["I", "n"]
    ),
    "a slice number 0": equation(product(transposed(["E", 0, "n", "n"]), ["E", 0, "n", "n"]), ["I", "n"]),
    "Σ AU_k = (Σ U_k)A": equation(total(product(A, U("l")), "l", "k"), product(total(U("l"), "l", "k"), A)),
    "Σ U_k V_k = Σ U_k Σ V_k": equation(
        total(product(U("l"), V("l")), "l", "k"), product(total(U("l"), "l", "k"), total(V("l"), "l", "k"))
    ),
    "Σ_k Σ_l U_k V_l with one index": equation(
        total(total(product(U("l"), V("p")), "p", "k"), "l", "k"), total(product(U("l"), V("l")), "l", "k")
    ),
    "Σ_{l ≤ p} is Σ_{l ≤ k}": equation(
        total(total(product(U("l"), V("p")), "l", "p"), "p", "k"),
        total(total(product(U("l"), V("p")), "l", "k"), "p", "k"),
    ),
    "an empty sum is a term": equation(total(U("l"), "l", 0), U(1)),
    "Σ_{l=0} is Σ_{l=1}": equation(total(U("l"), "l", "k", 0), total(U("l"), "l", "k")),
    "√(a²) = a": equation([".", ["^", ["^", "a", 2], ["/", 1, 2]], A], [".", "a", A]),
    "a⁰·⁵a⁰·⁵ = a": equation([".", times(["^", "a", ["/", 1, 2]], ["^", "a", ["/", 1, 2]]), A], [".", "a", A]),
    "√2 √3 = √5": equation(
        [".", times(["^", 2, ["/", 1, 2]], ["^", 3, ["/", 1, 2]]), A], [".", ["^", 5, ["/", 1, 2]], A]
    ),
    "(a + b)² = a² + b²": equation([".", ["^", plus("a", "b"), 2], A], [".", plus(["^", "a", 2], ["^", "b", 2]), A]),
    "f(A) = f(B)": equation(["f", letter("F", "n", 1), A], ["f", letter("F", "n", 1), B]),
    "f is g": equation(["f", letter("F", "n", 1), A], ["f", letter("G", "n", 1), A]),
    "f(A) is the letter f": equation(["f", letter("F", "n", 1), A], letter("F", "n", 1)),
    "f₁ is f₂": equation(["f", letter("F", "n", 1, 1), A], ["f", letter("F", "n", 1, 2), A]),
}

SMALL: dict[str, Data] = {
    "functions of two identities": equation(
        ["f", letter("F", 2, 3), ["I", "n"]], ["f", letter("F", 2, 3), ["I", LATER]]
    ),
    "functions of two zeros": equation(
        ["f", letter("F", 2, 3), ["0", "n", 1]], ["f", letter("F", 2, 3), ["0", LATER, 1]]
    ),
    "functions in functions": equation(
        ["sigma", ["f", letter("F", 2, 3), ["I", "n"]]], ["sigma", ["f", letter("F", 2, 3), ["I", LATER]]]
    ),
    "functions of sums of two sizes": equation(
        ["f", letter("F", 2, 3), total(["I", "n"], "l", "k")], ["f", letter("F", 2, 3), total(["I", LATER], "l", "k")]
    ),
    "I_n and I_N": equation(["I", "n"], ["I", LATER]),
    "traces by ones": equation(product(["1", 1, "n"], ["1", "n", 1]), product(["1", 1, LATER], ["1", LATER, 1])),
    "n and N": equation([".", "n", A], [".", LATER, A]),
    "W_n and W_N": equation(U("n"), U(LATER)),
    "terms of a sum of two shapes": equation(
        total(["I", plus("n", times(plus("l", -1), ZERO_AT_1_TO_4))], "l", 2), [".", 2, ["I", "n"]]
    ),
    "zeros of a sum of two shapes": equation(
        total(["0", plus("n", times(plus("l", -1), ZERO_AT_1_TO_4)), 1], "l", 2), ["0", "n", 1]
    ),
    "a letter that a rule of one side defines": equation(
        plus(U(OUTSIDE), total(U("l"), "l", "n")),
        plus(U(OUTSIDE), total(V("l"), "l", "n")),
        on_left=(defined(U("p"), V("p"), "p", "n"),),
    ),
    "a letter that one side defines": equation(
        plus(U("n"), U(LATER)), plus(V("n"), U(LATER)), on_left=(defined(U("n"), V("n")),)
    ),
    "one that the other side defines": equation(
        plus(V("n"), U(OUTSIDE)), plus(U(5), U(OUTSIDE)), on_right=(defined(U(5), V("n")),)
    ),
    "rules that overlap later": equation(
        plus(total(U("l", plus("l", -1), plus("l", 1)), "l", "n"), total(U(plus("l", 1), "l", plus("l", 2)), "l", "n")),
        [".", "n", plus(A, B)],
        defined(U("p", plus("p", -1), plus("p", 1)), A, "p", "n"),
        defined(U(plus("p", 1), "p", plus("p", 2)), B, "p", "n"),
    ),
    "a rule in a circle": equation(
        total(U("l"), "l", "n"),
        total(plus(U(plus("n", 1, times(-1, "l"))), A), "l", "n"),
        defined(U("p"), plus(U(plus("n", 1, times(-1, "p"))), A), "p", "n"),
    ),
    "a rule in a circle later": equation(
        total(U("l"), "l", "n"),
        total(plus(U(plus("l", OUTSIDE, -5)), A), "l", "n"),
        defined(U("p"), plus(U(plus("p", OUTSIDE, -5)), A), "p", "n"),
    ),
    "a definition by a letter that is the same later": equation(
        U("n"), plus(U(LATER), A), defined(U("n"), plus(U(LATER), A))
    ),
    "a letter of two shapes on two sides": equation(
        plus(A, B, [".", -1, B]), plus(A, [".", 0, product(["1", "n", "k"], letter("B", "k", "n"))])
    ),
    "a letter of two shapes later": equation(
        plus(A, [".", 0, product(["1", "n", "n"], U("n"))]),
        plus(A, [".", 0, product(["1", "n", LATER], letter("U", LATER, "n", LATER))]),
    ),
    "a letter of a sum with another shape": equation(
        product(["1", 1, "n"], total(U("l"), "l", "n"), ["1", "n", 1]),
        plus(
            product(["1", 1, "n"], total(U("l"), "l", "n"), ["1", "n", 1]),
            [".", 0, product(["1", 1, "k"], letter("U", "k", 1, 1))],
        ),
    ),
    "a slice that exists for small sizes": equation(
        product(transposed(["E", LATER, times("n", "n"), "n"]), ["E", "n", times("n", "n"), "n"]), ["I", "n"]
    ),
    "softmax of what has no columns later": equation(
        product(["softmax", letter("Z", "n", plus(LATER, times(-1, "n")))], ["1", plus(LATER, times(-1, "n")), 1]),
        ["1", "n", 1],
    ),
}

FIRST, LAST = (
    [defined(U(1), product(letter("M", "n", "n", 1), A))],
    [defined(U(AFTER), product(letter("M", "n", "n", AFTER), U("i")))],
)
LAYER = product(letter("M", "n", "n", "j"), Y)
INDUCTIONS: dict[str, Data] = {
    "the first layer by the second": induction(
        plus(Y, A), U(2), U("i"), [defined(U(1), plus(U(2), A))], [defined(U(AFTER), plus(U("i"), A))]
    ),
    "the first layer by all layers": induction(
        plus(Y, A),
        total(U("l"), "l", "k"),
        U("i"),
        [defined(U(1), plus(total(U("l"), "l", "k"), A))],
        [defined(U(AFTER), plus(U("i"), A))],
    ),
    "the first layer by a letter that is made of the second": induction(
        plus(Y, A),
        U(2),
        U("i"),
        [defined(U(1), plus(V(1), A)), defined(V(1), U(2))],
        [defined(U(AFTER), plus(U("i"), A))],
    ),
    "the first layer by itself": induction(
        plus(Y, A), U(1), U("i"), [defined(U(1), plus(U(1), A))], [defined(U(AFTER), plus(U("i"), A))]
    ),
    "a layer by itself": induction(
        LAYER, A, U("i"), FIRST, [defined(U(AFTER), product(letter("M", "n", "n", AFTER), U(AFTER)))]
    ),
    "no base": induction(LAYER, A, U("i"), [], LAST),
    "no step": induction(LAYER, A, U("i"), FIRST, []),
    "a base for layer 2": induction(LAYER, A, U("i"), [defined(U(2), product(letter("M", "n", "n", 1), A))], LAST),
    "a step by two": induction(
        LAYER, A, U("i"), FIRST, [defined(U(plus("i", 2)), product(letter("M", "n", "n", AFTER), U("i")))]
    ),
    "a base of depth 0": induction(
        LAYER, A, U(plus("i", -1)), [defined(U(0), product(letter("M", "n", "n", 1), A))], LAST
    ),
    "factors of the wrong order": induction(
        LAYER, A, U("i"), FIRST, [defined(U(AFTER), product(U("i"), letter("M", "n", "n", AFTER)))]
    ),
    "the input of a layer in two ways": induction(
        plus(Y, letter("y", plus("n", 0), "n")),
        A,
        ["0", "n", "n"],
        [defined(letter("y", plus("n", 0), "n"), [".", -1, A])],
        [],
    ),
    "the input of a layer as what is first": induction(
        LAYER, Y, U("i"), [defined(U(1), product(letter("M", "n", "n", 1), Y))], LAST
    ),
    "the input of a layer as a function": induction(
        plus(Y, ["f", Y, A]),
        A,
        U("i"),
        [defined(U(1), plus(A, ["f", A, A]))],
        [defined(U(AFTER), plus(U("i"), ["f", U("i"), A]))],
    ),
    "the number of layers in a layer": induction(product(letter("M", "n", "n", "i"), Y), A, U("i"), FIRST, LAST),
    "the number of layers in the base": induction(
        plus(Y, A),
        A,
        plus(U("i"), [".", -1, U("i")], U("i")),
        [defined(U(1), plus(A, A, [".", 0, V("i")]))],
        [defined(U(AFTER), plus(U("i"), A))],
    ),
    "a letter with another shape in each layer": induction(
        plus(Y, ["0", "n", "n"]),
        A,
        plus(A, [".", 0, product(["1", "n", plus("i", 1)], letter("U", plus("i", 1), "n", "i"))]),
        [defined(letter("U", 2, "n", 1), ["1", 2, "n"])],
        [defined(letter("U", plus("i", 5), "n", AFTER), ["1", plus("i", 5), "n"])],
    ),
    "x_L as its own closed form": induction(LAYER, A, U("i"), [defined(U(1), U(1))], [defined(U(AFTER), U(AFTER))]),
    "a closed form of later letters": induction(LAYER, A, U(AFTER), FIRST, LAST),
    "the input of a layer with one column, and what is first with n": induction(
        product(letter("M", "n", "n", "j"), letter("y", "n", 1)), A, U("i"), FIRST, LAST, at=letter("y", "n", 1)
    ),
    "the input of a layer with columns that the first layer has alone": induction(
        product(letter("M", "n", "n", "j"), letter("y", "n", "j")),
        letter("A", "n", 1),
        letter("U", "n", 1, "i"),
        [defined(letter("U", "n", 1, 1), product(letter("M", "n", "n", 1), letter("A", "n", 1)))],
        [defined(letter("U", "n", 1, AFTER), product(letter("M", "n", "n", AFTER), letter("U", "n", 1, "i")))],
        at=letter("y", "n", "j"),
    ),
    "the input of a layer with rows that the layer does not have": induction(
        product(letter("M", "n", "n", "j"), letter("y", "m", "n")), A, U("i"), FIRST, LAST, at=letter("y", "m", "n")
    ),
    "the input of a layer with n rows up to n = 4 only": induction(
        product(letter("M", "n", "n", "j"), letter("y", LATER, "n")), A, U("i"), FIRST, LAST, at=letter("y", LATER, "n")
    ),
    "the index of the layers is no size": {
        **induction(LAYER, A, U("i"), FIRST, LAST),
        "symbols": {**KINDS, "i": "count"},
    },
    "one index for both": {**induction(LAYER, A, U("i"), FIRST, LAST), "layer_index": "i"},
}

x0 = letter("x", "n", 1, 0)
OTHERS: dict[str, Data] = {
    "a static parameter of another input": static(product(A, letter("x", "n", 1, plus(0, 0))), x0),
    "one that reads its input in two ways": static(plus(x0, [".", -1, letter("x", "n", 1, plus(0, 0))], x0), x0),
    "one that may read its input": static(product(A, letter("x", "n", 1, "t")), x0),
    "one that reads its input by a sum": static(total(letter("x", "n", 1, "l"), "l", "k", 0), x0),
    "one whose input is defined in another way": static(
        x0, x0, where=(defined(letter("x", "n", 1, plus(0, 0)), ["0", "n", 1]),)
    ),
    "one that is a function of its input": static(["f", letter("W", "n", "n"), x0], x0),
    "one whose input names a function": static(["f", letter("x", "n", "n", 0), A], x0),
    "σ of the input minus itself": static(["sigma", plus(x0, letter("z", "n", 1))], x0),
    "a size that is no whole number": inequality(
        ["<", "n", 1],
        [["<", "n", 1]],
        {"n": ["/", 1, 2]},
        only((1, plus("n", -1)), (1, plus(1, times(-1, "n")))),
        n="size",
    ),
    "a < b as a ≤ b": inequality(
        ["<", "a", "b"],
        [["<=", "a", "b"]],
        {"a": 0, "b": 0},
        only((1, plus("a", times(-1, "b"))), (1, plus("b", times(-1, "a")))),
        a="number",
        b="number",
    ),
    "ab ≥ 0": inequality([">=", times("a", "b"), 0], [], {}, only((1, times("a", "b"))), a="number", b="number"),
    "a² ≥ a": inequality([">=", times("a", "a"), "a"], [], {}, only((1, plus("a", times(-1, "a", "a")))), a="positive"),
    "a multiplier that is a letter": inequality([">=", "a", 0], [], {}, only(("a", times(-1, "a"))), a="number"),
    "a hypothesis at another point": inequality(
        ["<=", "a", 0], [["<=", "a", -1]], {"a": -1}, only((1, "a")), a="nonnegative"
    ),
    "an equation from one inequality": inequality(
        ["=", "a", "b"],
        [["<=", "a", "b"]],
        {"a": 0, "b": 0},
        only((1, plus("a", times(-1, "b"))), (1, plus("b", times(-1, "a")))),
        a="number",
        b="number",
    ),
}

NAMES: dict[str, Data] = {
    name: equation(product(A, letter(spelled, "n", "n")), A, defined(letter(spelled, "n", "n"), ["I", "n"]))
    for name, spelled in {
        "a sign that is not seen": "B\N{VARIATION SELECTOR-16}",
        "a joiner that is not seen": "B\N{ZERO WIDTH JOINER}",
        "a Cyrillic letter": "\N{CYRILLIC CAPITAL LETTER VE}",
        "a Greek capital that is a Latin one": "\N{GREEK CAPITAL LETTER BETA}",
        "a letter in two signs": "Y\N{COMBINING MACRON}",
        "a mathematical letter": "\N{MATHEMATICAL ITALIC CAPITAL B}",
        "a number as a name": "2",
        "an inverse": "B⁻¹",
        "a mark without a letter": "\N{COMBINING TILDE}B",
        "a name of the language": "softmax",
    }.items()
}
NAMES |= {
    "a symbol that is a number": equation([".", "2", A], plus(A, A), **{"2": "size"}),
    "two symbols that look alike": equation([".", "a'", A], [".", "a′", A], **{"a'": "number", "a′": "number"}),
    "a head that is part of a list of heads": equation([".", ["+*", "a", "b"], A], [".", times("a", "b"), A]),
    "a head that is empty": equation([".", ["", "a", "b"], A], [".", times("a", "b"), A]),
}

UP_TO_NAMES = total(total(product(U("l"), V("p")), "p", "k"), "l", "k")
ALIKE: dict[str, Data] = {
    "A = A": equation(A, A),
    "a sum with another name of its index": equation(total(U("l"), "l", "k"), total(U("p"), "p", "k")),
    "sums whose indices have exchanged names": equation(
        UP_TO_NAMES, total(total(product(U("p"), V("l")), "l", "k"), "p", "k")
    ),
    "the same in σ": equation(["sigma", total(U("l"), "l", "k")], ["sigma", total(U("p"), "p", "k")]),
}

NO_IDENTITIES: dict[str, Data] = {
    name: {**found, "kind": "no identity"}
    for name, found in {
        "not (AB)ᵀ = BᵀAᵀ": equation(transposed(product(A, B)), product(transposed(B), transposed(A))),
        "not A = A": equation(A, A),
        "not σ(A)ᵀ = σ(Aᵀ)": equation(transposed(["sigma", A]), ["sigma", transposed(A)]),
        "not softmax(A) 1 = 1": equation(product(["softmax", A], ["1", "n", 1]), ["1", "n", 1]),
        "not softmax(A) = softmax(2A), of softmax as it is drawn": equation(["softmax", A], ["softmax", [".", 2, A]]),
        "not I_n = I_k": equation(["I", "n"], ["I", "k"]),
        "not A = B where A is B": equation(A, B, defined(A, B)),
        "not √2 √3 = √6": equation(
            [".", times(["^", 2, ["/", 1, 2]], ["^", 3, ["/", 1, 2]]), A], [".", ["^", 6, ["/", 1, 2]], A]
        ),
        "not √(a²) = a": equation([".", ["^", ["^", "a", 2], ["/", 1, 2]], A], [".", "a", A], a="positive"),
        "not Σ U_k = Σ U_l": equation(total(U("l"), "l", "k"), total(U("p"), "p", "k")),
        "not A = B where A is defined in a circle": equation(A, B, defined(A, plus(A, B))),
        "not A = U_n where U is A on one side": equation(A, U("n"), on_left=(defined(U("n"), A),)),
        "not A = B with a definition that nothing uses": equation(A, B, defined(C, B)),
    }.items()
}

FORGED = {**ALIKE, **NO_IDENTITIES, **ALGEBRA, **SMALL, **INDUCTIONS, **OTHERS, **NAMES}
"""Every forged statement by its name."""
