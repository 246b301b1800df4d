#!/usr/bin/env python3
"""Are the values of trained networks too high? V_phi(root) - log Z on graphs that were not trained on: README.md.

    bias.py PROGRAM FOLDER    trains three networks (two minutes of one core) and measures them: bias.csv
    bias.py                   prints its table

The log-sum-exp of noisy values is too high on average, and targets that feed on themselves keep that. V_phi(root) is
what a search with the network's own values has after one evaluation; graphs are of the best reading, 20 variables.
"""
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from keep import origin  # noqa: E402

RESULTS = HERE / "bias.csv"
SEEDS = range(2001, 2051)
NETWORKS = {"the paper's targets, N_train 20": [], "the paper's targets, N_train 12": ["--n", "12"],
            "exact targets, N_train 20": ["--targets", "exact"]}


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def log_z(program, model, folder, *options):
    run(program, "infer", model, *options, "--json", folder / "answer.json")
    return json.loads((folder / "answer.json").read_text())["log_z"]["estimate"]


def measure(program, folder):
    folder.mkdir(exist_ok=True)
    lines = [f"{origin('experiments/table2/bias.py')}; graphs of the best reading, seeds {SEEDS[0]} to {SEEDS[-1]}",
             "network,seed,root_value,log_z"]
    for number, (name, options) in enumerate(NETWORKS.items()):
        out = folder / str(number)
        if not out.exists():
            run(program, "train", "--reading", "best", "--deterministic", "--seed", 1, "--episodes", 800,
                "--assess-every", 0, *options, "--out", out)
        for seed in SEEDS:
            model = folder / f"{seed}.uai"
            run(program, "generate", "factor-graphs-2", "--reading", "best", "--seed", seed, "--out", model)
            value = log_z(program, model, folder, "--leaf", f"net:{out / 'network.safetensors'}", "--network-values",
                          "absolute", "--space", "tree", "--order", "given", "--select", "q-uct", "--budget", 1,
                          "--no-simplify", "--importance", 0)
            lines.append(f'"{name}",{seed},{value},{log_z(program, model, folder, "--method", "exact")}')
    RESULTS.write_text("\n".join(lines) + "\n")


def print_table():
    found = {}
    for row in csv.DictReader(line for line in RESULTS.read_text().splitlines() if not line.startswith("#")):
        found.setdefault(row["network"], []).append(float(row["root_value"]) - float(row["log_z"]))
    print(f"| V_phi(root) - log Z, {len(SEEDS)} graphs | mean (se) | standard deviation |\n|---|---|---|")
    for name, errors in found.items():
        deviation = statistics.stdev(errors)
        print(f"| {name} | {statistics.mean(errors):+.2f} ({deviation / math.sqrt(len(errors)):.2f}) | {deviation:.2f} |")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print_table()
    elif len(sys.argv) == 3:
        measure(sys.argv[1], pathlib.Path(sys.argv[2]))
    else:
        sys.exit(__doc__)
