#!/usr/bin/python3
"""A black box of 40 variables with 4 states: planted.py [PROBLEMS] > planted.csv

A random tree of 39 pairs (standard normal values times 1.5) is hidden in one function of all variables. KL[P_X || P*] is
estimated from 2000 samples of P_X with their exact probabilities; log Z of the tree is exact. PYTHONPATH names the module.
"""
import sys

import numpy as np

import treesample as ts

NUM_VARIABLES, NUM_STATES, SPREAD = 40, 4, 1.5


def variables(model):
    return [model.variable(f"x{i}", NUM_STATES) for i in range(NUM_VARIABLES)]


def planted(seed):
    numbers = np.random.default_rng(seed)
    size = (NUM_STATES, NUM_STATES)
    return [(int(numbers.integers(v)), v, SPREAD * numbers.standard_normal(size)) for v in range(1, NUM_VARIABLES)]


def divergence(seed, calls):
    pairs = planted(seed)
    truth, hidden = ts.Model(), ts.Model()
    x = variables(truth)
    for a, b, values in pairs:
        truth.log_table([x[a], x[b]], values)

    def log_density(rows):
        return sum(values[rows[:, a], rows[:, b]] for a, b, values in pairs)

    hidden.factor(*variables(hidden), batch=1)(log_density)
    answer = hidden.infer(calls=calls, seed=seed)
    samples = answer.sample(2000, seed=1)
    log_z = float(truth.infer(method="exact").log_z)
    interval = answer.log_z.interval
    is_covered = "" if interval is None else int(interval[0] <= log_z <= interval[1])
    return float(np.mean(answer.log_prob(samples) - log_density(samples))) + log_z, is_covered


def main():
    print("problem,calls,kl,interval_covers")
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        for calls in (300, 600, 800, 1000, 1200, 1600):
            kl, is_covered = divergence(seed, calls)
            print(f"{seed},{calls},{kl:.4f},{is_covered}", flush=True)


if __name__ == "__main__":
    main()
