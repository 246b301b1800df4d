#!/usr/bin/env python3
"""Dense models, for run.py: dense.py FOLDER writes glasses and Boltzmann machines as UAI files

Glasses of n spins have couplings N(0, (1.36 / sqrt(n))^2) between all pairs and fields N(0, 0.1^2); machines of 40
visible and 40 hidden units have normal weights of the deviation in their name, and no fields. Spins are -1 and 1, units
0 and 1.
"""
import math
import pathlib
import random
import sys

FOLDER = pathlib.Path(sys.argv[1])


def write(name, num_variables, factors):
    lines = ["MARKOV", str(num_variables), " ".join(["2"] * num_variables), str(len(factors))]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope, _ in factors]
    lines += [f"{len(table)} " + " ".join(repr(math.exp(value)) for value in table) for _, table in factors]
    (FOLDER / f"{name}.uai").write_text("\n".join(lines) + "\n")
    (FOLDER / f"{name}.uai.evid").write_text("0\n")


def glass(n):
    rng = random.Random(n)
    factors = [((v,), (-h, h)) for v, h in ((v, rng.gauss(0.0, 0.1)) for v in range(n))]
    for a in range(n):
        for b in range(a + 1, n):
            j = rng.gauss(0.0, 1.36 / math.sqrt(n))
            factors.append(((a, b), (j, -j, -j, j)))
    write(f"glass_{n}", n, factors)


def machine(deviation):
    rng = random.Random(40)
    write(f"machine_{deviation}", 80, [((a, 40 + b), (0.0, 0.0, 0.0, rng.gauss(0.0, deviation)))
                                       for a in range(40) for b in range(40)])


FOLDER.mkdir(parents=True, exist_ok=True)
for size in (60, 100):
    glass(size)
for spread in (0.5, 0.8, 1.0):
    machine(spread)
