"""A model's output at one text, explained: terms, heads and tokens that add up to one number, to look at.

In a notebook an `Explanation` shows itself; `save` writes it as a page, or as a picture by the suffix of the name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decomposition.attribution import Attribution, Output, attribute, attribute_by_depth
from uat_jax.decomposition.decomposition import Decomposition, decompose
from uat_jax.decomposition.lens import Lens, logit_lens
from uat_jax.decomposition.measurements import lengths, shares
from uat_jax.decomposition.targets import Target, read_target, usual_target
from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.report import pictures
from uat_jax.report.decomposition_page import Map, Sheet, document, fragment

PAGE = ".html"
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Explanation:
    """What makes one number of a model's output at N tokens; each attribution adds up to it."""

    title: str
    words: tuple[str, ...]
    """What each token is called."""
    target: str
    """The number, in words."""
    decomposition: Decomposition
    layers: Attribution
    """By the terms of Theorem 1."""
    heads: Attribution
    """By heads and feed-forward networks, directly."""
    depths: Attribution
    """By tokens, at every depth."""
    lens: Lens | None
    """Of a model with logits, at the token where they are read: (L + 1, 1, k)."""
    word: Callable[[int], str] = str
    """Token number → word."""
    token: str = "token"
    """What is read: a token, or a patch of an image."""
    answer: str = "word"
    """What logits are of: a word, or a label."""

    def _repr_html_(self) -> str:
        """The page as a notebook shows it."""
        return fragment([self.sheet()])

    def save(self, path: str | Path) -> Path:
        """Write a page (.html) or the map of heads and layers (.png, .svg, .pdf), and return the path.

        Raises `InputError` for another suffix, or a place that cannot be written.
        """
        path = Path(path)
        if path.suffix == PAGE:
            return write_page(path, f"What makes the {self.target}", [self])
        return self.picture(path, "head")

    def picture(self, path: Path, by: str) -> Path:
        """One picture: the terms by layer, the map of the heads, or the tokens.  Raises what `save` raises."""
        sheet, title = self.sheet(), f"{self.target}: {self.title}"
        if by == "head":
            of = sheet.heads
            return pictures.picture_of_map(path, title, of.rows, of.columns, of.numbers, "direct contribution")
        if by == "token":
            names = ["embedded tokens", *(f"behind layer {j}" for j in range(1, len(sheet.depths)))]
            return pictures.picture_of_text(path, title, self.words, sheet.depths, names)
        return pictures.picture_of_contributions(path, title, sheet.terms, sheet.by_term.sum(axis=1))

    def sheet(self) -> Sheet:
        """What the page shows, as plain numbers."""
        wide = lambda array: np.asarray(array, np.float64)
        dtype = self.decomposition.hidden.dtype
        depths = wide(self.depths.contributions)
        return Sheet(
            title=self.title,
            words=self.words,
            target=self.target,
            output=float(self.layers.output),
            digits=17 if dtype == jnp.float64 else 9,
            terms=self.decomposition.names,
            lengths=lengths(self.decomposition.terms),
            shares=shares(self.decomposition),
            by_term=wide(self.layers.contributions),
            heads=map_of_heads(self.heads),
            beside=[(str(source), float(wide(self.heads[source]).sum())) for source in self.heads.sources[:2]],
            depths=depths[:, 0],
            biases=depths[:, 1].sum(axis=-1),
            lens=self._lens(),
            notes=[self._sums()],
            token=self.token,
            answer=self.answer,
        )

    def _sums(self) -> str:
        """How far the sums are from the forward pass."""
        heads = "heads" if any(source.kind == "head" for source in self.heads.sources) else "layers"
        parts = {"terms": self.layers, heads: self.heads, "tokens": self.depths}
        off = ", ".join(f"{name} {float(np.max(of.residual_ulp)):.2g}" for name, of in parts.items())
        return f"Each way of sharing it out adds up to it, within units in the last place of the largest part: {off}."

    def _lens(self) -> list[tuple[str, list[tuple[str, float]]]]:
        if self.lens is None:
            return []
        word = self.word if self.answer == "word" else str
        names = ["embedded tokens", *(f"behind layer {j}" for j in range(1, len(self.lens.words)))]
        rows = zip(np.asarray(self.lens.words)[:, -1], np.asarray(self.lens.logits, np.float64)[:, -1], strict=True)
        return [
            (name, [(word(int(w)), float(x)) for w, x in zip(*row, strict=True)])
            for name, row in zip(names, rows, strict=True)
        ]


def explain(
    model: Model,
    tokens: jax.Array | np.ndarray,
    target: str | Output | Target | None = None,
    *,
    words: Sequence[str] | None = None,
    title: str | None = None,
    word: Callable[[int], str] = str,
    numbers: Callable[[str], Sequence[int]] | None = None,
    progress: Callable[[str], None] | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> Explanation:
    """Why a number of a model's output is what it is: by terms, by heads, by tokens at every depth.

    Args:
        model: from `uat_jax.load_model` or `uat_jax.networks`.
        tokens: whole numbers, (N,).
        target: the number: text such as "logit: Paris - London" (`uat_jax.decomposition.targets`), a linear function
            such as a `Logit`, alone or with a name (`Target`), or None for the largest logit at the last token, of a
            model without logits the length of the mean feature.
        words: what the tokens are called; by default `word` of each.
        title: by default the words.
        word: token number → word; by default the number.
        numbers: text → token numbers, for words in `target`.
        progress: is told what is computed.
        precision: of every matrix product.

    Returns:
        An `Explanation`, which a notebook shows and whose `save` writes a page or a picture.

    Raises:
        InputError: tokens, words, features or a target that there are not.

    Example:
        >>> found = uj.explain(model, tokens, "logit: #464 - #3290")
        >>> found.heads["layer 2 head 1"].sum(), found.save("page.html")
    """
    tokens, say = model.check_tokens(tokens), progress or (lambda _: None)
    image = model.architecture.image is not None
    if words is None:
        words = _patches(len(tokens)) if image else [word(token) for token in np.asarray(tokens).tolist()]
    names = tuple(words)
    if len(names) != len(tokens):
        raise InputError(f"got {len(names)} words for {len(tokens)} tokens, wanted one for each")
    say("forward pass")
    features = jax.jit(lambda m, t: m.scores(m.hidden(t, precision=precision), precision=precision))(model, tokens)
    if target is None:
        chosen = usual_target(model, features, word)
    elif isinstance(target, Target):
        chosen = target
    elif isinstance(target, str):
        chosen = read_target(target, model, features, numbers)
    else:
        chosen = Target(str(target), target)
    whole = lambda f: jax.jit(lambda m, t: f(m, t))(model, tokens)
    compiled = whole if image else lambda f: f(model, tokens)
    say("terms")
    decomposition = decompose(model, tokens, precision=precision)
    say("contributions by layer")
    layers = compiled(lambda m, t: attribute(m, t, chosen.output, precision=precision))
    say("contributions by head")
    heads = compiled(lambda m, t: attribute(m, t, chosen.output, by="head", precision=precision))
    say("contributions by token")
    depths = compiled(lambda m, t: attribute_by_depth(m, t, chosen.output, precision=precision))
    lens = None
    if model.unembedding is not None:
        top = min(5, model.unembedding.shape[1])
        lens = compiled(lambda m, t: logit_lens(m, t, top=top, at=-1, precision=precision))
    kinds = "patch" if image else "token", "word" if model.architecture.reads == "each" else "label"
    title = title or (f"An image of {len(names) - 1} patches" if image else " ".join(names))
    return Explanation(title, names, chosen.name, decomposition, layers, heads, depths, lens, word, *kinds)


def _patches(rows: int) -> list[str]:
    """What the rows of an image are called: the token of the class, then its patches."""
    return ["class", *(f"patch {number}" for number in range(1, rows))]


def write_page(path: Path, title: str, of: Sequence[Explanation], notes: Sequence[str] = ()) -> Path:
    """The page of several inputs.  Raises `InputError` if it cannot be written, naming the path as it was given."""
    try:
        path.write_text(document(title, [each.sheet() for each in of], notes), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose a place that can be written") from None
    return path


def map_of_heads(of: Attribution) -> Map:
    """Layers downwards, heads and the feed-forward network across; NaN where a layer has fewer heads.

    Where there is no head in any layer, one column for what each layer adds.
    """
    inside = {source: float(x) for source, x in zip(of.sources, of.by_source, strict=True) if source.layer is not None}
    layers = max(source.layer or 0 for source in inside)
    most = max(source.number or 0 for source in inside)
    numbers = np.full((layers, most + 1), np.nan)
    for source, x in inside.items():
        column = most if source.number is None else source.number - 1
        numbers[(source.layer or 0) - 1, column] = x
    columns = [*(f"head {i}" for i in range(1, most + 1)), "feed-forward" if most else "whole layer"]
    return Map("layer", [f"layer {j}" for j in range(1, layers + 1)], columns, numbers)
