"""All that is checked before a release: ``nox`` runs every session, ``nox -s package`` one, ``nox -l`` lists them.

A Python that is not installed is skipped with a line that says so; ``nox --error-on-missing-interpreters`` fails.
"""

import tarfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.reuse_existing_virtualenvs = True

OLDEST, NEWEST = "0.10", "0.12"
"""The versions of JAX that pyproject.toml allows; the newest one needs Python 3.12."""

VERSIONS = [("3.11", OLDEST), ("3.12", OLDEST), ("3.12", NEWEST), ("3.13", NEWEST), ("3.14", NEWEST)]
MINIMUM = "constraints/minimum.txt"
EXAMPLE = ["certify", "jax.numpy:matmul", "jax.numpy:dot", "--arg", "f32[n,m]", "--arg", "f32[m,k]"]


@nox.session
@nox.parametrize("python,jax", VERSIONS)
def tests(session: nox.Session, jax: str) -> None:
    """The suite, with the oldest and the newest allowed JAX on every Python; arguments go to pytest."""
    session.install(".[test]", f"jax=={jax}.*", f"jaxlib=={jax}.*")
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def minimum(session: nox.Session) -> None:
    """The suite, with the oldest allowed version of everything that is imported."""
    session.install("--constraint", MINIMUM, ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python="3.12")
def lint(session: nox.Session) -> None:
    """What ruff finds, in the code and in its layout."""
    session.install(".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python="3.11")
def types(session: nox.Session) -> None:
    """What type checkers say of the package, and of a user's file, with the oldest allowed JAX.

    Newer ones have other types for the same values: `jax.extend.core` of JAX 0.12 marks what it exports as private.
    """
    session.install(".[test,lint]", f"jax=={OLDEST}.*", f"jaxlib=={OLDEST}.*")
    session.run("pyright")
    session.chdir("tests")  # where a user's file finds the package that is installed, and not this folder's
    session.run("mypy", "--strict", "--allow-untyped-calls", "test_types.py")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def package(session: nox.Session) -> None:
    """The archives that are published: valid metadata, and a wheel and an sdist that work without the repository."""
    session.install("build", "twine")
    folder = Path(session.create_tmp()).resolve()
    session.run("python", "-m", "build", "--outdir", str(folder), silent=True)
    wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    session.run("twine", "check", "--strict", str(wheel), str(sdist))
    session.install("--force-reinstall", f"{wheel}[test]")
    session.chdir(folder)
    session.run("uat-jax", "--version")
    session.run("uat-jax", *EXAMPLE)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    session.chdir(folder / sdist.name.removesuffix(".tar.gz"))
    session.run("pytest", "tests/test_cli_certify.py", "tests/test_kinds_of_functions.py", "tests/test_types.py")


@nox.session(python="3.12")
def start(session: nox.Session) -> None:
    """How long imports and commands take beside JAX's own start."""
    session.install(".")
    session.run("python", "benchmarks/start.py")
