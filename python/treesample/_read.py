"""Models from files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Tuple, Union

from . import _core
from ._model import Model, Variable

if TYPE_CHECKING:
    from ._model import State


def read(path: Union[str, "os.PathLike[str]"], *, allow_programs: bool = False) -> Model:
    """Reads a model from a .uai, .bif or .json file; observations from FILE.evid beside a .uai file.

    A JSON file may name programs that compute factors. They run with your rights, so they have to be allowed.
    """
    name = os.fspath(path)
    if name.endswith(".json") and _core.has_programs(name):
        if not allow_programs:
            raise _core.Error(f"{name}: the model runs programs; allow_programs=True lets it")
        problem = _core.programs_of(name, _core.Seen([], []), _core.OracleOptions(1, "", "", False, {}, None))
        model = model_of(_core.program_graph(problem))
        model._program_file = name
    else:
        model = model_of(_core.read_model(name))
    if os.path.exists(name + ".evid"):
        model._evidence = dict(_core.read_uai_evidence(name + ".evid", model._graph))
    return model


def model_of(graph: Any) -> Model:
    """A model of a graph that was read or generated; variables without a name get x0, x1, ..."""
    model = Model()
    model._graph = graph
    for index in range(graph.num_variables):
        num_states, name, labels = graph.variable(index)
        states: Tuple[State, ...] = tuple(labels) if labels else tuple(range(num_states))
        model._keep(Variable(name or f"x{index}", states, index))
    return model
