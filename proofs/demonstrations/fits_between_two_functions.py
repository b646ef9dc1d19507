# %% [markdown]
# # Fits between two functions
#
# A demonstration, never a proof: it draws data of two kinds and fits sums to them. What it goes with is proved in
# `proofs/one_sum_between_two_functions.py`.
#
# The right half of DUAT's Fig. 2 has data of two kinds in one plane, one of them denser, and says (§2.3) that a sum
# with fixed parameters fits "only the densest regions", while one with dynamic parameters fits both. Here the kinds
# are
#
#     sin πx, of three quarters of the data, mostly on the left,   and   x² − 1, of one quarter, mostly on the right,
#
# both with a little noise. One sum G(x) = Σ_j α_j tanh(w_j x + θ_j) + c is fitted to all data by least squares, and
# again by least absolute error; a dynamic one has α_j + t (β_j − α_j), t being 0 for one kind and 1 for the other.
#
# Run it by  python proofs/demonstrations/fits_between_two_functions.py [--seed N] [--out FILE]

# %%
import io
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from command import FORMATS, Parser, figure_file, whole_number
from scipy.optimize import linprog

SEED = 0
DENSE, SPARSE = 900, 300
NOISE = 0.05
TERMS = 16
CENTRES, WIDTH = (-0.3, 0.4), 0.45
"""Of the x of both kinds: normal distributions, cut to −1 ≤ x ≤ 1."""
TARGETS: dict[str, Callable] = {"sin πx": lambda x: np.sin(np.pi * x), "x² − 1": lambda x: x**2 - 1}
GRID = np.linspace(-0.9, 0.9, 361)

# %% [markdown]
# ## The data


# %%
class Data(NamedTuple):
    """Points (x, y) and the kind t of each, 0 or 1."""

    x: np.ndarray
    y: np.ndarray
    t: np.ndarray


def drawn(seed: int) -> Data:
    """The points of both kinds."""
    random = np.random.default_rng(seed)
    columns = []
    for kind, (size, centre, target) in enumerate(zip((DENSE, SPARSE), CENTRES, TARGETS.values(), strict=True)):
        x = random.normal(centre, WIDTH, 4 * size)
        x = x[np.abs(x) <= 1][:size]
        columns.append((x, target(x) + NOISE * random.normal(size=size), np.full(size, kind)))
    return Data(*(np.concatenate(part) for part in zip(*columns, strict=True)))


def densities(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p(x) and q(x), how many points of each kind there are near x, for each unit of length."""
    random = np.random.default_rng(1)  # of the cut normal distributions, by a large sample
    share = lambda centre: np.mean(np.abs(random.normal(centre, WIDTH, 200_000)) <= 1)
    normal = lambda centre: np.exp(-(((x - centre) / WIDTH) ** 2) / 2) / (WIDTH * np.sqrt(2 * np.pi)) / share(centre)
    return DENSE * normal(CENTRES[0]), SPARSE * normal(CENTRES[1])


def weighted_mean(x: np.ndarray) -> np.ndarray:
    """(p a + q b) / (p + q), where least squares must come near."""
    p, q = densities(x)
    a, b = (f(x) for f in TARGETS.values())
    return (p * a + q * b) / (p + q)


def of_the_majority(x: np.ndarray) -> np.ndarray:
    """a where p > q and b where q > p, where least absolute error must come near; it jumps."""
    p, q = densities(x)
    a, b = (f(x) for f in TARGETS.values())
    return np.where(p > q, a, b)


# %% [markdown]
# ## The fits
#
# The terms tanh(w_j x + θ_j) are drawn, and the same in all fits; the coefficients are fitted, which is exact: least
# squares by linear algebra, least absolute error by linear programming.


# %%
def features(x: np.ndarray, seed: int) -> np.ndarray:
    """One column per term, and a constant."""
    random = np.random.default_rng([seed, 1])
    weights, biases = random.normal(scale=4, size=TERMS), random.normal(scale=3, size=TERMS)
    return np.column_stack([np.tanh(np.outer(x, weights) + biases), np.ones_like(x)])


def least_squares(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The coefficients of least Σ (columns · c − y)²."""
    return np.linalg.lstsq(columns, y, rcond=1e-3)[0]


def least_absolute(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The coefficients of least Σ |columns · c − y|: minimise Σ e with −e ≤ columns · c − y ≤ e."""
    points, terms = columns.shape
    cost = np.concatenate([np.zeros(terms), np.ones(points)])
    above = np.hstack([columns, -np.eye(points)])
    below = np.hstack([-columns, -np.eye(points)])
    bounds = [(-100, 100)] * terms + [(0, None)] * points
    found = linprog(cost, np.vstack([above, below]), np.concatenate([y, -y]), bounds=bounds)
    if not found.success:
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    return found.x[:terms]


class Fit(NamedTuple):
    """A fitted sum, and what it should come near to for each kind."""

    name: str
    run: Callable[[np.ndarray, int], np.ndarray]
    near: str
    wanted: Callable[[np.ndarray, int], np.ndarray]

    def distance(self, wanted: Callable[[np.ndarray, int], np.ndarray]) -> float:
        """The mean distance from something on the grid, over both kinds."""
        return float(np.mean([np.abs(self.run(GRID, kind) - wanted(GRID, kind)) for kind in (0, 1)]))


def own(x: np.ndarray, kind: int) -> np.ndarray:
    """The function of a kind."""
    return list(TARGETS.values())[kind](x)


def fits(seed: int) -> list[Fit]:
    """Least squares, least absolute error, and a dynamic sum."""
    data = drawn(seed)
    columns = features(data.x, seed)
    fixed = lambda coefficients: lambda x, kind: features(x, seed) @ coefficients
    halves = [least_squares(columns[data.t == kind], data.y[data.t == kind]) for kind in (0, 1)]
    dynamic = lambda x, kind: features(x, seed) @ (halves[0] + kind * (halves[1] - halves[0]))
    return [
        Fit(
            "fixed, squared error",
            fixed(least_squares(columns, data.y)),
            "weighted mean",
            lambda x, _: weighted_mean(x),
        ),
        Fit(
            "fixed, absolute error", fixed(least_absolute(columns, data.y)), "majority", lambda x, _: of_the_majority(x)
        ),
        Fit("dynamic, squared error", dynamic, "own function", own),
    ]


# %% [markdown]
# ## The table


# %%
def table(fitted: list[Fit]) -> str:
    """Mean distances on −0.9 ≤ x ≤ 0.9, one line per fit."""
    to = {
        "mean": lambda x, _: weighted_mean(x),
        "majority": lambda x, _: of_the_majority(x),
        "own function": own,
        "sin πx": lambda x, _: own(x, 0),
    }
    head = f"{'mean distance of':24}" + "".join(f"{'from ' + name:>20}" for name in to)
    rows = [f"{fit.name:24}" + "".join(f"{fit.distance(wanted):20.3f}" for wanted in to.values()) for fit in fitted]
    return "\n".join([head, *rows])


def reading(fitted: list[Fit]) -> str:
    """What the table shows."""
    lines = [
        f"The sum of {fit.name} is {fit.distance(fit.wanted):.3f} from the {fit.near}, on average." for fit in fitted
    ]
    return "\n".join([*lines, "A demonstration, not a proof: proofs/one_sum_between_two_functions.py has that."])


# %% [markdown]
# ## The figure
#
# Colours of Okabe and Ito; line styles and marks say the same without colour.

# %%
STYLES = (("#0072B2", "o"), ("#D55E00", "s"))


def draw(fitted: list[Fit], seed: int, file: Path) -> None:
    """The data and each fit, with what it should come near to; densities below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    FigureCanvasAgg(figure)
    panels: Any = figure.subplots(2, 3, sharex=True, height_ratios=[3, 1])
    data = drawn(seed)
    for panel, fit in zip(panels[0], fitted, strict=True):
        _draw_fit(panel, data, fit)
    for panel in panels[1]:
        _draw_densities(panel)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    image = io.BytesIO()
    figure.savefig(image, format=file.suffix[1:], dpi=200)
    file.write_bytes(image.getvalue())


def _draw_fit(panel: Any, data: Data, fit: Fit) -> None:
    for kind, (name, (colour, mark)) in enumerate(zip(TARGETS, STYLES, strict=True)):
        of_kind = data.t == kind
        panel.plot(
            data.x[of_kind], data.y[of_kind], mark, color=colour, markersize=1.5, alpha=0.35, label=f"data, {name}"
        )
    for kind in (0, 1) if fit.wanted is own else (0,):
        panel.plot(GRID, fit.wanted(GRID, kind), color="0.55", linewidth=3, label="what it should come near to")
        panel.plot(GRID, fit.run(GRID, kind), "k--", linewidth=1.5, label="the fit")
    panel.set_title(f"{fit.name}: {fit.near}", fontsize=10)
    panel.set(ylabel="y", ylim=(-1.4, 1.4))


def _draw_densities(panel: Any) -> None:
    for name, density, (colour, _), line in zip(TARGETS, densities(GRID), STYLES, ("-", "--"), strict=True):
        panel.plot(GRID, density, color=colour, linestyle=line, label=name)
    panel.set(xlabel="x", ylabel="density", ylim=(0, None))


# %% [markdown]
# ## The command line


# %%
def main(arguments: list[str] | None = None) -> None:
    """Fit, print the table, draw the figure if a file is named."""
    parser = Parser(description="Fits between two functions: a demonstration of DUAT's Fig. 2, not a proof.")
    parser.add_argument("--seed", type=whole_number(0), default=SEED, metavar="N", help=f"of the data, default {SEED}")
    parser.add_argument("--out", type=figure_file, metavar="FILE", help=f"draw a figure, {', '.join(FORMATS)}")
    given = parser.parse_args(arguments)
    fitted = fits(given.seed)
    print(f"{table(fitted)}\n\n{reading(fitted)}")
    if given.out and find_spec("matplotlib") is None:
        parser.exit(2, "matplotlib is not installed, and --out needs it to draw: pip install 'uat_jax[plot]'\n")
    if given.out:
        try:
            draw(fitted, given.seed, given.out)
        except OSError as error:
            parser.exit(2, f"cannot write {given.out}: {error.strerror}; name another file\n")
        print(f"drawn: {given.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
