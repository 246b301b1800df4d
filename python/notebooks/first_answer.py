# %% [markdown]
# # First answer
# A Bayesian network from a file, a question, and how far the answer can be trusted.

# %%
import os
from pathlib import Path

import treesample as ts

models = Path(os.environ.get("TREESAMPLE_MODELS", "../../examples/models"))
asia = ts.read(models / "asia.bif")
asia

# %% [markdown]
# What is known without any evidence, and after two observations. The network is small, so `infer` eliminates variables:
# all numbers are exact, and certified as such.

# %%
asia.infer()["lung"]

# %%
answer = asia.infer(evidence={"xray": "yes", "dysp": "yes"})
answer["lung"], answer.log_z

# %%
answer

# %% [markdown]
# The most probable configuration, and whether that is proved.

# %%
answer.best, answer.best_is_optimal

# %% [markdown]
# Samples have exact probabilities. The same seed gives the same samples.

# %%
import numpy as np

draws = answer.sample(5, seed=1)
[(answer.named(row), float(np.exp(answer.log_prob(row[None, :])[0]))) for row in draws][:2]

# %% [markdown]
# What would be done with a model, and why, before anything is done:

# %%
print(ts.families.ising(n=30, seed=1).plan(time=10))
