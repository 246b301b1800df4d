#!/usr/bin/env python3
"""Orders of elimination in files (treesample order, --order), and slices in parts that are added up (--slices, merge).

usage: run_order_tests.py PROGRAM
"""
import json
import re

from checks import check, read, run, run_tests, write

EXACT = ["--method", "exact", "--threads", "1", "--quiet", "--json", "-"]


def answer(*arguments):
    done = run("infer", *arguments, *EXACT)
    check(done.returncode == 0, f"exit code {arguments}", done.stderr)
    return json.loads(done.stdout)


def refused(arguments, code, *parts):
    done = run(*arguments)
    lines = done.stderr.splitlines()
    check(done.returncode == code and len(lines) == 1 and all(part in lines[0] for part in parts), f"refused {parts}",
          f"{done.returncode} {done.stderr}")


def test_an_order_is_written_and_used():
    printed = run("order", "grid.uai", "--time", "0.1")
    check(printed.returncode == 0, "exit code", printed.stderr)
    variables = [line for line in printed.stdout.splitlines() if not line.startswith("#")]
    check(sorted(variables) == sorted(f"x{v}" for v in range(100)), "every variable once", variables)
    again = run("order", "grid.uai", "--time", "0.1", "--out", "grid.order", "--threads", "1")
    check(again.returncode == 0 and "2^" in again.stdout, "what it takes", again.stdout + again.stderr)
    run("order", "grid.uai", "--time", "0.1", "--out", "again.order", "--threads", "1")
    check(read("grid.order") == read("again.order"), "the same seconds give the same order")
    usual, with_order = answer("grid.uai"), answer("grid.uai", "--order", "grid.order")
    check(abs(usual["log_z"]["lower"] - with_order["log_z"]["lower"]) < 1e-9, "log Z in another order")
    # A bad order is used, too: log Z in it takes more, and is the same.
    write("rows.order", "".join(f"{v}\n" for v in range(100)))
    for option in ("--order", "--order-file"):
        by_rows = answer("grid.uai", option, "rows.order")
        check("width 10" in by_rows["method"], "the order of the file", by_rows["method"])
        check(abs(usual["log_z"]["lower"] - by_rows["log_z"]["lower"]) < 1e-9, "log Z by rows")
    write("cases.csv", "x5\n0\n1\n")
    cases = run("infer", "grid.uai", "--order", "rows.order", "--cases", "cases.csv", "--quiet")
    check(cases.returncode == 0 and len(cases.stdout.splitlines()) == 3, "an order serves all cases", cases.stderr)
    observed = answer("grid.uai", "--order", "rows.order", "--evidence", "x5=1")
    check(observed["log_z"]["upper"] < usual["log_z"]["lower"], "an order serves with evidence", observed["log_z"])


def test_slices_in_parts():
    made = run("order", "grid.uai", "--time", "0.1", "--memory", "6K", "--out", "sliced.order")
    count = int(re.search(r"(\d+) slices", made.stdout)[1])
    check(count >= 4 and read("sliced.order").count("slice ") >= 2, "slices", made.stdout)
    exact = answer("grid.uai")["log_z"]
    task = ["grid.uai", "--order", "sliced.order"]
    first = answer(*task, "--slices", "0..2", "--resume", "part0")
    check("slices" in first["method"] and first["log_z"]["lower"] < exact["lower"] < first["log_z"]["upper"],
          "bounds of a part", first["log_z"])
    part = run("merge", "part0")
    check(part.returncode == 0 and f"2 of {count}" in part.stdout and "certified [" in part.stdout, "a part is summed",
          part.stdout + part.stderr)
    answer(*task, "--slices", f"2..{count}", "--resume", "part1")
    whole = run("merge", "part1", "part0", "part0", "--out", "all")
    check(whole.returncode == 0 and f"{count} of {count}" in whole.stdout and "exact" in whole.stdout, "the sum",
          whole.stdout + whole.stderr)
    value = float(re.search(r"log Z\s+([-0-9.]+)", whole.stdout)[1])
    check(abs(value - exact["lower"]) < 1e-5, "its value", whole.stdout)
    resumed = answer(*task, "--slices", f"0..{count}", "--resume", "all")["log_z"]
    check(abs(resumed["lower"] - exact["lower"]) < 1e-9 and resumed["upper"] - resumed["lower"] < 1e-6, "it is resumed",
          resumed)


def test_the_parts_of_an_array_job_are_all_slices():
    made = run("order", "grid.uai", "--time", "0.1", "--memory", "6K", "--out", "array.order")
    count = int(re.search(r"(\d+) slices", made.stdout)[1])
    for number in (3, count + 2):  # more parts than slices: some have nothing to do
        files = [f"array{number}.{k}" for k in range(1, number + 1)]
        for k, file in enumerate(files, 1):
            answer("grid.uai", "--order", "array.order", "--slices", f"{k}/{number}", "--resume", file)
        rows = [len(read(file).splitlines()) - 1 for file in files]
        check(sum(rows) == count and max(rows) - min(rows) <= 1, "shares", rows)
        whole = run("merge", *files)
        check(f"{count} of {count}" in whole.stdout and "exact" in whole.stdout, "the sum", whole.stdout + whole.stderr)


def test_refusals():
    write("short.order", "x0\nx1\n")
    refused(["infer", "grid.uai", "--order", "short.order"], 65, "short.order", "variable 'x2' is missing")
    write("strange.order", "x0\nfog\n")
    refused(["infer", "grid.uai", "--order", "strange.order"], 65, "strange.order, line 2", "'fog'")
    refused(["infer", "grid.uai", "--order", "none.order"], 64, "--order is 'none.order'", "min-fill")
    refused(["infer", "grid.uai", "--slices", "0..2"], 64, "--slices", "--resume")
    for text in ("2", "2..1", "a..b", "-1..2", "0/4", "5/4", "1/", "/3", "1/2..3"):
        refused(["infer", "grid.uai", "--method", "exact", "--resume", "r", "--slices", text], 64, "--slices", text)
    refused(["order", "grid.uai", "--memory", "much"], 64, "--memory", "'much'")
    refused(["merge", "short.order"], 65, "short.order")
    refused(["merge", "none"], 66, "none")


run_tests(globals(), prepare=lambda: run("generate", "ising", "--n", "10", "--out", "grid.uai", check=True))
