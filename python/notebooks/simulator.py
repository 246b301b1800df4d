# %% [markdown]
# # A simulator that costs
# Ten choices with three states each, one function of all of them, which takes time and sometimes fails. 300 calls are all
# that we can pay; 59,049 would be needed to know everything.

# %%
import math
import random
import tempfile
from pathlib import Path

import treesample as ts

calls = 0


def simulate(*choices):
    """A log-likelihood. Two in a hundred runs diverge."""
    global calls
    calls += 1
    generator = random.Random(repr(choices))
    if generator.random() < 0.02:
        raise RuntimeError("solver diverged")
    levels = [("low", "mid", "high").index(choice) for choice in choices]
    pairs = sum((a - b) ** 2 for a, b in zip(levels, levels[1:]))
    return -0.4 * pairs + 0.3 * sum(levels)


model = ts.Model()
choices = [model.variable(name, ["low", "mid", "high"]) for name in "abcdefghij"]
model.factor(*choices, on_failure="impossible")(simulate)
model

# %% [markdown]
# A journal keeps every value: a run that is killed goes on where it was, and nothing is paid twice.

# %%
journal = Path(tempfile.mkdtemp()) / "run.journal"
answer = model.infer(calls=300, journal=journal)
calls, answer

# %%
answer.best, answer.best_log_density

# %%
answer["a"], answer.log_z

# %% [markdown]
# 300 more. Those of before come from the journal: `calls` counts all that an answer stands on.

# %%
more = answer.extend(calls=300)
calls, more, more["a"]

# %% [markdown]
# The truth, by brute force, for comparison.

# %%
import itertools

total, high = 0.0, 0.0
for x in itertools.product(range(3), repeat=10):
    weight = math.exp(-0.4 * sum((a - b) ** 2 for a, b in zip(x, x[1:])) + 0.3 * sum(x))
    total += weight
    high += weight * (x[0] == 2)
math.log(total), high / total
