"""Rounding against the scale of the inputs as a picture: an SVG that takes its colours from the page around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from uat_jax.decide.rounding_by_scale import AtScale

WIDTH, HEIGHT = 520, 330
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 46, 56
"""Room around the picture for its axes and the row of inputs that fail."""

STYLE = """
.uat svg { display: block; height: auto; max-width: 42rem; width: 100%; }
.uat svg text { fill: currentColor; font: 13px system-ui, "DejaVu Sans", sans-serif; }
.uat svg .axis { stroke: currentColor; stroke-width: 1; } .uat svg .grid { stroke: var(--line); }
.uat svg path { fill: none; stroke-width: 2; }
.uat svg .left { stroke: var(--left); } .uat svg .right { stroke: var(--right); stroke-dasharray: 7 4; }
.uat svg .seen { stroke: currentColor; stroke-width: 1.5; }
.uat svg .point { fill: currentColor; stroke: none; }
.uat svg .failed { fill: var(--bad); stroke: none; }
.uat svg text.failed { font-weight: 600; }
@media (max-width: 500px) { .uat svg text { font-size: 19px; } }
"""

SERIES = {"left": "bound of the left side", "right": "bound of the right side", "seen": "seen apart"}
"""The curves: fields of `AtScale`, and what they are."""


def rounding_plot(found: Sequence[AtScale]) -> str:
    """A figure with the curves and a table of their numbers.

    Args:
        found: what was found at each scale, at least one.
    """
    tops = [value for at in found for value in (at.seen, at.left, at.right) if value is not None and value > 0]
    low = min(-1, math.floor(math.log10(min(tops, default=1.0))))
    high = max(low + 2, math.ceil(math.log10(max(tops, default=1.0))))
    first, last = (math.log10(found[end].scale) for end in (0, -1))
    across = lambda scale: LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(scale) - first) / max(last - first, 1)
    up = lambda ulps: (
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((math.log10(ulps) if ulps > 0 else low) - low) / (high - low)
    )
    return (
        f'<figure>\n<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="plot-title plot-text">'
        '<title id="plot-title">Rounding against the scale of the inputs</title>'
        f'<desc id="plot-text">{escape(_described(found))}</desc>'
        f"{''.join(_axes(found, across, up, low, high))}{''.join(_curves(found, across, up))}"
        f"{''.join(_failures(found, across))}</svg>\n<figcaption>{_legend()}</figcaption>\n{_table(found)}</figure>"
    )


def _axes(
    found: Sequence[AtScale], across: Callable[[float], float], up: Callable[[float], float], low: int, high: int
) -> Iterator[str]:
    bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    step = max(1, math.ceil((high - low) / 6))
    for power in range(low, high + 1, step):
        y = up(10.0**power)
        yield f'<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_power(power)}</text>'
    for at in found:
        x, power = across(at.scale), round(math.log10(at.scale))
        yield f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>'
        if power % 2 == 0:
            yield f'<text x="{x:.1f}" y="{bottom + 22}" text-anchor="middle">{_power(power)}</text>'
    yield f'<line class="axis" x1="{LEFT}" x2="{end}" y1="{bottom}" y2="{bottom}"/>'
    yield f'<text x="{(LEFT + end) / 2}" y="{HEIGHT - 8}" text-anchor="middle">scale of the inputs</text>'
    yield f'<text x="0" y="{TOP - 28}">ULP</text>'


def _curves(found: Sequence[AtScale], across: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
    for name in SERIES:
        points = [(across(at.scale), up(value)) for at in found if (value := getattr(at, name)) is not None]
        if points:
            yield f'<path class="{name}" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'
        if name == "seen":
            yield from (f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points)


def _failures(found: Sequence[AtScale], across: Callable[[float], float]) -> Iterator[str]:
    """A letter above each scale at which a side is not finite: L, R or both."""
    for at in found:
        sides = "".join(letter for letter, count in zip("LR", at.failed, strict=True) if count)
        if sides:
            yield f'<text class="failed" x="{across(at.scale):.1f}" y="{TOP - 10}" text-anchor="middle">{sides}</text>'


def _legend() -> str:
    blue, orange, plain = (f'<svg class="key" viewBox="0 0 34 10" aria-hidden="true">{of}</svg>' for of in (
        '<path class="left" d="M0 5 L34 5"/>', '<path class="right" d="M0 5 L34 5"/>',
        '<path class="seen" d="M0 5 L34 5"/><circle class="point" cx="17" cy="5" r="3.5"/>',
    ))  # fmt: skip
    return (
        f"{blue} {SERIES['left']} {orange} {SERIES['right']} {plain} {SERIES['seen']}; L, R: the left or the right "
        "side is not finite there. Inputs are normal with mean 0, brought into their domains."
    )


def _table(found: Sequence[AtScale]) -> str:
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("scale", *SERIES.values(), "not finite"))
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(at))}</tr>" for at in found)
    return (
        '<details><summary>The numbers of this picture</summary><div class="wide"><table><caption>In units in the last '
        f"place of the output's largest entry</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        "</div></details>"
    )


def _cells(at: AtScale) -> list[str]:
    numbers = ["—" if value is None else f"{value:.3g}" for value in (at.left, at.right, at.seen)]
    failed = [
        f"{side} at {count} of {at.run}" for side, count in zip(("left", "right"), at.failed, strict=True) if count
    ]
    return [f"{at.scale:g}", *numbers, ", ".join(failed) or "—"]


def _described(found: Sequence[AtScale]) -> str:
    """What the picture shows, in a sentence."""
    seen = [at for at in found if at.seen is not None]
    worst = max(seen, key=lambda at: at.seen or 0.0, default=None)
    apart = f"The sides were seen apart by at most {worst.seen:.3g} ULP, at scale {worst.scale:g}." if worst else ""
    fails = ", ".join(f"{at.scale:g}" for at in found if any(at.failed))
    return f"{apart} {f'A side is not finite at scale {fails}.' if fails else 'Both are finite at all scales.'}"


def _power(power: int) -> str:
    return f"10{str(power).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}" if power else "1"
