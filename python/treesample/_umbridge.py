"""UM-Bridge servers as factors: their load balancers bring simulators of a whole cluster to one address."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._functions import FunctionFactor, Monotone, OnFailure, directions, failure_rule, failure_share
from ._parts import Variable

if TYPE_CHECKING:
    from ._model import Model

Named = Union[str, Variable]


class Server:
    """Stands for the function that the server computes. A journal knows it by all but its address."""

    def __init__(self, model: str, url: str, name: str) -> None:
        self.model = model  # in JSON, with the program alone, and with no address
        self._url = [url]
        self.__name__ = name

    def __call__(self, *states: Any) -> float:
        raise _core.Error(f"{self.__name__}: only `infer` asks a UM-Bridge server for values")

    def to_json(self) -> str:
        whole = json.loads(self.model)
        whole["programs"][self.__name__]["umbridge"] = self._url[0]
        return json.dumps(whole)


def _described(variable: Variable) -> "dict[str, Any]":
    """As in a model file."""
    is_numbered = variable.states == tuple(range(len(variable.states)))
    states = len(variable.states) if is_numbered else [str(state) for state in variable.states]
    return {"name": variable.name, "states": states, **({"levels": variable.levels} if variable.levels else {})}


def umbridge(
    self: Model,
    variables: Sequence[Named],
    url: str,
    model: str,
    *,
    inputs: Optional[Sequence[Sequence[Union[Named, float]]]] = None,
    numbers: Optional[Mapping[str, Sequence[float]]] = None,
    output: Tuple[int, int] = (0, 0),
    transform: str = "none",
    scale: float = 1.0,
    config: Optional[Mapping[str, Any]] = None,
    timeout: float = 60.0,
    retries: int = 2,
    cost: Optional[float] = None,
    log_max: Optional[float] = None,
    on_failure: OnFailure = "stop",
    max_failure_share: float = _core.max_failure_share,
    monotone: Monotone = False,
) -> None:
    """Declares a function of these variables that a UM-Bridge server at `url` (http://HOST:PORT) computes.

    `model` is its name on the server. `inputs` are the input vectors, lists of variables and numbers; without them, one
    vector with the variables in their order. `numbers` has the numbers that stand for the states of a variable, where
    its levels or labels are not these numbers. The entry `output` of the answer is y, and the logarithm is `scale`
    times y ("none"), log y ("log") or -y ("minus"), by `transform`. `config` is handed to the server, `timeout` is in
    seconds, and a call that fails is repeated `retries` times. The other keywords are those of `factor`. `infer` keeps
    `workers` requests under way, each on a connection of its own.

    >>> import treesample as ts
    >>> m = ts.Model()
    >>> depth = m.variable("depth", [0.5, 1.0, 2.5], ordered=True)
    >>> m.umbridge([depth], "http://localhost:4242", "forward", inputs=[[depth, 9.81]], transform="minus")
    >>> m
    <treesample.Model: 1 variable, 1 factor>
    """
    scope = self._scope(variables)
    name = str(model)
    program: "dict[str, Any]" = {
        "model": name,
        "output": list(output),
        "transform": transform,
        "scale": scale,
        "config": dict(config or {}),
        "timeout_seconds": timeout,
        "max_retries": retries,
    }
    if inputs is not None:
        program["inputs"] = [[each.name if isinstance(each, Variable) else each for each in one] for one in inputs]
    if numbers is not None:
        program["numbers"] = {label: list(values) for label, values in numbers.items()}
    known = [_described(v) for v in self._variables]
    factor = {"name": name, "scope": [self._variables[v].name for v in scope], "program": name}
    text = json.dumps({"variables": known, "programs": {name: program}, "factors": [factor]}, default=float)
    server = Server(text, url, name)
    _core.check_server(server.to_json())
    rule = failure_rule(on_failure, log_max, bool(monotone))
    signs = directions(monotone, [self._variables[v].name for v in scope])
    self._functions[self._num_factors()] = FunctionFactor(
        scope, server, log_max, cost, None, rule, signs, failure_share(max_failure_share)
    )
