#!/usr/bin/env python3
"""Certificates as the program prints them: run_certificate_tests.py PROGRAM

Cancellation is no exact answer, bounds of an exact answer are printed as they are, impossible models have nothing that
is not a number, and what leaves the range of the numbers is refused or right.
"""

import json
import math
from decimal import Decimal

from checks import check, read_json, run, run_tests, write

RULES = ([], ["--select", "gap"], ["--select", "mass"], ["--select", "q-uct"], ["--method", "exact"])


def infer(model, *options):
    """The exit code, the answer where there is one, and the text."""
    done = run("infer", model, "--quiet", "--json", "answer.json", *options)
    if done.returncode != 0:
        return done.returncode, None, done.stderr
    return 0, read_json("answer.json"), done.stdout


def bounds(answer):
    z = answer["log_z"]
    return Decimal(z["lower"]), Decimal("Infinity") if z["upper"] is None else Decimal(z["upper"])


def test_cancellation():
    for scale in ("1e12", "1e9"):
        write("cancel.json", f'''{{"variables": [{{"name": "a", "states": 2}}], "factors": [
              {{"scope": ["a"], "log_values": [0, {scale}]}}, {{"scope": ["a"], "log_values": [0, -{scale}]}}]}}''')
        for rule in RULES:
            code, answer, text = infer("cancel.json", *rule)
            if not check(code == 0, f"cancel {scale} {rule}", text):
                continue
            lower, upper = bounds(answer)
            check(lower <= Decimal(2).ln() <= upper, f"cancel {scale} {rule}: bounds", f"{lower} {upper}")
            check(upper - lower < 1e-6 or not answer["log_z"]["exact"], f"cancel {scale} {rule} is called exact")


def test_intervals_of_large_magnitudes():
    """Numbers far beyond the range of doubles that cancel: what they lose is in the interval by samples too."""
    tables = [("5.528e+223569", "3.619e+764297"), ("1.09081041968162083936e-223569", "1.55954683614258082343e-764297")]
    write("wide.uai", "MARKOV\n1\n2\n2\n1 0\n1 0\n" + "".join(f"2\n{a} {b}\n" for a, b in tables))
    log_z = sum(Decimal(table[1]).ln() for table in tables)
    for rule in RULES:
        code, answer, text = infer("wide.uai", "--evidence", "x0=1", "--confidence", "0.99999", *rule)
        interval = answer["log_z"]["interval"] if code == 0 else None
        if check(code == 0, f"wide {rule}", text) and interval:
            check(Decimal(interval["lower"]) <= log_z <= Decimal(interval["upper"]), f"wide {rule}: interval",
                  f"{interval} {log_z}")


def json_model(names, factors):
    """Binary variables; (scope, log-values)."""
    return json.dumps({"variables": [{"name": name, "states": 2} for name in names],
                       "factors": [{"scope": list(scope), "log_values": values} for scope, values in factors]})


def log_z_of(names, factors):
    total = Decimal(0)
    for number in range(2 ** len(names)):
        states = {name: number >> i & 1 for i, name in enumerate(names)}
        density = Decimal(0)
        for scope, values in factors:
            place = 0
            for name in scope:
                place = 2 * place + states[name]
            density += Decimal(values[place])
        total += density.exp()
    return total.ln()


def test_bounds_beyond_the_range_inside():
    """A part of the model has no upper bound that the search's numbers hold, the whole has one: then there is no sampler
    by upper bounds, and neither an interval nor samples that would be wrong; bounds are not lost."""
    big = 4e7
    factors = [("a", [-big, 0.0]), ("ae", [big, big, 0.0, 0.0]), ("ab", [10.0, 10.0, 0.0, 0.0])]
    factors += [(scope, [0.3 * i - 0.5, 0.7, 0.1 * i, -0.4]) for i, scope in enumerate(("bc", "cd", "de", "be", "cf"))]
    factors.append(("ad", [0.2, 0.1, float("-inf"), 0.3]))
    log_z = log_z_of("abcdef", factors)
    for dead in (True, False):
        if not dead:
            factors.pop()
            log_z = log_z_of("abcdef", factors)
        write("inside.json", json_model("abcdef", factors).replace("-Infinity", '"-inf"'))
        for budget in (5, 6, 8, 10, 14):
            name = f"inside, budget {budget}, dead edge {dead}"
            code, answer, text = infer("inside.json", "--no-simplify", "--select", "gap", "--space", "tree", "--order",
                                       "given", "--budget", str(budget), "--leaf", "mini-bucket:1", "--sampler",
                                       "rejection", "--samples", "20", "--confidence", "0.9999")
            if not check(code == 0, name, text):
                continue
            lower, upper = bounds(answer)
            check(lower <= log_z <= upper, f"{name}: bounds", f"{lower} {upper} {log_z}")
            interval = answer["log_z"]["interval"]
            check(not interval or Decimal(interval["lower"]) <= log_z <= Decimal(interval["upper"]),
                  f"{name}: interval", f"{interval} {log_z}")
            states = [row["x"][0] for row in answer["samples"]]
            check(all(state == 0 for state in states) or not states, f"{name}: samples", str(states))


def test_densities_that_cancel():
    """Rounding of log-densities is in intervals; marginals are as doubtful as log Z."""
    for scale in (1e12, 1e14, 1e15):
        factors = [("a", [scale, 1.5 * scale]), ("a", [3.0077, 0.0077]), ("a", [-scale, -1.5 * scale])]
        write("cancel.json", json_model("a", factors))
        log_z = log_z_of("a", factors)
        code, answer, text = infer("cancel.json", "--select", "gap", "--space", "tree", "--time", "2")
        interval = answer["log_z"]["interval"] if code == 0 else None
        if check(code == 0, f"densities {scale}", text) and interval:
            check(Decimal(interval["lower"]) <= log_z <= Decimal(interval["upper"]), f"densities {scale}: interval",
                  f"{interval} {log_z}")
        code, answer, text = infer("cancel.json", "--method", "count")
        if check(code == 0, f"count {scale}", text) and not answer["log_z"]["exact"]:
            check(answer["marginals_error"] > 1e-6, f"count {scale}: marginals are called exact")


def test_simplified_models():
    """A factor that is constant as doubles is left out; the digits that it lost are in bounds, marginals and words."""
    write("equal.json", '''{"variables": [{"name": "a", "states": 2}, {"name": "b", "states": 2}], "factors": [
          {"scope": ["a"], "log_values": [100000000000000.007, 99999999999999.993]},
          {"scope": ["a", "b"], "log_values": [0.1, 0.2, 0.3, 0.5]}, {"scope": [], "log_values": [-100000000000000]}]}''')
    masses = [[(Decimal(shift) + Decimal(value)).exp() for value in values]
              for shift, values in (("0.007", ("0.1", "0.2")), ("-0.007", ("0.3", "0.5")))]
    z = sum(map(sum, masses))
    truth = {"a": {"0": sum(masses[0]) / z}, "b": {"0": (masses[0][0] + masses[1][0]) / z}}
    ways = [*RULES, ["--method", "count"], ["--no-simplify"], ["--method", "smc"], ["--method", "learned"],
            ["--select", "gap", "--sampler", "rejection", "--samples", "2"], ["--sum-out", "no"]]
    for rule in ways:
        code, answer, text = infer("equal.json", *rule)
        if code == 64 or not check(code == 0, f"equal {rule}", text):
            continue
        if answer["log_z"]["lower"] is not None:
            lower, upper = bounds(answer)
            check(lower <= z.ln() <= upper, f"equal {rule}: bounds", f"{lower} {upper}")
        is_exact = answer["log_z"]["exact"]
        check(is_exact or not answer["marginals_from"].startswith("exact"), f"equal {rule}: exact marginals", text)
        check(is_exact or answer["stop"] != "exact", f"equal {rule}: stopped as exact", text)
        certain = not answer["marginals_from"].startswith("from ")  # samples have standard errors
        for name, states in truth.items() if certain and answer["marginals_error"] is not None else ():
            off = abs(Decimal(answer["marginals"][name]["0"]) - states["0"])
            check(off <= Decimal(answer["marginals_error"]) + Decimal("1e-6"), f"equal {rule}: P({name})", f"{off}")


def test_soft_weights_that_lose_digits():
    write("soft.json", '''{"variables": [{"name": "a", "states": 2}], "factors": [{"scope": ["a"], "values": [1, 0]}]}''')
    write("s1.json", '{"a": [3e-324, 0]}')
    write("s2.json", '{"a": [1e-400, 1]}')
    write("s3.csv", "a\n~3e-324 0\n")
    write("s4.txt", "a ~ 3e-324 0\n")
    write("s5.json", '[{"case": "x", "a": [1e-400, 1]}]')
    for options in (["--evidence", "a~3e-324,0"], ["--evidence", "s1.json"], ["--evidence", "s2.json"],
                    ["--evidence", "s3.csv"], ["--evidence", "s4.txt"]):
        code, _, text = infer("soft.json", *options)
        check(code != 0 and "allowed are 0 and finite numbers from 2.23e-308 up" in text, f"soft {options}", text)
    done = run("infer", "soft.json", "--cases", "s5.json")
    check(done.returncode != 0 and "a weight is 1e-400" in done.stderr, "soft cases", done.stdout + done.stderr)


def test_best_by_frequencies():
    """Densities that differ by less than their rounding: all were evaluated, and which is the best is not known."""
    write("close.json", '''{"variables": [{"name": "a", "states": 2}, {"name": "b", "states": 2}], "factors": [
          {"scope": ["a"], "log_values": [1000000000000.00004, 1000000000000.00001]},
          {"scope": ["b"], "log_values": [1000000000000.00001, 1000000000000.00004]},
          {"scope": ["a", "b"], "log_values": [0.00001, 0.00002, 0.00003, 0.00001]}]}''')
    for more in ([], ["--no-simplify"]):
        _, answer, text = infer("close.json", "--method", "frequencies", "--question", "best", *more)
        check(not answer["best"]["optimal"] and answer["best"]["gap"] > 4e-5, f"close {more}", text)


def test_lower_bounds_are_rounded_down():
    """P(evidence) = 0.66666668, of which 0.666667 are the nearest six digits: as a lower bound it would be wrong."""
    variables = "".join(f"variable v{i} {{ type discrete [2] {{ y, n }}; }}\n" for i in range(30))
    tables = ["0.99999999 0.00000001", "0.66666668 0.33333332", *["1 0"] * 28]
    write("third.bif", "network n { }\n" + variables
          + "".join(f"probability ( v{i} ) {{ table {table}; }}\n" for i, table in enumerate(tables)))
    _, answer, text = infer("third.bif", "--evidence", "v1=y", "--no-simplify", "--select", "gap", "--leaf", "uniform",
                            "--budget", "3", "--importance", "0")
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith(("log Z", "P(evidence)"))}
    check(all(line.endswith(", lower bound") for line in lines.values()) and len(lines) == 2, "third: kind", text)
    lower = Decimal(answer["log_z"]["lower"])
    check(Decimal(lines["P(evidence)"].split()[1].rstrip(",")).ln() <= lower, "third: P(evidence)", text)
    check(Decimal(lines["log"].split()[2]) <= lower, "third: log Z", text)
    check(Decimal(answer["evidence_probability"]).ln() <= lower, "third: evidence_probability", text)
    _, answer, text = infer("third.bif", "--evidence", "v1=y", "--no-simplify", "--select", "mass", "--budget", "3")
    check(answer["log_z"]["exact"] or answer["evidence_probability"] <= 1, "third: a probability above 1", text)


def test_exact_answers_have_bounds():
    write("five.uai", "MARKOV\n1\n2\n1\n1 0\n2\n2 3\n")
    for rule in RULES:
        _, answer, text = infer("five.uai", *rule)
        lower, upper = bounds(answer)
        check(lower <= Decimal(5).ln() <= upper, f"five {rule}: bounds", f"{lower} {upper}")
        check(answer["log_z"]["exact"] and ", exact (certified to " in text, f"five {rule} is exact", text)


def test_numbers_that_read_as_others():
    """A number that reads as 1 and is none, of a forced variable, which is dropped before the search."""
    write("one.bif", "network n { }\nvariable v { type discrete [ 1 ] { s }; }\n"
                     "probability ( v ) { table 0.99999999999999999991; }\n")
    for rule in RULES[:-1]:
        _, answer, _ = infer("one.bif", "--trace", "trace.csv", *rule)
        check(bounds(answer)[0] < 0 < bounds(answer)[1], f"one {rule}: room for -9e-20", answer["log_z"])
        with open("trace.csv") as file:
            rows = [line.split(",") for line in file.read().splitlines()[1:]]
        check(rows, f"one {rule}: a trace")
        for row in rows:
            check(float(row[2]) < 0 < float(row[3]), f"one {rule}: room for -9e-20 in the trace", row)


def test_impossible_models():
    write("impossible.uai", "MARKOV\n1\n1\n2\n1 0\n1 0\n1\n1\n1\n0\n")
    for options in ("", "--no-simplify", "--space tree --leaf mini-bucket --budget 0 --no-simplify",
                    "--select gap --no-simplify", "--select mass --no-simplify",
                    "--select gap --budget 0 --no-simplify", "--select mass --budget 0 --no-simplify"):
        code, answer, text = infer("impossible.uai", "--samples", "2", *options.split())
        if not check(code == 0, f"impossible {options}", text):
            continue
        check(answer["samples"] == [], f"impossible {options} has samples")
        check("nan" not in (text + json.dumps(answer)).lower(), f"impossible {options} has a NaN")
        check(answer["log_z"]["lower"] == "-inf", f"impossible {options}: lower", answer["log_z"])


def test_beyond_the_range():
    """An error, or bounds that hold."""
    write("large.json", '''{"variables": [{"name": "a", "states": 2}, {"name": "b", "states": 2}],
                            "factors": [{"scope": ["a", "b"], "log_values": [0, 2e7, 1, 2]}]}''')
    for rule in (*RULES[:-1], ["--select", "gap", "--leaf", "uniform"]):
        code, answer, text = infer("large.json", *rule)
        if code != 0:
            check(code == 65 and text.count("\n") == 1, f"large {rule}: one line", text)
            continue
        lower, upper = bounds(answer)
        check(lower <= 20_000_000 <= upper, f"large {rule}: bounds", f"{lower} {upper}")
        check(math.isfinite(float(answer["log_z"]["estimate"])), f"large {rule}: a finite estimate")


def test_cases_with_functions_that_fail():
    """A row of the answer so far is no success; where it stands among the rows makes no difference."""
    write("fails.py", "def f(a, b):\n    if a == 1:\n        raise ValueError('a is 1')\n    return -float(b)\n")
    write("fails.json", """{"variables": [{"name": "a", "states": 2}, {"name": "b", "states": 3}],
                            "programs": {"p": {"python": "fails.py", "max_retries": 0}},
                            "factors": [{"name": "f", "scope": ["a", "b"], "program": "p"}]}""")
    for rows in ((0, 1, 0), (0, 0, 1)):
        write("fails.csv", "a\n" + "".join(f"{a}\n" for a in rows))
        done = run("infer", "fails.json", "--allow-programs", "--quiet", "--cases", "fails.csv")
        check(done.returncode == 66 and "a is 1" in done.stderr, f"cases {rows} end with the error",
              f"{done.returncode} {done.stderr}")
        is_named = f"case {rows.index(1) + 1}" in done.stderr
        check(is_named and done.stdout.count("yes") == 2, f"cases {rows}: the other rows", done.stdout)


def test_an_impossible_model_is_no_full_memory():
    write("impossible.uai", "MARKOV 1 1 2 1 0 1 0 1 1 1 0")
    done = run("infer", "impossible.uai", "--space", "tree", "--leaf", "mini-bucket", "--budget", "0", "--no-simplify")
    check(done.returncode == 0 and "impossible" in done.stdout, "it is impossible", done.stdout)
    check("memory" not in done.stderr and "unexplored" not in done.stdout, "and no more", done.stderr + done.stdout)


run_tests(globals())
