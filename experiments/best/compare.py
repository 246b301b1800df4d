#!/usr/bin/env python3
"""The most probable configuration beside toulbar2: compare.py PROGRAM OUT SECONDS MODEL ... [--only ours|peer|early]

Every model (.uai with the evidence in MODEL.evid, or .wcnf) is given to `treesample infer --question best` and to
toulbar2 with its defaults, one thread each. Limits and times are processor seconds of both. Values are recomputed from
the tables for the configuration that a program printed, so that nothing rests on what it says about itself. `early` is
the value after one second. Rows that OUT has already are kept, so that an interrupted run goes on.
"""

import csv
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from keep import origin, processor_clock  # noqa: E402

FIELDS = ["model", "program", "value", "proved", "gap", "seconds"]
EARLY_SECONDS = 1


class Uai:
    def __init__(self, path):
        words = iter(open(path).read().split())
        next(words)
        self.sizes = [int(next(words)) for _ in range(int(next(words)))]
        scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
        self.tables = [(scope, [float(next(words)) for _ in range(int(next(words)))]) for scope in scopes]
        if os.path.exists(path + ".evid"):
            seen = [int(word) for word in open(path + ".evid").read().split()]
            pairs = seen[1:] if len(seen) % 2 == 1 else seen[2:]  # an older form begins with a number of cases
            for v, state in zip(pairs[::2], pairs[1::2]):
                self.tables.append(([v], [float(s == state) for s in range(self.sizes[v])]))

    def value(self, x):
        logs = []
        for scope, values in self.tables:
            at = 0
            for v in scope:
                at = at * self.sizes[v] + x[v]
            if values[at] <= 0:
                return -math.inf
            logs.append(math.log(values[at]))
        return math.fsum(logs)

    def write(self, path):
        """With the evidence as tables."""
        with open(path, "w") as file:
            print("MARKOV", len(self.sizes), *self.sizes, len(self.tables), file=file)
            for scope, _ in self.tables:
                print(len(scope), *scope, file=file)
            for _, values in self.tables:
                print(len(values), *map(repr, values), file=file)


class Wcnf:
    def __init__(self, path):
        self.text = open(path).read()
        rows = [line.split() for line in self.text.splitlines() if line]
        self.top = int(rows[0][4])
        self.clauses = [(int(row[0]), [int(word) for word in row[1:-1]]) for row in rows[1:]]

    def value(self, x):
        broken = [weight for weight, clause in self.clauses if not any(x[abs(k) - 1] == (k > 0) for k in clause)]
        return -math.inf if any(weight >= self.top for weight in broken) else -float(sum(broken))

    def write(self, path):
        with open(path, "w") as file:
            file.write(self.text)


def processor_seconds(command, environment=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(program, clock, path, model, seconds):
    done, spent = processor_seconds([program, "infer", path, "--question", "best", "--time", str(seconds), "--threads",
                                     "1", "--json", "-", "--quiet"], {**os.environ, "LD_PRELOAD": clock})
    answer = json.loads(done.stdout) if done.stdout else {}
    best = answer.get("best")
    if not best:  # proved to be impossible, or nothing found
        is_impossible = bool(answer) and answer["log_z"]["exact"]
        return {"value": "", "proved": int(is_impossible), "gap": "", "seconds": f"{spent:.2f}"}
    return {"value": repr(model.value(best["x"])), "proved": int(best["optimal"] is True),
            "gap": "" if best.get("gap") is None else best["gap"], "seconds": f"{spent:.2f}"}


def peer(path, model, seconds, folder):
    solution = os.path.join(folder, "solution")
    done, spent = processor_seconds(["toulbar2", path, f"-timer={seconds}", f"-w={solution}"])
    value = ""
    if os.path.exists(solution) and open(solution).read().split():
        value = repr(model.value([int(word) for word in open(solution).read().split()]))
        os.remove(solution)
    proved = re.search(r"^Optimum:|^No solution", done.stdout, re.M)
    return {"value": value, "proved": int(bool(proved)), "gap": "", "seconds": f"{spent:.2f}"}


def main():
    words = sys.argv[1:]
    only = words[words.index("--only") + 1].split(",") if "--only" in words else ["ours", "peer", "early"]
    words = words[:words.index("--only")] if "--only" in words else words
    program, out, seconds, *paths = words
    known = set()
    if os.path.exists(out):
        known = {(row["model"], row["program"]) for row in csv.DictReader(open(out).read().splitlines()[1:])}
    with tempfile.TemporaryDirectory() as folder, open(out, "a") as file:
        if not known:
            command = f"compare.py {os.path.basename(program)} {seconds} s, {len(paths)} models"
            file.write(origin(command) + "; in processor time\n" + ",".join(FIELDS) + "\n")
        clock = processor_clock(folder)
        for path in paths:
            name, extension = os.path.splitext(os.path.basename(path))
            model = Wcnf(path) if extension == ".wcnf" else Uai(path)
            written = os.path.join(folder, "model" + extension)
            model.write(written)
            runs = {"ours": lambda: ours(program, clock, written, model, seconds),
                    "early": lambda: ours(program, clock, written, model, EARLY_SECONDS),
                    "peer": lambda: peer(written, model, seconds, folder)}
            for who in only:
                if (name, who) not in known:
                    csv.DictWriter(file, FIELDS).writerow({"model": name, "program": who, **runs[who]()})
                    file.flush()


if __name__ == "__main__":
    main()
