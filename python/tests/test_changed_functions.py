"""A journal is refused when a function has changed in any way that can be seen, and only then."""

import functools

import numpy as np
import pytest

import treesample as ts


class Simulator:
    def __init__(self, slope):
        self.slope = slope
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        return self.slope * a * b

    def method(self, a, b):
        return self(a, b)


def scaled(slope, a, b):
    return slope * a * b


def enclosing(slope):
    count = 0

    def inside(a, b):
        nonlocal count
        count += 1
        return np.sum(slope) * a * b

    return inside


def typed_in(slope):
    names = {}
    exec(f"simulate = lambda a, b: {slope} * a * b", names)
    return names["simulate"]


def with_default(slope):
    def simulate(a, b, slope=slope):
        return slope * a * b

    return simulate


MAKERS = {
    "partial": lambda slope: functools.partial(scaled, slope),
    "keyword": lambda slope: functools.partial(with_default(0.0), slope=slope),
    "object": Simulator,
    "method": lambda slope: Simulator(slope).method,
    "number": enclosing,
    "array": lambda slope: enclosing(np.array([slope, 0.0])),
    "typed in": typed_in,
    "default": with_default,
}


def answer_of(function, journal):
    model = ts.Model()
    a, b = model.variable("a", 3), model.variable("b", 2)
    model.factor(a, b)(function)
    return model.infer(calls=100, journal=journal)


@pytest.mark.parametrize("kind", MAKERS)
def test_values_of_another_function_are_not_used(kind, tmp_path):
    make, journal = MAKERS[kind], tmp_path / "run.journal"
    used = make(1.0)
    first = answer_of(used, journal)
    assert first.log_z.exact
    again = answer_of(make(1.0), journal)
    assert again.spent["functions"][0]["paid"] == 0 and again.log_z == first.log_z
    assert answer_of(used, journal).log_z == first.log_z  # whatever it has counted
    with pytest.raises(ts.Error, match="the version of the functions"):
        answer_of(make(5.0), journal)


def test_a_model_that_changes_itself_does_not_change_its_run(tmp_path):
    model = ts.Model()
    a = model.variable("a", 2)

    @model.factor(a)
    def simulate(a):
        model.variable(f"more{len(model)}", 2)
        model.table(["a"], [0.25, 0.75])
        return 0.0

    answer = model.infer(calls=10)
    assert answer.log_z.exact and abs(float(answer.log_z) - np.log(2)) < 1e-12
    assert answer.best == {"a": 0} and "more1" not in answer.to_html()
    assert answer.extend(calls=1).log_z == answer.log_z


def test_a_run_that_is_under_way_is_not_extended():
    model = ts.Model()
    a = model.variable("a", 8)
    answers, refused = [], []

    @model.factor(a)
    def simulate(a):
        for answer in answers:
            try:
                answer.extend(calls=1)
            except ts.Error as error:
                refused.append(str(error))
        return 0.0

    answers.append(model.infer(calls=2))
    answers[0].extend(calls=2)
    assert refused and "under way" in refused[0]
