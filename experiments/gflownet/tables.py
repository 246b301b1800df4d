#!/usr/bin/env python3
"""Prints the tables of README.md from the CSV files beside it: tables.py [FOLDER]"""
import csv
import pathlib
import re
import sys

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
FOLDER = FOLDER if FOLDER.is_dir() else FOLDER.parent
# Where two have a number, the first one counts.
FILES = ("networks_large.csv", "networks.csv", "black_box.csv", "black_box_3000.csv", "references.csv", "whole.csv",
         "networks_10000.csv")
ORDER = ("hypergrid-8", "hypergrid-20", "binding", "blocks", "dag-5", "chain-6", "permuted-chain-6", "factor-graphs-1-6",
         "factor-graphs-2-6", "chain-10", "permuted-chain-10", "factor-graphs-1-10", "factor-graphs-2-10", "ising-4",
         "ising-10")
NETWORKS = ("tb", "subtb", "dqn")
COLUMNS = ("black-box", "tree", "uniform", "metropolis")


def read():
    """Values by (task, method, budget, quantity), and the number of runs by (task, method)."""
    values, runs = {}, {}
    for name in FILES:
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        count = int(re.search(r"--instances (\d+)", lines[0])[1])
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            key = (row["task"], row["method"])
            values.setdefault((*key, int(row["budget"]), row["quantity"]), float(row["mean"]))
            runs.setdefault(key, count)
    return values, runs


def number(value):
    return "" if value is None else f"{value:.3f}" if value < 100 else f"{value:.0f}"


def print_errors(values, runs, quantity):
    tasks = sorted(dict.fromkeys(task for task, *_ in values), key=ORDER.index)
    print(f"| task | rewards | best GFlowNet | with memory | {' | '.join(COLUMNS)} |")
    print("|---|" + "---|" * (3 + len(COLUMNS)))
    for task in tasks:
        for budget in sorted({key[2] for key in values if key[0] == task}):
            def value(method):
                return values.get((task, method, budget, quantity))
            nets = [(value(net), net) for net in NETWORKS if value(net) is not None]
            memories = [value(net + ".memory") for net in NETWORKS if value(net + ".memory") is not None]
            best = min(nets) if nets else (None, "")
            cells = [f"{number(best[0])} {best[1]}", number(min(memories, default=None))]
            others = [value(method) for method in COLUMNS]
            lowest = min(x for x in [best[0], *memories, *others] if x is not None)
            cells += [f"**{number(x)}**" if x is not None and x == lowest else number(x) for x in others]
            print(f"| {task} | {budget} | {' | '.join(cells)} |")


def print_costs(values, runs):
    print("| task | runs of GFlowNets, black box | seconds: tb | subtb | dqn | black-box | tree |")
    print("|---|" + "---|" * 6)
    for task in sorted(dict.fromkeys(task for task, *_ in values), key=ORDER.index):
        budget = max(key[2] for key in values if key[:2] == (task, "tb") and key[2] <= 1000)
        seconds = [values.get((task, method, budget, "seconds")) for method in (*NETWORKS, "black-box", "tree")]
        cells = ["" if x is None else f"{x:.1f}" for x in seconds]
        print(f"| {task}, {budget} | {runs.get((task, 'tb'), 0)}, {runs.get((task, 'black-box'), 0)} | "
              f"{' | '.join(cells)} |")


if __name__ == "__main__":
    found, counts = read()
    print_errors(found, counts, "tv")
    print()
    print_costs(found, counts)
