"""The parts of an answer."""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display, _plots
from ._options import unknown_name

State = Union[str, int]


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of a model: its name, the labels of its states, and its place in configurations.

    States are labelled by what was given, or 0, 1, ... where only their number was.
    """

    name: str
    states: Tuple[State, ...]
    index: int
    levels: Tuple[float, ...] = ()  # of ordered states: the number that each stands for


class LogZ(NamedTuple):
    """The logarithm of the sum over all configurations: what is known of it, and how well.

    `lower` and `upper` are certified: rounding included, they cannot be wrong. `interval` holds at the `confidence`
    that was asked for, because the weights of its samples are bounded. `sampled_interval`, of a learned model, is made
    of the spread of samples: it is not certified, and where the samples miss what matters it can be far from the truth.
    Where log Z is exact, both are the certified bounds. `estimate` and `std_error` are no statements of that kind:
    without a `std_error`, an interval or bounds on both sides the estimate is a guess, and `is_guess` says so.

    `kind` says what the estimate is: "exact", "lower bound" (certified, and all that is known), "estimate", or None
    where there is none. `importance` and `weighted` are what is known of the samples behind `std_error` and `interval`.
    """

    estimate: Optional[float]
    lower: Optional[float]
    upper: Optional[float]
    interval: Optional[Tuple[float, float]]
    std_error: Optional[float]
    exact: bool
    sampled_interval: Optional[Tuple[float, float]] = None
    kind: Optional[str] = None
    confidence: Optional[float] = None
    importance: "Optional[dict[str, Any]]" = None
    weighted: "Optional[dict[str, Any]]" = None

    def __float__(self) -> float:
        return math.nan if self.estimate is None else self.estimate

    @property
    def is_guess(self) -> bool:
        """Whether there is an estimate, and nothing is known of its error."""
        is_bounded = self.lower is not None and self.lower > -math.inf and self.upper is not None
        has_error = self.std_error is not None or self.interval is not None or self.sampled_interval is not None
        return self.kind == "estimate" and not has_error and not (is_bounded and self.upper != math.inf)

    def text(self) -> str:
        """In one line, as an answer shows it."""
        if self.exact:
            return f"log Z {self.estimate:.6f}, exact"
        parts = []
        if self.estimate is not None and self.estimate > -math.inf:  # else nothing possible was found
            error = f" +- {self.std_error:.2g}" if self.std_error is not None else ""
            word = {"lower bound": " at least", "estimate": ""}.get(self.kind or "", "")
            value = _outward(self.estimate, -1.0) if word else f"{self.estimate:.6f}"
            parts.append(f"log Z{word} {value}{error}{' (a guess)' if self.is_guess else ''}")
        is_lower, is_upper = self.lower not in (None, -math.inf), self.upper not in (None, math.inf)
        if is_lower or is_upper:
            parts.append(f"certified in [{_outward(self.lower, -1.0)}, {_outward(self.upper, 1.0)}]")
        if self.interval is not None:
            low, high = self.interval
            parts.append(f"in [{_outward(low, -1.0)}, {_outward(high, 1.0)}] with confidence {self.confidence}")
        if self.sampled_interval is not None:
            low, high = self.sampled_interval
            parts.append(
                f"in [{_outward(low, -1.0)}, {_outward(high, 1.0)}] by the spread of samples, not certified"
            )
        return ", ".join(parts) or "no estimate of log Z"


class MapStates(NamedTuple):
    """The most probable states of some variables, all others summed out.

    `log_value` is certified to be at most the logarithm of the sum over the configurations with these states,
    `log_value_upper` to be at least that, and `log_upper` to be at least that of any other states. `by` says how they
    were found.
    """

    states: "dict[str, State]"
    log_value: float
    log_upper: float
    optimal: bool
    log_value_upper: float = math.inf
    by: str = ""


class Parameter(NamedTuple):
    """An entry of a table: of which factor, at which states, its value, and the derivative with respect to it."""

    factor: int
    states: "dict[str, State]"
    value: float
    derivative: float


class Sensitivity(NamedTuple):
    """How a probability, or log Z, depends on the entries of all tables.

    `of` is the state whose probability it is, or "log_z"; `value` is that probability. Where `rows_add_up`, the other
    entries of a row change in proportion, as in a Bayesian network. `derivatives` has one array for each factor, in the
    order of its entries: the last variable of `Model.factors` changes fastest.
    """

    of: "Union[str, dict[str, State]]"
    value: float
    rows_add_up: bool
    most_influential: "list[Parameter]"
    derivatives: "list[npt.NDArray[np.float64]]"


class ObservationValues(NamedTuple):
    """How much observing each other variable would tell about one: `information` of its `entropy`, in nats."""

    variable: str
    entropy: float
    information: "dict[str, float]"


class Marginals(Mapping[str, "dict[Any, float]"]):
    """Probabilities of the states of each variable, by name."""

    def __init__(self, variables: "Tuple[Variable, ...]", arrays: Any, errors: Any) -> None:
        self._variables = {v.name: v for v in variables} if len(arrays) else {}
        self._arrays = arrays
        self._errors = errors

    def __getitem__(self, name: str) -> "dict[State, float]":
        variable = self._variable(name)
        return dict(zip(variable.states, self._arrays[variable.index].tolist()))

    def _variable(self, name: str) -> Variable:
        if name not in self._variables:
            raise unknown_name("variable", name, self._variables)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def array(self, name: str) -> "npt.NDArray[np.float64]":
        """Of one variable, in the order of its states."""
        result: "npt.NDArray[np.float64]" = self._arrays[self._variable(name).index]
        return result

    def std_error(self, name: str) -> Optional[float]:
        """The largest of one variable's states; None where there is none, 0 where they are exact."""
        return float(self._errors[self._variable(name).index]) if len(self._errors) else None

    def to_numpy(self) -> "npt.NDArray[np.float64]":
        """One row per variable; NaN where a variable has fewer states than another."""
        width = max((len(a) for a in self._arrays), default=0)
        result = np.full((len(self._arrays), width), np.nan)
        for row, values in zip(result, self._arrays):
            row[: len(values)] = values
        return result

    def to_pandas(self) -> Any:
        """A data frame with one row per state of each variable."""
        pandas: Any = importlib.import_module("pandas")
        rows = [
            (name, state, probability, self.std_error(name))
            for name in self
            for state, probability in self[name].items()
        ]
        return pandas.DataFrame(rows, columns=["variable", "state", "probability", "std_error"])

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Bars by matplotlib: of the variables that are named, or of the first ones."""
        return _plots.plot_marginals(self, names, ax)

    def __repr__(self) -> str:
        return f"<treesample.Marginals of {len(self)} variables>"

    def _repr_html_(self) -> str:
        return _display.marginals_table(self)


class Calls(Mapping[str, "npt.NDArray[Any]"]):
    """All calls of a run as a table: a mapping of the names of its columns to arrays.

    The columns are "function", one for each variable (the label of its state, None where the function has it not),
    "log_value" (NaN where a failure ended the run), "seconds", "from_journal" and "failure" (None where there is none).
    A variable with one of these names has the column "state of NAME".

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> @m.factor(m.variable("load", ["low", "high"]))
    ... def simulate(load):
    ...     return 0.0 if load == "low" else -1.5
    >>> calls = m.infer(calls=10).calls
    >>> len(calls.records), sorted(calls["load"]), float(calls["log_value"].min())
    (2, ['high', 'low'], -1.5)
    """

    OWN = ("function", "log_value", "seconds", "from_journal", "failure")

    def __init__(self, records: "list[dict[str, Any]]") -> None:
        self._records = records
        names = list(dict.fromkeys(name for one in records for name in one["states"]))
        columns: "dict[str, Any]" = {"function": np.array([one["factor"] for one in records], dtype=object)}
        for name in names:
            column = np.empty(len(records), dtype=object)
            column[:] = [one["states"].get(name) for one in records]
            columns[f"state of {name}" if name in self.OWN else name] = column
        values = [math.nan if one["log_value"] is None else one["log_value"] for one in records]
        columns["log_value"] = np.array(values, dtype=float)
        columns["seconds"] = np.array([one["seconds"] for one in records], dtype=float)
        columns["from_journal"] = np.array([one["from_journal"] for one in records], dtype=bool)
        columns["failure"] = np.array([one["failure"] for one in records], dtype=object)
        self._columns = columns

    @property
    def records(self) -> "list[dict[str, Any]]":
        """The calls one by one, with the states by name."""
        return self._records

    def __getitem__(self, name: str) -> "npt.NDArray[Any]":
        if name not in self._columns:
            raise unknown_name("column", name, self._columns)
        column: "npt.NDArray[Any]" = self._columns[name]
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> Any:
        """A data frame with one row per call."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame(dict(self._columns))

    def __repr__(self) -> str:
        return f"<treesample.Calls: {len(self._records)} calls, columns {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        return _display.columns_html(self._columns, repr(self)[1:-1])


def _outward(bound: Optional[float], direction: float) -> str:
    """As the program prints a certified bound: rounded down (direction -1) or up (1)."""
    text: str = _core.decimal_bound(direction * math.inf if bound is None else bound, direction)
    return text


def spent_of(spent: "Mapping[str, Any]", seconds: float, programs: "list[dict[str, Any]]") -> "dict[str, Any]":
    """What a run has spent, and what each function or program was asked for."""
    return {
        "seconds": seconds,
        "evaluations": spent["reward_evaluations"],
        "factor_evaluations": spent["factor_evaluations"],
        "cost_seconds": spent["cost_seconds"],
        "calls": spent["calls"],
        "functions": [
            {
                "name": each["factor"],
                "paid": each["paid"],
                "from_journal": each["from_journal"],
                "repeated": each["repeated"],
                "failed": each["failed"] + each["failed_from_journal"],
                "seconds": each["paid_seconds"],
            }
            for each in programs
        ],
    }
