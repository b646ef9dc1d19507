"""Certificates about two functions decided again, from the file alone: the programs in it are data, never code."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from flint import fmpz

from uat_jax.arithmetic.balls import Balls, enclose
from uat_jax.arithmetic.jaxpr_file import decode, digest
from uat_jax.certify.certificate import Certificate
from uat_jax.certify.effort import Effort
from uat_jax.certify.equivalence import Pair, certificate_of, examined
from uat_jax.certify.fields_evidence import METHOD
from uat_jax.certify.specification import sizes_text
from uat_jax.certify.verdict import Evidence, Verdict, combine
from uat_jax.errors import InputError, MismatchError, UatJaxError

REPRODUCER = "# both programs stand in the certificate\n"


def decide_again(given: Certificate, *, seed: int | None = None) -> Certificate:
    """The certificate of the same question with fresh random numbers (``seed``; one more than before if None).

    Raises:
        InputError: the file is damaged, or holds no programs.
        MismatchError: its digests or numbers do not fit, or another verdict is found.
    """
    try:
        return _decide_again(given, seed)
    except UatJaxError:
        raise
    except Exception as error:  # whatever a hostile program makes JAX raise
        raise InputError(
            f"the certificate is damaged: {type(error).__name__}: {str(error).splitlines()[:1]}"
        ) from error


def _decide_again(given: Certificate, seed: int | None) -> Certificate:
    stated = Effort(float(given.settings["error"]), given.settings["seed"])
    effort = dataclasses.replace(stated, seed=(stated.seed + 1) % 2**31 if seed is None else seed)
    pairs = [_pair(data) for data in given.claim["programs"]]
    if not pairs:
        raise InputError("the certificate is damaged: it compares no programs")
    _check_numbers(given, len(pairs))
    if given.verdict is Verdict.REFUTED:
        _check_counterexample(given.counterexample, pairs[0])
    share = dataclasses.replace(effort, error=effort.error / len(pairs))
    evidence = [examined(pair, share, pair.search(share), lambda sizes, witness: REPRODUCER) for pair in pairs]
    assumptions = [*(a for a in given.assumptions if a.startswith(("integer input ", "shown at ")))]
    assumptions += [a for e in evidence for a in e.assumptions]
    found = certificate_of(given.claim, combine(evidence), evidence, assumptions, effort)
    if found.verdict is not given.verdict or found.passes is not given.passes:
        raise MismatchError(f"the certificate says {given.verdict}; decided again it is {found.verdict}")
    return found


def _pair(data: Mapping[str, Any]) -> Pair:
    if "missing" in data:
        raise InputError(f"the certificate holds no programs ({data['missing']}); certify both functions again")
    left, right = decode(data["left"]), decode(data["right"])
    for side in ("left", "right"):
        if digest(data[side]) != data[f"{side}_digest"]:
            raise MismatchError(f"the {side} program is not the one whose digest stands in the certificate")
    if (left.in_avals, left.out_avals) != (right.in_avals, right.out_avals):
        raise InputError("the certificate is damaged: its programs have different inputs or outputs")
    return Pair({str(name): int(size) for name, size in data["sizes"].items()}, left, right)


def _check_numbers(given: Certificate, share: int) -> None:
    """The stated chance of error is that of the rounds, and small enough; the primes are towers of primes."""
    subjects = [sizes_text(data["sizes"]) for data in given.claim["programs"]]
    if [e.subject for e in given.evidence] != subjects:
        raise MismatchError("the certificate's evidence is not about its programs")
    for evidence in given.evidence:
        if evidence.method == METHOD and evidence.verdict is Verdict.CERTIFIED:
            _check_rounds(evidence, math.log2(given.settings["error"] / share))


def _check_rounds(evidence: Evidence, log2_error: float) -> None:
    rounds, total = evidence.figures["rounds"], evidence.figures["log2_error"]
    if not math.isclose(sum(r["bound"]["log2"] for r in rounds), total, abs_tol=1e-6) or total > log2_error:
        raise MismatchError(
            "the chance of error in the certificate is not that of its rounds, or not as small as asked"
        )
    for r in rounds:
        primes = [int(p) for p in r["primes"]]
        tower = all((p - 1) % q == 0 for p, q in pairwise(primes))
        if not tower or not all(fmpz(p).is_prime() for p in primes) or len(r["copies"]) != len(primes):
            raise MismatchError(f"the numbers {primes} in the certificate are no tower of primes")


def _check_counterexample(counterexample: Any, pair: Pair) -> None:
    """Ball arithmetic separates both programs at the stated input."""
    if not counterexample:
        raise MismatchError("the certificate says REFUTED without a counterexample")
    arrays = [np.asarray(x["values"], np.float64).reshape(x["shape"]) for x in counterexample["inputs"]]
    if [x.shape for x in arrays] != [aval.shape for aval in pair.left.in_avals]:
        raise MismatchError("the counterexample in the certificate does not fit its programs")
    rounded = [x.astype(jnp.dtype(a.dtype)).astype(np.float64) for x, a in zip(arrays, pair.left.in_avals, strict=True)]
    values = [Balls().number(x) for x in rounded]
    sides = [enclose(side, values)[counterexample["output"]] for side in (pair.left, pair.right)]
    a, b = (side[tuple(counterexample["entry"])] for side in sides)
    if not (a.is_finite() and b.is_finite()) or a.overlaps(b):
        raise MismatchError("at the counterexample in the certificate both programs have the same value")
