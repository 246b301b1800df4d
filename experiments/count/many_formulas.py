#!/usr/bin/env python3
"""Writes 300 formulas of the kinds that model counting competitions have, from easy to hard: many_formulas.py FOLDER [SEED]

    logistics, blocks, adders, multipliers, random, colouring, networks, projected, pigeons: files KIND_NUMBER.cnf

The sizes were chosen before any was counted, so that the largest of each kind are beyond the counters that we know.
"""
import itertools
import os
import random
import sys

from formulas import (Formula, adders, colouring, grid_graph, logistics, multiplier, noisy_network, pigeons,
                      projected_circuit, random_cnf, random_graph)


def blocks(rng, num_blocks, steps):
    """Blocks that lie on a table or on each other; one moves in each step, and lies where it should at the end."""
    f = Formula()
    table = num_blocks
    places = range(num_blocks + 1)
    on = [[[f.new() if x != b else None for x in places] for b in range(num_blocks)] for _ in range(steps + 1)]
    clear = [[f.new() for _ in range(num_blocks)] for _ in range(steps + 1)]
    for t in range(steps + 1):
        for b in range(num_blocks):
            f.exactly_one([x for x in on[t][b] if x is not None])
            above = [on[t][other][b] for other in range(num_blocks) if other != b]
            f.add(clear[t][b], *above)
            for x in above:
                f.add(-clear[t][b], -x)
            for x, y in itertools.combinations(above, 2):
                f.add(-x, -y)
    for t in range(steps):
        moved = [f.new() for _ in range(num_blocks)]
        f.exactly_one(moved)
        for b in range(num_blocks):
            for x in places:
                if x == b:
                    continue
                f.add(-on[t][b][x], on[t + 1][b][x], moved[b])
                f.add(-on[t][b][x], -on[t + 1][b][x], -moved[b])
                if x != table:
                    f.add(-moved[b], -on[t + 1][b][x], clear[t][x])
            f.add(-moved[b], clear[t][b])
    order = rng.sample(range(num_blocks), num_blocks)
    for below, b in zip([table] + order, order):  # a tower, at first
        f.add(on[0][b][below])
    b, x = rng.sample(range(num_blocks), 2)
    f.add(on[steps][b][x])
    return f


def table_network(rng, n, states, parents, span, num_zeros):
    """A Bayesian network with variables of several states, an atom for each row of a table that is used."""
    f = Formula()
    x = [[f.new() for _ in range(states)] for _ in range(n)]
    for row in x:
        f.exactly_one(row)
    for i in range(n):
        above = rng.sample(range(max(0, i - span), i), min(parents, i)) if i > 0 else []
        for row in itertools.product(range(states), repeat=len(above)):
            weights = [rng.randrange(1, 20) for _ in range(states)]
            for s in rng.sample(range(states), min(num_zeros, states - 1)):
                weights[s] = 0
            given = [-x[p][s] for p, s in zip(above, row)]
            for s in range(states):
                if weights[s] == 0:
                    f.add(*given, -x[i][s])
                    continue
                used = f.new()
                f.weights[used], f.weights[-used] = f"{weights[s]}/{sum(weights)}", "1"
                f.add(-used, x[i][s])
                for literal in given:
                    f.add(-used, -literal)
                f.add(*given, -x[i][s], used)
    for v in rng.sample(range(n), max(1, n // 8)):
        f.add(x[v][rng.randrange(states)])
    return f


def ordered_pigeons(birds, holes):
    """Pigeons without names: the next one sits in a later hole."""
    f = pigeons(birds, holes)
    x = [[1 + b * holes + h for h in range(holes)] for b in range(birds)]
    for b in range(birds - 1):
        for h in range(holes):
            for earlier in range(h + 1):
                f.add(-x[b][h], -x[b + 1][earlier])
    return f


def steps(low, high, count):
    """Whole numbers from low to high, so many of them, some of them several times."""
    return [round(low + (high - low) * i / (count - 1)) for i in range(count)]


def kinds(rng):
    """By kind: calls that make its formulas, from easy to hard."""
    yield "logistics", [lambda p=p, k=k, t=t: logistics(rng, p, k, t) for p, k, t in zip(
        steps(3, 5, 36), [2, 3, 4, 3, 5, 4] * 6, steps(6, 22, 36))]
    yield "blocks", [lambda n=n, t=t: blocks(rng, n, t) for n, t in zip(steps(3, 6, 30), steps(3, 14, 30))]
    yield "adders", [lambda b=b, o=o: adders(rng, b, o, b // 2) for b, o in zip(steps(6, 64, 30), [3, 4, 5] * 10)]
    yield "multipliers", [lambda b=b, g=g: multiplier(rng, b, b * g) for b, g in zip(steps(4, 15, 30), [1, 2] * 15)]
    ratios = {3: [1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.2], 4: [3.0, 5.0, 7.0, 9.0], 5: [8.0, 16.0]}
    sizes = {3: [40, 60, 80, 110], 4: [35, 50, 70], 5: [30, 45]}
    yield "random", [lambda n=n, r=r, k=k: random_cnf(rng, n, r, k) for k in ratios for n in sizes[k] for r in ratios[k]]
    yield "colouring", [lambda n=n, m=m, c=c: colouring(random_graph(rng, n, m), n, c) for n, m, c in zip(
        steps(30, 100, 24), [round(n * r) for n, r in zip(steps(30, 100, 24), [1.4, 1.8, 2.2] * 8)], [3, 4, 5, 3] * 6)]
    yield "grids", [lambda s=s, c=c: colouring(grid_graph(s, s + 2), s * (s + 2), c) for s, c in zip(
        steps(4, 12, 12), [3, 4] * 6)]
    yield "networks", [lambda n=n, p=p, s=s: noisy_network(rng, n, p, s) for n, p, s in zip(
        steps(40, 500, 20), [2, 3, 3, 4] * 5, [8, 12, 16, 20, 25] * 4)]
    yield "tables", [lambda n=n, s=s, p=p, z=z: table_network(rng, n, s, p, 6, z) for n, s, p, z in zip(
        steps(20, 120, 24), [2, 3, 4, 3] * 6, [2, 2, 2, 3] * 6, [0, 1, 2] * 8)]
    yield "projected", [lambda i=i, g=g, s=s: projected_circuit(rng, i, g, s) for i, g, s in zip(
        steps(20, 90, 30), [n * r for n, r in zip(steps(20, 90, 30), [3, 5, 8] * 10)], steps(10, 45, 30))]
    yield "pigeons", [lambda b=b, h=h: pigeons(b, h) for b, h in zip(steps(6, 12, 10), steps(7, 15, 10))] + [
        lambda b=b, h=h: ordered_pigeons(b, h) for b, h in zip(steps(8, 26, 10), steps(10, 40, 10))]


def main():
    folder = sys.argv[1]
    rng = random.Random(sys.argv[2] if len(sys.argv) > 2 else "1")
    os.makedirs(folder, exist_ok=True)
    for kind, makers in kinds(rng):
        for number, make in enumerate(makers, 1):
            make().write(os.path.join(folder, f"{kind}_{number:02}.cnf"))


if __name__ == "__main__":
    main()
