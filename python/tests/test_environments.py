"""The bundled environments from Python."""

import math

import pytest

import treesample as ts


def test_a_hypergrid_has_the_sum_of_its_rewards():
    grid = ts.environments.hypergrid(dimensions=2, height=8)
    answer = grid.infer(samples=20)

    def reward(x):
        far = [abs(value / 7 - 0.5) for value in x]
        return 1e-3 + 0.5 * all(f > 0.25 for f in far) + 2.0 * all(0.3 < f < 0.4 for f in far)

    total = sum(reward((x, y)) for x in range(8) for y in range(8))
    assert answer.log_z.exact and math.isclose(answer.log_z.estimate, math.log(total))
    probabilities = answer.probabilities()
    assert len(probabilities) == 64 and math.isclose(probabilities[6, 1], reward((6, 1)) / total)
    assert all(sample in probabilities for sample in answer.samples)
    assert math.isclose(answer.expect(lambda x: x[0]), 3.5)
    assert all(
        math.isclose(p, math.log(probabilities[x])) for p, x in zip(answer.sample_log_probs, answer.samples))
    assert answer.spent["calls"] == 64
    path = answer.sample_paths[0]
    assert path.states[0] == (0, 0) and path.actions[-1] == "stop" and len(path.actions) == sum(path.end) + 1


def test_few_calls_are_learned_and_extended(tmp_path):
    grid = ts.environments.hypergrid(dimensions=3, height=10)
    journal = tmp_path / "grid.journal"
    few = grid.infer(calls=150, journal=journal)
    assert few.calls == 150 and not few.log_z.exact
    truth = grid.infer().log_z
    assert few.log_z.lower <= truth.estimate
    more = few.extend()
    assert more.calls == 850 and more.log_z.exact and math.isclose(more.log_z.estimate, truth.estimate)
    with pytest.raises(ts.Error, match="is the journal of the program"):
        ts.environments.hypergrid(dimensions=3, height=9).infer(calls=5, journal=journal)


def test_graphs_of_a_table_have_the_posterior_of_dags():
    data = {"rain": [0.1 * i for i in range(20)], "river": [0.1 * i + math.sin(i) for i in range(20)], "wind": [math.cos(5 * i) for i in range(20)]}
    answer = ts.environments.dag(data).infer()
    posterior = ts.dags.posterior(data)
    assert answer.num_ends == 25 and math.isclose(answer.log_z.estimate, posterior.log_z.estimate)
    edge = answer.expect(lambda edges: ("rain", "river") in edges)
    assert math.isclose(edge, posterior.edge("rain", "river"), rel_tol=1e-9)


def test_the_others_have_all_their_objects():
    assert ts.environments.bits(bits=16, word=8).infer().num_ends == 65536
    assert isinstance(ts.environments.binding(seed=1).infer(calls=20, method="tree").best, str)
    assert ts.environments.permutations([[0, 1, 2], [3, 0, 4], [5, 6, 0]]).infer().best == (1, 2, 0)
    assert ts.environments.phylogeny(["ACGT", "ACGA", "TTGA"]).infer().probabilities().keys() == {
        "((a,b),c)", "((a,c),b)", "((b,c),a)"}
    model = ts.families.ising(seed=2, n=3)
    assert math.isclose(ts.environments.configurations(model).infer().log_z.estimate, model.infer().log_z.estimate)


def test_a_table_of_a_file(tmp_path):
    (tmp_path / "words.csv").write_text("word,value\nA,1\nB,3\n")
    answer = ts.environments.table(tmp_path / "words.csv", alphabet="AB").infer()
    assert answer.best == "B" and math.isclose(answer.probabilities()["A"], 0.25)


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ts.Error, match="height is '0', allowed are whole numbers from 2"):
        ts.environments.hypergrid(height=0)
    with pytest.raises(ts.Error, match="allowed are 1 to 7"):
        ts.environments.dag({str(i): [1.0, 2.0, float(i)] for i in range(8)})
    with pytest.raises(ts.Error, match="computed in C"):
        import concurrent.futures

        ts.environments.hypergrid(height=4).infer(executor=concurrent.futures.ThreadPoolExecutor(1))
    with pytest.raises(ts.Error, match="none.csv"):
        ts.environments.table(tmp_path / "none.csv")
