#!/usr/bin/python3
"""Calls per second of expensive functions: calls_bench.py PROGRAM [batches] [workers] [redis]

batches  a function that takes 1 ms + 1 us per row, called with 1 and with 256 rows: in Python, and as a program
workers  64 programs on this machine that sleep for 20 ms per call: the share of the ideal 64 / 0.02 calls per second
redis    the same with 64 workers through a Redis server (`treesample worker`)

PYTHONPATH names the module. Times are wall-clock times, which are meaningful only on an otherwise idle machine; the
load and the processor time are printed too, to estimate the rate on such a machine.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import treesample as ts

PROGRAM = os.path.abspath(sys.argv[1])
NAMES = [f"x{i}" for i in range(10)]
NUM_STATES = 5
SERVER = """
import json, sys, time
sys.stdin.readline()
print('{"ready": true}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    rows = request["assignments"]
    time.sleep(SLEEP)
    print(json.dumps({"id": request["id"], "log_values": [-0.1 * sum(row) + 0.3 * row[0] * row[3] for row in rows]}), flush=True)
"""


def model_file(folder, sleep, max_batch):
    with open(os.path.join(folder, "server.py"), "w") as file:
        file.write(SERVER.replace("SLEEP", sleep))
    program = {"command": ["/usr/bin/python3", "-I", "-S", "server.py"], "max_batch": max_batch}
    model = {
        "variables": [{"name": name, "states": NUM_STATES} for name in NAMES],
        "programs": {"p": program},
        "factors": [{"name": "f", "scope": NAMES, "program": "p"}],
    }
    path = os.path.join(folder, f"model{max_batch}.json")
    with open(path, "w") as file:
        json.dump(model, file)
    return path


def processor_seconds():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def infer(path, calls, *options):
    arguments = [PROGRAM, "infer", path, "--calls", str(calls), "--select", "mass", "--allow-programs", "--quiet", *options]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def python_function(calls, batch):
    model = ts.Model()
    variables = [model.variable(name, NUM_STATES) for name in NAMES]

    def function(rows):
        time.sleep(1e-3 + 1e-6 * len(rows))
        return -0.1 * rows.sum(axis=1) + 0.3 * rows[:, 0] * rows[:, 3]

    model.factor(*variables, batch=batch)(function)
    model.infer(calls=calls, select="mass")


def per_call(run, few, many):
    """Seconds of wall-clock time and of processor time per call, without the time to start."""
    measured = []
    for calls in (few, many):
        start, used = time.monotonic(), processor_seconds()
        run(calls)
        measured.append((time.monotonic() - start, processor_seconds() - used))
    return [(b - a) / (many - few) for a, b in zip(*measured)]


def batches(folder):
    single, whole = (model_file(folder, "1e-3 + 1e-6 * len(rows)", n) for n in (1, 256))
    ways = {
        "Python function": (lambda calls: python_function(calls, 1), lambda calls: python_function(calls, 256)),
        "program": (lambda calls: infer(single, calls), lambda calls: infer(whole, calls)),
    }
    for name, (by_one, by_many) in ways.items():
        one, one_used = per_call(by_one, 200, 1200)
        many, many_used = per_call(by_many, 2560, 51_200)
        quiet = (1e-3 + 1e-6 + one_used) / (1e-3 / 256 + 1e-6 + many_used)
        print(
            f"{name}: {1 / one:.0f} calls/s by one, {1 / many:.0f} by 256: {one / many:.0f} times; processor time"
            f" {one_used * 1e6:.0f} and {many_used * 1e6:.1f} us per call, by which it is {quiet:.0f} times"
        )


def workers(folder, more=()):
    path = model_file(folder, "0.02", 1)
    one, used = per_call(lambda calls: infer(path, calls, "--oracle-workers", "96" if more else "64", *more), 640, 12_800)
    print(f"64 {'by Redis' if more else 'local'}: {1 / one:.0f} calls/s, {100 * 0.02 / 64 / one:.0f} % of ideal; {used * 1e3:.2f} ms processor"
          " time of coordinator and local programs per call")


def by_redis(folder):
    socket = os.path.join(folder, "socket")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", ""], stdout=subprocess.DEVNULL)
    login = ["--redis", f"unix:{socket}", "--run", "bench"]
    path = model_file(folder, "0.02", 1)
    helpers = subprocess.Popen(
        [PROGRAM, "worker", "--model", path, "--workers", "64", "--allow-programs", "--stay", *login],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        infer(path, 640, "--oracle-workers", "96", *login)  # starts the workers' programs
        workers(folder, login)
    finally:
        for process in (helpers, server):
            process.terminate()
            process.wait()


def main():
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    parts = sys.argv[2:] or ["batches", "workers", "redis"]
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            {"batches": batches, "workers": workers, "redis": by_redis}[part](folder)


if __name__ == "__main__":
    main()
