"""Methods of Model that write it, ask it often, set it, learn it, and decide by it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Tuple, Union

import numpy.typing as npt

from . import _cases, _core, _decide, _fit
from ._cases import Rows
from ._decide import Decided, Names, Utilities
from ._fit import Fit
from ._functions import with_functions
from ._kept import LogZFunction, Scope, Session
from ._numbers import by_name
from ._options import as_text, check_keywords
from ._parts import State, Variable
from ._slices import Start, TimeSeries

if TYPE_CHECKING:
    from ._model import Evidence, Model


def write(self: "Model", path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes a model of tables in the format of the extension: .uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .wcsp or
    .json. A UAI file has no names, and some formats are for Bayesian networks only.

    >>> import os, tempfile, treesample as ts
    >>> file = os.path.join(tempfile.mkdtemp(), "grid.json")
    >>> ts.families.ising(n=3).write(file)
    >>> len(ts.read(file))
    9
    """
    target = Path(path)
    if self._functions:
        raise _core.Error(f"{target}: a model with functions cannot be written to a file")
    text = _core.format_model(self._graph, os.fspath(target))
    partial = target.with_name(target.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(target)


def only_if(
    self: "Model", variable: Union[str, Variable], states: Mapping[str, Union[State, Sequence[State]]]
) -> None:
    """Says that a variable matters only where others are in these states: in one of them, where a list is given.

    Elsewhere it is in its first state and in no other one, so that what differs in it alone is one configuration: a
    function is called for it once, and it counts once. Of several conditions, all have to hold.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> _ = m.variable("solver", ["direct", "gmres"]), m.variable("restart", [10, 20, 40])
    >>> m.only_if("restart", {"solver": "gmres"})
    >>> import math
    >>> round(math.exp(m.infer().log_z.estimate))  # configurations
    4
    """
    own = self._scope([variable])[0]
    for name, wanted in states.items():
        other = self[name]
        if other.index == own:
            raise _core.Error(f"only_if: {name!r} cannot depend on itself")
        listed = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset, range)) else [wanted]
        self._graph.add_only_if(own, other.index, [self._state(other, state) for state in listed])


def infer_cases(
    self: "Model",
    cases: Rows,
    *,
    query: Sequence[Union[str, Sequence[str]]] = (),
    evidence: "Optional[Evidence]" = None,
    do: Optional[Mapping[str, State]] = None,
    time: Optional[float] = None,
    seed: int = 0,
    progress: Union[bool, Callable[["dict[str, Any]"], None]] = False,
    **options: Any,
) -> Any:
    """Answers many cases of evidence: one row each, with log Z and the probabilities that were asked for.

    `cases` are a data frame, a mapping of names to columns, a list of mappings, or a file (.csv, .json). None, NaN
    and empty cells are not observed; weights of states are soft evidence. A column "case" has labels. `query` names
    variables, or lists of them for joint distributions; without it, all variables are answered. `evidence` holds
    for all cases. Cases in which the same variables are observed share work, and all cores are used (`threads`).

    The result is a mapping of columns to arrays (`CaseAnswers`), or a data frame where `cases` are one.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> rain, grass = m.variable("rain", ["no", "yes"]), m.variable("grass", ["dry", "wet"])
    >>> m.table([rain], [0.8, 0.2])
    >>> m.table([rain, grass], [[0.9, 0.1], [0.2, 0.8]])
    >>> answers = m.infer_cases([{"grass": "wet"}, {"grass": "dry"}, {}], query=["rain"])
    >>> answers["P(rain=yes)"].round(4).tolist()
    [0.6667, 0.0526, 0.2]
    """
    check_keywords(infer_cases, options)
    model = self.do(do) if do else self
    problem = _core.tables_and_functions(with_functions(model), model._observed(evidence))
    return _cases.infer_cases(model, problem, cases, query, as_text(dict(options, time=time, seed=seed)), progress)


def do(self: "Model", states: Mapping[str, State]) -> "Model":
    """A Bayesian network in which these variables are set: their tables no longer depend on their parents.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> rain, grass = m.variable("rain", ["no", "yes"]), m.variable("grass", ["dry", "wet"])
    >>> m.table([rain], [0.8, 0.2])
    >>> m.table([rain, grass], [[0.9, 0.1], [0.2, 0.8]])
    >>> round(m.do({"grass": "wet"}).infer()["rain"]["yes"], 4)
    0.2
    """
    if self._functions or self._program_file is not None:
        raise _core.Error("do: the model has functions, allowed are Bayesian networks of tables")
    result = self._copied()
    result._graph = _core.intervened(self._graph, self._pairs(by_name(states)))
    return result


def compile(self: "Model") -> Session:
    """Compiles the model once: evidence is then set and taken back, and answers come in microseconds (`Session`).

    >>> import treesample as ts
    >>> session = ts.families.ising(n=3).compile()
    >>> session.observe(x0=1).log_z.exact
    True
    """
    return Session(self)


def decide(
    self: "Model",
    decisions: Mapping[str, Names],
    utilities: Utilities,
    *,
    evidence: "Optional[Evidence]" = None,
    limited: bool = False,
) -> Decided:
    """The decisions of the largest expected utility (`Decided`).

    `decisions` maps each decision, in their order in time, to the variables that are known when it is made; each
    also knows what was known and decided before, unless memory is `limited` to what its own list names. A decision is a variable without a table of its own. `utilities`
    are pairs of variables and values with an axis per variable; their sum counts. All other variables have tables.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> rain, umbrella = m.variable("rain", ["no", "yes"]), m.variable("umbrella", ["leave", "take"])
    >>> m.table(["rain"], [0.7, 0.3])
    >>> best = m.decide({"umbrella": []}, [(["rain", "umbrella"], [[20, 10], [0, 10]])])
    >>> best.expected_utility, best.policies["umbrella"](), best.value_of("rain")
    (14.0, 'leave', 3.0)
    """
    return _decide.decide(self, decisions, utilities, evidence, limited)


def repeat(
    self: "Model",
    *,
    links: Sequence[Tuple[Union[str, Variable], Union[str, Variable]]],
    start: Optional[Start] = None,
) -> TimeSeries:
    """This model as a slice that repeats in time (`TimeSeries`): filtering online, smoothing, the best path.

    Each link is a pair (before, now): `before` is the variable `now` of the slice before. `start` has tables over
    the variables `before` of the first slice, by name or as pairs of names and values; without it they are free.
    """
    return TimeSeries(self, links, start)


def log_z_function(self: "Model", parameters: Optional[Sequence[Scope]] = None) -> LogZFunction:
    """log Z as a function of tables, with its exact gradient (`LogZFunction`).

    `parameters` are factors, by number or by the names of their variables; without them, all tables are.
    `treesample.torch` and `treesample.jax` make it a function of these libraries.

    >>> import treesample as ts
    >>> f = ts.families.ising(n=3).log_z_function()
    >>> value, gradients = f()
    >>> len(gradients) == len(f.scopes)
    True
    """
    return LogZFunction(self, parameters)


def fit(
    self: "Model",
    data: Rows,
    *,
    parameters: Optional[Sequence[Scope]] = None,
    method: Optional[str] = None,
    prior: Union[float, Sequence[npt.ArrayLike]] = 0.0,
    shared: Sequence[Sequence[Scope]] = (),
    weights: Optional[Sequence[float]] = None,
    iterations: int = 200,
    tolerance: float = 1e-9,
    threads: Optional[int] = None,
    progress: Union[bool, Callable[["dict[str, Any]"], None]] = False,
) -> Fit:
    """Learns tables from data by maximum likelihood; cells may be missing.

    `data` are as the cases of `infer_cases`; variables without a column are never observed. `parameters` are the
    factors that are learned, by number or by the names of their variables (all of them without it), beginning with
    the tables that they have. Expectation and maximisation (`method="em"`) is for Bayesian networks, and the
    default there. `method="gradient"` is for any model of tables, and its log likelihood takes log Z off for each
    row. `prior` adds pseudo-counts to the entries, one number or an array for each parameter: a Dirichlet prior,
    whose mode is found. `shared` lists groups of factors that have the same table. It ends when an iteration changes
    the log likelihood by less than `tolerance` times its size.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> m.table([m.variable("coin", ["heads", "tails"])], [0.5, 0.5])
    >>> fit = m.fit({"coin": ["heads", "tails", "heads", None, "heads"]})
    >>> round(fit.model.infer()["coin"]["heads"], 4)
    0.75
    """
    return _fit.fit(
        self, data, parameters=parameters, method=method, prior=prior, shared=shared, weights=weights,
        iterations=iterations, tolerance=tolerance, threads=threads, progress=progress,
    )
