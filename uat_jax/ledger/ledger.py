"""The ledger: every claim, looked up, proved and decided again."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Unpack

from uat_jax.decide.certificate import Certificate, load
from uat_jax.decide.decision import decide
from uat_jax.decide.effort import MEMORY, deadline
from uat_jax.decide.equivalence import KIND
from uat_jax.decide.loops.induction import KIND as SCAN
from uat_jax.decide.recheck import BUDGET, decide_again
from uat_jax.decide.recheck_scan import decide_scan_again
from uat_jax.decide.settings import LedgerSettings, Settings
from uat_jax.decide.time_limit import time_limit
from uat_jax.decide.verdict import Verdict
from uat_jax.devices import on_device
from uat_jax.errors import InputError, MismatchError
from uat_jax.ledger import bookkeeping, interpretations
from uat_jax.ledger.attention import context, convolution, density, heads, matrix, slices
from uat_jax.ledger.beyond.chapters import CHAPTERS as BEYOND
from uat_jax.ledger.chapter import Chapter
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.complexity import attention as complexity_attention
from uat_jax.ledger.complexity import evaluation, paths
from uat_jax.ledger.foundations import approximation, duat_definition
from uat_jax.ledger.layers import (
    closed_form,
    dependence,
    dynamic_parameters,
    figure_2,
    fixed_sums,
    induction_steps,
    lemma_1,
    nested_bias,
    remainder,
    serial,
    two_layers,
    update_lists,
)
from uat_jax.ledger.lora import adapters
from uat_jax.ledger.lora import attention as lora_attention
from uat_jax.ledger.lora import closed_form as lora_closed_form
from uat_jax.ledger.lora import ranks as lora_ranks
from uat_jax.ledger.matrix_vector import diamond, diamond_properties, feed_forward, linear_layer, method
from uat_jax.ledger.pruning import sums
from uat_jax.ledger.real import attention as real_attention
from uat_jax.ledger.real import dependence as real_dependence
from uat_jax.ledger.real import ends, parts, transformers
from uat_jax.ledger.record import Record
from uat_jax.ledger.source import PAPERS

CHAPTERS = (
    Chapter("Theorem 1: residual networks", "residual_network_is_duat.py", closed_form.CLAIMS[:1]),
    Chapter("Theorem 1: Transformers", "transformer_is_duat.py", closed_form.CLAIMS[1:]),
    Chapter("Foundations: UAT sums", "foundations.py", approximation.CLAIMS, approximation.RECORDS),
    Chapter("Foundations: what a DUAT function is", "foundations.py", duat_definition.CLAIMS, duat_definition.RECORDS),
    Chapter(
        "The matrix–vector method", "matrix_vector.py", (*method.CLAIMS, *linear_layer.CLAIMS, *feed_forward.CLAIMS)
    ),
    Chapter("The diamond product", "diamond.py", (*diamond.CLAIMS, *diamond_properties.CLAIMS), diamond.RECORDS),
    Chapter(
        "Attention as a matrix (Theorem 3)",
        "attention_is_a_matrix.py",
        (*matrix.CLAIMS, *slices.CLAIMS, *heads.CLAIMS),
        slices.RECORDS,
    ),
    Chapter(
        "Density, masks and context",
        "causal_masks_and_context.py",
        (*density.CLAIMS, *context.CLAIMS, *convolution.CLAIMS),
        (*context.RECORDS, *convolution.RECORDS),
    ),
    Chapter(
        "Lemmas, and the network of two layers",
        "residual_network_is_duat.py",
        (*two_layers.CLAIMS, *lemma_1.CLAIMS, *fixed_sums.CLAIMS),
    ),
    Chapter(
        "The induction", "residual_network_is_duat.py", (*induction_steps.CLAIMS, *remainder.CLAIMS, *serial.CLAIMS)
    ),
    Chapter(
        "Theorem 2, and the printed list of updates",
        "printed_updates_fail_at_three_layers.py",
        (*update_lists.CLAIMS, *figure_2.CLAIMS),
        figure_2.RECORDS,
    ),
    Chapter("The nested bias of Eq. 12/34", "printed_updates_fail_at_three_layers.py", nested_bias.CLAIMS),
    Chapter(
        "What depends on the input",
        "transformer_is_duat.py",
        (*dependence.CLAIMS, *dynamic_parameters.CLAIMS),
        (*dependence.RECORDS, *dynamic_parameters.RECORDS),
    ),
    Chapter(
        "LoRA",
        "lora.py",
        (*adapters.CLAIMS, *lora_closed_form.CLAIMS, *lora_attention.CLAIMS, *lora_ranks.CLAIMS),
        adapters.RECORDS,
    ),
    Chapter("Pruning", "pruning.py", sums.CLAIMS, sums.RECORDS),
    Chapter(
        "Real Transformers",
        "real_transformers.py",
        (*transformers.CLAIMS, *parts.CLAIMS, *real_dependence.CLAIMS, *real_attention.CLAIMS, *ends.CLAIMS),
        ends.RECORDS,
    ),
    Chapter("Complexity", "complexity.py", (*evaluation.CLAIMS, *complexity_attention.CLAIMS, *paths.CLAIMS)),
    Chapter("What is said around the mathematics", "foundations.py", (), interpretations.RECORDS),
    Chapter("References and numbers", "references.py", bookkeeping.CLAIMS, bookkeeping.RECORDS),
    *BEYOND,
)


@cache
def claims() -> tuple[Claim, ...]:
    """The ledger, in the order of its chapters.

    Returns:
        All claims, which `prove` decides by their ids.

    Example:
        >>> [claim.id for claim in uj.claims() if claim.id.startswith("updates.in")]
        ['updates.in-place']
    """
    return tuple(claim for chapter in CHAPTERS for claim in chapter.claims)


def find(name: str) -> Claim:
    """The claim with that id.  Raises `InputError` naming the nearest id if there is none."""
    by_id = {claim.id: claim for claim in claims()}
    if any(record.id == name for record in records()):
        raise InputError(f"{name!r} is listed only, there is nothing to decide; `uat-jax show {name}` says why")
    if name not in by_id:
        nearest = get_close_matches(name, by_id, n=1, cutoff=0.3)
        hint = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise InputError(f"unknown claim {name!r}; {hint}`uat-jax claims` lists all")
    return by_id[name]


def records() -> tuple[Record, ...]:
    """The rows with nothing to decide, in the order of the chapters."""
    return tuple(record for chapter in CHAPTERS for record in chapter.records)


def script_of(claim: Claim) -> str:
    """The script that argues a claim, below proofs/: of a refuted one the script that shows its counterexample."""
    if claim.expects is Verdict.REFUTED:
        return f"counterexamples/{claim.id.replace('.', '_').replace('-', '_')}.py"
    return next(chapter.script for chapter in CHAPTERS if claim in chapter.claims)


def select(
    *,
    paper: str | None = None,
    section: str | None = None,
    equation: str | None = None,
    kind: str | None = None,
    verdict: str | None = None,
) -> tuple[Claim, ...]:
    """The claims that fit everything given: a place in a paper, the kind of statement, the expected verdict.

    Raises `InputError` for a paper, kind or verdict that does not exist, naming those that do.
    """
    for what, given, known in (("paper", paper, PAPERS), ("kind", kind, Kind), ("verdict", verdict, Verdict)):
        if given is not None and given not in list(known):
            raise InputError(f"unknown {what} {given!r}; wanted one of {', '.join(known)}")
    fits = lambda source: (
        (paper is None or source.paper == paper)
        and (section is None or source.section == section or source.section.startswith(f"{section}."))
        and (equation is None or equation in source.equations)
    )
    return tuple(
        c for c in claims() if any(map(fits, c.sources)) and kind in (None, c.kind) and verdict in (None, c.expects)
    )


def named(words: str) -> tuple[Claim, ...]:
    """The claim with that id, or those whose ids begin with these words, such as "updates" or "diamond.property-1".

    Raises `InputError` naming the nearest id if there is none.
    """
    one = tuple(claim for claim in claims() if claim.id == words)
    return one or tuple(claim for claim in claims() if claim.id.startswith(f"{words}.")) or (find(words),)


def prove(claim: str, **settings: Unpack[LedgerSettings]) -> Certificate:
    """Decide one claim of the ledger; the keywords are those of `uat_jax.decide.settings.Settings`.

    Raises `InputError` for an unknown claim or setting.

    Returns:
        The certificate; it passes if the verdict is the one that the ledger expects.

    Example:
        >>> uj.prove("updates.boxes", depth=3).verdict
        <Verdict.REFUTED: 'REFUTED'>
    """
    found = find(claim)
    unknown = sorted(set(settings) - set(Settings.__dataclass_fields__))
    if unknown:
        known = ", ".join(Settings.__dataclass_fields__)
        raise InputError(f"unknown setting {unknown[0]!r}; wanted some of {known}")
    return decide(found, Settings(**settings))


def recheck(
    certificate: str | os.PathLike[str] | Certificate,
    *,
    seed: int | None = None,
    device: str | None = None,
    budget: float | None = None,
    memory: float | str = MEMORY,
) -> Certificate:
    """Decide a certificate's claim again, with its settings and fresh random numbers (``seed``; one more if None).

    ``device``: "cpu", "gpu" or "tpu".  If None, a claim of the ledger is decided on the device in the certificate's
    settings (JAX's own choice if that is None), and two functions on that of JAX's own choice.

    A certificate about two functions, or a scan and its closed form, holds both programs as data: nothing is imported or
    executed.  ``budget``: the
    seconds that this may take, ten minutes if None; ``memory``: what it may hold, as for `certify`, of two functions.

    Raises `InputError` if the file is not a usable certificate, `MismatchError` if it states another claim, verdict,
    counterexample or kind of evidence than is now found, and `BudgetError` if the time is up,
    `MemoryLimitError` if it takes more memory than is allowed.

    Returns:
        The certificate of what is found now.

    Example:
        >>> uj.recheck("certificate.json", seed=7)
    """
    given = certificate if isinstance(certificate, Certificate) else load(certificate)
    if given.claim.get("id") in (KIND, SCAN) and any(e.statements for e in given.evidence):
        raise MismatchError("the certificate of two functions holds statements of the papers; its file was changed")
    if given.claim.get("id") == KIND:
        with on_device(device):
            return decide_again(given, seed=seed, budget=budget, memory=memory)
    if given.claim.get("id") == SCAN:
        with on_device(device):
            return decide_scan_again(given, seed=seed, budget=budget, memory=memory)
    settings = _settings(given)
    fresh = {"seed": settings.seed + 1 if seed is None else seed, "device": device or settings.device}
    claim = find(str(given.claim.get("id")))
    with time_limit(deadline(budget, BUDGET).remaining):
        found = decide(claim, replace(settings, **fresh))
    name = given.claim["id"]
    if (given.verdict, given.passes) != (found.verdict, found.passes):
        stated, now = (f"{c.verdict}{'' if c.passes else ', not as expected'}" for c in (given, found))
        raise MismatchError(f"{name}: the certificate says {stated}; decided again it is {now}")
    stated, now = (json.loads(c.to_json()) for c in (given, found))
    for part in ("claim", "expected"):
        if stated[part] != now[part]:
            raise MismatchError(f"{name}: the certificate's {part} is not the one found again; its file was changed")
    if [e["method"] for e in stated["evidence"]] != [e["method"] for e in now["evidence"]]:
        raise MismatchError(f"{name}: the certificate's evidence is not of the kinds found again; its file was changed")
    if [e["statements"] for e in stated["evidence"]] != [e["statements"] for e in now["evidence"]]:
        raise MismatchError(f"{name}: the certificate's statements are not those found again; its file was changed")
    if _refuting(stated) != _refuting(now):
        what = "counterexample is not the one found again"
        raise MismatchError(f"{name}: the certificate's {what}; its file was changed")
    return found


def _refuting(body: dict[str, Any]) -> list[Any]:
    """The counterexamples in the file of a certificate."""
    return [e["example"] for e in body["evidence"] if e["verdict"] == Verdict.REFUTED]


DEEPEST, MOST_TRIALS = 2**10, 2**16
"""What the settings in a file may ask for: whoever wants more asks for it, not a file."""


def _settings(certificate: Certificate) -> Settings:
    try:
        fields = dict(certificate.settings)
        if fields.keys() != Settings().stated().keys():
            raise KeyError(", ".join(sorted(fields.keys() ^ Settings().stated().keys())))
        found = Settings(**{**fields, "dtypes": tuple(fields["dtypes"])})
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"the certificate's settings are damaged: {error}") from None
    if found.depth > DEEPEST or found.trials > MOST_TRIALS:
        most = f"{DEEPEST} layers and {MOST_TRIALS} trials"
        raise InputError(f"the certificate's settings ask for more than {most}; decide its claim again to have more")
    return found
