#!/usr/bin/env python3
"""Models from standard input and packed by gzip: run_packed_input_tests.py PROGRAM MODELS_FOLDER"""

import gzip
import os
import sys

from checks import check, read, run, run_tests

ASIA = os.path.join(os.path.abspath(sys.argv[2]), "asia.bif")


def test_standard_input_and_packed_files():
    asia = read(ASIA)
    done = run("infer", "-", "--query", "lung", "--evidence", "xray=yes", input=asia)
    check("lung        yes: 0.4887  no: 0.5113" in done.stdout, "a model from standard input", done.stderr)
    with gzip.open("asia.bif.gz", "wt") as file:
        file.write(asia)
    done = run("infer", "asia.bif.gz", "--query", "lung", "--evidence", "xray=yes")
    check("lung        yes: 0.4887  no: 0.5113" in done.stdout, "a packed model", done.stderr)
    with open("asia.bif.gz", "rb") as file:
        write_bytes("half.bif.gz", file.read()[:100])
    write_bytes("none.bif.gz", b"network")
    for file in ("half.bif.gz", "none.bif.gz"):
        done = run("infer", file)
        check(done.returncode == 65 and "what gzip writes" in done.stderr, file, done.stderr)
    with gzip.open("bomb.uai.gz", "wb", 1) as file:
        for _ in range(64):
            file.write(b" " * (1 << 20))
    for command in (["info", "bomb.uai.gz"], ["convert", "bomb.uai.gz", "out.uai"], ["infer", "bomb.uai.gz"]):
        done = run(*command, "--memory", "64M")
        # The program's own limit of memory may be met first.
        says = ("too large to be unpacked, allowed are 33554432 bytes", "out of memory")
        check(done.returncode == 69 and any(word in done.stderr for word in says) and done.stderr.count("\n") == 1,
              f"{command[0]}: what is unpacked keeps to the memory", done.stderr)
        done = run(*command, "--time", "0.01")
        check(done.returncode == 69 and "could not be unpacked within the time" in done.stderr,
              f"{command[0]}: and to the time", done.stderr)
    check(not os.path.exists("out.uai"), "nothing is written")
    done = run("infer", "-", input="")
    check(done.returncode == 65 and "standard input is empty" in done.stderr, "no standard input", done.stderr)


def write_bytes(name, contents):
    with open(name, "wb") as file:
        file.write(contents)


run_tests(globals())
