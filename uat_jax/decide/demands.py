"""What a test may ask of two equal functions beyond their equality: rounding within a tolerance, and no hazards."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import get_args

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.in_floats import InFloats
from uat_jax.decide.rounding_bound import Deviation
from uat_jax.decide.settings import Hazards
from uat_jax.errors import HazardWarning, InputError, NotEquivalentError, ToleranceError

HAZARDS = get_args(Hazards)


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How much rounding is accepted: exactly one of a number of ULP, a relative and an absolute distance.

    ULP and relative distances are those of the largest entry of an output array.

    Raises:
        ToleranceError: none or several are given, or one that is not a finite number above 0.
    """

    ulps: float | None = None
    relative: float | None = None
    absolute: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) != 1:
            raise ToleranceError(f"got {len(given)} tolerances; wanted one of ulps=, relative= and absolute=")
        for name, value in given.items():
            _check(name, value)

    def exceeded_by(self, found: Deviation) -> bool:
        """Whether a distance is larger."""
        return any(limit is not None and not getattr(found, name) <= limit for name, limit in vars(self).items())

    def shown(self, found: Deviation) -> str:
        """A distance in this tolerance's unit, beside it."""
        ((name, limit),) = ((name, limit) for name, limit in vars(self).items() if limit is not None)
        unit = {"ulps": "ULP", "relative": "of the largest entry", "absolute": "in absolute value"}[name]
        return f"{getattr(found, name):.3g} {unit}, more than {limit:g}"


TOLERANCES_WANTED = "write 16 for that many ULP, relative=1e-4 or absolute=1e-6"


def parse_tolerance(text: str) -> Tolerance:
    """The tolerance that a text says: "16" of ULP, "relative=1e-4" or "absolute=1e-6".

    Raises:
        ToleranceError: a text of another form, a number that is not finite and above 0, or less than half a ULP, which
            no rounded value keeps.
    """
    match = re.fullmatch(r"\s*(?:(relative|absolute)\s*=)?\s*([-+.\w]+)\s*", text)
    try:
        value = math.nan if match is None else float(match[2])
    except ValueError:
        match, value = None, math.nan
    if match is None or match[1] is None and value < 0.5:
        raise ToleranceError(f"got {text!r} for a tolerance; {TOLERANCES_WANTED}")
    return Tolerance(**{match[1] or "ulps": value})


def _check(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise ToleranceError(f"got {name}={value!r}; wanted a finite number above 0, such as {name}=16")


@dataclass(frozen=True)
class Demands:
    """What a test asks: `rounding` None, a number of ULP or a `Tolerance`; `hazards` one of `HAZARDS`.

    Raises:
        InputError: anything else.
    """

    rounding: float | Tolerance | None = None
    hazards: Hazards = "warn"

    def __post_init__(self) -> None:
        if self.hazards not in HAZARDS:
            raise InputError(f"got hazards={self.hazards!r}; wanted one of {', '.join(HAZARDS)}")
        if self.rounding is not None and not isinstance(self.rounding, Tolerance):
            _check("rounding", self.rounding)

    def check(self, certificate: Certificate, about: str) -> None:
        """Pass if the floats do what is asked; otherwise say what they do, after the verdict `about` both functions.

        Hazards that are only to be warned of are `HazardWarning`s at the caller of the caller.

        Raises:
            NotEquivalentError: the rounding exceeds the tolerance or is not derived; a hazard, or no input at which one
                could be looked for, where they are forbidden.
        """
        __tracebackhide__ = True
        complaints = self.complaints(certificate)
        if complaints:
            text = "\n  ".join([f"{about} over the real numbers, but not in floats:", *complaints])
            raise NotEquivalentError(text, certificate)
        if self.hazards == "warn":
            for hazard in certificate.hazards:
                warnings.warn(f"{about}; hazard: {hazard.text} ({hazard.kind})", HazardWarning, stacklevel=3)

    def complaints(self, certificate: Certificate) -> list[str]:
        """What the floats of two equal functions do that is not accepted, a line each."""
        floats = certificate.floats
        if floats is None:
            return ["nothing is known of their floats"]
        return [*self._of_rounding(floats), *(self._of_hazards(floats) if self.hazards == "forbid" else ())]

    def _of_rounding(self, floats: InFloats) -> list[str]:
        if self.rounding is None:
            return []
        tolerance = self.rounding if isinstance(self.rounding, Tolerance) else Tolerance(ulps=self.rounding)
        found = floats.rounding
        if found.reason:
            return [f"rounding {found.reason}"]
        texts = {
            "the left side may be off by": found.left,
            "the right side may be off by": found.right,
            "both were seen apart by": found.seen,
        }
        return [f"{text} {tolerance.shown(x)}" for text, x in texts.items() if x and tolerance.exceeded_by(x)]

    def _of_hazards(self, floats: InFloats) -> list[str]:
        found = floats.search
        reason = [f"no search for hazards: {found.reason}"] if found.reason and not found.tried else []
        return [f"hazard: {hazard.text} ({hazard.kind})" for hazard in found.found] + reason
