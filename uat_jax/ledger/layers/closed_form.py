"""Theorem 1, the closed form of Eq. 11/33 with Eq. 12/34, for residual networks and Transformers (G14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decide.confirmation import proved
from uat_jax.decide.figures import Predictions, Proof
from uat_jax.decide.floats import compare_on
from uat_jax.decide.floats_evidence import float_evidence
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import of_lines
from uat_jax.decide.trials import Program, block_size, given_trials
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.layers.kernels import DRAWN, Kernels, cast, random_kernels, random_trials
from uat_jax.ledger.source import Source, duat, v2
from uat_jax.networks import Network, digits, load_inputs, load_network
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.typing import PyTree

TRAINED_TRIALS = 2
"""Held-out images whose exact value is computed in balls."""


def _decide(kind: str):
    def evidence(settings: Settings) -> Iterator[Evidence]:
        yield from _symbolic(kind, settings)
        if not settings.dtypes:  # symbolic evidence only
            return
        yield from _random(kind, settings)
        if settings.weights is None:
            yield from _digits(kind, settings)
        else:
            yield from _own_network(kind, settings)

    return evidence


def _symbolic(kind: str, settings: Settings) -> Iterator[Evidence]:
    for dynamic in (False, True):
        steps = closed_form_induction(Layers(kind, dynamic=dynamic))
        parameters = "parameters that depend on the input in any way" if dynamic else "fixed parameters"
        yield from proved(steps, method=Method.INDUCTION, what=f"every depth, every shape, every σ, {parameters}")
    derivation = derive(kind, depth=settings.depth, heads=2 if kind == "transformer" else None)
    steps = derivation.steps
    found, *confirmed = proved(steps, method=Method.DERIVATION, what=f"the derivation at L = {settings.depth}")
    assert isinstance(found.figures, Proof)
    program = replace(found.figures, program=str(derivation), program_latex=derivation.latex())
    yield replace(found, figures=program)
    yield from confirmed
    same = derivation.holds(dynamic=True)
    what = f"closed form and network have one normal form at L = {settings.depth}"
    if not same:
        yield Evidence(Method.NORMAL_FORM, f"not so: {what}", Verdict.UNKNOWN)
        return
    plain, lines = derivation.lines(dynamic=True)
    said = of_lines(derivation.network.result, plain, derivation.network.result, lines)
    yield Evidence(Method.NORMAL_FORM, what, Verdict.PROVED, statements=said)


def _random(kind: str, settings: Settings) -> Iterator[Evidence]:
    kernels = random_kernels(kind, settings.depth, settings.precision)
    arguments = random_trials(kind, settings.depth, settings.trials, settings.seed)
    what = f"random networks, L = {settings.depth}, σ = {kernels.activation}"
    yield from _floats(_Sample(kernels, arguments, 0, what, DRAWN), settings, settings.dtypes)


@dataclass(frozen=True)
class _Sample:
    """Both forms and the arguments they are compared on; ``axes`` as in `compare_on`, ``drawn``: how they came about."""

    kernels: Kernels
    arguments: PyTree
    axes: Any
    what: str
    drawn: str


def _floats(sample: _Sample, settings: Settings, dtypes: Sequence[str]) -> Iterator[Evidence]:
    """Both forms on the same arguments, rounded to each dtype."""
    for dtype in dtypes:
        found = compare_on(
            sample.kernels.plain,
            sample.kernels.closed,
            cast(sample.arguments, dtype),
            sample.axes,
            dtype=dtype,
            seed=settings.seed,
            precision=settings.precision,
            device=settings.device,
            keep=settings.keep,
        )
        yield float_evidence(found, what=sample.what, drawn=sample.drawn)


# --- real weights --------------------------------------------------------------------------------------------------


def _kernels_of(network: Network, inputs: np.ndarray, settings: Settings) -> Kernels:
    """The kernels of a given network on inputs of shape (batch, D_0) or (batch, N, M_0)."""
    attention = {}
    if network.kind == "transformer":
        attention = {"heads": network.sizes["h_1"], "tokens": inputs.shape[1]}
    return Kernels(network.kind, len(network.layers), network.activation, settings.precision, **attention)


def _digits(kind: Any, settings: Settings) -> Iterator[Evidence]:
    """The trained network on held-out images of handwritten digits: floats, and the same digit read off both forms."""
    network, (images, labels) = digits.trained(kind), digits.held_out()
    inputs = np.asarray(digits.inputs(kind, images))
    kernels = _kernels_of(network, inputs, settings)
    dtypes = [d for d in settings.dtypes if d == str(network.dtype)] or settings.dtypes[:1]
    what = f"trained network, {TRAINED_TRIALS} held-out digits"
    arguments = network.layers, inputs[:TRAINED_TRIALS]
    drawn = "the trained weights and the first held-out images that come with the package (uat_jax.networks.digits)"
    yield from _floats(_Sample(kernels, arguments, (None, 0), what, drawn), settings, dtypes)
    yield _predictions(kind, kernels, network, inputs, labels, settings.device)


def _predictions(
    kind: Any, kernels: Kernels, network: Network, inputs: np.ndarray, labels: np.ndarray, device: str | None
) -> Evidence:
    shape = (-1, *inputs.shape[1:-1], jax.eval_shape(network.apply, inputs[0]).shape[-1])
    outputs = lambda f: jnp.asarray(_outputs(f, network.layers, inputs, device)).reshape(shape)
    read = lambda f: np.asarray(digits.predictions(kind, outputs(f)))
    plain, closed = read(kernels.plain), read(kernels.closed)
    same, right = int(np.sum(plain == closed)), int(np.sum(plain == labels))
    finding = f"same digit read off both forms for {same} of {len(labels)} held-out images ({right} read correctly)"
    figures = Predictions(same, len(labels), right, str(inputs.dtype))
    return Evidence(Method.PREDICTIONS, finding, Verdict.AGREES if same == len(labels) else Verdict.UNKNOWN, figures)


def _outputs(function: Program, layers: PyTree, inputs: np.ndarray, device: str | None) -> np.ndarray:
    """What a kernel returns for all inputs, in the blocks of the float comparison: XLA compiles both alike, once."""
    trials = given_trials((layers, inputs), (None, 0), device)
    traced = jax.make_jaxpr(function)(trials.structure)
    (output,) = traced.out_avals
    block = block_size(trials.structure, trials.batched, output)
    kernel = trials.kernel(traced, block)
    outputs = [kernel(trials.rows(rows)) for rows in trials.blocks(block, range(-(-trials.count // block)))]
    return np.concatenate(outputs)[: trials.count]


def _own_network(kind: str, settings: Settings) -> Iterator[Evidence]:
    """The user's weights, on the user's inputs or on random ones."""
    assert settings.weights is not None
    network = load_network(settings.weights)
    if network.kind != kind:
        return
    if settings.inputs is None:
        inputs = _random_inputs(network, settings)
    else:
        inputs = np.asarray(load_inputs(settings.inputs, network))
    inputs = inputs[: settings.trials]
    kernels, what = _kernels_of(network, inputs, settings), f"{settings.weights}, {len(inputs)} inputs"
    drawn = f"weights from {settings.weights}, inputs from {settings.inputs or 'a standard normal (NumPy, the seed)'}"
    sample = _Sample(kernels, (network.layers, inputs), (None, 0), what, drawn)
    yield from _floats(sample, settings, settings.dtypes)


def _random_inputs(network: Network, settings: Settings) -> np.ndarray:
    sizes = network.sizes
    shape = (sizes["D_0"],) if network.kind == "residual" else (8, sizes["M_0"])
    return np.random.default_rng(settings.seed).normal(size=(settings.trials, *shape))


def _claim(kind: str, title: str, sources: tuple[Source, ...], printed: str) -> Claim:
    return Claim(
        id=f"{kind}.closed-form",
        title=title,
        ledger="Theorem 1, G14",
        kind=Kind.ALL_DEPTHS,
        sources=sources,
        printed=printed,
        reading="with the parameters of Theorem 1: W_{k,3} carries every later W_{m,1}, k < m ≤ L",
        expects=Verdict.PROVED,
        decide=_decide(kind),
    )


_33 = r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,3})+\sum_{j=1}^{i+1}\mathbf{W}'_{j,3}\sigma(\mathbf{W}'_{j,2}\mathbf{x}'_0+\mathbf{b}'_{j,2})"
CLAIMS = (
    _claim("residual", "L residual layers are one UAT sum with nested biases", (duat("B.2", 20), duat("B.3", 33, 34)), _33),
    _claim("transformer", "L Transformer layers are one such sum", (duat("3.3", 11, 12), duat("B.3", 30, 33, 34), v2("3.5", 11), v2("C.2", 10)), _33),
)  # fmt: skip


def check_own_network(settings: Settings, kinds: set[str]) -> None:
    """Raise `InputError` if ``settings.weights`` is of a kind that no claim asked for is about."""
    if settings.weights is not None and load_network(settings.weights).kind not in kinds:
        kind = load_network(settings.weights).kind
        raise InputError(f"{settings.weights} is a {kind} network; ask for {kind}.closed-form")
