"""Gradients of deep models are compared array by array, where too much is needed later for them to be cut."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.scipy.special import logsumexp

import uat_jax as uj
from uat_jax.decide import array_by_array
from uat_jax.decide.array_by_array import ArrayByArray
from uat_jax.decide.domain import EVERYWHERE
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import ARRAY_BY_ARRAY, FieldsOfFunctions, FieldsOfPieces
from uat_jax.decide.pieces import Compared, Sweep
from uat_jax.decide.specification import traced
from uat_jax.errors import UatJaxError, UnsupportedError
from uat_jax.interpret.canonical_form import CanonicalForms

F = np.float32


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, F)


def norm(x, gain, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + eps) * gain


def norm_again(x, gain, eps=1e-5, scale=1.0):
    centred = x - x.mean(-1, keepdims=True)
    return scale * centred * jax.lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + eps) * gain


def softmax(scores):
    return jax.nn.softmax(scores, -1)


def softmax_again(scores, factor=1.0):
    return factor * jnp.exp(scores - logsumexp(scores, -1, keepdims=True))


def norms(one, other):
    """The gradient of two norms with a residual connection between them."""
    return jax.grad(lambda x, g, h: jnp.sin((lambda y: other(y + jnp.tanh(y), h))(one(x, g))).sum(), (0, 1, 2))


def attention(rows, one, other):
    """The gradient of two norms around an attention."""

    def loss(x, q, g, h):
        y = one(x, g)
        return jnp.sin(other(y + rows(y @ q @ y.T) @ y, h)).sum()

    return jax.grad(loss, (0, 1, 2, 3))


NORMS = (f32(2, 3), f32(1, 3), f32(1, 3))
ATTENTION = (f32(2, 3), f32(3, 3), f32(1, 3), f32(1, 3))

OTHER_EPSILON = partial(norm_again, eps=1.5e-5)
OTHER_FACTOR = partial(norm_again, scale=1 + 2.0**-20)
OTHER_WEIGHTS = partial(softmax_again, factor=1 + 2.0**-20)

# name: (a gradient, its other writing, mistakes in that, specs)
GRADIENTS = {
    "two norms": (
        norms(norm, norm),
        norms(norm_again, norm_again),
        {
            "another epsilon in the second": norms(norm_again, OTHER_EPSILON),
            "another factor in the first": norms(OTHER_FACTOR, norm_again),
        },
        NORMS,
    ),
    "two norms around an attention": (
        attention(softmax, norm, norm),
        attention(softmax_again, norm_again, norm_again),
        {
            "another epsilon in the first": attention(softmax_again, OTHER_EPSILON, norm_again),
            "another factor of the weights": attention(OTHER_WEIGHTS, norm_again, norm_again),
        },
        ATTENTION,
    ),
}


MISTAKES = [(name, mistake) for name, row in GRADIENTS.items() for mistake in row[2]]


def compared(left, right, specs, seed=0):
    """Whether both are equal array by array; what is refused is not equal."""
    programs = [traced(function, specs)[0] for function in (left, right)]
    try:
        return ArrayByArray(programs[0], programs[1], Effort(seed=seed), None, EVERYWHERE).compared().equal
    except UnsupportedError:
        return False


@pytest.mark.parametrize("name", one_in(2, GRADIENTS))
def test_gradients_are_equal_array_by_array(name):
    left, right, _, specs = GRADIENTS[name]
    assert compared(left, right, specs)


@pytest.mark.parametrize(("name", "mistake"), one_in(2, MISTAKES))
def test_mistakes_in_gradients_are_not_equal_array_by_array(name, mistake):
    left, _, mistakes, specs = GRADIENTS[name]
    assert not compared(left, mistakes[mistake], specs)


def test_a_gradient_that_can_hardly_be_cut_is_certified_array_by_array(monkeypatch, tmp_path):
    left, right, _, specs = GRADIENTS["two norms"]
    monkeypatch.setattr("uat_jax.decide.pieces_evidence.MANY_EQUATIONS", 50)
    monkeypatch.setattr("uat_jax.decide.pieces_evidence.HUGE", 50)
    taken = []
    of_arrays = ArrayByArray.compared
    monkeypatch.setattr(ArrayByArray, "compared", lambda self: taken.append(of_arrays(self)) or taken[-1])
    certificate = uj.certify(left, right, *specs)
    assert [found.equal for found in taken] == [True]
    assert certificate.verdict is uj.Verdict.CERTIFIED
    figures = certificate.evidence[0].figures
    assert isinstance(figures, FieldsOfPieces)
    assert sum(piece.count for piece in figures.pieces) > 5 and figures.theorem
    assert figures.way == ARRAY_BY_ARRAY and ARRAY_BY_ARRAY in certificate.evidence[0].finding
    written = certificate.save(tmp_path / "c.json")
    assert uj.recheck(uj.load(written)).verdict is uj.Verdict.CERTIFIED
    written.write_text(written.read_text().replace('"array by array"', '"at a glance"'))
    with pytest.raises(UatJaxError, match="at a glance"):
        uj.recheck(uj.load(written))


def test_what_is_equal_as_a_whole_is_not_compared_array_by_array(monkeypatch):
    """That takes longest, and comes last, unless there are too many entries for a comparison as a whole."""
    monkeypatch.setattr("uat_jax.decide.pieces_evidence.MANY_EQUATIONS", 1)
    monkeypatch.setattr(Sweep, "compared", lambda self: Compared({}, 0, 0, (), (), CanonicalForms(), "they part"))
    monkeypatch.setattr(ArrayByArray, "compared", lambda self: pytest.fail("compared array by array"))
    sides = lambda factor: lambda x: jnp.tanh(x) * factor
    certificate = uj.certify(sides(F(2)), lambda x: jnp.tanh(x) + jnp.tanh(x), f32(2))
    assert certificate.verdict is uj.Verdict.CERTIFIED
    assert isinstance(certificate.evidence[0].figures, FieldsOfFunctions)
    with pytest.raises(pytest.fail.Exception, match="array by array"):
        uj.certify(sides(F(2)), lambda x: jnp.tanh(x) + jnp.tanh(x) * F(1 + 2.0**-23), f32(2))


# What letters would hide: left and right are different functions, and equal for all numbers in the place of a letter.
HIDDEN = {
    "a logarithm that is undefined and caught": (
        lambda x: (lambda y: jnp.where(jnp.isnan(y), 1, y))(jnp.log(x)) * x,
        lambda x: jnp.log(x * x) / 2 * x,
        (f32(2),),
    ),
    "a root that is undefined and caught": (
        lambda x: (lambda y: jnp.where(y >= 0, y, 3))(jnp.sqrt(x) * 2) * x,
        lambda x: (lambda y: jnp.where(y >= 0, y, 4))(jnp.sqrt(4 * x)) * x,
        (f32(2),),
    ),
    "a quotient that is undefined and caught": (
        lambda x: jnp.where(jnp.isfinite(x / x + jnp.sin(x)), jnp.cos(x), 2),
        lambda x: jnp.where(jnp.isfinite(1 + jnp.sin(x) / x * x), jnp.cos(x), 3),
        (f32(2),),
    ),
    "a tie": (
        jax.grad(lambda x: jnp.sum(jnp.exp(jnp.maximum(x, 0) + x))),
        lambda x: jnp.exp(jnp.where(x >= 0, 2 * x, x)) * jnp.where(x >= 0, F(2), F(1)),
        (f32(2),),
    ),
    "a threshold that no random input meets": (
        lambda x: jnp.exp(jnp.tanh(x)) * jnp.where(jnp.tanh(x) * 2 > F(1.9999999), F(1), F(2)),
        lambda x: jnp.exp(jnp.tanh(x) * 1) * F(2),
        (f32(2),),
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("seed", one_in(3, range(3)))
def test_letters_hide_nothing(name, seed):
    left, right, specs = HIDDEN[name]
    assert not compared(left, right, specs, seed)


def deep(y):
    return jnp.sin(y + jnp.cos(y))


def near(shift):
    """Two programs of the arrays y and z = y + shift(x), which are one array in float64: the left one returns what is
    computed of y, and the right one, which computes z first, the same of z; all else is equal.
    """

    def left(x):
        y = jnp.tanh(x)
        z = y + shift(x)
        return deep(y), 2 * deep(z), y

    def right(x):
        a, b = jnp.exp(x), jnp.exp(-x)
        z = (a - b + shift(x) * (a + b)) / (a + b)
        return deep(z), 2 * deep(z), jnp.tanh(x)

    return left, right


# What float64 does not tell apart at a random input is not one letter.
NEAR = {
    "a small constant": near(lambda x: F(2.0**-50)),
    "a small function": near(lambda x: F(2.0**-50) * jnp.cos(x)),
    "a small factor": near(lambda x: F(2.0**-34) * jnp.tanh(x)),
    "one entry alone": near(lambda x: np.array([2.0**-50, 0], F)),
    "a small step": near(lambda x: F(2.0**-50) * jnp.where(x > 0, F(1), F(2))),
    "the other entry": (
        lambda x: deep(jnp.stack([x[0], x[0] + F(2.0**-50)]) * 3),
        lambda x: deep(jnp.stack([x[0], 2 * x[0] + F(2.0**-50) - x[0]])[::-1] * 3),
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_arrays_that_are_near_are_not_taken_for_equal(name):
    left, right = NEAR[name]
    assert not compared(left, right, (f32(2),))


def test_one_name_for_all_that_is_near_would_be_wrong(monkeypatch):
    """So the rows above can fail; each program is equal to itself."""
    left, right = NEAR["a small constant"]
    assert compared(left, left, (f32(2),))
    monkeypatch.setattr(ArrayByArray, "_group", lambda self, pair: np.uint64(1))
    assert compared(left, right, (f32(2),))


def test_programs_that_compute_too_much_are_refused(monkeypatch):
    monkeypatch.setattr(array_by_array, "MOST_ENTRIES", 10)
    left, right, _, specs = GRADIENTS["two norms"]
    programs = [traced(function, specs)[0] for function in (left, right)]
    with pytest.raises(UnsupportedError, match="compute more than 10 entries"):
        ArrayByArray(programs[0], programs[1], Effort(), None, EVERYWHERE).compared()
