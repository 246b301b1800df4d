"""Structures of Bayesian networks."""

import itertools
import math

import numpy as np
import pytest

import treesample as ts
from treesample import dags


def data(width, rows=50, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, width))
    for v in range(1, width):
        table[:, v] += 0.8 * table[:, v - 1]
    return table


def all_dags(n):
    for masks in itertools.product(range(2**n), repeat=n):
        if any(masks[v] >> v & 1 for v in range(n)):
            continue
        left, changes = (1 << n) - 1, True
        while changes:
            changes = False
            for v in range(n):
                if left >> v & 1 and not masks[v] & left:
                    left, changes = left & ~(1 << v), True
        if not left:
            yield masks


def test_the_posterior_equals_enumeration():
    table = data(4)
    posterior = dags.posterior(table, samples=50, seed=2)
    scores = dags.scores(table)
    weights = {masks: sum(scores[v, m] for v, m in enumerate(masks)) for masks in all_dags(4)}
    assert len(weights) == 543
    most = max(weights.values())
    log_z = most + math.log(sum(math.exp(w - most) for w in weights.values()))
    assert posterior.log_z.exact and posterior.log_z.estimate == pytest.approx(log_z, abs=1e-9)
    assert posterior.log_z.lower <= log_z + 1e-12 and posterior.log_z.upper >= log_z - 1e-12
    for u in range(4):
        for v in range(4):
            truth = sum(math.exp(w - log_z) for masks, w in weights.items() if masks[v] >> u & 1)
            assert posterior.edges[u, v] == pytest.approx(truth, abs=1e-9)
    assert posterior.best.log_score == pytest.approx(most)
    for dag in posterior.samples:
        masks = [0] * 4
        for source, target in dag.edges:
            masks[int(target)] |= 1 << int(source)
        assert dag.log_score == pytest.approx(weights[tuple(masks)])
        assert dag.log_prob == pytest.approx(dag.log_score - log_z)


def test_a_csv_file_a_mapping_and_an_array_are_the_same(tmp_path):
    table = data(3, rows=12)
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, map(float, row))) for row in table) + "\n")
    from_file = dags.posterior(path)
    from_mapping = dags.posterior({"a": table[:, 0], "b": table[:, 1], "c": table[:, 2]})
    assert from_file.names == ("a", "b", "c")
    assert from_file.log_z == from_mapping.log_z == dags.posterior(table).log_z
    assert dags.posterior(path, columns=["c", "a"]).edge("a", "c") > 0.0


def test_labels_are_scored_by_bdeu():
    rng = np.random.default_rng(1)
    rain = rng.choice(["no", "yes"], size=300)
    wet = np.where(rng.random(300) < 0.9, rain, "no")
    posterior = dags.posterior({"rain": rain, "wet": wet, "coin": rng.choice(["h", "t"], size=300)}, score="bdeu")
    assert posterior.edge("rain", "wet") + posterior.edge("wet", "rain") > 0.99
    # Both directions say the same of the data, so they are equally probable.
    assert posterior.edge("rain", "wet") == pytest.approx(posterior.edge("wet", "rain"), abs=0.05)
    assert posterior.edge("coin", "wet") < 0.2


def test_five_and_ten_nodes():
    assert dags.posterior(data(5)).num_states == 212
    posterior = dags.posterior(data(10))
    assert posterior.num_states == 58026 and posterior.log_z.exact
    edges = posterior.edges
    assert np.all((edges >= 0) & (edges + edges.T <= 1 + 1e-12))


def test_wrong_tables_are_named(tmp_path):
    path = tmp_path / "table.csv"
    for text, message in [
        ("a,b\n1,2\n3\n", "row 2 has 1 values"),
        ("a,a\n1,2\n", "two columns have one name"),
        ("a,b\n", "at least one row"),
        ("a,b\n1,dog\n", "column 'b', row 0 is 'dog'"),
        ("a,b\n1,inf\n", "row 0, column 1 is inf"),
    ]:
        path.write_text(text)
        with pytest.raises(ts.Error, match=message):
            dags.posterior(path)
    with pytest.raises(ts.Error, match="score is 'bic'"):
        dags.posterior(data(2), score="bic")
    with pytest.raises(ts.Error, match="number of columns"):
        dags.posterior(data(14))
    with pytest.raises(ts.Error, match="no column 'z'"):
        dags.posterior(data(2), columns=["z"])
    with pytest.raises(ts.Error, match="numbers are too large"):
        dags.posterior(np.ones((3, 2)) * 1e200 + data(2, rows=3) * 1e190)
