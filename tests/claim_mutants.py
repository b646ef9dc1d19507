"""Mutants of the claim modules: one sign, index, constant, term or step changed, made from the syntax tree.

    PYTHONPATH=. python tests/claim_mutants.py --every 4 [attention/density.py …] > records.jsonl

decides the rows of each mutated module, and of the modules that use it (no name: of all modules), writes one line of
JSON for each mutant, and prints a table of who notices them, with what nobody notices and the reason that
`unnoticed_mutants` has for it; "open" has none.  A mutant is noticed by a row if that row then fails to pass, cannot
be decided or does not end; by the document of statements if every row passes, but one of them decides something else
than `docs/statements.md` says; and by the checker if a certificate then states something else, and `uat-jax-check`
does not accept that, or it is no longer what stands in `docs/certificates`.

    PYTHONPATH=. python tests/claim_mutants.py --read records.jsonl …

prints the table of what was decided earlier.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import jax
from claim_statements import SYMBOLIC, decided_with_certificate, without_confirmation
from unnoticed_mutants import reason

import uat_jax.ledger.ledger  # noqa: F401  (imports every claim module)
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.settings import Settings
from uat_jax.ledger.claim import Claim
from uat_jax.networks import digits
from uat_jax.symbolic.layers import KINDS
from uat_jax_check import claims as checker
from uat_jax_check.document import NotDecided, Refused

PACKAGE = "uat_jax.ledger"
FOLDER = Path(import_module(PACKAGE).__file__ or "").parent
FLOATS = Settings(dtypes=("float32",), depth=2, trials=2)
"""What is looked at once nothing in symbols has noticed a mutant: second opinions, and evidence in floats."""
OWN = [replace(FLOATS, weights=str(Path(digits.__file__).parent / f"data/digits_{kind}.npz")) for kind in KINDS]
"""And a network that the user gives, where a file reads one."""
PATIENCE = 30
"""Seconds of the processor after which a row counts as one that does not end."""

NOTHING_TO_MUTATE = ("ledger", "parallel", "record", "source", "chapter", "claim", "edit", "quotes", "__init__")
"""Files that state nothing of the papers."""

# --- changes of one node ---------------------------------------------------------------------------------------------

CITATIONS = ("v1", "v2", "duat", "Source", "Record", "TypeVar")
"""Calls that say where something is printed, or what is listed only: nothing in them is decided."""

OTHER_NAMES = {
    "i": "j", "j": "i", "k": "j", "N": "M", "M": "N", "W1": "W2", "W2": "W1", "W3": "W2", "b2": "b3", "b3": "b2",
}  # fmt: skip
"""A name → the one put in its place, where the module defines both."""
OTHER_PARAMETERS = {"A": "B", "B": "A", "C": "B", "b": "c", "c": "b", "W1": "W3", "W2": "W1", "W3": "W1", "b3": "b2"}
"""A parameter of a layer → another one."""
OPERATIONS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Pow: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
WRITTEN = (
    "sources", "otherwise", "hypotheses", "title", "reading", "printed", "what", "names", "ledger", "read", "at",
    "dtype",
)  # fmt: skip
"""Keywords of what is only written down."""
GUARDS = ("strict",)
"""Keywords that stop a program that is wrong, as `assert` does."""
TYPES = ("tuple", "list", "dict", "Callable", "Iterator", "Mapping")
ASSUMED = ("integer", "positive", "nonnegative", "real", "nonzero", "frozen", "ours")
"""What symbols are declared to be, and marks."""
SUMS = ("Addition", "Product", "Add")
"""Calls whose operands are terms."""


def changes(node: ast.AST, names: set[str]) -> Iterator[tuple[str, ast.AST]]:
    """(kind, what this one node may be replaced by); ``names`` are those the module defines."""
    match node:
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield "constant", ast.Constant(value + 1)
            if value > 1:
                yield "constant", ast.Constant(value - 1)
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in OPERATIONS:
                yield "sign", ast.BinOp(left, OPERATIONS[type(op)](), right)
            if isinstance(op, ast.Add | ast.Sub | ast.MatMult | ast.Mult):
                yield "dropped term", left
                yield "dropped term", right
            if isinstance(op, ast.MatMult):
                yield "order", ast.BinOp(right, op, left)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign", operand
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in COMPARISONS:
            yield "comparison", ast.Compare(left, [COMPARISONS[type(op)]()], right)
        case ast.BoolOp(values=values):
            yield from (("dropped term", value) for value in values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "cases", ast.IfExp(test, orelse, body)
        case ast.Call(func=ast.Attribute(attr="Transposed"), args=[inner]):
            yield "transpose", inner
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name in SUMS and len(args) > 1:
            for n in range(len(args)):
                yield "dropped term", _with(node, "args", [*args[:n], *args[n + 1 :]])
        case ast.Attribute(value=value, attr="T", ctx=ast.Load()):
            yield "transpose", value
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in OTHER_PARAMETERS:
            yield "index", _with(node, "attr", OTHER_PARAMETERS[name])
        case ast.Name(id=name, ctx=ast.Load()) if OTHER_NAMES.get(name) in names:
            yield "index", ast.Name(OTHER_NAMES[name], ast.Load())
        case ast.List(elts=items, ctx=ast.Load()) | ast.Tuple(elts=items, ctx=ast.Load()) if len(items) > 1:
            for n in range(len(items)):
                yield "dropped term", _with(node, "elts", [*items[:n], *items[n + 1 :]])
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            yield "step", ast.Expr(ast.YieldFrom(ast.Tuple([], ast.Load())))


def _with(node: ast.AST, field: str, value: Any) -> ast.AST:
    changed = copy.copy(node)
    setattr(changed, field, value)
    return changed


# --- where a change can stand ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One change of a file: ``scope`` is the function it stands in, with its line; "" is the module itself."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    scope: tuple[str, int]
    source: str
    """The line of the file in which the changed node begins."""
    nth: int
    """Its number among the mutants of the file."""


def mutants(file: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """All mutants of a file below `uat_jax/ledger`, each with its syntax tree."""
    text = (FOLDER / file).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), ["", *map(str.strip, text.splitlines())]
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names}
    for nth, (path, kind, before, after, scope) in enumerate(_places(tree, names)):
        line = getattr(before, "lineno", 0)
        change = Mutant(file, line, kind, _short(before), _short(after), scope, lines[line], nth)
        yield change, _replaced(tree, path, before, after)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 160 else f"{text[:100]} … {text[-50:]}"


Path_ = tuple[tuple[str, int | None], ...]


def _places(tree: ast.Module, names: set[str]) -> Iterator[tuple[Path_, str, ast.AST, ast.AST, tuple[str, int]]]:
    def walk(node: ast.AST, path: Path_, scope: tuple[str, int]) -> Iterator[Any]:
        if _decides_nothing(node):
            return
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            scope = _scope(node)
        for kind, after in changes(node, names):
            yield path, kind, node, after, scope
        for slot, value in ast.iter_fields(node):
            if slot in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
                continue  # types, and the names of arguments
            if isinstance(value, ast.AST):
                yield from walk(value, (*path, (slot, None)), scope)
            elif isinstance(value, list):
                for n, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from walk(item, (*path, (slot, n)), scope)

    yield from walk(tree, (), ("", 0))


def _decides_nothing(node: ast.AST) -> bool:
    """Citations, docstrings and text, types, imports, and what is only written down: titles, readings, shown names."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in CITATIONS:
            return True
        case ast.Tuple(elts=[*items]) if items and (all(map(_is_citation, items)) or any(map(_is_prose, items))):
            return True
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Raise():
            return True
        case ast.keyword(arg=arg):
            return arg in (*WRITTEN, *GUARDS, *ASSUMED)
        case ast.Subscript(value=ast.Name(id=name)) if name in TYPES:
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in ("at", "names", "what", "RECORDS", "_RECORDS") or name.endswith(("SOURCES", "LATEX"))
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id="at" | "what"), *_])]):
            return True
    return False


def _is_citation(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in CITATIONS:
            return True
        case ast.Starred(value=ast.Name(id=name)) | ast.Name(id=name):
            return name.startswith("_") and name.upper() == name
    return False


def _is_prose(node: ast.AST) -> bool:
    """A sentence, such as a hypothesis."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 3


def _replaced(tree: ast.Module, path: Path_, before: ast.AST, after: ast.AST) -> ast.Module:
    """A copy of the tree with another node at the path; only what stands above it is copied."""
    if not hasattr(after, "lineno"):
        ast.copy_location(after, before)
    root = copy.copy(tree)
    parent: Any = root
    for slot, n in path[:-1]:
        child = copy.copy(getattr(parent, slot) if n is None else getattr(parent, slot)[n])
        _put(parent, slot, n, child)
        parent = child
    _put(parent, *path[-1], ast.fix_missing_locations(after))
    return root


def _put(parent: Any, slot: str, n: int | None, child: ast.AST) -> None:
    if n is None:
        setattr(parent, slot, child)
    else:
        items = getattr(parent, slot)
        setattr(parent, slot, [*items[:n], child, *items[n + 1 :]])


# --- the modules -----------------------------------------------------------------------------------------------------


@cache
def files() -> tuple[str, ...]:
    """The files that state or decide something: those that the ledger imports, directly or through others."""
    found = ["ledger.py"]
    for file in found:
        found += sorted(_imported(file) - set(found))
    return tuple(sorted(f for f in found if Path(f).stem not in NOTHING_TO_MUTATE))


@cache
def _all_files() -> tuple[str, ...]:
    return tuple(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py"))


def module_name(file: str) -> str:
    """The name under which a file is imported."""
    return f"{PACKAGE}.{file.removesuffix('.py').replace('/', '.')}"


@cache
def users(file: str) -> tuple[str, ...]:
    """The files that import from a file, directly or through others, each after those it imports."""
    imports = {f: _imported(f) for f in files()}
    found = [file]
    while more := [f for f in files() if f not in found and imports[f] & set(found)]:
        found += [f for f in more if not imports[f] & set(more)] or more
    return tuple(found[1:])


@cache
def _imported(file: str) -> set[str]:
    tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {f for f in _all_files() if module_name(f) in names}


def load(tree: ast.Module, file: str, also: Mapping[str, Any] | None = None) -> dict[str, ModuleType]:
    """The mutated module and those that use it, executed again; they are in `sys.modules` while they are.

    ``also``: what the mutated module knows besides what it defines.
    """
    loaded: dict[str, ModuleType] = {}
    for name in (file, *users(file)):
        source = tree if name == file else _parsed(name)
        module = ModuleType(module_name(name))
        module.__file__ = str(FOLDER / name)
        module.__dict__.update(also or {} if name == file else {})
        loaded[module.__name__] = module
        parent, _, short = module.__name__.rpartition(".")
        with loaded_instead(loaded), _attributes(loaded):
            exec(compile(source, module.__file__, "exec"), module.__dict__)
    return loaded


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse((FOLDER / file).read_text(encoding="utf-8"))


@contextmanager
def loaded_instead(loaded: Mapping[str, ModuleType]) -> Iterator[None]:
    """`sys.modules` with these modules for a while; others that are imported meanwhile stay."""
    before = {name: sys.modules[name] for name in loaded}
    sys.modules.update(loaded)
    try:
        yield
    finally:
        sys.modules.update(before)


@contextmanager
def _attributes(loaded: dict[str, ModuleType]) -> Iterator[None]:
    """`from uat_jax.ledger import names` looks at the attribute of the package."""
    with ExitStack() as stack:
        for name, module in loaded.items():
            parent, _, short = name.rpartition(".")
            stack.enter_context(mock.patch.object(sys.modules[parent], short, module))
        yield


def rows(loaded: Iterable[ModuleType]) -> dict[str, Claim]:
    """The rows of these modules, those of the first one first."""
    found = {claim.id: claim for module in loaded for claim in getattr(module, "CLAIMS", ())}
    chapters = [chapter for module in loaded for chapter in getattr(module, "CHAPTERS", ())]
    return found | {claim.id: claim for chapter in chapters for claim in chapter.claims}


# --- deciding them ---------------------------------------------------------------------------------------------------


class EndlessError(Exception):
    """A row took longer than anybody waits."""


@contextmanager
def patience(seconds: int = PATIENCE) -> Iterator[None]:
    """`EndlessError` after so many seconds of the processor: a busy machine notices nothing."""

    def stop(*_: Any) -> None:
        raise EndlessError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class _Noting(ast.NodeTransformer):
    """Every function of a module notes by name and line that it is entered, as the first thing that it does."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        after_docstring = int(ast.get_docstring(node) is not None)
        node.body.insert(after_docstring, ast.Expr(_note(node)))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = ast.IfExp(_note(node), node.body, ast.Constant(None))
        return node


NOTE = "_note_entered_"
"""The name under which a module knows what notes its functions; it returns true."""


def _note(function: ast.FunctionDef | ast.Lambda) -> ast.expr:
    return ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(part) for part in _scope(function)], [])


def _scope(function: ast.FunctionDef | ast.Lambda) -> tuple[str, int]:
    """The name of a function, and the line in which it begins."""
    first = min([function.lineno, *(d.lineno for d in getattr(function, "decorator_list", ()))])
    return getattr(function, "name", "<lambda>"), first


def noting(file: str) -> ast.Module:
    """The tree of a file whose functions note that they are entered."""
    tree = _Noting().visit(copy.deepcopy(_parsed(file)))
    return ast.fix_missing_locations(tree)


@dataclass
class Baseline:
    """What the unchanged rows decide, and which functions of the file each of them enters; "" is the import."""

    file: str
    settings: Settings = SYMBOLIC
    context: Callable[[], Any] = without_confirmation
    statements: dict[str, list[str]] = field(default_factory=dict)
    enters: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    certificates: dict[str, tuple[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entered: set[tuple[str, int]] = set()

        def note(name: str, line: int) -> bool:
            entered.add((name, line))
            return True

        loaded = load(noting(self.file), self.file, {NOTE: note})
        self.enters[""] = set(entered)
        with self.context(), loaded_instead(loaded):
            for name, claim in rows(loaded.values()).items():
                entered.clear()
                self.statements[name], certificate = decided_with_certificate(claim, self.settings)
                self.certificates[name] = checked(certificate)
                self.enters[name] = set(entered)

    def concerned(self, mutant: Mutant) -> list[str]:
        """The rows that may notice a mutant: those that enter its function, or all if the import does."""
        if mutant.scope == ("", 0) or mutant.scope in self.enters[""]:
            return list(self.statements)
        return [name for name in self.statements if mutant.scope in self.enters[name]]

    @cached_property
    def others(self) -> list[Baseline]:
        """The same rows with second opinions and floats."""
        reads_weights = "settings.weights" in (FOLDER / self.file).read_text(encoding="utf-8")
        return [Baseline(self.file, of, nullcontext) for of in (FLOATS, *(OWN if reads_weights else ()))]


COMMITTED = frozenset(path.stem for path in (Path(__file__).parent.parent / "docs" / "certificates").glob("*.json"))
"""The rows whose certificates are in the repository."""


def checked(certificate: Certificate) -> tuple[str, Any]:
    """What the checker says of the certificate of a row, in a word, and what is stated in it."""
    body = json.loads(certificate.to_json())
    stated = [e["statements"] for e in body["evidence"]]
    try:
        checker.check(body)
    except Exception as error:
        word = {Refused: "refused", NotDecided: "not decided"}.get(type(error), "unusable")
        return word, stated
    return "checked", stated


ROW, DOCUMENT, CHECKER, NOBODY, STILLBORN = "a row", "the document", "the checker", "nobody", "stillborn"
"""Who notices a mutant; a stillborn one is no program: it states nothing, and does not count."""
BROKEN = (NameError, AttributeError, UnboundLocalError)


def noticed(mutant: Mutant, tree: ast.Module, of: Baseline) -> tuple[str, str]:
    """(who notices it, how): what confirms a proof may notice what the proof does not."""
    found = _looked_at(mutant, tree, of)
    if found[0] != NOBODY:
        return found
    return next((seen for other in of.others if (seen := _looked_at(mutant, tree, other))[0] != NOBODY), found)


def _looked_at(mutant: Mutant, tree: ast.Module, of: Baseline) -> tuple[str, str]:
    names = of.concerned(mutant)
    other, stated = "", ""
    try:
        with patience(), of.context():
            loaded = load(tree, mutant.file)
        found = rows(loaded.values())
        if set(found) != set(of.statements):
            return ROW, "a row is missing"
        with of.context(), loaded_instead(loaded):
            certificates = {}
            for name in names:
                with patience():
                    lines, certificates[name] = decided_with_certificate(found[name], of.settings)
                    if lines != of.statements[name]:
                        other = other or name
            for name in () if other else names:
                with patience():
                    word, statements = checked(certificates[name])
                    before = of.certificates[name]
                if word != before[0] or statements != before[1] and name in COMMITTED:
                    stated = stated or f"{name}: {word}"
    except EndlessError:
        return ROW, "does not end"
    except Exception as error:
        if isinstance(error, BROKEN) or "to unpack" in str(error):
            return STILLBORN, f"{type(error).__name__}: {str(error)[:120]}"
        return ROW, f"{type(error).__name__}: {str(error)[:120]}"
    if stated:
        return CHECKER, stated
    return (DOCUMENT, other) if other else (NOBODY, "" if names else "no row enters it")


def campaign(file: str, every: int = 1) -> Iterator[dict[str, Any]]:
    """One record for each mutant of a file."""
    of = Baseline(file)
    for mutant, tree in mutants(file):
        if mutant.nth % every == 0:
            who, how = noticed(mutant, tree, of)
            yield {**asdict(mutant), "noticed_by": who, "how": how}


# --- the table -------------------------------------------------------------------------------------------------------

LISTED, OPEN = "listed", "open"
"""What nobody notices, with a reason in `unnoticed_mutants`, and without one."""
COLUMNS = (ROW, DOCUMENT, CHECKER, LISTED, OPEN)


def outcome(record: Mapping[str, Any]) -> str:
    """One of the columns of the table, or `STILLBORN`."""
    if record["noticed_by"] != NOBODY:
        return record["noticed_by"]
    return LISTED if reason(record) else OPEN


def table(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the table: one for each file and the sum, and below them each survivor with its reason."""
    records = list(records)
    per_file: dict[str, Counter[str]] = {}
    for record in records:
        per_file.setdefault(record["file"], Counter())[outcome(record)] += 1
    per_file["all"] = sum(per_file.values(), Counter())
    yield f"{'':36}{'made':>8}{'stillborn':>14}" + "".join(f"{column:>14}" for column in COLUMNS)
    for file, here in per_file.items():
        made = here.total() - here[STILLBORN]
        yield f"{file:36}{made:>8}{here[STILLBORN]:>14}" + "".join(f"{here[column]:>14}" for column in COLUMNS)
    total = per_file["all"]
    made, survivors = total.total() - total[STILLBORN], total[LISTED] + total[OPEN]
    yield f"{survivors} of {made} survive: {100 * survivors / max(made, 1):.1f} %"
    yield from (f"{told(record)}: {reason(record)}" for record in records if outcome(record) == LISTED)
    yield from (f"open: {told(record)}" for record in records if outcome(record) == OPEN)


def told(record: Mapping[str, Any]) -> str:
    """One mutant in one line."""
    return (
        f"{record['file']}:{record['line']} [{record['scope'][0]}] {record['kind']}: "
        f"{record['before']} → {record['after']}"
    )


def main() -> None:
    """Print one line of JSON for each mutant, and the table."""
    parser = argparse.ArgumentParser(description="Which mutants of the claim modules nothing notices.")
    parser.add_argument("--every", type=int, default=1, help="take one mutant in so many")
    parser.add_argument("--read", action="store_true", help="the files are records of earlier campaigns")
    parser.add_argument("files", nargs="*", help="below uat_jax/ledger; all if none is given")
    asked = parser.parse_args()
    jax.config.update("jax_numpy_dtype_promotion", "strict")  # as in the tests
    jax.config.update("jax_numpy_rank_promotion", "raise")
    if asked.read:
        records = [json.loads(line) for file in asked.files for line in Path(file).read_text("utf-8").splitlines()]
        print(*table(records), sep="\n")
        return
    records, begun = [], time.monotonic()
    for file in asked.files or files():
        for record in campaign(file, asked.every):
            records.append(record)
            print(json.dumps(record, ensure_ascii=False), flush=True)
    print(*table(records), f"{time.monotonic() - begun:.0f} seconds", sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
