"""The same answers as the program, functions that cost, interruptions, threads."""
import concurrent.futures
import gc
import json
import math
import multiprocessing
import os
import subprocess
import threading
import time
import weakref

import numpy as np
import pytest

import treesample as ts

# Processes begin without the threads of a run, which a copy of this one would have locks of.
CLEAN = multiprocessing.get_context("forkserver")


@pytest.mark.parametrize("options", [{}, {"method": "exact"}, {"select": "q-uct", "budget": 2000, "seed": 5},
                                     {"select": "gap", "budget": 2000, "samples": 5}, {"method": "gibbs", "budget": 3000}])
def test_answers_are_those_of_the_program_to_the_bit(options, program, models, tmp_path):
    for file in sorted(models.glob("*.uai"))[:3] + sorted(models.glob("*.bif"))[:2]:
        flags = [f"--{name}={value}" for name, value in options.items()]
        out = tmp_path / "answer.json"
        subprocess.run([program, "infer", str(file), "--json", str(out), "--quiet", *flags], check=True,
                       stdout=subprocess.DEVNULL)
        expected = json.loads(out.read_text())
        answer = ts.read(file).infer(**options)
        found = expected["log_z"]
        for name in ("estimate", "lower", "upper"):
            if found.get(name) is not None:
                assert getattr(answer.log_z, name) == float(found[name]), (file, options, name)
        assert answer.stop == expected["stop"]


def make_expensive(calls, log_max=None, on_failure="stop", bad=None):
    """Five variables with three states, one function of all of them; `calls` gets the states of every call."""
    model = ts.Model()
    variables = [model.variable(f"x{i}", ["low", "mid", "high"]) for i in range(5)]

    @model.factor(*variables, log_max=log_max, on_failure=on_failure, max_failure_share=0.5)
    def simulate(*states):
        calls.append(states)
        if bad is not None and states[0] == "high":
            return bad()
        return -0.5 * sum(state == "mid" for state in states)

    return model


def test_functions_are_called_with_labels_and_never_twice_where_noise_is_excluded():
    calls = []
    model = make_expensive(calls)
    answer = model.infer(calls=1000, noise="no")
    assert len(calls) == len(set(calls)) == 243
    assert answer.log_z.exact
    expected = 5 * math.log(2 + math.exp(-0.5))
    assert math.isclose(float(answer.log_z), expected, abs_tol=1e-9)
    assert math.isclose(answer["x3"]["mid"], math.exp(-0.5) / (2 + math.exp(-0.5)), abs_tol=1e-9)


def test_calls_are_the_unit_and_extend_pays_nothing_twice():
    calls = []
    answer = make_expensive(calls).infer(calls=40, noise="no")
    assert 0 < len(calls) <= 40
    more = answer.extend(calls=40)
    assert 40 < len(calls) == len(set(calls)) <= 120
    assert more.spent["functions"][0]["paid"] == len(calls)
    assert more.spent["calls"] <= 80


def test_journals_survive_the_process(tmp_path):
    journal = tmp_path / "run.journal"
    calls = []
    kept = make_expensive(calls).infer(calls=30, journal=journal, noise="no")
    first = len(calls)
    assert 0 < first <= 30
    again = make_expensive(calls).infer(calls=30, journal=journal, noise="no")
    assert len(calls) == len(set(calls))
    assert again.spent["functions"][0]["from_journal"] > 0
    kept.extend(calls=10)
    assert len(calls) == len(set(calls))


def test_runs_are_let_go_of():
    """The library keeps the functions, and they must not keep the run."""
    class Big:
        pass

    big = Big()
    gone = weakref.ref(big)
    model = ts.Model()
    model.factor(model.variable("a", 3))(lambda a, big=big: 0.0)
    answer = model.infer(calls=10)
    del big, model, answer
    gc.collect()
    assert gone() is None


def simulate_in_process(a, b):
    return float(np.sin(a + 2 * b))


def test_executors_run_the_functions():
    model = ts.Model()
    model.factor(model.variable("a", 4), model.variable("b", 4))(simulate_in_process)
    expected = model.infer(calls=100)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        by_threads = model.infer(calls=100, executor=pool)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=CLEAN) as pool:
        by_processes = model.infer(calls=100, executor=pool)
    for answer in (by_threads, by_processes):
        assert answer.log_z.exact
        assert math.isclose(float(answer.log_z), float(expected.log_z), abs_tol=1e-12)


def test_exceptions_arrive_as_themselves_with_the_states():
    class SolverDiverged(Exception):
        pass

    def bad():
        raise SolverDiverged("no steady state")

    with pytest.raises(SolverDiverged, match="no steady state") as caught:
        make_expensive([], bad=bad).infer(calls=200)
    assert hasattr(caught.value, "answer")
    if hasattr(caught.value, "__notes__"):
        assert "x0='high'" in caught.value.__notes__[0]


def test_functions_that_cost_nothing_are_called_directly():
    model = ts.Model()
    a, b = model.variable("a", 3), model.variable("b", ["x", "y"])

    @model.factor(a, b, cost=0)
    def cheap(a, b):
        if a == 2 and b == "y":
            raise ZeroDivisionError("here")
        return 1.0 * a

    with pytest.raises(ZeroDivisionError, match="here") as caught:
        model.infer(budget=1000)
    assert caught.value.answer.log_z.lower > 0.0 and "a=2, b='y'" in caught.value.__notes__[0]
    answer = model.infer(budget=1000, evidence={"b": "x"})
    assert math.isclose(float(answer.log_z), math.log(1 + math.e + math.e**2), abs_tol=1e-12)


@pytest.mark.parametrize("bad", [lambda: math.nan, lambda: 1 / 0])
def test_failures_have_a_rule(bad):
    model = make_expensive([], on_failure="impossible", bad=bad)
    answer = model.infer(calls=300)
    assert answer["x0"]["high"] == 0.0
    model = make_expensive([], on_failure=-1.0, bad=bad)
    assert model.infer(calls=300)["x0"]["high"] > 0.0


def test_batches_get_arrays():
    model = ts.Model()
    a, b = model.variable("a", ["x", "y"]), model.variable("b", 3)
    shapes = []

    @model.factor(a, b, batch=16)
    def surrogate(states):
        shapes.append((states.dtype, states.shape[1]))
        return states[:, 0] * 1.0 - states[:, 1]

    answer = model.infer(calls=100)
    expected = math.log(sum(math.exp(i - j) for i in range(2) for j in range(3)))
    assert math.isclose(float(answer.log_z), expected, abs_tol=1e-12)
    assert set(shapes) == {(np.dtype(np.int32), 2)}


def test_the_interpreter_is_free_while_it_runs():
    model = ts.families.ising(n=25, seed=2)
    counted = 0
    is_over = threading.Event()

    def count():
        nonlocal counted
        while not is_over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    model.infer(time=1.0)
    is_over.set()
    thread.join()
    assert counted > 20


def test_progress_is_told_and_can_stop():
    reports = []
    model = ts.families.ising(n=25, seed=3)
    model.infer(time=1.5, progress=reports.append)
    assert reports and all(isinstance(r["phase"], str) and r["seconds"] >= 0 for r in reports)

    class Enough(Exception):
        pass

    def stop(report):
        raise Enough

    with pytest.raises(Enough):
        model.infer(time=60, progress=stop)


def test_a_tree_search_certifies_what_it_has_evaluated_at_any_moment():
    reports = []
    model = ts.families.ising(n=6, seed=3)
    answer = model.infer(method="tree", budget=300_000, importance=0, progress=reports.append)
    lowers = [r["lower"] for r in reports if r["lower"] is not None]
    assert lowers and lowers == sorted(lowers)
    assert lowers[-1] <= answer.log_z.lower <= model.infer().log_z.upper
    assert answer.log_z.lower > answer.best_log_density + 1.0, "more than the best configuration alone"


def test_the_plan_can_be_seen(sprinkler):
    assert "exact" in sprinkler.plan(time=5)
    assert sprinkler.infer().plan


def test_memory_does_not_grow(sprinkler):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(100):
        sprinkler.infer()
    before = resident()
    for _ in range(1000):
        sprinkler.infer()
    assert resident() - before < 20e6


class Later:
    """What dask or mpi4py hand out: no Future of the standard library, but one in what it can do."""

    def __init__(self, function, arguments):
        self._thread = threading.Thread(target=self._work, args=(function, arguments))
        self._thread.start()

    def _work(self, function, arguments):
        time.sleep(0.15)  # longer than one wait
        self._value = function(*arguments)

    def done(self):
        return not self._thread.is_alive()

    def cancel(self):
        return False

    def result(self, timeout=None):
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError
        return self._value


class LaterExecutor:
    num_workers = 6

    def submit(self, function, *arguments):
        return Later(function, arguments)


def test_executors_are_taken_by_what_they_can_do():
    model = ts.Model()
    model.factor(model.variable("a", 3), model.variable("b", 4))(simulate_in_process)
    expected = model.infer(calls=100)
    answer = model.infer(calls=100, executor=LaterExecutor())
    assert "6 programs at a time" in answer.method
    assert math.isclose(float(answer.log_z), float(expected.log_z), abs_tol=1e-12)


def dies(a, b):
    os._exit(3)


def test_an_executor_that_breaks_down_is_no_failure_of_a_call(tmp_path):
    journal = tmp_path / "run.journal"
    model = ts.Model()
    model.factor(model.variable("a", 3), model.variable("b", 4), on_failure="impossible")(dies)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=CLEAN) as pool:
        with pytest.raises(concurrent.futures.BrokenExecutor) as caught:
            model.infer(calls=100, executor=pool, journal=journal)
    assert caught.value.answer is not None and caught.value.answer.spent["functions"][0]["paid"] == 0
    assert sum(f.failures + f.evaluations for f in ts.read_journal(journal).factors) == 0


def test_nothing_found_is_no_estimate():
    model = ts.Model()
    a, b, c = (model.variable(name, 2) for name in "abc")
    for pair in ((a, b), (b, c), (a, c)):
        model.table(pair, [[0.0, 1.0], [1.0, 0.0]])
    answer = model.infer(select="gap", budget=0, simplify=False, leaf="uniform")
    assert repr(answer).startswith("<treesample.Answer: certified in [-inf, 2.0794")
    assert repr(model.infer()).startswith("<treesample.Answer: log Z -inf, exact")


def test_failures_are_counted_and_recorded_and_can_be_tried_again(tmp_path):
    journal = tmp_path / "run.journal"
    server = {"is_broken": True}  # an enclosed constant would be part of the function

    def bad():
        return math.nan if server["is_broken"] else 0.0

    first = make_expensive([], on_failure="impossible", bad=bad).infer(calls=300, journal=journal)
    assert first.spent["functions"][0]["failed"] == 81
    seen = ts.read_journal(journal)
    assert seen.factors[0].failures == 81 and "x0" in seen.factors[0].variables
    assert "81 failed" in repr(seen) and "<table>" in seen._repr_html_()
    server["is_broken"] = False
    again = make_expensive([], on_failure="impossible", bad=bad).infer(calls=300, journal=journal)
    assert again["x0"]["high"] == 0.0
    retried = make_expensive([], on_failure="impossible", bad=bad).infer(calls=300, journal=journal, retry_failed=True)
    assert retried["x0"]["high"] > 0.0


def test_batches_are_full_and_the_others_keep_their_values():
    model = ts.Model()
    variables = [model.variable(f"x{i}", 4) for i in range(6)]
    sizes = []

    @model.factor(*variables, batch=64, on_failure=-3.0, max_failure_share=0.5)
    def by_rows(rows):
        sizes.append(len(rows))
        values = -0.1 * rows.sum(axis=1)
        values[rows[:, 0] == 3] = math.nan
        return values

    answer = model.infer(calls=5000, select="mass")
    assert max(sizes) == 64 and len(sizes) - sizes.count(1) < 100
    rows = np.array(list(np.ndindex(*[4] * 6)))
    values = np.where(rows[:, 0] == 3, -3.0, -0.1 * rows.sum(axis=1))
    assert math.isclose(float(answer.log_z), float(np.logaddexp.reduce(values)), abs_tol=1e-9)
    assert answer.spent["functions"][0]["failed"] == 4**5


def test_options_that_are_yes_or_no_take_booleans():
    model = ts.Model()
    x = model.variable("x", 3)
    model.table([x], [0.0, 1.0, 1.0])
    kept = model.infer(select="gap", simplify=False)
    assert "--simplify no" in str(kept.plan) and "--simplify yes" in str(model.infer(select="gap", simplify=True).plan)
    with pytest.raises(ts.Error, match="budget"):
        model.infer(budget=True)


def test_an_exception_is_one_line_of_the_journal(program, tmp_path):
    journal = tmp_path / "run.journal"

    def bad():
        raise ValueError("the mesh is bad\nin element 7")

    make_expensive([], on_failure="impossible", bad=bad).infer(calls=300, journal=journal)
    text = subprocess.run([program, "journal", journal, "--csv", "-"], capture_output=True, text=True, check=True).stdout
    assert "ValueError: the mesh is bad" in text and "\\x0a" not in text and "C++" not in text
