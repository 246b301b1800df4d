"""Ctrl-C: at random moments, as a terminal sends it, to the process and its children; and what is there afterwards."""
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
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


@pytest.mark.parametrize("kind", ["tables", "leaf", "direct", "paid", "batch", "pool"])
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


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("after", [0.05, 0.3, 0.7])
def test_ctrl_c_gives_the_answer_so_far(after):
    model = ts.families.ising(n=30, seed=1)
    timer = interrupt_after(after)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.infer(time=600)
    timer.join()
    answer = caught.value.answer
    assert answer is None or answer.log_z.lower <= answer.log_z.upper


def test_ctrl_c_in_a_function():
    model = ts.Model()
    variables = [model.variable(f"x{i}", 4) for i in range(6)]

    @model.factor(*variables)
    def slow(*states):
        time.sleep(0.01)
        return 0.0

    timer = interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        model.infer(calls=100_000)
    timer.join()


def slow_model():
    model = ts.Model()
    variables = [model.variable(f"x{i}", 4) for i in range(5)]

    @model.factor(*variables)
    def slow(*states):
        time.sleep(0.002)
        return -0.1 * sum(states)

    return model


def test_an_interrupted_run_goes_on_with_its_journal(tmp_path):
    model = slow_model()
    timer = interrupt_after(0.3)
    try:
        model.infer(calls=100_000, journal=tmp_path / "run.journal")
    except KeyboardInterrupt as interrupt:
        timer.join()
        more = interrupt.answer.extend(calls=0)
        assert more.log_z.exact
        assert math.isclose(float(more.log_z), 5 * math.log(sum(math.exp(-0.1 * s) for s in range(4))), abs_tol=1e-9)
        assert more.spent["functions"][0]["from_journal"] > 0
    assert ts.read_journal(tmp_path / "run.journal").factors[0].evaluations == 4**5 + 2  # the best one twice more


def test_the_same_call_resumes_while_the_interruption_is_still_known(tmp_path, monkeypatch):
    """A notebook keeps the last exception, and with it what the run had: the cell can be run again."""
    model = slow_model()
    timer = interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt) as kept:
        model.infer(calls=100_000, journal=tmp_path / "run.journal")
    timer.join()
    monkeypatch.chdir(tmp_path)
    answer = model.infer(calls=100_000, journal="run.journal")
    assert answer.log_z.exact and answer.spent["functions"][0]["from_journal"] > 0
    assert kept.value.answer is not None
