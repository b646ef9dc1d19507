"""Inputs on the simplex, symmetric, orthogonal and sorted ones: what holds there is certified, the rest refuted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from pairs.pair import f32, matmul

import uat_jax as uj
from uat_jax.decide.description import describe
from uat_jax.decide.parametrized import Parametrized

W, A, X, Q = uj.simplex(f32(4)), uj.symmetric(f32(3, 3)), uj.sorted(f32(4)), uj.orthogonal(f32(3, 3))
V, ONE = f32(4), np.float32(1)
det = lambda q: q[0, 0] * q[1, 1] - q[0, 1] * q[1, 0]
volume = lambda q: jnp.sum(q[0] * jnp.cross(q[1], q[2]))
quadratic = lambda a, x: matmul(x, matmul(a, x))

# name: (left, right, inputs, a wrong right side)
TRUE = {
    "sum": (jnp.sum, lambda w: 0 * w[0] + 1, (W,), lambda w: 0 * w[0] + 2),
    "at least 0": (jax.nn.relu, lambda w: w, (W,), lambda w: w**2),
    "at most 1": (lambda w: jnp.minimum(w, ONE), lambda w: w, (W,), lambda w: jnp.minimum(w, ONE / 2)),
    "mean of a shift": (
        lambda w, x: jnp.sum(w * (x - 2)),
        lambda w, x: jnp.sum(w * x) - 2,
        (W, V),
        lambda w, x: jnp.sum(w * x) - 8,
    ),
    "variance": (
        lambda w, x: jnp.sum(w * (x - jnp.sum(w * x)) ** 2),
        lambda w, x: jnp.sum(w * x * x) - jnp.sum(w * x) ** 2,
        (W, V),
        lambda w, x: jnp.sum(w * x * x) - jnp.sum(x) ** 2,
    ),
    "rows of probabilities": (
        lambda w: jnp.sum(w, axis=-1),
        lambda w: jnp.ones(2, jnp.float32) + 0 * w[:, 0],
        (uj.simplex(f32(2, 3)),),
        lambda w: jnp.sum(w[:, ::2], axis=-1),
    ),
    "transposed": (jnp.transpose, lambda a: a, (A,), lambda a: -a),
    "from both sides": (lambda a, x: matmul(x, a), matmul, (A, f32(3)), lambda a, x: matmul(a, x[::-1])),
    "gradient of a quadratic form": (
        jax.grad(quadratic, argnums=1),
        lambda a, x: 2 * matmul(a, x),
        (A, f32(3)),
        lambda a, x: matmul(a, x),
    ),
    "sorting": (jnp.sort, lambda x: x, (X,), lambda x: x[::-1]),
    "the largest": (jnp.max, lambda x: x[-1], (X,), lambda x: x[0]),
    "the median": (lambda x: jnp.sort(x)[1], lambda x: x[1], (X,), lambda x: x[2]),
    "orthonormal columns": (
        lambda q: matmul(q.T, q),
        lambda q: jnp.eye(3, dtype=jnp.float32) + 0 * q,
        (Q,),
        lambda q: matmul(q, q),
    ),
    "length": (
        lambda q, x: jnp.sum(matmul(q, x) ** 2),
        lambda q, x: jnp.sum(x**2),
        (Q, f32(3)),
        lambda q, x: x[0] ** 2,
    ),
    "tall": (
        lambda q: matmul(q.T, q),
        lambda q: jnp.eye(2, dtype=jnp.float32) + 0 * q[:2],
        (uj.orthogonal(f32(4, 2)),),
        lambda q: q[:2],
    ),
    "wide": (
        lambda q: matmul(q, q.T),
        lambda q: jnp.eye(2, dtype=jnp.float32) + 0 * q[:, :2],
        (uj.orthogonal(f32(2, 3)),),
        lambda q: q[:, :2],
    ),
    "several": (
        lambda q: jnp.sum(q**2, axis=(1, 2)),
        lambda q: 2 + 0 * q[:, 0, 0],
        (uj.orthogonal(f32(2, 2, 2)),),
        lambda q: q[:, 0, 0],
    ),
    "either determinant": (lambda q: det(q) ** 2, lambda q: 1 + 0 * q[0, 0], (uj.orthogonal(f32(2, 2)),), det),
}


@pytest.mark.parametrize("name", one_in(2, TRUE))
def test_what_holds_on_a_set_is_certified_and_its_twin_refuted(name):
    left, right, specs, wrong = TRUE[name]
    assert uj.certify(left, right, *specs).passes
    assert uj.certify(left, wrong, *specs).verdict is uj.Verdict.REFUTED


# name: (left, right, inputs): equal on a part of the set alone
FALSE = {
    "inside the simplex": (lambda w: jnp.where(w == 0, ONE, 0), lambda w: 0 * w, (W,)),
    "but in its corners": (lambda w: jnp.where(w == 1, ONE, 0), lambda w: 0 * w, (W,)),
    "where the last is not all": (lambda w: jnp.where(w[-1] < 1, ONE, 0), lambda w: 0 * w[0] + 1, (W,)),
    "positive definite": (lambda a: jax.nn.relu(a[0, 0]), lambda a: a[0, 0], (A,)),
    "diagonal": (lambda a: a[0, 1], lambda a: 0 * a[0, 1], (A,)),
    "strictly ascending": (lambda x: jnp.where(x[1:] > x[:-1], ONE, 0), lambda x: 0 * x[1:] + 1, (X,)),
    "positive": (jnp.abs, lambda x: x, (X,)),
    "rotations": (det, lambda q: 1 + 0 * q[0, 0], (uj.orthogonal(f32(2, 2)),)),
    "reflections": (det, lambda q: 0 * q[0, 0] - 1, (uj.orthogonal(f32(2, 2)),)),
    "rotations of space": (volume, lambda q: 1 + 0 * q[0, 0], (Q,)),
    "reflections of space": (volume, lambda q: 0 * q[0, 0] - 1, (Q,)),
    "symmetric reflections": (jnp.transpose, lambda q: q, (Q,)),
    "two rotations": (
        lambda p, q: det(p) * det(q),
        lambda p, q: 0 * p[0, 0] + 1,
        (uj.orthogonal(f32(2, 2)),) * 2,
    ),
    "numbers": (lambda q: q, lambda q: 0 * q + 1, (uj.orthogonal(f32(1, 1)),)),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_holds_on_a_part_of_a_set_is_refuted(name):
    left, right, specs = FALSE[name]
    assert uj.certify(left, right, *specs).verdict is uj.Verdict.REFUTED


CONDITIONS = {
    "simplex": lambda w: np.concatenate([np.minimum(w, 0).ravel(), w.sum(-1).ravel() - 1]),
    "symmetric": lambda a: a - np.swapaxes(a, -1, -2),
    "sorted": lambda x: np.minimum(np.diff(x, axis=-1), 0),
    "orthogonal": lambda q: np.swapaxes(q, -1, -2) @ q - np.eye(q.shape[-1]),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_parameter_gives_an_array_of_the_set(name):
    """Up to rounding: at most 200 operations on numbers of at most 4 in float64."""
    spec, random = Parametrized((3, 4, 4), np.dtype("float64"), name), np.random.default_rng(0)
    drawn = {n: random.uniform(0, 1, s.shape) for n, s in spec.parameters.items()}
    with jax.enable_x64(True):
        for point in spec.points(drawn):
            assert np.abs(CONDITIONS[name](np.asarray(point))).max() < 200 * 4 * np.finfo(float).eps
            assert np.ptp(point) > 0


def test_a_certificate_names_the_set_and_its_script_gives_an_input_in_it():
    certificate = uj.certify(lambda w: jnp.sum(w * w), jnp.sum, W)
    assert "w is at least 0 in every entry, with sum 1 along the last axis" in describe(certificate)
    reflected = uj.certify(det, lambda q: 1 + 0 * q[0, 0], uj.orthogonal(f32(2, 2)))
    first, second = certificate.counterexample, reflected.counterexample
    assert first is not None and "jnp.array([0.0, 0.0, 0.5, 0.5], jnp.float32)" in first.program
    assert second is not None and "tree.leaves(f(*arguments))[0]" in second.program


def test_a_proof_is_decided_again_from_the_file(tmp_path):
    path = uj.certify(jnp.transpose, lambda a: a, A).save(tmp_path / "c.json")
    assert uj.recheck(path).passes


REFUSED = {
    "no array": (lambda: uj.simplex(3), "got a int for an input with a domain"),
    "integers": (lambda: uj.simplex(jax.ShapeDtypeStruct((3,), jnp.int32)), "only floats have a domain"),
    "no axis": (lambda: uj.simplex(f32()), "wanted at least one axis"),
    "not square": (lambda: uj.symmetric(f32(2, 3)), "wanted square matrices"),
    "a vector": (lambda: uj.orthogonal(f32(3)), "wanted two axes"),
    "two domains": (lambda: uj.simplex(uj.positive(f32(3))), "has a domain already"),
    "derivatives": (lambda: uj.certify(jnp.sum, jnp.sum, W, wrt="grad"), "certify jax.grad of both"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_set_is_refused_in_one_line(name):
    make, message = REFUSED[name]
    with pytest.raises(uj.UatJaxError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def _given(make, *entries):
    return lambda: make(np.array(entries, np.float32))


OUTSIDE = {
    "a negative share": (_given(uj.simplex, 1.5, -0.5), r"at least 0 in every entry, with sum 1.* holds -0.5 at \[1\]"),
    "a sum of 2": (_given(uj.simplex, [0.5, 0.5], [1.0, 1.0]), r"sums to 2 at \[1\]; give an array inside"),
    "a share that is NaN": (_given(uj.simplex, np.nan, 1.0), r"holds nan at \[0\]"),
    "not symmetric": (_given(uj.symmetric, [1, 2], [3, 1]), r"holds 2 at \[0, 1\] and 3 at \[1, 0\]"),
    "NaN": (_given(uj.symmetric, [np.nan, 2], [2, 1]), r"holds nan at \[0, 0\]"),
    "descending": (_given(uj.sorted, 1, 3, 2), r"holds 3 at \[1\] before 2"),
    "NaN that is sorted": (_given(uj.sorted, 1, np.nan), r"holds 1 at \[0\] before nan"),
    "NaN alone": (_given(uj.sorted, np.nan), r"holds nan at \[0\]"),
    "columns too long": (_given(uj.orthogonal, [2, 0], [0, 1]), "columns 0 and 0 whose product is 4 where 1 is wanted"),
    "rows that meet": (_given(uj.orthogonal, [1, 0, 0], [0.6, 0.8, 0]), "rows 0 and 1 .* 0.6 where 0 is wanted"),
    "one of several": (_given(uj.orthogonal, [[1, 0], [0, 1]], [[1, 0], [0, 3]]), r"is 9 where 1 is wanted at \[1\]"),
    "a JAX array": (lambda: uj.simplex(jnp.array([1.0, 1.0])), "sums to 2; give"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_array_outside_of_its_set_is_refused_in_one_line(name):
    make, message = OUTSIDE[name]
    with pytest.raises(uj.errors.DomainError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_an_array_beside_its_set_by_its_rounding_is_taken(dtype):
    """What softmax, a product with its transpose, sort and QR compute in each dtype, here at seed 0."""
    x = np.random.default_rng(0).standard_normal((2, 6, 4)).astype(np.float32)
    cast = lambda array: jnp.asarray(array).astype(dtype)
    uj.simplex(jax.nn.softmax(cast(x)))
    uj.symmetric(jnp.swapaxes(cast(x), 1, 2) @ cast(x))
    uj.sorted(jnp.sort(cast(x)))
    uj.sorted(np.array([-np.inf, 0, np.inf], np.float32))
    uj.orthogonal(cast(jnp.linalg.qr(x)[0]))
    uj.orthogonal(cast(jnp.swapaxes(jnp.linalg.qr(x)[0], 1, 2)))
