"""What the site has beside the pages of this folder: lists from the tables of the code, and files of the repository.

mkdocs calls these functions when it builds the site.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File  # pyright: ignore[reportMissingImports]

ROOT = Path(__file__).parents[1]
SCRIPTS = ("proofs/*.py", "proofs/*/*.py")
"""Files beside this folder that pages link to."""

SHIM = '<script src="https://unpkg.com/iframe-worker/shim"></script>'

WORKER = (Path(__file__).parent / "worker.js").read_text(encoding="utf-8")
"""What stands in the place of the script of the theme's plugin `offline`."""

BENCHMARKS = ("benchmarks/README.md", "benchmarks.md")
"""A page that lies elsewhere, and what it is called here."""


def on_files(files: Any, config: Any) -> Any:
    """Add scripts and the page of benchmarks."""
    for path in (path for pattern in SCRIPTS for path in ROOT.glob(pattern)):
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    source, name = BENCHMARKS
    text = (ROOT / source).read_text(encoding="utf-8")
    files.append(File.generated(config, name, content=_without_pictures(text)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links that leave the folder, and lists in the place of their marks."""
    text = re.sub(r"\]\(\.\./(proofs/[\w/.-]+)\)", r"](\1)", markdown)
    text = re.sub(r"\[([^\]]*)\]\(\.\./[\w/.#-]+\)", r"\1", text) if "/" not in page.file.src_uri else text
    return re.sub(r"<!-- (\w+) -->", lambda mark: LISTS[mark[1]]() if mark[1] in LISTS else mark[0], text)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The page with the script by which it is searched without a server, which the theme would ask a network for."""
    return output.replace(SHIM, f"<script>{WORKER}</script>")


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """The page that is shown where there is none, likewise."""
    return on_post_page(output_content, template_name, config)


def _without_pictures(text: str) -> str:
    """The page of benchmarks; what it links to in its own folder stands in the repository only."""
    text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"*\1 (a picture in the repository)*", text)
    text = re.sub(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", text)
    return text.replace("][", "]\\[")  # two brackets of a formula are no link


def _primitives() -> str:
    """How many primitives are known in which way."""
    from collections import Counter

    from uat_jax.decide.primitives_document import document

    kinds = Counter(re.findall(r"^\| `[^`]+` \| ([^|]+) \|", document(), re.M))
    return "; ".join(f"{count} by {kind}" for kind, count in kinds.most_common()) + "."


def _dtypes() -> str:
    from uat_jax.decide.integers import SHORT_WHOLE
    from uat_jax.decide.specification import FLOATS

    listed = lambda names: ", ".join(f"`{name}`" for name in names)
    return f"Floats: {listed(FLOATS.values())}. Integers and booleans: {listed(SHORT_WHOLE.values())}."


def _laws() -> str:
    from uat_jax.numbers.prime_fields.laws import LAWS

    return "\n".join(f"* {law}" for law in sorted(LAWS))


def _others() -> str:
    """Public names that no section of the reference has."""
    import uat_jax

    written = set(re.findall(r"^::: uat_jax\.(\w+)", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.M))
    errors = {name for name in vars(uat_jax) if name.endswith(("Error", "Warning"))}
    names = [name for name in sorted(uat_jax._LATER) if name not in written | errors]
    return "\n".join(["## Others", "", *(f"::: uat_jax.{name}" for name in names)]) if names else ""


LISTS = {"primitives": _primitives, "dtypes": _dtypes, "laws": _laws, "others": _others}
"""The marks, and what is written in their place."""
