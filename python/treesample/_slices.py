"""Models that repeat in time: hidden Markov models, dynamic Bayesian networks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display, _plots
from ._cases import Rows, read_rows
from ._kept import check_weights, tables_only
from ._numbers import by_name, factor_values
from ._options import unknown_name
from ._parts import Marginals, State, Variable

if TYPE_CHECKING:
    from ._model import Evidence, Model

Start = Union[Mapping[str, npt.ArrayLike], "Sequence[Tuple[Sequence[str], npt.ArrayLike]]"]


class Slices(Mapping[str, "npt.NDArray[np.float64]"]):
    """The marginals of each slice: a mapping of the names of variables to arrays, with a row for each slice.

    `log_z` has one number per slice: in a Bayesian network the logarithm of the probability of what was observed up to
    this slice, or, after smoothing, in all of them.
    """

    def __init__(
        self, variables: "Tuple[Variable, ...]", log_z: "npt.NDArray[np.float64]", flat: "npt.NDArray[np.float64]"
    ) -> None:
        ends = np.cumsum([len(v.states) for v in variables])
        self.log_z = log_z
        self._states = {v.name: v.states for v in variables}
        self._arrays = {v.name: part for v, part in zip(variables, np.split(flat, ends[:-1], axis=1))}

    def __getitem__(self, name: str) -> "npt.NDArray[np.float64]":
        if name not in self._arrays:
            raise unknown_name("variable", name, self._arrays)
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<treesample.Slices: {len(self.log_z)} slices of {len(self)} variables>"

    def states(self, name: str) -> "Tuple[State, ...]":
        """Of a variable, in the order of the columns of its array."""
        self[name]
        return self._states[name]

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Probabilities over time, by matplotlib: of the variables that are named, or of the first ones."""
        return _plots.plot_slices(self, *names, ax=ax)

    def _repr_html_(self) -> str:
        columns: "Dict[str, Any]" = {"log Z": self.log_z.tolist()}
        for name, values in self.items():
            columns.update({f"{name} = {state}": values[:, s].tolist() for s, state in enumerate(self._states[name])})
        return _display.columns_html(columns, repr(self)[1:-1])


class TimeSeries:
    """A slice that repeats, each linked to the one before. `Model.repeat` makes it.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> for name in ("yesterday", "today", "umbrella"):
    ...     _ = m.variable(name, ["no", "yes"])
    >>> m.table(["yesterday", "today"], [[0.7, 0.3], [0.3, 0.7]])      # rain
    >>> m.table(["today", "umbrella"], [[0.8, 0.2], [0.1, 0.9]])
    >>> weather = m.repeat(links=[("yesterday", "today")], start={"yesterday": [0.5, 0.5]})
    >>> round(weather.step(umbrella="yes")["today"]["yes"], 4)
    0.8182
    >>> round(weather.step(umbrella="yes")["today"]["yes"], 4)
    0.8834
    >>> weather.smooth({"umbrella": ["yes", "yes"]})["today"].round(4).tolist()
    [[0.1166, 0.8834], [0.1166, 0.8834]]
    """

    def __init__(
        self, model: "Model", links: "Sequence[Tuple[Union[str, Variable], Union[str, Variable]]]", start: Optional[Start]
    ) -> None:
        graph = tables_only(model, "repeat")
        if model._evidence or model._weights:
            raise _core.Error("repeat: the model has evidence, which belongs to the slices (m.forget())")
        self._model = model._copied()
        pairs = []
        for link in links:
            if isinstance(link, str) or len(link) != 2:
                raise _core.Error(f"repeat: {link!r} is no link, allowed are pairs (before, now) of variables")
            before, now = model._scope(link)
            pairs.append((before, now))
        first = _core.Graph()
        for v in model.variables:
            first.add_variable(len(v.states), v.name, [], [])
        tables: "List[Tuple[Sequence[str], Any]]" = []
        if isinstance(start, Mapping):
            tables.extend(([name], values) for name, values in start.items())
        else:
            tables.extend(start or [])
        for names, values in tables:
            scope = model._scope(names)
            array = factor_values(values, f"the start of {model._names(scope)}")
            shape = tuple(len(model.variables[v].states) for v in scope)
            if array.shape != shape:
                raise _core.Error(f"the start of {model._names(scope)} has the shape {array.shape}, and must have {shape}")
            with np.errstate(divide="ignore"):
                first.add_table(list(scope), np.ascontiguousarray(np.log(array)))
        self._core = _core.TimeSlices(graph, pairs, first)
        self._links = pairs

    @property
    def steps(self) -> int:
        """How many slices have been seen by `step` and `filter` since the last `reset`."""
        return int(self._core.num_steps)

    def reset(self) -> "TimeSeries":
        """Goes back to the time before the first slice."""
        self._core.reset()
        return self

    def step(self, evidence: Optional[Evidence] = None, **named: Any) -> "SliceNow":
        """One more slice: its marginals, given what was observed in it and in all before."""
        states, weights = self._model._seen({**by_name(evidence), **named})
        for v, given in weights.items():
            check_weights(self._model.variables[v], given)
        log_z, flat = self._core.step(list(states.items()), list(weights.items()))
        return SliceNow(self._model.variables, float(log_z), flat)

    def filter(self, rows: Rows) -> Slices:
        """The same for many slices, which are rows as the cases of `infer_cases`; goes on after those of `step`."""
        return Slices(self._model.variables, *self._core.filter(self._states(rows)))

    def smooth(self, rows: Rows) -> Slices:
        """Each slice given all of them, from the first on. Then `step` goes on after the last."""
        return Slices(self._model.variables, *self._core.smooth(self._states(rows)))

    def best(self, rows: Rows) -> "Dict[str, List[State]]":
        """The most probable states of all variables in all slices together, by name: a list with one state per slice."""
        states = self._states(rows)
        whole = self.unroll(len(states))
        known: "Dict[int, int]" = {}
        for t, row in enumerate(states):
            for v, s in enumerate(row):
                # A linked variable may be observed by both of its names.
                if s >= 0 and known.setdefault(self._core.place(t, v), int(s)) != s:
                    raise _core.Error("what was observed is impossible")
        names = whole.variables
        evidence = {names[p].name: names[p].states[s] for p, s in known.items()}
        best = whole.infer(evidence=evidence, time=0, question="best").best
        if best is None:
            raise _core.Error("what was observed is impossible")
        return {
            v.name: [best[names[self._core.place(t, v.index)].name] for t in range(len(states))]
            for v in self._model.variables
        }

    def unroll(self, times: int) -> "Model":
        """The model of so many slices as one: `NAME@1`, `NAME@2`, ... A variable of the slice before that is linked is
        in it once; its second name has one state."""
        whole = type(self._model)()
        graph = self._core.unrolled(times)
        own = self._model.variables
        for i in range(graph.num_variables):
            num_states, name, _, levels = graph.variable(i)
            states: Tuple[State, ...] = own[i % len(own)].states if num_states > 1 else (0,)
            whole._keep(Variable(name, states if len(states) == num_states else tuple(range(num_states)), i, tuple(levels)))
        whole._graph = graph
        return whole

    def _states(self, rows: Rows) -> "npt.NDArray[np.int32]":
        _, columns, states, soft = read_rows(self._model, rows)
        if soft:
            raise _core.Error("a slice has weights of states, which only `step` takes")
        full = np.full((len(states), len(self._model)), -1, dtype=np.int32)
        full[:, columns] = states
        return full

    def __repr__(self) -> str:
        return f"<treesample.TimeSeries: {len(self._model)} variables per slice, {len(self._links)} links, {self.steps} seen>"


class SliceNow(Mapping[str, "Dict[State, float]"]):
    """The marginals of one slice, and `log_z` of all slices so far. Empty where these are impossible."""

    def __init__(self, variables: "Tuple[Variable, ...]", log_z: float, flat: "npt.NDArray[np.float64]") -> None:
        self.log_z = log_z
        ends = np.cumsum([len(v.states) for v in variables])
        arrays = np.split(flat, ends[:-1]) if log_z > -math.inf else []
        self._marginals = Marginals(variables, arrays, np.zeros(len(arrays)))

    def __getitem__(self, name: str) -> "Dict[State, float]":
        return self._marginals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._marginals)

    def __len__(self) -> int:
        return len(self._marginals)
