#!/usr/bin/env python3
"""Models of which the most probable configuration is wanted, one kind after the other: make_models.py FOLDER [SEED]

Written as .uai (natural values), or .wcnf for MaxSAT. The same seed makes the same files.
"""

import itertools
import math
import os
import random
import sys


def write_uai(path, sizes, tables):
    """tables: (scope, values), the last variable fastest."""
    lines = ["MARKOV", str(len(sizes)), " ".join(map(str, sizes)), str(len(tables))]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope, _ in tables]
    for _, values in tables:
        lines += [str(len(values)), " ".join(f"{value:.12g}" for value in values)]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def table(draw, sizes, scope, function):
    return scope, [math.exp(function(*states)) for states in itertools.product(*(range(sizes[v]) for v in scope))]


def pairs_of_grid(*sides):
    cells = list(itertools.product(*(range(side) for side in sides)))
    index = {cell: i for i, cell in enumerate(cells)}
    found = []
    for cell in cells:
        for axis in range(len(sides)):
            other = tuple(c + (i == axis) for i, c in enumerate(cell))
            if other in index:
                found.append((index[cell], index[other]))
    return len(cells), found


def glass(draw, sides, is_gaussian, field):
    n, pairs = pairs_of_grid(*sides)
    sizes = [2] * n
    tables = []
    for a, b in pairs:
        j = draw.gauss(0, 1) if is_gaussian else draw.choice([-1.0, 1.0])
        tables.append(table(draw, sizes, [a, b], lambda x, y, j=j: j if x == y else -j))
    for v in range(n):
        h = draw.gauss(0, field)
        tables.append(table(draw, sizes, [v], lambda x, h=h: h if x else -h))
    return sizes, tables


def complete_glass(draw, n):
    sizes = [2] * n
    tables = []
    for a, b in itertools.combinations(range(n), 2):
        j = draw.gauss(0, 1) / math.sqrt(n)
        tables.append(table(draw, sizes, [a, b], lambda x, y, j=j: 2 * j if x == y else -2 * j))
    return sizes, tables


def potts(draw, sides, q, strength):
    n, pairs = pairs_of_grid(*sides)
    sizes = [q] * n
    tables = []
    for a, b in pairs:
        j = draw.gauss(0, strength)
        tables.append(table(draw, sizes, [a, b], lambda x, y, j=j: j if x == y else 0.0))
    for v in range(n):
        h = [draw.gauss(0, 1) for _ in range(q)]
        tables.append(table(draw, sizes, [v], lambda x, h=h: h[x]))
    return sizes, tables


def rbm(draw, n, strength):
    sizes = [2] * (2 * n)
    tables = []
    for a in range(n):
        for b in range(n, 2 * n):
            j = draw.gauss(0, strength)
            tables.append(table(draw, sizes, [a, b], lambda x, y, j=j: j * x * y))
    for v in range(2 * n):
        h = draw.gauss(0, strength)
        tables.append(table(draw, sizes, [v], lambda x, h=h: h * x))
    return sizes, tables


def linkage(draw, num_founders, num_children, num_loci, seen, alleles):
    """A pedigree with alleles from both parents at each locus, chains of selectors, and some genotypes observed."""
    people = [None] * num_founders
    for i in range(num_children):
        a, b = draw.sample(range(max(0, len(people) - num_founders - 2), len(people)), 2)
        people.append((a, b))
    sizes, tables, allele, truth = [], [], {}, {}
    selector, inherited = {}, {}
    rates = [0.05 + 0.15 * draw.random() for _ in range(num_loci)]
    for locus in range(num_loci):
        weights = [0.2 + draw.random() for _ in range(alleles)]
        prior = [w / sum(weights) for w in weights]
        for p, parents in enumerate(people):
            for side in range(2):
                allele[p, side, locus] = len(sizes)
                sizes.append(alleles)
                if parents is None:
                    tables.append(([allele[p, side, locus]], prior))
                    truth[p, side, locus] = draw.choices(range(alleles), prior)[0]
                    continue
                s = selector[p, side, locus] = len(sizes)
                sizes.append(2)
                if locus == 0:
                    tables.append(([s], [0.5, 0.5]))
                    inherited[p, side, locus] = draw.randrange(2)
                else:
                    r = rates[locus]
                    tables.append(([selector[p, side, locus - 1], s], [1 - r, r, r, 1 - r]))
                    inherited[p, side, locus] = inherited[p, side, locus - 1] ^ (draw.random() < r)
                truth[p, side, locus] = truth[parents[side], inherited[p, side, locus], locus]
                scope = [s, allele[parents[side], 0, locus], allele[parents[side], 1, locus], allele[p, side, locus]]
                tables.append((scope, [float(x == (b if k else a)) for k in range(2) for a in range(alleles)
                                       for b in range(alleles) for x in range(alleles)]))
            if draw.random() < seen:
                a, b = truth[p, 0, locus], truth[p, 1, locus]
                tables.append(([allele[p, 0, locus], allele[p, 1, locus]],
                               [float((x, y) in ((a, b), (b, a))) for x in range(alleles) for y in range(alleles)]))
    return sizes, tables


def network(draw, n, states, parents, window, softness, seen):
    """A Bayesian network with random tables and some of its last variables observed."""
    sizes = [states] * n
    tables = []
    for v in range(n):
        scope = draw.sample(range(max(0, v - window), v), min(parents, v, window)) + [v]
        values = []
        for _ in range(states ** (len(scope) - 1)):
            row = [draw.gammavariate(softness, 1) + 1e-6 for _ in range(states)]
            values += [x / sum(row) for x in row]
        tables.append((scope, values))
    for v in draw.sample(range(n // 2, n), seen):
        tables.append(([v], [float(s == 0) for s in range(states)]))
    return sizes, tables


def noisy_or(draw, causes, findings, parents):
    sizes = [2] * (causes + findings)
    tables = []
    for v in range(causes):
        p = 0.02 + 0.1 * draw.random()
        tables.append(([v], [1 - p, p]))
    for f in range(findings):
        scope = draw.sample(range(causes), parents)
        stay = [draw.random() for _ in scope]
        values = []
        for states in itertools.product(range(2), repeat=parents):
            off = 0.98 * math.prod(q for q, s in zip(stay, states) if s)
            values += [off, 1 - off]
        tables.append((scope + [causes + f], values))
        is_seen = draw.random() < 0.5
        tables.append(([causes + f], [0.0, 1.0] if is_seen else [1.0, 0.0]))
    return sizes, tables


def colouring(draw, n, edges, colours):
    """Nodes prefer colours; equal neighbours cost something, some are forbidden."""
    sizes = [colours] * n
    tables = []
    for a, b in draw.sample(list(itertools.combinations(range(n), 2)), edges):
        cost = draw.choice([2.0, 4.0, math.inf])
        tables.append(([a, b], [math.exp(-cost) if x == y else 1.0 for x in range(colours) for y in range(colours)]))
    for v in range(n):
        tables.append(([v], [math.exp(-2 * draw.random()) for _ in range(colours)]))
    return sizes, tables


def frequencies(draw, n, edges, states):
    """Links want frequencies that are far enough apart, at a price."""
    sizes = [states] * n
    tables = []
    for a, b in draw.sample(list(itertools.combinations(range(n), 2)), edges):
        apart, price = draw.randint(1, states // 3), draw.choice([1, 2, 5, 8])
        tables.append(table(draw, sizes, [a, b], lambda x, y, d=apart, c=price: -c if abs(x - y) <= d else 0.0))
    for v in range(n):
        wanted = draw.randrange(states)
        tables.append(table(draw, sizes, [v], lambda x, w=wanted: -0.5 * abs(x - w)))
    return sizes, tables


def csp(draw, n, states, constraints, tightness):
    """Random forbidden pairs around a hidden solution, and preferences."""
    sizes = [states] * n
    hidden = [draw.randrange(states) for _ in range(n)]
    tables = []
    for a, b in draw.sample(list(itertools.combinations(range(n), 2)), constraints):
        tables.append(([a, b], [float((x, y) == (hidden[a], hidden[b]) or draw.random() > tightness)
                                for x in range(states) for y in range(states)]))
    for v in range(n):
        tables.append(([v], [math.exp(-3 * draw.random()) for _ in range(states)]))
    return sizes, tables


def jobs(draw, n, slots, machines):
    """Jobs in time slots: those of one machine exclude each other, some precede others, late ones cost."""
    sizes = [slots] * n
    tables = []
    machine = [draw.randrange(machines) for _ in range(n)]
    length = [draw.randint(1, 3) for _ in range(n)]
    for a, b in itertools.combinations(range(n), 2):
        if machine[a] == machine[b]:
            tables.append(([a, b], [float(x + length[a] <= y or y + length[b] <= x)
                                    for x in range(slots) for y in range(slots)]))
        elif draw.random() < 0.08:
            tables.append(([a, b], [1.0 if x + length[a] <= y else math.exp(-3.0)
                                    for x in range(slots) for y in range(slots)]))
    for v in range(n):
        price = 0.2 + draw.random()
        due = draw.randrange(slots // 2)
        tables.append(([v], [math.exp(-price * max(0, x - due)) for x in range(slots)]))
    return sizes, tables


def write_maxsat(path, draw, n, clauses, length, hard):
    rows = []
    for _ in range(clauses):
        variables = draw.sample(range(1, n + 1), length)
        weight = "h" if draw.random() < hard else str(draw.randint(1, 9))
        rows.append(" ".join([weight, *(str(v * draw.choice([-1, 1])) for v in variables), "0"]))
    top = clauses * 10
    with open(path, "w") as file:
        file.write(f"p wcnf {n} {clauses} {top}\n")
        file.writelines(row.replace("h", str(top)) + "\n" for row in rows)


UAI = {
    "glass_2d_18": lambda d: glass(d, (18, 18), True, 0.1),
    "glass_2d_24": lambda d: glass(d, (24, 24), True, 0.0),
    "glass_pm_20": lambda d: glass(d, (20, 20), False, 0.05),
    "glass_3d_5": lambda d: glass(d, (5, 5, 5), True, 0.1),
    "glass_3d_6": lambda d: glass(d, (6, 6, 6), True, 0.1),
    "sk_30": lambda d: complete_glass(d, 30),
    "sk_40": lambda d: complete_glass(d, 40),
    "potts_15_3": lambda d: potts(d, (15, 15), 3, 1.0),
    "potts_20_4": lambda d: potts(d, (20, 20), 4, 1.0),
    "potts_25_3": lambda d: potts(d, (25, 25), 3, 1.5),
    "potts_3d_5": lambda d: potts(d, (5, 5, 5), 3, 1.0),
    "grid_weak_40": lambda d: glass(d, (40, 40), True, 1.5),
    "rbm_20": lambda d: rbm(d, 20, 0.5),
    "rbm_28": lambda d: rbm(d, 28, 0.5),
    "linkage_a": lambda d: linkage(d, 6, 12, 8, 0.4, 4),
    "linkage_b": lambda d: linkage(d, 8, 20, 10, 0.3, 4),
    "linkage_c": lambda d: linkage(d, 10, 30, 6, 0.35, 5),
    "pedigree_a": lambda d: linkage(d, 12, 50, 2, 0.5, 4),
    "pedigree_b": lambda d: linkage(d, 15, 80, 2, 0.3, 5),
    "network_a": lambda d: network(d, 80, 3, 3, 12, 0.3, 10),
    "network_b": lambda d: network(d, 150, 2, 4, 30, 0.4, 20),
    "network_c": lambda d: network(d, 60, 4, 3, 25, 0.5, 8),
    "noisy_or_a": lambda d: noisy_or(d, 60, 40, 6),
    "noisy_or_b": lambda d: noisy_or(d, 100, 80, 8),
    "colouring_a": lambda d: colouring(d, 60, 180, 4),
    "colouring_b": lambda d: colouring(d, 100, 400, 5),
    "frequencies_a": lambda d: frequencies(d, 25, 70, 12),
    "frequencies_b": lambda d: frequencies(d, 40, 160, 10),
    "csp_a": lambda d: csp(d, 40, 6, 140, 0.4),
    "csp_b": lambda d: csp(d, 60, 8, 200, 0.35),
    "jobs_a": lambda d: jobs(d, 24, 16, 4),
    "jobs_b": lambda d: jobs(d, 40, 24, 6),
}
WCNF = {
    "maxsat_3_80": lambda path, d: write_maxsat(path, d, 80, 400, 3, 0.2),
    "maxsat_3_150": lambda path, d: write_maxsat(path, d, 150, 700, 3, 0.2),
    "maxsat_2_100": lambda path, d: write_maxsat(path, d, 100, 400, 2, 0.0),
}


def main():
    folder, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1"
    os.makedirs(folder, exist_ok=True)
    for name, make in UAI.items():
        write_uai(os.path.join(folder, name + ".uai"), *make(random.Random(f"{name} {seed}")))
    for name, write in WCNF.items():
        write(os.path.join(folder, name + ".wcnf"), random.Random(f"{name} {seed}"))


if __name__ == "__main__":
    main()
