#!/usr/bin/env python3
"""scripts/check-claims fails for a number that no file has: run_claim_tests.py SOURCE

In a copy of the documents and files: a number is added, one of a sentence, of a table and of a file is changed, and the
origin of a file is taken away.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])


def failures(folder):
    done = subprocess.run([sys.executable, "-B", str(folder / "scripts" / "check-claims")], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def change(path, pattern, replacement):
    text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.DOTALL)
    assert count == 1, f"{path.name}: {pattern} is not there"
    path.write_text(text)


CHANGES = [  # file, what is replaced, by what, what must be said
    ("README.md", r"\Z", "\nIt is 3.71 times as fast.\n", "3.71"),
    ("docs/speed.md", r"\Z", "\n| a | 12 % |\n", "12 %"),
    ("experiments/table1/README.md", r"(SMC\s+wins\s+on\s+CHAIN\s+)\([^)]*\)", r"\1(1.86 against 6.65)",
     "(1.85 against 6.65)"),
    ("experiments/depth/README.md", r"\| 4 \| 56 \|", "| 4 | 57 |", "| 4 | 56 |"),
    ("experiments/depth/depth.csv", r"\n5,25,smc,best,", "\n5,25,smc,best,9", "| 5 | 25 | 91"),
    ("experiments/memory/memory.csv", r"\A[^\n]*\n", "", "experiments/memory/memory.csv"),
]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(SOURCE / "README.md", folder)
        for part in ("docs", "experiments", "scripts"):
            shutil.copytree(SOURCE / part, folder / part, ignore=shutil.ignore_patterns("*.svg", "*.png", "*.cpp", "*.hpp"))
        code, text = failures(folder)
        if code != 0:
            sys.exit(f"the documents as they are:\n{text}")
        for file, pattern, replacement, _ in CHANGES:
            change(folder / file, pattern, replacement)
        code, text = failures(folder)
        unsaid = [(file, expected) for file, _, _, expected in CHANGES if expected not in text]
        if code != 1 or unsaid:
            sys.exit(f"exit code {code}; nothing is said of {unsaid}:\n{text}")
    print("check-claims finds what is wrong")


main()
