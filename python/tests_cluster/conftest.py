"""A scheduler of Dask and its workers as processes of their own, which tests kill, stop and add."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = []
        self._start("scheduler", "dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))
        while not self.file.exists():
            time.sleep(0.05)

    def _start(self, name, module, *arguments):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([os.environ["PYTHONPATH"], str(HERE)]))
        with open(self.folder / f"{name}.log", "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments], stderr=log, stdout=log, env=environment
            )
        self.processes.append(process)
        return process

    def worker(self, threads=8):
        """Without a nanny, which would begin it again."""
        return self._start(
            f"worker{len(self.processes)}", "dask_worker", "--scheduler-file", str(self.file), "--no-nanny",
            "--no-dashboard", "--nthreads", str(threads), "--local-directory", str(self.folder),
        )

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed (python3-distributed)")
    made = Cluster(tmp_path)
    yield made
    made.end()


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(scheduler_file=str(cluster.file), set_as_default=False) as made:
        yield made
