#!/usr/bin/env python3
"""Models whose shapes are hard on limits of time and memory: limit_shapes.py SHAPE FILE [SCALE]

What is large is one thing at a time: variables, factors, states, entries, scopes, constants, names, zeros, width.
SCALE (1) divides what is large, for a quick look at the same shapes.
"""
import json
import math
import random
import sys

DRAW = random.Random(1)
VALUES = ["0.2", "0.35", "0.5", "0.8", "1", "1.3", "1.7", "2.4"]
SHAPES = {}
SCALE = 1


def shape(make):
    SHAPES[make.__name__] = make
    return make


def less(number, power=1.0):
    return max(2, int(number / SCALE**power))


def some(count, zeros=0.0):
    """Entries of a table, in a text. Large ones repeat themselves, which is as hard and made sooner."""
    block = min(count, 4096)
    part = ["0" if DRAW.random() < zeros else DRAW.choice(VALUES) for _ in range(block)]
    whole = (" ".join(part) + " ") * (count // block)
    return whole + " ".join(part[: count % block])


def write_uai(name, states, scopes, table=None, kind="MARKOV"):
    """`table` gives the text of a factor's entries by its scope and their number."""
    with open(name, "w") as out:
        out.write(f"{kind}\n{len(states)}\n{' '.join(map(str, states))}\n{len(scopes)}\n")
        for scope in scopes:
            out.write(f"{len(scope)} {' '.join(map(str, scope))}\n")
        for scope in scopes:
            size = math.prod(states[v] for v in scope)
            out.write(f"{size} {table(scope, size) if table else some(size)}\n")


def grid(rows, columns):
    pairs = [(i * columns + j, i * columns + j + 1) for i in range(rows) for j in range(columns - 1)]
    return pairs + [(i * columns + j, (i + 1) * columns + j) for i in range(rows - 1) for j in range(columns)]


def clique(n):
    return [(a, b) for a in range(n) for b in range(a)]


def samples(n, arity, count):
    return [tuple(DRAW.sample(range(n), arity)) for _ in range(count)]


# Many variables.
@shape
def chain(name):
    n = less(100_000)
    write_uai(name, [2] * n, [(v, v + 1) for v in range(n - 1)])


@shape
def path(name):
    n = less(400_000)
    write_uai(name, [2] * n, [(v, v + 1) for v in range(n - 1)])


@shape
def star(name):
    n = less(100_000)
    write_uai(name, [2] * n, [(0, v) for v in range(1, n)])


@shape
def star_of_50_states(name):
    n = less(30_000)
    write_uai(name, [50] + [3] * n, [(0, v) for v in range(1, n + 1)])


@shape
def tree(name):
    n = less(100_000)
    write_uai(name, [2] * n, [(DRAW.randrange(v), v) for v in range(1, n)])


@shape
def no_factors(name):
    write_uai(name, [2] * less(1_000_000), [])


@shape
def hidden_chain(name):
    """A hidden chain of 30 states with what was seen at each step."""
    n = less(2000)
    write_uai(name, [30] * n, [(v,) for v in range(n)] + [(v, v + 1) for v in range(n - 1)])


@shape
def chain_of_zeros(name):
    n = less(20_000)
    write_uai(name, [3] * n, [(v, v + 1) for v in range(n - 1)],
              lambda scope, size: DRAW.choice(["1 0 0 0 1 0 0 0 1", "0 1 0 0 0 1 1 0 0", "1 0 2 0 1 0 2 0 1"]))


# Many factors.
@shape
def tiny_factors(name):
    n = less(1000, 0.5)
    write_uai(name, [2] * n, [(i % n,) for i in range(less(1_000_000))])


@shape
def constants(name):
    write_uai(name, [2, 2], [()] * less(300_000) + [(0, 1)])


@shape
def same_scope(name):
    write_uai(name, [3, 3], [(0, 1)] * less(200_000))


@shape
def pairs_of_1000(name):
    write_uai(name, [2] * less(1000, 0.5), samples(less(1000, 0.5), 2, less(300_000)))


@shape
def random_graph(name):
    n = less(20_000)
    write_uai(name, [3] * n, samples(n, 2, 3 * n // 2))


@shape
def factors_of_8(name):
    n = less(2000)
    write_uai(name, [2] * n, samples(n, 8, 3 * n))


# Many states.
@shape
def million_states(name):
    n = less(1_000_000)
    write_uai(name, [n, 2, 2], [(0,), (0, 1), (1, 2)])


@shape
def pair_of_3000(name):
    n = less(3000, 0.5)
    write_uai(name, [n, n, n], [(0, 1), (1, 2)])


@shape
def chain_of_300(name):
    write_uai(name, [less(300, 0.5)] * 50, [(v, v + 1) for v in range(49)])


@shape
def clique_of_64(name):
    write_uai(name, [less(64, 0.5)] * 30, clique(30))


# Large tables.
@shape
def entries_24(name):
    n = 24 - int(math.log2(SCALE))
    write_uai(name, [2] * n, [tuple(range(n))])


@shape
def entries_26(name):
    n = 26 - int(math.log2(SCALE))
    write_uai(name, [2] * n, [tuple(range(n))])


@shape
def factors_of_14(name):
    write_uai(name, [2] * 40, samples(40, 14, less(60)))


@shape
def factors_of_18(name):
    n = 18 - int(math.log2(SCALE) / 2)
    write_uai(name, [2] * 60, samples(60, n, 16))


# Wide models.
@shape
def clique_40(name):
    write_uai(name, [3] * 40, clique(40))


@shape
def clique_200(name):
    write_uai(name, [2] * less(200, 0.5), clique(less(200, 0.5)))


@shape
def grid_30(name):
    write_uai(name, [2] * 900, grid(30, 30))


@shape
def grid_100(name):
    n = less(100, 0.5)
    write_uai(name, [2] * n * n, grid(n, n))


@shape
def grid_300(name):
    n = less(300, 0.5)
    write_uai(name, [2] * n * n, grid(n, n))


@shape
def grid_of_8_states(name):
    write_uai(name, [8] * 225, grid(15, 15))


@shape
def cube(name):
    n = less(12, 0.3)
    index = lambda x, y, z: (x * n + y) * n + z
    cells = [(x, y, z) for x in range(n) for y in range(n) for z in range(n)]
    scopes = [(index(x, y, z), index(*end)) for x, y, z in cells
              for end in ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1)) if max(end) < n]
    write_uai(name, [2] * n**3, scopes)


@shape
def boltzmann(name):
    """24 visible and 24 hidden units, with large weights."""
    def weight(scope, size):
        return f"1 1 1 {math.exp(4 * DRAW.gauss(0, 1)):.6g}" if size == 4 else f"1 {math.exp(DRAW.gauss(0, 2)):.6g}"
    write_uai(name, [2] * 48, [(a, 24 + b) for a in range(24) for b in range(24)] + [(v,) for v in range(48)], weight)


# Zeros.
@shape
def permutation_12(name):
    differ = " ".join("0" if a == b else "1" for a in range(12) for b in range(12))
    write_uai(name, [12] * 12, clique(12) + [(v,) for v in range(12)], lambda scope, size: differ if len(scope) == 2 else some(12))


@shape
def permutation_64(name):
    n = less(64, 0.5)
    differ = " ".join("0" if a == b else "1" for a in range(n) for b in range(n))
    write_uai(name, [n] * n, clique(n) + [(v,) for v in range(n)], lambda scope, size: differ if len(scope) == 2 else some(n))


@shape
def pigeons(name):
    """Eight pigeons in seven holes: impossible."""
    differ = " ".join("0" if a == b else "1" for a in range(7) for b in range(7))
    write_uai(name, [7] * 8, clique(8), lambda scope, size: differ)


@shape
def parities(name):
    even = " ".join("1" if bin(x).count("1") % 2 == 0 else "0" for x in range(32))
    n = less(300, 0.5)
    write_uai(name, [2] * n, samples(n, 5, 9 * n // 10), lambda scope, size: even)


def clauses(name, n, count):
    def clause(scope, size):
        entries = ["1"] * size
        entries[DRAW.randrange(size)] = "0"
        return " ".join(entries)
    write_uai(name, [2] * n, samples(n, 3, count), clause)


@shape
def hard_clauses(name):
    n = less(250, 0.5)
    clauses(name, n, int(4.2 * n))


@shape
def many_clauses(name):
    n = less(20_000)
    clauses(name, n, 3 * n)


@shape
def impossible_grid(name):
    """Two neighbours in a corner contradict each other."""
    n = less(100, 0.5)
    write_uai(name, [2] * n * n, grid(n, n) + [(0, 1), (0, 1)],
              lambda scope, size: some(4, zeros=0.3) if scope != (0, 1) else DRAW.choice(["0 1 1 0", "1 0 0 1"]))


# Networks.
def rows(scope, size, states=2):
    return " ".join("0.3 0.7" if DRAW.random() < 0.5 else "0.9 0.1" for _ in range(size // states))


@shape
def network(name):
    n = less(5000)
    scopes = [(*DRAW.sample(range(max(0, v - 200), v), min(v, 3)), v) for v in range(n)]
    write_uai(name, [2] * n, scopes, rows, kind="BAYES")


@shape
def barren_network(name):
    """All but the first hundred variables are children without children."""
    n = less(100_000)
    scopes = [(v,) for v in range(100)] + [(DRAW.randrange(100), v) for v in range(100, n)]
    write_uai(name, [2] * n, scopes, rows, kind="BAYES")


@shape
def observed(name):
    """Everything was observed, in the file beside the model."""
    n = less(100_000)
    write_uai(name, [2] * n, [(DRAW.randrange(v), v) for v in range(1, n)])
    with open(name + ".evid", "w") as out:
        out.write(f"{n} {' '.join(f'{v} {v % 2}' for v in range(n))}\n")


@shape
def long_names(name):
    n = less(20_000)
    variables = [{"name": f"a variable with quite a long name, number {v}", "states": [f"state number {k}" for k in range(3)]}
                 for v in range(n)]
    factors = [{"scope": [variables[v]["name"], variables[v + 1]["name"]], "values": [1, 2, 3, 4, 5, 6, 7, 8, 9]}
               for v in range(n - 1)]
    with open(name, "w") as out:
        json.dump({"variables": variables, "factors": factors}, out)


def file_of(name):
    return name + (".json" if name == "long_names" else ".uai")


if __name__ == "__main__":
    SCALE = float(sys.argv[3]) if len(sys.argv) > 3 else 1
    SHAPES[sys.argv[1]](sys.argv[2])
