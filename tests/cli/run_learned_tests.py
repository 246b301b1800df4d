#!/usr/bin/env python3
"""One simulator over all variables, learned from its calls: run_learned_tests.py PROGRAM"""

import itertools
import math
import random
import signal
import time

from checks import PATIENCE, check, run, run_tests, write
from oracle_folder import ModelFolder

# A twentieth of the states fail, some by an exception and some by NaN.
SIMULATOR = """
import math, os, time, zlib
def value(k):
    return (-0.7 * abs(k[0] - k[1]) - 0.9 * (k[2] == k[3]) + 0.5 * k[4] * k[5] - 1.1 * (k[6] != k[7])
            + 0.2 * math.sin(sum((n + 1) * s for n, s in enumerate(k))))
def fails(k):
    return zlib.crc32(repr(k).encode()) % FAILURES
def simulate(**states):
    with open("calls", "a") as calls:
        calls.write(".")
    k = tuple(states.values())
    SLEEP
    if fails(k) == 0:
        raise RuntimeError("the solver diverged")
    return float("nan") if fails(k) == 1 else value(k)
"""


class Folder(ModelFolder):
    def __init__(self, num_variables=8, failures=40, sleep="pass", **program):
        self.source = SIMULATOR.replace("FAILURES", str(failures)).replace("SLEEP", sleep)
        names = [f"v{i}" for i in range(num_variables)]
        model = {"variables": [{"name": name, "states": 3} for name in names],
                 "programs": {"sim": {"python": "sim.py", "max_retries": 0, "on_failure": "impossible", **program}},
                 "factors": [{"name": "simulate", "scope": names, "program": "sim"}]}
        super().__init__(model, sim=self.source)

    def start(self, *arguments):
        return super().start("infer", *arguments, "--json", "answer.json")

    def answer(self, *arguments):
        run = self.run(*arguments)
        check(run.returncode == 0, f"infer {arguments}", run.err)
        return self.whole_answer(), run

    def truth(self, fixed=()):
        scope = {}
        exec(self.source, scope)
        weights = {k: math.exp(scope["value"](k)) for k in itertools.product(range(3), repeat=8)
                   if scope["fails"](k) > 1 and k[:len(fixed)] == fixed}
        total = math.fsum(weights.values())
        first = [math.fsum(w for k, w in weights.items() if k[0] == s) / total for s in range(3)]
        return math.log(total), first, math.log(max(weights.values()))


def test_a_new_users_path():
    with Folder() as folder:
        log_z, first, best = folder.truth()
        for calls in (200, 400):
            answer, run = folder.answer("--calls", str(calls), "--new-calls", "200", "--oracle-workers", "4", "--journal",
                                        "run.journal")
            check(answer["method"].startswith("learned from"), "it is learned", answer["method"])
            check(folder.num_calls() == calls, "as many calls as were said", folder.num_calls())
            check(answer["log_z"]["lower"] <= log_z, "certified")
            interval = answer["log_z"]["sampled_interval"]
            check(interval and interval["lower"] <= log_z <= interval["upper"], "the interval covers", f"{interval} {log_z}")
            check("not certified" in run.out and "count as impossible" in run.out, "in words", run.out)
            shown = list(list(answer["marginals"].values())[0].values())
            error = answer["marginals_error"]
            check(error and all(abs(p - q) < 4 * error for p, q in zip(shown, first)), "marginals", f"{shown} {first}")
            check(answer["best"]["log_density"] <= best + 1e-9, "best")


def test_the_best_alone():
    with Folder(failures=10**9) as folder:
        _, _, best = folder.truth()
        answer, run = folder.answer("--calls", "150", "--question", "best")
        check(best - answer["best"]["log_density"] < 0.2, "nearly the best", answer["best"])
        check(folder.num_calls() == 150 and not answer["marginals"], "and nothing else", run.out)


def test_too_few_calls_are_guesses():
    with Folder() as folder:
        answer, run = folder.answer("--calls", "25")
        check(answer["log_z"]["sampled_interval"] is None and answer["marginals_error"] is None, "no error is made up")
        check("guesses" in run.out and "its error is not known" in run.out, "guesses are called so", run.out)


def test_everything_asked_is_exact():
    with Folder(num_variables=8, failures=10**9) as folder:
        log_z, _, _ = folder.truth((0, 1, 2))
        answer, run = folder.answer("--method", "learned", "--noise", "no", "--calls", "10000", "--evidence", "v0=0,v1=1,v2=2")
        check(folder.num_calls() == 3**5 and answer["log_z"]["exact"], "exact", run.out)
        check(abs(answer["log_z"]["estimate"] - log_z) < 1e-9 and answer["marginals_from"] == "exact", "and right")


def comparable(answer):
    for name in ("seconds", "expansions_per_second", "programs", "options", "phases", "calls"):  # with times
        answer.pop(name, None)
    answer["spent"].pop("cost_seconds")
    return answer


def test_killed_runs_go_on_with_the_same_bits():
    arguments = ["--calls", "70", "--oracle-workers", "3", "--oracle-order", "submission", "--journal", "run.journal"]
    with Folder(sleep="time.sleep(0.002)") as folder:
        whole, _ = folder.answer(*arguments)
        whole = comparable(whole)
    generator = random.Random(5)
    for _ in range(4):
        with Folder(sleep="time.sleep(0.002)") as folder:
            process = folder.start(*arguments)
            wanted = generator.randrange(5, 65)
            while folder.num_calls() < wanted and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
            answer, _ = folder.answer(*arguments)
            check(comparable(answer) == whole, "the same answer", f"killed after {wanted}")
            check(folder.num_calls() <= 70 + 3 * 2, "only what was under way is paid twice", folder.num_calls())


def test_a_share_of_failures_ends_the_run():
    with Folder(failures=3) as folder:
        run = folder.start("--calls", "200")
        _, err = run.communicate(timeout=PATIENCE)
        check(run.returncode != 0 and "failed" in err, "two thirds fail", err)
        check(folder.num_calls() < 60, "and few are paid for", folder.num_calls())


def test_batches_are_filled():
    with Folder(max_batch=16, failures=10**9) as folder:
        answer, _ = folder.answer("--calls", "160", "--seed", "3")
        check(answer["spent"]["calls"] == 160 and folder.num_calls() == 160, "all calls", answer["spent"])


def test_values_that_were_imported_teach():
    with Folder(failures=10**9) as folder:
        log_z, first, _ = folder.truth()
        scope = {}
        exec(folder.source, scope)
        names = [f"v{i}" for i in range(8)]
        generator = random.Random(3)
        known = {tuple(generator.randrange(3) for _ in names) for _ in range(900)}
        lines = [",".join([*names, "log_value"])]
        lines += [",".join(map(str, [*k, repr(scope["value"](k))])) for k in sorted(known)]
        write(folder.file("calls.csv"), "\n".join(lines) + "\n")
        brought = run("journal", "run.journal", "--import", "calls.csv", "--model", "model.json", cwd=folder.path)
        check(brought.returncode == 0, "an import", brought.stderr)
        answer, _ = folder.answer("--calls", "40", "--journal", "run.journal")
        check(f"{len(known):,} values known before" in answer["method"], "says what taught", answer["method"])
        check(folder.num_calls() == 40, "which are no calls", folder.num_calls())
        check(abs(answer["log_z"]["estimate"] - log_z) < 0.02, "and teaches", f"{answer['log_z']} {log_z}")
        lower = math.log(math.fsum(math.exp(scope["value"](k)) for k in known))
        check(lower - 1e-9 <= answer["log_z"]["lower"] <= log_z, "for the certified bound, too", answer["log_z"])
        again, _ = folder.answer("--calls", "40", "--journal", "run.journal")
        check(folder.num_calls() == 40 and comparable(again) == comparable(answer), "the same once more", again["method"])


run_tests(globals())
