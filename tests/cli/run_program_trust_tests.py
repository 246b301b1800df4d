#!/usr/bin/env python3
"""Programs as factors that can be trusted, as a user meets them: run_program_trust_tests.py PROGRAM

Consent, values that are none or contradict what was declared, damaged journals, full disks, failures, batches.
"""

import json
import math
import os
import pty
import random
import resource
import select
import signal
import sqlite3
import subprocess
import sys
import time

from checks import PATIENCE, PROGRAM, check, run_tests, write
from oracle_folder import VALUE, Folder

WITHOUT_CONSENT = {key: value for key, value in os.environ.items() if key != "TREESAMPLE_ALLOW_PROGRAMS"}


def run_without_consent(folder, *arguments, **settings):
    return subprocess.run([PROGRAM, *arguments], cwd=folder.path, capture_output=True, text=True,
                          env={**WITHOUT_CONSENT, **settings}, stdin=subprocess.DEVNULL, timeout=PATIENCE)


def test_nothing_runs_without_consent():
    with Folder() as folder:
        folder.change_model(lambda model: model["programs"]["p"]["command"].append("two words\x1b[2J"))
        for arguments in (["infer", "model.json", "--journal", "run.journal", "--json", "out.json"],
                          ["compare", "model.json"], ["infer", "model.json", "--quiet"]):
            run = run_without_consent(folder, *arguments)
            check(run.returncode == 77, "consent is needed", f"{arguments} {run.returncode} {run.stderr}")
            check(run.stderr.count("\n") == 1 and "--allow-programs" in run.stderr, "one line says how", run.stderr)
            check("oracle.py 'two words\\x1b[2J'" in run.stderr, "and what would run, harmlessly", run.stderr)
            check(run.stdout == "" and folder.calls() == [], "nothing was run")
        check(sorted(os.listdir(folder.path)) == ["model.json", "oracle.py"], "nothing was written",
              f"{os.listdir(folder.path)}")
        info = run_without_consent(folder, "info", "model.json")
        check(info.returncode == 0 and folder.calls() == [], "info runs nothing", info.stderr)
        for setting in ("0", "yes", ""):
            run = run_without_consent(folder, "infer", "model.json", TREESAMPLE_ALLOW_PROGRAMS=setting)
            check(run.returncode == 77, "only 1 is consent", setting)


def test_files_of_programs_are_read_only_where_needed():
    with Folder() as folder:
        os.mkfifo(os.path.join(folder.path, "pipe"))
        for name in ("/dev/zero", "pipe"):
            folder.change_model(lambda model: model["programs"]["p"].update(files=[name]))
            for arguments in (["info", "model.json"], ["infer", "model.json", "--explain"],
                              ["infer", "model.json", "--budget", "10", "--allow-programs"]):
                run = run_without_consent(folder, *arguments)
                check(run.returncode == 0, f"{name} is not read", f"{arguments} {run.stderr}")
            run = run_without_consent(folder, "infer", "model.json", "--budget", "10", "--allow-programs", "--journal", "j")
            check(run.returncode == 66 and "cannot be read: allowed are regular files" in run.stderr,
                  f"{name} is refused for a journal", f"{run.returncode} {run.stderr}")


def test_outputs_do_not_replace_files_of_programs():
    with Folder() as folder:
        write(os.path.join(folder.path, "data.bin"), "data")
        folder.change_model(lambda model: model["programs"]["p"].update(files=["data.bin"]))
        os.link(os.path.join(folder.path, "data.bin"), os.path.join(folder.path, "same.bin"))
        for arguments in (["infer", "model.json", "--json", "oracle.py"], ["infer", "model.json", "--trace", "data.bin"],
                          ["infer", "model.json", "--json", "same.bin"], ["compare", "model.json", "--html", "oracle.py"]):
            run = run_without_consent(folder, *arguments, "--allow-programs")
            check(run.returncode == 64 and "is the file of program 'p', which would be lost" in run.stderr,
                  "an output is no file of a program", f"{arguments} {run.returncode} {run.stderr}")
        check(folder.calls() == [], "nothing was run")


def test_consent():
    with Folder() as folder:
        run = run_without_consent(folder, "infer", "model.json", "--budget", "10", "--allow-programs")
        check(run.returncode == 0 and "oracle.py" in run.stderr, "commands are shown before they run", run.stderr)
        run = run_without_consent(folder, "infer", "model.json", "--budget", "10", TREESAMPLE_ALLOW_PROGRAMS="1")
        check(run.returncode == 0 and "oracle.py" in run.stderr, "by the environment", run.stderr)
        num_calls = len(folder.calls())
        for answer, code in (("y\n", 0), ("n\n", 77), ("\n", 77), ("yellow\n", 77), ("\x04", 77)):
            run, shown = run_at_terminal(folder, answer)
            check(run == code, f"the answer {answer!r} at a terminal", f"{run} {shown}")
            check("oracle.py" in shown and "[y/N]" in shown, "the command and the question", shown)
            check((len(folder.calls()) > num_calls) == (code == 0), "runs only after yes", f"{answer!r}")
            num_calls = len(folder.calls())


def run_at_terminal(folder, answer):
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder.path)
        os.execve(PROGRAM, [PROGRAM, "infer", "model.json", "--budget", "100"], WITHOUT_CONSENT)
    shown, is_answered, end = "", False, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                data = os.read(terminal, 4096)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            shown += data.decode(errors="replace")
        if "[y/N]" in shown and not is_answered:
            os.write(terminal, answer.encode())
            is_answered = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


def test_values_that_are_none_and_values_above_the_maximum():
    rules = (["--select", "mass"], ["--select", "gap"], ["--select", "q-uct"], ["--method", "smc"],
             ["--method", "gibbs"])
    for value, text in (("1e308", "1e+308"), ("2e7", "20000000"), ("float('nan')", "nan"), ("float('inf')", "inf"),
                        ("-1.5e300", "-1.5e+300")):
        for rule in rules:
            with Folder(f"return {value} if s[3] == 1 else -1.0", factor_fields={"log_max": 0},
                        program_fields={"max_retries": 0}) as folder:
                run = folder.run("--budget", "1000", *rule)
                check(run.returncode in (65, 66), f"{value} with {rule} is an error", f"{run.returncode} {run.out}")
                check("factor 'f' at a=" in run.err and text in run.err and "to 17000000" in run.err,
                      "names factor, states, value and limit", run.err)
    for rule in rules:
        with Folder("return 5.0 if s[3] == 1 else -1.0", factor_fields={"log_max": 0}) as folder:
            run = folder.run("--budget", "1000", "--journal", "run.journal", *rule)
            check(run.returncode == 65, f"above log_max with {rule}", f"{run.returncode} {run.out}")
            check("has the log-value 5, above its declared log_max of 0" in run.err, "says so", run.err)
            check(run.out == "", "and there is no answer: its bounds would be wrong", run.out)
            again = folder.run("--budget", "1000", "--journal", "run.journal", *rule)
            check(again.returncode == 65 and "above its declared log_max" in again.err, "so does the journal",
                  again.err)


def test_tables_beyond_the_range():
    with Folder() as folder:
        for value, code in (("2e300", 65), ("1e308", 65), ("-1e301", 65), ("1.7e7", 0), ("-1e9", 0), ('"-inf"', 0)):
            with open(folder.file("table.json"), "w") as file:
                file.write('{"variables": [{"name": "a", "states": 2}], "factors": [{"scope": ["a"], "log_values": '
                           f'[0, {value}]}}]}}')
            for rule in ([], ["--select", "mass"], ["--select", "gap"], ["--select", "gap", "--leaf", "uniform"],
                         ["--select", "q-uct"]):
                run = run_without_consent(folder, "infer", "table.json", "--json", "-", *rule)
                check(run.returncode == code, f"{value} with {rule}", f"{run.returncode} {run.stderr}")
                if code != 0:
                    check("table.json: factors[0].log_values[1]: the log-value" in run.stderr, "names it", run.stderr)
                else:
                    expected = 1.7e7 if value == "1.7e7" else 0.0
                    check(abs(json.loads(run.stdout)["log_z"]["estimate"] - expected) < 1e-6, "is right", run.stdout)
        # Tables may have what some numbers cannot hold: an error or the right answer, never "inf, exact".
        for size, count in ((1.7e7, 4), (2e7, 1)):
            factors = [{"scope": ["a"], "log_values": [size, size]}] * count
            write(folder.file("table.json"), json.dumps({"variables": [{"name": "a", "states": 2}], "factors": factors}))
            for rule in ([], ["--select", "mass"], ["--select", "gap"], ["--select", "q-uct"], ["--no-simplify"]):
                run = run_without_consent(folder, "infer", "table.json", "--json", "-", *rule)
                if run.returncode == 0:
                    estimate = json.loads(run.stdout)["log_z"]["estimate"]
                    check(abs(estimate - size * count - math.log(2)) < 1e-6, f"a sum of {size * count} with {rule}",
                          run.stdout)
                else:
                    check(run.returncode == 65 and "numbers" in run.stderr, f"refused with {rule}", run.stderr)


def test_damaged_journals():
    arguments = ("--budget", "60", "--space", "tree", "--journal", "run.journal")
    with Folder() as folder:
        check(folder.run(*arguments).returncode == 0, "a run with a journal")
        expected = folder.answer()
        with open(folder.file("run.journal"), "rb") as file:
            whole = file.read()
        draw = random.Random(1)
        num_refused = 0
        for _ in range(120):
            changed = bytearray(whole)
            place = draw.randrange(len(whole))
            kind = draw.choice(("bit", "byte", "cut", "zeros"))
            if kind == "bit":
                changed[place] ^= 1 << draw.randrange(8)
            elif kind == "byte":
                changed[place] = draw.randrange(256)
            elif kind == "cut":
                changed = changed[:place]
            else:
                changed[place:place + 100] = bytes(len(changed[place:place + 100]))
            with open(folder.file("run.journal"), "wb") as file:
                file.write(changed)
            run = folder.run(*arguments)
            if run.returncode == 0:
                check(folder.answer() == expected, "the same answer after damage", f"{kind} {place}")
            else:
                num_refused += 1
                check(run.returncode in (64, 66) and "run.journal" in run.err and run.err.count("\n") == 1,
                      "one clear line after damage", f"{kind} {place} {run.returncode} {run.err}")
            for name in os.listdir(folder.path):
                if name.startswith("run.journal"):
                    os.remove(folder.file(name))
        check(num_refused > 20, "damage is noticed", f"{num_refused}")

        with open(folder.file("run.journal"), "wb") as file:
            file.write(whole)
        with sqlite3.connect(folder.file("run.journal")) as database:
            database.execute("UPDATE evaluation SET log_value = log_value + 1 WHERE id = 7")
        database.close()
        run = folder.run(*arguments)
        check(run.returncode == 66 and "row 7 of its evaluations (factor 'f' at states " in run.err, "named", run.err)
        listing = subprocess.run([PROGRAM, "journal", "run.journal"], cwd=folder.path, capture_output=True, text=True)
        check(listing.returncode == 65 and "damaged: row 7" in listing.stdout, "journal shows it", listing.stdout)
        repair = subprocess.run([PROGRAM, "journal", "run.journal", "--repair"], cwd=folder.path, capture_output=True,
                                text=True)
        check(repair.returncode == 0 and "dropped row 7" in repair.stdout, "repair drops it", repair.stdout)
        num_calls = len(folder.calls())
        run = folder.run(*arguments)
        check(run.returncode == 0 and folder.answer() == expected, "and the answer is the same", run.err)
        check(len(folder.calls()) == num_calls + 1, "for one more call", f"{len(folder.calls()) - num_calls}")


def test_full_disk():
    def limit(size):
        def set_limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return set_limit
    for workers in ("1", "4"):
        with Folder() as folder:
            arguments = ("--budget", "81", "--space", "tree", "--journal", "run.journal", "--oracle-workers", workers,
                         "--oracle-order", "submission")
            whole = folder.run(*arguments)
            expected = folder.answer()
            num_calls = len(folder.calls())
            for name in ("calls", "run.journal", "run.journal.log"):
                if os.path.exists(folder.file(name)):
                    os.remove(folder.file(name))
            run = folder.run(*arguments, preexec_fn=limit(100_000))
            check(run.returncode not in (0, -signal.SIGXFSZ), "a journal that cannot be written", f"{run.returncode}")
            check("run.journal: cannot be" in run.err and "what was recorded before is safe" in run.err, "says so",
                  run.err)
            again = folder.run(*arguments)
            check(again.returncode == 0 and folder.answer() == expected, "nothing recorded is lost", again.err)
            check(num_calls <= len(folder.calls()) <= num_calls + 3 * int(workers), "nothing recorded is paid twice",
                  f"{len(folder.calls())} {num_calls}")


FAILING = "if (s[0] + s[1] + s[2] + s[3]) % 7 == 6: raise ValueError('diverged')\n    " + VALUE
PYTHON = "def f(a, b, c, d):\n    s = [a, b, c, d]\n    open('calls', 'a').write(f'{s}\\n')\n    BODY\n"


def use_python(folder, body, **fields):
    write(folder.file("mine.py"), PYTHON.replace("BODY", body))
    folder.change_model(lambda model: model["programs"].update(p={"python": "mine.py", "max_retries": 0, **fields}))


def true_log_z(failed):
    """By enumeration; `failed` is the log-value of states that fail."""
    table = [0, -1, -2, -1, 0, -1, -math.inf, -1, 0]
    total = 0.0
    for i in range(81):
        s = [i // 27, i // 9 % 3, i // 3 % 3, i % 3]
        value = failed if sum(s) % 7 == 6 else -3.14159265358979 * (1 + s[0]) / (7 + s[1] + 5 * s[2]) + 0.3 * s[3]
        total += math.exp(table[3 * s[0] + s[1]] + value)
    return math.log(total)


def test_failures_count_as_the_model_says():
    for rule, value, words in (("impossible", -math.inf, "and count as impossible"), (-2.5, -2.5, "and count as -2.5"),
                               ("skip", -math.inf, "and were skipped: log Z, its bounds and all probabilities are")):
        for workers in ("1", "4"):
            with Folder() as folder:
                # Which of them fail first depends on the workers.
                use_python(folder, FAILING, on_failure=rule, max_failure_share=1)
                arguments = ("--budget", "1000", "--oracle-workers", workers, "--journal", "run.journal")
                run = folder.run(*arguments)
                check(run.returncode == 0, f"a run with failures, {rule}", run.err)
                answer = folder.whole_answer()
                check(abs(answer["log_z"]["estimate"] - true_log_z(value)) < 1e-9, "is that of the model without them",
                      f"{answer['log_z']} {true_log_z(value)}")
                check(words in run.out, "and says so", run.out)
                failed = answer["programs"][0]["failed"]
                check(failed > 0 and answer["programs"][0]["failed_from_journal"] == 0, "counted in the JSON")
                num_calls = len(folder.calls())
                again = folder.run(*arguments)
                check(again.returncode == 0 and len(folder.calls()) == num_calls, "not paid again", again.err)
                check(folder.whole_answer()["programs"][0]["failed_from_journal"] == failed, "but counted")
                folder.run(*arguments, "--retry-failed")
                check(len(folder.calls()) == num_calls + failed, "unless asked", f"{len(folder.calls()) - num_calls}")


def test_a_failure_that_stops_does_not_stick():
    with Folder() as folder:
        use_python(folder, "if s == [1, 1, 1, 1] and not os.path.exists('works'): raise ValueError('diverged')\n    "
                   + VALUE)
        with open(folder.file("mine.py"), "a") as file:
            file.write("import os\n")
        arguments = ("--budget", "1000", "--journal", "run.journal")
        for _ in range(2):
            run = folder.run(*arguments)
            check(run.returncode == 66 and "diverged" in run.err, "stops", run.err)
        open(folder.file("works"), "w").close()
        run = folder.run(*arguments)
        check(run.returncode == 0 and folder.answer()["log_z"]["exact"], "the next run tries again", run.err)


def test_too_many_failures_end_the_run():
    with Folder() as folder:
        use_python(folder, "if s[3] > 0: raise ValueError('diverged')\n    " + VALUE, on_failure="skip")
        run = folder.run("--budget", "1000")
        check(run.returncode == 66 and "evaluations failed, allowed is a share of 0.2" in run.err, "ends", run.err)
        check(20 <= len(folder.calls()) <= 24, "after 20 calls", f"{len(folder.calls())}")
        use_python(folder, "if s[3] > 0: raise ValueError('diverged')\n    " + VALUE, on_failure="skip",
                   max_failure_share=1)
        run = folder.run("--budget", "1000")
        check(run.returncode == 0, "unless it is allowed", run.err)


BATCH = """
import json, sys, time
sys.stdin.readline()
print('{"ready": true}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    states = request["assignments"]
    open("batches", "a").write(f"{len(states)}\\n")
    time.sleep(0.001 + 1e-6 * len(states))
    print(json.dumps({"id": request["id"], "log_values": [-0.01 * sum(s) for s in states]}), flush=True)
"""


def batch_model(folder, max_batch, scopes):
    names = [f"x{i}" for i in range(8)]
    factors = [{"name": f"f{i}", "scope": names[:size], "program": "p"} for i, size in enumerate(scopes)]
    model = {"variables": [{"name": name, "states": 3} for name in names],
             "programs": {"p": {"command": [sys.executable, "-I", "-S", "batch.py"], "max_batch": max_batch}},
             "factors": factors}
    write(folder.file("model.json"), json.dumps(model))
    write(folder.file("batch.py"), BATCH)


def batches(folder):
    with open(folder.file("batches")) as file:
        sizes = [int(line) for line in file]
    os.remove(folder.file("batches"))
    return sizes


def test_batches():
    arguments = ("--budget", "5000", "--budget-unit", "factor", "--space", "tree", "--order", "given",
                 "--oracle-order", "submission")
    # One factor over all variables, then one after the other: what is under way is of several factors. How full batches
    # are depends on which side is faster, hence least means of half of what a fast program under test has.
    for scopes, sizes in (((8,), ((16, 6), (256, 40))), ((5, 6, 7, 8), ((16, 4), (256, 20)))):
        for max_batch, fewest in ((1, 1), *sizes):
            for workers in ("1", "3"):
                with Folder() as folder:
                    batch_model(folder, max_batch, scopes)
                    answers = []
                    for _ in range(1 if max_batch == 1 else 2):
                        run = folder.run(*arguments, "--oracle-workers", workers)
                        check(run.returncode == 0, "a run in batches", run.err)
                        found = batches(folder)
                        mean = sum(found) / len(found)
                        check(sum(found) > 4900 and max(found) <= max_batch, "all of the budget", f"{sum(found)}")
                        check(mean >= fewest, f"{scopes}, max_batch {max_batch}, {workers} workers", f"mean {mean:.1f}")
                        answers.append(folder.answer())
                    check(answers[0] == answers[-1], "the same bits every time", f"max_batch {max_batch}")


def test_python_batches():
    with Folder() as folder:
        use_python(folder, VALUE, max_batch=9)
        plain = folder.run("--budget", "1000")
        expected = folder.answer()["log_z"]["estimate"]
        with open(folder.file("mine.py"), "a") as file:
            file.write("def f_batch(assignments):\n    open('batches', 'a').write(f'{len(assignments)}\\n')\n"
                       "    if len(assignments) == 3: raise ValueError('three are too many')\n"
                       "    return [f(**a) for a in assignments]\n")
        run = folder.run("--budget", "1000")
        check(plain.returncode == run.returncode == 0, "functions that take batches", plain.err + run.err)
        check(abs(folder.answer()["log_z"]["estimate"] - expected) < 1e-12, "have the same values")
        check(max(batches(folder)) == 9, "and get them")


run_tests(globals())
