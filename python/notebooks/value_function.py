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
uniform = model.infer(prior="uniform", **options)
trained = model.infer(prior=f"net:{network}", **options)
[abs(float(a.log_z) - float(exact.log_z)) for a in (uniform, trained)]
