"""A model with a program in a folder of its own, and runs of it: what the tests of programs share."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from checks import PATIENCE, PROGRAM, read, read_json, write

# Appends a line per call, as one write, before it computes. BODY runs for each evaluation.
ORACLE = """
import json, os, sys, time
calls = os.open("calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def log_value(s):
    BODY
sys.stdin.readline()
print('{"ready": true}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    values = []
    for states in request["assignments"]:
        os.write(calls, (request["factor"] + str(states) + "\\n").encode())
        values.append(log_value(states))
    print(json.dumps({"id": request["id"], "log_values": values}), flush=True)
"""
VALUE = "return -3.14159265358979 * (1 + s[0]) / (7 + s[1] + 5 * s[2]) + 0.3 * s[3]"


def model_of(program, factor_fields=None):
    return {
        "variables": [{"name": name, "states": 3} for name in "abcd"],
        "programs": {"p": program},
        "factors": [{"scope": ["a", "b"], "log_values": [0, -1, -2, -1, 0, -1, "-inf", -1, 0]},
                    {"name": "f", "scope": ["a", "b", "c", "d"], "program": "p", **(factor_fields or {})}],
    }


class ModelFolder:
    """A model and its programs in a folder of its own, removed at the end."""

    def __init__(self, model, **programs):
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # waits for a disk are long
        self.path = tempfile.mkdtemp(dir=parent)
        self.write("model.json", json.dumps(model))
        for name, text in programs.items():
            self.write(f"{name}.py", text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        write(self.file(name), text)

    def start(self, command, *arguments, **settings):
        settings = {"env": {**os.environ, "TREESAMPLE_ALLOW_PROGRAMS": "1"}, **settings}
        return subprocess.Popen([PROGRAM, command, "model.json", *arguments], cwd=self.path, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **settings)

    def run(self, *arguments, **settings):
        process = self.start(*arguments, **settings)
        process.out, process.err = process.communicate(timeout=PATIENCE)
        return process

    def whole_answer(self):
        return read_json(self.file("answer.json"))

    def num_calls(self):
        """Of programs that write a character for each."""
        return os.path.getsize(self.file("calls")) if os.path.exists(self.file("calls")) else 0


class Folder(ModelFolder):
    """A model with a factor of four variables that ORACLE computes."""

    def __init__(self, body=VALUE, factor_fields=None, program_fields=None):
        program = {"command": [sys.executable, "-I", "-S", "oracle.py"], **(program_fields or {})}
        super().__init__(model_of(program, factor_fields), oracle=ORACLE.replace("BODY", body))

    def start(self, *arguments, **settings):
        return super().start("infer", "--quiet", "--json", "answer.json", *arguments, **settings)

    def change_model(self, change):
        model = read_json(self.file("model.json"))
        change(model)
        self.write("model.json", json.dumps(model))

    def answer(self):
        """What must be the same in every run."""
        answer = self.whole_answer()
        for name in ("seconds", "expansions_per_second", "programs", "phases", "calls"):
            answer.pop(name, None)
        del answer["spent"]["cost_seconds"]
        return answer

    def calls(self):
        if not os.path.exists(self.file("calls")):
            return []
        return read(self.file("calls")).splitlines()

    def wait_until(self, condition):
        for _ in range(PATIENCE * 1000):
            if condition():
                return True
            time.sleep(0.001)
        return False

    def num_processes(self):
        count = 0
        for process in os.listdir("/proc"):
            try:
                count += process.isdigit() and os.readlink(f"/proc/{process}/cwd") == self.path
            except OSError:
                pass
        return count
