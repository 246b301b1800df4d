"""Training: what may be trained on, what it leaves, and how it ends."""
import os
import random
import signal
import subprocess

import numpy as np
import pytest

import treesample as ts

QUICK = {"episodes": 6, "budget": 200, "deterministic": True, "assess_every": 3}


def chain_of(number):
    draw = random.Random(number)
    m = ts.Model()
    x = [m.variable(f"x{i}", 2) for i in range(draw.randint(5, 8))]
    for a, b in zip(x, x[1:]):
        m.log_table([a, b], np.array([[1.0, -1.0], [-1.0, 1.0]]) * draw.gauss(0.0, 1.0))
    return m


def test_a_family_is_learned_with_the_bits_of_the_program(tmp_path):
    trained = ts.train("factor-graphs-2", tmp_path / "python", **QUICK)
    assert trained.is_finished and trained.episodes == 6 == len(trained.records)
    assert sum(record["bellman_residual"] is not None for record in trained.records) == 2
    flags = ["--episodes", "6", "--budget", "200", "--deterministic", "--assess-every", "3", "--quiet"]
    subprocess.run([os.environ["TREESAMPLE_PROGRAM"], "train", "--out", str(tmp_path / "program"), *flags], check=True,
                   stdout=subprocess.DEVNULL)
    assert trained.network.read_bytes() == (tmp_path / "program" / "network.safetensors").read_bytes()


def test_the_global_value_and_the_bellman_residual_have_the_bits_of_the_program(tmp_path):
    trained = ts.train("factor-graphs-2", tmp_path / "python", global_after=2, bellman=0.5, **QUICK)
    flags = ["--episodes", "6", "--budget", "200", "--deterministic", "--assess-every", "3", "--quiet",
             "--global-after", "2", "--bellman", "0.5"]
    subprocess.run([os.environ["TREESAMPLE_PROGRAM"], "train", "--out", str(tmp_path / "program"), *flags], check=True,
                   stdout=subprocess.DEVNULL)
    assert trained.network.read_bytes() == (tmp_path / "program" / "network.safetensors").read_bytes()
    assert b"global.weight" in trained.network.read_bytes()
    with pytest.raises(ts.Error, match="global"):
        ts.train("factor-graphs-2", tmp_path / "other", global_after=4, **QUICK)


def test_models_of_any_source_are_learned_and_the_network_is_used(tmp_path):
    sources = {"one": chain_of(1), "many": [chain_of(i) for i in range(3)], "generated": chain_of}
    for name, problems in sources.items():
        trained = ts.train(problems, tmp_path / name, **QUICK)
        m = chain_of(77)
        answer = m.infer(leaf=trained.leaf, space="tree", order="given", budget=2000, select="q-uct")
        assert abs(answer.log_z.estimate - m.infer().log_z.estimate) < 0.5, name


def test_observations_of_each_episode(tmp_path):
    m = ts.read(os.path.join(os.environ["TREESAMPLE_MODELS"], "asia.bif"))
    trained = ts.train(m, tmp_path / "run", evidence_variables=["xray", "dysp"], **QUICK)
    answer = m.infer(evidence={"xray": "yes"}, leaf=trained.leaf, space="tree", order="given", budget=500)
    assert answer.log_z.lower <= answer.log_z.estimate <= answer.log_z.upper


def test_what_a_generator_raises_ends_the_run_as_itself(tmp_path):
    def broken(number):
        raise LookupError(f"no model for {number}")

    with pytest.raises(LookupError, match="no model for") as caught:
        ts.train(broken, tmp_path / "run", episodes=3, budget=100)
    assert caught.value.trained is None
    with pytest.raises(TypeError, match="is no Model"):
        ts.train(lambda number: 3, tmp_path / "run2", episodes=3, budget=100)


@pytest.mark.parametrize("deterministic", [True, False])
def test_an_interrupted_run_goes_on(tmp_path, deterministic):
    def interrupt(record):
        if record["episode"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    options = {"episodes": 8, "budget": 100, "deterministic": deterministic, "assess_every": 0}
    with pytest.raises(KeyboardInterrupt) as caught:
        ts.train(chain_of, tmp_path / "run", progress=interrupt, **options)
    left = caught.value.trained
    assert left is not None and not left.is_finished and left.episodes < 8 and left.network.exists()
    with pytest.raises(ts.Error, match="holds a run already"):
        ts.train(chain_of, tmp_path / "run", **options)
    with pytest.raises(ts.Error, match="other options"):
        ts.train("chain", tmp_path / "run", resume=True, **options)
    whole = ts.train(chain_of, tmp_path / "run", resume=True, **options)
    assert whole.is_finished and whole.episodes == 8


def test_bad_input_is_named(tmp_path):
    m = chain_of(1)
    cases = [
        (lambda: ts.train(m, tmp_path / "a", bugdet=3), TypeError, "did you mean 'budget'"),
        (lambda: ts.train(m, tmp_path / "a", targets="best"), ts.OptionError, "targets is 'best', allowed are: bounds"),
        (lambda: ts.train(m, tmp_path / "a", budget="many"), ts.OptionError, "budget is 'many'"),
        (lambda: ts.train(m, tmp_path / "a", budget=0), ts.Error, "budget"),
        (lambda: ts.train("chains", tmp_path / "a"), ts.Error, "chains"),
        (lambda: ts.train([], tmp_path / "a"), ts.Error, "no models"),
        (lambda: ts.train(m, tmp_path / "a", resume=True), ts.Error, "holds no run"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()
    m.factor("x0", cost=0)(lambda state: 0.0)
    with pytest.raises(ts.Error, match="networks read tables"):
        ts.train(m, tmp_path / "a")
    assert not (tmp_path / "a").exists()
