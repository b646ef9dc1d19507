"""Rows as lines of JSON, written and read."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

from uat_jax.bench.measure import Row
from uat_jax.errors import InputError
from uat_jax.typing import JsonObject


def as_line(row: Row, environment: JsonObject) -> str:
    """One line: the row, whether its aims were met, and what it was measured on."""
    return json.dumps({**asdict(row), "met": row.met, "environment": environment}, ensure_ascii=False) + "\n"


def read(path: Path) -> tuple[list[Row], JsonObject]:
    """The rows of a file and what they were measured on.

    Raises:
        InputError: not a file of `as_line`'s lines, or of several runs.
    """
    names = [field.name for field in fields(Row)]
    try:
        lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        rows = [Row(**{name: line[name] for name in names if name in line}) for line in lines]
        (environment,) = {json.dumps(line["environment"]) for line in lines}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"cannot read {path} as the lines of one `uat-jax bench --json`: {error!r}") from None
    return rows, json.loads(environment)
