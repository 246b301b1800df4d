"""What a journal of paid calls holds."""

from __future__ import annotations

import html
import os
from typing import NamedTuple, Tuple, Union

from . import _core


class JournalFactor(NamedTuple):
    """What is recorded of one function or program."""

    name: str
    variables: str
    evaluations: int
    seconds: float
    failures: int
    last_failure: str


class Journal(NamedTuple):
    """A summary, made by `read_journal`."""

    path: str
    model: str
    created: str
    factors: Tuple[JournalFactor, ...]
    damaged: Tuple[str, ...]

    def __repr__(self) -> str:
        count = sum(f.evaluations for f in self.factors)
        failures = sum(f.failures for f in self.factors)
        return (
            f"<treesample.Journal {self.path}: {count} evaluation{'s' * (count != 1)}, "
            f"{sum(f.seconds for f in self.factors):.3g} s, {failures} failed>"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in
                             (f.name, f.variables, f.evaluations, f"{f.seconds:.3g}", f.failures, f.last_failure)) + "</tr>"
            for f in self.factors
        )
        head = "".join(f"<th>{name}</th>" for name in
                       ("factor", "variables", "evaluations", "seconds", "failed", "the last failure"))
        damaged = f"<p>{len(self.damaged)} damaged rows: {html.escape(self.damaged[0])}</p>" if self.damaged else ""
        return (
            f"<p>{html.escape(repr(self)[1:-1])}, begun {html.escape(self.created)}</p>"
            f"<table><tr>{head}</tr>{rows}</table>{damaged}"
        )


def read_journal(path: Union[str, "os.PathLike[str]"]) -> Journal:
    """Looks at a journal that no run uses at the moment, and changes nothing.

    >>> import os, tempfile, treesample as ts
    >>> m = ts.Model()
    >>> _ = m.factor(m.variable("a", 3))(lambda a: -1.0 * a)
    >>> journal = os.path.join(tempfile.mkdtemp(), "run.journal")
    >>> answer = m.infer(calls=10, journal=journal)
    >>> ts.read_journal(journal).factors[0].evaluations
    3
    """
    name = os.fspath(path)
    model, created, factors, damaged = _core.journal_summary(name)
    return Journal(name, model, created, tuple(JournalFactor(*factor) for factor in factors), tuple(damaged))
