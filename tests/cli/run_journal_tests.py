#!/usr/bin/env python3
"""Journals as one looks at them: lists and CSV, also while a run writes them; values brought in; journals of the
version before; monotone programs and their witnesses; interpreters."""

import csv
import io
import os
import resource
import shutil
import signal
import sys

from checks import check, run, run_tests, write
from oracle_folder import Folder

HERE = os.path.dirname(os.path.abspath(__file__))


def journal(folder, *arguments):
    return run("journal", *arguments, cwd=folder.path)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def use_python(folder, source, factor_fields=None, program_fields=None, states=3):
    def change(model):
        model["variables"] = [{"name": name, "states": states} for name in "abcd"]
        model["factors"] = [{"scope": ["a"], "values": [1.0] * (states if isinstance(states, int) else len(states))},
                            {"name": "f", "scope": list("abcd"), "program": "p", **(factor_fields or {})}]
        model["programs"]["p"] = {"python": "functions.py", **(program_fields or {})}
    folder.change_model(change)
    write(folder.file("functions.py"), source)


def test_calls_one_by_one():
    with Folder() as folder:
        run = folder.run("--calls", "40", "--journal", "run.journal", "--oracle-workers", "2")
        check(run.returncode == 0, "a run with a journal", run.err)
        listing = journal(folder, "run.journal", "--list")
        lines = listing.stdout.splitlines()
        check(listing.returncode == 0 and len(lines) == 1 + len(folder.calls()), "--list has one line per call",
              listing.stdout + listing.stderr)
        check("a=" in lines[1] and "d=" in lines[1], "with its states", lines[1])
        table = rows_of(journal(folder, "run.journal", "--csv", "-").stdout)
        check([row["number"] for row in table] == [str(i + 1) for i in range(len(table))], "--csv is in order")
        check({row["worker"] for row in table} == {"1", "2"}, "and says who", {row["worker"] for row in table})
        asked = sorted(f"f[{row['a']}, {row['b']}, {row['c']}, {row['d']}]" for row in table)
        check(asked == sorted(folder.calls()), "and what was asked")
        for row in table:
            s = [int(row[name]) for name in "abcd"]
            value = -3.14159265358979 * (1 + s[0]) / (7 + s[1] + 5 * s[2]) + 0.3 * s[3]
            check(float(row["log_value"]) == value, "a value to the bit", row)
            check(float(row["seconds"]) >= 0 and len(row["time"]) == 23, "its seconds and its time", row)
        journal(folder, "run.journal", "--csv", "calls.csv")
        with open(folder.file("calls.csv")) as file:
            check(rows_of(file.read()) == table, "--csv FILE writes the same")


def test_reading_while_a_run_writes():
    with Folder(body="time.sleep(0.1); " + "return -1.0") as folder:
        run = folder.start("--calls", "70", "--journal", "run.journal")
        check(folder.wait_until(lambda: len(folder.calls()) >= 10), "the run is going on")
        listing = journal(folder, "run.journal", "--csv", "-")
        check(listing.returncode == 0 and 5 <= len(rows_of(listing.stdout)) <= 71, "its calls so far are read",
              listing.stdout[:200] + listing.stderr)
        second = folder.run("--calls", "70", "--journal", "run.journal")
        check(second.returncode == 66 and "run.journal: the journal is in use by another run" in second.err,
              "a second run is refused", second.err)
        run.communicate()
        check(run.returncode == 0, "and the first one is not disturbed")
        check(len(rows_of(journal(folder, "run.journal", "--csv", "-").stdout)) == len(folder.calls()), "all is there")


def test_values_are_brought_in():
    with Folder() as folder:
        folder.run("--calls", "81", "--noise", "no", "--journal", "run.journal")
        paid = len(folder.calls())
        journal(folder, "run.journal", "--csv", "calls.csv")
        brought = journal(folder, "other.journal", "--import", "calls.csv", "--model", "model.json")
        check(f"other.journal: {paid} evaluations new, 0 known" in brought.stdout, "--import begins a journal",
              brought.stdout + brought.stderr)
        folder.run("--calls", "81", "--noise", "no", "--journal", "other.journal")
        check(len(folder.calls()) == paid, "and a run with it pays for nothing", len(folder.calls()) - paid)
        again = journal(folder, "other.journal", "--import", "calls.csv", "--model", "model.json")
        check(f"0 evaluations new, {paid} known" in again.stdout, "what is known stays", again.stdout)
        check({row["worker"] for row in rows_of(journal(folder, "other.journal", "--csv", "-").stdout)} == {"import"},
              "such calls are marked")
        for text, message in (
                ("", "bad.csv: the file is empty"),
                ("a,b,c,d\n0,0,0,0\n", "bad.csv:1: there is no column 'log_value'"),
                ("a,b,c,log_value\n0,0,0,0\n", "bad.csv:1: there is no column 'd', a variable of factor 'f'"),
                ("a,b,c,d,e,log_value\n0,0,0,0,0,0\n", "bad.csv:1: the model has no variable 'e'"),
                ("a,b,c,d,d,log_value\n0,0,0,0,0,0\n", "bad.csv:1: two columns are called 'd'"),
                ("a,b,c,d,log_value\n0,0,0,3,0\n", "bad.csv:2: "),
                ("a,b,c,d,log_value\n0,0,0,0\n", "bad.csv:2: 4 fields, the header has 5"),
                ("a,b,c,d,log_value\n0,0,0,0,nan\n", "bad.csv:2: log_value is 'nan', allowed are numbers and -inf"),
                ("a,b,c,d,log_value\n0,0,0,0,inf\n", "bad.csv:2: log_value is inf"),
                ("a,b,c,d,log_value\n0,0,0,0,x\n", "bad.csv:2: log_value is 'x', allowed are numbers and -inf"),
                ("a,b,c,d,log_value,seconds\n0,0,0,0,1,-1\n", "bad.csv:2: seconds is '-1'"),
                ("a,b,c,d,log_value,factor\n0,0,0,0,1,g\n", "bad.csv:2: the model has no factor with a program called 'g'"),
                ("a,b,c,d,log_value\n0,0,0,0,1\n0,0,0,0,2\n",
                 "bad.csv:3: log_value is 2, and 1 at the same states in line 2"),
                ("a,b,c,d,log_value\n0,0,0,0,17\n", "bad.csv:2: log_value is 17, and -0.44879895051282714 at the same states in the journal"),
        ):
            write(folder.file("bad.csv"), text)
            name = "new.journal" if "in line" in message else "run.journal"
            bad = journal(folder, name, "--import", "bad.csv", "--model", "model.json")
            check(bad.returncode == 65 and message in bad.stderr and bad.stderr.count("\n") == 1, message,
                  f"{bad.returncode} {bad.stderr}")
        alone = journal(folder, "run.journal", "--import", "calls.csv")
        check(alone.returncode == 64 and "--import: needs the model" in alone.stderr, "--import without --model",
              alone.stderr)
        both = journal(folder, "run.journal", "--import", "calls.csv", "--list")
        check(both.returncode == 64, "--import with --list", both.stderr)
        missing = journal(folder, "none.journal", "--list")
        check(missing.returncode == 66 and "none.journal" in missing.stderr, "a journal that there is not",
              missing.stderr)
        folder.change_model(lambda model: model["programs"]["p"].update(command=[sys.executable, "-I", "-S", "./oracle.py"]))
        other = journal(folder, "run.journal", "--import", "calls.csv", "--model", "model.json")
        check(other.returncode == 64 and "changed" in other.stderr, "a journal of another model", other.stderr)


def test_names_of_states():
    with Folder() as folder:
        use_python(folder, "def f(a, b, c, d):\n    return -1.0 if a == 'up' else -2.0\n", states=["down", "up"])
        folder.run("--calls", "5", "--journal", "run.journal")
        listing = journal(folder, "run.journal", "--list", "--model", "model.json")
        check("a=down" in listing.stdout or "a=up" in listing.stdout, "states by name with --model", listing.stdout)
        write(folder.file("calls.csv"), "d;c;b;a;log_value\nup;up;up;up;-1\n")
        brought = journal(folder, "run.journal", "--import", "calls.csv", "--model", "model.json")
        check(brought.returncode == 0, "and in files, in any order of columns", brought.stderr)


def test_journals_of_the_version_before():
    with Folder() as folder:
        for name in ("model.json", "my_factor.py", "run.journal"):
            shutil.copy(os.path.join(HERE, "..", "data", "journal_2", name), folder.path)
        table = rows_of(journal(folder, "run.journal", "--csv", "-").stdout)
        check(len(table) == 6 and {row["time"] for row in table} == {""} and {row["number"] for row in table} == {""},
              "its calls are read, without order and time", table)
        check(sum(row["failure"] != "" for row in table) == 1, "with their failures")
        run = folder.run("--calls", "100", "--noise", "no", "--journal", "run.journal")
        answer = folder.whole_answer()["programs"][0]
        check(run.returncode == 0 and answer["paid"] == 0 and answer["from_journal"] == 5, "a run goes on with it",
              run.err + str(answer))
        check(abs(folder.whole_answer()["log_z"]["estimate"] - 0.194656) < 1e-6, "to the same answer")
        check(len(rows_of(journal(folder, "run.journal", "--csv", "-").stdout)) == 6, "which loses nothing")


SERIES = """
def f(a, b, c, d):
    down = [name for name, state in zip("abcd", (a, b, c, d)) if state == 0]
    return (0.0, down[:1]) if down else (float("-inf"), ["a", "b", "c", "d"])
"""


def test_monotone_programs():
    with Folder() as folder:
        use_python(folder, SERIES, {"monotone": dict.fromkeys("abcd", "decreasing")}, states=2)
        run = folder.run("--calls", "100", "--journal", "run.journal")
        answer = folder.whole_answer()
        check(run.returncode == 0 and answer["log_z"]["exact"], "a monotone program is decided", run.err)
        check(abs(answer["log_z"]["estimate"] - 2.70805020110221) < 1e-9, "exactly", answer["log_z"])  # log(16 - 1)
        check("monotone" in answer["method"], "by boxes", answer["method"])
        paid = answer["programs"][0]["paid"]
        check(paid <= 8, "with witnesses by few calls", paid)
        folder.run("--calls", "100", "--journal", "run.journal")
        again = folder.whole_answer()
        check(again["programs"][0]["paid"] == 0 and again["log_z"] == answer["log_z"],
              "a journal has the witnesses too", again["programs"])
        use_python(folder, "def f(a, b, c, d):\n    return float(-a)\n", {"monotone": True}, states=2)
        wrong = folder.run("--calls", "100")
        check(wrong.returncode == 65 and "is not monotone as it is declared: it is" in wrong.err
              and wrong.err.count("\n") == 1, "what is not monotone is an error with both configurations", wrong.err)
        use_python(folder, "def f(a, b, c, d):\n    return (0.0, ['e'])\n", {"monotone": True}, states=2)
        wrong = folder.run("--calls", "100")
        check("in a witness, which is no variable" in wrong.err, "a witness that there is not", wrong.err)
        for declared, message in (("yes", "allowed are true, false and an object"),
                                  ({"a": "increasing"}, "the direction of the variable 'b' is missing"),
                                  (dict.fromkeys("abcd", "up"), "allowed are \"increasing\" and \"decreasing\""),
                                  (dict.fromkeys("abcde", "increasing"), "is not in the scope")):
            folder.change_model(lambda model: model["factors"][1].update(monotone=declared))
            bad = folder.run("--calls", "100")
            check(bad.returncode == 65 and message in bad.err, message, bad.err)


def test_interpreter():
    with Folder() as folder:
        use_python(folder, "import sys\ndef f(a, b, c, d):\n    return float(len(sys.argv) > 5)\n")
        os.makedirs(folder.file("venv/bin"))
        write(folder.file("venv/bin/python"), f'#!/bin/sh\necho used >> used\nexec {sys.executable} "$@"\n')
        os.chmod(folder.file("venv/bin/python"), 0o755)
        folder.change_model(lambda model: model["programs"]["p"].update(interpreter="venv/bin/python"))
        run = folder.run("--calls", "3")
        check(run.returncode == 0 and os.path.exists(folder.file("used")), "the interpreter of a model is used", run.err)
        folder.change_model(lambda model: model["programs"]["p"].update(interpreter="venv/bin/none"))
        run = folder.run("--calls", "3")
        check(run.returncode == 66 and "no executable file 'venv/bin/none'" in run.err, "one that there is not", run.err)
        folder.change_model(lambda model: model["programs"].update(p={"command": ["true"], "interpreter": "python3"}))
        run = folder.run("--calls", "3")
        check(run.returncode == 65 and "only a program with the field python" in run.err, "one of a command", run.err)


def test_an_endless_answer():
    body = "sys.stdout.write('x' * (1 << 20))\n    while True: sys.stdout.write('x' * (1 << 20))"
    with Folder(body=body, program_fields={"max_retries": 0}) as folder:
        run = folder.run("--calls", "3")
        check(run.returncode == 66 and "f" in run.err and run.err.count("\n") == 1, "an answer without an end", run.err)


def test_a_limit_on_the_size_of_files():
    with Folder() as folder:
        done = folder.run("--calls", "5", "--journal", "small.journal", preexec_fn=limit_files)
        check(done.returncode == 74 and "File too large" in done.err, "a journal that cannot grow", done.err)
        done = folder.run("--calls", "5", "--journal", "small.journal")
        check(done.returncode == 0, "the journal is one afterwards", done.err)


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_a_folder_that_cannot_be_written_is_named_as_the_reason():
    with Folder() as folder:
        folder.change_model(lambda model: model["programs"]["p"].update(command=["sh", "oracle.py"]))  # never started
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        os.chmod(folder.path, 0o555)
        try:
            done = run("infer", "model.json", "--allow-programs", "--calls", "5", "--journal", "run.journal",
                       cwd=folder.path, **as_nobody)
        except PermissionError:  # the program itself is not for everybody
            return
        finally:
            os.chmod(folder.path, 0o755)
        check(done.returncode == 74 and "run.journal: cannot be written: Permission denied" in done.stderr, "why",
              done.stderr)


run_tests(globals())
