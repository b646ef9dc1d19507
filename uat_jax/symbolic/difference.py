"""Which word differs when two normal forms are not equal."""

from __future__ import annotations

from dataclasses import dataclass

from uat_jax.symbolic import language as m
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.printing import scalar_text
from uat_jax.symbolic.words import NormalForm, Opaque, Term, Word


@dataclass(frozen=True)
class Difference:
    """The first word in which two sides part.

    ``left`` (what a paper prints) and ``right`` (what it must be) are that word on each side, coefficients included
    ("nothing" where a side lacks it);
    ``where`` says in the argument of which σ it stands ("" at the top level).
    """

    left: str
    right: str
    where: str = ""

    def __str__(self) -> str:
        place = f" in {self.where}" if self.where else ""
        return f"{self.left} instead of {self.right}{place}"


def difference(normaliser: Normaliser, left: NormalForm, right: NormalForm) -> Difference | None:
    """None if both normal forms are equal, shapes included; else where they differ.

    The equality alone decides; whatever is said of a difference, there is one.
    """
    return None if left == right else _explained(normaliser, left, right, "")


def _explained(normaliser: Normaliser, left: NormalForm, right: NormalForm, where: str) -> Difference:
    """The first differing word, looking inside the arguments of opaque functions; or the shapes."""
    only_left = [t for t, c in left.terms.items() if right.terms.get(t) != c]
    only_right = [t for t, c in right.terms.items() if left.terms.get(t) != c]
    if not only_left and not only_right:  # such as I_n and I_k
        return Difference(_shape(left), _shape(right), where)
    plain_left, plain_right = ([t for t in terms if _is_plain(normaliser, t)] for terms in (only_left, only_right))
    if plain_left or plain_right:  # words without functions say most clearly what is wrong
        return _unmatched(normaliser, left, right, plain_left, plain_right, where)
    for s in only_left:
        for t in only_right:
            if (pair := _same_but_one_argument(normaliser, s, t)) is not None:
                inside = f"the argument of {_abbreviated(normaliser, left, s)}"
                return _explained(normaliser, *pair, inside)
    return _unmatched(normaliser, left, right, only_left, only_right, where)


def _shape(form: NormalForm) -> str:
    return f"the shape {' × '.join(map(scalar_text, form.shape))}"


def _is_plain(n: Normaliser, term: Term) -> bool:
    return not any(isinstance(record, Opaque) for record in n.letters.records(term[1]))


def _unmatched(n, left, right, only_left, only_right, where) -> Difference:
    if not only_left:
        return Difference("nothing", _abbreviated(n, right, only_right[0]), where)
    s = only_left[0]
    partner = max(only_right, key=lambda t: _common_ends(s[1], t[1]), default=None)
    if partner is None or not _common_ends(s[1], partner[1]):
        return Difference(_abbreviated(n, left, s), "nothing", where)
    return Difference(_abbreviated(n, left, s), _abbreviated(n, right, partner), where)


def _common_ends(a: Word, b: Word) -> int:
    same = lambda pairs: next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))
    return same(zip(a, b, strict=False)) + 2 * same(zip(reversed(a), reversed(b), strict=False))


def _same_but_one_argument(n: Normaliser, s: Term, t: Term) -> tuple[NormalForm, NormalForm] | None:
    if s[0] != t[0] or len(s[1]) != len(t[1]):
        return None
    parts = [(x, y) for x, y in zip(n.letters.records(s[1]), n.letters.records(t[1]), strict=True) if x != y]
    match parts:
        case [(Opaque(f, a), Opaque(g, b))] if f == g:
            return a, b
    return None


def _abbreviated(n: Normaliser, form: NormalForm, term: Term) -> str:
    """The word as text, with the inner arguments of its functions written as dots."""
    expression = n.letters.term_expression(term, form.terms[term], form.shape[0])
    return str(_shallow(expression, depth=1))


def _shallow(e: m.Expression, depth: int) -> m.Expression:
    if isinstance(e, m.Activation | m.RowSoftmax | m.Dependent) and depth == 0:
        dots = m.Letter("…", *e.arg.shape)
        return m.Dependent(e.letter, dots) if isinstance(e, m.Dependent) else e.func(dots)
    if isinstance(e, m.Letter):
        return e
    inner = depth - isinstance(e, m.Activation | m.RowSoftmax | m.Dependent)
    return e.rebuilt(lambda operand: _shallow(operand, inner))
