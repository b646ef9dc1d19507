"""The pytest plugin: a fixture that compares two functions, options for all comparisons of a run, and a report of them.

    def test_my_softmax(equivalent):
        equivalent(my_softmax, jax.nn.softmax, jax.ShapeDtypeStruct((5,), jnp.float32))

It is found by pytest wherever uat_jax is installed, imports JAX only when the fixture is used, and says nothing unless
it is asked to.  Each of the workers of pytest-xdist writes the certificates of its own tests; the page is written once.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pytest

if TYPE_CHECKING:
    from uat_jax.decide.certificate import Certificate
    from uat_jax.decide.settings import EquivalenceSettings
    from uat_jax.typing import PyTree

MARK = "uat"

PROPERTY = "uat_jax"
"""The name under which the report of a test carries what was compared in it, from the workers to the one who writes."""

SETTINGS = {
    "budget": (float, "seconds for each comparison, after which it is UNKNOWN and fails (default 120)"),
    "error": (float, "the largest chance of a wrong CERTIFIED (default 2^-128)"),
    "seed": (int, "seed of all random numbers (default 0)"),
}
"""Settings of every comparison of a run: their types, and what they are."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """--uat-budget, --uat-error, --uat-seed and --uat-report, and the same names with a line below in the ini file."""
    group = parser.getgroup("uat_jax", "equivalence of JAX functions")
    for name, (kind, text) in SETTINGS.items():
        group.addoption(f"--uat-{name}", type=kind, metavar=name.upper(), help=text)
        parser.addini(f"uat_{name}", text)
    group.addoption(
        "--uat-update", action="store_true", help="write the snapshots of `unchanged` that are missing or old"
    )
    text = "write the certificate of every comparison into this folder with a page about it; index.html lists them"
    group.addoption("--uat-report", metavar="DIR", help=text)
    parser.addini("uat_report", text)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options, and prepare the report if one is asked for."""
    config.addinivalue_line("markers", f"{MARK}(**settings): settings of `equivalent` in this test, such as budget=10")
    config.stash[SETTINGS_OF_RUN] = {name: value for name in SETTINGS if (value := _option(config, name)) is not None}
    folder = config.getoption("--uat-report") or config.getini("uat_report")
    if not folder:
        return
    path = Path(config.rootpath, folder)
    if path.exists() and not path.is_dir():
        raise pytest.UsageError(f"--uat-report: got {folder}, which is a file; wanted a folder, or a new name for one")
    config.stash[FOLDER] = path
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(path), "uat_jax report")


SETTINGS_OF_RUN = pytest.StashKey[dict[str, Any]]()
FOLDER = pytest.StashKey[Path]()


def _option(config: pytest.Config, name: str) -> float | int | None:
    """A setting of the command line, or else of the ini file.  Raises `pytest.UsageError` for one out of range."""
    kind, _ = SETTINGS[name]
    value = config.getoption(f"--uat-{name}")
    if value is None:
        text = str(config.getini(f"uat_{name}") or "")
        try:
            value = kind(text) if text else None
        except ValueError:
            raise pytest.UsageError(f"uat_{name}: got {text!r}; wanted {SETTINGS[name][1]}") from None
    if value is not None and name != "seed" and not (value > 0 and not math.isnan(value)):
        raise pytest.UsageError(f"--uat-{name}: got {value}; wanted a number above 0: {SETTINGS[name][1]}")
    return value


@pytest.fixture
def equivalent(request: pytest.FixtureRequest) -> Equivalent:
    """Compare two functions: `equivalent(f, g, *specs, **settings)` fails unless they are PROVED or CERTIFIED equal."""
    return Equivalent(request)


@pytest.fixture
def unchanged(request: pytest.FixtureRequest, equivalent: Equivalent) -> Unchanged:
    """Compare a function with its snapshot: `unchanged(f, *specs)` fails if it computes something else than it did."""
    return Unchanged(request, equivalent)


class Equivalent:
    """What the fixture `equivalent` gives to a test."""

    def __init__(self, request: pytest.FixtureRequest):
        self.node, self.count = request.node, 0
        of_run = request.config.stash.get(SETTINGS_OF_RUN, {})
        marks = [_settings(mark) for mark in self.node.iter_markers(MARK)][::-1]  # the nearest one last
        self.settings: dict[str, Any] = {name: value for given in (of_run, *marks) for name, value in given.items()}
        self.folder = request.config.stash.get(FOLDER, None)

    def __call__(
        self,
        left: Any,
        right: Any,
        *specs: PyTree,
        **settings: Unpack[EquivalenceSettings],
    ) -> Certificate:
        """Pass if two functions are PROVED or CERTIFIED equal, and their floats do what is asked.

        Args:
            left, right, *specs: as for `uat_jax.certify`.
            **settings: of `uat_jax.certify`, and rounding and hazards as for `uat_jax.assert_equivalent`.  They go
                before those of the test's marks, and these before those of the run.

        Returns:
            The certificate.

        Raises:
            NotEquivalentError: an AssertionError whose text is the verdict, the reason, the input, the lines at which
                both functions part, and a program that shows the difference.
            InputError: a setting that is out of range.

        Example:
            def test_attention(equivalent):
                equivalent(attention, streaming, *specs, budget=30)
        """
        __tracebackhide__ = True
        from uat_jax.decide.demands import Demands
        from uat_jax.decide.description import describe, headline
        from uat_jax.decide.equivalence import BUDGET, certify
        from uat_jax.errors import NotEquivalentError, UatJaxError

        chosen: dict[str, Any] = {"budget": BUDGET, **self.settings, **settings}
        try:
            demands = Demands(chosen.pop("rounding", None), chosen.pop("hazards", "warn"))
            certificate = certify(left, right, *specs, **_known(chosen))
        except UatJaxError as unusable:
            raise unusable.alone() from None  # the test's own line is shown, and not ours or JAX's
        self._keep(certificate)
        if not certificate.passes:
            raise NotEquivalentError(describe(certificate), certificate)
        demands.check(certificate, headline(certificate))
        return certificate

    def _keep(self, certificate: Certificate) -> None:
        """Write the certificate into the folder of the report, and tell the report of it."""
        from uat_jax.decide.certificate import write_atomically
        from uat_jax.decide.description import partings
        from uat_jax.report.certificate_page import certificate_page

        if self.folder is None:
            return
        self.count += 1
        findings = [evidence.finding for evidence in certificate.evidence]
        findings += partings(certificate)
        claim, name = certificate.claim, f"{_file_name(self.node.nodeid)}-{self.count}"
        self.folder.mkdir(parents=True, exist_ok=True)
        certificate.save(self.folder / f"{name}.json")
        links = [("all comparisons", "index.html"), ("JSON", f"{name}.json")]
        write_atomically(self.folder / f"{name}.html", certificate_page(certificate, links))
        compared = {
            "test": self.node.nodeid,
            "verdict": str(certificate.verdict),
            "functions": f"{claim['left']} and {claim['right']}",
            "finding": "; ".join(findings),
            "hazards": str(len(certificate.hazards)),
            "file": f"{name}.json",
            "page": f"{name}.html",
        }
        self.node.user_properties.append((PROPERTY, compared))


class Unchanged:
    """What the fixture `unchanged` gives to a test."""

    def __init__(self, request: pytest.FixtureRequest, equivalent: Equivalent):
        self.equivalent, self.count = equivalent, 0
        self.update = request.config.getoption("--uat-update")
        self.folder = request.node.path.parent / "snapshots"
        test = request.node.nodeid.partition("::")[2]  # with its class: two of them may have tests of one name
        self.name = f"{request.node.path.stem}.{_file_name(test)}"

    def __call__(self, function: Any, *specs: PyTree, **settings: Unpack[EquivalenceSettings]) -> Certificate | None:
        """Pass if a function is PROVED or CERTIFIED to compute what its snapshot says.

        The snapshot lies beside the test, in the folder snapshots.  `pytest --uat-update` writes it if there is none,
        or if it is of another program; without that nothing is written.  A refactoring passes, a change of meaning
        fails with an input, and so does a new version of a library that changes what the function computes.

        Args:
            function, *specs: as for `uat_jax.certify`; dimensions are numbers.
            **settings: as for the fixture `equivalent`.

        Returns:
            The certificate; None if the snapshot was written.

        Raises:
            NotEquivalentError: the function computes something else, or that is not known.
            InputError: there is no snapshot, it is damaged, or was taken with other arguments.

        Example:
            def test_forward(unchanged):
                unchanged(forward, weights, tokens)
        """
        __tracebackhide__ = True
        from uat_jax.decide.certificate import write_atomically
        from uat_jax.decide.specification import snapshot_of
        from uat_jax.errors import InputError, NotEquivalentError, UatJaxError
        from uat_jax.inputs.functions import SNAPSHOT
        from uat_jax.inputs.snapshot import read_snapshot

        if {**self.equivalent.settings, **settings}.get("wrt") is not None:
            raise InputError(
                "got wrt for a snapshot, which keeps no rules of derivatives; pass jax.grad of the function"
            )
        self.count += 1
        path = self.folder / f"{self.name}{'' if self.count == 1 else f'-{self.count}'}{SNAPSHOT}"
        if not self.update and not path.is_file():
            raise InputError(f"there is no snapshot {path.name}; run pytest --uat-update to take it")
        try:
            if not self.update:
                return self.equivalent(read_snapshot(path), function, *specs, **settings)
            text = snapshot_of(function, specs)
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                write_atomically(path, text)
            return None
        except NotEquivalentError as error:
            text = f"{error}\n\n{path.name} says otherwise; if the change is meant, run pytest --uat-update"
            raise NotEquivalentError(text, error.certificate) from None
        except UatJaxError as unusable:
            raise unusable.alone() from None


def _settings(mark: pytest.Mark) -> dict[str, Any]:
    """The settings of a mark.  Raises `pytest.UsageError` if they have no names."""
    if mark.args:
        given = ", ".join(map(repr, mark.args))
        raise pytest.UsageError(f"got {MARK}({given}); wanted settings by name, such as {MARK}(budget=10)")
    return dict(mark.kwargs)


def _known(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of `certify`.  Raises `InputError` for one that there is not, from a test or its marks."""
    from uat_jax.decide.settings import CertifySettings, EquivalenceSettings
    from uat_jax.errors import InputError

    unknown = next((name for name in settings if name not in CertifySettings.__annotations__), None)
    if unknown is not None:
        known = EquivalenceSettings.__annotations__
        near = difflib.get_close_matches(unknown, known, n=1)
        wanted = f"did you mean {near[0]}?" if near else f"wanted one of {', '.join(known)}"
        raise InputError(f"got the setting {unknown!r}; {wanted}")
    return settings


def _file_name(test: str) -> str:
    """A name for a test that every file system takes, and no other test of the same file, or of the run, has."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", test)[-100:]
    digest = hashlib.blake2b(test.encode(), digest_size=4).hexdigest()
    return plain if plain == test else f"{plain}-{digest}"


class Report:
    """Gathers what was compared in all tests, and writes the page."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.compared: list[Mapping[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a finished test has compared, whichever worker it ran on."""
        if report.when == "teardown":
            self.compared += [found for name, found in report.user_properties if name == PROPERTY]  # type: ignore[misc]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the page, and say where it is."""
        from uat_jax.decide.certificate import write_atomically
        from uat_jax.report.comparisons import page

        self.folder.mkdir(parents=True, exist_ok=True)
        path = write_atomically(self.folder / "index.html", page(sorted(self.compared, key=lambda c: c["file"])))
        terminalreporter.write_line(f"uat_jax: {len(self.compared)} comparisons are reported in {path}")
