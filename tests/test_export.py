"""Every jitted function of the package is lowered for CPU, CUDA and TPU, there or not; what would be wrong is not."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.sharding import AbstractMesh, AxisType, Mesh

import uat_jax
from uat_jax.bench.case import UnavailableError
from uat_jax.bench.export import PLATFORMS, export
from uat_jax.bench.kernel import Call, Kernel, Sizes
from uat_jax.bench.kernels import KERNELS, chosen
from uat_jax.bench.products import products
from uat_jax.errors import InputError

SEED = 17
REFUSED = {("modular-float64-31", "tpu"), ("modular-float64-61", "tpu")}
"""Limbs in float64 are exact where float64 is."""
EIGHT = AbstractMesh((8,), ("trials",), axis_types=(AxisType.Auto,))
SHARDED = [kernel for kernel in KERNELS if kernel.sharded]


def platforms(kernel: Kernel) -> list[str]:
    return [platform for platform in PLATFORMS if (kernel.name, platform) not in REFUSED]


def one_device() -> Mesh:
    return Mesh(np.array(jax.devices("cpu")[:1]), ("trials",), axis_types=(AxisType.Auto,))


def drawn(leaf: Any, generator: np.random.Generator) -> np.ndarray:
    """Normal floats; whole numbers 1 … 6, which are words of every small vocabulary and residues of every prime."""
    if jnp.issubdtype(leaf.dtype, jnp.floating):
        return generator.normal(size=leaf.shape).astype(leaf.dtype)
    return generator.integers(1, 7, leaf.shape).astype(leaf.dtype)


@pytest.mark.parametrize("kernel", one_in(2, KERNELS), ids=lambda kernel: kernel.name)
def test_every_kernel_is_lowered_for_every_platform(kernel):
    mesh, size, names = one_device(), kernel.sizes.small, platforms(kernel)
    exported = jax.export.deserialize(export(kernel, size, mesh, names).serialize())
    call = kernel.call(size, mesh)
    with jax.enable_x64(kernel.wide):
        outputs = jax.tree.leaves(jax.eval_shape(call.function, *call.arguments))
    assert exported.platforms == tuple(names) and exported.nr_devices == 1
    assert shapes(exported.in_avals) == shapes(jax.tree.leaves(call.arguments))
    assert shapes(exported.out_avals) == shapes(outputs) != []


def shapes(arrays: Any) -> list[Any]:
    return [(array.shape, array.dtype) for array in arrays]


BRIEF = {"transformer", "kronecker-sum", "modular-float64-31"}
"""Kernels that are compiled in every run of the tests; the others take a minute together."""


@pytest.mark.parametrize(
    "kernel",
    [pytest.param(k, marks=[] if k.name in BRIEF else pytest.mark.campaign, id=k.name) for k in KERNELS],
)
def test_what_comes_back_from_bytes_computes_the_same_bits(kernel):
    print("seed", SEED)
    mesh, size = one_device(), kernel.sizes.small
    call, exported = kernel.call(size, mesh), export(kernel, size, mesh, platforms(kernel))
    leaves, tree = jax.tree.flatten(call.arguments)
    generator = np.random.default_rng(SEED)
    arrays, others = ([drawn(leaf, generator) for leaf in leaves] for _ in range(2))
    with jax.enable_x64(kernel.wide):
        again = jax.export.deserialize(exported.serialize())
        here, there = quickly(call.function), quickly(again.call)
        expected, elsewhere = (jax.tree.leaves(here(*tree.unflatten(values))) for values in (arrays, others))
        found = there(*arrays)
    for e, f, o in zip(expected, found, elsewhere, strict=True):
        assert np.asarray(e).tobytes() == np.asarray(f).tobytes()
        assert np.asarray(e).tobytes() != np.asarray(o).tobytes()  # a constant would be the same for any kernel


def quickly(function: Any) -> Any:
    """Jitted; both sides without the optimisations that would take most of the test's time."""
    return jax.jit(function, compiler_options={"xla_backend_optimization_level": 0})


@pytest.mark.parametrize("kernel", SHARDED, ids=lambda kernel: kernel.name)
def test_a_sharded_kernel_is_lowered_for_devices_that_are_not_there(kernel):
    exported = export(kernel, kernel.sizes.small, EIGHT)
    assert exported.nr_devices == 8
    with pytest.raises(ValueError, match="8"):
        exported.call(*(np.zeros(a.shape, a.dtype) for a in exported.in_avals))


@pytest.mark.parametrize(("name", "platform"), sorted(REFUSED))
def test_limbs_that_are_not_exact_on_a_platform_are_refused(name, platform):
    (kernel,) = chosen([name])
    with pytest.raises(UnavailableError, match="got a product of float64 matrices for a TPU.*take int8 limbs"):
        export(kernel, kernel.sizes.small, one_device(), [platform])


# --- what must fail ------------------------------------------------------------------------------------------------


def _kernel(function, *arguments: Any, wide: bool = False) -> Kernel:
    return Kernel("twin", __name__, lambda: Call(function, arguments), Sizes({}, {}), wide=wide)


def _exported(kernel: Kernel, *names: str) -> jax.export.Exported:
    return export(kernel, {}, one_device(), names or PLATFORMS)


SQUARE = jax.ShapeDtypeStruct((3, 3), jnp.float32)


def test_a_callback_to_the_host_cannot_be_stored():
    def function(x):
        return jax.pure_callback(np.tanh, SQUARE, x)

    with pytest.raises(NotImplementedError, match="callback"):
        _exported(_kernel(function, SQUARE)).serialize()


def test_an_operation_of_one_platform_is_not_lowered_for_another():
    def function(x):
        return jax.lax.platform_dependent(x, cpu=jnp.tanh)

    _exported(_kernel(function, SQUARE), "cpu")
    with pytest.raises(NotImplementedError, match="platform"):
        _exported(_kernel(function, SQUARE))


def test_a_program_is_not_called_on_another_platform():
    exported = _exported(_kernel(jnp.tanh, SQUARE), "tpu")
    with pytest.raises(ValueError, match="exported for platforms"):
        exported.call(np.ones((3, 3), np.float32))


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64"])
@pytest.mark.parametrize("where", ["plain", "loop", "call", "branch"])
def test_a_product_in_64_bits_is_refused_for_a_tpu_wherever_it_stands(dtype, where):
    """JAX alone lowers it: the TPU's own compiler refuses integers, and rounds floats otherwise than IEEE says."""
    square = lambda x: jnp.matmul(x, x)
    functions = {
        "plain": square,
        "loop": lambda x: jax.lax.fori_loop(0, 3, lambda _, y: square(y), x),
        "call": jax.jit(square),
        "branch": lambda x: jax.lax.cond(x[0, 0] > 0, square, lambda y: y, x),
    }
    kernel = _kernel(functions[where], jax.ShapeDtypeStruct((3, 3), dtype), wide=True)
    with jax.enable_x64(True):
        jax.export.export(jax.jit(functions[where]), platforms=["tpu"])(jax.ShapeDtypeStruct((3, 3), dtype))
    with pytest.raises(UnavailableError, match=f"got a product of {dtype} matrices for a TPU"):
        _exported(kernel)
    assert _exported(kernel, "cpu", "cuda").platforms == ("cpu", "cuda")


def test_a_product_of_bytes_and_64_bit_sums_are_not_refused():
    def function(x):
        return jnp.matmul(x, x, preferred_element_type=jnp.int32).astype(jnp.int64) * 3

    assert _exported(_kernel(function, jax.ShapeDtypeStruct((3, 3), jnp.int8), wide=True))


def test_an_unknown_kernel_is_named():
    with pytest.raises(InputError, match="no kernel 'gpt3'; choose among residual, "):
        chosen(["residual", "gpt3"])
    assert chosen([]) == list(KERNELS)


# --- operations of products ----------------------------------------------------------------------------------------


def _operations(function, *arguments: Any) -> int:
    return sum(product.operations for product in products(jax.make_jaxpr(function)(*arguments)))


def test_operations_are_counted_by_the_formula():
    x, y = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    assert _operations(jnp.matmul, x, y) == 2 * 3 * 4 * 5
    assert _operations(jax.jit(jnp.matmul), x, y) == 2 * 3 * 4 * 5
    batch = np.ones((7, 3, 4), np.float32)
    assert _operations(lambda a, b: jnp.einsum("bik,bjk->bij", a, b), batch, batch) == 2 * 7 * 3 * 3 * 4
    power = lambda a: jax.lax.fori_loop(0, 6, lambda _, b: jnp.matmul(a, b), a)
    assert _operations(power, np.ones((3, 3), np.float32)) == 6 * 2 * 27
    assert _operations(jnp.tanh, x) == 0


def test_operations_of_all_devices_are_counted():
    (kernel,) = SHARDED
    counted = {}
    for mesh in (one_device(), EIGHT):
        call = kernel.call(kernel.sizes.small, mesh)
        counted[mesh.size] = _operations(call.function, *call.arguments)
    assert counted[8] == 8 * counted[1] > 0


# --- nothing is left out -------------------------------------------------------------------------------------------

ELSEWHERE = {
    "uat_jax.numbers.prime_fields.prime_field": "runs `modular_matmul`",
    "uat_jax.numbers.floats.matmul_precision": "asks the device it runs on how it rounds",
    "uat_jax.decide.on_device": "runs the user's own functions as they are",
    "uat_jax.decide.loops.strict": "runs the user's own functions to see that they are defined somewhere",
    "uat_jax.decide.kernel_memory": "names a part of a program, nothing is run",
    "uat_jax.decide.functions_of_entries": "functions of the user's integers, at some of them",
    "uat_jax.decide.whole_programs": "the programs of integers that are asked about, which no table knows",
    "uat_jax.decide.kernels": "names a part of a program, nothing is run",
    "uat_jax.decide.floats": "lowers both programs for the name of their comparison, nothing is run",
    "uat_jax.decide.specification": "evaluates shapes, nothing is run",
    "uat_jax.inputs.mlir_parsing": "lowers a constant for the bindings that come with it, nothing is run",
    "uat_jax.inputs.written_out": "exports functions of one number, nothing is run",
    "uat_jax.ledger.layers.kernels": "draws random weights",
    "uat_jax.cli.decompose": "runs `Model`, `contributions` and similarities",
    "uat_jax.decomposition.adaptation": "runs `terms` and `contributions` with an adapter and without it",
    "uat_jax.decomposition.measurements": "runs `Model.states`, `closed_forms`, `states_of` and `operators`",
    "uat_jax.decomposition.lens": "runs `Model.states` and `Model.output`",
    "uat_jax.explanation": "runs `Model`, `contributions` and `logit_lens`",
    "uat_jax.networks.train_digits": "trains the networks that come with the package",
}
"""Modules with jitted functions of their own that are not kernels, and what these do."""


def _jits(source: str) -> bool:
    """Whether a program calls or decorates by ``jax.jit``."""
    return "jax.jit" in source and any(
        isinstance(node, ast.Attribute) and node.attr == "jit" and isinstance(node.value, ast.Name)
        for node in ast.walk(ast.parse(source))
    )


def _modules() -> list[str]:
    root = Path(uat_jax.__file__).parent
    names = {path: ".".join(("uat_jax", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("*.py")}
    return sorted(name for path, name in names.items() if _jits(path.read_text()) and ".bench." not in name)


def test_every_module_with_a_jitted_function_is_in_the_table():
    inside = {kernel.module for kernel in KERNELS}
    assert set(_modules()) <= inside | ELSEWHERE.keys()
    assert not inside & ELSEWHERE.keys()
    assert ELSEWHERE.keys() <= set(_modules())  # no reason outlives its module


def test_a_jitted_function_is_seen():
    assert _jits("@functools.partial(jax.jit, static_argnums=0)\ndef f(x): pass") and _jits("y = jax.jit(f)(x)")
    assert not _jits("y = f(x)  # jax.jit")


def test_the_table_names_modules_that_exist_and_kernels_once():
    for kernel in KERNELS:
        assert import_module(kernel.module)
    assert len({kernel.name for kernel in KERNELS}) == len(KERNELS)
