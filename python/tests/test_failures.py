"""Functions that fail: what a failure counts as, and how many of them there may be."""
import decimal
import math

import numpy as np
import pytest

import treesample as ts


def failing(share=None, cost=None, num_states=3, **keywords):
    """Three variables, a function of them that fails where the first is in one of its first states."""
    model = ts.Model()
    variables = [model.variable(f"c{i}", num_states) for i in range(3)]

    @model.factor(*variables, cost=cost, **keywords)
    def simulate(*x):
        if x[0] < (1 if share is None else share * num_states):
            raise ValueError("boom")
        return -float(sum(x))

    return model


def test_a_failure_of_a_monotone_function_ends_the_run():
    """What it counts as is no value of the function; -inf at the highest states once made everything impossible."""
    for rule in ("impossible", "skip", -1.0):
        with pytest.raises(ts.Error, match="^monotone needs on_failure='stop'"):
            failing(on_failure=rule, monotone=True)
    failing(on_failure="stop", monotone=True)


def test_a_failure_cannot_count_as_more_than_log_max():
    """Bounds are made of log_max: a larger value in a third of the states once made them wrong, and "exact" so."""
    with pytest.raises(ts.Error, match="^on_failure is 5, above its declared log_max of 0$"):
        failing(on_failure=5.0, log_max=0.0)
    answer = failing(on_failure=-0.5, log_max=0.0, max_failure_share=1).infer(calls=100)
    truth = math.log(9 * math.exp(-0.5) + sum(math.exp(-a - b - c) for a in (1, 2) for b in range(3) for c in range(3)))
    assert answer.log_z.lower <= truth <= answer.log_z.upper


@pytest.mark.parametrize("rule", [math.nan, math.inf, True, None, "ignore", 1e9, [1.0], np.nan])
def test_what_a_failure_cannot_count_as(rule):
    with pytest.raises(ts.Error, match="^on_failure is .*allowed are[^\n]*$"):
        failing(on_failure=rule)


@pytest.mark.parametrize("rule", [-1, np.float32(-1.0), np.float64(-1.0), decimal.Decimal(-1)])
def test_numbers_of_all_kinds_are_rules(rule):
    if isinstance(rule, decimal.Decimal):  # no number of Python's tower
        with pytest.raises(ts.Error, match="on_failure"):
            failing(on_failure=rule)
        return
    answer = failing(on_failure=rule, max_failure_share=1).infer(calls=100)
    assert math.isclose(answer.marginals["c1"][0], answer.marginals["c2"][0])


@pytest.mark.parametrize("rule", ["impossible", "skip", -3.0])
def test_a_function_that_fails_too_often_ends_the_run(rule):
    message = r"^function 'simulate': \d+ of its .* a share of 0.2 .*'simulate' at c0=0.*boom"
    with pytest.raises(ts.Error, match=message) as caught:
        failing(1.0, on_failure=rule).infer(calls=100)
    assert caught.value.answer is None  # not one value: nothing is known
    with pytest.raises(ts.Error, match="allowed is a share of 0.2") as caught:
        failing(on_failure=rule, num_states=4).infer(calls=100)
    assert caught.value.answer.spent["functions"][0]["failed"] > 3
    with pytest.raises(ts.Error, match="allowed is a share of 0.5"):
        failing(1.0, on_failure=rule, max_failure_share=0.5).infer(calls=100)


def test_failures_are_shown():
    answer = failing(on_failure="skip", max_failure_share=0.5).infer(calls=100, noise="no")
    assert "9 of 27 calls failed" in repr(answer)
    assert "9 of 27 calls failed" in answer._repr_html_()
    fine = failing(0.0, on_failure="skip").infer(calls=100)
    assert "failed" not in repr(fine)


@pytest.mark.parametrize("share", [-0.1, 1.5, math.nan, "all", True])
def test_shares_are_checked(share):
    with pytest.raises(ts.Error, match="^max_failure_share is .*, allowed are numbers from 0 to 1$"):
        failing(max_failure_share=share)


def test_failures_of_functions_that_cost_nothing_are_counted():
    model = ts.Model()
    variables = [model.variable(f"x{i}", 2) for i in range(6)]

    @model.factor(*variables, cost=0, on_failure="impossible")
    def fails(*states):
        raise ValueError("always")

    with pytest.raises(ts.Error, match="max_failure_share"):
        model.infer(budget=1000)
    answer = model.infer(budget=1000, evidence={f"x{i}": 0 for i in range(4)})
    assert "4 of 4 calls failed" in repr(answer)


@pytest.mark.parametrize(
    "values",
    [
        lambda count: np.full(count, 1.0 + 2.0j),
        lambda count: ["0.5"] * count,
        lambda count: np.full(count, np.datetime64("2020-01-01")),
        lambda count: [b"1"] * count,
    ],
)
def test_arrays_of_anything_but_numbers_are_refused(values):
    model = ts.Model()
    model.factor(model.variable("a", 4), batch=4)(lambda rows: values(len(rows)))
    with pytest.raises(TypeError, match="no array of numbers"):
        model.infer(calls=10)


def test_what_is_masked_is_no_value():
    model = ts.Model()
    masked = lambda rows: np.ma.masked_array(np.ones(len(rows)), mask=rows[:, 0] == 2)
    model.factor(model.variable("a", 4), batch=4, on_failure="impossible", max_failure_share=1.0)(masked)
    answer = model.infer(calls=10, noise="no")
    assert answer["a"][2] == 0.0 and "1 of 4 calls failed" in repr(answer)
