#!/usr/bin/env python3
"""Every command of a tutorial prints what the tutorial says: run_tutorial_test.py PROGRAM MODELS_FOLDER [--write]

The tutorial is docs/questions.md. A block that begins with ```console holds commands after "$ " with their output below
them; one that begins with ```file NAME holds a file that later commands read. All run in one folder, one after the
other. What depends on the machine, seconds and the last digits of certificates, is not compared. With --write the
outputs are put into the tutorial.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import PATIENCE, PROGRAM, check, finish, read, write

MODELS = os.path.abspath(sys.argv[2])
TUTORIAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "questions.md")


def same_everywhere(text):
    text = re.sub(r"in [0-9.]+ s;", "in T s;", text)
    text = re.sub(r"(certified to|at most) [0-9.e-]+", r"\1 X", text)
    text = re.sub(r"(?<=\d\.\d{8})\d+", "", text)  # further digits of numbers in tables
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def output_of(command):
    environment = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE, env=environment)
    return done.stdout + done.stderr


def main():
    lines = read(TUTORIAL).splitlines()
    written, kind, num_commands, i = [], None, 0, 0
    while i < len(lines):
        line = lines[i]
        if kind is None and line.startswith("```"):
            kind, body = line[3:], []
            written.append(line)
        elif line == "```" and kind is not None:
            if kind.startswith("file "):
                write(kind[5:], "\n".join(body) + "\n")
            kind = None
            written.append(line)
        elif kind == "console" and line.startswith("$ "):
            expected = []
            while i + 1 < len(lines) and lines[i + 1] != "```" and not lines[i + 1].startswith("$ "):
                i += 1
                expected.append(lines[i])
            output = output_of(line[2:])
            num_commands += 1
            written += [line, *output.rstrip().splitlines()]
            if "--write" not in sys.argv:
                check(same_everywhere(output) == same_everywhere("\n".join(expected)), line,
                      f"\n--- the tutorial says\n{same_everywhere(chr(10).join(expected))}\n--- the program says\n"
                      f"{same_everywhere(output)}")
        else:
            if kind is not None:
                body.append(line)
            written.append(line)
        i += 1
    check(num_commands > 10, "the tutorial has commands", num_commands)
    if "--write" in sys.argv:
        write(TUTORIAL, "\n".join(written) + "\n")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    shutil.copy(os.path.join(MODELS, "asia.bif"), "asia.bif")
    os.symlink(PROGRAM, "treesample")
    main()
finish()
