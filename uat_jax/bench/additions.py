"""How fast Python runs here: a loop of 10⁷ additions, in which the time of work that is Python itself is given."""

from __future__ import annotations

NAME = "10⁷ additions"

LOOP = "total = 0\nfor i in range(10**7):\n    total += i"
"""At the top level of a module, where Python looks up every name."""


def additions() -> bool:
    """Run the loop; whether it has found the sum."""
    names: dict[str, int] = {}
    exec(compile(LOOP, NAME, "exec"), names)
    return names["total"] == 10**7 * (10**7 - 1) // 2
