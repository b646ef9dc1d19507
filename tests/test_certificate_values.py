"""A certificate as a value: true in a condition if it passes, and short to look at."""

import jax
import jax.numpy as jnp

import uat_jax as uj

V = jax.ShapeDtypeStruct((3,), jnp.float32)


def double(x):
    return 2 * x


def added(x):
    return x + x


def square(x):
    return x * x


def test_a_certificate_is_true_if_it_passes():
    for right, verdict in ((double, "PROVED"), (added, "CERTIFIED"), (square, "REFUTED")):
        certificate = uj.certify(double, right, V)
        assert certificate.verdict == verdict
        assert bool(certificate) is certificate.passes is (verdict != "REFUTED")
    assert not uj.certify(double, added, V, budget=1e-9)


def test_the_text_of_a_certificate_is_one_short_line():
    for certificate in (uj.certify(double, added, V), uj.certify(double, square, V), uj.prove("lemma-1", dtypes=())):
        text = repr(certificate)
        assert len(text) <= 201 and "\n" not in text and text.startswith(f"<Certificate {certificate.verdict} of ")
    assert f"{__name__}:double and {__name__}:square" in repr(uj.certify(double, square, V))
