"""Operations of StableHLO with unusual attributes: the reader computes what XLA computes, or refuses in one line."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jaxlib.mlir.dialects import stablehlo
from stablehlo_options import CASES, spec

import uat_jax as uj
from uat_jax.inputs.mlir_parsing import parsed


def by_xla(case):
    """What the program returns where XLA compiles it: an artifact of the same types, with its module replaced."""
    kinds = [spec(kind) for kind in case.outputs]
    stub = jax.jit(lambda *_: tuple(jnp.zeros(kind.shape, kind.dtype) for kind in kinds), keep_unused=True)
    artifact = jax.export.export(stub)(*map(spec, case.inputs))
    module = stablehlo.serialize_portable_artifact_str(str(parsed(case.text.encode())), stablehlo.get_current_version())
    return dataclasses.replace(artifact, mlir_module_serialized=module).call(*case.arrays)


def test_there_are_many_of_different_names():
    assert len({case.name for case in CASES}) == len(CASES) >= 250


@pytest.mark.parametrize("case", one_in(12, CASES), ids=lambda case: case.name)
def test_what_is_read_is_what_xla_computes(case):
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        if case.refused:
            with pytest.raises(uj.UatJaxError, match=case.refused) as caught:
                uj.read_stablehlo(case.text)(*case.arrays)
            assert "\n" not in str(caught.value)
            return
        read = uj.read_stablehlo(case.text)(*case.arrays)
        for one, other in zip(by_xla(case), read if len(case.outputs) > 1 else [read], strict=True):
            one, other = np.asarray(one), np.asarray(other)
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            if jnp.issubdtype(one.dtype, jnp.floating):  # both are XLA's, of one operation in two orders at most
                eps = float(jnp.finfo(one.dtype).eps)
                np.testing.assert_allclose(*(x.astype(np.float64) for x in (one, other)), rtol=16 * eps, atol=16 * eps)
            else:
                np.testing.assert_array_equal(one, other)
