"""A proof that two functions are equal at all sizes of their symbolic dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import jax
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.as_reals import AsReals
from uat_jax.decide.assumption import Assumption, AssumptionKind, of_constants
from uat_jax.decide.domain import EVERYWHERE, Domains, domain_of, with_shape
from uat_jax.decide.effort import Effort
from uat_jax.decide.entry_by_entry import entry_by_entry
from uat_jax.decide.figures import AllSizes
from uat_jax.decide.functions_of_entries import functions_of_entries
from uat_jax.decide.integers import Integers
from uat_jax.decide.loops.counted import with_scans
from uat_jax.decide.sampling import Seen, sample
from uat_jax.decide.specification import Specification, is_variable, same_outputs, traced
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decide.watched_sizes import in_new_scope, watched
from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret.canonical_form import same_program
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.numbers.indexed import Inputs, Open, Proof, proved
from uat_jax.numbers.indexed.constraints import NEW, derived, lowest
from uat_jax.numbers.indexed.dimension import smallest
from uat_jax.numbers.indexed.whole_numbers import LARGEST_SIZE
from uat_jax.typing import PyTree

ALL_SIZES = "all sizes"
"""The subject of what is said about sizes that were not tried."""


SAME = "both are the same program with symbolic dimensions, after renaming and inlining"
NORMAL_FORM = "both have one normal form"
"""Why two functions are equal at all sizes."""


class _Pair(Protocol):
    """Both programs at some sizes."""

    @property
    def left(self) -> ClosedJaxpr: ...
    @property
    def right(self) -> ClosedJaxpr: ...
    @property
    def domains(self) -> Any: ...


@dataclass(frozen=True)
class SizedPrograms:
    """Two programs with symbolic dimensions, what is known of their inputs, and the constraints of their sizes.

    reals: how their integers are read as functions of real numbers.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    inputs: Inputs
    constraints: tuple[str, ...]
    reals: AsReals = AsReals(EVERYWHERE, ())

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps: both programs, their digests and the constraints, or why they cannot be kept."""
        try:
            programs = {"left": encode(self.left), "right": encode(self.right)}
        except UnsupportedError as error:
            return {"missing": str(error)}
        digests = {f"{side}_digest": digest(program) for side, program in programs.items()}
        return {"constraints": list(self.constraints), **programs, **digests}


Symbolic = tuple[ClosedJaxpr, ClosedJaxpr, Inputs]
"""Both programs with symbolic dimensions, and what is known of their inputs."""


def proved_for_all_sizes(
    symbolic: Callable[[], Symbolic], specification: Specification, pairs: Sequence[_Pair], effort: Effort
) -> tuple[Evidence, SizedPrograms] | str:
    """The proof and the programs that it is about, or why there is none: what stood in the way, or that sizes are
    listed, so that they are the claim.

    symbolic: makes `symbolic_programs` of both functions, and raises what that does.
    """
    if not specification.symbols or specification.listed is not None:
        return "no size is symbolic, or sizes are listed"
    effort.progress("looking for one normal form at all sizes")
    try:
        programs = sized_programs(symbolic(), specification)
    except (InputError, UnsupportedError) as error:
        return str(error)
    found = proof_of(programs, pairs, effort)
    return found if isinstance(found, str) else (found, programs)


def proof_of(programs: SizedPrograms, pairs: Sequence[_Pair], effort: Effort) -> Evidence | str:
    """The proof that two programs are equal at all sizes, or what stood in the way.

    Whatever was proved, float64 values at the sizes of `pairs` must not differ, and at none of these sizes may one
    function alone be undefined at all inputs: it would say nothing that both are equal where both are defined.
    """
    if found := entry_by_entry((programs.left, programs.right), programs.reals.domains.of, effort.deadline, ALL_SIZES):
        return found
    try:
        same = same_program(programs.left, programs.right)
        proof, assumptions = (Proof(), ()) if same else _normal_form(programs, effort)
    except (Open, UnsupportedError) as error:
        return str(error)
    seen = [sampled_as_reals(p, effort) for p in pairs]
    if any(s.apart or s.defined_on_one_side for s in seen) or seen and all(s.nowhere_defined for s in seen):
        return "float64 values differ, or one of the functions is undefined at all inputs tried"
    found = _evidence(proof, programs.constraints, SAME if same else NORMAL_FORM)
    return replace(found, assumptions=(*found.assumptions, *assumptions))


def _normal_form(programs: SizedPrograms, effort: Effort) -> tuple[Proof, tuple[Assumption, ...]]:
    """The proof by one normal form; if there is none, that with functions of entries of integers as inputs.

    Raises:
        Open, UnsupportedError: there is neither.
    """
    in_form = lambda p: proved(p.reals.program(p.left), p.reals.program(p.right), p.inputs, effort.deadline)
    try:
        return in_form(programs), ()
    except (Open, UnsupportedError):
        further = _with_functions(programs, effort)
        if further is None:
            raise
    return in_form(further[0]), further[1]


def _with_functions(programs: SizedPrograms, effort: Effort) -> tuple[SizedPrograms, tuple[Assumption, ...]] | None:
    """The programs with functions of entries of integers as inputs, and what that presupposes; None without any."""
    if not programs.reals.domains.whole:
        return None
    found = functions_of_entries(programs.left, programs.right, programs.reals.domains, effort.deadline)
    if found is None:
        return None
    dtypes = tuple(v.aval.dtype for v in found.left.jaxpr.invars)
    signs = [programs.inputs.signs[i] for i in found.kept]
    inputs = replace(programs.inputs, signs=(*signs, *[0] * (len(dtypes) - len(signs))))
    reals = AsReals(found.domains, dtypes, integers=True)
    return SizedPrograms(found.left, found.right, inputs, programs.constraints, reals), found.assumptions


def sampled_as_reals(pair: _Pair, effort: Effort) -> Seen:
    """What float64 shows of two programs, their integers read as functions of real numbers."""
    if not pair.domains.whole:
        return sample(pair.left, pair.right, effort.seed, effort.deadline, pair.domains).seen
    reals = AsReals(pair.domains, tuple(aval.dtype for aval in pair.left.in_avals), integers=True)
    left, right = reals.program(pair.left), reals.program(pair.right)
    return sample(left, right, effort.seed, effort.deadline, reals.real_domains).seen


def sized_programs(symbolic: Symbolic, specification: Specification) -> SizedPrograms:
    """Both programs with symbolic dimensions, in which loops that count are scans over rows."""
    first, second, inputs = symbolic
    leaves = jax.tree.leaves(specification.arguments)
    return SizedPrograms(
        with_scans(first), with_scans(second), inputs, tuple(specification.constraints), as_reals_of(leaves)
    )


def as_reals_of(leaves: Sequence[PyTree]) -> AsReals:
    """How the integers among inputs are read as functions of real numbers."""
    variables = [leaf for leaf in leaves if is_variable(leaf)]
    domains = Domains(tuple(map(domain_of, variables)))
    return AsReals(domains, tuple(leaf.dtype for leaf in variables), integers=True)


def symbolic_programs(left: Callable, right: Callable, specification: Specification) -> Symbolic:
    """Both programs with symbolic dimensions, and what is known of their inputs.

    Raises:
        InputError, UnsupportedError: a function cannot be traced so, or decides by a size what it computes.
    """
    leaves, tree = jax.tree.flatten(specification.arguments)
    shapes = in_new_scope([leaf.shape for leaf in leaves])
    renewed = [with_shape(leaf, shape) for leaf, shape in zip(leaves, shapes, strict=True)]
    arguments = jax.tree.unflatten(tree, renewed)
    dimensions = [d for shape in shapes for d in shape if jax.export.is_symbolic_dim(d)]
    with watched(dimensions[0]):
        (first, outputs), (second, others) = (traced(f, arguments) for f in (left, right))
        same_outputs(*map(_without_lengths, (outputs, others)))
    return first, second, inputs_of(leaves, specification.symbols, specification.constraints, dimensions[0].scope)


def inputs_of(leaves: Sequence[PyTree], symbols: Sequence[str], constraints: Sequence[str], scope: Any) -> Inputs:
    """What is known of inputs and of sizes.

    Raises:
        UnsupportedError: a size has the name of what is put in the place of another one.
    """
    found = derived(constraints)
    if taken := {f"{name}{NEW}" for name in found} & set(symbols):
        raise UnsupportedError(f"the size {min(taken)} has the name of what is put in the place of another one")
    dimensions = [jax.export.symbolic_shape(name, scope=scope)[0] for name in symbols]
    lower = {name: smallest(size) for name, size in zip(symbols, dimensions, strict=True)} | lowest(found)
    return Inputs(tuple(_sign(leaf) for leaf in leaves if is_variable(leaf)), lower, found)


def _without_lengths(outputs: Any) -> Any:
    """Outputs without their shapes: JAX writes one length in several ways, and the normal forms tell whether it is."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((), leaf.dtype), outputs)


def _sign(leaf: PyTree) -> int:
    """2 for an input that is positive, 1 for one that is not negative, else 0."""
    domain = domain_of(leaf)
    if isinstance(domain, Integers):  # read as a real number
        return 0
    return 2 if domain.positive else 1 if domain.nonnegative else 0


def _evidence(proof: Proof, constraints: Sequence[str], reason: str) -> Evidence:
    sizes = f"all sizes with {', '.join(constraints)}" if constraints else "all sizes"
    finding = f"equal at {sizes}, for all inputs at which both are defined: {reason}"
    assumptions = [*of_constants(proof.constants)]
    if proof.bounded:
        assumptions.append(Assumption(AssumptionKind.LARGEST_SIZE, {"largest": LARGEST_SIZE}))
    figures = AllSizes(proof.divisors, proof.cases)
    return Evidence(Method.INDEXED_NORMAL_FORM, finding, Verdict.PROVED, figures, tuple(assumptions), ALL_SIZES)
