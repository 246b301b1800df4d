"""What a program's `infer` answers."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Iterable, NamedTuple, Optional

from . import _core
from ._numbers import whole
from ._parts import LogZ


class Path(NamedTuple):
    """A way to an object."""

    states: "list[Any]"
    actions: "list[Any]"
    log_weight: float  # of the object: the sum of its log rewards; what is believed where it was not evaluated
    log_prob: float  # of the object, under the distribution that it was drawn from

    @property
    def end(self) -> Any:
        return self.states[-1]


class ProgramAnswer:
    """What is known of a program's objects after a run, and how far it can be trusted."""

    def __init__(self, core: Any, again: "Callable[[dict[str, Any]], ProgramAnswer]") -> None:
        self._core = core
        self._again = again  # runs with other limits, and with what is known

    @property
    def log_z(self) -> LogZ:
        """The log of the sum of the weights of all objects. `lower` and `upper` are certified."""
        core = self._core
        kind = "exact" if core.is_exact else "lower bound" if core.estimate is None else "estimate"
        estimate = core.lower if core.estimate is None else core.estimate
        upper = None if core.upper == math.inf else core.upper
        confidence = core.confidence if core.interval else None
        return LogZ(estimate, core.lower, upper, None, None, core.is_exact, core.interval, kind, confidence)

    @property
    def best(self) -> Any:
        """The end of the largest weight that was evaluated; None where there is none."""
        return None if self._core.best is None else self._core.best[0][-1]

    @property
    def best_path(self) -> Optional[Path]:
        """The way to the best object, with its weight and its probability."""
        return None if self._core.best is None else Path(*self._core.best)

    @property
    def best_is_optimal(self) -> bool:
        """Whether it is proved that no object has more weight."""
        return bool(self._core.is_best_optimal)

    @property
    def samples(self) -> "list[Any]":
        """The objects that `samples=N` asked for: ends, exact where log Z is exact, otherwise as believed."""
        return [path.end for path in self.sample_paths]

    @property
    def sample_paths(self) -> "list[Path]":
        """The same with the ways to them, weights and probabilities."""
        return [Path(*path) for path in self._core.samples]

    @property
    def sample_log_probs(self) -> "list[float]":
        """The log probability of each sample, under the distribution that it was drawn from."""
        return [path.log_prob for path in self.sample_paths]

    def sample(self, count: int, seed: int = 0) -> "list[Path]":
        """More of them, with their ways."""
        number, own_seed = whole_up_to(count, "sample: count", 100_000_000), whole_up_to(seed, "seed", 2**63 - 1)
        return [Path(*path) for path in self._core.sample(number, own_seed)]

    def probabilities(self) -> "dict[Any, float]":
        """The probability of each end that has one. Where objects are paths, of all that lead there."""
        return dict(self._core.end_probabilities())

    def expect(self, function: Callable[[Any], Any]) -> Any:
        """The expectation of a function of the end: a number, or an array. Exact where log Z is."""
        return _sum((probability, function(end)) for end, probability in self._core.end_probabilities())

    def expect_actions(self, function: Callable[[Any, Any, Any], Any]) -> Any:
        """The expectation of the sum of function(state, action, next state) over the actions of an object's path."""
        parts: "list[Any]" = []

        def visit(state: Any, action: Any, following: Any, probability: float) -> None:
            parts.append((probability, function(state, action, following)))

        self._core.for_each_action(visit)
        return _sum(parts)

    def extend(
        self, *, calls: Optional[int] = None, time: Optional[float] = None, samples: Optional[int] = None
    ) -> "ProgramAnswer":
        """Goes on with what is known: so many calls more. No reward is paid for twice."""
        changed: "dict[str, Any]" = {"calls": None if calls is None else whole_up_to(calls, "calls", 2**63 - 1)}
        changed["time"] = None if time is None else positive(time, "time")
        if samples is not None:
            changed["samples"] = whole_up_to(samples, "samples", 100_000_000)
        return self._again(changed)

    @property
    def method(self) -> str:
        """What was done."""
        return str(self._core.method)

    @property
    def stop(self) -> str:
        """Why the run ended."""
        return str(self._core.stop)

    @property
    def calls(self) -> int:
        """Rewards that were paid for; of a program without `reward`, calls of `actions`."""
        return int(self._core.calls)

    @property
    def num_states(self) -> int:
        """The number of states that were seen."""
        return int(self._core.num_states)

    @property
    def num_ends(self) -> int:
        """The number of ends that were seen."""
        return int(self._core.num_ends)

    @property
    def num_rewards(self) -> int:
        """The number of ends whose rewards are known."""
        return int(self._core.num_rewards)

    @property
    def seconds(self) -> float:
        return float(self._core.seconds)

    @property
    def spent(self) -> "dict[str, Any]":
        """What the run has spent."""
        return {"calls": self.calls, "seconds": self.seconds, "states": self.num_states}

    @property
    def remarks(self) -> "list[str]":
        """Sentences for whoever reads the answer."""
        return list(self._core.remarks)

    def to_json(self) -> str:
        """What is known, with the fields that `treesample build --json` writes. Objects are written by `repr`."""
        core = self._core

        def path(given: "Optional[tuple[list[Any], list[Any], float, float]]") -> Any:
            if given is None:
                return None
            return {"object": repr(given[0][-1]), "log_weight": _json(given[2]), "log_prob": _json(given[3])}

        log_z = {"estimate": _json(core.estimate), "lower": _json(core.lower), "upper": _json(core.upper)}
        fields = {
            "format": "treesample objects",
            "version": 1,
            "log_z": {**log_z, "exact": core.is_exact},
            "best": path(core.best),
            "best_is_optimal": core.is_best_optimal,
            "samples": [path(one) for one in core.samples],
            "samples_are_exact": core.is_exact,
            "method": core.method,
            "stop": core.stop,
            "calls": core.calls,
            "states": core.num_states,
            "ends": core.num_ends,
            "rewards": core.num_rewards,
            "seconds": core.seconds,
            "remarks": core.remarks,
        }
        return json.dumps(fields, indent=1)

    def __repr__(self) -> str:
        counts = f"{self.calls} calls, {self.num_states} states"
        return f"<treesample.ProgramAnswer: {self.log_z.text()}; {self.method}, {counts}>"


def whole_up_to(value: Any, what: str, most: int) -> int:
    """A count that the library can hold."""
    count = whole(value, what)
    if count > most:
        raise _core.Error(f"{what} is {count}, allowed are whole numbers up to {most}")
    return count


def positive(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value) or value < 0:
        raise _core.Error(f"{what} is {value!r}, allowed are numbers from 0 on")
    return float(value)


def _sum(parts: "Iterable[tuple[float, Any]]") -> Any:
    total: Any = 0.0
    for probability, value in parts:
        total = total + probability * value
    return total


def _json(number: Optional[float]) -> Any:
    """Infinite numbers are texts."""
    return number if number is None or math.isfinite(number) else "inf" if number > 0 else "-inf"
