"""What `infer` answers."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._display import answer_html, show_page
from ._live import Live
from ._numbers import is_number, rows, whole
from ._options import check_keywords, unknown_name
from ._parts import (
    Calls,
    LogZ,
    MapStates,
    Marginals,
    ObservationValues,
    Parameter,
    Sensitivity,
    Variable,
    spent_of,
)
from ._plots import plot_answer
from ._results import Results, numbers_in

if TYPE_CHECKING:
    from ._parts import State
    from ._run import Run


SUMS = ("calls", "budget", "time")  # limits that `extend` adds to


class Answer(Results):
    """What is known of a model after a run, and how far it can be trusted.

    Made by `Model.infer`. `save` writes it to a file, which `load_answer` reads, and it may be pickled. Then it has no
    distribution to draw from, and cannot go on. docs/answer_file.md lists all of its results: those that are not
    described here have the same names and values there.
    """

    def __init__(
        self, live: Optional[Live], saved: "Optional[dict[str, Any]]", variables: "Tuple[Variable, ...]"
    ) -> None:
        self._live = live
        self._values: "dict[str, Any]" = {} if saved is None else saved
        self._variables = variables

    @classmethod
    def _of_run(cls, core: Any, run: "Run", keywords: "dict[str, Any]") -> "Answer":
        return cls(Live(core, run, keywords), None, run.model.variables)

    def _result(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = None if self._live is None else json.loads(self._live.shown.result(name))
        return self._values[name]

    def _of_the_run(self, what: str) -> Live:
        if self._live is None:
            raise _core.Error(f"{what}: this answer was saved, and is no longer that of a run")
        return self._live

    # ---- log Z

    @property
    def log_z(self) -> LogZ:
        """The logarithm of the sum over all configurations, with its bounds and errors."""
        z = numbers_in(self._result("log_z"))
        weighted, plain, spread = z["interval"], z["importance"], z["sampled_interval"]
        errors = [each["std_error"] for each in (weighted, plain) if each and each["std_error_unknown"] is None]
        return LogZ(
            z["estimate"],
            z["lower"],
            z["upper"],
            (weighted["lower"], weighted["upper"]) if weighted else None,
            errors[0] if errors else None,
            z["exact"],
            (spread["lower"], spread["upper"]) if spread else None,
            z["kind"],
            weighted["confidence"] if weighted else spread["confidence"] if spread else None,
            plain,
            weighted,
        )

    # ---- probabilities

    @property
    def marginals(self) -> Marginals:
        """Probabilities of the states of each variable, by name."""
        found = self._result("marginals")
        arrays = [np.array(numbers_in(list(found[v.name].values()))) for v in self._variables] if found else []
        return Marginals(self._variables, arrays, numbers_in(self._result("marginal_errors")) or [])

    def __getitem__(self, name: str) -> "dict[State, float]":
        """The probabilities of one variable's states: answer["lung"]."""
        self._variable(name)  # says what there is instead
        return self.marginals[name]

    def joint(self, *names: str) -> "npt.NDArray[np.float64]":
        """A joint distribution that `query=[names, ...]` asked for, with an axis per variable."""
        for query in self._result("queries"):
            if tuple(query["variables"]) == names:
                probabilities = np.array([row["probability"] for row in query["table"]])
                if not len(probabilities):
                    raise _core.Error(f"joint: {query['unknown'] or 'nothing is possible'}")
                return probabilities.reshape([len(self._variable(name).states) for name in names])
        raise KeyError(f"{names} was not asked for: infer(query=[{list(names)}])")

    # ---- configurations

    @property
    def best(self) -> "Optional[dict[str, State]]":
        """The most probable configuration, or the best that was met; None when there is none."""
        found = self._result("best")
        return None if found is None else self.named(found["x"])

    @property
    def best_log_density(self) -> Optional[float]:
        """The logarithm of the product of all factors at `best`."""
        return None if self._result("best") is None else float(self._result("best")["log_density"])

    @property
    def best_is_optimal(self) -> bool:
        """Whether it is proved that no configuration is better."""
        return self._result("best") is not None and self._result("best")["optimal"] is True

    @property
    def best_gap(self) -> Optional[float]:
        """Certified: no configuration is better by more than this."""
        gap: Optional[float] = None if self._result("best") is None else numbers_in(self._result("best")["gap"])
        return gap

    @property
    def k_best(self) -> "list[tuple[dict[str, State], float]]":
        """Configurations and their log-densities, best first, where `k_best=N` asked for them."""
        found = self._result("k_best")
        return [(self.named(one["x"]), float(one["log_density"])) for one in found["configurations"]] if found else []

    @property
    def k_best_are_optimal(self) -> bool:
        """Whether it is proved that no other configuration is better than those of `k_best`."""
        return bool(self._result("k_best") and self._result("k_best")["optimal"])

    @property
    def map(self) -> Optional[MapStates]:
        """What `map=[...]` asked for."""
        found = self._result("map")
        if found is None:
            return None
        lower, upper, best = (numbers_in(found[name]) for name in ("log_sum_lower", "log_sum_upper", "log_upper"))
        return MapStates(self._labelled(found["states"] or {}), lower, best, found["optimal"], upper, found["by"])

    # ---- what the answer depends on

    @property
    def sensitivity(self) -> Optional[Sensitivity]:
        """What `sensitivity="NAME=STATE"` asked for: derivatives by the entries of all tables."""
        found = self._result("sensitivity")
        if found is None:
            return None
        most = [
            Parameter(one["factor"], self._labelled(one["states"]), *numbers_in([one["value"], one["derivative"]]))
            for one in found["most_influential"]
        ]
        of: "Union[str, dict[str, State]]"
        of = "log_z" if found["of"] == "log_z" else self._labelled(found["of"])
        derivatives = [np.array(numbers_in(table), dtype=float) for table in found["derivatives"]]
        return Sensitivity(of, numbers_in(found["value"]), found["rows_add_up"], most, derivatives)

    @property
    def observation_values(self) -> Optional[ObservationValues]:
        """What `value_for="NAME"` asked for: how much observing each other variable would tell about it."""
        found = self._result("observation_values")
        return None if found is None else ObservationValues(found["for"], found["entropy"], found["information"])

    @property
    def value_for(self) -> "dict[str, float]":
        """By variable, the nats that observing it would tell about the one that `value_for` named, largest first."""
        found = self.observation_values
        return {} if found is None else found.information

    # ---- evidence

    @property
    def variables(self) -> "Tuple[Variable, ...]":
        """The variables of the model."""
        return self._variables

    @property
    def evidence(self) -> "dict[str, State]":
        """What was observed, by name."""
        return self._labelled(self._result("evidence"))

    @property
    def conflict(self) -> "list[str]":
        """Of impossible evidence: the variables that cannot all have been observed as they were."""
        found = self._result("conflict")
        return [*found["evidence"], *(seen["variable"] for seen in found["soft_evidence"])] if found else []

    # ---- samples

    @property
    def samples(self) -> "npt.NDArray[np.int32]":
        """Those that were asked for: rows of states (from 0), a column per variable of the model."""
        if self._live is not None:
            live: "npt.NDArray[np.int32]" = self._live.shown.samples()
            return live
        states = [sample["x"] for sample in self._result("samples")]
        return np.array(states, dtype=np.int32).reshape(len(states), len(self._variables))

    @property
    def sample_log_probs(self) -> "Optional[npt.NDArray[np.float64]]":
        """Of `samples`, under the distribution that they were drawn from; None where they are exact."""
        return self._of_samples("log_prob")

    @property
    def sample_log_densities(self) -> "Optional[npt.NDArray[np.float64]]":
        """Of `samples`, the logarithm of the product of all factors; None in a model with functions."""
        return self._of_samples("log_density")

    def sample(self, count: int, seed: int = 0) -> "npt.NDArray[np.int32]":
        """Independent samples of the distribution that the run ended with; `log_prob` knows their probabilities."""
        wanted, seed = whole(count, "sample: count"), whole(seed, "sample: seed")
        result: "npt.NDArray[np.int32]" = self._of_the_run("sample").shown.draw(wanted, seed)
        return result

    def log_prob(self, configurations: Any) -> Any:
        """Exact log-probabilities under the distribution that `sample` draws from."""
        live = self._of_the_run("log_prob")
        if isinstance(configurations, Mapping):
            return float(live.shown.log_probs(live.run.model._row(configurations))[0])
        return live.shown.log_probs(rows(configurations, self._variables, "log_prob"))

    def named(self, states: Sequence[int]) -> "dict[str, State]":
        """A row of states by name."""
        row = rows([states], self._variables, "named")[0].tolist()
        return {v.name: v.states[row[v.index]] for v in self._variables}

    # ---- the run

    @property
    def plan(self) -> str:
        """What was done and why."""
        if self._live is not None:
            text: str = self._live.shown.plan()
            return text
        return "\n".join([*self._result("plan")["reasons"], *self._result("plan")["remarks"]])

    @property
    def remarks(self) -> "list[str]":
        """On options that were changed, or ignored."""
        return list(self._result("plan")["remarks"])

    @property
    def spent(self) -> "dict[str, Any]":
        """Seconds, reward evaluations, calls of functions, and what each function or program was asked for."""
        return spent_of(self._result("spent"), self._result("seconds"), self._result("programs") or [])

    @property
    def calls(self) -> Calls:
        """All calls of functions and programs so far, as a table: a row for each, in the order of their answers.

        Functions of cost 0 without `batch` and `on_failure`, which the search calls itself, are not in it.
        """
        return Calls(
            [
                {**one, "states": self._labelled(one["states"]), "log_value": numbers_in(one["log_value"])}
                for one in self._result("calls")
            ]
        )

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
        live = self._of_the_run("extend")
        for name in SUMS:
            value = limits.get(name)
            if name == "calls" and value is not None:  # 0: those that an interrupted run had left
                whole(value, "extend: calls")
            elif value is not None and not (is_number(value) and value >= 0):
                raise _core.Error(f"extend: {name} is {value!r}, allowed are numbers from 0 on")
        keywords = {name: value for name, value in live.keywords.items() if name != "new_calls"}
        spent = self.spent
        if limits.get("calls") is not None:  # from now on, calls are what counts
            budget, unit = keywords.pop("budget", None), keywords.pop("budget_unit", None)
            if unit == "call" and keywords.get("calls") is None:
                keywords["calls"] = budget
        elif limits.get("budget") is not None and keywords.get("calls") is not None:  # more of them
            keywords.update(budget=keywords.pop("calls"), budget_unit="call")
        if "calls" in limits and spent["functions"]:
            before = spent["calls"] if keywords.get("calls") is None else keywords["calls"]
            left = 0 if self._result("stop") == "budget" else max(0, before - spent["calls"])
            keywords.update(calls=before, new_calls=max(1, left + limits["calls"]))
        for name, value in limits.items():
            before = keywords.get(name)
            is_sum = name in SUMS and is_number(value) and before is not None
            keywords[name] = before + value if is_sum else value
        return live.run.infer(keywords, False)

    def to_json(self) -> str:
        """The answer as JSON, as `treesample infer --json` writes it (docs/answer_file.md)."""
        return json.dumps(self._values, indent=1) if self._live is None else str(self._live.shown.json())

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes `to_json` to a file, which `load_answer` reads.

        >>> import os, tempfile, treesample as ts
        >>> answer = ts.families.chain(seed=1).infer()
        >>> file = os.path.join(tempfile.mkdtemp(), "answer.json")
        >>> answer.save(file)
        >>> ts.load_answer(file).log_z == answer.log_z
        True
        """
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        partial.write_text(self.to_json(), encoding="utf-8")
        partial.replace(target)

    def summary(self) -> str:
        """What the program `treesample infer` prints of this answer."""
        return str(self._of_the_run("summary").shown.text())

    def to_xarray(self, count: int = 1000, seed: int = 0) -> Any:
        """Samples as an xarray Dataset with the dimensions chain and draw, as ArviZ takes them."""
        xarray: Any = importlib.import_module("xarray")
        draws = self.sample(count, seed)
        data = {v.name: (("chain", "draw"), draws[None, :, v.index]) for v in self._variables}
        data["log_prob"] = (("chain", "draw"), np.asarray(self.log_prob(draws))[None, :])
        return xarray.Dataset(data)

    def to_html(self) -> str:
        """A page of its own, without network, as `treesample infer --html` writes it."""
        return str(self._of_the_run("to_html").shown.page())

    def __repr__(self) -> str:
        parts = [self.log_z.text()]
        functions = self.spent["functions"]
        failed = sum(entry["failed"] for entry in functions)
        if failed:
            asked = failed + sum(entry["paid"] + entry["from_journal"] for entry in functions)
            parts.append(f"{failed} of {asked} calls failed")
        return f"<treesample.Answer: {', '.join(parts)}; stopped: {self._result('stop')}>"

    show = show_page
    plot = plot_answer
    _repr_html_ = answer_html

    # ---- inside

    def __getstate__(self) -> "dict[str, Any]":
        return {"values": json.loads(self.to_json()), "variables": self._variables}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        self._live = None
        self._values = state["values"]
        self._variables = state["variables"]

    def _variable(self, name: str) -> Variable:
        for variable in self._variables:
            if variable.name == name:
                return variable
        raise unknown_name("variable", name, [v.name for v in self._variables])

    def _labelled(self, states: Mapping[str, str]) -> "dict[str, State]":
        """States by name, with labels in place of their texts."""
        by_name = {v.name: v for v in self._variables}
        return {
            name: next(label for label in by_name[name].states if str(label) == state) for name, state in states.items()
        }

    def _of_samples(self, name: str) -> "Optional[npt.NDArray[np.float64]]":
        if self._live is not None:
            shown = self._live.shown
            live: "Optional[npt.NDArray[np.float64]]"
            live = shown.sample_log_probs() if name == "log_prob" else shown.sample_log_densities()
            return live
        samples = self._result("samples")
        has_it = samples and name in samples[0]
        return np.array([float(sample[name]) for sample in samples]) if has_it else None
