#!/usr/bin/python3
"""Formulas through the program as somebody uses it who counts: run_count_tests.py PROGRAM MODELS."""
import fractions
import gzip
import itertools
import json
import math
import os
import random

from checks import check, run, run_tests, write


def ran(arguments, text=None):
    done = run(*arguments, input=text)
    return done.returncode, done.stdout, done.stderr


def lines(text):
    return [line.split() for line in text.splitlines()]


def value_of(out):
    """The count in the lines of the competition."""
    for words in lines(out):
        if words[:4] in (["c", "s", "exact", "arb"],):
            return fractions.Fraction(words[5])
    return None


def truth(n, clauses, weights, shown):
    total, seen = fractions.Fraction(0), set()
    for x in itertools.product((False, True), repeat=n):
        if not all(any(x[abs(l) - 1] == (l > 0) for l in clause) for clause in clauses):
            continue
        key = tuple(x[v - 1] for v in shown)
        if key in seen:
            continue
        seen.add(key)
        weight = fractions.Fraction(1)
        for v in shown:
            weight *= fractions.Fraction(weights.get(v if x[v - 1] else -v, "1"))
        total += weight
    return total, bool(seen)


def random_text(rng):
    n = rng.randrange(1, 9)
    clauses = [[v if rng.random() < 0.5 else -v for v in rng.sample(range(1, n + 1), rng.randrange(1, min(n, 4) + 1))]
               for _ in range(rng.randrange(0, 3 * n))]
    weights, shown = {}, list(range(1, n + 1))
    text = f"p cnf {n} {len(clauses)}\n"
    if rng.random() < 0.5:
        for v in rng.sample(shown, rng.randrange(1, n + 1)):
            for l in (v, -v):
                weights[l] = rng.choice(["0.25", "1/3", "2", "1e-2", "0", "7/11"])
                text += f"c p weight {l} {weights[l]} 0\n"
    if rng.random() < 0.5:
        shown = sorted(rng.sample(shown, rng.randrange(0, n + 1)))
        text += "c p show " + " ".join(map(str, shown)) + " 0\n"
    text += "".join(" ".join(map(str, clause)) + " 0\n" for clause in clauses)
    return text, truth(n, clauses, weights, shown)


def test_counts():
    rng = random.Random(3)
    for i in range(25):
        text, (expected, is_satisfiable) = random_text(rng)
        code, out, err = ran(["count", "-", "--format", "competition"], text)
        check(value_of(out) == expected, f"{text} gives {out}{err}, not {expected}")
        check(code == (10 if is_satisfiable else 20), f"{text} ends with {code}")
        check(("s SATISFIABLE" in out) == is_satisfiable, out)
        if expected > 0:
            estimate = [float(w[3]) for w in lines(out) if w[:3] == ["c", "s", "log10-estimate"]]
            check(abs(estimate[0] - math.log10(expected)) < 1e-9, out)


def test_doors():
    text = "c t mc\np cnf 4 3\n1 2 0\n-1 3 0\n-2 -3 4 0\n"
    write("lights.cnf", text)
    code, out, _ = ran(["count", "lights.cnf"])
    check(code == 0 and out.startswith("count           6, exact\nsatisfiable     yes\n"), out)
    with gzip.open("lights.cnf.gz", "wt") as file:
        file.write(text)
    check("6, exact" in ran(["count", "lights.cnf.gz"])[1], "gz")
    check("6, exact" in ran(["count", "-"], text)[1], "standard input")
    for target in ("lights.uai", "lights.json", "back.cnf"):
        code, out, err = ran(["convert", "lights.cnf", target, "--quiet"])
        check(code == 0, err)
        check("6, exact" in ran(["count", target])[1], target)
    code, out, err = ran(["infer", "lights.cnf", "--query", "x3", "--samples", "3"])
    check(code == 0 and "0: 0.3333  1: 0.6667" in out and f"{math.log(6):.6f}" in out, out + err)
    code, out, err = ran(["infer", "-", "--quiet"], text)
    check(code == 0 and f"{math.log(6):.6f}" in out, out + err)
    code, out, err = ran(["infer", "lights.cnf", "--compile", "lights.nnf"])
    check(code == 0, err)
    check("count           6, exact" in ran(["count", "lights.nnf"])[1], "nnf")
    write("shown.cnf", "c p show 1 2 0\n" + text)
    code, out, err = ran(["infer", "shown.cnf"])
    check(code == 0 and "treesample count" in err, err)
    check("mc: states of 2 shown ones of 4 variables" in ran(["count", "shown.cnf"])[1], "shown")


def test_long_clauses():
    n = 1000
    write("long.cnf", f"p cnf {n} 1\n" + " ".join(map(str, range(1, n + 1))) + " 0\n")
    code, out, _ = ran(["count", "long.cnf", "--format", "competition"])
    check(code == 10 and value_of(out) == 2 ** n - 1, out[:300])
    code, out, err = ran(["infer", "long.cnf", "--time", "20"])
    check(code == 0 and "693.147181" in out, out[:500] + err)
    code, out, err = ran(["info", "long.cnf"])
    check(code == 0 and "1 clause" in out, out + err)
    code, _, err = ran(["convert", "long.cnf", "long.uai"])
    check(code != 0 and "1000 literals" in err and not os.path.exists("long.uai"), err)
    write("long.json", '{"variables": [' + ", ".join(f'{{"name": "v{i}", "states": 2}}' for i in range(n)) +
          '], "factors": [{"scope": [' + ", ".join(f'"v{i}"' for i in range(n)) + '], "clause": [' +
          ", ".join("1" for _ in range(n)) + "]}]}")
    check(value_of(ran(["count", "long.json", "--format", "competition"])[1]) == 2 ** n - 1, "json")


def test_mistakes():
    def refused(text, message, code=65):
        write("bad.cnf", text)
        found, out, err = ran(["count", "bad.cnf"])
        check(found == code and message in err and err.count("\n") == 1 and not out, f"{text!r}: {found} {out}{err}")

    refused("p cnf 2 2\n1 2 0\n", "bad.cnf:3: the file ends after 1 of the 2 clauses")
    refused("p cnf 2 1\n1 3 0\n", "bad.cnf:2: expected a literal from -2 to 2, found '3'")
    refused("p cnf 2 1\n1 2\n", "bad.cnf:2: a clause that does not end with 0")
    refused("c p weight 9 0.5 0\np cnf 2 1\n1 0\n", "bad.cnf:1: there is no variable 9")
    refused("p cnf 2000000000 0\n", "bad.cnf:1: expected a number of variables")
    refused("", "bad.cnf:1: there is no line 'p cnf")
    refused("p cnf 1 0\nc p weight 1 1e200000 0\nc p weight -1 1 0\n", "more than 100000 digits", 69)
    write("weights.cnf", "p cnf 1 0\nc p weight 1 -1/2 0\nc p weight -1 2 0\n")
    check(value_of(ran(["count", "weights.cnf", "--format", "competition"])[1]) == fractions.Fraction(3, 2), "negative")
    code, _, err = ran(["infer", "weights.cnf"])
    check(code == 65 and "negative weight -1/2" in err, err)
    write("three.json", '{"variables": [{"name": "a", "states": 3}], "factors": []}')
    code, _, err = ran(["count", "three.json"])
    check(code == 65 and "it is no formula" in err and "3 states" in err, err)
    code, _, err = ran(["count", "none.cnf"])
    check(code == 66 and "none.cnf" in err, err)
    write("bad.nnf", "nnf 3 2 1\nL 1\nL -1\nA 2 0 1\n")
    code, _, err = ran(["count", "bad.nnf"])
    check(code == 65 and "bad.nnf:4" in err, err)


def test_end():
    rng = random.Random(5)
    n = 300
    clauses = [[v if rng.random() < 0.5 else -v for v in rng.sample(range(1, n + 1), 3)] for _ in range(500)]
    write("hard.cnf", f"p cnf {n} {len(clauses)}\n" + "".join(" ".join(map(str, c)) + " 0\n" for c in clauses))
    code, out, _ = ran(["count", "hard.cnf", "--time", "1", "--format", "competition"])
    check(code == 10 and "c o certified: log10 of the count is in [" in out and "exact" not in out, out)
    # Integers that nobody could finish with are refused before.
    write("digits.cnf", "p cnf 3000 0\n" + "".join(f"c p weight {v} 1e-99999 0\n" for v in range(1, 3001)))
    code, out, err = ran(["count", "digits.cnf", "--time", "1"])
    check(code == 69 and out == "" and "3e+08 digits together" in err, err)
    write("wide.nnf", "nnf 1 0 1073741823\nL 1\n")
    for limit in (["--time", "1"], ["--memory", "50M"]):
        code, out, err = ran(["count", "wide.nnf"] + limit)
        check(code == 69 and out == "" and ("--time" in err or "too many" in err), err)


def test_weights_near_one():
    """What one weight leaves to the other one keeps its digits in all doors."""
    near = "0." + "9" * 25
    write("near.cnf", f"p cnf 1 1\nc p weight 1 {near} 0\n-1 0\n")
    check(value_of(ran(["count", "near.cnf", "--format", "competition"])[1]) == fractions.Fraction(1, 10**25), "count")
    answer = json.loads(ran(["infer", "near.cnf", "--json", "-", "--quiet"])[1])
    check(abs(answer["log_z"]["estimate"] + 25 * math.log(10)) < 1e-12, answer["log_z"])


run_tests(globals())
