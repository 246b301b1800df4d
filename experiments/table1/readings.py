#!/usr/bin/env python3
"""Prints the tables of README.md that follow from readings.csv and readings_tried.csv: readings.py FOLDER"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from kept import print_table, rows_of  # noqa: E402

FAMILIES = {"chain": "CHAIN", "permuted-chain": "PERMUTED", "factor-graphs-1": "FG 1", "factor-graphs-2": "FG 2"}
METHODS = {"sis": "SIS", "smc": "SMC", "gibbs": "GIBBS", "bp": "BP", "tree": "TS"}
MOST = 3.0  # standard errors


def moments(row):
    return f"{float(row['mean']):.2f} +- {float(row['standard_deviation']):.2f}"


def judged(row):
    """Bold where both the mean and the standard deviation are the paper's, italics where only the mean is."""
    z = [float(row["z_mean"]), float(row["z_standard_deviation"])]
    mark = "**" if max(map(abs, z)) <= MOST else "*" if abs(z[0]) <= MOST else ""
    return f"{mark}{moments(row)}{mark} ({z[0]:+.1f}, {z[1]:+.1f})"


def print_cells(cells):
    rows = []
    for family in FAMILIES:
        for method in METHODS:
            if (family, "letter", method) not in cells:
                continue
            row = cells[family, "letter", method]
            paper = f"{float(row['paper_mean']):.2f} +- {float(row['paper_standard_deviation']):.2f}"
            ours = moments(cells[family, "likely", "rule mass"]) if method == "tree" else ""
            rows.append([f"{METHODS[method]} on {FAMILIES[family]}", paper,
                         *[judged(cells[family, who, method]) for who in ("letter", "likely", "descendants")], ours])
    print_table(["cell", "paper", "letter", "most likely reading", "gfn-maxent-rl's reading", "ours: rule mass"], rows)


def print_counts(cells):
    rows = []
    for who, title in (("letter", "letter"), ("likely", "most likely reading"),
                       ("descendants", "gfn-maxent-rl's reading")):
        z = [(abs(float(row["z_mean"])), abs(float(row["z_standard_deviation"])))
             for key, row in cells.items() if key[1] == who and key[2] in METHODS]
        rows.append([title, f"{sum(mean <= MOST for mean, _ in z)}", f"{sum(max(both) <= MOST for both in z)}",
                     f"{len(z)}"])
    print_table(["cells within 3 standard errors", "means", "means and standard deviations", "of"], rows)


def print_criterion(cells, tried):
    rows = []
    for family, title in FAMILIES.items():
        count = float(cells[family, "likely", "sis"]["readings_tried"])
        best = max((float(row["column_log_likelihood"]), row["family_reading"]) for row in tried
                   if row["family"] == family and row["family_reading"] != "gfn-maxent-rl")
        # The letter's own reading of each method is the first one that the file has.
        first = {}
        for row in tried:
            if row["family"] == family and row["family_reading"] == "letter":
                first.setdefault(row["method"], float(row["log_likelihood"]))
        letter = sum(first.values())
        rows.append([title, best[1], f"{count:.0f}", f"{math.log(count):.1f}", f"{letter:.1f}", f"{best[0]:.1f}",
                     f"{best[0] - letter - math.log(count):+.1f}"])
    print_table(["column", "most likely reading of the family", "readings tried", "their logarithm",
                 "log-likelihood, letter", "most likely", "gain less the logarithm"], rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    cells = {(row["family"], row["who"], row["method"]): row for row in rows_of(folder / "readings.csv")}
    print_criterion(cells, rows_of(folder / "readings_tried.csv"))
    print_cells(cells)
    print_counts(cells)


main()
