"""Figures of evidence are written to a file and read back as they were; whatever else stands there is refused."""

import dataclasses
import itertools
import json
import math
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from uat_jax.decide import figures
from uat_jax.decide.figures import KINDS, Deduced, Fields, FieldsAtSizes, Figures, Ranks, from_data, required
from uat_jax.interpret.recognition import ConstantReading


def sample_of(kind: Any, *, whole: bool) -> Any:
    """A value of a type; `whole`: with everything that may be left out."""
    origin, parts = get_origin(kind), get_args(kind)
    if type(None) in parts:
        return sample_of(parts[0], whole=whole) if whole else None
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{f.name: sample_of(hints[f.name], whole=whole) for f in dataclasses.fields(kind)})
    if origin is tuple:
        count = 2 if parts[-1] is Ellipsis else len(parts)
        return tuple(sample_of(parts[0], whole=whole) for _ in range(count))
    if origin is not None:
        return {"x": sample_of(parts[1], whole=whole)}
    return {int: 7, float: -128.5, str: "text", bool: True, Any: [1, 2]}[kind]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_figures_are_read_back_as_they_were(kind, whole):
    written = sample_of(kind, whole=whole)
    data = json.loads(json.dumps(written.as_data()))
    assert type(from_data(data)) is kind and from_data(data) == written
    assert dict(written) == written.as_data()


def test_no_data_are_of_two_kinds():
    for a, b in itertools.combinations(KINDS, 2):
        both = required(a) | required(b)
        assert not all(both <= {f.name.removesuffix("_") for f in dataclasses.fields(kind)} for kind in (a, b))


def test_every_record_is_one_of_the_kinds_or_part_of_one():
    records = {kind for kind in vars(figures).values() if isinstance(kind, type) and issubclass(kind, Figures)}
    parts = {figures.Equation, figures.Term, figures.Contradiction}
    assert records - parts == set(KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if required(kind)], ids=lambda kind: kind.__name__)
def test_data_with_a_field_too_few_or_too_many_are_refused(kind):
    data = sample_of(kind, whole=True).as_data()
    with pytest.raises(ValueError, match="no figures have the fields"):
        from_data({**data, "one more": 1})
    for name in required(kind):
        rest = {key: value for key, value in data.items() if key != name}
        if rest and not any(required(other) <= set(rest) for other in KINDS if other is not Figures):
            with pytest.raises(ValueError, match="no figures have the fields"):
                from_data(rest)


FIELDS = Fields(-128.5, True, {"host": "float64"}).as_data()
RANKS = Ranks(0, (2, 3), (2,), 2).as_data()
WRONG = {
    "no object": ([1], "no object"),
    "a text for a number": ({**FIELDS, "log2_error": "small"}, "no number"),
    "a truth for a number": ({**FIELDS, "log2_error": True}, "no number"),
    "a number for a truth": ({**FIELDS, "theorem": 1}, "no truth value"),
    "a number for a text": ({**FIELDS, "limbs": {"host": 64}}, "no text"),
    "a list for an object": ({**FIELDS, "limbs": ["host"]}, "in the place of something else"),
    "a fraction for a whole number": ({**RANKS, "seed": 0.5}, "not whole numbers"),
    "a truth for a whole number": ({**RANKS, "claimed": True}, "not whole numbers"),
    "a number for a list": ({**RANKS, "ranks": 2}, "in the place of something else"),
    "three sizes of a matrix": ({**RANKS, "shape": [1, 2, 3]}, "zip"),
    "a case with other fields": (
        {**Deduced("a", ()).as_data(), "cases": [{"signs": [], "terms": [{"times": "x"}]}]},
        "has not the fields of Term",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_data_of_another_type_are_refused(name):
    data, message = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=message):
        from_data(data)


def test_infinite_figures_are_texts_in_a_file():
    assert from_data({**FIELDS, "log2_error": "-inf"}) == Fields(-math.inf, True, {"host": "float64"})


def test_figures_are_read_by_name_like_their_object():
    found = FieldsAtSizes(-128.5, True, {"host": "float64"}, {"n": 2}, digits=30)
    assert found["sizes"] == {"n": 2} and "points" not in found and found.get("points") is None
    assert found["digits"] == 30 and len(found) == 5
    assert not Figures() and dict(Figures()) == {}
    agreed = figures.Agreed(4, 30, (ConstantReading("float32", 0.1, "1/10"),))
    assert agreed["constants"] == [{"dtype": "float32", "value": 0.1, "meaning": "1/10"}]
