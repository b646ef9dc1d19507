"""A proof for all sizes found again, from the programs with symbolic dimensions in a certificate alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.all_sizes import SizedPrograms, as_reals_of, inputs_of, proof_of, sampled_as_reals
from uat_jax.decide.certificate import Certificate, one_line
from uat_jax.decide.cut_off import by_cut_off, consecutive_sizes
from uat_jax.decide.effort import Effort
from uat_jax.decide.equivalence import Pair, by_induction, examined, long_sizes
from uat_jax.decide.integers import WHOLE
from uat_jax.decide.specification import Sizes, Specification, sizes_text
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.errors import InputError, MismatchError, UnsupportedError
from uat_jax.interpret import symbolic_sizes
from uat_jax.interpret.canonical_form import same_program
from uat_jax.interpret.jaxpr_file import decode, digest
from uat_jax.numbers.indexed import Inputs, Open

FIELDS = frozenset("constraints left right left_digest right_digest".split())


@dataclass(frozen=True)
class Kept:
    """The programs with symbolic dimensions in a certificate, and what they are at the sizes of its pairs."""

    data: Mapping[str, Any]
    programs: SizedPrograms
    instances: Sequence[Pair]


def proved_again(given: Certificate, pairs: Sequence[Pair], stated: Specification, effort: Effort) -> Evidence:
    """The proof for all sizes, which is the one in the certificate.

    ``pairs``: the programs at some sizes in it; they have to be what the programs with symbolic dimensions are there.

    Raises:
        InputError: the file is damaged, or holds no such programs.
        MismatchError: they are not those of the digests, the inputs or the pairs, or no proof or another one is found.
        BudgetError: the time is used up.
    """
    kept = _kept(given.claim, pairs, stated, effort)
    found = proof_of(kept.programs, [*pairs, *kept.instances], effort)
    effort.deadline.check()
    if isinstance(found, str):
        raise _not_found(Verdict.PROVED, found)
    (said,) = given.evidence
    return _same(said, found)


def by_induction_again(given: Certificate, pairs: Sequence[Pair], stated: Specification, effort: Effort) -> Evidence:
    """What induction over the steps of loops shows of all sizes, with fresh random numbers.

    Raises:
        InputError, MismatchError, BudgetError: as `proved_again`.
    """
    kept = _kept(given.claim, pairs, stated, effort)
    sizes = long_sizes(stated.symbols)
    empty = dataclasses.replace(pairs[0], sizes=sizes)
    found = by_induction(_instance(empty, kept.data), kept.programs, effort)
    if found is None:
        raise _not_found(given.verdict, "no relation of the carries is proved at all sizes")
    return found


def shown_by_few_again(
    given: Certificate, pairs: Sequence[Pair], evidence: Sequence[Evidence], stated: Specification, effort: Effort
) -> Evidence:
    """What equality at a few sizes shows of all, which is what stands in the certificate.

    ``evidence``: what is found of each pair.  Theorem A is about the programs with symbolic dimensions: where a pair is
    not seen to be the same programs, these are compared at its sizes as well.

    Raises:
        InputError, MismatchError, BudgetError: as `proved_again`.
    """
    kept = _kept(given.claim, pairs, stated, effort)
    try:
        sizes = consecutive_sizes(kept.programs, stated.symbols, effort)
    except (Open, UnsupportedError) as error:
        effort.deadline.check()
        raise _not_found(Verdict.CERTIFIED, str(error)) from error
    few = [row for row in zip(pairs, kept.instances, evidence, strict=True) if row[0].sizes in sizes]
    found = by_cut_off(sizes, [_of_instance(*row, effort) for row in few])
    if not found:
        needed = "; ".join(map(sizes_text, sizes))
        raise _not_found(Verdict.CERTIFIED, f"equality at {needed} is needed, with constants read in one way")
    return _same(given.evidence[-1], found[0])


def _of_instance(pair: Pair, instance: Pair, found: Evidence, effort: Effort) -> Evidence:
    """What is found of the programs with symbolic dimensions at the sizes of a pair, of which something is known."""
    if same_program(pair.left, instance.left) and same_program(pair.right, instance.right):
        return found
    return examined(instance, effort, instance.search(effort), lambda example: "")


def _same(said: Evidence, found: Evidence) -> Evidence:
    """What is found, if it is what is said."""
    for field in dataclasses.fields(Evidence):
        if getattr(said, field.name) != getattr(found, field.name):
            raise MismatchError(f"the {field.name} of the proof in the certificate is not what is found again")
    return found


def _not_found(verdict: Verdict, reason: str) -> MismatchError:
    return MismatchError(f"the certificate says {verdict}; decided again that is not found: {one_line(reason)}")


def _kept(claim: Mapping[str, Any], pairs: Sequence[Pair], stated: Specification, effort: Effort) -> Kept:
    """The programs with symbolic dimensions, checked against digests, stated inputs, and the pairs at some sizes."""
    data = _stored(claim)
    with symbolic_sizes.in_scope(data["constraints"]) as scope:
        left, right = decode(data["left"]), decode(data["right"])
    for side in ("left", "right"):
        if digest(data[side]) != data[f"{side}_digest"]:
            raise MismatchError(
                f"the {side} program with symbolic dimensions is not the one whose digest stands in the certificate"
            )
    _check_inputs((left, right), stated)
    inputs = inputs_of(stated.arguments, stated.symbols, data["constraints"], scope)
    instances = [_instance(pair, data) for pair in pairs]
    for pair, instance in zip(pairs, instances, strict=True):
        _check_same(pair, instance, inputs, effort)
    reals = as_reals_of(stated.arguments)
    return Kept(data, SizedPrograms(left, right, inputs, tuple(data["constraints"]), reals), instances)


def _stored(claim: Mapping[str, Any]) -> Mapping[str, Any]:
    """The programs with symbolic dimensions as data."""
    data = claim.get("all_sizes")
    if data is None:
        raise InputError(
            "the certificate is about all sizes, and its file holds no programs with symbolic dimensions; certify both "
            "functions again"
        )
    if not isinstance(data, Mapping) or set(data) not in ({"missing"}, FIELDS):
        raise InputError(
            f"the certificate is damaged: its programs with symbolic dimensions have not the fields "
            f"{', '.join(sorted(FIELDS))}; take the file as uat_jax wrote it"
        )
    if "missing" in data:
        raise InputError(
            f"the certificate holds no programs with symbolic dimensions ({one_line(data['missing'])}); certify both "
            "functions again"
        )
    if not isinstance(data["constraints"], list | tuple):
        raise InputError("the certificate is damaged: its constraints are no list; take the file as uat_jax wrote it")
    return data


def _check_inputs(programs: Sequence[ClosedJaxpr], stated: Specification) -> None:
    """Both programs take the stated inputs, and return as many arrays of the same dtypes: floats, or what is whole."""
    wanted = [(leaf.dtype, [str(d) for d in leaf.shape]) for leaf in stated.arguments]
    for program in programs:
        if [(aval.dtype, [str(d) for d in aval.shape]) for aval in program.in_avals] != wanted:
            raise MismatchError("the inputs in the certificate are not those of its programs with symbolic dimensions")
    dtypes = [[aval.dtype for aval in program.out_avals] for program in programs]
    known = lambda dtype: jnp.issubdtype(dtype, jnp.floating) or str(dtype) in WHOLE
    if dtypes[0] != dtypes[1] or not dtypes[0] or not all(map(known, dtypes[0])):
        raise MismatchError("the programs with symbolic dimensions do not return floating-point arrays of equal dtypes")


def _instance(pair: Pair, data: Mapping[str, Any]) -> Pair:
    """The programs with symbolic dimensions at the sizes of a pair, which fit the constraints."""
    sizes = {**pair.sizes, **_defined(pair.sizes, data["constraints"])}
    with symbolic_sizes.at_sizes(sizes):
        for text in data["constraints"]:
            one, relation, other = re.split("(==|>=|<=)", text)
            low, high = symbolic_sizes.read(one), symbolic_sizes.read(other)
            if not {"==": low == high, ">=": low >= high, "<=": low <= high}[relation] or min(sizes.values()) < 1:
                raise MismatchError(f"the sizes {sizes_text(pair.sizes)} in the certificate do not fit {text}")
        return dataclasses.replace(pair, left=decode(data["left"]), right=decode(data["right"]))


def _defined(sizes: Sizes, constraints: Sequence[str]) -> dict[str, int]:
    """The sizes that no input has, because a constraint such as D == h*d says what they are."""
    found: dict[str, int] = {}
    with symbolic_sizes.at_sizes(sizes):
        for text in constraints:
            name, relation, value = (part.strip() for part in re.split("(==|>=|<=)", text))
            if relation == "==" and name.isidentifier() and name not in sizes:
                found.setdefault(name, symbolic_sizes.read(value))
    return found


def _check_same(pair: Pair, instance: Pair, inputs: Inputs, effort: Effort) -> None:
    """The programs at some sizes are those with symbolic dimensions, or have the same float64 values.

    Where float64 cannot evaluate them, they are shown to be equal.
    """
    for side in ("left", "right"):
        one, other = getattr(pair, side), getattr(instance, side)
        types = (one.in_avals, one.out_avals) == (other.in_avals, other.out_avals)
        if types and same_program(one, other):
            continue
        both = dataclasses.replace(pair, left=one, right=other)
        seen = sampled_as_reals(both, effort) if types else None
        unseen = seen is not None and not seen.points
        if seen is None or seen.apart or seen.mismatched or unseen and not _are_equal(both, inputs, effort):
            raise MismatchError(
                f"the {side} program at {sizes_text(pair.sizes)} is not the one with symbolic dimensions there"
            )


def _are_equal(pair: Pair, inputs: Inputs, effort: Effort) -> bool:
    """Whether two programs have one normal form, or are found to be equal as any two are."""
    programs = SizedPrograms(pair.left, pair.right, Inputs(inputs.signs), ())
    if isinstance(proof_of(programs, (), effort), Evidence):
        return True
    found = examined(pair, effort, pair.search(effort), lambda example: "")
    return found.verdict in (Verdict.PROVED, Verdict.CERTIFIED)
