"""The program and the module give the same answer to the same question, whatever the options are."""
import json
import random
import subprocess

import pytest

import treesample as ts

OPTIONS = {
    "method": ["exact", "count", "search", "tree", "sis", "smc", "gibbs", "bp", "ais", "learned"],
    "space": ["tree", "graph", "andor"], "order": ["given", "degree", "min-fill"], "select": ["gap", "q-uct"],
    "leaf": ["uniform", "mini-bucket", "elbo", "maxima"], "sampler": ["upper", "lower", "rejection"], "samples": [1, 20],
    "k_best": [2, 6], "budget": [1, 50, 1000], "gap": [1e-3, 0.5], "seed": [3, 4], "question": ["all", "best", "logz"],
    "confidence": [0.9, 0.99], "sweeps": [1, 5], "restarts": [0, 3], "c": [0.1, 2.0],
}


def random_model(rng):
    states = [rng.randint(1, 3) for _ in range(rng.randint(1, 6))]
    factors = []
    for _ in range(rng.randint(1, 8)):
        scope = rng.sample(range(len(states)), rng.randint(0, min(3, len(states))))
        size = 1
        for v in scope:
            size *= states[v]
        values = [rng.choice([0, 1, rng.random(), 100 * rng.random()]) for _ in range(size)]
        factors.append({"scope": [f"x{v}" for v in scope], "values": values})
    return {"variables": [{"name": f"x{v}", "states": k} for v, k in enumerate(states)], "factors": factors}


@pytest.mark.parametrize("number", range(60))
def test_answers_are_the_same_by_every_door(program, tmp_path, number):
    rng = random.Random(number)
    file, out = tmp_path / "model.json", tmp_path / "answer.json"
    file.write_text(json.dumps(random_model(rng)))
    asked = {name: rng.choice(OPTIONS[name]) for name in rng.sample(sorted(OPTIONS), rng.choice([0, 1, 1, 2, 3]))}
    flags = [word for name, value in asked.items() for word in ("--" + name.replace("_", "-"), str(value))]
    done = subprocess.run([program, "infer", str(file), "--json", str(out), *flags], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        with pytest.raises(ts.Error):
            ts.read(file).infer(**asked)
        return
    of_program, of_module = json.loads(out.read_text()), json.loads(ts.read(file).infer(**asked).to_json())
    for name in ("log_z", "best", "k_best", "marginals", "marginals_from", "samples", "stop"):
        assert of_program.get(name) == of_module.get(name), (name, asked)
