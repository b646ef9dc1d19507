# %% [markdown]
# # One network of fixed parameters fits two functions, also at nearly identical inputs
#
# A demonstration, never a proof: it trains small networks and prints how well they fit. What it goes with is proved
# and refuted elsewhere, without training.
#
# The papers say (UAT v2 §4.1 and Fig. 6, DUAT §2.3, §4.1 and Fig. 2) that a network of the form of the universal
# approximation theorem, its parameters being fixed, can fit only one function in a closed interval, so that nearly
# identical inputs get similar outputs, and that Transformers are free of this. But an input of two numbers is enough:
#
#     G(x, t) = Σ_j α_j tanh(v_j x + w_j t + b_j) + c
#
# is one function of (x, t), and may be as different as it likes at two values of t, the prompt. A Transformer that
# reads t and x as two tokens does the same, and is one fixed function of its whole input too. Both are trained here
# on the same two pairs of prompts, 0 and 1, and 0.499 and 0.501, with the targets sin πx and x² − 1 on −1 ≤ x ≤ 1.
#
# Run it by  python proofs/demonstrations/one_fixed_network_fits_two_functions.py [--steps N] [--out FILE]

# %%
import io
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from command import FORMATS, Parser, figure_file, whole_number

from uat_jax.networks.adapted import dense
from uat_jax.networks.block import Block, BlockOptions, initialise_gpt_block, pre_norm_block
from uat_jax.networks.feed_forward_part import FeedForward, initialise_feed_forward

STEPS = 3000
SEED = 0
PROMPTS = ((0.0, 1.0), (0.499, 0.501))
TARGETS: dict[str, Callable] = {"sin πx": lambda x: np.sin(np.pi * x), "x² − 1": lambda x: x**2 - 1}
TRAINED_ON = np.linspace(-1, 1, 65, dtype=np.float32)
DENSE = np.linspace(-1, 1, 1001, dtype=np.float32)

# %% [markdown]
# ## The two networks
#
# The first affine map of both starts so that the prompts are told apart: t comes in as (t − m) / r, where m is the
# middle of the two prompts and r half their difference. That is a choice of initial weights and biases, trained like
# the others: w_j / r and b_j − w_j m / r.


# %%
class SmallTransformer(NamedTuple):
    """The tokens t and x, each embedded by an affine map; one pre-norm block; the output is read off the second."""

    embedding: jax.Array
    """One row per token, (2, M)."""
    positions: jax.Array
    """One row per token, (2, M)."""
    block: Block
    reading: jax.Array
    """(M,)."""


def initialise_fixed(key: jax.Array, middle: float, half: float) -> FeedForward:
    """The network G of 24 hidden neurons."""
    network = initialise_feed_forward(key, 2, 24)
    v, w = 2 * dense(network.hidden)
    assert network.hidden_bias is not None
    return FeedForward(
        jnp.stack([v, w / half]), network.hidden_bias - w * (middle / half), dense(network.project)[:, :1], jnp.zeros(1)
    )


def fixed(network: FeedForward, x: jax.Array, t: jax.Array) -> jax.Array:
    """G(x, t)."""
    assert network.hidden_bias is not None
    assert network.project_bias is not None
    s = jnp.tanh(jnp.stack([x, t]) @ dense(network.hidden) + network.hidden_bias)
    return (s @ dense(network.project) + network.project_bias)[0]


def initialise_transformer(key: jax.Array, middle: float, half: float) -> SmallTransformer:
    """8 features, 2 heads, 16 hidden neurons; γ = 1 and β = 0 at the start, as usual."""
    block = initialise_gpt_block(jax.random.fold_in(key, 0), features=8, heads=2, hidden=16)
    usual = {"norm_1": _identity_norm(block.norm_1), "norm_2": _identity_norm(block.norm_2)}
    rows = jax.random.normal(jax.random.fold_in(key, 1), (5, 8))
    embedding, positions, reading = rows[:2], rows[2:4], rows[4] / np.sqrt(8).astype(np.float32)
    prompt = embedding[0] / half
    return SmallTransformer(
        jnp.stack([prompt, embedding[1]]),
        jnp.stack([positions[0] - middle * prompt, positions[1]]),
        block._replace(**usual),
        reading,
    )


def _identity_norm(norm: Any) -> Any:
    return norm._replace(gamma=jnp.ones_like(norm.gamma), beta=jnp.zeros_like(norm.beta))


def small_transformer(network: SmallTransformer, x: jax.Array, t: jax.Array) -> jax.Array:
    """The output at the token x, after the token t."""
    tokens = jnp.stack([t, x])[:, None] * network.embedding + network.positions
    return pre_norm_block(network.block, tokens, BlockOptions(jnp.tanh))[1] @ network.reading


# %% [markdown]
# ## Training
#
# Mean squared error on 65 points for each of the two prompts, Adam with a cosine-decayed step size, one fixed key.


# %%
class Fit(NamedTuple):
    """A trained network and the two prompts it was trained on."""

    name: str
    prompts: tuple[float, float]
    size: int
    run: Callable[[Any, Any], np.ndarray]

    def errors(self) -> tuple[float, float]:
        """The largest error against each target on the dense grid."""
        outputs = (self.run(DENSE, t) for t in self.prompts)
        worst = (np.abs(y - f(DENSE)).max() for y, f in zip(outputs, TARGETS.values(), strict=True))
        first, second = map(float, worst)
        return first, second

    def gap(self) -> float:
        """The largest distance between the outputs at the two prompts."""
        first, second = (self.run(DENSE, t) for t in self.prompts)
        return float(np.abs(first - second).max())


def train(name: str, initialise: Callable, apply: Callable, prompts: tuple[float, float], steps: int) -> Fit:
    """Fit sin πx at the first prompt and x² − 1 at the second."""
    import optax

    low, high = prompts
    t = np.repeat(np.asarray(prompts, np.float32), len(TRAINED_ON))
    wanted = np.concatenate([f(TRAINED_ON) for f in TARGETS.values()]).astype(np.float32)
    batched = jax.vmap(apply, in_axes=(None, 0, 0))
    loss = lambda network: jnp.mean((batched(network, np.tile(TRAINED_ON, 2), t) - wanted) ** 2)
    network = initialise(jax.random.key(SEED), (low + high) / 2, (high - low) / 2)
    size = sum(leaf.size for leaf in jax.tree.leaves(network))
    optimiser = optax.adam(optax.cosine_decay_schedule(0.02, steps))

    def step(state, _):
        network, memory = state
        updates, memory = optimiser.update(jax.grad(loss)(network), memory)
        return (optax.apply_updates(network, updates), memory), None

    (network, _), _ = jax.jit(lambda state: jax.lax.scan(step, state, length=steps))((network, optimiser.init(network)))
    output = jax.jit(jax.vmap(partial(apply, network)))
    return Fit(name, prompts, size, lambda x, t: np.asarray(output(*np.broadcast_arrays(np.float32(x), np.float32(t)))))


NETWORKS = {
    "fixed network": (initialise_fixed, fixed),
    "Transformer": (initialise_transformer, small_transformer),
}


def fits(steps: int) -> list[Fit]:
    """Both networks on both pairs of prompts."""
    return [
        train(name, initialise, apply, prompts, steps)
        for prompts in PROMPTS
        for name, (initialise, apply) in NETWORKS.items()
    ]


# %% [markdown]
# ## The table


# %%
def wanted_gap() -> float:
    """The largest distance between the two targets."""
    first, second = (f(DENSE) for f in TARGETS.values())
    return float(np.abs(first - second).max())


def table(fitted: list[Fit]) -> str:
    """Errors and gaps, one line per network."""
    first, second = TARGETS
    lines = [
        f"{'network':18}{'numbers':>8}{'prompts t':>14}{'error, ' + first:>16}{'error, ' + second:>16}{'gap':>8}",
        *(
            f"{fit.name:18}{fit.size:8}{'{:g}, {:g}'.format(*fit.prompts):>14}"
            f"{fit.errors()[0]:16.4f}{fit.errors()[1]:16.4f}{fit.gap():8.4f}"
            for fit in fitted
        ),
        f"{'(the targets)':18}{'':8}{'':14}{0:16.4f}{0:16.4f}{wanted_gap():8.4f}",
    ]
    return "\n".join(lines)


def reading(fitted: list[Fit]) -> str:
    """What the table shows, in the figures of this run."""
    near = [fit for fit in fitted if fit.prompts == PROMPTS[1]]
    return "\n".join(
        [
            "error: the largest on 1001 points of −1 ≤ x ≤ 1.  gap: the largest distance of the two outputs there.",
            f"A network with one output for both prompts has an error of {wanted_gap() / 2:.4f} or more.",
            *(
                f"At prompts that differ by 0.002 the {fit.name} errs by {max(fit.errors()):.4f} at most."
                for fit in near
            ),
            "Once trained, each is one fixed continuous function of (x, t). A demonstration, not a proof.",
        ]
    )


# %% [markdown]
# ## The figure
#
# Colours of Okabe and Ito; line styles and markers say the same without colour.

# %%
STYLES = (("#0072B2", "-", "o"), ("#D55E00", "--", "s"))


def draw(fitted: list[Fit], file: Path) -> None:
    """Targets as lines and outputs as marks for each network; in the last column, the output between the prompts."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels: Any = figure.subplots(2, 3)
    for row, prompts in zip(panels, PROMPTS, strict=True):
        pair = [fit for fit in fitted if fit.prompts == prompts]
        for panel, fit in zip(row, pair, strict=False):
            _draw_functions(panel, fit)
        _draw_between(row[2], pair)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    data = io.BytesIO()
    figure.savefig(data, format=file.suffix[1:], dpi=200)
    file.write_bytes(data.getvalue())


def _draw_functions(panel: Any, fit: Fit) -> None:
    marked = DENSE[::50]
    for (name, f), t, (colour, line, mark) in zip(TARGETS.items(), fit.prompts, STYLES, strict=True):
        panel.plot(DENSE, f(DENSE), color=colour, linestyle=line, label=name)
        label = f"output at the {'first' if t == fit.prompts[0] else 'second'} prompt"
        panel.plot(marked, fit.run(marked, t), mark, color=colour, markerfacecolor="white", markersize=4, label=label)
    panel.set_title(f"{fit.name}, t = {fit.prompts[0]:g} and {fit.prompts[1]:g}", fontsize=10)
    panel.set(xlabel="x", ylabel="output")


def _draw_between(panel: Any, pair: list[Fit]) -> None:
    low, high = pair[0].prompts
    t = np.linspace(low - (high - low) / 4, high + (high - low) / 4, 401)
    for fit, (colour, line, _) in zip(pair, reversed(STYLES), strict=True):
        panel.plot(t, fit.run(0.5, t), color=colour, linestyle=line, label=fit.name)
    panel.plot(pair[0].prompts, [f(0.5) for f in TARGETS.values()], "k+", markersize=10, label="targets")
    panel.set_title("x = 0.5, all prompts between", fontsize=10)
    panel.set(xlabel="t", ylabel="output")
    panel.legend(fontsize=8)


# %% [markdown]
# ## The command line


# %%
def main(arguments: list[str] | None = None) -> None:
    """Train, print the table, draw the figure if a file is named."""
    parser = Parser(description="One network of fixed parameters fits two functions: a demonstration, not a proof.")
    parser.add_argument(
        "--steps", type=whole_number(1), default=STEPS, metavar="N", help=f"of training, default {STEPS}"
    )
    parser.add_argument("--out", type=figure_file, metavar="FILE", help=f"draw a figure, {', '.join(FORMATS)}")
    given = parser.parse_args(arguments)
    if find_spec("optax") is None:
        parser.exit(2, "optax is not installed, and the networks are trained by it: pip install 'uat_jax[demo]'\n")
    fitted = fits(given.steps)
    print(f"{table(fitted)}\n\n{reading(fitted)}")
    if given.out and find_spec("matplotlib") is None:
        parser.exit(2, "matplotlib is not installed, and --out needs it to draw: pip install 'uat_jax[plot]'\n")
    if given.out:
        try:
            draw(fitted, given.out)
        except OSError as error:
            parser.exit(2, f"cannot write {given.out}: {error.strerror}; name another file\n")
        print(f"drawn: {given.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
