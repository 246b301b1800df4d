"""Dask: a real scheduler, workers in processes of their own, killed, joining and leaving."""

import concurrent.futures
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest
import simulator
import treesample as ts
from simulator import bits

RUN = dict(calls=400, seed=1, oracle_order="submission", noise="no")


def here(workers):
    return simulator.model().infer(workers=workers, **RUN)


def test_half_of_the_workers_are_killed(cluster, client, tmp_path):
    workers = [cluster.worker(8) for _ in range(4)]
    client.wait_for_workers(4)
    expected = here(32)

    def kill():
        time.sleep(0.15)
        for worker in workers[:2]:
            cluster.kill(worker)

    thread = threading.Thread(target=kill)
    thread.start()
    answer = simulator.model().infer(executor=client, workers=32, journal=tmp_path / "run.journal", **RUN)
    thread.join()
    assert bits(answer) == bits(expected)
    assert answer.spent["functions"][0]["paid"] == expected.spent["functions"][0]["paid"]
    assert ts.read_journal(tmp_path / "run.journal").factors[0].evaluations == answer.spent["functions"][0]["paid"]
    assert len(client.nthreads()) == 2


def test_fifty_random_kills_while_others_join(cluster, client):
    draw = random.Random(int(os.environ.get("TREESAMPLE_SEED", "1")))
    alive = [cluster.worker(4) for _ in range(4)]
    client.wait_for_workers(4)
    expected = here(16)
    over, num_kills = threading.Event(), 0

    def harass():
        nonlocal num_kills
        while num_kills < 50 and not over.is_set():
            alive.append(cluster.worker(4))
            client.wait_for_workers(2)
            cluster.kill(alive.pop(draw.randrange(len(alive) - 1)))
            num_kills += 1

    thread = threading.Thread(target=harass)
    thread.start()
    runs = 0
    while num_kills < 50 and thread.is_alive():
        answer = simulator.model().infer(executor=client, workers=16, **RUN)
        assert bits(answer) == bits(expected)
        assert answer.spent["functions"][0]["paid"] == expected.spent["functions"][0]["paid"]
        assert answer.spent["functions"][0]["failed"] == 0
        runs += 1
    over.set()
    thread.join()
    assert runs >= 3 and num_kills == 50


def test_workers_that_join_are_used(cluster, client, tmp_path):
    cluster.worker(1)
    client.wait_for_workers(1)

    def join():
        time.sleep(0.5)
        for _ in range(3):
            cluster.worker(8)

    thread = threading.Thread(target=join)
    thread.start()
    journal = tmp_path / "run.journal"
    answer = simulator.model().infer(executor=client, calls=1296, seed=1, noise="no", journal=journal)
    thread.join()
    assert answer.log_z.exact
    with sqlite3.connect(journal) as rows:
        workers = [worker for worker, in rows.execute("SELECT DISTINCT worker FROM evaluation")]
    assert len(workers) >= 3  # host and process: those that joined have worked


def test_a_worker_is_killed_while_it_sums_slices(cluster, client):
    """All that had the model are: another one is there in time."""
    model = ts.families.ising(n=18, seed=3)
    how = dict(method="exact", memory="1M", time=0, workers=8, seed=0)
    workers = [cluster.worker(1) for _ in range(2)]
    client.wait_for_workers(2)
    expected = bits(model.infer(executor=client, **how))

    def kill():
        time.sleep(0.3)
        cluster.kill(workers[0])
        cluster.kill(workers[1])
        cluster.worker(1)

    thread = threading.Thread(target=kill)
    thread.start()
    assert bits(model.infer(executor=client, **how)) == expected
    thread.join()


def test_a_scheduler_that_is_killed_ends_the_run_with_the_answer_so_far(cluster, client, tmp_path):
    cluster.worker(4)
    client.wait_for_workers(1)

    killed = []

    def kill(report):
        if report["calls"] >= 40 and not killed:
            killed.append(cluster.kill(cluster.processes[0]))

    with pytest.raises(concurrent.futures.BrokenExecutor) as caught:
        simulator.model().infer(
            executor=client, workers=8, journal=tmp_path / "j", progress=kill, **{**RUN, "calls": 1200}
        )
    paid = caught.value.answer.spent["functions"][0]["paid"]
    assert 0 < paid == ts.read_journal(tmp_path / "j").factors[0].evaluations


def test_a_client_that_is_killed_pays_nothing_twice(cluster, client, tmp_path):
    """Twenty times: the coordinator dies, and the next one goes on from its journal."""
    for _ in range(2):
        cluster.worker(8)
    client.wait_for_workers(2)
    text = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import distributed, simulator
with distributed.Client(scheduler_file={str(cluster.file)!r}) as client:
    answer = simulator.model().infer(executor=client, workers=16, journal={str(tmp_path / 'j')!r}, **{RUN!r})
    print(repr(simulator.bits(answer)))
"""
    draw = random.Random(2)
    kills = 0
    while True:
        process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        if kills < 20:
            while not (tmp_path / "j").exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(draw.uniform(0.02, 0.2))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                continue
        out, _ = process.communicate(timeout=300)
        assert out.strip() == repr(bits(here(16)))
        break
    assert kills >= 3
    assert ts.read_journal(tmp_path / "j").factors[0].evaluations <= here(16).spent["functions"][0]["paid"] + 16 * kills
