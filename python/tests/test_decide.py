"""Decisions: diagrams from the literature by hand, and random ones against all policies."""

import itertools
import math

import numpy as np
import pytest

import treesample as ts


def wildcatter():
    """The oil wildcatter (Raiffa 1968): test the ground for 10, then drill for 70."""
    m = ts.Model()
    m.variable("oil", ["dry", "wet", "soaking"])
    m.variable("seismic", ["closed", "open", "diffuse", "none"])
    m.variable("test", ["no", "yes"])
    m.variable("drill", ["no", "yes"])
    m.table(["oil"], [0.5, 0.3, 0.2])
    none = [0.0, 0.0, 0.0, 1.0]
    seen = [[0.1, 0.3, 0.6, 0.0], [0.3, 0.4, 0.3, 0.0], [0.5, 0.4, 0.1, 0.0]]
    m.table(["test", "oil", "seismic"], [[none] * 3, seen])
    decisions = {"test": [], "drill": ["seismic"]}
    utilities = [(["test"], [0.0, -10.0]), (["drill", "oil"], [[0.0, 0.0, 0.0], [-70.0, 50.0, 200.0]])]
    return m, decisions, utilities


def test_the_oil_wildcatter():
    m, decisions, utilities = wildcatter()
    best = m.decide(decisions, utilities)
    # P(closed) = 0.24, P(open) = 0.35, P(diffuse) = 0.41. Drilling earns 87.5, 32.86 and -30.49 then: not after diffuse.
    # With the test: 0.24 * 87.5 + 0.35 * 32.857... - 10 = 22.5; without: 0.5 * -70 + 0.3 * 50 + 0.2 * 200 = 20.
    assert best.expected_utility == pytest.approx(22.5)
    assert best.policies["test"]() == "yes"
    drill = best.policies["drill"]
    assert [drill(test="yes", seismic=s) for s in ("closed", "open", "diffuse")] == ["yes", "yes", "no"]
    assert drill(test="no", seismic="none") == "yes"
    with pytest.raises(ts.Error, match="is impossible"):
        drill(test="no", seismic="open")
    with pytest.raises(ts.Error, match="depends on .*, which is not given"):
        drill()
    # Who knows the oil drills in the wet and the soaking ground, without the test: 0.3 * 50 + 0.2 * 200 = 55.
    assert best.value_of("oil", before="drill") == pytest.approx(55 - 22.5)
    assert m.decide(decisions, utilities, evidence={"oil": "dry"}).expected_utility == pytest.approx(0.0)


def test_the_chest_clinic_with_a_treatment():
    m = ts.Model()
    for name in ("smoke", "lung", "xray", "treat"):
        m.variable(name, ["no", "yes"])
    m.table(["smoke"], [0.5, 0.5])
    m.table(["smoke", "lung"], [[0.99, 0.01], [0.9, 0.1]])
    m.table(["lung", "xray"], [[0.95, 0.05], [0.02, 0.98]])
    utilities = [(["lung", "treat"], [[0.0, -5.0], [-100.0, -30.0]])]
    best = m.decide({"treat": ["xray", "smoke"]}, utilities)
    value, policy = 0.0, {}
    for smoke, risk in enumerate((0.01, 0.1)):
        for xray in (0, 1):
            ill = risk * (0.98 if xray else 0.02)
            well = (1 - risk) * (0.05 if xray else 0.95)
            leave, treat = -100 * ill, -5 * well - 30 * ill
            policy[smoke, xray] = "yes" if treat > leave else "no"
            value += 0.5 * max(leave, treat)
    assert best.expected_utility == pytest.approx(value)
    for (smoke, xray), choice in policy.items():
        states = {"smoke": ["no", "yes"][smoke], "xray": ["no", "yes"][xray]}
        assert best.policies["treat"](**states) == choice
    seen = m.decide({"treat": ["xray"]}, utilities, evidence={"smoke": "yes"})
    assert math.exp(seen.log_z) == pytest.approx(0.5)


def test_random_diagrams_against_all_policies():
    random = np.random.default_rng(1)
    for _ in range(6):
        m = ts.Model()
        for name in ("a", "d1", "b", "d2", "c"):
            m.variable(name, 2)
        pa, pb, pc = random.dirichlet([1, 1]), random.dirichlet([1, 1], (2, 2)), random.dirichlet([1, 1], (2, 2, 2))
        m.table(["a"], pa)
        m.table(["a", "d1", "b"], pb)
        m.table(["a", "d2", "b", "c"], pc)
        u1, u2 = random.normal(size=(2, 2)), random.normal(size=(2, 2, 2))
        best = m.decide({"d1": [], "d2": ["b"]}, [(["a", "d1"], u1), (["d1", "c", "d2"], u2)])
        values = []
        for d1 in (0, 1):
            for rule in itertools.product((0, 1), repeat=2):  # d2 by b; d1 is what it is
                value = 0.0
                for a, b, c in itertools.product((0, 1), repeat=3):
                    p = pa[a] * pb[a, d1, b] * pc[a, rule[b], b, c]
                    value += p * (u1[a, d1] + u2[d1, c, rule[b]])
                values.append((value, d1, rule))
        value, d1, rule = max(values)
        assert best.expected_utility == pytest.approx(value)
        assert best.policies["d1"]() == d1
        assert [best.policies["d2"](d1=d1, b=b) for b in (0, 1)] == list(rule)
        assert best.value_of("a") >= -1e-12


def test_what_cannot_be_decided_is_said():
    m, decisions, utilities = wildcatter()
    with pytest.raises(KeyError, match="no variable 'dril'; did you mean 'drill'"):
        m.decide({"dril": []}, utilities)
    with pytest.raises(ts.Error, match="'test' has the shape"):
        m.decide(decisions, [(["test"], [1.0])])
    with pytest.raises(ts.Error, match="drill is known to test before it is decided"):
        m.decide({"test": ["drill"], "drill": []}, utilities)
    with pytest.raises(ts.Error, match="what is known when test is decided depends on it"):
        m.decide({"test": ["seismic"], "drill": []}, utilities)
    with pytest.raises(ts.Error, match="is a decision, and cannot be evidence"):
        m.decide(decisions, utilities, evidence={"drill": "yes"})
    m = ts.Model()
    for name in ("a", "b", "d"):
        m.variable(name, 2)
    m.table(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ts.Error, match="the evidence is impossible"):
        m.decide({"d": []}, [(["a", "d"], np.zeros((2, 2)))], evidence={"a": 0, "b": 1})
