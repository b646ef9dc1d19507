"""A plugin of pytest (`-p killers_first`): the tests that are named in a file of the environment run before the others.

Where one failure is enough, the tests that found most failures before find the next one soonest.
"""

import os
from pathlib import Path

FIRST = "KILLERS_FIRST"
"""The environment variable with the path of the file: one name of a test in each line, the most successful first."""


def pytest_collection_modifyitems(items):
    """Tests in the order of the file, then the others, taken evenly from all of their modules."""
    path = os.environ.get(FIRST)
    names = Path(path).read_text().splitlines() if path and Path(path).exists() else []
    ranks = {name: rank for rank, name in enumerate(names)}
    counts: dict[str, int] = {}
    for item in items:
        counts[item.module.__name__] = counts.get(item.module.__name__, 0) + 1
    seen = dict.fromkeys(counts, 0)
    keys = {}
    for item in items:
        module = item.module.__name__
        keys[item] = (ranks.get(item.nodeid, len(ranks)), seen[module] / counts[module])
        seen[module] += 1
    items.sort(key=keys.__getitem__)
