"""Learning the numbers of tables from data with missing values: maximum likelihood, exactly."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display, _plots
from ._cases import Rows, read_rows
from ._kept import Scope, factors_of, tables_only
from ._numbers import doubles
from ._progress import make_progress

if TYPE_CHECKING:
    from ._model import Model



class Fit(NamedTuple):
    """What `Model.fit` has learned.

    `model` has the new tables. `log_likelihoods` are those of the data after 0, 1, ... iterations, with the logarithm of
    the prior where there is one; `converged` says whether the last one changed it by less than the tolerance.
    `std_errors` has an array for each parameter, in the order that was asked for: the standard errors of probabilities
    in Bayesian networks, from the expected counts; where values are missing they are too small, since they take expected
    counts for observed ones. None for Markov networks.
    """

    model: "Model"
    log_likelihoods: "List[float]"
    converged: bool
    counts: "List[npt.NDArray[np.float64]]"
    std_errors: "Optional[List[npt.NDArray[np.float64]]]"

    @property
    def log_likelihood(self) -> float:
        return self.log_likelihoods[-1]

    @property
    def iterations(self) -> int:
        return len(self.log_likelihoods) - 1

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        return f"<treesample.Fit: log likelihood {self.log_likelihood:.6f} after {self.iterations} iterations, {end}>"

    def plot(self, ax: Any = None) -> Any:
        """The log likelihood over iterations, by matplotlib."""
        return _plots.plot_fit(self, ax)

    def _repr_html_(self) -> str:
        return _display.paragraphs([repr(self)[1:-1]]) + _display.model_html(self.model)


class _Data:
    """The rows of the data, and the tables that are learned as one flat array of logarithms."""

    def __init__(self, model: Model, rows: Rows, weights: Any, factors: "List[int]", threads: int) -> None:
        self.graph = tables_only(model, "fit")
        _, columns, states, soft = read_rows(model, rows)
        if soft:
            raise _core.Error("fit: a cell of the data has weights, allowed are states and missing values")
        if len(states) == 0:
            raise _core.Error("fit: the data have no rows")
        full = np.full((len(states), len(model)), -1, dtype=np.int32)
        full[:, columns] = states
        self.weights = [] if weights is None else doubles(weights, "the weights of the rows").tolist()
        self.total = float(sum(self.weights)) if self.weights else float(len(states))
        self.tables = [self.graph.table(m).copy() for m in factors]
        self.sizes = [t.size for t in self.tables]
        self.expected = _core.ExpectedCounts(self.graph, full, self.weights, factors, threads)

    def flat(self, tables: "Sequence[npt.NDArray[np.float64]]") -> "npt.NDArray[np.float64]":
        return np.concatenate([t.ravel() for t in tables])

    def split(self, flat: "npt.NDArray[np.float64]") -> "List[npt.NDArray[np.float64]]":
        ends = np.cumsum(self.sizes)
        return [part.reshape(t.shape) for part, t in zip(np.split(flat, ends[:-1]), self.tables)]


def _groups(model: Model, factors: "List[int]", shared: "Sequence[Sequence[Scope]]") -> "List[List[int]]":
    """Places in `factors` of tables that are the same; those that are alone, too."""
    place = {m: i for i, m in enumerate(factors)}
    groups: "List[List[int]]" = []
    taken: "set[int]" = set()
    for given in shared:
        members = factors_of(model, given)
        shapes = {model._graph.table(m).shape for m in members}
        for m in members:
            if m not in place:
                raise _core.Error(f"shared: factor {m} is not among the parameters")
            if place[m] in taken:
                raise _core.Error(f"shared: factor {m} is given twice")
            taken.add(place[m])
        if len(shapes) > 1:
            raise _core.Error(f"shared: tables have different shapes: {', '.join(map(str, sorted(shapes)))}")
        groups.append([place[m] for m in members])
    return groups + [[i] for i in range(len(factors)) if i not in taken]


def _pool(groups: "List[List[int]]", arrays: "List[npt.NDArray[np.float64]]") -> None:
    """Each gets the sum over its group."""
    for group in groups:
        if len(group) > 1:
            total = np.sum([arrays[i] for i in group], axis=0)
            for i in group:
                arrays[i] = total


def fit(
    model: Model,
    rows: Rows,
    *,
    parameters: Optional[Sequence[Scope]],
    method: Optional[str],
    prior: Union[float, Sequence[npt.ArrayLike]],
    shared: "Sequence[Sequence[Scope]]",
    weights: Any,
    iterations: int,
    tolerance: float,
    threads: Optional[int],
    progress: Union[bool, Callable[["Dict[str, Any]"], None]],
) -> Fit:
    """Of `Model.fit`."""
    if model._evidence or model._weights:
        raise _core.Error("fit: the model has evidence, which belongs into the data (m.forget())")
    problem = _core.network_problem(tables_only(model, "fit"))
    if method is None:
        method = "gradient" if problem else "em"
    if method not in ("em", "gradient"):
        raise _core.Error(f"fit: method is {method!r}, allowed are 'em' and 'gradient'")
    if method == "em" and problem:
        raise _core.Error(f"fit: method='em' is for Bayesian networks, and {problem}; method='gradient' is for any model")
    if iterations < 1 or not tolerance >= 0.0:
        raise _core.Error(f"fit: iterations is {iterations} and tolerance {tolerance}, allowed are numbers from 1 and 0 on")
    factors = factors_of(model, parameters)
    if not factors:
        raise _core.Error("fit: there is no table to be learned, allowed are one and more (parameters)")
    groups = _groups(model, factors, shared)
    data = _Data(model, rows, weights, factors, threads or os.cpu_count() or 1)
    tell = _Progress(progress)
    try:
        run = _em if method == "em" else _gradient
        return run(model, data, factors, groups, _priors(prior, data, groups), iterations, tolerance, tell)
    finally:
        tell.end()


def _priors(prior: Any, data: _Data, groups: "List[List[int]]") -> "List[npt.NDArray[np.float64]]":
    """Pseudo-counts, one per entry; factors with one table have one prior."""
    if np.ndim(prior) == 0 and not isinstance(prior, (list, tuple)):
        arrays = [np.full(t.shape, float(prior)) for t in data.tables]
    else:
        given = list(prior)
        if len(given) != len(data.tables):
            raise _core.Error(f"prior: {len(given)} arrays are given, and there are {len(data.tables)} parameters")
        arrays = [doubles(p, "the prior") for p in given]
        for array, table in zip(arrays, data.tables):
            if array.shape != table.shape:
                raise _core.Error(f"prior: an array has the shape {array.shape}, and its table {table.shape}")
    if any(bool((~((array >= 0) & (array <= 1e100))).any()) for array in arrays):
        raise _core.Error("prior: allowed are pseudo-counts from 0 on, up to 1e100")
    for group in groups:
        if any(not np.array_equal(arrays[i], arrays[group[0]]) for i in group):
            raise _core.Error("prior: factors that share a table have different ones, allowed is the same for each")
    return arrays


class _Progress:
    """Tells a callable, or shows a line."""

    def __init__(self, progress: Union[bool, Callable[["Dict[str, Any]"], None]]) -> None:
        is_told = callable(progress) and not hasattr(progress, "set_postfix_str")
        self._call = progress if is_told and callable(progress) else None
        self._show = None if is_told else make_progress(progress)
        self._began = time.monotonic()

    def __call__(self, iteration: int, log_likelihood: float) -> None:
        if self._call is not None:
            self._call({"iteration": iteration, "log_likelihood": log_likelihood})
        if self._show is not None:
            unknown = dict.fromkeys(("lower", "upper", "estimate", "best", "share"))
            phase = f"iteration {iteration}, log likelihood {log_likelihood:.6f}"
            self._show({"seconds": time.monotonic() - self._began, "phase": phase, "calls": 0, **unknown})

    def end(self) -> None:
        if self._show is not None:
            self._show.end()


def _with_tables(model: Model, factors: "List[int]", tables: "Sequence[npt.NDArray[np.float64]]") -> "Model":
    fitted = model._copied()
    new = dict(zip(factors, tables))
    graph = _core.Graph()
    for i in range(model._graph.num_variables):
        num_states, name, state_names, levels = model._graph.variable(i)
        graph.add_variable(num_states, name, state_names, levels)
    for m in range(model._graph.num_factors):
        values = new[m] if m in new else model._graph.table(m)
        graph.add_table(model._graph.scope(m), np.ascontiguousarray(values))
    fitted._graph = graph
    return fitted


def _logs(numbers: "npt.NDArray[np.float64]") -> "npt.NDArray[np.float64]":
    with np.errstate(divide="ignore"):
        result: "npt.NDArray[np.float64]" = np.log(numbers)
    return result


def _em(
    model: Model, data: _Data, factors: "List[int]", groups: "List[List[int]]", priors: "List[npt.NDArray[np.float64]]",
    iterations: int, tolerance: float, tell: _Progress,
) -> Fit:
    """Expectation and maximisation: entries in proportion to their expected counts and pseudo-counts, row by row."""
    logs = list(data.tables)
    for group in groups:
        for i in group[1:]:
            logs[i] = logs[group[0]]
    # What is impossible stays so, whatever the prior.
    priors = [np.where(np.isneginf(table), 0.0, prior) for table, prior in zip(logs, priors)]
    trace: "List[float]" = []
    converged = False
    counts: "List[npt.NDArray[np.float64]]" = []
    while True:
        log_likelihood, flat = data.expected.count(data.flat(logs))
        counts = data.split(flat)
        _pool(groups, counts)
        first = [group[0] for group in groups]
        log_prior = sum(float((priors[i][priors[i] > 0] * logs[i][priors[i] > 0]).sum()) for i in first)
        trace.append(log_likelihood + log_prior)
        tell(len(trace) - 1, trace[-1])
        converged = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= tolerance * (1.0 + abs(trace[-1]))
        if converged or len(trace) > iterations:
            break
        for i, (count, prior, before) in enumerate(zip(counts, priors, logs)):
            total = count + prior
            row = total.sum(axis=-1, keepdims=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                logs[i] = np.where(row > 0, _logs(total / row), before)  # a row that no data are about stays
    errors = []
    for table, count in zip(logs, counts):
        p = np.exp(table)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors.append(np.where(p * (1 - p) > 0, np.sqrt(p * (1 - p) / count.sum(axis=-1, keepdims=True)), 0.0))
    return Fit(_with_tables(model, factors, logs), trace, converged, counts, errors)


def _gradient(
    model: Model, data: _Data, factors: "List[int]", groups: "List[List[int]]", priors: "List[npt.NDArray[np.float64]]",
    iterations: int, tolerance: float, tell: _Progress,
) -> Fit:
    """Ascent of the log likelihood, the sum over rows of log Z(row) - log Z, by L-BFGS. The prior of a table is that of
    its entries when they add up to 1, so that factors that are multiplied by a constant stay as good as they are."""
    nobody = np.full((1, len(model)), -1, dtype=np.int32)
    whole = _core.ExpectedCounts(data.graph, nobody, [], factors, 1)
    once = [prior if any(group[0] == i for group in groups) else 0.0 * prior for i, prior in enumerate(priors)]
    possible = ~np.isneginf(data.flat(data.tables))
    once = [np.where(np.isneginf(table), 0.0, prior) for table, prior in zip(data.tables, once)]
    latest: "List[npt.NDArray[np.float64]]" = []

    def loss(free: "npt.NDArray[np.float64]") -> "Tuple[float, npt.NDArray[np.float64]]":
        flat = data.flat(data.tables)
        flat[possible] = free
        log_likelihood, counts = data.expected.count(flat)
        log_z, expected = whole.count(flat)
        latest[:] = data.split(counts)
        value = log_likelihood - data.total * log_z
        slope = data.split(counts - data.total * expected)
        for table, prior, change in zip(data.split(flat), once, slope):
            if prior.any():
                log_sum = float(np.logaddexp.reduce(table, axis=None))
                value += float((prior * np.where(prior > 0, table - log_sum, 0.0)).sum())
                change += prior - prior.sum() * np.exp(table - log_sum)
        _pool(groups, slope)
        return -value, -data.flat(slope)[possible]

    start = data.flat(data.tables)
    shared = data.split(start)
    for group in groups:
        for i in group[1:]:
            shared[i] = shared[group[0]]
    found, trace, converged = minimise(loss, data.flat(shared)[possible], iterations, tolerance, tell)
    best = data.flat(data.tables)
    best[possible] = found
    return Fit(_with_tables(model, factors, data.split(best)), [-value for value in trace], converged, list(latest), None)


def minimise(
    loss: "Callable[[npt.NDArray[np.float64]], Tuple[float, npt.NDArray[np.float64]]]",
    start: "npt.NDArray[np.float64]",
    iterations: int,
    tolerance: float,
    tell: "Callable[[int, float], None]",
    memory: int = 20,
) -> "Tuple[npt.NDArray[np.float64], List[float], bool]":
    """L-BFGS with a line search that goes on until the value is low and the slope flat enough (Wolfe)."""
    x = start.copy()
    value, slope = loss(x)
    trace = [value]
    tell(0, -value)
    steps: "List[Tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]]" = []
    for iteration in range(1, iterations + 1):
        direction = -_by_history(steps, slope)
        descent = float(direction @ slope)
        if not descent < 0.0:
            steps.clear()
            direction, descent = -slope, -float(slope @ slope)
            if descent == 0.0:
                return x, trace, True
        length = 1.0 if steps else min(1.0, 1.0 / math.sqrt(-descent))
        low, high = 0.0, math.inf
        for _ in range(40):
            new = x + length * direction
            new_value, new_slope = loss(new)
            if not new_value <= value + 1e-4 * length * descent:
                high = length
            elif float(new_slope @ direction) < 0.9 * descent:
                low = length
            else:
                break
            length = (low + high) / 2 if high < math.inf else 2 * length
        if not new_value <= value:
            return x, trace, True  # rounding: no step makes it less
        step, change = new - x, new_slope - slope
        curvature = float(step @ change)
        if curvature > 1e-12 * float(change @ change):
            steps.append((step, change, 1.0 / curvature))
            del steps[:-memory]
        before, x, value, slope = value, new, new_value, new_slope
        trace.append(value)
        tell(iteration, -value)
        if before - value <= tolerance * (1.0 + abs(value)):
            return x, trace, True
    return x, trace, False


def _by_history(
    steps: "List[Tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]]", slope: "npt.NDArray[np.float64]"
) -> "npt.NDArray[np.float64]":
    """The slope times the inverse of the curvature that the last steps have shown."""
    result = slope.copy()
    shares = []
    for step, change, inverse in reversed(steps):
        share = inverse * float(step @ result)
        result -= share * change
        shares.append(share)
    if steps:
        step, change, _ = steps[-1]
        result *= float(step @ change) / float(change @ change)
    for (step, change, inverse), share in zip(steps, reversed(shares)):
        result += (share - inverse * float(change @ result)) * step
    return result
