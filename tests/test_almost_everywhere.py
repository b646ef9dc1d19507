"""The switch `almost_everywhere`: it is part of the claim, and a misspelt keyword is an error."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide import equivalence, recheck
from uat_jax.decide.effort import Effort
from uat_jax.errors import InputError

V = jax.ShapeDtypeStruct((3,), jnp.float32)


def square(x):
    return (x + 1) ** 2


def expanded(x):
    return x * x + 2 * x + 1


@pytest.mark.parametrize("switch", [False, True])
def test_the_claim_says_which_was_asked(switch, monkeypatch):
    efforts = []
    examined = equivalence.examined
    monkeypatch.setattr(equivalence, "examined", lambda *given: efforts.append(given[1]) or examined(*given))
    certificate = uj.certify(square, expanded, V, almost_everywhere=switch)
    assert certificate.claim["almost_everywhere"] is switch
    assert [effort.almost_everywhere for effort in efforts] == [switch]


@pytest.mark.parametrize("switch", [False, True])
def test_a_recheck_obeys_the_claim(switch, monkeypatch):
    certificate = uj.certify(square, expanded, V, almost_everywhere=switch)
    efforts: list[Effort] = []
    examined = recheck.examined
    monkeypatch.setattr(recheck, "examined", lambda *given: efforts.append(given[1]) or examined(*given))
    assert uj.recheck(certificate).claim["almost_everywhere"] is switch
    assert [effort.almost_everywhere for effort in efforts] == [switch]


def test_a_certificate_that_does_not_say_is_refused(tmp_path):
    body = json.loads(uj.certify(square, expanded, V).to_json())
    del body["claim"]["almost_everywhere"], body["claim"]["sizes_listed"]
    (tmp_path / "c.json").write_text(json.dumps(body))
    with pytest.raises(InputError, match="older uat_jax, which did not say whether almost everywhere was meant"):
        uj.recheck(tmp_path / "c.json")


@pytest.mark.parametrize("ask", [uj.certify, uj.assert_equivalent])
def test_without_real_inputs_it_has_no_effect_and_says_so(ask):
    for spec in (np.arange(3), {"ids": np.arange(2, dtype=np.int8)}, np.array([True])):
        with pytest.raises(InputError, match="it has no effect on integers: leave it out"):
            ask(lambda x: x, lambda x: x, spec, almost_everywhere=True)


@pytest.mark.parametrize("value", [1, None, "yes", np.bool_(True)])
def test_it_is_true_or_false(value):
    with pytest.raises(InputError, match="almost_everywhere=.*wanted True or False"):
        uj.certify(square, expanded, V, almost_everywhere=value)


@pytest.mark.parametrize("name", ["buget", "almost_everywere", "tolerance"])
def test_a_misspelt_keyword_is_an_error(name):
    misspelt: dict[str, Any] = {name: 3}
    for ask in (uj.certify, uj.assert_equivalent):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            ask(square, expanded, V, **misspelt)
