"""Ten tasks of a practitioner, done as docs/python.md says, each checked by code of its own: its own reader of BIF, and
sums over all configurations in NumPy."""

import itertools
import json
import math
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import treesample as ts

MODELS = Path(os.environ.get("TREESAMPLE_MODELS", Path(__file__).parents[2] / "examples" / "models"))
ASIA = MODELS / "asia.bif"


class Truth:
    """A network of a few variables as one array over all of them."""

    def __init__(self, path):
        text = re.sub(r"//.*", "", path.read_text())
        self.states = {
            name: [s.strip() for s in states.split(",")]
            for name, states in re.findall(r"variable (\w+) \{\s*type discrete \[ \d+ \] \{([^}]*)\}", text)
        }
        self.names = list(self.states)
        self.tables = {}
        for scope, body in re.findall(r"probability \( ([^)]*) \) \{([^}]*)\}", text):
            child, _, parents = (part.strip() for part in scope.partition("|"))
            above = [p.strip() for p in parents.split(",")] if parents else []
            table = np.zeros([len(self.states[v]) for v in [*above, child]])
            for given, row in re.findall(r"(?:\(([^)]*)\)|table)\s*([-\d.e, ]+);", body):
                key = [self.states[p].index(s.strip()) for p, s in zip(above, given.split(","))] if given else []
                table[tuple(key)] = [float(x) for x in row.split(",")]
            self.tables[child] = (above, table)
        self.joint = self.product(self.tables)

    def product(self, tables, without=()):
        joint = np.ones([len(self.states[v]) for v in self.names])
        for child, (above, table) in tables.items():
            if child not in without:
                joint = joint * self.wide([*above, child], table)
        return joint

    def wide(self, scope, table):
        order = sorted(range(len(scope)), key=lambda i: self.names.index(scope[i]))
        shape = [len(self.states[v]) if v in scope else 1 for v in self.names]
        return np.transpose(table, order).reshape(shape)

    def given(self, evidence, joint=None):
        """The array in which what contradicts the evidence is 0."""
        joint = (self.joint if joint is None else joint).copy()
        for name, state in evidence.items():
            axis = self.names.index(name)
            mask = [s == state for s in self.states[name]]
            joint *= np.array(mask).reshape([-1 if i == axis else 1 for i in range(len(self.names))])
        return joint

    def of(self, names, joint):
        others = tuple(i for i, v in enumerate(self.names) if v not in names)
        table = joint.sum(axis=others) / joint.sum()
        kept = [v for v in self.names if v in names]
        return np.transpose(table, [kept.index(v) for v in names])

    def draw(self, count, seed):
        flat = np.random.default_rng(seed).choice(self.joint.size, size=count, p=self.joint.ravel())
        rows = np.array(np.unravel_index(flat, self.joint.shape)).T
        return [{v: self.states[v][s] for v, s in zip(self.names, row)} for row in rows]


@pytest.fixture(scope="module")
def truth():
    return Truth(ASIA)


def test_1_classify_ten_thousand_rows(truth, tmp_path):
    rng = np.random.default_rng(1)
    seen = ["asia", "smoke", "xray", "dysp"]
    patients = [{v: row[v] for v in seen if rng.random() > 0.3} for row in truth.draw(10_000, 1)]
    file = tmp_path / "patients.csv"
    file.write_text(",".join(seen) + "\n" + "".join(",".join(p.get(v, "") for v in seen) + "\n" for p in patients))
    table = ts.read(ASIA).infer_cases(file, query=["lung"])
    found = table.probabilities("lung")
    known = {}
    for row, patient in zip(found, patients):
        key = tuple(patient.items())
        if key not in known:
            known[key] = truth.of(["lung"], truth.given(patient))
        assert np.abs(row - known[key]).max() < 1e-9
    pandas = pytest.importorskip("pandas")
    frame = ts.read(ASIA).infer_cases(pandas.DataFrame(patients, columns=seen), query=["lung"])
    assert np.allclose(frame[["P(lung=yes)", "P(lung=no)"]].to_numpy(), found, atol=1e-12)


def test_2_the_best_test_to_order(truth):
    evidence = {"dysp": "yes"}
    told = ts.read(ASIA).infer(evidence=evidence, value_for="lung").observation_values
    joint = truth.given(evidence)
    for name, information in told.information.items():
        both, a, b = (truth.of(names, joint) for names in (["lung", name], ["lung"], [name]))
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = np.nansum(both * np.log(both / np.outer(a, b)))
        assert information == pytest.approx(expected, abs=1e-9)
    assert max(("xray", "asia", "smoke"), key=told.information.get) == "xray"


def test_3_fit_with_missing_values(truth):
    rng = np.random.default_rng(3)
    rows = [{v: s for v, s in row.items() if rng.random() > 0.2} for row in truth.draw(400, 3)]
    fit = ts.read(ASIA).fit(rows, prior=1.0, iterations=15, tolerance=0.0)
    tables = {child: (above, table.copy()) for child, (above, table) in truth.tables.items()}
    zero = {child: table == 0 for child, (_, table) in tables.items()}
    for _ in range(15):
        joint = truth.product(tables)
        counts = {child: np.where(zero[child], 0.0, 1.0) for child in tables}
        for row in rows:
            part = truth.given(row, joint)
            for child, (above, _) in tables.items():
                counts[child] += truth.of([*above, child], part)
        tables = {c: (above, counts[c] / counts[c].sum(axis=-1, keepdims=True)) for c, (above, _) in tables.items()}
    fitted = {scope[-1].name: np.exp(np.asarray(values)) for scope, values in fit.model.factors}
    for child, (_, table) in tables.items():
        assert np.abs(fitted[child].reshape(table.shape) - table).max() < 1e-9, child


def test_4_decide_and_what_it_is_worth_to_know(truth):
    m = ts.read(ASIA)
    m.variable("treat", ["no", "yes"])
    gain = [[-20.0, -5.0], [-300.0, -100.0]]  # lung no / yes; treat no / yes
    best = m.decide({"treat": ["xray", "smoke"]}, [(["lung", "treat"], gain[::-1])])
    value = 0.0
    for xray, smoke in itertools.product(("yes", "no"), repeat=2):
        joint = truth.given({"xray": xray, "smoke": smoke})
        chance, ill = joint.sum(), truth.of(["lung"], joint)[0]
        options = [ill * gain[1][d] + (1 - ill) * gain[0][d] for d in range(2)]
        value += chance * max(options)
        assert best.policies["treat"](xray=xray, smoke=smoke) == ["no", "yes"][int(np.argmax(options))]
    assert best.expected_utility == pytest.approx(value)
    ill = truth.of(["lung"], truth.joint)[0]
    knowing = ill * max(gain[1]) + (1 - ill) * max(gain[0])
    assert best.value_of("lung") == pytest.approx(knowing - value)


def hidden_chain():
    rng = np.random.default_rng(5)
    start, move, show = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(4), 3)
    m = ts.Model()
    before, now = m.variable("before", 3), m.variable("now", 3)
    seen = m.variable("seen", ["a", "b", "c", "d"])
    m.table([before, now], move)
    m.table([now, seen], show)
    series = m.repeat(links=[("before", "now")], start={"before": start})
    return start, move, show, series, rng.integers(0, 4, 200)


def test_5_track_over_time():
    start, move, show, series, symbols = hidden_chain()
    belief, expected, log_z = start, [], 0.0
    for s in symbols:
        belief = (belief @ move) * show[:, s]
        log_z += math.log(belief.sum())
        belief = belief / belief.sum()
        expected.append(belief)
    found = series.filter({"seen": ["abcd"[s] for s in symbols]})
    assert np.abs(found["now"] - np.array(expected)).max() < 1e-9 and found.log_z[-1] == pytest.approx(log_z)


def test_6_the_most_probable_path():
    start, move, show, series, symbols = hidden_chain()
    score = np.log(start)[:, None] + np.log(move) + np.log(show)[:, symbols[0]]
    back, score = [score.argmax(axis=0)], score.max(axis=0)
    for s in symbols[1:]:
        step = score[:, None] + np.log(move) + np.log(show)[:, s]
        back.append(step.argmax(axis=0))
        score = step.max(axis=0)
    path = [int(score.argmax())]
    for pointers in back[:0:-1]:
        path.append(int(pointers[path[-1]]))
    assert series.best({"seen": ["abcd"[s] for s in symbols]})["now"] == path[::-1]


GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- as GeNIe writes it -->
<smile version="1.0" id="Network1" numsamples="10000" discsamples="10000">
	<nodes>
		<cpt id="disease"><state id="yes" /><state id="no" /><probabilities>0.02 0.98</probabilities></cpt>
		<cpt id="test"><state id="pos" /><state id="neg" /><parents>disease</parents>
			<probabilities>0.9 0.1 0.05 0.95</probabilities></cpt>
	</nodes>
	<extensions><genie version="1.0" app="GeNIe 3.0" name="Network1"><node id="disease"><name>disease</name>
		<interior color="e5f6f7" /><position>10 10 80 50</position></node></genie></extensions>
</smile>
"""
HUGIN = """net { node_size = (80 40); HR_Zoom_ZoomFactor = "100"; }
node disease { label = "A disease"; position = (10 20); states = ("yes" "no"); HR_State_0 = ""; }
node test { states = ("pos" "neg"); }
potential (disease) { data = (0.02 0.98); }
potential (test | disease) { data = ((0.9 0.1)(0.05 0.95)); }
"""


def test_7_exchange_files_with_other_programs(truth, tmp_path):
    posterior = 0.02 * 0.9 / (0.02 * 0.9 + 0.98 * 0.05)
    for name, text in (("net.xdsl", GENIE), ("net.net", HUGIN)):
        (tmp_path / name).write_text(text)
        assert ts.read(tmp_path / name).infer(evidence={"test": "pos"})["disease"]["yes"] == pytest.approx(posterior)
    program = os.environ.get("TREESAMPLE_PROGRAM")
    if program is None:
        pytest.skip("TREESAMPLE_PROGRAM is not set")
    for name in ("asia.xdsl", "asia.net", "asia.xmlbif", "asia.dsc", "asia.uai"):
        subprocess.run([program, "convert", str(ASIA), str(tmp_path / name)], check=True, capture_output=True)
        z = ts.read(tmp_path / name)
        names = {v.name: v for v in z.variables}
        xray = names.get("xray") or z.variables[truth.names.index("xray")]
        log_z = z.infer(evidence={xray.name: xray.states[0]}).log_z.estimate
        assert log_z == pytest.approx(math.log(truth.given({"xray": "yes"}).sum())), name


def test_8_what_if_it_were_set(truth):
    set_it = truth.given({"lung": "yes"}, truth.product(truth.tables, without=["lung"]))
    m = ts.read(ASIA)
    assert m.infer(do={"lung": "yes"})["smoke"]["yes"] == pytest.approx(truth.of(["smoke"], set_it)[0])
    seen = truth.given({"xray": "yes", "lung": "yes"}, set_it)
    found = m.infer(do={"lung": "yes"}, evidence={"xray": "yes"}, query=[["tub", "bronc"]]).joint("tub", "bronc")
    assert np.abs(found - truth.of(["tub", "bronc"], seen)).max() < 1e-9
    # By hand: the effect on dysp, adjusted for smoke.
    adjusted = sum(
        truth.of(["smoke"], truth.joint)[s] * truth.of(["dysp"], truth.given({"lung": "yes", "smoke": word}))[0]
        for s, word in enumerate(("yes", "no"))
    )
    assert m.infer(do={"lung": "yes"})["dysp"]["yes"] == pytest.approx(adjusted)


def test_9_how_much_depends_on_a_number(truth):
    evidence = {"xray": "yes"}
    told = ts.read(ASIA).infer(evidence=evidence, sensitivity="lung=yes").sensitivity
    one = next(p for p in told.most_influential if len(p.states) == 2)
    child = next(scope[-1].name for i, (scope, _) in enumerate(ts.read(ASIA).factors) if i == one.factor)
    above, table = truth.tables[child]

    def at(shift):
        changed = table.copy()
        key = tuple(truth.states[v].index(str(one.states[v])) for v in [*above, child])
        row = changed[key[:-1]]
        p = row[key[-1]] + shift
        changed[key[:-1]] = np.array([p if i == key[-1] else q * (1 - p) / (1 - row[key[-1]]) for i, q in enumerate(row)])
        joint = truth.product({**truth.tables, child: (above, changed)})
        return truth.of(["lung"], truth.given(evidence, joint))[0]

    assert told.value == pytest.approx(at(0.0))
    assert one.derivative == pytest.approx((at(1e-6) - at(-1e-6)) / 2e-6, rel=1e-4)


def test_10_a_page_and_a_session_with_doubtful_evidence(truth):
    weights = truth.wide(["smoke"], np.array([0.8, 0.2]))
    joint = truth.given({"dysp": "yes"}) * weights
    session = ts.read(ASIA).compile().observe(dysp="yes", smoke=[0.8, 0.2])
    assert session["lung"]["yes"] == pytest.approx(truth.of(["lung"], joint)[0])
    assert session.log_z.estimate == pytest.approx(math.log(joint.sum()))
    answer = ts.read(ASIA).infer(evidence={"dysp": "yes", "smoke": {"yes": 0.8, "no": 0.2}}, query=[["lung"]])
    best = np.unravel_index(joint.argmax(), joint.shape)
    assert answer.best == {v: truth.states[v][s] for v, s in zip(truth.names, best)}
    data = json.loads(re.search(r'id="data">(.*?)</script>', answer.to_html(), re.DOTALL)[1])
    assert data["answer"]["queries"][0]["table"][0]["probability"] == pytest.approx(truth.of(["lung"], joint)[0])
    assert data["circuit"] is not None
