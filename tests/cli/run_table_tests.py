#!/usr/bin/env python3
"""Tables in the docs are what their CSV files say: run_table_tests.py SOURCE

Each script prints its tables as Markdown; every row must be in the document, letter by letter.
"""
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
TABLES = [
    (["experiments/table2/tables.py", "experiments/table2"], "experiments/table2/README.md"),
    (["experiments/table2/ablations.py", "experiments/table2/ablations.csv"], "experiments/table2/README.md"),
    (["experiments/own_families/run.py"], "experiments/own_families/README.md"),
    (["experiments/own_families/equal_cost.py"], "experiments/own_families/README.md"),
]

failures = 0
for command, document in TABLES:
    words = [str(SOURCE / word) for word in command]
    printed = subprocess.run([sys.executable, "-B", *words], check=True, capture_output=True, text=True).stdout
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    lines = set((SOURCE / document).read_text().splitlines())
    missing = [row for row in rows if row not in lines]
    if len(rows) < 10:
        missing.append(f"{command[0]} prints {len(rows)} rows only")
    for row in missing:
        print(f"not in {document}: {row}")
    failures += len(missing)
print("no differences" if failures == 0 else f"{failures} differences")
sys.exit(1 if failures else 0)
