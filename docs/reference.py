"""Docstrings as the API reference wants them: an example is code, with or without prompts."""

import re
import textwrap
from typing import Any

import griffe  # pyright: ignore[reportMissingImports]

EXAMPLE = re.compile(r"^Example:\n((?:[ \t]+.*\n?|\n)+)", re.M)


class Examples(griffe.Extension):
    """Writes the section "Example" in the way that griffe knows."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of a function, class or module that was just read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_section, obj.docstring.value)


def _section(found: re.Match[str]) -> str:
    code = textwrap.dedent(found[1]).strip("\n")
    text = code if code.startswith(">>>") else f"```python\n{code}\n```"
    return f"Examples:\n{textwrap.indent(text, '    ')}\n"
