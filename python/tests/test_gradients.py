"""log Z in other libraries, and fits by its gradient."""

import numpy as np
import pytest
from test_kept import network

import treesample as ts


def test_log_z_for_torch():
    torch = pytest.importorskip("torch")
    from treesample.torch import log_z

    f = network().log_z_function([0, 1])
    tables = [torch.tensor(t, requires_grad=True) for t in f.tables]
    log_z(f, *tables).backward()
    for table, wanted in zip(tables, f()[1]):
        assert table.grad.numpy() == pytest.approx(wanted)


def test_log_z_for_jax():
    jax = pytest.importorskip("jax")
    from treesample.jax import log_z

    f = network().log_z_function([0, 1])
    gradients = jax.grad(log_z(f), argnums=(0, 1))(*f.tables)
    for found, wanted in zip(gradients, f()[1]):
        assert np.asarray(found) == pytest.approx(wanted, abs=1e-6)


def test_gradient_with_a_prior_has_a_mode():
    m = ts.Model()
    a, b = m.variable("a", 2), m.variable("b", 3)
    m.table([a], [0.5, 0.5])  # tables of different sizes
    m.table([a, b], np.ones((2, 3)))
    m.table([a, b], np.ones((2, 3)))
    data = {"a": [0, 1, 1, 0, 1], "b": [0, 1, 2, 2, None]}
    fit = m.fit(data, method="gradient", prior=0.5)
    assert fit.converged
    assert all(later >= before for before, later in zip(fit.log_likelihoods, fit.log_likelihoods[1:]))
    alone = ts.Model()
    alone.table([alone.variable("a", 2)], [0.9, 0.1])
    fit = alone.fit({"a": [0, 1, 1, 0, 1]}, method="gradient", prior=0.5, tolerance=1e-14)
    assert fit.model.infer()["a"][1] == pytest.approx(3.5 / 6, abs=1e-5)
    twice = ts.Model()
    for name in "ab":
        twice.variable(name, 2)
    twice.table(["a", "b"], np.ones((2, 2)))
    twice.table(["b", "a"], np.ones((2, 2)))
    with pytest.raises(ts.Error, match="factors that share a table have different ones"):
        twice.fit({"a": [0]}, method="gradient", prior=[np.ones((2, 2)), np.zeros((2, 2))], shared=[[0, 1]])
