"""Validates JSON by a JSON Schema: the keywords that the schemas of this repository use, and no others."""

from collections.abc import Mapping
from typing import Any

TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "integer": int}
SILENT = {"$schema", "$defs", "title", "description"}


def fits(data: Any, schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether data are valid by a part of a schema (JSON Schema 2020-12); ``root`` is the whole of it.

    Raises:
        KeyError: the schema has a keyword that is not among the ones below.
    """
    if isinstance(schema, bool):
        return schema
    return all(KEYWORDS[word](data, value, schema, root) for word, value in schema.items() if word not in SILENT)


def _reference(data: Any, value: str, _: Any, root: Mapping[str, Any]) -> bool:
    part: Any = root
    for key in value.removeprefix("#/").split("/"):
        part = part[key]
    return fits(data, part, root)


def _items(data: Any, value: Any, schema: Any, root: Mapping[str, Any]) -> bool:
    return not isinstance(data, list) or all(fits(x, value, root) for x in data[len(schema.get("prefixItems", [])) :])


def _prefix(data: Any, value: Any, _: Any, root: Mapping[str, Any]) -> bool:
    return not isinstance(data, list) or all(fits(x, of, root) for x, of in zip(data, value, strict=False))


def _properties(data: Any, value: Any, _: Any, root: Mapping[str, Any]) -> bool:
    return not isinstance(data, dict) or all(fits(data[k], of, root) for k, of in value.items() if k in data)


def _additional(data: Any, value: Any, schema: Any, root: Mapping[str, Any]) -> bool:
    known = schema.get("properties", {})
    return not isinstance(data, dict) or all(fits(x, value, root) for k, x in data.items() if k not in known)


def _alike(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


KEYWORDS: dict[str, Any] = {
    "$ref": _reference,
    "type": lambda data, value, *_: isinstance(data, TYPES[value]) and not isinstance(data, bool),
    "const": lambda data, value, *_: _alike(data, value),
    "enum": lambda data, value, *_: any(_alike(data, v) for v in value),
    "oneOf": lambda data, value, _, root: sum(fits(data, of, root) for of in value) == 1,
    "prefixItems": _prefix,
    "items": _items,
    "minItems": lambda data, value, *_: not isinstance(data, list) or len(data) >= value,
    "maxItems": lambda data, value, *_: not isinstance(data, list) or len(data) <= value,
    "minLength": lambda data, value, *_: not isinstance(data, str) or len(data) >= value,
    "maxLength": lambda data, value, *_: not isinstance(data, str) or len(data) <= value,
    "properties": _properties,
    "required": lambda data, value, *_: not isinstance(data, dict) or all(k in data for k in value),
    "additionalProperties": _additional,
}  # fmt: skip
"""keyword → (data, its value, the schema around it, the whole schema) ↦ whether the data fit."""
