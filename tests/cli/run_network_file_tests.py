#!/usr/bin/env python3
"""Networks as files that others read and write: run_network_file_tests.py PROGRAM MODELS_FOLDER

A perceptron trained by the program, read and computed by examples/networks/perceptron.py, must give the same answer as
in the program; one that the example writes must be read by the program. PyTorch is not needed: what stands in for it
here has its layout of weights.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import types

try:
    import numpy as np
except ImportError:
    print("network files: NumPy is not installed: skipped")
    sys.exit(77)
from checks import check, run_tests

PROGRAM = os.path.abspath(sys.argv[1])
EXAMPLE = os.path.join(os.path.abspath(sys.argv[2]), "..", "networks", "perceptron.py")
sys.path.insert(0, os.path.dirname(EXAMPLE))
sys.dont_write_bytecode = True
import perceptron

FOLDER = tempfile.mkdtemp()
PATH = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]  # the python3 that has NumPy
MODEL = os.path.join(FOLDER, "model.uai")
TRAINED = os.path.join(FOLDER, "run", "network.safetensors")


def run(*arguments, network=TRAINED):
    result = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, cwd=FOLDER,
                            env=dict(os.environ, NETWORK=network, MODEL=MODEL, PATH=PATH))
    check(result.returncode == 0, " ".join(arguments), result.stderr)
    return result.stdout


def answer(prior, network=TRAINED):
    path = os.path.join(FOLDER, "answer.json")
    run("infer", MODEL, "--prior", prior, "--method", "treesample", "--select", "q-uct", "--space", "graph", "--order",
        "given", "--budget", "12", "--json", path, network=network)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["log_z"]["estimate"]


def a_trained_network_is_computed_in_numpy():
    run("generate", "chain", "--n", "6", "--k", "3", "--seed", "3", "--out", MODEL)
    run("train", "--model", MODEL, "--architecture", "mlp", "--hidden", "16,32", "--episodes", "3", "--budget", "200",
        "--deterministic", "--seed", "1", "--out", os.path.join(FOLDER, "run"), "--quiet")
    inside, outside, uniform = answer("net:" + TRAINED), answer("program:" + EXAMPLE), answer("uniform")
    check(abs(inside - outside) < 1e-4, "the same network inside and outside", (inside, outside))
    check(abs(inside - uniform) > 0.01, "and it matters", (inside, uniform))


def a_network_of_others_is_read():
    random = np.random.default_rng(5)
    shapes = [(24, 16), (16, 3)]
    module = [types.SimpleNamespace(weight=tensor(0.3 * random.normal(size=(outputs, inputs))),
                                    bias=tensor(0.3 * random.normal(size=outputs))) for inputs, outputs in shapes]
    network = perceptron.from_torch([module[0], object(), module[1]], num_variables=6, num_states=3)
    path = os.path.join(FOLDER, "other.safetensors")
    perceptron.write(path, network)
    inside, outside = answer("net:" + path), answer("program:" + EXAMPLE, path)
    check(abs(inside - outside) < 1e-4, "a network that was written by others", (inside, outside))
    check(abs(inside - answer("net:" + TRAINED)) > 0.01, "another one than the trained")
    again = perceptron.read(path)
    check(all(np.array_equal(a, b) for one, other in zip(network.layers, again.layers) for a, b in zip(one, other)),
          "what is written is read")


def tensor(values):
    values = values.astype(np.float32)
    return types.SimpleNamespace(detach=lambda: types.SimpleNamespace(numpy=lambda: values))


try:
    run_tests([a_trained_network_is_computed_in_numpy, a_network_of_others_is_read])
finally:
    shutil.rmtree(FOLDER)
