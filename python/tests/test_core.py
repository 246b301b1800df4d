"""The compiled part is not for users, and still nothing in it ends the process."""
import os
import subprocess
import sys

MISUSE = """
import itertools
import os
import random
import sys

import numpy as np

import treesample as ts
from treesample import _core

random.seed(int(sys.argv[1]))
model = ts.families.chain(seed=1)
tree = ts.tree_sample(model, budget=50)
answer = model.infer()
graph, shown = model._graph, answer._live.shown
function = _core.Graph()
function.add_variable(2, "a", [])
function.add_function([0], lambda a: 0.0, [[0, 1]], _core.FunctionOptions(None, 0.0, 0, None, None, False, (), []))
objects = [graph, _core.Graph(), function, shown, tree, _core.Raised(), answer._live.core]
values = [None, -1, 0, 1, 7, 2**31, 2**62, -2**63, 0.5, float("nan"), "", "x", [], [0], [-1], [10**6], [[]], [[0.5]], (), {},
          {0: 1}, [(0, 5)], [(9, 0)], [(0, [1.0])], np.zeros((1, 10), np.int32), np.full((2, 10), 99, np.int32),
          np.zeros((0, 0)), np.zeros(3), True, b"", print, *objects, type]
# Those that write files, wait, or train.
LEFT_OUT = {"train", "programs_of", "paid_functions", "read_file", "journal_summary"}


def try_all(what, call, most=400):
    for count in range(7):
        cases = itertools.product(values, repeat=count) if count < 2 else (
            tuple(random.choice(values) for _ in range(count)) for _ in range(most))
        for arguments in cases:
            if any(isinstance(each, int) and abs(each) > 10**6 for each in arguments) and "draw" in what + "sample":
                continue  # so many samples do not fit
            print(what, len(arguments), file=sys.stderr)
            try:
                call(*arguments)
            except Exception:
                pass


for name in dir(_core):
    part = getattr(_core, name)
    if callable(part) and not name.startswith("_") and name not in LEFT_OUT:
        try_all(name, part)
for thing in objects:
    for name in dir(thing):
        if callable(getattr(thing, name)) and not name.startswith("__"):
            try_all(type(thing).__name__ + "." + name, getattr(thing, name), 100)
print("done")
"""


def test_misuse_of_the_core_raises(tmp_path):
    for seed in "12":
        done = subprocess.run([sys.executable, "-c", MISUSE, seed], capture_output=True, text=True, timeout=300,
                              env=os.environ, cwd=tmp_path)  # some calls write a file
        assert done.returncode == 0 and done.stdout.endswith("done\n"), (done.returncode, done.stderr[-300:])
