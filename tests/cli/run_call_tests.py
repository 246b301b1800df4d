#!/usr/bin/env python3
"""Models whose factors are programs: what is called, what is counted, what is said. run_call_tests.py PROGRAM"""

import csv
import math
import re
import signal
import subprocess
import time

from checks import PATIENCE, PROGRAM, check, read, run_tests
from oracle_folder import ModelFolder

FUNCTION = """
import os, time
calls = os.open("calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def simulate(**v):
    os.write(calls, b".")
    SLEEP
    return -0.5 * (sum(v.values()) - 5) ** 2
"""


class Folder(ModelFolder):
    """One simulator over all variables, in a folder of its own; tables beside it on request."""

    def __init__(self, num_variables=16, num_states=2, table=None, sleep="pass", **fields):
        names = [f"v{i}" for i in range(num_variables)]
        factors = [{"scope": [name], "values": table} for name in names] if table else []
        factors.append({"name": "simulate", "scope": names, "program": "sim", **fields})
        model = {"variables": [{"name": name, "states": num_states} for name in names],
                 "programs": {"sim": {"python": "sim.py"}}, "factors": factors}
        super().__init__(model, sim=FUNCTION.replace("SLEEP", sleep))

    def answer(self, *arguments):
        run = self.run("infer", *arguments, "--json", "answer.json")
        check(run.returncode == 0, f"infer {arguments}", run.err)
        return self.whole_answer(), run


def test_simulators_are_asked():
    for num_variables, num_states, table in ((16, 2, None), (25, 2, None), (10, 3, None), (25, 2, [0.5, 0.5]),
                                             (18, 2, [0.7, 0.3])):
        for arguments in (["--calls", "30"], ["--budget", "30"], ["--calls", "30", "--oracle-workers", "3"]):
            with Folder(num_variables, num_states, table) as folder:
                answer, _ = folder.answer(*arguments)
                check(folder.num_calls() == 30, f"{num_variables} variables, {arguments}", folder.num_calls())
                check(answer["spent"]["calls"] == 30, "the answer knows", answer["spent"])
                check(answer["options"]["budget_unit"] == "call", "calls are the unit")
    with Folder() as folder:
        folder.answer("--budget", "50", "--budget-unit", "reward")
        check(folder.num_calls() == 50, "levels without factors cost nothing", folder.num_calls())
    with Folder(6, 3) as folder:
        answer, _ = folder.answer("--calls", "2")
        check(folder.num_calls() == 2 and answer["best"], "what does not pay for a node pays for configurations")


def test_what_the_evidence_decides_is_called_within_the_limits():
    decided = ["--evidence", "v0=0,v1=1"]
    with Folder(2) as folder:
        folder.run("infer", *decided, "--explain")
        check(folder.num_calls() == 0, "a plan calls nothing", folder.num_calls())
        run = folder.run("infer", *decided, "--calls", "0")
        check(run.returncode == 64 and folder.num_calls() == 0, "no calls are none", run.err)
        answer, _ = folder.answer(*decided, "--new-calls", "1")
        check(folder.num_calls() == answer["spent"]["calls"] == 1, "one call", answer["spent"])
    with Folder(2, sleep="time.sleep(60)") as folder:
        begin = time.monotonic()
        run = folder.run("infer", *decided, "--time", "1")
        check(run.returncode == 69 and "--time is over" in run.err and time.monotonic() - begin < 30, "in time", run.err)


def test_what_the_evidence_decides_is_paid_from_a_budget_of_cost():
    model = {"variables": [{"name": name, "states": 2} for name in "abc"], "programs": {"sim": {"python": "sim.py"}},
             "factors": [{"name": "seen", "scope": ["a"], "program": "sim", "cost": 3},
                         {"name": "rest", "scope": ["b", "c"], "program": "sim", "cost": 1}]}
    functions = "".join(f"def {name}(**v):\n    open('calls', 'a').write('.')\n    return -1.0\n"
                        for name in ("seen", "rest"))
    in_seconds = ["infer", "--evidence", "a=1", "--budget-unit", "cost", "--budget"]
    with ModelFolder(model, sim=functions) as folder:
        run = folder.run(*in_seconds, "2")
        check(run.returncode == 64 and "--budget is 2 seconds" in run.err, "too little", run.err)
        check(folder.num_calls() == 0, "nothing was called", folder.num_calls())
    with ModelFolder(model, sim=functions) as folder:
        run = folder.run(*in_seconds, "5", "--json", "answer.json")
        spent = folder.whole_answer()["spent"]
        check(folder.num_calls() == 3 and spent["cost_seconds"] == 5, "3 seconds, and 2 are left", f"{spent} {run.err}")


def test_budgets_of_calls_pay_for_samples_too():
    with Folder() as folder:
        answer, run = folder.answer("--calls", "100", "--importance", "80")
        check(0 < folder.num_calls() <= 100, "importance samples are calls", folder.num_calls())
        check("--importance 80 becomes 50" in run.err, "and fewer where they are dear", run.err)
        check(answer["options"]["budget"] == 100, "the budget is what was given", answer["options"]["budget"])
    with Folder(log_max=0) as folder:
        folder.answer("--select", "gap", "--calls", "40", "--importance", "10", "--time", "30")
        check(0 < folder.num_calls() <= 40, "with bounds too", folder.num_calls())
    for method in ("sis", "smc", "gibbs", "metropolis"):
        with Folder(4) as folder:
            folder.answer("--method", method, "--calls", "200")
            check(0 < folder.num_calls() <= 200, f"{method} counts calls", folder.num_calls())


def test_refusals():
    with Folder() as folder:
        for arguments, message in ((["--calls", "5", "--budget", "5"], "--calls is short for"),
                                   (["--calls", "5", "--budget-unit", "factor"], "--calls: counts in calls")):
            run = folder.run("infer", *arguments)
            check(run.returncode == 64 and message in run.err, message, run.err)
            check(folder.num_calls() == 0, "nothing was called")
        folder.write("tables.uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 2\n")
        for arguments, name in ((["--calls", "5"], "--calls"), (["--budget-unit", "call"], "--budget-unit")):
            run = subprocess.run([PROGRAM, "infer", "tables.uai", *arguments], cwd=folder.path, capture_output=True,
                                 text=True)
            check(run.returncode == 64 and run.stderr.startswith(f"treesample: {name}: calls are"), name, run.stderr)


def exact_marginal(num_variables, table):
    weights = [[], []]
    for bits in range(1 << num_variables):
        states = [bits >> i & 1 for i in range(num_variables)]
        weight = math.exp(-0.5 * (sum(states) - 5) ** 2)
        for state in states:
            weight *= table[state] if table else 1
        weights[states[0]].append(weight)
    return math.fsum(weights[1]) / math.fsum(weights[0] + weights[1])


def test_solved_models_have_exact_marginals():
    for table, fields, arguments in ((None, {}, []), ([0.7, 0.3], {}, ["--space", "tree"]),
                                     ([0.7, 0.3], {"log_max": 0}, ["--select", "gap"]), (None, {"log_max": 0}, [])):
        with Folder(7, 2, table, **fields) as folder:
            answer, run = folder.answer("--calls", "1000", *arguments)
            check(answer["log_z"]["exact"] and answer["marginals_from"] == "exact", f"{arguments}", run.out)
            check(answer["marginals_error"] == 0 and set(answer["marginal_errors"]) == {0.0}, "without error")
            first = list(list(answer["marginals"].values())[0].values())
            check(abs(first[1] - exact_marginal(7, table)) < 1e-9, "exact", first)
            check(folder.num_calls() <= 128 + 2, "and nothing but the best one is called again", folder.num_calls())


def test_what_was_not_evaluated_is_not_known():
    with Folder() as folder:
        answer, run = folder.answer("--calls", "300", "--select", "mass")
        log_z = math.log(sum(math.comb(16, k) * math.exp(-0.5 * (k - 5) ** 2) for k in range(17)))
        check(answer["unexplored_mass"] is None and "unexplored" not in run.out, "P_X's opinion is not printed", run.out)
        check(answer["log_z"]["lower"] <= log_z, "the lower bound is certified")
        check("certified: at least" in run.out, "and in the text", run.out)
        share = answer["evaluated"]["share"]
        true_share = math.exp(answer["log_z"]["lower"] - log_z)
        check(true_share / 3 < share < true_share * 3, "the evaluated share is about right", f"{share} {true_share}")
        check("learned" in answer["evaluated"]["log_z_by"], "the estimate is named")
        check("marginals   guesses" in run.out and "error is not known" in run.out, "guesses are called so", run.out)
        check(answer["marginals_error"] is None and answer["marginal_errors"] is None, "no error is made up")
        check(answer["marginal_errors_unknown"], "and the reason is there")
        answer, run = folder.answer("--calls", "300", "--importance", "5")
        importance = answer["log_z"]["importance"]
        check(importance["std_error"] is None and importance["std_error_unknown"], "five samples have no error")
        check("+-" not in run.out and "its error is not known" in run.out, "in the text as well", run.out)


def test_compare():
    with Folder(18, 2, [0.7, 0.3]) as folder:
        arguments = ["--budgets", "40", "--runs", "2", "--methods", "mass,andor,smc,gibbs", "--reference-calls", "200"]
        run = folder.run("compare", *arguments, "--journal", "run.journal")
        check(run.returncode == 0, "compare with a program", run.err)
        check("at most 240 by the methods" in run.err and "200 for the comparison" in run.err, "says before", run.err)
        check(0 < folder.num_calls() <= 440, "no more calls than was said", folder.num_calls())
        check("calls" in run.out and "KL to the target" in run.out, "calls per method", run.out)
        paid = folder.num_calls()
        again = folder.run("compare", *arguments, "--journal", "run.journal", "--threads", "8")
        check(again.returncode == 0 and folder.num_calls() == paid, "the journal pays the second time", again.err)
        tables = [[line for line in text.split("\n") if "program " not in line and "  " in line and "." in line]
                  for text in (run.out, again.out)]
        check(tables[0][:4] == tables[1][:4], "threads change nothing", again.out)
    with Folder() as folder:
        run = folder.run("compare", "--budgets", "20,50", "--runs", "1", "--reference-calls", "0")
        check(run.returncode == 0 and "there is no KL" in run.out, "no reference", run.err + run.out)
        check("KL to the target" not in run.out, "no KL without one", run.out)
        check(folder.num_calls() <= 70 * 9, "no call that no budget counts", folder.num_calls())
        for method in ("learned", "TS, rule mass", "Metropolis"):
            check(re.search(rf"^  {method}", run.out, re.M), f"{method} is there by default", run.out)
    with Folder() as folder:
        best = ["--question", "best", "--runs", "2", "--journal", "run.journal"]
        run = folder.run("compare", *best, "--budgets", "30,90")
        check(run.returncode == 0 and "nats below the best of all runs" in run.out, "the best", run.err + run.out)
        rows = {line.split("  ")[1].strip(): line for line in run.out.split("\n") if line.startswith("  ")}
        for method in ("learned model", "frequencies of the best quarter (TPE)", "Metropolis, remembering", "random"):
            check(method in rows, f"a row of {method}", run.out)
        check("at most 1800 by the methods" in run.err and "reference" not in run.err, "says before", run.err)
        check(0 < folder.num_calls() <= 1800, "no call that no budget counts", folder.num_calls())
        check(re.search(r"(Take |do not tell )", run.out), "a sentence says which to take", run.out)
        spent = run.out.split("Spent at the largest budget")[1]
        for line in spent.split("\n")[2:6]:
            calls = int(re.split(r"  +", line.strip())[2])
            check(0 < calls <= 90, "each within its budget", line)
        paid = folder.num_calls()
        again = folder.run("compare", *best, "--budgets", "30,90")
        check(again.returncode == 0 and folder.num_calls() == paid, "the journal pays the second time", again.err)
        check(again.out.split("Spent")[0] == run.out.split("Spent")[0], "with the same numbers", again.out)
        for arguments, message in ((["--question", "all"], "allowed is best"),
                                   (["--question", "best", "--samples", "2"], "no distribution to draw from")):
            run = folder.run("infer", "--method", "frequencies", *arguments)
            check(run.returncode == 64 and message in run.err, message, run.err)
        check(folder.num_calls() == paid, "nothing was called for it")
    with Folder(8, 2, [0.7, 0.3]) as folder:
        arguments = ["--calls", "20,60", "--runs", "2", "--reference-calls", "2000", "--journal", "run.journal"]
        run = folder.run("compare", *arguments, "--out", "compared")
        check(run.returncode == 0 and "total variation to the target" in run.out, "--calls", run.err + run.out)
        for method in ("learned model", "Metropolis, remembering", "tempering, remembering", "annealed SMC, remembering",
                       "cross-entropy, remembering", "frequencies of the best quarter (TPE)", "random"):
            check(re.search(rf"^  {re.escape(method)}  +[0-9e.-]+ ", run.out, re.M), f"{method} has a number", run.out)
        check(re.search(r"(Take |do not tell )", run.out), "a sentence says which to take", run.out)
        table = list(csv.DictReader(line for line in read(folder.file("compared/compare.csv")).splitlines()
                                    if not line.startswith("#")))
        distances = [float(row["total_variation"]) for row in table]
        check(all(0 <= distance <= 1 for distance in distances) and len(table) > 20, "total variations", distances)
        again = folder.run("compare", *arguments)
        check(again.out.split("Spent")[0] == run.out.split("Spent")[0], "no run learns from another's calls", again.out)
        wrong = folder.run("compare", "--calls", "many")
        check(wrong.returncode == 64 and "--calls: 'many' is not a whole number" in wrong.err, "a wrong number", wrong.err)
    for number in (signal.SIGINT, signal.SIGTERM):
        for methods in ("mass", "smc", "gibbs", "metropolis", "annealing"):
            with Folder(8, sleep="time.sleep(0.3)") as folder:
                process = folder.start("compare", "--budgets", "1000", "--methods", methods, "--reference-calls", "0")
                while folder.num_calls() < 2 and process.poll() is None:
                    time.sleep(0.02)
                process.send_signal(number)
                _, err = process.communicate(timeout=PATIENCE)
                check(process.returncode == 128 + number and "interrupted" in err, f"{number}, {methods}", err)


run_tests(globals())
