"""What the tests in Python share: checks that are counted, and an exit code that says whether all of them held."""

import sys
import time

failed = []


def check(condition, what, details=""):
    if not condition:
        failed.append(what)
        print(f"FAILED: {what} {details}", flush=True)
    return bool(condition)


def finish():
    print(f"{len(failed)} failed", flush=True)
    sys.exit(len(failed) > 0)


def run_tests(tests):
    for test in tests:
        begin = time.monotonic()
        test()
        print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    finish()
