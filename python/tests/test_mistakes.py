"""What is refused says so in one line, and what is shown of a certified number is true."""
import decimal
import fractions
import math
import re

import numpy as np
import pytest

import treesample as ts

TINY = [decimal.Decimal("1e-400"), np.longdouble("1e-400"), fractions.Fraction(1, 10**400), "1e-400",
        decimal.Decimal("1e-310")]


@pytest.mark.parametrize("number", TINY)
def test_numbers_do_not_become_zero(number):
    """1e-400 as 0 once made a model impossible, and "exact" so."""
    model = ts.Model()
    model.variable("a", 2)
    for values in ([number, number], [0.0, number]):
        with pytest.raises(ts.Error, match="^the table of 'a': .*too small for a number of 64 bits[^\n]*logarithms$"):
            model.table(["a"], values)
    model.table(["a"], [decimal.Decimal("0.25"), fractions.Fraction(3, 4)])
    with pytest.raises(ts.Error, match="^the weights of 'a': .*too small"):
        model.observe(a=[number, 1.0])
    with pytest.raises(ts.Error, match="^the weights of 'a': .*too small"):
        model.infer(evidence={"a": {0: number, 1: 1.0}})
    assert math.isclose(model.infer()["a"][1], 0.75)


def test_what_a_double_holds_is_taken():
    model = ts.Model()
    model.variable("a", 2)
    model.table(["a"], np.array([5e-324, 0.0]))
    model.log_table(["a"], [decimal.Decimal("-1000"), np.longdouble("-1e3")])
    assert math.isclose(float(model.infer().log_z), math.log(5e-324) - 1000)


@pytest.mark.parametrize("value", [-0.5, math.nan, math.inf])
def test_a_wrong_entry_is_named_with_its_table(value):
    model = ts.Model()
    model.variable("a", 2)
    with pytest.raises(ts.Error, match=f"^the table of 'a' has the value {value}, allowed are numbers from 0 on[^\n]*$"):
        model.table(["a"], [1.0, value])
    with pytest.raises(ts.Error, match="^the table of 'a': cannot be read as numbers"):
        model.table(["a"], [1.0, fractions.Fraction(10**400)])


def test_bounds_are_shown_outside_of_what_is_certified():
    for seed in range(4):
        model = ts.families.ising(n=20, seed=seed)
        answer = model.infer(method="search", select="gap", budget=1, leaf="mini-bucket:2")
        lower, upper = map(decimal.Decimal, re.search(r"certified in \[(.*?), (.*?)\]", repr(answer)).groups())
        assert lower <= decimal.Decimal(answer.log_z.lower) and decimal.Decimal(answer.log_z.upper) <= upper
        assert upper - lower < decimal.Decimal(answer.log_z.upper) - decimal.Decimal(answer.log_z.lower) + 1


def test_an_interval_of_samples_is_not_called_one_that_holds():
    """One configuration that no sample meets has nearly all of the mass: the spread of the samples cannot know."""
    model = ts.Model()
    hidden = (1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1)

    @model.factor(*[model.variable(f"x{i}", 2) for i in range(16)], cost=0.01)
    def simulate(*x):
        return 25.0 if x == hidden else 0.1 * x[0]

    z = model.infer(calls=400).log_z
    assert z.interval is None and z.sampled_interval is not None
    assert "not certified" in ts.LogZ.__doc__


def with_function():
    model = ts.Model()
    model.factor(*[model.variable(f"x{i}", 3) for i in range(3)])(lambda *x: 0.1 * sum(x))
    return model


@pytest.mark.parametrize("limits", [{"calls": -3}, {"calls": 2.5}, {"time": -1.0}, {"time": math.nan},
                                    {"budget": -5}, {"calls": True}])
def test_an_answer_is_extended_by_something(limits):
    answer = with_function().infer(calls=5)
    with pytest.raises(ts.Error, match="^extend: (calls|time|budget) is .*allowed are[^\n]*$"):
        answer.extend(**limits)


def test_numbers_of_numpy_extend_an_answer_too():
    answer = with_function().infer(calls=5)
    assert answer.extend(calls=np.int64(5)).spent["calls"] == answer.extend(calls=5).spent["calls"] == 10


@pytest.mark.parametrize("mistake, message", [
    (lambda m: m.infer().sample(-1), "sample: count is -1, allowed are whole numbers from 0 on"),
    (lambda m: m.infer().sample(2.5), "sample: count is 2.5, allowed are whole numbers from 0 on"),
    (lambda m: m.infer().sample(2, seed=-1), "sample: seed is -1, allowed are whole numbers from 0 on"),
    (lambda m: m.infer(evidence=5), "evidence is 5, allowed is a mapping of names to states or weights"),
    (lambda m: m.observe(5), "evidence is 5, allowed is a mapping of names to states or weights"),
    (lambda m: m.plan(evidence=[1]), "evidence is [1], allowed is a mapping of names to states or weights"),
    (lambda m: ts.train(5, "nowhere"),
     "train: problems is 5, allowed are the name of a family, a model, several models, and a function"),
    (lambda m: ts.train([], "nowhere"), "train: there are no models"),
])
def test_mistakes_are_named_in_one_line(mistake, message):
    with pytest.raises(ts.Error) as caught:
        mistake(ts.families.chain(seed=1))
    assert str(caught.value) == message


def test_unknown_keywords_are_those_of_the_method_that_was_called():
    model = ts.families.chain(seed=1)
    answer = model.infer()
    for call, message in ((lambda: model.infer(call=5), r"infer() has no keyword 'call'; did you mean 'calls'?"),
                          (lambda: model.infer(journl="x"), r"infer() has no keyword 'journl'; did you mean 'journal'?"),
                          (lambda: model.plan(tme=5), r"plan() has no keyword 'tme'; did you mean 'time'?"),
                          (lambda: answer.extend(call=5), r"extend() has no keyword 'call'; did you mean 'calls'?")):
        with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
            call()


@pytest.mark.parametrize("states", [2.0, True, None, 1.5])
def test_what_is_neither_a_number_of_states_nor_labels(states):
    with pytest.raises(ts.Error, match=f"^the states of 'a' are {states}, allowed are a whole number or a list of lab"):
        ts.Model().variable("a", states)


def test_tables_and_scopes_of_the_wrong_kind():
    model = ts.Model()
    a, b = model.variable("a", 3), model.variable("b", 2)
    with pytest.raises(ts.Error, match="the table of 'a', 'b': cannot be read as numbers: complex numbers"):
        model.table([a, b], np.ones((3, 2)) * 1j)
    for wrong in ([[a, b]], [0, 1], [None]):
        with pytest.raises(ts.Error, match="is no variable, allowed are variables of this model and their names"):
            model.table(wrong, np.ones((3, 2)))


def test_extending_by_calls_and_by_a_budget():
    model = ts.Model()
    model.factor(model.variable("a", 5), model.variable("b", 5))(lambda a, b: -float(a + b))
    by_budget = model.infer(budget=5)
    assert by_budget.extend(calls=3).log_z.lower >= by_budget.log_z.lower - 1e-9
    by_calls = model.infer(calls=3)
    more = by_calls.extend(budget=4)  # calls
    assert by_calls.log_z.lower - 1e-9 <= more.log_z.lower
    assert by_calls.spent["calls"] < more.spent["calls"] <= 7


def test_states_without_end_are_refused_at_once():
    with pytest.raises(ts.Error, match="has 1000000000000 states, allowed are 1 to 1048576"):
        ts.Model().variable("a", 10**12)
    with pytest.raises(ts.Error, match="has 1000000000000 states, allowed are 1 to 1048576"):
        ts.BlackBox({"a": 10**12})
