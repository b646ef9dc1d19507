"""StableHLO and exported artifacts: read back they are the function, changed they are not, and bad ones are refused."""

import re
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exported_functions import FUNCTIONS, scaled, spec
from jax import lax
from jaxlib.mlir.dialects.stablehlo import get_current_version, serialize_portable_artifact
from make_exported_programs import FOLDER, NAMES

import uat_jax as uj
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.inputs import newer_bytecode
from uat_jax.inputs.mlir_parsing import SECONDS, parsed

PASSES = (uj.Verdict.PROVED, uj.Verdict.CERTIFIED)

SAMPLE = ("MLP", "exact gelu", "cumulative products by scan", "sort", "cond on data")


def exported(function, *specs, **options):
    with jax.enable_x64(any(leaf.dtype == np.float64 for leaf in jax.tree.leaves(specs))):
        return jax.export.export(jax.jit(function), **options)(*specs)


def _round_trip(name):
    """Verdicts on the function against what was read, and on one with another constant."""
    (function, specs), (changed, _) = scaled(name, 1.5), scaled(name, 1.75)
    program = uj.read_stablehlo(exported(function, *specs))
    return uj.certify(function, program), uj.certify(changed, program)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_function_is_what_is_read_of_it_and_another_is_not(name):
    same, changed = _round_trip(name)
    assert same.verdict in PASSES, same.evidence[0].finding
    assert changed.verdict is uj.Verdict.REFUTED, changed.evidence[0].finding


@pytest.mark.campaign
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_what_is_read_of_it_and_another_is_not(name):
    same, changed = _round_trip(name)
    assert same.verdict in PASSES, same.evidence[0].finding
    assert changed.verdict is uj.Verdict.REFUTED, changed.evidence[0].finding


def _values(specs, seed=0):
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda s: jnp.asarray(rng.standard_normal(s.shape), s.dtype), specs)


@pytest.mark.parametrize("name", ["sort with a passenger", "tree of outputs"])
def test_what_is_read_has_the_values_of_what_was_exported(name):
    """XLA runs the artifact, and the reader's function: the same operations in the same order."""
    function, specs = scaled(name, 1.5)
    artifact, values = exported(function, *specs), _values(specs)
    wanted, got = artifact.call(*values), jax.jit(uj.read_stablehlo(artifact))(*values)
    assert jax.tree.structure(wanted) == jax.tree.structure(got)
    for a, b in zip(jax.tree.leaves(wanted), jax.tree.leaves(got), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)  # XLA fuses the two differently: some dozen roundings of 2⁻²⁴


# --- forms of one program -------------------------------------------------------------------------------------------


def test_text_bytecode_and_artifact_are_one_program(tmp_path):
    function, specs = scaled("MLP", 1.5)
    artifact = exported(function, *specs)
    (tmp_path / "program.jax").write_bytes(artifact.serialize())
    (tmp_path / "program.mlir").write_text(artifact.mlir_module())
    forms = (
        artifact,
        artifact.mlir_module(),
        artifact.mlir_module_serialized,
        bytes(artifact.serialize()),
        tmp_path / "program.jax",
        str(tmp_path / "program.mlir"),
    )
    programs = [uj.read_stablehlo(form) for form in forms]
    assert len({str(jax.make_jaxpr(program)(*specs)) for program in programs}) == 1
    assert all(jax.tree.leaves(program.specs) == jax.tree.leaves(specs) for program in programs)


def test_an_exported_artifact_is_a_function_as_it_is():
    artifact = exported(lambda x: jnp.sin(x) * x.sum(), spec(3))
    assert uj.certify(lambda x: jnp.sum(x) * jnp.sin(x), artifact).verdict is uj.Verdict.CERTIFIED
    with pytest.raises(AssertionError, match="REFUTED"):
        uj.assert_equivalent(artifact, lambda x: 2 * jnp.sum(x) * jnp.sin(x))


def test_several_platforms_and_lowered_text():
    function, specs = scaled("exact gelu", 1.5)
    several = exported(function, *specs, platforms=("cpu", "cuda"))
    assert uj.certify(function, several).verdict in PASSES
    assert uj.certify(function, uj.read_stablehlo(jax.jit(function).lower(*specs).as_text())).verdict in PASSES


TWO_VERSIONS = ("conv net", "exact gelu", "sort with a passenger")
OTHER = "0.12" if jax.__version__.startswith("0.10.") else "0.10"
"""The version whose artifacts are not those of the JAX that runs this."""


def _of(name, version):
    """What a version of JAX wrote for a function."""
    return uj.read_stablehlo(FOLDER / f"{name.replace(' ', '_')}.{version}.jax")


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_more_artifacts_of_the_other_version_are_the_function(name):
    test_an_artifact_of_the_other_version_is_the_function(name)


@pytest.mark.parametrize("name", ["dropout with a fixed key", "rfft and back", "gradient of a scan"])
def test_an_artifact_of_the_other_version_is_the_function(name):
    """As JAX traces it here; with another constant it is not."""
    program = _of(name, OTHER)
    assert uj.certify(scaled(name, 1.5)[0], program).verdict in PASSES
    assert uj.certify(scaled(name, 1.75)[0], program).verdict is uj.Verdict.REFUTED


# --- operations that are newer than the JAX that reads ---------------------------------------------------------------


def _newer(name):
    """The bytecode that JAX 0.12 wrote for a function."""
    path = FOLDER / f"{name.replace(' ', '_')}.0.12.jax"
    return jax.export.deserialize(bytearray(path.read_bytes())).mlir_module_serialized


def _with_properties(source, changed):
    """The bytecode with other attributes of its `custom_call_v2`, whose numbers have one byte each."""
    start, properties = dict(newer_bytecode._sections(source))[newer_bytecode.OF_OPERATIONS]
    (those,) = [p for p in newer_bytecode._properties(properties) if len(p) == newer_bytecode.PROPERTIES]
    place = start + properties.index(those)
    return source[:place] + changed(those) + source[place + len(those) :]


def test_a_newer_custom_call_is_read_as_the_older_one():
    source = _newer("triangular solve")
    older = newer_bytecode.downgraded(source)
    assert len(older) == len(source) and b"custom_call_v1" in older
    (function, specs), (changed, _) = scaled("triangular solve", 1.5), scaled("triangular solve", 1.75)
    assert uj.certify(function, uj.read_stablehlo(older), *specs).verdict in PASSES
    assert uj.certify(changed, uj.read_stablehlo(older), *specs).verdict is uj.Verdict.REFUTED


def test_a_newer_custom_call_with_tilings_is_refused():
    """Its last attribute is another one that the file has, which is no empty array."""
    tiled = _with_properties(_newer("triangular solve"), lambda numbers: numbers[:-1] + numbers[:1])
    with pytest.raises(newer_bytecode.NotReadError, match="result_tilings"):
        newer_bytecode.downgraded(tiled)
    if OTHER == "0.12":
        with pytest.raises(uj.InputError, match="result_tilings") as refused:
            uj.read_stablehlo(tiled)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("size", [0, 4, 30, 200, 700])
def test_newer_bytecode_that_is_cut_off_is_refused(size):
    with pytest.raises(newer_bytecode.NotReadError):
        newer_bytecode.downgraded(_newer("triangular solve")[:size])


NAMED_AS_OPERATIONS = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @custom_call_v1(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @custom_call_v1(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @custom_call_v2(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_names_of_a_program_that_are_those_of_operations_are_not_changed():
    """A function and a target have the names of both operations: the bytes are refused, the text is read as it is."""
    module = parsed(NAMED_AS_OPERATIONS.encode())
    source = serialize_portable_artifact(module, get_current_version())
    with pytest.raises(newer_bytecode.NotReadError, match="has the string 'custom_call_v1'"):
        newer_bytecode.downgraded(source)
    named = jax.make_jaxpr(uj.read_stablehlo(NAMED_AS_OPERATIONS))(np.float32(1))
    assert "custom_call_v2" in str(named) and "custom_call_v1" not in str(named)


@pytest.mark.skipif(OTHER == "0.10", reason="JAX 0.12 reads what it writes")
def test_an_operation_that_this_version_does_not_know_is_named():
    source = _newer("triangular solve").replace(b"custom_call_v2", b"custom_call_v7")
    with pytest.raises(
        uj.InputError, match="uses 'custom_call_v7', which is newer.*read it with the version"
    ) as refused:
        uj.read_stablehlo(source)
    assert "\n" not in str(refused.value)


def test_what_newer_jax_writes_for_log_gamma_is_read_only_as_a_whole():
    """JAX 0.12 writes a function with tables; with another number in a table, or a sign changed, it is not read."""
    text = str(parsed(_newer("log gamma")))
    assert list(uj.read_stablehlo(text).readings.values()) == ["lgamma"]
    for pattern, by in LOG_GAMMA_CHANGES.items():
        assert uj.read_stablehlo(_changed(text, pattern, by)).readings == {}, pattern


LOG_GAMMA_CHANGES = {
    r"dense<4.08500311E\+36>": "dense<4.08500341E+36>",
    r"stablehlo.minimum": "stablehlo.maximum",
    r"dense<0.333333343>": "dense<0.333333373>",
    r"stablehlo.shift_left": "stablehlo.shift_right_arithmetic",
    r"stablehlo.compare LE": "stablehlo.compare LT",
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", [name for name in NAMES if name not in TWO_VERSIONS])
def test_more_artifacts_of_two_versions_are_one_function(name):
    test_artifacts_of_two_versions_are_one_function(name)


@pytest.mark.parametrize("name", TWO_VERSIONS)
def test_artifacts_of_two_versions_are_one_function(name):
    """Of the oldest and the newest JAX that is allowed, read by whichever runs this."""
    old, new = (_of(name, version) for version in ("0.10", "0.12"))
    assert uj.certify(old, new).verdict in PASSES
    if name == "conv net":  # the twin
        assert uj.certify(old, scaled(name, 1.75)[0]).verdict is uj.Verdict.REFUTED


def test_a_certificate_of_what_was_read_is_decided_again(tmp_path):
    """It holds the programs, and says what was read as a function."""
    function, specs = scaled("exact gelu", 1.5)
    certificate = uj.certify(lambda x: function(x) + 0 * x, uj.read_stablehlo(exported(function, *specs)))
    assert certificate.verdict is uj.Verdict.CERTIFIED
    assert any(a.text.endswith("is read as the function erfc") for a in certificate.assumptions)
    certificate.save(tmp_path / "gelu.json")
    assert uj.recheck(tmp_path / "gelu.json").verdict is uj.Verdict.CERTIFIED


def test_messages_name_the_line_of_the_model():
    text = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.reduce_precision %a, format = e5m2 : tensor<2xf32>
      %1 = stablehlo.negate %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    }"""
    certificate = uj.certify(uj.read_stablehlo(text), lambda x: -x)
    assert "the program:2" in certificate.evidence[0].finding


# --- sizes that are left open ---------------------------------------------------------------------------------------


def _softmax_of_open_sizes():
    (b,) = jax.export.symbolic_shape("b,")
    return exported(lambda x: jax.nn.softmax(x, -1) * x.shape[0], jax.ShapeDtypeStruct((b, 3), jnp.float32))


def test_open_sizes_stay_open():
    artifact = _softmax_of_open_sizes()
    naive = lambda x, rows: jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True) * rows
    same = uj.certify(artifact, lambda x: naive(x, x.shape[0]), sizes=[{"b": 2}, {"b": 5}])
    assert same.verdict is uj.Verdict.CERTIFIED
    assert uj.certify(artifact, lambda x: naive(x, 3)).verdict is uj.Verdict.REFUTED


def test_text_with_open_sizes_needs_specs():
    program = uj.read_stablehlo(_softmax_of_open_sizes().mlir_module())
    assert uj.certify(program, lambda x: jax.nn.softmax(x) * 4, spec(4, 3)).verdict in PASSES
    with pytest.raises(uj.UatJaxError, match="leaves the sizes of its inputs open; pass specs"):
        uj.certify(program, lambda x: jax.nn.softmax(x) * 4)


def test_sizes_that_do_not_fit():
    (n,) = jax.export.symbolic_shape("n,")
    program = uj.read_stablehlo(exported(jnp.negative, jax.ShapeDtypeStruct((2 * n,), jnp.float32)))
    assert program(jnp.ones(4)).shape == (4,)
    with pytest.raises(uj.UatJaxError, match="sizes do not fit the artifact: Division had remainder 1"):
        program(jnp.ones(3))


# --- StableHLO's own meaning ----------------------------------------------------------------------------------------

PLACES = {
    "a slice that begins before the array": (
        "%i = stablehlo.constant dense<-2> : tensor<i32>\n"
        "%r = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>",
        [0, 1],
        [2, 3],
    ),
    "a slice that begins behind the array": (
        "%i = stablehlo.constant dense<9> : tensor<i32>\n"
        "%r = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>",
        [2, 3],
        [0, 1],
    ),
    "a gather behind the array": (
        "%i = stablehlo.constant dense<[[9], [-1]]> : tensor<2x1xi32>\n"
        '%r = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], '
        "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> "
        ": (tensor<4xf32>, tensor<2x1xi32>) -> tensor<2xf32>",
        [3, 0],
        [3, 3],
    ),
    "a branch that is none": (
        "%i = stablehlo.constant dense<-1> : tensor<i32>\n"
        "%j = stablehlo.add %i, %k : tensor<i32>\n"
        '%r = "stablehlo.case"(%j) ({\n'
        "  %x = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>\n"
        "  stablehlo.return %x : tensor<2xf32>\n}, {\n"
        "  %y = stablehlo.slice %a [2:4] : (tensor<4xf32>) -> tensor<2xf32>\n"
        "  stablehlo.return %y : tensor<2xf32>\n}) : (tensor<i32>) -> tensor<2xf32>",
        [2, 3],
        [0, 1],
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_outside_are_where_stablehlo_says(name):
    """JAX's own operations count negative places from the end, and take the first branch."""
    body, right, wrong = PLACES[name]
    zero = "%k = stablehlo.constant dense<0> : tensor<i32>"
    text = f"func.func @main(%a: tensor<4xf32>) -> tensor<2xf32> {{\n{zero}\n{body}\nreturn %r : tensor<2xf32>\n}}"
    program = uj.read_stablehlo(text)
    assert uj.certify(program, lambda x: x[np.array(right)]).verdict in PASSES
    assert uj.certify(program, lambda x: x[np.array(wrong)]).verdict is uj.Verdict.REFUTED


def _changed(text, pattern, by):
    """The text with the first number that fits a pattern replaced."""
    changed, count = re.subn(pattern, by, text, count=1)
    assert count == 1
    return changed


def _coefficients(text):
    return re.findall(r"dense<(-?[0-9.]+(?:E[-+]\d+)?)> : tensor<5xf32>", text)


def test_a_written_out_function_is_read_only_if_every_coefficient_is_right():
    text = exported(lax.erfc, spec(5)).mlir_module()
    if "composite" in text:
        text = exported(lax.erf_inv, spec(5)).mlir_module()
    whole = uj.read_stablehlo(text)
    (assumed,) = [a for a in uj.certify(whole, whole).assumptions if a.kind is AssumptionKind.READ_AS]
    assert list(whole.readings.values()) == [assumed.about["function"]]
    coefficients = [c for c in dict.fromkeys(_coefficients(text)) if 1e-3 < abs(float(c)) < 80]
    assert len(coefficients) >= 8
    for c in coefficients[:8]:
        altered = str(np.nextafter(np.float32(c), np.float32(np.inf)))
        assert uj.read_stablehlo(text.replace(f"dense<{c}> ", f"dense<{altered}> ")).readings == {}, c


COMPARATORS = {
    "another comparison": ("compare  ?LT", "compare LE"),
    "the same side twice": (r"select %(\w+), %(\w+), %arg(\d+) :", r"select %\1, %\2, %cst :"),
}


@pytest.mark.parametrize("name", COMPARATORS)
def test_a_sort_by_another_comparison_is_refused(name):
    text = exported(jnp.sort, spec(5)).mlir_module()
    assert uj.read_stablehlo(text)(jnp.arange(5.0)[::-1])[0] == 0
    with pytest.raises(uj.UatJaxError, match="stablehlo.sort by a comparison of its own"):
        uj.read_stablehlo(_changed(text, *COMPARATORS[name]))(jnp.arange(5.0))


def test_another_reducer_is_not_taken_for_argmax():
    """With GT for LT among the places of equal numbers the last one counts: at a tie the two differ."""
    text = exported(lambda x: x[::-1][jnp.argmax(x)], spec(3)).mlir_module()
    changed = _changed(
        text,
        r"compare LT, (%arg\w+), (%arg\w+), SIGNED : \(tensor<i32>, tensor<i32>\)",
        r"compare GT, \1, \2, SIGNED : (tensor<i32>, tensor<i32>)",
    )
    tie = jnp.array([1.0, 1.0, 0.0])
    assert uj.read_stablehlo(text)(tie) == 0 and uj.read_stablehlo(changed)(tie) == 1


# --- bad input ------------------------------------------------------------------------------------------------------

ARTIFACT = bytes(exported(jnp.sort, spec(3)).serialize())
MAIN = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{ {} \n return %0 : tensor<2xf32> }}"
AGAIN = (
    "func.func @f{0}(%a: tensor<f32>) -> tensor<f32> {{ %0 = func.call @f{1}(%a) : (tensor<f32>) -> tensor<f32>\n"
    " %1 = func.call @f{1}(%0) : (tensor<f32>) -> tensor<f32>\n return %1 : tensor<f32> }}"
)

BAD = {
    "no such file": ("nothing_of_a_test.mlir", "cannot read nothing_of_a_test.mlir: No such file"),
    "a folder": (Path("/"), "cannot read /: Is a directory"),
    "a number": (3, "got a int for StableHLO; pass a path"),
    "nothing": (b"", "got an empty program"),
    "half an artifact": (ARTIFACT[: len(ARTIFACT) // 2], "or is cut off; export it again"),
    "half of bytecode": (exported(jnp.sort, spec(3)).mlir_module_serialized[:300], "Failed to deserialize"),
    "half a text": (exported(jnp.sort, spec(3)).mlir_module()[:300], "cannot be read as StableHLO: line"),
    "no text": (b"\xff\xfe hello", "cannot be read as StableHLO: 'utf-8'"),
    "a hundred thousand modules": ("module {\n" * 100_000, f"crashes on it, or takes more than {SECONDS}"),
    "an unknown dialect": (
        MAIN.format('%0 = "tf.Relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>'),
        "unregistered dialect",
    ),
    "a dialect that is not read": (MAIN.format("%0 = math.sin %a : tensor<2xf32>"), "uses math.sin, which is not read"),
    "a function of Python": (
        MAIN.format("%0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) : (tensor<2xf32>) -> tensor<2xf32>"),
        "calls back to Python with 'xla_ffi_python_cpu_callback'",
    ),
    "a side effect": (
        MAIN.format("%0 = stablehlo.custom_call @log(%a) {has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>"),
        "calls 'log', which has a side effect",
    ),
    "a token": (
        "func.func @main(%0: tensor<2xf32>, %t: !stablehlo.token) -> tensor<2xf32> { return %0 : tensor<2xf32>\n}",
        "tokens order side effects",
    ),
    "an element type": (
        "func.func @main(%0: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> { return %0 : tensor<2xf8E4M3FN>\n}",
        "elements of type f8E4M3FN; known are",
    ),
    "a size that JAX tells": (
        jax.jit(lambda x: x.sum() * x.shape[0])
        .lower(jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32))
        .as_text(),
        "is told its size n by JAX; write it with jax.export instead",
    ),
    "no function": ("module {\n}", "has no function main"),
    "a declaration": ("func.func private @main(tensor<f32>) -> tensor<f32>\n", "no function main with a body"),
    "two blocks": (
        "func.func @main(%a: tensor<f32>) -> tensor<f32> { cf.br ^next\n ^next: return %a : tensor<f32>\n}",
        "cf.br, which is not read|body of one block",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name):
    source, message = BAD[name]
    with pytest.raises(uj.UatJaxError, match=message) as caught:
        uj.read_stablehlo(source)
    assert "\n" not in str(caught.value)


CALLED = {
    "a function that calls itself": (
        "func.func @main(%a: tensor<f32>) -> tensor<f32> { %0 = func.call @main(%a) : (tensor<f32>) -> tensor<f32>\n"
        " return %0 : tensor<f32> }",
        "a function main that calls itself",
    ),
    "another shape": (
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32>\n}",
        "got float32",
    ),
}


@pytest.mark.parametrize("name", CALLED)
def test_bad_calls_are_one_line(name):
    text, message = CALLED[name]
    with pytest.raises(uj.UatJaxError, match=message):
        uj.read_stablehlo(text)(jnp.float32(1))


def test_calls_that_double_are_stopped(monkeypatch):
    """Thirty functions that call the next one twice are a thousand million calls."""
    monkeypatch.setattr("uat_jax.inputs.stablehlo.MOST_OPERATIONS", 1000)
    doubled = [AGAIN.format(i, i + 1) for i in range(30)]
    last = "func.func @f30(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }"
    main = AGAIN.format("main", 0).replace("@fmain", "@main")
    with pytest.raises(uj.UatJaxError, match="more than 1000 operations"):
        uj.read_stablehlo("\n".join([*doubled, last, main]))(jnp.float32(1))


@pytest.mark.campaign
def test_damaged_files_are_refused_or_read():
    """Random bytes changed in bytecode, text and artifact: an error of the package, or a program; never a crash."""
    rng = np.random.default_rng(0)
    function, specs = scaled("LSTM", 1.5)
    artifact = exported(function, *specs)
    forms = (artifact.mlir_module_serialized, artifact.mlir_module().encode(), bytes(artifact.serialize()))
    refused = 0
    for form in forms:
        for _ in range(300):
            damaged = np.frombuffer(form, np.uint8).copy()
            damaged[rng.integers(len(form), size=rng.choice([1, 2, 8]))] = rng.integers(256)
            try:
                uj.read_stablehlo(damaged.tobytes())
            except uj.UatJaxError as error:
                refused += "\n" not in str(error)
    assert refused > 600


def test_two_programs_of_different_inputs():
    programs = [uj.read_stablehlo(exported(jnp.sin, spec(n))) for n in (3, 4)]
    with pytest.raises(uj.UatJaxError, match=r"sin takes float32\[3\], sin takes float32\[4\]"):
        uj.certify(*programs)


def test_weights_need_a_module():
    with pytest.raises(uj.UatJaxError, match="got weights, and no module of PyTorch"):
        uj.certify(jnp.sin, partial(jnp.sin), spec(3), weights={"w": "w"})
