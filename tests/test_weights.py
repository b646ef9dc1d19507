"""Where weights are among others: places as text, what does not fit, and proposals; none of it needs PyTorch."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.inputs.program import Program
from uat_jax.inputs.weights import found, leaves_of


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


TREE = {"a": {"kernel": np.arange(12.0).reshape(3, 4)}, "b": [np.arange(4.0), np.arange(24.0).reshape(2, 3, 4)]}
KERNEL, STACKED = TREE["a"]["kernel"], TREE["b"][1]

PLACES = {
    "a/kernel": KERNEL,
    "a/kernel.T": KERNEL.T,
    "a/kernel[0:2]": KERNEL[0:2],
    "a/kernel[:, 1:].T": KERNEL[:, 1:].T,
    "b/1[1]": STACKED[1],
    "b/1[-1].T": STACKED[-1].T,
    "b/1.transpose(2,0,1)": STACKED.transpose(2, 0, 1),
    "b/1.reshape(6,-1).T": STACKED.reshape(6, -1).T,
}


@pytest.mark.parametrize("text", PLACES)
def test_a_place_is_what_numpy_says(text):
    np.testing.assert_array_equal(found(text, leaves_of(TREE)), PLACES[text])


def test_places_are_joined():
    both = np.concatenate([KERNEL, STACKED[0]])
    np.testing.assert_array_equal(found(["a/kernel", "b/1[0]"], leaves_of(TREE)), both)
    beside = np.concatenate([KERNEL.T, STACKED[0].T], 1)
    np.testing.assert_array_equal(found({"of": ["a/kernel.T", "b/1[0].T"], "axis": 1}, leaves_of(TREE)), beside)


LINEAR = Program(
    lambda w, x: jnp.matmul(x, w["weight"].T, precision="highest"),
    ({"weight": spec(2, 3)}, spec(4, 3)),
    name="linear",
    weights={"weight": np.zeros((2, 3), np.float32)},
)
PORT = lambda p, x: jnp.matmul(x, p["k"]["kernel"], precision="highest")
SPECS = ({"k": {"kernel": spec(3, 2)}, "other": spec(3, 2)}, spec(4, 3))


def test_a_program_of_another_tree_of_weights():
    certify = lambda where: uj.certify(LINEAR, PORT, *SPECS, weights={"weight": where}).verdict
    assert certify("k/kernel.T") in (uj.Verdict.CERTIFIED, uj.Verdict.PROVED)
    assert certify("other.T") is uj.Verdict.REFUTED


MISFITS = {
    "an unknown name": ({"wieght": "k/kernel.T"}, "linear has no weight 'wieght'; did you mean weight?"),
    "a name left out": ({}, "do not say where 'weight' is; match_weights proposes"),
    "an unknown path": ({"weight": "k/kernl.T"}, "no weight at 'k/kernl'; did you mean k/kernel"),
    "not transposed": ({"weight": "k/kernel"}, r"shape \[2, 3\], and 'k/kernel' has \[3, 2\]; write .T after it"),
    "another shape": ({"weight": "k/kernel[0:2]"}, r"has shape \[2, 3\].* has \[2, 2\]; of that size are"),
    "no such axis": ({"weight": "k/kernel.transpose(0,2)"}, r".transpose\(0,2\) does not fit 'k/kernel'"),
    "a call of something else": ({"weight": "k/kernel.sum()"}, "for a place of a weight; write a path"),
    "an index that is none": ({"weight": "k/kernel[::0]"}, "does not fit"),
    "pieces that do not fit": ({"weight": ["k/kernel", "k/kernel.T"]}, "cannot be joined along axis 0"),
    "a number": ({"weight": 3}, "got 3 for a place of a weight"),
    "nothing joined": ({"weight": []}, r"got \[\] for a place"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_weights_that_do_not_fit_are_one_line(name):
    weights, message = MISFITS[name]
    with pytest.raises(uj.UatJaxError, match=message) as caught:
        uj.certify(LINEAR, PORT, *SPECS, weights=weights)
    assert "\n" not in str(caught.value)


# --- proposals ------------------------------------------------------------------------------------------------------

PROPOSALS = {
    "a dense layer": (
        {"weight": spec(2, 3), "bias": spec(2)},
        {"kernel": spec(3, 2), "bias": spec(2)},
        {"weight": "kernel.T", "bias": "bias"},
    ),
    "a convolution": (
        {"conv.weight": spec(5, 2, 3, 3)},
        {"conv": {"kernel": spec(3, 3, 2, 5)}},
        {"conv.weight": "conv/kernel.transpose(3,2,0,1)"},
    ),
    "merged": (
        {"attn.in_proj_weight": spec(12, 4)},
        {n: {"kernel": spec(4, 4)} for n in ("value", "query", "key")},
        {"attn.in_proj_weight": ["query/kernel.T", "key/kernel.T", "value/kernel.T"]},
    ),
    "split": (
        {f"{n}_proj.weight": spec(4, 4) for n in "qkv"},
        {"qkv": {"kernel": spec(4, 12)}},
        {f"{n}_proj.weight": f"qkv/kernel[:, {4 * i}:{4 * i + 4}].T" for i, n in enumerate("qkv")},
    ),
    "heads apart": (
        {"q.weight": spec(6, 4)},
        {"q": {"kernel": spec(4, 2, 3)}},
        {"q.weight": "q/kernel.reshape(4,6).T"},
    ),
    "stacked layers": (
        {f"layers.{i}.weight": spec(3, 2) for i in range(2)},
        {"layers": {"kernel": spec(2, 2, 3)}},
        {f"layers.{i}.weight": f"layers/kernel[{i}].T" for i in range(2)},
    ),
    "layers by number": (
        {f"h.{i}.ln.weight": spec(3) for i in range(2)},
        {"blocks": [{"ln": {"scale": spec(3)}} for _ in range(2)]},
        {f"h.{i}.ln.weight": f"blocks/{i}/ln/scale" for i in range(2)},
    ),
}


@pytest.mark.parametrize("name", PROPOSALS)
def test_places_are_proposed(name):
    left, right, wanted = PROPOSALS[name]
    matching = uj.match_weights(left, right)
    assert matching.weights == wanted and not matching.left_over and not matching.unused
    assert not matching.confirmed


def test_what_is_left_over_is_said():
    matching = uj.match_weights({"weight": spec(2, 3), "extra": spec(7)}, {"kernel": spec(3, 2), "bias": spec(2)})
    assert (matching.left_over, matching.unused) == (("extra",), ("bias",))
    assert "left over: extra" in str(matching) and "not confirmed by values" in str(matching)


def test_a_square_matrix_is_a_guess_until_values_decide():
    matrix = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert uj.match_weights({"weight": spec(3, 3)}, {"kernel": spec(3, 3)}).guessed == ("weight",)
    for right, place in (({"kernel": matrix.T}, "kernel.T"), ({"kernel": matrix}, "kernel")):
        matching = uj.match_weights({"weight": matrix}, right)
        assert matching.confirmed and matching.weights == {"weight": place} and not matching.guessed
    assert uj.match_weights({"weight": matrix}, {"kernel": matrix + 1}).left_over == ("weight",)


def test_nothing_to_match():
    with pytest.raises(uj.UatJaxError, match="got no weights on one side"):
        uj.match_weights({}, {"kernel": spec(3)})
    with pytest.raises(uj.UatJaxError, match="got a int for weights"):
        uj.match_weights(3, {"kernel": spec(3)})


def test_without_pytorch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(uj.UatJaxError, match=r"PyTorch is not installed, .*: pip install 'uat_jax\[torch\]'"):
        uj.read_torch("model.pt2")
