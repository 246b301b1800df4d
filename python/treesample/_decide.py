"""Decisions under uncertainty: influence diagrams."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display
from ._kept import tables_only
from ._numbers import by_name, doubles
from ._options import unknown_name
from ._parts import State, Variable

if TYPE_CHECKING:
    from ._model import Evidence, Model

Names = Sequence[Union[str, Variable]]
Utilities = Sequence[Tuple[Names, npt.ArrayLike]]


class Policy:
    """The best choice of one decision, by what matters of what is known then.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> rain, umbrella = m.variable("rain", ["no", "yes"]), m.variable("umbrella", ["leave", "take"])
    >>> m.table(["rain"], [0.7, 0.3])
    >>> best = m.decide({"umbrella": ["rain"]}, [(["rain", "umbrella"], [[20, 10], [0, 10]])])
    >>> best.policies["umbrella"](rain="yes"), best.policies["umbrella"](rain="no")
    ('take', 'leave')
    """

    def __init__(self, decision: Variable, scope: "Tuple[Variable, ...]", choice: "npt.NDArray[np.int64]") -> None:
        self.decision = decision
        self.scope = scope
        self._choice = choice

    @property
    def table(self) -> "Dict[Tuple[State, ...], Optional[State]]":
        """The choice by the states of `scope`, in their order; None where that is impossible."""
        states = itertools.product(*(v.states for v in self.scope))
        return {key: None if c < 0 else self.decision.states[c] for key, c in zip(states, self._choice.ravel().tolist())}

    def __call__(self, **known: State) -> State:
        """The choice, given what is known; what does not matter may be given as well."""
        key = []
        for v in self.scope:
            if v.name not in known:
                raise _core.Error(f"the choice of {self.decision.name!r} depends on {v.name!r}, which is not given")
            if known[v.name] not in v.states:
                allowed = ", ".join(map(str, v.states))
                raise _core.Error(f"{v.name!r} has no state {known[v.name]!r}, allowed are {allowed}")
            key.append(known[v.name])
        choice = self.table[tuple(key)]
        if choice is None:
            raise _core.Error(f"{', '.join(f'{v.name}={s}' for v, s in zip(self.scope, key))} is impossible")
        return choice

    def __repr__(self) -> str:
        return f"<treesample.Policy of {self.decision.name!r} by {[v.name for v in self.scope]}>"

    def _repr_html_(self) -> str:
        rows = [[*states, "impossible" if choice is None else choice] for states, choice in self.table.items()]
        return _display.table([*(v.name for v in self.scope), self.decision.name], rows)


class Decided:
    """The best decisions: their expected utility, certain up to rounding, and the policy of each. `Model.decide` makes
    it. `log_z` is that of what is not decided: in a network the logarithm of the probability of the evidence. With
    limited memory the policies are the best that were found: no others have more than `upper`, `gap` above them, and
    they are `exact` where that is 0."""

    def __init__(
        self,
        model: "Model",
        decisions: "Dict[int, List[int]]",
        utilities: "List[Tuple[List[int], List[float]]]",
        evidence: "List[Tuple[int, int]]",
        limited: bool = False,
    ) -> None:
        self._model, self._decisions, self._utilities, self._evidence = model, decisions, utilities, evidence
        self._limited = limited
        graph = tables_only(model, "decide")
        utility, upper, log_z, policies = _core.decide(graph, list(decisions.items()), utilities, evidence, limited)
        self.expected_utility, self.upper = float(utility), float(upper)
        self.log_z = float(log_z)
        self.policies: "Dict[str, Policy]" = {}
        for v, (scope, choice) in zip(decisions, policies):
            variables = tuple(model.variables[u] for u in scope)
            array = np.array(choice, dtype=np.int64).reshape([len(u.states) for u in variables])
            self.policies[model.variables[v].name] = Policy(model.variables[v], variables, array)

    def value_of(self, name: str, before: Optional[str] = None) -> float:
        """By how much the expected utility rises where this variable is known to a decision (the first without
        `before`) and all later ones: what one may pay for that, in units of utility."""
        variable = self._model[name]
        first = next(iter(self._decisions)) if before is None else self._model[before].index
        if first not in self._decisions:
            raise unknown_name("decision", before, self.policies)
        decisions = {v: [*known, variable.index] if v == first else known for v, known in self._decisions.items()}
        more = Decided(self._model, decisions, self._utilities, self._evidence, self._limited)
        return more.expected_utility - self.expected_utility

    @property
    def gap(self) -> float:
        return max(0.0, self.upper - self.expected_utility)

    @property
    def exact(self) -> bool:
        return self.gap <= 1e-9 * (1.0 + abs(self.expected_utility))

    def __repr__(self) -> str:
        doubt = "" if self.exact else f" (at most {self.upper:.6g})"
        return f"<treesample.Decided: expected utility {self.expected_utility:.6g}{doubt}, {len(self.policies)} decisions>"

    def _repr_html_(self) -> str:
        return _display.paragraphs([repr(self)[1:-1]]) + "".join(p._repr_html_() for p in self.policies.values())


def decide(
    model: "Model", decisions: "Mapping[str, Names]", utilities: Utilities, evidence: "Optional[Evidence]",
    limited: bool = False,
) -> Decided:
    """Of `Model.decide`."""
    if not isinstance(decisions, Mapping) or not decisions:
        raise _core.Error("decide: decisions is a mapping of each decision, in their order in time, to what is known then")
    known = {}
    for name, names in decisions.items():
        known[model[name].index] = list(model._scope(names)) if names else []
    values = []
    for names, table in utilities:
        scope = model._scope(names)
        array = doubles(table, f"the utility of {model._names(scope)}")
        shape = tuple(len(model.variables[v].states) for v in scope)
        if array.shape != shape:
            raise _core.Error(f"the utility of {model._names(scope)} has the shape {array.shape}, and must have {shape}")
        values.append((list(scope), array.ravel().tolist()))
    states, weights = model._seen(by_name(evidence))
    if weights or model._weights:
        raise _core.Error("decide: evidence is a state of each variable, not weights")
    seen: "Dict[int, Any]" = {**model._evidence, **states}
    return Decided(model._copied(), known, values, list(seen.items()), limited)
