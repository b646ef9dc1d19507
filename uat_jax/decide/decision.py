"""Decide one claim: collect its evidence, combine it, and compare the outcome with what the ledger expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from uat_jax.decide.certificate import Certificate, environment
from uat_jax.decide.figures import Depths, Figures
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict, combine
from uat_jax.devices import numerics, on_device


class Decidable(Protocol):
    """What can be decided: see `uat_jax.ledger.claim.Claim`."""

    @property
    def expects(self) -> Verdict: ...  # noqa: D102
    @property
    def exact_to(self) -> int | None: ...  # noqa: D102
    @property
    def decide(self) -> Callable[[Settings], Iterable[Evidence]]: ...  # noqa: D102
    def describe(self) -> dict[str, Any]: ...  # noqa: D102


def decide(claim: Decidable, settings: Settings) -> Certificate:
    """The certificate of a claim, decided on the device of the settings.

    Raises `DisagreementError` if two methods contradict each other, `InputError` if there is no such device.
    """
    with on_device(settings.device):
        evidence = tuple(claim.decide(settings))
        computed_in = numerics(settings.precision)
    verdict = combine(evidence)
    return Certificate(
        claim=claim.describe(),
        expected=claim.expects,
        verdict=verdict,
        passes=verdict == claim.expects and all(map(lambda e: _exact_as_expected(claim, e.figures), evidence)),
        evidence=evidence,
        assumptions=tuple(dict.fromkeys(a for e in evidence for a in e.assumptions)),
        settings=settings.stated(),
        environment={**environment(), **computed_in},
    )


def _exact_as_expected(claim: Decidable, figures: Figures) -> bool:
    """A refuted reading must be exact at just the depths 1 … exact_to."""
    if claim.exact_to is None or not isinstance(figures, Depths):
        return True
    return list(figures.exact_depths) == list(range(1, claim.exact_to + 1))
