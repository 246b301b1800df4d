#!/usr/bin/python3
"""The overhead of calling a Python function as a factor: python_bench.py [REPEATS]

PYTHONPATH names the module. All times are processor time, each the best of REPEATS (7) runs. The plain call is the
loop of `map`, which is in C. The time of the search itself is measured with tables in place of the functions: equal
standard errors of the importance samples show that it is the same search, step by step.
"""
import collections
import subprocess
import sys
import time

import numpy as np

import treesample as ts

COUNT = 200_000
STATES = 4
BUDGET = 50_000


def constant(a, b, c):
    return 0.5


def seconds(work, repeats):
    """Processor time, the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def by_hand(repeats):
    states = [0] * COUNT
    return seconds(lambda: collections.deque(map(constant, states, states, states), maxlen=0), repeats) / COUNT


def direct(repeats):
    """Seconds per call while the interpreter lock is held all the time."""
    m = ts.Model()
    variables = [m.variable(f"x{i}", STATES) for i in range(3)]
    m.factor(*variables, cost=0)(constant)
    rows = np.zeros((COUNT, 3), dtype=np.int32)
    graph = ts._functions.with_functions(m)
    return seconds(lambda: graph.log_densities(rows), repeats) / COUNT


def chain(add):
    m = ts.Model()
    variables = [m.variable(f"x{i}", STATES) for i in range(12)]
    for i in range(2, 12):
        add(m, variables[i - 2 : i + 1])
    return m


def in_search(repeats):
    """Overhead per call in a search, the time of the search itself per call, and the number of calls."""
    count = 0

    def counted(a, b, c):
        nonlocal count
        count += 1
        return 0.5

    options = dict(select="q-uct", space="tree", order="given", budget=BUDGET, simplify="no", threads=1)
    chain(lambda m, v: m.factor(*v, cost=0)(counted)).infer(**options)
    functions = chain(lambda m, v: m.factor(*v, cost=0)(constant))
    tables = chain(lambda m, v: m.log_table(v, np.full([STATES] * 3, 0.5)))
    if functions.infer(**options).log_z.std_error != tables.infer(**options).log_z.std_error:
        sys.exit("python_bench: the two searches differ, so their times cannot be compared")
    with_functions = seconds(lambda: functions.infer(**options), repeats)
    with_tables = seconds(lambda: tables.infer(**options), repeats)
    return (with_functions - with_tables) / count, with_tables / count, count


def in_batches(repeats):
    """Overhead per row in batches of 256, in seconds."""
    values = np.full(256, 0.5)

    def by_rows(rows):
        return values

    m = ts.Model()
    variables = [m.variable(f"x{i}", STATES) for i in range(3)]
    m.factor(*variables, cost=0, batch=256)(by_rows)
    graph = ts._functions.with_functions(m)
    rows = np.zeros((256 * 10, 3), dtype=np.int32)
    plain = seconds(lambda: collections.deque(map(by_rows, [rows] * 1000), maxlen=0), repeats)
    return (seconds(lambda: [graph.log_densities(rows) for _ in range(100)], repeats) - plain) / 256_000


def importing(repeats):
    """Seconds to import NumPy, and then the module."""
    text = (
        "import time; a = time.process_time(); import numpy; b = time.process_time(); import treesample;"
        "print(b - a, time.process_time() - b)"
    )
    runs = [subprocess.run([sys.executable, "-c", text], capture_output=True, check=True).stdout for _ in range(repeats)]
    pairs = [tuple(map(float, run.split())) for run in runs]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    plain, held = by_hand(repeats), direct(repeats)
    more, own, count = in_search(repeats)
    numpy, module = importing(repeats)
    us = 1e6
    print(f"a call of a function of cost 0 by map:       {plain * us:.3f} us")
    print(f"by the library, interpreter held:            {held * us:.3f} us, {(held - plain) * us:.3f} more")
    print(
        f"by a search ({count} calls):                 {more * us:.3f} us, {(more - plain) * us:.3f} more;"
        f" the search itself {own * us:.3f} us per call"
    )
    print(f"a row of a batch of 256 beside its function: {in_batches(repeats) * 1e9:.1f} ns")
    print(f"import: NumPy {numpy:.3f} s, treesample beyond it {module:.3f} s")


if __name__ == "__main__":
    main()
