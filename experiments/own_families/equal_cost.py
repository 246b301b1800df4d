#!/usr/bin/env python3
"""Trained networks beside mini-buckets, on problems that they have not seen: README.md.

    equal_cost.py BUILD FOLDER [CASE...]    measures with BUILD/treesample and BUILD/value_bench: equal_cost.csv
    equal_cost.py                           prints its tables

FOLDER holds the networks that train.sh makes; a CASE is one of store, ising, ising-local, majority. KL of P_X at 1,000 evaluations is the mean of log P_X - log gamma over 500 samples, plus the
exact log Z; the processor time is that of the leaf value, the search and the samples.
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

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "equal_cost.csv"
STORE = HERE.parent.parent / "examples" / "models" / "cold_store.bif"
OBSERVED = ["outside_temperature", "thermometer", "temperature_alarm", "ice_seen", "oil_light", "gas_detector",
            "noise", "discharge_gauge", "electricity_bill", "claim"]
# title, instances, i of mini-buckets, the network's folder
CASES = {"store": ("cold_store.bif, 47 variables, 10 observed", 16, "2,4,6,8,12", "store"),
         "ising": ("Ising 5x5, couplings N(0, 1)", 16, "1,2,3,4,5", "ising-global"),
         "ising-local": ("the same, no global value", 16, "5", "ising-local"),
         "majority": ("noisy majorities, 40 variables", 6, "8,12,14,15,8:degree,12:degree,14:degree,15:degree",
                      "majority")}


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def observations(program, count, folder):
    """The bundled network with what is seen in samples of it, as value_bench takes it."""
    answer = folder / "answer.json"
    run(program, "infer", STORE, "--method", "exact", "--samples", count, "--seed", 5000, "--no-simplify", "--json",
        answer)
    drawn = json.loads(answer.read_text())
    variables = [variable["name"] for variable in drawn["variables"]]
    states = [variable["states"] for variable in drawn["variables"]]
    for sample in drawn["samples"]:
        at = [(name, variables.index(name)) for name in OBSERVED]
        yield f"{STORE}@" + ",".join(f"{name}={states[v][sample['x'][v]]}" for name, v in at)


def problems(case, program, folder):
    count = CASES[case][1]
    if case == "store":
        yield from observations(program, count, folder)
    for seed in range(5000, 5000 + count):
        path = folder / f"{case}{seed}.uai"
        if case.startswith("ising"):
            run(program, "generate", "ising", "--n", 5, "--set", "coupling_normal=1", "--seed", seed, "--out", path)
            yield path
        elif case == "majority":
            path.write_text(run(HERE / "majority.py", seed, 40))
            yield path


def measure(build, networks, cases):
    notes, rows = read() if RESULTS.exists() else ([], [])
    rows = [row for row in rows if row["case"] not in cases]
    notes = [note for note in notes if not any(f"case {case};" in note for case in cases)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in cases:
            models = list(problems(case, build / "treesample", folder))
            made = run(build / "value_bench", networks / CASES[case][3] / "network.safetensors", CASES[case][2],
                       *models)
            number = -1  # the first row of each problem is that of elimination
            for row in csv.DictReader(made.splitlines()):
                number += row["method"] == "elimination"
                del row["model"]
                rows.append({"case": case, "instance": str(number), **row})
            notes.append(f"{origin('experiments/own_families/equal_cost.py')}; case {case}; instances {CASES[case][1]}")
    lines = [*notes, ",".join(rows[0])]
    for row in rows:
        lines.append(",".join(f'"{value}"' if "," in value else value for value in row.values()))
    RESULTS.write_text("\n".join(lines) + "\n")


def read():
    lines = RESULTS.read_text().splitlines()
    return ([line for line in lines if line.startswith("#")],
            list(csv.DictReader(line for line in lines if not line.startswith("#"))))


def print_tables():
    rows = read()[1]
    for case, (title, *_) in CASES.items():
        found = {}
        for row in rows:
            if row["case"] == case:
                found.setdefault(row["method"], []).append(row)
        if not found:
            continue
        count = len(next(iter(found.values())))
        print(f"| {title}: mean of {count} (se) | KL | ms until searched | ms of 500 samples |\n|---|---|---|---|")
        for method, of in found.items():
            kl = [float(row["kl"]) for row in of]
            times = [1e3 * statistics.mean(float(row[name]) for row in of) for name in ("seconds", "sample_seconds")]
            impossible = statistics.mean(float(row["impossible"]) for row in of)
            note = f" and {100 * impossible:.1f} % impossible" if impossible > 0 else ""
            print(f"| {method} | {statistics.mean(kl):.2f} ({statistics.stdev(kl) / math.sqrt(len(kl)):.2f}){note} | "
                  + " | ".join(f"{time:.1f}" for time in times) + " |")
        print()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print_tables()
    elif len(sys.argv) > 2:
        measure(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:] or list(CASES))
    else:
        sys.exit(__doc__)
