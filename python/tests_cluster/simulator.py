"""What the cluster tests have computed elsewhere. Workers import it."""

import math
import time

import treesample as ts

SECONDS = 0.02


def simulate(a, b, c, d):
    time.sleep(SECONDS)
    return math.sin(a + 2.0 * b) - 0.1 * c * d


def model():
    made = ts.Model()
    made.factor(*(made.variable(name, 6) for name in "abcd"))(simulate)
    return made


def bits(answer):
    return float(answer.log_z), answer.best, answer.marginals.to_numpy().tolist()
