"""The wrong readings fail for every L (b): what fails at two or three layers goes on failing in deeper networks.

Layers that do nothing, A_j = I and B_j, C_j, b_j, c_j = 0, are put behind a small network in which a reading is wrong.
The network's output stays, and so does what the reading computes: no assignment that belongs to such a layer changes
it.  The small networks have width 1 and whole numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from uat_jax.decide.figures import Enumerated
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import UnsupportedError
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import SQUARE
from uat_jax.ledger.layers import nested_bias
from uat_jax.ledger.layers import update_lists as lists
from uat_jax.ledger.source import duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.updates import W1, W2, W3, X0, Assignment, Block, b2, b3, k

DEEPEST = 5
"""The numbers are computed up to this depth."""

# --- networks of width 1 ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """A_j, B_j, C_j, b_j and c_j of the first layers as numbers, and x_0; later layers do nothing."""

    A: tuple[int, ...]
    B: tuple[int, ...] = ()
    C: tuple[int, ...] = ()
    b: tuple[int, ...] = ()
    c: tuple[int, ...] = ()
    x: int = 0

    def number(self, letter: m.Letter) -> int:
        """The value of a letter of the network: A_j, B_j, C_j, b_j, c_j or x_0."""
        index = int(letter.subscripts[0])
        if letter.name == "x":
            return self.x
        given = getattr(self, letter.name)
        return given[index - 1] if index <= len(given) else int(letter.name == "A")

    def __str__(self) -> str:
        given = {name: getattr(self, name) for name in "ABCbc"}
        lists = [f"{name} = {', '.join(map(str, numbers))}" for name, numbers in given.items() if numbers]
        return "; ".join([*lists, f"x_0 = {self.x}"])


def value(program: Program, network: Network) -> int:
    """What a program computes at width 1 with σ = relu."""
    known: dict[m.Letter, int] = {}

    def of(e: m.Expression) -> int:
        match e:
            case m.Letter():
                return known[e] if e in known else network.number(e)
            case m.Addition():
                return sum(map(of, e.operands))
            case m.Product():
                result = 1
                for operand in e.operands:
                    result *= of(operand)
                return result
            case m.Activation():
                return max(of(e.arg), 0)
        raise UnsupportedError(f"there is no number for {e}")

    for letter, line in program.items():
        known[letter] = of(line)
    return known[program.result]


Pair = Callable[[int], tuple[Program, Program]]
"""depth ↦ the network, and what is printed for it under some reading."""


def apart(pair: Pair, network: Network, first: int, *, what: str) -> Evidence:
    """Whether network and reading compute two numbers, the same two at every depth from ``first`` to DEEPEST."""
    found = {tuple(value(program, network) for program in pair(depth)) for depth in range(first, DEEPEST + 1)}
    (left, right), *others = found
    differ = left != right and not others
    numbers = f"network {left}, printed {right}" if differ else "not two numbers"
    finding = f"{what}: {numbers} at L = {first}…{DEEPEST}, with {network}"
    figures = Enumerated(DEEPEST + 1 - first)
    return Evidence(Method.EXACT_NUMBERS, finding, Verdict.PROVED if differ else Verdict.UNKNOWN, figures)


# --- layers that do nothing ---------------------------------------------------------------------------------------------


def nothing(layers: Layers, j: sympy.Expr) -> dict[m.Letter, m.Expression]:
    """The parameters of layer j with which it returns its input: A_j = I, and all others 0."""
    A, *others = layers.parameters(j)
    return {A: m.Identity(u.D), **{letter: m.Zero(*letter.shape) for letter in others}}


def same_output(kind: str) -> Step:
    """x_{i+1} = x_i."""
    layers, i = u.square_layers(kind), INDEX
    return Step(
        f"{kind} network: x_{{i+1}} = x_i", layers.apply(i + 1, layers.x(i)), layers.x(i), nothing(layers, i + 1)
    )


def _shown(steps: list[Step], *, what: str) -> Evidence:
    return prove(steps, method=Method.INDUCTION, what=what)


# --- the list of updates ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """A reading of the list: its order, the first depth at which ``network`` shows that it is wrong, and that network.

    ``at_first`` is another network, for a reading that is wrong one layer earlier for another reason.
    """

    order: Callable[[int], list[Block]]
    first: int
    network: Network
    final: bool = False
    at_first: Network | None = None

    def pair(self, kind: str) -> Pair:
        """depth ↦ the network, and the list executed; if ``final``, every right-hand side is a final value."""

        def executed(depth: int) -> Program:
            if self.final:
                (block,) = self.order(depth)
                return u.final_values(kind, depth, block.assignments)
            return u.execute(kind, depth, self.order(depth))

        return lambda depth: (plain_network(u.square_layers(kind), depth), executed(depth))


def first_term(*A: int) -> Network:
    """A network of which only the first layer has a σ-term, C_1 σ(b_1) = 1: W_{1,3} is what its output shows."""
    return Network(A=A, C=(1,), b=(1,))


READINGS = {
    "updates.one-shot": Reading(lists.one_shot, 3, first_term(1, 1, 0)),
    "updates.one-sweep": Reading(lists.one_sweep, 2, first_term(0, 1)),
    "updates.boxes": Reading(lists.boxes, 3, first_term(1, 1, 0)),
    "updates.boxes-new-w3": Reading(
        lists.boxes_with_new_W3, 3, first_term(1, 1, 0),
        at_first=Network(A=(1, 2), B=(0, 1), C=(1, 1), b=(1, 0)),
    ),
    "updates.redone": Reading(lists.redone, 3, first_term(0, 1, 1)),
    "updates.final-values": Reading(lists.one_shot, 2, first_term(0, 1), final=True),
}  # fmt: skip
"""The wrong orders; that of raw weights is `_raw_weights`."""

_SILENT = (W2, b3)
"""W_{j,2} and b_{j,3} of every layer are zero in these networks; so is W_{j,3} for j ≥ 2, and x_0."""


def _with(rule: Assignment, zero: tuple[m.Letter, ...]) -> m.Expression:
    """The right side of a rule where these variables, and W_{j,2} and b_{j,3} of every layer, are zero."""

    def read(letter: m.Letter, ranges: Mapping[sympy.Expr, sympy.Expr]) -> m.Expression | None:
        silent = any(letter == of(letter.subscripts[0]) for of in _SILENT)
        return m.Zero(*letter.shape) if silent or letter in zero or letter == X0 else None

    return m.replace_letters(rule.value, read)


def rules(j: sympy.Expr | int) -> tuple[Assignment, ...]:
    """The printed rules that belong to j: its four assignments, and that of b_{j+1,2}."""
    return (*(rule.at(lists.j, j) for rule in lists.PRINTED), lists.BIAS.at(lists.j, j + 1))


def nothing_arises(printed: Callable[[Any], tuple[Assignment, ...]] = rules) -> list[Step]:
    """What is zero stays zero under every rule, whichever values, old, new or final, its other variables have.

    That is so for every i; W_{1,3} is zero in reading (d) only.  b_{i+1,2} keeps what it is, and W_{i+1,1} is any matrix.
    """
    i = INDEX
    kept = {b2(i + 1): b2(i + 1)}
    return [
        Step(f"{rule.target} stays", _with(rule, (W3(i),)), kept.get(rule.target, m.Zero(*rule.target.shape)))
        for rule in printed(i)
        if rule.target != W1(i + 1)
    ]


def only_the_first_term() -> Step:
    """Eq. 33 is then W_{1,3} σ(b_{1,2}): the sum over k ≥ 2 is zero."""
    L = INDEX
    zero = {x: m.Zero(*x.shape) for x in (X0, b3(L), W2(1), W2(k), W3(k))}
    total = m.Addition(
        W1(L) @ X0, b3(L), W3(1) @ m.Activation(W2(1) @ X0 + b2(1)),
        m.RangeSum(W3(k) @ m.Activation(W2(k) @ X0 + b2(k)), k, 2, L),
    )  # fmt: skip
    return Step("Eq. 33", m.replace_letters(total, lambda letter, _: zero.get(letter)), W3(1) @ m.Activation(b2(1)))


def left_alone(printed: Callable[[Any], tuple[Assignment, ...]] = rules) -> Evidence:
    """W_{1,1}, W_{2,1}, W_{1,3} and b_{1,2} are assigned by rules of j = 1 only: those of j ≥ 2 have later targets."""
    j = INDEX + 1
    needed = W1(1), W1(2), W3(1), b2(1)
    same_kind = lambda one, other: (one.name, one.subscripts[1:]) == (other.name, other.subscripts[1:])
    late = lambda target: all(
        (target.subscripts[0] - letter.subscripts[0]).is_positive for letter in needed if same_kind(letter, target)
    )
    wrong = next((rule for rule in printed(j) if not late(rule.target)), None)
    if wrong is not None:
        return Evidence(Method.INDUCTION, f"{wrong} may assign what the first term needs", Verdict.UNKNOWN)
    finding = f"no rule of j ≥ 2 assigns {', '.join(map(str, needed))}"
    return Evidence(Method.INDUCTION, finding, Verdict.PROVED)


def grows(reading: Reading) -> bool:
    """Whether the list of L + 1 layers is that of L layers and the rules of j = L, once, for L up to DEEPEST.

    Reading (d) executes the whole list once more instead; there W_{1,3} is zero by then.
    """
    assigned = lambda depth: Counter(a for block in reading.order(depth) for a in block.assignments)
    new = lambda depth: Counter(rules(depth))
    whole = lambda depth: sum((new(j) for j in range(1, depth + 1)), start=Counter())
    again = reading.order is lists.redone
    return all(assigned(L + 1) - assigned(L) == (whole(L) if again else new(L)) for L in range(1, DEEPEST))


def _lists_grow() -> Evidence:
    wrong = [name for name, reading in READINGS.items() if not grows(reading)]
    finding = f"not so: {wrong[0]}" if wrong else "one layer more adds the rules of one j, or all rules once more"
    return Evidence(
        Method.ENUMERATION, finding, Verdict.UNKNOWN if wrong else Verdict.PROVED, Enumerated(len(READINGS))
    )


def fails(name: str, reading: Reading, kind: str) -> Iterator[Evidence]:
    """Why a reading of the list is wrong at every depth from the first on."""
    what = f"{name}, {kind} network"
    if reading.at_first is not None:
        first = reading.first - 1
        (found,) = {tuple(value(p, reading.at_first) for p in reading.pair(kind)(first))}
        verdict = Verdict.PROVED if found[0] != found[1] else Verdict.UNKNOWN
        finding = f"{what}: network {found[0]}, printed {found[1]} at L = {first}, with {reading.at_first}"
        yield Evidence(Method.EXACT_NUMBERS, finding, verdict, Enumerated(1))
    yield apart(reading.pair(kind), reading.network, reading.first, what=what)


def _lists(settings: Settings) -> Iterator[Evidence]:
    yield _shown(
        [*map(same_output, KINDS), *nothing_arises(), only_the_first_term()], what="layers that do nothing, for every L"
    )
    yield left_alone()
    yield _lists_grow()
    for name, reading in READINGS.items():
        for kind in KINDS:
            yield from fails(name, reading, kind)
    yield from _raw_weights()


# --- raw weights of a Transformer ---------------------------------------------------------------------------------------

RAW = Network(A=(2, 3), B=(1, 5), C=(1, 1), x=1)
"""W_{2,2} must be B_2 A_2 A_1 = 30 and is B_2 A_1 = 10 where Eq. 30's factor is left out."""


def raw_pair(depth: int) -> tuple[Program, Program]:
    """The network, and the corrected boxes on its own W_{j,2}, without the factor A_j that Eq. 30 puts in."""
    first = u.simultaneous([Assignment(W2(1), W2(1) @ W1(1))])
    store, x = u.originals("transformer", depth, raw=True), u.square_layers("transformer").x(depth)
    printed = u.run(store, [first, *lists.corrected_boxes(depth)], x, u.closed_form_33(depth))
    return plain_network(u.square_layers("transformer"), depth), printed


def raw_box() -> list[Step]:
    """A box of j = i + 1 ≥ 2 whose layer j + 1 does nothing: W_{j+1,1}, W_{k,3} and b_{j+1,3} go on as they are."""
    j = INDEX + 1
    own = {W1(j + 1): m.Identity(u.D), W2(j + 1): m.Zero(u.F, u.D), b3(j + 1): m.Zero(u.D, 1)}
    wanted = {W1(j + 1): W1(j), b3(j + 1): b3(j), W2(j + 1): m.Zero(u.F, u.D), W3(k): W3(k), b2(j + 1): b2(j + 1)}
    box = [*(rule.at(lists.j, j) for rule in lists.CORRECTED), lists.BIAS.at(lists.j, j + 1)]
    held = lambda e: m.replace_letters(e, lambda letter, _: own.get(letter))
    return [Step(f"{rule.target} after the box", held(rule.value), wanted[rule.target]) for rule in box]


def _raw_weights() -> Iterator[Evidence]:
    yield _shown(raw_box(), what="raw weights: a box of a layer that does nothing")
    yield apart(raw_pair, RAW, 2, what="updates.raw-weights, transformer network")


# --- the nested bias ----------------------------------------------------------------------------------------------------

_ALL = nested_bias.READINGS
WRONG = {reading: exact for reading in _ALL if (exact := nested_bias.EXACT_TO.get(reading, 1)) is not None}
"""Reading → the largest L at which it is exact, for the eleven that are wrong."""


def nested_network(reading: tuple[str, str, str]) -> Network:
    """A network in which a reading is wrong at the first depth at which any is: by its matrix, version or bias."""
    matrix, bias, version = reading
    if matrix == "updated":  # B_2 A_1 for B_2
        return Network(A=(0, 1), B=(0, 1), C=(0, 1), c=(1,))
    if version == "final":  # A_2 C_1 for C_1
        return Network(A=(1, 2), B=(0, 1), C=(1, 1), b=(1,))
    if bias == "original":  # c_2 for A_2 c_1 + c_2
        return Network(A=(1, 1, 1), B=(0, 0, 1), C=(0, 0, 1), c=(1,))
    return Network(A=(1, 2, 1), B=(0, 0, 1), C=(1, 0, 1), b=(1,))  # C_1 for A_2 C_1


def same_parameters(kind: str) -> list[Step]:
    """Ŵ_{i+1,1} = Ŵ_{i,1}, b̂_{i+1,3} = b̂_{i,3}, Ŵ_{k,3}^(i+1) = Ŵ_{k,3}^(i) and Ŵ_{i+1,3} = 0, if layer i + 1 does nothing.

    Eq. 12/34 for j ≤ i contains no other letters of i + 1 layers in any reading, so that b̂_{j,2} and s_j stay as well.
    """
    closed = ClosedForm(u.square_layers(kind))
    i, rule = INDEX, recurrence(closed, INDEX + 1)
    assert rule.carry is not None
    where = nothing(closed.layers, i + 1)
    return [
        Step(f"{kind} network: Ŵ_{{i+1,1}}", rule.W1, closed.W1(i), where),
        Step(f"{kind} network: b̂_{{i+1,3}}", rule.b3, closed.b3(i), where),
        Step(f"{kind} network: Ŵ_{{k,3}}", rule.carry @ closed.W3(k, i), closed.W3(k, i), where),
        Step(f"{kind} network: Ŵ_{{i+1,3}}", rule.W3, m.Zero(u.D, u.F), where),
    ]


def _nested(settings: Settings) -> Iterator[Evidence]:
    steps = [step for kind in KINDS for step in (same_output(kind), *same_parameters(kind))]
    yield _shown(steps, what="layers that do nothing, for every L")
    for reading, exact in WRONG.items():
        for kind in KINDS:
            what = f"nested-bias.{'-'.join(reading)}, {kind} network"
            yield apart(nested_bias.pair_of(kind, reading), nested_network(reading), exact + 1, what=what)


# --- rows ---------------------------------------------------------------------------------------------------------------

_PADDED = "networks of width 1 with σ = relu, and behind them any number of layers with A_j = I, B_j, C_j, b_j, c_j = 0"
_SOURCES = (duat("3.3", 11, 12), duat("B.3", 33, 34), duat("App. Fig. 2"))

CLAIMS = (
    row(
        "wrong-readings.updates", "b", "the seven wrong readings of the list fail for every L",
        r"\text{(a), (c), (d): every }L\ge3;\quad\text{(b), (c$'$), (e), raw weights: every }L\ge2", _lists,
        sources=_SOURCES, hypotheses=(*SQUARE, "the list of L + 1 layers is that of L layers with the rules of j = L added"),
        reading=f"for every such L some network has another output than the list says: {_PADDED}",
    ),
    row(
        "wrong-readings.nested-bias", "b", "the eleven wrong readings of the nested bias fail for every L",
        r"\text{every }L\ge3\text{ (three readings), every }L\ge2\text{ (eight)}", _nested,
        sources=_SOURCES, hypotheses=SQUARE,
        reading=f"for every such L some network has another output than Eq. 11 with that bias: {_PADDED}",
    ),
)  # fmt: skip
