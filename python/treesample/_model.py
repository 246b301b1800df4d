"""Models: variables with names, tables, functions, evidence."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _compare, _core, _display, _doors, _interop, _umbridge
from ._answer import Answer
from ._executor import make_door
from ._functions import FunctionFactor, Monotone, OnFailure, directions, failure_rule, failure_share, with_functions
from ._numbers import Ordered, by_name, doubles, factor_values, labels_of, levels_of, rows
from ._options import as_text, check_keywords, renamed, suggestion, unknown_name
from ._parts import State, Variable
from ._run import Asked, Calling, Run, as_it_is, redis_options

Weights = Union[Mapping[State, float], Sequence[float], "npt.NDArray[np.float64]"]
Evidence = Mapping[str, Union[State, Weights]]
Function = TypeVar("Function", bound=Callable[..., Any])
Leaf = Union[str, Callable[["Variable", "npt.NDArray[np.int32]"], npt.ArrayLike]]


class Model:
    """An unnormalised distribution over named variables: the product of its factors.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> coin = m.variable("coin", ["heads", "tails"])
    >>> m.table([coin], [0.5, 0.5])
    >>> m
    <treesample.Model: 1 variable, 1 factor>

    A model may be pickled if its functions may.
    """

    def __init__(self) -> None:
        self._graph = _core.Graph()
        self._variables: "list[Variable]" = []
        self._by_name: "dict[str, Variable]" = {}
        self._functions: "dict[int, FunctionFactor]" = {}
        self._evidence: "dict[int, int]" = {}
        self._weights: "dict[int, list[float]]" = {}  # soft evidence
        self._program_file: Optional[str] = None  # a JSON model whose programs may run

    # ---- building

    def variable(self, name: str, states: Union[int, Sequence[State]], *, ordered: Ordered = False) -> Variable:
        """Adds a variable with so many states, or with these labels.

        `ordered=True` says that states are numbers, or in order: where a function of this variable is learned from few
        calls, close states teach about each other. Labels that are numbers stand for themselves, and others for their
        places; a list gives each state a number of its own.

        >>> import treesample as ts
        >>> ts.Model().variable("rate", [1e-4, 1e-3, 1e-2], ordered=True).levels
        (0.0001, 0.001, 0.01)
        """
        if not isinstance(name, str) or not name:
            raise _core.Error(f"a variable's name is {name!r}, allowed is a text that is not empty")
        if name in self._by_name:
            raise _core.Error(f"there is a variable {name!r} already")
        labels, names = labels_of(states, name)
        levels = levels_of(ordered, labels, name)
        index = self._graph.add_variable(len(labels), name, names, levels)
        return self._keep(Variable(name, labels, index, tuple(levels)))

    def table(self, variables: Sequence[Union[str, Variable]], values: npt.ArrayLike) -> None:
        """Multiplies the distribution by a table of numbers that are not negative, one axis per variable."""
        array = factor_values(values, f"the table of {self._names(self._scope(variables))}")
        with np.errstate(divide="ignore"):
            self.log_table(variables, np.log(array))

    def log_table(self, variables: Sequence[Union[str, Variable]], values: npt.ArrayLike) -> None:
        """The same with the logarithms of the numbers; -inf is what cannot be."""
        scope = self._scope(variables)
        array = np.asarray(values, dtype=float)
        shape = tuple(len(self._variables[v].states) for v in scope)
        if array.shape != shape and array.shape != (math.prod(shape),):
            names = self._names(scope)
            raise _core.Error(f"the table of {names} has the shape {array.shape}, and must have {shape}")
        self._graph.add_table(list(scope), np.ascontiguousarray(array))

    def factor(
        self,
        *variables: Union[str, Variable],
        cost: Optional[float] = None,
        log_max: Optional[float] = None,
        batch: Optional[int] = None,
        on_failure: OnFailure = "stop",
        max_failure_share: float = _core.max_failure_share,
        monotone: Monotone = False,
    ) -> Callable[[Function], Function]:
        """Declares a function of these variables' states that returns a logarithm. It must always return the same.

        The function gets the labels of the states, in the order of the variables. With `batch=N` it gets an array of
        integers instead, up to N rows with one state (from 0) per variable, and returns as many numbers: the run then
        keeps N times `workers` questions under way.

        `cost` are the seconds that a call takes. A function of cost 0 without `batch` and `on_failure` is called by the
        search itself, as often as it likes; any other is called once for each of its states. `log_max` is an upper
        bound of what it returns, from which certified bounds are made. `on_failure` says what a call counts as that
        raises an exception or returns NaN: "stop" (the run ends with that exception, which has the answer so far),
        "impossible" (-inf), "skip" (the same, and the answer is one of the model without these configurations), or a
        number, of at most `log_max`. When more than `max_failure_share` of the calls have failed, from the 20th on, the
        run ends with an Error that says so, and has the answer so far.

        `monotone=True` declares that a later state of a variable never lowers the value; a mapping says "increasing" or
        "decreasing" for each variable. Certified bounds are made of it. Such a function may return a pair, the value
        and a witness: the names of variables whose states are enough for it, whatever the others are. Its failures end
        the run: what they count as otherwise would bound other states, too.

        >>> import treesample as ts
        >>> m = ts.Model()
        >>> a, b = m.variable("a", 3), m.variable("b", ["low", "high"])
        >>> @m.factor(a, b)
        ... def simulate(a, b):
        ...     return -1.0 * a if b == "low" else 0.0
        >>> answer = m.infer(calls=100)
        >>> answer.best
        {'a': 0, 'b': 'low'}
        """
        scope = self._scope(variables)
        rule = failure_rule(on_failure, log_max, bool(monotone))
        share = failure_share(max_failure_share)
        if batch is not None and batch < 1:
            raise _core.Error(f"batch is {batch}, allowed are numbers from 1 on")
        signs = directions(monotone, [self._variables[v].name for v in scope])

        def declare(function: Function) -> Function:
            self._functions[self._num_factors()] = FunctionFactor(
                scope, function, log_max, cost, batch, rule, signs, share
            )
            return function

        return declare

    umbridge = _umbridge.umbridge
    only_if = _doors.only_if

    def observe(self, evidence: Optional[Evidence] = None, **named: Union[State, Weights]) -> "Model":
        """Fixes variables to states, by label or by number. Returns the model.

        Weights of the states, as a mapping or in their order, are soft evidence: the model is multiplied by them.

        >>> import treesample as ts
        >>> m = ts.Model()
        >>> _ = m.variable("load", ["low", "high"])
        >>> m.observe(load="high").evidence
        {'load': 'high'}
        """
        states, weights = self._seen({**by_name(evidence), **named})
        self._evidence.update(states)
        self._weights.update(weights)
        return self

    def forget(self, *names: str) -> "Model":
        """Takes observations back; all of them without names."""
        for name in names or list(self._by_name):
            self._evidence.pop(self[name].index, None)
            self._weights.pop(self[name].index, None)
        return self

    # ---- looking

    @property
    def variables(self) -> Tuple[Variable, ...]:
        """All variables, in their order in configurations."""
        return tuple(self._variables)

    @property
    def factors(self) -> "list[tuple[Tuple[Variable, ...], Any]]":
        """Of each factor its variables and the logarithms, as an array that is not a copy; or the function."""
        tables = [(self._graph.scope(i), self._graph.table(i)) for i in range(self._graph.num_factors)]
        functions = [(list(f.scope), f.function) for f in self._functions.values()]
        return [(tuple(self._variables[v] for v in scope), values) for scope, values in tables + functions]

    @property
    def evidence(self) -> "dict[str, State]":
        """What was observed, by name."""
        return {self._variables[v].name: self._variables[v].states[s] for v, s in self._evidence.items()}

    def __getitem__(self, name: str) -> Variable:
        if name not in self._by_name:
            raise unknown_name("variable", name, self._by_name)
        return self._by_name[name]

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        factors = self._num_factors()
        seen = f", {len(self._evidence)} observed" if self._evidence else ""
        return (
            f"<treesample.Model: {len(self)} variable{'s' * (len(self) != 1)}, "
            f"{factors} factor{'s' * (factors != 1)}{seen}>"
        )

    _repr_html_ = _display.model_html

    def log_density(self, configurations: Any) -> Any:
        """The logarithm of the product of all factors: of one configuration by name, or of rows of states."""
        graph = with_functions(self)
        if isinstance(configurations, Mapping):
            return float(graph.log_densities(self._row(configurations))[0])
        return graph.log_densities(rows(configurations, self._variables, "log_density"))

    # ---- asking

    def infer(
        self,
        *,
        evidence: Optional[Evidence] = None,
        do: Optional[Mapping[str, State]] = None,
        query: Sequence[Sequence[str]] = (),
        map: Sequence[str] = (),
        time: Optional[float] = None,
        calls: Optional[int] = None,
        samples: int = 0,
        seed: int = 0,
        leaf: Optional[Leaf] = None,
        journal: Union[str, "os.PathLike[str]", None] = None,
        executor: Any = None,
        workers: Optional[int] = None,
        retry_failed: bool = False,
        version: str = "",
        redis: Union[str, Mapping[str, Any], None] = None,
        run: str = "default",
        progress: Union[bool, Callable[["dict[str, Any]"], None]] = False,
        **options: Any,
    ) -> Answer:
        """Answers all that can be asked of the model within the limits.

        `time` are seconds (0: no limit), `calls` how often functions may be called. `evidence` holds for this call,
        beside what was observed. `do` sets variables of a Bayesian network instead of observing them: what used to cause
        them no longer matters. `query` asks for joint distributions (`Answer.joint`), `map` for the most probable
        states of some variables with all others summed out (`Answer.map`). Functions are called by `executor` (any
        concurrent.futures.Executor, or a Client of dask), up to `workers` at a time, and their values are kept in the file `journal`, so
        that no call is ever paid twice; `version` is a text that changes when the functions do. Without one, their
        code, their defaults and the constants that they enclose stand for it, but not globals, lists and dictionaries.
        Programs of a model file may be run by `treesample worker` on any machine, by way of a Redis server: `redis` is
        its address, or a mapping with `address`, `password_file`, `key_file`, `tls_ca`, `tls_cert`, `tls_key`,
        `insecure`, `patience`, and `run` the name that the workers were given. Every other keyword is an option of the
        program (`infer_options()` has their help): method, gap, budget, memory, ...

        `leaf` is a word or a value function Q_phi of your own: `leaf(variable, prefixes)` gets the variable that
        comes next and an int array with a row per prefix and a column per variable of the model, -1 where it is open.
        It returns an array with a row per prefix and a column per state: the logarithm of the sum of the model over all
        that is open, with the variable in that state, as far as it is not decided by the prefix alone.

        Ctrl-C raises KeyboardInterrupt, and an exception of a function arrives as itself: both have the attribute
        `answer` with the answer so far.

        >>> import treesample as ts
        >>> m = ts.families.chain(seed=1)
        >>> answer = m.infer(time=5)
        >>> answer.log_z.lower <= answer.log_z.estimate <= answer.log_z.upper
        True
        """
        options = renamed(options, has_leaf=leaf is not None)
        leaf = options.pop("leaf", leaf)
        check_keywords(Model.infer, options)
        keywords = dict(options, time=time, calls=calls, samples=samples or None, seed=seed)
        names = [[asked] if isinstance(asked, str) else list(asked) for asked in query]
        if isinstance(leaf, str):
            keywords["leaf"] = leaf
        door = None if executor is None else make_door(executor)
        calling = Calling(door, workers, journal, retry_failed, version, redis_options(redis, run, time))
        asked = Asked(names, list(map), leaf if callable(leaf) else None)
        return Run(self.do(do) if do else self, evidence, calling, asked).infer(keywords, progress)

    def plan(self, *, evidence: Optional[Evidence] = None, **options: Any) -> str:
        """What `infer` would do, and why, without doing it.

        >>> import treesample as ts
        >>> print(ts.families.ising(n=3).plan(time=10).splitlines()[0])
        method      exact
        """
        options = renamed(options, has_leaf="leaf" in options)
        check_keywords(Model.plan, options)
        problem = _core.tables_and_functions(with_functions(self), self._observed(evidence))
        return _core.plan(problem, as_text(options))

    # ---- writing, asking often, setting, learning, deciding

    write = _doors.write
    infer_cases = _doors.infer_cases
    do = _doors.do
    compile = _doors.compile
    decide = _doors.decide
    repeat = _doors.repeat
    log_z_function = _doors.log_z_function
    fit = _doors.fit
    compare = _compare.compare

    # ---- other libraries

    from_pgmpy = classmethod(_interop.from_pgmpy)
    from_pyagrum = classmethod(_interop.from_pyagrum)
    from_networkx = classmethod(_interop.from_networkx)

    # ---- inside

    def __getstate__(self) -> "dict[str, Any]":
        tables = [
            (self._graph.scope(i), self._graph.table(i).copy()) for i in range(self._graph.num_factors)
        ]
        state = {key: value for key, value in self.__dict__.items() if key not in ("_graph", "_by_name")}
        return {**state, "_tables": tables}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        tables = state.pop("_tables")
        self.__dict__.update(state)
        self._graph = _core.Graph()
        self._by_name = {v.name: v for v in self._variables}
        for v in self._variables:
            names = [] if v.states == tuple(range(len(v.states))) else [str(s) for s in v.states]
            self._graph.add_variable(len(v.states), v.name, names, list(v.levels))
        for scope, values in tables:
            self._graph.add_table(scope, values)

    def _copied(self) -> "Model":
        """A copy that later changes of the model do not reach."""
        return as_it_is(self)

    def _keep(self, variable: Variable) -> Variable:
        self._variables.append(variable)
        self._by_name[variable.name] = variable
        return variable

    def _num_factors(self) -> int:
        return int(self._graph.num_factors) + len(self._functions)

    def _names(self, scope: Sequence[int]) -> str:
        return ", ".join(repr(self._variables[v].name) for v in scope)

    def _scope(self, variables: Sequence[Union[str, Variable]]) -> Tuple[int, ...]:
        if isinstance(variables, (str, Variable)):
            variables = [variables]
        for v in variables:
            if not isinstance(v, (str, Variable)):
                raise _core.Error(f"{v!r} is no variable, allowed are variables of this model and their names")
            if isinstance(v, Variable) and self[v.name] != v:
                raise _core.Error(f"variable {v.name!r} is of another model: its states or its place are not those of this one")
        return tuple(self[v if isinstance(v, str) else v.name].index for v in variables)

    def _state(self, variable: Variable, state: State) -> int:
        if state in variable.states:
            return variable.states.index(state)
        known = [str(s) for s in variable.states]
        if str(state) in known:
            return known.index(str(state))
        raise _core.Error(
            f"{variable.name!r} has no state {state!r}, allowed are {', '.join(known[:20])}"
            f"{' ...' if len(known) > 20 else ''}{suggestion(str(state), known)}"
        )

    def _pairs(self, states: Mapping[str, State]) -> "list[tuple[int, int]]":
        return [(self[name].index, self._state(self[name], state)) for name, state in states.items()]

    def _seen(self, evidence: Evidence) -> "tuple[dict[int, int], dict[int, list[float]]]":
        """States and weights by variable."""
        states: "dict[int, int]" = {}
        weights: "dict[int, list[float]]" = {}
        for name, seen in evidence.items():
            variable = self[name]
            what = f"the weights of {name!r}"
            if isinstance(seen, Mapping):
                numbers = doubles(list(seen.values()), what).tolist()
                of_state = {self._state(variable, state): weight for state, weight in zip(seen, numbers)}
                weights[variable.index] = [of_state.get(s, 0.0) for s in range(len(variable.states))]
            elif isinstance(seen, (list, tuple, np.ndarray)):
                weights[variable.index] = doubles(seen, what).tolist()
            else:
                states[variable.index] = self._state(variable, seen)  # type: ignore[arg-type]
        return states, weights

    def _observed(self, evidence: Optional[Evidence]) -> Any:
        states, weights = self._seen(by_name(evidence))
        kept = {v: s for v, s in self._evidence.items() if v not in weights}
        soft = {v: w for v, w in self._weights.items() if v not in states}
        return _core.Seen(list({**kept, **states}.items()), list({**soft, **weights}.items()))

    def _row(self, configuration: Mapping[str, State]) -> "npt.NDArray[np.int32]":
        missing = [v.name for v in self._variables if v.name not in configuration]
        if missing:
            raise _core.Error(f"the configuration has no state of {missing[0]!r}")
        pairs = sorted(self._pairs({name: configuration[name] for name in self._by_name}))
        return np.array([[state for _, state in pairs]], dtype=np.int32)
