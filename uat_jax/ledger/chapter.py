"""A chapter of the ledger: its rows, and the script that argues them."""

from __future__ import annotations

from dataclasses import dataclass

from uat_jax.ledger.claim import Claim
from uat_jax.ledger.record import Record


@dataclass(frozen=True)
class Chapter:
    """``title`` heads the rows; ``script`` is the file in proofs/ that argues them; ``records`` are listed only."""

    title: str
    script: str
    claims: tuple[Claim, ...]
    records: tuple[Record, ...] = ()
