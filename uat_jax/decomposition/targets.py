"""What is attributed, as people write it: ``logit: Paris - London``, ``logit: #464 at 2``, ``feature: 5``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.decomposition.attribution import Coordinate, Difference, Direction, Logit, Output
from uat_jax.errors import InputError
from uat_jax.networks.model import Model

FORMS = '"logit: WORD", "logit: WORD - WORD", "feature: NUMBER", each perhaps with "at PLACE", "length", "similarity"'
"""What a target may look like."""

Numbers = Callable[[str], Sequence[int]]
"""Text → the token numbers of a tokenizer, without special ones."""


class Target(NamedTuple):
    """One number that a model computes, linear in its features behind the frozen final norm."""

    name: str
    """What it is, in words."""
    output: Output


_WHOLE = re.compile(r"[+-]?[0-9]+")
_PLACE = re.compile(r"(?P<rest>.*\S)\s+at\s+(?P<place>\S+)", re.S)


def read_target(text: str, model: Model, features: jax.Array, numbers: Numbers | None) -> Target:
    """The target that a text describes, for the `Model.scores`, (N, M) or (N, V), of a model.

    A word is one token: ``#464`` by its number, otherwise the word behind a blank, as inside of a sentence, or in
    quotes exactly what they hold.  Places are counted from 0, or from −1 backwards; without one the last is meant.
    Raises `InputError` for another form, for what is no token, and for places, words and features that there are not.
    """
    kind, colon, what = (part.strip() for part in text.partition(":"))
    if text.strip() == "length":
        return length_of_mean(model, features)
    if not colon or kind not in ("logit", "feature") or not what:
        raise InputError(f"got the target {text!r}, wanted {FORMS}")
    found = _PLACE.fullmatch(what)
    what, place = (found["rest"], _whole(found["place"], "place", text)) if found else (what, usual_place(model))
    name = f"{kind} of {what} at {_named(place)}"
    if kind == "feature":
        return _checked(Target(name, Coordinate(place, _whole(what, "feature", text))), model, features)
    if model.unembedding is None:
        raise InputError(f'got the target {text!r} for a model without logits; wanted "feature: NUMBER" or "length"')
    words = [Logit(place, _token(word.strip(), text, numbers)) for word in _sides(what)]
    return _checked(Target(name, words[0] if len(words) == 1 else Difference(*words)), model, features)


def usual_target(model: Model, features: jax.Array, word: Callable[[int], str] = str) -> Target:
    """The largest logit at the `usual_place`; without logits the length of the mean m of the features, ⟨m, m / |m|⟩.

    A bias of the logits decides which is the largest, but is in none of the terms.
    """
    if model.unembedding is None:
        return length_of_mean(model, features)
    bias, place = model.logit_bias, usual_place(model)
    token = int(jnp.argmax(features[place] if bias is None else features[place] + bias))
    kind = "token" if model.architecture.reads == "each" else "label"
    named = f" ({word(token)!r})" if kind == "token" and word(token) != str(token) else ""
    less = "" if bias is None else " without its bias"
    return Target(f"logit of {kind} {token}{named} at {_named(place)}{less}", Logit(place, token))


def usual_place(model: Model) -> int:
    """Where logits are read: at the first token by models that read it alone, as of images; else at the last."""
    return 0 if model.architecture.reads == "first" else -1


def _named(place: int) -> str:
    return "the last place" if place == -1 else f"place {place}"


def length_of_mean(model: Model, features: jax.Array) -> Target:
    """|m| as ⟨m, m / |m|⟩, the second factor held fixed.  Raises `InputError` for logits, which are no features."""
    if model.unembedding is not None:
        raise InputError('got the target "length" for a model with logits; wanted "logit: WORD" or "feature: NUMBER"')
    mean = jnp.mean(features, axis=0)
    return Target("length of the mean feature", Direction(mean / jnp.sqrt(jnp.sum(mean * mean))))


def similarity_to(model: Model, features: jax.Array, others: jax.Array) -> Target:
    """The cosine of the mean features m and m' of two texts as ⟨m, m' / |m| |m'|⟩, the second factor held fixed."""
    if model.unembedding is not None:
        raise InputError('got the target "similarity" for a model with logits; wanted "logit: WORD"')
    own, other = (jnp.mean(x, axis=0) for x in (features, others))
    product = jnp.sqrt(jnp.sum(own * own) * jnp.sum(other * other))
    return Target("similarity to the other text", Direction(other / product))


def _sides(what: str) -> list[str]:
    """The words of a difference, or the one that there is; a minus within quotes is none."""
    found = re.fullmatch(r"(?P<one>#[0-9]+)\s*[-−]\s*(?P<other>#[0-9]+)", what)
    found = found or re.fullmatch(r"""(?P<one>"[^"]*"|'[^']*'|\S+)\s+[-−]\s+(?P<other>.+)""", what, re.S)
    return [what] if found is None else [found["one"], found["other"]]


def _token(word: str, text: str, numbers: Numbers | None) -> int:
    """The number of a token."""
    if word.startswith("#"):
        return _whole(word[1:], "token", text)
    if numbers is None:
        raise InputError(f"got the word {word!r} in {text!r}, wanted #NUMBER: there is no tokenizer for words")
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    found = numbers(word[1:-1] if quoted else f" {word}")
    if len(found) != 1:
        raise InputError(
            f"got the word {word!r} in {text!r}, which is {len(found)} tokens, wanted one; give its number as #NUMBER"
        )
    return int(found[0])


def _whole(digits: str, what: str, text: str) -> int:
    """A whole number in ASCII of at most nine digits, which any array's index is."""
    if not _WHOLE.fullmatch(digits) or len(digits) > 9:
        raise InputError(f"got the {what} {digits!r} in {text!r}, wanted a whole number such as 3")
    return int(digits)


def _checked(target: Target, model: Model, features: jax.Array) -> Target:
    """The target, if the model has it."""
    jax.eval_shape(lambda m: target.output(m, jnp.zeros((len(features), m.width), features.dtype)), model)
    return target
