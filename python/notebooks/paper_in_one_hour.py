# %% [markdown]
# # The paper in one hour
# TreeSample (Buesing, Heess, Weber 2019): Algorithm 2 step by step, its error against the budget, and a rule of our own.

# %%
import numpy as np

import treesample as ts

model = ts.families.chain(n=4, k=3, seed=1)
search = ts.paper.TreeSample(model)

# %% [markdown]
# One traversal: down by Q-UCT (eq. 7), one reward, and the soft-Bellman backup (eq. 6) on the way up. `step` returns the prefix
# that was added.

# %%
for _ in range(5):
    print(search.step(), " V(root) =", round(search.log_z, 4))

# %% [markdown]
# The values at the root, and where the visits went.

# %%
root = search.tree[()]
root.q, root.eta

# %% [markdown]
# The library grows the same tree, some thousand times as fast.

# %%
slow = ts.paper.TreeSample(model)
slow.run(80)
fast = ts.tree_sample(model, budget=80)
slow.log_z, fast.log_z

# %% [markdown]
# Figure 1, small: KL[P_X || P*] against the budget, exact, on the paper's CHAIN.

# %%
import itertools

chain = ts.families.chain(n=6, k=4, seed=3, reading="best")
rows = np.array(list(itertools.product(range(4), repeat=6)), dtype=np.int32)
log_p = chain.log_density(rows) - float(chain.infer().log_z)


def kl(result):
    log_q = result.log_prob(rows)
    return float(np.sum(np.exp(log_q) * (log_q - log_p)))


for budget in (30, 100, 300, 1000, 3000):
    print(f"{budget:6d}  {kl(ts.tree_sample(chain, budget=budget)):.4f}")

# %% [markdown]
# A rule of our own in a few lines: the edge with the most mass that has not been looked at, by the values as they are.

# %%
def most_unseen(node):
    return node.q - np.log1p(node.eta)


own = ts.paper.TreeSample(chain, rule=most_unseen)
own.run(1000)
by_paper = ts.paper.TreeSample(chain)
by_paper.run(1000)
abs(own.log_z - float(chain.infer().log_z)), abs(by_paper.log_z - float(chain.infer().log_z))
