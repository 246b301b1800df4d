#!/usr/bin/env python3
"""Time limits and interruptions of `treesample infer`, in processor seconds.

usage: run_time_tests.py PROGRAM CPU_CLOCK [--slow]

CPU_CLOCK is the library of tests/support/cpu_clock.c. With --slow a run must end within T + 0.2 s + 5 %, or, where
reading the model and its first bounds alone take longer than that, within what they take. Without it a run may take
four times that: processor seconds grow with what else the machine does, and only a limit that is not obeyed must fail.
It then tries the defaults alone: every method, rule and space under every limit and interruption is run by a clock that
is set, in tests/unit/infer/phases_test.cpp.
"""
import fcntl
import itertools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

from checks import PROGRAM, check, read_json, run, run_tests, write

CPU_CLOCK = os.path.abspath(sys.argv[2])
IS_SLOW = "--slow" in sys.argv[3:]
SLACK = 1 if IS_SLOW else 4
PATIENCE = 600  # seconds of a busy machine


def write_uai(name, states, scopes, seed=1, zeros=0.0):
    draw = random.Random(seed)
    with open(name, "w") as out:
        out.write(f"MARKOV\n{len(states)}\n{' '.join(map(str, states))}\n{len(scopes)}\n")
        for scope in scopes:
            out.write(f"{len(scope)} {' '.join(map(str, scope))}\n")
        for scope in scopes:
            size = 1
            for v in scope:
                size *= states[v]
            entries = ("0" if draw.random() < zeros else f"{draw.uniform(0.2, 3):.3f}" for _ in range(size))
            out.write(f"{size} {' '.join(entries)}\n")


def ising(n):
    pairs = [(i * n + j, i * n + j + 1) for i in range(n) for j in range(n - 1)]
    pairs += [(i * n + j, i * n + j + n) for i in range(n - 1) for j in range(n)]
    return [2] * (n * n), [(v,) for v in range(n * n)] + pairs


def chain(n):
    return [2] * n, [(v, v + 1) for v in range(n - 1)]


def clique(n, k):
    return [k] * n, [(a, b) for a in range(n) for b in range(a)]


def wide(n, arity, seed=2):
    draw = random.Random(seed)
    return [2] * n, [tuple(sorted(draw.sample(range(n), arity))) for _ in range(3 * n)]


class Run:
    """A finished run of the program under the clock of processor seconds."""

    def __init__(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run(*map(str, arguments), timeout=PATIENCE, env={**os.environ, "LD_PRELOAD": CPU_CLOCK})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


def infer(model, limit, *options):
    # One thread unless said otherwise: the clock counts the seconds of all of them.
    threads = () if "--threads" in options else ("--threads", "1")
    return Run("infer", model, "--time", limit, "--json", "answer.json", "--quiet", *threads, *options)


least = {}  # seconds for what is always made


def check_time(model, limit, *options):
    if model not in least:
        least[model] = max(infer(model, 1e-9).seconds for _ in range(3))  # what the system takes for memory varies
    run = infer(model, limit, *options)
    name = f"{model} --time {limit} {' '.join(options)}"
    allowed = SLACK * max(1.05 * limit + 0.2, least[model] + 0.15)
    if IS_SLOW:
        print(f"{run.seconds:7.2f} of {allowed:5.2f} s  {name}", flush=True)
    is_refused = run.code == 69 and "could not be read within" in run.err
    check(run.code == 0 or is_refused, name, f"exit code {run.code}: {run.err}")
    check(run.seconds <= allowed, name, f"took {run.seconds:.2f} of {allowed:.2f} s")
    if run.code != 0:
        return
    answer = read_json("answer.json")
    check(answer["stop"] in ("time", "exact", "rounding"), name, answer["stop"])
    lower, upper = answer["log_z"]["lower"], answer["log_z"]["upper"]
    if upper is not None and lower is not None:
        check(float(lower) <= float(upper), name, f"bounds {lower} {upper}")
    has_bounds = "gap" in options or not options or "--threads" in options
    check(not has_bounds or (upper is not None and lower is not None), name, "bounds are missing")


def test_limits():
    models = {"ising40.uai": ising(40), "chain.uai": chain(20_000), "clique.uai": clique(40, 3)}
    if IS_SLOW:
        models |= {"chain1e5.uai": chain(100_000), "ising300.uai": ising(300), "clique200.uai": clique(200, 2),
                   "path4e5.uai": chain(400_000), "wide.uai": wide(2000, 8)}
    for name, (states, scopes) in models.items():
        write_uai(name, states, scopes)
    rules = [("q-uct", "uniform"), ("q-uct", "mini-bucket"), ("gap", "mini-bucket"), ("gap", "uniform"),
             ("mass", "calibrated"), ("mass", "uniform")]
    cases = [(model, ()) for model in models]
    for model, space, (select, prior) in itertools.product(models, ("tree", "graph", "andor"), rules):
        for order in ("given", "min-fill"):
            cases.append((model, ("--space", space, "--order", order, "--select", select, "--leaf", prior)))
    write_uai("threads.uai", *clique(24, 2))
    check_time("threads.uai", 0.3, "--threads", "3")
    limits = (0.05, 0.5, 2, 10) if IS_SLOW else (0.3,)
    if not IS_SLOW:
        cases = cases[:3]
    for (model, options), limit in itertools.product(cases, limits):
        if limit < 5 or not options:  # the largest one for the defaults alone
            check_time(model, limit, *options)


def test_files_of_large_models():
    """What is written by name takes no longer than what it is about."""
    write_uai("large.uai", *chain(40_000))
    without = Run("infer", "large.uai", "--time", 2, "--quiet", "--threads", 1).seconds
    for option in ("--json", "--html"):
        run = Run("infer", "large.uai", "--time", 2, "--quiet", "--threads", 1, option, "answer.out")
        check(run.seconds <= 4 * (without + 1), f"{option} of 40,000 variables",
              f"{run.seconds:.2f} s, {without:.2f} without")
    write("large.json", json.dumps({"variables": [{"name": f"v{v}", "states": 2} for v in range(80_000)], "factors": []}))
    read = Run("infer", "large.json", "--time", 2, "--quiet", "--threads", 1).seconds
    check(read <= 4 * (without + 1), "reading 80,000 variables", f"{read:.2f} s, a chain of half of them {without:.2f}")


def test_many_nodes():
    """Passes over millions of nodes after the search."""
    states, scopes = clique(25, 2)
    write_uai("nodes.uai", states, scopes)
    for select, limit in itertools.product(("q-uct", "mass", "gap"), (3, 10, 30) if IS_SLOW else (1,)):
        check_time("nodes.uai", limit, "--space", "tree", "--order", "given", "--select", select, "--leaf",
                   "calibrated" if select == "mass" else "uniform")
        check_time("nodes.uai", limit, "--space", "tree", "--order", "given", "--select", select, "--leaf",
                   "calibrated" if select == "mass" else "uniform", "--samples", "1000000000")


def test_trace():
    """The first row comes at once, and what was written survives the end of the program."""
    write_uai("trace.uai", *ising(60))
    process = subprocess.Popen([PROGRAM, "infer", "trace.uai", "--time", "600", "--trace", "run.csv"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    start = time.monotonic()
    rows = []
    while len(rows) < 2 and time.monotonic() < start + PATIENCE:
        time.sleep(0.05)
        rows = open("run.csv").read().splitlines() if os.path.exists("run.csv") else []
    process.kill()
    process.wait()
    rows = [row.split(",") for row in open("run.csv").read().splitlines()]
    check(len(rows) >= 2 and rows[0][0] == "seconds", "a killed run leaves its trace", rows)
    check(float(rows[1][2]) <= float(rows[1][3]) < float("inf"), "whose first row has bounds", rows[1])
    run = Run("infer", "trace.uai", "--time", 3, "--trace", "run.csv", "--quiet")
    rows = [[float(x) for x in row.split(",")] for row in open("run.csv").read().splitlines()[1:]]
    check(run.code == 0 and rows[0][0] < SLACK * 0.5, "the first bounds are there within half a second", rows[0])
    check(all(a[2] <= b[2] and a[3] >= b[3] for a, b in zip(rows, rows[1:])), "and only become better")


def interrupt(model, after, number, *options):
    """Sends a signal after so many processor seconds; returns the processor seconds from then on, and the run."""
    process = subprocess.Popen([PROGRAM, "infer", model, "--json", "answer.json", "--threads", "1", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "LD_PRELOAD": CPU_CLOCK})

    def used():
        try:
            fields = open(f"/proc/{process.pid}/stat").read().rpartition(") ")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return None

    while process.poll() is None and (used() or 0.0) < after:
        time.sleep(0.005)
    at = used() or 0.0
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.send_signal(number)
    process.out, process.err = process.communicate(timeout=PATIENCE)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = usage.ru_utime + usage.ru_stime - before.ru_utime - before.ru_stime
    return total - at, process


def test_interruptions():
    """At random moments of every phase: the answer so far, why it ended, the exit code."""
    write_uai("ising200.uai", *ising(200 if IS_SLOW else 60))
    write_uai("clique60.uai", *clique(60, 3))
    write_uai("nodes.uai", *clique(25, 2))
    write_uai("exact.uai", *clique(22, 2))
    write_uai("large.uai", *chain(400_000 if IS_SLOW else 40_000))
    endless = ("--budget", "1000000000000")
    cases = [("ising200.uai", ()), ("clique60.uai", ()), ("exact.uai", ("--method", "exact")),
             ("ising200.uai", ("--select", "gap", "--space", "tree", "--order", "given", *endless)),
             ("ising200.uai", ("--select", "gap", "--leaf", "uniform", *endless)),
             ("nodes.uai", ("--select", "mass", "--space", "tree", *endless)),
             ("nodes.uai", ("--select", "q-uct", "--space", "tree", *endless)),
             ("nodes.uai", ("--select", "gap", "--leaf", "uniform", "--space", "tree", *endless)),
             ("ising200.uai", ("--method", "gibbs", *endless)), ("ising200.uai", ("--method", "bp",)),
             ("clique60.uai", ("--budget", "1000", "--select", "q-uct", "--importance", "100000000")),
             ("clique60.uai", ("--budget", "1000", "--select", "gap", "--samples", "100000000")),
             ("large.uai", ()), ("large.uai", ("--select", "gap", "--space", "tree", "--order", "given", *endless)),
             ("large.uai", ("--select", "q-uct", "--space", "graph", "--order", "given", *endless)),
             ("large.uai", ("--select", "mass", "--space", "graph", "--order", "given", *endless))]
    draw = random.Random(4)
    for model, options in cases if IS_SLOW else (*cases[:3], *cases[10:13]):
        if model not in least:
            least[model] = infer(model, 1e-9).seconds
        for i in range(20 if IS_SLOW else 1):
            number = draw.choice((signal.SIGINT, signal.SIGTERM))
            after = least[model] + draw.uniform(0.0, 6.0 if IS_SLOW else 0.7)
            if os.path.exists("answer.json"):
                os.remove("answer.json")
            late, run = interrupt(model, after, number, *options)
            name = f"{model} {' '.join(options)} interrupted after {after:.2f} s"
            if run.returncode == 0:
                continue  # it was done before
            check(run.returncode == 128 + number, name, f"exit code {run.returncode}: {run.err}")
            # A fiftieth of a second is what the system's count of seconds is worth.
            check(late < SLACK * 0.55, name, f"ended {late:.2f} s later")
            if IS_SLOW:
                print(f"{late:6.2f} s  {name}", flush=True)
            if not os.path.exists("answer.json"):
                check(False, name, f"no answer: {run.err}")
                continue
            answer = read_json("answer.json")
            is_named = answer["stop"] == "interrupted" or (answer["stop"] == "exact" and answer["log_z"]["exact"])
            check(is_named, name, f"stopped: {answer['stop']}")


def test_signal_while_output_waits():
    """An answer that is there comes out whole, though a signal meets it while nobody reads."""
    write_uai("samples.uai", *ising(12))
    command = [PROGRAM, "infer", "samples.uai", "--quiet", "--json", "-", "--samples", "400"]
    size = len(subprocess.run(command, capture_output=True, timeout=PATIENCE).stdout)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pipe = run.stdout.fileno()
    room = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    out = b""
    # All but what the pipe holds and the last buffer, which waits in the program.
    while len(out) < size // 4096 * 4096 - room:
        out += os.read(pipe, size // 4096 * 4096 - room - len(out))
    time.sleep(2.0)
    run.send_signal(signal.SIGINT)
    time.sleep(0.5)
    out += run.stdout.read()
    code = run.wait(timeout=PATIENCE)
    check(code in (0, 130), "signal while output waits", f"exit code {code}")
    try:
        check("log_z" in json.loads(out), "signal while output waits: the answer")
    except ValueError as error:
        check(False, "signal while output waits: the answer is cut off", f"{len(out)} of {size} bytes: {error}")


def test_signal_while_reading():
    """Nothing is known yet: a line says so, and the signal ends the program."""
    for number in (signal.SIGINT, signal.SIGTERM):
        for command in ("infer", "info"):
            run = subprocess.Popen([PROGRAM, command, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            run.stdin.write("MARKOV\n2\n2 2\n")  # and no end
            run.stdin.flush()
            time.sleep(0.5)
            run.send_signal(number)
            code = run.wait(timeout=PATIENCE)
            check(code == -number, f"{command} that reads, after signal {number}", code)
            check(run.stderr.read() == "treesample: interrupted\n", f"{command} that reads, after signal {number}")
            check(run.stdout.read() == "", f"{command} that reads, after signal {number}: no answer")


def test_second_signal():
    write_uai("clique60.uai", *clique(60, 3))
    process = subprocess.Popen([PROGRAM, "infer", "clique60.uai", "--budget", "1000", "--samples", "100000000"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and "SigCgt:\t0000000000000000" in open(f"/proc/{process.pid}/status").read():
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    check(process.returncode in (130, 143), "two signals end the program", process.returncode)


def test_other_commands():
    write_uai("clique60.uai", *clique(60, 3))
    for number in (signal.SIGINT, signal.SIGTERM):
        for arguments in (["bench"], ["reproduce", "table1", "--out", f"table1-{number}"],
                          ["compare", "clique60.uai", "--budgets", "1e7", "--runs", "1000"],
                          ["train", "--out", f"trained-{number}"]):
            process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1)
            process.send_signal(number)
            code = process.wait(timeout=PATIENCE)
            # A program that dies of a signal has no exit code; shells say 128 + signal.
            check(code in (128 + number, -number), f"{arguments[0]} after signal {number}", code)


run_tests(globals())
