"""Programs of eight devices as programs of one, run against JAX on eight devices; prints a line for each that agrees.

Started by test_sharded.py in a process of its own, because devices are counted only once.
"""

import os

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.extend.core import jaxpr_as_fun
from jax.sharding import AxisType, NamedSharding

from uat_jax.decide.one_device import on_one_device

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

MESH = jax.make_mesh((2, 4), ("a", "i"), axis_types=(AxisType.Auto,) * 2)
BOTH = P("a", "i")
X = np.random.default_rng(0).standard_normal((8, 8), np.float32)
RING = [(i, (i + 1) % 4) for i in range(4)]


def on(joined, cut=BOTH):
    """A decorator: the function of one array runs on all devices."""
    return lambda function: jax.shard_map(function, mesh=MESH, in_specs=cut, out_specs=joined, check_vma=False)


def number(axes):
    return lax.axis_index(axes).astype(jnp.float32)


def rounds(x):
    step = lambda carry, _: (lax.ppermute(carry, "i", RING[:3]) + x, lax.psum(carry, ("a", "i")))
    return lax.scan(step, 0 * x, None, length=3)


def until(x):
    far = lambda carry: lax.psum(carry[1].sum(), ("a", "i")) < 1000
    return lax.while_loop(far, lambda carry: (carry[0] + 1, lax.psum(carry[1], "i") + 1), (np.float32(0), x**2))


def inner(x):
    minus = lambda y: y - lax.psum(y, "i") * number("a")
    cut = P(None, "i")
    return jax.shard_map(minus, in_specs=cut, out_specs=cut, axis_names={"i"}, check_vma=False)(x)


def drawn(x):
    key = jax.random.fold_in(jax.random.key(0), lax.axis_index(("a", "i")))
    return x + jax.random.normal(key, x.shape)


GROUPS = [[0, 2, 4, 6], [7, 5, 3, 1]]

IN_GROUPS = {
    "psum": lax.psum,
    "pmax": lax.pmax,
    "pmean": lax.pmean,
    "all_gather": lax.all_gather,
    "all_gather, joined": lambda x, axis, **groups: lax.all_gather(x, axis, tiled=True, **groups),
    "psum_scatter": lambda x, axis, **groups: lax.psum_scatter(x[:4], axis, **groups),
    "all_to_all": lambda x, axis, **groups: lax.all_to_all(jnp.outer(x[:4], x), axis, 0, 1, **groups),
}


def of_groups(function):
    """A collective operation of eight devices in two groups, counted in their own order."""
    return jax.pmap(lambda x: function(x * number("i"), "i", axis_index_groups=GROUPS), axis_name="i")


PROGRAMS = {
    "psum": on(P(None, "i"))(lambda x: lax.psum(x, "a")),
    "psum of all": on(P())(lambda x: lax.psum(x, ("a", "i"))),
    "psum of one number": on(P())(lambda x: lax.psum(np.float32(2), "i") * np.ones(1, np.float32)),
    "pmean": on(P("a"))(lambda x: lax.pmean(x, "i")),
    "pmax": on(P("a"))(lambda x: lax.pmax(x, "i")),
    "pmin": on(P())(lambda x: lax.pmin(x, ("i", "a"))),
    "all_gather": on(P(None, "a"))(lambda x: lax.all_gather(x, "i")),
    "all_gather, joined": on(P("a"))(lambda x: lax.all_gather(x, "i", axis=1, tiled=True)),
    "all_gather, in another order": on(P())(lambda x: lax.all_gather(x, ("i", "a"))),
    "psum_scatter": on(BOTH)(lambda x: lax.psum_scatter(x, "a", scatter_dimension=1)[:, None]),
    "psum_scatter, parts": on(BOTH)(lambda x: lax.psum_scatter(x, "i", scatter_dimension=0, tiled=True)),
    "all_to_all": on(BOTH)(lambda x: lax.all_to_all(x, "i", 0, 1)),
    "all_to_all, parts": on(BOTH)(lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True)),
    "all_to_all, back": on(BOTH)(lambda x: lax.all_to_all(x, "a", 1, 0, tiled=True)),
    "ppermute": on(BOTH)(lambda x: lax.ppermute(x, "i", RING)),
    "ppermute of some": on(BOTH)(lambda x: lax.ppermute(x, "i", [(0, 2), (3, 1)])),
    "pswapaxes": on(BOTH)(lambda x: lax.pswapaxes(x, "i", 0)),
    "axis_index": on(BOTH)(lambda x: x * number("i") - number("a")),
    "axis_index of two": on(BOTH)(lambda x: x * number(("i", "a")) - number(("a", "i"))),
    "axis_size": on(BOTH)(lambda x: x * np.float32(lax.axis_size("i"))),
    "two axes along one": on(P(("a", "i")), P(("i", "a")))(lambda x: x * number("a") - number("i")),
    "along the second": on(P(None, ("i", "a")), P(None, ("a", "i")))(lambda x: x * number("a") - number("i")),
    "the same on all": on(P(None, "i"), P())(lambda x: x * number("i")),
    "a scan": on((BOTH, P()))(rounds),
    "a loop": on((P(), P("a")))(until),
    "a branch of some": on(BOTH)(lambda x: lax.cond(number("i") > 1, jnp.sin, jnp.cos, x)),
    "a switch": on(BOTH)(lambda x: lax.switch(lax.axis_index("i"), [jnp.sin, jnp.cos, jnp.tan, jnp.exp], x)),
    "a branch of all": on(P("a"))(
        lambda x: lax.cond(lax.psum(x.sum(), ("a", "i")) > 0, lambda x: lax.psum(x, "i"), lambda x: lax.pmax(x, "i"), x)
    ),
    "a mesh in a mesh": jax.shard_map(inner, mesh=MESH, in_specs=P("a"), out_specs=P("a"), axis_names={"a"}),
    "one mesh after another": lambda x: on(BOTH)(lambda y: y + number("i"))(on(BOTH)(lambda y: y * number("a"))(x)),
    "a constraint": lambda x: lax.with_sharding_constraint(x, NamedSharding(MESH, BOTH)) * 2,
    "pmap": jax.pmap(lambda x: x - lax.psum(x, "i") * number("i"), axis_name="i"),
    **{f"{name}, in groups": of_groups(function) for name, function in IN_GROUPS.items()},
    "random numbers": on(BOTH)(drawn),
    "a gradient": jax.grad(lambda x: (on(P())(lambda x: lax.psum(x**3 * number("i"), ("a", "i")))(x) ** 2).sum()),
    "a gradient of a scan": jax.grad(lambda x: sum((y**2).sum() for y in on((BOTH, P()))(rounds)(x))),
    "every row": on(P())(jax.vmap(lambda row: lax.psum(row, ("a", "i")))),
}


def check(name: str) -> None:
    """The same values up to rounding: sums of at most 64 numbers, in another order."""
    function = PROGRAMS[name]
    program, _ = on_one_device(*[jax.make_jaxpr(function)(X)] * 2)
    assert not {e.primitive.name for e in program.jaxpr.eqns} & {"shard_map", "psum", "sharding_constraint"}
    expected = jax.tree.leaves(jax.jit(function)(X))
    found, apart = jaxpr_as_fun(program)(X)[: len(expected)], jaxpr_as_fun(program)(X)[len(expected) :]
    assert not any(map(np.any, apart)), f"{name}: devices differ"
    for x, y in zip(expected, found, strict=True):
        scale = 64 * np.finfo(np.float32).eps * max(1, np.abs(x).max())
        assert x.shape == y.shape and x.dtype == y.dtype and np.abs(np.asarray(x) - y).max() <= scale, name
        assert np.any(np.asarray(x) != np.asarray(x).flat[0]) or x.size == 1, f"{name} says nothing"
    print(name)


if __name__ == "__main__":
    assert len(jax.devices()) == 8
    for each in PROGRAMS:
        check(each)
