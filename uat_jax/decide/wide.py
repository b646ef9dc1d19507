"""Two programs of fixed shapes that are too wide to be evaluated, proved equal by one normal form.

The rules of `numbers.indexed` look at no entry: they hold for axes of every length, and cost as much at 8192 as at 8.
So what prime fields cannot hold in memory, or not evaluate in time, is first compared as functions of indices.  Then
axes of the same length are taken for one dimension, and it is said for which lengths the same proof holds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from jax.extend.core import ClosedJaxpr

from uat_jax.byte_sizes import size_text
from uat_jax.decide.assumption import of_constants
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import InNormalForm
from uat_jax.decide.sampling import sample
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import BudgetError, UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.tracing import shape_of
from uat_jax.interpret.work import equations, multiplications
from uat_jax.numbers.indexed import Inputs, Open, Proof, proved
from uat_jax.numbers.indexed.workspace import sooner
from uat_jax.numbers.prime_fields.footprint import entries_computed, of_residues

Programs = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both sides."""

SLOW, HOPELESS = 1 << 32, 1 << 36
"""Multiplications at one random point from which on an evaluation takes many seconds, and many minutes."""

MANY_ENTRIES = 1 << 19
"""Programs that compute more entries are wide, if they are not long as well."""

LONG = 300
"""Programs with more equations are followed as functions of indices only where they cannot be evaluated."""

FASTEST = 1 << 36
"""More multiplications than these no machine makes in a second."""

GLANCE, PATIENCE = 2.0, 60.0
"""Seconds for the normal form where prime fields may decide as well, and where they cannot."""

COPIES = (2,)
"""The fewest values of every entry that a comparison in prime fields needs."""


@dataclass(frozen=True)
class WideProof:
    """That two programs have one normal form.

    reason: why they were not evaluated.  lengths: those for which any others may stand, as one dimension each; none if
    the proof was found for the lengths as they are.
    """

    proof: Proof
    reason: str
    lengths: tuple[int, ...]
    seconds: float

    @property
    def text(self) -> str:
        """The proof in a line."""
        names = ", ".join(f"{name_of_length(n)} = {n}" for n in self.lengths)
        other = f", for all lengths in the place of {names}" if names else ""
        return f"equal: both programs have one normal form{other}; found in {self.seconds:.1f} s, since {self.reason}"

    @property
    def figures(self) -> InNormalForm:
        """What a certificate keeps."""
        return InNormalForm(self.proof.divisors, self.lengths, self.reason, self.seconds)

    @property
    def evidence(self) -> Evidence:
        """That the programs are equal."""
        assumptions = of_constants(self.proof.constants)
        return Evidence(Method.INDEXED_NORMAL_FORM, self.text, Verdict.PROVED, self.figures, tuple(assumptions))


def name_of_length(length: int) -> str:
    """What the dimension is called that axes of this length have."""
    return f"n{length}"


@dataclass(frozen=True)
class Width:
    """Why two programs are not evaluated in prime fields; hopeless: whether they cannot be, so that nothing is lost."""

    reason: str
    hopeless: bool


def width_of(programs: Programs, effort: Effort) -> Width | None:
    """How wide two programs are; None if they are not.

    Of long programs only those that cannot be evaluated are called wide: they are cut into pieces first.
    """
    work, long = sum(map(multiplications, programs)), sum(equations(p.jaxpr) for p in programs) > LONG
    if work > (HOPELESS if long else SLOW):
        reason = f"prime fields need 2^{math.log2(work):.0f} multiplications for each random number"
        return Width(reason, work > HOPELESS)
    if long:
        return None
    entries, allowed = sum(map(entries_computed, programs)), effort.deadline.memory
    needed = of_residues(programs, COPIES, kept=False, enough=allowed)
    if needed > allowed:
        reason = f"prime fields need about {size_text(needed)} of memory, and {size_text(allowed)} are allowed"
        return Width(reason, hopeless=True)
    if entries > MANY_ENTRIES:
        return Width(f"prime fields need {entries:,} entries for each random number", hopeless=False)
    return None


def check_in_time(programs: Programs, effort: Effort) -> None:
    """Nothing, if an evaluation may end before the deadline.

    Raises:
        BudgetError: it will not, on any machine.
    """
    effort.deadline.check()
    work = sum(map(multiplications, programs))
    if work > FASTEST * effort.deadline.remaining:
        raise BudgetError(f"2^{math.log2(work):.0f} multiplications take longer than there is time; allow more seconds")


def wide_proof(
    programs: Programs,
    width: Width | None,
    effort: Effort,
    domains: Domains = EVERYWHERE,
    *,
    whole: bool = True,
) -> WideProof | None:
    """The proof that two wide programs are equal at all inputs at which both are defined; None if there is none.

    whole: whether these programs are all that was asked about.  Then they have to be seen to be defined: else being
    equal where both are defined would say nothing.
    """
    if width is None:
        return None
    begin = time.monotonic()
    effort.progress("comparing both as functions of indices")
    end = sooner(effort.deadline, min(PATIENCE if width.hopeless else GLANCE, effort.deadline.remaining / 2))
    signs = tuple(_sign(domains, i) for i in range(len(programs[0].in_avals)))
    try:
        proof = proved(*programs, Inputs(signs), end)
    except (Open, UnsupportedError):
        return None
    if whole and not proof.defined and not _defined_somewhere(programs, effort, domains):
        return None
    lengths = next((chosen for chosen in _choices(programs[0]) if _holds_for(programs, signs, chosen, end)), ())
    return WideProof(proof, width.reason, lengths, round(time.monotonic() - begin, 2))


def _sign(domains: Domains, index: int) -> int:
    """2 for an input that is positive, 1 for one that is not negative, else 0."""
    domain = domains[index]
    return 2 if domain.positive else 1 if domain.nonnegative else 0


def _defined_somewhere(programs: Programs, effort: Effort, domains: Domains) -> bool:
    """Whether both programs have finite values at random inputs, which do not differ by more than rounding.

    False where looking would take too long.
    """
    if sum(map(multiplications, programs)) > HOPELESS:
        return False
    seen = sample(*programs, effort.seed, effort.deadline, domains).seen
    return seen.points > 0 and not (seen.apart or seen.defined_on_one_side or seen.nowhere_defined)


def _choices(program: ClosedJaxpr) -> Iterator[tuple[int, ...]]:
    """The lengths of inputs above 1: all of them, all but one, and one alone, as in `generalizations`."""
    lengths = tuple(dict.fromkeys(n for v in program.jaxpr.invars for n in shape_of(v) if n > 1))
    but_one = [tuple(n for n in lengths if n != kept) for kept in lengths]
    yield from dict.fromkeys(chosen for chosen in [lengths, *but_one, *((n,) for n in lengths)] if chosen)


def _holds_for(programs: Programs, signs: tuple[int, ...], lengths: tuple[int, ...], end: Deadline) -> bool:
    """Whether both have one normal form if each of these lengths is a symbolic dimension, however large."""
    names = {n: name_of_length(n) for n in lengths}
    try:
        found = proved(*programs, Inputs(signs, lengths=names), end)
    except (Open, UnsupportedError):
        return False
    return not found.bounded
