"""The ledger as a table of contents: claim, source, verdict, script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uat_jax.ledger.chapter import Chapter
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.record import Record
from uat_jax.ledger.source import written


def contents(chapters: Sequence[Chapter], script_of: Mapping[str, str]) -> str:
    """Markdown tables, one per chapter, with the verdict that every claim has."""
    return "\n".join(line for chapter in chapters for line in _chapter(chapter, script_of))


def _chapter(chapter: Chapter, script_of: Mapping[str, str]) -> list[str]:
    rows = [_row(claim, script_of[claim.id]) for claim in chapter.claims]
    listed = [_listed(record) for record in chapter.records]
    head = ["| claim | source | verdict | script |", "|---|---|---|---|"]
    return [f"## {chapter.title}", "", *head, *rows, *listed, ""]


def _row(claim: Claim, script: str) -> str:
    return f"| `{claim.id}`: {claim.title} | {written(claim.sources)} | {claim.expects} | [{script}]({script}) |"


def _listed(record: Record) -> str:
    return f"| `{record.id}`: {record.says} | {written(record.sources)} | {record.status} | |"
