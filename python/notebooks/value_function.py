# %% [markdown]
# # A value function, trained and used
# The second half of the paper: a network that has seen many small problems gives the search its first values on a new one.
# Training is the program's (`treesample train`); here it is short, so that the notebook takes a minute.

# %%
import os
import subprocess
import tempfile
from pathlib import Path

import treesample as ts

program = os.environ.get("TREESAMPLE_PROGRAM", "treesample")
folder = Path(tempfile.mkdtemp())
subprocess.run(
    [program, "train", "--n", "12", "--test-n", "20", "--episodes", "60", "--seed", "1", "--out", str(folder / "run")],
    check=True, capture_output=True, text=True)
sorted(path.name for path in (folder / "run").iterdir())

# %% [markdown]
# The network as Q_phi of the paper's search, on a problem that it has not seen, beside the uniform one. Lower is better.

# %%
network = next((folder / "run").glob("*.safetensors"))
model = ts.families.factor_graphs_2(seed=77, n=12)
exact = model.infer()
options = dict(select="q-uct", space="tree", order="given", budget=500)
uniform = model.infer(leaf="uniform", **options)
trained = model.infer(leaf=f"net:{network}", **options)
[abs(float(a.log_z) - float(exact.log_z)) for a in (uniform, trained)]

# %% [markdown]
# A value function of our own is a Python function: `leaf(variable, prefixes)` gets an int array with a row per prefix, -1
# where a variable is open, and returns a row of values for the states of the variable that comes next. A network of PyTorch
# would be called here, on whatever device. Ours is a table: what the rest of a chain is worth after each state of a variable,
# the mean over thirty chains, used on one that is not among them.

# %%
import numpy as np

num_variables, num_states = 12, 5


def rest_of(chain):
    """log sum over what comes behind variable n, by its state: exact, from the back."""
    tables = {tuple(v.index for v in variables): values for variables, values in chain.factors}
    rest = np.zeros((num_variables, num_states))
    for n in range(num_variables - 2, -1, -1):
        weights = tables.get((n, n + 1), 0.0) + tables.get((n + 1,), np.zeros(num_states)) + rest[n + 1]
        rest[n] = np.logaddexp.reduce(weights, axis=1)
    return rest


chains = [ts.families.chain(n=num_variables, k=num_states, seed=seed) for seed in range(30)]
learned = np.mean([rest_of(chain) for chain in chains], axis=0)
learned[:3].round(2)

# %%
batches = []


def leaf(variable, prefixes):
    batches.append(len(prefixes))
    return np.tile(learned[variable.index], (len(prefixes), 1))


chain = ts.families.chain(n=num_variables, k=num_states, seed=99)
exact = float(chain.infer().log_z)
without = chain.infer(select="q-uct", space="tree", order="given", budget=2000)
with_own = chain.infer(select="q-uct", space="tree", order="given", budget=2000, leaf=leaf)
abs(float(without.log_z) - exact), abs(float(with_own.log_z) - exact), len(batches)
