"""Ctrl-C at random moments, as a terminal sends it: to the process and its children."""
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import interrupted
import treesample as ts

SCRIPT = Path(__file__).with_name("interrupted.py")
HANG = 120  # seconds after which something hangs


def interrupt(process, delay):
    assert process.stdout.readline() == "READY\n", process.stderr.read()
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)


@pytest.mark.parametrize("kind", ["tables", "prior", "direct", "paid", "batch", "pool"])
def test_ctrl_c_at_random_moments(kind, tmp_path):
    moments = random.Random(kind)
    processes = []
    for i in range(4):
        journal = tmp_path / f"{i}.journal"
        arguments = [sys.executable, str(SCRIPT), kind, str(journal)]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        processes.append((process, moments.choice([0.0, 0.02, 0.1, 0.4]) * moments.random(), journal))
    try:
        for process, delay, journal in processes:
            interrupt(process, delay)
        for process, delay, journal in processes:
            out, error = process.communicate(timeout=HANG)
            assert process.returncode == 0 and out, (kind, delay, error)
            left = json.loads(out.splitlines()[-1])
            assert left["is_interrupted"] and left["has_answer"], (kind, delay, left, error)
            lower, upper = left["bounds"]
            assert lower is None or upper is None or lower <= upper
            if kind in ("paid", "batch", "pool"):
                assert left["failed"] == 0  # an interruption is no failure of a call
                check_journal(kind, journal, left["paid"])
    finally:
        for process, *_ in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def check_journal(kind, journal, paid):
    """It is free, whole, and holds at least what the answer stands on."""
    model = ts.Model()
    variables = [model.variable(f"x{i}", 6) for i in range(9)]
    rule = "impossible" if kind == "paid" else "stop"
    function = interrupted.batch if kind == "batch" else interrupted.paid
    model.factor(*variables, batch=16 if kind == "batch" else None, on_failure=rule)(function)
    answer = model.infer(calls=max(paid, 1) + 20, journal=journal, select="mass")
    assert answer.spent["functions"][0]["failed"] == 0
    assert answer.spent["functions"][0]["from_journal"] >= min(paid, 1)
