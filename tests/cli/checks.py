"""What the tests in Python share: runs of the program, checks that are counted, and an exit code that says whether all
of them held."""

import json
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "treesample"
PATIENCE = 300  # seconds until a run that should end is given up; nothing is measured
failed = []


def run(*arguments, **settings):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, **{"timeout": PATIENCE, **settings})


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def read_json(name):
    return json.loads(read(name))


def check(condition, what, details=""):
    if not condition:
        failed.append(what)
        print(f"FAILED: {what} {details}", flush=True)
    return bool(condition)


def finish():
    print(f"{len(failed)} failed", flush=True)
    sys.exit(len(failed) > 0)


def run_tests(script, prepare=lambda: None):
    """The functions of a script, given as its globals(), whose names begin with test_; TEST names one of them.

    They run one after the other in a new folder.
    """
    only = os.environ.get("TEST")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        for name, test in list(script.items()):
            if name.startswith("test_") and only in (None, name):
                begin = time.monotonic()
                test()
                print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
        os.chdir("/")
    finish()
