#!/usr/bin/env python3
"""Noisy majorities of random literals, a model for each number: majority.py NUMBER [VARIABLES]

There are 3 factors for 2 variables, each over 5 variables at random, negated or not, with log-value 2 where more than
half of them hold and 0 elsewhere; every variable has a field. Without VARIABLES there are 14, 16, 18 or 19, as many as
elimination can take in any order: what a network is trained on.
"""
import math
import random
import sys

number = int(sys.argv[1])
n = int(sys.argv[2]) if len(sys.argv) > 2 else random.Random(number).choice([14, 16, 18, 19])
arity, scale = 5, 2.0
draw = random.Random(f"{number}/{n}")
scopes, tables = [], []
for v in range(n):
    field = draw.gauss(0, 0.3)
    scopes.append([v])
    tables.append([math.exp(-field), math.exp(field)])
for _ in range(round(1.5 * n)):
    scopes.append(sorted(draw.sample(range(n), arity)))
    signs = [draw.randrange(2) for _ in range(arity)]
    table = []
    for entry in range(2 ** arity):
        votes = sum((entry >> (arity - 1 - i) & 1) ^ sign for i, sign in enumerate(signs))
        table.append(math.exp(scale) if 2 * votes > arity else 1.0)
    tables.append(table)
print("MARKOV", n, " ".join(["2"] * n), len(scopes), sep="\n")
for scope in scopes:
    print(len(scope), *scope)
for table in tables:
    print(len(table), *[f"{value:.9g}" for value in table])
