#!/usr/bin/env python3
"""Kills of workers, coordinators and servers of a run of questions: run_worker_kill_tests.py PROGRAM COUNT [SEED]

COUNT kills of each. Every run ends with the bits of a local one, and pays twice only for what was under way.
"""
import concurrent.futures
import random
import signal
import sys

from checks import check, finish
from worker_run import WorkerLab, local_answer

COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 3
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
UNDER_WAY = 3
EXPECTED, NUM_CALLS = local_answer()
in_time = []  # kills that met something that was still running


def check_end(lab, coordinator, what, num_extra):
    check(coordinator.wait() == 0, f"{what}: the coordinator ends with 0", coordinator.text())
    if coordinator.process.returncode != 0:
        return
    check(lab.answer() == EXPECTED, f"{what}: the same bits")
    calls = lab.calls()
    check(len(set(calls)) == NUM_CALLS, f"{what}: every question was asked", f"{len(set(calls))}")
    check(len(calls) <= NUM_CALLS + num_extra, f"{what}: paid twice only for what was under way",
          f"{len(calls)} calls, {NUM_CALLS} without a kill")
    counts = lab.program_counts()
    check(counts["paid"] + counts["from_journal"] == NUM_CALLS, f"{what}: no answer counts twice", f"{counts}")


def kill_worker(lab, draw, what):
    coordinator = lab.coordinator()
    workers = [lab.answerer() for _ in range(2)]
    lab.wait_for_calls(draw.randrange(NUM_CALLS - 5), coordinator)
    killed = draw.choice(workers)
    killed.kill()
    in_time.append(killed.process.returncode == -signal.SIGKILL)
    lab.answerer()
    check_end(lab, coordinator, what, UNDER_WAY)


def kill_coordinator(lab, draw, what):
    coordinator = lab.coordinator()
    for _ in range(2):
        lab.answerer()
    lab.wait_for_calls(draw.randrange(NUM_CALLS - 5), coordinator)
    coordinator.kill()
    in_time.append(coordinator.process.returncode == -signal.SIGKILL)
    check_end(lab, lab.coordinator(), what, UNDER_WAY)


def kill_server(lab, draw, what):
    coordinator = lab.coordinator()
    for _ in range(2):
        lab.answerer()
    lab.wait_for_calls(draw.randrange(NUM_CALLS - 5), coordinator)
    in_time.append(coordinator.process.poll() is None)
    lab.server.kill()
    lab.server.start()
    check_end(lab, coordinator, what, UNDER_WAY)


def kill_all(lab, draw, what):
    coordinator = lab.coordinator()
    workers = [lab.answerer() for _ in range(3)]
    num_kills = 0
    for share in (0.3, 0.7):
        lab.wait_for_calls(int(share * NUM_CALLS * draw.random()), coordinator)
        for kill in draw.sample((coordinator.kill, lab.server.kill, workers.pop().kill), 3):
            kill()
        num_kills += 1
        lab.server.start()
        coordinator = lab.coordinator()
    lab.answerer()
    check_end(lab, coordinator, what, num_kills * 2 * UNDER_WAY)


def run(item):
    work, number = item
    what = f"{work.__name__} {number}"
    try:
        with WorkerLab() as lab:
            work(lab, random.Random(1000 * SEED + number), what)
    except (Exception, SystemExit) as error:
        check(False, what, repr(error))


check(NUM_CALLS > 30, "there is something to kill", f"{NUM_CALLS}")
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    kinds = (kill_worker, kill_coordinator, kill_server, kill_all)
    list(pool.map(run, [(kind, number) for number in range(COUNT) for kind in kinds]))
check(sum(in_time) > len(in_time) / 2, "kills that came in time", f"{sum(in_time)} of {len(in_time)}")
print(f"{sum(in_time)} of {len(in_time)} kills came in time, and {COUNT} runs lost all of them twice")
finish()
