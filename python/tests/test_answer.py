"""Answers as objects: every result can be read, saved and pickled, and what is known of an error is said."""
import inspect
import json
import math
import pickle
import subprocess

import numpy as np
import pytest

import treesample as ts
from treesample import _core


def rich_answer(models):
    """One with every question that goes together."""
    model = ts.read(models / "asia.bif")
    return model.infer(evidence={"xray": "yes", "smoke": {"yes": 2.0, "no": 1.0}}, query=["lung", ["lung", "tub"]],
                       map=["smoke"], k_best=2, sensitivity="lung=yes", value_for="lung", entropy=True, samples=4)


def expensive(log_max=None, on_failure="stop", fails=False):
    model = ts.Model()
    variables = [model.variable(f"x{i}", ["low", "mid", "high"]) for i in range(6)]
    number = model.variable("number", 4)

    @model.factor(*variables, number, log_max=log_max, on_failure=on_failure, max_failure_share=1.0)
    def simulate(*states):
        if fails and states[0] == "high":
            raise ValueError("the simulator broke")
        return -0.5 * sum(state == "mid" for state in states) - 0.1 * states[-1]

    return model


def answers(models):
    asia = ts.read(models / "asia.bif")
    return {
        "rich": rich_answer(models),
        "impossible": asia.infer(evidence={"either": "no", "lung": "yes"}, query=[["tub", "bronc"]]),
        "search": asia.infer(select="gap", budget=20, samples=3),
        "tree": asia.infer(select="q-uct", budget=20),
        "gibbs": asia.infer(method="gibbs", budget=1000, samples=2),
        "calls": expensive(log_max=0.0, on_failure="impossible", fails=True).infer(calls=60),
    }


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) or isinstance(a, ts.Marginals) or isinstance(a, ts.Calls):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    return a == b or (a != a and b != b)


def public(cls):
    return [name for name in dir(cls) if not name.startswith("_")]


def test_every_field_of_the_json_is_an_attribute(models, program, tmp_path):
    file = tmp_path / "answer.json"
    subprocess.run([program, "infer", str(models / "asia.bif"), "--json", str(file), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    fields = json.loads(file.read_text())
    assert list(fields) == [name for name, *_ in _core.results()]
    for answer in answers(models).values():
        assert list(json.loads(answer.to_json())) == list(fields)
        for name in fields:
            getattr(answer, name)


@pytest.mark.parametrize("cls", [ts.Answer, ts.Model, ts.Marginals, ts.Calls, ts.LogZ, ts.MapStates, ts.Sensitivity,
                                 ts.Parameter, ts.ObservationValues, ts.Variable, ts.Journal, ts.Trained, ts.UnknownName])
def test_every_public_member_has_a_docstring(cls):
    assert inspect.getdoc(cls)
    for name in public(cls):
        is_field = name in getattr(cls, "_fields", ()) or name in getattr(cls, "__dataclass_fields__", {})
        if is_field or hasattr(tuple, name) or hasattr(BaseException, name) or isinstance(getattr(cls, name), (str, tuple)):
            continue
        assert inspect.getdoc(getattr(cls, name)), f"{cls.__name__}.{name}"


def test_everything_that_is_exported_has_a_docstring():
    for name in ts.__all__:
        if not isinstance(getattr(ts, name), str):
            assert inspect.getdoc(getattr(ts, name)), name


def test_saved_and_pickled_answers_are_the_same(models, tmp_path):
    for what, answer in answers(models).items():
        answer.save(tmp_path / "answer.json")
        for other in (ts.load_answer(tmp_path / "answer.json"), pickle.loads(pickle.dumps(answer)),
                      pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(answer))))):
            assert repr(other) == repr(answer)
            for name in public(ts.Answer):
                if callable(getattr(ts.Answer, name)) or name == "plan":
                    continue
                assert same(getattr(answer, name), getattr(other, name)), (what, name)
            assert json.loads(other.to_json()) == json.loads(answer.to_json())
            for method in (lambda: other.sample(3), lambda: other.extend(time=1), other.to_html, other.summary):
                with pytest.raises(ts.Error, match="this answer was saved"):
                    method()
        assert not list(tmp_path.glob("*.partial"))


def test_labels_survive_pickling():
    model = ts.Model()
    size = model.variable("size", [10, 20, 30])
    model.table([size], [1, 5, 2])
    answer = pickle.loads(pickle.dumps(model.infer()))
    assert answer.best == {"size": 20} and list(answer["size"]) == [10, 20, 30]


def test_answers_of_the_program_are_read(models, program, tmp_path):
    file = tmp_path / "answer.json"
    subprocess.run([program, "infer", str(models / "asia.bif"), "--json", str(file), "--quiet", "--entropy"], check=True,
                   stdout=subprocess.DEVNULL)
    read, made = ts.load_answer(file), ts.read(models / "asia.bif").infer(entropy=True)
    assert read.log_z == made.log_z and read["lung"] == made["lung"] and read.best == made.best
    assert read.entropy == made.entropy == pytest.approx(2.237029, abs=1e-6)


@pytest.mark.parametrize("text, message", [("", "is no answer"), ("[]", "is no answer"), ("{}", "is no answer"),
                                           ('{"format": "treesample answer", "version": 2}', "version 2"),
                                           ('{"format": "treesample answer", "version": 1}', "it has no")])
def test_other_files_are_refused(text, message, tmp_path):
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(ts.Error, match=message):
        ts.load_answer(file)


def test_what_was_asked_for_can_be_read(models):
    answer = rich_answer(models)
    found = answer.sensitivity
    assert found.of == {"lung": "yes"} and found.rows_add_up is True
    assert found.value == pytest.approx(answer["lung"]["yes"], abs=1e-12)
    assert len(found.derivatives) == 8 and found.most_influential[0].states
    one = found.most_influential[0]
    assert one.derivative in found.derivatives[one.factor]
    values = answer.observation_values
    assert values.variable == "lung" and answer.value_for == values.information
    assert list(values.information.values()) == sorted(values.information.values(), reverse=True)
    assert 0.0 < max(values.information.values()) <= values.entropy
    assert answer.joint("lung", "tub").shape == (2, 2)
    assert answer.map.states.keys() == {"smoke"} and answer.map.log_value <= answer.map.log_value_upper
    assert len(answer.k_best) == 2 and answer.k_best_are_optimal
    assert answer.samples.shape == (4, 8) and answer.sample_log_densities.shape == (4,)
    search = ts.read(models / "asia.bif").infer(select="q-uct", budget=20)
    assert 0.0 <= search.unexplored_mass <= 1.0
    assert search.log_z.importance["num_samples"] > 0
    assert answer.summary().startswith("model       ")


def test_the_entropy_is_that_of_the_marginals_of_independent_variables():
    model = ts.Model()
    for i, weights in enumerate(([1, 3], [2, 2, 2], [0, 1])):
        model.table([model.variable(f"x{i}", len(weights))], weights)
    expected = math.log(4) - 0.75 * math.log(3) + math.log(3)
    assert model.infer(entropy=True).entropy == pytest.approx(expected, abs=1e-12)
    assert model.infer().entropy is None
    with pytest.raises(ts.OptionError, match="entropy"):
        expensive().infer(entropy=True, calls=10)


def test_calls_are_a_table(tmp_path):
    journal = tmp_path / "run.journal"
    model = expensive(log_max=0.0, on_failure="impossible", fails=True)
    answer = model.infer(calls=40, journal=journal)
    calls = answer.calls
    assert list(calls)[:8] == ["function", "x0", "x1", "x2", "x3", "x4", "x5", "number"]
    assert len(calls.records) == answer.spent["calls"] and set(calls["function"]) == {"simulate"}
    assert set(calls["number"]) <= {0, 1, 2, 3} and set(calls["x0"]) <= {"low", "mid", "high"}
    failed = np.array([text is not None for text in calls["failure"]])
    assert np.array_equal(failed, calls["x0"] == "high") and np.all(calls["log_value"][failed] == -math.inf)
    for row in np.flatnonzero(~failed):
        states = [calls[f"x{i}"][row] for i in range(6)]
        assert calls["log_value"][row] == -0.5 * states.count("mid") - 0.1 * calls["number"][row]
    assert not calls["from_journal"].any()
    more_answer = model.infer(calls=60, journal=journal)
    more = more_answer.calls
    assert 0 < more["from_journal"].sum() == more_answer.spent["functions"][0]["from_journal"] + sum(
        1 for one in more_answer.calls.records if one["from_journal"] and one["failure"])
    with pytest.raises(KeyError, match="did you mean 'log_value'"):
        calls["log_valu"]
    assert ts.families.chain(seed=1).infer().calls.records == []


def test_the_representation_says_what_is_known(models):
    asia = ts.read(models / "asia.bif")
    assert "exact" in repr(asia.infer())
    guess = expensive().infer(calls=30, importance=0, select="mass")
    assert guess.log_z.is_guess and "(a guess)" in repr(guess)
    weighted = ts.families.ising(n=5, seed=3).infer(select="gap", budget=300, leaf="uniform", importance=500)
    assert not weighted.log_z.exact and "with confidence 0.95" in repr(weighted)
    assert not weighted.log_z.is_guess and "guess" not in repr(weighted)
    sampled = asia.infer(select="q-uct", budget=20, seed=1)
    assert (sampled.log_z.std_error is None) == ("+-" not in repr(sampled))


def test_unknown_names_are_key_errors(models):
    asia = ts.read(models / "asia.bif")
    answer = asia.infer()
    for look in (lambda: answer["lunge"], lambda: answer.marginals["lunge"], lambda: asia["lunge"],
                 lambda: answer.marginals.array("lunge"), lambda: asia.infer(evidence={"lunge": "yes"})):
        with pytest.raises(KeyError, match="there is no variable 'lunge'; did you mean 'lung'") as caught:
            look()
        assert isinstance(caught.value, ts.Error) and not str(caught.value).startswith('"')


@pytest.mark.parametrize("wrong", [[[2**32, 0, 0]], [[0.9, 0, 0]], [[-1, 0, 0]], [[2, 0, 0]], [[math.nan, 0, 0]],
                                   [["0", "0", "0"]], [[0, 0]], [0, 0, 0], [[True, False, True]]])
def test_wrong_states_are_refused(wrong, sprinkler):
    answer = sprinkler.infer()
    for call in (answer.log_prob, sprinkler.log_density):
        with pytest.raises(ts.Error):
            call(np.array(wrong))
    with pytest.raises(ts.Error):
        answer.named(wrong[0])


def test_whole_states_of_any_number_type_are_taken(sprinkler):
    answer = sprinkler.infer()
    expected = answer.log_prob(np.array([[0, 1, 2]]))
    for kind in (np.int8, np.uint64, np.float32, np.int64):
        assert np.array_equal(answer.log_prob(np.array([[0, 1, 2]], dtype=kind)), expected)
    assert answer.log_prob(np.zeros((0, 3))).shape == (0,)


def test_variables_of_other_models_are_refused(sprinkler):
    other = ts.Model()
    other.variable("first", 2)
    rain = other.variable("rain", ["no", "yes"])
    with pytest.raises(ts.Error, match="'rain' is of another model"):
        sprinkler.table([rain], [0.5, 0.5])
    copy = pickle.loads(pickle.dumps(sprinkler))
    copy.table([sprinkler["rain"]], [0.5, 0.5])
