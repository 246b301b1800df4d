#!/usr/bin/env python3
"""Limits of time and memory on models of many shapes: run_limit_tests.py PROGRAM CPU_CLOCK [--slow]

Every command that takes --time or --memory, on every shape of limit_shapes.py: it ends within T + 5 % + 0.2 s of
processor time, takes no more than --memory and 64 MiB, and either answers or says in one line what was not enough.
CPU_CLOCK is the library of tests/support/cpu_clock.c. Without --slow a few small shapes and commands are tried, and only
a limit of time that is not obeyed at all fails. SHAPES=a,b in the environment names the shapes, MEMORY=1G the limit.
"""
import os
import subprocess
import sys
import tempfile
import time

import limit_shapes
from checks import PROGRAM, check, finish

CPU_CLOCK = os.path.abspath(sys.argv[2])
IS_SLOW = "--slow" in sys.argv[3:]
SCALE = "1" if IS_SLOW else "20"
MEMORY = os.environ.get("MEMORY", "300M" if IS_SLOW else "1M")
MEMORY_BYTES = int(MEMORY[:-1]) << {"K": 10, "M": 20, "G": 30}[MEMORY[-1]]
USUAL = limit_shapes.SHAPES if IS_SLOW else ("tiny_factors", "entries_26", "observed", "impossible_grid")
SHAPES = os.environ["SHAPES"].split(",") if "SHAPES" in os.environ else USUAL
QUICK = ("infer", "infer --explain", "info", "convert")  # the commands without --slow
SECONDS = 1.0 if IS_SLOW else 0.2
SLACK_SECONDS = 0.2 if IS_SLOW else 3.0
PATIENCE = 900
GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limit_shapes.py")


def asked(model, last):
    """A name for the run, its limit of time and its words."""
    end = [] if model.endswith(".json") else ["--evidence", f"{last}=0"]
    yield "infer", SECONDS, ["infer", model, "--threads", "1"]
    yield "infer --question logz", SECONDS, ["infer", model, "--threads", "1", "--question", "logz"]
    yield "infer --question best", SECONDS, ["infer", model, "--threads", "1", "--question", "best"]
    yield "infer --method tree", SECONDS, ["infer", model, "--threads", "1", "--method", "tree", "--samples", "5"]
    yield "infer --map, --k-best", SECONDS, ["infer", model, "--threads", "1", "--map", last, "--k-best", "3", *end]
    yield "infer --sensitivity, --entropy", SECONDS, ["infer", model, "--threads", "1", "--sensitivity", "evidence", "--entropy"]
    yield "infer --query", SECONDS, ["infer", model, "--threads", "1", "--query", last, "--json", "answer.json"]
    yield "infer --explain", SECONDS, ["infer", model, "--threads", "1", "--explain"]
    yield "infer --compile", SECONDS, ["infer", model, "--threads", "1", "--compile", "out.circuit"]
    yield "infer --cases", SECONDS, ["infer", model, "--threads", "1", "--cases", "cases.csv"]
    yield "info", SECONDS, ["info", model]
    yield "convert", 10 * SECONDS, ["convert", model, "out.json"]
    yield "order", None, ["order", model, "--threads", "1", "--out", "out.order"]
    yield "compare", None, ["compare", model, "--budgets", "100", "--runs", "1", "--threads", "1"]


def run_measured(words, limit):
    """Exit code, processor seconds, bytes, and what was said on standard error."""
    environment = {**os.environ, "LD_PRELOAD": CPU_CLOCK}
    words = [PROGRAM, *words, "--quiet"] if words[0] in ("infer", "convert", "compare") else [PROGRAM, *words]
    with open("said.txt", "w") as said:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        end = time.monotonic() + (PATIENCE if limit is None else 20 * limit + PATIENCE)
        while True:
            number, status, usage = os.wait4(process.pid, os.WNOHANG)
            if number != 0:
                break
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.005)
    process.returncode = os.waitstatus_to_exitcode(status)
    with open("said.txt") as said:
        return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, said.read()


def check_shape(shape):
    model = limit_shapes.file_of(shape)
    subprocess.run([sys.executable, "-B", GENERATOR, shape, model, SCALE], check=True)
    last = "a variable with quite a long name, number 0" if shape == "long_names" else "x0"
    with open("cases.csv", "w") as cases:
        cases.write(last + "\n" + ("state number 0\n" if shape == "long_names" else "0\n") * 1000)
    for name, limit, words in asked(model, last):
        if not IS_SLOW and name not in QUICK:
            continue
        takes_memory = words[0] != "compare"
        if limit is not None:
            words = [*words, "--time", str(limit)]
        elif words[0] == "order":
            words = [*words, "--time", str(SECONDS)]
        code, seconds, memory, said = run_measured(words + (["--memory", MEMORY] if takes_memory else []), limit)
        print(f"{shape:22} {name:32} {code:3} {seconds:7.2f} s {memory >> 20:5} MiB  {said.strip()[:150]}", flush=True)
        what = f"{shape}: {name}"
        check(code in (0, 65, 69), what, f"exit code {code}: {said}")
        check(code == 0 or said.count("\n") == 1, what, f"one line for what was not enough: {said}")
        check(limit is None or seconds <= 1.05 * limit + SLACK_SECONDS, what, f"{seconds:.2f} s for {limit}")
        check(not takes_memory or memory <= MEMORY_BYTES + (64 << 20), what, f"{memory >> 20} MiB for {MEMORY}")
    os.remove(model)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for one in SHAPES:
        check_shape(one)
    os.chdir("/")
finish()
