"""Models that repeat in time, against the whole model and against the forward algorithm."""

import math

import numpy as np
import pytest

import treesample as ts


def slice_of_two(seed=1):
    """Two hidden variables that influence each other, and one that is seen."""
    random = np.random.default_rng(seed)
    m = ts.Model()
    for name, states in (("a0", 2), ("b0", 3), ("a", 2), ("b", 3), ("seen", ["low", "high"])):
        m.variable(name, states)

    def table(*names):
        shape = [len(m[name].states) for name in names]
        m.table(names, random.dirichlet(np.ones(shape[-1]), size=shape[:-1]).reshape(shape))

    table("a0", "b0", "a")
    table("b0", "a", "b")
    table("a", "b", "seen")
    return m.repeat(links=[("a0", "a"), ("b0", "b")], start=[(["a0"], [0.3, 0.7]), (["b0"], [0.2, 0.5, 0.3])])


ROWS = {"seen": ["low", None, "high", "high", "low"], "b": [None, 2, None, None, 0]}


def whole(series, rows, count):
    """The answer of the unrolled model."""
    seen = {f"{name}@{t + 1}": state for name, column in rows.items() for t, state in enumerate(column[:count]) if state is not None}
    return series.unroll(len(rows["seen"])).infer(evidence=seen)


def test_filtering_is_the_whole_model_up_to_now():
    series = slice_of_two()
    filtered = series.filter(ROWS)
    for t in range(5):
        cut = {name: column[: t + 1] + [None] * (4 - t) for name, column in ROWS.items()}
        answer = whole(series, cut, 5)
        assert filtered.log_z[t] == pytest.approx(answer.log_z.estimate, abs=1e-12)
        for name in ("a", "b", "seen"):
            assert filtered[name][t] == pytest.approx(list(answer[f"{name}@{t + 1}"].values()), abs=1e-12)
        if t > 0:
            assert filtered["b0"][t] == pytest.approx(list(answer[f"b@{t}"].values()), abs=1e-12)
    # Step by step it is the same, with weights in place of a state as well.
    series.reset()
    for t in range(5):
        now = series.step({name: column[t] for name, column in ROWS.items() if column[t] is not None})
        assert list(now["a"].values()) == filtered["a"][t].tolist() and now.log_z == filtered.log_z[t]
    assert series.steps == 5 and len(series.step(seen=[0.5, 0.5])) == 5


def test_smoothing_is_the_whole_model():
    series = slice_of_two(2)
    smoothed = series.smooth(ROWS)
    answer = whole(series, ROWS, 5)
    for t in range(5):
        assert smoothed.log_z[t] == pytest.approx(answer.log_z.estimate, abs=1e-12)
        for name in ("a", "b", "seen"):
            assert smoothed[name][t] == pytest.approx(list(answer[f"{name}@{t + 1}"].values()), abs=1e-12)
    assert smoothed["a0"][0] == pytest.approx(list(answer["a0@1"].values()), abs=1e-12)


def test_the_best_path_is_that_of_the_whole_model():
    series = slice_of_two(3)
    path = series.best(ROWS)
    answer = whole(series, ROWS, 5)
    assert answer.best_is_optimal
    for name in ("a", "b", "seen"):
        assert path[name] == [answer.best[f"{name}@{t + 1}"] for t in range(5)]
    assert path["a0"][1:] == path["a"][:-1] and path["b"][1] == 2


def test_a_long_hidden_markov_model_is_the_forward_algorithm():
    random = np.random.default_rng(4)
    states, symbols, steps = 6, 4, 2000
    move, show = random.dirichlet(np.ones(states), states), random.dirichlet(np.ones(symbols), states)
    m = ts.Model()
    for name, count in (("before", states), ("now", states), ("symbol", symbols)):
        m.variable(name, count)
    m.table(["before", "now"], move)
    m.table(["now", "symbol"], show)
    series = m.repeat(links=[("before", "now")], start={"before": np.full(states, 1 / states)})
    seen = random.integers(0, symbols, size=steps)
    filtered = series.filter({"symbol": seen})
    forward, log_z = np.full(states, 1 / states), 0.0
    for t, symbol in enumerate(seen):
        forward = (forward @ move) * show[:, symbol]
        log_z += math.log(forward.sum())
        forward /= forward.sum()
        if t % 500 == 0:
            assert filtered["now"][t] == pytest.approx(forward, abs=1e-12)
    assert filtered.log_z[-1] == pytest.approx(log_z, rel=1e-12)
    smoothed = series.smooth({"symbol": seen})
    assert smoothed["now"][-1] == pytest.approx(forward, abs=1e-11)
    assert smoothed["now"].sum(axis=1) == pytest.approx(np.ones(steps))


def test_what_cannot_be_is_said():
    m = ts.Model()
    for name in ("x0", "x", "y"):
        m.variable(name, 2)
    m.table(["x0", "x"], [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(KeyError, match="no variable 'z'"):
        m.repeat(links=[("x0", "z")])
    with pytest.raises(ts.Error, match="x0 is in two links"):
        m.repeat(links=[("x0", "x"), ("x0", "y")])
    with pytest.raises(ts.Error, match="a table of the start is over x,"):
        m.repeat(links=[("x0", "x")], start={"x": [0.5, 0.5]})
    with pytest.raises(ts.Error, match="'x0' has the shape"):
        m.repeat(links=[("x0", "x")], start={"x0": [0.5, 0.25, 0.25]})
    series = m.repeat(links=[("x0", "x")], start={"x0": [1.0, 1.0]})
    assert series.step(x=0).log_z == pytest.approx(math.log(2))  # y is free
    now = series.step(x=1)
    assert now.log_z == -math.inf and len(now) == 0
    with pytest.raises(ts.Error, match="what was observed is impossible"):
        series.best({"x": [0, 1]})
    with pytest.raises(ts.Error, match="up to slice 2 is impossible"):
        series.smooth({"x": [0, 1]})
