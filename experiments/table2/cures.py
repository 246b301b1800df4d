#!/usr/bin/env python3
"""Prints the table of README.md that follows from cures.csv: cures.py FOLDER"""
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from kept import print_table, rows_of  # noqa: E402

TITLES = {
    "alone": "Q_phi alone",
    "corrected": "corrected by samples, no search",
    "telescoped": "the same, and search",
    "greedy": "search with c = 0",
    "wide": "search with c = 0.5",
    "level": "c by level: 0.1 (N - n) log K",
    "level-small": "c by level: 0.01 (N - n) log K",
    "trust-0": "values between levels: trust 0",
    "trust-0.1": "values between levels: trust 0.1",
    "trust-0.5": "values between levels: trust 0.5",
    "relearned": "corrections learned again from the tree, and a new search",
    "samples": "the whole budget for samples, no search",
    "telescoped-4": "4 times the budget, all of it for the search",
    "samples-4": "4 times the budget for samples, no search",
    "telescoped-16": "16 times the budget, all of it for the search",
}


def main():
    rows = rows_of(pathlib.Path(sys.argv[1]) / "cures.csv")
    kl = {way: [float(row["kl"]) for row in rows if row["way"] == way] for way in TITLES}
    table = []
    for way, title in TITLES.items():
        less = [a - b for a, b in zip(kl[way], kl["corrected"])]
        difference = f"{statistics.mean(less):+.3f} ({statistics.stdev(less) / math.sqrt(len(less)):.3f})"
        of = {name: [float(row[name]) for row in rows if row["way"] == way and row[name]] for name in ("share", "least_kl")}
        has_search = of["share"] and max(of["share"]) > 0.0
        cells = [f"{statistics.mean(of[name]):.3f}" if has_search else "-" for name in of]
        table.append([title, f"{statistics.mean(kl[way]):.3f}", "-" if way == "corrected" else difference, *cells])
    print_table(["way", "KL", "less corrected, no search (se)", "share of Z evaluated", "least KL with that share"], table)


main()
