"""The closed form as a loop over its layers is the network: by normal forms, in prime fields, exactly on integers."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.errors import InputError, ShapeError
from uat_jax.lowering import Lowered, LoweredRecursion
from uat_jax.networks import ResidualLayer
from uat_jax.networks.residual import residual_layer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.recursion import J, Recursion, closed_form_recursion
from uat_jax.symbolic.step import Step

KINDS = ("residual", "transformer")
DTYPES = ("float64", "float32", "bfloat16", "float16")
D, F = 2, 3


def changed(kind: str, letter: str, change) -> Recursion:
    """The recursion with another line for a letter."""
    recursion = closed_form_recursion(kind)
    lines = {l: change(e) if str(l) == letter else e for l, e in recursion.step.items()}
    assert lines != dict(recursion.step)
    return replace(recursion, step=Program(lines, recursion.step.result))


def without_last(e: m.Expression) -> m.Expression:
    """The sum without its last term."""
    return m.Addition(*e.operands[:-1])


def inside(index: int, change):
    """One operand changed."""
    return lambda e: m.Addition(*(change(term) if n == index else term for n, term in enumerate(e.operands)))


def after_for_before(e: m.Expression) -> m.Expression:
    """Ŵ_{j,1} where Ŵ_{j-1,1} belongs: steps 2 and 5 of Theorem 2 in the wrong order."""
    closed = ClosedForm(closed_form_recursion("residual").layers)
    return e.renamed({closed.W1(J - 1): closed.W1(J)})


TWINS = {
    "no bias b_j": ("b̂_{j,2}", inside(0, without_last)),
    "bias c_j twice": ("b̂_{j,3}", inside(1, lambda c: 2 * c)),
    "u missing inside σ": ("b̂_{j,2}", without_last),
    "u not handed on": ("u_j", lambda e: e.operands[1]),
    "u not multiplied by A_j": ("u_j", inside(0, lambda Au: Au.operands[-1])),
    "Ŵ_{j,1} too early": ("Ŵ_{j,2}", after_for_before),
}


def step(kind: str, recursion: Recursion) -> Step:
    """One layer applied to what the recursion is handed gives what it hands on."""
    closed = ClosedForm(recursion.layers)
    x = m.Addition(closed.affine(J - 1), closed.u(J - 1))
    return Step("one layer", recursion.layers.apply(J, x), recursion.result, recursion.step.lines)


@pytest.mark.parametrize("kind", KINDS)
def test_the_step_holds_for_every_shape_and_activation(kind):
    recursion = closed_form_recursion(kind)
    assert step(kind, recursion).holds()
    first = recursion.layers.apply(J, recursion.argument)
    assert Step("layer 1", first, recursion.result, {**recursion.start, **recursion.step}).holds()
    alone = {**recursion.start, **recursion.step}
    assert all(Step("alone", own, hat, alone).holds() for hat, own in recursion.alone.items())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("twin", TWINS)
def test_a_wrong_step_does_not_hold(kind, twin):
    assert not step(kind, changed(kind, *TWINS[twin])).holds()


# --- in prime fields -------------------------------------------------------------------------------------------------


def arrays(depth: int, dtype="float32") -> dict[str, jax.ShapeDtypeStruct]:
    shapes = {"A_j": (D, D), "B_j": (F, D), "C_j": (D, F), "b_j": (F,), "c_j": (D,)}
    return {name: jax.ShapeDtypeStruct((depth, *shape), dtype) for name, shape in shapes.items()}


def plain(weights, x):
    """The residual network as a loop, one input."""
    layers = ResidualLayer(*(weights[f"{name}_j"] for name in ResidualLayer._fields))
    return jax.lax.scan(lambda x, layer: (residual_layer(layer, x, jnp.tanh), None), x, layers)[0]


def unrolled(kind: str, depth: int):
    """`Lowered` of the derivation, for stacked weights."""
    derivation = uj.derive(kind, depth=depth)
    lowered = Lowered(derivation.parameters, derivation.layers.x(0), jnp.tanh)
    separate = lambda w: {n.replace("j", str(j + 1)): stack[j] for n, stack in w.items() for j in range(depth)}
    return lambda weights, x: lowered(separate(weights), x)


def lowered(kind: str, **options) -> LoweredRecursion:
    return LoweredRecursion(closed_form_recursion(kind), jnp.tanh, **options)


def verdict(left, right, *specs) -> uj.Verdict:
    return uj.certify(left, right, *specs).verdict


def column(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


@pytest.mark.parametrize("parallel", [False, True], ids=["one by one", "in rounds"])
def test_certified_equal_to_the_network(parallel):
    assert verdict(plain, lowered("residual", parallel=parallel), arrays(3), column(D)) is uj.Verdict.CERTIFIED


@pytest.mark.parametrize("kind", KINDS)
def test_certified_equal_to_the_program_written_out(kind):
    assert verdict(unrolled(kind, 3), lowered(kind), arrays(3), column(D)) is uj.Verdict.CERTIFIED


@pytest.mark.parametrize("twin", TWINS)
def test_a_wrong_step_is_refuted(twin):
    wrong = LoweredRecursion(changed("residual", *TWINS[twin]), jnp.tanh)
    assert verdict(plain, wrong, arrays(2), column(D)) is uj.Verdict.REFUTED


# --- exactly ---------------------------------------------------------------------------------------------------------


def integers(seed: int, *specs):
    """Small whole numbers, with which float64 computes exactly, σ being relu."""
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    return jax.tree.map(lambda s: jnp.asarray(random.integers(-1, 2, s.shape), s.dtype), specs)


@pytest.fixture
def doubles():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(("depth", "parallel"), [(1, True), (5, False)])
def test_columns_are_inputs(depth, parallel, doubles):
    weights, x = integers(depth, arrays(depth, "float64"), jax.ShapeDtypeStruct((D, 4), "float64"))
    form = LoweredRecursion(closed_form_recursion("residual"), jax.nn.relu, parallel=parallel)
    hatted = form.merge(weights)
    found = form.evaluate(hatted, x)
    assert np.array_equal(found, network(dict.fromkeys(range(4), weights), x.T).T) and np.any(found)
    assert np.array_equal(form.evaluate(hatted, x[:, 2]), found[:, 2])


def test_parameters_of_every_input(doubles):
    weights, x = integers(3, arrays(3, "float64"), jax.ShapeDtypeStruct((4, D), "float64"))
    each = {name: jnp.stack([stack, -stack, stack[::-1], 2 * stack]) for name, stack in weights.items()}
    form = LoweredRecursion(closed_form_recursion("residual"), jax.nn.relu)
    expected = network({n: {name: a[n] for name, a in each.items()} for n in range(4)}, x)
    assert np.array_equal(jax.jit(jax.vmap(form))(each, x), expected)


def network(weights, x):
    """The residual network in NumPy, input n with the n-th weights."""
    results = []
    for n, state in enumerate(np.asarray(x)):
        for A, B, C, b, c in zip(*(np.asarray(weights[n][f"{name}_j"]) for name in "ABCbc"), strict=True):
            state = A @ state + c + C @ np.maximum(B @ state + b, 0)
        results.append(state)
    return np.stack(results)


@pytest.mark.parametrize("parallel", [False, True], ids=["one by one", "in rounds"])
def test_prefixes_are_the_affine_parts(parallel, doubles):
    (weights,) = integers(7, arrays(7, "float64"))
    found = lowered("residual", parallel=parallel).prefixes(weights)
    P, q = np.eye(D), np.zeros((D, 1))
    for j in range(7):
        P, q = weights["A_j"][j] @ P, weights["A_j"][j] @ q + weights["c_j"][j][:, None]
        assert np.array_equal(found["Ŵ_{j,1}"][j], P) and np.array_equal(found["b̂_{j,3}"][j], q)


def test_stacked_names_run_over_the_layers(doubles):
    (weights,) = integers(2, arrays(11, "float64"))
    name = lambda n, j: n.replace("j", f"{{{j}}}" if j > 9 else str(j))  # A_9, A_{10}
    separate = {name(n, j): stack[j - 1] for n, stack in weights.items() for j in range(1, 12)}
    found = lowered("residual").stacked(separate)
    assert found.keys() == weights.keys() and all(np.array_equal(found[n], weights[n]) for n in weights)


# --- what is compiled ------------------------------------------------------------------------------------------------


def equations(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for part in jax.tree.leaves(equation.params, is_leaf=lambda p: hasattr(p, "eqns")):
            yield from equations(getattr(part, "jaxpr", part)) if hasattr(part, "eqns") else ()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_is_kept(dtype, doubles):
    hatted = jax.eval_shape(lowered("residual").merge, arrays(3, dtype))
    x = jax.ShapeDtypeStruct((D, 5), dtype)
    result = jax.eval_shape(lowered("residual").evaluate, hatted, x)
    assert {a.dtype for a in hatted.values()} == {jnp.dtype(dtype)} and (result.shape, result.dtype) == ((D, 5), dtype)


def test_the_program_does_not_grow_with_depth():
    form = lowered("residual")
    sizes = lambda L: [len(list(equations(jax.make_jaxpr(f)(*a)))) for f, a in programs(L)]
    programs = lambda L: [(form.merge, (arrays(L),)), (form.evaluate, (form.merge.eval_shape(arrays(L)), column(D)))]
    assert sizes(2) == sizes(50)


def test_many_inputs_share_every_product():
    """A product of two matrices each, at the stated precision: no batch of products with vectors."""
    form = lowered("residual")
    jaxpr = jax.make_jaxpr(form.evaluate)(form.merge.eval_shape(arrays(3)), column(D, 7))
    products = [e for e in equations(jaxpr.jaxpr) if e.primitive.name == "dot_general"]
    assert len(products) == 5  # Ŵ_{j,2} x_0, B_j u, A_j u, C_j s in the loop; Ŵ_{L,1} x_0 after it
    for product in products:
        assert [len(v.aval.shape) for v in product.invars] == [2, 2] and product.outvars[0].aval.shape[1] == 7
        assert product.params["dimension_numbers"][1] == ((), ())
        assert product.params["precision"] == (jax.lax.Precision.HIGHEST,) * 2


# --- bad input -------------------------------------------------------------------------------------------------------


def ones(**shapes):
    given = {**{name: spec.shape for name, spec in arrays(3).items()}, **shapes}
    return {name: jnp.ones(shape) for name, shape in given.items() if shape is not None}


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"C_j": None}, InputError, "no array for C_j"),
        ({"B_j": (4, F, D)}, ShapeError, "A_j has 3 layers and B_j 4"),
        ({n: (0, *s.shape[1:]) for n, s in arrays(3).items()}, ShapeError, "at least one"),
        ({"A_j": (3, D)}, ShapeError, r"A_j has shape \(3, 2\); wanted \(layers, D, D\)"),
        ({"b_j": (3, F, 2)}, ShapeError, r"b_j has shape \(3, 3, 2\); wanted \(layers, F, 1\)"),
        ({"B_j": (3, F, D + 1)}, ShapeError, "B_j has shape"),
    ],
)
def test_arrays_that_do_not_fit(wrong, error, message):
    with pytest.raises(error, match=message):
        lowered("residual").merge(ones(**wrong))


@pytest.mark.parametrize("shape", [(D + 1,), (D + 1, 4), (D, 4, 1), (), (0,)])
def test_inputs_that_do_not_fit(shape):
    form = lowered("residual")
    with pytest.raises(ShapeError, match="x_0 has shape"):
        form.evaluate(form.merge(ones()), jnp.ones(shape))


@pytest.mark.parametrize(
    ("name", "message"),
    [("A_10", r"got A_10 behind layer 9, wanted A_\{10\}, "), ("A_{11}", r"got A_\{11\} behind layer 9, ")],
)
def test_no_layer_is_left_out(name, message):
    """A tenth layer by another name, or behind a gap."""
    separate = {f"{n[0]}_{j}": jnp.ones(s.shape[1:]) for n, s in arrays(3).items() for j in range(1, 10)}
    with pytest.raises(InputError, match=message):
        lowered("residual").stacked(separate | {name: jnp.ones((D, D))})


def test_arrays_of_one_dtype_are_stacked():
    separate = {f"{n[0]}_{j}": jnp.ones(s.shape[1:]) for n, s in arrays(3).items() for j in (1, 2)}
    with pytest.raises(InputError, match="B_1 has dtype float32 and B_2 bfloat16"):
        lowered("residual").stacked(separate | {"B_2": jnp.ones((F, D), jnp.bfloat16)})


def test_whole_numbers_are_refused():
    """Their products would overflow in silence."""
    whole = {name: array.astype(jnp.int32) for name, array in ones().items()}
    form = LoweredRecursion(closed_form_recursion("residual"), jax.nn.relu)
    with pytest.raises(InputError, match="arrays of dtype int32; wanted floats"):
        form(whole, jnp.ones(D, jnp.int32))


def test_layers_of_different_widths_are_not_stacked():
    separate = {f"{n[0]}_{j}": jnp.ones(s.shape[1:]) for n, s in arrays(3).items() for j in (1, 2, 3)}
    with pytest.raises(ShapeError, match=r"B_1 has shape \(3, 2\) and B_2 \(5, 2\).*use Lowered"):
        lowered("residual").stacked(separate | {"B_2": jnp.ones((5, D))})
    with pytest.raises(InputError, match="no array for c_3"):
        lowered("residual").stacked({name: a for name, a in separate.items() if name != "c_3"})
    with pytest.raises(InputError, match="no array for A_1"):
        lowered("residual").stacked({})


def test_unknown_kind():
    with pytest.raises(InputError, match="unknown kind of network 'mlp'"):
        closed_form_recursion("mlp")
