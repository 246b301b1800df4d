#!/usr/bin/env python3
"""The tables of README.md from ablations.csv of `treesample reproduce ablations`.

    ablations.py ablations.csv

Medians over runs, and the mean (standard error) of what a row has less than that of the paper's settings in the same
run, on the same problems.
"""
import csv
import math
import pathlib
import statistics
import sys

COLUMNS = {"mlp-single": "MLP, single graph", "gnn-20": "GNN, N_train 20", "gnn-12": "GNN, N_train 12, tested on 20"}
TITLES = {
    "base": "as in the paper", "units": "4 layers of 384", "layers": "6 layers of 256",
    "iterations-2": "2 iterations", "iterations-8": "8 iterations", "policy": "loss policy",
    "bellman": "Bellman residual in the loss", "global": "global value",
    "global-bellman": "global value, Bellman residual", "exact": "exact targets",
    "exact-policy": "exact targets, loss policy", "exact-global": "exact targets, global value",
    "exact-global-policy": "exact targets, global value, loss policy",
    "c-0.03": "c = 0.03", "c-0.3": "c = 0.3", "c-1": "c = 1",
    "steps-4": "4 learner steps per episode", "steps-64": "64 learner steps per episode",
}
HEADS = ["Q_phi alone", "+ TS", "+ TS, telescoped", "residual", "Q_phi alone, less", "+ TS, less",
         "telescoped, less", "CPU s"]
KLS = ["kl_phi", "kl_search", "kl_telescoped"]


def read(path):
    """{column: {variant: rows by run}}"""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    found = {}
    for row in csv.DictReader(lines):
        found.setdefault(row["column"], {}).setdefault(row["variant"], []).append(row)
    return found


def numbers(rows, name):
    return [float(row[name]) for row in rows]


def difference(rows, base, name):
    values = [a - b for a, b in zip(numbers(rows, name), numbers(base, name), strict=True)]
    if len(values) < 2:
        return f"{values[0]:+.3f}"
    return f"{statistics.mean(values):+.3f} ({statistics.stdev(values) / math.sqrt(len(values)):.3f})"


def cells(rows, base):
    medians = [f"{statistics.median(numbers(rows, name)):.2f}" for name in [*KLS, "bellman_residual"]]
    less = ["-"] * 3 if rows is base else [difference(rows, base, name) for name in KLS]
    return [*medians, *less, f"{statistics.median(numbers(rows, 'seconds')):.0f}"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for column, variants in read(pathlib.Path(sys.argv[1])).items():
        base = variants["base"]
        plain = statistics.median(numbers(base, "kl_plain"))
        head = f"{COLUMNS[column]} ({len(base)} runs; TS without: {plain:.2f})"
        print("| " + " | ".join([head, *HEADS]) + " |")
        print("|" + "---|" * (len(HEADS) + 1))
        for variant, rows in variants.items():
            print("| " + " | ".join([TITLES[variant], *cells(rows, base)]) + " |")
        print()


if __name__ == "__main__":
    main()
