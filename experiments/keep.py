#!/usr/bin/env python3
"""Runs a command and writes what it prints, below a line that says where it comes from: keep.py FILE COMMAND ...

    experiments/keep.py experiments/speed/search.txt build/search_bench

The line has the command, the commit of the sources in C++ ("-changed" if they differ from it) and the processor;
scripts/check-claims demands such a line of every kept file.
"""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def commit():
    def git(*words):
        return subprocess.run(["git", "-C", str(SOURCE), *words], check=True, capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "*.cpp", "*.hpp", "*.in", "*CMakeLists.txt")
    return git("rev-parse", "--short=12", "HEAD") + ("-changed" if changed else "")


def origin(command):
    processor = next(line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    return f"# command {command}; commit {commit()}; processor {processor}, {os.cpu_count()} cores"


def processor_clock(folder):
    """A library that, preloaded, makes time limits those of processor time."""
    library = os.path.join(folder, "cpu_clock.so")
    source = SOURCE / "tests" / "support" / "cpu_clock.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, str(source)], check=True)
    return library


def main():
    name, command = sys.argv[1], sys.argv[2:]
    first = origin(" ".join(command))  # before the run: the sources may change meanwhile
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    pathlib.Path(name).write_text(first + "\n" + done.stdout)


if __name__ == "__main__":
    main()
