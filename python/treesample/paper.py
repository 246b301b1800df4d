"""TreeSample step by step, in Python: Algorithm 2 of Buesing, Heess and Weber (2019), to read and to play with.

`tree_sample` is the library's search, some thousand times as fast; both grow the same tree. `TreeSample` here is the
algorithm line by line, and its rule and value function can be replaced:

>>> import treesample as ts
>>> model = ts.families.chain(n=4, k=3, seed=1)
>>> slow = ts.paper.TreeSample(model)
>>> slow.run(50)
>>> fast = ts.tree_sample(model, budget=50)
>>> abs(slow.log_z - fast.log_z) < 1e-9
True
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._functions import with_functions
from ._model import Model

Prefix = Tuple[int, ...]
Array = "npt.NDArray[np.float64]"


class Node:
    """A prefix x of states: its reward R, and of each edge x o a the visits eta, the value Q, Q_phi and completeness."""

    def __init__(self, reward: float, q_phi: Any, is_complete: bool) -> None:
        self.reward = reward
        self.q_phi: "npt.NDArray[np.float64]" = np.asarray(q_phi, dtype=float)
        self.q = self.q_phi.copy()
        self.eta = np.zeros(len(self.q))
        self.complete = np.full(len(self.q), is_complete)

    @property
    def value(self) -> float:
        """V = log sum_a exp Q(a), eq. 6."""
        highest = float(self.q.max())
        return highest if highest == -math.inf else highest + math.log(float(np.exp(self.q - highest).sum()))


def q_uct(node: Node, c: float = 1.0, epsilon: float = 0.1) -> "npt.NDArray[np.float64]":
    """The score of each edge, eq. 7. A rule of your own has the same form: a node in, scores out."""
    eta = 1.0 + node.eta.sum()  # of x: the visit that made the node, and one per visit of an edge
    bonus: "npt.NDArray[np.float64]" = c * np.maximum(node.q_phi, epsilon) * math.sqrt(eta) / (1.0 + node.eta)
    return node.q + bonus


class TreeSample:
    """Algorithm 2 on a model of tables or functions, in the given order of its variables.

    `rule` scores the edges of a node, the highest is taken, of equal ones the first. `q_phi` gives the values of a new
    node's edges; without one they are (N - n) log K.
    """

    def __init__(
        self,
        model: Model,
        order: Optional[Sequence[str]] = None,
        rule: Callable[[Node], Any] = q_uct,
        q_phi: Optional[Callable[[Prefix], Any]] = None,
    ) -> None:
        self.tree: "dict[Prefix, Node]" = {}
        self.used = 0
        self.rule = rule
        names = [v.name for v in model.variables] if order is None else list(order)
        self.order = [model[name].index for name in names]
        self._num_states = [len(model.variables[v].states) for v in self.order]
        self._q_phi = q_phi or self._uniform
        self._log_values: "list[list[Callable[[Prefix], float]]]" = [[] for _ in range(len(self.order) + 1)]
        level_of = {v: n for n, v in enumerate(self.order)}
        for scope, log_value in _factors(model):  # M_n: factors whose last variable is the n-th, counted from 1
            levels = [level_of[v] for v in scope]
            factor = _at_prefix(log_value, levels)
            self._log_values[max(levels, default=-1) + 1].append(factor)
        self._expand(())

    def run(self, budget: int) -> None:
        """TREESAMPLE: traversals until so many rewards have been evaluated, or everything has been."""
        while self.used < budget and not self.tree[()].complete.all():
            self.step()

    def step(self) -> Prefix:
        """TREETRAVERSAL: down by the rule, EXPAND, and BACKUP on the way up. Returns the new prefix."""
        x: Prefix = ()
        while x in self.tree:
            x += (self._choose(self.tree[x]),)
        self._expand(x)
        for n in range(len(x), 0, -1):
            child, parent, a = self.tree[x[:n]], self.tree[x[: n - 1]], x[n - 1]
            parent.q[a] = child.reward + child.value
            parent.complete[a] = child.complete.all()
            parent.eta[a] += 1
        return x

    @property
    def log_z(self) -> float:
        root = self.tree[()]
        return root.reward + root.value

    def sample(self, rng: np.random.Generator) -> Prefix:
        """Algorithm 1: states in the search's order, each by the softmax of Q, and of Q_phi off the tree."""
        x: Prefix = ()
        for n in range(len(self.order)):
            q = self.tree[x].q if x in self.tree else np.asarray(self._q_phi(x), dtype=float)
            p = np.exp(q - q.max())
            x += (int(rng.choice(self._num_states[n], p=p / p.sum())),)
        return x

    def _uniform(self, x: Prefix) -> "npt.NDArray[np.float64]":
        n = len(x)
        return np.full(self._num_states[n], sum(math.log(k) for k in self._num_states[n + 1 :]))

    def _choose(self, node: Node) -> int:
        scores = np.where(node.complete, -math.inf, self.rule(node))
        highest = scores.max()
        ties = ~node.complete & (scores >= highest - 1e-10 * (1.0 + abs(highest)))
        return int(np.argmax(ties))

    def _expand(self, x: Prefix) -> None:
        reward = 0.0
        for log_value in self._log_values[len(x)]:
            reward += log_value(x)
        self.used += len(x) > 0
        is_leaf = len(x) == len(self.order)
        self.tree[x] = Node(reward, [0.0] if is_leaf else self._q_phi(x), is_leaf or reward == -math.inf)


def _factors(model: Model) -> "list[tuple[list[int], Callable[..., float]]]":
    """Scopes, and functions of the states (from 0) of a scope."""
    graph = with_functions(model)
    return [
        (graph.scope(index), lambda *states, index=index: graph.value(index, states))
        for index in range(graph.num_factors)
    ]


def _at_prefix(log_value: Callable[..., float], levels: "list[int]") -> Callable[[Prefix], float]:
    return lambda x: log_value(*(x[n] for n in levels))


def tree_sample(
    model: Model,
    budget: int,
    *,
    order: Optional[Sequence[str]] = None,
    c: float = 1.0,
    epsilon: float = 0.1,
    ties: str = "lowest",
    seed: int = 0,
) -> Any:
    """The paper's search with so many reward evaluations. The result has log_z, sample, log_prob, q_along.

    >>> import treesample as ts
    >>> result = ts.tree_sample(ts.families.chain(seed=2), budget=1000)
    >>> result.evaluations
    1000
    >>> result.sample(5, 0).shape
    (5, 10)
    """
    if ties not in ("lowest", "random"):
        raise _core.Error(f"ties is {ties!r}, allowed are 'lowest' and 'random'")
    names = [v.name for v in model.variables] if order is None else order
    indices = [model[name].index for name in names]
    return _core.tree_search(with_functions(model), indices, budget, c, epsilon, ties == "random", seed)
