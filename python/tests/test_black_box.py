"""Ask and tell: the black box whose values somebody else has."""
import itertools
import json
import math
import pickle

import numpy as np
import pytest

import treesample as ts

TEMPERATURES = [20, 30, 40, 50, 60, 70, 80]


def new_box(**options):
    return ts.BlackBox({"metal": ["Pd", "Ni", "Cu"], "temperature": TEMPERATURES, "solvent": 4, "base": 3},
                       ordered=["temperature"], **options)


def log_yield(x):
    metal, solvent = ["Pd", "Ni", "Cu"].index(x["metal"]), x["solvent"]
    bump = -(((x["temperature"] - 55 - 5 * metal) / 12.0) ** 2)
    return bump + 0.9 * (metal == 1) - 0.6 * (solvent == metal) + 0.4 * x["base"] * (solvent == 3)


def truth():
    values = {}
    for metal, t, solvent, base in itertools.product(["Pd", "Ni", "Cu"], TEMPERATURES, range(4), range(3)):
        values[metal, t, solvent, base] = log_yield(dict(metal=metal, temperature=t, solvent=solvent, base=base))
    return values


def run(box, calls, batch):
    for _ in range(calls // batch):
        for x in box.ask(batch):
            box.tell(x, log_yield(x))
    return box


def test_a_batch_of_96_and_its_answer():
    box = run(new_box(seed=3), 96, 96)
    assert len(box) == 96
    values = truth()
    log_z = math.log(sum(map(math.exp, values.values())))
    answer = box.answer()
    assert abs(answer.log_z.estimate - log_z) < 0.1
    assert answer.log_z.lower <= log_z
    assert sum(answer["metal"].values()) == pytest.approx(1.0)
    x = dict(zip(["metal", "temperature", "solvent", "base"], max(values, key=values.get)))
    assert log_yield(box.best) >= values[max(values, key=values.get)] - 0.5
    assert answer.log_prob(x) == pytest.approx(log_yield(x) - log_z, abs=0.3)
    assert answer.sample(5, seed=1).shape == (5, 4)
    assert answer.best == box.best
    assert "yield" not in repr(box) and "96 values told" in repr(box)


def test_everything_told_is_exact():
    box = ts.BlackBox({"a": 3, "b": ["x", "y"]})
    for x in box.ask(100):
        box.tell(x, -1.0 * x["a"] - 0.5 * (x["b"] == "y"))
    assert len(box) == 6 and box.ask(5) == []
    answer = box.answer()
    assert answer.log_z.exact
    expected = math.log(sum(math.exp(-a - 0.5 * b) for a in range(3) for b in range(2)))
    assert answer.log_z.estimate == pytest.approx(expected, abs=1e-12)
    assert box.best == {"a": 0, "b": "x"} and box.best_log_density == 0.0


def test_errors_when_they_are_asked_for():
    box = run(new_box(seed=1), 60, 20)
    assert box.answer().log_z.std_error is None
    for x in box.ask(16, for_errors=True):
        box.tell(x, log_yield(x))
    answer = box.answer()
    log_z = math.log(sum(map(math.exp, truth().values())))
    assert answer.log_z.std_error is not None
    low, high = answer.log_z.sampled_interval
    assert low <= log_z <= high


def test_all_that_is_told_teaches_and_order_does_not_count():
    values = list(truth().items())
    rng = np.random.default_rng(1)
    chosen = [values[i] for i in rng.choice(len(values), 120, replace=False)]
    names = ["metal", "temperature", "solvent", "base"]
    box = new_box(noise=False)
    box.tell_all([dict(zip(names, x)) for x, _ in chosen], [value for _, value in chosen])
    log_z = math.log(sum(math.exp(v) for _, v in values))
    assert abs(box.answer().log_z.estimate - log_z) < 0.2
    told = {tuple(x.values()) for x in box.ask(50)}
    assert len(told) == 50 and not told & {x for x, _ in chosen}
    assert box.best_log_density == max(value for _, value in chosen)
    assert [row["value"] for row in box.told] == [value for _, value in chosen]


def test_states_as_numbers():
    one, other = new_box(seed=5), new_box(seed=5)
    rows = one.ask(10, as_states=True)
    assert rows.dtype == np.int32 and rows.shape == (10, 4)
    assert [list(row) for row in rows] == [
        [["Pd", "Ni", "Cu"].index(x["metal"]), TEMPERATURES.index(x["temperature"]), x["solvent"], x["base"]]
        for x in other.ask(10)
    ]
    one.tell(rows[0], -1.0)
    one.tell(tuple(int(s) for s in rows[1]), -2)
    assert len(one) == 2


@pytest.mark.parametrize("how", ["pickle", "file"])
def test_saved_and_continued_with_the_same_bits(tmp_path, how):
    box = run(new_box(seed=2), 40, 8)
    under_way = box.ask(8)
    if how == "pickle":
        kept = pickle.loads(pickle.dumps(box))
    else:
        box.save(tmp_path / "box.json")
        kept = ts.BlackBox.load(tmp_path / "box.json")
    for each in (box, kept):
        for x in under_way:
            each.tell(x, log_yield(x))
    assert kept.ask(8) == box.ask(8)
    assert kept.answer().log_z == box.answer().log_z
    assert kept.best == box.best and kept.variables == box.variables and len(kept) == len(box)


def test_a_model_is_known_beforehand():
    model = ts.Model()
    a, b = model.variable("a", 4), model.variable("b", 5)
    model.table([a], [0.1, 0.2, 0.3, 0.4])
    model.observe(b=[1.0, 1.0, 0.0, 1.0, 1.0])
    box = ts.BlackBox(model)
    asked = box.ask(100)
    assert len(asked) == 16 and all(x["b"] != 2 for x in asked)
    for x in asked:
        box.tell(x, -0.3 * x["a"] * x["b"])
    expected = math.log(sum(0.1 * (i + 1) * math.exp(-0.3 * i * j) for i in range(4) for j in (0, 1, 3, 4)))
    assert box.answer().log_z.estimate == pytest.approx(expected, abs=1e-9)
    model.observe(a=3)
    assert {x["a"] for x in ts.BlackBox(model).ask(4)} == {3}


def test_several_functions():
    model = ts.Model()
    a, b, c = (model.variable(name, 3) for name in "abc")

    @model.factor(a, b)
    def left(a, b):
        raise AssertionError("never called")

    @model.factor(b, c)
    def right(b, c):
        raise AssertionError("never called")

    box = ts.BlackBox(model)
    for x in box.ask(27):
        if x["a"] == 2:
            box.tell(x, {"left": -math.inf})
        else:
            box.tell(x, {"left": -x["a"] * x["b"], "right": 0.1 * x["c"]})
    expected = math.log(sum(math.exp(-i * j + 0.1 * k) for i in range(2) for j in range(3) for k in range(3)))
    assert box.answer().log_z.estimate == pytest.approx(expected, abs=1e-9)
    for wrong, message in (({"lift": 1.0}, "there is no function 'lift'; did you mean 'left'?"),
                           ({"left": 1.0}, "the value of 'right' is missing"), (1.0, "a mapping of left, right to numbers")):
        with pytest.raises(ts.Error, match=message):
            ts.BlackBox(model).tell({"a": 0, "b": 0, "c": 0}, wrong)


GOOD = {"metal": "Ni", "temperature": 50, "solvent": 1, "base": 0}


@pytest.mark.parametrize("x, value, message", [
    ({**GOOD, "metal": "Fe"}, 1.0, "'metal' has no state 'Fe', allowed are Pd, Ni, Cu"),
    ({**GOOD, "temperature": 55}, 1.0, "'temperature' has no state 55, allowed are 20, 30"),
    ({**GOOD, "solvents": 1}, 1.0, "there is no variable 'solvents'; did you mean 'solvent'?"),
    ({"metal": "Ni"}, 1.0, "the configuration has no state of 'temperature'"),
    ([0, 0, 4, 0], 1.0, "the state of 'solvent' is 4, allowed are 0 to 3"),
    ([0, 0, 0], 1.0, "is neither a mapping of names to states nor a row of 4 states"),
    ([0.0, 0.0, 0.0, 0.0], 1.0, "is neither a mapping of names to states nor a row of 4 states"),
    (GOOD, math.nan, "metal': 'Ni', 'temperature': 50.*nan.*tell_failed"),
    (GOOD, math.inf, "the value at .* is inf, allowed are"),
    (GOOD, 1e300, r"the value at .* is 1e\+300, allowed are"),
    (GOOD, "high", "the value at .* is 'high'"),
    (GOOD, None, "the value at .* is None"),
])
def test_mistakes_are_one_clear_line(x, value, message):
    box = new_box()
    with pytest.raises(ts.Error, match=message) as raised:
        box.tell(x, value)
    assert "\n" not in str(raised.value)
    assert len(box) == 0


@pytest.mark.parametrize("make, message", [
    (lambda: ts.BlackBox({}), "a black box needs variables"),
    (lambda: ts.BlackBox({"a": 2}, ordered=["b"]), "ordered: there is no variable 'b'"),
    (lambda: ts.BlackBox({"a": 2}, noise=-1.0), "noise is -1.0, allowed are True, False"),
    (lambda: ts.BlackBox({"a": 2}, noise="yes"), "noise is 'yes', allowed are True, False"),
    (lambda: ts.BlackBox({"a": 2}, question="most"), "question is 'most', allowed are 'all' and 'best'"),
    (lambda: ts.BlackBox(["a"]), "variables: 'a' is neither a variable"),
    (lambda: ts.BlackBox({"a": 2}).ask(-1), "ask: n is -1"),
    (lambda: ts.BlackBox({"a": 2}).tell_all([[0], [1]], [1.0]), "1 values for 2 configurations"),
])
def test_wrong_boxes_are_refused(make, message):
    with pytest.raises(ts.Error, match=message):
        make()


def test_nothing_is_told_where_one_of_many_is_wrong():
    box = new_box()
    with pytest.raises(ts.Error, match="no state 'Fe'"):
        box.tell_all([GOOD, {**GOOD, "metal": "Fe"}], [1.0, 2.0])
    with pytest.raises(ts.Error, match="is nan"):
        box.tell_all([GOOD, {**GOOD, "metal": "Pd"}], [1.0, math.nan])
    assert len(box) == 0


def test_the_same_configuration_with_another_value():
    box = new_box(noise=False)
    box.tell(GOOD, 1.0)
    box.tell(GOOD, 1.0)
    with pytest.raises(ts.Error, match="1.*2"):
        box.tell(GOOD, 2.0)
    noisy = new_box(noise=True)
    noisy.tell(GOOD, 1.0)
    noisy.tell(GOOD, 2.0)
    assert noisy.best_log_density == pytest.approx(1.5, abs=0.6)
    assert noisy.answer().log_z.lower is None or noisy.answer().log_z.lower == -math.inf


def test_failures_are_left_out():
    box = ts.BlackBox({"a": 4, "b": 4})
    for x in box.ask(16):
        if x["a"] == 3:
            box.tell_failed(x, "boils")
        else:
            box.tell(x, 0.0)
    answer = box.answer()
    assert answer.log_z.estimate == pytest.approx(math.log(12))
    assert answer["a"][3] == 0.0
    assert sum(row["value"] is None and row["why"] == "boils" for row in box.told) == 4


def test_many_values_at_once():
    rng = np.random.default_rng(0)
    box = ts.BlackBox({f"x{i}": 4 for i in range(9)})
    rows = np.unique(rng.integers(0, 4, (40_000, 9)), axis=0).astype(np.int32)
    box.tell_all(rows, -0.1 * (rows[:, :-1] * rows[:, 1:]).sum(axis=1))
    assert len(box) == len(rows)
    assert len(box.ask(5)) == 5


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "box.json"
    for text in ("", "[]", "{}", '{"format": "other"}'):
        path.write_text(text)
        with pytest.raises(ts.Error, match="box.json"):
            ts.BlackBox.load(path)
    box = run(new_box(), 8, 8)
    box.save(path)
    content = json.loads(path.read_text())
    content["variables"] = content["variables"][:2]
    path.write_text(json.dumps(content))
    with pytest.raises(ts.Error):
        ts.BlackBox.load(path)
    with pytest.raises(OSError):
        ts.BlackBox.load(tmp_path / "none.json")
