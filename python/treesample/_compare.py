"""Methods side by side over budgets on one model."""

from __future__ import annotations

import importlib
import math
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display, _plots
from ._progress import make_progress

if TYPE_CHECKING:
    from ._model import Evidence, Model

MEASURES = ("log_z_error", "marginal_error", "log_z", "seconds")


def words(measure: str) -> str:
    return measure.replace("log_z", "log Z").replace("_", " ")


class Comparison(Mapping[str, "npt.NDArray[Any]"]):
    """The runs of a comparison as a table: a mapping of the names of its columns to arrays. `Model.compare` makes it.

    The columns are "method", "budget", "run", "log_z", "log_z_error" (its distance from the reference),
    "marginal_error" (the largest of all states) and "seconds"; NaN is what a method does not give.
    """

    def __init__(self, records: "List[Dict[str, Any]]", reference: Any, methods: "List[str]", budgets: "List[int]") -> None:
        names = ("method", "budget", "run", *MEASURES)
        self._columns = {name: np.array([one[name] for one in records]) for name in names}
        self.reference = reference
        self.methods, self.budgets = methods, budgets

    def __getitem__(self, name: str) -> "npt.NDArray[Any]":
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def measure(self) -> str:
        """The one by which methods are told apart: the error of log Z, or of marginals where none estimates log Z."""
        return "log_z_error" if bool(np.isfinite(self["log_z_error"]).any()) else "marginal_error"

    def mean(self, method: str, budget: int, measure: Optional[str] = None) -> "Tuple[float, float]":
        """Over the runs, with its standard error; NaN where there is no number."""
        values = self[measure or self.measure][(self["method"] == method) & (self["budget"] == budget)]
        values = values[~np.isnan(values)]
        if len(values) == 0:
            return math.nan, math.nan
        with np.errstate(invalid="ignore"):
            error = float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
        return float(np.mean(values)), error

    @property
    def advice(self) -> str:
        """Which method to take, in a sentence."""
        if self.reference.log_z.exact and str(self.reference.method).startswith("exact"):
            first = "Take infer without method: it answers this model exactly, by elimination, and needs no budget. "
        else:
            first = ""
        budget = self.budgets[-1]
        found = [(*self.mean(method, budget), method) for method in self.methods]
        ranked = sorted(one for one in found if math.isfinite(one[0]))
        if not ranked:
            return first or f"With {budget} evaluations no method has a finite {self.measure.replace('_', ' ')}."
        best, doubt, method = ranked[0]
        same = [m for mean, error, m in ranked if mean - best <= max(2 * math.hypot(error, doubt), 1e-9)]
        what = f"with {budget} evaluations its {self.measure.replace('_', ' ')} is {best:.2g}"
        chosen = f"take {method}: {what}." if len(same) == 1 else f"these runs do not tell {', '.join(same)} apart."
        return f"{first}Of methods with a budget, {chosen}" if first else chosen[0].upper() + chosen[1:]

    def to_pandas(self) -> Any:
        """A data frame with one row per run."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame(dict(self._columns))

    plot = _plots.plot_comparison

    def __repr__(self) -> str:
        return f"<treesample.Comparison of {', '.join(self.methods)}: {self.advice}>"

    def _repr_html_(self) -> str:
        rows = []
        for method in self.methods:
            means = [self.mean(method, budget) for budget in self.budgets]
            if any(math.isfinite(mean) for mean, _ in means):
                cells = [f"{mean:.3g} ± {error:.1g}" if math.isfinite(mean) else "–" for mean, error in means]
                rows.append([method, *cells])
        head = [words(self.measure), *(f"B = {budget}" for budget in self.budgets)]
        left = [method for method in self.methods if method not in [row[0] for row in rows]]
        said = [f"Without a finite number: {', '.join(left)}."] if left else []
        return _display.paragraphs([self.advice]) + _display.table(head, rows) + _display.paragraphs(said)


def compare(
    self: "Model",
    *,
    methods: Sequence[str] = ("search", "tree", "smc", "sis", "gibbs", "bp"),
    budgets: Sequence[int] = (100, 1000, 10000),
    runs: int = 3,
    evidence: "Optional[Evidence]" = None,
    seed: int = 0,
    time: Optional[float] = None,
    progress: Any = False,
) -> Comparison:
    """Methods of `infer` side by side over budgets: their errors against an answer without limits but `time`.

    >>> import treesample as ts
    >>> found = ts.families.ising(n=3, seed=1).compare(methods=["smc", "search"], budgets=[50, 500])
    >>> found.mean("search", 500)[0] <= found.mean("smc", 500)[0]
    True
    """
    if runs < 1 or not budgets or not methods:
        raise _core.Error("compare: allowed are runs from 1 on, and at least one method and one budget")
    reference = self.infer(evidence=evidence, time=time, seed=seed)
    truth = reference.marginals.to_numpy()
    show = make_progress(progress)
    records: "List[Dict[str, Any]]" = []
    sizes = sorted(int(b) for b in budgets)
    cells = [(m, b, r) for m in methods for b in sizes for r in range(runs)]
    began = _now()
    try:
        for at, (method, budget, run) in enumerate(cells):
            records.append(_run(self, method, budget, run, evidence, seed + run, reference, truth))
            if show is not None:
                show({"phase": method, "seconds": _now() - began, "share": (at + 1) / len(cells), "calls": 0,
                      "lower": None, "upper": None, "estimate": None, "best": None})
    finally:
        if show is not None:
            show.end()
    return Comparison(records, reference, list(methods), sizes)


def _now() -> float:
    return time.monotonic()


def _run(
    model: "Model", method: str, budget: int, run: int, evidence: "Optional[Evidence]", seed: int, reference: Any,
    truth: "npt.NDArray[np.float64]",
) -> "Dict[str, Any]":
    record: "Dict[str, Any]" = {"method": method, "budget": budget, "run": run, **dict.fromkeys(MEASURES, math.nan)}
    try:
        answer = model.infer(method=method, budget=budget, evidence=evidence, seed=seed, time=0)
    except _core.Error as error:
        if str(error).startswith("method"):
            raise
        return record  # a budget that pays for nothing, or a model that the method is not for
    record["seconds"] = answer.spent["seconds"]
    estimate, true = answer.log_z.estimate, reference.log_z.estimate
    if estimate is not None and true is not None:
        record["log_z"] = estimate
        record["log_z_error"] = abs(estimate - true) if math.isfinite(estimate) and math.isfinite(true) else math.inf
    found = answer.marginals.to_numpy()
    if found.shape == truth.shape and found.size:
        record["marginal_error"] = float(np.nanmax(np.abs(found - truth)))
    return record
