"""``python -m uat_jax.networks.families``: write the table of families in docs/decomposition.md."""

from pathlib import Path

from uat_jax.networks.families import FAMILIES

BEGIN, END = "<!-- families -->\n", "<!-- end of families -->\n"


HEADING = "| family | `architectures` in its config, without and with a head |\n|---|---|\n"


def rows() -> str:
    """The table, with a row for each family."""
    named = {kind: ", ".join(f"`{name}`" for name in of.architectures) for kind, of in FAMILIES.items()}
    return HEADING + "".join(f"| `{kind}` | {architectures} |\n" for kind, architectures in named.items())


def main(path: Path = Path("docs/decomposition.md")) -> None:
    """Replace the rows between the two comments of the document."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    path.write_text(before + BEGIN + rows() + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
