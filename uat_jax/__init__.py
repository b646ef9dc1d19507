"""uat_jax decides whether two ways of writing a network are the same function, and says how it knows.

The map: every public name and the file it lives in.
"""

from uat_jax.certification import Certification as Certification
from uat_jax.certification import certify_decomposition as certify_decomposition
from uat_jax.decide.certificate import Certificate as Certificate
from uat_jax.decide.certificate import load as load
from uat_jax.decide.demands import Tolerance as Tolerance
from uat_jax.decide.domain import interval as interval
from uat_jax.decide.domain import nonnegative as nonnegative
from uat_jax.decide.domain import positive as positive
from uat_jax.decide.equivalence import assert_equivalent as assert_equivalent
from uat_jax.decide.equivalence import certify as certify
from uat_jax.decide.verdict import Evidence as Evidence
from uat_jax.decide.verdict import Verdict as Verdict
from uat_jax.decomposition.decomposition import Decomposition as Decomposition
from uat_jax.decomposition.decomposition import decompose as decompose
from uat_jax.errors import HazardWarning as HazardWarning
from uat_jax.errors import UatJaxError as UatJaxError
from uat_jax.ledger.claim import Claim as Claim
from uat_jax.ledger.ledger import claims as claims
from uat_jax.ledger.ledger import prove as prove
from uat_jax.ledger.ledger import recheck as recheck
from uat_jax.loops.induction import prove_scan as prove_scan
from uat_jax.lowering import Lowered as Lowered
from uat_jax.symbolic.derivation import Derivation as Derivation
from uat_jax.symbolic.derivation import derive as derive
