#!/usr/bin/env python3
"""Prints the tables of README.md that follow from beliefs.csv: table.py FOLDER"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from kept import print_table, rows_of  # noqa: E402

FAMILIES = {"chain": "CHAIN", "permuted-chain": "PERMUTED", "factor-graphs-1": "FG 1", "factor-graphs-2": "FG 2"}
RULES = {"q-uct": "q-uct", "gap": "gap", "mass": "mass", "information-z": "information about log Z",
         "information-x": "information about X"}
BUDGETS = ["300", "1000", "3000", "10000"]


def main():
    rows = rows_of(pathlib.Path(sys.argv[1]) / "beliefs.csv")
    of = {(r["family"], r["reading"], r["rule"], r["budget"]): r for r in rows}
    table = []
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
                table.append([f"{title} {reading}, {name}", *cells])
    print_table(["KL, mean (standard error)", "300", "1,000", "3,000", "10,000"], table)


main()
