"""Functions as they are in life: constant, changing, failing, far too large. A clear line each, and nothing is lost."""

import math
import random

import pytest

import treesample as ts


def model_of(function, num_variables=8, num_states=2, **fields):
    model = ts.Model()
    variables = [model.variable(f"x{i}", num_states) for i in range(num_variables)]
    model.factor(*variables, **fields)(function)
    return model


def test_a_constant_function_is_a_guess_that_says_why():
    answer = model_of(lambda *x: 2.5).infer(calls=60)
    assert answer.log_z.is_guess and answer.log_z.std_error is None
    assert answer.log_z.lower <= 8 * math.log(2) + 2.5
    assert math.isclose(float(answer.log_z), 8 * math.log(2) + 2.5, abs_tol=0.2)


def test_integers_are_values():
    answer = model_of(lambda *x: sum(x)).infer(calls=300, method="learned")
    assert answer.log_z.exact
    assert math.isclose(float(answer.log_z), 8 * math.log(1 + math.e), abs_tol=1e-9)


@pytest.mark.parametrize("method", ["learned", "search"])
def test_a_function_that_changes_its_mind_is_noticed_and_nothing_is_certified(method):
    draw = random.Random(1)
    answer = model_of(lambda *x: sum(x) + draw.random()).infer(calls=100, method=method)
    assert any("noisy" in remark for remark in answer.remarks)
    assert not answer.log_z.exact and answer.log_z.std_error is None
    assert "certified" not in repr(answer)


@pytest.mark.parametrize("value", [1e300, math.nan, math.inf])
def test_values_beyond_what_is_allowed_are_named(value):
    with pytest.raises(ts.Error, match=r"a log-value of .*, allowed are -inf and numbers from -1e\+300 to 17000000"):
        model_of(lambda *x: value).infer(calls=60)


def test_large_values_are_learned():
    answer = model_of(lambda *x: 1e6 * (x[0] - x[1])).infer(calls=60, method="learned")
    assert math.isclose(float(answer.log_z), 1e6 + 6 * math.log(2), abs_tol=0.1)


def test_a_function_that_fails_everywhere_ends_the_run_with_the_reason():
    with pytest.raises(ts.Error, match="20 of its 20 evaluations failed.*max_failure_share.*division by zero"):
        model_of(lambda *x: 1 / 0, on_failure="skip").infer(calls=60)


def test_a_region_of_failures_has_no_mass():
    def function(*x):
        return float(sum(x)) if x[0] == 0 else 1 / 0

    answer = model_of(function, on_failure="skip", max_failure_share=1.0).infer(calls=150, method="learned")
    assert "calls failed" in repr(answer)
    assert answer["x0"][1] < 0.05
    assert math.isclose(float(answer.log_z), 7 * math.log(1 + math.e), abs_tol=0.2)


def test_a_hundred_thousand_values_may_be_told():
    draw = random.Random(1)
    box = ts.BlackBox(model_of(lambda *x: 0.0, 12, 3), seed=1)
    told = {}
    while len(told) < 100_000:
        x = tuple(draw.randrange(3) for _ in range(12))
        if x not in told:
            told[x] = 0.3 * sum(x) + (x[0] == x[5])
            box.tell({f"x{i}": state for i, state in enumerate(x)}, told[x])
    assert len(box.ask(10)) == 10
    answer = box.answer()
    top = max(told.values())
    known = top + math.log(sum(math.exp(value - top) for value in told.values()))
    pair = (math.e - 1) * sum(math.exp(0.6 * a) for a in range(3)) + sum(math.exp(0.3 * a) for a in range(3)) ** 2
    log_z = 10 * math.log(sum(math.exp(0.3 * a) for a in range(3))) + math.log(pair)
    assert math.isclose(answer.log_z.lower, known, abs_tol=1e-6)
    assert math.isclose(float(answer.log_z), log_z, abs_tol=1e-3)
    assert answer.best_log_density == top
