"""Integers that say where and how far, sorts and counts of words: pairs, mistakes, attacks; hazards; all sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.extend.core import jaxpr_as_fun
from pairs.integers import of
from pairs.pair import f32
from pairs.written_places import NEVER, PAIRS

import uat_jax as uj
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.entry_by_entry import of_one_entry
from uat_jax.decide.integers import Integers, all_of
from uat_jax.decide.unary import unary_pairs
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError
from uat_jax.interpret.inlining import inlined
from uat_jax.numbers.integers.bit_vectors import Divisions, solver

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
WRONG = [(f"{pair.name}: {name}", pair.left, wrong, pair.specs) for pair in PAIRS for name, wrong in pair.wrong.items()]


@pytest.mark.parametrize("pair", one_in(5, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_are_equal_for_all_integers(pair, tmp_path):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict in PASSING, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is found.verdict


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(9, WRONG))
def test_a_mistake_is_refuted(name, left, right, specs):
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict is Verdict.REFUTED, found


@pytest.mark.parametrize("name", one_in(6, NEVER))
def test_what_differs_at_some_integers_is_never_certified(name):
    left, right, *specs = NEVER[name]
    found = uj.certify(left, right, *specs, budget=60.0)
    assert found.verdict not in PASSING, found


def programs_of(left, right, specs):
    """Both programs, and what their inputs range over."""
    leaves, tree = jax.tree.flatten(specs)
    plain = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves])
    domains = Domains(
        tuple(
            getattr(leaf, "domain", REALS if jnp.issubdtype(leaf.dtype, jnp.inexact) else all_of(leaf.dtype))
            for leaf in leaves
        )
    )
    return *(inlined(jax.make_jaxpr(side)(*plain)) for side in (left, right)), domains


def at(domain, leaf, random, end):
    """Values of an input: integers next to an end of their range, or any."""
    if not isinstance(domain, Integers):
        return random.normal(size=leaf.shape).astype(leaf.dtype)
    low, high = domain.low, domain.high
    near = (low, high, random.integers(low, high, endpoint=True))[end]
    entries = np.clip(near + random.integers(-1, 2, size=leaf.shape), low, high)
    return np.asarray(entries).astype(leaf.dtype)


ANY = {
    **{
        f"pair {pair.name}": (pair.left, pair.right, *pair.specs)
        for pair in PAIRS
        if pair.name != "twelve heads and a length"
    },
    **NEVER,
}


@pytest.mark.parametrize("name", one_in(8, ANY))
def test_truth_values_of_an_integer_give_what_the_integer_gives(name):
    left, right, *specs = ANY[name]
    first, second, domains = programs_of(left, right, specs)
    programs = first, second
    random = np.random.default_rng(0)
    for pair in unary_pairs(first, second, domains):
        *others, _, thresholds = pair.programs
        for end in (0, 1, 2, 2):
            point = [at(of, leaf, random, end) for of, leaf in zip(domains.of, programs[0].in_avals, strict=True)]
            letters = [int(x) for i in pair.letters for x in point[i].ravel()]
            rest = [x for i, x in enumerate(point) if i not in pair.letters]
            for program, other in zip((pair.left, pair.right), others, strict=True):
                wanted = jaxpr_as_fun(program)(*point)
                for x, y in zip(wanted, jaxpr_as_fun(other)(*rest, *thresholds.at(pair.numbers(letters))), strict=True):
                    np.testing.assert_allclose(
                        np.asarray(y, float), np.asarray(x, float), rtol=1e-5, atol=1e-5, err_msg=f"{point}"
                    )


T, IDS = f32(10, 3), uj.integers(of("int32", 2), 0, 15)
BESIDE = {
    "a row": (lambda t, i: t[i], lambda t, i: jnp.take(t, i, axis=0, mode="clip"), T, IDS),
    "a row of many": (lambda t, i: t[i], lambda t, i: jnp.take(t, i, axis=0, mode="clip"), f32(9000, 2), uj.integers(of("int32", 2), 0, 9999)),
    "a slice": (lambda t, i: lax.dynamic_slice(t, (i[0], 0), (1, 3)), lambda t, i: t[jnp.minimum(i[0], 9)][None], T, IDS),
    "a row that is written": (lambda t, i: lax.dynamic_update_slice(t, t[:1], (i[0], 0)), lambda t, i: t.at[jnp.minimum(i[0], 9)].set(t[0]), T, IDS),
}  # fmt: skip
INSIDE = {
    "told to clip": (lambda t, i: jnp.take(t, i, axis=0, mode="clip"), lambda t, i: jnp.take(t, jnp.minimum(i, 9), axis=0, mode="clip"), T, IDS),
    "inside": (lambda t, i: t[i], lambda t, i: jax.nn.one_hot(i, 10) @ t, T, uj.integers(of("int32", 2), 0, 9)),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_an_index_that_lies_beside_its_array_is_a_hazard(name, tmp_path):
    left, right, *specs = BESIDE[name]
    found = uj.certify(left, right, *specs)
    assert found.passes
    (hazard,) = found.hazards
    assert (hazard.kind, hazard.side) == ("clamped", "left") and hazard.left == hazard.right
    assert "which the device moves to" in hazard.text and "\n" not in hazard.text
    assert [h.text for h in uj.load(found.save(tmp_path / "c.json")).hazards] == [hazard.text]


@pytest.mark.parametrize("name", INSIDE)
def test_an_index_that_lies_inside_is_no_hazard(name):
    left, right, *specs = INSIDE[name]
    found = uj.certify(left, right, *specs)
    assert found.passes and not found.hazards


def test_derivatives_by_integers_are_returned(tmp_path):
    by_both = lambda f: lambda t, i: jax.grad(f, argnums=(0, 1), allow_int=True)(t, i)
    left, right, wrong = (
        by_both(f)
        for f in (
            lambda t, i: (t[i] ** 2).sum(),
            lambda t, i: (jnp.take(t, i) ** 2).sum(),
            lambda t, i: (t[i] ** 3).sum(),
        )
    )
    specs = f32(9), uj.integers(of("int32", 3), 0, 8)
    found = uj.certify(left, right, *specs)
    assert found.passes and uj.recheck(uj.load(found.save(tmp_path / "c.json"))).passes
    assert uj.certify(left, wrong, *specs).verdict is Verdict.REFUTED
    with pytest.raises(InputError, match="float0"):
        uj.certify(left, lambda t, i: (left(t, i)[0], jnp.zeros(3, bool)), *specs)


def sized(dtype, *names):
    """Integers of symbolic sizes."""
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(", ".join(names)), jnp.dtype(dtype))


ALL_SIZES = {
    "remainder and mask": (lambda x: x % 8, lambda x: x & 7, lambda x: lax.rem(x, jnp.int32(8)), sized("int32", "n", "m")),
    "quotient and shift": (lambda x: x // 4, lambda x: x >> 2, lambda x: lax.div(x, jnp.int32(4)), sized("int32", "n")),
    "remainder by a quotient": (lambda x: x % 10, lambda x: x - x // 10 * 10, lambda x: x - x // 10 * 11, sized("int32", "n")),
    "without signs": (lambda x: x % 10, lambda x: x - x // 10 * 10, lambda x: x - x // 9 * 10, sized("uint32", "n")),
    "toward zero": (lambda x: lax.rem(x, jnp.int32(7)), lambda x: x - lax.div(x, jnp.int32(7)) * 7, lambda x: x % 7, sized("int32", "n")),
    "of bytes": (lambda x: x % 5, lambda x: (x % 5 + 5) % 5, lambda x: (x % 5 + 4) % 5, sized("int8", "n")),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(2, ALL_SIZES))
def test_remainders_at_all_sizes(name, tmp_path):
    left, right, wrong, spec = ALL_SIZES[name]
    found = uj.certify(left, right, spec)
    assert found.verdict is Verdict.PROVED and "at all sizes" in found.evidence[0].finding
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is Verdict.PROVED
    assert uj.certify(left, wrong, spec).verdict is Verdict.REFUTED


NOT_ENTRY_BY_ENTRY = {
    "turned": lambda x: x[::-1] % 8,
    "the first": lambda x: x[:1] & 7 | x * 0,
    "summed": lambda x: x % 8 + 0 * jnp.sum(x),
    "the place": lambda x: x % 8 + jnp.arange(x.shape[0], dtype=jnp.int32) // x.shape[0],
    "the length": lambda x: x % 8 + x.shape[0] // 1000,
}


@pytest.mark.parametrize("name", one_in(2, NOT_ENTRY_BY_ENTRY))
def test_what_looks_at_other_places_is_not_decided_by_one(name):
    left, right, domains = programs_of(lambda x: x % 8, NOT_ENTRY_BY_ENTRY[name], (of("int32", 4),))
    assert of_one_entry(left) is not None
    assert of_one_entry(right) is None or name == "the length"  # which is a number where the size is known
    found = uj.certify(lambda x: x & 7, NOT_ENTRY_BY_ENTRY[name], sized("int32", "n"))
    assert "both apply one function" not in found.evidence[0].finding


DIVISORS = {"int8": (1, 2, 3, 7, 10, 64, 127, -2, -3, -127), "uint8": (1, 2, 3, 10, 100, 128, 255)}


@pytest.mark.parametrize("dtype", DIVISORS)
def test_facts_of_divisions_hold_of_what_a_device_computes(dtype):
    z3 = solver()
    numbers = np.arange(jnp.iinfo(dtype).min, jnp.iinfo(dtype).max + 1).astype(dtype)
    for b in DIVISORS[dtype]:
        divisor = np.full(numbers.shape, b, dtype)
        quotients, remainders = lax.div(numbers, divisor), lax.rem(numbers, divisor)
        divisions = Divisions()
        a = z3.BitVec("a", 8)
        d, r = divisions.of(a, b, np.dtype(dtype))
        facts = z3.And(*divisions.facts)
        for values in zip(
            numbers.tolist(), np.asarray(quotients).tolist(), np.asarray(remainders).tolist(), strict=True
        ):
            put = [(x, z3.BitVecVal(n, 8)) for x, n in zip((a, d, r), values, strict=True)]
            assert z3.is_true(z3.simplify(z3.substitute(facts, *put))), (values, b)


UNUSABLE = {
    "floats that choose": (lambda t, i: t[i], f32(5, 2), f32(3), "give an input of integers an integer dtype"),
    "floats that are shifted": (lambda t, i: i << 2, f32(5, 2), f32(3), "give an input of integers an integer dtype"),
    "signed with unsigned": (lambda t, i: lax.lt(t, i), of("int32"), of("uint32"), "cast one of them, so that it is said which"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_integers_are_meant_for_gets_one_line(name):
    function, *specs, message = UNUSABLE[name]
    with pytest.raises(InputError) as error:
        uj.certify(function, function, *specs)
    assert message in str(error.value) and "\n" not in str(error.value)
