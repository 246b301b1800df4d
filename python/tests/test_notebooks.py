"""The notebooks: their scripts run, and the Jupyter files are what the scripts say, with outputs."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "python" / "notebooks"
SCRIPTS = sorted(NOTEBOOKS.glob("*.py"))
LONG = {"value_function"}  # trains a network; run by the slow test


def cells_of(script):
    loader = importlib.machinery.SourceFileLoader("make_notebooks", str(ROOT / "scripts" / "make-notebooks"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_notebooks", loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return list(module.cells_of(script))


def test_there_are_seven():
    assert len(SCRIPTS) == 7


@pytest.mark.parametrize("script", [s for s in SCRIPTS if s.stem not in LONG], ids=lambda s: s.stem)
def test_scripts_run(script, tmp_path):
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_files_are_those_of_the_scripts(script):
    notebook = json.loads(script.with_suffix(".ipynb").read_text())
    expected = [(cell["cell_type"], cell["source"]) for cell in cells_of(script)]
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    assert found == expected, "run scripts/make-notebooks --run"
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert outputs and all(output["output_type"] != "error" for output in outputs)
    assert str(Path.home()) not in json.dumps(outputs) or os.environ.get("HOME") == "/"
