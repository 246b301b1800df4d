#!/usr/bin/env python3
"""What `infer` finds on a folder of UAI models within some time limits: run.py PROGRAM FOLDER SECONDS ... > results.csv

The folder has NAME.uai with NAME.uai.evid and, where they are known, NAME.uai.PR (log10 Z) and NAME.uai.MAR. A row is
a model and a limit: one run on one thread. Limits are processor seconds (tests/support/cpu_clock.c, which gcc compiles),
so that other work of the machine changes little. `seconds` is the processor time, user and system, of the whole program,
`hellinger` the mean distance of the marginals from the published ones.
"""
import csv
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2])
LIMITS = sys.argv[3:]
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "experiments"))
from keep import origin, processor_clock  # noqa: E402

COLUMNS = ["model", "limit", "seconds", "log_z", "lower", "upper", "exact", "interval_lower", "interval_upper",
           "error", "hellinger", "marginals_error", "best_optimal", "method"]


def published(name):
    """(log Z, marginals), None where unknown"""
    answer = FOLDER / f"{name}.uai.PR"
    log_z = float(answer.read_text().split()[1]) * math.log(10.0) if answer.exists() else None
    file = FOLDER / f"{name}.uai.MAR"
    if not file.exists():
        return log_z, None
    numbers = iter(file.read_text().split()[1:])
    return log_z, [[float(next(numbers)) for _ in range(int(next(numbers)))] for _ in range(int(next(numbers)))]


def hellinger(one, other):
    return math.sqrt(max(0.0, 1.0 - sum(math.sqrt(max(0.0, p) * max(0.0, q)) for p, q in zip(one, other))))


def row_of(model, limit, clock):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([PROGRAM, "infer", str(model), "--time", limit, "--threads", "1", "--json", "-", "--quiet"],
                          capture_output=True, text=True, check=True, env={**os.environ, "LD_PRELOAD": clock})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout)
    known, marginals = published(model.stem)
    log_z = answer["log_z"]
    interval = {} if log_z["exact"] else log_z.get("interval") or {}
    own = [list(states.values()) for states in answer["marginals"].values()]
    return {
        "model": model.stem, "limit": limit,
        "seconds": f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.3f}",
        "log_z": log_z["estimate"], "lower": log_z["lower"], "upper": log_z["upper"], "exact": int(log_z["exact"]),
        "interval_lower": interval.get("lower"), "interval_upper": interval.get("upper"),
        "error": "" if known is None else float(log_z["estimate"]) - known,
        "hellinger": sum(map(hellinger, own, marginals)) / len(own) if own and marginals else "",
        "marginals_error": answer["marginals_error"], "best_optimal": int(bool((answer["best"] or {}).get("optimal"))),
        "method": answer["method"],
    }


def main():
    print(origin(f"experiments/models/run.py build/treesample MODELS {' '.join(LIMITS)}"))
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    with tempfile.TemporaryDirectory() as folder:
        clock = processor_clock(folder)
        for limit in LIMITS:
            for model in sorted(FOLDER.glob("*.uai")):
                writer.writerow(row_of(model, limit, clock))
                sys.stdout.flush()


main()
