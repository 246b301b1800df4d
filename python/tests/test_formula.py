"""Formulas: exact counts against enumeration, and the files and mistakes of formulas."""

import fractions
import gzip
import itertools
import math
import pickle
import random

import pytest

import treesample as ts

CLAUSES = [[1, 2], [-1, 3], [-2, -3, 4]]


def truth(n, clauses, weights, shown):
    total, seen = fractions.Fraction(0), set()
    for x in itertools.product((False, True), repeat=n):
        key = tuple(x[v - 1] for v in shown)
        if key in seen or not all(any(x[abs(l) - 1] == (l > 0) for l in clause) for clause in clauses):
            continue
        seen.add(key)
        total += math.prod((fractions.Fraction(weights.get(v if x[v - 1] else -v, 1)) for v in shown), start=fractions.Fraction(1))
    return total, bool(seen)


def test_counts_are_those_of_enumeration():
    rng = random.Random(4)
    for i in range(60):
        n = rng.randrange(1, 9)
        clauses = [
            [v if rng.random() < 0.5 else -v for v in rng.sample(range(1, n + 1), rng.randrange(1, min(n, 4) + 1))]
            for _ in range(rng.randrange(0, 3 * n))
        ]
        weights = {}
        for v in rng.sample(range(1, n + 1), rng.randrange(0, n + 1)):
            for l in (v, -v):
                weights[l] = rng.choice(["0.25", "1/3", "2", "-3", "1e-2", "0"])
        shown = sorted(rng.sample(range(1, n + 1), rng.randrange(0, n + 1))) if i % 2 else list(range(1, n + 1))
        count = ts.Formula(clauses, num_variables=n, weights=weights, shown=shown).count(threads=1 + i % 3)
        value, satisfiable = truth(n, clauses, weights, shown)
        assert count.exact and count.value == value and count.satisfiable == satisfiable
        assert isinstance(count.value, int) == (value.denominator == 1)
        if value > 0:
            assert count.log_lower <= math.log(value) + 1e-12 and math.log(value) <= count.log_upper + 1e-12


def test_weights_are_exact():
    f = ts.Formula([[1]], weights={1: 0.1})
    assert f.count().value == fractions.Fraction(1, 10) and f.weights[-1] == fractions.Fraction(9, 10)
    assert ts.Formula([[1, 2]], weights={1: fractions.Fraction(1, 7)}).count().value == 1 + fractions.Fraction(1, 7)


def test_counts_of_any_size():
    n = 60000
    assert ts.Formula(num_variables=n).count().value == 2**n
    assert ts.Formula([range(1, 1001)]).count().value == 2**1000 - 1


def test_files(tmp_path):
    f = ts.Formula(CLAUSES, weights={1: "1/3"}, shown=[1, 3])
    f.write(tmp_path / "f.cnf")
    with gzip.open(tmp_path / "f.cnf.gz", "wt") as file:
        file.write(f.text())
    for again in (ts.Formula.read(tmp_path / "f.cnf"), ts.Formula.read(str(tmp_path / "f.cnf.gz")), pickle.loads(pickle.dumps(f))):
        assert (again.clauses, again.weights, again.shown) == (f.clauses, f.weights, (1, 3))
        assert again.count().value == f.count().value
    with pytest.raises(ts.Error, match=r"bad\.cnf:2: expected a literal"):
        (tmp_path / "bad.cnf").write_text("p cnf 2 1\n1 3 0\n")
        ts.Formula.read(tmp_path / "bad.cnf")


def test_models_and_circuits(tmp_path):
    f = ts.Formula(CLAUSES)
    answer = f.model().infer(samples=20)
    assert answer["x3"][1] == pytest.approx(4 / 6)
    assert answer.log_z.estimate == pytest.approx(math.log(6))
    assert len(answer.samples) == 20 and all(x[0] or x[1] for x in answer.samples)
    f.compile(tmp_path / "f.nnf")
    assert ts.count_nnf(tmp_path / "f.nnf") == 6
    with pytest.raises(ts.Error, match="has no solution"):
        f.given(1, -1).compile(tmp_path / "none.nnf")
    assert not (tmp_path / "none.nnf").exists()
    assert ts.Formula.of(f.model()).count().value == 6
    assert f.given(3).count().value == 4


def test_what_is_stopped_has_certified_bounds():
    rng = random.Random(1)
    clauses = [[v if rng.random() < 0.5 else -v for v in rng.sample(range(1, 201), 3)] for _ in range(500)]
    count = ts.Formula(clauses).count(time=0.2)
    assert not count.exact and count.value is None and count.stop == "time"
    assert 0 <= count.log_lower < count.log_upper <= 200 * math.log(2)
    assert "not finished" in repr(count)


def test_ctrl_c_and_progress():
    def stop(report):
        raise KeyboardInterrupt

    rng = random.Random(1)
    clauses = [[v if rng.random() < 0.5 else -v for v in rng.sample(range(1, 201), 3)] for _ in range(500)]
    with pytest.raises(KeyboardInterrupt):
        ts.Formula(clauses).count(progress=stop)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ts.Formula([[1, 0]]), "clause 1 has the literal 0"),
        (lambda: ts.Formula([[1, 3]], num_variables=2), "clause 1 has the literal 3, allowed are 1 to 2"),
        (lambda: ts.Formula([[1.5]]), "clause 1 has the literal 1.5"),
        (lambda: ts.Formula([[1]], weights={2: 0.5}), "weights has the literal 2"),
        (lambda: ts.Formula([[1]], weights={1: "x"}), "the weight of 1 is 'x'"),
        (lambda: ts.Formula([[1]], weights={1: math.nan}), "the weight of 1 is nan"),
        (lambda: ts.Formula([[1]], weights={1: 2}), "-1 needs one, too"),
        (lambda: ts.Formula([[1]], shown=[2]), "shown has the variable 2, allowed are 1 to 1"),
        (lambda: ts.Formula([[1]]).count(reductions="some"), "reductions is 'some'"),
        (lambda: ts.Formula([[1]]).count(memory="4X"), "memory is '4X'"),
        (lambda: ts.Formula([[1]], weights={1: "-1", -1: 1}).model(), "negative weight"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(ts.Error, match=message):
        make()
