"""Functions as factors: how they are declared, and how the library calls them."""

from __future__ import annotations

import concurrent.futures
import math
import numbers
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._model import Model

OnFailure = Union[str, float]
Monotone = Union[bool, Mapping[str, str]]

_SIGNS = {"increasing": 1, "decreasing": -1}


class FunctionFactor(NamedTuple):
    """A factor that is code, as it was declared."""

    scope: Tuple[int, ...]
    function: Callable[..., Any]
    log_max: Optional[float]
    cost: Optional[float]
    batch: Optional[int]
    on_failure: OnFailure
    directions: Tuple[int, ...] = ()  # 1 or -1 for each variable of a monotone function
    max_failure_share: float = _core.max_failure_share

    @property
    def failure_value(self) -> Optional[float]:
        """What a failure counts as; None where it ends the run."""
        if self.on_failure == "stop":
            return None
        return -math.inf if isinstance(self.on_failure, str) else float(self.on_failure)

    @property
    def is_direct(self) -> bool:
        """Called by the search itself, as often as it likes, one state at a time. Nobody counts its failures then."""
        is_here = not hasattr(self.function, "to_json")
        return is_here and self.cost == 0 and self.batch is None and self.on_failure == "stop"


def failure_rule(on_failure: Any, log_max: Optional[float], is_monotone: bool) -> OnFailure:
    """What was given, where it is allowed.

    A number above `log_max` would make the bounds wrong that rest on it, and so would any for a monotone function.
    """
    if is_monotone and on_failure != "stop":
        raise _core.Error("monotone needs on_failure='stop': what a failure counts as would bound other states")
    if isinstance(on_failure, str) and on_failure in ("stop", "impossible", "skip"):
        return on_failure
    if not isinstance(on_failure, numbers.Real) or isinstance(on_failure, bool):
        raise _core.Error(f"on_failure is {on_failure!r}, allowed are 'stop', 'impossible', 'skip' and numbers")
    value = float(on_failure)
    problem: str = _core.log_value_problem(value, log_max)
    if problem:
        raise _core.Error(f"on_failure is {problem}")
    return value


def failure_share(share: Any) -> float:
    """The share of calls that may fail."""
    if not isinstance(share, numbers.Real) or isinstance(share, bool) or not 0.0 <= float(share) <= 1.0:
        raise _core.Error(f"max_failure_share is {share!r}, allowed are numbers from 0 to 1")
    return float(share)


def directions(monotone: Monotone, names: "list[str]") -> Tuple[int, ...]:
    """1 or -1 for each of the variables; none where nothing is declared."""
    if isinstance(monotone, (bool, np.bool_)):
        return (1,) * len(names) if monotone else ()
    if not isinstance(monotone, Mapping) or set(monotone) != set(names):
        raise _core.Error(
            f"monotone is {monotone!r}, allowed are True and a mapping of each variable of the factor "
            f"({', '.join(names)}) to 'increasing' or 'decreasing'"
        )
    for name, word in monotone.items():
        if word not in _SIGNS:
            raise _core.Error(f"monotone: {name!r} is {word!r}, allowed are 'increasing' and 'decreasing'")
    return tuple(_SIGNS[monotone[name]] for name in names)


# They say nothing of the states that were asked for, so they are no failures of a call.
FATAL = (concurrent.futures.CancelledError, concurrent.futures.BrokenExecutor)


def with_functions(
    model: Model,
    raised: Optional[_core.Raised] = None,
    is_paid: bool = False,
    executor: Optional[_core.Executor] = None,
) -> Any:
    """The model's graph with its functions. What they raise is kept in `raised`, or passes through the library. Where
    there is an executor, it makes the calls."""
    graph = model._graph.copy()
    for factor in model._functions.values():
        labels = [list(model._variables[v].states) for v in factor.scope]
        options = _core.FunctionOptions(
            factor.log_max,
            factor.cost,
            factor.batch or 0,
            factor.failure_value,
            raised,
            is_paid,
            FATAL,
            list(factor.directions),
        )
        graph.add_function(list(factor.scope), factor.function, labels, options, executor)
    return graph


def rules(model: Model) -> "dict[int, OnFailure]":
    """What failures count as, by factor."""
    first = int(model._graph.num_factors)  # functions come behind the tables
    return {first + i: factor.on_failure for i, factor in enumerate(model._functions.values())}


def servers(model: Model) -> "dict[int, str]":
    """Those that a server computes, by factor: the description of the server (_umbridge.Server)."""
    first = int(model._graph.num_factors)
    functions = enumerate(factor.function for factor in model._functions.values())
    return {first + i: function.to_json() for i, function in functions if hasattr(function, "to_json")}


def shares(model: Model) -> "dict[int, float]":
    """How many of its calls may fail, by factor."""
    first = int(model._graph.num_factors)
    return {first + i: factor.max_failure_share for i, factor in enumerate(model._functions.values())}


def names(model: Model) -> "dict[int, str]":
    """What the functions are called, by factor."""
    first = int(model._graph.num_factors)
    functions = enumerate(factor.function for factor in model._functions.values())
    return {first + i: str(getattr(function, "__name__", f"factor {first + i}")) for i, function in functions}
