#!/usr/bin/env python3
"""Kills learner, workers and server at random moments: run_kill_tests.py PROGRAM [KILLS_OF_EACH] [SEED]

The run ends with the episodes that it was to have, each once, and with finite parameters.
"""
import math
import os
import random
import sys
import time

from redis_support import Lab, network_values

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
EPISODES_BETWEEN = 15  # at least so many come between two kills, so that the run gets on


def main():
    dice = random.Random(SEED)
    kinds = ["learner", "worker", "server"] * KILLS
    dice.shuffle(kinds)
    endless = 10_000_000  # so many that the run cannot end before the last kill, however fast the machine
    start = time.time()
    with Lab() as lab:
        with open(lab.path("key"), "w") as file:
            file.write("a secret of more than 16 bytes\n")
        os.chmod(lab.path("key"), 0o600)
        more = ["--key-file", lab.path("key")]
        learner = lab.learner(*more, episodes=endless)
        workers = [lab.worker(*more) for _ in range(2)]
        lab.wait_for_rows(1)
        for index, kind in enumerate(kinds):
            lab.wait_for_rows(EPISODES_BETWEEN * index + dice.randrange(EPISODES_BETWEEN))
            time.sleep(0.2 * dice.random())
            if kind == "learner":
                learner.kill()
                time.sleep(0.5 * dice.random())
                learner = lab.learner("--resume", *more, episodes=endless)
            elif kind == "worker":
                victim = dice.randrange(2)
                workers[victim].kill()
                workers[victim] = lab.worker(*more)
            else:
                lab.server.kill()
                time.sleep(0.5 * dice.random())
                lab.server.start()
        learner.kill()
        episodes = len(lab.rows()) + 10 * EPISODES_BETWEEN
        learner = lab.learner("--resume", *more, episodes=episodes)
        codes = [learner.wait()] + [worker.wait() for worker in workers]
        rows = lab.rows()
        values = network_values(lab.path("run", "network.safetensors")) if codes[0] == 0 else [math.nan]
        is_good = (codes == [0, 0, 0] and [row[0] for row in rows] == [str(i + 1) for i in range(episodes)] and
                   len({row[1] for row in rows}) == episodes and all(map(math.isfinite, values)))
        print(f"{'passed' if is_good else 'FAILED'}: {KILLS} kills each of learner, worker and server (seed {SEED}), exit "
              f"codes {codes}, {len(rows)} of {episodes} episodes, {len({row[1] for row in rows})} different, "
              f"{sum(not math.isfinite(v) for v in values)} parameters not finite, {time.time() - start:.0f} s")
        if not is_good:
            print(learner.text())
        return 0 if is_good else 1


sys.exit(main())
