"""The verdict on a claim: the weakest of its statements, of which each has the strongest that nothing contradicts."""

import pytest

from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import DisagreementError

PROVED, CERTIFIED, AGREES, REFUTED, UNKNOWN = (
    Verdict.PROVED,
    Verdict.CERTIFIED,
    Verdict.AGREES,
    Verdict.REFUTED,
    Verdict.UNKNOWN,
)


def evidence(*statements):
    """Of each statement what several methods say."""
    return [
        Evidence(Method.PRIME_FIELDS, "it was looked at", verdict, subject=f"statement {i}")
        for i, verdicts in enumerate(statements)
        for verdict in verdicts
    ]


@pytest.mark.parametrize(
    "statements, verdict",
    [
        ([], UNKNOWN),
        ([[PROVED]], PROVED),
        ([[PROVED, CERTIFIED, AGREES]], PROVED),
        ([[CERTIFIED, AGREES]], CERTIFIED),
        ([[PROVED, UNKNOWN]], UNKNOWN),
        ([[CERTIFIED, UNKNOWN, AGREES]], UNKNOWN),
        ([[REFUTED, UNKNOWN]], REFUTED),
        ([[REFUTED, AGREES]], REFUTED),
        ([[PROVED], [CERTIFIED]], CERTIFIED),
        ([[PROVED], [AGREES]], AGREES),
        ([[PROVED], [UNKNOWN]], UNKNOWN),
        ([[CERTIFIED], [REFUTED]], REFUTED),
        ([[AGREES], [REFUTED]], REFUTED),
        ([[REFUTED], [UNKNOWN]], UNKNOWN),
        ([[CERTIFIED], [PROVED, AGREES], [AGREES]], AGREES),
    ],
    ids=str,
)
def test_the_verdict_is_the_weakest_of_the_statements(statements, verdict):
    assert combine(evidence(*statements)) is verdict


@pytest.mark.parametrize("other", [PROVED, CERTIFIED])
def test_two_methods_may_not_contradict_each_other(other):
    with pytest.raises(DisagreementError, match="please report this"):
        combine(evidence([REFUTED, other]))
