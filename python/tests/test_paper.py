"""The paper's algorithm in Python against the library's."""
import doctest
import importlib
import math

import numpy as np
import pytest

import treesample as ts


@pytest.mark.parametrize("family", ["chain", "permuted_chain", "factor_graphs_1", "factor_graphs_2"])
def test_both_searches_grow_the_same_tree(family):
    model = getattr(ts.families, family)(seed=4, n=6)
    for budget in (1, 20, 300):
        slow = ts.paper.TreeSample(model)
        slow.run(budget)
        fast = ts.tree_sample(model, budget=budget)
        assert slow.used == fast.evaluations
        assert math.isclose(slow.log_z, fast.log_z, abs_tol=1e-9)
        x = list(max(slow.tree, key=len))
        x += [0] * (len(model) - len(x))
        for prefix_length, q in enumerate(fast.q_along(x)):
            assert np.allclose(q, slow.tree[tuple(x[:prefix_length])].q, atol=1e-9)


def test_a_full_search_is_exact():
    model = ts.families.chain(n=4, k=3, seed=2)
    search = ts.paper.TreeSample(model)
    search.run(10**6)
    assert search.tree[()].complete.all()
    assert math.isclose(search.log_z, float(model.infer().log_z), abs_tol=1e-9)
    rng = np.random.default_rng(1)
    draws = np.array([search.sample(rng) for _ in range(4000)])
    expected = model.infer().marginals
    for v in range(4):
        assert np.allclose(np.bincount(draws[:, v], minlength=3) / 4000, expected.array(f"x{v}"), atol=0.04)


def test_a_rule_of_ones_own():
    model = ts.families.chain(n=5, k=3, seed=3)
    greedy = ts.paper.TreeSample(model, rule=lambda node: node.q)
    greedy.run(60)
    assert greedy.used == 60
    assert greedy.tree.keys() != ts.paper.TreeSample(model).tree.keys()


@pytest.mark.parametrize("name", ["treesample", "treesample._model", "treesample._formula", "treesample._options", "treesample._answer", "treesample.families",
                                  "treesample._train", "treesample.paper"])
def test_examples_of_the_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0
    assert tried > 0 or name == "treesample._answer"
