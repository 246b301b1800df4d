#!/usr/bin/env python3
"""Many cases: rows that an interrupted run has left, and interventions: run_case_tests.py PROGRAM MODELS_FOLDER"""

import os
import random
import sys

from checks import check, read, run, run_tests, write

ASIA = os.path.join(os.path.abspath(sys.argv[2]), "asia.bif")


def test_a_run_goes_on_after_the_rows_that_are_there():
    rng = random.Random(1)
    given = "case,xray,dysp,smoke\n" + "".join(
        f"patient {i},{','.join(rng.choice(['yes', 'no', '']) for _ in range(3))}\n" for i in range(30)
    )
    write("cases.csv", given)
    arguments = ("infer", ASIA, "--query", "lung", "--query", "lung,tub", "--cases-out", "out.csv")
    done = run(*arguments, "--cases", "cases.csv")
    check("30 of 30 in out.csv" in done.stdout and not os.path.exists("out.csv.partial"), "the whole table", done.stdout)
    whole = read("out.csv")
    write("out.csv.partial", whole[: whole.index("patient 20")] + "patient 20,-1.0")  # as a kill leaves it
    done = run(*arguments, "--cases", "cases.csv", "--cases-go-on")
    check("going on after 20 cases" in done.stderr and "30 of 30" in done.stdout, "a run goes on", done.stderr)
    check(read("out.csv") == whole and not os.path.exists("out.csv.partial"), "the rows are those of one run")
    write("other.csv", given.replace("patient 0", "other"))
    write("longer.csv", given + "patient 30,,,\n")
    for cases, query, said in (("other.csv", "lung", "is about case 'patient 0'"), ("longer.csv", "tub", "has other columns")):
        done = run("infer", ASIA, "--query", query, "--cases-out", "out.csv", "--cases", cases, "--cases-go-on")
        check(done.returncode == 64 and said in done.stderr, f"go on: {said}", done.stderr)
    check(read("out.csv") == whole, "the table is still there")
    write("odd.csv", "a,b\n1,2\n")
    done = run(*arguments[:-1], "odd.csv", "--cases", "cases.csv", "--cases-go-on")
    check(done.returncode == 65 and "odd.csv: is no table of cases" in done.stderr, "another table", done.stderr)
    check(read("odd.csv") == "a,b\n1,2\n", "is left alone")


def test_cases_of_a_set_network():
    write("one.csv", "case,dysp\na,yes\n")
    done = run("infer", ASIA, "--do", "tub=yes", "--cases", "one.csv", "--query", "asia", "--quiet")
    check(",0.01" in done.stdout, "what is set says nothing about its causes", done.stdout)


run_tests(globals())
