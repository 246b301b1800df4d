#!/usr/bin/python3
"""Writes formulas of the kinds that model counters are compared on: formulas.py FOLDER [SEED].

Random k-CNF below the threshold, colourings of random graphs and grids, adders and multipliers with some outputs given,
packages that are carried around (logistics), Bayesian networks with noisy gates (weighted), projected circuits and
pigeons. Every file is made by its own stream of random numbers, so that the set may grow without changing.
"""
import itertools
import os
import random
import sys


class Formula:
    def __init__(self):
        self.num_variables = 0
        self.clauses = []
        self.weights = {}
        self.shown = None

    def new(self):
        self.num_variables += 1
        return self.num_variables

    def add(self, *literals):
        self.clauses.append(literals)

    def gate(self, inputs, output_of):
        """A new variable that is output_of(the states of the inputs)."""
        out = self.new()
        for states in itertools.product((False, True), repeat=len(inputs)):
            other = [-x if s else x for x, s in zip(inputs, states)]
            self.add(*other, out if output_of(*states) else -out)
        return out

    def and_gate(self, a, b):
        out = self.new()
        self.add(-out, a)
        self.add(-out, b)
        self.add(out, -a, -b)
        return out

    def exactly_one(self, literals):
        self.add(*literals)
        for a, b in itertools.combinations(literals, 2):
            self.add(-a, -b)

    def write(self, path):
        kind = ("p" if self.shown else "") + ("w" if self.weights else "") + "mc"
        with open(path, "w") as file:
            file.write(f"c t {kind}\np cnf {self.num_variables} {len(self.clauses)}\n")
            if self.shown:
                file.write("c p show " + " ".join(map(str, self.shown)) + " 0\n")
            for literal, weight in self.weights.items():
                file.write(f"c p weight {literal} {weight} 0\n")
            for clause in self.clauses:
                file.write(" ".join(map(str, clause)) + " 0\n")


def random_cnf(rng, n, ratio, k):
    f = Formula()
    f.num_variables = n
    for _ in range(round(ratio * n)):
        f.add(*(v if rng.random() < 0.5 else -v for v in rng.sample(range(1, n + 1), k)))
    return f


def colouring(edges, n, colours):
    f = Formula()
    x = [[f.new() for _ in range(colours)] for _ in range(n)]
    for row in x:
        f.exactly_one(row)
    for a, b in edges:
        for c in range(colours):
            f.add(-x[a][c], -x[b][c])
    return f


def random_graph(rng, n, m):
    edges = set()
    while len(edges) < m:
        a, b = rng.sample(range(n), 2)
        edges.add((min(a, b), max(a, b)))
    return sorted(edges)


def grid_graph(width, height):
    return [(r * width + c, r * width + c + 1) for r in range(height) for c in range(width - 1)] + \
           [(r * width + c, r * width + width + c) for r in range(height - 1) for c in range(width)]


def add_bits(f, a, b, carry):
    total = f.gate((a, b, carry), lambda x, y, z: (x + y + z) % 2 == 1)
    return total, f.gate((a, b, carry), lambda x, y, z: x + y + z >= 2)


def adders(rng, bits, operands, given):
    """The sum of several numbers, some bits of which are given."""
    f = Formula()
    total = [f.new() for _ in range(bits)]
    for _ in range(operands - 1):
        number = [f.new() for _ in range(bits)]
        carry = f.new()
        f.add(-carry)
        result = []
        for a, b in zip(total, number):
            bit, carry = add_bits(f, a, b, carry)
            result.append(bit)
        total = result
    for bit in rng.sample(total, given):
        f.add(bit if rng.random() < 0.5 else -bit)
    return f


def multiplier(rng, bits, given):
    f = Formula()
    a, b = [f.new() for _ in range(bits)], [f.new() for _ in range(bits)]
    zero = f.new()
    f.add(-zero)
    total = [zero] * (2 * bits)
    for i, x in enumerate(a):
        carry = zero
        for j, y in enumerate(b):
            total[i + j], carry = add_bits(f, total[i + j], f.and_gate(x, y), carry)
        for j in range(i + bits, 2 * bits):
            if carry == zero:
                break
            total[j], carry = (carry, zero) if total[j] == zero else add_bits(f, total[j], carry, zero)
    value = rng.getrandbits(bits) * rng.getrandbits(bits)
    places = rng.sample(range(2 * bits), given)
    for place in places:
        f.add(total[place] if value >> place & 1 else -total[place])
    return f


def logistics(rng, places, packages, steps):
    """One truck; each step it moves or stays, and carries any package that is with it along."""
    f = Formula()
    truck = [[f.new() for _ in range(places)] for _ in range(steps)]
    at = [[[f.new() for _ in range(places)] for _ in range(packages)] for _ in range(steps)]
    for t in range(steps):
        f.exactly_one(truck[t])
        for p in range(packages):
            f.exactly_one(at[t][p])
            for a, b in itertools.permutations(range(places), 2):
                if t == 0:
                    continue
                f.add(-at[t - 1][p][a], -at[t][p][b], truck[t - 1][a])
                f.add(-at[t - 1][p][a], -at[t][p][b], truck[t][b])
    f.add(truck[0][0])
    for p in range(packages):
        f.add(at[0][p][rng.randrange(places)])
        f.add(at[-1][p][rng.randrange(places)])
    return f


def noisy_network(rng, n, parents, span):
    """A Bayesian network of noisy gates: each variable is a gate of its parents, flipped by a coin of its own."""
    f = Formula()
    x = []
    for i in range(n):
        coin = f.new()
        weight = rng.randrange(1, 100)
        f.weights[coin], f.weights[-coin] = f"0.{weight:02d}", f"{1 - weight / 100:.2f}"
        if i < parents:
            x.append(coin)
            continue
        inputs = rng.sample(x[max(0, i - span):], parents)
        table = [rng.random() < 0.5 for _ in range(2 ** parents)]
        value = f.gate(inputs, lambda *s, t=table: t[sum(b << k for k, b in enumerate(s))])
        x.append(f.gate((value, coin), lambda a, b: a != b) if rng.random() < 0.5 else f.and_gate(value, coin))
    for v in rng.sample(x, n // 10):
        f.add(-v)
    return f


def projected_circuit(rng, inputs, gates, shown):
    f = Formula()
    x = [f.new() for _ in range(inputs)]
    for _ in range(gates):
        a, b = rng.sample(x[-inputs:], 2)
        x.append(f.gate((a, b), rng.choice([lambda p, q: p and q, lambda p, q: p or q, lambda p, q: p != q])))
    f.shown = sorted(rng.sample(x[-inputs:], shown))
    return f


def pigeons(birds, holes):
    f = Formula()
    x = [[f.new() for _ in range(holes)] for _ in range(birds)]
    for row in x:
        f.exactly_one(row)
    for hole in range(holes):
        for a, b in itertools.combinations(range(birds), 2):
            f.add(-x[a][hole], -x[b][hole])
    return f


def all_formulas(seed):
    def rng(name):
        return random.Random(f"{seed} {name}")

    for n, ratio, k in [(50, 1.5, 3), (60, 2.0, 3), (70, 2.5, 3), (80, 3.0, 3), (90, 3.4, 3), (110, 3.8, 3),
                        (130, 4.1, 3), (40, 5.0, 4), (50, 8.0, 4), (30, 16.0, 5)]:
        name = f"random_{k}_{n}_{ratio}"
        yield name, random_cnf(rng(name), n, ratio, k)
    for n, m, c in [(50, 75, 3), (70, 120, 3), (90, 180, 3), (40, 80, 4), (30, 60, 5)]:
        name = f"colours_{c}_{n}_{m}"
        yield name, colouring(random_graph(rng(name), n, m), n, c)
    for side, c in [(6, 3), (8, 3), (10, 3), (6, 4), (7, 4), (8, 4)]:
        yield f"grid_{side}_{c}", colouring(grid_graph(side, side), side * side, c)
    for bits, operands, given in [(8, 3, 4), (16, 3, 8), (16, 4, 16), (24, 4, 12), (32, 3, 32), (48, 3, 24)]:
        name = f"adders_{bits}_{operands}_{given}"
        yield name, adders(rng(name), bits, operands, given)
    for bits, given in [(5, 5), (6, 6), (7, 14), (8, 16), (8, 8), (10, 20), (12, 24)]:
        name = f"multiplier_{bits}_{given}"
        yield name, multiplier(rng(name), bits, given)
    for places, packages, steps in [(3, 3, 8), (3, 4, 12), (4, 3, 10), (3, 4, 20), (4, 4, 16), (5, 3, 12), (4, 6, 20)]:
        name = f"logistics_{places}_{packages}_{steps}"
        yield name, logistics(rng(name), places, packages, steps)
    for n, parents, span in [(60, 3, 10), (100, 3, 12), (200, 3, 10), (400, 3, 10), (100, 3, 25), (150, 4, 15)]:
        name = f"network_{n}_{parents}_{span}"
        yield name, noisy_network(rng(name), n, parents, span)
    for inputs, gates, shown in [(20, 60, 10), (30, 100, 15), (40, 120, 20), (30, 300, 12), (60, 200, 20), (40, 400, 16)]:
        name = f"projected_{inputs}_{gates}_{shown}"
        yield name, projected_circuit(rng(name), inputs, gates, shown)
    for birds, holes in [(7, 8), (8, 10), (9, 8), (10, 9)]:
        yield f"pigeons_{birds}_{holes}", pigeons(birds, holes)


def main():
    folder = sys.argv[1]
    seed = sys.argv[2] if len(sys.argv) > 2 else "1"
    os.makedirs(folder, exist_ok=True)
    for name, formula in all_formulas(seed):
        formula.write(os.path.join(folder, name + ".cnf"))


if __name__ == "__main__":
    main()
