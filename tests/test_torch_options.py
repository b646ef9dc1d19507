# pyright: reportMissingImports=false
"""Operations of PyTorch with unusual options: the reader computes what PyTorch computes, or refuses in one line."""

import jax
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj

torch = pytest.importorskip("torch", reason="PyTorch is an extra: pip install 'uat_jax[torch]'")

from torch_options import CASES  # noqa: E402 - needs it


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *tensors):
        return self.function(*tensors)


def read(case):
    """What the reader returns, as arrays."""
    program = uj.read_torch(torch.export.export(Module(case.function), case.inputs))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return list(map(np.asarray, jax.tree.leaves(program(*(x.numpy() for x in case.inputs)))))


def by_torch(case):
    with torch.no_grad():
        return [x.numpy() for x in jax.tree.leaves(case.function(*(x.clone() for x in case.inputs)))]


def test_there_are_many_of_different_names():
    assert len({case.name for case in CASES}) == len(CASES) >= 150


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, of its exporter
@pytest.mark.parametrize("case", one_in(25, CASES), ids=lambda case: case.name)
def test_what_is_read_is_what_torch_computes(case):
    if case.refused:
        with pytest.raises(uj.UatJaxError, match=case.refused) as caught:
            read(case)
        assert "\n" not in str(caught.value)
        return
    for one, other in zip(by_torch(case), read(case), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if one.dtype.kind == "f":  # some hundred roundings of numbers near 10 in float32
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)
        else:
            np.testing.assert_array_equal(one, other)


def test_nothing_flows_back_through_detach():
    program = uj.read_torch(Module(lambda x: (x.detach() * x).sum()), jax.ShapeDtypeStruct((2,), np.float32))
    at = np.array([3, 4], np.float32)
    np.testing.assert_array_equal(jax.grad(program)(at), at)
