# %% [markdown]
# # The printed list of updates fails at three layers
#
# After the closed form (Eq. 11, and again after Eq. 33) DUAT prints how its parameters arise.  For j =
# 1, …, i:
#
#     W_{j+1,1} = W_{j+1,1} W_{j,1},   b_{j+1,3} = W_{j+1,1} b_{j,3} + b_{j+1,3},
#     W_{j+1,2} = W_{j+1,2} W_{j,1},   W_{j,3} = W_{j+1,1} W_{j,3},
#
# and for j = 2, …, i+1 (Eq. 12, 34)
#
#     b_{j,2} = (W_{j,2} b_{j−1,3} + b_{j,2}) + W_{j,2} Σ_{k<j} W_{k,3} σ(W_{k,2} x_0 + b_{k,2}).
#
# These are assignments: the same name stands on both sides.  Which symbols on the right are old and
# which are new is not said, so every reasonable reading is executed and the outcome compared with the
# network itself.  All fail, at L = 2 or at L = 3: W_{1,3} has to be multiplied by *every* later
# W_{m,1}, and the list multiplies it once.

# %%
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add, mul

import sympy
from argument import Argument, difference, run

import uat_jax as uj
from uat_jax.decide.counterexample import Counterexample
from uat_jax.ledger.layers.nested_bias import FIRST, first_bias, terms
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.difference import Difference
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.updates import W1, W2, W3, Assignment, Block, b2, b3, k

KINDS = ("residual", "transformer")
DEPTHS = range(1, 6)
j = sympy.Symbol("j", integer=True, positive=True)

# %% [markdown]
# ## The printed list

# %%
PRINTED = (
    Assignment(W1(j + 1), W1(j + 1) @ W1(j)),
    Assignment(b3(j + 1), W1(j + 1) @ b3(j) + b3(j + 1)),
    Assignment(W2(j + 1), W2(j + 1) @ W1(j)),
    Assignment(W3(j), W1(j + 1) @ W3(j)),
)
BIAS = Assignment(b2(j), (W2(j) @ b3(j - 1) + b2(j)) + W2(j) @ u.nested_sum(1, j - 1))
CORRECTED = (*PRINTED[:3], Assignment(W3(k), W1(j + 1) @ W3(k)))
"""The last rule for every k ≤ j instead of k = j alone."""


def printed_list(a: Argument) -> None:
    """The assignments as printed."""
    a.section("The printed list, for j = 1, …, i, and the nested bias, for j = 2, …, i+1")
    a.show("\n".join(map(str, (*PRINTED, BIAS))))


# %% [markdown]
# ## Seven readings
#
# A reading is an order of execution: blocks of assignments, each either simultaneous (right-hand sides
# as they are on entering the block) or sequential.  For a Transformer W_{k,2} starts as W_{k,2}
# W_{k,1}, as Eq. 30 demands.


# %%
def _box(n: int, rules: tuple[Assignment, ...] = PRINTED) -> list[Assignment]:
    """The box of layer n+1 in Fig. 2."""
    return [*(rule.at(j, n) for rule in rules), BIAS.at(j, n + 1)]


def _list(depth: int) -> list[Assignment]:
    """The whole list in printed order: first all the rules, then all the biases."""
    rules = [rule.at(j, n) for n in range(1, depth) for rule in PRINTED]
    return rules + [BIAS.at(j, n) for n in range(2, depth + 1)]


def _is_W3(letter: m.Letter) -> bool:
    return letter.name == "W" and letter.subscripts[1] == 3


Execution = Callable[[str, int], Program]


def _in(order: Callable[[int], list[Block]]) -> Execution:
    return lambda kind, depth: u.execute(kind, depth, order(depth))


READINGS: dict[str, tuple[str, Execution]] = {
    "(a)": ("every symbol on the right is the original one", _in(lambda L: [u.simultaneous(_list(L))])),
    "(b)": ("the assignments are executed in the printed order", _in(lambda L: [u.sequential(_list(L))])),
    "(c)": (
        "one box per layer, right-hand sides as on entering the box (Fig. 2)",
        _in(lambda L: [u.simultaneous(_box(n)) for n in range(1, L)]),
    ),
    "(c′)": (
        "as (c), but b_{j+1,2} uses the W_{k,3} already updated in its box",
        _in(lambda L: [Block(tuple(_box(n)), _is_W3) for n in range(1, L)]),
    ),
    "(d)": (
        "for each new layer all rules are applied again",
        _in(lambda L: [u.simultaneous(_list(n)) for n in range(2, L + 1)]),
    ),
    "(e)": (
        "every symbol on the right is the final one, except the assigned one",
        lambda kind, depth: u.final_values(kind, depth, _list(depth)),
    ),
    "(f)": (
        "corrected: as (c), but box j+1 multiplies every W_{k,3} with k ≤ j",
        _in(lambda L: [u.simultaneous(u.for_every_k(_box(n, CORRECTED), n)) for n in range(1, L)]),
    ),
}

NAMES = "one-shot one-sweep boxes boxes-new-w3 redone final-values corrected-boxes"
CERTIFICATES = {r: f"updates.{name}" for r, name in zip(READINGS, NAMES.split(), strict=True)}
"""The same readings in the ledger, where the list is written down a second time."""


# %% [markdown]
# ## Which readings are exact, and to what depth
#
# The executed list is put into Eq. 33 and its normal form is compared with that of the network, for
# both kinds of network and L = 1, …, 5.


# %%
def verdicts(execution: Execution, kind: str) -> list[Difference | None]:
    """For each depth: None if the reading is exact there, else the first wrong word."""
    layers = u.square_layers(kind)
    return [difference(execution(kind, depth), plain_network(layers, depth)) for depth in DEPTHS]


def table(a: Argument) -> None:
    """Exact or not, by reading and depth."""
    a.section("Exact (✓) or not (✗), by reading and number of layers")
    for name, (words, _) in READINGS.items():
        a.show(f"{name:5}{words}")
    print()
    a.show(f"{'':6}{KINDS[0]:17}{KINDS[1]}")
    a.show(f"{'L =':6}" + "   ".join(" ".join(f"{depth:<2}" for depth in DEPTHS) for _ in KINDS))
    exact: dict[str, int] = {}
    for name, (_, execution) in READINGS.items():
        found = {kind: [d is None for d in verdicts(execution, kind)] for kind in KINDS}
        marks = (" ".join("✓ " if right else "✗ " for right in row) for row in found.values())
        a.show(f"{name:6}" + "   ".join(marks))
        if found[KINDS[0]] != found[KINDS[1]]:
            raise AssertionError(f"{name} differs between the kinds: {found}")
        exact[name] = next((n for n, right in enumerate(found[KINDS[0]]) if not right), len(DEPTHS))
    a.check("no printed reading survives three layers", all(exact[r] < 3 for r in READINGS if r != "(f)"))
    a.check(f"(f) is exact up to L = {DEPTHS[-1]}", exact["(f)"] == len(DEPTHS))
    a.check("the ledger finds the same depths", all(_ledger(name) == exact[name] for name in READINGS))


def _ledger(name: str) -> int:
    """To what depth (at most 5) the certificate of that reading says that it is exact."""
    found = uj.prove(CERTIFICATES[name], dtypes=())
    return min(len(e.figures["exact_depths"]) for e in found.evidence if "exact_depths" in e.figures)


# %% [markdown]
# ## What goes wrong
#
# For each reading the first depth at which it fails, the first wrong word, and the smallest
# counterexample: widths 1, σ = relu, whole numbers, as many zeros as possible.  Both values are
# confirmed in ball arithmetic.


# %%
def first_wrong_words(a: Argument) -> None:
    """The first wrong word of each reading, and its smallest counterexample."""
    a.section("What goes wrong first, in a residual network")
    for name, (_, execution) in READINGS.items():
        found = verdicts(execution, "residual")
        failing = next((depth for depth, word in zip(DEPTHS, found, strict=True) if word is not None), None)
        if failing is None:
            continue
        a.check(f"{name} fails at L = {failing}", failing == _ledger(name) + 1)
        a.show(_parting(found[failing - 1]))
        example = uj.prove(CERTIFICATES[name], dtypes=()).counterexample
        assert example is not None
        a.show(f"smallest counterexample: {_shown(example)}")


def _parting(word: Difference | None) -> str:
    assert word is not None
    return f"printed {word.left}, network {word.right}" + (f"; in {word.where}" if word.where else "")


def _shown(example: Counterexample) -> str:
    inputs = ", ".join(f"{name} = {value}" for name, value in example.values.items() if value)
    return f"{inputs}, all else 0: network {example.left}, printed {example.right}"


# %% [markdown]
# ## Three layers by hand
#
# A = (2, 3, 5), C_j = 1, B, b, c and x_0 zero, σ(0) = 1/2, everything scalar.  The network gives
#
#     x_1 = 1/2,   x_2 = 3/2 + 1/2 = 2,   x_3 = 10 + 1/2 = 21/2,
#
# in which the first σ is carried by A_3 A_2 = 15.  The program evaluates this in exact fractions, the
# network and the printed lists alike, with W_{1,3} as each reading leaves it.

# %%
NUMBERS: dict[str, Fraction] = {f"{name}_{n}": Fraction(0) for name in "Bbc" for n in (1, 2, 3)}
NUMBERS |= {f"A_{n}": Fraction(value) for n, value in enumerate((2, 3, 5), 1)}
NUMBERS |= {f"C_{n}": Fraction(1) for n in (1, 2, 3)} | {"x_0": Fraction(0)}


def value(program: Program) -> Fraction:
    """The result of a scalar program in exact fractions, σ being any function with σ(0) = 1/2."""
    known: dict[m.Expression, Fraction] = {letter: NUMBERS[str(letter)] for letter in program.inputs}

    def of(e: m.Expression) -> Fraction:
        match e:
            case m.Letter():
                return known[e]
            case m.Product():
                return reduce(mul, map(of, e.args))  # type: ignore[arg-type]
            case m.Addition():
                return reduce(add, map(of, e.args))  # type: ignore[arg-type]
            case m.Activation():
                assert of(e.arg) == 0, "σ is known at 0 only"
                return Fraction(1, 2)
        raise TypeError(f"no scalar meaning for {type(e).__name__}")

    for letter, expression in program.items():
        known[letter] = of(expression)
    return known[program.result]


def three_layers_by_hand(a: Argument) -> None:
    """The scalar example under every reading."""
    a.section("Three layers by hand: A = (2, 3, 5), C_j = 1, B = b = c = x_0 = 0, σ(0) = 1/2")
    true = value(plain_network(u.square_layers("residual"), 3))
    a.show(f"the network           x_3 = {true}")
    for name, (_, execution) in READINGS.items():
        found = value(execution("residual", 3))
        a.show(f"reading {name:5}         x_3 = {str(found):6} {'✓' if found == true else '✗'}")
        if found != true:
            a.check(f"{name} is wrong by {true - found}", name != "(f)")
    a.check(f"(f) gives {true}", value(READINGS["(f)"][1]("residual", 3)) == true)


# %% [markdown]
# ## The bias of the first layer, and the number of terms
#
# Eq. 12 updates b_{j,2} for j ≥ 2, Eq. 34 for j ≥ 1, where it needs a b_{0,3} that is never defined.  Both
# call b_{j,2} a sum of j layers; it has j − 1 terms.


# %%
def first_bias_and_terms(a: Argument) -> None:
    """Eq. 34 at j = 1, and how many σ-terms b_{j,2} has."""
    a.section("The bias of the first layer, and the number of terms")
    a.prove(replace(first_bias(m.Zero(u.D, 1)), name="Eq. 34 at j = 1 with b_{0,3} = 0"))
    a.refute(replace(first_bias(FIRST), name="Eq. 34 at j = 1 with any b_{0,3}"))
    counts = [terms(depth) for depth in range(1, 6)]
    a.check(f"b_{{j,2}} has {', '.join(map(str, counts))} σ-terms for j = 1, …, 5", counts == list(range(5)))


# %% [markdown]
# ## The corrected list, for every depth
#
# (f) multiplies every W_{k,3}, k ≤ j, in box j+1.  One pass takes the closed form of i layers to that
# of i+1 layers; with i a symbol this is an induction.  Theorem 2 is the same list in an order in which
# each assignment may simply overwrite: bias first, matrices last.


# %%
def corrected(a: Argument) -> None:
    """The corrected list and Theorem 2's order, for every L."""
    boxes = tuple(rule.at(j, INDEX) for rule in CORRECTED) + (BIAS.at(j, INDEX + 1),)
    for title, rules, in_place in (
        ("The corrected list (f), simultaneous, for every L", boxes, False),
        ("Theorem 2: the same list overwriting in place, for every L", u.in_place_rules(INDEX), True),
    ):
        a.section(title)
        a.show("\n".join(map(str, rules)) + "\n(with k: for every k = 1, …, i)")
        for step in u.update_induction("residual", rules, in_place=in_place):
            a.prove(step)
        transformer = u.update_induction("transformer", rules, in_place=in_place)
        a.check(f"the same {len(transformer)} equations for a Transformer", all(s.holds() for s in transformer))
    wrong = u.update_induction("residual", boxes, in_place=True)
    failing = [step.name for step in wrong if not step.holds()]
    fact = f"refuted — (f)'s own order overwriting in place: {len(failing)} of {len(wrong)} equations fail"
    a.check(fact, bool(failing))


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("The printed list of updates fails at three layers")
    printed_list(a)
    table(a)
    first_wrong_words(a)
    three_layers_by_hand(a)
    first_bias_and_terms(a)
    corrected(a)
    a.section("Verdict")
    a.say(
        "REFUTED as printed, in every reading; exact to two layers at most.  PROVED for every depth once "
        "W_{k,3} is multiplied by every later W_{m,1}, and in place in the order of Theorem 2. ∎"
    )


if __name__ == "__main__":
    run(main)
