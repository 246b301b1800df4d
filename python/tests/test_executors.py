"""Who makes the calls, and who sums the slices: any executor, with the same bits."""

import concurrent.futures
import math
import threading
import time

import pytest
import treesample as ts


def simulate(a, b, c):
    return math.sin(a + 2.0 * b) - 0.1 * c


def model_of(function=simulate, **how):
    model = ts.Model()
    model.factor(*(model.variable(name, 4) for name in "abc"), **how)(function)
    return model


def bits(answer):
    return float(answer.log_z), answer.best, answer.marginals.to_numpy().tolist()


def test_the_bits_do_not_depend_on_who_calls():
    how = dict(calls=40, workers=4, seed=1, oracle_order="submission")
    with concurrent.futures.ThreadPoolExecutor(1) as one, concurrent.futures.ThreadPoolExecutor(7) as seven:
        by_one, by_seven = model_of().infer(executor=one, **how), model_of().infer(executor=seven, **how)
    assert bits(by_one) == bits(by_seven) == bits(model_of().infer(**how))


def test_no_thread_waits_for_a_single_call():
    most = 0

    def slow(a, b, c):
        nonlocal most
        most = max(most, threading.active_count())
        time.sleep(0.002)
        return simulate(a, b, c)

    before = threading.active_count()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        model_of(slow).infer(calls=64, workers=32, executor=pool)
    assert most <= before + 3


def test_a_witness_comes_back_from_elsewhere():
    def works(a, b, c):
        return (0.0, ["a"]) if a >= 2 else (-math.inf, ["a"])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answer = model_of(works, monotone=True).infer(calls=60, executor=pool, noise="no")
    assert math.isclose(float(answer.log_z), math.log(32), abs_tol=1e-9)
    assert answer.spent["functions"][0]["paid"] < 30  # without witnesses all 64


def test_an_empty_witness_says_that_nothing_matters():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answer = model_of(lambda a, b, c: (0.0, []), monotone=True).infer(calls=60, executor=pool, noise="no")
    assert answer.log_z.exact and answer.spent["functions"][0]["paid"] <= 2


def test_what_cannot_call_anything_is_refused():
    with pytest.raises(ts.OptionError, match="executor: is a int, allowed are a concurrent.futures.Executor and"):
        model_of().infer(calls=10, executor=4)


SLICED = dict(method="exact", memory="8K", seed=0, time=0)


def test_slices_are_summed_by_any_executor_to_the_same_bits():
    model = ts.families.ising(n=8, seed=3)
    here = model.infer(**SLICED)
    with concurrent.futures.ThreadPoolExecutor(1) as one, concurrent.futures.ThreadPoolExecutor(3) as three:
        by_one = model.infer(executor=one, workers=8, **SLICED)
        by_three = model.infer(executor=three, workers=8, **SLICED)
    assert bits(by_one) == bits(by_three)
    assert by_three.log_z.exact and by_three.best_is_optimal
    assert math.isclose(float(here.log_z), float(by_three.log_z), rel_tol=1e-12)
    assert abs(here.marginals.to_numpy() - by_three.marginals.to_numpy()).max() < 1e-9


def test_a_worker_that_cannot_work_ends_the_run_with_its_error():
    class Broken(concurrent.futures.Executor):
        def submit(self, function, *arguments):
            future = concurrent.futures.Future()
            future.set_exception(MemoryError("no more"))
            return future

    with pytest.raises(MemoryError, match="no more") as caught:
        ts.families.ising(n=8, seed=3).infer(executor=Broken(), workers=2, **SLICED)
    assert hasattr(caught.value, "answer")


def test_a_time_limit_ends_slices_elsewhere():
    class Lost(concurrent.futures.Executor):
        def submit(self, function, *arguments):
            return concurrent.futures.Future()

    start = time.monotonic()
    with pytest.raises(ts.Error, match="seconds are not enough"):
        ts.families.ising(n=8, seed=3).infer(executor=Lost(), workers=2, **{**SLICED, "time": 0.5})
    assert time.monotonic() - start < 5


# ---- Dask: a real scheduler and workers, in this process (in processes of their own: tests_cluster)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (python3-distributed)")
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=2, dashboard_address=None, set_as_default=False
    ) as client:
        yield client


def test_dask_counts_its_workers_and_makes_all_calls(client):
    answer = model_of().infer(calls=40, seed=1, executor=client, oracle_order="submission")
    assert "4 programs at a time" in answer.method
    assert bits(answer) == bits(model_of().infer(calls=40, seed=1, workers=4, oracle_order="submission"))
    assert bits(model_of().infer(calls=40, seed=1, executor=client.get_executor(), oracle_order="submission")) == bits(answer)


def test_exceptions_and_batches_come_back_from_dask(client):
    class Diverged(Exception):
        pass

    def bad(a, b, c):
        raise Diverged("no steady state")

    with pytest.raises(Diverged, match="no steady state"):
        model_of(bad).infer(calls=10, executor=client)
    answer = model_of(lambda rows: [simulate(*row) for row in rows.tolist()], batch=8).infer(calls=100, executor=client)
    assert answer.log_z.exact
    skipped = model_of(bad, on_failure="skip", max_failure_share=1.0).infer(calls=64, executor=client, noise="no")
    assert skipped.spent["functions"][0]["failed"] == 64


def test_dask_sums_slices(client):
    model = ts.families.ising(n=8, seed=3)
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        assert bits(model.infer(executor=client, workers=8, **SLICED)) == bits(model.infer(executor=one, workers=8, **SLICED))
