"""Models of other libraries, read by what their objects offer. Class methods of Model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._model import Model


def from_pgmpy(cls: "type[Model]", network: Any) -> "Model":
    """A Bayesian network of pgmpy (anything whose get_cpds() have variables, values and state_names)."""
    model = cls()
    tables = list(network.get_cpds())
    for table in tables:
        model.variable(table.variables[0], list(table.state_names[table.variables[0]]))
    for table in tables:
        order = list(table.state_names)  # of the variables, as the values have their axes
        axes = [list(table.variables).index(name) for name in order]
        model.table(order, np.transpose(np.asarray(table.values), axes))
    return model


def from_pyagrum(cls: "type[Model]", network: Any) -> "Model":
    """A Bayesian network of pyAgrum (anything with nodes(), variable(), cpt())."""
    model = cls()
    for node in network.nodes():
        variable = network.variable(node)
        model.variable(variable.name(), [variable.label(i) for i in range(variable.domainSize())])
    for node in network.nodes():
        table = network.cpt(node)
        # The axes of an array of pyAgrum are its variables, the last first.
        model.table(list(reversed(list(table.names))), np.asarray(table.toarray()))
    return model


def from_networkx(
    cls: "type[Model]", graph: Any, states: int = 2, unary: str = "field", pair: str = "coupling"
) -> "Model":
    """Spins on the nodes of a graph of NetworkX: log-values `unary` of nodes and `pair` of edges.

    A number is taken as that of an Ising model, with the spins -1 and 1; an array as a table of logarithms.
    """
    model = cls()
    spins = np.linspace(-1.0, 1.0, states)
    for node in graph.nodes():
        model.variable(str(node), states)
    for node, data in graph.nodes(data=True):
        if unary in data:
            field = np.asarray(data[unary], dtype=float)
            model.log_table([str(node)], field * spins if field.ndim == 0 else field)
    for a, b, data in graph.edges(data=True):
        coupling = np.asarray(data.get(pair, 0.0), dtype=float)
        table = coupling * np.outer(spins, spins) if coupling.ndim == 0 else coupling
        model.log_table([str(a), str(b)], table)
    return model
