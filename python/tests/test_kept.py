"""What is compiled once and asked many times: cases, sessions, gradients, fits, interventions."""

import itertools
import math

import numpy as np
import pytest

import treesample as ts


def network(seed=1, cuts=()):
    """A small Bayesian network, whose tables are random, and all of its configurations with their probabilities."""
    random = np.random.default_rng(seed)
    m = ts.Model()
    parents = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"]}
    states = {"a": ["no", "yes"], "b": 2, "c": 3, "d": ["low", "mid", "high"], "e": 2}
    for name in parents:
        m.variable(name, states[name])
    for name, above in parents.items():
        shape = [len(m[v].states) for v in [*above, name]]
        table = random.dirichlet(np.ones(shape[-1]), size=shape[:-1]).reshape(shape)
        m.table([*above, name], table)
    return m


def joint(m):
    """By multiplication of all tables: an array with an axis per variable."""
    result = np.ones([len(v.states) for v in m.variables])
    for scope, logs in m.factors:
        order = np.argsort([v.index for v in scope])
        shape = [1] * len(m)
        for v in scope:
            shape[v.index] = len(v.states)
        result = result * np.exp(np.transpose(logs, order)).reshape(shape)
    return result


def given(p, seen):
    """P(x, seen) with one state left for observed axes."""
    for axis, state in seen.items():
        p = np.take(p, [state], axis=axis)
    return p


CASES = [
    {"b": 1, "e": 0},
    {"b": 0, "e": 1},
    {"e": 1, "d": "low"},
    {},
    {"a": "yes", "c": 2, "d": "high"},
    {"c": [0.2, 0.0, 0.5], "b": 1},
    {"b": 1, "e": 0},
]


def truth_of(m, case):
    p = joint(m)
    for name, seen in case.items():
        v = m[name]
        if isinstance(seen, list):
            shape = [1] * len(m)
            shape[v.index] = len(seen)
            p = p * np.array(seen).reshape(shape)
        else:
            mask = np.zeros(len(v.states))
            mask[v.states.index(seen)] = 1
            p = p * mask.reshape([-1 if i == v.index else 1 for i in range(len(m))])
    return p


@pytest.mark.parametrize("threads", [1, 2])
def test_cases_are_those_of_enumeration(threads):
    m = network()
    answers = m.infer_cases(CASES, query=["d", ["a", "c"]], threads=threads)
    assert answers["exact"].all() and set(answers["conflict"]) == {""}
    for row, case in enumerate(CASES):
        p = truth_of(m, case)
        assert answers["log_z"][row] == pytest.approx(math.log(p.sum()), abs=1e-12)
        assert answers["lower"][row] <= answers["log_z"][row] <= answers["upper"][row]
        assert answers.probabilities("d")[row] == pytest.approx(p.sum(axis=(0, 1, 2, 4)) / p.sum(), abs=1e-12)
        assert answers.probabilities("a", "c")[row] == pytest.approx(p.sum(axis=(1, 3, 4)) / p.sum(), abs=1e-12)
    assert answers["P(a=no, c=1)"][3] == pytest.approx(joint(m).sum(axis=(1, 3, 4))[0, 1])


def test_all_forms_of_cases_are_read(tmp_path):
    m = network()
    listed = [{"b": 1, "e": 0}, {"b": None, "e": 1}, {"b": 0, "e": 0}]
    wanted = m.infer_cases(listed, query=["a"])["P(a=yes)"]
    columns = {"case": ["x", "y", "z"], "b": [1.0, float("nan"), 0.0], "e": np.array([0, 1, 0])}
    answers = m.infer_cases(columns, query=["a"])
    assert answers["P(a=yes)"].tolist() == wanted.tolist() and answers["case"].tolist() == ["x", "y", "z"]
    file = tmp_path / "cases.csv"
    file.write_text("case,b,e\nx,1,0\ny,,1\nz,0,0\n")
    assert m.infer_cases(file, query=["a"])["P(a=yes)"].tolist() == wanted.tolist()
    everything = m.infer_cases(listed)
    assert len(everything) == 5 + 12 and everything["P(b=1)"].tolist()[0] == 1.0
    assert len(m.infer_cases([])["log_z"]) == 0
    with_base = m.infer_cases([{"e": 0}], query=["a"], evidence={"b": 1})
    assert with_base["P(a=yes)"][0] == wanted[0]


def test_impossible_cases_name_the_conflict():
    m = ts.Model()
    a, b = m.variable("a", 2), m.variable("b", 2)
    m.table([a], [0.5, 0.5])
    m.table([a, b], [[1.0, 0.0], [0.0, 1.0]])
    answers = m.infer_cases([{"a": 0, "b": 1}, {"a": 1, "b": 1}], query=["a"])
    assert answers["log_z"].tolist() == [-math.inf, pytest.approx(math.log(0.5))]
    assert answers["conflict"].tolist() == ["a=0, b=1", ""] and math.isnan(answers["P(a=0)"][0])


def test_mistakes_in_cases_say_where_they_are():
    m = network()
    with pytest.raises(ts.Error, match="case 2: 'd' has no state 'hig', .*did you mean 'high'"):
        m.infer_cases([{"d": "low"}, {"d": "hig"}])
    with pytest.raises(KeyError, match="no variable 'dd'"):
        m.infer_cases([{"dd": "low"}])
    with pytest.raises(ts.Error, match="different lengths: 1, 2"):
        m.infer_cases({"a": ["no"], "b": [0, 1]})
    with pytest.raises(TypeError, match="no keyword 'threat'.*'threads'"):
        m.infer_cases([{}], threat=1)
    with pytest.raises(KeyError, match="no query 'a'"):
        m.infer_cases([{}], query=["b"]).probabilities("a")
    with pytest.raises(ts.OptionError, match="samples"):
        m.infer_cases([{}], samples=5)


def test_a_session_is_infer_for_any_evidence():
    m = network(2)
    session = m.compile()
    random = np.random.default_rng(3)
    for _ in range(40):
        v = m.variables[random.integers(len(m))]
        if random.random() < 0.4:
            session.retract(v.name)
        elif random.random() < 0.3:
            session.observe({v.name: random.random(len(v.states))})
        else:
            session.observe({v.name: v.states[random.integers(len(v.states))]})
        answer = m.infer(evidence=session.evidence)
        assert session.log_z.estimate == pytest.approx(answer.log_z.estimate, abs=1e-12)
        for u in m.variables:
            assert session[u.name] == pytest.approx(answer[u.name], abs=1e-12)
    assert session.retract().evidence == {} and session.log_z.exact
    assert "5 variables, 0 observed" in repr(session) and "<table>" in session._repr_html_()


def test_a_session_says_what_is_wrong():
    m = network()
    session = m.compile()
    with pytest.raises(ts.Error, match="'d' has no state 'lo'"):
        session.observe(d="lo")
    with pytest.raises(KeyError, match="no variable 'q'"):
        session.retract("q")
    with pytest.raises(ts.Error, match="weights of 'b' are .*one number from 0 on per state"):
        session.observe(b=[0.0, 0.0])
    m.factor("a")(lambda a: 0.0)
    with pytest.raises(ts.Error, match="compile: the model has functions"):
        m.compile()


def test_a_session_of_what_is_impossible_has_no_marginals():
    m = ts.Model()
    a, b = m.variable("a", 2), m.variable("b", 2)
    m.table([a, b], [[1.0, 0.0], [0.0, 1.0]])
    session = m.compile().observe(a=0, b=1)
    assert session.log_z.estimate == -math.inf and len(session.marginals) == 0
    assert session.retract("b")["b"] == {0: 1.0, 1: 0.0}


def test_the_gradient_is_that_of_differences():
    m = ts.families.ising(n=4, seed=1)
    f = m.log_z_function()
    tables = [t + 0.1 * np.random.default_rng(i).normal(size=t.shape) for i, t in enumerate(f.tables)]
    value, gradients = f(tables)
    assert value == f.value(tables) and all(g.shape == t.shape for g, t in zip(gradients, tables))
    for i, j in ((0, 0), (3, 1), (len(tables) - 1, 2)):
        slope = []
        for step in (1e-5, -1e-5):
            moved = [t.copy() for t in tables]
            moved[i].flat[j % moved[i].size] += step
            slope.append(f.value(moved))
        assert gradients[i].flat[j % tables[i].size] == pytest.approx((slope[0] - slope[1]) / 2e-5, abs=1e-8)
    flat = np.concatenate([t.ravel() for t in tables])
    assert f(flat)[0] == value


def test_log_z_of_several_evidences():
    m = network()
    f = m.log_z_function([["a", "b"], 0])
    assert [[v.name for v in scope] for scope in f.scopes] == [["a", "b"], ["a"]]
    values, gradients = f(evidence=[{"e": 1}, {"c": 2, "b": [0.5, 1.0]}])
    assert values.shape == (2,) and gradients[0].shape == (2, 2, 2)
    for row, case in enumerate([{"e": 1}, {"c": 2, "b": [0.5, 1.0]}]):
        p = truth_of(m, case)
        assert values[row] == pytest.approx(math.log(p.sum()))
        assert gradients[0][row] == pytest.approx(p.sum(axis=(2, 3, 4)) / p.sum())
    with pytest.raises(ts.Error, match="1 tables are given, and there are 2"):
        f([np.zeros((2, 2))])
    with pytest.raises(ts.Error, match="0 factors have the variables 'a', 'e'"):
        m.log_z_function([["a", "e"]])
    with pytest.raises(ts.Error, match="no factor 9, allowed are 0 to 4"):
        m.log_z_function([9])


def em_by_enumeration(m, rows, iterations, prior):
    """Independent of the library: over all configurations, one row after the other."""
    scopes = [[v.index for v in scope] for scope, _ in m.factors]
    tables = [np.exp(logs) for _, logs in m.factors]
    shape = [len(v.states) for v in m.variables]
    for _ in range(iterations):
        p = np.ones(shape)
        for x in itertools.product(*map(range, shape)):
            p[x] = math.prod(t[tuple(x[v] for v in s)] for s, t in zip(scopes, tables))
        counts = [np.full(t.shape, prior) for t in tables]
        for row in rows:
            axes = tuple(slice(None) if s is None else slice(s, s + 1) for s in row)
            q = p[axes] / p[axes].sum()
            for x in itertools.product(*map(range, q.shape)):
                full = [x[i] if s is None else s for i, s in enumerate(row)]
                for s, c in zip(scopes, counts):
                    c[tuple(full[v] for v in s)] += q[x]
        tables = [c / c.sum(axis=-1, keepdims=True) for c in counts]
    return tables


@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_em_is_em_by_enumeration(prior):
    truth = network(5)
    samples = truth.infer().sample(60, seed=1)
    random = np.random.default_rng(2)
    rows = [[None if random.random() < 0.3 else int(s) for s in row] for row in samples]
    names = [v.name for v in truth.variables]
    data = [{n: (None if s is None else truth[n].states[s]) for n, s in zip(names, row)} for row in rows]
    start = network(6)
    reports = []
    fit = start.fit(data, iterations=12, tolerance=0.0, prior=prior, progress=reports.append, threads=2)
    for (_, logs), wanted in zip(fit.model.factors, em_by_enumeration(start, rows, 12, prior)):
        assert np.exp(logs) == pytest.approx(wanted, abs=1e-9)
    assert fit.iterations == 12 and all(np.diff(fit.log_likelihoods) > -1e-9) and len(reports) == 13
    assert fit.log_likelihoods == start.fit(data, iterations=12, tolerance=0.0, prior=prior, threads=1).log_likelihoods
    again = start.fit(data, iterations=5000, tolerance=1e-13, prior=prior)
    assert again.converged and "converged" in repr(again)


def test_shared_tables_are_learned_from_all_their_data():
    m = ts.Model()
    for name in "abc":
        m.variable(name, 2)
    m.table(["a"], [0.5, 0.5])
    m.table(["a", "b"], [[0.6, 0.4], [0.5, 0.5]])
    m.table(["b", "c"], [[0.5, 0.5], [0.5, 0.5]])
    fit = m.fit({"a": [0, 0, 1, 0], "b": [0, 1, 1, 0], "c": [1, 1, 1, 0]}, shared=[[["a", "b"], ["b", "c"]]])
    tables = [np.exp(logs) for _, logs in fit.model.factors]
    # From 0: (a, b) 0->0, 0->1, 0->0 and (b, c) 0->1, 0->0; from 1: 1->1 and 1->1, 1->1.
    assert tables[1] == pytest.approx(np.array([[3 / 5, 2 / 5], [0.0, 1.0]]))
    assert tables[2] == pytest.approx(tables[1]) and tables[0] == pytest.approx(np.array([0.75, 0.25]))
    assert fit.std_errors[0] == pytest.approx(math.sqrt(0.75 * 0.25 / 4))


def test_a_markov_network_is_fitted_to_its_moments():
    m = ts.Model()
    for i in range(4):
        m.variable(f"x{i}", 2)
    for i in range(4):
        m.log_table([f"x{i}", f"x{(i + 1) % 4}"], np.zeros((2, 2)))
    data = np.random.default_rng(1).integers(0, 2, size=(200, 4))
    data[:, 1] = np.where(np.random.default_rng(2).random(200) < 0.8, data[:, 0], data[:, 1])
    fit = m.fit({f"x{i}": data[:, i] for i in range(4)}, tolerance=1e-14)
    answer = fit.model.infer(query=[["x0", "x1"]])
    empirical = np.histogram2d(data[:, 0], data[:, 1], bins=2)[0] / 200
    assert np.array(answer.joint("x0", "x1")) == pytest.approx(empirical, abs=1e-5)
    rows = [tuple(row) for row in data]
    p = joint(fit.model)
    assert fit.log_likelihood == pytest.approx(sum(math.log(p[row] / p.sum()) for row in rows))
    assert fit.std_errors is None


def test_fit_says_what_is_wrong():
    m = network()
    with pytest.raises(ts.Error, match="method is 'me', allowed are 'em' and 'gradient'"):
        m.fit([{"a": "no"}], method="me")
    with pytest.raises(ts.Error, match="the data have no rows"):
        m.fit([])
    with pytest.raises(ts.Error, match="has weights, allowed are states"):
        m.fit([{"a": [0.5, 0.5]}])
    with pytest.raises(ts.Error, match="shared: tables have different shapes"):
        m.fit([{"a": "no"}], shared=[[0, ["a", "b"]]])
    with pytest.raises(ts.Error, match="prior: allowed are pseudo-counts from 0 on"):
        m.fit([{"a": "no"}], prior=-1.0)
    with pytest.raises(ts.Error, match="has evidence, which belongs into the data"):
        network().observe(a="no").fit([{"b": 1}])
    markov = ts.families.ising(n=2)
    with pytest.raises(ts.Error, match="method='em' is for Bayesian networks"):
        markov.fit([{}], method="em")


def test_do_is_adjustment_by_hand():
    # Confounding: u causes x and y, x causes y. P(y | do(x)) = sum over u of P(u) P(y | x, u).
    m = ts.Model()
    for name in "uxy":
        m.variable(name, 2)
    m.table(["u"], [0.7, 0.3])
    m.table(["u", "x"], [[0.9, 0.1], [0.2, 0.8]])
    m.table(["u", "x", "y"], [[[0.8, 0.2], [0.6, 0.4]], [[0.3, 0.7], [0.1, 0.9]]])
    seen = m.infer(evidence={"x": 1})["y"][1]
    done = m.infer(do={"x": 1})
    assert done["y"][1] == pytest.approx(0.7 * 0.4 + 0.3 * 0.9)  # 0.55
    assert seen == pytest.approx((0.07 * 0.4 + 0.24 * 0.9) / 0.31) and done["x"] == {0: 0.0, 1: 1.0}
    assert done["u"][1] == pytest.approx(0.3) and done.log_z.estimate == pytest.approx(0.0, abs=1e-12)
    # Cut, then observe: P(u | do(x), y) in proportion to P(u) P(y | x, u).
    both = m.infer(do={"x": 1}, evidence={"y": 1})
    assert both["u"][1] == pytest.approx(0.27 / 0.55) and both.log_z.estimate == pytest.approx(math.log(0.55))
    cases = m.infer_cases([{"y": 1}, {"y": 0}], do={"x": 1}, query=["u"])
    assert cases["P(u=1)"].tolist() == pytest.approx([0.27 / 0.55, 0.03 / 0.45])
    assert m.do({"x": 1}).compile()["y"][1] == pytest.approx(0.55)
    with pytest.raises(ts.Error, match="'x' has no state 2"):
        m.infer(do={"x": 2})
    with pytest.raises(ts.Error, match="do: is for Bayesian networks"):
        ts.families.ising(n=2).do({"x0": 1})


def test_a_path_that_contradicts_itself_is_impossible():
    m = ts.Model()
    for name in ("before", "now"):
        m.variable(name, 2)
    m.table(["before", "now"], np.ones((2, 2)))
    series = m.repeat(links=[("before", "now")])
    rows = [{"now": 0}, {"before": 1}]  # two names of one variable
    with pytest.raises(ts.Error, match="impossible"):
        series.best(rows)
    assert series.best([{"now": 1}, {"before": 1, "now": 0}])["now"] == [1, 0]


def test_sessions_know_what_is_too_small_for_a_number():
    m = ts.Model()
    a, b = m.variable("a", 2), m.variable("b", 2)
    m.table([a, b], [[1e200, 1.0], [0.0, 1e-200]])
    m.table([b], [1e-200, 1.0])
    session = m.compile().observe(a=1)
    truth = np.log(1e-200)
    assert session.log_z.lower <= truth <= session.log_z.upper
    assert session["b"][1] == pytest.approx(1.0)
    tiny = ts.Model()
    tiny.table([tiny.variable("a", 2)], [1.0, 5e-324])
    log_z = tiny.compile().observe(a=1).log_z
    assert log_z.lower <= np.log(5e-324) <= log_z.upper
    table = m.infer_cases([{"a": 1}])
    assert table["lower"][0] <= truth <= table["upper"][0]


def test_cases_that_leave_nothing_open():
    m = ts.Model()
    m.variable("a", 1)
    m.table([m.variable("b", 2)], [0.25, 0.75])
    table = m.infer_cases([{"a": 0, "b": 1}, {"a": 0}])
    assert table["P(a=0)"].tolist() == [1.0, 1.0]
    assert table["P(b=1)"].tolist() == pytest.approx([1.0, 0.75])


def test_what_cannot_be_is_one_line():
    m = ts.Model()
    m.table([m.variable("a", 2)], [0.5, 0.5])
    f = m.log_z_function()
    with pytest.raises(ts.Error, match="the list of evidences is empty"):
        f(evidence=[])
    with pytest.raises(ts.Error, match="the tables"):
        f(np.zeros(2, dtype=complex))
    with pytest.raises(ts.Error, match="no table to be learned"):
        m.fit([{"a": 0}], parameters=[])
    with pytest.raises(ts.Error, match="up to 1e100"):
        m.fit([{"a": 0}], prior=1e308)
    d = ts.Model()
    d.variable("a", 2)
    with pytest.raises(ts.Error, match="twice in the scope of a utility"):
        d.decide({"a": []}, [(["a", "a"], [[1, 1], [1, 1]])])
