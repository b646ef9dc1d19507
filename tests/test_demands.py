"""What a test demands of floats is refused where they do not do it, and where nothing is known of them."""

import types
from typing import Any

import numpy as np
import pytest

from uat_jax.decide.demands import Demands, Tolerance
from uat_jax.decide.hazards import Hazard, HazardSearch
from uat_jax.decide.in_floats import known
from uat_jax.decide.rounding_bound import Deviation, Rounding
from uat_jax.errors import HazardWarning, InputError, NotEquivalentError

NEAR, FAR = Deviation(1.0, 1e-7, 1e-6), Deviation(6.0, 6e-7, 6e-6)
HAZARD = Hazard("overflow", "left", (np.zeros(1),), np.inf, 1.0, None, {}, True, "left is inf at x = 0")


def certificate_of(floats) -> Any:
    """A certificate of which only the floats are looked at."""
    hazards = () if floats is None else floats.search.found
    return types.SimpleNamespace(floats=floats, hazards=hazards)


def certificate(left=NEAR, right=NEAR, seen=NEAR, reason="", hazards=(), tried=1, why=""):
    """The certificate of these floats, which are as demanded where nothing else is said."""
    rounding = Rounding(left, right, reason, seen, (), "standard normal", 8, 64, "cpu")
    return certificate_of(known(rounding, HazardSearch(tuple(hazards), tried, why)))


FOUR = {"rounding": 4}


@pytest.mark.parametrize(
    "demands, floats, complaint",
    [
        (FOUR, {"left": FAR}, "the left side may be off by 6 ULP, more than 4"),
        (FOUR, {"right": FAR}, "the right side may be off by 6 ULP"),
        (FOUR, {"seen": FAR}, "both were seen apart by 6 ULP"),
        (FOUR, {"left": Deviation(np.nan, 0.0, 0.0)}, "the left side may be off by nan ULP"),
        ({"rounding": Tolerance(relative=4e-7)}, {"right": FAR}, "6e-07 of the largest entry, more than 4e-07"),
        ({"rounding": Tolerance(absolute=4e-6)}, {"seen": FAR}, "6e-06 in absolute value"),
        (FOUR, {"left": None, "right": None, "reason": "not derived: too large"}, "rounding not derived: too large"),
        ({"hazards": "forbid"}, {"hazards": [HAZARD]}, r"hazard: left is inf at x = 0 \(overflow\)"),
        ({"hazards": "forbid"}, {"tried": 0, "why": "no device"}, "no search for hazards: no device"),
    ],
)
def test_what_is_not_as_demanded_is_refused(demands, floats, complaint):
    with pytest.raises(NotEquivalentError, match=complaint):
        Demands(**demands).check(certificate(**floats), "they are equal")


@pytest.mark.parametrize(
    "demands, floats",
    [
        ({}, {"left": FAR, "reason": "not derived: too large"}),
        (FOUR, {}),
        ({"rounding": 6}, {"left": FAR, "right": FAR, "seen": FAR}),
        ({"rounding": 6}, {"left": FAR, "seen": None}),
        ({"rounding": Tolerance(absolute=1e-5)}, {"seen": FAR}),
        ({"hazards": "forbid"}, {"why": "3 s were over after 1 inputs"}),
        ({"hazards": "ignore"}, {"hazards": [HAZARD]}),
    ],
)
def test_what_is_as_demanded_passes(demands, floats):
    Demands(**demands).check(certificate(**floats), "they are equal")


def test_a_hazard_is_warned_of():
    with pytest.warns(HazardWarning, match="they are equal; hazard: left is inf"):
        Demands().check(certificate(hazards=[HAZARD]), "they are equal")


def test_where_nothing_is_known_of_floats_nothing_passes():
    with pytest.raises(NotEquivalentError, match="nothing is known of their floats"):
        Demands().check(certificate_of(None), "they are equal")


@pytest.mark.parametrize("wrong", [{}, {"ulps": 1, "absolute": 1}, {"ulps": 0}, {"relative": np.inf}, {"ulps": True}])
def test_a_tolerance_is_one_positive_number(wrong):
    with pytest.raises(InputError):
        Tolerance(**wrong)
