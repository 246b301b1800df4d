# %% [markdown]
# # Which variable depends on which? The exact posterior over Bayesian networks
#
# GFlowNets are trained for hours to sample structures of Bayesian networks, and checked on five nodes, where all 29,281
# graphs can be listed. A program that places nodes layer by layer has few states, because only the placed nodes and the
# last layer matter for what comes. So the posterior over the 5e26 graphs of twelve nodes is exact.

# %%
import itertools
import math

import numpy as np

import treesample as ts
from treesample import dags

# %% [markdown]
# ## Data: a small plant
# Five measurements. The temperature drives pressure and yield, the pressure drives flow, the operator does nothing.

# %%
rng = np.random.default_rng(4)
rows = 60
temperature = rng.normal(size=rows)
pressure = 0.8 * temperature + 0.6 * rng.normal(size=rows)
flow = 0.7 * pressure + 0.7 * rng.normal(size=rows)
product = 0.5 * temperature - 0.5 * flow + 0.7 * rng.normal(size=rows)
operator = rng.normal(size=rows)
plant = {"temperature": temperature, "pressure": pressure, "flow": flow, "product": product, "operator": operator}

posterior = dags.posterior(plant, samples=3, seed=1)
posterior

# %% [markdown]
# Probabilities of edges: a row for the node that an edge leaves. Data of this kind cannot tell the direction of many
# edges; both directions together say whether two variables depend on each other directly.

# %%
print("              " + " ".join(f"{name:>12}" for name in posterior.names))
for name, row in zip(posterior.names, posterior.edges):
    print(f"{name:>12}  " + " ".join(f"{p:12.3f}" for p in row))
adjacent = posterior.edges + posterior.edges.T
print("operator and the others:", np.round(adjacent[-1, :-1], 3))
print("best graph:", posterior.best.edges, "with probability", round(math.exp(posterior.best.log_prob), 4))

# %% [markdown]
# ## Compared with the list of all graphs
# All 29,281 graphs of five nodes, with the same scores.

# %%
table = np.column_stack(list(plant.values()))
scores = dags.scores(table)
n = 5


def is_acyclic(parents):
    left, changes = set(range(n)), True
    while changes:
        roots = {v for v in left if not any(parents[v] >> u & 1 for u in left)}
        left, changes = left - roots, bool(roots)
    return not left


def acyclic(parents, rest):
    """All graphs that choose the parents of the rest of the nodes."""
    if not rest:
        if is_acyclic(parents):
            yield tuple(parents)
        return
    for mask in range(2**n):
        if mask >> rest[0] & 1 == 0 and not any(mask >> u & 1 and parents[u] >> rest[0] & 1 for u in range(rest[0])):
            yield from acyclic(parents[: rest[0]] + [mask] + parents[rest[0] + 1 :], rest[1:])


weights = np.array([[sum(scores[v, mask] for v, mask in enumerate(graph)), *graph] for graph in acyclic([0] * n, list(range(n)))])
most = weights[:, 0].max()
log_z = most + math.log(np.exp(weights[:, 0] - most).sum())
probability = np.exp(weights[:, 0] - log_z)
edges = np.array([[probability[weights[:, 1 + v].astype(int) >> u & 1 == 1].sum() for v in range(n)] for u in range(n)])
print(len(weights), "graphs; log Z differs by", abs(log_z - posterior.log_z.estimate))
print("edges differ by at most", np.abs(edges - posterior.edges).max())
assert len(weights) == 29281 and np.abs(edges - posterior.edges).max() < 1e-9

# %% [markdown]
# ## Nine nodes, and twelve
# Too many graphs to list. Another exact algorithm, Robinson's recurrence by inclusion and exclusion over sets of nodes
# without children, gives log Z for comparison, and the probability of an edge from the Z of all graphs without it. It
# subtracts large numbers, so it is done with whole numbers and fractions of Python.

# %%
n = 9
wide = rng.normal(size=(40, n))
for v in range(1, n):
    wide[:, v] += 0.7 * wide[:, v - 1]
larger = dags.posterior(wide)
scores = dags.scores(wide)


def log_z_by_exclusion(scores):
    scale, unit = scores[:, 0], 2**80
    sums = [[0 if mask >> v & 1 else int(math.exp(s - scale[v]) * unit) for mask, s in enumerate(scores[v])] for v in range(n)]
    for v, b, mask in itertools.product(range(n), range(n), range(2**n)):  # over all subsets
        if mask >> b & 1:
            sums[v][mask] += sums[v][mask & ~(1 << b)]
    z = [1] + [0] * (2**n - 1)
    for mask in range(1, 2**n):
        childless = mask
        while childless:
            rest = mask & ~childless
            members = [v for v in range(n) if childless >> v & 1]
            term = z[rest] * math.prod(sums[v][rest] for v in members)
            z[mask] += term if len(members) % 2 else -term
            childless = (childless - 1) & mask
    return math.log(z[-1]) - n * math.log(unit) + scale.sum()


print("log Z:", larger.log_z.estimate, "and", log_z_by_exclusion(scores))
without = scores.copy()
without[1, [mask for mask in range(2**n) if mask & 1]] = -np.inf
print("edge 0 -> 1:", larger.edges[0, 1], "and", 1 - math.exp(log_z_by_exclusion(without) - log_z_by_exclusion(scores)))
assert abs(larger.edges[0, 1] - (1 - math.exp(log_z_by_exclusion(without) - log_z_by_exclusion(scores)))) < 1e-9

# %%
twelve = rng.normal(size=(100, 12))
for v in range(1, 12):
    twelve[:, v] += 0.7 * twelve[:, v - 1]
exact = dags.posterior(twelve)
print(exact.log_z.text(), "by", exact.num_states, "states")
print("edges between neighbours, both directions:", np.round([exact.edges[v, v + 1] + exact.edges[v + 1, v] for v in range(11)], 3))
assert exact.log_z.exact

# %% [markdown]
# ## A program of your own
# The same in five lines would be a `ts.Program` (docs/programs.md). Built edge by edge, as GFlowNets do, graphs of four
# nodes have many paths each, and each graph still counts once.

# %%
small = dags.scores(table[:, :4])


class EdgeByEdge(ts.Program):
    def start(self):
        return (frozenset(), False)

    def is_end(self, state):
        return state[1]

    def actions(self, state):
        edges, _ = state
        for u, v in itertools.permutations(range(4), 2):
            if (u, v) not in edges and not self.leads(edges, v, u):
                yield f"{u}->{v}", (edges | {(u, v)}, False)
        yield "stop", (edges, True)

    def leads(self, edges, source, target):
        return source == target or any(self.leads(edges, v, target) for u, v in edges if u == source)

    def reward(self, state):
        return sum(small[v, sum(1 << a for a, b in state[0] if b == v)] for v in range(4))


answer = EdgeByEdge().infer()
by_layers = dags.posterior(table[:, :4])
print(answer.calls, "graphs, log Z", answer.log_z.estimate, "and", by_layers.log_z.estimate)
print("edge 0 -> 1:", answer.expect(lambda state: (0, 1) in state[0]), "and", by_layers.edges[0, 1])
assert answer.calls == 543 and abs(answer.log_z.estimate - by_layers.log_z.estimate) < 1e-9
