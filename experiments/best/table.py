#!/usr/bin/env python3
"""The kept runs as a table by kind: table.py prints it for README.md, from ours.csv and toulbar2.csv beside it."""

import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from kept import rows_of  # noqa: E402

KINDS = {  # by how the names of the models begin; what is none of these is of the competitions
    "pedigrees, linkage": ("linkage_a", "linkage_b", "linkage_c", "pedigree_"),
    "grids, glasses, Potts": ("glass_", "grid_", "potts_", "sk_"),
    "restricted Boltzmann machines": ("rbm_",),
    "networks, noisy-or": ("network_", "noisy_or_"),
    "MaxSAT": ("maxsat_",),
    "colouring, frequencies, jobs, constraints": ("colouring_", "frequencies_", "jobs_", "csp_"),
}
OTHER = "competitions and repositories"
BETTER = 0.1  # nats
LEAST_SECONDS = 0.01  # of a run: what is shorter is the start of a program


def runs(name, program):
    return {row["model"]: row for row in rows_of(HERE / name) if row["program"] == program}


def kind_of(model):
    return next((kind for kind, begins in KINDS.items() if model.startswith(begins)), OTHER)


def value(row):
    return float(row["value"]) if row["value"] else -math.inf


def pairs():
    ours, peer = runs("ours.csv", "ours"), runs("toulbar2.csv", "peer")
    return [(kind_of(model), ours[model], peer[model]) for model in sorted(ours) if model in peer]


def ratio(chosen):
    """Of the times to the proof, where both have one; the geometric mean of ours by the other."""
    logs = [math.log(max(float(a["seconds"]), LEAST_SECONDS) / max(float(b["seconds"]), LEAST_SECONDS))
            for _, a, b in chosen if a["proved"] == b["proved"] == "1"]
    return f"{math.exp(sum(logs) / len(logs)):.2f}" if logs else "-"


def row(name, chosen):
    proved = [sum(int(pair[i]["proved"]) for pair in chosen) for i in (1, 2)]
    ahead = sum(value(a) > value(b) + BETTER for _, a, b in chosen)
    behind = sum(value(b) > value(a) + BETTER for _, a, b in chosen)
    print(f"| {name} | {len(chosen)} | {proved[0]}, {proved[1]} | {ahead} | {behind} | {ratio(chosen)} |")


def main():
    print("| kind | models | proved: ours, toulbar2 | ours better | ours worse | time to the proof, ours / toulbar2 |")
    print("|---|---|---|---|---|---|")
    known = pairs()
    for kind in [OTHER, *KINDS]:
        chosen = [pair for pair in known if pair[0] == kind]
        if chosen:
            row(kind, chosen)
    row("all", known)


if __name__ == "__main__":
    main()
