#!/usr/bin/env python3
"""Runs a command and writes what it prints, below a line that says where it comes from

    keep.py [--processor-time] FILE COMMAND ...
    experiments/keep.py experiments/speed/search_bench.txt build/search_bench

With --processor-time the command's clock is its processor time, so that other work of the machine changes little.

The line has the command, the commit of the sources in C++ ("-changed" if they differ from it) and the processor;
scripts/check-claims demands such a line of every kept file.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

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
    words = sys.argv[1:]
    has_processor_time = words[0] == "--processor-time"
    name, *command = words[1:] if has_processor_time else words
    first = origin(" ".join(command))  # before the run: the sources may change meanwhile
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        if has_processor_time:
            environment["LD_PRELOAD"] = processor_clock(folder)
            first += "; in processor time"
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    pathlib.Path(name).write_text(first + "\n" + done.stdout)


if __name__ == "__main__":
    main()
