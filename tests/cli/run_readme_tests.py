#!/usr/bin/env python3
"""What README and docs/python.md say that their examples print is what is printed: run_readme_tests.py PROGRAM MODELS"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
SOURCE = MODELS.parent.parent
README = (SOURCE / "README.md").read_text()


def printed(*arguments):
    return subprocess.run([PROGRAM, "infer", *map(str, arguments), "--quiet"], check=True, capture_output=True,
                          text=True).stdout


def check(name, is_right, details):
    if not is_right:
        sys.exit(f"FAILED: {name}: {details}")


def rounded(number, text):
    """As many digits as the text has."""
    return f"{number:.{len(text.split('.')[1])}f}" == text


def example_of_the_program():
    """The grid of 8x8; the configuration is cut short, and the last digits of rounding may differ."""
    block = re.search(r"\$ treesample infer model\.uai --time 20.*?\n(.*?)```", README, re.DOTALL)[1]
    output = printed(MODELS / "ising-8x8.uai", "--time", "20")
    for line in block.splitlines():
        pattern = re.sub(r"certified\\ to\\ [^)]*\\\)", r"certified to \\S*\\)", re.escape(line)).replace(r"\.\.\.", ".*")
        check("the program's example", re.search("^" + pattern, output, re.MULTILINE), f"{line!r} is not in\n{output}")


def example_in_cpp():
    table = re.search(r"graph\.add_table\(\{v, v \+ 1\}, \{([^}]*)\}\)", README)[1]
    said = re.search(r"\*answer\.upper.*// (\S+)", README)[1]
    numbers = " ".join(repr(math.exp(float(value))) for value in table.split(","))
    pairs = "\n".join(f"2 {v} {v + 1}" for v in range(9))
    with tempfile.NamedTemporaryFile("w", suffix=".uai") as file:
        file.write(f"MARKOV\n10\n{'3 ' * 10}\n9\n{pairs}\n" + f"9 {numbers}\n" * 9)
        file.flush()
        log_z = json.loads(printed(file.name, "--json", "-"))["log_z"]["estimate"]
    check("the example in C++", rounded(log_z, said), f"{log_z}, README says {said}")


def examples_in_python():
    lung = json.loads(printed(MODELS / "asia.bif", "--evidence", "xray=yes", "--evidence", "dysp=yes", "--json",
                              "-"))["marginals"]["lung"]
    for name in ("README.md", "docs/python.md"):
        yes, no = re.search(r"# \{'yes': ([\d.]*), 'no': ([\d.]*)\}", (SOURCE / name).read_text()).groups()
        check(f"Python in {name}", rounded(lung["yes"], yes) and rounded(lung["no"], no), f"{lung}, it says {yes}, {no}")


example_of_the_program()
example_in_cpp()
examples_in_python()
print("the examples print what is said")
