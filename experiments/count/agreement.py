#!/usr/bin/env python3
"""Random formulas, weighted and projected: counts against enumeration and among methods: agreement.py NUMBER [SEED]

Every formula has up to 11 variables. Its count is compared, to the last digit, with a sum over all states in Python's
integers; counted are: with all reductions, with those of clauses, with none; with elimination and without. Formulas
that are not projected and have no negative weight are also answered by `infer` (log Z and marginals, to nine digits)
and compiled to d-DNNF, whose solutions are counted. Prints how many comparisons were made and which differed.
"""
import fractions
import math
import os
import random
import sys
import tempfile

import numpy as np

import treesample as ts

WEIGHTS = [0, 1, 2, 3, 5, 12, 30]  # over DENOMINATOR
DENOMINATOR = 12


def random_formula(rng):
    n = rng.randrange(1, 12)
    clauses = []
    for _ in range(rng.randrange(0, 1 + rng.choice([1, 2, 4]) * n)):
        size = min(n, rng.choice([1, 2, 2, 3, 3, 3, 4, 6]))
        clauses.append([v if rng.random() < 0.5 else -v for v in rng.sample(range(1, n + 1), size)])
    for _ in range(rng.choice([0, 0, 1, 2])):  # gates, and states of which exactly one holds
        some = rng.sample(range(1, n + 1), min(n, rng.choice([2, 3, 4])))
        if rng.random() < 0.5:
            clauses += [some] + [[-a, -b] for i, a in enumerate(some) for b in some[:i]]
        elif len(some) > 2:
            a, b, c = some[:3]
            clauses += [[-a, -b, c], [a, b, c], [a, -b, -c], [-a, b, -c]]
    has_negative = rng.random() < 0.15
    weights = {}
    if rng.random() < 0.6:
        for v in rng.sample(range(1, n + 1), rng.randrange(1, n + 1)):
            for literal in (v, -v):
                weights[literal] = rng.choice(WEIGHTS) * (-1 if has_negative and rng.random() < 0.3 else 1)
    shown = sorted(rng.sample(range(1, n + 1), rng.randrange(0, n + 1))) if rng.random() < 0.5 else None
    return n, clauses, weights, shown


def truth(n, clauses, weights, shown):
    """The count times DENOMINATOR^n, and the shares of the states 1 if all variables are shown."""
    states = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    holds = np.ones(2**n, dtype=bool)
    for clause in clauses:
        holds &= np.any([states[:, abs(l) - 1] == (l > 0) for l in clause], axis=0)
    states = states[holds]
    if shown is not None:
        states = np.unique(states[:, np.array(shown, dtype=int) - 1], axis=0)
    names = range(1, n + 1) if shown is None else shown
    products = np.ones(len(states), dtype=object)
    for place, v in enumerate(names):
        pair = np.array([weights.get(-v, DENOMINATOR), weights.get(v, DENOMINATOR)], dtype=object)
        products = products * pair[states[:, place]]
    total = sum(products.tolist())
    shares = [sum(products[states[:, v] == 1].tolist()) for v in range(n)] if shown is None else []
    return total, len(names), shares


def main():
    number, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1"
    rng = random.Random(seed)
    made = {"counts": 0, "infer": 0, "d-DNNF": 0}
    wrong = []
    folder = tempfile.mkdtemp()
    for index in range(number):
        n, clauses, weights, shown = random_formula(rng)
        total, power, shares = truth(n, clauses, weights, shown)
        expected = fractions.Fraction(total, DENOMINATOR**power)
        f = ts.Formula(clauses, num_variables=n, shown=shown,
                       weights={l: fractions.Fraction(w, DENOMINATOR) for l, w in weights.items()})
        for reductions in ("all", "clauses", "none"):
            for method in ("auto", "search"):
                made["counts"] += 1
                if f.count(reductions=reductions, method=method, threads=1).value != expected:
                    wrong.append((index, reductions, method))
        if shown is not None or any(w < 0 for w in weights.values()) or index % 10 != 0 or total == 0:
            continue
        made["infer"] += 1
        answer = f.model().infer(method=rng.choice(["auto", "exact", "count"]))
        is_right = abs(answer.log_z.estimate - math.log(expected)) < 1e-9
        for v in range(n):
            is_right = is_right and abs(answer[f"x{v + 1}"][1] - float(fractions.Fraction(shares[v], total))) < 1e-9
        if not is_right:
            wrong.append((index, "infer"))
        if not weights:
            made["d-DNNF"] += 1
            f.compile(os.path.join(folder, "f.nnf"))
            if ts.count_nnf(os.path.join(folder, "f.nnf")) != expected:
                wrong.append((index, "d-DNNF"))
    print(f"{number} formulas; comparisons: {made['counts']} counts, {made['infer']} answers of infer, "
          f"{made['d-DNNF']} circuits; wrong: {wrong or 'none'}")


if __name__ == "__main__":
    main()
