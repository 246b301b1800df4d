#!/usr/bin/python3
"""What executors cost: executors_bench.py PART [ARGUMENTS]

calls ENGINE [WORKERS] [CALLS] [UNDER_WAY]
    calls that sleep for 20 ms, with 64 workers, 2,000 calls and as many under way as workers, unless said otherwise.
    ENGINE: none, threads (of a ThreadPoolExecutor), or dask (4 processes of 16 threads here)
slices N [PROCESSES ...]
    an Ising grid of N x N in slices of 64 MB, by pools of so many processes (0 1 2)

Calls: as a share of the engine's own bulk map, of the ideal, and the processor time of the coordinator, with that of
the search itself (functions that cost nothing, with the same answers) and that of the bulk map beside it.
Wall-clock times are meaningful only on an otherwise idle machine; processor times are printed for others.
PYTHONPATH names the module.
"""
import concurrent.futures
import contextlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time

import treesample as ts

NAMES = [f"x{i}" for i in range(10)]
NUM_STATES = 5
SECONDS = 0.02


def value(states):
    return -0.1 * sum(states) + 0.3 * states[0] * states[3]


def sleeping(*states):
    time.sleep(SECONDS)
    return -0.1 * sum(states) + 0.3 * states[0] * states[3]


def quick(*states):
    return value(states)


def model_of(function):
    model = ts.Model()
    model.factor(*(model.variable(name, NUM_STATES) for name in NAMES))(function)
    return model


@contextlib.contextmanager
def dask(workers):
    import distributed

    threads = max(1, workers // 4)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "scheduler.json")
        paths = os.pathsep.join([os.environ["PYTHONPATH"], os.path.dirname(os.path.abspath(__file__))])
        base = dict(env=dict(os.environ, PYTHONPATH=paths), stderr=subprocess.DEVNULL)
        begin = [sys.executable, "-m"]
        processes = [
            subprocess.Popen([*begin, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **base)
        ]
        while not os.path.exists(file):
            time.sleep(0.05)
        for _ in range(4):
            processes.append(
                subprocess.Popen(
                    [*begin, "distributed.cli.dask_worker", "--scheduler-file", file, "--no-nanny", "--no-dashboard",
                     "--nthreads", str(threads), "--local-directory", folder], **base
                )
            )
        try:
            with distributed.Client(scheduler_file=file) as client:
                client.wait_for_workers(4)
                yield client
        finally:
            for process in processes:
                process.kill()
                process.wait()


@contextlib.contextmanager
def pool(engine, workers):
    if engine == "none":
        yield None
    elif engine == "threads":
        with concurrent.futures.ThreadPoolExecutor(workers) as executor:
            yield executor
    else:
        with dask(workers) as client:
            yield client


def measured(work):
    wall, processor = time.monotonic(), time.process_time()
    result = work()
    return time.monotonic() - wall, time.process_time() - processor, result


def bulk(executor, rows):
    """The engine's own map, as its users would write it."""
    if hasattr(executor, "gather"):
        return executor.gather(executor.map(sleeping, *zip(*rows), pure=False))
    return list(executor.map(sleeping, *zip(*rows)))


def calls(engine, workers=64, count=2000, under_way=None):
    how = dict(calls=count, select="mass", noise="no", workers=under_way or workers)
    _, of_search, _ = measured(lambda: model_of(quick).infer(**how))
    with pool(engine, workers) as executor:
        rows = [[(i // NUM_STATES**v) % NUM_STATES for v in range(len(NAMES))] for i in range(count)]
        if executor is not None:
            bulk(executor, rows[:workers])
            wall, processor, _ = measured(lambda: bulk(executor, rows))
            print(f"{engine}: bulk map {count / wall:.0f} calls a second, {1e3 * processor / count:.3f} ms of processor time each")
        model_of(sleeping).infer(**{**how, "calls": workers}, executor=executor)
        own_wall, own, answer = measured(lambda: model_of(sleeping).infer(**how, executor=executor))
    rate = answer.spent["calls"] / own_wall
    print(
        f"{engine}: infer {rate:.0f} calls a second, {rate * SECONDS / workers:.2f} of the ideal, "
        f"{1e3 * own / count:.3f} ms of processor time each, {1e3 * of_search / count:.3f} of it for threads and the search"
    )
    if executor is not None:
        print(f"{engine}: {rate * wall / count:.2f} of the bulk map, {1e3 * (own - processor) / count:.3f} ms beside it")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def slices(size, processes=(0, 1, 2)):
    model = ts.families.ising(n=size, seed=1)
    how = dict(method="exact", memory="64M", time=0, seed=0, threads=1)
    for count in processes:
        before, processor = children_seconds(), time.process_time()
        start = time.monotonic()
        if count == 0:
            answer = model.infer(**how)
        else:
            context = multiprocessing.get_context("spawn")
            with concurrent.futures.ProcessPoolExecutor(count, mp_context=context) as executor:
                answer = model.infer(executor=executor, workers=2, **how)
                wall = time.monotonic() - start
        wall = wall if count else time.monotonic() - start
        own, children = time.process_time() - processor, children_seconds() - before
        print(f"{count or 'no'} processes: {wall:.2f} s, processor time {own:.2f} here, {children:.2f} there; {answer.method}")
        print(f"  log Z {answer.log_z.estimate!r}")


if __name__ == "__main__":
    part, *given = sys.argv[1:]
    if part == "calls":
        calls(given[0], *map(int, given[1:]))
    else:
        slices(int(given[0]), *([tuple(map(int, given[1:]))] if given[1:] else []))
