#!/usr/bin/env python3
"""KL of P_X at 1,000 evaluations with trained networks, on problems that they have not seen: run.py PROGRAM FOLDER [N]

FOLDER holds the networks that the commands in docs/methods/networks.md train: ising/ and evidence/, the latter beside
the model fg40.uai. N instances of each case (16); KL is the mean of log P_X - log gamma over 500 samples, plus the exact
log Z. Prints a table and writes results.csv beside this file.
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 16
OBSERVED = ["x1", "x5", "x9", "x13", "x17", "x21", "x25", "x29", "x33", "x37"]
SEARCH = ["--select", "q-uct", "--space", "tree", "--order", "given", "--budget", "1000", "--no-simplify",
          "--importance", "0"]


def infer(model, *options):
    with tempfile.NamedTemporaryFile(suffix=".json") as answer:
        subprocess.run([PROGRAM, "infer", str(model), *options, "--json", answer.name], check=True, capture_output=True)
        return json.loads(pathlib.Path(answer.name).read_text())


def kl(model, evidence, *options):
    log_z = infer(model, *evidence, "--method", "exact")["log_z"]["estimate"]
    samples = infer(model, *evidence, *SEARCH, "--samples", "500", *options)["samples"]
    return statistics.mean(s["log_prob"] - float(s["log_density"]) for s in samples) + log_z


def grids(folder):
    for seed in range(5000, 5000 + COUNT):
        path = folder / f"{seed}.uai"
        subprocess.run([PROGRAM, "generate", "ising", "--n", "5", "--set", "coupling_normal=1", "--seed", str(seed),
                        "--out", str(path)], check=True, capture_output=True)
        yield path, []


def observations(folder):
    model = FOLDER / "fg40.uai"
    drawn = infer(model, "--method", "exact", "--samples", str(COUNT), "--seed", "5000")
    names = [variable["name"] for variable in drawn["variables"]]
    for sample in drawn["samples"]:
        states = ",".join(f"{name}={sample['x'][names.index(name)]}" for name in OBSERVED)
        yield model, ["--evidence", states]


def methods(network):
    file = f"net:{network / 'network.safetensors'}"
    yield "uniform prior", ["--c", "1"]
    yield "network, absolute", ["--c", "0.1", "--prior", file, "--network-values", "absolute"]
    yield "network, telescoped", ["--c", "0.1", "--prior", file]
    for i in (1, 2, 3, 4):
        yield f"mini-buckets, i = {i}", ["--c", "0.1", "--prior", f"mini-bucket:{i}"]


def main():
    rows = ["case,method,instance,kl"]
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        for case, problems in (("evidence", observations), ("ising", grids)):
            if not (FOLDER / case).exists():
                continue
            for number, (model, evidence) in enumerate(problems(pathlib.Path(folder))):
                for name, options in methods(FOLDER / case):
                    value = kl(model, evidence, *options)
                    rows.append(f"{case},\"{name}\",{number},{value}")
                    table.setdefault(name, {}).setdefault(case, []).append(value)
    pathlib.Path(__file__).with_name("results.csv").write_text("\n".join(rows) + "\n")
    cases = list(next(iter(table.values())))
    print(f"| KL, mean over {COUNT} (standard error) | " + " | ".join(cases) + " |\n" + "|---" * (len(cases) + 1) + "|")
    for name, values in table.items():
        cells = [f"{statistics.mean(v):.2f} ({statistics.stdev(v) / math.sqrt(len(v)):.2f})" for v in values.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
