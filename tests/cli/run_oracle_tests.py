#!/usr/bin/env python3
"""Factors computed by programs, as a user meets them: run_oracle_tests.py PROGRAM

Runs are killed at 75 random moments and taken up again; programs fail, hang and are interrupted.
"""

import concurrent.futures
import json
import random
import signal
import subprocess
import time

from checks import PATIENCE, PROGRAM, check, read_json, run_tests, write
from oracle_folder import VALUE, Folder

SLOW_BODY = "time.sleep(0.001); " + VALUE


def killed_and_resumed(setting, seed, expected, num_calls):
    arguments, program_fields, num_under_way = setting
    draw = random.Random(seed)
    with Folder(SLOW_BODY, program_fields=program_fields) as folder:
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
        check(len(folder.calls()) <= num_calls + num_under_way, "paid twice only for what was in flight",
              f"seed {seed}: {len(folder.calls())} calls, {num_calls} without the kill")
    return was_killed


def test_kills():
    num_killed = 0
    for num_workers, max_batch, num_kills in ((1, 1, 15), (4, 1, 50), (2, 4, 10)):
        arguments = ["--budget", "60", "--space", "tree", "--samples", "5", "--journal", "run.journal"]
        if num_workers > 1:
            arguments += ["--oracle-workers", str(num_workers), "--oracle-order", "submission"]
        setting = (arguments, {"max_batch": max_batch}, num_workers * max_batch)
        with Folder(SLOW_BODY, program_fields=setting[1]) as folder:
            whole = folder.run(*arguments)
            check(whole.returncode == 0, "an uninterrupted run", whole.err)
            expected, num_calls = folder.answer(), len(folder.calls())
        check(0 < num_calls <= 60, "no more calls than the budget", f"{num_calls}")
        check(expected["stop"] == "budget", "the budget ends the run")
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            # On a busy machine a run may end before its kill comes: another one is then killed.
            def kill_one(number):
                return any(killed_and_resumed(setting, number + 1000 * attempt, expected, num_calls)
                           for attempt in range(10))
            num_killed += sum(threads.map(kill_one, range(num_kills)))
    check(num_killed == 75, "kills that came in time", f"{num_killed}")


def test_second_run_is_free():
    with Folder() as folder:
        first = folder.run("--budget", "40", "--journal", "run.journal")
        num_calls = len(folder.calls())
        second = folder.run("--budget", "40", "--journal", "run.journal")
        check(first.returncode == second.returncode == 0 and num_calls > 0, "two runs", first.err + second.err)
        check(len(folder.calls()) == num_calls, "a second run pays nothing")
        check(f"f: 0 evaluations paid in 0.0 s, {num_calls} from the journal" in second.out, "says so", second.out)


def test_batches_in_order_of_submission():
    """One worker with batches has several evaluations under way: the order matters, and a journal changes nothing."""
    with Folder(program_fields={"max_batch": 4}) as folder:
        arguments = ["--budget", "20", "--select", "mass", "--journal", "run.journal", "--oracle-order", "submission"]
        first = folder.run(*arguments)
        answer = folder.answer()
        second = folder.run(*arguments)
        check(first.returncode == second.returncode == 0, "two runs with batches", first.err + second.err)
        check(answer["plan"]["remarks"] == [], "the order is used", answer["plan"]["remarks"])
        check(folder.answer() == answer, "the same bits with a journal")


def test_all_workers_agree_on_the_exact_answer():
    answers = []
    for arguments in ([], ["--oracle-workers", "4"], ["--oracle-workers", "16", "--oracle-order", "submission"]):
        for space in ("tree", "graph", "andor"):
            with Folder() as folder:
                run = folder.run("--budget", "1000", "--space", space, *arguments)
                check(run.returncode == 0, "an exact run", run.err)
                answer = folder.answer()
                check(answer["log_z"]["exact"], "the whole space is evaluated", f"{arguments}")
                check(len(folder.calls()) == len(set(folder.calls())) + 2, "nothing but the best one is paid for again")
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


def test_text_and_journal_agree_after_a_failure():
    for workers in ("1", "4"):
        with Folder("time.sleep(0.003); return -1.0 if s != [1, 1, 1, 1] else 'broken'",
                    program_fields={"max_retries": 0}) as folder:
            run = folder.run("--budget", "300", "--space", "tree", "--oracle-workers", workers, "--journal",
                             "run.journal")
            check(run.returncode == 66, "the factor fails", run.err)
            listing = subprocess.run([PROGRAM, "journal", "run.journal"], cwd=folder.path, capture_output=True,
                                     text=True)
            recorded = next(line.split()[1] for line in listing.stdout.splitlines() if line.startswith("f "))
            check(f"f: {recorded} evaluations paid" in run.out, "as many as the journal has", run.out + listing.stdout)
            check("1 failed for good" in listing.stdout, "the journal has the failure", listing.stdout)


def test_interruption():
    for number, workers in ((signal.SIGINT, "1"), (signal.SIGTERM, "1"), (signal.SIGINT, "4")):
        with Folder("time.sleep(1000 if len(open('calls').readlines()) > 20 else 0); " + VALUE,
                    program_fields={"timeout_seconds": 5000}) as folder:
            process = folder.start("--budget", "200", "--journal", "run.journal", "--oracle-workers", workers)
            check(folder.wait_until(lambda: len(folder.calls()) > 20), "the program hangs")
            process.send_signal(number)
            process.out, process.err = process.communicate(timeout=PATIENCE)
            check(process.returncode == 128 + number, "an interrupted run answers", f"{process.returncode} {process.err}")
            check("stopped: interrupted" in process.out, "and says why it stopped", process.out)
            check(folder.wait_until(lambda: folder.num_processes() == 0), "no program is left behind")


def test_interruption_while_sampling():
    for select in ("gap", "mass", "q-uct"):
        with Folder("time.sleep(1000 if len(open('calls').readlines()) > 20 else 0); " + VALUE,
                    factor_fields={"log_max": 1}, program_fields={"timeout_seconds": 5000}) as folder:
            process = folder.start("--select", select, "--budget", "15", "--budget-unit", "reward", "--importance", "1000",
                                   "--samples", "2")
            check(folder.wait_until(lambda: len(folder.calls()) > 20), f"{select}: the program hangs")
            process.send_signal(signal.SIGINT)
            process.out, process.err = process.communicate(timeout=PATIENCE)
            check(process.returncode == 130, f"{select}: interrupted samples are an answer", process.err)
            check("stopped: interrupted" in process.out, f"{select}: and say why there are few", process.out)
            check(folder.num_processes() == 0, "no program is left behind")


def test_failing_while_sampling():
    for select in ("gap", "mass"):
        with Folder("return 'broken' if len(open('calls').readlines()) > 20 else -1.0",
                    factor_fields={"log_max": 0}, program_fields={"max_retries": 0}) as folder:
            run = folder.run("--select", select, "--budget", "15", "--budget-unit", "reward", "--importance", "1000")
            check(run.returncode == 66, f"{select}: a factor that fails in a sample", f"{run.returncode} {run.err}")
            check("log Z" in run.out and "this is the answer so far" in run.out, "the answer so far", run.out)


def test_python_file_with_a_mistake():
    with Folder() as folder:
        write(folder.file("mine.py"), "def f(a, b, c, d):\n    return 0 if a == else 1\n")
        model = read_json(folder.file("model.json"))
        model["programs"]["p"] = {"python": "mine.py"}
        write(folder.file("model.json"), json.dumps(model))
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
        write(folder.file("tables.uai"), "MARKOV\n1\n2\n1\n1 0\n2\n1 2\n")
        for arguments, message in ((["--oracle-workers", "2"], "--oracle-workers: the model has no factors"),
                                   (["--journal", "x"], "--journal: the model has no factors"),
                                   (["--budget-unit", "cost"], "--budget-unit: cost counts seconds")):
            run = subprocess.run([PROGRAM, "infer", "tables.uai", *arguments], cwd=folder.path, capture_output=True,
                                 text=True)
            check(run.returncode == 64 and message in run.stderr, message, run.stderr)
        run = folder.run("--method", "smc", "--budget-unit", "cost")
        check(run.returncode == 64 and "allowed are reward, factor and call" in run.err, "smc has no budget of cost", run.err)


run_tests(globals())
