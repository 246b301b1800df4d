#!/usr/bin/env python3
"""Elimination in slices that are kept in a file (--resume): killed at any slice, it goes on to the same bits.

usage: run_slice_tests.py PROGRAM
"""
import json
import math
import os
import random
import signal
import struct
import subprocess
import time

from checks import PROGRAM, check, read, run, run_tests

PATIENCE = 600  # seconds of a busy machine
SLICED = ["--method", "exact", "--threads", "1", "--quiet"]
# In a few slices everything is answered; in 512 there is memory for log Z alone. One order: the slices take the time.
SOME, MANY = [["infer", "grid.uai", "--restarts", "1", "--memory", memory] for memory in ("150K", "20K")]


def num_lines(path):
    try:
        return read(path).count("\n")
    except FileNotFoundError:
        return 0


def start(path, task=SOME):
    return subprocess.Popen([PROGRAM, *task, *SLICED, "--json", "-", "--resume", path], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def answer(*more, task=SOME):
    done = run(*task, *SLICED, "--json", "-", *more, timeout=PATIENCE)
    check(done.returncode == 0, f"exit code {more}", done.stderr)
    return json.loads(done.stdout)


def wait_for_lines(process, path, count):
    """False when it ended before."""
    while num_lines(path) < count:
        if process.poll() is not None:
            return False
        time.sleep(0.001)
    return True


def numbers(answered):
    return json.dumps({key: value for key, value in answered.items() if key in ("log_z", "marginals", "best")})


def test_kills():
    everything = answer()
    check(everything["best"]["optimal"] and everything["marginals"], "slices answer everything", everything["method"])
    check(numbers(answer("--resume", "all")) == numbers(everything), "a file changes no bit")
    expected = answer("--resume", "whole", task=MANY)
    num_slices = num_lines("whole") - 1
    check(num_slices >= 100, "slices", num_slices)
    draw = random.Random(5)
    num_kills = 0
    for trial in range(3):
        path, target = f"killed{trial}", 0
        while True:
            target += draw.randint(1, num_slices // 4)
            process = start(path, MANY)
            if wait_for_lines(process, path, min(target, num_slices + 1)) and target <= num_slices:
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=PATIENCE)
                num_kills += 1
                continue
            text = process.communicate(timeout=PATIENCE)[0]
            check(process.returncode == 0, "exit code", process.returncode)
            check(numbers(json.loads(text)) == numbers(expected), "the same bits after kills")
            break
        check(open(path).read() == open("whole").read(), "the same file after kills")
    check(num_kills >= 6, "kills", num_kills)


def test_interruption_keeps_the_sum():
    exact = answer(task=MANY)["log_z"]
    for _ in range(10):  # until the signal comes before the end
        if os.path.exists("interrupted"):
            os.remove("interrupted")
        process = start("interrupted", MANY)
        check(wait_for_lines(process, "interrupted", 20), "slices before the interruption")
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=PATIENCE)[0]
        if process.returncode != 0:
            break
    check(process.returncode == 130, "exit code of an interruption", process.returncode)
    part = json.loads(text)["log_z"]
    check("slices" in json.loads(text)["method"], "said how", json.loads(text)["method"])
    check(part["lower"] < exact["lower"] < part["upper"], "bounds of the part", part)
    rows = [line.split() for line in open("interrupted").read().splitlines()[1:]]
    lowers = [struct.unpack(">d", bytes.fromhex(row[1]))[0] for row in rows]
    total = max(lowers) + math.log(sum(math.exp(lower - max(lowers)) for lower in lowers))
    check(abs(part["lower"] - total) < 1e-9, "the sum of the slices is the lower bound", f"{part} {total}")
    check(answer("--resume", "interrupted", task=MANY)["log_z"] == exact, "and goes on to the same bits")


def test_refusals():
    def refused(text, path, code):
        done = run(*SOME, *SLICED, "--resume", path, timeout=PATIENCE)
        lines = done.stderr.splitlines()
        check(done.returncode == code and len(lines) == 1 and path in lines[0] and text in lines[0] and not done.stdout,
              text, f"{done.returncode} {done.stderr}")

    answer("--resume", "file")
    whole = open("file").read()
    open("damaged", "w").write(whole.replace("7", "8", 3))
    refused("damaged", "damaged", 65)
    open("text", "w").write("to be or not to be\n")
    refused("no file of slices", "text", 65)
    os.mkdir("folder")
    refused("cannot be opened", "folder", 66)
    open("grid.uai.evid", "w").write("1 0 1\n")
    refused("another model, or of other evidence", "file", 64)
    os.remove("grid.uai.evid")
    process = start("busy", MANY)
    wait_for_lines(process, "busy", 2)
    process.send_signal(signal.SIGSTOP)
    if process.poll() is None:
        refused("another run", "busy", 66)
    process.kill()
    process.communicate(timeout=PATIENCE)


run_tests(globals(), prepare=lambda: run("generate", "ising", "--n", "14", "--out", "grid.uai", check=True))
