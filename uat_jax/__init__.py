"""uat_jax decides whether two ways of writing a network are the same function, and says how it knows.

The map: every public name and the file it lives in, which is imported when the name is first used.
"""

from typing import TYPE_CHECKING, Any

from uat_jax.errors import BudgetError as BudgetError
from uat_jax.errors import ConcreteValueError as ConcreteValueError
from uat_jax.errors import DisagreementError as DisagreementError
from uat_jax.errors import DomainError as DomainError
from uat_jax.errors import FloatRangeError as FloatRangeError
from uat_jax.errors import HazardWarning as HazardWarning
from uat_jax.errors import HostsError as HostsError
from uat_jax.errors import InexactLimbsError as InexactLimbsError
from uat_jax.errors import InputError as InputError
from uat_jax.errors import MemoryLimitError as MemoryLimitError
from uat_jax.errors import MismatchError as MismatchError
from uat_jax.errors import NotEquivalentError as NotEquivalentError
from uat_jax.errors import OutputsError as OutputsError
from uat_jax.errors import ShapeError as ShapeError
from uat_jax.errors import StaticArgumentError as StaticArgumentError
from uat_jax.errors import ToleranceError as ToleranceError
from uat_jax.errors import UatJaxError as UatJaxError
from uat_jax.errors import UnsupportedError as UnsupportedError
from uat_jax.imports import imported as _imported

if TYPE_CHECKING:
    from uat_jax.certification import Certification as Certification
    from uat_jax.certification import certify_decomposition as certify_decomposition
    from uat_jax.decide.certificate import Certificate as Certificate
    from uat_jax.decide.certificate import load as load
    from uat_jax.decide.demands import Tolerance as Tolerance
    from uat_jax.decide.domain import integers as integers
    from uat_jax.decide.domain import interval as interval
    from uat_jax.decide.domain import nonnegative as nonnegative
    from uat_jax.decide.domain import positive as positive
    from uat_jax.decide.equivalence import assert_equivalent as assert_equivalent
    from uat_jax.decide.equivalence import certify as certify
    from uat_jax.decide.loops.induction import prove_scan as prove_scan
    from uat_jax.decide.parametrized import ascending as sorted
    from uat_jax.decide.parametrized import orthogonal as orthogonal
    from uat_jax.decide.parametrized import simplex as simplex
    from uat_jax.decide.parametrized import symmetric as symmetric
    from uat_jax.decide.settings import CertifySettings as CertifySettings
    from uat_jax.decide.settings import EquivalenceSettings as EquivalenceSettings
    from uat_jax.decide.settings import LedgerSettings as LedgerSettings
    from uat_jax.decide.verdict import Evidence as Evidence
    from uat_jax.decide.verdict import Verdict as Verdict
    from uat_jax.decomposition.decomposition import Decomposition as Decomposition
    from uat_jax.decomposition.decomposition import decompose as decompose
    from uat_jax.explanation import Explanation as Explanation
    from uat_jax.explanation import explain as explain
    from uat_jax.inputs.matching import match_weights as match_weights
    from uat_jax.inputs.snapshot import read_snapshot as read_snapshot
    from uat_jax.inputs.stablehlo import read_stablehlo as read_stablehlo
    from uat_jax.inputs.torch_program import read_torch as read_torch
    from uat_jax.ledger.claim import Claim as Claim
    from uat_jax.ledger.ledger import claims as claims
    from uat_jax.ledger.ledger import prove as prove
    from uat_jax.ledger.ledger import recheck as recheck
    from uat_jax.lowering import Lowered as Lowered
    from uat_jax.networks.families import load_model as load_model
    from uat_jax.symbolic.derivation import Derivation as Derivation
    from uat_jax.symbolic.derivation import derive as derive

    __version__: str

__all__ = [
    "BudgetError",
    "Certificate",
    "Certification",
    "CertifySettings",
    "Claim",
    "ConcreteValueError",
    "Decomposition",
    "Derivation",
    "DisagreementError",
    "DomainError",
    "EquivalenceSettings",
    "Evidence",
    "Explanation",
    "FloatRangeError",
    "HazardWarning",
    "HostsError",
    "InexactLimbsError",
    "InputError",
    "LedgerSettings",
    "Lowered",
    "MemoryLimitError",
    "MismatchError",
    "NotEquivalentError",
    "OutputsError",
    "ShapeError",
    "StaticArgumentError",
    "Tolerance",
    "ToleranceError",
    "UatJaxError",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "assert_equivalent",
    "certify",
    "certify_decomposition",
    "claims",
    "decompose",
    "derive",
    "explain",
    "integers",
    "interval",
    "load",
    "load_model",
    "match_weights",
    "nonnegative",
    "orthogonal",
    "positive",
    "prove",
    "prove_scan",
    "read_snapshot",
    "read_stablehlo",
    "read_torch",
    "recheck",
    "simplex",
    "sorted",
    "symmetric",
]

_LATER = {
    "Certification": "uat_jax.certification",
    "certify_decomposition": "uat_jax.certification",
    "Certificate": "uat_jax.decide.certificate",
    "load": "uat_jax.decide.certificate",
    "Tolerance": "uat_jax.decide.demands",
    "integers": "uat_jax.decide.domain",
    "interval": "uat_jax.decide.domain",
    "nonnegative": "uat_jax.decide.domain",
    "positive": "uat_jax.decide.domain",
    "assert_equivalent": "uat_jax.decide.equivalence",
    "certify": "uat_jax.decide.equivalence",
    "prove_scan": "uat_jax.decide.loops.induction",
    "sorted": "uat_jax.decide.parametrized",
    "orthogonal": "uat_jax.decide.parametrized",
    "simplex": "uat_jax.decide.parametrized",
    "symmetric": "uat_jax.decide.parametrized",
    "CertifySettings": "uat_jax.decide.settings",
    "EquivalenceSettings": "uat_jax.decide.settings",
    "LedgerSettings": "uat_jax.decide.settings",
    "Evidence": "uat_jax.decide.verdict",
    "Verdict": "uat_jax.decide.verdict",
    "Decomposition": "uat_jax.decomposition.decomposition",
    "decompose": "uat_jax.decomposition.decomposition",
    "Explanation": "uat_jax.explanation",
    "explain": "uat_jax.explanation",
    "match_weights": "uat_jax.inputs.matching",
    "read_snapshot": "uat_jax.inputs.snapshot",
    "read_stablehlo": "uat_jax.inputs.stablehlo",
    "read_torch": "uat_jax.inputs.torch_program",
    "Claim": "uat_jax.ledger.claim",
    "claims": "uat_jax.ledger.ledger",
    "prove": "uat_jax.ledger.ledger",
    "recheck": "uat_jax.ledger.ledger",
    "Lowered": "uat_jax.lowering",
    "load_model": "uat_jax.networks.families",
    "Derivation": "uat_jax.symbolic.derivation",
    "derive": "uat_jax.symbolic.derivation",
}
"""Where the names of the map are looked up."""

_RENAMED = {"sorted": "ascending"}
"""Names that another one has where it is defined, because it hides one of Python's there."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _imported("importlib.metadata").version("uat_jax")
    if name not in _LATER:
        raise AttributeError(f"module 'uat_jax' has no attribute {name!r}")
    found = getattr(_imported(_LATER[name]), _RENAMED.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*{*globals(), *_LATER, "__version__"}]
