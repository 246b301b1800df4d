"""Variables whose states are numbers, or in order."""
import json
import pickle

import numpy as np
import pytest

import treesample as ts


def test_levels_come_from_labels_places_or_a_list():
    model = ts.Model()
    assert model.variable("rate", [1e-4, 1e-3, 0.1], ordered=True).levels == (1e-4, 1e-3, 0.1)
    assert model.variable("depth", range(2, 6), ordered=True).levels == (2.0, 3.0, 4.0, 5.0)
    assert model.variable("size", 3, ordered=True).levels == (0.0, 1.0, 2.0)
    assert model.variable("dose", ["none", "low", "high"], ordered=True).levels == (0.0, 1.0, 2.0)
    assert model.variable("cost", ["a", "b"], ordered=[7, 2.5]).levels == (7.0, 2.5)
    assert model.variable("grid", np.linspace(0, 1, 3), ordered=True).levels == (0.0, 0.5, 1.0)
    assert model.variable("kind", ["a", "b"]).levels == ()
    copied = pickle.loads(pickle.dumps(model))
    assert [v.levels for v in copied.variables] == [v.levels for v in model.variables]


@pytest.mark.parametrize("states, ordered, message", [
    ([1, 2], [1, 1], "'x' has the level 1 twice, allowed are different numbers"),
    ([1, 2], [1], "'x' has 1 levels for 2 states"),
    ([1, 2], [1, float("nan")], "'x' has the level nan, allowed are finite numbers"),
    ([1, 2], [], "the levels of 'x': there are none"),
    ([1, 2], "yes", "ordered is 'yes', allowed are True, False and a list of numbers"),
    ([1, 2], ["a", "b"], "the levels of 'x': cannot be read as numbers"),
    ([1.0, 1.0 + 0j], 3, "ordered is 3, allowed are"),
])
def test_wrong_levels_are_named(states, ordered, message):
    with pytest.raises(ts.Error, match=message):
        ts.Model().variable("x", states, ordered=ordered)


def test_files_keep_the_levels(tmp_path):
    model = ts.Model()
    rate = model.variable("rate", [0.001, 0.1], ordered=True)
    model.table([rate], [0.25, 0.75])
    model.write(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["variables"][0]["levels"] == [0.001, 0.1]
    read = ts.read(tmp_path / "model.json").variables[0]
    assert read.levels == (0.001, 0.1) and read.states == ("0.001", "0.1")


def test_close_states_teach_about_each_other():
    """The same function of three numbers: few calls are enough where it is said that they are numbers."""
    grid = np.linspace(-2.0, 2.0, 9)
    truth = sum(np.exp(-2.0 * (a - b) ** 2 - (c - 0.5 * a) ** 2 - b**2) for a in grid for b in grid for c in grid)

    def error(ordered):
        model = ts.Model()
        variables = [model.variable(name, grid, ordered=ordered) for name in "abc"]
        model.factor(*variables)(lambda a, b, c: -2.0 * (a - b) ** 2 - (c - 0.5 * a) ** 2 - b**2)
        return abs(model.infer(calls=60, method="learned").log_z.estimate - np.log(truth))

    with_order = error(True)
    assert with_order < 0.2 and error(False) > 2.0 * with_order


def test_a_variable_that_matters_only_sometimes_is_evaluated_once():
    m = ts.Model()
    solver, restart = m.variable("solver", ["direct", "gmres"]), m.variable("restart", [10, 20, 40], ordered=True)
    m.only_if(restart, {"solver": ["gmres"]})
    seen = []

    @m.factor(solver, restart)
    def quality(solver, restart):
        seen.append((solver, restart))
        return -0.01 * restart if solver == "gmres" else -1.0

    answer = m.infer(calls=50, noise="no")
    assert sorted(set(seen)) == [("direct", 10), ("gmres", 10), ("gmres", 20), ("gmres", 40)] and len(seen) == 4
    assert answer.log_z.estimate == pytest.approx(np.log(np.exp(-1) + np.exp([-0.1, -0.2, -0.4]).sum()))


def test_wrong_conditions_are_named():
    m = ts.Model()
    m.variable("solver", ["direct", "gmres"])
    m.variable("restart", 3)
    for states, message in [({"solver": "cg"}, "'solver' has no state 'cg'"), ({"restart": 1}, "depend on itself"),
                            ({"solver": []}, "there are no states"), ({"solvr": "gmres"}, "solvr.*did you mean")]:
        with pytest.raises(ts.Error, match=message):
            m.only_if("restart", states)
