"""Two programs with long loops, without unrolling them: the loops keep their carries in a relation.

The programs run side by side from loop to loop.  At each pair of loops a relation between both carries is guessed from
values at random points; then it is proved that it holds before the first step, that a step from any related carries
leads to related carries and gives related rows, and that so does the test of a loop that ends by floats.  What the
loops give are fresh letters for the rest.  Every proof is an ordinary comparison of two small programs
(docs/soundness.md §17).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jax.extend.core import ClosedJaxpr

from uat_jax.decide.domain import Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.loops.both import Both
from uat_jax.decide.loops.guess import Attempt, attempts, read_rows
from uat_jax.decide.loops.loop import Loop
from uat_jax.decide.loops.loop_pair import LoopPair
from uat_jax.decide.loops.passed import Passed
from uat_jax.decide.loops.pieces import PieceError, Pieces
from uat_jax.decide.loops.relation_proof import RelationProof
from uat_jax.decide.loops.strict import all_strict, defined_somewhere
from uat_jax.decide.loops.view import View, at_least, views
from uat_jax.errors import UnsupportedError
from uat_jax.numbers.prime_fields.residues import ZeroDivisorError

MOST_ATTEMPTS = 12
"""So many relations are tried for a pair of loops."""


class Bisimulation:
    """The proof about two programs; `plan`: relations that held at some sizes, for loops of symbolic length."""

    def __init__(
        self,
        left: ClosedJaxpr,
        right: ClosedJaxpr,
        domains: Domains,
        pieces: Pieces,
        plan: Sequence[Passed] | None = None,
    ):
        self.both = Both(left, right, domains)
        self.pieces, self.plan = pieces, plan
        self.failures: list[str] = []
        self.defined = True

    @property
    def passed(self) -> list[Passed]:
        """The pairs of loops that are related."""
        return self.both.passed

    def prove(self) -> None:
        """Nothing, if both programs are the same function.

        Raises:
            PieceError: that is not shown; says why.
            UnsupportedError: a program that cannot be followed.
        """
        both = self.both
        while both.at_loops():
            self._pass_loops()
        if not both.passed:
            raise PieceError("there is no long loop")
        try:
            self.pieces.equal("after the loops", [both.outputs(0), both.outputs(1)], both.types, both.domains)
        except PieceError as error:
            raise PieceError("; ".join([*self.failures[:1], str(error)])) from error
        if not self.defined:
            self._check_undefined()
        if not (self.defined and self._is_rest_defined()):
            self._check_defined_somewhere()

    def _check_undefined(self) -> None:
        """What may be undefined stays so up to the outputs."""
        if not all(all_strict(side.program) for side in self.both.sides):
            raise PieceError(
                "what the loops carry may be undefined for some inputs, and a decision could hide that; divide by "
                "what is known to be positive"
            )

    def _is_rest_defined(self) -> bool:
        """Whether what follows the loops is shown to be defined for all inputs and carries."""
        both = self.both
        rest = lambda *arguments: [*both.outputs(0)(*arguments), *both.outputs(1)(*arguments)]
        try:
            return self.pieces.total(rest, both.types, both.domains)
        except (PieceError, ZeroDivisorError):
            return False

    def _check_defined_somewhere(self) -> None:
        """Both programs are defined somewhere: else being equal where both are defined would say nothing."""
        programs = [side.program for side in self.both.sides]
        seen = self.plan is not None  # at the sizes of the plan
        effort, domains = self.pieces.effort, self.both.domains
        if not seen and not all(defined_somewhere(p, effort.seed, domains, effort.deadline) for p in programs):
            raise PieceError("no input is found at which both functions are defined")

    def _pass_loops(self) -> None:
        """Finds and proves a relation for the next pair of loops; one without any equation is the last resort."""
        loops = self.both.loops()
        resort: tuple[Passed, RelationProof] | None = None
        for view in self._views(loops):
            pair = LoopPair(self.both, view)
            found = self._related(pair)
            if found is not None and (resort is None or found[0].carry.bound):
                resort = found
            if found is not None and found[0].carry.bound:
                break
        if resort is None:
            lengths = " and ".join(str(loop.length) for loop in loops)
            unfit = f"the loops{loops[0].line} and{loops[1].line} have {lengths} steps, which do not fit"
            raise PieceError(self.failures[0] if self.failures else unfit)
        passed, proof = resort
        self.pieces.keep(proof.pieces)
        self.defined &= proof.defined
        if (reason := _unrelated(proof.pair, passed.carry.unrelated)) is not None:
            self.failures.append(reason)
        self.both.passed.append(passed)

    def _related(self, pair: LoopPair) -> tuple[Passed, RelationProof] | None:
        """A relation that is proved, and its proof, if possible one with an equation; or None."""
        found = None
        try:
            guessed = attempts(pair, self.pieces.effort)
            for waiting in guessed if self.plan is None else [self._planned(pair, self.plan)]:
                found = self._proved(pair, waiting) or found
                if found is not None and (found[0].carry.bound or not found[0].carry.types):
                    break
        except (UnsupportedError, ZeroDivisorError) as error:
            self.failures.append(str(error))
        return found

    def _proved(self, pair: LoopPair, waiting: list[Attempt]) -> tuple[Passed, RelationProof] | None:
        """The first attempt that is proved; one that is not is weakened and tried again."""
        for _ in range(MOST_ATTEMPTS):
            if not waiting:
                break
            attempt = waiting.pop(0)
            self.pieces.attempts += 1
            proof = RelationProof(pair, attempt.passed, self.pieces.branch())
            try:
                proof.prove(attempt)
                return attempt.passed, proof
            except PieceError as error:
                self.failures.append(str(error))
                weaker = attempt.passed.weaker(error.output)
                if weaker is not None:
                    waiting.append(replace(attempt, passed=weaker))
                    waiting.sort(key=lambda attempt: attempt.size)
            finally:
                self.pieces.count(proof.pieces)
        return None

    def _views(self, loops: tuple[Loop, Loop]) -> list[tuple[View, View]]:
        """The ways in which the steps of both loops may fit: the one that is planned, if there is a plan."""
        if self.plan is None:
            return views(*loops)
        if len(self.both.passed) >= len(self.plan):
            raise PieceError("there are more loops of symbolic length than at the sizes that were looked at")
        planned = self.plan[len(self.both.passed)].views
        pair = View(loops[0], planned[0].front), View(loops[1], planned[1].front)
        simple = all(view.factor == 1 and not view.back for view in planned)
        enough = all(at_least(view.loop.length, view.front) for view in pair)
        return [pair] if simple and enough and pair[0].length == pair[1].length else []

    def _planned(self, pair: LoopPair, plan: Sequence[Passed]) -> list[Attempt]:
        """The relation that held at some sizes."""
        planned = plan[len(self.both.passed)]
        if (pair.carry_types, pair.given_types) != (list(planned.carry.types), list(planned.rows.types)):
            raise UnsupportedError(f"{pair.where} carry or give arrays of a symbolic size")
        (steps,) = pair.classes()
        return [Attempt(replace(planned, views=pair.views), [read_rows(pair, steps, self.pieces.effort)], [steps])]


def _unrelated(pair: LoopPair, places: Sequence[int]) -> str | None:
    """That carries of both loops stand in no equation, and which; None if one of the loops has none of these."""
    left = [place for place in places if place < pair.first]
    right = [place for place in places if place >= pair.first]
    if not (left and right):
        return None
    kind = lambda place: f"{pair.carry_types[place].dtype}{list(pair.carry_types[place].shape)}"
    text = lambda places, first: ", ".join(f"{place - first} ({kind(place)})" for place in places)
    which = f"carry {text(left, 0)} of the left one and {text(right, pair.first)} of the right one"
    return f"{pair.where}: no relation is found between {which}"


def loops_compared(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    effort: Effort,
    domains: Domains,
    plan: Bisimulation | None = None,
) -> Bisimulation:
    """The proof that two programs with long loops are the same function; `plan`: that at some sizes.

    Raises:
        PieceError, UnsupportedError: there is no such proof; says why.
    """
    exact = Effort(effort.error, effort.seed, effort.deadline, effort.laws)
    relations, tested = (None, 0) if plan is None else (plan.passed, plan.pieces.tested)
    written = Bisimulation(left, right, domains, Pieces(exact, tested=tested), relations)
    try:
        written.prove()
        return written
    except (PieceError, UnsupportedError):
        if not written.pieces.readable:
            raise
    meant = Bisimulation(left, right, domains, Pieces(exact, meant=True, tested=written.pieces.tested), relations)
    meant.prove()
    return meant
