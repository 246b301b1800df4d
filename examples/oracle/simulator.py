"""Which links of a network are down? A simulator as a factor.

Six routers are joined by eight links, two power supplies feed four links each. Test packets were
sent between three pairs of routers, and some arrived. Given the links that are up, the chance that
a packet gets through is found by simulation: in each trial every link drops the packet with a
small probability, and the packet arrives if a path of other links is left. The factor is the log
of the binomial likelihood of what was observed. One evaluation takes about 20 ms.

Run it through the model: treesample infer examples/oracle/model.json --journal run.journal
"""

import math
import random

from serve import serve

LINKS = {"ab": "AB", "ac": "AC", "bc": "BC", "bd": "BD", "ce": "CE", "de": "DE", "df": "DF", "ef": "EF"}
PROBES = [("A", "F", 20, 17), ("B", "E", 20, 20), ("A", "D", 20, 18)]  # from, to, sent, arrived
LOSS = 0.15
TRIALS = 1200


def is_connected(links, start, end):
    reached, border = {start}, [start]
    while border:
        router = border.pop()
        for x, y in links:
            for here, there in ((x, y), (y, x)):
                if here == router and there not in reached:
                    reached.add(there)
                    border.append(there)
    return end in reached


def log_value(factor, states):
    up = [LINKS[name] for name, state in states.items() if state == "up"]
    # The seed depends only on the states, so the same question always has the same answer.
    draw = random.Random(" ".join(sorted(up)))
    arrived = [0] * len(PROBES)
    for _ in range(TRIALS):
        alive = [link for link in up if draw.random() >= LOSS]
        for i, (start, end, _, _) in enumerate(PROBES):
            arrived[i] += is_connected(alive, start, end)
    log_likelihood = 0.0
    for (start, end, num_sent, num_arrived), count in zip(PROBES, arrived):
        if not is_connected(up, start, end):
            if num_arrived > 0:
                return -math.inf  # packets arrived although there is no path: impossible
            continue
        p = (count + 0.5) / (TRIALS + 1)
        log_likelihood += num_arrived * math.log(p) + (num_sent - num_arrived) * math.log(1 - p)
    return log_likelihood


if __name__ == "__main__":
    serve(log_value)
