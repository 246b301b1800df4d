#!/usr/bin/python3
"""Formulas that are wrong, cut off, compressed badly or lie about their sizes: run_hostile_formula_tests.py PROGRAM MODELS.

Each gives one line with the file and the line, an exit code that is not 0 and no output; nothing runs out of memory.
"""
import gzip
import math
import random
import resource

from checks import check, run, run_tests, write

GOOD = "c t pwmc\np cnf 4 3\nc p weight 1 0.25 0\nc p weight -1 3/4 0\nc p show 1 2 0\n1 2 0\n-1 3 0\n-2 -3 4 0\n"

# Text, line.
HOSTILE = [
    # The first line.
    ("", 1), ("\n\n", 3), ("c only a comment\n", 2), ("1 2 0\n", 1), ("c x\n1 2 0\n", 2), ("p\n", 1), ("p cnf\n", 1),
    ("p cnf 2\n", 1), ("p cnf 2 x\n", 1), ("p cnf x 2\n", 1), ("p cnf 2 2 2\n1 0\n2 0\n", 1), ("p dnf 2 1\n1 0\n", 1),
    ("p wcnf 2 1 3\n1 1 0\n", 1), ("P cnf 2 1\n1 0\n", 1), ("p cnf -1 1\n1 0\n", 1), ("p cnf 2 -1\n", 1),
    ("p cnf 1e3 1\n1 0\n", 1), ("p cnf 2.0 1\n1 0\n", 1), ("p cnf 99999999999999999999 1\n1 0\n", 1),
    ("p cnf 2147483647 1\n1 0\n", 1), ("p cnf 2000000000 0\n", 1), ("p cnf 2 4294967297\n1 0\n", 1),
    ("p cnf 2 1\np cnf 2 1\n1 0\n", 2), ("p cnf 2 1\n1 0\np cnf 2 1\n", 3), ("p cnf 0x10 1\n1 0\n", 1),
    ("p cnf 2 1 c a comment\n1 0\n", 1), ("p cnf \u0664 1\n1 0\n", 1),
    # Numbers of clauses that are not those of the first line.
    ("p cnf 2 0\n1 0\n", 2), ("p cnf 2 2\n1 0\n", 3), ("p cnf 2 3\n1 0\n2 0\n", 4), ("p cnf 2 1\n1 0\n2 0\n", 3),
    ("p cnf 2 1\n1 0\n0\n", 3), ("p cnf 2 2147483647\n1 0\n", 3), ("p cnf 2 1\n", 2), ("p cnf 2 1", 1),
    # Clauses without an end.
    ("p cnf 2 1\n1 2\n", 2), ("p cnf 2 1\n1 2", 2), ("p cnf 2 2\n1 0\n1 2\n", 3), ("p cnf 2 2\n1 2\n\n\n", 2),
    ("p cnf 2 1\n1 2 00x\n", 2), ("p cnf 3 2\n1 2\nc a comment\n3 0\n1 0\n", 3), ("p cnf 2 1\n1 %\n0\n", 2),
    # Literals.
    ("p cnf 2 1\n3 0\n", 2), ("p cnf 2 1\n-3 0\n", 2), ("p cnf 0 1\n1 0\n", 2), ("p cnf 2 1\nx 0\n", 2),
    ("p cnf 2 1\n1,2 0\n", 2), ("p cnf 2 1\n1.0 0\n", 2), ("p cnf 2 1\n+1 0\n", 2), ("p cnf 2 1\n--1 0\n", 2),
    ("p cnf 2 1\n1 - 2 0\n", 2), ("p cnf 2 1\n2147483648 0\n", 2), ("p cnf 2 1\n-2147483648 0\n", 2),
    ("p cnf 2 1\n9223372036854775808 0\n", 2), ("p cnf 2 1\n1e0 0\n", 2), ("p cnf 2 1\nnan 0\n", 2),
    ("p cnf 2 1\n1\u00a02 0\n", 2), ("p cnf 2 1\n1\0 0\n", 2), ("p cnf 2 1\n\x1b[31m1 0\n", 2), ("p cnf 2 1\n1 p 0\n", 2),
    ("p cnf 2 1\n" + "9" * 10000 + " 0\n", 2), ("p cnf 2 1\n" + "1 " * 50000 + "\n", 2), ("p cnf 2 1\nx1 v x2\n", 2),
    # Weights.
    ("p cnf 2 0\nc p weight 3 0.5 0\n", 2), ("c p weight 9 0.5 0\np cnf 2 1\n1 0\n", 1), ("p cnf 2 0\nc p weight 0 0.5 0\n", 2),
    ("p cnf 2 0\nc p weight x 0.5 0\n", 2), ("p cnf 2 0\nc p weight 1\n", 2), ("p cnf 2 0\nc p weight\n", 2),
    ("p cnf 2 0\nc p weight 1 x 0\n", 2), ("p cnf 2 0\nc p weight 1 nan 0\n", 2), ("p cnf 2 0\nc p weight 1 inf 0\n", 2),
    ("p cnf 2 0\nc p weight 1 0x1 0\n", 2), ("p cnf 2 0\nc p weight 1 1/0 0\nc p weight -1 1 0\n", 2),
    ("p cnf 2 0\nc p weight 1 1/ 0\n", 2), ("p cnf 2 0\nc p weight 1 /2 0\n", 2), ("p cnf 2 0\nc p weight 1 1/2/3 0\n", 2),
    ("p cnf 2 0\nc p weight 1 0.5 1\n", 2), ("p cnf 2 0\nc p weight 1 2 0\n", 2), ("p cnf 2 0\nc p weight 1 -0.5 0\n", 2),
    ("p cnf 2 0\nc p weight 1 0.5 0\nc p weight 1 0.6 0\n", 3), ("p cnf 2 0\nc p weight 1 0,5 0\n", 2),
    ("p cnf 2 0\nc p weight 1 .e5 0\n", 2), ("p cnf 2 0\nc p weight 1 1e 0\n", 2), ("p cnf 2 0\nc p weight 1 -- 0\n", 2),
    ("p cnf 2 0\nc p weight 1 1/-2 0\nc p weight -1 1 0\n", 2), ("p cnf 2 0\nc p weight 1 1e999999999999 0\n", 2),
    ("p cnf 2 0\nc p weight 2147483648 0.5 0\n", 2), ("p cnf 2 0\nc p weight 1 50% 0\n", 2),
    # Shown variables.
    ("p cnf 2 0\nc p show 3 0\n", 2), ("p cnf 2 0\nc p show 1 2\n", 2), ("p cnf 2 0\nc p show -1 0\n", 2),
    ("p cnf 2 0\nc p show x 0\n", 2), ("p cnf 2 0\nc ind 3 0\n", 2), ("p cnf 2 0\nc ind 1\n", 2), ("c p show 2 0\np cnf 1 0\n", 1),
    ("p cnf 2 0\nc p show\n", 2), ("p cnf 2 0\nc p show 1.5 0\n", 2),
    # The kind of count.
    ("c t xmc\np cnf 1 0\n", 1), ("c t\np cnf 1 0\n", 1), ("c t MC\np cnf 1 0\n", 1), ("c t mc pmc\nc t 7\np cnf 1 0\n", 2),
]


def refused(name, line, codes=(65,)):
    limit = 1 << 30
    done = run("count", name, "--quiet", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    where = f"{name}:{line}: " if line else name
    is_one_line = done.stderr.count("\n") == 1 and len(done.stderr) < 400 and done.stderr.isprintable() is False
    check(done.returncode in codes and where in done.stderr and is_one_line and not done.stdout,
          f"{name}, line {line}: code {done.returncode}, {done.stdout!r} {done.stderr!r}")
    check("\x1b" not in done.stderr and "\0" not in done.stderr, "what is not fit for printing is printed")


def test_each_names_its_line():
    check(len(HOSTILE) >= 100, f"{len(HOSTILE)} files")
    for number, (text, line) in enumerate(HOSTILE):
        write("hostile.cnf", text)
        refused("hostile.cnf", line)


def test_no_prefix_of_a_file_is_taken_for_another():
    write("whole.cnf", GOOD)
    whole = run("count", "whole.cnf", "--quiet").stdout
    check(whole.startswith("count "), whole)
    for size in range(0, len(GOOD) - 2, 3):  # without the last end of line and the zero of the last clause
        write("prefix.cnf", GOOD[:size])
        done = run("count", "prefix.cnf", "--quiet")
        check(done.returncode == 65 and "prefix.cnf:" in done.stderr and not done.stdout, f"{GOOD[:size]!r}: {done.stdout}{done.stderr}")


def test_changed_bytes():
    rng = random.Random(1)
    for _ in range(40):
        text = bytearray(GOOD.encode())
        for _ in range(rng.randrange(1, 4)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        with open("changed.cnf", "wb") as file:
            file.write(text)
        done = run("count", "changed.cnf", "--quiet", errors="replace")
        is_counted = done.returncode == 0 and done.stdout.startswith("count ")
        is_refused = done.returncode == 65 and "changed.cnf:" in done.stderr and done.stderr.count("\n") == 1 and not done.stdout
        check(is_counted or is_refused, f"{bytes(text)!r}: {done.returncode} {done.stdout}{done.stderr}")


def test_compressed_files():
    packed = gzip.compress(GOOD.encode())
    for name, data in (("cut.cnf.gz", packed[:-12]), ("none.cnf.gz", b""), ("plain.cnf.gz", b"\x1f\x8bnot gzip at all"),
                       ("sum.cnf.gz", packed[:-8] + b"12345678"), ("wrong.cnf.gz", gzip.compress(b"p cnf 1 1\n2 0\n"))):
        with open(name, "wb") as file:
            file.write(data)
        refused(name, 2 if name == "wrong.cnf.gz" else 0, codes=(65, 66))
    with open("bomb.cnf.gz", "wb") as file:  # a gigabyte of blanks
        file.write(64 * gzip.compress(b" " * (1 << 24)))
    done = run("count", "bomb.cnf.gz", "--quiet", "--memory", "200M")
    check(done.returncode != 0 and done.stderr.count("\n") == 1 and "bomb.cnf.gz" in done.stderr, done.stderr)


def test_a_million_variables():
    n = 1_000_000
    write("large.cnf", f"p cnf {n} {n // 50}\n" + "".join(f"{v} {-(v + 1)} 0\n" for v in range(1, n, 50)))
    done = run("count", "large.cnf", "--quiet", "--format", "competition")
    lines = done.stdout.splitlines()
    expected = (n // 50) * math.log10(3 / 4) + n * math.log10(2)
    estimates = [float(line.split()[3]) for line in lines if line.startswith("c s log10-estimate ")]
    check(done.returncode == 10 and len(estimates) == 1 and abs(estimates[0] - expected) < 1e-6, done.stdout[:300] + done.stderr)
    digits = [line.split()[5] for line in lines if line.startswith("c s exact arb int ")]
    check(len(digits) == 1 and len(digits[0]) == int(expected) + 1 and int(digits[0][-9:]) == pow(3, n // 50, 10**9) * pow(
        2, n - n // 25, 10**9) % 10**9, "the last digits")


if __name__ == "__main__":
    run_tests(globals())
