"""A decomposition on the terminal: the terms of a text, its layers, and what makes two texts similar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from uat_jax.certification import Certification
from uat_jax.decide.figures import Fields, Figures
from uat_jax.decomposition.attribution import Attribution, Similarity
from uat_jax.decomposition.decomposition import Decomposition, names
from uat_jax.decomposition.measurements import Depths, lengths, shares
from uat_jax.report.table import COLOURS, show_line

COLUMNS = 16
"""How many columns of numbers a table has: a terminal of 160 characters holds them."""


def show_terms(console: Console, title: str, of: Decomposition, output: str, to: Attribution) -> None:
    """One row per term: its length, its share of x_L, what it contributes to the output; then the sum and x_L."""
    console.print(_terms(_table(title, "term", "length", "share of x_L", output), of, to))
    _line(console, f"The terms add up to x_L within {float(of.residual_ulp):.2g} ULP of its largest entry.\n")


def show_adaptation(console: Console, of: Decomposition, output: str, to: Attribution) -> None:
    """One row per term of what an adapter changes: length, share and contribution with it minus without it."""
    title = "What the adapter changes: with it minus without it"
    console.print(_terms(_table(title, "term", "length", "share of the change of x_L", output), of, to))


def _terms(table: Table, of: Decomposition, to: Attribution) -> Table:
    columns = (of.names, lengths(of.terms, of.mask), shares(of), np.asarray(to.by_source, np.float64))
    for name, length, share, contribution in zip(*columns, strict=True):
        table.add_row(name, f"{length:.4g}", f"{share:.1%}", f"{contribution:+.4f}")
    table.add_section()
    table.add_row("sum", f"{lengths(of.total, of.mask):.4g}", f"{shares(of).sum():.1%}", f"{float(to.total):+.4f}")
    table.add_row("forward pass", f"{lengths(of.hidden, of.mask):.4g}", "", f"{float(to.output):+.4f}")
    return table


def show_finer(console: Console, output: str, of: Attribution, words: Sequence[str]) -> None:
    """By head a map of layers and heads; by neuron the largest; by token the whole text."""
    kinds = {source.kind for source in of.sources}
    if "feed-forward" in kinds:  # beside heads, or alone where there is no attention
        _show_heads(console, output, of)
    elif "neuron" in kinds:
        _show_neurons(console, output, of)
    else:
        _show_tokens(console, output, of, words)
    off = f"{float(of.residual_ulp):.2g} ULP of the largest of them"
    _line(console, f"The contributions add up to the {output} within {off}.\n")


def _show_heads(console: Console, output: str, of: Attribution) -> None:
    rows: dict[str, list[float]] = {}
    for source, x in zip(of.sources, np.asarray(of.by_source, np.float64), strict=True):
        if source.layer is not None:
            rows.setdefault(f"layer {source.layer}", []).append(x)
    most = max(map(len, rows.values()))
    padded = {name: [*row[:-1], *[0.0] * (most - len(row)), row[-1]] for name, row in rows.items()}
    shown = {name: _signed((*row, sum(row))) for name, row in padded.items()}
    columns = np.array(list(padded.values())).sum(axis=0)
    shown["sum"] = _signed((*columns, columns.sum()))
    heads = [*(f"head {i}" for i in range(1, most)), "feed-forward" if most > 1 else "whole layer", "sum"]
    by = "by head" if most > 1 else "by layer, for there are no heads"
    _wrapped(console, f"Direct contributions to the {output}, {by}", "layer", heads, shown)
    _ends(console, of)


def _show_neurons(console: Console, output: str, of: Attribution) -> None:
    sums = np.asarray(of.by_source, np.float64)
    order = sorted(range(2, len(sums)), key=lambda i: -abs(sums[i]))[:LARGEST]
    table = _table(f"Direct contributions to the {output}: the {LARGEST} largest by neuron", "source", "contribution")
    for i in order:
        table.add_row(of.names[i], f"{sums[i]:+.4f}")
    table.add_section()
    rest = sums[2:].sum() - sums[order].sum()
    table.add_row(f"the other {len(sums) - 2 - len(order)}", f"{rest:+.4f}")
    console.print(table)
    _ends(console, of)


def _show_tokens(console: Console, output: str, of: Attribution, words: Sequence[str]) -> None:
    table = _table(f"Contributions to the {output}, by token", "token", "contribution")
    for place, (word, x) in enumerate(zip(words, np.asarray(of.contributions, np.float64)[0], strict=True)):
        table.add_row(Text(f"{place} {word}"), f"{x:+.4f}")
    console.print(table)
    _ends(console, of)


def _ends(console: Console, of: Attribution) -> None:
    """What the input and the biases add, and the sum beside the forward pass."""
    (first, bias), whole = np.asarray(of.by_source, np.float64)[:2], float(of.total)
    _line(
        console, f"input {first:+.4f}, bias {bias:+.4f}, everything {whole:+.4f}; forward pass {float(of.output):+.4f}"
    )


LARGEST = 20
"""How many neurons are shown."""


def show_layers(console: Console, of: Depths) -> None:
    """One row per depth j: the lengths of the terms of x_j, and the error of each form in ULP."""
    sources, forms = names(len(of.lengths)), of.errors or {}
    rows = {}
    for j, sizes in enumerate(of.lengths, 1):
        cells = [f"{size:.4g}" for size in sizes] + [""] * (len(sources) - len(sizes))
        rows[f"x_{j}"] = [*cells, *(f"{errors[j - 1]:.1f}" for errors in forms.values())]
    _wrapped(console, "The terms of each x_j, and rounding errors in ULP", "x_j", (*sources, *forms), rows)


def show_similarity(console: Console, title: str, of: Similarity) -> None:
    """The cosine as a matrix: the terms of the first text downwards, those of the second across."""
    pairs = np.asarray(of.contributions, np.float64)
    sources = names(len(pairs) - 2)
    rows = {name: _signed((*row, row.sum())) for name, row in zip(sources, pairs, strict=True)}
    rows["sum"] = _signed((*pairs.sum(axis=0), pairs.sum()))
    _wrapped(console, title, "term", (*sources, "sum"), rows)
    _line(console, f"The cosine by the forward pass is {float(of.output):+.4f}.\n")


def show_certification(console: Console, of: Certification) -> None:
    """Verdict, chance of error, at which sizes, what is proved at every depth, and what is assumed."""
    console.print(Text(str(of.certificate.verdict), style=COLOURS[of.certificate.verdict]).append(f"  {CERTIFIED}", ""))
    for name, text in _certification_lines(of):
        show_line(console, name, text, width=13)


CERTIFIED = "the terms are those of Theorem 1, and add up to what the network computes"


def _certification_lines(of: Certification) -> Iterator[tuple[str, str]]:
    for evidence in of.certificate.evidence:
        yield evidence.method, evidence.finding
    sizes = ", ".join(f"{name} = {size}" for name, size in of.sizes.items())
    yield "at", f"{sizes}; all weights are variables"
    yield of.all_depths.method, f"{of.all_depths.verdict}: {of.all_depths.finding}"
    yield "ledger", ", ".join(of.rows)
    for assumption in of.assumptions:
        yield "assuming", assumption.text


def _signed(numbers: Iterable[float]) -> list[str]:
    return [f"{number:+.3f}" for number in numbers]


def _wrapped(console: Console, title: str, first: str, heads: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    """One table, or several one below the other, of at most `COLUMNS` columns; a row of sums stands apart."""
    for start in range(0, len(heads), COLUMNS):
        shown = slice(start, start + COLUMNS)
        table = _table(f"{title}, continued" if start else title, first, *heads[shown])
        for name, cells in rows.items():
            if name == "sum":
                table.add_section()
            table.add_row(name, *cells[shown])
        console.print(table)


def _table(title: str, first: str, *others: str) -> Table:
    """Names at the left, numbers aligned at the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(title, style="bold"), title_justify="left")
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(Text(name), justify="right")
    return table


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False)


def finer_figures(of: Attribution) -> dict[str, object]:
    """What `show_finer` prints, of all sources; by token the contributions of input and biases at each one."""
    return {
        "sources": list(of.names),
        "contributions": np.asarray(of.by_source, np.float64).tolist(),
        "by_token": _nested(of.contributions) if len(of.sources) == 2 else None,
    }


def figures(of: Decomposition, to: Attribution) -> dict[str, object]:
    """What `show_terms` prints, and the contribution of every term at every token, as lists and numbers."""
    return {"terms": list(of.names), "residual_ulp": float(of.residual_ulp), **adaptation_figures(of, to)}


def adaptation_figures(of: Decomposition, to: Attribution) -> dict[str, object]:
    """What `show_adaptation` prints, and the change of the contribution of every term at every token."""
    return {
        "lengths": lengths(of.terms, of.mask).tolist(),
        "shares": shares(of).tolist(),
        "output": {"forward": float(to.output), "sum": float(to.total), "contributions": _nested(to.contributions)},
    }


def layer_figures(of: Depths) -> dict[str, object]:
    """What `show_layers` prints."""
    errors = {form: list(numbers) for form, numbers in (of.errors or {}).items()}
    return {"lengths": [sizes.tolist() for sizes in of.lengths], "errors_ulp": errors}


def similarity_figures(of: Similarity, by_token: Sequence[Attribution]) -> dict[str, object]:
    """What `show_similarity` prints, and the contribution of every term of either text at each of its tokens."""
    return {
        "forward": float(of.output),
        "sum": float(of.total),
        "contributions": _nested(of.contributions),
        "by_token": [_nested(text.contributions) for text in by_token],
    }


def certification_figures(of: Certification) -> dict[str, object]:
    """What `show_certification` prints."""
    return {
        "verdict": str(of.certificate.verdict),
        "findings": [evidence.finding for evidence in of.certificate.evidence],
        "log2_error": [_log2_error(evidence.figures) for evidence in of.certificate.evidence],
        "sizes": dict(of.sizes),
        "all_depths": {"verdict": str(of.all_depths.verdict), "finding": of.all_depths.finding, "rows": list(of.rows)},
        "assumptions": [assumption.text for assumption in of.assumptions],
    }


def _log2_error(figures: Figures) -> float | None:
    return figures.log2_error if isinstance(figures, Fields) else None


def _nested(array: object) -> Sequence[Sequence[float]]:
    return np.asarray(array, np.float64).tolist()
