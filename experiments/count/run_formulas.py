#!/usr/bin/env python3
"""Counts the formulas of a folder: run_formulas.py [-j JOBS] PROGRAM FOLDER SECONDS [OPTION ...]

One row for each formula: whether it was counted, the seconds, decisions and the method; for those that were not, the
certified bounds of the logarithm to base 10. Last, one row for each kind. Times are by the clock that the limit has
(experiments/keep.py --processor-time makes both processor time).
"""
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys


def counted(program, path, seconds, options):
    done = subprocess.run([program, "count", path, "--time", seconds, "--quiet", *options], capture_output=True, text=True)
    if done.returncode != 0:
        return {"state": "failed", "seconds": "", "decisions": "", "method": "", "bounds": done.stderr.strip()}
    line = re.search(r"^(search|elimination) .* (\d+) decisions?.* ([0-9.]+) s$", done.stdout, re.M)
    bounds = re.search(r"^log10 +in \[(.*), (.*)\], certified$", done.stdout, re.M)
    return {"state": "open" if bounds else "counted", "seconds": line[3], "decisions": line[2], "method": line[1],
            "bounds": f"{bounds[1]} {bounds[2]}" if bounds else ""}


def main():
    words = sys.argv[1:]
    jobs = 1
    if words[0] == "-j":
        jobs, words = int(words[1]), words[2:]
    program, folder, seconds, *options = words
    columns = ["state", "seconds", "decisions", "method", "bounds"]
    print("formula,kind," + ",".join(columns))
    kinds = collections.defaultdict(list)
    paths = sorted(glob.glob(os.path.join(folder, "*.cnf")))
    team = concurrent.futures.ThreadPoolExecutor(jobs)
    for path, row in zip(paths, team.map(lambda path: counted(program, path, seconds, options), paths)):
        name = os.path.basename(path)[:-4]
        kind = name.rsplit("_", 1)[0] if re.fullmatch(r"[a-z]+_\d+", name) else name.split("_")[0]
        kinds[kind].append(row)
        print(name, kind, *(row[column] for column in columns), sep=",", flush=True)
    for kind, rows in [*kinds.items(), ("all", [row for rows in kinds.values() for row in rows])]:
        done = [row for row in rows if row["state"] == "counted"]
        total = sum(float(row["seconds"]) for row in done)
        print(f"all,{kind},{len(done)} of {len(rows)},{total:.2f},{sum(int(row['decisions']) for row in done)},,")


if __name__ == "__main__":
    main()
