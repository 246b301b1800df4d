"""Black boxes: which configurations to evaluate next, for who evaluates them."""

from __future__ import annotations

import json
import math
import numbers
import os
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._answer import Answer
from ._model import Model
from ._numbers import whole
from ._options import suggestion
from ._parts import State, Variable
from ._run import as_it_is

Configuration = Union[Mapping[str, "State"], Sequence[int], "npt.NDArray[np.integer[Any]]"]
Variables = Union[Model, Mapping[str, Union[int, Sequence["State"]]], Iterable[Variable]]
Noise = Union[None, bool, float]

FORMAT = "treesample black box 1"
QUESTIONS = ("all", "best")
FUNCTION = "value"  # what the black box is called where the model has no functions


class BlackBox:
    """An expensive function of discrete variables that somebody else evaluates: a robot, a queue, a laboratory.

    `ask` proposes configurations, `tell` takes their values, and `answer` says what is known: the distribution with
    these logarithms, its marginals, the best configuration. Every value teaches, whoever chose its configuration.

    >>> import treesample as ts
    >>> box = ts.BlackBox({"catalyst": ["Pd", "Ni", "Cu"], "bath": 4}, ordered=["bath"])
    >>> for x in box.ask(12):
    ...     box.tell(x, -2.0 * (x["catalyst"] == "Ni") - (x["bath"] - 2) ** 2)
    >>> box.answer().log_z.exact
    True

    `variables` are names with numbers or labels of states (`ordered` names those whose states are numbers or in order,
    True is all of them), or a model: its tables and observations are known, and its functions, which are not called,
    are the black boxes, each of its own variables; a model without functions has one black box, of all its variables.
    `noise=True` says that the same configuration has another value every time, a number is the standard deviation,
    `noise=False` that there is none; otherwise some configurations are asked for twice to see. With `question="best"`
    only the best configuration is looked for. A box can be pickled.
    """

    def __init__(
        self,
        variables: Variables,
        *,
        ordered: Union[bool, Sequence[str]] = False,
        noise: Noise = None,
        question: str = "all",
        seed: int = 0,
        confidence: float = 0.95,
    ) -> None:
        self._options = {
            "noise": _noise(noise),
            "question": question,
            "seed": whole(seed, "seed"),
            "confidence": float(confidence),
        }
        if question not in QUESTIONS:
            raise _core.Error(f"question is {question!r}, allowed are {' and '.join(map(repr, QUESTIONS))}")
        self._model = _model_of(variables, ordered)
        functions = list(self._model._functions.values())
        self._scopes = [list(f.scope) for f in functions] or [list(range(len(self._model)))]
        self._functions = [str(getattr(f.function, "__name__", "")) for f in functions] or [FUNCTION]
        self._make()

    def _make(self) -> None:
        if not len(self._model):
            raise _core.Error("a black box needs variables, and there are none")
        graph = self._model._graph.copy()
        for variable, state in self._model._evidence.items():
            known = np.full(len(self._model.variables[variable].states), -np.inf)
            known[state] = 0.0
            graph.add_table([variable], known)
        with np.errstate(divide="ignore"):
            for variable, weights in self._model._weights.items():
                graph.add_table([variable], np.log(np.asarray(weights, dtype=float)))
        self._first = int(graph.num_factors)
        o: "dict[str, Any]" = self._options
        self._core = _core.BlackBox(
            graph, self._scopes, o["seed"], o["question"] == "best", o["noise"], o["confidence"]
        )

    # ---- asking and telling

    def ask(self, n: int = 1, *, for_errors: bool = False, as_states: bool = False) -> Any:
        """At most n configurations to evaluate, as a list of mappings of names to states.

        They are chosen together, for n workers that evaluate them at the same time, and differ from all that were asked
        for or told; fewer come back where nothing is left. They may be told in any order, or never.

        With `for_errors` they are drawn at random from what is believed of everything that is not known: when they are
        told, `answer` knows its error. A tenth of all calls is a good number, the last ones.

        `as_states` returns an int array instead: a row of states (from 0) for each, a column per variable.
        """
        rows = self._core.ask(whole(n, "ask: n"), len(self._model), bool(for_errors))
        return rows if as_states else [self._named(row) for row in rows]

    def tell(self, x: Configuration, value: Any) -> None:
        """The logarithm of the function at a configuration: a mapping of names to states, or a row of states (from 0).

        -inf is what cannot be. Of a model with several functions, a mapping of their names to numbers; those that were
        not evaluated, because another one is -inf, may be missing.
        """
        states = self._states(x)
        if len(self._functions) == 1:
            (name,) = self._functions
            given = value[name] if isinstance(value, Mapping) and set(value) == {name} else value
            self._core.tell(np.array([states], dtype=np.int32), np.array([self._number(given, states)]))
            return
        if not isinstance(value, Mapping):
            raise _core.Error(f"tell: the value is {value!r}, allowed is a mapping of {', '.join(self._functions)} to numbers")
        told = {self._place(name): self._number(number, states) for name, number in value.items()}
        if len(told) < len(self._functions) and -math.inf not in told.values():
            missing = [name for i, name in enumerate(self._functions) if i not in told]
            raise _core.Error(f"tell: the value of {missing[0]!r} is missing, and none of the others is -inf")
        for place, number in told.items():
            self._core.tell_function(self._first + place, [states[v] for v in self._scopes[place]], number)
        self._core.tell_done(states)

    def tell_all(self, configurations: Any, values: npt.ArrayLike) -> None:
        """Many values of one function at once, such as those of an earlier campaign.

        `configurations` are rows of states (from 0), mappings of names to states, or a data frame with a column for each
        variable. Either all are told or, where one is wrong, none.
        """
        if len(self._functions) > 1:
            raise _core.Error("tell_all is for one function, and the model has several: use tell")
        rows = self._rows(configurations)
        numbers_ = np.asarray(values, dtype=object).ravel()
        if len(numbers_) != len(rows):
            raise _core.Error(f"tell_all: {len(numbers_)} values for {len(rows)} configurations")
        checked = np.array([self._number(number, row) for number, row in zip(numbers_, rows)], dtype=float)
        self._core.tell(rows, checked)

    def tell_failed(self, x: Configuration, why: str = "") -> None:
        """The evaluation failed there: the configuration is left out of the target, and where it fails is learned."""
        self._core.tell_failed(self._states(x), str(why))

    # ---- looking

    def answer(self) -> Answer:
        """What is known now. Without configurations that were asked for errors, a guess."""
        return Answer._of_run(self._core.answer(), _Asked(self._model), {})  # type: ignore[arg-type]

    @property
    def best(self) -> "Optional[dict[str, State]]":
        """The best configuration that was told; None where there is none."""
        found = self._core.best
        return None if found is None else self._named(found[0])

    @property
    def best_log_density(self) -> Optional[float]:
        """Of `best`, the model's tables included; where there is noise, its mean."""
        found = self._core.best
        return None if found is None else float(found[1])

    @property
    def told(self) -> "list[dict[str, Any]]":
        """What was told, in order: the states by name, `function`, `value` (None where it failed) and `why`."""
        result = []
        for factor, states, value, why in self._core.told():
            place = factor - self._first
            named = {self._model.variables[v].name: self._model.variables[v].states[s]
                     for v, s in zip(self._scopes[place], states)}
            result.append({**named, "function": self._functions[place], "value": value, "why": why})
        return result

    @property
    def variables(self) -> Tuple[Variable, ...]:
        return self._model.variables

    def __len__(self) -> int:
        return int(self._core.num_told)

    def __repr__(self) -> str:
        count = len(self)
        best = self.best_log_density
        found = "" if best is None else f", the best {best:.6g}"
        return (
            f"<treesample.BlackBox of {len(self._model)} variable{'s' * (len(self._model) != 1)}: "
            f"{count} value{'s' * (count != 1)} told{found}>"
        )

    # ---- keeping

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the box to a file (JSON). `load` goes on with it: it asks for the same as this one would."""
        model = self._model
        for variable in model.variables:
            for state in variable.states:
                if not isinstance(state, (str, int, float)):
                    raise _core.Error(
                        f"save: the state {state!r} of {variable.name!r} is neither a text nor a number; pickle the box"
                    )
        content = {
            "format": FORMAT,
            "variables": [[v.name, list(v.states), list(v.levels)] for v in model.variables],
            "tables": [[list(scope), _texts(values)] for scope, values in self._tables()],
            "functions": [list(pair) for pair in zip(self._functions, self._scopes)],
            "evidence": list(model._evidence.items()),
            "weights": list(model._weights.items()),
            "options": self._options,
            "told": json.loads(self._core.save()),
        }
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        partial.replace(target)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "BlackBox":
        """A box that was saved."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise _core.Error(f"{path}: the format is {content['format']!r}, this version reads {FORMAT!r}")
            model = Model()
            for name, states, levels in content["variables"]:
                model.variable(name, states, ordered=levels or False)
            for scope, values in content["tables"]:
                model._graph.add_table(scope, np.array([float(value) for value in values]))
            model._evidence = dict(content["evidence"])
            model._weights = dict(content["weights"])
            box = cls.__new__(cls)
            box._model = model
            box._options = content["options"]
            box._functions = [name for name, _ in content["functions"]]
            box._scopes = [scope for _, scope in content["functions"]]
            box._make()
            box._core.load(json.dumps(content["told"]))
        except (OSError, _core.Error):
            raise
        except Exception as error:
            raise _core.Error(f"{path}: not a black box that was saved: {error!r}") from None
        return box

    def __getstate__(self) -> "dict[str, Any]":
        state = {key: value for key, value in self.__dict__.items() if key != "_core"}
        return {**state, "_told": self._core.save()}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        told = state.pop("_told")
        self.__dict__.update(state)
        self._make()
        self._core.load(told)

    # ---- inside

    def _tables(self) -> "list[tuple[list[int], npt.NDArray[np.float64]]]":
        graph = self._model._graph
        return [(list(graph.scope(i)), graph.table(i)) for i in range(graph.num_factors)]

    def _named(self, row: Any) -> "dict[str, State]":
        return {v.name: v.states[int(row[v.index])] for v in self._model.variables}

    def _place(self, name: Any) -> int:
        if name not in self._functions:
            raise _core.Error(f"tell: there is no function {name!r}{suggestion(str(name), self._functions)}")
        return self._functions.index(name)

    def _states(self, x: Any) -> "list[int]":
        if isinstance(x, Mapping):
            for name in x:
                self._model[name]  # says what there is instead
            return [int(s) for s in self._model._row(x)[0]]
        row = np.asarray(x)
        width = len(self._model)
        if row.shape != (width,) or row.dtype.kind not in "iu":
            raise _core.Error(
                f"the configuration {x!r} is neither a mapping of names to states nor a row of {width} states from 0"
            )
        for variable, state in zip(self._model.variables, row):
            if not 0 <= state < len(variable.states):
                raise _core.Error(
                    f"the state of {variable.name!r} is {state}, allowed are 0 to {len(variable.states) - 1}"
                )
        return [int(s) for s in row]

    def _rows(self, configurations: Any) -> "npt.NDArray[np.int32]":
        if hasattr(configurations, "to_dict") and hasattr(configurations, "columns"):  # a data frame
            configurations = configurations.to_dict("records")
        if not isinstance(configurations, np.ndarray):
            configurations = list(configurations)
        rows = [self._states(x) for x in configurations]
        return np.array(rows, dtype=np.int32).reshape(len(rows), len(self._model))

    def _number(self, value: Any, states: Sequence[int]) -> float:
        try:
            number = math.nan if isinstance(value, (str, bytes)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        problem: str = _core.log_value_problem(number, None)
        if problem:
            shown = f"{value!r}{problem[problem.index(','):]}" if ',' in problem and math.isnan(number) else problem
            hint = "; tell_failed(x) is for evaluations that failed" if math.isnan(number) else ""
            raise _core.Error(f"tell: the value at {self._named(states)} is {shown}{hint}")
        return number


class _Asked:
    """What an answer needs of the run that it came from."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.query: "list[list[str]]" = []
        self._evidence = model._observed(None)

    def infer(self, *_: Any) -> Answer:
        raise _core.Error("extend: the values of a black box are told; ask(n) says where")


def _noise(noise: Noise) -> Noise:
    if noise is None or isinstance(noise, (bool, np.bool_)):
        return None if noise is None else bool(noise)
    if isinstance(noise, numbers.Real) and 0.0 < float(noise) < math.inf:
        return float(noise)
    raise _core.Error(f"noise is {noise!r}, allowed are True, False, None (it is looked for) and a standard deviation")


def _texts(values: Any) -> "list[Any]":
    """Numbers as JSON has them."""
    return [float(v) if math.isfinite(v) else str(float(v)) for v in np.asarray(values).ravel()]


def _model_of(variables: Variables, ordered: Union[bool, Sequence[str]]) -> Model:
    if isinstance(variables, Model):
        if variables._program_file is not None:
            raise _core.Error("the model has programs, which infer calls; a black box is told its values")
        if ordered is not False:
            raise _core.Error("ordered: the variables of a model say themselves whether their states are ordered")
        return as_it_is(variables)
    model = Model()
    if isinstance(variables, Mapping):
        names = list(variables) if ordered is True else [] if ordered is False else list(ordered)
        for name in names:
            if name not in variables:
                raise _core.Error(f"ordered: there is no variable {name!r}{suggestion(str(name), variables)}")
        for name, states in variables.items():
            model.variable(name, states, ordered=name in names)
        return model
    for variable in variables:
        if not isinstance(variable, Variable):
            raise _core.Error(f"variables: {variable!r} is neither a variable of a model nor a name with its states")
        model.variable(variable.name, variable.states, ordered=variable.levels or False)
    return model
