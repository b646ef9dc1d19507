"""A decomposition on the terminal: the terms of a text, its layers, and what makes two texts similar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from uat_jax.decomposition.attribution import Attribution, Similarity
from uat_jax.decomposition.decomposition import Decomposition, names
from uat_jax.decomposition.measurements import Depths, lengths, shares


def show_terms(console: Console, title: str, of: Decomposition, output: str, to: Attribution) -> None:
    """One row per term: its length, its share of x_L, what it contributes to the output; then the sum and x_L."""
    table = _table(title, "term", "length", "share of x_L", output)
    columns = (of.names, lengths(of.terms), shares(of), np.asarray(to.by_source, np.float64))
    for name, length, share, contribution in zip(*columns, strict=True):
        table.add_row(name, f"{length:.4g}", f"{share:.1%}", f"{contribution:+.4f}")
    table.add_section()
    table.add_row("sum", f"{lengths(of.total):.4g}", f"{shares(of).sum():.1%}", f"{float(to.total):+.4f}")
    table.add_row("forward pass", f"{lengths(of.hidden):.4g}", "", f"{float(to.output):+.4f}")
    console.print(table)
    _line(console, f"The terms add up to x_L within {float(of.residual_ulp):.2g} ULP of its largest entry.\n")


def show_layers(console: Console, of: Depths) -> None:
    """One row per depth j: the lengths of the terms of x_j, and the error of each form in ULP."""
    sources, forms = names(len(of.lengths)), of.errors or {}
    table = _table("The terms of each x_j, and rounding errors in ULP", "x_j", *sources, *forms)
    for j, sizes in enumerate(of.lengths, 1):
        cells = [f"{size:.4g}" for size in sizes] + [""] * (len(sources) - len(sizes))
        table.add_row(f"x_{j}", *cells, *(f"{errors[j - 1]:.1f}" for errors in forms.values()))
    console.print(table)


def show_similarity(console: Console, title: str, of: Similarity) -> None:
    """The cosine as a matrix: the terms of the first text downwards, those of the second across."""
    pairs = np.asarray(of.contributions, np.float64)
    sources = names(len(pairs) - 2)
    table = _table(title, "term", *sources, "sum")
    for name, row in zip(sources, pairs, strict=True):
        table.add_row(name, *_signed((*row, row.sum())))
    table.add_section()
    table.add_row("sum", *_signed((*pairs.sum(axis=0), pairs.sum())))
    console.print(table)
    _line(console, f"The cosine by the forward pass is {float(of.output):+.4f}.\n")


def _signed(numbers: Iterable[float]) -> list[str]:
    return [f"{number:+.3f}" for number in numbers]


def _table(title: str, first: str, *others: str) -> Table:
    """Names at the left, numbers aligned at the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(title, style="bold"), title_justify="left")
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(Text(name), justify="right")
    return table


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False)


def figures(of: Decomposition, to: Attribution) -> dict[str, object]:
    """What `show_terms` prints, and the contribution of every term at every token, as lists and numbers."""
    return {
        "terms": list(of.names),
        "lengths": lengths(of.terms).tolist(),
        "shares": shares(of).tolist(),
        "residual_ulp": float(of.residual_ulp),
        "output": {"forward": float(to.output), "sum": float(to.total), "contributions": _nested(to.contributions)},
    }


def layer_figures(of: Depths) -> dict[str, object]:
    """What `show_layers` prints."""
    errors = {form: list(numbers) for form, numbers in (of.errors or {}).items()}
    return {"lengths": [sizes.tolist() for sizes in of.lengths], "errors_ulp": errors}


def similarity_figures(of: Similarity) -> dict[str, object]:
    """What `show_similarity` prints."""
    return {"forward": float(of.output), "sum": float(of.total), "contributions": _nested(of.contributions)}


def _nested(array: object) -> Sequence[Sequence[float]]:
    return np.asarray(array, np.float64).tolist()
