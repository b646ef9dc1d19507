"""A float comparison as evidence."""

from __future__ import annotations

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.figures import FloatFigures
from uat_jax.decide.float_comparison import FloatComparison
from uat_jax.decide.verdict import Evidence, Method, Verdict

ASSUMPTIONS = (Assumption(AssumptionKind.INDEPENDENT_ROUNDING), Assumption(AssumptionKind.ORDER_OF_DATA))

REFERENCE = "exact value of the network at the given floats, by ball arithmetic; casts are taken as exact"
COMPARISON = "|side − exact value| ≤ tolerance of that side, entry by entry"
AGGREGATION = "every entry of every trial; the worst error over entries and trials, the median over trials"


def float_evidence(found: FloatComparison, *, what: str, drawn: str) -> Evidence:
    """AGREES if both programs stay within their tolerance in every trial, else UNKNOWN.

    ``what`` was compared, and how its arguments were ``drawn``.
    """
    visible = "nothing" if found.smallest_visible is None else f"a coefficient error of {found.smallest_visible:.0e}"
    finding = (
        f"{found.dtype}, {what}: worst error {found.f.worst_ulp:.1f} ULP (network) and {found.g.worst_ulp:.1f} ULP "
        f"(closed form) in {found.trials} trials, tolerance {found.f.median:.0f} and {found.g.median:.0f} times the "
        f"error; would have seen {visible}"
    )
    if not found.agrees:
        finding = f"tolerance exceeded: {finding}"
    verdict = Verdict.AGREES if found.agrees else Verdict.UNKNOWN
    figures = FloatFigures(
        **vars(found), reference=REFERENCE, comparison=COMPARISON, aggregation=AGGREGATION, inputs=drawn
    )
    return Evidence(Method.FLOATS, finding, verdict, figures, ASSUMPTIONS)
