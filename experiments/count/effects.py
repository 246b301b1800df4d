#!/usr/bin/env python3
"""What each part of counting is worth: effects.py PROGRAM FOLDER SECONDS

Counts the formulas of a folder with everything and without each part. One row for each formula and setting, and one for
each setting with the formulas that all settings have counted: how many, their seconds and decisions. In processor time
(experiments/keep.py --processor-time), two threads that do no work twice take as many seconds as one.
"""
import glob
import os
import sys

from run_formulas import counted

SETTINGS = {
    "everything": ["--threads", "1"],
    "search": ["--threads", "1", "--method", "search"],
    "search clauses": ["--threads", "1", "--method", "search", "--reductions", "clauses"],
    "search none": ["--threads", "1", "--method", "search", "--reductions", "none"],
    "search 2 threads": ["--method", "search", "--threads", "2"],
}


def main():
    program, folder, seconds = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(folder, "*.cnf")))
    rows = {name: [] for name in SETTINGS}
    print("formula,setting,state,seconds,decisions,method")
    for path in paths:
        for name, options in SETTINGS.items():
            row = counted(program, path, seconds, options)
            rows[name].append(row)
            print(os.path.basename(path)[:-4], name, row["state"], row["seconds"], row["decisions"], row["method"],
                  sep=",", flush=True)
    by_all = [i for i in range(len(paths)) if all(rows[name][i]["state"] == "counted" for name in SETTINGS)]
    for name in SETTINGS:
        done = sum(row["state"] == "counted" for row in rows[name])
        total = sum(float(rows[name][i]["seconds"]) for i in by_all)
        decisions = sum(int(rows[name][i]["decisions"]) for i in by_all)
        print(f"all,{name},{done} of {len(paths)}; of {len(by_all)}:,{total:.2f},{decisions},")


if __name__ == "__main__":
    main()
