# %% [markdown]
# # A plate of 96 at a time
# A laboratory tests 96 mixtures at once and answers the next day. Nobody can call a function: the black box says which
# mixtures to test, and is told what came of them. Some mixtures cannot be measured at all.

# %%
import itertools
import math
import tempfile
from pathlib import Path

import treesample as ts

SOLVENTS = ["water", "ethanol", "acetone", "toluene"]
TEMPERATURES = [20, 30, 40, 50, 60, 70, 80]


def laboratory(mixture):
    """Stands for the laboratory: the logarithm of a yield, or nothing where the mixture boils."""
    s, t, a, b = SOLVENTS.index(mixture["solvent"]), mixture["temperature"], mixture["acid"], mixture["base"]
    if t > 70 and s == 2:
        return None
    return 3.0 - ((t - 45 - 6 * s) / 15) ** 2 + 0.8 * (mixture["metal"] == "Ni") - 0.25 * (a - b) ** 2 - 0.4 * (s == a)


box = ts.BlackBox(
    {"metal": ["Pd", "Ni", "Cu"], "solvent": SOLVENTS, "temperature": TEMPERATURES, "acid": 5, "base": 5},
    ordered=["temperature", "acid", "base"],
    seed=1,
)
box

# %% [markdown]
# The first plate. Half of the mixtures could come back first, in any order; here all of them do.

# %%
plate = box.ask(96)
for mixture in plate:
    value = laboratory(mixture)
    if value is None:
        box.tell_failed(mixture, "it boils")
    else:
        box.tell(mixture, value)
plate[0], box.best, box.best_log_density

# %% [markdown]
# What was known before teaches as well: a campaign of last year, in a table. And a box can be kept in a file between two
# plates; it goes on as if nothing had happened.

# %%
earlier = [{"metal": "Ni", "solvent": "water", "temperature": t, "acid": 2, "base": 2} for t in (20, 40, 60)]
box.tell_all(earlier, [laboratory(mixture) for mixture in earlier])
file = Path(tempfile.mkdtemp()) / "box.json"
box.save(file)
box = ts.BlackBox.load(file)
box

# %% [markdown]
# The last plate is drawn at random from what the box believes of everything that was not tested, so that the answer
# knows its error.

# %%
for mixture in box.ask(96, for_errors=True):
    value = laboratory(mixture)
    box.tell_failed(mixture, "it boils") if value is None else box.tell(mixture, value)
answer = box.answer()
answer.log_z.estimate, answer.log_z.std_error, answer["metal"], answer.best

# %% [markdown]
# The truth, by all 2,100 mixtures, for comparison.

# %%
values = {}
for metal, solvent, t, a, b in itertools.product(["Pd", "Ni", "Cu"], SOLVENTS, TEMPERATURES, range(5), range(5)):
    value = laboratory(dict(metal=metal, solvent=solvent, temperature=t, acid=a, base=b))
    if value is not None:
        values[metal, solvent, t, a, b] = value
total = sum(map(math.exp, values.values()))
nickel = sum(math.exp(v) for x, v in values.items() if x[0] == "Ni") / total
math.log(total), nickel, max(values, key=values.get)
