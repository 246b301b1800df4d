"""Models from files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Tuple, Union

import numpy as np

from . import _core
from ._model import Model
from ._parts import Variable
from ._progress import logger

if TYPE_CHECKING:
    from ._parts import State


def read(path: Union[str, "os.PathLike[str]"], *, allow_programs: bool = False) -> Model:
    """Reads a model from a .uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf or .json file, and what was observed from the
    file beside it: grid.uai.evid or grid.evid beside grid.uai.

    A JSON file may name programs that compute factors. They run with your rights, so they have to be allowed.
    """
    name = os.fspath(path)
    graph, states, weights, has_programs = _core.read_file(name, allow_programs)
    model = model_of(graph)
    model._program_file = name if has_programs else None
    model._evidence = dict(states)
    for variable, more in weights:  # of several observations of a variable, the product counts
        known = model._weights.get(variable, [1.0] * len(more))
        model._weights[variable] = [a * b for a, b in zip(known, more)]
    logger.info("read %s: %r", name, model)
    return model


def model_of(graph: Any) -> Model:
    """A model of a graph that was read or generated; variables without a name get x0, x1, ..."""
    model = Model()
    model._graph = graph
    for index in range(graph.num_variables):
        num_states, name, labels, levels = graph.variable(index)
        states: Tuple[State, ...] = tuple(labels) if labels else tuple(range(num_states))
        model._keep(Variable(name or f"x{index}", states, index, tuple(levels)))
    return model


def read_decisions(path: Union[str, "os.PathLike[str]"]) -> Tuple[Model, Dict[str, List[str]], List[Tuple[List[str], Any]]]:
    """Reads an influence diagram from a .xmlbif, .xml or .xdsl file: a model, its decisions in their order in time with
    what is known to each, and its utilities, as `Model.decide` takes them.

        m, decisions, utilities = ts.read_decisions("wildcatter.xdsl")
        m.decide(decisions, utilities).policies
    """
    graph, decisions, utilities = _core.read_decisions(os.fspath(path))
    model = model_of(graph)
    names = [v.name for v in model.variables]
    values = [
        ([names[v] for v in scope], np.array(numbers).reshape([len(model.variables[v].states) for v in scope]))
        for scope, numbers in utilities
    ]
    return model, {names[v]: [names[u] for u in known] for v, known in decisions}, values
