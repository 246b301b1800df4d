"""MPI: one process asks, others answer, as examples/workers/mpi_calls.py shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed (python3-mpi4py)")
SCRIPT = Path(__file__).parents[2] / "examples" / "workers" / "mpi_calls.py"


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not installed (openmpi-bin)")
def test_the_example_runs(tmp_path):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment["PYTHONPATH"] = os.path.abspath(environment["PYTHONPATH"])
    command = ["mpirun", "--oversubscribe", "-n", "5", sys.executable, "-m", "mpi4py.futures", str(SCRIPT)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    calls, cube = [line for line in done.stdout.splitlines() if line.startswith("<treesample.Answer")]
    assert "exact" in calls and re.search(r"log Z .*, exact", cube)
    assert (tmp_path / "mpi_calls.journal").exists()
