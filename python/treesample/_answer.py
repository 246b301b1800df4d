"""What `infer` answers."""

from __future__ import annotations

import html
import importlib
import math
import numbers
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._functions import with_functions
from ._numbers import whole
from ._options import check_keywords

if TYPE_CHECKING:
    from ._model import State
    from ._run import Run


SUMS = ("calls", "budget", "time")  # limits that `extend` adds to


class LogZ(NamedTuple):
    """The logarithm of the sum over all configurations: what is known of it, and how well.

    `lower` and `upper` are certified: rounding included, they cannot be wrong. `interval` holds at the confidence that
    was asked for, because the weights of its samples are bounded. `sampled_interval`, of a learned model, is made of
    the spread of samples: it is not certified, and where the samples miss what matters it can be far from the truth.
    Where log Z is exact, both are the certified bounds.
    `estimate` and `std_error` are no statements of that kind.
    """

    estimate: Optional[float]
    lower: Optional[float]
    upper: Optional[float]
    interval: Optional[Tuple[float, float]]
    std_error: Optional[float]
    exact: bool
    sampled_interval: Optional[Tuple[float, float]] = None

    def __float__(self) -> float:
        return math.nan if self.estimate is None else self.estimate


class MapStates(NamedTuple):
    """The most probable states of some variables, all others summed out.

    `log_value` is certified to be at most the logarithm of the sum over the configurations with these states, and
    `log_upper` to be at least that of any other states.
    """

    states: "dict[str, Any]"
    log_value: float
    log_upper: float
    optimal: bool


class Marginals(Mapping[str, "dict[Any, float]"]):
    """Probabilities of the states of each variable, by name."""

    def __init__(self, variables: Tuple[Any, ...], arrays: Any, errors: Any) -> None:
        self._variables = {v.name: v for v in variables} if len(arrays) else {}
        self._arrays = arrays
        self._errors = errors

    def __getitem__(self, name: str) -> "dict[State, float]":
        variable = self._variables[name]
        return dict(zip(variable.states, self._arrays[variable.index].tolist()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def array(self, name: str) -> "npt.NDArray[np.float64]":
        """Of one variable, in the order of its states."""
        result: "npt.NDArray[np.float64]" = self._arrays[self._variables[name].index]
        return result

    def std_error(self, name: str) -> Optional[float]:
        """The largest of one variable's states; None where there is none, 0 where they are exact."""
        return float(self._errors[self._variables[name].index]) if len(self._errors) else None

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

    def __repr__(self) -> str:
        return f"<treesample.Marginals of {len(self)} variables>"


class Answer:
    """What is known of a model after a run, and how far it can be trusted. Made by `Model.infer`."""

    def __init__(self, core: Any, run: "Run", keywords: "dict[str, Any]") -> None:
        self._core = core
        self._run = run
        self._keywords = keywords
        self._variables = run.model.variables

    @property
    def log_z(self) -> LogZ:
        c = self._core
        return LogZ(c.estimate, c.lower, c.upper, c.interval, c.std_error, c.is_exact, c.sampled_interval)

    @property
    def marginals(self) -> Marginals:
        return Marginals(self._variables, self._core.marginals, self._core.marginal_errors)

    def __getitem__(self, name: str) -> "dict[State, float]":
        """The probabilities of one variable's states: answer["lung"]."""
        self._run.model[name]  # says what there is instead
        return self.marginals[name]

    @property
    def best(self) -> "Optional[dict[str, State]]":
        """The most probable configuration, or the best that was met; None when there is none."""
        found = self._core.best
        return None if found is None else self._named(found[0])

    @property
    def best_log_density(self) -> Optional[float]:
        found = self._core.best
        return None if found is None else float(found[1])

    @property
    def best_is_optimal(self) -> bool:
        """Whether it is proved that no configuration is better."""
        return bool(self._core.is_best_optimal)

    @property
    def best_gap(self) -> Optional[float]:
        """Certified: no configuration is better by more than this."""
        gap: Optional[float] = self._core.best_gap
        return gap

    @property
    def k_best(self) -> "list[tuple[dict[str, State], float]]":
        """Configurations and their log-densities, best first, where `k_best=N` asked for them."""
        return [(self._named(x), float(value)) for x, value in self._core.k_best]

    @property
    def map(self) -> Optional[MapStates]:
        """What `map=[...]` asked for."""
        found = self._core.map
        if found is None:
            return None
        variables, states, log_value, log_upper, is_optimal = found
        named = {self._variables[v].name: self._variables[v].states[s] for v, s in zip(variables, states)}
        return MapStates(named, log_value, log_upper, is_optimal)

    def joint(self, *names: str) -> "npt.NDArray[np.float64]":
        """A joint distribution that `query=[names, ...]` asked for, with an axis per variable."""
        for asked, (variables, probabilities, _) in zip(self._run.query, self._core.queries):
            if tuple(asked) == names:
                shape = [len(self._variables[v].states) for v in variables]
                result: "npt.NDArray[np.float64]" = probabilities.reshape(shape)
                return result
        raise KeyError(f"{names} was not asked for: infer(query=[{list(names)}])")

    @property
    def evidence_probability(self) -> Optional[float]:
        """P(evidence) of a Bayesian network, as far as log Z is known; None for other models."""
        result: Optional[float] = self._core.evidence_probability
        return result

    @property
    def conflict(self) -> "list[str]":
        """Of impossible evidence: the variables that cannot all have been observed as they were."""
        return [self._variables[v].name for v in self._core.conflict]

    @property
    def samples(self) -> "npt.NDArray[np.int32]":
        """Those that were asked for: rows of states (from 0), a column per variable of the model."""
        result: "npt.NDArray[np.int32]" = self._core.samples(len(self._variables))
        return result

    def sample(self, count: int, seed: int = 0) -> "npt.NDArray[np.int32]":
        """Independent samples of the distribution that the run ended with; `log_prob` knows their probabilities."""
        wanted, seed = whole(count, "sample: count"), whole(seed, "sample: seed")
        result: "npt.NDArray[np.int32]" = self._core.draw(wanted, seed, len(self._variables))
        return result

    def log_prob(self, configurations: Any) -> Any:
        """Exact log-probabilities under the distribution that `sample` draws from."""
        if isinstance(configurations, Mapping):
            row = self._run.model._row(configurations)
            return float(self._core.log_probs(row, len(self._variables))[0])
        return self._core.log_probs(np.asarray(configurations, dtype=np.int32), len(self._variables))

    def named(self, states: Any) -> "dict[str, State]":
        """A row of states by name."""
        return self._named(states)

    @property
    def plan(self) -> str:
        """What was done and why."""
        text: str = self._core.plan
        return text

    @property
    def method(self) -> str:
        text: str = self._core.method
        return text

    @property
    def stop(self) -> str:
        """Why the run ended."""
        text: str = self._core.stop
        return text

    @property
    def spent(self) -> "dict[str, Any]":
        """Seconds, reward evaluations, calls of functions, and what each function or program was asked for."""
        c = self._core
        return {
            "seconds": c.seconds,
            "evaluations": c.reward_evaluations,
            "calls": c.calls,
            "functions": [{**entry, "name": self._run.model._factor_name(entry["name"])} for entry in c.programs],
        }

    def extend(self, **limits: Any) -> "Answer":
        """Goes on: limits that are numbers are added to those of this answer. No call is paid twice.

        `calls=N` makes at most N calls more, beside those that an interrupted run had left.

        >>> import treesample as ts
        >>> m = ts.Model()
        >>> x = [m.variable(f"x{i}", 3) for i in range(4)]
        >>> for v in x:
        ...     _ = m.factor(v)(lambda state: 0.5 * state)
        >>> first = m.infer(calls=5)
        >>> second = first.extend(calls=5)
        >>> sum(f["paid"] for f in second.spent["functions"]) <= 10
        True
        """
        check_keywords(Answer.extend, limits)
        for name in SUMS:
            value = limits.get(name)
            if name == "calls" and value is not None:
                whole(value, "extend: calls")  # 0: those that an interrupted run had left
            elif value is not None and not (_is_number(value) and value >= 0):
                raise _core.Error(f"extend: {name} is {value!r}, allowed are numbers from 0 on")
        keywords = dict(self._keywords)
        keywords.pop("new_calls", None)
        if "calls" in limits and self.spent["functions"]:
            before = self._core.calls if keywords.get("calls") is None else keywords["calls"]
            left = 0 if self.stop == "budget" else max(0, before - self._core.calls)
            keywords.update(calls=before, new_calls=max(1, left + limits["calls"]))
        for name, value in limits.items():
            before = keywords.get(name)
            is_sum = name in SUMS and _is_number(value) and before is not None
            keywords[name] = before + value if is_sum else value
        return self._run.infer(keywords, False)

    def to_xarray(self, count: int = 1000, seed: int = 0) -> Any:
        """Samples as an xarray Dataset with the dimensions chain and draw, as ArviZ takes them."""
        xarray: Any = importlib.import_module("xarray")
        draws = self.sample(count, seed)
        data = {v.name: (("chain", "draw"), draws[None, :, v.index]) for v in self._variables}
        data["log_prob"] = (("chain", "draw"), np.asarray(self.log_prob(draws))[None, :])
        return xarray.Dataset(data)

    def to_html(self) -> str:
        """A page of its own, without network, as `treesample infer --html` writes it: marginals, graph, explored tree."""
        model = self._run.model
        graph = with_functions(model)
        text: str = _core.page(self._core, graph, self._run._evidence, model._program_file or "")
        return text

    def __repr__(self) -> str:
        z = self.log_z
        parts = []
        if z.estimate is not None and (z.exact or z.estimate > -math.inf):  # else nothing possible was found
            parts.append(f"log Z {z.estimate:.6f}")
        if z.exact:
            parts.append("exact")
        elif z.lower is not None or z.upper is not None:
            parts.append(f"certified in [{_outward(z.lower, -1.0)}, {_outward(z.upper, 1.0)}]")
        functions = self.spent["functions"]
        failed = sum(entry["failed"] for entry in functions)
        if failed:
            asked = failed + sum(entry["paid"] + entry["from_journal"] for entry in functions)
            parts.append(f"{failed} of {asked} calls failed")
        return f"<treesample.Answer: {', '.join(parts) or 'no estimate of log Z'}; stopped: {self.stop}>"

    def _repr_html_(self) -> str:
        shown = list(self.marginals)[:30]
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{_bars(self[name])}</td></tr>" for name in shown)
        more = len(self._variables) - len(shown)
        rest = f"<p>… and {more} more variables</p>" if shown and more > 0 else ""
        return (
            f"<p>{html.escape(repr(self)[1:-1])}</p><p>{html.escape(self.method)}</p>"
            f"<p>marginals: {html.escape(self._core.marginals_from or 'none')}</p><table>{rows}</table>{rest}"
        )

    def _named(self, states: Any) -> "dict[str, State]":
        return {v.name: v.states[int(states[v.index])] for v in self._variables}


def _outward(bound: Optional[float], direction: float) -> str:
    """As the program prints a certified bound: rounded down (direction -1) or up (1)."""
    text: str = _core.decimal_bound(direction * math.inf if bound is None else bound, direction)
    return text


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _bars(probabilities: "Mapping[Any, float]") -> str:
    return "".join(
        f"<div>{html.escape(str(state))} {p:.4f} <span style='display:inline-block;height:.7em;background:#4a78b0;"
        f"width:{100 * p:.1f}px'></span></div>"
        for state, p in list(probabilities.items())[:12]
    )
