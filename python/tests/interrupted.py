"""A run to be interrupted: interrupted.py KIND JOURNAL. Says READY when it is under way, then what Ctrl-C left."""
import concurrent.futures
import json
import multiprocessing
import sys
import time

import numpy as np

import treesample as ts

CLEAN = multiprocessing.get_context("forkserver")  # as in test_infer.py


def ready(*_):
    global is_ready
    if not is_ready:
        is_ready = True
        print("READY", flush=True)


is_ready = False


def log_value(*states):
    return -0.1 * sum((a - b) ** 2 for a, b in zip(states, states[1:]))


def direct(*states):
    ready()
    return log_value(*states)


def paid(*states):
    time.sleep(0.003)
    return log_value(*states)


def batch(rows):
    time.sleep(0.003)
    return -0.1 * ((rows[:, 1:] - rows[:, :-1]) ** 2).sum(axis=1)


def values(variable, prefixes):
    time.sleep(0.0005)
    return np.zeros((len(prefixes), len(variable.states)))


def run(kind, journal):
    if kind == "tables":
        return ts.families.ising(n=18, seed=1).infer(time=600, select="gap", progress=ready)
    model = ts.Model()
    variables = [model.variable(f"x{i}", 6) for i in range(9)]
    if kind == "leaf":
        for v in variables:
            model.log_table([v], np.linspace(0.0, 1.0, 6))
        return model.infer(time=600, leaf=values, progress=ready, space="tree", budget=10_000_000)
    if kind == "direct":
        model.factor(*variables, cost=0)(direct)
        return model.infer(time=600)
    if kind == "pool":
        model.factor(*variables)(paid)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=CLEAN) as pool:
            return model.infer(calls=100_000, journal=journal, executor=pool, progress=ready, select="mass")
    if kind == "batch":
        model.factor(*variables, batch=16)(batch)
    else:
        model.factor(*variables, on_failure="impossible")(paid)
    return model.infer(calls=100_000, journal=journal, progress=ready, workers=2, select="mass")


if __name__ == "__main__":
    try:
        run(*sys.argv[1:])
        print(json.dumps({"is_interrupted": False}))
    except KeyboardInterrupt as interrupt:
        answer = interrupt.answer
        print(json.dumps({
            "is_interrupted": True,
            "has_answer": answer is not None,
            "estimate": answer and answer.log_z.estimate,
            "bounds": answer and [answer.log_z.lower, answer.log_z.upper],
            "failed": answer and sum(f["failed"] for f in answer.spent["functions"]),
            "paid": answer and sum(f["paid"] for f in answer.spent["functions"])}))
