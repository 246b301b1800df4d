"""What is compiled once and asked many times: sessions, and log Z as a differentiable function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display, _plots
from ._numbers import by_name, doubles
from ._parts import LogZ, Marginals, State, Variable

if TYPE_CHECKING:
    from ._model import Evidence, Model

ORDER_WORK = 1e8  # bucket entries that could be summed while an order is looked for
MEMORY = 4e9  # bytes

Scope = Union[int, Sequence[Union[str, Variable]]]
Tables = Union[Sequence[npt.ArrayLike], npt.ArrayLike]


def tables_only(model: Model, what: str) -> Any:
    """The model's graph, which must have tables only; a copy."""
    if model._functions or model._program_file is not None:
        raise _core.Error(f"{what}: the model has functions, allowed are models of tables")
    return model._graph.copy()


class Session:
    """A model that is compiled once: evidence is set and taken back, and answers come in microseconds.

    `Model.compile` makes it. Later changes of the model do not reach it.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> rain, grass = m.variable("rain", ["no", "yes"]), m.variable("grass", ["dry", "wet"])
    >>> m.table([rain], [0.8, 0.2])
    >>> m.table([rain, grass], [[0.9, 0.1], [0.2, 0.8]])
    >>> session = m.compile()
    >>> round(session.observe(grass="wet")["rain"]["yes"], 4)
    0.6667
    >>> round(session.retract("grass")["rain"]["yes"], 4)
    0.2
    """

    def __init__(self, model: Model) -> None:
        graph = tables_only(model, "compile")
        self._model = model._copied()
        self._kept = _core.Kept(graph, [], True, ORDER_WORK, MEMORY)
        self._places = np.concatenate([[0], np.cumsum([len(v.states) for v in model.variables])]).astype(int)
        self._evidence: "Dict[int, Union[int, List[float]]]" = {}
        self._log_z: Optional[LogZ] = None
        self._marginals: Optional[Marginals] = None
        self._set({**model._evidence, **model._weights})

    def observe(self, evidence: Optional[Evidence] = None, **named: Any) -> "Session":
        """Sets variables to states, or gives their states weights; what was known of them before is forgotten."""
        states, weights = self._model._seen({**by_name(evidence), **named})
        self._set({**states, **weights})
        return self

    def retract(self, *names: str) -> "Session":
        """Takes observations back; all of them without names."""
        variables = [self._model[name].index for name in names] if names else list(self._evidence)
        for v in variables:
            if self._evidence.pop(v, None) is not None:
                self._kept.set_state(v, -1)
                self._log_z = None
        return self

    def _set(self, seen: "Mapping[int, Union[int, List[float]]]") -> None:
        for v, what in seen.items():
            if isinstance(what, int):
                self._kept.set_state(v, what)
            else:
                check_weights(self._model.variables[v], what)
                self._kept.set_weights(v, what)
            self._evidence[v] = what
            self._log_z = None

    def _run(self) -> LogZ:
        if self._log_z is not None:
            return self._log_z
        value, lower, upper, is_lossy = self._kept.up()
        self._marginals = None
        if is_lossy:  # numbers are too small or too large: logarithms take longer, and have no such limit
            answer = self._model.forget().infer(evidence=self._by_name(), method="exact")
            self._log_z, self._marginals = answer.log_z, answer.marginals
            return self._log_z
        self._log_z = LogZ(value, lower, upper, (lower, upper), None, True, (lower, upper), "exact")
        return self._log_z

    def _by_name(self) -> "Dict[str, Any]":
        variables = self._model.variables
        return {
            variables[v].name: variables[v].states[what] if isinstance(what, int) else what
            for v, what in self._evidence.items()
        }

    @property
    def evidence(self) -> "Dict[str, Any]":
        """What is known, by name."""
        return self._by_name()

    @property
    def log_z(self) -> LogZ:
        """With certified bounds. In a Bayesian network it is the logarithm of the probability of the evidence."""
        return self._run()

    @property
    def marginals(self) -> Marginals:
        """Of all variables, given what is known. Empty where that is impossible."""
        log_z = self._run()
        if self._marginals is None:
            arrays: "List[npt.NDArray[np.float64]]" = []
            if log_z.estimate is not None and log_z.estimate > -math.inf:
                self._kept.down()
                places = self._places
                flat = self._kept.marginals()
                arrays = [flat[begin:end] for begin, end in zip(places, places[1:])]
            self._marginals = Marginals(self._model.variables, arrays, np.zeros(len(arrays)))
        return self._marginals

    def __getitem__(self, name: str) -> "Dict[State, float]":
        self._model[name]
        return self.marginals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(v.name for v in self._model.variables)

    def __repr__(self) -> str:
        return f"<treesample.Session: {len(self._model)} variables, {len(self._evidence)} observed, {self.log_z.text()}>"

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Marginals by matplotlib, as `Answer.plot`."""
        return _plots.plot_marginals(self.marginals, names, ax, self.evidence)

    _repr_html_ = _display.session_html


def check_weights(variable: Variable, weights: Sequence[float]) -> None:
    """Of soft evidence."""
    array = np.asarray(weights, dtype=float)
    is_right = array.shape == (len(variable.states),) and bool(np.all((array >= 0) & (array < np.inf)))
    if not is_right or not array.any():
        raise _core.Error(
            f"the weights of {variable.name!r} are {list(weights)}, allowed is one number from 0 on per state "
            f"({len(variable.states)}), not all of them 0"
        )


class LogZFunction:
    """log Z as a function of tables, with its exact gradient. `Model.log_z_function` makes it.

    The tables are those of the factors `scopes`, as logarithms with one axis per variable. A gradient has the shapes of
    the tables: with respect to the logarithm of an entry, it is the probability of that entry.

    >>> import treesample as ts
    >>> import numpy as np
    >>> m = ts.Model()
    >>> m.table([m.variable("coin", ["heads", "tails"])], [1.0, 3.0])
    >>> f = m.log_z_function()
    >>> value, gradients = f()
    >>> round(value, 6), gradients[0].round(6).tolist()
    (1.386294, [0.25, 0.75])
    >>> round(f.value([np.log([2.0, 2.0])]), 6)
    1.386294
    """

    def __init__(self, model: Model, parameters: Optional[Sequence[Scope]]) -> None:
        graph = tables_only(model, "log_z_function")
        self._model = model._copied()
        self._factors = factors_of(model, parameters)
        self.scopes: "Tuple[Tuple[Variable, ...], ...]" = tuple(
            tuple(model.variables[v] for v in graph.scope(m)) for m in self._factors
        )
        self.tables: "List[npt.NDArray[np.float64]]" = [graph.table(m).copy() for m in self._factors]
        self._kept = _core.Kept(graph, self._factors, False, ORDER_WORK, MEMORY)
        self._base: "Dict[int, Union[int, List[float]]]" = {**model._evidence, **model._weights}
        self._now: "Dict[int, Union[int, List[float]]]" = {}

    def value(self, tables: Optional[Tables] = None, *, evidence: Optional[Evidence] = None) -> float:
        """log Z alone, which takes about a third of the time."""
        self._set_tables(tables)
        return self._up(evidence)

    def __call__(
        self,
        tables: Optional[Tables] = None,
        *,
        evidence: "Union[Evidence, Sequence[Evidence], None]" = None,
    ) -> "Tuple[Any, List[npt.NDArray[np.float64]]]":
        """log Z and its gradient. `tables` are logarithms, in the order of `scopes`, or all of them as one flat array;
        without them they are those of the model. With a list of evidences, there is a value for each of them, and each
        gradient has one more axis in front.
        """
        self._set_tables(tables)
        if evidence is None or isinstance(evidence, Mapping):
            value, flat = self._one(evidence)
            return value, self._split(flat)
        results = [self._one(each) for each in evidence]
        if not results:
            raise _core.Error("log_z_function: the list of evidences is empty, allowed are one and more")
        split = [self._split(flat) for _, flat in results]
        values = np.array([value for value, _ in results])
        return values, [np.stack([each[i] for each in split]) for i in range(len(self.tables))]

    def _one(self, evidence: Optional[Evidence]) -> "Tuple[float, npt.NDArray[np.float64]]":
        value = self._up(evidence)
        if value == -math.inf:
            raise _core.Error("log_z_function: nothing is possible, so that log Z has no gradient")
        self._kept.down()
        return value, self._kept.counts()

    def _up(self, evidence: Optional[Evidence]) -> float:
        states, weights = self._model._seen(by_name(evidence))
        wanted: "Dict[int, Union[int, List[float]]]" = {**self._base, **states, **weights}
        for v in set(self._now) - set(wanted):
            self._kept.set_state(v, -1)
        for v, what in wanted.items():
            if self._now.get(v) == what:
                continue
            if isinstance(what, int):
                self._kept.set_state(v, what)
            else:
                check_weights(self._model.variables[v], what)
                self._kept.set_weights(v, what)
        self._now = wanted
        value, _, _, is_lossy = self._kept.up()
        if is_lossy:
            raise _core.Error(
                "log_z_function: numbers are too small or too large for the sums of this model; "
                "infer(sensitivity='evidence') has derivatives that take longer"
            )
        return float(value)

    def _set_tables(self, tables: Optional[Tables]) -> None:
        if tables is None:
            tables = self.tables
        if isinstance(tables, np.ndarray) and tables.ndim == 1 and tables.dtype != object:
            self._kept.set_tables(doubles(tables, "the tables"))
            return
        arrays = list(tables)  # type: ignore[arg-type]
        if len(arrays) != len(self.tables):
            raise _core.Error(f"log_z_function: {len(arrays)} tables are given, and there are {len(self.tables)} parameters")
        flat = []
        for given, own, scope in zip(arrays, self.tables, self.scopes):
            array = doubles(given, "a table")
            if array.size != own.size or (array.ndim != 1 and array.shape != own.shape):
                names = ", ".join(v.name for v in scope)
                raise _core.Error(f"the table of {names} has the shape {array.shape}, and must have {own.shape}")
            flat.append(array.ravel())
        self._kept.set_tables(np.concatenate(flat) if flat else np.zeros(0))

    def _split(self, flat: "npt.NDArray[np.float64]") -> "List[npt.NDArray[np.float64]]":
        parts, at = [], 0
        for own in self.tables:
            parts.append(flat[at : at + own.size].reshape(own.shape))
            at += own.size
        return parts

    def __repr__(self) -> str:
        return f"<treesample.LogZFunction of {len(self.tables)} tables, {sum(t.size for t in self.tables)} entries>"


def factors_of(model: Model, parameters: Optional[Sequence[Scope]]) -> "List[int]":
    """Factors by number, or by the names of their variables in any order; without any, all tables."""
    count = int(model._graph.num_factors)
    if parameters is None:
        return [m for m in range(count)]
    found = []
    for given in parameters:
        if isinstance(given, (int, np.integer)):
            if not 0 <= given < count:
                raise _core.Error(f"parameters: there is no factor {given}, allowed are 0 to {count - 1}")
            found.append(int(given))
            continue
        wanted = sorted(model._scope(given))
        which = [m for m in range(count) if sorted(model._graph.scope(m)) == wanted]
        if len(which) != 1:
            names = model._names(wanted)
            raise _core.Error(f"parameters: {len(which)} factors have the variables {names}; give the number of one")
        found.append(which[0])
    if len(set(found)) != len(found):
        raise _core.Error("parameters: a factor is given twice")
    return found


