"""A run of questions with a server, a coordinator and workers, each a process: what the tests of workers share."""
import json
import sys

from checks import read, read_json, write
from oracle_folder import ORACLE, VALUE, model_of
from redis_support import Lab, wait_for

ALLOW = {"TREESAMPLE_ALLOW_PROGRAMS": "1"}
# What no two runs share, or what says how it was run.
OF_ONE_RUN = ("model", "seconds", "expansions_per_second", "programs", "options", "phases", "cost_seconds")


class WorkerLab(Lab):
    def __init__(self, *server_options, body="time.sleep(0.002); " + VALUE, program_fields=None):
        super().__init__(*server_options)
        self.program_fields = program_fields or {}
        self.write_model("model.json")
        write(self.path("oracle.py"), ORACLE.replace("BODY", body))

    def write_model(self, name, **program_fields):
        program = {"command": [sys.executable, "-I", "-S", "oracle.py"], **self.program_fields, **program_fields}
        write(self.path(name), json.dumps(model_of(program)))

    def server_options(self, run, patience):
        return ["--redis", self.address(), "--run", run, "--patience", patience]

    def infer(self, *more, calls=40, under_way=3, environment=None, model="model.json", server=(), run="test",
              patience=60):
        """Without `server` options it is local, and asks no more than workers elsewhere would (--noise no)."""
        return self.run("infer", self.path(model), "--calls", calls, "--noise", "no", "--space", "tree",
                        "--samples", "5", "--oracle-workers", under_way, "--oracle-order", "submission", "--json", self.path("answer.json"), *server, *more,
                        environment={**ALLOW, **(environment or {})})

    def coordinator(self, *more, run="test", patience=60, journal="run.journal", lease=1, **settings):
        server = [*self.server_options(run, patience), "--lease", lease]
        if journal:
            server += ["--journal", self.path(journal)]
        return self.infer(*more, server=server, **settings)

    def answerer(self, *more, run="test", patience=60, model="model.json", environment=None):
        return self.run("worker", "--model", self.path(model), *self.server_options(run, patience), *more,
                        environment={**ALLOW, **(environment or {})})

    def answer(self):
        """What must be the same in every run."""
        answer = read_json(self.path("answer.json"))
        for name in OF_ONE_RUN:
            answer.pop(name, None)
            answer["spent"].pop(name, None)
        answer.pop("calls")  # which worker answered, and whether it was paid for now
        return answer

    def calls(self):
        try:
            return read(self.path("calls")).splitlines()
        except FileNotFoundError:
            return []

    def wait_for_calls(self, count, process=None):
        wait_for(lambda: len(self.calls()) >= count or (process and process.process.poll() is not None), f"{count} calls")

    def program_counts(self):
        return read_json(self.path("answer.json"))["programs"][0]


def local_answer(*more, **settings):
    """The answer of a run without any server, and its number of calls."""
    with WorkerLab(**settings) as lab:
        process = lab.infer(*more)
        if process.wait() != 0:
            raise SystemExit(f"FAILED: a local run\n{process.text()}")
        return lab.answer(), len(lab.calls())
