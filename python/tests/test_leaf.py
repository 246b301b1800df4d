"""A value function in Python as Q_phi, against enumeration."""
import itertools
import math

import numpy as np
import pytest

import treesample as ts

NUM_STATES = (2, 3, 2, 3, 2)


def make_model(seed, zeros=False):
    """A ring of tables with unequal numbers of states."""
    rng = np.random.default_rng(seed)
    model = ts.Model()
    variables = [model.variable(f"v{i}", k) for i, k in enumerate(NUM_STATES)]
    tables = []
    for i in range(len(NUM_STATES)):
        j = (i + 1) % len(NUM_STATES)
        values = rng.normal(size=(NUM_STATES[i], NUM_STATES[j]))
        if zeros:
            values[rng.random(values.shape) < 0.15] = -math.inf
        tables.append(((i, j), values))
        model.log_table([variables[i], variables[j]], values)
    return model, tables


def log_sum_exp(values):
    highest = max(values, default=-math.inf)
    return highest if highest == -math.inf else highest + math.log(sum(math.exp(v - highest) for v in values))


class ExactQ:
    """Q*(a | x): the sum over all that is open of what the prefix does not decide, in whatever order."""

    def __init__(self, tables):
        self.tables = tables
        self.batches = []
        self.known = {}

    def __call__(self, variable, prefixes):
        assert prefixes.dtype == np.int32 and prefixes.shape[1] == len(NUM_STATES)
        assert np.all(prefixes[:, variable.index] == -1)
        self.batches.append(len(prefixes))
        return np.array([[self.q(tuple(row), variable.index, a) for a in range(len(variable.states))]
                         for row in prefixes.tolist()])

    def q(self, x, index, state):
        if (x, index, state) not in self.known:
            self.known[x, index, state] = self.computed_q(x, index, state)
        return self.known[x, index, state]

    def computed_q(self, x, index, state):
        pending = [(scope, values) for scope, values in self.tables if any(x[v] < 0 for v in scope)]
        sums = []
        for rest in itertools.product(*[[state] if v == index else [s] if s >= 0 else range(NUM_STATES[v])
                                        for v, s in enumerate(x)]):
            sums.append(sum(values[tuple(rest[v] for v in scope)] for scope, values in pending))
        return log_sum_exp(sums)


def exact_log_z(tables, evidence=()):
    fixed = dict(evidence)
    sums = []
    for x in itertools.product(*[[fixed[v]] if v in fixed else range(k) for v, k in enumerate(NUM_STATES)]):
        sums.append(sum(values[tuple(x[v] for v in scope)] for scope, values in tables))
    return log_sum_exp(sums)


WAYS = [{"select": "q-uct", "space": "tree"}, {"select": "q-uct", "space": "graph"}, {},
        {"select": "mass"}, {"select": "gap"}, {"order": "min-fill"}]


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("zeros", [False, True])
def test_exact_values_make_a_short_search_exact(options, zeros):
    for seed in range(3):
        model, tables = make_model(seed, zeros)
        truth = exact_log_z(tables)
        leaf = ExactQ(tables)
        answer = model.infer(leaf=leaf, budget=4, importance=0, **options)
        if truth == -math.inf:
            continue
        assert leaf.batches
        if options.get("select") == "gap":  # goes by bounds, which nobody's estimate changes
            assert answer.log_z.lower <= truth + 1e-9 and truth <= answer.log_z.upper + 1e-9
        else:
            assert abs(answer.log_z.estimate - truth) < 1e-9, (options, seed)
            rows = answer.sample(20, seed=3)
            assert np.allclose(answer.log_prob(rows), model.log_density(rows) - truth, atol=1e-9)


def test_particles_ask_for_many_prefixes_at_once():
    model, tables = make_model(5)
    leaf = ExactQ(tables)
    answer = model.infer(method="sis", leaf=leaf, budget=500)
    assert max(leaf.batches) >= 50
    assert abs(answer.log_z.estimate - exact_log_z(tables)) < 1e-6


def test_the_search_asks_for_all_states_of_a_node_at_once():
    model, tables = make_model(6)
    leaf = ExactQ(tables)
    model.infer(select="mass", leaf=leaf, budget=60)
    assert max(leaf.batches) == 3


@pytest.mark.parametrize("options", WAYS)
def test_random_values_do_no_harm_in_the_end(options):
    for seed in range(3):
        model, tables = make_model(seed + 20, zeros=True)
        rng = np.random.default_rng(seed)
        known = {}

        def leaf(variable, prefixes):
            return np.array([known.setdefault((variable.name, *row), rng.normal(scale=3.0, size=len(variable.states)))
                             for row in map(tuple, prefixes.tolist())])

        answer = model.infer(leaf=leaf, budget=100_000, importance=0, **options)
        truth = exact_log_z(tables)
        assert known
        assert answer.log_z.exact or truth == -math.inf
        assert truth == answer.log_z.estimate or abs(answer.log_z.estimate - truth) < 1e-9


def test_observed_variables_are_in_the_prefixes():
    model, tables = make_model(8)
    exact = ExactQ(tables)
    seen = set()

    def leaf(variable, prefixes):
        seen.add(variable.name)
        assert np.all(prefixes[:, 1] == 2)
        return exact(variable, prefixes)

    # The tables that evidence decides alone are not open in any prefix: here there are none.
    answer = model.infer(evidence={"v1": 2}, leaf=leaf, budget=4, importance=0)
    assert abs(answer.log_z.estimate - exact_log_z(tables, {1: 2}.items())) < 1e-9
    assert "v1" not in seen and "v0" in seen


def test_functions_and_value_functions_go_together():
    model, tables = make_model(9)
    values = np.random.default_rng(9).normal(size=NUM_STATES)
    model.factor(*model.variables)(lambda *states: values[states])
    leaf = ExactQ(tables + [(tuple(range(5)), values)])
    answer = model.infer(leaf=leaf, calls=10)
    assert "mass" in answer.method
    assert abs(answer.log_z.estimate - exact_log_z(leaf.tables)) < 1e-9
    more = answer.extend(calls=200)
    assert more.log_z.exact and abs(more.log_z.estimate - exact_log_z(leaf.tables)) < 1e-9


class Untrained(Exception):
    pass


def raises(variable, prefixes):
    raise Untrained("no weights")


@pytest.mark.parametrize("leaf, error, text", [
    (raises, Untrained, "no weights"),
    (lambda variable, prefixes: np.zeros(len(prefixes)), ts.Error, r"shape \(1,\), allowed is \(1, 2\)"),
    (lambda variable, prefixes: np.zeros((len(prefixes), 7)), ts.Error, r"shape \(1, 7\)"),
    (lambda variable, prefixes: np.full((len(prefixes), len(variable.states)), np.nan), ts.Error, "returned nan"),
    (lambda variable, prefixes: np.full((len(prefixes), len(variable.states)), np.inf), ts.Error, "returned inf"),
    (lambda variable, prefixes: "high", TypeError, "no array of numbers")])
def test_wrong_values_are_refused(leaf, error, text):
    model, _ = make_model(1)
    with pytest.raises(error, match=text) as caught:
        model.infer(leaf=leaf, budget=100)
    assert caught.value.answer is None


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit])
def test_a_value_function_that_leaves_has_the_answer_so_far(leave):
    model, _ = make_model(1)
    calls = []

    def leaf(variable, prefixes):
        calls.append(variable)
        if len(calls) == 5:
            raise leave("enough")
        return np.zeros((len(prefixes), len(variable.states)))

    with pytest.raises(leave, match="enough") as caught:
        model.infer(leaf=leaf, budget=10_000)
    assert caught.value.answer.stop == "interrupted" and caught.value.answer.log_z.estimate is not None


def test_what_cannot_be_is_said():
    model, tables = make_model(1)
    with pytest.raises(ts.Error, match="tree or graph"):
        model.infer(leaf=ExactQ(tables), space="andor", order="min-fill", budget=100)
    with pytest.raises(ts.Error, match="'function', allowed are calibrated"):
        model.infer(leaf="function")


def test_the_old_name_is_taken_with_a_warning():
    model, tables = make_model(1)
    with pytest.warns(FutureWarning, match="called 'leaf' now"):
        old = model.infer(prior=ExactQ(tables), budget=100, importance=0)
    assert old.log_z.estimate == model.infer(leaf=ExactQ(tables), budget=100, importance=0).log_z.estimate
    with pytest.raises(TypeError, match="give one of both"):
        model.infer(prior="uniform", leaf="uniform")
    with pytest.warns(FutureWarning):
        assert "--leaf maxima" in model.plan(prior="maxima", select="gap")
