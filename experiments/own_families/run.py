#!/usr/bin/env python3
"""KL of P_X at 1,000 evaluations with trained networks, on problems that they have not seen: README.md.

    run.py PROGRAM FOLDER [N]    measures N instances of each case (16): results.csv
    run.py                       prints its table

FOLDER holds the networks that train.sh makes, and fg40.uai; those that are missing are left out. KL is the mean of
log P_X - log gamma over 500 samples, plus the exact log Z.
"""
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from keep import origin  # noqa: E402

RESULTS = pathlib.Path(__file__).with_name("results.csv")
OBSERVED = ["x1", "x5", "x9", "x13", "x17", "x21", "x25", "x29", "x33", "x37"]
SEARCH = ["--select", "q-uct", "--space", "tree", "--order", "given", "--budget", "1000", "--no-simplify",
          "--importance", "0"]
NETWORKS = {"evidence": {"squared loss": "evidence-squared", "loss policy": "evidence",
                         "loss policy, trained longer": "evidence-long"},
            "ising": {"squared loss": "ising-squared", "loss policy": "ising",
                      "loss policy, trained longer": "ising-local"}}
TITLES = {"evidence": "FACTOR GRAPHS 2 with 40 variables, 10 observed", "ising": "Ising 5x5, couplings N(0, 1)"}


def infer(program, model, *options):
    with tempfile.NamedTemporaryFile(suffix=".json") as answer:
        subprocess.run([program, "infer", str(model), *options, "--json", answer.name], check=True, capture_output=True)
        return json.loads(pathlib.Path(answer.name).read_text())


def grids(program, _, count, folder):
    for seed in range(5000, 5000 + count):
        path = folder / f"{seed}.uai"
        subprocess.run([program, "generate", "ising", "--n", "5", "--set", "coupling_normal=1", "--seed", str(seed),
                        "--out", str(path)], check=True, capture_output=True)
        yield path, []


def observations(program, networks, count, _):
    model = networks / "fg40.uai"
    drawn = infer(program, model, "--method", "exact", "--samples", str(count), "--seed", "5000")
    names = [variable["name"] for variable in drawn["variables"]]
    for sample in drawn["samples"]:
        states = ",".join(f"{name}={sample['x'][names.index(name)]}" for name in OBSERVED)
        yield model, ["--evidence", states]


def methods(case, networks):
    yield "uniform prior", ["--c", "1"]
    for title, name in NETWORKS[case].items():
        file = networks / name / "network.safetensors"
        if file.exists():
            yield f"{title}, absolute", ["--c", "0.1", "--leaf", f"net:{file}", "--network-values", "absolute"]
            yield f"{title}, telescoped", ["--c", "0.1", "--leaf", f"net:{file}"]
    for i in (1, 2, 3, 4):
        yield f"mini-buckets, i = {i}", ["--c", "0.1", "--leaf", f"mini-bucket:{i}"]


def measure(program, networks, count):
    lines = [f"{origin('experiments/own_families/run.py')}; instances {count}; budget 1000", "case,method,instance,kl"]
    with tempfile.TemporaryDirectory() as folder:
        for case, problems in (("evidence", observations), ("ising", grids)):
            for number, (model, evidence) in enumerate(problems(program, networks, count, pathlib.Path(folder))):
                log_z = infer(program, model, *evidence, "--method", "exact")["log_z"]["estimate"]
                for name, options in methods(case, networks):
                    samples = infer(program, model, *evidence, *SEARCH, "--samples", "500", *options)["samples"]
                    kl = statistics.mean(s["log_prob"] - float(s["log_density"]) for s in samples) + log_z
                    lines.append(f'{case},"{name}",{number},{kl}')
    RESULTS.write_text("\n".join(lines) + "\n")


def print_table():
    table = {}
    for row in csv.DictReader(line for line in RESULTS.read_text().splitlines() if not line.startswith("#")):
        table.setdefault(row["method"], {}).setdefault(row["case"], []).append(float(row["kl"]))
    count = len(next(iter(table.values()))["ising"])
    print(f"| KL, mean of {count} (se) | " + " | ".join(TITLES.values()) + " |\n|---|---|---|")
    for name, of in table.items():
        cells = [f"{statistics.mean(of[case]):.2f} ({statistics.stdev(of[case]) / math.sqrt(len(of[case])):.2f})"
                 for case in TITLES]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print_table()
    elif len(sys.argv) > 2:
        measure(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 16)
    else:
        sys.exit(__doc__)
