#!/usr/bin/env python3
"""Networks as files that others read and write, and models that others make: run_network_file_tests.py PROGRAM MODELS_FOLDER

A perceptron trained by the program, read and computed by examples/networks/perceptron.py, must give the same answer as
in the program; one that the example writes must be read by the program. PyTorch is not needed: what stands in for it
here has its layout of weights.
"""

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
from checks import PROGRAM, check, read_json, run_tests, write

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
    run("infer", MODEL, "--leaf", prior, "--method", "search", "--select", "q-uct", "--space", "graph", "--order",
        "given", "--budget", "12", "--json", path, network=network)
    return read_json(path)["log_z"]["estimate"]


def test_a_trained_network_is_computed_in_numpy():
    run("generate", "chain", "--n", "6", "--k", "3", "--seed", "3", "--out", MODEL)
    run("train", "--model", MODEL, "--architecture", "mlp", "--hidden", "16,32", "--episodes", "3", "--budget", "200",
        "--deterministic", "--seed", "1", "--out", os.path.join(FOLDER, "run"), "--quiet")
    inside, outside, uniform = answer("net:" + TRAINED), answer("program:" + EXAMPLE), answer("uniform")
    check(abs(inside - outside) < 1e-4, "the same network inside and outside", (inside, outside))
    check(abs(inside - uniform) > 0.01, "and it matters", (inside, uniform))


GENERATOR = """
import random, sys
draw = random.Random(int(sys.argv[1]))
n = draw.randint(4, 6)
print("MARKOV", n, *[3] * n, n - 1)
for i in range(n - 1): print(2, i, i + 1)
for i in range(n - 1): print(9, *[draw.random() for _ in range(9)])
"""


def test_a_generator_makes_the_models():
    def train(text, out, *more, program="make_model.py", episodes="3"):
        write(os.path.join(FOLDER, "make_model.py"), text)
        command = [PROGRAM, "train", "--generator", program, "--out", out, "--episodes", episodes, "--budget", "100",
                   "--deterministic", "--quiet", *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=FOLDER)

    done = train(GENERATOR, "made")
    check(done.returncode == 0 and "3 episodes" in done.stdout, "models of a program", done.stderr)
    done = train(GENERATOR, "made", "--resume", episodes="4")
    check(done.returncode == 0 and "4 episodes" in done.stdout, "and more of them", done.stderr)
    run("infer", MODEL, "--leaf", "net:made/network.safetensors", "--space", "tree", "--order", "given", "--budget", "50")
    for text, words in (("import sys; sys.exit(3)", "exited with status 3"), ("print('MARKOV 1 x')", "expected a number"),
                        ("", "generator 'make_model.py' with the number")):
        done = train(text, "broken")
        check(done.returncode != 0 and words in done.stderr and done.stderr.count("\n") == 1, words, done.stderr)
        check(not os.path.exists(os.path.join(FOLDER, "broken")), "nothing is left", words)
    done = train(GENERATOR, "broken", program="nowhere/make_model")
    check(done.returncode != 0 and "no such program" in done.stderr, "no such program", done.stderr)


def test_a_network_of_others_is_read():
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
    run_tests(globals())
finally:
    shutil.rmtree(FOLDER)
