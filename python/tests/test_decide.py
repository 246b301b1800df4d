"""Decisions: diagrams from the literature by hand, and random ones against all policies."""

import itertools
import json
import math
import os
import subprocess

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


def pigs():
    """Breeding pigs (Lauritzen and Nilsson 2001): each of three months a test, and a treatment that costs 100; a healthy
    pig is sold for 1000, an ill one for 300."""
    m = ts.Model()
    names = [name for month in "123" for name in (f"h{month}", f"t{month}", f"d{month}")] + ["h4"]
    for name in names:
        m.variable(name, {"h": ["ill", "well"], "t": ["negative", "positive"], "d": ["treat", "leave"]}[name[0]])
    m.table(["h1"], [0.1, 0.9])
    for month in "123":
        m.table([f"h{month}", f"t{month}"], [[0.2, 0.8], [0.9, 0.1]])
        after = [[[0.5, 0.5], [0.9, 0.1]], [[0.1, 0.9], [0.2, 0.8]]]  # [health][treat or leave]
        m.table([f"h{month}", f"d{month}", f"h{int(month) + 1}"], after)
    utilities = [([f"d{month}"], [-100.0, 0.0]) for month in "123"] + [(["h4"], [300.0, 1000.0])]
    return m, {f"d{month}": [f"t{month}"] for month in "123"}, utilities


def expected_utility_of_pigs(policies):
    """Of three policies of the last test each, by enumeration."""
    table = {(0,): 0.1, (1,): 0.9}
    total = 0.0
    for policy in policies:
        after = {}
        for (s,), p in table.items():
            for t in range(2):
                seen = ([0.2, 0.8], [0.9, 0.1])[s][t]
                d = policy[t]
                total += p * seen * (-100.0 if d == 0 else 0.0)
                for u, q in enumerate((([0.5, 0.5], [0.9, 0.1]), ([0.1, 0.9], [0.2, 0.8]))[s][d]):
                    after[(u,)] = after.get((u,), 0.0) + p * seen * q
        table = after
    assert abs(sum(table.values()) - 1) < 1e-12
    return total + sum(p * (300.0, 1000.0)[s] for (s,), p in table.items())


def best_with_memory(health, months):
    """By the belief about the pig's health, which has all that was seen."""
    if months == 0:
        return float(health @ [300.0, 1000.0])
    value = 0.0
    for t in range(2):
        seen = health * np.array([[0.2, 0.8], [0.9, 0.1]])[:, t]
        after = [np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.2, 0.8]])]
        chance, belief = seen.sum(), seen / seen.sum()
        value += chance * max(best_with_memory(belief @ after[d], months - 1) - 100.0 * (d == 0) for d in range(2))
    return value


def test_pigs_with_limited_memory():
    m, decisions, utilities = pigs()
    best = m.decide(decisions, utilities, limited=True)
    by_hand = max(expected_utility_of_pigs(p) for p in itertools.product(itertools.product((0, 1), repeat=2), repeat=3))
    assert best.expected_utility == pytest.approx(by_hand)
    assert best.expected_utility == pytest.approx(726.812, abs=5e-4)  # as published
    assert best.exact and best.gap == 0.0
    remembering = m.decide(decisions, utilities)
    assert remembering.expected_utility == pytest.approx(best_with_memory(np.array([0.1, 0.9]), 3))
    assert best.policies["d1"](t1="positive") == "leave"
    assert best.policies["d2"](t2="positive") == best.policies["d3"](t3="positive") == "treat"


def random_limited(seed):
    """Three decisions, each with two known variables of three states: too many policies to try them all."""
    rng = np.random.default_rng(seed)
    m = ts.Model()
    for i in range(6):
        m.variable(f"c{i}", 3)
    for i in range(3):
        m.variable(f"d{i}", 3)
    m.table(["c0"], rng.dirichlet(np.ones(3)))
    for i in range(1, 6):
        m.table([f"c{i - 1}", f"c{i}"], rng.dirichlet(np.ones(3), size=3))
    known = {"d0": ["c0", "c1"], "d1": ["c2", "c3"], "d2": ["c4", "c5"]}
    utilities = [(["c1", "d0", "d1"], rng.normal(size=(3, 3, 3))), (["c3", "d1", "d2"], rng.normal(size=(3, 3, 3)))]
    return m, known, utilities


@pytest.mark.parametrize("seed", range(2))
def test_limited_memory_has_a_certified_gap(seed):
    m, known, utilities = random_limited(seed)
    best = m.decide(known, utilities, limited=True)
    full = m.decide(known, utilities)
    assert best.expected_utility <= best.upper == pytest.approx(max(full.expected_utility, best.expected_utility))
    # The policies that were found have the utility that is claimed.
    value = 0.0
    answer = m.infer(query=[["c0", "c1", "c2", "c3", "c4", "c5"]], method="exact")
    joint = answer.joint("c0", "c1", "c2", "c3", "c4", "c5")
    for c in itertools.product(range(3), repeat=6):
        p = joint[c]
        d = [best.policies[f"d{i}"](**{f"c{j}": c[j] for j in range(6)}) for i in range(3)]
        value += p * (utilities[0][1][c[1], d[0], d[1]] + utilities[1][1][c[3], d[1], d[2]])
    assert value == pytest.approx(best.expected_utility)
    # No other choice of one decision is better alone.
    for i in [seed % 3]:
        for known_states in itertools.product(range(3), repeat=2):
            for state in range(3):
                def choose(j, c):
                    mine = tuple(c[v] for v in (2 * j, 2 * j + 1))
                    if j == i and mine == known_states:
                        return state
                    return best.policies[f"d{j}"](**{f"c{v}": c[v] for v in range(6)})
                other = sum(
                    joint[c] * (utilities[0][1][c[1], choose(0, c), choose(1, c)]
                                + utilities[1][1][c[3], choose(1, c), choose(2, c)])
                    for c in itertools.product(range(3), repeat=6)
                )
                assert other <= best.expected_utility + 1e-9


XMLBIF = """<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>oil</NAME>
<VARIABLE TYPE="decision"><NAME>drill</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>oil</NAME><OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME><OUTCOME>soaking</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>seismic</NAME><OUTCOME>closed</OUTCOME><OUTCOME>open</OUTCOME><OUTCOME>diffuse</OUTCOME>
<OUTCOME>none</OUTCOME></VARIABLE>
<VARIABLE TYPE="decision"><NAME>test</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>cost</NAME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>profit</NAME></VARIABLE>
<DEFINITION><FOR>oil</FOR><TABLE>0.5 0.3 0.2</TABLE></DEFINITION>
<DEFINITION><FOR>seismic</FOR><GIVEN>test</GIVEN><GIVEN>oil</GIVEN>
<TABLE>0 0 0 1  0 0 0 1  0 0 0 1  0.1 0.3 0.6 0  0.3 0.4 0.3 0  0.5 0.4 0.1 0</TABLE></DEFINITION>
<DEFINITION><FOR>drill</FOR><GIVEN>seismic</GIVEN></DEFINITION>
<DEFINITION><FOR>cost</FOR><GIVEN>test</GIVEN><TABLE>0 -10</TABLE></DEFINITION>
<DEFINITION><FOR>profit</FOR><GIVEN>drill</GIVEN><GIVEN>oil</GIVEN><TABLE>0 0 0 -70 50 200</TABLE></DEFINITION>
</NETWORK></BIF>
"""
XDSL = """<?xml version="1.0"?>
<smile version="1.0" id="oil"><nodes>
<decision id="drill"><state id="no" /><state id="yes" /><parents>seismic</parents></decision>
<decision id="test"><state id="no" /><state id="yes" /></decision>
<cpt id="oil"><state id="dry" /><state id="wet" /><state id="soaking" /><probabilities>0.5 0.3 0.2</probabilities></cpt>
<cpt id="seismic"><state id="closed" /><state id="open" /><state id="diffuse" /><state id="none" />
<parents>test oil</parents>
<probabilities>0 0 0 1 0 0 0 1 0 0 0 1 0.1 0.3 0.6 0 0.3 0.4 0.3 0 0.5 0.4 0.1 0</probabilities></cpt>
<utility id="cost"><parents>test</parents><utilities>0 -5</utilities></utility>
<utility id="profit"><parents>drill oil</parents><utilities>0 0 0 -70 50 200</utilities></utility>
<mau id="all"><parents>cost profit</parents><weights>2 1</weights></mau>
</nodes><extensions /></smile>
"""


@pytest.mark.parametrize("name, text", [("oil.xmlbif", XMLBIF), ("oil.xdsl", XDSL)])
def test_decisions_in_files(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    m, decisions, utilities = ts.read_decisions(path)
    assert decisions == {"test": [], "drill": ["seismic"]}  # in their order in time, whatever that of the file
    best = m.decide(decisions, utilities)
    assert best.expected_utility == pytest.approx(22.5)
    assert best.policies["drill"](test="yes", seismic="open") == "yes"
    with pytest.raises(ts.Error, match="treesample decide"):
        ts.read(path)
    program = [os.environ["TREESAMPLE_PROGRAM"], "decide", str(path)]
    told = subprocess.run([*program, "--value-of", "oil:drill"], capture_output=True, text=True, check=True).stdout
    assert "utility     22.5, the largest one" in told and "policy      test: yes" in told
    assert "value of    oil:drill: 32.5" in told
    answer = json.loads(subprocess.run([*program, "--limited", "--json", "-"], capture_output=True, check=True).stdout)
    assert answer["expected_utility"] == pytest.approx(22.5) and answer["upper"] == pytest.approx(22.5)
    drill = next(p for p in answer["policies"] if p["decision"] == "drill")
    assert {row["given"]["seismic"]: row["choice"] for row in drill["choices"]}["diffuse"] == "no"


@pytest.mark.parametrize("old, new, message", [
    ("<TABLE>0 -10</TABLE>", "<TABLE>0 -10 3</TABLE>", "utility 'cost' has 3 entries, expected 2"),
    ("<TABLE>0 -10</TABLE>", "<TABLE>0 cheap</TABLE>", "expected numbers in <TABLE>, found 'cheap'"),
    ("<DEFINITION><FOR>cost</FOR><GIVEN>test</GIVEN><TABLE>0 -10</TABLE></DEFINITION>", "", "has no <DEFINITION>"),
    ("<FOR>drill</FOR><GIVEN>seismic</GIVEN>", "<FOR>drill</FOR><TABLE>1 0</TABLE>", "decision has a <TABLE>"),
])
def test_broken_diagrams_are_named_by_line(tmp_path, old, new, message):
    path = tmp_path / "oil.xmlbif"
    assert old in XMLBIF
    path.write_text(XMLBIF.replace(old, new))
    with pytest.raises(ts.Error, match=message) as error:
        ts.read_decisions(path)
    assert "oil.xmlbif:" in str(error.value)


def test_many_findings_are_not_impossible():
    m = ts.Model()
    m.variable("ill", 2)
    m.variable("treat", 2)
    m.table(["ill"], [0.5, 0.5])
    found = {f"finding{i}": 0 for i in range(1500)}
    for i, name in enumerate(found):
        m.variable(name, 2)
        m.table(["ill", name], [[0.5, 0.5], [0.25, 0.75]] if i % 2 else [[0.25, 0.75], [0.5, 0.5]])
    decided = m.decide({"treat": []}, [(["ill", "treat"], [[0, -1], [-10, 5]])], evidence=found)
    assert decided.expected_utility == pytest.approx(2.0)
    assert decided.log_z == pytest.approx(m.infer(evidence=found).log_z.estimate - math.log(2))  # without "treat"


def test_the_program_keeps_to_time_and_memory(tmp_path):
    def wide(number):
        chances = [f"c{i}" for i in range(number)]
        nodes = "".join(
            f'<cpt id="{c}"><state id="a" /><state id="b" /><probabilities>0.5 0.5</probabilities></cpt>'
            for c in chances
        )
        nodes += f'<decision id="d"><state id="a" /><state id="b" /><parents>{" ".join(chances)}</parents></decision>'
        nodes += "".join(
            f'<utility id="u{c}"><parents>{c} d</parents><utilities>0 1 2 3</utilities></utility>' for c in chances
        )
        path = tmp_path / "wide.xdsl"
        path.write_text(f'<?xml version="1.0"?><smile version="1.0" id="wide"><nodes>{nodes}</nodes></smile>')
        return [os.environ["TREESAMPLE_PROGRAM"], "decide", str(path)]

    told = subprocess.run(wide(8), capture_output=True, text=True, check=True).stdout
    assert "... and 156 more (--json FILE has all)" in told
    for limit, word in ((["--time", "0.3"], "--time"), (["--memory", "50M"], "--memory")):
        run = subprocess.run([*wide(25), *limit], capture_output=True, text=True, check=False)
        assert run.returncode == 69 and word in run.stderr and run.stdout == ""
