#!/usr/bin/env python3
"""Questions that make no sense get one line that says what is allowed: run_mistake_tests.py PROGRAM MODELS_FOLDER"""

import os
import subprocess
import sys
import tempfile

from checks import check, run_tests

PROGRAM = os.path.abspath(sys.argv[1])
ASIA = os.path.join(os.path.abspath(sys.argv[2]), "asia.bif")
PATIENCE = 300


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=PATIENCE)


def test_mistakes():
    for arguments, code, message in (
            (["--evidence", "lunge=yes"], 64, "--evidence: there is no variable 'lunge'; did you mean lung?"),
            (["--evidence", "lung=Yes"], 64, "variable 'lung' has no state 'Yes', allowed are yes, no; did you mean yes?"),
            (["--evidence", "lung=yes", "--evidence", "lung=no"], 64, "observed in state 'yes' and in state 'no'"),
            (["--evidence", "nothing.txt"], 66, "nothing.txt: cannot be read: No such file"),
            (["--query", "lunge"], 64, "--query: there is no variable 'lunge'; did you mean lung?"),
            (["--query", "lung,lung"], 64, "--query: variable 'lung' is in it twice"),
            (["--query", "lung,"], 64, "--query: a name is empty"),
            (["--sensitivity", "lung=yes", "--evidence", "lung=no"], 64, "--sensitivity: variable 'lung' is observed"),
            (["--query", "lung=yes"], 64, "a query names variables, such as lung"),
            (["--query", "lung | smoke=yes"], 64, "what is given is --evidence NAME=STATE"),
            (["--sensitivity", "lung"], 64, "--sensitivity: of which state of 'lung'? Allowed are NAME=STATE, such as lung="),
            (["--value-for", "lung", "--evidence", "lung=no"], 64, "--value-for: variable 'lung' is observed"),
            (["--value-for", "lunge"], 64, "--value-for: there is no variable 'lunge'; did you mean lung?"),
            (["--cases", "c.csv", "--k-best", "2"], 64, "--k-best: is for one answer"),
            (["--map", "lunge"], 64, "--map: there is no variable 'lunge'; did you mean lung?"),
            (["--k-best", "0"], 64, "--k-best"),
            (["--samples-out", "s.csv"], 64, "--samples-out: no samples are drawn"),
            (["--cases-out", "s.csv"], 64, "--cases-out: there are no cases"),
            (["--cases", "c.csv", "--json", "-"], 64, "--json: is for one answer")):
        done = run("infer", ASIA, *arguments)
        check(done.returncode == code and message in done.stderr, f"{arguments}", f"{done.returncode} {done.stderr}")
        check(done.stderr.count("\n") == 1, "in one line", done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run_tests([test_mistakes])
