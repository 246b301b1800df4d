"""Models against enumeration in NumPy, names, errors, pickling."""
import itertools
import json
import math
import pickle

import numpy as np
import pytest

import treesample as ts


def enumerate_model(model):
    """log Z and marginals by brute force, through log_density alone."""
    shape = [len(v.states) for v in model.variables]
    rows = np.array(list(itertools.product(*map(range, shape))), dtype=np.int32)
    logs = model.log_density(rows)
    for name, state in model.evidence.items():
        variable = model[name]
        logs = np.where(rows[:, variable.index] == variable.states.index(state), logs, -np.inf)
    weights = np.exp(logs)
    marginals = [np.bincount(rows[:, v], weights, minlength=k) / weights.sum() for v, k in enumerate(shape)]
    return math.log(weights.sum()), marginals, rows[int(np.argmax(logs))]


def test_answers_equal_enumeration(sprinkler):
    for evidence in ({}, {"grass": "wet"}, {"grass": "damp", "sprinkler": "on"}):
        sprinkler.forget().observe(evidence)
        log_z, marginals, best = enumerate_model(sprinkler)
        answer = sprinkler.infer()
        assert answer.log_z.exact
        assert answer.log_z.lower <= answer.log_z.upper
        assert math.isclose(float(answer.log_z), log_z, abs_tol=1e-12)
        for variable, expected in zip(sprinkler.variables, marginals):
            assert np.allclose(answer.marginals.array(variable.name), expected, atol=1e-12)
        assert answer.best == answer.named(best)
        assert answer.best_is_optimal


def test_evidence_of_a_call_leaves_the_model_alone(sprinkler):
    before = sprinkler.infer()
    during = sprinkler.infer(evidence={"grass": "wet"})
    assert during["grass"]["wet"] == 1.0
    assert sprinkler.evidence == {}
    assert float(sprinkler.infer().log_z) == float(before.log_z)
    assert float(during.log_z) < float(before.log_z)


def test_joint_queries_map_and_k_best(sprinkler):
    rows = np.array(list(itertools.product(range(2), range(2), range(3))), dtype=np.int32)
    weights = np.exp(sprinkler.log_density(rows)).reshape(2, 2, 3)
    answer = sprinkler.infer(query=[["rain", "grass"], "sprinkler"], map=["grass", "rain"], k_best=3)
    assert np.allclose(answer.joint("rain", "grass"), weights.sum(axis=1) / weights.sum(), atol=1e-12)
    assert np.allclose(answer.joint("sprinkler"), weights.sum(axis=(0, 2)) / weights.sum(), atol=1e-12)
    with pytest.raises(KeyError, match="was not asked for"):
        answer.joint("rain", "sprinkler")
    summed = weights.sum(axis=1)  # rain, grass
    rain, grass = np.unravel_index(int(summed.argmax()), summed.shape)
    assert answer.map.states == {"grass": ["dry", "damp", "wet"][grass], "rain": ["no", "yes"][rain]}
    assert answer.map.optimal and math.isclose(answer.map.log_value, math.log(summed.max()), abs_tol=1e-9)
    assert np.allclose([value for _, value in answer.k_best], np.log(np.sort(weights.ravel())[::-1][:3]), atol=1e-12)
    assert answer.k_best[0][0] == answer.best


def test_soft_evidence_and_evidence_probability(sprinkler):
    hard = sprinkler.infer(evidence={"grass": "wet"})
    assert math.isclose(hard.evidence_probability, math.exp(float(hard.log_z)))
    soft = sprinkler.infer(evidence={"grass": {"wet": 0.7, "dry": 0.3}})
    for_list = sprinkler.infer(evidence={"grass": [0.3, 0.0, 0.7]})
    assert float(soft.log_z) == float(for_list.log_z)
    expected = 0.7 * math.exp(float(hard.log_z)) + 0.3 * math.exp(float(sprinkler.infer(evidence={"grass": "dry"}).log_z))
    assert math.isclose(math.exp(float(soft.log_z)), expected, rel_tol=1e-12)
    assert soft.evidence_probability is None
    impossible = sprinkler.infer(evidence={"grass": "dry", "rain": "yes", "sprinkler": "on"})
    assert float(impossible.log_z) == -math.inf and set(impossible.conflict) == {"grass", "rain", "sprinkler"}


def test_tables_have_the_shape_of_their_variables():
    model = ts.Model()
    a, b = model.variable("a", 2), model.variable("b", 3)
    with pytest.raises(ts.Error, match=r"\(2, 2\).*must have \(2, 3\)"):
        model.table([a, b], np.ones((2, 2)))
    with pytest.raises(ts.Error, match="allowed are numbers from 0 on"):
        model.table([a], [-1.0, 1.0])
    with pytest.raises(ts.Error):
        model.log_table([a], [math.nan, 0.0])
    model.log_table([b, a], np.log(np.arange(1.0, 7.0)).reshape(3, 2))
    assert model.log_density({"a": 1, "b": 2}) == math.log(6.0)


def test_names_that_do_not_exist_are_named(sprinkler):
    with pytest.raises(ts.Error, match="'sprinklr'; did you mean 'sprinkler'"):
        sprinkler.observe(sprinklr="on")
    with pytest.raises(ts.Error, match="no state 'wett'.*did you mean 'wet'"):
        sprinkler.observe(grass="wett")
    with pytest.raises(ts.Error, match="did you mean 'rain'"):
        sprinkler.infer()["rian"]
    with pytest.raises(TypeError, match="did you mean 'method'"):
        sprinkler.infer(metod="exact")
    with pytest.raises(ts.OptionError, match="^gap"):
        sprinkler.infer(gap=-1)
    with pytest.raises(ValueError):
        sprinkler.infer(method="magic")
    with pytest.raises(ts.Error, match="already"):
        sprinkler.variable("rain", 2)


def test_impossible_models_have_no_samples_and_no_nan():
    model = ts.Model()
    a = model.variable("a", 2)
    model.table([a], [0.0, 0.0])
    answer = model.infer()
    assert float(answer.log_z) == -math.inf and answer.log_z.exact
    assert len(answer.marginals) == 0 and answer.best is None
    with pytest.raises(ts.Error):
        answer.sample(1)


def test_samples_have_their_probabilities(sprinkler):
    answer = sprinkler.infer(method="search", budget=1000, select="q-uct")
    draws = answer.sample(20000, seed=3)
    assert draws.dtype == np.int32 and draws.shape == (20000, 3)
    assert np.array_equal(draws, answer.sample(20000, seed=3))
    _, marginals, _ = enumerate_model(sprinkler)
    for v in range(3):
        assert np.allclose(np.bincount(draws[:, v], minlength=len(marginals[v])) / 20000, marginals[v], atol=0.02)
    rows = np.array(list(itertools.product(range(2), range(2), range(3))), dtype=np.int32)
    assert math.isclose(np.exp(answer.log_prob(rows)).sum(), 1.0, abs_tol=1e-12)


def test_models_can_be_pickled(sprinkler):
    sprinkler.observe(grass="wet")
    copy = pickle.loads(pickle.dumps(sprinkler))
    assert copy.evidence == {"grass": "wet"}
    assert copy.variables == sprinkler.variables
    assert float(copy.infer().log_z) == float(sprinkler.infer().log_z)


def test_tables_are_views(sprinkler):
    view = sprinkler._graph.table(1)
    assert np.allclose(np.exp(view), [[0.6, 0.4], [0.99, 0.01]])
    with pytest.raises(ValueError):
        view[0, 0] = 1.0


def test_written_models_are_read_back(sprinkler, tmp_path):
    for extension in ("uai", "json", "bif", "xmlbif", "xdsl", "net", "dsc"):
        path = tmp_path / f"model.{extension}"
        sprinkler.write(path)
        assert math.isclose(float(ts.read(path).infer().log_z), float(sprinkler.infer().log_z), abs_tol=1e-12)
    assert [v.name for v in ts.read(tmp_path / "model.json").variables] == ["rain", "sprinkler", "grass"]
    with pytest.raises(ts.Error, match="must end in one of"):
        sprinkler.write(tmp_path / "model.txt")
    assert not (tmp_path / "model.txt").exists()


def test_evidence_beside_a_model_is_read_in_any_form(sprinkler, tmp_path):
    path = tmp_path / "model.json"
    sprinkler.write(path)
    (tmp_path / "model.json.evid").write_text("grass wet\nsprinkler ~ 1 3\nsprinkler ~ 1 2\n")
    read = ts.read(path)
    assert read.evidence == {"grass": "wet"}
    expected = sprinkler.observe(grass="wet", sprinkler=[1.0, 6.0]).infer()
    assert math.isclose(float(read.infer().log_z), float(expected.log_z), abs_tol=1e-12)
    with pytest.raises(ts.Error, match="model.json.evid:1"):
        (tmp_path / "model.json.evid").write_text("grass green\n")
        ts.read(path)


def test_marginals_as_arrays_and_frames(sprinkler):
    marginals = sprinkler.infer().marginals
    array = marginals.to_numpy()
    assert array.shape == (3, 3) and np.isnan(array[0, 2])
    assert math.isclose(np.nansum(array), 3.0)
    pandas = pytest.importorskip("pandas")
    frame = marginals.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 7
    assert set(frame["variable"]) == {"rain", "sprinkler", "grass"}


def test_samples_as_a_dataset(sprinkler):
    pytest.importorskip("xarray")
    data = sprinkler.infer(budget=100, select="q-uct").to_xarray(50)
    assert data["rain"].dims == ("chain", "draw") and data["rain"].shape == (1, 50)
    assert "log_prob" in data


def page_data(answer):
    text = answer.to_html()
    begin = text.index('id="data">') + len('id="data">')
    return json.loads(text[begin : text.index("</script>", begin)])


def test_page(sprinkler):
    answer = sprinkler.infer(evidence={"grass": "wet"})
    data = page_data(answer)
    assert data["answer"]["evidence"] == {"grass": "wet"}
    assert data["kind"] == "answer" and data["graph"]["scopes"]
    for name, row in data["answer"]["marginals"].items():
        assert list(row.values()) == pytest.approx(list(answer[name].values()))
    searched = page_data(sprinkler.infer(budget=100, select="q-uct"))
    assert searched["tree"]["nodes"]
    calls = []
    model = ts.Model()
    x = [model.variable(f"x{i}", 3) for i in range(4)]
    for v in x:
        model.factor(v)(lambda state: calls.append(state) or 0.5 * state)
    paid = model.infer(calls=8)
    before = len(calls)
    assert len(page_data(paid)["graph"]["scopes"]) == 4
    assert len(calls) == before  # a page calls nothing


def test_representations(sprinkler):
    answer = sprinkler.infer()
    assert "exact" in repr(answer)
    assert "<table>" in answer._repr_html_() and answer.to_html().startswith("<!doctype html>")
    assert "sprinkler" in sprinkler._repr_html_()
    model = ts.Model()
    model.variable("<b>", ["<i>", "&"])
    assert "<b>" not in model._repr_html_() and "<i>" not in model.infer()._repr_html_()


def test_from_other_libraries():
    class Table:  # of pgmpy: values have the axes of `variables`
        def __init__(self, variables, values, state_names):
            self.variables, self.values, self.state_names = variables, values, state_names

    class Network:
        def get_cpds(self):
            yes_no = ["yes", "no"]
            return [
                Table(["cold"], np.array([0.3, 0.7]), {"cold": yes_no}),
                Table(["cough", "cold"], np.array([[0.8, 0.1], [0.2, 0.9]]), {"cough": yes_no, "cold": yes_no}),
            ]

    answer = ts.Model.from_pgmpy(Network()).infer(evidence={"cough": "yes"})
    assert math.isclose(answer["cold"]["yes"], 0.24 / (0.24 + 0.07), abs_tol=1e-12)

    networkx = pytest.importorskip("networkx")
    ring = networkx.cycle_graph(5)
    networkx.set_edge_attributes(ring, 0.7, "coupling")
    expected = math.log((2 * math.cosh(0.7)) ** 5 + (2 * math.sinh(0.7)) ** 5)
    assert math.isclose(float(ts.Model.from_networkx(ring).infer().log_z), expected, abs_tol=1e-12)


def test_networks_of_pyagrum():
    class Variable:
        def __init__(self, name, labels):
            self._name, self._labels = name, labels

        def name(self):
            return self._name

        def domainSize(self):
            return len(self._labels)

        def label(self, i):
            return self._labels[i]

    class Table:  # of pyAgrum: the first name is the variable's own, and the axes of the array are in the other order
        def __init__(self, names, values):
            self.names, self._values = names, values

        def toarray(self):
            return np.array(self._values)

    class Network:
        def nodes(self):
            return {0, 1}

        def variable(self, node):
            return [Variable("flu", ["no", "yes"]), Variable("cough", ["never", "some", "much"])][node]

        def cpt(self, node):
            return [Table(["flu"], [0.9, 0.1]), Table(["cough", "flu"], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])][node]

    answer = ts.Model.from_pyagrum(Network()).infer(evidence={"cough": "much"})
    assert math.isclose(answer["flu"]["yes"], 0.06 / 0.15, abs_tol=1e-12)


def test_densities_ask_for_batches():
    model = ts.Model()
    a, b = model.variable("a", 3), model.variable("b", ["x", "y"])
    model.log_table([a], [0.0, -np.inf, 1.0])
    sizes = []

    @model.factor(b, a, batch=4)
    def by_rows(rows):
        sizes.append(len(rows))
        return 10.0 * rows[:, 0] + rows[:, 1]

    rows = np.array([[i, j] for i in range(3) for j in range(2)] * 3)
    expected = [[0.0, -np.inf, 1.0][i] + 10.0 * j + i for i, j in rows]
    assert model.log_density(rows).tolist() == expected
    assert sizes == [4, 4, 4]
    assert model.log_density({"a": 2, "b": "y"}) == 13.0


def test_factors_can_be_looked_at(sprinkler):
    sprinkler.factor("rain", cost=0)(len)
    assert [tuple(v.name for v in variables) for variables, _ in sprinkler.factors][1:] == [
        ("rain", "sprinkler"), ("sprinkler", "rain", "grass"), ("rain",)]
    table = sprinkler.factors[1][1]
    assert table.shape == (2, 2) and np.isclose(np.exp(table[0, 1]), 0.4) and not table.flags.writeable
    assert sprinkler.factors[3][1] is len
