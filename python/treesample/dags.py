"""Structures of Bayesian networks: the exact posterior over directed acyclic graphs of up to 13 nodes.

>>> import numpy as np
>>> from treesample import dags
>>> rng = np.random.default_rng(1)
>>> rain = rng.normal(size=200)
>>> posterior = dags.posterior({"rain": rain, "river": rain + rng.normal(size=200), "wind": rng.normal(size=200)})
>>> posterior.edge("rain", "river") + posterior.edge("river", "rain") > 0.99
True
>>> posterior.log_z.exact
True
"""

from __future__ import annotations

import csv
import os
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._parts import LogZ
from ._program_answer import positive, whole_up_to

Table = Union[str, "os.PathLike[str]", Mapping[str, Any], "npt.NDArray[Any]", Any]

SCORES = ("bge", "bdeu")


class Dag(NamedTuple):
    """A directed acyclic graph."""

    edges: "list[tuple[str, str]]"  # (from, to)
    log_score: float
    log_prob: float  # under the posterior


class DagPosterior:
    """p(G) = exp(sum over nodes of score[node][its parents in G]) / Z, exactly."""

    def __init__(self, core: Any, names: "Tuple[str, ...]") -> None:
        self._core = core
        self.names = names

    @property
    def edges(self) -> "npt.NDArray[np.float64]":
        """The probability of each edge: a row for the node that it leaves, a column for the one that it enters."""
        return np.asarray(self._core.edges)

    def edge(self, source: str, target: str) -> float:
        """The probability of one edge."""
        return float(self.edges[self._place(source), self._place(target)])

    @property
    def parent_sets(self) -> "npt.NDArray[np.float64]":
        """By node, the probability of each set of parents: bit i of the column is node i."""
        return np.asarray(self._core.parent_sets)

    @property
    def best(self) -> Dag:
        """A graph of the highest score."""
        return self._dag(self._core.best)

    @property
    def samples(self) -> "list[Dag]":
        """Independent graphs from the posterior."""
        return [self._dag(one) for one in self._core.samples]

    @property
    def log_z(self) -> LogZ:
        """The log of the sum over all graphs, with certified bounds."""
        core = self._core
        return LogZ(core.log_z, core.lower, core.upper, None, None, core.upper - core.lower <= 1e-6, kind="exact")

    @property
    def num_states(self) -> int:
        """Of the program that places nodes layer by layer."""
        return int(self._core.num_states)

    @property
    def seconds(self) -> float:
        return float(self._core.seconds)

    def __repr__(self) -> str:
        return f"<treesample.dags.DagPosterior of {', '.join(self.names)}: {self.log_z.text()}>"

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise _core.Error(f"there is no column {name!r}, allowed are {', '.join(map(repr, self.names))}")
        return self.names.index(name)

    def _dag(self, given: "tuple[list[int], float, float]") -> Dag:
        parents, log_score, log_prob = given
        names = self.names
        edges = [(names[u], names[v]) for v, those in enumerate(parents) for u in range(len(names)) if those >> u & 1]
        return Dag(edges, log_score, log_prob)


def posterior(
    data: Table,
    *,
    score: str = "bge",
    alpha_mu: float = 1.0,
    equivalent_sample_size: float = 1.0,
    columns: Optional[Sequence[str]] = None,
    samples: int = 0,
    seed: int = 0,
    time: Optional[float] = None,
    memory: Optional[int] = None,
) -> DagPosterior:
    """The posterior over all graphs of the columns of a table, each graph equally probable before.

    `data` is a CSV file with names in its first line, a mapping of names to columns, a data frame, or an array; `columns`
    chooses some. `score` is "bge" for real numbers (a normal distribution; scale columns of very different size), or
    "bdeu" for labels or states.
    """
    names, array = _scored(data, score, alpha_mu, equivalent_sample_size, columns)
    return from_scores(array, names, samples=samples, seed=seed, time=time, memory=memory)


def scores(
    data: Table,
    *,
    score: str = "bge",
    alpha_mu: float = 1.0,
    equivalent_sample_size: float = 1.0,
    columns: Optional[Sequence[str]] = None,
) -> "npt.NDArray[np.float64]":
    """The log scores of `posterior`: a row for each node, and a column for each set of parents, bit i being node i.

    Entries whose set contains the node itself mean nothing. Add the logarithms of a prior, and give them to
    `from_scores`.
    """
    return _scored(data, score, alpha_mu, equivalent_sample_size, columns)[1]


def _scored(
    data: Table, score: str, alpha_mu: float, equivalent_sample_size: float, columns: Optional[Sequence[str]]
) -> "Tuple[Tuple[str, ...], npt.NDArray[np.float64]]":
    if score not in SCORES:
        raise _core.Error(f"score is {score!r}, allowed are 'bge' and 'bdeu'")
    table = _columns(data)
    for name in columns or ():
        if name not in table:
            raise _core.Error(f"there is no column {name!r}, allowed are {', '.join(map(repr, table))}")
    if columns is not None:
        table = {name: table[name] for name in columns}
    array = (
        _core.bge_scores(_numbers(table), positive(alpha_mu, "alpha_mu"))
        if score == "bge"
        else _bdeu(table, positive(equivalent_sample_size, "equivalent_sample_size"))
    )
    return tuple(table), array


def from_scores(
    scores: npt.ArrayLike,
    names: Optional[Sequence[str]] = None,
    *,
    samples: int = 0,
    seed: int = 0,
    time: Optional[float] = None,
    memory: Optional[int] = None,
) -> DagPosterior:
    """The same for scores of your own: a row for each node, and a column for each set of parents, bit i being node i."""
    array = np.asarray(scores, dtype=float)
    if array.ndim != 2:
        raise _core.Error("scores: allowed are rows for nodes and columns for sets of parents")
    given = tuple(str(i) for i in range(len(array))) if names is None else tuple(names)
    if len(given) != len(array):
        raise _core.Error(f"{len(given)} names for {len(array)} nodes")
    limit = None if time is None else positive(time, "time")
    count, number = whole_up_to(samples, "samples", 100_000_000), whole_up_to(seed, "seed", 2**63 - 1)
    core = _core.dag_posterior(array, count, number, limit, memory)
    return DagPosterior(core, given)


def _columns(data: Table) -> "dict[str, list[Any]]":
    if isinstance(data, (str, os.PathLike)):
        with open(data, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
        if len(rows) < 2:
            raise _core.Error(f"{os.fspath(data)}: a table has a line of names and at least one row")
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                found = f"row {number} has {len(row)} values, and there are {len(rows[0])} names"
                raise _core.Error(f"{os.fspath(data)}: {found}")
        read = {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
        if len(read) < len(rows[0]):
            raise _core.Error(f"{os.fspath(data)}: two columns have one name: {', '.join(rows[0])}")
        return read
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # a data frame
        data = data.to_dict("list")
    if isinstance(data, Mapping):
        table = {str(name): list(values) for name, values in data.items()}
    else:
        array = np.asarray(data)
        if array.ndim != 2:
            raise _core.Error("data: a table has rows and columns")
        table = {str(i): list(array[:, i]) for i in range(array.shape[1])}
    lengths = {len(values) for values in table.values()}
    if len(lengths) != 1:
        raise _core.Error(f"data: the columns have different lengths: {sorted(lengths)}")
    return table


def _numbers(table: "dict[str, list[Any]]") -> "npt.NDArray[np.float64]":
    array = np.empty((len(next(iter(table.values()))), len(table)))
    for i, (name, values) in enumerate(table.items()):
        for row, value in enumerate(values):
            try:
                array[row, i] = float(value)
            except (TypeError, ValueError):
                wrong = f"column {name!r}, row {row} is {value!r}, allowed are numbers; score='bdeu' is for labels"
                raise _core.Error(wrong) from None
    return array


def _bdeu(table: "dict[str, list[Any]]", equivalent_sample_size: float) -> "npt.NDArray[np.float64]":
    array = np.empty((len(next(iter(table.values()))), len(table)), dtype=np.int32)
    num_states = []
    for i, values in enumerate(table.values()):
        labels = {label: place for place, label in enumerate(sorted(set(values), key=str))}
        array[:, i] = [labels[value] for value in values]
        num_states.append(len(labels))
    return _core.bdeu_scores(array, equivalent_sample_size, num_states)
