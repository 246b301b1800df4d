#!/usr/bin/env python3
"""Factors computed by programs, as a user meets them: run_oracle_tests.py PROGRAM

Runs are killed at 50 random moments and taken up again; programs fail, hang and are interrupted.
"""

import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
PATIENCE = 120  # seconds until a run that should end is given up; nothing is measured

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

num_failed = 0


def check(condition, what, details=""):
    global num_failed
    if not condition:
        num_failed += 1
        print(f"FAILED: {what} {details}")


class Folder:
    """A model in a folder of its own, removed at the end."""

    def __init__(self, body=VALUE, factor_fields=None, program_fields=None):
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # waits for a disk are long
        self.path = tempfile.mkdtemp(dir=parent)
        program = {"command": [sys.executable, "-I", "-S", "oracle.py"], **(program_fields or {})}
        likelihood = {"name": "f", "scope": ["a", "b", "c", "d"], "program": "p", **(factor_fields or {})}
        model = {
            "variables": [{"name": name, "states": 3} for name in "abcd"],
            "programs": {"p": program},
            "factors": [{"scope": ["a", "b"], "log_values": [0, -1, -2, -1, 0, -1, "-inf", -1, 0]}, likelihood],
        }
        with open(self.file("model.json"), "w") as file:
            json.dump(model, file)
        with open(self.file("oracle.py"), "w") as file:
            file.write(ORACLE.replace("BODY", body))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.path, name)

    def start(self, *arguments):
        command = [PROGRAM, "infer", "model.json", "--quiet", "--json", "answer.json", *arguments]
        return subprocess.Popen(command, cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        process = self.start(*arguments)
        process.out, process.err = process.communicate(timeout=PATIENCE)
        return process

    def answer(self):
        """What must be the same in every run."""
        with open(self.file("answer.json")) as file:
            answer = json.load(file)
        for name in ("seconds", "expansions_per_second", "programs"):
            answer.pop(name, None)
        del answer["spent"]["cost_seconds"]
        return answer

    def calls(self):
        if not os.path.exists(self.file("calls")):
            return []
        with open(self.file("calls")) as file:
            return file.read().splitlines()

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


SLOW_BODY = "time.sleep(0.001); " + VALUE


def killed_and_resumed(arguments, seed, expected, num_calls, num_workers):
    draw = random.Random(seed)
    with Folder(SLOW_BODY) as folder:
        process = folder.start(*arguments)
        # The moment is chosen by progress, so that it does not depend on the machine: after so many calls, and a
        # little later. The start is a moment like any other.
        progress = draw.randrange(num_calls)
        folder.wait_until(lambda: len(folder.calls()) >= progress or process.poll() is not None)
        time.sleep(draw.uniform(0.0, 0.05 if progress == 0 else 0.004))
        process.kill()
        process.communicate()
        was_killed = process.returncode == -signal.SIGKILL
        check(folder.wait_until(lambda: folder.num_processes() == 0), "a killed run leaves no program behind")
        resumed = folder.run(*arguments)
        check(resumed.returncode == 0, "a killed run can be taken up again", resumed.err)
        if resumed.returncode == 0:
            check(folder.answer() == expected, "the same bits after a kill", f"seed {seed}")
        check(len(folder.calls()) <= num_calls + num_workers, "paid twice only for what was in flight",
              f"seed {seed}: {len(folder.calls())} calls, {num_calls} without the kill")
    return was_killed


def test_kills():
    num_killed = 0
    for num_workers, num_kills in ((1, 35), (4, 15)):
        arguments = ["--budget", "60", "--space", "tree", "--samples", "5", "--journal", "run.journal"]
        if num_workers > 1:
            arguments += ["--oracle-workers", str(num_workers), "--oracle-order", "submission"]
        with Folder(SLOW_BODY) as folder:
            whole = folder.run(*arguments)
            check(whole.returncode == 0, "an uninterrupted run", whole.err)
            expected, num_calls = folder.answer(), len(folder.calls())
        check(0 < num_calls <= 60, "no more calls than the budget", f"{num_calls}")
        check(expected["stop"] == "budget", "the budget ends the run")
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            # On a busy machine a run may end before its kill comes: another one is then killed.
            def kill_one(number):
                return any(killed_and_resumed(arguments, number + 1000 * attempt, expected, num_calls, num_workers)
                           for attempt in range(10))
            num_killed += sum(threads.map(kill_one, range(num_kills)))
    check(num_killed == 50, "kills that came in time", f"{num_killed}")


def test_second_run_is_free():
    with Folder() as folder:
        first = folder.run("--budget", "40", "--journal", "run.journal")
        num_calls = len(folder.calls())
        second = folder.run("--budget", "40", "--journal", "run.journal")
        check(first.returncode == second.returncode == 0 and num_calls > 0, "two runs", first.err + second.err)
        check(len(folder.calls()) == num_calls, "a second run pays nothing")
        check(f"f: 0 evaluations paid in 0.0 s, {num_calls} from the journal" in second.out, "says so", second.out)


def test_all_workers_agree_on_the_exact_answer():
    answers = []
    for arguments in ([], ["--oracle-workers", "4"], ["--oracle-workers", "16", "--oracle-order", "submission"]):
        for space in ("tree", "graph", "andor"):
            with Folder() as folder:
                run = folder.run("--budget", "1000", "--space", space, *arguments)
                check(run.returncode == 0, "an exact run", run.err)
                answer = folder.answer()
                check(answer["log_z"]["exact"], "the whole space is evaluated", f"{arguments}")
                check(len(folder.calls()) == len(set(folder.calls())), "nothing is paid twice")
                answers.append(answer["log_z"]["estimate"])
    check(max(answers) - min(answers) < 1e-9, "the same log Z", f"{answers}")


def test_failing_factor():
    for workers in ("1", "4"):
        with Folder("return -1.0 if s[3] < 2 or s[0] == 0 else 'broken'", program_fields={"max_retries": 1}) as folder:
            run = folder.run("--budget", "200", "--oracle-workers", workers)
            check(run.returncode == 66, "a failed factor gives an exit code", f"{run.returncode}")
            check("log Z" in run.out and "stopped: factor failed" in run.out, "the answer so far", run.out)
            check("program 'p': factor 'f' at a=" in run.err and "failed 2 times" in run.err, "the assignment", run.err)
            answer = folder.answer()
            check(answer["stop"] == "factor failed" and "failed 2 times" in answer["error"], "the error is in the JSON")
            check(answer["spent"]["reward_evaluations"] > 0, "something was evaluated")


def test_interruption():
    for number, workers in ((signal.SIGINT, "1"), (signal.SIGTERM, "1"), (signal.SIGINT, "4")):
        with Folder("time.sleep(1000 if len(open('calls').readlines()) > 20 else 0); " + VALUE,
                    program_fields={"timeout_seconds": 5000}) as folder:
            process = folder.start("--budget", "200", "--journal", "run.journal", "--oracle-workers", workers)
            check(folder.wait_until(lambda: len(folder.calls()) > 20), "the program hangs")
            process.send_signal(number)
            process.out, process.err = process.communicate(timeout=PATIENCE)
            check(process.returncode == 0, "an interrupted run answers", f"{process.returncode} {process.err}")
            check("stopped: interrupted" in process.out, "and says why it stopped", process.out)
            check(folder.wait_until(lambda: folder.num_processes() == 0), "no program is left behind")


def test_interruption_while_sampling():
    for select in ("gap", "mass", "q-uct"):
        with Folder("time.sleep(1000 if len(open('calls').readlines()) > 20 else 0); " + VALUE,
                    factor_fields={"log_max": 0}, program_fields={"timeout_seconds": 5000}) as folder:
            process = folder.start("--select", select, "--budget", "15", "--importance", "1000", "--samples", "2")
            check(folder.wait_until(lambda: len(folder.calls()) > 20), f"{select}: the program hangs")
            process.send_signal(signal.SIGINT)
            process.out, process.err = process.communicate(timeout=PATIENCE)
            check(process.returncode == 0, f"{select}: interrupted samples are an answer", process.err)
            check("stopped: budget" in process.out, f"{select}: of a search that was over", process.out)
            check(folder.num_processes() == 0, "no program is left behind")


def test_failing_while_sampling():
    for select in ("gap", "mass"):
        with Folder("return 'broken' if len(open('calls').readlines()) > 20 else -1.0",
                    factor_fields={"log_max": 0}, program_fields={"max_retries": 0}) as folder:
            run = folder.run("--select", select, "--budget", "15", "--importance", "1000")
            check(run.returncode == 66, f"{select}: a factor that fails in a sample", f"{run.returncode} {run.err}")
            check("log Z" in run.out and "this is the answer so far" in run.out, "the answer so far", run.out)


def test_python_file_with_a_mistake():
    with Folder() as folder:
        with open(folder.file("mine.py"), "w") as file:
            file.write("def f(a, b, c, d):\n    return 0 if a == else 1\n")
        with open(folder.file("model.json")) as file:
            model = json.load(file)
        model["programs"]["p"] = {"python": "mine.py"}
        with open(folder.file("model.json"), "w") as file:
            json.dump(model, file)
        run = folder.run("--budget", "100")
        check(run.returncode == 66 and run.out == "", "no answer without a value", run.out)
        check(run.err.count("\n") == 1 and "SyntaxError" in run.err and "mine.py, line 2" in run.err, "one line", run.err)


def test_time_limit():
    for workers in ("1", "4"):
        with Folder("time.sleep(1000 if len(open('calls').readlines()) > 20 else 0); " + VALUE,
                    program_fields={"timeout_seconds": 5000}) as folder:
            run = folder.run("--time", "1", "--oracle-workers", workers)
            check(run.returncode == 0, "a hanging program does not hold up the time limit", run.err)
            check("stopped: time" in run.out, "which is why the run stopped", run.out)
            check(folder.wait_until(lambda: folder.num_processes() == 0), "no program is left behind")


def test_budget_of_cost():
    for workers in ("1", "4"):
        with Folder(factor_fields={"cost": 2}) as folder:
            run = folder.run("--budget", "21", "--budget-unit", "cost", "--oracle-workers", workers)
            check(run.returncode == 0, "a budget of seconds", run.err)
            check(0 < len(folder.calls()) <= 10, "declared costs are never exceeded", f"{len(folder.calls())}")
    with Folder("time.sleep(0.05); " + VALUE) as folder:
        run = folder.run("--budget", "1", "--budget-unit", "cost", "--journal", "run.journal")
        check(run.returncode == 0, "measured costs", run.err)
        num_calls = len(folder.calls())
        check(0 < num_calls < 20 + 3, "end the run once they are spent: a node more at most", f"{num_calls}")
        again = folder.run("--budget", "1", "--budget-unit", "cost", "--journal", "run.journal")
        check(again.returncode == 0 and len(folder.calls()) == num_calls, "recorded costs are the same", again.err)


def test_refusals():
    with Folder() as folder:
        with open(folder.file("tables.uai"), "w") as file:
            file.write("MARKOV\n1\n2\n1\n1 0\n2\n1 2\n")
        for arguments, message in ((["--oracle-workers", "2"], "--oracle-workers: the model has no factors"),
                                   (["--journal", "x"], "--journal: the model has no factors"),
                                   (["--budget-unit", "cost"], "--budget-unit: cost counts seconds")):
            run = subprocess.run([PROGRAM, "infer", "tables.uai", *arguments], cwd=folder.path, capture_output=True,
                                 text=True)
            check(run.returncode == 64 and message in run.stderr, message, run.stderr)
        run = folder.run("--method", "smc", "--budget-unit", "cost")
        check(run.returncode == 64 and "allowed are reward and factor" in run.err, "smc has no budget of cost", run.err)


for test in (test_second_run_is_free, test_all_workers_agree_on_the_exact_answer, test_failing_factor,
             test_interruption, test_interruption_while_sampling, test_failing_while_sampling,
             test_python_file_with_a_mistake, test_time_limit, test_budget_of_cost, test_refusals, test_kills):
    begin = time.monotonic()
    test()
    print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
sys.exit(num_failed > 0)
