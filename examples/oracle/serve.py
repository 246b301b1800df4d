"""A Python function as a factor of a treesample model. Only the standard library is needed.

    from serve import serve

    def log_value(factor, states):      # states: {"pump": "failed", "load": 2}
        return -2.5 if states["pump"] == "failed" else 0.0

    serve(log_value)

The function gets the name of the factor and the states of its scope (names where the model has
names, else numbers from 0) and returns a log-value; float("-inf") means impossible. It must return
the same value whenever it gets the same states. What it prints goes to the log of the run.
docs/model_file.md describes the lines that are exchanged.
"""

import json
import math
import sys


def serve(log_value):
    answers = sys.stdout
    sys.stdout = sys.stderr  # print() in the function must not disturb the protocol

    def say(line):
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    hello = json.loads(sys.stdin.readline())
    scopes = {factor["name"]: factor["variables"] for factor in hello["factors"]}

    def named(factor, assignment):
        states = {}
        for variable, state in zip(scopes[factor], assignment):
            names = variable["states"]
            states[variable["name"]] = names[state] if isinstance(names, list) else state
        return states

    say({"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        factor = request["factor"]
        try:
            values = [float(log_value(factor, named(factor, a))) for a in request["assignments"]]
            say({"id": request["id"], "log_values": ["-inf" if v == -math.inf else v for v in values]})
        except Exception as error:
            say({"id": request["id"], "error": f"{type(error).__name__}: {error}"})
