"""The hypergrid of the GFlowNet papers: a walk from the corner of a grid, which may stop anywhere.

The reward is small in the middle, larger near the corners, and largest in a ring around each corner.
"""

import math

DIMENSIONS, SIDE = 2, 8
R0, R1, R2 = 0.1, 0.5, 2.0


def start():
    return (0,) * DIMENSIONS + (False,)


def is_end(state):
    return state[-1]


def actions(state):
    place = state[:-1]
    for d in range(DIMENSIONS):
        if place[d] < SIDE - 1:
            yield f"up {d}", place[:d] + (place[d] + 1,) + place[d + 1 :] + (False,)
    yield "stop", place + (True,)


def reward(state):
    far = [abs(x / (SIDE - 1) - 0.5) for x in state[:-1]]
    return math.log(R0 + R1 * all(x > 0.25 for x in far) + R2 * all(0.3 < x < 0.4 for x in far))


def encode(state):
    return state[:-1]
