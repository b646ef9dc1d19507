"""What a message about an undecided comparison must have: a primitive, a line of the user's, and what to do."""

import re

from uat_jax.interpret.definitions import DEFINITIONS
from uat_jax.interpret.primitives import TABLE

VERBS = "add allow bound choose compare decide give keep make mask pass replace restrict rewrite select take use write"

ADVICE = re.compile(rf"[;,(] (?:or )?({VERBS.replace(' ', '|')})\b")
"""A clause that tells the user to do something."""

LINE = re.compile(r" (?:at|near) [\w<>.-]+:\d+| at a line that is not known")
"""A line of a file, or that no line of the user's is near."""


def lacking(message: str) -> list[str]:
    """What is missing in a message: "no primitive", "no line", "nothing to do"."""
    names = set(re.findall(r"'([\w-]+)'", message))
    found = [] if names & (set(TABLE) | set(DEFINITIONS)) else ["no primitive"]
    found += [] if LINE.search(message) else ["no line"]
    return found + ([] if ADVICE.search(message) else ["nothing to do"])
