"""Query files of the UAI competitions, as they lie beside models."""

import json
import os
import subprocess

import pytest

import treesample as ts

PROGRAM = os.environ.get("TREESAMPLE_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="TREESAMPLE_PROGRAM is not set")


def run(folder, *arguments):
    return subprocess.run([PROGRAM, "infer", "grid.uai", *arguments], cwd=folder, capture_output=True, text=True)


def test_a_query_file_names_the_variables_of_the_marginal_map(tmp_path):
    ts.families.ising(n=4, seed=2).write(tmp_path / "grid.uai")
    (tmp_path / "grid.uai.query").write_text("3 5 0\n11\n")
    asked = json.loads(run(tmp_path, "--map", "grid.uai.query", "--json", "-").stdout)["map"]
    named = json.loads(run(tmp_path, "--map", "x5,x0,x11", "--json", "-").stdout)["map"]
    assert asked["variables"] == ["x5", "x0", "x11"] and asked["states"] == named["states"] and asked["optimal"]
    assert "--map grid.uai.query asks what that file asks" in run(tmp_path).stderr


@pytest.mark.parametrize("text, message", [
    ("2 1\n", "expected a variable from 0 to 15"), ("1 16\n", "expected a variable from 0 to 15"),
    ("2 1 1\n", "asked for twice"), ("0\n", "asks for no variable"), ("1 1 1\n", "nothing after the variables"),
])
def test_broken_query_files(tmp_path, text, message):
    ts.families.ising(n=4, seed=2).write(tmp_path / "grid.uai")
    (tmp_path / "q.query").write_text(text)
    done = run(tmp_path, "--map", "q.query")
    assert done.returncode in (64, 65) and message in done.stderr and "q.query" in done.stderr
    done = run(tmp_path, "--map", "q.query", "--json", "q.query")
    assert done.returncode == 64 and (tmp_path / "q.query").read_text() == text  # what is read is not written over
