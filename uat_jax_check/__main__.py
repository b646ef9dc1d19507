"""``uat-jax-check FILE ...``: one word and a few lines for every certificate; the exit code is the worst of all."""

import sys

from uat_jax_check import claims, document, pairs
from uat_jax_check.document import NotDecided, Refused, Unusable

SCHEMA, VERSION = "uat_jax/certificate", 5
MALFORMED = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    ZeroDivisionError,
    AssertionError,
)


def decided(path: str) -> tuple[int, list[str]]:
    """The exit code for one file, and what is to be printed."""
    try:
        with document.limits():
            certificate = document.read(path)
            document.usable(certificate.get("schema") == SCHEMA, f"its schema is not {SCHEMA!r}")
            document.usable(
                certificate.get("version") == VERSION, f"its version is not {VERSION}; write it again with this uat_jax"
            )
            claim = certificate.get("claim")
            document.usable(isinstance(claim, dict), "it has no claim")
            of_the_papers = "printed" in claim  # type: ignore[operator]
            return 0, ["checked", *(claims.check(certificate) if of_the_papers else pairs.check(certificate).lines)]
    except Unusable as error:
        return 2, [f"unusable: {error}"]
    except Refused as error:
        return 1, [f"refused: {error}"]
    except NotDecided as error:
        return 1, [f"not decided: {error}"]
    except MALFORMED as error:
        return 2, [f"unusable: it is not what uat_jax writes ({type(error).__name__})"]


def main(arguments: list[str] | None = None) -> int:
    """The command: 0 if all files are checked, 1 if one is refused or not decided, 2 if one is unusable."""
    paths = sys.argv[1:] if arguments is None else arguments
    if not paths or paths[0] in ("-h", "--help"):
        print("usage: uat-jax-check FILE ...    decides certificates of uat_jax again, sharing no code with it")
        return 0 if paths else 2
    worst = 0
    for path in paths:
        code, lines = decided(path)
        print(f"{path}: {lines[0]}", *(f"  {line}" for line in lines[1:]), sep="\n", flush=True)
        worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main())
