#!/usr/bin/env python3
"""What `treesample infer` says while it works: a line that is rewritten at a terminal, lines of their own elsewhere.

usage: run_progress_tests.py PROGRAM
"""
import os
import pty
import random
import re
import subprocess

from checks import PROGRAM, check, run_tests



def write_hard_model(name, side=26):
    """A grid whose elimination takes far too long."""
    draw = random.Random(1)
    scopes = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    scopes += [(side * i + j, side * i + j + side) for i in range(side - 1) for j in range(side)]
    with open(name, "w") as out:
        out.write(f"MARKOV\n{side * side}\n{' '.join(['3'] * side * side)}\n{len(scopes)}\n")
        out.writelines(f"2 {u} {v}\n" for u, v in scopes)
        for _ in scopes:
            out.write("9 " + " ".join(f"{draw.uniform(0.2, 3):.3f}" for _ in range(9)) + "\n")


def at_terminal(*arguments):
    """What appears on a terminal, piece by piece."""
    leader, follower = pty.openpty()
    with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=follower) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        check(process.wait() == 0, "exit code", process.returncode)
    os.close(leader)
    return re.split(r"[\r\n]+", shown.decode())


def in_a_log(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return done.stderr.splitlines()


def progress_of(lines):
    return [line for line in lines if re.match(r"\d+ %: [a-z]", line)]


def test_phases_at_a_terminal():
    lines = at_terminal("infer", "hard.uai", "--time", "4")
    phases = {match[1] for line in lines if (match := re.search(r"%  ([a-z -]+?)( \d+ %)?[,:]", line))}
    check("mini-buckets" in phases, "mini-buckets are a phase", phases)
    shares = [int(match[1]) for line in lines if (match := re.search(r"mini-buckets (\d+) %", line))]
    check(shares and shares == sorted(shares), "their share grows", shares)
    check(any(re.search(r"mini-buckets \d+ %, \d+ s left", line) for line in lines), "and says what is left", lines)


def test_lines_in_a_log():
    lines = in_a_log("infer", "hard.uai", "--time", "7")
    told = progress_of(lines)
    check(told and ("left" in told[0] or "at most" in told[0]), "a line after 5 seconds", lines)
    check(not any("\r" in line or "\033" in line for line in lines), "no terminal codes", lines)


def test_quick_and_quiet_commands_say_nothing():
    # Remarks, on what there was no time for, are no progress.
    check(progress_of(in_a_log("infer", "hard.uai", "--time", "0.5")) == [], "a quick one")
    check(in_a_log("infer", "hard.uai", "--time", "5.5", "--quiet") == [], "a quiet one")


run_tests(globals(), prepare=lambda: write_hard_model("hard.uai"))
