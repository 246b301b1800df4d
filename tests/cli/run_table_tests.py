#!/usr/bin/env python3
"""Tables in the docs are what their CSV files say: run_table_tests.py SOURCE

Some scripts print their tables as Markdown: every row must be in the document, letter by letter. Other tables are
written by hand: every number in them must be that of the file, rounded to as many digits as it has.
"""
import csv
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "experiments"))
from tables_checked import TABLES  # noqa: E402

FAMILIES = {"CHAIN": "chain", "PERMUTED": "permuted-chain", "FG 1": "factor-graphs-1", "FG 2": "factor-graphs-2",
            "FACTOR GRAPHS 1": "factor-graphs-1", "FACTOR GRAPHS 2": "factor-graphs-2", "Ising 10x10": "ising"}
EXACT = 1e-9


def rows_of(name):
    lines = (SOURCE / "experiments" / name).read_text().splitlines()
    return csv.DictReader(line for line in lines if not line.startswith("#"))


def table_rows(name):
    """Lists of cells of all Markdown tables."""
    for line in (SOURCE / name).read_text().splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def printed_tables():
    for command, document in TABLES:
        words = [word if word.startswith("--") else str(SOURCE / word) for word in command]
        printed = subprocess.run([sys.executable, "-B", *words], check=True, capture_output=True, text=True).stdout
        rows = [line for line in printed.splitlines() if line.startswith("|")]
        lines = set((SOURCE / document).read_text().splitlines())
        yield from (f"not in {document}: {row}" for row in rows if row not in lines)
        if len(rows) < 5:
            yield f"{command[0]} prints {len(rows)} rows only"


def differences(cell, values):
    """Numbers of a cell against values, in order; "exact" and 0 are rounding."""
    found = re.findall(r"exact|-?[0-9][0-9,]*\.?[0-9]*", cell)
    if len(found) < len(values):
        yield f"'{cell}' has fewer than {len(values)} numbers"
    for text, value in zip(found, values):
        digits = len(text.split(".")[1]) if "." in text else 0
        is_same = abs(value) < EXACT if text in ("exact", "0") else f"{value:.{digits}f}" == text.replace(",", "")
        if not is_same:
            yield f"{text} of '{cell}' is {value}"


def table1():
    of = {(r["family"], r["reading"], r["method"]): r for r in rows_of("table1/table1.csv")}
    methods = {"SIS": "sis", "SMC": "smc", "GIBBS": "gibbs", "BP": "bp", "TS": "tree", "TS, rule mass": "mass",
               "TS, ELBO leaves": "elbo", "TS, ELBO leaves, bonus (N - n) log K, random ties": "elbo-states",
               "the same, bonus (N - n) log K, random ties": "elbo-states"}
    for name, _, *cells in table_rows("experiments/table1/README.md"):
        family = next((f for f in FAMILIES if name.startswith(f + " ")), None)
        method = methods.get(name[len(family) + 1:]) if family else None
        for reading, cell in zip(("letter", "best"), cells if method else []):
            row = of[FAMILIES[family], reading, method]
            names = ["mean", "standard_deviation"] + (["kl_mean"] if row["measure"] != "kl" else [])
            yield from differences(cell, [float(row[n]) for n in names])
            if ("**" in cell) != (row["matches_paper"] == "yes"):
                yield f"{name}, {reading}: '{cell}' is bold or not, the file says {row['matches_paper']}"


def lines_of(name, key):
    of = {}
    for row in rows_of(name):
        of.setdefault(row[key], {})[row["method"], row["reading"]] = float(row["kl_mean"])
    return of


def depth():
    of = lines_of("depth/depth.csv", "n")
    for n, _, *cells in table_rows("experiments/depth/README.md"):
        order = [("smc", "best"), ("tree", "letter"), ("tree", "best"), ("andor", "best")]
        for cell, line in zip(cells if n in of else [], order):
            yield from differences(cell, [of[n][line]])


def figure1():
    of = lines_of("figure1/figure1_error.csv", "budget")
    for budget, *cells in table_rows("experiments/figure1/README.md"):
        at = of.get(budget.replace(",", ""))
        order = [("smc", "best"), ("tree", "letter"), ("tree", "best"), ("graph", "best")]
        for cell, line in zip(cells if at else [], order):
            yield from differences(cell, [at[line]])


def memory():
    of = {(r["family"], r["megabytes"], r["method"]): r for r in rows_of("memory/memory.csv")}
    family = None
    for name, megabytes, *cells in table_rows("experiments/memory/README.md"):
        family = FAMILIES.get(name, family)
        if (family, megabytes, "stop") in of:
            yield from differences(cells[0], [float(of[family, megabytes, "stop"]["evaluations_mean"])])
            for cell, method in zip(cells[1:], ("stop", "collapse", "rebuild")):
                yield from differences(cell, [float(of[family, megabytes, method]["kl_mean"])])


def functions():
    budgets = {}
    for row in rows_of("functions/functions.csv"):
        budgets[row["family"], row["reading"], row["method"], int(row["budget"])] = float(row["kl_mean"])
    for name, *cells in table_rows("docs/methods/mass.md"):
        match = re.fullmatch(r"(CHAIN|PERMUTED|FG 1|FG 2)( letter| best)?, (TS|rule mass)", name)
        for cell, budget in zip(cells if match else [], (100, 300, 1000, 3000, 10000, 30000, 100000)):
            key = (FAMILIES[match[1]], (match[2] or " letter").strip(), "tree" if match[3] == "TS" else "mass", budget)
            yield from differences(cell, [budgets[key]])


failures = [f"{check.__name__}: {text}"
            for check in (printed_tables, table1, depth, figure1, memory, functions) for text in check()]
print("\n".join(failures) if failures else "no differences")
sys.exit(1 if failures else 0)
