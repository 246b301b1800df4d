#!/usr/bin/env python3
"""Prints the tables of README.md that follow from beliefs.csv: table.py FOLDER"""
import csv
import math
import pathlib
import sys

FAMILIES = {"chain": "CHAIN", "permuted-chain": "PERMUTED", "factor-graphs-1": "FG 1", "factor-graphs-2": "FG 2"}
RULES = {"q-uct": "q-uct", "gap": "gap", "mass": "mass", "information-z": "information about log Z",
         "information-x": "information about X"}
BUDGETS = ["300", "1000", "3000", "10000"]


def main():
    path = pathlib.Path(sys.argv[1]) / "beliefs.csv"
    rows = list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))
    of = {(r["family"], r["reading"], r["rule"], r["budget"]): r for r in rows}
    print("| KL, mean (standard error) | 300 | 1,000 | 3,000 | 10,000 |")
    print("|---|---|---|---|---|")
    for family, title in FAMILIES.items():
        for reading in ("letter", "best"):
            for rule, name in RULES.items():
                cells = []
                for budget in BUDGETS:
                    row = of[family, reading, rule, budget]
                    mean, error = float(row["kl_mean"]), float(row["kl_standard_error"])
                    # Gap reads tables; the best of the others is bold, and those within two standard errors of it.
                    least = min((of[family, reading, other, budget] for other in RULES if other != "gap"),
                                key=lambda r: float(r["kl_mean"]))
                    both = math.hypot(error, float(least["kl_standard_error"]))
                    is_best = rule != "gap" and mean - float(least["kl_mean"]) <= 2.0 * both
                    mark = "**" if is_best else ""
                    cells.append(f"{mark}{mean:.3f}{mark} ({error:.3f})")
                print("| " + " | ".join([f"{title} {reading}, {name}", *cells]) + " |")


main()
