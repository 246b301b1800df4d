"""Every value teaches: what a journal holds is learned from before the first call, whoever paid for it."""
import itertools
import math

import numpy as np
import pytest

import treesample as ts

N, STATES = 9, 3


def landscape(seed):
    """A function with pairs and triples of nine ternary variables, -inf in places."""
    rng = np.random.default_rng(seed)
    pairs = [(*rng.choice(N, 2, replace=False), rng.normal(0, 1.2, (STATES, STATES))) for _ in range(8)]
    triples = [(*rng.choice(N, 3, replace=False), rng.normal(0, 0.8, (STATES,) * 3)) for _ in range(4)]

    def value(*x):
        if x[0] == 2 and x[1] == 2:
            return -math.inf
        return float(sum(t[x[a], x[b]] for a, b, t in pairs) + sum(t[x[a], x[b], x[c]] for a, b, c, t in triples))

    return value


def model_of(value, counted):
    model = ts.Model()

    def simulate(*x):
        counted.append(x)
        return value(*x)

    model.factor(*[model.variable(f"x{i}", STATES) for i in range(N)])(simulate)
    return model


def total_variation(answer, value):
    rows = np.array(list(itertools.product(range(STATES), repeat=N)), dtype=np.int32)
    true = np.array([value(*map(int, row)) for row in rows])
    log_z = np.logaddexp.reduce(true)
    return 0.5 * np.abs(np.exp(answer.log_prob(rows)) - np.exp(true - log_z)).sum(), log_z


def test_a_journal_of_metropolis_teaches(tmp_path):
    value = landscape(4)
    alone, _ = total_variation(model_of(value, []).infer(calls=100), value)
    journal = tmp_path / "run.journal"
    paid = []
    chain = model_of(value, paid).infer(calls=500, method="metropolis", journal=journal)
    assert 450 < len(paid) <= 500
    learned = []
    answer = model_of(value, learned).infer(calls=100, journal=journal, noise="no")
    taught, log_z = total_variation(answer, value)
    assert len(learned) <= 100 and not set(learned) & set(paid)
    assert taught < 0.5 * alone
    # What others have paid for counts for the certified lower bound and for the best configuration.
    assert answer.log_z.lower >= np.logaddexp.reduce([value(*x) for x in set(paid)]) - 1e-9
    assert answer.log_z.lower <= log_z
    assert answer.best_log_density >= max(map(lambda x: value(*x), paid)) - 1e-12
    assert chain.best_log_density <= answer.best_log_density + 1e-12
    # Taken up again, the run makes the same calls, all of them from the journal, with the same bits.
    again = model_of(value, learned).infer(calls=100, journal=journal, noise="no")
    assert len(learned) <= 100
    assert again.log_z == answer.log_z and again.best == answer.best


def test_a_run_that_ends_early_is_taken_up_with_the_same_bits(tmp_path):
    value = landscape(7)

    def dies_after(count):
        def function(*x):
            if len(calls) > count:
                raise RuntimeError("the machine is switched off")
            return value(*x)

        calls = []
        return model_of(function, calls)

    def run(model, journal, **options):
        return model.infer(journal=tmp_path / journal, version="1", workers=3, oracle_order="submission", **options)

    for journal in ("whole", "cut"):
        run(dies_after(10**9), journal, calls=150, method="metropolis")
    whole = run(dies_after(10**9), "whole", calls=120)
    for count in (20, 25, 40):
        with pytest.raises(RuntimeError, match="switched off"):
            run(dies_after(count), "cut", calls=120)
    taken_up = run(dies_after(10**9), "cut", calls=120)
    assert taken_up.log_z == whole.log_z and taken_up.best == whole.best
    assert ts.read_journal(tmp_path / "cut").factors[0].evaluations == ts.read_journal(
        tmp_path / "whole").factors[0].evaluations


def test_what_is_added_later_is_told_later(tmp_path):
    value = landscape(9)
    calls = []
    journal = tmp_path / "run.journal"
    model_of(value, calls).infer(calls=80, journal=journal)
    model_of(value, calls).infer(calls=400, method="metropolis", journal=journal)
    before = len(calls)
    answer = model_of(value, calls).infer(calls=160, journal=journal)
    assert before < len(calls) <= before + 80 + 8  # the samples for errors of the first run are no part of the second
    alone, _ = total_variation(model_of(value, []).infer(calls=160), value)
    taught, _ = total_variation(answer, value)
    assert taught < alone
