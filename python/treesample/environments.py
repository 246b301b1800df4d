"""Environments of the GFlowNet literature, as programs that are ready to be asked.

>>> import treesample as ts
>>> grid = ts.environments.hypergrid(dimensions=2, height=8)
>>> answer = grid.infer(samples=3)
>>> answer.log_z.exact, answer.calls
(True, 64)

They are computed in C++ (`include/treesample/program/environments`), and have what every `Program` has: `infer`, `check`,
journals. Ends are tuples and texts. `treesample build hypergrid --set height=8` asks the same from a shell.
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Optional, Sequence, Union

from . import _core, dags
from ._model import Model
from ._program import Program
from ._program_answer import positive


class Environment(Program):
    """A bundled environment."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        super().__init__()
        self.name = name
        self._make = make
        make()  # a mistake is said here

    def _journal_name(self) -> str:
        return self.name

    def _core(self, executor: Any, raised: Any, memory: Any) -> Any:
        if executor is not None:
            raise _core.Error(f"executor: the rewards of {self.name} are computed in C++")
        return self._make()

    def __repr__(self) -> str:
        return f"<treesample.environments.{self.name}>"


def _named(name: str, **values: Any) -> Environment:
    texts = {key: repr(value) if isinstance(value, float) else str(value) for key, value in values.items()}
    shown = "".join(f" {key}={value}" for key, value in texts.items())
    return Environment(name + shown, lambda: _core.environment(name, texts))


def hypergrid(
    *, dimensions: int = 4, height: int = 20, r0: float = 1e-3, r1: float = 0.5, r2: float = 2.0
) -> Environment:
    """Places in a cube, reached by steps from a corner, with the usual reward. Ends are tuples of coordinates."""
    return _named("hypergrid", dimensions=dimensions, height=height, r0=float(r0), r1=float(r1), r2=float(r2))


def bits(*, bits: int = 120, word: int = 8, modes: int = 60, beta: float = 3.0, seed: int = 0) -> Environment:
    """Bit sequences, with rewards by the distance to the nearest of some modes. Ends are tuples of words."""
    return _named("bits", bits=bits, word=word, modes=modes, beta=float(beta), seed=seed)


def binding(*, exponent: float = 10.0, seed: int = 0) -> Environment:
    """Words of DNA that a protein binds: a generated table of the shape of TFBind8. Ends are texts of ACGT."""
    return _named("binding", exponent=float(exponent), seed=seed)


def blocks(*, exponent: float = 5.0, seed: int = 0) -> Environment:
    """Molecules of five blocks: a generated table of the shape of QM9-small. Ends are texts of A to K."""
    return _named("blocks", exponent=float(exponent), seed=seed)


def table(file: "Union[str, os.PathLike[str]]", *, alphabet: str = "ACGT", exponent: float = 1.0) -> Environment:
    """Sequences whose values stand in a CSV file with a header and rows SEQUENCE,VALUE, such as TFBind8 itself.

    R = max(value / largest, 0.001)^exponent. Ends are texts.
    """
    return _named("table", file=os.fspath(file), alphabet=alphabet, exponent=float(exponent))


def dag(
    data: Any,
    *,
    score: str = "bge",
    alpha_mu: float = 1.0,
    equivalent_sample_size: float = 1.0,
    columns: Optional[Sequence[str]] = None,
) -> Environment:
    """Acyclic graphs over the columns of a table, edge by edge, up to 7. Ends are tuples of edges (from, to).

    `data` and `score` are those of `dags.posterior`, which is exact for up to 13 columns.
    """
    names, scores = dags._scored(data, score, alpha_mu, equivalent_sample_size, columns)
    labels = [json.dumps(name) for name in names]
    rows = scores.tolist()
    return Environment("dag of " + ", ".join(names), lambda: _core.dag_environment(rows, labels))


def permutations(after: Any, at: Any = None) -> Environment:
    """Orders of items: `after[i][j]` is the log reward of item j next after item i, `at[i][j]` that of j at place i.

    Ends are tuples of items.
    """
    rows = [[float(value) for value in row] for row in after]
    places = [[0.0] * len(rows) for _ in rows] if at is None else [[float(value) for value in row] for row in at]
    return Environment(f"permutations of {len(rows)}", lambda: _core.permutations_environment(places, rows))


def phylogeny(sequences: Sequence[str], *, temperature: float = 1.0) -> Environment:
    """Rooted trees of species, by parsimony. Ends are texts such as ((a,b),c); species are a, b, ... in their order."""
    given, number = [str(one) for one in sequences], positive(temperature, "temperature")
    return Environment(f"phylogeny of {len(given)}", lambda: _core.phylogeny_environment(given, number))


def configurations(model: Model) -> Environment:
    """The configurations of a model of tables, variable by variable: the paper's families, Ising grids, your own.

    Ends are tuples of numbers of states.
    """
    graph = model._graph.copy()
    if model._functions:
        raise _core.Error("configurations: the model has functions, allowed are tables")
    return Environment("configurations", lambda: _core.configurations_environment(graph))
