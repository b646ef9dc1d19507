"""Rows of the tables as questions for `certify`, their answers, and the table that a campaign prints."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from rich.table import Table

from uat_jax import UatJaxError, Verdict, certify

from .libraries import as_libraries_are
from .row import Row

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)


@dataclass(frozen=True)
class Question:
    """The left side of a row against its right side, or against a mistake.

    Attributes:
        name: the row, with the mistake behind it, and "gradient" where gradients are compared as well.
        true: whether the two functions are equal.
    """

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    specs: tuple[Any, ...]
    true: bool
    wrt: str | None = None
    almost_everywhere: bool = False


@dataclass(frozen=True)
class Answer:
    """What `certify` said (None: it raised what is no `UatJaxError`), its seconds after tracing, and the finding.

    Seconds are those of the processor, which other work on the machine does not lengthen.
    """

    question: Question
    verdict: Verdict | None
    seconds: float
    message: str

    @property
    def right(self) -> bool:
        """Whether the question is decided, as it is."""
        return self.verdict in (PASSING if self.question.true else (Verdict.REFUTED,))

    @property
    def wrong(self) -> bool:
        """Whether the question is decided as it is not."""
        return self.verdict in ((Verdict.REFUTED,) if self.question.true else PASSING)


def questions(rows: Iterable[Row]) -> Iterator[Question]:
    """Each row as a true question and one for each mistake; where gradients count, the same once more with them."""
    for row in rows:
        for wrt, suffix in ((None, ""), ("grad", ": gradient")) if row.gradient else ((None, ""),):
            rest = (wrt, row.almost_everywhere and wrt is not None)
            yield Question(row.name + suffix, row.left, row.right, row.specs, True, *rest)
            for mistake, function in row.wrong.items():
                yield Question(f"{row.name}{suffix} ≠ {mistake}", row.left, function, row.specs, False, *rest)


def answer(question: Question, budget: float) -> Answer:
    """The verdict on a question within some seconds."""
    with as_libraries_are():
        plain = jax.tree.map(lambda spec: jax.ShapeDtypeStruct(spec.shape, spec.dtype), question.specs)
        start = time.process_time()
        for function in (question.left, question.right):
            jax.make_jaxpr(function)(*plain)
        traced = time.process_time()
        options = {"wrt": question.wrt, "almost_everywhere": question.almost_everywhere, "budget": budget}
        try:
            certificate = certify(question.left, question.right, *question.specs, **options)
        except UatJaxError as refused:
            return Answer(question, Verdict.UNKNOWN, time.process_time() - traced, str(refused))
        except Exception as error:  # what certify must not do is a line of the table, not its end
            return Answer(question, None, time.process_time() - traced, f"{type(error).__name__}: {error}")
        seconds = max(0.0, time.process_time() - traced - (traced - start))
    return Answer(question, certificate.verdict, seconds, "; ".join(e.finding for e in certificate.evidence))


def summary(title: str, answers: Sequence[Answer]) -> list[str]:
    """A line of the table: the true questions by verdict, the wrong ones, those decided wrongly, and seconds."""
    true, wrong = ([a for a in answers if a.question.true is which] for which in (True, False))
    count = lambda some, *verdicts: str(sum(a.verdict in verdicts for a in some))
    seconds = [a.seconds for a in true]
    quantiles = (statistics.median(seconds), statistics.quantiles(seconds, n=10)[-1]) if len(true) > 1 else seconds * 2
    return [
        title,
        str(len(true)),
        count(true, *PASSING),
        count(true, Verdict.AGREES),
        count(true, Verdict.UNKNOWN),
        str(len(wrong)),
        count(wrong, Verdict.REFUTED),
        str(sum(a.wrong for a in answers)),
        str(sum(a.verdict is None for a in answers)),
        *(f"{x:.2f}" for x in quantiles),
    ]


def table_of(answers: dict[str, Sequence[Answer]]) -> Table:
    """The table of verdicts, a line per library and one for all."""
    columns = (
        "true",
        "equal",
        "AGREES",
        "UNKNOWN",
        "mistakes",
        "REFUTED",
        "decided wrongly",
        "raised",
        "median cpu s",
        "90 %",
    )
    table = Table("table", *columns)
    for title, some in answers.items():
        table.add_row(*summary(title, some))
    table.add_row(*summary("all", [a for some in answers.values() for a in some]))
    return table
