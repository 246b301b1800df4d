#!/usr/bin/env python3
"""Circuits on the command line: run_compile_tests.py PROGRAM

What was compiled answers as the model does, for evidence and weights that it was not compiled with; what cannot be
compiled, and files that do not fit, are named.
"""

import os
import random
import signal
import subprocess
import time

from checks import PATIENCE, PROGRAM, check, read_json, run, run_tests, write

NUM_CHANGES = 25
STATES = [3, 2, 4, 3, 2, 3]


def infer(*arguments):
    """The exit code, the answer where there is one, and what was written to stderr."""
    if os.path.exists("answer.json"):
        os.remove("answer.json")
    done = run("infer", *arguments, "--json", "answer.json")
    return done.returncode, read_json("answer.json") if os.path.exists("answer.json") else None, done.stderr


def model_text(numbers, scopes, zeros):
    tables = []
    for scope in scopes:
        size = 1
        for v in scope:
            size *= STATES[v]
        values = [0.0 if numbers.random() < zeros else numbers.random() for _ in range(size)]
        tables.append(f"{size}\n" + " ".join(map(repr, values)))
    lines = ["MARKOV", str(len(STATES)), " ".join(map(str, STATES)), str(len(scopes))]
    lines += [f"{len(scope)} " + " ".join(map(str, scope)) for scope in scopes]
    return "\n".join(lines + tables) + "\n"


def evidence_text(numbers):
    seen = [v for v in range(len(STATES)) if numbers.random() < 0.3]
    return f"{len(seen)} " + " ".join(f"{v} {numbers.randrange(STATES[v])}" for v in seen) + "\n"


def is_close(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and abs(a - b) < 1e-9 * (1.0 + abs(b)))


def check_same(compiled, fresh, what):
    a, b = compiled["log_z"], fresh["log_z"]
    check(a["exact"] and b["exact"] and is_close(a["estimate"], b["estimate"]), f"{what}: log Z", f"{a} {b}")
    check(len(compiled["marginals"] or []) == len(fresh["marginals"] or []), f"{what}: marginals")
    for left, right in zip(compiled["marginals"].values(), fresh["marginals"].values()):
        check(all(is_close(x, y) for x, y in zip(left.values(), right.values())), f"{what}: marginals", f"{left} {right}")
    if fresh["best"]:
        check(is_close(compiled["best"]["log_density"], fresh["best"]["log_density"]), f"{what}: best")


def test_other_evidence_and_weights():
    numbers = random.Random(5)
    write("model.uai", model_text(numbers, [[0, 1], [1, 2], [2, 3], [3, 4, 5], [0, 5]], 0.3))
    write("model.uai.evid", "1 1 0\n")
    code, first, text = infer("model.uai", "--compile", "model.circuit")
    check(code == 0 and os.path.exists("model.circuit"), "a model is compiled", text)
    check_same(first, infer("model.uai")[1], "with the evidence that it was compiled beside")
    for change in range(NUM_CHANGES):
        write("seen.evid", evidence_text(numbers))
        write("weights.uai", model_text(numbers, [[v] for v in range(len(STATES))] + [[0]], 0.1))
        more = ["--evidence", "seen.evid", "--weights", "weights.uai"]
        code, compiled, text = infer("model.circuit", *more, "--samples", "2")
        if check(code == 0, f"change {change}", text):
            check_same(compiled, infer("model.uai", *more)[1], f"change {change}")
    more = ["--evidence", "x0~0.5,0.001,0.2", "--weights", "weights.uai"]
    check_same(infer("model.circuit", *more)[1], infer("model.uai", *more)[1], "soft evidence and weights")


def test_what_does_not_fit_is_named():
    numbers = random.Random(7)
    write("model.uai", model_text(numbers, [[0, 1], [2, 3]], 0.2))
    infer("model.uai", "--compile", "model.circuit")
    write("pairs.uai", model_text(numbers, [[0, 1]], 0.0))
    write("fewer.uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 1\n")
    write("broken.circuit", "treesample-circuit 2\n")
    for arguments, word in [(["model.circuit", "--weights", "pairs.uai"], "pairs.uai"),
                            (["model.circuit", "--weights", "fewer.uai"], "fewer.uai"),
                            (["model.uai", "--weights", "fewer.uai"], "fewer.uai"),
                            (["model.circuit", "--weights", "missing.uai"], "missing.uai"),
                            (["broken.circuit"], "broken.circuit:1"),
                            (["missing.circuit"], "missing.circuit"),
                            (["model.circuit", "--method", "exact"], "--method"),
                            (["model.circuit", "--k-best", "3"], "--k-best is not for circuits"),
                            (["model.circuit", "--map", "x0"], "--map is not for circuits"),
                            (["model.circuit", "--compile", "again.circuit"], "--compile"),
                            (["model.uai", "--method", "gibbs", "--compile", "x.circuit"], "--compile"),
                            (["model.uai", "--compile", "no/such/folder/x.circuit"], "no/such/folder")]:
        code, _, text = infer(*arguments, "--quiet")
        check(code != 0 and word in text and len(text.splitlines()) == 1, f"{arguments} is refused by name",
              f"({code}) {text}")
    check(not os.path.exists("x.circuit") and not os.path.exists("again.circuit"), "nothing was written")


def test_impossible_models_have_no_circuit():
    write("none.uai", "MARKOV\n2\n2 2\n3\n2 0 1\n1 0\n1 1\n4\n1 0 0 1\n2\n1 0\n2\n0 1\n")
    code, answer, text = infer("none.uai", "--compile", "none.circuit")
    check(code == 65 and "none.circuit was not written: the model without its evidence is impossible" in text,
          "the file is missed, and not for want of memory or time", f"({code}) {text}")
    check("impossible" in text and not os.path.exists("none.circuit"), "and why", text)
    check(answer and answer["log_z"]["estimate"] == "-inf", "the answer is there all the same", answer)


def test_an_interruption_has_its_own_code():
    """A model that nothing here compiles in the time: all pairs of 60 variables."""
    numbers, size = random.Random(4), 60
    pairs = [(u, v) for u in range(size) for v in range(u)]
    lines = ["MARKOV", str(size), " ".join(["3"] * size), str(len(pairs))]
    lines += [f"2 {u} {v}" for u, v in pairs]
    lines += ["9\n" + " ".join(repr(numbers.random()) for _ in range(9)) for _ in pairs]
    write("wide.uai", "\n".join(lines) + "\n")
    process = subprocess.Popen([PROGRAM, "infer", "wide.uai", "--compile", "wide.circuit", "--time", "200"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2.0)
    process.terminate()
    _, text = process.communicate(timeout=PATIENCE)
    # A program that has not read its model yet dies of the signal.
    check(process.returncode in (143, -signal.SIGTERM), "143 after SIGTERM", f"({process.returncode}) {text}")
    check(not os.path.exists("wide.circuit"), "no circuit was written")


def test_a_circuit_from_standard_input_and_no_trace():
    write("small.uai", "MARKOV 1 2 1 1 0 2 0.25 0.75")
    done = run("infer", "small.uai", "--compile", "small.circuit", "--trace", "trace.csv")
    check("--trace is ignored" in done.stderr and not os.path.exists("trace.csv"), "what is ignored is not written",
          done.stderr)
    with open("small.circuit", "rb") as circuit:
        done = run("infer", "-", "--evidence", "x0=1", stdin=circuit)
    check(done.returncode == 0 and "circuit of" in done.stdout, "its first characters tell the format", done.stderr)


run_tests(globals())
