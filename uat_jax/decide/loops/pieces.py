"""Small programs that are compared with each other: what a proof about loops consists of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Var

from uat_jax.decide.assumption import Assumption
from uat_jax.decide.domain import Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import PieceOfLoops
from uat_jax.decide.loops.fingerprints import finite
from uat_jax.decide.loops.walk import Value, Walk, traced, used, without_dead
from uat_jax.decide.pieces import log2_of_all
from uat_jax.decide.prime_fields import PROBE, PrimeFields
from uat_jax.errors import UatJaxError, UnsupportedError
from uat_jax.interpret.canonical_form import same_program
from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.recognition import ConstantReading
from uat_jax.interpret.tracing import shape_of
from uat_jax.numbers.prime_fields.facts import Defined
from uat_jax.numbers.prime_fields.residues import EntriesLeftOut

MOST_TESTED = 1 << 8
"""After so many comparisons a proof is given up."""


class PieceError(UatJaxError):
    """A piece that is not shown to hold; `output` is the first output at which its sides differ, if they do."""

    def __init__(self, message: str, output: int | None = None):
        super().__init__(message)
        self.output = output


@dataclass
class Pieces:
    """The comparisons of one proof, and what they presuppose.

    meant: whether constants are what they stand for in all of them, or what is written.  tested: how many comparisons
    there were, among them those of guesses that were given up.  attempts: how many relations have been tried.
    found: the pieces that hold.  undefined: entries that are not finite on both sides.  readable: whether a constant
    stands for another number than is written.
    """

    effort: Effort
    meant: bool = False
    tested: int = 0
    attempts: int = 0
    found: list[PieceOfLoops] = field(default_factory=list)
    assumptions: dict[Assumption, None] = field(default_factory=dict)
    constants: set[ConstantReading] = field(default_factory=set)
    readable: bool = False
    undefined: int = 0

    @property
    def allowed(self) -> float:
        """The chance of error of one comparison."""
        return self.effort.error / (16 * MOST_TESTED)

    @property
    def condition(self) -> str:
        """Why the chance of error is conditional, '' if it is a theorem."""
        return next((r.bound.condition for piece in self.found for r in piece.rounds if r.bound.condition), "")

    def equal(
        self,
        what: str,
        sides: Sequence[Callable[..., Sequence[Value]]],
        types: Sequence[jax.ShapeDtypeStruct],
        domains: Domains,
    ) -> None:
        """Nothing, if two functions of arrays are the same function.

        Raises:
            PieceError: that is not shown.
        """
        left, right, within = joint(*(without_dead(traced(side, types)) for side in sides), domains=domains)
        if not left.jaxpr.outvars:
            return
        left, right = cropped(left, right)
        if same_program(left, right):
            self.found.append(PieceOfLoops(what, -math.inf, 1, ()))
            return
        if is_symbolic(left) or is_symbolic(right):
            raise PieceError(f"{what}: not the same program, and of a symbolic size")
        self._compare(what, left, right, within)

    def _compare(self, what: str, left: ClosedJaxpr, right: ClosedJaxpr, domains: Domains) -> None:
        self.tested += 1
        if self.tested > MOST_TESTED:
            raise PieceError(f"more than {MOST_TESTED} pieces were compared")
        effort = self.effort
        seed = (effort.seed + 1) * 2**32 + self.tested  # random numbers of its own for every test
        try:
            fields = PrimeFields(left, right, seed, effort.laws, effort.deadline, meant=self.meant, domains=domains)
            self.readable |= bool(fields.constants)
            compared = fields.compare(math.log2(self.allowed))
        except UnsupportedError as error:
            raise PieceError(f"{what}: {error}") from error
        if compared.almost or not compared.equal:
            but = " except where compared numbers are equal" if compared.almost else ""
            where = None if compared.where is None else compared.where[0]
            raise PieceError(f"{what}: not equal{but}", where)
        if not compared.within(self.allowed):
            raise PieceError(f"{what}: equal at random points, with a chance of error of 2^{compared.log2_error:.0f}")
        self.found.append(PieceOfLoops(what, compared.log2_error, compared.readings, compared.rounds))
        self.constants.update(compared.constants)
        self.assumptions.update(dict.fromkeys(compared.assumptions))
        self.undefined += compared.undefined

    def total(
        self, function: Callable[..., Sequence[Value]], types: Sequence[jax.ShapeDtypeStruct], domains: Domains
    ) -> bool:
        """Whether a function is defined for all inputs, as far as is shown.

        Raises:
            PieceError: a value may be infinite, or divides by zero for all inputs.
        """
        program = without_dead(traced(function, types))
        program, _, within = joint(program, program, domains=domains)
        if not program.jaxpr.outvars:
            return True
        program, _ = cropped(program, program)
        if is_symbolic(program):
            return False
        effort = self.effort
        fields = PrimeFields(program, program, effort.seed, effort.laws, effort.deadline, domains=within)
        drawn = fields.draw((PROBE,) * (fields.depth.plain + 1), 0, effort.laws - {"exponential form"})
        if any(isinstance(note, EntriesLeftOut) for note in drawn.notes) or not all(map(finite, drawn.left)):
            raise PieceError("a value that a loop carries, reads or gives may be infinite")
        return all(x.facts is not None and x.facts.defined is Defined.ALWAYS and not x.facts.hollow for x in drawn.left)

    @property
    def log2_error(self) -> float:
        """log₂ of the chance that one of the comparisons takes different programs for equal.

        The bound is Theorem P of docs/soundness.md.
        """
        largest = max((piece.log2_error for piece in self.found if piece.rounds), default=-math.inf)
        return log2_of_all(self.tested, largest)

    def branch(self) -> Pieces:
        """Empty pieces with the same settings, for an attempt whose findings may be thrown away."""
        return Pieces(self.effort, self.meant, self.tested)

    def count(self, branch: Pieces) -> None:
        """Add the comparisons of an attempt to the number of tests, whether or not the attempt succeeded."""
        self.tested, self.readable = branch.tested, self.readable or branch.readable

    def keep(self, branch: Pieces) -> None:
        """Add the findings of an attempt that succeeded to these."""
        self.found += branch.found
        self.assumptions |= branch.assumptions
        self.constants |= branch.constants
        self.undefined += branch.undefined


def cropped(left: ClosedJaxpr, right: ClosedJaxpr) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Both programs with the first rows only of inputs of symbolic length of which no others are read.

    Such an input has at least as many rows, and these may be any numbers.
    """
    types = [jax.ShapeDtypeStruct(shape_of(v), v.aval.dtype) for v in left.jaxpr.invars]
    for place, of in enumerate(types):
        if of.shape and jax.export.is_symbolic_dim(of.shape[0]):
            read = (_rows_read(program, program.jaxpr.invars[place]) for program in (left, right))
            ends = [end for end in read if end is not None]
            if len(ends) == 2:
                types[place] = jax.ShapeDtypeStruct((max(*ends, 1), *of.shape[1:]), of.dtype)
    if types == [jax.ShapeDtypeStruct(shape_of(v), v.aval.dtype) for v in left.jaxpr.invars]:
        return left, right
    again = lambda program: traced(lambda *given: Walk().closed(program, given), types)
    return again(left), again(right)


def _rows_read(program: ClosedJaxpr, variable: Var) -> int | None:
    """How many of the first rows of an input a program reads, if it takes all that it reads by slices."""
    uses = [e for e in program.jaxpr.eqns if any(atom is variable for atom in e.invars)]
    if any(e.primitive.name != "slice" for e in uses) or any(atom is variable for atom in program.jaxpr.outvars):
        return None
    ends = [e.params["limit_indices"][0] for e in uses]
    return max(ends, default=0) if all(isinstance(end, int) for end in ends) else None


def is_symbolic(program: ClosedJaxpr | Jaxpr) -> bool:
    """Whether an array of a program has a symbolic size, or a loop a symbolic number of steps."""
    variables = [*program.jaxpr.invars] if isinstance(program, ClosedJaxpr) else [*program.invars]
    variables += [v for e in program.eqns for v in (*e.invars, *e.outvars)]
    symbolic = any(jax.export.is_symbolic_dim(size) for v in variables for size in shape_of(v))
    return symbolic or any(e.primitive.name == "dim_as_value" or is_symbolic_inside(e) for e in program.eqns)


def is_symbolic_inside(equation: JaxprEqn) -> bool:
    """Whether an equation repeats something a symbolic number of times, or runs a program of symbolic sizes."""
    return jax.export.is_symbolic_dim(equation.params.get("length", 0)) or any(
        map(is_symbolic, inner_programs(equation))
    )


def joint(left: ClosedJaxpr, right: ClosedJaxpr, *, domains: Domains) -> tuple[ClosedJaxpr, ClosedJaxpr, Domains]:
    """Both programs without the inputs that neither reads."""
    kept = [any(pair) for pair in zip(used(left), used(right), strict=True)]
    if all(kept):
        return left, right, domains
    within = Domains(tuple(domains[i] for i, keep in enumerate(kept) if keep) if domains.of else ())
    return _of_inputs(left, kept), _of_inputs(right, kept), within


def _of_inputs(program: ClosedJaxpr, kept: Sequence[bool]) -> ClosedJaxpr:
    """The program of the inputs that are kept; it reads no others."""
    types = [jax.ShapeDtypeStruct(shape_of(v), v.aval.dtype) for v in program.jaxpr.invars]

    def of(*given: Value) -> list[Value]:
        values = iter(given)
        return Walk().closed(program, [next(values) if keep else None for keep in kept])

    return traced(of, [t for t, keep in zip(types, kept, strict=True) if keep])
