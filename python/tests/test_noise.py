"""Functions with noise: what it is found by, and that nothing is certified then."""
import itertools
import math
import random

import pytest

import treesample as ts


def noisy_model(sd, seed=1):
    numbers = random.Random(seed)
    model = ts.Model()
    x = [model.variable(f"x{i}", 3) for i in range(7)]
    model.factor(*x)(lambda *x: -0.8 * sum(abs(a - b) for a, b in zip(x, x[1:])) + (numbers.gauss(0, sd) if sd else 0.0))
    return model


@pytest.mark.parametrize("noise", ["look", True, 0.5])
def test_nothing_is_certified_from_noisy_values(noise):
    answer = noisy_model(0.5).infer(calls=150, noise=noise, workers=3)
    assert answer.log_z.lower is None and answer.log_z.upper is None and not answer.log_z.exact
    assert answer.log_z.std_error is None
    assert "noisy" in answer.method
    rows = itertools.product(range(3), repeat=7)
    truth = math.log(sum(math.exp(-0.8 * sum(abs(a - b) for a, b in zip(x, x[1:]))) for x in rows))
    assert abs(answer.log_z.estimate - truth) < 1.0
    assert not answer.best_is_optimal


def test_a_journal_keeps_repetitions(tmp_path):
    model = noisy_model(0.5)
    first = model.infer(calls=150, noise=True, journal=tmp_path / "run.journal", version="1")
    again = noisy_model(0.5, seed=2).infer(calls=150, noise=True, journal=tmp_path / "run.journal", version="1")
    assert again.log_z == first.log_z and again.best == first.best


def test_looking_finds_none_where_there_is_none():
    answer = noisy_model(0.0).infer(calls=150, noise="look")
    assert answer.log_z.lower > -math.inf and "noisy" not in answer.method


def test_what_noise_may_be():
    for wrong in ("often", -1.0, math.nan, math.inf):
        with pytest.raises(ts.OptionError, match="noise.*allowed are look, no, yes and a standard deviation"):
            noisy_model(0.0).infer(calls=10, noise=wrong)
