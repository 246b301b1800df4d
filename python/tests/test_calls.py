"""Expensive functions: exactly as many calls as were allowed, monotone ones, and programs on other machines."""
import json
import math
import random
import shutil
import subprocess
import time
import zlib

import numpy as np
import pytest

import treesample as ts


def hidden_chain(seed, num_variables, num_states, counted, scopes=False, batch=None):
    """A chain in one function of all variables, or in one for each pair; `counted` gets the states of each call."""
    numbers = random.Random(seed)
    tables = [
        [[numbers.gauss(0, 1) for _ in range(num_states)] for _ in range(num_states)] for _ in range(num_variables - 1)
    ]
    model = ts.Model()
    x = [model.variable(f"x{i}", num_states) for i in range(num_variables)]
    if scopes:
        for i, table in enumerate(tables):
            @model.factor(x[i], x[i + 1])
            def pair(a, b, i=i, table=table):
                counted.append((i, a, b))
                return table[a][b]
        return model

    def value(states):
        counted.append(tuple(states))
        return sum(table[a][b] for table, a, b in zip(tables, states, states[1:]))

    if batch is None:
        model.factor(*x)(lambda *states: value(states))
    else:
        model.factor(*x, batch=batch)(lambda rows: [value([int(s) for s in row]) for row in rows])
    return model


@pytest.mark.parametrize("size, how, options", [
    ((10, 3), {}, {"workers": 8}),
    ((10, 3), {"batch": 64}, {"workers": 2}),
    ((20, 4), {}, {"workers": 4}),
    ((8, 3), {}, {"select": "mass", "workers": 4}),
    ((30, 3), {"scopes": True}, {"workers": 4}),
    ((10, 3), {}, {"question": "best", "workers": 4}),
])
def test_extending_makes_as_many_calls_as_were_said(size, how, options):
    calls = []
    answer = hidden_chain(1, *size, calls, **how).infer(calls=50, **options)
    for more in (50, 19):
        before = len(calls)
        assert before <= 119
        answer = answer.extend(calls=more)
        assert 0 < len(calls) - before <= more
    assert len(calls) - len(set(calls)) <= 3 * 2 * (size[0] - 1 if how.get("scopes") else 1)  # two of each run look for noise


def test_extending_keeps_calls_for_errors():
    calls = []
    first = hidden_chain(3, 10, 3, calls).infer(calls=150, workers=8)
    second = first.extend(calls=150)
    assert 290 <= len(calls) <= 300
    assert second.log_z.sampled_interval is not None


@pytest.mark.parametrize("limits", [{"budget": 60, "budget_unit": "call"}, {"budget": 60}])
def test_a_run_with_a_budget_is_extended_by_calls(limits):
    calls = []
    first = hidden_chain(3, 8, 3, calls).infer(**limits, noise="no")
    before = len(calls)
    first.extend(calls=40)
    assert 0 < len(calls) - before <= 40
    assert len(set(calls)) == len(calls)


# Functions without a cost are called directly; what was not called before is a new call of them, too.
@pytest.mark.parametrize("options", [{}, {"select": "mass"}, {"method": "metropolis"}, {"method": "smc"}])
def test_new_calls_bind_functions_without_a_cost(options):
    calls = []
    model = ts.Model()
    x = [model.variable(f"x{i}", 3) for i in range(4)]
    for v, w in zip(x, x[1:]):
        def pair(a, b, v=v):
            calls.append((v.index, a, b))
            return 0.1 * a * b

        model.factor(v, w, cost=0)(pair)
    model.infer(new_calls=7, calls=200, **options)
    assert 0 < len(calls) <= 7


@pytest.mark.parametrize("cost", [None, 0])
@pytest.mark.parametrize("explain", [False, True])
def test_monotone_functions_certify(cost, explain):
    model = ts.Model()
    parts = [model.variable(name, ["broken", "works"]) for name in "abc"]
    for part in parts:
        model.table([part], [0.1, 0.9])
    calls = []

    @model.factor(*parts, monotone=True, cost=cost, log_max=0.0)
    def works(a, b, c):
        states = {"a": a == "works", "b": b == "works", "c": c == "works"}
        calls.append(tuple(states.values()))
        is_fine = sum(states.values()) >= 2
        value = 0.0 if is_fine else -5.0
        if not explain:
            return value
        enough = [name for name, state in states.items() if state == is_fine][:2]
        return value, enough

    answer = model.infer(method="monotone", calls=8)
    fine = 0.9**3 + 3 * 0.9**2 * 0.1
    expected = math.log(fine + (1 - fine) * math.exp(-5.0))
    assert answer.log_z.lower <= expected <= answer.log_z.upper
    assert answer.log_z.upper - answer.log_z.lower < 1e-9
    # With witnesses two calls tell what six configurations are worth.
    assert len(set(calls)) <= (6 if explain else 8)
    falling = ts.Model()
    x = falling.variable("x", 3)
    falling.factor(x, monotone={"x": "decreasing"})(lambda x: -1.0 * x)
    assert falling.infer(calls=10).log_z.exact


def test_what_is_not_monotone_is_said():
    model = ts.Model()
    x, y = model.variable("x", 4), model.variable("y", 4)
    model.factor(x, y, monotone=True)(lambda x, y: -1.0 * x * y)
    with pytest.raises(ts.Error, match="monotone"):
        model.infer(method="monotone", calls=16)
    for wrong in ({"x": "increasing"}, {"x": "up", "y": "increasing"}, "increasing"):
        with pytest.raises(ts.Error, match="increasing"):
            model.factor(x, y, monotone=wrong)
    model = ts.Model()
    x = model.variable("x", 2)
    model.factor(x, monotone=True)(lambda x: (0.0, ["nothing"]))
    with pytest.raises(ValueError, match="the witness names nothing"):
        model.infer(method="monotone", calls=4)


def new_users_model(seed, num_states=3):
    """Ten variables; of a hundred states two raise, two are NaN. The model, and log Z and marginals of the others."""
    numbers = np.random.default_rng(seed)
    main = numbers.standard_normal((10, num_states))
    pairs = [(*numbers.choice(10, 2, replace=False), numbers.standard_normal((num_states, num_states))) for _ in range(12)]

    def log_density(rows):
        return main[np.arange(10), rows].sum(axis=1) + sum(table[rows[:, a], rows[:, b]] for a, b, table in pairs)

    def fate(states):
        return zlib.crc32(repr((seed, *map(int, states))).encode()) % 100

    model = ts.Model()

    @model.factor(*[model.variable(f"x{i}", num_states) for i in range(10)], on_failure="skip")
    def simulate(*states):
        if fate(states) < 2:
            raise RuntimeError("the solver diverged")
        return math.nan if fate(states) < 4 else log_density(np.array([states]))[0]

    rows = np.array(list(np.ndindex(*[num_states] * 10)))
    log_values = np.where([fate(row) < 4 for row in rows], -math.inf, log_density(rows))
    log_z = np.logaddexp.reduce(log_values)
    weights = np.exp(log_values - log_z)
    return model, log_z, [[weights[rows[:, v] == s].sum() for s in range(num_states)] for v in range(10)]


def test_a_new_users_path(tmp_path):
    """200 calls, 200 more, the page. How often intervals cover the truth is counted by tests/statistical; here once in
    each stage. Fixed seeds, the same bits."""
    covered = [[], []]
    for seed in range(2):
        model, log_z, marginals = new_users_model(seed)
        journal = tmp_path / f"{seed}.journal"
        first = model.infer(calls=200, workers=8, journal=journal, seed=seed)
        second = first.extend(calls=200)
        assert sum(f.evaluations + f.failures for f in ts.read_journal(journal).factors) == 400
        assert second.spent["functions"][0]["failed"] > 0
        for stage, answer in enumerate((first, second)):
            assert answer.log_z.lower <= log_z
            if answer.log_z.sampled_interval is None:  # it says that it is a guess
                continue
            lower, upper = answer.log_z.sampled_interval
            covered[stage].append(lower <= log_z <= upper)
        assert second.log_z.sampled_interval is not None
        for v, truth in enumerate(marginals):
            assert np.abs(second.marginals.to_numpy()[v] - truth).max() < 0.25
        page = second.to_html()
        assert page.startswith("<!doctype html>") and "x9" in page
    assert all(sum(stage) >= len(stage) - 1 for stage in covered), covered


def program_model(folder):
    """Four variables and a program over all of them."""
    (folder / "mine.py").write_text("def f(a, b, c, d):\n    return -0.3 * sum(map(int, (a, b, c, d))) + 0.2 * int(a) * int(d)\n")
    names = ["a", "b", "c", "d"]
    model = {
        "variables": [{"name": name, "states": 3} for name in names],
        "programs": {"p": {"python": "mine.py"}},
        "factors": [{"name": "f", "scope": names, "program": "p"}],
    }
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    return path


@pytest.fixture
def server(tmp_path):
    """A Redis server at a socket of its own."""
    if shutil.which("redis-server") is None:
        pytest.skip("there is no redis-server")
    socket = tmp_path / "s"
    process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(tmp_path)],
                               stdout=subprocess.DEVNULL)
    while not socket.exists():
        assert process.poll() is None
        time.sleep(0.02)
    yield f"unix:{socket}"
    process.terminate()
    process.wait()


def test_workers_elsewhere_answer(program, server, tmp_path):
    path = program_model(tmp_path)
    expected = ts.read(path, allow_programs=True).infer(calls=60, oracle_order="submission", workers=4, noise="no")
    worker = subprocess.Popen([program, "worker", "--model", str(path), "--redis", server, "--run", "pumps", "--workers", "2",
                               "--allow-programs"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "run.journal"
    try:
        answer = ts.read(path, allow_programs=True).infer(calls=60, oracle_order="submission", workers=4, redis=server,
                                                          run="pumps", journal=journal)
        assert answer.log_z == expected.log_z and answer.spent["calls"] == expected.spent["calls"]
        assert ts.read_journal(journal).factors[0].evaluations == expected.spent["calls"]
        worker.wait(60)  # it ends with the run
    finally:
        worker.terminate()
        worker.wait()


def test_what_workers_elsewhere_cannot_do_is_said(tmp_path):
    model = ts.Model()
    model.factor(model.variable("a", 3))(lambda a: 0.0)
    with pytest.raises(ts.OptionError, match="redis: workers elsewhere run programs of a model file"):
        model.infer(calls=10, redis="redis://127.0.0.1")
    with pytest.raises(ts.OptionError, match="run is for workers on other machines"):
        model.infer(calls=10, run="pumps")
    programs = ts.read(program_model(tmp_path), allow_programs=True)
    with pytest.raises(ts.OptionError, match="redis: has no field 'pasword_file'; did you mean 'password_file'"):
        programs.infer(calls=10, redis={"pasword_file": "secret"})
    start = time.monotonic()
    with pytest.raises(ts.Error, match="nowhere"):
        programs.infer(calls=10, redis={"address": f"unix:{tmp_path}/nowhere", "patience": 0.5})
    assert time.monotonic() - start < 60
