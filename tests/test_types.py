# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
"""What type checkers say of a user's file: nothing, but of its mistakes.

This file is checked in strict mode by pyright, and by mypy in `nox -s types`.  A `type: ignore` stands beside each
mistake: where a checker sees none, the comment is the mistake.
"""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack, get_type_hints

import jax
import jax.numpy as jnp
import pytest

import uat_jax as uj
from uat_jax.pytest_plugin import Equivalent

SPEC: Any = jax.ShapeDtypeStruct((3,), jnp.float32)  # Any: JAX has no types for its constructor


def doubled(x: jax.Array) -> jax.Array:
    """A user's function."""
    return 2 * x


def added(x: jax.Array) -> jax.Array:
    """The same function."""
    return x + x


def squared(x: jax.Array) -> jax.Array:
    """Another function."""
    return x * x


def checked(function: Callable[..., Any], **settings: Unpack[uj.CertifySettings]) -> uj.Certificate:
    """Passes settings on."""
    return uj.certify(function, added, SPEC, **settings)


def test_a_user_reads_a_certificate() -> None:
    certificate = checked(doubled, seed=3, budget=60.0, memory="1 GiB")
    assert certificate and certificate.passes and certificate.verdict is uj.Verdict.CERTIFIED
    findings: list[str] = [evidence.finding for evidence in certificate.evidence]
    assumed: list[str] = [assumption.text for assumption in certificate.assumptions]
    hazards: list[str] = [hazard.text for hazard in certificate.hazards]
    assert findings and assumed and not hazards
    assert "\n" not in repr(certificate) and repr(certificate).startswith("<Certificate CERTIFIED of ")
    assert uj.recheck(certificate).verdict is certificate.verdict
    if certificate.counterexample is not None:
        pytest.fail(certificate.counterexample.program)


def test_a_user_asserts() -> None:
    uj.assert_equivalent(doubled, added, uj.positive(SPEC), rounding=uj.Tolerance(ulps=16), hazards="forbid")
    with pytest.raises(uj.NotEquivalentError) as failure:
        uj.assert_equivalent(doubled, squared, uj.interval(SPEC, 0, 1))
    assert isinstance(failure.value, AssertionError) and not failure.value.certificate
    claim: uj.Certificate = uj.prove("lemma-1", trials=1, dtypes=("float32",))
    assert claim.passes and uj.derive("residual", depth=1).holds() and uj.__version__


def test_a_user_asserts_by_a_fixture(request: pytest.FixtureRequest) -> None:
    equivalent = Equivalent(request)
    assert equivalent(doubled, added, SPEC, budget=30.0, rounding=4, hazards="ignore").passes


def test_a_mistake_is_seen() -> None:
    """By type checkers, and when it is run."""
    with pytest.raises(TypeError, match="buget"):
        uj.certify(doubled, added, SPEC, buget=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="buget"):
        uj.assert_equivalent(doubled, added, SPEC, buget=3)  # type: ignore[call-arg]
    with pytest.raises(uj.InputError, match="unknown setting 'trails'"):
        uj.prove("lemma-1", trails=3)  # type: ignore[call-arg]
    with pytest.raises(uj.InputError, match="hazards='fail'"):
        uj.assert_equivalent(doubled, added, SPEC, hazards="fail")  # type: ignore[arg-type]
    with pytest.raises(uj.InputError, match="wrt='hessian'"):
        uj.certify(doubled, added, SPEC, wrt="hessian")  # type: ignore[arg-type]
    with pytest.raises(uj.InputError, match="got a int for a function"):
        uj.certify(3, added, SPEC)  # type: ignore[arg-type]


def test_a_mistyped_setting_of_a_test_is_named(request: pytest.FixtureRequest) -> None:
    equivalent = Equivalent(request)
    with pytest.raises(uj.InputError, match="got the setting 'buget'; did you mean budget"):
        equivalent(doubled, added, SPEC, buget=3)  # type: ignore[call-arg]
    with pytest.raises(uj.InputError, match="got the setting 'xyzzy'; wanted one of .*rounding, hazards"):
        equivalent(doubled, added, SPEC, xyzzy=3)  # type: ignore[call-arg]


def keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function, with their types."""
    types = get_type_hints(function)
    parameters = inspect.signature(function).parameters.items()
    return {name: types[name] for name, of in parameters if of.kind is inspect.Parameter.KEYWORD_ONLY}


def test_the_settings_by_name_are_those_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signatures have the defaults; names and types stand in the dictionaries as well."""
    monkeypatch.setattr("uat_jax.decide.settings.Tolerance", uj.Tolerance, raising=False)
    of_certify, of_tests = get_type_hints(uj.CertifySettings), get_type_hints(uj.EquivalenceSettings)
    assert keywords(uj.certify) == of_certify
    asked = keywords(uj.assert_equivalent)
    assert asked.items() <= of_tests.items() and of_tests.keys() - of_certify.keys() <= asked.keys()


def test_the_settings_of_the_ledger_by_name_are_its_fields() -> None:
    from uat_jax.decide.settings import Settings

    assert get_type_hints(uj.LedgerSettings) == get_type_hints(Settings)


MOST_LINES_WITH_ANY = 1594
"""What has a type is given it: this number may only fall."""


def test_few_lines_have_no_type() -> None:
    folder = Path(uj.__file__).parent
    lines = [line for path in folder.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    found = [line for line in lines if re.search(r"\bAny\b", line) and "import" not in line]
    assert len(found) <= MOST_LINES_WITH_ANY, f"{len(found)} lines have Any; name the type, or see uat_jax/typing.py"
